"""Reading graphs from files: edge lists as text, GraphML, GML and Matrix Market, plain or compressed by gzip."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

from gpcurves.errors import InputError
from gpcurves.graphs.graph import REPAIR, Graph, IntArray, as_graph, check_fits
from gpcurves.numerics.files import read_bytes
from gpcurves.numerics.validation import FloatArray, integer, parse_float

_HEADER_WORDS = {
    "source", "target", "from", "to", "src", "dst", "dest", "destination", "node", "node1", "node2", "node_1", "node_2",
    "vertex", "vertex1", "vertex2", "id1", "id2", "i", "j", "u", "v", "a", "b", "head", "tail", "start", "end",
    "weight", "w", "value", "affinity", "strength", "fromnodeid", "tonodeid", "user", "member", "friend",
}  # fmt: skip
_COMMENTS = ("#", "%", "//")
_PARSED = 70  # times the size of a file that reading it takes, measured for edge lists


def read_graph(path: str | Path, *, vertices: int | None = None, repair: bool = False) -> Graph:
    """Return the graph in a file.

    Parameters
    ----------
    path
        An edge list (two names per line, and a weight if edges have one), or .graphml, .gml, .mtx; also with .gz.
    vertices
        Number of vertices, if some have no edge, which an edge list cannot say.
    repair
        Make directed edges undirected, drop self-loops and add up repeated edges, instead of refusing them.
    """
    file = Path(path)
    content = read_bytes(file, _PARSED)
    kind = file.with_suffix("").suffix.lower() if file.suffix.lower() == ".gz" else file.suffix.lower()
    if kind not in (".graphml", ".xml", ".gml", ".mtx"):
        return _parse_edges(file, content, vertices, repair)
    graph = _parse_format(file, content, kind, repair)
    if vertices is not None and integer("vertices", vertices, 1) != graph.vertices:
        raise InputError(f"{file} says that it has {graph.vertices} vertices, not {vertices}")
    return graph


def _parse_edges(path: Path, content: bytes, vertices: int | None, repair: bool) -> Graph:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"cannot read {path}: it is not a text file") from error
    if "\0" in text:
        raise InputError(f"cannot read {path}: it is not a text file")
    names: dict[str, int] = {}
    ends: list[int] = []
    weights: list[float] = []
    records = list(_split_lines(text))
    if records and _is_header(records[0][1], {name for _, fields in records[1:] for name in fields[:2]}):
        records = records[1:]
    if not records:
        raise InputError(f"{path} holds no edges")
    for line, fields in records:
        if len(fields) not in (2, 3) or not all(fields):
            got = "one field" if len(fields) == 1 else f"{len(fields)} fields" if all(fields) else "an empty field"
            raise InputError(
                f"{path}, line {line}: an edge is two names, and a weight if edges have one; got {got} in {_quote(text, line)}"
            )
        if len(fields) != (width := len(records[0][1])):
            raise InputError(f"{path}, line {line}: {width} fields expected as before, got {_quote(text, line)}")
        weights.append(_parse_weight(path, line, fields[2]) if len(fields) == 3 else 1.0)
        ends += (names.setdefault(fields[0], len(names)), names.setdefault(fields[1], len(names)))
        if fields[0] == fields[1] and not repair:
            raise InputError(
                f"{path}, line {line}: the vertex {fields[0]!r} is joined to itself: {REPAIR} to drop self-loops"
            )
    pairs = np.array(ends, dtype=np.int64).reshape(-1, 2)
    count = len(names) if vertices is None else integer("vertices", vertices, len(names))
    check_fits(count, len(pairs), per_vertex=230.0)  # with its name
    labels, rank = _sort_names(_add_names(list(names), count))
    pairs = rank[pairs]
    if not repair:
        _refuse_repeats(path, pairs, weights, [line for line, _ in records], labels)
    plain = labels == [str(i) for i in range(count)]
    return Graph.from_edges(pairs, count, weights, None if plain else labels, repair=repair)


def _split_lines(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the fields of each line with its number; comments and blank lines are skipped."""
    separator: str | None = ""
    for line, content in enumerate(text.splitlines(), start=1):
        kept = content.strip()
        if not kept or kept.startswith(_COMMENTS):
            continue
        if " #" in kept or "\t#" in kept:
            kept = re.split(r"\s#", kept)[0].rstrip()
        if separator == "":  # the first line decides
            separator = next((mark for mark in (",", ";", "\t") if mark in kept), None)
        yield line, [field.strip().strip('"') for field in kept.split(separator)]


def _is_header(fields: list[str], names: set[str]) -> bool:
    """Tell whether the first line heads columns; it does not if one of its words is the name of a vertex below."""
    if len(fields) not in (2, 3) or not all(fields) or names & set(fields[:2]):
        return False
    if len(fields) == 3:
        return not any(map(_is_number, fields))
    known = all(field.lower().replace(" ", "") in _HEADER_WORDS for field in fields)
    short = min(map(len, fields)) == 1  # letters are names of vertices as well, unless those are numbers
    return known and fields[0].lower() != fields[1].lower() and (not short or all(map(_is_number, names)))


def _is_number(field: str) -> bool:
    try:
        parse_float(field)
    except ValueError:
        return False
    return True


