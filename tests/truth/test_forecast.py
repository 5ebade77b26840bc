"""Forecasts: right where the truth is known, the same for the same seed, and sentences for bad input."""

from __future__ import annotations

import json
import math
import pickle
from copy import deepcopy
from dataclasses import FrozenInstanceError, replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.linear_model import Ridge

import gpcurves as gpc
from forecast_oracle import OFFSETS, naive_power_laws
from gpcurves.cli import run
from gpcurves.curve import SCHEMA
from gpcurves.forecasting import Forecast, ForecastEffort
from gpcurves.forecasting.calibration import TABLES
from gpcurves.forecasting.crossvalidation import CrossValidation
from gpcurves.forecasting.error_curve import ErrorCurve, simulate_curve
from gpcurves.forecasting.intervals import Band, PosteriorCurves
from gpcurves.forecasting.measures import significant
from gpcurves.forecasting.traits import Traits
from gpcurves.forecasting.verdict import Label
from gpcurves.numerics.validation import FloatArray
from gpcurves.render.views import view_of


def process(count: int, noise: float, seed: int) -> tuple[FloatArray, FloatArray, gpc.Problem]:
    """Draw rows from a Gaussian process with two inputs that matter unequally."""
    rng = np.random.default_rng(seed)
    problem = gpc.Problem(gpc.RBF((0.8, 2.0)), gpc.Box(2), noise)
    X = rng.uniform(-1.7, 1.7, (count, 2))
    K = problem.kernel(X) + noise * np.eye(count)
    return X, np.linalg.cholesky(K) @ rng.standard_normal(count), problem


QUICK = ForecastEffort(draws=2, simulated_rows=400, test_inputs=100, candidates=100, chosen=60)
"""Enough if the accuracy does not matter."""


@cache
def smooth() -> Forecast:
    """A noise-free function."""
    X = np.random.default_rng(0).uniform(-1, 1, (60, 2))
    return gpc.forecast(X, 7 * np.sin(3 * X[:, 0]) * np.cos(2 * X[:, 1]), draws=4)


@cache
def pure_noise() -> Forecast:
    rng = np.random.default_rng(1)
    return gpc.forecast(rng.standard_normal((100, 3)), 5 + 2 * rng.standard_normal(100), draws=4)


@cache
def noisy() -> Forecast:
    X, y, _ = process(80, 0.1, 2)
    return gpc.forecast(pd.DataFrame(X, columns=["strong", "weak"]), 3 * y, draws=4)


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.02, 0.3])
def test_the_true_curve_of_a_known_process_is_inside_the_interval(noise: float) -> None:
    X, y, problem = process(80, noise, 3)
    rng = np.random.default_rng(4)
    n = np.array([80.0, 160.0, 640.0])
    draws = [[rng.uniform(-1.7, 1.7, (count, 2)) for count in (640, 300)] for _ in range(4)]
    sets = [simulate_curve(problem, inputs, test)(n) for inputs, test in draws]
    truth = np.sqrt(np.mean(sets, axis=0))
    table = gpc.forecast(X, y, draws=4).at(n)
    assert (table["low"] < truth).all()
    assert (truth < table["high"]).all()
    assert (abs(np.log(table["rmse"] / truth)) < 0.25).all()


@pytest.mark.slow
def test_pure_noise_is_noise_limited() -> None:
    found = pure_noise()
    assert found.verdict().label == "noise-limited"
    assert found.noise_rmse == pytest.approx(2.0, rel=0.2)
    assert found.at([1600])["rmse"][0] == pytest.approx(2.0, rel=0.2)
    assert found.at([100])["rmse"][0] < 1.1 * found.at([1600])["rmse"][0]


@pytest.mark.slow
def test_a_function_without_noise_gets_better_and_better() -> None:
    table = smooth().at([60, 240, 960])
    assert smooth().verdict().label in ("more data helps", "too few rows to say")
    assert table["rmse"][2] < 0.3 * table["rmse"][0]


