"""Rounds of messages over all vertices of a graph: the one driver of the compiled loops."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gpcurves.graphs.vertex_model import VertexModel
from gpcurves.methods.cavity.compiled import IntArray, pieces, run_pieces
from gpcurves.methods.cavity.messages import marginals, relay
from gpcurves.numerics.validation import FloatArray


@dataclass(frozen=True, eq=False)
class Links:
    """Slots of the vertices: one for each end of an edge, those of vertex i are ``indptr[i]`` to ``indptr[i+1]``.

    ``reverse`` is the slot at the other end, ``weights`` has one weight per slot, ``degrees`` their sum for each vertex.
    """

    indptr: IntArray
    reverse: IntArray
    weights: FloatArray
    degrees: FloatArray
    cuts: IntArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "cuts", pieces(self.indptr))

    @property
    def vertices(self) -> int:
        """Number of vertices."""
        return len(self.degrees)

    @property
    def slots(self) -> int:
        """Number of slots, twice that of edges."""
        return len(self.reverse)


def send(
    links: Links,
    model: VertexModel,
    gains: FloatArray,
    linear: FloatArray,
    old: FloatArray,
    new: FloatArray,
    threads: int,
    compare: bool = False,
    damping: float = 0.0,
) -> FloatArray:
    """Send all messages once, from ``old`` to ``new``, and return the changes that ``relay`` reports."""

    def work(begin: int, end: int) -> FloatArray:
        return relay(
            begin,
            end,
            links.indptr,
            links.reverse,
            links.weights,
            links.degrees,
            gains,
            linear,
            model.local,
            model.leading,
            *model.tables,
            compare,
            damping,
            old,
            new,
        )

    return np.asarray(np.max(run_pieces(work, links.cuts, threads), axis=0))


def last_pivots(links: Links, model: VertexModel, messages: FloatArray, threads: int) -> tuple[FloatArray, FloatArray]:
    """Return the last pivot and the last linear term of every vertex over all its neighbours."""
    pivots, linears = np.zeros(links.vertices), np.zeros(links.vertices)

    def work(begin: int, end: int) -> FloatArray:
        return marginals(begin, end, links.indptr, links.degrees, model.local, model.leading, messages, pivots, linears)

    run_pieces(work, links.cuts, threads)
    return pivots, linears
