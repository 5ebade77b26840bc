"""The command line's contract: names and columns, stdout and stderr, exit codes, and nothing lost."""

import csv
import io
import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gpcurves as gpc
from commands import once
from gpcurves.cli import run
from gpcurves.cli.parse import size_list
from gpcurves.curve import SCHEMA
from pictures import assert_drawn

pytestmark = pytest.mark.usefixtures("few_refits")  # no number here depends on more of them

BASE = ["curve", "--kernel", "rbf", "--lengthscale", "0.01", "--noise", "0.05"]


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_the_contract_on_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    words = [*BASE, "--inputs", "torus", "--dim", "1", "--n", "0,1,50,300", "--methods", "lc,uc,plaskota"]
    assert run(words) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[0] == "method,n,error,stderr"
    table = rows(out)
    assert [(r["method"], r["n"]) for r in table[:4]] == [("lc", "0"), ("lc", "1"), ("lc", "50"), ("lc", "300")]
    assert all(r["stderr"] == "" for r in table)
    problem = gpc.Problem(gpc.RBF(0.01), gpc.Torus(1), 0.05)
    for name in ("lc", "uc", "plaskota"):
        printed = [float(r["error"]) for r in table if r["method"] == name]
        np.testing.assert_array_equal(printed, gpc.learning_curve(problem, name, [0, 1, 50, 300]).error)
    assert err == ""


