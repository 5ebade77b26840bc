"""Turning words into numbers, kernels and inputs. No heavy imports at the top."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpcurves.errors import InputError, unknown_name

if TYPE_CHECKING:
    import numpy as np

    from gpcurves.inputs import Inputs
    from gpcurves.kernels import Kernel
    from gpcurves.spectra import Spectrum

KERNELS: dict[str, tuple[str, tuple[str, ...]]] = {
    "rbf": ("RBF", ("lengthscale", "variance")),
    "ou": ("OU", ("lengthscale", "variance")),
    "matern32": ("Matern32", ("lengthscale", "variance")),
    "matern52": ("Matern52", ("lengthscale", "variance")),
    "matern": ("Matern", ("lengthscale", "variance", "smoothness")),
    "rq": ("RationalQuadratic", ("lengthscale", "variance", "alpha")),
    "gammaexp": ("GammaExponential", ("lengthscale", "variance", "gamma")),
    "linear": ("Linear", ("variance", "bias")),
    "poly": ("Polynomial", ("variance", "bias", "degree")),
}
"""Name on the command line: class, and the options that it takes."""

INPUTS = ("torus", "box", "gaussian", "sample")
_MOST_VALUES = 10_000_000


def number(name: str, text: str) -> float:
    """Read one number."""
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{name} must be a number, got {text!r}") from None


def scales(name: str, text: str) -> float | tuple[float, ...]:
    """Read one number, or several separated by commas."""
    values = tuple(number(name, part) for part in text.split(","))
    return values[0] if len(values) == 1 else values


def names(name: str, text: str) -> list[str]:
    """Read names separated by commas."""
    found = [part.strip() for part in text.split(",") if part.strip()]
    if not found:
        raise InputError(f"{name} must not be empty")
    return list(dict.fromkeys(found))


def size_list(name: str, text: str, *, whole: bool) -> list[float]:
    """Read a list of numbers and ranges: ``0,10,100``, ``start:stop:step`` or ``start:stop:log:count``.

    Ranges include their stop. With ``whole``, logarithmic ranges are rounded to whole numbers, each once.
    """
    values: list[float] = []
    if not text.strip(" ,"):
        raise InputError(f"{name} must not be empty")
    for part in text.split(","):
        fields = [field.strip() for field in part.split(":")]
        if len(fields) == 1:
            values.append(number(name, fields[0]))
        elif len(fields) == 4 and fields[2] == "log":
            values += _logarithmic(name, part, number(name, fields[0]), number(name, fields[1]), fields[3], whole)
        elif len(fields) in (2, 3):
            values += _linear(name, part, *(number(name, field) for field in fields))
        else:
            raise InputError(f"{name} must be numbers, start:stop:step or start:stop:log:count, got {part!r}")
    return values


def _linear(name: str, part: str, start: float, stop: float, step: float = 1.0) -> list[float]:
    if not (math.isfinite(start) and math.isfinite(stop) and math.isfinite(step)):
        raise InputError(f"{name} must be finite, got {part!r}")
    if step <= 0 or stop < start:
        raise InputError(f"{name}: a range start:stop:step needs start ≤ stop and step > 0, got {part!r}")
    count = math.floor((stop - start) / step + 1e-9) + 1
    if count > _MOST_VALUES:
        raise InputError(f"{name}: the range {part!r} has {count:.3g} values, at most {_MOST_VALUES:g} are allowed")
    return [start + i * step for i in range(count)]


def _logarithmic(name: str, part: str, start: float, stop: float, count: str, whole: bool) -> list[float]:
    if not (math.isfinite(start) and math.isfinite(stop)) or not 0 < start <= stop:
        raise InputError(f"{name}: a range start:stop:log:count needs 0 < start ≤ stop, got {part!r}")
    if not (count.isascii() and count.isdecimal()) or not 1 <= int(count) <= _MOST_VALUES:
        raise InputError(f"{name}: the count of a logarithmic range must be a positive whole number, got {part!r}")
    steps = int(count)
    values = [start * (stop / start) ** (i / max(1, steps - 1)) for i in range(steps)]
    return list(dict.fromkeys(float(round(value)) for value in values)) if whole else values


def kernel(name: str, options: Mapping[str, Any]) -> Kernel:
    """Build the kernel of this name from the options that were given."""
    if name.lower() not in KERNELS:
        raise unknown_name("kernel", name, KERNELS)
    class_name, takes = KERNELS[name.lower()]
    given = {key: value for key, value in options.items() if value is not None}
    for key in given:
        if key not in takes:
            raise InputError(f"the kernel {name!r} takes no --{key}: it takes {', '.join('--' + t for t in takes)}")
    import gpcurves

    renamed = {{"smoothness": "nu"}.get(key, key): value for key, value in given.items()}
    built: Kernel = getattr(gpcurves, class_name)(**renamed)
    return built


def inputs(name: str, dim: int | None, variance: float | None, points: Path | None) -> Inputs:
    """Build the input distribution of this name."""
    if name.lower() not in INPUTS:
        raise unknown_name("input distribution", name, INPUTS)
    name = name.lower()
    if variance is not None and name != "gaussian":
        raise InputError(f"--input-variance belongs to gaussian inputs, not to {name}")
    if (points is not None) != (name == "sample"):
        raise InputError("--points FILE and --inputs sample belong together")
    from gpcurves.inputs import Box, Gaussian, Sample, Torus

    if points is not None:
        table = read_table(points, "points")
        if dim is not None and dim != table.shape[1]:
            raise InputError(f"--dim {dim} contradicts {points}, which has {table.shape[1]} columns")
        return Sample(table)
    size = 1 if dim is None else dim
    if name == "gaussian":
        return Gaussian(size) if variance is None else Gaussian(size, variance)
    return {"torus": Torus, "box": Box}[name](size)


def spectrum(path: Path) -> Spectrum:
    """Read eigenvalues, and optionally multiplicities, from a text file with one or two columns."""
    from gpcurves.spectra import Spectrum

    table = read_table(path, "eigenvalues")
    if table.shape[1] > 2:
        raise InputError(f"{path} must have one column (eigenvalue) or two (and multiplicity), got {table.shape[1]}")
    return Spectrum(table[:, 0], table[:, 1] if table.shape[1] == 2 else None)


def labels(path: Path) -> tuple[list[str], list[float]]:
    """Read a vertex and a value per line, separated by a comma, a semicolon, a tab or blanks; a header is skipped."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"cannot read {path}: it is not a text file") from error
    found: list[str] = []
    values: list[float] = []
    first = True
    for place, line in enumerate(lines, start=1):
        kept = line.strip()
        if not kept or kept.startswith(("#", "%")):
            continue
        separator = next((mark for mark in (",", ";", "\t") if mark in kept), None)
        fields = [field.strip().strip('"') for field in kept.split(separator)]
        heading, first = first, False
        if len(fields) != 2:
            raise InputError(f"{path}, line {place}: a vertex and a value are expected, got {kept!r}")
        try:
            value = float(fields[1])
        except ValueError:
            if heading and not any(letter.isdigit() for letter in fields[1]):
                continue
            raise InputError(f"{path}, line {place}: a value must be a number, got {fields[1]!r}") from None
        if not math.isfinite(value):
            raise InputError(f"{path}, line {place}: a value must be finite, got {fields[1]}")
        found.append(fields[0])
        values.append(value)
    if not found:
        raise InputError(f"{path} holds no labels")
    return found, values


def read_table(path: Path, what: str) -> np.ndarray[Any, Any]:
    """Read rows of numbers, separated by commas or blanks; a first row of words and lines after # are skipped."""
    import numpy as np

    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"cannot read {path}: it is not a text file") from error
    rows: list[list[float]] = []
    for place, line in enumerate(lines, start=1):
        fields = line.split("#")[0].replace(",", " ").split()
        if not fields:
            continue
        try:
            rows.append([float(field) for field in fields])
        except ValueError:
            if rows or place > 1:
                raise InputError(f"{path}, line {place}: {what} must be numbers, got {line.strip()!r}") from None
        if rows and len(rows[-1]) != len(rows[0]):
            raise InputError(f"{path}, line {place}: {len(rows[0])} columns expected, got {len(rows[-1])}")
    if not rows:
        raise InputError(f"{path} holds no {what}")
    return np.array(rows)
