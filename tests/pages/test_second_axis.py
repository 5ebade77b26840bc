"""Pictures of curves show errors in the units of the target as well, if its scale is known."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Literal

import networkx as nx
import pytest

import gpcurves as gpc
from gpcurves.cli import run
from gpcurves.errors import InputError
from gpcurves.render.views import view_of


def curve(normalise: Literal["global", "none"] = "global") -> gpc.LearningCurve:
    problem = gpc.GraphProblem(nx.path_graph(30), gpc.RandomWalkKernel(p=5, a=2, normalise=normalise), noise=0.1)
    return gpc.learning_curve(problem, "eigenvalue", nu=[0.1, 1.0, 10.0])


def test_errors_in_the_units_of_the_target() -> None:
    found = curve()
    drawn = found.plot(deviation=3.0)
    assert "RMSE in target units" in drawn.ax_.get_ylabel()
    assert "RMSE" not in found.plot().ax_.get_ylabel()
    labels = [text.get_text().split("\n") for text in drawn.ax_.get_yticklabels()]
    assert len(labels) >= 3
    for error, rmse in labels:
        assert float(rmse) == pytest.approx(3 * math.sqrt(float(error)), rel=6e-3)
    line = gpc.learning_curve(gpc.Problem(4 * gpc.RBF(0.2), gpc.Torus(1), noise=0.1), "uc", n=[1, 10, 100])
    for error, rmse in view_of(line, deviation=3.0).scene().y.tick_lines:  # its prior variance is 4
        assert float(rmse) == pytest.approx(1.5 * math.sqrt(float(error)), rel=6e-3)


def test_without_a_known_prior_variance_there_are_no_units() -> None:
    with pytest.raises(InputError, match="need a kernel whose average variance is 1"):
        curve("none").plot(deviation=3.0)
    with pytest.raises(InputError, match="deviation must be"):
        curve().plot(deviation=-1.0)


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edges = tmp_path / "edges.csv"
    edges.write_text("".join(f"v{k},v{k + 1}\n" for k in range(20)))
    page = tmp_path / "curve.html"
    words = ["graph", "--edges", str(edges), "--noise", "0.1", "--methods", "eigenvalue", "--out", str(page)]
    assert run([*words, "--deviation", "2.5"]) == 0
    assert "below it the RMSE in target units" in page.read_text()
    assert run([*words, "--deviation", "0"]) == 2
    assert "--deviation must be" in capsys.readouterr().err
