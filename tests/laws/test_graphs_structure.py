"""Graphs from whatever holds one, and random graphs: what is kept, what is refused, and how often each graph is drawn."""

from __future__ import annotations

import itertools
import json
import math
import pickle
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath
import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse, stats

import gpcurves.numerics.memory
from gpcurves import GraphProblem, InputError, RandomWalkKernel, learning_curve
from gpcurves.graphs import (
    DegreeDistribution,
    Ensemble,
    ErdosRenyi,
    Graph,
    PowerLaw,
    PreferentialAttachment,
    RandomRegular,
    StochasticBlockModel,
    as_graph,
    graph_from_dict,
    graph_with_degrees,
)
from gpcurves.graphs.ensembles import is_graphical
from gpcurves.graphs.groups import check_group, members
from gpcurves.numerics.validation import FloatArray

# a triangle 0-1-2 with a tail 2-3, a pair 4-5, and the isolated vertex 6
PAIRS = [(0, 1), (1, 2), (0, 2), (2, 3), (4, 5)]
WEIGHTS = [0.5, 2.0, 1.0, 3.0, 0.25]
WEIGHTED = Graph.from_edges(PAIRS, 7, WEIGHTS)


def dense(graph: Graph) -> FloatArray:
    return np.asarray(graph.adjacency.toarray())


def filled(vertices: int, pairs: list[tuple[int, int]], weights: list[float]) -> FloatArray:
    A = np.zeros((vertices, vertices))
    for (i, j), w in zip(pairs, weights, strict=True):
        A[i, j] = A[j, i] = w
    return A


AFFINITIES = filled(7, PAIRS, WEIGHTS)


def networked(kind: type[Any], edges: list[tuple[Any, ...]]) -> Any:
    graph = kind()
    graph.add_weighted_edges_from([edge if len(edge) == 3 else (*edge, 1.0) for edge in edges])
    return graph


# ---- graphs from other forms ----

SAME: dict[str, Callable[[], object]] = {
    "dense array": lambda: AFFINITIES,
    "nested lists": AFFINITIES.tolist,
    "tuple of tuples": lambda: tuple(map(tuple, AFFINITIES.tolist())),
    "csr_array": lambda: sparse.csr_array(AFFINITIES),
    "csr_matrix": lambda: sparse.csr_matrix(AFFINITIES),
    "csc_array": lambda: sparse.csc_array(AFFINITIES),
    "coo_matrix": lambda: sparse.coo_matrix(AFFINITIES),
    "lil_array": lambda: sparse.lil_array(AFFINITIES),
    "single precision": lambda: AFFINITIES.astype(np.float32),  # the weights are exact in it
    "transposed memory": lambda: np.asfortranarray(AFFINITIES),
    "networkx": lambda: nx.from_numpy_array(AFFINITIES),
    "graph": lambda: WEIGHTED,
}


@pytest.mark.parametrize("form", SAME)
def test_every_form_of_a_graph_gives_the_same_graph(form: str) -> None:
    graph = as_graph(SAME[form]())
    assert graph == WEIGHTED
    assert hash(graph) == hash(WEIGHTED)
    assert np.array_equal(dense(graph), AFFINITIES)
    assert graph.labels is None


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.int64, np.float32])
@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.coo_array, sparse.csc_matrix, np.asarray])
def test_integers_and_booleans_are_edges_without_weights(kind: Callable[[Any], Any], dtype: type) -> None:
    A: Any = (AFFINITIES > 0).astype(dtype)
    graph = Graph(kind(A))
    assert not graph.weighted
    assert graph.edges == 5
    assert graph.adjacency.dtype == np.float64


def test_explicit_zeros_are_no_edges_and_duplicates_add_up() -> None:
    row, column = np.array([0, 1, 1, 2, 0, 1]), np.array([1, 0, 2, 1, 1, 0])
    graph = Graph(sparse.coo_array((np.array([1.0, 1, 0, 0, 0.5, 0.5]), (row, column)), shape=(3, 3)))
    assert graph.edges == 1
    assert graph.isolated.tolist() == [False, False, True]
    assert graph.degrees.tolist() == [1.5, 1.5, 0.0]


def test_the_given_matrix_is_neither_changed_nor_kept() -> None:
    given = sparse.csr_array(AFFINITIES)
    given.indices[:2] = given.indices[:2][::-1].copy()  # unsorted, on purpose
    given.data[:2] = given.data[:2][::-1].copy()
    before = given.indices.copy()
    graph = Graph(given)
    assert np.array_equal(given.indices, before)
    given.data[:] = 7.0
    assert np.array_equal(dense(graph), AFFINITIES)


