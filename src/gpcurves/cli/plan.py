"""``gpcurves plan``: how many rows does a goal need, forecast from the rows there are."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from gpcurves.cli import output, parse
from gpcurves.errors import InputError

_MISSING = ("drop", "impute")


@click.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--target", required=True, help="Column to predict.")
@click.option("--goal-rmse", help="Error to reach, in the target's own units.")
@click.option("--features", help="Columns to use as inputs, separated by commas.  [all but the target]")
@click.option("--drop", help="Columns not to use, separated by commas.")
@click.option("--missing", default="drop", show_default=True, help="Missing inputs: drop the row, or impute them.")
@click.option("--pool", type=click.Path(path_type=Path), help="Table of unlabelled inputs, where new rows come from.")
@click.option("--n", "sizes", help="Numbers of rows to forecast for.  [1, 2, 4, 8 and 16 times the rows there are]")
@click.option("--deterministic", is_flag=True, help="The target is a noise-free function of the inputs.")
@click.option("--rng", type=int, default=0, show_default=True, help="Seed; the same seed gives the same answer.")
@click.option(
    "--report",
    type=click.Path(path_type=Path),
    help="Page to write (.html), with a picture (.png) and data (.json) beside.",
)
@click.option("--out", type=click.Path(path_type=Path), help="Write to a .csv, .json, .png, .svg or .html file.")
@click.option("--json", "as_json", is_flag=True, help="Write JSON to stdout.")
@click.option("--quiet", is_flag=True, help="No progress, and no text for people.")
def plan(
    data: Path,
    target: str,
    goal_rmse: str | None,
    features: str | None,
    drop: str | None,
    missing: str,
    pool: Path | None,
    sizes: str | None,
    deterministic: bool,
    rng: int,
    report: Path | None,
    out: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Forecast the error on more rows like those of a table, and how many rows a goal needs.

    DATA is a CSV, TSV, Excel or Parquet file with a header. Errors are root mean squared errors against noisy held-out
    targets, in the target's own units, with a 90 % interval.

    \b
    Examples:
      gpcurves plan data.csv --target price --goal-rmse 0.1 --report plan.html
      gpcurves plan runs.csv --target drag --deterministic --n 100,200,400 --json
      gpcurves plan data.csv --target price --drop drag --missing impute --out forecast.csv
    """
    goal = None if goal_rmse is None else parse.number("--goal-rmse", goal_rmse)
    if goal is not None and not goal > 0:
        raise InputError(f"--goal-rmse must be greater than 0, got {goal:g}")
    if missing not in _MISSING:
        raise InputError(f"--missing must be drop or impute, got {missing!r}")
    n = None if sizes is None else parse.size_list("--n", sizes, whole=True)
    output.check_out(out, as_json)
    from gpcurves.planning import forecast
    from gpcurves.report.plan import check_report, report_files

    if report is not None:
        check_report(report)
    result = forecast(
        data,
        target,
        pool=pool,
        features=_names(features),
        drop=_names(drop),
        missing="impute" if missing == "impute" else "drop",
        deterministic=deterministic,
        rng=rng,
        progress=False if quiet else None,
    )
    written = [*report_files(report)] if report is not None else []
    written += [out] if out is not None else []
    for path in written:
        result.save(path, n=n, goal=goal)
    if as_json:
        click.echo(result.to_json(n, goal), nl=False)
    elif out is None:
        click.echo(result.to_frame(n).to_csv(index=False, float_format="%.6g"), nl=False)
    if not quiet:
        _say(result, goal, written)


def _names(text: str | None) -> list[str] | None:
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def _say(result: Any, goal: float | None, written: list[Path]) -> None:
    verdict = result.verdict(goal)
    click.echo(f"\n{click.style(verdict.label, bold=True) if sys.stderr.isatty() else verdict.label}", err=True)
    for sentence in verdict.sentences:
        click.echo(f"  {sentence}", err=True)
    for step in result.steps:
        click.echo(f"data: {step}", err=True)
    for note in result.notes:
        click.echo(f"note: {note}", err=True)
    for path in written:
        click.echo(f"wrote {path}", err=True)
