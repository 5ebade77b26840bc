"""Forecasts of classes: what they say, that they are saved and loaded, and what is refused."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import gpcurves as gpc
from commands import command
from gpcurves.errors import InputError
from gpcurves.forecasting.classes.assembly import count_mistakes
from gpcurves.forecasting.classes.curves import spread
from gpcurves.forecasting.classes.intervals import (
    ClassCalibration,
    Mistakes,
    follow_mistakes,
    from_scale,
    ingredients,
    to_scale,
)
from gpcurves.forecasting.classes.validation import HeldOut, summarise
from gpcurves.forecasting.measures import CLASS_MEASURES
from gpcurves.forecasting.planning import count_test_labels
from gpcurves.tables.classes import recognise

pytestmark = pytest.mark.usefixtures("few_refits")  # no number here depends on more of them


@cache
def overlapping() -> pd.DataFrame:
    """Two classes whose probability is known: the best rule is wrong in 16 % of the rows."""
    rng = np.random.default_rng(1)
    x = rng.standard_normal((80, 2))
    p = 1 / (1 + np.exp(-3 * x[:, 0]))
    kind = np.where(rng.random(80) < p, "sick", "well")
    return pd.DataFrame({"a": x[:, 0], "b": x[:, 1], "kind": kind})


@cache
def found() -> gpc.Forecast:
    return gpc.forecast(overlapping(), "kind", rng=0)


def test_ends_of_intervals_next_to_nothing_are_not_written_with_digits() -> None:
    rate, loss = CLASS_MEASURES["error_rate"], CLASS_MEASURES["log_loss"]
    assert rate.write_interval(1e-4, 0.0908) == "less than 0.1 % to 9.08 %"
    assert rate.write_interval(0.00123, 0.0908) == "0.123 % to 9.08 %"
    assert rate.write_interval(1e-4, 5e-4) == "less than 0.1 %"
    assert loss.write_interval(1e-4, 0.3) == "0.000100 to 0.300"


def test_error_rates_with_intervals_around_them() -> None:
    table = found().to_frame()
    assert list(table.columns) == ["n", "error_rate", "low", "high"]
    assert table["n"].tolist() == [80, 160, 320, 640, 1280]
    assert (table["low"] < table["error_rate"]).all()
    assert (table["error_rate"] < table["high"]).all()
    assert (np.diff(table["error_rate"]) <= 0).all()
    assert table["low"].iloc[-1] < 0.16 < table["high"].iloc[0]
    losses = found().at([80, 160], "log_loss")
    assert list(losses.columns)[-3:] == ["log_loss", "log_loss_low", "log_loss_high"]
    assert found().floor <= table["error_rate"].iloc[-1]


def test_answers_as_other_programs_read_them() -> None:
    answers = found().answers(goal=0.1)
    assert answers["task"] == "classes"
    assert answers["quantity"] == "error_rate"
    assert set(answers["forecast"][0]) == {"n", "error_rate", "low", "high"}
    assert answers["floor_error_rate"] == found().floor
    assert answers["goal_error_rate"] == 0.1
    assert [each["class"] for each in answers["classes"]] == ["sick", "well"]
    assert sum(each["rows"] for each in answers["classes"]) == 80
    assert "noise_rmse" not in answers
    json.dumps(answers, allow_nan=False)


def test_sentences_speak_of_error_rates_in_per_cent() -> None:
    said = " ".join(found().verdict().sentences)
    assert said.startswith("With your current 80 rows, the error rate is about ")
    assert " %" in said
    assert "RMSE" not in said
    goal = found().goal(error_rate=0.02)
    assert "error rate of 2 %" in " ".join(found().verdict(goal).sentences)
    assert found().required_n(error_rate=0.9).estimate is not None
    assert "log loss" in " ".join(found().verdict(found().goal(log_loss=0.1)).sentences)


def test_saved_and_loaded(tmp_path: Path) -> None:
    path = tmp_path / "forecast.json"
    found().to_json(path)
    again = gpc.load(path)
    assert again.quantity.key == "error_rate"
    pd.testing.assert_frame_equal(again.to_frame(), found().to_frame())
    pd.testing.assert_frame_equal(again.at([160], "log_loss"), found().at([160], "log_loss"))
    assert again.verdict() == found().verdict()
    assert again.classes.names == ("sick", "well")


def test_probabilities_of_new_rows() -> None:
    table = found().predict(pd.DataFrame({"a": [-3.0, 3.0], "b": [0.0, 0.0]}))
    assert list(table.columns) == ["prediction", "p(sick)", "p(well)"]
    assert table["prediction"].tolist() == ["well", "sick"]
    np.testing.assert_allclose(table["p(sick)"] + table["p(well)"], 1.0)
    assert table["p(sick)"].iloc[1] > 0.8


def test_what_is_asked_beside_the_error() -> None:
    assert list(found().next_rows(2).columns) == ["a", "b"]
    assert found().gain(80).estimate >= 0
    error = float(found().at([80])["error_rate"].iloc[0])
    assert found().test_rows(0.02) == count_test_labels(error, 0.02)
    assert count_test_labels(0.2, 0.02) == int(np.ceil(1.6448536269514722**2 * 0.2 * 0.8 / 0.02**2))
    asked = gpc.forecasting.questions.Questions(gain=80, certify=0.02)
    assert "lower the error rate by about" in asked.answer(found()).sentences[0]
    assert "To measure an error rate of about" in asked.answer(found()).sentences[1]


@pytest.mark.slow
def test_arrays_with_true_and_false_or_few_integers_have_classes() -> None:
    table = overlapping()
    X = table[["a", "b"]].to_numpy()
    for y in (table["kind"] == "sick", (table["kind"] == "sick").astype(int).to_numpy()):
        assert gpc.forecast(X, y).quantity.key == "error_rate"
    assert gpc.forecast(X, (table["kind"] == "sick").astype(int), task="numbers", draws=1).quantity.key == "rmse"


RECOGNISED: list[tuple[list[Any], bool, str]] = [
    (["a", "b", "a"], True, "classes"),
    ([True, False, True], True, "classes"),
    ([0, 1, 1], True, "--task numbers"),
    ([1, 2, 3, 1], True, "--task numbers"),
    ([3, 4, 5, 6, 7, 7], False, "--task classes"),
    ([0.5, 1.5, 0.5], False, ""),
    (list(range(30)), False, ""),
    (["low", "high", "medium"], True, "--task numbers"),
    (["2024-01-01", "2024-01-02", "2024-01-03"], False, ""),
]


@pytest.mark.parametrize(("cells", "classes", "word"), RECOGNISED, ids=lambda value: str(value)[:20])
def test_what_is_taken_as_classes(cells: list[Any], classes: bool, word: str) -> None:
    answer, said = recognise("y", pd.Series(cells))
    assert answer == classes
    assert word in said


def with_target(values: Any) -> pd.DataFrame:
    return overlapping().assign(kind=values)


REFUSED: dict[str, tuple[Any, dict[str, Any], str]] = {
    "one class": (lambda: with_target("sick"), {}, "the target 'kind' is 'sick' in every row: there is nothing to learn"),
    "as many classes as rows": (
        lambda: with_target([f"name {k}" for k in range(80)]), {}, "has 80 different values, such as 'name 0': at most 50 classes"
    ),
    "classes that hardly repeat": (
        lambda: with_target([f"name {k // 2}" for k in range(80)]), {}, "has 40 classes in 80 rows: at least 3 rows"
    ),
    "texts as numbers": (lambda: overlapping(), {"task": "numbers"}, "if these are classes, ask for --task classes"),
    "no such task": (lambda: overlapping(), {"task": "regression"}, "unknown task 'regression'"),
    "a function": (lambda: overlapping(), {"deterministic": True}, "deterministic: for numbers only, but the target is a class"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    table, options, words = REFUSED[name]
    with pytest.raises(InputError, match=words):
        gpc.forecast(table(), "kind", **options)


def test_goals_of_the_other_kind_are_refused() -> None:
    with pytest.raises(InputError, match="the target has classes: set the goal as error_rate or log_loss, got rmse"):
        found().required_n(0.1)
    with pytest.raises(InputError, match="must be below 1"):
        found().goal(error_rate=5.0)


def test_a_class_with_one_row_is_told_of() -> None:
    kinds = overlapping()["kind"].tolist()
    kinds[3] = "odd"
    forecast = gpc.forecast(with_target(kinds), "kind")
    assert any("'odd' has fewer than 5 rows" in note for note in forecast.notes)
    assert forecast.classes is not None
    assert forecast.classes.names == ("odd", "sick", "well")


def test_mistakes_and_doubts_are_averages_over_rows() -> None:
    p = np.array([[0.9, 0.1], [0.4, 0.6], [0.2, 0.8], [0.7, 0.3]])
    labels = np.eye(2)[[0, 0, 1, 1]]
    held = HeldOut(10, p, labels, np.arange(4))
    seen = summarise([held], level=0.25)
    assert seen.mistakes[0] == 0.5
    assert seen.rate[0] == pytest.approx(0.25 * 0.5 + 0.75 * np.mean([0.1, 0.4, 0.2, 0.3]))
    assert seen.loss[0] == pytest.approx(-np.mean(np.log([0.9, 0.4, 0.8, 0.3])))
    assert seen.mse[0] == pytest.approx(np.mean([2 * 0.1**2, 2 * 0.6**2, 2 * 0.2**2, 2 * 0.7**2]))
    error, low, high = count_mistakes(held)
    np.testing.assert_allclose(error, [1.5 / 3, 1.5 / 3])
    assert (low < error).all()
    assert (error < high).all()
    twice = HeldOut(10, np.vstack((p, p)), np.vstack((labels, labels)), np.tile(np.arange(4), 2))
    np.testing.assert_allclose(count_mistakes(twice), count_mistakes(held))  # a row that is held out twice counts once


def test_a_classifier_that_learns_nothing_is_told_of() -> None:
    rng = np.random.default_rng(0)
    forecast = gpc.forecast(rng.standard_normal((60, 2)), np.where(rng.random(60) < 0.2, "a", "b"))
    assert any("barely better than predicting 'b' for every row" in note for note in forecast.notes)
    assert not any("barely better" in note for note in found().notes)


def test_what_will_be_known_keeps_today_s_probabilities_on_average() -> None:
    mean, variance = np.full((300, 1), 0.8), np.full((300, 1), 2.0)
    errors, losses = spread(mean, variance, 1.0, np.random.default_rng(0), 24)
    today = 1 / (1 + np.exp(0.8 / np.sqrt(1 + np.pi * 2.0 / 8)))
    assert errors[0] == pytest.approx(today, abs=1e-3)
    f = 0.8 + np.sqrt(2.0) * np.random.default_rng(1).standard_normal(200_000)
    p = 1 / (1 + np.exp(-f))
    assert errors[-1] == pytest.approx(np.mean(np.minimum(p, 1 - p)), abs=0.01)  # the best rule knows the function
    assert losses[-1] == pytest.approx(-np.mean(p * np.log(p) + (1 - p) * np.log(1 - p)), abs=0.01)


@pytest.mark.parametrize("is_rate", [True, False])
def test_the_scale_of_intervals_and_back(is_rate: bool) -> None:
    values = np.array([0.001, 0.2, 0.9])
    np.testing.assert_allclose(from_scale(to_scale(values, is_rate), is_rate), values)


@pytest.mark.slow
@pytest.mark.parametrize(("several", "level"), [(False, 0.5 * (0.8 * 0.2 + 0.2 * 0.1) + 0.5 * 0.3), (True, 0.2)])
def test_the_level_is_a_mean_of_what_was_counted_expected_and_fitted(several: bool, level: float) -> None:
    calibration = ClassCalibration(level=(0.8, 1.0), smooth=(0.5, 0.0), model=0.0, power=0.0)
    evidence = Mistakes(seen=0.2, expected=0.1, fitted=0.3, chance=0.5, several=several)
    assert evidence.find_level(calibration) == pytest.approx(level)
    bound = Mistakes(seen=0.2, expected=0.1, fitted=0.3, chance=0.1, several=several)
    assert bound.find_level(calibration) == pytest.approx(0.105)  # hardly worse than the most frequent class


def test_power_laws_smooth_an_unlucky_count() -> None:
    n, luck = np.array([12.0, 25.0, 50.0, 90.0]), np.array([1.0, 1.0, 1.0, 1.5])
    curve = 0.1 + 0.8 * n**-0.5
    ahead = np.array([180.0, 1440.0])
    fitted, ratio = follow_mistakes(n, curve, 100, ahead)
    assert fitted == pytest.approx(curve[-1], rel=0.1)  # an average over laws, of which some fall less
    assert np.exp(ratio) == pytest.approx((0.1 + 0.8 * ahead**-0.5) / curve[-1], rel=0.12)
    unlucky, _ = follow_mistakes(n, luck * curve, 100, ahead)
    assert curve[-1] < unlucky < 1.4 * curve[-1]
    assert follow_mistakes(n, np.zeros(4), 100, ahead)[0] == pytest.approx(
        0.005, rel=0.1
    )  # no mistake counts as half a one


def test_intervals_of_today_are_as_wide_as_counts_are_uncertain() -> None:
    today, none = np.ones(1), np.zeros(1)
    few, many = (ingredients(today, 0.5 / n**0.5, none, 0.0, 0.8) for n in (100, 400))
    assert few == pytest.approx(2 * many)


def test_the_command_line_answers_a_goal(tmp_path: Path) -> None:
    data, new = tmp_path / "data.csv", tmp_path / "new.csv"
    overlapping().to_csv(data, index=False)
    overlapping().drop(columns="kind").head(3).to_csv(new, index=False)
    words = ("plan", str(data), "--target", "kind", "--goal-error-rate", "0.15", "--predict", str(new), "--json")
    code, out, _ = command(*words)
    assert code == 0
    answers = json.loads(out)
    assert answers["goal_error_rate"] == 0.15
    assert set(answers["predictions"][0]) == {"prediction", "p(sick)", "p(well)"}


def test_the_command_line_refuses_a_goal_of_the_other_kind(tmp_path: Path) -> None:
    data = tmp_path / "data.csv"
    overlapping().to_csv(data, index=False)
    words = ("plan", str(data), "--target", "kind")
    assert (
        "--goal-rmse is for numbers, but --task is classes"
        in command(*words, "--task", "classes", "--goal-rmse", "1")[2]
    )
    assert "--goal-error-rate must be below 1" in command(*words, "--goal-error-rate", "5")[2]
    assert "--task must be numbers or classes" in command(*words, "--task", "sorting")[2]


@pytest.mark.slow
@parametrize_with_checks([gpc.LearningCurveClassifier()])  # type: ignore[untyped-decorator]
def test_scikit_learn_takes_it_for_one_of_its_own(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.slow
def test_an_estimator_with_the_forecast_of_its_rows() -> None:
    table = overlapping()
    model = gpc.LearningCurveClassifier().fit(table[["a", "b"]], table["kind"])
    new = pd.DataFrame({"a": [-3.0, 3.0], "b": [0.0, 0.0]})
    assert model.predict(new).tolist() == ["well", "sick"]
    np.testing.assert_allclose(model.predict_proba(new), found().predict(new).iloc[:, 1:], rtol=1e-6)
    np.testing.assert_allclose(model.weights_.sum(), 1.0)
    assert model.forecast_.quantity.key == "error_rate"
    assert model.forecast_.target == "kind"
    with pytest.raises(InputError, match="two classes or more are needed"):
        gpc.LearningCurveClassifier().fit(table[["a", "b"]], ["same"] * 80)