def test_an_igraph_graph_keeps_its_weights_and_names() -> None:
    class Sequence:
        def __init__(self, values: dict[str, list[Any]]) -> None:
            self.values = values

        def attributes(self) -> list[str]:
            return list(self.values)

        def __getitem__(self, name: str) -> list[Any]:
            return self.values[name]

    class Stub:  # the part of igraph.Graph that is used
        es, vs = Sequence({"weight": [2.0]}), Sequence({"name": ["ann", "bob"]})

        def get_adjacency_sparse(self, weight: str | None) -> Any:
            assert weight == "weight"
            return sparse.csr_matrix(np.array([[0, 2.0], [2.0, 0]]))

    Stub.__module__ = "igraph"
    graph = as_graph(Stub())
    assert graph.labels == ("ann", "bob")
    assert graph.edge_list()[1].tolist() == [2.0]


def test_networkx_nodes_give_the_names_and_their_order() -> None:
    given = networked(nx.Graph, [("c", "a", 2.0), ("a", "b")])
    given.add_node("alone")
    graph = as_graph(given)
    assert graph.labels == ("c", "a", "b", "alone")
    assert graph.number("alone") == 3
    assert graph.label(1) == "a"
    assert dense(graph)[0, 1] == 2.0
    assert dense(graph)[1, 2] == 1.0
    assert as_graph(nx.path_graph(4)).labels is None
    assert as_graph(nx.Graph([(1, 0)])).labels == ("1", "0")  # out of order, so the numbers are names
    with pytest.raises(InputError, match="no vertex 'd'"):
        graph.number("d")


def test_a_class_of_ones_own_on_top_of_networkx_is_a_networkx_graph() -> None:
    class Roads(nx.Graph):  # type: ignore[misc, unused-ignore]
        pass

    assert as_graph(Roads([(0, 1), (1, 2)])).edges == 2


def test_a_multigraph_without_repeats_is_a_graph() -> None:
    assert as_graph(nx.MultiGraph([(0, 1), (1, 2)])) == as_graph(nx.path_graph(3))


# ---- what a graph knows ----


def test_degrees_neighbours_components_and_isolated_vertices() -> None:
    assert WEIGHTED.vertices == len(WEIGHTED) == 7
    assert WEIGHTED.edges == 5
    assert WEIGHTED.degrees.tolist() == [1.5, 2.5, 6.0, 3.0, 0.25, 0.25, 0.0]
    assert WEIGHTED.neighbours.tolist() == [2, 2, 3, 1, 1, 1, 0]
    assert WEIGHTED.isolated.tolist() == [False] * 6 + [True]
    assert WEIGHTED.components.tolist() == [0, 0, 0, 0, 1, 1, 2]
    assert WEIGHTED.component_sizes.tolist() == [4, 2, 1]
    assert repr(WEIGHTED) == "Graph(7 vertices, 5 edges with weights from 0.25 to 3)"


def test_the_largest_component_is_number_zero() -> None:
    graph = as_graph(nx.disjoint_union(nx.path_graph(2), nx.path_graph(5)))
    assert graph.components.tolist() == [1, 1, 0, 0, 0, 0, 0]


def test_groups_of_vertices_are_what_their_names_say() -> None:
    expected = {
        "isolated": [6],
        "ends": [3, 4, 5],
        "dangling": [2, 3, 4, 5],
        "giant": [0, 1, 2, 3],
        "small": [4, 5, 6],
        "degree=2": [0, 1],
        "degree=0": [6],
        "component=2": [4, 5],
        "component=7": [],
    }
    for name, vertices in expected.items():
        assert np.flatnonzero(members(WEIGHTED, name)).tolist() == vertices
    for bad in ("degree=x", "degree=-1", "degree=1.5", "degree=", "degree=K", "hub", "isolated=3"):
        with pytest.raises(InputError, match=r"group of vertices|degree"):
            check_group(bad)


def test_dangling_chains_are_followed_to_where_they_hang() -> None:
    ring = nx.cycle_graph(4)
    ring.add_edges_from([(0, 4), (4, 5), (5, 6), (2, 7), (7, 8), (7, 9)])
    assert np.flatnonzero(members(as_graph(ring), "dangling")).tolist() == [0, 4, 5, 6, 7, 8, 9]
    assert members(as_graph(nx.path_graph(5)), "dangling").all()
    assert not members(as_graph(nx.cycle_graph(5)), "dangling").any()


def test_normalised_adjacency_is_its_formula_with_zeros_at_isolated_vertices() -> None:
    d = AFFINITIES.sum(axis=1)
    expected = [[AFFINITIES[i, j] / math.sqrt(d[i] * d[j]) if d[i] * d[j] else 0.0 for j in range(7)] for i in range(7)]
    np.testing.assert_allclose(WEIGHTED.T.toarray(), expected, rtol=1e-15)
    assert np.array_equal(dense(WEIGHTED), AFFINITIES)  # it did not scale the affinities themselves


