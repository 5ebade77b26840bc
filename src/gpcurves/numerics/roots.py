"""Roots of monotone functions by bisection, for many targets at once."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from gpcurves.numerics.validation import FloatArray


def bisect(
    is_above: Callable[[FloatArray], npt.NDArray[np.bool_]], low: FloatArray, high: FloatArray, steps: int
) -> tuple[FloatArray, FloatArray]:
    """Halve each interval ``steps`` times, keeping the half in which ``is_above`` turns from false to true.

    From 53 steps or so on, the ends are neighbouring floating-point numbers: callers take the end on the side that they need.
    """
    for _ in range(steps):
        middle = (low + high) / 2
        above = is_above(middle)
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return low, high


def invert(increasing: Callable[[FloatArray], FloatArray], target: FloatArray, highest: float) -> FloatArray:
    """Solve ``increasing(z) = target`` for e^-90 < z < highest, by bisection in ln z because `z` spans many decades."""
    low, high = np.full(target.shape, -90.0), np.full(target.shape, math.log(highest))
    low, high = bisect(lambda log_z: increasing(np.exp(log_z)) > target, low, high, 64)
    return np.asarray(np.exp((low + high) / 2))
