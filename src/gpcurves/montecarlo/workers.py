"""Who does the work: this process, several local ones, or a Dask cluster.

Every worker holds its linear algebra to one thread. That is faster for many small tasks, and it makes results the same
to the last bit whoever computed them, on machines of one kind.
"""

from __future__ import annotations

import logging
import math
import numbers
import re
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice
from typing import Any

from gpcurves.errors import InputError, NumericalError
from gpcurves.numerics.memory import check_memory
from gpcurves.numerics.validation import FloatArray

Batch = list[tuple[int, FloatArray]]
Function = Callable[[int], FloatArray]

_LARGEST_BATCH = 16
_ATTEMPTS = 3
_AHEAD = 1_000  # batches that a cluster holds at a time
_PER_PROCESS = 1e8  # bytes that a local worker takes before it does anything
NUMBER = re.compile(r"-?[0-9]{1,15}")
_SCHEMES = ("tcp", "tls", "ws", "wss")


def execute(function: Function, tasks: Collection[int], workers: int | str, timeout: float = 30.0) -> Iterator[Batch]:
    """Do all tasks and yield them in batches as they are finished, in any order.

    A cluster may be without workers for ``timeout`` seconds, and its scheduler must answer within a third of that.
    """
    if not tasks:
        return
    count = check_workers(workers)
    if isinstance(count, str):
        yield from _cluster(function, tasks, count, timeout)
    elif count == 1 or len(tasks) == 1:
        for batch in _batches(tasks, len(tasks), 1):
            yield _do(function, batch)
    else:
        count = min(count, len(tasks))
        check_memory(_PER_PROCESS * count, f"running {count:,} local workers", "ask for fewer workers")
        yield from _processes(function, tasks, count)


def check_workers(workers: int | str) -> int | str:
    """Return the number of local processes, or the address of a scheduler."""
    if isinstance(workers, str) and not NUMBER.fullmatch(workers.strip()):
        scheme, _, place = workers.strip().partition("://")
        if scheme not in _SCHEMES or not place:
            raise InputError(f"workers must be an integer or an address like tcp://127.0.0.1:8786, got {workers!r}")
        return workers.strip()
    if isinstance(workers, bool) or not isinstance(workers, str | numbers.Integral):
        raise InputError(f"workers must be an integer or the address of a Dask scheduler, got {workers!r}")
    if int(workers) < 1:
        raise InputError(f"workers must be at least 1, got {int(workers)}")
    return int(workers)


_one_at_a_time = threading.Lock()
"""A Dask worker may have several threads, but threads of one process get in each other's way in linear algebra."""


def _do(function: Function, tasks: Sequence[int]) -> Batch:
    import scipy.linalg  # noqa: F401  (its BLAS must be loaded before the limit: what is loaded later has none)
    from threadpoolctl import threadpool_limits

    with _one_at_a_time, threadpool_limits(1):
        return [(task, function(task)) for task in tasks]


def _batches(tasks: Iterable[int], left: int, workers: int) -> Iterator[list[int]]:
    """Cut tasks into batches when they are asked for, small ones first so that there is something to see early on."""
    tasks = iter(tasks)
    size, number = 1, 0
    while batch := list(islice(tasks, min(size, math.ceil(left / workers)))):
        yield batch
        left, number = left - len(batch), number + 1
        if size < _LARGEST_BATCH and number % (2 * workers) == 0:
            size *= 2


def _processes(function: Function, tasks: Collection[int], workers: int) -> Iterator[Batch]:
    """Use local processes; tasks of a process that was killed are done again, a few times."""
    from joblib import Parallel, delayed
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    finished: set[int] = set()
    for attempt in range(_ATTEMPTS):
        missing = (task for task in tasks if task not in finished)
        parts = _batches(missing, len(tasks) - len(finished), workers)
        pool = Parallel(n_jobs=workers, return_as="generator_unordered", max_nbytes=None)
        try:
            for batch in pool(delayed(_do)(function, part) for part in parts):
                finished.update(task for task, _ in batch)
                yield batch
            return
        except TerminatedWorkerError as error:
            if attempt + 1 == _ATTEMPTS:
                raise NumericalError(
                    f"local workers were killed {_ATTEMPTS} times, probably because memory ran out: use fewer workers"
                ) from error


