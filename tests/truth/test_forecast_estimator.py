"""Forecasts in scikit-learn: its own checks, predictions against its Gaussian process, pipelines and searches."""

from __future__ import annotations

import pickle
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

import gpcurves as gpc
from gpcurves.forecasting import ForecastEffort
from gpcurves.forecasting.assembly import fit_members
from gpcurves.forecasting.prediction import Predictor
from gpcurves.forecasting.regression import mix
from gpcurves.numerics.validation import FloatArray
from gpcurves.tables.rows import standardise_arrays
from pictures import assert_drawn

pytestmark = pytest.mark.usefixtures("few_refits")  # no number here depends on more of them


def rows(count: int = 30, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    """Return inputs in units of their own, of which the first matters, and a target in others."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (count, 2)) * [1.0, 40.0] + [3.0, 500.0]
    return X, 100 + 7 * np.sin(4 * X[:, 0]) + 0.5 * rng.standard_normal(count)


QUICK = ForecastEffort(draws=1)
"""Enough if the accuracy does not matter."""


def quick_model(**settings: Any) -> gpc.LearningCurveForecast:
    return gpc.LearningCurveForecast(effort=replace(QUICK, **settings))


@pytest.mark.slow
@parametrize_with_checks([gpc.LearningCurveForecast(draws=1)])  # type: ignore[untyped-decorator]
def test_scikit_learn_has_no_objections(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("deterministic", [False, True])
def test_predictions_are_those_of_the_mixture(deterministic: bool) -> None:
    X, y = rows()
    new = rows(15, seed=1)[0]
    model = gpc.LearningCurveForecast(deterministic=deterministic).fit(X, y)
    standard = standardise_arrays(X, y, None, np.random.default_rng(0), 1_000)
    with threadpool_limits(1):  # as forecasts do: with more, sums have another order
        mixture = mix(fit_members(standard, 1_000, deterministic), standard.X, standard.level)
    np.testing.assert_array_equal(model.weights_, mixture.weights)
    assert len(model.weights_) == 4
    found = Predictor(standard, mixture).predict(new)
    mean, std = model.predict(new, return_std=True)
    np.testing.assert_array_equal(mean, found["prediction"])
    np.testing.assert_array_equal(model.predict(new), mean)
    assert (std > 0).all()
    assert (found["high"] - found["low"] > 2 * std).all()  # of 90 %, not of two thirds


def test_targets_are_as_far_from_predictions_as_they_say() -> None:
    X, y = rows(60)
    new, truth = rows(400, seed=1)
    mean, std = gpc.LearningCurveForecast().fit(X, y).predict(new, return_std=True)
    assert np.mean(((truth - mean) / std) ** 2) == pytest.approx(1, abs=0.3)


@pytest.mark.slow
def test_the_forecast_is_that_of_an_array() -> None:
    X, y = rows()
    model = gpc.LearningCurveForecast(draws=2, rng=3).fit(X, y)
    ours = gpc.forecast(X, y, draws=2, rng=3)
    pd.testing.assert_frame_equal(model.forecast_.to_frame(), ours.to_frame(), check_exact=True)
    assert model.forecast_ is model.forecast_


@pytest.mark.slow
def test_the_forecast_of_part_of_the_rows_is_the_same_too() -> None:
    X, y = rows()
    model = quick_model(most_rows=20).fit(X, y)
    assert (model.forecast_.rows, model.forecast_.fitted_rows) == (30, 20)
    ours = gpc.forecast(X, y, effort=replace(QUICK, most_rows=20))
    pd.testing.assert_frame_equal(model.forecast_.to_frame(), ours.to_frame(), check_exact=True)


@pytest.mark.slow
def test_a_new_fit_has_a_new_forecast() -> None:
    X, y = rows()
    model = quick_model().fit(X, y)
    assert model.forecast_.rows == 30
    model.set_params(draws=2).fit(X[:20], y[:20])
    ours = gpc.forecast(X[:20], y[:20], effort=replace(QUICK, draws=2))
    pd.testing.assert_frame_equal(model.forecast_.to_frame(), ours.to_frame(), check_exact=True)


@pytest.mark.slow
def test_parameters_set_after_the_fit_are_for_the_next_one() -> None:
    model = quick_model().fit(*rows()).set_params(draws=3, rng=8)
    ours = gpc.forecast(*rows(), effort=QUICK)
    pd.testing.assert_frame_equal(model.forecast_.to_frame(), ours.to_frame(), check_exact=True)
    assert model.forecast_.seed == 0


@pytest.mark.slow
def test_names_reach_the_forecast() -> None:
    X, y = rows()
    table = pd.DataFrame({"heat": X[:, 0], "same": 1.0, "id": np.arange(30)})
    model = quick_model().fit(table, pd.Series(y, name="yield"))
    assert list(model.feature_names_in_) == ["heat", "same", "id"]
    found = model.forecast_
    assert found.target == "yield"
    assert found.relevance is not None
    assert found.relevance.names == ("heat", "id")  # nothing is left out but what is the same in every row
    assert found.steps == ("Left out same: the same in every row.",)
    other = table.assign(same=77.0)
    np.testing.assert_array_equal(model.predict(other), model.predict(table))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(table.to_numpy())


@pytest.mark.slow
@pytest.mark.parametrize("early", [False, True])
def test_a_pickle_forecasts_and_predicts_the_same(early: bool) -> None:
    X, y = rows()
    model = quick_model().fit(X, y)
    if early:
        assert model.forecast_.rows == 30
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(X), model.predict(X))
    pd.testing.assert_frame_equal(copy.forecast_.to_frame(), model.forecast_.to_frame(), check_exact=True)
    assert not hasattr(clone(model), "weights_")


def test_nothing_is_known_before_the_fit() -> None:
    model = gpc.LearningCurveForecast()
    assert not hasattr(model, "forecast_")
    for ask in (lambda: model.predict([[1.0]]), lambda: model.forecast_, model.plot):
        with pytest.raises(NotFittedError):
            ask()


@pytest.mark.slow
def test_pipelines_searches_and_scores() -> None:
    X, y = rows(40)
    pipeline = make_pipeline(StandardScaler(), quick_model())
    scores = cross_val_score(pipeline, X, y, cv=3)
    assert (scores > 0.8).all()
    search = GridSearchCV(pipeline, {"learningcurveforecast__deterministic": [False, True]}, cv=3).fit(X, y)
    assert search.best_score_ >= scores.mean() - 1e-12
    assert search.best_estimator_[-1].forecast_.rows == 40
    # units do not matter, so neither does the scaler
    np.testing.assert_allclose(pipeline.fit(X, y).predict(X), quick_model().fit(X, y).predict(X), rtol=1e-4)


@pytest.mark.slow
def test_the_picture_is_that_of_the_forecast() -> None:
    model = quick_model().fit(*rows())
    ax = Figure().add_subplot()
    shown = model.plot(ax, goal=1.0)
    assert shown.ax_ is ax
    assert "goal" in shown.lines_
    np.testing.assert_array_equal(
        shown.lines_["forecast"].get_ydata(), model.forecast_.plot(goal=1.0).lines_["forecast"].get_ydata()
    )


def kernel() -> Any:
    return ConstantKernel(1.0) * RBF([1.0, 3.0]) + WhiteKernel(0.05)


@pytest.mark.slow
def test_a_display_from_a_gaussian_process_of_scikit_learn() -> None:
    X, y = rows()
    regressor = GaussianProcessRegressor(kernel(), normalize_y=True)
    pipeline = make_pipeline(StandardScaler(), regressor)
    ax = Figure().add_subplot()
    shown = gpc.LearningCurveForecast.from_estimator(pipeline, X, pd.Series(y, name="yield"), goal=1.0, rng=5, ax=ax)
    assert not hasattr(regressor, "kernel_")  # a clone was fitted
    ours = gpc.forecast(regressor.fit(StandardScaler().fit_transform(X), y), rng=5)
    pd.testing.assert_frame_equal(shown.result_.to_frame(), ours.to_frame(), rtol=1e-5)
    assert shown.ax_ is ax
    assert shown.figure_ is ax.figure
    assert "yield" in ax.get_ylabel()
    assert {"forecast", "goal"} <= set(shown.lines_)
    again = shown.plot()
    assert again.ax_ is not ax
    assert "goal" not in again.lines_
    assert again.result_ is shown.result_
    assert_drawn(again._repr_png_())


@pytest.mark.slow
@pytest.mark.parametrize("wrap", [lambda model: model, lambda model: Pipeline([("only", model)])])
def test_a_display_from_a_model_without_steps_before(wrap: Any) -> None:
    X, y = rows()
    found = gpc.LearningCurveForecast.from_estimator(wrap(quick_model()), X, y).result_
    pd.testing.assert_frame_equal(found.to_frame(), quick_model().fit(X, y).forecast_.to_frame(), check_exact=True)


@pytest.mark.slow
def test_a_display_names_what_the_steps_before_made() -> None:
    X, y = rows()
    table = pd.DataFrame(X, columns=["heat", "mass"]).assign(kind=["a", "b"] * 15)
    columns = ColumnTransformer(
        [("scaled", StandardScaler(), ["heat", "mass"]), ("kind", OneHotEncoder(drop="first"), ["kind"])],
        sparse_threshold=0,
    )
    found = gpc.LearningCurveForecast.from_estimator(make_pipeline(columns, quick_model()), table, y).result_
    assert found.relevance is not None
    assert found.relevance.names == ("scaled__heat", "scaled__mass", "kind__kind_b")
    silent = make_pipeline(FunctionTransformer(np.log), quick_model())  # does not tell names
    found = gpc.LearningCurveForecast.from_estimator(silent, X, y).result_
    assert found.relevance is not None
    assert found.relevance.names == ("x0", "x1")


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (Ridge(), "takes a GaussianProcessRegressor, .* or a Pipeline that ends with one of them, got Ridge"),
        (make_pipeline(StandardScaler(), Ridge()), "got a Pipeline that ends with Ridge"),
        (Pipeline([("a", StandardScaler()), ("b", "passthrough")]), "got a Pipeline that ends with passthrough"),
        (GaussianProcessRegressor, "got the class GaussianProcessRegressor"),
        (TransformedTargetRegressor(GaussianProcessRegressor()), "give a transformed y"),
        (make_pipeline(StandardScaler(), TransformedTargetRegressor(Ridge())), "give a transformed y"),
        (GridSearchCV(Ridge(), {"alpha": [1.0]}, cv=2).fit(*rows()), "give the best_estimator_ of this GridSearchCV"),
    ],
)
def test_a_display_says_what_is_possible(estimator: Any, message: str) -> None:
    with pytest.raises(gpc.InputError, match=message):
        gpc.LearningCurveForecast.from_estimator(estimator, *rows())


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (rows(9)[0], rows(9)[1], "9 sample.* minimum of 10 is required by LearningCurveForecast"),
        (rows()[0], np.ones(30), "the target must vary, got 1 in every row"),
        (np.ones((30, 2)), rows()[1], "the inputs must vary"),
        (
            np.random.default_rng(0).standard_normal((12, 13)),
            rows(12)[1],
            "as many rows as columns, got 12 rows and 13",
        ),
        (pd.DataFrame(rows()[0], columns=["a", "a"]), rows()[1], "names, got"),
        ([["x", "y"]] * 30, rows()[1], "X and y must be real numbers, got texts"),
    ],
)
def test_bad_rows_are_refused(X: Any, y: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        gpc.LearningCurveForecast().fit(X, y)


@pytest.mark.parametrize(("name", "value"), [("draws", 0), ("draws", 1.5), ("rng", -1)])
def test_bad_parameters_are_refused_by_the_fit(name: str, value: object) -> None:
    model = gpc.LearningCurveForecast().set_params(**{name: value})
    with pytest.raises(gpc.InputError, match=f"{name} must be an integer"):
        model.fit(*rows())


def test_a_regressor_needs_as_many_rows_as_others() -> None:
    X, y = rows(9)
    with pytest.raises(gpc.InputError, match="fitted to at least 10 rows, got 9"):
        gpc.LearningCurveForecast.from_estimator(GaussianProcessRegressor(kernel(), optimizer=None), X, y)


def test_a_constant_column_of_a_regressor_does_not_matter() -> None:
    X, y = rows()
    one, more = (
        gpc.forecast(GaussianProcessRegressor(RBF(1.0), alpha=0.1, optimizer=None).fit(inputs, y)).to_frame()
        for inputs in (X[:, :1], np.column_stack((X[:, 0], np.full(30, 5.0))))
    )
    np.testing.assert_allclose(more["rmse"], one["rmse"], rtol=0.1)


@pytest.mark.slow
def test_a_table_of_one_target_gives_it_its_name() -> None:
    X, y = rows()
    assert gpc.forecast(pd.DataFrame(X), pd.DataFrame({"name": y}), effort=QUICK).target == "name"


@pytest.mark.slow
def test_planning_does_not_import_scikit_learn() -> None:
    code = "import sys, gpcurves.forecasting; assert 'sklearn' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
