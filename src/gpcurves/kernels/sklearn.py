"""Kernels of scikit-learn: turned into ours if there is a counterpart, wrapped as they are otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np

from gpcurves.errors import InputError
from gpcurves.kernels.base import Kernel, Linear, Product, Sum
from gpcurves.kernels.stationary import OU, RBF, Matern, Matern32, Matern52, RationalQuadratic, Stationary
from gpcurves.numerics.plain import as_tuples
from gpcurves.numerics.validation import FloatArray


class ScikitLearnKernel(Protocol):
    """What tells a kernel of scikit-learn apart, for type checkers."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return its parameters."""

    def diag(self, X: Any) -> Any:
        """Return the prior variances at the rows of X."""


@dataclass(frozen=True)
class SklearnKernel(Kernel):
    """A scikit-learn kernel without a counterpart here, evaluated by scikit-learn."""

    name = ""
    kernel: Any
    factor: float = 1.0

    def __call__(self, X: FloatArray, Y: FloatArray | None = None) -> FloatArray:
        return self.factor * np.asarray(self.kernel(X, Y), dtype=np.float64)

    def diag(self, X: FloatArray) -> FloatArray:
        return self.factor * np.asarray(self.kernel.diag(X), dtype=np.float64)

    def scaled(self, factor: float) -> SklearnKernel:
        return SklearnKernel(self.kernel, self.factor * factor)

    def to_dict(self) -> dict[str, Any]:
        return {"type": "SklearnKernel", "kernel": _describe(self.kernel), "factor": self.factor}

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any]) -> Self:
        return cls(_rebuild(parameters["kernel"]), parameters["factor"])


def is_sklearn_kernel(thing: object) -> bool:
    """Tell by its module, so that scikit-learn is not imported for it."""
    return any(base.__module__ == "sklearn.gaussian_process.kernels" for base in type(thing).__mro__)


def from_sklearn(kernel: Any) -> Kernel:
    """Turn a scikit-learn kernel into one of ours."""
    name = type(kernel).__name__
    if name in ("Sum", "Product"):
        constants = [k for k in (kernel.k1, kernel.k2) if type(k).__name__ == "ConstantKernel"]
        if name == "Product" and constants:
            other = kernel.k2 if constants[0] is kernel.k1 else kernel.k1
            return from_sklearn(other).scaled(float(constants[0].constant_value))
        return (Sum if name == "Sum" else Product)((from_sklearn(kernel.k1), from_sklearn(kernel.k2)))
    if name == "RBF":
        return RBF(kernel.length_scale)
    if name == "Matern":
        named: dict[float, type[Stationary]] = {0.5: OU, 1.5: Matern32, 2.5: Matern52, np.inf: RBF}
        if kernel.nu in named:
            return named[kernel.nu](kernel.length_scale)
        return Matern(kernel.length_scale, smoothness=kernel.nu)
    if name == "RationalQuadratic":
        return RationalQuadratic(kernel.length_scale, alpha=kernel.alpha)
    if name == "DotProduct":
        return Linear(bias=kernel.sigma_0**2)
    if name == "WhiteKernel":
        raise InputError("a WhiteKernel is noise, not part of the function: give it as the noise of the problem")
    return SklearnKernel(kernel)


def remove_white(kernel: Any) -> Any:
    """Return a scikit-learn kernel without its white noise; None if nothing else is left."""
    name = type(kernel).__name__
    if name == "WhiteKernel":
        return None
    if name in ("Sum", "Product"):
        parts = [part for part in (remove_white(kernel.k1), remove_white(kernel.k2)) if part is not None]
        if len(parts) == 2:
            return type(kernel)(*parts)
        return parts[0] if parts and name == "Sum" else None
    if name == "Exponentiation":
        base = remove_white(kernel.kernel)
        return None if base is None else type(kernel)(base, kernel.exponent)
    return kernel


def _describe(kernel: Any) -> dict[str, Any]:
    """Write a kernel as its class name and parameters; parts are kernels again."""
    plain = {
        key: _describe(value) if is_sklearn_kernel(value) else np.asarray(value).tolist()
        for key, value in kernel.get_params(deep=False).items()
    }
    return {"class": type(kernel).__name__, "parameters": plain}


def _rebuild(data: dict[str, Any]) -> Any:
    from sklearn.gaussian_process import kernels

    cls = getattr(kernels, data["class"], None)
    if cls is None or not (isinstance(cls, type) and issubclass(cls, kernels.Kernel)):
        raise InputError(f"scikit-learn has no kernel {data['class']!r}")
    parameters = {  # scikit-learn compares by tuples
        key: _rebuild(value) if isinstance(value, dict) and "class" in value else as_tuples(value)
        for key, value in data["parameters"].items()
    }
    return cls(**parameters)