def _cluster(function: Function, tasks: Collection[int], address: str, timeout: float) -> Iterator[Batch]:
    """Use a running Dask scheduler; a killed worker's tasks move to the others."""
    try:
        from distributed import Client, KilledWorker
    except ImportError as error:
        raise InputError("a Dask scheduler needs the extra: pip install 'gpcurves[cluster]'") from error
    with _quiet_loggers("distributed", "tornado", "asyncio"):
        try:
            _count_workers(address, timeout / 3)
            client = Client(address, timeout=timeout / 3, set_as_default=False)
        except (OSError, ValueError) as error:
            reason = str(error) or f"no answer within {timeout / 3:.0f} s"
            raise InputError(f"no Dask scheduler answers at {address}: {reason}") from error
        try:
            try:
                client.wait_for_workers(1, timeout=timeout)
            except TimeoutError as error:
                raise NumericalError(
                    f"the Dask scheduler at {address} has no workers: start some and run again"
                ) from error
            batches = _batches(tasks, len(tasks), max(1, _count_workers(address, timeout)))
            futures = (client.submit(_do, function, batch, pure=False, retries=2) for batch in batches)
            try:
                yield from _gather(client, futures, address, timeout)
            except KilledWorker as error:
                raise NumericalError(
                    f"workers of {address} died while working, probably because memory ran out"
                ) from error
            except TimeoutError as error:
                raise _gone(address) from error
        finally:
            client.close(timeout=timeout / 15)  # a scheduler that is gone does not answer to this either


def _gather(client: Any, futures: Iterator[Any], address: str, timeout: float) -> Iterator[Batch]:
    """Yield results as they arrive, and submit more; give up if no worker has been left for ``timeout`` seconds."""
    from concurrent.futures import CancelledError

    from distributed import wait

    pending: set[Any] = set()
    interval, without_workers = timeout / 15, 0.0  # seconds
    while True:
        pending.update(islice(futures, _AHEAD - len(pending)))
        if not pending:
            return
        try:
            with client.as_current():
                finished = wait(pending, timeout=interval, return_when="FIRST_COMPLETED").done
        except TimeoutError:
            finished = set()
        except CancelledError as error:
            raise _gone(address) from error
        pending -= finished
        try:
            batches = [future.result() for future in finished]
            abandoned = not finished and _count_workers(address, timeout) == 0
        except (CancelledError, OSError) as error:
            raise _gone(address) from error
        yield from batches
        without_workers = without_workers + interval if abandoned else 0.0
        if without_workers >= timeout:
            raise NumericalError(f"all workers of {address} have stopped: start some and run again")


@contextmanager
def _quiet_loggers(*packages: str) -> Iterator[None]:
    """Keep packages from logging: what goes wrong with a cluster is raised as one sentence instead."""
    names = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] in packages]
    loggers = [each for name in (*packages, *names) if not (each := logging.getLogger(name)).disabled]
    for each in loggers:
        each.disabled = True
    try:
        yield
    finally:
        for each in loggers:
            each.disabled = False


def _count_workers(address: str, timeout: float) -> int:
    """Return how many workers a scheduler has; raises an OSError, such as TimeoutError, if it does not answer in time.

    A client of Dask would wait without end for a scheduler that accepts connections and says nothing.
    """
    import asyncio

    from distributed.core import rpc
    from distributed.security import Security

    async def ask() -> int:
        async with rpc(address, connection_args=Security().get_connection_args("client")) as scheduler:
            return len((await scheduler.identity(n_workers=-1))["workers"])

    def wait_for_answer() -> int:
        return asyncio.run(asyncio.wait_for(ask(), timeout))

    with ThreadPoolExecutor(1) as thread:  # this thread may run an event loop already, as it does in a notebook
        return thread.submit(wait_for_answer).result()


def _gone(address: str) -> NumericalError:
    return NumericalError(f"the Dask scheduler at {address} has stopped: start it and run again")
