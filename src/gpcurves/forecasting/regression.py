r"""Gaussian process regression with known hyperparameters: the posterior mean, and the variance of a new observation.

.. math:: m(x) = k^T\alpha, \qquad v(x) = C(x,x) - |L^{-1}k|^2 + \sigma^2, \qquad k = C(X, x)

(Rasmussen & Williams 2.25, 2.26) with :math:`\alpha = K^{-1}y`, :math:`K = C(X,X)+\sigma^2 I = LL^T`. Several covariance
functions are mixed with their probabilities: the mean is :math:`\langle m\rangle`, the variance
:math:`\langle v + m^2\rangle - \langle m\rangle^2`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from gpcurves.numerics.cholesky import factorise, solve_factorised, solve_lower
from gpcurves.numerics.validation import FloatArray
from gpcurves.problem import Problem


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


@dataclass(frozen=True)
class Mixture:
    """Several regressions with their probabilities."""

    regressions: Sequence[Regression]
    probabilities: FloatArray

    def mean(self, X: FloatArray) -> FloatArray:
        """Return the mean at each input."""
        return np.asarray(self.probabilities @ np.array([each.mean(X) for each in self.regressions]))

    def deviation(self, X: FloatArray) -> FloatArray:
        """Return the standard deviation of a noisy observation at each input."""
        means = np.array([each.mean(X) for each in self.regressions])
        between = self.probabilities @ (means - self.probabilities @ means) ** 2
        within = self.probabilities @ np.array([each.variance(X) for each in self.regressions])
        return np.asarray(np.sqrt(within + between))
