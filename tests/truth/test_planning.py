"""What planners ask of a forecast: predictions, goals in any measure, rows to measure next, where to stop, test rows."""

from __future__ import annotations

import json
import math
import pickle
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel

import gpcurves as gpc
from gpcurves.cli import run
from gpcurves.designs.greedy import choose_greedily
from gpcurves.forecasting import Forecast, ForecastEffort
from gpcurves.forecasting.choosing import Chooser
from gpcurves.forecasting.crossvalidation import CrossValidation, PowerLawFit, measure_tails
from gpcurves.forecasting.intervals import Band, goal_grid
from gpcurves.forecasting.planning import count_test_rows, find_gain, find_stopping_point, gains
from gpcurves.forecasting.questions import Questions
from gpcurves.forecasting.repeats import measure_repeatability
from gpcurves.forecasting.units import Unit
from gpcurves.forecasting.verdict import warn
from gpcurves.numerics.validation import FloatArray
from gpcurves.render.views import view_of

pytestmark = pytest.mark.usefixtures("few_refits")  # no number here depends on more of them

QUICK = ForecastEffort(draws=1, simulated_rows=60, test_inputs=40, candidates=40, chosen=10)
"""Enough if the accuracy does not matter."""
ROWS, FLOOR = 100, 0.2


def band_of(rmse: Any, low: float = 0.9, high: float = 1.15) -> Band:
    """Return a band around a given curve, which is a constant factor wide."""
    grid = goal_grid(ROWS)
    n = np.unique(
        np.concatenate((np.arange(2_000.0), grid, ROWS * 2.0 ** np.arange(5), np.geomspace(2e3, 1e15, 900).round()))
    )
    curve = rmse(np.maximum(n, 1.0))
    return Band(n, curve, low * curve, high * curve, (1 + high) / 2 * curve, 0 * n)


def learning(n: FloatArray) -> FloatArray:
    """A curve that is 0.54 today and falls to a floor."""
    return np.asarray(np.sqrt(FLOOR**2 + 25 / n))


def flat(n: FloatArray) -> FloatArray:
    return np.full(len(n), 0.5)


def made(rmse: Any = learning, **changes: Any) -> Forecast:
    """Return a forecast with a known curve."""
    seen = CrossValidation(np.array([50.0, 90.0]), np.array([0.5, 0.3]), np.array([0.1, 0.1]), ratio=0.7, kurtosis=5.0)
    known: dict[str, Any] = {
        "target": "y",
        "rows": ROWS,
        "fitted_rows": ROWS,
        "columns": 2,
        "band": band_of(rmse),
        "floor": FLOOR,
        "remaining": np.ones(1),
        "outlying": 0.0,
        "cross_validation": seen,
        "power_law": PowerLawFit.fit(seen),
        "relevance": None,
        "deterministic": False,
        "steps": (),
        "notes": (),
        "seed": 0,
        "deviation": 1.6,
        "mean_absolute": 20.0,
    }
    return Forecast(**(known | changes))


def table(count: int = 40, seed: int = 0) -> pd.DataFrame:
    """Rows with one column of each kind."""
    rng = np.random.default_rng(seed)
    x, days = rng.uniform(0, 1, count), rng.integers(0, 200, count)
    return pd.DataFrame(
        {
            "length": x.round(2),
            "count": rng.integers(1000, 9000, count),
            "money": np.exp(4 * rng.standard_normal(count)).round(3),
            "colour": rng.choice(["red", "green", "blue"], count),
            "kind": rng.choice(["one", "two"], count),
            "open": rng.choice(["no", "yes"], count),
            "grade": rng.choice(["low", "medium", "high"], count),
            "day": (pd.Timestamp("2024-01-01") + pd.to_timedelta(days, "D")).strftime("%Y-%m-%d"),
            "same": 7,
            "y": 10 + np.sin(3 * x) + 0.1 * rng.standard_normal(count),
        }
    )


@cache
def real() -> Forecast:
    return gpc.forecast(table(), "y", effort=QUICK)


def numbers(count: int = 40) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(3)
    X = np.column_stack((rng.uniform(-1, 1, (count, 2)), np.ones(count)))
    return X, np.sin(3 * X[:, 0]) + 0.1 * rng.standard_normal(count)


# Predictions


