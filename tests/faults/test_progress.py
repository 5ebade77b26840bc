"""Long work shows progress by default where somebody looks: on a terminal and in a notebook, and nowhere else."""

from __future__ import annotations

import io
import os
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import gpcurves as gpc
from gpcurves.montecarlo.progress import Progress, in_notebook

pytestmark = pytest.mark.usefixtures("few_refits")  # no number here depends on more of them

X = np.linspace(0, 1, 24)[:, None]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def look(screen: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """Put a screen in the place of stderr, in the test itself, as pytest puts its own there after the fixtures."""
    monkeypatch.delenv("TQDM_DISABLE", raising=False)
    monkeypatch.setattr(sys, "stderr", screen)
    return screen


def show(after: float = 0.0) -> None:
    with Progress(None, "tasks", after) as progress:
        progress.expect(2, 0)
        progress.advance(1)


def test_a_forecast_shows_progress_on_a_terminal_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = look(Terminal(), monkeypatch)
    gpc.forecast(X, np.sin(6 * X[:, 0]), draws=1)
    assert "100%" in terminal.getvalue()


def test_a_terminal_without_a_size_has_a_bar_of_its_own_width(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = look(Terminal(), monkeypatch)
    monkeypatch.setattr(terminal, "fileno", lambda: 2)
    monkeypatch.setattr("os.get_terminal_size", lambda *_: os.terminal_size((0, 0)))
    show()
    assert max(map(len, terminal.getvalue().split("\r"))) in (79, 80, 81)
    assert "1/2" in terminal.getvalue()


def test_a_notebook_is_told_from_a_script(monkeypatch: pytest.MonkeyPatch) -> None:
    cell = look(io.StringIO(), monkeypatch)
    monkeypatch.setattr("gpcurves.montecarlo.progress.find_spec", lambda name: None)  # without widgets
    kernel = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: kernel))
    assert in_notebook()
    show()
    assert "1/2" in cell.getvalue()
    for shell in (None, SimpleNamespace()):  # IPython imported by a script, and IPython in a terminal
        monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda shell=shell: shell))
        assert not in_notebook()


def test_scripts_and_quick_work_are_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = look(Terminal(), monkeypatch)
    show(after=60.0)
    assert terminal.getvalue() == ""
    problem = gpc.Problem(gpc.RBF(0.2), gpc.Torus(dim=1), noise=0.1)
    gpc.learning_curve(problem, "simulation", n=[2], datasets=2, rng=0, progress=True)
    assert "data sets" in terminal.getvalue()  # whoever asks for it always gets it
    monkeypatch.setenv("TQDM_DISABLE", "1")
    shown = terminal.getvalue()
    show()
    assert terminal.getvalue() == shown
    file = look(io.StringIO(), monkeypatch)
    show()
    assert file.getvalue() == ""
