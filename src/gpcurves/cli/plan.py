"""``gpcurves plan``: how many rows does a goal need, forecast from the rows there are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpcurves.cli import parse
from gpcurves.errors import InputError, unknown_name

if TYPE_CHECKING:
    import pandas as pd


@click.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--target", required=True, help="Column to predict.")
@click.option("--goal-rmse", help="Error to reach, in the target's own units.")
@click.option(
    "--pool", type=click.Path(path_type=Path), help="CSV file of unlabelled inputs, where new rows come from."
)
@click.option(
    "--n", "sizes", help="Numbers of rows to forecast for.  [the rows there are, 2, 4, 8 and 16 times as many]"
)
@click.option("--deterministic", is_flag=True, help="The target is a noise-free function of the inputs.")
@click.option("--rng", type=int, default=0, show_default=True, help="Seed; the same seed gives the same answer.")
@click.option("--json", "as_json", is_flag=True, help="Write JSON to stdout.")
def plan(
    data: Path,
    target: str,
    goal_rmse: str | None,
    pool: Path | None,
    sizes: str | None,
    deterministic: bool,
    rng: int,
    as_json: bool,
) -> None:
    """Forecast the error on more rows like those of a CSV file, and how many rows a goal needs.

    Errors are root mean squared errors against noisy held-out targets, in the target's own units.

    \b
    Examples:
      gpcurves plan data.csv --target price --goal-rmse 0.1
      gpcurves plan runs.csv --target drag --deterministic --n 100,200,400 --json
    """
    from gpcurves.planning import forecast

    goal = None if goal_rmse is None else parse.number("--goal-rmse", goal_rmse)
    if goal is not None and not goal > 0:
        raise InputError(f"--goal-rmse must be greater than 0, got {goal:g}")
    wanted = None if sizes is None else parse.size_list("--n", sizes, whole=True)
    table = _read(data)
    if target not in table:
        raise unknown_name("column", target, [str(name) for name in table.columns])
    inputs = table.drop(columns=target)
    unlabelled = None
    if pool is not None:
        unlabelled = _read(pool)
        missing = [name for name in inputs.columns if name not in unlabelled]
        if missing:
            raise InputError(f"the pool must have the columns of the data, {missing[0]!r} is missing")
        unlabelled = unlabelled[inputs.columns]
    result = forecast(inputs, table[target], rng=rng, pool=unlabelled, deterministic=deterministic)
    n = wanted if wanted is not None else [result.rows * factor for factor in (1, 2, 4, 8, 16)]
    if as_json:
        click.echo(json.dumps(result.to_dict(n, goal), indent=1))
        return
    click.echo(result.at(n).to_csv(index=False, float_format="%.6g"), nl=False)
    click.echo(str(result.verdict(goal)), err=True)
    for note in result.notes:
        click.echo(f"note: {note}", err=True)


def _read(path: Path) -> pd.DataFrame:
    import pandas as pd

    try:
        return pd.read_csv(path)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read {path} as CSV: {error}") from error
