"""``gpcurves predict``: values at all vertices of a graph from the values at some."""

from __future__ import annotations

from functools import partial

import click

from gpcurves.cli import output, parse, pieces
from gpcurves.cli.options import READ, Command, Given, Option, Part, output_options, parameter_options, read_options
from gpcurves.cli.streams import tell
from gpcurves.methods import METHODS
from gpcurves.numerics.parameters import parameters_of
from gpcurves.render.views import TableView

_NOISE = 0.1


def _parts() -> list[Part]:
    noise = f"Noise variance of a label, if prior variances are 1.  [{_NOISE:g}]"
    how = [p for p in parameters_of(METHODS["cavity"].Options) if p.name in ("tolerance", "max_rounds", "damping")]
    return [
        click.Argument(["edges"], type=READ),
        *pieces.graph_options()[2:],
        *pieces.label_options(noise=False),
        Option("--noise", section="Labels", metavar="NUMBER", help=noise),
        pieces.GRAPH_KERNELS.options,
        partial(parameter_options, "method", {"cavity": how}, section="Belief propagation"),
        *output_options(TableView),
    ]


@click.command(cls=Command, parts=_parts)
def predict(given: Given) -> int | None:
    """Predict the values at all vertices of a graph from the values at some, by belief propagation.

    EDGES is a file with your own graph: an edge list, or .graphml, .gml, .gexf, .net, .adjlist, .json or .mtx, also
    with .gz. CSV with the columns vertex,mean,std goes to stdout unless --out says otherwise.

    \b
    Examples:
      gpcurves predict network.csv --labels known.csv --out all.csv
      gpcurves predict network.csv --labels known.csv --kernel diffusion --scale 2 --noise 0.01
    """
    output.check_out(given, TableView)
    noise = _NOISE if given["noise"] is None else parse.number("--noise", given["noise"])
    kernel = pieces.GRAPH_KERNELS.build(given)
    graph = pieces.read_own_graph(given)
    known = pieces.read_labels(given, graph)
    import pandas as pd  # not before a graph beyond memory is refused

    from gpcurves.methods.cavity.regressor import GraphRegressor

    model = GraphRegressor(graph, kernel, noise, **read_options(given, "method", "cavity"))
    model.fit(
        [graph.label(number) for number in known.vertices] if graph.labels is not None else known.vertices, known.values
    )
    mean, std = model.predict(return_std=True)
    labels = [graph.label(i) for i in range(graph.vertices)]
    output.write(given, pd.DataFrame({"vertex": labels, "mean": mean, "std": std}))
    beliefs = model.beliefs_
    end = f"converged after {beliefs.rounds} iterations" if beliefs.converged else "no convergence"
    output.say(given, f"{len(known)} labels on {graph.describe()}: {end}")
    if not beliefs.converged:
        tell("gpcurves: no convergence: try --damping 0.5, more --max-rounds or a larger --tolerance")
        return 1
    return None
