"""Belief propagation on one given graph: posterior variances and means of all vertices."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from gpcurves.errors import InputError
from gpcurves.graphs.graph import IntArray
from gpcurves.graphs.vertex_model import VertexModel
from gpcurves.methods.cavity.compiled import thread_count
from gpcurves.methods.cavity.rounds import Links, iterate, last_pivots
from gpcurves.methods.cavity.walks import returning_walks
from gpcurves.numerics.validation import FloatArray, frozen, positive, real, whole


@dataclass(frozen=True, eq=False)
class Adjacency(Links):
    """A weighted undirected graph; ``indices`` are the neighbours of each vertex, in the order of its slots."""

    indices: IntArray = field(repr=False)

    @classmethod
    def from_csr(cls, indptr: npt.ArrayLike, indices: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> Adjacency:
        """Check the arrays of a symmetric CSR matrix and find the reverse of every edge."""
        starts, ends = _check_whole("indptr", indptr), _check_whole("indices", indices)
        vertices = len(starts) - 1
        if vertices < 1 or starts[0] != 0 or starts[-1] != len(ends) or (np.diff(starts) < 0).any():
            raise InputError("indptr must start at 0, never fall, and end at the number of indices")
        if len(ends) and (ends.min() < 0 or ends.max() >= vertices):
            raise InputError(f"indices must be between 0 and {vertices - 1}, got {ends.min()} to {ends.max()}")
        given = np.ones(len(ends)) if weights is None else np.array(weights, dtype=np.float64)
        if given.shape != ends.shape or not np.isfinite(given).all() or (given <= 0).any():
            raise InputError("weights must be finite, greater than 0, and one for each index")
        rows = np.repeat(np.arange(vertices), np.diff(starts))
        if (rows == ends).any():
            raise InputError(f"vertex {rows[rows == ends][0]} has an edge to itself: remove such edges")
        # Entries sorted by row and column, beside the same sorted by column and row, are edges beside their reverse.
        ordered = bool((np.diff(rows * vertices + ends) > 0).all())
        forwards = np.arange(len(ends)) if ordered else np.lexsort((ends, rows))
        backwards = np.argsort(ends, kind="stable") if ordered else np.lexsort((rows, ends))
        reverse = np.empty(len(ends), dtype=np.int64)
        reverse[forwards] = backwards
        if not ((rows[reverse] == ends).all() and (ends[reverse] == rows).all()):
            raise InputError("the graph must be undirected: every edge must be listed from both ends")
        if not ordered and (np.diff((rows * vertices + ends)[forwards]) == 0).any():
            raise InputError("an edge is listed twice: add up the weights of parallel edges")
        if not np.array_equal(given[reverse], given):
            raise InputError("the weights of an edge must be the same from both ends")
        degrees = np.bincount(rows, given, minlength=vertices).astype(np.float64)
        return cls(starts, reverse, given, degrees, ends)


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What belief propagation says about every vertex, and whether it converged.

    Attributes
    ----------
    variance
        Posterior variance given all examples: exact on trees and forests, an approximation on graphs with cycles.
    cavity_variance
        Posterior variance given the examples at all *other* vertices.
    mean, cavity_mean
        Posterior means in the same sense; None without targets.
    converged, tolerance
        Whether the last round changed no message by more than ``tolerance``.
    rounds, history
        How many rounds of messages were sent, and the largest relative change of a message in each.
    damping
        Share of the former message that was kept in the last round.
    messages
        The messages, from which another run may start.
    """

    variance: FloatArray
    cavity_variance: FloatArray
    mean: FloatArray | None
    cavity_mean: FloatArray | None
    converged: bool
    rounds: int
    history: FloatArray
    tolerance: float
    damping: float
    messages: FloatArray = field(repr=False)


def prior_variances(graph: Adjacency, model: VertexModel, threads: int | None = None) -> FloatArray:
    r"""Return :math:`\hat C_{ii}`, before normalisation: exact on trees, otherwise the value on the tree of walks."""
    if model.walk is not None:
        return returning_walks(graph, model.walk, thread_count(threads))
    return propagate(graph, model, np.zeros(graph.vertices), 1.0, threads=threads).variance


