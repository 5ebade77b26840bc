"""A fuzzer of the command line: calls made from a grammar, and what must be true after each of them.

``python tests/fuzzing.py --seed 1 --calls 3000`` makes calls 0 to 2999 of a seed, and fails if one of them

- shows a traceback or a warning of Python, dies, or ends with another code than 0, 1, 2 and 130;
- takes longer than 20 seconds, or more than 2 GB of memory;
- changes an input, leaves half a file or a temporary one, or writes although it fails;
- succeeds with NaN, infinity or a negative error in what it wrote;
- refuses bad input by anything but one sentence (after notes about its files), or says that the fault is its own.

Each failure is printed with its number, and its files are kept: ``--seed S --only K`` makes call K once more. The options of
commands are read from the commands themselves. Every call is a fork of a process that has imported everything already.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import random
import resource
import shutil
import signal
import stat
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from pathlib import Path

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", NUMBA_NUM_THREADS="1")  # before NumPy is imported


import fuzz_files as files
from fuzz_calls import LOAD, RESUMED, Call, Maker
from fuzz_verdict import BYTES, SECONDS, Outcome, judge, snapshot
from gpcurves.cli import _COMMANDS, run

_HARD_LIMIT = 10 << 30  # bytes of addresses: a call that asks for more gets a MemoryError, and the machine lives on
_WARM = [
    "curve --kernel rbf --lengthscale 0.3 --noise 0.1 --n 0,3,9 --simulate 2 --goal 0.1 --out curve.json",
    "curve --kernel rbf --lengthscale 0.3 --noise 0.1 --n 0,3,9 --out curve.html",
    "curve --kernel rbf --lengthscale 0.3 --inputs box --noise 0.1 --n 0,3,9 --out curve.png",
    "graph --ensemble er:3 --noise 0.1 --nu 1 --methods cavity --precision 0.5 --population 50 --max-sweeps 5 -q",
    "graph --edges edges.csv --noise 0.1 --nu 0.5,1 --methods all --datasets 2 --out graph.json",
    "graph --edges edges.csv --noise 0.1 --nu 0.5,1 --methods cavity --replicas 2 --normalise global -q",
    "predict edges.csv --labels labels.csv --out predicted.csv",
    "predict edges.csv --labels labels.csv --kernel diffusion -q",
    "draw edges.csv --noise 0.1 --out drawn.svg",
    "diagnose edges.csv --out diagnosed.json",
    "plan table.csv --target y --draws 2 --report plan.html",
    "plan table.xlsx --target y --draws 2 -q",
    "methods",
    "figures",
]
Rng = random.Random


# The call


def load(source: str, target: str) -> int:
    """Load a saved result, look at it, and save it."""
    from gpcurves import load
    from gpcurves.errors import GPCurvesError

    try:
        result = load(source)
        repr(result)
        shown = result._repr_html_()
        if files.SCRIPT in shown:
            raise AssertionError("a notebook runs what a file holds")
        result.to_frame()
        result.save(target)
    except GPCurvesError as error:
        sys.stderr.write(f"gpcurves: {' '.join(str(error).split())}\n")
        return 2
    return 0


def child(call: Call, folder: Path, streams: Path) -> None:
    """Make the call in this process, which ends with it."""
    code = 99
    try:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (_HARD_LIMIT, _HARD_LIMIT))
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.chdir(folder)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for number, name in ((1, "stdout"), (2, "stderr")):
            path = "/dev/full" if call.stream == "full disk" and number == 1 else streams / name
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), number)
            encoding = "latin-1" if call.stream == "latin-1" else "utf-8"
            errors = "strict" if number == 1 else "backslashreplace"
            closed = call.stream == f"no {name}"
            stream = None if closed else io.TextIOWrapper(io.FileIO(number, "w", closefd=False), encoding, errors)
            setattr(sys, name, stream)
            setattr(sys, f"__{name}__", stream)
        code = load(*call.words[1:]) if call.words[0] == LOAD else run(call.words)
        for opened in (sys.stdout, sys.stderr):
            if opened is not None:
                with contextlib.suppress(OSError):
                    opened.flush()
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else 98
    except BaseException:
        os.write(2, traceback.format_exc().encode(errors="backslashreplace"))
    finally:
        os._exit(code)


def execute(call: Call, folder: Path, streams: Path) -> Outcome:
    """Make a call in a fork, and watch its time and its memory."""
    fifos = [
        os.open(path, os.O_RDONLY | os.O_NONBLOCK) for path in folder.rglob("*") if stat.S_ISFIFO(path.lstat().st_mode)
    ]
    start = time.monotonic()
    process = os.fork()
    if process == 0:
        child(call, folder, streams)
    memory, late, interrupted = 0.0, False, False
    page = os.sysconf("SC_PAGE_SIZE")
    while True:
        found, status, usage = os.wait4(process, os.WNOHANG)
        if found:
            break
        seconds = time.monotonic() - start
        with contextlib.suppress(OSError, IndexError):
            memory = max(memory, page * int(Path(f"/proc/{process}/statm").read_text().split()[1]))
        late = seconds > 2 * SECONDS or _cpu_seconds(process) > SECONDS
        if late or memory > BYTES:
            os.killpg(process, signal.SIGKILL)
            _, status, usage = os.wait4(process, 0)
            break
        if call.interrupt and seconds > 2 and not interrupted:
            interrupted = True
            os.kill(process, signal.SIGINT)
        for fifo in fifos:
            with contextlib.suppress(BlockingIOError):
                os.read(fifo, 1 << 20)
        time.sleep(0.003 if seconds < 0.3 else 0.02)
    for fifo in fifos:
        os.close(fifo)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)  # workers that it left
    text = {
        name: (streams / name).read_bytes().decode(errors="replace")
        for name in ("stdout", "stderr")
        if (streams / name).exists()
    }
    code = os.waitstatus_to_exitcode(status)
    memory = max(memory, 1024.0 * usage.ru_maxrss)
    return Outcome(code, time.monotonic() - start, memory, text.get("stdout", ""), text.get("stderr", ""), late)


def _cpu_seconds(process: int) -> float:
    """Return the time that a process has worked; other work on the machine does not count."""
    with contextlib.suppress(OSError, IndexError):
        words = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
    return 0.0


# The run


def warm_up() -> dict[str, list[bytes]]:
    """Import and compile what commands use, and return results and a store as files to be damaged."""
    rng = Rng(0)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("edges.csv").write_text("1,2\n2,3\n3,1\n3,4\n4,5\n")
        Path("labels.csv").write_text("1,0.5\n4,-1\n2,0.1\n")
        records = files.table(rng)
        while len(records) < 12:
            records = files.table(rng)
        Path("table.csv").write_bytes(files.write_text(records, ",", Rng(1)))
        Path("table.xlsx").write_bytes(files.write_excel(records))
        for words in _WARM:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as said:
                code = run(words.split())
            if code:
                sys.exit(f"gpcurves {words} fails: {said.getvalue()}")
        with contextlib.redirect_stdout(io.StringIO()) as out:
            run([*RESUMED, "run.sqlite"])
        saved = [Path(name).read_bytes() for name in ("curve.json", "graph.json", "plan.json", "diagnosed.json")]
        single = _single_curve()
        return {
            "saved": [*saved, single],
            "store": [Path("run.sqlite").read_bytes()],
            "resumed": [out.getvalue().encode()],
        }


def _single_curve() -> bytes:
    import gpcurves as gpc

    problem = gpc.Problem(gpc.RBF(0.3), gpc.Torus(dim=1), noise=0.1)
    return gpc.learning_curve(problem, "simulation", n=[0, 4], datasets=3, rng=0).to_json().encode()


def attempt(seed: int, number: int, templates: dict[str, list[bytes]], kept: Path) -> tuple[Call, Outcome, list[str]]:
    """Make one call; its folder stays if something is wrong, with the files as they were before."""
    folder, streams = kept / str(number), kept / f"{number}-streams"

    def prepare() -> Call:
        folder.mkdir()
        with contextlib.chdir(folder):
            return Maker(Rng(f"{seed}/{number}"), templates).call()

    call = prepare()
    streams.mkdir()
    before = snapshot(folder)
    outcome = execute(call, folder, streams)
    wrong = list(judge(call, outcome, before, folder))
    shutil.rmtree(folder)
    if wrong:
        prepare()
        (streams / "call").write_text(f"{call}\n" + "\n".join(wrong), errors="backslashreplace")
    else:
        shutil.rmtree(streams)
    return call, outcome, wrong


def work(parent: int, seed: int, numbers: Sequence[int], templates: dict[str, list[bytes]], kept: Path) -> int:
    """Make calls one after the other, print what is wrong, and return how many failed."""
    failures, slow, codes = 0, [], dict.fromkeys((0, 1, 2, 130), 0)
    for number in numbers:
        if os.getppid() != parent:  # it was killed
            break
        call, outcome, wrong = attempt(seed, number, templates, kept)
        slow.append((outcome.seconds, number, str(call)[:150]))
        codes[outcome.code] = codes.get(outcome.code, 0) + 1
        if wrong:
            failures += 1
            shown = str(call) if len(str(call)) < 1500 else f"{str(call)[:1500]}…"
            lines = [f"FAILED --seed {seed} --only {number}", *(f"  {each}" for each in wrong), f"  {shown}", ""]
            os.write(1, "\n".join(lines).encode(errors="backslashreplace"))
    slowest = "".join(f"  {seconds:.1f} s  --only {number}  {call}\n" for seconds, number, call in sorted(slow)[-3:])
    os.write(
        1,
        f"{len(numbers)} calls, {failures} failed; exit codes {codes}; slowest:\n{slowest}".encode(
            errors="backslashreplace"
        ),
    )
    return failures


def main() -> int:
    parser = argparse.ArgumentParser(description="Fuzz the command line.")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--calls", type=int, default=3000)
    parser.add_argument("--only", type=int, nargs="*", help="Numbers of calls to make, instead of all.")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="Folder for the files of calls that fail.")
    options = parser.parse_args()
    kept = Path(tempfile.mkdtemp(prefix="gpcurves-fuzz-")) if options.keep is None else options.keep.resolve()
    kept.mkdir(exist_ok=True)
    assert set(_COMMANDS) == {name[1:] for name in vars(Maker) if name[1:] in _COMMANDS}, "a command is not fuzzed"
    templates = warm_up()
    numbers = range(options.calls) if options.only is None else options.only
    parent, workers = os.getpid(), []
    for job in range(options.jobs):
        process = os.fork()
        if process == 0:
            code = 1
            try:
                code = min(1, work(parent, options.seed, numbers[job :: options.jobs], templates, kept))
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        workers.append(process)
    codes = [os.waitpid(process, 0)[1] for process in workers]
    failed = any(codes)
    if failed:
        print(f"files of the calls that failed are in {kept}")  # noqa: T201
    else:
        shutil.rmtree(kept)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
