"""What is learnt from the tasks of ``benchmarks/forecast``: how far to trust cross-validation, and how wide intervals must be.

`benchmarks.forecast.calibrate` fits the constants, and reports the coverage on tasks left out.
"""

from __future__ import annotations

import math

import numpy as np

from gpcurves.validation import FloatArray

LEVEL = 0.3
"""Share of the gap between cross-validated and expected error by which the whole curve is moved."""
ASSURANCE = 0.842 / 1.645
"""Width of a one-sided 80 % interval in units of one half of a 90 % interval, as for a normal distribution."""
_FADE = 1.5
_NOISY, _NOISELESS = 1e-3, 1e-5
DOWN = (0.102, 0.0857, 2.95, 0.199, 0.459, 0.691, 0.0843)
UP = (0.638, 0.0528, 0.326, 0.756, 0.835, 1.12, 0.051)
"""Contributions to the half-widths, in the order of `ingredients`."""


def fading(noise: float) -> float:
    """Return how fast noise of this share of the target's variance fades as rows are added.

    Measured quantities carry noise of a thousandth of their variance or more. What is fitted far below that is the
    misfit of a function without noise, which more rows resolve.
    """
    return _FADE * float(np.clip(math.log(_NOISY / noise) / math.log(_NOISY / _NOISELESS), 0.0, 1.0))


def ingredients(
    spread: FloatArray, drop: FloatArray, factor: FloatArray, rows: float, gap: float, scatter: float, today: float
) -> FloatArray:
    """Return what makes a forecast uncertain, one row each.

    In this order: few rows; how far it reaches; how much the posterior varies (``spread``); the scatter of the squared
    residuals of cross-validation; the gap between cross-validation and expectation; by how much the error is forecast to
    fall; and how far for an error that is small ``today`` already, in logarithms of the squared error.
    """
    few = math.sqrt(50 / rows)
    reach = np.abs(np.log(np.maximum(factor, 1e-3)))
    ones = np.ones(len(reach))
    small = max(0.0, -today - 4.0)
    return np.array(
        [few * ones, math.sqrt(few) * reach, spread, scatter * ones, gap * ones, np.abs(drop), small * reach]
    )


def half_widths(
    spread: FloatArray, drop: FloatArray, factor: FloatArray, rows: float, gap: float, scatter: float, today: float
) -> tuple[FloatArray, FloatArray]:
    """Return how far below and above the estimate the 90 % interval reaches, in the logarithm of the squared error."""
    squares = ingredients(spread, drop, factor, rows, gap, scatter, today) ** 2
    return np.sqrt(np.square(DOWN) @ squares), np.sqrt(np.square(UP) @ squares)
