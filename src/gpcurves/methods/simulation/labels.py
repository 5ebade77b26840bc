"""Data sets with labels of any kind: functions and labels are drawn, inferred from, and compared with at test inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gpcurves.methods.simulation.dataset import Prior
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
        problem, rng = self.problem, stream(self.seed, task)
        X = problem.design.draw(problem, max(self.sizes), rng)
        test = problem.inputs.draw(self.test_points, rng)
        values = _draw_function(Prior(problem.true_kernel, problem.inputs, 0.0), np.concatenate((X, test)), rng)
        labels = self.true_observation.draw(values[: len(X)], X, rng)
        student = Prior(problem.kernel, problem.inputs, 0.0)
        K, cross, prior = student.between(X), student.between(X, test), student.variances(test)
        space, points = find_space(K, cross) if self.inference == "ep" else (Covariances(K), cross)
        results: dict[str, FloatArray] = {name: np.empty(len(self.sizes)) for name in self.fields}
        belief: Any = None
        for place in np.argsort(self.sizes, kind="stable").tolist():
            n = self.sizes[place]
            if self.inference == "gibbs":
                mean, variance = gibbs(K[:n, :n], cross[:n], prior, labels[:n], problem.observation, rng)
            elif self.inference == "ep":
                belief = expectation_propagation(space.first(n), labels[:n], problem.observation, belief)
                mean, variance = belief.predict(points if isinstance(space, Features) else points[:n], prior)
            else:
                belief = laplace(K[:n, :n], labels[:n], problem.observation, belief)
                mean, variance = belief.predict(cross[:n], prior)
            measured = self._measure(values[len(X) :], mean, variance)
            measured |= {"error": measured[self.quantity], "claimed": float(variance.mean())}
            measured["failed"] = float(belief is not None and not belief.converged)
            for name, value in measured.items():
                results[name][place] = value
        return dict(results)

    def _measure(self, values: FloatArray, mean: FloatArray, variance: FloatArray) -> dict[str, float]:
        """Compare predictions with the function; the average over the labels that it would have is exact."""
        measured = {"mse": float(np.mean((values - mean) ** 2))}
        student, true = self.problem.observation, self.true_observation
        if not isinstance(student, Classes) or not isinstance(true, Classes):
            return measured
        truth = true.probability(values, np.zeros_like(values))[0]
        predicted = student.tilt(np.ones_like(mean), mean, variance)[0]
        opposite = student.tilt(-np.ones_like(mean), mean, variance)[0]
        guess = np.where(mean == 0, 0.5, mean > 0)  # before anything is learnt, either class
        measured["error-rate"] = float(np.mean(guess * (1 - truth) + (1 - guess) * truth))
        measured["sign-error-rate"] = float(np.mean(np.where(values > 0, 1 - guess, guess)))
        measured["log-loss"] = float(-np.mean(truth * predicted + (1 - truth) * opposite))
        return measured

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
