r"""Covariance functions of the scaled distance :math:`r = \sqrt{\sum_i (x_i - x_i')^2 / l_i^2}`.

Each gives its correlation :math:`\rho(r)`, the loss :math:`1 - \rho(r)` without cancellation at small `r`, and the Fourier transform if it
has a closed form: in `d` dimensions the transform at frequency `s` is
:math:`\sigma_f^2 \prod_i l_i\, \psi_d(z)`, :math:`z = \sum_i (l_i s_i)^2`. Matérn after Rasmussen & Williams (2006),
eqs. 4.14 and 4.15; the others are in the table of the encyclopedia entry *Gaussian Process*.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Self

import numpy as np
import scipy

from gpcurves.errors import InputError
from gpcurves.kernels.base import Composite, Kernel, Product, Sum
from gpcurves.numerics.parameters import parameter
from gpcurves.numerics.validation import FloatArray, positive, positive_each

_LARGEST_ALPHA = 200  # of the rational quadratic kernel
_ROWS = 128
_SMALLEST_LOG = -700.0  # exponents of correlations end here: subnormal numbers would make everything slow
LineCovariance = tuple[FloatArray, FloatArray, float]  # C(a), C(0) - C(a) without cancellation, and C(0)


@dataclass(frozen=True, repr=False)
class Stationary(Kernel):
    """A kernel that depends on the scaled distance alone.

    Parameters
    ----------
    lengthscale
        The distance over which the function varies; one number, or one per input dimension.
    variance
        The prior variance C(x, x).
    """

    lengthscale: float | tuple[float, ...] = parameter(
        1.0, help="Lengthscale, or one per dimension separated by commas", check=positive_each
    )
    variance: float = parameter(1.0, help="Prior variance of the kernel", check=positive)

    @property
    def input_dim(self) -> int | None:
        return len(self.lengthscale) if isinstance(self.lengthscale, tuple) else None

    @property
    def isotropic(self) -> bool:
        return not isinstance(self.lengthscale, tuple) or len(set(self.lengthscale)) == 1

    def scaled(self, factor: float) -> Self:
        return replace(self, variance=self.variance * factor)

    def lengthscales(self, dim: int) -> FloatArray:
        """Return one lengthscale per dimension."""
        return np.broadcast_to(np.asarray(self.lengthscale, dtype=np.float64), (dim,)).copy()

    def __call__(self, X: FloatArray, Y: FloatArray | None = None) -> FloatArray:
        from scipy.spatial.distance import cdist

        scaled = X / self.lengthscale
        other = scaled if Y is None else Y / self.lengthscale
        matrix: FloatArray = np.empty((len(scaled), len(other)))
        for start in range(0, len(scaled), _ROWS):  # a few rows at a time stay in the cache
            stop = start + _ROWS
            first = start if Y is None else 0
            block = self.correlation(cdist(scaled[start:stop], other[first:]))
            block *= self.variance
            matrix[start:stop, first:] = block
            if Y is None:
                matrix[first:, start:stop] = block.T
        return matrix

    def diag(self, X: FloatArray) -> FloatArray:
        return np.full(len(X), self.variance)

    @abstractmethod
    def correlation(self, r: FloatArray) -> FloatArray:
        """Return C / C(0) at scaled distance r."""

    def loss(self, r: FloatArray) -> FloatArray:
        """Return 1 - C / C(0) at scaled distance r, accurate where it is small."""
        return 1.0 - self.correlation(r)

    def log_transform(self, z: FloatArray, dim: int) -> FloatArray | None:
        """Return ln psi_d(z), or None if there is no closed form."""
        return None


class RBF(Stationary):
    r"""Radial basis function, squared exponential: :math:`e^{-r^2/2}`. Infinitely smooth.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> problem = gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=1), noise=0.05)
    >>> gpc.learning_curve(problem, "lc", n=[0, 10, 100]).error.round(3)
    array([1.   , 0.116, 0.006])
    """

    smoothness = math.inf
    unit = math.sqrt(0.5)  # of `evaluate`

    def correlation(self, r: FloatArray) -> FloatArray:
        return np.exp(np.maximum(-0.5 * r * r, _SMALLEST_LOG))

    def correlation_and_slope(self, squared: FloatArray) -> tuple[FloatArray, FloatArray]:
        r"""Return :math:`\rho` and :math:`-2\,d\rho/d(r^2)` at squared scaled distances."""
        rho = np.exp(-0.5 * squared)
        return rho, rho.copy()

    @staticmethod
    def evaluate(squared: FloatArray, slope: FloatArray, work: FloatArray, log_variance: float) -> None:
        r"""Replace :math:`q = (r\cdot\mathrm{unit})^2` by the covariance `C`, and ``slope`` by :math:`-2\,dC/dq`, in place."""
        np.subtract(log_variance, squared, out=squared)
        np.exp(squared, out=squared)
        np.add(squared, squared, out=slope)

    def loss(self, r: FloatArray) -> FloatArray:
        return -np.expm1(-0.5 * r * r)

    def log_transform(self, z: FloatArray, dim: int) -> FloatArray:
        return 0.5 * dim * math.log(2 * math.pi) - 2 * math.pi**2 * z


class _MaternFamily(Stationary):
    r"""Matérn with one nu or any; transform :math:`\propto (2\nu)^\nu (2\nu + 4\pi^2 z)^{-(\nu + d/2)}`, R&W (4.15)."""

    smoothness: float

    def log_transform(self, z: FloatArray, dim: int) -> FloatArray:
        nu = self.smoothness
        constant = dim * math.log(2) + 0.5 * dim * math.log(math.pi / (2 * nu))
        constant += math.lgamma(nu + dim / 2) - math.lgamma(nu)
        return np.asarray(constant - (nu + dim / 2) * np.log1p(4 * math.pi**2 * z / (2 * nu)))


class OU(_MaternFamily):
    r"""Ornstein-Uhlenbeck, exponential: :math:`e^{-r}`. Continuous but rough.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> problem = gpc.Problem(gpc.OU(0.1), gpc.Torus(dim=1), noise=0.05)
    >>> gpc.learning_curve(problem, "lc", n=[0, 10, 100]).error.round(3)
    array([1.   , 0.446, 0.081])
    """

    smoothness = 0.5

    def correlation(self, r: FloatArray) -> FloatArray:
        return np.exp(np.maximum(-r, _SMALLEST_LOG))

    def loss(self, r: FloatArray) -> FloatArray:
        return -np.expm1(-r)


class Matern32(_MaternFamily):
    r"""Matérn with nu = 3/2: :math:`(1 + x) e^{-x}`, :math:`x = \sqrt3 r`.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> problem = gpc.Problem(gpc.Matern32(0.1), gpc.Torus(dim=1), noise=0.05)
    >>> gpc.learning_curve(problem, "lc", n=[0, 10, 100]).error.round(3)
    array([1.   , 0.233, 0.017])
    """

    smoothness = 1.5

    def correlation(self, r: FloatArray) -> FloatArray:
        x = math.sqrt(3) * r
        return (1 + x) * np.exp(-x)

    def loss(self, r: FloatArray) -> FloatArray:
        return _gamma_distribution(2, np.asarray(math.sqrt(3) * r))


class Matern52(_MaternFamily):
    r"""Matérn with nu = 5/2: :math:`(1 + x + x^2/3) e^{-x}`, :math:`x = \sqrt5 r`.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> problem = gpc.Problem(gpc.Matern52(0.1), gpc.Torus(dim=1), noise=0.05)
    >>> gpc.learning_curve(problem, "lc", n=[0, 10, 100]).error.round(3)
    array([1.   , 0.183, 0.011])
    """

    smoothness = 2.5
    unit = math.sqrt(5)  # of `evaluate`

    def correlation(self, r: FloatArray) -> FloatArray:
        x = math.sqrt(5) * r
        return (1 + x + x * x / 3) * np.exp(-x)

    def correlation_and_slope(self, squared: FloatArray) -> tuple[FloatArray, FloatArray]:
        r"""Return :math:`\rho` and :math:`-2\,d\rho/d(r^2)` at squared scaled distances."""
        x = np.sqrt(5.0 * squared)
        decay = np.exp(-x)
        slope = (1.0 + x) * decay
        rho = slope + (squared * (5.0 / 3.0)) * decay
        slope *= 5.0 / 3.0
        return rho, slope

    @staticmethod
    def evaluate(squared: FloatArray, slope: FloatArray, work: FloatArray, log_variance: float) -> None:
        r"""Replace :math:`q = (r\cdot\mathrm{unit})^2` by the covariance `C`, and ``slope`` by :math:`-2\,dC/dq`, in place.

        With :math:`x = \sqrt q` the slope is a third of :math:`(1 + x)e^{-x}`, and `C` three slopes and
        :math:`x^2e^{-x}/3`. ``work`` is overwritten.
        """
        np.abs(squared, out=squared)  # rounding may leave a little less than zero, and this is faster than a maximum
        np.sqrt(squared, out=work)
        np.subtract(log_variance - math.log(3), work, out=slope)
        np.exp(slope, out=slope)
        squared *= slope
        work += 1.0
        slope *= work
        np.multiply(slope, 3.0, out=work)
        squared += work

    def loss(self, r: FloatArray) -> FloatArray:
        x = np.asarray(math.sqrt(5) * r)
        return np.asarray(_gamma_distribution(3, x) + x * x / 6 * np.exp(-x))


def _gamma_distribution(order: int, x: FloatArray) -> FloatArray:
    r"""Return :math:`1 - e^{-x} \sum_{j<k} x^j/j!`, `k` the order, without cancellation.

    This is ``scipy.special.gammainc``, whose import would take longer than a whole curve of theory.
    """
    partial, term = np.ones_like(x), np.ones_like(x)
    for j in range(1, order):
        term = term * x / j
        partial = partial + term
    value = 1.0 - np.exp(-x) * partial
    near = x < 2  # beyond, the value is above 0.3 and loses no digit; here 30 terms of its series are enough
    small = x[near]
    total, term = np.zeros_like(small), small**order / math.factorial(order)
    for j in range(order + 1, order + 31):
        total, term = total + term, term * small / j
    value[near] = np.exp(-small) * total
    return np.asarray(value)


LARGEST_SMOOTHNESS = 50.0
NEAR_INTEGER = 1e-6
_SERIES = 0.5  # below this x the general Matérn is summed as a series


def _check_smoothness(name: str, value: object) -> float:
    """Check the smoothness of a Matérn kernel: close to an integer its series loses all digits."""
    smoothness = positive(name, value)
    if smoothness > LARGEST_SMOOTHNESS:
        raise InputError(f"{name} must be at most 50, got {smoothness:g}: from there on use RBF, its limit")
    if 0 < abs(smoothness - round(smoothness)) < NEAR_INTEGER:
        raise InputError(f"{name} must be an integer or differ from one by at least 1e-6, got {smoothness!r}")
    return smoothness


@dataclass(frozen=True, repr=False)
class Matern(_MaternFamily):
    r"""Matérn with any nu > 0: :math:`\frac{2^{1-\nu}}{\Gamma(\nu)} x^\nu K_\nu(x)`, :math:`x = \sqrt{2\nu} r`.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> problem = gpc.Problem(gpc.Matern(0.1, smoothness=0.75), gpc.Torus(dim=1), noise=0.05)
    >>> gpc.learning_curve(problem, "lc", n=[0, 10, 100]).error.round(3)
    array([1.   , 0.35 , 0.042])
    """

    smoothness: float = parameter(1.5, help="Smoothness (the nu of Matérn)", check=_check_smoothness)

    def correlation(self, r: FloatArray) -> FloatArray:
        nu = self.smoothness
        x = np.asarray(math.sqrt(2 * nu) * r)
        if (2 * nu) % 2 == 1:
            return _half_integer_matern(round(nu - 0.5), x)
        near, far = x < _SERIES, np.maximum(x, _SERIES)
        value = np.exp((1 - nu) * math.log(2) - math.lgamma(nu) + nu * np.log(far)) * _bessel(nu, far)
        if near.any():
            value[near] = 1.0 - _matern_loss_series(nu, x[near])
        return np.asarray(value)

    def loss(self, r: FloatArray) -> FloatArray:
        x = np.asarray(math.sqrt(2 * self.smoothness) * r)
        value = 1.0 - self.correlation(r)
        near = x < _SERIES
        if near.any():
            value[near] = _matern_loss_series(self.smoothness, x[near])
        return value


def _half_integer_matern(p: int, x: FloatArray) -> FloatArray:
    r"""Return the Matérn correlation for :math:`\nu = p + 1/2`: a polynomial times :math:`e^{-x}`, all terms positive."""
    terms = [math.factorial(p + i) / (math.factorial(i) * math.factorial(p - i)) for i in range(p + 1)]
    total = np.full_like(x, terms[0])
    for term in terms[1:]:
        total = total * (2 * x) + term
    return np.asarray(math.factorial(p) / math.factorial(2 * p) * total * np.exp(-x))


def _bessel(nu: float, x: FloatArray) -> FloatArray:
    """Return K_nu(x); integer orders by the recurrence upwards, which is stable and quick."""
    if nu != round(nu):
        return np.asarray(scipy.special.kv(nu, x))
    before, now = scipy.special.k0(x), scipy.special.k1(x)
    for order in range(1, round(nu)):
        before, now = now, before + 2 * order / x * now
    return np.asarray(now)


def _matern_loss_series(nu: float, x: FloatArray) -> FloatArray:
    r"""Sum the series of 1 - C at small x, from that of :math:`K_\nu`."""
    order = round(nu)
    if nu == order:
        return _integer_matern_loss_series(order, x)
    square = (x / 2) ** 2
    regular, term = np.zeros_like(x), np.ones_like(x)
    singular, other = np.ones_like(x), np.ones_like(x)
    for k in range(1, 25):
        term = term * square / (k * (k - nu))
        regular = regular - term
        other = other * square / (k * (k + nu))
        singular = singular + other
    ratio = math.gamma(1 - nu) / math.gamma(1 + nu)
    return np.asarray(regular + ratio * (x / 2) ** (2 * nu) * singular)


def _integer_matern_loss_series(nu: int, x: FloatArray) -> FloatArray:
    """Sum the series with the logarithm that integer orders have (Abramowitz & Stegun 9.6.11)."""
    square = (x / 2) ** 2
    finite, term = np.zeros_like(x), np.ones_like(x)
    for k in range(1, nu):
        term = term * -square / (k * (nu - k))
        finite = finite + term
    power = np.ones_like(x) / math.factorial(nu)
    log_half = np.log(np.maximum(x, 1e-300) / 2)
    logarithmic = np.zeros_like(x)
    for k in range(25):
        slope = float(scipy.special.digamma(k + 1) + scipy.special.digamma(nu + k + 1))
        logarithmic = logarithmic + power * (2 * log_half - slope)
        power = power * square / ((k + 1) * (nu + k + 1))
    return np.asarray(-finite + (-1) ** nu / math.factorial(nu - 1) * square**nu * logarithmic)


def _check_alpha(name: str, value: object) -> float:
    """Refuse orders at which the Bessel function in the Fourier transform overflows."""
    if positive(name, value) > _LARGEST_ALPHA:
        raise InputError(f"{name} must be at most {_LARGEST_ALPHA}, got {value}: use RBF, which is nearly the same")
    return positive(name, value)


@dataclass(frozen=True, repr=False)
class RationalQuadratic(Stationary):
    r"""Rational quadratic, RBFs of many lengthscales: :math:`(1 + r^2/2\alpha)^{-\alpha}`.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> problem = gpc.Problem(gpc.RationalQuadratic(0.1, alpha=2.0), gpc.Torus(dim=1), noise=0.05)
    >>> gpc.learning_curve(problem, "lc", n=[0, 10, 100]).error.round(3)
    array([1.003, 0.129, 0.008])
    """

    name = "rq"
    alpha: float = parameter(
        1.0, help="Shape: small values mix many lengthscales, large values approach the RBF", check=_check_alpha
    )

    smoothness = math.inf

    def correlation(self, r: FloatArray) -> FloatArray:
        return np.exp(-self.alpha * np.log1p(r * r / (2 * self.alpha)))

    def loss(self, r: FloatArray) -> FloatArray:
        return -np.expm1(-self.alpha * np.log1p(r * r / (2 * self.alpha)))

    def log_transform(self, z: FloatArray, dim: int) -> FloatArray | None:
        order = self.alpha - dim / 2
        if order <= 0:  # its transform diverges at zero frequency: the periodised kernel does not exist
            return None
        constant = 0.5 * dim * math.log(2 * math.pi) + self.alpha * math.log(self.alpha)
        constant -= math.lgamma(self.alpha)
        x = np.sqrt(8 * math.pi**2 * self.alpha * np.asarray(z))
        far = np.maximum(x, 1e-9)
        with np.errstate(divide="ignore"):  # far out its logarithm is minus infinity
            body = math.log(2) + order * np.log(far / (2 * self.alpha)) + np.log(scipy.special.kve(order, far)) - far
        origin = math.lgamma(order) - order * math.log(self.alpha)
        return np.asarray(constant + np.where(x < 1e-9, origin, body))


def is_stationary(kernel: Kernel) -> bool:
    """Tell whether a kernel depends on the difference of its arguments alone."""
    if isinstance(kernel, Composite):
        return all(map(is_stationary, kernel.parts))
    return isinstance(kernel, Stationary)


def line_covariance(kernel: Kernel, distance: FloatArray) -> LineCovariance:
    """Return the covariance at distances a, for a stationary kernel in 1D."""
    if isinstance(kernel, Stationary):
        r = distance / kernel.lengthscales(1)[0]
        return kernel.variance * kernel.correlation(r), kernel.variance * kernel.loss(r), kernel.variance
    assert isinstance(kernel, Composite)
    parts = [line_covariance(part, distance) for part in kernel.parts]
    if isinstance(kernel, Sum):
        values, losses, origins = zip(*parts, strict=True)
        return reduce(add, values), reduce(add, losses), sum(origins)
    value, loss, origin = parts[0]
    for next_value, next_loss, next_origin in parts[1:]:
        # a0 b0 - a b = (a0 - a) b0 + a (b0 - b)
        value, loss, origin = value * next_value, loss * next_origin + value * next_loss, origin * next_origin
    return value, loss, origin


def is_matern(kernel: Kernel) -> bool:
    """Tell whether a kernel is one of the Matérn family."""
    return isinstance(kernel, _MaternFamily)


def as_rbf(kernel: Kernel) -> RBF | None:
    """Return an RBF kernel, or a product of several, as one RBF; None for any other kernel."""
    if isinstance(kernel, RBF):
        return kernel
    if not isinstance(kernel, Product):
        return None
    parts = [part for part in kernel.parts if isinstance(part, RBF)]
    if len(parts) < len(kernel.parts):
        return None
    precision = sum(1 / np.square(part.lengthscale) for part in parts)
    return RBF((1 / np.sqrt(np.asarray(precision))).tolist(), math.prod(part.variance for part in parts))
