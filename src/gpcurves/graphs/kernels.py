r"""Covariance between vertices of a graph, as functions of the normalised adjacency matrix `T`.

Random walk and diffusion kernel: Urry & Sollich 2013, eqs. (1) and (2); regularised Laplacian: Smola & Kondor 2003.
All are positive semidefinite. A kernel knows three things: its eigenvalue for an eigenvalue `t` of `T`, how to multiply
vectors by sparse products alone, and how to get its diagonal from rows of half its length.

Series with non-negative terms are used where small entries must keep their relative accuracy: an isolated vertex has
:math:`\hat C_{ii} = (1-1/a)^p`, which local normalisation divides by.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.special import gammaln

from gpcurves.errors import InputError, unknown_name
from gpcurves.graphs.graph import as_graph
from gpcurves.numerics.plain import full_repr
from gpcurves.numerics.validation import FloatArray, positive, real, whole

if TYPE_CHECKING:
    from gpcurves.graphs.covariance import GraphCovariance

NORMALISATIONS = ("global", "local", "none")
Rows = Any
"""Rows of vectors over the vertices: a dense array or a SciPy sparse matrix."""
Step = Callable[[Rows], Rows]
"""Multiplies rows by `T`."""
_LONGEST_WALK = 1_000
_LARGEST_SCALE = 100.0


class GraphKernel(ABC):
    """A covariance between vertices before normalisation, and how it is normalised.

    Law: ``apply`` multiplies by the matrix whose eigenvalues are ``of`` those of `T`, and ``diagonal`` is its diagonal.
    """

    normalise: str
    name: ClassVar[str]

    @property
    def rounding(self) -> float:
        """Diagonal entries up to this size may be zero; sums of non-negative terms are exact in this sense."""
        return 0.0

    @abstractmethod
    def of(self, t: FloatArray) -> FloatArray:
        """Return the eigenvalues of the kernel, before normalisation, for eigenvalues of `T` between -1 and 1."""

    @abstractmethod
    def apply(self, rows: Rows, step: Step) -> Rows:
        """Return the rows multiplied by the kernel before normalisation."""

    @abstractmethod
    def diagonal(self, rows: Rows, step: Step) -> FloatArray:
        """Return the kernel's diagonal before normalisation, for rows that are unit vectors, from half the steps."""

    @property
    @abstractmethod
    def reach(self) -> int:
        """How many steps ``diagonal`` takes."""

    def on(self, graph: object) -> GraphCovariance:
        """Return the covariance on a graph: its matrix, rows, products, prior variances and eigenvalues."""
        from gpcurves.graphs.covariance import GraphCovariance

        return GraphCovariance(self, as_graph(graph))

    def to_dict(self) -> dict[str, Any]:
        """Return the kernel as plain data; `graph_kernel_from_dict` builds it again."""
        return {"kernel": self.name} | {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]

    def __repr__(self) -> str:
        return full_repr(self)


