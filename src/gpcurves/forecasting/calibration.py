"""The constants of forecasts from tables, which `benchmarks.forecast.calibrate` fits to what forecasts came to."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from gpcurves.forecasting.traits import ramp
from gpcurves.numerics.validation import FloatArray

TAILS = 0.7, 1.2  # tails of the target that are normal, and that are heavy
FURTHEST = 16.0  # multiple of the rows up to which forecasts were scored; further ones count as reaching so far


@dataclass(frozen=True)
class Calibration:
    """Constants that were learnt from what forecasts came to.

    ``level`` is the share of the gap between cross-validated and expected error by which the whole curve is moved. ``model`` is the
    share of the drop that the model expects from more rows which happens, in logarithms, and ``laws`` that of the drop that power
    laws through cross-validated errors expect. Each has three values: if most of the error is noise, which the model knows better
    than a few residuals do; if none of it is; and if the tails of the target are heavy, which no Gaussian process expects. ``shift``
    is added, for normal and for heavy tails: few rows mostly show errors that are too small. ``down`` and ``up`` are contributions to the half-widths,
    in the order of `intervals.ingredients`; those below are multiplied by the first of ``lower`` today, and by the second at the
    furthest. With ``endless``, power laws have no offset, and fall without end.
    """

    level: tuple[float, float, float]
    model: tuple[float, float, float]
    laws: tuple[float, float, float]
    down: tuple[float, ...]
    up: tuple[float, ...]
    shift: tuple[float, float] = (0.0, 0.0)
    endless: bool = False
    lower: tuple[float, float] = (1.0, 1.0)

    def weigh(self, noiseless: FloatArray | float, tail: FloatArray | float) -> tuple[FloatArray, ...]:
        """Return level, shares of the drops of model and laws, and shift for a target so free of noise, and with such a tail."""
        heavy = ramp(tail, *TAILS)
        three = (
            (1 - heavy) * blend((noisy, free), noiseless) + heavy * tails
            for noisy, free, tails in (self.level, self.model, self.laws)
        )
        return (*map(np.asarray, three), np.asarray(blend(self.shift, heavy)))

    def widths(self, squares: FloatArray, factor: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the half-widths below and above, given squared ingredients and multiples of the rows at hand."""
        down, up = np.sqrt(np.square([self.down, self.up]) @ squares)
        return self.grow(factor) * down, up

    def grow(self, factor: FloatArray) -> FloatArray:
        """Return what half-widths below are multiplied by: errors much smaller than expected are rare at once, less so far ahead."""
        return np.asarray(blend(self.lower, ramp(np.log(np.maximum(factor, 1.0)), 0.0, math.log(FURTHEST))))


def blend(ends: tuple[float, float], place: FloatArray | float) -> FloatArray | float:
    """Return the number that is so far on the way from the first of two to the second, from 0 to 1."""
    return ends[0] + (ends[1] - ends[0]) * place


TABLES = Calibration(
    level=(0.28, 0.62, 0.6),
    model=(0.3, 0.08, 0.05),
    laws=(0.56, 0.79, 0.65),
    shift=(0.06, 0.06),
    down=(0.442, 1.77, 2.65, 0.231, 0.595, 0.75, 0.387, 0.5),
    up=(0.0932, 2.05, 3.73, 1.19, 0.595, 0.401, 0.202, 2.6),
    lower=(0.6, 1.2),
)
TRUSTED = replace(TABLES, level=(0.51, 0.86, 1.0), model=(0.7, 0.7, 0.0), laws=(0.3, 0.3, 1.0), shift=(0.07, 0.0))
"""Those for the model of a user, who may know more than rows tell."""
NOISELESS = replace(
    TABLES,
    level=(0.4, 0.75, 0.6),
    model=(0.4, 0.4, 0.05),
    laws=(0.5, 0.6, 0.65),
    down=tuple(0.9 * each for each in TABLES.down),
    up=tuple(0.9 * each for each in TABLES.up),
)
"""Those for a target that is known to have no noise: its model expects the error to fall without end, and is right by half of that."""
LASTING_WIDTH = 0.5 * TABLES.lower[1] * TABLES.down[0] * math.log(FURTHEST)
"""Width below the estimate, in the logarithm of the RMSE, that is left far ahead however many rows there are."""
