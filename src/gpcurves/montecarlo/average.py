"""The one Monte Carlo: which tasks are missing, who does them, what is kept, when it is enough, and the average of them all."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

from gpcurves.montecarlo.progress import Progress
from gpcurves.montecarlo.store import Store
from gpcurves.montecarlo.workers import NUMBER, execute
from gpcurves.numerics.memory import check_memory
from gpcurves.numerics.randomness import Rng, seed_of
from gpcurves.numerics.validation import FloatArray

Shape = tuple[int, ...]
_PER_TASK, _COPIES = (
    300,
    5,
)  # bytes that a finished task takes besides its numbers, and how often these are held at once
_SHORT = 0.5  # seconds that may pass without a progress bar, so that many short simulations do not leave many bars
_GROWTH, _LARGEST_GROWTH = 1.5, 8
"""How much more is drawn if the precision is not reached: at least half as much again, at most eight times as much."""


def stream(seed: int, task: int) -> np.random.Generator:
    """Return the random numbers of one task, independent of those of all others."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(task,)))


class Experiment(Protocol):
    """What is repeated: data sets, graphs, replicas. It is sent to workers, so it must be small."""

    @property
    def key(self) -> Mapping[str, Any]:
        """Everything that determines the results, as plain data; results are stored under it."""

    @property
    def fields(self) -> Mapping[str, Shape]:
        """The named results of a task and their shapes; () is a single number."""

    def draw(self, task: int) -> Mapping[str, FloatArray | float]:
        """Do the task of this number and return a value for every field."""


@dataclass(frozen=True)
class Run:
    """How to run. Only the seed changes a result.

    Attributes
    ----------
    rng
        The seed, or what determines it; None takes a new one.
    workers
        Number of local processes, or the address of a running Dask scheduler such as ``tcp://127.0.0.1:8786``.
    store
        SQLite file that keeps finished tasks; None for no store.
    progress
        Whether to show progress on stderr; None shows it on a terminal and in notebooks, if it takes longer than half a second.
    """

    rng: Rng = None
    workers: int | str = 1
    store: str | Path | None = None
    progress: bool | None = None

    def seed(self) -> int:
        """Return the one integer that determines all random numbers."""
        return seed_of(self.rng)

    @property
    def processes(self) -> int:
        """How many processes share the memory of this machine; a cluster is not this machine."""
        workers = str(self.workers)
        return int(workers) if NUMBER.fullmatch(workers) else 1


@dataclass(frozen=True)
class Stop:
    """When enough tasks are done."""

    first: int  # at least so many tasks
    most: int  # at most so many, if the precision is not reached before
    precision: float | None = None  # relative standard error of the field "error"; None stops after the first tasks


