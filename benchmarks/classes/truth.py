"""True learning curves: error rate and log loss of the package's own classifier after n rows, on rows that nothing else sees.

    python -m benchmarks.classes.truth [--most 1600] [--third | --further | --unseen] [TASK ...]

Adds to ``truth.json`` the training sets that are not there yet, one task and size after the other, so that it can be stopped at
any time; named tasks are computed anew. `average` is the truth.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from benchmarks.classes import tasks
from gpcurves.errors import GPCurvesError
from gpcurves.forecasting.classes.prediction import ClassPredictor
from gpcurves.tables.cells import as_texts
from gpcurves.tables.preparing import prepare
from gpcurves.tables.rows import standardise

FILE = Path(__file__).with_name("truth.json")
SETS = {200: 4, 400: 3, 800: 2, 1600: 2}  # training sets at each size, whose errors are averaged
MOST_TESTED = 2_000  # rows: the standard error of an error rate of 0.2 is then 0.009
SLOW = 800  # with several classes, more rows than this are not tried: one set takes minutes
LEAST = 1e-3  # probability of a class that the rows learnt from do not have


def learn(table: pd.DataFrame, target: str) -> ClassPredictor:
    """Return the classifier that `forecast` would have of these rows."""
    return ClassPredictor.learn(standardise(prepare(table, target, task="classes", most_rows=5_000)))


def measure(learnt: ClassPredictor, test: pd.DataFrame, target: str) -> tuple[float, float]:
    """Return error rate and log loss."""
    found = learnt.predict(test)
    known = as_texts(test[target])
    used = found["prediction"].notna().to_numpy() & np.array([word is not None for word in known])
    wrong = found["prediction"].to_numpy()[used] != known[used]
    place = {name: k for k, name in enumerate(learnt.rows.classes)}
    probabilities = found.to_numpy()[:, 1:].astype(float)[used]
    right = [row[place[word]] if word in place else LEAST for row, word in zip(probabilities, known[used], strict=True)]
    return float(wrong.mean()), float(-np.log(np.maximum(right, LEAST)).mean())


def learn_set(name: str, n: int, number: int) -> list[float] | None:
    """Return error rate and log loss after one training set of n rows; None if it cannot be learnt from."""
    task = tasks.load(name)
    test, pool = task.table.iloc[: min(task.held, MOST_TESTED)], task.table.iloc[task.held :]
    pick = np.random.default_rng([number, n]).permutation(len(pool))[:n]
    try:
        with threadpool_limits(1):
            found = measure(learn(pool.iloc[np.sort(pick)], task.target), test, task.target)
    except GPCurvesError as error:
        print(f"{name}, {n} rows: {error}", flush=True)
        return None
    return [float(f"{value:.5g}") for value in found]


def count_sets(name: str, n: int) -> int:
    """Return how many training sets of n rows are wanted: none if there are too few rows."""
    task = tasks.load(name)
    too_many = n > len(task.table) - task.held or (n > SLOW and tasks.kind(name) == "several")
    return 0 if too_many else SETS[n]


def average(sets: Sequence[list[float] | None]) -> tuple[float, float] | None:
    """Return error rate and log loss averaged over training sets; None if there is none."""
    found = [each for each in sets if each is not None]
    return (float(np.mean([each[0] for each in found])), float(np.mean([each[1] for each in found]))) if found else None


def order(further: bool = False, unseen: bool = False) -> list[str]:
    """Return the names of tasks: the fast ones with two classes first, and of these the third to iterate on."""
    names = tasks.unseen() if unseen else tasks.further() if further else tasks.names()
    return sorted(names, key=lambda name: (tasks.kind(name) == "several", not tasks.third(name)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", nargs="*")
    parser.add_argument("--most", type=int, default=max(SETS), help="largest number of rows to train on")
    parser.add_argument("--third", action="store_true", help="only the tasks to iterate on")
    parser.add_argument("--further", action="store_true", help="only the tasks for the last score")
    parser.add_argument("--unseen", action="store_true", help="only the tasks that are scored once")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    known: dict[str, dict[str, list[list[float] | None]]] = json.loads(FILE.read_text()) if FILE.exists() else {}
    for name in asked.task:
        known.pop(name, None)
    listed = [name for name in asked.task or order(asked.further, asked.unseen) if tasks.third(name) or not asked.third]
    for n in (n for n in SETS if n <= asked.most):
        for name in listed:
            sets = known.setdefault(name, {}).setdefault(str(n), [])
            for number in range(len(sets), count_sets(name, n)):
                began = time.process_time()
                sets.append(learn_set(name, n, number))
                FILE.write_text("{\n" + ",\n".join(f'"{k}": {json.dumps(v)}' for k, v in known.items()) + "\n}\n")
                print(f"{name}, {n} rows: {sets[-1]}  {time.process_time() - began:.1f} s", flush=True)


if __name__ == "__main__":
    main()
