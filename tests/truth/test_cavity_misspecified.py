"""The cavity method for a wrong student: exact on trees, against dense algebra and against simulation."""

from __future__ import annotations

from typing import Any

import networkx
import numpy as np
import pytest

import gpcurves as gpc
from gpcurves.graphs import GraphKernel
from gpcurves.methods.cavity.taught import propagate_taught
from gpcurves.methods.cavity.taught_experiments import taught_graph
from gpcurves.methods.cavity.tiles import LANES, multiply
from gpcurves.methods.simulation.vertices import mismatched_errors

WALK = gpc.RandomWalkKernel
TREE = gpc.as_graph(networkx.random_labeled_tree(60, seed=1))
PAIRS: list[tuple[GraphKernel, GraphKernel]] = [
    (WALK(6, 2, normalise="global"), WALK(12, 3, normalise="global")),
    (WALK(6, 2, normalise="global"), WALK(12, 3, normalise="local")),
    (WALK(7, 2.3, normalise="local"), WALK(4, 2.1, normalise="global")),
    (gpc.MaternGraphKernel(), WALK(5)),
    (WALK(1), gpc.DiffusionKernel(1.5, "local")),
]
COUNTS = np.random.default_rng(0).poisson(1.0, 60)


@pytest.mark.parametrize(("student", "true"), PAIRS, ids=str)
def test_every_vertex_of_a_tree_agrees_with_dense_algebra(student: GraphKernel, true: GraphKernel) -> None:
    problem = gpc.GraphProblem(TREE, student, 0.1, gpc.Teacher(true, 0.2))
    beliefs = propagate_taught(taught_graph(problem, TREE), COUNTS.astype(float), tolerance=1e-12)
    exact = mismatched_errors(student.on(TREE).matrix(), true.on(TREE).matrix(), COUNTS, 0.1, 0.2)
    assert beliefs.converged
    np.testing.assert_allclose(beliefs.error, exact, atol=1e-9)


def test_a_student_who_knows_part_of_the_edges() -> None:
    """Some edges of a tree are missing in the student's graph, and one of its vertices has none left."""
    edges = list(networkx.random_labeled_tree(60, seed=1).edges)
    leaf = next(v for v in range(60) if TREE.neighbours[v] == 1)
    kept = [edge for k, edge in enumerate(edges) if k % 4 and leaf not in edge]
    known = gpc.Graph.from_edges(kept, 60)
    student, true = WALK(6, normalise="global"), WALK(5, 3.0)
    problem = gpc.GraphProblem(known, student, 0.1, gpc.Teacher(true, 0.2, graph=TREE))
    beliefs = propagate_taught(taught_graph(problem, known), COUNTS.astype(float), tolerance=1e-12)
    exact = mismatched_errors(student.on(known).matrix(), true.on(TREE).matrix(), COUNTS, 0.1, 0.2)
    np.testing.assert_allclose(beliefs.error, exact, atol=1e-9)
    curve = gpc.learning_curve(problem, "cavity", nu=[0.5], rng=0, replicas=3)
    truth = gpc.learning_curve(problem, "simulation", nu=[0.5], rng=0, datasets=3)
    np.testing.assert_allclose(curve.error, truth.error, rtol=1e-6)  # the same data sets


def test_the_matched_limit_is_the_plain_method() -> None:
    kernel = WALK(6, normalise="local")
    plain = gpc.GraphProblem(TREE, kernel, 0.1)
    taught = gpc.GraphProblem(TREE, kernel, 0.1, gpc.Teacher(kernel, 0.1))
    curves = [gpc.learning_curve(each, "cavity", nu=[0.1, 1.0, 5.0], rng=0, replicas=3) for each in (plain, taught)]
    np.testing.assert_allclose(curves[0].error, curves[1].error, rtol=1e-7)
    again = gpc.learning_curve(taught, "cavity", nu=[0.1, 1.0, 5.0], rng=0, **curves[1].options)
    np.testing.assert_array_equal(again.error, curves[1].error)


@pytest.mark.slow
def test_an_ensemble_agrees_with_simulation() -> None:
    problem = gpc.GraphProblem(gpc.ErdosRenyi(3), WALK(4, normalise="global"), 0.1, gpc.Teacher(WALK(6), 0.2))
    options: dict[str, Any] = {"nu": [0.3, 2.0], "rng": 0}
    cavity = gpc.learning_curve(problem, "cavity", precision=0.02, population=500, replicas=2, **options)
    truth = gpc.learning_curve(problem, "simulation", vertices=500, graphs=6, **options)
    assert cavity.stderr is not None
    assert truth.stderr is not None
    assert (abs(cavity.error - truth.error) < 4 * np.hypot(cavity.stderr, truth.stderr) + 0.01 * truth.error).all()
    assert (cavity.diagnostics["converged"] == 1).all()