@pytest.mark.slow
def test_deterministic_promises_more() -> None:
    X = np.random.default_rng(0).uniform(-1, 1, (60, 2))
    sure = gpc.forecast(X, 7 * np.sin(3 * X[:, 0]) * np.cos(2 * X[:, 1]), deterministic=True, draws=4)
    assert sure.noise_rmse < 1e-2
    assert "noise-free" in sure.notes[0]
    assert "noise floor" not in str(sure.verdict())
    assert json.loads(sure.to_json(goal=np.float32(0.1)))["deterministic"] is True  # type: ignore[arg-type]
    assert "noise floor" not in view_of(sure, goal=0.01).page()
    assert sure.at([960])["rmse"][0] < 0.1 * sure.at([60])["rmse"][0]


@pytest.mark.slow
@pytest.mark.usefixtures("few_refits")
def test_the_same_seed_gives_the_same_answer() -> None:
    X, y, _ = process(40, 0.1, 5)
    first, second, other = (gpc.forecast(X, y, rng=seed, draws=4).at([40, 400]) for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(first, second, check_exact=True)
    assert not first.equals(other)
    assert (abs(np.log(first["rmse"] / other["rmse"])) < 0.15).all()


@pytest.mark.slow
@pytest.mark.usefixtures("few_refits")
def test_units_of_the_target_and_inputs_do_not_matter() -> None:
    X, y, _ = process(40, 0.1, 5)
    one = gpc.forecast(X, y, effort=QUICK)
    other = gpc.forecast(1000 * X - 3, 50 * y + 7, effort=QUICK)
    np.testing.assert_allclose(other.at([40, 400]).iloc[:, 1:], 50 * one.at([40, 400]).iloc[:, 1:], rtol=1e-3)


def test_errors_fall_and_intervals_contain_them() -> None:
    for found in (smooth(), pure_noise(), noisy()):
        table = found.at(np.geomspace(5, 1e6, 60).round())
        chosen = found.designed(np.arange(found.rows, found.rows + 300))
        for column in ("rmse", "low", "high"):
            assert (np.diff(np.log(table[column])) <= 1e-4).all()
            assert (np.diff(np.log(chosen[column])) <= 1e-4).all()
        np.testing.assert_array_equal(found.at([10**6]), table.tail(1))  # whatever else is asked
        assert ((table["low"] < table["rmse"]) & (table["rmse"] < table["high"])).all()


@pytest.mark.parametrize("traits", [Traits(), Traits(heavy=0.9, computed=0.8), Traits(0.9, dated=True), Traits(4.5)])
@pytest.mark.parametrize(("n", "reach"), [(160, 2), (1280, 16), (80_000, 16)])  # nothing was scored beyond 16 times
def test_intervals_add_up_what_makes_forecasts_uncertain(n: int, reach: int, traits: Traits) -> None:
    sizes = np.arange(1201.0)
    curves = [ErrorCurve(1 / (1 + sizes / 9), 0.01), ErrorCurve(2 / (1 + sizes / 20), 0.005)]
    weights, scatter, scale = [0.7, 0.3], 0.15, 3.0
    observed = CrossValidation(np.array([20.0, 72.0]), np.array([0.4, 0.2]), np.array([0.1, 0.2 * scatter]), tails=1.3)
    found = PosteriorCurves(tuple(curves), np.array(weights), ((1,), (1,)), observed, 80, 80, scale, traits=traits)
    band = found.make_band()
    logs = {size: [math.log(curve(np.array([float(size)]))[0]) for curve in curves] for size in (72, 80, n)}
    middle = {size: sum(w * log for w, log in zip(weights, logs[size], strict=True)) for size in logs}
    gap = math.log(0.2) - middle[72]
    variance = sum(w * (log - middle[n]) ** 2 for w, log in zip(weights, logs[n], strict=True))
    noise = 0.7 * math.log(0.01) + 0.3 * math.log(0.005)
    above = min(middle[n] - noise, 2.0)
    tail = min(max(traits.heavy - 0.7, 0.0), 3.0)
    sources = [math.log(reach), math.sqrt(variance), scatter, gap, middle[72] - middle[n], above, 1.3, tail]
    down, up = (
        math.sqrt(sum((c * x) ** 2 for c, x in zip(side, sources, strict=True))) for side in (TABLES.down, TABLES.up)
    )
    down *= 0.6 + 0.6 * math.log(reach) / math.log(16)  # lower ends are near at first
    estimate, low, high, assured = (float(curve[0]) for curve in band.at(np.array([float(n)])))
    noiseless, heavy = min((middle[72] - noise) / 4, 1.0), min(max(0.0, traits.heavy - 0.7) / 0.5, 1.0)
    level, model, laws = (
        (1 - heavy) * ((1 - noiseless) * noisy + noiseless * free) + heavy * tails
        for noisy, free, tails in (TABLES.level, TABLES.model, TABLES.laws)
    )
    shift = (1 - heavy) * TABLES.shift[0] + heavy * TABLES.shift[1]
    near = sum(w * math.log(curve(np.array([min(n, 1280.0)]))[0]) for w, curve in zip(weights, curves, strict=True))
    expected = middle[72] + level * gap + shift + model * (near - middle[72])
    expected += laws * (naive_power_laws(observed, min(n, 1280), OFFSETS) - math.log(0.2))
    expected += (model + laws) * (middle[n] - near)  # beyond what was scored
    steep = min(middle[n] - middle[72] + math.log(0.2), naive_power_laws(observed, min(n, 1280), [0.0]))
    steep -= 0.5 * traits.computed * math.log(min(n, 1280) / 72)
    slope = math.log(0.2 / 0.4) / math.log(72 / 20)  # of the line through both errors
    steep += (math.log(0.2) + slope * math.log(min(n, 1280) / 72) + middle[n] - near - steep) / 3
    exact = 0.9 * traits.smooth * noiseless * min(max((-3 - noise) / 5, 0.0), 1.0)
    assert (exact > 0) == (traits.computed > 0 or traits.dated)
    assert (n > 1280) == (abs(near - middle[n]) > 1e-3)
    expected = (1 - exact) * expected + exact * steep
    assert 2 * math.log(estimate / scale) == pytest.approx(expected, rel=1e-9)
    below = 2 * math.log(estimate / low)
    assert below >= (1 - 1e-9) * down  # ends never rise
    assert below == pytest.approx(down, rel=1e-9)
    width = 2 * math.log(high / estimate)
    assert width <= (1 + 1e-9) * up  # ends never rise
    assert n != 160 or width == pytest.approx(up, rel=1e-9)
    assert estimate < assured < high


def test_with_fewer_rows_than_cross_validation_had_errors_are_larger_in_full() -> None:
    curve = ErrorCurve(1 / (1 + np.arange(401.0) / 3), 0.01)
    n = np.array([8.0, 15.0, 30.0, 54.0])
    observed = CrossValidation(n, curve(n), 0.1 * curve(n))
    band = PosteriorCurves((curve,), np.ones(1), ((1,),), observed, 60, 60, 1.0).make_band()
    few = np.array([1.0, 2.0, 4.0, 8.0])
    rise = 2 * np.log(band.at(few)[0] / band.at(np.array([8.0]))[0])
    np.testing.assert_allclose(rise, np.log(curve(few) / curve(np.array([8.0]))), atol=1e-6)


def test_a_model_that_the_user_knows_to_be_right_is_followed() -> None:
    rng = np.random.default_rng(1)
    problem = gpc.Problem(gpc.RBF(0.6), gpc.Sample(rng.uniform(-1.7, 1.7, (1_000, 2))), 0.01)
    truth = math.sqrt(gpc.learning_curve(problem, "simulation", [240], datasets=10, rng=0).error[0] + 0.01)
    away = []
    for _ in range(4):
        X = rng.uniform(-1.7, 1.7, (60, 2))
        y = np.linalg.cholesky(problem.kernel(X) + 0.01 * np.eye(60)) @ rng.standard_normal(60)
        regressor = GaussianProcessRegressor(RBF(0.6) + WhiteKernel(0.01), optimizer=None).fit(X, y)
        away.append(math.log(gpc.forecast(regressor, rng=0).at([240])["rmse"][0] / truth))
    assert np.abs(away).mean() < 0.2


def test_between_its_knots_a_band_is_interpolated() -> None:
    sizes = np.arange(401.0)
    curve = ErrorCurve(1 / (1 + sizes / 9), 0.01)
    observed = CrossValidation(np.array([72.0]), curve(np.array([72.0])), np.array([0.1]))
    band = PosteriorCurves((curve,), np.ones(1), ((1,),), observed, 80, 80, 1.0).make_band()
    n, far = np.array([7.0, 433.0, 5_003.0, 77_777.0]), np.array([1e6 + 1, 1e14])
    now, noiseless = curve(np.array([72.0])), min(math.log(float(curve(np.array([72.0]))[0]) / 0.01) / 4, 1.0)
    model, laws = ((1 - noiseless) * each[0] + noiseless * each[1] for each in (TABLES.model, TABLES.laws))
    for sizes, accuracy in ((n, 1e-6), (far, 1e-5)):  # the second is beyond the horizon
        near, full = curve(np.minimum(sizes, 1280.0)), np.where(sizes < 72, 1.0, model)
        said = np.array([naive_power_laws(observed, float(np.clip(each, 72, 1280)), OFFSETS) for each in sizes])
        expected = np.log(now) + full * np.log(near / now) + laws * (said - np.log(now)) + TABLES.shift[0]
        expected += (model + laws) * np.log(curve(sizes) / near)
        np.testing.assert_allclose(band.at(sizes)[0], np.exp(0.5 * expected), rtol=accuracy)


def test_cross_validation_and_power_law_are_in_units_of_the_target() -> None:
    found = noisy()
    assert found.cross_validation.n[-1] == 72
    assert math.sqrt(found.cross_validation.mse[-1]) == pytest.approx(found.at([72])["rmse"][0], rel=0.3)
    assert found.power_law(np.array([72.0]))[0] == pytest.approx(found.cross_validation.mse[-1], rel=0.5)


def test_cross_validation_holds_squared_errors_and_their_standard_errors_in_squared_units() -> None:
    X, y, _ = process(24, 0.1, seed=3)
    y = 1000 * y + 5000
    kernel = RBF(0.4) + WhiteKernel(0.05)
    seen = gpc.forecast(GaussianProcessRegressor(kernel, optimizer=None, normalize_y=True).fit(X, y)).cross_validation
    rng, centre, scale = np.random.default_rng(0), y.mean(), y.std()
    assert seen.n.tolist() == [3, 6, 12, 22]
    for size, mse, stderr in zip((3, 6, 12, 22), seen.mse, seen.stderr, strict=True):
        squares = []
        for _ in range(20):
            order = rng.permutation(24)
            train, test = order[:size], order[size:]
            weights = np.linalg.solve(RBF(0.4)(X[train]) + 0.05 * np.eye(size), (y[train] - centre) / scale)
            squares += list((y[test] - centre - scale * (RBF(0.4)(X[test], X[train]) @ weights)) ** 2)
        assert mse == pytest.approx(sum(squares) / len(squares), rel=1e-9)
        variance = sum((square - mse) ** 2 for square in squares) / len(squares)
        assert stderr == pytest.approx(math.sqrt(variance / 24), rel=1e-9)


@pytest.mark.slow
@pytest.mark.usefixtures("few_refits")
def test_standard_errors_of_cross_validation_follow_the_units_of_the_target() -> None:
    X, y, _ = process(24, 0.1, seed=3)
    one, other = (gpc.forecast(X, unit * y, effort=QUICK) for unit in (1.0, 1024.0))
    np.testing.assert_allclose(other.cross_validation.mse, 1024**2 * one.cross_validation.mse, rtol=1e-6)
    np.testing.assert_allclose(other.cross_validation.stderr, 1024**2 * one.cross_validation.stderr, rtol=1e-6)
    for entry, mse, stderr in zip(
        other.answers()["cross_validation"], other.cross_validation.mse, other.cross_validation.stderr, strict=True
    ):
        assert entry["rmse"] == pytest.approx(math.sqrt(mse))
        assert entry["stderr"] == pytest.approx(stderr / (2 * math.sqrt(mse)))  # d sqrt(x) = dx / (2 sqrt(x))


def test_relevance_names_what_matters() -> None:
    found = noisy()
    assert found.lengthscales["strong"] < found.lengthscales["weak"]
    assert found.relevance is not None
    assert found.relevance.share.sum() == pytest.approx(1)
    assert found.relevance.share[0] > 0.5


def test_chosen_inputs_are_never_worse() -> None:
    for found, better in ((noisy(), 0.9999), (smooth(), 0.9)):
        n = [10, found.rows, found.rows + 10, 2 * found.rows, 900]
        random, chosen = found.at(n)["rmse"], found.designed(n)["rmse"]
        assert (chosen <= random + 1e-12).all()
        np.testing.assert_array_equal(chosen[:2], random[:2])
        assert (chosen[2:4] < better * random[2:4]).all()


def test_required_n_inverts_the_forecast() -> None:
    found = noisy()
    goal = float(found.at([300])["rmse"][0])
    needed = found.required_n(goal)
    assert needed.estimate is not None
    assert needed.low is not None
    assert 290 <= needed.estimate <= 310
    assert needed.low < needed.estimate
    assert needed.high is None or needed.high > needed.estimate
    if needed.assured is not None:
        assert needed.assured > needed.estimate


def test_goals_below_the_noise_have_a_reason() -> None:
    needed = pure_noise().required_n(0.1)
    assert (needed.estimate, needed.low, needed.high, needed.assured) == (None, None, None, None)
    assert "cannot be reached" in needed.reason
    assert (
        f"noise floor (irreducible error) is about {significant(pure_noise().noise_rmse, 4)} (90 % interval"
        in needed.reason
    )


@pytest.mark.parametrize(
    ("made", "goal", "label"),
    [
        (pure_noise, 10.0, "goal reached already"),
        (pure_noise, 0.1, "goal cannot be reached"),
        (noisy, 100.0, "goal reached already"),
        (noisy, 1e-6, "goal cannot be reached"),
    ],
)
def test_verdicts_on_goals(made: object, goal: float, label: Label) -> None:
    assert callable(made)
    verdict = made().verdict(goal)
    assert verdict.label == label
    assert str(verdict).startswith(label)


@pytest.mark.slow
def test_a_reachable_goal_says_how_many_rows() -> None:
    found = gpc.forecast("examples/wine.csv", "flavanoids", draws=4)
    verdict = found.verdict(float(found.at([435])["rmse"][0]))
    assert verdict.label == "more data helps"
    assert "about 440 rows (262 more)" in verdict.sentences[1]
    assert "uncertain" in verdict.sentences[1]
    verdict = found.verdict(1.08 * float(found.at([178])["rmse"][0]))
    assert verdict.label == "more data helps"
    assert "probably reached" in verdict.sentences[1]
    assert "80 % sure, plan for" in verdict.sentences[1]


def test_harder_goals_never_get_better_answers() -> None:
    order = ["goal reached already", "more data helps", "too few rows to say", "goal cannot be reached"]
    for found in (smooth(), pure_noise(), noisy()):
        table = found.at([found.rows, 16 * found.rows])
        goals = np.geomspace(1.2 * table["high"][0], 0.3 * table["low"][1], 60)
        places = [order.index(found.verdict(goal).label) for goal in goals.tolist()]
        assert places == sorted(places)
        assert places[0] == 0


def test_a_goal_within_the_noise_is_not_said_to_be_helped_by_rows() -> None:
    found = pure_noise()
    goal = float(np.sqrt(found.at([found.rows])["rmse"][0] * found.at([16 * found.rows])["rmse"][0]))
    verdict = found.verdict(goal)
    assert verdict.label == "too few rows to say"
    assert "may be far off" in verdict.sentences[1]


@pytest.mark.slow
@pytest.mark.usefixtures("few_refits")
def test_a_row_that_dominates_the_error_is_named() -> None:
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (100, 3))
    y = 10 + 2 * np.sin(3 * X[:, 0]) + 0.3 * rng.standard_normal(100)
    assert gpc.forecast(X, y, draws=2).outlying == 0
    y[5] *= 10
    found = gpc.forecast(X, y, draws=2)
    for goal in (None, 1.0):
        verdict = found.verdict(goal)
        assert verdict.label == "too few rows to say"
        away = abs(y[5] - np.median(y)) / np.delete(y, 5).std()
        assert f"One outlier ({away:.0f} SD from the rest)" in str(verdict)
        assert "about 1,000 rows (roughly 10 such cases)" in str(verdict)
    assert f"{y[5]:.4g} in the most extreme row" in found.notes[0]
    assert found.verdict(1.01 * float(found.at([100])["high"][0])).label == "goal reached already"
    raw = GaussianProcessRegressor(ConstantKernel(100) * RBF() + WhiteKernel(1.0), optimizer=None).fit(X, y + 1000)
    assert gpc.forecast(raw).outlying == pytest.approx(found.outlying)
    single = (np.arange(100) == 5).astype(float)
    alone = gpc.forecast(X, single, task="numbers", draws=1)
    assert "One outlier (far from the rest)" in str(alone.verdict())
    endless = replace(alone, outlying=math.inf)
    assert loaded(endless).outlying == math.inf
    steep = np.exp(5 * X[:, 0])  # a few rows have most of its variance, but not of the error
    assert gpc.forecast(X, steep, draws=2).outlying == 0


