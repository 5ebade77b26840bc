"""Scenes drawn by Plotly, for pages: they answer to the mouse and need nothing from outside."""

from __future__ import annotations

import html
import textwrap
from typing import Any

import numpy as np

from gpcurves.numerics.validation import FloatArray
from gpcurves.render.legend import legend
from gpcurves.render.scene import Area, Axis, Bars, Cells, Line, Mark, Points, Scene, Text

_HEIGHT, _ROW = 460, 22  # pixels of a picture without its legend, and of a row of the legend


def _text(text: str) -> str:
    """Return text as Plotly shows it to the letter: it knows some tags, few names of signs, and variables in ``%{...}``."""
    return html.escape(text, quote=False).replace("%{", "%&#123;")


def embed(scene: Scene) -> str:
    """Return a scene as part of a page; the library that draws it is included."""
    import plotly.io

    config = {"displaylogo": False, "responsive": True}
    drawn = figure(scene).update_layout(showlegend=False, height=_HEIGHT)  # Plotly's own is cut off on a telephone
    words = {"text": _text(scene.x.label).replace("; ", ";<br>")}  # one line would be too long there, too
    drawn.update_xaxes(title=words, automargin=True)
    picture: str = plotly.io.to_html(drawn, include_plotlyjs=True, full_html=False, config=config)
    return f"{picture}{legend(_traces(scene))}"


def figure(scene: Scene, *, titled: bool = False) -> Any:
    """Return a scene as a figure of Plotly; a page has the title and the caption above it, a notebook in it."""
    import plotly.graph_objects as go

    drawn = go.Figure()
    texts = [mark for mark in scene.marks if isinstance(mark, Text)]
    for mark in _traces(scene):
        drawn.add_trace(_trace(mark) | _about(mark, scene))
    for text in texts:
        drawn.add_annotation(_annotation(text, scene))
    overhang = max((len(text.text) for text in texts if text.x == scene.x.high), default=0)
    groups = [mark.group or mark.label for mark in scene.marks if mark.label]
    rows = 1 + max((groups.count(group) for group in groups), default=0)
    title = _title(scene) if titled else ""
    above = 22 * (1 + title.count("<br>")) if title else 0
    if title:
        drawn.update_layout(
            title={
                "text": title,
                "font": {"size": 15},
                "x": 0,
                "xref": "paper",
                "y": 1,
                "yref": "container",
                "yanchor": "top",
                "pad": {"t": 14},
            }
        )
    drawn.update_layout(
        template="plotly_white",
        xaxis=_axis(scene.x),
        yaxis=_axis(scene.y),
        height=_HEIGHT + _ROW * rows + above,
        margin={"t": 20 + above, "l": 60, "r": 20 + 7 * overhang, "b": 45},
        legend={"orientation": "h", "y": -0.18, "yanchor": "top", "font": {"size": 12}, "groupclick": "toggleitem"},
        hovermode="closest",
        bargap=0,
        showlegend=bool(groups),
    )
    return drawn


def _traces(scene: Scene) -> list[Mark]:
    """Return the marks that are traces, the lowest first."""
    return sorted((mark for mark in scene.marks if not isinstance(mark, Text)), key=lambda mark: mark.layer)


def _title(scene: Scene) -> str:
    """Return the title, with the caption under it in smaller letters."""
    lines = [_text(line) for line in textwrap.wrap(scene.title, 90)]
    small = [f"<span style='font-size:12px'>{_text(line)}</span>" for line in textwrap.wrap(scene.caption, 120)]
    return "<br>".join(lines + small)


def _axis(axis: Axis) -> dict[str, Any]:
    return {
        "title": {"text": _text(axis.label)},
        "type": "log" if axis.log else "linear",
        "range": axis.scaled(np.array([axis.low, axis.high])).tolist(),
        "tickvals": axis.ticks,
        "ticktext": ["<br>".join(lines) for lines in axis.tick_lines],
    }


