"""Tables of R packages, read from the files in which R keeps them, without R.

A package keeps its objects in ``data/Rdata.rdb``, one after another, and says in ``data/Rdata.rdx`` where each is; or it
keeps some in each of several files ``data/*.rda``. Only what tables are made of is understood.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import struct
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

MISSING = -(2**31)
NULL, SYMBOL, PAIRS, CLOSURE, ENVIRONMENT, LANGUAGE, CHARACTERS = 0, 1, 2, 3, 4, 6, 9
LOGICAL, INTEGER, REAL, COMPLEX, STRINGS, LIST, EXPRESSION, POINTER, RAW, S4 = 10, 13, 14, 15, 16, 19, 20, 22, 24, 25
COMPACT, ATTRIBUTED_PAIRS, ATTRIBUTED_LANGUAGE, PACKAGE, NAMESPACE, PERSISTENT = 238, 239, 240, 250, 249, 247
REFERENCE, NOTHING = 255, (254, 253, 252, 251, 242, 241)


class UnknownTypeError(ValueError):
    """An object of R has parts of a type that tables do not have."""


@dataclass
class Object:
    """A vector, list or pair list of R with its attributes."""

    value: Any
    attributes: dict[str, Object] = field(default_factory=dict)

    def texts(self, name: str) -> list[str]:
        """Return an attribute that consists of texts."""
        return list(self.attributes[name].value) if name in self.attributes else []


def list_objects(folder: Path) -> list[str]:
    """Return the names of a package's objects, or of its files if it has one for each, without opening any."""
    if (folder / "Rdata.rdx").exists():
        return list(_index(folder)[0])
    return [file.name for file in sorted(folder.iterdir()) if file.suffix.lower() in (".rda", ".rdata")]


def read_tables(folder: Path, name: str) -> dict[str, pd.DataFrame]:
    """Return the tables among the objects of that name, or in that file."""
    if (folder / "Rdata.rdx").exists():
        places, kind = _index(folder)
        start, length = places[name]
        content = (folder / "Rdata.rdb").read_bytes()[start : start + length]
        found = {name: Reader(_expand(content[4:], kind)).read()}
    else:
        content = _decompress((folder / name).read_bytes())
        found = Reader(content[5:]).read().attributes  # after a line that names the format
    tables = {each: to_table(one) for each, one in found.items()}
    return {each: table for each, table in tables.items() if table is not None and table.shape[1]}


def to_table(found: Object) -> pd.DataFrame | None:
    """Return a data frame, or a matrix or several time series with names of columns; nothing of any other object."""
    if "data.frame" in found.texts("class"):
        columns = {name: _to_column(each) for name, each in zip(found.texts("names"), found.value, strict=False)}
        table = pd.DataFrame({name: column for name, column in columns.items() if column is not None})
        rows = found.attributes["row.names"].value if "row.names" in found.attributes else None
        return _with_dates(table, rows)
    size: Any = found.attributes["dim"].value if "dim" in found.attributes else ()
    sides: Any = found.attributes["dimnames"].value if "dimnames" in found.attributes else ()
    if len(size) != 2 or len(sides) != 2 or sides[1].value is None or not isinstance(found.value, np.ndarray):
        return None
    table = pd.DataFrame(found.value.reshape(size.astype(int)[::-1]).T, columns=sides[1].value)
    if "index" in found.attributes:  # of zoo and xts
        table.insert(0, "index", _to_column(found.attributes["index"]))
    if "positions" in found.attributes and isinstance(found.attributes["positions"].value, np.ndarray):  # of timeSeries
        table.insert(0, "time", pd.to_datetime(found.attributes["positions"].value, unit="s"))
    if "tsp" in found.attributes:
        start, end, _ = found.attributes["tsp"].value
        table.insert(0, "time", np.linspace(start, end, len(table)))
    return _with_dates(table, sides[0].value)


def _with_dates(table: pd.DataFrame, rows: Any) -> pd.DataFrame:
    """Return a table with the names of its rows as a column if they are dates."""
    if isinstance(rows, list) and rows and all(re.fullmatch(r"\d{4}-\d\d-\d\d.*", str(row)) for row in rows):
        table.insert(0, "date of the row", rows)
    return table


def _to_column(found: Object) -> np.ndarray | None:
    """Return the cells of a column, with levels as texts and dates as dates; nothing of lists and matrices."""
    classes, values = found.texts("class"), found.value
    if "dim" in found.attributes and len(found.attributes["dim"].value) > 1:
        return None
    if isinstance(values, list):
        texts = all(value is None or isinstance(value, str) for value in values)
        return np.array(values, dtype=object) if texts else None
    if not isinstance(values, np.ndarray):
        return None
    if "factor" in classes:
        levels = np.array([*found.texts("levels"), None], dtype=object)
        places = np.nan_to_num(values).astype(int)
        return np.asarray(levels[np.where(places > 0, places - 1, len(levels) - 1)])
    for name, seconds in {"Date": 86_400, "POSIXct": 1, "dates": 86_400}.items():
        if name in classes:
            return np.asarray(pd.to_datetime(pd.Series(values * float(seconds)).round(), unit="s").to_numpy())
    return values