@pytest.mark.slow
def test_blocks_that_are_labelled_unevenly_agree_with_the_simulation() -> None:
    """Kernels of other variances than 1, so that units matter too."""
    blocks = gpc.StochasticBlockModel((0.5, 0.5), ((2.5, 0.5), (0.5, 2.5)), (1, 0))
    teacher = gpc.Teacher(3.0 * WALK(6, normalise="local"), 0.2)
    problem = gpc.GraphProblem(blocks, 2.0 * WALK(4, normalise="global"), 0.1, teacher)
    options: dict[str, Any] = {"nu": [0.3, 2.0], "rng": 0, "among": "blocks"}
    cavity = gpc.learning_curve(problem, "cavity", precision=0.03, population=300, replicas=2, **options)
    truth = gpc.learning_curve(problem, "simulation", vertices=400, graphs=20, datasets=2, **options)
    for group in ("block=1", "block=2"):
        found, exact = (curve.details[f"error {group}"] for curve in (cavity, truth))
        assert (abs(found - exact) < 4 * truth.details[f"stderr {group}"] + 0.02 * exact).all()


@pytest.mark.slow
@pytest.mark.parametrize("normalise", ["global", "local"])
def test_the_matched_population_is_the_plain_one(normalise: Any) -> None:
    kernel = WALK(4, normalise=normalise)
    curves = [
        gpc.learning_curve(
            gpc.GraphProblem(gpc.ErdosRenyi(2), kernel, 0.1, teacher),
            "cavity", nu=[0.0, 0.3, 2.0], rng=0, precision=0.1, population=200, replicas=2, among=["isolated"],
        )
        for teacher in (None, gpc.Teacher(kernel, 0.1))
    ]  # fmt: skip
    np.testing.assert_allclose(curves[0].error, curves[1].error, rtol=1e-12)
    for name in ("variance", "error isolated"):
        np.testing.assert_allclose(curves[0].details[name], curves[1].details[name], rtol=1e-9, atol=1e-12)


def test_what_cycles_change_is_measured() -> None:
    graph = gpc.ErdosRenyi(3).sample(150, 0)
    problem = gpc.GraphProblem(graph, WALK(6, normalise="global"), 0.1, gpc.Teacher(WALK(4), 0.2))
    curve = gpc.learning_curve(problem, "cavity", nu=[1.0], rng=0, replicas=3)
    truth = gpc.learning_curve(problem, "simulation", nu=[1.0], rng=0, datasets=3)
    off, unsure = curve.diagnostics["loop_error"], curve.diagnostics["loop_error_stderr"]
    assert 0 < abs(off) < 0.02
    assert abs(curve.error / truth.error - 1 - off) < 4 * unsure + 0.003  # other data sets
    assert (curve.diagnostics["low"] <= truth.error) & (truth.error <= curve.diagnostics["high"] * 1.003)
    assert any("compared with dense algebra" in note for note in curve.notes)


def test_it_catches_the_maximum_at_low_noise() -> None:
    """Eigenvalue theory gives .033 where the truth is .385."""
    graph = gpc.ErdosRenyi(3).sample(300, 0)
    teacher = gpc.Teacher(WALK(10, normalise="local"), 1e-4)
    problem = gpc.GraphProblem(graph, WALK(10, normalise="global"), 1e-4, teacher)
    counts = np.random.default_rng(0).poisson(1.0, 300)
    beliefs = propagate_taught(taught_graph(problem, graph), counts.astype(float), tolerance=1e-6)
    exact = mismatched_errors(problem.kernel.on(graph).matrix(), teacher.matrix(graph), counts, 1e-4, 1e-4)
    np.testing.assert_allclose(beliefs.error.mean(), exact.mean(), rtol=0.3)
    assert exact.mean() > 0.2


def test_what_it_cannot_do_is_refused_in_one_sentence() -> None:
    one = gpc.Teacher(function=lambda X: X[:, 0], noise=0.1)
    with pytest.raises(gpc.NotApplicableError, match="the true function must come from a kernel between vertices"):
        gpc.learning_curve(gpc.GraphProblem(TREE, WALK(4), 0.1, one), "cavity", nu=[1.0])
    taught = gpc.GraphProblem(TREE, WALK(4), 0.1, gpc.Teacher(WALK(6), 0.1))
    with pytest.raises(gpc.InputError, match="for a well-specified model"):
        gpc.belief_propagation(taught, COUNTS)
    with pytest.raises(gpc.InputError, match="by simulation only"):
        gpc.vertex_variances(taught, 1.0, "cavity")


@pytest.mark.parametrize("triangle", [False, True])
def test_products_of_eight_matrices(triangle: bool) -> None:
    rng = np.random.default_rng(0)
    left, right = rng.normal(size=(6, 5, LANES)), rng.normal(size=(4, 5, LANES))
    out = np.zeros((6, 4, LANES))
    multiply(out.ravel(), left.ravel(), right.ravel(), (6, 5, 4), (4, 5, 1, 5), triangle)
    expected = np.einsum("ikt,jkt->ijt", left, right)
    wanted = np.array([[j <= i or not triangle for j in range(4)] for i in range(6)])
    np.testing.assert_allclose(out[wanted], expected[wanted], rtol=1e-13)
