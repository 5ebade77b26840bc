"""The model behind forecasts: evidence and gradient, priors, draws, inputs, learning curves, chosen inputs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gpcurves import RBF, Box, Matern52, Problem
from gpcurves.designs.greedy import choose_greedily
from gpcurves.forecasting.crossvalidation import CrossValidation, PowerLawFit
from gpcurves.forecasting.error_curve import ErrorCurve, simulate_curve
from gpcurves.forecasting.evidence import JITTER, Family
from gpcurves.forecasting.posterior import FAMILIES
from gpcurves.inputs import Copula, Pool
from gpcurves.kernels import Linear
from gpcurves.numerics.validation import FloatArray


def rows(count: int = 40, dim: int = 3, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((count, dim))
    return X, np.sin(X[:, 0]) + 0.3 * X[:, 1] + 0.2 * rng.standard_normal(count)


@pytest.mark.parametrize("family", FAMILIES)
def test_nested_factors_give_the_posterior_variance_at_every_n(family: Family) -> None:
    X, _ = rows(20)
    test, _ = rows(7, seed=1)
    problem = Problem(family((1.1, 1.8, 3.3), 1.35) + Linear(0.2, 3.0), Pool(X), 0.13)
    curve = simulate_curve(problem, X, test)
    for n in range(21):
        K = problem.kernel(X[:n], X[:n]) + problem.noise * np.eye(n)
        k = problem.kernel(X[:n], test)
        variance = problem.kernel.diag(test) - np.einsum("ij,ij->j", k, np.linalg.solve(K, k))
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
