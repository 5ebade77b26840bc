"""Targets that are classes: how they are recognised, read and counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from gpcurves.errors import InputError
from gpcurves.numerics.validation import FloatArray
from gpcurves.tables.cells import as_texts, interpret
from gpcurves.tables.frames import as_column

MOST_CLASSES = 50
_ROWS_OF_A_CLASS = 3  # on average, at least: texts that hardly repeat are names, not classes
_FEW_CODES = 3  # integers from 0 or 1 on that are taken as codes of classes, if nobody says what they are
_MANY_CODES = 10  # and how many may be meant so, which is worth a word


def read_classes(name: str, cells: pd.Series[Any]) -> tuple[FloatArray, tuple[str, ...]]:
    """Return the number of the class in each row, NaN if it is missing, and the names of the classes."""
    words = as_texts(cells)
    names = sort_names({word for word in words if word is not None})
    if len(names) > MOST_CLASSES:
        raise InputError(
            f"the target {name!r} has {len(names):,} different values, such as {names[0]!r}: at most {MOST_CLASSES} classes can be "
            "told apart"
        )
    place = {word: float(number) for number, word in enumerate(names)}
    return np.array([np.nan if word is None else place[word] for word in words]), names


def sort_names(names: set[str]) -> tuple[str, ...]:
    """Return names in the order of the alphabet, or of the numbers that they are."""
    try:
        return tuple(sorted(names, key=float))
    except ValueError:
        return tuple(sorted(names))


def keep_present(codes: FloatArray, names: tuple[str, ...]) -> tuple[FloatArray, tuple[str, ...]]:
    """Return the classes that have rows, numbered anew."""
    present, numbers = np.unique(codes.astype(int), return_inverse=True)
    return numbers.astype(np.float64), tuple(names[number] for number in present)


def check_classes(name: str, codes: FloatArray, names: Sequence[str]) -> None:
    """Refuse values that hardly repeat."""
    if len(names) * _ROWS_OF_A_CLASS > len(codes):
        raise InputError(
            f"the target {name!r} has {len(names):,} classes in {len(codes):,} rows: at least {_ROWS_OF_A_CLASS} rows for each class are "
            "needed on average; if it holds numbers, ask for the task 'numbers'"
        )


def check_labels(y: Any) -> tuple[FloatArray, tuple[str, ...]]:
    """Return the number of the class in each row of an array, and the names of the classes."""
    column = as_column(y)
    codes, names = read_classes("y", column)
    if np.isnan(codes).any():
        raise InputError(f"y must have a class in every row, got missing values in {int(np.isnan(codes).sum())} rows")
    return codes, names


def recognise(target: str, cells: pd.Series[Any], decimal: str = ".") -> tuple[bool, str]:
    """Tell whether a target has classes, and say so where somebody might mean the other."""
    reading = interpret(cells, decimal)
    if reading.kind == "date":
        return False, ""
    if reading.kind != "number" or reading.levels:
        return True, f"The target {target!r} has classes." + (
            " Its words form a scale: --task numbers takes them as the numbers 0, 1, 2, …"
            if reading.levels and reading.kind == "number"
            else ""
        )
    return recognise_codes(target, reading.read(cells))


def recognise_codes(target: str, values: FloatArray) -> tuple[bool, str]:
    """Tell whether numbers are codes of classes, and say so where somebody might mean the other; NaN is missing."""
    present = values[~np.isnan(values)]
    different = np.unique(present)
    if not 2 <= len(different) <= min(_MANY_CODES, len(present) - 1) or (different != different.round()).any():
        return False, ""  # codes of classes repeat
    listed = (
        f"{different[0]:g} to {different[-1]:g}"
        if len(different) > 2
        else " and ".join(f"{each:g}" for each in different)
    )
    codes = len(different) == 2 or (
        len(different) <= _FEW_CODES and different[0] in (0, 1) and (np.diff(different) == 1).all()
    )
    if codes:
        return True, f"Took {target!r}, which is {listed}, as classes: --task numbers takes them as numbers."
    return (
        False,
        f"Took {target!r}, which has {len(different)} different integers, as numbers: --task classes takes them as classes.",
    )
