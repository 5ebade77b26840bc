r"""Gaussian inputs.

With an RBF kernel each independent direction contributes :math:`(1-\beta)\beta^q`, :math:`\beta^{-1} = 1 + r/2 +
\sqrt{r^2/4 + r}`, :math:`r = l^2/\sigma_x^2` (Sollich & Halees 2002, eq. (45)). If inputs are correlated or there are several
lengthscales, the directions are those that make kernel metric and input covariance diagonal at once, and :math:`1/r` are
the eigenvalues of their product. Matérn kernels on independent components of one variance go by `spectra.oscillator`, others by
quadrature.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy

from gpcurves.errors import InputError
from gpcurves.inputs.base import TENSOR_DIM, Inputs, Nodes, Overlap, check_dimension, polynomial_nodes, product_nodes
from gpcurves.kernels import RBF, Kernel, Stationary, as_rbf, is_matern
from gpcurves.numerics.cholesky import factorise
from gpcurves.numerics.parameters import parameter
from gpcurves.numerics.quadrature import distance_rule, gauss_legendre
from gpcurves.numerics.validation import FloatArray, as_numbers, positive
from gpcurves.spectra import CLOSED_FORM, Spectrum
from gpcurves.spectra.lattice import Profile, lattice_spectrum, simplex
from gpcurves.spectra.nystrom import Truth
from gpcurves.spectra.oscillator import (
    LARGEST_SMOOTHNESS,
    MOST_DIMENSIONS,
    Radial,
    level_powers,
    oscillator_spectrum,
)
from gpcurves.spectra.spectrum import UNDERFLOW


def _check_covariance(name: str, value: object) -> tuple[tuple[float, ...], ...]:
    matrix = as_numbers(value, f"{name} must be a square matrix of finite numbers")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not np.isfinite(matrix).all():
        raise InputError(f"{name} must be a square matrix of finite numbers, got shape {matrix.shape}")
    if not np.allclose(matrix, matrix.T, rtol=1e-10, atol=0) or np.linalg.eigvalsh(matrix)[0] <= 0:
        raise InputError(f"{name} must be symmetric and positive definite")
    return tuple(map(tuple, matrix.tolist()))


@dataclass(frozen=True, repr=False)
class Gaussian(Inputs):
    """Gaussian with zero mean.

    Parameters
    ----------
    dim
        Number of components.
    variance
        Variance of each component; by default 1/12, that of the uniform distribution on [0, 1].
    covariance
        A full covariance matrix instead, as nested sequences or an array.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> problem = gpc.Problem(gpc.RBF(0.1), gpc.Gaussian(dim=1, variance=1.0), noise=0.05)
    >>> gpc.learning_curve(problem, "lc", n=[0, 10, 100]).error.round(3)
    array([1.   , 0.608, 0.044])
    """

    has_quantiles = True
    dim: int = parameter(1, help="Dimension of the inputs", check=check_dimension, label="dimension")
    variance: float = parameter(
        1 / 12,
        help="Variance of each component of Gaussian inputs",
        check=positive,
        label="input variance",
        flag="input-variance",
    )
    covariance: tuple[tuple[float, ...], ...] | None = parameter(
        None, help="Covariance matrix of the components", check=_check_covariance, flag=""
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.covariance is None:
            return
        if self.dim not in (1, len(self.covariance)):
            raise InputError(
                f"covariance must have {self.dim} rows for {self.dim} dimensions, got {len(self.covariance)}"
            )
        object.__setattr__(self, "dim", len(self.covariance))

    @property
    def matrix(self) -> FloatArray:
        """The covariance matrix."""
        return self.variance * np.eye(self.dim) if self.covariance is None else np.array(self.covariance)

    def draw(self, count: int, rng: np.random.Generator) -> FloatArray:
        return np.asarray(rng.standard_normal((count, self.dim)) @ factorise(self.matrix).T)

    def nodes(self, count: int) -> Nodes:
        points, weights = product_nodes(self.dim, count, _normal_rule)
        if self.dim > TENSOR_DIM:  # uniform numbers
            return self.from_uniform(points), weights
        return points @ factorise(self.matrix).T, weights

    def from_uniform(self, cube: FloatArray) -> FloatArray:
        normal = scipy.special.ndtri(np.clip(cube, 1e-12, 1 - 1e-12))
        return np.asarray(normal @ factorise(self.matrix).T)

    def spectrum(self, kernel: Kernel) -> Spectrum:
        if (rbf := as_rbf(kernel)) is not None:
            return self._geometric(rbf)
        radial = self._radial(kernel)
        return self.numerical_spectrum(kernel) if radial is None else oscillator_spectrum(radial, self.dim)

    def taught_spectrum(self, kernel: Kernel, truth: Truth) -> Spectrum:
        """Return the eigenvalues with the power of the teacher's functions, which blocks give for Matérn kernels and RBFs."""
        radial, true = self._radial(kernel), self._radial(truth.kernel)
        if radial is None or true is None:
            return self.numerical_spectrum(kernel, truth)
        if math.isfinite(radial.smoothness):
            return oscillator_spectrum(radial, self.dim, true)
        rbf = as_rbf(kernel)
        assert rbf is not None
        spectrum = self._geometric(rbf)
        powers = level_powers(radial, self.dim, true, spectrum.size)
        listed = np.zeros(spectrum.size)
        listed[: len(powers)] = powers / spectrum.multiplicities[: len(powers)]
        return spectrum.with_power(listed)

    def _radial(self, kernel: object) -> Radial | None:
        """Return a Matérn kernel or an RBF in units of the inputs, if neither prefers a direction; None for others."""
        known = as_rbf(kernel) or kernel if isinstance(kernel, Kernel) else None
        if not isinstance(known, Stationary) or not (isinstance(known, RBF) or is_matern(known)):
            return None
        nu = known.smoothness
        resolved = nu is not None and (math.isinf(nu) or nu <= LARGEST_SMOOTHNESS) and self.dim <= MOST_DIMENSIONS
        if nu is None or not resolved or not known.isotropic or self.covariance is not None:
            return None
        return Radial(nu, float(known.lengthscales(1)[0]) / math.sqrt(self.variance), known.variance)

    def _geometric(self, kernel: RBF) -> Spectrum:
        scale = kernel.lengthscales(self.dim)
        ratio = 1 / np.linalg.eigvalsh(self.matrix / np.outer(scale, scale))
        if self.covariance is None and len(set(scale.tolist())) == 1:
            ratio = np.full(self.dim, scale[0] ** 2 / self.variance)
        root = np.sqrt(ratio * ratio / 4 + ratio)
        decay = np.log1p(ratio / 2 + root)  # ln(1/beta)
        origin = math.log(kernel.variance) + float(np.log(-np.expm1(-decay)).sum())
        profile = Profile(partial(np.subtract, origin))
        kinds, sizes = (each.tolist() for each in np.unique(decay, return_counts=True))
        groups = [simplex(size, rate, UNDERFLOW) for rate, size in zip(kinds, sizes, strict=True)]
        return lattice_spectrum(groups, profile, UNDERFLOW, partial(_simplex_depth, decay), False, CLOSED_FORM)

    def overlap_of_terms(self, first: Kernel, second: Kernel) -> Overlap | None:
        if isinstance(first, RBF) and isinstance(second, RBF):
            return _rbf_overlap(first, second, self.matrix)
        return None

    exact_nodes = polynomial_nodes

    def mean_over_nearest(self, n: FloatArray, function: Callable[[FloatArray], FloatArray]) -> FloatArray:
        scale = math.sqrt(self.matrix[0, 0])
        x, weight = gauss_legendre(np.arange(0.0, 14.01, 0.25))
        weight = weight * 2 * _normal_density(x)
        a, width = distance_rule(30.0, n)
        values = width * function(scale * a)
        density = _normal_density(x[:, None] + a) + _normal_density(x[:, None] - a)
        with np.errstate(divide="ignore"):
            log_none = np.log1p(-np.minimum(_normal_interval(x[:, None], a), 1.0))
        # two tails, if the interval holds nearly everything
        rest = scipy.special.ndtr(-x[:, None] - a) + scipy.special.ndtr(x[:, None] - a)
        log_none = np.where(rest < 0.5, np.log(np.maximum(rest, 1e-300)), log_none)
        return np.array([weight @ ((m * density * np.exp((m - 1) * log_none)) @ values) for m in n.tolist()])


