"""Tasks on networks leave alone what is reserved, and the baselines are what their names say."""

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import block_array, csr_array

from benchmarks.network import sources, tasks
from benchmarks.network.baselines import harmonic, label_mean, neighbour_average
from benchmarks.network.score import score
from benchmarks.network.tasks import Task


@pytest.fixture(scope="module")
def graph() -> csr_array:
    """Return a weighted graph, and a part that no label reaches."""
    one = nx.gnm_random_graph(40, 70, seed=1)
    rng = np.random.default_rng(0)
    nx.set_edge_attributes(one, {edge: rng.uniform(0.5, 2.0) for edge in one.edges}, "weight")
    weights = nx.to_scipy_sparse_array(one, weight="weight", format="csr")
    return csr_array(block_array([[weights, None], [None, csr_array([[0.0, 1.0], [1.0, 0.0]])]]))


LABELS = np.array([0, 7, 11, 19, 26, 33])
VALUES = np.array([1.0, -2.0, 4.0, 0.5, 3.0, 2.5])


def test_no_reserved_network_is_listed_or_opened() -> None:
    listed = {name.split("/")[1].lower() for name in [*sources.list_networks(), *tasks.CATALOGUE]}
    assert not listed & sources.RESERVED
    for name in ("grid/case118", "water/ky4", "map/sids2"):
        with pytest.raises(ValueError, match="reserved for judging"):
            sources.read(name)


def test_tasks_on_one_system_stay_together() -> None:
    systems = {tasks.system(name): tasks.third(name) for name in tasks.names()}
    assert all(systems[tasks.system(name)] == tasks.third(name) for name in tasks.names())
    assert 0.25 < np.mean([tasks.third(name) for name in tasks.names()]) < 0.42
    assert tasks.system("grid/case6470rte/angle") == tasks.system("grid/case2848rte/load")
    assert len(tasks.names()) == len(set(tasks.names())) >= 50


def test_harmonic_values_are_means_of_neighbours(graph: csr_array) -> None:
    found = harmonic(graph, LABELS, VALUES).mean
    part = nx.node_connected_component(nx.from_scipy_sparse_array(graph), 0)
    np.testing.assert_allclose(found[LABELS], VALUES)
    for vertex in part - set(LABELS.tolist()):
        row = graph[[vertex]].toarray()[0]
        assert found[vertex] == pytest.approx(row @ found / row.sum())
    np.testing.assert_allclose(found[-2:], VALUES.mean())


def test_neighbours_or_else_the_nearest_label(graph: csr_array) -> None:
    found = neighbour_average(graph, LABELS, VALUES).mean
    network = nx.from_scipy_sparse_array(graph)
    for vertex in set(network) - set(LABELS.tolist()):
        near = [
            (network[vertex][label]["weight"], value)
            for label, value in zip(LABELS, VALUES, strict=True)
            if network.has_edge(vertex, label)
        ]
        if near:
            assert found[vertex] == pytest.approx(sum(w * value for w, value in near) / sum(w for w, _ in near))
            continue
        hops = nx.single_source_shortest_path_length(network, vertex)
        reached = [hops[label] for label in LABELS if label in hops]
        nearest = [
            value for label, value in zip(LABELS, VALUES, strict=True) if reached and hops.get(label) == min(reached)
        ]
        assert found[vertex] in (nearest or [pytest.approx(VALUES.mean())])


def test_scores_are_of_vertices_without_a_label(graph: csr_array) -> None:
    values = np.arange(42.0)
    values[[3, 5]] = np.nan
    task = Task(graph, values, [str(i) for i in range(42)], None)
    mse, inside = score(task, label_mean, 20, [1, 2, 3])
    picked = np.random.default_rng([1, 2, 3]).permutation(np.flatnonzero(np.isfinite(values)))
    train, rest = values[picked[:20]], values[picked[20:]]
    assert mse == pytest.approx(np.mean((rest - train.mean()) ** 2))
    assert inside is not None
    assert inside > 0.5
