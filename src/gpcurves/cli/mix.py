"""``gpcurves mix``: the cheapest mix of labels of several tasks that reaches an error on one of them."""

from __future__ import annotations

import click

from gpcurves.cli import output, parse, pieces
from gpcurves.cli.options import Command, Family, Given, Option, Part, output_options
from gpcurves.errors import InputError
from gpcurves.methods.tasks.mix import Mix, cheapest_mix
from gpcurves.numerics.validation import positive
from gpcurves.observations import Observation
from gpcurves.observations.tasks import TaskLabels
from gpcurves.problem import Problem

TASKS = Family(TaskLabels, "likelihood", "fidelities", "Labels")


def _parts() -> list[Part]:
    section = "What to compute"
    costs = "Cost of a label of each task, in any unit; for two fidelities, the cheap one first."
    return [
        pieces.KERNELS.options,
        pieces.INPUTS.options,
        TASKS.options,
        Option("--goal", required=True, section=section, metavar="NUMBER", help="Error to reach on the target task."),
        Option("--costs", required=True, section=section, metavar="NUMBER,...", help=costs),
        *output_options(Mix),
    ]


@click.command(cls=Command, parts=_parts)
def mix(given: Given) -> None:
    """Find the cheapest numbers of cheap and expensive labels that reach an error on the expensive task, by theory.

    The picture shows lines of equal error in the plane of both numbers, and the line of equal cost that touches the goal. With
    --likelihood tasks there may be more than two tasks, with a file of the covariance between them.

    \b
    Examples:
      gpcurves mix --kernel matern52 --lengthscale 0.3 --dim 2 --correlation 0.95 --noise 0.01 --cheap-noise 0.05 --costs 1,20 --goal 0.02
      gpcurves mix --kernel rbf --lengthscale 0.2 --correlation 0.9 --costs 1,50 --goal 0.001 --out mix.png
    """
    output.check_out(given, Mix)
    goal = positive("--goal", parse.number("--goal", given["goal"]))
    costs = [parse.number("--costs", each) for each in given["costs"].split(",")]
    kernel = pieces.KERNELS.build(given)
    dim = {} if kernel.input_dim is None else {"dim": kernel.input_dim}
    observation: Observation = TASKS.build(given)
    if not isinstance(observation, TaskLabels):
        raise InputError(f"--likelihood must be fidelities or tasks, got {observation.name}")
    found = cheapest_mix(Problem(kernel, pieces.INPUTS.build(given, **dim), observation), goal, costs)
    output.write(given, found)
    output.say(given, str(found))
