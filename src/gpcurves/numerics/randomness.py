"""Where random numbers come from: a seed or a generator that users give, checked."""

from __future__ import annotations

import numbers

import numpy as np

from gpcurves.errors import InputError

Rng = int | np.random.SeedSequence | np.random.Generator | None


def seed_of(rng: Rng) -> int:
    """Return the one integer that determines all random numbers; a new one for None, so that it can be recorded."""
    if rng is None:
        entropy = np.random.SeedSequence().entropy
        assert isinstance(entropy, int)
        return entropy
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(2**63))
    if isinstance(rng, np.random.SeedSequence):
        return int.from_bytes(rng.generate_state(4).tobytes(), "little")
    if isinstance(rng, numbers.Integral) and not isinstance(rng, bool) and rng >= 0:
        return int(rng)
    raise InputError(f"rng must be an integer at least 0, a SeedSequence, a Generator or None, got {rng!r}")


def generator_of(rng: Rng) -> np.random.Generator:
    """Return a generator: the one given, or a new one from a seed."""
    return rng if isinstance(rng, np.random.Generator) else np.random.default_rng(seed_of(rng))
