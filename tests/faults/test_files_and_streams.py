"""No file is destroyed, no stream is needed, and every failure is a sentence."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import gpcurves as gpc
from commands import failed
from gpcurves.cli import cli, run
from gpcurves.cli.streams import echo_data, open_streams
from gpcurves.errors import InputError, NumericalError
from gpcurves.numerics import files
from gpcurves.numerics.files import write_complete

pytestmark = pytest.mark.usefixtures("few_refits")  # no number here depends on more of them

EXAMPLES = Path(__file__).parents[2] / "examples"
CURVE = ["curve", "--kernel", "rbf", "--lengthscale", "0.1", "--noise", "0.1", "--n", "5", "--methods", "lc"]
GRAPH = ["graph", "--edges", "club.csv", "--noise", "0.1", "--nu", "1", "--methods", "eigenvalue"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the working folder, with sound files in it under their own name, a link and a hard link."""
    monkeypatch.chdir(tmp_path)
    for name in ("club.csv", "known.csv", "wine.csv"):
        shutil.copy(EXAMPLES / name, name)
    Path("values.csv").write_text("1 2\n0.5 4\n")
    Path("points.csv").write_text("0.1\n0.4\n0.7\n")
    for name in ("club", "known", "wine", "values", "points"):
        Path(f"{name}-link.csv").symlink_to(f"{name}.csv")
        os.link(f"{name}.csv", f"{name}-hard.csv")
    return tmp_path


