"""What a covariance between vertices is: a function of the normalised adjacency matrix `T`, and a normalisation."""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from typing import Any, Literal, Self, get_args

from gpcurves.errors import InputError, unknown_name
from gpcurves.graphs.covariance import GraphCovariance
from gpcurves.graphs.graph import as_graph
from gpcurves.graphs.series import Rows, Step
from gpcurves.numerics.parameters import parameter
from gpcurves.numerics.plain import Piece, full_repr
from gpcurves.numerics.validation import FloatArray, positive

Normalisation = Literal["global", "local", "none"]
NORMALISATIONS: tuple[Normalisation, ...] = get_args(Normalisation)
LONGEST_WALK = 1_000


def check_normalisation(name: str, value: object) -> Normalisation:
    """Return a normalisation, or raise an error that names the nearest one."""
    if value not in NORMALISATIONS:
        raise unknown_name("normalisation", str(value), NORMALISATIONS)
    return value


def normalise_parameter() -> Any:
    """Return the last field of every graph kernel, ``normalise``."""
    return parameter(
        "global",
        help="How prior variances are scaled to 1: on average (global), at every vertex (local), or not (none)",
        check=check_normalisation,
    )


class GraphKernel(Piece, ABC, family="graph kernel"):
    """A covariance between vertices before normalisation, and how it is normalised.

    Law: ``apply`` multiplies by the matrix whose eigenvalues are ``eigenvalue`` of those of `T`, and ``diagonal`` is its diagonal.
    """

    normalise: Normalisation = "global"

    @property
    def rounding(self) -> float:
        """Diagonal entries up to this size may be zero; sums of non-negative terms are exact in this sense."""
        return 0.0

    @abstractmethod
    def eigenvalue(self, t: FloatArray) -> FloatArray:
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
        return GraphCovariance(self, as_graph(graph))

    def normalised(self, how: Normalisation) -> Self:
        """Return this kernel with another normalisation."""
        other = copy(self)
        object.__setattr__(other, "normalise", check_normalisation("normalise", how))
        return other

    def __repr__(self) -> str:
        return full_repr(self)


def check_scale(name: str, value: object, largest: float) -> float:
    """Return a lengthscale whose square and its exponential are normal numbers."""
    number = positive(name, value)
    if not 1e-6 <= number <= largest:
        raise InputError(f"{name} must be between 1e-06 and {largest:g}, got {number:g}")
    return number
