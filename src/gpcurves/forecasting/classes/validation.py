"""What the rows at hand show directly: how classes of rows held out were predicted, after training on others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gpcurves.forecasting.classes.members import ClassMember, mix
from gpcurves.forecasting.crossvalidation import ClassValidation, Groups
from gpcurves.numerics.validation import FloatArray

SHARES = (0.125, 0.25, 0.5, 0.9)  # training sets as shares of the rows; the last is ten-fold cross-validation
_SMALLEST = 6
_SPLITS, _REPEATS = 4, 2  # of small training sets, and of ten folds: which rows share a fold is luck
_REFITTED, _STEPS = 300, 3  # of more rows a tenth does not change the mode; steps of a refit otherwise
_MOST_MEMBERS = 2


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Predicted probabilities of rows held out after training on n others, their classes, and what they belong to."""

    n: int
    probabilities: FloatArray
    labels: FloatArray
    unit: npt.NDArray[np.int64]  # rows of a group, and repeats of a row, have the same number

    @property
    def wrong(self) -> FloatArray:
        """1 for each row whose likeliest class is not its own."""
        return np.asarray(self.probabilities.argmax(axis=1) != self.labels.argmax(axis=1), dtype=np.float64)

    @property
    def doubt(self) -> FloatArray:
        """The probability that the likeliest class is wrong, as predicted."""
        return np.asarray(1 - self.probabilities.max(axis=1))

    @property
    def loss(self) -> FloatArray:
        """Minus the logarithm of the probability of the right class."""
        return np.asarray(-np.log(np.sum(self.probabilities * self.labels, axis=1)))

    @property
    def brier(self) -> FloatArray:
        """The squared error of the probabilities."""
        return np.asarray(((self.probabilities - self.labels) ** 2).sum(axis=1))

    def stderr(self, values: FloatArray) -> float:
        """Return the standard error of a mean over rows, of which those with the same number count once."""
        sums = np.bincount(self.unit, values - values.mean())
        return float(np.sqrt((sums**2).sum()) / len(values))


def hold_out(
    members: Sequence[ClassMember],
    weights: FloatArray,
    labels: FloatArray,
    rng: np.random.Generator,
    groups: Groups = None,
) -> list[HeldOut]:
    """Refit the members with most weight on parts of the rows, starting at their modes, and test their mixture on the others."""
    kept = [members[k] for k in np.argsort(-weights)[:_MOST_MEMBERS]]
    units = np.arange(len(labels)) if groups is None else np.unique(groups, return_inverse=True)[1]
    count = int(units.max()) + 1
    found = []
    for share in SHARES:
        size = round(share * count)
        if size < _SMALLEST:
            continue
        parts, tested = [], []
        for train in _draw_training_sets(count, share, rng):
            inside = np.isin(units, train)
            rows, others = np.flatnonzero(inside), np.flatnonzero(~inside)
            part = [member.refit(rows, _STEPS if len(rows) <= _REFITTED else 0) for member in kept]
            parts.append(mix(part, labels[rows]).predict(members[0].evidence.X[others]))
            tested.append(others)
        places = np.concatenate(tested)
        found.append(HeldOut(size, np.concatenate(parts), labels[places], units[places]))
    return found


def _draw_training_sets(count: int, share: float, rng: np.random.Generator) -> list[npt.NDArray[np.int64]]:
    """Return training sets that are a share of the rows; of the largest, ten folds, twice unless there are many rows."""
    if share < SHARES[-1]:
        return [rng.permutation(count)[: round(share * count)] for _ in range(_SPLITS)]
    orders = [rng.permutation(count) for _ in range(_REPEATS if count <= _REFITTED else 1)]
    parts = [part for order in orders for part in np.array_split(order, min(10, count))]
    return [np.setdiff1d(np.arange(count), part) for part in parts]


def summarise(found: Sequence[HeldOut], level: float) -> ClassValidation:
    """Return errors on rows held out; ``level`` is the share of counted mistakes in the error rate, the rest is doubt."""
    rows = []
    for each in found:
        mixed = level * each.wrong + (1 - level) * each.doubt
        values = (each.brier, mixed, each.loss)
        rows.append([(float(value.mean()), each.stderr(value)) for value in values])
    (brier, brier_stderr), (rate, rate_stderr), (loss, loss_stderr) = np.array(rows).transpose(1, 2, 0)
    n = np.array([each.n for each in found], dtype=np.float64)
    mistakes = np.array([each.wrong.mean() for each in found])
    return ClassValidation(
        n,
        brier,
        brier_stderr,
        rate=np.clip(rate, 1e-4, 1.0),
        rate_stderr=rate_stderr,
        loss=loss,
        loss_stderr=loss_stderr,
        mistakes=mistakes,
    )
