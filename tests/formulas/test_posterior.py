"""The posterior of the hyperparameters: density and gradient, its members, their modes, and draws from it."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor, kernels

from gpcurves import RBF, Matern52
from gpcurves.forecasting.effort import Computation, ForecastEffort
from gpcurves.forecasting.evidence import JITTER, Evidence, Family
from gpcurves.forecasting.parts import AdditivePart, LinearPart, list_parts
from gpcurves.forecasting.posterior import (
    FAMILIES,
    HyperPrior,
    LogPosterior,
    Member,
    draw_hyperparameters,
    draw_problems,
    find_members,
    suggest_starts,
)
from gpcurves.forecasting.regression import Regression
from gpcurves.forecasting.warping import NoWarp, Power, Tails, Warp
from gpcurves.inputs import Sample
from gpcurves.montecarlo.progress import Progress
from gpcurves.numerics.validation import FloatArray

BLOCKS = (0, 1, 1)
THETA = np.array([0.3, -0.7, -1.1, 0.1, 1.2, -2.0])
PRIOR = HyperPrior(2, list_parts(BLOCKS))
WARPS: list[tuple[Callable[[FloatArray], Warp], tuple[float, ...]]] = [
    (NoWarp, ()),
    (Power, (0.4,)),
    (Power, (0.001,)),
    (Tails, (0.7, 0.3)),
]


def rows(count: int = 40, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    """Return inputs, the last two of which share a lengthscale, and a positive target in units of its deviation."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((count, 3))
    y = np.exp(np.sin(2 * X[:, 0]) + 0.3 * X[:, 1] + 0.2 * rng.standard_normal(count))
    return X, y / y.std()


def evidence_of(X: FloatArray, blocks: tuple[int, ...] = BLOCKS, family: Family = RBF) -> Evidence:
    """Return the evidence with all parts."""
    return Evidence(family, X, blocks, parts=[part.features(X).T for part in list_parts(blocks)])


def posterior(family: Family = RBF, warp: Callable[[FloatArray], Warp] = NoWarp, count: int = 40) -> LogPosterior:
    X, y = rows(count)
    return LogPosterior(evidence_of(X, family=family), y, warp(y), PRIOR)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("linear", [False, True])
def test_evidence_is_that_of_scikit_learn(family: Family, linear: bool) -> None:
    X, y = rows()
    scales = np.array([0.7, 1.5, 4.0])
    shape = kernels.RBF(scales) if family is RBF else kernels.Matern(scales, nu=2.5)
    kernel = kernels.ConstantKernel(1.3) * shape + kernels.WhiteKernel(0.05)
    if linear:
        kernel += kernels.ConstantKernel(0.6 / 3) * kernels.DotProduct(math.sqrt(3), "fixed")
    oracle = GaussianProcessRegressor(kernel, optimizer=None, alpha=1.3 * JITTER).fit(X, y)
    value, gradient = oracle.log_marginal_likelihood(oracle.kernel_.theta, eval_gradient=True)
    theta = np.log([1.3, *([0.6] if linear else []), *scales, 0.05])
    parts = [LinearPart(3).features(X).T] if linear else []
    ours, slope, _ = Evidence(family, X, (0, 1, 2), parts=parts)(theta, y)
    assert ours == pytest.approx(value, rel=1e-12)
    order = [0, 5, 1, 2, 3, 4] if linear else range(5)
    np.testing.assert_allclose(slope, gradient[list(order)], rtol=1e-8)


def test_priors_are_students_and_wider_above_for_lengthscales() -> None:
    prior = HyperPrior(2, list_parts((0, 1)))
    theta = np.array([2.0, -3.0, -4.0, 0.5, 4.0, -1.0])
    centre = math.log(3 * math.sqrt(2))
    scales = [2.0, 2.0, 2.0, 1.4, 5.6, 2.2]
    expected = 0.0
    for value, location, scale in zip(theta, [1.0, -1.0, -5.0, centre, centre, -1.5], scales, strict=True):
        expected += -2.5 * math.log(1 + ((value - location) / scale) ** 2 / 4)
    value, gradient = prior(theta)
    assert value == pytest.approx(expected)
    steps = 1e-6 * np.eye(6)
    differences = [(prior(theta + step)[0] - prior(theta - step)[0]) / 2e-6 for step in steps]
    np.testing.assert_allclose(gradient, differences, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("warp", "w"), WARPS)