def test_predictions_are_those_of_the_predictor_and_cover_new_rows() -> None:
    new = table(200, seed=1)
    found = real().predict(new.drop(columns=["y", "same"]).set_index(np.arange(200) + 5))
    assert list(found.columns) == ["prediction", "low", "high"]
    assert found.index[0] == 5
    assert ((found["low"] < found["prediction"]) & (found["prediction"] < found["high"])).all()
    inside = (found["low"].to_numpy() < new["y"]) & (new["y"] < found["high"].to_numpy())
    assert 0.75 < inside.mean() < 1
    assert np.sqrt(np.mean((found["prediction"].to_numpy() - new["y"]) ** 2)) < 0.7 * new["y"].std()


def test_arrays_are_predicted_with_the_columns_that_they_had() -> None:
    X, y = numbers()
    forecast = gpc.forecast(X, y, effort=QUICK)
    found = forecast.predict(X)
    other = gpc.LearningCurveForecast().fit(X, y).predict(X)
    np.testing.assert_allclose(found["prediction"], other, rtol=1e-6, atol=1e-9)
    with pytest.raises(gpc.InputError, match="X must have 3 columns, got 2"):
        forecast.predict(X[:, :2])


def test_many_rows_are_predicted_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    new = table(30, seed=2)
    whole = real().predict(new)
    monkeypatch.setattr("gpcurves.forecasting.prediction._PART", 7)
    pd.testing.assert_frame_equal(real().predict(new), whole)


def test_a_loaded_forecast_has_no_model(tmp_path: Path) -> None:
    real().to_json(tmp_path / "plan.json")
    loaded = gpc.load(tmp_path / "plan.json")
    with pytest.raises(gpc.InputError, match="loaded from a file has no model and cannot predict"):
        loaded.predict(table())
    with pytest.raises(gpc.InputError, match="loaded from a file has no model and cannot choose rows"):
        loaded.next_rows(2)
    assert loaded.left_out == real().left_out == {"same": "the same in every row"}
    assert loaded.gain(10) == real().gain(10)
    assert loaded.test_rows(0.01) == real().test_rows(0.01)
    assert loaded.required_n(r2=0.3) == real().required_n(r2=0.3)


def test_a_pickled_forecast_predicts() -> None:
    copy = pickle.loads(pickle.dumps(real()))
    pd.testing.assert_frame_equal(copy.predict(table(9, 4)), real().predict(table(9, 4)))
    pd.testing.assert_frame_equal(copy.next_rows(2), real().next_rows(2))


def test_a_regressor_predicts_itself() -> None:
    X, y = numbers()
    regressor = GaussianProcessRegressor(RBF(0.5) + WhiteKernel(0.01), optimizer=None).fit(X[:, :2], y)
    forecast = gpc.forecast(regressor, effort=QUICK)
    with pytest.raises(gpc.InputError, match="the model is your own regressor"):
        forecast.predict(X)
    chosen = forecast.next_rows(5)
    assert chosen.shape == (5, 2)
    assert (chosen.abs() <= 1).all(axis=None)


def test_new_rows_need_the_columns_of_the_old_ones() -> None:
    with pytest.raises(gpc.InputError, match="the table of new rows has no column 'money'"):
        real().predict(table().drop(columns="money"))
    with pytest.raises(gpc.InputError, match="give a table"):
        real().predict(np.ones((3, 9)))


# Goals


@pytest.mark.parametrize(
    ("goal", "rmse"),
    [
        ({"mae": 0.28}, 0.28 / 0.7),
        ({"r2": 0.9375}, 1.6 * math.sqrt(1 - 0.9375)),
        ({"percent": 25.0}, 0.25 * 1.6),
        ({"rmse": 0.4}, 0.4),
    ],
)
def test_goals_in_any_measure_are_goals_for_the_rmse(goal: dict[str, float], rmse: float) -> None:
    found = made()
    needed = found.required_n(**goal)
    assert needed == found.required_n(rmse=rmse)
    assert needed.estimate == pytest.approx(25 / (0.4**2 - FLOOR**2), abs=3)
    (name,) = goal
    assert found.goal(**goal).measure.from_error(rmse) == pytest.approx(goal[name])