def propagate(  # noqa: PLR0913  (the graph, the model and the data, and how to iterate by keyword)
    graph: Adjacency,
    model: VertexModel,
    counts: npt.ArrayLike,
    noise: float,
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

    Parameters
    ----------
    graph
        The graph.
    model
        The kernel before normalisation.
    counts
        Number of examples at each vertex.
    noise
        Noise variance of one example.
    kappa
        The kernel is divided by this, one number or, as sqrt(kappa_i kappa_j), one per vertex.
    targets
        Average target at each vertex; those of vertices without examples are ignored.
    tolerance
        Stop when no message changes by more than this, relative to its largest element.
    max_rounds
        Stop after so many rounds, with ``converged`` false.
    damping
        Share of the former message to keep, below 1. If changes have not shrunk in 30 rounds, one half is kept from then on.
    start
        A former result on the same graph, from whose messages this run starts.
    threads
        How many threads share the work; the result does not depend on it.
    """
    vertices = graph.vertices
    examples = _check_each("counts", counts, vertices, 0.0)
    normaliser = _check_each("kappa", kappa, vertices, 0.0, strict=True)
    labels = None if targets is None else _check_targets(targets, examples)
    variance = positive("noise", noise)
    limit, keep = positive("tolerance", tolerance), real("damping", damping)
    whole("max_rounds", max_rounds, 1)
    if not 0 <= keep < 1:
        raise InputError(f"damping must be at least 0 and below 1, got {keep:g}")
    workers = thread_count(threads)
    linked = graph.degrees > 0
    gains = np.divide(examples, graph.degrees * normaliser * variance, out=np.zeros(vertices), where=linked)
    # Targets are scaled to 1 at most, so that changes of messages about means can be compared with the tolerance.
    largest = 1.0 if labels is None else float(np.abs(labels).max(initial=0.0)) or 1.0
    linear = np.zeros(vertices) if labels is None else -np.sqrt(graph.degrees * normaliser) * labels / largest
    width = model.packed + (0 if labels is None else model.size)
    first = _first_messages(start, graph.slots, width, largest, model.packed)
    end = iterate(graph, model, (gains, linear), first, workers, tolerance=limit, max_rounds=max_rounds, damping=keep)
    messages = end.messages
    cavity, centre = _find_marginals(graph, model, normaliser, messages, workers)
    posterior = 1 / (examples / variance + 1 / cavity)
    if labels is not None:
        centre = centre * largest
        messages[:, model.packed :] *= largest
    mean = None if labels is None else posterior * (centre / cavity + examples / variance * labels)
    return Beliefs(
        variance=frozen(posterior),
        cavity_variance=frozen(cavity),
        mean=None if mean is None else frozen(mean),
        cavity_mean=None if labels is None else frozen(centre),
        converged=end.converged,
        rounds=len(end.history),
        history=frozen(np.array(end.history)),
        tolerance=limit,
        damping=end.damping,
        messages=frozen(messages),
    )


def _find_marginals(
    graph: Adjacency, model: VertexModel, normaliser: FloatArray, messages: FloatArray, workers: int
) -> tuple[FloatArray, FloatArray]:
    r"""Return variance :math:`-\pi_i/(d_i\kappa_i)` and mean of every vertex given the examples at the others."""
    linked = graph.degrees > 0
    cavity, centre = model.isolated / normaliser, np.zeros(graph.vertices)
    if model.size:
        pivots, linears = last_pivots(graph, model, messages, workers)
        cavity[linked] = -pivots[linked] / (graph.degrees * normaliser)[linked]
        centre[linked] = linears[linked] / np.sqrt(graph.degrees * normaliser)[linked]
    return cavity, centre


def _first_messages(start: Beliefs | None, edges: int, width: int, largest: float, packed: int) -> FloatArray:
    """Return the messages of a former run, or none; messages about means only if both runs have targets."""
    messages = np.zeros((edges, width))
    if start is not None:
        if len(start.messages) != edges or start.messages.shape[1] < packed:
            raise InputError("start must be a result on the same graph with the same kernel")
        shared = min(width, start.messages.shape[1])
        messages[:, :shared] = start.messages[:, :shared]
        messages[:, packed:] /= largest
    return messages


def _check_whole(name: str, value: npt.ArrayLike) -> IntArray:
    array = np.asarray(value)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InputError(f"{name} must be a sequence of integers")
    return np.ascontiguousarray(array, dtype=np.int64)


def _check_each(name: str, value: Any, vertices: int, minimum: float, strict: bool = False) -> FloatArray:
    try:
        array = np.array(np.broadcast_to(np.asarray(value, dtype=np.float64), (vertices,)))
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be one number, or one for each of the {vertices} vertices") from error
    bad = ~np.isfinite(array) | (array <= minimum if strict else array < minimum)
    if bad.any():
        bound = "greater than" if strict else "at least"
        raise InputError(f"{name} must be finite and {bound} {minimum:g}, got {array[bad][0]:g}")
    return array


def _check_targets(targets: Any, examples: FloatArray) -> FloatArray:
    try:
        array = np.array(np.broadcast_to(np.asarray(targets, dtype=np.float64), examples.shape))
    except (TypeError, ValueError) as error:
        raise InputError(f"targets must be one for each of the {len(examples)} vertices") from error
    array = np.where(examples > 0, array, 0.0)
    if not np.isfinite(array).all():
        raise InputError("targets must be finite wherever there are examples, got NaN or infinity")
    return array
