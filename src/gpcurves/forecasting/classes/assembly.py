"""From rows with classes to a forecast of their error rate and log loss."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import beta
from threadpoolctl import threadpool_limits

from gpcurves.forecasting.assembly import find_inputs, make_chooser, measure_relevance, unit_of
from gpcurves.forecasting.class_errors import ClassErrors
from gpcurves.forecasting.classes.curves import expect
from gpcurves.forecasting.classes.intervals import RATE, ClassCurves
from gpcurves.forecasting.classes.members import ClassMember, ClassMixture, find_members, mix
from gpcurves.forecasting.classes.prediction import ClassPredictor
from gpcurves.forecasting.classes.validation import HeldOut, hold_out, summarise
from gpcurves.forecasting.crossvalidation import PowerLawFit
from gpcurves.forecasting.effort import Computation
from gpcurves.forecasting.result import Forecast
from gpcurves.numerics.validation import FloatArray
from gpcurves.tables.rows import Rows

_NO_BETTER = 0.95  # share of the error of always giving the most frequent class above which that is said
_FEW = 5  # rows of a class about whose error nothing is said without a warning


@dataclass(frozen=True, eq=False)
class FittedClasses:
    """Rows with classes, the classifier that has learnt from them, and how it did on rows held out."""

    rows: Rows
    members: tuple[ClassMember, ...]
    mixture: ClassMixture
    held_out: tuple[HeldOut, ...]
    curves: ClassCurves


def fit_classes(rows: Rows, computation: Computation) -> FittedClasses:
    """Learn from rows, hold some of them out, and find out what more rows would tell."""
    with threadpool_limits(1):
        rows_used = thin(rows, computation.effort.fitted_rows)
        labels = rows_used.labels
        members = find_members(rows_used.X, rows_used.columns.blocks, labels)
        mixture = mix(members, labels)
        computation.progress.advance(40)
        found = hold_out(members, mixture.weights, labels, computation.rng, rows_used.groups)
        computation.progress.advance(30)
        inputs, rate = find_inputs(rows_used), rows_used.rate
        expectations = expect(mixture, inputs, float(len(labels)), computation)
    shares = labels.mean(axis=0)
    # rows left out one by one are predicted by a little more rows than those of ten folds, and by chance of no split
    doubts = [1 - p.max(axis=1).mean() for p in (found[-1].probabilities, mixture.left_out)]
    entropies = [-np.sum(p * np.log(p), axis=1).mean() for p in (found[-1].probabilities, mixture.left_out)]
    curves = ClassCurves(
        observed=summarise(found, RATE.level[labels.shape[1] > 2]),
        expectations=expectations,
        expected=(float(np.mean(doubts)), float(np.mean(entropies))),
        chance=(1 - float(shares.max()), -float(np.sum(shares * np.log(shares)))),
        rows=rows.usable,
        fitted_rows=rows_used.units,
        classes=labels.shape[1],
        rate=rate,
    )
    return FittedClasses(rows_used, tuple(members), mixture, tuple(found), curves)


def thin(rows: Rows, most_rows: int) -> Rows:
    """Return at most so many rows, drawn at random."""
    if len(rows.y) <= most_rows:
        return rows
    pick = np.sort(np.random.default_rng(1).permutation(len(rows.y))[:most_rows])
    return rows.take(pick)


def forecast_classes(rows: Rows, computation: Computation) -> Forecast:
    """Forecast the error rate and the log loss with more rows."""
    fit = fit_classes(rows, computation)
    curves, observed = fit.curves, fit.curves.observed
    problems = [each.problem for each in curves.expectations.members]
    relevance = measure_relevance(fit.rows, problems, curves.expectations.weights)
    computation.progress.advance(20)
    names, counts = rows.classes, rows.labels.sum(axis=0)
    notes = _notes(rows, counts)
    if observed.rate[-1] > _NO_BETTER * curves.chance[0]:
        most = names[int(np.argmax(counts))]
        notes.append(
            f"The classifier is barely better than predicting {most!r} for every row, which is wrong in {100 * curves.chance[0]:.3g} % "
            "of your rows."
        )
    if len(fit.rows.y) < len(rows.y):
        notes.append(f"The classifier was trained on {len(fit.rows.y):,} of {len(rows.y):,} rows, drawn at random.")
    result = Forecast(
        target=rows.target,
        rows=rows.usable,
        fitted_rows=rows.units,
        columns=len(rows.columns.groups),
        band=curves.make_band(0),
        floor=curves.floor(0),
        remaining=np.ones(1),
        outlying=0.0,
        cross_validation=observed,
        power_law=PowerLawFit.fit(observed),
        relevance=relevance,
        deterministic=False,
        steps=rows.steps,
        notes=tuple(notes),
        seed=computation.seed,
        deviation=1.0,
        mean_absolute=1.0,
        left_out=dict(rows.dropped),
        predictor=ClassPredictor(fit.rows, fit.mixture),
        chooser=make_chooser(rows, curves.expectations.likeliest, computation.seed),
        classes=ClassErrors(
            names, counts, *count_mistakes(fit.held_out[-1]), loss=curves.make_band(1), floor_loss=curves.floor(1)
        ),
        group=unit_of(rows).group,
    )
    computation.progress.advance(10)
    return result


def count_mistakes(held_out: HeldOut) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the share of rows of each class that were predicted wrongly, with the ends of a 90 % interval.

    The share has a beta distribution, with half a mistake and half a success added (Jeffreys' prior).
    """
    repeats = len(held_out.unit) / len(
        np.unique(held_out.unit)
    )  # a row that was held out twice, or a group, counts once
    wrong = held_out.labels.T @ held_out.wrong / repeats
    right = held_out.labels.sum(axis=0) / repeats - wrong
    low, high = (beta.ppf(end, wrong + 0.5, right + 0.5) for end in (0.05, 0.95))
    return (wrong + 0.5) / (wrong + right + 1), low, high


def _notes(rows: Rows, counts: FloatArray) -> list[str]:
    notes = []
    if rows.groups is not None:
        notes.append(unit_of(rows).describe_groups(rows.usable, rows.rate))
    few = [
        f"{name!r} ({int(count)})" for name, count in zip(rows.classes, counts.tolist(), strict=True) if count < _FEW
    ]
    if few:
        if len(few) == 1:
            which, whose = f"The class {few[0].split(' (')[0]} has fewer than {_FEW} rows", "Its error rate"
        else:
            which, whose = f"Classes with fewer than {_FEW} rows: {', '.join(few)}", "Their error rates"
        notes.append(f"{which}. {whose} cannot be estimated from so few rows.")
    notes.append(
        "The error rate is for predicting the most likely class of every new row, and the log loss is that of "
        "the predicted probabilities; all mistakes count equally."
    )
    return notes
