r"""How often classes at unlabelled vertices are predicted wrongly with further labels, if one explanation of the present ones is true.

A label at a vertex with the function value f carries the information :math:`\tau = p'(f)^2/(p(f)(1-p(f)))`, averaged over what is known
of f, as if it were a measurement with noise of variance :math:`1/\tau`. With the covariance :math:`A = LL^T` of such measurements in
the order of labelling and :math:`LW = C`, the variance at a test vertex after n labels is :math:`v_n = C_{jj}-\sum_{k\le n}W_{kj}^2`, for every n
from one factorisation. Up to the labels at hand the mean follows from them. Beyond, it is not known yet: it is normal
about the mean :math:`m` of today, with the variance :math:`v-v_n` that further labels explain. The error rate is the average of
:math:`1-\max_cp_c` over such means, the log loss that of :math:`-\sum_cp_c\ln p_c`, and the error of the best rule is what remains for
:math:`v_n = 0`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.special import expit

from gpcurves.forecasting.networks.class_labels import normalise
from gpcurves.forecasting.networks.class_posterior import ClassExplanation, sharpen
from gpcurves.forecasting.networks.curves import Route
from gpcurves.graphs.graph import IntArray
from gpcurves.numerics.validation import FloatArray
from gpcurves.observations import Logit
from gpcurves.observations.classes import Classes

MOST_TESTS = 200
_DRAWS = 8  # means that further labels may lead to, and as many on the other side
_SIZES, _SHARES = 12, (0.25, 0.5, 0.75, 0.9)  # numbers of further labels, and shares of those at hand
_LEAST = 1e-4  # error rate or log loss: logarithms are taken
_NODES = np.arange(-25, 26) / 5.0  # sums over these are exact to 1 % up to a standard deviation of 20
_WEIGHTS = np.exp(-0.5 * _NODES**2)


@dataclass(frozen=True, eq=False)
class RateCurve:
    """An error rate, or log loss, at increasing numbers of labels, and that of the best rule.

    Calling it gives the square: curves of mean squared errors and of these are then averaged and calibrated by one code.
    """

    n: FloatArray
    rate: FloatArray
    floor: float

    def __call__(self, n: FloatArray) -> FloatArray:
        """Return the square of the rate at any n; beyond the last, the reducible part falls as over the last doubling."""
        logs = np.interp(np.log1p(n), np.log1p(self.n), np.log(self.rate))
        beyond = n > self.n[-1]
        if beyond.any():
            last, half = (max(self.rate[-1] - self.floor, 1e-9), self._reducible_at(self.n[-1] / 2))
            slope = float(np.clip(np.log(half / last) / np.log(2), 0.0, 2.0))
            logs[beyond] = np.log(self.floor + last * (n[beyond] / self.n[-1]) ** -slope)
        return np.asarray(np.exp(2 * logs))

    def _reducible_at(self, n: float) -> float:
        return max(float(np.exp(np.interp(np.log1p(n), np.log1p(self.n), np.log(self.rate)))) - self.floor, 1e-9)

    def noise_at(self, n: FloatArray) -> FloatArray:
        """Return the square of what is left for the best rule, which does not depend on n."""
        return np.full(len(n), self.floor**2)

    @cached_property
    def error(self) -> FloatArray:
        """The squares at 0, 1, … labels, as far as they were simulated."""
        return self(np.arange(self.n[-1] + 1))


def simulate_classes(
    member: ClassExplanation, sharpness: float, route: Route, at: IntArray
) -> tuple[RateCurve, RateCurve]:
    """Return the curves of the error rate and of the log loss; ``at`` are the places of the route's vertices among the labelled ones."""
    candidate, known = member.candidate, len(route.labelled)
    order, tests = route.order, route.tests[:MOST_TESTS]
    C = candidate.between(np.concatenate((order, tests)), order)
    prior = candidate.variances(np.concatenate((route.further, tests)))
    sizes = _choose_sizes(known, len(order))
    functions = [_follow(member, function, C, prior, at, sizes, known) for function in range(len(member.beliefs))]
    means, variances = (np.array([each[k] for each in functions]) for k in range(2))  # functions, sizes, tests
    today = sizes.tolist().index(known)
    z = np.random.default_rng(0).standard_normal((len(functions), 1, _DRAWS, means.shape[2]))
    z = np.concatenate((z, -z), axis=2)
    # a last size stands for complete knowledge of the function
    left = np.concatenate((variances, np.zeros_like(variances[:, :1])), axis=1)
    means = np.concatenate((means, means[:, today : today + 1]), axis=1)
    unknown = np.sqrt(np.maximum(variances[:, today : today + 1] - left, 0.0))
    unknown[:, : today + 1] = 0.0
    future = means[:, :, None, :] + unknown[:, :, None, :] * z
    spread = np.broadcast_to(left[:, :, None, :], future.shape)
    rates, losses = _average(member.observation, sharpness, future, spread)
    return _make_curve(sizes, rates), _make_curve(sizes, losses)


