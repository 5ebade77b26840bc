"""What `diagnose` says about the shape of a graph, against NetworkX and brute force, and about the cavity method, as measured."""

from __future__ import annotations

import json

import networkx as nx
import numpy as np
import pytest

import gpcurves as gpc
from commands import command
from gpcurves.graphs import diagnosis, shape

GRAPHS = {
    "club": nx.karate_club_graph(),
    "small world": nx.watts_strogatz_graph(120, 6, 0.1, seed=1),
    "two pieces and a loner": nx.disjoint_union_all([nx.path_graph(9), nx.cycle_graph(5), nx.empty_graph(1)]),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_clustering_is_that_of_networkx(name: str) -> None:
    graph = GRAPHS[name]
    several = [vertex for vertex, degree in graph.degree() if degree > 1]
    expected = np.mean(list(nx.clustering(graph, several).values()))
    found = gpc.diagnose(graph).shape
    assert found.clustering == pytest.approx(expected, rel=1e-12)
    assert found.clustering_vertices == len(several)


@pytest.mark.parametrize("name", GRAPHS)
def test_the_effective_diameter_is_that_of_all_distances(name: str) -> None:
    graph = GRAPHS[name]
    lengths = [d for _, row in nx.all_pairs_shortest_path_length(graph) for d in row.values() if d > 0]
    steps = max(d for d in lengths)
    within = [np.mean([d <= k for d in lengths]) for k in range(steps + 1)]
    expected = np.interp(0.9, within, range(steps + 1))
    assert gpc.diagnose(graph).shape.effective_diameter == pytest.approx(expected, rel=1e-9)


@pytest.mark.slow
def test_samples_of_large_graphs_are_close(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = nx.watts_strogatz_graph(1500, 6, 0.1, seed=2)
    whole = gpc.diagnose(graph)
    assert whole.shape.sources > 100  # measured before there are limits
    monkeypatch.setattr(shape, "_PAIRS", 2e4)
    monkeypatch.setattr(shape, "_STEPS", 2e5)
    monkeypatch.setattr(diagnosis, "_WORK", 1e5)
    sampled = gpc.diagnose(graph)
    assert sampled.sample is not None
    assert len(sampled.variances) == len(sampled.sample) == len(sampled.to_frame()) < 1500
    np.testing.assert_allclose(sampled.variances, whole.variances[sampled.sample], rtol=0.04)  # but for the average
    assert sampled.shape.clustering_vertices < 1000
    assert sampled.shape.sources < whole.shape.sources
    assert sampled.shape.clustering == pytest.approx(whole.shape.clustering, rel=0.1)
    assert sampled.shape.effective_diameter == pytest.approx(whole.shape.effective_diameter, rel=0.1)
    assert f"(a sample of {len(sampled.sample):,} vertices)" in sampled.report()


def test_tails_are_told_apart() -> None:
    rng = np.random.default_rng(0)
    heavy = shape.fit_tail(rng.zipf(2.5, 5000))
    assert heavy.exponent == pytest.approx(2.5, abs=0.15)
    assert "heavy tail, like a power law" in str(heavy)
    light = shape.fit_tail(rng.poisson(6.0, 5000))
    assert "no heavy tail" in str(light)
    assert "too few degrees differ" in str(shape.fit_tail(np.full(100, 3)))
    assert "too few degrees differ" in str(shape.fit_tail(np.zeros(3, dtype=np.int64)))


def test_cycles_decide_whether_the_cavity_method_is_trusted() -> None:
    tree = gpc.diagnose(nx.random_labeled_tree(40, seed=1)).trust
    assert tree.loop_error == 0
    assert "exact" in str(tree)
    random = gpc.diagnose(gpc.RandomRegular(3).sample(400, 1), gpc.RandomWalkKernel(4)).trust
    assert random.loop_error < 0.03
    assert str(random).startswith("You can trust the cavity method here")
    triangles = gpc.diagnose(nx.complete_graph(8), gpc.RandomWalkKernel(4)).trust
    assert triangles.loop_error > 0.1
    assert str(triangles).startswith("Do not trust the cavity method here")
    assert "cannot be used" in str(gpc.diagnose(nx.cycle_graph(5), gpc.RandomWalkKernel(500)).trust)


def test_the_report_has_all_of_it() -> None:
    code, out, _ = command("diagnose", "--ensemble", "ba:2", "--vertices", "60", "--p", "4")
    assert code == 0
    for words in (
        "The clustering coefficient is",
        "The effective diameter is",
        "The largest degree is",
        "cavity method here",
    ):
        assert words in out
    code, out, _ = command("diagnose", "--ensemble", "ba:2", "--vertices", "60", "--p", "4", "--json")
    data = json.loads(out)
    assert data["shape"]["tail"]["largest"] > 5
    assert data["cavity"]["loop_error"] >= 0
    assert data["examined"] == 60
