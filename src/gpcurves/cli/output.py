"""What the commands print: curves, the answers to goals, notes, and what is left after Ctrl-C."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpcurves.errors import InputError

if TYPE_CHECKING:
    from gpcurves.curve import CurveSet
    from gpcurves.goals import Goal


def check_out(out: Path | None, as_json: bool) -> None:
    """Refuse an output that cannot be written before anything is computed."""
    from gpcurves.render.formats import check_output

    if out is not None:
        check_output(out)
    if out is not None and as_json:
        raise InputError("--json writes to stdout: give either --json or --out FILE.json")


def emit(curves: CurveSet, goals: Sequence[Goal], out: Path | None, *, as_json: bool, quiet: bool) -> None:
    """Write curves where they were asked for, and what people should know to stderr."""
    from gpcurves.render.formats import render, save

    if out is not None:
        save(curves, out, goals=goals)
    else:
        click.echo(render(curves, ".json" if as_json else ".csv", goals=goals), nl=False)
    if out is not None or not quiet:
        _say_goals(goals, err=out is None)
    if not quiet:
        _say(curves, out)


def say_interrupted(stop: KeyboardInterrupt, store: Path | None) -> int:
    """Print what there is after Ctrl-C, and how to go on."""
    from gpcurves.render.formats import render

    curve = getattr(stop, "curve", None)
    if curve is not None:
        click.echo(render(curve, ".csv"), nl=False)
        unit = "graphs" if "graphs" in curve.options else "data sets"
        click.echo(
            f"gpcurves: interrupted after {curve.options['drawn']} {unit}, of which this is the average", err=True
        )
    else:
        click.echo("gpcurves: interrupted", err=True)
    kept = f"finished data sets are kept in {store}" if store else "with --store FILE finished data sets are kept"
    click.echo(f"gpcurves: {kept}: run the same command again to go on", err=True)
    return 130


def _say_goals(goals: Sequence[Goal], *, err: bool) -> None:
    """Print what a goal needs where it does not mix with the data: on stdout if that is free."""
    for goal in goals:
        if not goal.needed and not goal.missing:
            continue
        what = "examples" if goal.axis == "n" else "examples per vertex"
        click.echo(f"{what} needed for an error of {goal.error:g}:", err=err)
        for label, size in goal.needed.items():
            click.echo(f"  {label:<11}{size:.4g}" if goal.axis == "nu" else f"  {label:<11}{size}", err=err)
        for label, reason in goal.missing.items():
            click.echo(f"  {label:<11}{reason}", err=err)


def _say(curves: CurveSet, out: Path | None) -> None:
    for reason in dict.fromkeys(curves.skipped.values()):
        names = [name for name, why in curves.skipped.items() if why == reason]
        click.echo(f"left out {', '.join(names)}: {reason}", err=True)
    notes = dict.fromkeys(note for each in curves.values() for note in each.notes)
    for note in notes:
        names = [name for name, each in curves.items() if note in each.notes]
        click.echo(f"note ({', '.join(names)}): {note}", err=True)
    if out is not None:
        click.echo(f"wrote {out}", err=True)
