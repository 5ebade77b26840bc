"""From a table to a design matrix: numbers only, with a sentence for everything that was done on the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from gpcurves.errors import InputError
from gpcurves.numerics.validation import FloatArray, frozen, integer
from gpcurves.tables.choosing import check_column, choose_inputs, list_names, name_columns
from gpcurves.tables.draft import (
    Draft,
    check_enough_rows,
    check_target_varies,
    describe_readings,
    drop_copies,
    read_columns,
    screen_columns,
    settle_missing,
)
from gpcurves.tables.encoding import (
    ColumnEncoding,
    choose_encoding,
    choose_filler,
    describe_design,
    fill_missing,
    is_missing,
)
from gpcurves.tables.rows import FEWEST_ROWS
from gpcurves.tables.words import count, enumerate_names

_MOST_LOOKED_AT = 20_000  # rows of a longer table, or pool, that are drawn at random before anything else

Fillers = Mapping[str, float | str]


@dataclass(frozen=True, eq=False)
class Prepared:
    """Inputs and targets as numbers, and what was done to get them.

    ``X`` and ``pool`` have one column per design column, which ``names`` names (``colour=red`` for a category) and
    ``sources`` traces to the table's column. ``steps`` are sentences, ``dropped`` says why a column of the table is not
    used, and ``usable_rows`` how many rows could have been used (about, if not all were looked at).
    """

    X: FloatArray
    y: FloatArray
    names: tuple[str, ...]
    sources: tuple[str, ...]
    pool: FloatArray | None
    target: str
    steps: tuple[str, ...]
    dropped: Mapping[str, str]
    usable_rows: int


def prepare(
    table: pd.DataFrame,
    target: str,
    *,
    features: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
    pool: pd.DataFrame | None = None,
    missing: Literal["drop", "impute"] = "drop",
    rng: int | np.random.Generator = 0,
    most_rows: int = 1_000,
) -> Prepared:
    """Turn a table as people keep them into a design matrix.

    Numbers may have thousands separators, percent and currency signs. Dates become days since the first one, yes and
    no 1 and 0, texts with few different values categories: one design column for each, a single one if there are
    two, rare ones together as "other". Identifiers (unless asked for by ``features``), free text, constant columns and
    columns that are mostly missing are left out. Rows without a target are dropped; so are, with ``missing="drop"``,
    rows with a missing input, which ``"impute"`` fills with the median or the category "missing". Rows that
    repeat another one exactly are dropped, unless values are so coarse that repeats are natural.
    Of more than ``most_rows`` rows, that many are drawn at random.
    """
    if missing not in ("drop", "impute"):
        raise InputError(f"missing must be 'drop' or 'impute', got {missing!r}")
    most_rows = integer("most_rows", most_rows, FEWEST_ROWS)
    generator = np.random.default_rng(rng)
    table = name_columns(table, "table")
    inputs = choose_inputs(table, target, features, drop)
    steps = [str(step) for step in table.attrs.get("steps", ())]
    positions = _draw_positions(len(table), max(_MOST_LOOKED_AT, 2 * most_rows), generator)
    if len(positions) < len(table):
        steps.append(f"Looked at {len(positions):,} rows, drawn at random from {len(table):,}.")

    decimal = str(table.attrs.get("decimal", "."))
    draft = read_columns(table.iloc[positions], positions, target, inputs, decimal, steps)
    draft = replace(draft, dropped=dict.fromkeys(list_names(drop), "left out as asked"))
    draft = describe_readings(screen_columns(draft, keep_identifiers=features is not None))
    fillers = {name: choose_filler(values) for name, values in draft.values.items()} if missing == "impute" else None
    draft = drop_copies(settle_missing(draft, fillers))
    check_enough_rows(draft, len(table))
    usable = len(draft.y)
    if usable > most_rows:
        draft = draft.say(f"Drew {most_rows:,} rows at random from {usable:,}.")
        draft = draft.keep(np.isin(np.arange(usable), _draw_positions(usable, most_rows, generator)))
    # a column may have become constant, and so may the target, with the rows that are gone
    draft = screen_columns(draft, keep_identifiers=features is not None)
    check_target_varies(draft)

    encodings = [choose_encoding(name, values) for name, values in draft.values.items()]
    X = _encode(encodings, draft.values)
    _check_shape(X, encodings, draft)
    draft = draft.say(*describe_design(encodings, len(X)))
    design = None
    if pool is not None:
        design, sentence = _encode_pool(pool, encodings, draft, fillers, generator)
        draft = draft.say(sentence)
    return Prepared(
        X=frozen(X),
        y=frozen(draft.y),
        names=tuple(name for encoding in encodings for name in encoding.names),
        sources=tuple(encoding.source for encoding in encodings for _ in encoding.names),
        pool=design,
        target=target,
        steps=draft.steps,
        dropped=draft.dropped,
        usable_rows=round(len(table) * usable / len(positions)),
    )


def _draw_positions(number: int, most: int, generator: np.random.Generator) -> npt.NDArray[np.intp]:
    """Return the positions of at most so many, drawn at random, in order."""
    if number <= most:
        return np.arange(number)
    return np.sort(generator.choice(number, most, replace=False, shuffle=False))


def _encode(encodings: Sequence[ColumnEncoding], values: Mapping[str, npt.NDArray[np.generic]]) -> FloatArray:
    return np.hstack([encoding.encode(values[encoding.source]) for encoding in encodings])


def _check_shape(X: FloatArray, encodings: Sequence[ColumnEncoding], draft: Draft) -> None:
    rows, columns = X.shape
    if columns > rows:
        largest = sorted(encodings, key=lambda encoding: -len(encoding.names))[:3]
        listed = ", ".join(f"{each.source!r} ({len(each.names)})" for each in largest if len(each.names) > 1)
        most = f", most of them from {listed}" if listed else ""
        raise InputError(
            f"{columns} design columns{most}, but only {rows} rows; choose fewer inputs with --features"
            + draft.describe_losses()
        )


def _encode_pool(
    pool: pd.DataFrame,
    encodings: Sequence[ColumnEncoding],
    draft: Draft,
    fillers: Fillers | None,
    generator: np.random.Generator,
) -> tuple[FloatArray, str]:
    """Return the pool in the design of the table, without rows that cannot be expressed in it, and a sentence about it."""
    pool = name_columns(pool, "pool")
    for encoding in encodings:
        check_column("pool", encoding.source, pool.columns)
    said = [f"Read the pool of {count(len(pool), 'row')}"]
    positions = _draw_positions(len(pool), _MOST_LOOKED_AT, generator)
    if len(positions) < len(pool):
        said.append(f"drew {count(len(positions), 'row')} of it at random")
    pool = pool.iloc[positions]
    values = {each.source: draft.readings[each.source].read(pool[each.source]) for each in encodings}
    gone = np.any([is_missing(cells) for cells in values.values()], axis=0)
    if gone.any():
        how = "dropped" if fillers is None else "filled in missing inputs of"
        said.append(f"{how} {count(gone.sum(), 'row')}{' with a missing input' if fillers is None else ''}")
    for name in values:
        values[name] = values[name][~gone] if fillers is None else fill_missing(values[name], fillers[name])
    X = _encode(encodings, values)
    unknown = np.isnan(X).any(axis=1)
    new = [
        f"{each.source}={text}" for each in encodings if each.levels for text in set(values[each.source]) - each.seen
    ]
    if new:
        fate = f"dropped {count(unknown.sum(), 'row')} for it" if unknown.any() else "took it as 'other'"
        said.append(f"met categories that no row with a target has ({enumerate_names(sorted(new))}) and {fate}")
    sentence = ", ".join(said)
    if unknown.all():
        raise InputError(f"no row of the pool can be used: {sentence[0].lower()}{sentence[1:]}")
    return frozen(X[~unknown]), f"{sentence}."
