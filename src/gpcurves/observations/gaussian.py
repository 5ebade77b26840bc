"""Gaussian noise that is the same everywhere."""

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

    Examples
    --------
    >>> import gpcurves as gpc
    >>> problem = gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=1), gpc.GaussianNoise(0.05))
    >>> gpc.learning_curve(problem, "lc", n=[0, 10, 100]).error.round(3)
    array([1.   , 0.116, 0.006])
    """

    name = "gaussian"
    variance: float = parameter(help="Noise variance of a label", check=nonnegative, label="noise", flag="noise")

    @property
    def gaussian_noise(self) -> float:
        return self.variance

    @property
    def noise_variance(self) -> float:
        return self.variance

    def information(self, error: FloatArray, variance: FloatArray | float) -> FloatArray:
        return 1 / (self.variance + error)

    def draw(self, values: FloatArray, inputs: FloatArray, rng: np.random.Generator) -> FloatArray:
        labels: FloatArray = values + np.sqrt(self.variance) * rng.standard_normal(values.shape)
        return labels


def as_observation(given: object) -> Observation:
    """Return an observation; a number stands for Gaussian noise of this variance."""
    return given if isinstance(given, Observation) else GaussianNoise(given)  # type: ignore[arg-type]
