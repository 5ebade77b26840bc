"""How much cycles change the result of belief propagation, measured against dense algebra on pieces of the graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gpcurves.graphs import Graph
from gpcurves.methods.cavity.beliefs import adjacency_of
from gpcurves.methods.cavity.instance import propagate
from gpcurves.methods.simulation.vertex_datasets import examples, training_counts
from gpcurves.methods.simulation.vertices import posterior_variances
from gpcurves.montecarlo import stream
from gpcurves.numerics.validation import FloatArray
from gpcurves.problem import Problem

_BALLS, _BALL, _WHOLE = 3, 600, 1_500
"""Pieces of a graph, and vertices in each, on which cycles are tested; graphs up to the last size are tested whole."""


def loop_errors(problem: Problem, nu: Sequence[float], seed: int, kappa: FloatArray) -> tuple[FloatArray, int]:
    """Return how much cycles change the average variance, relative to dense algebra, and on how many vertices that is.

    Small graphs are compared whole. Of large ones, balls around random vertices are cut out, and both ways are used on
    each ball with the same normalisers; only the inner half of its vertices counts.
    """
    graph = problem.graph
    assert isinstance(graph, Graph)
    rng = stream(seed, 2**31)
    kernel: Any = problem.kernel
    plain = replace(kernel, normalise="none")
    entire = graph.vertices <= _WHOLE
    linked = np.flatnonzero(~graph.isolated)
    centres = linked[:1] if entire else rng.choice(linked, _BALLS)
    sums = np.zeros((2, len(nu)))
    seen = 0
    for centre in centres.tolist():
        chosen = np.arange(graph.vertices) if entire else _ball(graph, centre)
        inner = slice(None) if entire else slice(0, (len(chosen) + 1) // 2)
        part = Graph(graph.adjacency[chosen][:, chosen])
        normaliser = kappa[chosen]
        C = plain.on(part).matrix() / np.sqrt(normaliser[:, None] * normaliser)
        growing = np.argsort(nu, kind="stable")
        counts = training_counts(
            examples(np.array(nu)[growing].tolist(), part.vertices, rng.random()), part.vertices, rng
        )
        beliefs = None
        for k, count in zip(growing.tolist(), counts, strict=True):
            beliefs = propagate(
                adjacency_of(part),
                plain.vertex_model(),
                count,
                problem.noise,
                normaliser,
                tolerance=1e-6,
                start=beliefs,
            )
            sums[0, k] += beliefs.variance[inner].sum()
            sums[1, k] += posterior_variances(C, count, problem.noise)[inner].sum()
        seen += len(np.arange(part.vertices)[inner])
    return np.asarray(sums[0] / sums[1] - 1), seen


def _ball(graph: Graph, centre: int) -> npt.NDArray[np.int64]:
    """Return the vertices nearest to one, in order of their distance."""
    from scipy.sparse.csgraph import breadth_first_order

    order = breadth_first_order(graph.adjacency, centre, directed=False, return_predecessors=False)
    return np.asarray(order[:_BALL], dtype=np.int64)
