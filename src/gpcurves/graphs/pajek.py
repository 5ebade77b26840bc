"""Networks of Pajek: vertices by number, with names and coordinates if they have some, then edges, arcs or a matrix.

NetworkX reads such a file only if every vertex is listed, which many files leave out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from gpcurves.errors import InputError
from gpcurves.graphs.graph import check_fits
from gpcurves.numerics.validation import parse_float

_FIELD = re.compile(r'"([^"]*)"|(\S+)')
_Edge = tuple[int, int, float, bool]
"""Two vertices, the weight, and whether the edge is directed."""
_EDGES = {"*edges": False, "*edgeslist": False, "*arcs": True, "*arcslist": True, "*matrix": True}
"""Sections with edges, and whether these are directed."""


def parse_pajek(content: bytes) -> Any:
    """Return the first network of a file as a NetworkX graph; partitions, vectors and further networks are passed over."""
    import networkx

    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")  # the encoding of old files
    graph = networkx.Graph()
    names: dict[int, str] = {}
    edges: list[_Edge] = []
    section, row = "", 0
    for number, line in enumerate(map(str.strip, text.splitlines()), start=1):
        if not line or line.startswith("%"):
            continue
        fields = [quoted or plain for quoted, plain in _FIELD.findall(line)]
        if line.startswith("*"):
            section, row = fields[0].lower(), 0
            if section == "*vertices" and len(graph):
                break  # another network, or a partition of this one
            if section == "*vertices":
                graph.add_nodes_from(range(1, 1 + _count(number, fields)))
        elif section == "*vertices":
            vertex = _read_vertex(graph, number, fields)
            if len(fields) > 1 and fields[1]:
                names[vertex] = fields[1]
        elif section in _EDGES:
            row += 1
            edges += _read_edges(graph, number, section, fields, row)
    if not len(graph):
        raise InputError("it has no line *Vertices with the number of vertices, as networks of Pajek have")
    return _join(graph, names, edges)


def _count(number: int, fields: list[str]) -> int:
    if len(fields) < 2 or not (fields[1].isascii() and fields[1].isdecimal() and 1 <= len(fields[1]) < 10):
        raise InputError(f"line {number}: *Vertices must be followed by their number")
    count = int(fields[1])
    check_fits(count, per_vertex=1000.0)  # as NetworkX holds them
    return count


def _read_vertex(graph: Any, number: int, fields: list[str]) -> int:
    """Return the number of a vertex; coordinates become its attributes."""
    vertex = _check_vertex(graph, number, fields[0])
    if len(fields) > 3:
        with suppress(ValueError):  # a shape or a colour may stand there
            x, y = map(parse_float, fields[2:4])
            graph.nodes[vertex].update(x=x, y=y)
    return vertex


def _read_edges(graph: Any, number: int, section: str, fields: list[str], row: int) -> Iterator[_Edge]:
    """Yield the edges of a line: one with a weight, several to a list of vertices, or those of a row of the matrix."""
    directed = _EDGES[section]
    if section == "*matrix":
        if len(fields) != len(graph) or row > len(graph):
            raise InputError(f"line {number}: the matrix must have {len(graph)} rows of as many numbers")
        weights = [_check_weight(number, field) for field in fields]
        yield from ((row, k, weight, directed) for k, weight in enumerate(weights, start=1) if weight)
        return
    listed = "list" in section
    first, *others = (_check_vertex(graph, number, field) for field in (fields if listed else fields[:2]))
    if not others:
        raise InputError(f"line {number}: an edge needs two vertices")
    weight = _check_weight(number, fields[2]) if not listed and len(fields) > 2 else 1.0
    yield from ((first, other, weight, directed) for other in others)


def _check_vertex(graph: Any, number: int, field: str) -> int:
    vertex = int(field) if field.isascii() and field.isdecimal() and len(field) < 10 else 0
    if vertex not in graph:
        raise InputError(f"line {number}: vertices are numbered from 1 to {len(graph)}, got {field[:60]!r}")
    return vertex


def _check_weight(number: int, field: str) -> float:
    try:
        return parse_float(field)
    except ValueError:
        raise InputError(f"line {number}: a weight must be a number, got {field[:60]!r}") from None


def _join(vertices: Any, names: dict[int, str], edges: list[_Edge]) -> Any:
    """Return the network with names; it is undirected unless an arc has no counterpart of the same weight."""
    import networkx

    if any(directed for *_, directed in edges):
        edges += [(j, i, weight, True) for i, j, weight, directed in edges if not directed]
    different = {(i, j, weight) for i, j, weight, _ in edges}
    mirrored = len(different) == len(edges) and all((j, i, weight) in different for i, j, weight in different)
    if mirrored:
        edges = [(i, j, weight, False) for i, j, weight, _ in edges if i <= j]
    graph = networkx.MultiDiGraph() if any(directed for *_, directed in edges) else networkx.MultiGraph()
    graph.add_nodes_from(vertices.nodes(data=True))
    graph.add_weighted_edges_from((i, j, weight) for i, j, weight, _ in edges)
    named = {vertex: names.get(vertex, str(vertex)) for vertex in graph}
    return networkx.relabel_nodes(graph, named) if len(set(named.values())) == len(named) else graph
