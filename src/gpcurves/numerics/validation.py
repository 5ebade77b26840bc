"""Checks at the public boundary. Inside the package, values are trusted."""

from __future__ import annotations

import math
import numbers
import sys
import warnings
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from gpcurves.errors import InputError
from gpcurves.numerics.memory import check_memory

FloatArray = npt.NDArray[np.float64]


class NumberArray(Protocol):
    """Numbers as NumPy has them, alone or in an array, or what becomes an array of them, such as a column of a table."""

    def __array__(self) -> npt.NDArray[np.integer[Any] | np.floating[Any]]: ...


Sizes = float | NumberArray | Sequence[float | NumberArray]
"""Of training sets: a sequence of numbers, or an integer n that stands for 0, 1, …, n."""
_LARGEST_SIZE = 1e15  # integers beyond are no longer exact as floating-point numbers
_LEAST = sys.float_info.min  # the smallest number with all its digits


def real(name: str, value: object) -> float:
    """Return ``value`` as a finite float."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise InputError(f"{name} must be a number, got {_quote(value)}")
    number = _as_float(value)
    if not math.isfinite(number):
        raise InputError(f"{name} must be finite, got {number}")
    return number


def parse_float(text: str) -> float:
    """Return the number in a text of plain ASCII digits; Python's own ``float`` takes 1_000 and the digits of all scripts."""
    if not text.isascii() or "_" in text:
        raise ValueError(f"not a number: {text!r}")
    return float(text)


def positive(name: str, value: object) -> float:
    """Return ``value`` as a finite float above zero."""
    number = real(name, value)
    if number <= 0:
        raise InputError(f"{name} must be greater than 0, got {number:g}")
    if number < _LEAST:
        raise InputError(f"{name} must be at least {_LEAST:.3g}, below which precision is lost, got {number:g}")
    return number


def nonnegative(name: str, value: object) -> float:
    """Return ``value`` as a finite float that is at least zero."""
    number = real(name, value)
    if number < 0:
        raise InputError(f"{name} must be at least 0, got {number:g}")
    return number


def integer(name: str, value: object, minimum: float = -_LARGEST_SIZE, maximum: float = _LARGEST_SIZE) -> int:
    """Return ``value`` as an integer between ``minimum`` and ``maximum``."""
    number = real(name, value)
    if not number.is_integer() or number < minimum:
        least = "" if minimum == -_LARGEST_SIZE else f", at least {minimum}"
        raise InputError(f"{name} must be an integer{least}, got {number:g}")
    if number > maximum:
        raise InputError(f"{name} must be at most {maximum:g}, got {number:g}")
    return int(number)


def positive_each(name: str, value: object) -> float | tuple[float, ...]:
    """Return one positive float, or a tuple of them if a sequence is given."""
    if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str | bytes | bytearray):
        items = value.tolist() if isinstance(value, np.ndarray) else list(value)  # a masked item becomes None
        if not isinstance(items, list):  # of an array without dimensions
            return positive_each(name, items)
        if not items:
            raise InputError(f"{name} must not be empty")
        return tuple(_moderate(name, positive(name, item)) for item in items)
    return _moderate(name, positive(name, value))


def _moderate(name: str, number: float) -> float:
    """Refuse scales whose powers leave the range of double precision."""
    if not 1e-50 <= number <= 1e50:
        raise InputError(f"{name} must be between 1e-50 and 1e+50, got {number:g}")
    return number


def as_numbers(value: Any, complaint: str, shape: tuple[int, ...] | None = None) -> FloatArray:
    """Return a copy of ``value`` as floats, NaN if missing (masked, None, NA), broadcast to ``shape`` if given.

    NumPy would drop masks and imaginary parts, and would read texts, dates and durations as numbers: all but masks are
    refused with this complaint. Numbers beyond double precision become infinite.
    """
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Warning: converting a masked element to nan")
            if isinstance(value, list | tuple) and any(_is_masked(each) for each in value):
                value = np.ma.array(value)
            given = np.ma.getdata(value, subok=False) if _is_masked(value) else np.asarray(value)
        if given.dtype.kind not in "biufO":
            raise InputError(complaint)
        with np.errstate(over="ignore"):
            array = np.vectorize(_as_float, otypes=[np.float64])(given) if given.dtype.kind == "O" else given
            array = np.array(array, dtype=np.float64)
        if _is_masked(value):
            array[np.ma.getmaskarray(value)] = np.nan
        return array if shape is None else np.array(np.broadcast_to(array, shape))
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(complaint) from error


