"""The user's rows as a model needs them: numbers, standardised, with what was done to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from gpcurves.errors import InputError
from gpcurves.numerics.validation import FloatArray, as_numbers
from gpcurves.tables.bends import Bend, find_bend
from gpcurves.tables.classes import check_classes, check_labels, keep_present
from gpcurves.tables.design import TableDesign
from gpcurves.tables.frames import as_frame, is_table

FEWEST_ROWS = 10
FEWEST_GROUPS = 5
_MOST_DECIMALS = 6  # that suggested inputs are rounded to
_LEAST_DEVIATION, _MOST_DEVIATION = 1e-100, 1e100
"""Standard deviations whose squares double precision holds with room to spare."""


def draw_whole(groups: npt.NDArray[Any], most: int, rng: np.random.Generator) -> npt.NDArray[np.intp]:
    """Return the positions of at most so many rows, drawn at random: whole groups, or single rows if there is no room for enough of these."""
    number = pd.factorize(groups, use_na_sentinel=False)[0]
    sizes = np.bincount(number)
    order = rng.permutation(len(sizes))
    kept = order[np.cumsum(sizes[order]) <= most]
    if len(kept) < FEWEST_GROUPS:
        return np.sort(rng.permutation(len(groups))[:most])
    return np.flatnonzero(np.isin(number, kept))


@dataclass(frozen=True, eq=False)
class Prepared:
    """Inputs and targets as numbers in their own units, and what was done to get them.

    ``X`` and ``pool`` have one column per design column, which ``names`` names (``colour=red`` for a category) and
    ``sources`` traces to the user's column. ``steps`` are sentences, ``dropped`` says why a column of a table is not
    used, and ``usable_rows`` how many rows could have been used (about, if not all were looked at).
    """

    X: FloatArray
    y: FloatArray
    pool: FloatArray | None
    sources: tuple[str, ...]
    target: str
    usable_rows: int
    steps: tuple[str, ...]
    names: tuple[str, ...] = ()
    blocks: tuple[int, ...] = ()  # columns with the same number share a lengthscale; each has its own if empty
    dropped: Mapping[str, str] = field(default_factory=dict)
    design: TableDesign | None = None  # how other tables are brought into this form; None for arrays
    groups: npt.NDArray[np.int64] | None = None  # rows with the same number belong together
    usable_groups: int = 0  # how many groups could have been used (about, if not all rows were looked at)
    group_column: str = ""
    errors: FloatArray | None = None  # the standard error of each target
    imputed: float = 0.0  # the share of rows with an input that was missing and is filled in
    kept: tuple[bool, ...] = ()  # of an array, which columns are used
    pool_rows: npt.NDArray[np.intp] | None = None  # the positions of the rows of ``pool`` in the user's own pool,
    pool_table: pd.DataFrame | None = None  # which is this table
    classes: tuple[str, ...] = ()  # names of the classes that the target counts from 0; none for numbers


@dataclass(frozen=True)
class Columns:
    """The columns of X: the user's column that each comes from (a category has several), and how it is standardised.

    Columns with the same number in ``blocks`` share a lengthscale and a deviation. ``bends`` compress the tails of skewed ones.
    """

    sources: tuple[str, ...]
    blocks: tuple[int, ...]
    bends: tuple[Bend | None, ...]
    centres: FloatArray
    deviations: FloatArray

    @classmethod
    def of(cls, X: FloatArray, sources: tuple[str, ...], blocks: tuple[int, ...]) -> Columns:
        """Measure the columns of X."""
        number = np.array(blocks)
        bends = tuple(
            find_bend(column) if (number == block).sum() == 1 else None
            for column, block in zip(X.T, blocks, strict=True)
        )
        with np.errstate(over="ignore", invalid="ignore"):
            X = _bend(X, bends)
            variances = X.var(axis=0)
            deviations = np.sqrt(np.bincount(number, weights=variances)[number])
            return cls(sources, blocks, bends, X.mean(axis=0), deviations)

    def standardise(self, X: FloatArray) -> FloatArray:
        """Return other rows on the same scale."""
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray((_bend(X, self.bends) - self.centres) / self.deviations)

    def in_units(self, X: FloatArray) -> FloatArray:
        """Return standardised rows in the units of the user's columns: the inverse of `standardise`."""
        bent = X * self.deviations + self.centres
        return np.column_stack(
            [column if bend is None else bend.inverse(column) for column, bend in zip(bent.T, self.bends, strict=True)]
        )

    @property
    def groups(self) -> dict[str, list[int]]:
        """The positions of the columns that each of the user's columns became."""
        positions: dict[str, list[int]] = {}
        for position, source in enumerate(self.sources):
            positions.setdefault(source, []).append(position)
        return positions


def _bend(X: FloatArray, bends: Sequence[Bend | None]) -> FloatArray:
    if not any(bends):
        return X
    return np.column_stack([column if bend is None else bend(column) for column, bend in zip(X.T, bends, strict=True)])


