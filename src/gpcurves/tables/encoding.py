"""The design columns that one column of a table becomes: a number stays one, categories and dates become several."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pandas as pd

from gpcurves.numerics.validation import FloatArray
from gpcurves.tables.cells import Reading, Values

OTHER = "other"
_MOST_LEVELS = 100  # categories of a column that are told apart
_SEASON, _WEEKS, _TIMES = 300, 14, 3  # days that show a season, or weekdays; different times of day that show hours
_YEAR = 365.2425


class ColumnEncoding(Protocol):
    """What one column becomes: design columns, of which those with the same number in ``blocks`` share a lengthscale."""

    @property
    def source(self) -> str:
        """The column of the table."""

    @property
    def names(self) -> tuple[str, ...]:
        """The design columns, such as ``colour=red``."""

    @property
    def blocks(self) -> tuple[int, ...]:
        """One number per design column, counted from 0."""

    def encode(self, values: Values) -> FloatArray:
        """Return the design columns of values of which none is missing."""

    def decode(self, X: FloatArray, reading: Reading) -> list[float] | list[str]:
        """Return cells as a person would write them, from their design columns."""


def choose_encoding(source: str, values: Values, reading: Reading) -> ColumnEncoding:
    """Return what a column without missing values becomes."""
    if values.dtype == object:
        return Categories.of(source, values)
    if reading.origin is not None:
        return Dates.of(source, values, reading.origin)
    return Number(source)


@dataclass(frozen=True)
class Number:
    """A column of numbers, which stays as it is."""

    source: str

    @property
    def names(self) -> tuple[str, ...]:
        return (self.source,)

    @property
    def blocks(self) -> tuple[int, ...]:
        return (0,)

    def encode(self, values: Values) -> FloatArray:
        return np.asarray(values[:, None], dtype=np.float64)

    def decode(self, X: FloatArray, reading: Reading) -> list[float] | list[str]:
        if not reading.levels:
            return [float(value) for value in X[:, 0]]
        places = X[:, 0].round().astype(int).clip(0, len(reading.levels) - 1)
        return [reading.levels[place] for place in places]


@dataclass(frozen=True)
class Categories:
    """One indicator for each category and one for all others, all with one lengthscale.

    So any two categories are equally far from each other, and one that no row has is as far from all.
    """

    source: str
    levels: tuple[str, ...]
    seen: frozenset[str]

    @classmethod
    def of(cls, source: str, texts: Values) -> Categories:
        """Tell the most frequent categories apart."""
        counts = pd.Series(texts).value_counts()
        common = sorted(str(level) for level in counts.index[:_MOST_LEVELS] if level != OTHER)
        return cls(source, (*common, OTHER), frozenset(texts))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"{self.source}={level}" for level in self.levels)

    @property
    def blocks(self) -> tuple[int, ...]:
        return (0,) * len(self.levels)

    def encode(self, values: Values) -> FloatArray:
        positions = {level: position for position, level in enumerate(self.levels)}
        return _indicate(np.array([positions.get(text, positions[OTHER]) for text in values]), len(positions))

    def decode(self, X: FloatArray, reading: Reading) -> list[float] | list[str]:
        single = X.shape[1] == 1  # the indicator of the first of two
        places = np.where(X[:, 0] > 0.5, 0, 1) if single else np.argmax(X, axis=1)
        return [self.levels[place] for place in places]

    def describe(self) -> str:
        """Say how many categories there are, and how many of them are merged."""
        merged = self.seen - set(self.levels)
        rest = f", {len(merged):,} rare ones of them together as 'other'" if merged else ""
        return f"{self.source!r} ({len(self.seen):,} categories{rest})"


_Part = tuple[tuple[str, ...], Callable[[pd.DatetimeIndex], FloatArray]]


def _indicate(codes: npt.NDArray[np.int_], count: int) -> FloatArray:
    return np.equal.outer(codes, np.arange(count)).astype(np.float64)


def _circle(turns: FloatArray) -> FloatArray:
    return np.column_stack((np.sin(2 * np.pi * turns), np.cos(2 * np.pi * turns)))


def _hours(stamps: pd.DatetimeIndex) -> FloatArray:
    return np.asarray((stamps - stamps.normalize()) / pd.Timedelta(days=1), dtype=np.float64)


_PARTS: dict[str, _Part] = {
    "season": (("sin", "cos"), lambda stamps: _circle(np.asarray(stamps.day_of_year, dtype=np.float64) / _YEAR)),
    "weekday": (
        ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"),
        lambda stamps: _indicate(np.asarray(stamps.day_of_week), 7),
    ),
    "hour": (("sin", "cos"), lambda stamps: _circle(_hours(stamps))),
}


@dataclass(frozen=True)
class Dates:
    """Days since the first date, and season, weekday and hour where the dates tell them apart; each has a lengthscale."""

    source: str
    origin: pd.Timestamp
    parts: tuple[str, ...]

    @classmethod
    def of(cls, source: str, days: FloatArray, origin: pd.Timestamp) -> Dates:
        """Find out which parts the dates tell apart."""
        stamps, span = _as_stamps(days, origin), np.ptp(days)
        tells = {
            "season": span > _SEASON and len(np.unique(stamps.day_of_year)) > 2,  # not of the last days of years
            "weekday": span > _WEEKS and len(np.unique(stamps.day_of_week)) > 2,
            "hour": len(np.unique(_hours(stamps).round(6))) >= _TIMES,
        }
        return cls(source, origin, tuple(part for part, told in tells.items() if told))

    @property
    def names(self) -> tuple[str, ...]:
        return (self.source, *(f"{self.source} {part}={name}" for part in self.parts for name in _PARTS[part][0]))

    @property
    def blocks(self) -> tuple[int, ...]:
        return (0, *(number for number, part in enumerate(self.parts, 1) for _ in _PARTS[part][0]))

    def encode(self, values: Values) -> FloatArray:
        stamps = _as_stamps(values, self.origin)
        return np.column_stack((values, *(_PARTS[part][1](stamps) for part in self.parts)))

    def decode(self, X: FloatArray, reading: Reading) -> list[float] | list[str]:
        stamps = _as_stamps(X[:, 0], self.origin)
        form = "%Y-%m-%d" if (stamps == stamps.normalize()).all() else "%Y-%m-%d %H:%M:%S"
        return stamps.strftime(form).tolist()

    def describe(self) -> str:
        """Say what was made of the dates."""
        return f"{self.source!r} ({', '.join(('trend', *self.parts))})"


def _as_stamps(days: FloatArray, origin: pd.Timestamp) -> pd.DatetimeIndex:
    seconds = (np.asarray(days) * 86_400).round().astype("timedelta64[s]")
    return pd.DatetimeIndex(origin.tz_localize(None).as_unit("s") + seconds)
