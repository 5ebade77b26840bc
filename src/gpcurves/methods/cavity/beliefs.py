"""Belief propagation on one given graph: posterior variances and means of all vertices."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from gpcurves.errors import InputError
from gpcurves.graphs import Graph, GraphKernel
from gpcurves.graphs.vertex_model import VertexModel
from gpcurves.inputs import Vertices
from gpcurves.methods.base import METHODS
from gpcurves.methods.cavity.compiled import Links, thread_count
from gpcurves.methods.cavity.rounds import iterate, last_pivots, returning_walks
from gpcurves.numerics.validation import FloatArray, as_numbers, frozen, integer, positive, real
from gpcurves.problem import Problem

_DIAGONAL_WORK = 3e9  # entries of half walks up to which true prior variances are computed on graphs with cycles
_LARGEST_TARGET = 1e150  # so that no product of it with a message overflows


def is_forest(graph: Graph) -> bool:
    """Tell whether a graph has no cycles, so that belief propagation is exact."""
    return graph.edges == graph.vertices - len(graph.component_sizes)


def normalisers(kernel: GraphKernel, graph: Graph) -> tuple[FloatArray, str | None]:
    """Return what the kernel is divided by at each vertex, and a sentence if that is not exact.

    On forests they follow from power series along edges. On graphs with cycles they are the true ones from sparse products
    if that is affordable, and otherwise those of the tree that a walk sees.
    """
    if kernel.normalise == "none":
        return np.full(graph.vertices, 1 / kernel.variance), None
    covariance = kernel.on(graph)
    if not is_forest(graph) and covariance.diagonal_work <= _DIAGONAL_WORK:
        return np.array(covariance.normaliser), None
    raw = prior_variances(links_of(graph), kernel.vertex_model()) / kernel.variance
    note = None
    if not is_forest(graph):
        note = "prior variances ignore cycles: the exact ones would take too long on this graph"
    return raw if kernel.normalise == "local" else np.full(graph.vertices, raw.mean()), note


@lru_cache(maxsize=2)
def links_of(graph: Graph) -> Links:
    """Return the slots of a graph: the entries of its adjacency matrix, row by row."""
    matrix = graph.adjacency
    # The matrix is symmetric, so that its entries column by column are their reverses row by row.
    reverse = np.argsort(matrix.indices, kind="stable")
    return Links(matrix.indptr.astype(np.int64), reverse, matrix.data.copy(), graph.degrees.copy())


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What belief propagation says about every vertex, and whether it converged.

    Exact on trees and forests, an approximation on graphs with cycles. Cavity values are those given the examples at all
    *other* vertices; there are no means without targets.
    """

    variance: FloatArray
    cavity_variance: FloatArray
    mean: FloatArray | None
    cavity_mean: FloatArray | None
    converged: bool  # whether the last round changed no message by more than the tolerance
    rounds: int  # how many rounds of messages were sent
    history: FloatArray  # the largest relative change of a message in each round
    tolerance: float
    damping: float  # share of the former message that was kept in the last round
    messages: FloatArray = field(repr=False)  # another run may start from them


def prior_variances(links: Links, model: VertexModel, threads: int | None = None) -> FloatArray:
    r"""Return :math:`\hat C_{ii}`, before normalisation: exact on trees, otherwise the value on the tree of walks."""
    if model.walk is not None:
        return returning_walks(links, model.walk, thread_count(threads))
    return propagate(links, model, np.zeros(links.vertices), 1.0, threads=threads).variance


