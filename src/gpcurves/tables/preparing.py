"""From a table to a design matrix: numbers only, with a sentence for everything that was done on the way."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd

from gpcurves.errors import InputError
from gpcurves.numerics.randomness import generator_of
from gpcurves.numerics.validation import FloatArray, frozen, integer
from gpcurves.tables import columns
from gpcurves.tables.cells import Reading, Values, as_texts, check_cells, interpret, is_number
from gpcurves.tables.classes import check_classes, keep_present, read_classes
from gpcurves.tables.columns import enumerate_names
from gpcurves.tables.design import TableDesign
from gpcurves.tables.encoding import Categories, Dates, choose_encoding
from gpcurves.tables.rows import FEWEST_GROUPS, FEWEST_ROWS, Prepared, draw_whole

Missing = Literal["auto", "drop", "impute"]
Task = Literal["numbers", "classes"]
Names = Hashable | Sequence[Hashable]
"""One name of a column, or several; None for no choice."""
_FEW_AFFECTED = 0.05  # share of the rows with a missing input that are dropped; if there are more, cells are filled in
_MOST_LOOKED_AT = 20_000  # rows of a longer table, or pool, that are drawn at random before anything else


def prepare(  # noqa: PLR0913  (what a person may say about a table, by keyword)
    table: pd.DataFrame,
    target: Hashable,
    *,
    features: Names = None,
    drop: Names = None,
    pool: pd.DataFrame | None = None,
    missing: Missing = "auto",
    groups: Hashable = None,
    noise: Hashable = None,
    task: Task = "numbers",
    rng: int | np.random.Generator = 0,
    most_rows: int = 1_000,
) -> Prepared:
    """Turn a table as people keep them into a design matrix.

    Numbers may have thousands separators, percent and currency signs. Dates become days since the first one, and where they
    tell them apart season, weekday and hour. Yes and no become 1 and 0, the words of a known scale (low, medium, high) their
    places on it, other texts categories: one design column for each, and one for those that no row has. Identifiers (unless
    asked for by ``features``), free text, constant columns and columns that are mostly missing are left out. Rows without a
    target are dropped; so are, with ``missing="drop"``, rows with a missing input, which ``"impute"`` fills with the median or
    the category "missing"; ``"auto"`` drops them if they are at most one in twenty. Rows that repeat another one exactly are
    dropped, unless values are so coarse that repeats are natural. Of more than ``most_rows`` rows, that many are drawn at
    random.

    The column ``groups`` says which rows belong together, the column ``noise`` has the standard error of each target: both are
    no inputs, and rows without them are dropped. With the ``task`` "classes", the target is the number of the class in ``classes``,
    counted from 0.
    """
    if missing not in get_args(Missing):
        raise InputError(f"missing must be 'auto', 'drop' or 'impute', got {missing!r}")
    most_rows = integer("most_rows", most_rows, FEWEST_ROWS)
    generator = generator_of(rng)
    chosen = None if features is None else columns.spell_names(features, table)
    target, drop = columns.spell_names([target], table)[0], columns.spell_names(() if drop is None else drop, table)
    aside = {
        role: columns.spell_names([name], table)[0]
        for role, name in (("groups", groups), ("noise", noise))
        if name is not None
    }
    table = columns.name_columns(table, "table")
    columns.check_aside(table, target, chosen, aside)
    inputs = columns.choose_inputs(table, target, chosen, [*drop, *aside.values()])
    steps = [str(step) for step in table.attrs.get("steps", ())]
    most_examined = max(_MOST_LOOKED_AT, 2 * most_rows)
    if "groups" in aside and len(table) > most_examined:
        positions = draw_whole(as_texts(table[aside["groups"]]), most_examined, generator)
    else:
        positions = _draw_positions(len(table), most_examined, generator)
    if len(positions) < len(table):
        steps.append(f"Examined {len(positions):,} rows, drawn at random from {len(table):,}.")

    decimal = str(table.attrs.get("decimal", "."))
    used = {target, *inputs, *aside.values()}
    unused = dict.fromkeys([name for name in table.columns if name not in used], "left out as asked")
    draft = Draft(target, positions, steps=tuple(steps), dropped=unused, task=task)
    draft = _read_columns(draft, table.iloc[positions], inputs, aside, decimal)
    draft = _describe_readings(_screen_columns(draft, keep_identifiers=features is not None))
    draft = _drop_copies(_settle_missing(draft, missing))
    draft.check_enough_rows(len(table))
    usable = len(draft.y)
    usable_groups = len(set(draft.aside["groups"])) if "groups" in draft.aside else 0
    if usable > most_rows:
        if "groups" in draft.aside:
            drawn = draw_whole(draft.aside["groups"], most_rows, generator)
        else:
            drawn = _draw_positions(usable, most_rows, generator)
        draft = draft.say(f"Drew {len(drawn):,} rows at random from {usable:,}.")
        draft = draft.keep(np.isin(np.arange(usable), drawn))
    # a column may have become constant, and so may the target, with the rows that are gone
    draft = _screen_columns(draft, keep_identifiers=features is not None)
    draft.check_target_varies()
    if task == "classes":
        codes, names = keep_present(draft.y, draft.classes)
        draft = replace(draft, y=codes, classes=names)
        check_classes(target, codes, names)

    encodings = tuple(choose_encoding(name, values, draft.readings[name]) for name, values in draft.values.items())
    design = TableDesign(draft.readings, encodings, draft.fillers, draft.filled)
    X = design.encode(draft.values, fill=False)  # nothing is missing any more
    _check_shape(X, design, draft)
    draft = _describe_design(draft, design, X)
    unlabelled = places = None
    if pool is not None:
        pool = columns.name_columns(pool, "pool")
        unlabelled, places, sentence = _encode_pool(pool, design, draft.filled, generator)
        draft = draft.say(sentence)
    return Prepared(
        X=frozen(X),
        y=frozen(draft.y),
        pool=unlabelled,
        sources=design.sources,
        blocks=design.blocks,
        target=target,
        usable_rows=round(len(table) * usable / len(positions)),
        usable_groups=round(len(table) * usable_groups / len(positions)),
        steps=draft.steps,
        names=design.names,
        dropped=draft.dropped,
        design=design,
        groups=_number_groups(draft.aside.get("groups"), draft.target),
        group_column=aside.get("groups", ""),
        errors=draft.aside.get("noise"),
        imputed=draft.imputed,
        pool_rows=places,
        pool_table=pool,
        classes=draft.classes,
    )


def _number_groups(names: Values | None, target: str) -> npt.NDArray[np.int64] | None:
    if names is None:
        return None
    groups = np.unique(names.astype(str), return_inverse=True)[1].astype(np.int64)
    if groups.max() + 1 < FEWEST_GROUPS:
        raise InputError(
            f"a forecast of {target!r} for new groups needs at least {FEWEST_GROUPS}, got {groups.max() + 1}"
        )
    return groups


@dataclass(frozen=True)
class Draft:
    """What is left of a table while it is prepared: every step takes a draft and returns another, with a sentence about it.

    ``y`` are the values of the target, ``values`` those of each input, ``aside`` groups and standard errors of rows. ``positions`` are those of the rows in the table,
    ``readings`` say how the cells of each column are read, the target included; ``classes`` are the names of those that it has. ``steps`` are sentences about what was
    done, ``losses`` words about rows that were dropped, and ``dropped`` says why a column is not used. ``fillers`` stand for
    missing cells, if those are ``filled`` in, as in the share ``imputed`` of the rows.
    """

    target: str
    positions: npt.NDArray[np.intp]
    aside: Mapping[str, Values] = field(default_factory=dict)
    y: FloatArray = field(default_factory=lambda: np.empty(0))
    readings: Mapping[str, Reading] = field(default_factory=dict)
    values: Mapping[str, Values] = field(default_factory=dict)
    steps: tuple[str, ...] = ()
    losses: tuple[str, ...] = ()
    dropped: Mapping[str, str] = field(default_factory=dict)
    fillers: Mapping[str, float | str] = field(default_factory=dict)
    filled: bool = False
    imputed: float = 0.0
    task: Task = "numbers"
    classes: tuple[str, ...] = ()

    def say(self, *sentences: str) -> Draft:
        """Add to what was done."""
        return replace(self, steps=(*self.steps, *sentences))

    def keep(self, mask: npt.NDArray[np.bool_]) -> Draft:
        """Keep some rows."""
        values = {name: values[mask] for name, values in self.values.items()}
        aside = {role: values[mask] for role, values in self.aside.items()}
        return replace(self, y=self.y[mask], positions=self.positions[mask], values=values, aside=aside)

    def lose(self, mask: npt.NDArray[np.bool_], why: str) -> Draft:
        """Drop some rows and say so."""
        if not mask.any():
            return self
        loss = f"{_count(mask.sum(), 'row')} {why}"
        return replace(self.keep(~mask).say(f"Dropped {loss}."), losses=(*self.losses, loss))

    def describe_losses(self) -> str:
        """Say which rows are missing, at the end of an error."""
        missing = any("missing input" in loss for loss in self.losses)
        hint = "; --missing impute fills missing inputs in" if missing else ""
        return f": left out were {', '.join(self.losses)}{hint}" if self.losses else ""

    def check_enough_rows(self, given: int) -> None:
        """Refuse fewer rows than anything can be said about."""
        if len(self.y) < FEWEST_ROWS:
            need = f"at least {FEWEST_ROWS} usable rows are needed, got {len(self.y)} of {_count(given, 'row')}"
            raise InputError(need + self.describe_losses())

    def check_target_varies(self) -> None:
        """Refuse a target that is the same in every row."""
        if np.ptp(self.y) == 0:
            value = repr(self.classes[int(self.y[0])]) if self.classes else f"{self.y[0]:g}"
            raise InputError(f"the target {self.target!r} is {value} in every row: there is nothing to learn")


def _count(number: int, what: str) -> str:
    """Write a number of things: "1 row", "2 rows"."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _draw_positions(number: int, most: int, generator: np.random.Generator) -> npt.NDArray[np.intp]:
    """Return the positions of at most so many, drawn at random, in order."""
    if number <= most:
        return np.arange(number)
    return np.sort(generator.choice(number, most, replace=False, shuffle=False))


