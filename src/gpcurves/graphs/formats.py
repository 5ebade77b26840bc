"""Graphs in the formats of other programs: GraphML, GML, GEXF, Pajek, JSON node-link data and Matrix Market."""

from __future__ import annotations

import io
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np

from gpcurves.errors import InputError
from gpcurves.graphs.columns import ask_about_distances
from gpcurves.graphs.edge_lists import Weights
from gpcurves.graphs.graph import Graph, as_graph
from gpcurves.graphs.pajek import parse_pajek
from gpcurves.graphs.records import list_names
from gpcurves.numerics.validation import FloatArray

_NOT_ATTRIBUTES = {"id", "key", "label", "weight", "source", "target", "networkx_key"}  # of edges


def parse_format(
    path: Path, content: bytes, kind: str, repair: bool, weights: Weights, weight: str | None = None
) -> Graph:
    """Return the graph in a file of a format that NetworkX or SciPy reads, or that is read like theirs."""
    try:
        found = FORMATS[kind](content)
    except InputError as error:
        raise InputError(f"cannot read {path}: {error}") from error
    except Exception as error:  # whatever the parsers of other libraries raise
        reason = str(error) if kind == ".mtx" else f"{type(error).__name__}: {error}".rstrip(": ")
        raise InputError(f"cannot read {path}: {reason}") from error
    notes: list[str] = []
    try:
        if weight is not None:
            _choose_weight(found, weight)
            if weights is None:
                ask_about_distances(path, weight)
        if weights == "distance":
            _invert(found)
            notes.append(f"{path}: the weight of an edge is 1 divided by {_say_weight(weight)}")
        elif weight is not None:
            notes.append(f"{path}: the weight of an edge is {_say_weight(weight)}")
        graph = as_graph(found, repair=repair)
    except InputError as error:
        said = str(error)
        raise InputError(said if said.startswith(str(path)) else f"{path}: {said}") from error
    if kind != ".mtx":
        others = _name_attributes(found) - {weight}
        if others:
            weighed = weights != "ignore" and any("weight" in data for *_, data in found.edges(data=True))
            now = "the weight of an edge is 'weight'" if weighed else "every edge counts 1"
            used = "" if weight is not None else f"; {now}, and --weight (in Python: weight=…) takes another attribute"
            notes.append(f"{path}: ignored attributes of edges: {list_names(sorted(others))}{used}")
    if not (notes or graph.notes):
        return graph
    said_all = (*(f"{path}: {note}" for note in graph.notes), *notes)
    object.__setattr__(graph, "notes", ())
    return graph.with_details(graph.positions, graph.attributes, said_all)


def _name_attributes(found: Any) -> set[str]:
    return {str(name) for *_, data in found.edges(data=True) for name in data if name not in _NOT_ATTRIBUTES}


def _say_weight(weight: str | None) -> str:
    return "what the file says" if weight is None else f"its attribute {weight!r}"


def _choose_weight(found: Any, name: str) -> None:
    """Make an attribute of all edges their weight."""
    edges = list(found.edges(data=True))
    without = [(a, b) for a, b, data in edges if data.get(name) is None]
    if edges and len(without) == len(edges):
        known = sorted(_name_attributes(found) | {"weight" for *_, data in edges if "weight" in data})
        listed = f"they have {list_names(known)}" if known else "they have none"
        raise InputError(f"edges have no attribute {name!r}: {listed}")
    if without:
        a, b = (str(end)[:60] for end in without[0])
        raise InputError(f"the edge between {a!r} and {b!r} has no attribute {name!r}, which is to be its weight")
    for *_, data in edges:
        data["weight"] = data[name]


def _invert(found: Any) -> None:
    """Make affinities of distances."""
    if hasattr(found, "edges"):
        known = [data for *_, data in found.edges(data=True) if "weight" in data]
        if not known:
            raise InputError("weights='distance' (--weights) is not used: the edges have no weights")
        for data in known:
            if not isinstance(data["weight"], int | float) or not data["weight"] > 0:
                raise InputError(f"distances must be numbers greater than 0, got {str(data['weight'])[:60]!r}")
            data["weight"] = 1 / data["weight"]
        return
    if found.dtype.kind not in "iuf" or not (found.data > 0).all():
        raise InputError("distances must be numbers greater than 0")
    with np.errstate(over="ignore"):  # what is not finite is refused with all other weights
        found.data = 1 / found.data