def _normal_rule(count: int) -> Nodes:
    """Integrate over the standard normal: Gauss-Hermite, or the trapezoidal rule if that would overflow."""
    if count <= 120:
        x, weight = np.polynomial.hermite_e.hermegauss(count)
    else:  # converges exponentially for analytic functions that decay at both ends
        x = np.linspace(-8.5, 8.5, count)
        weight = np.exp(-(x**2) / 2)
    return x, weight / weight.sum()


def _normal_density(x: FloatArray) -> FloatArray:
    return np.asarray(np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi))


def _normal_interval(x: FloatArray, a: FloatArray) -> FloatArray:
    """Return the probability of a standard normal between x - a and x + a, x ≥ 0, to full relative accuracy."""
    direct = scipy.special.ndtr(a - x) - scipy.special.ndtr(-a - x)
    series, even, odd = np.ones(np.broadcast_shapes(x.shape, a.shape)), np.ones_like(x), x
    power = np.ones_like(a)
    for k in range(2, 25):  # Hermite polynomials He_k; only the even ones enter
        even, odd = odd, x * odd - (k - 1) * even
        if k % 2 == 0:
            power = power * a * a / (k * (k + 1))
            series = series + power * odd
    near = a * (1 + x) < 0.5
    return np.where(near, 2 * a * _normal_density(x) * series, direct)


