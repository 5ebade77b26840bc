"""Progress on stderr: rate, time left and a note; silent if nobody is looking."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from importlib.util import find_spec
from typing import Any, Self

from gpcurves.numerics.announcing import listening


def in_notebook() -> bool:
    """Tell whether this process is the kernel of a notebook, whose stderr is read although it is no terminal."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


def _shape() -> dict[str, Any]:
    """Return how wide a bar is: as the terminal, unless that says it has no size, as those of containers often do."""
    try:
        unknown = sys.stderr.isatty() and 0 in os.get_terminal_size(sys.stderr.fileno())
    except OSError:  # no file behind it
        unknown = False
    return {"ncols": 80, "nrows": 20} if unknown else {"dynamic_ncols": True}


class Progress:
    """A progress bar, or nothing.

    With ``show=None`` there is a bar on a terminal and in a notebook, once the work has taken ``after`` seconds, unless the
    environment says ``TQDM_DISABLE=1``.
    """

    def __init__(self, show: bool | None, unit: str, after: float = 0.0) -> None:
        is_open = not getattr(sys.stderr, "closed", True)  # a process may have no stderr at all
        watched = is_open and not os.environ.get("TQDM_DISABLE") and (sys.stderr.isatty() or in_notebook())
        self._shown = is_open and (watched if show is None else show)
        self._after = after if show is None else 0.0
        self._silent = show is False or not is_open
        self._unit = unit
        self._bar: Any = None
        self._listening = ExitStack()
        self._next_words = 0.0

    def expect(self, total: int, done: int) -> None:
        """Say how many tasks there are, and how many are done already."""
        if not self._shown:
            return
        if self._bar is None:
            if in_notebook() and find_spec("ipywidgets") is not None:
                from tqdm.notebook import tqdm
            else:
                from tqdm import tqdm

            about = {"unit": f" {self._unit}", "file": sys.stderr, "delay": self._after, **_shape()}
            self._bar = tqdm(total=total, initial=done, **about)
        else:
            self._bar.total = total  # drawn with the next task

    def say(self, sentence: str) -> None:
        """Print a sentence, above the bar if there is one, unless nothing is to be shown."""
        if not self._silent:
            if self._bar is None:
                sys.stderr.write(f"{sentence}\n")
            else:
                self._bar.write(sentence, file=sys.stderr)

    def advance(self, count: int, words: Callable[[], str] | None = None) -> None:
        """Say that more tasks are done; words beside the bar are asked for now and then, not more than they cost."""
        if self._bar is None:
            return
        self._bar.update(count)
        now = time.monotonic()
        if words is not None and now >= self._next_words:
            self._bar.set_postfix_str(words())
            self._next_words = time.monotonic() + 1.0 + 10 * (time.monotonic() - now)

    def __enter__(self) -> Self:
        if self._shown:
            self._listening.enter_context(listening(self.say))
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self._listening.close()
        if self._bar is not None:
            if kind is None and self._unit == "%":  # some stages are left out, and their share is done as well
                self._bar.update(self._bar.total - self._bar.n)
            self._bar.close()
