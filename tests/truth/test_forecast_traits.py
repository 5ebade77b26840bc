"""What a target says about itself: heavy tails, digits of a computation, dates; and what forecasts make of it."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import gpcurves as gpc
from gpcurves.forecasting import ForecastEffort
from gpcurves.forecasting.assembly import fit_members, fit_rows, simulate_posterior
from gpcurves.forecasting.calibration import NOISELESS, TABLES
from gpcurves.forecasting.crossvalidation import CrossValidation
from gpcurves.forecasting.effort import Computation
from gpcurves.forecasting.error_curve import ErrorCurve
from gpcurves.forecasting.intervals import PosteriorCurves, find_steeper, follow_power_laws, follow_straight_law
from gpcurves.forecasting.regression import mix
from gpcurves.forecasting.traits import Traits, count_digits, measure_tail, measure_traits
from gpcurves.montecarlo.progress import Progress
from gpcurves.tables.preparing import prepare
from gpcurves.tables.rows import standardise

QUICK = ForecastEffort(draws=2, simulated_rows=200, test_inputs=60, candidates=60, chosen=20)


@pytest.mark.parametrize("alpha", [0.8, 1.0, 2.0])
def test_the_tail_of_a_power_law_is_the_inverse_of_its_exponent(alpha: float) -> None:
    rng = np.random.default_rng(0)
    squares = np.concatenate((rng.pareto(alpha, 40_000) + 1.0, np.zeros(40_000)))  # the median is 0
    y = np.sqrt(squares) * rng.choice((-1.0, 1.0), 80_000)
    assert measure_tail(y) == pytest.approx(1 / alpha, rel=0.05)  # 8,000 extremes: a standard error of 1.1 %


def test_the_tail_is_the_mean_logarithm_of_the_largest_squares() -> None:
    y = np.random.default_rng(1).standard_normal(50) + 3.0
    squares = sorted(((value - float(np.median(y))) ** 2 for value in y), reverse=True)
    naive = sum(math.log(each / squares[5]) for each in squares[:5]) / 5
    assert measure_tail(y) == pytest.approx(naive, rel=1e-12)
    assert measure_tail(7 - 1000 * y) == pytest.approx(naive, rel=1e-9)


def test_the_tail_exists_if_most_values_are_equal() -> None:
    assert measure_tail(np.array([0.0] * 40 + [5.0])) == pytest.approx(math.log(1e12) / 4, rel=1e-6)


@pytest.mark.parametrize(
    ("values", "digits"),
    [
        ([1.5, 2.25, -3.125], 3),
        ([0.001234, 0.1, 12.5], 3),
        ([1 / 3, 2 / 7, math.pi], 12),
        ([1e5, 3.0, 12.0], 0),  # integers, even if one is not
        ([1.0, 2.0, 3.0, 1 / 3], 0),
    ],
)
def test_significant_digits_are_counted(values: list[float], digits: int) -> None:
    assert count_digits(np.array(values)) == digits


def test_digits_survive_standardising() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.random(60), "when": pd.date_range("2020-01-01", periods=60, freq="7D")})
    rounded, computed = (table.assign(y=y) for y in ((100 + 30 * table.x).round(2), 100 + 30 * np.sin(table.x)))
    assert measure_traits(standardise(prepare(rounded, "y", most_rows=100))).computed == 0.0
    assert measure_traits(standardise(prepare(computed.drop(columns="when"), "y", most_rows=100))).computed == 1.0
    assert measure_traits(standardise(prepare(rounded, "y", most_rows=100))).dated
    assert not measure_traits(standardise(prepare(computed.drop(columns="when"), "y", most_rows=100))).dated


@pytest.mark.parametrize(("missing", "smooth"), [(0, 1.0), (4, 1.0), (12, 0.5), (20, 0.0), (60, 0.0)])
def test_a_target_does_not_follow_from_inputs_that_are_missing(missing: int, smooth: float) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.random(80), "z": rng.random(80), "w": rng.random(80)})
    table["y"] = np.sin(table["x"]) + table["z"] * table["w"]
    table.loc[: missing // 2 - 1, "z"] = np.nan
    table.loc[missing // 2 : missing - 1, "w"] = np.nan  # of 80 rows, so many have an input that is missing
    traits = measure_traits(standardise(prepare(table, "y", missing="impute", most_rows=100)))
    assert traits.imputed == missing / 80
    assert traits.smooth == pytest.approx(smooth)
    dropped = measure_traits(standardise(prepare(table, "y", missing="drop", most_rows=100)))
    assert dropped.imputed == 0.0
    assert dropped.smooth == pytest.approx(1.0)


def test_of_a_target_known_to_be_deterministic_only_the_tails_count() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.uniform(size=40)}).assign(y=lambda t: np.sin(3 * t.x))
    rows = standardise(prepare(table, "y", most_rows=100))
    assert measure_traits(rows, deterministic=True) == Traits(measure_traits(rows).heavy)


def test_smooth_are_computed_and_dated_targets_with_light_tails() -> None:
    assert Traits(0.4, computed=0.6).smooth == 0.6
    assert Traits(0.4, computed=0.6, dated=True).smooth == 1.0
    assert Traits(0.8, dated=True).smooth == pytest.approx(0.5)
    assert Traits(2.0, computed=1.0, dated=True).smooth == 0.0
    assert Traits(0.4).smooth == 0.0


@pytest.mark.parametrize(("traits", "faster"), [(Traits(dated=True), 0.0), (Traits(computed=1.0), 0.5)])
def test_a_smooth_function_without_noise_follows_the_steeper_of_model_and_laws(traits: Traits, faster: float) -> None:
    sizes = np.arange(401.0)
    steep, shallow = (ErrorCurve(np.exp(-rate * np.log1p(sizes)), 1e-9) for rate in (3.0, 1.0))
    n = np.array([7.0, 14.0, 28.0, 50.0])
    observed = CrossValidation(n, n**-2.0, 0.1 * n**-2.0)
    for curve, slope in ((steep, -3.0), (shallow, -2.0)):  # but for a tenth, which goes on as for measured targets
        band = PosteriorCurves((curve,), np.ones(1), ((1,),), observed, 56, 56, 1.0, traits=traits).make_band()
        found = 2 * np.log(band.at(np.array([100.0, 200.0]))[0])
        measured, straight = -1.0, -2.0  # the former is about right
        expected = 0.9 * (2 / 3 * (slope - faster) + straight / 3) + 0.1 * measured
        assert (found[1] - found[0]) / math.log(2) == pytest.approx(expected, abs=0.1)


def test_a_target_known_to_have_no_noise_falls_by_shares_of_what_model_and_laws_expect() -> None:
    sizes, n = np.arange(401.0), np.array([7.0, 14.0, 28.0, 50.0])
    observed = CrossValidation(n, n**-2.0, 0.1 * n**-2.0)
    for rate in (1.0, 3.0):
        curve = ErrorCurve(np.exp(-rate * np.log1p(sizes)), 1e-9)
        curves = PosteriorCurves((curve,), np.ones(1), ((1,),), observed, 56, 56, 1.0, calibration=NOISELESS)
        found = 2 * np.log(curves.make_band().at(np.array([100.0, 200.0]))[0])
        laws = -np.diff(follow_power_laws(observed, np.array([100.0, 200.0])))[0] / math.log(2)
        assert (found[0] - found[1]) / math.log(2) == pytest.approx(0.4 * rate + 0.6 * laws, abs=0.02)


def test_what_is_known_of_a_target_decides_on_the_constants() -> None:
    X = np.random.default_rng(0).uniform(-1, 1, (20, 1))
    rows = standardise(prepare(pd.DataFrame({"x": X[:, 0], "y": np.sin(3 * X[:, 0])}), "y", most_rows=100))
    computation = Computation(0, np.random.default_rng(0), QUICK, Progress(False, "%"))
    for deterministic, constants in ((False, TABLES), (True, NOISELESS)):
        members = fit_members(rows, 100, deterministic)
        fit = fit_rows(rows, members, mix(members, rows.X, rows.level), computation, deterministic)
        assert simulate_posterior(fit, computation).calibration is constants


def test_a_computed_function_falls_faster_beyond_cross_validation_only() -> None:
    model, laws, reach = np.array([-1.0, -2.0, -4.0]), np.array([-1.5, -1.8, -3.0]), np.array([0.5, 1.0, 4.0])
    straight = np.array([-1.2, -1.1, -2.0])
    naive = [
        2 / 3 * (min(a, b) - 0.5 * 0.6 * max(math.log(r), 0.0)) + c / 3
        for a, b, c, r in zip(model, laws, straight, reach, strict=True)
    ]
    assert find_steeper(model, laws, straight, reach, 0.6) == pytest.approx(naive, rel=1e-15)


def test_a_straight_power_law_is_found_again_and_never_rises() -> None:
    n, far = np.array([7.0, 14.0, 28.0, 50.0]), np.array([100.0, 800.0])
    falling = CrossValidation(n, 3 * n**-1.7, n**-1.7)
    assert follow_straight_law(falling, far) == pytest.approx(np.log(3 * far**-1.7), rel=1e-12)
    noisy = np.array([1.3, 0.4, 0.5, 0.2])
    slope, level = np.polyfit(np.log(n), np.log(noisy), 1)
    found = follow_straight_law(CrossValidation(n, noisy, noisy), far)
    assert found == pytest.approx(level + slope * np.log(far), rel=1e-12)
    for flat in (CrossValidation(n, n, n), CrossValidation(n[:1], n[:1], n[:1])):  # a rising error, and a single one
        assert np.exp(follow_straight_law(flat, far)) == pytest.approx(np.exp(np.log(flat.mse).mean()) * np.ones(2))


@pytest.mark.slow
def test_rounding_the_target_changes_what_is_expected_far_ahead() -> None:
    X = np.random.default_rng(0).uniform(-1, 1, (60, 2))
    y = np.sin(3 * X[:, 0]) * np.cos(2 * X[:, 1])
    computed, rounded = (gpc.forecast(X, each, effort=QUICK) for each in (y, y.round(4)))
    assert computed.at([960])["rmse"][0] < 0.5 * rounded.at([960])["rmse"][0]
