r"""Monotone functions of the target under which a Gaussian process fits it: the logarithm of money, for instance.

A warp :math:`z = g_w(y)` has parameters w that are learnt with the hyperparameters: the evidence gains
:math:`\sum_i \ln g_w'(y_i)` (Snelson, Rasmussen & Ghahramani 2004). Predictions go back to the target's units by the mean of
:math:`g^{-1}` over the Gaussian posterior of a noisy observation. So do errors, with Mehler's formula: if an error of relative
size s in z leaves a correlation :math:`r = 1 - s` between the target and its prediction,

.. math:: \frac{\mathrm{MSE}}{\mathrm{Var}\,y} = 1 - \frac{\sum_k a_k^2 r^k}{\sum_k a_k^2}, \qquad
          a_k = \langle g^{-1}(Z)\,\mathrm{He}_k(Z)\rangle / \sqrt{k!}, \qquad k \ge 1.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gpcurves.numerics.validation import FloatArray

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(24)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()
_ORDERS = 16  # Hermite polynomials in which the inverse of a warp is expanded


class Warp(ABC):
    """A family of monotone functions of the target; predictions stay within its range, widened once to either side."""

    start: tuple[float, ...] = ()
    limits: tuple[tuple[float, float], ...] = ()
    centre: tuple[float, ...] = ()  # of a normal prior of the parameters
    deviation: tuple[float, ...] = ()

    def __init__(self, y: FloatArray) -> None:
        reach = float(np.ptp(y))
        self.lowest, self.highest = float(y.min()) - reach, float(y.max()) + reach

    @abstractmethod
    def bend(self, y: FloatArray, w: FloatArray) -> FloatArray:
        """Return g(y)."""

    @abstractmethod
    def log_slope(self, y: FloatArray, w: FloatArray) -> FloatArray:
        """Return the logarithm of g'(y)."""

    @abstractmethod
    def unbend(self, z: FloatArray, w: FloatArray) -> FloatArray:
        """Return the target at which g is z."""

    def log_prior(self, w: FloatArray) -> float:
        """Return the log density of the parameters, up to a constant."""
        return -0.5 * float((((w - self.centre) / self.deviation) ** 2).sum()) if len(w) else 0.0


class NoWarp(Warp):
    """The target as it is."""

    def bend(self, y: FloatArray, w: FloatArray) -> FloatArray:
        return y

    def log_slope(self, y: FloatArray, w: FloatArray) -> FloatArray:
        return np.zeros_like(y)

    def unbend(self, z: FloatArray, w: FloatArray) -> FloatArray:
        return z


class Power(Warp):
    r"""Powers of a target that is never negative (Box & Cox 1964): :math:`((y/c)^w - 1)/w`, and :math:`\ln(y/c)` at w = 0.

    c is the median. If the target is zero in some rows, a twentieth of c is added to it before.
    """

    start, limits, centre, deviation = (0.3,), ((0.0, 1.6),), (0.6,), (0.6,)

    def __init__(self, y: FloatArray) -> None:
        super().__init__(y)
        self.unit = float(np.median(y[y > 0]))
        self.shift = 0.0 if y.min() > 0 else 0.05
        self.lowest = 0.0

    def _ratio(self, y: FloatArray) -> FloatArray:
        return np.maximum(y / self.unit + self.shift, 1e-12)

    def bend(self, y: FloatArray, w: FloatArray) -> FloatArray:
        ratio, power = self._ratio(y), float(w[0])
        return np.log(ratio) if power == 0 else np.expm1(power * np.log(ratio)) / power

    def log_slope(self, y: FloatArray, w: FloatArray) -> FloatArray:
        return np.asarray((w[0] - 1) * np.log(self._ratio(y)) - math.log(self.unit))

    def unbend(self, z: FloatArray, w: FloatArray) -> FloatArray:
        power = float(w[0])
        log = z if power == 0 else np.log1p(np.maximum(power * z, 1e-12 - 1)) / power
        return np.asarray(self.unit * (np.exp(np.minimum(log, 100.0)) - self.shift))


