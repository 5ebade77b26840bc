"""Wrong problems and wrong calls of methods are refused with their reason, wherever they enter."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest

import gpcurves as gpc
from gpcurves.inputs import Eigenvalues
from gpcurves.methods import METHODS

KERNEL, CIRCLE, SPECTRUM = gpc.RBF(0.1), gpc.Torus(dim=1), gpc.Spectrum([1.0, 0.5])
PROBLEM = gpc.Problem(KERNEL, CIRCLE, 0.05)
ANYTHING: Any = gpc.Problem


@pytest.mark.parametrize(
    ("build", "reason"),
    [
        (lambda: ANYTHING(KERNEL, CIRCLE, 0.05, design=3), "a design must be a rule"),
        (lambda: ANYTHING(KERNEL, Eigenvalues(SPECTRUM), 0.05), "give no kernel with it"),
        (lambda: ANYTHING(None, CIRCLE, 0.05), "a kernel must be one of gpcurves"),
        (lambda: ANYTHING(KERNEL, CIRCLE), "noise is needed"),
        (
            lambda: ANYTHING(KERNEL, CIRCLE, 0.05, observation=gpc.GaussianNoise(0.1)),
            "give noise or observation, not both",
        ),
        (lambda: replace(cast("Any", PROBLEM), noise=0.3), "to replace noise, replace observation"),
        (lambda: ANYTHING(KERNEL, CIRCLE, 0.05, gpc.Teacher(gpc.RBF((0.1, 0.2)), 0.1)), "of the teacher: the kernel"),
    ],
)
def test_what_is_no_problem_is_refused(build: Callable[[], object], reason: str) -> None:
    with pytest.raises(gpc.InputError, match=reason):
        build()


@pytest.mark.parametrize("name", ["lc", "plaskota", "simulation"])
@pytest.mark.parametrize(
    ("problem", "sizes", "reason"),
    [
        (PROBLEM, [-1], "at least 0, got -1"),
        (PROBLEM, [np.nan], "must be finite"),
        (PROBLEM, "banana", "a sequence of numbers, got 'banana'"),
        (PROBLEM, [[1, 2]], "a sequence of numbers"),
        (PROBLEM, [], "must not be empty"),
        (SPECTRUM, [1], "SpectrumProblem"),
        (None, [1], "a problem must be a Problem"),
    ],
)
def test_a_method_refuses_what_it_cannot_compute(name: str, problem: Any, sizes: Any, reason: str) -> None:
    with pytest.raises(gpc.InputError, match=reason):
        METHODS[name](problem, sizes)


def test_a_method_takes_sizes_as_the_verbs_do() -> None:
    np.testing.assert_array_equal(METHODS["lc"](PROBLEM, 5), gpc.learning_curve(PROBLEM, "lc", n=5).error)
    graph = gpc.GraphProblem(np.eye(4)[::-1], gpc.RandomWalkKernel(), 0.1)
    np.testing.assert_array_equal(METHODS["eigenvalue"](graph, 2), gpc.learning_curve(graph, "eigenvalue", nu=2).error)


def test_methods_travel_to_other_processes() -> None:
    back = pickle.loads(pickle.dumps(METHODS))
    np.testing.assert_array_equal(back["info"](PROBLEM, [1, 10]), METHODS["info"](PROBLEM, [1, 10]))


def test_one_formula_that_overflows_is_left_out_of_all_and_refused_if_named() -> None:
    huge = gpc.Spectrum([1e150, 1e150])
    curves = gpc.learning_curves(huge, n=[0, 1], noise=1e-300)
    assert {"lc", "uc", "degenerate"} <= curves.keys()
    assert curves.skipped["uo"] == "method 'uo' gave a value that is not finite at n = 1"
    assert "uo" not in curves
    either: list[Any] = ["uo", ["lc", "uo"]]
    for named in either:
        with pytest.raises(gpc.NumericalError, match="'uo' gave a value that is not finite"):
            gpc.learning_curves(huge, n=[0, 1], methods=named, noise=1e-300)


@pytest.mark.parametrize(
    ("values", "noises"),
    [
        ([1.0, 1e300], [1e-300, 1.0, 1e300]),
        ([1e-300, 1.0], [1e-200, 1e200, 1e300]),
        ([1e150, 1e150], [1e-300, 1.0, 1e200]),
        ([1e-150, 1e-300], [1e-300, 1.0, 1e300]),
    ],
)
def test_theory_at_the_ends_of_double_precision_is_finite_or_left_out(values: list[float], noises: list[float]) -> None:
    for noise in noises:
        curves = gpc.learning_curves(gpc.Spectrum(values), n=[0, 1, 1e15], noise=noise)
        assert curves
        assert all(np.isfinite(curve.error).all() for curve in curves.values())


def test_noise_that_drowns_everything_teaches_nothing() -> None:
    curve = gpc.learning_curve(gpc.Spectrum([1e-300, 1.0]), "degenerate", n=[0, 1, 1e15], noise=1e300)
    np.testing.assert_allclose(curve.error, 1.0, rtol=1e-15)


def test_a_standard_error_that_overflows_is_no_result() -> None:
    problem = gpc.Problem(KERNEL, CIRCLE, 0.05, teacher=gpc.Teacher(KERNEL, noise=1e300))
    with pytest.raises(gpc.NumericalError, match="'simulation' gave a value that is not finite at n = 5"):
        gpc.learning_curve(problem, "simulation", n=[0, 5], datasets=3, rng=0)
