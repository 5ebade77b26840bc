r"""Heavy tails: noise with Student's t distribution, a mixture of Gaussians of different variances.

With `k` degrees of freedom and the scale 1, the noise is Gaussian with the variance :math:`1/\lambda`, and :math:`\lambda` has a
Gamma distribution of shape and rate `k/2`. So noise plus :math:`N(0,\epsilon)` has the density
:math:`\langle N(y;0,1/\lambda+\epsilon)\rangle_\lambda`, whose Fisher information is what one label carries.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from gpcurves.numerics.parameters import parameter
from gpcurves.numerics.tabulated import Tabulated
from gpcurves.numerics.validation import FloatArray, positive
from gpcurves.observations.base import Observation

_NOTHING = 46.0  # e^-46 is below rounding
_LOWEST = 1e-17  # errors that change nothing, in units of the squared scale


@dataclass(frozen=True, repr=False)
class StudentT(Observation):
    """A function value plus noise with Student's t distribution: labels with outliers.

    Parameters
    ----------
    df
        Degrees of freedom: few mean many outliers, infinitely many Gaussian noise.
    scale
        Width of the distribution; the standard deviation is larger, and infinite for 2 degrees of freedom or fewer.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> problem = gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=1), gpc.StudentT(df=3, scale=0.2))
    >>> gpc.learning_curve(problem, "lc", n=[0, 10, 100]).error.round(3)
    array([1.   , 0.155, 0.008])
    """

    name = "student"
    inferences = ("gibbs",)
    df: float = parameter(help="Degrees of freedom", check=positive)
    scale: float = parameter(1.0, help="Scale of the noise", check=positive, flag="noise-scale")

    @property
    def variance(self) -> float:
        """The variance of the noise, which a model that believes in Gaussian noise estimates."""
        return self.scale**2 * self.df / (self.df - 2) if self.df > 2 else math.inf

    @property
    def noise_variance(self) -> float:
        return self.variance

    def information(self, error: FloatArray, variance: FloatArray | float) -> FloatArray:
        squared = self.scale**2
        return np.asarray(_table(self.df)(np.asarray(error) / squared) / squared)

    def draw(self, values: FloatArray, inputs: FloatArray, rng: np.random.Generator) -> FloatArray:
        labels: FloatArray = values + self.scale * rng.standard_t(self.df, values.shape)
        return labels

    def mix(self, residuals: FloatArray, rng: np.random.Generator) -> FloatArray:
        rate = (self.df * self.scale**2 + residuals**2) / 2
        return np.asarray(rate / rng.standard_gamma((self.df + 1) / 2, residuals.shape))


@lru_cache(maxsize=64)
def _table(df: float) -> Tabulated:
    return Tabulated(lambda errors: np.array([fisher_information(df, float(each)) for each in errors]), _LOWEST)


def fisher_information(df: float, error: float) -> float:
    """Return the Fisher information of noise of scale 1 plus a Gaussian; without the Gaussian it is (df + 1)/(df + 3).

    Both integrals, over labels and over variances, are trapezoidal sums, which converge exponentially for analytic functions
    that decay at both ends.
    """
    width = math.sqrt(df + error)  # of the slopes of the density in the complex plane, in the middle and in the tails
    core = math.sqrt((1 + error) / (df + error))  # where most labels are, in these units
    step = min(0.15, core / 2)
    # labels decay as a Gaussian first, and as a power from where outliers take over
    last = max(math.acosh(math.exp(min(_NOTHING / (df + 3), 300.0))), math.asinh(10 * core))
    t = step * np.arange(math.ceil(last / step) + 1)
    y = width * np.sinh(t)
    measure = 2 * step * width * np.cosh(t)
    measure[0] /= 2
    fine = min(0.2, math.sqrt(2 / df) / 2)
    # small variances decay as a Gamma distribution does; large ones first so, and as a power if labels are far out
    far = math.log((df + 1) / (df + y[-1] ** 2)) - 2 * _NOTHING / (df + 1)
    smallest, largest = min(far, max(_end_of_gamma(df, -1.0), -10.0)), _end_of_gamma(df, 1.0)
    u = np.linspace(smallest, largest, math.ceil((largest - smallest) / fine) + 1)
    norm = df / 2 * math.log(df / 2) - math.lgamma(df / 2)
    weights = (u[1] - u[0]) * np.exp(norm + df / 2 * (u - np.exp(u)))
    spread = np.exp(-u) + error
    densities = np.exp(-0.5 * y[:, None] ** 2 / spread) * (weights / np.sqrt(2 * np.pi * spread))
    density = densities.sum(axis=1)
    slope = y * (densities @ (1 / spread))
    return float(measure @ np.where(density > 0, slope**2 / np.where(density > 0, density, 1.0), 0.0))


def _end_of_gamma(df: float, sign: float) -> float:
    """Return the logarithm of a precision beyond which its density is below e^-46 of the largest, on either side of 1."""
    low, high = 0.0, 20.0 + max(0.0, -math.log(df)) + (2 * _NOTHING / df if sign < 0 else 0.0)
    high = min(high, 700.0)
    for _ in range(60):
        middle = (low + high) / 2
        u = sign * middle
        low, high = (middle, high) if df / 2 * (math.exp(u) - u - 1) < _NOTHING else (low, middle)
    return sign * high
