"""What a label is: a number with Gaussian noise, and the seam for other likelihoods."""

from gpcurves.observations.base import Observation, as_observation
from gpcurves.observations.gaussian import GaussianNoise

__all__ = ["GaussianNoise", "Observation", "as_observation"]
