"""Which covariances on a graph are averaged over: smooth and rough ones, of short and long range, with both normalisations.

A graph Matérn kernel with smoothness 1, local normalisation and a long range is nearly label propagation by harmonic functions;
diffusion is the smoothest member. Random walks are diffusion in discrete steps and would add nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from gpcurves.forecasting.networks.attributes import LENGTHSCALES, SHARES, Attributes, Part
from gpcurves.graphs import DiffusionKernel, Graph, GraphKernel, MaternGraphKernel
from gpcurves.graphs.covariance import GraphCovariance
from gpcurves.graphs.graph import IntArray
from gpcurves.numerics.validation import FloatArray

SCALES, _FEW_SCALES = 10, 6
MOST_DENSE = 4_000  # vertices up to which all eigenvectors are computed
_SHORTEST = 0.7  # in edges
_LARGEST = 100.0
_MOST_HELD = 1e8  # covariances that are kept for later
_SMALLEST_VARIANCE = 1e-12
PRIOR = {1: 1.0, 2: 0.5, 4: 0.25, math.inf: 0.125}
"""Prior weights of the smoothness: quantities on real networks are rough more often than smooth."""
_ROUGH, _STEP = (1, 2), 3  # smoothness of kernels that attributes are added to, and every so many-th of their scales


@dataclass(frozen=True, eq=False)
class RawCovariance:
    """Covariances of a kernel before normalisation: by the eigenvectors that all kernels share, or on large graphs by rows."""

    kernel: GraphKernel
    graph: Graph
    last: dict[tuple[object, ...], Any] = field(default_factory=dict, repr=False)
    """What was computed last for any kernel on this graph, since several members share a kernel: covariances, or on large graphs rows."""

    @property
    def _is_dense(self) -> bool:
        return self.graph.vertices <= MOST_DENSE

    def between(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return covariances of some vertices with others; do not write to them."""
        if not self._is_dense:
            held, place = self._hold(columns)
            return np.ascontiguousarray(held[np.ix_(place[columns], rows)].T)
        key = (self.kernel, columns.tobytes(), rows.tobytes())
        if key not in self.last:
            self.last.clear()
            t, U = self.graph.eigen
            self.last[key] = np.asarray((U[rows] * self.kernel.eigenvalue(t)) @ U[columns].T)
        result: FloatArray = self.last[key]
        return result

    def _hold(self, vertices: IntArray) -> tuple[FloatArray, IntArray]:
        """Return rows of the covariance matrix, those asked for among them, and which row each vertex has."""
        V = self.graph.vertices
        none = np.empty((0, V)), np.full(V, -1)
        held, place = self.last.get((self.kernel,), none)
        new = np.unique(vertices[place[vertices] < 0])
        if len(new):
            self.last.clear()
            if (len(held) + len(new)) * V > _MOST_HELD:
                (held, place), new = none, np.unique(vertices)
            place = place.copy()
            place[new] = len(held) + np.arange(len(new))
            held = np.concatenate((held, self._whole.rows(new))) if len(held) else self._whole.rows(new)
            self.last[(self.kernel,)] = held, place
        return held, place

    @cached_property
    def diagonal(self) -> FloatArray:
        """The variances of all vertices."""
        if not self._is_dense:
            return self._whole.raw_diagonal
        t, U = self.graph.eigen
        return np.asarray(np.square(U) @ self.kernel.eigenvalue(t))

    @cached_property
    def _whole(self) -> GraphCovariance:
        return self.kernel.normalised("none").on(self.graph)


