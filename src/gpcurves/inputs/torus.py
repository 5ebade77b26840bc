r"""The torus: uniform inputs on [0, 1]^d with opposite faces joined, as in the papers.

The eigenfunctions are Fourier waves, and the eigenvalue of the integer vector `q` is the Fourier transform of the kernel
at frequency `q` (Sollich & Halees 2002, App. C). The kernel itself is the sum over all periodic images, see `periodic`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from gpcurves.inputs.base import Nodes, Overlap
from gpcurves.inputs.periodic import circle_covariance, periodised_matrix
from gpcurves.inputs.uniform import _Uniform
from gpcurves.kernels import OU, RBF, Kernel, Matern, Matern32, Matern52, Stationary, is_stationary
from gpcurves.kernels.stationary import LARGEST_SMOOTHNESS, NEAR_INTEGER
from gpcurves.numerics.quadrature import distance_rule
from gpcurves.numerics.validation import FloatArray
from gpcurves.spectra import CLOSED_FORM, Spectrum
from gpcurves.spectra.fourier import fourier
from gpcurves.spectra.lattice import Shells, lattice_spectrum, squares, sums_of_squares

_MATERN = (OU, Matern32, Matern52, Matern)
_LISTED_LINE = 200_000
_LISTED_VECTORS = 500_000.0
_LISTED_SHELLS = {1: 4e10, 2: 200_000, 3: 200_000, 4: 30_000}
"""How far single components and shells of each dimension (4: or more) are listed, as a squared length."""


class Torus(_Uniform):
    """Uniform on [0, 1]^dim with opposite faces joined; the kernel is summed over all its periodic images."""

    def line_rule(self, count: int) -> Nodes:
        return np.arange(count) / count, np.full(count, 1.0 / count)

    def objection(self, kernel: Any) -> str | None:
        reason = super().objection(kernel)
        if reason is None and not is_stationary(kernel):
            return "the torus needs a stationary kernel, which this is not: use inputs on the box"
        return reason

    def kernel_matrix(self, kernel: Kernel, X: FloatArray, Y: FloatArray | None = None) -> FloatArray:
        return periodised_matrix(kernel, X, Y)

    def variances(self, kernel: Kernel, X: FloatArray) -> FloatArray:
        return np.full(len(X), periodised_matrix(kernel, X[:1], X[:1])[0, 0])

    def spectrum(self, kernel: Kernel) -> Spectrum:
        return _waves(kernel, self.dim) or self.numerical_spectrum(kernel)

    def prior_variance(self, kernel: Kernel) -> float:
        return self.spectrum(kernel).trace  # images add to the variance of the kernel

    def overlap_of_terms(self, first: Kernel, second: Kernel) -> Overlap | None:
        product = _product_of_transforms(first, second, self.dim)
        return None if product is None else lambda X: periodised_matrix(product, X)

    def line_covariance(
        self, kernel: Kernel, distance: FloatArray, spectrum: Spectrum
    ) -> tuple[FloatArray, FloatArray, float]:
        # the closed form lists eigenvalues in the order of their frequency
        listed = spectrum.tail is None and spectrum.origin == CLOSED_FORM
        return circle_covariance(kernel, distance, spectrum.values if listed else None)

    def mean_over_nearest(self, n: FloatArray, function: Callable[[FloatArray], FloatArray]) -> FloatArray:
        a, width = distance_rule(0.5, n)
        values = width * function(a)
        return np.array([2 * m * np.exp((m - 1) * np.log1p(-2 * a)) @ values for m in n.tolist()])


@lru_cache(maxsize=4)
def _waves(kernel: Kernel, dim: int) -> Spectrum | None:
    """List the transform at integer vectors, shell by shell, as far as lists go; a tail integrates the rest.

    None if the kernel has no transform in closed form. A problem asks for its spectrum and for its trace: both are the same.
    """
    transform = fourier(kernel, dim)
    if transform is None:
        return None
    underflow = transform.profile.underflow
    kinds, sizes = (each.tolist() for each in np.unique(transform.scales, return_counts=True))
    if len(kinds) > 1:
        limit = max((40 * kinds[-1]) ** 2, float(transform.z_of(np.array([_LISTED_VECTORS]))[0]))
    elif dim == 1:
        limit = (_LISTED_LINE * kinds[0]) ** 2
    else:
        limit = _LISTED_SHELLS[min(dim, 4)] * kinds[0] ** 2
    reach = min(underflow, limit)
    groups: list[Shells] = []
    for scale, size in zip(kinds, sizes, strict=True):
        if reach / scale**2 <= _LISTED_SHELLS[min(size, 4)]:
            groups.append(sums_of_squares(size, scale, reach))
        else:
            groups.extend([squares(scale, reach)] * size)
    return lattice_spectrum(groups, transform.profile, reach, transform.z_of, limit < underflow, CLOSED_FORM)


def _product_of_transforms(first: Kernel, second: Kernel, dim: int) -> Stationary | None:
    r"""Return the kernel whose transform is the product of two, with its variance.

    Two RBFs make an RBF with :math:`l^2 = l_a^2 + l_b^2`, and a Matérn kernel with itself makes one with
    :math:`\nu' = 2\nu + d/2`, :math:`l' = l\sqrt{\nu'/\nu}`.
    """
    if isinstance(first, RBF) and isinstance(second, RBF):
        shape: Stationary = RBF(tuple(np.hypot(first.lengthscales(dim), second.lengthscales(dim)).tolist()))
    elif isinstance(first, _MATERN) and isinstance(second, _MATERN):
        smoothness = first.smoothness
        if smoothness != second.smoothness or (first.lengthscales(dim) != second.lengthscales(dim)).any():
            return None
        smoother = 2 * smoothness + dim / 2
        if smoother > LARGEST_SMOOTHNESS or 0 < abs(smoother - round(smoother)) < NEAR_INTEGER:
            return None  # Matern has no such smoothness
        scales = first.lengthscales(dim) * math.sqrt(smoother / smoothness)
        shape = Matern(tuple(scales.tolist()), smoothness=smoother)
    else:
        return None
    assert isinstance(first, Stationary)
    assert isinstance(second, Stationary)
    # transforms at zero frequency: the product of the two is that of the shape times its variance
    return shape.scaled(math.exp(_log_origin(first, dim) + _log_origin(second, dim) - _log_origin(shape, dim)))


def _log_origin(kernel: Stationary, dim: int) -> float:
    """Return the logarithm of the transform at zero frequency."""
    shape = kernel.log_transform(np.zeros(1), dim)
    assert shape is not None  # RBF and Matérn have one
    return math.log(kernel.variance) + float(np.log(kernel.lengthscales(dim)).sum()) + float(shape[0])
