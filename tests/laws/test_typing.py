"""Wrong names and sizes are typing errors, and errors when they run; every right way to write them is neither.

``mypy`` checks this file beside the rest, and so does pyright in `test_pyright`: strict, they complain about a remark
``type: ignore`` where nothing is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import get_args

import numpy as np
import pandas as pd
import pytest

import gpcurves as gpc
from gpcurves.methods import METHODS, MethodName
from gpcurves.numerics.validation import Sizes

PROBLEM = gpc.Problem(gpc.RBF(0.1), gpc.Torus(1), 0.1)
GRAPH = gpc.GraphProblem(gpc.Graph.from_edges([(0, 1), (1, 2)]), gpc.RandomWalkKernel(), 0.1)
WRONG: list[Callable[[], object]] = [
    lambda: gpc.learning_curve(PROBLEM, "lokal", 3),  # type: ignore[arg-type]
    lambda: gpc.learning_curve(PROBLEM, ["lc"], 3),  # type: ignore[arg-type]
    lambda: gpc.learning_curve(PROBLEM, "all", 3),  # type: ignore[arg-type]
    lambda: gpc.learning_curves(PROBLEM, 3, "lokal"),  # type: ignore[arg-type]
    lambda: gpc.learning_curves(PROBLEM, 3, methods=["lokal"]),  # type: ignore[list-item]
    lambda: gpc.learning_curves(PROBLEM, 3, methods=["lc", 3]),  # type: ignore[list-item]
    lambda: gpc.sweep(PROBLEM, 3, ["lokal"], noise=[0.1, 0.2]),  # type: ignore[list-item]
    lambda: gpc.required_n(PROBLEM, 0.1, method="lokal"),  # type: ignore[arg-type]
    lambda: gpc.vertex_variances(GRAPH, 1.0, "lokal"),  # type: ignore[arg-type]
    lambda: gpc.RandomWalkKernel(normalise="lokal"),  # type: ignore[arg-type]
    lambda: gpc.learning_curve(PROBLEM, "lc", "banana"),  # type: ignore[arg-type]
    lambda: gpc.learning_curve(PROBLEM, "lc", n=["a"]),  # type: ignore[list-item]
    lambda: gpc.learning_curve(GRAPH, "eigenvalue", nu="banana"),  # type: ignore[arg-type]
    lambda: gpc.learning_curves(PROBLEM, "banana"),  # type: ignore[arg-type]
    lambda: gpc.sweep(PROBLEM, "banana", noise=[0.1, 0.2]),  # type: ignore[arg-type]
    lambda: gpc.degenerate_best(PROBLEM, "banana"),  # type: ignore[arg-type]
    lambda: METHODS["lc"](PROBLEM, "banana"),  # type: ignore[arg-type]
]
SOME: list[Sizes] = [3, range(4), [0, 1, 2, 3], (0.0, 1, 2, 3), np.arange(4), np.arange(4.0), np.int64(3)]
OTHERS: list[Sizes] = [[np.int64(0), np.float32(1), 2, 3.0], np.arange(4, dtype=np.float32), pd.Series(range(4))]


@pytest.mark.parametrize("call", WRONG)
def test_wrong_names_and_sizes_are_typing_errors_and_errors(call: Callable[[], object]) -> None:
    with pytest.raises(gpc.InputError, match=r"lokal|banana|unknown method|sequence of"):
        call()


@pytest.mark.parametrize("n", [*SOME, *OTHERS], ids=repr)
def test_sizes_may_be_written_in_many_ways(n: Sizes) -> None:
    curve = gpc.learning_curve(PROBLEM, "lc", n)
    again = gpc.learning_curve(curve.problem, curve.method, curve.n, rng=curve.rng, **curve.options)
    assert again.n.tolist() == [0, 1, 2, 3]
    assert again.error.tolist() == curve.error.tolist()


def test_a_name_that_is_not_public_is_a_typing_error_and_an_error() -> None:
    with pytest.raises(AttributeError, match="did you mean 'forecast'"):
        gpc.forcast([[0.0]], [0.0])  # type: ignore[attr-defined]


def test_names_that_types_know_are_those_of_the_registry() -> None:
    assert list(get_args(MethodName)) == list(METHODS)


def test_a_method_stands_for_its_name() -> None:
    every: Sequence[MethodName] = [name for name, method in METHODS.items() if "n" in method.axes]
    lc = METHODS["lc"]
    assert gpc.learning_curve(PROBLEM, lc, 3).method == "lc"
    assert list(gpc.learning_curves(PROBLEM, 3, lc)) == list(gpc.learning_curves(PROBLEM, 3, ["lc", lc])) == ["lc"]
    assert gpc.required_n(PROBLEM, 0.1, lc) == gpc.required_n(PROBLEM, 0.1, every[0])
    assert gpc.vertex_variances(GRAPH, 1.0, METHODS["simulation"], datasets=2, rng=1).mean > 0
    stranger = type(METHODS["simulation"])()
    with pytest.raises(gpc.InputError, match="method 'simulation' is not registered"):
        gpc.learning_curve(PROBLEM, stranger, 3)
