"""From cells to numbers: how the cells of one column are meant."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from gpcurves.errors import InputError
from gpcurves.numerics.validation import FloatArray

_SPREADSHEET_ERRORS = frozenset(["#n/a", "#na", "#div/0!", "#value!", "#ref!", "#num!", "#name?", "#null!"])
MISSING = _SPREADSHEET_ERRORS.union(
    ["", "na", "n/a", "n.a.", "nan", "-nan", "nat", "null", "<na>", "?", "-", "--", "–", "—", "."]
)
"""What stands for no value, whatever its case."""

_NOT_A_NUMBER = frozenset(["none", "missing", "unknown", "n.d.", "nd", "inf", "+inf", "-inf", "infinity", "-infinity"])
"""What also stands for no value among numbers and dates; among texts it may be a category."""

_FLAGS = (("no", "yes"), ("false", "true"), ("n", "y"), ("f", "t"), ("off", "on"))
_ENOUGH = 0.9  # share of cells that must be numbers, or dates, for the others to count as missing, if these are
_FEW_WORDS, _FEW_CELLS = 3, 0.02  # so few different words, or such a share of the cells
_MOST_BITS = 1024  # of an integer that double precision holds; Python does not write out very long ones
_DAY = pd.Timedelta(days=1)

Kind = Literal["number", "flag", "date", "text"]
Values = npt.NDArray[Any]
"""Floats with NaN for missing values, or objects: texts with None for missing values."""


@dataclass(frozen=True)
class Reading:
    """How the cells of one column are read: "as ..." in words, if they are not plain numbers or texts."""

    kind: Kind
    read: Callable[[pd.Series[Any]], Values]
    words: str = ""
    origin: pd.Timestamp | None = None  # the first of the dates, since which days are counted
    levels: tuple[str, ...] = ()  # what the numbers 0, 1, … stand for, if they stand for words
    is_time: bool = False  # whether it says when a row was measured: a date, a time of the day, a time since a start


def check_cells(name: str, cells: pd.Series[Any]) -> None:
    """Refuse cells that no reading makes sense of: complex numbers, lists and the like."""
    plain = isinstance(cells.dtype, np.dtype) and cells.dtype.kind != "O"
    kinds = {cells.dtype.type} if plain else set(map(type, cells.array))
    for kind in kinds:
        if issubclass(kind, complex | np.complexfloating):
            raise InputError(f"the column {name!r} holds complex numbers: give real numbers, or leave it out")
        if issubclass(kind, list | tuple | dict | set | frozenset | np.ndarray | pd.Series):
            raise InputError(
                f"the column {name!r} holds more than one value in a cell: give one, or leave the column out"
            )


def interpret(cells: pd.Series[Any], decimal: str) -> Reading:
    """Find out how the cells of a column are meant."""
    if isinstance(cells.dtype, pd.CategoricalDtype):
        ordered = [_as_word(level) for level in cells.cat.categories] if cells.dtype.ordered else []
        return _order_reading(ordered) if len(ordered) > 2 else Reading("text", as_texts)
    if pd.api.types.is_bool_dtype(cells.dtype):
        return _flags_reading(("false", "true"))
    if pd.api.types.is_timedelta64_dtype(cells.dtype):
        return _DURATIONS
    if pd.api.types.is_numeric_dtype(cells.dtype):
        return Reading("number", partial(_read_numbers, mark=decimal))
    if pd.api.types.is_datetime64_any_dtype(cells.dtype):
        return _dates_reading(cells, "ISO8601")
    words = [word for word in as_texts(cells) if word is not None]
    meant = [word for word in words if word.casefold() not in _NOT_A_NUMBER]
    different = {word.casefold() for word in words}
    flags = [_flags_reading(pair) for pair in _FLAGS if different and different <= set(pair)]
    if flags:
        return flags[0]
    found = _find_numbers(meant, decimal) or _find_dates(cells, meant, decimal) or _find_durations(meant)
    return found or _find_order(different) or Reading("text", as_texts)


def as_texts(cells: pd.Series[Any]) -> Values:
    """Return cells as texts without outer blanks, None if a value is missing."""
    words = [_as_word(cell) for cell in cells.array]
    return np.array([None if word.casefold() in MISSING else word for word in words], dtype=object)


def _as_word(cell: object) -> str:
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    if isinstance(cell, int) and cell.bit_length() > _MOST_BITS:
        return "inf" if cell > 0 else "-inf"
    return "" if cell is None else str(cell).strip()


# Numbers

_CURRENCY = r"(?:US\$|[$€£¥₹]|USD|EUR|GBP|JPY|CHF|CNY|INR|CAD|AUD)"


def _number_pattern(mark: str) -> re.Pattern[str]:
    grouping = ",. _\u00a0\u2009\u202f'’".replace(mark, "")
    pattern = rf"""(?P<open>\()?\s*+(?P<sign>[-+−])?\s*+(?P<before>{_CURRENCY})?\s*+(?P<inner>[-+−])?
        (?P<whole>[1-9][0-9]{{0,2}}(?P<group>[{grouping}])[0-9]{{3}}(?:(?P=group)[0-9]{{3}})*|[0-9]*+)
        (?:{re.escape(mark)}(?P<fraction>[0-9]*+))?(?P<power>e[-+]?[0-9]++)?
        \s*+(?P<after>{_CURRENCY})?(?P<percent>%)?\s*+(?P<close>\))?"""
    # blanks and digits are never given back (*+), so that the time is linear in the length of a text
    return re.compile(pattern, re.VERBOSE | re.IGNORECASE)


_NUMBER = {mark: _number_pattern(mark) for mark in ".,"}


def _spell_digits(word: str, mark: str) -> str:
    """Return a text with 0 to 9 for the digits of another script, such as Arabic; a mixture of scripts stays as it is."""
    if word.isascii():
        return word
    digits = {sign: value for sign in word if (value := unicodedata.decimal(sign, None)) is not None}
    zeros = {ord(sign) - value for sign, value in digits.items()}
    if len(zeros) != 1 or zeros == {ord("0")}:
        return word
    signs = {ord(sign): str(value) for sign, value in digits.items()}
    return word.translate(signs | {ord("٫"): mark, ord("٬"): "'"})


def _match(word: str, mark: str) -> re.Match[str] | None:
    match = _NUMBER[mark].fullmatch(_spell_digits(word.strip(), mark))
    if match is None or not (match["whole"] or match["fraction"]) or (match["sign"] and match["inner"]):
        return None
    return match if bool(match["open"]) == bool(match["close"]) else None


def is_number(word: str, mark: str) -> bool:
    """Tell whether a text is a number, if ``mark`` is the decimal mark."""
    return _match(word, mark) is not None


def parse_number(word: str, mark: str) -> float:
    """Return the number that a text stands for, NaN if none: also ``$1,234.50``, ``12 %``, ``1'000``, ``(5)`` for -5."""
    match = _match(word, mark)
    if match is None:
        return float("nan")
    whole = re.sub("[^0-9]", "", match["whole"]) or "0"
    size = float(f"{whole}.{match['fraction'] or '0'}{match['power'] or ''}")
    negative = match["open"] or (match["sign"] or match["inner"] or "+") != "+"
    return -size if negative else size


