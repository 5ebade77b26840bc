"""Monotone functions that compress the tails of skewed inputs, so that one lengthscale fits all of their range."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpcurves.numerics.validation import FloatArray

_SKEWED = 2.0  # standardised third moment beyond which an input is bent
_FEWEST = 10  # different values


@dataclass(frozen=True)
class Bend:
    r"""The function :math:`\mathrm{asinh}((x - \text{centre})/\text{scale})`: a logarithm far from the centre."""

    centre: float
    scale: float

    def __call__(self, x: FloatArray) -> FloatArray:
        """Return the values, bent."""
        return np.asarray(np.arcsinh((x - self.centre) / self.scale))

    def inverse(self, bent: FloatArray) -> FloatArray:
        """Return the values that were bent."""
        return np.asarray(self.centre + self.scale * np.sinh(bent))


def find_bend(x: FloatArray) -> Bend | None:
    """Return what makes a skewed column less skewed; None if it is not skewed, has few values, or nothing helps."""
    if len(np.unique(x)) < _FEWEST or abs(skewness(x)) < _SKEWED:
        return None
    low, middle, high = np.quantile(x, (0.05, 0.5, 0.95))
    if not high > low:
        return None
    ends = (float(x.min()), float(middle), float(x.max()))
    bends = [Bend(centre, scale) for centre in ends for scale in (0.03 * (high - low), 0.2 * (high - low))]
    best = min(bends, key=lambda bend: abs(skewness(bend(x))))
    return best if abs(skewness(best(x))) < 0.7 * abs(skewness(x)) else None


def skewness(x: FloatArray) -> float:
    """Return the standardised third moment."""
    with np.errstate(over="ignore", invalid="ignore"):
        z = (x - x.mean()) / (x.std() or 1.0)
        return float(np.nan_to_num(np.mean(z**3)))
