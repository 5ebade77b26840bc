"""The list of methods: what each computes, what it promises, when it applies and where it comes from.

A method is a function of a problem and an array of n (examples) or nu (examples per vertex of a graph). Decorating it with `register` is all that is needed: the command
line, ``--methods all``, the table of methods and the laws of the test suite read this list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from gpcurves.errors import NotApplicableError, unknown_name
from gpcurves.numerics.validation import FloatArray
from gpcurves.problem import AnyProblem

Evaluate = Callable[[Any, FloatArray], FloatArray]
Condition = Callable[[Any], str | None]
"""Returns why a problem does not meet the condition, or None where it does."""


class Kind(Enum):
    """What a number is in relation to the truth."""

    APPROXIMATION = "approximation"
    LOWER_BOUND = "lower bound"
    UPPER_BOUND = "upper bound"
    EXACT = "exact"
    ESTIMATE = "estimate"


@dataclass(frozen=True)
class Method:
    """A way to compute a learning curve.

    Attributes
    ----------
    name, title
        Short name for code and command line; name in words.
    kind, of
        What it is (approximation, bound, exact), and of what.
    promise
        What may be relied on, in one sentence.
    source
        Paper and equation.
    conditions
        What a problem must meet; ``needs`` says the same in words.
    continuous
        Whether n may be any real number; otherwise it must be whole.
    matched
        Whether student and teacher must agree.
    axes
        What it takes: "n" for inputs that are vectors, "nu" for vertices of graphs.
    """

    name: str
    title: str
    kind: Kind
    of: str
    promise: str
    source: str
    needs: str
    conditions: tuple[Condition, ...]
    continuous: bool
    evaluate: Evaluate
    matched: bool = True
    axes: tuple[str, ...] = ("n",)

    def objection(self, problem: AnyProblem, n: FloatArray | None = None) -> str | None:
        """Say why this method does not apply, or return None where it does."""
        if problem.axis not in self.axes:
            return (
                "it is for graphs, and this is not one"
                if "nu" in self.axes
                else "it is not for graphs, and this is one"
            )
        if self.matched and problem.teacher is not None:
            return "student and teacher must agree, and here they differ"
        for condition in self.conditions:
            reason = condition(problem)
            if reason is not None:
                return reason
        if n is not None and not self.continuous and problem.axis == "n":
            broken = n[n != np.floor(n)]
            if len(broken):
                return f"n must be whole numbers, got {broken[0]:g}"
        return None

    def __call__(self, problem: AnyProblem, n: FloatArray) -> FloatArray:
        """Return the error at each n, or raise where the method does not apply."""
        reason = self.objection(problem, n)
        if reason is not None:
            raise NotApplicableError(f"method {self.name!r} does not apply: {reason}")
        return self.evaluate(problem, n)


class _Registry(Mapping[str, Method]):
    """Methods by name, in the order in which they were defined; an unknown name is an error with a suggestion."""

    def __init__(self) -> None:
        self._methods: dict[str, Method] = {}

    def add(self, method: Method) -> None:
        assert method.name not in self._methods
        self._methods[method.name] = method

    def __getitem__(self, name: str) -> Method:
        try:
            return self._methods[name]
        except (KeyError, TypeError):  # a list, say, cannot be looked up at all
            raise unknown_name("method", str(name), self._methods) from None

    def __contains__(self, name: object) -> bool:
        return name in self._methods

    def __iter__(self) -> Iterator[str]:
        return iter(self._methods)

    def __len__(self) -> int:
        return len(self._methods)


METHODS = _Registry()


def register(
    name: str,
    title: str,
    kind: Kind,
    *,
    of: str = "the average error",
    promise: str,
    source: str,
    needs: str = "",
    conditions: tuple[Condition, ...] = (),
    continuous: bool = True,
    matched: bool = True,
    axes: tuple[str, ...] = ("n",),
) -> Callable[[Evaluate], Evaluate]:
    """Enter a function of (problem, n) into the list of methods."""

    def enter(evaluate: Evaluate) -> Evaluate:
        METHODS.add(
            Method(name, title, kind, of, promise, source, needs, conditions, continuous, evaluate, matched, axes)
        )
        return evaluate

    return enter


def noisy(problem: AnyProblem) -> str | None:
    """Condition: there is noise."""
    return None if problem.noise > 0 else "the noise must be greater than 0, got 0"