def test_eigenvectors_are_computed_once_and_stay_at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    t, U = WEIGHTED.eigen
    np.testing.assert_allclose((U * t) @ U.T, WEIGHTED.T.toarray(), atol=1e-14)
    np.testing.assert_allclose(U.T @ U, np.eye(7), atol=1e-14)
    assert (np.diff(t) >= 0).all()
    assert abs(t).max() <= 1
    assert WEIGHTED.eigen[1] is U
    assert not U.flags.writeable
    again = pickle.loads(pickle.dumps(WEIGHTED))
    assert "eigen" not in vars(again)
    assert np.array_equal(again.eigen[0], t)
    monkeypatch.setattr(gpcurves.numerics.memory, "memory_limit", lambda: 1e3)
    with pytest.raises(InputError, match="dense algebra on 7 vertices needs"):
        Graph(AFFINITIES).eigen  # noqa: B018


def test_a_graph_goes_to_other_forms_and_back() -> None:
    named = Graph(AFFINITIES, "abcdefg")
    for graph in (WEIGHTED, named, Graph(AFFINITIES > 0), Graph.from_edges([], 3)):
        assert graph_from_dict(json.loads(json.dumps(graph.to_dict()))) == graph
        assert as_graph(graph.to_networkx()) == graph
        again = pickle.loads(pickle.dumps(graph))
        assert again == graph
        assert hash(again) == hash(graph)
        assert np.array_equal(again.degrees, graph.degrees)
        pairs, weights = graph.edge_list()
        assert (pairs[:, 0] < pairs[:, 1]).all()
        assert len(pairs) == len(weights) == graph.edges
        assert Graph.from_edges(pairs, len(graph), weights, graph.labels) == graph
    assert nx.get_edge_attributes(WEIGHTED.to_networkx(), "weight")[2, 3] == 3.0


def test_graphs_with_other_edges_weights_names_or_sizes_differ() -> None:
    path = Graph.from_edges([(0, 1), (1, 2)])
    others = [
        Graph.from_edges([(0, 1), (0, 2)]),
        Graph.from_edges([(0, 1), (1, 2)], 4),
        Graph.from_edges([(0, 1), (1, 2)], weights=[1, 2]),
        Graph.from_edges([(0, 1), (1, 2)], labels="abc"),
    ]
    assert all(path != other for other in others)
    assert path == Graph.from_edges(np.array([[2, 1], [1, 0]], dtype=np.uint64))
    assert path != "path"
    assert len({path, *others, Graph.from_edges([(1, 2), (0, 1)])}) == 5


def test_an_edge_listed_from_both_ends_counts_once() -> None:
    graph = Graph.from_edges([(0, 1), (2, 1), (1, 0), (1, 2)], weights=[2, 3, 2, 3])
    assert np.array_equal(dense(graph), filled(3, [(0, 1), (1, 2)], [2, 3]))


def test_a_matrix_that_is_symmetric_up_to_rounding_becomes_symmetric() -> None:
    A = AFFINITIES * (1 + 1e-14 * np.random.default_rng(0).random((7, 7)))
    matrix = dense(Graph(A))
    assert np.array_equal(matrix, matrix.T)
    np.testing.assert_allclose(matrix, AFFINITIES, rtol=1e-13)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.floats(0.01, 100)), max_size=12))
def test_edges_of_any_small_graph_survive(edges: list[tuple[int, int, float]]) -> None:
    once = {(min(i, j), max(i, j)): w for i, j, w in edges if i != j}
    graph = Graph.from_edges(list(once), 6, list(once.values()))
    assert np.array_equal(dense(graph), filled(6, list(once), list(once.values())))
    np.testing.assert_allclose(graph.degrees, dense(graph).sum(axis=1), rtol=1e-14)
    assert graph.components.max() + 1 == nx.number_connected_components(graph.to_networkx())
    directed = Graph.from_edges(
        [(i, j) for i, j, _ in edges], 6, [w for *_, w in edges], repair=True
    )  # loops and repeats in any number
    assert np.array_equal(dense(directed), dense(directed).T)
    assert set(map(tuple, directed.edge_list()[0].tolist())) == set(once)


# ---- what is refused, and repaired on request ----

