"""One self-contained page with an interactive picture: opens offline, needs nothing from outside."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gpcurves.api import METHODS
from gpcurves.curve import CurveSet
from gpcurves.numerics.validation import FloatArray
from gpcurves.render.style import (
    AXIS_LABELS,
    REGION,
    ascending,
    error_limits,
    group_of,
    kind_of,
    logarithmic,
    region,
    style_of,
)

if TYPE_CHECKING:
    from gpcurves.graphs.diagnosis import Diagnosis

_STYLE = """
body { font-family: system-ui, sans-serif; color: #222; max-width: 1100px; margin: 1.5em auto; padding: 0 1em; }
h1 { font-size: 1.3em; } h2 { font-size: 1.1em; margin-top: 1.6em; } p.problem { color: #555; }
table { border-collapse: collapse; font-size: 0.9em; } td, th { padding: 0.3em 0.8em; text-align: left;
border-bottom: 1px solid #ddd; vertical-align: top; }
td.number { font-variant-numeric: tabular-nums; text-align: right; }
div.wide { overflow-x: auto; }
"""


def page(curves: CurveSet, required: Mapping[float, Mapping[str, str]] | None = None) -> str:
    """Return an HTML page with the curves, what each promises, and the required n for each goal."""
    import plotly.io

    figure = _figure(ascending(curves))
    picture = plotly.io.to_html(
        figure, include_plotlyjs=True, full_html=False, config={"displaylogo": False, "responsive": True}
    )
    parts = [
        f"<h1>How fast does it learn?</h1><p class='problem'>{html.escape(curves.problem.describe())}</p>",
        picture,
        _goals(required or {}, curves.problem.axis),
        _promises(curves),
    ]
    return document(html.escape(f"Learning curves: {curves.problem.describe()}"), parts)


def diagnosis_page(found: Diagnosis) -> str:
    """Return an HTML page with the histogram of prior variances, the verdict and the vertices furthest from the average."""
    import plotly.graph_objects as go
    import plotly.io

    figure = go.Figure(go.Histogram(x=found.variances.tolist(), nbinsx=100, histnorm="probability"))
    figure.add_vline(1.0, line={"dash": "dash"}, annotation={"text": "local normalisation"})
    figure.update_layout(
        template="plotly_white",
        xaxis={"title": {"text": "prior variance of a vertex, global normalisation"}},
        yaxis={"title": {"text": "share of the vertices"}, "type": "log"},
        height=460,
        margin={"t": 30},
    )
    picture = plotly.io.to_html(
        figure, include_plotlyjs=True, full_html=False, config={"displaylogo": False, "responsive": True}
    )
    rows = [
        f"<tr><td>{html.escape(str(vertex))}</td><td class='number'>{degree:g}</td>"
        f"<td class='number'>{component}</td><td class='number'>{variance:.4g}</td></tr>"
        for vertex, degree, component, variance in found.to_frame().iloc[found.worst(10)].itertuples(index=False)
    ]
    head = "<tr><th>vertex</th><th>degree</th><th>vertices in its component</th><th>prior variance</th></tr>"
    about = html.escape(f"{found.kernel!r} on {found.graph!r}")
    return document(
        f"Prior variances: {about}",
        [
            f"<h1>How even is the prior?</h1><p class='problem'>{about}</p><p>{html.escape(found.verdict())}</p>",
            picture,
            f"<h2>Furthest from the average</h2><div class='wide'><table>{head}{''.join(rows)}</table></div>",
        ],
    )


def document(title: str, parts: Sequence[str], style: str = "") -> str:
    """Return a page that needs nothing from outside."""
    head = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
        "<meta name='viewport' content='width=device-width, initial-scale=1'>",
        f"<title>{title}</title><style>{_STYLE}{style}</style></head><body>",
    ]
    return "\n".join([*head, *parts, "</body></html>\n"])


def _figure(curves: CurveSet) -> Any:
    import plotly.graph_objects as go

    figure = go.Figure()
    low, high = error_limits(curves)
    allowed = region(curves)
    if allowed is not None:
        n, lower, upper = allowed
        quiet = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "x": n.tolist()}
        figure.add_scatter(y=upper.tolist(), showlegend=False, **quiet)
        figure.add_scatter(
            y=np.maximum(lower, low / 10).tolist(),
            fill="tonexty",
            fillcolor=REGION,
            name="where the truth must lie",
            **quiet,
        )
    for name, curve in curves.items():
        style = style_of(curves, name)
        if group_of(name).endswith("bounds") and low < curve.error[-1] < high:
            figure.add_annotation(
                x=1.0,
                xref="paper",
                xanchor="left",
                y=float(np.log10(curve.error[-1])),
                text=name,
                showarrow=False,
                font={"size": 11, "color": style.colour},
            )
        figure.add_scatter(
            x=curve.sizes.tolist(),
            y=_positive(curve.error),
            name=style.label,
            mode="lines" if kind_of(curve) is not None and len(curve.sizes) > 1 else "markers",
            line={"color": style.colour, "dash": style.dash, "width": style.width, "simplify": False},
            error_y=None if curve.stderr is None else {"array": np.nan_to_num(curve.stderr).tolist()},
            marker={"size": 5},
            hovertemplate=f"<b>{name}</b><br>{curve.axis} = %{{x}}<br>error = %{{y:.4g}}<extra></extra>",
        )
    n = next(iter(curves.values())).sizes
    wide = logarithmic(curves)
    span = None
    if n.max() > n.min():  # to the ends of the curves, where the bounds have their names
        span = [np.log10(n[n > 0].min()), np.log10(n.max())] if wide else [n.min(), n.max()]
    figure.update_layout(
        template="plotly_white",
        xaxis={"title": {"text": AXIS_LABELS[curves.problem.axis]}, "type": "log" if wide else "linear", "range": span},
        yaxis={
            "title": {"text": "average squared error"},
            "type": "log",
            "range": [np.log10(low), np.log10(high)],
            "exponentformat": "power",
            "dtick": 1,
        },
        height=560,
        margin={"t": 30},
        legend={"font": {"size": 12}, "traceorder": "normal", "x": 1.08},
    )
    return figure


def _positive(values: FloatArray) -> list[float | None]:
    return [value if value > 0 else None for value in values.tolist()]


def _goals(required: Mapping[float, Mapping[str, str]], axis: str) -> str:
    if not required:
        return ""
    rows = [
        f"<tr><td class='number'>{goal:g}</td><td>{html.escape(name)}</td><td>{html.escape(answer)}</td></tr>"
        for goal, answers in required.items()
        for name, answer in answers.items()
    ]
    what = "examples" if axis == "n" else "examples per vertex"
    head = f"<tr><th>goal</th><th>method</th><th>{what} needed</th></tr>"
    return f"<h2>{what.capitalize()} needed</h2><div class='wide'><table>{head}{''.join(rows)}</table></div>"


def _promises(curves: CurveSet) -> str:
    rows = []
    noted = any(curve.notes for curve in curves.values())
    for name, curve in curves.items():
        method = METHODS[name]
        cells = [
            f"<b>{name}</b><br>{html.escape(method.title)}",
            f"{method.kind.value} of {html.escape(method.scope.value)}",
        ]
        cells += [html.escape(text) for text in (method.promise, method.source)]
        cells += [html.escape("; ".join(curve.notes))] if noted else []
        rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    headings = ["method", "what it is", "what it promises", "source"] + (["notes"] if noted else [])
    head = "<tr>" + "".join(f"<th>{heading}</th>" for heading in headings) + "</tr>"
    left_out = "".join(f"<li><b>{name}</b>: {html.escape(why)}</li>" for name, why in curves.skipped.items())
    skipped = f"<h2>Left out</h2><ul>{left_out}</ul>" if left_out else ""
    return f"<h2>What each curve promises</h2><div class='wide'><table>{head}{''.join(rows)}</table></div>{skipped}"