def _find_numbers(words: Sequence[str], decimal: str) -> Reading | None:
    """Return how to read numbers, by the decimal mark under which more of the cells are numbers."""
    marks = (decimal, "." if decimal == "," else ",")
    matches = {mark: [match for word in words if (match := _match(word, mark))] for mark in marks}
    mark = max(marks, key=lambda mark: len(matches[mark]))
    strays = _describe_strays(words, [is_number(word, mark) for word in words])
    if strays is None:
        return None
    chosen = matches[mark]
    details = [
        _count_cells("digits of another script in", sum(_spell_digits(word, mark) != word for word in words)),
        _count_cells("thousands separators in", sum(bool(match["group"]) for match in chosen)),
        _count_cells("decimal commas in", sum(match["fraction"] is not None for match in chosen) * (mark == ",")),
        _count_cells("currency signs in", sum(bool(match["before"] or match["after"]) for match in chosen)),
        _count_cells("percent signs in", sum(bool(match["percent"]) for match in chosen), "(12% is read as 12)"),
        strays,
    ]
    said = _join_details("numbers" if any(details) else "", details)
    return Reading("number", partial(_read_numbers, mark=mark), said)


def _count_cells(before: str, count: int, after: str = "") -> str:
    return f"{before} {count:,} {'cell' if count == 1 else 'cells'} {after}".strip() if count else ""