BAD_GRAPHS: dict[str, tuple[Callable[[], object], str]] = {
    "directed": (lambda: as_graph(nx.DiGraph([(0, 1)])), "the graph is directed.*ask for repair"),
    "repeats": (lambda: as_graph(nx.MultiGraph([(0, 1), (0, 1)])), "several edges between the same vertices.*repair"),
    "loop": (lambda: as_graph(nx.Graph([(0, 1), (1, 1)])), "vertex 1 has a self-loop.*ask for repair"),
    "loop, matrix": (lambda: Graph([[0, 1], [1, 1]]), "vertex 1 has a self-loop"),
    "loop, edges": (lambda: Graph.from_edges([(0, 1), (2, 2)]), "vertex 2 has a self-loop"),
    "asymmetric": (lambda: Graph([[0, 1], [2, 0]]), "the adjacency matrix is not symmetric, so that the graph is dir"),
    "one way": (lambda: Graph(sparse.csr_array(np.triu(AFFINITIES))), "is not symmetric"),
    "one way, beside a much heavier edge": (
        lambda: Graph([[0, 1e13, 0], [1e13, 0, 1], [0, 0, 0]]),
        "is not symmetric",
    ),
    "empty, networkx": (lambda: as_graph(nx.Graph()), "the graph is empty: it has no vertices"),
    "empty, sparse": (lambda: Graph(sparse.csr_array((0, 0))), "the graph is empty"),
    "empty, dense": (lambda: Graph(np.empty((0, 0))), "the graph is empty"),
    "empty, list": (lambda: as_graph([]), "an adjacency matrix must be square"),
    "not square": (lambda: Graph(np.zeros((2, 3))), r"must be square, got the shape \(2, 3\)"),
    "not square, sparse": (lambda: Graph(sparse.csr_array((2, 3))), r"must be square, got the shape \(2, 3\)"),
    "vector": (lambda: Graph(np.zeros(3)), r"must be square, got the shape \(3,\)"),
    "vector, sparse": (lambda: Graph(sparse.coo_array(np.array([0.0, 1.0]))), "must be square"),
    "ragged": (lambda: as_graph([[0, 1], [1]]), "must be a square array of (real )?numbers"),
    "text": (lambda: as_graph("a graph"), "must be a square array of (real )?numbers"),
    "wrong type": (lambda: as_graph(3.5), "a graph must be a Graph, a NetworkX .* got float"),
    "nothing": (lambda: as_graph(None), "got NoneType"),
    "complex": (lambda: Graph(np.array([[0, 1j], [1j, 0]])), "must be a square array of (real )?numbers"),
    "complex, sparse": (
        lambda: Graph(sparse.csr_array(np.array([[0, 1j], [1j, 0]]))),
        "must be a square array of (real )?numbers",
    ),
    "NaN": (lambda: Graph([[0, np.nan], [np.nan, 0]]), "weights must be finite, got NaN or infinity"),
    "infinite": (lambda: Graph([[0, np.inf], [np.inf, 0]]), "weights must be finite"),
    "overflow": (lambda: Graph([[0, 1e308], [1e308, 0]]), "weights must be"),
    "NaN, networkx": (lambda: as_graph(networked(nx.Graph, [(0, 1, math.nan)])), "weights must be finite"),
    "text as a weight": (lambda: as_graph(networked(nx.Graph, [(0, 1, "heavy")])), "weights must be numbers"),
    "negative": (lambda: Graph([[0, -0.5], [-0.5, 0]]), "weights must be positive, since .* got -0.5"),
    "negative, hidden in a repeat": (
        lambda: Graph.from_edges([(0, 1), (0, 1)], weights=[3, -1], repair=True),
        "weights must be positive",
    ),
    "NaN, edges": (lambda: Graph.from_edges([(0, 1)], weights=[math.nan]), "weights must be finite"),
    "repeated edge": (
        lambda: Graph.from_edges([(0, 1), (1, 2), (0, 1)]),
        "the edge between vertices 0 and 1 is given more than once.*repair",
    ),
    "two weights": (lambda: Graph.from_edges([(0, 1), (1, 0)], weights=[1, 2]), "given more than once"),
    "thrice": (lambda: Graph.from_edges([(0, 1), (1, 0), (1, 0)]), "given more than once"),
    "triples": (lambda: Graph.from_edges([(0, 1, 2)]), "edges must be pairs of vertex numbers"),
    "fractions": (lambda: Graph.from_edges([(0.5, 1.0)]), "edges must be pairs of vertex numbers"),
    "names": (lambda: Graph.from_edges([("a", "b")]), "edges must be pairs of vertex numbers"),
    "negative number": (lambda: Graph.from_edges([(-1, 0)]), "vertex numbers must be at least 0, got -1"),
    "too few vertices": (lambda: Graph.from_edges([(0, 5)], 5), "vertices must be an integer, at least 6, got 5"),
    "too few weights": (lambda: Graph.from_edges(PAIRS, weights=[1]), r"weights must be one per edge \(5\), got 1"),
    "no numbers": (lambda: Graph.from_edges(PAIRS, weights="light"), "weights must be numbers"),
    "labels, number": (lambda: Graph([[0, 1], [1, 0]], "abc"), r"labels must be one per vertex \(2\), got 3"),
    "labels, same": (lambda: Graph([[0, 1], [1, 0]], (1, "1")), "labels must differ from each other"),
    "huge vertex number": (lambda: Graph.from_edges([(0, 10**16)]), "vert"),
}


@pytest.mark.parametrize("what", BAD_GRAPHS)
def test_what_is_no_graph_is_refused_in_a_sentence(what: str) -> None:
    build, sentence = BAD_GRAPHS[what]
    with pytest.raises(InputError, match=sentence):
        build()


