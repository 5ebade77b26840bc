"""A forecast from a fitted scikit-learn regressor, taken as it is: its own kernel, hyperparameters and rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpcurves.errors import InputError
from gpcurves.forecasting.assembly import Computation, FittedRows, assemble, simulate_posterior
from gpcurves.forecasting.crossvalidation import hold_out
from gpcurves.forecasting.evidence import JITTER
from gpcurves.forecasting.posterior import WeightedProblems
from gpcurves.forecasting.result import Forecast
from gpcurves.inputs import Copula, Pool
from gpcurves.kernels.sklearn import from_sklearn, remove_white
from gpcurves.problem import Problem
from gpcurves.tables.rows import FEWEST_ROWS, Columns, Rows, check_matrix, check_pool, draw_rows


def forecast_regressor(regressor: Any, pool: Any, computation: Computation) -> Forecast:
    """Forecast with the hyperparameters that a ``GaussianProcessRegressor`` has."""
    rows = _read_rows(regressor, computation)
    signal = remove_white(regressor.kernel_)
    if signal is None:
        raise InputError("the kernel of the regressor is noise alone: there is nothing to learn")
    variance = signal.diag(regressor.X_train_)
    noise = float(np.mean(regressor.kernel_.diag(regressor.X_train_) - variance + regressor.alpha))
    inputs = Copula(rows.X) if pool is None else Pool(check_pool(pool, rows.X.shape[1]))
    problem = Problem(from_sklearn(signal), inputs, max(noise, JITTER * float(np.mean(variance))))
    observed = hold_out(problem, rows.X, rows.y, computation.rng)
    note = "The hyperparameters are those of the regressor given: the interval does not allow for errors in them."
    fit = FittedRows(rows, WeightedProblems((problem,), np.ones(1)), observed, None, (note,))
    return assemble(fit, simulate_posterior(fit, computation), computation)


def _read_rows(regressor: Any, computation: Computation) -> Rows:
    """Return the rows that a regressor was fitted to, on its own scale."""
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
    names = tuple(map(str, getattr(regressor, "feature_names_in_", [f"x{i}" for i in range(X.shape[1])])))
    mean, scale = float(np.mean(regressor._y_train_mean)), float(np.mean(regressor._y_train_std))
    usable = len(X)
    X, y, steps = draw_rows(X, y.reshape(-1), computation.effort.most_rows, computation.rng)
    return Rows(X, y, None, Columns(names, X.mean(axis=0), X.std(axis=0)), "y", mean, scale, usable, tuple(steps))
