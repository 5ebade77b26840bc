"""Score forecasts against true learning curves, with what people do instead beside them.

    python -m benchmarks.forecast.score [--crossed | --deterministic] FILE [FILE ...]

FILE is what `collect` wrote. Errors are |ln(forecast / true MSE)| at 2, 4, 8 and 16 times the rows: median and 90th percentile, and how much
smaller that of the forecast is than that of each rival on the same tasks (medians of tasks, their mean and its standard error).
Forecasts have the constants of the package, which is for tasks that none was fitted to (`collect --final`); with ``--crossed`` each has those
that are fitted to the other tasks of these files, in five parts that split no table. With ``--deterministic`` they have those for targets
without noise, as `collect` has with the same option.

Rivals get intervals of the same kind: a width for each multiple, from their errors on the other tasks of these files, which for tasks
that nothing was fitted to is more than the forecast has.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.forecast import tasks
from benchmarks.forecast.calibrate import Points, calibrated, fit, read
from benchmarks.forecast.collect import FACTORS, read_lines
from benchmarks.forecast.sources import hashed
from gpcurves.forecasting.calibration import NOISELESS, TABLES, Calibration

MISS = 20.0  # price of missing the truth in units of the distance: that for which 90 % intervals are best
PARTS = 5


def rival_widths(points: Points, errors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return intervals around a rival: quantiles of its errors on other tasks, at the same multiple."""
    low, high = np.zeros((2, len(errors)))
    for i in range(len(errors)):
        others = errors[(points.task != points.task[i]) & (points.factor == points.factor[i])]
        low[i], high[i] = np.quantile(others, (0.05, 0.95))
    return low, high


def interval_score(low: np.ndarray, high: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Return the width and what misses cost."""
    return np.asarray(high - low + MISS * (np.maximum(0, low - truth) + np.maximum(0, truth - high)))


def line(name: str, error: np.ndarray, factor: np.ndarray, score: np.ndarray, inside: np.ndarray) -> str:
    parts = [
        f"{np.median(np.abs(error[factor == k])):.2f} /{np.quantile(np.abs(error[factor == k]), 0.9):5.2f}"
        for k in FACTORS
        if (factor == k).any()
    ]
    total = f"{np.median(np.abs(error)):.3f} /{np.quantile(np.abs(error), 0.9):5.2f}"
    return f"{name:28s} {'  '.join(parts)}   {total}   {score.mean():6.2f}   {inside.mean():.2f}"


def pair(own: np.ndarray, other: np.ndarray, task: np.ndarray, here: np.ndarray) -> str:
    """Return the mean difference of the median errors of tasks, with its standard error."""
    each = [
        np.median(np.abs(own[mine])) - np.median(np.abs(other[mine]))
        for mine in (here & (task == name) for name in sorted(set(task[here])))
    ]
    return f"{np.mean(each):+.3f} +- {np.std(each) / np.sqrt(len(each)):.3f}"


def main() -> None:
    crossed, deterministic = ("--" + option in sys.argv for option in ("crossed", "deterministic"))
    files = [Path(name) for name in sys.argv[1:] if not name.startswith("--")]
    points = read(*files)
    own = cross(points) if crossed else make(points, NOISELESS if deterministic else TABLES)
    compare(points, own, {name: rival_widths(points, said - points.truth) for name, said in points.rivals.items()})
    if not crossed:
        required([row for file in files for row in read_lines(file)])


def make(points: Points, constants: Calibration = TABLES) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return estimate and ends of intervals with constants of the package."""
    estimate = points.expect(constants)
    down, up = constants.widths(points.squares(), points.factor)
    return estimate, estimate - down, estimate + up


def cross(points: Points) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return estimate and ends of intervals with constants that are fitted to the tasks of other tables."""
    part = np.array([hashed(f"part {tasks.source(name)}") % PARTS for name in points.task])
    estimate, low, high = np.zeros((3, len(part)))
    for each in range(PARTS):
        constants, down, up = fit(points.among(part != each))
        here, left_out = part == each, points.among(part == each)
        estimate[here] = left_out.expect(calibrated(constants))
        below, above = (np.sqrt(np.square(side) @ left_out.squares()) for side in (down, up))
        below = TABLES.grow(left_out.factor) * below
        low[here], high[here] = estimate[here] - below, estimate[here] + above
    return estimate, low, high


def compare(points: Points, own: tuple[np.ndarray, ...], widths: dict[str, tuple[np.ndarray, np.ndarray]]) -> None:
    """Print the table: of all tasks, and of each kind."""
    estimate, low, high = own
    print(f"{len(set(points.task))} tasks, {len(points.task)} forecasts at a multiple of the rows")
    print(
        f"{'':28s} {'  '.join(f'{k:2d}x med/p90 ' for k in FACTORS)}    all med/p90   interval score, coverage of 90 %"
    )
    inside = (low <= points.truth) & (points.truth <= high)
    score = interval_score(low, high, points.truth)
    for kind in ("all", *sorted(set(points.kind))):
        here = np.full(len(points.kind), True) if kind == "all" else points.kind == kind
        print(f"-- {kind}: {len(set(points.task[here]))} tasks")
        print(line("forecast", (estimate - points.truth)[here], points.factor[here], score[here], inside[here]))
        for name, said in points.rivals.items():
            below, above = widths[name]
            ends = said - above, said - below
            hit = (ends[0] <= points.truth) & (points.truth <= ends[1])
            cost = interval_score(*ends, points.truth)
            less = f"   forecast less this: {pair(estimate - points.truth, said - points.truth, points.task, here)}"
            print(line(name, (said - points.truth)[here], points.factor[here], cost[here], hit[here]) + less)
    by_task = [inside[points.task == task].mean() for task in set(points.task)]
    print(f"tasks whose intervals hold less than 75 %: {np.mean(np.array(by_task) < 0.75):.1%}")


def required(rows: list[dict[str, Any]]) -> None:
    """Print how far required numbers of rows are off where the curve is not flat, with the constants of the package."""
    off, enough, wrong, open_goals = [], [], 0, 0
    for row in rows:
        if "failed" in row:
            continue
        true = {int(n): mse for n, mse in row["true"].items()}
        count, usable = int(row["rows"]), int(row["usable"])
        for factor, (estimate, _, _, assured) in row["required"].items():
            n = int(factor) * count
            if count not in true or true[n] > 0.9 * true[count]:
                continue  # flat, or not known
            open_goals += 1
            wrong += assured is not None and assured <= usable
            if estimate is not None:
                off.append(abs(np.log(estimate / n)))
            if assured is not None:
                enough.append(assured >= n)
    if off:
        print(f"required n off by a median factor of {np.exp(np.median(off)):.2f} ({len(off)} goals)")
        print(f"80 % assured was enough in {np.mean(enough):.0%}; reached already, wrongly: {wrong} of {open_goals}")


if __name__ == "__main__":
    main()