def test_r2_of_the_forecast_is_that_of_its_definition() -> None:
    found = made().at([100, 400], "r2")
    np.testing.assert_allclose(found["r2"], 1 - (found["rmse"] / 1.6) ** 2)
    np.testing.assert_allclose(found["r2_low"], 1 - (found["high"] / 1.6) ** 2)
    assert (found["r2_low"] < found["r2"]).all()
    assert (found["r2"] < found["r2_high"]).all()
    relative = made().at([100], "relative")
    assert relative["relative"][0] == pytest.approx(100 * relative["rmse"][0] / 20)


@pytest.mark.parametrize(
    ("goal", "words"),
    [
        ({"mae": 0.28}, ["the MAE is about 0.377 (90 % interval 0.339 to 0.434)", "to reach an MAE of 0.28."]),
        ({"r2": 0.9375}, ["R² is about 0.887 (90 % interval 0.85", "to reach an R² of 0.9375."]),
        (
            {"percent": 25.0},
            ["33.7 % (90 % interval 30.3 % to 38.7 %) of the target's standard dev", "an RMSE of 25 % of"],
        ),
    ],
)
def test_the_verdict_speaks_the_unit_of_the_goal(goal: dict[str, float], words: list[str]) -> None:
    found = made()
    verdict = found.verdict(found.goal(**goal))
    assert verdict.label == found.verdict(0.4).label == "more data helps"
    for each in words:
        assert each in str(verdict)


def test_goals_of_r2_are_out_of_reach_from_above() -> None:
    found = made()
    verdict = found.verdict(found.goal(r2=0.999))
    assert verdict.label == "goal cannot be reached"
    assert "An R² of 0.999 cannot be reached" in verdict.sentences[1]
    assert "or less with up to" in verdict.sentences[1]
    assert "is below this whole interval" in str(found.verdict(found.goal(r2=0.5)))


def test_relative_terms_are_those_of_the_mean_absolute_target() -> None:
    found = made()
    verdict = found.verdict(0.4, Questions(relative=True))
    assert "about 2.69 % (90 % interval 2.42 % to 3.10 %) of the mean absolute target" in str(verdict)
    assert "to reach an RMSE of 2 % of the mean absolute target" in str(verdict)
    with pytest.raises(gpc.InputError, match="relative errors need a goal that is an RMSE"):
        found.verdict(found.goal(r2=0.9), Questions(relative=True))
    with pytest.raises(gpc.InputError, match="not 0 in every row"):
        replace(found, mean_absolute=0.0).at([100], "relative")


@pytest.mark.parametrize(
    ("goal", "message"),
    [
        ({}, "exactly one goal: rmse, mae, r2 or percent, got none"),
        ({"rmse": 1, "mae": 1}, "got rmse, mae"),
        ({"r2": 1}, "the goal must be below 1, which is a perfect R², got 1"),
        ({"mae": 0}, "the goal must be greater than 0, got 0"),
        ({"percent": math.nan}, "the goal must be finite, got nan"),
    ],
)
def test_goals_that_are_none(goal: dict[str, float], message: str) -> None:
    with pytest.raises(gpc.InputError, match=message):
        made().required_n(**goal)


@pytest.mark.slow
def test_the_shape_of_residuals_is_that_of_cross_validation() -> None:
    X, y = numbers(60)
    y = y + np.random.default_rng(0).standard_t(3, 60)
    kernel = RBF(0.4) + WhiteKernel(0.05)
    seen = gpc.forecast(GaussianProcessRegressor(kernel, optimizer=None).fit(X, y), effort=QUICK).cross_validation
    rng = np.random.default_rng(0)
    residuals: list[float] = []
    for size in (8, 15, 30, 54):
        residuals = []
        for _ in range(20):
            order = rng.permutation(60)
            train, test = order[:size], order[size:]
            weights = np.linalg.solve(RBF(0.4)(X[train]) + 0.05 * np.eye(size), y[train])
            residuals += list(y[test] - RBF(0.4)(X[test], X[train]) @ weights)
    mse = sum(r * r for r in residuals) / len(residuals)
    assert seen.ratio == pytest.approx(sum(abs(r) for r in residuals) / len(residuals) / math.sqrt(mse), rel=1e-9)
    assert seen.kurtosis == pytest.approx(sum(r**4 for r in residuals) / len(residuals) / mse**2, rel=1e-9)
    few = gpc.forecast(*(part[:12] for part in numbers()), effort=QUICK).cross_validation
    assert (few.ratio, few.kurtosis) == (math.sqrt(2 / math.pi), 3.0)


# Rows to measure next