def _describe_strays(words: Sequence[str], known: Iterable[bool]) -> str | None:
    """Say which words could not be read and count as missing; None if they are too many for that."""
    strays = [word for word, good in zip(words, known, strict=True) if not good]
    few = len(set(strays)) <= _FEW_WORDS or len(strays) <= _FEW_CELLS * len(words)
    if not few or len(words) - len(strays) < _ENOUGH * len(words):
        return None
    example = f"taken as missing that could not be read, such as {strays[0]!r}" if strays else ""
    return _count_cells("", len(strays), example)


def _join_details(what: str, details: Sequence[str]) -> str:
    return ", with ".join([what, *(detail for detail in details if detail)])


def _read_numbers(cells: pd.Series[Any], mark: str) -> FloatArray:
    if pd.api.types.is_numeric_dtype(cells.dtype):
        values = cells.to_numpy(dtype=np.float64, na_value=np.nan, copy=True)
    else:
        values = np.array([np.nan if word is None else parse_number(word, mark) for word in as_texts(cells)])
    values[~np.isfinite(values)] = np.nan
    return values


# Times of the day, and durations

_DURATION = re.compile(r"(?:\d{1,6} days?,? )?\d{1,4}:\d\d(?::\d\d(?:\.\d{1,9})?)?")
_MINUTES = re.compile(r"(?:.* )?\d+:\d\d")  # without seconds


def _find_durations(words: Sequence[str]) -> Reading | None:
    """Return how to read times such as 14:30, 14:30:05.2 or 2 days 14:30:05."""
    strays = _describe_strays(words, [_DURATION.fullmatch(word) is not None for word in words])
    return None if strays is None else replace(_DURATIONS, words=_join_details(_DURATIONS.words, [strays]))


def _read_durations(cells: pd.Series[Any]) -> FloatArray:
    if not pd.api.types.is_timedelta64_dtype(cells.dtype):
        words = [word if word is not None and _DURATION.fullmatch(word) else None for word in as_texts(cells)]
        cells = pd.Series([f"{word}:00" if word and _MINUTES.fullmatch(word) else word for word in words], dtype=object)
    return np.asarray(pd.to_timedelta(cells, errors="coerce") / _DAY, dtype=np.float64)


_DURATIONS = Reading("number", _read_durations, "times or durations, in days", is_time=True)


# True or false


def _flags_reading(pair: tuple[str, str]) -> Reading:
    return Reading("flag", partial(_read_flags, pair=pair), f"1 for {pair[1]} and 0 for {pair[0]}", levels=pair)


def _read_flags(cells: pd.Series[Any], pair: tuple[str, str]) -> FloatArray:
    meaning = {pair[0]: 0.0, pair[1]: 1.0, "0": 0.0, "1": 1.0}
    return np.array([meaning.get((word or "").casefold(), np.nan) for word in as_texts(cells)])


# Ordered categories

_SCALES = (
    ("very low", "low", "medium", "high", "very high"),
    ("very low", "low", "moderate", "high", "very high"),
    ("tiny", "small", "medium", "large", "huge"),
    ("xxs", "xs", "s", "m", "l", "xl", "xxl"),
    ("very bad", "bad", "fair", "good", "very good", "excellent"),
    ("very poor", "poor", "fair", "good", "very good", "excellent"),
    ("very poor", "poor", "average", "good", "very good", "excellent"),
    ("never", "rarely", "sometimes", "often", "always"),
    ("none", "mild", "moderate", "severe"),
    ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
    ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"),
    ("first", "second", "third", "fourth", "fifth"),
)


