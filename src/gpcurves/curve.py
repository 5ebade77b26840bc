"""What every method returns: a learning curve, and a set of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from gpcurves._version import __version__
from gpcurves.errors import InputError
from gpcurves.numerics.display import Shown
from gpcurves.numerics.files import write_complete
from gpcurves.numerics.frozen import FrozenMapping, ReadOnly, frozen_array
from gpcurves.numerics.schema import checksum
from gpcurves.numerics.validation import FloatArray, frozen
from gpcurves.problem import Problem

if TYPE_CHECKING:
    import pandas as pd

MethodName = Literal[
    "lc", "lc1", "uc", "d", "mw", "plaskota", "ov", "lo", "uo", "info", "two", "degenerate", "grid", "mckay", "master", "ou-exact",
    "wv", "simulation", "eigenvalue", "cavity", "local",
    "sor", "vfe", "fitc", "sor-simulation", "vfe-simulation", "fitc-simulation", "pitc", "bcm",
    "tasks", "tasks-simulation", "functionals", "functionals-simulation",
]  # fmt: skip
"""Methods of the package, so that a name that is misspelt is a typing error; at run time, any that are registered."""
SCHEMA = 3  # version of the JSON layout; it changes when a reader would have to
_PIECES = ("kernel", "inputs", "observation", "design")
_ARRAYS = ("sizes", "error", "stderr", "spectrum_error")


@dataclass(frozen=True, eq=False)
class LearningCurve(Shown, ReadOnly):
    """The error after n examples, or after nu examples per vertex of a graph, by one method.

    ``learning_curve(c.problem, c.method, c.n, rng=c.rng, **c.options)`` gives the same curve again: the options name the
    quantity too if it is not "mse".

    Attributes
    ----------
    method
        Name of the method.
    sizes, error
        Numbers of examples (per vertex on a graph), and the error at each; read-only. ``n`` is always the number of
        examples (labels, on a given graph), and ``nu`` that per vertex; an ensemble of graphs has only the latter.
    problem
        The problem.
    stderr
        Standard error of ``error``, or None for a deterministic method.
    options, rng
        Options of the method and the seed, which determine the numbers.
    quantity
        What ``error`` is: "mse", the mean squared error against the noise-free function, or another of ``gpcurves.QUANTITIES``.
    spectrum_error
        Estimated error of ``error`` that comes from a numerical spectrum, or None if the spectrum is exact.
    details
        Further arrays along ``sizes``, by name: for simulations the quantiles over data sets, and further averages that
        were requested.
    diagnostics
        Diagnostics of the computation: numbers of draws, convergence, the error due to cycles.
    notes
        Warnings about these numbers, in sentences.
    version
        Version of the package that computed them.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> problem = gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=1), noise=0.05)
    >>> curve = gpc.learning_curve(problem, "lc", n=[0, 10, 100])
    >>> curve.n, curve.error.round(3)
    (array([  0.,  10., 100.]), array([1.   , 0.116, 0.006]))
    >>> curve.to_frame().columns.tolist()
    ['n', 'error', 'stderr']
    """

    method: MethodName
    sizes: FloatArray
    error: FloatArray
    problem: Problem
    stderr: FloatArray | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    rng: int | None = None
    quantity: str = "mse"
    spectrum_error: FloatArray | None = None
    details: Mapping[str, FloatArray] = field(default_factory=dict)
    diagnostics: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    version: str = __version__

    def __post_init__(self) -> None:
        for name in _ARRAYS:
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, frozen_array(value))
                if getattr(self, name).shape != self.sizes.shape:
                    raise InputError(
                        f"{name} must have as many values as {self.axis} ({len(self.sizes)}), got {len(value)}"
                    )
        details = {name: frozen_array(value) for name, value in self.details.items()}
        diagnostics = {
            name: frozen_array(value) if isinstance(value, list | np.ndarray) else value
            for name, value in self.diagnostics.items()
        }
        object.__setattr__(self, "details", FrozenMapping(details))
        object.__setattr__(self, "options", FrozenMapping(self.options))
        object.__setattr__(self, "diagnostics", FrozenMapping(diagnostics))

    @property
    def axis(self) -> str:
        """What ``sizes`` are: "n", or "nu" on a graph."""
        return self.problem.axis

    @property
    def n(self) -> FloatArray:
        """Number of examples (labels, on a given graph); on an ensemble, whose graphs have no fixed size, per vertex."""
        return frozen(self.sizes * self.problem.examples_per_size)

    @property
    def nu(self) -> FloatArray:
        """Number of examples per vertex of a graph."""
        if self.axis != "nu":
            raise AttributeError("this curve is not on a graph: it has no nu, examples per vertex")
        return self.sizes

    @property
    def m(self) -> FloatArray | None:
        """Number of inducing points at each size, or None for a method without any."""
        return self.details.get("m")

    def at(self, *, n: float | None = None, m: float | None = None) -> LearningCurve:
        """Return the points of the curve with this number of examples, or with this number of inducing points."""
        if m is not None and self.m is None:
            raise InputError(f"method {self.method!r} has no inducing points m")
        kept = np.ones(len(self.sizes), dtype=bool)
        for name, asked, known in (("n", n, self.n), ("m", m, self.m)):
            if asked is not None and known is not None:
                kept &= known == asked
            if known is not None and not kept.any():
                raise InputError(f"this curve has no point with {name} = {asked}")
        parts: dict[str, Any] = {name: None if (own := getattr(self, name)) is None else own[kept] for name in _ARRAYS}
        details = {name: values[kept] for name, values in self.details.items()}
        options = {**self.options, "m": int(m)} if m is not None and "m" in self.options else self.options
        return replace(self, **parts, details=details, options=options)

    def reaches(self, error: float) -> float | None:
        """Return the size at which the curve first falls to an error, between its points on a log scale, or None."""
        if self.m is not None and len(np.unique(self.m)) < len(self.m) > len(np.unique(self.sizes)):
            raise InputError("this curve has several numbers of inducing points: choose one, such as curve.at(m=20)")
        order = np.argsort(self.sizes, kind="stable")
        sizes, values = self.sizes[order], self.error[order]
        below = np.flatnonzero(values <= error)
        if len(below) == 0:
            return None
        k = int(below[0])
        if k == 0 or values[k] <= 0 or not np.isfinite(values[k - 1]):
            return float(sizes[k])
        part = float(np.log(values[k - 1] / error) / np.log(values[k - 1] / values[k]))
        if sizes[k - 1] == 0:
            return float(part * sizes[k])
        return float(sizes[k - 1] * (sizes[k] / sizes[k - 1]) ** part)

    def to_frame(self) -> pd.DataFrame:
        """Return a DataFrame with the columns n (or nu), error, stderr; with inducing points also m and the claimed variance."""
        import pandas as pd

        stderr = np.full(len(self.sizes), np.nan) if self.stderr is None else self.stderr
        columns = {self.axis: self.sizes, "error": self.error, "stderr": stderr}
        if self.m is not None:
            columns = {"n": self.n, "m": self.m, **columns, "claimed": self.details["claimed"]}
        return pd.DataFrame(columns)

    def to_dict(self) -> dict[str, Any]:
        """Return the curve as plain data."""
        return {"curve": self._record(), "problem": self.problem.to_dict(), "version": self.version}

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the curve with everything needed to compute it again, and write it to ``path`` if given."""
        return dump(self.to_dict(), path)

    def _record(self) -> dict[str, Any]:
        plain = {each.name: _as_json(getattr(self, each.name)) for each in fields(self)}
        record = {key: value for key, value in plain.items() if key not in ("problem", "version", "sizes")}
        return {**record, self.axis: plain["sizes"]}

    def __repr__(self) -> str:
        return (
            f"LearningCurve({self.method!r}, {self.axis} = {self.sizes[0]:g}…{self.sizes[-1]:g} ({len(self.sizes)} "
            f"values), error = {self.error[0]:.4g}…{self.error[-1]:.4g}; {self.problem.describe()})"
        )