def propagate(  # noqa: PLR0913  (the graph, the model and the data, and how to iterate by keyword)
    links: Links,
    model: VertexModel,
    counts: npt.ArrayLike,
    noise: npt.ArrayLike,
    kappa: npt.ArrayLike = 1.0,
    targets: npt.ArrayLike | None = None,
    *,
    tolerance: float = 1e-10,
    max_rounds: int = 1000,
    damping: float = 0.0,
    start: Beliefs | None = None,
    threads: int | None = None,
) -> Beliefs:
    """Send messages along all edges until they no longer change.

    The kernel, given before normalisation, is divided by ``kappa``: one number or, as sqrt(kappa_i kappa_j), one per vertex.
    The ``noise`` is one number or one per vertex.
    All else is as for `belief_propagation`.
    """
    vertices = links.vertices
    examples = _check_counts(counts, vertices)
    normaliser = np.broadcast_to(np.asarray(kappa, dtype=np.float64), (vertices,))
    labels = None if targets is None else _check_targets(targets, examples)
    variance = _check_noise(noise, vertices)
    limit, keep = positive("tolerance", tolerance), real("damping", damping)
    integer("max_rounds", max_rounds, 1)
    if not 0 <= keep < 1:
        raise InputError(f"damping must be at least 0 and below 1, got {keep:g}")
    workers = thread_count(threads)
    linked = links.degrees > 0
    gains = np.divide(examples, links.degrees * normaliser * variance, out=np.zeros(vertices), where=linked)
    # Targets are scaled to 1 at most, so that changes of messages about means can be compared with the tolerance.
    largest = 1.0 if labels is None else float(np.abs(labels).max(initial=0.0)) or 1.0
    linear = np.zeros(vertices) if labels is None else -np.sqrt(links.degrees * normaliser) * labels / largest
    width = model.packed + (0 if labels is None else model.size)
    first = np.zeros((links.slots, width))
    if start is not None:  # messages about means are taken over only if both runs have targets
        former = start.messages
        if len(former) != links.slots or former.shape[1] < model.packed:
            raise InputError("start must be a result on the same graph with the same kernel")
        shared = min(width, former.shape[1])
        first[:, :shared] = former[:, :shared]
        first[:, model.packed :] /= largest
    messages, converged, history, keep = iterate(
        links, model, (gains, linear), first, workers, tolerance=limit, max_rounds=max_rounds, damping=keep
    )
    cavity, centre = model.isolated / normaliser, np.zeros(vertices)
    if model.size:  # the variance given the examples at the others is -pivot/(degree kappa)
        pivots, linears = last_pivots(links, model, messages, workers)
        cavity[linked] = -pivots[linked] / (links.degrees * normaliser)[linked]
        centre[linked] = linears[linked] / np.sqrt(links.degrees * normaliser)[linked]
    posterior = 1 / (examples / variance + 1 / cavity)
    mean = cavity_mean = None
    if labels is not None:
        messages[:, model.packed :] *= largest
        cavity_mean = frozen(centre * largest)
        mean = frozen(posterior * (cavity_mean / cavity + examples / variance * labels))
    end = converged, len(history), frozen(np.array(history)), limit, keep
    return Beliefs(frozen(posterior), frozen(cavity), mean, cavity_mean, *end, frozen(messages))


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

    Exact on graphs without cycles; otherwise an approximation, which is accurate if cycles are long.

    Parameters
    ----------
    problem
        On a given graph, with noise.
    counts
        Number of examples at each vertex.
    targets
        Average target at each vertex; ignored at vertices without examples.
    tolerance
        Stop when no message changes by more than this, relative to its largest element.
    max_rounds
        Maximum number of iterations, after which ``converged`` is False.
    damping
        Damping, the weight of the previous message, below 1. If changes have not shrunk in 30 iterations, it is one half
        from then on.
    start
        A previous result on the same graph, whose messages are the starting point.
    threads
        Number of threads; the result does not depend on it.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> chain = gpc.Graph.from_edges([(i, i + 1) for i in range(8)])
    >>> problem = gpc.GraphProblem(chain, gpc.RandomWalkKernel(p=2), noise=0.1)
    >>> beliefs = gpc.belief_propagation(problem, counts=[1, 0, 0, 0, 0, 0, 0, 0, 0])
    >>> beliefs.converged, beliefs.variance[[0, 1, 8]].round(3)
    (True, array([0.091, 0.307, 1.   ]))
    """
    if not isinstance(problem, Problem) or not isinstance(problem.inputs, Vertices):
        raise InputError("belief propagation needs a problem on a given graph, a GraphProblem")
    if problem.teacher is not None:
        raise InputError("belief propagation is for a well-specified model, without a teacher")
    METHODS["cavity"].check(problem, np.zeros(1), {})
    graph = problem.inputs.graph
    kappa, _ = normalisers(problem.kernel, graph)
    return propagate(
        links_of(graph),
        problem.kernel.vertex_model(),
        counts,
        problem.noise_at(np.arange(float(graph.vertices))[:, None]) if problem.observation.uneven else problem.noise,
        kappa,
        targets,
        tolerance=tolerance,
        max_rounds=max_rounds,
        damping=damping,
        start=start,
        threads=threads,
    )


def _check_noise(noise: Any, vertices: int) -> float | FloatArray:
    if np.ndim(noise) == 0:
        return positive("noise", noise)
    complaint = f"noise must be one number, or one for each of the {vertices} vertices"
    array = as_numbers(noise, complaint, shape=(vertices,))
    if (bad := ~np.isfinite(array) | (array <= 0)).any():
        raise InputError(f"noise must be finite and greater than 0, got {array[bad][0]:g}")
    return array


def _check_counts(counts: Any, vertices: int) -> FloatArray:
    complaint = f"counts must be one number, or one for each of the {vertices} vertices"
    array = as_numbers(counts, complaint, shape=(vertices,))
    if (bad := ~np.isfinite(array) | (array < 0)).any():
        raise InputError(f"counts must be finite and at least 0, got {array[bad][0]:g}")
    return array


def _check_targets(targets: Any, examples: FloatArray) -> FloatArray:
    complaint = f"targets must be one for each of the {len(examples)} vertices"
    array = np.where(examples > 0, as_numbers(targets, complaint, shape=examples.shape), 0.0)
    if not np.isfinite(array).all():
        raise InputError("targets must be finite wherever there are examples, got NaN or infinity")
    if (largest := float(np.max(np.abs(array), initial=0.0))) > _LARGEST_TARGET:
        raise InputError(
            f"targets must be between -{_LARGEST_TARGET:g} and {_LARGEST_TARGET:g}, got {largest:g} in size"
        )
    return array
