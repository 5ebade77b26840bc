r"""Learning curves of given hyperparameters: simulated as far as one factorisation carries, continued by theory.

Nested Cholesky factors give the average posterior variance :math:`\epsilon(n)` for every n up to the size of the factor
(see `simulation`). Beyond, LC says :math:`\epsilon = g(h)`, :math:`n = h(\sigma^2+\epsilon)` with a function g of the spectrum
alone (Sollich & Halees 2002, eq. 16): the simulated curve is read as g, which is continued as a power law.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas, lapack

from gpcurves.forecasting.evidence import JITTER, Family, correlation, squared_distances, unpack
from gpcurves.numerics.validation import FloatArray

Covariance = Callable[[FloatArray, FloatArray], FloatArray]


@dataclass(frozen=True)
class Model:
    """A prior over functions with noise: covariances between inputs, variance at inputs, noise variance."""

    covariance: Covariance
    variances: Callable[[FloatArray], FloatArray]
    noise: float

    @classmethod
    def of(cls, family: Family, theta: FloatArray) -> Model:
        """Build the model with these log hyperparameters."""
        variance, lengthscales, noise = unpack(theta)

        def covariance(X: FloatArray, Y: FloatArray) -> FloatArray:
            other = None if X is Y else Y / lengthscales
            return variance * correlation(family, squared_distances(X / lengthscales, other))

        return cls(covariance, lambda X: np.full(len(X), variance), noise + JITTER * variance)

    def simulate(self, X: FloatArray, test: FloatArray) -> ErrorCurve:
        """Return the learning curve for training inputs in the order of the rows of X, averaged over test inputs."""
        K = np.ascontiguousarray(self.covariance(X, X))
        K.ravel()[:: len(K) + 1] += self.noise
        L, info = lapack.dpotrf(K.T, lower=1, clean=0, overwrite_a=1)
        size = len(K) if info == 0 else info - 1
        W = blas.dtrsm(1.0, L[:size, :size], np.asfortranarray(self.covariance(X[:size], test)), lower=1, overwrite_b=1)
        prior = float(self.variances(test).mean())
        explained = np.concatenate(([0.0], np.cumsum(np.einsum("ij,ij->i", W, W) / len(test))))
        return ErrorCurve(np.maximum(prior - explained, JITTER * prior), self.noise)


@dataclass(frozen=True)
class ErrorCurve:
    """Average posterior variance after 0, 1, … examples, with the noise that is not in it.

    What looks like noise to ``since`` rows may fade as more rows resolve it, in proportion to n to the power -``fade``.
    """

    error: FloatArray
    noise: float
    fade: float = 0.0
    since: float = 1.0

    def __call__(self, n: FloatArray) -> FloatArray:
        """Return the mean squared error against noisy targets at any n."""
        last = len(self.error) - 1
        error = np.interp(np.minimum(n, last), np.arange(last + 1), self.error)
        beyond = n > last
        if beyond.any():
            error[beyond] = self._continued(n[beyond])
        return np.asarray(error + self.noise_at(n))

    def noise_at(self, n: FloatArray) -> FloatArray:
        """Return the noise variance that is left at n."""
        return self.noise * np.maximum(n / self.since, 1.0) ** -self.fade

    def _continued(self, n: FloatArray) -> FloatArray:
        r"""Continue :math:`\ln g` in a straight line in :math:`\ln h`, with its slope over the last doubling of n."""
        last = len(self.error) - 1
        size = np.unique(np.geomspace((last + 1) // 2, last, 20).round()).astype(int)
        error = self.error[size]
        log_h = np.log(size / (self.noise + error))
        slope = max(0.0, -np.polynomial.polynomial.polyfit(log_h, np.log(error), 1)[1])
        low, high = np.full(len(n), log_h[-1]), np.log(n / self.noise)
        for _ in range(60):
            middle = (low + high) / 2
            over = np.exp(middle) * (self.noise + error[-1] * np.exp(-slope * (middle - log_h[-1]))) > n
            low, high = np.where(over, low, middle), np.where(over, middle, high)
        return np.asarray(error[-1] * np.exp(-slope * (low - log_h[-1])))
