"""Sums and products of covariance functions, which are covariance functions again."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add, mul
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from gpcurves.errors import InputError
from gpcurves.kernels.base import Kernel
from gpcurves.numerics.validation import FloatArray

if TYPE_CHECKING:
    from gpcurves.kernels.stationary import RBF


@dataclass(frozen=True, repr=False)
class Composite(Kernel):
    """Several kernels taken together."""

    name = ""
    parts: tuple[Kernel, ...]

    def __post_init__(self) -> None:
        own = type(self)
        flat = tuple(part for k in self.parts for part in (k.parts if isinstance(k, own) else (k,)))
        object.__setattr__(self, "parts", flat)
        dims = {part.input_dim for part in flat if part.input_dim is not None}
        if len(dims) > 1:
            raise InputError(f"kernels taken together must agree on the input dimension, got {sorted(dims)}")

    @property
    def input_dim(self) -> int | None:
        """The dimension that any part asks for."""
        return next((part.input_dim for part in self.parts if part.input_dim is not None), None)

    @property
    def smoothness(self) -> float | None:
        known = [part.smoothness for part in self.parts if part.smoothness is not None]
        return min(known) if len(known) == len(self.parts) else None

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any]) -> Self:
        return cls(tuple(Kernel.from_dict(part) for part in parameters["parts"]))


class Sum(Composite):
    """Independent contributions added."""

    name = ""

    @property
    def terms(self) -> tuple[Kernel, ...]:
        return self.parts

    def __call__(self, X: FloatArray, Y: FloatArray | None = None) -> FloatArray:
        return reduce(add, (part(X, Y) for part in self.parts))

    def diag(self, X: FloatArray) -> FloatArray:
        return reduce(add, (part.diag(X) for part in self.parts))

    def scaled(self, factor: float) -> Sum:
        return Sum(tuple(part.scaled(factor) for part in self.parts))

    def __repr__(self) -> str:
        return " + ".join(map(repr, self.parts))


class Product(Composite):
    """Covariances multiplied point by point."""

    name = ""

    def __call__(self, X: FloatArray, Y: FloatArray | None = None) -> FloatArray:
        return reduce(mul, (part(X, Y) for part in self.parts))

    def diag(self, X: FloatArray) -> FloatArray:
        return reduce(mul, (part.diag(X) for part in self.parts))

    def scaled(self, factor: float) -> Product:
        return Product((self.parts[0].scaled(factor), *self.parts[1:]))

    def __repr__(self) -> str:
        return " * ".join(f"({part!r})" if isinstance(part, Sum) else repr(part) for part in self.parts)


def is_stationary(kernel: Kernel) -> bool:
    """Tell whether a kernel depends on the difference of its arguments alone."""
    from gpcurves.kernels.stationary import Stationary

    if isinstance(kernel, Composite):
        return all(map(is_stationary, kernel.parts))
    return isinstance(kernel, Stationary)


def line_covariance(kernel: Kernel, distance: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    r"""Return :math:`C(a)`, :math:`C(0) - C(a)` without cancellation, and `C(0)`, for a stationary kernel in 1D."""
    from gpcurves.kernels.stationary import Stationary

    if isinstance(kernel, Stationary):
        r = distance / kernel.lengthscales(1)[0]
        return kernel.variance * kernel.correlation(r), kernel.variance * kernel.loss(r), kernel.variance
    assert isinstance(kernel, Composite)
    parts: Sequence[tuple[FloatArray, FloatArray, float]] = [line_covariance(part, distance) for part in kernel.parts]
    if isinstance(kernel, Sum):
        return (
            reduce(add, (value for value, _, _ in parts)),
            reduce(add, (loss for _, loss, _ in parts)),
            sum(origin for _, _, origin in parts),
        )
    value, loss, origin = parts[0]
    for next_value, next_loss, next_origin in parts[1:]:
        # a0 b0 - a b = (a0 - a) b0 + a (b0 - b)
        value, loss, origin = value * next_value, loss * next_origin + value * next_loss, origin * next_origin
    return value, loss, origin


def as_rbf(kernel: Kernel) -> RBF | None:
    """Return an RBF kernel, or a product of several, as one RBF; None for any other kernel."""
    from gpcurves.kernels.stationary import RBF

    if isinstance(kernel, RBF):
        return kernel
    if not isinstance(kernel, Product):
        return None
    parts = [part for part in kernel.parts if isinstance(part, RBF)]
    if len(parts) < len(kernel.parts):
        return None
    precision = sum(1 / np.square(part.lengthscale) for part in parts)
    return RBF((1 / np.sqrt(np.asarray(precision))).tolist(), math.prod(part.variance for part in parts))