@dataclass(frozen=True)
class Estimate:
    """Results of independent tasks, by field; the first axis of each array counts tasks."""

    values: Mapping[str, FloatArray]
    stop: Stop  # when enough was to be done
    interrupted: bool = False  # whether the run was interrupted before that

    @property
    def count(self) -> int:
        """How many tasks were done."""
        return len(next(iter(self.values.values())))

    def mean(self, name: str) -> FloatArray:
        """Return the average over tasks; what all tasks agree on has no rounding error."""
        values = self.values[name]
        return np.asarray(values[0] + (values - values[0]).mean(axis=0))

    def stderr(self, name: str) -> FloatArray:
        """Return the standard error of the average.

        Tasks may report a standard error of their own in the field ``name_stderr``; the larger of what they report and of
        how much they differ counts.
        """
        values = self.values[name]
        between = np.zeros(values.shape[1:])
        if len(values) > 1:
            between = np.asarray((values - values[0]).std(axis=0, ddof=1) / math.sqrt(len(values)))
        own = self.values.get(f"{name}_stderr")
        return between if own is None else np.maximum(between, np.sqrt((own**2).sum(axis=0)) / len(values))

    def quantile(self, name: str, share: float) -> FloatArray:
        """Return the value below which this share of the tasks lies."""
        return np.asarray(np.quantile(self.values[name], share, axis=0))

    def precision(self) -> float:
        """Return the largest standard error of the field "error" relative to its average, as far as it is known."""
        mean, stderr = self.mean("error"), self.stderr("error")
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(np.nanmax(np.where(mean > 0, stderr / mean, 0.0), initial=0.0))

    def notes(self, unit: str) -> list[str]:
        """Say in sentences what kept the run from reaching its goal."""
        if self.interrupted:
            return [f"interrupted after {self.count} {unit}"]
        goal = self.stop.precision
        if goal is not None and (reached := self.precision()) > goal:
            return [f"a precision of {reached:.2g} was reached with {self.count} {unit}, not {goal:g}"]
        return []


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a run; carries the estimate from what was finished."""

    def __init__(self, estimate: Estimate) -> None:
        super().__init__("interrupted")
        self.estimate = estimate


@dataclass(frozen=True)
class Missing(Collection[int]):
    """The tasks below a total that were not done before; they are counted, never listed, for there may be a billion."""

    total: int
    done: frozenset[int]

    def __iter__(self) -> Iterator[int]:
        return (task for task in range(self.total) if task not in self.done)

    def __len__(self) -> int:
        return self.total - sum(task < self.total for task in self.done)

    def __contains__(self, task: object) -> bool:
        return task in range(self.total) and task not in self.done


def average(experiment: Experiment, run: Run, stop: Stop, unit: str = "data sets") -> Estimate:
    """Repeat an experiment until it is enough, and return its results in the order of the tasks.

    Which tasks are used never depends on who was faster: the same seed gives the same numbers, whoever computes them.
    Progress counts in ``unit``.
    """
    width = sum(math.prod(shape) for shape in experiment.fields.values())
    needed = stop.most * (_PER_TASK + _COPIES * 8.0 * width)
    check_memory(needed, f"keeping the results of {stop.most:,} {unit}", f"ask for fewer {unit}")
    opened = nullcontext() if run.store is None else Store(run.store)
    with Progress(run.progress, unit, after=_SHORT) as progress, opened as store:
        done, damaged = ({}, []) if store is None else store.load(experiment.key, width)
        if damaged:
            which = ", ".join(map(str, damaged[:10])) + ", …" * (len(damaged) > 10)
            progress.say(f"{run.store}: discarded damaged results, which are computed again: {unit} {which}")
        total = stop.first

        def estimate(interrupted: bool = False) -> Estimate:
            rows = [done[task] for task in sorted(done) if task < total]
            return Estimate(_unpack(experiment, np.reshape(rows, (len(rows), width))), stop, interrupted)

        def words() -> str:
            return f"precision {100 * estimate().precision():.2g} %" if "error" in experiment.fields else ""

        while True:
            progress.expect(total, sum(task < total for task in done))
            try:
                for batch in execute(partial(_draw_row, experiment), Missing(total, frozenset(done)), run.workers):
                    if store is not None:
                        store.add(experiment.key, batch)
                    done.update(batch)
                    progress.advance(len(batch), words if len(done) > 1 else None)
            except KeyboardInterrupt:
                raise Interrupted(estimate(interrupted=True)) from None
            result = estimate()
            if stop.precision is None or total >= stop.most or (reached := result.precision()) <= stop.precision:
                return result
            # standard errors fall as one over the square root; a little less is tried first
            lacking = min(reached / stop.precision, 1e6)  # the square of more may be beyond all numbers
            hoped = math.ceil(0.9 * total * lacking**2)
            total = min(stop.most, max(math.ceil(_GROWTH * total), min(hoped, _LARGEST_GROWTH * total)))


def _draw_row(experiment: Experiment, task: int) -> FloatArray:
    """Do a task and return its fields as one row of numbers, for workers and the store."""
    results = experiment.draw(task)
    return np.concatenate([np.ravel(results[name]) for name in experiment.fields]).astype(np.float64)


def _unpack(experiment: Experiment, table: FloatArray) -> Mapping[str, FloatArray]:
    """Return the fields of all tasks, of which each has a row."""
    values, start = {}, 0
    for name, shape in experiment.fields.items():
        end = start + math.prod(shape)
        values[name] = table[:, start:end].reshape(len(table), *shape)
        start = end
    return MappingProxyType(values)
