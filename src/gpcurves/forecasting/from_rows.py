"""A forecast from rows: the posterior over problems, cross-validation, and what each input contributes."""

from __future__ import annotations

from gpcurves.forecasting.assembly import Computation, FittedRows, assemble, simulate_posterior
from gpcurves.forecasting.crossvalidation import cross_validate
from gpcurves.forecasting.density import Peak
from gpcurves.forecasting.posterior import draw_problems
from gpcurves.forecasting.relevance import measure_relevance
from gpcurves.forecasting.result import Forecast
from gpcurves.inputs import Copula, Inputs, Pool
from gpcurves.tables.rows import Rows


def forecast_rows(rows: Rows, peaks: list[Peak], computation: Computation) -> Forecast:
    """Forecast from rows, starting at the most probable hyperparameters of each covariance function."""
    fit = fit_rows(rows, peaks, computation)
    return assemble(fit, simulate_posterior(fit, computation), computation)


def fit_rows(rows: Rows, peaks: list[Peak], computation: Computation) -> FittedRows:
    """Draw from the posterior over problems, and cross-validate."""
    inputs = find_inputs(rows)
    posterior = draw_problems(peaks, inputs, computation.rng, computation.effort, computation.start_stage(80))
    observed = cross_validate(peaks, inputs, computation.rng)
    computation.progress.advance(10)
    relevance = measure_relevance(rows.X, rows.columns, posterior)
    deterministic = peaks[0].density.fixed_noise is not None
    notes = ("The target was taken as a function of the inputs without noise.",) if deterministic else ()
    return FittedRows(rows, posterior, observed, relevance, notes, deterministic)


def find_inputs(rows: Rows) -> Inputs:
    """Return where further inputs come from: the pool if there is one, else a copula fitted to the rows."""
    if rows.pool is not None:
        return Pool(rows.pool)
    categories = tuple(tuple(positions) for positions in rows.columns.groups.values() if len(positions) > 1)
    return Copula(rows.X, categories, rows.y)
