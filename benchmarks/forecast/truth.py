"""True learning curves: the mean squared error of the package's own predictor after n rows, on rows that nothing else sees.

    python -m benchmarks.forecast.truth [--most 3200] [--unseen | --fresh | --final] [TASK ...]

Averages logarithms over training sets, and adds to ``truth.json`` what is not there yet; named tasks are computed anew.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from benchmarks.forecast import tasks
from gpcurves.errors import GPCurvesError
from gpcurves.forecasting.assembly import fit_members
from gpcurves.forecasting.effort import ForecastEffort
from gpcurves.forecasting.prediction import Predictor
from gpcurves.forecasting.regression import mix
from gpcurves.tables.columns import name_columns
from gpcurves.tables.preparing import prepare
from gpcurves.tables.rows import standardise

FILE = Path(__file__).with_name("truth.json")
SETS = {50: 4, 100: 4, 200: 3, 400: 2, 800: 1, 1600: 1, 3200: 1}


def learn(table: pd.DataFrame, target: str) -> Predictor:
    """Return the predictor that `forecast` would have of these rows."""
    rows = standardise(prepare(table, target, most_rows=ForecastEffort().most_rows))
    return Predictor(rows, mix(fit_members(rows, ForecastEffort().fitted_rows), rows.X, rows.level))


def curve(name: str, sizes: list[int]) -> dict[str, float]:
    """Return the mean squared error at each n for which there are rows."""
    task = tasks.load(name)
    test, pool = task.table.iloc[: task.held], task.table.iloc[task.held :]
    known = pd.to_numeric(test[task.target], errors="coerce").to_numpy(dtype=np.float64)
    result: dict[str, float] = {}
    for n in sizes:
        logs = []
        for draw in range(SETS[n] if n <= len(pool) else 0):
            pick = np.random.default_rng([draw, n]).permutation(len(pool))[:n]
            try:
                with threadpool_limits(1):
                    learnt = learn(pool.iloc[np.sort(pick)], task.target)
                    found = learnt.predict(test)["prediction"].to_numpy()
            except GPCurvesError as error:
                print(f"{name}, {n} rows: {error}", flush=True)
                continue
            logs.append(np.log(np.nanmean((known - found)[_is_like_training(learnt, test)] ** 2)))
        if logs:
            result[str(n)] = float(f"{np.exp(np.mean(logs)):.5g}")
    return result


def _is_like_training(learnt: Predictor, test: pd.DataFrame) -> np.ndarray:
    """Tell which rows are like those trained on: if rows with missing inputs were dropped there, they do not count here."""
    design = learnt.rows.design
    assert design is not None
    values = design.read(name_columns(test, "table"), "table")
    gone = np.any([pd.isna(cells) for cells in values.values()], axis=0)
    return np.asarray(~gone | design.filled)


def _timed(name: str, sizes: list[int]) -> tuple[str, dict[str, float], float]:
    warnings.simplefilter("ignore")
    began = time.perf_counter()
    return name, curve(name, sizes), time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", nargs="*")
    parser.add_argument("--most", type=int, default=max(SETS), help="largest number of rows to train on")
    parser.add_argument("--unseen", action="store_true", help="the unseen tasks, those of rare kinds first")
    parser.add_argument("--fresh", action="store_true", help="the fresh tasks, those of rare kinds first")
    parser.add_argument("--final", action="store_true", help="the final tasks, those of rare kinds first")
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args()
    if asked.unseen or asked.fresh or asked.final:
        names = tasks.final() if asked.final else tasks.fresh() if asked.fresh else tasks.unseen()
        common = Counter(map(tasks.kind, names))
        names = sorted(names, key=lambda name: common[tasks.kind(name)])
    else:
        names = sorted(tasks.names(), key=lambda name: not tasks.third(name))
    known = json.loads(FILE.read_text()) if FILE.exists() else {}
    old = {name: curve for name, curve in known.items() if name not in asked.task}
    wanted = [
        (name, missing)
        for name in asked.task or names
        if (missing := [n for n in SETS if n <= min(asked.most, tasks.rows(name)) and str(n) not in old.get(name, ())])
    ]
    computed = Parallel(asked.workers, return_as="generator_unordered")(delayed(_timed)(*each) for each in wanted)
    for name, found, seconds in computed:
        known[name] = old.get(name, {}) | found
        FILE.write_text("{\n" + ",\n".join(f'"{k}": {json.dumps(v)}' for k, v in known.items()) + "\n}\n")
        print(f"{name}: {found}  {seconds:.0f} s", flush=True)


if __name__ == "__main__":
    main()
