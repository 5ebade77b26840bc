"""Bad noise functions, weights and test inputs: one sentence each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import networkx
import numpy as np
import pytest

import gpcurves as gpc
from gpcurves.methods import METHODS

PATH = networkx.path_graph(3)
WALK = gpc.RandomWalkKernel(p=4, a=2.0)
RBF, LINE = gpc.RBF(0.2), gpc.Box(1)
NOT_CALLABLE: Any = 0.1
NO_INPUTS: Any = "box"


def on_line(noise: Any) -> gpc.Problem:
    return gpc.Problem(RBF, LINE, noise)


def on_path(**given: Any) -> gpc.Problem:
    return gpc.GraphProblem(PATH, WALK, **{"noise": 0.1, **given})


BAD: list[tuple[Callable[[], Any], str]] = [
    (lambda: on_line(gpc.UnevenNoise(lambda X: X[:, 0] - 0.5)), "the noise function must be at least 0, got -0.4"),
    (lambda: on_line(gpc.UnevenNoise(lambda X: X[:, 0] * np.nan)), "the noise function must be finite"),
    (lambda: on_line(gpc.UnevenNoise(lambda X: X[:3, 0])), "one number for each input, got shape"),
    (lambda: on_line(gpc.UnevenNoise(lambda X: "much")), "must return one number for each input"),
    (lambda: gpc.UnevenNoise(NOT_CALLABLE), "the noise function must be callable, got 0.1"),
    (lambda: gpc.UnevenNoise(), "either a function of the inputs or values"),
    (lambda: gpc.UnevenNoise(values=[0.1, -1]), "noise variances must be at least 0, got -1"),
    (lambda: gpc.UnevenNoise(values=[0.1, np.inf]), "noise variances must be finite"),
    (lambda: gpc.UnevenNoise(values=[]), "one for each row or vertex, got shape"),
    (lambda: on_line(gpc.UnevenNoise(values=[0.1])), "values of the noise belong to rows or vertices"),
    (
        lambda: gpc.Problem(RBF, gpc.Sample([1.0, 2.0]), gpc.UnevenNoise(values=[0.1])),
        "noise has 1 values for 2 rows",
    ),
    (lambda: on_path(noise=[0.1, 0.2]), "noise must be one for each of the 3 vertices, got shape"),
    (lambda: on_path(noise={"0": 0.1}), "noise must be given for every vertex: '1' has none"),
    (lambda: on_path(noise={"0": 0.1, "1": 0.1, "2": -1}), "noise must be at least 0, got -1"),
    (lambda: on_path(noise={"7": 0.1}), "the graph has no vertex '7'"),
    (lambda: on_path(noise=[0.1, 0.1, np.nan]), "noise must be finite"),
    (lambda: on_path(weights=[0.5, 0.2, 0.2]), r"must sum to 1, got 0\.9: divide them by their sum"),
    (lambda: on_path(weights=[0.5, -0.5, 1]), r"weights of vertices must be at least 0, got -0\.5"),
    (lambda: on_path(weights=[1.0]), "weights of vertices must be one for each of the 3 vertices"),
    (lambda: on_path(test_weights=[np.nan, 0, 1]), "weights of vertices must be finite"),
    (lambda: on_path(test_weights="abc"), "weights of vertices must be numbers"),
    (lambda: gpc.GraphProblem(gpc.ErdosRenyi(3), WALK, 0.1, weights=[1.0]), "weights of vertices need a given graph"),
    (lambda: gpc.GraphProblem(gpc.ErdosRenyi(3), WALK, gpc.UnevenNoise(values=[1.0])), "needs a given graph"),
    (lambda: gpc.Problem(RBF, LINE, 0.1, test=gpc.Box(2)), "are not of the kind of the training inputs"),
    (lambda: gpc.Problem(RBF, LINE, 0.1, test=NO_INPUTS), "test inputs must be an input distribution"),
    (lambda: gpc.Problem(RBF, LINE, 0.1, test=gpc.Torus(1)), "are periodic, but training inputs are not"),
    (lambda: gpc.local_errors(on_line(0.0), 5), "the noise must be greater than 0, got 0"),
    (lambda: gpc.local_errors(on_line(0.1), 5, at=[[1.0, 2.0]]), "rows of inputs as the problem has them"),
    (lambda: gpc.local_errors(on_line(0.1), -1), "n must be at least 0, got -1"),
    (lambda: gpc.local_errors(on_line(0.1)), "pass n, the number of examples"),
    (lambda: gpc.local_errors(on_line(0.1), 5, nodes=1), "nodes must be an integer, at least 2, got 1"),
    (lambda: gpc.learning_curve(on_path(), "local", nu=[1], nodes=9), "nodes applies to inputs that are vectors"),
    (lambda: gpc.learning_curve(gpc.Spectrum([1.0]), "local", [1], noise=0.1), "needs the kernel and the inputs"),
    (
        lambda: gpc.learning_curve(gpc.GraphProblem(gpc.ErdosRenyi(3), WALK, 0.1), "local", nu=[1]),
        "it needs a given graph, but this is an ensemble",
    ),
]


@pytest.mark.parametrize(("make", "message"), BAD)
def test_bad_input_is_one_sentence(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(gpc.InputError, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)


UNEVEN = {
    "noise": (on_line(gpc.UnevenNoise(lambda X: 0.1 + X[:, 0])), "noise must be the same everywhere"),
    "test inputs": (gpc.Problem(RBF, LINE, 0.1, test=gpc.Gaussian(1)), "test inputs must be distributed as training"),
    "noise per vertex": (on_path(noise=[0.1, 0.2, 0.3]), "noise must be the same everywhere"),
    "labelling": (on_path(weights=[0.2, 0.3, 0.5]), "all vertices must be labelled equally often"),
    "test weights": (on_path(test_weights=[0.2, 0.3, 0.5]), "test inputs must be distributed as training inputs"),
}


@pytest.mark.parametrize("name", UNEVEN)
def test_every_other_method_refuses_by_name(name: str) -> None:
    problem, reason = UNEVEN[name]
    takes = {"simulation", "local"} | ({"cavity"} if problem.axis == "nu" else set())
    own = {each.name for each in METHODS.values() if problem.axis in each.axes and each.compound is None}
    assert {each for each in own if METHODS[each].objection(problem) is None} == takes
    for each in own - takes:
        with pytest.raises(gpc.NotApplicableError, match=f"method '{each}' does not apply: {reason}"):
            METHODS[each](problem, [1.0])


def test_functions_that_changed_are_not_loaded() -> None:
    problem = on_line(gpc.UnevenNoise(lambda X: 0.1 + X[:, 0], title="rising"))
    saved = problem.to_dict()
    on_line(gpc.UnevenNoise(lambda X: 0.2 + X[:, 0], title="rising"))
    with pytest.raises(gpc.InputError, match="'rising' is no longer the function that was saved"):
        gpc.Problem.from_dict(saved)
    saved["observation"]["title"] = "unknown"
    with pytest.raises(gpc.InputError, match="is code of your own, which is not saved"):
        gpc.Problem.from_dict(saved)
