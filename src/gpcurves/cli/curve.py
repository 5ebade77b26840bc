"""``gpcurves curve``: learning curves for a kernel, inputs and noise."""

from __future__ import annotations

from functools import partial

import click

from gpcurves.cli import comparing, computing, parse, pieces, uneven
from gpcurves.cli.options import READ, Command, Given, Option, Part, output_options, run_options
from gpcurves.curve import CurveSet
from gpcurves.methods import METHODS


def _parts() -> list[Part]:
    spectrum = "File with eigenvalues (and multiplicities) instead of a kernel and inputs."
    excess = "Also say how many inducing points keep the error within this fraction of the full GP's: 0.1 is 10 %."
    return [
        pieces.KERNELS.options,
        pieces.INPUTS.options,
        Option("--spectrum", type=READ, section="Inputs", metavar="FILE", help=spectrum),
        pieces.DESIGNS.options,
        comparing.chosen_option("Inputs"),
        pieces.LIKELIHOODS.options,
        *computing.size_options("n", "0,1:1000:log:40"),
        Option("--goal-excess", section="What to compute", metavar="NUMBER", help=excess),
        uneven.map_option("input", "this many examples"),
        pieces.KERNELS.teacher_options,
        partial(computing.method_options, "n", datasets="simulate"),
        uneven.test_options,
        *run_options(),
        *output_options(CurveSet),
    ]


@click.command(cls=Command, parts=_parts)
def curve(given: Given) -> int | None:
    """Compute the average error after n examples: by theory, by rigorous bounds and by simulation.

    Errors are mean squared errors against the noise-free function, or what --quantity names. CSV with the columns
    method,n,error,stderr goes to stdout unless --out or --json says otherwise; --inducing adds a column m, the number of
    inducing points. --simulate N also simulates the truth with N data sets. --design says how inputs are chosen; several designs
    are compared with each other and with bounds for every choice.

    \b
    Examples:
      gpcurves curve --kernel rbf --lengthscale 0.01 --noise 0.05 --n 0,1,50,300 --methods lc,uc,plaskota
      gpcurves curve --kernel ou --lengthscale 0.1 --dim 2 --noise 0.1 --n 1:10000:log:60 --out ou.html
      gpcurves curve --kernel rbf --lengthscale 0.2,1 --inputs gaussian --dim 2 --noise 0.01 --goal 0.001
      gpcurves curve --kernel matern52 --lengthscale 0.3 --inputs box --dim 3 --noise 0.01 --methods lc
      gpcurves curve --kernel rbf --lengthscale 0.05 --noise 0.01 --n 0:100:10 --methods lc,ov --simulate 50
      gpcurves curve --kernel rbf --lengthscale 0.1 --noise 0.001 --n 0:60:5 --teacher-kernel ou --simulate 50
      gpcurves curve --kernel rbf --lengthscale 0.1 --noise 0.1 --n 500 --inducing 9,20 --goal-excess 0.1 --methods sor
      gpcurves curve --kernel rbf --lengthscale 0.05 --noise 0.05 --n 5:40:5 --design random,greedy,grid --out designs.png
      gpcurves curve --kernel rbf --lengthscale 0.1 --likelihood probit --quantity error-rate --n 0:60:5 --simulate 50
      gpcurves curve --kernel rbf --lengthscale 0.1 --noise 0.05 --methods lc --quantity nlpd --teacher-kernel ou
      gpcurves curve --kernel rbf --lengthscale 0.2 --inputs gaussian --test-inputs box --noise 0.01 --methods local
      gpcurves curve --kernel rbf --lengthscale 0.2 --inputs gaussian --noise 0.001 --map 80 --out map.png
    """
    if given["map"] is not None:
        return uneven.show_map(given, pieces.build_vector_problem)
    adding = ["simulation"] if given.has("method__datasets") else []
    if adding and given["methods"].strip() != "all":
        named = parse.names("--methods", given["methods"])
        adding += [f"{name}-simulation" for name in named if f"{name}-simulation" in METHODS]
    return comparing.answer(given, pieces.build_vector_problem, pieces.DESIGNS, adding)
