"""Writing curves to a file whose suffix says how: table, data, picture or page."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from gpcurves.errors import InputError, unknown_name
from gpcurves.numerics.files import check_writable, write_complete

if TYPE_CHECKING:
    from gpcurves.curve import CurveSet

SUFFIXES = (".csv", ".json", ".png", ".svg", ".html")
Answers = Mapping[float, Mapping[str, int | float | str]]
"""For each goal, the n (or nu) that each method needs, or the reason why there is none."""


def check_output(path: Path) -> None:
    """Refuse an output that cannot be written before anything is computed."""
    if path.suffix.lower() not in SUFFIXES:
        if not path.suffix:
            raise InputError(f"the output needs a suffix that says what to write ({', '.join(SUFFIXES)}), got {path}")
        raise unknown_name("output format", path.suffix, SUFFIXES)
    check_writable(path)


def save(curves: CurveSet, path: str | Path, answers: Answers | None = None) -> None:
    """Write curves in the format that the suffix names, completely or not at all."""
    target = Path(path)
    check_output(target)
    write_complete(target, render(target.suffix.lower(), curves, answers or {}))


def render(suffix: str, curves: CurveSet, answers: Answers) -> bytes:
    """Return curves in one of the formats."""
    if suffix == ".csv":
        return table(curves).encode()
    if suffix == ".json":
        return as_json(curves, answers).encode()
    if suffix == ".html":
        from gpcurves.render.page import page

        spoken = {
            goal: {name: f"{n:.4g}" if isinstance(n, float) else str(n) for name, n in each.items()}
            for goal, each in answers.items()
        }
        return page(curves, spoken).encode()
    return curves.plot().to_bytes(suffix[1:])


def table(curves: CurveSet) -> str:
    """Return the CSV table of the contract: method, n (or nu), error, stderr."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["method", curves.problem.axis, "error", "stderr"])
    for name, curve in curves.items():
        spread = [""] * len(curve.sizes) if curve.stderr is None else [_cell(value) for value in curve.stderr.tolist()]
        for n, error, stderr in zip(curve.sizes.tolist(), curve.error.tolist(), spread, strict=True):
            writer.writerow([name, int(n) if n.is_integer() else repr(n), _cell(error), stderr])
    return text.getvalue()


def _cell(value: float) -> str:
    """Write a number so that it reads back the same; what is not known stays empty."""
    return "" if math.isnan(value) else repr(value)


def as_json(curves: CurveSet, answers: Answers) -> str:
    """Return the JSON of a set of curves, with the answers to goals besides."""
    data = json.loads(curves.to_json())
    if answers:
        axis = curves.problem.axis
        data[f"required_{axis}"] = [
            {"error": goal, "method": name, **({axis: None, "reason": n} if isinstance(n, str) else {axis: n})}
            for goal, each in answers.items()
            for name, n in each.items()
        ]
    return json.dumps(data, indent=1, allow_nan=False) + "\n"
