"""Neither the order of vertices and edges nor that of labels changes an answer."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import gpcurves as gpc
from gpcurves.cli import run
from gpcurves.graphs.ordering import order_integers, sort_by_name

pytestmark = pytest.mark.usefixtures("few_refits")  # no number here depends on more of them

LATTICE = nx.grid_2d_graph(5, 6)  # symmetric, so that many vertices are equally good to label next
NAMES = {node: f"{'abcdef'[node[0]]}{node[1]}" for node in LATTICE}


def shuffle(graph: nx.Graph, seed: int) -> nx.Graph:
    """Return the same graph with its vertices and edges in another order."""
    rng = np.random.default_rng(seed)
    nodes, edges = list(graph), list(graph.edges)
    other = nx.Graph()
    other.add_nodes_from(nodes[k] for k in rng.permutation(len(nodes)))
    other.add_edges_from(edges[k][::-1] for k in rng.permutation(len(edges)))
    return other


def some_labels(names: list[str]) -> pd.Series:
    """Return labels, of which two are at the same vertex."""
    rng = np.random.default_rng(5)
    chosen = rng.permutation(sorted(names))[:22]
    values = pd.Series(rng.normal(3.0, 2.0, 22).cumsum(), index=chosen)
    return pd.concat([values, pd.Series([values.iloc[3] + 0.1, values.iloc[3] + 1 / 3], index=[chosen[3]] * 2)])


@pytest.mark.slow
def test_forecasts_and_predictions_do_not_depend_on_the_order() -> None:
    graph = nx.relabel_nodes(LATTICE, NAMES)
    known = some_labels(list(graph))
    first = gpc.forecast(graph, known, rng=3)
    other = shuffle(graph, 1)
    second = gpc.forecast(other, known.sample(frac=1, random_state=2), rng=3)
    # the last digit depends on where memory lies: BLAS adds up in another order if arrays begin elsewhere
    pd.testing.assert_frame_equal(first.to_frame(), second.to_frame(), rtol=1e-12)
    pd.testing.assert_frame_equal(first.next_rows(6), second.next_rows(6), check_exact=True)
    assert first.verdict(1.0).sentences == second.verdict(1.0).sentences
    assert first.noise_rmse == pytest.approx(second.noise_rmse, rel=1e-12)
    tables = [each.predict().set_index("vertex").sort_index() for each in (first, second)]
    pd.testing.assert_frame_equal(tables[0], tables[1], rtol=1e-12)
    assert second.predict()["vertex"].tolist() == list(other)  # in the order in which they were given


def test_numbers_are_ordered_as_numbers() -> None:
    """Vertices 0, 1, … need no names, and give what the same names in another order give."""
    plain = nx.convert_node_labels_to_integers(LATTICE)
    y = np.random.default_rng(0).normal(size=12).cumsum()
    first = gpc.GraphRegressor(plain).fit(np.arange(12), y)
    mixed = shuffle(plain, 4)
    second = gpc.GraphRegressor(mixed).fit([str(k) for k in range(12)], y)
    np.testing.assert_allclose(second.predict()[np.argsort(list(mixed))], first.predict(), rtol=1e-12)
    ordered = order_integers(["10", "-3", "9"])
    assert ordered is not None
    assert ordered.tolist() == [1, 2, 0]
    assert order_integers(["a", "3"]) is None


def test_a_sorted_graph_keeps_what_is_known_about_its_vertices() -> None:
    given = gpc.Graph.from_edges([(0, 1), (1, 2)], weights=[2.0, 3.0], labels="cab")
    given = given.with_details(np.array([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]), {"size": np.array([7.0, 8.0, 9.0])})
    moved, numbers = sort_by_name(given)
    assert moved.labels == ("a", "b", "c")
    assert numbers.tolist() == [2, 0, 1]
    assert moved.adjacency.toarray().tolist() == [[0, 3, 2], [3, 0, 0], [2, 0, 0]]
    assert moved.positions is not None
    assert moved.attributes is not None
    assert moved.positions.tolist() == [[2, 3], [4, 5], [0, 1]]
    assert moved.attributes["size"].tolist() == [8, 9, 7]
    assert moved.by_name[0] is moved


@pytest.mark.slow
def test_files_in_another_order_give_the_same_predictions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    graph = nx.relabel_nodes(LATTICE, NAMES)
    known = some_labels(list(graph))
    answers = []
    for k in range(2):
        edges = shuffle(graph, k).edges
        Path("edges.csv").write_text("from,to\n" + "".join(f"{a},{b}\n" for a, b in edges))
        lines = known.sample(frac=1, random_state=k)
        Path("known.csv").write_text("vertex,y\n" + "".join(f"{a},{b!r}\n" for a, b in lines.items()))
        assert run(["predict", "edges.csv", "--labels", "known.csv", "-q", "--map", f"{k}.png"]) == 0
        answers.append(capsys.readouterr().out.splitlines())
    assert answers[0] != answers[1]  # they are written in the order of the file
    assert sorted(answers[0]) == sorted(answers[1])
    assert Path("0.png").read_bytes() == Path("1.png").read_bytes()
    assert run(["predict", "edges.csv", "--labels", "known.csv", "--map", "map.csv"]) == 2
    assert "known are .png, .svg" in capsys.readouterr().err
