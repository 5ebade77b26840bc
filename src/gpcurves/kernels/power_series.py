"""Any kernel of the scalar product with positive coefficients."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from gpcurves.errors import InputError
from gpcurves.kernels.base import Kernel
from gpcurves.numerics.parameters import parameter
from gpcurves.numerics.validation import FloatArray, as_numbers, positive


def _check_coefficients(name: str, value: object) -> tuple[float, ...]:
    listed = np.atleast_1d(as_numbers(value, f"{name} must be numbers"))
    if listed.ndim != 1 or not np.isfinite(listed).all() or listed.min(initial=0.0) < 0 or listed.sum() <= 0:
        raise InputError(f"{name} must be finite, at least 0 and not all 0: other kernels are not positive definite")
    return tuple(listed.tolist())


@dataclass(frozen=True, repr=False)
class PowerSeries(Kernel):
    r"""A dot-product kernel: :math:`\sigma_f^2\sum_p c_p (x\cdot x')^p`, with coefficients :math:`c_p \ge 0`.

    On the sphere every kernel that is invariant under rotations, in every dimension, is of this kind (Schoenberg).

    Examples
    --------
    >>> import gpcurves as gpc
    >>> problem = gpc.Problem(gpc.PowerSeries((1.0, 1.0, 0.5)), gpc.Sphere(dim=3), noise=0.05)
    >>> gpc.learning_curve(problem, "lc", n=[0, 10, 100]).error.round(3)
    array([2.5  , 0.159, 0.005])
    """

    name = "power-series"
    coefficients: tuple[float, ...] = parameter(
        (1.0, 1.0),
        help="Coefficients of the powers of the scalar product, starting with the constant",
        check=_check_coefficients,
    )
    variance: float = parameter(1.0, help="Prior variance of the kernel", check=positive)

    smoothness = math.inf
    isotropic = True

    def scaled(self, factor: float) -> Self:
        return replace(self, variance=self.variance * factor)

    def __call__(self, X: FloatArray, Y: FloatArray | None = None) -> FloatArray:
        return self._sum(X @ (X if Y is None else Y).T)

    def diag(self, X: FloatArray) -> FloatArray:
        return self._sum(np.einsum("ij,ij->i", X, X))

    def _sum(self, t: FloatArray) -> FloatArray:
        return np.asarray(self.variance * np.polynomial.polynomial.polyval(t, np.array(self.coefficients)))
