"""Classification tasks as users have them: raw tables with texts, dates, missing cells and identifiers.

    python -m benchmarks.classes.tasks

prints one line for each. ``tasks.json`` names table, columns and target of each; `choose` wrote it by fixed rules.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.classes import keel
from benchmarks.forecast import sources
from benchmarks.forecast.sources import hashed
from benchmarks.forecast.tasks import MOST_ROWS, Task, keep

FILE = Path(__file__).with_name("tasks.json")
FURTHER = Path(__file__).with_name("further.json")
"""Tasks that were chosen by the same rules after everything was fixed, and are for the last score alone."""
UNSEEN = Path(__file__).with_name("unseen.json")
"""Tasks on tables that are in neither file, on which forecasts are scored once."""


def names() -> list[str]:
    """Return the names of all tasks but the further and the unseen ones."""
    return list(read(FILE))


def further() -> list[str]:
    """Return the names of the further ones."""
    return list(read(FURTHER))


def unseen() -> list[str]:
    """Return the names of the unseen ones."""
    return list(read(UNSEEN))


def kind(name: str) -> str:
    """Return one of plain, categories, rare and several."""
    return str(_catalogue()[name]["kind"])


def third(name: str) -> bool:
    """Tell whether a task belongs to the fixed third on which to iterate."""
    ordered = sorted(names(), key=lambda each: hashed(f"third of {each}"))
    return name in [each for each in ordered if kind(each) == kind(name)][::3]


def load(name: str) -> Task:
    """Return a task; its table is kept in the folder BENCH_CACHE, or in that for temporary files."""
    return keep(name, _catalogue()[name], make_table, "gpcurves-classes")


def make_table(name: str, entry: dict[str, Any]) -> pd.DataFrame:
    """Return the columns of a task for rows with a class, at most 7,000 in a random order that its name fixes."""
    source = entry["source"]
    raw = keel.read(source) if keel.holds(source) else sources.read(source)
    table = raw[[*entry["columns"], entry["target"]]].dropna(subset=[entry["target"]])
    return table.sample(n=min(MOST_ROWS, len(table)), random_state=hashed(name)).reset_index(drop=True)


def _catalogue() -> dict[str, dict[str, Any]]:
    return read(FILE) | read(FURTHER) | read(UNSEEN)


@cache
def read(file: Path) -> dict[str, dict[str, Any]]:
    """Return the tasks in one of the files; none if there is no such file."""
    found: dict[str, dict[str, Any]] = json.loads(file.read_text()) if file.exists() else {}
    return found


def main() -> None:
    for name in names():
        task = load(name)
        count, columns = task.table.shape
        shares = task.table[task.target].astype(str).value_counts(normalize=True)
        classes = " ".join(f"{share:.2f}" for share in shares)
        print(f"{name:44s} {kind(name):10s} {count:5d} rows {columns:2d} columns  {task.target}: {classes}")
    print(", ".join(f"{count} {key}" for key, count in Counter(map(kind, names())).most_common()))
    print(f"{len(names())} tasks, {sum(map(third, names()))} in the third on which to iterate")


if __name__ == "__main__":
    main()
