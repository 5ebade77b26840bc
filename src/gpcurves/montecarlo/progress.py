"""Progress on stderr: rate, time left and a note; silent if nobody is looking."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, Self

from gpcurves.numerics.announcing import listening


class Progress:
    """A progress bar, or nothing."""

    def __init__(self, show: bool | None, unit: str) -> None:
        is_open = not getattr(sys.stderr, "closed", True)  # a process may have no stderr at all
        self._shown = is_open and (sys.stderr.isatty() if show is None else show)
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
            from tqdm import tqdm

            self._bar = tqdm(total=total, initial=done, unit=f" {self._unit}", file=sys.stderr, dynamic_ncols=True)
        else:
            self._bar.total = total
            self._bar.refresh()

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

    def __exit__(self, *_: object) -> None:
        self._listening.close()
        if self._bar is not None:
            self._bar.close()
