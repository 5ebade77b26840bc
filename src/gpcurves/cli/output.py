"""The one place that writes: results to files and stdout, answers to goals, messages, and what is left after Ctrl-C."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from gpcurves.cli.options import Given
from gpcurves.cli.streams import echo_data, tell
from gpcurves.curve import CurveSet
from gpcurves.errors import InputError
from gpcurves.goals import Goal, unit_of
from gpcurves.graphs import Graph
from gpcurves.methods import METHODS, Kind, Scope
from gpcurves.quantities import QUANTITIES
from gpcurves.render.formats import FORMATS, check_output, render, save

_PLANNED = {
    f"goal_{name.replace('-', '_')}": f"--goal-{name}"
    for name in ("rmse", "mae", "r2", "percent", "error-rate", "log-loss")
} | {name: f"--{name.replace('_', '-')}" for name in ("gain", "cost_per_row", "certify")}
"""Options of a plan that ask for an answer in words."""


def check_out(given: Given, kind: type | None = None) -> None:
    """Refuse an output that cannot be written before anything is computed; ``kind`` is the type of the result."""
    asked = given.context.params
    for name, flag in (("goals", "--goal"), ("goal_excess", "--goal-excess"), *_PLANNED.items()):
        if asked.get(name) and given["quiet"] and not any(asked.get(each) for each in ("out", "as_json", "report")):
            raise InputError(f"the answer to {flag} is not shown with --quiet: add --json or --out FILE")
    if given["out"] is None:
        return
    check_output(given["out"], kind)
    if asked.get("as_json"):
        raise InputError("--json writes to stdout: give either --json or --out FILE.json")


def is_shown(given: Given) -> bool:
    """Tell whether the file shows results, as pictures and pages do, rather than holding their numbers."""
    return given["out"] is not None and FORMATS[given["out"].suffix.lower()].needs in ("picture", "page")


def write(given: Given, result: Any, text: str | None = None, **options: Any) -> None:
    """Write a result; ``text`` goes to stdout instead of CSV, also if the result goes to a file."""
    if given["out"] is not None:
        save(result, given["out"], **options)
    if given.context.params.get("as_json"):
        echo_data(render(result, ".json", **options).decode())
    elif text is not None:
        echo_data(text + "\n")
    elif given["out"] is None:
        echo_data(render(result, ".csv", **options).decode())


def say(given: Given, *sentences: str) -> None:
    """Print messages for people, and which file was written."""
    for sentence in () if given["quiet"] else sentences:
        tell(sentence)
    if given["out"] is not None and not given["quiet"]:
        tell(f"wrote {given['out']}")


def emit_curves(curves: CurveSet, goals: Sequence[Goal], given: Given, **shown: Any) -> None:
    """Write curves, then what people should know about them, and at the end what goals need.

    ``shown`` is what their view takes besides: the ``excesses`` that inducing points must meet, and the ``deviation`` of the
    target in its own units.
    """
    write(given, curves, goals=goals, **shown)
    graph = curves.problems[0].graph if curves.axis == "nu" else None
    say(given, *([graph.describe()] if isinstance(graph, Graph) else []), *_notes(curves))
    if given["out"] is not None or not given["quiet"]:
        answers = [line for goal in goals for line in _answer(curves, goal)]
        for line in [*answers, *map(str, shown.get("excesses", ()))]:
            if given["out"] is None:
                tell(line)
            else:  # stdout is free of data
                click.echo(line)


def say_interrupted(stop: KeyboardInterrupt, store: Path | None) -> int:
    """Print what there is after Ctrl-C, and how to go on."""
    curve = getattr(stop, "curve", None)
    if curve is not None:
        echo_data(render(curve, ".csv").decode())
        method: Any = METHODS[curve.method]
        drawn = f"{curve.diagnostics['drawn']} {method.unit(curve.problem)}"
        tell(f"gpcurves: interrupted after {drawn}, of which this is the average")
    else:
        tell("gpcurves: interrupted")
    kept = f"finished data sets are kept in {store}" if store else "with --store FILE finished data sets are kept"
    tell(f"gpcurves: {kept}: run the same command again to resume")
    return 130


def _notes(curves: CurveSet) -> list[str]:
    """Return which methods were left out and why, and the notes of the curves; each sentence once."""
    lines = []
    for reason in dict.fromkeys(curves.skipped.values()):
        names = [name for name, why in curves.skipped.items() if why == reason]
        lines.append(f"left out {', '.join(names)}: {reason}")
    for note in dict.fromkeys(note for each in curves.values() for note in each.notes):
        names = [name for name, each in curves.items() if note in each.notes]
        lines.append(f"note ({', '.join(names)}): {note}")
    return lines


def _answer(curves: CurveSet, goal: Goal) -> list[str]:
    """Return what each curve says about a goal, by kind, and then the one sentence that answers."""
    order = [Kind.ESTIMATE, Kind.EXACT, Kind.APPROXIMATION, Kind.LOWER_BOUND, Kind.UPPER_BOUND]
    labels = sorted(curves, key=lambda label: order.index(METHODS[curves[label].method].kind))
    width = max(11, 1 + max(map(len, labels)))
    quantity = next(iter(curves.values())).quantity
    lines = [f"{unit_of(curves)} needed for {QUANTITIES[quantity].one} of {goal.error:g}:"]
    for label in labels:
        method, problem, said = METHODS[curves[label].method], curves[label].problem, goal.missing.get(label)
        if said is None:  # integer numbers of examples or labels; of an ensemble, any number of examples per vertex
            size = goal.needed[label]
            count = f"{math.ceil(size * problem.examples_per_size - 1e-9):,}"
            said = count if problem.ensemble is None else f"{size:.4g}"
        other = (
            f"  (of {method.scope.value})"
            if method.scope in (Scope.MODIFIED, Scope.OTHER_PROBLEM, Scope.SPARSE)
            else ""
        )
        lines.append(f"  {method.kind.value:<14}{label:<{width}}{said}{other}")
    return [*lines, goal.sentence]
