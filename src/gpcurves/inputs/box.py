"""Uniform inputs on [0, 1]^d, and the box: without periodic images."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import scipy

from gpcurves.inputs.base import Inputs, Nodes, Overlap, check_dimension, polynomial_nodes, product_nodes
from gpcurves.kernels import RBF, Kernel, as_rbf
from gpcurves.numerics.parameters import parameter
from gpcurves.numerics.quadrature import distance_rule
from gpcurves.numerics.validation import FloatArray
from gpcurves.spectra import Spectrum
from gpcurves.spectra.lattice import Fourier, Profile, Shells, fourier, lattice_spectrum
from gpcurves.spectra.nystrom import NODES, ROUNDING, Decay, Truth, node_spectrum, numerical_spectrum
from gpcurves.spectra.spectrum import UNDERFLOW

_NODES_PER_SCALE = 12
_MOST_NODES = 3_000


@dataclass(frozen=True, repr=False)
class _Uniform(Inputs):
    """Uniform on the unit cube."""

    has_quantiles = True
    dim: int = parameter(1, help="Dimension of the inputs", check=check_dimension, label="dimension")

    def draw(self, count: int, rng: np.random.Generator) -> FloatArray:
        return rng.random((count, self.dim))

    def from_uniform(self, cube: FloatArray) -> FloatArray:
        return cube

    def nodes(self, count: int) -> Nodes:
        return product_nodes(self.dim, count, self.line_rule)

    @abstractmethod
    def line_rule(self, count: int) -> Nodes:
        """Return nodes and weights of one dimension."""


class Box(_Uniform):
    """Uniform on the unit cube of `dim` dimensions, without periodic images.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> problem = gpc.Problem(gpc.RBF(0.1), gpc.Box(dim=1), noise=0.05)
    >>> gpc.learning_curve(problem, "lc", n=[0, 10, 100]).error.round(3)
    array([1.   , 0.134, 0.007])
    """

    def line_rule(self, count: int) -> Nodes:
        x, weight = scipy.special.roots_legendre(count)
        return (x + 1) / 2, weight / 2

    def spectrum(self, kernel: Kernel) -> Spectrum:
        rbf = as_rbf(kernel)
        products = None if rbf is None else _products(rbf, self.dim)
        return products or self.numerical_spectrum(kernel)

    def numerical_spectrum(self, kernel: Kernel, truth: Truth | None = None) -> Spectrum:
        # far down, eigenvalues follow the transform of the kernel
        decay = Decay(kernel.smoothness, self.dim, fourier(kernel, self.dim))
        return numerical_spectrum(kernel, self.nodes, NODES, decay, truth=truth)

    def overlap_of_terms(self, first: Kernel, second: Kernel) -> Overlap | None:
        if isinstance(first, RBF) and isinstance(second, RBF):
            return partial(_rbf_overlap, first, second)
        return None

    exact_nodes = polynomial_nodes

    def mean_over_nearest(self, n: FloatArray, function: Callable[[FloatArray], FloatArray]) -> FloatArray:
        a, width = distance_rule(1.0, n)
        ends, log_end = width * function(a), np.log1p(-a)
        b, width = distance_rule(0.5, n)
        middle, log_middle = width * function(b), np.log1p(-2 * b)
        one_sided = np.array([2 * np.exp(m * log_end) @ ends for m in n.tolist()])
        return np.asarray(one_sided + [2 * (m - 1) * np.exp(m * log_middle) @ middle for m in n.tolist()])


def _products(kernel: RBF, dim: int) -> Spectrum | None:
    r"""Return the spectrum of an RBF kernel, or None if a lengthscale is too short to resolve.

    Kernel and inputs factorise, so eigenvalues are products of one-dimensional ones. Each dimension is diagonalised on its
    own by Gauss-Legendre quadrature, which converges exponentially for this kernel, and the products are formed as sums of
    :math:`z = -\ln(\lambda/\lambda_0)` like any other lattice. In each dimension eigenvalues smaller than the largest by
    1e-13 drown in rounding errors; ``resolution`` says so.
    """
    scales = kernel.lengthscales(dim)
    if _NODES_PER_SCALE / scales.min() > _MOST_NODES:
        return None
    lines = {
        scale: node_spectrum(RBF(scale), Box(1).nodes, 40 + math.ceil(_NODES_PER_SCALE / scale)).values
        for scale in set(scales.tolist())
    }
    log_largest = math.log(kernel.variance) + sum(math.log(lines[scale][0]) for scale in scales.tolist())
    groups = [Shells(np.log(lines[s][0] / lines[s]), np.ones(len(lines[s]))) for s in scales.tolist()]
    transform = fourier(kernel, dim)
    assert transform is not None  # an RBF has one
    profile, depth = Profile(partial(np.subtract, log_largest)), partial(_depth, log_largest, transform)
    products = lattice_spectrum(groups, profile, UNDERFLOW, depth, False, "products of one dimension's")
    return replace(products, resolution=10 * ROUNDING * kernel.variance)


def _depth(log_largest: float, transform: Fourier, index: FloatArray) -> FloatArray:
    """Return by how much the logarithm of the transform at an index is below that of the largest eigenvalue."""
    return np.maximum(log_largest - transform.log_eigenvalue(index), 0.0)


def _rbf_overlap(first: RBF, second: RBF, X: FloatArray) -> FloatArray:
    """Return the overlap of two RBFs: in each dimension a Gaussian in x - x' and two error functions of the mean."""
    result: FloatArray = np.full((len(X), len(X)), first.variance * second.variance)
    scales = (kernel.lengthscales(X.shape[1]).tolist() for kernel in (first, second))
    for x, a, b in zip(X.T, *scales, strict=True):
        q = a**-2.0 + b**-2.0
        mean = np.add.outer(x / (a * a * q), x / (b * b * q))
        root = math.sqrt(q / 2)
        result *= np.exp(-0.5 * np.subtract.outer(x, x) ** 2 / (a * a + b * b))
        result *= math.sqrt(math.pi / (2 * q)) * (scipy.special.erf((1 - mean) * root) + scipy.special.erf(mean * root))
    return result
