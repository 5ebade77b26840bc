"""Which columns of a table are inputs: those asked for, without those that cannot be used."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from gpcurves.errors import InputError
from gpcurves.numerics.validation import FloatArray
from gpcurves.tables.cells import Values, is_number
from gpcurves.tables.encoding import choose_levels, is_missing
from gpcurves.tables.words import enumerate_names

_MOST_MISSING = 0.5  # share of missing cells above which a column is not used
_ID_NAME = re.compile(
    r"(?i:(.*[ _.-])?(id|idx|index|uuid|key)|#|no\.?|nr\.?|row([ _]?(names?|number))?|column 1)|.*[a-z]I[dD]"
)


def name_columns(table: pd.DataFrame, what: str) -> pd.DataFrame:
    """Return a table, called "table" or "pool" in errors, with texts as column names."""
    table = table.set_axis([str(name) for name in table.columns], axis=1)
    repeated = table.columns[table.columns.duplicated()]
    if len(repeated):
        raise InputError(f"the {what} has more than one column named {repeated[0]!r}: names must differ")
    if table.empty:
        raise InputError(f"the {what} has no rows")
    return table


def choose_inputs(
    table: pd.DataFrame, target: str, features: Sequence[str] | None, drop: Sequence[str] | None
) -> list[str]:
    """Return the columns that the user wants as inputs."""
    for name in (target, *list_names(features), *list_names(drop)):
        check_column("table", name, table.columns)
    if target in list_names(features):
        raise InputError(f"the target {target!r} cannot be an input as well")
    if target in list_names(drop):
        raise InputError(f"the target {target!r} cannot be dropped")
    chosen = table.columns if features is None else dict.fromkeys(list_names(features))
    inputs = [name for name in chosen if name != target and name not in list_names(drop)]
    if not inputs:
        raise InputError(f"no input is left beside the target {target!r}: at least one column is needed")
    return inputs


def list_names(names: Sequence[str] | None) -> list[str]:
    """Return names as a list; a single text is one name."""
    return [names] if isinstance(names, str) else list(names or ())


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
    gone = is_missing(values)
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
        long = np.mean([len(text.split()) for text in present]) > 2
        return f"{'free text' if long else 'an identifier'}, {distinct:,} different texts in {len(present):,} rows"
    return "" if choose_levels(present) else f"too many categories, {distinct:,} in {len(present):,} rows"


def find_identity(name: str, values: FloatArray, positions: npt.NDArray[np.intp]) -> str:
    """Return why a column of numbers must be an identifier, or nothing; positions are those of its rows in the table."""
    known = ~np.isnan(values)
    if any(np.array_equal(values[known], positions[known] + start) for start in (0, 1)):
        return "an identifier, it counts the rows"
    distinct = known.all() and len(np.unique(values)) == len(values) and np.array_equal(values, np.round(values))
    return "an identifier, a different whole number in every row" if distinct and _ID_NAME.fullmatch(name) else ""
