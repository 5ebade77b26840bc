"""Histograms of prior and posterior variances over the vertices of a graph."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np

from gpcurves.graphs.diagnosis import Diagnosis
from gpcurves.methods.variances import VarianceDistribution
from gpcurves.numerics.validation import FloatArray
from gpcurves.render.page import as_html, document, sentences, table, tagged
from gpcurves.render.plotly import embed
from gpcurves.render.scene import Axis, Bars, Scene, Stroke, round_step
from gpcurves.render.views import View
from gpcurves.render.wording import count_graph, in_words, say

_BAR, _MEAN, _END = "#4a7ba6", "#222222", "#a0522d"
_FEW = 1_000  # vertices that are counted; shares of more are on a logarithmic axis, which lets single ones be seen


@dataclass(frozen=True, eq=False)
class VariancesView(View):
    """The distribution of variances over vertices, graphs and data sets, with their mean."""

    result: VarianceDistribution
    bins: int | None = None

    def scene(self) -> Scene:
        problem, nu, mean = self.result.problem, self.result.nu, self.result.mean
        what = "posterior variance" if nu else "prior variance"
        what = what if problem.teacher is None else "squared error"
        label = f"{what} of a vertex at ν = {nu:.4g}" if nu else f"{what} of a vertex"
        levels = {f"mean {mean:.3g}": (mean, Stroke(_MEAN, "dash", 1.2))}
        return histogram(self.result.values, self.result.weights, self.bins, label, levels, in_words(problem))

    def notebook(self) -> str:
        shares = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
        rows = [[f"{share:.0%}", f"{self.result.quantile(share):.4g}"] for share in shares]
        return table("Quantiles", ("share of the vertices", "variance at most"), rows)


@dataclass(frozen=True, eq=False)
class DiagnosisView(View):
    """The prior variances under global normalisation, with the value that local normalisation would give to all."""

    result: Diagnosis
    bins: int | None = None

    @property
    def about(self) -> str:
        """What was examined."""
        said = f"{', '.join(say(self.result.kernel, 'kernel'))}; graph of {count_graph(self.result.graph)}"
        return said[0].upper() + said[1:]

    def to_json(self) -> str:
        return json.dumps(self.result.to_dict(), indent=1, allow_nan=False) + "\n"

    def scene(self) -> Scene:
        levels = {"average, and local normalisation": (1.0, Stroke(_MEAN, "dash", 1.2))}
        for name in ("smallest", "largest"):
            value = self.result.quantiles[name]
            levels[f"{name} {value:.3g}"] = (value, Stroke(_END, "dot", 1.4))
        label = "prior variance of a vertex, global normalisation"
        return histogram(self.result.variances, None, self.bins, label, levels, self.about)

    def page(self) -> str:
        worst = self.result.to_frame().iloc[self.result.worst(10)].itertuples(index=False)
        rows = [
            [str(vertex), f"{degree:g}", f"{component:,}", f"{variance:.4g}"]
            for vertex, degree, component, variance in worst
        ]
        head = ("vertex", "degree", "vertices in its component", "prior variance")
        top = f"<h1>How even is the prior?</h1><p class='problem'>{as_html(self.about)}</p>"
        worst_vertices = table("Furthest from the average", head, rows)
        said = sentences([self.result.verdict(), *self.result.sentences()])
        parts = [top, said, embed(self.scene()), worst_vertices]
        return document(f"Prior variances: {self.about}", parts)

    def notebook(self) -> str:
        return f"{tagged('p', self.result.verdict())}{super().notebook()}"


def histogram(
    values: FloatArray,
    weights: FloatArray | None,
    bins: int | None,
    label: str,
    levels: dict[str, tuple[float, Stroke]],
    title: str,
) -> Scene:
    """Return a histogram of values, with vertical lines at some of them."""
    counted = weights is None and len(values) <= _FEW
    shares = np.full(len(values), 1.0 if counted else 1 / len(values)) if weights is None else weights / weights.sum()
    edges = _edges(values, bins, int(np.clip(2 * np.sqrt(len(values)), 10, 100)))
    heights = np.histogram(values, edges, weights=shares)[0]
    margin = 0.02 * (edges[-1] - edges[0])
    x = Axis(label, edges[0] - margin, edges[-1] + margin, short="variance")
    y = Axis("number of vertices", 0.0, 1.06 * float(heights.max()), short="vertices")
    if not counted:
        lowest = float(heights[heights > 0].min())
        y = Axis("share of the vertices", lowest / 2, 1.5 * float(heights.max()), log=True, short="share")
    scene = Scene(x, y, title, marks=[Bars(edges, heights, _BAR, name="histogram", layer=1)])
    for words, (at, stroke) in levels.items():
        scene.add_upright(at, stroke)
        scene.label_point(at, y.at(0.93), words, stroke.colour)
    return scene


def _edges(values: FloatArray, bins: int | None, about: int) -> FloatArray:
    """Return the edges of bins over all values: so many, or about so many between round numbers; a single value has one bin."""
    low, high = float(values.min()), float(values.max())
    if high - low <= 1e-9 * max(abs(high), 1e-300):
        return np.array([0.9 * low, 1.1 * high]) if high > 0 else np.array([-0.5, 0.5])
    if bins is not None:
        return np.linspace(min(low, 0.0) if low < 0.1 * high else low, high, bins + 1)
    step = round_step((high - low) / about)
    return np.arange(np.floor(low / step), np.ceil(high / step) + 0.5) * step
