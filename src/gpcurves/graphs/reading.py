"""Reading graphs from files: edge and adjacency lists as text, and the formats of other programs; plain or gzipped."""

from __future__ import annotations

from pathlib import Path

from gpcurves.errors import InputError, check_name
from gpcurves.graphs.columns import Columns
from gpcurves.graphs.edge_lists import Weights, parse_adjacency, parse_edges
from gpcurves.graphs.formats import FORMATS, parse_format
from gpcurves.graphs.graph import Graph
from gpcurves.numerics.files import read_bytes
from gpcurves.numerics.validation import integer

_PARSED = 70  # times the size of a file that reading it takes, measured for edge lists
_PARSED_BY = {".net": 230, ".paj": 230}  # few bytes per edge, which NetworkX keeps as mappings of mappings


def read_graph(
    path: str | Path,
    *,
    vertices: int | None = None,
    repair: bool = False,
    columns: Columns = None,
    header: bool | None = None,
    weights: Weights = None,
    weight: str | None = None,
) -> Graph:
    r"""Return the graph in a file; its ``notes`` hold messages from reading it.

    Parameters
    ----------
    path
        An edge list (two names per line, and a weight if edges have one; a line with one name is a vertex without edges), an
        adjacency list (.adjlist), or .graphml, .gml, .gexf, .net or .paj (Pajek), .json (node-link data), .mtx (Matrix
        Market); also with .gz.
    vertices
        Number of vertices, if some have no edge and are not in an edge list.
    repair
        Make directed edges undirected, drop self-loops and add up repeated edges, instead of raising an error.
    columns
        Of an edge list: the columns with the two ends and perhaps with the weight, by name or by position from 1 on.
    header
        Of an edge list: whether its first line names the columns. If None, this is detected; an ambiguous first line is an
        error.
    weights
        Whether weights are an ``"affinity"`` (large means near), a ``"distance"`` d, of which 1/d is taken, or something to
        ``"ignore"``. If None, they are affinities, but a column with a name such as ``length`` is an error that asks you to
        choose.
    weight
        Which attribute of edges is their weight, or which column of an edge list; if None, the one called ``weight``, and the third
        column of an edge list that has three.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "edges.csv"
    ...     _ = file.write_text("from,to\na,b\nb,c\n")
    ...     graph = gpc.read_graph(file)
    >>> graph.vertices, graph.labels
    (3, ('a', 'b', 'c'))
    """
    file = Path(path)
    if weights is not None:
        check_name("value of weights", weights, ["affinity", "distance", "ignore"])
    if weight is not None and weights == "ignore":
        raise InputError("weights are ignored, and cannot be named as well: give one of the two")
    if weight is not None and columns is not None and len(columns) > 2:
        raise InputError("columns name the weight already: give two of them with weight, or leave weight out")
    kind = file.with_suffix("").suffix.lower() if file.suffix.lower() == ".gz" else file.suffix.lower()
    content = read_bytes(file, _PARSED_BY.get(kind, _PARSED))
    if kind not in FORMATS and kind != ".adjlist":
        return parse_edges(
            file,
            content,
            vertices=vertices,
            repair=repair,
            columns=columns,
            header=header,
            weights=weights,
            weight=weight,
        )
    if columns is not None or header is not None:
        raise InputError(f"columns and headers belong to edge lists, and {file} is not an edge list")
    if weight is not None and kind in (".adjlist", ".mtx"):
        raise InputError(f"weight={weight!r} (--weight) is not used: the edges of {file} have no attributes with names")
    if kind == ".adjlist":
        if weights in ("affinity", "distance"):
            raise InputError(f"weights={weights!r} (--weights) is not used: the edges of {file} have no weights")
        return parse_adjacency(file, content, vertices=vertices, repair=repair)
    graph = parse_format(file, content, kind, repair, weights, weight)
    if vertices is not None and integer("vertices", vertices, 1) != graph.vertices:
        raise InputError(f"{file} says that it has {graph.vertices} vertices, not {vertices}")
    return graph
