"""What a label is: how it depends on the function, how much it tells about it, and how a function is inferred from labels."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, ClassVar

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
    uneven: ClassVar[bool] = False  # whether labels are made otherwise at some inputs than at others
    compound: ClassVar[bool] = False
    """Whether a label is about more than one function at one input, so that only methods made for such labels apply."""
    meaning: ClassVar[str] = ""
    """What compound labels of this kind are labels of, in words."""

    def mismatch(self, kind: type[Observation] | None) -> str | None:
        """Say why a method made for a kind of compound labels, or for single values if None, does not apply; None if it does."""
        if isinstance(self, kind) if kind is not None else not self.compound:
            return None
        made = "single function values" if kind is None else kind.meaning
        return f"it is for labels of {made}, but labels are {self!r}"

    @property
    def gaussian_noise(self) -> float | None:
        """The variance of Gaussian noise that is the same everywhere, or None if labels are of another kind."""
        return None

    def noise_at(self, inputs: Any, X: FloatArray) -> FloatArray | None:
        """Return the variance of Gaussian noise at rows of X, which are such ``inputs``; None if labels are of another kind."""
        level = self.gaussian_noise
        return None if level is None else np.full(len(X), level)

    def objection(self, inputs: Any) -> str | None:
        """Say why labels cannot be made in this way at such inputs, or return None if they can."""
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

    def information_at(self, inputs: Any, X: FloatArray, error: FloatArray, variance: FloatArray | float) -> FloatArray:
        """Return the information of one label at each row of X, which are such ``inputs``; see `information`."""
        return self.information(error, variance)

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
