"""Covariance functions on vectors."""

from gpcurves.errors import InputError
from gpcurves.kernels.base import Kernel
from gpcurves.kernels.composite import Product, Sum, as_rbf, is_stationary, line_covariance
from gpcurves.kernels.dotproduct import Linear, Polynomial
from gpcurves.kernels.sklearn import from_sklearn, is_sklearn_kernel
from gpcurves.kernels.stationary import (
    OU,
    RBF,
    GammaExponential,
    Matern,
    Matern32,
    Matern52,
    RationalQuadratic,
    Stationary,
)

__all__ = [
    "OU",
    "RBF",
    "GammaExponential",
    "Kernel",
    "Linear",
    "Matern",
    "Matern32",
    "Matern52",
    "Polynomial",
    "Product",
    "RationalQuadratic",
    "Stationary",
    "Sum",
    "as_kernel",
    "as_rbf",
    "is_stationary",
    "line_covariance",
]


def as_kernel(thing: object) -> Kernel:
    """Return a kernel of ours, whatever kind of kernel was given."""
    if isinstance(thing, Kernel):
        return thing
    if is_sklearn_kernel(thing):
        return from_sklearn(thing)
    raise InputError(f"a kernel must be one of gpcurves or of scikit-learn, got {thing!r}")
