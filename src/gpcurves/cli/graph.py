"""``gpcurves graph``: learning curves on random graphs and on one's own graph."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from gpcurves.cli import comparing, computing, parse, pieces, uneven
from gpcurves.cli.options import Command, Given, Option, Part, output_options, run_options
from gpcurves.curve import CurveSet
from gpcurves.errors import InputError
from gpcurves.graphs import Graph, read_attributes
from gpcurves.graphs.details import as_values
from gpcurves.problem import Problem


def _parts() -> list[Part]:
    scale = (
        "Standard deviation of the target over vertices, in its units: pictures then also show the RMSE in these units."
    )
    return [
        *pieces.graph_options(),
        pieces.GRAPH_KERNELS.options,
        pieces.LIKELIHOODS.options,
        *uneven.vertex_options(),
        pieces.VERTEX_DESIGNS.options,
        comparing.chosen_option("Labels"),
        *computing.size_options("nu", "0.1:10:log:20"),
        Option("--deviation", section="What to compute", metavar="NUMBER", help=scale),
        uneven.map_option("vertex", "this many examples per vertex"),
        pieces.GRAPH_KERNELS.teacher_options,
        partial(computing.method_options, "nu", among="groups"),
        *run_options(),
        *output_options(CurveSet),
    ]


@click.command(cls=Command, parts=_parts)
def graph(given: Given) -> int | None:
    """Compute the average error on the vertices of a graph after nu examples per vertex.

    The graph is your own, or drawn from an ensemble of random graphs. Errors are mean squared errors against the noise-free
    function (or what --quantity names), averaged over vertices. CSV with the columns method,nu,error,stderr goes to stdout
    unless --out or --json says otherwise. --groups takes communities of your own graph (louvain, spectral:K,
    attribute:NAME, or a file with a vertex and its group per line), or the blocks of a block model, and adds a curve for
    each. --design greedy chooses the vertices to label, and --chosen lists them. For your own graph, --vertices gives the
    number of vertices, if some have no edges and are not in the file.

    \b
    Examples:
      gpcurves graph --ensemble er:3 --p 10 --a 2 --normalise local --noise 0.1 --nu 0.1,1,5 --methods cavity
      gpcurves graph --ensemble regular:3 --noise 0.1 --methods mckay,simulation --graphs 5 --out curves.png
      gpcurves graph --edges network.csv --normalise local --noise 0.1 --nu 0.1:5:log:10 --goal 0.05
      gpcurves graph --edges network.csv --normalise local --noise 0.1 --nu 0.1 --design greedy --chosen first.csv
      gpcurves graph --edges network.csv --noise 0.1 --methods cavity --groups louvain --out communities.png
      gpcurves graph --ensemble block:.5,.5/2.5,.5/.5,2.5/1,0 --noise 0.1 --methods cavity --groups blocks
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
    graph = pieces.read_graph(given, vertices)
    return pieces.build_graph_problem(given, _read_groups(given, graph) if isinstance(graph, Graph) else graph)


def _read_groups(given: Given, graph: Graph) -> Graph:
    """Return the graph with the groups in a file, if one was given, as an attribute of its vertices, and name that instead."""
    text = given["method__among"]
    path = Path(text or "")
    if text is None or not path.is_file():
        return graph
    table = read_attributes(path, graph)
    missing = graph.vertices - len(table)
    if missing:
        raise InputError(f"{path}: {missing:,} of {graph.vertices:,} vertices have no group; give one to every vertex")
    if len(table.columns) != 1:
        listed = ", ".join(map(repr, table.columns))
        raise InputError(
            f"{path}: there must be one column of groups beside that of the vertices, but there are {listed}"
        )
    (name,) = map(str, table.columns)
    values = as_values(table.sort_index().iloc[:, 0])
    assert values is not None
    given.context.params["method__among"] = f"attribute:{name}"
    return graph.with_details(graph.positions, {**(graph.attributes or {}), name: values})
