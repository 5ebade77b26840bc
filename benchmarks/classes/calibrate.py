"""Fit the constants of forecasts of classes to what `collect` wrote.

    python -m benchmarks.classes.calibrate FILE

prints those of error rates, then those of log losses: how mistakes and doubts are combined, how the curve goes on, widths of
intervals.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from benchmarks.classes import truth
from benchmarks.classes.collect import FACTORS, LOSS_FORMS, ROWS
from benchmarks.forecast.rivals import FORMS
from benchmarks.forecast.sources import hashed
from gpcurves.forecasting.classes.intervals import (
    ClassCalibration,
    Mistakes,
    follow_mistakes,
    from_scale,
    ingredients,
    project,
    to_scale,
)

MISS = 20.0  # price of missing the truth in units of the distance: that for which 90 % intervals are best
SMOOTH = {True: 0.005, False: 0.02}  # of absolute errors, of error rates and of log losses
WIDTHS = np.log([1.5, 1.5, 0.1, 0.4, 0.3])  # what the constants of widths are drawn to,
MOST = np.log([1.645, 7.0, 0.1, 7.0, 7.0])  # and their upper bounds: counting alone does not err by more than it does,
# and a few tables whose error falls to nothing once most persons are known must not open all intervals
COMBINATION = {
    True: np.array([0.7, 0.7, 0.5, 0.2, 0.2, 0.2]),
    False: np.array([1.0, 1.0, 0.3, 0.1, 0.4, 0.3]),
}  # and levels, shares of power laws in them, and exponents, of rates and losses,
PULL = (1.0, 1.0)  # and how strongly


@dataclass(frozen=True)
class Points:
    """Forecasts at a multiple of the rows: arrays of the same length."""

    task: np.ndarray
    kind: np.ndarray
    factor: np.ndarray
    truth: np.ndarray
    evidence: Mistakes
    model: np.ndarray  # logarithms of ratios that the model
    law: np.ndarray  # and power laws expect
    scatter: np.ndarray
    rivals: dict[str, np.ndarray]
    is_rate: bool

    @property
    def weights(self) -> np.ndarray:
        """Every task counts alike."""
        count = {task: np.sum(self.task == task) for task in set(self.task)}
        return np.array([1 / count[task] for task in self.task])

    def estimate(self, constants: np.ndarray) -> np.ndarray:
        """Return what is expected with two levels, two shares of power laws in them, and two exponents."""
        calibration = calibrated(constants)
        return project(self.evidence.find_level(calibration), self.model, self.law, calibration)

    def squares(self, constants: np.ndarray) -> np.ndarray:
        """Return the squared ingredients of the width, one column per forecast."""
        values = (self.evidence.find_level(calibrated(constants)), self.estimate(constants), self.evidence.seen)
        level, ahead, seen = (to_scale(np.asarray(each), self.is_rate) for each in values)
        expected, chance = (
            to_scale(np.asarray(each), self.is_rate) for each in (self.evidence.expected, self.evidence.chance)
        )
        room = chance if self.is_rate else 1.0
        return ingredients(self.factor, self.scatter, level - ahead, seen - expected, room) ** 2

    def band(
        self, constants: np.ndarray, down: np.ndarray, up: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return estimate and ends of intervals with these constants."""
        estimate, squares = self.estimate(constants), self.squares(constants)
        middle = to_scale(estimate, self.is_rate)
        ends = (middle - np.sqrt(down**2 @ squares), middle + np.sqrt(up**2 @ squares))
        low, high = (from_scale(end, self.is_rate) for end in ends)
        return estimate, low, high

    def off(self, forecast: np.ndarray) -> np.ndarray:
        """Return how far a forecast is off: of error rates the distance, of log losses that of logarithms."""
        return np.asarray(np.abs(forecast - self.truth) if self.is_rate else np.abs(np.log(forecast / self.truth)))


def calibrated(constants: np.ndarray) -> ClassCalibration:
    """Return constants in the form of the package, without widths."""
    level, more, smooth, smooth_more, model, power = (float(value) for value in constants)
    return ClassCalibration((level, more), (smooth, smooth_more), model, power)


def read(which: int, *files: Path) -> Points:
    """Read what `collect` wrote, for error rates (0) or log losses (1)."""
    known = json.loads(truth.FILE.read_text())
    true = {
        name: {n: mean for n, sets in curve.items() if (mean := truth.average(sets)) is not None}
        for name, curve in known.items()
    }
    lines = [line for file in files for line in file.read_text().splitlines()]
    rows = [row for row in map(json.loads, lines) if "failed" not in row]
    found = [(row, i, k) for row in rows for i, k in enumerate(FACTORS) if str(k * ROWS) in true.get(row["task"], {})]
    key = ("mistakes", "loss")[which]
    rivals = ("rivals", "rivals of log loss")[which]

    def column(pick: object) -> np.ndarray:
        return np.array([pick(row, i, k) for row, i, k in found])  # type: ignore[operator]

    return Points(
        task=column(lambda row, i, k: row["task"]),
        kind=column(lambda row, i, k: row["kind"]),
        factor=column(lambda row, i, k: float(k)),
        # no mistake in the rows that were tested counts as half a one
        truth=column(lambda row, i, k: max(true[row["task"]][str(k * ROWS)][which], 0.5 / truth.MOST_TESTED)),
        evidence=Mistakes(
            seen=column(lambda row, i, k: row[key][-1]),
            expected=column(lambda row, i, k: row["own"][which]),
            fitted=column(lambda row, i, k: follow(row, k, key)[0]),
            chance=column(lambda row, i, k: row["chance"][which]),
            several=column(lambda row, i, k: row["classes"] > 2),
        ),
        model=column(lambda row, i, k: np.log(row["expected"][which][i + 1] / row["expected"][which][0])),
        law=column(lambda row, i, k: follow(row, k, key)[1]),
        scatter=column(
            lambda row, i, k: 0.5 / np.sqrt(row["usable"]) if which == 0 else row["loss_stderr"] / row["loss"][-1]
        ),
        rivals={name: column(lambda row, i, k, name=name: row[rivals][name][i]) for name in (FORMS, LOSS_FORMS)[which]},
        is_rate=which == 0,
    )


