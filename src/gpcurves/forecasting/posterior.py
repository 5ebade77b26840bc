"""What the rows say about kernel and noise: a weighted set of problems.

Hyperparameters are drawn by Hamiltonian Monte Carlo in coordinates whitened by the curvature at the mode; the two families
of covariance functions are weighted by Laplace's approximation to their evidence.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gpcurves.forecasting.density import LogPosterior, Peak, weigh_families
from gpcurves.forecasting.effort import Effort
from gpcurves.forecasting.evidence import build_problem
from gpcurves.inputs import Inputs
from gpcurves.numerics.validation import FloatArray
from gpcurves.problem import Problem

_MANY = 200
"""So many rows pin the hyperparameters down: fewer need more draws, more need shorter chains."""


@dataclass(frozen=True)
class WeightedProblems:
    """Problems with their probabilities, which sum to 1."""

    problems: tuple[Problem, ...]
    weights: FloatArray


def draw_problems(
    peaks: list[Peak], inputs: Inputs, rng: np.random.Generator, effort: Effort, report: Callable[[float], None]
) -> WeightedProblems:
    """Draw from the posterior of each family; ``report`` receives the share that is done."""
    problems: list[Problem] = []
    weights: list[float] = []
    for place, (peak, probability) in enumerate(zip(peaks, weigh_families(peaks), strict=True)):
        rows = len(peak.density.evidence.y)
        count = math.ceil(effort.draws * min(effort.most_draws, max(1.0, _MANY / rows)))
        evaluations = math.ceil(effort.draws * effort.evaluations / rows * min(1.0, math.sqrt(_MANY / rows)))

        def advance(share: float, done: int = place) -> None:
            report((done + share) / len(peaks))

        draws = draw_hyperparameters(peak, count, evaluations, rng, advance)
        problems += [build_problem(peak.density.evidence.family, theta, inputs) for theta in draws]
        weights += [probability / count] * count
    return WeightedProblems(tuple(problems), np.array(weights))


def draw_hyperparameters(
    peak: Peak, count: int, evaluations: int, rng: np.random.Generator, report: Callable[[float], None]
) -> FloatArray:
    """Return draws of the log hyperparameters, one per row, evenly from one chain."""
    chain = _run_chain(peak.density, peak.mode, peak.whitening, evaluations, rng, report)
    return np.asarray(chain[np.linspace(0, len(chain) - 1, count).round().astype(int)])


def _run_chain(
    density: LogPosterior,
    mode: FloatArray,
    whitening: FloatArray,
    evaluations: int,
    rng: np.random.Generator,
    report: Callable[[float], None],
) -> FloatArray:
    """Run a chain from the mode and return its states after the first third, which also tunes the step."""
    theta = mode
    value, gradient = density(theta)
    step, states, spent = 0.4, [], 0
    while spent < evaluations:
        momentum = rng.standard_normal(len(theta))
        leaps = int(rng.integers(3, 9))
        new, speed, slope = theta, momentum, gradient
        size = step * rng.uniform(0.8, 1.2)
        ahead = -math.inf
        for _ in range(leaps):
            speed = speed + 0.5 * size * (slope @ whitening)
            new = new + size * (whitening @ speed)
            ahead, slope = density(new)
            spent += 1
            if not math.isfinite(ahead):
                break
            speed = speed + 0.5 * size * (slope @ whitening)
        acceptance = math.exp(min(0.0, ahead - value + 0.5 * float(momentum @ momentum - speed @ speed)))
        if rng.random() < acceptance:
            theta, value, gradient = new, ahead, slope
        if 3 * spent < evaluations:
            step *= math.exp(0.15 * (acceptance - 0.8))  # 80 % of the proposals accepted is about best
        else:
            states.append(theta)
        report(min(1.0, spent / evaluations))
    return np.array(states)
