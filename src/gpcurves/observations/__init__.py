"""What a label is: how it depends on the function, and how much it tells about it; Gaussian noise."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from gpcurves.numerics.parameters import parameter
from gpcurves.numerics.plain import Piece
from gpcurves.numerics.validation import FloatArray, nonnegative


class Observation(Piece, ABC, family="observation"):
    """How labels are made from function values.

    Methods refuse an observation without Gaussian noise unless they say that labels may be of any kind (``any_labels``). LC
    does: it needs nothing but ``information``, n = h / information(error). ``draw`` is for methods that draw labels; the
    simulation of Gaussian noise does not, because its average over labels is exact.

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
    def draw(self, values: FloatArray, inputs: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Draw a label for each function value; ``inputs`` are where, one per row."""


@dataclass(frozen=True, repr=False)
class GaussianNoise(Observation):
    """A function value plus Gaussian noise that is the same everywhere.

    Parameters
    ----------
    variance
        The noise variance (the papers' sigma squared), at least 0.
    """

    name = "gaussian"
    variance: float = parameter(help="Noise variance", check=nonnegative, label="noise", flag="noise")

    @property
    def noise(self) -> float:
        return self.variance

    def information(self, error: FloatArray) -> FloatArray:
        return 1 / (self.variance + error)

    def draw(self, values: FloatArray, inputs: FloatArray, rng: np.random.Generator) -> FloatArray:
        labels: FloatArray = values + np.sqrt(self.variance) * rng.standard_normal(values.shape)
        return labels


def as_observation(given: object) -> Observation:
    """Return an observation; a number stands for Gaussian noise of this variance."""
    return given if isinstance(given, Observation) else GaussianNoise(given)  # type: ignore[arg-type]
