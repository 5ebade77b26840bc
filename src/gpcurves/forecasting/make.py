"""From data to a forecast: fit, draw hyperparameters, simulate their learning curves, compare with cross-validation."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from gpcurves.errors import InputError
from gpcurves.forecasting.calibration import LEVEL, fading
from gpcurves.forecasting.crossvalidation import CrossValidation, PowerLaw, cross_validate
from gpcurves.forecasting.curves import ErrorCurve, Model
from gpcurves.forecasting.design import greedy
from gpcurves.forecasting.effort import Effort
from gpcurves.forecasting.evidence import FAMILIES, Evidence
from gpcurves.forecasting.population import Copula, Pool, Population
from gpcurves.forecasting.posterior import NOISELESS, LogPosterior, Peak, Posterior, Prior, sample, starts
from gpcurves.forecasting.relevance import Relevance, relevance_of
from gpcurves.forecasting.result import HORIZON, Forecast
from gpcurves.forecasting.verdict import FAR_OUT, furthest
from gpcurves.montecarlo.progress import Progress
from gpcurves.montecarlo.seeds import Rng, seed_of
from gpcurves.numerics.validation import FloatArray
from gpcurves.tables.rows import Rows, find_name, standardise_arrays, standardise_table

_WARM = 400
"""More rows than this are fitted starting from a fit to so many."""
_SAME_INPUTS = 4
"""So many learning curves share their training and test inputs."""
_RANDOM = 4
"""Data sets with random inputs beside the one with chosen inputs."""
_SAME_TARGET = 1e-3
"""Targets, in standard deviations, that differ by less may be those of a function without noise."""


def forecast(
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
    effort: Effort | None = None,
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
    >>> found = forecast(X, np.sin(3 * X[:, 0]), draws=2)
    >>> list(found.at([40, 160]).columns)
    ['n', 'rmse', 'low', 'high']
    """
    from threadpoolctl import threadpool_limits

    seed = seed_of(rng)
    effort = Effort.of(effort, draws)
    with threadpool_limits(1), Progress(progress, "%") as shown:
        shown.expect(100, 0)
        if hasattr(X, "kernel") and hasattr(X, "predict"):
            from gpcurves.forecasting.fixed import forecast_fixed

            if y is not None:
                raise InputError("a fitted regressor has its own rows: give no y with it")
            return forecast_fixed(X, seed, pool, effort, shown)
        if y is None and hasattr(X, "predict"):
            raise InputError(
                f"only a GaussianProcessRegressor is taken as it is, got {type(X).__name__}: give X and y, or use "
                "LearningCurveForecast.from_estimator for a pipeline that ends with one"
            )
        if y is None:
            raise InputError("y is needed: the target, one number per row of X, or the name of its column")
        generator = np.random.default_rng(seed)
        if isinstance(X, str | Path) or hasattr(X, "columns"):
            data = _of_table(X, y, seed, pool, features, drop, missing, effort)
        elif features is not None or drop is not None or missing != "drop":
            raise InputError("features, drop and missing are for tables: give a pandas DataFrame or a file")
        else:
            data = standardise_arrays(X, y, pool, generator, effort.most_rows)
        if deterministic:
            _check_function(data)
        found = drawn(peaks(data, deterministic), generator, effort, shown)
        return forecast_of(data, found, seed, generator, effort, shown)


def _of_table(
    X: Any,
    y: Any,
    seed: int,
    pool: Any,
    features: Sequence[str] | None,
    drop: Sequence[str] | None,
    missing: Literal["drop", "impute"],
    effort: Effort,
) -> Rows:
    import pandas as pd

    from gpcurves.tables.files import read_table
    from gpcurves.tables.preparing import prepare

    table, unlabelled = (read_table(part) if isinstance(part, str | Path) else part for part in (X, pool))
    if isinstance(y, str):
        target = y
    else:
        target = find_name(y)
        while target in table.columns:
            target += "*"
        values = np.asarray(y)
        if values.ndim == 2 and values.shape[1] == 1:
            values = values[:, 0]
        if values.shape != (len(table),):
            raise InputError(f"X and y must have as many rows as each other, got {len(table)} and {len(values)}")
        table = table.assign(**{target: values})
    if unlabelled is not None and not hasattr(unlabelled, "columns"):
        unlabelled = pd.DataFrame(np.asarray(unlabelled), columns=[c for c in table.columns if c != target])
    found = prepare(
        table,
        target,
        features=features,
        drop=drop,
        pool=unlabelled,
        missing=missing,
        rng=seed,
        most_rows=effort.most_rows,
    )
    return standardise_table(found)


