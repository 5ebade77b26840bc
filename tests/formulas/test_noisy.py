"""Errors against noisy targets: the error against the function plus the noise of the targets, by every method."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gpcurves as gpc

PROBLEM = gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=1), noise=0.05)
N = [0, 3, 40]


@pytest.mark.parametrize("method", ["lc", "uc", "ov", "plaskota", "two", "simulation"])
def test_every_method_adds_the_noise(method: str) -> None:
    own = {"datasets": 8, "rng": 0} if method == "simulation" else {}
    plain = gpc.learning_curve(PROBLEM, method, n=N, **own)  # type: ignore[arg-type]
    noisy = gpc.learning_curve(PROBLEM, method, n=N, noisy=True, **own)  # type: ignore[arg-type]
    root = gpc.learning_curve(PROBLEM, method, n=N, quantity="noisy-rmse", **own)  # type: ignore[arg-type]
    assert np.allclose(noisy.error, plain.error + 0.05, rtol=1e-14)
    assert np.allclose(root.error**2, plain.error + 0.05, rtol=1e-14)
    if method == "simulation":
        assert plain.stderr is not None
        assert np.allclose(noisy.stderr, plain.stderr)  # type: ignore[arg-type]
        assert np.allclose(root.stderr, plain.stderr / (2 * root.error))  # type: ignore[arg-type]
        assert np.allclose(root.details["q95"] ** 2, plain.details["q95"] + 0.05)


def test_targets_have_the_noise_of_the_teacher() -> None:
    wrong = gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=1), noise=0.05, teacher=gpc.Teacher(gpc.OU(0.1), noise=0.2))
    plain, noisy = (gpc.learning_curve(wrong, "lc", n=N, noisy=each) for each in (False, True))
    assert np.allclose(noisy.error - plain.error, 0.2)


def test_a_simulated_test_set_agrees() -> None:
    """Draw functions, train on noisy targets and test on others: the average squared error is the noisy one."""
    rng = np.random.default_rng(0)
    found = []
    for seed in range(300):
        X = rng.random((31, 1))
        y = gpc.sample_prior(PROBLEM, X, rng=seed) + np.sqrt(0.05) * rng.standard_normal(31)
        C = PROBLEM.inputs.kernel_matrix(PROBLEM.kernel, X)
        K, k = C[:30, :30] + 0.05 * np.eye(30), C[:30, 30]
        found.append((y[30] - k @ np.linalg.solve(K, y[:30])) ** 2)
    truth = gpc.learning_curve(PROBLEM, "simulation", n=[30], noisy=True, datasets=200, rng=1)
    assert truth.error[0] == pytest.approx(np.mean(found), abs=3 * np.std(found) / np.sqrt(300))


def test_uneven_noise_is_averaged_over_test_inputs() -> None:
    noise = gpc.UnevenNoise(lambda X: 0.01 + X[:, 0] ** 2 / 2)
    problem = gpc.Problem(gpc.RBF(0.1), gpc.Gaussian(dim=1), noise)
    plain, noisy = (gpc.learning_curve(problem, "local", n=[0, 20], noisy=each).error for each in (False, True))
    assert np.allclose(noisy - plain, 0.01 + 1 / 24, rtol=1e-6)


def test_goals_and_reproduction() -> None:
    at = gpc.required_n(PROBLEM, 0.03)
    assert gpc.required_n(PROBLEM, 0.08, noisy=True) == at
    assert gpc.required_n(PROBLEM, np.sqrt(0.08) * (1 + 1e-12), quantity="noisy-rmse") == at
    curve = gpc.learning_curve(PROBLEM, "lc", n=N, noisy=True)
    again = gpc.learning_curve(curve.problem, curve.method, curve.n, **curve.options)
    assert np.array_equal(again.error, curve.error)
    assert again.quantity == "noisy-mse"


@pytest.mark.slow
def test_on_graphs() -> None:
    graph = gpc.RandomRegular(3).sample(40, rng=0)
    problem = gpc.GraphProblem(graph, gpc.RandomWalkKernel(p=5, a=2), noise=0.1)
    plain = gpc.learning_curves(problem, nu=[0.5, 2], methods=["cavity", "eigenvalue"], rng=0)
    noisy = gpc.learning_curves(problem, nu=[0.5, 2], methods=["cavity", "eigenvalue"], rng=0, noisy=True)
    for method in ("cavity", "eigenvalue"):
        assert np.allclose(noisy[method].error, plain[method].error + 0.1)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"noisy": True, "quantity": "nlpd"}, "give only one of them"),
        ({"noisy": 1}, "noisy must be True or False, got 1"),
    ],
)
def test_bad_input(given: dict[str, Any], words: str) -> None:
    with pytest.raises(gpc.InputError, match=words):
        gpc.learning_curve(PROBLEM, "lc", n=N, **given)


def test_classes_have_no_noise_variance() -> None:
    with pytest.raises(gpc.NotApplicableError, match="noisy-mse: it needs Gaussian noise"):
        gpc.learning_curve(gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=1), gpc.Probit()), "lc", n=N, noisy=True)
