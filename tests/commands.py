"""What tests of the command line share."""

from __future__ import annotations

import csv
import io

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
