"""From the question as people ask it (rows as arrays, as a table or in a file, or a fitted regressor) to a forecast."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from threadpoolctl import threadpool_limits

from gpcurves.errors import InputError
from gpcurves.forecasting.calibration import NOISELESS, TABLES, TRUSTED
from gpcurves.forecasting.choosing import Chooser
from gpcurves.forecasting.crossvalidation import CrossValidation, PowerLawFit, cross_validate, hold_out, measure_tails
from gpcurves.forecasting.effort import Computation, ForecastEffort, choose_effort
from gpcurves.forecasting.error_curve import measure_savings, simulate_curve
from gpcurves.forecasting.evidence import JITTER
from gpcurves.forecasting.intervals import PosteriorCurves, fading
from gpcurves.forecasting.posterior import Draws, Member, draw_problems, find_members
from gpcurves.forecasting.prediction import Predictor
from gpcurves.forecasting.regression import Mixture, mix
from gpcurves.forecasting.relevance import Relevance
from gpcurves.forecasting.repeats import measure_repeatability
from gpcurves.forecasting.result import Forecast
from gpcurves.forecasting.sources import (
    check_function,
    is_graph,
    is_model,
    read_rows,
    recognise_array,
    refuse_choices,
    refuse_for_classes,
)
from gpcurves.forecasting.traits import UNKNOWN, measure_traits
from gpcurves.forecasting.units import ROWS, Unit, name_groups
from gpcurves.forecasting.verdict import FAR_OUT, count_extreme, warn, warn_of_tails
from gpcurves.forecasting.warping import NoWarp, Warped
from gpcurves.inputs import Copula, Inputs, Pool
from gpcurves.kernels import Kernel
from gpcurves.kernels.stationary import Stationary
from gpcurves.montecarlo import Rng, seed_of
from gpcurves.montecarlo.progress import Progress
from gpcurves.numerics.validation import FloatArray
from gpcurves.problem import Problem
from gpcurves.tables import rows as reading
from gpcurves.tables.frames import is_table
from gpcurves.tables.preparing import Missing, Names, Task
from gpcurves.tables.rows import FEWEST_ROWS, Columns, Rows, draw_whole

_REPEATS = 4  # learning curves, each on inputs of its own, of a model that is taken as it is
_PAIRS = 150  # rows of which all pairs are compared to measure the relevance of inputs


def forecast(  # noqa: PLR0913  (what a person may say about a table, by keyword)
    X: Any,
    y: Any = None,
    *,
    rng: Rng = 0,
    pool: Any = None,
    deterministic: bool = False,
    features: Names = None,
    drop: Names = None,
    missing: Missing = "auto",
    groups: Any = None,
    noise: Any = None,
    attributes: Any = None,
    task: Task | None = None,
    draws: int | None = None,
    effort: ForecastEffort | None = None,
    progress: bool | None = None,
) -> Forecast:
    """Forecast the error of a Gaussian process trained on more rows like these.

    Parameters
    ----------
    X
        Inputs: an array of numbers, one row per example; a table (pandas, polars, Arrow), whose texts become categories and
        whose identifiers are left out; the name of a CSV, TSV, Excel or Parquet file; a fitted ``GaussianProcessRegressor``
        of scikit-learn, whose kernel and hyperparameters are kept; or a graph (`Graph`, or one of NetworkX).
    y
        The target, one number or class per row, or the name of its column (of a table, a number may be one); not given with a
        fitted regressor. With a graph, labels: a mapping or a Series from vertex to value; n is then the number of labels.
    rng
        Seed: the same seed gives the same answer.
    pool
        Unlabelled inputs from which further rows will be drawn; without it they are drawn from a copula fitted to X.
    deterministic
        The target is a function of the inputs without noise.
    features, drop
        Columns of a table to use, or not to use.
    missing
        Rows of a table with a missing input: "drop" them, "impute" the input, or "auto": drop them if they are few.
    groups
        Column of a table that identifies groups of related rows, such as patients. n then counts groups, and the forecast
        is for new groups.
    noise
        The column of a table with the standard error of each target, if these are known; with a graph, a mapping or a
        Series like the labels.
    attributes
        With a graph: attributes of every vertex, as for `GraphRegressor`.
    task
        "numbers" or "classes", if it cannot be seen from the target: texts, true and false, two values, and the integers up to 2 or
        from 1 to 3 are taken as classes, other numbers as numbers.
    draws
        Number of posterior draws of the hyperparameters (default 16); fewer are faster and less accurate.
    effort
        Further settings of the computational effort, besides ``draws``.
    progress
        Whether to show progress on stderr; None shows it on a terminal and in notebooks.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(-1, 1, (40, 2))
    >>> result = gpc.forecast(X, np.sin(3 * X[:, 0]), draws=2)
    >>> list(result.at([40, 160]).columns)
    ['n', 'rmse', 'low', 'high']
    """
    seed, effort = seed_of(rng), choose_effort(effort, draws)
    with threadpool_limits(1), Progress(progress, "%") as shown:
        shown.expect(100, 0)
        computation = Computation(seed, np.random.default_rng(seed), effort, shown)
        if is_graph(X):
            refuse_choices(
                features=features,
                drop=drop,
                groups=groups,
                pool=pool,
                draws=draws,
                missing=None if missing == "auto" else missing,
                deterministic=deterministic or None,
            )
            from gpcurves.forecasting.networks.assembly import forecast_graph  # tables do not need it

            return forecast_graph(X, y, computation, noise, attributes, task)
        if attributes is not None:
            raise InputError("attributes are for graphs: all columns of a table are inputs already")
        if is_model(X, y):
            return forecast_regressor(X, pool, computation)
        if isinstance(X, str | Path) or is_table(X):
            choices = {"features": features, "drop": drop, "missing": missing, "groups": groups, "noise": noise}
            rows = read_rows(X, y, pool, computation, task=task, **choices)
        elif any(each is not None for each in (features, drop, groups, noise)) or missing != "auto":
            raise InputError("features, drop, missing, groups and noise are for tables: give a table or a file")
        elif isinstance(y, str | numbers.Number):
            raise InputError(
                f"y must be one number per row, got {y!r}: column names need a table, and X is not a table"
            )
        else:
            classes, said = recognise_array(y, task)
            rows = reading.standardise_arrays(X, y, pool, computation.rng, effort.most_rows, classes=classes)
            rows = replace(rows, steps=(*said, *rows.steps))
        if rows.classes:
            refuse_for_classes(deterministic=deterministic or None, noise=noise)
            from gpcurves.forecasting.classes.assembly import forecast_classes  # numbers do not need it

            return forecast_classes(rows, computation)
        if deterministic:
            check_function(rows)
        return forecast_rows(rows, fit_members(rows, effort.fitted_rows, deterministic), computation, deterministic)


def fit_members(rows: Rows, most_rows: int, deterministic: bool = False) -> list[Member]:
    """Return the members of the model at their most probable hyperparameters, given at most so many rows."""
    pick = _thin(rows, most_rows)
    errors = None if rows.errors is None else rows.errors[pick]
    groups = None if rows.groups is None or deterministic else rows.groups[pick]
    return find_members(rows.X[pick], rows.columns.blocks, rows.level[pick], errors, deterministic, groups)


def _thin(rows: Rows, most_rows: int) -> npt.NDArray[np.int64]:
    """Return the positions of at most so many rows, drawn at random, in whole groups if they come in groups."""
    count, rng = len(rows.y), np.random.default_rng(1)
    if count <= most_rows:
        return np.arange(count)
    if rows.groups is not None:
        return draw_whole(rows.groups, most_rows, rng)
    return np.sort(rng.permutation(count)[:most_rows])


@dataclass(frozen=True)
class FittedRows:
    """Rows, draws of the problems that they may come from, and what else was learnt from them."""

    rows: Rows
    draws: Draws
    observed: CrossValidation  # of standardised targets
    relevance: Relevance | None  # None if the user's own model is taken as it is
    notes: tuple[str, ...]
    deterministic: bool = False
    predictor: Predictor | None = None  # None if the user's own model is taken as it is


def forecast_rows(rows: Rows, members: list[Member], computation: Computation, deterministic: bool = False) -> Forecast:
    """Forecast from rows, starting at the most probable hyperparameters of each member."""
    groups = None if deterministic else rows.groups  # all of a function without noise follows from the inputs
    mixture = mix(members, rows.X, rows.level, rows.errors, groups)
    fit = fit_rows(rows, members, mixture, computation, deterministic)
    return assemble(fit, simulate_posterior(fit, computation), computation)


def fit_rows(
    rows: Rows, members: list[Member], mixture: Mixture, computation: Computation, deterministic: bool = False
) -> FittedRows:
    """Draw from the posterior over problems, and cross-validate."""
    inputs = find_inputs(rows)
    draws = draw_problems(members, mixture.weights, inputs, computation)
    computation.progress.advance(40)
    thin = _thin(rows, computation.effort.fitted_rows)
    observed = cross_validate(
        members,
        mixture.weights,
        np.random.default_rng(0),  # the same splits for every seed: what another seed changes is all in the draws
        None if rows.groups is None else rows.groups[thin],
        mixture.guess,
    )
    if len(thin) < len(rows.y) and rows.groups is None:
        observed = observed.extended(len(rows.y) - 1, (mixture.left_out - rows.level) ** 2)
    observed = replace(observed, tails=measure_tails(mixture.left_out - rows.level))
    computation.progress.advance(30)
    relevance = measure_relevance(rows, draws.problems, draws.weights)
    notes: tuple[str, ...] = ()
    if deterministic:
        notes += ("The target was treated as a noise-free function of the inputs.",)
    if rows.groups is not None:
        notes += (unit_of(rows).describe_groups(rows.usable, rows.rate),)
    return FittedRows(rows, draws, observed, relevance, notes, deterministic, Predictor(rows, mixture))


def measure_relevance(rows: Rows, problems: Sequence[Problem], weights: FloatArray) -> Relevance:
    r"""Read off the hyperparameters what each input contributes, on average over problems with their probabilities.

    If input i were not known, a function from the prior would vary by the average of its variance less that of the covariance of
    two rows, while all other inputs stay as they are. The share of an input is this in proportion to the sum over inputs.
    """
    X, groups = rows.X, rows.columns.groups
    logs = weights @ np.log([_lengthscales(problem) for problem in problems])
    effects = np.array([[_effect(problem.kernel, X[:_PAIRS], at) for at in groups.values()] for problem in problems])
    share = weights @ (effects / effects.sum(axis=1, keepdims=True))
    shortest = [positions[int(np.argmin(logs[positions]))] for positions in groups.values()]
    lengthscales = np.exp(logs[shortest])
    plain = [
        len(at) == 1 and len(np.unique(X[:, at[0]])) > 2 and not rows.columns.bends[at[0]] for at in groups.values()
    ]
    units = np.where(plain, lengthscales * rows.columns.deviations[shortest], np.nan)
    return Relevance(tuple(groups), lengthscales, units, share)


def _lengthscales(problem: Problem) -> float | tuple[float, ...]:
    """Return those of the part of the covariance that depends on distances."""
    (stationary,) = (term for term in problem.kernel.terms if isinstance(term, Stationary))
    return stationary.lengthscale


def _effect(kernel: Kernel, X: FloatArray, positions: list[int]) -> float:
    """Return the variance along some columns, the others being equal."""
    alone = np.zeros_like(X)
    alone[:, positions] = X[:, positions]
    return float(kernel.diag(alone).mean() - kernel(alone).mean())


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
        raise InputError("the kernel of the regressor is pure noise: there is nothing to learn")
    variance = signal.diag(regressor.X_train_)
    noise = float(np.mean(regressor.kernel_.diag(regressor.X_train_) - variance + regressor.alpha))
    if pool is not None:
        unlabelled = _read_pool(pool, rows)
        table = pd.DataFrame(unlabelled, columns=list(rows.columns.sources))
        rows = replace(rows, pool=unlabelled, pool_rows=np.arange(len(unlabelled)), pool_table=table)
    inputs = Copula(rows.X) if rows.pool is None else Pool(rows.pool)
    problem = Problem(from_sklearn(signal), inputs, max(noise, JITTER * float(np.mean(variance))))
    observed = hold_out(problem, rows.X, rows.y, computation.rng)
    plain = Warped(NoWarp(rows.y), np.empty(0), 0.0, 1.0)
    shares, noises = np.full(_REPEATS, 1 / _REPEATS), (problem.noise,) * _REPEATS
    draws = Draws((problem,) * _REPEATS, (plain,) * _REPEATS, shares, ((1,) * _REPEATS,), noises)
    note = "The hyperparameters are those of your regressor: the interval ignores their uncertainty."
    fit = FittedRows(rows, draws, observed, None, (note,))
    return assemble(fit, simulate_posterior(fit, computation), computation)


def _read_pool(pool: Any, rows: Rows) -> FloatArray:
    """Return unlabelled inputs for a regressor, on the scale of its own inputs."""
    unlabelled = reading.check_pool(pool, rows.X.shape[1])
    deviations = np.where(rows.columns.deviations > 0, rows.columns.deviations, 1.0)
    reading.check_distance((unlabelled - rows.columns.centres) / deviations, rows.columns.sources)
    return unlabelled


def _read_regressor(regressor: Any, computation: Computation) -> Rows:
    """Return the rows that a regressor was fitted to, on its own scale."""
    if "GaussianProcessRegressor" not in [kind.__name__ for kind in type(regressor).__mro__]:
        raise InputError(f"a forecast needs a fitted GaussianProcessRegressor, got a {type(regressor).__name__}")
    if not hasattr(regressor, "X_train_"):
        raise InputError("the regressor must be fitted: call its fit method first")
    X = reading.check_matrix("the inputs of the regressor", regressor.X_train_)
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
    X, y, steps = reading.draw_rows(X, y.reshape(-1), computation.effort.most_rows, computation.rng)
    dim = len(names)
    columns = Columns(names, tuple(range(dim)), (None,) * dim, X.mean(axis=0), X.std(axis=0))
    return Rows(X, y, None, columns, "y", mean, scale, usable, tuple(steps))


def simulate_posterior(fit: FittedRows, computation: Computation) -> PosteriorCurves:
    """Simulate one learning curve for each problem, on inputs drawn anew for each batch."""
    rows, effort = len(fit.rows.y), computation.effort
    drawn = zip(fit.draws.problems, fit.draws.warps, fit.draws.noises, strict=True)
    size = max(min(16 * rows, effort.simulated_rows), (4 * min(rows, effort.fitted_rows)) // 3)
    inputs = fit.draws.problems[0].inputs
    curves = []
    for batches, rng in zip(fit.draws.batches, computation.rng.spawn(len(fit.draws.batches)), strict=True):
        for count in batches:
            X, test = inputs.draw(size, rng), inputs.draw(effort.test_inputs, rng)
            curves += [
                simulate_curve(problem, X, test, warped, noise) for problem, warped, noise in islice(drawn, count)
            ]
    if fit.relevance is not None:  # the noise of a model taken as it is stays as it is
        curves = [replace(curve, fade=fading(curve.noise, fit.deterministic), since=rows) for curve in curves]
    computation.progress.advance(5)
    taken = fit.relevance is None  # as it is: a user's own model, which says what it expects of the target
    return PosteriorCurves(
        tuple(curves),
        fit.draws.weights,
        fit.draws.batches,
        fit.observed,
        fit.rows.usable,
        fit.rows.units,
        fit.rows.scale,
        fit.rows.rate,
        calibration=TRUSTED if taken else NOISELESS if fit.deterministic else TABLES,
        traits=UNKNOWN if taken else measure_traits(fit.rows, fit.deterministic),
    )


def assemble(fit: FittedRows, curves: PosteriorCurves, computation: Computation) -> Forecast:
    """Bring learning curves to the level that cross-validation shows, and add all that a forecast says besides."""
    rows, observed = fit.rows, fit.observed
    outlying, notes = _find_outliers(rows, math.sqrt(observed.mse[-1]))
    tails = warn_of_tails(curves.traits.heavy, positive=bool(rows.level.min() > 0))
    notes += [warning for warning in (warn(curves.gap, unit_of(rows)), tails) if warning is not None]
    if (resolved := min(curve.resolved for curve in curves.curves)) < math.inf:
        notes.append(
            f"From about {resolved:,} rows on double precision does not resolve the error of all likely models: "
            "the forecast is an upper limit there."
        )
    likeliest = fit.draws.problems[int(np.argmax(fit.draws.weights))]
    remaining = np.ones(1)  # inputs are chosen row by row, which says nothing about groups
    if rows.groups is None:
        remaining = measure_savings(likeliest, rows.X[_thin(rows, computation.effort.fitted_rows)], computation)
    computation.progress.advance(5)
    units = observed.in_units(rows.scale)
    # rows of a group agree for another reason than little noise
    alone = not fit.deterministic and rows.groups is None
    repeatability = measure_repeatability(rows.X, rows.y) if alone else None
    known = None if rows.errors is None else rows.scale * math.sqrt(float(np.mean(rows.errors**2)))
    return Forecast(
        target=rows.target,
        rows=rows.usable,
        fitted_rows=len(rows.y),
        columns=len(rows.columns.groups),
        band=curves.make_band(),
        floor=curves.noise_rmse,
        remaining=remaining,
        outlying=outlying,
        cross_validation=units,
        power_law=PowerLawFit.fit(units),
        relevance=fit.relevance,
        deterministic=fit.deterministic,
        steps=rows.steps,
        notes=(*fit.notes, *notes),
        seed=computation.seed,
        deviation=rows.scale * float(rows.y.std()),
        mean_absolute=float(np.abs(rows.mean + rows.scale * rows.y).mean()),
        repeatability=None if repeatability is None else rows.scale * repeatability,
        known_noise=known,
        gap=curves.gap,
        left_out=dict(rows.dropped),
        predictor=fit.predictor,
        chooser=make_chooser(rows, likeliest, computation.seed, own_scale=fit.relevance is None),
        group=unit_of(rows).group,
    )


def unit_of(rows: Rows) -> Unit:
    """Return what n counts."""
    return ROWS if rows.groups is None else Unit(group=name_groups(rows.group_column))


def make_chooser(rows: Rows, likeliest: Problem, seed: int, *, own_scale: bool = False) -> Chooser:
    """Return what chooses further rows, from the pool if there is one; ``own_scale`` if inputs are in their own units."""
    in_units = partial(pd.DataFrame, columns=list(rows.columns.sources)) if own_scale else rows.in_units
    if rows.pool is None or rows.pool_table is None or rows.pool_rows is None:
        return Chooser(likeliest, rows.X, in_units, seed)
    table = rows.pool_table.iloc[rows.pool_rows]
    return Chooser(likeliest, rows.X, in_units, seed, table, rows.pool, rows.pool_rows + 1)


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
