"""Test inputs, noise and weights of vertices, and maps of errors on the command line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gpcurves as gpc
from commands import command, failed, rows
from gpcurves.cli import run

CURVE = ["curve", "--kernel", "rbf", "--lengthscale", "0.2", "--inputs", "gaussian", "--noise", "0.01"]


@pytest.fixture
def network(tmp_path: Path) -> list[str]:
    (tmp_path / "edges.csv").write_text("a,b\nb,c\nc,d\n")
    (tmp_path / "often.csv").write_text("vertex,value\na,3\nb,1\n")
    (tmp_path / "noise.csv").write_text("vertex,value\na,.1\nb,.2\nc,.1\nd,.4\n")
    (tmp_path / "bad.csv").write_text("vertex,value\na,-1\nb,2\n")
    (tmp_path / "twice.csv").write_text("vertex,value\na,1\na,2\n")
    return ["graph", "--edges", str(tmp_path / "edges.csv"), "--p", "4"]


def test_test_inputs() -> None:
    code, out, _ = command(
        *CURVE, "--test-inputs", "gaussian", "--test-input-variance", "0.5", "--n", "20", "--methods", "local"
    )
    assert code == 0
    problem = gpc.Problem(gpc.RBF(0.2), gpc.Gaussian(1), 0.01, test=gpc.Gaussian(1, 0.5))
    np.testing.assert_allclose(float(rows(out)[0]["error"]), gpc.learning_curve(problem, "local", [20]).error)


def test_test_inputs_that_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    local = [*CURVE, "--n", "5", "--methods", "local"]
    assert "--test-input-variance needs --test-inputs" in failed([*local, "--test-input-variance", "1"], capsys)
    assert "takes no --test-input-variance" in failed(
        [*local, "--test-inputs", "box", "--test-input-variance", "1"], capsys
    )
    assert "needs its points" in failed([*local, "--test-inputs", "sample"], capsys)
    assert "method 'lc' does not apply: test inputs" in failed(
        [*CURVE, "--n", "5", "--methods", "lc", "--test-inputs", "box"], capsys
    )


@pytest.mark.slow
def test_a_map_over_inputs(tmp_path: Path) -> None:
    code, out, err = command(*CURVE, "--map", "30", "--nodes", "200")
    assert code == 0
    assert len(rows(out)) == 200
    assert set(rows(out)[0]) == {"x0", "error", "prior", "weight", "training"}
    assert "the average error is" in err
    for suffix in (".png", ".svg", ".html", ".json"):
        assert run([*CURVE, "--map", "30", "--nodes", "200", "--out", str(tmp_path / f"map{suffix}")]) == 0
        assert (tmp_path / f"map{suffix}").stat().st_size > 1_000


def test_a_map_of_what_it_does_not_show(capsys: pytest.CaptureFixture[str]) -> None:
    assert "--map replaces curves: --n or --nu is not used" in failed([*CURVE, "--map", "5", "--n", "3"], capsys)
    assert "--map replaces curves: --methods is not used" in failed([*CURVE, "--map", "5", "--methods", "lc"], capsys)
    assert "by the method local: --simulate is not used" in failed([*CURVE, "--map", "5", "--simulate", "3"], capsys)
    assert "--map must be a number" in failed([*CURVE, "--map", "many"], capsys)


def test_noise_and_weights_of_vertices(network: list[str], tmp_path: Path) -> None:
    files = ["--noise-per-vertex", str(tmp_path / "noise.csv"), "--label-weights", str(tmp_path / "often.csv")]
    code, out, _ = command(*network, *files, "--nu", "1.5", "--methods", "local,cavity,simulation")
    assert code == 0
    graph = gpc.read_graph(tmp_path / "edges.csv")
    noise = {"a": 0.1, "b": 0.2, "c": 0.1, "d": 0.4}
    problem = gpc.GraphProblem(graph, gpc.RandomWalkKernel(p=4), noise, weights={"a": 0.75, "b": 0.25})
    assert [row["method"] for row in rows(out)] == ["local", "cavity", "simulation"]
    np.testing.assert_allclose(float(rows(out)[0]["error"]), gpc.learning_curve(problem, "local", nu=[1.5]).error)
    code, out, _ = command(*network, *files, "--map", "1.5")
    assert [row["vertex"] for row in rows(out)] == list("abcd")
    assert run([*network, *files, "--map", "1.5", "--out", str(tmp_path / "map.png")]) == 0


def test_vertex_files_that_are_refused(network: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    at = ["--nu", "1", "--methods", "local"]
    plain = [*network, "--noise", "0.1", *at]
    noise, bad, twice = (str(tmp_path / f"{name}.csv") for name in ("noise", "bad", "twice"))
    assert "--noise-per-vertex replaces --noise" in failed([*plain, "--noise-per-vertex", noise], capsys)
    assert "the vertex 'c' has no noise" in failed([*network, *at, "--noise-per-vertex", bad], capsys)
    assert "--label-weights: weights must be at least 0" in failed([*plain, "--label-weights", bad], capsys)
    assert "--test-weights: a vertex occurs twice" in failed([*plain, "--test-weights", twice], capsys)
    ensemble = ["graph", "--ensemble", "er:3", "--noise", "0.1", *at]
    assert "applies to your own graph" in failed([*ensemble, "--label-weights", noise], capsys)
