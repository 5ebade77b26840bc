"""Results that cannot be changed behind one's back, and that can be pickled and copied all the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

import numpy as np

from gpcurves.numerics.validation import FloatArray, frozen

Value = TypeVar("Value")


class ReadOnly:
    """Something whose arrays are read-only, also in its copies: pickling and copying alone would make them writeable."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        _freeze(state.values())
        self.__dict__.update(state)


class FrozenMapping(Mapping[str, Value]):
    """A mapping that cannot be changed; unlike ``types.MappingProxyType`` it can be pickled."""

    def __init__(self, items: Mapping[str, Value]) -> None:
        self._items = dict(items)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._items = state["_items"]
        _freeze(self._items.values())

    def __getitem__(self, key: str) -> Value:
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return repr(self._items)


def _freeze(values: Iterable[Any]) -> None:
    for each in values:
        if isinstance(each, np.ndarray):
            each.setflags(write=False)


def frozen_array(values: Any) -> FloatArray:
    """Return a read-only copy of an array of numbers."""
    return frozen(np.array(values, dtype=np.float64))
