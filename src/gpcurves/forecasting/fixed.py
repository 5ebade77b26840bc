"""A fitted scikit-learn regressor, taken as it is: its own kernel, hyperparameters and rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_factor, cho_solve

from gpcurves.errors import InputError
from gpcurves.forecasting.crossvalidation import SHARES, CrossValidation
from gpcurves.forecasting.curves import Model
from gpcurves.forecasting.effort import Effort
from gpcurves.forecasting.make import assembled
from gpcurves.forecasting.population import Copula, Pool
from gpcurves.forecasting.result import Forecast
from gpcurves.montecarlo.progress import Progress
from gpcurves.numerics.validation import FloatArray
from gpcurves.tables.rows import FEWEST_ROWS, Columns, Rows, check_matrix, check_pool, draw_rows

_SPLITS = 20


def forecast_fixed(regressor: Any, seed: int, pool: Any, effort: Effort, shown: Progress) -> Forecast:
    """Forecast with the hyperparameters that a ``GaussianProcessRegressor`` has."""
    if "GaussianProcessRegressor" not in [kind.__name__ for kind in type(regressor).__mro__]:
        raise InputError(f"only a GaussianProcessRegressor can be taken as it is, got a {type(regressor).__name__}")
    if not hasattr(regressor, "X_train_"):
        raise InputError("the regressor must be fitted: call its fit method first")
    X = check_matrix("the inputs of the regressor", regressor.X_train_)
    y = np.array(regressor.y_train_, dtype=np.float64)
    if y.ndim > 1 and y.shape[1] > 1:
        raise InputError(f"a forecast needs one target, got a regressor with {y.shape[1]}")
    if len(y) < FEWEST_ROWS:
        raise InputError(f"a forecast needs a regressor fitted to at least {FEWEST_ROWS} rows, got {len(y)}")
    if np.ptp(y) == 0:
        raise InputError("the target of the regressor is the same in every row: there is nothing to learn")
    kernel = regressor.kernel_
    # a WhiteKernel is on the diagonal of one set of inputs, but not between two
    white = np.array([kernel.diag(x[None])[0] - kernel(x[None], x[None].copy())[0, 0] for x in X])
    noise = float(np.mean(white + regressor.alpha))
    model = Model(lambda A, B: np.asarray(kernel(A, B)), lambda A: kernel.diag(A) - white.mean(), max(noise, 1e-12))
    names = tuple(map(str, getattr(regressor, "feature_names_in_", [f"x{i}" for i in range(X.shape[1])])))
    mean, scale = float(np.mean(regressor._y_train_mean)), float(np.mean(regressor._y_train_std))
    rng = np.random.default_rng(seed)
    rows = len(X)
    X, y, steps = draw_rows(X, y, effort.most_rows, rng)
    columns = Columns(names, X.mean(axis=0), X.std(axis=0))
    data = Rows(X, y.reshape(-1), None, columns, "y", mean, scale, rows, tuple(steps))
    return assembled(
        data,
        [model],
        np.ones(1),
        Copula(X) if pool is None else Pool(check_pool(pool, X.shape[1])),
        _held_out(model, data.X, data.y, rng),
        None,
        ("The hyperparameters are those of the regressor given: the interval does not allow for errors in them.",),
        seed,
        rng,
        effort,
        shown,
    )


def _held_out(model: Model, X: FloatArray, y: FloatArray, rng: np.random.Generator) -> CrossValidation:
    """Return errors on rows held out, with the hyperparameters as they are."""
    count = len(y)
    sizes = sorted({max(1, round(share * count)) for share in SHARES})
    errors, scatter = [], []
    for size in sizes:
        residuals = np.concatenate([_residuals(model, X, y, rng.permutation(count), size) for _ in range(_SPLITS)])
        errors.append(float(np.mean(residuals**2)))
        scatter.append(float(np.std(residuals**2) / np.sqrt(count)) / errors[-1])
    return CrossValidation(np.array(sizes, dtype=np.float64), np.array(errors), np.array(scatter))


def _residuals(model: Model, X: FloatArray, y: FloatArray, order: npt.NDArray[np.int64], size: int) -> FloatArray:
    train, test = order[:size], order[size:]
    K = model.covariance(X[train], X[train]) + model.noise * np.eye(size)
    weights = cho_solve(cho_factor(K, lower=True), y[train])
    return np.asarray(y[test] - model.covariance(X[test], X[train]) @ weights)