def _simplex_depth(decay: FloatArray, index: FloatArray) -> FloatArray:
    """Return the z whose simplex sum b q < z holds ``index`` vectors, with half a unit of each direction's boundary."""
    dim = len(decay)
    log_volume = -math.lgamma(dim + 1) - float(np.log(decay).sum())
    return np.asarray(np.maximum(np.exp((np.log(index) - log_volume) / dim) - decay.sum() / 2, 0.0))


def _rbf_overlap(first: RBF, second: RBF, covariance: FloatArray) -> Overlap:
    r"""Return the overlap of two RBFs with precisions `P`, `R` and inputs of covariance `S`, :math:`Q = P + R`.

    :math:`|1+SQ|^{-1/2} e^{-\frac12\delta^T(P^{-1}+R^{-1})^{-1}\delta - \frac12 m^T(Q^{-1}+S)^{-1}m}`,
    :math:`\delta = x - x'`, :math:`m = Q^{-1}(Px + Rx')`.
    """
    from scipy.spatial.distance import cdist

    dim = len(covariance)
    P, R = first.lengthscales(dim) ** -2.0, second.lengthscales(dim) ** -2.0
    Q = P + R
    factor = first.variance * second.variance / math.sqrt(np.linalg.det(np.eye(dim) + covariance * Q))
    apart = np.sqrt(P * R / Q)
    root = factorise(np.asarray(np.linalg.inv(np.diag(1 / Q) + covariance), dtype=np.float64))
    left, right = (P / Q)[:, None] * root, (R / Q)[:, None] * root

    def overlap(X: FloatArray) -> FloatArray:
        exponent = cdist(X * apart, X * apart, "sqeuclidean")
        exponent += cdist(X @ left, -(X @ right), "sqeuclidean")
        exponent *= -0.5
        return np.asarray(factor * np.exp(exponent, out=exponent))

    return overlap
