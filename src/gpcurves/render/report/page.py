"""The report as one file: words, tables and drawings that need no script, and a small script that moves the goal."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

from gpcurves._version import __version__
from gpcurves.forecasting.headline import WORDS
from gpcurves.render.bundling import as_script, bundle, fill, read_source
from gpcurves.render.page import as_html
from gpcurves.render.report import sections
from gpcurves.render.report.chart import LABELS
from gpcurves.render.report.content import Report
from gpcurves.render.report.observed import draw_observed
from gpcurves.render.report.terms import count_in, panels
from gpcurves.render.svg import Plot


def report_page(report: Report) -> str:
    """Return the page as HTML."""
    drawings, plots = _draw(report)
    body = [
        sections.answer(report),
        sections.chart(report, drawings),
        sections.verdict(report),
        sections.tiles(report),
        sections.planning(report),
        sections.maps(report),
        sections.errors(report),
        sections.class_errors(report),
        sections.inputs(report.forecast),
        sections.choosing(report),
        draw_observed(report.forecast),
        sections.listed("What was done to the data", report.forecast.steps),
        sections.listed("Assumptions", sections.assumptions(report.forecast)),
    ]
    last = sections.provenance(report)
    text = "\n".join(filter(None, body))
    text = f"{text}\n{sections.section(panels(text + last, report.unit))}\n{last}"
    text = count_in(text, report.unit)
    title = f"{report.headline} ({report.forecast.target})"
    parts = {
        "GENERATOR": f"gpcurves {__version__}",
        "TITLE": html.escape(title),
        "STYLE": re.sub(r"\n\s*", "\n", read_source("report/style.css")),
        "BODY": text,
        "PLAN": as_script(_data(report, plots)),
        "CODE": bundle("report/main"),
    }
    return fill("report/page.html", parts)


def _draw(report: Report) -> tuple[list[str], list[Plot]]:
    goal = None if report.aim is None else report.aim.error
    called = "" if goal is None else f"{report.prefix}{report.measure.write_goal(goal)}"
    drawn = [report.curve.draw(goal, report.needed, called, wide=wide) for wide in (True, False)]
    return [each for each, _ in drawn], [plot for _, plot in drawn]


def _data(report: Report, plots: Iterable[Plot]) -> dict[str, object]:
    """Return what the script of the page works with."""
    say = report.unit.say
    return {
        **report.live(),
        "words": {name: say(words) for name, words in WORDS.items()},
        "labels": {name: say(words) for name, words in LABELS.items()},
        "noun": say("rows"),
        "name": _file_name(report.forecast.target),
        "charts": [
            {
                "width": plot.width,
                "height": plot.height,
                "margins": [plot.left, plot.right, plot.top, plot.bottom],
                "x": [plot.x.low, plot.x.high],
                "y": [plot.y.low, plot.y.high],
            }
            for plot in plots
        ],
        "answers": report.forecast.answers(report.n, report.aim, report.asked),
    }


def _file_name(target: str) -> str:
    """Return the beginning of the names of downloads."""
    return f"plan-{re.sub(r'[^0-9A-Za-z]+', '-', as_html(target)).strip('-')[:40] or 'target'}"
