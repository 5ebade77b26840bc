"""From a table to a design matrix: numbers only, with a sentence for everything that was done on the way."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from gpcurves.errors import InputError
from gpcurves.montecarlo.seeds import Rng, seed_of
from gpcurves.numerics.validation import FloatArray, frozen, whole
from gpcurves.tables.cells import Column, Values, interpret, is_number, texts
from gpcurves.tables.encoding import Mask, Part, filled, filler, has_few_values, is_missing, levels, part_of
from gpcurves.tables.files import read_table

__all__ = ["Prepared", "prepare", "read_table"]

_FEWEST_ROWS = 10
_MOST_LOOKED_AT = 20_000  # rows of a longer table, or pool, that are drawn at random before anything else
_MOST_MISSING = 0.5  # share of missing cells above which a column is not used
_ID_NAME = re.compile(
    r"(?i:(.*[ _.-])?(id|idx|index|uuid|key)|#|no\.?|nr\.?|row([ _]?(names?|number))?|column 1)|.*[a-z]I[dD]"
)


@dataclass(frozen=True, eq=False)
class Prepared:
    """Inputs and targets as numbers, and what was done to get them.

    ``X`` has one row per example and one column per design column, which ``names`` names (``colour=red`` for a
    category), ``sources`` traces to the table's column and ``discrete`` marks where few different values occur.
    ``pool`` has the same columns. ``steps`` are sentences, ``dropped`` says why a column of the table is not used,
    ``total_rows`` is how many rows the table had, and ``usable_rows`` how many of them could have been used (about, where
    not all were looked at).
    """

    X: FloatArray
    y: FloatArray
    names: tuple[str, ...]
    discrete: Mask
    sources: tuple[str, ...]
    pool: FloatArray | None
    target: str
    steps: tuple[str, ...]
    dropped: Mapping[str, str]
    total_rows: int
    usable_rows: int


def prepare(
    table: pd.DataFrame,
    target: str,
    *,
    features: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
    pool: pd.DataFrame | None = None,
    missing: Literal["drop", "impute"] = "drop",
    rng: Rng = 0,
    most_rows: int = 1_000,
) -> Prepared:
    """Turn a table as people keep them into a design matrix.

    Numbers may have thousands separators, percent and currency signs. Dates become days since the first one, yes and
    no 1 and 0, texts with few different values categories: one design column for each, a single one where there are
    two, rare ones together as "other". Identifiers (unless asked for by ``features``), free text, constant columns and
    columns that are mostly missing are left out. Rows without a target are dropped; so are, with ``missing="drop"``,
    rows with a missing input, which ``"impute"`` fills with the median or the category "missing". Rows that
    repeat another one exactly are dropped, unless values are so coarse that repeats are natural.
    Of more than ``most_rows`` rows, that many are drawn at random.
    """
    if missing not in ("drop", "impute"):
        raise InputError(f"missing must be 'drop' or 'impute', got {missing!r}")
    most_rows = whole("most_rows", most_rows, _FEWEST_ROWS)
    generator = np.random.default_rng(seed_of(rng))
    table = _named(table, "table")
    inputs = _inputs(table, target, features, drop)
    decimal = str(table.attrs.get("decimal", "."))
    steps = [str(step) for step in table.attrs.get("steps", ())]
    rows = _drawn(len(table), max(_MOST_LOOKED_AT, 2 * most_rows), generator)
    if len(rows) < len(table):
        steps.append(f"Looked at {len(rows):,} rows, drawn at random from {len(table):,}.")

    draft = _read(table.iloc[rows], rows, target, inputs, decimal, steps)
    draft.dropped.update(dict.fromkeys(_listing(drop), "left out as asked"))
    draft.screen(keep_identifiers=features is not None)
    draft.describe_reading()
    fillers = {name: filler(values) for name, values in draft.values.items()}
    draft.settle_missing(fillers if missing == "impute" else None)
    draft.drop_repeats()
    draft.check_rows(len(table))
    usable = round(len(table) * len(draft.y) / len(rows))
    if len(draft.y) > most_rows:
        steps.append(f"Drew {most_rows:,} rows at random from {len(draft.y):,}.")
        draft.keep(np.isin(np.arange(len(draft.y)), _drawn(len(draft.y), most_rows, generator)))
    draft.screen(keep_identifiers=features is not None)
    _check_constant(target, draft.y)

    parts = [part_of(name, values) for name, values in draft.values.items()]
    X = np.hstack([part.encode(draft.values[part.source]) for part in parts])
    _check_shape(X, parts, draft)
    draft.describe_design(parts)
    design = None if pool is None else _pool(pool, parts, draft, fillers if missing == "impute" else None, generator)
    discrete = np.array([part.discrete for part in parts for _ in part.names])
    discrete.setflags(write=False)
    return Prepared(
        X=frozen(X),
        y=frozen(draft.y),
        names=tuple(name for part in parts for name in part.names),
        discrete=discrete,
        sources=tuple(part.source for part in parts for _ in part.names),
        pool=design,
        target=target,
        steps=tuple(steps),
        dropped=draft.dropped,
        total_rows=len(table),
        usable_rows=usable,
    )


# Which columns


def _named(table: pd.DataFrame, what: str) -> pd.DataFrame:
    """Return the table with texts as column names."""
    table = table.set_axis([str(name) for name in table.columns], axis=1)
    repeated = table.columns[table.columns.duplicated()]
    if len(repeated):
        raise InputError(f"the {what} has more than one column named {repeated[0]!r}: names must differ")
    if table.empty:
        raise InputError(f"the {what} has no rows")
    return table


def _inputs(table: pd.DataFrame, target: str, features: Sequence[str] | None, drop: Sequence[str] | None) -> list[str]:
    for name in (target, *_listing(features), *_listing(drop)):
        if name not in table.columns:
            raise _unknown_column("table", name, table.columns)
    if target in _listing(features):
        raise InputError(f"the target {target!r} cannot be an input as well")
    if target in _listing(drop):
        raise InputError(f"the target {target!r} cannot be dropped")
    chosen = table.columns if features is None else dict.fromkeys(_listing(features))
    inputs = [name for name in chosen if name != target and name not in _listing(drop)]
    if not inputs:
        raise InputError(f"no input is left beside the target {target!r}: at least one column is needed")
    return inputs


def _listing(names: Sequence[str] | None) -> list[str]:
    return [names] if isinstance(names, str) else list(names or ())


def _unknown_column(what: str, given: str, known: Iterable[str]) -> InputError:
    folded = {name.casefold(): name for name in known}
    near = difflib.get_close_matches(given.casefold(), folded, n=1, cutoff=0.5)
    hint = f"did you mean {folded[near[0]]!r}? " if near else ""
    if all(is_number(name, ".") for name in folded):
        hint += "a header may be missing, "
    return InputError(f"the {what} has no column {given!r}: {hint}it has {_enumerated(list(known))}")


# Which rows


@dataclass
class _Draft:
    """Rows and columns that are left, while a table is being prepared."""

    target: str
    rows: npt.NDArray[np.intp]
    y: FloatArray
    columns: dict[str, Column]
    values: dict[str, Values]
    steps: list[str]
    losses: list[str] = field(default_factory=list)
    dropped: dict[str, str] = field(default_factory=dict)

    def keep(self, mask: Mask) -> None:
        """Keep some rows."""
        self.rows, self.y = self.rows[mask], self.y[mask]
        self.values = {name: values[mask] for name, values in self.values.items()}

    def lose(self, mask: Mask, why: str) -> None:
        """Drop some rows and say so."""
        if mask.any():
            self.losses.append(f"{_count(mask.sum(), 'row')} {why}")
            self.steps.append(f"Dropped {self.losses[-1]}.")
            self.keep(~mask)

    def screen(self, *, keep_identifiers: bool) -> None:
        """Leave out columns that cannot be used, with a reason for each."""
        reasons: dict[str, str] = {}
        for name, values in self.values.items():
            reason = _defect(values)
            if not (reason or keep_identifiers) and self.columns[name].kind == "number":
                reason = _identity(name, values, self.rows)
            if reason:
                reasons[name] = reason
        self.dropped.update(reasons)
        self.values = {name: values for name, values in self.values.items() if name not in reasons}
        told = _enumerated([f"{name!r} ({reason})" for name, reason in reasons.items()], quote=False, most=30)
        if not self.values:
            raise InputError(
                f"no column can be used as an input: {told}; identifiers are kept if --features names them"
            )
        if reasons:
            self.steps.append(f"Left out {_count(len(reasons), 'column')}: {told}.")

    def describe_reading(self) -> None:
        """Say how cells that were not plain numbers were read."""
        alike: dict[str, list[str]] = {}
        for name in (self.target, *self.values):
            alike.setdefault(self.columns[name].words, []).append(name)
        self.steps.extend(f"Read {_enumerated(names)} as {words}." for words, names in alike.items() if words)

    def settle_missing(self, fillers: Mapping[str, float | str] | None) -> None:
        """Fill missing cells in, or drop their rows."""
        gone = {name: is_missing(values) for name, values in self.values.items()}
        told = _enumerated([f"{name!r}: {mask.sum():,}" for name, mask in gone.items() if mask.any()], quote=False)
        if fillers is None:
            self.lose(np.any(list(gone.values()), axis=0), f"with a missing input ({told})")
        elif told:
            cells = sum(int(mask.sum()) for mask in gone.values())
            self.values = {name: filled(values, fillers[name]) for name, values in self.values.items()}
            how = "the median of numbers, the category 'missing' of texts"
            self.steps.append(f"Filled in {_count(cells, 'missing cell')} with {how} ({told}).")

    def drop_repeats(self) -> None:
        """Drop copies of rows, unless it is natural that rows repeat."""
        inputs = pd.DataFrame(dict(enumerate(self.values.values())))
        rows = inputs.assign(target=self.y)
        copies = rows.duplicated().to_numpy()
        if copies.any() and _repeats_are_natural(inputs, rows):
            self.steps.append(
                f"Kept {_count(copies.sum(), 'row')} equal to another one: with values this coarse that is no sign of copies."
            )
        else:
            self.lose(copies, "equal to another one in the target and every input")

    def check_rows(self, given: int) -> None:
        """Refuse fewer rows than anything can be said about."""
        if len(self.y) < _FEWEST_ROWS:
            raise InputError(
                f"at least {_FEWEST_ROWS} usable rows are needed, got {len(self.y)} of {_count(given, 'row')}"
                + self.told_losses()
            )

    def told_losses(self) -> str:
        """Say which rows are missing, at the end of an error."""
        hint = (
            "; --missing impute fills missing inputs in" if any("missing input" in loss for loss in self.losses) else ""
        )
        return f": left out were {', '.join(self.losses)}{hint}" if self.losses else ""

    def describe_design(self, parts: Sequence[Part]) -> None:
        """Say what became of texts, and what is left."""
        categorical = [part for part in parts if part.levels]
        if categorical:
            told = _enumerated([_told(part) for part in categorical], quote=False)
            how = "a 0/1 design column for each category, a single one where there are two"
            self.steps.append(f"Turned texts into categories, with {how}: {told}.")
        columns = sum(len(part.names) for part in parts)
        inputs = f"{_count(len(parts), 'input')}: {_enumerated([part.source for part in parts], most=30)}"
        self.steps.append(f"Used {_count(len(self.y), 'row')} and {_count(columns, 'design column')} from {inputs}.")


def _read(
    table: pd.DataFrame,
    rows: npt.NDArray[np.intp],
    target: str,
    inputs: Sequence[str],
    decimal: str,
    steps: list[str],
) -> _Draft:
    """Read the target, drop rows without one, and read the inputs of the others."""
    column = interpret(table[target], decimal)
    if column.kind != "number":
        words = [word for word in texts(table[target]) if word is not None]
        example = next((word for word in words if not is_number(word, decimal)), words[0])
        kind = {"flag": "true or false", "date": "dates", "text": "text"}[column.kind]
        raise InputError(
            f"the target {target!r} holds {kind}, such as {example!r}: "
            "this is a tool for regression, the target must be numbers"
        )
    y = column.read(table[target])
    if np.isnan(y).all():
        raise InputError(f"the target {target!r} has no values")
    draft = _Draft(target, rows, y, {target: column}, {}, steps)
    known = ~np.isnan(y)
    draft.lose(~known, f"without a value of the target {target!r}")
    draft.check_rows(len(table))
    _check_constant(target, draft.y)
    labelled = table[known]
    for name in inputs:
        draft.columns[name] = interpret(labelled[name], decimal)
        draft.values[name] = draft.columns[name].read(labelled[name])
    return draft


def _repeats_are_natural(inputs: pd.DataFrame, rows: pd.DataFrame) -> bool:
    """Tell whether rows repeat because their values are few or coarse, not because they were copied.

    Of two rows with equal inputs, copies have equal targets always, others about as often as any two rows; the line is
    drawn halfway. Where all columns have few values, and the target's occur with different inputs, nothing is a copy.
    """
    chance = _equal_pairs(rows["target"]) / math.comb(len(rows), 2)
    if _equal_pairs(rows) < (1 + chance) / 2 * _equal_pairs(inputs):
        return True
    recurring = rows["target"].nunique() < len(rows.drop_duplicates())
    return recurring and all(has_few_values(rows[name].to_numpy()) for name in rows)


def _equal_pairs(rows: pd.DataFrame | pd.Series[float]) -> int:
    counts = pd.util.hash_pandas_object(rows, index=False).value_counts()
    return int((counts * (counts - 1)).sum()) // 2


def _drawn(count: int, most: int, generator: np.random.Generator) -> npt.NDArray[np.intp]:
    """Return the places of at most so many, drawn at random, in order."""
    if count <= most:
        return np.arange(count)
    return np.sort(generator.choice(count, most, replace=False, shuffle=False))


def _defect(values: Values) -> str:
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
    return "" if levels(present) else f"too many categories, {distinct:,} in {len(present):,} rows"


def _identity(name: str, values: FloatArray, rows: npt.NDArray[np.intp]) -> str:
    """Return why a column of numbers must be an identifier, or nothing."""
    known = ~np.isnan(values)
    if any(np.array_equal(values[known], rows[known] + start) for start in (0, 1)):
        return "an identifier, it counts the rows"
    distinct = known.all() and len(np.unique(values)) == len(values) and np.array_equal(values, np.round(values))
    return "an identifier, a different whole number in every row" if distinct and _ID_NAME.fullmatch(name) else ""


# The pool, and what is refused


def _pool(
    pool: pd.DataFrame,
    parts: Sequence[Part],
    draft: _Draft,
    fillers: Mapping[str, float | str] | None,
    generator: np.random.Generator,
) -> FloatArray:
    """Return the pool in the design of the table, without rows that cannot be expressed in it."""
    pool = _named(pool, "pool")
    for part in parts:
        if part.source not in pool.columns:
            raise _unknown_column("pool", part.source, pool.columns)
    said = [f"Read the pool of {_count(len(pool), 'row')}"]
    rows = _drawn(len(pool), _MOST_LOOKED_AT, generator)
    if len(rows) < len(pool):
        said.append(f"drew {_count(len(rows), 'row')} of it at random")
    pool = pool.iloc[rows]
    values = {part.source: draft.columns[part.source].read(pool[part.source]) for part in parts}
    gone = np.any([is_missing(cells) for cells in values.values()], axis=0)
    if gone.any():
        how = "dropped" if fillers is None else "filled in missing inputs of"
        said.append(f"{how} {_count(gone.sum(), 'row')}{' with a missing input' if fillers is None else ''}")
    for name in values:
        values[name] = values[name][~gone] if fillers is None else filled(values[name], fillers[name])
    X = np.hstack([part.encode(values[part.source]) for part in parts])
    unknown = np.isnan(X).any(axis=1)
    new = [f"{part.source}={text}" for part in parts if part.levels for text in set(values[part.source]) - part.seen]
    if new:
        fate = f"dropped {_count(unknown.sum(), 'row')} for it" if unknown.any() else "took it as 'other'"
        said.append(f"met categories that no row with a target has ({_enumerated(sorted(new))}) and {fate}")
    sentence = ", ".join(said)
    if unknown.all():
        raise InputError(f"no row of the pool can be used: {sentence[0].lower()}{sentence[1:]}")
    draft.steps.append(f"{sentence}.")
    return frozen(X[~unknown])


def _told(part: Part) -> str:
    merged = part.seen - set(part.levels)
    rest = f", {len(merged):,} rare ones of them together as 'other'" if merged else ""
    return f"{part.source!r} ({len(part.seen):,} categories{rest})"


def _check_constant(target: str, y: FloatArray) -> None:
    if np.ptp(y) == 0:
        raise InputError(f"the target {target!r} is {y[0]:g} in every row: there is nothing to learn")


def _check_shape(X: FloatArray, parts: Sequence[Part], draft: _Draft) -> None:
    rows, columns = X.shape
    if columns > rows:
        largest = sorted(parts, key=lambda part: -len(part.names))[:3]
        told = ", ".join(f"{part.source!r} ({len(part.names)})" for part in largest if len(part.names) > 1)
        most = f", most of them from {told}" if told else ""
        raise InputError(
            f"{columns} design columns{most}, but only {rows} rows; choose fewer inputs with --features{draft.told_losses()}"
        )


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _enumerated(items: Sequence[str], *, quote: bool = True, most: int = 12) -> str:
    shown = [repr(item) if quote else item for item in items[:most]]
    rest = f" and {len(items) - most:,} more" if len(items) > most else ""
    return ", ".join(shown) + rest
