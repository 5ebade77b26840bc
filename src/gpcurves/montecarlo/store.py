"""An SQLite file that keeps every finished task under a key that includes everything that determines it."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np

from gpcurves.errors import InputError
from gpcurves.numerics.validation import FloatArray

_APPLICATION = 0x47504355  # "GPCU": how we know our own files
_VERSION = 1
_LOCK_TIMEOUT = 60.0  # seconds to wait while another process writes


class Store:
    """Results of tasks, one row each, written in one transaction per batch; several processes may share a file.

    Write-ahead logging keeps the file whole when a process is killed or the power fails. A file that is not a store is
    refused and left as it is.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._check_file()
        try:
            self._connection = sqlite3.connect(self.path, timeout=_LOCK_TIMEOUT, isolation_level=None)
            self._prepare()
        except sqlite3.Error as error:
            raise self._problem(error) from error
        except InputError:
            self._connection.close()
            raise

    def _check_file(self) -> None:
        """Refuse a file that is not a store before SQLite opens it, because opening may change it."""
        if self.path.is_dir():
            raise InputError(f"cannot use {self.path} as a store: it is a folder")
        if not self.path.parent.is_dir():
            raise InputError(f"cannot use {self.path} as a store: the folder {self.path.parent} does not exist")
        for _ in range(10):
            try:
                with self.path.open("rb") as file:
                    content = file.read(100)
            except FileNotFoundError:
                return
            except OSError as error:
                raise InputError(f"cannot use {self.path} as a store: {error.strerror}") from error
            if not content or content[68:72] == _APPLICATION.to_bytes(4, "big"):
                return
            if content[:16] != b"SQLite format 3\0" or any(content[68:72]):
                break
            time.sleep(0.05)  # another process may be making it just now
        raise InputError(f"{self.path} is not a store of gpcurves: it is left as it is")

    def _prepare(self) -> None:
        # the marks that make the file ours come first, in the file itself; only then is there a write-ahead log
        version = self._connection.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, _VERSION):
            raise InputError(f"{self.path} is a store of version {version}: this gpcurves reads version {_VERSION}")
        if version != _VERSION:
            for statement in (
                "BEGIN IMMEDIATE",
                f"PRAGMA application_id={_APPLICATION}",
                f"PRAGMA user_version={_VERSION}",
                "CREATE TABLE IF NOT EXISTS keys (key TEXT PRIMARY KEY, description TEXT NOT NULL)",
                "CREATE TABLE IF NOT EXISTS results (key TEXT, task INTEGER, data BLOB NOT NULL, PRIMARY KEY (key, task))",
                "COMMIT",
            ):
                self._connection.execute(statement)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=NORMAL")

    def load(self, description: Mapping[str, Any], width: int) -> dict[int, FloatArray]:
        """Return the results that are there for tasks of this description."""
        try:
            rows = self._connection.execute("SELECT task, data FROM results WHERE key = ?", (key_of(description),))
            return {task: np.frombuffer(data) for task, data in rows if len(data) == 8 * width}
        except sqlite3.Error as error:
            raise self._problem(error) from error

    def add(self, description: Mapping[str, Any], results: Iterable[tuple[int, FloatArray]]) -> None:
        """Keep results, all of them or none."""
        key = key_of(description)
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.execute("INSERT OR IGNORE INTO keys VALUES (?, ?)", (key, _canonical(description)))
            self._connection.executemany(
                "INSERT OR REPLACE INTO results VALUES (?, ?, ?)",
                [(key, task, np.ascontiguousarray(array, dtype=np.float64).tobytes()) for task, array in results],
            )
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise self._problem(error) from error

    def _problem(self, error: sqlite3.Error) -> InputError:
        return InputError(f"cannot use {self.path} as a store: {error}; what it held before is kept")

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


def _canonical(description: Mapping[str, Any]) -> str:
    return json.dumps(description, sort_keys=True, separators=(",", ":"), allow_nan=False)
