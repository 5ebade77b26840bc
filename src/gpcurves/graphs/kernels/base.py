"""What every covariance between vertices is: a function of the normalised adjacency matrix `T`, and its normalisation."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy
from functools import cached_property
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np

from gpcurves.errors import InputError, check_name
from gpcurves.graphs.covariance import GraphCovariance, Resolvent, Rows, Step, chebyshev_diagonal, chebyshev_series
from gpcurves.graphs.graph import Graph, as_graph
from gpcurves.graphs.vertex_model import VertexModel, polynomial_model
from gpcurves.numerics.parameters import parameter
from gpcurves.numerics.plain import Piece, full_repr
from gpcurves.numerics.validation import FloatArray, frozen, positive

Normalisation = Literal["local", "global", "none"]
NORMALISATIONS: tuple[Normalisation, ...] = get_args(Normalisation)
_COEFFICIENTS = (16, 32, 64, 128, 256, 512, 1_024, 2_048)  # how many Chebyshev coefficients of a kernel are tried
_NEGLIGIBLE = 1e-10  # share of a kernel that messages may leave out: each further power of T makes them longer


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


def variance_parameter() -> Any:
    """Return the field ``variance`` of a graph kernel, after ``normalise``."""
    return parameter(1.0, help="Prior variance after normalisation; without normalisation, a factor", check=positive)


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
    ``normalise: Normalisation = normalise_parameter()`` last, or before ``variance: float = variance_parameter()``.

    Kernels can be added, and multiplied by a number: ``0.7 * short + 0.3 * long``.

    Law: ``apply`` multiplies by the matrix whose eigenvalues are ``eigenvalue`` of those of `T`, ``diagonal`` is its
    diagonal, and belief propagation with ``vertex_model`` is exact on trees, up to ``kernel_error``.
    """

    normalise: Normalisation = "local"
    variance: float = 1.0  # a factor after normalisation
    spectral: ClassVar[bool] = True
    """Whether it is a function of `T` up to normalisation, as all kernels of one graph alone are."""

    @property
    def resolvent(self) -> Resolvent | None:
        """The kernel as a power of a resolvent, if it is one: a sparse factorisation solves it where that is cheaper."""
        return None

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

    def scaled(self, factor: float) -> GraphKernel:
        """Return this kernel times a positive number."""
        other = copy(self)
        object.__setattr__(other, "variance", self.variance * positive("the factor of a kernel", factor))
        return other

    def raw(self) -> Self:
        """Return this kernel without normalisation and without a factor."""
        other = self.normalised("none")
        object.__setattr__(other, "variance", 1.0)
        return other

    def details_of(self, graph: Graph) -> str:
        """Return a text that tells apart what the kernel needs to know about a graph besides its edges; empty if nothing."""
        return ""

    def __add__(self, other: object) -> GraphKernel:
        from gpcurves.graphs.kernels.sums import GraphKernelSum

        return GraphKernelSum((self, other)) if isinstance(other, GraphKernel) else NotImplemented

    def __mul__(self, factor: object) -> GraphKernel:
        known = isinstance(factor, int | float | np.floating | np.integer) and not isinstance(factor, bool)
        return self.scaled(float(factor)) if known else NotImplemented  # type: ignore[arg-type]

    __rmul__ = __mul__

    def to_dict(self) -> dict[str, Any]:
        """Return this kernel as plain data, without a variance of 1, which older versions do not know."""
        plain = super().to_dict()
        return {name: value for name, value in plain.items() if name != "variance" or value != 1.0}

    def __repr__(self) -> str:
        return full_repr(self).replace(", variance=1)", ")")
