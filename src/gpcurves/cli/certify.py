"""``gpcurves certify``: an upper bound on the error of a model from held-out rows, or how many rows such a bound takes."""

from __future__ import annotations

import json

import click

from gpcurves.cli import parse
from gpcurves.cli.options import Command, Given, Option
from gpcurves.cli.streams import echo_data
from gpcurves.errors import InputError

_HELD, _PLAN, _BOTH = "Rows that were held out", "Rows to hold out", "Guarantee"


def _parts() -> list[Option]:
    models = "Number of models compared on these rows; the bound holds for all of them.  [1]"
    power = "Probability that the held-out rows certify the goal (statistical power).  [0.8]"
    return [
        Option("--mistakes", section=_HELD, metavar="COUNT", help="Number of held-out rows that the model gets wrong."),
        Option("--rows", section=_HELD, metavar="COUNT", help="Number of rows that were held out."),
        Option(
            "--expected", section=_PLAN, metavar="NUMBER", help="Expected error rate, such as the forecast of a plan."
        ),
        Option("--goal", section=_PLAN, metavar="NUMBER", help="Error rate that the certificate should guarantee."),
        Option("--power", section=_PLAN, metavar="NUMBER", help=power),
        Option("--confidence", default="0.95", section=_BOTH, metavar="NUMBER", help="Confidence level.  [0.95]"),
        Option("--models", default="1", section=_BOTH, metavar="COUNT", help=models),
        Option("--json", "as_json", is_flag=True, help="Write JSON instead of text to stdout."),
        Option("--quiet", "-q", is_flag=True, help="Print numbers only."),
    ]


@click.command(cls=Command, parts=_parts)
def certify(given: Given) -> None:
    """Bound the error rate of a model with a given confidence, from rows that it was not trained on.

    Give --mistakes and --rows if rows were held out, or --expected and --goal to learn how many to hold out. Three bounds
    are shown: the binomial tail (exact for mistakes), Chernoff and Hoeffding (for any loss between 0 and 1).

    \b
    Examples:
      gpcurves certify --mistakes 3 --rows 100
      gpcurves certify --mistakes 3 --rows 100 --models 20 --confidence 0.99
      gpcurves certify --expected 0.05 --goal 0.1
    """
    from gpcurves.guarantees import WHY_NOT_VC

    pairs = [("mistakes", "rows"), ("expected", "goal")]
    asked = [pair for pair in pairs if any(given[name] is not None for name in pair)]
    if len(asked) != 1 or any(given[name] is None for name in asked[0]):
        raise InputError("give either --mistakes and --rows, or --expected and --goal")
    if given["power"] is not None and asked[0] == pairs[0]:
        raise InputError("--power belongs to --expected and --goal: these rows were held out already")
    lines, data = _certificates(given) if asked[0] == pairs[0] else _sizes(given)
    if given["as_json"]:
        echo_data(json.dumps(data, indent=1) + "\n")
    else:
        echo_data("\n".join(lines[2:] if given["quiet"] else [*lines, WHY_NOT_VC]) + "\n")


def _common(given: Given) -> dict[str, float]:
    return {
        "confidence": parse.number("--confidence", given["confidence"]),
        "models": parse.integer("--models", given["models"]),
    }


def _certificates(given: Given) -> tuple[list[str], dict[str, object]]:
    from gpcurves.guarantees import WAYS, certificate, to_dict

    mistakes, rows = parse.integer("--mistakes", given["mistakes"]), parse.integer("--rows", given["rows"])
    found = {way: certificate(mistakes, rows, by=way, **_common(given)) for way in WAYS}  # type: ignore[arg-type]
    lines = [f"  {way:<10} {each.bound:.4g}" for way, each in found.items()]
    return [str(found["binomial"]), "By each bound:", *lines], {
        "certificates": [to_dict(each) for each in found.values()]
    }


def _sizes(given: Given) -> tuple[list[str], dict[str, object]]:
    from gpcurves.guarantees import WAYS, required_holdout

    error, goal = parse.number("--expected", given["expected"]), parse.number("--goal", given["goal"])
    common = _common(given)
    power = 0.8 if given["power"] is None else parse.number("--power", given["power"])
    rows = {way: required_holdout(error, goal, by=way, power=power, **common) for way in WAYS}  # type: ignore[arg-type]
    first = (
        f"Hold out about {rows['binomial']:,} rows to certify an error of at most {goal:g} with {100 * common['confidence']:g} % "
        f"confidence, if {error:g} is expected ({100 * power:g} % chance that they turn out well enough)."
    )
    lines = [f"  {way:<10} {count:,}" for way, count in rows.items()]
    return [first, "By each bound:", *lines], {"expected": error, "goal": goal, "power": power, **common, "rows": rows}
