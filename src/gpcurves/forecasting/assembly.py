"""The part that all forecasts share: learning curves of the problems, brought to the level that cross-validation shows."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from gpcurves.forecasting.calibration import LEVEL, fading
from gpcurves.forecasting.crossvalidation import CrossValidation, PowerLawFit
from gpcurves.forecasting.effort import Effort
from gpcurves.forecasting.error_curve import ErrorCurve, simulate_curve
from gpcurves.forecasting.posterior import WeightedProblems
from gpcurves.forecasting.relevance import Relevance
from gpcurves.forecasting.result import HORIZON, Forecast
from gpcurves.forecasting.savings import measure_savings
from gpcurves.forecasting.verdict import FAR_OUT, furthest
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
    """Rows and what they say.

    Attributes
    ----------
    rows
        The rows.
    posterior
        The problems that they may come from.
    observed
        Cross-validated errors, in units of the standardised target.
    relevance
        What each input contributes; None if the user's own model is taken as it is.
    notes
        What a reader should know, in sentences.
    deterministic
        Whether the target is taken as a function of the inputs without noise.
    """

    rows: Rows
    posterior: WeightedProblems
    observed: CrossValidation
    relevance: Relevance | None
    notes: tuple[str, ...]
    deterministic: bool = False


def assemble(fit: FittedRows, computation: Computation) -> Forecast:
    """Simulate the learning curves of the problems and bring them to the level that cross-validation shows."""
    rows, observed, weights = fit.rows, fit.observed, fit.posterior.weights
    curves = _simulate(fit.posterior, len(rows.y), computation)
    if fit.relevance is not None:  # the noise of a model taken as it is stays as it is
        curves = [replace(curve, fade=fading(curve.noise), since=len(rows.y)) for curve in curves]
    outlying, notes = _find_outliers(rows, math.sqrt(observed.mse[-1]))
    if (resolved := min(curve.resolved for curve in curves)) < math.inf:
        notes.append(
            f"From about {resolved:,} rows on double precision does not resolve the error of all likely models: "
            "the forecast is an upper limit there."
        )
    at = np.array([observed.n[-1]])
    expected = float(weights @ np.log([curve(at)[0] for curve in curves]))
    level = LEVEL * (float(np.log(observed.mse[-1])) - expected)
    end = np.array([float(HORIZON * rows.usable)])
    noise = float(weights @ np.log([curve.noise_at(end)[0] for curve in curves]))
    units = CrossValidation(observed.n, observed.mse * rows.scale**2, observed.stderr)
    computation.progress.advance(5)
    likeliest = fit.posterior.problems[int(np.argmax(weights))]
    saving = measure_savings(likeliest, rows.X, computation.rng, computation.effort)
    computation.progress.advance(5)
    return Forecast(
        target=rows.target,
        rows=rows.usable,
        fitted_rows=len(rows.y),
        columns=len(rows.columns.groups),
        noise_rmse=rows.scale * float(np.exp(0.5 * (noise + level))),
        cross_validation=units,
        power_law=PowerLawFit.fit(units),
        relevance=fit.relevance,
        steps=rows.steps,
        notes=(*fit.notes, *notes),
        seed=computation.seed,
        curves=tuple(curves),
        weights=weights,
        level=level,
        scale=rows.scale,
        saving=saving,
        deterministic=fit.deterministic,
        outlying=outlying,
    )


def _find_outliers(rows: Rows, rmse: float) -> tuple[float, list[str]]:
    """Return the distance of the most extreme 1 % of the rows, 0 if the model explains them, and a note if it is large."""
    distance = np.abs(rows.y - np.median(rows.y))
    order = np.argsort(distance)
    few = furthest(len(order))
    others = float(rows.y[order[:-few]].std())
    if rmse < others:  # the error of guessing, were it not for those rows
        return 0.0, []
    away = float(np.sqrt(np.mean(distance[order[-few:]] ** 2)))
    outlying = away / others if others > 0 else math.inf
    value = rows.mean + rows.scale * rows.y[order[-1]]
    note = f"The target is {value:.4g} in the row furthest out; the others vary by {rows.scale * others:.3g}."
    return outlying, [note] if outlying > FAR_OUT else []


def _simulate(posterior: WeightedProblems, rows: int, computation: Computation) -> list[ErrorCurve]:
    """Simulate one learning curve for each problem, on inputs drawn anew every few problems."""
    effort, rng = computation.effort, computation.rng
    size = max(min(16 * rows, effort.simulated_rows), (4 * rows) // 3)
    curves = []
    for number, problem in enumerate(posterior.problems):
        if number % _SAME_INPUTS == 0:
            X, test = problem.inputs.draw(size, rng), problem.inputs.draw(effort.test_inputs, rng)
        curves.append(simulate_curve(problem, X, test))
    return curves
