"""Score forecasts of the error after more labels, with curves through cross-validated errors beside them.

The truth is the RMSE of the package's own predictor with 2, 4 and 8 times the labels, at vertices without a label, averaged
over draws of labels other than those the forecast saw.
"""

from __future__ import annotations

import numpy as np

from benchmarks.forecast.rivals import extrapolate
from benchmarks.network import tasks
from benchmarks.network.ours import FORECAST, ours
from benchmarks.network.sources import hashed
from gpcurves.errors import GPCurvesError

PILOTS = (20, 40, 80)
FACTORS = np.array([2, 4, 8])
MOST = 0.75  # share of the values that may be labels: the others test
TRUTH_DRAWS = 3
PILOT = 1_000  # seeds of pilot labels, other than those for the truth
SPLITS = 4
SHARES = (0.25, 0.4, 0.6, 0.9)  # of the labels, to train on in cross-validation
RIVALS = ("last value", "pow2", "pow3")


def error(task: tasks.Task, labels: np.ndarray, rest: np.ndarray) -> float:
    """Return the mean squared error at some vertices, of the package's predictor that sees others."""
    found = ours(task.graph, labels, task.values[labels])
    return float(np.mean((found.mean[rest] - task.values[rest]) ** 2))


def true_mse(task: tasks.Task, name: str, n: int) -> float:
    """Return the mean squared error with n labels, averaged over draws."""
    known = np.flatnonzero(np.isfinite(task.values))
    total = 0.0
    for draw in range(TRUTH_DRAWS):
        picked = np.random.default_rng([hashed(name), n, draw]).permutation(known)
        total += error(task, np.sort(picked[:n]), picked[n:])
    return total / TRUTH_DRAWS


def cross_validate(task: tasks.Task, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers of labels and the mean squared error at the other labels, averaged over random splits."""
    sizes = np.array([round(share * len(labels)) for share in SHARES])
    sums = np.zeros(len(sizes))
    for split in range(SPLITS):
        order = np.random.default_rng([PILOT, split]).permutation(labels)
        sums += [error(task, np.sort(order[:m]), order[m:]) for m in sizes]
    return sizes.astype(float), sums / SPLITS


def collect(name: str) -> list[tuple[int, float, dict[str, float], tuple[float, float] | None]]:
    """Return for each forecast the multiple, the true RMSE, what each method says, and the interval of the package."""
    task = tasks.load(name)
    known = np.flatnonzero(np.isfinite(task.values))
    truths: dict[int, float] = {}
    rows = []
    for count in PILOTS:
        factors = FACTORS[FACTORS * count <= MOST * len(known)]
        if not len(factors):
            continue
        labels = np.sort(np.random.default_rng([hashed(name), count, PILOT]).permutation(known)[:count])
        wanted = factors * count
        sizes, errors = cross_validate(task, labels)
        said = {rival: np.exp(extrapolate(rival, sizes, errors, wanted.astype(float)) / 2) for rival in RIVALS}
        low = high = None
        if FORECAST is not None:
            said["gpcurves"], low, high = FORECAST(task.graph, labels, task.values[labels], wanted)
        for i, n in enumerate(wanted):
            if n not in truths:
                truths[n] = np.sqrt(true_mse(task, name, int(n)))
            ends = None if low is None or high is None else (float(low[i]), float(high[i]))
            rows.append((int(factors[i]), truths[n], {key: float(each[i]) for key, each in said.items()}, ends))
    return rows


def score(wanted: list[str]) -> None:
    """Print the median factor by which forecasts are off, its 90th percentile, and how often intervals hold."""
    rows = []
    for name in wanted:
        try:
            rows += collect(name)
        except GPCurvesError as failure:
            print(f"{name}: {failure}", flush=True)
    print(f"\nForecast of the RMSE, off by a factor: {len(rows)} forecasts on {len(wanted)} tasks")
    print(f"{'':16s} " + "  ".join(f"{f'{k}x median':>11s} {'p90':>5s}" for k in FACTORS) + "   coverage of 90 %")
    for method in dict.fromkeys(method for row in rows for method in row[2]):
        parts = []
        for k in FACTORS:
            off = np.array([abs(np.log(said[method] / truth)) for factor, truth, said, _ in rows if factor == k])
            middle, far = np.exp(np.quantile(off, (0.5, 0.9))) if len(off) else (np.nan, np.nan)
            parts.append(f"{middle:11.2f} {far:5.2f}")
        inside = [ends[0] <= truth <= ends[1] for _, truth, _, ends in rows if ends is not None]
        holds = f"{np.mean(inside):8.1%}" if method == "gpcurves" and inside else f"{'-':>8s}"
        print(f"{method:16s} {'  '.join(parts)}   {holds}")
