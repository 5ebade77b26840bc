"""Any polynomial of the normalised adjacency matrix that is not negative on its spectrum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gpcurves.errors import InputError
from gpcurves.graphs.kernels.base import LONGEST_WALK, GraphKernel, Normalisation, normalise_parameter
from gpcurves.graphs.series import Rows, Step, power_series, row_products
from gpcurves.graphs.vertex_model import VertexModel, polynomial_model
from gpcurves.numerics.parameters import parameter
from gpcurves.numerics.validation import FloatArray


def _check_coefficients(name: str, value: object) -> tuple[float, ...]:
    try:
        given = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be a list of numbers") from error
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
