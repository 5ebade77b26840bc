"""Forecasts of the error after more labels, with curves through cross-validated errors beside them.

    python -m benchmarks.network.forecasts [--file FILE] [--most 3500] [TASK ...]    collect, and keep in FILE
    python -m benchmarks.network.forecasts --score                     score what ``forecasts.json`` has, and print constants

The truth is the RMSE of the package's own predictor with 2, 4 and 8 times the labels, at vertices without a label, averaged
over draws of labels other than those the forecast saw. Each network is scored with constants fitted to the other systems.
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

from benchmarks.forecast.rivals import extrapolate
from benchmarks.network import tasks
from benchmarks.network.fitting import Points, fit, law_ahead, leave_out
from benchmarks.network.ours import look_ahead, ours
from benchmarks.network.sources import hashed
from gpcurves.errors import GPCurvesError
from gpcurves.forecasting.networks.assembly import NETWORKS

FILE = Path(__file__).with_name("forecasts.json")
PILOTS = (20, 40, 80, 160)
FACTORS = np.array([2, 4, 8])
MOST = 0.75  # share of the values that may be labels: the others test
TRUTH_DRAWS = 3
PILOT = 1_000  # seeds of pilot labels, other than those for the truth
RIVALS = ("last value", "pow2", "pow3")


def true_mse(task: tasks.Task, name: str, n: int) -> float:
    """Return the mean squared error of the package's predictor with n labels, averaged over draws in the logarithm."""
    known = np.flatnonzero(np.isfinite(task.values))
    logs = []
    for draw in range(TRUTH_DRAWS if n <= 400 else 1):
        picked = np.random.default_rng([hashed(name), n, draw]).permutation(known)
        labels, rest = np.sort(picked[:n]), picked[n:]
        found = ours(task.graph, labels, task.values[labels])
        logs.append(np.log(np.mean((found.mean[rest] - task.values[rest]) ** 2)))
    return float(np.exp(np.mean(logs)))


def collect(name: str) -> list[dict[str, Any]]:
    """Return for each forecast what it is made of, what rivals say, and the truth."""
    task = tasks.load(name)
    known = np.flatnonzero(np.isfinite(task.values))
    truths: dict[int, float] = {}
    rows = []
    for count in PILOTS:
        factors = FACTORS[FACTORS * count <= MOST * len(known)]
        labels = np.sort(np.random.default_rng([hashed(name), count, PILOT]).permutation(known)[:count])
        if not len(factors) or np.ptp(task.values[labels]) == 0:
            continue
        wanted = factors * count
        found = look_ahead(task.graph, labels, task.values[labels], wanted.astype(float))
        sizes, errors = np.array(found["cv_n"]), np.array(found["cv_mse"])
        said = {rival: extrapolate(rival, sizes, errors, wanted.astype(float)).tolist() for rival in RIVALS}
        for n in wanted.tolist():
            if n not in truths:
                truths[n] = true_mse(task, name, n)
        ends = {"task": name, "rows": count, "factors": factors.tolist(), "true": [truths[n] for n in wanted.tolist()]}
        rows.append({**ends, **found, **said})
    return rows


def read(file: Path) -> Points:
    """Read what was collected."""
    found = [(row, i) for row in json.loads(file.read_text()) for i in range(len(row["factors"]))]

    def column(pick: object) -> np.ndarray:
        return np.array([pick(row, i) for row, i in found])  # type: ignore[operator]

    return Points(
        task=column(lambda row, i: row["task"]),
        table=column(lambda row, i: tasks.system(row["task"])),
        kind=column(lambda row, i: tasks.network(row["task"])),
        factor=column(lambda row, i: float(row["factors"][i])),
        truth=column(lambda row, i: np.log(row["true"][i])),
        now=column(lambda row, i: row["now"]),
        ahead=column(lambda row, i: row["ahead"][i]),
        gap=column(lambda row, i: row["gap"]),
        spread=column(lambda row, i: row["spread"][i]),
        above=column(lambda row, i: row["above"][i]),
        scatter=column(lambda row, i: row["scatter"]),
        laws=column(lambda row, i: law_ahead(row, float(row["factors"][i] * row["rows"]))),
        share=NETWORKS.laws[0],
        rivals={name: column(lambda row, i, name=name: row[name][i]) for name in RIVALS},
    )


def score(points: Points) -> None:
    """Print the median factor by which forecasts are off, its 90th percentile, and how often intervals hold."""
    estimate, low, high = leave_out([points])
    print(f"Forecast of the RMSE, off by a factor: {len(points.task)} forecasts on {len(set(points.kind))} networks")
    print(f"{'':16s} " + "  ".join(f"{f'{k}x median':>11s} {'p90':>5s}" for k in FACTORS) + "   coverage of 90 %")
    for method, said in {"gpcurves": estimate, **points.rivals}.items():
        parts = []
        for k in FACTORS:
            off = np.abs(said - points.truth)[points.factor == k] / 2
            middle, far = np.exp(np.quantile(off, (0.5, 0.9)))
            parts.append(f"{middle:11.3f} {far:5.2f}")
        inside = (low <= points.truth) & (points.truth <= high)
        print(f"{method:16s} {'  '.join(parts)}   {f'{inside.mean():8.1%}' if method == 'gpcurves' else '       -'}")
    held = {place: inside[points.kind == place].mean() for place in dict.fromkeys(points.kind.tolist())}
    print("coverage by network: " + ", ".join(f"{place} {share:.0%}" for place, share in held.items()))
    constants, *widths = fit(points, np.full(len(points.task), True))
    for name, values in zip(
        ("level, model", "down", "up"), (np.array(points.calibrated(constants)), *widths), strict=True
    ):
        print(name, "=", tuple(float(f"{value:.3g}") for value in values))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", nargs="*")
    parser.add_argument("--file", type=Path, default=FILE)
    parser.add_argument("--most", type=int, default=11_000, help="vertices of the largest network")
    parser.add_argument("--score", action="store_true", help="only score what is there")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    asked.file.parent.mkdir(parents=True, exist_ok=True)
    rows = json.loads(asked.file.read_text()) if asked.file.exists() else []
    done = {row["task"] for row in rows}
    wanted = [name for name in asked.task or tasks.names() if name not in done] if not asked.score else []
    for name in wanted:
        began = time.perf_counter()
        if tasks.load(name).graph.shape[0] > asked.most:
            continue
        try:
            with threadpool_limits(1):
                rows += collect(name)
        except GPCurvesError as failure:
            print(f"{name}: {failure}", flush=True)
        asked.file.write_text(json.dumps(rows))
        print(f"{name}: {time.perf_counter() - began:.0f} s", flush=True)
    score(read(asked.file))


if __name__ == "__main__":
    main()
