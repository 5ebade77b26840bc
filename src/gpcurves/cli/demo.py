"""``gpcurves plan --demo``: a question about data that come with the package, asked as one would ask about one's own."""

from __future__ import annotations

from gpcurves.cli.options import Given, Option
from gpcurves.cli.streams import tell
from gpcurves.datasets import path_of
from gpcurves.errors import InputError

_DATA = {"table": "178 wines, analysed in a laboratory", "network": "voltage angles at 40 of the 240 buses of a grid"}
_QUESTIONS = {
    "table": "How many more until a model predicts their flavanoids to 0.21 from the other columns?",
    "network": "How many more until the RMSE at the other buses is 0.6 degrees?",
}
_GOALS = {"table": "0.21", "network": "0.6"}
_OWN = {
    "table": "gpcurves plan DATA.csv --target COLUMN --goal-rmse X",
    "network": "gpcurves plan --edges EDGES.csv --labels LABELS.csv --goal-rmse X",
}


def demo_option() -> Option:
    """Return the option that asks for bundled data."""
    return Option(
        "--demo",
        is_flag=False,
        flag_value="table",
        section="Bundled data",
        metavar="[table|network]",
        help="Plan with wines, or with a power grid, that come with gpcurves.",
    )


def fill_in_demo(given: Given) -> None:
    """Enter bundled data, and the goal of their question unless another one is given, as if they had been typed."""
    name = given["demo"]
    if name is None:
        return
    if name not in _DATA:
        raise InputError(f"--demo must be table or network, got {name!r}")
    if any(given[own] is not None for own in ("data", "edges", "labels")):
        raise InputError("--demo brings its own data: leave it out to plan with yours")
    chosen = given.context.params
    usual = all(given[each] is None for each in ("target", "goal_rmse", "goal_mae", "goal_r2", "goal_percent"))
    if usual:  # another column has other units
        chosen["goal_rmse"] = _GOALS[name]
    if not given["quiet"]:
        tell(f"demo: {_DATA[name]}. {f'{_QUESTIONS[name]} ' if usual else ''}The forecast takes some seconds.")
        tell(f"demo: with your own data: {_OWN[name]}")
    if name == "table":
        chosen["data"] = path_of("wine")
        chosen["target"] = given["target"] or "flavanoids"
    else:
        chosen["edges"], chosen["labels"] = path_of("grid"), path_of("angles")
