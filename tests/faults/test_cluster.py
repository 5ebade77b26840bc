"""A Dask cluster on this machine: the same numbers as at home, though a worker is killed, and clear words otherwise."""

from __future__ import annotations

import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpcurves import OU, RBF, InputError, LearningCurve, NumericalError, Problem, Torus, learning_curve
from gpcurves.montecarlo import workers
from gpcurves.numerics.validation import FloatArray

pytestmark = pytest.mark.slow  # schedulers and workers are processes of their own
PROBLEM = Problem(RBF(0.1), Torus(2), 0.05)
DASK = [sys.executable, "-m", "dask"]


class Slow:
    """Numbers that take a while, so that there is a middle."""

    def __call__(self, task: int) -> FloatArray:
        time.sleep(0.05)
        return np.array([float(task), float(os.getpid())])


class Cluster:
    """A scheduler and its workers, as processes of their own."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "scheduler.json"
        self.processes: list[subprocess.Popen[bytes]] = []
        self._start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        deadline = time.monotonic() + 60
        while not (self.file.exists() and self.file.stat().st_size) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.address = str(json.loads(self.file.read_text())["address"])

    def _start(self, *words: str) -> subprocess.Popen[bytes]:
        command = [*DASK, *words, "--scheduler-file", str(self.file)]
        here = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])  # for this module
        environment = {**os.environ, "PYTHONPATH": here.strip(os.pathsep)}
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
        self.processes.append(process)
        return process

    def add_worker(self, threads: int = 1) -> subprocess.Popen[bytes]:
        return self._start(
            "worker",
            *("--nworkers", "1", "--nthreads", str(threads), "--no-dashboard", "--no-nanny"),
            *("--death-timeout", "15", "--local-directory", str(self.file.parent)),
        )

    def wait_for(self, count: int) -> None:
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(count, timeout=60)

    def stop(self) -> None:
        for process in reversed(self.processes):
            if process.poll() is None:
                process.terminate()
        for process in self.processes:
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@contextmanager
def running(folder: Path) -> Iterator[Cluster]:
    cluster = Cluster(folder)
    try:
        yield cluster
    finally:
        cluster.stop()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with running(tmp_path_factory.mktemp("cluster")) as started:
        yield started


def simulate(address: int | str, **options: Any) -> LearningCurve:
    return learning_curve(PROBLEM, "simulation", [0, 20, 200], datasets=25, rng=5, workers=address, **options)


def test_a_scheduler_without_workers_is_an_error_in_words(cluster: Cluster) -> None:
    with pytest.raises(NumericalError, match=f"the Dask scheduler at {cluster.address} has no workers: start some"):
        list(workers.execute(Slow(), range(200), cluster.address, timeout=3.0))


def test_a_cluster_gives_the_numbers_of_this_process_though_a_worker_dies(cluster: Cluster, tmp_path: Path) -> None:
    first, _ = cluster.add_worker(), cluster.add_worker()
    cluster.wait_for(2)
    here = simulate(1)
    assert simulate(cluster.address).to_json() == here.to_json()
    assert simulate(f" {cluster.address} ", store=tmp_path / "results.db").to_json() == here.to_json()
    assert simulate(1, store=tmp_path / "results.db").to_json() == here.to_json()

    # a longer simulation, one of the workers killed in the middle of it
    store = tmp_path / "longer.db"
    killed_after: list[int] = []

    def kill_in_the_middle() -> None:
        while not killed_after:
            time.sleep(0.05)
            if (finished := rows_in(store)) >= 10:
                os.kill(first.pid, signal.SIGKILL)
                killed_after.append(finished)

    watcher = threading.Thread(target=kill_in_the_middle, daemon=True)
    watcher.start()
    survived = longer(cluster.address, store=store)
    watcher.join(20)
    assert first.wait() == -signal.SIGKILL
    assert killed_after[0] < 110  # there was work left
    assert survived.to_json() == longer(1).to_json()
    assert simulate(cluster.address).to_json() == here.to_json()  # the other one goes on


def longer(address: int | str, **options: Any) -> LearningCurve:
    problem = Problem(OU(0.1), Torus(2), 0.05)
    return learning_curve(problem, "simulation", [0, 150], datasets=150, rng=7, workers=address, **options)


def rows_in(store: Path) -> int:
    """Count the finished data sets in a store, without touching it."""
    if not store.exists():
        return 0
    with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as connection:
        try:
            return int(connection.execute("SELECT count(*) FROM results").fetchone()[0])
        except sqlite3.OperationalError:  # not yet made, or busy
            return 0


def test_when_all_workers_or_the_scheduler_are_gone_it_says_so(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with running(tmp_path) as doomed:
        worker = doomed.add_worker()
        doomed.wait_for(1)
        finished = workers.execute(Slow(), range(200), doomed.address, timeout=5.0)
        assert next(finished)
        worker.kill()
        with pytest.raises(NumericalError, match=r"all workers of .* have stopped: start some and run again"):
            list(finished)
        doomed.add_worker()
        doomed.wait_for(1)
        finished = workers.execute(Slow(), range(200), doomed.address, timeout=5.0)
        assert next(finished)
        doomed.processes[0].kill()
        with pytest.raises(NumericalError, match=r"the Dask scheduler at .* has stopped"):
            list(finished)
    assert capfd.readouterr().err == ""  # the error says it all: Dask would log tracebacks


def test_a_listener_that_says_nothing_is_given_up() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        start = time.monotonic()
        with pytest.raises(InputError, match=f"no Dask scheduler answers at {address}: no answer within 1 s"):
            list(workers.execute(Slow(), range(200), address, timeout=3.0))
        assert time.monotonic() - start < 20


def test_an_address_where_nobody_answers_is_an_error_in_words() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        with pytest.raises(InputError, match=f"no Dask scheduler answers at {address}"):
            list(workers.execute(Slow(), range(200), address, timeout=1.5))


@pytest.mark.parametrize("address", ["localhost:8786", "here", "tcp", "tcp://"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(InputError, match="workers must be an integer or an address like tcp://"):
        simulate(address)


def test_threads_of_one_worker_do_not_get_in_each_others_way(tmp_path: Path) -> None:
    # dask gives a worker several threads unless told otherwise; linear algebra still uses one for each task
    with running(tmp_path) as shared:
        shared.add_worker(threads=2)
        shared.wait_for(1)
        assert simulate(shared.address).to_json() == simulate(1).to_json()
        limits = [int(row[0]) for batch in workers.execute(Threads(), range(14), shared.address) for _, row in batch]
    assert set(limits) == {1}


class Threads:
    """How many threads linear algebra may use while a task runs."""

    def __call__(self, task: int) -> FloatArray:
        from threadpoolctl import threadpool_info

        most = 0
        for _ in range(2):
            time.sleep(0.003 * (1 + task % 7))
            most = max(most, *(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"))
        return np.array([float(most), float(threading.get_ident() % 1000)])
