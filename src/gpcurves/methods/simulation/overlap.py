r"""Averages over the test input in closed form: :math:`B(x,x') = \langle C_a(x,x_*) C_b(x_*,x')\rangle_{x_*}`.

With them the generalisation error of a data set needs no test points: it is exact. They exist for

* the torus, where transforms multiply: two RBFs make an RBF with :math:`l^2 = l_a^2 + l_b^2`, and a Matérn kernel with
  itself makes one with :math:`\nu' = 2\nu + d/2`, :math:`l' = l\sqrt{\nu'/\nu}`;
* RBFs with Gaussian inputs and on the box, where the integrals are Gaussian.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce
from operator import add

import numpy as np
from scipy.special import erf

from gpcurves.inputs import Box, Gaussian, Inputs, Torus
from gpcurves.kernels import OU, RBF, Kernel, Matern, Matern32, Matern52, Stationary, as_rbf
from gpcurves.kernels.periodised import periodised_matrix
from gpcurves.kernels.stationary import LARGEST_NU, NEAR_WHOLE
from gpcurves.numerics.validation import FloatArray

Overlap = Callable[[FloatArray], FloatArray]
_MATERN = (OU, Matern32, Matern52, Matern)


def overlap(first: Kernel, second: Kernel, inputs: Inputs) -> Overlap | None:
    """Return the matrix of averages between the rows of X, or None where it has no closed form."""
    parts = [_pair(as_rbf(a) or a, as_rbf(b) or b, inputs) for a in first.terms for b in second.terms]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    return known[0] if len(known) == 1 else lambda X: reduce(add, (part(X) for part in known))


def _pair(first: Kernel, second: Kernel, inputs: Inputs) -> Overlap | None:
    if isinstance(inputs, Torus):
        product = _product_of_transforms(first, second, inputs.dim)
        return None if product is None else lambda X: periodised_matrix(product, X)
    if not (isinstance(first, RBF) and isinstance(second, RBF)):
        return None
    if isinstance(inputs, Gaussian):
        return _GaussianOverlap(first, second, inputs)
    return _BoxOverlap(first, second, inputs.dim) if isinstance(inputs, Box) else None


def _product_of_transforms(first: Kernel, second: Kernel, dim: int) -> Stationary | None:
    """Return the kernel whose transform is the product of two, with its variance."""
    if isinstance(first, RBF) and isinstance(second, RBF):
        shape: Stationary = RBF(tuple(np.hypot(first.lengthscales(dim), second.lengthscales(dim)).tolist()))
    elif isinstance(first, _MATERN) and isinstance(second, _MATERN):
        nu = first.smoothness
        if nu != second.smoothness or (first.lengthscales(dim) != second.lengthscales(dim)).any():
            return None
        smoother = 2 * nu + dim / 2
        if smoother > LARGEST_NU or 0 < abs(smoother - round(smoother)) < NEAR_WHOLE:  # Matern has no such nu
            return None
        shape = Matern(tuple((first.lengthscales(dim) * math.sqrt(smoother / nu)).tolist()), nu=smoother)
    else:
        return None
    assert isinstance(first, Stationary)
    assert isinstance(second, Stationary)
    # transforms at zero frequency: the product of the two is that of the shape times its variance
    return shape.scaled(math.exp(_log_origin(first, dim) + _log_origin(second, dim) - _log_origin(shape, dim)))


def _log_origin(kernel: Stationary, dim: int) -> float:
    shape = kernel.log_transform(np.zeros(1), dim)
    assert shape is not None  # RBF and Matérn have one
    return math.log(kernel.variance) + float(np.log(kernel.lengthscales(dim)).sum()) + float(shape[0])


class _GaussianOverlap:
    r"""Two RBFs with precisions `P`, `R` and inputs of covariance `S`, :math:`Q = P + R`.

    :math:`|1+SQ|^{-1/2} e^{-\frac12\delta^T(P^{-1}+R^{-1})^{-1}\delta - \frac12 m^T(Q^{-1}+S)^{-1}m}`,
    :math:`\delta = x - x'`, :math:`m = Q^{-1}(Px + Rx')`.
    """

    def __init__(self, first: RBF, second: RBF, inputs: Gaussian) -> None:
        dim = inputs.dim
        P, R = first.lengthscales(dim) ** -2.0, second.lengthscales(dim) ** -2.0
        Q = P + R
        self.factor = first.variance * second.variance / math.sqrt(np.linalg.det(np.eye(dim) + inputs.matrix * Q))
        self.apart = np.sqrt(P * R / Q)
        root = np.linalg.cholesky(np.linalg.inv(np.diag(1 / Q) + inputs.matrix))
        self.left, self.right = (P / Q)[:, None] * root, (R / Q)[:, None] * root

    def __call__(self, X: FloatArray) -> FloatArray:
        from scipy.spatial.distance import cdist

        scaled = X * self.apart
        exponent = cdist(scaled, scaled, "sqeuclidean")
        exponent += cdist(X @ self.left, -(X @ self.right), "sqeuclidean")
        exponent *= -0.5
        result: FloatArray = self.factor * np.exp(exponent, out=exponent)
        return result


class _BoxOverlap:
    r"""Two RBFs on the unit box: in each dimension a Gaussian in :math:`x - x'` and two error functions of the mean."""

    def __init__(self, first: RBF, second: RBF, dim: int) -> None:
        self.scales = first.lengthscales(dim), second.lengthscales(dim)
        self.factor = first.variance * second.variance

    def __call__(self, X: FloatArray) -> FloatArray:
        result: FloatArray = np.full((len(X), len(X)), self.factor)
        for x, a, b in zip(X.T, self.scales[0].tolist(), self.scales[1].tolist(), strict=True):
            q = a**-2.0 + b**-2.0
            mean = np.add.outer(x / (a * a * q), x / (b * b * q))
            root = math.sqrt(q / 2)
            result *= np.exp(-0.5 * np.subtract.outer(x, x) ** 2 / (a * a + b * b))
            result *= math.sqrt(math.pi / (2 * q)) * (erf((1 - mean) * root) + erf(mean * root))
        return result
