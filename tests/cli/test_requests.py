"""A request goes one way: each method is asked once whether it applies, options are checked once, a method is prepared once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpcurves as gpc
from commands import command
from gpcurves.cli import run
from gpcurves.forecasting import assembly, effort, sources
from gpcurves.inputs import Torus, Vertices
from gpcurves.methods import Kind, Method, MethodOptions, Result, register
from gpcurves.montecarlo import Run
from gpcurves.numerics.parameters import parameter
from gpcurves.numerics.validation import FloatArray, positive
from gpcurves.problem import Problem
from gpcurves.tables import preparing

pytestmark = pytest.mark.usefixtures("few_refits")  # no number here depends on more of them

CURVE = ["curve", "--kernel", "rbf", "--lengthscale", "0.1", "--noise", "0.05", "--n", "1,10"]


def count(monkeypatch: pytest.MonkeyPatch, counted: Counter[str], owner: Any, *names: str) -> None:
    """Count the calls of functions of a module or a class."""

    def counting(name: str, function: Any) -> Any:
        def call(*args: Any, **options: Any) -> Any:
            counted[name] += 1
            return function(*args, **options)

        return call

    for name in names:
        monkeypatch.setattr(owner, name, counting(name, getattr(owner, name)))


@pytest.fixture
def calls(registries: None) -> Counter[str]:
    """Register a method that counts what it is asked, for vectors and for graphs."""
    counted: Counter[str] = Counter()

    @dataclass(frozen=True)
    class CountedOptions(MethodOptions):
        level: float = parameter(1.0, help="Error without examples", check=positive)

        def __post_init__(self) -> None:
            counted["options"] += 1
            super().__post_init__()

        def objection(self, problem: Problem, given: Collection[str]) -> str | None:
            counted["objection to options"] += 1
            return super().objection(problem, given)

    @register
    class Counted(Method[float]):
        """An error that falls as one over the size."""

        name, title, kind, promise, source = "counted", "one over n", Kind.APPROXIMATION, "none", "this test"
        axes = ("n", "nu")
        Options = CountedOptions

        def objection(self, problem: Problem, sizes: FloatArray | None = None) -> str | None:
            counted["objection"] += 1
            return super().objection(problem, sizes)

        def prepare(self, problem: Problem, options: Any, run: Run) -> float:
            counted["prepare"] += 1
            return float(options.level)

        def evaluate(self, state: float, sizes: FloatArray) -> Result:
            counted["evaluate"] += 1
            return Result(state / (1 + sizes))

    return counted


ONCE = {"objection": 1, "options": 1, "objection to options": 1, "prepare": 1}


@pytest.mark.parametrize("methods", ["counted", "counted,lc", "all"])
@pytest.mark.parametrize("goals", [(), ("--goal", "0.1"), ("--goal", "0.1", "--goal", "0.01", "--out", "curves.svg")])
def test_a_curve_is_requested_once(
    methods: str,
    goals: tuple[str, ...],
    calls: Counter[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    count(monkeypatch, calls, Torus, "spectrum")
    quiet = ["-q"] if "--out" in goals else []  # the answer to a goal must be shown somewhere
    assert run([*CURVE, "--methods", methods, "--level", "2", *goals, *quiet]) == 0
    assert calls.pop("spectrum", 0) == (methods != "counted")
    assert (calls.pop("evaluate") > 1) == bool(goals)
    assert calls == ONCE


@pytest.mark.parametrize("methods", ["counted", "all"])
def test_a_curve_on_a_graph_is_requested_once(
    methods: str, calls: Counter[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edges = tmp_path / "edges.csv"
    edges.write_text("".join(f"{k},{(k + 1) % 12}\n" for k in range(12)))
    count(monkeypatch, calls, gpc.RandomWalkKernel, "on")
    count(monkeypatch, calls, Vertices, "spectrum")
    words = ["graph", "--edges", str(edges), "--noise", "0.1", "--nu", "0.5,1", "--methods", methods, "--goal", "0.3"]
    assert run([*words, *(["--datasets", "4"] if methods == "all" else [])]) == 0
    everything = methods == "all"
    assert calls.pop("evaluate") > 1
    assert calls.pop("spectrum", 0) == everything
    assert (
        calls.pop("on", 0) == 3 * everything
    )  # for the spectrum, local theory and the covariances of all simulated data sets
    assert calls == ONCE


def test_a_curve_of_the_library_is_requested_once(calls: Counter[str]) -> None:
    problem = gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=1), 0.05)
    counted: Any = "counted"
    gpc.learning_curve(problem, counted, [1, 10], level=2)
    assert calls.pop("evaluate") == 1
    assert calls == ONCE
    calls.clear()
    assert gpc.required_n(problem, 0.1, counted, level=2) == 19
    assert calls.pop("evaluate") > 1
    assert calls == ONCE


def test_a_plan_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counted: Counter[str] = Counter()
    once = (
        "choose_effort",
        "read_table",
        "prepare",
        "find_members",
        "mix",
        "draw_problems",
        "cross_validate",
        "measure_savings",
    )
    read = ("read_table", "prepare")
    count(monkeypatch, counted, sources, *read)
    count(monkeypatch, counted, assembly, *(name for name in once if name not in read))
    count(monkeypatch, counted, preparing, "_settle_missing")
    count(monkeypatch, counted, effort.ForecastEffort, "__post_init__")
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, 30)
    lines = [f"{a:.6f},{np.sin(3 * a) + 0.1 * e:.6f}" for a, e in zip(x, rng.standard_normal(30), strict=True)]
    table = tmp_path / "data.csv"
    table.write_text("\n".join(["x,y", *lines]) + "\n")
    words = ["plan", str(table), "--target", "y", "--goal-rmse", "0.2", "--draws", "1", "--report"]
    assert run([*words, str(tmp_path / "plan.html")]) == 0
    assert counted.pop("__post_init__") == 2  # the default effort, and the same with other draws
    assert counted == dict.fromkeys((*once, "_settle_missing"), 1)


def test_a_plan_without_a_target_lists_the_columns(tmp_path: Path) -> None:
    table = tmp_path / "lab.csv"
    table.write_text("temperature,yield\n1,2\n")
    assert "the column to predict; lab.csv has 'temperature', 'yield'" in command("plan", str(table))[2]
