"""The user's rows as the model needs them: checked, standardised, constant columns left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpcurves.errors import InputError
from gpcurves.validation import FloatArray

FEWEST_ROWS = 10


@dataclass(frozen=True)
class Data:
    """Standardised rows.

    Attributes
    ----------
    X, y
        Inputs and target, each column with mean 0 and variance 1.
    pool
        Unlabelled inputs on the same scale, or None.
    names
        Names of the columns of X.
    scale
        Standard deviation of the target, in its own units.
    notes
        What was done to the rows, in sentences.
    """

    X: FloatArray
    y: FloatArray
    pool: FloatArray | None
    names: tuple[str, ...]
    scale: float
    notes: tuple[str, ...]


def standardised(X: Any, y: Any, pool: Any = None) -> Data:
    """Check arrays or tables of numbers and bring them to zero mean and unit variance."""
    names = column_names(X)
    inputs, target = _matrix("X", X), _target(y)
    if len(inputs) != len(target):
        raise InputError(f"X and y must have as many rows as each other, got {len(inputs)} and {len(target)}")
    if len(target) < FEWEST_ROWS:
        raise InputError(f"a forecast needs at least {FEWEST_ROWS} rows with a target, got {len(target)}")
    if np.ptp(target) == 0:
        raise InputError(f"the target must vary, got {target[0]:g} in every row")
    varies = np.ptp(inputs, axis=0) > 0
    if not varies.any():
        raise InputError("the inputs must vary, got the same value in every row of every column")
    if varies.sum() >= len(target):
        raise InputError(
            f"there must be more rows than columns, got {len(target)} rows and {varies.sum()} columns: leave out columns"
        )
    constant = [name for name, keep in zip(names, varies, strict=True) if not keep]
    notes = (f"left out {', '.join(constant)}: the same value in every row",) if constant else ()
    center, spread = inputs[:, varies].mean(axis=0), inputs[:, varies].std(axis=0)
    unlabelled = None
    if pool is not None:
        unlabelled = (checked_pool(pool, inputs.shape[1])[:, varies] - center) / spread
    scale = float(target.std())
    return Data(
        (inputs[:, varies] - center) / spread,
        (target - target.mean()) / scale,
        unlabelled,
        tuple(name for name, keep in zip(names, varies, strict=True) if keep),
        scale,
        notes,
    )


def column_names(X: Any) -> tuple[str, ...]:
    """Return the names of the columns, x0, x1, … where they have none."""
    if hasattr(X, "columns"):
        return tuple(str(name) for name in X.columns)
    shape = np.shape(X)
    return tuple(f"x{i}" for i in range(shape[1] if len(shape) > 1 else 1))


def checked_pool(pool: Any, dim: int) -> FloatArray:
    """Return unlabelled inputs as a matrix with as many columns as the rows have."""
    unlabelled = _matrix("pool", pool)
    if unlabelled.shape[1] != dim:
        raise InputError(f"the pool must have the {dim} columns of X, got {unlabelled.shape[1]}")
    return unlabelled


def _matrix(name: str, value: Any) -> FloatArray:
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must contain numbers only: turn text into numbers first") from error
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or array.size == 0:
        raise InputError(f"{name} must have shape (rows, columns) and not be empty, got {array.shape}")
    _check_finite(name, array)
    return array


def _target(value: Any) -> FloatArray:
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError("the target must be numbers: forecasts are for regression, not for classes") from error
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise InputError(f"y must be one column, got shape {array.shape}")
    _check_finite("y", array)
    return array


def _check_finite(name: str, array: FloatArray) -> None:
    bad = int((~np.isfinite(array.reshape(len(array), -1)).all(axis=1)).sum())
    if bad:
        raise InputError(f"{name} must be finite, got missing or infinite values in {bad} rows: drop or fill them")
