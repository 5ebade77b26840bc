"""How loops are compiled: Numba without the interpreter lock, and machine code that is kept on disk.

Machine code is kept where Numba finds a directory that can be written (``NUMBA_CACHE_DIR``, beside the source, the cache of the
user). If there is none, or a file there is damaged, the code is compiled anew: caches only save time.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar, cast

import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache, NullCache
from numba.core.serialize import dumps

from gpcurves.numerics.announcing import announce

_Function = TypeVar("_Function", bound=Callable[..., object])
_COMPILING = "compiling loops over vertices, "
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