def test_tails_compare_the_mean_with_the_median_of_squared_residuals() -> None:
    rng = np.random.default_rng(0)
    residuals = rng.standard_t(3, 41)
    squares = sorted(float(each) ** 2 for each in residuals)
    expected = math.log(sum(squares) / 41) - math.log(squares[20] / 0.45493642)  # that of a squared normal variable
    assert measure_tails(residuals) == pytest.approx(expected, abs=1e-6)
    assert measure_tails(rng.standard_normal(200_000)) == pytest.approx(0.0, abs=4 * 0.008)
    assert measure_tails(np.append(np.zeros(30), 1.0)) == 20.0
    assert measure_tails(np.zeros(30)) == 0.0


def test_suggestions_are_written_like_the_rows() -> None:
    rows, chosen = table(), real().next_rows(12)
    assert list(chosen.columns) == [name for name in rows.columns if name not in ("same", "y")]
    assert len(chosen) == 12
    for name in ("colour", "kind", "open", "grade"):
        assert set(chosen[name]) <= set(rows[name])
    assert set(chosen["day"]) <= set(rows["day"])
    for name, decimals in (("length", 2), ("count", 0), ("money", 3)):
        np.testing.assert_array_equal(chosen[name], chosen[name].round(decimals))
        assert chosen[name].between(rows[name].min(), rows[name].max()).all()
    assert chosen["count"].dtype.kind == "i"
    pd.testing.assert_frame_equal(real().next_rows(12), chosen)
    pd.testing.assert_frame_equal(real().next_rows(5), chosen.head(5))  # greedy


def test_decoding_is_the_inverse_of_encoding() -> None:
    chooser = real().chooser
    assert isinstance(chooser, Chooser)
    back = chooser.in_units(chooser.known)
    expected = table()[list(back.columns)]
    pd.testing.assert_frame_equal(back, expected, check_dtype=False, check_exact=False, rtol=1e-9)


@pytest.mark.slow
def test_rows_of_a_pool_are_its_own_and_none_is_chosen_twice() -> None:
    pool = table(30, seed=5).drop(columns=["y", "same"]).assign(seen=pd.Timestamp("2024-01-01"), gone=np.nan)
    pool["parts"] = [[1, 2]] * 30
    pool.index = pool.index + 100
    pool.loc[103, "length"] = None
    forecast = gpc.forecast(table(), "y", pool=pool, effort=QUICK, missing="drop")
    chosen = forecast.next_rows(29)
    assert sorted(chosen.index) == [label for label in pool.index if label != 103]
    pd.testing.assert_frame_equal(chosen, pool.loc[chosen.index])
    # whatever else a pool holds, JSON can tell
    entries = json.loads(forecast.to_json(asked=Questions(next=29)))["next_rows"]
    assert entries[0]["inputs"]["seen"] == "2024-01-01 00:00:00"
    assert entries[0]["inputs"]["parts"] == "[1, 2]"
    assert entries[0]["inputs"]["gone"] is None
    assert [entry["row"] for entry in entries] == [label - 99 for label in chosen.index]  # counted from 1
    with pytest.raises(gpc.InputError, match="the number of next rows must be at most 29, got 30"):
        forecast.next_rows(30)


def test_the_next_row_is_where_nothing_is_known() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 1, 60)
    y = np.sin(9 * x) + 0.05 * rng.standard_normal(60)
    pool = np.concatenate((rng.uniform(0, 1, 40), [3.0]))[:, None]
    chosen = gpc.forecast(x[:, None], y, pool=pool, effort=QUICK).next_rows(1)
    assert chosen["x0"].tolist() == [3.0]
    assert chosen.index.tolist() == [40]


def test_once_is_the_same_choice_without_repeats() -> None:
    rng = np.random.default_rng(1)
    A = rng.standard_normal((6, 6))
    K = A @ A.T
    order = choose_greedily(K, K, 10.0, 6, once=True)
    assert sorted(order) == list(range(6))
    left = list(range(6))
    known: list[int] = []
    for choice in order:  # by brute force
        best = []
        for candidate in left:
            at = [*known, candidate]
            C = K - K[:, at] @ np.linalg.solve(K[np.ix_(at, at)] + 10 * np.eye(len(at)), K[at])
            best.append(np.trace(C))
        assert choice == left[int(np.argmin(best))]
        known.append(choice)
        left.remove(choice)