def test_the_density_is_evidence_prior_and_slopes(
    family: Family, warp: Callable[[FloatArray], Warp], w: tuple[float, ...]
) -> None:
    density = posterior(family, warp)
    theta = np.array([*THETA, *w])
    function, y = warp(density.y), density.y
    bent = function.bend(y, np.array(w))
    value = density.evidence.value(THETA, (bent - bent.mean()) / bent.std())
    value += PRIOR(THETA)[0] + function.log_prior(np.array(w))
    value += sum(function.log_slope(y, np.array(w))) - len(y) * math.log(bent.std())
    assert density.value(theta) == pytest.approx(value, rel=1e-12)
    assert density(theta)[0] == density.value(theta)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("warp", "w"), WARPS)
def test_the_gradient_is_that_of_differences(
    family: Family, warp: Callable[[FloatArray], Warp], w: tuple[float, ...]
) -> None:
    density, theta = posterior(family, warp), np.array([*THETA, *w])
    step = 1e-4
    steps = step * np.eye(len(theta))
    differences = [(density.value(theta + each) - density.value(theta - each)) / (2 * step) for each in steps]
    np.testing.assert_allclose(density(theta)[1], differences, rtol=1e-5, atol=1e-5)


def test_outside_the_limits_there_is_no_density() -> None:
    density = posterior(warp=Power)
    for place, (low, high) in enumerate(density.bounds):
        for outside in (low - 0.1, high + 0.1):
            theta = np.array([*THETA, 0.4])
            theta[place] = outside
            assert density.value(theta) == -math.inf
            assert density(theta)[0] == -math.inf


def test_the_density_of_many_rows_is_thinned() -> None:
    few, many = posterior(count=400), posterior(count=450)
    assert few.thinned is few
    part = many.thinned
    assert len(part.y) == len(part.evidence.X) == 400
    chosen = np.array([np.flatnonzero((x == many.evidence.X).all(axis=1))[0] for x in part.evidence.X])
    assert len(set(chosen)) == 400
    np.testing.assert_array_equal(part.y, many.y[chosen])
    expected = LogPosterior(evidence_of(many.evidence.X[chosen]), many.y[chosen], many.warp, PRIOR)
    assert part.value(THETA) == pytest.approx(expected.value(THETA), rel=1e-12)
    again = many.thinned
    np.testing.assert_array_equal(again.y, part.y)  # the same rows every time


def test_curvatures_are_those_of_second_differences() -> None:
    density = posterior(Matern52, Power)
    mode = density.find_mode(suggest_starts(density), 80)
    values, vectors = density.curvature(mode)
    low, high = np.array(density.bounds).T
    inside = np.clip(mode, low + 2e-3, high - 2e-3)
    step = 1e-2
    for value, vector in zip(values, vectors.T, strict=True):
        away = [density.value(inside + shift * vector) for shift in (-step, 0, step)]
        second = -(away[0] - 2 * away[1] + away[2]) / step**2
        assert value == pytest.approx(max(second, 0.2), rel=0.02, abs=0.02)


# Members


def test_members_are_covariances_and_warps_at_their_modes() -> None:
    X, y = rows()
    members = find_members(X, BLOCKS, y)
    kinds = [(each.density.evidence.family, type(each.density.warp)) for each in members]
    assert kinds == [(RBF, NoWarp), (Matern52, NoWarp), (RBF, Power), (Matern52, Power)]
    for member in members:
        value, slope = member.density(member.mode)
        assert value >= max(member.density.value(start) for start in suggest_starts(member.density)) - 1e-9
        low, high = np.array(member.density.bounds).T
        free = (member.mode > low + 1e-6) & (member.mode < high - 1e-6)
        assert abs(slope[free]).max() < 0.1
    # a positive target of which the logarithm is smooth
    assert members[2].density.value(members[2].mode) > members[0].density.value(members[0].mode) + 5


def test_an_input_that_does_nothing_is_switched_off() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 4))
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.standard_normal(80)
    lengthscales = find_members(X, (0, 1, 2, 3), y)[0].mode[3:7]
    assert (lengthscales[1:] > lengthscales[0] + 2).all()


