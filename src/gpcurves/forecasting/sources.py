"""What people give to be forecast from: a table, arrays, a graph or a fitted model, and what has no meaning for it."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pandas as pd

from gpcurves.errors import InputError, check_name
from gpcurves.forecasting.effort import Computation
from gpcurves.forecasting.units import UNNAMED, Unit, is_plural, name_groups
from gpcurves.graphs import Graph
from gpcurves.tables import rows as reading
from gpcurves.tables.cells import as_texts, check_cells
from gpcurves.tables.classes import recognise
from gpcurves.tables.columns import check_column, enumerate_names, is_name, name_columns, spell_names
from gpcurves.tables.files import read_table
from gpcurves.tables.frames import as_column, as_frame, is_table, name_array
from gpcurves.tables.preparing import Task, prepare
from gpcurves.tables.rows import FEWEST_GROUPS, Prepared, Rows

_QUANTITIES = ("field", "session", "trial")  # where numbers are strengths and turns more often than names
_FEWEST_OF_A_GROUP = 2  # rows, on average, of what is a group
_SAME_TARGET = 1e-3  # targets, in standard deviations, that differ by less may be those of a function without noise


def is_graph(source: object) -> bool:
    """Tell whether somebody gave a graph instead of a table: one of this package, of NetworkX or of igraph."""
    return isinstance(source, Graph) or type(source).__module__.partition(".")[0] in ("networkx", "igraph")


def refuse_choices(**choices: Any) -> None:
    """Refuse what has a meaning for tables only."""
    given = [name for name, value in choices.items() if value is not None]
    if given:
        raise InputError(f"{enumerate_names(given, quote=False)}: for tables only, but this is a graph")


def is_model(X: Any, y: Any) -> bool:
    """Tell whether a fitted Gaussian process was given instead of rows; refuse other models, and rows without a target."""
    if hasattr(X, "kernel") and hasattr(X, "predict"):
        if y is not None:
            raise InputError("a fitted regressor has its own rows: give no y with it")
        return True
    if y is None and hasattr(X, "predict"):
        raise InputError(
            f"forecast accepts a fitted GaussianProcessRegressor, got {type(X).__name__}: give X and y, or use "
            "LearningCurveForecast.from_estimator(pipeline, X, y) for a pipeline that ends with one"
        )
    if y is None:
        raise InputError("y is needed: the target, one number per row of X, or the name of its column")
    return False


def refuse_for_classes(**choices: Any) -> None:
    """Refuse what has a meaning for numbers only."""
    given = [name for name, value in choices.items() if value is not None]
    if given:
        raise InputError(f"{enumerate_names(given, quote=False)}: for numbers only, but the target is a class")


def recognise_array(y: Any, task: Task | None) -> tuple[bool, tuple[str, ...]]:
    """Tell whether targets are classes, and say so if somebody might mean the other."""
    if task is not None:
        check_name("task", task, get_args(Task))
        return task == "classes", ()
    try:
        column = as_column(y)
    except (InputError, TypeError, ValueError):  # numbers are checked elsewhere, and it is said what is wrong
        return False, ()
    if np.ma.isMaskedArray(y) or any(isinstance(cell, complex) for cell in column.array[:1]):
        return False, ()
    found, said = recognise("y", column)
    return found, (said,) if said else ()


def read_rows(X: Any, y: Any, pool: Any, computation: Computation, *, task: Task | None = None, **choices: Any) -> Rows:
    """Return the standardised rows of a table, or of a file; ``choices`` are those of `prepare`."""
    table, unlabelled = (_open_table(part) for part in (X, pool))
    table, target = (table, y) if is_name(y, table) else _add_target(table, y)
    if unlabelled is not None and not isinstance(unlabelled, pd.DataFrame):
        (called,) = spell_names([target], table)
        unlabelled = name_array(unlabelled, [name for name in map(str, table.columns) if name != called])
    most_rows, said = computation.effort.most_rows, ""
    if task is None:
        (name,) = spell_names([target], table)
        named = name_columns(table, "table")
        check_column("table", name, list(named.columns))
        cells = named[name]
        check_cells(name, cells)
        found, said = recognise(name, cells, str(table.attrs.get("decimal", ".")))
        task = "classes" if found else "numbers"
    check_name("task", task, get_args(Task))
    prepared = prepare(table, target, pool=unlabelled, rng=computation.seed, most_rows=most_rows, task=task, **choices)
    said_more = () if choices.get("groups") is not None else hint_at_groups(table, prepared)
    steps = ((said,) if said else ()) + prepared.steps + said_more
    return reading.standardise(replace(prepared, steps=steps))


def hint_at_groups(table: pd.DataFrame, prepared: Prepared) -> tuple[str, ...]:
    """Say that rows come in groups if an input is called like one: forecasts for new patients need to know."""
    named = name_columns(table, "table")
    named = named[named[prepared.target].notna()]
    counts: dict[str, Counter[str]] = {}
    for name in prepared.sources:
        if name_groups(name) == UNNAMED or (pd.api.types.is_numeric_dtype(named[name]) and _is_measured(named[name])):
            continue
        count = Counter(text for text in as_texts(named[name]) if text is not None)
        if len(count) >= FEWEST_GROUPS and count.total() >= _FEWEST_OF_A_GROUP * len(count):
            counts[name] = count
    if not counts:
        return ()
    name = max(counts, key=lambda name: len(counts[name]))
    groups, each = Unit(group=name_groups(name)).plural, counts[name].total() / len(counts[name])
    return (
        f"Rows come in groups: {len(counts[name]):,} {groups} with {each:.3g} rows each on average. The forecast is for "
        f"further rows of the same {groups}; for new {groups}, set groups to {name!r} (--groups on the command line).",
    )


def _is_measured(column: pd.Series[Any]) -> bool:
    """Tell whether numbers in a column that is called like a group are quantities: fractions, counts of many, or turns."""
    values = column.dropna().to_numpy(float)
    word = re.sub(r"[\W_].*$", "", str(column.name)).lower()
    return bool((values != np.round(values)).any()) or word in _QUANTITIES or is_plural(word)


def _open_table(source: Any) -> Any:
    """Return a table as pandas has it, from a file or from any library; anything else as it is."""
    if isinstance(source, str | Path):
        return read_table(source)
    return as_frame(source) if is_table(source) else source


def _add_target(table: pd.DataFrame, y: Any) -> tuple[pd.DataFrame, str]:
    """Return a table with a further column for the target, and its name."""
    name, values = reading.find_name(y), as_column(y)
    table = name_columns(table, "table")
    while name in table.columns:
        name += "*"
    if len(values) != len(table):
        raise InputError(f"X and y must have the same number of rows, got {len(table)} and {len(values)}")
    return table.assign(**{name: values.array}), name


def check_function(rows: Rows) -> None:
    """Refuse to take a target as noise-free if rows with equal inputs have different ones."""
    group = np.unique(rows.X, axis=0, return_inverse=True)[1].reshape(-1)
    means = np.bincount(group, weights=rows.y) / np.bincount(group)
    differ = int((np.abs(rows.y - means[group]) > _SAME_TARGET).sum())
    if differ:
        raise InputError(
            f"the target {rows.target!r} is not deterministic: {differ:,} rows have the inputs of another row, but not its target"
        )