@pytest.mark.parametrize("k", [0, -1, 1.5, 1001])
def test_bad_numbers_of_next_rows(k: Any) -> None:
    with pytest.raises(gpc.InputError, match="the number of next rows must be"):
        real().next_rows(k)


# Gain, cost, test rows


def test_the_gain_is_the_difference_of_the_forecast() -> None:
    band = band_of(learning)
    for k in (1, 50, 1_000):
        gain = find_gain(band, ROWS, k)
        now, then = learning(np.array([float(ROWS), float(ROWS + k)]))
        assert gain.estimate == pytest.approx(now - then, rel=1e-3)
        assert 0 <= gain.low < gain.estimate < gain.high < now
        # retyped: the width of the interval of the RMSE is the same everywhere, and drops out
        drop = math.log(now / then)
        least, most = now * (1 - math.exp(-0.25 * drop)), now * (1 - math.exp(-1.75 * drop))
        low = gain.estimate - math.hypot(gain.estimate - least, 0.1 * gain.estimate)
        high = gain.estimate + math.hypot(most - gain.estimate, 0.15 * gain.estimate)
        assert (gain.low, gain.high) == pytest.approx((low, high), rel=1e-3)


def test_gains_tend_to_zero_where_there_is_nothing_to_learn_and_with_few_rows() -> None:
    assert find_gain(band_of(flat), ROWS, 10**6).estimate == pytest.approx(0, abs=1e-12)
    one, ten = (find_gain(band_of(learning), ROWS, k) for k in (1, 10))
    assert one.estimate == pytest.approx(ten.estimate / 10, rel=0.1)
    assert one.high == pytest.approx(ten.high / 10, rel=0.1)
    assert find_gain(band_of(learning), 10**4, 1).estimate < 1e-3 * one.estimate
    gain = [find_gain(band_of(learning), ROWS, k) for k in (1, 5, 30, 200, 10**4, 10**7)]
    for end in ("estimate", "low", "high"):
        assert (np.diff([getattr(each, end) for each in gain]) >= 0).all()


def test_the_stopping_rule_is_a_sentence() -> None:
    gain = find_gain(band_of(learning), ROWS, 50)
    assert gain.judge(0.5 * gain.low).startswith("No, go on: the gain is not below")
    assert "so is the whole 90 % interval" in gain.judge(0.5 * gain.low)
    assert gain.judge(0.99 * gain.estimate).startswith("No, go on")
    assert "the lower end of the interval is below it" in gain.judge(0.99 * gain.estimate)
    assert "the upper end of the interval is above it" in gain.judge(1.01 * gain.estimate)
    assert gain.judge(1.01 * gain.estimate).startswith("Yes, stop: the gain is below")
    assert "so is the whole 90 % interval" in gain.judge(2 * gain.high)
    with pytest.raises(gpc.InputError, match="the limit must be greater than 0"):
        gain.judge(0)


@pytest.mark.parametrize(("cost", "value"), [(1.0, 3_000.0), (0.01, 3_000.0), (1.0, 1e5)])
def test_where_to_stop_by_brute_force(cost: float, value: float) -> None:
    found = made().stop_at(cost, value)
    n = np.arange(ROWS, 100 * ROWS, dtype=float)
    total = cost * n + value * learning(n)
    best = int(n[np.argmin(total)])
    assert found.estimate == pytest.approx(best, rel=5e-3)
    assert found.net == pytest.approx(total[0] - total.min(), rel=1e-2)
    assert ROWS <= found.low <= found.estimate <= found.high
    assert found.low < found.high
    assert f"Stop at about {found.estimate:,}"[:15] in found.sentence


def test_rows_that_cost_nothing_are_worth_having_and_dear_ones_are_not() -> None:
    free = made().stop_at(0, 1)
    assert free.estimate == free.low == free.high == free.furthest == 1000 * ROWS
    assert "Every further row is worth its cost" in free.sentence
    dear = made().stop_at(1e9, 1)
    assert (dear.estimate, dear.low, dear.high, dear.net) == (ROWS, ROWS, ROWS, 0.0)
    assert "Stop at your 100 rows" in dear.sentence
    nothing = find_stopping_point(band_of(flat), ROWS, 1e-9, 1.0)
    assert nothing.estimate == ROWS
    # only the ratio of cost and value matters
    one, other = made().stop_at(1, 3000), made().stop_at(2, 6000)
    assert one.estimate == other.estimate
    assert other.net == pytest.approx(2 * one.net)


