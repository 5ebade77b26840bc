"""How much memory there is, and a sentence if something needs more."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from gpcurves.errors import TooLargeError

_SHARE = 0.9
_OWN_GROUPS, _GROUPS = Path("/proc/self/cgroup"), Path("/sys/fs/cgroup")


def check_memory(needed: float, what: str, instead: str) -> None:
    """Refuse what this machine cannot hold, saying what to do instead; a cluster must know for itself."""
    there = memory_limit()
    if there is not None and needed > _SHARE * there:
        raise TooLargeError(
            f"{what} needs about {_gigabytes(needed)} of memory, this machine has {_gigabytes(there)}: {instead}"
        )


def memory_limit() -> float | None:
    """Return the bytes of memory that this process may have, or None if the system does not tell."""
    limits = list(_limits())
    return min(limits) if limits else None


def _limits() -> Iterator[float]:
    """Yield what bounds the memory: the machine, the limit of the process, and the control groups (of both versions)."""
    with suppress(ValueError, OSError, AttributeError):
        yield float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    with suppress(ImportError):  # there is no such module on Windows
        import resource

        soft = resource.getrlimit(resource.RLIMIT_AS)[0]
        if soft != resource.RLIM_INFINITY:
            yield float(soft)
    groups = []
    with suppress(OSError):
        groups = _OWN_GROUPS.read_text(encoding="utf-8", errors="replace").splitlines()
    for line in groups:
        _, controllers, group = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        root = _GROUPS / ("memory" if controllers else "")
        own = root / group.lstrip("/")  # which a container does not always see, whereas it sees the root
        for folder in (own, *own.parents):
            with suppress(OSError, ValueError):  # "max" is no limit
                yield float((folder / ("memory.limit_in_bytes" if controllers else "memory.max")).read_text())
            if folder == root:
                break


def _gigabytes(count: float) -> str:
    return f"{count / 1e9:.0f} GB" if 1e10 <= count < 1e18 else f"{count / 1e9:.2g} GB"
