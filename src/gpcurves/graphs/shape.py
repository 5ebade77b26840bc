r"""The shape of a graph in a few numbers: clustering, effective diameter, and the tail of its degrees.

Large graphs are sampled: clustering at some vertices, distances from some. The tail of the degrees is fitted as by Clauset, Shalizi &
Newman (2009): the power law :math:`d^{-\alpha}` from the degree on above which it fits best, compared with an exponential there.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import scipy

from gpcurves.graphs.graph import Graph, IntArray
from gpcurves.numerics.validation import FloatArray

_PAIRS = 4e6  # pairs of neighbours that are looked at for clustering, at most
_STEPS = 2e7  # edges that are followed for distances, at most
_FEWEST, _MOST = 8, 400  # vertices from which distances are measured
_QUANTILE = 0.9
_FEW_IN_TAIL = 30  # vertices that a fit of a tail needs
_STEEP = 5.0  # exponents beyond describe no heavy tail: four moments are finite
_SURE = 2.0  # standard errors by which one tail must fit better than the other


@dataclass(frozen=True)
class DegreeTail:
    """How the largest degrees are distributed.

    ``exponent`` is that of a power law among the ``count`` vertices with at least ``start`` neighbours, and ``preference`` how many
    standard errors it fits better than an exponential. All are None if too few degrees differ.
    """

    largest: int
    mean: float
    start: int | None = None
    count: int | None = None
    exponent: float | None = None
    preference: float | None = None

    def __str__(self) -> str:
        top = f"The largest degree is {self.largest:,}, {self.largest / max(self.mean, 1e-300):.3g} times the mean"
        if self.exponent is None or self.preference is None:
            return f"{top}; too few degrees differ to fit a tail."
        where = f"among the {self.count:,} vertices with {self.start} neighbours or more"
        if self.preference < -_SURE or self.exponent > _STEEP:
            return f"{top}: degrees have no heavy tail, they fall as fast as an exponential {where}."
        if self.preference > _SURE:
            return f"{top}: degrees have a heavy tail, like a power law with exponent {self.exponent:.2f} {where}."
        return f"{top}; a power law (exponent {self.exponent:.2f}) and an exponential fit equally well {where}."


@dataclass(frozen=True)
class GraphShape:
    """Clustering, distances and degrees of a graph.

    Attributes
    ----------
    clustering
        Share of the pairs of neighbours of a vertex that are neighbours themselves, averaged over vertices with several neighbours; None
        if there are none. ``clustering_vertices`` were looked at.
    effective_diameter
        Number of steps within which 90 % of all pairs of connected vertices are, interpolated; measured from ``sources`` vertices.
    tail
        The tail of the degrees.
    """

    clustering: float | None
    clustering_vertices: int
    effective_diameter: float
    sources: int
    tail: DegreeTail

    def sentences(self) -> list[str]:
        """Say what these numbers mean."""
        if self.clustering is None:
            first = "No vertex has several neighbours, so that there is no clustering."
        else:
            first = (
                f"The clustering coefficient is {self.clustering:.3g} (over {self.clustering_vertices:,} vertices): "
                f"{100 * self.clustering:.2g} % of the pairs of neighbours are neighbours themselves."
            )
        second = (
            f"The effective diameter is {self.effective_diameter:.3g}: 90 % of the connected pairs are within "
            "that many steps "
            f"(from {self.sources:,} vertices)."
        )
        return [first, second, str(self.tail)]

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain data."""
        return asdict(self)


def graph_shape(graph: Graph, seed: int = 0) -> GraphShape:
    """Return the shape of a graph; of a large one from a sample of its vertices."""
    rng = np.random.default_rng(seed)
    clustering, looked = _clustering(graph, rng)
    diameter, sources = _effective_diameter(graph, rng)
    return GraphShape(clustering, looked, diameter, sources, fit_tail(graph.neighbours))


def _clustering(graph: Graph, rng: np.random.Generator) -> tuple[float | None, int]:
    """Return the clustering coefficient, and at how many vertices it was measured."""
    several = np.flatnonzero(graph.neighbours > 1)
    if len(several) == 0:
        return None, 0
    A = graph.adjacency.astype(bool).astype(np.float64)
    # neighbours of neighbours, which a product of rows with the matrix visits
    work = np.asarray(A @ graph.neighbours.astype(np.float64))[several]
    order = rng.permutation(len(several))
    chosen = several[np.sort(order[: max(1, int(np.searchsorted(np.cumsum(work[order]), _PAIRS)))])]
    triangles = np.zeros(len(chosen))
    block = max(1, int(2e6 / max(work.mean(), 1.0)))
    for start in range(0, len(chosen), block):
        rows = A[chosen[start : start + block]]
        triangles[start : start + block] = np.asarray((rows @ A).multiply(rows).sum(axis=1)).ravel()
    d = graph.neighbours[chosen].astype(np.float64)
    return float((triangles / (d * (d - 1))).mean()), len(chosen)


