r"""The torus: uniform inputs on [0, 1]^d with opposite faces joined, as in the papers.

The eigenfunctions are Fourier waves, and the eigenvalue of the integer vector `q` is the Fourier transform of the kernel at
frequency `q` (Sollich & Halees 2002, App. C). The kernel itself is the sum over all periodic images,
:math:`C(x,x') = \sum_{r\in Z^d} c(x - x' - r)`, eq. (43). It is not renormalised, so C(x, x) slightly exceeds the variance of the
kernel.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import lru_cache, partial, reduce
from typing import Any

import numpy as np

from gpcurves.errors import NumericalError
from gpcurves.inputs.base import Nodes, Overlap
from gpcurves.inputs.box import _Uniform
from gpcurves.kernels import RBF, Kernel, Matern, Stationary, as_rbf, is_stationary, line_covariance
from gpcurves.kernels.stationary import LARGEST_SMOOTHNESS, NEAR_INTEGER, LineCovariance, _MaternFamily
from gpcurves.numerics.quadrature import distance_rule, tensor_rule
from gpcurves.numerics.validation import FloatArray
from gpcurves.spectra import CLOSED_FORM, Spectrum
from gpcurves.spectra.lattice import Shells, fourier, lattice_spectrum, squares, sums_of_squares
from gpcurves.spectra.nystrom import Truth
from gpcurves.spectra.spectrum import UNDERFLOW

_LISTED_LINE = 100_000
_LISTED_VECTORS = 500_000.0
_LISTED_SHELLS = {1: 4e10, 2: 200_000, 3: 200_000, 4: 30_000}
"""How far single components and shells of each dimension (4: or more) are listed, as a squared length."""
_GRID = {1: 2**14, 2: 256, 3: 64}
"""Points per dimension at which one true function is evaluated, to have its Fourier series."""
_MOST_IMAGES = {1: 100_000, 2: 40_000, 3: 40_000, 4: 4_000}
_TINY = 1e-17  # images below this share of C(0) change nothing, also if a few hundred of them are left out
_CUT = 1e-15  # terms of a series below this share are dropped
_ROWS = 128  # so many rows, and points of a series, at a time stay in the cache
_POINTS = 2_048
_CHUNK = 32  # images on the circle that are computed together
_SERIES_DIM = 3  # beyond, a tensor series has more terms than there are images
_FEW_WAVES = 64
_DEGREE = 24  # 22 terms resolve the images to rounding, unless lengthscales differ by orders of magnitude
_ORDERS = np.arange(_DEGREE)
_ANGLES = np.pi * (_ORDERS + 0.5) / _DEGREE
_NODES = np.sqrt((1 + np.cos(_ANGLES)) / 8)  # distances between 0 and 1/2
_TO_SERIES = np.cos(np.outer(_ORDERS, _ANGLES)) * (np.where(_ORDERS == 0, 1.0, 2.0) / _DEGREE)[:, None]
"""Turns values at the Chebyshev nodes into the coefficients of the series through them."""


class Torus(_Uniform):
    """Uniform on the unit cube of `dim` dimensions with opposite faces joined; the kernel is summed over all its periodic images.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> problem = gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=2), noise=0.05)
    >>> gpc.learning_curve(problem, "lc", n=[0, 10, 100]).error.round(3)
    array([1.   , 0.735, 0.081])
    """

    periodic = True

    def line_rule(self, count: int) -> Nodes:
        return np.arange(count) / count, np.full(count, 1.0 / count)

    def objection(self, kernel: Any) -> str | None:
        reason = super().objection(kernel)
        if reason is None and not is_stationary(kernel):
            return "the torus needs a stationary kernel, which this is not: use inputs on the box"
        return reason

    def homogeneous(self, kernel: Any) -> bool:
        return True

    def kernel_matrix(self, kernel: Kernel, X: FloatArray, Y: FloatArray | None = None) -> FloatArray:
        return periodised_matrix(kernel, X, Y)

    def variances(self, kernel: Kernel, X: FloatArray) -> FloatArray:
        return np.full(len(X), periodised_matrix(kernel, X[:1], X[:1])[0, 0])

    def spectrum(self, kernel: Kernel) -> Spectrum:
        return _waves(kernel, self.dim) or self.numerical_spectrum(kernel)

    def taught_spectrum(self, kernel: Kernel, truth: Truth) -> Spectrum:
        """Return the eigenvalues with the power in each wave: the teacher's transform, or that of one function."""
        spectrum = None
        if isinstance(truth.kernel, Kernel):
            spectrum = _waves(kernel, self.dim, truth.kernel)
        elif truth.values is not None:
            spectrum = self._with_waves(kernel, truth.values)
        return spectrum or self.numerical_spectrum(kernel, truth)

    def _with_waves(self, kernel: Kernel, function: Callable[[FloatArray], FloatArray]) -> Spectrum | None:
        """Return the spectrum of a kernel with the power of one function by its Fourier series; None if it cannot be listed.

        The list must have the shells of the lattice in order, as one lengthscale for all dimensions has them.
        """
        spectrum, transform = _waves(kernel, self.dim), fourier(kernel, self.dim)
        if spectrum is None or transform is None or self.dim not in _GRID or len(set(transform.scales.tolist())) > 1:
            return None
        size = _GRID[self.dim]
        points, _ = self.nodes(size**self.dim)
        waves = np.fft.fftn(function(points).reshape((size,) * self.dim)) / size**self.dim
        squared = np.rint(np.fft.fftfreq(size, 1 / size)) ** 2
        lengths = reduce(np.add.outer, [squared] * self.dim).astype(np.int64).ravel()
        power = np.bincount(lengths, weights=abs(waves.ravel()) ** 2)
        counted = np.flatnonzero(np.bincount(lengths))
        shells = counted[counted < (size // 2) ** 2]  # complete ones: shells of the lattice are listed in this order
        listed = np.zeros(spectrum.size)
        count = min(len(shells), spectrum.size)
        listed[:count] = power[shells[:count]] / spectrum.multiplicities[:count]
        return spectrum.with_power(listed)

    def prior_variance(self, kernel: Kernel) -> float:
        return self.spectrum(kernel).trace  # images add to the variance of the kernel

    def overlap_of_terms(self, first: Kernel, second: Kernel) -> Overlap | None:
        product = _product_of_transforms(first, second, self.dim)
        return None if product is None else lambda X: periodised_matrix(product, X)

    def fold_waves(self, kernel: Kernel, side: int) -> tuple[FloatArray, FloatArray] | None:
        if (rbf := as_rbf(kernel)) is not None:
            return _fold_rbf(rbf, self.dim, side)
        terms = [as_rbf(part) or part for part in kernel.terms]
        products = [_product_of_transforms(a, b, self.dim) for a in terms for b in terms]
        points, _ = tensor_rule(self.dim, np.arange(side) / side, np.full(side, 1 / side))
        origin, shape = np.zeros((1, self.dim)), (side,) * self.dim
        # covariances on a grid are circulant: the transform of one column has their eigenvalues, N times the sums
        sums = np.fft.fftn(periodised_matrix(kernel, points, origin).reshape(shape)).real.ravel() / len(points)
        squares = np.zeros(len(points))
        for product in products:
            if product is None:
                return None
            squares += np.fft.fftn(periodised_matrix(product, points, origin).reshape(shape)).real.ravel()
        sums = np.maximum(sums, 0.0)
        return sums, np.clip(sums**2 - squares / len(points), 0.0, sums**2)

    def line_covariance(self, kernel: Kernel, distance: FloatArray, spectrum: Spectrum) -> LineCovariance:
        # the closed form lists eigenvalues in the order of their frequency
        listed = spectrum.tail is None and spectrum.origin == CLOSED_FORM
        return circle_covariance(kernel, distance, spectrum.values if listed else None)

    def mean_over_nearest(self, n: FloatArray, function: Callable[[FloatArray], FloatArray]) -> FloatArray:
        a, width = distance_rule(0.5, n)
        values = width * function(a)
        return np.array([2 * m * np.exp((m - 1) * np.log1p(-2 * a)) @ values for m in n.tolist()])


@lru_cache(maxsize=4)
def _waves(kernel: Kernel, dim: int, true: Kernel | None = None) -> Spectrum | None:
    """List the transform at integer vectors, shell by shell, as far as lists go; a tail integrates the rest.

    None if the kernel has no transform in closed form. A problem asks for its spectrum and for its trace: both are the same.
    With the kernel of a teacher it has its transform as the power in each wave; None if the two are stretched differently.
    """
    transform = fourier(kernel, dim)
    if transform is None:
        return None
    power = None
    if true is not None:
        other = fourier(true, dim)
        ratio = np.ones(1) if other is None else other.scales / transform.scales
        if other is None or not np.allclose(ratio, ratio[0], rtol=1e-12, atol=0):
            return None
        power = partial(_power, other.profile.log_value, float(ratio[0]) ** 2)
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
        # the limit was multiplied by the squared scale above, and rounding must not lift it over itself
        if reach / scale**2 <= _LISTED_SHELLS[min(size, 4)] * (1 + 1e-12):
            groups.append(sums_of_squares(size, scale, reach))
        else:
            groups.extend([squares(scale, reach)] * size)
    return lattice_spectrum(groups, transform.profile, reach, transform.z_of, limit < underflow, CLOSED_FORM, power)


def _power(log_transform: Callable[[FloatArray], FloatArray], stretch: float, z: FloatArray) -> FloatArray:
    return np.exp(log_transform(stretch * z))


def _product_of_transforms(first: Kernel, second: Kernel, dim: int) -> Stationary | None:
    r"""Return the kernel whose transform is the product of two, with its variance.

    Two RBFs make an RBF with :math:`l^2 = l_a^2 + l_b^2`, and a Matérn kernel with itself makes one with
    :math:`\nu' = 2\nu + d/2`, :math:`l' = l\sqrt{\nu'/\nu}`.
    """
    if isinstance(first, RBF) and isinstance(second, RBF):
        shape: Stationary = RBF(tuple(np.hypot(first.lengthscales(dim), second.lengthscales(dim)).tolist()))
    elif isinstance(first, _MaternFamily) and isinstance(second, _MaternFamily):
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
    # transforms at zero frequency: the product of the two is that of the shape times its variance
    return shape.scaled(math.exp(_log_origin(first, dim) + _log_origin(second, dim) - _log_origin(shape, dim)))


def _fold_rbf(kernel: RBF, dim: int, side: int) -> tuple[FloatArray, FloatArray]:
    """Fold waves in each dimension, and multiply. Every term is positive, so that the smallest errors keep their digits."""
    wave = np.arange(side) - (side - 1) // 2
    sums, squares, mixed = np.full(1, kernel.variance), np.full(1, kernel.variance**2), np.zeros(1)
    for scale in kernel.lengthscales(dim).tolist():
        reach = (
            math.ceil(math.sqrt(UNDERFLOW) / (scale * side)) // 4 + 1
        )  # e^(-2 (pi l q)^2) is zero beyond, 4 < sqrt(2) pi
        shifts = np.concatenate((np.arange(-reach, 0), np.arange(1, reach + 1))) * side
        first, others = (
            scale * math.sqrt(2 * math.pi) * np.exp(-2 * (math.pi * scale * at) ** 2)
            for at in (wave, np.add.outer(wave, shifts))
        )
        rest = others.sum(axis=1)
        own = first**2 + (others**2).sum(axis=1)
        between = rest * (2 * first + rest) - (others**2).sum(axis=1)  # at least 2/3 of the first term: nothing cancels
        mixed = (np.multiply.outer(mixed, own + between) + np.multiply.outer(squares, between)).ravel()
        sums, squares = np.multiply.outer(sums, first + rest).ravel(), np.multiply.outer(squares, own).ravel()
    return sums, mixed


def _log_origin(kernel: Stationary, dim: int) -> float:
    """Return the logarithm of the transform at zero frequency."""
    shape = kernel.log_transform(np.zeros(1), dim)
    assert shape is not None  # RBF and Matérn have one
    return math.log(kernel.variance) + float(np.log(kernel.lengthscales(dim)).sum()) + float(shape[0])


def periodised_matrix(kernel: Kernel, X: FloatArray, Y: FloatArray | None = None) -> FloatArray:
    """Return the matrix of periodised covariances between the rows of X and those of Y (of X itself if not given)."""
    other = X if Y is None else Y
    total: FloatArray = np.empty((len(X), len(other)))
    terms = [as_rbf(part) or part for part in kernel.terms]
    for start in range(0, len(X), _ROWS):  # a few rows at a time stay in the cache
        stop = start + _ROWS
        first = start if Y is None else 0
        apart = np.empty((X.shape[1], len(X[start:stop]), len(other) - first))
        for axis, distance in enumerate(apart):
            np.subtract.outer(X[start:stop, axis], other[first:, axis], out=distance)
            distance -= np.rint(distance)
            np.abs(distance, out=distance)
        block = _images(terms[0], apart)
        for term in terms[1:]:
            block += _images(term, apart)
        total[start:stop, first:] = block
        if Y is None:
            total[first:, start:stop] = block.T
    return total


def _images(kernel: Kernel, apart: FloatArray) -> FloatArray:
    """Sum over the images at distances between 0 and 1/2 in each of the dimensions (first axis)."""
    dim = len(apart)
    if isinstance(kernel, RBF):
        return _rbf_images(kernel, apart)
    if not isinstance(kernel, Stationary):
        return _product_images(kernel, apart)
    series = _image_series(kernel, dim) if dim <= _SERIES_DIM else None
    if series is not None:
        nearest = _one_image(kernel, (0,) * dim, apart)
        return nearest + _evaluate_series(series, apart) if series.size else nearest
    result = np.zeros(apart.shape[1:])
    for image in _ellipsoid_of_images(kernel, dim):
        result += _one_image(kernel, image, apart)
    return result


def _rbf_images(kernel: RBF, apart: FloatArray) -> FloatArray:
    r"""Sum over the images in each dimension, or for a long lengthscale over the waves.

    Both are the same theta function: :math:`\sum_r e^{-(a-r)^2/2l^2} = l\sqrt{2\pi} \sum_q e^{-2\pi^2 l^2 q^2} \cos 2\pi q a`.
    """
    result: FloatArray = np.full(apart.shape[1:], kernel.variance)
    for distance, scale in zip(apart, kernel.lengthscales(len(apart)).tolist(), strict=True):
        if scale >= 1:  # the waves q = 0 and ±1 are all: the next are below e^(-8 pi^2) = 1e-34
            wave = 2 * math.exp(-2 * math.pi**2 * scale * scale)
            result *= scale * math.sqrt(2 * math.pi) * (1 + wave * np.cos(2 * np.pi * distance))
            continue
        factor = np.zeros(distance.shape)
        for r in _line_of_images(8.9 * scale):  # e^(-8.9^2/2) is below 1e-17
            term = distance - r
            term *= term
            term *= -0.5 / scale**2
            np.maximum(term, -700.0, out=term)  # no subnormal numbers, which are slow
            factor += np.exp(term, out=term)
        result *= factor
    return result


def _one_image(kernel: Stationary, image: tuple[int, ...], apart: FloatArray) -> FloatArray:
    scales = kernel.lengthscales(len(apart)).tolist()
    shifted = (distance - r if r else distance for distance, r in zip(apart, image, strict=True))
    squared = sum((distance / scale) ** 2 for distance, scale in zip(shifted, scales, strict=True))
    return np.asarray(kernel.variance * kernel.correlation(np.sqrt(squared)))


def _line_of_images(reach: float) -> range:
    """Return the images of a point that come within ``reach`` of some point at a distance between 0 and 1/2."""
    return range(-math.floor(reach), math.floor(reach + 0.5) + 1)


def _ellipsoid_of_images(kernel: Stationary, dim: int) -> list[tuple[int, ...]]:
    """List the images at which the correlation has not died out."""
    scales = kernel.lengthscales(dim).tolist()
    distances = np.geomspace(1e-2, 1e6, 2000)
    alive = int(np.flatnonzero(kernel.correlation(distances) > _TINY)[-1])
    _refuse_too_many(kernel, dim, math.inf if alive + 1 == len(distances) else 0)
    reach = float(distances[alive + 1])
    lines = [_line_of_images(reach * scale) for scale in scales]
    _refuse_too_many(kernel, dim, math.prod(map(len, lines)) / 100)  # listing them would take too long already
    images = []
    for image in itertools.product(*lines):
        nearest = [(r - 0.5 if r > 0 else -r) / scale for r, scale in zip(image, scales, strict=True)]
        if math.hypot(*nearest) <= reach:
            images.append(image)
    _refuse_too_many(kernel, dim, len(images))
    return images


def _refuse_too_many(kernel: Kernel, dim: int, images: float) -> None:
    most = _MOST_IMAGES[min(dim, 4)]
    if images > most:
        raise NumericalError(
            f"the periodic images of {kernel!r} in {dim} dimensions do not die out within {most}: "
            "use a shorter lengthscale, or inputs on the box"
        )


def _product_images(kernel: Kernel, apart: FloatArray) -> FloatArray:
    """Sum over images of any stationary kernel, evaluated as it is; for products that are no simpler kernel."""
    assert is_stationary(kernel)
    dim = len(apart)
    points = np.moveaxis(apart, 0, -1).reshape(-1, dim)
    origin = np.zeros((1, dim))
    start = float(kernel.diag(origin)[0])
    reach = 0
    while max(float(kernel(origin, step)[0, 0]) for step in (reach + 0.5) * np.eye(dim)[:, None, :]) > _TINY * start:
        reach += 1
        _refuse_too_many(kernel, dim, (2 * reach + 1) ** dim)
    total = np.zeros(len(points))
    for image in itertools.product(range(-reach, reach + 1), repeat=dim):
        total += kernel(origin, points - np.asarray(image, dtype=np.float64))[0]
    return total.reshape(apart.shape[1:])


@lru_cache(maxsize=32)
def _image_series(kernel: Stationary, dim: int) -> FloatArray | None:
    r"""Return the Chebyshev series, in :math:`8a_i^2 - 1` for each dimension, of all images but the nearest.

    They are smooth and even in each :math:`a_i` between 0 and 1/2, so that few terms represent them; None if they do
    not, which very different lengthscales bring about.
    """
    if dim == 1:
        images = _line_images(kernel)
    else:
        grid = np.stack(np.meshgrid(*[_NODES] * dim, indexing="ij"))
        images = np.zeros(grid.shape[1:])
        for image in _ellipsoid_of_images(kernel, dim):
            if any(image):
                images += _one_image(kernel, image, grid)
    # The nearest image has a cusp or a steep peak at 0 and is added exactly; the others are never nearer than 1/2.
    for axis in range(dim):
        images = np.moveaxis(np.tensordot(_TO_SERIES, images, axes=(1, axis)), 0, axis)
    matters = abs(images) > _CUT * max(kernel.variance, float(abs(images).max()))
    # two terms to spare: a series whose last terms matter has not converged
    degree = max((int(degrees.max()) + 1 for degrees in np.nonzero(matters) if len(degrees)), default=0)
    return np.ascontiguousarray(images[(slice(degree),) * dim]) if degree <= _DEGREE - 2 else None


def _line_images(kernel: Kernel) -> FloatArray:
    """Sum the images on the circle, at the nodes, until they have died out."""
    dead = _TINY * line_covariance(kernel, np.zeros(1))[2]

    def terms(r: FloatArray) -> FloatArray:
        return np.asarray(line_covariance(kernel, r - _NODES)[0] + line_covariance(kernel, r + _NODES)[0])

    # the last image that may be summed is looked at first: those that do not die out are refused at once
    _refuse_too_many(kernel, 1, math.inf if terms(np.array(_MOST_IMAGES[1] - 1.0)).max() >= dead else 0)
    images = np.zeros(_DEGREE)
    for start in range(1, _MOST_IMAGES[1], _CHUNK):
        for term in terms(np.arange(start, start + _CHUNK, dtype=np.float64)[:, None]):
            images += term
            if term.max() < dead:
                return images
    raise AssertionError("the last image has died out")


def _evaluate_series(series: FloatArray, apart: FloatArray) -> FloatArray:
    """Evaluate a tensor Chebyshev series, a few thousand points at a time, with matrix products."""
    flat = apart.reshape(len(apart), -1)
    result = np.empty(flat.shape[1])
    for start in range(0, len(result), _POINTS):
        tables = [
            np.polynomial.chebyshev.chebvander(8 * distance**2 - 1, len(series) - 1).T
            for distance in flat[:, start : start + _POINTS]
        ]
        value = np.tensordot(series, tables[0], axes=(0, 0))
        for table in tables[1:]:
            value = np.einsum("k...p,kp->...p", value, table)
        result[start : start + _POINTS] = value
    return result.reshape(apart.shape[1:])


def circle_covariance(kernel: Kernel, distance: FloatArray, waves: FloatArray | None) -> LineCovariance:
    r"""Return :math:`C(a)`, :math:`C(0) - C(a)` without cancellation, and `C(0)`, on the circle, for 0 ≤ a ≤ 1/2.

    The images contribute :math:`I(0) - I(a) = \sum_k c_k (-1)^k\, 2\sin^2(k \arcsin 2a)`, which has no cancellation.
    ``waves`` are the eigenvalues, if Fourier's series converges faster than the images do.
    """
    if waves is not None and len(waves) <= _FEW_WAVES:  # long lengthscales: Fourier's series itself
        weight = 2 * waves[1:]
        frequency = np.arange(1, len(waves))
        loss = 2 * np.sin(np.pi * np.multiply.outer(distance, frequency)) ** 2 @ weight
        origin = float(waves[0] + weight.sum())
        return origin - loss, loss, origin
    value, loss, origin = line_covariance(kernel, distance)
    if waves is None:
        images = _line_images(kernel)
    else:
        frequency = np.arange(len(waves))
        weight = np.where(frequency == 0, 1.0, 2.0) * waves
        images = np.cos(2 * np.pi * np.outer(_NODES, frequency)) @ weight - line_covariance(kernel, _NODES)[0]
    signed = (_TO_SERIES @ images) * (-1.0) ** _ORDERS
    phase = np.arcsin(np.minimum(2 * distance, 1.0))
    fallen = 2 * np.sin(np.multiply.outer(phase, _ORDERS)) ** 2 @ signed
    at_origin = float(signed.sum())
    return value + at_origin - fallen, loss + fallen, origin + at_origin
