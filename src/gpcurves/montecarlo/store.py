"""An SQLite file that keeps every finished task under a key that includes everything that determines it."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import numpy as np

from gpcurves.errors import InputError
from gpcurves.numerics.validation import FloatArray, path_of

_APPLICATION = 0x47504355  # "GPCU": how we know our own files
_VERSION = 2
_LOCK_TIMEOUT = 60.0  # seconds to wait while another process writes
_TABLES = (
    b"CREATE TABLE keys (key TEXT PRIMARY KEY, description TEXT NOT NULL)",
    b"CREATE TABLE results (key TEXT, task INTEGER, data BLOB NOT NULL, checksum BLOB NOT NULL, PRIMARY KEY (key, task))",
)
_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)


class Store:
    """Results of tasks, one row each, written in one transaction per batch; several processes may share a file.

    Write-ahead logging keeps the file whole when a process is killed or the power fails. Disks and people damage files all
    the same: every row has a checksum of its key, its task and its numbers. A file that is not a store is refused and left
    as it is.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = path_of("store", path)
        self._check_file()
        try:
            # an absolute path, because ":memory:" would be no file
            self._connection = sqlite3.connect(self.path.absolute(), timeout=_LOCK_TIMEOUT, isolation_level=None)
            try:
                self._prepare_patiently()
            except BaseException:
                self._connection.close()  # so that no files of SQLite are left beside it
                raise
        except sqlite3.Error as error:
            raise self._problem(error) from error

    def _check_file(self) -> None:
        """Refuse a file that is not a store before SQLite opens it, because opening may change it, or wait for ever."""
        for _ in range(10):
            try:
                if self.path.is_dir():
                    raise IsADirectoryError(None, "it is a folder")
                if self.path.exists() and not self.path.is_file():
                    raise OSError(None, "it is not a regular file")
                if not self.path.parent.is_dir():
                    raise NotADirectoryError(None, f"the folder {self.path.parent} does not exist")
                with self.path.open("rb") as file:
                    content = file.read(100)
            except FileNotFoundError:
                return
            except (OSError, ValueError) as error:  # a ValueError if a name holds a zero
                reason = getattr(error, "strerror", error)
                raise InputError(f"cannot use {self.path} as a store: {reason}") from error
            if not content:
                return
            if content[68:72] == _APPLICATION.to_bytes(4, "big"):
                self._check_version(int.from_bytes(content[60:64], "big"))
                return
            if content[:16] != b"SQLite format 3\0" or any(content[68:72]):
                break
            time.sleep(0.05)  # another process may be making it just now
        raise InputError(f"{self.path} is not a store of gpcurves: it is left as it is")

    def _check_version(self, version: int) -> None:
        if version not in (0, _VERSION):
            raise InputError(
                f"{self.path} is a store of version {version}, but this gpcurves reads version {_VERSION}: name "
                "another file"
            )

    def _prepare_patiently(self) -> None:
        # SQLite does not wait for others while it turns on the write-ahead log, or while the last of them takes it away
        deadline = time.monotonic() + _LOCK_TIMEOUT
        while True:
            try:
                return self._prepare()
            except sqlite3.OperationalError as error:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
            time.sleep(0.05)

    def _prepare(self) -> None:
        # the marks that make the file ours come first, in the file itself; only then is there a write-ahead log
        execute = self._connection.execute
        self._connection.text_factory = bytes  # damaged text need not be UTF-8
        version = execute("PRAGMA user_version").fetchone()[0]
        self._check_version(version)
        if version != _VERSION:
            execute("BEGIN IMMEDIATE")
            execute(f"PRAGMA application_id={_APPLICATION}")
            execute(f"PRAGMA user_version={_VERSION}")
            for statement in _TABLES:
                execute(statement.decode().replace("TABLE", "TABLE IF NOT EXISTS"))
            execute("COMMIT")
        if {sql for (sql,) in execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")} != set(_TABLES):
            raise self._damaged("its tables are not those of a store")
        execute("PRAGMA journal_mode=WAL")
        execute("PRAGMA synchronous=NORMAL")

    def load(self, description: Mapping[str, Any], width: int) -> tuple[dict[int, FloatArray], list[int]]:
        """Return the results that are there for tasks of this description, and the tasks whose results are damaged."""
        key = key_of(description)
        found: dict[int, FloatArray] = {}
        damaged: list[int] = []
        try:
            rows = self._connection.execute("SELECT task, data, checksum FROM results WHERE key = ?", (key,))
            for task, data, checksum in rows:
                if isinstance(data, bytes) and len(data) == 8 * width and checksum == _checksum(key, task, data):
                    found[task] = np.frombuffer(data)
                else:
                    damaged.append(task)
            if damaged:  # one that cannot be written to either is better refused now than after the first tasks
                if self._connection.execute("PRAGMA integrity_check(1)").fetchone()[0] != b"ok":
                    raise self._damaged("its records and its pages")
                with self._writing():
                    pass
        except sqlite3.Error as error:
            raise self._problem(error) from error
        return found, damaged

    def add(self, description: Mapping[str, Any], results: Iterable[tuple[int, FloatArray]]) -> None:
        """Keep results, all of them or none."""
        key = key_of(description)
        content = [(task, np.ascontiguousarray(array, dtype=np.float64).tobytes()) for task, array in results]
        try:
            with self._writing():
                self._connection.execute("INSERT OR IGNORE INTO keys VALUES (?, ?)", (key, _canonical(description)))
                self._connection.executemany(
                    "INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?)",
                    [(key, task, data, _checksum(key, task, data)) for task, data in content],
                )
        except sqlite3.Error as error:
            raise self._problem(error) from error

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Do all that is written within, or nothing."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except sqlite3.Error:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    def _problem(self, error: sqlite3.Error) -> InputError:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGE:  # what comes above is the kind of read that failed
            return self._damaged(str(error))
        return InputError(f"cannot use {self.path} as a store: {error}; what it held before is kept")

    def _damaged(self, how: str) -> InputError:
        return InputError(f"the store {self.path} is damaged ({how}): delete it or name another file, and run again")

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def key_of(description: Mapping[str, Any]) -> str:
    """Return the key under which tasks of this description are kept."""
    return hashlib.sha256(_canonical(description).encode()).hexdigest()


def _checksum(key: str, task: object, data: bytes) -> bytes:
    return hashlib.blake2b(f"{key} {task} ".encode() + data, digest_size=16).digest()


def _canonical(description: Mapping[str, Any]) -> str:
    return json.dumps(description, sort_keys=True, separators=(",", ":"), allow_nan=False)
