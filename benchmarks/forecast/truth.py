"""True learning curves: a GP refitted at each n (most probable hyperparameters), its mean squared error on held-out noisy targets.

    python -m benchmarks.forecast.truth [TASK ...]

Averages logarithms over RBF and Matérn-5/2 and over training sets, and adds to ``truth.json``. Beyond 1600 rows the
hyperparameters fitted there are kept.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.forecast import tasks
from gpcurves.forecasting.posterior import (
    FAMILIES,
    Evidence,
    Family,
    HyperPrior,
    LogPosterior,
    Regression,
    build_problem,
)
from gpcurves.inputs import Sample

FILE = Path(__file__).with_name("truth.json")
SETS = {50: 8, 100: 8, 200: 6, 400: 4, 800: 2, 1600: 1, 3200: 1}
SETS_OF_FUNCTIONS = {50: 5, 100: 5, 200: 4, 400: 2, 800: 1, 1600: 1}
LARGEST_FIT = 1600


def fit(family: Family, X: np.ndarray, y: np.ndarray, first: list[np.ndarray]) -> np.ndarray:
    """Return the most probable hyperparameters reached from the starts, under a wide prior that is nearly normal."""
    dim = X.shape[1]
    location = np.r_[0.0, np.full(dim, np.log(4 * np.sqrt(dim))), np.log(0.05)]
    prior = HyperPrior(location, np.r_[1.5, np.full(dim, 2.0), 2.5], tails=50.0)
    return LogPosterior(Evidence(family, X, y), prior).find_mode(first, 60 if len(y) < 1000 else 25)


def test_error(
    family: Family, theta: np.ndarray, train: tuple[np.ndarray, np.ndarray], test: tuple[np.ndarray, np.ndarray]
) -> float:
    """Return the mean squared error of the posterior mean."""
    fitted = Regression(build_problem(family, theta, Sample(train[0])), *train)
    return float(np.mean((test[1] - fitted.mean(test[0])) ** 2))


def starts(dim: int) -> list[np.ndarray]:
    """Return hyperparameters to begin at: smooth with some noise, wiggly with little, smooth with much."""
    scale = np.log(dim) / 2
    return [
        np.r_[0.0, np.full(dim, scale + shift), np.log(noise)]
        for shift, noise in ((0.4, 0.1), (-0.5, 0.01), (1.2, 0.5))
    ]


def numbers(task: tasks.Task) -> tuple[np.ndarray, np.ndarray, int]:
    """Return standardised inputs and target and the number of test rows; texts become codes, gaps the median."""
    columns = []
    for name in task.table.columns.drop(task.target):
        column = task.table[name]
        if not pd.api.types.is_numeric_dtype(column):
            column = pd.Series(pd.Categorical(column.astype(str)).codes)
        columns.append(column.fillna(column.median()).to_numpy(float))
    X, y = np.column_stack(columns), task.table[task.target].to_numpy(float)
    X = X[:, np.ptp(X, axis=0) > 0]
    return (X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std(), task.held


def curve(name: str) -> dict[str, float]:
    """Return the mean squared error at each n for which there are rows."""
    X, y, held = numbers(tasks.load(name))
    test, pool = (X[:held], y[:held]), np.arange(held, len(y))
    rng = np.random.default_rng(1)
    result: dict[str, float] = {}
    best: dict[Family, np.ndarray] = {}
    for n, sets in (SETS_OF_FUNCTIONS if tasks.kind(name) == "simulators" else SETS).items():
        if n > len(pool):
            break
        logs = []
        for _ in range(sets):
            pick = rng.permutation(pool)[:n]
            train = (X[pick], y[pick])
            for family in FAMILIES:
                if n <= LARGEST_FIT:
                    first = starts(X.shape[1])[: 3 if n <= 200 else 1]
                    if n >= 1600:
                        first = []
                    best[family] = fit(family, *train, first + ([best[family]] if family in best else []))
                logs.append(np.log(test_error(family, best[family], train, test)))
        result[str(n)] = float(np.exp(np.mean(logs)))
    return result


def main() -> None:
    known = json.loads(FILE.read_text()) if FILE.exists() else {}
    for name in sys.argv[1:] or [task for task in tasks.names() if task not in known]:
        began = time.perf_counter()
        known[name] = {n: float(f"{mse:.5g}") for n, mse in curve(name).items()}
        FILE.write_text("{\n" + ",\n".join(f'"{k}": {json.dumps(v)}' for k, v in known.items()) + "\n}\n")
        print(f"{name}: {known[name]}  {time.perf_counter() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
