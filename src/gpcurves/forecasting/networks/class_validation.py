"""What classes on a graph show directly: mistakes at some labels, predicted from others, with kernels weighed anew each time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.stats import beta

from gpcurves.forecasting.crossvalidation import ClassValidation
from gpcurves.forecasting.networks.class_labels import ClassLabels
from gpcurves.forecasting.networks.class_mixture import PropagatedClasses, mix, weigh_parts
from gpcurves.forecasting.networks.class_posterior import weigh
from gpcurves.forecasting.networks.classifier import GraphClassifier
from gpcurves.numerics.validation import FloatArray

_SHARES = (0.25, 0.5, 0.9)
_SMALLEST = 5
_SPLITS = {0.25: 8, 0.5: 8}
_FOLDS, _REPEATS, _WORK = 10, 2, 80  # folds, repeats of them for few labels, and repeats times labels
_WEIGHED = 12  # covariances with variances that are weighed anew
_TRUSTED = 2.0  # labels that what probabilities themselves expect counts for, so that no error rate is 0
_LEAST = 1e-3
_Places = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class HeldOutLabels:
    """Probabilities (a row each) at places of labelled vertices that were held out, some of them several times."""

    places: _Places
    probabilities: FloatArray
    counts: FloatArray

    @property
    def wrong(self) -> FloatArray:
        """The share of wrong labels at each place."""
        likeliest = self.probabilities.argmax(axis=1)
        right = self.counts[np.arange(len(likeliest)), likeliest]
        return np.asarray(1 - right / self.counts.sum(axis=1))

    @property
    def losses(self) -> FloatArray:
        """Minus the mean logarithm of the probability of the labels at each place."""
        logs = self.counts * np.log(np.maximum(self.probabilities, _LEAST))
        return np.asarray(-logs.sum(axis=1) / self.counts.sum(axis=1))

    @property
    def squares(self) -> FloatArray:
        """The squared error of probabilities at each place, summed over classes."""
        known = self.counts / self.counts.sum(axis=1, keepdims=True)
        return np.asarray(np.square(self.probabilities - known).sum(axis=1))

    def average(self, values: FloatArray) -> tuple[float, float]:
        """Return the mean and its standard error; repetitions at one vertex count once."""
        mean = float(values.mean())
        sums = np.bincount(self.places, values - mean)
        return mean, float(np.sqrt((sums**2).sum()) / len(values))

    def by_class(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the share of wrong labels of each class, and the ends of its 90 % interval, with the prior of Jeffreys."""
        likeliest = self.probabilities.argmax(axis=1)
        repeats = np.bincount(self.places)[self.places]  # a vertex counts once
        weights = self.counts / repeats[:, None]
        total = weights.sum(axis=0)
        right = np.array([weights[likeliest == k, k].sum() for k in range(len(total))])
        missed = np.maximum(total - right, 0.0)
        low, high = beta.ppf([[0.05], [0.95]], missed + 0.5, right + 0.5)
        share = missed / np.maximum(total, 1e-12)
        return share, np.minimum(low, share), np.maximum(high, share)  # of no mistakes, or only these, too


def cross_validate(model: GraphClassifier, rng: np.random.Generator) -> tuple[ClassValidation, HeldOutLabels]:
    """Return errors at labels held out after training on a quarter, a half and nine tenths; and what ten folds predict."""
    labels = model.fitted_
    propagation = PropagatedClasses.fit(model.graph_, labels)
    count, rows = len(labels.vertices), []
    for share in _SHARES:
        if round(share * count) < _SMALLEST:
            continue
        held = _hold_out(model, labels, propagation, _draw_splits(count, share, rng))
        rate, rate_stderr = held.average(held.wrong)
        expected = float(np.mean(1 - held.probabilities.max(axis=1)))
        shrunk = (count * rate + _TRUSTED * expected) / (count + _TRUSTED)
        # of no mistakes at all the standard error is not 0 either
        spread = max(rate_stderr, float(np.sqrt(shrunk * (1 - shrunk) / (count + _TRUSTED))) / 2)
        rows.append(
            (round(share * count), *held.average(held.squares), shrunk, spread, *held.average(held.losses), rate)
        )
    n, mse, stderr, rate_, rate_stderr_, loss, loss_stderr, mistakes = np.array(rows, dtype=np.float64).T
    seen = ClassValidation(
        n,
        mse,
        stderr,
        rate=rate_,
        rate_stderr=rate_stderr_,
        loss=np.maximum(loss, _LEAST),
        loss_stderr=loss_stderr,
        mistakes=mistakes,
    )
    return seen, held


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
    model: GraphClassifier,
    labels: ClassLabels,
    propagation: PropagatedClasses | None,
    splits: list[tuple[_Places, _Places]],
) -> HeldOutLabels:
    pairs, found = model.posterior_.ranked[:_WEIGHED], []
    for train, test in splits:
        posterior = weigh(pairs, labels, model.likelihood_, train)
        known = labels.counts[train]
        left, across = (None, None) if propagation is None else (
            propagation.leave_out(train, test), propagation.predict(train, test)
        )  # fmt: skip
        weights = weigh_parts(posterior.leave_out(), left, known)
        found.append(mix(posterior.predict_places(train, test), across, posterior.labels.shares, weights))
    places = np.concatenate([test for _, test in splits])
    return HeldOutLabels(places, np.concatenate(found), labels.counts[places])
