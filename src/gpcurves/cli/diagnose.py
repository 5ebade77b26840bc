"""``gpcurves diagnose``: how uneven prior variances are over a graph, its shape, and whether the cavity method may be trusted."""

from __future__ import annotations

from dataclasses import replace

import click

from gpcurves.cli import output, pieces
from gpcurves.cli.options import Command, Given, output_options
from gpcurves.errors import InputError
from gpcurves.graphs import Graph
from gpcurves.graphs import diagnosis as about
from gpcurves.methods.cavity.trust import diagnose as examine

_VERTICES = 500
_KERNELS = replace(pieces.GRAPH_KERNELS, without=("normalise", "variance"))


@click.command(
    cls=Command,
    parts=lambda: [*pieces.single_graph_options(), _KERNELS.options, *output_options(about.Diagnosis)],
)
def diagnose(given: Given) -> None:
    """Report how uneven prior variances are over the vertices of a graph under global normalisation.

    It also reports the clustering coefficient, the effective diameter, the tail of the degrees, and the error of the cavity
    method. Large graphs are sampled.

    EDGES is a file with your own graph: an edge list, or .graphml, .gml, .gexf, .net, .adjlist, .json or .mtx, also
    with .gz. With --ensemble a random graph is drawn instead. The report goes to stdout.

    \b
    Examples:
      gpcurves diagnose network.csv --p 10
      gpcurves diagnose network.csv --kernel diffusion --scale 2 --out prior.png
      gpcurves diagnose --ensemble er:3 --vertices 300 --json
    """
    output.check_out(given, about.Diagnosis)
    kernel = _KERNELS.build(given)
    graph = pieces.read_graph(given, given["vertices"])
    if not isinstance(graph, Graph):
        graph = graph.sample(given["vertices"] or _VERTICES, given["rng"])
    elif given.has("rng"):
        raise InputError("--rng is not used: the graph is given, and nothing is drawn at random")
    report = examine(graph, kernel)
    output.write(given, report, report.report())
    output.say(given)
