"""From the values of a column to design columns: numbers as they are, categories as 0 and 1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from gpcurves.numerics.validation import FloatArray
from gpcurves.tables.cells import Values

OTHER, MISSING_LEVEL = "other", "missing"
_MOST_LEVELS = 12  # categories of a column that are told apart
_RAREST = 0.02  # share of rows, and
_FEWEST_OF_A_LEVEL = 3  # number of them, below which a category is rare
_FEW_VALUES = 20  # different values that a discrete column may have, each three times on average

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Part:
    """The design columns that one column of the table becomes. Numbers have no ``levels``."""

    source: str
    names: tuple[str, ...]
    discrete: bool
    levels: tuple[str, ...] = ()
    seen: frozenset[str] = frozenset()

    def encode(self, values: Values) -> FloatArray:
        """Return the design columns, NaN in rows whose category cannot be expressed."""
        if not self.levels:
            return np.asarray(values[:, None], dtype=np.float64)
        places = {level: place for place, level in enumerate(self.levels)}
        found = np.array([places.get(text, places.get(OTHER, -1)) for text in values], dtype=np.intp)
        indicators: FloatArray = np.equal.outer(found, np.arange(len(self.names))).astype(np.float64)
        indicators[found < 0] = np.nan
        return indicators


def part_of(source: str, values: Values) -> Part:
    """Return what a column without missing values becomes: k categories k design columns, two a single one."""
    if values.dtype != object:
        return Part(source, (source,), has_few_values(values))
    found = levels(values)
    shown = found[:1] if len(found) == 2 else found
    return Part(source, tuple(f"{source}={level}" for level in shown), True, found, frozenset(values))


def levels(texts: Values) -> tuple[str, ...]:
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


def has_few_values(values: Values) -> bool:
    """Tell whether values are discrete: few different ones, which occur several times."""
    distinct = len(pd.unique(values))
    return distinct <= _FEW_VALUES and 3 * distinct <= len(values)


def is_missing(values: Values) -> Mask:
    """Return where values are missing."""
    return np.asarray(pd.isna(values))


def filler(values: Values) -> float | str:
    """Return what stands for a missing value: the lower of the middle values, or a category of its own."""
    if values.dtype == object:
        return MISSING_LEVEL
    return float(np.quantile(values[~is_missing(values)], 0.5, method="lower"))


def filled(values: Values, stand_in: float | str) -> Values:
    """Return values with missing ones replaced."""
    return np.where(is_missing(values), stand_in, values)
