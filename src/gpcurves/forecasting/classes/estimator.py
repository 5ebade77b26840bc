"""A classifier in the style of scikit-learn that forecasts how much better it gets with more rows."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from gpcurves.errors import InputError
from gpcurves.forecasting.classes.assembly import forecast_classes, thin
from gpcurves.forecasting.classes.prediction import ClassPredictor
from gpcurves.forecasting.effort import Computation, ForecastEffort, choose_effort
from gpcurves.forecasting.estimator import admit_numbers
from gpcurves.forecasting.result import Forecast
from gpcurves.montecarlo import Rng, seed_of
from gpcurves.montecarlo.progress import Progress
from gpcurves.numerics.display import Display
from gpcurves.numerics.validation import FloatArray
from gpcurves.tables.rows import FEWEST_ROWS, find_name, standardise_arrays


class LearningCurveClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A Gaussian process classifier that forecasts how often it will be wrong with more rows.

    Each class is told from all others by Laplace's method. Probabilities are averaged over three models with the weights and
    temperatures that are best on rows left out: two covariance functions with a lengthscale for each input, and a linear one.

    Parameters
    ----------
    rng
        Seed: the same seed gives the same forecast.
    effort
        How much is computed. Of more than ``effort.fitted_rows`` rows (1,000), so many are drawn at random.

    Attributes
    ----------
    classes_
        The classes, sorted.
    forecast_
        The `Forecast` of the error rate. It is computed when first used, so that cross-validation, which only predicts, does not
        wait for it.
    weights_, temperatures_
        The weights of the models (RBF, Matérn-5/2, linear), and what their log odds are multiplied by.
    n_features_in_, feature_names_in_
        How many columns there were, and their names if they had any.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> wines = gpc.datasets.load_wine()
    >>> X, y = wines[["alcohol", "hue"]].head(60), wines["cultivar"].head(60)
    >>> model = gpc.LearningCurveClassifier().fit(X, y)
    >>> model.predict_proba(X.head(2)).shape
    (2, 3)
    """

    def __init__(self, *, rng: Rng = 0, effort: ForecastEffort | None = None) -> None:
        self.rng = rng
        self.effort = effort

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from rows of numbers, at least 10 of them, and a class for each."""
        effort, seed, called = choose_effort(self.effort, None), seed_of(self.rng), find_name(y)
        X, y = validate_data(self, admit_numbers(X), y, dtype=np.float64, ensure_min_samples=FEWEST_ROWS)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise InputError(f"two classes or more are needed, got one class: {self.classes_[0]!r} in every row")
        names = [str(name) for name in getattr(self, "feature_names_in_", [f"x{i}" for i in range(X.shape[1])])]
        if len(set(names)) < len(names):
            raise InputError(f"columns must have different names, got {', '.join(names)}")
        rng = np.random.default_rng(seed)
        rows = standardise_arrays(X, codes, None, rng, len(codes), names, classes=True)
        self._rows = replace(rows, target=called, classes=tuple(map(str, self.classes_.tolist())))
        self._predictor = ClassPredictor.learn(thin(self._rows, effort.fitted_rows))
        self.weights_ = self._predictor.mixture.weights
        self.temperatures_ = np.array(self._predictor.mixture.temperatures)
        self._begun = (effort, seed, rng)
        self.__dict__.pop("forecast_", None)  # of former rows
        return self

    @cached_property
    def forecast_(self) -> Forecast:
        """The error rate to expect when there are more rows."""
        check_is_fitted(self)
        effort, seed, rng = self._begun
        with threadpool_limits(1), Progress(None, "%") as shown:
            shown.expect(100, 0)
            return forecast_classes(self._rows, Computation(seed, deepcopy(rng), effort, shown))

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probabilities of the classes, a column each in the order of ``classes_``."""
        check_is_fitted(self)
        X = validate_data(self, admit_numbers(X), dtype=np.float64, reset=False)
        return self._predictor.predict(X).iloc[:, 1:].to_numpy(dtype=np.float64)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the likeliest class of each row."""
        likeliest = np.argmax(self.predict_proba(X), axis=1)
        return np.asarray(self.classes_[likeliest])

    def plot(self, ax: Any = None, goal: float | None = None) -> Display:
        """Draw the forecast, and the rows that a goal (an error rate) needs; returns a `Display`."""
        return self.forecast_.plot(ax, goal=goal)
