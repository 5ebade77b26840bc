r"""Labels that are classes, -1 and 1: what all of them share.

The class is the sign of the function plus symmetric noise. With :math:`p(\omega) = \langle P(1|\omega+\sqrt\epsilon z)\rangle_z`, one label
carries the information :math:`\langle p'(\omega)^2/(p(\omega)p(-\omega))\rangle` for predictions :math:`\omega` of variance :math:`\rho-\epsilon`;
the error rate on labels is :math:`\langle p(-|\omega|)\rangle`, and the log loss :math:`-2\langle p\ln p\rangle`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

import numpy as np

from gpcurves.numerics.quadrature import gauss_legendre
from gpcurves.numerics.validation import FloatArray
from gpcurves.observations.base import Observation

_NODES, _WEIGHTS = gauss_legendre(np.linspace(0.0, 1.0, 13))
_CELLS = 4_000_000
_TINY = 1e-280  # without any noise, a label carries infinite information if nothing is uncertain


class Classes(Observation):
    """Two classes, -1 and 1, of which a large function value makes the second likely."""

    name = ""
    classes = True
    inferences = ("ep", "laplace")

    @abstractmethod
    def probability(self, mean: FloatArray, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the probability of the class 1 for Gaussian beliefs about values, and its derivative by the mean."""

    @property
    @abstractmethod
    def reach(self) -> float:
        """How large a value must be so that its class is certain to rounding, of a belief without variance."""

    def draw(self, values: FloatArray, inputs: FloatArray, rng: np.random.Generator) -> FloatArray:
        sure = self.probability(values, np.zeros_like(values))[0]
        return np.where(rng.random(values.shape) < sure, 1.0, -1.0)

    def information(self, error: FloatArray, variance: FloatArray | float) -> FloatArray:
        return self.average(_carried, error, variance)

    def unevenness(self, error: FloatArray, variance: FloatArray | float) -> FloatArray:
        """Return the variance of the information of a label over predictions, divided by the square of its average."""
        mean = Classes.information(self, error, variance)
        return self.average(lambda *belief: _carried(*belief) ** 2, error, variance) / mean**2 - 1

    def error_rate(self, error: FloatArray, variance: FloatArray | float) -> FloatArray:
        """Return the share of wrong labels if the posterior variance is ``error`` and the prior variance ``variance``."""
        return self.average(lambda p, opposite, slope: opposite, error, variance)

    def log_loss(self, error: FloatArray, variance: FloatArray | float) -> FloatArray:
        """Return the average of minus the logarithm of the probability that was given to the class."""

        def loss(p: FloatArray, opposite: FloatArray, slope: FloatArray) -> FloatArray:
            rare = np.where(opposite > 0, opposite, 1.0)
            return np.asarray(-p * np.log1p(-opposite) - opposite * np.log(rare))

        return self.average(loss, error, variance)

    def average(
        self,
        function: Callable[[FloatArray, FloatArray, FloatArray], FloatArray],
        error: FloatArray,
        variance: FloatArray | float,
    ) -> FloatArray:
        """Average an even function over predictions: of the probabilities of both classes, the likelier first, and the slope."""
        shape = np.broadcast_shapes(np.shape(error), np.shape(variance))
        errors = np.maximum(np.broadcast_to(np.asarray(error, dtype=np.float64), shape).ravel(), _TINY)
        explained = np.maximum(np.broadcast_to(variance, shape).ravel() - errors, 0.0)
        rows = max(1, _CELLS // (len(_NODES) * 200))
        parts = [
            self._average(function, errors[i : i + rows], explained[i : i + rows]) for i in range(0, len(errors), rows)
        ]
        return np.concatenate(parts).reshape(shape) if parts else np.empty(shape)

    def _average(
        self,
        function: Callable[[FloatArray, FloatArray, FloatArray], FloatArray],
        error: FloatArray,
        explained: FloatArray,
    ) -> FloatArray:
        # predictions beyond the reach are certain, and those beyond 9.5 standard deviations never occur
        deviation = np.sqrt(explained)
        limit = np.minimum(9.5 * deviation, self.reach + 9.5 * np.sqrt(error))
        inside = limit > 0
        share = np.divide(limit, deviation, out=np.full_like(limit, 9.5), where=inside)
        omega = limit[:, None] * _NODES
        p, slope = self.probability(omega, error[:, None] + 0 * omega)
        opposite = self.probability(-omega, error[:, None] + 0 * omega)[0]
        weights = 2 * _WEIGHTS * share[:, None] * np.exp(-0.5 * (share[:, None] * _NODES) ** 2) / np.sqrt(2 * np.pi)
        return np.asarray((weights * function(p, opposite, slope)).sum(axis=1))


def _carried(p: FloatArray, opposite: FloatArray, slope: FloatArray) -> FloatArray:
    """Return the information of a label for a given prediction."""
    product = p * opposite
    return np.divide(slope**2, product, out=np.zeros_like(product), where=product > 0)
