"""The report of a forecast: one page that says what to do, opens offline, and reads well on a phone."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gpcurves._version import __version__
from gpcurves.forecasting import Forecast, RequiredN
from gpcurves.forecasting.verdict import rounded
from gpcurves.render.page import document
from gpcurves.render.plan import BAND, CHOSEN, ESTIMATE, GOAL, NOISE, POWER, SEEN, Outlook, round_numbers, shortened

_STYLE = """
:root { --ink: #1d2733; --quiet: #5d6875; --line: #dfe5ea; --blue: #0072B2; --orange: #D55E00; --purple: #7a4f9a; }
body { max-width: 880px; color: var(--ink); line-height: 1.5; overflow-wrap: break-word; }
header p { color: var(--quiet); margin: 0; }
h1 { font-size: 1.9em; line-height: 1.2; margin: 0.1em 0 0.4em; } h2 { font-size: 1.2em; margin-top: 2em; }
.verdict { border-left: 6px solid var(--blue); background: #f3f7fa; border-radius: 4px; padding: 0.9em 1.2em; }
.verdict p { margin: 0.3em 0; } .verdict.stop { border-color: var(--orange); background: #fcf4ee; }
.verdict.unsure { border-color: #999; background: #f5f5f5; } .verdict.noise { border-color: var(--purple); background: #f7f3fa; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 0.8em; margin: 1.2em 0; }
.tile { border: 1px solid var(--line); border-radius: 8px; padding: 0.7em 0.9em; }
.tile b { display: block; font-size: 1.5em; font-variant-numeric: tabular-nums; } .tile > span { color: var(--quiet); font-size: 0.85em; }
.number { white-space: nowrap; } td b { display: inline-block; min-width: 6em; overflow-wrap: anywhere; }
table { width: 100%; } th { font-weight: 600; color: var(--quiet); }
.bar { display: flex; height: 0.8em; min-width: 90px; border-radius: 3px; overflow: hidden; background: #eef1f4; }
.bar i { display: block; } .learn { background: var(--blue); } .floor { background: var(--purple); }
.key i { display: inline-block; width: 0.8em; height: 0.8em; border-radius: 2px; margin: 0 0.3em 0 0.9em; }
footer { color: var(--quiet); font-size: 0.85em; border-top: 1px solid var(--line); margin-top: 2.5em; padding-top: 0.8em; }
li { margin: 0.3em 0; } .wide { overflow-x: auto; } code { overflow-wrap: anywhere; }
@media (max-width: 520px) { body { margin: 0.8em auto; } h1 { font-size: 1.5em; } td, th { padding: 0.3em 0.35em; } .roomy { display: none; } }
"""
_TONES = {
    "more data helps": "",
    "noise-limited": "noise",
    "goal reached already": "",
    "goal cannot be reached": "stop",
    "too few rows to say": "unsure",
}


def page(forecast: Forecast, n: object = None, goal: float | None = None) -> str:
    """Return the report as an HTML page."""
    verdict = forecast.verdict(goal)
    needed = None if goal is None else forecast.required_n(goal)
    target = html.escape(forecast.target)
    sentences = "".join(f"<p>{_text(sentence)}</p>" for sentence in verdict.sentences)
    parts = [
        f"<header><p>How many rows do you need to predict <b>{target}</b>?</p>"
        f"<h1>{html.escape(verdict.label.capitalize())}</h1></header>",
        f"<section class='verdict {_TONES[verdict.label]}'>{sentences}</section>",
        _tiles(forecast, goal, needed),
        _picture(Outlook.of(forecast, goal)),
        _table(forecast, n),
        _inputs(forecast),
        _choosing(forecast),
        _listed("What was done to the data", forecast.steps),
        _listed("What this rests on", _assumptions(forecast)),
        _cite(),
        f"<footer>gpcurves {__version__}, seed {forecast.seed}. The same rows and seed give the same report.</footer>",
    ]
    return document(html.escape(f"{forecast.target}: {verdict.label}"), parts, _STYLE)


def _tiles(forecast: Forecast, goal: float | None, needed: RequiredN | None) -> str:
    table = forecast.at([forecast.rows, 4 * forecast.rows])
    tiles = [
        (
            f"{row['rmse']:.3g}",
            f"RMSE with {row['n']:,} rows, 90\u00a0% interval {row['low']:.3g} to {row['high']:.3g}",
        )
        for row in table.to_dict("records")
    ]
    if not forecast.deterministic:
        tiles.append((f"{forecast.noise_rmse:.3g}", "RMSE that noise leaves, however many rows there are"))
    if needed is not None:
        tiles.append((_rows_tile(needed), _rows_words(needed, goal)))
    cells = "".join(f"<div class='tile'><b>{big}</b><span>{_text(words)}</span></div>" for big, words in tiles)
    return f"<section class='tiles'>{cells}</section>"


def _text(words: str) -> str:
    """Return words for the page, with numbers that stay on one line: browsers break them after the minus of 1e-05."""
    return re.sub(r"\d[\d.]*e-\d+", r"<span class='number'>\g<0></span>", html.escape(words))


def _rows_tile(needed: RequiredN) -> str:
    return "no number" if needed.estimate is None else f"≈ {rounded(needed.estimate)}"


def _rows_words(needed: RequiredN, goal: float | None) -> str:
    if needed.estimate is None:
        return f"of rows is expected to reach the goal of {goal:.4g}"
    high = "no upper limit" if needed.high is None else rounded(needed.high)
    sure = "no number gives 80 % assurance" if needed.assured is None else f"80 % assurance: {rounded(needed.assured)}"
    return f"rows for an RMSE of {goal:.4g}; 90 % interval {rounded(needed.low or 0)} to {high}; {sure}"


def _picture(shown: Outlook) -> str:
    import plotly.graph_objects as go
    import plotly.io

    figure = go.Figure()
    quiet = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "x": shown.n.tolist()}
    figure.add_scatter(y=shown.high.tolist(), showlegend=False, **quiet)
    figure.add_scatter(y=shown.low.tolist(), fill="tonexty", fillcolor=BAND, name="90 % interval", **quiet)
    _line(figure, "power law, for comparison", shown.n, shown.power, {"color": POWER, "dash": "dot", "width": 1.5})
    _line(figure, "with chosen inputs", shown.chosen_n, shown.chosen, {"color": CHOSEN, "dash": "dash", "width": 1.8})
    _line(figure, "forecast", shown.n, shown.rmse, {"color": ESTIMATE, "width": 3})
    rmse, below, above = shown.seen_bars
    figure.add_scatter(
        x=shown.forecast.cross_validation.n.tolist(),
        y=rmse.tolist(),
        error_y={"type": "data", "array": above.tolist(), "arrayminus": below.tolist(), "color": SEEN, "width": 2},
        name="cross-validation",
        mode="markers",
        marker={"color": SEEN, "size": 7},
        hovertemplate="cross-validation<br>%{x} rows: %{y:.4g}<extra></extra>",
    )
    low, high = shown.limits
    figure.add_vline(shown.forecast.rows, line={"color": "#aaaaaa", "width": 1})
    _label(figure, f"{shown.forecast.rows:,} rows now", "#555555", x=shown.forecast.rows)
    if low < shown.forecast.noise_rmse < high and not shown.forecast.deterministic:
        figure.add_hline(shown.forecast.noise_rmse, line={"color": NOISE, "dash": "dashdot", "width": 1})
        over = shown.goal is not None and shown.forecast.noise_rmse > shown.goal
        _label(figure, "what noise leaves", NOISE, y=shown.forecast.noise_rmse, over=over)
    _add_goal(figure, shown)
    ticks = {name: round_numbers(*ends) for name, ends in (("x", (shown.n[0], shown.n[-1])), ("y", (low, high)))}
    figure.update_layout(
        template="plotly_white",
        xaxis={
            "title": {"text": "rows with a target"},
            "type": "log",
            "range": [math.log10(shown.n[0] / 1.05), math.log10(shown.n[-1] * 1.05)],
            "tickvals": ticks["x"],
            "ticktext": [f"{tick:,.10g}" for tick in ticks["x"]],
        },
        yaxis={
            "title": {"text": f"RMSE of {html.escape(shortened(shown.forecast.target))}"},
            "type": "log",
            "range": [math.log10(low), math.log10(high)],
            "tickvals": ticks["y"],
            "ticktext": [f"{tick:,.10g}" for tick in ticks["y"]],
        },
        height=480,
        margin={"t": 20, "l": 55, "r": 15, "b": 45},
        legend={"orientation": "h", "y": -0.18, "font": {"size": 12}, "traceorder": "reversed"},
        hovermode="closest",
    )
    picture: str = plotly.io.to_html(
        figure, include_plotlyjs=True, full_html=False, config={"displayModeBar": False, "responsive": True}
    )
    return picture


def _line(figure: Any, name: str, n: np.ndarray[Any, Any], rmse: np.ndarray[Any, Any], line: dict[str, Any]) -> None:
    figure.add_scatter(
        x=n.tolist(),
        y=rmse.tolist(),
        name=name,
        mode="lines",
        line=line,
        hovertemplate=f"{name}<br>%{{x:,}} rows: %{{y:.4g}}<extra></extra>",
    )


def _add_goal(figure: Any, shown: Outlook) -> None:
    if shown.goal is None or shown.needed is None:
        return
    if shown.out_of_sight:
        edge = shown.limits[0] if shown.goal < shown.limits[0] else shown.limits[1]
        _label(figure, shown.out_of_sight, GOAL, y=edge, over=shown.goal < shown.limits[0])
        return
    figure.add_hline(shown.goal, line={"color": GOAL, "width": 1.5})
    needed, furthest = shown.needed, float(shown.n[-1]) * 1.05
    over = shown.goal >= shown.forecast.noise_rmse
    early = needed.estimate is not None and needed.estimate**2 < shown.n[0] * shown.n[-1]  # where its own label is
    _label(figure, f"goal {shown.goal:.4g}", GOAL, y=shown.goal, over=over, right=early)
    if needed.low is not None and needed.low < furthest:
        figure.add_scatter(
            x=[needed.low, min(needed.high or furthest, furthest)],
            y=[shown.goal, shown.goal],
            mode="lines",
            line={"color": GOAL, "width": 7},
            opacity=0.35,
            name="rows for the goal, 90 % interval",
            hoverinfo="skip",
        )
    if needed.estimate is not None:
        figure.add_scatter(
            x=[needed.estimate],
            y=[shown.goal],
            mode="markers",
            marker={"color": GOAL, "size": 11, "symbol": "diamond"},
            showlegend=False,
            hovertemplate=f"goal {shown.goal:.4g}<br>about %{{x:,}} rows<extra></extra>",
        )
        figure.add_annotation(
            x=math.log10(needed.estimate),
            y=math.log10(shown.goal),
            yshift=17,
            text=f"≈ {rounded(needed.estimate)} rows",
            showarrow=False,
            font={"color": GOAL},
            bgcolor="rgba(255, 255, 255, 0.75)",
        )


def _label(
    figure: Any,
    text: str,
    colour: str,
    *,
    x: float | None = None,
    y: float | None = None,
    over: bool = False,
    right: bool = False,
) -> None:
    """Write below or over a line at one side, or at the bottom of the picture; logarithmic axes count in decades."""
    place: dict[str, Any] = {"x": 0.99, "xanchor": "right"} if right else {"x": 0.01, "xanchor": "left"}
    place |= {"xref": "paper", "yanchor": "bottom" if over else "top"}
    place |= {"y": math.log10(y)} if y is not None else {"y": 0.01, "yref": "paper", "yanchor": "bottom"}
    if x is not None:
        place |= {"x": math.log10(x), "xref": "x"}
    figure.add_annotation(text=text, showarrow=False, font={"color": colour, "size": 11}, **place)


def _table(forecast: Forecast, n: object) -> str:
    wanted = forecast.to_frame(n)
    split = forecast.split(wanted["n"].to_numpy())
    learnable = (100 * split["removable"] / (split["removable"] + split["noise"])).tolist()
    rows = []
    for row, learn in zip(wanted.to_dict("records"), learnable, strict=True):
        parts = (
            f"<i class='learn' style='width:{learn:.0f}%'></i><i class='floor' style='width:{100 - learn:.0f}%'></i>"
        )
        bar = f"<div class='bar'>{parts}</div>"
        interval = f"{row['low']:.3g} – {row['high']:.3g}"
        rows.append([f"{row['n']:,}", _text(f"{row['rmse']:.4g}"), _text(interval), f"{learn:.0f} %", bar])
    key = (
        "<p class='key'>Of the squared error at each size: <i class='learn'></i>what more rows can still remove, "
        "<i class='floor'></i>what noise leaves.</p>"
    )
    if forecast.deterministic:
        key = "<p>Without noise, all of the squared error can be removed by more rows.</p>"
    head = ("rows", "RMSE", "90 % interval", "removable", "")
    return f"<h2>What to expect</h2>{_rows(head, rows)}{key}"


def _inputs(forecast: Forecast) -> str:
    found = forecast.relevance
    if found is None:
        return ""
    order = np.argsort(-found.share)
    rows = []
    for i in order:
        share = float(found.share[i])
        bar = f"<div class='bar'><i class='learn' style='width:{100 * share:.0f}%'></i></div>"
        words = html.escape(in_words(share, float(found.lengthscales[i]), float(found.units[i])))
        rows.append([f"<b>{html.escape(found.names[i])}</b>", f"{100 * share:.0f} %", bar, words])
    head = ("input", "share", "", "how the target depends on it")
    about = "<p>The share of what can be learnt that varies along each input, as the fitted model sees it, and how the target depends on that input, all others being equal.</p>"
    return f"<h2>What each input contributes</h2>{about}{_rows(head, rows)}"


def in_words(share: float, lengthscale: float, units: float) -> str:
    """Say what a lengthscale, in standard deviations of the input, means; ``units`` is the same in its own units."""
    if share < 0.02:
        return "hardly matters"
    if math.isnan(units):
        return "differs from one value to the other"
    over = f" (over about {units:.2g} units)" if units > 0 else ""
    if lengthscale < 0.5:
        return f"changes quickly, several times within the range of the data{over}"
    if lengthscale < 1.5:
        return f"bends within the range of the data{over}"
    if lengthscale < 4:
        return f"bends gently{over}"
    return "nearly a straight line"


def _choosing(forecast: Forecast) -> str:
    n = 2 * forecast.rows
    random, chosen = (float(table["rmse"].iloc[0]) for table in (forecast.at([n]), forecast.designed([n])))
    saved = 1 - chosen / random
    if saved < 0.01:
        words = f"Choosing inputs instead of drawing them at random would hardly help: at {n:,} rows, by less than 1 %."
    else:
        words = (
            f"If you control where you measure, choose the inputs of further rows one by one where the model is least sure. "
            f"At {n:,} rows that would bring the RMSE to about {chosen:.3g} instead of {random:.3g}, {100 * saved:.0f} % lower "
            "(the dashed curve). This counts the lengthscales as known; while they are still being learnt it saves less."
        )
    return f"<h2>If you can choose your inputs</h2><p>{html.escape(words)}</p>"


def _assumptions(forecast: Forecast) -> Iterable[str]:
    yield "Further rows come from where these came from: the same sources, ranges and measurement."
    if forecast.relevance is None:
        yield "The model is the regressor given; another kind of model may do better or worse."
    else:
        yield (
            "The model is a Gaussian process with one lengthscale per input (RBF or Matérn-5/2), refitted as rows arrive; "
            "another kind of model may do better or worse."
        )
    yield (
        f"The error is the root mean squared error against new{'' if forecast.deterministic else ', noisy'} values of the "
        "target, in its own units: what you would measure on rows held out."
    )
    yield (
        "The 90 % interval is calibrated on regression tasks with known learning curves, most of them real tables. It knows "
        "nothing about surprises that these rows do not hint at: rare outliers, seasons, regimes not visited."
    )
    yield from forecast.notes


def _cite() -> str:
    return (
        "<h2>How to cite</h2><p>The gpcurves developers, <i>gpcurves: learning curves of Gaussian processes</i>, version "
        f"{__version__}. The theory of these curves: P. Sollich and A. Halees, <i>Learning curves for Gaussian process "
        "regression: Approximations and bounds</i>, Neural Computation 14 (2002) 1393–1428.</p>"
    )


def _listed(title: str, items: Iterable[str]) -> str:
    entries = "".join(f"<li>{html.escape(item)}</li>" for item in items)
    return f"<h2>{title}</h2><ul>{entries}</ul>" if entries else ""


def _rows(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    kinds = ["" if title else " class='roomy'" for title in head]
    titles = "".join(f"<th{kind}>{title}</th>" for kind, title in zip(kinds, head, strict=True))
    body = "".join(
        "<tr>" + "".join(f"<td{kind}>{cell}</td>" for kind, cell in zip(kinds, row, strict=True)) + "</tr>"
        for row in rows
    )
    return f"<div class='wide'><table><tr>{titles}</tr>{body}</table></div>"
