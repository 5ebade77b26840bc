"""From data to a forecast: fit, draw hyperparameters, simulate their learning curves, compare with cross-validation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gpcurves.engine.seeds import Rng, seed_of
from gpcurves.errors import InputError
from gpcurves.planning.calibration import LEVEL, fading
from gpcurves.planning.crossvalidation import CrossValidation, PowerLaw, cross_validate
from gpcurves.planning.curves import ErrorCurve, Model
from gpcurves.planning.data import Data, standardised
from gpcurves.planning.design import greedy
from gpcurves.planning.evidence import FAMILIES, Evidence
from gpcurves.planning.population import Copula, Pool, Population
from gpcurves.planning.posterior import NOISELESS, LogPosterior, Posterior, Prior, sample, starts
from gpcurves.planning.result import HORIZON, Forecast, Relevance
from gpcurves.validation import FloatArray

LARGEST_FIT = 1_500
_WARM = 400
"""More rows than this are fitted starting from a fit to so many."""
_DRAWS = 16
_EVALUATIONS = 200_000
"""Evaluations of the posterior density per chain, times rows."""
_TEST = 250
_LARGEST_FACTOR = 1_200
_SAME_INPUTS = 4
"""So many learning curves share their training and test inputs."""
_DESIGNED, _CANDIDATES = 200, 500


def forecast(X: Any, y: Any = None, *, rng: Rng = 0, pool: Any = None, deterministic: bool = False) -> Forecast:
    """Forecast the error of a Gaussian process trained on more rows like these.

    Parameters
    ----------
    X
        Inputs: an array or a table of numbers, one row per example; or a fitted ``GaussianProcessRegressor`` of
        scikit-learn, which is taken as it is.
    y
        The target, one number per row; not given with a fitted regressor.
    rng
        Seed: the same seed gives the same answer.
    pool
        Unlabelled inputs from which further rows would come; without it they are drawn from a copula fitted to X.
    deterministic
        The target is a function of the inputs without noise.
    """
    from threadpoolctl import threadpool_limits

    seed = seed_of(rng)
    with threadpool_limits(1):
        if hasattr(X, "kernel") and hasattr(X, "predict"):
            from gpcurves.planning.fixed import forecast_fixed

            if y is not None:
                raise InputError("a fitted regressor has its own rows: give no y with it")
            return forecast_fixed(X, seed, pool)
        if y is None:
            raise InputError("y is needed: the target, one number per row of X")
        return _forecast(standardised(X, y, pool), seed, deterministic)


def _forecast(data: Data, seed: int, deterministic: bool) -> Forecast:
    rng = np.random.default_rng(seed)
    rows, dim = data.X.shape
    pick = np.sort(rng.permutation(rows)[:LARGEST_FIT])
    X, y = data.X[pick], data.y[pick]
    notes = data.notes
    if len(y) < rows:
        notes += (f"fitted to {len(y)} of the {rows} rows, drawn at random",)
    noise = NOISELESS if deterministic else None
    densities = [LogPosterior(Evidence(family, X, y), Prior.default(dim), noise) for family in FAMILIES]
    posteriors = [_posterior(density, rng) for density in densities]
    population: Population = Copula(X) if data.pool is None else Pool(data.pool)
    models = [Model.of(p.family, theta) for p in posteriors for theta in p.draws]
    evidence = np.array([p.log_evidence for p in posteriors])
    odds = np.exp(evidence - evidence.max())
    weights = np.repeat(odds / odds.sum(), _DRAWS) / _DRAWS
    lengthscales = np.exp(weights @ np.concatenate([p.draws for p in posteriors])[:, 1:-1])
    return assembled(
        data,
        models,
        weights,
        population,
        cross_validate(densities, [p.mode for p in posteriors], rng),
        Relevance(data.names, lengthscales, lengthscales**-2 / (lengthscales**-2).sum()),
        notes,
        seed,
        rng,
    )


def _posterior(density: LogPosterior, rng: np.random.Generator) -> Posterior:
    """Sample the posterior of one family; where there are many rows, starting from the mode for a part of them."""
    X, y = density.evidence.X, density.evidence.y
    rows = len(y)
    first = starts(X[:_WARM], y[:_WARM])
    if rows > _WARM:
        part = LogPosterior(Evidence(density.family, X[:_WARM], y[:_WARM]), density.prior, density.fixed_noise)
        first = [part.mode(first, 100)]
    # many rows pin the hyperparameters down, so that shorter chains do
    evaluations = int(_EVALUATIONS / rows * min(1.0, math.sqrt(200 / rows)))
    return sample(density, first, _DRAWS, evaluations, rng)


def assembled(
    data: Data,
    models: Sequence[Model],
    weights: FloatArray,
    population: Population,
    observed: CrossValidation,
    relevance: Relevance | None,
    notes: tuple[str, ...],
    seed: int,
    rng: np.random.Generator,
) -> Forecast:
    """Simulate the learning curves of the models and bring them to the level that cross-validation shows."""
    fitted = int(min(len(data.y), LARGEST_FIT))
    curves = _simulated(models, population, fitted, rng)
    if relevance is not None:  # the noise of a model taken as it is stays as it is
        curves = [replace(curve, fade=fading(curve.noise), since=fitted) for curve in curves]
    at = np.array([observed.n[-1]])
    expected = float(weights @ np.log([curve(at)[0] for curve in curves]))
    level = LEVEL * (float(np.log(observed.mse[-1])) - expected)
    end = np.array([float(HORIZON * len(data.y))])
    noise = float(weights @ np.log([curve.noise_at(end)[0] for curve in curves]))
    units = CrossValidation(observed.n, observed.mse * data.scale**2, observed.stderr)
    return Forecast(
        rows=len(data.y),
        fitted_rows=fitted,
        columns=data.X.shape[1],
        noise_rmse=data.scale * float(np.exp(0.5 * (noise + level))),
        cross_validation=units,
        power_law=PowerLaw.fit(units),
        relevance=relevance,
        notes=notes,
        seed=seed,
        curves=tuple(curves),
        weights=weights,
        level=level,
        scale=data.scale,
        saving=_saving(models[int(np.argmax(weights))], population, rng),
    )


def _simulated(
    models: Sequence[Model], population: Population, rows: int, rng: np.random.Generator
) -> list[ErrorCurve]:
    """Simulate one learning curve for each model, on inputs drawn anew every few models."""
    size = max(min(16 * rows, _LARGEST_FACTOR), (4 * rows) // 3)
    curves = []
    for place, model in enumerate(models):
        if place % _SAME_INPUTS == 0:
            X, test = population.draw(size, rng), population.draw(_TEST, rng)
        curves.append(model.simulate(X, test))
    return curves


def _saving(model: Model, population: Population, rng: np.random.Generator) -> FloatArray:
    """Return what chosen inputs leave of the removable error, relative to random ones, after 0, 1, … rows."""
    candidates, reference, test = (population.draw(count, rng) for count in (_CANDIDATES, _TEST, _TEST))
    chosen = greedy(model, candidates, reference, test, _DESIGNED)
    random = model.simulate(population.draw(_DESIGNED, rng), test)
    count = min(len(chosen.error), len(random.error))
    return np.minimum(1.0, chosen.error[:count] / random.error[:count])