@dataclass(frozen=True, eq=False, repr=False)
class CurveSet(Shown, Mapping[str, LearningCurve]):
    """Learning curves by label: of several methods, problems or settings of one method.

    The label of a curve is the name of its method, followed by whatever distinguishes it from other curves of this method.

    Attributes
    ----------
    curves
        The curves by label.
    skipped
        Methods that were left out because they do not apply, with the reason.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> problem = gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=1), noise=0.05)
    >>> curves = gpc.learning_curves(problem, n=[10, 100], methods=["lc", "plaskota"])
    >>> list(curves), curves["lc"].error.round(3)
    (['lc', 'plaskota'], array([0.116, 0.006]))
    """

    curves: Mapping[str, LearningCurve]
    skipped: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.curves:
            raise InputError("a set of curves needs at least one curve")
        if len({curve.axis for curve in self.curves.values()}) > 1:
            raise InputError("curves along n and along nu do not go together")
        object.__setattr__(self, "curves", FrozenMapping(self.curves))
        object.__setattr__(self, "skipped", FrozenMapping(self.skipped))

    @classmethod
    def of(cls, *curves: LearningCurve, skipped: Mapping[str, str] | None = None) -> CurveSet:
        """Put curves together, with labels that tell them apart."""
        return cls(dict(zip(_labels(curves), curves, strict=True)), skipped or {})

    def __getitem__(self, label: str) -> LearningCurve:
        return self.curves[label]

    def __iter__(self) -> Iterator[str]:
        return iter(self.curves)

    def __len__(self) -> int:
        return len(self.curves)

    @property
    def axis(self) -> str:
        """What sizes are: "n", or "nu" on graphs."""
        return next(iter(self.curves.values())).axis

    @property
    def problem(self) -> Problem:
        """The problem that all curves share."""
        if len(self.problems) > 1:
            raise InputError("these curves are of several problems: ask each curve for its own")
        return self.problems[0]

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The different problems of the curves, in order."""
        different: list[Problem] = []
        for curve in self.curves.values():
            if curve.problem not in different:
                different.append(curve.problem)
        return tuple(different)

    def describe(self) -> str:
        """Return a description of the problem in one line."""
        problems = self.problems
        return problems[0].describe() if len(problems) == 1 else f"{len(problems)} problems"

    def to_frame(self) -> pd.DataFrame:
        """Return a DataFrame with the columns method, n (or nu), error, stderr; ``method`` holds the labels.

        If there are inducing points, their number m stands after n.
        """
        import pandas as pd

        frames = [curve.to_frame().assign(method=label) for label, curve in self.items()]
        return pd.concat(frames, ignore_index=True)[list(self.columns)]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of a table of these curves."""
        inducing = any(curve.m is not None for curve in self.curves.values())
        return ("method", self.axis, *(["m"] if inducing else []), "error", "stderr")

    def to_dict(self) -> dict[str, Any]:
        """Return the set as plain data; each curve names its problem by its position in the list."""
        problems = self.problems
        return {
            "curves": [
                {"label": label, "problem": problems.index(curve.problem), **curve._record()}
                for label, curve in self.items()
            ],
            "skipped": dict(self.skipped),
            "problems": [problem.to_dict() for problem in problems],
            "version": __version__,
        }

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the set with everything needed to compute it again, and write it to ``path`` if given."""
        return dump(self.to_dict(), path)

    def __repr__(self) -> str:
        width = max(11, *map(len, self))
        lines = [f"CurveSet of {self.describe()}"]
        for label, curve in self.items():
            lines.append(f"  {label:<{width}} error {curve.error[0]:.4g} at {curve.axis} = {curve.sizes[0]:g}")
            lines[-1] += f", {curve.error[-1]:.4g} at {curve.axis} = {curve.sizes[-1]:g}"
        lines += [f"  {name:<{width}} does not apply: {reason}" for name, reason in self.skipped.items()]
        return "\n".join(lines)


def _settings(curve: LearningCurve) -> dict[str, str]:
    """Return everything that may tell a curve apart from another of its method, in words."""
    problem = curve.problem
    settings: dict[str, Any] = {}
    for piece in (problem.kernel, problem.ensemble or problem.inputs, problem.observation, problem.design):
        for each in getattr(piece, "__dataclass_fields__", {}).values():
            # kernel, inputs and observation have a variance: the flag tells them apart
            settings[(each.metadata.get("flag") or each.name).replace("-", " ")] = getattr(piece, each.name)
    settings |= {name: repr(getattr(problem, name)) for name in _PIECES}
    if problem.teacher is not None:
        settings |= {
            "teacher": problem.teacher.describe(),
            "teacher noise": problem.teacher.describe_labels().removeprefix("noise="),
        }
    settings |= curve.options
    settings["seed"] = curve.rng
    return {name: f"{value:g}" if isinstance(value, float) else str(value) for name, value in settings.items()}


def _labels(curves: Sequence[LearningCurve]) -> list[str]:
    """Return the method of each curve, with the settings that differ if a method occurs several times."""
    methods: list[str] = [curve.method for curve in curves]
    if len(set(methods)) == len(methods):
        return methods
    settings = [_settings(curve) for curve in curves]
    # A parameter says it in fewer words than the whole piece that it belongs to, and anything says more than a seed.
    for unwanted in ((*_PIECES, "seed"), ("seed",), ()):
        labels = []
        for method, own in zip(methods, settings, strict=True):
            rivals = [each for other, each in zip(methods, settings, strict=True) if other == method]
            differ = (name for name in own if any(each.get(name) != own[name] for each in rivals))
            labels.append(", ".join([method, *(f"{name} {own[name]}" for name in differ if name not in unwanted)]))
        if len(set(labels)) == len(labels):
            return labels
    raise InputError("two of these curves are of the same problem, method and options: give each once")


def _as_json(value: Any) -> Any:
    """Return a value as JSON holds it: arrays as lists in which what is not known is None."""
    if isinstance(value, Mapping):
        return {name: _as_json(each) for name, each in value.items()}
    if isinstance(value, np.ndarray):
        return [None if each != each else each for each in value.tolist()]
    return list(value) if isinstance(value, tuple) else value


def dump(data: Mapping[str, Any], path: str | Path | None) -> str:
    """Return plain data as the text of a JSON file of this package, and write it to ``path`` if given."""
    content = {"schema": SCHEMA, "package": "gpcurves", **data}
    text = json.dumps({**content, "checksum": checksum(content)}, indent=1, allow_nan=False) + "\n"
    if path is not None:
        write_complete(Path(path), text.encode())
    return text
