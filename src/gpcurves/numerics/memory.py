"""How much memory there is, and a sentence if something needs more."""

from __future__ import annotations

import os

from gpcurves.errors import InputError

_SHARE = 0.9


def check_memory(needed: float, what: str, instead: str) -> None:
    """Refuse what this machine cannot hold, saying what to do instead; a cluster must know for itself."""
    there = physical_memory()
    if there is not None and needed > _SHARE * there:
        raise InputError(
            f"{what} needs about {needed / 1e9:.0f} GB of memory, this machine has {there / 1e9:.0f} GB: {instead}"
        )


def physical_memory() -> float | None:
    """Return the bytes of memory of this machine, or None if the system does not tell."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (ValueError, OSError, AttributeError):
        return None
