r"""A Gaussian process with one lengthscale per input: its log evidence and the gradient of it, and what it predicts.

For standardised data and hyperparameters :math:`\theta = (\ln s^2, \ln l_1, \dots, \ln l_d, \ln\sigma^2)`,

.. math:: \ln p(y|\theta) = -\tfrac12 y^TK^{-1}y - \tfrac12\ln\det K - \tfrac n2\ln 2\pi, \quad K = s^2\rho(r) + \sigma^2 I

(Rasmussen & Williams 2.30) with the gradient :math:`\tfrac12\mathrm{tr}[(\alpha\alpha^T - K^{-1})\,\partial K/\partial\theta]`,
:math:`\alpha = K^{-1}y` (5.9). Both correlations depend on :math:`r^2 = \sum_i z_i^2`, differences in units of the
lengthscale, so with :math:`M = (\alpha\alpha^T - K^{-1})\circ 2s^2|\rho'(r^2)|` all lengthscales together need one product
`MZ`: :math:`\tfrac12\sum_{jk}M_{jk}(z_{ji}-z_{ki})^2 = \sum_j z_{ji}^2\sum_kM_{jk} - (Z^TMZ)_{ii}`.

With known hyperparameters, the posterior mean and the variance of a new observation are (2.25, 2.26)

.. math:: m(x) = k^T\alpha, \qquad v(x) = C(x,x) - |L^{-1}k|^2 + \sigma^2, \qquad k = C(X, x), \qquad K = LL^T.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.linalg import blas, lapack

from gpcurves.errors import NumericalError
from gpcurves.inputs import Inputs
from gpcurves.kernels import RBF, Matern52
from gpcurves.numerics.cholesky import factorise, solve_factorised, solve_lower
from gpcurves.numerics.validation import FloatArray
from gpcurves.problem import Problem

Family = type[RBF] | type[Matern52]
FAMILIES: tuple[Family, ...] = (RBF, Matern52)
JITTER = 1e-12
"""Added to the noise in units of the signal, so that factors exist; far below what forecasts resolve."""


class Evidence:
    """The log evidence of data as a function of log hyperparameters."""

    def __init__(self, family: Family, X: FloatArray, y: FloatArray) -> None:
        self.family, self.X, self.y = family, X, y
        self._shape = family()

    def __call__(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Return the log evidence and its gradient; minus infinity if double precision has no factor."""
        variance, lengthscales, noise = unpack(theta)
        Z = self.X / lengthscales
        rho, slope = self._shape.correlation_and_slope(_squared_distances(Z))
        gradient = np.zeros(len(theta))
        K = variance * rho
        n = len(K)
        K.ravel()[:: n + 1] += noise + JITTER * variance
        try:
            L = factorise(K.T, overwrite=True)  # symmetric, and in LAPACK's order without a copy
        except NumericalError:
            return -math.inf, gradient
        alpha = solve_factorised(L, self.y)
        value = -0.5 * float(self.y @ alpha) - float(np.log(L.diagonal()).sum()) - 0.5 * n * math.log(2 * math.pi)
        inverse = lapack.dpotri(L, lower=1, overwrite_c=1)[0]
        # minus the matrix of (5.9), of which only the lower triangle is computed: what is above the diagonal is zero
        M = blas.dsyr(-1.0, alpha, a=inverse, lower=1, overwrite_a=1)
        gradient[-1] = -0.5 * noise * float(np.trace(M))
        gradient[0] = -variance * (float(np.vdot(M.T, rho)) - 0.5 * float(M.diagonal() @ rho.diagonal()))
        M = np.multiply(M.T, slope, out=slope).T
        product = blas.dsymm(-variance, M, np.column_stack((Z, np.ones(n))), lower=1)
        gradient[1:-1] = product[:, -1] @ (Z * Z) - np.einsum("ij,ij->j", Z, product[:, :-1])
        return value, gradient


def _squared_distances(Z: FloatArray) -> FloatArray:
    """Return squared distances between rows by one matrix product, which is what makes the evidence fast."""
    distances = -2.0 * (Z @ Z.T)
    distances += (Z * Z).sum(axis=1)[:, None]
    distances += (Z * Z).sum(axis=1)
    np.maximum(distances, 0.0, out=distances)  # rounding may leave a little less than zero
    np.fill_diagonal(distances, 0.0)
    return distances


def unpack(theta: FloatArray) -> tuple[float, FloatArray, float]:
    """Return the signal variance, the lengthscales and the noise variance."""
    return math.exp(theta[0]), np.exp(theta[1:-1]), math.exp(theta[-1])


def build_problem(family: Family, theta: FloatArray, inputs: Inputs) -> Problem:
    """Return the problem with these log hyperparameters."""
    variance, lengthscales, noise = unpack(theta)
    return Problem(family(tuple(lengthscales.tolist()), variance), inputs, noise + JITTER * variance)


@dataclass(frozen=True)
class Regression:
    """A Gaussian process that has learnt from rows with inputs X: the factor L, and the weights of the posterior mean."""

    problem: Problem
    X: FloatArray
    factor: FloatArray
    alpha: FloatArray

    @classmethod
    def fit(cls, problem: Problem, X: FloatArray, y: FloatArray) -> Self:
        """Learn from rows."""
        K = problem.kernel(X)
        K.ravel()[:: len(K) + 1] += problem.noise
        L = factorise(K)
        return cls(problem, X, L, solve_factorised(L, y))

    def mean(self, X: FloatArray) -> FloatArray:
        """Return the posterior mean at each input."""
        return np.asarray(self.problem.kernel(X, self.X) @ self.alpha)

    def variance(self, X: FloatArray) -> FloatArray:
        """Return the variance of a noisy observation at each input, which is never below the noise."""
        W = solve_lower(self.factor, self.problem.kernel(self.X, X))
        left = self.problem.kernel.diag(X) - np.einsum("ij,ij->j", W, W)
        return np.asarray(np.maximum(left, 0.0) + self.problem.noise)
