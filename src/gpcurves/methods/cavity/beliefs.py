"""Belief propagation on a given graph: posterior variances and means at all vertices."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from gpcurves.errors import InputError
from gpcurves.graphs import Graph, GraphKernel
from gpcurves.inputs import Vertices
from gpcurves.methods.base import METHODS
from gpcurves.methods.cavity.instance import Adjacency, Beliefs, prior_variances, propagate
from gpcurves.numerics.validation import FloatArray
from gpcurves.problem import Problem

_DIAGONAL_WORK = 3e9
"""Entries of half walks up to which true prior variances are computed on graphs with cycles."""


def is_forest(graph: Graph) -> bool:
    """Tell whether a graph has no cycles, so that belief propagation is exact."""
    return graph.edges == graph.vertices - len(graph.component_sizes)


def normalisers(kernel: GraphKernel, graph: Graph) -> tuple[FloatArray, str | None]:
    """Return what the kernel is divided by at each vertex, and a sentence if that is not exact.

    On forests they follow from power series along edges. On graphs with cycles they are the true ones from sparse products
    if that is affordable, and otherwise those of the tree that a walk sees.
    """
    if kernel.normalise == "none":
        return np.ones(graph.vertices), None
    covariance = kernel.on(graph)
    if not is_forest(graph) and covariance.diagonal_work <= _DIAGONAL_WORK:
        return np.array(covariance.normaliser), None
    raw = prior_variances(adjacency_of(graph), kernel.vertex_model())
    note = None
    if not is_forest(graph):
        note = "prior variances are those without cycles: the true ones would take too long on this graph"
    return raw if kernel.normalise == "local" else np.full(graph.vertices, raw.mean()), note


@lru_cache(maxsize=2)
def adjacency_of(graph: Graph) -> Adjacency:
    """Return the adjacency of a graph as the messages need it."""
    matrix = graph.adjacency
    return Adjacency.from_csr(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data)


def belief_propagation(
    problem: Problem,
    counts: npt.ArrayLike,
    targets: npt.ArrayLike | None = None,
    *,
    tolerance: float = 1e-10,
    max_rounds: int = 1000,
    damping: float = 0.0,
    start: Beliefs | None = None,
    threads: int | None = None,
) -> Beliefs:
    """Return posterior variances, and means for given targets, of all vertices of a given graph.

    Exact on graphs without cycles; elsewhere an approximation that is good if cycles are long.

    Parameters
    ----------
    problem
        On a given graph, with noise.
    counts
        Number of examples at each vertex.
    targets
        Average target at each vertex; ignored at vertices without examples.
    tolerance, max_rounds, damping, start, threads
        See `gpcurves.methods.cavity.instance.propagate`.
    """
    if not isinstance(problem, Problem) or not isinstance(problem.inputs, Vertices):
        raise InputError("belief propagation needs a problem on a given graph, a GraphProblem")
    METHODS["cavity"].check(problem, np.zeros(1), {})
    graph = problem.inputs.graph
    kappa, _ = normalisers(problem.kernel, graph)
    return propagate(
        adjacency_of(graph),
        problem.kernel.vertex_model(),
        counts,
        problem.noise,
        kappa,
        targets,
        tolerance=tolerance,
        max_rounds=max_rounds,
        damping=damping,
        start=start,
        threads=threads,
    )
