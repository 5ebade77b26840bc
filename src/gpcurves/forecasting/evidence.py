r"""The log evidence of a Gaussian process and its gradient, as fast as matrix products are.

For standardised inputs, whose columns belong to `B` blocks with a lengthscale each, and hyperparameters
:math:`\theta = (\ln s^2, [\ln b^2,] \ln l_1, \dots, \ln l_B, \ln\sigma^2)`,

.. math:: \ln p(y|\theta) = -\tfrac12 y^TK^{-1}y - \tfrac12\ln\det K - \tfrac n2\ln 2\pi, \quad
   K_{jk} = s^2\rho(r_{jk}) + [b^2(1 + x_j\cdot x_k/B)] + (\sigma^2w_j + 10^{-12}s^2)\delta_{jk}

(Rasmussen & Williams 2.30), with the gradient :math:`-\tfrac12\mathrm{tr}[M\,\partial K/\partial\theta]`,
:math:`M = K^{-1} - \alpha\alpha^T`, :math:`\alpha = K^{-1}y` (5.9). Three identities save most of the work besides the factor
and the inverse.

- The correlation depends on :math:`r^2 = |z_j-z_k|^2`, so with :math:`S = M\circ(-2s^2\,d\rho/d(r^2))` the derivative by the log
  lengthscale of an input is :math:`-\sum_{j<k}S_{jk}(z_{ji}-z_{ki})^2`. Only the upper triangle is needed: its row sums, column
  sums and one product `SZ`.
- A common factor of all variances changes `K` by itself, and :math:`\mathrm{tr}[MK] = n - y^T\alpha`. The derivative by
  :math:`\ln s^2` is therefore what is left of this after the noise and the linear term.
- Squared distances are products of the vectors :math:`(-2z_j, |z_j|^2, 1)` and :math:`(z_k, 1, |z_k|^2)`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.linalg import blas

from gpcurves.kernels import RBF, Matern52
from gpcurves.numerics.panels import Panels
from gpcurves.numerics.validation import FloatArray

Family = type[RBF] | type[Matern52]
JITTER = 1e-12  # added to the noise in units of the signal, so that factors exist; far below what forecasts resolve


class Evidence:
    """The log evidence of targets as a function of log hyperparameters.

    Calls share memory that is kept between them, so an instance must not be called by two threads at once.

    Parameters
    ----------
    family
        The covariance function.
    X
        Standardised inputs, one row each.
    blocks
        A number per column: those with the same number share a lengthscale. Lengthscales are in the order of the numbers.
    linear
        Whether functions have a linear part, of variance :math:`b^2`.
    weights
        What the noise variance is multiplied by in each row.
    """

    def __init__(
        self,
        family: Family,
        X: FloatArray,
        blocks: tuple[int, ...],
        *,
        linear: bool = False,
        weights: FloatArray | None = None,
    ) -> None:
        self.family, self.X, self.blocks, self.linear = family, X, blocks, linear
        self.weights = np.ones(len(X)) if weights is None else weights
        self._index = np.unique(blocks, return_inverse=True)[1]
        self._count = int(self._index.max()) + 1
        self._columns = np.asfortranarray(X.T)
        # The inner product of two of these columns is B + x.x'.
        self._lines = np.asfortranarray(np.vstack((X.T, np.full(len(X), math.sqrt(self._count)))))
        self._memory: tuple[Panels, Panels] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_memory": None}

    def __call__(self, theta: FloatArray, y: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        r"""Return the log evidence, its gradient and :math:`\alpha`; minus infinity and zeros if there is no factor."""
        K, slopes, points = self._fill(theta)
        logdet = K.factorise()
        if not math.isfinite(logdet):
            return -math.inf, np.zeros(len(theta)), np.zeros(len(y))
        whitened = K.whiten(y)
        alpha = K.solve_upper(whitened)
        K.invert()
        gradient = self._gradient(K, slopes, points, theta, alpha)
        gradient[0] += 0.5 * (float(y @ alpha) - len(y))
        return _log_density(whitened, logdet), gradient, alpha

    def value(self, theta: FloatArray, y: FloatArray) -> float:
        """Return the log evidence alone, at a third of the cost."""
        K, _, _ = self._fill(theta)
        logdet = K.factorise()
        return _log_density(K.whiten(y), logdet) if math.isfinite(logdet) else -math.inf

    def _fill(self, theta: FloatArray) -> tuple[Panels, Panels, FloatArray]:
        """Return covariances, slopes, and the scaled inputs as columns, with ones and squared norms below them."""
        if self._memory is None:
            self._memory = Panels(len(self.X)), Panels(len(self.X))
            width = self._memory[0].width
            self._ones, self._above = np.ones(width), np.tri(width, k=-1).T  # the latter strictly above the diagonal
        covariances, slopes = self._memory
        n, dim = self.X.shape
        variance, noise = math.exp(theta[0]), math.exp(theta[-1])
        factors = self.family.unit * np.exp(-theta[1 + self.linear : -1])[self._index]
        points, others = np.empty((2, n, dim + 2)).swapaxes(1, 2)
        Z, squares = points[:dim], points[dim + 1]
        np.multiply(self._columns, factors[:, None], out=Z)
        np.einsum("ij,ij->j", Z, Z, out=squares)
        points[dim] = 1.0
        np.multiply(Z, -2.0, out=others[:dim])
        others[dim], others[dim + 1] = squares, 1.0
        diagonal = noise * self.weights + (1.0 + JITTER) * variance
        for (start, stop, K), S in zip(covariances, slopes.rows, strict=True):
            width = stop - start
            blas.dgemm(1.0, others[:, start:stop], points[:, start:], trans_a=1, c=K, overwrite_c=1)
            self.family.evaluate(K, S, covariances.borrow(*K.shape), float(theta[0]))
            K.ravel(order="K")[: width * width : width + 1] = diagonal[start:stop]
            if self.linear:
                factor = math.exp(theta[1]) / self._count
                rows, columns = self._lines[:, start:stop], self._lines[:, start:]
                blas.dgemm(factor, rows, columns, trans_a=1, beta=1.0, c=K, overwrite_c=1)
        return covariances, slopes, points

    def _gradient(
        self, inverse: Panels, slopes: Panels, points: FloatArray, theta: FloatArray, alpha: FloatArray
    ) -> FloatArray:
        r"""Return the gradient, but without :math:`(y^T\alpha - n)/2` for the variance; overwrite the panels."""
        n, dim = self.X.shape
        diagonal, sums, products = np.empty(n), np.zeros(n), np.empty((dim + 2, n), order="F")
        square = 0.0  # the sum of lines times M times lines
        for (start, stop, M), S in zip(inverse, slopes.rows, strict=True):
            width = stop - start
            blas.dger(-1.0, alpha[start:stop], alpha[start:], a=M, overwrite_a=1)
            diagonal[start:stop] = M[:, :width].diagonal()
            M[:, :width] *= self._above[:width, :width]
            S *= M
            blas.dgemm(1.0, points[:, start:], S, trans_b=1, c=products[:, start:stop], overwrite_c=1)
            blas.dgemv(1.0, S, self._ones[:width], trans=1, beta=1.0, y=sums[start:], overwrite_y=1)
            if self.linear:
                product = blas.dgemm(1.0, self._lines[:, start:], M, trans_b=1)
                square += 2.0 * float(np.sum(product * self._lines[:, start:stop]))
        gradient = np.empty(len(theta))
        gradient[-1] = -0.5 * math.exp(theta[-1]) * float(diagonal @ self.weights)
        gradient[0] = -gradient[-1]
        if self.linear:
            square += float(np.sum(diagonal * self._lines**2))
            gradient[1] = -0.5 * math.exp(theta[1]) / self._count * square
            gradient[0] -= gradient[1]
        Z = points[:dim]
        by_input = 2 * np.einsum("ij,ij->i", Z, products[:dim]) - (Z * Z) @ (products[dim] + sums)
        gradient[1 + self.linear : -1] = np.bincount(self._index, by_input)
        return gradient


def _log_density(whitened: FloatArray, logdet: float) -> float:
    """Return the log density of normal variables; minus infinity without a factor, of which the determinant is infinite."""
    return -0.5 * (float(whitened @ whitened) + logdet + len(whitened) * math.log(2 * math.pi))
