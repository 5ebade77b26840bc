"""Simulation on the command line: rows, teachers, stores, Ctrl-C, pictures and bad input."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import gpcurves as gpc
from commands import once
from gpcurves.cli import run
from pictures import assert_drawn

BASE = ["curve", "--kernel", "rbf", "--lengthscale", "0.1", "--noise", "0.05", "--n", "0,5,20"]


def rows(text: str, method: str) -> list[dict[str, str]]:
    return [row for row in csv.DictReader(io.StringIO(text)) if row["method"] == method]


def test_simulated_rows_beside_theory(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*BASE, "--methods", "lc", "--simulate", "30", "--rng", "3"]) == 0
    out, err = capsys.readouterr()
    truth = gpc.learning_curve(
        gpc.Problem(gpc.RBF(0.1), gpc.Torus(1), 0.05), "simulation", [0, 5, 20], datasets=30, rng=3
    )
    printed = rows(out, "simulation")
    assert [float(row["error"]) for row in printed] == truth.error.tolist()
    assert truth.stderr is not None
    assert [float(row["stderr"]) for row in printed] == truth.stderr.tolist()
    assert len(rows(out, "lc")) == 3
    assert err == ""


def test_simulation_is_a_method_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*BASE, "--methods", "simulation", "--precision", "0.05"]) == 0
    out, _ = capsys.readouterr()
    for row in rows(out, "simulation")[1:]:
        assert float(row["stderr"]) <= 0.05 * float(row["error"])
    assert rows(out, "lc") == []


def test_a_teacher(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--teacher-kernel", "ou", "--teacher-lengthscale", "0.3", "--teacher-noise", "0.2", "--simulate", "20"]
    assert run([*BASE, *words]) == 0
    out, err = capsys.readouterr()
    problem = gpc.Problem(gpc.RBF(0.1), gpc.Torus(1), 0.05, gpc.Teacher(gpc.OU(0.3), 0.2))
    expected = gpc.learning_curve(problem, "simulation", [0, 5, 20], datasets=20, rng=0)
    assert [float(row["error"]) for row in rows(out, "simulation")] == expected.error.tolist()
    assert all(len(rows(out, name)) == 3 for name in ("lc", "uc", "d"))
    assert "lc1, mw, plaskota" in err
    assert err.count("the model must be well specified") == 1
    capsys.readouterr()
    assert run([*BASE, "--teacher-noise", "0.2", "--json"]) == 0  # a teacher is always simulated
    data = json.loads(capsys.readouterr().out)
    assert data["problems"][0]["teacher"] == {"kernel": gpc.RBF(0.1).to_dict(), "noise": 0.2}
    assert data["curves"][-1]["options"] == {}
    assert data["curves"][-1]["diagnostics"]["drawn"] == 200


def test_curves_that_rise_are_pointed_out(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--noise", "1e-4", "--n", "0:30:5", "--teacher-kernel", "ou", "--teacher-noise", "0.1", "--simulate", "40"]
    assert run(once([*BASE, *words])) == 0
    assert "the curve is not monotonic: the error rises with more examples near n = " in capsys.readouterr().err


def test_what_double_precision_cannot_resolve_is_left_empty(capsys: pytest.CaptureFixture[str]) -> None:
    words = once([*BASE, "--noise", "1e-12", "--n", "0,2,200", "--methods", "simulation", "--simulate", "5"])
    assert run(words) == 0
    out, err = capsys.readouterr()
    assert [row["error"] == "" for row in rows(out, "simulation")] == [False, False, True]
    assert "from n = 200 on double precision cannot resolve the error" in err
    assert run([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["curves"][0]["error"][2] is None


@pytest.mark.parametrize("suffix", ["png", "html", "json"])
def test_pictures_show_points_with_error_bars(suffix: str, tmp_path: Path) -> None:
    target = tmp_path / f"a.{suffix}"
    assert run([*BASE, "--methods", "lc,ov", "--simulate", "10", "--out", str(target), "-q"]) == 0
    text = target.read_bytes()
    if suffix == "png":
        assert_drawn(text)
    if suffix == "html":
        assert b'"error_y"' in text
        assert b"standard error" in text
    if suffix == "json":
        back = gpc.load(target)
        assert isinstance(back, gpc.CurveSet)
        assert set(back["simulation"].details) == {"q05", "q25", "q50", "q75", "q95"}
        assert back["simulation"].rng == 0


def test_error_bars_in_the_picture() -> None:
    problem = gpc.Problem(gpc.RBF(0.1), gpc.Torus(1), 0.05)
    truth = gpc.learning_curve(problem, "simulation", [1, 5, 20], datasets=10, rng=0)
    display = gpc.CurveSet.of(gpc.learning_curve(problem, "lc", 20), truth).plot()
    points, _, bars = display.lines_["simulation"]
    np.testing.assert_array_equal(points.get_ydata(), truth.error)
    assert len(bars) == 1
    assert "simulated truth" in [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_a_store_is_used_and_changes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = tmp_path / "s.sqlite"
    words = [*BASE, "--methods", "simulation", "--simulate", "12"]
    assert run(words) == 0
    plain = capsys.readouterr().out
    for _ in range(2):
        assert run([*words, "--store", str(store)]) == 0
        assert capsys.readouterr().out == plain
    assert run([*words, "--store", str(store), "--workers", "2"]) == 0
    assert capsys.readouterr().out == plain


BAD = [
    (["--simulate", "0"], "at least 1, got 0"),
    (["--simulate", "1"], "at least 2, got 1"),
    (["--simulate", "-5"], "at least 1, got -5"),
    (["--simulate", "5", "--precision", "0"], "precision must be greater than 0, got 0"),
    (["--simulate", "5", "--precision", "nan"], "precision must be finite, got nan"),
    (["--simulate", "5", "--also", "testing"], "unknown quantity 'testing': did you mean"),
    (["--simulate", "5", "--rng", "-1"], "at least 0"),
    (["--simulate", "5", "--workers", "0"], "workers must be at least 1, got 0"),
    (["--simulate", "5", "--workers", "many"], "or an address like tcp://"),
    (["--simulate", "5", "--workers", "²"], "or an address like tcp://"),
    (["--simulate", "5", "--workers", "http://localhost"], "or an address like tcp://"),
    (["--simulate", "5", "--n", "1.5"], "method 'simulation' does not apply: n must be integers, got 1.5"),
    (
        ["--simulate", "5", "--n", "1000000"],
        "a simulation of n = 1000000 with 1 worker(s) needs about 24000 GB of memory",
    ),
    (
        ["--simulate", "5", "--store", "no/such/s.db"],
        "cannot use no/such/s.db as a store: the folder no/such does not exist",
    ),
    (["--teacher-kernel", "uo"], "unknown kernel 'uo': did you mean 'ou'?"),
    (["--teacher-noise", "-1"], "the teacher's noise must be at least 0, got -1"),
    (["--teacher-lengthscale", "0"], "lengthscale must be greater than 0, got 0"),
    (["--teacher-noise", "1", "--methods", "ov"], "method 'ov' does not apply: the model must be well specified"),
]


@pytest.mark.parametrize(("words", "sentence"), BAD, ids=[" ".join(words) for words, _ in BAD])
def test_bad_input(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    methods = [] if "--methods" in words else ["--methods", "ov"] if "--teacher" not in words[0] else []
    assert run(once([*BASE, *methods, *words])) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("gpcurves: ")
    assert sentence in err
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_store_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("precious")
    assert run([*BASE, "--methods", "simulation", "--store", str(path)]) == 2
    assert "is not a store of gpcurves: it is left as it is" in capsys.readouterr().err
    assert path.read_text() == "precious"


def test_ctrl_c_prints_what_there_is_and_how_to_go_on(tmp_path: Path) -> None:
    store = tmp_path / "s.sqlite"
    words = ["curve", "--kernel", "ou", "--lengthscale", "0.1", "--inputs", "box", "--dim", "2", "--noise", "0.1"]
    words += ["--n", "0,500", "--methods", "simulation", "--simulate", "4000", "--store", str(store)]
    # a shell that runs the tests in the background lets them ignore interruptions, and processes inherit that
    default = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    process = subprocess.Popen(
        [sys.executable, "-c", default + "from gpcurves.cli import main; main()", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    for _ in range(600):
        time.sleep(0.1)
        if store.exists() and _finished(store) >= 3:
            break
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert len(rows(out, "simulation")) == 2
    assert "interrupted after" in err
    assert f"finished data sets are kept in {store}: run the same command again to resume" in err
    assert "Traceback" not in err


def _finished(store: Path) -> int:
    import sqlite3

    with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as connection:
        try:
            return int(connection.execute("SELECT count(*) FROM results").fetchone()[0])
        except sqlite3.OperationalError:
            return 0
        finally:
            connection.interrupt()


@pytest.mark.slow
def test_the_commands_of_the_readme_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (Path(__file__).parents[2] / "README.md").read_text()
    commands = [line.split()[2:] for line in text.splitlines() if line.startswith("$ gpcurves ")]
    assert len(commands) == 5
    examples = Path(__file__).parents[2] / "examples"
    for name, source in (("network", "grid"), ("known", "angles")):
        (tmp_path / f"{name}.csv").write_bytes((examples / f"{source}.csv").read_bytes())
    rows = ((i * 7 % 30, i % 9, (i * 7 % 30) ** 2 + i % 9) for i in range(40))
    (tmp_path / "data.csv").write_text("x,z,price\n" + "".join(f"{x},{z},{price}\n" for x, z, price in rows))
    monkeypatch.chdir(tmp_path)
    for command in commands:
        quick = ["--draws", "1"] if command[0] == "plan" and "--edges" not in command else []
        assert run([*command, "--quiet", *quick]) == 0
    assert {p.name for p in tmp_path.iterdir()} >= {
        "all.csv",
        "plan.html",
        "plan.json",
        "network.html",
        "explorer.html",
    }
    assert_drawn((tmp_path / "plan.png").read_bytes())
