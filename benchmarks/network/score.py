"""Score predictions on real networks, with what people do instead beside them.

    python -m benchmarks.network.score [--third] [--draws 2] [--baselines] [TASK ...]

For every task and number of labels, labels are drawn with fixed seeds and all other vertices are predicted. Errors are in
units of that of the best baseline for the same labels. Errors of baselines are kept in ``baselines.json``: what is missing
there is computed first, and ``--baselines`` stops after it.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.network import tasks
from benchmarks.network.baselines import BASELINES, Predictor
from benchmarks.network.ours import ours
from benchmarks.network.sources import hashed
from gpcurves.errors import GPCurvesError

FILE = Path(__file__).with_name("baselines.json")
SIZES = (20, 40, 80, 160, 320)
Score = tuple[float, float | None]  # mean squared error at unlabelled vertices, and the share inside intervals
Scores = dict[str, Score]  # by number of labels and draw


def sizes(task: tasks.Task) -> list[int]:
    """Return the numbers of labels: up to half of the values."""
    return [n for n in SIZES if 2 * n <= np.isfinite(task.values).sum()]


def score(task: tasks.Task, predict: Predictor, n: int, seed: list[int]) -> Score:
    """Return the error at vertices without a label, and the share of them inside the intervals."""
    known = np.flatnonzero(np.isfinite(task.values))
    picked = np.random.default_rng(seed).permutation(known)
    labels, rest = np.sort(picked[:n]), picked[n:]
    found = predict(task.graph, labels, task.values[labels])
    truth = task.values[rest]
    mse = float(np.mean((found.mean[rest] - truth) ** 2))
    if found.low is None or found.high is None:
        return mse, None
    return mse, float(np.mean((found.low[rest] <= truth) & (truth <= found.high[rest])))


def run(name: str, predict: Predictor, draws: int, old: Scores | None = None) -> Scores:
    """Return scores for all numbers of labels; what fails counts as an infinite error."""
    task = tasks.load(name)
    result = dict(old or {})
    for n in sizes(task):
        for draw in range(draws):
            key = f"{n} {draw}"
            if key not in result:
                try:
                    mse, inside = score(task, predict, n, [hashed(tasks.network(name)), n, draw])
                except GPCurvesError as error:
                    print(f"{name}, {n} labels: {error}", flush=True)
                    mse, inside = np.inf, None
                result[key] = float(f"{mse:.5g}"), None if inside is None else round(inside, 4)
    return result


def run_baselines(wanted: list[str], draws: int) -> dict[str, dict[str, Scores]]:
    """Return scores of all baselines by task, and keep new ones."""
    known: dict[str, dict[str, Scores]] = json.loads(FILE.read_text()) if FILE.exists() else {}
    for name in wanted:
        began = time.perf_counter()
        old = known.get(name, {})
        new = {key: run(name, predict, draws, old.get(key)) for key, predict in BASELINES.items()}
        if {key: set(each) for key, each in new.items()} != {key: set(each) for key, each in old.items()}:
            known[name] = new
            ordered = {key: known[key] for key in tasks.names() if key in known}
            FILE.write_text("{\n" + ",\n".join(f'"{k}": {json.dumps(v)}' for k, v in ordered.items()) + "\n}\n")
            print(f"{name}: baselines took {time.perf_counter() - began:.0f} s", flush=True)
    return known


def average(scores: Scores, draws: int) -> tuple[dict[int, float], dict[int, float | None]]:
    """Return the root mean squared error over draws and the mean share inside intervals, by number of labels."""
    errors: dict[int, list[float]] = {}
    shares: dict[int, list[float]] = {}
    for key, (mse, inside) in scores.items():
        n, draw = map(int, key.split())
        if draw < draws:
            errors.setdefault(n, []).append(mse)
            shares.setdefault(n, []).extend([] if inside is None else [inside])
    means = {n: float(np.mean(each)) if each else None for n, each in shares.items()}
    return {n: float(np.sqrt(np.mean(each))) for n, each in errors.items()}, means


def table(found: dict[str, dict[str, Scores]], draws: int) -> None:
    """Print errors over those of the best baseline: for each method, number of labels and network."""
    methods = list(dict.fromkeys(method for each in found.values() for method in each))
    rows = []  # network, labels, ratio of each method, coverage of each method
    for name, each in found.items():
        averages = [average(each[method], draws) for method in methods]
        for n in averages[0][0]:
            errors = np.array([error[n] for error, _ in averages])
            best = min(error for method, error in zip(methods, errors, strict=True) if method in BASELINES)
            held = np.array([share[n] for _, share in averages], dtype=float)  # nan where there are no intervals
            rows.append((tasks.network(name), n, errors / best, held))
    ratios, shares = np.array([row[2] for row in rows]), np.array([row[3] for row in rows])
    labels, places = np.array([row[1] for row in rows]), np.array([row[0] for row in rows])
    print(f"\nRMSE at unlabelled vertices over that of the best baseline: {len(found)} tasks, {len(rows)} settings")
    header = "  ".join(f"{f'n={n}':>6s}" for n in SIZES)
    print(f"{'':16s} median    p90  worst  is best  coverage   medians at {header}")
    for j, method in enumerate(methods):
        parts = "  ".join(f"{_median(ratios[labels == n, j]):6.3f}" for n in SIZES)
        best = np.mean(ratios[:, j] <= ratios.min(axis=1))
        numbers = (
            f"{np.median(ratios[:, j]):6.3f} {_quantile(ratios[:, j]):6.3f} {ratios[:, j].max():6.3f}  {best:7.0%}"
        )
        print(f"{method:16s} {numbers}  {_percent(shares[:, j])}              {parts}")
    print(f"\n{'by network: median (worst)':26s} " + " ".join(f"{method:>16s}" for method in methods) + "   coverage")
    for place in dict.fromkeys(places):
        here = ratios[places == place]
        parts = " ".join(
            f"{f'{middle:.2f} ({top:.2f})':>16s}"
            for middle, top in zip(np.median(here, axis=0), here.max(axis=0), strict=True)
        )
        print(f"{place:26s} {parts}   {_percent(shares[places == place, -1])}")


def _median(numbers: np.ndarray) -> float:
    return float(np.median(numbers)) if len(numbers) else np.nan


def _quantile(numbers: np.ndarray) -> float:
    return float(np.sort(numbers)[int(0.9 * (len(numbers) - 1))])  # of infinite numbers too


def _percent(shares: np.ndarray) -> str:
    known = shares[np.isfinite(shares)]
    return f"{np.mean(known):8.1%}" if len(known) else f"{'-':>8s}"


def select(given: Iterable[str], only_third: bool) -> list[str]:
    """Return the tasks asked for, or all."""
    return list(given) or [name for name in tasks.names() if tasks.third(name) or not only_third]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", nargs="*")
    parser.add_argument("--third", action="store_true", help="only the tasks to iterate on")
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--baselines", action="store_true", help="only the baselines")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    wanted = select(asked.task, asked.third)
    with threadpool_limits(1):
        known = run_baselines(wanted, asked.draws)
        found = {name: dict(known[name]) for name in wanted}
        if not asked.baselines:
            for name in wanted:
                began = time.perf_counter()
                found[name]["gpcurves"] = run(name, ours, asked.draws)
                print(f"{name}: {time.perf_counter() - began:.0f} s", flush=True)
        table(found, asked.draws)


if __name__ == "__main__":
    main()