@pytest.mark.parametrize(("cost", "value"), [(-1, 1), (1, 0), (math.inf, 1), (1, math.nan)])
def test_costs_and_values_that_are_none(cost: float, value: float) -> None:
    with pytest.raises(gpc.InputError, match=r"the (cost per row|value of error) must be"):
        made().stop_at(cost, value)


def test_the_interval_of_gains_contains_the_estimate_whatever_the_band() -> None:
    rng = np.random.default_rng(0)
    n = np.unique(np.geomspace(ROWS + 1, 1e5, 50).round())
    for _ in range(20):
        power, floor = rng.uniform(0.05, 2), rng.uniform(0, 1)
        band = band_of(lambda n, p=power, f=floor: f + n**-p, rng.uniform(0.3, 0.99), rng.uniform(1.01, 3))
        gain, low, high = gains(band, ROWS, n)
        assert ((low >= 0) & (low <= gain + 1e-15) & (gain <= high + 1e-15)).all()


def test_so_many_test_rows_measure_an_rmse() -> None:
    rng = np.random.default_rng(0)
    for draw, kurtosis in ((rng.standard_normal, 3.0), (lambda size: rng.uniform(-1, 1, size) * math.sqrt(3), 1.8)):
        count = count_test_rows(2.0, kurtosis, 0.1)
        assert count == math.ceil((1.6448536 * 2.0 * math.sqrt(kurtosis - 1) / (2 * 0.1)) ** 2)
        measured = np.sqrt(np.mean((2.0 * draw((4_000, count))) ** 2, axis=1))
        assert np.mean(np.abs(measured - 2.0) < 0.1) == pytest.approx(0.9, abs=0.02)  # four standard errors
    found = made()
    assert found.test_rows(0.01) == count_test_rows(float(found.at([ROWS])["rmse"][0]), 5.0, 0.01)
    assert found.test_rows(0.01, 10**6) < found.test_rows(0.01)
    assert count_test_rows(1.0, 3.0, 1e9) == 1
    for bad in (0, -1, math.nan):
        with pytest.raises(gpc.InputError, match="the precision must be"):
            found.test_rows(bad)
    with pytest.raises(gpc.InputError, match="takes more than 1e\\+15 test rows"):
        found.test_rows(1e-12)


# Verdicts


def test_near_rows_show_an_upper_limit_to_the_noise() -> None:
    rng = np.random.default_rng(0)
    X = np.repeat(rng.standard_normal((400, 3)), 2, axis=0)
    y = 5 * np.sign(X[:, 0]) + 0.3 * rng.standard_normal(800)
    pairs = [(y[2 * i] - y[2 * i + 1]) ** 2 / 2 for i in range(400)]
    found = measure_repeatability(X, y)
    assert found is not None
    assert math.sqrt(sum(pairs) / 400) < found < 1.1 * math.sqrt(sum(pairs) / 400)
    assert measure_repeatability(rng.standard_normal((100, 8)), y[:100]) is None  # nothing is near anything
    assert measure_repeatability(np.repeat(X[::2][:3], 3, axis=0), y[:9]) is None  # too few pairs


def test_a_flat_curve_is_the_model_s_fault_if_rows_repeat() -> None:
    noise = made(flat, floor=0.48)
    assert noise.verdict().label == "noise-limited"
    assert replace(noise, repeatability=0.4).verdict().label == "noise-limited"
    verdict = replace(noise, repeatability=0.1).verdict()
    assert verdict.label == "model-limited"
    assert "measurements at nearly equal inputs differ by only about 0.100." in verdict.sentences[-1]
    assert "other inputs" in verdict.sentences[-1]
    assert made(repeatability=0.01).verdict().label == "more data helps"  # the curve is not flat
    assert "model-limited" in view_of(replace(noise, repeatability=0.1)).page().lower()


