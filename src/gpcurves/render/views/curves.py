"""Learning curves: approximations as lines, bounds as the edges of what they allow, simulations as points, goals as levels."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from gpcurves.curve import CurveSet, LearningCurve, dump
from gpcurves.errors import InputError
from gpcurves.goals import Goal
from gpcurves.graphs import Graph
from gpcurves.inducing import InducingGoal
from gpcurves.methods import METHODS, Kind
from gpcurves.methods.base import Formula
from gpcurves.methods.formulas.decay import asymptotics, objection
from gpcurves.numerics.display import Display
from gpcurves.numerics.validation import FloatArray, positive
from gpcurves.quantities import MSE, QUANTITIES, Quantity
from gpcurves.render.mpl import draw, erase, has_scene
from gpcurves.render.page import Html, as_html, document, listed, sentences, table, tagged
from gpcurves.render.plotly import embed
from gpcurves.render.scene import Area, Axis, Line, Mark, Points, Scene, Stroke, plain
from gpcurves.render.views import View, groups, inducing
from gpcurves.render.views.looks import Curves, heading_of, kind_of, strokes
from gpcurves.render.wording import shared_words, without_calls

_SIZES = {
    "n": ("number of examples n", "n"),
    "m": ("number of inducing points m", "m"),
    "nu": ("number of examples per vertex ν", "ν"),
}
_SECOND, _IN_UNITS = "; below it the number of labels", "; below it the RMSE in target units"
_GOAL = "#B3261E"
_LONGEST_TAG = 16  # names of curves are written beside their ends as well, if none is longer
REGION = "#dfe8f1"
_CLOSE = 2.5  # lower bounds that end within this factor below a picture are part of it


@dataclass(frozen=True, eq=False)
class CurvesView(View):
    """A curve or a set of curves, with the goals to mark; the title is the problem unless given.

    A goal that is a number is marked where the curves cross it; a `Goal` also knows what they need beyond their last size.
    ``deviation`` is the standard deviation of the target before there are labels, in its own units, if it is known: pictures then
    show errors in these units, too.
    """

    result: CurveSet | LearningCurve
    goals: Sequence[Goal | float] | float = ()
    excesses: Sequence[InducingGoal] = ()
    title: str | None = None
    deviation: float | None = None

    @cached_property
    def curves(self) -> CurveSet:
        """The curves by label."""
        return CurveSet({self.result.method: self.result}) if isinstance(self.result, LearningCurve) else self.result

    @cached_property
    def aims(self) -> tuple[Goal, ...]:
        """The goals, and at which sizes the curves reach them."""
        given = (self.goals,) if isinstance(self.goals, int | float) else self.goals
        return tuple(goal if isinstance(goal, Goal) else _crossings(self.lines[0], goal) for goal in given)

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
        if self.aims:
            data[f"required_{self.curves.axis}"] = [entry for goal in self.aims for entry in _entries(goal)]
            data["sentence"] = " ".join(goal.sentence for goal in self.aims if goal.sentence)
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
        return shared_words(self.curves.problems) or "Several problems"

    def scene(self) -> Scene:
        if inducing.is_plane(self.curves):
            (plane,) = self.curves.values()
            return inducing.plane_scene(plane, self.heading, self.excesses)
        curves, axis = self.lines
        x, y = _size_axis(curves, axis), _error_axis(curves, self.aims)
        if self.deviation is not None:
            unit = positive("deviation", self.deviation) / math.sqrt(_prior_variance(self.curves))
            y = replace(y, label=f"{y.label}{_IN_UNITS}", per_root=unit)
        said = [
            *(goal.sentence for goal in self.aims if goal.sentence),
            *map(str, self.excesses[:2]),
        ]  # a page has them all
        scene = Scene(x, y, self.heading, " ".join(said))
        sparse = any(curve.m is not None for curve in self.curves.values())  # bounds are of the full GP
        if not sparse and (allowed := region(curves)) is not None:
            edges = np.maximum(allowed[1], y.low / 10), allowed[2]
            capped = any(heading_of(curve.method) == "upper bounds" for curve in curves.values())
            words = "allowed by the bounds" if capped else "allowed by the bounds, at most the prior variance"
            scene.marks.append(Area(allowed[0], *edges, REGION, label=words, layer=0))
        looks = strokes(curves)
        for label, curve in curves.items():
            scene.marks += _marks(label, curve, looks[label], y)
        lines = [mark for mark in scene.marks if isinstance(mark, Line)]
        if len(lines) > 1 and max(len(line.name) for line in lines) <= _LONGEST_TAG:
            scene.name_ends(lines)
        for goal in self.aims:  # a line, and a mark where each curve crosses it within the picture
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

    def draw(self, ax: Any = None) -> Display:
        """Draw the curves; on axes that have curves already, all of them anew, so that each has a look and a label of its own."""
        view = self
        if ax is not None and has_scene(ax) and (before := _ON_AXES.get(ax)) is not None:
            erase(ax)
            both = _together(before.curves, self.curves)
            view = replace(
                self, result=both, goals=(*before.aims, *self.aims), excesses=(*before.excesses, *self.excesses)
            )
        display = draw(view.scene(), ax, view.result)
        _ON_AXES[display.ax_] = view
        return display

    def page(self) -> str:
        parts = [
            f"<h1>Learning curves: {as_html(' and '.join(each.short for each in shown_in(self.curves)))} against {_SIZES[self.lines[1]][0][:-2]}</h1>",
            f"<p class='problem'>{as_html(self.heading)}</p>",
            sentences([*(goal.sentence for goal in self.aims if goal.sentence), *map(str, self.excesses)]),
            embed(self.scene()),
            _goal_table(self.aims, self.curves.axis),
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


_ON_AXES: WeakKeyDictionary[Any, CurvesView] = WeakKeyDictionary()  # what was last drawn on each axes


def _together(before: CurveSet, after: CurveSet) -> CurveSet:
    """Put sets of curves together; a curve that is in both is there once, and labels of the user's own stay if they can."""
    old = {label: curve for label, curve in before.items() if not any(curve is other for other in after.values())}
    skipped = {**before.skipped, **after.skipped}
    own = any(list(curves) != list(CurveSet.of(*curves.values())) for curves in (before, after))
    if own and set(old).isdisjoint(after):
        return CurveSet({**old, **after}, skipped)
    return CurveSet.of(*old.values(), *after.values(), skipped=skipped)


