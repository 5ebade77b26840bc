"""The second axis on the command line: --inducing, --goal-excess, tables, pages and pictures of curves with inducing points."""

from __future__ import annotations

import csv
import io
import json
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

import gpcurves as gpc
from gpcurves.cli import run
from gpcurves.render.scene import Cells, Line
from gpcurves.render.views import view_of
from pictures import assert_drawn

WORDS = ["curve", "--kernel", "rbf", "--lengthscale", "0.2", "--noise", "0.1"]
PROBLEM = gpc.Problem(gpc.RBF(0.2), gpc.Torus(1), 0.1)


def command(*words: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run([*WORDS, *words])
    return code, out.getvalue(), err.getvalue()


def test_the_table_has_a_column_for_inducing_points() -> None:
    code, out, err = command("--n", "30", "--inducing", "2:6:2,9", "--methods", "sor,lc", "--draws", "2", "-q")
    assert (code, err) == (0, "")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert list(rows[0]) == ["method", "n", "m", "error", "stderr"]
    assert [(row["method"], row["n"], row["m"]) for row in rows] == [
        ("sor", "30", "2"), ("sor", "30", "4"), ("sor", "30", "6"), ("sor", "30", "9"), ("lc", "30", ""),
    ]  # fmt: skip
    curve = gpc.learning_curve(PROBLEM, "sor", n=[30], m=[2, 4, 6, 9], draws=2, rng=0)
    assert [float(row["error"]) for row in rows[:4]] == curve.error.tolist()
    code, out, _ = command("--n", "30", "--inducing", "2:8:log:3", "--methods", "sor", "--draws", "2", "-q")
    assert [row["m"] for row in csv.DictReader(io.StringIO(out))] == ["2", "4", "8"]


def test_simulating_adds_the_truth_of_each_approximation() -> None:
    code, out, _ = command(
        "--n", "30", "--inducing", "5", "--methods", "sor,lc", "--draws", "2", "--simulate", "3", "-q"
    )
    assert code == 0
    assert [line.split(",")[0] for line in out.splitlines()[1:]] == ["sor", "lc", "simulation", "sor-simulation"]


def test_how_many_inducing_points_are_enough(tmp_path: Path) -> None:
    path = tmp_path / "curves.json"
    words = ("--n", "10,40", "--inducing", "3,6", "--methods", "sor", "--draws", "2", "--goal-excess", "0.1")
    code, out, _ = command(*words, "--out", str(path))
    assert code == 0
    (answer,) = json.loads(path.read_text())["required_m"]
    goal = gpc.required_inducing(PROBLEM, 40, draws=2, rng=0)
    assert (answer["m"], answer["n"], answer["error"]) == (goal.m, 40, goal.error)
    assert str(goal) in out
    loaded = gpc.load(path)
    assert loaded["sor"].m.tolist() == [3, 6, 3, 6]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--n 9 --methods lc --goal-excess 0.1", "--goal-excess applies to inducing points only: add --inducing"),
        ("--n 9 --methods sor --goal-excess 0", "--goal-excess must be greater than 0, got 0"),
        ("--n 9 --methods sor --inducing 10", "at most n inducing points, got m = 10 for at most n = 9 examples"),
        ("--n 9 --methods sor --inducing 2.5", "--inducing must be an integer, got '2.5'"),
        ("--n 9 --methods sor --inducing 3,3", "got 3 twice"),
        ("--n 9 --methods sor --inducing 5:3:1", "--inducing: a range start:stop:step needs start ≤ stop"),
        ("--n 9 --methods lc --inducing 3", "method 'lc' takes no --inducing: it belongs to sor"),
    ],
)
def test_bad_requests_are_one_sentence(words: str, message: str) -> None:
    code, out, err = command(*words.split())
    assert (code, out) == (2, "")
    assert message in err
    assert len(err.splitlines()) == 1


@pytest.mark.slow
def test_pictures_along_n_along_m_and_of_the_plane(tmp_path: Path) -> None:
    options = {"rng": 0, "draws": 2}
    over_m = gpc.learning_curves(PROBLEM, [40], ["sor", "lc"], m=[2, 4, 8, 12], **options)
    over_n = gpc.learning_curves(PROBLEM, [10, 20, 40], ["sor", "lc"], m=[2, 8], **options)
    plane = gpc.learning_curve(PROBLEM, "sor", [5, 10, 20, 40], m=[2, 4, 6, 8], **options)
    goal = gpc.required_inducing(PROBLEM, 40, draws=2, rng=0)
    scene = view_of(over_m, excesses=[goal]).scene()
    assert scene.x.label == "number of inducing points m"
    lines = {mark.name: mark for mark in scene.marks if isinstance(mark, Line) and mark.name}
    assert lines["sor"].x.tolist() == [2, 4, 8, 12]
    assert set(lines["lc"].y.tolist()) == {over_m["lc"].error[0]}
    assert any(f"m = {goal.m} is enough" in getattr(mark, "text", "") for mark in scene.marks)
    scene = view_of(over_n).scene()
    assert scene.x.label == "number of examples n"
    assert {mark.name for mark in scene.marks if isinstance(mark, Line)} == {"sor, m 2", "sor, m 8", "lc"}
    scene = view_of(plane, excesses=[goal]).scene()
    (cells,) = [mark for mark in scene.marks if isinstance(mark, Cells)]
    assert cells.values.shape == (4, 4)
    assert cells.values[0].tolist() == plane.at(m=2).error.tolist()
    for name, result in (("m", over_m), ("n", over_n), ("plane", plane)):
        result.save(tmp_path / f"{name}.png")
        assert_drawn((tmp_path / f"{name}.png").read_bytes())
        result.save(tmp_path / f"{name}.html")
        page = (tmp_path / f"{name}.html").read_text()
        assert "What each approximation reports" in page
        assert ('"hoverongaps":false' in page.split("Plotly.newPlot")[-1]) == (name == "plane")
