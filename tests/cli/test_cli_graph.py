"""``gpcurves graph``: its columns, its options, its pictures and what it refuses."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

import gpcurves as gpc
from commands import failed, once, rows
from gpcurves.cli import run
from pictures import assert_drawn

ER = ["graph", "--ensemble", "er:3", "--noise", "0.1", "--nu", "0.1,1,5", "--vertices", "60", "--graphs", "3"]


@pytest.fixture
def edges(tmp_path: Path) -> Path:
    """A path of six vertices with a triangle at its end, as an edge list."""
    path = tmp_path / "net.txt"
    path.write_text("# a small network\nsource,target\na,b\nb,c\nc,d\nd,e\ne,f\nf,d\n")
    return path


def test_the_columns_are_those_of_the_contract(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--p", "10", "--a", "2", "--normalise", "local", "--methods", "eigenvalue,simulation", "--rng", "0"]
    assert run([*ER, *words]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[0] == "method,nu,error,stderr"
    table = rows(out)
    assert [(r["method"], r["nu"]) for r in table] == [
        (m, v) for m in ("eigenvalue", "simulation") for v in ("0.1", "1", "5")
    ]
    problem = gpc.GraphProblem(gpc.ErdosRenyi(3), gpc.RandomWalkKernel(10, 2, "local"), 0.1)
    same = gpc.learning_curve(problem, "simulation", nu=[0.1, 1, 5], vertices=60, graphs=3, rng=0)
    np.testing.assert_array_equal([float(r["error"]) for r in table[3:]], same.error)
    assert same.stderr is not None
    np.testing.assert_array_equal([float(r["stderr"]) for r in table[3:]], same.stderr)


def test_a_small_graph_is_simulated(edges: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["graph", "--edges", str(edges), "--noise", "0.1", "--nu", "0.5,2", "--p", "4"]) == 0
    captured = capsys.readouterr()
    table = rows(captured.out)
    assert [r["stderr"] for r in table if r["method"] == "eigenvalue"] == ["", ""]
    assert {r["method"] for r in table} == {"eigenvalue", "local", "simulation"}
    assert "left out mckay, master" in captured.err
    assert "left out cavity: on 6 vertices simulation" in captured.err


def test_a_large_graph_is_left_to_the_cavity_method(edges: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["graph", "--edges", str(edges), "--noise", "0.1", "--nu", "0.5", "--p", "2", "--precision", "0.2"]
    assert run([*words, "--vertices", "1501"]) == 0
    captured = capsys.readouterr()
    assert {r["method"] for r in rows(captured.out)} == {"cavity"}
    assert "simulation, eigenvalue, local: dense algebra" in captured.err


def test_an_option_of_one_method_asks_for_it(edges: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["graph", "--edges", str(edges), "--noise", "0.1", "--nu", "0.5", "--datasets", "5", "-q"]
    assert run(words) == 0
    assert {r["method"] for r in rows(capsys.readouterr().out)} == {"eigenvalue", "local", "simulation"}
    assert run([*words, "--damping", "0.1"]) == 0
    assert {r["method"] for r in rows(capsys.readouterr().out)} == {"eigenvalue", "local", "simulation", "cavity"}


def test_a_compressed_file_reads_the_same(edges: Path, capsys: pytest.CaptureFixture[str]) -> None:
    packed = edges.with_suffix(".txt.gz")
    packed.write_bytes(gzip.compress(edges.read_bytes()))
    answers = []
    for path in (edges, packed):
        assert run(["graph", "--edges", str(path), "--noise", "0.1", "--nu", "1", "-q"]) == 0
        answers.append(capsys.readouterr().out)
    assert answers[0] == answers[1]


def test_vertices_without_edges_are_counted(edges: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["diagnose", str(edges), "--json"]
    assert run(words) == 0
    assert json.loads(capsys.readouterr().out)["vertices"] == 6
    assert run([*words, "--vertices", "8"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["vertices"] == 8
    assert "2 isolated vertices" in report["verdict"]
    assert "at least 6" in failed(["diagnose", str(edges), "--vertices", "3"], capsys)
    words = ["graph", "--edges", str(edges), "--noise", "0.1", "--nu", "0.5", "--methods", "eigenvalue", "--json"]
    assert run([*words, "--vertices", "8"]) == 0
    assert "8" in str(json.loads(capsys.readouterr().out)["problems"][0]["inputs"]["graph"])


@pytest.mark.slow
def test_the_diagnosis_needs_no_noise_and_warns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for suffix in (".png", ".svg", ".html", ".csv", ".json"):
        out = tmp_path / f"prior{suffix}"
        assert run(["diagnose", "--ensemble", "er:3", "--vertices", "400", "--out", str(out), "-q"]) == 0
        said = capsys.readouterr().out
        assert "Warning: with global normalisation" in said
        assert "Use local normalisation" in said
        assert out.stat().st_size > 1000
    assert_drawn((tmp_path / "prior.png").read_bytes())
    assert (tmp_path / "prior.csv").read_text().startswith("vertex,degree,component,variance\n")


def test_goals_are_solved_for(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["graph", "--ensemble", "regular:3", "--noise", "0.1", "--nu", "0.1,10", "--methods", "mckay"]
    assert run([*words, "--goal", "0.1", "--goal", "1e-3", "--goal", "1e-9", "--json"]) == 0
    captured = capsys.readouterr()
    near, far, missed = json.loads(captured.out)["required_nu"]
    problem = gpc.GraphProblem(gpc.RandomRegular(3), gpc.RandomWalkKernel(10), 0.1)
    for goal, reached in ((0.1, near), (1e-3, far)):  # within the grid of nu, and beyond it
        assert gpc.learning_curve(problem, "mckay", nu=[reached["nu"]]).error[0] == pytest.approx(goal, rel=2e-3)
    assert far["nu"] > 10
    assert missed["nu"] is None
    assert "1e-09 within 1000 examples per vertex" in missed["reason"]
    assert "examples per vertex needed for an error of 0.1:" in captured.err


def test_goals_on_a_given_graph_are_in_labels(edges: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["graph", "--edges", str(edges), "--noise", "0.1", "--nu", "0.5", "--p", "4", "--goal", "0.1"]
    assert run(words) == 0
    captured = capsys.readouterr()
    problem = gpc.GraphProblem(gpc.read_graph(edges), gpc.RandomWalkKernel(4), 0.1)
    lines = [line.split() for line in captured.err.splitlines()]
    for method in ("simulation", "eigenvalue"):
        (answer,) = [int(line[-1]) for line in lines if len(line) == 3 and line[1] == method]
        assert answer == gpc.required_n(problem, 0.1, method)
    assert "labels (of 6 vertices)" in captured.err.splitlines()[-1]


@pytest.mark.slow
def test_mismatch_is_simulated(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--normalise", "global", "--teacher-normalise", "local", "--teacher-p", "6", "--teacher-noise", "0.2"]
    assert run([*ER, *words, "--population", "50", "--max-sweeps", "5", "--precision", "0.5"]) == 0
    captured = capsys.readouterr()
    assert {"simulation", "eigenvalue", "cavity"} <= {r["method"] for r in rows(captured.out)}
    assert "well specified" in captured.err
    teacher = gpc.Teacher(gpc.RandomWalkKernel(6, 2, "local"), 0.2)
    problem = gpc.GraphProblem(gpc.ErdosRenyi(3), gpc.RandomWalkKernel(10, normalise="global"), 0.1, teacher)
    same = gpc.learning_curve(problem, "simulation", nu=[0.1, 1, 5], vertices=60, graphs=3, rng=0)
    simulated = [float(r["error"]) for r in rows(captured.out) if r["method"] == "simulation"]
    np.testing.assert_array_equal(simulated, same.error)


def test_groups_of_vertices_are_in_the_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*ER, "--methods", "simulation", "--among", "isolated,degree=2", "--json"]) == 0
    (curve,) = json.loads(capsys.readouterr().out)["curves"]
    assert {"error isolated", "share isolated", "error degree=2", "variance"} <= set(curve["details"])


def test_a_run_goes_on_from_its_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [*ER, "--methods", "simulation,eigenvalue", "--store", str(tmp_path / "run.sqlite"), "-q"]
    assert run(words) == 0
    first = capsys.readouterr().out
    assert run([*words, "--workers", "2"]) == 0
    assert capsys.readouterr().out == first


@pytest.mark.parametrize("suffix", [".csv", ".json", ".png", ".svg", ".html"])
def test_curves_are_written_by_suffix(suffix: str, tmp_path: Path) -> None:
    out = tmp_path / f"curves{suffix}"
    assert run([*ER, "--methods", "simulation,eigenvalue", "--datasets", "2", "--out", str(out), "-q"]) == 0
    if suffix == ".csv":
        assert len(rows(out.read_text())) == 6
    if suffix == ".png":
        assert_drawn(out.read_bytes())
    if suffix == ".json":
        curves = gpc.load(out)
        assert isinstance(curves, gpc.CurveSet)
        assert curves.problem == gpc.GraphProblem(gpc.ErdosRenyi(3), gpc.RandomWalkKernel(10), 0.1)
    if suffix in (".svg", ".html"):
        assert "per vertex" in out.read_text()


def test_the_graph_is_drawn_with_its_training_vertices(
    edges: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "net.svg"
    words = ["draw", str(edges), "--noise", "0.1", "--nu", "0.5", "--out"]
    assert run([*words, str(out), "-q"]) == 0
    assert capsys.readouterr() == ("", "")
    assert "has training examples" in out.read_text()
    assert run(["draw", "--ensemble", "er:3", "--vertices", "40", "--noise", "0.1", "--out", str(out)]) == 0
    assert f"wrote {out}" in capsys.readouterr().err
    assert "known are .png, .svg" in failed([*words, str(tmp_path / "a.gif")], capsys)
    assert "--out is needed" in failed(words[:-1], capsys)


def test_what_a_call_does_not_use_is_refused(edges: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Options that were ignored once: several things asked of one command, and numbers that nothing needs."""
    own, er = ["--edges", str(edges), "--noise", "0.1"], ["--ensemble", "regular:3", "--noise", "0.1", "--nu", "1"]
    never = str(tmp_path / "never.csv")
    for words, flag in [
        (["graph", *own, "--labels", "l.csv", "--predict", never, "--methods", "nonsense"], "--labels"),
        (["predict", str(edges), "--labels", "l.csv", "--out", never, "--methods", "nonsense"], "--methods"),
        (["predict", str(edges), "--labels", "l.csv", "--out", never, "--teacher-noise", "5"], "--teacher-noise"),
        (["graph", *er, "--diagnose", "--methods", "mckay", "--out", never], "--diagnose"),
        (["diagnose", str(edges), "--goal", "0.1"], "--goal"),
        (["diagnose", str(edges), "--noise", "0.1"], "--noise"),
        (["diagnose", str(edges), "--normalise", "local"], "--normalise"),
        (["diagnose", str(edges), "--rng", "1"], "--rng"),
        (["diagnose", "--ensemble", "er:3", "--repair"], "--repair"),
        (["graph", *er, "--methods", "mckay", "--draw", never], "--draw"),
        (["graph", *er, "--methods", "mckay", "--vertices", "60"], "--vertices"),
        (["graph", *er, "--methods", "mckay", "--rng", "3"], "--rng"),
        (["graph", *own, "--methods", "eigenvalue", "--store", never], "--store"),
        (["graph", *own, "--methods", "eigenvalue,simulation", "--graphs", "3"], "--graphs"),
        (["graph", *own, "--methods", "simulation", "--damping", "0.5"], "--damping"),
        (["graph", *er, "--methods", "cavity", "--damping", "0.5"], "--damping"),
        (["graph", *own, "--ensemble", "er:3"], "--ensemble"),
        (["graph", *er, "--kernel", "diffusion", "--teacher-p", "3"], "--teacher-p"),
        (["draw", str(edges), "--noise", "0.1", "--out", str(tmp_path / "a.png"), "--methods", "lc"], "--methods"),
    ]:
        assert flag in failed(words, capsys), words
    assert [path.name for path in tmp_path.iterdir()] == [edges.name]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["graph", "--noise", "0.1"], "give either --ensemble (random graphs) or your own graph"),
        (["graph", "--ensemble", "er:3"], "--noise is needed"),
        (["graph", "--ensemble", "err:3", "--noise", "1"], "did you mean 'er'?"),
        (["graph", "--ensemble", "powerlaw:3", "--noise", "1"], "--ensemble powerlaw must be powerlaw:ALPHA,CUTOFF"),
        (["graph", "--ensemble", "er:x", "--noise", "1"], "must be a number, got 'x'"),
        (["graph", "--ensemble", "er:-1", "--noise", "1"], "mean degree must be at least 0, got -1"),
        (["graph", "--ensemble", "er:nan", "--noise", "1"], "mean degree must be finite"),
        (["graph", "--ensemble", "regular:2.5", "--noise", "1"], "--ensemble regular must be an integer, got '2.5'"),
        (["graph", "--ensemble", "degrees:0.5,0.2", "--noise", "1"], "must sum to 1, got 0.7"),
        ([*ER, "--a", "1.5"], "a must be at least 2 for a positive semidefinite kernel, got 1.5"),
        ([*ER, "--p", "-1"], "at least 0, got -1"),
        ([*ER, "--p", "2.5"], "--p must be an integer, got '2.5'"),
        ([*ER, "--p", "nan"], "--p must be an integer, got 'nan'"),
        ([*ER, "--normalise", "locl"], "did you mean 'local'?"),
        ([*ER, "--kernel", "walk"], "known are diffusion, matern, polynomial, random-walk"),
        ([*ER, "--kernel", "diffusion", "--p", "3"], "takes no --p: it takes --scale"),
        ([*ER, "--kernel", "polynomial"], "--coefficients is needed"),
        ([*ER, "--kernel", "polynomial", "--coefficients", "0,1"], "must be at least 0 between -1 and 1"),
        ([*ER[:7], "--methods", "lc"], "method 'lc' does not apply: it is not for graphs"),
        ([*ER[:7], "--methods", "mckay"], "limit of large random regular graphs"),
        ([*ER, "--nu", "-1"], "nu must be finite and at least 0, got -1"),
        ([*ER, "--among", "leaves"], "unknown group of vertices 'leaves'"),
        ([*ER, "--graphs", "1"], "at least 2, got 1"),
        ([*ER, "--goal", "0"], "--goal must be greater than 0"),
        ([*ER, "--repair"], "--repair applies to your own graph"),
        (["graph", "--ensemble", "regular:3", "--noise", "1", "--vertices", "5"], "no graph has 5 vertices of degree 3"),
        ([*ER, "--vertices", "1000000", "--methods", "simulation"], "GB of memory, this machine has"),
        (["graph", "--edges", "missing.txt", "--noise", "1"], "cannot read missing.txt: No such file"),
    ],
)  # fmt: skip
def test_bad_input_is_one_sentence(words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert sentence in failed(once(words), capsys)


def test_a_malformed_line_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.txt"
    path.write_text("1 2\n2 3\n3\n")
    assert "bad.txt, line 3: an edge is two names" in failed(["graph", "--edges", str(path), "--noise", "1"], capsys)
    path.write_text("1 2\n2 2\n")
    assert "line 2: the vertex '2' is joined to itself" in failed(
        ["graph", "--edges", str(path), "--noise", "1"], capsys
    )
    assert run(["graph", "--edges", str(path), "--noise", "1", "--nu", "1", "--repair", "-q"]) == 0


def test_columns_headers_and_weights_of_an_edge_list_are_options(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "net.csv"
    path.write_text('"to, really",kind,from,length\nann,x,bob,2\ncleo,y,bob,4\ndora,,,\n')
    words = ["diagnose", str(path), "--columns", '"to, really",from,length']
    assert "does a large 'length' mean near or far? --weights affinity" in failed(words, capsys)
    assert run([*words, "--weights", "distance"]) == 0
    captured = capsys.readouterr()
    assert captured.err.splitlines() == [
        f"note: {path}: ignored the column 'kind'",
        f"note: {path}: 1 vertex has no edges ('dora')",
        f"note: {path}: the weight of an edge is 1 divided by the column 'length'",
    ]
    assert "4 vertices, 2 edges with weights from 0.25 to 0.5" in captured.out
    assert run([*words, "--ignore-weights", "-q"]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    assert "4 vertices, 2 edges without weights" in captured.out
    assert "--weights is not used with --ignore-weights" in failed(
        [*words, "--weights", "distance", "--ignore-weights"], capsys
    )
    assert "known are affinity, distance" in failed([*words, "--weights", "near"], capsys)
    for flag in (["--columns", "1,2"], ["--header"], ["--no-header"], ["--weights", "distance"]):
        assert "applies to your own graph" in failed(["diagnose", "--ensemble", "er:3", *flag], capsys)


def test_a_first_line_that_may_be_an_edge_is_asked_about(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "net.csv"
    path.write_text("ann,bob\ncleo,dora\n")
    words = ["diagnose", str(path)]
    assert "line 1: 'ann,bob' may be an edge, or the names of the columns: say --no-header" in failed(words, capsys)
    for flag, size in (("--header", "2 vertices, 1 edge"), ("--no-header", "4 vertices, 2 edges")):
        assert run([*words, flag]) == 0
        assert size in capsys.readouterr().out
