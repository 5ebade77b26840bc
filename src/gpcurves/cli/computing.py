"""From a problem and what was given to curves and answers: which methods, with which options, run how."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from gpcurves import goals, inducing
from gpcurves.api import compute_curves, request_curves
from gpcurves.cli import output, parse
from gpcurves.cli.options import Given, Option, parameter_options
from gpcurves.cli.streams import tell
from gpcurves.curve import CurveSet, LearningCurve
from gpcurves.errors import InputError, NumericalError
from gpcurves.methods import METHODS, Kind
from gpcurves.methods.base import Request
from gpcurves.montecarlo import Run
from gpcurves.numerics.parameters import parameters_of
from gpcurves.numerics.validation import FloatArray, positive, sizes
from gpcurves.problem import Problem
from gpcurves.quantities import MSE, QUANTITIES

_BEYOND, _POINTS = 1.5, 40  # how far beyond the goal a picture shows curves, and by how many points it continues them
_LOOSE, _APART = 10.0, 1.15  # bounds that need this many times as much are not shown; ratio of sizes of random points


def size_options(axis: str, default: str) -> list[Option]:
    """Return the options that say what is computed."""
    section = "What to compute"
    what = "Numbers of examples" if axis == "n" else "Examples per vertex"
    sizes = f"{what}: a list, start:stop:step, start:stop:log:count, or a mix.  [{default}]"
    methods = "Methods separated by commas, see 'gpcurves methods'; all takes those that apply.  [all]"
    quantity = (
        f"What to compute: {'; '.join(f'{each.name}, the {each.meaning}' for each in QUANTITIES.values())}.  [mse]"
    )
    goal = "Also say how many examples this error needs; may be given several times."
    return [
        Option(f"--{axis}", "sizes", default=default, section=section, metavar="LIST", help=sizes),
        Option("--methods", default="all", section=section, metavar="NAMES", help=methods),
        Option("--quantity", default=MSE.name, section=section, metavar="NAME", help=quantity),
        Option("--goal", "goals", multiple=True, section=section, metavar="NUMBER", help=goal),
    ]


def method_options(axis: str, taken: set[str], **aliases: str) -> list[Option]:
    """Return one option for each option of a method along an axis."""
    members = {
        method.name: [each for each in parameters_of(method.Options) if each.axis in (None, axis)]
        for method in METHODS.values()
        if axis in method.axes
    }
    return parameter_options("method", members, taken, section="Options of methods", aliases=aliases)


def answer(given: Given, build: Callable[[Given], Problem], adding: Sequence[str] = ()) -> int | None:
    """Build the problem, compute the curves, answer the goals, and write both; returns the exit code.

    ``adding`` are methods to compute besides those that were named.
    """
    output.check_out(given, CurveSet)
    problem = build(given)
    axis = problem.axis
    at = sizes(axis, parse.size_list(f"--{axis}", given["sizes"], integers=axis == "n"))
    errors = [positive("--goal", parse.number("--goal", goal)) for goal in given["goals"]]
    scale = given.context.params.get("deviation")
    deviation = None if scale is None else positive("--deviation", parse.number("--deviation", scale))
    quantity = QUANTITIES[given["quantity"]]
    if errors and not quantity.falls:
        raise InputError(
            f"--goal needs a quantity that always falls with more examples, which {quantity.name} does not"
        )
    options, flags = read_given(given)
    named = given["methods"].strip()
    made = [name for name in adding if problem.observation.mismatch(METHODS[name].compound) is None]
    methods = named if named == "all" else [*parse.names("--methods", named), *made]
    run = Run(given["rng"], given["workers"] or 1, given["store"], False if given["quiet"] else None)
    requests, skipped = request_curves(problem, at, methods, options, run, flags, quantity.name)
    excess = _read_excess(given, requests)
    try:
        curves, requests = compute_curves(requests, at, skipped)
    except KeyboardInterrupt as stop:
        return output.say_interrupted(stop, given["store"])
    answers: list[goals.Goal] = []
    stopped = False
    try:
        for error in errors:
            answers.append(goals.answer_goal(curves, requests, error))  # noqa: PERF401  (those before an interruption are kept)
        sparse = [request for request in requests if request.method.second == "m"] if excess else []
        excesses = [inducing.answer_excess(request, int(at.max()), excess) for request in sparse]
    except KeyboardInterrupt:
        stopped, excesses = True, []
    longer = curves
    if output.is_shown(given):
        longer = _pass_through(_continue_to_goals(curves, requests, answers), requests, at, excesses)
    output.emit_curves(longer, answers, given, excesses=excesses, deviation=deviation)
    if stopped:
        tell("gpcurves: interrupted before all goals were answered")
        return 130
    stuck = [label for label, curve in curves.items() if np.min(curve.diagnostics.get("converged", 1)) < 1]
    if stuck:
        tell(f"gpcurves: {', '.join(stuck)} did not converge; the result so far was written")
    return 1 if stuck else None


def _read_excess(given: Given, requests: Sequence[Request]) -> float:
    """Return how far above the full GP's error approximations may be, or 0 if that was not asked."""
    asked = given.context.params.get("goal_excess")
    if asked is None:
        return 0.0
    if not any(request.method.second == "m" for request in requests):
        raise InputError("--goal-excess applies to inducing points only: add --inducing, or a method such as sor")
    return positive("--goal-excess", parse.number("--goal-excess", asked))


