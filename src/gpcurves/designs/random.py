"""Random inputs, as all theory has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpcurves.designs.base import Design
from gpcurves.numerics.validation import FloatArray


@dataclass(frozen=True, repr=False)
class Random(Design):
    """Independent draws from the input distribution.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> problem = gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=1), noise=0.05)
    >>> problem.design
    Random()
    """

    def draw(self, problem: Any, count: int, rng: np.random.Generator) -> FloatArray:
        inputs: FloatArray = problem.inputs.draw(count, rng)
        return inputs
