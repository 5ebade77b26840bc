"""``gpcurves predict``: values at all vertices of a graph from the values at some."""

from __future__ import annotations

import click

from gpcurves.cli import output, parse, pieces
from gpcurves.cli.command import FILE, Command, Given, Option, names_of, output_options
from gpcurves.cli.options import parameter_options, read_options

_NOISE = 0.1


def _options() -> list[click.Parameter]:
    import pandas as pd

    from gpcurves.methods import METHODS
    from gpcurves.numerics.parameters import parameters_of

    edges = click.Argument(["edges"], type=FILE)
    _, _, repair = pieces.graph_options(argument=True)
    labels = Option(
        "--labels",
        type=FILE,
        required=True,
        section="Labels",
        metavar="FILE",
        help="File with a vertex and a value per line.",
    )
    noise = Option(
        "--noise",
        section="Labels",
        metavar="NUMBER",
        help=f"Noise variance of a label, if prior variances are 1.  [{_NOISE:g}]",
    )
    writing = output_options(pd.DataFrame)
    taken = names_of([edges, repair, labels, noise, *writing])
    how = [p for p in parameters_of(METHODS["cavity"].Options) if p.name in ("tolerance", "max_rounds", "damping")]
    return [
        edges,
        repair,
        labels,
        noise,
        *pieces.graph_kernels().options(taken),
        *parameter_options("method", {"cavity": how}, taken, section="Belief propagation"),
        *writing,
    ]


@click.command(cls=Command, options=_options)
def predict(given: Given) -> int | None:
    """Predict the values at all vertices of a graph from the values at some, by belief propagation.

    EDGES is a file with your own graph: an edge list, or .graphml, .gml or .mtx, also with .gz. CSV with the columns
    vertex,mean,std goes to stdout unless --out says otherwise.

    \b
    Examples:
      gpcurves predict network.csv --labels known.csv --out all.csv
      gpcurves predict network.csv --labels known.csv --kernel diffusion --scale 2 --noise 0.01
    """
    import pandas as pd

    from gpcurves.graphs import read_graph
    from gpcurves.methods.cavity.regressor import GraphRegressor

    target = output.Target.of(given, pd.DataFrame)
    noise = _NOISE if given["noise"] is None else parse.number("--noise", given["noise"])
    kernel = pieces.build_piece(given, pieces.graph_kernels())
    graph = read_graph(given["edges"], repair=given["repair"])
    vertices, values = parse.labels(given["labels"])
    numbers = [graph.number(name) for name in vertices]
    model = GraphRegressor(graph, kernel, noise, **read_options(given, "method", "cavity"))
    model.fit([graph.label(number) for number in numbers] if graph.labels is not None else numbers, values)
    mean, std = model.predict(return_std=True)
    target.write(pd.DataFrame({"vertex": [graph.label(i) for i in range(graph.vertices)], "mean": mean, "std": std}))
    beliefs = model.beliefs_
    end = f"converged after {beliefs.rounds} iterations" if beliefs.converged else "no convergence"
    target.say(f"{len(values)} labels on {graph.vertices} vertices: {end}")
    if not beliefs.converged:
        click.echo("gpcurves: no convergence: try --damping 0.5, more --max-rounds or a larger --tolerance", err=True)
        return 1
    return None
