r"""Gaussian process classification by Laplace's method: the posterior, the log evidence and its gradient.

A class is told from all others by a function :math:`f = m + g`, with m the log odds of its share and g from a Gaussian process:
:math:`p(t=1|f) = 1/(1+e^{-f})`. At the most probable f, with :math:`a = \nabla\ln p(t|f)`, :math:`W = -\nabla\nabla\ln p(t|f)` and
:math:`B = 1 + W^{1/2}KW^{1/2} = LL^T` (Rasmussen & Williams 3.32, 5.20),

.. math:: \ln q(t|\theta) = -\tfrac12 a^T(f-m) + \ln p(t|f) - \sum_i\ln L_{ii}.

Its derivative by a hyperparameter is that of a regression, :math:`-\tfrac12\mathrm{tr}[M\,\partial K/\partial\theta]`, with

.. math:: M = R - aa^T - ua^T - au^T, \quad R = W^{1/2}B^{-1}W^{1/2}, \quad u = (1-RK)s, \quad
   s_i = -\tfrac12\Sigma_{ii}W'_i,

where :math:`\Sigma = K - KRK` is the posterior covariance and the terms with u are due to the change of f (5.21 to 5.24). All classes
share the hyperparameters: the evidence is the sum over classes, and so is M.

Without row i, its function would have the variance :math:`v_i = \Sigma_{ii}/(1-W_i\Sigma_{ii})` and the mean :math:`f_i - a_iv_i`: what is
left of the posterior after dividing by the normal approximation to the likelihood of its label.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy
from scipy.linalg import lapack
from scipy.special import expit

from gpcurves.errors import NumericalError
from gpcurves.forecasting.evidence import JITTER, Family
from gpcurves.kernels import RBF
from gpcurves.numerics.cholesky import factorise, solve_factorised, solve_lower
from gpcurves.numerics.validation import FloatArray

_MOST_STEPS, _MOST_HALVINGS = 30, 12
_TOLERANCE = 1e-9
_SMALLEST = 1e-10  # weight of a label that is certain, so that its square root can be divided by


@dataclass(frozen=True, eq=False)
class ClassPosterior:
    """The normal approximation to the posterior of one class against all others."""

    K: FloatArray
    mean: float  # of the prior
    a: FloatArray
    f: FloatArray
    W: FloatArray
    L: FloatArray
    fit: float  # the log evidence

    @property
    def roots(self) -> FloatArray:
        return np.sqrt(self.W)

    def leave_one_out(self) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of the function at each row without its label."""
        Y = solve_lower(self.L, self.roots[:, None] * self.K)
        left = np.maximum(self.K.diagonal() - np.einsum("ij,ij->j", Y, Y), 0.0)
        variance = left / np.maximum(1 - self.W * left, 1e-9)
        return self.f - self.a * variance, variance

    def predict(self, across: FloatArray, own: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance at new inputs, from their covariances with the rows and their prior variances."""
        Y = solve_lower(self.L, self.roots[:, None] * across)
        return self.mean + self.a @ across, np.maximum(own - np.einsum("ij,ij->j", Y, Y), 0.0)


def find_posterior(K: FloatArray, labels: FloatArray, mean: float, start: FloatArray | None = None) -> ClassPosterior:
    """Return the posterior by Newton's method (Rasmussen & Williams, algorithm 3.1), with steps halved while they lose.

    ``labels`` are 1 for rows of the class and 0 for others. ``start`` is a of a posterior with a similar covariance.
    """
    signs = 2 * labels - 1

    def objective(a: FloatArray, f: FloatArray) -> float:
        return -0.5 * float(a @ (f - mean)) - float(np.logaddexp(0.0, -signs * f).sum())

    a = np.zeros(len(labels))
    f, value = np.full(len(labels), mean), -float(np.logaddexp(0.0, -signs * mean).sum())
    if start is not None:
        other = mean + K @ start
        if (found := objective(start, other)) > value:
            a, f, value = start, other, found
    for _ in range(_MOST_STEPS):
        p = expit(f)
        W = np.maximum(p * (1 - p), _SMALLEST)
        roots = np.sqrt(W)
        L = _factor(K, roots)
        b = W * (f - mean) + labels - p
        step = b - roots * solve_factorised(L, roots * (K @ b)) - a
        change, size, gain = K @ step, 1.0, 0.0
        for _ in range(_MOST_HALVINGS):
            gain = objective(a + size * step, f + size * change) - value
            if gain >= 0:
                break
            size /= 2
        else:
            break  # rounding errors are all that is left
        a, f, value = a + size * step, f + size * change, value + gain
        if gain < _TOLERANCE * max(1.0, abs(value)):
            break
    else:
        raise NumericalError("Laplace's method has not converged")
    p = expit(f)
    W = np.maximum(p * (1 - p), _SMALLEST)
    L = _factor(K, np.sqrt(W))
    return ClassPosterior(K, mean, labels - p, f, W, L, value - float(np.log(L.diagonal()).sum()))


def _factor(K: FloatArray, roots: FloatArray) -> FloatArray:
    B = roots[:, None] * K * roots
    B.ravel()[:: len(B) + 1] += 1.0
    return factorise(B.T, overwrite=True)


class LaplaceEvidence:
    r"""The log evidence of classes as a function of :math:`\theta = (\ln s^2, \ln b^2, \ln l_1, \dots, \ln l_B)`.

    The covariance is that of `evidence`, :math:`s^2\rho(r) + b^2(1 + x\cdot x'/B)`. ``labels`` has a column of zeros and ones for
    each class, one column alone for two classes; ``means`` are the log odds of their shares.
    """

    def __init__(
        self, family: Family, X: FloatArray, blocks: tuple[int, ...], labels: FloatArray, means: FloatArray
    ) -> None:
        self.family, self.X, self.blocks, self.labels, self.means = family, X, blocks, labels, means
        self._index = np.unique(blocks, return_inverse=True)[1]
        self.count = int(self._index.max()) + 1
        self._linear = 1.0 + X @ X.T / self.count
        self._starts: list[FloatArray | None] = [None] * labels.shape[1]

    def covariance(self, theta: FloatArray, X: FloatArray | None = None) -> FloatArray:
        """Return the covariances between the rows and other inputs, or among the rows."""
        if X is None:
            return self._covariances(theta)[0]
        r2 = self._distances(theta, X)
        return np.asarray(
            math.exp(theta[0]) * self._correlate(r2)[0] + math.exp(theta[1]) * (1.0 + self.X @ X.T / self.count)
        )

    def variance(self, theta: FloatArray, X: FloatArray) -> FloatArray:
        """Return prior variances."""
        linear = 1.0 + np.einsum("ij,ij->i", X, X) / self.count
        return np.asarray(math.exp(theta[0]) * (1 + JITTER) + math.exp(theta[1]) * linear)

    def _scaled(self, theta: FloatArray, X: FloatArray) -> FloatArray:
        return np.asarray(X * np.exp(-theta[2:])[self._index])

    def _distances(self, theta: FloatArray, X: FloatArray) -> FloatArray:
        return np.asarray(
            scipy.spatial.distance.cdist(self._scaled(theta, self.X), self._scaled(theta, X), "sqeuclidean")
        )

    def _correlate(self, r2: FloatArray) -> tuple[FloatArray, FloatArray]:
        r"""Return :math:`\rho` and :math:`-2\,d\rho/d(r^2)`."""
        if self.family is RBF:
            rho = np.exp(-0.5 * r2)
            return rho, rho
        r = np.sqrt(5.0 * r2)  # Matérn-5/2
        decay = np.exp(-r)
        return (1 + r + r * r / 3) * decay, 5 / 3 * (1 + r) * decay

    def _covariances(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        rho, slope = self._correlate(self._distances(theta, self.X))
        K = math.exp(theta[0]) * rho + math.exp(theta[1]) * self._linear
        K.ravel()[:: len(K) + 1] += JITTER * math.exp(theta[0])
        return K, slope

    def posteriors(self, theta: FloatArray, K: FloatArray | None = None) -> list[ClassPosterior]:
        """Return the posterior of each class."""
        K = self._covariances(theta)[0] if K is None else K
        found = []
        for k, (labels, mean) in enumerate(zip(self.labels.T, self.means, strict=True)):
            found.append(find_posterior(K, labels, float(mean), self._starts[k]))
            self._starts[k] = found[-1].a  # hyperparameters change little from call to call
        return found

    def __call__(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Return the log evidence of all classes together, and its gradient."""
        K, slope = self._covariances(theta)
        value, M = 0.0, np.zeros_like(K)
        for each in self.posteriors(theta, K):
            value += each.fit
            M += _gradient_matrix(each)
        variance, linear = math.exp(theta[0]), math.exp(theta[1])
        gradient = np.empty(len(theta))
        by_linear = float(np.einsum("ij,ij->", M, self._linear))
        gradient[1] = -0.5 * linear * by_linear
        gradient[0] = -0.5 * (float(np.einsum("ij,ij->", M, K)) - linear * by_linear)
        # a lengthscale changes K by S (z - z')^2, whose sum with M needs row sums and one product
        S = M * slope
        Z = self._scaled(theta, self.X)
        by_input = variance * ((Z * Z).T @ S.sum(axis=1) - np.einsum("ij,ij->j", Z, S @ Z))
        gradient[2:] = -np.bincount(self._index, by_input)
        return value, gradient

    def of_rows(self, rows: np.ndarray) -> LaplaceEvidence:
        """Return the evidence of a part of the rows, with the log odds of all."""
        return LaplaceEvidence(self.family, self.X[rows], self.blocks, self.labels[rows], self.means)


def _gradient_matrix(found: ClassPosterior) -> FloatArray:
    """Return M of the gradient."""
    roots = found.roots
    inverse, info = lapack.dpotri(found.L, lower=1)
    assert info == 0
    R = np.tril(inverse)
    R = R + np.tril(inverse, -1).T
    R *= roots[:, None]
    R *= roots
    KR = found.K @ R
    left = found.K.diagonal() - np.einsum("ij,ij->i", KR, found.K)
    p = expit(found.f)
    s = -0.5 * left * found.W * (1 - 2 * p)
    u = s - KR.T @ s
    cross = np.outer(u + 0.5 * found.a, found.a)
    return np.asarray(R - cross - cross.T)
