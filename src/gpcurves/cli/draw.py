"""``gpcurves draw``: a picture of a graph, coloured by the error of one data set."""

from __future__ import annotations

import click

from gpcurves.cli import output, parse, pieces
from gpcurves.cli.options import Command, Given, Option, Part, output_options
from gpcurves.errors import InputError
from gpcurves.methods.simulation.single import one_data_set
from gpcurves.numerics.display import Display
from gpcurves.render.drawing import draw_graph
from gpcurves.render.wording import in_words


def _parts() -> list[Part]:
    return [
        *pieces.single_graph_options(),
        pieces.GRAPH_KERNELS.options,
        pieces.LIKELIHOODS.options,
        pieces.VERTEX_DESIGNS.options,
        Option("--nu", default="1", section="Labels", metavar="NUMBER", help="Examples per vertex.  [1]"),
        pieces.GRAPH_KERNELS.teacher_options,
        *output_options(Display),
    ]


@click.command(cls=Command, parts=_parts)
def draw(given: Given) -> None:
    """Draw a graph, coloured by the error at each vertex after one data set, with the training vertices marked.

    EDGES is a file with your own graph: an edge list, or .graphml, .gml, .gexf, .net, .adjlist, .json or .mtx, also
    with .gz. With --ensemble a random graph is drawn instead.

    \b
    Examples:
      gpcurves draw network.csv --noise 0.1 --nu 0.5 --out network.png
      gpcurves draw --ensemble er:3 --vertices 100 --normalise local --noise 0.1 --out random.svg
    """
    if given["out"] is None:
        raise InputError("--out is needed: the picture to write")
    output.check_out(given, Display)
    nu = parse.number("--nu", given["nu"])
    problem = pieces.build_graph_problem(given, pieces.read_graph(given, given["vertices"]))
    size = given["vertices"] if problem.ensemble is not None else None
    graph, counts, error = one_data_set(problem, nu, vertices=size, rng=given["rng"])
    label = "posterior variance" if problem.teacher is None else "squared error, averaged over true functions"
    examples = f"{int(counts.sum())} examples (ν = {nu:g}), mean error {error.mean():.3g}"
    title = f"{in_words(problem)}\n{examples}"
    output.write(given, draw_graph(graph, error, marked=counts, label=label, title=title))
    output.say(given, graph.describe())