def _make_curve(sizes: IntArray, values: FloatArray) -> RateCurve:
    floor = max(float(values[-1]), _LEAST)
    rates = np.maximum(values[:-1], floor)
    return RateCurve(sizes.astype(np.float64), np.minimum.accumulate(np.maximum(rates, _LEAST)), floor)


def _choose_sizes(known: int, most: int) -> IntArray:
    ahead = np.geomspace(known, max(most, known), _SIZES) if most > known else [known]
    some = np.concatenate((np.round(np.array(_SHARES) * known), np.round(ahead)))
    return np.unique(np.clip(some, 1, most)).astype(np.int64)


def _follow(
    member: ClassExplanation,
    function: int,
    C: FloatArray,
    prior: FloatArray,
    at: IntArray,
    sizes: IntArray,
    known: int,
) -> tuple[FloatArray, FloatArray]:
    """Return means (from the labels at hand) and variances of one function at tests (columns) after so many labels (rows)."""
    belief, offset, variance = member.beliefs[function], member.offsets[function], member.variance
    ordered = np.argsort(at)
    across = variance * C[known:, :known].T[ordered]  # with labelled vertices as the belief has them
    mean, spread = belief.predict(across, variance * prior)
    further = C.shape[1] - known
    precision = np.concatenate(
        (belief.precision[at], carry(member.observation, mean[:further] + offset, np.maximum(spread[:further], 0.0)))
    )
    A = variance * C[: C.shape[1]]
    A[np.diag_indices(len(A))] += 1 / np.maximum(precision, 1e-12)
    L = cholesky(A, lower=True, check_finite=False, overwrite_a=True)
    targets = np.zeros(len(A))
    targets[:known] = (belief.linear / np.maximum(belief.precision, 1e-12))[at]
    right = np.column_stack((variance * C[C.shape[1] :].T, targets))
    solved = solve_triangular(L, right, lower=True, check_finite=False)
    W, z = solved[:, :-1], solved[:, -1]
    explained, pulled = (np.cumsum(each, axis=0)[sizes - 1] for each in (W**2, W * z[:, None]))
    pulled[sizes > known] = pulled[sizes == known]
    left = np.maximum(variance * prior[further:] - explained, 0.0)
    return pulled + offset, left


def carry(observation: Classes, mean: FloatArray, variance: FloatArray) -> FloatArray:
    """Return the information of a label, averaged over Gaussian beliefs about the function."""
    f = mean[:, None] + np.sqrt(variance)[:, None] * _NODES
    p, slope = observation.probability(f, np.zeros_like(f))
    product = p * (1 - p)
    told = np.divide(slope**2, product, out=np.zeros_like(product), where=product > 1e-300)
    return np.asarray(told @ _WEIGHTS / _WEIGHTS.sum())


def _find_roughly(observation: Classes, means: FloatArray, variances: FloatArray) -> FloatArray:
    """Return probabilities of functions being positive, of logistic regression by MacKay's formula: good to 0.02, and much faster."""
    if isinstance(observation, Logit):
        p = expit(means / np.sqrt(1 + np.pi / 8 * variances))
    else:
        p = observation.probability(means, variances)[0]
    return np.asarray(np.clip(p, 1e-9, 1 - 1e-9))


def _average(
    observation: Classes, sharpness: float, means: FloatArray, variances: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return error rates and log losses, averaged over all axes but functions and sizes."""
    rates, losses = [], []
    for k in range(means.shape[1]):
        belief = (each[:, k].reshape(len(means), -1) for each in (means, variances))
        probabilities = sharpen(normalise(_find_roughly(observation, *belief)), sharpness)
        rates.append(float(np.mean(1 - probabilities.max(axis=1))))
        losses.append(float(-np.mean((probabilities * np.log(probabilities)).sum(axis=1))))
    return np.array(rates), np.array(losses)
