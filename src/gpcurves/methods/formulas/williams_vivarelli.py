r"""The bound of Williams and Vivarelli: one dimension, stationary kernel, learning from the nearest example alone.

With :math:`Q(a) = C(0)^2 - C(a)^2` and `a` the distance from a test input to the nearest of `n` examples,
:math:`\epsilon \le \frac{C(0)\sigma^2 + \langle Q(a)\rangle}{C(0)+\sigma^2}`, which is SH02 (21) without its
cancellation. The law of `a` is that of SH02 (22) on the interval, :math:`2n(1-2a)^{n-1}` on the circle, and for any
density :math:`n\langle[P(x-a)+P(x+a)][1-Q(x+a)+Q(x-a)]^{n-1}\rangle_x`. Never below about the noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import singledispatch

import numpy as np
from scipy.special import ndtr

from gpcurves.inputs import Box, Discrete, Gaussian, Inputs, Sample, Torus, Univariate
from gpcurves.kernels import is_stationary, line_covariance
from gpcurves.kernels.periodised import circle_covariance
from gpcurves.methods.base import Kind, register
from gpcurves.numerics.quadrature import GAUSS_NODES, GAUSS_WEIGHTS, gauss_legendre
from gpcurves.numerics.validation import FloatArray
from gpcurves.problem import Problem, VectorProblem

Missed = Callable[[FloatArray], FloatArray]
"""Q(a), the variance that an example at distance a fails to explain, times C(0)."""


def _one_dimensional(problem: VectorProblem) -> str | None:
    if not isinstance(problem, Problem):
        return "it needs the kernel and the inputs, and a bare spectrum has neither"
    if problem.inputs.dim != 1:
        return f"inputs must be one-dimensional, got dimension {problem.inputs.dim}"
    if not is_stationary(problem.kernel):
        return "the kernel must be stationary"
    if mean_missed.dispatch(type(problem.inputs)) is mean_missed.dispatch(object):
        return f"the distance to the nearest example has no known law for {type(problem.inputs).__name__} inputs"
    return None


@register(
    "wv",
    "Williams-Vivarelli",
    Kind.UPPER_BOUND,
    promise="the average error is never above it; stays at about the noise level for large n",
    source="Sollich & Halees 2002, eqs. (21) to (23)",
    needs="one-dimensional inputs, a stationary kernel, whole n",
    conditions=(_one_dimensional,),
    continuous=False,
)
def williams_vivarelli(problem: VectorProblem, n: FloatArray) -> FloatArray:
    """Return the bound at each n; the prior variance at n = 0."""
    assert isinstance(problem, Problem)  # a condition of the method
    if isinstance(problem.inputs, Torus):
        waves = None
        if problem.spectrum.tail is None and problem.spectrum.origin == "closed form":
            waves = problem.spectrum.values  # in the order of the frequency, which a closed form has

        def covariance(a: FloatArray) -> tuple[FloatArray, FloatArray, float]:
            return circle_covariance(problem.kernel, a, waves)

    else:

        def covariance(a: FloatArray) -> tuple[FloatArray, FloatArray, float]:
            return line_covariance(problem.kernel, a)

    def missed(a: FloatArray) -> FloatArray:
        value, loss, origin = covariance(a)
        return loss * (origin + value)

    origin = covariance(np.zeros(1))[2]
    some = n > 0
    result = np.full(len(n), origin)
    if some.any():
        unexplained = mean_missed(problem.inputs, n[some], missed)
        result[some] = (origin * problem.noise + unexplained) / (origin + problem.noise)
    return result


@singledispatch
def mean_missed(inputs: Inputs, n: FloatArray, missed: Missed) -> FloatArray:
    """Return the mean of ``missed`` over the distance to the nearest of n examples, for each n ≥ 1."""
    raise NotImplementedError(type(inputs))


@mean_missed.register
def _circle(inputs: Torus, n: FloatArray, missed: Missed) -> FloatArray:
    a, width = _distances(0.5, n)
    q = width * missed(a)
    return np.array([2 * m * np.exp((m - 1) * np.log1p(-2 * a)) @ q for m in n.tolist()])


@mean_missed.register
def _interval(inputs: Box, n: FloatArray, missed: Missed) -> FloatArray:
    a, width = _distances(1.0, n)
    ends = width * missed(a)
    b, width = _distances(0.5, n)
    middle = width * missed(b)
    return np.array(
        [2 * np.exp(m * np.log1p(-a)) @ ends + 2 * (m - 1) * np.exp(m * np.log1p(-2 * b)) @ middle for m in n.tolist()]
    )


@mean_missed.register
def _gaussian(inputs: Gaussian, n: FloatArray, missed: Missed) -> FloatArray:
    scale = math.sqrt(inputs.matrix[0, 0])
    x, weight = gauss_legendre(np.arange(0.0, 14.01, 0.25))
    weight = weight * 2 * _normal(x)
    a, width = _distances(30.0, n)
    q = width * missed(scale * a)
    density = _normal(x[:, None] + a) + _normal(x[:, None] - a)
    with np.errstate(divide="ignore"):
        log_none = np.log1p(-np.minimum(_normal_interval(x[:, None], a), 1.0))
    far = x[:, None] - a  # where the interval holds nearly everything, the rest is two tails
    rest = ndtr(-x[:, None] - a) + ndtr(far)
    log_none = np.where(rest < 0.5, np.log(np.maximum(rest, 1e-300)), log_none)
    return np.array([weight @ ((m * density * np.exp((m - 1) * log_none)) @ q) for m in n.tolist()])


@mean_missed.register
def _univariate(inputs: Univariate, n: FloatArray, missed: Missed) -> FloatArray:
    law = inputs.distribution
    x, share = inputs.quantiles(np.concatenate(([0.0], 2.0 ** np.arange(-40, 0.0))))
    first, last = law.support()
    edges = _distance_edges(float(x[-1] - x[0]), n)
    result = np.zeros(len(n))
    for at, weight in zip(x.tolist(), share.tolist(), strict=True):
        ends = [end for end in (at - first, last - at) if edges[1] < end < edges[-1]]  # where the density may jump
        a, width = gauss_legendre(np.unique(np.concatenate((edges, ends))))
        density = law.pdf(at + a) + law.pdf(at - a)
        chance = law.cdf(at + a) - law.cdf(at - a)
        small = chance < 1e-3
        lower, upper = np.maximum(at - a[small], first), np.minimum(at + a[small], last)
        chance[small] = _interval_chance(law.pdf, lower, upper)
        with np.errstate(divide="ignore"):
            outside = np.log(law.sf(at + a) + law.cdf(at - a))
            log_none = np.where(chance < 0.5, np.log1p(-np.minimum(chance, 0.5)), outside)
        log_none = np.maximum(log_none, -1e30)  # so that 0 times it is 0
        result += weight * n * (np.exp(np.multiply.outer(n - 1, log_none)) @ (width * density * missed(a)))
    return result


def _interval_chance(density: Callable[[FloatArray], FloatArray], lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Return the chance of small intervals by quadrature, which keeps its relative accuracy."""
    half = (upper - lower) / 2
    chance: FloatArray = half * (density(lower[:, None] + half[:, None] * (1 + GAUSS_NODES)) @ GAUSS_WEIGHTS)
    return chance


