"""Quantities that are functions of the mean squared error, so that every method has them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gpcurves.numerics.validation import FloatArray
from gpcurves.problem import Problem
from gpcurves.quantities import MSE, QUANTITIES, Quantity

QUANTILES = {"q05": 0.05, "q25": 0.25, "q50": 0.5, "q75": 0.75, "q95": 0.95}
"""What simulations say about the errors of data sets, by name."""
_BAND = ("low", "high")  # of a curve, among its diagnostics


def measure(method: Any, state: Any, problem: Problem, sizes: FloatArray, quantity: str) -> Any:
    """Return what a method finds for a quantity: by itself, or from its mean squared error."""
    what = QUANTITIES[quantity]
    if what.of_error is None:
        return method.measure(state, sizes, quantity)
    return _convert(method.measure(state, sizes, MSE.name), problem, what)


def _convert(result: Any, problem: Problem, what: Quantity) -> Any:
    """Return a result in mean squared errors in another quantity: errors, their quantiles and bands, and by first order their errors.

    Lower and upper bounds stay bounds, because the quantity rises with the error.
    """
    convert, slope = what.of_error, what.slope
    assert convert is not None
    assert slope is not None
    rate = slope(problem, result.error)
    scaled = {
        name: None if (value := getattr(result, name)) is None else rate * value
        for name in ("stderr", "spectrum_error")
    }
    details = dict(result.details)
    for name, values in result.details.items():
        if name.startswith("stderr "):  # of a group of vertices
            details[name] = slope(problem, result.details[name.replace("stderr", "error", 1)]) * values
        elif name.startswith("error ") or name in QUANTILES:
            details[name] = convert(problem, values)
    band = {
        name: convert(problem, np.asarray(result.diagnostics[name])) for name in _BAND if name in result.diagnostics
    }
    return replace(
        result,
        error=convert(problem, result.error),
        details=details,
        diagnostics={**result.diagnostics, **band},
        **scaled,
    )
