"""How the work of compiled loops over vertices is divided: plain threads, fixed pieces."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from gpcurves.graphs.graph import IntArray
from gpcurves.numerics.validation import FloatArray, integer

Pair = tuple[FloatArray, FloatArray]
Slots = tuple[IntArray, IntArray, FloatArray, FloatArray]
_PIECE = 4096
"""Edges and vertices of one piece: enough to hide what a call costs, few enough to keep several threads busy."""
_MOST_PIECES = 256


def thread_count(threads: int | None) -> int:
    """Return how many threads to use: those asked for, or one per available core."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    return integer("threads", threads, 1)


@dataclass(frozen=True, eq=False)
class Links:
    """Slots of the vertices: one for each end of an edge, those of vertex i are ``indptr[i]`` to ``indptr[i+1]``.

    ``reverse`` is the slot at the other end, ``weights`` has one weight per slot, ``degrees`` their sum for each vertex.
    """

    indptr: IntArray
    reverse: IntArray
    weights: FloatArray
    degrees: FloatArray

    @property
    def arrays(self) -> Slots:
        """All arrays, as compiled code takes them."""
        return self.indptr, self.reverse, self.weights, self.degrees

    @property
    def vertices(self) -> int:
        """Number of vertices."""
        return len(self.degrees)

    @property
    def slots(self) -> int:
        """Number of slots, twice that of edges."""
        return len(self.reverse)

    @cached_property
    def _pieces(self) -> list[tuple[int, int]]:
        """Ranges of vertices with about the same number of edges; they do not depend on the threads."""
        count = min(max(1, (self.slots + self.vertices) // _PIECE), _MOST_PIECES)
        work = self.indptr + np.arange(self.vertices + 1)
        cuts = np.searchsorted(work, np.linspace(0, work[-1], count + 1))
        cuts[0], cuts[-1] = 0, self.vertices
        return list(itertools.pairwise(np.unique(cuts).tolist()))

    def run(self, threads: int, kernel: Callable[..., FloatArray], *arguments: Any) -> list[FloatArray]:
        """Call ``kernel(begin, end, *arguments)`` for every piece of the vertices and return the results in order."""
        if threads == 1 or len(self._pieces) == 1:
            return [kernel(*piece, *arguments) for piece in self._pieces]
        return list(_pool(threads).map(lambda piece: kernel(*piece, *arguments), self._pieces))


_pool = lru_cache(ThreadPoolExecutor)  # threads are started once: there are thousands of short calls
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # a fork has no threads but its own
