r"""Noise with the Laplace distribution :math:`e^{-|y-f|/b}/2b`: outliers, but fewer than Student's t has.

Noise plus :math:`N(0,\epsilon)` has the density :math:`(A_++A_-)/2b`, with
:math:`A_\pm = e^{\epsilon/2b^2\mp y/b}\Phi(\pm y/\sqrt\epsilon-\sqrt\epsilon/b)`, and the slope of it is :math:`(A_--A_+)/2b^2`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy

from gpcurves.numerics.parameters import parameter
from gpcurves.numerics.quadrature import GAUSS_NODES, GAUSS_WEIGHTS
from gpcurves.numerics.validation import FloatArray, positive
from gpcurves.observations.base import Observation, Tilted

_INNER = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.5, 8.0, 10.0, 13.0])  # panels in units of the Gaussian
_OUTER = np.array([0.5, 1.0, 2.0, 4.0, 6.0, 9.0, 12.0, 16.0, 20.0, 26.0, 32.0, 40.0, 48.0])  # further, of the noise
_TINY = 1e-30  # an error below changes the information by less than rounding, in units of the squared scale


@dataclass(frozen=True, repr=False)
class LaplaceNoise(Observation):
    """A function value plus noise with the Laplace (double exponential) distribution.

    Parameters
    ----------
    scale
        The average size of the noise; its variance is twice the square.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> problem = gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=1), gpc.LaplaceNoise(0.2))
    >>> gpc.learning_curve(problem, "lc", n=[0, 10, 100]).error.round(3)
    array([1.   , 0.145, 0.007])
    """

    name = "laplace"
    inferences = ("gibbs", "ep")
    scale: float = parameter(1.0, help="Mean absolute noise", check=positive, flag="noise-scale")

    @property
    def variance(self) -> float:
        """The variance of the noise, which a model with Gaussian noise would estimate."""
        return 2 * self.scale**2

    @property
    def noise_variance(self) -> float:
        return self.variance

    def information(self, error: FloatArray, variance: FloatArray | float) -> FloatArray:
        units = np.maximum(np.asarray(error, dtype=np.float64) / self.scale**2, _TINY)
        root = np.sqrt(units)[..., None]
        edges = np.concatenate((root * _INNER, 13.0 * root + _OUTER), axis=-1)
        half = np.diff(edges)[..., None] / 2
        y = ((edges[..., 1:] + edges[..., :-1])[..., None] / 2 + half * GAUSS_NODES).reshape(*root.shape[:-1], -1)
        measure = (half * GAUSS_WEIGHTS).reshape(y.shape)
        above, below = self._sides(y, units[..., None])
        # the slope is of relative accuracy even in the middle, where both sides nearly cancel
        total = above + below
        score = np.divide(above - below, total, out=np.zeros_like(total), where=total > 0)
        return np.asarray((measure * total * score**2).sum(axis=-1) / self.scale**2)

    @staticmethod
    def _sides(y: FloatArray, units: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return both terms of the density of noise of scale 1 plus a Gaussian, without overflow."""
        root = np.sqrt(units)
        kernel = np.exp(-0.5 * y**2 / units) / 2
        sides = []
        for sign in (1.0, -1.0):
            argument = root - sign * y / root  # its square would cancel that of y if it is large, whence erfcx
            by_tail = kernel * scipy.special.erfcx(np.maximum(argument, 0.0) / math.sqrt(2))
            direct = np.exp(np.minimum(units / 2 - sign * y, 700.0)) * scipy.special.ndtr(-np.minimum(argument, 0.0))
            sides.append(np.where(argument > 0, by_tail, direct))
        return sides[0], sides[1]

    def draw(self, values: FloatArray, inputs: FloatArray, rng: np.random.Generator) -> FloatArray:
        labels: FloatArray = values + rng.laplace(0.0, self.scale, values.shape)
        return labels

    def mix(self, residuals: FloatArray, rng: np.random.Generator) -> FloatArray:
        # the inverse of the variance has an inverse Gaussian distribution
        size = np.maximum(np.abs(residuals), 1e-12 * self.scale)
        return np.asarray(1 / rng.wald(1 / (self.scale * size), 1 / self.scale**2))

    def tilt(self, labels: FloatArray, mean: FloatArray, variance: FloatArray) -> Tilted:
        b = self.scale
        y, units = (labels - mean) / b, variance / b**2
        above, below = self._sides(y, units)
        total = above + below
        slope = (above - below) / total / b  # of ln Z by the mean, which is minus that by the label
        density = np.exp(-0.5 * y**2 / units) / np.sqrt(2 * np.pi * units)
        # Z'' = (Z - N)/b^2 in these units, because the noise solves this equation
        curvature = slope**2 - (1 - 2 * density / total) / b**2
        return np.log(total / (2 * b)), slope, curvature
