r"""Learning curves of known problems: simulated as far as one factorisation carries, continued by theory.

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

from gpcurves.designs.greedy import choose_greedily
from gpcurves.forecasting.effort import Computation
from gpcurves.forecasting.evidence import JITTER
from gpcurves.forecasting.warping import Warped
from gpcurves.methods.simulation.dataset import Prior, TestPoints, errors
from gpcurves.numerics.cholesky import Factor
from gpcurves.numerics.roots import bisect
from gpcurves.numerics.validation import FloatArray
from gpcurves.problem import Problem

_MARGIN = 1.0  # errors must exceed the rounding errors by this factor: intervals are so wide that one digit is enough
_RANDOM = 4  # data sets with random inputs beside the one with chosen inputs


@dataclass(frozen=True)
class ErrorCurve:
    """Average posterior variance after 0, 1, … examples, with the noise that is not in it.

    What looks like noise to ``since`` rows may fade as more rows resolve it, in proportion to n to the power -``fade``.
    From ``resolved`` on, double precision does not resolve the error, and the values are an upper limit to it. Values are for
    the standardised target; if it is ``warped``, calling the curve gives shares of the variance of the target as it is.
    ``learnt_with`` is the noise of examples that were learnt from, if it differs from that of new ones.
    """

    error: FloatArray
    noise: float
    fade: float = 0.0
    since: float = 1.0
    resolved: float = math.inf
    warped: Warped | None = None
    learnt_with: float | None = None

    def __call__(self, n: FloatArray) -> FloatArray:
        """Return the mean squared error against noisy targets at any n."""
        last = len(self.error) - 1
        error = np.interp(n, np.arange(last + 1), self.error)
        if (beyond := n > last).any():
            error[beyond] = self._extrapolate(n[beyond])
        return self._in_units(error + self._left(n))

    def noise_at(self, n: FloatArray) -> FloatArray:
        """Return the noise variance that is left at n."""
        return self._in_units(self._left(n))

    def _left(self, n: FloatArray) -> FloatArray:
        return self.noise * np.maximum(n / self.since, 1.0) ** -self.fade

    def _in_units(self, error: FloatArray) -> FloatArray:
        return np.asarray(error if self.warped is None else self.warped.error_in_units(error))

    def _extrapolate(self, n: FloatArray) -> FloatArray:
        r"""Continue :math:`\ln g` in a straight line in :math:`\ln h`, with its slope over the last doubling of n."""
        last, noise = len(self.error) - 1, self.noise if self.learnt_with is None else self.learnt_with
        size = np.unique(np.geomspace((last + 1) // 2, last, 20).round()).astype(int)
        error = self.error[size]
        log_h = np.log(size / (noise + error))
        slope = max(0.0, -np.polynomial.polynomial.polyfit(log_h, np.log(error), 1)[1])

        def error_at(log_h_at_n: FloatArray) -> FloatArray:
            return np.asarray(error[-1] * np.exp(-slope * (log_h_at_n - log_h[-1])))

        start, end = np.full(len(n), log_h[-1]), np.log(n / noise)
        return error_at(bisect(lambda at: np.exp(at) * (noise + error_at(at)) > n, start, end, 60)[0])


def simulate_curve(
    problem: Problem, X: FloatArray, test: FloatArray, warped: Warped | None = None, noise: float | None = None
) -> ErrorCurve:
    """Return the learning curve for training inputs in the order of the rows of X, averaged over test inputs.

    ``noise`` is the variance of new targets about the function, if it differs from that of training targets.
    """
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
    tested = problem.noise if noise is None else noise
    error = np.where(unresolved, limit, error)
    return ErrorCurve(error, tested, resolved=resolved, warped=warped, learnt_with=problem.noise)


def choose_inputs(
    problem: Problem,
    known: FloatArray,
    candidates: FloatArray,
    reference: FloatArray,
    count: int,
    *,
    once: bool = False,
) -> npt.NDArray[np.intp]:
    """Return the positions of candidates that lower the variance at reference inputs the most, given what is known."""
    prior = Prior(problem.kernel, problem.inputs, problem.noise)
    factor = Factor.from_matrix(prior.observe(known), _MARGIN)
    points = np.concatenate((candidates, reference))
    W = factor.solve(prior.between(known, points))
    C = prior.between(candidates, points) - W[:, : len(candidates)].T @ W
    own, across = np.split(C, [len(candidates)], axis=1)
    return choose_greedily(own, across, problem.noise, count, once=once)


def measure_savings(problem: Problem, known: FloatArray, computation: Computation) -> FloatArray:
    """Return which share of the error remains if further inputs are chosen, after 0, 1, … of them, at most 1.

    Inputs are chosen by the variance at reference inputs; the error is the average over others.
    """
    effort, rng = computation.effort, computation.rng
    counts = (effort.candidates, effort.test_inputs, effort.test_inputs)
    candidates, reference, test = (problem.inputs.draw(count, rng) for count in counts)
    chosen = candidates[choose_inputs(problem, known, candidates, reference, effort.chosen)]
    random = [problem.inputs.draw(effort.chosen, rng) for _ in range(_RANDOM)]
    errors = [
        simulate_curve(problem, np.concatenate((known, more)), test).error[len(known) :] for more in (chosen, *random)
    ]
    resolved = min(map(len, errors))
    if resolved == 0:  # the factor ends before the rows do, since they leave nothing to learn
        return np.ones(1)
    best, *others = (error[:resolved] for error in errors)
    return np.asarray(np.minimum(1.0, best / np.mean(others, axis=0)))
