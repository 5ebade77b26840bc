"""Scenes drawn by Matplotlib, without its global state."""

from __future__ import annotations

import textwrap
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from gpcurves.numerics.display import Display
from gpcurves.numerics.validation import FloatArray
from gpcurves.render.scene import Area, Bars, Cells, Line, Mark, Points, Scene, Text

_DASHES: dict[str, Any] = {
    "solid": "-",
    "dash": (0, (5, 2)),
    "dot": (0, (1, 1.5)),
    "dashdot": (0, (5, 2, 1, 2)),
    "longdash": (0, (9, 3)),
}
_SIZE = (9.0, 4.7)  # inches of a picture without its legend
_LONGEST, _LONGEST_TITLE = 90, 600  # letters of a text
_SMALL = 8.5  # font size of the legend and of words inside the picture
_LINE_HEIGHT, _ROW = 13.0, 0.18  # points between lines of the caption, and inches between rows of the legend
_PARTS: WeakKeyDictionary[Any, list[Any]] = WeakKeyDictionary()  # what the last scene drew on each axes


def new_axes(ax: Any, size: tuple[float, float]) -> Any:
    """Return the axes given, or those of a new figure."""
    if ax is not None:
        return ax
    from matplotlib.figure import Figure

    return Figure(figsize=size, layout="constrained").add_subplot()


def draw(scene: Scene, ax: Any = None, result: Any = None) -> Display:
    """Draw a scene into ``ax``, or into a new figure."""
    own, ax = ax is None, new_axes(ax, _SIZE)
    for name, axis in (("x", scene.x), ("y", scene.y)):
        getattr(ax, f"set_{name}scale")("log" if axis.log else "linear")
        getattr(ax, f"set_{name}ticks")(axis.ticks, ["\n".join(lines) for lines in axis.tick_lines])
        ax.set(**{f"{name}label": words(axis.label), f"{name}lim": (axis.low, axis.high)})
    ax.tick_params(which="minor", labelbottom=False, labelleft=False)
    parts = [(mark, _draw(mark, ax)) for mark in scene.marks]
    _PARTS[ax] = [part for _, part in parts]
    ax.grid(True, which="major", color="#dddddd", linewidth=0.6)
    ax.set_axisbelow(True)
    caption = textwrap.fill(
        words(scene.caption, _LONGEST_TITLE), int(15 * _inches(ax))
    )  # lines that are no wider than the axes
    title = textwrap.fill(words(scene.title, _LONGEST_TITLE), int(13 * _inches(ax)))
    ax.set_title(title, fontsize=10.5, pad=6 + _LINE_HEIGHT * len(caption.splitlines()))
    if caption:
        look = {"ha": "center", "va": "bottom", "fontsize": 9, "color": "#444444", "annotation_clip": False}
        ax.annotate(caption, (0.5, 1.0), (0, 5), xycoords="axes fraction", textcoords="offset points", **look)
    listed = [(mark, part) for mark, part in parts if mark.label]
    for mark, part in listed:
        part.set_label(words(mark.label))  # for a legend of the user's own
    lines = max((len(each) for each in scene.x.tick_lines), default=1)
    rows = _list_marks(listed, ax, 5.0 + 1.4 * (lines - 1)) if listed else 0
    if own:
        ax.figure.set_figheight(_SIZE[1] + _ROW * rows)
    return Display(ax, ax.figure, {mark.name: part for mark, part in parts if mark.name}, result)


def erase(ax: Any) -> None:
    """Remove what a scene has drawn on these axes; what others drew there stays."""
    for part in _PARTS.pop(ax, []):
        part.remove()


def has_scene(ax: Any) -> bool:
    """Tell whether axes show a scene, and nobody cleared them since."""
    owners = {(part[0] if isinstance(part, tuple) else part).axes for part in _PARTS.get(ax, [])}
    return ax in owners


def words(text: str, longest: int = _LONGEST) -> str:
    """Return a text on one line, not endless, in which a pair of dollars is not a formula: it may come from a file."""
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    return (line if len(line) <= longest else f"{line[: longest - 1]}…").replace("$", r"\$")


