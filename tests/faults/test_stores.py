"""Stores that were damaged: the same numbers as without a store, or a sentence that names the file; never other numbers."""

from __future__ import annotations

import os
import random
import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from gpcurves import OU, InputError, LearningCurve, Problem, Torus, learning_curve
from gpcurves.montecarlo.store import Store

SIZES = list(range(40))


def simulate(store: Path | None = None) -> LearningCurve:
    problem = Problem(OU(0.3), Torus(1), 0.05)
    return learning_curve(problem, "simulation", SIZES, datasets=30, rng=5, store=store)


def flip(content: bytearray, rng: random.Random) -> bytearray:
    content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    return content


def burst(content: bytearray, rng: random.Random) -> bytearray:
    start, length = rng.randrange(len(content) - 600), rng.randrange(1, 600)
    content[start : start + length] = rng.randbytes(length)
    return content


def nan(content: bytearray, rng: random.Random) -> bytearray:
    start = rng.randrange(len(content) - 8)
    content[start : start + 8] = np.array(np.nan).tobytes()
    return content


def zero_page(content: bytearray, rng: random.Random) -> bytearray:
    start = 4096 * rng.randrange(len(content) // 4096)
    content[start : start + 4096] = bytes(4096)
    return content


def header(content: bytearray, rng: random.Random) -> bytearray:
    content[rng.randrange(512)] = rng.randrange(256)
    return content


def truncate(content: bytearray, rng: random.Random) -> bytearray:
    return content[: rng.randrange(len(content))]


DAMAGES: list[Callable[[bytearray, random.Random], bytearray]] = [flip, burst, nan, zero_page, header, truncate]


@pytest.mark.slow
@pytest.mark.parametrize("log", [False, True], ids=["file", "write-ahead log"])
def test_no_damage_changes_a_number(tmp_path: Path, log: bool, capfd: pytest.CaptureFixture[str]) -> None:
    truth, whole = simulate(), tmp_path / "whole.db"
    with Store(whole), closing(sqlite3.connect(whole)) as reader:  # which keeps the log from being merged, like a kill
        reader.execute("SELECT count(*) FROM keys").fetchone()
        simulate(whole)
        names = ("", "-wal") if log else ("",)
        files = {name: Path(f"{whole}{name}").read_bytes() for name in names}
    files = files if log else {"": whole.read_bytes()}
    rng, outcomes = random.Random(7), Counter[str]()
    for k in range(12 if log else 24):
        folder = tmp_path / str(k)
        folder.mkdir()
        for name, content in files.items():
            damaged = DAMAGES[k % len(DAMAGES)](bytearray(content), rng) if name == names[-1] else content
            (folder / f"run.db{name}").write_bytes(damaged)
        before = (folder / "run.db").read_bytes()
        capfd.readouterr()
        try:
            found, sentence = simulate(folder / "run.db"), ""
        except InputError as error:
            found, sentence = truth, str(error)
        if sentence:
            outcomes["refused"] += 1
            assert str(folder / "run.db") in sentence
            assert capfd.readouterr().err == ""
            assert (folder / "run.db").read_bytes() == before or log
            assert {path.name for path in folder.iterdir()} <= {"run.db", "run.db-wal"}
            continue
        outcomes["named" if "discarded damaged results" in capfd.readouterr().err else "same"] += 1
        assert found.to_json() == truth.to_json()
    assert log or min(outcomes["refused"], outcomes["named"]) > 2  # it was damage


def test_a_damaged_record_is_named_once_and_computed_again(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "run.db"
    truth = simulate(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE results SET data = zeroblob(length(data)) WHERE task = 3")
        connection.execute("UPDATE results SET data = x'00' WHERE task = 5")
        # what is whole, but in the place of another
        connection.execute(
            "UPDATE results SET (data, checksum) = (SELECT data, checksum FROM results WHERE task = 8) WHERE task = 9"
        )
    assert simulate(path).to_json() == truth.to_json()
    assert capfd.readouterr().err == f"{path}: discarded damaged results, which are computed again: data sets 3, 5, 9\n"
    assert simulate(path).to_json() == truth.to_json()
    assert capfd.readouterr().err == ""


def test_a_damaged_store_that_cannot_be_written_to_is_one_sentence(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.db"
    simulate(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE results SET data = x'00' WHERE task = 5")
    monkeypatch.setattr("gpcurves.montecarlo.store._LOCK_TIMEOUT", 0.1)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode=WAL")
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(InputError, match=r"run\.db as a store: database is locked; what it held before is kept"):
            simulate(path)
    assert capfd.readouterr().err == ""


def test_missing_values_are_kept(tmp_path: Path) -> None:
    with Store(tmp_path / "run.db") as store:
        store.add({}, [(0, np.array([np.nan, 1.0, np.inf]))])
        found, damaged = store.load({}, 3)
    np.testing.assert_array_equal(found[0], [np.nan, 1.0, np.inf])
    assert damaged == []


def make_older(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA application_id=1196442453")
        connection.execute("PRAGMA user_version=1")
        connection.execute("CREATE TABLE results (key TEXT, task INTEGER, data BLOB NOT NULL)")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")


def make_foreign(path: Path) -> None:
    Store(path).close()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "CREATE VIEW endless AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x FROM c) SELECT x FROM c"
        )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (make_older, "is a store of version 1, but this gpcurves reads version 2: name another file"),
        (make_foreign, "is damaged .its tables are not those of a store.: delete it"),
        (os.mkfifo, "it is not a regular file"),
        (lambda path: path.symlink_to("/dev/null"), "it is not a regular file"),
        (lambda path: path.symlink_to(path), "symbolic links"),
        (Path.mkdir, "it is a folder"),
    ],
)
def test_what_is_no_store_is_refused_without_a_trace(
    tmp_path: Path, make: Callable[[Path], object], message: str
) -> None:
    path = tmp_path / "run.db"
    make(path)
    before = path.read_bytes() if path.is_file() else b""
    with pytest.raises(InputError, match=f"run.db.* {message}"):
        Store(path)
    assert before == (path.read_bytes() if path.is_file() else b"")
    assert [each.name for each in tmp_path.iterdir()] == ["run.db"]


def test_names_that_sqlite_would_take_for_something_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in (":memory:", "file:run.db?mode=memory", "link.db"):
        (tmp_path / "link.db").symlink_to("real.db") if name == "link.db" else None
        Store(name).close()
        assert (tmp_path / name).is_file()
    assert (tmp_path / "real.db").is_file()
    with pytest.raises(InputError, match="null"):
        Store("a\0b")
