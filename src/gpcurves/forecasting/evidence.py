r"""The log evidence of a Gaussian process and its gradient, as fast as matrix products are.

For standardised inputs, whose columns belong to `B` blocks with a lengthscale each, and hyperparameters
:math:`\theta = (\ln s^2, \ln b_1^2, \dots, \ln l_1, \dots, \ln l_B, \ln\sigma^2)`,

.. math:: \ln p(y|\theta) = -\tfrac12 y^TK^{-1}y - \tfrac12\ln\det K - \tfrac n2\ln 2\pi, \quad
   K_{jk} = s^2\rho(r_{jk}) + \sum_pb_p^2\phi_p(x_j)\cdot\phi_p(x_k) + (\sigma^2w_j + 10^{-12}s^2)\delta_{jk}

with features :math:`\phi_p` of further parts of the function, such as a linear one (Rasmussen & Williams 2.30), and the gradient
:math:`-\tfrac12\mathrm{tr}[M\,\partial K/\partial\theta]`, :math:`M = K^{-1} - \alpha\alpha^T`, :math:`\alpha = K^{-1}y` (5.9). Three
identities save most of the work besides the factor and the inverse.

- The correlation depends on :math:`r^2 = |z_j-z_k|^2`, so with :math:`S = M\circ(-2s^2\,d\rho/d(r^2))` the derivative by the log
  lengthscale of an input is :math:`-\sum_{j<k}S_{jk}(z_{ji}-z_{ki})^2`. Only the upper triangle is needed: its row sums, column
  sums and one product `SZ`.
- A common factor of all variances changes `K` by itself, and :math:`\mathrm{tr}[MK] = n - y^T\alpha`. The derivative by
  :math:`\ln s^2` is therefore what is left of this after the noise and the further parts.
- Squared distances are products of the vectors :math:`(-2z_j, |z_j|^2, 1)` and :math:`(z_k, 1, |z_k|^2)`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import blas

from gpcurves.kernels import RBF, Matern52
from gpcurves.numerics.panels import Panels
from gpcurves.numerics.validation import FloatArray

Family = type[RBF] | type[Matern52]
JITTER = 1e-12  # added to the noise in units of the signal, so that factors exist; far below what forecasts resolve


class _Memory(NamedTuple):
    """Panels that calls share: the products of the features of each part stay as they are."""

    covariances: Panels
    slopes: Panels
    parts: list[Panels]


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
    parts
        Features of each further part of the function, a column for each row of X.
    weights
        What the noise variance is multiplied by in each row.
    """

    def __init__(
        self,
        family: Family,
        X: FloatArray,
        blocks: tuple[int, ...],
        *,
        parts: Sequence[FloatArray] = (),
        weights: FloatArray | None = None,
    ) -> None:
        self.family, self.X, self.blocks, self.parts = family, X, blocks, tuple(parts)
        self.weights = np.ones(len(X)) if weights is None else weights
        self._index = np.unique(blocks, return_inverse=True)[1]
        self._columns = np.asfortranarray(X.T)
        self._memory: _Memory | None = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_memory": None}

    def __call__(self, theta: FloatArray, y: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        r"""Return the log evidence, its gradient and :math:`\alpha`; minus infinity and zeros if there is no factor."""
        memory, points = self._fill(theta)
        K = memory.covariances
        logdet = K.factorise()
        if not math.isfinite(logdet):
            return -math.inf, np.zeros(len(theta)), np.zeros(len(y))
        whitened = K.whiten(y)
        alpha = K.solve_upper(whitened)
        K.invert()
        gradient = self._gradient(memory, points, theta, alpha)
        gradient[0] += 0.5 * (float(y @ alpha) - len(y))
        return _log_density(whitened, logdet), gradient, alpha

    def value(self, theta: FloatArray, y: FloatArray) -> float:
        """Return the log evidence alone, at a third of the cost."""
        K = self._fill(theta)[0].covariances
        logdet = K.factorise()
        return _log_density(K.whiten(y), logdet) if math.isfinite(logdet) else -math.inf

    def _fill(self, theta: FloatArray) -> tuple[_Memory, FloatArray]:
        """Fill covariances and slopes, and return the scaled inputs as columns too, with ones and squared norms below them."""
        if self._memory is None:
            self._memory = _Memory(Panels(len(self.X)), Panels(len(self.X)), [_multiply(part) for part in self.parts])
            width = self._memory.covariances.width
            self._ones, self._above = np.ones(width), np.tri(width, k=-1).T  # the latter strictly above the diagonal
        covariances, slopes, products = self._memory
        n, dim = self.X.shape
        variance, noise = math.exp(theta[0]), math.exp(theta[-1])
        factors = self.family.unit * np.exp(-theta[1 + len(self.parts) : -1])[self._index]
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
        for part, log in zip(products, theta[1:], strict=False):
            for K, added in zip(covariances.rows, part.rows, strict=True):
                blas.daxpy(added.ravel(order="K"), K.ravel(order="K"), a=math.exp(log))
        return self._memory, points

    def _gradient(self, memory: _Memory, points: FloatArray, theta: FloatArray, alpha: FloatArray) -> FloatArray:
        r"""Return the gradient, but without :math:`(y^T\alpha - n)/2` for the variance; overwrite the inverse and the slopes."""
        n, dim = self.X.shape
        diagonal, sums, products = np.empty(n), np.zeros(n), np.empty((dim + 2, n), order="F")
        traces = np.zeros(len(self.parts))  # of M times the products of the features of each part
        inverse, slopes, parts = memory
        for number, ((start, stop, M), S) in enumerate(zip(inverse, slopes.rows, strict=True)):
            width = stop - start
            blas.dger(-1.0, alpha[start:stop], alpha[start:], a=M, overwrite_a=1)
            diagonal[start:stop] = M[:, :width].diagonal()
            M[:, :width] *= self._above[:width, :width]
            S *= M
            blas.dgemm(1.0, points[:, start:], S, trans_b=1, c=products[:, start:stop], overwrite_c=1)
            blas.dgemv(1.0, S, self._ones[:width], trans=1, beta=1.0, y=sums[start:], overwrite_y=1)
            flat = M.ravel(order="K")
            traces += [2.0 * blas.ddot(part.rows[number].ravel(order="K"), flat) for part in parts]
        gradient = np.empty(len(theta))
        gradient[-1] = -0.5 * math.exp(theta[-1]) * float(diagonal @ self.weights)
        gradient[0] = -gradient[-1]
        traces += [float(np.sum(diagonal * part**2)) for part in self.parts]
        added = slice(1, 1 + len(self.parts))
        gradient[added] = -0.5 * np.exp(theta[added]) * traces
        gradient[0] -= gradient[added].sum()
        Z = points[:dim]
        by_input = 2 * np.einsum("ij,ij->i", Z, products[:dim]) - (Z * Z) @ (products[dim] + sums)
        gradient[added.stop : -1] = np.bincount(self._index, by_input)
        return gradient


def _multiply(features: FloatArray) -> Panels:
    """Return the inner products of all columns."""
    columns = np.asfortranarray(features)
    products = Panels(columns.shape[1])
    for start, stop, rows in products:
        blas.dgemm(1.0, columns[:, start:stop], columns[:, start:], trans_a=1, c=rows, overwrite_c=1)
    return products


def _log_density(whitened: FloatArray, logdet: float) -> float:
    """Return the log density of normal variables; minus infinity without a factor, of which the determinant is infinite."""
    return -0.5 * (float(whitened @ whitened) + logdet + len(whitened) * math.log(2 * math.pi))
