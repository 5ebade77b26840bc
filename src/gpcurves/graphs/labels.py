"""Reading what is known about vertices: values at some of them, and tables of attributes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from gpcurves.errors import InputError
from gpcurves.graphs.details import as_values
from gpcurves.graphs.graph import Graph, IntArray
from gpcurves.graphs.records import (
    Records,
    check_header,
    find_column,
    is_missing,
    list_names,
    read_records,
    shorten,
)
from gpcurves.numerics.frozen import ReadOnly
from gpcurves.numerics.validation import FloatArray, frozen

if TYPE_CHECKING:
    import pandas as pd

Task = Literal["numbers", "classes"]
_PARSED = 80  # times the size of a file that reading it takes, measured for a column of digits
_VERTEX_WORDS = {"vertex", "node", "id", "name", "bus", "junction", "member", "vertex_id", "node_id", "county"}
_VALUE_WORDS = {"value", "label", "target", "y"}


@dataclass(frozen=True, eq=False)
class Labels(ReadOnly):
    """Values that are known at some vertices of a graph; a vertex may have several.

    ``errors`` are their standard errors, if the file has a column of these; ``target`` is the name of the column of values,
    if it has one; ``notes`` say what was left out. ``cells`` are the values as they are written: of classes these count, and
    ``values`` are NaN.
    """

    vertices: IntArray
    values: FloatArray
    errors: FloatArray | None = None
    notes: tuple[str, ...] = ()
    target: str | None = None
    cells: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.values)

    @property
    def are_numbers(self) -> bool:
        """Whether the values were read as numbers."""
        return not bool(np.isnan(self.values).any())


def read_labels(
    path: str | Path,
    graph: Graph,
    target: str | None = None,
    noise: str | None = None,
    *,
    vertex: str | None = None,
    task: Task | None = "numbers",
) -> Labels:
    """Return the values at vertices of a graph that a text file holds.

    Without a header a line is a vertex and a value. With one, the columns may be in any order and there may be others. A value
    that is empty, NA or NaN is unknown and left out.

    Parameters
    ----------
    path
        Text or quoted CSV, separated by commas, semicolons, tabs or blanks; also with .gz.
    graph
        The graph whose vertices are named.
    target
        The column with the values, if the file has a header that leaves it open.
    noise
        The column with the standard error of each value, if there is one.
    vertex
        The column with the names of the vertices; if None, the one whose cells are vertices of the graph.
    task
        "numbers", "classes" (any text), or None: classes if no value is a number.
    """
    records = _read(path)
    named = [name for name in (target, noise, vertex) if name is not None]
    if not named and not _is_headed(records, graph):
        return _take_labels(records, graph, 0, [0, 1], None, (), task)
    header = records.rows[0]
    check_header(records.path, header)
    places = {name: find_column(records.path, header, name) for name in named}
    if len(set(places.values())) < len(places) or len(places) < len(named):
        raise InputError("the columns of vertices, values and standard errors must differ from each other")
    spread = places[noise] if noise is not None else None
    chosen = [places[name] for name in (target, noise) if name is not None]
    place = places[vertex] if vertex is not None else _find_vertices(records, graph, chosen)
    value = places[target] if target is not None else _find_values(records, [place, *chosen])
    used = [place, value, *([] if spread is None else [spread])]
    others = [name or f"column {k + 1}" for k, name in enumerate(header) if k not in used]
    note = f"{records.path}: ignored the column{'s' * (len(others) > 1)} {list_names(others)}"
    return _take_labels(records, graph, 1, used, header[value], (note,) if others else (), task)


def read_attributes(path: str | Path, graph: Graph, *, vertex: str | None = None) -> pd.DataFrame:
    """Return the table of attributes of vertices that a text file with a header holds, indexed by vertex number.

    Columns of numbers are floats, with NaN for what is missing; others are texts. Vertices that the file does not name have
    no row, and no vertex has two.
    """
    import pandas as pd

    records = _read(path)
    header = records.rows[0]
    check_header(records.path, header)
    place = _find_vertices(records, graph, []) if vertex is None else find_column(records.path, header, vertex)
    _check_widths(records, len(header))
    rows = records.rows[1:]
    if not rows:
        raise InputError(f"{records.path} has a header but no rows")
    numbers = [_find_vertex(records, k, row[place], graph) for k, row in enumerate(rows, start=1)]
    seen: dict[int, int] = {}
    for k, number in enumerate(numbers, start=1):
        if number in seen:
            first = records.lines[seen[number]]
            raise InputError(f"{records.where(k)}: the vertex {rows[k - 1][place]!r} was given in line {first} already")
        seen[number] = k
    columns = {}
    for k, name in enumerate(header):
        if k != place:
            cells = [None if is_missing(row[k]) else row[k] for row in rows]
            numeric = all(cell is None or records.is_number(cell) for cell in cells)
            columns[name or f"column {k + 1}"] = as_values(
                [None if cell is None else records.number(cell) for cell in cells] if numeric else cells
            )
    return pd.DataFrame(columns, index=pd.Index(numbers, name="vertex"))


def _read(path: str | Path) -> Records:
    records = read_records(Path(path), _PARSED)
    if not records.rows:
        raise InputError(f"{path} holds no labels")
    return records


def _is_headed(records: Records, graph: Graph) -> bool:
    """Tell whether the first line names columns: it has neither numbers nor names of vertices."""
    first = records.rows[0]
    if len(first) < 2 or any(records.is_number(cell) for cell in first):
        return False
    return not (graph.has(first[0]) or (len(first) == 2 and is_missing(first[1])))


def _find_vertices(records: Records, graph: Graph, taken: Sequence[int]) -> int:
    """Return the column with the names of vertices: the only one left, or the only one whose cells are vertices."""
    header, rows = records.rows[0], records.rows[1:]
    free = [k for k in range(len(header)) if k not in taken]
    share = {k: sum(len(row) > k and graph.has(row[k]) for row in rows) / max(1, len(rows)) for k in free}
    whole = [k for k in free if share[k] == 1]
    words = [k for k in whole or free if header[k].lower() in _VERTEX_WORDS]
    many = [] if whole else [k for k in free if share[k] >= 0.5]  # a few names may be wrong, and are then pointed out
    for found in (free, whole, words, many):
        if len(found) == 1:
            return found[0]
    if len(header) == 2:  # a vertex and a value, as without a header
        return 0
    raise InputError(
        f"{records.path}: say which column names the vertices with --vertex-column (in Python: vertex=…); its columns are "
        f"{list_names(header)}"
    )


def _find_values(records: Records, taken: Sequence[int]) -> int:
    """Return the column with the values: the only one left, one that is called so, or the only one with numbers."""
    header, rows = records.rows[0], records.rows[1:]
    free = [k for k in range(len(header)) if k not in taken]
    words = [k for k in free if header[k].lower() in _VALUE_WORDS]
    for found in (free, words):
        if len(found) == 1:
            return found[0]
    cells = {k: [row[k] for row in rows if len(row) > k and not is_missing(row[k])] for k in free}
    numeric = [k for k in free if cells[k] and all(map(records.is_number, cells[k]))]
    if len(numeric) == 1:
        return numeric[0]
    raise InputError(
        f"{records.path}: say which column holds the values with --target (in Python: target=…); its columns are "
        f"{list_names(header)}"
    )


def _take_labels(
    records: Records,
    graph: Graph,
    start: int,
    places: Sequence[int],
    target: str | None,
    notes: tuple[str, ...],
    task: Task | None,
) -> Labels:
    """Return the labels in the columns of vertices, values and perhaps standard errors, from a row on."""
    width = len(records.rows[0]) if start else 2
    _check_widths(records, width, start)
    vertices, values, cells, errors, unknown = [], [], [], [], 0
    known = [row[places[1]] for row in records.rows[start:] if not is_missing(row[places[1]])]
    numeric = task == "numbers" or (task is None and (not known or any(map(records.is_number, known))))
    hint = "" if task == "numbers" else "; if the labels are classes, say --task classes"
    for k, row in enumerate(records.rows[start:], start=start):
        name, cell, *spread = (row[place] for place in places)
        vertex = _find_vertex(records, k, name, graph)
        if is_missing(cell):
            unknown += 1
            continue
        vertices.append(vertex)
        cells.append(cell)
        values.append(_parse(records, k, "a value", cell, hint) if numeric else math.nan)
        if spread:
            error = _parse(records, k, "a standard error", spread[0])
            if error < 0:
                raise InputError(f"{records.where(k)}: a standard error must be at least 0, got {spread[0]}")
            errors.append(error)
    if not values:
        reason = ": all values are missing" if unknown else ""
        raise InputError(f"{records.path} holds no labels{reason}")
    if unknown:
        what = "1 vertex has" if unknown == 1 else f"{unknown:,} vertices have"
        notes = (*notes, f"{records.path}: {what} no value, and are treated as unlabelled")
    numbers = np.array(vertices, dtype=np.int64)
    numbers.setflags(write=False)
    spreads = frozen(np.array(errors)) if len(places) > 2 else None
    return Labels(numbers, frozen(np.array(values)), spreads, notes, target, tuple(cells))


def _check_widths(records: Records, width: int, start: int = 1) -> None:
    for k, row in enumerate(records.rows[start:], start=start):
        if len(row) != width:
            what = "a vertex and a value are expected" if width == 2 else f"{width} fields expected, as in the header"
            raise InputError(f"{records.where(k)}: {what}, got {records.quote(k)}")


def _find_vertex(records: Records, row: int, name: str, graph: Graph) -> int:
    if not graph.has(name):
        some = ", ".join(repr(shorten(graph.label(k), 40)) for k in range(min(3, graph.vertices)))
        rest = ", …" if graph.vertices > 3 else ""
        raise InputError(f"{records.where(row)}: the graph has no vertex {shorten(name)!r}; it has {some}{rest}")
    return graph.number(name)


def _parse(records: Records, row: int, what: str, cell: str, hint: str = "") -> float:
    try:
        value = records.number(cell)
    except ValueError:
        raise InputError(f"{records.where(row)}: {what} must be a number, got {shorten(cell)!r}{hint}") from None
    if not math.isfinite(value):
        raise InputError(f"{records.where(row)}: {what} must be finite, got {shorten(cell)}")
    return value
