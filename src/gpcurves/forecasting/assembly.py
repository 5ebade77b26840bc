"""From rows, or a fitted regressor, to a forecast: problems, their learning curves, and the level of cross-validation."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gpcurves.errors import InputError
from gpcurves.forecasting.crossvalidation import CrossValidation, PowerLawFit, cross_validate, hold_out
from gpcurves.forecasting.effort import Computation
from gpcurves.forecasting.error_curve import measure_savings, simulate_curve
from gpcurves.forecasting.evidence import JITTER
from gpcurves.forecasting.intervals import PosteriorCurves, fading
from gpcurves.forecasting.posterior import Peak, draw_problems
from gpcurves.forecasting.relevance import Relevance, measure_relevance
from gpcurves.forecasting.result import Forecast
from gpcurves.forecasting.verdict import FAR_OUT, count_extreme
from gpcurves.inputs import Copula, Inputs, Pool
from gpcurves.numerics.validation import FloatArray
from gpcurves.problem import Problem
from gpcurves.tables.rows import FEWEST_ROWS, Columns, Rows, check_matrix, check_pool, draw_rows

_SAME_INPUTS = 4
"""So many learning curves share their training and test inputs."""


@dataclass(frozen=True)
class FittedRows:
    """Rows, the problems that they may come from with their probabilities, and cross-validated errors of standardised targets.

    The relevance of inputs is None if the user's own model is taken as it is.
    """

    rows: Rows
    problems: tuple[Problem, ...]
    weights: FloatArray
    observed: CrossValidation
    relevance: Relevance | None
    notes: tuple[str, ...]
    deterministic: bool = False


def forecast_rows(rows: Rows, peaks: list[Peak], computation: Computation) -> Forecast:
    """Forecast from rows, starting at the most probable hyperparameters of each covariance function."""
    fit = fit_rows(rows, peaks, computation)
    return assemble(fit, simulate_posterior(fit, computation), computation)


def fit_rows(rows: Rows, peaks: list[Peak], computation: Computation) -> FittedRows:
    """Draw from the posterior over problems, and cross-validate."""
    inputs = find_inputs(rows)
    problems, weights = draw_problems(peaks, inputs, computation)
    observed = cross_validate(peaks, inputs, computation.rng)
    computation.progress.advance(10)
    relevance = measure_relevance(rows.X, rows.columns, problems, weights)
    deterministic = peaks[0].density.fixed_noise is not None
    notes = ("The target was taken as a function of the inputs without noise.",) if deterministic else ()
    return FittedRows(rows, problems, weights, observed, relevance, notes, deterministic)


def find_inputs(rows: Rows) -> Inputs:
    """Return where further inputs come from: the pool if there is one, else a copula fitted to the rows."""
    if rows.pool is not None:
        return Pool(rows.pool)
    categories = tuple(tuple(positions) for positions in rows.columns.groups.values() if len(positions) > 1)
    return Copula(rows.X, categories, rows.y)


def forecast_regressor(regressor: Any, pool: Any, computation: Computation) -> Forecast:
    """Forecast with the hyperparameters that a ``GaussianProcessRegressor`` has."""
    from gpcurves.kernels.sklearn import from_sklearn, remove_white

    rows = _read_regressor(regressor, computation)
    signal = remove_white(regressor.kernel_)
    if signal is None:
        raise InputError("the kernel of the regressor is noise alone: there is nothing to learn")
    variance = signal.diag(regressor.X_train_)
    noise = float(np.mean(regressor.kernel_.diag(regressor.X_train_) - variance + regressor.alpha))
    inputs = Copula(rows.X) if pool is None else Pool(check_pool(pool, rows.X.shape[1]))
    problem = Problem(from_sklearn(signal), inputs, max(noise, JITTER * float(np.mean(variance))))
    observed = hold_out(problem, rows.X, rows.y, computation.rng)
    note = "The hyperparameters are those of your regressor: the interval does not allow for errors in them."
    fit = FittedRows(rows, (problem,), np.ones(1), observed, None, (note,))
    return assemble(fit, simulate_posterior(fit, computation), computation)


def _read_regressor(regressor: Any, computation: Computation) -> Rows:
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


def simulate_posterior(fit: FittedRows, computation: Computation) -> PosteriorCurves:
    """Simulate one learning curve for each problem, on inputs drawn anew every few problems."""
    rows, effort, rng = len(fit.rows.y), computation.effort, computation.rng
    size = max(min(16 * rows, effort.simulated_rows), (4 * rows) // 3)
    curves = []
    for number, problem in enumerate(fit.problems):
        if number % _SAME_INPUTS == 0:
            X, test = problem.inputs.draw(size, rng), problem.inputs.draw(effort.test_inputs, rng)
        curves.append(simulate_curve(problem, X, test))
    if fit.relevance is not None:  # the noise of a model taken as it is stays as it is
        curves = [replace(curve, fade=fading(curve.noise), since=rows) for curve in curves]
    computation.progress.advance(5)
    return PosteriorCurves(tuple(curves), fit.weights, fit.observed, fit.rows.usable, rows, fit.rows.scale)


def assemble(fit: FittedRows, curves: PosteriorCurves, computation: Computation) -> Forecast:
    """Bring learning curves to the level that cross-validation shows, and add all that a forecast says besides."""
    rows, observed = fit.rows, fit.observed
    outlying, notes = _find_outliers(rows, math.sqrt(observed.mse[-1]))
    if (resolved := min(curve.resolved for curve in curves.curves)) < math.inf:
        notes.append(
            f"From about {resolved:,} rows on double precision does not resolve the error of all likely models: "
            "the forecast is an upper limit there."
        )
    likeliest = fit.problems[int(np.argmax(fit.weights))]
    remaining = measure_savings(likeliest, rows.X, computation)
    computation.progress.advance(5)
    units = CrossValidation(observed.n, observed.mse * rows.scale**2, observed.stderr)
    return Forecast(
        target=rows.target,
        rows=rows.usable,
        fitted_rows=len(rows.y),
        columns=len(rows.columns.groups),
        band=curves.make_band(),
        noise_rmse=curves.noise_rmse,
        remaining=remaining,
        outlying=outlying,
        cross_validation=units,
        power_law=PowerLawFit.fit(units),
        relevance=fit.relevance,
        deterministic=fit.deterministic,
        steps=rows.steps,
        notes=(*fit.notes, *notes),
        seed=computation.seed,
    )


def _find_outliers(rows: Rows, rmse: float) -> tuple[float, list[str]]:
    """Return the distance of the most extreme rows from the rest, 0 if the model explains them, and a note if it is large."""
    distance = np.abs(rows.y - np.median(rows.y))
    order = np.argsort(distance)
    few = count_extreme(len(order))
    others = float(rows.y[order[:-few]].std())
    if rmse < others:  # the error of guessing, were it not for those rows
        return 0.0, []
    away = float(np.sqrt(np.mean(distance[order[-few:]] ** 2)))
    outlying = away / others if others > 0 else math.inf
    value, deviation = rows.mean + rows.scale * rows.y[order[-1]], rows.scale * others
    note = (
        f"The target is {value:.4g} in the most extreme row; the others have a standard deviation of {deviation:.3g}."
    )
    return outlying, [note] if outlying > FAR_OUT else []
