"""What a picture shows, as plain data: two axes and the marks between them, drawn alike by Matplotlib and by Plotly.

Words are placed here as well: names at the ends of lines, and labels where the fewest curves pass.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from gpcurves.numerics.validation import FloatArray
from gpcurves.render.wording import without_calls

_STEPS = ((1,), (1, 2, 5), (1, 2, 3, 5, 7), (1, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9))
"""Leading digits of the numbers on a logarithmic axis, from few to many."""
_ENOUGH, _MOST = 5, 12  # so many numbers on an axis let a reader find a value; more would touch each other
_SMALLEST = 1e-4  # decades from here down are written as powers of ten, and then so are the others beside them
_GAP, _LETTER = 0.034, 0.0105  # height of a line of text and width of a letter, as shares of the axes


@dataclass(frozen=True)
class Axis:
    """One axis: its label, its limits, whether it is logarithmic, and a short name for a single number along it."""

    label: str
    low: float
    high: float
    log: bool = False
    short: str = ""
    per_unit: float = 0.0  # what one unit is in a second measure, which is written under each tick; 0 for none
    per_root: float = 0.0  # the same if it grows as the root: what the root of one unit is

    @property
    def tick_lines(self) -> list[list[str]]:
        """What is written at each tick, in lines."""
        second = [[plain(round(tick * self.per_unit))] if self.per_unit else [] for tick in self.ticks]
        if self.per_root:
            second = [[plain(float(f"{self.per_root * math.sqrt(tick):.3g}"))] for tick in self.ticks]
        ticks = self.ticks
        powers = self.log and min(ticks) < _SMALLEST and all(math.log10(tick).is_integer() for tick in ticks)
        return [[plain(tick, powers=powers), *more] for tick, more in zip(ticks, second, strict=True)]

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
    step = round_step((high - low) / 8)
    return [float(f"{k * step:.12g}") for k in range(math.ceil(low / step), math.floor(high / step) + 1)]


def round_step(rough: float) -> float:
    """Return 1, 2, 2.5 or 5 times a power of ten, the next that is not below a number."""
    power = float(10.0 ** math.floor(math.log10(rough)))
    return next(digit * power for digit in (1, 2, 2.5, 5, 10) if digit * power >= rough * 0.999)


def plain(value: float, *, powers: bool = False) -> str:
    """Write a number beside an axis: 0.02, 10,000, or 2·10⁻⁷ if it is very small or large, or powers of ten are wanted."""
    if value == 0 or (1e-4 <= abs(value) < 1e7 and not (powers and not 0.1 <= abs(value) <= 10)):
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


@dataclass(frozen=True, eq=False)
class Cells(Mark):
    """Rectangles between edges along both axes, coloured by the logarithm of a value; those that are not numbers stay empty."""

    x: FloatArray
    y: FloatArray
    values: FloatArray  # a row for each interval along y
    colours: tuple[str, ...]


@dataclass(frozen=True)
class Text(Mark):
    """Words beside a point."""

    x: float
    y: float
    text: str
    colour: str
    across: Literal["left", "center", "right"] = "left"
    up: Literal["bottom", "center", "top"] = "bottom"
    halo: bool = True  # a white edge, which keeps it apart from lines behind it


@dataclass(eq=False)
class Scene:
    """A picture: axes, a title, a caption under it, and the marks so far."""

    x: Axis
    y: Axis
    title: str = ""
    caption: str = ""
    marks: list[Mark] = field(default_factory=list)

    def add_level(self, at: float, stroke: Stroke, name: str) -> None:
        """Draw a horizontal line across the picture."""
        x, y = np.array([self.x.low, self.x.high]), np.array([at, at])
        self.marks.append(Line(x, y, stroke, name=name, layer=1))

    def add_upright(self, at: float, stroke: Stroke, label: str = "") -> None:
        """Draw a vertical line across the picture."""
        x, y = np.array([at, at]), np.array([self.y.low, self.y.high])
        self.marks.append(Line(x, y, stroke, label=label, layer=1))

    def add_diamond(self, x: float, y: float, colour: str, size: float, name: str) -> None:
        """Mark a point at which a goal is reached."""
        at = np.array([x]), np.array([y])
        self.marks.append(Points(*at, colour, symbol="diamond", size=size, name=name, layer=6))

    def name_ends(self, lines: Sequence[Line]) -> None:
        """Write the name of each line beside its right end; names at the edge of the picture are moved apart."""
        x, y = self.x, self.y
        names: list[Text] = []
        edge: list[Text] = []
        for line in lines:
            seen = np.flatnonzero((line.y >= y.low) & (line.y <= y.high) & (line.x >= x.low) & (line.x <= x.high))
            if len(seen) == 0:
                continue
            last = int(seen[-1])
            end = Text(float(line.x[last]), float(line.y[last]), without_calls(line.name), line.stroke.colour)
            if last == len(line.x) - 1:
                edge.append(replace(end, x=x.high, up="center"))
            else:  # it leaves through the bottom or the top
                names.append(self._along(end, line, [*self.marks, *lines, *names]))
        heights = move_apart(y.fraction(np.array([end.y for end in edge])), low=0.0, high=1.0)
        self.marks += names
        self.marks += [replace(end, y=y.at(height)) for end, height in zip(edge, heights.tolist(), strict=True)]

    def label_level(self, at: float, text: str, colour: str) -> None:
        """Write along a horizontal line: at the end and on the side where the fewest curves pass."""
        left, right = (Text(self.x.at(0.005), at, text, colour), Text(self.x.at(0.995), at, text, colour, "right"))
        sides = [each for side in (left, right) for each in (side, replace(side, up="top"))]
        self.marks.append(self._freest(sides, self.marks))

    def label_point(self, x: float, y: float, text: str, colour: str) -> None:
        """Write beside a point, as near as possible among the positions where the fewest curves pass."""
        self.marks.append(self._beside(Text(x, y, text, colour), self.marks))

    def _beside(self, text: Text, marks: Sequence[Mark]) -> Text:
        return self._freest(self._around(text, (0.015, 0.06, 0.12)), marks)

    def _along(self, end: Text, line: Line, marks: Sequence[Mark]) -> Text:
        """Return a text at the end of a line, or beside the line before its end if that covers less."""
        at, heights = self.x.fraction(line.x), self.y.fraction(line.y)
        stop = float(self.x.fraction(end.x))
        candidates = self._around(end, (0.015, 0.06))
        for place in np.arange(stop - 0.05, max(stop - 0.45, float(at[0])), -0.05).tolist():
            height = float(np.interp(place, at, heights))
            candidates += self._around(replace(end, x=self.x.at(place), y=self.y.at(height)), (0.015,))
        wide = [replace(each, text=2 * each.text) for each in candidates]  # axes may be half as wide as a page
        return candidates[wide.index(self._freest(wide, marks))]

    def _around(self, text: Text, distances: Sequence[float]) -> list[Text]:
        """Return a text above and below its point, on both sides and in the middle, at some distances."""
        height = float(self.y.fraction(text.y))
        places: list[Text] = []
        for distance in distances:
            for across in ("left", "right", "center"):
                above = replace(text, y=self.y.at(height + distance), across=across)
                places += [above, replace(above, y=self.y.at(height - distance), up="top")]
        return places

    def _freest(self, candidates: Sequence[Text], marks: Sequence[Mark]) -> Text:
        """Return the text that covers the least of these marks; the first of them if there are several."""

        def cost(text: Text) -> int:
            left, right, bottom, top = self._box(text)
            inside = min(left, bottom) >= -1e-9 and max(right, top) <= 1 + 1e-9
            return sum(self._covered(text, mark) for mark in marks) + (0 if inside else 100)

        return min(candidates, key=cost)

    def _box(self, text: Text) -> tuple[float, float, float, float]:
        """Return left, right, bottom and top of a text as fractions of the axes."""
        width, height = _LETTER * len(text.text) + 0.01, 1.4 * _GAP
        left = float(self.x.fraction(text.x)) - {"left": 0.0, "center": width / 2, "right": width}[text.across]
        bottom = float(self.y.fraction(text.y)) - {"bottom": 0.0, "center": height / 2, "top": height}[text.up]
        return left, left + width, bottom, bottom + height

    def _covered(self, text: Text, mark: Mark) -> int:
        """Count at how many of some positions across a text a mark is drawn."""
        left, right, bottom, top = self._box(text)
        if isinstance(mark, Text):
            other = self._box(mark)
            apart = left > other[1] or other[0] > right or bottom > other[3] or other[2] > top
            return 0 if apart else 20
        if isinstance(mark, Bars):
            edges, tops = self.x.fraction(mark.edges), self.y.fraction(np.maximum(mark.heights, self.y.low))
            return 3 * int(((edges[1:] > left) & (edges[:-1] < right) & (tops > bottom)).sum())
        if not isinstance(mark, Line | Points):
            return 0
        at, heights = self.x.fraction(mark.x), self.y.fraction(mark.y)
        if isinstance(mark, Line) and len(at) > 1 and at[0] < at[-1]:
            across = np.linspace(left, right, 12)
            at, heights = across, np.interp(across, at, heights, left=np.nan, right=np.nan)
        inside = (at >= left) & (at <= right) & (heights > bottom + 0.003) & (heights < top - 0.003)
        return int(inside.sum())


def move_apart(heights: FloatArray, gap: float = 0.045, low: float = -math.inf, high: float = math.inf) -> FloatArray:
    """Move heights apart, as little as needed, until neighbours are a gap away from each other, between two ends if there is room."""
    order = np.argsort(heights)
    placed = heights[order]
    for _ in range(100):
        close = np.flatnonzero(np.diff(placed) < gap - 1e-9)
        if len(close) == 0:
            break
        for i in close.tolist():
            excess = (gap - (placed[i + 1] - placed[i])) / 2
            placed[i] -= excess
            placed[i + 1] += excess
    steps = gap * np.arange(len(placed))
    inside: FloatArray = np.maximum(
        np.minimum(placed, high - steps[::-1]), low + steps
    )  # a picture hides names outside
    return inside[np.argsort(order)]
