"""Learning curves: approximations as lines, bounds as the edges of what they allow, simulations as points, goals as levels."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from gpcurves.curve import CurveSet, LearningCurve, dump
from gpcurves.errors import InputError
from gpcurves.goals import Goal
from gpcurves.graphs import Graph
from gpcurves.inducing import InducingGoal
from gpcurves.methods import METHODS, Kind, Scope
from gpcurves.methods.base import Formula
from gpcurves.methods.formulas.decay import asymptotics, objection
from gpcurves.numerics.validation import FloatArray, positive
from gpcurves.problem import Problem
from gpcurves.quantities import MSE, QUANTITIES, Quantity
from gpcurves.render.page import Html, as_html, document, listed, sentences, table, tagged
from gpcurves.render.plotly import embed
from gpcurves.render.scene import Area, Axis, Line, Mark, Points, Scene, Stroke, plain
from gpcurves.render.views import View, groups, inducing

_SIZES = {
    "n": ("number of examples n", "n"),
    "m": ("number of inducing points m", "m"),
    "nu": ("number of examples per vertex ν", "ν"),
}
_SECOND, _IN_UNITS = "; below it the number of labels", "; below it the RMSE in target units"
_GOAL = "#B3261E"
_LONGEST_TAG = 12  # names of curves up to this length are written beside their ends as well
REGION = "#dfe8f1"
# colours that colour-blind readers can tell apart
PALETTE = ("#0072B2", "#CC79A7", "#D55E00", "#009E73", "#56B4E9", "#E69F00", "#6A3D9A")
_SEQUENCE = ("#440154", "#31688e", "#35b779", "#e8c319")
_DASHES = ("dash", "dot", "dashdot", "longdash")
_EITHER = ("solid", "dot", "solid", "dash")
"""Approximations that follow each other in a picture often coincide: the second is seen on top of the first."""
TRUTH, ASIDE, SPARSE, EXACT = "simulated truth", "for a modified problem", "few inducing points", "exact"
_LOOKS: dict[str, tuple[float, list[tuple[str, str]]]] = {
    "approximations": (2.2, [(colour, dash) for dash in ("", "dashdot", "longdash") for colour in PALETTE]),
    "lower bounds": (1.4, [(colour, dash) for colour in ("#46525c", "#8795a1") for dash in _DASHES]),
    "upper bounds": (1.4, [(colour, dash) for colour in ("#a0522d", "#d08a5b") for dash in _DASHES]),
    SPARSE: (2.0, [(colour, dash) for dash in ("", "dashdot") for colour in reversed(PALETTE)]),
    EXACT: (1.8, [(colour, dash) for colour in ("#7a4f9a", "#b08fc7") for dash in ("solid", "dashdot", "longdash")]),
    ASIDE: (1.6, [(colour, dash) for colour in ("#8a8a2a", "#b5b554") for dash in ("dot", "dashdot", "longdash")]),
    TRUTH: (1.5, [(colour, "solid") for colour in ("#000000", *PALETTE)]),
}
"""Width, colours and dashes under each heading of the legend; an empty dash stands for the next of the above."""
Curves = Mapping[str, LearningCurve]


@dataclass(frozen=True, eq=False)
class CurvesView(View):
    """A curve or a set of curves, with the goals to mark; the title is the problem unless given.

    ``deviation`` is the standard deviation of the target before there are labels, in its own units, if it is known: pictures then
    show errors in these units, too.
    """

    result: CurveSet | LearningCurve
    goals: Sequence[Goal] = ()
    excesses: Sequence[InducingGoal] = ()
    title: str | None = None
    deviation: float | None = None

    @cached_property
    def curves(self) -> CurveSet:
        """The curves by label."""
        return CurveSet({self.result.method: self.result}) if isinstance(self.result, LearningCurve) else self.result

    @cached_property
    def lines(self) -> tuple[CurveSet, str]:
        """The curves as lines along one axis, and that axis."""
        return inducing.unfold(groups.unfold(self.curves))

    def to_csv(self) -> str:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        names = self.curves.columns
        writer.writerow(names)
        for label, curve in groups.unfold(self.curves).items():
            unknown = np.full(len(curve.sizes), np.nan)
            stderr = unknown if curve.stderr is None else curve.stderr
            counts = [curve.sizes] + ([unknown if curve.m is None else curve.m] if "m" in names else [])
            for row in zip(*(each.tolist() for each in (*counts, curve.error, stderr)), strict=True):
                # counts as integers, and numbers so that they read back the same
                cells = ["" if math.isnan(each) else repr(each) for each in row]
                for k, count in enumerate(row[: len(counts)]):
                    cells[k] = str(int(count)) if count.is_integer() else cells[k]
                writer.writerow([label, *cells])
        return text.getvalue()

    def to_json(self) -> str:
        data = self.result.to_dict()
        if self.goals:
            data[f"required_{self.curves.axis}"] = [entry for goal in self.goals for entry in _entries(goal)]
            data["sentence"] = " ".join(goal.sentence for goal in self.goals)
        if self.excesses:
            data["required_m"] = [
                {name: None if value != value else value for name, value in asdict(goal).items()}
                for goal in self.excesses
            ]
        return dump(data, None)

    @property
    def heading(self) -> str:
        """The title given, or what the problems of all curves have in common."""
        if self.title is not None:
            return self.title
        return ", ".join(_shared(curve.problem for curve in self.curves.values())) or "several problems"

    def scene(self) -> Scene:
        if inducing.is_plane(self.curves):
            (plane,) = self.curves.values()
            return inducing.plane_scene(plane, self.heading, self.excesses)
        curves, axis = self.lines
        x, y = _size_axis(curves, axis), _error_axis(curves, self.goals)
        if self.deviation is not None:
            unit = positive("deviation", self.deviation) / math.sqrt(_prior_variance(self.curves))
            y = replace(y, label=f"{y.label}{_IN_UNITS}", per_root=unit)
        said = [*(goal.sentence for goal in self.goals), *map(str, self.excesses[:2])]  # a page has them all
        scene = Scene(x, y, self.heading, " ".join(said))
        sparse = any(curve.m is not None for curve in self.curves.values())  # bounds are of the full GP
        if not sparse and (allowed := region(curves)) is not None:
            edges = np.maximum(allowed[1], y.low / 10), allowed[2]
            scene.marks.append(Area(allowed[0], *edges, REGION, label="allowed by the bounds", layer=0))
        looks = strokes(curves)
        for label, curve in curves.items():
            scene.marks += _marks(label, curve, looks[label], y)
        lines = [mark for mark in scene.marks if isinstance(mark, Line)]
        scene.name_ends([line for line in lines if len(line.name) <= _LONGEST_TAG] if len(lines) > 1 else [])
        for goal in self.goals:  # a line, and a mark where each curve crosses it within the picture
            if not y.low < goal.error < y.high:
                continue
            name = f"goal {goal.error:g}"
            scene.add_level(goal.error, Stroke(_GOAL, "solid", 1.2), name)
            for label, size in goal.needed.items():
                if x.low <= size <= x.high:
                    scene.add_diamond(size, goal.error, looks[label].colour, 5.5, f"{label} at {name}")
            scene.label_level(goal.error, name, _GOAL)
        inducing.mark_goals(scene, self.excesses, axis)
        return scene

    def page(self) -> str:
        parts = [
            f"<h1>Learning curves: {as_html(' and '.join(each.short for each in shown_in(self.curves)))} against {_SIZES[self.lines[1]][0][:-2]}</h1>",
            f"<p class='problem'>{as_html(self.heading)}</p>",
            sentences([*(goal.sentence for goal in self.goals), *map(str, self.excesses)]),
            embed(self.scene()),
            _goal_table(self.goals, self.curves.axis),
            listed("How fast the error falls", _decay(self.curves)),
            _numbers(*self.lines),
            inducing.claims(self.curves),
            _guarantees(self.curves),
            listed("Notes", [f"{label}: {note}" for label, curve in self.curves.items() for note in curve.notes]),
            listed("Left out", [f"{name}: {reason}" for name, reason in self.curves.skipped.items()]),
        ]
        return document(f"Learning curves: {self.heading}", parts)

    def notebook(self) -> str:
        return f"{tagged('p', self.heading)}{_numbers(*self.lines)}"


def _decay(curves: CurveSet) -> list[str]:
    """Return how the error falls with many examples, if there is theory for the one problem of these curves."""
    theory = [METHODS.get(curve.method) for curve in curves.values()]
    if len(curves.problems) > 1 or not any(isinstance(each, Formula) and each.spectral for each in theory):
        return []
    if shown_in(curves) != [MSE] or objection(curves.problem) is not None:
        return []
    return asymptotics(curves.problem).sentences()


def _entries(goal: Goal) -> list[dict[str, Any]]:
    """Return the answers to a goal as plain data."""
    sizes = {label: int(size) if goal.axis == "n" else size for label, size in goal.needed.items()}
    answers: dict[str, dict[str, Any]] = {label: {goal.axis: size} for label, size in sizes.items()}
    answers |= {label: {goal.axis: None, "reason": reason} for label, reason in goal.missing.items()}
    return [{"error": goal.error, "method": label} | answer for label, answer in answers.items()]


def _shared(problems: Iterable[Problem]) -> list[str]:
    """Return what descriptions have in common: whole parts, and the class of a part whose parameters differ."""
    shared = []
    described = [re.split(r", (?![^(]*\))", problem.describe()) for problem in problems]  # kernel, inputs, noise
    for parts in zip(*described, strict=False):
        classes = {part.partition("(")[0] for part in parts}
        if len(set(parts)) == 1:
            shared.append(parts[0])
        elif len(classes) == 1:
            shared += classes
    return shared


def _marks(label: str, curve: LearningCurve, stroke: Stroke, y: Axis) -> list[Mark]:
    """Return the points of a simulation, or the line of any other curve with its band, of one standard error unless it knows better."""
    order = np.argsort(curve.sizes, kind="stable")
    sizes, error = curve.sizes[order], np.where((curve.error > 0) | (not y.log), curve.error, np.nan)[order]
    stderr = None if curve.stderr is None else curve.stderr[order]
    group, kind = heading_of(curve.method), kind_of(curve)
    if kind is Kind.ESTIMATE:
        words = label if stderr is None else f"{label}, ± standard error"
        look: Any = {"size": 3.2, "name": label, "label": words, "group": group, "layer": 5}
        return [Points(sizes, error, stroke.colour, stderr, stderr, **look)]
    title = METHODS[curve.method].title if curve.method in METHODS else ""
    words = f"{label}: {title}" if label == curve.method and title else label
    layer = 2 if kind is not Kind.APPROXIMATION else 3 if stroke.dash == "solid" else 4  # dashes on top
    line = Line(sizes, error, stroke, name=label, label=words, group=group, layer=layer)
    if {"low", "high"} <= set(curve.diagnostics):  # more than its standard error: what cycles of a graph may change
        low, high = (np.asarray(curve.diagnostics[end])[order] for end in ("low", "high"))
    elif stderr is not None:
        low, high = error - stderr, error + stderr
    else:
        return [line]
    low = np.maximum(low, y.low / 10) if y.log else low
    return [Area(sizes, low, high, stroke.colour, 0.25, layer=1), line]


def region(curves: Curves) -> tuple[FloatArray, FloatArray, FloatArray] | None:
    """Return n and the edges of the region in which the bounds say that the average error lies.

    The prior variance is an upper bound too: no data set makes a posterior variance larger. None without any bound, and
    if the curves are of several problems.
    """
    bounds = [curve for curve in curves.values() if heading_of(curve.method).endswith("bounds")]
    if any(curve.quantity != MSE.name for curve in curves.values()):
        return None
    if not bounds or any(curve.problem != bounds[0].problem for curve in curves.values()):
        return None
    order = np.argsort(bounds[0].sizes, kind="stable")
    same = [curve for curve in bounds if np.array_equal(curve.sizes, bounds[0].sizes)]
    lower = [curve.error[order] for curve in same if kind_of(curve) is Kind.LOWER_BOUND]
    upper = [curve.error[order] for curve in same if kind_of(curve) is Kind.UPPER_BOUND]
    problem = bounds[0].problem
    known = problem.axis == "nu" and problem.true_kernel.normalise != "none"
    on_graph = problem.true_kernel.variance if known else 0.0
    prior = problem.spectrum.trace if problem.axis == "n" else on_graph
    high = np.min([np.full(len(order), prior), *upper], axis=0)
    return bounds[0].sizes[order], np.max([np.zeros(len(order)), *lower], axis=0), high


def _size_axis(curves: CurveSet, axis: str) -> Axis:
    sizes = np.unique(np.concatenate([curve.sizes for curve in curves.values()]))
    label, short = _SIZES.get(axis, (axis, axis))
    log = len(sizes[sizes > 0]) > 1 if curves.axis == "nu" else spans_decades(sizes)
    low, high = (float(end) for end in ((sizes[sizes > 0] if log else sizes)[[0, -1]]))
    if high == low:
        return Axis(label, low - 0.5, high + 0.5, False, short)
    labels = _labels_per_size(curves)
    if any(kind_of(curve) is Kind.ESTIMATE for curve in curves.values()):  # the frame would cut points
        edge = 0.012 * (high - low)
        low, high = (low / 1.06, high * 1.06) if log else (low - edge, high + edge)
    return Axis(f"{label}{_SECOND if labels else ''}", low, high, log, short, labels)


def _labels_per_size(curves: CurveSet) -> float:
    """Return how many labels one example per vertex is, if all curves are on given graphs of one size, else 0."""
    graphs = {curve.problem.graph if curve.axis == "nu" else None for curve in curves.values()}
    sizes = {graph.vertices if isinstance(graph, Graph) else 0 for graph in graphs}
    return float(sizes.pop()) if len(sizes) == 1 else 0.0


def spans_decades(n: FloatArray) -> bool:
    """Tell whether n spans decades, and not in equal steps."""
    some = n[n > 0]
    if len(some) < 3 or some.max() < 50 * some.min():
        return False
    steps = np.diff(np.sort(some))
    return bool(steps.max() > 1.5 * steps.min())


def _error_axis(curves: Curves, goals: Sequence[Goal]) -> Axis:
    """Return the axis of errors worth showing: down to the curves, to the best lower bound close below, and to goals."""
    shown = shown_in(curves)
    words, short = (" or ".join(getattr(each, name) for each in shown) for name in ("title", "short"))
    if not all(each.falls for each in shown):  # of any sign
        values = np.concatenate([curve.error[np.isfinite(curve.error)] for curve in curves.values()])
        low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
        edge = 0.04 * (high - low) or 0.5
        return Axis(words, low - edge, high + edge, short=short)
    bounds = (Kind.LOWER_BOUND, Kind.UPPER_BOUND)
    aims = [curve.error for curve in curves.values() if kind_of(curve) not in bounds]
    allowed = region(curves)
    if not aims:
        aims = [curve.error for curve in curves.values()] if allowed is None else [allowed[1], allowed[2]]
    values = np.concatenate(aims)
    values = values[values > 0]
    high = float(values.max(initial=0.0)) or 1.0
    low = max(float(values.min(initial=high)), high * 1e-15)
    if allowed is not None and (bound := float(allowed[1].min())) > 0:
        low = min(low, max(bound, low / 5))
    for goal in goals:  # a goal far away is not worth a picture of nothing else
        low, high = min(low, max(goal.error, low / 10)), max(high, min(goal.error, high * 10))
    return Axis(words, low / 1.4, high * 1.3, log=True, short=short)


def shown_in(curves: Curves) -> list[Quantity]:
    """Return the quantities of curves; one that is not known here, of another version, by its name alone."""
    names = dict.fromkeys(curve.quantity for curve in curves.values())
    return [QUANTITIES[name] if name in QUANTITIES else Quantity(name, name, name, name, falls=False) for name in names]


def _prior_variance(curves: Curves) -> float:
    """Return the average variance of the target before there are labels, in the units of the errors."""
    found = set()
    for problem in (curve.problem for curve in curves.values()):
        if problem.axis == "nu" and problem.true_kernel.normalise == "none":
            raise InputError("errors in the target's units need a kernel whose average variance is 1: normalise it")
        found.add(problem.true_kernel.variance if problem.axis == "nu" else float(problem.spectrum.trace))
    if len(found) > 1:
        raise InputError("errors in the target's units need curves with the same prior variance: show them one by one")
    return found.pop()


def _goal_table(goals: Sequence[Goal], axis: str) -> str:
    rows = []
    for goal in goals:
        sizes = sorted(goal.needed.items(), key=lambda entry: entry[1])
        answers = {label: f"{size:,.0f}" if axis == "n" else f"{size:.4g}" for label, size in sizes}
        entries = (answers | dict(goal.missing)).items()
        rows += [[f"{goal.error:g}", label, answer] for label, answer in entries]
    what = "examples needed" if axis == "n" else "examples needed per vertex"
    return table(what.capitalize(), ("goal", "curve", what), rows) if rows else ""


def _numbers(curves: CurveSet, axis: str) -> str:
    """Return a table of the errors at a dozen sizes, of those that all curves have if there are any."""
    known = [dict(zip(curve.sizes.tolist(), curve.error.tolist(), strict=True)) for curve in curves.values()]
    sizes = sorted(set(known[0]).intersection(*known) or set(known[0]).union(*known))
    sizes = [sizes[k] for k in np.unique(np.linspace(0, len(sizes) - 1, 12).round().astype(int))]
    rows = []
    for size in sizes:
        errors = [f"{each[size]:.4g}" if size in each else "" for each in known]
        rows.append([f"{size:.4g}" if curves.axis == "nu" else plain(size), *errors])
    heads = dict.fromkeys("Errors" if each is MSE else each.title.capitalize() for each in shown_in(curves))
    return table(" and ".join(heads), [_size_axis(curves, axis).short, *curves], rows)


def _guarantees(curves: Curves) -> str:
    names = dict.fromkeys(curve.method for curve in curves.values() if curve.method in METHODS)
    rows = []
    for method in (METHODS[name] for name in names):
        name = Html(f"{tagged('b', method.name)}<br>{as_html(method.title)}")
        rows.append([name, method.relation, method.promise, method.source])
    return table("What each method guarantees", ("method", "what it is", "guarantee", "source"), rows)


def kind_of(curve: LearningCurve) -> Kind:
    """Return what a curve is in relation to the truth; a method that is not known here counts as an approximation."""
    return METHODS[curve.method].kind if curve.method in METHODS else Kind.APPROXIMATION


def heading_of(name: str) -> str:
    """Return the heading under which a legend lists the curves of a method."""
    if name not in METHODS:
        return "approximations"
    method = METHODS[name]
    if method.kind is Kind.ESTIMATE:
        return TRUTH
    if method.scope is Scope.SPARSE:
        return SPARSE
    if method.scope in (Scope.MODIFIED, Scope.OTHER_PROBLEM):
        return ASIDE
    return EXACT if method.kind is Kind.EXACT else f"{method.kind.value}s"


def strokes(curves: Curves) -> dict[str, Stroke]:
    """Return how each curve is drawn, so that no two look the same."""
    if len({curve.method for curve in curves.values()}) < len(curves):
        return _of_sweep(curves)
    chosen: dict[str, Stroke] = {}
    taken: dict[str, list[tuple[str, str]]] = {group: [] for group in _LOOKS}
    for label, curve in curves.items():
        group = heading_of(curve.method)
        width, looks = _LOOKS[group]
        # a method has the look of its position among those of its group, so that it looks the same in every picture
        same = [name for name, method in METHODS.items() if curve.axis in method.axes and heading_of(name) == group]
        first = same.index(curve.method) % len(looks) if curve.method in same else len(same)
        look = next((look for look in looks[first:] + looks if look not in taken[group]), looks[0])
        chosen[label] = Stroke(look[0], look[1] or _EITHER[len(taken[group]) % len(_EITHER)], width)
        taken[group].append(look)
    return chosen


def _of_sweep(curves: Curves) -> dict[str, Stroke]:
    """Give each setting a colour and each method a dash pattern."""
    methods = list(dict.fromkeys(curve.method for curve in curves.values() if kind_of(curve) is not Kind.ESTIMATE))
    everyone = list(curves.values())
    settings: dict[str, tuple[int, int]] = {}
    for at, (label, curve) in enumerate(curves.items()):
        same = [k for k, other in enumerate(everyone) if other.problem == curve.problem]
        settings[label] = same[0], sum(everyone[k].method == curve.method for k in same if k < at)
    # a bound that is there once, among several problems, holds for all of them: it has the colour of bounds
    shared = {
        label: _LOOKS[heading_of(curve.method)][1][0][0]
        for label, curve in curves.items()
        if heading_of(curve.method).endswith("bounds") and sum(c.method == curve.method for c in everyone) == 1
    }
    distinct = sorted({setting for label, setting in settings.items() if label not in shared})
    colours = PALETTE if len(distinct) <= len(PALETTE) else _sequence(len(distinct))
    dashes = ("solid", *_DASHES)
    return {
        label: Stroke(
            shared.get(label) or colours[distinct.index(settings[label])],
            dashes[methods.index(curve.method) % len(dashes)] if curve.method in methods else "solid",
            _LOOKS[heading_of(curve.method)][0],
        )
        for label, curve in curves.items()
    }


def _sequence(count: int) -> list[str]:
    """Return colours from dark blue to yellow, for settings that are too many to have colours of their own."""
    at, stops = np.linspace(0, len(_SEQUENCE) - 1, count), range(len(_SEQUENCE))
    channels = [[int(colour[i : i + 2], 16) for colour in _SEQUENCE] for i in (1, 3, 5)]
    mixed = np.rint([np.interp(at, stops, channel) for channel in channels]).astype(int)
    return ["#" + "".join(f"{part:02x}" for part in colour) for colour in mixed.T]
