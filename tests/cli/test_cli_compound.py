"""The command line for several tasks and for linear observations: curves, goals, the cheapest mix, bad input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import gpcurves as gpc
from commands import command, failed, rows

CURVE = ("curve", "--kernel", "rbf", "--lengthscale", "0.1", "--n", "0,10,40")
MIX = (
    "mix",
    "--kernel",
    "rbf",
    "--lengthscale",
    "0.1",
    "--correlation",
    "0.95",
    "--noise",
    "0.05",
    "--cheap-noise",
    "0.2",
)


def test_curves_of_two_fidelities() -> None:
    given = ("--likelihood", "fidelities", "--correlation", "0.9", "--noise", "0.1", "--cheap-share", "0.75")
    code, out, err = command(*CURVE, *given, "--cheap-noise", "0.3", "--methods", "tasks", "--simulate", "3", "-q")
    assert (code, err) == (0, "")
    problem = gpc.Problem(gpc.RBF(0.1), gpc.Torus(1), gpc.Fidelities(0.9, 0.1, 0.3, cheap_share=0.75))
    expected = gpc.learning_curve(problem, "tasks", n=[0, 10, 40]).error
    assert [float(row["error"]) for row in rows(out)[:3]] == expected.tolist()
    tasks = ("cheap", "expensive")  # each has rows of its own
    every = {
        name if task is None else f"{name}, {task}" for name in ("tasks", "tasks-simulation") for task in (None, *tasks)
    }
    assert {row["method"] for row in rows(out)} == every


def test_curves_of_tasks_with_a_file(tmp_path: Path) -> None:
    (tmp_path / "covariance.txt").write_text("1 0.5\n0.5 2\n")
    given = ("--likelihood", "tasks", "--task-covariance", str(tmp_path / "covariance.txt"), "--noise", "0.1,0.2")
    code, out, _ = command(*CURVE, *given, "--task-names", "a,b", "--target-task", "a")
    assert code == 0
    problem = gpc.Problem(
        gpc.RBF(0.1), gpc.Torus(1), gpc.Tasks([[1, 0.5], [0.5, 2]], [0.1, 0.2], None, ["a", "b"], "a")
    )
    expected = gpc.learning_curve(problem, "tasks", n=[0, 10, 40]).error
    found = {
        name: [float(row["error"]) for row in rows(out) if row["method"] == name] for name in ("tasks", "tasks, a")
    }
    assert found == {"tasks": expected.tolist(), "tasks, a": expected.tolist()}
    assert sum(row["method"] == "tasks, b" for row in rows(out)) == 3


@pytest.mark.slow
def test_the_cheapest_mix(tmp_path: Path) -> None:
    problem = gpc.Problem(gpc.RBF(0.1), gpc.Torus(1), gpc.Fidelities(0.95, 0.05, 0.2))
    mix = gpc.cheapest_mix(problem, 0.05, [1, 8])
    code, out, err = command(*MIX, "--costs", "1,8", "--goal", "0.05", "--json")
    assert code == 0
    assert json.loads(out) == mix.to_dict()
    assert err == f"{mix}\n"
    code, out, _ = command(*MIX, "--costs", "1,8", "--goal", "0.05", "--out", str(tmp_path / "mix.svg"))
    assert (code, out) == (0, "")
    assert (tmp_path / "mix.svg").read_text().count("expensive") >= 2


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((*MIX, "--costs", "1", "--goal", "0.05"), "costs must be one number per task (2), got 1"),
        ((*MIX, "--costs", "1,-2", "--goal", "0.05"), "costs must be finite and at least 0, got -2"),
        ((*MIX, "--costs", "1,a", "--goal", "0.05"), "--costs must be a number, got 'a'"),
        ((*MIX, "--costs", "1,2", "--goal", "0"), "--goal must be greater than 0, got 0"),
        (
            ("mix", "--kernel", "rbf", "--likelihood", "probit", "--costs", "1,2", "--goal", "0.1"),
            "--likelihood must be fidelities or tasks, got probit",
        ),
        (
            (*CURVE, "--likelihood", "averages", "--noise", "0.1", "--averaged", "0"),
            "count must be an integer, at least 1, got 0",
        ),
        (
            ("curve", "--kernel", "ou", "--likelihood", "derivatives", "--noise", "0.1"),
            "derivatives are implemented for RBF and Matern52 kernels",
        ),
        (
            (
                "graph",
                "--ensemble",
                "er:3",
                "--likelihood",
                "temporal-differences",
                "--discount",
                "0.5",
                "--noise",
                "1",
            ),
            "it needs a given graph, but this is an ensemble",
        ),
    ],
)
def test_bad_input_is_one_sentence(words: tuple[str, ...], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert sentence in failed(list(words), capsys)


def test_rewards_on_a_graph(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text("0,1\n1,2\n2,3\n3,0\n")
    given = ("--likelihood", "temporal-differences", "--discount", "0.5", "--noise", "0.1", "--episode", "4")
    code, out, err = command("graph", "--edges", str(tmp_path / "edges.csv"), *given, "--nu", "1", "--datasets", "3")
    assert code == 0
    assert [row["method"] for row in rows(out)] == ["functionals", "functionals-simulation"]
    assert "which this theory neglects" in err
