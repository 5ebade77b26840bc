"""What a covariance function is: something that can be evaluated, added, multiplied and scaled."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields
from typing import Any, Self

import numpy as np

from gpcurves.errors import InputError
from gpcurves.numerics.plain import short_repr
from gpcurves.numerics.validation import FloatArray, positive

KERNELS: dict[str, type[Kernel]] = {}
"""Every kernel class by its name, for loading saved problems. Classes enter themselves when they are defined."""


class Kernel(ABC):
    """A covariance function on vectors.

    Laws: ``k(X, Y) == k(Y, X).T``; ``k(X, X)`` is positive semi-definite; ``k.diag(X) == diagonal(k(X, X))``.
    """

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        KERNELS[cls.__name__] = cls

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
    def input_dim(self) -> int | None:
        """The only dimension that inputs may have, or None where any will do."""
        return None

    @property
    def terms(self) -> tuple[Kernel, ...]:
        """The kernels of which this is the sum; itself where it is no sum."""
        return (self,)

    @property
    def smoothness(self) -> float | None:
        """How often the functions can be differentiated, as the nu of Matérn; None where that is not known."""
        return None

    def __add__(self, other: object) -> Kernel:
        from gpcurves.kernels.composite import Sum

        return Sum((self, _partner(other)))

    def __mul__(self, other: object) -> Kernel:
        from gpcurves.kernels.composite import Product

        if isinstance(other, int | float | np.floating | np.integer) and not isinstance(other, bool):
            return self.scaled(positive("the factor of a kernel", other))
        return Product((self, _partner(other)))

    __radd__ = __add__
    __rmul__ = __mul__

    def __repr__(self) -> str:
        return short_repr(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the kernel as plain data; `kernel_from_dict` builds it again."""
        parameters = {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]
        return {"type": type(self).__name__, **{key: _plain(value) for key, value in parameters.items()}}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Build a kernel of this class from its parameters."""
        return cls(**{key: tuple(value) if isinstance(value, list) else value for key, value in data.items()})


def kernel_from_dict(data: dict[str, Any]) -> Kernel:
    """Build a kernel from what `Kernel.to_dict` returned."""
    parameters = dict(data)
    name = parameters.pop("type", None)
    if name not in KERNELS:
        raise InputError(f"unknown kernel type {name!r} in saved problem")
    return KERNELS[name].from_dict(parameters)


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value.to_dict() if isinstance(value, Kernel) else value


def _partner(other: object) -> Kernel:
    from gpcurves.kernels import as_kernel

    return as_kernel(other)