def _effective_diameter(graph: Graph, rng: np.random.Generator) -> tuple[float, int]:
    """Return the number of steps within which 90 % of connected pairs are, and from how many vertices it was measured."""
    linked = np.flatnonzero(~graph.isolated)
    if len(linked) == 0:
        return 0.0, 0
    count = int(np.clip(_STEPS / (2 * graph.edges + graph.vertices), _FEWEST, _MOST))
    sources = linked if len(linked) <= count else rng.choice(linked, count, replace=False)
    reached: FloatArray = np.zeros(1)
    for source in sources.tolist():
        sizes = level_sizes(graph, source)
        longer, shorter = (sizes, reached) if len(sizes) > len(reached) else (reached, sizes)
        reached = longer.astype(np.float64)
        reached[: len(shorter)] += shorter
    within = np.cumsum(reached[1:]) / reached[1:].sum()
    steps = int(np.searchsorted(within, _QUANTILE))
    before = within[steps - 1] if steps else 0.0
    return steps + float((_QUANTILE - before) / (within[steps] - before)), len(sources)


def level_sizes(graph: Graph, source: int) -> FloatArray:
    """Return how many vertices are 0, 1, 2, … steps from one, weights aside."""
    from scipy.sparse.csgraph import breadth_first_order

    order, before = breadth_first_order(graph.adjacency, source, directed=False)
    place = np.empty(graph.vertices, dtype=np.int64)
    place[order] = np.arange(len(order))
    # Vertices come level by level, so that the places of their predecessors ascend: a level ends where these reach the next.
    parents = np.append(-1, place[before[order[1:]]])
    ends = [0, 1]
    while ends[-1] < len(order):
        ends.append(int(np.searchsorted(parents, ends[-1])))
    return np.diff(ends).astype(np.float64)


def fit_tail(degrees: IntArray) -> DegreeTail:
    """Return the power law that fits the largest degrees best, and whether an exponential fits them better."""
    d = np.sort(degrees[degrees > 0]).astype(np.float64)
    largest, mean = int(degrees.max(initial=0)), float(degrees.mean()) if len(degrees) else 0.0
    starts = np.unique(d)[:-2]  # at least three degrees that differ
    starts = starts[[len(d) - np.searchsorted(d, start) >= _FEW_IN_TAIL for start in starts]]
    if len(starts) == 0:
        return DegreeTail(largest, mean)
    tried = starts[np.unique(np.linspace(0, len(starts) - 1, min(len(starts), 60)).astype(int))]
    fits = [(*_power_law(d[np.searchsorted(d, start) :], start), start) for start in tried.tolist()]
    _, exponent, start = min(fits)
    tail = d[np.searchsorted(d, start) :]
    power = -exponent * np.log(tail) - math.log(scipy.special.zeta(exponent, start))
    stay = 1 - 1 / (1 + tail.mean() - start)  # the geometric distribution with this mean
    exponential = (tail - start) * math.log(stay) + math.log1p(-stay)
    apart = power - exponential
    spread = float(apart.std()) * math.sqrt(len(tail))
    preference = float(apart.sum()) / spread if spread > 0 else 0.0
    return DegreeTail(largest, mean, int(start), len(tail), exponent, preference)


def _power_law(tail: FloatArray, start: float) -> tuple[float, float]:
    """Return how far the best power law is from degrees (Kolmogorov and Smirnov), and its exponent."""
    logs = float(np.log(tail).sum())
    found = scipy.optimize.minimize_scalar(
        lambda a: a * logs + len(tail) * math.log(scipy.special.zeta(a, start)), bounds=(1.01, 20.0), method="bounded"
    )
    exponent = float(found.x)
    values, counts = np.unique(tail, return_counts=True)
    beyond = scipy.special.zeta(exponent, values + 1) / scipy.special.zeta(exponent, start)
    return float(np.abs(np.cumsum(counts) / len(tail) - (1 - beyond)).max()), exponent