@mean_missed.register(Discrete)
@mean_missed.register(Sample)
def _points(inputs: Discrete | Sample, n: FloatArray, missed: Missed) -> FloatArray:
    x, chance = inputs.nodes(len(inputs.points))
    distance = abs(x - x[:, 0])
    order = np.argsort(distance, axis=1, kind="stable")
    sorted_distance = np.take_along_axis(distance, order, axis=1)
    missing = np.maximum(1.0 - np.cumsum(chance[order], axis=1), 0.0)[:, :-1]
    step = np.diff(missed(sorted_distance.ravel()).reshape(distance.shape), axis=1)
    return np.array([chance @ (missing**m * step).sum(axis=1) for m in n.tolist()])


def _distances(largest: float, n: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return nodes that resolve every scale of distance down to far below the spacing of the examples."""
    return gauss_legendre(_distance_edges(largest, n))


def _distance_edges(largest: float, n: FloatArray) -> FloatArray:
    smallest = 1e-13 * largest / (1 + float(n.max()))
    edges = np.geomspace(smallest, largest, math.ceil(math.log(largest / smallest) / math.log(1.6)) + 1)
    return np.concatenate(([0.0], edges[:-1], [largest]))


def _normal(x: FloatArray) -> FloatArray:
    return np.asarray(np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi))


def _normal_interval(x: FloatArray, a: FloatArray) -> FloatArray:
    """Return the chance of a standard normal between x - a and x + a, x ≥ 0, to full relative accuracy."""
    direct = ndtr(a - x) - ndtr(-a - x)
    series, even, odd = np.ones(np.broadcast_shapes(x.shape, a.shape)), np.ones_like(x), x
    power = np.ones_like(a)
    for k in range(2, 25):  # Hermite polynomials He_k; only the even ones enter
        even, odd = odd, x * odd - (k - 1) * even
        if k % 2 == 0:
            power = power * a * a / (k * (k + 1))
            series = series + power * odd
    near = a * (1 + x) < 0.5
    return np.where(near, 2 * a * _normal(x) * series, direct)
