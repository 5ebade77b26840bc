"""``gpcurves diagnose``: how uneven the prior variances are over the vertices of a graph."""

from __future__ import annotations

import click

from gpcurves.cli import output, pieces
from gpcurves.cli.command import Command, Given, names_of, output_options
from gpcurves.errors import InputError

_VERTICES = 500


def _options() -> list[click.Parameter]:
    from gpcurves.graphs.diagnosis import Diagnosis

    graph = pieces.graph_options(argument=True)
    graph += [pieces.vertices_option(), pieces.seed_option()]
    writing = output_options(Diagnosis)
    taken = names_of([*graph, *writing])
    return [*graph, *pieces.graph_kernels("normalise").options(taken), *writing]


@click.command(cls=Command, options=_options)
def diagnose(given: Given) -> None:
    """Report how uneven prior variances are over the vertices of a graph under global normalisation.

    EDGES is a file with your own graph: an edge list, or .graphml, .gml or .mtx, also with .gz. With --ensemble a random
    graph is drawn instead. The report goes to stdout.

    \b
    Examples:
      gpcurves diagnose network.csv --p 10
      gpcurves diagnose network.csv --kernel diffusion --scale 2 --out prior.png
      gpcurves diagnose --ensemble er:3 --vertices 300 --json
    """
    from gpcurves.graphs import Graph
    from gpcurves.graphs.diagnosis import Diagnosis
    from gpcurves.graphs.diagnosis import diagnose as examine

    target = output.Target.of(given, Diagnosis)
    kernel = pieces.build_piece(given, pieces.graph_kernels("normalise"))
    graph = pieces.read_graph(given, given["vertices"])
    if not isinstance(graph, Graph):
        graph = graph.sample(given["vertices"] or _VERTICES, given["rng"])
    elif given.has("rng"):
        raise InputError("--rng is not used: the graph is given, and nothing is drawn at random")
    report = examine(graph, kernel)
    target.write(report, report.report())
    target.say()
