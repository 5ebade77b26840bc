"""Choosing vertices by what they are in their graph."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from gpcurves.errors import InputError, check_name
from gpcurves.graphs.graph import Graph
from gpcurves.numerics.validation import integer, parse_float

GROUPS = ("isolated", "ends", "dangling", "giant", "small", "degree=K", "component=K")
"""Isolated vertices; those with one neighbour; chains that end in such a vertex, with the vertex that they hang on; the
largest component and all others; by number of neighbours, and by number of vertices of their component."""


def check_group(name: object) -> str:
    """Return the name of a group, or raise if there is no such group."""
    if not isinstance(name, str):
        raise InputError(f"a group of vertices must be a name such as 'isolated', got {name!r}")
    kind, _, number = name.partition("=")
    if f"{kind}=K" in GROUPS and number:
        try:
            integer(kind, parse_float(number), 0)
        except ValueError:
            raise InputError(f"a group {kind}=K needs an integer at least 0, got {name!r}") from None
    else:
        check_name("group of vertices", name, GROUPS)
    return name


def check_groups(names: object) -> tuple[str, ...]:
    """Return the names of one or several groups as a tuple, or raise if something is not a group."""
    listed = names if isinstance(names, Iterable) and not isinstance(names, str) else [names]
    return tuple(map(check_group, listed))


def members(graph: Graph, name: str) -> npt.NDArray[np.bool_]:
    """Return which vertices of a graph belong to a group."""
    kind, _, number = check_group(name).partition("=")
    if kind == "degree":
        return np.asarray(graph.neighbours == int(float(number)))
    if kind == "component":
        return np.asarray(graph.component_sizes[graph.components] == int(float(number)))
    if kind == "isolated":
        return graph.isolated
    if kind == "ends":
        return np.asarray(graph.neighbours == 1)
    if kind == "dangling":
        return _dangling(graph)
    return np.asarray((graph.components == 0) == (kind == "giant"))


def _dangling(graph: Graph) -> npt.NDArray[np.bool_]:
    """Return which vertices belong to a chain that ends in a vertex with one neighbour, or carry such a chain."""
    chain = np.asarray(graph.neighbours == 1)
    while True:
        beside = np.asarray(graph.adjacency @ chain) > 0
        longer = chain | (beside & (graph.neighbours == 2))
        if (longer == chain).all():
            return chain | beside
        chain = longer
