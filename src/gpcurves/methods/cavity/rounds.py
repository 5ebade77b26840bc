"""Rounds of messages over all vertices of a graph: the one driver of the compiled loops, and of their convergence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpcurves.graphs.vertex_model import VertexModel
from gpcurves.methods.cavity.compiled import Links, Pair
from gpcurves.methods.cavity.messages import Kernel, marginals, relay
from gpcurves.numerics.validation import FloatArray

_PATIENCE = 30
"""Rounds without progress after which messages are damped."""
_FALLBACK = 0.5


def _kernel(model: VertexModel) -> Kernel:
    return model.local, model.size, model.leading, *model.tables


def send(
    links: Links,
    model: VertexModel,
    data: Pair,
    old: FloatArray,
    new: FloatArray,
    threads: int,
    compare: bool = False,
    damping: float = 0.0,
) -> FloatArray:
    """Send all messages once, from ``old`` to ``new``, and return the changes that ``relay`` reports.

    ``data`` are the gains and the linear terms of the vertices.
    """
    changes = links.run(threads, relay, links.arrays, data, _kernel(model), compare, damping, (old, new))
    return np.asarray(np.max(changes, axis=0))


@dataclass(frozen=True, eq=False)
class FixedPoint:
    """Messages after the last round; ``history`` has the largest relative change of a message in each round.

    ``damping`` is the share of the former message that was kept in the last round.
    """

    messages: FloatArray
    converged: bool
    history: list[float]
    damping: float


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
) -> FixedPoint:
    """Send all messages until none changes by more than ``tolerance``, relative to its largest element.

    ``data`` are the gains and linear terms of the vertices. The array ``messages`` is used as a buffer.
    """
    old, new = messages, np.empty_like(messages)
    history: list[float] = []
    converged = model.size == 0 or links.slots == 0
    while not converged and len(history) < max_rounds:
        matrix, mean, size = send(links, model, data, old, new, threads, True, damping)
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
    return FixedPoint(old, converged, history, damping)


def last_pivots(links: Links, model: VertexModel, messages: FloatArray, threads: int) -> Pair:
    """Return the last pivot and the last linear term of every vertex over all its neighbours."""
    last = np.zeros(links.vertices), np.zeros(links.vertices)
    links.run(threads, marginals, links.arrays, _kernel(model), messages, last)
    return last
