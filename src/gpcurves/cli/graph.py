"""``gpcurves graph``: learning curves on random graphs and on one's own graph."""

from __future__ import annotations

from functools import partial

import click

from gpcurves.cli import comparing, computing, parse, pieces, uneven
from gpcurves.cli.options import Command, Given, Option, Part, output_options, run_options
from gpcurves.curve import CurveSet
from gpcurves.problem import Problem


def _parts() -> list[Part]:
    scale = "Standard deviation of the target over vertices, in its units: pictures show the RMSE in these units, too."
    return [
        *pieces.graph_options(),
        pieces.GRAPH_KERNELS.options,
        pieces.LIKELIHOODS.options,
        *uneven.vertex_options(),
        pieces.VERTEX_DESIGNS.options,
        comparing.chosen_option("Labels"),
        *computing.size_options("nu", "0.1:10:log:20"),
        Option("--deviation", section="What to compute", metavar="NUMBER", help=scale),
        uneven.map_option("vertex"),
        pieces.GRAPH_KERNELS.teacher_options,
        partial(computing.method_options, "nu"),
        *run_options(),
        *output_options(CurveSet),
    ]


@click.command(cls=Command, parts=_parts)
def graph(given: Given) -> int | None:
    """Compute the average error on the vertices of a graph after nu examples per vertex.

    On an ensemble of random graphs or on your own graph. Errors are mean squared errors against the noise-free function
    (or what --quantity names), averaged over vertices. CSV with the columns method,nu,error,stderr goes to stdout unless --out or --json says
    otherwise. --design greedy chooses the vertices to label, and --chosen lists them. On your own graph --vertices counts vertices without edges, which a file of edges cannot list.

    \b
    Examples:
      gpcurves graph --ensemble er:3 --p 10 --a 2 --normalise local --noise 0.1 --nu 0.1,1,5 --methods cavity
      gpcurves graph --ensemble regular:3 --noise 0.1 --methods mckay,simulation --graphs 5 --out curves.png
      gpcurves graph --edges network.csv --normalise local --noise 0.1 --nu 0.1:5:log:10 --goal 0.05
      gpcurves graph --edges network.csv --normalise local --noise 0.1 --nu 0.1 --design greedy --chosen first.csv
      gpcurves graph --ensemble er:3 --noise 0.0001 --teacher-normalise local --methods cavity,simulation --nu 0.1:2:0.1
      gpcurves graph --edges network.csv --noise 0.1 --label-weights often.csv --map 0.5 --out map.png
    """
    if given["map"] is not None:
        return uneven.show_map(given, _build_problem)
    return comparing.answer(given, _build_problem, pieces.VERTEX_DESIGNS)


def _build_problem(given: Given) -> Problem:
    # how many vertices your own graph has is part of the graph, not an option of a method
    count = given.take("method__vertices") if given["edges"] is not None else None
    vertices = None if count is None else parse.integer("--vertices", count)
    return pieces.build_graph_problem(given, pieces.read_graph(given, vertices))
