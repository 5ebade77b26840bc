"""From the values of a column to design columns: numbers as they are, categories as 0 and 1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from gpcurves.numerics.validation import FloatArray
from gpcurves.tables.cells import Values
from gpcurves.tables.words import count, enumerate_names

OTHER, MISSING_LEVEL = "other", "missing"
_MOST_LEVELS = 12  # categories of a column that are told apart
_RAREST = 0.02  # share of rows, and
_FEWEST_OF_A_LEVEL = 3  # number of them, below which a category is rare
_FEW_VALUES = 20  # different values that a discrete column may have, each three times on average

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class ColumnEncoding:
    """The design columns that one column of the table becomes, such as ``colour=red``.

    ``levels`` are the categories that are told apart (none for numbers), ``seen`` all that occur, rare ones included.
    """

    source: str
    names: tuple[str, ...]
    levels: tuple[str, ...] = ()
    seen: frozenset[str] = frozenset()

    def encode(self, values: Values) -> FloatArray:
        """Return the design columns, NaN in rows whose category cannot be expressed."""
        if not self.levels:
            return np.asarray(values[:, None], dtype=np.float64)
        positions = {level: position for position, level in enumerate(self.levels)}
        codes = np.array([positions.get(text, positions.get(OTHER, -1)) for text in values], dtype=np.intp)
        indicators: FloatArray = np.equal.outer(codes, np.arange(len(self.names))).astype(np.float64)
        indicators[codes < 0] = np.nan
        return indicators

    def describe(self) -> str:
        """Say how many categories there are, and how many of them are merged."""
        merged = self.seen - set(self.levels)
        rest = f", {len(merged):,} rare ones of them together as 'other'" if merged else ""
        return f"{self.source!r} ({len(self.seen):,} categories{rest})"


def choose_encoding(source: str, values: Values) -> ColumnEncoding:
    """Return what a column without missing values becomes: k categories become k design columns, two a single one."""
    if values.dtype != object:
        return ColumnEncoding(source, (source,))
    levels = choose_levels(values)
    shown = levels[:1] if len(levels) == 2 else levels
    return ColumnEncoding(source, tuple(f"{source}={level}" for level in shown), levels, frozenset(values))


def choose_levels(texts: Values) -> tuple[str, ...]:
    """Return the categories to tell apart, rare ones as "other"; none if that would be most of the rows."""
    counts = pd.Series(texts).value_counts()
    is_common = counts >= max(_FEWEST_OF_A_LEVEL, _RAREST * len(texts))
    common = [str(level) for level in counts[is_common].index[:_MOST_LEVELS]]
    rare = counts.drop(common)
    if len(rare) < 2:
        return tuple(sorted(str(level) for level in counts.index))
    if 2 * rare.sum() > len(texts):
        return ()
    return (*sorted(set(common) - {OTHER}), OTHER)


def describe_design(encodings: list[ColumnEncoding], rows: int) -> list[str]:
    """Say what texts became, and what is used."""
    categories = [encoding.describe() for encoding in encodings if encoding.levels]
    how = "a 0/1 design column for each category, a single one where there are two"
    said = [f"Turned texts into categories, with {how}: {enumerate_names(categories, quote=False)}."]
    columns = sum(len(encoding.names) for encoding in encodings)
    sources = enumerate_names([encoding.source for encoding in encodings], most=30)
    inputs = f"{count(len(encodings), 'input')}: {sources}"
    used = f"Used {count(rows, 'row')} and {count(columns, 'design column')} from {inputs}."
    return [*(said if categories else []), used]


def has_few_values(values: Values) -> bool:
    """Tell whether values are discrete: few different ones, which occur several times."""
    distinct = len(pd.unique(values))
    return distinct <= _FEW_VALUES and 3 * distinct <= len(values)


def is_missing(values: Values) -> Mask:
    """Tell which values are missing."""
    return np.asarray(pd.isna(values))


def choose_filler(values: Values) -> float | str:
    """Return what stands for a missing value: the lower of the middle values, or a category of its own."""
    if values.dtype == object:
        return MISSING_LEVEL
    return float(np.quantile(values[~is_missing(values)], 0.5, method="lower"))


def fill_missing(values: Values, filler: float | str) -> Values:
    """Return values with missing ones replaced."""
    return np.where(is_missing(values), filler, values)
