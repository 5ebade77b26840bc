"""What a covariance function is: something that can be evaluated, added, multiplied and scaled."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from gpcurves.numerics.plain import Piece
from gpcurves.numerics.validation import FloatArray, positive


class Kernel(Piece, ABC, family="kernel"):
    """A covariance function on vectors.

    Laws: ``k(X, Y) == k(Y, X).T``; ``k(X, X)`` is positive semi-definite; ``k.diag(X) == diagonal(k(X, X))``.
    """

    @abstractmethod
    def __call__(self, X: FloatArray, Y: FloatArray | None = None) -> FloatArray:
        """Return the matrix of covariances between the rows of X and those of Y (of X itself if not given)."""

    @abstractmethod
    def diag(self, X: FloatArray) -> FloatArray:
        """Return the prior variance at each row of X."""

    @abstractmethod
    def scaled(self, factor: float) -> Kernel:
        """Return this kernel times a positive number."""

    @property
    def input_dim(self) -> int | None:
        """The only dimension that inputs may have, or None if any will do."""
        return None

    @property
    def terms(self) -> tuple[Kernel, ...]:
        """The kernels of which this is the sum; itself if it is no sum."""
        return (self,)

    @property
    def smoothness(self) -> float | None:
        """How often the functions can be differentiated, as the nu of Matérn; None if that is not known."""
        return None

    def __add__(self, other: object) -> Kernel:
        from gpcurves.kernels.composite import Sum

        return Sum((self, _partner(other)))

    def __mul__(self, other: object) -> Kernel:
        from gpcurves.kernels.composite import Product

        if isinstance(other, int | float | np.floating | np.integer) and not isinstance(other, bool):
            return self.scaled(positive("the factor of a kernel", other))
        return Product((self, _partner(other)))

    __radd__ = __add__
    __rmul__ = __mul__


def _partner(other: object) -> Kernel:
    from gpcurves.kernels import as_kernel

    return as_kernel(other)
