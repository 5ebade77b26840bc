r"""Covariances between vertices of a graph: functions of the normalised adjacency matrix `T`, and their normalisation.

Random walks (Urry & Sollich 2013, eq. (2)) and other polynomials of `T`, diffusion (eq. (1)), the regularised Laplacian (Smola &
Kondor 2003). Each class holds all that is special to a kernel, with the variables of its messages in ``vertex_model``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
import scipy

from gpcurves.errors import InputError, NotApplicableError, check_name
from gpcurves.graphs.covariance import GraphCovariance, Rows, Step, chebyshev_diagonal, chebyshev_series, row_products
from gpcurves.graphs.graph import as_graph
from gpcurves.graphs.vertex_model import MOST_VARIABLES, VertexModel, chebyshev_chain, pack, polynomial_model
from gpcurves.numerics.parameters import parameter
from gpcurves.numerics.plain import Piece, full_repr
from gpcurves.numerics.validation import FloatArray, as_numbers, frozen, integer, positive, real

Normalisation = Literal["local", "global", "none"]
NORMALISATIONS: tuple[Normalisation, ...] = get_args(Normalisation)
LONGEST_WALK = 1_000
_LOG_LARGEST = 700.0  # e^700 is nearly the largest number of double precision
_COEFFICIENTS = (16, 32, 64, 128, 256, 512, 1_024, 2_048)  # how many Chebyshev coefficients of a kernel are tried
_NEGLIGIBLE = 1e-10  # share of a kernel that messages may leave out: each further power of T makes them longer
_MOST_POWERS = 100  # powers of T in the messages of the diffusion kernel


def check_normalisation(name: str, value: object) -> Normalisation:
    """Return a normalisation, or raise an error that names the nearest one."""
    return check_name("normalisation", value, NORMALISATIONS)


def normalise_parameter() -> Any:
    """Return the last field of every graph kernel, ``normalise``."""
    return parameter(
        "local",
        help="How prior variances are scaled to 1: at every vertex (local), on average (global), or not (none)",
        check=check_normalisation,
    )


def power_series(coefficients: FloatArray, rows: Rows, step: Step) -> Rows:
    r"""Return rows times :math:`\sum_q c_q T^q`."""
    total = coefficients[0] * rows
    for coefficient in coefficients[1:].tolist():
        rows = step(rows)
        total = total + coefficient * rows
    return total


def chebyshev_coefficients(function: Callable[[FloatArray], FloatArray], count: int) -> FloatArray:
    """Return the first coefficients of a function on [-1, 1] in Chebyshev polynomials, from twice as many values."""
    from scipy.fft import dct

    theta = np.pi * (np.arange(2 * count) + 0.5) / (2 * count)
    coefficients = dct(function(np.cos(theta)), type=2) / (2 * count)
    coefficients[0] /= 2
    return np.asarray(coefficients[:count])


class GraphKernel(Piece, ABC, family="graph kernel"):
    """A covariance between vertices before normalisation, and how it is normalised.

    A kernel must define ``eigenvalue``. Everything else follows from it by Chebyshev series if it is smooth; a kernel may
    define ``apply``, ``diagonal`` and ``vertex_model`` itself if it knows a shorter or more accurate way. Declare the field
    ``normalise: Normalisation = normalise_parameter()`` last.

    Law: ``apply`` multiplies by the matrix whose eigenvalues are ``eigenvalue`` of those of `T`, ``diagonal`` is its
    diagonal, and belief propagation with ``vertex_model`` is exact on trees, up to ``kernel_error``.
    """

    normalise: Normalisation = "local"

    @abstractmethod
    def eigenvalue(self, t: FloatArray) -> FloatArray:
        """Return the eigenvalues of the kernel, before normalisation, for eigenvalues of `T` between -1 and 1."""

    @cached_property
    def expansion(self) -> FloatArray:
        """Coefficients of ``eigenvalue`` between -1 and 1 in Chebyshev polynomials, up to rounding."""
        for count in _COEFFICIENTS:
            coefficients = chebyshev_coefficients(self.eigenvalue, count)
            size = np.abs(coefficients)
            # Coefficients of smooth functions fall until they are rounding errors: the second half must be nothing else.
            if size[count // 2 :].max() <= 1e-15 * size.sum():
                break
        else:
            raise InputError(
                f"the eigenvalues of {self!r} are not smooth enough between -1 and 1 for a polynomial of degree "
                f"{_COEFFICIENTS[-1] // 2}: define apply, diagonal, reach, rounding and vertex_model as well"
            )
        coefficients = coefficients[: int(np.flatnonzero(size >= 5e-16 * size.sum())[-1]) + 1]
        lowest = float(self.eigenvalue(np.cos(np.linspace(0, np.pi, 20 * len(coefficients) + 1))).min())
        if lowest < -1e-12 * np.abs(coefficients).sum():
            raise InputError(f"eigenvalues must be at least 0 between -1 and 1, those of {self!r} fall to {lowest:.3g}")
        return frozen(coefficients)

    def apply(self, rows: Rows, step: Step) -> Rows:
        """Return the rows multiplied by the kernel before normalisation."""
        return chebyshev_series(self.expansion, rows, step)

    def diagonal(self, rows: Rows, step: Step) -> FloatArray:
        """Return the kernel's diagonal before normalisation, for rows that are unit vectors, from half the steps."""
        return chebyshev_diagonal(self.expansion, rows, step)

    @property
    def reach(self) -> int:
        """How many steps ``diagonal`` takes."""
        return len(self.expansion) // 2

    @property
    def rounding(self) -> float:
        """Diagonal entries up to this size may be zero: rounding errors of a sum whose terms have both signs."""
        return 1e-14 * float(np.abs(self.expansion).sum())

    def vertex_model(self) -> VertexModel:
        """Return the messages of belief propagation, those of a polynomial that is nearly the kernel by default."""
        size = np.abs(self.expansion)
        # No Chebyshev polynomial exceeds 1, so that the coefficients left out bound the error.
        left_out = np.append(np.cumsum(size[::-1])[::-1][1:], 0.0)
        degree = int(np.argmax(left_out <= _NEGLIGIBLE * size.sum()))
        isolated = float(self.eigenvalue(np.zeros(1))[0])
        return polynomial_model(self.expansion[: degree + 1], isolated, neglected=float(left_out[degree]))

    def on(self, graph: object) -> GraphCovariance:
        """Return the covariance on a graph: its matrix, rows, products, prior variances and eigenvalues."""
        return GraphCovariance(self, as_graph(graph))

    def normalised(self, how: Normalisation) -> Self:
        """Return this kernel with another normalisation."""
        other = copy(self)  # a kernel need not have the field
        object.__setattr__(other, "normalise", check_normalisation("normalise", how))
        return other

    __repr__ = full_repr


