"""``gpcurves plan``: how many rows does a goal need, forecast from your rows."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import click

from gpcurves.cli import parse
from gpcurves.cli.options import INTEGER, READ, Command, File, Given, output_options
from gpcurves.cli.streams import echo_data, tell
from gpcurves.errors import InputError
from gpcurves.numerics.files import write_complete
from gpcurves.numerics.validation import integer, positive
from gpcurves.render.formats import check_output, render
from gpcurves.tables.contents import read_contents

_MOST_SIZES = 10_000
REPORT = File(written=True, beside=(".png", ".json"))


@click.command(cls=Command, parts=output_options)
@click.argument("data", type=READ)
@click.option("--target", required=True, help="Column to predict.")
@click.option("--goal-rmse", help="Error to reach, in the target's own units.")
@click.option("--features", help='Columns to use as inputs: a,b,"c, d".  [all but the target]')
@click.option("--drop", help="Columns not to use, separated by commas.")
@click.option(
    "--missing",
    default="auto",
    show_default=True,
    help="Missing inputs: drop the row, impute them, or auto: drop if they are few.",
)
@click.option("--pool", type=READ, help="Table of unlabelled inputs, where new rows come from.")
@click.option("--n", "sizes", help="Numbers of rows to forecast for.  [1, 2, 4, 8 and 16 times your rows]")
@click.option("--deterministic", is_flag=True, help="The target is a noise-free function of the inputs.")
@click.option(
    "--draws", type=INTEGER, help="Draws from the posterior of the model; fewer are faster and rougher.  [16]"
)
@click.option("--rng", type=INTEGER, default=0, show_default=True, help="Seed; the same seed gives the same answer.")
@click.option("--report", type=REPORT, help="Page to write (.html), with a picture (.png) and data (.json) beside.")
def plan(given: Given) -> None:
    """Forecast the error on more rows like those of a table, and how many rows a goal needs.

    DATA is a CSV, TSV, Excel or Parquet file with a header. Errors are root mean squared errors against noisy held-out
    targets, in the target's own units, with a 90 % interval.

    \b
    Examples:
      gpcurves plan data.csv --target price --goal-rmse 0.1 --report plan.html
      gpcurves plan runs.csv --target drag --deterministic --n 100,200,400 --json
      gpcurves plan data.csv --target price --drop drag --missing impute --out forecast.csv
    """
    from gpcurves.cli import output

    goal, out = given["goal_rmse"], given["out"]
    if goal is not None:
        goal = positive("--goal-rmse", parse.number("--goal-rmse", goal))
    if given["missing"] not in ("auto", "drop", "impute"):
        raise InputError(f"--missing must be auto, drop or impute, got {given['missing']!r}")
    n = None if given["sizes"] is None else _sizes(given["sizes"])
    output.check_out(given)
    written = [] if given["report"] is None else _report_files(given["report"])
    written += [out] if out is not None else []
    options = {name: given[name] for name in ("pool", "missing", "deterministic", "draws", "rng")}
    options |= {name: _names(given[name]) for name in ("features", "drop")}
    for path in (given["data"], given["pool"]):
        if (
            path is not None and path.is_file()
        ):  # a bomb is refused before the second that imports take; a pipe is read once
            read_contents(path)
    from gpcurves.forecasting import forecast

    result = forecast(given["data"], given["target"], progress=False if given["quiet"] else None, **options)
    contents = {path: render(result, path.suffix.lower(), n=n, goal=goal) for path in written}
    for path, content in contents.items():
        write_complete(path, content)
    if given["as_json"]:
        echo_data(json.dumps(result.answers(n, goal), indent=1, allow_nan=False) + "\n")
    elif out is None:
        echo_data(result.to_frame(n).to_csv(index=False, float_format="%.6g"))
    verdict = result.verdict(goal)
    if goal is not None and given["quiet"] and out is not None:  # stdout is free of data
        click.echo(" ".join(verdict.sentences))
    if not given["quiet"]:
        tell("")
        tell(verdict.label, bold=True)
        lines = [f"  {sentence}" for sentence in verdict.sentences]
        lines += [f"data: {step}" for step in result.steps] + [f"note: {note}" for note in result.notes]
        for line in [*lines, *(f"wrote {path}" for path in written)]:
            tell(line)


def _report_files(path: Path) -> list[Path]:
    """Return the page, the picture and the data that a report consists of, if they can be written."""
    if path.suffix.lower() != ".html":
        raise InputError(f"--report writes a page: its name must end with .html, got {path}")
    for each in REPORT.paths(path):
        check_output(each)
    return REPORT.paths(path)


def _sizes(text: str) -> list[int]:
    values = parse.size_list("--n", text, integers=True)
    if len(values) > _MOST_SIZES:
        raise InputError(f"--n must be at most {_MOST_SIZES:,} numbers, got {len(values):,}")
    return [integer("--n", value, 1, 1e15) for value in values]


def _names(text: str | None) -> list[str] | None:
    """Read names separated by commas; a name with a comma stands between quotation marks."""
    if text is None:
        return None
    return [
        name.strip()
        for row in csv.reader(io.StringIO(text, newline=""), skipinitialspace=True)
        for name in row
        if name.strip()
    ]
