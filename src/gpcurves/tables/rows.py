"""The user's rows as the model needs them: numbers, standardised, with what was done to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gpcurves.errors import InputError
from gpcurves.numerics.validation import FloatArray

if TYPE_CHECKING:
    from gpcurves.tables.preparing import Prepared

FEWEST_ROWS = 10
MOST_ROWS = 1_000
"""Of more rows than this, so many are drawn at random."""
_LEAST_SPREAD, _MOST_SPREAD = 1e-100, 1e100
"""Standard deviations whose squares double precision holds with room to spare."""


@dataclass(frozen=True)
class Inputs:
    """What the columns of X are.

    Attributes
    ----------
    sources
        For each column, the name of the user's column that it comes from: a category has several.
    centres, spreads
        The mean and the standard deviation of each column in its own units.
    """

    sources: tuple[str, ...]
    centres: FloatArray
    spreads: FloatArray

    @property
    def groups(self) -> dict[str, list[int]]:
        """The places of the columns that each of the user's columns became."""
        places: dict[str, list[int]] = {}
        for place, source in enumerate(self.sources):
            places.setdefault(source, []).append(place)
        return places


@dataclass(frozen=True)
class Data:
    """Standardised rows.

    Attributes
    ----------
    X, y
        Inputs and target, each column with mean 0 and variance 1.
    pool
        Unlabelled inputs on the same scale, or None.
    inputs
        What the columns of X are.
    target
        What the target is called.
    mean, scale
        Mean and standard deviation of the target, in its own units.
    rows
        How many usable rows there are, of which X may be a part.
    steps
        What was done to the rows, in sentences.
    """

    X: FloatArray
    y: FloatArray
    pool: FloatArray | None
    inputs: Inputs
    target: str
    mean: float
    scale: float
    rows: int
    steps: tuple[str, ...]


def of_table(found: Prepared) -> Data:
    """Standardise a table that was read."""
    return _standardised(found.X, found.y, found.pool, found.sources, found.target, found.usable_rows, found.steps)


def of_arrays(
    X: Any, y: Any, pool: Any, rng: np.random.Generator, names: Sequence[str] | None = None, called: str = "y"
) -> Data:
    """Check arrays of numbers and bring them to zero mean and unit variance; nothing is dropped but constant columns."""
    inputs, target = matrix("X", X), _target(y)
    if len(inputs) != len(target):
        raise InputError(f"X and y must have as many rows as each other, got {len(inputs)} and {len(target)}")
    if len(target) < FEWEST_ROWS:
        raise InputError(f"a forecast needs at least {FEWEST_ROWS} rows with a target, got {len(target)}")
    steps: list[str] = []
    rows = len(target)
    if rows > MOST_ROWS:
        pick = np.sort(rng.permutation(rows)[:MOST_ROWS])
        inputs, target = inputs[pick], target[pick]
        steps.append(f"Drew {MOST_ROWS:,} rows at random from {rows:,}.")
    if np.ptp(target) == 0:
        raise InputError(f"the target must vary, got {target[0]:g} in every row")
    varies = np.ptp(inputs, axis=0) > 0
    if not varies.any():
        raise InputError("the inputs must vary, got the same value in every row of every column")
    if varies.sum() > len(target):
        raise InputError(
            f"there must be as many rows as columns, got {len(target)} rows and {varies.sum()} columns: leave out columns"
        )
    names = [f"x{i}" for i in range(inputs.shape[1])] if names is None else names
    if not varies.all():
        left_out = [name for name, used in zip(names, varies, strict=True) if not used]
        steps.append(f"Left out {', '.join(left_out)}: the same in every row.")
    unlabelled = None if pool is None else checked_pool(pool, inputs.shape[1])[:, varies]
    sources = tuple(name for name, used in zip(names, varies, strict=True) if used)
    return _standardised(inputs[:, varies], target, unlabelled, sources, called, rows, steps)


def _standardised(
    X: FloatArray,
    y: FloatArray,
    pool: FloatArray | None,
    sources: tuple[str, ...],
    target: str,
    rows: int,
    steps: Sequence[str],
) -> Data:
    with np.errstate(over="ignore", invalid="ignore"):
        centres, spreads, mean, scale = X.mean(axis=0), X.std(axis=0), float(y.mean()), float(y.std())
    for name, spread in (("the target", scale), *zip(map(repr, sources), spreads, strict=True)):
        if not _LEAST_SPREAD < spread < _MOST_SPREAD:
            size = "little" if spread <= _LEAST_SPREAD else "much"
            raise InputError(f"{name} varies too {size} for double precision: give it in other units, or leave it out")
    return Data(
        (X - centres) / spreads,
        (y - mean) / scale,
        None if pool is None else (pool - centres) / spreads,
        Inputs(sources, centres, spreads),
        target,
        mean,
        scale,
        rows,
        tuple(steps),
    )


def checked_pool(pool: Any, dim: int) -> FloatArray:
    """Return unlabelled inputs as a matrix with as many columns as the rows have."""
    unlabelled = matrix("pool", pool)
    if unlabelled.shape[1] != dim:
        raise InputError(f"the pool must have the {dim} columns of X, got {unlabelled.shape[1]}")
    return unlabelled


def matrix(name: str, value: Any) -> FloatArray:
    """Return an array of finite numbers with one row per example."""
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must contain numbers only: give a table (pandas) for texts and dates") from error
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


def target_name(y: Any) -> str:
    """Return what a target calls itself, "y" if it has no name."""
    named = y.columns[0] if hasattr(y, "columns") else getattr(y, "name", None)
    return str(named or "y")


def _check_finite(name: str, array: FloatArray) -> None:
    bad = int((~np.isfinite(array.reshape(len(array), -1)).all(axis=1)).sum())
    if bad:
        raise InputError(f"{name} must be finite, got missing or infinite values in {bad} rows: drop or fill them")
