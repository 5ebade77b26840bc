"""``gpcurves predict``: values at all vertices of a graph from the values at some."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gpcurves.cli import output, parse, pieces
from gpcurves.cli.options import READ, WRITTEN, Command, Given, Option, Part, output_options
from gpcurves.cli.streams import tell
from gpcurves.errors import InputError
from gpcurves.numerics.display import Display
from gpcurves.numerics.validation import nonnegative
from gpcurves.render.drawing import MOST_VERTICES
from gpcurves.render.formats import check_output, list_suffixes, save
from gpcurves.render.views import TableView

if TYPE_CHECKING:
    from gpcurves.forecasting.networks.assembly import VertexPredictor
    from gpcurves.forecasting.networks.class_assembly import VertexClassPredictor
    from gpcurves.graphs import Graph, Labels


def _parts() -> list[Part]:
    noise = "Noise variance of a label, as a multiple of the fitted prior variance.  [fit]"
    drawn = (
        f"Draw the graph, coloured by the prediction, as {list_suffixes(Display)}; at most {MOST_VERTICES:,} vertices."
    )
    return [
        click.Argument(["edges"], type=READ),
        *pieces.graph_options()[2:],
        *pieces.label_options(),
        pieces.attribute_option("Labels"),
        Option("--noise", section="Labels", metavar="NUMBER", help=noise),
        pieces.FITTED_KERNELS.options,
        Option("--map", "picture", type=WRITTEN, metavar="FILE", help=drawn),
        *output_options(TableView),
    ]


@click.command(cls=Command, parts=_parts)
def predict(given: Given) -> None:
    """Predict the values at all vertices of a graph from the values at some of them, in the same units.

    Labels that are not numbers are classes. For these, the columns are vertex, prediction and the probability of each class.

    EDGES is a file with your own graph: an edge list, or .graphml, .gml, .gexf, .net, .adjlist, .json or .mtx, also
    with .gz. Kernel, noise, mean and variance are fitted unless given. CSV with the columns vertex,prediction,std,low,high goes
    to stdout unless --out says otherwise: the prediction, its standard deviation, and the 90 % interval of a new label.

    \b
    Examples:
      gpcurves predict network.csv --labels known.csv --out all.csv --map all.png
      gpcurves predict network.csv --labels known.csv --attributes vertices.csv
      gpcurves predict network.csv --labels known.csv --kernel diffusion --scale 2 --noise 0.01
      gpcurves predict network.csv --labels codes.csv --task classes --map classes.png
    """
    output.check_out(given, TableView)
    if given["picture"] is not None:
        check_output(given["picture"], Display)
    noise = None if given["noise"] is None else nonnegative("--noise", parse.number("--noise", given["noise"]))
    kernel = pieces.build_fitted_kernel(given)
    graph = pieces.read_own_graph(given)
    if given["picture"] is not None and graph.vertices > MOST_VERTICES:
        raise InputError(f"--map draws at most {MOST_VERTICES:,} vertices, but this graph has {graph.vertices:,}")
    known = pieces.read_labels(given, graph, given["task"])
    attributes = pieces.read_attributes(given, graph)
    predictor: VertexPredictor | VertexClassPredictor
    if known.are_numbers:
        predictor = _fit_numbers(graph, known, kernel, noise, attributes)
    else:
        pieces.refuse_of_numbers(given, "noise", "noise_column")
        predictor = _fit_classes(graph, known, kernel, attributes)
    model, table = predictor.model, predictor.predict()
    for name in table.select_dtypes("number"):  # as many digits as a plan writes
        table[name] = [float(f"{number:.6g}") for number in table[name]]
    output.write(given, table)
    if given["picture"] is not None:
        from gpcurves.render.views.maps import draw_predictions

        save(draw_predictions(predictor, known.target or "value")[0], given["picture"])
    output.say(given, f"{len(known):,} labels on {graph.describe()}", *model.findings)
    if not given["quiet"]:
        for line in [
            *(f"note: {note}" for note in model.notes_),
            *([f"wrote {given['picture']}"] if given["picture"] else []),
        ]:
            tell(line)


def _fit_numbers(graph: Graph, known: Labels, kernel: Any, noise: float | None, attributes: Any) -> VertexPredictor:
    """Learn from numbers; not before a graph beyond memory is refused."""
    from gpcurves.forecasting.networks.assembly import VertexPredictor
    from gpcurves.forecasting.networks.observed import Observed
    from gpcurves.forecasting.networks.regressor import GraphRegressor

    observed = Observed.gather(known.vertices, known.values, known.errors)
    model = GraphRegressor(graph, kernel, "fit" if noise is None else noise, attributes=attributes)
    return VertexPredictor(model.fit_observed(graph, observed))


def _fit_classes(graph: Graph, known: Labels, kernel: Any, attributes: Any) -> VertexClassPredictor:
    """Learn from classes."""
    from gpcurves.forecasting.networks.class_assembly import VertexClassPredictor
    from gpcurves.forecasting.networks.class_labels import ClassLabels
    from gpcurves.forecasting.networks.classifier import GraphClassifier

    labels = ClassLabels.gather(known.vertices, known.cells)
    return VertexClassPredictor(GraphClassifier(graph, kernel, attributes=attributes).fit_labels(graph, labels))
