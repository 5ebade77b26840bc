"""Where words go in a scene: names at the ends of lines, and labels where the fewest curves pass."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from gpcurves.numerics.validation import FloatArray
from gpcurves.render.scene import Axis, Line, Mark, Points, Text

_GAP = 0.034
"""Height of a line of text, as a share of the axis."""
_LETTER = 0.0105
"""Width of a letter, as a share of the axis."""


def name_ends(lines: Sequence[Line], x: Axis, y: Axis) -> list[Text]:
    """Write the name of each line beside its right end; names at the edge of the picture are moved apart."""
    names: list[Text] = []
    edge: list[Text] = []
    for line in lines:
        seen = np.flatnonzero((line.y >= y.low) & (line.y <= y.high) & (line.x >= x.low) & (line.x <= x.high))
        if len(seen) == 0:
            continue
        last = int(seen[-1])
        end = Text(float(line.x[last]), float(line.y[last]), line.name, line.stroke.colour)
        if last == len(line.x) - 1:
            edge.append(replace(end, x=x.high, up="center"))
        else:  # it leaves through the bottom or the top
            names.append(label_point((end.x, end.y), end.text, end.colour, [*lines, *names], x, y))
    heights = spread_apart(y.fraction(np.array([end.y for end in edge])))
    return names + [replace(end, y=y.at(height)) for end, height in zip(edge, heights.tolist(), strict=True)]


def spread_apart(heights: FloatArray, gap: float = _GAP) -> FloatArray:
    """Move heights apart, as little as needed, until neighbours are a gap away from each other."""
    order = np.argsort(heights)
    placed = heights[order].copy()
    for _ in range(100):
        close = np.flatnonzero(np.diff(placed) < gap - 1e-9)
        if len(close) == 0:
            break
        for i in close.tolist():
            excess = (gap - (placed[i + 1] - placed[i])) / 2
            placed[i] -= excess
            placed[i + 1] += excess
    result = np.empty_like(placed)
    result[order] = placed
    return result


def label_level(at: float, text: str, colour: str, marks: Iterable[Mark], x: Axis, y: Axis) -> Text:
    """Write along a horizontal line: at the end and on the side where the fewest curves pass."""
    left, right = (Text(x.at(0.005), at, text, colour), Text(x.at(0.995), at, text, colour, across="right"))
    return freest([each for side in (left, right) for each in (side, replace(side, up="top"))], marks, x, y)


def label_point(at: tuple[float, float], text: str, colour: str, marks: Iterable[Mark], x: Axis, y: Axis) -> Text:
    """Write beside a point, as near as possible among the places where the fewest curves pass."""
    height = float(y.fraction(at[1]))
    candidates: list[Text] = []
    for distance in (0.015, 0.06, 0.12):
        for across in ("left", "right", "center"):
            above = Text(at[0], y.at(height + distance), text, colour, across=across)
            candidates += [above, replace(above, y=y.at(height - distance), up="top")]
    return freest(candidates, marks, x, y)


def freest(candidates: Sequence[Text], marks: Iterable[Mark], x: Axis, y: Axis) -> Text:
    """Return the text in whose place the least is drawn already; the first of them if there are several."""
    drawn = list(marks)

    def cost(text: Text) -> int:
        left, right, bottom, top = _box(text, x, y)
        inside = min(left, bottom) >= -1e-9 and max(right, top) <= 1 + 1e-9
        return sum(_covered(text, mark, x, y) for mark in drawn) + (0 if inside else 100)

    return min(candidates, key=cost)


def _box(text: Text, x: Axis, y: Axis) -> tuple[float, float, float, float]:
    """Return left, right, bottom and top of a text as fractions of the axes."""
    width, height = _LETTER * len(text.text) + 0.01, 1.4 * _GAP
    left = float(x.fraction(text.x)) - {"left": 0.0, "center": width / 2, "right": width}[text.across]
    bottom = float(y.fraction(text.y)) - {"bottom": 0.0, "center": height / 2, "top": height}[text.up]
    return left, left + width, bottom, bottom + height


def _covered(text: Text, mark: Mark, x: Axis, y: Axis) -> int:
    """Count in how many of some places across a text a mark is drawn."""
    left, right, bottom, top = _box(text, x, y)
    if isinstance(mark, Text):
        other = _box(mark, x, y)
        apart = left > other[1] or other[0] > right or bottom > other[3] or other[2] > top
        return 0 if apart else 20
    if not isinstance(mark, Line | Points):
        return 0
    at, heights = x.fraction(mark.x), y.fraction(mark.y)
    if isinstance(mark, Line) and len(at) > 1 and at[0] < at[-1]:
        across = np.linspace(left, right, 12)
        at, heights = across, np.interp(across, at, heights, left=np.nan, right=np.nan)
    inside = (at >= left) & (at <= right) & (heights > bottom + 0.003) & (heights < top - 0.003)
    return int(inside.sum())
