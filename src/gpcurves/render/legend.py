"""The legend of a page: HTML under the picture, which wraps on a telephone; a click hides or shows a curve."""

from __future__ import annotations

from collections.abc import Sequence

from gpcurves.render.page import as_html
from gpcurves.render.scene import Area, Line, Mark, Points

_DASHES = {"solid": "", "dash": "7 4", "dot": "2 3", "dashdot": "7 3 2 3", "longdash": "11 5"}
_CLICK = (
    "const on=this.getAttribute('aria-pressed')==='true';this.setAttribute('aria-pressed',String(!on));"
    "Plotly.restyle(this.closest('.key').previousElementSibling.querySelector('.js-plotly-plot'),{visible:!on},[%d])"
)
_STYLE = """<style>.key { display: flex; flex-wrap: wrap; gap: 0.6em 1.6em; margin: 0.6em 0 1em; font-size: 0.85em; }
.key div { display: flex; flex-direction: column; align-items: flex-start; } .key b { color: var(--quiet); }
.key button { font: inherit; color: inherit; text-align: left; background: none; border: 0; padding: 0.2em 0 0.2em 36px; text-indent: -36px; cursor: pointer; }
.key svg { width: 30px; height: 10px; margin-right: 6px; } .key [aria-pressed=false] { text-decoration: line-through; }</style>
"""


def legend(traces: Sequence[Mark]) -> str:
    """Return the labels of the traces under their headings, those that lie on top first."""
    groups: dict[str, list[str]] = {}
    layers: dict[str, int] = {}
    for number, mark in enumerate(traces):
        if mark.label:
            entry = f'<button type="button" aria-pressed="true" onclick="{_CLICK % number}">{_sample(mark)}{as_html(mark.label)}</button>'
            groups.setdefault(mark.group, []).append(entry)
            layers[mark.group] = mark.layer
    heads = {group: f"<b>{as_html(group)}</b>" if group else "" for group in groups}
    columns = [
        f"<div>{heads[group]}{''.join(entries)}</div>"
        for group, entries in sorted(groups.items(), key=lambda item: -layers[item[0]])
    ]
    return f"<div class='key'>{''.join(columns)}</div>{_STYLE}" if columns else ""


def _sample(mark: Mark) -> str:
    """Return how a mark looks, as a small picture."""
    match mark:
        case Line(stroke=stroke):
            dashes = _DASHES[stroke.dash]
            look = f"stroke='{stroke.colour}' stroke-width='{stroke.width}' stroke-dasharray='{dashes}'"
            inside = f"<path d='M0 5H30' {look}/>"
        case Points(colour=colour):
            inside = f"<circle cx='15' cy='5' r='3.5' fill='{colour}'/>"
        case _:
            colour, opacity = getattr(mark, "colour", "#888888"), mark.opacity if isinstance(mark, Area) else 1
            inside = f"<rect width='30' height='10' fill='{colour}' opacity='{opacity}'/>"
    return f"<svg viewBox='0 0 30 10' aria-hidden='true'>{inside}</svg>"