def test_repair_drops_loops_and_averages_directions_where_both_are_given() -> None:
    expected = filled(3, [(0, 1), (1, 2)], [2.0, 5.0])
    edges = [(0, 1, 1.0), (1, 0, 3.0), (2, 1, 5.0), (2, 2, 9.0)]
    matrix = np.zeros((3, 3))
    for i, j, w in edges:
        matrix[i, j] = w
    for form in (matrix, sparse.csc_array(matrix), networked(nx.DiGraph, edges)):
        assert np.array_equal(dense(as_graph(form, repair=True)), expected)


def test_repair_of_edges_is_repair_of_the_matrix_they_are() -> None:
    edges, weights = [(0, 1), (1, 0), (2, 1), (2, 2)], [1.0, 3.0, 5.0, 9.0]
    graph = Graph.from_edges(edges, weights=weights, repair=True)
    assert np.array_equal(dense(graph), filled(3, [(0, 1), (1, 2)], [2.0, 5.0]))


def test_repair_adds_up_repeated_edges() -> None:
    expected = filled(3, [(0, 1), (1, 2)], [3.0, 1.0])
    edges = [(0, 1, 1.0), (0, 1, 2.0), (1, 2, 1.0)]
    for kind in (nx.MultiGraph, nx.MultiDiGraph):
        assert np.array_equal(dense(as_graph(networked(kind, edges), repair=True)), expected)
    graph = Graph.from_edges([edge[:2] for edge in edges], weights=[edge[2] for edge in edges], repair=True)
    assert np.array_equal(dense(graph), expected)


def test_repair_changes_nothing_where_nothing_is_wrong() -> None:
    assert as_graph(AFFINITIES, repair=True) == WEIGHTED
    assert Graph.from_edges([*PAIRS, (1, 0)], 7, [*WEIGHTS, 0.5], repair=True) == WEIGHTED


# ---- degree distributions ----

FOUR: dict[str, Ensemble] = {
    "regular": RandomRegular(3),
    "Erdős-Rényi": ErdosRenyi(3.0),
    "power law": PowerLaw(2.5, 2.0),
    "given": DegreeDistribution((0.1, 0.3, 0.2, 0.0, 0.4)),
    "blocks": StochasticBlockModel((0.25, 0.75), ((3.0, 1.5), (0.5, 1.0))),
    "attachment": PreferentialAttachment(2),
}


def test_every_ensemble_is_tested() -> None:
    ours = {kind for kind in Ensemble.known.values() if kind.__module__.startswith("gpcurves.")}
    assert {type(ensemble) for ensemble in FOUR.values()} == ours


def test_poisson_probabilities_are_the_naive_formula() -> None:
    for mean in (0.0, 0.3, 3.0, 40.0):
        expected = [math.exp(-mean) * mean**d / math.factorial(d) for d in range(60)]
        np.testing.assert_allclose(ErdosRenyi(mean).degree_probabilities(59), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("alpha", "cutoff"),
    [(2.5, 2.0), (2.0, 2.0), (3.0, 4.0), (1.2, 0.5), (10, 50), (2.5, 200.0), (1.05, 0.01), (2.0, 1e-3), (100.0, 3.0)],
)
def test_power_law_probabilities_are_incomplete_gamma_functions(alpha: float, cutoff: float) -> None:
    found = PowerLaw(alpha, cutoff).degree_probabilities(300)
    assert found.shape == (301,)
    for d in (*range(8), 20, 49, 50, 51, 120, 300):
        front = mpmath.mpf(alpha) * mpmath.mpf(cutoff) ** alpha
        expected = front * mpmath.gammainc(d - mpmath.mpf(alpha), cutoff) / mpmath.factorial(d)
        assert found[d] == pytest.approx(float(expected), rel=1e-9, abs=1e-290), d


def test_power_law_falls_as_its_exponent_says() -> None:
    chance = PowerLaw(2.5, 2.0).degree_probabilities(4000)
    assert math.log(chance[4000] / chance[2000]) / math.log(2) == pytest.approx(-3.5, abs=0.01)


def test_a_long_list_of_degrees_needs_little_memory() -> None:
    tracemalloc.start()
    PowerLaw().degree_probabilities(4_500)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1e8


@pytest.mark.parametrize("name", FOUR)
def test_probabilities_sum_to_one_and_have_the_mean_degree(name: str) -> None:
    chance = FOUR[name].degree_probabilities(3000)
    assert (chance >= 0).all()
    exponent = {"power law": 2.5, "attachment": 2.0}.get(name, math.inf)  # ~ d^-3.5, d^-3
    assert chance.sum() + chance[-1] * 3000 / exponent == pytest.approx(1, abs=2e-9)
    mean_tail = chance[-1] * 3000**2 / (exponent - 1)
    assert chance @ np.arange(3001) + mean_tail == pytest.approx(FOUR[name].mean_degree, abs=5e-6)


