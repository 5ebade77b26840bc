"""From a problem and what was given to curves and answers: which methods, with which options, run how."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from typing import Any

import numpy as np

from gpcurves import goals
from gpcurves.api import learning_curves
from gpcurves.cli import output, parse
from gpcurves.cli.options import Given, Option, parameter_options
from gpcurves.cli.streams import tell
from gpcurves.curve import CurveSet
from gpcurves.designs import Random
from gpcurves.errors import InputError, NotApplicableError, NumericalError
from gpcurves.graphs import Graph
from gpcurves.methods import METHODS, Kind, Method
from gpcurves.montecarlo import Run
from gpcurves.numerics.parameters import parameters_of
from gpcurves.numerics.validation import FloatArray, positive, sizes
from gpcurves.problem import Problem

_BEYOND, _POINTS = 1.5, 40  # how far beyond the goal a picture shows curves, and by how many points it continues them


def size_options(axis: str, default: str) -> list[Option]:
    """Return the options that say what is computed."""
    section = "What to compute"
    what = "Numbers of examples" if axis == "n" else "Examples per vertex"
    sizes = f"{what}: a list, start:stop:step, start:stop:log:count, or a mix.  [{default}]"
    methods = "Methods separated by commas, see 'gpcurves methods'; all takes those that apply.  [all]"
    goal = "Also say how many examples this error needs; may be given several times."
    return [
        Option(f"--{axis}", "sizes", default=default, section=section, metavar="LIST", help=sizes),
        Option("--methods", default="all", section=section, metavar="NAMES", help=methods),
        Option("--goal", "goals", multiple=True, section=section, metavar="NUMBER", help=goal),
    ]


def method_options(axis: str, taken: set[str], **aliases: str) -> list[Option]:
    """Return one option for each option of a method along an axis."""
    members = {
        name: [each for each in parameters_of(method.Options) if each.axis in (None, axis)]
        for name, method in METHODS.items()
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
    methods, skipped = _choose_methods(given, problem, at, adding)
    options = _read_options(given, problem, methods)
    _refuse_idle(given, problem, methods)
    run = Run(given["rng"], given["workers"] or 1, given["store"], False if given["quiet"] else None)
    options[axis] = at
    if any(method.random for method in methods):
        options |= {each.name: getattr(run, each.name) for each in fields(run)}
    try:
        curves = learning_curves(problem, methods=[method.name for method in methods], **options)
    except KeyboardInterrupt as stop:
        return output.say_interrupted(stop, given["store"])
    curves = replace(curves, skipped=skipped)
    answers: list[goals.Goal] = []
    stopped = False
    try:
        for error in errors:
            answers.append(goals.answer_goal(curves, error, run))  # noqa: PERF401  (those before an interruption are kept)
    except KeyboardInterrupt:
        stopped = True
    output.emit_curves(_continue_to_goals(curves, answers) if output.is_shown(given) else curves, answers, given)
    if stopped:
        tell("gpcurves: interrupted before all goals were answered")
        return 130
    stuck = [label for label, curve in curves.items() if np.min(curve.diagnostics.get("converged", 1)) < 1]
    if stuck:
        tell(f"gpcurves: {', '.join(stuck)} did not converge; the result so far was written")
    return 1 if stuck else None


def _choose_methods(
    given: Given, problem: Problem, at: FloatArray, adding: Sequence[str] = ()
) -> tuple[list[Method[Any]], dict[str, str]]:
    """Return the methods to compute, and why others of "all" are left out."""
    text = given["methods"].strip()
    if text != "all":
        names = [*parse.names("--methods", text), *adding]
        return [METHODS[name] for name in dict.fromkeys(names)], {}
    along = [method for method in METHODS.values() if problem.axis in method.axes]
    reasons = {method.name: method.objection(problem, at) for method in along}
    able = [method for method in along if reasons[method.name] is None]
    reasons |= {method.name: _spare(method, problem) for method in able}
    chosen = [method for method in able if reasons[method.name] is None]
    for option, value in given.of("method"):  # an option that no other method takes asks for its own
        if any(_takes(method, option, value, problem) for method in chosen):
            continue
        chosen += (method for method in able if _takes(method, option, value, problem))
        if not any(_takes(method, option, value, problem) for method in chosen):
            owner = METHODS[next(iter(option.owners))]
            reason = reasons[owner.name] or _read(owner, option, value, problem)[1]
            raise InputError(f"{option.flag} belongs to {owner.name}: {reason}")
    skipped = {name: why for name, why in reasons.items() if why and METHODS[name] not in chosen}
    if not chosen:
        raise NotApplicableError(f"no method applies: {next(iter(skipped.values()))}")
    return sorted(chosen, key=along.index), skipped


def _spare(method: Method[Any], problem: Problem) -> str | None:
    """Say why a method that applies is not among "all", or return None if it is; an empty text needs no words.

    A simulation of vectors takes long, so that it is asked for. On a given graph that is small it is exact and quick, whereas
    the cavity method is an approximation; on a large one dense algebra takes long.
    """
    default = goals.default_method(problem)
    if method.name == default:
        return None
    if problem.axis == "nu" and isinstance(problem.graph, Graph):
        vertices = f"{problem.graph.vertices:,} vertices"
        if method.name == "cavity":
            return f"on {vertices} the simulation is quick, and exact; name it in --methods to compute it"
        if method.name in ("eigenvalue", "simulation") and default == "cavity":
            return f"dense algebra on {vertices} takes long; name it in --methods to compute it"
    usual = problem.teacher is None and problem.design == Random()  # otherwise little theory applies
    return "" if method.kind is Kind.ESTIMATE and usual else None


def _takes(method: Method[Any], option: Option, text: Any, problem: Problem) -> bool:
    return _read(method, option, text, problem)[1] is None


def _read(method: Method[Any], option: Option, text: Any, problem: Problem) -> tuple[dict[str, Any], str | None]:
    """Return an option as a method knows it, and why the method does not take it (None if it does)."""
    own = option.owners.get(method.name)
    if own is None:
        return {}, ""
    value = {own.name: parse.value(option.flag, text, own.kind)}
    return value, method.Options(**value).objection(problem)


def _read_options(given: Given, problem: Problem, methods: Sequence[Method[Any]]) -> dict[str, Any]:
    """Return the options of methods that were given; refuse those that none of the methods takes."""
    options: dict[str, Any] = {}
    for option, text in given.of("method"):
        read = [_read(method, option, text, problem) for method in methods]
        for value, reason in read:
            options |= value if reason is None else {}
        reasons = [reason for _, reason in read]
        if None in reasons:
            continue
        if any(reasons):
            raise InputError(f"{option.flag}: {next(filter(None, reasons))}")
        names = ", ".join(method.name for method in methods)
        who = f"the method {names} takes" if len(methods) == 1 else f"none of the methods {names} takes"
        not_ = " no" if len(methods) == 1 else ""
        raise InputError(f"{who}{not_} {option.flag}: it belongs to {', '.join(option.owners)}")
    return options


def _refuse_idle(given: Given, problem: Problem, methods: Sequence[Method[Any]]) -> None:
    """Refuse options that say how to draw random numbers if nothing is drawn."""
    if any(method.draws(problem) for method in methods):
        return
    for name in ("rng", "workers", "store"):
        if given.has(name):
            names = ", ".join(method.name for method in methods)
            remedy = "--simulate N" if problem.axis == "n" else "--methods simulation"
            raise InputError(f"--{name} is not used: nothing is drawn at random by {names}; add {remedy} to simulate")


def _continue_to_goals(curves: CurveSet, answers: Sequence[goals.Goal]) -> CurveSet:
    """Return curves that a picture can show up to the goals: deterministic ones go on until an approximation reaches them."""
    sure = [label for label, curve in curves.items() if not METHODS[curve.method].draws(curve.problem)]
    near = [label for label in sure if METHODS[curves[label].method].kind is Kind.APPROXIMATION]
    reach = max((goal.needed[label] for goal in answers for label in near if label in goal.needed), default=0.0)
    longer = dict(curves)
    for label in sure:
        curve = curves[label]
        last = float(curve.sizes.max())
        if reach <= last:
            continue
        more = np.geomspace(max(last, reach / 1e3), _BEYOND * reach, _POINTS)
        sizes = np.concatenate((curve.sizes, np.unique(np.ceil(more)) if curves.axis == "n" else more))
        with suppress(NumericalError):  # a curve that cannot be continued ends where it did
            longer[label] = METHODS[curve.method].curve(curve.problem, np.unique(sizes), **curve.options)
    return CurveSet(longer, curves.skipped)