class Reader:
    """Reads what R has written in its format XDR."""

    def __init__(self, content: bytes) -> None:
        self.content, self.place, self.known = content, 2, list[Object]()
        if content[:2] != b"X\n":
            raise ValueError("not in R's format XDR")
        version, _, _ = self._integers(3)
        if version == 3:
            self._bytes(self._integers(1)[0])  # the name of an encoding

    def read(self) -> Object:
        """Return the next object."""
        flags = self._integers(1)[0]
        kind, attributed, tagged = flags & 255, bool(flags & 512), bool(flags & 1024)
        if kind in NOTHING or kind == NULL:
            return Object(None)
        if kind == REFERENCE:
            return self.known[(flags >> 8 or self._integers(1)[0]) - 1]
        if kind in (PAIRS, LANGUAGE, CLOSURE, ATTRIBUTED_PAIRS, ATTRIBUTED_LANGUAGE, 5, 17):
            return self._read_pairs(attributed or kind in (ATTRIBUTED_PAIRS, ATTRIBUTED_LANGUAGE), tagged)
        if kind == POINTER:  # as tables of data.table have, to nothing
            found = Object(None)
            self.known.append(found)
            for _ in range(3 if attributed else 2):
                self.read()
            return found
        if kind in (SYMBOL, PACKAGE, NAMESPACE, PERSISTENT, ENVIRONMENT):
            return self._read_known(kind)
        if kind == CHARACTERS:
            length = self._integers(1)[0]
            return Object(None if length < 0 else self._bytes(length).decode("utf-8", errors="replace"))
        if kind == COMPACT:
            return self._read_compact()
        found = Object(self._read_values(kind))
        if attributed or kind == S4:
            found.attributes = self.read().attributes
        return found

    def _read_pairs(self, attributed: bool, tagged: bool) -> Object:
        """Return the elements of a pair list that have names, as attributes."""
        found = Object(None)
        while True:
            if attributed:
                self.read()
            tag = self.read().value if tagged else None
            value = self.read()
            if tag is not None:
                found.attributes[str(tag)] = value
            flags = self._integers(1)[0]
            if flags & 255 not in (PAIRS, ATTRIBUTED_PAIRS):
                self.place -= 4
                self.read()
                return found
            attributed, tagged = bool(flags & 512) or flags & 255 == ATTRIBUTED_PAIRS, bool(flags & 1024)

    def _read_known(self, kind: int) -> Object:
        """Return a symbol or environment, to which later objects may refer."""
        if kind == SYMBOL:
            found = self.read()
            self.known.append(found)
            return found
        found = Object(None)
        self.known.append(found)
        if kind == ENVIRONMENT:
            self._integers(1)
            for _ in range(4):
                self.read()
        else:
            self._integers(1)
            for _ in range(self._integers(1)[0]):
                self.read()
        return found

    def _read_compact(self) -> Object:
        """Return numbers of which R wrote only first, count and step, or what it wrapped."""
        info, state, _ = self.read(), self.read(), self.read()
        del info
        if isinstance(state.value, np.ndarray) and len(state.value) == 3:
            count, first, step = state.value
            return Object(first + step * np.arange(int(count)))
        if isinstance(state.value, list) and state.value:
            return state.value[0] if isinstance(state.value[0], Object) else state
        return Object(state.value)

    def _read_values(self, kind: int) -> Any:
        if kind == S4:
            return None
        count = self._integers(1)[0]
        if count == -1:
            high, low = self._integers(2)
            count = (high << 32) + low
        if kind in (LOGICAL, INTEGER):
            whole = np.frombuffer(self._bytes(4 * count), ">i4").astype(np.int64)
            gone = whole == MISSING
            return np.where(gone, np.nan, whole) if gone.any() else whole
        if kind == REAL:
            return np.frombuffer(self._bytes(8 * count), ">f8").astype(float)
        if kind == COMPLEX:
            return np.frombuffer(self._bytes(16 * count), ">c16").astype(complex)
        if kind == RAW:
            return self._bytes(count)
        if kind == STRINGS:
            return [self.read().value for _ in range(count)]
        if kind in (LIST, EXPRESSION):
            return [self.read() for _ in range(count)]
        raise UnknownTypeError(kind)

    def _integers(self, count: int) -> tuple[int, ...]:
        return struct.unpack(f">{count}i", self._bytes(4 * count))

    def _bytes(self, count: int) -> bytes:
        self.place += count
        return self.content[self.place - count : self.place]


def _index(folder: Path) -> tuple[dict[str, tuple[int, int]], int]:
    """Return start and length of each object, and by which of three ways they are compressed."""
    content = (folder / "Rdata.rdx").read_bytes()
    try:
        content = _decompress(content)
    except (OSError, ValueError):
        content = zlib.decompress(content)
    found = Reader(content).read()
    parts = dict(zip(found.texts("names"), found.value, strict=True))
    places = zip(parts["variables"].texts("names"), parts["variables"].value, strict=True)
    return {name: tuple(each.value.astype(int).tolist()) for name, each in places}, int(parts["compressed"].value[0])


def _expand(content: bytes, kind: int) -> bytes:
    if kind == 1:
        return zlib.decompress(content)
    way, content = content[:1], content[1:]
    if way == b"2":
        return bz2.decompress(content)
    if way == b"Z":
        return lzma.decompress(content, lzma.FORMAT_RAW, filters=[{"id": lzma.FILTER_LZMA2, "preset": 6}])
    return zlib.decompress(content) if way != b"0" else content


def _decompress(content: bytes) -> bytes:
    for start, expand in ((b"\x1f\x8b", gzip.decompress), (b"BZh", bz2.decompress), (b"\xfd7zXZ", lzma.decompress)):
        if content.startswith(start):
            return expand(content)
    if content.startswith((b"X\n", b"RDX")):
        return content
    raise ValueError("not compressed by any way of R's")
