"""What an observation is: how a label depends on the function, and how much it tells about it."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from gpcurves.numerics.plain import Piece
from gpcurves.numerics.validation import FloatArray


class Observation(Piece, ABC, family="observation"):
    """How labels are made from function values.

    A formula that needs Gaussian noise asks for ``noise`` and refuses an observation that has none. LC needs nothing but
    ``information``: it holds for any observation with n = h / I(error).

    Laws: ``information`` is positive and falls with the error; with Gaussian noise it is 1 / (noise + error).
    """

    @property
    @abstractmethod
    def noise(self) -> float | None:
        """The variance of Gaussian noise that is the same everywhere, or None if labels are of another kind."""

    @abstractmethod
    def information(self, error: FloatArray) -> FloatArray:
        """Return the Fisher information that one label carries about the function if its error is ``error``."""

    @abstractmethod
    def draw(self, values: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Draw a label for each function value."""


def as_observation(given: object) -> Observation:
    """Return an observation; a number stands for Gaussian noise of this variance."""
    from gpcurves.observations.gaussian import GaussianNoise

    return given if isinstance(given, Observation) else GaussianNoise(given)  # type: ignore[arg-type]
