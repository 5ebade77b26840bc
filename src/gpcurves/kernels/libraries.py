"""Kernels and fitted models of GPflow and GPyTorch, read by their attributes: neither package is imported.

Both are told by their modules. A kernel without a counterpart here, and one on some of the columns only, is refused by name.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import add, mul
from typing import Any

import numpy as np

from gpcurves.errors import InputError
from gpcurves.kernels.base import Kernel, Linear, Polynomial
from gpcurves.kernels.stationary import OU, RBF, Matern32, Matern52, RationalQuadratic, Stationary
from gpcurves.numerics.validation import FloatArray

_MATERN: dict[float, type[Stationary]] = {0.5: OU, 1.5: Matern32, 2.5: Matern52}
_NOISE = "is noise, not part of the function: give it as the noise of the problem"


def library_of(thing: object) -> str | None:
    """Return "gpflow" or "gpytorch" if a kernel or a model is of that package, also if its class is the user's own."""
    packages = [base.__module__.partition(".")[0] for base in type(thing).__mro__]
    return next((name for name in packages if name in ("gpflow", "gpytorch")), None)


def from_library(kernel: Any) -> Kernel:
    """Turn a kernel of GPflow or GPyTorch into one of ours."""
    return _from_gpflow(kernel) if library_of(kernel) == "gpflow" else _from_gpytorch(kernel)


def read_model(model: Any) -> tuple[Kernel, float | None, FloatArray | None]:
    """Return the kernel of a fitted model, the variance of its noise, and its training inputs, if it knows these."""
    library = library_of(model)
    kernel = getattr(model, {"gpflow": "kernel", "gpytorch": "covar_module"}.get(str(library), ""), None)
    if kernel is None:
        raise InputError(
            f"a model must be one of GPflow (with kernel) or GPyTorch (with covar_module), got {type(model).__name__}"
        )
    likelihood = getattr(model, "likelihood", None)
    level = getattr(likelihood, "variance" if library == "gpflow" else "noise", None)
    data = getattr(model, "data", None) if library == "gpflow" else getattr(model, "train_inputs", None)
    inputs = None if not data else as_array(data[0])
    return from_library(kernel), None if level is None else as_number("the noise", level), inputs


def as_array(value: Any) -> FloatArray:
    """Return a tensor, a parameter or an array as an array."""
    if hasattr(value, "detach"):  # of PyTorch
        value = value.detach().cpu()
    return np.asarray(value.numpy() if hasattr(value, "numpy") else value, dtype=np.float64)


def as_number(name: str, value: Any) -> float:
    """Return the one number that a tensor, a parameter or an array holds."""
    numbers = np.unique(as_array(value))
    if len(numbers) != 1:
        raise InputError(f"{name} must be one number, got {len(numbers)} different ones")
    return float(numbers[0])


def _scales(value: Any) -> float | tuple[float, ...]:
    scales = as_array(value).ravel().tolist()
    return scales[0] if len(scales) == 1 else tuple(scales)


def _refuse_unknown(kernel: Any, package: str) -> InputError:
    return InputError(
        f"the kernel {type(kernel).__name__} of {package} has no counterpart here: write it as a Kernel of your own"
    )


def _from_gpflow(kernel: Any) -> Kernel:
    name = type(kernel).__name__
    if name in ("Sum", "Product"):
        return reduce(add if name == "Sum" else mul, map(_from_gpflow, kernel.kernels))
    if name == "White":
        raise InputError(f"a White kernel {_NOISE}")
    if not isinstance(dims := getattr(kernel, "active_dims", None), slice | None) or dims not in (None, slice(None)):
        raise InputError(f"the kernel {name} acts on some columns only (active_dims), which is not supported")
    variance = _variance(kernel, "variance")
    named: dict[str, Callable[[Any], Kernel]] = {
        "SquaredExponential": RBF, "Matern12": OU, "Matern32": Matern32, "Matern52": Matern52,
        "RationalQuadratic": lambda scales: RationalQuadratic(scales, alpha=as_number("alpha", kernel.alpha)),
        "Exponential": lambda scales: OU(_doubled(scales)),  # exp(-r/2)
    }  # fmt: skip
    if name in named:
        return named[name](_scales(kernel.lengthscales)).scaled(variance)
    if name == "Linear":
        return Linear(variance)
    if name == "Polynomial":  # (variance x·x' + offset)^degree
        degree = int(as_number("the degree", kernel.degree))
        return Polynomial(variance**degree, as_number("the offset", kernel.offset) / variance, degree)
    raise _refuse_unknown(kernel, "GPflow")


def _from_gpytorch(kernel: Any) -> Kernel:
    name = type(kernel).__name__
    if name in ("AdditiveKernel", "ProductKernel"):
        return reduce(add if name == "AdditiveKernel" else mul, map(_from_gpytorch, kernel.kernels))
    if getattr(kernel, "active_dims", None) is not None:
        raise InputError(f"the kernel {name} acts on some columns only (active_dims), which is not supported")
    if name == "ScaleKernel":
        return _from_gpytorch(kernel.base_kernel).scaled(_variance(kernel, "outputscale"))
    if name == "InducingPointKernel":
        return _from_gpytorch(kernel.base_kernel)
    if name == "RBFKernel":
        return RBF(_scales(kernel.lengthscale))
    if name == "MaternKernel" and kernel.nu in _MATERN:
        return _MATERN[kernel.nu](_scales(kernel.lengthscale))
    if name == "RQKernel":
        return RationalQuadratic(_scales(kernel.lengthscale), alpha=as_number("alpha", kernel.alpha))
    if name == "LinearKernel":
        return Linear(_variance(kernel, "variance"))
    if name == "PolynomialKernel":
        return Polynomial(1.0, as_number("the offset", kernel.offset), int(kernel.power))
    raise _refuse_unknown(kernel, "GPyTorch")


def _variance(kernel: Any, name: str) -> float:
    return as_number(f"the {name} of {type(kernel).__name__}", getattr(kernel, name, 1.0))


def _doubled(scales: float | tuple[float, ...]) -> float | tuple[float, ...]:
    return 2 * scales if isinstance(scales, float) else tuple(2 * each for each in scales)