@pytest.mark.parametrize("kind", ["", "-link", "-hard"])
@pytest.mark.parametrize(
    ("words", "source"),
    [
        ([*GRAPH], "club"),
        (["predict", "club.csv", "--labels", "known.csv"], "club"),
        (["predict", "club.csv", "--labels", "known.csv"], "known"),
        (["curve", "--spectrum", "values.csv", "--noise", "0.1", "--n", "5", "--methods", "lc"], "values"),
        ([*CURVE, "--inputs", "sample", "--points", "points.csv"], "points"),
        (["plan", "wine.csv", "--target", "proline"], "wine"),
        (["plan", "wine.csv", "--target", "proline", "--pool", "known.csv"], "known"),
        ([*CURVE, "--simulate", "2", "--store", "values.csv"], "values"),
    ],
)
def test_an_output_never_destroys_an_input(
    folder: Path, capsys: pytest.CaptureFixture[str], words: list[str], source: str, kind: str
) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert "as well" in failed([*words, "--out", f"{source}{kind}.csv"], capsys)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_no_file_is_written_twice(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = ["plan", "wine.csv", "--target", "proline", "--report", "page.html"]
    assert "page.png: it is the file of --out" in failed([*plan, "--out", "page.png"], capsys)
    assert "page.json: it is the file of --out" in failed([*plan, "--out", f"../{folder.name}/page.json"], capsys)


def test_every_option_that_names_a_file_is_checked() -> None:
    from gpcurves.cli.options import Command, File

    for name in cli.commands:
        command = cli.resolve_command(cli.make_context("gpcurves", [name]), [name])[1]
        if not isinstance(command, Command) or name == "methods":
            continue
        command.make_context(name, ["--help"], resilient_parsing=True)
        for each in command.params:
            if "file" in (each.metavar or "").lower().split("|"):
                assert isinstance(each.type, File) or getattr(each, "owners", None), f"{name} {each.name}"


def test_a_link_stays_and_its_file_is_written(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link, target = tmp_path / "link.csv", tmp_path / "real" / "new.csv"
    link.symlink_to(target)
    for content in (b"first", b"second"):
        write_complete(link, content)
        assert link.is_symlink()
        assert target.read_bytes() == content
    assert [path.name for path in target.parent.iterdir()] == ["new.csv"]
    (tmp_path / "loop.csv").symlink_to("loop.csv")
    with pytest.raises(InputError, match="symbolic links"):
        write_complete(tmp_path / "loop.csv", b"")


def test_a_pipe_is_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    write_complete(pipe, b"n" * 200_000)  # more than a pipe holds
    reader.join()
    assert read == [b"n" * 200_000]
    assert pipe.is_fifo()
    monkeypatch.setattr(files, "_PATIENCE", 0.1)
    with pytest.raises(InputError, match="no process reads from this pipe"):
        write_complete(pipe, b"")


def test_content_is_on_the_disk_before_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[str] = []
    sync, replace = os.fsync, Path.replace

    def record_sync(handle: int) -> None:
        events.append("sync")
        sync(handle)

    def record_replace(old: Path, new: Path) -> Path:
        events.append("name")
        return replace(old, new)

    monkeypatch.setattr(os, "fsync", record_sync)
    monkeypatch.setattr(Path, "replace", record_replace)
    write_complete(tmp_path / "a.csv", b"content")
    assert events == ["sync", "name", "sync"]


def test_a_name_of_any_length_that_the_system_takes_is_written(tmp_path: Path) -> None:
    longest = tmp_path / ("a" * 251 + ".csv")
    write_complete(longest, b"content")
    assert longest.read_bytes() == b"content"


def test_closed_streams_do_not_stop_a_run(folder: Path) -> None:
    line = f"{sys.executable} -m gpcurves {' '.join(CURVE)} --simulate 2 --store run.sqlite"
    done = subprocess.run(f"{line} 2>&- <&-", shell=True, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert [row.partition(",")[0] for row in done.stdout.splitlines()] == ["method", "lc", "simulation"]
    assert Path("run.sqlite").read_bytes().startswith(b"SQLite format 3")


def test_progress_needs_no_stderr(monkeypatch: pytest.MonkeyPatch) -> None:
    from gpcurves.montecarlo.progress import Progress

    monkeypatch.setattr(sys, "stderr", None)
    for show in (None, True):
        with Progress(show, "tasks") as progress:
            progress.expect(2, 0)
            progress.advance(1)


def test_letters_that_a_terminal_lacks_are_spelt_out(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="latin-1"))
    open_streams()
    echo_data("é,α\n")
    sys.stdout.flush()
    assert written.getvalue() == b"\xe9,\\u03b1\n"
    assert capsys.readouterr().err == "note: stdout (latin-1) has no 'α', which is spelt out; --out FILE writes UTF-8\n"


def test_a_line_break_in_a_name_does_not_break_the_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert failed(["diagnose", "a\nb\x1b[31m.csv"], capsys) == (
        "gpcurves: cannot read a\\nb\\x1b[31m.csv: No such file or directory\n"
    )


def test_whatever_happens_is_a_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import gpcurves.cli.computing

    def fail(*_: object, **__: object) -> None:
        raise AssertionError("line one\nline two")

    monkeypatch.setattr(gpcurves.cli.computing, "compute_curves", fail)
    assert run([*CURVE, "--out", "new.csv"]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("gpcurves: this is a defect of gpcurves (AssertionError: line one line two). Please")
    assert captured.err.count("\n") == 1
    assert not Path("new.csv").exists()
    monkeypatch.setenv("GPCURVES_TRACEBACK", "1")
    assert run([*CURVE]) == 1
    captured = capsys.readouterr()
    assert "Traceback (most recent call last)" in captured.err
    assert "in fail" in captured.err


@pytest.mark.parametrize("text", ["0_5", "٣", "1" * 5000, "1.5", "", "0x10"])
def test_a_seed_is_an_integer_in_plain_digits(capsys: pytest.CaptureFixture[str], text: str) -> None:
    assert "must be an integer" in failed([*CURVE, "--simulate", "2", "--rng", text], capsys)


@pytest.mark.parametrize("size", ["1e308", "9" * 400, "1e16"])
@pytest.mark.parametrize("option", ["--vertices", "--graphs"])
def test_absurd_integers_are_refused(capsys: pytest.CaptureFixture[str], option: str, size: str) -> None:
    words = ["graph", "--ensemble", "er:3", "--noise", "0.1", "--nu", "1", "--methods", "simulation"]
    sentence = failed([*words, option, size], capsys)
    assert "must be" in sentence
    assert len(sentence) < 2_100


def test_noise_that_double_precision_cannot_tell_from_none() -> None:
    spectrum = gpc.Spectrum([1.0, 0.5], multiplicities=[1, 1e300])
    with np.errstate(all="ignore"), pytest.raises(NumericalError, match="'info' gave a value that is not finite"):
        gpc.learning_curve(spectrum, "info", n=[5], noise=1e-300)  # it was 0, far below the error that it bounds
    for noise in (1e-300, 1e-320):
        faint = gpc.learning_curve(spectrum, "degenerate", n=[0, 5], noise=noise)
        assert faint.error == pytest.approx(gpc.learning_curve(spectrum, "degenerate", n=[0, 5], noise=0.0).error)