def test_a_given_distribution_is_padded_and_cut() -> None:
    given = DegreeDistribution([0.25, 0.75])  # type: ignore[arg-type]
    assert given.degree_probabilities(3).tolist() == [0.25, 0.75, 0, 0]
    assert given.degree_probabilities(0).tolist() == [0.25]
    assert DegreeDistribution((0.25, 0.7500001)).degree_probabilities(5).sum() == pytest.approx(1, abs=1e-15)
    assert given == DegreeDistribution(np.array([0.25, 0.75]))  # type: ignore[arg-type]


# ---- samples ----


def assert_simple(graph: Graph) -> None:
    A = graph.adjacency
    assert (A.data == 1).all()
    assert (A.diagonal() == 0).all()
    assert abs(A - A.T).sum() == 0


@pytest.mark.parametrize("name", [name for name in FOUR if name != "regular"])
def test_degrees_of_a_sample_have_their_distribution(name: str) -> None:
    V = 20_000
    graph = FOUR[name].sample(V, 5)
    assert_simple(graph)
    assert graph.vertices == V
    chance = FOUR[name].degree_probabilities(V - 1)
    last = np.flatnonzero(V * chance >= 10)[-1]
    allowed = np.flatnonzero(chance[: last + 1])
    counts = np.bincount(np.minimum(graph.neighbours, last + 1), minlength=last + 2)
    assert counts[np.flatnonzero(chance[: last + 1] == 0)].sum() == 0
    observed = np.append(counts[allowed], counts[last + 1])
    expected = np.append(V * chance[allowed], max(V * (1 - chance[: last + 1].sum()), 1e-9))
    keep = expected > 1e-6
    assert stats.chisquare(observed[keep], expected[keep] * V / expected[keep].sum()).pvalue > 1e-4


@pytest.mark.parametrize("name", FOUR)
def test_the_same_seed_draws_the_same_graph(name: str) -> None:
    ensemble = FOUR[name]
    assert ensemble.sample(50, 3) == ensemble.sample(50, 3)
    assert ensemble.sample(50, 3) == ensemble.sample(50, np.random.default_rng(3))
    assert ensemble.sample(50, 3) != ensemble.sample(50, 4)


@pytest.mark.slow
def test_large_graphs_take_a_moment() -> None:
    def seconds(vertices: int) -> float:
        start = time.process_time()
        for ensemble in FOUR.values():
            assert ensemble.sample(vertices, 1).vertices == vertices
        return time.process_time() - start

    assert seconds(100_000) < 40 * seconds(10_000)  # a little more than ten times; a hundred times if it were quadratic


@pytest.mark.parametrize("vertices", range(1, 13))
@pytest.mark.parametrize(
    "ensemble",
    [PowerLaw(2.5, 2.0), PowerLaw(1.5, 5.0), DegreeDistribution((0.1, 0.2, 0.3, 0.4)), ErdosRenyi(0.0)],
    ids=repr,
)
def test_small_and_crowded_graphs_can_be_drawn(ensemble: Ensemble, vertices: int) -> None:
    graph = ensemble.sample(vertices, vertices)
    assert graph.vertices == vertices
    assert_simple(graph)


def test_every_regular_graph_that_exists_can_be_drawn() -> None:
    assert (RandomRegular(3).sample(20_000, 5).neighbours == 3).all()
    for vertices in range(1, 9):
        for degree in range(vertices):
            if vertices * degree % 2 == 0:
                graph = RandomRegular(degree).sample(vertices, 1)
                assert (graph.neighbours == degree).all()
                assert_simple(graph)


def test_a_complete_graph_is_an_erdos_renyi_graph_too() -> None:
    assert ErdosRenyi(4).sample(5, 1).edges == 10
    assert ErdosRenyi(1).sample(2, 1).edges == 1
    assert ErdosRenyi(0).sample(1, 1).vertices == 1


@pytest.mark.slow
def test_each_pair_of_an_erdos_renyi_graph_is_joined_equally_often_and_independently() -> None:
    samples, joined, edges = 1000, Counter[tuple[int, ...]](), Counter[int]()
    rng = np.random.default_rng(8)
    for _ in range(samples):
        pairs = ErdosRenyi(1.6).sample(5, rng).edge_list()[0].tolist()
        joined.update(map(tuple, pairs))
        edges[len(pairs)] += 1
    chance = 1.6 / 4
    sigma = math.sqrt(chance * (1 - chance) / samples)
    for pair in itertools.combinations(range(5), 2):
        assert abs(joined[pair] / samples - chance) < 4.5 * sigma
    expected = samples * stats.binom(10, chance).pmf(np.arange(11))
    observed = np.array([edges[k] for k in range(11)])
    pooled = [(observed[:2].sum(), expected[:2].sum()), *zip(observed[2:7], expected[2:7], strict=True)]
    pooled.append((observed[7:].sum(), expected[7:].sum()))
    assert stats.chisquare(*map(np.array, zip(*pooled, strict=True))).pvalue > 1e-4