@dataclass(frozen=True)
class Rows:
    """Standardised rows: each column of X (all columns of a block together), and y, has mean 0 and variance 1.

    The pool of unlabelled inputs, if any, is on the same scale. ``mean`` and ``scale`` are those of the target in its own
    units. Of ``usable`` rows, X may be a part. ``steps`` are sentences about what was done, and ``dropped`` says why a column is
    not used. ``pool_rows`` are the positions of the rows of ``pool`` in the user's own one, ``pool_table``.
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
    design: TableDesign | None = None  # how other tables are brought into this form; None for arrays
    dropped: Mapping[str, str] = field(default_factory=dict)
    groups: npt.NDArray[np.int64] | None = None  # rows with the same number belong together
    group_column: str = ""
    errors: FloatArray | None = None  # the standard error of each target, in units of its deviation
    imputed: float = 0.0  # the share of rows with an input that was missing and is filled in
    kept: tuple[bool, ...] = ()  # of an array, which columns are used
    pool_rows: npt.NDArray[np.intp] | None = None
    pool_table: pd.DataFrame | None = None
    classes: tuple[str, ...] = ()  # names of the classes of the target; none for numbers

    def take(self, pick: npt.NDArray[np.intp]) -> Rows:
        """Return a part of the rows."""
        groups = None if self.groups is None else self.groups[pick]
        errors = None if self.errors is None else self.errors[pick]
        return replace(self, X=self.X[pick], y=self.y[pick], groups=groups, errors=errors)

    @property
    def labels(self) -> FloatArray:
        """A column for each class: 1 in its rows, and 0 in others."""
        return np.asarray(np.eye(len(self.classes))[np.rint(self.level * self.scale).astype(int)])

    @property
    def rate(self) -> float:
        """How many rows there are for each unit that is counted: a group, or a row."""
        return len(self.y) / self.units

    @property
    def units(self) -> int:
        """How many of these there are in ``y``."""
        return len(self.y) if self.groups is None else len(np.unique(self.groups))

    @property
    def level(self) -> FloatArray:
        """The targets in units of their standard deviation, not centred."""
        return self.y + self.mean / self.scale

    def in_units(self, X: FloatArray) -> pd.DataFrame:
        """Return standardised inputs as a table with the user's columns, numbers with as many decimals as the rows have."""
        known, values = self.columns.in_units(self.X), self.columns.in_units(X)
        for position in range(values.shape[1]):
            values[:, position] = _round_alike(values[:, position], known[:, position])
        names = list(self.columns.sources)
        table = self.design.decode(values) if self.design is not None else pd.DataFrame(values, columns=names)
        return table.astype({name: np.int64 for name in table.columns if _is_whole(table[name])})


def standardise(given: Prepared) -> Rows:
    """Bring rows to zero mean and unit variance."""
    X, y, pool = given.X, given.y, given.pool
    columns = Columns.of(X, given.sources, given.blocks or tuple(range(X.shape[1])))
    with np.errstate(over="ignore", invalid="ignore"):
        mean, scale = float(y.mean()), float(y.std())
    for name, deviation in (("the target", scale), *zip(map(repr, given.sources), columns.deviations, strict=True)):
        if not _LEAST_DEVIATION < deviation < _MOST_DEVIATION:
            size = "little" if deviation <= _LEAST_DEVIATION else "much"
            raise InputError(f"{name} varies too {size} for double precision: give it in other units, or leave it out")
    pool = None if pool is None else check_distance(columns.standardise(pool), given.sources)
    standard = columns.standardise(X), (y - mean) / scale
    errors = None if given.errors is None else given.errors / scale
    usable = given.usable_rows if given.groups is None else given.usable_groups
    return Rows(
        *standard,
        pool=pool,
        columns=columns,
        target=given.target,
        mean=mean,
        scale=scale,
        usable=usable,
        steps=given.steps,
        design=given.design,
        dropped=given.dropped,
        groups=given.groups,
        group_column=given.group_column,
        errors=errors,
        imputed=given.imputed,
        kept=given.kept,
        pool_rows=given.pool_rows,
        pool_table=given.pool_table,
        classes=given.classes,
    )


def _is_whole(values: pd.Series[Any]) -> bool:
    numbers = values.to_numpy()
    return bool(numbers.dtype.kind == "f" and (np.abs(numbers) < 2**53).all() and (numbers == numbers.round()).all())


def _round_alike(values: FloatArray, known: FloatArray) -> FloatArray:
    """Return values with as many decimals as those that are known; as they are if these have more than six."""
    rounding = 1e-9 * float(np.ptp(known)) + 1e-15 * float(np.abs(known).max())
    for decimals in range(_MOST_DECIMALS + 1):
        if np.abs(known - known.round(decimals)).max() <= rounding:
            return values.round(decimals) + 0.0
    return values


