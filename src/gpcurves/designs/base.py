"""What a design is: a rule that chooses training inputs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields
from typing import Any, ClassVar

import numpy as np

from gpcurves.errors import InputError
from gpcurves.numerics.plain import Piece, show_parameters
from gpcurves.numerics.validation import FloatArray


class Design(Piece, ABC, family="design"):
    """A rule that chooses training inputs.

    Only exact results for it, bounds that hold for every data set, and simulations apply to inputs that are not drawn at random.

    Laws: ``draw`` returns ``count`` inputs; a ``nested`` design of fewer inputs is the beginning of one of more; a
    ``deterministic`` one is the same whatever the random numbers are.
    """

    nested: ClassVar[bool] = True
    """Whether inputs are chosen one after the other, so that one data set has all smaller ones in it."""
    deterministic: ClassVar[bool] = False
    """Whether there is only one data set of each size."""

    @abstractmethod
    def draw(self, problem: Any, count: int, rng: np.random.Generator) -> FloatArray:
        """Return the training inputs of a data set of ``count`` examples for a problem, in their order."""

    def objection(self, problem: Any) -> str | None:
        """Say why inputs of a problem cannot be chosen in this way, or return None if they can."""
        return None

    def count_objection(self, problem: Any, counts: FloatArray) -> str | None:
        """Say why there is no design with one of these numbers of examples, or return None if there is."""
        return None

    def check_count(self, problem: Any, count: int) -> None:
        """Raise if there is no design with this number of examples."""
        if (reason := self.count_objection(problem, np.array([float(count)]))) is not None:
            raise InputError(reason)

    def __repr__(self) -> str:
        changed: Any = [each for each in fields(self) if getattr(self, each.name) != each.default]  # type: ignore[arg-type]
        return show_parameters(self, changed)


class CubeDesign(Design):
    """Points of the unit cube, which become inputs through the quantiles of each component."""

    name = ""

    @abstractmethod
    def points(self, dim: int, count: int, rng: np.random.Generator) -> FloatArray:
        """Return ``count`` points of the unit cube, at least one."""

    def draw(self, problem: Any, count: int, rng: np.random.Generator) -> FloatArray:
        self.check_count(problem, count)
        inputs = problem.inputs
        if count == 0:
            return np.empty((0, inputs.dim))
        chosen: FloatArray = inputs.from_uniform(self.points(inputs.dim, count, rng))
        return chosen

    def objection(self, problem: Any) -> str | None:
        if problem.inputs.has_quantiles:
            return None
        what = "a graph has no coordinates" if problem.axis == "nu" else f"{problem.inputs!r} has no quantiles"
        return (
            f"the design {self.name!r} needs inputs with quantiles, but {what}: use greedy, greedy-variance or random"
        )


def as_design(design: object) -> Design:
    """Return a design, also by its name on the command line; a random one for None."""
    if design is None or isinstance(design, str):
        kind: Any = Design.named(design or "random")
        return kind()  # type: ignore[no-any-return]
    if not isinstance(design, Design):
        raise InputError(f"a design must be a rule that chooses inputs such as Random(), or its name, got {design!r}")
    return design
