"""Matérn kernels on Gaussian inputs: elements of the oscillator basis, Weyl's law, and spectra against other ways."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
import scipy

import gpcurves as gpc
from gpcurves.kernels import Kernel
from gpcurves.numerics.validation import FloatArray
from gpcurves.spectra.oscillator import Levels, Radial, block_elements, harmonics, level_powers, oscillator_spectrum

KERNELS: dict[str, Any] = {"ou": gpc.OU, "matern32": gpc.Matern32, "matern52": gpc.Matern52}


def test_a_mixture_of_gaussians_is_the_kernel() -> None:
    r = np.array([0.0, 0.01, 0.3, 2.0, 9.0])
    for kernel in (gpc.OU(0.7, 2.0), gpc.Matern32(0.7, 2.0), gpc.Matern52(0.7, 2.0)):
        rates, weights = Radial(kernel.smoothness, 0.7, 2.0).mixture(1, 1e6)
        found = np.exp(-np.multiply.outer(r**2, rates)) @ weights
        np.testing.assert_allclose(found, kernel.correlation(r / 0.7) * 2.0, rtol=1e-10, atol=1e-14)


def test_elements_of_the_basis_retyped() -> None:
    """In one dimension by quadrature over Hermite functions, with nothing known about generating functions."""
    rate, frequency, x = 0.8, 1.7, np.linspace(-9, 9, 601)
    step = x[1] - x[0]
    kernel = np.exp(-rate * np.subtract.outer(x, x) ** 2)
    root = np.exp(-(x**2) / 4) / (2 * math.pi) ** 0.25

    def function(k: int) -> FloatArray:
        norm = math.sqrt(math.sqrt(frequency / math.pi) / (2**k * math.factorial(k)))
        polynomial = scipy.special.eval_hermite(k, math.sqrt(frequency) * x)
        return np.asarray(norm * polynomial * np.exp(-frequency * x**2 / 2) * root)

    blocks = block_elements(np.array([rate]), np.ones(1), frequency, 1, 9)
    for degree, m, n in itertools.product((0, 1), range(5), range(5)):
        expected = function(2 * m + degree) @ kernel @ function(2 * n + degree) * step**2
        sign = (-1) ** (m + n)  # Laguerre polynomials alternate in sign against Hermite's
        assert sign * blocks[degree][m, n] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("dim", [1, 2, 3, 7])
def test_blocks_of_an_rbf_have_its_eigenvalues(dim: int) -> None:
    scale = 0.9
    spectrum = gpc.Gaussian(dim, 1.0).spectrum(gpc.RBF(scale))
    beta = float(spectrum.values[1] / spectrum.values[0])
    blocks = block_elements(np.array([0.5 / scale**2]), np.ones(1), 1.3, dim, 60)
    for degree, K in enumerate(blocks[:4]):
        found = np.linalg.eigvalsh(K)[::-1][:4]
        np.testing.assert_allclose(found, (1 - beta) ** dim * beta ** (degree + 2 * np.arange(4)), rtol=1e-9)


def test_harmonics_are_counted() -> None:
    assert [harmonics(3, degree) for degree in range(4)] == [1, 3, 5, 7]
    assert [harmonics(2, degree) for degree in range(4)] == [1, 2, 2, 2]
    for dim, level in itertools.product((2, 5), range(6)):  # together they are the polynomials of a degree
        assert sum(harmonics(dim, degree) for degree in range(level, -1, -2)) == math.comb(level + dim - 1, dim - 1)


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_phase_space_retyped(dim: int) -> None:
    """The volume in which p(x) C(q) is above a value, over (2π)^d, by summing the ball of q over shells of x."""
    kernel = Radial(1.5, 0.4, 2.0)
    transform = gpc.Matern32(0.4, 2.0).log_transform
    levels, ball = Levels(kernel, dim), math.pi ** (dim / 2) / math.gamma(dim / 2 + 1)

    def volume(level: float) -> float:
        log_value = levels.top - levels.eta * level

        def inside(x: float) -> float:
            left = log_value + x**2 / 2 + dim / 2 * math.log(2 * math.pi) - math.log(2.0 * 0.4**dim)
            if (highest := -left + float(transform(np.zeros(1), dim)[0])) <= 0:
                return 0.0
            q = math.sqrt(2 * 1.5) / 0.4 * math.sqrt(math.expm1(highest / levels.eta))
            at = (0.4 * q / (2 * math.pi)) ** 2  # the package's argument of the transform
            assert float(transform(np.array([at]), dim)[0]) == pytest.approx(left, abs=1e-9)
            return float(dim * ball * x ** (dim - 1) * ball * q**dim / (2 * math.pi) ** dim)

        return float(scipy.integrate.quad(inside, 0, math.sqrt(2 * levels.eta * level), epsabs=0, epsrel=1e-11)[0])

    found = scipy.integrate.quad(lambda t: float(levels.density(np.array([t]))[0][0]), 0, 2.5, epsrel=1e-11)[0]
    assert found == pytest.approx(volume(2.5), rel=1e-8)


@pytest.mark.parametrize("name", KERNELS)
def test_eigenvalues_on_a_line(name: str) -> None:
    kernel = KERNELS[name](0.5)
    x = np.linspace(-8, 8, 800)
    root = np.exp(-(x**2) / 4)
    root /= np.linalg.norm(root)
    dense = np.linalg.eigvalsh(root[:, None] * kernel(x[:, None]) * root)[::-1]
    # a kink makes the trapezoidal rule an approximation of second order, and the kernel is known at half the points as well
    half = root[::2] / np.linalg.norm(root[::2])
    coarse = np.linalg.eigvalsh(half[:, None] * kernel(x[::2, None]) * half)[::-1]
    expected = dense[:10] + (dense[:10] - coarse[:10]) / (3 if name == "ou" else 15)
    np.testing.assert_allclose(gpc.Gaussian(1, 1.0).spectrum(kernel).values[:10], expected, rtol=2e-5)


def test_more_of_the_basis_changes_little() -> None:
    for kernel, dim in ((Radial(0.5, 0.2, 1.0), 1), (Radial(2.5, 1.0, 1.0), 3), (Radial(0.5, 3.0, 1.0), 10)):
        errors = [
            gpc.learning_curve(
                oscillator_spectrum(kernel, dim, None, action), "lc", [1, 30, 1e3, 1e6], noise=1e-3
            ).error
            for action in (38, 50)
        ]
        np.testing.assert_allclose(errors[0], errors[1], rtol=1e-3)
        assert (errors[0] != errors[1]).any()


def test_a_teacher_of_another_size_has_as_much_more_power() -> None:
    for dim in (1, 4):
        student, teacher = Radial(1.5, 0.8, 1.0), Radial(1.5, 0.8, 3.0)
        spectrum = oscillator_spectrum(student, dim, teacher, 40.0)
        np.testing.assert_allclose(spectrum.channels["power"], 3 * spectrum.values, rtol=1e-8)


@pytest.mark.parametrize("dim", [1, 3])
def test_powers_in_levels_of_an_rbf(dim: int) -> None:
    """By the elements of the teacher's kernel between the RBF's own eigenfunctions, which belong to an oscillator."""
    student, teacher = Radial(math.inf, 0.6, 1.0), Radial(1.5, 0.5, 2.0)
    ratio = student.lengthscale**2
    decay = math.log1p(ratio / 2 + math.sqrt(ratio**2 / 4 + ratio))
    frequency = math.sinh(decay) / ratio
    blocks = block_elements(*teacher.mixture(dim, 1e3), frequency, dim, 12)
    powers = level_powers(student, dim, teacher, 8)
    for level in range(8):
        degrees = range(level % 2, level + 1, 2) if dim > 1 else [level % 2]
        found = sum(
            harmonics(dim, degree) * blocks[degree][(level - degree) // 2, (level - degree) // 2] for degree in degrees
        )
        assert powers[level] == pytest.approx(found, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("kernel", "dim"), [(gpc.Matern52(0.3), 3), (gpc.OU(0.5), 5)], ids=repr)
def test_curves_against_simulation(kernel: Kernel, dim: int) -> None:
    """The truth keeps within the bounds, of which TWO is exact at n = 1; LC itself is off by up to 20 % with such inputs."""
    problem, sizes = gpc.Problem(kernel, gpc.Gaussian(dim), 0.05), [1, 10, 100, 300]
    truth = gpc.learning_curve(problem, "simulation", sizes, datasets=20, rng=0)
    assert truth.stderr is not None
    lower, upper, lc = (gpc.learning_curve(problem, name, sizes).error for name in ("plaskota", "two", "lc"))
    assert (lower < truth.error + 4 * truth.stderr).all()
    assert (upper > truth.error - 4 * truth.stderr).all()
    assert abs(upper[0] - truth.error[0]) < 4 * truth.stderr[0]
    np.testing.assert_allclose(lc, truth.error, rtol=0.2)
