"""Uneven noise, labelling and test inputs in simulations and by belief propagation, against exact averages and each other."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pytest

import gpcurves as gpc

WALK = gpc.RandomWalkKernel(p=4, a=2.0)
POINTS = np.array([[0.0], [0.3], [0.9]])
CHANCE, NOISE = np.array([0.5, 0.3, 0.2]), np.array([0.02, 0.2, 1.0])
ELSEWHERE = np.array([[0.5], [1.4]])


def test_data_sets_on_vectors_average_to_the_exact_error() -> None:
    problem = gpc.Problem(
        gpc.RBF(0.5),
        gpc.Discrete(POINTS, CHANCE),
        gpc.UnevenNoise(values=NOISE),
        test=gpc.Discrete(ELSEWHERE, [0.25, 0.75]),
    )
    exact = 0.0
    for rows in itertools.product(range(3), repeat=2):
        at = list(rows)
        cross = problem.kernel(POINTS[at], ELSEWHERE)
        K = problem.kernel(POINTS[at]) + np.diag(NOISE[at])
        variances = 1 - np.einsum("ij,ij->j", cross, np.linalg.solve(K, cross))
        exact += float(np.prod(CHANCE[at])) * float(variances @ [0.25, 0.75])
    truth = gpc.learning_curve(problem, "simulation", [0, 2], datasets=1_000, rng=1)
    assert truth.stderr is not None
    np.testing.assert_allclose(truth.error[0], 1.0)
    assert 0 < truth.stderr[1] < 0.01
    assert abs(truth.error[1] - exact) < 4 * truth.stderr[1]


def test_a_closed_form_of_shifted_test_inputs_agrees_with_test_points() -> None:
    shifted = gpc.Problem(gpc.RBF(0.2), gpc.Gaussian(1), 0.05, test=gpc.Box(1))
    nodes, weights = gpc.Box(1).nodes(60)
    listed = gpc.Problem(gpc.RBF(0.2), gpc.Gaussian(1), 0.05, test=gpc.Discrete(nodes, weights))
    closed, points = (
        gpc.learning_curve(each, "simulation", [0, 3, 12], datasets=5, rng=0) for each in (shifted, listed)
    )
    np.testing.assert_allclose(closed.error, points.error, rtol=1e-6)


def test_classes_at_shifted_test_inputs() -> None:
    far = gpc.Problem(gpc.RBF(0.1), gpc.Box(1), gpc.Probit(), test=gpc.Discrete([[5.0]]))
    curve = gpc.learning_curve(far, "simulation", [0, 20], datasets=60, rng=0)
    assert curve.stderr is not None
    assert (abs(curve.error - 1.0) < 4 * curve.stderr).all()  # nothing is learnt about it
    assert abs(gpc.learning_curve(far, "local", [20]).error[0] - 1) < 1e-6


def test_data_sets_on_graphs_average_to_the_exact_error() -> None:
    graph = gpc.as_graph(networkx.path_graph(4))
    weights, test, noise = np.array([0.6, 0.4, 0, 0]), np.array([0, 0.1, 0.2, 0.7]), np.array([0.1, 0.5, 1, 1])
    problem = gpc.GraphProblem(graph, WALK, noise, weights=weights, test_weights=test)
    C = WALK.on(graph).matrix()
    exact = 0.0
    for first, second in itertools.product(range(2), repeat=2):
        at = [first, second]
        K = C[np.ix_(at, at)] + np.diag(noise[at])
        variances = C.diagonal() - np.einsum("ij,ij->j", C[at], np.linalg.solve(K, C[at]))
        exact += weights[first] * weights[second] * float(test @ variances)
    for name, options in (("simulation", {"datasets": 300}), ("cavity", {"precision": 0.001})):
        curve = gpc.learning_curve(problem, gpc.METHODS[name], n=[2], rng=0, **options)
        assert curve.stderr is not None
        assert 0 < curve.stderr[0] < 0.01
        assert abs(curve.error[0] - exact) < 4 * curve.stderr[0], name


def test_groups_of_vertices_count_by_their_test_weights() -> None:
    graph = networkx.star_graph(4)
    test = {"0": 0.6, "1": 0.1, "2": 0.3}
    problem = gpc.GraphProblem(graph, WALK, 0.1, test_weights=test)
    for name in ("simulation", "cavity"):
        curve = gpc.learning_curve(problem, gpc.METHODS[name], nu=[0.0, 1.0], rng=0, among=["ends", "degree=4"])
        assert curve.details["share ends"][0] == pytest.approx(0.4)
        parts = sum(curve.details[f"share {group}"] * curve.details[f"error {group}"] for group in ("ends", "degree=4"))
        np.testing.assert_allclose(parts, curve.error, rtol=1e-9)


def test_variances_of_vertices_average_to_the_curve() -> None:
    problem = gpc.GraphProblem(networkx.path_graph(12), WALK, 0.1, weights={0: 0.5, 1: 0.5}, test_weights={11: 1.0})
    for name in ("simulation", "cavity"):
        spread = gpc.vertex_variances(problem, 1.0, gpc.METHODS[name], datasets=20, rng=0)
        np.testing.assert_allclose(spread.mean, spread.by_vertex[11], rtol=1e-9)
        assert spread.by_vertex[0] < 0.2 < spread.by_vertex[11]


def test_beliefs_take_noise_per_vertex() -> None:
    tree = gpc.as_graph(networkx.random_labeled_tree(15, seed=2))
    noise = np.linspace(0.05, 0.6, 15)
    counts = np.arange(15) % 3
    beliefs = gpc.belief_propagation(gpc.GraphProblem(tree, WALK, noise), counts)
    C, seen = WALK.on(tree).matrix(), np.flatnonzero(counts)
    K = C[np.ix_(seen, seen)] + np.diag(noise[seen] / counts[seen])
    exact = C.diagonal() - np.einsum("ij,ij->j", C[seen], np.linalg.solve(K, C[seen]))
    np.testing.assert_allclose(beliefs.variance, exact, rtol=1e-8)


def test_cycles_are_measured_with_weights_and_noise_of_vertices() -> None:
    graph = networkx.grid_2d_graph(6, 6)
    weights = np.where(np.arange(36) < 18, 1 / 18, 0.0)
    problem = gpc.GraphProblem(graph, WALK, np.full(36, 0.1), weights=weights)
    curve = gpc.learning_curve(problem, "cavity", nu=[0.5], rng=0)
    truth = gpc.learning_curve(problem, "simulation", nu=[0.5], rng=0)
    assert truth.stderr is not None
    off = float(curve.diagnostics["loop_error"][0])
    assert abs(curve.error[0] / (1 + off) - truth.error[0]) < 4 * truth.stderr[0] + 0.01 * truth.error[0]


def test_uneven_problems_are_saved_and_reproduced(tmp_path: Path) -> None:
    own = gpc.UnevenNoise(lambda X: 0.1 + X[:, 1] ** 2, title="second column")
    vectors = gpc.Problem(gpc.RBF(0.3), gpc.Box(2), own, test=gpc.Gaussian(2, 0.3))
    network = gpc.GraphProblem(networkx.path_graph(5), WALK, [0.1, 0.2, 0.3, 0.4, 0.5], weights={"0": 0.7, "4": 0.3})
    for problem, sizes in ((vectors, {"n": [0, 4]}), (network, {"nu": [0, 1.0]})):
        for name, options in (("local", {}), ("simulation", {"datasets": 3, "rng": 5})):
            curve = gpc.learning_curve(problem, gpc.METHODS[name], **sizes, **options)
            curve.to_json(tmp_path / "curve.json")
            back = gpc.load(tmp_path / "curve.json")
            assert back.problem == problem
            again = gpc.learning_curve(back.problem, back.method, back.n, rng=back.rng, **back.options)
            np.testing.assert_array_equal(again.error, curve.error)
    assert network.to_dict()["test"] == {"type": "Vertices"}  # the graph is saved once


def test_a_store_tells_weights_apart(tmp_path: Path) -> None:
    graph = networkx.path_graph(5)
    options: dict[str, Any] = {"nu": [1.0], "datasets": 3, "rng": 0, "store": tmp_path / "store.sqlite"}
    plain = gpc.GraphProblem(graph, WALK, 0.1)
    often = gpc.GraphProblem(graph, WALK, 0.1, weights={"0": 1.0})
    first, second = (gpc.learning_curve(each, "simulation", **options).error for each in (plain, often))
    assert first != second
    np.testing.assert_array_equal(gpc.learning_curve(often, "simulation", **options).error, second)
