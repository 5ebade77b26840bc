r"""What forecasts are about, and the measures in which goals are set and answers are given.

Of numbers it is the root mean squared error; MAE, R² and RMSE in per cent of something follow from it:

.. math:: \mathrm{MAE} = q\,\mathrm{RMSE}, \qquad R^2 = 1 - \mathrm{RMSE}^2/\mathrm{Var}\,y

with q the ratio of mean absolute to root mean squared residuals of cross-validation (:math:`\sqrt{2/\pi}` for normal ones). Of classes it is
the error rate (the share of new rows whose class is predicted wrongly), and the log loss (minus the mean logarithm of the
probability that the right class was given).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from gpcurves.errors import InputError
from gpcurves.numerics.validation import FloatArray, positive, real

MeasureName = Literal["rmse", "mae", "r2", "percent", "relative", "error_rate", "log_loss"]
_MOST_DIGITS = 9  # of R², which may be close to 1


def significant(value: float, digits: int = 3) -> str:
    """Write a number with so many digits: 0.200, 12,300, or 4.07e-05 if it is very small or large."""
    if value == 0:
        return "0"
    power = int(f"{value:.{digits - 1}e}".partition("e")[2])
    if not -4 <= power < 6:
        return f"{value:.{digits - 1}e}"
    places = digits - 1 - power
    return f"{round(value, places):,.{max(0, places)}f}"


@dataclass(frozen=True)
class ForecastQuantity:
    """The error that a forecast is about, and everything that words, tables and pictures need to know about it.

    ``key`` names it in tables and JSON, ``floor_key`` the lowest value that unlimited data would reach, called ``floor`` in
    sentences. "the RMSE", "an RMSE" and "RMSE" are ``subject``, ``noun`` and ``word``. It is written as ``shown`` times its value
    with ``unit`` after it. To the power of ``degree`` it is a sum of a reducible and an irreducible part, ``parts`` in words.
    Intervals narrower than ``narrow`` are never called wide. Ends of intervals below ``least`` are only said to be less than that.
    """

    key: MeasureName
    word: str
    subject: str
    noun: str
    floor_key: str
    floor: str
    parts: str
    degree: int = 1
    shown: float = 1.0
    unit: str = ""
    narrow: float = 0.0
    least: float = 0.0

    @property
    def is_of_classes(self) -> bool:
        """Whether the target is a class, not a number."""
        return self.key != "rmse"

    def write(self, value: float, digits: int = 3) -> str:
        """Write a value: "0.31" or "12.4 %"."""
        return f"{significant(self.shown * value, digits)}{self.unit}"


_NOISE_FLOOR, _BEST_RULE = "noise floor (irreducible error)", "lowest possible error (that of the best rule)"
ROOT_MEAN_SQUARE = ForecastQuantity(
    "rmse", "RMSE", "the RMSE", "an RMSE", "noise_rmse", _NOISE_FLOOR, "mean squared error", degree=2
)
ERROR_RATE = ForecastQuantity(
    "error_rate",
    "error rate",
    "the error rate",
    "an error rate",
    "floor_error_rate",
    _BEST_RULE,
    "error rate",
    shown=100.0,
    unit=" %",
    narrow=0.05,
    least=0.001,
)
LOG_LOSS = ForecastQuantity(
    "log_loss", "log loss", "the log loss", "a log loss", "floor_log_loss", _BEST_RULE, "log loss", narrow=0.1
)
FORECAST_QUANTITIES = {each.key: each for each in (ROOT_MEAN_SQUARE, ERROR_RATE, LOG_LOSS)}


@dataclass(frozen=True)
class ErrorMeasure:
    """A way to express errors: ``factor`` times the quantity that is forecast, or for R² one minus the square of that.

    ``subject`` and ``noun`` stand in sentences: "the MAE is about 0.3", "an MAE of 0.3", with ``unit`` after the number, which is
    ``shown`` times the value, and ``after`` at the end: "the RMSE is about 30 % of the target's standard deviation".
    """

    name: MeasureName
    factor: float
    subject: str
    noun: str
    unit: str = ""
    after: str = ""
    shown: float = 1.0
    quantity: ForecastQuantity = ROOT_MEAN_SQUARE

    @classmethod
    def of(cls, quantity: ForecastQuantity) -> ErrorMeasure:
        """Return the quantity itself as a measure."""
        words = (quantity.subject, quantity.noun, quantity.unit)
        return cls(quantity.key, 1.0, *words, shown=quantity.shown, quantity=quantity)

    @property
    def short(self) -> str:
        """Its name on an axis or in a table: "RMSE"."""
        return self.noun.partition(" ")[2]

    @property
    def rises(self) -> bool:
        """Whether larger values are better."""
        return self.name == "r2"

    def from_error(self, error: FloatArray | float) -> FloatArray | float:
        """Return the value of the measure."""
        share = self.factor * error
        return 1 - share**2 if self.rises else share

    def to_error(self, value: float) -> float:
        """Return the error at which the measure has this value."""
        return (math.sqrt(1 - value) if self.rises else value) / self.factor

    def write(self, error: float, digits: int = 3) -> str:
        """Write the value of the measure that belongs to an error."""
        value = float(self.from_error(error))
        if not self.rises:
            return f"{significant(self.shown * value, digits)}{self.unit}"
        # of 0.99987 the distance from 1 matters
        places = digits - 1 - math.floor(math.log10(max(1 - value, 1e-300)))
        return f"{value:.{min(max(places, digits - 1), _MOST_DIGITS)}f}"

    def write_interval(self, low: float, high: float, digits: int = 3) -> str:
        """Write an interval of errors in this measure, the smaller value first."""
        ends, least = (high, low) if self.rises else (low, high), self.quantity.least
        texts = [self.write(end, digits) if end >= least else f"less than {self.write(least, 1)}" for end in ends]
        return " to ".join(dict.fromkeys(texts))

    def write_goal(self, error: float) -> str:
        """Write a goal as a person would: with four digits, and no zeros at the end."""
        text = self.write(error, 4).removesuffix(self.unit)
        number, _, power = text.partition("e")
        number = number.rstrip("0").rstrip(".") if "." in number else number
        return f"{number}e{power}{self.unit}" if power else f"{number}{self.unit}"

    def phrase(self, error: float) -> str:
        """Write a goal with its measure: "an RMSE of 0.3"."""
        return f"{self.noun} of {self.write_goal(error)}{self.after}"


_WORDS = ("the RMSE", "an RMSE")
RMSE = ErrorMeasure.of(ROOT_MEAN_SQUARE)
CLASS_MEASURES = {each.key: ErrorMeasure.of(each) for each in (ERROR_RATE, LOG_LOSS)}


@dataclass(frozen=True)
class ForecastGoal:
    """An error to reach: its value in the measure that it was set in, and as the quantity that is forecast."""

    measure: ErrorMeasure
    value: float
    error: float

    @property
    def rmse(self) -> float:
        """The error of a goal for numbers."""
        return self.error


@dataclass(frozen=True)
class Spread:
    """What measures refer to: standard deviation and mean absolute value of the target, and the ratio of MAE to RMSE."""

    deviation: float
    mean_absolute: float
    ratio: float

    def measure(self, name: MeasureName) -> ErrorMeasure:
        """Return a measure by its name."""
        if name == "mae":
            return ErrorMeasure("mae", self.ratio, "the MAE", "an MAE")
        if name == "r2":
            return ErrorMeasure("r2", 1 / self.deviation, "R²", "an R²")
        if name == "percent":
            return ErrorMeasure("percent", 100 / self.deviation, *_WORDS, " %", " of the target's standard deviation")
        if name == "relative":
            if not self.mean_absolute > 0:
                raise InputError("relative errors need a target that is not 0 in every row")
            return ErrorMeasure("relative", 100 / self.mean_absolute, *_WORDS, " %", " of the mean absolute target")
        return RMSE

    def goal(self, called: str = "the goal", **values: float | None) -> ForecastGoal:
        """Return the goal that is set in exactly one of the measures rmse, mae, r2 and percent."""
        given = {name: value for name, value in values.items() if value is not None}
        if len(given) != 1:
            listed = ", ".join(given) or "none"
            raise InputError(f"give exactly one goal: rmse, mae, r2 or percent, got {listed}")
        ((name, value),) = given.items()
        number = real(called, value) if name == "r2" else positive(called, value)
        if name == "r2" and not number < 1:
            raise InputError(f"{called} must be below 1, which is a perfect R², got {number:g}")
        measure = self.measure(name)  # type: ignore[arg-type]
        return ForecastGoal(measure, number, measure.to_error(number))


def class_goal(called: str = "the goal", **values: float | None) -> ForecastGoal:
    """Return the goal of a forecast of classes, set as exactly one of error_rate and log_loss."""
    given = {name: value for name, value in values.items() if value is not None}
    wrong = [name for name in given if name not in CLASS_MEASURES]
    if wrong:
        raise InputError(f"the target has classes: set the goal as error_rate or log_loss, got {', '.join(wrong)}")
    if len(given) != 1:
        raise InputError(f"give exactly one goal: error_rate or log_loss, got {', '.join(given) or 'none'}")
    ((name, value),) = given.items()
    number = positive(called, value)
    if name == "error_rate" and not number < 1:
        raise InputError(
            f"{called} must be below 1: an error rate is a share of the rows (0.05 for 5 %), got {number:g}"
        )
    return ForecastGoal(CLASS_MEASURES[name], number, number)  # type: ignore[index]