@dataclass(frozen=True, eq=False)
class Candidate:
    """A covariance with its prior probability: that of a kernel, divided by its own variances or by one number.

    ``block`` are its values between labelled vertices. The number of global normalisation is arbitrary, since the variance of
    the target is fitted. ``part`` is the covariance of attributes that is added, if there is one.
    """

    raw: RawCovariance
    local: bool
    average: float
    log_prior: float
    block: FloatArray
    part: Part | None = None

    @property
    def kernel(self) -> GraphKernel:
        """The kernel with its normalisation."""
        return self.raw.kernel.normalised("local" if self.local else "global")

    def between(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return covariances."""
        C = self.raw.between(rows, columns) / (self._root(rows)[:, None] * self._root(columns))
        return C if self.part is None else self.part.mix(C, self.part.kernel.between(rows, columns))

    def variances(self, vertices: IntArray) -> FloatArray:
        """Return prior variances."""
        own = np.ones(len(vertices)) if self.local else np.asarray(self.raw.diagonal[vertices] / self.average)
        return own if self.part is None else self.part.mix(own, self.part.kernel.variances(vertices))

    def _root(self, vertices: IntArray) -> FloatArray:
        if not self.local:
            return np.full(len(vertices), math.sqrt(self.average))
        return np.asarray(np.sqrt(self.raw.diagonal[vertices]))


def choose_kernels(graph: Graph) -> list[tuple[GraphKernel, float]]:
    """Return kernels before normalisation, each with its prior weight; on large graphs fewer, whose precision is sparse."""
    large, scales = graph.vertices > MOST_DENSE, _list_scales(graph)
    found: list[tuple[GraphKernel, float]] = []
    for smoothness, weight in list(PRIOR.items())[: 2 if large else None]:
        for scale in scales:
            if smoothness < math.inf:
                found.append((MaternGraphKernel(scale, smoothness), weight))
            elif scale <= DiffusionKernel.largest:
                found.append((DiffusionKernel(scale), weight))
    return found


def _list_scales(graph: Graph) -> list[float]:
    longest = min(max(3.0, float(measure_diameter(graph))), _LARGEST)
    large = graph.vertices > MOST_DENSE
    scales = np.geomspace(_SHORTEST if not large else 2 * _SHORTEST, longest, SCALES if not large else _FEW_SCALES)
    return [float(scale) for scale in scales]


def make_candidates(graph: Graph, vertices: IntArray, kernels: list[tuple[GraphKernel, float]]) -> Iterator[Candidate]:
    """Yield every kernel with its normalisation, or with both if it is one to be fitted, and covariances between labels."""
    last: dict[tuple[object, ...], Any] = {}
    for kernel, weight in kernels:
        raw = RawCovariance(kernel, graph, last)
        block = raw.between(vertices, vertices)
        own = np.diag(block)
        if own.min() <= _SMALLEST_VARIANCE * own.max():
            continue
        root, average = np.sqrt(own), float(own.mean())
        if len(kernels) > 1 or kernel.normalise == "local":
            yield Candidate(raw, True, average, math.log(weight), block / (root[:, None] * root))
        if len(kernels) > 1 or kernel.normalise != "local":
            if len(kernels) == 1:
                average = 1.0 if kernel.normalise == "none" else float(raw.diagonal.mean())
            yield Candidate(raw, False, average, math.log(weight), block / average)


def add_attributes(
    candidates: Sequence[Candidate], graph: Graph, vertices: IntArray, attributes: Attributes
) -> list[Candidate]:
    """Return candidates and others that have a covariance of attributes as well, as likely as all of these together.

    The others have rough kernels of few ranges: with attributes there is less left that the graph has to explain.
    """
    few: list[tuple[GraphKernel, float]] = []
    for smoothness in _ROUGH:
        few += [(MaternGraphKernel(scale, smoothness), PRIOR[smoothness]) for scale in _list_scales(graph)[::_STEP]]
    kernels = {lengthscale: attributes.kernel(lengthscale) for lengthscale in LENGTHSCALES}
    blocks = {lengthscale: kernel.between(vertices, vertices) for lengthscale, kernel in kernels.items()}
    others = []
    for candidate in make_candidates(graph, vertices, few):
        for lengthscale, share in product(LENGTHSCALES, SHARES):
            part = Part(kernels[lengthscale], share)
            others.append(replace(candidate, part=part, block=part.mix(candidate.block, blocks[lengthscale])))
    mass, added = (sum(math.exp(each.log_prior) for each in part) for part in (candidates, others))
    shift = math.log(mass / added) if others else 0.0
    return [*candidates, *(replace(each, log_prior=each.log_prior + shift) for each in others)]


def measure_diameter(graph: Graph) -> int:
    """Return a lower limit to the largest number of edges between two vertices of one part, from two searches."""
    from scipy.sparse.csgraph import dijkstra

    farthest, distance = int(np.argmax(graph.degrees)), 0
    for _ in range(2):
        hops = dijkstra(graph.adjacency, indices=farthest, unweighted=True)
        hops[~np.isfinite(hops)] = -1
        farthest = int(np.argmax(hops))
        distance = int(hops[farthest])
    return distance
