"""What tests of the command line share."""

from __future__ import annotations

import csv
import io
from contextlib import redirect_stderr, redirect_stdout

import pytest

from gpcurves.cli import run


def rows(text: str) -> list[dict[str, str]]:
    """Return the rows of a CSV table."""
    return list(csv.DictReader(io.StringIO(text)))


def failed(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Run a command that must fail for bad input, and return its one sentence."""
    assert run(words) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("gpcurves: ")
    assert captured.err.count("\n") == 1
    return captured.err


def once(words: list[str]) -> list[str]:
    """Return a command with the last value alone of each option that is given several times."""
    first, *others = [k for k, word in enumerate(words) if word.startswith("--")] or [len(words)]
    pieces = [words[a:b] for a, b in zip([first, *others], [*others, len(words)], strict=True)]
    return [*words[:first], *(word for piece in {each[0]: each for each in pieces if each}.values() for word in piece)]


def command(*words: str) -> tuple[int, str, str]:
    """Run the command line and return its exit code and what it printed."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run(list(words))
    return code, out.getvalue(), err.getvalue()
