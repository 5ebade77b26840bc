r"""The measures in which goals are set and answers are given: RMSE, MAE, R², and RMSE in per cent of something.

All of them follow from the root mean squared error, in which forecasts are made:

.. math:: \mathrm{MAE} = q\,\mathrm{RMSE}, \qquad R^2 = 1 - \mathrm{RMSE}^2/\mathrm{Var}\,y

with q the ratio of mean absolute to root mean squared residuals of cross-validation (:math:`\sqrt{2/\pi}` for normal ones).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from gpcurves.errors import InputError
from gpcurves.numerics.validation import FloatArray, positive, real

MeasureName = Literal["rmse", "mae", "r2", "percent", "relative"]
_MOST_DIGITS = 9  # of R², which may be close to 1


@dataclass(frozen=True)
class ErrorMeasure:
    """A way to express errors: ``factor`` times the RMSE, or for R² one minus the square of that.

    ``subject`` and ``noun`` stand in sentences: "the MAE is about 0.3", "an MAE of 0.3", with ``unit`` after the number and
    ``after`` at the end: "the RMSE is about 30 % of the target's standard deviation".
    """

    name: MeasureName
    factor: float
    subject: str
    noun: str
    unit: str = ""
    after: str = ""

    @property
    def rises(self) -> bool:
        """Whether larger values are better."""
        return self.name == "r2"

    def from_rmse(self, rmse: FloatArray | float) -> FloatArray | float:
        """Return the value of the measure."""
        share = self.factor * rmse
        return 1 - share**2 if self.rises else share

    def to_rmse(self, value: float) -> float:
        """Return the RMSE at which the measure has this value."""
        return (math.sqrt(1 - value) if self.rises else value) / self.factor

    def write(self, rmse: float, digits: int = 3) -> str:
        """Write the value of the measure that belongs to an RMSE."""
        value = float(self.from_rmse(rmse))
        if not self.rises:
            return f"{value:.{digits}g}{self.unit}"
        # of 0.99987 the distance from 1 matters
        places = digits - 1 - math.floor(math.log10(max(1 - value, 1e-300)))
        return f"{value:.{min(max(places, digits - 1), _MOST_DIGITS)}f}"

    def write_interval(self, low: float, high: float, digits: int = 3) -> str:
        """Write an interval of RMSEs in this measure, the smaller value first."""
        ends = (high, low) if self.rises else (low, high)
        return " to ".join(self.write(end, digits) for end in ends)

    def write_goal(self, rmse: float) -> str:
        """Write a goal as a person would: with four digits, and no zeros at the end."""
        text = self.write(rmse, 4)
        return text.rstrip("0").rstrip(".") if self.rises else text

    def phrase(self, rmse: float) -> str:
        """Write a goal with its measure: "an RMSE of 0.3"."""
        return f"{self.noun} of {self.write_goal(rmse)}{self.after}"


_WORDS = ("the RMSE", "an RMSE")
RMSE = ErrorMeasure("rmse", 1.0, *_WORDS)


@dataclass(frozen=True)
class ForecastGoal:
    """An error to reach: its value in the measure that it was set in, and as an RMSE in the target's own units."""

    measure: ErrorMeasure
    value: float
    rmse: float


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
        return ForecastGoal(measure, number, measure.to_rmse(number))
