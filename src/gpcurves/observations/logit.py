r"""Classes by logistic regression, :math:`P(y|f) = 1/(1+e^{-yf})`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy

from gpcurves.numerics.tabulated import Tabulated
from gpcurves.numerics.validation import FloatArray
from gpcurves.observations.base import Tilted
from gpcurves.observations.classes import Classes

_STEP = 0.5  # of function values: the logistic function has its poles at a distance of pi from the real axis
_LARGEST = 38.0  # values beyond have a certain class to rounding


@dataclass(frozen=True, repr=False)
class Logit(Classes):
    """A class, -1 or 1, with the probability of logistic regression.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> problem = gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=1), gpc.Logit())
    >>> gpc.learning_curve(problem, "lc", n=[0, 10, 100], quantity="error-rate").error.round(3)
    array([0.5  , 0.42 , 0.352])
    """

    reach = _LARGEST

    def information(self, error: FloatArray, variance: FloatArray | float) -> FloatArray:
        if np.ndim(variance):
            return super().information(error, variance)
        return _table(float(variance))(np.asarray(error, dtype=np.float64) / float(variance))

    def probability(self, mean: FloatArray, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
        mean, variance = np.broadcast_arrays(np.asarray(mean, dtype=np.float64), variance)
        wide = variance > 1
        result, slope = np.empty(mean.shape), np.empty(mean.shape)
        result[~wide], slope[~wide] = _average_narrow(mean[~wide], variance[~wide])
        result[wide], slope[wide] = _average_wide(mean[wide], variance[wide])
        return result, slope

    def tilt(self, labels: FloatArray, mean: FloatArray, variance: FloatArray) -> Tilted:
        # with steps of at most 0.6 units of the function, trapezoidal sums are exact to 1e-10
        step = min(0.6, 0.6 / float(np.sqrt(np.max(variance, initial=1.0))))
        z = step * np.arange(-np.ceil(8.5 / step), np.ceil(8.5 / step) + 1)
        weights = step * np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi)
        f = (labels * mean)[..., None] + np.sqrt(variance)[..., None] * z
        right = scipy.special.expit(
            np.maximum(f, -700.0)
        )  # beyond, slopes no longer change and numbers would underflow
        slopes = right * (1 - right)
        total = right @ weights
        slope = slopes @ weights / total
        second = (slopes * (1 - 2 * right)) @ weights / total  # Z''/Z
        return np.log(total), labels * slope, slope**2 - second

    def slopes(self, labels: FloatArray, values: FloatArray) -> Tilted:
        wrong = scipy.special.expit(-labels * values)
        return -np.logaddexp(0.0, -labels * values), labels * wrong, wrong * (1 - wrong)


def _average_narrow(mean: FloatArray, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Average over a Gaussian of variance up to 1, in steps of the Gaussian."""
    z = 0.4 * np.arange(-22, 23)
    weights = 0.4 * np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi)
    p = scipy.special.expit(mean[..., None] + np.sqrt(variance)[..., None] * z)
    return p @ weights, (p * (1 - p)) @ weights


def _average_wide(mean: FloatArray, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Average over a wide Gaussian: the class is the sign of the mean plus a Gaussian plus logistic noise, in steps of the latter."""
    t = np.arange(-_LARGEST, _LARGEST + _STEP, _STEP)
    weights = _STEP * scipy.special.expit(t) * scipy.special.expit(-t)
    root = np.sqrt(variance)[..., None]
    a = (mean[..., None] - t) / root
    return scipy.special.ndtr(a) @ weights, (np.exp(-0.5 * a**2) / root) @ weights / np.sqrt(2 * np.pi)


@lru_cache(maxsize=64)
def _table(variance: float) -> Tabulated:
    return Tabulated(lambda shares: Classes.information(Logit(), shares * variance, variance), 1e-17)
