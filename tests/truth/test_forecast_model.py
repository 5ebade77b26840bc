"""The model behind forecasts: evidence and gradient, priors, draws, inputs, learning curves, chosen inputs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor, kernels

from gpcurves import RBF, Box, Matern52, Problem
from gpcurves.designs.greedy import choose_greedily
from gpcurves.forecasting.crossvalidation import CrossValidation, PowerLawFit
from gpcurves.forecasting.error_curve import ErrorCurve, simulate_curve
from gpcurves.forecasting.posterior import (
    FAMILIES,
    JITTER,
    NOISELESS,
    Evidence,
    Family,
    HyperPrior,
    LogPosterior,
    Peak,
    build_problem,
    draw_hyperparameters,
    suggest_starts,
)
from gpcurves.inputs import Copula, Pool
from gpcurves.numerics.validation import FloatArray


def sklearn_kernel(family: Family, scales: FloatArray) -> kernels.Kernel:
    return kernels.RBF(scales) if family is RBF else kernels.Matern(scales, nu=2.5)


def rows(count: int = 40, dim: int = 3, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((count, dim))
    return X, np.sin(X[:, 0]) + 0.3 * X[:, 1] + 0.2 * rng.standard_normal(count)


@pytest.mark.parametrize("family", FAMILIES)
def test_evidence_is_that_of_scikit_learn(family: Family) -> None:
    X, y = rows()
    scales = np.array([0.7, 1.5, 4.0])
    theta = np.log(np.concatenate(([1.3], scales, [0.05])))
    kernel = kernels.ConstantKernel(1.3) * sklearn_kernel(family, scales) + kernels.WhiteKernel(0.05)
    oracle = GaussianProcessRegressor(kernel, optimizer=None, alpha=1.3 * JITTER).fit(X, y)
    value, gradient = oracle.log_marginal_likelihood(oracle.kernel_.theta, eval_gradient=True)
    ours, slope = Evidence(family, X, y)(theta)
    assert ours == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(slope, gradient, rtol=1e-9)


@pytest.mark.parametrize("family", FAMILIES)
def test_gradient_of_the_posterior_is_its_finite_difference(family: Family) -> None:
    X, y = rows()
    density = LogPosterior(Evidence(family, X, y), HyperPrior.default(3))
    theta = np.array([0.3, 0.1, 0.6, 1.2, -2.0])
    gradient = density(theta)[1]
    for i in range(5):
        step = np.zeros(5)
        step[i] = 1e-5
        difference = (density(theta + step)[0] - density(theta - step)[0]) / 2e-5
        assert difference == pytest.approx(gradient[i], rel=1e-6, abs=1e-6)


def test_fixed_noise_stays_where_it_is() -> None:
    X, y = rows()
    density = LogPosterior(Evidence(RBF, X, y), HyperPrior.default(3), NOISELESS)
    peak = Peak(density)
    assert peak.mode[-1] == NOISELESS
    draws = draw_hyperparameters(
        peak, (3, 2), np.array([20.0, 40.0, 60.0]), np.random.default_rng(0), lambda share: None
    )
    np.testing.assert_array_equal(draws[:, -1], NOISELESS)


def test_draws_have_the_moments_of_the_posterior() -> None:
    # one input: the posterior of three hyperparameters is integrated on a grid
    rng = np.random.default_rng(3)
    X = rng.standard_normal((15, 1))
    y = np.sin(2 * X[:, 0]) + 0.3 * rng.standard_normal(15)
    density = LogPosterior(Evidence(Matern52, X, y), HyperPrior.default(1))
    axes = [np.linspace(-3, 4, 15), np.linspace(-3, 5, 17), np.linspace(-9, 1, 21)]
    nodes = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    logs = np.array([density(theta)[0] for theta in nodes])
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    mean = weights @ nodes
    spread = np.sqrt(weights @ (nodes - mean) ** 2)
    limits = np.linspace(2_600, 8_000, 101)
    draws = draw_hyperparameters(Peak(density), (4,) * 100, limits, np.random.default_rng(0), lambda share: None)
    assert (abs(draws.mean(axis=0) - mean) < 0.35 * spread).all()
    assert (abs(np.log(draws.std(axis=0) / spread)) < 0.35).all()


def test_modes_are_modes() -> None:
    X, y = rows()
    density = LogPosterior(Evidence(RBF, X, y), HyperPrior.default(3))
    mode = density.find_mode(suggest_starts(X, y), 200)
    assert abs(density(mode)[1]).max() < 0.05
    assert density(mode)[0] >= max(density(start)[0] for start in suggest_starts(X, y))


def test_outside_double_precision_there_is_no_density() -> None:
    X, y = rows()
    assert LogPosterior(Evidence(RBF, X, y), HyperPrior.default(3))(np.full(5, 50.0))[0] == -math.inf


@pytest.mark.parametrize("family", FAMILIES)
def test_nested_factors_give_the_posterior_variance_at_every_n(family: Family) -> None:
    X, _ = rows(20)
    test, _ = rows(7, seed=1)
    theta = np.array([0.3, 0.1, 0.6, 1.2, -2.0])
    problem = build_problem(family, theta, Pool(X))
    curve = simulate_curve(problem, X, test)
    for n in range(21):
        K = problem.kernel(X[:n], X[:n]) + problem.noise * np.eye(n)
        k = problem.kernel(X[:n], test)
        variance = math.exp(0.3) - np.einsum("ij,ij->j", k, np.linalg.solve(K, k))
        assert curve(np.array([float(n)]))[0] == pytest.approx(variance.mean() + problem.noise, rel=1e-10)
    assert curve.resolved == math.inf


def test_errors_that_double_precision_does_not_resolve_stay_at_a_limit_above_them() -> None:
    problem = Problem(RBF(3.0, 1e4), Box(1), 1e-8)
    rng = np.random.default_rng(0)
    curve = simulate_curve(problem, problem.inputs.draw(60, rng), problem.inputs.draw(50, rng))
    resolved = int(curve.resolved)
    assert 3 < resolved < 60
    assert (curve.error[:resolved] > JITTER * 1e4).all()
    assert curve.error[resolved] == JITTER * 1e4


@pytest.mark.parametrize(("family", "noise"), [(RBF, 0.01), (Matern52, 0.01), (Matern52, 1e-4)])
def test_theory_continues_the_simulation(family: Family, noise: float) -> None:
    rng = np.random.default_rng(0)
    whole = simulate_curve(
        Problem(family(2.0), Box(3), noise), rng.uniform(-2, 2, (1600, 3)), rng.uniform(-2, 2, (400, 3))
    )
    part = ErrorCurve(whole.error[:401], whole.noise)
    n = np.array([400.0, 800.0, 1600.0])
    np.testing.assert_allclose(part(n), whole(n), rtol=0.15)
    far = part(np.geomspace(400, 1e9, 50))
    assert (np.diff(far) <= 0).all()
    assert far[-1] == pytest.approx(whole.noise, rel=0.01)


def test_continuation_is_exact_for_a_power_law() -> None:
    # g(h) = h^-1/2 without noise to speak of: n = h g = h^1/2, so error = 1/n
    n = np.arange(1, 301)
    curve = ErrorCurve(np.concatenate(([2.0], 1 / n)), 1e-15)
    np.testing.assert_allclose(curve(np.array([1e3, 1e4])), [1e-3, 1e-4], rtol=1e-6)


def test_copula_keeps_marginals_and_correlation() -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal(400)
    X = np.column_stack((np.exp(x), x + 0.5 * rng.standard_normal(400), rng.integers(0, 3, 400)))
    drawn = Copula(X).draw(5_000, rng)
    assert set(drawn[:, 2]) == {0.0, 1.0, 2.0}
    assert (drawn[:, 0] > 0).all()
    for column, new in zip(X.T, drawn.T, strict=True):
        assert np.quantile(new, [0.2, 0.8]) == pytest.approx(np.quantile(column, [0.2, 0.8]), abs=0.15)
    assert np.corrcoef(np.log(drawn[:, 0]), drawn[:, 1])[0, 1] == pytest.approx(np.corrcoef(x, X[:, 1])[0, 1], abs=0.05)


def test_pool_gives_every_row_before_it_repeats_any() -> None:
    X = np.arange(7.0)[:, None]
    drawn = Pool(X).draw(10, np.random.default_rng(0))[:, 0]
    assert set(drawn[:7]) == set(range(7))


def test_chosen_inputs_by_brute_force_and_better_than_random() -> None:
    rng = np.random.default_rng(0)
    kernel, noise = RBF(0.7), 0.05
    candidates, reference = rng.standard_normal((300, 2)), rng.standard_normal((200, 2))

    def average(chosen: list[int]) -> float:
        X = candidates[chosen]
        K, k = kernel(X) + noise * np.eye(len(X)), kernel(X, reference)
        return float(np.mean(1 - np.einsum("ij,ij->j", k, np.linalg.solve(K, k))))

    expected: list[int] = []
    for _ in range(6):
        expected.append(min(range(12), key=lambda place: average([*expected, place])))
    few = candidates[:12]
    assert choose_greedily(kernel(few), kernel(few, reference), noise, 6).tolist() == expected
    best = choose_greedily(kernel(candidates), kernel(candidates, reference), noise, 40)
    assert average(best.tolist()) < 0.8 * average(list(range(40)))


def test_without_noise_no_input_is_chosen_twice() -> None:
    X = np.linspace(0, 1, 30)[:, None]
    chosen = choose_greedily(RBF(0.05)(X), RBF(0.05)(X), 0.0, 30)
    assert len(set(chosen.tolist())) == 30


def test_a_category_is_always_one_of_its_own() -> None:
    rng = np.random.default_rng(0)
    code = rng.choice(3, 400, p=[0.6, 0.3, 0.1])
    x = rng.standard_normal(400) + 2 * (code == 2)
    X = np.column_stack((np.eye(3)[code], x))
    drawn = Copula(X, ((0, 1, 2),), x).draw(4000, rng)
    assert (drawn[:, :3].sum(axis=1) == 1).all()
    assert drawn[:, :3].mean(axis=0) == pytest.approx(X[:, :3].mean(axis=0), abs=0.03)
    assert drawn[drawn[:, 2] == 1, 3].mean() > drawn[drawn[:, 2] == 0, 3].mean() + 0.5


def test_power_law_is_found() -> None:
    n = np.array([10.0, 20.0, 40.0, 72.0])
    law = PowerLawFit.fit(CrossValidation(n, 0.3 + 4 / n, np.zeros(4)))
    assert law(np.array([1000.0]))[0] == pytest.approx(0.304, rel=0.02)
