"""Progress on stderr: rate, time left and a note; silent where nobody is looking."""

from __future__ import annotations

import sys
from typing import Any, Self


class Progress:
    """A progress bar, or nothing."""

    def __init__(self, wanted: bool | None, unit: str) -> None:
        self._shown = sys.stderr.isatty() if wanted is None else wanted
        self._unit = unit
        self._bar: Any = None

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

    def advance(self, count: int) -> bool:
        """Say that more tasks are done; return whether anybody is looking."""
        if self._bar is not None:
            self._bar.update(count)
        return self._bar is not None

    def note(self, text: str) -> None:
        """Show a few words beside the bar."""
        if self._bar is not None:
            self._bar.set_postfix_str(text)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