def _read_columns(
    draft: Draft, table: pd.DataFrame, inputs: Sequence[str], aside: Mapping[str, str], decimal: str
) -> Draft:
    """Read the target, drop rows without one, and read the inputs of the others."""
    target = draft.target
    for name in (target, *inputs, *aside.values()):
        check_cells(name, table[name])
    reading = interpret(table[target], decimal)
    if draft.task == "classes":
        y, names = read_classes(target, table[target])
        draft, reading = replace(draft, classes=names), Reading("text", as_texts)
    elif reading.kind != "number":
        words = [word for word in as_texts(table[target]) if word is not None]
        example = next((word for word in words if not is_number(word, decimal)), words[0])
        kind = {"flag": "true or false", "date": "dates", "text": "text"}[reading.kind]
        raise InputError(
            f"the target {target!r} holds {kind}, such as {example!r}: numbers are needed; if these are classes, ask for "
            "--task classes"
        )
    else:
        y = reading.read(table[target])
    known = ~np.isnan(y)
    if not known.any():
        raise InputError(f"the target {target!r} has no values")
    draft = replace(draft, y=y).lose(~known, f"without a value of the target {target!r}")
    draft.check_enough_rows(len(table))
    draft.check_target_varies()
    labelled = table[known]
    if aside:
        draft = replace(draft, aside=_read_aside(labelled, aside, decimal))
        unknown = np.any([pd.isna(values) for values in draft.aside.values()], axis=0)
        labelled = labelled[~unknown]
        draft = draft.lose(unknown, f"without a value of {enumerate_names(list(aside.values()))}")
        draft.check_enough_rows(len(table))
    readings = {name: interpret(labelled[name], decimal) for name in inputs}
    values = {name: readings[name].read(labelled[name]) for name in inputs}
    return replace(draft, readings={target: reading, **readings}, values=values)


