"""Data sets with labels of any kind: functions and labels are drawn, inferred from, and compared with at test inputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
from gpcurves.observations import Observation
from gpcurves.observations.classes import Classes
from gpcurves.problem import Problem

_ALGORITHM = 2  # changes whenever the numbers of a data set would, so that old stores are not mixed with new results
_CLASSES = ("mse", "error-rate", "sign-error-rate", "log-loss")
TOLERANCE = 1e-3  # of means, in standard deviations: errors of this size change a squared error by their square
_SMALL_STEP = 4  # examples from one size to the next, up to which beliefs grow instead of being found anew
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
        return quantities_of(self.problem)

    @property
    def fields(self) -> Mapping[str, Shape]:
        """The quantity asked for and all others, what the model claims as its variance, and where inference did not converge."""
        return dict.fromkeys(("error", *self.quantities, "claimed", "failed"), (len(self.sizes),))

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
            true_covariances = Prior(problem.true_kernel, problem.inputs, 0.0).between(everywhere)
            values = draw_function(true_covariances, rng)
        labels = true_observation(problem).draw(values[: len(X)], X, rng)
        student = Prior(problem.kernel, problem.inputs, 0.0)
        if teacher is None:
            K, cross = true_covariances[: len(X), : len(X)], true_covariances[: len(X), len(X) :]
        else:
            K, cross = student.between(X), student.between(X, test)
        prior = student.variances(test)
        means, variances, failed = (np.empty((len(self.sizes), each)) for each in (len(test), len(test), 1))
        order = np.argsort(self.sizes, kind="stable").tolist()
        ascending = [self.sizes[place] for place in order]
        found = infer(K, cross, prior, labels, problem.observation, ascending, self.inference, rng)
        for place, (mean, variance, converged) in zip(order, found, strict=True):
            means[place], variances[place], failed[place] = mean, variance, not converged
        compared = compare(problem, values[len(X) :], means, variances)
        measured = {name: compared[name].mean(axis=1) for name in self.quantities}
        return measured | {
            "error": measured[self.quantity],
            "claimed": variances.mean(axis=1),
            "failed": failed[:, 0],
        }

    def memory(self) -> float:
        """Return the bytes that one data set needs at most."""
        n = float(max(self.sizes))
        return 8.0 * (3 * (n + self.test_points) ** 2 + 5 * n * n)


def quantities_of(problem: Problem) -> tuple[str, ...]:
    """Return what is measured of predictions."""
    return _CLASSES if isinstance(problem.observation, Classes) else ("mse",)


def true_observation(problem: Problem) -> Observation:
    """Return how labels are really made, which a teacher knows."""
    return problem.observation if problem.teacher is None else problem.teacher.labels(problem.observation)


def compare(problem: Problem, values: FloatArray, means: FloatArray, variances: FloatArray) -> dict[str, FloatArray]:
    """Compare predictions (rows) with the function at points; averages over the labels that it would have are exact."""
    measured = {"mse": (values - means) ** 2}
    true, believed = true_observation(problem), problem.observation
    if not (isinstance(true, Classes) and isinstance(believed, Classes)):
        return measured
    truth = true.probability(values, np.zeros(len(values)))[0]  # of the class 1
    one = np.ones_like(means)
    predicted, opposite = (believed.tilt(label, means, variances)[0] for label in (one, -one))
    guess = np.where(means == 0, 0.5, means > 0)  # before anything is learnt, either class
    measured["error-rate"] = guess * (1 - truth) + (1 - guess) * truth
    measured["sign-error-rate"] = np.where(values > 0, 1 - guess, guess)
    measured["log-loss"] = -(truth * predicted + (1 - truth) * opposite)
    return measured


def infer(
    K: FloatArray,
    cross: FloatArray,
    prior: FloatArray,
    labels: FloatArray,
    observation: Observation,
    sizes: Sequence[int],
    inference: str,
    rng: np.random.Generator,
) -> Iterator[tuple[FloatArray, FloatArray, bool]]:
    """Yield means and variances at points for ascending numbers of labels, and whether inference converged."""
    space, points = find_space(K, cross) if inference == "ep" else (Covariances(K), cross)
    if inference != "gibbs" and isinstance(space, Covariances) and max(sizes) <= _SMALL_STEP * len(sizes):
        from gpcurves.methods.simulation.growing import grow  # compiles, which takes a second

        yield from grow(K, cross, prior, labels, observation, sizes, inference, TOLERANCE)
        return
    belief: Any = None
    for n in sizes:
        if inference == "gibbs":
            yield *gibbs(K[:n, :n], cross[:n], prior, labels[:n], observation, rng), True
            continue
        if inference == "ep":
            belief = expectation_propagation(space.first(n), labels[:n], observation, belief, TOLERANCE)
        else:
            belief = laplace(K[:n, :n], labels[:n], observation, belief, TOLERANCE)
        yield *belief.predict(points if isinstance(space, Features) else points[:n], prior), belief.converged


def draw_function(covariances: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Draw the values of a function at points; the pivoted factor ends where smooth functions leave nothing more to decide."""
    C = np.asfortranarray(covariances)
    factor, order = factorise_pivoted(C, np.finfo(float).eps * len(C) * float(C.diagonal().max()))
    values = np.empty(len(C))
    values[order] = factor @ rng.standard_normal(factor.shape[1])
    return values
