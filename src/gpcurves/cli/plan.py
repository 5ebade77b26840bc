"""``gpcurves plan``: how many rows does a goal need, forecast from the rows there are."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import Any

import click

from gpcurves.cli import output, parse
from gpcurves.errors import InputError

_MISSING = ("drop", "impute")
_MOST_SIZES = 10_000


@click.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--target", required=True, help="Column to predict.")
@click.option("--goal-rmse", help="Error to reach, in the target's own units.")
@click.option("--features", help='Columns to use as inputs: a,b,"c, d".  [all but the target]')
@click.option("--drop", help="Columns not to use, separated by commas.")
@click.option("--missing", default="drop", show_default=True, help="Missing inputs: drop the row, or impute them.")
@click.option("--pool", type=click.Path(path_type=Path), help="Table of unlabelled inputs, where new rows come from.")
@click.option("--n", "sizes", help="Numbers of rows to forecast for.  [1, 2, 4, 8 and 16 times the rows there are]")
@click.option("--deterministic", is_flag=True, help="The target is a noise-free function of the inputs.")
@click.option("--draws", type=int, help="Draws from the posterior of the model; fewer are faster and rougher.  [16]")
@click.option("--rng", type=int, default=0, show_default=True, help="Seed; the same seed gives the same answer.")
@click.option(
    "--report",
    type=click.Path(path_type=Path),
    help="Page to write (.html), with a picture (.png) and data (.json) beside.",
)
@click.option("--out", type=click.Path(path_type=Path), help="Write to a .csv, .json, .png, .svg or .html file.")
@click.option("--json", "as_json", is_flag=True, help="Write JSON to stdout.")
@click.option("--quiet", "-q", is_flag=True, help="Suppress progress and messages.")
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
    draws: int | None,
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
    goal = None if goal_rmse is None else _goal(goal_rmse)
    if missing not in _MISSING:
        raise InputError(f"--missing must be drop or impute, got {missing!r}")
    n = None if sizes is None else _sizes(sizes)
    output.check_out(out, as_json)
    from gpcurves.forecasting import forecast
    from gpcurves.numerics.files import write_complete
    from gpcurves.render.formats import render

    written = [] if report is None else _report_files(report)
    written += [out] if out is not None else []
    _check_kept(data, written)
    if pool is not None:
        _check_kept(pool, written)
    result = forecast(
        data,
        target,
        pool=pool,
        features=_names(features),
        drop=_names(drop),
        missing="impute" if missing == "impute" else "drop",
        deterministic=deterministic,
        draws=draws,
        rng=rng,
        progress=False if quiet else None,
    )
    contents = {path: render(result, path.suffix.lower(), n=n, goal=goal) for path in written}
    for path, content in contents.items():
        write_complete(path, content)
    if as_json:
        click.echo(result.to_json(n, goal), nl=False)
    elif out is None:
        click.echo(result.to_frame(n).to_csv(index=False, float_format="%.6g"), nl=False)
    if not quiet:
        _say(result, goal, list(contents))


def _report_files(path: Path) -> list[Path]:
    """Return the page, the picture and the data that a report consists of, if they can be written."""
    from gpcurves.render.formats import check_output

    if path.suffix.lower() != ".html":
        raise InputError(f"--report writes a page: its name must end with .html, got {path}")
    files = [path, path.with_suffix(".png"), path.with_suffix(".json")]
    for each in files:
        check_output(each)
    return files


def _goal(text: str) -> float:
    from gpcurves.numerics.validation import positive

    return positive("--goal-rmse", parse.number("--goal-rmse", text))


def _sizes(text: str) -> list[int]:
    from gpcurves.numerics.validation import integer

    values = parse.size_list("--n", text, integers=True)
    if len(values) > _MOST_SIZES:
        raise InputError(f"--n must be at most {_MOST_SIZES:,} numbers, got {len(values):,}")
    return [integer("--n", value, 1, 1e15) for value in values]


def _check_kept(source: Path, written: list[Path]) -> None:
    """Refuse to write over the rows that are read."""
    for path in written:
        if path.exists() and source.exists() and path.samefile(source):
            raise InputError(f"cannot write {path}: the data are read from it")


def _names(text: str | None) -> list[str] | None:
    """Read names separated by commas; a name with a comma stands between quotation marks."""
    if text is None:
        return None
    return [name.strip() for row in csv.reader([text], skipinitialspace=True) for name in row if name.strip()]


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
