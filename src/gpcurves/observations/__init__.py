"""What a label is: a number with Gaussian noise, and the seam for other likelihoods."""

from gpcurves.observations.base import GaussianNoise, Observation, as_observation

__all__ = ["GaussianNoise", "Observation", "as_observation"]
