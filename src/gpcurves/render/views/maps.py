"""A graph with what a forecast predicts at its vertices, how well, and which to label next, as pictures for its page."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from io import BytesIO
from typing import Any

import numpy as np
from PIL import Image

from gpcurves.forecasting.networks.assembly import VertexPredictor
from gpcurves.forecasting.networks.class_assembly import VertexClassPredictor
from gpcurves.forecasting.result import Forecast
from gpcurves.graphs.graph import Graph, IntArray
from gpcurves.graphs.records import shorten
from gpcurves.numerics.display import Display
from gpcurves.numerics.validation import FloatArray
from gpcurves.render.drawing import MOST_NAMES, MOST_VERTICES, draw_graph
from gpcurves.render.mpl import words
from gpcurves.render.page import as_html, tagged

_COLOURS = 96  # of a picture in a page: as many as its scale needs
_NEXT, _USUAL = "#D55E00", 5  # colour of vertices to label next, and how many are marked if nobody asks for others
_FONT, _LETTER, _FAR = 8.0, 0.62, 7.0  # of their names: size, width of a letter in sizes, and distance, in points
_DOUBTFUL = "The probability that another class is right: dark vertices are uncertain"
_SIDES = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))
_LONGEST_NAME, _MARGIN = 24, 3.0  # letters of a name, and points between it and the middle of a vertex that it covers


def draw_maps(forecast: Forecast, chosen: list[str] | None = None) -> str:
    """Return pictures of prediction and interval for a forecast on a graph; nothing if it is too large, or there is none.

    ``chosen`` are the vertices to label next, which are marked; the first few if None.
    """
    predictor = forecast.predictor
    if (
        not isinstance(predictor, VertexPredictor | VertexClassPredictor)
        or predictor.model.graph_.vertices > MOST_VERTICES
    ):
        return ""
    if chosen is None:
        free = predictor.model.graph_.vertices - forecast.rows
        chosen = forecast.next_rows(min(_USUAL, free))["vertex"].tolist() if free else []
    drawings = draw_predictions(predictor, forecast.target, chosen)
    texts = (
        "The likeliest class at every vertex"
        if isinstance(predictor, VertexClassPredictor)
        else "The prediction at every vertex",
        _DOUBTFUL
        if isinstance(predictor, VertexClassPredictor)
        else "Half the width of the 90 % interval of a new label there: dark vertices are uncertain",
    )
    pictures = "".join(_embed(drawing, text) for drawing, text in zip(drawings, texts, strict=True))
    listed = f"Orange rings mark the vertices to label next, the most informative first: {', '.join(chosen)}."
    return f"<h2>Predictions on the network</h2>{pictures}{tagged('p', listed) if chosen else ''}"


def draw_predictions(
    predictor: VertexPredictor | VertexClassPredictor, target: str, chosen: Sequence[str] = ()
) -> tuple[Display, Display]:
    """Draw the graph twice: coloured by the prediction, and by half the width of its 90 % interval, or by the doubt about the class."""
    graph = predictor.model.graph_
    if isinstance(predictor, VertexClassPredictor):
        drawings = _draw_classes(predictor, target)
    else:
        drawings = _draw_numbers(predictor, target)
    numbers = np.array([graph.number(name) for name in chosen], dtype=np.int64)
    names = [shorten(name, _LONGEST_NAME) for name in chosen] if graph.vertices > MOST_NAMES else []
    for drawing in drawings:
        mark_next(drawing, numbers, names)
    return drawings


def _draw_numbers(predictor: VertexPredictor, target: str) -> tuple[Display, Display]:
    model = predictor.model
    graph, observed = model.graph_, model.observed_
    look = _mark_labels(graph, observed.vertices)
    mean, _, low, _ = model.predict_at(np.arange(graph.vertices))
    uncertain = "half the 90 % interval: dark = uncertain"
    return (
        draw_graph(graph, mean, label=f"predicted {target}", colours="even", **look),
        draw_graph(graph, mean - low, label=uncertain, **look),
    )


def _draw_classes(predictor: VertexClassPredictor, target: str) -> tuple[Display, Display]:
    model = predictor.model
    found, names = model.probabilities_, [str(name) for name in model.classes_]
    look = _mark_labels(model.graph_, model.labels_.vertices)
    likeliest = found.argmax(axis=1).astype(np.float64)
    doubt = "probability of another class: dark = uncertain"
    return (
        draw_graph(model.graph_, likeliest, label=f"predicted {target}", classes=names, **look),
        draw_graph(model.graph_, 1 - found.max(axis=1), label=doubt, **look),
    )


def _mark_labels(graph: Graph, vertices: IntArray) -> dict[str, Any]:
    marked = np.zeros(graph.vertices)
    marked[vertices] = 1.0
    title = f"{len(vertices):,} of {graph.vertices:,} vertices have a label"
    return {"marked": marked, "title": title, "seen": "has a label"}


def mark_next(drawing: Display, vertices: IntArray, names: list[str]) -> None:
    """Draw rings around vertices to label next, with those of their names that fit."""
    if len(vertices) == 0:
        return
    axes, points = drawing.ax_, drawing.lines_["vertices"]
    places = np.asarray(points.get_offsets())
    size = 3.2 * float(points.get_sizes()[0]) + 30
    look = {"facecolors": "none", "edgecolors": _NEXT, "linewidths": 1.8, "zorder": 3}
    drawing.lines_["next"] = axes.scatter(*places[vertices].T, s=size, label="label next", **look)
    axes.legend(loc="upper left", frameon=False, fontsize=9)
    if not names:
        return
    drawing.figure_.draw_without_rendering()  # settles where the axes are
    points_per_pixel = 72 / drawing.figure_.dpi
    at = axes.transData.transform(places) * points_per_pixel
    reach = 0.5 * np.sqrt(size) + _FAR / 2
    for k, shift in enumerate(place_names(at, vertices, names, reach)):
        if shift is not None:
            style = {"fontsize": _FONT, "color": _NEXT, "ha": "center", "va": "center", "zorder": 4}
            axes.annotate(words(names[k]), places[vertices[k]], shift, textcoords="offset points", **style)


def place_names(at: FloatArray, vertices: IntArray, names: list[str], reach: float) -> list[tuple[float, float] | None]:
    """Return where to write the name of each vertex, in points from it; None if every place is taken by another name.

    Of the free places the one is taken that covers the fewest vertices, whose positions in points are ``at``.
    """
    taken: list[tuple[float, float, float, float]] = []
    found: list[tuple[float, float] | None] = []
    for vertex, name in zip(vertices.tolist(), names, strict=True):
        half = (0.5 * _LETTER * _FONT * len(name), 0.6 * _FONT)
        options = []
        for right, up in _SIDES:
            x, y = right * (reach + half[0]), up * (reach + half[1])
            left, bottom = at[vertex, 0] + x - half[0], at[vertex, 1] + y - half[1]
            box = (left, left + 2 * half[0], bottom, bottom + 2 * half[1])
            free = all(
                box[0] > other[1] or other[0] > box[1] or box[2] > other[3] or other[2] > box[3] for other in taken
            )
            if free:
                away = np.abs(at - ((box[0] + box[1]) / 2, (box[2] + box[3]) / 2)) - half
                inside = (away < _MARGIN).all(axis=1)
                options.append((int(inside.sum()), (x, y), box))
        if options:
            _, shift, box = min(options, key=lambda each: each[0])
            taken.append(box)
            found.append(shift)
        else:
            found.append(None)
    return found


def _embed(drawing: Display, text: str) -> str:
    content = b64encode(_shrink(drawing.to_bytes("png"))).decode()
    return f"<figure><img alt='{as_html(text)}' style='max-width:100%' src='data:image/png;base64,{content}'>{tagged('figcaption', text)}</figure>"


def _shrink(png: bytes) -> bytes:
    """Return a picture with few colours, which is a third as long."""
    buffer = BytesIO()
    with Image.open(BytesIO(png)) as picture:
        picture.convert("RGB").quantize(_COLOURS).save(buffer, "PNG", optimize=True)
    return buffer.getvalue()
