"""Chosen inputs on the command line: one design or several beside each other, and the list of what is chosen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from gpcurves.cli import computing, output, parse, pieces
from gpcurves.cli.options import WRITTEN, Family, Given, Option
from gpcurves.cli.streams import tell
from gpcurves.curve import CurveSet
from gpcurves.designs import Design
from gpcurves.errors import InputError
from gpcurves.numerics.validation import FloatArray, positive, sizes
from gpcurves.problem import Problem
from gpcurves.quantities import QUANTITIES
from gpcurves.render.formats import check_output, save
from gpcurves.render.views import TableView

if TYPE_CHECKING:
    import pandas as pd


def chosen_option(section: str) -> Option:
    """Return the option that writes what a design chooses."""
    text = "Also write the inputs that --design chooses for the largest data set, in order, to a .csv or .json file."
    return Option("--chosen", type=WRITTEN, section=section, metavar="FILE", help=text)


def answer(given: Given, build: Callable[[Given], Problem], family: Family, adding: Sequence[str] = ()) -> int | None:
    """Compute the curves of one design, or compare several, and write what a design chooses; returns the exit code."""
    designs = pieces.build_designs(given, family)
    if given["chosen"] is not None:
        check_output(given["chosen"], TableView)
        if len(designs) > 1:
            raise InputError(f"--chosen needs a single design, but --design names {len(designs)}")
    chosen: list[pd.DataFrame] = []

    def build_and_choose(given: Given) -> Problem:
        """Return the problem; what is chosen is found out before curves are computed, since that may be refused."""
        problem = build(given)
        if given["chosen"] is not None:
            from gpcurves.choosing import chosen_inputs

            if problem.ensemble is not None:
                raise InputError("--chosen lists vertices of your own graph: an ensemble has none to choose")
            count = round(float(_sizes(given, problem).max()) * problem.examples_per_size)
            if count == 0:
                raise InputError("--chosen lists the inputs of the largest data set, and that has no examples")
            chosen.append(chosen_inputs(problem, count, rng=given["rng"]))
        return problem

    if len(designs) > 1:
        return _compare(given, build, designs)
    code = computing.answer(given, build_and_choose, adding)
    for table in chosen:
        save(table, given["chosen"])
        if not given["quiet"]:
            tell(f"wrote {given['chosen']}")
    return code


def _sizes(given: Given, problem: Problem) -> FloatArray:
    axis = problem.axis
    return sizes(axis, parse.size_list(f"--{axis}", given["sizes"], integers=axis == "n"))


def _compare(given: Given, build: Callable[[Given], Problem], designs: Sequence[Design]) -> int | None:
    """Compute the curves of several designs, with bounds for every choice, and say what choosing saves."""
    from gpcurves.choosing import compare_designs

    output.check_out(given, CurveSet)
    if given.context.params.get("goal_excess") is not None:
        raise InputError("--goal-excess applies to inducing points only: leave it out if several designs are compared")
    problem = build(given)
    errors: list[float | None] = [positive("--goal", parse.number("--goal", goal)) for goal in given["goals"]]
    quantity = QUANTITIES[given["quantity"]]
    if errors and not quantity.falls:
        raise InputError(
            f"--goal needs a quantity that always falls with more examples, which {quantity.name} does not"
        )
    scale = given.context.params.get("deviation")
    deviation = None if scale is None else positive("--deviation", parse.number("--deviation", scale))
    named = given["methods"].strip()
    options, _ = computing.read_given(given)
    options = {"rng": given["rng"], "progress": False if given["quiet"] else None} | options
    sized = {problem.axis: _sizes(given, problem)}
    methods = None if named == "all" else parse.names("--methods", named)
    try:
        curves = compare_designs(problem, designs=designs, methods=methods, quantity=quantity.name, **sized, **options)
    except KeyboardInterrupt as stop:
        return output.say_interrupted(stop, given["store"])
    answers = [curves.saving(error) for error in errors or [None]] if curves.comparable else []
    shown = curves.continued() if output.is_shown(given) else curves
    output.emit_curves(shown, answers, given, deviation=deviation)
    return None
