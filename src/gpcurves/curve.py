"""What every method returns: a learning curve, and a set of them for one problem."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from gpcurves._version import __version__
from gpcurves.errors import InputError
from gpcurves.numerics.display import Shown
from gpcurves.numerics.files import write_complete
from gpcurves.numerics.validation import FloatArray, frozen
from gpcurves.problem import AnyProblem, problem_from_dict

if TYPE_CHECKING:
    import pandas as pd

SCHEMA = 1
"""Version of the JSON layout; it changes when a reader would have to."""


@dataclass(frozen=True, eq=False)
class LearningCurve(Shown):
    """The error after n examples, or after nu examples per vertex of a graph, by one method.

    Attributes
    ----------
    method
        Name of the method.
    sizes, error
        How many examples, and the mean squared error against the noise-free function at each; read-only. ``n`` and ``nu``
        are other names of ``sizes``: the number of examples, and on a graph the number of examples per vertex.
    stderr
        Standard error of ``error``, or None for a deterministic method.
    problem
        What was asked.
    options, rng
        What else determines the numbers: options of the method and the seed.
    spectrum_error
        Estimated error of ``error`` that comes from a numerical spectrum, or None where the spectrum is exact.
    details
        Further arrays along ``sizes``, by name: for simulations quantiles over data sets, and what was asked for besides.
    notes
        What a reader should know about these numbers, in sentences.
    version
        Version of the package that computed them.
    """

    method: str
    sizes: FloatArray
    error: FloatArray
    problem: AnyProblem
    stderr: FloatArray | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    rng: int | None = None
    spectrum_error: FloatArray | None = None
    details: Mapping[str, FloatArray] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    version: str = __version__

    def __post_init__(self) -> None:
        for name in ("sizes", "error", "stderr", "spectrum_error"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, frozen(np.array(value, dtype=np.float64)))
        for name in ("error", "stderr", "spectrum_error"):
            value = getattr(self, name)
            if value is not None and value.shape != self.sizes.shape:
                raise InputError(
                    f"{name} must have as many values as {self.axis} ({len(self.sizes)}), got {len(value)}"
                )
        object.__setattr__(self, "options", MappingProxyType(dict(self.options)))
        kept = {name: frozen(np.array(value, dtype=np.float64)) for name, value in self.details.items()}
        object.__setattr__(self, "details", MappingProxyType(kept))

    @property
    def axis(self) -> str:
        """What ``sizes`` are: "n", or "nu" on a graph."""
        return self.problem.axis

    @property
    def n(self) -> FloatArray:
        """Number of examples."""
        return self._along("n")

    @property
    def nu(self) -> FloatArray:
        """Number of examples per vertex of a graph."""
        return self._along("nu")

    def _along(self, axis: str) -> FloatArray:
        if axis != self.axis:
            raise AttributeError(f"this curve is along {self.axis}: it has no {axis}")
        return self.sizes

    def reaches(self, error: float) -> float | None:
        """Return the size at which the curve first falls to an error, between its points on a log scale, or None."""
        order = np.argsort(self.sizes, kind="stable")
        sizes, values = self.sizes[order], self.error[order]
        below = np.flatnonzero(values <= error)
        if len(below) == 0:
            return None
        k = int(below[0])
        if k == 0 or values[k] <= 0:
            return float(sizes[k])
        part = float(np.log(values[k - 1] / error) / np.log(values[k - 1] / values[k]))
        if sizes[k - 1] == 0:
            return float(part * sizes[k])
        return float(sizes[k - 1] * (sizes[k] / sizes[k - 1]) ** part)

    def to_frame(self) -> pd.DataFrame:
        """Return a DataFrame with the columns n (or nu), error, stderr."""
        import pandas as pd

        stderr = np.full(len(self.sizes), np.nan) if self.stderr is None else self.stderr
        return pd.DataFrame({self.axis: self.sizes, "error": self.error, "stderr": stderr})

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the curve with everything needed to compute it again, and write it to ``path`` if given."""
        return _dump({"curve": self._record(), "problem": self.problem.to_dict(), "version": self.version}, path)

    def _record(self) -> dict[str, Any]:
        def listed(array: FloatArray | None) -> list[float | None] | None:
            return None if array is None else [None if np.isnan(value) else value for value in array.tolist()]

        return {
            "method": self.method,
            "options": dict(self.options),
            "rng": self.rng,
            self.axis: listed(self.sizes),
            "error": listed(self.error),
            "stderr": listed(self.stderr),
            "spectrum_error": listed(self.spectrum_error),
            "details": {name: listed(array) for name, array in self.details.items()},
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        last = len(self.sizes) - 1
        return (
            f"LearningCurve({self.method!r}, {self.axis} = {self.sizes[0]:g}…{self.sizes[last]:g} ({last + 1} values), "
            f"error = {self.error[0]:.4g}…{self.error[last]:.4g}; {self.problem.describe()})"
        )


@dataclass(frozen=True, eq=False)
class CurveSet(Shown, Mapping[str, LearningCurve]):
    """Learning curves of one problem by several methods, as a mapping from the method's name.

    Attributes
    ----------
    problem
        What was asked.
    skipped
        Methods that were left out because they do not apply, with the reason.
    """

    problem: AnyProblem
    curves: Mapping[str, LearningCurve] = field(repr=False)
    skipped: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "curves", MappingProxyType(dict(self.curves)))
        object.__setattr__(self, "skipped", MappingProxyType(dict(self.skipped)))

    @classmethod
    def of(cls, *curves: LearningCurve) -> CurveSet:
        """Put curves of one problem together."""
        if not curves:
            raise InputError("a set of curves needs at least one curve")
        if any(curve.problem != curves[0].problem for curve in curves):
            raise InputError("a set of curves must be of one problem, and these differ")
        if len({curve.method for curve in curves}) < len(curves):
            raise InputError("a set of curves must have one curve per method, and here one occurs twice")
        return cls(curves[0].problem, {curve.method: curve for curve in curves})

    def __getitem__(self, method: str) -> LearningCurve:
        return self.curves[method]

    def __iter__(self) -> Iterator[str]:
        return iter(self.curves)

    def __len__(self) -> int:
        return len(self.curves)

    def to_frame(self) -> pd.DataFrame:
        """Return a DataFrame with the columns method, n (or nu), error, stderr."""
        import pandas as pd

        frames = [curve.to_frame().assign(method=name) for name, curve in self.items()]
        return pd.concat(frames, ignore_index=True)[["method", self.problem.axis, "error", "stderr"]]

    def to_dict(self) -> dict[str, Any]:
        """Return the set as plain data."""
        return {
            "curves": [curve._record() for curve in self.values()],
            "skipped": dict(self.skipped),
            "problem": self.problem.to_dict(),
            "version": __version__,
        }

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the set with everything needed to compute it again, and write it to ``path`` if given."""
        return _dump(self.to_dict(), path)

    def __repr__(self) -> str:
        lines = [f"CurveSet of {self.problem.describe()}"]
        for name, curve in self.items():
            lines.append(f"  {name:<11} error {curve.error[0]:.4g} at {curve.axis} = {curve.sizes[0]:g}")
            lines[-1] += f", {curve.error[-1]:.4g} at {curve.axis} = {curve.sizes[-1]:g}"
        lines += [f"  {name:<11} does not apply: {reason}" for name, reason in self.skipped.items()]
        return "\n".join(lines)


def load(path: str | Path) -> LearningCurve | CurveSet:
    """Return the curve, or the set of curves, that was saved to a JSON file."""
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
        if data["schema"] != SCHEMA:
            raise InputError(f"{path} has schema {data['schema']}, this version reads {SCHEMA}")
        problem = problem_from_dict(data["problem"])
        if "curve" in data:
            return _restored(data["curve"], problem, data["version"])
        curves = [_restored(record, problem, data["version"]) for record in data["curves"]]
        return CurveSet(problem, {curve.method: curve for curve in curves}, data["skipped"])
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    except InputError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path} is not a learning curve saved by gpcurves") from error


def _restored(record: dict[str, Any], problem: AnyProblem, version: str) -> LearningCurve:
    kept = {**record, "notes": tuple(record["notes"])}
    return LearningCurve(sizes=kept.pop(problem.axis), problem=problem, version=version, **kept)


def _dump(data: dict[str, Any], path: str | Path | None) -> str:
    text = json.dumps({"schema": SCHEMA, "package": "gpcurves", **data}, indent=1, allow_nan=False) + "\n"
    if path is not None:
        write_complete(Path(path), text.encode())
    return text