def test_all_methods_run_or_say_why_not(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*BASE, "--dim", "2", "--n", "5"]) == 0
    out, err = capsys.readouterr()
    assert {r["method"] for r in rows(out)} == {
        name
        for name, m in gpc.METHODS.items()
        if "n" in m.axes and not m.second and m.compound is None and not m.special
    } - {"wv", "simulation", "grid", "local"}  # a grid is another problem than random inputs, and local equals lc here
    assert err == "left out wv: inputs must be one-dimensional, got dimension 2\n"
    assert run([*BASE, "--dim", "2", "--n", "5", "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_json_carries_what_made_it(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run([*BASE, "--n", "0,10", "--methods", "lc,wv", "--goal", "0.05", "--goal", "1e-9", "--json"]) == 0
    out, err = capsys.readouterr()
    data = json.loads(out)
    assert (data["schema"], data["package"], data["version"]) == (SCHEMA, "gpcurves", gpc.__version__)
    assert [c["method"] for c in data["curves"]] == ["lc", "wv"]
    answers = {(a["error"], a["method"]): a for a in data["required_n"]}
    assert answers[0.05, "lc"]["n"] == 168
    assert answers[1e-9, "wv"]["n"] is None
    assert "1e-09 within 1e+12 examples" in answers[1e-9, "wv"]["reason"]
    assert "examples needed for an error of 0.05:" in err
    assert ["approximation", "lc", "168"] in [line.split() for line in err.splitlines()]
    (tmp_path / "x.json").write_text(out)
    assert isinstance(gpc.load(tmp_path / "x.json"), gpc.CurveSet)


def test_goals_are_printed_on_stdout_when_it_is_free(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    target = tmp_path / "a.csv"
    assert run([*BASE, "--n", "10", "--methods", "lc", "--goal", "0.05", "--out", str(target), "-q"]) == 0
    out, err = capsys.readouterr()
    assert "168" in out
    assert out.splitlines()[-1] == "For an error of 0.05, approximations: 170 examples."
    assert err == ""
    assert target.read_text().splitlines()[0] == "method,n,error,stderr"
    assert len(target.read_text().splitlines()) == 2  # data keep the sizes asked for


def test_goals_are_answered_by_kind_and_in_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    ou = ["curve", "--kernel", "ou", "--lengthscale", "0.1", "--dim", "2", "--noise", "0.1", "--n", "10"]
    assert run([*ou, "--goal", "0.05"]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1] == (
        "For an error of 0.05, approximations: 34,000 to 39,000 examples; rigorous: between 22,464 and 247,087."
    )
    first = next(k for k, line in enumerate(lines) if line.startswith("examples needed"))
    kinds = [line[2:15].strip() for line in lines[first + 1 : -1]]
    assert sorted(kinds, key=["exact", "approximation", "lower bound", "upper bound"].index) == kinds


def test_a_picture_shows_where_a_goal_is_reached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[gpc.CurveSet] = []
    monkeypatch.setattr("gpcurves.cli.output.emit_curves", lambda curves, *_, **__: seen.append(curves))
    words = ["curve", "--kernel", "rbf", "--lengthscale", "0.1", "--noise", "0.05"]
    words += ["--n", "0,10,20", "--methods", "lc,ov", "--goal", "0.001", "--simulate", "4"]
    for suffix in ("csv", "png", "html"):
        assert run([*words, "--out", str(tmp_path / f"a.{suffix}")]) == 0
    data, *shown = seen
    assert [curve.n.tolist() for curve in data.values()] == [[0, 10, 20]] * 3
    problem = gpc.Problem(gpc.RBF(0.1), gpc.Torus(1), 0.05)
    for curves in shown:
        assert curves["lc"].n.max() > gpc.required_n(problem, 0.001, "lc") > 20
        assert curves["ov"].n.max() == curves["lc"].n.max()
        assert 1.5 * curves["lc"].n.max() > curves["simulation"].n.max() > 100
        assert (np.diff(curves["lc"].n) > 0).all()
        assert {0, 10, 20} <= set(curves["lc"].n)


def test_a_picture_of_bounds_alone_shows_where_both_reach_a_goal(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    seen: list[gpc.CurveSet] = []
    monkeypatch.setattr("gpcurves.cli.output.emit_curves", lambda curves, *_, **__: seen.append(curves))
    words = ["curve", "--kernel", "rbf", "--lengthscale", "0.1", "--noise", "0.05", "--n", "0:50:10"]
    assert run([*words, "--methods", "plaskota,wv,two", "--goal", "0.05", "--out", str(tmp_path / "a.png")]) == 0
    assert all(curve.n.max() > 140 for curve in seen[0].values())


def test_goals_of_modified_problems_and_of_eigenvalues_alone_are_called_so(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["curve", "--kernel", "linear", "--inputs", "gaussian", "--dim", "3", "--noise", "0.01", "--n", "5"]
    assert run([*words, "--methods", "degenerate", "--goal", "0.01"]) == 0
    assert capsys.readouterr().err.splitlines()[-1] == (
        "No curve of this problem reaches an error of 0.01; for a modified problem, degenerate 10 examples."
    )
    words = ["graph", "--edges", "examples/club.csv", "--noise", "0.001", "--nu", "0.1", "--goal", "0.05"]
    assert run([*words, "--methods", "eigenvalue"]) == 0
    assert capsys.readouterr().err.endswith(
        "approximations: 10 labels (of 34 vertices). "
        "Eigenvalue theory underestimates this number if noise is low: compare the method simulation.\n"
    )


@pytest.mark.parametrize("suffix", ["csv", "json", "png", "svg", "html"])
def test_every_output_format(suffix: str, tmp_path: Path) -> None:
    target = tmp_path / f"curves.{suffix}"
    assert run([*BASE, "--n", "0:20:5", "--out", str(target), "-q"]) == 0
    start = {"csv": b"method,n", "json": b"{\n", "png": b"\x89PNG", "svg": b"<?xml", "html": b"<!doctype html>"}
    assert target.read_bytes().startswith(start[suffix])
    if suffix == "png":
        assert_drawn(target.read_bytes())
    assert [p.name for p in tmp_path.iterdir()] == [target.name]


@pytest.mark.slow
def test_every_kernel_and_input(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    from gpcurves.kernels import Kernel

    for name in Kernel.offered():
        assert run(["curve", "--kernel", name, "--inputs", "box", "--noise", "0.1", "--n", "3", "--methods", "lc"]) == 0
    points = tmp_path / "points.csv"
    points.write_text("x,y\n" + "\n".join(f"{i / 40},{(i * 7 % 40) / 40}" for i in range(40)))
    words = ["curve", "--kernel", "ou", "--noise", "0.1", "--n", "3", "--methods", "lc"]
    for inputs in (["gaussian", "--input-variance", "2", "--dim", "2"], ["sample", "--points", str(points)]):
        assert run([*words, "--inputs", *inputs]) == 0
    assert (
        run(
            [
                "curve",
                "--kernel",
                "matern",
                "--smoothness",
                "0.8",
                "--lengthscale",
                "0.1,0.3",
                "--noise",
                "0",
                "--n",
                "3",
            ]
        )
        == 0
    )
    spectrum = tmp_path / "spectrum.txt"
    spectrum.write_text("# value multiplicity\n1.0 1\n0.5 2\n")
    capsys.readouterr()
    assert run(["curve", "--spectrum", str(spectrum), "--noise", "0.1", "--n", "2", "--methods", "ov"]) == 0
    assert float(rows(capsys.readouterr().out)[0]["error"]) == pytest.approx(1 / 21 + 2 * 0.5 / 11, rel=1e-14)


def test_a_formula_that_overflows_is_left_out_of_all_and_refused_if_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spectrum = tmp_path / "spectrum.txt"
    spectrum.write_text("1e150 2\n")
    words = ["curve", "--spectrum", str(spectrum), "--noise", "1e-300", "--goal", "1e-200"]
    assert run([*words, "--n", "0,1"]) == 0
    out, err = capsys.readouterr()
    assert "uo" not in {row["method"] for row in rows(out)} >= {"lc", "uc", "degenerate"}
    assert "left out uo: method 'uo' gave a value that is not finite at n = 1\n" in err
    assert run([*words, "--n", "0"]) == 0
    out, err = capsys.readouterr()
    assert "uo" in {row["method"] for row in rows(out)}
    assert "uo         method 'uo' gave a value that is not finite at n = 1  (" in err
    for named in ("uo", "lc,uo"):
        assert run([*words, "--n", "0,1", "--methods", named]) == 1
        assert capsys.readouterr().err == "gpcurves: method 'uo' gave a value that is not finite at n = 1\n"


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("0,1,50", [0, 1, 50]),
        ("0:10:5", [0, 5, 10]),
        ("2:4", [2, 3, 4]),
        ("0:1:0.25", [0, 0.25, 0.5, 0.75, 1]),
        ("1:100:log:3", [1, 10, 100]),
        ("0,1:4:log:3", [0, 1, 2, 4]),
        ("1:3:log:20", [1, 2, 3]),
        ("1e3", [1000]),
    ],
)
def test_lists_of_sizes(text: str, values: list[float]) -> None:
    assert size_list("--n", text, integers=True) == values


def test_logarithmic_ranges_of_real_numbers() -> None:
    np.testing.assert_allclose(size_list("--nu", "0.1:10:log:3", integers=False), [0.1, 1, 10], rtol=1e-14)


BAD = [
    (["--noise", "-1"], "noise must be at least 0, got -1"),
    (["--noise", "nan"], "noise must be finite, got nan"),
    (["--noise", "inf"], "noise must be finite, got inf"),
    (["--noise", "much"], "--noise must be a number, got 'much'"),
    (["--noise", "0", "--methods", "uo"], "method 'uo' does not apply: the noise must be greater than 0, got 0"),
    (["--lengthscale", "0"], "lengthscale must be greater than 0, got 0"),
    (["--lengthscale", "-0.5"], "lengthscale must be greater than 0, got -0.5"),
    (["--lengthscale", "nan"], "lengthscale must be finite, got nan"),
    (["--lengthscale", "0.1,,2"], "--lengthscale must be a number, got ''"),
    (["--lengthscale", "0.1,0.2", "--dim", "3"], "the kernel has 2 lengthscales but inputs have 3 dimensions"),
    (["--variance", "0"], "variance must be greater than 0, got 0"),
    (["--dim", "0"], "at least 1, got 0"),
    (["--dim", "1.5"], "--dim must be an integer, got '1.5'"),
    (["--n", "-3"], "n must be finite and at least 0, got -3"),
    (["--n", "nan"], "n must be finite and at least 0, got nan"),
    (["--n", ""], "--n must not be empty"),
    (["--n", "1:2:3:4:5"], "--n must be numbers, start:stop:step or start:stop:log:count, got '1:2:3:4:5'"),
    (["--n", "10:1:1"], "--n: a range start:stop:step needs start ≤ stop and step > 0, got '10:1:1'"),
    (["--n", "0:10:log:5"], "--n: a range start:stop:log:count needs 0 < start ≤ stop, got '0:10:log:5'"),
    (["--n", "0:1e12:1"], "--n: the range '0:1e12:1' has 1e+12 values, at most 1e+06 are allowed"),
    (["--n", "1.5", "--methods", "mw"], "method 'mw' does not apply: n must be integers, got 1.5"),
    (["--lengthscale", "1e-300"], "lengthscale must be between 1e-50 and 1e+50, got 1e-300"),
    (["--dim", "101"], "dimension must be at most 100, got 101"),
    (["--inputs", "gaussian", "--dim", "0"], "at least 1, got 0"),
    (["--n", "1e300"], "n must be at most 1e+15, got 1e+300"),
    (["--n", "1:2:log:²"], "--n: the count of a logarithmic range must be a positive integer, got '1:2:log:²'"),
    (["--simulate", "4", "--datasets", "3"], "--simulate or --datasets is given twice: give it once"),
    (["--goal", "0.1", "-q"], "the answer to --goal is not shown with --quiet: add --json or --out FILE"),
    (["--store", "s.db"], "--store is not used"),
    (["--workers", "2"], "--workers is not used"),
    (["--rng", "1"], "--rng is not used"),
    (["--rng", "0", "--methods", "lc"], "--rng is not used: nothing is drawn at random by lc; add the method sim"),
    (["--precision", "0.1", "--methods", "lc,ov"], "none of the methods lc, ov takes --precision: it belongs to simul"),
    (["--also", "training", "--methods", "lc"], "method 'lc' takes no --also: it belongs to simulation"),
    (["--kernel", "rfb"], "unknown kernel 'rfb': did you mean 'rbf'? known are"),
    (["--inputs", "tours"], "unknown input distribution 'tours': did you mean 'torus'? known are"),
    (["--methods", "plaskotta"], "unknown method 'plaskotta': did you mean 'plaskota'? known are"),
    (["--methods", ","], "--methods must not be empty"),
    (
        ["--dim", "2", "--methods", "lc,wv"],
        "method 'wv' does not apply: inputs must be one-dimensional, got dimension 2",
    ),
    (["--alpha", "2"], "the kernel 'rbf' takes no --alpha: it takes --lengthscale, --variance"),
    (["--kernel", "linear"], "the kernel 'linear' takes no --lengthscale: it takes --variance, --bias"),
    (["--teacher-kernel", "ou", "--teacher-alpha", "2"], "the kernel 'ou' takes no --teacher-alpha"),
    (["--input-variance", "2"], "the input distribution 'torus' takes no --input-variance: it takes --dim"),
    (["--inputs", "sample"], "--points is needed"),
    (["--inputs", "sample", "--dim", "2"], "the input distribution 'sample' takes no --dim: it takes --points"),
    (["--points", "p.csv"], "the input distribution 'torus' takes no --points: it takes --dim"),
    (["--goal", "0"], "--goal must be greater than 0, got 0"),
    (["--nose", "1"], "no such option '--nose'. (Did you mean one of: '--chosen', '--nodes', '--noise'"),
    (["--out", "curves.pdf"], "unknown output format '.pdf': did you mean '.png'? known are"),
    (["--out", "curves"], "the output needs a suffix that says what to write"),
    (["--out", "no/such/folder/a.png"], "cannot write no/such/folder/a.png: the folder no/such/folder does not exist"),
    (["--spectrum", "s.txt"], "--spectrum replaces the kernel and the inputs: --kernel is not used"),
]


@pytest.mark.parametrize(("words", "sentence"), BAD, ids=[" ".join(words) for words, _ in BAD])
def test_bad_input_is_one_sentence_and_exit_code_2(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(once([*BASE, *words])) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("gpcurves: ")
    assert sentence in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("1\n-1\n", "eigenvalues must be at least 0, got -1"),
        ("1\nnan\n", "eigenvalues must be finite, got NaN or infinity"),
        ("", "is empty"),
        ("1\n2,3\n", "line 2: 1 columns expected, got 2"),
        ("1\nx\n", "line 2: eigenvalues must be numbers, got 'x'"),
        ("1 2 3\n", "must have one column (eigenvalue) or two"),
        ("0 1\n", "at least one eigenvalue greater than 0"),
        ("1 1\n0.5 0.5\n", "s.txt: multiplicities must be at least 1, got 0.5"),
        ("1 -1\n", "multiplicities must be at least 1, got -1"),
        ("1 nan\n", "multiplicities must be finite, got NaN or infinity"),
    ],
)
def test_bad_spectra(content: str, sentence: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "s.txt"
    path.write_text(content)
    assert run(["curve", "--spectrum", str(path), "--noise", "1"]) == 2
    assert sentence in capsys.readouterr().err


def test_an_existing_file_survives_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "a.csv"
    target.write_text("precious")

    def fail(*_: object, **__: object) -> None:
        raise gpc.NumericalError("on purpose")

    monkeypatch.setattr("gpcurves.render.views.curves.CurvesView.to_csv", fail)
    assert run([*BASE, "--n", "1", "--methods", "lc", "--out", str(target)]) == 1
    assert target.read_text() == "precious"
    assert [p.name for p in tmp_path.iterdir()] == ["a.csv"]


def test_a_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "a.csv"
    target.write_text("precious")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fdopen", full)
    assert run([*BASE, "--n", "1", "--methods", "lc", "--out", str(target)]) == 2
    assert target.read_text() == "precious"
    assert [p.name for p in tmp_path.iterdir()] == ["a.csv"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_unwritable_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tmp_path.chmod(0o500)
    assert run([*BASE, "--out", str(tmp_path / "a.csv")]) == 2
    assert "permission denied" in capsys.readouterr().err


def test_the_list_of_methods(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["methods"]) == 0
    text = capsys.readouterr().out
    for name, method in gpc.METHODS.items():
        assert f"{name:<10} {method.title}: {method.relation}" in text
    assert "options: --vertices, --graphs" in text
    assert run(["methods", "--json"]) == 0
    listed = {each["name"]: each for each in json.loads(capsys.readouterr().out)}
    assert list(listed) == list(gpc.METHODS)
    assert "damping" in listed["cavity"]["options"]
    assert run(["methods", "-q"]) == 0
    assert capsys.readouterr().out.split() == list(gpc.METHODS)


COMMANDS = ("certify", "curve", "graph", "diagnose", "predict", "draw", "mix", "plan", "methods", "figures")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_can_be_quiet_and_has_examples(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([command, "--help"]) == 0
    text = capsys.readouterr().out
    assert "-q, --quiet" in text
    assert f"gpcurves {command}" in text


@pytest.mark.parametrize(
    "command",
    [
        pytest.param("", marks=pytest.mark.slow),
        "certify",
        pytest.param("curve", marks=pytest.mark.slow),
        "methods",
        pytest.param("plan", marks=pytest.mark.slow),
        pytest.param("diagnose", marks=pytest.mark.slow),
        "predict",
        "draw",
    ],
)
def test_examples_in_the_help_run(command: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run([*filter(None, [command]), "--help"]) == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    examples = [line.split() for line in lines if line.startswith("gpcurves ")]
    assert examples
    rows = ["x,y,price,drag", *(f"{i * 7 % 20},{i % 9},{i * i},{i * i % 11}" for i in range(20))]
    for name in ("data.csv", "runs.csv", "new.csv"):
        (tmp_path / name).write_text("\n".join(rows))
    for name in ("network.csv", "grid.csv", "friends.csv"):
        (tmp_path / name).write_text("".join(f"v{i},v{i + 1}\n" for i in range(50)))
    (tmp_path / "known.csv").write_text("".join(f"v{i},{i * i % 13}\n" for i in range(0, 50, 2)))
    for name in ("codes.csv", "clubs.csv"):
        (tmp_path / name).write_text("".join(f"v{i},{i // 26}\n" for i in range(0, 50, 2)))
    flowers = (f"{i % 7 + 9 * (i % 2)},{i},{'rose' if i % 2 else 'tulip'}" for i in range(30))
    (tmp_path / "flowers.csv").write_text("\n".join(["petal,day,species", *flowers]))
    (tmp_path / "vertices.csv").write_text("vertex,height\n" + "".join(f"v{i},{i % 7}\n" for i in range(51)))
    for example in examples:
        named = [str(tmp_path / word) if "." in word and word[-1].isalpha() else word for word in example[1:]]
        lean = {"plan": ["--draws", "1"], "graph": ["--precision", "0.2"]}.get(named[0], [])
        assert run([*named, *(lean if "--edges" not in named else [])]) == 0, example


def test_version_and_unknown_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"gpcurves {gpc.__version__}\n"
    assert run(["crve"]) == 2
    assert "did you mean 'curve'?" in capsys.readouterr().err.lower()
    assert run([]) == 2
    assert "Commands:" in capsys.readouterr().err


def test_a_real_process() -> None:
    command = [sys.executable, "-W", "error", "-m", "gpcurves", *BASE, "--n", "5"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("method,n,error,stderr\n")
    assert done.stderr == ""
    bad = subprocess.run([*command, "--noise", "-1"], capture_output=True, text=True, check=False)
    assert (bad.returncode, bad.stdout) == (2, "")
    piped = subprocess.run(
        f"{sys.executable} -m gpcurves {' '.join(BASE)} --n 0:20000 --methods ov | head -1",
        shell=True,
        capture_output=True,
        text=True,
        check=True,
    )
    assert piped.stdout == "method,n,error,stderr\n"
    assert piped.stderr == ""


@pytest.mark.slow
def test_a_full_device_and_a_closed_one_are_survived() -> None:
    command = f"{sys.executable} -m gpcurves {' '.join(BASE)} --n 5 --methods ov"
    full = subprocess.run(f"{command} > /dev/full", shell=True, capture_output=True, text=True, check=False)
    assert full.returncode == 1
    assert full.stderr == "gpcurves: cannot write to stdout: No space left on device\n"
    closed = subprocess.run(f"{command} >&-", shell=True, capture_output=True, text=True, check=False)
    assert (closed.returncode, closed.stderr) == (1, "gpcurves: cannot write to stdout: Bad file descriptor\n")


def test_help_is_quick_and_imports_nothing_heavy() -> None:
    code = "import sys; from gpcurves.cli import run; run(['--help']); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stderr.split()}
    assert loaded - set(sys.stdlib_module_names) - {"__main__"} <= {"gpcurves", "click", "_distutils_hack"}

    def fastest(*words: str) -> float:
        """Return the processor time of the quickest of three runs, in which other processes do not count."""
        times = []
        for _ in range(3):
            start = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([sys.executable, *words], check=True, capture_output=True)
            end = resource.getrusage(resource.RUSAGE_CHILDREN)
            times.append(end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime)
        return min(times)

    assert fastest("-m", "gpcurves", "--help") < 2.5 * fastest("-c", "import numpy")
