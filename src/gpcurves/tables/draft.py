"""What is left of a table while it is prepared: every step takes a draft and returns another, with a sentence about it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from gpcurves.errors import InputError
from gpcurves.numerics.validation import FloatArray
from gpcurves.tables.cells import Reading, Values, as_texts, interpret, is_number
from gpcurves.tables.choosing import find_defect, find_identity
from gpcurves.tables.encoding import Mask, fill_missing, has_few_values, is_missing
from gpcurves.tables.rows import FEWEST_ROWS
from gpcurves.tables.words import count, enumerate_names


@dataclass(frozen=True)
class Draft:
    """Rows and columns that are left: the values ``y`` of the target, and those of each input.

    ``positions`` are those of the rows in the table, ``readings`` say how the cells of each column are read, the target
    included. ``steps`` are sentences about what was done, ``losses`` words about rows that were dropped, and ``dropped``
    says why a column is not used.
    """

    target: str
    y: FloatArray
    positions: npt.NDArray[np.intp]
    readings: Mapping[str, Reading]
    values: Mapping[str, Values]
    steps: tuple[str, ...]
    losses: tuple[str, ...] = ()
    dropped: Mapping[str, str] = field(default_factory=dict)

    def say(self, *sentences: str) -> Draft:
        """Add to what was done."""
        return replace(self, steps=(*self.steps, *sentences))

    def keep(self, mask: Mask) -> Draft:
        """Keep some rows."""
        values = {name: values[mask] for name, values in self.values.items()}
        return replace(self, y=self.y[mask], positions=self.positions[mask], values=values)

    def lose(self, mask: Mask, why: str) -> Draft:
        """Drop some rows and say so."""
        if not mask.any():
            return self
        loss = f"{count(mask.sum(), 'row')} {why}"
        return replace(self.keep(~mask).say(f"Dropped {loss}."), losses=(*self.losses, loss))

    def describe_losses(self) -> str:
        """Say which rows are missing, at the end of an error."""
        missing = any("missing input" in loss for loss in self.losses)
        hint = "; --missing impute fills missing inputs in" if missing else ""
        return f": left out were {', '.join(self.losses)}{hint}" if self.losses else ""


def read_columns(
    table: pd.DataFrame,
    positions: npt.NDArray[np.intp],
    target: str,
    inputs: Sequence[str],
    decimal: str,
    steps: Sequence[str],
) -> Draft:
    """Read the target, drop rows without one, and read the inputs of the others."""
    reading = interpret(table[target], decimal)
    if reading.kind != "number":
        words = [word for word in as_texts(table[target]) if word is not None]
        example = next((word for word in words if not is_number(word, decimal)), words[0])
        kind = {"flag": "true or false", "date": "dates", "text": "text"}[reading.kind]
        raise InputError(
            f"the target {target!r} holds {kind}, such as {example!r}: "
            "this is a tool for regression, the target must be numbers"
        )
    y = reading.read(table[target])
    known = ~np.isnan(y)
    if not known.any():
        raise InputError(f"the target {target!r} has no values")
    draft = Draft(target, y, positions, {}, {}, tuple(steps))
    draft = draft.lose(~known, f"without a value of the target {target!r}")
    check_enough_rows(draft, len(table))
    check_target_varies(draft)
    labelled = table[known]
    readings = {name: interpret(labelled[name], decimal) for name in inputs}
    values = {name: readings[name].read(labelled[name]) for name in inputs}
    return replace(draft, readings={target: reading, **readings}, values=values)


def screen_columns(draft: Draft, *, keep_identifiers: bool) -> Draft:
    """Leave out columns that cannot be used, with a reason for each."""
    reasons: dict[str, str] = {}
    for name, values in draft.values.items():
        reason = find_defect(values)
        if not (reason or keep_identifiers) and draft.readings[name].kind == "number":
            reason = find_identity(name, values, draft.positions)
        if reason:
            reasons[name] = reason
    if not reasons:
        return draft
    listed = enumerate_names([f"{name!r} ({reason})" for name, reason in reasons.items()], quote=False, most=30)
    kept = {name: values for name, values in draft.values.items() if name not in reasons}
    if not kept:
        raise InputError(f"no column can be used as an input: {listed}; identifiers are kept if --features names them")
    draft = replace(draft, values=kept, dropped={**draft.dropped, **reasons})
    return draft.say(f"Left out {count(len(reasons), 'column')}: {listed}.")


def describe_readings(draft: Draft) -> Draft:
    """Say how cells that were not plain numbers were read."""
    alike: dict[str, list[str]] = {}
    for name in (draft.target, *draft.values):
        alike.setdefault(draft.readings[name].words, []).append(name)
    return draft.say(*(f"Read {enumerate_names(names)} as {words}." for words, names in alike.items() if words))


def settle_missing(draft: Draft, fillers: Mapping[str, float | str] | None) -> Draft:
    """Fill missing cells in, or drop their rows if there are no fillers."""
    gone = {name: is_missing(values) for name, values in draft.values.items()}
    cells = {name: int(mask.sum()) for name, mask in gone.items() if mask.any()}
    listed = enumerate_names([f"{name!r}: {number:,}" for name, number in cells.items()], quote=False)
    if fillers is None:
        return draft.lose(np.any(list(gone.values()), axis=0), f"with a missing input ({listed})")
    if not cells:
        return draft
    draft = replace(draft, values={name: fill_missing(values, fillers[name]) for name, values in draft.values.items()})
    how = "the median of numbers, the category 'missing' of texts"
    return draft.say(f"Filled in {count(sum(cells.values()), 'missing cell')} with {how} ({listed}).")


def drop_copies(draft: Draft) -> Draft:
    """Drop copies of rows, unless it is natural that rows repeat."""
    inputs = pd.DataFrame(dict(enumerate(draft.values.values())))
    rows = inputs.assign(target=draft.y)
    copies = rows.duplicated().to_numpy()
    if not (copies.any() and _repeats_are_natural(inputs, rows)):
        return draft.lose(copies, "equal to another one in the target and every input")
    return draft.say(
        f"Kept {count(copies.sum(), 'row')} equal to another one: with values this coarse that is no sign of copies."
    )


def _repeats_are_natural(inputs: pd.DataFrame, rows: pd.DataFrame) -> bool:
    """Tell whether rows repeat because their values are few or coarse, not because they were copied.

    Of two rows with equal inputs, copies have equal targets always, others about as often as any two rows; the line is
    drawn halfway. If all columns have few values, and the target's occur with different inputs, nothing is a copy.
    """
    by_chance = _equal_pairs(rows["target"]) / math.comb(len(rows), 2)
    if _equal_pairs(rows) < (1 + by_chance) / 2 * _equal_pairs(inputs):
        return True
    recurring = rows["target"].nunique() < len(rows.drop_duplicates())
    return recurring and all(has_few_values(rows[name].to_numpy()) for name in rows)


def _equal_pairs(rows: pd.DataFrame | pd.Series[float]) -> int:
    counts = pd.util.hash_pandas_object(rows, index=False).value_counts()
    return int((counts * (counts - 1)).sum()) // 2


def check_enough_rows(draft: Draft, given: int) -> None:
    """Refuse fewer rows than anything can be said about."""
    if len(draft.y) < FEWEST_ROWS:
        raise InputError(
            f"at least {FEWEST_ROWS} usable rows are needed, got {len(draft.y)} of {count(given, 'row')}"
            + draft.describe_losses()
        )


def check_target_varies(draft: Draft) -> None:
    """Refuse a target that is the same in every row."""
    if np.ptp(draft.y) == 0:
        raise InputError(f"the target {draft.target!r} is {draft.y[0]:g} in every row: there is nothing to learn")