def test_what_was_measured_already_was_not_chosen() -> None:
    found = replace(noisy(), rows=200)
    np.testing.assert_array_equal(found.designed([100, 200]), found.at([100, 200]))
    assert found.designed([240])["rmse"][0] < found.at([240])["rmse"][0]


@pytest.mark.usefixtures("few_refits")
def test_rows_that_were_not_used_are_no_reason_to_ask_for_more() -> None:
    X, y, _ = process(90, 0.3, 7)
    found = gpc.forecast(X, y, effort=replace(QUICK, most_rows=50))
    goal = 1.001 * float(found.at([16 * 90])["low"][0])
    assert "50 of your rows, drawn at random" in str(found.verdict(goal))


def test_wide_intervals_are_too_few_rows() -> None:
    found = noisy()
    band = found.band
    unsure = replace(found, band=replace(band, low=band.low / 9, high=9 * band.high, assured=4 * band.assured))
    assert unsure.verdict().label == "too few rows to say"
    assert "Collect about 560 more rows (640 in total)" in unsure.verdict().sentences[-1]


def test_a_fitted_regressor_is_taken_as_it_is() -> None:
    X, y, problem = process(60, 0.1, 6)
    kernel = ConstantKernel(1.0) * RBF([0.8, 2.0]) + WhiteKernel(0.1)
    raw = GaussianProcessRegressor(kernel, optimizer=None).fit(X, y)
    found = gpc.forecast(raw)
    assert found.relevance is None
    assert found.rows == 60
    curve = simulate_curve(problem, np.random.default_rng(0).uniform(-1.7, 1.7, (480, 2)), X)
    ratio = np.sqrt(curve(np.array([54.0, 480.0]))) / found.at([54, 480])["rmse"]
    assert ratio[0] == pytest.approx(ratio[1], rel=0.05)  # the level is that of cross-validation
    scaled = GaussianProcessRegressor(kernel, optimizer=None, normalize_y=True).fit(X, 20 * y + 5)
    assert gpc.forecast(scaled).noise_rmse > 3 * found.noise_rmse
    with pytest.raises(gpc.InputError, match="must be fitted"):
        gpc.forecast(GaussianProcessRegressor())
    with pytest.raises(gpc.InputError, match="give no y"):
        gpc.forecast(raw, y)