def _parse_weight(path: Path, line: int, field: str) -> float:
    try:
        weight = parse_float(field)
    except ValueError:
        raise InputError(f"{path}, line {line}: a weight must be a number, got {field!r}") from None
    if not np.isfinite(weight) or weight <= 0:
        raise InputError(f"{path}, line {line}: a weight must be finite and greater than 0, got {field}")
    return weight


def _sort_names(names: list[str]) -> tuple[list[str], IntArray]:
    """Return the names in order, by number if all are integers, and the position of each in that order."""
    order = np.arange(len(names))
    if all(name.isascii() and name.removeprefix("-").isdecimal() for name in names):
        order = np.array(sorted(range(len(names)), key=lambda k: (Decimal(names[k]), names[k])))
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


def _refuse_repeats(path: Path, pairs: IntArray, weights: list[float], lines: list[int], labels: list[str]) -> None:
    """Refuse an edge that is given twice, unless it is once in each direction with the same weight."""
    if len(np.unique(np.sort(pairs, axis=1) @ (len(labels), 1))) == len(pairs):  # quick for large files
        return
    seen: dict[tuple[int, int], int] = {}
    for k, (i, j) in enumerate(pairs.tolist()):
        before = seen.get((i, j))
        if before is not None:
            raise InputError(
                f"{path}, line {lines[k]}: the edge from {labels[i]!r} to {labels[j]!r} was given in line {lines[before]} "
                f"already: {REPAIR} to add up the weights of repeats"
            )
        back = seen.get((j, i))
        if back is not None and weights[back] != weights[k]:
            raise InputError(
                f"{path}, line {lines[k]}: the edge between {labels[i]!r} and {labels[j]!r} has another weight in line "
                f"{lines[back]}, so that the graph is directed: {REPAIR}"
            )
        seen[i, j] = k


def _quote(text: str, line: int) -> str:
    content = text.splitlines()[line - 1].strip()
    return repr(content if len(content) <= 60 else content[:57] + "…")


def _parse_format(path: Path, content: bytes, kind: str, repair: bool) -> Graph:
    """Return the graph in a file of a format that NetworkX or SciPy reads."""
    try:
        matrix_or_graph = _parse_matrix(content) if kind == ".mtx" else _parse_by_networkx(content, kind)
    except Exception as error:
        reason = str(error) if kind == ".mtx" else f"{type(error).__name__}: {error}".rstrip(": ")
        raise InputError(f"cannot read {path}: {reason}") from error
    try:
        return as_graph(matrix_or_graph, repair=repair)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def _parse_matrix(content: bytes) -> Any:
    """Return the matrix of a Matrix Market file; SciPy's own reader may crash on one that was cut."""
    from scipy.io import mminfo
    from scipy.sparse import coo_array

    rows, columns, entries, layout, field, symmetry = mminfo(io.BytesIO(content))
    if entries > len(content):  # each takes two bytes or more, unless it follows by symmetry
        raise InputError(f"its header speaks of {entries:,} entries, and all of it has {len(content):,} bytes")
    table = _read_entries(content, {"pattern": 0, "complex": 2}.get(field, 1) + 2 * (layout == "coordinate"))
    if layout == "coordinate":
        if not np.array_equal(table[:, :2], np.rint(np.clip(table[:, :2], 1, (rows, columns)))):
            raise InputError(f"its entries must be between 1 1 and {rows} {columns}")
        i, j, table = *(table[:, :2].astype(np.int64) - 1).T, table[:, 2:]
    elif symmetry == "general":
        j, i = np.divmod(np.arange(entries), rows)
    else:
        j, i = np.triu_indices(rows, int(symmetry == "skew-symmetric"))
    if len(table) != (entries if layout == "coordinate" else len(i)):
        raise InputError(f"its header speaks of {entries:,} entries, and it has {len(table):,}")
    values = np.ones(len(i)) if field == "pattern" else table[:, 0]
    if field == "complex":
        values = values + 1j * table[:, 1]
    if symmetry != "general":
        mirrored = i != j
        opposite = -values if symmetry == "skew-symmetric" else values.conj() if symmetry == "hermitian" else values
        i, j = np.concatenate((i, j[mirrored])), np.concatenate((j, i[mirrored]))
        values = np.concatenate((values, opposite[mirrored]))
    return coo_array((values, (i, j)), shape=(rows, columns))


def _read_entries(content: bytes, width: int) -> FloatArray:
    """Return the lines of a Matrix Market file after that with its size, as rows of so many numbers."""
    file = io.BytesIO(content)
    while (line := file.readline()).startswith(b"%") or line.isspace():
        pass
    body = file.read()
    if not body.strip():
        return np.empty((0, width))
    try:
        table = np.loadtxt(io.BytesIO(body), comments="%", ndmin=2)
    except ValueError:
        table = np.empty((0, 0))
    if table.shape[1] != width:
        raise InputError(f"each of its entries must be a line of {width} numbers")
    return table


def _parse_by_networkx(content: bytes, kind: str) -> Any:
    import networkx

    if kind != ".gml":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the ports of nodes, which say nothing about the edges
            return networkx.read_graphml(io.BytesIO(content))
    try:
        return networkx.read_gml(io.BytesIO(content))
    except networkx.NetworkXError as error:
        if "no 'label' attribute" not in str(error):
            raise
        return networkx.read_gml(io.BytesIO(content), label="id")  # vertices that have numbers only
