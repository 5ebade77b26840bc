"""What a covariance function is: something that can be evaluated, added, multiplied and scaled. Functions of the scalar product."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import add, mul
from typing import Any, ClassVar, Self

import numpy as np

from gpcurves.errors import InputError
from gpcurves.numerics.parameters import parameter
from gpcurves.numerics.plain import Piece
from gpcurves.numerics.validation import FloatArray, integer, nonnegative, positive


class Kernel(Piece, ABC, family="kernel"):
    """A covariance function on vectors.

    Laws: ``k(X, Y) == k(Y, X).T``; ``k(X, X)`` is positive semi-definite; ``k.diag(X) == diagonal(k(X, X))``.
    """

    @abstractmethod
    def __call__(self, X: FloatArray, Y: FloatArray | None = None) -> FloatArray:
        """Return the matrix of covariances between the rows of X and those of Y (of X itself if not given)."""

    @abstractmethod
    def diag(self, X: FloatArray) -> FloatArray:
        """Return the prior variance at each row of X."""

    @abstractmethod
    def scaled(self, factor: float) -> Kernel:
        """Return this kernel times a positive number."""

    @property
    def isotropic(self) -> bool:
        """Whether it stays the same if all inputs are rotated, so that on the sphere it is a function of the angle."""
        return False

    @property
    def input_dim(self) -> int | None:
        """The only dimension that inputs may have, or None if any will do."""
        return None

    @property
    def terms(self) -> tuple[Kernel, ...]:
        """The kernels of which this is the sum; itself if it is no sum."""
        return (self,)

    @property
    def smoothness(self) -> float | None:
        """How often the functions can be differentiated, as the nu of Matérn; None if that is not known."""
        return None

    def __add__(self, other: object) -> Kernel:
        return Sum((self, as_kernel(other)))

    def __mul__(self, other: object) -> Kernel:
        if isinstance(other, int | float | np.floating | np.integer) and not isinstance(other, bool):
            return self.scaled(positive("the factor of a kernel", other))
        return Product((self, as_kernel(other)))

    __radd__ = __add__
    __rmul__ = __mul__


def as_kernel(thing: object) -> Kernel:
    """Return a kernel of ours, whatever kind of kernel was given."""
    from gpcurves.kernels.sklearn import from_sklearn, is_sklearn_kernel

    if isinstance(thing, Kernel):
        return thing
    if is_sklearn_kernel(thing):
        return from_sklearn(thing)
    from gpcurves.kernels.libraries import from_library, library_of

    if library_of(thing) is not None:
        return from_library(thing)
    raise InputError(f"a kernel must be one of gpcurves or of scikit-learn, got {thing!r}")


@dataclass(frozen=True, repr=False)
class Composite(Kernel):
    """Several kernels taken together by an operation on their values."""

    name = ""
    operation: ClassVar[Any]
    parts: tuple[Kernel, ...]

    def __post_init__(self) -> None:
        own = type(self)
        flat = tuple(part for k in self.parts for part in (k.parts if isinstance(k, own) else (k,)))
        object.__setattr__(self, "parts", flat)
        dims = {part.input_dim for part in flat if part.input_dim is not None}
        if len(dims) > 1:
            raise InputError(f"kernels taken together must agree on the input dimension, got {sorted(dims)}")

    def __call__(self, X: FloatArray, Y: FloatArray | None = None) -> FloatArray:
        return reduce(self.operation, (part(X, Y) for part in self.parts))

    def diag(self, X: FloatArray) -> FloatArray:
        return reduce(self.operation, (part.diag(X) for part in self.parts))

    @property
    def input_dim(self) -> int | None:
        return next((part.input_dim for part in self.parts if part.input_dim is not None), None)

    @property
    def smoothness(self) -> float | None:
        known = [part.smoothness for part in self.parts if part.smoothness is not None]
        return min(known) if len(known) == len(self.parts) else None

    @property
    def isotropic(self) -> bool:
        return all(part.isotropic for part in self.parts)

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any]) -> Self:
        return cls(tuple(Kernel.from_dict(part) for part in parameters["parts"]))


class Sum(Composite):
    """Independent contributions added."""

    name = ""
    operation = staticmethod(add)

    @property
    def terms(self) -> tuple[Kernel, ...]:
        return self.parts

    def scaled(self, factor: float) -> Sum:
        return Sum(tuple(part.scaled(factor) for part in self.parts))

    def __repr__(self) -> str:
        return " + ".join(map(repr, self.parts))


class Product(Composite):
    """Covariances multiplied point by point."""

    name = ""
    operation = staticmethod(mul)

    def scaled(self, factor: float) -> Product:
        return Product((self.parts[0].scaled(factor), *self.parts[1:]))

    def __repr__(self) -> str:
        return " * ".join(f"({part!r})" if isinstance(part, Sum) else repr(part) for part in self.parts)


@dataclass(frozen=True, repr=False)
class DotProduct(Kernel):
    """A function of the scalar product, shifted by a constant; it changes under translation, and so does its prior variance.

    Parameters
    ----------
    variance
        The factor in front; for `Linear` the prior variance of each weight.
    bias
        The constant added to the scalar product; for `Linear` the prior variance of the intercept, relative to that
        of a weight.
    """

    name = ""
    variance: float = parameter(1.0, help="Prior variance of the kernel", check=positive)
    bias: float = parameter(0.0, help="Constant added to the scalar product", check=nonnegative)

    smoothness = math.inf
    isotropic = True
    degree = 1

    def scaled(self, factor: float) -> Self:
        return replace(self, variance=self.variance * factor)

    def __call__(self, X: FloatArray, Y: FloatArray | None = None) -> FloatArray:
        return np.asarray(self.variance * (X @ (X if Y is None else Y).T + self.bias) ** self.degree)

    def diag(self, X: FloatArray) -> FloatArray:
        return np.asarray(self.variance * (np.einsum("ij,ij->i", X, X) + self.bias) ** self.degree)


class Linear(DotProduct):
    r"""Bayesian linear regression: :math:`\sigma_f^2 (x \cdot x' + b)`.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> problem = gpc.Problem(gpc.Linear(), gpc.Sphere(dim=5), noise=0.05)
    >>> gpc.learning_curve(problem, "lc", n=[0, 10, 100]).error.round(3)
    array([1.   , 0.046, 0.003])
    """


@dataclass(frozen=True, repr=False)
class Polynomial(DotProduct):
    r"""Polynomials up to a degree: :math:`\sigma_f^2 (x \cdot x' + b)^p`.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> problem = gpc.Problem(gpc.Polynomial(degree=3), gpc.Sphere(dim=5), noise=0.05)
    >>> gpc.learning_curve(problem, "lc", n=[0, 10, 100]).error.round(3)
    array([8.   , 3.712, 0.047])
    """

    name = "poly"
    bias: float = parameter(1.0, help="Constant added to the scalar product", check=nonnegative)
    degree: int = parameter(2, help="Degree of the polynomial", check=partial(integer, minimum=1))
