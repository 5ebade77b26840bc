"""What the torus and the box share: uniform inputs on [0, 1]^dim, and up to which dimension rules are tensor products."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpcurves.inputs.base import Inputs
from gpcurves.numerics.parameters import parameter
from gpcurves.numerics.validation import FloatArray, integer

MOST_DIMENSIONS = 100
TENSOR_DIM = 3
"""Up to this dimension nodes are a tensor product of one-dimensional rules, beyond it a Sobol sequence."""


def dimension(name: str, value: object) -> int:
    """Return a number of dimensions."""
    return integer(name, value, 1, MOST_DIMENSIONS)


def nodes_per_dimension(count: int, dim: int) -> int:
    """Return how many nodes each dimension gets if there are to be ``count`` in all."""
    return max(2, round(float(count ** (1 / dim))))


@dataclass(frozen=True, repr=False)
class _Unit(Inputs):
    """Uniform on [0, 1]^dim."""

    dim: int = parameter(1, help="Dimension of the inputs", check=dimension, label="dimension")

    def draw(self, count: int, rng: np.random.Generator) -> FloatArray:
        return rng.random((count, self.dim))
