"""Inference from labels of any kind against scikit-learn, enumeration and exact values, and simulated curves against LC."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import integrate, special, stats
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF as SklearnRBF  # noqa: N811

import gpcurves as gpc
from gpcurves.methods.simulation.growing import grow
from gpcurves.methods.simulation.inference import (
    Covariances,
    Features,
    expectation_propagation,
    find_space,
    gibbs,
    laplace,
)

CIRCLE = gpc.Torus(dim=1)


def drawn(n: int, seed: int = 0) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.random((n + 5, 1))
    K = gpc.RBF(0.2)(X) + 1e-10 * np.eye(n + 5)
    f = np.linalg.cholesky(K) @ rng.standard_normal(n + 5)
    return X, K, np.where(f[:n] + rng.standard_normal(n) > 0, 1.0, -1.0)


def test_laplace_finds_the_mode_and_the_evidence_of_scikit_learn() -> None:
    X, K, y = drawn(40)
    belief = laplace(K[:40, :40], y, gpc.Logit())
    theirs = GaussianProcessClassifier(SklearnRBF(0.2), optimizer=None, max_iter_predict=1000).fit(X[:40], y)
    np.testing.assert_allclose(special.expit(K[:40, :40] @ belief.weights), theirs.base_estimator_.pi_, atol=1e-4)
    assert belief.log_evidence == pytest.approx(theirs.log_marginal_likelihood_value_, abs=1e-4)
    mean, variance = belief.predict(K[:40, 40:], K.diagonal()[40:])
    ours = gpc.Logit().probability(mean, variance)[0]
    np.testing.assert_allclose(
        ours, theirs.predict_proba(X[40:])[:, 1], atol=2e-3
    )  # they approximate the last integral


def test_laplace_is_a_stationary_point_also_for_probit() -> None:
    _, K, y = drawn(30)
    K = K[:30, :30]
    belief = laplace(K, y, gpc.Probit(0.2))
    f = K @ belief.weights
    gradient = stats.norm.pdf(f, scale=np.sqrt(0.2)) * y / stats.norm.cdf(y * f, scale=np.sqrt(0.2))
    np.testing.assert_allclose(gradient, belief.weights, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_ep_against_enumerated_orthants(n: int) -> None:
    _, K, y = drawn(n, seed=3)
    belief = expectation_propagation(Covariances(K[:n, :n]), y, gpc.Probit(0.3), tolerance=1e-10)
    mean, variance = belief.predict(K[:n, n : n + 1], K.diagonal()[n : n + 1])
    signs = np.append(y, 1.0)
    C = (K + 0.3 * np.eye(len(K)))[: n + 1, : n + 1] * np.outer(signs, signs)
    all_, seen = (
        stats.multivariate_normal.cdf(np.zeros(k), cov=C[:k, :k], abseps=1e-6, releps=1e-6, rng=0) for k in (n + 1, n)
    )
    exact = all_ / seen
    assert gpc.Probit(0.3).probability(mean, variance)[0][0] == pytest.approx(exact, abs=5e-3)
    if n == 1:  # of one label the moments are exact
        np.testing.assert_allclose(mean, y * K[0, 1] * np.sqrt(2 / np.pi / 1.3), rtol=1e-7)


def test_ep_from_the_first_labels_on_is_ep_from_scratch() -> None:
    _, K, y = drawn(40)
    K = K[:40, :40]
    for observation in (gpc.Probit(0.2), gpc.Logit(), gpc.LaplaceNoise(0.4)):
        first = expectation_propagation(Covariances(K[:25, :25]), y[:25], observation)
        grown = expectation_propagation(Covariances(K), y, observation, first, tolerance=1e-9)
        fresh = expectation_propagation(Covariances(K), y, observation, tolerance=1e-9)
        np.testing.assert_allclose(grown.weights, fresh.weights, atol=1e-6)
        # at the fixed point, moments of the tilted belief are those of the belief
        mean, variance = fresh.predict(K, K.diagonal())
        without = 1 / (1 / variance - fresh.precision)
        cavity = without * (mean / variance - fresh.linear)
        _, slope, curvature = observation.tilt(y, cavity, without)
        np.testing.assert_allclose(cavity + without * slope, mean, atol=1e-6)
        np.testing.assert_allclose(without - without**2 * curvature, variance, atol=1e-6)


def test_many_labels_that_say_the_same() -> None:
    f = np.linspace(-1, 8, 20001)
    weights = stats.norm.pdf(f) * stats.norm.cdf(f / np.sqrt(0.1)) ** 100
    exact = float(weights @ f / weights.sum())
    same, point = find_space(np.ones((100, 100)), np.ones((100, 1)))
    strict = expectation_propagation(same, np.ones(100), gpc.Probit(0.1), tolerance=1e-10)
    mean = strict.predict(point, np.ones(1))[0][0]
    assert mean == pytest.approx(exact, rel=0.03)
    loose = expectation_propagation(same, np.ones(100), gpc.Probit(0.1), tolerance=1e-3)  # although changes are slow
    assert loose.predict(point, np.ones(1))[0][0] == pytest.approx(mean, rel=2e-3)


def test_features_change_nothing() -> None:
    _, K, y = drawn(100)
    K = K - 1e-10 * np.eye(105)
    space, features = find_space(K[:100, :100], K[:100, 100:])
    assert isinstance(space, Features)
    assert space.features.shape[1] < 40
    by_features, by_covariances = None, None
    for n in (30, 100):
        by_features = expectation_propagation(space.first(n), y[:n], gpc.Probit(0.2), by_features, tolerance=1e-9)
        by_covariances = expectation_propagation(
            Covariances(K[:n, :n]), y[:n], gpc.Probit(0.2), by_covariances, tolerance=1e-9
        )
        ours = by_features.predict(features, K.diagonal()[100:])
        theirs = by_covariances.predict(K[:n, 100:], K.diagonal()[100:])
        np.testing.assert_allclose(ours, theirs, atol=1e-6)
    rough = gpc.OU(0.2)(np.linspace(0, 1, 30)[:, None])
    assert isinstance(find_space(rough, rough)[0], Covariances)


@pytest.mark.slow
@pytest.mark.parametrize("inference", ["ep", "laplace"])
@pytest.mark.parametrize("kernel", [gpc.OU(0.2), gpc.RBF(0.3)], ids=repr)
def test_beliefs_that_grow_are_those_found_anew(kernel: Any, inference: str) -> None:
    rng, observation = np.random.default_rng(5), gpc.Probit(0.2)
    X = rng.random((70, 1))
    K = kernel(X) + 1e-9 * np.eye(70)
    y = observation.draw(np.linalg.cholesky(K) @ rng.standard_normal(70), X, rng)[:60]
    sizes = [0, 1, 2, 3, 5, 5, 8, 20, 21, 40, 60]  # also in larger steps, and one twice
    about = K[:60, :60], K[:60, 60:], K.diagonal()[60:]
    grown = list(grow(*about, y, observation, sizes, inference, 1e-3))
    for n, (mean, variance, converged) in zip(sizes, grown, strict=True):
        anew: Any = (
            expectation_propagation(Covariances(K[:n, :n]), y[:n], observation, tolerance=1e-9)
            if inference == "ep"
            else laplace(K[:n, :n], y[:n], observation)
        )
        exact_mean, exact_variance = anew.predict(K[:n, 60:], K.diagonal()[60:])
        assert converged
        np.testing.assert_allclose((mean - exact_mean) / np.sqrt(exact_variance), 0.0, atol=2e-3)
        np.testing.assert_allclose(variance, exact_variance, rtol=4e-3)


@pytest.mark.slow
def test_curves_do_not_depend_on_how_beliefs_are_found() -> None:
    problem = gpc.Problem(gpc.OU(0.2), CIRCLE, gpc.Probit(0.5))
    for inference in ("ep", "laplace"):
        options: dict[str, Any] = {"datasets": 3, "rng": 0, "inference": inference, "quantity": "log-loss"}
        every = gpc.learning_curve(problem, "simulation", range(41), **options).error
        one = gpc.learning_curve(problem, "simulation", [40], **options).error
        np.testing.assert_allclose(every[40], one[0], rtol=2e-4)


def test_gibbs_sampling_of_nearly_gaussian_noise_is_regression() -> None:
    _, K, y = drawn(20)
    mean, variance = gibbs(
        K[:20, :20], K[:20, 20:], K.diagonal()[20:], y, gpc.StudentT(1e6, 0.5), np.random.default_rng(0)
    )
    inverse = np.linalg.inv(K[:20, :20] + 0.25 * np.eye(20))
    np.testing.assert_allclose(mean, K[20:, :20] @ inverse @ y, atol=2e-3)
    np.testing.assert_allclose(variance, (K[20:, 20:] - K[20:, :20] @ inverse @ K[:20, 20:]).diagonal(), atol=2e-3)


@pytest.mark.parametrize("noise", [gpc.StudentT(3, 0.4), gpc.LaplaceNoise(0.4)], ids=repr)
def test_gibbs_sampling_of_one_label_is_exact(noise: Any) -> None:
    density = stats.t(3, scale=0.4) if isinstance(noise, gpc.StudentT) else stats.laplace(scale=0.4)

    def moment(k: int) -> float:
        def integrand(f: float) -> float:
            return float(f**k * stats.norm.pdf(f) * density.pdf(1.3 - f))

        return float(integrate.quad(integrand, -8, 8, points=[1.3])[0])

    exact = moment(1) / moment(0)
    one = np.ones((1, 1))
    runs = [gibbs(one, one, one[0], np.array([1.3]), noise, np.random.default_rng(k))[0][0] for k in range(4)]
    assert np.mean(runs) == pytest.approx(exact, abs=0.03)


@pytest.mark.slow
def test_the_error_rate_after_one_label() -> None:
    problem = gpc.Problem(gpc.RBF(0.1), CIRCLE, gpc.Probit())
    curve = gpc.learning_curve(
        problem, "simulation", [0, 1], datasets=600, test_points=60, rng=1, quantity="error-rate"
    )
    x = np.linspace(0, 1, 2001)[:-1, None]
    C = CIRCLE.kernel_matrix(gpc.RBF(0.1), np.zeros((1, 1)), x)[0]
    exact = 0.5 - np.mean(np.arcsin(abs(C) / (C[0] + 1))) / np.pi
    assert curve.error[0] == 0.5
    assert curve.stderr is not None
    assert abs(curve.error[1] - exact) < 4 * curve.stderr[1]
    assert curve.stderr[1] < 0.01
    assert set(curve.details) >= {"mse", "log-loss", "sign-error-rate", "claimed"}
    again = gpc.learning_curve(curve.problem, curve.method, curve.n, rng=curve.rng, **curve.options)
    np.testing.assert_array_equal(again.error, curve.error)


def test_two_hundred_gaussian_features() -> None:
    n, truth = [100, 250], []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        features = rng.standard_normal((400, 200)) / np.sqrt(200)
        f = features @ rng.standard_normal(200)
        y = gpc.Probit(0.5).draw(f, features, rng)
        K = features @ features.T
        belief, claimed = None, []
        for k in n:
            belief = expectation_propagation(Covariances(K[:k, :k]), y[:k], gpc.Probit(0.5), belief)
            variance = belief.predict(K[:k, 250:], K.diagonal()[250:])[1]
            claimed.append(float((variance / K.diagonal()[250:]).mean()))
        truth.append(claimed)
    spectrum = gpc.Spectrum(np.array([1 / 200]), np.array([200.0]))
    theory = gpc.learning_curve(spectrum, "lc", n, noise=gpc.Probit(0.5)).error
    np.testing.assert_allclose(np.mean(truth, axis=0), theory, rtol=0.01)


@pytest.mark.slow
def test_simulated_classes_and_outliers_as_published() -> None:
    classes = gpc.Problem(gpc.RBF(0.02), CIRCLE, gpc.Probit())
    truth = gpc.learning_curve(classes, "simulation", [50, 200], datasets=40, rng=0)
    np.testing.assert_allclose(truth.details["claimed"], gpc.learning_curve(classes, "lc", [50, 200]).error, rtol=0.05)
    low = gpc.Problem(gpc.RBF(0.02), CIRCLE, gpc.Probit(0.1))
    truth = gpc.learning_curve(low, "simulation", [200], datasets=40, rng=0)
    np.testing.assert_allclose(gpc.learning_curve(low, "lc", [200]).error, 0.121, rtol=0.01)
    np.testing.assert_allclose(truth.details["claimed"], 0.183, rtol=0.1)
    tails = gpc.Problem(gpc.RBF(0.1), CIRCLE, gpc.StudentT(3, 0.3))
    truth = gpc.learning_curve(tails, "simulation", [20, 60, 120], datasets=40, rng=0)
    assert truth.stderr is not None
    published = np.array([0.108, 0.0245, 0.0140])
    assert (abs(truth.error - published) < 3 * np.hypot(truth.stderr, [0.012, 0.0018, 0.0009])).all()


def test_the_price_of_believing_in_gaussian_noise() -> None:
    tails = gpc.StudentT(3, 0.3)
    believer = gpc.Problem(gpc.RBF(0.1), CIRCLE, tails.variance, gpc.Teacher(gpc.RBF(0.1), tails.variance))
    truth = gpc.learning_curve(believer, "simulation", [20, 60, 120], datasets=60, rng=0)
    # linear predictions depend on the variance of the noise alone; what was published had errors of its own of about 10 %
    np.testing.assert_allclose(truth.error, [0.124, 0.038, 0.026], rtol=0.2)
    right = gpc.learning_curve(gpc.Problem(gpc.RBF(0.1), CIRCLE, tails), "lc", [60, 120]).error
    assert (right < 0.7 * truth.error[1:]).all()


def test_labels_of_another_kind_than_the_model_assumes() -> None:
    wrong = gpc.Problem(gpc.RBF(0.1), CIRCLE, gpc.Logit(), gpc.Teacher(gpc.RBF(0.1), 0.01))
    curve = gpc.learning_curve(wrong, "simulation", [0, 30], datasets=10, rng=0, quantity="log-loss")
    right = gpc.learning_curve(
        gpc.Problem(gpc.RBF(0.1), CIRCLE, gpc.Probit(0.01)),
        "simulation",
        [0, 30],
        datasets=10,
        rng=0,
        quantity="log-loss",
    )
    assert curve.error[0] == pytest.approx(np.log(2))
    assert curve.error[1] > right.error[1]


@pytest.mark.parametrize(
    ("observation", "options", "words"),
    [
        (gpc.StudentT(3, 0.3), {"inference": "laplace"}, "is by 'gibbs', got 'laplace'"),
        (gpc.GaussianNoise(0.1), {"inference": "ep"}, "inference is exact with Gaussian noise"),
        (gpc.Probit(), {"inference": "magic"}, "magic"),
        (gpc.Probit(), {"also": "training"}, "need Gaussian noise"),
        (gpc.Probit(0), {"inference": "laplace", "datasets": 2}, "noise greater than 0"),
    ],
)
def test_what_cannot_be_inferred_is_refused(observation: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(gpc.InputError, match=words):
        gpc.learning_curve(gpc.Problem(gpc.RBF(0.1), CIRCLE, observation), "simulation", [3], **options)