@pytest.mark.slow
@pytest.mark.usefixtures("few_refits")
def test_a_pool_of_unlabelled_inputs_is_used() -> None:
    X, y, _ = process(40, 0.1, 5)
    narrow, wide = (
        gpc.forecast(X, y, pool=pool, effort=QUICK).at([6])["rmse"][0] for pool in (np.tile(X[:3], (5, 1)), None)
    )
    assert narrow < 0.9 * wide  # the level of both is mostly that of cross-validation, which knows no pool


@pytest.mark.slow
@pytest.mark.usefixtures("few_refits")
def test_many_rows_are_a_subsample() -> None:
    X, y, _ = process(90, 0.1, 7)
    for inputs in (X, pd.DataFrame(X)):
        found = gpc.forecast(inputs, y, effort=replace(QUICK, most_rows=50))
        assert (found.rows, found.fitted_rows) == (90, 50)
        assert "Drew 50 rows at random from 90." in found.steps
        assert found.at([90, 180])["rmse"][0] < found.at([50])["rmse"][0]


@pytest.mark.slow
@pytest.mark.usefixtures("few_refits")
def test_constant_columns_are_left_out_and_named() -> None:
    X, y, _ = process(30, 0.1, 7)
    table = pd.DataFrame({"a": X[:, 0], "same": 1.0, "b": X[:, 1]})
    found = gpc.forecast(table, y, effort=QUICK)
    assert found.columns == 2
    assert "Left out 1 column: 'same' (the same in every row)." in found.steps
    found = gpc.forecast(table.to_numpy(), y, effort=QUICK)
    assert found.steps == ("Left out x1: the same in every row.",)


