"""A forecast: the error to expect with more rows and the rows that a goal needs, as a picture and as a report.

The report is one page that says what to do, opens offline, and reads well on a phone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from gpcurves._version import __version__
from gpcurves.forecasting.measures import RMSE, ErrorMeasure, ForecastGoal
from gpcurves.forecasting.questions import Answers, Questions
from gpcurves.forecasting.result import NOTHING, Forecast, Goal
from gpcurves.forecasting.units import Unit
from gpcurves.forecasting.verdict import RequiredN, Verdict, rounded
from gpcurves.numerics.validation import FloatArray
from gpcurves.render.page import Html, aligned, as_html, document, listed, sentences, table, tagged
from gpcurves.render.plotly import embed
from gpcurves.render.scene import Area, Axis, Line, Points, Scene, Stroke, Text
from gpcurves.render.views import View

_ESTIMATE, _CHOSEN, _POWER = Stroke("#0072B2", width=2.4), Stroke("#009E73", "dash", 1.6), Stroke("#8c8c8c", "dot", 1.5)
_BAND, _SEEN, _GOAL, _NOISE, _NOW = "#cfe3f1", "#000000", "#D55E00", "#7a4f9a", "#666666"
_LONGEST_NAME = 40
_FURTHEST = 200  # a picture reaches to this multiple of the rows, if a goal is as far away
_STYLE = """
body { max-width: 880px; } h1 { font-size: 1.9em; }
.verdict.stop { border-color: var(--orange); background: #fcf4ee; } .verdict.unsure { border-color: #999; background: #f5f5f5; }
.verdict.noise { border-color: var(--purple); background: #f7f3fa; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 0.8em; margin: 1.2em 0; }
.tile { border: 1px solid var(--line); border-radius: 8px; padding: 0.7em 0.9em; }
.tile b { display: block; font-size: 1.5em; font-variant-numeric: tabular-nums; } .tile > span { color: var(--quiet); font-size: 0.85em; }
td b { display: inline-block; min-width: 6em; overflow-wrap: anywhere; }
.bar { display: flex; height: 0.8em; min-width: 90px; border-radius: 3px; overflow: hidden; background: #eef1f4; }
.bar i { display: block; } .learn { background: var(--blue); } .floor { background: var(--purple); }
.key i { display: inline-block; width: 0.8em; height: 0.8em; border-radius: 2px; margin: 0 0.3em 0 0.9em; }
footer { color: var(--quiet); font-size: 0.85em; border-top: 1px solid var(--line); margin-top: 2.5em; padding-top: 0.8em; }
code { overflow-wrap: anywhere; } @media (max-width: 520px) { h1 { font-size: 1.5em; } }
"""
_THEORY = {
    False: "P. Sollich and A. Halees, <i>Learning curves for Gaussian process regression: Approximations and bounds</i>, Neural "
    "Computation 14 (2002) 1393–1428",
    True: "M. J. Urry and P. Sollich, <i>Random walk kernels and learning curves for Gaussian process regression on random "
    "graphs</i>, Journal of Machine Learning Research 14 (2013) 1801–1835",
}
_TONES = {
    "noise-limited": "noise",
    "model-limited": "noise",
    "goal cannot be reached": "stop",
    "too few rows to say": "unsure",
    "too few labels to say": "unsure",
}


@dataclass(frozen=True, eq=False)
class ForecastView(View):
    """A forecast, the numbers of rows to list, and a goal."""

    result: Forecast
    n: object = None
    goal: Goal = None
    asked: Questions = NOTHING

    @cached_property
    def aim(self) -> ForecastGoal | None:
        """The goal with its measure."""
        return self.result.as_goal(self.goal)

    @cached_property
    def measure(self) -> ErrorMeasure:
        """The measure in which errors are told."""
        return self.asked.measure(self.result, self.aim)

    @cached_property
    def verdict(self) -> Verdict:
        """What more rows would do, and whether the goal can be reached."""
        return self.result.verdict(self.aim, self.asked)

    @cached_property
    def further(self) -> Answers:
        """The answers to further questions."""
        return self.asked.answer(self.result)

    @cached_property
    def needed(self) -> RequiredN | None:
        """The rows that the goal needs; None without a goal."""
        return None if self.aim is None else self.result.require(self.aim)

    @property
    def headline(self) -> str:
        """The answer in a few words: how many rows the goal needs if that is the question, or the verdict."""
        label = self.verdict.label.capitalize()
        if label != "More data helps" or self.needed is None or (self.needed.estimate or 0) <= self.result.rows:
            return label
        aim = "" if self.aim is None else f" for {self.measure.phrase(self.aim.error)}"
        count = self.unit.say_number(rounded(self.needed.estimate or 0))
        return self.unit.say(f"{label}: about {count} rows") + aim

    @property
    def unit(self) -> Unit:
        """What n counts."""
        return self.result.unit

    def to_frame(self) -> pd.DataFrame:
        return self.result.to_frame(self.n, self.measure.name)

    def to_json(self) -> str:
        return self.result.to_json(n=self.n, goal=self.aim, asked=self.asked)

    def notebook(self) -> str:
        said = as_html(" ".join(self.verdict.sentences))
        return f"<p>{tagged('b', self.headline)}. {said}</p>{self.to_frame().to_html(index=False)}"

    def page(self) -> str:
        forecast, verdict = self.result, self.verdict
        parts = [
            f"<header><p>{self.unit.say('How many rows')} do you need to predict {tagged('b', forecast.target)}?</p>"
            f"{tagged('h1', self.headline)}</header>",
            sentences(verdict.sentences, _TONES.get(verdict.label, "")),
            _tiles(self),
            _planning(self.further, self.unit),
            embed(self.scene()),
            self._maps(),
            _errors(self),
            _inputs(forecast),
            _choosing(forecast),
            listed("What was done to the data", forecast.steps),
            listed("Assumptions", _assumptions(forecast)),
            "<h2>How to cite</h2><p>The gpcurves developers, <i>gpcurves: learning curves of Gaussian processes</i>, version "
            f"{__version__}. The theory of these curves: {_THEORY[self.unit.are_labels]}.</p>",
            f"<footer>gpcurves {__version__}, seed {forecast.seed}. {self.unit.say('The same rows and seed')} give the same report.</footer>",
        ]
        return document(f"{forecast.target}: {verdict.label}", parts, _STYLE)

    def _maps(self) -> str:
        """Return pictures of the graph; nothing for a table."""
        if not self.unit.are_labels:
            return ""
        from gpcurves.render.views.maps import draw_maps  # tables do not need it

        chosen = self.further.next_rows
        return draw_maps(self.result, None if chosen is None else [str(name) for name in chosen["vertex"]])

    def scene(self) -> Scene:
        forecast, n = self.result, self._sizes()
        table, later = forecast.at(n), n[n >= forecast.rows]
        low, high = (table[end].to_numpy() for end in ("low", "high"))
        seen = forecast.cross_validation
        quantity, error, bars = forecast.quantity, seen.error, seen.bars
        say = self.unit.say
        counted = "number of labels" if self.unit.are_labels else "number of labelled rows"
        x = Axis(counted, n[0] / 1.05, n[-1] * 1.05, True, say("rows"))
        y = self._error_axis(np.concatenate((low, error)), np.concatenate((high, error)))
        chosen = forecast.designed(later)[quantity.key].to_numpy()
        scene = Scene(x, y, self.headline, marks=[Area(n, low, high, _BAND, label="90 % interval", layer=0)])
        scene.add_upright(forecast.rows, Stroke("#bbbbbb", width=1))
        scene.marks += [
            Line(n, forecast.power_law_at(n), _POWER, name="power law", label="power law, for comparison"),
            Line(n, table[quantity.key].to_numpy(), _ESTIMATE, name="forecast", label="forecast", layer=4),
            Points(
                seen.n,
                error,
                _SEEN,
                *bars,
                name="cross-validation",
                label="cross-validation, ± standard error",
                layer=5,
            ),
            Text(forecast.rows, y.at(0.01), say(f"you have {forecast.rows:,} rows"), _NOW),
        ]
        if len(forecast.remaining) > 1:  # what choosing inputs would save is known
            scene.marks.append(Line(later, chosen, _CHOSEN, name="chosen", label=self._chosen_label, layer=3))
        # a goal for another quantity than the one that is drawn has no place here
        aim = self.aim if self.aim is not None and self.aim.measure.quantity == quantity else None
        if aim is not None and y.low < aim.error < y.high:
            scene.add_level(aim.error, Stroke(_GOAL, width=1.4), "goal")
        if y.low < forecast.floor < y.high and not forecast.deterministic:
            scene.add_level(forecast.floor, Stroke(_NOISE, "dashdot", 1), "noise")
            scene.label_level(forecast.floor, f"{quantity.floor}, about {quantity.write(forecast.floor)}", _NOISE)
        if aim is not None and self.needed is not None:
            _mark_goal(scene, aim, self.needed, self.measure, self.unit)
        return scene

    @property
    def _chosen_label(self) -> str:
        return (
            "if you choose which vertices to label" if self.unit.are_labels else "if you choose the inputs of new rows"
        )

    def _sizes(self) -> FloatArray:
        """Return numbers of rows from the smallest cross-validated size to well beyond the user's rows."""
        rows, furthest = self.result.rows, int(max(self.result.rows, min(16 * self.result.rows, self.unit.sight)))
        if self.needed is not None:
            marks = [mark for mark in (self.needed.estimate, self.needed.high, self.needed.assured) if mark is not None]
            furthest = int(min(max([furthest, *(1.5 * mark for mark in marks)]), _FURTHEST * rows, self.unit.limit))
        return np.unique(np.append(np.geomspace(self.result.cross_validation.n[0], furthest, 120).round(), rows))

    def _error_axis(self, lows: FloatArray, highs: FloatArray) -> Axis:
        low, high = max(float(lows.min()), float(highs.max()) / 1e4), float(highs.max())
        quantity = self.result.quantity
        if (
            self.aim is not None and self.aim.measure.quantity == quantity
        ):  # a goal far away is not worth a picture of nothing else
            low, high = min(low, max(self.aim.error, low / 10)), max(high, min(self.aim.error, high * 10))
        target = " ".join(self.result.target.split())
        target = target if len(target) <= _LONGEST_NAME else f"{target[: _LONGEST_NAME - 1]}…"
        where = "at unlabelled vertices" if self.unit.are_labels else "on new rows"
        return Axis(f"{quantity.word} of {target}, {where}", low / 1.15, high * 1.15, True, quantity.word)


def _mark_goal(scene: Scene, aim: ForecastGoal, needed: RequiredN, measure: ErrorMeasure, unit: Unit) -> None:
    """Mark the interval of rows that reach a goal and the estimate, or say where the goal is if that is out of sight."""
    x, y, goal = scene.x, scene.y, aim.error
    called = (
        measure.write_goal(goal)
        if measure.name == aim.measure.quantity.key
        else f"{measure.noun.split()[-1]} {measure.write_goal(goal)}"
    )
    if not y.low < goal < y.high:
        below = goal <= y.low
        said = f"the goal of {called} is far {'below' if below else 'above'} this picture"
        at = x.at(0.005), y.at(0.005 if below else 0.995)
        scene.marks.append(Text(*at, said, _GOAL, up="bottom" if below else "top"))
        return
    if needed.low is not None and needed.low < x.high:
        ends = np.array([needed.low, min(needed.high or x.high, x.high)])
        span = unit.say(f"rows for the goal, 90 % interval{'' if needed.high else ', no upper limit'}")
        thick = Stroke("#f2c4a6", width=6)
        scene.marks.append(Line(ends, np.array([goal, goal]), thick, name="interval", label=span, layer=1))
    if needed.estimate is not None and needed.estimate <= x.high:
        scene.add_diamond(needed.estimate, goal, _GOAL, 7, "needed")
        scene.label_point(needed.estimate, goal, unit.say(f"about {rounded(needed.estimate)} rows"), _GOAL)
    scene.label_level(goal, f"goal {called}", _GOAL)


def _tiles(view: ForecastView) -> str:
    forecast = view.result
    say, fourfold = view.unit.say, int(max(forecast.rows, min(4 * forecast.rows, view.unit.sight)))
    now, later = forecast.at([forecast.rows, fourfold]).to_dict("records")
    numbers = [row[name] for row in (now, later) for name in ("rmse", "low", "high")]
    texts = aligned([*numbers, *([] if forecast.deterministic else [forecast.noise_rmse])])
    span = say("RMSE with {} rows, 90\u00a0% interval {} to {}")
    tiles = [
        (texts[0], span.format(f"your {now['n']:,}", texts[1], texts[2])),
        (texts[3], span.format(f"{later['n']:,}", texts[4], texts[5])),
    ]
    tiles += [(text, say("noise floor (irreducible error): the lowest RMSE with unlimited rows")) for text in texts[6:]]
    if view.needed is not None and view.aim is not None:
        big, said = _rows_needed(view.needed, view.measure, view.aim.rmse, view.unit)
        tiles.append((big, say(said)))
    cells = "".join(f"<div class='tile'>{tagged('b', big)}{tagged('span', said)}</div>" for big, said in tiles)
    return f"<section class='tiles'>{cells}</section>"


def _rows_needed(needed: RequiredN, measure: ErrorMeasure, goal: float, unit: Unit) -> tuple[str, str]:
    if needed.estimate is None:
        return "no number", f"of rows is expected to reach the goal of {measure.write_goal(goal)}"
    low = rounded(needed.low or 0)
    span = f"{low} could be enough, and no number is certain"
    if needed.high is not None:
        span = f"{low} to {rounded(needed.high)}"
    sure = "No number of rows gives an 80 % chance"
    if needed.assured is not None:
        sure = f"80 % chance with {rounded(needed.assured)}"
    return (
        f"≈ {unit.say_number(rounded(needed.estimate))}",
        f"rows for {measure.phrase(goal)}; 90 % interval: {span}. {sure}.",
    )


def _planning(further: Answers, unit: Unit) -> str:
    """Return the answers to further questions, and the rows to measure next."""
    if not further.sentences:
        return ""
    chosen = further.written
    if chosen is None:
        return listed("What you asked", further.sentences)
    texts = [list(row) for row in chosen.itertuples(index=False)]
    rows = table(
        "Vertices to label next" if unit.are_labels else "Rows to measure next",
        [str(name) for name in chosen.columns],
        texts,
    )
    return listed("What you asked", further.sentences) + rows


def _errors(view: ForecastView) -> str:
    forecast, frame = view.result, view.to_frame()
    split = forecast.split(frame["n"].to_numpy())
    reducible = (100 * (1 - split["noise"] / (split["noise"] + split["reducible"]))).tolist()
    texts = aligned(frame[["rmse", "low", "high"]].to_numpy().ravel().tolist())
    rows = []
    for k, (n, share) in enumerate(zip(frame["n"], reducible, strict=True)):
        rmse, low, high = texts[3 * k : 3 * k + 3]
        widths = (("learn", share), ("floor", 100 - share))
        bar = "".join(f"<i class='{name}' style='width:{width:.0f}%'></i>" for name, width in widths)
        rows.append([f"{n:,}", rmse, f"{low} – {high}", f"{share:.0f} %", Html(f"<div class='bar'>{bar}</div>")])
    key = (
        f"<p class='key'>Parts of the mean squared error: <i class='learn'></i>reducible by more {view.unit.say('rows')}, "
        "<i class='floor'></i>noise floor (irreducible error).</p>"
    )
    if forecast.deterministic:
        key = "<p>Without noise, more rows can remove all of the mean squared error.</p>"
    head = [view.unit.say("rows"), "RMSE", "90 % interval", "reducible", "parts of the mean squared error"]
    if view.measure is not RMSE:
        write = view.measure.write
        for row, (rmse, low, high) in zip(rows, frame[["rmse", "low", "high"]].to_numpy().tolist(), strict=True):
            row[3:3] = [write(rmse), view.measure.write_interval(low, high).replace(" to ", " – ")]
        unit = f" in{view.measure.unit}{view.measure.after}" if view.measure.unit else ""
        head[3:3] = [f"{view.measure.noun.split()[-1]}{unit}", "90 % interval"]
    return table("What to expect", head, rows, roomy=head[-1:]) + key


def _inputs(forecast: Forecast) -> str:
    relevance = forecast.relevance
    if relevance is None:
        return ""
    rows = []
    for i in np.argsort(-relevance.share):
        share = float(relevance.share[i])
        bar = Html(f"<div class='bar'><i class='learn' style='width:{100 * share:.0f}%'></i></div>")
        said = describe_dependence(share, float(relevance.lengthscales[i]), float(relevance.units[i]))
        rows.append([tagged("b", relevance.names[i]), f"{100 * share:.0f} %", bar, said])
    about = "<p>The share is each input's part of the explainable variance, according to the fitted model. Check that you will know an input with a large share before you need the prediction.</p>"
    head = ("input", "share", "", "how the target depends on it")
    return table("What each input contributes", head, rows, [""]) + about


def describe_dependence(share: float, lengthscale: float, units: float) -> str:
    """Say what a lengthscale, in standard deviations of the input, means; ``units`` is the same in its own units."""
    if share < 0.02:
        return "hardly matters"
    if math.isnan(units):
        return "differs between categories"
    over = f", lengthscale about {units:.2g}" if units > 0 else ""
    if lengthscale < 0.5:
        return f"strongly nonlinear{over}"
    if lengthscale < 1.5:
        return f"nonlinear{over}"
    return f"slightly nonlinear{over}" if lengthscale < 4 else "nearly linear"


def _choosing(forecast: Forecast) -> str:
    unit = forecast.unit
    n = int(max(forecast.rows, min(2 * forecast.rows, unit.sight)))
    random, chosen = (float(frame["rmse"].iloc[0]) for frame in (forecast.at([n]), forecast.designed([n])))
    saved = 1 - chosen / random
    said = f"Choosing inputs instead of drawing them at random would hardly help: at {n:,} rows, by less than 1 %."
    if saved >= 0.01:
        said = (
            "If you control where you measure, choose the inputs of new rows one by one, each where the model is least "
            f"certain. At {n:,} rows the RMSE would be about {chosen:.3g} instead of {random:.3g}, {100 * saved:.0f} % lower "
            "(the dashed curve). This assumes known lengthscales; in practice expect a smaller gain."
        )
    if not unit.are_labels:
        return f"<h2>If you can choose your inputs</h2>{tagged('p', said)}"
    said = f"Choosing vertices instead of drawing them at random would hardly help: at {n:,} labels, by less than 1 %."
    if saved >= 0.01:
        said = (
            "If you can choose which vertices to label, choose them one by one, each the one that tells most about the others. At "
            f"{n:,} labels the RMSE would be about {chosen:.3g} instead of {random:.3g}, {100 * saved:.0f} % lower (the dashed "
            "curve). This assumes that the fitted kernel is right; in practice expect a smaller gain."
        )
    return f"<h2>If you can choose the vertices</h2>{tagged('p', said)}"


def _assumptions(forecast: Forecast) -> Iterable[str]:
    if forecast.unit.are_labels:
        yield from _assumptions_on_graphs(forecast)
        return
    yield "New rows come from the same sources, ranges and measurement as yours."
    model = "The model is the regressor given"
    if forecast.relevance is not None:
        model = "The model is a Gaussian process with one lengthscale per input (RBF or Matérn-5/2), refitted as rows arrive"
    yield f"{model}; another kind of model may do better or worse."
    yield (
        f"The error is the root mean squared error against new{'' if forecast.deterministic else ', noisy'} values of the "
        "target, in its own units, as you would measure it on held-out rows."
    )
    yield (
        "The 90 % interval is calibrated on regression tasks with known learning curves, most of them real tables. It does "
        "not cover effects absent from your rows, such as rare outliers, seasonality or conditions you have not sampled."
    )
    yield from forecast.notes


def _assumptions_on_graphs(forecast: Forecast) -> Iterable[str]:
    yield "Further labels are at vertices drawn at random, and are measured like yours."
    yield (
        "The model is an average over Gaussian processes on the graph (Matérn and diffusion kernels of all ranges, with both "
        "normalisations) and label propagation, refitted as labels arrive; another kind of model may do better or worse."
    )
    yield (
        "The error is the root mean squared error against labels, noise included, at vertices that have none yet, in the "
        "target's own units."
    )
    yield (
        "The 90 % interval is calibrated on real networks with known values. It does not cover what your labels cannot show, such "
        "as a part of the network without labels."
    )
    yield from forecast.notes
