"""Training error, predictive density and evidence of data sets on graphs: the cavity method and the simulation, retyped naively."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pytest

import gpcurves as gpc
from gpcurves.curve import MethodName
from gpcurves.methods import METHODS
from gpcurves.methods.simulation.vertices import draw_counts
from gpcurves.montecarlo import Run, stream
from gpcurves.numerics.validation import FloatArray

WALK = gpc.RandomWalkKernel
BOTH: tuple[MethodName, MethodName] = ("cavity", "simulation")
TREE = gpc.as_graph(networkx.random_labeled_tree(40, seed=1))
STUDENT = 1.5 * WALK(6, 2, normalise="global")
TEACHERS = [None, gpc.Teacher(2.0 * WALK(4, normalise="local"), 0.2)]
NU = (0.4, 3.0)
LOOPY = gpc.ErdosRenyi(3).sample(90, 0)
ENSEMBLE = gpc.ErdosRenyi(3)


def naive(problem: gpc.Problem, graph: gpc.Graph, counts: Any) -> dict[str, float]:
    """Return all scores of one data set, with one row for every label: nothing is said about labels at the same vertex."""
    at = np.repeat(np.arange(graph.vertices), counts)
    n, V = len(at), graph.vertices
    C = problem.kernel.on(graph).matrix()
    true = C if problem.teacher is None else problem.teacher.matrix(graph)
    noise, true_noise = problem.noise, problem.true_noise
    K, K0 = C[np.ix_(at, at)] + noise * np.eye(n), true[np.ix_(at, at)] + true_noise * np.eye(n)
    inverse = np.linalg.inv(K)
    R = noise * inverse  # what predictions leave of the labels
    densities = []
    for x in range(V):
        w = inverse @ C[at, x]
        variance = C[x, x] - w @ C[at, x] + noise
        error = true[x, x] - 2 * w @ true[at, x] + w @ K0 @ w + true_noise
        densities.append((np.log(2 * np.pi * variance) + error / variance) / 2)
    return {
        "training": float(np.trace(R @ K0 @ R) / n),
        "nlpd": float(np.mean(densities)),
        "evidence": float(np.trace(inverse @ K0) + np.linalg.slogdet(2 * np.pi * K)[1]) / 2,
        "information": float(np.linalg.slogdet(K / noise)[1]) / 2,
    }


def one_data_set(problem: gpc.Problem, method: str, quantity: str) -> FloatArray:
    """Return a score at all nu, from the first data set of the seed 0."""
    own = METHODS[method]
    options = own.check(problem, np.array(NU), {"tolerance": 1e-12} if method == "cavity" else {}, quantity=quantity)
    seen: list[Any] = []
    caught = type("Caught", (type(own),), {"evaluate": lambda self, state, sizes: seen.append(state[0].at(sizes))})
    caught().measure(own.prepare(problem, options, Run(0)), np.array(NU), quantity)
    drawn = seen[0].draw(0)
    return np.asarray(drawn["score" if method == "cavity" else "error"])


@pytest.mark.parametrize("teacher", TEACHERS, ids=["matched", "misspecified"])
def test_one_data_set_on_a_tree_retyped(teacher: gpc.Teacher | None) -> None:
    problem = gpc.GraphProblem(TREE, STUDENT, 0.1, teacher)
    order, growing = draw_counts(NU, 40, stream(0, 0).spawn(1)[0])
    assert order.tolist() == [0, 1]
    assert max(growing[1]) > 2
    expected = [naive(problem, TREE, counts) for counts in growing]
    for quantity in ("training", "nlpd", "evidence", "information"):
        exact = [each[quantity] for each in expected]
        np.testing.assert_allclose(one_data_set(problem, "simulation", quantity), exact, rtol=1e-10, err_msg=quantity)
    for quantity in ("training", "nlpd"):
        exact = [each[quantity] for each in expected]
        np.testing.assert_allclose(one_data_set(problem, "cavity", quantity), exact, rtol=1e-9, err_msg=quantity)


@pytest.mark.slow
@pytest.mark.parametrize(("quantity", "teacher"), [("training", TEACHERS[0]), ("nlpd", TEACHERS[1])])
def test_on_a_graph_with_cycles_both_are_near(quantity: str, teacher: gpc.Teacher | None) -> None:
    problem = gpc.GraphProblem(LOOPY, STUDENT, 0.1, teacher)
    cavity = gpc.learning_curve(problem, "cavity", nu=[0.0, 0.5, 2.0], quantity=quantity, rng=0, replicas=2)
    truth = gpc.learning_curve(problem, "simulation", nu=[0.0, 0.5, 2.0], quantity=quantity, rng=0, datasets=2)
    assert cavity.quantity == quantity
    assert {"low", "high"}.isdisjoint(cavity.diagnostics)
    assert any("data sets the average squared error is off by" in note for note in cavity.notes)
    np.testing.assert_allclose(cavity.error, truth.error, rtol=0.02)  # the same data sets
    again = gpc.learning_curve(problem, "cavity", nu=cavity.nu, rng=cavity.rng, **cavity.options)
    np.testing.assert_array_equal(again.error, cavity.error)


@pytest.mark.slow
@pytest.mark.parametrize("teacher", TEACHERS, ids=["matched", "misspecified"])
@pytest.mark.parametrize("quantity", ["training", "nlpd"])
def test_an_ensemble_agrees_with_simulation(quantity: str, teacher: gpc.Teacher | None) -> None:
    problem = gpc.GraphProblem(ENSEMBLE, 1.5 * WALK(3, normalise="global"), 0.1, teacher)
    options: dict[str, Any] = {"nu": [0.0, 0.4, 2.0], "rng": 0, "quantity": quantity}
    cavity = gpc.learning_curve(problem, "cavity", precision=0.03, population=300, replicas=2, **options)
    truth = gpc.learning_curve(problem, "simulation", vertices=250, graphs=8, datasets=3, **options)
    assert cavity.stderr is not None
    assert truth.stderr is not None
    assert (cavity.stderr < 0.02).all()
    assert (abs(cavity.error - truth.error) < 4 * np.hypot(cavity.stderr, truth.stderr) + 0.01 * abs(truth.error)).all()


def test_labels_and_test_inputs_that_are_uneven() -> None:
    """Vertices count as often as they are labelled in training errors, and by test weights in densities."""
    weights, tested = np.arange(1.0, 41) / 820, np.arange(40.0)[::-1] / 780
    problem = gpc.GraphProblem(TREE, STUDENT, 0.1, weights=weights, test_weights=tested)
    plain = gpc.GraphProblem(TREE, STUDENT, 0.1)
    for quantity in ("training", "nlpd"):
        options: dict[str, Any] = {"nu": [0.0, 0.5], "rng": 0, "quantity": quantity}
        cavity = gpc.learning_curve(problem, "cavity", replicas=3, **options)
        truth = gpc.learning_curve(problem, "simulation", datasets=3, **options)
        np.testing.assert_allclose(cavity.error, truth.error, rtol=1e-6)
        assert (abs(cavity.error / gpc.learning_curve(plain, "cavity", replicas=3, **options).error - 1) > 1e-3).all()


@pytest.mark.slow
def test_blocks_that_are_labelled_unevenly() -> None:
    blocks = gpc.StochasticBlockModel((0.5, 0.5), ((4.5, 0.5), (0.5, 1.5)), (0.9, 0.1))
    problem = gpc.GraphProblem(blocks, STUDENT, 0.1)
    options: dict[str, Any] = {"nu": [0.0, 1.0], "rng": 0, "quantity": "training"}
    cavity = gpc.learning_curve(problem, "cavity", precision=0.03, population=300, replicas=2, **options)
    truth = gpc.learning_curve(problem, "simulation", vertices=250, graphs=8, datasets=3, **options)
    assert cavity.stderr is not None
    assert truth.stderr is not None
    assert (abs(cavity.error - truth.error) < 4 * np.hypot(cavity.stderr, truth.stderr) + 0.01 * truth.error).all()


def test_stores_do_not_mix_quantities(tmp_path: Path) -> None:
    problem = gpc.GraphProblem(TREE, STUDENT, 0.1)
    for method, options in zip(BOTH, ({"replicas": 3}, {"datasets": 3}), strict=True):
        found = []
        for quantity in ("mse", "training", "nlpd"):
            about: dict[str, Any] = {"nu": [1.0], "rng": 0, "quantity": quantity, **options}
            kept = [gpc.learning_curve(problem, method, store=tmp_path / method, **about) for _ in range(2)]
            fresh = gpc.learning_curve(problem, method, **about).error
            for each in kept:
                np.testing.assert_array_equal(each.error, fresh)
            found.append(float(fresh[0]))
        assert len(set(found)) == 3


def test_what_they_cannot_give_is_refused_in_one_sentence() -> None:
    problem = gpc.GraphProblem(TREE, STUDENT, 0.1)
    with pytest.raises(gpc.NotApplicableError, match="it computes mse, training, nlpd only, not evid"):
        gpc.learning_curve(problem, "cavity", nu=[1.0], quantity="evidence")
    for method in BOTH:
        with pytest.raises(
            gpc.InputError, match="among averages squared errors over groups of vertices, and does not apply"
        ):
            gpc.learning_curve(problem, method, nu=[1.0], quantity="nlpd", among="ends")
    uneven = gpc.GraphProblem(TREE, STUDENT, gpc.UnevenNoise(values=np.linspace(0.1, 1, 40)))
    for method in BOTH:
        with pytest.raises(gpc.NotApplicableError, match="of the quantity training: noise must be the same everywhere"):
            gpc.learning_curve(uneven, method, nu=[1.0], quantity="training")
