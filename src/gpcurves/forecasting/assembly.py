"""The part that all forecasts share: learning curves of the problems, brought to the level that cross-validation shows."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from gpcurves.forecasting.crossvalidation import CrossValidation, PowerLawFit
from gpcurves.forecasting.effort import Effort
from gpcurves.forecasting.error_curve import simulate_curve
from gpcurves.forecasting.intervals import PosteriorCurves, fading
from gpcurves.forecasting.posterior import WeightedProblems
from gpcurves.forecasting.relevance import Relevance
from gpcurves.forecasting.result import Forecast
from gpcurves.forecasting.savings import measure_savings
from gpcurves.forecasting.verdict import FAR_OUT, count_extreme
from gpcurves.montecarlo.progress import Progress
from gpcurves.tables.rows import Rows

_SAME_INPUTS = 4
"""So many learning curves share their training and test inputs."""


@dataclass(frozen=True)
class Computation:
    """How a forecast is computed: its seed, the random numbers that follow from it, its effort, and its progress."""

    seed: int
    rng: np.random.Generator
    effort: Effort
    progress: Progress

    def start_stage(self, units: int) -> Callable[[float], None]:
        """Return a function that takes the share of a stage that is done; the whole stage is so many units of progress."""
        reported = 0

        def report(share: float) -> None:
            nonlocal reported
            self.progress.advance(int(units * share) - reported)
            reported = int(units * share)

        return report


@dataclass(frozen=True)
class FittedRows:
    """Rows, the problems that they may come from, and cross-validated errors in units of the standardised target.

    The relevance of inputs is None if the user's own model is taken as it is.
    """

    rows: Rows
    posterior: WeightedProblems
    observed: CrossValidation
    relevance: Relevance | None
    notes: tuple[str, ...]
    deterministic: bool = False


def simulate_posterior(fit: FittedRows, computation: Computation) -> PosteriorCurves:
    """Simulate one learning curve for each problem, on inputs drawn anew every few problems."""
    rows, effort, rng = len(fit.rows.y), computation.effort, computation.rng
    size = max(min(16 * rows, effort.simulated_rows), (4 * rows) // 3)
    curves = []
    for number, problem in enumerate(fit.posterior.problems):
        if number % _SAME_INPUTS == 0:
            X, test = problem.inputs.draw(size, rng), problem.inputs.draw(effort.test_inputs, rng)
        curves.append(simulate_curve(problem, X, test))
    if fit.relevance is not None:  # the noise of a model taken as it is stays as it is
        curves = [replace(curve, fade=fading(curve.noise), since=rows) for curve in curves]
    computation.progress.advance(5)
    return PosteriorCurves(tuple(curves), fit.posterior.weights, fit.observed, fit.rows.usable, rows, fit.rows.scale)


def assemble(fit: FittedRows, curves: PosteriorCurves, computation: Computation) -> Forecast:
    """Bring learning curves to the level that cross-validation shows, and add all that a forecast says besides."""
    rows, observed = fit.rows, fit.observed
    outlying, notes = _find_outliers(rows, math.sqrt(observed.mse[-1]))
    if (resolved := min(curve.resolved for curve in curves.curves)) < math.inf:
        notes.append(
            f"From about {resolved:,} rows on double precision does not resolve the error of all likely models: "
            "the forecast is an upper limit there."
        )
    likeliest = fit.posterior.problems[int(np.argmax(fit.posterior.weights))]
    remaining = measure_savings(likeliest, rows.X, computation.rng, computation.effort)
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
    value, spread = rows.mean + rows.scale * rows.y[order[-1]], rows.scale * others
    note = f"The target is {value:.4g} in the most extreme row; the others have a standard deviation of {spread:.3g}."
    return outlying, [note] if outlying > FAR_OUT else []