@pytest.mark.slow
def test_an_input_that_is_missing_is_a_limit_of_the_model_if_the_noise_is_known() -> None:
    rng = np.random.default_rng(1)
    X, hidden = rng.standard_normal((100, 3)), rng.standard_normal(100)
    found = gpc.forecast(X, 5 + 2 * hidden + 0.1 * rng.standard_normal(100), effort=replace(QUICK, draws=4))
    assert found.verdict().label == "noise-limited"
    assert found.verdict(asked=Questions(known_noise=2.0)).label == "noise-limited"
    verdict = found.verdict(asked=Questions(known_noise=0.1))
    assert verdict.label == "model-limited"
    assert "your measurement noise is only 0.1" in str(verdict)
    assert "your measurement noise is only 0.1" in str(found.verdict(0.5, Questions(known_noise=0.1)))
    rows = pd.DataFrame(X).assign(y=5 + 2 * hidden, error=np.where(hidden > 0, 0.1, 0.3))
    told = gpc.forecast(rows, "y", noise="error", effort=replace(QUICK, draws=4))
    assert told.known_noise == pytest.approx(math.sqrt(np.mean(rows["error"] ** 2)))
    assert replace(found, known_noise=told.known_noise).verdict().label == "model-limited"
    with pytest.raises(gpc.InputError, match="the known noise must be at least 0"):
        Questions(known_noise=-1)


def test_columns_that_were_left_out_are_named_if_the_goal_is_out_of_reach() -> None:
    found = made(left_out={"id": "an identifier", "note": "free text"})
    assert "'id' (an identifier); 'note' (free text)" in str(found.verdict(0.01))
    assert "'id'" not in str(found.verdict(10.0))
    assert "'id'" not in str(found.verdict(0.4))
    assert "'id'" not in str(found.verdict())


def test_a_wide_gap_is_a_warning() -> None:
    assert "Caution" not in str(made(gap=0.59).verdict())
    verdict = made(gap=0.8).verdict()
    assert "the cross-validated RMSE is 1.5 times what the model itself expects" in verdict.sentences[-1]
    assert "less certain than usual: they were off by a factor of 1.6" in verdict.sentences[-1]
    assert "factor" not in str(warn(0.8, Unit(most=50)))  # of networks this was not measured
    assert "Caution" in str(made(gap=0.8).verdict(0.4))
    assert "Caution" not in str(made(gap=-2.0).verdict())


def test_heavy_tails_of_the_target_are_a_warning() -> None:
    rng = np.random.default_rng(0)
    X, tail = rng.standard_normal((60, 2)), rng.standard_normal(60) ** 7
    for y, heavy, positive in ((1 + tail**2, True, True), (tail, True, False), (X.sum(axis=1), False, False)):
        notes = " ".join(gpc.forecast(X, y, effort=QUICK).notes)
        assert ("Caution: the target has heavy tails" in notes) == heavy
        assert ("plan with the logarithm of the target" in notes) == positive


def test_columns_that_were_not_chosen_are_left_out() -> None:
    found = gpc.forecast(table(), "y", features=["length", "colour"], effort=QUICK)
    assert set(found.left_out) == set(table().columns) - {"length", "colour", "y"}
    assert re.search(r"'kind',.* \(left out as asked\)", str(found.verdict(1e-9)))


# Answers, the report and the command line


def test_answers_are_in_the_data_and_on_the_page() -> None:
    asked = Questions(next=3, cost_per_row=1, value_of_error=100, gain=10, stop_below=1e-9, certify=0.1)
    found = real()
    answers = json.loads(found.to_json(goal=found.goal(mae=0.2), asked=asked))
    assert answers["goal"] == {"measure": "mae", "value": 0.2}
    assert answers["goal_rmse"] == pytest.approx(0.2 / found.cross_validation.ratio)
    assert set(answers["forecast"][0]) == {"n", "rmse", "low", "high", "mae", "mae_low", "mae_high"}
    assert answers["gain"]["stop"] is False
    assert answers["gain"]["estimate"] == found.gain(10).estimate
    assert answers["stop_at"]["estimate"] == found.stop_at(1, 100).estimate
    assert answers["test_rows"] == {"precision": 0.1, "rows": found.test_rows(0.1)}
    assert [entry["inputs"]["colour"] for entry in answers["next_rows"]] == found.next_rows(3)["colour"].tolist()
    page = view_of(found, goal=found.goal(mae=0.2), asked=asked).page()
    for words in ("Rows to measure next", "No, go on", "What you asked", "test on about", "MAE of 0.2"):
        assert words in page
    assert "What you asked" not in view_of(found).page()