def _parse_graphml(content: bytes) -> Any:
    import networkx

    _refuse_declarations(content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the ports of nodes, which say nothing about the edges
        return networkx.read_graphml(io.BytesIO(content))


def _parse_gexf(content: bytes) -> Any:
    import networkx

    _refuse_declarations(content)
    graph = networkx.read_gexf(io.BytesIO(content))
    return _rename(graph, "label")


def _parse_gml(content: bytes) -> Any:
    import networkx

    try:
        return networkx.read_gml(io.BytesIO(content))
    except networkx.NetworkXError as error:
        if "no 'label' attribute" not in str(error):
            raise
        return networkx.read_gml(io.BytesIO(content), label="id")  # vertices that have numbers only


def _refuse_declarations(content: bytes) -> None:
    """Refuse XML with a document type, whose entities can stand for more text than any memory holds."""

    def refuse(*_: object) -> None:
        raise InputError("it declares a document type (DOCTYPE), which is refused for security: remove it")

    def stop(*_: object) -> None:
        raise StopIteration

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = stop  # no declaration can come after the first element
    try:
        parser.Parse(content, True)
    except StopIteration:
        return


def _parse_json(content: bytes) -> Any:
    """Return the graph in node-link data, as NetworkX and D3 write it."""
    import networkx

    document = json.loads(content)
    edges = document.get("links", document.get("edges")) if isinstance(document, dict) else None
    nodes = document.get("nodes") if isinstance(document, dict) else None
    if not isinstance(nodes, list) or not isinstance(edges, list):
        raise InputError("it must be node-link data: an object with the lists 'nodes' and 'links' (or 'edges')")
    if not all(isinstance(each, dict) for each in (*nodes, *edges)):
        raise InputError("each of its nodes and links must be an object")
    identified = any("id" in node for node in nodes)
    graph = networkx.MultiDiGraph() if document.get("directed") is True else networkx.MultiGraph()
    for number, node in enumerate(nodes):
        name = _check_id(node.get("id")) if identified else number
        if name in graph:
            raise InputError(f"its nodes must have different ids, but {str(name)[:60]!r} occurs twice")
        graph.add_node(name)
        graph.nodes[name].update((key, value) for key, value in node.items() if key != "id")
    for edge in edges:
        ends = [_check_id(edge.get(side)) for side in ("source", "target")]
        for end in ends:
            if end not in graph:
                raise InputError(f"a link leads to {str(end)[:60]!r}, which is not the id of a node")
        key = graph.add_edge(*ends)
        graph.edges[ends[0], ends[1], key].update(edge)
    return graph if identified else _rename(_rename(graph, "name"), "label")


def _check_id(value: object) -> str | int | float:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise InputError(f"ids of nodes must be texts or numbers, got {str(value)[:60]!r}")
    return value


def _rename(graph: Any, attribute: str) -> Any:
    """Name the vertices by an attribute, if every one has another."""
    import networkx

    names = [data.get(attribute) for _, data in graph.nodes(data=True)]
    if not all(isinstance(name, str) and name for name in names) or len(set(names)) < len(names):
        return graph
    for _, data in graph.nodes(data=True):
        del data[attribute]
    return networkx.relabel_nodes(graph, dict(zip(graph, names, strict=True)))


def parse_matrix(content: bytes) -> Any:
    """Return the matrix of a Matrix Market file; SciPy's own reader may crash on one that was cut."""
    from scipy.io import mminfo
    from scipy.sparse import coo_array

    rows, columns, entries, layout, field, symmetry = mminfo(io.BytesIO(content))
    if entries > len(content):  # each takes two bytes or more, unless it follows by symmetry
        raise InputError(f"its header announces {entries:,} entries, but the file has only {len(content):,} bytes")
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
        raise InputError(f"its header announces {entries:,} entries, but it has {len(table):,}")
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


FORMATS: dict[str, Callable[[bytes], Any]] = {
    ".graphml": _parse_graphml,
    ".xml": _parse_graphml,
    ".gml": _parse_gml,
    ".gexf": _parse_gexf,
    ".net": parse_pajek,
    ".paj": parse_pajek,
    ".json": _parse_json,
    ".mtx": parse_matrix,
}
"""How a file is parsed, by its suffix."""
