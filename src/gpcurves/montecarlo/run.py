"""The driver: which tasks are missing, who does them, what is kept, when it is enough."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from gpcurves.montecarlo.progress import Progress
from gpcurves.montecarlo.store import Store
from gpcurves.montecarlo.workers import execute
from gpcurves.numerics.validation import FloatArray


class Work(Protocol):
    """What a worker does: turn the number of a task into an array. It is sent to workers, so it must be small."""

    @property
    def description(self) -> Mapping[str, Any]:
        """Everything that determines the results, as plain data."""

    @property
    def width(self) -> int:
        """Length of each result."""

    def __call__(self, task: int) -> FloatArray:
        """Do one task."""


@dataclass(frozen=True)
class Settings:
    """How to run; nothing here changes a result.

    Attributes
    ----------
    workers
        Number of local processes, or the address of a running Dask scheduler such as ``tcp://127.0.0.1:8786``.
    store
        SQLite file that keeps finished tasks; None for no store.
    progress
        Whether to show progress on stderr; None shows it on a terminal.
    """

    workers: int | str = 1
    store: str | Path | None = None
    progress: bool | None = None


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a run; carries the results of what was finished."""

    def __init__(self, results: FloatArray) -> None:
        super().__init__("interrupted")
        self.results = results


Gauge = Callable[[FloatArray], float]
"""Given the results so far, returns how precise they are: smaller is better."""


def run(
    work: Work,
    count: int,
    settings: Settings,
    gauge: Gauge | None = None,
    goal: float | None = None,
    most: int = 1_000_000,
    unit: str = "data sets",
) -> FloatArray:
    """Return the results of tasks 0, 1, … as rows.

    Without a goal, ``count`` tasks are done. With a goal for the gauge, it is read after ``count`` tasks and then after
    at least half as many again, until it is met or ``most`` tasks are done; which tasks are used never depends on who
    was faster. The gauge is also shown as progress, which counts in ``unit``.
    """
    with Progress(settings.progress, unit) as progress, _opened(settings.store) as store:
        done = dict(store.finished(work.description, work.width)) if store is not None else {}
        total = count
        while True:
            progress.expect(total, sum(task < total for task in done))
            _complete(work, total, done, settings, store, progress, gauge)
            results = _rows(work, done, total)
            if gauge is None or goal is None or total >= most or (reached := gauge(results)) <= goal:
                return results
            hoped = math.ceil(0.9 * total * (reached / goal) ** 2)  # errors fall as the square root
            total = min(most, max(math.ceil(1.5 * total), min(hoped, 8 * total)))


def _opened(path: str | Path | None) -> AbstractContextManager[Store | None]:
    return nullcontext() if path is None else Store(path)


def _complete(
    work: Work,
    total: int,
    done: dict[int, FloatArray],
    settings: Settings,
    store: Store | None,
    progress: Progress,
    gauge: Gauge | None,
) -> None:
    missing = [task for task in range(total) if task not in done]

    def words() -> str:
        return f"precision {100 * gauge(_rows(work, done, total)):.2g} %" if gauge is not None else ""

    try:
        for finished in execute(work, missing, settings.workers):
            if store is not None:
                store.add(work.description, finished)
            done.update(finished)
            progress.advance(len(finished), words if len(done) > 1 else None)
    except KeyboardInterrupt:
        raise Interrupted(_rows(work, done, total)) from None


def _rows(work: Work, done: Mapping[int, FloatArray], total: int) -> FloatArray:
    """Return the results in the order of the tasks; only those that are there."""
    rows = [done[task] for task in range(total) if task in done]
    return np.array(rows) if rows else np.empty((0, work.width))