@dataclass(frozen=True, repr=False)
class RandomWalkKernel(GraphKernel):
    r"""Lazy random walk of `p` steps, each taken with probability 1/a: :math:`((1-1/a)I + T/a)^p`.

    Parameters
    ----------
    p
        Number of steps, a whole number at least 0.
    a
        Inverse probability to move, at least 2.
    normalise
        "global" (average prior variance 1), "local" (every prior variance 1) or "none".
    """

    name: ClassVar[str] = "random-walk"
    p: int = 10
    a: float = 2.0
    normalise: str = "global"

    def __post_init__(self) -> None:
        object.__setattr__(self, "p", whole("p", self.p, 0, _LONGEST_WALK))
        object.__setattr__(self, "a", real("a", self.a))
        if self.a < 2:
            raise InputError(f"a must be at least 2 for a positive semidefinite kernel, got {self.a:g}")
        _check_normalisation(self.normalise)

    @property
    def reach(self) -> int:
        return (self.p + 1) // 2

    def of(self, t: FloatArray) -> FloatArray:
        return np.asarray(np.maximum(1 - (1 - t) / self.a, 0.0) ** self.p)

    def _walk(self, rows: Rows, step: Step, steps: int) -> Rows:
        for _ in range(steps):
            rows = _plus((1 - 1 / self.a) * rows, step(rows) / self.a)
        return rows

    def apply(self, rows: Rows, step: Step) -> Rows:
        return self._walk(rows, step, self.p)

    def diagonal(self, rows: Rows, step: Step) -> FloatArray:
        half = self._walk(rows, step, self.p // 2)
        return row_products(half, half if self.p % 2 == 0 else self._walk(half, step, 1))


@dataclass(frozen=True, repr=False)
class DiffusionKernel(GraphKernel):
    r"""Diffusion: :math:`\exp(-\frac12 s^2 L)` with :math:`L = I - T`; the limit of random walks with `p/a = s²/2`.

    Parameters
    ----------
    scale
        The lengthscale `s`, greater than 0.
    normalise
        "global" (average prior variance 1), "local" (every prior variance 1) or "none".
    """

    name: ClassVar[str] = "diffusion"
    scale: float = 1.0
    normalise: str = "global"

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", _moderate(self.scale, 35.0))  # exp(-s²/2) must stay a normal number
        _check_normalisation(self.normalise)

    @property
    def reach(self) -> int:
        return len(self._weights(self.scale**2 / 4)) - 1

    def of(self, t: FloatArray) -> FloatArray:
        return np.asarray(np.exp(-0.5 * self.scale**2 * (1 - t)))

    @staticmethod
    def _weights(time: float) -> FloatArray:
        """Return the Poisson probabilities of the number of steps in a time, up to rounding."""
        q = np.arange(np.ceil(time + 9 * np.sqrt(time) + 18))
        return np.asarray(np.exp(q * np.log(time) - time - gammaln(q + 1)))

    def apply(self, rows: Rows, step: Step) -> Rows:
        return _power_series(self._weights(self.scale**2 / 2), rows, step)

    def diagonal(self, rows: Rows, step: Step) -> FloatArray:
        half = _power_series(self._weights(self.scale**2 / 4), rows, step)
        return row_products(half, half)


@dataclass(frozen=True, repr=False)
class RegularisedLaplacianKernel(GraphKernel):
    r"""Regularised Laplacian: :math:`(I + s^2 L)^{-1}` with :math:`L = I - T`.

    Parameters
    ----------
    scale
        The lengthscale `s`, greater than 0.
    normalise
        "global" (average prior variance 1), "local" (every prior variance 1) or "none".
    """

    name: ClassVar[str] = "regularised-laplacian"
    scale: float = 1.0
    normalise: str = "global"

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", _moderate(self.scale, _LARGEST_SCALE))
        _check_normalisation(self.normalise)

    @property
    def reach(self) -> int:
        return len(self._series(-0.5)) - 1

    def of(self, t: FloatArray) -> FloatArray:
        return np.asarray(1 / (1 + self.scale**2 * (1 - t)))

    def _series(self, power: float) -> FloatArray:
        """Return the Chebyshev coefficients of a power of `1 + s²(1 - t)`, up to rounding."""
        edge = 1 + 1 / self.scale**2  # where the function is singular
        count = int(np.ceil(40 / np.log(edge + np.sqrt(edge * edge - 1)))) + 2
        theta = np.pi * (np.arange(2 * count) + 0.5) / (2 * count)
        values = (1 + self.scale**2 * (1 - np.cos(theta))) ** power
        from scipy.fft import dct

        coefficients = dct(values, type=2) / (2 * count)
        coefficients[0] /= 2
        return np.asarray(coefficients[:count])

    def apply(self, rows: Rows, step: Step) -> Rows:
        return _chebyshev_series(self._series(-1.0), rows, step)

    def diagonal(self, rows: Rows, step: Step) -> FloatArray:
        half = _chebyshev_series(self._series(-0.5), rows, step)
        return row_products(half, half)


@dataclass(frozen=True, repr=False)
class PolynomialWalkKernel(GraphKernel):
    r"""A polynomial of the normalised adjacency matrix: :math:`\sum_s c_s T^s`.

    Parameters
    ----------
    coefficients
        :math:`c_0, c_1, \ldots`; the polynomial must not be negative anywhere between -1 and 1.
    normalise
        "global" (average prior variance 1), "local" (every prior variance 1) or "none".
    """

    name: ClassVar[str] = "polynomial"
    coefficients: tuple[float, ...] = (1.0,)
    normalise: str = "global"

    def __post_init__(self) -> None:
        try:
            given = np.array(self.coefficients, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError("coefficients must be a list of numbers") from error
        if given.ndim != 1 or given.size == 0 or not np.isfinite(given).all():
            raise InputError("coefficients must be a list of finite numbers, not empty")
        given = np.trim_zeros(given, "b")
        if given.size == 0:
            raise InputError("coefficients must not all be 0")
        if len(given) > _LONGEST_WALK + 1:
            raise InputError(f"the degree of the polynomial must be at most {_LONGEST_WALK}, got {len(given) - 1}")
        object.__setattr__(self, "coefficients", tuple(given.tolist()))
        lowest = self._minimum()
        if lowest < -1e-12 * np.abs(given).sum():
            raise InputError(
                f"the polynomial must be at least 0 between -1 and 1 for a positive semidefinite kernel, it falls to {lowest:.3g}"
            )
        _check_normalisation(self.normalise)

    def _minimum(self) -> float:
        fine = np.cos(np.linspace(0, np.pi, 40 * len(self.coefficients) + 401))
        values = np.polynomial.polynomial.polyval(fine, self.coefficients)
        if len(self.coefficients) > 40:  # roots of long polynomials are not reliable
            return float(values.min())
        turns = np.polynomial.Polynomial(self.coefficients).deriv().roots()
        turns = turns.real[(abs(turns.imag) < 1e-6) & (abs(turns.real) <= 1)]
        at_turns = np.polynomial.polynomial.polyval(turns, self.coefficients)
        return float(min(values.min(), at_turns.min(initial=np.inf)))

    @property
    def reach(self) -> int:
        return len(self.coefficients) // 2

    @property
    def rounding(self) -> float:
        return 1e-14 * float(np.abs(self.coefficients).sum())

    def of(self, t: FloatArray) -> FloatArray:
        return np.asarray(np.maximum(np.polynomial.polynomial.polyval(t, self.coefficients), 0.0))

    def apply(self, rows: Rows, step: Step) -> Rows:
        return _power_series(np.array(self.coefficients), rows, step)

    def diagonal(self, rows: Rows, step: Step) -> FloatArray:
        result = 0.0 * row_products(rows, rows)
        for q in range(0, len(self.coefficients), 2):  # T^q = T^{q/2} T^{q/2}, and one more step for odd powers
            result += self.coefficients[q] * row_products(rows, rows)
            if q + 1 < len(self.coefficients):
                stepped = step(rows)
                result += self.coefficients[q + 1] * row_products(rows, stepped)
                rows = stepped
        return result


GRAPH_KERNELS: dict[str, type[GraphKernel]] = {
    kind.name: kind for kind in (RandomWalkKernel, DiffusionKernel, RegularisedLaplacianKernel, PolynomialWalkKernel)
}


def graph_kernel_from_dict(data: dict[str, Any]) -> GraphKernel:
    """Build a kernel from what its ``to_dict`` returned."""
    options = dict(data)
    name = options.pop("kernel")
    if name not in GRAPH_KERNELS:
        raise unknown_name("graph kernel", name, GRAPH_KERNELS)
    return GRAPH_KERNELS[name](**options)


def row_products(left: Rows, right: Rows) -> FloatArray:
    """Return the scalar product of each row with its counterpart."""
    if isinstance(left, np.ndarray) and isinstance(right, np.ndarray):
        return np.asarray(np.einsum("ij,ij->i", left, right))
    product = left.multiply(right) if not isinstance(left, np.ndarray) else right.multiply(left)
    return np.asarray(product.sum(axis=1)).ravel()


def _plus(left: Rows, right: Rows) -> Rows:
    """Add rows, of which either may be sparse."""
    if isinstance(left, np.ndarray) == isinstance(right, np.ndarray):
        return left + right
    return np.asarray(left + right)


def _power_series(coefficients: FloatArray, rows: Rows, step: Step) -> Rows:
    total = coefficients[0] * rows
    for coefficient in coefficients[1:].tolist():
        rows = step(rows)
        total = _plus(total, coefficient * rows)
    return total


def _chebyshev_series(coefficients: FloatArray, rows: Rows, step: Step) -> Rows:
    total = coefficients[0] * rows
    before, now = rows, step(rows)
    for coefficient in coefficients[1:].tolist():
        total = _plus(total, coefficient * now)
        before, now = now, _plus(2 * step(now), -1.0 * before)
    return total


def _check_normalisation(normalise: object) -> None:
    if normalise not in NORMALISATIONS:
        raise unknown_name("normalisation", str(normalise), NORMALISATIONS)


def _moderate(scale: object, largest: float) -> float:
    number = positive("scale", scale)
    if not 1e-6 <= number <= largest:
        raise InputError(f"scale must be between 1e-06 and {largest:g}, got {number:g}")
    return number
