"""Whether a few rows far from all others dominate the error."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gpcurves.tables.rows import Rows

_FAR = 10.0
"""A few rows that are so many standard deviations away from the others, and are not explained, dominate the error."""
_ENOUGH = 10
"""So many of them would show what they do to the error."""


@dataclass(frozen=True)
class Outliers:
    """The most extreme 1 % of the rows.

    Attributes
    ----------
    count
        How many they are, at least one.
    distance
        How far they are from the rest, in standard deviations of the rest; 0 if the model explains them.
    rows_needed
        With so many rows there would be enough of them to estimate their effect.
    """

    count: int
    distance: float
    rows_needed: int

    @property
    def dominate(self) -> bool:
        """Whether the error is mostly due to them, and they are too few to say what more rows do."""
        return self.distance > _FAR and self.count < _ENOUGH

    @property
    def cases(self) -> int:
        """How many of them are enough."""
        return _ENOUGH


def find_outliers(rows: Rows, rmse: float) -> tuple[Outliers, list[str]]:
    """Compare the most extreme rows with the others and with the cross-validated error; add a note if they are far away."""
    distance = np.abs(rows.y - np.median(rows.y))
    order = np.argsort(distance)
    count = max(1, round(len(order) / 100))
    needed = math.ceil(len(order) * _ENOUGH / count)
    others = float(rows.y[order[:-count]].std())
    if rmse < others:  # the error of guessing, were it not for those rows
        return Outliers(count, 0.0, needed), []
    away = float(np.sqrt(np.mean(distance[order[-count:]] ** 2)))
    outliers = Outliers(count, away / others if others > 0 else math.inf, needed)
    value = rows.mean + rows.scale * rows.y[order[-1]]
    note = f"The target is {value:.4g} in the most extreme row; the others have a standard deviation of {rows.scale * others:.3g}."
    return outliers, [note] if outliers.distance > _FAR else []
