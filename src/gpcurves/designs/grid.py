"""Regular grids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpcurves.designs.base import CubeDesign
from gpcurves.numerics.quadrature import tensor_rule
from gpcurves.numerics.validation import FloatArray


def side_of(counts: FloatArray, dim: int) -> FloatArray:
    """Return how many points per dimension the largest grid has that these numbers of points allow."""
    side = np.floor(counts ** (1 / dim))
    return np.where((side + 1) ** dim <= counts, side + 1, side)  # the root of a power may be rounded down


@dataclass(frozen=True, repr=False)
class Grid(CubeDesign):
    """Equally spaced points in each dimension, in the middle of cells of equal probability: `k` to the power of the dimension.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> problem = gpc.Problem(gpc.RBF(0.1), gpc.Box(dim=1), noise=0.05, design=gpc.Grid())
    >>> gpc.chosen_inputs(problem, 4, rng=0).shape
    (4, 2)
    """

    name = "grid"
    nested = False
    deterministic = True

    def points(self, dim: int, count: int, rng: np.random.Generator) -> FloatArray:
        side = int(side_of(np.array([float(count)]), dim)[0])
        return tensor_rule(dim, (np.arange(side) + 0.5) / side, np.full(side, 1 / side))[0]

    def count_objection(self, problem: Any, counts: FloatArray) -> str | None:
        dim = problem.inputs.dim
        side = side_of(counts, dim)
        wrong = np.flatnonzero(side**dim != counts)
        if len(wrong) == 0:
            return None
        near = [int(each) for each in (side[wrong[0]] ** dim, (side[wrong[0]] + 1) ** dim)]
        return (
            f"a grid in {dim} dimensions has k^{dim} points: n must be {near[0]} or {near[1]}, got {counts[wrong[0]]:g}"
        )