class Tails(Warp):
    r"""The sinh-arcsinh function (Jones & Pewsey 2009) :math:`\sinh(w_1\,\mathrm{asinh}\,u - w_2)` of a target of any sign.

    u is the distance from the median in units of the quartiles' distance. Heavy tails need :math:`w_1 < 1`, lopsided ones
    :math:`w_2`.
    """

    start, limits = (0.8, 0.0), ((0.05, 1.3), (-1.5, 1.5))
    centre, deviation = (1.0, 0.0), (0.4, 0.5)

    def __init__(self, y: FloatArray) -> None:
        super().__init__(y)
        low, self.median, high = map(float, np.quantile(y, (0.25, 0.5, 0.75)))
        self.unit = max((high - low) / 1.35, 0.05 * float(y.std()))

    def bend(self, y: FloatArray, w: FloatArray) -> FloatArray:
        return np.asarray(np.sinh(w[0] * np.arcsinh((y - self.median) / self.unit) - w[1]))

    def log_slope(self, y: FloatArray, w: FloatArray) -> FloatArray:
        u = (y - self.median) / self.unit
        inner = w[0] * np.arcsinh(u) - w[1]
        return np.asarray(np.log(np.cosh(inner)) + math.log(w[0] / self.unit) - 0.5 * np.log1p(u * u))

    def unbend(self, z: FloatArray, w: FloatArray) -> FloatArray:
        return np.asarray(self.median + self.unit * np.sinh(np.clip((np.arcsinh(z) + w[1]) / w[0], -100.0, 100.0)))


def choose_warp(y: FloatArray) -> Warp:
    """Return the family that suits a target: powers if it is never negative, and mostly positive."""
    return Power(y) if y.min() >= 0 and np.median(y) > 0 else Tails(y)


@dataclass(frozen=True)
class Warped:
    """A warp with its parameters, and the mean and the standard deviation of the warped target, which is standardised."""

    warp: Warp
    w: FloatArray
    mean: float
    deviation: float

    @classmethod
    def of(cls, warp: Warp, w: FloatArray, y: FloatArray) -> Warped:
        """Standardise the target of these rows under a warp; one that is the same in all of them becomes zero."""
        bent = warp.bend(y, w)
        return cls(warp, w, float(bent.mean()), float(bent.std()) if np.ptp(bent) > 0 else 1.0)

    def standardise(self, y: FloatArray) -> FloatArray:
        """Return the targets of rows, warped and standardised."""
        return (self.warp.bend(y, self.w) - self.mean) / self.deviation

    def log_slope(self, y: FloatArray) -> float:
        """Return what the evidence gains, summed over rows."""
        return float(self.warp.log_slope(y, self.w).sum()) - len(y) * math.log(self.deviation)

    def in_units(self, z: FloatArray) -> FloatArray:
        """Return targets in their own units."""
        units = self.warp.unbend(self.mean + self.deviation * z, self.w)
        return units if self.is_plain else np.clip(units, self.warp.lowest, self.warp.highest)

    def mean_in_units(self, mean: FloatArray, variance: FloatArray) -> FloatArray:
        """Return the mean of a target whose standardised value is normally distributed."""
        if self.is_plain:
            return self.in_units(mean)
        return np.asarray(self.in_units(mean[:, None] + np.sqrt(variance)[:, None] * _NODES) @ _WEIGHTS)

    @property
    def is_plain(self) -> bool:
        """Whether the target is as it was, but for its units."""
        return not len(self.w)

    def error_in_units(self, error: FloatArray) -> FloatArray:
        """Return the mean squared error of the target as a share of its variance; ``error`` is that of the standardised one."""
        if self.is_plain:
            return error
        powers = self._powers
        left = np.clip(error, 0.0, 1.0)
        # 1 - r^k without cancellation where r = 1 - error is almost one
        orders = np.arange(1, len(powers) + 1)
        with np.errstate(divide="ignore"):
            return np.asarray(-np.expm1(orders * np.log1p(-left)[..., None]) @ powers)

    @cached_property
    def _powers(self) -> FloatArray:
        """Shares of the variance of the target in the Hermite polynomials 1, 2, … of the standardised one."""
        values = self.in_units(_NODES)
        polynomials = np.polynomial.hermite_e.hermevander(_NODES, _ORDERS)[:, 1:]
        norms = np.sqrt([math.factorial(order) for order in range(1, _ORDERS + 1)])
        squares = ((_WEIGHTS * values) @ polynomials / norms) ** 2
        return np.asarray(squares / squares.sum())
