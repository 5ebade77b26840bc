"""The sphere: eigenvalues of kernels of the angle, retyped and compared with matrices on nodes; multiple descent."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import comb, eval_gegenbauer

import gpcurves as gpc
from commands import command
from gpcurves.kernels import Kernel
from laws import obeys_inputs_laws


def naive_eigenvalue(kernel: Kernel, dim: int, k: int) -> float:
    """Return the average over the sphere of the kernel times a Gegenbauer polynomial that is 1 at the pole."""
    alpha = (dim - 2) / 2
    pole = np.eye(1, dim)

    def integrand(angle: float, power: int) -> float:
        point = np.zeros((1, dim))
        point[0, :2] = math.cos(angle), math.sin(angle)
        shape = eval_gegenbauer(k, alpha, math.cos(angle)) / eval_gegenbauer(k, alpha, 1.0)
        value = float(kernel(pole, point)[0, 0]) * shape if power else 1.0
        return value * math.sin(angle) ** (dim - 2)

    return float(quad(integrand, 0, np.pi, 1, limit=200)[0] / quad(integrand, 0, np.pi, 0)[0])


@pytest.mark.parametrize("dim", [3, 7])
@pytest.mark.parametrize(
    "kernel",
    [
        gpc.RBF(0.8, 1.5),
        gpc.OU(0.7),
        gpc.ArcCosine(1, bias=0.2),
        gpc.Polynomial(0.5, 0.3, 4),
        gpc.RBF(1.0) + gpc.Linear(),
    ],
    ids=repr,
)
def test_eigenvalues_retyped(kernel: Kernel, dim: int) -> None:
    spectrum = gpc.Sphere(dim).spectrum(kernel)
    for k in range(5):
        number = 1 if k == 0 else (2 * k + dim - 2) / k * comb(k + dim - 3, k - 1)
        value = naive_eigenvalue(kernel, dim, k)
        found = np.argmin(abs(spectrum.values - value))
        np.testing.assert_allclose(spectrum.values[found], value, rtol=1e-7, atol=1e-13)
        if value > 1e-10:
            assert spectrum.multiplicities[found] == pytest.approx(number)


@pytest.mark.slow
@pytest.mark.parametrize("dim", [2, 3])
def test_eigenvalues_are_those_of_a_matrix_on_nodes(dim: int) -> None:
    inputs = gpc.Sphere(dim)
    for kernel in (gpc.Matern52(0.9), gpc.ArcCosine(2)):
        spectrum, matrix = inputs.spectrum(kernel), inputs.numerical_spectrum(kernel)
        listed = np.repeat(spectrum.values[:6], spectrum.multiplicities[:6].astype(int))
        np.testing.assert_allclose(listed, matrix.values[: len(listed)], rtol=1e-5)
        np.testing.assert_allclose(spectrum.trace, inputs.prior_variance(kernel), rtol=1e-9)


def test_the_circle_in_the_plane_is_the_torus_in_one_dimension() -> None:
    """The Matérn kernel differs, because distances are chords here; a constant and a first wave do not."""
    spectrum = gpc.Sphere(2).spectrum(gpc.PowerSeries((0.5, 2.0)))
    np.testing.assert_allclose(sorted(spectrum.values), [0.5, 1.0])
    assert sorted(spectrum.multiplicities) == [1, 2]


def test_degrees_that_a_network_lacks() -> None:
    """Without biases rectified linear units have no odd degree but the first, and steps no even one but the constant."""
    values = gpc.Sphere(3).spectrum(gpc.ArcCosine(1)).multiplicities[:5]
    assert values.tolist() == [1, 3, 5, 9, 13]
    assert gpc.Sphere(3).spectrum(gpc.ArcCosine(0)).multiplicities[:4].tolist() == [1, 3, 7, 11]
    assert gpc.Sphere(3).spectrum(gpc.ArcCosine(1, bias=0.5)).multiplicities[:4].tolist() == [1, 3, 5, 7]


def test_the_laws_of_inputs() -> None:
    for dim in (2, 3, 5):
        obeys_inputs_laws(gpc.Sphere(dim))


def test_kernels_that_know_directions_are_diagonalised_on_nodes() -> None:
    problem = gpc.Problem(gpc.RBF((0.5, 1.0, 2.0)), gpc.Sphere(3), 0.1)
    assert "nodes" in problem.spectrum.origin
    truth = gpc.learning_curve(problem, "simulation", n=[30], datasets=20, rng=0).error
    np.testing.assert_allclose(gpc.learning_curve(problem, "lc", n=[30]).error, truth, rtol=0.15)


@pytest.mark.parametrize("kernel", [gpc.RBF(0.7), gpc.ArcCosine(1, bias=0.3), gpc.OU(1.0)], ids=repr)
def test_theory_meets_simulation(kernel: Kernel) -> None:
    problem = gpc.Problem(kernel, gpc.Sphere(5), 0.05)
    truth = gpc.learning_curve(problem, "simulation", n=[1, 10, 100], datasets=10, rng=0)
    np.testing.assert_allclose(gpc.learning_curve(problem, "lc", n=[1, 10, 100]).error, truth.error, rtol=0.08)


def test_multiple_descent() -> None:
    """The error of a student without noise has a peak where examples are as many as harmonics up to a degree: 31, 495, 5425."""
    problem = gpc.Problem(gpc.RBF(5.0), gpc.Sphere(30), 0.0, gpc.Teacher(gpc.RBF(5.0), noise=0.5))
    n = np.unique(np.round(np.geomspace(5, 20_000, 600)))
    error = gpc.learning_curve(problem, "lc", n=n).error
    peaks = n[1:-1][(error[1:-1] > error[:-2]) & (error[1:-1] > error[2:])]
    assert len(peaks) == 3
    np.testing.assert_allclose(peaks, [31, 497, 5320], rtol=0.04)
    np.testing.assert_allclose(np.cumsum(gpc.Sphere(30).multiplicities(4))[1:], [31, 495, 5425])


def test_the_first_descents_are_those_of_simulations() -> None:
    kernel = gpc.RBF(4.0)
    problem = gpc.Problem(kernel, gpc.Sphere(10), 1e-6, gpc.Teacher(kernel, noise=0.5))
    n = [5, 11, 25, 64, 110]
    theory = gpc.learning_curve(problem, "lc", n=n).error
    truth = gpc.learning_curve(problem, "simulation", n=n, datasets=60, test_points=200, rng=1)
    assert truth.stderr is not None
    assert truth.error[0] < truth.error[1] > truth.error[2] < truth.error[3] > truth.error[4]
    assert (abs(theory - truth.error) < 4 * truth.stderr + 0.15 * truth.error).all()


@pytest.mark.slow
def test_a_teacher_of_another_kernel_and_one_function() -> None:
    for teacher in (
        gpc.Teacher(gpc.OU(1.0), 0.1),
        gpc.Teacher(noise=0.1, function=lambda X: X[:, 0] ** 2),
    ):
        problem = gpc.Problem(gpc.RBF(0.7), gpc.Sphere(3), 0.1, teacher)
        truth = gpc.learning_curve(problem, "simulation", n=[10, 50], datasets=20, rng=0).error
        np.testing.assert_allclose(gpc.learning_curve(problem, "lc", n=[10, 50]).error, truth, rtol=0.15)


def test_what_is_refused() -> None:
    with pytest.raises(gpc.InputError, match="order must be an integer, at least 0"):
        gpc.ArcCosine(-1)
    with pytest.raises(gpc.InputError, match="coefficients must be finite, at least 0 and not all 0"):
        gpc.PowerSeries((1.0, -0.5))
    with pytest.raises(gpc.InputError, match="the torus needs a stationary kernel"):
        gpc.Problem(gpc.ArcCosine(), gpc.Torus(2), 0.1)


def test_on_the_command_line() -> None:
    words = (
        "curve --kernel arc-cosine --order 1 --bias 0.5 --inputs sphere --dim 4 --noise 0.1 --n 0,20 --methods lc -q"
    )
    code, out, err = command(*words.split())
    assert (code, err) == (0, "")
    curve = gpc.learning_curve(gpc.Problem(gpc.ArcCosine(1, bias=0.5), gpc.Sphere(4), 0.1), "lc", n=[0, 20])
    assert float(out.splitlines()[2].split(",")[2]) == curve.error[1]
    words = "curve --kernel power-series --coefficients 1,0.5,0.2 --inputs sphere --noise 0.1 --n 20 --methods lc -q"
    assert command(*words.split())[0] == 0