def loaded(found: Forecast) -> Forecast:
    return Forecast.from_dict(json.loads(found.to_json()))


@pytest.mark.usefixtures("few_refits")
def test_forecasts_are_saved_loaded_pickled_and_copied(tmp_path: Path) -> None:
    X, y, _ = process(30, 0.1, 5)
    table = pd.DataFrame(X, columns=["a", "b"]).assign(kind=["x", "y", "z"] * 10, y=y)
    raw = GaussianProcessRegressor(RBF() + WhiteKernel(0.1), optimizer=None).fit(X, y)
    for found in (gpc.forecast(table, "y", effort=QUICK), gpc.forecast(raw, effort=QUICK)):
        found.to_json(tmp_path / "forecast.json", n=[50], goal=0.5)
        saved = gpc.load(tmp_path / "forecast.json")
        for copy in (saved, loaded(found), pickle.loads(pickle.dumps(found)), deepcopy(found)):
            assert copy.to_json(goal=0.5) == found.to_json(goal=0.5)
            pd.testing.assert_frame_equal(copy.at([7, 99, 9999]), found.at([7, 99, 9999]), check_exact=True)
            assert repr(copy) == repr(found)
            assert (copy.seed, copy.steps, copy.notes) == (found.seed, found.steps, found.notes)


