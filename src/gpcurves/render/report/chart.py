"""The learning curve of a report as SVG, in two shapes: for a desk and for a telephone.

What belongs to the goal is drawn into a group of its own, whose parts ``live.js`` moves with the slider.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpcurves.forecasting.measures import ForecastQuantity
from gpcurves.forecasting.result import Forecast
from gpcurves.forecasting.verdict import Prospects, RequiredN, rounded
from gpcurves.numerics.validation import FloatArray
from gpcurves.render.scene import Axis, move_apart
from gpcurves.render.svg import Plot, line, tag, width_of, write
from gpcurves.render.views.forecast import find_drawn

_LONGEST_NAME = 40
_LINE = 16.0  # height of a line of words, in pixels
LABELS = {
    "goal": "goal {goal}",
    "estimate": "about {count} rows",
    "assured": "80 % sure: {count}",
    "below": "the goal is below this picture",
    "above": "the goal is above this picture",
}
"""What is written beside the marks of a goal."""
_SPAN = "stroke: var(--orange); stroke-width: 7; opacity: 0.3"
_WORDS = "fill: var(--orange); paint-order: stroke; stroke: var(--paper); stroke-width: 4px; font-weight: 600"
_FILL = {"estimate": "var(--orange)", "assured": "var(--paper)"}
_DIAMOND = "M0,-6.5L6.5,0L0,6.5L-6.5,0Z"


@dataclass(frozen=True, eq=False)
class Curve:
    """What the chart shows: a forecast in one of its quantities, at these n, and goals between two ends."""

    forecast: Forecast
    prospects: Prospects
    n: FloatArray
    goals: tuple[float, float]  # the hardest and the easiest goal of the slider

    @property
    def quantity(self) -> ForecastQuantity:
        """Which error is drawn."""
        return self.prospects.measure.quantity

    @property
    def is_main(self) -> bool:
        """Whether this is the error that cross-validation, chosen inputs and the power law are about."""
        return self.quantity == self.forecast.quantity

    @property
    def names(self) -> list[tuple[str, str, str]]:
        """The name, the colour and the kind of mark of everything that is drawn, for a legend."""
        found = [("forecast", "var(--blue)", "line"), ("90 % interval", "var(--band)", "area")]
        if self.is_main:
            found += [
                ("cross-validation, ± standard error", "var(--ink)", "dot"),
                ("power law, for comparison", "var(--quiet)", "dotted"),
            ]
        if self.has_chosen:
            found.append((self.chosen, "var(--green)", "dashed"))
        if self.has_floor:
            found.append((self.floor, "var(--purple)", "line"))
        return found

    @property
    def has_chosen(self) -> bool:
        """Whether it is known what choosing inputs would save."""
        return self.is_main and len(self.forecast.remaining) > 1

    @property
    def chosen(self) -> str:
        """What the curve for chosen inputs is called."""
        return "if you choose the vertices" if self.forecast.unit.are_labels else "if you choose the inputs"

    @property
    def has_floor(self) -> bool:
        """Whether there is a lowest error; functions without noise have none."""
        return not self.forecast.deterministic

    @property
    def floor(self) -> str:
        """The lowest error in words: "noise floor 0.18 (0.11 to 0.26)"."""
        called, write = self.quantity.floor.partition(" (")[0], self.quantity.write
        low, high = (write(end, 2) for end in self.prospects.floor_interval)
        return f"{called} {write(self.prospects.floor, 2)} ({low} to {high})"

    def draw(self, goal: float | None, needed: RequiredN | None, called: str, *, wide: bool) -> tuple[str, Plot]:
        """Return the drawing, with a goal if there is one, and its axes."""
        forecast, n = self.forecast, self.n
        name, say = "wide" if wide else "narrow", forecast.unit.say
        plot = self._plot(wide=wide)
        estimate, low, high, _ = self.prospects.band.at(n)
        ends = [("90 % interval", high[-1], "var(--quiet)"), ("forecast", estimate[-1], "var(--blue)")]
        drawn = find_drawn(n, estimate, forecast.rows)
        curves = [plot.area(n[drawn], low[drawn], high[drawn], "var(--band)")]
        if self.is_main:
            others, more = self._others(plot)
            curves += others
            ends += more
        curves.append(plot.path(n[drawn], estimate[drawn], "stroke: var(--blue); stroke-width: 2.6", "forecast"))
        curves += self._seen(plot) if self.is_main else []
        if self.has_floor:
            ends.append((self.floor, self.prospects.floor, "var(--purple)"))
        at = plot.px(forecast.rows)
        side = "end" if at > plot.width / 2 else "start"
        parts = [
            plot.axes(),
            line(at, plot.top, at, plot.height - plot.bottom, "stroke: var(--quiet); stroke-width: 1"),
            write(at + (-4 if side == "end" else 4), plot.top - 8, say(f"you have {forecast.rows:,} rows"), side),
            plot.clipped(curves, name),
            self._floor(plot),
            _name_ends(plot, ends) if wide else "",
            goal_marks(plot, goal, needed, called, say),
            "<g class='cursor'></g>",
        ]
        what = f"{plot.y.label}, against the {plot.x.label}, with the forecast and its 90 % interval"
        return plot.drawing(parts, what, name), plot

    def _others(self, plot: Plot) -> tuple[list[str], list[tuple[str, float, str]]]:
        """Return the power law and the curve for chosen inputs, and what stands at their ends."""
        law = self.forecast.power_law_at(self.n)
        curves = [plot.path(self.n, law, "stroke: var(--quiet); stroke-width: 1.5; stroke-dasharray: 2 4")]
        ends = [("power law, for comparison", float(law[-1]), "var(--quiet)")]
        if self.has_chosen:
            later = self.n[self.n >= self.forecast.rows]
            chosen = self.forecast.designed(later)[self.quantity.key].to_numpy()
            curves.append(plot.path(later, chosen, "stroke: var(--green); stroke-width: 1.8; stroke-dasharray: 7 4"))
            ends.append((self.chosen, float(chosen[-1]), "var(--green)"))
        return curves, ends

    def _seen(self, plot: Plot) -> list[str]:
        """Return cross-validated errors with their standard errors."""
        seen = self.forecast.cross_validation
        below, above = seen.bars
        ends = zip(seen.n.tolist(), (seen.error - below).tolist(), (seen.error + above).tolist(), strict=True)
        bars = [plot.upright(x, a, b, "stroke: var(--ink); stroke-width: 1.5") for x, a, b in ends]
        return [*bars, plot.dots(seen.n, seen.error, 7, "stroke: var(--ink)")]

    def _plot(self, *, wide: bool) -> Plot:
        forecast, n = self.forecast, self.n
        _, lows, highs, _ = self.prospects.band.at(n)
        seen = forecast.cross_validation.error if self.is_main else lows[:1]
        high = max(float(highs.max()), float(seen.max()), self.goals[1])
        low = max(min(float(lows.min()), float(seen.min()), self.goals[0]), high / 1e4)
        target = " ".join(forecast.target.split())
        longest = _LONGEST_NAME if wide else 16
        target = target if len(target) <= longest else f"{target[: longest - 1]}…"
        room = (high / low) ** (0.06 if wide else 0.09)  # for words at the bottom
        y = Axis(f"{self.quantity.word} of {target} {forecast.unit.where}", low / room / 1.05, high * 1.05, True)
        x = Axis(forecast.unit.axis, float(n[0]) / 1.05, float(n[-1]), True)
        look: dict[str, Any] = {"shown": self.quantity.shown, "unit": self.quantity.unit}
        if wide:
            right = 24 + max(width_of(each[0]) for each in self.names if each[2] != "dot")
            return Plot.fitted(860, 430, x, y, right=right, **look)
        return Plot.fitted(358, 330, x, y, right=20, **look)

    def _floor(self, plot: Plot) -> str:
        """Return the lowest error: an interval at the right edge, where the number of rows has no end."""
        if not self.has_floor:
            return ""
        low, high = self.prospects.floor_interval
        at, style = plot.width - plot.right + 8, "stroke: var(--purple); stroke-width: 2"
        ends = [float(np.clip(plot.py(each), plot.top, plot.height - plot.bottom)) for each in (high, low)]
        caps = [line(at - 4, each, at + 4, each, style) for each in ends]
        middle = plot.py(self.prospects.floor)
        dot = tag("circle", cx=f"{at:.1f}", cy=f"{middle:.1f}", r=4, style="fill: var(--purple)")
        return f"<g>{line(at, ends[0], at, ends[1], style)}{''.join(caps)}{dot}</g>"


def _name_ends(plot: Plot, ends: list[tuple[str, float, str]]) -> str:
    """Write what curves are beside their right ends, moved apart if they are close."""
    placed = move_apart(np.array([plot.height - plot.py(value) for _, value, _ in ends]), _LINE)
    lowest, highest = plot.bottom + 4, plot.height - plot.top - 4
    placed += max(0.0, lowest - float(placed.min())) - max(0.0, float(placed.max()) - highest)
    x = plot.width - plot.right + 18
    words = zip(ends, placed.tolist(), strict=True)
    return "".join(write(x, plot.height - at + 4, text, style=f"fill: {colour}") for (text, _, colour), at in words)


def goal_marks(plot: Plot, goal: float | None, needed: RequiredN | None, called: str, say: Callable[[str], str]) -> str:
    """Return what is drawn for a goal: its line, the interval of rows that reach it, and the rows to plan for.

    All parts are there, hidden if they have no place, because the slider may give them one.
    """
    base, right = plot.height - plot.bottom, plot.width - plot.right
    seen = goal is not None and plot.y.low <= goal <= plot.y.high
    y = plot.py(goal) if goal is not None and seen else plot.top
    low, high, *ends = (None,) * 4 if needed is None or not seen else _numbers(needed)
    begin = None if low is None or low > plot.x.high else plot.px(max(low, plot.x.low))
    end = right if high is None or high > plot.x.high else plot.px(max(high, plot.x.low))
    thin = "stroke: var(--orange); stroke-width: 1.4"
    parts = [
        line(plot.left, y, right, y, thin, data_part="line", display=_display(seen)),
        line(begin or 0, y, end, y, _SPAN, data_part="span", display=_display(begin is not None)),
    ]
    words = [("goal", plot.left + 6, y - 6, "start", LABELS["goal"].format(goal=called) if seen else "")]
    for name, n, up in zip(("estimate", "assured"), ends, (7, 7 + _LINE), strict=True):
        at = None if n is None or not plot.x.low <= n <= plot.x.high else plot.px(n)
        x, shown = at or 0.0, _display(at is not None)
        mark = {"transform": f"translate({x:.1f} {y:.1f})", "data_part": name, "display": shown}
        text = "" if at is None else say(LABELS[name].format(count=rounded(n or 0)))
        parts += [
            line(x, y, x, base, f"{thin}; stroke-dasharray: 3 3", data_part=f"{name}-drop", display=shown),
            tag("path", d=_DIAMOND, style=f"{thin}; fill: {_FILL[name]}", **mark),
        ]
        beside, anchor = label_place(plot, x, text)
        words.append((name, beside, base - up, anchor, text))
    outside = "" if goal is None or seen else LABELS["below" if goal < plot.y.low else "above"]
    words.append(("outside", plot.left + 6, base - 7, "start", outside))
    parts += [write(x, up, text, anchor, _WORDS, data_part=f"{name}-text") for name, x, up, anchor, text in words]
    return f"<g class='goal'>{''.join(parts)}</g>"


def _display(shown: bool) -> str:
    return "" if shown else "none"


def label_place(plot: Plot, at: float, text: str) -> tuple[float, str]:
    """Return where words beside a vertical line begin or end: on its right if there is room."""
    return (at + 6, "start") if at + 8 + width_of(text) < plot.width - plot.right else (at - 6, "end")


def _numbers(needed: RequiredN) -> tuple[int | None, ...]:
    return needed.low, needed.high, needed.estimate, needed.assured


def sizes(forecast: Forecast, needed: RequiredN | None) -> FloatArray:
    """Return numbers of rows from the smallest cross-validated size to well beyond the user's rows, and to a goal not too far."""
    rows, unit = forecast.rows, forecast.unit
    furthest = max(rows, min(32 * rows, unit.sight))
    if needed is not None:
        marks = [mark for mark in (needed.estimate, needed.high, needed.assured) if mark is not None]
        furthest = min(max([furthest, *(1.4 * mark for mark in marks)]), 200 * rows, unit.limit)
    first = min(float(forecast.cross_validation.n[0]), rows)
    steps = max(2, math.ceil(16 * math.log2(max(2.0, furthest / first))))
    return np.unique(np.append(np.geomspace(first, furthest, min(steps, 160)).round(), rows))
