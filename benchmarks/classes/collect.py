"""Forecasts of the tasks, before they are combined: one row for each task and pilot.

    python -m benchmarks.classes.collect FILE [--third | --further | --unseen] [--draws 2]

Writes what the rows say (mistakes and doubts of cross-validation, what the model expects, rivals) with the true curve beside it, one
line for each pilot; lines that are there already are kept, so that it can be stopped at any time.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.classes import tasks, truth
from benchmarks.forecast.rivals import FORMS, extrapolate
from gpcurves.errors import GPCurvesError
from gpcurves.forecasting.classes.assembly import fit_classes
from gpcurves.forecasting.effort import Computation, ForecastEffort
from gpcurves.montecarlo.progress import Progress
from gpcurves.tables.preparing import prepare
from gpcurves.tables.rows import standardise

ROWS = 100
FACTORS = (2, 4, 8, 16)
STARTS = 3  # of the fit of each rival: more are slower than the forecast itself, and change little
LOSS_FORMS = ("last value", "ilog2", "pow2", "pow3")  # rivals for the log loss
PILOT = 1_000  # the seeds of pilot rows, other than those of the rows on which truth is trained


def run(name: str, draw: int) -> dict[str, Any]:
    """Return what is known about one forecast."""
    task = tasks.load(name)
    pool = task.table.iloc[task.held :]
    pick = np.random.default_rng([PILOT + draw, ROWS]).permutation(len(pool))[:ROWS]
    result: dict[str, Any] = {"task": name, "kind": tasks.kind(name), "draw": draw}
    began = time.process_time()
    computation = Computation(0, np.random.default_rng(0), ForecastEffort(), Progress(False, "%"))
    try:
        with threadpool_limits(1):
            rows = standardise(prepare(pool.iloc[np.sort(pick)], task.target, task="classes", most_rows=5_000))
            fit = fit_classes(rows, computation)
    except GPCurvesError as error:
        return result | {"failed": str(error)}
    curves, usable = fit.curves, len(rows.y)
    n = usable * np.array([1.0, *FACTORS])
    left_out, labels = fit.mixture.left_out, fit.rows.labels
    seen = np.array([each.n for each in fit.held_out], dtype=float)
    mistakes = np.array([each.wrong.mean() for each in fit.held_out])
    losses = np.array([each.loss.mean() for each in fit.held_out])
    counted = np.maximum(mistakes, 0.5 / usable)  # the logarithm of none has no value
    return (
        result
        | {
            "seconds": time.process_time() - began,
            "usable": usable,
            "classes": len(rows.classes),
            "columns": len(rows.columns.groups),
            "shares": sorted(fit.rows.labels.mean(axis=0).tolist(), reverse=True),
            "n": seen.tolist(),
            "mistakes": mistakes.tolist(),
            "doubt": [float(each.doubt.mean()) for each in fit.held_out],
            "loss": losses.tolist(),
            "loss_stderr": float(fit.held_out[-1].stderr(fit.held_out[-1].loss)),
            "own": list(curves.expected),  # error rate and log loss that the predicted probabilities expect
            "chance": list(curves.chance),
            "loo": [
                float((left_out.argmax(axis=1) != labels.argmax(axis=1)).mean()),
                float(1 - left_out.max(axis=1).mean()),
                float(-np.log((left_out * labels).sum(axis=1)).mean()),
            ],
            "sure": [
                [
                    np.round(each.max(axis=1), 4).tolist(),
                    (each.argmax(axis=1) == true.argmax(axis=1)).astype(int).tolist(),
                ]
                for each, true in ((left_out, labels), (fit.held_out[-1].probabilities, fit.held_out[-1].labels))
            ],
            "expected": curves.expectations(n).tolist(),
            "floor": curves.expectations(np.array([np.inf]))[:, 0].tolist(),
            "rivals": {form: np.exp(extrapolate(form, seen, counted, n[1:], STARTS)).tolist() for form in FORMS},
            "rivals of log loss": {
                form: np.exp(extrapolate(form, seen, losses, n[1:], STARTS)).tolist() for form in LOSS_FORMS
            },
        }
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--third", action="store_true", help="only the tasks to iterate on")
    parser.add_argument("--further", action="store_true", help="only the tasks for the last score")
    parser.add_argument("--unseen", action="store_true", help="only the tasks that are scored once")
    parser.add_argument("--draws", type=int, default=4)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    asked.file.parent.mkdir(parents=True, exist_ok=True)
    lines = asked.file.read_text().splitlines() if asked.file.exists() else []
    done = {(row["task"], row["draw"]) for row in map(json.loads, lines)}
    known = json.loads(truth.FILE.read_text())
    for draw in range(asked.draws):
        for name in (each for each in truth.order(asked.further, asked.unseen) if each in known):
            if (name, draw) in done or (asked.third and not tasks.third(name)):
                continue
            with asked.file.open("a") as file:
                file.write(json.dumps(run(name, draw)) + "\n")


if __name__ == "__main__":
    main()