def _read_aside(table: pd.DataFrame, aside: Mapping[str, str], decimal: str) -> dict[str, Values]:
    """Return groups as texts, and standard errors as numbers."""
    found: dict[str, Values] = {}
    if "groups" in aside:
        found["groups"] = as_texts(table[aside["groups"]])
    if "noise" in aside:
        name = aside["noise"]
        reading = interpret(table[name], decimal)
        values = reading.read(table[name]) if reading.kind == "number" else np.array([-1.0])
        if not (np.isnan(values) | (values > 0)).all():
            raise InputError(f"the column {name!r} must hold standard errors of the target: positive numbers")
        found["noise"] = values
    return found


def _screen_columns(draft: Draft, *, keep_identifiers: bool) -> Draft:
    """Leave out columns that cannot be used, with a reason for each."""
    reasons: dict[str, str] = {}
    groups = draft.aside.get("groups")
    for name, values in draft.values.items():
        reason = columns.find_defect(values)
        if not (reason or keep_identifiers) and groups is not None and draft.readings[name].kind == "text":
            reason = columns.find_other_name(values, groups)
        if not (reason or keep_identifiers) and draft.readings[name].kind == "number":
            reason = columns.find_identity(name, values, draft.positions)
        if reason:
            reasons[name] = reason
    if not reasons:
        return draft
    listed = enumerate_names([f"{name!r} ({reason})" for name, reason in reasons.items()], quote=False, most=30)
    kept = {name: values for name, values in draft.values.items() if name not in reasons}
    if not kept:
        raise InputError(f"no column can be used as an input: {listed}; identifiers are kept if --features names them")
    draft = replace(draft, values=kept, dropped={**draft.dropped, **reasons})
    return draft.say(f"Left out {_count(len(reasons), 'column')}: {listed}.")


def _describe_readings(draft: Draft) -> Draft:
    """Say how cells that were not plain numbers were read."""
    alike: dict[str, list[str]] = {}
    for name in (draft.target, *draft.values):
        alike.setdefault(draft.readings[name].words, []).append(name)
    return draft.say(*(f"Read {enumerate_names(names)} as {words}." for words, names in alike.items() if words))