def check_distance(pool: FloatArray, sources: Sequence[str]) -> FloatArray:
    """Refuse a standardised pool whose distances from the rows leave the range of double precision when they are squared."""
    furthest = np.abs(pool).max(axis=0)
    if furthest.max() > _MOST_DEVIATION:
        name = sources[int(np.argmax(furthest))]
        raise InputError(
            f"the pool is {furthest.max():.0e} standard deviations of {name!r} away from your rows: check for "
            "data-entry mistakes and different units"
        )
    return pool


def standardise_arrays(
    X: Any,
    y: Any,
    pool: Any,
    rng: np.random.Generator,
    most_rows: int,
    names: Sequence[str] | None = None,
    *,
    classes: bool = False,
) -> Rows:
    """Check arrays of numbers and bring them to zero mean and unit variance; nothing is dropped but constant columns."""
    inputs = check_matrix("X", X)
    called: tuple[str, ...] = ()
    if classes:
        target, called = check_labels(y)
    else:
        target = _check_target(y)
    if len(inputs) != len(target):
        raise InputError(f"X and y must have the same number of rows, got {len(inputs)} and {len(target)}")
    if len(target) < FEWEST_ROWS:
        raise InputError(f"a forecast needs at least {FEWEST_ROWS} labelled rows, got {len(target)}")
    usable = len(target)
    inputs, target, steps = draw_rows(inputs, target, most_rows, rng)
    if np.ptp(target) == 0:
        raise InputError(
            f"the target must vary, got {called[int(target[0])] if called else f'{target[0]:g}'} in every row"
        )
    if classes:
        target, called = keep_present(target, called)
        check_classes("y", target, called)
    varies = np.ptp(inputs, axis=0) > 0
    if not varies.any():
        raise InputError("the inputs must vary, got the same value in every row of every column")
    if varies.sum() > len(target):
        raise InputError(
            f"there must be as many rows as columns, got {len(target)} rows and {varies.sum()} columns: leave out columns"
        )
    known = np.array([f"x{i}" for i in range(len(varies))] if names is None else names, dtype=object)
    if not varies.all():
        steps.append(f"Left out {', '.join(known[~varies])}: the same in every row.")
    unlabelled = None if pool is None else check_pool(pool, len(varies))
    dropped = {str(name): "the same in every row" for name in known[~varies]}
    prepared = Prepared(inputs[:, varies], target, None, tuple(known[varies]), "y", usable, tuple(steps))
    prepared = replace(prepared, dropped=dropped, kept=tuple(varies.tolist()), classes=called)
    if unlabelled is not None:
        places, table = np.arange(len(unlabelled)), pd.DataFrame(unlabelled, columns=list(known))
        prepared = replace(prepared, pool=unlabelled[:, varies], pool_rows=places, pool_table=table)
    return standardise(prepared)


def draw_rows(
    X: FloatArray, y: FloatArray, most_rows: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray, list[str]]:
    """Return at most so many rows, drawn at random, in order, and a sentence about it if there were more."""
    if len(y) <= most_rows:
        return X, y, []
    pick = np.sort(rng.permutation(len(y))[:most_rows])
    return X[pick], y[pick], [f"Drew {most_rows:,} rows at random from {len(y):,}."]


def check_pool(pool: Any, dim: int) -> FloatArray:
    """Return unlabelled inputs as a matrix with as many columns as the rows have."""
    unlabelled = check_matrix("pool", pool)
    if unlabelled.shape[1] != dim:
        raise InputError(f"the pool must have the {dim} columns of X, got {unlabelled.shape[1]}")
    return unlabelled


def check_matrix(name: str, value: Any) -> FloatArray:
    """Return an array of finite numbers with one row per example."""
    array = as_numbers(value, f"{name} must contain real numbers only: give a table for texts and dates")
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or array.size == 0:
        raise InputError(f"{name} must have shape (rows, columns) and not be empty, got {array.shape}")
    return _check_finite(name, array)


def _check_target(value: Any) -> FloatArray:
    array = as_numbers(value, "the target must be real numbers; if these are classes, ask for task='classes'")
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise InputError(f"y must be one column, got shape {array.shape}")
    return _check_finite("y", array)


def _check_finite(name: str, array: FloatArray) -> FloatArray:
    if array.size == 0:
        raise InputError(f"{name} must not be empty")
    bad = int((~np.isfinite(array)).any(axis=tuple(range(1, array.ndim))).sum())
    if bad:
        raise InputError(f"{name} must be finite, got missing or infinite values in {bad} rows: drop or fill them")
    return array


def find_name(y: Any) -> str:
    """Return the name that a target carries, "y" if it has none."""
    named = list(as_frame(y).columns)[:1] if is_table(y) else [getattr(y, "name", None)]
    return "y" if named in ([], [None], [""]) else str(named[0])
