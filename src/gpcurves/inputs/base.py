"""What an input distribution is: a dimension, draws from it, and nodes that integrate over it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields
from typing import Any, Self

import numpy as np

from gpcurves.errors import InputError
from gpcurves.numerics.plain import short_repr
from gpcurves.numerics.validation import FloatArray

INPUTS: dict[str, type[Inputs]] = {}
"""Every input distribution by its name, for loading saved problems. Classes enter themselves."""


class Inputs(ABC):
    """A distribution over input vectors.

    Laws: the weights of ``nodes`` are positive and sum to 1; draws have shape (count, dim).
    """

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        INPUTS[cls.__name__] = cls

    @property
    @abstractmethod
    def dim(self) -> int:
        """Number of components of an input."""

    @abstractmethod
    def draw(self, count: int, rng: np.random.Generator) -> FloatArray:
        """Draw independent inputs."""

    @abstractmethod
    def nodes(self, count: int) -> tuple[FloatArray, FloatArray]:
        """Return about ``count`` points and weights that integrate smooth functions over the distribution."""

    def __repr__(self) -> str:
        return short_repr(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the distribution as plain data; `inputs_from_dict` builds it again."""
        plain = {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]
        return {
            "type": type(self).__name__,
            **{key: np.asarray(value).tolist() for key, value in plain.items() if value is not None},
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Build a distribution of this class from its parameters."""
        return cls(**data)


def inputs_from_dict(data: dict[str, Any]) -> Inputs:
    """Build an input distribution from what `Inputs.to_dict` returned."""
    parameters = dict(data)
    name = parameters.pop("type", None)
    if name not in INPUTS:
        raise InputError(f"unknown input distribution {name!r} in saved problem")
    return INPUTS[name].from_dict(parameters)


def tensor_rule(dim: int, one: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the tensor product of a one-dimensional rule."""
    mesh = np.meshgrid(*([one] * dim), indexing="ij")
    weights = weight
    for _ in range(dim - 1):
        weights = np.multiply.outer(weights, weight)
    return np.stack([axis.ravel() for axis in mesh], axis=1), weights.ravel()
