"""Kernels from features of one's own: they are Bayesian linear regression on the features."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gpcurves as gpc
from gpcurves.numerics.validation import FloatArray


def waves(X: FloatArray) -> FloatArray:
    return np.hstack([np.ones_like(X), np.cos(2 * np.pi * X), np.sin(2 * np.pi * X)])


KERNEL = gpc.FeatureKernel(waves, (1.0, 0.5, 0.5))
PROBLEM = gpc.Problem(KERNEL, gpc.Box(dim=1), noise=0.1)


def test_the_spectrum_is_that_of_the_features() -> None:
    assert np.allclose(PROBLEM.spectrum.values[:3], [1, 0.25, 0.25], atol=1e-10)
    known = gpc.learning_curve(gpc.Spectrum([1, 0.25, 0.25]), "lc", n=[0, 5, 50], noise=0.1)
    assert np.allclose(gpc.learning_curve(PROBLEM, "lc", n=[0, 5, 50]).error, known.error, rtol=1e-8)


def test_the_posterior_is_linear_regression() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.random((12, 1)), rng.standard_normal(12)
    design, at = waves(X), waves(np.array([[0.3]]))
    A = design.T @ design / 0.1 + np.diag(1 / np.array([1.0, 0.5, 0.5]))
    known = gpc.posterior(PROBLEM, X, y)
    assert known.mean([0.3])[0] == pytest.approx((at @ np.linalg.solve(A, design.T @ y / 0.1))[0])
    assert known.variance([0.3])[0] == pytest.approx((at @ np.linalg.solve(A, at.T))[0, 0])


def test_sums_and_simulation() -> None:
    both = gpc.Problem(KERNEL + gpc.RBF(0.2), gpc.Box(dim=1), noise=0.1)
    curve = gpc.learning_curve(both, "simulation", n=[0, 20], datasets=10, rng=0)
    assert curve.error[0] == pytest.approx(2.5, rel=1e-3)
    assert 0 < curve.error[1] < 0.5
    assert np.allclose((2 * KERNEL)(np.array([[0.1]])), 2 * KERNEL(np.array([[0.1]])))


@pytest.mark.parametrize(
    ("function", "variances", "words"),
    [
        (lambda X: X[:, 0], 1.0, "a row for each of 3 inputs, got shape"),
        (lambda X: X * np.nan, 1.0, "features must be finite"),
        (lambda X: X, (1.0, 2.0), "there are 1 features, and variances of 2"),
        (waves, -1.0, "greater than 0"),
        ("waves", 1.0, "features must be a function"),
    ],
)
def test_bad_input(function: Any, variances: Any, words: str) -> None:
    with pytest.raises(gpc.InputError, match=words):
        gpc.FeatureKernel(function, variances)(np.array([[0.1], [0.2], [0.3]]))


def test_functions_cannot_be_saved() -> None:
    with pytest.raises(gpc.InputError, match="cannot be saved"):
        gpc.learning_curve(PROBLEM, "lc", n=[1]).to_json()