def test_a_deterministic_target_has_little_noise() -> None:
    X, _ = rows(30)
    y = np.sin(X[:, 0]) + 3.0
    for plain, little in zip(find_members(X, BLOCKS, y), find_members(X, BLOCKS, y, deterministic=True), strict=True):
        at = plain.density.split - 1
        assert little.mode[at] < plain.mode[at] + 0.1
        assert little.mode[at] < math.log(1e-5)


def test_known_errors_weigh_rows_and_centre_the_noise() -> None:
    X, y = rows(60)
    errors = np.where(np.arange(60) % 2, 0.3, 0.1)
    member = find_members(X, BLOCKS, y, errors)[0]
    np.testing.assert_allclose(member.density.evidence.weights, errors**2 / np.mean(errors**2))
    assert member.density.prior.location[-1] == pytest.approx(math.log(0.05))


@pytest.mark.parametrize("family", FAMILIES)
def test_the_problem_of_a_member_is_that_of_its_evidence(family: Family) -> None:
    density = posterior(family)
    X, target = density.evidence.X, density.warped(THETA).standardise(density.y)
    problem = Member(density, THETA).problem(THETA, Sample(X))
    K = problem.kernel(X) + problem.noise * np.eye(len(X))
    value = -0.5 * target @ np.linalg.solve(K, target) - 0.5 * np.linalg.slogdet(K)[1]
    value -= 0.5 * len(X) * math.log(2 * math.pi)
    assert density.evidence.value(THETA, target) == pytest.approx(value, rel=1e-9)


def test_starts_are_longer_along_inputs_that_explain_little() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, 60)
    X = np.column_stack((rng.standard_normal((60, 2)), np.eye(3)[codes]))
    y = X[:, 0] ** 2 + 2.0 * codes
    blocks = (0, 1, 2, 2, 2)
    density = LogPosterior(evidence_of(X, blocks), y, NoWarp(y), HyperPrior(3, list_parts(blocks)))
    *starts, last = suggest_starts(density)
    for start in (*starts[:2], last):
        assert start[3] == start[4] == start[5]
    for start in starts[2:]:
        assert start[4] > start[3] + 0.3
        assert start[4] > start[5] + 0.3
    assert last[2] > max(start[2] for start in starts) + 3  # functions of one input each


def test_functions_of_one_input_are_for_several_inputs_that_are_not_categories() -> None:
    assert list_parts((0,)) == (LinearPart(1),)
    assert list_parts((0, 0, 1, 1)) == (LinearPart(2),)
    assert list_parts((0, 1, 1, 2)) == (LinearPart(3), AdditivePart(3, (0, 3)))


def test_a_sum_of_functions_of_one_input_each_is_learnt_from_few_rows() -> None:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((1_120, 6))
    y = np.sin(2 * X[:, 0]) + abs(X[:, 1]) + 0.5 * X[:, 2] ** 2 + np.cos(2 * X[:, 3]) + np.tanh(2 * X[:, 4])
    y += 0.2 * rng.standard_normal(len(y))
    train, test = slice(120), slice(120, None)
    blocks = tuple(range(6))
    errors = []
    for parts in (list_parts(blocks), list_parts(blocks)[:1]):
        features = [part.features(X[train]).T for part in parts]
        density = LogPosterior(
            Evidence(RBF, X[train], blocks, parts=features), y[train], NoWarp(y[train]), HyperPrior(6, parts)
        )
        learnt = Regression.of(Member(density, density.find_mode(suggest_starts(density), 50)))
        errors.append(float(np.sqrt(np.mean((learnt.predict(X[test]) - y[test]) ** 2))))
    assert errors[0] < 0.6 * errors[1]
    assert errors[0] < 2 * 0.2


def test_many_features_of_one_input_have_a_squared_exponential_covariance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpcurves.forecasting.parts._TERMS", 60)
    X = np.random.default_rng(0).uniform(-3, 3, (9, 3))
    expected = sum(np.exp(-(np.subtract.outer(X[:, i], X[:, i]) ** 2) / 2) for i in (0, 2))
    np.testing.assert_allclose(AdditivePart(3, (0, 2)).kernel(1.5)(X), 0.5 * expected, rtol=1e-12, atol=1e-14)


