"""Drawings of graphs: vertices are where the graph says that they are."""

from __future__ import annotations

import networkx as nx
import numpy as np

import gpcurves as gpc
from gpcurves.numerics.validation import FloatArray

EDGES = [("Oslo", "Rome"), ("Rome", "Lisbon"), ("Lisbon", "Oslo")]
PLACES = {"Oslo": (59.9, 10.8), "Rome": (41.9, 12.5), "Lisbon": (38.7, -9.1)}


def drawn(graph: nx.Graph) -> FloatArray:
    """Return where vertices are drawn, right and up."""
    display = gpc.draw_graph(graph)
    assert not display.ax_.yaxis_inverted()
    return np.asarray(display.lines_["vertices"].get_offsets())


def test_vertices_are_drawn_at_their_places_with_north_up() -> None:
    graph = nx.Graph(EDGES)
    nx.set_node_attributes(graph, {name: {"lat": lat, "lon": lon} for name, (lat, lon) in PLACES.items()})
    np.testing.assert_array_equal(drawn(graph), [PLACES[name][::-1] for name in graph])


def test_without_places_or_with_one_for_all_neighbours_are_drawn_close_to_each_other() -> None:
    graph = nx.Graph(EDGES)
    free = drawn(graph)
    assert np.linalg.norm(free[:, None] - free, axis=2)[np.triu_indices(3, 1)].min() > 0.1
    nx.set_node_attributes(graph, 1.0, "x")
    nx.set_node_attributes(graph, 2.0, "y")
    np.testing.assert_array_equal(drawn(graph), free)
