"""Designs that choose one input after the other, out of candidates."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from gpcurves.designs.base import Design
from gpcurves.errors import InputError
from gpcurves.numerics.memory import check_memory
from gpcurves.numerics.parameters import parameter
from gpcurves.numerics.validation import FloatArray, integer

Positions = npt.NDArray[np.intp]
ROUNDING = 1e-14
"""A candidate whose variance is below this share of the largest one is known: its covariances are rounding errors."""


@dataclass(frozen=True)
class Candidates:
    """Inputs to choose from."""

    points: FloatArray
    weights: FloatArray  # of each in the average over inputs
    free: npt.NDArray[np.bool_]  # whether it may be chosen
    known: int  # the first so many are training inputs already


@dataclass(frozen=True, repr=False)
class CandidateDesign(Design):
    """Chooses among all inputs if they are finitely many (the vertices of a graph), and otherwise among evenly spread ones."""

    name = ""
    deterministic = True
    candidates: int = parameter(
        1_024,
        help="Number of candidate inputs if there are infinitely many inputs; rounded up to a power of 2",
        check=partial(integer, minimum=1, maximum=1e6),
    )
    repeat: bool = parameter(
        True, help="Whether a vertex or discrete input may be chosen more than once; without noise it never is"
    )

    @abstractmethod
    def choose(self, problem: Any, among: Candidates, count: int) -> Positions:
        """Return the positions of ``count`` candidates, the first choice first."""

    def draw(self, problem: Any, count: int, rng: np.random.Generator) -> FloatArray:
        return self.draw_after(problem, np.empty((0, problem.inputs.dim)), count)

    def draw_after(self, problem: Any, known: FloatArray, count: int) -> FloatArray:
        """Return the inputs to choose next if labels at some inputs are known already."""
        self.check_count(problem, count)
        points, weights = self.spread(problem)
        free = np.concatenate((np.zeros(len(known), dtype=bool), np.ones(len(points), dtype=bool)))
        if self.once(problem) and len(known):
            free[len(known) :] = ~(points[:, None] == known).all(axis=2).any(axis=1)
        if self.once(problem) and count > free.sum():
            raise InputError(f"{free.sum()} inputs are left to choose from, but {count} are asked for")
        among = Candidates(
            np.concatenate((known, points)), np.concatenate((np.zeros(len(known)), weights)), free, len(known)
        )
        return np.asarray(among.points[self.choose(problem, among, count)])

    def once(self, problem: Any) -> bool:
        """Tell whether no candidate is chosen twice."""
        return not self.repeat or not problem.inputs.enumerable or problem.noise == 0

    def spread(self, problem: Any) -> tuple[FloatArray, FloatArray]:
        """Return the candidates, and the weight of each in the average over inputs."""
        inputs = problem.inputs
        if inputs.enumerable or not inputs.has_quantiles:
            nodes: tuple[FloatArray, FloatArray] = inputs.nodes(self.candidates)
            return nodes
        from scipy.stats import qmc

        digits = math.ceil(math.log2(self.candidates))
        cube = qmc.Sobol(inputs.dim, scramble=False).random_base2(digits) + 0.5 / 2**digits  # the middle of each cell
        return inputs.from_uniform(cube), np.full(len(cube), 1 / len(cube))

    def objection(self, problem: Any) -> str | None:
        observation = problem.observation
        if observation.gaussian_noise is not None:
            return None
        return f"the design {self.name!r} needs Gaussian noise, but labels are {observation!r}"

    def count_objection(self, problem: Any, counts: FloatArray) -> str | None:
        if not self.once(problem):
            return None
        inputs = problem.inputs
        if problem.axis == "nu" or inputs.enumerable:
            there = len(inputs.nodes(self.candidates)[0])
            what = "vertices" if problem.axis == "nu" else "inputs"
            instead = "without noise a repeated label adds no information" if problem.noise == 0 else "allow repeats"
        else:
            there = 2 ** math.ceil(math.log2(self.candidates))
            what, instead = "candidates", "ask for more candidates"
        if counts.max() <= there:
            return None
        return (
            f"the design {self.name!r} chooses each of {there:,} {what} once, but {counts.max():,g} are asked for: "
            f"{instead}"
        )


def check_matrix(count: int, columns: int, what: str) -> None:
    """Refuse a choice among so many candidates that memory does not hold matrices of this size."""
    check_memory(24.0 * count * columns, f"a choice among {count:,} {what}", "use the design sobol or random")
