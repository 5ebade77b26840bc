"""Score forecasts of classes against true learning curves, with what people do instead beside them.

    python -m benchmarks.classes.score FILE [OTHER ...]

FILE is what `collect` wrote. Errors are |forecast - true error rate|, and for log losses |ln(forecast / true)|, at 2, 4, 8 and 16 times
the rows, averaged over the pilots of a task; then their median and mean over tasks. Constants were fitted to the same tasks, so
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
        print(
            f"{name}: {len(set(points.task))} tasks, {len(points.task)} forecasts; median and mean at {FACTORS} times the rows"
        )
        for kind in ("all", *sorted(set(points.kind))):
            here = np.full(len(points.kind), True) if kind == "all" else points.kind == kind
            print(f"-- {kind}: {len(set(points.task[here]))} tasks, 90 % intervals hold {inside[here].mean():.3f}")
            print(line("forecast", points, estimate, here))
            for rival, forecast in points.rivals.items():
                bounded = np.clip(forecast, 1e-4, 1.0 if which == 0 else None)
                # a curve that cannot be fitted, or has no value, stays where it is
                print(line(rival, points, np.where(np.isfinite(bounded), bounded, points.rivals["last value"]), here))


if __name__ == "__main__":
    main()
