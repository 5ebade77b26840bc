"""Plans for people who mean no good, and for data that nobody would wish for."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.svm import SVR

import gpcurves as gpc
from gpcurves.cli import run
from gpcurves.forecasting import Forecast, ForecastEffort
from gpcurves.forecasting.intervals import Band
from gpcurves.numerics.validation import FloatArray

pytestmark = pytest.mark.usefixtures("few_refits")  # no number here depends on more of them

LABELS = {"more data helps", "noise-limited", "model-limited"}
LABELS |= {"goal reached already", "goal cannot be reached", "too few rows to say"}


QUICK = ForecastEffort(draws=1)
"""Enough if the accuracy does not matter."""


@cache
def rows(count: int = 30, noise: float = 0.1) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (count, 2))
    return X, np.sin(3 * X[:, 0]) + noise * rng.standard_normal(count)


@cache
def noisy() -> Forecast:
    return gpc.forecast(*rows(), effort=QUICK)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    X, y = rows()
    path = tmp_path / "data.csv"
    pd.DataFrame({"a": X[:, 0], "b, c": X[:, 1], "price": y}).to_csv(path, index=False)
    return path


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--goal-rmse", "inf"], "--goal-rmse must be finite, got inf"),
        (["--goal-rmse", "nan"], "--goal-rmse must be finite, got nan"),
        (["--n", "0"], "--n must be an integer, at least 1, got 0"),
        (["--n", "100,-5"], "--n must be an integer, at least 1, got -5"),
        (["--n", "1.5"], "--n must be an integer, at least 1, got 1.5"),
        (["--n", "1e20"], "--n must be at most 1e+15"),
        (["--n", "1:20000"], "--n must be at most 10,000 numbers, got 20,000"),
        (["--out", "data.csv"], "cannot write data.csv: it is the file of DATA"),
        (["--pool", "pool.csv", "--out", "./pool.csv"], "cannot write pool.csv: it is the file of --pool"),
    ],
)
def test_refused_before_anything_is_computed_or_written(
    options: list[str],
    message: str,
    file: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(file.parent)
    for name in ("data.csv", "pool.csv"):  # whoever reads them has another objection
        (file.parent / name).write_text("no table")
    before = {path.name: path.read_bytes() for path in file.parent.iterdir()}
    assert run(["plan", "data.csv", "--target", "price", *options]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.strip() == f"gpcurves: {err.strip().removeprefix('gpcurves: ')}"
    assert message in err
    assert {path.name: path.read_bytes() for path in file.parent.iterdir()} == before


@pytest.mark.slow
def test_no_part_of_a_report_is_written_if_another_fails(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise gpc.InputError("no picture")

    monkeypatch.setattr("gpcurves.render.mpl.draw", fail)
    assert run(["plan", str(file), "--target", "price", "--report", str(file.parent / "r.html"), "--draws", "1"]) == 2
    assert [path.name for path in file.parent.iterdir()] == ["data.csv"]


def test_names_with_commas_stand_in_quotation_marks(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", str(file), "--target", "price", "--features", 'a, "b, c"', "--json", "--draws", "1"]) == 0
    assert [entry["name"] for entry in json.loads(capsys.readouterr().out)["inputs"]] == ["a", "b, c"]


def test_a_line_break_between_names_is_no_defect(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", str(file), "--target", "price", "--drop", "a\nx"]) == 2
    assert capsys.readouterr().err.startswith("gpcurves: the table has no column 'x'")


@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_units_beyond_double_precision_are_a_sentence(factor: float) -> None:
    X, y = rows()
    with pytest.raises(gpc.InputError, match=r"the target varies too (little|much) for double precision"):
        gpc.forecast(X, factor * y)
    with pytest.raises(gpc.InputError, match=r"'x1' varies too (little|much) for double precision"):
        gpc.forecast(X * [1, factor], y)


@pytest.mark.slow
def test_repeated_inputs_with_different_targets_are_not_deterministic() -> None:
    X, y = rows()
    X = np.concatenate((X, X[:4]))
    same, other = np.concatenate((y, y[:4])), np.concatenate((y, y[:3], [5.0]))
    with pytest.raises(gpc.InputError, match="'y' is not deterministic: 2 rows have the inputs of another row"):
        gpc.forecast(X, other, deterministic=True)
    assert gpc.forecast(X, same, deterministic=True, effort=QUICK).rows == 34


def regressors() -> list[tuple[Any, str]]:
    X, y = rows()
    kernel = RBF(0.5) + WhiteKernel(0.01)

    def fitted(X: FloatArray, y: FloatArray) -> GaussianProcessRegressor:
        return GaussianProcessRegressor(kernel, optimizer=None).fit(X, y)

    return [
        (SVR().fit(X, y), "a forecast needs a fitted GaussianProcessRegressor, got a SVR"),
        (fitted(X[:9], y[:9]), "fitted to at least 10 rows, got 9"),
        (fitted(X, np.zeros(30)), "there is nothing to learn"),
    ]


@pytest.mark.parametrize(("regressor", "message"), regressors())
def test_regressors_that_are_refused(regressor: Any, message: str) -> None:
    with pytest.raises(gpc.InputError, match=message):
        gpc.forecast(regressor)


def test_a_regressor_with_a_constant_input_and_one_with_many_rows() -> None:
    X, y = rows()
    kernel = RBF(0.5) + WhiteKernel(0.01)
    constant = GaussianProcessRegressor(kernel, optimizer=None).fit(np.column_stack((X, np.ones(30))), y)
    assert gpc.forecast(constant).rows == 30
    regressor = GaussianProcessRegressor(kernel, optimizer=None).fit(X, y)
    found = gpc.forecast(regressor, effort=ForecastEffort(most_rows=20))
    assert (found.rows, found.fitted_rows) == (30, 20)
    assert found.steps == ("Drew 20 rows at random from 30.",)


def odd() -> dict[str, tuple[FloatArray, FloatArray, bool]]:
    X, y = rows()
    rng = np.random.default_rng(1)
    coarse = rng.integers(0, 2, (30, 2)).astype(float)
    return {
        "deterministic": (X, np.sin(3 * X[:, 0]), True),
        "linear": (X, 2 * X[:, 0] + 1, False),
        "ten rows": (X[:10], y[:10], False),
        "heavy tails": (X, y + rng.standard_cauchy(30), False),
        "tiny": (X, 1e-9 * y, False),
        "large with an offset": (X, 1e12 * y + 1e18, False),
        "integers": (X, np.round(y), False),
        "coarse": (coarse, coarse.sum(axis=1), False),
        "one that differs": (X, (np.arange(30) == 3).astype(float), False),
        "wide inputs": (10.0 ** (30 * X), y, False),
        "noise said to be none": (rng.standard_normal((30, 12)), rng.standard_normal(30), True),
    }


_QUICK = ("ten rows", "heavy tails", "large with an offset", "noise said to be none")


@pytest.mark.slow
@pytest.mark.parametrize(
    "case", [case if case in _QUICK else pytest.param(case, marks=pytest.mark.slow) for case in odd()]
)
def test_answers_are_sound_whatever_the_data_and_the_goal(case: str) -> None:
    X, y, deterministic = odd()[case]
    found = gpc.forecast(X, y, deterministic=deterministic, task="numbers", effort=QUICK)
    noise, now = found.noise_rmse, found.at([found.rows])
    between = np.geomspace(noise / 2, 1.3 * now["high"][0], 12).tolist()
    for goal in (None, 1e-300, 1e300, 0.999 * noise, 1.001 * noise, *between):
        answer = json.loads(found.to_json(goal=goal))
        words = " ".join(answer["sentences"])
        assert answer["verdict"] in LABELS
        assert ("goal" in answer["verdict"]) <= (goal is not None)
        needed = answer["required_n"]
        if needed is None:
            assert answer["reason"]
        else:
            assert needed["low"] <= needed["estimate"] <= (needed["high"] or np.inf)
            assert needed["estimate"] <= (needed["assured_80"] or np.inf) <= (needed["high"] or np.inf)
        if goal is None:
            assert "goal" not in words
        elif noise < goal:
            assert "noise floor" not in words
        assert not any(word in words for word in ("nan", "inf ", " 1 rows"))


@pytest.mark.slow
def test_a_goal_next_to_the_limit_asks_for_no_absurd_number_of_rows() -> None:
    found = noisy()
    verdict = found.verdict(float(found.at([found.horizon])["rmse"][0]) * (1 - 1e-6))
    assert verdict.label == "too few rows to say"
    assert "No realistic number of rows" in verdict.sentences[-1]


@pytest.mark.slow
def test_slow_learning_is_not_blamed_on_noise() -> None:
    found = noisy()
    ones = np.ones(len(found.band.n))
    slow = replace(found, band=Band(found.band.n, ones, 0.9 * ones, 1.1 * ones, 1.05 * ones, 0.01 * ones), floor=1e-5)
    verdict = slow.verdict()
    assert verdict.label == "too few rows to say"
    assert "little of it looks like noise" in verdict.sentences[-1]
    verdict = replace(slow, floor=0.5 * float(slow.at([480])["rmse"][0])).verdict()
    assert verdict.label == "noise-limited"
    assert "noise floor (irreducible error) is about 0.500 (90 % interval" in str(verdict)
