"""Random walks (Urry & Sollich 2013, eq. (2)) and other polynomials of the normalised adjacency matrix `T`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from gpcurves.errors import InputError, NotApplicableError
from gpcurves.graphs.covariance import Rows, Step, row_products
from gpcurves.graphs.kernels.base import GraphKernel, Normalisation, normalise_parameter, variance_parameter
from gpcurves.graphs.vertex_model import MOST_VARIABLES, VertexModel, pack, polynomial_model
from gpcurves.numerics.parameters import parameter
from gpcurves.numerics.validation import FloatArray, as_numbers, integer, real

LONGEST_WALK = 1_000
_LOG_LARGEST = 700.0  # e^700 is nearly the largest number of double precision


def power_series(coefficients: FloatArray, rows: Rows, step: Step) -> Rows:
    r"""Return rows times :math:`\sum_q c_q T^q`."""
    total = coefficients[0] * rows
    for coefficient in coefficients[1:].tolist():
        rows = step(rows)
        total = total + coefficient * rows
    return total


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
    variance
        A factor after normalisation: the prior variance, or its average.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> chain = gpc.Graph.from_edges([(i, i + 1) for i in range(8)])
    >>> problem = gpc.GraphProblem(chain, gpc.RandomWalkKernel(p=6), noise=0.1)
    >>> gpc.learning_curve(problem, "eigenvalue", nu=[0, 1, 10]).error.round(3)
    array([1.   , 0.074, 0.006])
    """

    name: ClassVar[str] = "random-walk"
    p: int = parameter(10, help="Steps of the random walk", check=partial(integer, minimum=0, maximum=LONGEST_WALK))
    a: float = parameter(
        2.0, help="The walk moves with probability 1/a in each step, a at least 2", check=check_inverse_probability
    )
    normalise: Normalisation = normalise_parameter()
    variance: float = variance_parameter()

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
    variance
        A factor after normalisation: the prior variance, or its average.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> chain = gpc.Graph.from_edges([(i, i + 1) for i in range(8)])
    >>> problem = gpc.GraphProblem(chain, gpc.PolynomialWalkKernel((0.5, 0.3, 0.2)), noise=0.1)
    >>> gpc.learning_curve(problem, "eigenvalue", nu=[0, 1, 10]).error.round(3)
    array([1.   , 0.255, 0.011])
    """

    name: ClassVar[str] = "polynomial"
    coefficients: tuple[float, ...] = parameter(
        help="Coefficients c0,c1,... of the powers of T", check=_check_coefficients
    )
    normalise: Normalisation = normalise_parameter()
    variance: float = variance_parameter()

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