def _draw(mark: Any, ax: Any) -> Any:
    match mark:
        case Line(stroke=stroke):
            look = {"color": stroke.colour, "linestyle": _DASHES[stroke.dash], "linewidth": stroke.width}
            dot = "o" if len(mark.x) == 1 else None
            return ax.plot(mark.x, mark.y, zorder=mark.layer, marker=dot, **look)[0]
        case Area():
            look = {"color": mark.colour, "alpha": mark.opacity, "linewidth": 0, "zorder": mark.layer}
            return ax.fill_between(mark.x, mark.low, mark.high, **look)
        case Points():
            bars = None if mark.below is None or mark.above is None else (mark.below, mark.above)
            look = {"color": mark.colour, "markersize": mark.size, "linewidth": 1, "zorder": mark.layer}
            points = ax.errorbar(mark.x, mark.y, bars, fmt={"circle": "o", "diamond": "D"}[mark.symbol], **look)
            seen = _within(mark.x, *ax.get_xlim()) & _within(mark.y, *ax.get_ylim())
            points[0].set_data(np.where(seen, mark.x, np.nan), mark.y)
            points[0].set_clip_on(False)  # the frame would cut those on it
            return points
        case Bars(edges=edges):
            look = {"align": "edge", "color": mark.colour, "edgecolor": "white", "linewidth": 0.5, "zorder": mark.layer}
            return ax.bar(edges[:-1], mark.heights, edges[1:] - edges[:-1], **look)
        case Cells():
            from matplotlib.colors import LinearSegmentedColormap, LogNorm

            look = {"cmap": LinearSegmentedColormap.from_list("cells", mark.colours), "norm": LogNorm()}
            return ax.pcolormesh(mark.x, mark.y, mark.values, zorder=mark.layer, **look)
        case Text():
            shift = {"left": 4, "center": 0, "right": -4}[mark.across], {"bottom": 3, "center": 0, "top": -3}[mark.up]
            look = {"color": mark.colour, "ha": mark.across, "va": mark.up, "fontsize": _SMALL}
            look |= {"zorder": mark.layer + 4, "textcoords": "offset points", "annotation_clip": False}
            text = ax.annotate(words(mark.text), (mark.x, mark.y), shift, **look)
            if mark.halo:
                text.set_path_effects([halo()])
            return text


def _within(values: FloatArray, low: float, high: float) -> npt.NDArray[np.bool_]:
    edge = 1e-9 * (high - low)
    return (values >= low - edge) & (values <= high + edge)


def halo() -> Any:
    """Return what keeps words apart from the lines behind them."""
    from matplotlib.patheffects import withStroke

    return withStroke(linewidth=2.5, foreground="white", alpha=0.85)


def _inches(ax: Any) -> float:
    """Return how wide the axes are, about: their layout is not known before the figure is drawn."""
    return float(ax.figure.get_figwidth() * ax.get_position().width * 1.1)


def _list_marks(shown: list[tuple[Mark, Any]], ax: Any, below: float) -> int:
    """List marks so far below the axes, in one column per heading if the picture is wide enough; return the number of rows."""
    from matplotlib.lines import Line2D

    blank = Line2D([], [], linestyle="none")
    headings = {mark.group for mark, _ in shown if mark.group}
    headings = headings if len(headings) > 1 else set()  # the only one says nothing
    blocks: dict[str, list[tuple[Any, str]]] = {}
    for mark, part in sorted(shown, key=lambda each: not each[0].group):  # what has no heading comes last
        headed = mark.group in headings
        block = blocks.setdefault(mark.group if headed else mark.label, [(blank, mark.group)] if headed else [])
        block.append((part, words(mark.label)))
    columns = _columns(list(blocks.values()), 76 * _inches(ax))
    rows = max(map(len, columns))
    entries = [entry for column in columns for entry in [*column, *[(blank, "")] * (rows - len(column))]]
    legend = ax.legend(
        *zip(*entries, strict=True), loc="upper center", bbox_to_anchor=(0.5, 0.0), borderaxespad=below,
        ncols=len(columns), frameon=False, fontsize=_SMALL, columnspacing=1.4,
    )  # fmt: skip
    for text in legend.get_texts():
        if text.get_text() in headings:
            text.set_fontweight("bold")
    return rows


def _columns(blocks: list[list[tuple[Any, str]]], room: float) -> list[list[tuple[Any, str]]]:
    """Put blocks of entries into as many columns as fit into the room, given in points."""
    for count in range(len(blocks), 0, -1):
        columns: list[list[tuple[Any, str]]] = [[] for _ in range(count)]
        for block in blocks:
            min(columns, key=len).extend(block)
        widths = [max(len(label) for _, label in column) * 0.52 * _SMALL + 5 * _SMALL for column in columns]
        if sum(widths) <= room:
            return columns
    return columns
