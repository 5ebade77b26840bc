"""``gpcurves graph`` with the cavity method: its columns, predictions from labels, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import gpcurves as gpc
from commands import failed, once, rows
from gpcurves.cli import run

ER = ["graph", "--ensemble", "er:3", "--p", "2", "--normalise", "local", "--noise", "0.1", "--nu", "1", "--methods"]
CAVITY = [*ER, "cavity", "--precision", "0.05"]


@pytest.fixture
def edges(tmp_path: Path) -> Path:
    """A tree of six vertices, as an edge list with names."""
    path = tmp_path / "net.txt"
    path.write_text("a,b\nb,c\nc,d\nd,e\nd,f\n")
    return path


@pytest.fixture
def loopy(tmp_path: Path) -> Path:
    path = tmp_path / "loopy.txt"
    graph = gpc.RandomRegular(3).sample(40, 1)
    pairs = np.argwhere(np.triu(graph.adjacency.toarray()))
    path.write_text("".join(f"{i} {j}\n" for i, j in pairs.tolist()))
    return path


def predicting(edges: Path, labels: str, *more: str) -> list[str]:
    known = edges.with_name("known.csv")
    known.write_text(labels)
    words = ["predict", str(edges), "--labels", str(known)]
    return [*words, "--out", str(edges.with_name("all.csv")), *more]


def test_the_columns_are_those_of_the_contract(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(CAVITY) == 0
    captured = capsys.readouterr()
    assert captured.out.splitlines()[0] == "method,nu,error,stderr"
    (row,) = rows(captured.out)
    problem = gpc.GraphProblem(gpc.ErdosRenyi(3), gpc.RandomWalkKernel(2, 2, "local"), 0.1)
    same = gpc.learning_curve(problem, "cavity", nu=[1], precision=0.05, rng=0)
    assert same.stderr is not None
    assert (row["method"], row["nu"]) == ("cavity", "1")
    assert (float(row["error"]), float(row["stderr"])) == (same.error[0], same.stderr[0])
    assert "Traceback" not in captured.err


@pytest.mark.slow
def test_local_normalisation_as_in_the_paper(capsys: pytest.CaptureFixture[str]) -> None:
    found = []
    for words in (CAVITY, [*CAVITY, "--local", "paper"]):
        assert run(words) == 0
        captured = capsys.readouterr()
        found.append(float(rows(captured.out)[0]["error"]))
    assert found[0] != found[1]
    assert "equation (29) of the paper" in captured.err


def test_curves_lie_beside_each_other(edges: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["graph", "--edges", str(edges), "--noise", "0.1", "--nu", "0.5,2", "--p", "4", "--precision", "0.2"]
    assert run([*words, "--methods", "eigenvalue,cavity,simulation", "-q"]) == 0
    captured = capsys.readouterr()
    assert [row["method"] for row in rows(captured.out)] == [
        m for m in ("eigenvalue", "cavity", "simulation") for _ in range(2)
    ]
    assert captured.err == ""


def test_each_method_takes_the_options_that_belong_to_the_problem(capsys: pytest.CaptureFixture[str]) -> None:
    words = [*ER, "cavity,simulation", "--precision", "0.1", "--vertices", "40", "--graphs", "20", "--datasets", "2"]
    assert run([*words, "--json", "-q"]) == 0  # data sets of an ensemble are none of the cavity method's
    cavity, simulation = json.loads(capsys.readouterr().out)["curves"]
    assert cavity["options"] == {"precision": 0.1}
    assert simulation["options"] == {"precision": 0.1, "vertices": 40, "graphs": 20, "datasets": 2}


def test_labels_are_spread_over_the_graph(edges: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = predicting(edges, "vertex,value\n# known\na,1\nf,-0.5\na,2\nc,0.5\n\n", "--noise", "0.1")
    assert run(words) == 0
    captured = capsys.readouterr()
    text = edges.with_name("all.csv").read_text()
    assert text.splitlines()[0] == "vertex,prediction,std,low,high"
    table = rows(text)
    assert sorted(row["vertex"] for row in table) == list("abcdef")
    graph = gpc.read_graph(edges)
    model = gpc.GraphRegressor(graph, noise=0.1).fit(["a", "f", "a", "c"], [1, -0.5, 2, 0.5])
    names = [row["vertex"] for row in table]
    columns = {"prediction": model.predict(names), "low": model.predict_interval(names)[0]}
    for name, values in columns.items():
        assert [row[name] for row in table] == [str(float(f"{value:.6g}")) for value in values]
    assert all(float(row["low"]) < float(row["prediction"]) < float(row["high"]) for row in table)
    assert "4 labels on 6 vertices, " in captured.err
    assert "all.csv" in captured.err
    assert run([*words, "-q"]) == 0
    assert capsys.readouterr().err == ""
    at = words.index("--out")
    assert run([*words[:at], *words[at + 2 :], "-q"]) == 0
    assert capsys.readouterr().out == text


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        ("a,1\nz,2\n", "known.csv, line 2: the graph has no vertex 'z'"),
        ("", "known.csv is empty"),
        ("vertex,value\n", "known.csv holds no labels"),
        ("a,nan\n", "known.csv holds no labels: all values are missing"),
        ("a,1\nb,inf\n", "known.csv, line 2: a value must be finite, got inf"),
        ("a,1\nb,2,3\n", "known.csv, line 2: a vertex and a value are expected, got 'b,2,3'"),
        ("a,1\nb\n", "known.csv, line 2: a vertex and a value are expected, got 'b'"),
        ("a,1\nb,much\n", "known.csv, line 2: a value must be a number, got 'much'"),
        ("a,1;5\n", "known.csv, line 1"),
        ("a,1\nb,2\n", "labels at 3 vertices or more are needed to fit a model, got 2"),
        ("a,1\nb,1\nc,1\n", "all labels are equal"),
        ("a,1e308\nb,-1e308\n", "labels must be between -1e+150 and 1e+150, got 1e+308 in size"),
    ],
)
def test_bad_labels_are_one_sentence(
    labels: str, sentence: str, edges: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sentence in failed(predicting(edges, labels), capsys)
    assert not edges.with_name("all.csv").exists()


def test_labels_need_a_graph_and_a_place_for_predictions(edges: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = predicting(edges, "a,1\n")
    assert "--labels" in failed(words[:2], capsys)
    assert "EDGES" in failed([words[0], *words[2:]], capsys).upper()
    assert "known are .csv" in failed([*words[:-1], str(edges.with_name("all.txt"))], capsys)
    assert "--noise must be at least 0" in failed([*words, "--noise", "-1"], capsys)
    assert "--p needs --kernel" in failed([*words, "--p", "4"], capsys)
    edges.with_name("known.csv").unlink()
    assert "known.csv: No such file" in failed(words, capsys)


def test_no_convergence_is_said_and_what_there_is_is_kept(
    loopy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "partial.json"
    words = ["graph", "--edges", str(loopy), "--noise", "1e-4", "--nu", "1", "--methods", "cavity"]
    words += ["--precision", "0.5", "--max-rounds", "2"]
    assert run([*words, "--out", str(out)]) == 1
    captured = capsys.readouterr()
    assert "did not converge" in captured.err
    assert "max_rounds" in captured.err
    (kept,) = json.loads(out.read_text())["curves"]
    assert kept["diagnostics"]["converged"] == [0.0]
    assert "loop_error" in kept["diagnostics"]
    assert run([*words, "--json", "-q"]) == 1
    captured = capsys.readouterr()
    assert json.loads(captured.out)["curves"][0]["method"] == "cavity"
    assert captured.err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([*CAVITY, "--noise", "0"], "method 'cavity' does not apply"),
        ([*CAVITY, "--ensemble", "er:0"], "no edges"),
        ([*CAVITY, "--ensemble", "regular:0"], "no edges"),
        ([*CAVITY, "--nu", "1e7"], "nu must be at most 1e+06"),
        ([*CAVITY, "--precision", "0"], "precision must be greater than 0"),
        ([*CAVITY, "--among", "giant"], "only groups by degree are known"),
        ([*CAVITY, "--datasets", "5"], "--datasets"),
        ([*CAVITY, "--a", "1.9"], "a must be at least 2"),
        ([*CAVITY, "--p", "-1"], "at least 0, got -1"),
        ([*ER, "simulation", "--local", "paper"], "--local: it belongs to cavity"),
    ],
)
def test_bad_input_is_one_sentence(words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert sentence in failed(once(words), capsys)


def test_the_approximation_of_the_paper_belongs_to_ensembles(edges: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["graph", "--edges", str(edges), "--noise", "0.1", "--nu", "1", "--methods", "cavity", "--local", "paper"]
    assert "applies to an ensemble" in failed(words, capsys)


def test_labels_may_be_a_column_of_a_table(edges: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = 'kind,bus,angle,load\n"x, y",a,1,3\nz,f,-0.5,4\nz,c,0.2,4\nz,b,NA,5\n'
    words = predicting(edges, table, "--target", "angle")
    assert run(words) == 0
    said = capsys.readouterr().err.splitlines()
    known = edges.with_name("known.csv")
    assert said[:2] == [
        f"note: {known}: ignored the columns 'kind', 'load'",
        f"note: {known}: 1 vertex has no value, and are treated as unlabelled",
    ]
    found = edges.with_name("all.csv").read_text()
    assert run(predicting(edges, "a,1\nf,-0.5\nc,0.2\n", "-q")) == 0
    assert edges.with_name("all.csv").read_text() == found
    assert run(predicting(edges, table, "--target", "angle", "--vertex-column", "bus", "-q")) == 0
    assert edges.with_name("all.csv").read_text() == found
    assert "say which column holds the values with --target" in failed(predicting(edges, table), capsys)
    assert "has no column 'angel'" in failed(predicting(edges, table, "--target", "angel"), capsys)
