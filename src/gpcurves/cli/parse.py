"""Turning texts into numbers, and files into numbers."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import numpy as np

from gpcurves.errors import InputError, check_name
from gpcurves.numerics.files import read_bytes
from gpcurves.numerics.validation import FloatArray, parse_float
from gpcurves.spectra import Spectrum

_MOST_VALUES = 1_000_000
_PARSED = 80  # times the size of a file that reading it takes, measured for a column of digits
_SWITCH = {"true": True, "yes": True, "false": False, "no": False}
_METAVARS = {int: "INTEGER", float: "NUMBER", str: "TEXT", bool: "BOOLEAN", Path: "FILE"}


def number(name: str, text: str) -> float:
    """Read one number."""
    try:
        return parse_float(text)
    except ValueError:
        raise InputError(f"{name} must be a number, got {text!r}") from None


def integer(name: str, text: str) -> int:
    """Read one integer; 1e3 is one."""
    value = number(name, text)
    if not value.is_integer():
        raise InputError(f"{name} must be an integer, got {text!r}")
    return int(value)


def names(name: str, text: str) -> list[str]:
    """Read names separated by commas, each once."""
    listed = [part.strip() for part in text.split(",") if part.strip()]
    if not listed:
        raise InputError(f"{name} must not be empty")
    return list(dict.fromkeys(listed))


def fields(text: str) -> list[str]:
    """Read names separated by commas, which those between quotation marks may have."""
    try:
        rows = list(csv.reader(text.splitlines(keepends=True), skipinitialspace=True))
    except csv.Error as error:
        raise InputError(f"names must be separated by commas: {error}") from error
    return [field.strip() for row in rows for field in row]


def metavar(kind: Any) -> str | None:
    """Return what help shows for the value of an option of this type; None if such values cannot be given as text."""
    shown = [_shown(each) for each in _alternatives(kind)]
    return None if None in shown else shown[-1]


def _shown(kind: Any) -> str | None:
    if get_origin(kind) is Literal:
        return "|".join(map(str, get_args(kind)))
    if get_origin(kind) is tuple:
        inner, *rest = get_args(kind)
        single = _METAVARS.get(inner)
        return f"{single},..." if rest == [...] and single is not None else None
    return "FILE" if _is_array(kind) else _METAVARS.get(kind)


def _alternatives(kind: Any) -> list[Any]:
    """Return the types of a union without None; a single type stands for itself."""
    kinds = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    return [each for each in kinds if each is not NoneType]


def _is_array(kind: Any) -> bool:
    return (get_origin(kind) or kind) is np.ndarray


def value(name: str, text: Any, kind: Any) -> Any:
    """Read a value of a type from a text; of several types the first that fits, lists of them if there are commas."""
    if not isinstance(text, str):  # a switch, which is read already
        return text
    kinds = _alternatives(kind)
    lists = [each for each in kinds if get_origin(each) is tuple]
    single = [each for each in kinds if each not in lists]
    counts = any(get_args(each)[0] is int for each in lists)  # numbers of something may be ranges
    if lists and ("," in text or not single or (counts and ":" in text)):
        (inner, _) = get_args(lists[0])
        if counts:
            return tuple(integer(name, repr(each)) for each in size_list(name, text, integers=True))
        parts = names(name, text) if inner is str else text.split(",")
        return tuple(_single(name, part, inner) for part in parts)
    for each in single[:-1]:
        try:
            return _single(name, text, each)
        except InputError:
            continue
    return _single(name, text, single[-1])


def _single(name: str, text: str, kind: Any) -> Any:
    if get_origin(kind) is Literal:
        return check_name(f"value of {name}", text, get_args(kind))
    if kind is bool:
        if text.lower() not in _SWITCH:
            raise InputError(f"{name} must be yes or no, got {text!r}")
        return _SWITCH[text.lower()]
    if _is_array(kind):
        return read_table(Path(text), name.lstrip("-"))
    if kind in (int, float):
        return integer(name, text) if kind is int else number(name, text)
    return Path(text) if kind is Path else text


def size_list(name: str, text: str, *, integers: bool) -> list[float]:
    """Read a list of numbers and ranges: ``0,10,100``, ``start:stop:step`` or ``start:stop:log:count``.

    Ranges include their stop. With ``integers``, logarithmic ranges are rounded to integers, each once.
    """
    values: list[float] = []
    if not text.strip(" ,"):
        raise InputError(f"{name} must not be empty")
    for part in text.split(","):
        fields = [field.strip() for field in part.split(":")]
        if len(fields) == 1:
            values.append(number(name, fields[0]))
        elif len(fields) == 4 and fields[2] == "log":
            ends = (number(name, fields[0]), number(name, fields[1]))
            spaced = _logarithmic(name, part, ends, fields[3])
            values += dict.fromkeys(float(round(each)) for each in spaced) if integers else spaced
        elif len(fields) in (2, 3):
            values += _linear(name, part, *(number(name, field) for field in fields))
        else:
            raise InputError(f"{name} must be numbers, start:stop:step or start:stop:log:count, got {part!r}")
        if len(values) > _MOST_VALUES:
            raise InputError(f"{name} must be at most {_MOST_VALUES:g} values")
    return values


def _linear(name: str, part: str, start: float, stop: float, step: float = 1.0) -> list[float]:
    if not (math.isfinite(start) and math.isfinite(stop) and math.isfinite(step)):
        raise InputError(f"{name} must be finite, got {part!r}")
    if step <= 0 or stop < start:
        raise InputError(f"{name}: a range start:stop:step needs start ≤ stop and step > 0, got {part!r}")
    count = math.floor((stop - start) / step + 1e-9) + 1
    if count > _MOST_VALUES:
        raise InputError(f"{name}: the range {part!r} has {count:.3g} values, at most {_MOST_VALUES:g} are allowed")
    return [start + i * step for i in range(count)]


def _logarithmic(name: str, part: str, ends: tuple[float, float], count: str) -> list[float]:
    start, stop = ends
    if not (math.isfinite(start) and math.isfinite(stop)) or not 0 < start <= stop:
        raise InputError(f"{name}: a range start:stop:log:count needs 0 < start ≤ stop, got {part!r}")
    if not (count.isascii() and count.isdecimal()) or not 1 <= float(count) <= _MOST_VALUES:
        raise InputError(f"{name}: the count of a logarithmic range must be a positive integer, got {part!r}")
    steps = int(count)
    return [start * (stop / start) ** (i / max(1, steps - 1)) for i in range(steps)]


def spectrum(path: Path) -> Spectrum:
    """Read eigenvalues, and optionally multiplicities, from a text file with one or two columns."""
    table = read_table(path, "eigenvalues")
    if table.shape[1] > 2:
        raise InputError(f"{path} must have one column (eigenvalue) or two (and multiplicity), got {table.shape[1]}")
    if (
        table.shape[1] == 2 and (least := table[:, 1].min()) < 1
    ):  # the discrete recursion makes no sense of a part of one
        raise InputError(f"{path}: multiplicities must be at least 1, got {least:g}")
    return Spectrum(table[:, 0], table[:, 1] if table.shape[1] == 2 else None)


def read_table(path: Path, what: str) -> FloatArray:
    """Read rows of numbers, separated by commas or blanks; a first row of words and lines after # are skipped."""
    rows: list[list[float]] = []
    for position, line in _lines(path):
        fields = line.split("#")[0].replace(",", " ").split()
        if not fields:
            continue
        try:
            rows.append([parse_float(field) for field in fields])
        except ValueError:
            if rows or position > 1:
                raise InputError(f"{path}, line {position}: {what} must be numbers, got {line.strip()!r}") from None
        if rows and len(rows[-1]) != len(rows[0]):
            raise InputError(f"{path}, line {position}: {len(rows[0])} columns expected, got {len(rows[-1])}")
    if not rows:
        raise InputError(f"{path} holds no {what}")
    return np.array(rows)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Return the lines of a text file with their numbers."""
    try:
        text = read_bytes(path, _PARSED).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"cannot read {path}: it is not a text file") from error
    return enumerate(text.splitlines(), start=1)