def _about(mark: Mark, scene: Scene) -> dict[str, Any]:
    """Return what the legend and the mouse tell about a mark."""
    label = _text(mark.label or mark.name)
    about: dict[str, Any] = {"name": label, "showlegend": bool(mark.label)}
    if mark.group:
        about |= {"legendgroup": mark.group, "legendgrouptitle": {"text": _text(mark.group)}}
    if isinstance(mark, Area) or not label:
        return about | {"hoverinfo": "skip"}
    x, y = (_text(axis.short or axis.label) for axis in (scene.x, scene.y))
    if isinstance(mark, Cells):
        about.pop("showlegend")
        return about | {"hovertemplate": f"{x} = %{{x:.4~g}}<br>{y} = %{{y:.4~g}}<br>%{{text}}<extra></extra>"}
    return about | {"hovertemplate": f"<b>{label}</b><br>{x} = %{{x:,.8~g}}<br>{y} = %{{y:.4g}}<extra></extra>"}


def _trace(mark: Any) -> dict[str, Any]:
    look: dict[str, Any]
    match mark:
        case Line(stroke=stroke):
            line = {"color": stroke.colour, "dash": stroke.dash, "width": stroke.width, "simplify": False}
            look = {"mode": "lines" if len(mark.x) > 1 else "markers", "line": line, "marker": {"color": stroke.colour}}
            return _scatter(mark.x, mark.y) | look
        case Area():
            look = {"mode": "lines", "line": {"width": 0}, "fill": "toself", "fillcolor": mark.colour}
            around = np.concatenate((mark.x, mark.x[::-1])), np.concatenate((mark.low, mark.high[::-1]))
            return _scatter(*around) | look | {"opacity": mark.opacity}
        case Points():
            symbol = {"color": mark.colour, "size": 1.6 * mark.size, "symbol": mark.symbol}
            trace = _scatter(mark.x, mark.y) | {"mode": "markers", "marker": symbol, "cliponaxis": False}
            if mark.below is not None and mark.above is not None:
                sides = {"array": np.nan_to_num(mark.above).tolist(), "arrayminus": np.nan_to_num(mark.below).tolist()}
                trace["error_y"] = {"type": "data", "color": mark.colour, "width": 2, "thickness": 1, **sides}
            return trace
        case Bars(edges=edges):
            sizes = {"x": (edges[1:] + edges[:-1]) / 2, "y": mark.heights, "width": np.diff(edges)}
            look = {"type": "bar", "marker": {"color": mark.colour, "line": {"width": 0}}}
            return look | {name: values.tolist() for name, values in sizes.items()}
        case Cells():
            scale = [[k / (len(mark.colours) - 1), colour] for k, colour in enumerate(mark.colours)]
            with np.errstate(invalid="ignore"):
                logs = np.log10(mark.values)
            words = [["" if each != each else f"error {each:.4g}" for each in row] for row in mark.values.tolist()]
            look = {"type": "heatmap", "colorscale": scale, "showscale": False, "text": words, "hoverongaps": False}
            return look | {"x": mark.x.tolist(), "y": mark.y.tolist(), "z": logs.tolist()}
    raise TypeError(f"{type(mark).__name__} is not a mark that is drawn as a trace")


def _scatter(x: FloatArray, y: FloatArray) -> dict[str, Any]:
    return {"type": "scatter", "x": x.tolist(), "y": y.tolist()}


def _annotation(mark: Text, scene: Scene) -> dict[str, Any]:
    edge = mark.x == scene.x.high  # rounding could put it outside, which hides it
    return {
        **({"x": 1, "xref": "paper"} if edge else {"x": float(scene.x.scaled(mark.x))}),
        "y": float(scene.y.scaled(mark.y)),
        "text": _text(mark.text),
        "showarrow": False,
        "xanchor": mark.across,
        "yanchor": {"bottom": "bottom", "center": "middle", "top": "top"}[mark.up],
        "xshift": {"left": 3, "center": 0, "right": -3}[mark.across],
        "yshift": {"bottom": 1, "center": 0, "top": -1}[mark.up],
        "font": {"color": mark.colour, "size": 11},
        **({"bgcolor": "rgba(255,255,255,0.7)", "borderpad": 0} if mark.halo else {}),
    }
