"""The engine: the same numbers whoever computes them, and nothing lost to a full disk, a kill or a Ctrl-C."""

from __future__ import annotations

import math
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from gpcurves import OU, RBF, InputError, LearningCurve, Matern32, NumericalError, Problem, Torus, learning_curve
from gpcurves.inputs import Box
from gpcurves.methods.base import CurveInterrupted
from gpcurves.methods.simulation.dataset import DataSets
from gpcurves.montecarlo import Estimate, Interrupted, Run, Shape, Stop, average, seed_of, stream, workers
from gpcurves.montecarlo.store import Store
from gpcurves.numerics.validation import FloatArray

PROBLEM = Problem(OU(0.3), Torus(1), 0.05)
POINTS = Problem(Matern32(0.3), Box(2), 0.05)
"""Its test inputs are drawn, too."""


Results = Mapping[str, FloatArray | float]


@dataclass(frozen=True)
class Numbers:
    """Three random numbers per task; each task done leaves a file, and some tasks kill the process that does them."""

    folder: Path
    deadly: tuple[int, ...] = ()
    times: int = 1

    key: ClassVar[Mapping[str, Any]] = {"name": "numbers"}
    fields: ClassVar[Mapping[str, Shape]] = {"one": (), "two": (2,)}

    def draw(self, task: int) -> Results:
        deaths = list(self.folder.glob(f"death-{task}-*"))
        if task in self.deadly and len(deaths) < self.times:
            (self.folder / f"death-{task}-{len(deaths)}").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        (self.folder / f"task-{task}-{time.time_ns()}").touch()
        numbers = stream(7, task).random(3)
        return {"two": numbers[1:], "one": float(numbers[0])}  # in another order than the fields

    def done(self) -> list[int]:
        return sorted(int(path.name.split("-")[1]) for path in self.folder.glob("task-*"))


def expected(count: int) -> FloatArray:
    return np.array([stream(7, task).random(3) for task in range(count)])


def repeat(experiment: Numbers, count: int, **settings: Any) -> FloatArray:
    """Return the numbers of all tasks, a row for each."""
    values = average(experiment, Run(**settings), Stop(count, count)).values
    return np.column_stack((values["one"], values["two"]))


@dataclass(frozen=True)
class Measured:
    """Errors at two sizes that agree in all tasks, and that each task says it knows only so well; and random numbers."""

    own: float = 0.0
    stopped: int | None = None

    key: ClassVar[Mapping[str, Any]] = {"name": "measured"}
    fields: ClassVar[Mapping[str, Shape]] = {"error": (2,), "error_stderr": (2,), "matrix": (2, 3), "number": ()}

    def draw(self, task: int) -> Results:
        if task == self.stopped:
            raise KeyboardInterrupt
        rng = stream(7, task)
        told = {"error": np.array([0.1, 0.7]), "error_stderr": np.array([0.1 * self.own, 0.0])}
        return {**told, "matrix": rng.random((2, 3)), "number": rng.random()}


def drawn(count: int) -> tuple[FloatArray, FloatArray]:
    """Return the matrices and the numbers of the first tasks, by hand."""
    streams = [stream(7, task) for task in range(count)]
    return np.array([rng.random((2, 3)) for rng in streams]), np.array([rng.random() for rng in streams])