def _settle_missing(draft: Draft, missing: Missing) -> Draft:
    """Fill missing cells in, or drop their rows."""
    gone = {name: pd.isna(values) for name, values in draft.values.items()}
    cells = {name: int(mask.sum()) for name, mask in gone.items() if mask.any()}
    listed = enumerate_names([f"{name!r}: {number:,}" for name, number in cells.items()], quote=False)
    affected = np.any(list(gone.values()), axis=0)
    fillers = {name: columns.choose_filler(values) for name, values in draft.values.items()}
    draft = replace(draft, fillers=fillers)
    if missing == "drop" or (missing == "auto" and affected.mean() <= _FEW_AFFECTED):
        return draft.lose(affected, f"with a missing input ({listed})")
    draft = replace(draft, filled=True, imputed=float(affected.mean()))
    if not cells:
        return draft
    filled = {name: columns.fill_missing(values, fillers[name]) for name, values in draft.values.items()}
    how = "the median of numbers, the category 'missing' of texts"
    return replace(draft, values=filled).say(
        f"Filled in {_count(sum(cells.values()), 'missing cell')} with {how} ({listed})."
    )


def _drop_copies(draft: Draft) -> Draft:
    """Drop copies of rows, unless it is natural that rows repeat."""
    inputs = pd.DataFrame(dict(enumerate(draft.values.values())))
    groups = {"group": draft.aside["groups"]} if "groups" in draft.aside else {}
    rows = inputs.assign(**groups, target=draft.y)
    copies = rows.duplicated().to_numpy()
    if not (copies.any() and _repeats_are_natural(inputs.assign(**groups), rows)):
        return draft.lose(copies, "equal to another one in the target and every input")
    return draft.say(
        f"Kept {_count(copies.sum(), 'row')} that equal another one: with values this coarse, repeats are expected."
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
    return recurring and all(columns.has_few_values(rows[name].to_numpy()) for name in rows if name != "group")


def _equal_pairs(rows: pd.DataFrame | pd.Series[float]) -> int:
    counts = pd.util.hash_pandas_object(rows, index=False).value_counts()
    return int((counts * (counts - 1)).sum()) // 2


def _check_shape(X: FloatArray, design: TableDesign, draft: Draft) -> None:
    rows, count = len(X), design.blocks[-1] + 1
    if count > rows:
        few = f"{count} inputs, but only {rows} rows; choose fewer inputs with --features"
        raise InputError(few + draft.describe_losses())


def _describe_design(draft: Draft, design: TableDesign, X: FloatArray) -> Draft:
    """Say what texts and dates became, and what is used."""
    encodings = design.encodings
    categories = enumerate_names([each.describe() for each in encodings if isinstance(each, Categories)], quote=False)
    if categories:
        draft = draft.say(f"One-hot encoded the text columns: {categories}.")
    dates = [each.describe() for each in encodings if isinstance(each, Dates) and each.parts]
    if dates:
        draft = draft.say(f"Encoded dates: {enumerate_names(dates, quote=False)}.")
    rows, width = _count(X.shape[0], "row"), _count(X.shape[1], "design column")
    sources = enumerate_names([encoding.source for encoding in encodings], most=30)
    return draft.say(f"Used {rows} and {width} from {_count(len(encodings), 'input')}: {sources}.")


def _encode_pool(
    pool: pd.DataFrame, design: TableDesign, fill: bool, generator: np.random.Generator
) -> tuple[FloatArray, npt.NDArray[np.intp], str]:
    """Return the rows of a pool that the design of the table can express, their positions, and a sentence about it."""
    said = [f"Read the pool of {_count(len(pool), 'row')}"]
    positions = _draw_positions(len(pool), _MOST_LOOKED_AT, generator)
    if len(positions) < len(pool):
        said.append(f"drew {_count(len(positions), 'row')} of it at random")
    values = design.read(pool.iloc[positions], "pool")
    gone = np.any([pd.isna(cells) for cells in values.values()], axis=0)
    if gone.any():
        how = "filled in missing inputs of" if fill else "dropped"
        said.append(f"{how} {_count(gone.sum(), 'row')}{'' if fill else ' with a missing input'}")
    if not fill:
        values = {name: cells[~gone] for name, cells in values.items()}
        positions = positions[~gone]
    X = design.encode(values, fill=fill)
    unknown = np.isnan(X).any(axis=1)
    new = design.find_new(values)
    if new:
        said.append(f"found categories that no labelled row has ({enumerate_names(new)}) and treated them as 'other'")
    sentence = ", ".join(said)
    if gone.all() and not fill:
        raise InputError(f"no row of the pool can be used: {sentence[0].lower()}{sentence[1:]}")
    return frozen(X[~unknown]), positions[~unknown], f"{sentence}."
