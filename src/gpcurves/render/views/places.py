"""The error at every place: over the input in one dimension, on the graph, and otherwise its distribution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpcurves.methods.local.errors import ErrorMap
from gpcurves.numerics.display import Display
from gpcurves.numerics.validation import FloatArray
from gpcurves.render.drawing import MOST_VERTICES, draw_graph
from gpcurves.render.page import table
from gpcurves.render.scene import Area, Axis, Line, Scene, Stroke
from gpcurves.render.views import View
from gpcurves.render.views.variances import histogram
from gpcurves.render.wording import in_words

_ERROR, _PRIOR, _MEAN, _INPUTS = "#0072B2", "#888888", "#222222", "#4a7ba6"
_RARE = 0.0005  # share of inputs on either side that a picture leaves out
_BINS, _HEIGHT = 60, 0.25  # of the histogram of inputs, and its height as a share of the picture


@dataclass(frozen=True, eq=False)
class ErrorMapView(View):
    """Errors over one input with the distribution of training inputs below, on a graph as colours, or as a histogram."""

    result: ErrorMap

    def scene(self) -> Scene:
        found = self.result
        if found.graph is None and found.at.shape[1] == 1:
            return _over_input(found)
        what = "vertex" if found.graph is not None else "place"
        levels = {f"mean {found.mean:.3g}": (found.mean, Stroke(_MEAN, "dash", 1.2))}
        label = f"error of a {what} at {found.problem.axis} = {found.size:g}"
        return histogram(found.error, found.weights, None, label, levels, in_words(found.problem))

    def draw(self, ax: Any = None) -> Display:
        found = self.result
        if found.graph is None or found.graph.vertices > MOST_VERTICES:
            return super().draw(ax)
        often = (found.training > 1.5 / len(found.training)).astype(np.float64)
        return draw_graph(
            found.graph,
            found.error,
            marked=often,
            label="average squared error",
            title=found.describe(),
            seen="labelled often",
            ax=ax,
        )

    def notebook(self) -> str:
        worst = self.result.worst(12)
        rows = [[*map(_written, row)] for row in worst.itertuples(index=False)]
        return table("Largest errors", tuple(map(str, worst.columns)), rows)


def _written(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _over_input(found: ErrorMap) -> Scene:
    x = found.at[:, 0]
    order = np.argsort(x, kind="stable")
    x, error, prior = x[order], found.error[order], found.prior[order]
    shares = [each[order] for each in (found.training, found.weights)]
    ends = [np.interp([_RARE, 1 - _RARE], np.cumsum(each) - each / 2, x) for each in shares]
    low, high = float(min(each[0] for each in ends)), float(max(each[1] for each in ends))
    seen = (x >= low) & (x <= high)
    # the histogram stands on the floor of the picture, below the curve
    top, bottom = 1.3 * float(prior[seen].max()), 0.5 * float(error[seen].min())
    bottom = (bottom / top**_HEIGHT) ** (1 / (1 - _HEIGHT))
    y = Axis("average squared error at x", bottom, top, log=True, short="error")
    scene = Scene(Axis("x", low, high, short="x"), y, in_words(found.problem), found.describe())
    edges, heights = _histogram(x, shares[0], low, high)
    across = np.repeat(edges, 2)[1:-1]
    floor = np.full(len(across), bottom)
    raised = np.array([y.at(_HEIGHT * each) for each in np.repeat(heights, 2).tolist()])
    words = "training inputs" if found.problem.test is not None else "inputs"
    scene.marks.append(Area(across, floor, raised, _INPUTS, 0.3, name="inputs", label=f"where {words} are", layer=1))
    scene.marks.append(Line(x[seen], prior[seen], Stroke(_PRIOR, "dot", 1.2), name="prior", label="before learning"))
    scene.add_level(found.mean, Stroke(_MEAN, "dash", 1.2), "mean")
    curve = Line(x[seen], error[seen], Stroke(_ERROR, "solid", 2.0), name="error", label="local error", layer=3)
    scene.marks.append(curve)
    scene.label_level(found.mean, f"average {found.mean:.3g}", _MEAN)
    return scene


def _histogram(x: FloatArray, weights: FloatArray, low: float, high: float) -> tuple[FloatArray, FloatArray]:
    """Return bins and heights up to 1; bins are wide enough to hold several places each."""
    bins = int(np.clip(((x >= low) & (x <= high)).sum() / 8, 5, _BINS))
    heights, edges = np.histogram(x, np.linspace(low, high, bins + 1), weights=weights)
    return edges, heights / max(float(heights.max()), 1e-300)
