r"""Parts of a function beside the one that depends on all inputs together: a linear one, and a sum of functions of one input each.

Functions of one input, as many tables have them, are weighted sums of :math:`\phi_k(x) = x^ke^{-x^2/2}/\sqrt{k!}` with
:math:`k < 8`. With all k their covariance would be the squared exponential :math:`e^{-(x-x')^2/2}` with a lengthscale of one standard
deviation, which hardly differs where rows are. The only hyperparameter is the variance, so products of features are computed once.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gpcurves.kernels import FeatureKernel, Kernel, Linear
from gpcurves.numerics.validation import FloatArray

_TERMS = 8  # features of an input
_FAR = 30.0  # standard deviations from the mean, where features have vanished


@dataclass(frozen=True)
class TargetPart(ABC):
    """A part of the target whose covariance is a variance times something known.

    The logarithm of the variance has a prior with a ``centre`` and a ``width``, and ``limits``; fits begin at
    ``start``, and where the parts explain most of the function at ``mostly``.
    """

    centre: ClassVar[float]
    width: ClassVar[float]
    limits: ClassVar[tuple[float, float]]
    start: ClassVar[float]
    mostly: ClassVar[float]


@dataclass(frozen=True)
class FeaturePart(TargetPart):
    """A part whose covariance is a variance times the inner product of features, for inputs in so many blocks."""

    blocks: int

    @abstractmethod
    def features(self, X: FloatArray) -> FloatArray:
        """Return a row of features for each row of standardised inputs."""

    @abstractmethod
    def kernel(self, variance: float) -> Kernel:
        """Return the covariance function."""


@dataclass(frozen=True)
class LinearPart(FeaturePart):
    """A linear function with an intercept."""

    centre, width, limits = -1.0, 2.0, (-14.0, 8.0)
    start = mostly = math.log(0.3)

    def features(self, X: FloatArray) -> FloatArray:
        return np.column_stack((X / math.sqrt(self.blocks), np.ones(len(X))))

    def kernel(self, variance: float) -> Linear:
        return Linear(variance / self.blocks, float(self.blocks))


@dataclass(frozen=True)
class AdditivePart(FeaturePart):
    """A sum of smooth functions of one column each."""

    columns: tuple[int, ...]
    centre, width, limits = -5.0, 2.0, (-34.0, 8.0)
    start, mostly = -5.0, -1.0
    # The lower limit is so low because an exact linear function leaves nothing for this part.

    def features(self, X: FloatArray) -> FloatArray:
        x = np.clip(X[:, list(self.columns)], -_FAR, _FAR)
        values = np.empty((len(X), _TERMS, len(self.columns)))
        values[:, 0] = np.exp(-0.5 * x * x) / math.sqrt(self.blocks)
        for k in range(1, _TERMS):
            np.multiply(values[:, k - 1], x / math.sqrt(k), out=values[:, k])
        return values.reshape(len(X), -1)

    def kernel(self, variance: float) -> FeatureKernel:
        return FeatureKernel(self.features, variance)


def list_parts(blocks: tuple[int, ...]) -> tuple[FeaturePart, ...]:
    """Return the parts for columns in these blocks: functions of one input only if there are several, and not for categories."""
    counts = np.bincount(blocks)
    single = tuple(place for place, block in enumerate(blocks) if counts[block] == 1)
    linear = LinearPart(len(counts))
    return (linear, AdditivePart(len(counts), single)) if single and len(counts) > 1 else (linear,)
