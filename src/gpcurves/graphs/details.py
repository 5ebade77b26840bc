"""What files and NetworkX graphs say about vertices besides edges: positions to draw them at, and attributes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from gpcurves.graphs.records import list_names
from gpcurves.numerics.memory import check_memory
from gpcurves.numerics.validation import FloatArray, parse_float

_PAIRS = [
    ("x", "y"),
    ("lon", "lat"),
    ("longitude", "latitude"),
    ("lng", "lat"),
    ("long", "lat"),
    ("x_coord", "y_coord"),
]
_POINTS = ("pos", "position", "coords", "coordinates", "graphics", "viz", "geodata")
"""Attributes that hold both coordinates: a pair, a text such as ``1.5,2``, or a mapping with x and y."""
_MOST = 1000  # attributes that are kept
_PER_CELL = 100  # bytes that an attribute of a vertex takes
Details = tuple[FloatArray | None, dict[str, npt.NDArray[Any]] | None, tuple[str, ...]]


def collect_details(vertices: Sequence[Mapping[Any, Any]]) -> Details:
    """Return positions, attributes by name, and notes, from the mapping of attributes that each vertex has."""
    names = list(dict.fromkeys(key for each in vertices for key in each))
    if not names:
        return None, None, ()
    notes = []
    used, positions = _find_positions(vertices, names)
    if used and positions is None:
        notes.append("some vertices have no position, so that positions are not used")
    rest = [name for name in names if name not in used]
    if len(rest) > _MOST:
        notes.append(f"only the first {_MOST:,} of {len(rest):,} attributes of vertices are kept")
    check_memory(_PER_CELL * len(rest[:_MOST]) * len(vertices), "the attributes of the vertices", "remove some of them")
    kept: dict[str, npt.NDArray[Any]] = {}
    dropped: list[str] = []
    for name in rest[:_MOST]:
        values = as_values(each.get(name) for each in vertices)
        if values is None:
            dropped.append(str(name))
        else:
            kept[str(name)] = values
    if dropped:
        notes.append(f"ignored attributes of vertices that are neither numbers nor texts: {list_names(dropped)}")
    return positions, kept or None, tuple(notes)


def as_values(cells: Iterable[Any]) -> npt.NDArray[Any] | None:
    """Return the values of an attribute: floats with NaN for missing ones, or texts with None; None if they are neither."""
    given = list(cells)
    if all(cell is None or isinstance(cell, Real) for cell in given):
        return np.array([math.nan if cell is None else _as_float(cell) for cell in given])
    if all(cell is None or isinstance(cell, str | Real) for cell in given):
        return np.array([None if cell is None else _as_text(cell) for cell in given], dtype=object)
    return None


def _as_text(cell: Any) -> str:
    return cell if isinstance(cell, str) else repr(float(cell)) if _is_long(cell) else str(cell)


def _is_long(cell: Any) -> bool:
    """Tell whether an integer has more digits than Python writes out."""
    return isinstance(cell, int) and cell.bit_length() > 1000


def _as_float(cell: Any) -> float:
    """Return a number; one that is not finite, or that a double does not hold, is missing."""
    try:
        value = float(cell)
    except OverflowError:
        return math.nan
    return value if math.isfinite(value) else math.nan


def _find_positions(vertices: Sequence[Mapping[Any, Any]], names: Sequence[Any]) -> tuple[set[Any], FloatArray | None]:
    """Return the names of the attributes that hold coordinates, and these, if every vertex has both."""
    folded = {name.lower(): name for name in names if isinstance(name, str)}
    for pair in _PAIRS:
        if pair[0] in folded and pair[1] in folded:
            x, y = (folded[word] for word in pair)
            return {x, y}, _as_positions([(each.get(x), each.get(y)) for each in vertices])
    for word in _POINTS:
        if word in folded:
            points = [_read_point(each.get(folded[word])) for each in vertices]
            if any(point is not None for point in points):
                return {folded[word]}, _as_positions([point or (None, None) for point in points])
    return set(), None


def _read_point(value: Any) -> tuple[Any, Any] | None:
    """Return the two coordinates in one value, or None."""
    if isinstance(value, Mapping):
        inner = value.get("position", value)
        return (inner["x"], inner["y"]) if isinstance(inner, Mapping) and {"x", "y"} <= set(inner) else None
    if isinstance(value, str):
        value = value.strip(" ()[]!").split(",", 3)
    if isinstance(value, list | tuple | np.ndarray) and len(value) in (2, 3):
        return value[0], value[1]
    return None


def _as_positions(points: Sequence[tuple[Any, Any]]) -> FloatArray | None:
    positions = np.array([[_as_coordinate(x), _as_coordinate(y)] for x, y in points])
    return positions if np.isfinite(positions).all() else None


def _as_coordinate(value: Any) -> float:
    if isinstance(value, str):
        try:
            value = parse_float(value)
        except ValueError:
            return math.nan
    return _as_float(value) if isinstance(value, Real) else math.nan
