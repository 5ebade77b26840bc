"""A graph with what a forecast predicts at its vertices, and how well, as pictures for its page."""

from __future__ import annotations

from base64 import b64encode

import numpy as np

from gpcurves.forecasting.networks.assembly import VertexPredictor
from gpcurves.forecasting.result import Forecast
from gpcurves.numerics.display import Display
from gpcurves.render.drawing import MOST_VERTICES, draw_graph
from gpcurves.render.page import tagged


def draw_maps(forecast: Forecast) -> str:
    """Return pictures of prediction and interval for a forecast on a graph; nothing if it is too large, or there is none."""
    predictor = forecast.predictor
    if not isinstance(predictor, VertexPredictor) or predictor.model.graph_.vertices > MOST_VERTICES:
        return ""
    drawings = draw_predictions(predictor, forecast.target)
    texts = ("The prediction at every vertex", "Half the width of the 90 % interval of a new label there")
    pictures = "".join(_embed(drawing, text) for drawing, text in zip(drawings, texts, strict=True))
    return f"<h2>Predictions on the network</h2>{pictures}"


def draw_predictions(predictor: VertexPredictor, target: str) -> tuple[Display, Display]:
    """Draw the graph twice: coloured by the prediction, and by half the width of its 90 % interval."""
    model = predictor.model
    graph, observed = model.graph_, model.posterior_.observed
    marked = np.zeros(graph.vertices)
    marked[observed.vertices] = observed.counts
    mean, _, low, _ = model.predict_at(np.arange(graph.vertices))
    labels = f"{len(observed.vertices):,} of {graph.vertices:,} vertices have a label"
    return (
        draw_graph(
            graph, mean, marked=marked, label=f"predicted {target}", title=labels, seen="has a label", colours="even"
        ),
        draw_graph(graph, mean - low, marked=marked, label="half the 90 % interval", title=labels, seen="has a label"),
    )


def _embed(drawing: Display, text: str) -> str:
    content = b64encode(drawing.to_bytes("png")).decode()
    return f"<figure><img alt='{text}' style='max-width:100%' src='data:image/png;base64,{content}'>{tagged('figcaption', text)}</figure>"
