r"""Log evidence of a Gaussian process with one lengthscale per input, and its gradient.

For standardised data and hyperparameters :math:`\theta = (\ln s^2, \ln l_1, \dots, \ln l_d, \ln\sigma^2)`,

.. math:: \ln p(y|\theta) = -\tfrac12 y^TK^{-1}y - \tfrac12\ln\det K - \tfrac n2\ln 2\pi, \quad K = s^2\rho(r) + \sigma^2 I

(Rasmussen & Williams 2.30) with the gradient :math:`\tfrac12\mathrm{tr}[(\alpha\alpha^T - K^{-1})\,\partial K/\partial\theta]`,
:math:`\alpha = K^{-1}y` (5.9). Both correlations depend on :math:`r^2 = \sum_i z_i^2`, differences in units of the
lengthscale, so with :math:`M = (\alpha\alpha^T - K^{-1})\circ 2s^2|\rho'(r^2)|` all lengthscales together need one product
`MZ`: :math:`\tfrac12\sum_{jk}M_{jk}(z_{ji}-z_{ki})^2 = \sum_j z_{ji}^2\sum_kM_{jk} - (Z^TMZ)_{ii}`.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from scipy.linalg import blas, lapack

from gpcurves.errors import NumericalError
from gpcurves.numerics.validation import FloatArray

Family = Literal["rbf", "matern52"]
FAMILIES: tuple[Family, ...] = ("rbf", "matern52")
JITTER = 1e-12
"""Added to the noise in units of the signal, so that factors exist; far below what forecasts resolve."""


def squared_distances(Z: FloatArray, other: FloatArray | None = None) -> FloatArray:
    """Return squared distances between the rows of Z and those of another matrix (of Z itself if not given)."""
    Y = Z if other is None else other
    distances = -2.0 * (Z @ Y.T)
    distances += (Z * Z).sum(axis=1)[:, None]
    distances += (Y * Y).sum(axis=1)
    np.maximum(distances, 0.0, out=distances)
    if other is None:
        np.fill_diagonal(distances, 0.0)
    return distances


def correlation(family: Family, squared: FloatArray) -> FloatArray:
    """Return the correlations at squared scaled distances."""
    if family == "rbf":
        return np.exp(-0.5 * squared)
    return _correlation_and_slope(family, squared)[0]


def _correlation_and_slope(family: Family, squared: FloatArray) -> tuple[FloatArray, FloatArray]:
    r"""Return :math:`\rho` and :math:`-2\rho'` with respect to the squared distance."""
    if family == "rbf":
        rho = np.exp(-0.5 * squared)
        return rho, rho.copy()
    r = np.sqrt(5.0 * squared)
    decay = np.exp(-r)
    slope = (1.0 + r) * decay
    rho = slope + (squared * (5.0 / 3.0)) * decay
    slope *= 5.0 / 3.0
    return rho, slope


class Evidence:
    """The log evidence of data as a function of log hyperparameters."""

    def __init__(self, family: Family, X: FloatArray, y: FloatArray) -> None:
        self.family = family
        self.X = X
        self.y = y

    def __call__(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Return the log evidence and its gradient; minus infinity where double precision has no factor."""
        variance, lengthscales, noise = unpack(theta)
        Z = self.X / lengthscales
        rho, slope = _correlation_and_slope(self.family, squared_distances(Z))
        gradient = np.zeros(len(theta))
        K = variance * rho
        n = len(K)
        K.ravel()[:: n + 1] += noise + JITTER * variance
        L, info = lapack.dpotrf(K.T, lower=1, clean=1, overwrite_a=1)
        if info:
            return -math.inf, gradient
        alpha = lapack.dpotrs(L, self.y, lower=1)[0]
        value = -0.5 * float(self.y @ alpha) - float(np.log(L.diagonal()).sum()) - 0.5 * n * math.log(2 * math.pi)
        inverse = lapack.dpotri(L, lower=1, overwrite_c=1)[0]
        M = blas.dsyr(
            -1.0, alpha, a=inverse, lower=1, overwrite_a=1
        )  # minus the matrix of (5.9), zero above the diagonal
        gradient[-1] = -0.5 * noise * float(np.trace(M))
        gradient[0] = -variance * (float(np.vdot(M.T, rho)) - 0.5 * float(M.diagonal() @ rho.diagonal()))
        M = np.multiply(M.T, slope, out=slope).T
        product = blas.dsymm(-variance, M, np.column_stack((Z, np.ones(n))), lower=1)
        gradient[1:-1] = product[:, -1] @ (Z * Z) - np.einsum("ij,ij->j", Z, product[:, :-1])
        return value, gradient


def unpack(theta: FloatArray) -> tuple[float, FloatArray, float]:
    """Return the signal variance, the lengthscales and the noise variance."""
    return math.exp(theta[0]), np.exp(theta[1:-1]), math.exp(theta[-1])


def fitted(family: Family, X: FloatArray, y: FloatArray, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the factor L of the observed covariances and the weights of the posterior mean."""
    variance, lengthscales, noise = unpack(theta)
    K = variance * correlation(family, squared_distances(X / lengthscales))
    K.ravel()[:: len(K) + 1] += noise + JITTER * variance
    L, info = lapack.dpotrf(K.T, lower=1, clean=1, overwrite_a=1)
    if info:
        raise NumericalError("the covariances of the data are singular in double precision")
    return L, lapack.dpotrs(L, y, lower=1)[0]
