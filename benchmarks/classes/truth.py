"""True learning curves: error rate and log loss of the package's own classifier after n rows, on rows that nothing else sees.

    python -m benchmarks.classes.truth [--most 1600] [--third] [TASK ...]

Averages over training sets, and adds to ``truth.json`` what is not there yet, one task and size after the other, so that it can be
stopped at any time; named tasks are computed anew.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
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
SETS = {200: 1, 400: 1, 800: 1, 1600: 1}  # training sets at each size, whose errors are averaged
MOST_TESTED = 1_000  # rows: the standard error of an error rate of 0.2 is then 0.013
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


def curve(name: str, n: int) -> list[float] | None:
    """Return error rate and log loss at n; None if there are too few rows."""
    task = tasks.load(name)
    test, pool = task.table.iloc[: min(task.held, MOST_TESTED)], task.table.iloc[task.held :]
    found = []
    for draw in range(SETS[n] if n <= len(pool) else 0):
        pick = np.random.default_rng([draw, n]).permutation(len(pool))[:n]
        try:
            with threadpool_limits(1):
                found.append(measure(learn(pool.iloc[np.sort(pick)], task.target), test, task.target))
        except GPCurvesError as error:
            print(f"{name}, {n} rows: {error}", flush=True)
    return [float(f"{value:.5g}") for value in np.mean(found, axis=0)] if found else None


def order() -> list[str]:
    """Return the names of tasks: the fast ones with two classes first, and of these the third to iterate on."""
    return sorted(tasks.names(), key=lambda name: (tasks.kind(name) == "several", not tasks.third(name)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", nargs="*")
    parser.add_argument("--most", type=int, default=max(SETS), help="largest number of rows to train on")
    parser.add_argument("--third", action="store_true", help="only the tasks to iterate on")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    known = json.loads(FILE.read_text()) if FILE.exists() else {}
    for name in asked.task:
        known.pop(name, None)
    # the third to iterate on first, and of that the fast ones
    listed = asked.task or sorted(
        tasks.names(), key=lambda name: (tasks.kind(name) == "several", not tasks.third(name))
    )
    for name in listed:
        if asked.third and not tasks.third(name):
            continue
        for n in (n for n in SETS if n <= asked.most and str(n) not in known.get(name, ())):
            began = time.process_time()
            found = curve(name, n)
            known.setdefault(name, {})[str(n)] = found
            FILE.write_text("{\n" + ",\n".join(f'"{k}": {json.dumps(v)}' for k, v in known.items()) + "\n}\n")
            print(f"{name}, {n} rows: {found}  {time.process_time() - began:.1f} s", flush=True)


if __name__ == "__main__":
    main()
