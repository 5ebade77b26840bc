r"""Rounds of messages over all vertices of a graph: the one driver of the compiled loops, and of their convergence.

**Walks that return** give prior variances on trees as power series, at :math:`O(p^2)` per edge instead of :math:`O(p^3)`.
On a tree :math:`(T^{2l})_{ii}` is the coefficient of :math:`t^l` in :math:`1/(1-\frac{t}{d_i}\sum_kA_{ik}^2g_{k\to i}(t))` with
:math:`g_{j\to i}(t) = 1/(d_j - t\sum_{k\ne i}A_{jk}^2g_{k\to j}(t))`, and :math:`\hat C_{ii} = \sum_lc_{2l}(T^{2l})_{ii}`. On a graph with cycles this
is the value on the tree of walks that do not turn back, as for messages.
"""

from __future__ import annotations

import numpy as np

from gpcurves.graphs.vertex_model import VertexModel
from gpcurves.methods.cavity.compiled import Links, Pair, Slots
from gpcurves.methods.cavity.messages import Kernel, marginals, relay
from gpcurves.numerics.compiling import compiled
from gpcurves.numerics.validation import FloatArray

_PATIENCE = 30  # rounds without progress after which messages are damped
_FALLBACK = 0.5


def kernel_of(model: VertexModel) -> Kernel:
    """Return what compiled code takes."""
    return model.local, model.size, model.leading, *model.tables


def send(
    links: Links,
    model: VertexModel,
    data: Pair,
    buffers: Pair,
    threads: int,
    compare: bool = False,
    damping: float = 0.0,
) -> FloatArray:
    """Send all messages once, from the first buffer to the second, and return the changes that ``relay`` reports."""
    changes = links.run(threads, relay, links.arrays, data, kernel_of(model), compare, damping, buffers)
    return np.asarray(np.max(changes, axis=0))


def iterate(
    links: Links,
    model: VertexModel,
    data: Pair,
    messages: FloatArray,
    threads: int,
    *,
    tolerance: float = 1e-10,
    max_rounds: int = 1000,
    damping: float = 0.0,
) -> tuple[FloatArray, bool, list[float], float]:
    """Send all messages until none changes by more than ``tolerance``, relative to its largest element.

    ``data`` are the gains and linear terms of the vertices. The array ``messages`` is used as a buffer. Returns the messages,
    whether they converged, the largest relative change of a message in each round, and the damping of the last one.
    """
    old, new = messages, np.empty_like(messages)
    history: list[float] = []
    converged = model.size == 0 or links.slots == 0
    while not converged and len(history) < max_rounds:
        matrix, mean, size = send(links, model, data, (old, new), threads, True, damping)
        old, new = new, old
        history.append(float(max(matrix, mean / size if size > 0 else mean)))
        converged = history[-1] <= tolerance
        if not np.isfinite(history[-1]):
            break
        # Means may oscillate on graphs with short cycles, and half of the former message then calms them. Messages of
        # variances converge without, so that damping from the start would only slow them down.
        recent, before = history[-_PATIENCE:], history[-2 * _PATIENCE : -_PATIENCE]
        if damping == 0 and len(history) > 2 * _PATIENCE and min(recent) > min(before):
            damping = _FALLBACK
    return old, converged, history, damping


def last_pivots(links: Links, model: VertexModel, messages: FloatArray, threads: int) -> Pair:
    """Return the last pivot and the last linear term of every vertex over all its neighbours."""
    last = np.zeros(links.vertices), np.zeros(links.vertices)
    links.run(threads, marginals, links.arrays, kernel_of(model), messages, last)
    return last


def returning_walks(links: Links, walk: FloatArray, threads: int) -> FloatArray:
    """Return the prior variance of every vertex: ``walk`` are the coefficients of the powers of T."""
    depth = len(walk[::2]) - 1
    series = np.zeros((links.slots, max(depth, 1)))
    # The first coefficient needs nothing from neighbours, the second needs their first, and so on: each round makes one
    # more coefficient right, and no more are computed than are.
    for count in range(1, depth + 1):
        series = next_series(links, series, count, threads)
    return close(links, walk, series, threads)


def next_series(links: Links, old: FloatArray, count: int, threads: int) -> FloatArray:
    """Send the first ``count`` coefficients of all series once."""
    new = np.empty_like(old)
    links.run(threads, _step, links.arrays, old, new, count)
    return new


def close(links: Links, walk: FloatArray, series: FloatArray, threads: int) -> FloatArray:
    """Return the prior variances that the series at each vertex imply."""
    variances = np.empty(links.vertices)
    links.run(threads, _close, links.arrays, np.ascontiguousarray(walk[::2]), series, variances)
    return variances


@compiled
def _step(begin: int, end: int, slots: Slots, old: FloatArray, new: FloatArray, count: int) -> FloatArray:
    """Send the first ``count`` coefficients of A^2 g out of the vertices ``begin`` to ``end``."""
    indptr, reverse, weights, degrees = slots
    total = np.empty(count)
    series = np.empty(count)
    for vertex in range(begin, end):
        total[:] = 0.0
        for edge in range(indptr[vertex], indptr[vertex + 1]):
            for q in range(count - 1):
                total[q] += old[edge, q]
        for edge in range(indptr[vertex], indptr[vertex + 1]):
            square = weights[edge] * weights[edge]
            series[0] = 1.0 / degrees[vertex]
            new[reverse[edge], 0] = square * series[0]
            for q in range(1, count):  # g (d - t s) = 1, one power of t after the other
                value = 0.0
                for j in range(q):
                    value += (total[j] - old[edge, j]) * series[q - 1 - j]
                series[q] = value / degrees[vertex]
                new[reverse[edge], q] = square * series[q]
    return np.zeros(0)


@compiled
def _close(
    begin: int, end: int, slots: Slots, even: FloatArray, messages: FloatArray, variances: FloatArray
) -> FloatArray:
    """Add up the walks that return to the vertices ``begin`` to ``end``."""
    indptr, _, _, degrees = slots
    depth = len(even)
    total = np.empty(depth)
    series = np.empty(depth)
    for vertex in range(begin, end):
        total[:] = 0.0
        for edge in range(indptr[vertex], indptr[vertex + 1]):
            for q in range(depth - 1):
                total[q] += messages[edge, q]
        series[0] = 1.0
        variances[vertex] = even[0]
        for q in range(1, depth):
            value = 0.0
            for j in range(q):
                value += total[j] * series[q - 1 - j]
            series[q] = value / degrees[vertex] if degrees[vertex] > 0.0 else 0.0
            variances[vertex] += even[q] * series[q]
    return np.zeros(0)
