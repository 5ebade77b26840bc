"""A forecast: the error to expect with more rows and the rows that a goal needs, as a picture, and as a report (see `render.report`)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from gpcurves.forecasting.measures import ErrorMeasure, ForecastGoal
from gpcurves.forecasting.questions import Answers, Questions
from gpcurves.forecasting.result import NOTHING, Forecast, Goal
from gpcurves.forecasting.units import Unit
from gpcurves.forecasting.verdict import RequiredN, Verdict, rounded
from gpcurves.numerics.validation import FloatArray
from gpcurves.render.page import as_html, tagged
from gpcurves.render.scene import Area, Axis, Line, Points, Scene, Stroke, Text
from gpcurves.render.views import View

if TYPE_CHECKING:
    from gpcurves.render.report.content import Provenance

_ESTIMATE, _CHOSEN, _POWER = Stroke("#0072B2", width=2.4), Stroke("#009E73", "dash", 1.6), Stroke("#8c8c8c", "dot", 1.5)
_BAND, _SEEN, _GOAL, _NOISE, _NOW = "#cfe3f1", "#000000", "#D55E00", "#7a4f9a", "#666666"
_EDGE = "#3d7ba6"
_LONGEST_NAME = 40
_BESIDE = 1.25  # the picture is so much wider than its largest n, to show the noise floor there
_FURTHEST = 200  # a picture reaches to this multiple of the rows, if a goal is as far away


@dataclass(frozen=True, eq=False)
class ForecastView(View):
    """A forecast, the numbers of rows to list, and a goal."""

    result: Forecast
    n: object = None
    goal: Goal = None
    asked: Questions = NOTHING
    provenance: Provenance | None = None

    @cached_property
    def aim(self) -> ForecastGoal | None:
        """The goal with its measure."""
        return self.result.as_goal(self.goal)

    @cached_property
    def measure(self) -> ErrorMeasure:
        """The measure in which errors are told."""
        return self.asked.measure(self.result, self.aim)

    @cached_property
    def verdict(self) -> Verdict:
        """What more rows would do, and whether the goal can be reached."""
        return self.result.verdict(self.aim, self.asked)

    @cached_property
    def further(self) -> Answers:
        """The answers to further questions."""
        return self.asked.answer(self.result)

    @cached_property
    def needed(self) -> RequiredN | None:
        """The rows that the goal needs; None without a goal."""
        return None if self.aim is None else self.result.require(self.aim)

    @property
    def headline(self) -> str:
        """The answer in a few words: how many rows the goal needs if that is the question, or the verdict."""
        label = self.verdict.label.capitalize()
        if label != "More data helps" or self.needed is None or (self.needed.estimate or 0) <= self.result.rows:
            return label
        aim = "" if self.aim is None else f" for {self.measure.phrase(self.aim.error)}"
        count = self.unit.say_number(rounded(self.needed.estimate or 0))
        return self.unit.say(f"{label}: about {count} rows") + aim

    @property
    def unit(self) -> Unit:
        """What n counts."""
        return self.result.unit

    def to_frame(self) -> pd.DataFrame:
        return self.result.to_frame(self.n, self.measure.name)

    def to_json(self) -> str:
        return self.result.to_json(n=self.n, goal=self.aim, asked=self.asked)

    def notebook(self) -> str:
        said = as_html(" ".join(self.verdict.sentences))
        return f"<p>{tagged('b', self.headline)}. {said}</p>{self.to_frame().to_html(index=False)}"

    def page(self) -> str:
        from gpcurves.render.report.content import Provenance, Report
        from gpcurves.render.report.page import report_page  # pictures do not need it

        made = self.provenance or Provenance()
        return report_page(Report(self.result, self.aim, self.n, self.asked, made))

    def scene(self) -> Scene:
        forecast, n = self.result, self._sizes()
        table, later = forecast.at(n), n[n >= forecast.rows]
        low, high = (table[end].to_numpy() for end in ("low", "high"))
        seen = forecast.cross_validation
        quantity, error, bars = forecast.quantity, seen.error, seen.bars
        say = self.unit.say
        x = Axis(self.unit.axis, n[0] / 1.05, n[-1] * (_BESIDE if self.has_floor else 1.05), True, say("rows"))
        y = self._error_axis(np.concatenate((low, error)), np.concatenate((high, error)))
        drawn = find_drawn(n, table[quantity.key].to_numpy(), forecast.rows)
        band = Area(n[drawn], low[drawn], high[drawn], _BAND, name="90 % interval", layer=0)
        scene = Scene(x, y, self.headline, marks=[band])
        scene.add_upright(forecast.rows, Stroke("#bbbbbb", width=1))
        lines = [
            Line(n, forecast.power_law_at(n), _POWER, name="power law"),
            Line(n[drawn], table[quantity.key].to_numpy()[drawn], _ESTIMATE, name="forecast", layer=4),
        ]
        if len(forecast.remaining) > 1:  # what choosing inputs would save is known
            chosen = forecast.designed(later)[quantity.key].to_numpy()
            lines.append(Line(later, chosen, _CHOSEN, name="chosen", layer=3))
        words = "cross-validation, ± standard error"
        scene.marks += [
            *lines,
            Points(seen.n, error, _SEEN, *bars, name="cross-validation", label=words, layer=5),
            Text(forecast.rows, y.at(0.01), say(f"you have {forecast.rows:,} rows"), _NOW),
        ]
        called = {"chosen": "chosen vertices" if self.unit.are_labels else "chosen inputs"}
        names = [replace(line, name=called.get(line.name, line.name)) for line in lines]
        if self.has_floor:
            names.append(self._mark_floor(scene))
        scene.name_ends(names)
        scene.label_point(x.at(0.8), float(np.interp(x.at(0.8), n, high)), "90 % interval", _EDGE)
        # a goal for another quantity than the one that is drawn has no place here
        aim = self.aim if self.aim is not None and self.aim.measure.quantity == quantity else None
        if aim is not None and y.low < aim.error < y.high:
            scene.add_level(aim.error, Stroke(_GOAL, width=1.4), "goal")
        if aim is not None and self.needed is not None:
            _mark_goal(scene, aim, self.needed, self.measure, self.unit)
        return scene

    @property
    def has_floor(self) -> bool:
        """Whether there is a noise floor; labels without noise have none."""
        return not self.result.deterministic and self.result.floor > 0

    def _mark_floor(self, scene: Scene) -> Line:
        """Mark the noise floor and its interval beside the largest n, where the forecast approaches it; return the line."""
        forecast, x, y = self.result, scene.x, scene.y
        prospects, quantity = forecast.prospects(), forecast.quantity
        low, high = (float(np.clip(end, y.low, y.high)) for end in prospects.floor_interval)
        at = np.array([x.high / _BESIDE * 1.03, x.high])
        called = quantity.floor.partition(" (")[0]
        words = f"{called}, 90 % interval {' to '.join(quantity.write(end, 2) for end in prospects.floor_interval)}"
        scene.marks.append(
            Area(at, np.full(2, low), np.full(2, high), _NOISE, 0.35, name="floor", label=words, layer=1)
        )
        line = Line(
            np.array([x.low, x.high]), np.full(2, forecast.floor), Stroke(_NOISE, "dashdot", 1), name="noise", layer=1
        )
        scene.marks.append(line)
        return replace(line, name=f"{called} {quantity.write(forecast.floor, 2)}")

    def _sizes(self) -> FloatArray:
        """Return numbers of rows from the smallest cross-validated size to well beyond the user's rows."""
        rows, furthest = self.result.rows, int(max(self.result.rows, min(16 * self.result.rows, self.unit.sight)))
        if self.needed is not None:
            marks = [mark for mark in (self.needed.estimate, self.needed.high, self.needed.assured) if mark is not None]
            furthest = int(min(max([furthest, *(1.5 * mark for mark in marks)]), _FURTHEST * rows, self.unit.limit))
        return np.unique(np.append(np.geomspace(self.result.cross_validation.n[0], furthest, 60).round(), rows))

    def _error_axis(self, lows: FloatArray, highs: FloatArray) -> Axis:
        low, high = max(float(lows.min()), float(highs.max()) / 1e4), float(highs.max())
        quantity = self.result.quantity
        if (
            self.aim is not None and self.aim.measure.quantity == quantity
        ):  # a goal far away is not worth a picture of nothing else
            low, high = min(low, max(self.aim.error, low / 10)), max(high, min(self.aim.error, high * 10))
        target = " ".join(self.result.target.split())
        target = target if len(target) <= _LONGEST_NAME else f"{target[: _LONGEST_NAME - 1]}…"
        return Axis(f"{quantity.word} of {target}, {self.unit.where}", low / 1.15, high * 1.15, True, quantity.word)


