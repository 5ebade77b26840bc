"""``gpcurves plan``: how many rows or labels does a goal need, forecast from those that you have."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gpcurves.cli import parse, pieces
from gpcurves.cli.demo import demo_option, fill_in_demo
from gpcurves.cli.options import INTEGER, READ, WRITTEN, Command, File, Given, Option, output_options
from gpcurves.cli.streams import echo_data, tell
from gpcurves.errors import InputError
from gpcurves.numerics.files import write_complete
from gpcurves.numerics.validation import integer, nonnegative, positive, real
from gpcurves.render.formats import check_output, render
from gpcurves.tables.contents import read_contents

if TYPE_CHECKING:
    import pandas as pd

    from gpcurves.forecasting.measures import ForecastGoal
    from gpcurves.forecasting.questions import Answers, Questions
    from gpcurves.forecasting.result import Forecast
    from gpcurves.render.report.content import Provenance

_MOST_SIZES = 10_000
REPORT = File(written=True, beside=(".png", ".json"))


_GOALS = ("rmse", "mae", "r2", "percent", "error_rate", "log_loss")
_OF_CLASSES = ("error_rate", "log_loss")
_OF_TABLES = ("features", "drop", "missing", "groups", "pool", "deterministic", "predict")
_OF_GRAPHS = (
    "labels",
    "columns",
    "header",
    "weights",
    "weight",
    "repair",
    "ignore_weights",
    "vertex_column",
    "attributes",
)
_ASKED = ("relative", "next", "cost_per_row", "value_of_error", "gain", "stop_below", "certify", "known_noise")


def _parts() -> list[Option]:
    goal, plan, graph = "Goal (one of these)", "Planning", "Graph"
    edges, *others = (option for option in pieces.graph_options() if option.flag != "--ensemble")
    known = "File with a vertex and a value per line, or with a header."
    vertex = "Column of --labels with the vertices, if the header is ambiguous."
    return [
        demo_option(),
        edges,
        Option("--labels", type=READ, section=graph, metavar="FILE", help=known),
        Option("--vertex-column", section=graph, metavar="COLUMN", help=vertex),
        pieces.attribute_option(graph),
        *others,
        Option("--goal-rmse", section=goal, metavar="X", help="RMSE to reach, in the target's own units."),
        Option(
            "--goal-mae", section=goal, metavar="X", help="Mean absolute error to reach, in the target's own units."
        ),
        Option("--goal-r2", section=goal, metavar="X", help="R² to reach: 1 - MSE / variance of the target."),
        Option(
            "--goal-percent", section=goal, metavar="X", help="RMSE to reach, in % of the target's standard deviation."
        ),
        Option(
            "--goal-error-rate",
            section=goal,
            metavar="X",
            help="Error rate to reach, if the target is a class: 0.05 for 5 %.",
        ),
        Option("--goal-log-loss", section=goal, metavar="X", help="Log loss to reach, if the target is a class."),
        Option(
            "--next",
            type=INTEGER,
            section=plan,
            metavar="K",
            help="List the K rows to measure next, from --pool if given, or the K vertices to label next.",
        ),
        Option(
            "--next-file", type=WRITTEN, section=plan, metavar="FILE", help="Write the list of --next to a CSV file."
        ),
        Option(
            "--gain", type=INTEGER, section=plan, metavar="K", help="Say by how much the next K rows lower the error,"
        ),
        Option("--stop-below", section=plan, metavar="X", help="and whether that is less than X (then stop)."),
        Option("--cost-per-row", section=plan, metavar="C", help="Say when to stop if a row costs C,"),
        Option(
            "--value-of-error",
            section=plan,
            metavar="V",
            help="and one unit of RMSE, or of the error rate, is worth V.",
        ),
        Option(
            "--certify",
            section=plan,
            metavar="X",
            help="Say how many test rows are needed to measure the error to ± X.",
        ),
        Option(
            "--predict",
            type=READ,
            section=plan,
            metavar="FILE",
            help="Table of new rows to predict, with 90 % intervals, or probabilities of classes.",
        ),
        Option(
            "--predictions",
            type=WRITTEN,
            section=plan,
            metavar="FILE",
            help=(
                "CSV file for the predictions, or for those at all vertices of a graph.  [stdout for a table; none "
                "for a graph]"
            ),
        ),
        *output_options(),
    ]


@click.command(cls=Command, parts=_parts)
@click.argument("data", type=READ, required=False)
@click.option("--target", help="Column to predict; for --labels only if the header is ambiguous.")
@click.option(
    "--task", metavar="numbers|classes", help="Whether the target is numeric or a class.  [detected, and reported]"
)
@click.option("--features", help='Columns to use as inputs: a,b,"c, d".  [all but the target]')
@click.option("--drop", help="Columns to leave out, separated by commas.")
@click.option(
    "--missing",
    default="auto",
    show_default=True,
    help="Missing inputs: drop the row, impute them, or auto: drop if they are few.",
)
@click.option("--groups", metavar="COLUMN", help="Column of related rows (patients, batches): n counts groups.")
@click.option("--noise-column", metavar="COLUMN", help="Column with the standard error of each target.")
@click.option("--pool", type=READ, help="Table of unlabelled inputs from which new rows will be drawn.")
@click.option("--n", "sizes", help="Numbers of rows or labels to forecast for.  [1, 2, 4, 8 and 16 times yours]")
@click.option("--deterministic", is_flag=True, help="The target is a noise-free function of the inputs.")
@click.option(
    "--known-noise",
    metavar="X",
    help="Standard deviation of the measurement noise, if known; tells whether noise limits the error.",
)
@click.option("--relative", is_flag=True, help="Also give the RMSE in % of the mean absolute target.")
@click.option(
    "--draws", type=INTEGER, help="Posterior draws of the hyperparameters; fewer are faster and less accurate.  [16]"
)
@click.option(
    "--rng", type=INTEGER, default=0, show_default=True, help="Random seed; the same seed gives the same answer."
)
@click.option("--report", type=REPORT, help="Page to write (.html), with a picture (.png) and data (.json) next to it.")
def plan(given: Given) -> None:
    """Forecast the error with more rows of a table, or more labels on a graph, and how many a goal needs.

    DATA is a CSV, TSV, Excel or Parquet file with a header. With --edges and --labels instead, the forecast is for the
    unlabelled vertices of a graph, and n counts labels. Errors are root mean squared errors against noisy held-out targets,
    in the target's own units, with a 90 % interval. If the target is a class (texts, true and false, few integers), errors
    are error rates: the share of new rows whose class is predicted wrongly.

    \b
    Examples:
      gpcurves plan --demo --report plan.html
      gpcurves plan data.csv --target price --goal-rmse 0.1 --report plan.html
      gpcurves plan runs.csv --target drag --deterministic --n 100,200,400 --json
      gpcurves plan data.csv --target price --drop drag --missing impute --out forecast.csv
      gpcurves plan data.csv --target price --goal-r2 0.9 --next 10 --next-file next.csv
      gpcurves plan data.csv --target price --gain 50 --stop-below 0.01 --cost-per-row 20 --value-of-error 1e5
      gpcurves plan data.csv --target price --predict new.csv --predictions predicted.csv
      gpcurves plan flowers.csv --target species --goal-error-rate 0.05 --report plan.html
      gpcurves plan --edges grid.csv --labels known.csv --goal-rmse 2.5 --next 10 --report plan.html
      gpcurves plan --edges friends.csv --labels clubs.csv --goal-error-rate 0.05 --next 5
    """
    from gpcurves.cli import output

    fill_in_demo(given)
    _check_source(given)

    goal = _read_goal(given)
    _check_contents(given)
    asked = _read_questions(given)
    _check_task(given, goal)
    if given["missing"] not in ("auto", "drop", "impute"):
        raise InputError(f"--missing must be auto, drop or impute, got {given['missing']!r}")
    n = None if given["sizes"] is None else _sizes(given["sizes"])
    output.check_out(given)
    written = _check_files(given)
    new, result = _forecast_graph(given) if given["edges"] is not None else _forecast_table(given)
    aim = None if goal is None else result.goal(**goal)
    further = asked.answer(result)
    everywhere = given["edges"] is not None and given["predictions"] is not None
    predictions = result.predict(new) if new is not None or everywhere else None
    made = _provenance(given)
    contents = {
        path: render(result, path.suffix.lower(), n=n, goal=aim, asked=asked, provenance=made) for path in written
    }
    for name, table in (("predictions", predictions), ("next_file", further.next_rows)):
        if given[name] is not None and table is not None:
            contents[given[name]] = _as_csv(table).encode()
    for path, content in contents.items():
        write_complete(path, content)
    shown = predictions if given["predictions"] is None else None
    if given["as_json"]:
        answers = result.answers(n, aim, asked)
        if shown is not None:
            answers["predictions"] = _as_records(shown)
        echo_data(json.dumps(answers, indent=1, allow_nan=False) + "\n")
    elif shown is not None:
        echo_data(_as_csv(shown))
    elif given["out"] is None:
        echo_data(_as_csv(result.to_frame(n, asked.measure(result, aim).name)))
    if given["quiet"]:
        if given["out"] is not None and shown is None:  # stdout is free of data
            for sentence in (*(_answer(result, aim, asked) if aim is not None else ()), *further.sentences):
                click.echo(sentence)
        return
    from gpcurves.forecasting.headline import ask  # heavy, and files are refused before

    headline, *reasons = _answer(result, aim, asked)
    table = None if given["next_file"] is not None else further.written
    _tell_more(result, list(contents), further, table, reasons)
    tell(ask(result.target, result.prospects(aim, asked), None if aim is None else aim.error))
    tell(headline, bold=True)  # the answer comes last: it is what stays on the screen
    for sentence in reasons:
        tell(f"  {sentence}")


def _answer(result: Forecast, aim: ForecastGoal | None, asked: Questions) -> tuple[str, ...]:
    """Return the answer in one sentence, and the reasons."""
    return f"{result.headline(aim, asked)}.", *result.verdict(aim, asked).sentences


def _tell_more(
    result: Forecast, written: list[Path], further: Answers, table: pd.DataFrame | None, said: Sequence[str]
) -> None:
    """Say what was done, what a reader should know, and what else was asked."""
    told = [f"data: {step}" for step in result.steps]
    told += [f"note: {note}" for note in result.notes if note not in said]
    told += [*(f"wrote {path}" for path in written), "", *further.sentences]
    if table is not None:
        told += [f"  {line}" for line in table.to_string(index=False).splitlines()]
    for line in [*told, ""] if further.sentences else told:
        tell(line)


def _provenance(given: Given) -> Provenance:
    """Return what a report says about where it comes from."""
    from gpcurves.render.report.content import Provenance

    files = [given[name] for name in ("data", "edges", "labels", "attributes", "pool")]
    return Provenance(tuple(each.name for each in files if isinstance(each, Path)), given.command_line)


def _check_source(given: Given) -> None:
    """Refuse options of tables for a graph, and options of graphs for a table."""
    graph = given["edges"] is not None
    if graph == (given["data"] is not None):
        raise InputError(
            "give DATA (a table), or --edges with --labels (a graph), or --demo for data that come with gpcurves"
        )
    if graph and given["labels"] is None:
        raise InputError("--labels is needed: the file with the values that are known at vertices")
    if not graph and given["labels"] is not None:
        raise InputError(f"--labels are values on a graph: give the graph by --edges, as in --edges {given['data']}")
    if not graph and given["target"] is None:
        raise InputError(ask_for_target(given["data"]))
    for name in _OF_TABLES if graph else _OF_GRAPHS:
        if given.has(name):
            flag = "--no-header" if given[name] is False else f"--{name.replace('_', '-')}"
            raise InputError(
                f"{flag} is for {'tables' if graph else 'graphs'}, but this is {'a graph' if graph else 'a table'}"
            )


def ask_for_target(path: Path) -> str:
    """Return what to say if nobody has named the target, with the columns to choose from if they can be read."""
    from gpcurves.tables.columns import enumerate_names
    from gpcurves.tables.files import read_table

    said = "--target is needed: the column to predict"
    try:
        return f"{said}; {path.name} has {enumerate_names([str(name) for name in read_table(path).columns])}"
    except InputError:
        return said


def _check_task(given: Given, goal: dict[str, float] | None) -> None:
    """Refuse a task that is not known, or does not go with the goal; a goal alone says what the target holds."""
    task = given["task"]
    if task not in (None, "numbers", "classes"):
        raise InputError(f"--task must be numbers or classes, got {task!r}")
    (name,) = goal or (None,)
    if task is not None and name is not None and (name in _OF_CLASSES) != (task == "classes"):
        raise InputError(
            f"--goal-{name.replace('_', '-')} is for {'numbers' if task == 'classes' else 'classes'}, but --task "
            f"is {task}"
        )


def _find_task(given: Given) -> str | None:
    """Return what the target holds: as asked for, or as the goal says; None if its values are to tell."""
    named = [name for name in _GOALS if given[f"goal_{name}"] is not None]
    if given["task"] is not None or not named:
        return None if given["task"] is None else str(given["task"])
    return "classes" if named[0] in _OF_CLASSES else "numbers"


def _forecast_table(given: Given) -> tuple[pd.DataFrame | None, Forecast]:
    """Return the rows to predict, if any, and the forecast from the rows of a table."""
    options = {name: given[name] for name in ("pool", "missing", "deterministic", "draws", "rng")}
    options |= {"groups": given["groups"], "noise": given["noise_column"], "task": _find_task(given)}
    options |= {name: _names(given[name]) for name in ("features", "drop")}
    from gpcurves.forecasting import forecast
    from gpcurves.tables.files import read_table

    new = None if given["predict"] is None else read_table(given["predict"])
    return new, forecast(given["data"], given["target"], progress=False if given["quiet"] else None, **options)


def _forecast_graph(given: Given) -> tuple[None, Forecast]:
    """Return the forecast from labels on a graph."""
    if given["draws"] is not None:
        raise InputError("--draws applies to tables only: on a graph, the forecast averages over all likely kernels")
    graph = pieces.read_own_graph(given)
    known = pieces.read_labels(given, graph, _find_task(given))
    if not known.are_numbers:
        pieces.refuse_of_numbers(given, "noise_column")
    attributes = pieces.read_attributes(given, graph)
    from gpcurves.forecasting.networks.assembly import forecast_labels

    shown = False if given["quiet"] else None
    return None, forecast_labels(graph, known, attributes=attributes, rng=given["rng"], progress=shown)


def _check_contents(given: Given) -> None:
    """Refuse a bomb before the second that imports take; a pipe is read once."""
    for path in (given["data"], given["pool"], given["predict"]):
        if path is not None and path.is_file():
            read_contents(path)


def _read_goal(given: Given) -> dict[str, float] | None:
    """Return the goal by its measure; None if there is none."""
    goals = {name: given[f"goal_{name}"] for name in _GOALS if given[f"goal_{name}"] is not None}
    if not goals:
        return None
    if len(goals) > 1:
        raise InputError(f"give one goal, got {' and '.join(f'--goal-{name}' for name in goals).replace('_', '-')}")
    ((name, text),) = goals.items()
    flag = f"--goal-{name.replace('_', '-')}"
    number = parse.number(flag, text)
    number = real(flag, number) if name == "r2" else positive(flag, number)
    if name == "r2" and number >= 1:
        raise InputError(f"--goal-r2 must be below 1, which is a perfect prediction, got {number:g}")
    if name == "error_rate" and number >= 1:
        raise InputError(f"--goal-error-rate must be below 1: it is a share of the rows (0.05 for 5 %), got {number:g}")
    if given["relative"] and name != "rmse":
        raise InputError(f"--relative needs a goal that is an RMSE: leave it out with {flag}")
    return {name: number}


def _read_questions(given: Given) -> Questions:
    """Return what is asked beside the goal, if it can be answered."""
    from gpcurves.forecasting.choosing import CANDIDATES
    from gpcurves.forecasting.questions import Questions

    asked = {name: given[name] for name in _ASKED}
    checks = {"cost_per_row": nonnegative, "value_of_error": positive, "stop_below": positive, "certify": positive}
    checks["known_noise"] = nonnegative
    for name, check in checks.items():
        if asked[name] is not None:
            flag = f"--{name.replace('_', '-')}"
            asked[name] = check(flag, parse.number(flag, asked[name]))
    for name, most in (("next", CANDIDATES), ("gain", 1e15)):
        if asked[name] is not None:
            asked[name] = integer(f"--{name}", asked[name], 1, most)
    if (
        given["next"] is not None
        and given["quiet"]
        and not any(given[each] for each in ("next_file", "as_json", "report"))
    ):
        raise InputError("the list of --next is not shown with --quiet: add --next-file FILE or --json")
    needs = {"stop_below": "gain", "cost_per_row": "value_of_error", "value_of_error": "cost_per_row"}
    needs |= {"next_file": "next"} if given["edges"] is not None else {"next_file": "next", "predictions": "predict"}
    for name, other in needs.items():
        if given[name] is not None and given[other] is None:
            raise InputError(f"--{name.replace('_', '-')} needs --{other.replace('_', '-')}: give both")
    return Questions(**asked)


def _check_files(given: Given) -> list[Path]:
    """Return the files that show the forecast, if all files that are asked for can be written."""
    for name in ("predictions", "next_file"):
        if given[name] is not None:
            if given[name].suffix.lower() != ".csv":
                raise InputError(
                    f"--{name.replace('_', '-')} writes CSV: its name must end with .csv, got {given[name]}"
                )
            check_output(given[name])
    written = [] if given["report"] is None else _report_files(given["report"])
    return written + ([] if given["out"] is None else [given["out"]])


def _as_csv(table: pd.DataFrame) -> str:
    return table.to_csv(index=False, float_format="%.6g", lineterminator="\n")


def _as_records(table: pd.DataFrame) -> list[dict[Any, Any]]:
    """Return rows as plain data, with null for what is not known."""
    return table.astype(object).where(table.notna(), None).to_dict("records")


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