def _is_masked(value: object) -> bool:
    """Tell whether this is a masked array; if there are any, their module is imported already, which takes long."""
    return "numpy.ma" in sys.modules and isinstance(value, np.ma.MaskedArray)


def _as_float(value: Any) -> float:
    """Return a number, or whatever stands for a missing one, as a float."""
    # those of pandas and of numpy.ma, which are not imported for a number
    if value is None or type(value).__name__ in ("NAType", "MaskedConstant"):
        return math.nan
    if isinstance(value, str | bytes | bytearray | np.complexfloating | np.datetime64 | np.timedelta64):
        raise TypeError(value)
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _quote(value: object) -> str:
    """Write what was given on one short line."""
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # Python writes no integers of more than 4,300 digits
        return f"a {type(value).__name__} with an integer of thousands of digits"
    return text if len(text) <= 80 else f"{text[:79]}…"


def points(name: str, value: object) -> FloatArray:
    """Return ``value`` as a finite array of shape (points, dimensions); a flat one is one-dimensional inputs."""
    array = as_numbers(value, f"{name} must be an array of numbers, got {type(value).__name__}")
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or array.size == 0:
        raise InputError(f"{name} must have shape (points, dimensions) and not be empty, got {array.shape}")
    if not np.isfinite(array).all():
        raise InputError(f"{name} must be finite, got NaN or infinity")
    return frozen(array)


def probabilities(value: object, count: int) -> FloatArray:
    """Return ``count`` probabilities that sum to 1; equal ones if ``value`` is None."""
    shares = np.full(count, 1.0 / count) if value is None else as_numbers(value, "probabilities must be numbers")
    if shares.shape != (count,):
        raise InputError(f"probabilities must be one per point ({count}), got shape {shares.shape}")
    if not np.isfinite(shares).all() or (shares < 0).any():
        raise InputError("probabilities must be finite and at least 0")
    if abs(shares.sum() - 1) > 1e-9:
        raise InputError(f"probabilities must sum to 1, got {shares.sum():g}")
    return frozen(shares / shares.sum())


def sizes(name: str, value: object) -> FloatArray:
    """Return training-set sizes: a sequence as it is, an integer ``n`` as 0..n, a number ``nu`` (per vertex) as itself."""
    if name == "nu" and isinstance(value, numbers.Real):
        value = [value]
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        last = integer(name, value, 0)
        check_memory(100.0 * last, f"every {name} up to {last:,}", "give a list of numbers")
        return np.arange(last + 1, dtype=np.float64)
    array = as_numbers(value, f"{name} must be an integer or a sequence of numbers, got {_quote(value)}")
    if array.ndim != 1:
        raise InputError(f"{name} must be an integer (meaning 0..{name}) or a sequence of numbers, got {_quote(value)}")
    if array.size == 0:
        raise InputError(f"{name} must not be empty")
    bad = ~np.isfinite(array) | (array < 0)
    if bad.any():
        raise InputError(f"{name} must be finite and at least 0, got {array[bad][0]:g}")
    if array.max() > _LARGEST_SIZE:
        raise InputError(f"{name} must be at most {_LARGEST_SIZE:g}, got {array.max():g}")
    return array


def path_of(name: str, value: object) -> Path:
    """Return ``value`` as a path."""
    if not isinstance(value, str | PathLike):
        raise InputError(f"{name} must be the path of a file, got {value!r}")
    return Path(value)


def names_of(name: str, value: object, named: type = str) -> list[Any]:
    """Return one name or several as a list that is not empty; instances of ``named`` may stand for their names."""
    names: list[Any] = [value] if isinstance(value, str) else list(value) if isinstance(value, Iterable) else [value]
    if not all(isinstance(each, str | named) for each in names):
        raise InputError(f"{name} must be a name or a sequence of names, got {value!r}")
    if not names:
        raise InputError(f"{name} must not be empty")
    return names


def frozen(array: FloatArray) -> FloatArray:
    """Make an array read-only, so that results and problems cannot be changed behind one's back."""
    array.setflags(write=False)
    return array
