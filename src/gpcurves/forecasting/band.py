"""The error to expect at any number of rows with its interval, computed once; and the rows that an error needs."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import numpy as np

from gpcurves.numerics.validation import FloatArray, frozen

HORIZON = 1_000
"""Required numbers of rows are looked for up to this multiple of the rows at hand."""
_GOALS = 400


def goal_grid(rows: int) -> FloatArray:
    """Return numbers of rows at which goals are looked for, from 1 to the horizon.

    They are fewer than all, so that no ups and downs from one number to the next decide.
    """
    return np.unique(np.geomspace(1, HORIZON * rows, _GOALS).round())


@dataclass(frozen=True, eq=False)
class Band:
    """Root mean squared errors against noisy targets, in the target's own units, at increasing numbers of rows.

    Between the knots, logarithms are interpolated.

    Attributes
    ----------
    n
        Numbers of rows, the knots.
    estimate
        The error to expect.
    low, high
        The ends of the 90 % interval.
    assured
        The error is below this with a probability of 80 %.
    """

    n: FloatArray
    estimate: FloatArray
    low: FloatArray
    high: FloatArray
    assured: FloatArray

    def __post_init__(self) -> None:
        for each in fields(self):
            object.__setattr__(self, each.name, frozen(np.array(getattr(self, each.name), dtype=np.float64)))

    def at(self, n: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return estimate, low, high and assured at each n."""
        knots, wanted = np.log1p(self.n), np.log1p(n)
        estimate, low, high, assured = (np.exp(np.interp(wanted, knots, np.log(curve))) for curve in self._curves)
        return estimate, low, high, assured

    def find(self, goal: float, grid: FloatArray) -> tuple[int | None, ...]:
        """Return the smallest n at which each curve is at the goal, looked for on a grid of knots; None if it never is."""
        marked = np.isin(self.n, grid)
        return tuple(_find_first(self.n[marked], curve[marked], goal) for curve in self._curves)

    @property
    def _curves(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        return self.estimate, self.low, self.high, self.assured


def _find_first(n: FloatArray, curve: FloatArray, goal: float) -> int | None:
    """Return the smallest n at which a falling curve is at the goal."""
    reached = curve <= goal
    if not reached.any():
        return None
    i = int(np.argmax(reached))
    if i == 0:
        return int(n[0])
    before, after = float(n[i - 1]), float(n[i])
    share = math.log(curve[i - 1] / goal) / math.log(curve[i - 1] / curve[i])
    return math.ceil(before * math.pow(after / before, share) - 1e-9)
