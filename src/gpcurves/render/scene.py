"""What a picture shows, as plain data: two axes and the marks between them, drawn alike by Matplotlib and by Plotly."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from gpcurves.numerics.validation import FloatArray

_STEPS = ((1,), (1, 2, 5), (1, 2, 3, 5, 7), (1, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9))
"""Leading digits of the numbers on a logarithmic axis, from few to many."""
_ENOUGH, _MOST = 5, 12
"""So many numbers on an axis let a reader find a value; more would touch each other."""


@dataclass(frozen=True)
class Axis:
    """One axis: its label, its limits, whether it is logarithmic, and a short name for a single number along it."""

    label: str
    low: float
    high: float
    log: bool = False
    short: str = ""

    def fraction(self, value: float | FloatArray) -> FloatArray:
        """Return how far along the axis values are: 0 at the low end, 1 at the high end."""
        low, high = self.scaled(np.array([self.low, self.high]))
        return np.asarray((self.scaled(value) - low) / (high - low))

    def at(self, fraction: float) -> float:
        """Return the value so far along the axis."""
        low, high = self.scaled(np.array([self.low, self.high]))
        value = float(low + fraction * (high - low))
        return 10**value if self.log else value

    def scaled(self, value: float | FloatArray) -> FloatArray:
        """Return values as the axis counts them: in decades if it is logarithmic."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log10(value) if self.log else np.asarray(value, dtype=np.float64)

    @property
    def ticks(self) -> list[float]:
        """Round numbers along the axis, enough of them to read values off and few enough to keep apart."""
        if not self.log:
            return _even(self.low, self.high)
        decades = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        for digits in _STEPS:
            ticks = [tick for k in decades for d in digits if self.low <= (tick := float(f"{d}e{k}")) <= self.high]
            if len(ticks) >= _ENOUGH:
                return ticks[:: math.ceil(len(ticks) / _MOST)]
        return _even(self.low, self.high)


def _even(low: float, high: float) -> list[float]:
    """Return multiples of 1, 2, 2.5 or 5 times a power of ten between two limits."""
    rough = (high - low) / 8
    power = 10 ** math.floor(math.log10(rough))
    step = next(digit * power for digit in (1, 2, 2.5, 5, 10) if digit * power >= rough * 0.999)
    return [float(f"{k * step:.12g}") for k in range(math.ceil(low / step), math.floor(high / step) + 1)]


def plain(value: float) -> str:
    """Write a number beside an axis: 0.02, 10,000, or 2·10⁻⁷ if it is very small or large."""
    if value == 0 or 1e-4 <= abs(value) < 1e7:
        return f"{value:,.10g}"
    digits, _, power = f"{value:.9e}".partition("e")
    lead = f"{float(digits):g}"
    ten = "10" + str(int(power)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return ten if lead == "1" else f"{lead}·{ten}"


@dataclass(frozen=True)
class Stroke:
    """How a line is drawn: colour, dash pattern (in Plotly's words) and width in points."""

    colour: str
    dash: str = "solid"
    width: float = 1.5


@dataclass(frozen=True, kw_only=True)
class Mark:
    """Something that is drawn: its name, its label in the legend, the heading there, and what it lies over."""

    name: str = ""
    label: str = ""
    group: str = ""
    layer: int = 2


@dataclass(frozen=True, eq=False)
class Line(Mark):
    """A curve; values that are not numbers leave gaps."""

    x: FloatArray
    y: FloatArray
    stroke: Stroke


@dataclass(frozen=True, eq=False)
class Area(Mark):
    """The region between two curves."""

    x: FloatArray
    low: FloatArray
    high: FloatArray
    colour: str
    opacity: float = 1.0


@dataclass(frozen=True, eq=False)
class Points(Mark):
    """Points, with error bars that reach so far below and above them."""

    x: FloatArray
    y: FloatArray
    colour: str
    below: FloatArray | None = None
    above: FloatArray | None = None
    symbol: Literal["circle", "diamond"] = "circle"
    size: float = 4.0


@dataclass(frozen=True, eq=False)
class Bars(Mark):
    """A histogram: the edges of the bins and the height over each."""

    edges: FloatArray
    heights: FloatArray
    colour: str


@dataclass(frozen=True)
class Text(Mark):
    """Words beside a point."""

    x: float
    y: float
    text: str
    colour: str
    across: Literal["left", "center", "right"] = "left"
    up: Literal["bottom", "center", "top"] = "bottom"


@dataclass(frozen=True, eq=False)
class Scene:
    """A picture: axes, marks, a title, and a caption under the title; ``size`` is in inches, without the legend."""

    x: Axis
    y: Axis
    marks: tuple[Mark, ...]
    title: str = ""
    caption: str = ""
    size: tuple[float, float] = (9.0, 4.7)


def level(at: float, x: Axis, stroke: Stroke, **about: str) -> Line:
    """Return a horizontal line across the picture."""
    return Line(np.array([x.low, x.high]), np.array([at, at]), stroke, layer=1, **about)


def upright(at: float, y: Axis, stroke: Stroke, **about: str) -> Line:
    """Return a vertical line across the picture."""
    return Line(np.array([at, at]), np.array([y.low, y.high]), stroke, layer=1, **about)


def diamond(x: float, y: float, colour: str, size: float, name: str) -> Points:
    """Return a single point that marks where a goal is reached."""
    return Points(np.array([x]), np.array([y]), colour, symbol="diamond", size=size, name=name, layer=6)
