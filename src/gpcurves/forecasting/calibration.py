"""What is learnt from the tasks of ``benchmarks/forecast``: how far to trust cross-validation, and how wide intervals must be.

`benchmarks.forecast.calibrate` fits the constants, and reports the coverage on tasks left out.
"""

from __future__ import annotations

import math

import numpy as np

from gpcurves.numerics.validation import FloatArray

LEVEL = 0.3
"""Share of the gap between cross-validated and expected error by which the whole curve is moved."""
ASSURANCE = 0.842 / 1.645
"""Width of a one-sided 80 % interval in units of one half of a 90 % interval, as for a normal distribution."""
_FADE = 1.5
_NOISY, _NOISELESS = 1e-3, 1e-5
_FAR = 2.0
FURTHEST = 16.0
"""Multiple of the rows up to which forecasts were scored; further ones are taken to be as uncertain for their reach."""
DOWN = (0.0911, 2.04, 0.815, 0.258, 0.792, 0.353)
UP = (0.102, 0.999, 1.98, 0.365, 0.677, 0.818)
"""Contributions to the half-widths, in the order of `ingredients`."""


def fading(noise: float) -> float:
    """Return how fast noise of this share of the target's variance fades as rows are added.

    Measured quantities carry noise of a thousandth of their variance or more. What is fitted far below that is the
    misfit of a function without noise, which more rows resolve.
    """
    return _FADE * float(np.clip(math.log(_NOISY / noise) / math.log(_NOISY / _NOISELESS), 0.0, 1.0))


def ingredients(
    factor: FloatArray,
    spread: FloatArray,
    scatter: FloatArray | float,
    gap: FloatArray | float,
    drop: FloatArray,
    above: FloatArray,
) -> FloatArray:
    """Return what makes a forecast uncertain, one row each, in logarithms of the squared error.

    In this order: how far it reaches, as a ``factor`` of the rows there are; how much the posterior varies (``spread``); the
    ``scatter`` of the squared residuals of cross-validation; the ``gap`` between cross-validation and expectation; by how
    much the error is forecast to ``drop``; and how far it is then still ``above`` the noise, up to a limit.
    """
    ones = np.ones(len(factor))
    reach = np.abs(np.log(np.clip(factor, 1e-3, FURTHEST)))
    return np.array([reach, spread, scatter * ones, gap * ones, np.abs(drop), np.clip(above, 0.0, _FAR)])


def half_widths(
    factor: FloatArray, spread: FloatArray, scatter: float, gap: float, drop: FloatArray, above: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return how far below and above the estimate the 90 % interval reaches, in the logarithm of the squared error."""
    squares = ingredients(factor, spread, scatter, gap, drop, above) ** 2
    return np.sqrt(np.square(DOWN) @ squares), np.sqrt(np.square(UP) @ squares)
