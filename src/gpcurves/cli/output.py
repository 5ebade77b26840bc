"""What the commands print: curves, the answers to goals, notes, and what is left after Ctrl-C."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpcurves.errors import InputError

if TYPE_CHECKING:
    from gpcurves.curve import CurveSet
    from gpcurves.render.save import Answers


def check_out(out: Path | None, as_json: bool) -> None:
    """Refuse an output that cannot be written before anything is computed."""
    from gpcurves.render.save import check_output

    if out is not None:
        check_output(out)
    if out is not None and as_json:
        raise InputError("--json writes to stdout: give either --json or --out FILE.json")


def emit(curves: CurveSet, answers: Answers, out: Path | None, *, as_json: bool, quiet: bool) -> None:
    """Write curves where they were asked for, and what people should know to stderr."""
    from gpcurves.render.save import as_json as json_text
    from gpcurves.render.save import save, table

    if out is not None:
        save(curves, out, answers)
    else:
        click.echo(json_text(curves, answers) if as_json else table(curves), nl=False)
    if out is not None or not quiet:
        _say_goals(curves, answers, err=out is None)
    if not quiet:
        _say(curves, out)


def say_interrupted(stop: KeyboardInterrupt, store: Path | None) -> int:
    """Print what there is after Ctrl-C, and how to go on."""
    from gpcurves.curve import CurveSet
    from gpcurves.render.save import table

    curve = getattr(stop, "curve", None)
    if curve is not None:
        click.echo(table(CurveSet.of(curve)), nl=False)
        unit = "graphs" if "graphs" in curve.options else "data sets"
        click.echo(
            f"gpcurves: interrupted after {curve.options['drawn']} {unit}, of which this is the average", err=True
        )
    else:
        click.echo("gpcurves: interrupted", err=True)
    kept = f"finished data sets are kept in {store}" if store else "with --store FILE finished data sets are kept"
    click.echo(f"gpcurves: {kept}: run the same command again to go on", err=True)
    return 130


def _say_goals(curves: CurveSet, answers: Answers, *, err: bool) -> None:
    """Print what a goal needs where it does not mix with the data: on stdout if that is free."""
    what = "examples" if curves.problem.axis == "n" else "examples per vertex"
    for goal, each in answers.items():
        if not each:
            continue
        click.echo(f"{what} needed for an error of {goal:g}:", err=err)
        for name, n in each.items():
            click.echo(f"  {name:<11}{n:.4g}" if isinstance(n, float) else f"  {name:<11}{n}", err=err)


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