def _crossings(curves: CurveSet, error: float) -> Goal:
    """Return where curves cross an error between their sizes."""
    found = {label: curve.reaches(positive("goals", error)) for label, curve in curves.items()}
    missing = {label: "not at the sizes shown" for label, size in found.items() if size is None}
    return Goal(float(error), curves.axis, {k: size for k, size in found.items() if size is not None}, missing, "")


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


def _marks(label: str, curve: LearningCurve, stroke: Stroke, y: Axis) -> list[Mark]:
    """Return the points of a simulation, or the line of any other curve with its band, of one standard error unless it knows better."""
    order = np.argsort(curve.sizes, kind="stable")
    sizes, error = curve.sizes[order], np.where((curve.error > 0) | (not y.log), curve.error, np.nan)[order]
    stderr = None if curve.stderr is None else curve.stderr[order]
    group, kind = heading_of(curve.method), kind_of(curve)
    if kind is Kind.ESTIMATE:
        words = without_calls(label) if stderr is None else f"{without_calls(label)}, ± standard error"
        look: Any = {"size": 3.2, "name": label, "label": words, "group": group, "layer": 5}
        return [Points(sizes, error, stroke.colour, stderr, stderr, **look)]
    title = METHODS[curve.method].title if curve.method in METHODS else ""
    words = f"{label}: {title}" if label == curve.method and title else without_calls(label)
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
        ends = [float(curve.error.min()) for curve in curves.values() if kind_of(curve) is Kind.LOWER_BOUND]
        low = min([low, *(end for end in ends if end > low / _CLOSE)])  # or its name would be far from its end
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
