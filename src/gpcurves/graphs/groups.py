"""Choosing vertices by what they are in their graph."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from gpcurves.errors import InputError, check_name
from gpcurves.graphs.communities import by_attribute, check_partition, communities_of, partition
from gpcurves.graphs.ensembles import Ensemble
from gpcurves.graphs.graph import Graph
from gpcurves.numerics.validation import integer, parse_float

GROUPS = ("isolated", "ends", "dangling", "giant", "small", "degree=K", "component=K", "block=K")
"""Isolated vertices; those with one neighbour; chains that end in such a vertex, with the vertex that they hang on; the
largest component and all others; by number of neighbours, by number of vertices of their component, and the block of a block
model, from 1 on."""
GROUPINGS = ("louvain", "spectral:K", "attribute:NAME", "blocks")
"""What stands for several groups: the communities of a graph by two algorithms, the values of an attribute, and all blocks."""


def check_group(name: object) -> str:
    """Return the name of a group, or raise if there is no such group."""
    if not isinstance(name, str):
        raise InputError(f"a group of vertices must be a name such as 'isolated', got {name!r}")
    kind, _, number = name.partition("=")
    if (known := check_partition(kind)) is not None:  # all of its communities, or one
        return known + name[len(kind) :]
    if f"{kind}=K" in GROUPS and number:
        try:
            integer(kind, parse_float(number), 0)
        except ValueError:
            raise InputError(f"a group {kind}=K needs an integer at least 0, got {name!r}") from None
    else:
        check_name("group of vertices", name, (*GROUPS, *GROUPINGS))
    return name


def check_groups(names: object) -> tuple[str, ...]:
    """Return the names of one or several groups as a tuple, or raise if something is not a group."""
    listed = names if isinstance(names, Iterable) and not isinstance(names, str) else [names]
    return tuple(map(check_group, listed))


def expand_groups(graph: Graph | Ensemble, names: Iterable[str]) -> tuple[str, ...]:
    """Return groups with those in place of a grouping that it stands for, each once."""
    found: list[str] = []
    for name in names:
        kind, one, _ = name.partition("=")
        if check_partition(kind) is None and kind != "block":
            found.append(name)
        elif isinstance(graph, Ensemble):
            found += _blocks(graph, name)
        elif kind in ("block", "blocks"):
            raise InputError(
                f"{name} is of a block model, and the graph is given: use attribute:NAME, louvain or spectral:K"
            )
        else:
            known = [f"{kind}={each}" for each in communities_of(graph, kind)]
            if one and name not in known:
                raise InputError(f"the graph has no community {name!r}: it has {', '.join(known)}")
            found += [name] if one else known
    return tuple(dict.fromkeys(found))


def _blocks(ensemble: Ensemble, name: str) -> list[str]:
    """Return the blocks of an ensemble that a name stands for."""
    known = [f"block={number + 1}" for number in range(len(getattr(ensemble, "shares", ())))]
    if not name.startswith("block"):
        raise InputError(f"{name!r} is for a given graph, but here graphs are drawn from {ensemble!r}")
    if not known:
        raise InputError(f"{ensemble!r} has no blocks: use a block model")
    if name != "blocks" and name not in known:
        raise InputError(f"{ensemble!r} has no group {name!r}: it has {', '.join(known)}")
    return known if name == "blocks" else [name]


def members(graph: Graph, name: str) -> npt.NDArray[np.bool_]:
    """Return which vertices of a graph belong to a group."""
    kind, _, number = check_group(name).partition("=")
    if check_partition(kind) is not None:
        return np.asarray(partition(graph, kind) == number)
    if kind == "block":
        return np.asarray(by_attribute(graph, kind) == number)
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
