"""Scenes drawn by Plotly, for pages: they answer to the mouse and need nothing from outside."""

from __future__ import annotations

import html
from functools import singledispatch
from typing import Any

import numpy as np

from gpcurves.render.scene import Area, Axis, Bars, Line, Mark, Points, Scene, Text, plain

_HEIGHT, _ROW = 460, 22
"""Pixels of a picture without its legend, and of a row of the legend."""


def embed(scene: Scene) -> str:
    """Return a scene as part of a page; the library that draws it is included."""
    import plotly.io

    config = {"displaylogo": False, "responsive": True}
    picture: str = plotly.io.to_html(figure(scene), include_plotlyjs=True, full_html=False, config=config)
    return picture


def figure(scene: Scene) -> Any:
    """Return a scene as a figure of Plotly."""
    import plotly.graph_objects as go

    drawn = go.Figure()
    for mark in sorted(scene.marks, key=lambda mark: mark.layer):
        if not isinstance(mark, Text):
            drawn.add_trace(_trace(mark, scene) | _about(mark, scene))
    for mark in scene.marks:
        if isinstance(mark, Text):
            drawn.add_annotation(_annotation(mark, scene))
    groups = [mark.group or mark.label for mark in scene.marks if mark.label]
    rows = 1 + max((groups.count(group) for group in groups), default=0)
    drawn.update_layout(
        template="plotly_white",
        xaxis=_axis(scene.x),
        yaxis=_axis(scene.y),
        height=_HEIGHT + _ROW * rows,
        margin={"t": 20, "l": 60, "r": 20 + 7 * _overhang(scene), "b": 45},
        legend={"orientation": "h", "y": -0.18, "yanchor": "top", "font": {"size": 12}, "groupclick": "toggleitem"},
        hovermode="closest",
        bargap=0,
        showlegend=bool(groups),
    )
    return drawn


def _overhang(scene: Scene) -> int:
    """Return how many letters the longest name beside the right edge has."""
    return max((len(mark.text) for mark in scene.marks if isinstance(mark, Text) and mark.x == scene.x.high), default=0)


def _axis(axis: Axis) -> dict[str, Any]:
    return {
        "title": {"text": html.escape(axis.label)},
        "type": "log" if axis.log else "linear",
        "range": axis.scaled(np.array([axis.low, axis.high])).tolist(),
        "tickvals": axis.ticks,
        "ticktext": [plain(tick) for tick in axis.ticks],
    }


def _about(mark: Mark, scene: Scene) -> dict[str, Any]:
    """Return what the legend and the mouse tell about a mark."""
    label = html.escape(mark.label or mark.name)
    about: dict[str, Any] = {"name": label, "showlegend": bool(mark.label)}
    if mark.group:
        about |= {"legendgroup": mark.group, "legendgrouptitle": {"text": html.escape(mark.group)}}
    if isinstance(mark, Area) or not label:
        return about | {"hoverinfo": "skip"}
    x, y = (html.escape(axis.short or axis.label) for axis in (scene.x, scene.y))
    return about | {"hovertemplate": f"<b>{label}</b><br>{x} = %{{x:,.8~g}}<br>{y} = %{{y:.4g}}<extra></extra>"}


@singledispatch
def _trace(mark: Mark, scene: Scene) -> dict[str, Any]:
    raise NotImplementedError


@_trace.register
def _line(mark: Line, scene: Scene) -> dict[str, Any]:
    stroke = mark.stroke
    return {
        "type": "scatter",
        "x": mark.x.tolist(),
        "y": mark.y.tolist(),
        "mode": "lines" if len(mark.x) > 1 else "markers",
        "line": {"color": stroke.colour, "dash": stroke.dash, "width": stroke.width, "simplify": False},
        "marker": {"color": stroke.colour},
    }


@_trace.register
def _band(mark: Area, scene: Scene) -> dict[str, Any]:
    return {
        "type": "scatter",
        "x": np.concatenate((mark.x, mark.x[::-1])).tolist(),
        "y": np.concatenate((mark.low, mark.high[::-1])).tolist(),
        "mode": "lines",
        "line": {"width": 0},
        "fill": "toself",
        "fillcolor": mark.colour,
        "opacity": mark.opacity,
    }


@_trace.register
def _points(mark: Points, scene: Scene) -> dict[str, Any]:
    trace: dict[str, Any] = {"type": "scatter", "x": mark.x.tolist(), "y": mark.y.tolist(), "mode": "markers"}
    trace["marker"] = {"color": mark.colour, "size": 1.6 * mark.size, "symbol": mark.symbol}
    if mark.below is not None and mark.above is not None:
        sides = {"array": np.nan_to_num(mark.above).tolist(), "arrayminus": np.nan_to_num(mark.below).tolist()}
        trace["error_y"] = {"type": "data", "color": mark.colour, "width": 2, "thickness": 1, **sides}
    return trace


@_trace.register
def _bars(mark: Bars, scene: Scene) -> dict[str, Any]:
    middle, widths = (mark.edges[1:] + mark.edges[:-1]) / 2, np.diff(mark.edges)
    return {
        "type": "bar",
        "x": middle.tolist(),
        "y": mark.heights.tolist(),
        "width": widths.tolist(),
        "marker": {"color": mark.colour, "line": {"width": 0}},
    }


def _annotation(mark: Text, scene: Scene) -> dict[str, Any]:
    edge = mark.x == scene.x.high  # rounding could put it outside, which hides it
    return {
        **({"x": 1, "xref": "paper"} if edge else {"x": float(scene.x.scaled(mark.x))}),
        "y": float(scene.y.scaled(mark.y)),
        "text": html.escape(mark.text),
        "showarrow": False,
        "xanchor": mark.across,
        "yanchor": {"bottom": "bottom", "center": "middle", "top": "top"}[mark.up],
        "xshift": {"left": 3, "center": 0, "right": -3}[mark.across],
        "yshift": {"bottom": 1, "center": 0, "top": -1}[mark.up],
        "font": {"color": mark.colour, "size": 11},
    }