def test_a_forecast_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        noisy().band.estimate[0] = 1.0
    with pytest.raises(FrozenInstanceError):
        noisy().rows = 3  # type: ignore[misc]


def bad_input() -> list[tuple[object, object, str]]:
    X, y, _ = process(30, 0.1, 8)
    hole = X.copy()
    hole[3, 1] = np.nan
    return [
        (X, np.full(30, 2.5), "the target must vary, got 2.5 in every row"),
        (hole, y, "X must be finite, got missing or infinite values in 1 rows"),
        (X, np.where(y > 0, np.inf, y), "y must be finite"),
        (X[:9], y[:9], "at least 10 labelled rows, got 9"),
        (X, y[:20], "the same number of rows, got 30 and 20"),
        (np.random.default_rng(0).standard_normal((12, 13)), y[:12], "as many rows as columns, got 12 rows and 13"),
        (np.ones((30, 2)), y, "the inputs must vary"),
        (X, ["a"] * 30, "the target must vary"),
        ([["x"]] * 30, y, "X must contain real numbers only"),
        (pd.DataFrame({"a": ["x"] * 30}), y, "no column can be used as an input"),
        (pd.DataFrame({"a": X[:, 0]}), "b", "the table has no column 'b'"),
        (X, None, "y is needed"),
        (
            Ridge().fit(X, y),
            None,
            "forecast accepts a fitted GaussianProcessRegressor, got Ridge: give X and y, or use",
        ),
        (X, np.column_stack((y, y)), "y must be one column"),
    ]


