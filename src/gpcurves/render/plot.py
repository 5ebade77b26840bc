"""Pictures of learning curves with matplotlib, without its global state."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpcurves.curve import CurveSet
from gpcurves.methods import Kind
from gpcurves.numerics.validation import FloatArray
from gpcurves.render.picture import Display, new_axes
from gpcurves.render.style import (
    AXIS_LABELS,
    REGION,
    Style,
    ascending,
    error_limits,
    group_of,
    kind_of,
    logarithmic,
    region,
    style_of,
)

_DASHES: dict[str, Any] = {
    "solid": "-",
    "dash": (0, (5, 2)),
    "dot": (0, (1, 1.5)),
    "dashdot": (0, (5, 2, 1, 2)),
    "longdash": (0, (9, 3)),
}


CurveDisplay = Display


def plot_curves(curves: CurveSet, ax: Any = None, *, title: str | None = None) -> CurveDisplay:
    """Draw curves on a logarithmic error axis: approximations as lines, bounds as edges of what they allow.

    Parameters
    ----------
    curves
        What to draw.
    ax
        Matplotlib axes to draw into; a new figure if None.
    title
        Title of the axes; the problem if None.
    """
    ax = new_axes(ax, (10, 5.4))
    curves = ascending(curves)
    low, high = error_limits(curves)
    n = next(iter(curves.values())).sizes
    allowed = region(curves)
    if allowed is not None:
        ax.fill_between(
            allowed[0],
            np.maximum(allowed[1], low / 10),
            allowed[2],
            color=REGION,
            linewidth=0,
            label="where the truth must lie",
        )
    lines: dict[str, Any] = {}
    edges: list[tuple[str, Style]] = []
    for name, curve in curves.items():
        style = style_of(curves, name)
        if kind_of(curve) is None:
            lines[name] = ax.errorbar(
                curve.sizes,
                curve.error,
                curve.stderr,
                fmt="o",
                markersize=3,
                linewidth=1,
                color=style.colour,
                label=style.label,
                zorder=4,
            )
            continue
        visible = np.where(curve.error > 0, curve.error, np.nan)
        (lines[name],) = ax.plot(
            curve.sizes,
            visible,
            color=style.colour,
            linestyle=_DASHES[style.dash],
            linewidth=style.width,
            label=style.label,
            marker="o" if len(curve.sizes) == 1 else None,
            zorder=3 if kind_of(curve) is Kind.APPROXIMATION else 2,
        )
        if curve.stderr is not None:
            sides = (curve.error - curve.stderr, curve.error + curve.stderr)
            ax.fill_between(curve.sizes, *sides, color=style.colour, alpha=0.25, linewidth=0)
        if kind_of(curve) in (Kind.LOWER_BOUND, Kind.UPPER_BOUND):
            edges.append((name, style))
    ax.set_yscale("log")
    ax.set_ylim(low, high)
    if logarithmic(curves):
        ax.set_xscale("log")
        if n.max() > 10 * n[n > 0].min():  # decades are labelled, and nothing between them
            from matplotlib.ticker import NullFormatter

            ax.xaxis.set_minor_formatter(NullFormatter())
        ax.set_xlim(n[n > 0].min(), n.max())
    elif n.max() > n.min():
        ax.set_xlim(n.min(), n.max())
    _label_edges(ax, curves, edges, low, high)
    ax.set_xlabel(AXIS_LABELS[curves.problem.axis])
    ax.set_ylabel("average squared error")
    ax.set_title(curves.problem.describe() if title is None else title, fontsize=10)
    ax.grid(True, which="major", color="#dddddd", linewidth=0.6)
    ax.set_axisbelow(True)
    _legend(ax, lines)
    return CurveDisplay(ax, ax.figure, lines)


def _legend(ax: Any, lines: dict[str, Any]) -> None:
    """List the curves beside the axes under headings that say what they are."""
    from matplotlib.lines import Line2D

    nothing = Line2D([], [], linestyle="none")
    own = {handle.get_label() for handle in lines.values()}
    handles = [handle for handle in ax.get_legend_handles_labels()[0] if handle.get_label() not in own]
    labels = [handle.get_label() for handle in handles]
    for group in dict.fromkeys(group_of(name) for name in lines):
        members = [lines[name] for name in lines if group_of(name) == group]
        handles += [nothing, *members]
        labels += [group, *(member.get_label() for member in members)]
    legend = ax.legend(
        handles, labels, loc="upper left", bbox_to_anchor=(1.09, 1.0), frameon=False, fontsize=9, borderaxespad=0.0
    )
    for text in legend.get_texts():
        if text.get_text() not in own:
            text.set_fontweight("bold")


def _label_edges(ax: Any, curves: CurveSet, edges: list[tuple[str, Style]], low: float, high: float) -> None:
    """Write the name of each bound beside the end of its line, moved apart where they would overlap."""
    ends = []
    for name, style in edges:
        curve = curves[name]
        inside = np.flatnonzero((curve.error >= low) & (curve.error <= high))
        if len(inside) == 0:
            continue
        last = inside[-1]
        if last < len(curve.sizes) - 1:  # leaves through the bottom: label it there
            ax.annotate(
                name, (curve.sizes[last], curve.error[last]), xytext=(4, 2), textcoords="offset points",
                color=style.colour, fontsize=8,
            )  # fmt: skip
        else:
            ends.append((curve.error[last], name, style))
    heights = _spread(np.array([np.log(end[0] / low) / np.log(high / low) for end in ends]))
    for height, (_, name, style) in zip(heights.tolist(), ends, strict=True):
        ax.annotate(
            name, (1.0, height), xycoords="axes fraction", xytext=(4, 0), textcoords="offset points",
            color=style.colour, fontsize=8, va="center", annotation_clip=False,
        )  # fmt: skip


def _spread(heights: FloatArray, gap: float = 0.032) -> FloatArray:
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
