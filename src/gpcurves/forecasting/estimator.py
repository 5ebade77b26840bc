"""Forecasts in the style of scikit-learn: an estimator to be fitted, and a display of how an estimator will learn."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from functools import cached_property
from typing import Any, Literal, Self, overload

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from gpcurves.errors import InputError
from gpcurves.forecasting.assembly import fit_members, forecast, forecast_rows
from gpcurves.forecasting.effort import Computation, ForecastEffort, choose_effort
from gpcurves.forecasting.regression import mix
from gpcurves.forecasting.result import Forecast
from gpcurves.montecarlo import Rng, seed_of
from gpcurves.montecarlo.progress import Progress
from gpcurves.numerics.display import Display
from gpcurves.numerics.validation import FloatArray, as_numbers
from gpcurves.tables.rows import FEWEST_ROWS, find_name, standardise_arrays


class LearningCurveForecast(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A Gaussian process regressor that forecasts its own error with more rows.

    It predicts with the most probable hyperparameters of several models, mixed with the weights that are best on rows left out:
    two covariance functions, and the target as it is or warped. The forecast is that of `forecast` for an array of numbers: of
    more than 5,000 rows a random part is used.

    Parameters
    ----------
    deterministic
        The target is a function of the inputs without noise.
    draws
        Number of posterior draws of the hyperparameters (default 16); fewer are faster and less accurate. Predictions do
        not use them.
    rng
        Seed: the same seed gives the same answer.
    effort
        Further settings of the computational effort, besides ``draws``.

    Attributes
    ----------
    forecast_
        The `Forecast`. It is computed when first used, so that cross-validation, which only predicts, does not wait for it.
    weights_
        The weights of the models: RBF and Matérn-5/2 for the target as it is, then both for the warped one. Predictions move from their
        mixture towards the mean of the rows, if that is better on rows left out.
    n_features_in_, feature_names_in_
        How many columns there were, and their names if they had any.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(-1, 1, (40, 2))
    >>> model = gpc.LearningCurveForecast(draws=2).fit(X, np.sin(3 * X[:, 0]))
    >>> model.predict([[0.0, 0.5], [0.5, 0.0]]).round(2) + 0.0
    array([0., 1.])
    >>> model.forecast_.rows
    40
    """

    def __init__(
        self,
        *,
        deterministic: bool = False,
        draws: int | None = None,
        rng: Rng = 0,
        effort: ForecastEffort | None = None,
    ) -> None:
        self.deterministic = deterministic
        self.draws = draws
        self.rng = rng
        self.effort = effort

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from rows of numbers, at least 10 of them, and one target for each."""
        effort, seed = choose_effort(self.effort, self.draws), seed_of(self.rng)
        called = find_name(y)
        X, y = validate_data(
            self, admit_numbers(X), admit_numbers(y), dtype=np.float64, y_numeric=True, ensure_min_samples=FEWEST_ROWS
        )
        names = [str(name) for name in getattr(self, "feature_names_in_", [f"x{i}" for i in range(X.shape[1])])]
        if len(set(names)) < len(names):
            raise InputError(f"columns must have different names, got {', '.join(names)}")
        rng = np.random.default_rng(seed)
        data = replace(standardise_arrays(X, y, None, rng, effort.most_rows, names), target=called)
        self._data = data
        with threadpool_limits(1):
            members = fit_members(data, effort.fitted_rows, bool(self.deterministic))
            self._mixture = mix(members, data.X, data.level)
        self.weights_ = self._mixture.weights
        self._used = np.isin(names, data.columns.sources)
        self._begun = (members, effort, seed, rng)
        self.__dict__.pop("forecast_", None)  # of former rows
        return self

    @cached_property
    def forecast_(self) -> Forecast:
        """The expected error with more rows."""
        check_is_fitted(self)
        members, effort, seed, rng = self._begun
        with threadpool_limits(1), Progress(None, "%") as shown:
            shown.expect(100, 0)
            computation = Computation(seed, deepcopy(rng), effort, shown)
            return forecast_rows(self._data, members, computation, bool(self.deterministic))

    @overload
    def predict(self, X: Any, return_std: Literal[False] = False) -> FloatArray: ...
    @overload
    def predict(self, X: Any, return_std: Literal[True]) -> tuple[FloatArray, FloatArray]: ...
    @overload
    def predict(self, X: Any, return_std: bool = False) -> FloatArray | tuple[FloatArray, FloatArray]: ...

    def predict(self, X: Any, return_std: bool = False) -> FloatArray | tuple[FloatArray, FloatArray]:
        """Return the mean at each row, and with ``return_std`` the standard deviation of a new target, noise included."""
        check_is_fitted(self)
        X = validate_data(self, admit_numbers(X), dtype=np.float64, reset=False)
        data = self._data
        standard = data.columns.standardise(X[:, self._used])
        mean = np.asarray(data.scale * self._mixture.predict(standard))
        if not return_std:
            return mean
        # half the distance of the quantiles of two thirds: for a normal distribution the standard deviation
        low, high = (self._mixture.quantile(standard, side) for side in (-1.0, 1.0))
        return mean, data.scale * (high - low) / 2

    def plot(self, ax: Any = None, goal: float | None = None) -> Display:
        """Draw the forecast, and the rows that a goal (a root mean squared error) needs; returns a `Display`."""
        return self.forecast_.plot(ax, goal=goal)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, goal: float | None = None, rng: Rng = 0, ax: Any = None
    ) -> Display:
        """Draw the forecast error of an estimator with more rows than you have.

        ``LearningCurveDisplay.from_estimator`` of scikit-learn draws how it learns from fewer.

        Parameters
        ----------
        estimator
            A ``GaussianProcessRegressor``, a `LearningCurveForecast`, or a ``Pipeline`` that ends with one of them. A
            clone is fitted; the hyperparameters of a ``GaussianProcessRegressor`` are then taken as they are.
        X, y
            Labelled rows, as the estimator takes them.
        goal
            A root mean squared error to mark.
        rng
            Seed for a ``GaussianProcessRegressor``; a `LearningCurveForecast` has its own.
        ax
            Axes of Matplotlib to draw on; a new figure if None.

        Returns
        -------
        Display
            Has ``result_`` (the forecast), ``ax_``, ``figure_`` and ``lines_``; its ``plot`` draws it again.
        """
        last, y = _find_last(estimator), admit_numbers(y)
        if last is not estimator:
            X = _transform(estimator, X, y)  # which may turn texts into numbers
        model = clone(last).fit(admit_numbers(X), y)
        result = model.forecast_ if isinstance(model, LearningCurveForecast) else forecast(model, rng=rng)
        return replace(result, target=find_name(y)).plot(ax, goal=goal)


def admit_numbers(values: Any) -> Any:
    """Refuse texts and dates, which scikit-learn takes for numbers, and give masked numbers as NaN, which it refuses."""
    try:
        array = np.asarray(values)
    except (TypeError, ValueError):  # scikit-learn says what is wrong
        return values
    texts = array.dtype.kind == "O" and any(isinstance(cell, str | bytes) for cell in array.flat)
    if texts or array.dtype.kind in "SUmM" or isinstance(values, np.ma.MaskedArray):
        return as_numbers(values, "X and y must be real numbers, got texts, dates or durations")
    return values


def _find_last(estimator: Any) -> Any:
    """Return the regressor at the end, or say what is possible instead."""
    last = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
    if isinstance(last, GaussianProcessRegressor | LearningCurveForecast):
        return last
    possible = "a GaussianProcessRegressor, a LearningCurveForecast, or a Pipeline that ends with one of them"
    if isinstance(last, TransformedTargetRegressor):
        raise InputError(
            "errors of a TransformedTargetRegressor are on another scale than its targets: give a transformed y with "
            f"{possible}; normalize_y=True of a GaussianProcessRegressor is understood"
        )
    if hasattr(last, "best_estimator_"):
        raise InputError(f"from_estimator takes {possible}: give the best_estimator_ of this {type(last).__name__}")
    given = f"the class {last.__name__}" if isinstance(last, type) else type(last).__name__
    if isinstance(estimator, Pipeline):
        given = f"a Pipeline that ends with {last if isinstance(last, str) else type(last).__name__}"
    raise InputError(
        f"from_estimator takes {possible}, got {given}: for another model, forecast the table itself by gpc.forecast(X, y)"
    )


def _transform(pipeline: Pipeline, X: Any, y: Any) -> Any:
    """Return the input of the last step of a pipeline, with names of the columns if the steps before have them."""
    if len(pipeline.steps) == 1:
        return X
    before = clone(pipeline)[:-1]
    X = before.fit_transform(X, y)
    try:
        names = before.get_feature_names_out()
    except (AttributeError, ValueError):  # a step has no names
        return X
    return pd.DataFrame(X, columns=names) if isinstance(X, np.ndarray) else X
