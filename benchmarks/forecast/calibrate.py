"""Fit the widths of the intervals to scored forecasts, and report their coverage on tasks left out.

python -m benchmarks.forecast.score --out rows.json && python -m benchmarks.forecast.calibrate rows.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from benchmarks.forecast import truth
from gpcurves.forecasting.intervals import ingredients

MISS = 20.0
"""Price of missing the truth in units of the distance: that for which 90 % intervals are best."""
SMOOTH = 0.05
GUESS = np.log([0.1, 1.0, 1.0, 0.3, 0.5, 0.5])
"""What the constants are drawn to."""
PULL = 3.0
"""How strongly: chosen, like the ingredients, for the least interval score on tasks left out."""


def contributions(rows: list[dict[str, float]]) -> np.ndarray:
    """Return the squared ingredients of the width, one column per forecast."""
    names = ("factor", "spread", "scatter", "gap", "drop", "above")
    return ingredients(**{name: np.array([row[name] for row in rows]) for name in names}) ** 2


def fit(squares: np.ndarray, errors: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the constants below and above that make the interval score least: width, and what misses cost."""
    count, guess = len(squares), np.tile(GUESS, 2)

    def miss(beyond: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return MISS * SMOOTH * np.logaddexp(0, beyond / SMOOTH), MISS * expit(beyond / SMOOTH)

    def loss(logs: np.ndarray) -> tuple[float, np.ndarray]:
        value, slopes = PULL * float(np.sum((logs - guess) ** 2)), []
        for sign, part in ((1, logs[:count]), (-1, logs[count:])):
            half = np.sqrt(np.exp(2 * part) @ squares + 1e-4)
            cost, slope = miss(sign * errors - half)
            value += float(weights @ (half + cost))
            slopes.append(np.exp(2 * part) * (squares @ (weights * (1 - slope) / half)))
        return value, np.concatenate(slopes) + 2 * PULL * (logs - guess)

    found = np.exp(minimize(loss, guess, jac=True, method="L-BFGS-B", bounds=[(-6, 3)] * (2 * count)).x)
    return found[:count], found[count:]


def verdicts(rows: list[dict[str, Any]]) -> None:
    """Print by how much the error truly fell, at the largest multiple, where less or more than a tenth was expected."""
    true = json.loads(truth.FILE.read_text())
    last = {(row["task"], row["n0"], row["draw"]): row for row in sorted(rows, key=lambda row: row["factor"])}
    pairs = []
    for (task, now, _), row in last.items():
        then = true[task][str(now * row["factor"])]
        pairs.append((1 - np.exp(-row["drop"] / 2), 1 - np.sqrt(then / true[task][str(now)])))
    expected, fell = np.array(pairs).T
    less = expected < 0.1
    print(f"{less.sum()} expected less than 10 %: fell by less than 15 % in {np.mean(fell[less] < 0.15):.3f}", end="")
    print(f", 20 % in {np.mean(fell[less] < 0.2):.3f}")
    print(f"{(~less).sum()} expected more: fell by more than 10 % in {np.mean(fell[~less] > 0.1):.3f}", end="")
    print(f", 5 % in {np.mean(fell[~less] > 0.05):.3f}")


def main() -> None:
    rows = json.loads(Path(sys.argv[1]).read_text())
    task = np.array([row["task"] for row in rows])
    errors = np.array([row["error"] for row in rows])
    weights = np.array([1 / np.sum(task == name) for name in task])
    squares = contributions(rows)
    down, up = fit(squares, errors, weights)
    print("DOWN =", tuple(float(f"{c:.3g}") for c in down))
    print("UP =", tuple(float(f"{c:.3g}") for c in up))
    inside = np.zeros(len(rows), bool)
    half, missed = np.zeros((2, len(rows)))
    for name in np.unique(task):
        out = task == name
        down, up = (np.sqrt(side**2 @ squares[:, out]) for side in fit(squares[:, ~out], errors[~out], weights[~out]))
        inside[out] = (errors[out] <= down) & (-errors[out] <= up)
        half[out] = (down + up) / 2
        missed[out] = np.maximum(0.0, np.maximum(errors[out] - down, -errors[out] - up))
    score = np.average(2 * half + MISS * missed, weights=weights)
    print(
        f"tasks left out: interval score {score:.3f}, coverage {inside.mean():.3f}, median half-width {np.median(half):.2f}"
    )
    for factor in (2, 4, 8, 16):
        here = np.array([row["factor"] == factor for row in rows])
        print(f"{factor:3d}x  {inside[here].mean():.3f}  {np.median(half[here]):.2f}")
    verdicts(rows)
    print(
        "below 75 %:",
        {str(n): round(float(inside[task == n].mean()), 2) for n in np.unique(task) if inside[task == n].mean() < 0.75},
    )


if __name__ == "__main__":
    main()
