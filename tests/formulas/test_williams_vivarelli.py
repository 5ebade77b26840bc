"""The bound of Williams and Vivarelli: its integrals retyped with other quadratures, sums over images, and enumeration."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtr

from cases import evaluate
from gpcurves import (
    OU,
    RBF,
    Box,
    Discrete,
    Gaussian,
    Linear,
    Matern52,
    NotApplicableError,
    Problem,
    Sample,
    Spectrum,
    SpectrumProblem,
    Torus,
)
from gpcurves.inputs import Univariate
from gpcurves.kernels import Kernel
from gpcurves.numerics.validation import FloatArray

KERNELS: list[Kernel] = [RBF(0.15), OU(0.4, 2.0), Matern52(0.3), RBF(0.2) + OU(0.7, 0.5)]
SIZES = [1, 2, 5, 40, 1000]
FEW = [2, 40]
NOISES = [0.05, 0.0]
"""Taken in turn: the integrals do not depend on them."""


def line(kernel: Kernel, a: float) -> float:
    return float(kernel(np.zeros((1, 1)), np.array([[a]]))[0, 0])


def lines(kernel: Kernel, a: FloatArray) -> FloatArray:
    return np.asarray(kernel(np.zeros((1, 1)), a[:, None])[0])


def integral(function: Callable[[FloatArray], FloatArray], upper: float, n: int) -> float:
    """Integrate over distances from 0 to upper, with 60 nodes in each of the panels that resolve the spacing 1/n."""
    edges = sorted({0.0, upper, *(upper * min(1.0, k / n) for k in (0.3, 1, 2, 4, 8, 16, 32, 64)), upper / 2})
    x, w = np.polynomial.legendre.leggauss(60)
    return math.fsum(
        float((b - a) / 2 * w @ function((a + b) / 2 + (b - a) / 2 * x)) for a, b in itertools.pairwise(edges)
    )


def bound(origin: float, noise: float, explained: float) -> float:
    """Return (21): C(0) minus the mean of C(a)^2 over C(0) + noise."""
    return origin - explained / (origin + noise)


@pytest.mark.parametrize(("kernel", "noise"), list(zip(KERNELS, itertools.cycle(NOISES))), ids=repr)
def test_interval(kernel: Kernel, noise: float) -> None:
    expected = []
    for n in SIZES:
        ends = integral(lambda a, n=n: 2 * (1 - a) ** n * lines(kernel, a) ** 2, 1.0, n)  # type: ignore[misc]
        middle = integral(lambda a, n=n: 2 * (n - 1) * (1 - 2 * a) ** n * lines(kernel, a) ** 2, 0.5, n)  # type: ignore[misc]
        expected.append(bound(line(kernel, 0.0), noise, ends + middle))
    found = evaluate(Problem(kernel, Box(1), noise), "wv", SIZES)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize(
    ("kernel", "noise"), list(zip([*KERNELS, RBF(0.6), OU(2.0)], itertools.cycle(NOISES))), ids=repr
)
def test_circle(kernel: Kernel, noise: float) -> None:
    images = np.arange(-100.0, 101.0)[:, None]

    def around(a: FloatArray) -> FloatArray:
        return np.asarray(kernel(a[:, None], images).sum(axis=1))

    def explained(n: int) -> float:
        return integral(lambda a: 2 * n * (1 - 2 * a) ** (n - 1) * around(a) ** 2, 0.5, n)

    expected = [bound(float(around(np.zeros(1))[0]), noise, explained(n)) for n in SIZES]
    found = evaluate(Problem(kernel, Torus(1), noise), "wv", SIZES)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("kernel", [RBF(0.3), OU(0.4, 2.0)], ids=repr)
def test_gaussian_inputs_against_a_double_integral(kernel: Kernel) -> None:
    # (23): n < [P(x-a) + P(x+a)] [1 - Q(x+a) + Q(x-a)]^(n-1) >_x, by the trapezoidal rule in x and panels in a
    variance, noise = 0.25, 0.02
    x = np.linspace(-9, 9, 1201)
    weight = np.exp(-x * x / 2) / math.sqrt(2 * math.pi) * (x[1] - x[0])
    node, node_weight = np.polynomial.legendre.leggauss(20)
    edges = np.concatenate(([0.0], np.geomspace(1e-5, 18, 160)))
    half = np.diff(edges)[:, None] / 2
    a = ((edges[1:] + edges[:-1])[:, None] / 2 + half * node).ravel()
    width = (half * node_weight).ravel()
    density = (np.exp(-((x[:, None] - a) ** 2) / 2) + np.exp(-((x[:, None] + a) ** 2) / 2)) / math.sqrt(2 * math.pi)
    outside = 1 - ndtr(x[:, None] + a) + ndtr(x[:, None] - a)
    covariance = kernel(np.zeros((1, 1)), 0.5 * a[:, None])[0]
    expected = []
    for n in (1, 2, 7, 60):
        law = weight @ (n * density * outside ** (n - 1))
        np.testing.assert_allclose(law @ width, 1, rtol=1e-9)
        expected.append(bound(line(kernel, 0.0), noise, float((law * width) @ covariance**2)))
    found = evaluate(Problem(kernel, Gaussian(1, variance), noise), "wv", [1, 2, 7, 60])
    np.testing.assert_allclose(found, expected, rtol=1e-8)


@pytest.mark.slow
def test_any_density_against_the_laws_of_known_ones() -> None:
    for law, known in ((stats.norm(0, 0.5), Gaussian(1, 0.25)), (stats.uniform(0, 1), Box(1))):
        found = evaluate(Problem(Matern52(0.3), Univariate(law), 0.02), "wv", FEW)
        np.testing.assert_allclose(found, evaluate(Problem(Matern52(0.3), known, 0.02), "wv", FEW), rtol=1e-6)


def test_gaussian_inputs_against_drawn_examples() -> None:
    kernel, noise, n = OU(0.3), 0.01, 6
    rng = np.random.default_rng(8)
    x = rng.normal(0, math.sqrt(0.2), (200_000, n + 1))
    nearest = abs(x[:, 1:] - x[:, :1]).min(axis=1)
    errors = 1 - np.exp(-nearest / 0.3) ** 2 / (1 + noise)
    found = evaluate(Problem(kernel, Gaussian(1, 0.2), noise), "wv", [n])[0]
    assert abs(errors.mean() - found) < 4 * errors.std() / math.sqrt(len(errors))


def test_discrete_inputs_against_every_data_set() -> None:
    points, chance, kernel, noise = np.array([0.0, 0.25, 0.3, 1.0]), np.array([0.1, 0.2, 0.3, 0.4]), OU(0.5, 1.5), 0.1
    for n in (1, 2, 4):
        expected = 0.0
        for data in itertools.product(range(4), repeat=n):
            for test in range(4):
                nearest = min(abs(points[test] - points[k]) for k in data)
                error = 1.5 - line(kernel, nearest) ** 2 / (1.5 + noise)
                expected += math.prod(chance[k] for k in data) * chance[test] * error
        found = evaluate(Problem(kernel, Discrete(points, chance), noise), "wv", [n])[0]
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_a_sample_is_taken_as_discrete() -> None:
    points = np.random.default_rng(9).random(40)
    sample = evaluate(Problem(RBF(0.1), Sample(points), 0.1), "wv", SIZES)
    discrete = evaluate(Problem(RBF(0.1), Discrete(points), 0.1), "wv", SIZES)
    np.testing.assert_allclose(sample, discrete, rtol=1e-12)


@pytest.mark.parametrize(
    "problem",
    [Problem(OU(0.4), Box(1), 0.05), Problem(OU(0.4), Torus(1), 0.05), Problem(OU(0.4), Gaussian(1), 0.05)],
    ids=repr,
)
def test_floor_is_c_noise_over_c_plus_noise(problem: Problem) -> None:
    origin = problem.spectrum.trace if isinstance(problem.inputs, Torus) else 1.0
    found = evaluate(problem, "wv", [10**11])[0]
    np.testing.assert_allclose(found, origin * 0.05 / (origin + 0.05), rtol=1e-8)
    assert found < 0.05


def test_large_n_without_noise_keeps_its_digits() -> None:
    # circle, large n: distance exponential with mean 1/2n, missed variance 2 a/l C(0)
    problem = Problem(OU(0.4), Torus(1), 0.0)
    slope = 1 / 0.4  # C(0) - C(a) tends to a/l, whatever the images add
    for n in (10**8, 10**11):
        np.testing.assert_allclose(evaluate(problem, "wv", [n])[0], 2 * slope / (2 * n), rtol=1e-6)


def test_conditions_are_stated() -> None:
    for problem, sentence in (
        (Problem(RBF(0.1), Box(2), 0.1), "inputs must be one-dimensional, got dimension 2"),
        (Problem(Linear(), Box(1), 0.1), "the kernel must be stationary"),
        (SpectrumProblem(Spectrum(np.ones(2)), 0.1), "a bare spectrum does not have"),
    ):
        with pytest.raises(NotApplicableError, match=sentence):
            evaluate(problem, "wv", [1])
