r"""The probability of labels on a graph given a kernel and a noise, with the unknown mean and variance integrated out.

Labels at vertices o are :math:`y = m + \sqrt v f + \text{noise}`, with covariance :math:`vA`, :math:`A = C_{oo} + \mathrm{diag}(\eta/\gamma_i)` for
:math:`\gamma_i` labels at a vertex. With flat priors of m and :math:`\ln v`,

.. math:: \ln p = -\tfrac12\ln\det A - \tfrac12\ln 1^TA^{-1}1 - \tfrac{N-1}2\ln Q - \tfrac12\sum_i(\gamma_i-1)\ln\eta + \text{const}

with Q the residual squares :math:`(y-\hat m)^TA^{-1}(y-\hat m) + S/\eta`, S those of labels about the mean of their vertex
(restricted maximum likelihood with v integrated as well).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular

from gpcurves.forecasting.networks.observed import Observed
from gpcurves.numerics.validation import FloatArray

JITTER = 1e-9
_SMALL = 100  # labels up to which matrices are factorised together


@dataclass(frozen=True)
class Setting:
    """What is assumed beside the kernel: the noise of one label as a multiple of the prior variance, and mean and variance.

    These are None if they are unknown, with flat priors of the mean and of the logarithm of the variance. The variance must
    be assumed if labels come with standard errors, which are not in its units.
    """

    noise: float
    variance: float | None = None
    mean: float | None = None

    def diagonal(self, observed: Observed) -> FloatArray:
        """Return the variance of the mean label of each vertex, in units of the prior variance."""
        result = self.noise / observed.counts + JITTER
        if observed.known is not None and self.variance is not None:
            result = result + observed.known / self.variance
        return np.asarray(result)

    def repeats(self, observed: Observed) -> float:
        """Return the squares of labels about the mean of their vertex, in units of the prior variance times noise."""
        return observed.squares / (self.noise + JITTER) if observed.labels > len(observed.means) else 0.0


@dataclass(frozen=True, eq=False)
class Explained:
    """Labels explained by one covariance and one setting.

    ``inverse`` is that of A, ``ones`` its product with the vector of ones (None if the mean is known), ``residual`` its product
    with labels minus ``mean``, and ``variance`` the prior variance that explains them.
    """

    mean: float
    variance: float
    noise: float
    inverse: FloatArray
    ones: FloatArray | None
    residual: FloatArray

    @property
    def noise_variance(self) -> float:
        """The variance of the noise of one label."""
        return self.noise * self.variance

    def predict(self, across: FloatArray, prior: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of the function from its covariances with labelled vertices and its prior variances."""
        left = prior - np.einsum("ij,ij->i", across @ self.inverse, across)
        if self.ones is not None:  # the mean is estimated, too
            left = left + (1 - across @ self.ones) ** 2 / self.ones.sum()
        return self.mean + across @ self.residual, self.variance * np.maximum(left, 0.0)

    def leave_out(self, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of each vertex's mean label, predicted without it."""
        own = np.diag(self.inverse)
        if self.ones is not None:
            own = own - self.ones**2 / self.ones.sum()
        return y - self.residual / own, self.variance / own


def log_evidence(C: FloatArray, observed: Observed, settings: Sequence[Setting]) -> FloatArray:
    """Return the logarithm of the evidence of each setting, up to a constant, from the covariance of labelled vertices."""
    n, mean = len(C), settings[0].mean  # which is the same in all, or unknown in all
    A = np.repeat(C[None], len(settings), axis=0)
    A[:, np.arange(n), np.arange(n)] += [setting.diagonal(observed) for setting in settings]
    away = observed.means - (observed.means.mean() if mean is None else mean)
    right = np.stack((away, np.ones(n)), axis=1)
    if n <= _SMALL:  # many small matrices at once
        L = np.linalg.cholesky(A)
        Z = np.linalg.solve(L, np.broadcast_to(right, (len(A), n, 2)))
    else:
        L = np.array([cholesky(each, lower=True, overwrite_a=True, check_finite=False) for each in A])
        Z = np.array([solve_triangular(each, right, lower=True, check_finite=False) for each in L])
    products = np.einsum("kij,kil->kjl", Z, Z)
    squares, across, ones = products[:, 0, 0], products[:, 0, 1], products[:, 1, 1]
    result, degrees = -np.log(np.diagonal(L, axis1=1, axis2=2)).sum(axis=1), observed.labels
    if mean is None:
        squares, result, degrees = squares - across**2 / ones, result - 0.5 * np.log(ones), degrees - 1
    squares = squares + [setting.repeats(observed) for setting in settings]
    noise = np.array([setting.noise for setting in settings]) + JITTER
    result -= 0.5 * (observed.labels - n) * np.log(noise)
    if settings[0].variance is None:
        return np.asarray(result - 0.5 * degrees * np.log(squares))
    variance = np.array([setting.variance for setting in settings], dtype=np.float64)
    return np.asarray(result - 0.5 * (degrees * np.log(variance) + squares / variance))


def solve(C: FloatArray, observed: Observed, setting: Setting) -> Explained:
    """Explain labels by one covariance and one setting."""
    A = C + np.diag(setting.diagonal(observed))
    inverse = cho_solve((cholesky(A, lower=True, check_finite=False), True), np.eye(len(A)), check_finite=False)
    ones = inverse.sum(axis=1) if setting.mean is None else None
    mean = float(ones @ observed.means / ones.sum()) if ones is not None else float(setting.mean or 0.0)
    away = observed.means - mean
    residual = inverse @ away
    variance = setting.variance
    if variance is None:
        degrees = observed.labels - (setting.mean is None)
        variance = float(away @ residual + setting.repeats(observed)) / max(1, degrees)
    return Explained(mean, variance, setting.noise, inverse, ones, residual)
