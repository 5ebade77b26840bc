"""How loops are compiled, and their work divided: Numba without the interpreter lock, plain threads, fixed pieces."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar, cast

import numba
import numpy as np

from gpcurves.graphs.graph import IntArray
from gpcurves.numerics.validation import FloatArray, integer

_Function = TypeVar("_Function", bound=Callable[..., object])
_PIECE = 4096
"""Edges and vertices of one piece: enough to hide what a call costs, few enough to keep several threads busy."""
_MOST_PIECES = 256


def compiled(function: _Function) -> _Function:
    """Compile on first use, keep the machine code on disk, release the interpreter lock, allow fused multiply-add."""
    return cast(_Function, numba.njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})(function))


def thread_count(threads: int | None) -> int:
    """Return how many threads to use: those asked for, or one per available core."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    return integer("threads", threads, 1)


def pieces(indptr: IntArray) -> IntArray:
    """Cut the vertices into pieces with about the same number of edges; the cuts do not depend on the threads."""
    edges, vertices = int(indptr[-1]), len(indptr) - 1
    count = min(max(1, (edges + vertices) // _PIECE), _MOST_PIECES)
    work = indptr + np.arange(vertices + 1)
    cuts = np.searchsorted(work, np.linspace(0, work[-1], count + 1))
    cuts[0], cuts[-1] = 0, vertices
    return np.unique(cuts).astype(np.int64)


def run_pieces(work: Callable[[int, int], FloatArray], cuts: IntArray, threads: int) -> list[FloatArray]:
    """Call ``work(begin, end)`` for every piece and return the results in order."""
    spans: Sequence[tuple[int, int]] = [(int(a), int(b)) for a, b in itertools.pairwise(cuts)]
    if threads == 1 or len(spans) == 1:
        return [work(*span) for span in spans]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda span: work(*span), spans))
