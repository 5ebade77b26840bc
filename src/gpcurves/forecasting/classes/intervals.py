r"""The bands of a forecast of classes: the error rate and the log loss to expect, with intervals learnt on ``benchmarks/classes``.

The estimate is a level times what is left of it,

.. math:: e(n) = \ell\,\Big(\frac{q(n)}{q(n_c)}\Big)^{\beta}\Big(\frac{w(n)}{w(n_c)}\Big)^{\gamma},

with :math:`\ell` the level at the size :math:`n_c` of cross-validation, q what the model expects of itself (see `curves`) and w the power
laws through the mistakes counted in cross-validation. The level is a mean of what was counted at :math:`n_c`, of what the predicted
probabilities expect there, and of :math:`w(n_c)`, which also rests on the mistakes after training on fewer rows, and so varies less.
Intervals are computed where their width hardly depends on the level: for error rates on the scale :math:`\arcsin\sqrt e`, on which
counting m mistakes in N rows has the standard error :math:`1/(2\sqrt N)`, for log losses on that of logarithms.
`benchmarks.classes.calibrate` fits the constants, and reports the coverage on tasks left out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gpcurves.forecasting.classes.curves import Expectations
from gpcurves.forecasting.crossvalidation import ClassValidation, CrossValidation
from gpcurves.forecasting.intervals import HORIZON, Band, follow_power_laws, goal_grid, never_rise
from gpcurves.numerics.validation import FloatArray

_ASSURANCE = 0.842 / 1.645  # width of a one-sided 80 % interval over half of a 90 % interval, for normal errors
_FURTHEST = 16.0  # multiple of the rows up to which forecasts were scored; further ones count as reaching so far
_ABOVE_CHANCE = 1.05  # times the error of knowing the shares of the classes alone, which are known to a few per cent
_LEAST = 1e-4  # error rate or log loss: no forecast is better than this
_LARGEST = 1e15
_STEP = 0.1


@dataclass(frozen=True)
class ClassCalibration:
    """Constants that were learnt from what forecasts came to.

    ``level`` is the share of counted mistakes (of the log loss: of what was seen) in the level, against what the predicted
    probabilities expect. Both make way for power laws by the share ``smooth``. Each is given for two classes, and for more, of
    which small training sets may lack some, so that power laws fit worse. ``model`` and ``power`` are the exponents of the model's
    own expectation and of power laws; ``down`` and ``up`` are contributions to the half-widths, in the order of `ingredients`.
    """

    level: tuple[float, float]
    smooth: tuple[float, float]
    model: float
    power: float
    down: tuple[float, ...] = ()
    up: tuple[float, ...] = ()


RATE = ClassCalibration(
    (0.699, 0.67),
    (0.504, 0.193),
    0.212,
    0.229,
    down=(1.24, 4.7, 0.1, 0.441, 0.27),
    up=(1.65, 1.98, 0.0414, 0.391, 0.233),
)
LOSS = ClassCalibration(
    (1.0, 1.0), (0.248, 0.0768), 0.402, 0.357, down=(1.65, 1.84, 0.1, 7.0, 0.213), up=(1.15, 1.15, 0.0365, 1.33, 0.631)
)


def to_scale(values: FloatArray, is_rate: bool) -> FloatArray:
    """Return error rates or log losses on the scale on which intervals are computed."""
    return np.asarray(np.arcsin(np.sqrt(np.clip(values, 0.0, 1.0))) if is_rate else np.log(np.maximum(values, _LEAST)))


def from_scale(values: FloatArray, is_rate: bool) -> FloatArray:
    """Return error rates or log losses: the inverse of `to_scale`, kept from vanishing."""
    if not is_rate:
        return np.asarray(np.maximum(np.exp(values), _LEAST))
    return np.asarray(np.maximum(np.sin(np.clip(values, 0.0, math.pi / 2)) ** 2, _LEAST))


@dataclass(frozen=True, eq=False)
class Mistakes:
    """What the level rests on, at the size of cross-validation; numbers, or arrays with one entry for each forecast."""

    seen: FloatArray | float  # mistakes, or log loss, of ten-fold cross-validation,
    expected: FloatArray | float  # what the predicted probabilities expect,
    fitted: FloatArray | float  # and power laws through what was seen after training on fewer rows
    chance: FloatArray | float  # error of always giving every class its share
    several: bool | npt.NDArray[np.bool_]  # more than two classes

    def find_level(self, calibration: ClassCalibration) -> FloatArray:
        """Return the level.

        It is not far above ``chance``: with more rows a classifier that finds nothing learns at least the shares of the classes.
        """
        share, smooth = (np.where(self.several, more, two) for two, more in (calibration.level, calibration.smooth))
        counted = share * self.seen + (1 - share) * self.expected
        mean = (1 - smooth) * counted + smooth * self.fitted
        return np.asarray(np.maximum(np.minimum(mean, _ABOVE_CHANCE * np.asarray(self.chance)), _LEAST))


def follow_mistakes(n: FloatArray, values: FloatArray, rows: int, ahead: FloatArray) -> tuple[float, FloatArray]:
    """Return what power laws through cross-validated errors expect at the last n, and the logarithm of the ratio to it ahead."""
    counted = np.maximum(values, 0.5 / rows)  # the logarithm of no mistake has no value
    at = np.append(n[-1], ahead)
    logs = follow_power_laws(CrossValidation(n, counted, np.ones(len(n))), at)
    return float(np.exp(logs[0])), np.minimum(logs[1:] - logs[0], 0.0)


def project(start: FloatArray | float, model: FloatArray, law: FloatArray, calibration: ClassCalibration) -> FloatArray:
    """Return the estimate, from the level and the logarithms of the ratios that the model and power laws expect."""
    return np.asarray(start * np.exp(calibration.model * model + calibration.power * law))


def ingredients(
    factor: FloatArray,
    scatter: FloatArray | float,
    drop: FloatArray,
    doubt: FloatArray | float,
    room: FloatArray | float,
) -> FloatArray:
    """Return what makes a forecast uncertain, one row each, on the scale of the intervals.

    In this order: the ``scatter`` of what was counted; the same times the ``room`` for an error to be in, below that of chance,
    which is small if a class is rare; the room times how far the forecast reaches, as a ``factor`` of the rows at hand; by how
    much the error is forecast to ``drop``; and how far what was counted is from what was expected (``doubt``).
    """
    reach = np.abs(np.log(np.clip(factor, 1.0, _FURTHEST)))
    ones = np.ones(len(factor))
    return np.array([scatter * ones, scatter * room * ones, room * reach, np.abs(drop), np.abs(doubt) * ones])


@dataclass(frozen=True, eq=False)
class ClassCurves:
    """What bands are made of: cross-validation, what the model expects, and how sure that is.

    ``expected`` are error rate and log loss that the predicted probabilities of rows left out expect, ``chance`` those of always
    giving every class its share.
    """

    observed: ClassValidation
    expectations: Expectations
    expected: tuple[float, float]
    chance: tuple[float, float]
    rows: int
    fitted_rows: int
    classes: int
    rate: float = 1.0  # rows for each unit that n counts, which may be a group of them

    def make_band(self, which: int) -> Band:
        """Return the band of the error rate (0) or of the log loss (1)."""
        is_rate, rows = which == 0, self.rows
        goals = goal_grid(rows)
        kinks = [2.0**k * rows for k in range(5)]
        far = np.exp(np.arange(math.log(HORIZON * rows), math.log(_LARGEST) + _STEP, _STEP)).round()
        n = np.unique(np.concatenate((np.arange(min(rows, 200) + 1.0), goals, kinks, self.observed.n, far)))
        today = n == rows
        estimate = np.where(n < rows, self._before(n, which), self._ahead(np.maximum(n, rows), which))
        middle, factor = to_scale(estimate, is_rate), np.maximum(n / rows, 1.0)
        calibration = (RATE, LOSS)[which]
        squares = self.ingredients(n, middle, which) ** 2
        down, up = np.sqrt(np.square([calibration.down, calibration.up]) @ squares)
        # fewer rows than there are were tried out: they are as uncertain as today
        down, up = (np.where(factor == 1.0, width[today], width) for width in (down, up))
        ahead = today | (np.isin(n, goals) & (n > rows))
        ends = (never_rise(end, ahead) for end in (middle - down, middle + up, middle + _ASSURANCE * up))
        low, high, assured = (from_scale(end, is_rate) for end in ends)
        estimate = np.maximum(estimate, _LEAST)
        return Band(
            n,
            estimate,
            np.minimum(low, estimate),
            np.maximum(high, estimate),
            np.maximum(assured, estimate),
            np.zeros(len(n)),
        )

    def floor(self, which: int) -> float:
        """Return the error of the best rule, which unlimited rows would reach."""
        return float(self._ahead(np.array([math.inf]), which)[0])

    def ingredients(self, n: FloatArray, middle: FloatArray, which: int) -> FloatArray:
        """Return what makes the band uncertain at each n, given the estimate on its scale."""
        is_rate, evidence = which == 0, self._evidence(which)
        values = np.array([self._level(which), evidence.seen, evidence.expected, evidence.chance])
        level, seen, expected, chance = to_scale(values, is_rate).tolist()
        room = chance if is_rate else 1.0
        return ingredients(n / self.fitted_rows, self._scatter(which), level - middle, seen - expected, room)

    def _scatter(self, which: int) -> float:
        if which == 0:
            return 0.5 / math.sqrt(self.fitted_rows)
        return float(self.observed.loss_stderr[-1] / self.observed.loss[-1])

    def _evidence(self, which: int) -> Mistakes:
        seen = (self.observed.mistakes, self.observed.loss)[which]
        fitted = follow_mistakes(self.observed.n, seen, self.fitted_rows, self.observed.n[-1:])[0]
        return Mistakes(float(seen[-1]), self.expected[which], fitted, self.chance[which], self.classes > 2)

    def _level(self, which: int) -> float:
        return float(self._evidence(which).find_level((RATE, LOSS)[which]))

    def logs(self, n: FloatArray, which: int) -> tuple[FloatArray, FloatArray]:
        """Return the logarithms of the ratios to the level, at n not below the rows, that the model and power laws expect."""
        # cross-validation trains on nine tenths; the model knows today's rows, and the step between is a small one
        model = np.log(self._expect(n)[which] / self._expect(np.array([float(self.fitted_rows)]))[which])
        seen = (self.observed.mistakes, self.observed.loss)[which]
        within = np.minimum(n, _FURTHEST * self.rows)
        return np.asarray(model), follow_mistakes(self.observed.n, seen, self.fitted_rows, within)[1]

    def _expect(self, n: FloatArray) -> FloatArray:
        return self.expectations(self.rate * n)

    def _ahead(self, n: FloatArray, which: int) -> FloatArray:
        return project(self._level(which), *self.logs(n, which), (RATE, LOSS)[which])

    def _before(self, n: FloatArray, which: int) -> FloatArray:
        """Return errors at fewer rows than today's: cross-validated ones, brought to the level of the forecast."""
        seen = np.maximum((self.observed.rate, self.observed.loss)[which], _LEAST)
        now = float(self._ahead(np.array([float(self.rows)]), which)[0])
        factor = now / min(seen[-1], now) if seen[-1] > 0 else 1.0
        values = np.minimum.accumulate(np.append(np.minimum(seen * factor, max(self.chance[which], now)), now))
        knots = np.log(np.append(self.observed.n, self.rows))
        curve = np.interp(
            np.log(np.maximum(n, 1.0)), np.append(0.0, knots), np.log(np.append(max(self.chance[which], now), values))
        )
        return np.asarray(np.exp(curve))
