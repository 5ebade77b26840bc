"""Function values with Gaussian noise: regression."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpcurves.numerics.parameters import parameter
from gpcurves.numerics.validation import FloatArray, nonnegative
from gpcurves.observations.base import Observation


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

    def draw(self, values: FloatArray, rng: np.random.Generator) -> FloatArray:
        labels: FloatArray = values + np.sqrt(self.variance) * rng.standard_normal(values.shape)
        return labels
