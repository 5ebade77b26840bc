"""Averages over data sets: identities and exact curves, bounds on both sides, honest standard errors, low noise."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest

from gpcurves import (
    METHODS,
    OU,
    RBF,
    Box,
    Discrete,
    Gaussian,
    LearningCurve,
    Linear,
    Matern32,
    Problem,
    Torus,
    learning_curve,
)
from gpcurves.inputs import Inputs
from gpcurves.kernels import Kernel
from gpcurves.methods import Kind
from gpcurves.methods.base import Scope
from gpcurves.methods.sampled import QUANTILES
from gpcurves.methods.simulation.dataset import Prior
from gpcurves.montecarlo import stream
from gpcurves.numerics.cholesky import Factor
from gpcurves.numerics.validation import FloatArray


def simulated(problem: Problem, n: list[int], **options: Any) -> tuple[LearningCurve, FloatArray]:
    curve = learning_curve(problem, "simulation", n, **options)
    assert curve.stderr is not None
    return curve, curve.stderr


IDENTITY: dict[str, Problem] = {
    "circle, rbf": Problem(RBF(0.1), Torus(1), 0.05),
    "circle, ou": Problem(OU(0.3), Torus(1), 0.3),
    "gaussian, linear": Problem(Linear(bias=0.3), Gaussian(2), 0.1),
    "box, matern": Problem(Matern32(0.4), Box(2), 0.02),
    "discrete": Problem(OU(0.5), Discrete([0.0, 0.3, 0.5, 1.0], [0.1, 0.4, 0.3, 0.2]), 0.1),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", IDENTITY)
def test_empirical_error_of_one_more_example(name: str) -> None:
    # <eps_emp(D_{n+1})> = <noise eps(x, D_n) / (noise + eps(x, D_n))>, exact for every GP; within 4 standard errors
    problem = IDENTITY[name]
    noise, sizes, sets = problem.noise, (0, 1, 4, 12), 300
    found, _ = simulated(problem, [n + 1 for n in sizes], datasets=sets, rng=1, also=["empirical"], test_points=1)
    prior = Prior(problem.kernel, problem.inputs, noise)
    rng = np.random.default_rng(2)
    averages = np.empty((sets, len(sizes)))
    for row in averages:
        X, points = problem.inputs.draw(12, rng), problem.inputs.draw(40, rng)
        W = np.linalg.solve(np.linalg.cholesky(prior.between(X) + noise * np.eye(12)), prior.between(X, points))
        for i, n in enumerate(sizes):
            variance = np.diagonal(prior.between(points)) - (W[:n] ** 2).sum(axis=0)
            row[i] = (noise * variance / (noise + variance)).mean()
    stderr = np.hypot(averages.std(axis=0, ddof=1) / math.sqrt(sets), found.details["empirical_stderr"])
    assert (abs(averages.mean(axis=0) - found.details["empirical"]) < 4 * stderr + 1e-12).all()
    assert (stderr < 0.03 * found.details["empirical"]).all()


@pytest.mark.slow
def test_ou_on_the_circle_without_noise_is_its_exact_curve() -> None:
    # gaps of n points: n ∫ (n-1)(1-g)^(n-2) [g coth(g/l) - l] dg; n = 1: coth(1/l) - l; n = 0: coth(1/2l)
    scale, sizes = 0.3, [0, 1, 2, 10, 50]
    x, w = np.polynomial.legendre.leggauss(300)
    gap, weight = (x + 1) / 2, w / 2
    exact = [1 / math.tanh(0.5 / scale), 1 / math.tanh(1 / scale) - scale]
    between = gap / np.tanh(gap / scale) - scale
    exact += [n * float(weight @ ((n - 1) * (1 - gap) ** (n - 2) * between)) for n in sizes[2:]]
    problem = Problem(OU(scale), Torus(1), 0.0)
    found, stderr = simulated(problem, sizes, datasets=600, rng=3)
    assert (abs(found.error - exact) < 4 * stderr + 1e-12).all()
    assert (stderr < 0.02 * found.error).all()
    ratio = learning_curve(problem, "lc", sizes).error / found.error
    assert ratio[-1] == pytest.approx(0.75, abs=0.04)  # its limit is 3/4
    assert ratio[-1] < ratio[-2] < ratio[1]


FIGURES: dict[str, tuple[Kernel, Inputs, float, list[int]]] = {
    "3, left": (OU(0.01), Torus(1), 0.05, [0, 1, 10, 50, 300]),
    "3, right": (OU(0.1), Torus(2), 0.05, [0, 1, 10, 50, 300]),
    "4": (RBF(0.01), Torus(1), 0.05, [0, 1, 10, 50, 300]),
    "5, left": (RBF(0.3), Torus(4), 0.05, [0, 1, 10, 50, 300]),
    "5, right": (RBF(0.3), Torus(4), 0.001, [0, 1, 10, 50, 300]),
    "6": (RBF(0.01), Gaussian(1), 0.05, [0, 1, 10, 50, 300]),
    "7, left": (RBF(0.3), Gaussian(4), 0.05, [0, 1, 10, 50, 300]),
    "7, right": (RBF(0.3), Gaussian(4), 0.001, [0, 1, 10, 50, 300]),
}


@pytest.mark.parametrize("figure", FIGURES)
def test_bounds_hold_in_the_scenarios_of_the_paper(figure: str) -> None:
    # Sollich & Halees 2002, Figures 3 to 7; up to 4 standard errors
    kernel, inputs, noise, sizes = FIGURES[figure]
    problem = Problem(kernel, inputs, noise)
    n = np.array(sizes, dtype=float)
    found, stderr = simulated(problem, sizes, datasets=16, rng=4)
    assert (stderr < 0.06 * found.error).all()
    room = 4 * stderr + 1e-10 * found.error
    kinds = []
    for name, method in METHODS.items():
        if method.objection(problem) is not None or method.scope is Scope.MODIFIED:
            continue
        if method.kind is Kind.LOWER_BOUND:
            assert (method(problem, n) <= found.error + room).all(), name
        elif method.kind is Kind.UPPER_BOUND:
            assert (method(problem, n) >= found.error - room).all(), name
        kinds.append(method.kind)
    assert kinds.count(Kind.LOWER_BOUND) >= 4
    assert kinds.count(Kind.UPPER_BOUND) >= 2
    modified = METHODS["uo"](problem, n)  # a bound of the error itself only where that is below the noise
    small = found.error < noise / 2
    assert (modified[small] >= found.error[small] - room[small]).all()


def test_the_truth_falls_below_lc_where_the_paper_says_so() -> None:
    # Figure 7: Gaussian inputs in d = 4, small n; by more than 4 standard errors
    problem = Problem(RBF(0.3), Gaussian(4), 0.05)
    found, stderr = simulated(problem, [10, 50], datasets=300, rng=5)
    assert (found.error + 4 * stderr < learning_curve(problem, "lc", [10, 50]).error).all()


# --- how sure the average is -----------------------------------------------------------------------------------------

ROUGH = Problem(OU(0.3), Torus(1), 0.01)


def test_precision_is_reached_and_not_much_exceeded() -> None:
    found, stderr = simulated(ROUGH, [0, 5, 30], precision=0.01, rng=6)
    drawn = found.diagnostics["drawn"]
    assert (stderr <= 0.01 * found.error).all()
    assert found.notes == ()
    # the same data sets, fewer of them, would not have done
    fewer, wider = simulated(ROUGH, [0, 5, 30], datasets=drawn // 2, rng=6)
    assert (wider > 0.01 * fewer.error).any()


def test_precision_is_capped_and_says_so() -> None:
    found, stderr = simulated(ROUGH, [30], precision=1e-4, datasets=50, rng=6)
    assert found.diagnostics["drawn"] == 50
    assert stderr[0] > 1e-4 * found.error[0]
    assert any("precision" in note and "50 data sets" in note for note in found.notes)
    few, _ = simulated(ROUGH, [30], precision=0.5, datasets=5, rng=6)
    assert few.diagnostics["drawn"] == 5


@pytest.mark.slow
@pytest.mark.parametrize(
    "problem",
    [ROUGH, Problem(Matern32(0.2), Box(1), 0.05), Problem(Linear(bias=0.5) + RBF(0.2), Gaussian(1), 0.1)],
    ids=["closed form", "test points", "test points, variance depends on the input"],
)
def test_standard_errors_are_the_spread_of_repetitions(problem: Problem) -> None:
    # 40 repetitions: the spread of their means is known to a factor 1 ± 0.11; 4 times that is allowed
    runs = [simulated(problem, [1, 4, 15], datasets=10, rng=seed, test_points=20) for seed in range(40)]
    spread = np.std([run.error for run, _ in runs], axis=0, ddof=1)
    told = np.sqrt(np.mean([stderr**2 for _, stderr in runs], axis=0))
    told[spread < 1e-12] = 1.0  # n = 1 on the torus, where all data sets agree
    spread[spread < 1e-12] = 1.0
    assert (abs(spread / told - 1) < 0.45).all()


def test_noise_of_test_points_is_in_the_standard_error() -> None:
    problem = Problem(Matern32(0.2), Box(1), 0.05)
    _, many = simulated(problem, [3], datasets=60, rng=7, test_points=400)
    _, few = simulated(problem, [3], datasets=60, rng=7, test_points=2)
    assert few[0] > 2 * many[0]


def test_test_points_are_used_where_the_variance_depends_on_the_input() -> None:
    # linear regression in five dimensions: eps(D) = tr (1 + X'X/noise)^-1; within 4 standard errors
    noise, sizes = 1e-3, [0, 1, 5, 20, 100]
    found, stderr = simulated(Problem(Linear(), Gaussian(5, 1.0), noise), sizes, datasets=60, rng=8)
    rng = np.random.default_rng(9)
    exact = np.empty((400, len(sizes)))
    for row in exact:
        X = rng.standard_normal((100, 5))
        row[:] = [np.trace(np.linalg.inv(np.eye(5) + X[:n].T @ X[:n] / noise)) for n in sizes]
    total = np.hypot(stderr, exact.std(axis=0, ddof=1) / 20)
    assert not np.isnan(found.error).any()
    assert (abs(found.error - exact.mean(axis=0))[1:] < 4 * total[1:]).all()
    assert (stderr[3:] < 0.1 * found.error[3:]).all()
    assert found.error[0] == pytest.approx(5, rel=0.01)


def test_quantiles_are_those_of_the_data_sets() -> None:
    n, sets = 8, 30
    found, stderr = simulated(ROUGH, [n], datasets=sets, rng=10)
    prior = Prior(ROUGH.kernel, ROUGH.inputs, ROUGH.noise)
    grid = np.arange(4000)[:, None] / 4000
    each = []
    for task in range(sets):
        X = ROUGH.inputs.draw(n, stream(10, task))
        k = prior.between(X, grid)
        inverse = np.linalg.inv(prior.between(X) + ROUGH.noise * np.eye(n))
        each.append((prior.variances(grid) - np.einsum("ij,ik,kj->j", k, inverse, k)).mean())
    for name, level in QUANTILES.items():
        assert found.details[name][0] == pytest.approx(np.quantile(each, level), rel=1e-5)
    assert found.error[0] == pytest.approx(np.mean(each), rel=1e-5)
    assert stderr[0] == pytest.approx(np.std(each, ddof=1) / math.sqrt(sets), rel=1e-4)


# --- little noise ----------------------------------------------------------------------------------------------------


def high_precision(X: FloatArray, scale: float, noise: float) -> float:
    """Return the error of one data set, RBF on the circle, with 50 digits."""
    with mpmath.workdps(50):
        n = len(X)
        x = [mpmath.mpf(float(value)) for value in X[:, 0]]

        def images(apart: Any, length: Any) -> Any:
            return mpmath.fsum(mpmath.exp(-(((apart - r) / length) ** 2) / 2) for r in range(-6, 7))

        one, wide = mpmath.mpf(scale), mpmath.mpf(scale) * mpmath.sqrt(2)
        K = mpmath.matrix(n, n)
        B = mpmath.matrix(n, n)
        for i in range(n):
            for j in range(n):
                K[i, j] = images(x[i] - x[j], one) + (mpmath.mpf(noise) if i == j else 0)
                B[i, j] = mpmath.sqrt(mpmath.pi) * one * images(x[i] - x[j], wide)
        solved = mpmath.inverse(K) * B
        return float(images(mpmath.mpf(0), one) - mpmath.fsum(solved[i, i] for i in range(n)))


@pytest.mark.parametrize(
    "noise", [*(pytest.param(noise, marks=pytest.mark.slow) for noise in (1e-6, 1e-8, 1e-10)), 1e-12]
)
def test_what_is_given_at_low_noise_is_right_and_the_rest_is_nan(noise: float) -> None:
    problem, sizes, sets = Problem(RBF(0.2), Torus(1), noise), [0, 2, 4, 6, 8, 10, 12, 16, 24], 2
    found, _ = simulated(problem, sizes, datasets=sets, rng=11, test_points=20_000)
    assert any("its closed form loses too many digits there" in note for note in found.notes)
    given = ~np.isnan(found.error)
    assert given[:4].all()  # the first few are no problem
    for n, error in zip(np.array(sizes)[given].tolist(), found.error[given].tolist(), strict=True):
        exact = [high_precision(problem.inputs.draw(24, stream(11, task))[:n], 0.2, noise) for task in range(sets)]
        assert error == pytest.approx(np.mean(exact), rel=2e-2)  # random test points where the closed form gives up
    if not given.all():
        first = sizes[int(np.argmin(given))]
        assert not given[sizes.index(first) :].any()
        assert any(note.startswith(f"from n = {first} on double precision") for note in found.notes)
    if noise == 1e-12:
        assert not given[-1]


def test_nothing_is_added_to_the_diagonal() -> None:
    # two inputs almost on top of each other, no noise at all: the second still counts for what it is worth
    problem = Problem(RBF(0.2), Torus(1), 0.0)
    prior = Prior(problem.kernel, problem.inputs, 0.0)
    X = np.array([[0.3], [0.3 + 1e-4], [0.8]])
    K = prior.observe(X).copy()
    np.testing.assert_array_equal(np.diagonal(K), prior.variances(X))
    factor = Factor.from_matrix(K)
    assert factor.size == 3
    gap = X[1, 0] - X[0, 0]
    assert factor.L[1, 1] == pytest.approx(gap / 0.2, rel=1e-4)  # sqrt(1 - exp(-(g/l)^2)), up to images
    X[1] = X[0] + 2e-8  # a pivot of 1e-14, positive but without a digit to rely on
    assert Factor.from_matrix(prior.observe(X)).size == 1
    assert Factor.from_matrix(prior.observe(X[[0, 0, 2]])).size == 1


def test_an_input_seen_before_teaches_nothing_more_without_noise() -> None:
    # two points, the third cannot be drawn: known exactly once both were seen, with chance 1 - 2^(1-n); 4 standard errors
    problem = Problem(OU(0.5), Discrete([0.0, 0.4, 0.7], [0.5, 0.5, 0.0]), 0.0)
    one = (1 - math.exp(-1.6)) / 2
    for sizes in ([1, 2], [1, 3, 4]):
        found, stderr = simulated(problem, sizes, datasets=400, rng=12)
        exact = one * 2.0 ** (1 - np.array(sizes))
        assert (abs(found.error - exact) <= 4 * stderr + 1e-12).all()
        assert (stderr < 0.2 * exact).all()