def _find_order(words: Iterable[str]) -> Reading | None:
    """Return how to read words that form a known scale, three or more of them, whatever their case."""
    given = set(words)
    scales = [scale for scale in _SCALES if len(given) > 2 and given <= set(scale)]
    return _order_reading(scales[0], [word for word in scales[0] if word in given]) if scales else None


def _order_reading(scale: Sequence[str], shown: Sequence[str] | None = None) -> Reading:
    words = ", ".join(shown or scale)
    read = partial(_read_order, scale=tuple(word.casefold() for word in scale))
    return Reading("number", read, f"a scale: {words}", levels=tuple(scale))


def _read_order(cells: pd.Series[Any], scale: tuple[str, ...]) -> FloatArray:
    places = {word: float(place) for place, word in enumerate(scale)}
    return np.array([places.get((word or "").casefold(), np.nan) for word in as_texts(cells)])


# Dates

_SLASHED = ("%m/%d/%Y", "%d/%m/%Y", "%m-%d-%Y", "%d-%m-%Y", "%m/%d/%y", "%d/%m/%y")  # month first, day first
_OTHER_DATES = (
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%d.%m.%Y",
    "%d.%m.%y",
    "%d %b %Y",
    "%d %B %Y",
    "%d-%b-%Y",
    "%b %d, %Y",
    "%B %d, %Y",
)
_LIKE_A_DATE = r"\d{1,4}[-/.]\d{1,2}|\d{1,2}[- ][A-Za-z]{3,9}[- ]\d{4}|[A-Za-z]{3,9} \d{1,2}, \d{4}"
_TIMES = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
_SWAP = str.maketrans("md", "dm")
_TRIED = 500  # cells on which formats are tried


def _find_dates(cells: pd.Series[Any], words: Sequence[str], decimal: str) -> Reading | None:
    """Return how to read dates, by the format that fits most cells."""
    tried = pd.Series(words[:_TRIED], dtype=object)
    if not tried.str.match(_LIKE_A_DATE).mean() >= _ENOUGH:
        return None
    slashed = [form.translate(_SWAP) if decimal == "," else form for form in _SLASHED]
    shape = Counter(re.sub(r"\w", "", word) for word in tried).most_common(1)[0][0]
    written = [date + time for date in (*slashed, *_OTHER_DATES) for time in _TIMES]
    formats = ["ISO8601", *(form for form in written if re.sub("%.", "", form) == shape)]
    fits = {form: int(_parse_dates(tried, form).notna().sum()) for form in formats}
    best = max(formats, key=lambda form: fits[form])
    strays = _describe_strays(words, _parse_dates(pd.Series(words, dtype=object), best).notna())
    if strays is None:
        return None
    swapped = best.translate(_SWAP)
    either = swapped != best and fits.get(swapped) == fits[best]
    first = "month" if best.startswith("%m") else "day"
    order = f"the {first} first, though the order is ambiguous" if either else ""
    return _dates_reading(cells, best, order, strays)


def _dates_reading(cells: pd.Series[Any], form: str, *details: str) -> Reading:
    first = _parse_dates(cells, form).min()
    since = f"dates, in days since {first:%Y-%m-%d}" if pd.notna(first) else "dates"
    origin = first if pd.notna(first) else None
    read = partial(_read_dates, form=form, first=first)
    return Reading("date", read, _join_details(since, details), origin, is_time=True)


def _parse_dates(cells: pd.Series[Any], form: str) -> pd.Series[pd.Timestamp]:
    if not pd.api.types.is_datetime64_any_dtype(cells.dtype):
        cells = pd.Series(as_texts(cells), dtype=object)
    stamps = pd.to_datetime(cells, format=form, errors="coerce", utc=True)
    if "%y" in form:  # two digits from 30 on are of the last century, as spreadsheets have it
        stamps = stamps.mask(stamps.dt.year >= 2030, stamps - pd.DateOffset(years=100))
    return stamps


def _read_dates(cells: pd.Series[Any], form: str, first: pd.Timestamp) -> FloatArray:
    return np.asarray((_parse_dates(cells, form) - first) / _DAY, dtype=np.float64)