@pytest.mark.parametrize("asked", [{"cost_per_row": 1.0}, {"value_of_error": 1.0}, {"stop_below": 1.0}])
def test_half_a_question_is_none(asked: dict[str, Any]) -> None:
    with pytest.raises(gpc.InputError, match="give"):
        Questions(**asked)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    few = ["length", "colour", "y"]
    table(24)[few].to_csv(tmp_path / "data.csv", index=False)
    table(6, 1)[few].drop(columns="y").to_csv(tmp_path / "new.csv", index=False)
    return tmp_path / "data.csv"


@pytest.mark.slow
def test_predictions_go_to_stdout_or_to_a_file(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new, kept = str(file.parent / "new.csv"), file.parent / "kept.csv"
    words = ["plan", str(file), "--target", "y", "--draws", "1", "--predict", new]
    assert run(words) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[0] == "prediction,low,high"
    assert len(out.splitlines()) == 7
    assert "With your current 24 rows" in err
    assert run([*words, "--predictions", str(kept), "--relative"]) == 0
    shown = capsys.readouterr()
    assert shown.out.splitlines()[0] == "n,rmse,low,high,relative,relative_low,relative_high"
    assert "of the mean absolute target" in shown.err
    assert kept.read_text() == out
    assert run([*words, "--json", "-q"]) == 0
    answers = json.loads(capsys.readouterr().out)
    assert [f"{row['prediction']:.6g}" for row in answers["predictions"]] == [
        line.split(",")[0] for line in out.splitlines()[1:]
    ]


@pytest.mark.slow
def test_the_next_rows_are_shown_and_written(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["plan", str(file), "--target", "y", "--draws", "1"]
    kept = file.parent / "next.csv"
    asked = ["--gain", "20", "--stop-below", "5", "--cost-per-row", "1", "--value-of-error", "10", "--certify", "0.1"]
    assert run([*words, "--next", "2", *asked]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("n,rmse,low,high\n")
    for each in ("Measure these 2 rows next", "These are suggestions", "Yes, stop", "test on about", "colour"):
        assert each in err
    assert run([*words, "--next", "2", "--pool", str(file.parent / "new.csv"), "--next-file", str(kept)]) == 0
    assert "rows of the pool, counted from 1" in capsys.readouterr().err
    chosen, pool = pd.read_csv(kept), pd.read_csv(file.parent / "new.csv")
    pd.testing.assert_frame_equal(
        chosen.drop(columns="row"), pool.iloc[chosen["row"] - 1].reset_index(drop=True), rtol=1e-5
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--goal-r2 1", "--goal-r2 must be below 1"),
        ("--goal-mae 0", "--goal-mae must be greater than 0"),
        ("--goal-percent x", "--goal-percent must be a number"),
        ("--goal-mae 1 --goal-r2 0.5", "give one goal, got --goal-mae and --goal-r2"),
        ("--goal-mae 1 --relative", "--relative needs a goal that is an RMSE"),
        ("--goal-r2 0.5 -q", "the answer to --goal-r2 is not shown with --quiet"),
        ("--certify 0.1 -q", "the answer to --certify is not shown with --quiet"),
        ("--next 3 -q", "the list of --next is not shown with --quiet"),
        ("--stop-below 1", "--stop-below needs --gain"),
        ("--cost-per-row 1", "--cost-per-row needs --value-of-error"),
        ("--value-of-error 1", "--value-of-error needs --cost-per-row"),
        ("--cost-per-row -1 --value-of-error 1", "--cost-per-row must be at least 0"),
        ("--next 0", "--next must be an integer, at least 1"),
        ("--next 1001", "--next must be at most 1000"),
        ("--next-file next.csv", "--next-file needs --next"),
        ("--next 2 --next-file next.txt", "--next-file writes CSV"),
        ("--predictions p.csv", "--predictions needs --predict"),
        ("--predict nowhere.csv", "cannot read nowhere.csv"),
        ("--predict new.csv --predictions new.csv", "cannot write new.csv: it is the file of --predict"),
        ("--known-noise -1", "--known-noise must be at least 0"),
        ("--certify 0", "--certify must be greater than 0"),
        ("--gain 0", "--gain must be an integer, at least 1"),
    ],
)
def test_plans_that_are_refused_before_anything_is_computed(
    options: str, message: str, file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(file.parent)
    monkeypatch.setattr("gpcurves.forecasting.assembly.find_members", lambda *_, **__: pytest.fail("computed"))
    assert run(["plan", "data.csv", "--target", "y", *options.split()]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert sorted(path.name for path in file.parent.iterdir()) == ["data.csv", "new.csv"]
