"""The fast evidence against its formula with dense matrices, and its gradient against differences."""

import itertools
import math
import pickle

import numpy as np
import pytest

from gpcurves.forecasting.evidence import JITTER, Evidence, Family
from gpcurves.forecasting.parts import AdditivePart, LinearPart
from gpcurves.kernels import RBF, Matern52
from gpcurves.numerics.panels import Panels
from gpcurves.numerics.validation import FloatArray

BLOCKS = (0, 1, 1, 2, 2, 2)
CASES = list(itertools.product((RBF, Matern52), (0, 1, 2), (False, True)))
PARTS = (LinearPart(3), AdditivePart(3, (0, 4)))
VARIANCES = (0.6, 1.4)


def make(family: Family, parts: int, weighted: bool, rows: int = 40) -> tuple[Evidence, FloatArray, FloatArray]:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((rows, len(BLOCKS)))
    weights = rng.uniform(0.5, 3, rows) if weighted else None
    theta = np.log([1.7, *VARIANCES[:parts], 0.8, 2.0, 3.0, 0.05])
    features = [part.features(X).T for part in PARTS[:parts]]
    return Evidence(family, X, BLOCKS, parts=features, weights=weights), theta, rng.standard_normal(rows)


def multiply_terms(x: float, other: float) -> float:
    """Return the first eight terms of the series of a squared exponential."""
    series = sum((x * other) ** k / math.factorial(k) for k in range(8))
    return series * math.exp(-(x * x + other * other) / 2)


def covariance(evidence: Evidence, theta: FloatArray) -> FloatArray:
    X = evidence.X
    variance, noise = math.exp(theta[0]), math.exp(theta[-1])
    parts = len(evidence.parts)
    lengthscales = np.exp(theta[1 + parts : -1])
    K = np.empty((len(X), len(X)))
    for j, k in itertools.combinations_with_replacement(range(len(X)), 2):
        r = math.sqrt(sum((X[j, i] - X[k, i]) ** 2 / lengthscales[block] ** 2 for i, block in enumerate(BLOCKS)))
        x = math.sqrt(5) * r
        rho = math.exp(-r * r / 2) if evidence.family is RBF else (1 + x + x * x / 3) * math.exp(-x)
        K[j, k] = variance * rho
        if parts > 0:
            K[j, k] += math.exp(theta[1]) * (1 + float(X[j] @ X[k]) / 3)
        if parts > 1:
            K[j, k] += math.exp(theta[2]) / 3 * sum(multiply_terms(float(X[j, i]), float(X[k, i])) for i in (0, 4))
        if j == k:
            K[j, k] += noise * evidence.weights[j] + JITTER * variance
        K[k, j] = K[j, k]
    return K


@pytest.mark.parametrize(("family", "parts", "weighted"), CASES)
@pytest.mark.parametrize("rows", [1, 40, 230])
def test_value_is_that_of_the_formula(family: Family, parts: int, weighted: bool, rows: int) -> None:
    evidence, theta, y = make(family, parts, weighted, rows)
    K = covariance(evidence, theta)
    value, _, alpha = evidence(theta, y)
    expected = -0.5 * y @ np.linalg.solve(K, y) - 0.5 * np.linalg.slogdet(K)[1] - 0.5 * rows * math.log(2 * math.pi)
    np.testing.assert_allclose(value, expected, rtol=1e-11)
    np.testing.assert_allclose(K @ alpha, y, atol=1e-10)
    assert evidence.value(theta, y) == value


@pytest.mark.parametrize(("family", "parts", "weighted"), CASES)
@pytest.mark.parametrize("rows", [40, 230, 480])
def test_gradient_is_that_of_differences(family: Family, parts: int, weighted: bool, rows: int) -> None:
    evidence, theta, y = make(family, parts, weighted, rows)
    gradient = evidence(theta, y)[1]
    step = 1e-4
    units = step * np.eye(len(theta))
    differences = [(evidence.value(theta + unit, y) - evidence.value(theta - unit, y)) / (2 * step) for unit in units]
    np.testing.assert_allclose(gradient, differences, rtol=1e-6, atol=1e-5)


def test_no_factor_is_an_evidence_of_minus_infinity() -> None:
    X = np.zeros((150, 1))
    X[130:] = 1.0
    evidence = Evidence(RBF, X, (0,))
    theta = np.array([0.0, 0.0, -60.0])
    value, gradient, alpha = Evidence(RBF, X, (0,), weights=np.full(150, -1e15))(theta, X[:, 0])
    assert value == -math.inf
    assert not gradient.any()
    assert not alpha.any()
    assert math.isfinite(evidence.value(theta, X[:, 0]))


def test_calls_do_not_depend_on_earlier_ones_and_memory_is_not_pickled() -> None:
    evidence, theta, y = make(Matern52, 2, True, 300)
    first = evidence(theta, y)
    evidence(theta + 1, -y)
    second = evidence(theta, y)
    assert first[0] == second[0]
    assert np.array_equal(first[1], second[1])
    assert np.array_equal(first[2], second[2])
    text = pickle.dumps(evidence)
    assert len(text) < 300_000  # the panels have 300 * 300 * 8 bytes
    assert pickle.loads(text).value(theta, y) == first[0]


@pytest.mark.parametrize("size", [1, 2, 128, 193, 500])
def test_panels_hold_the_factor_and_then_the_inverse(size: int) -> None:
    rng = np.random.default_rng(size)
    A = rng.standard_normal((size, size))
    K = A @ A.T / size + np.eye(size)
    panels = Panels(size)
    for start, stop, rows in panels:
        rows[...] = K[start:stop, start:]
    assert panels.factorise() == pytest.approx(np.linalg.slogdet(K)[1], rel=1e-10)
    U = np.linalg.cholesky(K).T
    y = rng.standard_normal(size)
    np.testing.assert_allclose(panels.whiten(y), np.linalg.solve(U.T, y), atol=1e-10)
    np.testing.assert_allclose(panels.solve_upper(y), np.linalg.solve(U, y), atol=1e-10)
    panels.invert()
    inverse = np.linalg.inv(K)
    for start, stop, rows in panels:
        np.testing.assert_allclose(np.triu(rows), np.triu(inverse[start:stop, start:]), atol=1e-10)
