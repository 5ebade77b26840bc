"""Designs on the command line: one, several beside each other, and the list of what is chosen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import gpcurves as gpc
from commands import command, failed, rows
from gpcurves.cli import run

CURVE = ["curve", "--kernel", "rbf", "--lengthscale", "0.05", "--noise", "0.05"]
WALK = ["--normalise", "local", "--noise", "0.1"]


@pytest.fixture
def network(tmp_path: Path) -> str:
    path = tmp_path / "network.csv"
    path.write_text("a,b\nb,c\nc,d\nd,e\ne,f\nf,a\nb,e\nc,g\ng,h\n")
    return str(path)


def test_one_design() -> None:
    code, out, _ = command(
        *CURVE, "--n", "5,20", "--design", "greedy", "--candidates", "128", "--methods", "ov,simulation"
    )
    assert code == 0
    problem = gpc.Problem(gpc.RBF(0.05), gpc.Torus(1), 0.05, design=gpc.Greedy(candidates=128))
    assert float(rows(out)[-1]["error"]) == gpc.learning_curve(problem, "simulation", [20], rng=0).error[0]


@pytest.mark.slow
def test_several_designs_say_what_choosing_saves(tmp_path: Path) -> None:
    words = [*CURVE, "--n", "5,10,20", "--design", "random,greedy,grid", "--simulate", "20"]
    code, out, err = command(*words, "--goal", "0.1")
    assert code == 0
    assert list(dict.fromkeys(row["method"] for row in rows(out))) == ["random", "greedy", "grid", "plaskota", "ov"]
    assert "inputs chosen by grid give an error of 0.1; random ones need about" in err
    assert "No choice reaches it with fewer than 13 (plaskota)." in err
    code, out, err = command(*words, "--json")
    assert "choosing saves" in json.loads(out)["sentence"]
    code, out, err = command(*words, "--out", str(tmp_path / "designs.html"))
    assert code == 0
    assert "choosing saves" in out
    assert "choosing saves" in (tmp_path / "designs.html").read_text()


@pytest.mark.slow
def test_vertices_that_are_chosen_are_listed(network: str, tmp_path: Path) -> None:
    chosen = tmp_path / "chosen.csv"
    words = ["graph", "--edges", network, *WALK, "--nu", "0.25,0.5", "--design", "greedy", "--chosen", str(chosen)]
    assert command(*words)[0] == 0
    listed = rows(chosen.read_text())
    assert [row["vertex"] for row in listed][:2] == ["b", "g"]
    assert len(listed) == 4
    code, _, err = command("graph", "--edges", network, *WALK, "--nu", "0.25,0.5", "--design", "random,greedy")
    assert code == 0
    assert "4 labels chosen by greedy give an error of" in err
    assert command("draw", network, *WALK, "--design", "greedy", "--out", str(tmp_path / "map.png"))[0] == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--design", "gredy"], "unknown design 'gredy': did you mean 'greedy'"),
        (["--design", "sobol", "--candidates", "9"], "the design 'sobol' takes no --candidates"),
        (["--design", "random,sobol", "--candidates", "9"], "none of the designs random, sobol takes --candidates"),
        (["--design", "random,sobol", "--chosen", "x.csv"], "--chosen needs a single design"),
        (["--design", "sobol", "--chosen", "x.png"], ".png"),
        (["--design", "sobol", "--n", "0", "--chosen", "x.csv"], "the largest data set, and that has no examples"),
        (["--design", "greedy", "--n", "5000", "--chosen", "x.csv"], "chooses each of 1,024 candidates once"),
        (
            ["--design", "greedy", "--n", "5000", "--simulate", "3"],
            "each of 1,024 candidates once, but 5,000 are asked",
        ),
        (["--design", "random,greedy", "--methods", "plaskotta"], "did you mean 'plaskota'"),
    ],
)
def test_bad_designs_are_refused(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert message in failed([*CURVE, *([] if "--n" in words else ["--n", "3"]), *words], capsys)


def test_bad_designs_on_graphs_are_refused(network: str, capsys: pytest.CaptureFixture[str]) -> None:
    base = ["graph", *WALK, "--nu", "0.5"]
    assert "a graph has no coordinates" in failed([*base, "--edges", network, "--design", "sobol"], capsys)
    ensemble = [*base, "--ensemble", "er:3", "--design", "greedy", "--chosen", "x.csv"]
    assert "an ensemble has none to choose" in failed(ensemble, capsys)
    assert (
        run([*base, "--edges", network, "--design", "greedy", "--candidates", "9"]) == 2
    )  # all vertices are candidates
