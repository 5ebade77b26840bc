"""Score forecasts of classes against true learning curves, with what people do instead beside them.

    python -m benchmarks.classes.score FILE [OTHER ...]

FILE is what `collect` wrote. Errors are |forecast - true error rate|, and for log losses |ln(forecast / true)|, at 2, 4, 8 and 16 times
the rows, averaged over the pilots of a task; then their median and mean over tasks; then how much smaller that of the forecast is than
that of each rival on the same tasks, with a standard error, and on which share of the tasks. Constants were fitted to the same tasks, so
each task is scored with constants fitted to others (`calibrate.leave_out`). The tasks in OTHER files, instead, if any are given, are scored
with constants fitted to all tasks in FILE.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from benchmarks.classes.calibrate import Points, fit, leave_out, read
from benchmarks.classes.collect import FACTORS


def average(values: np.ndarray, task: np.ndarray) -> np.ndarray:
    """Return the average over the forecasts of each task."""
    place = np.unique(task, return_inverse=True)[1]
    return np.asarray(np.bincount(place, values) / np.bincount(place))


def line(name: str, points: Points, forecast: np.ndarray, here: np.ndarray) -> str:
    """Return median and mean over tasks of the errors at each multiple, and at all."""
    off, parts = points.off(forecast), []
    for k in (*FACTORS, 0):
        some = here & (points.factor == k) if k else here
        if some.any():
            each = average(off[some], points.task[some])
            parts.append(f"{np.median(each):.3f} {each.mean():.3f}")
    return f"{name:14s} {'   '.join(parts[:-1])}   all {parts[-1]}"


def compare(points: Points, forecast: np.ndarray, rival: np.ndarray) -> str:
    """Return the mean difference of errors on the same tasks with its standard error, and where the forecast is closer."""
    mine, other = (average(points.off(each), points.task) for each in (forecast, rival))
    less = mine - other
    return f"{less.mean():+.4f} +- {less.std() / np.sqrt(len(less)):.4f}, closer on {np.mean(less < 0):.0%} of tasks"


def main() -> None:
    for which, name in enumerate(("error rate", "log loss")):
        points = read(which, Path(sys.argv[1]))
        if len(sys.argv) > 2:
            constants = fit(points, np.full(len(points.task), True))
            points = read(which, *map(Path, sys.argv[2:]))
            estimate, low, high = points.band(*constants)
        else:
            estimate, low, high = leave_out(points)
        inside = (low <= points.truth) & (points.truth <= high)
        rivals = {
            rival: np.clip(
                # a curve that cannot be fitted, or has no value, stays where it is
                np.where(np.isfinite(forecast), forecast, points.rivals["last value"]),
                1e-4,
                1.0 if which == 0 else None,
            )
            for rival, forecast in points.rivals.items()
        }
        print(
            f"{name}: {len(set(points.task))} tasks, {len(points.task)} forecasts; median and mean at {FACTORS} times the rows"
        )
        for kind in ("all", *sorted(set(points.kind))):
            here = np.full(len(points.kind), True) if kind == "all" else points.kind == kind
            print(f"-- {kind}: {len(set(points.task[here]))} tasks, 90 % intervals hold {inside[here].mean():.3f}")
            print(line("forecast", points, estimate, here))
            for rival, forecast in rivals.items():
                print(line(rival, points, forecast, here))
        for rival, forecast in rivals.items():
            print(f"forecast less {rival}: {compare(points, estimate, forecast)}")


if __name__ == "__main__":
    main()
