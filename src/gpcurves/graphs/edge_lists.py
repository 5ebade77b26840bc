"""Edge lists and adjacency lists: text with two names per line, or a name and those of its neighbours."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Literal

import numpy as np

from gpcurves.errors import InputError
from gpcurves.graphs.columns import Columns, Layout, ask_about_distances, choose_weight, find_layout, is_distance
from gpcurves.graphs.graph import REPAIR, Graph, IntArray, check_fits
from gpcurves.graphs.ordering import order_integers
from gpcurves.graphs.records import Records, decode, list_names, shorten, split_records
from gpcurves.numerics.validation import FloatArray, integer, parse_float

Weights = Literal["affinity", "distance", "ignore"] | None
"""What weights are: affinities, distances d of which 1/d is taken, or nothing; None if it must be clear."""
_NO_DATA = re.compile(r"(?<=\S) \{\}$", re.MULTILINE)
_DATA = re.compile(r" \{'weight': ([^\s{},']+)\}$", re.MULTILINE)
"""How NetworkX ends the lines of its edge lists, without attributes and with the weight alone."""


@dataclass(frozen=True)
class _Edges:
    """Edges as they are in a file: names of both ends (the second is empty for a vertex without edges), weights, lines."""

    path: Path
    sources: Sequence[str]
    targets: Sequence[str]
    weights: FloatArray | None
    lines: Sequence[int]
    notes: tuple[str, ...] = ()


def parse_edges(
    path: Path,
    content: bytes,
    *,
    vertices: int | None = None,
    repair: bool = False,
    columns: Columns = None,
    header: bool | None = None,
    weights: Weights = None,
    weight: str | None = None,
) -> Graph:
    """Return the graph of an edge list."""
    text = decode(path, content)
    if text.rstrip().endswith("}"):
        text = _NO_DATA.sub("", _DATA.sub(r" \1", text))
    records = split_records(path, text)
    if not records.rows:
        raise InputError(f"{path} holds no edges")
    layout = find_layout(records, columns, header)
    if weight is not None:
        layout = choose_weight(records, layout, weight)
    if weights in ("affinity", "distance") and layout.weight is None:
        others = layout.headed and layout.width > 2
        hint = f"; if a column has them, name it by --weight: {list_names(records.rows[0])}" if others else ""
        raise InputError(f"weights={weights!r} (--weights) is not used: the edges of {path} have no weights{hint}")
    if weights is None and layout.named is not None:
        ask_about_distances(path, layout.named)
    return _build(_take_edges(records, layout, weights), vertices, repair)


def parse_adjacency(path: Path, content: bytes, *, vertices: int | None = None, repair: bool = False) -> Graph:
    """Return the graph of an adjacency list: on each line the name of a vertex and those of some of its neighbours."""
    records = split_records(path, decode(path, content))
    sources: list[str] = []
    targets: list[str] = []
    lines: list[int] = []
    for row, (name, *neighbours) in enumerate(records.rows):
        joined = neighbours or [""]
        if not name or (neighbours and not all(neighbours)):
            raise InputError(f"{records.where(row)}: a name is missing in {records.quote(row)}")
        sources += [name] * len(joined)
        targets += joined
        lines += [records.lines[row]] * len(joined)
    return _build(_Edges(path, sources, targets, None, lines), vertices, repair)


def _take_edges(records: Records, layout: Layout, weights: Weights) -> _Edges:
    """Return the edges, and vertices without edges, of an edge list; a line that is neither is refused."""
    start = int(layout.headed)
    rows, lines = records.rows[start:], records.lines[start:]
    first, second = layout.ends
    if set(map(len, rows)) != {layout.width} or not all(row[first] and row[second] for row in rows):
        rows = [row if len(row) == layout.width and row[first] and row[second] else [] for row in rows]
        rows = [row or _check_lonely(records, start + k, layout) for k, row in enumerate(rows)]
    sources, targets = [row[first] for row in rows], [row[second] for row in rows]
    notes = list(layout.notes)
    if "" in targets:
        notes += _note_lonely(records, start, sources, targets)
    values = None
    if layout.weight is not None and weights != "ignore":
        cells = [row[layout.weight] for row in rows if row[second]]
        places = [k for k, target in enumerate(targets) if target]
        values = _parse_weights(records, cells, places, start)
        named = f"the column {layout.named!r}" if layout.named else "the third field"
        if weights == "distance":
            with np.errstate(over="ignore"):  # what is not finite is refused with all other weights
                values = 1 / values
            notes.append(f"{records.path}: the weight of an edge is 1 divided by {named}")
        elif layout.named and is_distance(layout.named):
            notes.append(f"{records.path}: {named} is the weight of edges as it is: large means near")
    return _Edges(records.path, sources, targets, values, lines, tuple(notes))


def _check_lonely(records: Records, row: int, layout: Layout) -> list[str]:
    """Return the fields of a line that names a vertex without edges, and refuse every other line that is not an edge."""
    fields = records.rows[row]
    first, second = layout.ends
    others = [k for k in (second, layout.weight) if k is not None]
    full = len(fields) == layout.width
    if full and fields[first] and not any(fields[k] for k in others):
        return [*fields]
    if len(fields) == 1 and not any(mark in fields[0] for mark in " \t,;"):
        padded = [""] * layout.width
        padded[first] = fields[0]
        return padded
    if len(fields) == layout.width or len(fields) == 1 or len(fields) > max(3, layout.width) or not all(fields):
        got = "one field" if len(fields) == 1 else "an empty field" if not all(fields) else f"{len(fields)} fields"
        raise InputError(
            f"{records.where(row)}: an edge is two names, and a weight if edges have one; got {got} in {records.quote(row)}"
        )
    raise InputError(f"{records.where(row)}: {layout.width} fields expected as before, got {records.quote(row)}")


def _note_lonely(records: Records, start: int, sources: Sequence[str], targets: Sequence[str]) -> list[str]:
    """Say which vertices have no edges; refuse a single name that has edges, which may be what is left of an edge."""
    lonely = {k: name for k, (name, target) in enumerate(zip(sources, targets, strict=True)) if not target}
    joined = {*(name for name, target in zip(sources, targets, strict=True) if target), *targets}
    for k, name in lonely.items():
        if len(records.rows[start + k]) == 1 and name in joined:
            raise InputError(
                f"{records.where(start + k)}: an edge is two names, and a weight if edges have one; got one field in "
                f"{shorten(name)!r}, which has edges elsewhere"
            )
    alone = [name for name in dict.fromkeys(lonely.values()) if name not in joined]
    what = f"{len(alone):,} vertices have" if len(alone) != 1 else "1 vertex has"
    return [f"{records.path}: {what} no edges ({list_names(alone)})"] if alone else []


def _parse_weights(records: Records, cells: Sequence[str], places: Sequence[int], start: int) -> FloatArray:
    read = records.number if records.decimal_commas else parse_float
    try:
        values = np.array([read(cell) for cell in cells])
    except ValueError:
        values = np.empty(0)
    if len(values) == len(cells) and np.isfinite(values).all() and (values > 0).all():
        return values
    for place, cell in zip(places, cells, strict=True):
        where = records.where(start + place)
        if not cell:
            raise InputError(
                f"{where}: an edge is two names, and a weight if edges have one; got an empty field in "
                f"{records.quote(start + place)}"
            )
        try:
            weight = read(cell)
        except ValueError:
            raise InputError(f"{where}: a weight must be a number, got {shorten(cell)!r}") from None
        if not np.isfinite(weight) or weight <= 0:
            raise InputError(f"{where}: a weight must be finite and greater than 0, got {weight:g}")
    raise AssertionError("a weight was refused that each check accepts")


def _build(edges: _Edges, vertices: int | None, repair: bool) -> Graph:
    """Return the graph of edges between names."""
    names = dict.fromkeys(chain.from_iterable(zip(edges.sources, edges.targets, strict=True)))
    lonely = "" in names
    names.pop("", None)
    numbers = {name: number for number, name in enumerate(names)}
    count = len(names) if vertices is None else integer("vertices", vertices, len(names))
    lines = edges.lines
    sources, targets = edges.sources, edges.targets
    if lonely:
        kept = [k for k, target in enumerate(targets) if target]
        sources, targets, lines = [sources[k] for k in kept], [targets[k] for k in kept], [lines[k] for k in kept]
    if not targets:
        raise InputError(f"{edges.path} holds no edges")
    check_fits(count, len(targets), per_vertex=230.0)  # with its name
    labels, rank = _sort_names(_add_names(list(names), count))
    pairs = np.empty((len(targets), 2), dtype=np.int64)
    for side, ends in enumerate((sources, targets)):
        pairs[:, side] = rank[np.fromiter(map(numbers.__getitem__, ends), dtype=np.int64, count=len(ends))]
    if not repair:
        _refuse_loops(edges.path, pairs, lines, labels)
        _refuse_repeats(edges.path, pairs, edges.weights, lines, labels)
    plain = labels == list(map(str, range(count)))
    graph = Graph.from_edges(pairs, count, edges.weights, None if plain else labels, repair=repair)
    return graph.with_details(notes=edges.notes) if edges.notes else graph


def _sort_names(names: list[str]) -> tuple[list[str], IntArray]:
    """Return the names in order, by number if all are integers, and the position of each in that order."""
    found = order_integers(names)
    order = np.arange(len(names)) if found is None else found
    rank = np.empty(len(names), dtype=np.int64)
    rank[order] = np.arange(len(names))
    return [names[k] for k in order.tolist()], rank


def _add_names(names: list[str], count: int) -> list[str]:
    """Name vertices without edges by the smallest integers that are free."""
    used, named = set(names), list(names)
    number = 0 if "0" in used else 1
    while len(named) < count:
        if str(number) not in used:
            named.append(str(number))
        number += 1
    return named


def _refuse_loops(path: Path, pairs: IntArray, lines: Sequence[int], labels: list[str]) -> None:
    loops = np.flatnonzero(pairs[:, 0] == pairs[:, 1])
    if len(loops):
        name = shorten(labels[pairs[loops[0], 0]])
        raise InputError(
            f"{path}, line {lines[loops[0]]}: the vertex {name!r} is joined to itself: {REPAIR} to drop self-loops"
        )


def _refuse_repeats(
    path: Path, pairs: IntArray, weights: FloatArray | None, lines: Sequence[int], labels: list[str]
) -> None:
    """Refuse an edge that is given twice, unless it is once in each direction with the same weight."""
    keys = np.sort(np.sort(pairs, axis=1) @ (len(labels), 1))
    if (keys[1:] != keys[:-1]).all():  # quick for large files
        return
    seen: dict[tuple[int, int], int] = {}
    for k, (i, j) in enumerate(pairs.tolist()):
        before = seen.get((i, j))
        if before is not None:
            raise InputError(
                f"{path}, line {lines[k]}: the edge from {shorten(labels[i])!r} to {shorten(labels[j])!r} was given in line {lines[before]} "
                f"already: {REPAIR} to add up the weights of repeats"
            )
        back = seen.get((j, i))
        if back is not None and weights is not None and weights[back] != weights[k]:
            raise InputError(
                f"{path}, line {lines[k]}: the edge between {shorten(labels[i])!r} and {shorten(labels[j])!r} has another weight in line "
                f"{lines[back]}, so that the graph is directed: {REPAIR}"
            )
        seen[i, j] = k
