"""Laplace's method for classes against naive formulas, finite differences and scikit-learn."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import expit
from sklearn.gaussian_process import GaussianProcessClassifier, kernels

from gpcurves.forecasting.classes.laplace import LaplaceEvidence, find_posterior
from gpcurves.forecasting.classes.members import average_log_odds, find_probabilities, stack
from gpcurves.forecasting.evidence import Family
from gpcurves.inputs import Sample
from gpcurves.kernels import RBF, Matern52
from gpcurves.numerics.validation import FloatArray

BLOCKS = (0, 1, 1, 2)
THETA = np.array([0.7, -0.8, 0.2, 0.5, 0.9])


def rows(count: int = 40) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((count, 4))
    score = 1.5 * X[:, 0] + np.sin(2 * X[:, 1]) + 0.5 * rng.standard_normal(count)
    return X, np.eye(3)[np.digitize(score, [-0.7, 0.7])]


def evidence(family: Family, classes: int) -> LaplaceEvidence:
    X, labels = rows()
    labels = labels if classes == 3 else labels[:, :1]
    shares = labels.mean(axis=0)
    return LaplaceEvidence(family, X, BLOCKS, labels, np.log(shares / (1 - shares)))


@pytest.mark.parametrize("family", [RBF, Matern52])
def test_covariances_are_those_of_the_kernel(family: Family) -> None:
    found = evidence(family, 1)
    X = found.X
    scales = np.exp(THETA[2:])[list(BLOCKS)]
    kernel = family(tuple(scales.tolist()), math.exp(THETA[0]))
    naive = kernel(X) + math.exp(THETA[1]) * (1 + X @ X.T / 3)
    np.testing.assert_allclose(found.covariance(THETA), naive, rtol=1e-10)
    np.testing.assert_allclose(found.covariance(THETA, X[:7]), naive[:, :7], rtol=1e-10)
    np.testing.assert_allclose(found.variance(THETA, X), naive.diagonal(), rtol=1e-10)


@pytest.mark.parametrize("classes", [1, 3])
def test_the_log_evidence_as_the_book_has_it(classes: int) -> None:
    found = evidence(RBF, classes)
    K, n = found.covariance(THETA), len(found.X)
    total = 0.0
    for labels, mean in zip(found.labels.T, found.means, strict=True):
        f = np.full(n, mean)
        for _ in range(100):  # Newton's method, with inverses
            p = expit(f)
            W = np.diag(p * (1 - p))
            f = mean + K @ np.linalg.solve(np.eye(n) + W @ K, W @ (f - mean) + labels - p)
        p = expit(f)
        W = np.diag(p * (1 - p))
        likelihood = np.sum(np.log(np.where(labels == 1, p, 1 - p)))
        determinant = np.linalg.slogdet(np.eye(n) + np.sqrt(W) @ K @ np.sqrt(W))[1]
        total += likelihood - 0.5 * (f - mean) @ np.linalg.solve(K, f - mean) - 0.5 * determinant
    assert found(THETA)[0] == pytest.approx(total, rel=1e-8)


@pytest.mark.parametrize("family", [RBF, Matern52])
@pytest.mark.parametrize("classes", [1, 3])
def test_the_gradient_against_differences(family: Family, classes: int) -> None:
    found, step = evidence(family, classes), 1e-4
    gradient = found(THETA)[1]
    differences = [(found(THETA + step * e)[0] - found(THETA - step * e)[0]) / (2 * step) for e in np.eye(len(THETA))]
    np.testing.assert_allclose(gradient, differences, atol=2e-4)


def test_probabilities_and_evidence_are_those_of_scikit_learn() -> None:
    X, labels = rows()
    kernel = kernels.ConstantKernel(2.5) * kernels.RBF([0.8, 1.1, 1.3, 2.0])
    theirs = GaussianProcessClassifier(kernel, optimizer=None).fit(X, labels[:, 1])
    ours = find_posterior(kernel(X), labels[:, 1], 0.0)
    assert ours.fit == pytest.approx(theirs.log_marginal_likelihood_value_, rel=1e-6)
    new = np.random.default_rng(0).standard_normal((20, 4))
    mean, variance = ours.predict(kernel(X, new), kernel.diag(new))
    # they average over the function by a mixture of five error functions, we by a rule that is good to two digits
    found = find_probabilities(average_log_odds(mean[:, None], variance[:, None]), 1.0)
    np.testing.assert_allclose(found, theirs.predict_proba(new), atol=0.01)


def test_leaving_out_a_row_is_the_cavity_of_the_normal_approximation() -> None:
    X, labels = rows(25)
    K = RBF((1.0,) * 4, 3.0)(X) + 1e-9 * np.eye(25)
    found = find_posterior(K, labels[:, 0], 0.3)
    mean, variance = found.leave_one_out()
    site = found.f + found.a / found.W  # what was as good as measured, with the noise 1/W
    for i in range(25):
        others = np.arange(25) != i
        k, S = K[others, i], K[np.ix_(others, others)] + np.diag(1 / found.W[others])
        assert mean[i] == pytest.approx(0.3 + k @ np.linalg.solve(S, site[others] - 0.3), rel=1e-6)
        assert variance[i] == pytest.approx(K[i, i] - k @ np.linalg.solve(S, k), rel=1e-6)


def test_two_classes_have_the_probabilities_of_one_function() -> None:
    mean, variance = np.array([[1.2]]), np.array([[0.7]])
    p = find_probabilities(average_log_odds(mean, variance), 1.0)
    assert p[0, 1] == pytest.approx(expit(1.2 / math.sqrt(1 + math.pi * 0.7 / 8)), abs=2e-4)
    assert p.sum() == pytest.approx(1.0)


def test_weights_go_to_the_member_that_gives_the_right_class_more() -> None:
    right = np.vstack((np.full(200, 0.9), np.full(200, 0.4)))
    weights = stack(right)
    assert weights.sum() == pytest.approx(1.0)
    assert weights[0] > 0.95
    np.testing.assert_allclose(stack(np.full((3, 50), 0.6)), 1 / 3, atol=1e-3)


def test_problem_of_a_member_has_its_covariance() -> None:
    from gpcurves.forecasting.classes.members import ClassMember

    found = evidence(Matern52, 1)
    problem = ClassMember(found, THETA, np.full(5, True)).problem(Sample(found.X), 4.0)
    np.testing.assert_allclose(problem.kernel(found.X), found.covariance(THETA), rtol=1e-9)
    assert problem.noise == pytest.approx(4.0)
