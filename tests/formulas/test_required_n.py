"""The number of examples that a goal needs: the smallest whole n at which the method's error is at most the goal."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np
import pytest

from cases import PAIRS, PROBLEMS, SPECTRA, evaluate
from gpcurves import (
    METHODS,
    OU,
    RBF,
    Box,
    GoalUnreachableError,
    InputError,
    Polynomial,
    Problem,
    Sample,
    SpectrumProblem,
    Torus,
    required_n,
)
from gpcurves.methods import MethodName

FLOORED = {"wv"}
"""Methods whose error does not fall to zero with noise."""


SHARES = [0.9, 0.3, 0.02]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "method", "share"), [(name, method, SHARES[k % len(SHARES)]) for k, (name, method) in enumerate(PAIRS)]
)
def test_it_is_the_smallest_n_that_reaches_the_goal(name: str, method: MethodName, share: float) -> None:
    problem = PROBLEMS[name]
    goal = share * problem.spectrum.trace
    if method in FLOORED and problem.noise > 0:
        goal = max(goal, 1.2 * problem.noise)
    found = required_n(problem, goal, method)
    assert isinstance(found, int)
    assert evaluate(problem, method, [found])[0] <= goal * (1 + 1e-9)
    assert found == 0 or evaluate(problem, method, [found - 1])[0] > goal


@pytest.mark.parametrize(
    "method",
    [
        name
        for name, m in METHODS.items()
        if name != "simulation" and "n" in m.axes and not m.second and m.compound is None and not m.special
    ],
)
def test_a_goal_met_without_examples_needs_none(method: MethodName) -> None:
    problem = PROBLEMS["circle, rbf"]
    start = float(evaluate(problem, method, [0])[0])
    assert required_n(problem, start * 1.0001, method) == 0
    assert required_n(problem, start * 100, method) == 0


@pytest.mark.parametrize("method", ["lc", "uc", "ov", "two", "d", "mw", "plaskota", "lo"])
def test_goals_at_the_error_of_a_whole_n_are_reached_there(method: MethodName) -> None:
    problem = SpectrumProblem(SPECTRA["power law"], 0.02)
    for n in (1, 10, 49):
        assert required_n(problem, float(evaluate(problem, method, [n])[0]) * (1 + 1e-12), method) == n


@pytest.mark.slow
def test_the_discrete_recursion_is_not_begun_again_for_each_guess() -> None:
    points = np.random.default_rng(0).random((40, 2))
    problem = Problem(Polynomial(), Sample(points), 1e-6)
    start = time.process_time()
    found = required_n(problem, 1e-13, "d")
    searched = time.process_time()
    around = evaluate(problem, "d", [found - 1, found])
    assert searched - start < 12 * (time.process_time() - searched)  # three times; some forty guesses otherwise
    assert around[1] <= 1e-13 < around[0]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["lc", "uc", "ov", "d"])
def test_far_goals_are_found_among_billions(method: MethodName) -> None:
    problem = SpectrumProblem(SPECTRA["power law"], 1.0)
    found = required_n(problem, 1e-8, method)
    # far out every method is OV: sum of λ/(1 + nλ) tends to 50/n
    np.testing.assert_allclose(found, 50 / 1e-8, rtol=1e-4)


def test_without_noise_a_finite_spectrum_is_learnt_with_as_many_examples() -> None:
    problem = SpectrumProblem(SPECTRA["power law"], 0.0)
    for method in ("lc", "mw", "plaskota"):
        assert required_n(problem, 1e-200, method) <= 50
        assert required_n(problem, SPECTRA["power law"].values[-1] * 1e-6, method) == 50
    assert required_n(problem, 1e-300, "ov") == 1


UNREACHABLE: list[tuple[Problem, MethodName, float]] = [
    (Problem(RBF(0.2), Torus(1), 0.1), "wv", 0.05),
    (Problem(OU(0.2), Box(1), 0.1), "wv", 0.0909),
    (SpectrumProblem(SPECTRA["power law"], 1.0), "lc", 1e-13),
    (SpectrumProblem(SPECTRA["power law"], 1.0), "ov", 1e-13),
    (SpectrumProblem(SPECTRA["power law"], 1.0), "d", 1e-13),
    (Problem(OU(0.2), Torus(2), 0.0), "mw", 1e-9),
]


@pytest.mark.slow
@pytest.mark.parametrize(("problem", "method", "goal"), UNREACHABLE)
def test_unreachable_goals_say_how_far_one_gets(problem: Problem, method: MethodName, goal: float) -> None:
    with pytest.raises(
        GoalUnreachableError, match=rf"method '{method}' does not reach the error {goal:g} within 1e\+12 examples"
    ):
        required_n(problem, goal, method)


BAD: list[tuple[Callable[[], object], str]] = [
    (lambda: required_n(PROBLEMS["circle, rbf"], 0.0), "error must be greater than 0, got 0"),
    (lambda: required_n(PROBLEMS["circle, rbf"], -1.0), "error must be greater than 0, got -1"),
    (lambda: required_n(PROBLEMS["circle, rbf"], math.nan), "error must be finite, got nan"),
    (
        lambda: required_n(PROBLEMS["circle, rbf"], 0.1, "plascota"),  # type: ignore[arg-type]
        "unknown method 'plascota': did you mean 'plaskota'",
    ),
    (lambda: required_n(PROBLEMS["circle, rbf"], 0.1, noise=0.1), "noise is part of the problem"),
    (lambda: required_n(SPECTRA["random"], 0.1), "a bare spectrum needs the noise variance: pass noise="),
    (lambda: required_n(PROBLEMS["circle, no noise"], 0.1, "uo"), "the noise must be greater than 0, got 0"),
    (lambda: required_n(PROBLEMS["torus, rbf"], 0.1, "wv"), "inputs must be one-dimensional, got dimension 2"),
]


@pytest.mark.parametrize(("ask", "sentence"), BAD, ids=[sentence for _, sentence in BAD])
def test_bad_questions_are_refused_in_a_sentence(ask: Callable[[], object], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        ask()
