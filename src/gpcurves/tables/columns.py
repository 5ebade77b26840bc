"""The columns of a table: which are inputs, and why others cannot be used."""

from __future__ import annotations

import difflib
import numbers
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from gpcurves.errors import InputError
from gpcurves.numerics.validation import FloatArray
from gpcurves.tables.cells import Values, is_number

_REPEATED = 0.15  # share of the rows that must repeat a text before them, or it is no category
_MOST_MISSING = 0.5  # share of missing cells above which a column is not used
_ID_NAME = re.compile(
    r"(?i:(.*[ _.-])?(id|idx|index|uuid|key)|#|no\.?|nr\.?|row([ _]?(names?|number))?|column 1)|.*[a-z]I[dD]"
)
MISSING_LEVEL = "missing"
_FEW_VALUES = 20  # different values that a discrete column may have, each three times on average
_NAMED = 0.8  # share of groups with a text of their own from which these are names of groups


def enumerate_names(names: Sequence[str], *, quote: bool = True, most: int = 12) -> str:
    """Write names one after the other, and how many more there are if they are many."""
    shown = [repr(name) if quote else name for name in names[:most]]
    rest = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(shown) + rest


def name_columns(table: pd.DataFrame, what: str) -> pd.DataFrame:
    """Return a table, called "table" or "pool" in errors, with texts as column names."""
    table = table.set_axis([str(name) for name in table.columns], axis=1)
    repeated = table.columns[table.columns.duplicated()]
    if len(repeated):
        raise InputError(f"the {what} has more than one column named {repeated[0]!r}: names must differ")
    if table.empty:
        raise InputError(f"the {what} has no {'columns' if len(table) else 'rows'}")
    return table


def is_name(value: Any, table: pd.DataFrame) -> bool:
    """Tell whether a value is the name of a column: a text, a number, or anything else by which the table calls one."""
    return isinstance(value, str | numbers.Number) or _is_among(value, table.columns)


def spell_names(names: Any, table: pd.DataFrame) -> list[str]:
    """Return names of columns as the texts that `name_columns` makes of them; one name may stand alone."""
    known = {name: str(name) for name in table.columns}
    return [
        known[name] if _is_among(name, known) else str(name) for name in ([names] if is_name(names, table) else names)
    ]


def _is_among(value: Any, names: Iterable[Any]) -> bool:
    try:
        return value in set(names)
    except TypeError:  # it has no hash, as arrays have none
        return False


def choose_inputs(table: pd.DataFrame, target: str, features: Sequence[str] | None, drop: Sequence[str]) -> list[str]:
    """Return the columns that the user wants as inputs."""
    for name in (target, *(features or ()), *drop):
        check_column("table", name, table.columns)
    if target in (features or ()):
        raise InputError(f"the target {target!r} cannot be an input as well")
    if target in drop:
        raise InputError(f"the target {target!r} cannot be dropped")
    chosen = table.columns if features is None else dict.fromkeys(features)
    inputs = [name for name in chosen if name != target and name not in drop]
    if not inputs:
        raise InputError(f"no input is left beside the target {target!r}: at least one column is needed")
    return inputs


def check_aside(table: pd.DataFrame, target: str, features: Sequence[str] | None, aside: Mapping[str, str]) -> None:
    """Refuse columns of groups or of standard errors that are not there, or that are the target or an input as well."""
    for role, name in aside.items():
        check_column("table", name, table.columns)
        what = "groups" if role == "groups" else "standard errors"
        if name == target or name in (features or ()):
            raise InputError(
                f"the column of {what} {name!r} cannot be {'the target' if name == target else 'an input'} as well"
            )
    if len(set(aside.values())) < len(aside):
        raise InputError(
            f"groups and standard errors must be different columns, got {next(iter(aside.values()))!r} for both"
        )


def check_column(what: str, name: str, known: Iterable[str]) -> None:
    """Refuse a column that a table does not have, with the one that was probably meant."""
    if name in known:
        return
    folded = {each.casefold(): each for each in known}
    near = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=0.5)
    hint = f"did you mean {folded[near[0]]!r}? " if near else ""
    if all(is_number(each, ".") for each in folded):
        hint += "a header may be missing, "
    raise InputError(f"the {what} has no column {name!r}: {hint}it has {enumerate_names(list(known))}")


def find_defect(values: Values) -> str:
    """Return why a column cannot be an input, or nothing."""
    gone = pd.isna(values)
    present = values[~gone]
    distinct = len(pd.unique(present))
    if distinct == 0:
        return "empty"
    if distinct == 1:
        return f"the same in every row{' that has a value' if gone.any() else ''}"
    if gone.mean() > _MOST_MISSING:
        return f"{gone.mean():.0%} missing"
    if values.dtype != object:
        return ""
    if 2 * distinct > len(present):
        words = [text for text in present if not any(is_number(text, mark) for mark in ".,")]
        if 0 < len(words) < len(present) / 2:
            return f"numbers mixed with {len(words):,} texts, such as {words[0]!r}"
    if len(present) - distinct < max(2, _REPEATED * len(present)):
        long = np.mean([len(text.split()) for text in present]) > 2
        return f"{'free text' if long else 'an identifier'}, {distinct:,} different texts in {len(present):,} rows"
    return ""


def find_identity(name: str, values: FloatArray, positions: npt.NDArray[np.intp]) -> str:
    """Return why a column of numbers must be an identifier, or nothing; positions are those of its rows in the table."""
    known = ~np.isnan(values)
    if any(np.array_equal(values[known], positions[known] + start) for start in (0, 1)):
        return "an identifier, it counts the rows"
    distinct = known.all() and len(np.unique(values)) == len(values) and np.array_equal(values, np.round(values))
    return "an identifier, a different integer in every row" if distinct and _ID_NAME.fullmatch(name) else ""


def find_other_name(values: Values, groups: Values) -> str:
    """Return why texts cannot be an input for new groups of rows, or nothing: most groups have one of their own."""
    known = ~pd.isna(values)
    pairs = pd.DataFrame({"group": groups[known], "text": values[known]}).drop_duplicates()
    alone = ~pairs["group"].duplicated(keep=False) & ~pairs["text"].duplicated(keep=False)
    return "another name of the group" if alone.mean() > _NAMED else ""


def has_few_values(values: Values) -> bool:
    """Tell whether values are discrete: few different ones, which occur several times."""
    distinct = len(pd.unique(values))
    return distinct <= _FEW_VALUES and 3 * distinct <= len(values)


def choose_filler(values: Values) -> float | str:
    """Return what stands for a missing value: the lower of the middle values, or a category of its own."""
    if values.dtype == object:
        return MISSING_LEVEL
    return float(np.quantile(values[~np.isnan(values)], 0.5, method="lower"))


def fill_missing(values: Values, filler: float | str) -> Values:
    """Return values with missing ones replaced."""
    return np.where(pd.isna(values), filler, values)
