"""The posterior of one function: against scikit-learn, against a naive retyping, and its draws against its covariances."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process import kernels as sk

import gpcurves as gpc
from gpcurves.numerics.validation import FloatArray

RNG = np.random.default_rng(0)
X, AT = RNG.random((25, 2)), RNG.random((7, 2))
Y = np.sin(5 * X[:, 0]) + X[:, 1]
PATH = gpc.as_graph(nx.Graph([("a", "b"), ("b", "c"), ("c", "d")]))
BOX = gpc.Problem(gpc.RBF(0.4), gpc.Box(dim=2), noise=0.01)


def test_numbers_agree_with_scikit_learn() -> None:
    other = GaussianProcessRegressor(sk.RBF(0.4), alpha=0.01, optimizer=None).fit(X, Y)
    mean, covariance = other.predict(AT, return_cov=True)
    known = gpc.posterior(BOX, X, Y)
    assert np.allclose(known.mean(AT), mean, atol=1e-10)
    assert np.allclose(known.covariance(AT), covariance, atol=1e-10)
    assert np.allclose(known.variance(AT), covariance.diagonal(), atol=1e-10)
    assert np.allclose(known.covariance(AT, AT[:3]), covariance[:, :3], atol=1e-10)
    assert known.log_evidence == pytest.approx(other.log_marginal_likelihood_value_, abs=1e-8)
    assert np.allclose(gpc.posterior_variance(BOX, X, AT), covariance.diagonal(), atol=1e-10)


def test_without_noise_functions_pass_through_the_labels() -> None:
    known = gpc.posterior(gpc.Problem(gpc.OU(0.4), gpc.Box(dim=2), noise=0.0), X, Y)
    assert np.allclose(known.mean(X), Y, atol=1e-9)
    assert np.allclose(known.draw(X, rng=0), Y, atol=1e-6)
    other = GaussianProcessRegressor(sk.Matern(0.4, nu=0.5), alpha=1e-13, optimizer=None).fit(X, Y)
    assert known.log_evidence == pytest.approx(other.log_marginal_likelihood_value_, abs=1e-6)


def test_classes_agree_with_scikit_learn() -> None:
    labels = np.where(Y > 1, 1.0, -1.0)
    other = GaussianProcessClassifier(sk.RBF(0.4), optimizer=None).fit(X, labels)
    known = gpc.posterior(gpc.Problem(gpc.RBF(0.4), gpc.Box(dim=2), gpc.Logit()), X, labels, inference="laplace")
    assert known.log_evidence == pytest.approx(other.log_marginal_likelihood_value_, abs=1e-6)
    probability = np.array([_logistic(*each) for each in zip(known.mean(AT), known.variance(AT), strict=True)])
    assert np.allclose(probability, other.predict_proba(AT)[:, 1], atol=2e-4)  # its integral is an approximation


def _logistic(mean: float, variance: float) -> float:
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    return float(weights @ (1 / (1 + np.exp(-mean - np.sqrt(variance) * nodes))) / weights.sum())


def test_expectation_propagation_of_one_label_is_exact() -> None:
    problem = gpc.Problem(gpc.RBF(0.4), gpc.Box(dim=1), gpc.Probit())
    known = gpc.posterior(problem, [[0.5]], [1.0], inference="ep")
    f = np.linspace(-9, 9, 20001)
    from scipy.special import ndtr

    weight = np.exp(-(f**2) / 2) * ndtr(f)
    mean = weight @ f / weight.sum()
    assert known.mean([[0.5]])[0] == pytest.approx(mean, abs=1e-8)
    assert known.variance([[0.5]])[0] == pytest.approx(weight @ (f - mean) ** 2 / weight.sum(), abs=1e-8)


def test_draws_have_the_mean_and_the_covariances() -> None:
    known = gpc.posterior(BOX, X[:5], Y[:5])
    drawn = known.draw(AT, 4000, rng=1)
    C = known.covariance(AT)
    assert (abs(drawn.mean(axis=0) - known.mean(AT)) < 4.5 * np.sqrt(C.diagonal() / 4000)).all()
    scale = np.sqrt(np.outer(C.diagonal(), C.diagonal()) + C**2) / np.sqrt(4000)
    assert (abs(np.cov(drawn.T) - C) < 4.5 * scale).all()
    assert np.array_equal(known.draw(AT, 2, rng=3), known.draw(AT, 2, rng=3))


def test_without_labels_it_is_the_prior() -> None:
    known = gpc.posterior(BOX, [], [], mean=2.0)
    assert np.allclose(known.mean(AT), 2.0)
    assert np.allclose(known.covariance(AT), BOX.kernel(AT))
    assert known.log_evidence == 0


def test_the_mean_is_taken_off_and_put_back() -> None:
    def line(inputs: FloatArray) -> FloatArray:
        return np.asarray(3 * inputs[:, 0] - 1)

    known, plain = gpc.posterior(BOX, X, Y, mean=line), gpc.posterior(BOX, X, Y - line(X))
    assert np.allclose(known.mean(AT), plain.mean(AT) + line(AT))
    assert np.allclose(known.variance(AT), plain.variance(AT))
    far = np.full((1, 2), 50.0)
    assert known.mean(far)[0] == pytest.approx(149)


def test_periodic_inputs_and_graphs() -> None:
    torus = gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=1), noise=0.1)
    known = gpc.posterior(torus, [0.02], [1.0])
    assert known.mean([0.98])[0] == pytest.approx(known.mean([0.06])[0])
    graph = PATH
    problem = gpc.GraphProblem(graph, gpc.RandomWalkKernel(p=3, a=2), noise=0.1)
    C = problem.kernel.on(graph).matrix()
    seen = [graph.number(each) for each in "ad"]
    K = C[np.ix_(seen, seen)] + 0.1 * np.eye(2)
    expected = C[graph.number("b"), seen] @ np.linalg.solve(K, [1.0, -2.0])
    assert gpc.posterior(problem, ["a", "d"], [1, -2]).mean(["b"])[0] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((BOX, X, Y[:3]), "labels must be 25 finite numbers"),
        ((BOX, X, np.where(Y > 1, np.nan, Y)), "labels must be 25 finite numbers"),
        ((BOX, X[:, :1], Y), "examples must have 2 dimensions as the inputs, got 1"),
        ((gpc.Problem(gpc.RBF(0.4), gpc.Box(dim=2), gpc.Probit()), X, Y), "must be -1 or 1"),
        (
            (gpc.GraphProblem(PATH, gpc.RandomWalkKernel(), 0.1), ["z"], [1]),
            "no vertex 'z'",
        ),
        ((gpc.SpectrumProblem(gpc.Spectrum([1.0]), 0.1), X, Y), "a bare spectrum"),
        (("nonsense", X, Y), "must be a Problem"),
    ],
)
def test_bad_input(given: tuple[Any, Any, Any], words: str) -> None:
    with pytest.raises(gpc.InputError, match=words):
        gpc.posterior(*given)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"mean": lambda inputs: inputs}, "the mean function must return a finite number for each of 25"),
        ({"mean": lambda inputs: np.nan}, "the mean function must return"),
        ({"mean": "zero"}, "mean must be a number or a function"),
        ({"inference": "ep"}, "with Gaussian noise the posterior is exact"),
    ],
)
def test_bad_options(given: dict[str, Any], words: str) -> None:
    with pytest.raises(gpc.InputError, match=words):
        gpc.posterior(BOX, X, Y, **given)


def test_the_picture_shows_mean_interval_and_labels() -> None:
    line = gpc.Problem(gpc.RBF(0.1), gpc.Box(dim=1), noise=0.01)
    shown = gpc.posterior(line, [0.2, 0.7], [1.0, -1.0]).plot(draws=3)
    mean = shown.lines_["mean"]
    assert np.allclose(mean.get_ydata(), gpc.posterior(line, [0.2, 0.7], [1.0, -1.0]).mean(mean.get_xdata()))
    with pytest.raises(gpc.InputError, match="one dimension only"):
        gpc.posterior(BOX, X, Y).plot()