def follow(row: dict[str, Any], factor: int, key: str) -> tuple[float, float]:
    """Return what power laws expect at the size of cross-validation, and the logarithm of the ratio to it at a multiple."""
    ahead = np.array([float(factor * row["usable"])])
    fitted, ratio = follow_mistakes(np.array(row["n"]), np.array(row[key]), row["usable"], ahead)
    return fitted, float(ratio[0])


def fit_estimate(points: Points, kept: np.ndarray) -> np.ndarray:
    """Return the constants of the estimate that make the mean of the roots of absolute errors least.

    Roots, because medians and means shall both be small: of plain errors, a few tables would decide whose error falls to nothing.
    """
    weights, smooth = points.weights * kept, SMOOTH[points.is_rate]
    guess = COMBINATION[points.is_rate]
    low, high = np.zeros(len(guess)), np.array([1.0, 1.0, 1.0, 1.0, 3.0, 3.0])

    def loss(constants: np.ndarray) -> float:
        off = points.off(points.estimate(np.clip(constants, low, high)))
        cost = float(weights @ (off**2 + smooth**2) ** 0.25 / np.sqrt(smooth))
        return cost + PULL[0] * float(weights.sum() * ((constants - guess) ** 2).sum())

    found = minimize(loss, guess, method="Nelder-Mead", options={"maxiter": 900, "xatol": 1e-3})
    return np.asarray(np.clip(found.x, low, high))


def fit_widths(squares: np.ndarray, errors: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the constants below and above that make the interval score least: width, and what misses cost."""
    count, guess, smooth = len(squares), np.tile(WIDTHS, 2), 0.02

    def loss(logs: np.ndarray) -> tuple[float, np.ndarray]:
        value, slopes = PULL[1] * float(np.sum((logs - guess) ** 2)), []
        for sign, part in ((1, logs[:count]), (-1, logs[count:])):
            half = np.sqrt(np.exp(2 * part) @ squares + 1e-6)
            beyond = (sign * errors - half) / smooth
            value += 10 * float(weights @ (half + MISS * smooth * np.logaddexp(0, beyond)))
            slopes.append(10 * np.exp(2 * part) * (squares @ (weights * (1 - MISS * expit(beyond)) / half)))
        return value, np.concatenate(slopes) + 2 * PULL[1] * (logs - guess)

    bounds = [(-6, most) for most in np.tile(MOST, 2)]
    found = np.exp(minimize(loss, guess, jac=True, method="L-BFGS-B", bounds=bounds).x)
    return found[:count], found[count:]


def fit(points: Points, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the constants of the estimate, and of the widths below and above it, from some of the forecasts."""
    constants = fit_estimate(points, kept)
    errors = to_scale(points.estimate(constants), points.is_rate) - to_scale(points.truth, points.is_rate)
    down, up = fit_widths(points.squares(constants)[:, kept], errors[kept], points.weights[kept])
    return constants, down, up


def leave_out(points: Points, parts: int = 12) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return estimate and ends of intervals, with constants fitted to other tasks: a twelfth of them is left out at a time."""
    ordered = sorted(set(points.task), key=lambda task: hashed(f"part of {task}"))
    part = {task: number % parts for number, task in enumerate(ordered)}
    mine = np.array([part[task] for task in points.task])
    estimate, low, high = np.zeros((3, len(mine)))
    for number in range(parts):
        out = mine == number
        if not out.any():
            continue
        for values, found in zip((estimate, low, high), points.band(*fit(points, ~out)), strict=True):
            values[out] = found[out]
    return estimate, low, high


def main() -> None:
    for which, name in enumerate(("RATE", "LOSS")):
        points = read(which, Path(sys.argv[1]))
        constants, down, up = fit(points, np.full(len(points.task), True))
        first, second, third, fourth, model, power = (float(f"{value:.3g}") for value in constants)
        ends = [tuple(float(f"{value:.3g}") for value in each) for each in (down, up)]
        estimate = f"({first}, {second}), ({third}, {fourth}), {model}, {power}"
        print(f"{name} = ClassCalibration({estimate}, down={ends[0]}, up={ends[1]})")


if __name__ == "__main__":
    main()
