"""Covariance functions of the scalar product: they change under translation, and so does their prior variance."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Self

import numpy as np

from gpcurves.kernels.base import Kernel
from gpcurves.numerics.parameters import parameter
from gpcurves.numerics.validation import FloatArray, integer, nonnegative, positive


@dataclass(frozen=True, repr=False)
class DotProduct(Kernel):
    """A function of the scalar product, shifted by a constant.

    Parameters
    ----------
    variance
        The factor in front; for `Linear` the prior variance of each weight.
    bias
        The constant added to the scalar product; for `Linear` the prior variance of the intercept, relative to that
        of a weight.
    """

    name = ""
    variance: float = parameter(1.0, help="Prior variance of the kernel", check=positive)
    bias: float = parameter(0.0, help="Constant added to the scalar product", check=nonnegative)

    smoothness = math.inf
    degree = 1

    def scaled(self, factor: float) -> Self:
        return replace(self, variance=self.variance * factor)

    def __call__(self, X: FloatArray, Y: FloatArray | None = None) -> FloatArray:
        return np.asarray(self.variance * (X @ (X if Y is None else Y).T + self.bias) ** self.degree)

    def diag(self, X: FloatArray) -> FloatArray:
        return np.asarray(self.variance * (np.einsum("ij,ij->i", X, X) + self.bias) ** self.degree)


class Linear(DotProduct):
    r"""Bayesian linear regression: :math:`\sigma_f^2 (x \cdot x' + b)`."""


@dataclass(frozen=True, repr=False)
class Polynomial(DotProduct):
    r"""Polynomials up to a degree: :math:`\sigma_f^2 (x \cdot x' + b)^p`."""

    name = "poly"
    bias: float = parameter(1.0, help="Constant added to the scalar product", check=nonnegative)
    degree: int = parameter(2, help="Degree of the polynomial", check=partial(integer, minimum=1))
