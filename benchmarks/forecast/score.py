"""Score forecasts against true learning curves, with the usual alternatives beside them.

    python -m benchmarks.forecast.score [--data FOLDER] [--n0 50,100,200] [--draws 2] [--tasks a,b] [--out FILE]

Scores are |ln(predicted / true MSE)| at 2, 4, 8 and 16 times the rows: median and 90th percentile; then the share of true
values inside the 90 % interval and its median half-width in ln MSE. With ``--data`` the tasks are those of a folder with
``pilot.npz`` and ``truth.json``; otherwise those of `tasks`.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from benchmarks.forecast import tasks, truth
from gpcurves.forecasting import Forecast, ForecastEffort
from gpcurves.forecasting.assembly import assemble, fit_rows, simulate_posterior
from gpcurves.forecasting.effort import Computation
from gpcurves.forecasting.error_curve import simulate_curve
from gpcurves.forecasting.posterior import Regression, build_problem, find_peaks
from gpcurves.inputs import Copula
from gpcurves.montecarlo.progress import Progress
from gpcurves.tables.rows import standardise_arrays

FACTORS = (2, 4, 8, 16)
PILOT = 800
ROUNDING = 1e-7
"""Smaller true errors, in units of the target's variance, are not scored."""
Case = tuple[str, int, int, np.ndarray, np.ndarray, dict[int, float]]


def cases(folder: Path | None, sizes: list[int], draws: int, only: list[str]) -> Iterator[Case]:
    """Yield task, rows, draw, inputs, target and the true mean squared error by factor."""
    true = json.loads((truth.FILE if folder is None else folder / "truth.json").read_text())
    for task in only or true:
        if folder is None:
            X, y, held = truth.numbers(tasks.load(task))
            X, y = X[held:][-PILOT:], y[held:][-PILOT:]
        else:
            data = np.load(folder / "pilot.npz")
            X, y = data[f"{task}_X"].astype(float), data[f"{task}_y"].astype(float)
        for rows in sizes:
            curve = {int(n): mse for n, mse in true[task].items() if mse > ROUNDING}
            wanted = {k: curve[k * rows] for k in FACTORS if k * rows in curve}
            for draw in range(draws) if wanted else ():
                pick = np.random.default_rng([draw, rows]).permutation(len(y))[:rows]
                yield task, rows, draw, X[pick], y[pick], wanted


def others(found: Forecast, X: np.ndarray, y: np.ndarray, n: np.ndarray) -> dict[str, list[float]]:
    """Return the logarithm of the mean squared error at n by the alternatives."""
    X, spread = X[:, np.ptp(X, axis=0) > 0], y.std()
    X, y = (X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / spread
    rng = np.random.default_rng(0)
    copula = Copula(X)
    inputs, test = copula.draw(int(min(n.max(), 1200)), rng), copula.draw(250, rng)
    left_out, simulated = [], []
    for peak in find_peaks(X, y, deterministic=False):
        problem = build_problem(peak.density.evidence.family, peak.mode, copula)
        fitted = Regression(problem, X, y)
        inverse = (np.linalg.inv(fitted.factor) ** 2).sum(axis=0)
        left_out.append(np.log(np.mean((fitted.alpha / inverse) ** 2)))
        simulated.append(np.log(simulate_curve(problem, inputs, test)(n)))
    units = 2 * np.log(spread)
    return {
        "power law": np.log(found.power_law(n)).tolist(),
        "leave-one-out stays": np.full(len(n), units + np.mean(left_out)).tolist(),
        "simulation of the best fit": (units + np.mean(simulated, axis=0)).tolist(),
    }


def run(case: Case) -> list[dict[str, Any]]:
    """Return one row of results for each factor."""
    task, rows, draw, X, y, wanted = case
    n = rows * np.array(list(wanted), dtype=float)
    began = time.process_time()
    computation = Computation(0, np.random.default_rng(0), ForecastEffort(), Progress(False, "%"))
    with threadpool_limits(1):
        data = standardise_arrays(X, y, None, computation.rng, computation.effort.most_rows)
        fit = fit_rows(data, find_peaks(data.X, data.y, deterministic=False), computation)
        curves = simulate_posterior(fit, computation)
        found = assemble(fit, curves, computation)
    seconds = time.process_time() - began
    rmse, low, high, _ = found.band.at(n)
    middle, spread, above = curves.moments(np.append(n, rows))
    compared = others(found, X, y, n)
    return [
        {
            "task": task,
            "n0": rows,
            "draw": draw,
            "factor": k,
            "seconds": seconds,
            "error": 2 * np.log(rmse[i]) - np.log(true),
            "low": 2 * np.log(low[i]) - np.log(true),
            "high": 2 * np.log(high[i]) - np.log(true),
            "spread": spread[i],
            "drop": middle[-1] - middle[i],
            "above": above[i],
            "gap": abs(curves.gap),
            "scatter": found.cross_validation.log_stderr[-1],
            **{name: values[i] - np.log(true) for name, values in compared.items()},
        }
        for i, (k, true) in enumerate(wanted.items())
    ]


def show(rows: list[dict[str, Any]]) -> None:
    """Print the score of each method, and of the forecast on each task."""
    for name in ("error", "simulation of the best fit", "leave-one-out stays", "power law"):
        line = f"{'forecast' if name == 'error' else name:28s}"
        for k in FACTORS:
            errors = np.abs([row[name] for row in rows if row["factor"] == k])
            if len(errors):
                line += f"  {k:2d}x {np.median(errors):.2f} p90 {np.quantile(errors, 0.9):.2f}"
        print(line)
    for task in ["all", *dict.fromkeys(row["task"] for row in rows)]:
        line = f"{task:14s}"
        for k in (0, *FACTORS):
            group = [row for row in rows if task in ("all", row["task"]) and k in (0, row["factor"])]
            if group:
                inside = np.mean([row["low"] <= 0 <= row["high"] for row in group])
                half = np.median([row["high"] - row["low"] for row in group]) / 2
                bias = np.mean([row["error"] for row in group])
                line += f"  {k or 'any'}x {bias:+.2f} cover {inside:.2f} half {half:.2f}"
        print(line)
    print(f"{np.median([row['seconds'] for row in rows]):.1f} s of one core per forecast")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--n0", default="50,100,200")
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--tasks", default="")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    sizes, only = [int(size) for size in asked.n0.split(",")], [task for task in asked.tasks.split(",") if task]
    every = list(cases(asked.data, sizes, asked.draws, only))
    found = Parallel(asked.workers, return_as="generator")(delayed(run)(case) for case in every)
    rows = [row for some in tqdm(found, total=len(every), unit=" forecasts") for row in some]
    show(rows)
    if asked.out:
        asked.out.write_text(json.dumps(rows))


if __name__ == "__main__":
    main()
