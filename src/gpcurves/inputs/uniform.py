"""What several distributions share: uniform inputs on [0, 1]^dim, and rules that are tensor products of one-dimensional ones."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from gpcurves.inputs.base import Inputs, Nodes
from gpcurves.kernels import Kernel
from gpcurves.kernels.dotproduct import DotProduct
from gpcurves.numerics.parameters import parameter
from gpcurves.numerics.quadrature import sobol_rule, tensor_rule
from gpcurves.numerics.validation import FloatArray, integer

TENSOR_DIM = 3
"""Up to this dimension nodes are a tensor product of one-dimensional rules, beyond it a Sobol sequence."""
MOST_WEIGHTED_POINTS = 4_000
"""Test points up to which an average over all of them is taken for every data set."""
check_dimension = partial(integer, minimum=1, maximum=100)


def nodes_per_dimension(count: int, dim: int) -> int:
    """Return how many nodes each dimension gets if there are to be ``count`` in all."""
    return max(2, round(float(count ** (1 / dim))))


def polynomial_nodes(inputs: Inputs, kernels: Sequence[Kernel]) -> Nodes | None:
    """Return Gauss nodes that are exact for the product of two polynomial kernels, or None if a kernel is not polynomial."""
    degrees = [kernel.degree for kernel in kernels if isinstance(kernel, DotProduct)]
    if inputs.dim > TENSOR_DIM or len(degrees) < len(kernels):
        return None
    count = (max(degrees) + 1) ** inputs.dim
    return inputs.nodes(count) if count <= MOST_WEIGHTED_POINTS else None


@dataclass(frozen=True, repr=False)
class _Uniform(Inputs):
    """Uniform on [0, 1]^dim."""

    dim: int = parameter(1, help="Dimension of the inputs", check=check_dimension, label="dimension")

    def draw(self, count: int, rng: np.random.Generator) -> FloatArray:
        return rng.random((count, self.dim))

    def nodes(self, count: int) -> Nodes:
        if self.dim > TENSOR_DIM:
            return sobol_rule(self.dim, count)
        return tensor_rule(self.dim, *self.line_rule(nodes_per_dimension(count, self.dim)))

    @abstractmethod
    def line_rule(self, count: int) -> Nodes:
        """Return nodes and weights of one dimension."""
