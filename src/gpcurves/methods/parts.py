"""What methods are made of besides themselves: what they promise, their options, and what they find."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import Any

from gpcurves.curve import LearningCurve
from gpcurves.numerics.parameters import check_parameters
from gpcurves.numerics.plain import as_plain
from gpcurves.numerics.validation import FloatArray
from gpcurves.problem import Problem


class Kind(Enum):
    """What a number is in relation to the truth."""

    APPROXIMATION = "approximation"
    LOWER_BOUND = "lower bound"
    UPPER_BOUND = "upper bound"
    EXACT = "exact"
    ESTIMATE = "estimate"


class Scope(Enum):
    """Of what a method is an approximation, a bound or an estimate."""

    AVERAGE = "the average error"
    EVERY_DATASET = "the error of every data set"
    MODIFIED = "a modified error"
    OTHER_PROBLEM = "the average error of another problem"
    SPARSE = "the average error with few inducing points"


@dataclass(frozen=True)
class MethodOptions:
    """Options of a method: a frozen dataclass with fields made by `parameter`. This one has none."""

    def __post_init__(self) -> None:
        check_parameters(self)

    def objection(self, problem: Problem, given: Collection[str]) -> str | None:
        """Say why an option does not belong to this problem, or return None; ``given`` are the names of those not left out."""
        for each in fields(self):
            axis, on = each.metadata.get("axis"), each.metadata.get("on")
            if each.name not in given:
                continue
            if axis not in (None, problem.axis):
                kind = "inputs that are vectors" if axis == "n" else "graphs"
                return f"{each.name} applies to {kind}, not to this problem"
            if on == "ensemble" and problem.ensemble is None:
                return f"{each.name} applies to an ensemble of graphs, but here the graph is given"
            if on == "graph" and problem.ensemble is not None:
                return f"{each.name} applies to a given graph, but this is an ensemble"
        return None

    def to_dict(self) -> dict[str, Any]:
        """Return the options that are not their defaults, as plain data; they reproduce a curve."""
        values = {each.name: (getattr(self, each.name), each.default) for each in fields(self)}
        return {name: as_plain(value) for name, (value, default) in values.items() if value != default}


@dataclass(frozen=True)
class Result:
    """What a method found at the sizes it was asked for; the fields of `LearningCurve` with these names."""

    error: FloatArray
    stderr: FloatArray | None = None  # None if the error is not random
    spectrum_error: FloatArray | None = None
    details: Mapping[str, FloatArray] = field(default_factory=dict)
    diagnostics: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    sizes: FloatArray | None = None  # if they are not those asked for: a method with a second axis repeats them
    interrupted: bool = False  # whether Ctrl-C ended the computation early, so that this is of what was finished


class CurveInterrupted(KeyboardInterrupt):
    """Ctrl-C while a curve was computed; carries the curve of what was finished."""

    def __init__(self, curve: LearningCurve) -> None:
        super().__init__("interrupted")
        self.curve = curve