def drawn(degrees: list[int], samples: int) -> Counter[tuple[Any, ...]]:
    """Return how often each labelled graph with these degrees is drawn."""
    rng = np.random.default_rng(4)
    graphs = (graph_with_degrees(degrees, rng).edge_list()[0] for _ in range(samples))
    return Counter(tuple(map(tuple, pairs.tolist())) for pairs in graphs)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("degrees", "graphs", "samples"),
    [
        ([1] * 6, 15, 750),  # perfect matchings
        ([2] * 5, 12, 600),  # pentagons
        ([4] * 6, 15, 150),  # complements of the perfect matchings, which random pairing hardly finds
        ([3, 2, 2, 2, 1], 6, 400),
    ],
)
def test_graphs_with_given_degrees_are_equally_likely(degrees: list[int], graphs: int, samples: int) -> None:
    count = drawn(degrees, samples)
    assert len(count) == graphs
    assert stats.chisquare(list(count.values())).pvalue > 1e-5


@pytest.mark.slow
def test_short_cycles_are_as_frequent_as_among_all_graphs() -> None:
    count = drawn([2] * 6, 1400)  # 10 of the 70 graphs are two triangles
    triangles = sum(times for pairs, times in count.items() if Graph.from_edges(pairs).component_sizes.size == 2)
    assert abs(triangles / 1400 - 1 / 7) < 4.5 * math.sqrt(6) / 7 / math.sqrt(1400)


@pytest.mark.slow
def test_crowded_graphs_are_as_frequent_as_among_all_graphs() -> None:
    rng = np.random.default_rng(1)  # what is missing is a cycle (360 graphs) or a triangle and a square (105 graphs)
    missing = (Graph(1 - np.eye(7) - dense(graph_with_degrees([4] * 7, rng))) for _ in range(300))
    share = np.mean([graph.component_sizes.size == 2 for graph in missing])
    chance = 105 / 465
    assert abs(share - chance) < 4.5 * math.sqrt(chance * (1 - chance) / 300)


def test_graphs_with_given_degrees_are_as_many_as_brute_force_finds() -> None:
    pairs = list(itertools.combinations(range(5), 2))
    found = Counter[tuple[int, ...]]()
    for chosen in itertools.product((0, 1), repeat=10):
        degrees = [0] * 5
        for (i, j), there in zip(pairs, chosen, strict=True):
            degrees[i] += there
            degrees[j] += there
        found[tuple(degrees)] += 1
    assert found[3, 2, 2, 2, 1] == 6  # as the test above has it
    assert found[2, 2, 2, 2, 2] == 12
    for degrees_ in itertools.product(range(6), repeat=5):
        assert is_graphical(np.array(degrees_)) == (degrees_ in found)


def test_uneven_degrees_are_kept_exactly() -> None:
    degrees = np.array([40, 1, 1, 3, 0, *[2] * 50, 17, *[1] * 16])
    degrees[-1] += degrees.sum() % 2
    assert np.array_equal(graph_with_degrees(degrees, 2).neighbours, degrees)
    assert graph_with_degrees(np.array([2.0, 2.0, 2.0]), 0).edges == 3
    assert graph_with_degrees([0, 0], 0).edges == 0
    assert graph_with_degrees([*[1] * 500, 500], 0).edges == 500


@pytest.mark.parametrize("name", FOUR)
def test_saved_and_loaded_ensemble_is_the_same(name: str) -> None:
    again = Ensemble.from_dict(json.loads(json.dumps(FOUR[name].to_dict())))
    assert again == FOUR[name]
    assert repr(again) == repr(FOUR[name])
    assert again.sample(30, 2) == FOUR[name].sample(30, 2)


@dataclass(frozen=True)
class _Geometric(Ensemble):
    """Degrees with geometric probabilities: what somebody may write who needs no more than this."""

    ratio: float = 0.5

    def degree_probabilities(self, largest: int) -> FloatArray:
        return (1 - self.ratio) * self.ratio ** np.arange(largest + 1.0)


def test_degree_probabilities_are_all_that_an_ensemble_must_define() -> None:
    ensemble = _Geometric(0.6)
    assert ensemble.mean_degree == pytest.approx(1.5, rel=1e-12)
    assert ensemble.degree_distribution().sum() == pytest.approx(1, abs=1e-6)
    graph = ensemble.sample(20_000, 1)
    share = np.bincount(graph.neighbours)[:5] / 20_000
    expected = ensemble.degree_probabilities(4)
    assert (abs(share - expected) < 4 * np.sqrt(expected / 20_000)).all()
    curve = learning_curve(GraphProblem(ensemble, RandomWalkKernel(2), 0.1), "cavity", nu=[1.0], precision=0.2, rng=0)
    assert 0 < curve.error[0] < 1