# Draws


class Normal(LogPosterior):
    """A normal density instead of the posterior."""

    mean = np.array([0.5, -1.0, -3.0, 0.3, 1.0, -2.0])
    precision = np.linalg.inv(0.09 * (0.5 * np.eye(6) + 0.5))

    def __call__(self, theta: FloatArray) -> tuple[float, FloatArray]:
        away = theta - self.mean
        return -0.5 * float(away @ self.precision @ away), -self.precision @ away

    def value(self, theta: FloatArray) -> float:
        return self(theta)[0]


@pytest.mark.parametrize("seed", [0, 1])
def test_draws_have_the_moments_of_a_normal_posterior(seed: int) -> None:
    X, y = rows()
    density = Normal(evidence_of(X), y, NoWarp(y), PRIOR)
    draws = draw_hyperparameters(Member(density, density.mean), 1_000, np.random.default_rng(seed))
    stderr = 0.3 / math.sqrt(1_000)
    assert (abs(draws.mean(axis=0) - density.mean) < 4 * stderr).all()
    # of a variance, with some allowance for draws that occur twice
    expected = np.linalg.inv(density.precision)
    assert (abs(np.cov(draws.T) - expected) < 6 * 0.09 * math.sqrt(2 / 1_000)).all()


def test_few_draws_are_spread_evenly_over_the_noise() -> None:
    X, y = rows()
    density = Normal(evidence_of(X), y, NoWarp(y), PRIOR)
    member = Member(density, density.mean)
    means = [draw_hyperparameters(member, 8, np.random.default_rng(seed)).mean(axis=0) for seed in range(150)]
    spread = np.std(means, axis=0) / 0.3
    assert spread[-1] < 0.8 / math.sqrt(8)  # independent draws would have 1 / sqrt(8)


@pytest.mark.slow
def test_draws_have_the_moments_of_a_posterior_on_a_grid() -> None:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((25, 1))
    y = np.sin(2 * X[:, 0]) + 0.3 * rng.standard_normal(25)
    density = LogPosterior(evidence_of(X, (0,), Matern52), y, NoWarp(y), HyperPrior(1, list_parts((0,))))
    axes = [np.linspace(-4, 6, 9), np.linspace(-9, 6, 8), np.linspace(-2, 5, 9), np.linspace(-6, 1, 11)]
    nodes = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 4)
    logs = np.array([density.value(theta) for theta in nodes])
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    mean = weights @ nodes
    spread = np.sqrt(weights @ (nodes - mean) ** 2)
    member = Member(density, density.find_mode(suggest_starts(density), 80))
    draws = draw_hyperparameters(member, 400, np.random.default_rng(0))
    assert (abs(draws.mean(axis=0) - mean) < 0.3 * spread).all()
    assert (abs(np.log(draws.std(axis=0) / spread)) < 0.35).all()


def test_without_any_density_draws_are_the_mode() -> None:
    class Nowhere(Normal):
        def value(self, theta: FloatArray) -> float:
            return -math.inf

    X, y = rows()
    density = Nowhere(evidence_of(X), y, NoWarp(y), PRIOR)
    draws = draw_hyperparameters(Member(density, density.mean), 3, np.random.default_rng(0))
    np.testing.assert_array_equal(draws, np.tile(density.mean, (3, 1)))


def test_members_are_drawn_from_in_proportion_to_their_weights() -> None:
    X, y = rows()
    members = find_members(X, BLOCKS, y)
    computation = Computation(0, np.random.default_rng(0), ForecastEffort(draws=16), Progress(False, "%"))
    draws = draw_problems(members, np.array([0.0, 0.5, 0.245, 0.255]), Sample(X), computation)
    assert [sum(batch) for batch in draws.batches] == [8, 4, 4]
    assert len(draws.problems) == len(draws.warps) == len(draws.weights) == 16
    np.testing.assert_allclose(draws.weights, np.repeat([0.5 / 8, 0.245 / 4, 0.255 / 4], [8, 4, 4]))
    assert [warped.is_plain for warped in draws.warps] == [True] * 8 + [False] * 8
    families = [type(problem.kernel.terms[0]) for problem in draws.problems]
    assert families == [Matern52] * 8 + [RBF] * 4 + [Matern52] * 4
