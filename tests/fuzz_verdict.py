"""The verdict of the fuzzer on a call: streams, exit code, files, and the numbers in them."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import fuzz_files as files
from fuzz_calls import OLD, Call

SECONDS, BYTES = 20.0, 2e9
_CODES = {0, 1, 2, 130}
_MAY_FAIL = ("lc1",)  # an expansion, which a note says to break down where it is negative


@dataclass
class Outcome:
    """What came of a call."""

    code: int
    seconds: float
    memory: float
    stdout: str
    stderr: str
    late: bool


def snapshot(folder: Path) -> dict[str, str]:
    """Return what a folder holds: for each path what it is, and the content of files."""
    found = {}
    for path in sorted(folder.rglob("*")):
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            what = f"link to {path.readlink()}"
        elif stat.S_ISREG(mode):
            what = hashlib.sha256(path.read_bytes()).hexdigest()
        else:
            what = "folder" if stat.S_ISDIR(mode) else "fifo"
        found[os.fsdecode(path.relative_to(folder))] = what
    return found


def judge(call: Call, outcome: Outcome, before: dict[str, str], folder: Path) -> Iterator[str]:
    """Yield what is wrong with what came of a call."""
    stdout, stderr, code = outcome.stdout, outcome.stderr, outcome.code
    if outcome.memory > BYTES:
        yield f"memory: {outcome.memory / 1e9:.1f} GB"
        return
    if outcome.late:
        yield f"hang: {outcome.seconds:.0f} s"
        return
    if "Traceback (most recent call last)" in stderr + stdout:
        yield f"traceback: {stderr.strip().splitlines()[-1][:200]}"
    elif code not in _CODES:
        yield f"exit code {code}: {stderr.strip()[-200:]}"
    if found := re.search(r"^.*\b\w*Warning: .*$", stderr, re.MULTILINE):
        yield f"warning: {found[0][:200]}"
    if "defect of gpcurves" in stderr:
        yield f"internal error: {stderr.strip()[:300]}"
    if "out of memory" in stderr:
        yield "memory: refused only by the system"
    if call.stream == "usual" and "--help" not in call.words:
        if code == 2 and not re.fullmatch(r"(note: [^\n\r]+\n)*gpcurves: [^\n\r]+\n", stderr):
            yield f"not one sentence: {stderr[:300]!r}"
        if code == 2 and stdout:
            yield f"refused, but wrote to stdout: {stdout[:80]!r}"
        if code in (1, 130) and not re.search(r"^gpcurves: \S", stderr, re.MULTILINE):
            yield f"exit code {code} without a sentence: {stderr[-200:]!r}"
    yield from _compare_files(call, outcome, before, snapshot(folder))
    if code == 0:
        yield from _look_into_results(call, stdout, folder)


def _compare_files(call: Call, outcome: Outcome, before: dict[str, str], after: dict[str, str]) -> Iterator[str]:
    """Yield inputs that changed, files that were not asked for, and files that were written by a call that failed."""
    outputs = {os.path.normpath(os.path.join(".", name)) for name in call.outputs if name or call.words[0] == "figures"}  # noqa: PTH118
    outputs |= {
        link.removeprefix("link to ") for name in set(outputs) if (link := before.get(name, "")).startswith("link")
    }
    stores = {name for name in outputs if name.lower().endswith("sqlite")}
    old = hashlib.sha256(OLD).hexdigest()
    partly = any(words in outcome.stderr for words in ("converge", "interrupted before", "claims fail"))
    failed = outcome.code != 0 and not partly and call.stream == "usual" and call.words[0] != "figures"
    for name, what in before.items():
        changed = after.get(name) != what
        replaceable = name in stores or (name in outputs and what == old)
        if changed and (not replaceable or (failed and name not in stores)):
            was = what if what in ("fifo", "folder") or what.startswith("link") else "file"
            yield f"changed: {name!r} ({was}), exit code {outcome.code}"
    for name in after.keys() - before.keys():
        asked = name in outputs or (call.words[0] == "figures" and any(name.startswith(f"{each}/") or each.startswith(name) or each == "." for each in outputs))  # fmt: skip
        if not asked:
            yield f"left behind: {name!r}, exit code {outcome.code}"
        elif failed and name not in stores:
            yield f"written although it failed: {name!r}"


def _look_into_results(call: Call, stdout: str, folder: Path) -> Iterator[str]:
    """Yield what is wrong with what was written."""
    if call.expected is not None and stdout != call.expected:
        yield f"other numbers than without the store: {stdout[:300]!r}"
    if stdout.startswith("{"):
        yield from _check_json("stdout", stdout)
    elif re.match(r"(method|vertex|n),", stdout):
        yield from _check_csv("stdout", stdout)
    if {"--help", "-h"} & set(call.words) or call.words[0] == "figures":
        return
    for name in call.outputs:
        path = folder / name
        if name.lower().endswith("sqlite") or stat.S_ISFIFO(path.lstat().st_mode if os.path.lexists(path) else 0):
            continue
        content = path.read_bytes() if path.is_file() else None
        if content is None or content == OLD:
            yield f"succeeded without writing {name!r}"
            continue
        kind = path.suffix.lower()
        if kind == ".csv":
            yield from _check_csv(name, content.decode(errors="surrogateescape"))
        elif kind == ".json":
            yield from _check_json(name, content.decode())
        ends = {".png": b"IEND\xaeB`\x82", ".svg": b"</svg>", ".html": b"</html>"}
        if not content.rstrip(b"\n").endswith(ends.get(kind, b"")):
            yield f"half a file: {name!r}"
        if kind in (".html", ".svg") and files.SCRIPT.encode() in content:
            yield f"a page runs what was given: {name!r}"


def _check_csv(name: str, text: str) -> Iterator[str]:
    for row in csv.DictReader(io.StringIO(text)):
        for column, cell in row.items():
            unresolved = column == "error" and row.get("method") == "simulation" and not cell  # a note says why
            # a full GP has no inducing points, and an approximation no error with more of them than examples
            unresolved |= not cell and (
                column == "m" or (column == "error" and float(row.get("m") or 0) > float(row["n"]))
            )
            if unresolved or (column in ("method", "vertex", "stderr") and cell != "inf"):
                continue
            try:
                number = float(cell or "nan")
            except (ValueError, TypeError):
                continue
            negative = column in ("error", "rmse", "std") and number < 0 and row.get("method") not in _MAY_FAIL
            if negative or not math.isfinite(number):
                yield f"{column} is {cell!r} in {name}, row {dict(list(row.items())[:3])}"
                return


def _check_json(name: str, text: str) -> Iterator[str]:
    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} in JSON")

    try:
        pending = [json.loads(text, parse_constant=refuse)]
    except ValueError as error:
        yield f"not sound JSON in {name}: {error}"
        return
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            for key in ("error", "mean", "std", "rmse", "low", "high"):
                numbers = node.get(key, [])
                numbers = numbers if isinstance(numbers, list) else [numbers]
                if key in node and None in numbers and "estimate" not in node and node.get("method") != "simulation":
                    yield f"{key} is null in {name}"
                    return
                if (
                    key in ("error", "rmse", "std")
                    and node.get("method") not in _MAY_FAIL
                    and any(isinstance(each, float) and each < 0 for each in numbers)
                ):
                    yield f"{key} is negative in {name}"
                    return
        pending += node.values() if isinstance(node, dict) else node if isinstance(node, list) else []
