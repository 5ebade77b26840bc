"""What a report is about: a forecast, a goal and further questions, and where they come from."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

import numpy as np

from gpcurves.forecasting.headline import Outlook
from gpcurves.forecasting.intervals import goal_grid
from gpcurves.forecasting.measures import ErrorMeasure, ForecastGoal
from gpcurves.forecasting.questions import Answers, Questions
from gpcurves.forecasting.result import Forecast
from gpcurves.forecasting.units import Unit
from gpcurves.forecasting.verdict import Prospects, RequiredN, Verdict
from gpcurves.render.report.chart import Curve, sizes

_NEXT = 5  # rows to measure next that are listed if nobody asks for another number
_ROOM = 3.0  # a goal beyond what the slider would reach widens it up to this factor


@dataclass(frozen=True)
class Provenance:
    """Where a forecast comes from: names of files, the command that made it, and when."""

    files: tuple[str, ...] = ()
    command: str = ""
    made: datetime = field(default_factory=lambda: datetime.now().astimezone())


@dataclass(frozen=True, eq=False)
class Report:
    """A forecast, a goal, the numbers of rows to list, further questions, and where all this comes from."""

    forecast: Forecast
    aim: ForecastGoal | None
    n: object
    asked: Questions
    provenance: Provenance

    @cached_property
    def prospects(self) -> Prospects:
        """What the answers rest on."""
        return self.forecast.prospects(self.aim, self.asked)

    @cached_property
    def verdict(self) -> Verdict:
        """What more rows would do, and whether the goal can be reached."""
        return self.forecast.verdict(self.aim, self.asked)

    @cached_property
    def headline(self) -> str:
        """The answer in one sentence."""
        return self.forecast.headline(self.aim, self.asked)

    @cached_property
    def further(self) -> Answers:
        """The answers to further questions, and rows to measure next, for which nobody needs to ask."""
        asked = self.asked
        free = np.inf if self.forecast.vertices is None else self.forecast.vertices - self.forecast.rows
        if asked.next is None and self.forecast.chooser is not None and free >= 1:
            asked = asked.ask_next(int(min(_NEXT, free)))
        return asked.answer(self.forecast)

    @cached_property
    def needed(self) -> RequiredN | None:
        """The rows that the goal needs; None without a goal."""
        return None if self.aim is None else self.prospects.require(self.aim.error)

    @property
    def measure(self) -> ErrorMeasure:
        """The measure in which errors are told."""
        return self.prospects.measure

    @property
    def unit(self) -> Unit:
        """What n counts."""
        return self.forecast.unit

    @cached_property
    def goals(self) -> tuple[float, float]:
        """The hardest and the easiest goal that can be set by hand, as errors: the second is met already, the first never."""
        low = 0.93 * float(self.prospects.band.at(self._sizes[-1:])[1][0])
        high = 1.05 * self.prospects.now.high
        if self.aim is not None:
            low, high = min(low, max(self.aim.error, low / _ROOM)), max(high, min(self.aim.error, high * _ROOM))
        return low, high

    @property
    def prefix(self) -> str:
        """What stands before a goal in the chart, if it is set in another measure than the one that is drawn."""
        return "" if self.measure.name == self.measure.quantity.key else f"{self.measure.short} "

    @cached_property
    def suggestion(self) -> float:
        """The goal, or one to begin with: the error to expect with four times the rows, in few digits."""
        if self.aim is not None:
            return self.aim.error
        value = float(self.measure.from_error(self.prospects.later.estimate))
        return self.measure.to_error(float(f"{value:.2g}")) if not self.measure.rises else self.prospects.later.estimate

    @cached_property
    def _sizes(self) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        return sizes(self.forecast, self.needed)

    @cached_property
    def curve(self) -> Curve:
        """The learning curve, as it is drawn."""
        return Curve(self.forecast, self.prospects, self._sizes, self.goals)

    def live(self) -> dict[str, object]:
        """Return what the page needs to answer for another goal: the band where goals are looked for, and words."""
        band, rows = self.prospects.band, self.forecast.rows
        marked = np.isin(band.n, goal_grid(rows))
        outlook, measure = Outlook.of(self.prospects), self.measure
        names = ("n", "estimate", "low", "high", "assured")
        return {
            "band": {name: getattr(band, name)[marked].tolist() for name in names},
            "outlook": {name: getattr(outlook, name) for name in Outlook.__dataclass_fields__},
            "measure": {
                "factor": measure.factor * measure.shown,
                "rises": measure.rises,
                "noun": measure.noun,
                "short": measure.short,
                "prefix": self.prefix,
                "unit": measure.unit,
                "after": measure.after,
            },
            "goal": None if self.aim is None else self.aim.error,
            "start": self.suggestion,
            "goals": list(self.goals),
        }
