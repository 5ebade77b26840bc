r"""What more rows would tell a classifier: the error that it expects of itself, from what it knows today.

With n rows the function of a class at an input has the mean m and the variance v, if the label of that row is not known. More rows
lower the variance to rv on average, and move the mean by a normal variable of variance (1 - r)v: what is known later is spread
around what is known now. The probabilities p' that follow are as right as those of today, so that the expected error rate is the
average of :math:`1-\max_cp'_c`, and the expected log loss that of :math:`-\sum_cp'_c\ln p'_c`. At r = 0 the function is known, and what is
left is due to classes that overlap.

A label carries as much information about the function as a measurement with noise of variance :math:`1/\langle W\rangle`, W the
curvature of its log likelihood. So :math:`r = \epsilon(n)/\epsilon(n_0)` follows from the learning curve of that regression
(`error_curve.simulate_curve`), whose inputs are like the rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import xlogy

from gpcurves.forecasting.classes.members import ClassMixture, average_log_odds, find_probabilities
from gpcurves.forecasting.effort import Computation
from gpcurves.forecasting.error_curve import ErrorCurve, simulate_curve
from gpcurves.inputs import Inputs
from gpcurves.numerics.validation import FloatArray
from gpcurves.problem import Problem

_MOST_ROWS = 400  # over which expectations are averaged
_SMALL = 0.1  # members with less weight are left out
_KNOTS = np.array(
    [1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.02, 0.0]
)  # of r, between which is interpolated


@dataclass(frozen=True, eq=False)
class Expectation:
    """Error rate and log loss that one member expects, at shares r of the variance that is left."""

    problem: Problem
    curve: ErrorCurve
    rows: float
    error: FloatArray
    loss: FloatArray

    def remaining(self, n: FloatArray) -> FloatArray:
        """Return which share of today's variance is left at n, which is not below the rows at hand."""
        sizes = np.maximum(np.append(self.rows, n), self.rows)
        left = np.maximum(self.curve(sizes) - self.curve.noise, 0.0)
        return np.asarray(np.clip(left[1:] / left[0], 0.0, 1.0)) if left[0] > 0 else np.zeros(len(n))

    def __call__(self, n: FloatArray) -> FloatArray:
        """Return error rate and log loss at each n, one row each."""
        share = np.where(np.isinf(n), 0.0, self.remaining(np.where(np.isinf(n), 1.0, n)))
        return np.array([np.interp(share, _KNOTS[::-1], each[::-1]) for each in (self.error, self.loss)])


@dataclass(frozen=True, eq=False)
class Expectations:
    """What the members expect, with their weights."""

    members: tuple[Expectation, ...]
    weights: FloatArray

    def __call__(self, n: FloatArray) -> FloatArray:
        """Return error rate and log loss at each n, one row each; infinity stands for the best rule."""
        return np.asarray(np.tensordot(self.weights, np.array([each(n) for each in self.members]), 1))

    @property
    def likeliest(self) -> Problem:
        """The problem of regression of the member with most weight."""
        return self.members[int(np.argmax(self.weights))].problem


def expect(mixture: ClassMixture, inputs: Inputs, rows: float, computation: Computation) -> Expectations:
    """Return what the members with weight expect of more rows; ``rows`` are today's."""
    effort, rng = computation.effort, computation.rng
    size = int(max(min(16 * rows, effort.simulated_rows), 4 * min(rows, effort.fitted_rows) // 3))
    X, test = inputs.draw(size, rng), inputs.draw(effort.test_inputs, rng)
    seed = int(rng.integers(2**32))
    found, weights = [], []
    parts = zip(mixture.regressions, mixture.temperatures, mixture.weights, strict=True)
    for regression, temperature, weight in parts:
        if weight < min(_SMALL, float(mixture.weights.max())):
            continue
        information = float(np.mean([each.W.mean() for each in regression.posteriors]))
        problem = regression.member.problem(inputs, 1 / max(information, 1e-3))
        curve = simulate_curve(problem, X, test)
        values = spread(*regression.leave_one_out(), temperature, np.random.default_rng(seed), effort.draws)
        found.append(Expectation(problem, curve, rows, *values))
        weights.append(weight)
    return Expectations(tuple(found), np.array(weights) / sum(weights))


def spread(
    mean: FloatArray, variance: FloatArray, temperature: float, rng: np.random.Generator, draws: int
) -> tuple[FloatArray, FloatArray]:
    """Return expected error rates and log losses at the knots, averaged over rows and draws of what will be known."""
    if len(mean) > _MOST_ROWS:
        pick = rng.permutation(len(mean))[:_MOST_ROWS]
        mean, variance = mean[pick], variance[pick]
    normal = rng.standard_normal(((draws + 1) // 2, *mean.shape))
    normal = np.concatenate((normal, -normal))
    errors, losses = [], []
    for share in _KNOTS:
        later = mean + math.sqrt(1 - share) * np.sqrt(variance) * normal
        p = find_probabilities(average_log_odds(later, share * variance), temperature)
        errors.append(float(1 - p.max(axis=-1).mean()))
        losses.append(float(-xlogy(p, p).sum(axis=-1).mean()))
    # what is expected to be known better is never expected to be worse; the draws are finite
    return tuple(np.minimum.accumulate(each) for each in (errors, losses))  # type: ignore[return-value]
