"""Fit the constants of forecasts on networks to some of them, and forecast the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

from benchmarks.forecast.calibrate import SMOOTH, fit_widths
from gpcurves.forecasting.crossvalidation import CrossValidation
from gpcurves.forecasting.intervals import combine, follow_power_laws, ingredients

GUESS, PULL = (0.5, 1.0), 3.0  # what level and slope are drawn to, and how strongly


@dataclass(frozen=True)
class Points:
    """Forecasts at a multiple of the labels: arrays of the same length, in logarithms of squares."""

    task: np.ndarray
    table: np.ndarray
    kind: np.ndarray
    factor: np.ndarray
    truth: np.ndarray
    now: np.ndarray  # what the model expects at the size of cross-validation
    ahead: np.ndarray  # and at the multiple
    gap: np.ndarray
    spread: np.ndarray
    above: np.ndarray
    scatter: np.ndarray
    laws: np.ndarray  # what power laws say
    share: float  # of power laws, which is taken as it is
    rivals: dict[str, np.ndarray]

    @property
    def weights(self) -> np.ndarray:
        """Every task counts alike; all together as many as there are."""
        count = {task: np.sum(self.task == task) for task in set(self.task)}
        return np.array([1 / count[task] for task in self.task])

    def estimate(self, constants: np.ndarray) -> np.ndarray:
        """Return what is expected with a level and a slope of the model beside power laws with their share."""
        level, model = self.calibrated(constants)
        drops = self.now - self.ahead, self.now + self.gap - self.laws
        return combine(self.now, self.gap, level, drops, (model, self.share))

    def calibrated(self, constants: np.ndarray) -> tuple[float, float]:
        """Return the level and the share of the model's drop, as in `Calibration`."""
        level, slope = (float(each) for each in constants)
        return self.share + (1 - self.share) * level, (1 - self.share) * slope

    def squares(self) -> np.ndarray:
        """Return the squared ingredients of the width, one column per forecast."""
        drop = self.now - self.ahead
        return ingredients(self.factor, self.spread, self.scatter, self.gap, drop, self.above, 0.0, 0.0) ** 2


def fit_estimate(points: Points, kept: np.ndarray) -> np.ndarray:
    """Return the level and the slope that make the mean absolute error least."""
    weights, guess = points.weights * kept, np.array(GUESS)

    def loss(constants: np.ndarray) -> float:
        error = points.estimate(constants) - points.truth
        return float(weights @ np.sqrt(error**2 + SMOOTH**2) + PULL * ((constants - guess) ** 2).sum())

    return np.asarray(minimize(loss, guess, method="Nelder-Mead", options={"maxiter": 900, "xatol": 1e-3}).x)


def fit(points: Points, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the constants of the estimate, and of the widths below and above it, from some of the forecasts."""
    constants = fit_estimate(points, kept)
    errors = points.estimate(constants) - points.truth
    slope = points.calibrated(constants)[1]
    squares, growth = points.squares()[:, kept], np.ones(int(kept.sum()))
    return constants, *fit_widths(squares, growth, errors[kept], points.weights[kept], slope)


def law_ahead(part: dict[str, Any], n: float, endless: bool = False) -> float:
    """Return the logarithm of the error that power laws through cross-validated ones expect."""
    mse = np.array(part["cv_mse"])
    return float(follow_power_laws(CrossValidation(np.array(part["cv_n"]), mse, mse), np.array([n]), endless)[0])


def choose(candidates: Sequence[Points], kept: np.ndarray) -> Points:
    """Return the forecasts with the power laws whose mean absolute error is the least on those kept."""

    def mean_error(points: Points) -> float:
        estimate = points.estimate(fit_estimate(points, kept))
        return float((points.weights * kept) @ np.abs(np.exp(estimate / 2) - np.exp(points.truth / 2)))

    return min(candidates, key=mean_error)


def leave_out(candidates: Sequence[Points]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return estimate and ends of intervals, with power laws and constants found on other networks."""
    table = candidates[0].table
    estimate, low, high = np.zeros((3, len(table)))
    for name in dict.fromkeys(table.tolist()):
        out = table == name
        points = choose(candidates, ~out)
        constants, down, up = fit(points, ~out)
        squares = points.squares()[:, out]
        estimate[out] = points.estimate(constants)[out]
        low[out] = estimate[out] - np.sqrt(down**2 @ squares)
        high[out] = estimate[out] + np.sqrt(up**2 @ squares)
    return estimate, low, high
