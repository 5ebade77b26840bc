r"""Covariances of the derivatives of functions, with each other and with function values.

For :math:`C = s^2\rho(q)` with :math:`q = \sum_j(\Delta_j/l_j)^2`, :math:`\Delta = x-x'`,

* :math:`\langle\partial_jf(x)\,f(x')\rangle = 2s^2\rho'\Delta_j/l_j^2`,
* :math:`\langle\partial_jf(x)\,\partial_kf(x')\rangle = -s^2(4\rho''\Delta_j\Delta_k/(l_j^2l_k^2) + 2\rho'\delta_{jk}/l_j^2)`.

RBF: :math:`\rho' = -\rho/2`, :math:`\rho'' = \rho/4`. Matérn 5/2, with :math:`x = \sqrt{5q}`:
:math:`\rho' = -\frac56(1+x)e^{-x}`, :math:`\rho'' = \frac{25}{12}e^{-x}`. On the torus all are summed over periodic images.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from gpcurves.kernels import RBF, Kernel, Matern52, Stationary, as_rbf
from gpcurves.numerics.validation import FloatArray

IntArray = npt.NDArray[np.int64]
Slopes = tuple[FloatArray, FloatArray]
"""The first and the second derivative of a correlation by the squared scaled distance."""
_MOST_IMAGES = 5_000
_REACH = {RBF: 9.0, Matern52: 19.0}  # in lengthscales, beyond which the derivatives are rounding errors


def _rbf(q: FloatArray) -> Slopes:
    rho = np.exp(-0.5 * q)
    return -0.5 * rho, 0.25 * rho


def _matern52(q: FloatArray) -> Slopes:
    x = np.sqrt(5 * q)
    decay = np.exp(-x)
    return -5 / 6 * (1 + x) * decay, 25 / 12 * decay


_SLOPES: dict[type[Stationary], Callable[[FloatArray], Slopes]] = {RBF: _rbf, Matern52: _matern52}


def differentiable_terms(kernel: Kernel) -> list[Stationary] | None:
    """Return the terms of a kernel if the derivatives of all are known here, or None."""
    terms = [as_rbf(term) or term for term in kernel.terms]
    return [term for term in terms if type(term) in _SLOPES] if all(type(term) in _SLOPES for term in terms) else None  # type: ignore[misc]


def count_images(terms: list[Stationary], dim: int) -> int:
    """Return how many periodic images matter on the torus."""
    return math.prod(2 * reach + 1 for reach in _reaches(terms, dim))


def derivative_covariance(
    kernel: Kernel, X: FloatArray, own: IntArray, Y: FloatArray, others: IntArray | None, periodic: bool
) -> FloatArray:
    """Return the covariances of derivatives at the rows of X with those, or with function values, at the rows of Y.

    ``own`` and ``others`` say by which component each derivative is taken; ``others`` is None for function values.
    """
    terms = differentiable_terms(kernel)
    assert terms is not None
    total = np.zeros((len(X), len(Y)))
    for shift in _images(terms, X.shape[1]) if periodic else [np.zeros(X.shape[1])]:
        for term in terms:
            total += _one_image(term, X - shift, own, Y, others)
    return total


def _one_image(kernel: Stationary, X: FloatArray, own: IntArray, Y: FloatArray, others: IntArray | None) -> FloatArray:
    from scipy.spatial.distance import cdist

    scales = np.asarray(kernel.lengthscales(X.shape[1]))
    first, second = _SLOPES[type(kernel)](cdist(X / scales, Y / scales, "sqeuclidean"))
    squared = scales**2
    left = (X[np.arange(len(X)), own][:, None] - Y[:, own].T) / squared[own][:, None]
    if others is None:
        return np.asarray(2 * kernel.variance * first * left)
    right = (X[:, others] - Y[np.arange(len(Y)), others]) / squared[others]
    same = (own[:, None] == others) / squared[own][:, None]
    return np.asarray(-kernel.variance * (4 * second * left * right + 2 * first * same))


def _reaches(terms: list[Stationary], dim: int) -> list[int]:
    """Return how many images in each direction matter."""
    far = [max(_REACH[type(term)] * term.lengthscales(dim)[j] for term in terms) for j in range(dim)]
    return [math.ceil(1.0 + each) for each in far]


def _images(terms: list[Stationary], dim: int) -> Iterator[FloatArray]:
    for each in itertools.product(*(range(-reach, reach + 1) for reach in _reaches(terms, dim))):
        yield np.array(each, dtype=np.float64)


def too_many_images(kernel: Kernel, dim: int) -> bool:
    """Tell whether the lengthscales are so long that derivatives on the torus would take too many periodic images."""
    terms = differentiable_terms(kernel)
    return terms is not None and count_images(terms, dim) > _MOST_IMAGES
