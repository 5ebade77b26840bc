"""One self-contained page: opens offline, needs nothing from outside. Its pictures are drawn by Plotly and answer to the mouse."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gpcurves.render.scene import Area, Axis, Bars, Line, Mark, Points, Scene, Text, plain

_HEIGHT, _ROW = 460, 22  # pixels of a picture without its legend, and of a row of the legend
_STYLE = """
:root { --ink: #1d2733; --quiet: #5d6875; --line: #dfe5ea; --blue: #0072B2; --orange: #D55E00; --purple: #7a4f9a; }
body { font-family: system-ui, sans-serif; color: var(--ink); line-height: 1.5; max-width: 960px; margin: 1.5em auto;
padding: 0 1em; overflow-wrap: break-word; }
h1 { font-size: 1.6em; line-height: 1.2; margin: 0.1em 0 0.4em; } h2 { font-size: 1.2em; margin-top: 2em; break-after: avoid; }
p.problem, header p { color: var(--quiet); margin: 0 0 0.6em; }
.verdict { border-left: 6px solid var(--blue); background: #f3f7fa; border-radius: 4px; padding: 0.9em 1.2em; margin: 1em 0; }
.verdict p { margin: 0.3em 0; } .wide { overflow-x: auto; } li { margin: 0.3em 0; }
table { border-collapse: collapse; font-size: 0.9em; width: 100%; } th { font-weight: 600; color: var(--quiet); }
td, th { padding: 0.3em 0.8em; text-align: left; border-bottom: 1px solid var(--line); vertical-align: top; }
td { font-variant-numeric: tabular-nums; } .number { white-space: nowrap; }
@media (max-width: 520px) { body { margin: 0.8em auto; } td, th { padding: 0.3em 0.35em; } .roomy { display: none; } }
"""


def document(title: str, parts: Sequence[str], style: str = "") -> str:
    """Return a page that needs nothing from outside."""
    head = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
        "<meta name='viewport' content='width=device-width, initial-scale=1'>",
        f"<title>{html.escape(title)}</title><style>{_STYLE}{style}</style></head><body>",
    ]
    return "\n".join([*head, *parts, "</body></html>\n"])


def words(text: str) -> str:
    """Return words for the page, with numbers that stay on one line: browsers break them after the minus of 1e-05."""
    return re.sub(r"\d[\d.]*e-\d+", r"<span class='number'>\g<0></span>", html.escape(text))


def sentences(texts: Iterable[str], tone: str = "") -> str:
    """Return sentences in a box that says what to do."""
    inside = "".join(f"<p>{words(text)}</p>" for text in texts)
    return f"<section class='verdict {tone}'>{inside}</section>" if inside else ""


def table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]], roomy: Sequence[str] = ()) -> str:
    """Return a table of HTML cells under a heading; columns whose heads are ``roomy`` are left out on a telephone."""
    kinds = [" class='roomy'" if each in roomy else "" for each in head]
    lines = [
        "<tr>" + "".join(f"<{tag}{kind}>{cell}</{tag}>" for kind, cell in zip(kinds, row, strict=True)) + "</tr>"
        for tag, row in [("th", head), *(("td", row) for row in rows)]
    ]
    return f"<h2>{title}</h2><div class='wide'><table>{''.join(lines)}</table></div>"


def listed(title: str, items: Iterable[str]) -> str:
    """Return a list of sentences under a heading, or nothing without any."""
    entries = "".join(f"<li>{words(item)}</li>" for item in items)
    return f"<h2>{title}</h2><ul>{entries}</ul>" if entries else ""


def aligned(values: Iterable[float]) -> list[str]:
    """Write numbers with the same decimals, three digits for the largest, so that they can be compared at a glance."""
    numbers = list(values)
    largest = max(map(abs, numbers))
    if not 1e-3 <= largest < 1e6 or min(map(abs, numbers)) < largest / 100:
        return [f"{number:.3g}" for number in numbers]
    decimals = max(0, 2 - int(f"{largest:.2e}".partition("e")[2]))
    return [f"{number:,.{decimals}f}" for number in numbers]


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
    texts = [mark for mark in scene.marks if isinstance(mark, Text)]
    for mark in sorted(scene.marks, key=lambda mark: mark.layer):
        if not isinstance(mark, Text):
            drawn.add_trace(_trace(mark) | _about(mark, scene))
    for text in texts:
        drawn.add_annotation(_annotation(text, scene))
    overhang = max((len(text.text) for text in texts if text.x == scene.x.high), default=0)
    groups = [mark.group or mark.label for mark in scene.marks if mark.label]
    rows = 1 + max((groups.count(group) for group in groups), default=0)
    drawn.update_layout(
        template="plotly_white",
        xaxis=_axis(scene.x),
        yaxis=_axis(scene.y),
        height=_HEIGHT + _ROW * rows,
        margin={"t": 20, "l": 60, "r": 20 + 7 * overhang, "b": 45},
        legend={"orientation": "h", "y": -0.18, "yanchor": "top", "font": {"size": 12}, "groupclick": "toggleitem"},
        hovermode="closest",
        bargap=0,
        showlegend=bool(groups),
    )
    return drawn


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


def _trace(mark: Any) -> dict[str, Any]:
    look: dict[str, Any]
    match mark:
        case Line(stroke=stroke):
            line = {"color": stroke.colour, "dash": stroke.dash, "width": stroke.width, "simplify": False}
            look = {"mode": "lines" if len(mark.x) > 1 else "markers", "line": line, "marker": {"color": stroke.colour}}
            return look | {"type": "scatter", "x": mark.x.tolist(), "y": mark.y.tolist()}
        case Area():
            look = {"mode": "lines", "line": {"width": 0}, "fill": "toself", "fillcolor": mark.colour}
            around = {
                "x": [*mark.x.tolist(), *mark.x[::-1].tolist()],
                "y": [*mark.low.tolist(), *mark.high[::-1].tolist()],
            }
            return look | {"type": "scatter", "opacity": mark.opacity} | around
        case Points():
            symbol = {"color": mark.colour, "size": 1.6 * mark.size, "symbol": mark.symbol}
            look = {"type": "scatter", "x": mark.x.tolist(), "y": mark.y.tolist(), "mode": "markers", "marker": symbol}
            if mark.below is not None and mark.above is not None:
                sides = {"array": np.nan_to_num(mark.above).tolist(), "arrayminus": np.nan_to_num(mark.below).tolist()}
                look["error_y"] = {"type": "data", "color": mark.colour, "width": 2, "thickness": 1, **sides}
            return look
        case Bars(edges=edges):
            sizes = {"x": (edges[1:] + edges[:-1]) / 2, "y": mark.heights, "width": np.diff(edges)}
            look = {"type": "bar", "marker": {"color": mark.colour, "line": {"width": 0}}}
            return look | {name: values.tolist() for name, values in sizes.items()}
    raise TypeError(f"{type(mark).__name__} is not a mark that is drawn as a trace")


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
