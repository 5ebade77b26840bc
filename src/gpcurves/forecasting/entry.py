"""The question as people ask it: rows as arrays, as a table or in a file, or a fitted regressor."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from gpcurves.errors import InputError
from gpcurves.forecasting.assembly import forecast_regressor, forecast_rows
from gpcurves.forecasting.effort import Computation, ForecastEffort, choose_effort
from gpcurves.forecasting.posterior import find_peaks
from gpcurves.forecasting.result import Forecast
from gpcurves.montecarlo import Rng, seed_of
from gpcurves.montecarlo.progress import Progress
from gpcurves.tables.files import read_table
from gpcurves.tables.preparing import prepare
from gpcurves.tables.rows import Rows, find_name, standardise, standardise_arrays

_SAME_TARGET = 1e-3
"""Targets, in standard deviations, that differ by less may be those of a function without noise."""


def forecast(  # noqa: PLR0913  (what a person may say about a table, by keyword)
    X: Any,
    y: Any = None,
    *,
    rng: Rng = 0,
    pool: Any = None,
    deterministic: bool = False,
    features: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
    missing: Literal["drop", "impute"] = "drop",
    draws: int | None = None,
    effort: ForecastEffort | None = None,
    progress: bool | None = False,
) -> Forecast:
    """Forecast the error of a Gaussian process trained on more rows like these.

    Parameters
    ----------
    X
        Inputs: an array of numbers, one row per example; a table (pandas), whose texts become categories and whose
        identifiers are left out; the name of a CSV, TSV, Excel or Parquet file; or a fitted ``GaussianProcessRegressor`` of
        scikit-learn, which is taken as it is.
    y
        The target, one number per row, or the name of its column; not given with a fitted regressor.
    rng
        Seed: the same seed gives the same answer.
    pool
        Unlabelled inputs from which further rows would come; without it they are drawn from a copula fitted to X.
    deterministic
        The target is a function of the inputs without noise.
    features, drop
        Columns of a table to use, or not to use.
    missing
        With "drop" rows of a table with a missing input are dropped, with "impute" it is filled in.
    draws
        Draws from the posterior of each covariance function, for 200 rows or more (16 unless given); fewer are faster
        and rougher.
    effort
        All that determines how much is computed, if draws are not enough.
    progress
        Whether to show progress on stderr; None shows it on a terminal.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(-1, 1, (40, 2))
    >>> result = forecast(X, np.sin(3 * X[:, 0]), draws=2)
    >>> list(result.at([40, 160]).columns)
    ['n', 'rmse', 'low', 'high']
    """
    seed, effort = seed_of(rng), choose_effort(effort, draws)
    with threadpool_limits(1), Progress(progress, "%") as shown:
        shown.expect(100, 0)
        computation = Computation(seed, np.random.default_rng(seed), effort, shown)
        if _is_model(X, y):
            return forecast_regressor(X, pool, computation)
        if isinstance(X, str | Path) or hasattr(X, "columns"):
            rows = _read_table(X, y, pool, computation, features=features, drop=drop, missing=missing)
        elif features is not None or drop is not None or missing != "drop":
            raise InputError("features, drop and missing are for tables: give a pandas DataFrame or a file")
        else:
            rows = standardise_arrays(X, y, pool, computation.rng, effort.most_rows)
        if deterministic:
            _check_function(rows)
        return forecast_rows(rows, find_peaks(rows.X, rows.y, deterministic), computation)


def _is_model(X: Any, y: Any) -> bool:
    """Tell whether a fitted Gaussian process was given instead of rows; refuse other models, and rows without a target."""
    if hasattr(X, "kernel") and hasattr(X, "predict"):
        if y is not None:
            raise InputError("a fitted regressor has its own rows: give no y with it")
        return True
    if y is None and hasattr(X, "predict"):
        raise InputError(
            f"only a GaussianProcessRegressor is taken as it is, got {type(X).__name__}: give X and y, or use "
            "LearningCurveForecast.from_estimator for a pipeline that ends with one"
        )
    if y is None:
        raise InputError("y is needed: the target, one number per row of X, or the name of its column")
    return False


def _read_table(X: Any, y: Any, pool: Any, computation: Computation, **choices: Any) -> Rows:
    """Return the standardised rows of a table, or of a file; ``choices`` are those of `prepare`."""
    table, unlabelled = (read_table(part) if isinstance(part, str | Path) else part for part in (X, pool))
    table, target = (table, y) if isinstance(y, str) else _add_target(table, y)
    if unlabelled is not None and not hasattr(unlabelled, "columns"):
        unlabelled = pd.DataFrame(np.asarray(unlabelled), columns=[c for c in table.columns if c != target])
    most_rows = computation.effort.most_rows
    return standardise(prepare(table, target, pool=unlabelled, rng=computation.seed, most_rows=most_rows, **choices))


def _add_target(table: Any, y: Any) -> tuple[Any, str]:
    """Return a table with a further column for the target, and its name."""
    name = find_name(y)
    while name in table.columns:
        name += "*"
    values = np.asarray(y)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.shape != (len(table),):
        raise InputError(f"X and y must have as many rows as each other, got {len(table)} and {len(values)}")
    return table.assign(**{name: values}), name


def _check_function(rows: Rows) -> None:
    """Refuse to take a target as noise-free if rows with equal inputs have different ones."""
    group = np.unique(rows.X, axis=0, return_inverse=True)[1].reshape(-1)
    means = np.bincount(group, weights=rows.y) / np.bincount(group)
    differ = int((np.abs(rows.y - means[group]) > _SAME_TARGET).sum())
    if differ:
        raise InputError(
            f"the target {rows.target!r} is not deterministic: {differ:,} rows have the inputs of another row, but not its target"
        )