def test_ensembles_by_their_names_and_numbers_on_the_command_line() -> None:
    kinds: dict[str, Any] = Ensemble.offered()
    assert kinds["regular"](3.0) == RandomRegular(3)
    assert kinds["er"](2.5) == ErdosRenyi(2.5)
    assert kinds["powerlaw"](2.5, 2.0) == PowerLaw(alpha=2.5, cutoff=2.0)
    assert kinds["degrees"]((0.1, 0.9)) == DegreeDistribution((0.1, 0.9))


BAD_ENSEMBLES: dict[str, tuple[Callable[[], object], str]] = {
    "regular, negative": (lambda: RandomRegular(-1), "degree must be an integer, at least 0, got -1"),
    "regular, fraction": (lambda: RandomRegular(2.5), "degree must be an integer"),  # type: ignore[arg-type]
    "regular, odd": (lambda: RandomRegular(3).sample(5, 0), "no graph has 5 vertices of degree 3: .* even"),
    "regular, too many": (lambda: RandomRegular(4).sample(4, 0), "no graph has 4 vertices of degree 4: .* less than 4"),
    "mean, negative": (lambda: ErdosRenyi(-0.1), "mean degree must be at least 0, got -0.1"),
    "mean, NaN": (lambda: ErdosRenyi(math.nan), "mean degree must be finite"),
    "mean, too large": (lambda: ErdosRenyi(3).sample(3, 0), "a graph of 3 vertices has a mean degree of at most 2"),
    "alpha": (lambda: PowerLaw(1.0, 2), "alpha must be greater than 1 for a finite mean degree, got 1"),
    "alpha, negative": (lambda: PowerLaw(-2.0), "alpha must be greater than 0"),
    "cut-off": (lambda: PowerLaw(2.5, 0.0), "cutoff must be greater than 0, got 0"),
    "sum": (lambda: DegreeDistribution((0.5, 0.4)), "degree probabilities must sum to 1, got 0.9"),
    "negative": (lambda: DegreeDistribution((1.5, -0.5)), "finite numbers, at least 0"),
    "NaN": (lambda: DegreeDistribution((math.nan, 1.0)), "finite numbers, at least 0"),
    "empty": (lambda: DegreeDistribution(()), "finite numbers, at least 0"),
    "text": (lambda: DegreeDistribution("half"), "must be a list of numbers"),  # type: ignore[arg-type]
    "two rows": (lambda: DegreeDistribution(((1.0,), (0.0,))), "finite numbers"),  # type: ignore[arg-type]
    "never even": (
        lambda: DegreeDistribution((0, 0, 0, 1)).sample(5, 0),
        "no graph of 5 vertices has the degrees that Degree",
    ),
    "no vertices": (lambda: ErdosRenyi().sample(0), "vertices must be an integer, at least 1, got 0"),
    "half a vertex": (lambda: PowerLaw().sample(2.5), "vertices must be an integer"),  # type: ignore[arg-type]
    "too many vertices": (lambda: ErdosRenyi().sample(10**12), "vertices must be at most"),
    "negative degrees": (lambda: ErdosRenyi(3).degree_probabilities(-1), "largest must be an integer"),
    "negative degrees, given": (lambda: FOUR["given"].degree_probabilities(-2), "largest must be an integer"),
    "degrees, odd": (lambda: graph_with_degrees([1, 1, 1]), "their sum must be even, got 3"),
    "degrees, many": (lambda: graph_with_degrees([2, 2]), "no simple graph has these degrees"),
    "degrees, not graphical": (lambda: graph_with_degrees([3, 3, 1, 1]), "no simple graph has these degrees"),
    "degrees, negative": (lambda: graph_with_degrees([-1, 1]), "degrees must be at least 0, got -1"),
    "degrees, fraction": (lambda: graph_with_degrees([1.5, 0.5]), "degrees must be a list of integers"),
    "degrees, NaN": (lambda: graph_with_degrees([math.nan, 1]), "degrees must be a list of integers"),
    "degrees, infinite": (lambda: graph_with_degrees([math.inf, 1]), "degrees must be a list of integers"),
    "degrees, text": (lambda: graph_with_degrees(["a", "b"]), "degrees must be a list of integers"),
    "degrees, ragged": (lambda: graph_with_degrees([[1], [1, 2]]), "degrees must be a list of integers"),
    "degrees, none": (lambda: graph_with_degrees([]), "degrees must be a list of integers"),
    "unknown": (lambda: Ensemble.from_dict({"type": "ErdosReny"}), "unknown ensemble 'ErdosReny' in saved data"),
    "seed below 0": (lambda: ErdosRenyi(3).sample(30, -1), "rng must be an integer at least 0"),
    "unknown name": (lambda: Ensemble.named("power"), "did you mean 'powerlaw'"),
}


@pytest.mark.parametrize("what", BAD_ENSEMBLES)
def test_what_is_no_ensemble_or_has_no_graph_is_refused_in_a_sentence(what: str) -> None:
    build, sentence = BAD_ENSEMBLES[what]
    with pytest.raises(InputError, match=sentence):
        build()
