r"""Classes that are the sign of the function plus Gaussian noise, :math:`P(y|f) = \Phi(yf/\sigma)`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from gpcurves.errors import InputError
from gpcurves.numerics.parameters import parameter
from gpcurves.numerics.validation import FloatArray, nonnegative
from gpcurves.observations.base import Tilted
from gpcurves.observations.classes import Classes

_LOG_ROOT = 0.5 * np.log(2 * np.pi)


@dataclass(frozen=True, repr=False)
class Probit(Classes):
    """The sign of a function value plus Gaussian noise: a class, -1 or 1.

    Parameters
    ----------
    noise
        Variance of the noise before the sign is taken, at least 0; in units of the function, whose scale the labels do not show.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> problem = gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=1), gpc.Probit())
    >>> gpc.learning_curve(problem, "lc", n=[0, 10, 100], quantity="error-rate").error.round(3)
    array([0.5  , 0.358, 0.273])
    """

    noise: float = parameter(1.0, help="Noise variance of a label", check=nonnegative)

    @property
    def reach(self) -> float:
        return float(9.5 * np.sqrt(self.noise))

    def probability(self, mean: FloatArray, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
        width = np.sqrt(self.noise + variance)
        with np.errstate(divide="ignore", invalid="ignore"):
            a = np.where(width > 0, mean / width, np.where(mean == 0, 0.0, np.copysign(np.inf, mean)))
            slope = np.where(width > 0, np.exp(-0.5 * a**2) / (np.sqrt(2 * np.pi) * width), 0.0)
        return scipy.special.ndtr(a), slope

    def error_rate(self, error: FloatArray, variance: FloatArray | float) -> FloatArray:
        r"""Return :math:`\arccos\sqrt{(\rho-\epsilon)/(\rho+\sigma^2)}/\pi`, as an arctangent to keep its digits."""
        explained = np.maximum(variance - np.asarray(error), 0.0)
        return np.asarray(np.arctan2(np.sqrt(error + self.noise), np.sqrt(explained)) / np.pi)

    def tilt(self, labels: FloatArray, mean: FloatArray, variance: FloatArray) -> Tilted:
        width = np.sqrt(self.noise + variance)
        a = labels * mean / width
        log_z = scipy.special.log_ndtr(a)
        ratio = np.exp(-0.5 * a**2 - _LOG_ROOT - log_z)
        return log_z, labels * ratio / width, ratio * (a + ratio) / width**2

    def slopes(self, labels: FloatArray, values: FloatArray) -> Tilted:
        if self.noise == 0:
            raise InputError("Laplace's method needs noise greater than 0 for probit labels, got 0: use inference='ep'")
        return self.tilt(labels, values, np.zeros_like(values))
