"""How training inputs are chosen: at random, unless a problem says otherwise."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpcurves.numerics.plain import Piece
from gpcurves.numerics.validation import FloatArray


class Design(Piece, ABC, family="design"):
    """A rule that chooses training inputs.

    Only bounds that hold for every data set, and simulations of vectors, apply to inputs that are not drawn at random.
    """

    @abstractmethod
    def draw(self, problem: Any, count: int, rng: np.random.Generator) -> FloatArray:
        """Return the first ``count`` training inputs of a data set for a problem, in their order."""


@dataclass(frozen=True, repr=False)
class Random(Design):
    """Independent draws from the input distribution."""

    def draw(self, problem: Any, count: int, rng: np.random.Generator) -> FloatArray:
        inputs: FloatArray = problem.inputs.draw(count, rng)
        return inputs
