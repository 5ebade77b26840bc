"""Drawings as SVG text: axes with round numbers, curves, areas and words, in colours that the style of a page sets.

Numbers on paper are rounded to a tenth of a pixel. Colours are variables such as ``var(--blue)``, so that a page can be dark.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from html import escape
from typing import Any

import numpy as np

from gpcurves.numerics.validation import FloatArray
from gpcurves.render.scene import Axis, plain

_LETTER = 6.7  # width of an average letter, in pixels


@dataclass(frozen=True)
class Plot:
    """Two axes in a box of so many pixels, with margins around it for numbers and names.

    Numbers at the vertical axis are ``shown`` times the value, with ``unit`` after them.
    """

    width: float
    height: float
    x: Axis
    y: Axis
    left: float = 58
    right: float = 16
    top: float = 24
    bottom: float = 46
    shown: float = 1.0
    unit: str = ""

    @classmethod
    def fitted(cls, width: float, height: float, x: Axis, y: Axis, **settings: Any) -> Plot:
        """Return axes whose left margin has room for the numbers of the vertical one, and for its name."""
        plot = cls(width, height, x, y, **settings)
        return replace(plot, left=30 + max((width_of(text) for _, text in plot.levels), default=20))

    @property
    def levels(self) -> list[tuple[float, str]]:
        """The numbers along the vertical axis: their values, and how they are written."""
        shown = replace(self.y, low=self.shown * self.y.low, high=self.shown * self.y.high)
        return [(each / self.shown, f"{plain(each)}{self.unit}") for each in round_numbers(shown)]

    def px(self, value: float) -> float:
        """Return where a value is along the horizontal axis."""
        return self.left + (self.width - self.left - self.right) * float(self.x.fraction(value))

    def py(self, value: float) -> float:
        """Return where a value is along the vertical axis; values beyond it are at its ends, with some room."""
        inside = float(np.clip(self.y.fraction(value), -0.5, 1.5))
        return self.height - self.bottom - (self.height - self.top - self.bottom) * inside

    def path(self, x: FloatArray, y: FloatArray, style: str, name: str = "") -> str:
        """Return a curve through points, of which those that are not numbers are left out."""
        seen = np.isfinite(y)
        points = zip(x[seen].tolist(), y[seen].tolist(), strict=True)
        data = "L".join(f"{self.px(a):.1f},{self.py(b):.1f}" for a, b in points)
        return tag("path", d=f"M{data}", style=f"fill: none; {style}", data_name=name) if data else ""

    def area(self, x: FloatArray, low: FloatArray, high: FloatArray, colour: str) -> str:
        """Return the region between two curves."""
        there = [f"{self.px(a):.1f},{self.py(b):.1f}" for a, b in zip(x.tolist(), high.tolist(), strict=True)]
        back = [f"{self.px(a):.1f},{self.py(b):.1f}" for a, b in zip(x.tolist(), low.tolist(), strict=True)]
        return tag("polygon", points=" ".join([*there, *reversed(back)]), style=f"fill: {colour}")

    def dots(self, x: FloatArray, y: FloatArray, size: float, style: str) -> str:
        """Return many dots as one path, which is short."""
        data = "".join(f"M{self.px(a):.1f} {self.py(b):.1f}h0" for a, b in zip(x.tolist(), y.tolist(), strict=True))
        return tag("path", d=data, style=f"stroke-width: {size}; stroke-linecap: round; fill: none; {style}")

    def upright(self, x: float, low: float, high: float, style: str) -> str:
        """Return a vertical line from one value to another."""
        at = self.px(x)
        return line(at, self.py(low), at, self.py(high), style)

    def axes(self) -> str:
        """Return grid, numbers and names of both axes."""
        base, parts, taken = self.height - self.bottom, [], -np.inf
        for value in round_numbers(self.x):
            at, text = self.px(value), plain(value)
            parts.append(line(at, self.top, at, base, ""))
            half = _LETTER * len(text) / 2 + 4
            if at - half > taken:  # numbers on a small screen keep apart
                parts.append(write(at, base + 18, text, "middle"))
                taken = at + half
        for value, text in self.levels:
            at = self.py(value)
            parts += [
                line(self.left, at, self.width - self.right, at, ""),
                write(self.left - 7, at + 4, text, "end"),
            ]
        middle = self.left + (self.width - self.left - self.right) / 2
        parts.append(write(middle, self.height - 8, self.x.label, "middle"))
        upright = (self.top + base) / 2
        parts.append(
            tag(
                "text",
                escape(self.y.label),
                x=13,
                y=f"{upright:.1f}",
                text_anchor="middle",
                transform=f"rotate(-90 13 {upright:.1f})",
            )
        )
        return f"<g class='axis'>{''.join(parts)}</g>"

    def drawing(self, parts: Iterable[str], label: str, name: str) -> str:
        """Return the whole drawing; what is outside the box of the axes stays visible only if it is among the axes."""
        inside = tag(
            "rect",
            x=self.left,
            y=self.top,
            width=f"{self.width - self.left - self.right:.1f}",
            height=f"{self.height - self.top - self.bottom:.1f}",
        )
        clip = f"<defs><clipPath id='clip-{name}'>{inside}</clipPath></defs>"
        return (
            f"<svg class='chart {name}' role='img' aria-label='{escape(label, quote=True)}' viewBox='0 0 {self.width:g} {self.height:g}' "
            f"width='{self.width:g}' height='{self.height:g}'>{clip}{''.join(parts)}</svg>"
        )

    def clipped(self, parts: Iterable[str], name: str) -> str:
        """Return marks, of which what is outside the box is hidden."""
        return f"<g clip-path='url(#clip-{name})'>{''.join(parts)}</g>"


def round_numbers(axis: Axis) -> list[float]:
    """Return where an axis has numbers: at 1, 2 and 5 times powers of ten if it is logarithmic and these are enough."""
    if not axis.log:
        return axis.ticks
    decades = range(math.floor(math.log10(axis.low)), math.ceil(math.log10(axis.high)) + 1)
    for digits, enough in (((1,), 4), ((1, 2, 5), 3), ((1, 2, 3, 5, 7), 3)):
        found = [tick for k in decades for d in digits if axis.low <= (tick := float(f"{d}e{k}")) <= axis.high]
        if len(found) >= enough:
            return found
    return axis.ticks


def tag(kind: str, inside: str = "", /, **attributes: object) -> str:
    """Return an element; underscores in names of attributes are hyphens, and empty attributes are left out."""
    given = "".join(
        f" {name.replace('_', '-')}='{escape(str(value), quote=True)}'"
        for name, value in attributes.items()
        if value != ""
    )
    return f"<{kind}{given}>{inside}</{kind}>" if inside else f"<{kind}{given}/>"


def line(x1: float, y1: float, x2: float, y2: float, style: str, **attributes: object) -> str:
    """Return a straight line."""
    ends = {name: f"{value:.1f}" for name, value in (("x1", x1), ("y1", y1), ("x2", x2), ("y2", y2))}
    return tag("line", **ends, style=style, **attributes)


def write(x: float, y: float, text: str, anchor: str = "start", style: str = "", **attributes: object) -> str:
    """Return words at a place."""
    return tag("text", escape(text) or " ", x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor, style=style, **attributes)


def width_of(text: str) -> float:
    """Return about how wide words are, in pixels."""
    return _LETTER * len(text)