def _check_function(data: Rows) -> None:
    """Refuse to take a target as noise-free if rows with equal inputs have different ones."""
    place = np.unique(data.X, axis=0, return_inverse=True)[1].reshape(-1)
    means = np.bincount(place, weights=data.y) / np.bincount(place)
    differ = int((np.abs(data.y - means[place]) > _SAME_TARGET).sum())
    if differ:
        raise InputError(
            f"the target {data.target!r} is not deterministic: {differ:,} rows have the inputs of another row, but not its target"
        )


@dataclass(frozen=True)
class Fit:
    """What the rows say about the hyperparameters.

    Attributes
    ----------
    densities
        The posterior density of each covariance function.
    posteriors
        Draws from each.
    odds
        The probability of each covariance function.
    """

    densities: list[LogPosterior]
    posteriors: list[Posterior]
    odds: FloatArray


def peaks(data: Rows, deterministic: bool) -> list[Peak]:
    """Return the most probable hyperparameters of each covariance function; this needs no random numbers."""
    noise = NOISELESS if deterministic else None
    prior = Prior.default(data.X.shape[1])
    return [_peak(LogPosterior(Evidence(family, data.X, data.y), prior, noise)) for family in FAMILIES]


def odds(found: Sequence[Peak]) -> FloatArray:
    """Return the probability of each covariance function."""
    evidence = np.array([peak.log_evidence for peak in found])
    chances = np.exp(evidence - evidence.max())
    return np.asarray(chances / chances.sum())


def drawn(found: Sequence[Peak], rng: np.random.Generator, effort: Effort, shown: Progress) -> Fit:
    """Draw from the posterior around its modes."""
    posteriors = []
    for peak in found:
        rows = len(peak.density.evidence.y)
        # many rows pin the hyperparameters down, so that shorter chains do
        many = math.ceil(
            effort.draws * min(effort.most_draws, max(1.0, 200 / rows))
        )  # few rows leave room for quite different curves
        evaluations = math.ceil(effort.draws * effort.evaluations / rows * min(1.0, math.sqrt(200 / rows)))
        posteriors.append(sample(peak, many, evaluations, rng, _stage(shown, 40)))
    return Fit([peak.density for peak in found], posteriors, odds(found))


def _stage(shown: Progress, units: int) -> Callable[[float], None]:
    """Return a function that is told which share of a stage is done, and advances the progress by so many units in all."""
    told = 0

    def done(share: float) -> None:
        nonlocal told
        now = int(units * share)
        if now > told:
            shown.advance(now - told)
            told = now

    return done


def _peak(density: LogPosterior) -> Peak:
    """Find the mode of one family; where there are many rows, starting from the mode for a part of them."""
    X, y = density.evidence.X, density.evidence.y
    first = starts(X[:_WARM], y[:_WARM])
    if len(y) > _WARM:
        part = LogPosterior(Evidence(density.family, X[:_WARM], y[:_WARM]), density.prior, density.fixed_noise)
        first = [part.mode(first, 100)]
    return Peak.of(density, first)


def forecast_of(
    data: Rows, found: Fit, seed: int, rng: np.random.Generator, effort: Effort, shown: Progress
) -> Forecast:
    """Forecast from rows and what they say about the hyperparameters."""
    models = [Model.of(p.family, theta) for p in found.posteriors for theta in p.draws]
    weights = np.concatenate(
        [np.full(len(p.draws), o / len(p.draws)) for p, o in zip(found.posteriors, found.odds, strict=True)]
    )
    categories = [places for places in data.columns.groups.values() if len(places) > 1]
    population: Population = Copula(data.X, categories, data.y) if data.pool is None else Pool(data.pool)
    observed = cross_validate(found.densities, [p.mode for p in found.posteriors], rng)
    shown.advance(10)
    relevance = relevance_of(data.X, data.columns, found.posteriors, weights)
    deterministic = found.densities[0].fixed_noise is not None
    notes = ("The target was taken as a function of the inputs without noise.",) if deterministic else ()
    return assembled(
        data, models, weights, population, observed, relevance, notes, seed, rng, effort, shown, deterministic
    )


