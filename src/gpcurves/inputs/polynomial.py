"""Rules that are exact for kernels of finitely many polynomials, for the box and for Gaussian inputs."""

from __future__ import annotations

from collections.abc import Sequence

from gpcurves.inputs.base import Inputs, Nodes
from gpcurves.inputs.unit import TENSOR_DIM
from gpcurves.kernels import Kernel
from gpcurves.kernels.dotproduct import DotProduct

MOST_WEIGHTED_POINTS = 4_000
"""Test points up to which an average over all of them is taken for every data set."""


def polynomial_nodes(inputs: Inputs, kernels: Sequence[Kernel]) -> Nodes | None:
    """Return Gauss nodes for the product of two polynomial kernels, or None if a kernel is not polynomial."""
    if inputs.dim > TENSOR_DIM or not all(isinstance(kernel, DotProduct) for kernel in kernels):
        return None
    each = max(kernel.degree for kernel in kernels if isinstance(kernel, DotProduct)) + 1
    return inputs.nodes(each**inputs.dim) if each**inputs.dim <= MOST_WEIGHTED_POINTS else None
