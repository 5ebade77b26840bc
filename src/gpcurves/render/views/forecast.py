"""A forecast: the error to expect with more rows, its interval, and the rows that a goal needs."""

from __future__ import annotations

import html
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gpcurves.forecasting.result import Forecast
from gpcurves.forecasting.verdict import RequiredN, Verdict, rounded
from gpcurves.numerics.validation import FloatArray
from gpcurves.render.labels import label_level, label_point
from gpcurves.render.page import words
from gpcurves.render.scene import Area, Axis, Line, Mark, Points, Scene, Stroke, Text, level, upright
from gpcurves.render.views import View

if TYPE_CHECKING:
    import pandas as pd

_ESTIMATE, _CHOSEN, _POWER = Stroke("#0072B2", width=2.4), Stroke("#009E73", "dash", 1.6), Stroke("#8c8c8c", "dot", 1.5)
_BAND, _SEEN, _GOAL, _NOISE, _NOW = "#cfe3f1", "#000000", "#D55E00", "#7a4f9a", "#666666"
_LONGEST_NAME = 40
_FURTHEST = 200
"""A picture reaches to this multiple of the rows, if a goal is as far away."""


@dataclass(frozen=True, eq=False)
class ForecastView(View):
    """A forecast, the numbers of rows to list, and a goal."""

    result: Forecast
    n: object = None
    goal: float | None = None

    @cached_property
    def verdict(self) -> Verdict:
        """What more rows would do, and whether the goal can be reached."""
        return self.result.verdict(self.goal)

    @cached_property
    def needed(self) -> RequiredN | None:
        """The rows that the goal needs; None without a goal."""
        return None if self.goal is None else self.result.required_n(self.goal)

    @property
    def headline(self) -> str:
        """The answer in a few words: how many rows the goal needs if that is the question, or the verdict."""
        label = self.verdict.label.capitalize()
        if label != "More data helps" or self.needed is None or (self.needed.estimate or 0) <= self.result.rows:
            return label
        return f"{label}: about {rounded(self.needed.estimate or 0)} rows for an RMSE of {self.goal:.4g}"

    def to_frame(self) -> pd.DataFrame:
        return self.result.to_frame(self.n)

    def to_json(self) -> str:
        return self.result.to_json(n=self.n, goal=self.goal)

    def notebook(self) -> str:
        said = words(" ".join(self.verdict.sentences))
        return f"<p><b>{html.escape(self.headline)}</b>. {said}</p>{self.to_frame().to_html(index=False)}"

    def page(self) -> str:
        from gpcurves.render.views.report import report

        return report(self)

    def scene(self) -> Scene:
        forecast, n = self.result, self._sizes()
        table, later = forecast.at(n), n[n >= forecast.rows]
        low, high = (table[end].to_numpy() for end in ("low", "high"))
        seen = forecast.cross_validation
        rmse = np.sqrt(seen.mse)
        bars = (rmse * (1 - np.exp(-seen.stderr / 2)), rmse * (np.exp(seen.stderr / 2) - 1))
        x = Axis("number of labelled rows", n[0] / 1.05, n[-1] * 1.05, True, "rows")
        y = self._error_axis(np.concatenate((low, rmse)), np.concatenate((high, rmse)))
        chosen = forecast.designed(later)["rmse"].to_numpy()
        marks: list[Mark] = [
            Area(n, low, high, _BAND, label="90 % interval", layer=0),
            upright(forecast.rows, y, Stroke("#bbbbbb", width=1)),
            Line(n, np.sqrt(forecast.power_law(n)), _POWER, name="power law", label="power law, for comparison"),
            Line(later, chosen, _CHOSEN, name="chosen", label="if you choose the inputs of new rows", layer=3),
            Line(n, table["rmse"].to_numpy(), _ESTIMATE, name="forecast", label="forecast", layer=4),
            Points(
                seen.n, rmse, _SEEN, *bars, name="cross-validation", label="cross-validation, ± standard error", layer=5
            ),
            Text(forecast.rows, y.at(0.01), f"you have {forecast.rows:,} rows", _NOW),
        ]
        if y.low < forecast.noise_rmse < y.high and not forecast.deterministic:
            floor = forecast.noise_rmse
            marks.append(level(floor, x, Stroke(_NOISE, "dashdot", 1), name="noise"))
            said = f"noise floor (irreducible error), about {floor:.3g}"
            marks.append(label_level(floor, said, _NOISE, [*marks, *self._goal_level(x, y)], x, y))
        marks += self._goal_marks(marks, x, y)
        return Scene(x, y, tuple(marks), self.headline)

    def _sizes(self) -> FloatArray:
        """Return numbers of rows from the smallest cross-validated size to well beyond the user's rows."""
        rows, furthest = self.result.rows, 16 * self.result.rows
        if self.needed is not None:
            marks = [mark for mark in (self.needed.estimate, self.needed.high, self.needed.assured) if mark is not None]
            furthest = int(min(max([furthest, *(1.5 * mark for mark in marks)]), _FURTHEST * rows))
        return np.unique(np.append(np.geomspace(self.result.cross_validation.n[0], furthest, 120).round(), rows))

    def _error_axis(self, lows: FloatArray, highs: FloatArray) -> Axis:
        low, high = max(float(lows.min()), float(highs.max()) / 1e4), float(highs.max())
        if self.goal is not None:  # a goal far away is not worth a picture of nothing else
            low, high = min(low, max(self.goal, low / 10)), max(high, min(self.goal, high * 10))
        target = " ".join(self.result.target.split())
        target = target if len(target) <= _LONGEST_NAME else f"{target[: _LONGEST_NAME - 1]}…"
        return Axis(f"RMSE of {target}, on new rows", low / 1.15, high * 1.15, True, "RMSE")

    def _goal_level(self, x: Axis, y: Axis) -> list[Line]:
        if self.goal is None or not y.low < self.goal < y.high:
            return []
        return [level(self.goal, x, Stroke(_GOAL, width=1.4), name="goal")]

    def _goal_marks(self, drawn: list[Mark], x: Axis, y: Axis) -> list[Mark]:
        """Return the goal, the interval of rows that reach it and the estimate; or where it is if that is out of sight."""
        goal, needed = self.goal, self.needed
        if goal is None or needed is None:
            return []
        if not y.low < goal < y.high:
            below = goal <= y.low
            said = f"the goal of {goal:.4g} is far {'below' if below else 'above'} this picture"
            return [Text(x.at(0.005), y.at(0.005 if below else 0.995), said, _GOAL, up="bottom" if below else "top")]
        marks: list[Mark] = [*self._goal_level(x, y)]
        if needed.low is not None and needed.low < x.high:
            ends = np.array([needed.low, min(needed.high or x.high, x.high)])
            limit = "" if needed.high else ", no upper limit"
            span, thick = f"rows for the goal, 90 % interval{limit}", Stroke("#f2c4a6", width=6)
            marks.append(Line(ends, np.array([goal, goal]), thick, name="interval", label=span, layer=1))
        if needed.estimate is not None and needed.estimate <= x.high:
            at = float(needed.estimate)
            marks.append(
                Points(np.array([at]), np.array([goal]), _GOAL, symbol="diamond", size=7, name="needed", layer=6)
            )
            said = f"about {rounded(needed.estimate)} rows"
            marks.append(label_point((at, goal), said, _GOAL, [*drawn, *marks], x, y))
        return [*marks, label_level(goal, f"goal {goal:.4g}", _GOAL, [*drawn, *marks], x, y)]
