"""Reading files that fit in memory, and writing files so that a reader never sees half of one."""

from __future__ import annotations

import errno
import gzip
import io
import os
import stat
import tempfile
import time
import zlib
from contextlib import suppress
from pathlib import Path
from typing import IO

from gpcurves.errors import InputError
from gpcurves.numerics.memory import check_memory

_CHUNK = 1 << 24  # bytes that are read at once
_FOLD, _LARGE = 200, 1 << 26  # how often, and to how many bytes, an archive expands only if it is made to
_PATIENCE = 10.0  # seconds within which somebody must begin to read from a named pipe, or to write to it


def is_same_file(first: Path, second: Path) -> bool:
    """Tell whether two paths lead to one file, through links of either kind; neither needs to exist."""
    with suppress(OSError):
        return first.samefile(second)
    return os.path.realpath(first) == os.path.realpath(second)


def check_writable(path: Path) -> None:
    """Raise before any work is done if ``path`` cannot be written."""
    try:
        target = _follow_links(path)
        if target.is_dir():
            raise InputError(f"cannot write {path}: it is a folder")
        if not target.parent.is_dir():
            raise InputError(f"cannot write {path}: the folder {target.parent} does not exist")
        needed = [target.parent, target] if _is_plain(target) else [target]  # a plain file is replaced, a device is not
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from error
    if not all(os.access(each, os.W_OK) for each in needed if each.exists()):
        raise InputError(f"cannot write {path}: permission denied")


def write_complete(path: Path, content: bytes) -> None:
    """Write a file under another name first and put it in place when it is complete, and on the disk.

    A link stays: the file that it leads to is replaced. A device or a named pipe is written to.
    """
    check_writable(path)
    temporary = None
    try:
        target = _follow_links(path)
        if not _is_plain(target):
            _write_into(target, content)
            return
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=".gpcurves-")
        temporary = Path(name)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(handle)
        temporary.chmod(target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask())
        temporary.replace(target)
        _sync_folder(target.parent)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def _follow_links(path: Path) -> Path:
    """Return the file that a link leads to, whether or not it exists; raise if links lead round in a circle."""
    if path.is_symlink():
        with suppress(FileNotFoundError):
            path.stat()
        return Path(os.path.realpath(path))
    return path


def _is_plain(path: Path) -> bool:
    """Tell whether a file is, or would be, an ordinary one rather than a device, a pipe or a socket."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except FileNotFoundError:
        return True


def _write_into(path: Path, content: bytes) -> None:
    """Write to a device or a pipe; of a pipe that nobody reads, wait a while for a reader."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:  # opening a pipe would wait for a reader, perhaps for ever
            descriptor = os.open(path, os.O_WRONLY | getattr(os, "O_NONBLOCK", 0))
            break
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            if time.monotonic() > deadline:
                raise InputError(f"cannot write {path}: no process reads from this pipe") from error
            time.sleep(0.05)
    os.set_blocking(descriptor, True)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)


def _sync_folder(folder: Path) -> None:
    """Bring the new name of a file to the disk, on systems where folders can be opened."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


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
            archive = io.BytesIO(data)
            data = _read_all(path, gzip.GzipFile(fileobj=archive), factor, archive)
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


def _read_all(path: Path, file: IO[bytes] | gzip.GzipFile, factor: float, archive: IO[bytes] | None = None) -> bytes:
    """Return all that a file holds, as long as it can be parsed; an ``archive`` that it comes from must not expand too much."""
    parts: list[bytes] = []
    size = 0
    while part := file.read(_CHUNK):
        parts.append(part)
        size += len(part)
        _check_size(path, f"at least {size:,}", factor * size)
        if archive is not None and size > max(_LARGE, _FOLD * archive.tell()):
            raise InputError(
                f"cannot read {path}: it expands more than {_FOLD}-fold, to at least {size:,} bytes; decompress it first"
            )
    return b"".join(parts)


def _foretell(archive: bytes) -> int:
    """Return how many bytes an archive says that it holds, as far as its beginning makes that credible."""
    start = zlib.decompressobj(31)
    produced = len(start.decompress(archive, _CHUNK))
    credible = 2 * produced / (len(archive) - len(start.unconsumed_tail)) * len(archive)
    return int(min(int.from_bytes(archive[-4:], "little"), credible))
