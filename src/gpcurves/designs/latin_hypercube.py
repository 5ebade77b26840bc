"""Latin hypercubes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpcurves.designs.base import CubeDesign
from gpcurves.numerics.validation import FloatArray


@dataclass(frozen=True, repr=False)
class LatinHypercube(CubeDesign):
    """One random point in each of `n` equally probable slices of every dimension; all `n` are chosen at once.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> problem = gpc.Problem(gpc.RBF(0.1), gpc.Box(dim=1), noise=0.05, design=gpc.LatinHypercube())
    >>> gpc.chosen_inputs(problem, 4, rng=0).shape
    (4, 2)
    """

    name = "lhs"
    nested = False

    def points(self, dim: int, count: int, rng: np.random.Generator) -> FloatArray:
        from scipy.stats import qmc

        points: FloatArray = qmc.LatinHypercube(dim, rng=rng).random(count)
        return points
