"""Data sets with labels of any kind: functions and labels are drawn, inferred from, and compared with at test inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gpcurves.methods.simulation.dataset import Prior, draw_by_size
from gpcurves.methods.simulation.inference import (
    Covariances,
    Features,
    expectation_propagation,
    find_space,
    gibbs,
    laplace,
)
from gpcurves.montecarlo import Shape, stream
from gpcurves.numerics.cholesky import factorise_pivoted
from gpcurves.numerics.validation import FloatArray
from gpcurves.observations import GaussianNoise, Observation, Probit
from gpcurves.observations.classes import Classes
from gpcurves.problem import Problem

_ALGORITHM = 1  # changes whenever the numbers of a data set would, so that old stores are not mixed with new results
_CLASSES = ("mse", "error-rate", "sign-error-rate", "log-loss")
_TOLERANCE = 1e-3  # of EP, in standard deviations: errors of this size change a squared error by their square
TEST_POINTS = 200  # fewer than with Gaussian noise, because functions differ more than test inputs


@dataclass(frozen=True)
class LabelledDataSets:
    """Data sets of a problem on vectors, each with a function of its own."""

    problem: Problem
    sizes: tuple[int, ...]
    seed: int
    test_points: int
    inference: str
    quantity: str = "mse"

    def at(self, sizes: FloatArray) -> LabelledDataSets:
        """Return the same data sets with other numbers of examples."""
        return replace(self, sizes=tuple(int(size) for size in sizes.tolist()))

    @property
    def key(self) -> Mapping[str, Any]:
        return {
            "task": "simulation of labels",
            "algorithm": _ALGORITHM,
            "problem": self.problem.to_dict(),
            "n": self.sizes,
            "rng": self.seed,
            "test_points": self.test_points,
            "inference": self.inference,
            "quantity": self.quantity,
        }

    @property
    def quantities(self) -> tuple[str, ...]:
        """What is measured at each size."""
        return _CLASSES if isinstance(self.problem.observation, Classes) else ("mse",)

    @property
    def fields(self) -> Mapping[str, Shape]:
        """The quantity asked for and all others, what the model claims as its variance, and where inference did not converge."""
        return dict.fromkeys(("error", *self.quantities, "claimed", "failed"), (len(self.sizes),))

    @property
    def true_observation(self) -> Observation:
        """How labels are really made: with a teacher, by Gaussian noise of its variance, before the sign is taken for classes."""
        problem = self.problem
        if problem.teacher is None:
            return problem.observation
        level = problem.teacher.noise
        return Probit(level) if problem.observation.classes else GaussianNoise(level)

    def draw(self, task: int) -> Mapping[str, FloatArray | float]:
        return draw_by_size(self, task)

    def draw_nested(self, task: int) -> Mapping[str, FloatArray | float]:
        """Draw one data set, of which the first n examples are the data set of size n."""
        problem, rng = self.problem, stream(self.seed, task)
        X = problem.design.draw(problem, max(self.sizes), rng)
        test = problem.test_inputs.draw(self.test_points, rng)
        everywhere, teacher = np.concatenate((X, test)), problem.teacher
        if teacher is not None and teacher.function is not None:
            values = teacher.values(everywhere)
        else:
            values = _draw_function(Prior(problem.true_kernel, problem.inputs, 0.0), everywhere, rng)
        labels = self.true_observation.draw(values[: len(X)], X, rng)
        true, truth = self.true_observation, None  # the probability of the class 1 at test inputs
        if isinstance(true, Classes):
            truth = true.probability(values[len(X) :], np.zeros(len(test)))[0]
        student = Prior(problem.kernel, problem.inputs, 0.0)
        K, cross, prior = student.between(X), student.between(X, test), student.variances(test)
        space, points = find_space(K, cross) if self.inference == "ep" else (Covariances(K), cross)
        means, variances, failed = (np.empty((len(self.sizes), each)) for each in (len(test), len(test), 1))
        belief: Any = None
        for place in np.argsort(self.sizes, kind="stable").tolist():
            n = self.sizes[place]
            if self.inference == "gibbs":
                beliefs = gibbs(K[:n, :n], cross[:n], prior, labels[:n], problem.observation, rng)
            elif self.inference == "ep":
                belief = expectation_propagation(space.first(n), labels[:n], problem.observation, belief, _TOLERANCE)
                beliefs = belief.predict(points if isinstance(space, Features) else points[:n], prior)
            else:
                belief = laplace(K[:n, :n], labels[:n], problem.observation, belief)
                beliefs = belief.predict(cross[:n], prior)
            means[place], variances[place] = beliefs
            failed[place] = belief is not None and not belief.converged
        measured = self._measure(values[len(X) :], truth, means, variances)
        return measured | {
            "error": measured[self.quantity],
            "claimed": variances.mean(axis=1),
            "failed": failed[:, 0],
        }

    def _measure(
        self, values: FloatArray, truth: FloatArray | None, means: FloatArray, variances: FloatArray
    ) -> dict[str, FloatArray | float]:
        """Compare predictions with the function at each size; the average over the labels that it would have is exact."""
        measured = {"mse": ((values - means) ** 2).mean(axis=1)}
        if truth is None:
            return dict(measured)
        one = np.ones_like(means)
        predicted = self.problem.observation.tilt(one, means, variances)[0]
        opposite = self.problem.observation.tilt(-one, means, variances)[0]
        guess = np.where(means == 0, 0.5, means > 0)  # before anything is learnt, either class
        measured["error-rate"] = (guess * (1 - truth) + (1 - guess) * truth).mean(axis=1)
        measured["sign-error-rate"] = np.where(values > 0, 1 - guess, guess).mean(axis=1)
        measured["log-loss"] = -(truth * predicted + (1 - truth) * opposite).mean(axis=1)
        return dict(measured)

    def memory(self) -> float:
        """Return the bytes that one data set needs at most."""
        n = float(max(self.sizes))
        return 8.0 * (3 * (n + self.test_points) ** 2 + 5 * n * n)


def _draw_function(prior: Prior, X: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Draw the values of a function at points; the pivoted factor ends where smooth functions leave nothing more to decide."""
    C = np.asfortranarray(prior.between(X))
    factor, order = factorise_pivoted(C, np.finfo(float).eps * len(X) * float(C.diagonal().max()))
    values = np.empty(len(X))
    values[order] = factor @ rng.standard_normal(factor.shape[1])
    return values
