"""What labels on a graph show directly: errors at some of them, predicted from others, with kernels weighed anew each time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gpcurves.forecasting.crossvalidation import CrossValidation, measure_shape
from gpcurves.forecasting.networks.candidates import Candidate
from gpcurves.forecasting.networks.evidence import Setting
from gpcurves.forecasting.networks.observed import Observed
from gpcurves.forecasting.networks.posterior import find_posterior
from gpcurves.forecasting.networks.simple import LabelPropagation, find_share
from gpcurves.numerics.validation import FloatArray

_SHARES = (0.25, 0.5, 0.9)
_SMALLEST = 5
_SPLITS = {0.25: 12, 0.5: 12}
_FOLDS, _REPEATS, _WORK = 10, 4, 200  # folds, repeats of them for few labels, and repeats times labels
_Places = npt.NDArray[np.intp]


def cross_validate(
    candidates: Sequence[Candidate],
    observed: Observed,
    settings: Sequence[Setting],
    propagation: LabelPropagation | None,
    rng: np.random.Generator,
) -> CrossValidation:
    """Return errors at labelled vertices that were held out, after training on a quarter, a half and nine tenths of them."""
    count = len(observed.vertices)
    sizes, errors, scatter = [], [], []
    squares: FloatArray = np.empty(0)
    for share in _SHARES:
        if round(share * count) < _SMALLEST:
            continue
        parts = _draw_splits(count, share, rng)
        residuals = [_hold_out(candidates, observed, settings, propagation, part) for part in parts]
        place = np.concatenate([part for _, part in parts])
        squares = np.concatenate(residuals) ** 2
        sizes.append(float(round(share * count)))
        errors.append(float(squares.mean()))
        sums = np.bincount(place, squares - errors[-1])  # repetitions at one vertex count once
        scatter.append(float(np.sqrt((sums**2).sum()) / len(place)))
    return CrossValidation(
        np.array(sizes), np.array(errors), np.array(scatter), *measure_shape(squares, len(observed.vertices))
    )


def _draw_splits(count: int, share: float, rng: np.random.Generator) -> list[tuple[_Places, _Places]]:
    """Return places to train on and places to test; nine tenths are ten folds."""
    if share in _SPLITS:
        orders = [rng.permutation(count) for _ in range(_SPLITS[share])]
        size = round(share * count)
        return [(np.sort(order[:size]), order[size:]) for order in orders]
    repeats = int(np.clip(_WORK // count, 1, _REPEATS))
    folds = [fold for _ in range(repeats) for fold in np.array_split(rng.permutation(count), min(_FOLDS, count))]
    return [(np.setdiff1d(np.arange(count), fold), fold) for fold in folds]


def _hold_out(
    candidates: Sequence[Candidate],
    observed: Observed,
    settings: Sequence[Setting],
    propagation: LabelPropagation | None,
    split: tuple[_Places, _Places],
) -> FloatArray:
    train, test = split
    posterior = find_posterior(candidates, observed, settings, train)
    predicted = sum(
        member.weight * member.solution.predict(member.candidate.block[np.ix_(test, train)], np.ones(len(test)))[0]
        for member in posterior.members
    )
    if propagation is not None:
        share = find_share(observed.means[train], posterior.leave_out()[0], propagation.leave_out_of(train, test))
        predicted = share * predicted + (1 - share) * propagation.predict(train, test)
    return np.asarray(observed.means[test] - predicted)
