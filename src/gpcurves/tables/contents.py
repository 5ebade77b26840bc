"""The bytes of a file with a table, if they can be parsed; told without pandas, so that a bomb is refused at once."""

from __future__ import annotations

import io
from contextlib import suppress
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from gpcurves.errors import InputError
from gpcurves.numerics.files import read_bytes
from gpcurves.numerics.memory import check_memory

_PARSED = 20  # times the size of a file that reading it takes, measured for texts of short cells
_PER_CELL = 100  # bytes that a cell of a table takes on its way
_FOLD, _LARGE = 30, 1 << 26  # how often, and to how many bytes, a workbook expands only if it is made to


def read_contents(path: Path) -> bytes:
    """Return what a file holds, decompressed if it is a gzip archive; a workbook too large to be taken apart is refused."""
    data = read_bytes(path, _PARSED)
    with suppress(BadZipFile):  # a damaged workbook is refused when it is read
        size = expanded_size(data)
        check_claims(path, size, 0)
        if size > max(_LARGE, _FOLD * len(data)):
            fold = f"{size / len(data):.0f}-fold to {size:,} bytes"
            raise InputError(f"cannot read {path}: it expands {fold}, which no ordinary table does; save it as .csv")
    return data


def expanded_size(data: bytes) -> int:
    """Return how many bytes a workbook says that it holds; of another kind of file, as many as there are."""
    if not data.startswith(b"PK\x03\x04"):
        return len(data)
    with ZipFile(io.BytesIO(data)) as archive:
        return sum(member.file_size for member in archive.infolist())


def check_claims(path: Path, size: int, cells: int) -> None:
    """Refuse a compressed table before it is taken apart if memory does not hold what it says that it holds."""
    what = f"reading {path} ({size:,} bytes when decompressed, {cells:,} cells)"
    check_memory(_PARSED * size + _PER_CELL * cells, what, "take a part of its rows")
