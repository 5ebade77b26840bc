"""The experiment of a simulation on vectors: draw a data set, and return its error at all sizes at once."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gpcurves.inputs import Box, Inputs
from gpcurves.methods.simulation.dataset import (
    ClosedForm,
    Prior,
    Test,
    TestPoints,
    errors,
    training_errors,
    without_repeats,
)
from gpcurves.montecarlo import Shape, stream
from gpcurves.numerics.cholesky import Factor
from gpcurves.numerics.validation import FloatArray
from gpcurves.problem import Problem

_ALGORITHM = 1
"""Changes whenever the numbers of a data set would, so that old stores are not mixed with new results."""


@dataclass(frozen=True)
class DataSets:
    """Data sets of a problem on vectors.

    Attributes
    ----------
    problem
        What to simulate.
    sizes
        Numbers of examples.
    seed
        Determines all random numbers.
    test_points
        Test inputs per data set, if the average over them has no closed form.
    also
        Further averages: "training" and "empirical".
    prior_variance
        The average prior variance of the true function, computed once for all workers.
    """

    problem: Problem
    sizes: tuple[int, ...]
    seed: int
    test_points: int
    also: tuple[str, ...]
    prior_variance: float

    @property
    def key(self) -> Mapping[str, Any]:
        """Everything that determines a data set."""
        return {
            "task": "simulation",
            "algorithm": _ALGORITHM,
            "problem": self.problem.to_dict(),
            "n": list(self.sizes),
            "rng": self.seed,
            "test_points": self.test_points,
            "also": list(self.also),
        }

    @property
    def fields(self) -> Mapping[str, Shape]:
        """The errors, and from which n on test points replaced a closed form."""
        along = {name: (len(self.sizes),) for name in ("error", *self.also)}
        return {**along, "replaced": ()}

    @property
    def inputs(self) -> Inputs:
        """The input distribution."""
        return self.problem.inputs

    @cached_property
    def fixed_test(self) -> Test | None:
        """The test average that is the same for every data set, or None if test points are drawn for each."""
        return exact_test(self.problem)

    def draw(self, task: int) -> Mapping[str, FloatArray | float]:
        """Draw a data set and return its errors at the sizes asked for."""
        problem = self.problem
        rng = stream(self.seed, task)
        X = problem.design.draw(problem, max(self.sizes), rng)
        test = self.fixed_test or self._draw_test(rng)
        student = Prior(problem.kernel, self.inputs, problem.noise)
        teacher = None
        if problem.teacher is not None:
            teacher = Prior(problem.true_kernel, self.inputs, problem.teacher.noise)
        known = np.arange(len(X) + 1)  # how many examples teach something, among the first n
        noise_free = problem.noise == 0 and teacher is None
        if noise_free:
            X, known = without_repeats(X)
        factor = Factor.from_matrix(student.observe(X))
        curve = errors(student, teacher, factor, X, test, self.prior_variance)[known]
        if noise_free and self._all_inputs is not None:
            curve[known == self._all_inputs] = 0.0  # every possible input has been seen without noise
        chosen = list(self.sizes)
        replaced = math.inf
        if isinstance(test, ClosedForm) and (lost := np.isnan(curve[chosen])).any():
            # the closed form loses its digits first, at low noise: test points keep them for longer
            sampled = errors(student, teacher, factor, X, self._draw_test(rng), self.prior_variance)[known]
            curve = np.where(np.isnan(curve), sampled, curve)
            replaced = min(self.sizes[k] for k in np.flatnonzero(lost))
        results: dict[str, FloatArray | float] = {"error": curve[chosen], "replaced": replaced}
        if self.also:
            training, empirical = training_errors(problem.noise, factor, len(X))
            also = {"training": training, "empirical": empirical}
            results |= {name: also[name][known][chosen] for name in self.also}
        return results

    @cached_property
    def _all_inputs(self) -> int | None:
        """How many different inputs there are, if they are finitely many and all of them are test points."""
        test = self.fixed_test
        if not (isinstance(test, TestPoints) and self.inputs.enumerable):
            return None
        return len(np.unique(test.points[test.weights > 0], axis=0))

    def _draw_test(self, rng: np.random.Generator) -> TestPoints:
        points = self.inputs.draw(self.test_points, rng)
        return TestPoints(points, np.full(len(points), 1.0 / len(points)))

    def memory(self) -> float:
        """Return the bytes that one data set needs at most, in matrices of n by n and of n by test points."""
        n = float(max(self.sizes))
        mismatched = self.problem.teacher is not None
        if isinstance(self.fixed_test, ClosedForm):
            matrices = (10 if mismatched else 6) if isinstance(self.inputs, Box) else (7 if mismatched else 3)
            return 8.0 * n * n * max(matrices, 4 if self.also else 0)
        points = self.test_points if self.fixed_test is None else len(self.fixed_test.points)
        return 8.0 * n * (n * (3 if mismatched else 4 if self.also else 1) + points * (5 if mismatched else 3))


def exact_test(problem: Problem) -> Test | None:
    """Return a test average without sampling noise, or None if there is none."""
    inputs, kernel, true_kernel = problem.inputs, problem.kernel, problem.true_kernel
    closed, cross = inputs.overlap(kernel, kernel), inputs.overlap(kernel, true_kernel)
    if closed is not None and cross is not None:
        return ClosedForm(closed, cross)
    nodes = inputs.exact_nodes((kernel, true_kernel))
    return None if nodes is None else TestPoints(*nodes)