@pytest.mark.parametrize(("X", "y", "message"), bad_input())
def test_bad_input_is_a_sentence(X: object, y: object, message: str) -> None:
    with pytest.raises(gpc.InputError, match=message):
        gpc.forecast(X, y)


@pytest.mark.parametrize("goal", [0.0, -1.0, math.nan])
def test_goals_must_be_positive(goal: float) -> None:
    with pytest.raises(gpc.InputError, match="the goal must be"):
        noisy().required_n(goal)


def test_pools_must_have_the_same_columns() -> None:
    X, y, _ = process(30, 0.1, 8)
    with pytest.raises(gpc.InputError, match="the pool must have the 2 columns of X, got 1"):
        gpc.forecast(X, y, pool=X[:, :1])


def write(path: Path, count: int = 30) -> Path:
    X, y, _ = process(count, 0.1, 8)
    pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "price": y}).to_csv(path, index=False)
    return path


@pytest.mark.usefixtures("few_refits")
def test_plan_keeps_its_contract(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path / "data.csv")
    assert (
        run(["plan", str(file), "--target", "price", "--n", "60,120", "--goal-rmse", "1e-9", "--json", "--draws", "1"])
        == 0
    )
    out, err = capsys.readouterr()
    answer = json.loads(out)
    assert err.splitlines()[-3].startswith("No number of rows reaches an RMSE of 1e-09")
    assert [row["n"] for row in answer["forecast"]] == [60, 120]
    assert set(answer["forecast"][0]) == {"n", "rmse", "low", "high"}
    assert answer["required_n"] is None
    assert "cannot be reached" in answer["reason"]
    assert answer["verdict"] == "goal cannot be reached"
    assert answer["noise_rmse"] > 0
    assert (answer["schema"], answer["version"], answer["rng"]) == (SCHEMA, gpc.__version__, 0)
    goal = str(answer["forecast"][1]["rmse"])
    assert run(["plan", str(file), "--target", "price", "--goal-rmse", goal, "--json", "--draws", "1"]) == 0
    needed = json.loads(capsys.readouterr().out)["required_n"]
    assert needed["low"] < needed["estimate"] == pytest.approx(120, abs=3)


