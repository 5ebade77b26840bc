"""What takes long without a progress bar is announced to whoever listens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

_listeners: list[Callable[[str], object]] = []
_announced: set[str] = set()


def announce(sentence: str) -> None:
    """Say once to whoever listens what takes long; without a listener nothing is said."""
    if _listeners and sentence not in _announced:
        _announced.add(sentence)
        _listeners[-1](sentence)


@contextmanager
def listening(say: Callable[[str], object]) -> Iterator[None]:
    """Pass what is announced within this block, also by other threads, to a function."""
    _listeners.append(say)
    try:
        yield
    finally:
        _listeners.remove(say)
