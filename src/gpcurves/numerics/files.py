"""Reading files that fit in memory, and writing files so that a reader never sees half of one."""

from __future__ import annotations

import gzip
import io
import os
import stat
import tempfile
import time
import zlib
from pathlib import Path
from typing import IO

from gpcurves.errors import InputError
from gpcurves.numerics.memory import check_memory

_CHUNK = 1 << 24  # bytes that are read at once
_PATIENCE = 2.0  # seconds within which something must begin to write to a pipe


def check_writable(path: Path) -> None:
    """Raise before any work is done if ``path`` cannot be written."""
    folder = path.parent
    if path.is_dir():
        raise InputError(f"cannot write {path}: it is a folder")
    if not folder.is_dir():
        raise InputError(f"cannot write {path}: the folder {folder} does not exist")
    if not os.access(folder, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
        raise InputError(f"cannot write {path}: permission denied")


def write_complete(path: Path, content: bytes) -> None:
    """Write a file under another name first and put it in place when it is complete."""
    check_writable(path)
    temporary = None
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        temporary = Path(name)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        temporary.chmod(path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask())
        temporary.replace(path)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def read_bytes(path: Path, factor: float) -> bytes:
    """Return what a file holds, decompressed if it is a gzip archive; what memory would not hold is refused.

    Parsing takes ``factor`` times as many bytes as there are. An archive or a pipe does not tell how much will come, so no
    more is taken from it than can be parsed.
    """
    try:
        with _open(path) as file:
            _check_size(path, f"{(size := os.fstat(file.fileno()).st_size):,}", factor * size)
            data = _read_all(path, file, factor)
        if data.startswith(b"\x1f\x8b"):
            _check_size(path, f"at least {(size := _foretell(data)):,}", factor * size)
            data = _read_all(path, gzip.GzipFile(fileobj=io.BytesIO(data)), factor)
    except InputError:
        raise
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"cannot read {path}: the gzip archive is damaged") from error
    except (OSError, ValueError) as error:  # a name with a null character is a ValueError
        raise InputError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from error
    if not data or data.isspace():
        raise InputError(f"{path} is empty")
    return data


def _check_size(path: Path, size: str, needed: float) -> None:
    check_memory(needed, f"reading {path} ({size} bytes)", "take a part of it")


def _open(path: Path) -> IO[bytes]:
    """Open a file; a device without end is refused, and a pipe to which nothing writes is empty after a while."""
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise InputError(f"cannot read {path}: it is a folder")
    if not stat.S_ISFIFO(mode):
        file = path.open("rb")
        if not stat.S_ISREG(mode) and not file.isatty() and not path.samefile(os.devnull):
            file.close()
            raise InputError(f"cannot read {path}: it is a device")
        return file
    pipe = os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb")
    end = time.monotonic() + _PATIENCE
    while pipe.peek(1) == b"" and time.monotonic() < end:
        time.sleep(0.02)
    os.set_blocking(pipe.fileno(), True)
    return pipe


def _read_all(path: Path, file: IO[bytes] | gzip.GzipFile, factor: float) -> bytes:
    """Return all that a file holds, as long as it can be parsed."""
    parts: list[bytes] = []
    size = 0
    while part := file.read(_CHUNK):
        parts.append(part)
        size += len(part)
        _check_size(path, f"at least {size:,}", factor * size)
    return b"".join(parts)


def _foretell(archive: bytes) -> int:
    """Return how many bytes an archive says that it holds, as far as its beginning makes that credible."""
    start = zlib.decompressobj(31)
    produced = len(start.decompress(archive, _CHUNK))
    credible = 2 * produced / (len(archive) - len(start.unconsumed_tail)) * len(archive)
    return int(min(int.from_bytes(archive[-4:], "little"), credible))
