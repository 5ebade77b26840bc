"""Caches only save time: without a directory to write to, or with damaged files in it, the numbers are the same."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numba
import pytest

import gpcurves as gpc
from gpcurves.cli import pieces, run
from gpcurves.montecarlo.progress import Progress
from gpcurves.numerics import announcing
from gpcurves.numerics.announcing import announce, listening

SOURCE = """
from gpcurves.numerics.compiling import compiled

@compiled
def cube(x):
    return x * x * x
"""
ONCE = "compiling loops over vertices, once, about 15 s"


def compile_and_call(source: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Import a module as a new process would, call its function, and return what was announced."""
    monkeypatch.setattr(announcing, "_announced", set())
    spec = spec_from_file_location("cubes", source)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "cubes", module)
    spec.loader.exec_module(module)
    said: list[str] = []
    with listening(said.append):
        assert module.cube(3.0) == 27.0
    return said


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "cubes.py"
    path.write_text(SOURCE)
    return path


def test_nothing_can_be_written(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (source.parent / "__pycache__").touch()  # not a directory: nobody can write below it, not even root
    monkeypatch.setattr(numba.config, "CACHE_DIR", "/dev/null/caches")
    monkeypatch.setenv("HOME", "/dev/null")
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null/caches")
    said = compile_and_call(source, monkeypatch)
    assert len(said) == 1
    assert "in every run: no directory for compiled code can be written (set NUMBA_CACHE_DIR" in said[0]


def test_a_directory_of_the_user_that_cannot_be_written_is_passed_over(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", "/dev/null/caches")
    assert compile_and_call(source, monkeypatch) == [ONCE]
    assert compile_and_call(source, monkeypatch) == []
    assert list((source.parent / "__pycache__").glob("*.nbc"))


def flip(content: bytes) -> bytes:
    """Change one bit in the middle, which is among the machine code."""
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
@pytest.mark.parametrize(
    "damage",
    [lambda _: b"", lambda content: content[: len(content) // 2], lambda _: b"not what it was" * 9, flip],
    ids=["empty", "truncated", "overwritten", "flipped"],
)
def test_damaged_files_are_replaced(
    source: Path, suffix: str, damage: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = source.parent / "caches"
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(folder))
    assert compile_and_call(source, monkeypatch) == [ONCE]
    assert compile_and_call(source, monkeypatch) == []
    (file,) = folder.rglob(f"*{suffix}")
    file.write_bytes(damage(file.read_bytes()))
    assert compile_and_call(source, monkeypatch) == [ONCE]
    assert compile_and_call(source, monkeypatch) == []


def test_a_cache_that_cannot_be_written_any_more(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = source.parent / "caches"
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(folder))

    def fail(*_: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr("gpcurves.numerics.compiling._Sealed.reduce", fail)
    assert compile_and_call(source, monkeypatch) == [ONCE]


def test_announcements_are_heard_where_progress_is_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(announcing, "_announced", set())
    announce("nobody listens")
    with Progress(False, "data sets"):
        announce("a sentence")
    with Progress(True, "data sets"):
        announce("a sentence")
        announce("a sentence")
    announce("nobody listens")
    assert capsys.readouterr() == ("", "a sentence\n")


@pytest.mark.parametrize("suffix", [pytest.param(".png", marks=pytest.mark.slow), ".html"])
def test_a_home_that_cannot_be_written_leaks_no_warning(suffix: str, tmp_path: Path) -> None:
    out = tmp_path / f"curve{suffix}"
    words = f"curve --kernel rbf --lengthscale 0.1 --noise 0.1 --n 0,5 --methods lc --out {out}"
    homes = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "NUMBA_CACHE_DIR"), "/dev/null/x")
    environment = {name: value for name, value in os.environ.items() if name != "MPLCONFIGDIR"} | homes
    done = subprocess.run(
        [sys.executable, "-m", "gpcurves", *words.split()], capture_output=True, text=True, env=environment
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", f"wrote {out}\n")


@pytest.mark.parametrize(("quiet", "said"), [([], 1), (["--quiet"], 0)])
def test_announcements_are_heard_on_the_command_line_unless_it_is_quiet(
    quiet: list[str], said: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def read_ensemble(text: str) -> gpc.ErdosRenyi:
        announce(ONCE)
        return gpc.ErdosRenyi(3)

    monkeypatch.setattr(announcing, "_announced", set())
    monkeypatch.setattr(pieces, "read_ensemble", read_ensemble)
    assert run(["diagnose", "--ensemble", "er:3", "--vertices", "20", *quiet]) == 0
    assert capsys.readouterr().err.count(ONCE) == said