def check_inverse_probability(name: str, value: object) -> float:
    """Return the `a` of a random walk."""
    number = real(name, value)
    if number < 2:
        raise InputError(f"{name} must be at least 2 for a positive semidefinite kernel, got {number:g}")
    return number


@dataclass(frozen=True, repr=False)
class RandomWalkKernel(GraphKernel):
    r"""Lazy random walk of `p` steps, each taken with probability 1/a: :math:`((1-1/a)I + T/a)^p`.

    Parameters
    ----------
    p
        Number of steps, an integer at least 0.
    a
        Inverse probability to move, at least 2.
    normalise
        "local" (every prior variance is 1), "global" (their average is 1) or "none".
    """

    name: ClassVar[str] = "random-walk"
    p: int = parameter(10, help="Steps of the random walk", check=partial(integer, minimum=0, maximum=LONGEST_WALK))
    a: float = parameter(
        2.0, help="The walk moves with probability 1/a in each step, a at least 2", check=check_inverse_probability
    )
    normalise: Normalisation = normalise_parameter()

    rounding = 0.0  # no term is negative

    @property
    def reach(self) -> int:
        return (self.p + 1) // 2

    def eigenvalue(self, t: FloatArray) -> FloatArray:
        return np.asarray(np.maximum(1 - (1 - t) / self.a, 0.0) ** self.p)

    def _walk(self, rows: Rows, step: Step, steps: int) -> Rows:
        for _ in range(steps):
            rows = (1 - 1 / self.a) * rows + step(rows) / self.a
        return rows

    def apply(self, rows: Rows, step: Step) -> Rows:
        return self._walk(rows, step, self.p)

    def diagonal(self, rows: Rows, step: Step) -> FloatArray:
        half = self._walk(rows, step, self.p // 2)
        return row_products(half, half if self.p % 2 == 0 else self._walk(half, step, 1))

    def vertex_model(self) -> VertexModel:
        r"""Return the messages: with :math:`S = (1-1/a)I + T/a`, p steps are two walks of p/2.

        For even :math:`p=2m`, :math:`w^0` is white noise, :math:`w^q = Sw^{q-1}`, imposed by multipliers :math:`u^q`, and
        :math:`f = \kappa^{-1/2}w^m`. For odd :math:`p=2m+1`, :math:`w^0` has covariance :math:`S`, imposed by :math:`u^0`. The
        variable :math:`w^m` touches only :math:`u^m` and is eliminated by hand, which leaves p variables, in the order
        :math:`(w^0,u^1,w^1,\dots,u^m)` or :math:`(u^0,w^0,u^1,\dots,u^m)`.
        """
        p, odd, stay = self.p, self.p % 2, 1 - 1 / self.a
        if p > MOST_VARIABLES:
            raise NotApplicableError(f"messages exist for walks of at most {MOST_VARIABLES} steps, got {p}")
        # Each multiplier u^q is a row of w^q - (1 - 1/a) w^(q-1) - T w^(q-1)/a = 0: the first two terms are local, the last is
        # the coupling by edges.
        local, coupling = np.zeros((p, p)), np.zeros((p, p))
        if p:
            local[0, 0] = -stay if odd else 1.0
        for q in range(1, p // 2 + 1):
            u, w = 2 * q - 1 + odd, 2 * q - 2 + odd  # u^q, and w^(q-1) just before it
            local[u, w] = local[w, u] = -stay
            coupling[u, w] = coupling[w, u] = 1 / self.a
            if 2 * q < p - odd:
                local[u + 1, u] = local[u, u + 1] = 1.0  # u^q defines w^q
        if odd:
            coupling[0, 0] = 1 / self.a
            if p > 1:
                local[0, 1] = local[1, 0] = 1.0
        steps = range(min(p, int(_LOG_LARGEST / math.log(self.a))) + 1)  # more have no weight that doubles can hold
        walk = np.zeros(p + 1)
        walk[: len(steps)] = [math.comb(p, q) * stay ** (p - q) / self.a**q for q in steps]
        return VertexModel(p, 1 - odd, pack(local), coupling, float(walk[0]), walk)


def _check_coefficients(name: str, value: object) -> tuple[float, ...]:
    given = as_numbers(value, f"{name} must be a list of numbers")
    if given.ndim != 1 or given.size == 0 or not np.isfinite(given).all():
        raise InputError(f"{name} must be a list of finite numbers, not empty")
    given = np.trim_zeros(given, "b")
    if given.size == 0:
        raise InputError(f"{name} must not all be 0")
    if len(given) > LONGEST_WALK + 1:
        raise InputError(f"the degree of the polynomial must be at most {LONGEST_WALK}, got {len(given) - 1}")
    lowest = _find_minimum(given)
    if lowest < -1e-12 * np.abs(given).sum():
        raise InputError(
            f"the polynomial must be at least 0 between -1 and 1 for a positive semidefinite kernel, it falls to {lowest:.3g}"
        )
    return tuple(given.tolist())


def _find_minimum(coefficients: FloatArray) -> float:
    """Return the smallest value of a polynomial between -1 and 1."""
    fine = np.cos(np.linspace(0, np.pi, 40 * len(coefficients) + 401))
    values = np.polynomial.polynomial.polyval(fine, coefficients)
    if len(coefficients) > 40:  # roots of long polynomials are not reliable
        return float(values.min())
    turns = np.polynomial.Polynomial(coefficients).deriv().roots()
    turns = turns.real[(abs(turns.imag) < 1e-6) & (abs(turns.real) <= 1)]
    at_turns = np.polynomial.polynomial.polyval(turns, coefficients)
    return float(min(values.min(), at_turns.min(initial=np.inf)))


@dataclass(frozen=True, repr=False)
class PolynomialWalkKernel(GraphKernel):
    r"""A polynomial of the normalised adjacency matrix: :math:`\sum_s c_s T^s`.

    Parameters
    ----------
    coefficients
        :math:`c_0, c_1, \ldots`; the polynomial must not be negative anywhere between -1 and 1.
    normalise
        "local" (every prior variance is 1), "global" (their average is 1) or "none".
    """

    name: ClassVar[str] = "polynomial"
    coefficients: tuple[float, ...] = parameter(
        help="Coefficients c0,c1,... of the powers of T", check=_check_coefficients
    )
    normalise: Normalisation = normalise_parameter()

    @property
    def reach(self) -> int:
        return len(self.coefficients) // 2

    @property
    def rounding(self) -> float:
        return 1e-14 * float(np.abs(self.coefficients).sum())

    def eigenvalue(self, t: FloatArray) -> FloatArray:
        return np.asarray(np.maximum(np.polynomial.polynomial.polyval(t, self.coefficients), 0.0))

    def apply(self, rows: Rows, step: Step) -> Rows:
        return power_series(np.array(self.coefficients), rows, step)

    def diagonal(self, rows: Rows, step: Step) -> FloatArray:
        result = 0.0 * row_products(rows, rows)
        for q in range(0, len(self.coefficients), 2):  # T^q = T^{q/2} T^{q/2}, and one more step for odd powers
            result += self.coefficients[q] * row_products(rows, rows)
            if q + 1 < len(self.coefficients):
                stepped = step(rows)
                result += self.coefficients[q + 1] * row_products(rows, stepped)
                rows = stepped
        return result

    def vertex_model(self) -> VertexModel:
        walk = np.array(self.coefficients)
        chebyshev = np.asarray(np.polynomial.chebyshev.poly2cheb(walk), dtype=np.float64)
        return polynomial_model(chebyshev, float(walk[0]), walk)


@dataclass(frozen=True, repr=False)
class _LaplacianKernel(GraphKernel):
    """A function of the Laplacian that is a series of `T`, and so is its square root, from which the diagonal follows."""

    scale: float = parameter(1.0, help="Lengthscale, in edges", check=positive)
    normalise: Normalisation = normalise_parameter()

    largest: ClassVar[float]
    series: ClassVar[Any]
    rounding = 0.0  # a sum of squares

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1e-6 <= self.scale <= self.largest:  # double precision must resolve its square
            raise InputError(f"scale must be between 1e-06 and {self.largest:g}, got {self.scale:g}")

    @abstractmethod
    def coefficients(self, power: float) -> FloatArray:
        """Return the coefficients of a power of the kernel in its series, up to rounding."""

    @property
    def reach(self) -> int:
        return len(self.coefficients(0.5)) - 1

    def apply(self, rows: Rows, step: Step) -> Rows:
        return self.series(self.coefficients(1.0), rows, step)

    def diagonal(self, rows: Rows, step: Step) -> FloatArray:
        half = self.series(self.coefficients(0.5), rows, step)
        return row_products(half, half)


class DiffusionKernel(_LaplacianKernel):
    r"""Diffusion: :math:`\exp(-\frac12 s^2 L)` with :math:`L = I - T`; the limit of random walks with `p/a = s²/2`.

    Parameters
    ----------
    scale
        The lengthscale `s`, greater than 0.
    normalise
        "local" (every prior variance is 1), "global" (their average is 1) or "none".
    """

    name = "diffusion"
    largest = 35.0  # exp(-s²/2), the value of an isolated vertex, must stay a normal number
    series = staticmethod(power_series)

    def eigenvalue(self, t: FloatArray) -> FloatArray:
        return np.asarray(np.exp(-0.5 * self.scale**2 * (1 - t)))

    def coefficients(self, power: float) -> FloatArray:
        """Return the Poisson probabilities of the number of steps in a time, none of which is negative."""
        time = power * self.scale**2 / 2
        # Nine standard deviations above the mean, and some more for small times, leave out less than 1e-16.
        q = np.arange(np.ceil(time + 9 * np.sqrt(time) + 18))
        return np.asarray(np.exp(q * np.log(time) - time - scipy.special.gammaln(q + 1)))

    def vertex_model(self, tolerance: float = 1e-10) -> VertexModel:
        r"""Return the messages of a kernel that differs by at most ``tolerance`` on the spectrum of `T`.

        The kernel is the square of a Chebyshev expansion of :math:`\exp(-\frac14s^2L)`, one form in the sense of `vertex_model`.
        With :math:`z=s^2/4` the expansion is :math:`e^{-z}[I_0(z)+2\sum_qI_q(z)T_q(x)]`. What is left out is at most
        :math:`2e^{-z}\sum_{q>m}I_q(z)`, and the square is wrong by at most twice that.
        """
        from scipy.special import ive

        z = self.scale**2 / 4
        allowed = positive("tolerance", tolerance)
        if allowed < 1e-14:
            raise InputError(f"tolerance must be at least 1e-14, got {allowed:g}")
        orders = np.arange(MOST_VARIABLES)
        terms = ive(orders, z) * 2
        terms[0] /= 2
        tails = 2 * np.append(np.cumsum(terms[::-1])[::-1][1:], 0.0)
        if tails[_MOST_POWERS] > allowed:
            raise NotApplicableError(f"messages for the scale {self.scale:g} need more than {_MOST_POWERS} powers of T")
        m = max(1, int(np.argmax(tails <= allowed)))
        local, coupling = chebyshev_chain(m, [(terms[: m + 1], 0)])
        log_factorials = np.array([math.lgamma(q + 1) for q in orders])
        # Powers of T in a time s²/2, for prior variances: Poisson weights, none of which cancels another.
        walk = np.exp(-2 * z + orders * math.log(2 * z) - log_factorials)
        keep = max(2, int(np.flatnonzero(walk > 1e-18).max()) + 1)
        return VertexModel(len(local), 0, pack(local), coupling, math.exp(-2 * z), walk[:keep], float(tails[m]))


class RegularisedLaplacianKernel(_LaplacianKernel):
    r"""Regularised Laplacian: :math:`(I + s^2 L)^{-1}` with :math:`L = I - T`.

    Parameters
    ----------
    scale
        The lengthscale `s`, greater than 0.
    normalise
        "local" (every prior variance is 1), "global" (their average is 1) or "none".
    """

    name = "regularised-laplacian"
    largest = 100.0
    series = staticmethod(chebyshev_series)

    def eigenvalue(self, t: FloatArray) -> FloatArray:
        return np.asarray(1 / (1 + self.scale**2 * (1 - t)))

    def coefficients(self, power: float) -> FloatArray:
        edge = 1 + 1 / self.scale**2  # the function is singular at this t, which sets how fast coefficients fall
        count = int(np.ceil(40 / np.log(edge + np.sqrt(edge * edge - 1)))) + 2
        return chebyshev_coefficients(lambda t: (1 + self.scale**2 * (1 - t)) ** -power, count)

    def vertex_model(self) -> VertexModel:
        r"""Return the messages: the precision :math:`I+s^2L` itself couples only neighbours.

        The variables are the value of the function and one multiplier that carries the noise, so that one number per message
        counts.
        """
        square = self.scale**2
        local = np.array([[1 + square, -1.0], [-1.0, 0.0]])
        coupling = np.array([[square, 0.0], [0.0, 0.0]])
        return VertexModel(2, 1, pack(local), coupling, 1 / (1 + square))
