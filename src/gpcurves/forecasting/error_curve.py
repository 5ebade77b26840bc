r"""Errors against the number of rows: cross-validated ones with a power law through them, and learning curves of known problems.

Nested Cholesky factors give the average posterior variance :math:`\epsilon(n)` for every n up to the size of the factor
(see `methods.simulation.dataset`). Beyond, LC says
:math:`\epsilon = g(h)`, :math:`n = h(\sigma^2+\epsilon)` with a function g of the spectrum alone (Sollich & Halees 2002,
eq. 16): the simulated curve is read as g, which is continued as a power law. `measure_savings` compares curves for inputs
that are chosen with curves for random ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import least_squares

from gpcurves.designs.greedy import choose_greedily
from gpcurves.forecasting.effort import Computation
from gpcurves.forecasting.posterior import JITTER, Peak, Regression, build_problem
from gpcurves.inputs import Inputs
from gpcurves.methods.simulation.dataset import Prior, TestPoints, errors
from gpcurves.numerics.cholesky import Factor
from gpcurves.numerics.roots import bisect
from gpcurves.numerics.validation import FloatArray
from gpcurves.problem import Problem

_SHARES = (0.125, 0.25, 0.5, 0.9)  # training sets as shares of the rows; the last is ten-fold cross-validation
Split = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]
_SMALLEST = 4
_WORK = 4_000  # refits times rows, about
_REPEATS, _ITERATIONS, _SPLITS = 4, 20, 20
_MARGIN = 1.0  # errors must exceed the rounding errors by this factor: intervals are so wide that one digit is enough
_RANDOM = 4  # data sets with random inputs beside the one with chosen inputs


@dataclass(frozen=True)
class CrossValidation:
    """Mean squared errors on rows held out, after training on n rows, fewer than there are.

    Logarithms are averaged over the covariance functions; ``stderr`` are standard errors of the logarithms, from the scatter
    of the squared residuals.
    """

    n: FloatArray
    mse: FloatArray
    stderr: FloatArray


def cross_validate(peaks: list[Peak], inputs: Inputs, rng: np.random.Generator) -> CrossValidation:
    """Refit on parts of the rows, starting at the modes for all of them, and test on the others."""
    count = len(peaks[0].density.evidence.y)
    sizes, errors, scatter = [], [], []
    for share in _SHARES:
        size = round(share * count)
        if size < _SMALLEST:
            continue
        splits = _draw_splits(count, share, rng)
        residuals = [_refit_and_predict(peak, inputs, splits) for peak in peaks]
        means = [float(np.mean(r**2)) for r in residuals]
        sizes.append(size)
        errors.append(float(np.exp(np.mean(np.log(means)))))
        each = [np.std(r**2) / (m * np.sqrt(min(count, len(r)))) for r, m in zip(residuals, means, strict=True)]
        scatter.append(float(np.mean(each)))
    return CrossValidation(np.array(sizes, float), np.array(errors), np.array(scatter))


def hold_out(problem: Problem, X: FloatArray, y: FloatArray, rng: np.random.Generator) -> CrossValidation:
    """Return errors on rows held out, with the hyperparameters as they are."""
    count = len(y)
    sizes = sorted({max(1, round(share * count)) for share in _SHARES})
    errors, scatter = [], []
    for size in sizes:
        orders = [rng.permutation(count) for _ in range(_SPLITS)]
        residuals = np.concatenate([_predict(problem, X, y, (order[:size], order[size:])) for order in orders])
        errors.append(float(np.mean(residuals**2)))
        scatter.append(float(np.std(residuals**2) / np.sqrt(count)) / errors[-1])
    return CrossValidation(np.array(sizes, float), np.array(errors), np.array(scatter))


def _draw_splits(count: int, share: float, rng: np.random.Generator) -> list[Split]:
    """Return training sets that are a share of the rows, each with the rows that are left; of the largest, ten folds."""
    if share < _SHARES[-1]:
        orders = [rng.permutation(count) for _ in range(min(6, max(2, _WORK // count)))]
        return [(order[: round(share * count)], order[round(share * count) :]) for order in orders]
    orders = [rng.permutation(count) for _ in range(min(_REPEATS, max(1, _WORK // (10 * count))))]
    parts = [part for order in orders for part in np.array_split(order, min(10, count))]
    return [(np.setdiff1d(np.arange(count), part), part) for part in parts]


def _refit_and_predict(peak: Peak, inputs: Inputs, splits: list[Split]) -> FloatArray:
    """Return the residuals of all splits, one after the other."""
    evidence = peak.density.evidence
    residuals = []
    for number, split in enumerate(splits):
        theta = peak.mode
        if number < max(3, _WORK // len(evidence.y)):  # of many rows a tenth does not change the mode
            theta = peak.density.of_rows(split[0]).find_mode([peak.mode], _ITERATIONS)
        problem = build_problem(evidence.family, theta, inputs)
        residuals.append(_predict(problem, evidence.X, evidence.y, split))
    return np.concatenate(residuals)


def _predict(problem: Problem, X: FloatArray, y: FloatArray, split: Split) -> FloatArray:
    """Return the residuals of some rows after training on others."""
    train, test = split
    return np.asarray(y[test] - Regression(problem, X[train], y[train]).mean(X[test]))


@dataclass(frozen=True)
class PowerLawFit:
    """Mean squared error a + b n^-c fitted to the cross-validated ones: what is usually done, for comparison."""

    floor: float
    factor: float
    exponent: float

    def __call__(self, n: FloatArray) -> FloatArray:
        """Return the mean squared error at n."""
        return np.asarray(self.floor + self.factor * n**-self.exponent)

    @classmethod
    def fit(cls, observed: CrossValidation) -> PowerLawFit:
        """Fit by least squares in the logarithm, with none of the three below zero."""
        n, log_mse = observed.n / observed.n[-1], np.log(observed.mse)

        def mismatch(p: FloatArray) -> FloatArray:
            return np.asarray(np.log(np.exp(p[0]) + np.exp(p[1]) * n ** -np.exp(p[2])) - log_mse)

        last = log_mse[-1]
        starts = [(last + np.log(a), last + np.log1p(-a), np.log(c)) for a in (0.1, 0.6) for c in (0.4, 1.0)]
        bounds = ([last - 15, last - 9, -4], [last + 1, last + 3, 1.2])
        runs = [least_squares(mismatch, start, bounds=bounds) for start in starts]
        a, b, c = np.exp(min(runs, key=lambda run: float(run.cost)).x)
        return cls(float(a), float(b * observed.n[-1] ** c), float(c))


@dataclass(frozen=True)
class ErrorCurve:
    """Average posterior variance after 0, 1, … examples, with the noise that is not in it.

    What looks like noise to ``since`` rows may fade as more rows resolve it, in proportion to n to the power -``fade``.
    From ``resolved`` on, double precision does not resolve the error, and the values are an upper limit to it.
    """

    error: FloatArray
    noise: float
    fade: float = 0.0
    since: float = 1.0
    resolved: float = math.inf

    def __call__(self, n: FloatArray) -> FloatArray:
        """Return the mean squared error against noisy targets at any n."""
        last = len(self.error) - 1
        error = np.interp(n, np.arange(last + 1), self.error)
        if (beyond := n > last).any():
            error[beyond] = self._extrapolate(n[beyond])
        return np.asarray(error + self.noise_at(n))

    def noise_at(self, n: FloatArray) -> FloatArray:
        """Return the noise variance that is left at n."""
        return self.noise * np.maximum(n / self.since, 1.0) ** -self.fade

    def _extrapolate(self, n: FloatArray) -> FloatArray:
        r"""Continue :math:`\ln g` in a straight line in :math:`\ln h`, with its slope over the last doubling of n."""
        last = len(self.error) - 1
        size = np.unique(np.geomspace((last + 1) // 2, last, 20).round()).astype(int)
        error = self.error[size]
        log_h = np.log(size / (self.noise + error))
        slope = max(0.0, -np.polynomial.polynomial.polyfit(log_h, np.log(error), 1)[1])

        def error_at(log_h_at_n: FloatArray) -> FloatArray:
            return np.asarray(error[-1] * np.exp(-slope * (log_h_at_n - log_h[-1])))

        start, end = np.full(len(n), log_h[-1]), np.log(n / self.noise)
        return error_at(bisect(lambda at: np.exp(at) * (self.noise + error_at(at)) > n, start, end, 60)[0])


def simulate_curve(problem: Problem, X: FloatArray, test: FloatArray) -> ErrorCurve:
    """Return the learning curve for training inputs in the order of the rows of X, averaged over test inputs."""
    prior = Prior(problem.kernel, problem.inputs, problem.noise)
    factor = Factor.from_matrix(prior.observe(X), _MARGIN)  # as far as the jitter in the noise carries it
    average = TestPoints(test, np.full(len(test), 1.0 / len(test)))
    before = float(average.weights @ prior.variances(test))
    error = errors(prior, None, factor, X, average, before, _MARGIN)[: factor.size + 1]
    # Next to nothing of a noise-free function is left to learn: one digit below this limit there is only rounding. The
    # limit is above the error, and much steeper extrapolations from larger errors would promise too much.
    limit = JITTER * before
    unresolved = ~(error > limit)  # or NaN
    resolved = int(np.argmax(unresolved)) if unresolved.any() else math.inf
    return ErrorCurve(np.where(unresolved, limit, error), problem.noise, resolved=resolved)


def measure_savings(problem: Problem, known: FloatArray, computation: Computation) -> FloatArray:
    """Return which share of the error remains if further inputs are chosen, after 0, 1, … of them, at most 1.

    Inputs are chosen by the variance at reference inputs; the error is the average over others.
    """
    effort, rng = computation.effort, computation.rng
    counts = (effort.candidates, effort.test_inputs, effort.test_inputs)
    candidates, reference, test = (problem.inputs.draw(count, rng) for count in counts)
    prior = Prior(problem.kernel, problem.inputs, problem.noise)
    factor = Factor.from_matrix(prior.observe(known), _MARGIN)
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
