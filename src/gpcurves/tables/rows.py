"""The user's rows as a model needs them: numbers, standardised, with what was done to them."""

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
_LEAST_SPREAD, _MOST_SPREAD = 1e-100, 1e100
"""Standard deviations whose squares double precision holds with room to spare."""


@dataclass(frozen=True)
class Columns:
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
        """The positions of the columns that each of the user's columns became."""
        positions: dict[str, list[int]] = {}
        for position, source in enumerate(self.sources):
            positions.setdefault(source, []).append(position)
        return positions


@dataclass(frozen=True)
class Rows:
    """Standardised rows.

    Attributes
    ----------
    X, y
        Inputs and target, each column with mean 0 and variance 1.
    pool
        Unlabelled inputs on the same scale, or None.
    columns
        What the columns of X are.
    target
        What the target is called.
    mean, scale
        Mean and standard deviation of the target, in its own units.
    usable
        How many usable rows there are, of which X may be a part.
    steps
        What was done to the rows, in sentences.
    """

    X: FloatArray
    y: FloatArray
    pool: FloatArray | None
    columns: Columns
    target: str
    mean: float
    scale: float
    usable: int
    steps: tuple[str, ...]


def standardise_table(table: Prepared) -> Rows:
    """Bring a table that was prepared to zero mean and unit variance."""
    return _standardise(table.X, table.y, table.pool, table.sources, table.target, table.usable_rows, table.steps)


def standardise_arrays(
    X: Any,
    y: Any,
    pool: Any,
    rng: np.random.Generator,
    most_rows: int,
    names: Sequence[str] | None = None,
    target_name: str = "y",
) -> Rows:
    """Check arrays of numbers and bring them to zero mean and unit variance; nothing is dropped but constant columns."""
    inputs, target = check_matrix("X", X), _check_target(y)
    if len(inputs) != len(target):
        raise InputError(f"X and y must have as many rows as each other, got {len(inputs)} and {len(target)}")
    if len(target) < FEWEST_ROWS:
        raise InputError(f"a forecast needs at least {FEWEST_ROWS} rows with a target, got {len(target)}")
    usable = len(target)
    inputs, target, steps = draw_rows(inputs, target, most_rows, rng)
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
    unlabelled = None if pool is None else check_pool(pool, inputs.shape[1])[:, varies]
    sources = tuple(name for name, used in zip(names, varies, strict=True) if used)
    return _standardise(inputs[:, varies], target, unlabelled, sources, target_name, usable, steps)


def draw_rows(
    X: FloatArray, y: FloatArray, most_rows: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray, list[str]]:
    """Return at most so many rows, drawn at random, in order, and a sentence about it if there were more."""
    if len(y) <= most_rows:
        return X, y, []
    pick = np.sort(rng.permutation(len(y))[:most_rows])
    return X[pick], y[pick], [f"Drew {most_rows:,} rows at random from {len(y):,}."]


def _standardise(
    X: FloatArray,
    y: FloatArray,
    pool: FloatArray | None,
    sources: tuple[str, ...],
    target: str,
    usable: int,
    steps: Sequence[str],
) -> Rows:
    with np.errstate(over="ignore", invalid="ignore"):
        centres, spreads, mean, scale = X.mean(axis=0), X.std(axis=0), float(y.mean()), float(y.std())
    for name, spread in (("the target", scale), *zip(map(repr, sources), spreads, strict=True)):
        if not _LEAST_SPREAD < spread < _MOST_SPREAD:
            size = "little" if spread <= _LEAST_SPREAD else "much"
            raise InputError(f"{name} varies too {size} for double precision: give it in other units, or leave it out")
    return Rows(
        (X - centres) / spreads,
        (y - mean) / scale,
        None if pool is None else (pool - centres) / spreads,
        Columns(sources, centres, spreads),
        target,
        mean,
        scale,
        usable,
        tuple(steps),
    )


def check_pool(pool: Any, dim: int) -> FloatArray:
    """Return unlabelled inputs as a matrix with as many columns as the rows have."""
    unlabelled = check_matrix("pool", pool)
    if unlabelled.shape[1] != dim:
        raise InputError(f"the pool must have the {dim} columns of X, got {unlabelled.shape[1]}")
    return unlabelled


def check_matrix(name: str, value: Any) -> FloatArray:
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


def _check_target(value: Any) -> FloatArray:
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


def find_name(y: Any) -> str:
    """Return the name that a target carries, "y" if it has none."""
    named = y.columns[0] if hasattr(y, "columns") else getattr(y, "name", None)
    return str(named or "y")


def _check_finite(name: str, array: FloatArray) -> None:
    bad = int((~np.isfinite(array.reshape(len(array), -1)).all(axis=1)).sum())
    if bad:
        raise InputError(f"{name} must be finite, got missing or infinite values in {bad} rows: drop or fill them")
