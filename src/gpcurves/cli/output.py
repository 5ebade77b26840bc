"""The one place that writes: results to files and stdout, answers to goals, messages, and what is left after Ctrl-C."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import click

from gpcurves.cli.options import Given
from gpcurves.curve import CurveSet, LearningCurve
from gpcurves.errors import InputError
from gpcurves.goals import Goal
from gpcurves.graphs import Graph
from gpcurves.methods import METHODS, Kind, Scope
from gpcurves.render.formats import FORMATS, check_output, render, save


@dataclass(frozen=True)
class Target:
    """Where results go: to a file, or to stdout as CSV or JSON; and whether messages are wanted."""

    out: Path | None
    as_json: bool
    quiet: bool

    @classmethod
    def of(cls, given: Given, kind: type) -> Self:
        """Return where results of a type go, or refuse a file that cannot be written before anything is computed."""
        target = cls(given["out"], given.context.params.get("as_json", False), given["quiet"])
        check_out(target.out, target.as_json, kind)
        return target

    @property
    def shows(self) -> bool:
        """Whether the file shows results, as pictures and pages do, rather than holding their numbers."""
        return self.out is not None and FORMATS[self.out.suffix.lower()].needs in ("picture", "page")

    def write(self, result: Any, text: str | None = None, **options: Any) -> None:
        """Write a result; ``text`` goes to stdout instead of CSV, also if the result goes to a file."""
        if self.out is not None:
            save(result, self.out, **options)
        if self.as_json:
            click.echo(render(result, ".json", **options).decode(), nl=False)
        elif text is not None:
            click.echo(text)
        elif self.out is None:
            click.echo(render(result, ".csv", **options).decode(), nl=False)

    def say(self, *sentences: str) -> None:
        """Print messages for people, and which file was written."""
        if self.quiet:
            return
        for sentence in sentences:
            click.echo(sentence, err=True)
        if self.out is not None:
            click.echo(f"wrote {self.out}", err=True)


def check_out(out: Path | None, as_json: bool, kind: type | None = None) -> None:
    """Refuse an output that cannot be written before anything is computed."""
    if out is None:
        return
    check_output(out, kind)
    if as_json:
        raise InputError("--json writes to stdout: give either --json or --out FILE.json")


def emit_curves(curves: CurveSet, goals: Sequence[Goal], target: Target) -> None:
    """Write curves, then what people should know about them, and at the end what goals need."""
    target.write(curves, goals=goals)
    target.say(*_notes(curves))
    if target.out is not None or not target.quiet:
        for goal in goals:
            for line in _answer(curves, goal):
                click.echo(line, err=target.out is None)  # on stdout if that is free of data


def say_interrupted(stop: KeyboardInterrupt, store: Path | None) -> int:
    """Print what there is after Ctrl-C, and how to go on."""
    curve = getattr(stop, "curve", None)
    if curve is not None:
        click.echo(render(curve, ".csv").decode(), nl=False)
        method: Any = METHODS[curve.method]
        drawn = f"{curve.diagnostics['drawn']} {method.unit(curve.problem)}"
        click.echo(f"gpcurves: interrupted after {drawn}, of which this is the average", err=True)
    else:
        click.echo("gpcurves: interrupted", err=True)
    kept = f"finished data sets are kept in {store}" if store else "with --store FILE finished data sets are kept"
    click.echo(f"gpcurves: {kept}: run the same command again to go on", err=True)
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
    lines = [f"{_unit(curves)} needed for an error of {goal.error:g}:"]
    for label in labels:
        method = METHODS[curves[label].method]
        said = goal.missing.get(label) or _size(curves[label], goal.needed[label])
        other = method.scope in (Scope.MODIFIED, Scope.OTHER_PROBLEM)
        lines.append(
            f"  {method.kind.value:<14}{label:<{width}}{said}" + (f"  (of {method.scope.value})" if other else "")
        )
    return [*lines, goal.sentence]


def _vertices(curve: LearningCurve) -> int | None:
    """Return the number of vertices of a given graph; None for vectors and ensembles."""
    graph = curve.problem.graph if curve.axis == "nu" else None
    return graph.vertices if isinstance(graph, Graph) else None


def _unit(curves: CurveSet) -> str:
    vertices = _vertices(next(iter(curves.values())))
    if vertices is not None:
        return f"labels (of {vertices:,} vertices)"
    return "examples" if curves.axis == "n" else "examples per vertex"


def _size(curve: LearningCurve, size: float) -> str:
    """Return a size in words: an integer number of examples or labels, or examples per vertex of an ensemble."""
    vertices = 1 if curve.axis == "n" else _vertices(curve)
    return f"{size:.4g}" if vertices is None else f"{math.ceil(size * vertices - 1e-9):,}"
