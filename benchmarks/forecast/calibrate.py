"""Fit the widths of the intervals to scored forecasts, and report their coverage on tasks left out.

python -m benchmarks.forecast.score --out rows.json && python -m benchmarks.forecast.calibrate rows.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from gpcurves.planning.calibration import LEVEL, ingredients

TAILS = 4.0
SIDE = 0.95


def contributions(rows: list[dict[str, float]]) -> np.ndarray:
    """Return the squared ingredients of the width, one column per forecast."""
    columns = [
        ingredients(
            np.array([row["spread"]]),
            np.array([row["drop"]]),
            np.array([row["factor"]]),
            row["n0"],
            abs(row["level"]) / LEVEL,
            row["cv_error"],
            row["today"],
        )
        for row in rows
    ]
    return np.hstack(columns) ** 2


def fit(squares: np.ndarray, errors: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the constants below and above: a two-piece Student t by likelihood, widened to the nominal coverage."""
    count = len(squares)

    def loss(logs: np.ndarray) -> float:
        down, up = (np.sqrt(np.exp(2 * part) @ squares + 1e-3) for part in (logs[:count], logs[count:]))
        z = errors / np.where(errors > 0, down, up)
        fit = weights @ (np.log(down + up) + (TAILS + 1) / 2 * np.log1p(z * z / TAILS))
        return float(fit + 0.02 * np.sum((logs + 2) ** 2))

    found = minimize(loss, np.full(2 * count, -2.0), method="L-BFGS-B", bounds=[(-6, 3)] * (2 * count)).x
    sides = []
    for sign, part in ((1, found[:count]), (-1, found[count:])):
        ratio = sign * errors / np.sqrt(np.exp(2 * part) @ squares)
        order = np.argsort(ratio)
        place = np.searchsorted(np.cumsum(weights[order]) / weights.sum(), SIDE)
        sides.append(np.exp(part) * ratio[order][place])
    return sides[0], sides[1]


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
    half = np.zeros(len(rows))
    for name in np.unique(task):
        out = task == name
        down, up = (np.sqrt(side**2 @ squares[:, out]) for side in fit(squares[:, ~out], errors[~out], weights[~out]))
        inside[out] = (errors[out] <= down) & (-errors[out] <= up)
        half[out] = (down + up) / 2
    print(f"coverage on tasks left out: {inside.mean():.3f}, median half-width {np.median(half):.2f}")
    for factor in (2, 4, 8, 16):
        here = np.array([row["factor"] == factor for row in rows])
        print(f"{factor:3d}x  {inside[here].mean():.3f}  {np.median(half[here]):.2f}")
    print(
        "below 75 %:",
        {str(n): round(float(inside[task == n].mean()), 2) for n in np.unique(task) if inside[task == n].mean() < 0.75},
    )


if __name__ == "__main__":
    main()