def same(one: LearningCurve, other: LearningCurve) -> bool:
    return one.to_json() == other.to_json()


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The data sets that are computed in this process, as they are."""
    tasks: list[int] = []
    original = DataSets.draw

    def counting(self: DataSets, task: int) -> Results:
        tasks.append(task)
        return original(self, task)

    monkeypatch.setattr(DataSets, "draw", counting)
    return tasks


# --- the same numbers ------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "problem", [PROBLEM, pytest.param(POINTS, marks=pytest.mark.slow)], ids=["closed form", "test points"]
)
def test_workers_and_batches_change_no_bit(problem: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    options: dict[str, Any] = {"datasets": 30, "rng": 5, "also": ["training"], "test_points": 50}
    alone = learning_curve(problem, "simulation", [0, 1, 20, 150], **options)
    for count in (2, 3, "2"):
        assert same(alone, learning_curve(problem, "simulation", [0, 1, 20, 150], **options, workers=count))
    for size in (1, 7, 30):
        monkeypatch.setattr(
            workers, "_batches", lambda tasks, *_, k=size: [list(tasks)[i : i + k] for i in range(0, 30, k)]
        )
        assert same(alone, learning_curve(problem, "simulation", [0, 1, 20, 150], **options))


@pytest.mark.slow
def test_every_data_set_has_its_own_stream_whatever_the_number_of_them(tmp_path: Path) -> None:
    few, many = repeat(Numbers(tmp_path), 3), repeat(Numbers(tmp_path), 40, workers=2)
    np.testing.assert_array_equal(few, expected(3))
    np.testing.assert_array_equal(many, expected(40))
    assert len(np.unique(many)) == many.size


def test_a_rule_decides_how_many_and_not_who_was_faster() -> None:
    # a precision of 0.1 takes 20 tasks: after 4, nine tenths of these are tried, and after 18 half as many again
    work = Measured(0.1 * math.sqrt(19.9))
    one, two = (average(work, Run(workers=count), Stop(4, 1_000, 0.1)) for count in (1, 2))
    assert one.count == two.count == 27
    for name in work.fields:
        np.testing.assert_array_equal(one.values[name], two.values[name])
    assert one.precision() == pytest.approx(0.1 * math.sqrt(19.9 / 27))
    assert one.notes("graphs") == []
    # at most eight times as many in one step: 32, then nine tenths of the 99 that it takes, then half as many again
    assert average(Measured(0.1 * math.sqrt(99)), Run(), Stop(4, 1_000, 0.1)).count == 135
    limited = average(work, Run(), Stop(4, 11, 0.1))
    assert limited.count == 11
    assert limited.notes("graphs") == ["a precision of 0.13 was reached with 11 graphs, not 0.1"]
    assert average(work, Run(), Stop(4, 11, 0.3)).count == 4  # precise enough
    assert average(work, Run(), Stop(4, 11)).count == 4  # no goal
    assert average(work, Run(), Stop(4, 11)).notes("graphs") == []


# --- the one average -------------------------------------------------------------------------------------------------


def test_fields_are_averaged_by_name() -> None:
    estimate = average(Measured(), Run(), Stop(9, 9))
    matrices, numbers = drawn(9)
    assert list(estimate.values) == ["error", "error_stderr", "matrix", "number"]
    assert (estimate.count, estimate.interrupted) == (9, False)
    np.testing.assert_array_equal(estimate.values["matrix"], matrices)
    np.testing.assert_array_equal(estimate.values["number"], numbers)
    np.testing.assert_allclose(estimate.mean("matrix"), matrices.mean(axis=0), rtol=1e-14)
    np.testing.assert_allclose(estimate.mean("number"), numbers.mean(), rtol=1e-14)
    np.testing.assert_allclose(estimate.stderr("matrix"), matrices.std(axis=0, ddof=1) / 3, rtol=1e-13)
    assert estimate.stderr("number") == pytest.approx(np.std(numbers, ddof=1) / 3, rel=1e-13)
    for share in (0.05, 0.5, 0.75):
        np.testing.assert_array_equal(estimate.quantile("matrix", share), np.quantile(matrices, share, axis=0))
    # tasks that agree leave no rounding error, which the plain mean of nine times 0.1 does
    assert estimate.mean("error").tolist() == [0.1, 0.7]
    assert estimate.stderr("error").tolist() == [0.0, 0.0]
    with pytest.raises(TypeError, match="does not support item assignment"):
        estimate.values["matrix"] = matrices  # type: ignore[index]


def test_one_task_is_as_sure_as_it_says() -> None:
    for own in (0.0, 0.3):
        estimate = average(Measured(own), Run(), Stop(1, 1))
        assert estimate.count == 1
        assert estimate.mean("error").tolist() == [0.1, 0.7]
        np.testing.assert_allclose(estimate.stderr("error"), [0.1 * own, 0.0], rtol=1e-14)
        assert estimate.precision() == pytest.approx(own)
        np.testing.assert_array_equal(estimate.mean("matrix"), drawn(1)[0][0])
        np.testing.assert_array_equal(estimate.quantile("matrix", 0.05), drawn(1)[0][0])


def test_standard_errors_are_the_larger_of_what_tasks_say_and_of_how_they_differ() -> None:
    errors, own = np.array([[1.0, 1.0], [2.0, 1.0], [4.0, 1.0]]), np.array([[0.1, 0.1], [0.2, 0.2], [0.3, 0.2]])
    estimate = Estimate({"error": errors, "error_stderr": own, "other": errors}, Stop(3, 3))
    between = float(np.std([1.0, 2.0, 4.0], ddof=1)) / math.sqrt(3)
    np.testing.assert_allclose(estimate.stderr("error"), [between, math.sqrt(0.01 + 0.04 + 0.04) / 3], rtol=1e-14)
    np.testing.assert_allclose(estimate.stderr("other"), [between, 0.0], rtol=1e-14)
    assert estimate.precision() == pytest.approx(between / (7 / 3))


def test_precision_is_that_of_what_is_known() -> None:
    errors = np.array([[1.0, 0.0, np.nan], [1.2, 0.0, 1.0]])  # an error of zero is exact
    estimate = Estimate({"error": errors}, Stop(2, 2))
    assert estimate.precision() == pytest.approx(0.1 / 1.1)
    assert Estimate({"error": errors[:, 1:]}, Stop(2, 2)).precision() == 0


def test_a_precision_that_is_never_reached_ends_with_what_there_is() -> None:
    assert average(Measured(own=0.5), Run(rng=0), Stop(2, 7, precision=1e-300)).count == 7


@pytest.mark.parametrize("count", [0, 1, 5])
def test_an_interrupted_average_carries_what_there_is(count: int, tmp_path: Path) -> None:
    store = tmp_path / "results.db"
    with pytest.raises(Interrupted) as stopped:
        average(Measured(stopped=count), Run(store=store), Stop(20, 20))
    estimate = stopped.value.estimate
    assert isinstance(stopped.value, KeyboardInterrupt)
    assert estimate.interrupted
    assert estimate.count == _rows(store) <= count  # whole batches
    assert estimate.notes("graphs") == [f"interrupted after {estimate.count} graphs"]
    matrices, numbers = drawn(estimate.count)
    np.testing.assert_array_equal(estimate.values["matrix"], matrices.reshape(-1, 2, 3))
    np.testing.assert_array_equal(estimate.values["number"], numbers)
    resumed = average(Measured(), Run(store=store), Stop(20, 20))
    np.testing.assert_array_equal(resumed.values["matrix"], drawn(20)[0])


def test_seeds() -> None:
    def error(rng: Any) -> float:
        return float(learning_curve(PROBLEM, "simulation", [5], datasets=3, rng=rng).error[0])

    assert error(3) == error(np.int64(3)) != error(4)
    sequence = np.random.SeedSequence(3)
    assert error(sequence) == error(np.random.SeedSequence(3)) != error(3)
    assert error(sequence.spawn(1)[0]) != error(sequence)
    generator = np.random.default_rng(3)
    first = error(generator)
    assert first == error(np.random.default_rng(3))
    assert first != error(generator)  # it goes on
    unseeded = learning_curve(PROBLEM, "simulation", [5], datasets=3)
    assert unseeded.rng is not None
    assert error(unseeded.rng) == unseeded.error[0] != learning_curve(PROBLEM, "simulation", [5], datasets=3).error[0]


@pytest.mark.parametrize("rng", [-1, 1.5, True, "3"])
def test_what_is_no_seed_is_refused(rng: Any) -> None:
    with pytest.raises(InputError, match="rng must be an integer at least 0, a SeedSequence, a Generator or None"):
        seed_of(rng)


# --- the store -------------------------------------------------------------------------------------------------------


def test_a_store_changes_nothing_and_spares_everything(tmp_path: Path, counted: list[int]) -> None:
    without = learning_curve(PROBLEM, "simulation", [1, 8], datasets=20, rng=5)
    counted.clear()
    store = tmp_path / "results.db"
    first = learning_curve(PROBLEM, "simulation", [1, 8], datasets=12, rng=5, store=store)
    assert counted == list(range(12))
    counted.clear()
    second = learning_curve(PROBLEM, "simulation", [1, 8], datasets=20, rng=5, store=str(store))
    assert counted == list(range(12, 20))
    counted.clear()
    third = learning_curve(PROBLEM, "simulation", [1, 8], datasets=20, rng=5, store=store, workers=2)
    again = learning_curve(PROBLEM, "simulation", [1, 8], datasets=12, rng=5, store=store)
    assert counted == []
    assert same(without, second)
    assert same(without, third)
    assert same(first, again)


def test_other_settings_are_not_mixed_in(tmp_path: Path, counted: list[int]) -> None:
    def simulate(problem: Problem = POINTS, n: tuple[int, ...] = (1, 8), **options: Any) -> LearningCurve:
        given = {"datasets": 3, "rng": 5, "test_points": 20, **options}
        return learning_curve(problem, "simulation", n, **given)

    variants: list[dict[str, Any]] = [
        {},
        {"rng": 6},
        {"n": (1, 9)},
        {"n": (8, 1)},
        {"test_points": 21},
        {"also": ["training"]},
        {"also": ["empirical"]},
        {"problem": Problem(Matern32(0.3), Box(2), 0.06)},
        {"problem": Problem(Matern32(0.31), Box(2), 0.05)},
        {"problem": Problem(Matern32(0.3), Torus(2), 0.05)},
    ]
    store = tmp_path / "results.db"
    for variant in variants:
        counted.clear()
        kept = simulate(**variant, store=store)
        assert counted == [0, 1, 2], variant
        assert same(kept, simulate(**variant))
    counted.clear()
    for variant in variants:
        simulate(**variant, store=store)
    assert counted == []


def test_two_connections_share_a_store_while_both_are_open(tmp_path: Path) -> None:
    path, rows = tmp_path / "results.db", expected(4)
    with Store(path) as one, Store(path) as two:
        one.add({"a": 1}, [(0, rows[0]), (1, rows[1])])
        two.add({"a": 1}, [(1, rows[1]), (2, rows[2])])
        two.add({"a": 2}, [(0, rows[3])])
        for store in (one, two):
            found = store.load({"a": 1}, 3)[0]
            np.testing.assert_array_equal([found[task] for task in (0, 1, 2)], rows[:3])
            assert len(found) == 3
            assert store.load({"a": 1}, 4) == ({}, [0, 1, 2])  # of another shape


@pytest.mark.parametrize("attempt", range(8))  # each fails in two of three if nobody waits for the write-ahead log
def test_many_open_a_new_store_at_once(tmp_path: Path, attempt: int) -> None:
    path, failures = tmp_path / f"{attempt}.db", []
    barrier = threading.Barrier(16)

    def write(task: int) -> None:
        barrier.wait()
        try:
            with Store(path) as store:
                store.add({}, [(task, np.full(3, float(task)))])
        except InputError as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=(task,)) for task in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    with Store(path) as store:
        assert sorted(store.load({}, 3)[0]) == list(range(16))


def _text(path: Path) -> None:
    path.write_text("n,error\n1,0.5\n")


def _other_database(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE results (key TEXT)")
        connection.commit()


def _newer_store(path: Path) -> None:
    Store(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version=3")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


@pytest.mark.parametrize(
    ("make", "message"),
    [(_text, "is not a store"), (_other_database, "is not a store"), (_newer_store, "a store of version 3")],
)
def test_a_file_that_is_not_a_store_is_refused_and_left_as_it_is(
    tmp_path: Path, make: Callable[[Path], None], message: str
) -> None:
    path = tmp_path / "precious.db"
    make(path)
    before = path.read_bytes()
    with pytest.raises(InputError, match=message):
        learning_curve(PROBLEM, "simulation", [1], datasets=2, rng=5, store=path)
    assert path.read_bytes() == before
    assert [other.name for other in tmp_path.iterdir() if other.stat().st_size] == ["precious.db"]


def test_folders_are_no_stores_and_an_empty_file_may_become_one(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="it is a folder"):
        Store(tmp_path)
    with pytest.raises(InputError, match=r"the folder .* does not exist"):
        Store(tmp_path / "missing" / "results.db")
    (tmp_path / "empty.db").touch()
    with Store(tmp_path / "empty.db") as store:
        store.add({}, [(0, np.ones(3))])
    with Store(tmp_path / "empty.db") as store:
        assert len(store.load({}, 3)[0]) == 1


@pytest.mark.parametrize("damage", ["truncated", "overwritten"])
def test_a_damaged_store_is_an_error_in_words(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "results.db"
    with Store(path) as store:
        store.add({"a": 1}, [(task, np.random.default_rng(task).random(200)) for task in range(300)])
    content = path.read_bytes()
    assert len(content) > 100_000
    if damage == "truncated":
        path.write_bytes(content[:20_000])
    else:
        path.write_bytes(content[:4096] + b"\xa5" * (len(content) - 4096))
    with pytest.raises(InputError, match=r"the store .* is damaged \(.*\): delete it"), Store(path) as store:
        store.load({"a": 1}, 200)


def test_a_full_disk_keeps_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "results.db"
    with Store(path) as store:
        store.add({"a": 1}, [(0, np.ones(100))])
    original = Store._prepare

    def on_a_small_disk(self: Store) -> None:
        original(self)
        self._connection.execute("PRAGMA max_page_count=12")

    monkeypatch.setattr(Store, "_prepare", on_a_small_disk)
    with Store(path) as store:
        with pytest.raises(InputError, match=r"as a store: database or disk is full"):
            store.add({"a": 1}, [(task, np.ones(100)) for task in range(1, 200)])
        assert sorted(store.load({"a": 1}, 100)[0]) == [0]  # all of a batch or nothing
        store.add({"a": 1}, [(1, np.ones(100))])
    with Store(path) as store:
        assert sorted(store.load({"a": 1}, 100)[0]) == [0, 1]


# --- killed, interrupted ---------------------------------------------------------------------------------------------

LONG = """
import sys
from gpcurves import RBF, Problem, Torus, learning_curve
problem = Problem(RBF(0.1), Torus(2), 0.05)
learning_curve(problem, "simulation", [0, 50, 500], datasets=64, rng=int(sys.argv[2]), store=sys.argv[1])
"""
LONG_PROBLEM = Problem(RBF(0.1), Torus(2), 0.05)


def _start(store: Path, seed: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-W", "error", "-c", LONG, str(store), str(seed)], stderr=subprocess.PIPE)


def _rows(store: Path) -> int:
    try:
        with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as connection:
            return int(connection.execute("SELECT count(*) FROM results").fetchone()[0])
    except sqlite3.Error:  # not there yet
        return 0


@pytest.mark.slow
def test_what_was_finished_survives_a_kill(tmp_path: Path, counted: list[int]) -> None:
    store = tmp_path / "results.db"
    process = _start(store, 5)
    deadline = time.monotonic() + 90
    while _rows(store) < 8 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    process.kill()
    assert process.communicate()[1] == b""
    assert process.returncode == -signal.SIGKILL  # it was in the middle
    resumed = learning_curve(LONG_PROBLEM, "simulation", [0, 50, 500], datasets=64, rng=5, store=store)
    assert 0 < len(counted) <= 56
    assert counted == list(range(64 - len(counted), 64))
    assert same(resumed, learning_curve(LONG_PROBLEM, "simulation", [0, 50, 500], datasets=64, rng=5))


@pytest.mark.slow
def test_two_processes_share_a_store(tmp_path: Path, counted: list[int]) -> None:
    store = tmp_path / "results.db"
    for process in [_start(store, seed) for seed in (5, 6)]:
        assert process.communicate()[1] == b""
        assert process.returncode == 0
    for seed in (5, 6):
        learning_curve(LONG_PROBLEM, "simulation", [0, 50, 500], datasets=64, rng=seed, store=store)
    assert counted == []


@pytest.mark.slow
def test_a_killed_worker_is_survived(tmp_path: Path) -> None:
    work = Numbers(tmp_path, deadly=(11,))
    np.testing.assert_array_equal(repeat(work, 40, workers=2), expected(40))
    assert (tmp_path / "death-11-0").exists()
    assert set(work.done()) == set(range(40))


@pytest.mark.slow
def test_a_worker_that_is_always_killed_is_an_error_in_words(tmp_path: Path) -> None:
    with pytest.raises(NumericalError, match="local workers were killed 3 times, probably because memory ran out"):
        repeat(Numbers(tmp_path, deadly=(11,), times=99), 40, workers=2)


def test_an_interrupted_run_carries_what_there_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = tmp_path / "results.db"
    original = DataSets.draw

    def until(self: DataSets, task: int) -> Results:
        if task == 13:
            raise KeyboardInterrupt
        return original(self, task)

    monkeypatch.setattr(DataSets, "draw", until)
    with pytest.raises(CurveInterrupted) as stopped:
        learning_curve(PROBLEM, "simulation", [1, 8], datasets=40, rng=5, store=store)
    monkeypatch.undo()
    curve, kept = stopped.value.curve, _rows(store)
    assert 2 <= kept <= 13  # whole batches
    assert curve.notes[0] == f"interrupted after {kept} data sets"
    assert curve.diagnostics["drawn"] == kept
    complete = learning_curve(PROBLEM, "simulation", [1, 8], datasets=kept, rng=5)
    np.testing.assert_array_equal(curve.error, complete.error)
    np.testing.assert_array_equal(curve.stderr, complete.stderr)
    assert isinstance(stopped.value, KeyboardInterrupt)


def test_an_interrupted_run_without_results_is_just_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> Results:
        raise KeyboardInterrupt

    monkeypatch.setattr(DataSets, "draw", stop)
    with pytest.raises(Interrupted) as stopped:
        learning_curve(PROBLEM, "simulation", [1, 8], datasets=40, rng=5)
    assert stopped.value.estimate.values["error"].shape == (0, 2)


# --- what cannot be done ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [0, -1, "0", "-1", "abc", True, 2.0, None])
def test_workers_that_are_none_are_refused(count: Any) -> None:
    with pytest.raises(InputError, match="workers must be"):
        learning_curve(PROBLEM, "simulation", [1], datasets=4, rng=5, workers=count)


def test_too_many_examples_say_how_much_memory_they_would_need() -> None:
    with pytest.raises(InputError, match=r"n = 3000000 .*needs about \d{6} GB of memory.*, this machine has"):
        learning_curve(PROBLEM, "simulation", [10, 3_000_000], rng=5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"datasets": 1}, "datasets must be an integer, at least 2, got 1"),
        ({"test_points": 0}, "test_points must be an integer, at least 1, got 0"),
        ({"test_points": "5"}, "test_points must be a number, got '5'"),
        ({"precision": 0}, "precision must be greater than 0, got 0"),
        ({"also": ["trainign"]}, "did you mean 'training'"),
    ],
)
def test_options_outside_what_they_may_be_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        learning_curve(PROBLEM, "simulation", [1], rng=5, **options)


LARGE = """
from pathlib import Path
from gpcurves import RBF, Problem, Torus, learning_curve
curve = learning_curve(Problem(RBF(0.05), Torus(2), 0.05), "simulation", [3000], datasets=2, rng=1)
assert 0 < curve.error[0] < 0.05
print(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells how much memory a process has held")
def test_three_matrices_of_three_thousand_examples_are_all_that_memory_must_hold() -> None:
    done = subprocess.run([sys.executable, "-c", LARGE], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert 2e8 < int(done.stdout) * 1024 < 4.2e8  # 2.2e8 for three matrices, 1e8 for Python and its libraries


THREADS = """
from gpcurves import RBF, Problem, Torus, learning_curve
print(*learning_curve(Problem(RBF(0.1), Torus(2), 0.05), "simulation", [300, 500], datasets=2, rng=5).error.tolist())
"""


@pytest.mark.slow
def test_numbers_do_not_depend_on_threads_even_in_a_new_process() -> None:
    """The BLAS of SciPy is loaded when it is first used; loaded within the limit of one thread, it would have many."""
    found = {
        subprocess.run(
            [sys.executable, "-c", THREADS],
            env=os.environ | {"OPENBLAS_NUM_THREADS": threads},
            capture_output=True,
            check=True,
        ).stdout
        for threads in ("1", "2")
    }
    assert len(found) == 1
