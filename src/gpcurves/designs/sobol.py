"""Sobol sequences."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gpcurves.designs.base import CubeDesign
from gpcurves.numerics.validation import FloatArray


@dataclass(frozen=True, repr=False)
class Sobol(CubeDesign):
    """A Sobol sequence, which fills the space evenly at every length; each data set has its own scrambling.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> problem = gpc.Problem(gpc.RBF(0.1), gpc.Box(dim=1), noise=0.05, design=gpc.Sobol())
    >>> gpc.chosen_inputs(problem, 4, rng=0).shape
    (4, 2)
    """

    name = "sobol"

    def points(self, dim: int, count: int, rng: np.random.Generator) -> FloatArray:
        from scipy.stats import qmc

        sequence: FloatArray = qmc.Sobol(dim, scramble=True, rng=rng).random_base2(math.ceil(math.log2(count)))
        return sequence[:count]
