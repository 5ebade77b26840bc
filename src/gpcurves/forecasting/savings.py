"""What choosing inputs could save, compared with drawing them at random."""

from __future__ import annotations

import numpy as np

from gpcurves.designs.greedy import choose_greedily
from gpcurves.forecasting.effort import Effort
from gpcurves.forecasting.error_curve import factorise, simulate_curve
from gpcurves.methods.simulation.dataset import Prior
from gpcurves.numerics.validation import FloatArray
from gpcurves.problem import Problem

_RANDOM = 4
"""Data sets with random inputs beside the one with chosen inputs."""


def measure_savings(problem: Problem, known: FloatArray, rng: np.random.Generator, effort: Effort) -> FloatArray:
    """Return which share of the error remains if further inputs are chosen, after 0, 1, … of them, at most 1.

    Inputs are chosen by the variance at reference inputs; the error is the average over others.
    """
    counts = (effort.candidates, effort.test_inputs, effort.test_inputs)
    candidates, reference, test = (problem.inputs.draw(count, rng) for count in counts)
    prior = Prior(problem.kernel, problem.inputs, problem.noise)
    factor = factorise(prior, known)
    points = np.concatenate((candidates, reference))
    W = factor.solve(prior.between(known, points))
    C = prior.between(candidates, points) - W[:, : len(candidates)].T @ W
    own, across = np.split(C, [len(candidates)], axis=1)
    chosen = candidates[choose_greedily(own, across, problem.noise, effort.chosen)]
    random = [problem.inputs.draw(effort.chosen, rng) for _ in range(_RANDOM)]
    errors = [
        simulate_curve(problem, np.concatenate((known, more)), test).error[len(known) :] for more in (chosen, *random)
    ]
    resolved = min(map(len, errors))
    if resolved == 0:  # the factor ends before the rows do, since they leave nothing to learn
        return np.ones(1)
    best, *others = (error[:resolved] for error in errors)
    return np.asarray(np.minimum(1.0, best / np.mean(others, axis=0)))
