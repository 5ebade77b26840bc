r"""The kernel on the torus: the sum over all periodic images, :math:`C(x,x') = \sum_{r\in Z^d} c(x - x' - r)`.

Sollich & Halees 2002, eq. (43). It is not renormalised, so C(x, x) slightly exceeds the variance of the kernel.
"""

from __future__ import annotations

import itertools

import numpy as np

from gpcurves.errors import NumericalError
from gpcurves.kernels.base import Kernel
from gpcurves.kernels.composite import line_covariance
from gpcurves.validation import FloatArray

_MOST_IMAGES = 2_000
_TINY = 1e-17


def periodised_matrix(kernel: Kernel, X: FloatArray, Y: FloatArray) -> FloatArray:
    """Return the matrix of periodised covariances between the rows of X and those of Y."""
    dim = X.shape[1]
    reach = 0
    origin = float(kernel.diag(np.zeros((1, dim)))[0])
    edge = np.zeros((2, dim))
    while True:
        # the nearest image left out is at least reach + 1/2 away in one component
        edge[1] = 0.0
        worst = 0.0
        for axis in range(dim):
            edge[1] = 0.0
            edge[1, axis] = reach + 0.5
            worst = max(worst, float(kernel(edge[:1], edge[1:])[0, 0]))
        if worst < _TINY * origin:
            break
        reach += 1
        if (2 * reach + 1) ** dim > _MOST_IMAGES:
            raise NumericalError(
                f"the periodic images of {kernel!r} in {dim} dimensions do not die out within {_MOST_IMAGES}: "
                "use a shorter lengthscale, or inputs on the box"
            )
    offset = X - np.floor(X), Y - np.floor(Y)
    total: FloatArray = np.zeros((len(X), len(Y)))
    for image in itertools.product(range(-reach, reach + 1), repeat=dim):
        total += kernel(offset[0], offset[1] + np.asarray(image, dtype=np.float64))
    return total


def circle_covariance(
    kernel: Kernel, distance: FloatArray, spectrum: FloatArray | None
) -> tuple[FloatArray, FloatArray, float]:
    r"""Return :math:`C(a)`, :math:`C(0) - C(a)` without cancellation, and `C(0)`, on the circle, for 0 ≤ a ≤ 1/2.

    The images :math:`I(a) = \sum_{r\ne0} c(a - r)` are smooth and even in `a`, so 24 Chebyshev polynomials in
    :math:`8a^2 - 1` represent them, and :math:`I(0) - I(a) = \sum_k c_k (-1)^k\, 2\sin^2(k \arcsin 2a)` has no
    cancellation. ``spectrum`` gives the eigenvalues :math:`\lambda_0, \lambda_1, \dots` where Fourier's series
    converges faster than the images do.
    """
    value, loss, origin = line_covariance(kernel, distance)
    degree = 24
    angle = np.pi * (np.arange(degree) + 0.5) / degree
    at = np.sqrt((1 + np.cos(angle)) / 8)
    if spectrum is not None:
        waves = np.arange(len(spectrum))
        weight = np.where(waves == 0, 1.0, 2.0) * spectrum
        images = np.cos(2 * np.pi * np.outer(at, waves)) @ weight - line_covariance(kernel, at)[0]
    else:
        images = np.zeros(degree)
        for r in itertools.count(1):
            term = line_covariance(kernel, r - at)[0] + line_covariance(kernel, r + at)[0]
            images += term
            if term.max() < _TINY * origin:
                break
            if r > 100_000:
                raise NumericalError(f"the periodic images of {kernel!r} do not die out within 100000")
    order = np.arange(degree)
    coefficients = (np.cos(np.outer(order, angle)) @ images) * (2.0 / degree)
    coefficients[0] /= 2
    signed = coefficients * (-1.0) ** order
    phase = np.arcsin(np.minimum(2 * distance, 1.0))
    fallen = 2 * np.sin(np.multiply.outer(phase, order)) ** 2 @ signed
    at_origin = float(signed.sum())
    return value + at_origin - fallen, loss + fallen, origin + at_origin
