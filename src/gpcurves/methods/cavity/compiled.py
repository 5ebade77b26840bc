"""How loops are compiled, and their work divided: Numba without the interpreter lock, plain threads, fixed pieces.

Machine code is kept on disk where Numba finds a directory that can be written (``NUMBA_CACHE_DIR``, beside the source, the
cache of the user). If there is none, or a file there is damaged, the code is compiled anew: caches only save time.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core.caching import CompileResultCacheImpl, FunctionCache, NullCache
from numba.core.serialize import dumps

from gpcurves.graphs.graph import IntArray
from gpcurves.montecarlo.progress import announce
from gpcurves.numerics.validation import FloatArray, integer

_Function = TypeVar("_Function", bound=Callable[..., object])
Pair = tuple[FloatArray, FloatArray]
Slots = tuple[IntArray, IntArray, FloatArray, FloatArray]
_PIECE = 4096
"""Edges and vertices of one piece: enough to hide what a call costs, few enough to keep several threads busy."""
_MOST_PIECES = 256


_COMPILING = "compiling belief propagation, "
_UNKEPT = "about 15 s in every run: no directory for compiled code can be written (set NUMBA_CACHE_DIR to one)"


class _Sealed(CompileResultCacheImpl):  # type: ignore[misc]
    """Machine code with a checksum: damaged code may run, and give other numbers."""

    def reduce(self, cres: Any) -> tuple[bytes, bytes]:
        content = dumps(super().reduce(cres))
        return hashlib.sha256(content).digest(), content

    def rebuild(self, target_context: Any, payload: tuple[bytes, bytes]) -> Any:
        digest, content = payload
        if hashlib.sha256(content).digest() != digest:
            raise ValueError("the checksum of machine code does not match")
        return super().rebuild(target_context, pickle.loads(content))


class _Kept(FunctionCache):  # type: ignore[misc]
    """Machine code on disk; what cannot be read is compiled, and what cannot be written is not kept."""

    _impl_class = _Sealed

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        code = None
        try:
            code = super().load_overload(sig, target_context)
        except Exception:  # pickle raises nearly anything from a damaged file
            with suppress(Exception):
                self.flush()  # Numba reads the index again before it writes to it
        if code is None:
            announce(f"{_COMPILING}once, about 15 s")
        return code

    def save_overload(self, sig: Any, data: Any) -> None:
        with suppress(Exception):
            super().save_overload(sig, data)


class _Unkept(NullCache):  # type: ignore[misc]
    def load_overload(self, sig: Any, target_context: Any) -> None:
        announce(f"{_COMPILING}{_UNKEPT}")


def compiled(function: _Function) -> _Function:
    """Compile on first use, keep the machine code on disk, release the interpreter lock, allow fused multiply-add."""
    dispatcher = numba.njit(nogil=True, error_model="numpy", fastmath={"contract"})(function)
    try:
        dispatcher._cache = _Kept(function)
    except (RuntimeError, OSError):  # a read-only installation and home: no directory can be written
        dispatcher._cache = _Unkept()
    return cast(_Function, dispatcher)


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