def assembled(
    data: Rows,
    models: Sequence[Model],
    weights: FloatArray,
    population: Population,
    observed: CrossValidation,
    relevance: Relevance | None,
    notes: tuple[str, ...],
    seed: int,
    rng: np.random.Generator,
    effort: Effort,
    shown: Progress,
    deterministic: bool = False,
) -> Forecast:
    """Simulate the learning curves of the models and bring them to the level that cross-validation shows."""
    fitted = len(data.y)
    curves = _simulated(models, population, fitted, rng, effort)
    if relevance is not None:  # the noise of a model taken as it is stays as it is
        curves = [replace(curve, fade=fading(curve.noise), since=fitted) for curve in curves]
    outlying, unusual = _outlying(data, math.sqrt(observed.mse[-1]))
    at = np.array([observed.n[-1]])
    expected = float(weights @ np.log([curve(at)[0] for curve in curves]))
    level = LEVEL * (float(np.log(observed.mse[-1])) - expected)
    end = np.array([float(HORIZON * data.usable)])
    noise = float(weights @ np.log([curve.noise_at(end)[0] for curve in curves]))
    units = CrossValidation(observed.n, observed.mse * data.scale**2, observed.stderr)
    shown.advance(5)
    saving = _saving(models[int(np.argmax(weights))], data.X, population, rng, effort)
    shown.advance(5)
    return Forecast(
        target=data.target,
        rows=data.usable,
        fitted_rows=fitted,
        columns=len(data.columns.groups),
        noise_rmse=data.scale * float(np.exp(0.5 * (noise + level))),
        cross_validation=units,
        power_law=PowerLaw.fit(units),
        relevance=relevance,
        steps=data.steps,
        notes=(*notes, *unusual),
        seed=seed,
        curves=tuple(curves),
        weights=weights,
        level=level,
        scale=data.scale,
        saving=saving,
        deterministic=deterministic,
        outlying=outlying,
    )


def _outlying(data: Rows, rmse: float) -> tuple[float, list[str]]:
    """Return how far out the hundredth part of the rows is, if models do not foresee it, and a note if that is far."""
    distance = np.abs(data.y - np.median(data.y))
    order = np.argsort(distance)
    few = furthest(len(order))
    others = float(data.y[order[:-few]].std())
    if rmse < others:  # the error of guessing, were it not for those rows
        return 0.0, []
    away = float(np.sqrt(np.mean(distance[order[-few:]] ** 2)))
    outlying = away / others if others > 0 else math.inf
    value = data.mean + data.scale * data.y[order[-1]]
    note = f"The target is {value:.4g} in the row furthest out; the others vary by {data.scale * others:.3g}."
    return outlying, [note] if outlying > FAR_OUT else []


def _simulated(
    models: Sequence[Model], population: Population, rows: int, rng: np.random.Generator, effort: Effort
) -> list[ErrorCurve]:
    """Simulate one learning curve for each model, on inputs drawn anew every few models."""
    size = max(min(16 * rows, effort.simulated_rows), (4 * rows) // 3)
    curves = []
    for place, model in enumerate(models):
        if place % _SAME_INPUTS == 0:
            X, test = population.draw(size, rng), population.draw(effort.test_inputs, rng)
        curves.append(model.simulate(X, test))
    return curves


def _saving(
    model: Model, known: FloatArray, population: Population, rng: np.random.Generator, effort: Effort
) -> FloatArray:
    """Return what chosen further inputs leave of the removable error, relative to random ones, after 0, 1, … of them."""
    counts = (effort.candidates, effort.test_inputs, effort.test_inputs)
    candidates, reference, test = (population.draw(count, rng) for count in counts)
    chosen = greedy(model, known, candidates, reference, test, effort.chosen)
    others = [np.concatenate((known, population.draw(effort.chosen, rng))) for _ in range(_RANDOM)]
    random = [model.simulate(X, test).error[len(known) :] for X in others]
    count = min(len(chosen), *map(len, random))
    return np.asarray(np.minimum(1.0, chosen[:count] / np.mean([error[:count] for error in random], axis=0)))
