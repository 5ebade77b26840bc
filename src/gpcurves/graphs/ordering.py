"""The order of vertices by their names: results that depend on it do not depend on the order in a file."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import numpy as np

from gpcurves.graphs.graph import Graph, IntArray

_MOST_DIGITS = 18  # of integers that 64 bits hold


def order_integers(names: Sequence[str]) -> IntArray | None:
    """Return the positions of names in the order of their numbers; None if some name is not an integer."""
    if not all(name.isascii() and name.removeprefix("-").isdecimal() for name in names):
        return None
    if max(map(len, names)) <= _MOST_DIGITS and len(set(values := list(map(int, names)))) == len(names):
        return np.argsort(np.array(values))
    # 1 and 01 are the same number, and Python does not read very long ones
    return np.array(sorted(range(len(names)), key=lambda k: (Decimal(names[k]), names[k])))


def sort_by_name(graph: Graph) -> tuple[Graph, IntArray]:
    """Return the same graph with its vertices in the order of their names, and the number that each of them has there."""
    names = graph.labels
    if names is None:
        return graph, np.arange(graph.vertices)
    order = order_integers(names)
    if order is None:
        order = np.array(sorted(range(len(names)), key=names.__getitem__))
    numbers = np.empty(len(names), dtype=np.int64)
    numbers[order] = np.arange(len(names))
    if np.array_equal(order, np.arange(len(names))):
        return graph, numbers
    moved = Graph(graph.adjacency[order][:, order], [names[k] for k in order.tolist()])
    attributes = graph.attributes
    return (
        moved.with_details(
            None if graph.positions is None else graph.positions[order],
            None if attributes is None else {name: values[order] for name, values in attributes.items()},
            graph.notes,
        ),
        numbers,
    )
