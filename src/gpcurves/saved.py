"""Saved results: whatever was written as JSON is compared with what it must look like, and built again by one function."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from gpcurves.curve import SCHEMA, CurveSet, LearningCurve
from gpcurves.errors import InputError
from gpcurves.numerics.files import read_bytes
from gpcurves.numerics.schema import (
    LARGEST,
    Schema,
    anything,
    check_plain,
    checksum,
    conform,
    expect,
    integer,
    number,
    optional,
    series,
    shown,
    text,
    truth,
)
from gpcurves.numerics.validation import path_of
from gpcurves.problem import Problem

_MEMORY = 30  # bytes for each byte of JSON, at most about: a list of empty lists
_SIZES, _SEED = series(0, 1e15), integer(0, 2**512)
_VALUES, _ERRORS, _NUMBER = series(gaps=True), series(0, gaps=True), number(0)
_PIECE: Schema = {"type": text, "*": anything}  # it checks its parameters itself
_PROBLEM: Schema = {
    "inputs": _PIECE, "kernel?": _PIECE, "noise?": _NUMBER, "observation?": _PIECE, "design?": _PIECE, "test?": _PIECE,
    "teacher?": {"kernel?": _PIECE, "noise": _NUMBER, "coefficients?": series(), "graph?": {"*": anything}},
}  # fmt: skip
_CURVE: dict[str, Any] = {
    "method": text, "n?": _SIZES, "nu?": _SIZES, "error": _VALUES, "stderr?": optional(_ERRORS),
    "spectrum_error?": optional(_ERRORS), "options?": {"*": anything}, "rng?": optional(_SEED), "quantity?": text,
    "details?": {"*": _VALUES}, "diagnostics?": {"*": lambda name, value: _diagnostic(name, value)}, "notes?": [text],
}  # fmt: skip
_ANY = {"schema": anything, "package?": text, "version": text, "checksum?": text}
_GOALS = {"required_n?": anything, "required_nu?": anything, "required_m?": anything, "sentence?": text}
_ROWS, _RMSE = integer(1, 1e10), series(1 / LARGEST)
_BAND = {
    "n": series(0, 1e16, rising=True),
    "estimate": _RMSE,
    "low": _RMSE,
    "high": _RMSE,
    "assured": _RMSE,
    "stderr": series(0),
}
_SHARES = series(0, 1)
_RECORD = {
    "band": _BAND,
    "remaining": series(0, 2),
    "outlying": text,
    "cross_validation": {"*": anything},  # see below
    "power_law": {"floor": _NUMBER, "factor": number(0, 1e300), "exponent": number(0, 100)},
    "classes?": {
        "names": [text], "rows": series(0), "error": _SHARES, "low": _SHARES, "high": _SHARES, "loss": _BAND, "floor_loss": _NUMBER,
    },
}  # fmt: skip
_VALIDATION: dict[bool, dict[str, Any]] = {
    False: {
        "n": series(1, 1e10, rising=True), "mse": _RMSE, "stderr": series(0), "ratio": number(1e-9, 1), "kurtosis": number(1, 1e12),
        "tails?": number(-20, 20),
    },
}  # fmt: skip
_VALIDATION[True] = {
    **_VALIDATION[False], "rate": series(1 / LARGEST, 1), "loss": _RMSE, "rate_stderr": series(0), "loss_stderr": series(0),
    "mistakes": _SHARES,
}  # fmt: skip
"""What cross-validation of numbers looks like, and of classes."""
_INPUT = {"name": text, "lengthscale_sd": _NUMBER, "lengthscale": optional(_NUMBER), "share": number()}
SCHEMAS: dict[str, Schema] = {
    "curve": {**_ANY, **_GOALS, "curve": _CURVE, "problem": _PROBLEM},
    "curves": {
        **_ANY, **_GOALS, "curves": [{**_CURVE, "label": text, "problem": integer(0, 1e6)}], "skipped": {"*": text},
        "problems": [_PROBLEM],
    },
    "record": {
        **_ANY, "rng": _SEED, "target": text, "rows": _ROWS, "fitted_rows": _ROWS, "columns": integer(0, 1e9),
        "noise_rmse?": _NUMBER, "floor_error_rate?": _NUMBER, "deterministic": truth, "deviation": number(1 / LARGEST), "mean_absolute": _NUMBER,
        "repeatability": optional(_NUMBER), "known_noise": optional(_NUMBER), "gap": number(-1e3, 1e3), "left_out": {"*": text}, "group?": optional(text), "record": _RECORD, "inputs": [_INPUT], "steps": [text],
        "notes": [text], "*": anything,  # the answers, which follow from the rest
    },
}  # fmt: skip
"""What each kind of file must look like, by the key that tells it: a curve, a set of curves, a forecast."""


def load(path: str | Path) -> Any:
    """Return the `LearningCurve`, the `CurveSet` or the `Forecast` that was saved to a JSON file.

    Parameters
    ----------
    path
        The file, which ``to_json``, ``save`` or ``--out FILE.json`` wrote.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> problem = gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=1), noise=0.05)
    >>> with TemporaryDirectory() as folder:
    ...     _ = gpc.learning_curve(problem, "lc", n=[10]).to_json(Path(folder) / "curve.json")
    ...     curve = gpc.load(Path(folder) / "curve.json")
    >>> curve.method
    'lc'
    """
    data = _read(path_of("path", path))
    try:
        check_plain(data)
        expect("", data, dict)
        kind = next((key for key in SCHEMAS if key in data), None)
        if data.get("schema") != SCHEMA and kind is not None:
            raise InputError(f"its schema is {shown(data.get('schema'))}, but this version reads {SCHEMA}")
        if kind is None:
            raise InputError(f"it has none of {', '.join(SCHEMAS)}")
        conform("", data, SCHEMAS[kind])
        if data.get("checksum", "") not in ("", checksum(data)):
            raise InputError("it was changed after it was saved; take its checksum out to load it all the same")
        return {"curve": _build_curve, "curves": _build_set, "record": _build_forecast}[kind](data)
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
        reason = f": {error}" if isinstance(error, InputError) else ""
        raise InputError(f"{path} holds no result that was saved by gpcurves{reason}") from error


def _read(path: Path) -> Any:
    """Return the content of a JSON file, if memory can hold it."""
    try:
        return json.loads(read_bytes(path, _MEMORY), object_pairs_hook=_without_repeats)
    except InputError:
        raise
    except RecursionError as error:
        raise InputError(f"{path} holds no result that was saved by gpcurves: it is nested too deeply") from error
    except ValueError as error:  # also of bytes that are no text, and of endless digits
        raise InputError(f"{path} holds no result that was saved by gpcurves: it is not JSON ({error})") from error


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) < len(pairs):
        raise ValueError("a key is given twice in one object")
    return data


def _diagnostic(name: str, value: Any) -> None:
    """Refuse what is neither a number nor a list of numbers, text, true, false or null."""
    if not isinstance(value, str | bool | None):
        (_VALUES if isinstance(value, list) else number())(name, value)


def _build_curve(data: dict[str, Any]) -> LearningCurve:
    return _restore("curve", data["curve"], Problem.from_dict(data["problem"]), data["version"])


def _build_set(data: dict[str, Any]) -> CurveSet:
    problems = [Problem.from_dict(each) for each in data["problems"]]
    curves: dict[str, LearningCurve] = {}
    for k, each in enumerate(data["curves"]):
        integer(0, len(problems) - 1)(f"curves[{k}].problem", each["problem"])
        if each["label"] in curves:
            raise InputError(f"curves[{k}].label must differ from all others, got {shown(each['label'])}")
        curves[each["label"]] = _restore(f"curves[{k}]", each, problems[each["problem"]], data["version"])
    return CurveSet(curves, data["skipped"])


def _restore(place: str, record: dict[str, Any], problem: Problem, version: str) -> LearningCurve:
    kept = {key: value for key, value in record.items() if key not in ("label", "problem", "notes", "n", "nu")}
    if [axis for axis in ("n", "nu") if axis in record] != [problem.axis]:
        raise InputError(f"{place} must have sizes along {problem.axis} alone")
    notes, sizes = tuple(record.get("notes", ())), record[problem.axis]
    for name, values in record.get("details", {}).items():
        _check_length(f"{place}.details.{shown(name)[1:-1]}", values, len(sizes))
    return LearningCurve(sizes=sizes, problem=problem, version=version, notes=notes, **kept)


def _check_length(name: str, values: list[Any], count: int) -> None:
    if len(values) != count:
        raise InputError(f"{name} must have {count} values, got {len(values)}")


def _build_forecast(data: dict[str, Any]) -> Any:
    from gpcurves.forecasting import Forecast
    from gpcurves.forecasting.intervals import goal_grid

    record, classes = data["record"], "classes" in data["record"]
    conform("record.cross_validation", record["cross_validation"], _VALIDATION[classes])
    conform("", data, {"floor_error_rate" if classes else "noise_rmse": _NUMBER, "*": anything})
    for part in ("band", "cross_validation"):
        for name, values in record[part].items():
            if not isinstance(values, list):  # a single number about all of them
                continue
            _check_length(f"record.{part}.{name}", values, len(record[part]["n"]))
    if not np.isin(goal_grid(data["rows"]), record["band"]["n"]).all():
        raise InputError(
            f"record.band.n must have the numbers of rows that goals are looked for at, of {data['rows']} rows"
        )
    if classes:
        names = record["classes"]["names"]
        for name in ("rows", "error", "low", "high"):
            _check_length(f"record.classes.{name}", record["classes"][name], len(names))
        for name, values in record["classes"]["loss"].items():
            _check_length(f"record.classes.loss.{name}", values, len(record["classes"]["loss"]["n"]))
    if not float(record["outlying"]) >= 0:
        raise InputError(f"record.outlying must be at least 0, got {shown(record['outlying'])}")
    return Forecast.from_dict(data)
