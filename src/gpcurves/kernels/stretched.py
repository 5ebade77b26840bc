"""The stretched exponential, between the Ornstein-Uhlenbeck and the RBF kernel."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gpcurves.errors import InputError
from gpcurves.kernels.stationary import OU, RBF, Stationary
from gpcurves.numerics.parameters import parameter
from gpcurves.numerics.validation import FloatArray, positive


@dataclass(frozen=True, repr=False)
class GammaExponential(Stationary):
    r"""Stretched exponential: :math:`e^{-r^\gamma}`, 0 < gamma ≤ 2; OU at 1, RBF (other lengthscale) at 2.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> problem = gpc.Problem(gpc.GammaExponential(0.1, gamma=1.5), gpc.Torus(dim=1), noise=0.05)
    >>> gpc.learning_curve(problem, "lc", n=[0, 10, 100]).error.round(3)
    array([1.   , 0.319, 0.031])
    """

    name = "gammaexp"
    gamma: float = parameter(1.0, help="Exponent of the distance, at most 2", check=positive)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.gamma > 2:
            raise InputError(f"gamma must be at most 2, got {self.gamma:g}: beyond, this is not a covariance function")

    @property
    def smoothness(self) -> float:
        return math.inf if self.gamma == 2 else self.gamma / 2

    def correlation(self, r: FloatArray) -> FloatArray:
        return np.exp(-(r**self.gamma))

    def loss(self, r: FloatArray) -> FloatArray:
        return -np.expm1(-(r**self.gamma))

    def log_transform(self, z: FloatArray, dim: int) -> FloatArray | None:
        if self.gamma == 1:
            return OU().log_transform(z, dim)
        if self.gamma == 2:  # exp(-r^2) is an RBF of lengthscale 1/sqrt(2)
            return RBF().log_transform(z / 2, dim) - 0.5 * dim * math.log(2)
        return None
