"""What a label is: how it depends on the function, how much it tells about it, and how a function is inferred from labels."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from gpcurves.numerics.plain import Piece
from gpcurves.numerics.validation import FloatArray

Tilted = tuple[FloatArray, FloatArray, FloatArray]
"""The logarithm of a likelihood, or of its average over a Gaussian, its derivative, and minus its second derivative."""


class Observation(Piece, ABC, family="observation"):
    r"""How labels are made from function values.

    Methods refuse an observation without Gaussian noise unless they say that labels may be of any kind (``any_labels``). LC, UC and
    D do: they need nothing but ``information``, n = h / information(error, variance). ``draw`` is for methods that draw labels; the
    simulation of Gaussian noise does not, because its average over labels is exact.

    ``inferences`` are the ways in which a simulation can infer the function from labels, the usual one first: "ep" (expectation
    propagation) needs ``tilt``, "laplace" needs ``slopes``, and "gibbs" needs ``mix``.

    Laws: ``information`` is positive; at a fixed variance of the prediction, variance - error, it falls with the error; with
    Gaussian noise it is 1 / (noise + error).
    """

    classes: ClassVar[bool] = False  # whether labels are the two classes -1 and 1
    inferences: ClassVar[tuple[str, ...]] = ()

    @property
    def gaussian_noise(self) -> float | None:
        """The variance of Gaussian noise that is the same everywhere, or None if labels are of another kind."""
        return None

    @property
    def noise_variance(self) -> float:
        """The variance of labels about the function; NaN if they are not the function plus noise, infinite with many outliers."""
        return math.nan

    @abstractmethod
    def information(self, error: FloatArray, variance: FloatArray | float) -> FloatArray:
        r"""Return the Fisher information that one label carries about the function.

        Its posterior variance is ``error`` :math:`= \epsilon` and its prior variance ``variance`` :math:`= \rho`, so that the
        prediction :math:`\omega` has the variance :math:`\rho-\epsilon`. With :math:`Z(y;\omega) = \langle P(y|\omega+\sqrt\epsilon z)\rangle_z`
        this is :math:`\langle\int dy\, Z (\partial_\omega\ln Z)^2\rangle_\omega`.
        """

    @abstractmethod
    def draw(self, values: FloatArray, inputs: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Draw a label for each function value; ``inputs`` are where, one per row."""

    def tilt(self, labels: FloatArray, mean: FloatArray, variance: FloatArray) -> Tilted:
        r"""Return :math:`\ln Z`, its derivative by the mean and minus its second derivative, for Gaussian beliefs about values."""
        raise NotImplementedError

    def slopes(self, labels: FloatArray, values: FloatArray) -> Tilted:
        r"""Return :math:`\ln P(y|f)`, its derivative by `f` and minus its second derivative."""
        raise NotImplementedError

    def mix(self, residuals: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Draw the variance of the Gaussian noise that a label had, given label minus value, for mixtures of Gaussians."""
        raise NotImplementedError
