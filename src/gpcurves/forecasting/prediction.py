r"""Predictions with the most probable hyperparameters.

Each covariance function has the posterior mean and variance of an observation at x,

.. math:: m(x) = k^T\alpha, \qquad v(x) = s^2 - |L^{-1}k|^2 + \sigma^2, \qquad k = C(X, x)

(Rasmussen & Williams 2.25, 2.26) with :math:`\alpha = K^{-1}y`, :math:`K = LL^T`. With the probabilities of the covariance
functions they are mixed to the mean :math:`\langle m\rangle` and the variance :math:`\langle v + m^2\rangle - \langle m\rangle^2`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.linalg import solve_triangular

from gpcurves.forecasting.evidence import JITTER, Family, correlation, fitted, squared_distances, unpack
from gpcurves.forecasting.posterior import Peak
from gpcurves.numerics.validation import FloatArray


@dataclass(frozen=True)
class Mode:
    """A Gaussian process that has learnt from standardised rows, with one covariance function and its mode."""

    family: Family
    theta: FloatArray
    X: FloatArray
    factor: FloatArray
    alpha: FloatArray

    @classmethod
    def of(cls, peak: Peak) -> Self:
        """Learn from the rows of a posterior density."""
        X, y = peak.density.evidence.X, peak.density.evidence.y
        return cls(peak.density.family, peak.mode, X, *fitted(peak.density.family, X, y, peak.mode))

    def mean(self, X: FloatArray) -> FloatArray:
        """Return the posterior mean at each input."""
        return np.asarray(self._covariances(X) @ self.alpha)

    def variance(self, X: FloatArray) -> FloatArray:
        """Return the variance of a noisy observation at each input."""
        variance, _, noise = unpack(self.theta)
        W = solve_triangular(self.factor, self._covariances(X).T, lower=True)
        left = variance - np.einsum("ij,ij->j", W, W)
        return np.asarray(np.maximum(left, JITTER * variance) + noise)  # what is less than the jitter is rounding

    def _covariances(self, X: FloatArray) -> FloatArray:
        variance, lengthscales, _ = unpack(self.theta)
        return variance * correlation(self.family, squared_distances(X / lengthscales, self.X / lengthscales))


@dataclass(frozen=True)
class Mixture:
    """The covariance functions together, with their probabilities."""

    modes: Sequence[Mode]
    odds: FloatArray

    def mean(self, X: FloatArray) -> FloatArray:
        """Return the mean at each input."""
        return np.asarray(self.odds @ np.array([mode.mean(X) for mode in self.modes]))

    def deviation(self, X: FloatArray) -> FloatArray:
        """Return the standard deviation of a noisy observation at each input."""
        means = np.array([mode.mean(X) for mode in self.modes])
        between = self.odds @ (means - self.odds @ means) ** 2
        within = self.odds @ np.array([mode.variance(X) for mode in self.modes])
        return np.asarray(np.sqrt(within + between))