@pytest.mark.usefixtures("few_refits")
def test_plan_prints_a_table_and_the_verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", str(write(tmp_path / "data.csv")), "--target", "price", "--draws", "1"]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[0] == "n,rmse,low,high"
    assert [line.split(",")[0] for line in out.splitlines()[1:]] == ["30", "60", "120", "240", "480"]
    assert "With your current 30 rows" in err


@pytest.mark.slow
@pytest.mark.usefixtures("few_refits")
def test_one_plan_computes_its_band_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[object] = []

    make = PosteriorCurves.make_band

    def count(curves: PosteriorCurves) -> Band:
        calls.append(curves)
        return make(curves)

    monkeypatch.setattr(PosteriorCurves, "make_band", count)
    file = write(tmp_path / "data.csv")
    command = ["plan", str(file), "--target", "price", "--goal-rmse", "0.5", "--draws", "1"]
    assert run([*command, "--report", str(tmp_path / "plan.html"), "--json"]) == 0
    assert len(calls) == 1
    assert Forecast.from_dict(json.loads((tmp_path / "plan.json").read_text())).rows == 30


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--target", "prise"], "did you mean 'price'?"),
        (["--target", "price", "--goal-rmse", "0"], "--goal-rmse must be greater than 0"),
        (["--target", "price", "--goal-rmse", "low"], "--goal-rmse must be a number"),
        (["--target", "price", "--goal-rmse", "1", "-q"], "the answer to --goal-rmse is not shown with --quiet"),
        (["--target", "price", "--pool", "nowhere.csv"], "cannot read nowhere.csv: No such file"),
    ],
)
def test_plan_refuses_bad_input(
    options: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["plan", str(write(tmp_path / "data.csv")), *options]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
