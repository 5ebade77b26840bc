"""Results that cannot be changed behind one's back, and that can be pickled and copied all the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

import numpy as np

from gpcurves.numerics.validation import FloatArray, frozen

Value = TypeVar("Value")


class FrozenMapping(Mapping[str, Value]):
    """A mapping that cannot be changed; unlike ``types.MappingProxyType`` it can be pickled."""

    def __init__(self, items: Mapping[str, Value]) -> None:
        self._items = dict(items)

    def __getitem__(self, key: str) -> Value:
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return repr(self._items)


def frozen_array(values: Any) -> FloatArray:
    """Return a read-only copy of an array of numbers."""
    return frozen(np.array(values, dtype=np.float64))