def read_given(given: Given) -> tuple[dict[str, Any], dict[str, str]]:
    """Return what is on the command line of options of methods and of how to run, and the flag of each, by name."""
    options: dict[str, Any] = {name: given[name] for name in ("rng", "workers", "store") if given.has(name)}
    flags = {name: f"--{name}" for name in options}
    for option, text in given.of("method"):
        own = next(iter(option.owners.values()))
        options[own.name] = parse.value(option.flag, text, own.kind)
        flags[own.name] = option.flag
    return options, flags


def _continue_to_goals(curves: CurveSet, requests: Sequence[Request], answers: Sequence[goals.Goal]) -> CurveSet:
    """Return curves that a picture can show up to the goals; random ones get the points that the search computed."""
    needed = [(METHODS[curves[label].method].kind, size) for goal in answers for label, size in goal.needed.items()]
    upper = [size for kind, size in needed if kind is Kind.UPPER_BOUND]
    lower = [size for kind, size in needed if kind is Kind.LOWER_BOUND]
    tight = max(max(lower, default=0.0), min(upper, default=0.0))
    near = max((size for kind, size in needed if kind not in (Kind.LOWER_BOUND, Kind.UPPER_BOUND)), default=tight)
    reach = max((size for _, size in needed if size <= _LOOSE * near), default=0.0)  # a loose bound squeezes the rest
    longer = dict(curves)
    for (label, curve), request in zip(curves.items(), requests, strict=True):
        last = float(curve.sizes.max())
        if reach <= last:
            continue
        if request.draws:
            seen = [each for goal in answers for each in goal.seen[label]]
            longer[label] = _join(curve, seen, reach)
            continue
        more = np.geomspace(max(last, reach / 1e3), _BEYOND * reach, _POINTS)
        sizes = np.concatenate((curve.sizes, np.unique(np.ceil(more)) if curves.axis == "n" else more))
        with suppress(NumericalError):  # a curve that cannot be continued ends where it did
            longer[label] = request.curve(np.unique(sizes))
    return CurveSet(longer, curves.skipped)


def _pass_through(
    curves: CurveSet, requests: Sequence[Request], at: FloatArray, excesses: Sequence[inducing.InducingGoal]
) -> CurveSet:
    """Return curves along m with the numbers of inducing points that are enough, so that a picture shows the error there."""
    longer = dict(curves)
    found = {goal.m for goal in excesses}
    for (label, curve), request in zip(curves.items(), requests, strict=True):
        if found and curve.m is not None and len(np.unique(curve.m)) > 1:
            m = tuple(sorted({*np.unique(curve.m).astype(int).tolist(), *found}))
            options: Any = request.options
            longer[label] = replace(request, options=replace(options, m=m)).curve(at)
    return CurveSet(longer, curves.skipped)


def _join(curve: LearningCurve, others: Sequence[LearningCurve], reach: float) -> LearningCurve:
    """Return a curve with the points of others beyond its end, so many that they can be told apart."""
    pieces = [curve, *others]
    sizes = np.concatenate([each.sizes for each in pieces])
    kept = list(range(len(curve.sizes)))
    for k in np.argsort(sizes, kind="stable"):
        if _APART * sizes[kept].max() <= sizes[k] <= _BEYOND * reach:
            kept.append(k)
    joined: dict[str, Any] = {
        name: np.concatenate([getattr(each, name) for each in pieces])[kept] for name in ("sizes", "error", "stderr")
    }
    details = {name: np.concatenate([each.details[name] for each in pieces])[kept] for name in curve.details}
    return replace(curve, **joined, details=details, diagnostics={})