def find_drawn(n: FloatArray, error: FloatArray, rows: int) -> slice:
    """Return the part of a forecast to draw: of few rows, all after the last size at which it rises to meet what is known at n = rows."""
    rises = np.flatnonzero((np.diff(error) > 1e-9 * error[:-1]) & (n[1:] <= rows))
    return slice(int(rises[-1]) + 1 if len(rises) else 0, None)


def _mark_goal(scene: Scene, aim: ForecastGoal, needed: RequiredN, measure: ErrorMeasure, unit: Unit) -> None:
    """Mark the interval of rows that reach a goal and the estimate, or say where the goal is if that is out of sight."""
    x, y, goal = scene.x, scene.y, aim.error
    called = (
        measure.write_goal(goal)
        if measure.name == aim.measure.quantity.key
        else f"{measure.noun.split()[-1]} {measure.write_goal(goal)}"
    )
    if not y.low < goal < y.high:
        below = goal <= y.low
        said = f"the goal of {called} is far {'below' if below else 'above'} this picture"
        at = x.at(0.005), y.at(0.005 if below else 0.995)
        scene.marks.append(Text(*at, said, _GOAL, up="bottom" if below else "top"))
        return
    if needed.low is not None and needed.low < x.high:
        ends = np.array([needed.low, min(needed.high or x.high, x.high)])
        span = unit.say(f"rows for the goal, 90 % interval{'' if needed.high else ', no upper limit'}")
        thick = Stroke("#f2c4a6", width=6)
        scene.marks.append(Line(ends, np.array([goal, goal]), thick, name="interval", label=span, layer=1))
    if needed.estimate is not None and needed.estimate <= x.high:
        scene.add_diamond(needed.estimate, goal, _GOAL, 7, "needed")
        scene.label_point(needed.estimate, goal, unit.say(f"about {rounded(needed.estimate)} rows"), _GOAL)
    scene.label_level(goal, f"goal {called}", _GOAL)
