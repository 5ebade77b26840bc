"""Fit the constants of estimates and the widths of intervals to what `collect` wrote.

    python -m benchmarks.forecast.calibrate FILE [FILE ...]

Estimates are those with the least mean absolute error, and are drawn to round constants; widths are those with the least interval
score. Those of `gpcurves.forecasting.calibration.TABLES` are not all of one fit: estimates are rounded from fits to all tasks but the final
ones, widths but the last were fitted to the tasks of ``tasks.json`` with a former estimate, and the last ones were chosen by hand; widths
fitted to all of these tasks were worse on tables left out.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from benchmarks.forecast import tasks
from benchmarks.forecast.collect import FACTORS, read_lines
from benchmarks.forecast.rivals import FORMS
from gpcurves.forecasting.calibration import TABLES, Calibration
from gpcurves.forecasting.crossvalidation import CrossValidation, measure_tails
from gpcurves.forecasting.intervals import (
    combine,
    find_steeper,
    follow_function,
    follow_power_laws,
    follow_straight_law,
    ingredients,
    measure_exactness,
    measure_noiselessness,
)

MISS = 20.0  # price of missing the truth in units of the distance: that for which 90 % intervals are best
SMOOTH = 0.05  # below such distances errors and misses count less than in proportion
GUESS = np.array(
    [0.3, 0.6, 0.6, 0.3, 0.1, 0.0, 0.6, 0.8, 0.65, 0.05, 0.05]
)  # what the constants of estimates are drawn to,
SPREAD = np.array([0.2] * 9 + [0.1, 0.1])  # how far they may be from it,
ESTIMATES = 2.0  # and how strongly
WIDTHS = np.log([0.2, 1.9, 3.0, 0.5, 0.6, 0.55, 0.3, 1.2])  # what the constants of widths are drawn to,
PULL = 3.0  # and how strongly
CROSS_VALIDATED = 0.9  # share of the rows on which cross-validation trains
RARE = 0.5  # kinds with few tasks count more, by this power of their number, so that intervals hold on each of them,
SIMULATORS = 0.3  # and simulators less, whose errors are factors of thousands
DROP, MOST_OF_DROP = 4, 0.85
"""The constant of the drop stays below this share of the drop that happens, so that most upper ends fall as well."""


@dataclass(frozen=True)
class Points:
    """Forecasts at a multiple of the rows: arrays of the same length, in logarithms of mean squared errors."""

    task: np.ndarray
    kind: np.ndarray
    factor: np.ndarray
    truth: np.ndarray
    now: np.ndarray  # what the model expects at the size of cross-validation
    ahead: np.ndarray  # and at the multiple
    gap: np.ndarray
    spread: np.ndarray
    above: np.ndarray
    scatter: np.ndarray
    noiseless: np.ndarray  # how free of noise the target is, from 0 to 1
    exact: np.ndarray  # how surely it is a smooth function without noise,
    computed: np.ndarray  # and the result of a computation
    tails: np.ndarray
    heavy: np.ndarray  # tails of the target
    laws: np.ndarray  # what power laws say,
    endless: np.ndarray  # those without an offset,
    straight: np.ndarray  # and the straight one
    rivals: dict[str, np.ndarray]
    emphasis: np.ndarray  # by how much more its task counts than others

    @property
    def weights(self) -> np.ndarray:
        """Every task counts alike but for its emphasis; all together as many as there are."""
        count = {task: np.sum(self.task == task) for task in set(self.task)}
        weights = self.emphasis / np.array([count[task] for task in self.task])
        return np.asarray(len(count) / weights.sum() * weights)

    def among(self, chosen: np.ndarray) -> Points:
        """Return some of the forecasts."""
        columns = {field.name: getattr(self, field.name) for field in fields(self)}
        rivals = {name: said[chosen] for name, said in columns.pop("rivals").items()}
        return Points(**{name: column[chosen] for name, column in columns.items()}, rivals=rivals)

    def expect(self, calibration: Calibration) -> np.ndarray:
        """Return what is expected with these constants."""
        level, model, laws, shift = calibration.weigh(self.noiseless, self.heavy)
        drops = self.now - self.ahead, self.now + self.gap - self.laws
        measured = shift + combine(self.now, self.gap, level, drops, (model, laws))
        model, reach = self.ahead + self.gap, self.factor / CROSS_VALIDATED
        steep = find_steeper(model, self.endless, self.straight, reach, self.computed)
        return follow_function(measured, steep, self.exact)

    def squares(self) -> np.ndarray:
        """Return the squared ingredients of the width, one column per forecast."""
        drop = self.now - self.ahead
        return (
            ingredients(self.factor, self.spread, self.scatter, self.gap, drop, self.above, self.tails, self.heavy) ** 2
        )


def select(rows: list[dict[str, Any]]) -> list[tuple[dict[str, Any], int, int]]:
    """Return each forecast at a multiple with a truth above a ten-millionth of the variance: its row, place and multiple."""
    return [
        (row, i, factor)
        for row in rows
        if "failed" not in row
        for i, factor in enumerate(FACTORS)
        if row["true"].get(str(factor * row["rows"]), 0.0) > 1e-7 * np.exp(row["variance"])
    ]


def read(*files: Path) -> Points:
    """Read what `collect` wrote."""
    found = select([row for file in files for row in read_lines(file)])
    number = Counter(tasks.kind(name) for name in {row["task"] for row, _, _ in found})
    emphasis = {kind: count**-RARE * (SIMULATORS if kind == "simulators" else 1.0) for kind, count in number.items()}

    def column(pick: object) -> np.ndarray:
        return np.array([pick(row, i, factor) for row, i, factor in found])  # type: ignore[operator]

    return Points(
        task=column(lambda row, i, k: row["task"]),
        kind=column(lambda row, i, k: row["kind"]),
        factor=column(lambda row, i, k: float(k)),
        truth=column(lambda row, i, k: np.log(row["true"][str(k * row["rows"])])),
        now=column(lambda row, i, k: row["middle"][3]),
        ahead=column(lambda row, i, k: row["middle"][5 + i]),
        gap=column(lambda row, i, k: row["cv"][-1] - row["middle"][3]),
        spread=column(lambda row, i, k: row["spread"][5 + i]),
        above=column(lambda row, i, k: row["above"][5 + i]),
        scatter=column(lambda row, i, k: row["cv_stderr"][-1]),
        noiseless=measure_noiselessness(column(lambda row, i, k: row["above"][3])),
        exact=column(lambda row, i, k: row["smooth"]) * measure_exactness(*column(find_noise).T),
        computed=column(lambda row, i, k: row["computed"]),
        tails=column(lambda row, i, k: measure_tails(np.array(row["residuals"]))),
        heavy=column(lambda row, i, k: row["heavy"]),
        laws=column(lambda row, i, k: law_ahead(row, k, follow_power_laws)),
        endless=column(lambda row, i, k: law_ahead(row, k, partial(follow_power_laws, endless=True))),
        straight=column(lambda row, i, k: law_ahead(row, k, follow_straight_law)),
        rivals={
            name: column(lambda row, i, k, name=name: row[name][i]) for name in (*FORMS, "simulation of the best fit")
        },
        emphasis=column(lambda row, i, k: emphasis[row["kind"]]),
    )


def find_noise(row: dict[str, Any], _: int, __: int) -> tuple[float, float]:
    """Return how far the expected error is above the noise, and the noise over the variance of the target, in logarithms."""
    above = row["above"][3]
    return above, row["middle"][3] - above - row["variance"]


def law_ahead(row: dict[str, Any], factor: int, follow: Callable[[CrossValidation, np.ndarray], np.ndarray]) -> float:
    """Return the logarithm of the error that laws through cross-validated ones expect at a multiple of the rows."""
    n, mse = np.array(row["cv_n"]), np.exp(row["cv"])
    return float(follow(CrossValidation(n, mse, mse), np.array([float(factor * row["usable"])]))[0])


def fit_widths(
    squares: np.ndarray, growth: np.ndarray, errors: np.ndarray, weights: np.ndarray, slope: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the constants below and above that make the interval score least: width, and what misses cost.

    ``growth`` is what widths below are multiplied by.
    """
    count, guess = len(squares), np.tile(WIDTHS, 2)

    def miss(beyond: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return MISS * SMOOTH * np.logaddexp(0, beyond / SMOOTH), MISS * expit(beyond / SMOOTH)

    def loss(logs: np.ndarray) -> tuple[float, np.ndarray]:
        value, slopes = PULL * float(np.sum((logs - guess) ** 2)), []
        for sign, part, given in ((1, logs[:count], growth**2 * squares), (-1, logs[count:], squares)):
            half = np.sqrt(np.exp(2 * part) @ given + 1e-4)
            cost, slope = miss(sign * errors - half)
            value += float(weights @ (half + cost))
            slopes.append(np.exp(2 * part) * (given @ (weights * (1 - slope) / half)))
        return value, np.concatenate(slopes) + 2 * PULL * (logs - guess)

    bounds = [(-6, np.log(MOST_OF_DROP * slope) if place % count == DROP else 3) for place in range(2 * count)]
    found = np.exp(minimize(loss, guess, jac=True, method="L-BFGS-B", bounds=bounds).x)
    return found[:count], found[count:]


def fit_estimates(points: Points) -> np.ndarray:
    """Return the constants of estimates, in the order of `GUESS`, with the least mean absolute error."""

    def loss(steps: np.ndarray) -> float:
        errors = points.expect(calibrated(GUESS + steps * SPREAD)) - points.truth
        return float(points.weights @ np.sqrt(errors**2 + SMOOTH**2) + ESTIMATES * (steps**2).sum())

    return np.asarray(GUESS + minimize(loss, np.zeros(len(GUESS)), method="L-BFGS-B").x * SPREAD)


def calibrated(constants: np.ndarray) -> Calibration:
    """Return the constants of estimates as the package has them, without widths."""
    level, model, laws = (tuple(constants[at : at + 3]) for at in (0, 3, 6))
    return Calibration(level, model, laws, (), (), tuple(constants[9:]))


def fit(points: Points) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the constants of estimates, and those of widths below and above."""
    constants = fit_estimates(points)
    errors = points.expect(calibrated(constants)) - points.truth
    steepest = float((constants[3:6] + constants[6:9]).min())  # of the drops of model and laws together
    growth = TABLES.grow(points.factor)
    return constants, *fit_widths(points.squares(), growth, errors, points.weights, steepest)


def main() -> None:
    constants, down, up = fit(read(*map(Path, sys.argv[1:])))
    parts = {"level": constants[:3], "model": constants[3:6], "laws": constants[6:9], "shift": constants[9:]}
    for name, values in (parts | {"down": down, "up": up}).items():
        print(name, "=", tuple(float(f"{value:.3g}") for value in values))


if __name__ == "__main__":
    main()
