"""Sparse elimination with a dense core, against dense algebra."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import gpcurves as gpc
from gpcurves.forecasting.networks import candidates
from gpcurves.graphs.covariance import GraphCovariance
from gpcurves.graphs.elimination import elimination, inverse_diagonal
from gpcurves.numerics.validation import FloatArray

RANDOM = gpc.as_graph(nx.gnm_random_graph(150, 280, seed=0))
GRAPHS = {
    "random": RANDOM,
    "grid": gpc.as_graph(nx.convert_node_labels_to_integers(nx.grid_2d_graph(9, 11))),
    "complete": gpc.as_graph(nx.complete_graph(9)),
    "without edges": gpc.Graph.from_edges([], vertices=5),
}


@pytest.mark.parametrize("exponent", [1, 2, 4])
@pytest.mark.parametrize("name", GRAPHS)
def test_the_diagonal_of_powers_is_that_of_dense_algebra(name: str, exponent: int) -> None:
    graph = GRAPHS[name]
    found = elimination(graph)
    assert found is not None
    A = 8.0 * np.eye(graph.vertices) - 7.0 * graph.T.toarray()
    expected = np.diag(np.linalg.matrix_power(np.linalg.inv(A), exponent))
    np.testing.assert_allclose(inverse_diagonal(graph, 7.0, exponent, found), expected, rtol=1e-12)


def test_random_graphs_have_a_core_that_counts_for_less() -> None:
    found = elimination(RANDOM)
    assert found is not None
    assert 10 < found.core < 75
    assert found.solving < 0.6 * found.fill
    assert found.work < 0.4 * (found.counts**2).sum()


@pytest.mark.parametrize("most", [1e8, 400.0])
def test_rows_that_are_kept_are_those_of_the_kernel(most: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are computed once for each vertex of a kernel, unless there are too many to keep."""
    monkeypatch.setattr(candidates, "MOST_DENSE", 10)
    monkeypatch.setattr(candidates, "_MOST_HELD", most)
    asked: list[int] = []
    rows = GraphCovariance.rows

    def count(self: GraphCovariance, vertices: FloatArray) -> FloatArray:
        asked.extend(vertices)
        return rows(self, vertices)

    monkeypatch.setattr(GraphCovariance, "rows", count)
    last: dict[tuple[object, ...], object] = {}
    everywhere = np.arange(RANDOM.vertices)
    for kernel in (gpc.MaternGraphKernel(2.0, 1.0), gpc.MaternGraphKernel(4.0, 2.0)):
        C = kernel.normalised("none").on(RANDOM).matrix()
        asked.clear()
        raw = candidates.RawCovariance(kernel, RANDOM, last)
        for columns in (np.array([5, 3]), np.array([7, 3, 5, 100]), np.array([3])):
            np.testing.assert_allclose(raw.between(everywhere, columns), C[:, columns], atol=1e-12)
            np.testing.assert_allclose(raw.between(columns, columns), C[np.ix_(columns, columns)], atol=1e-12)
        assert sorted(asked) == ([3, 5, 7, 100] if most == 1e8 else [3, 3, 5, 5, 7, 100])
