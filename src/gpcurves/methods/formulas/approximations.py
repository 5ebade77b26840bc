"""Approximations to the average error that use nothing but the spectrum. None of them is a bound.

Sources: Sollich 1999 (S99) and Sollich & Halees 2002 (SH02); see ``docs/theory/approximations.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np

from gpcurves.methods.base import Kind, formula
from gpcurves.methods.formulas.misspecified import (
    BoolArray,
    discrete_taught,
    is_risky,
    lower_continuous_taught,
    say_risky,
    upper_continuous_taught,
)
from gpcurves.methods.formulas.parametric import Scaled, integrated_h, solve
from gpcurves.methods.formulas.strides import ONE_BY_ONE, STRIDES, end_of_window, leap
from gpcurves.methods.formulas.uneven import is_uneven, say_uneven
from gpcurves.numerics.roots import bisect, invert
from gpcurves.numerics.validation import FloatArray
from gpcurves.observations.classes import Classes
from gpcurves.problem import Problem

_NOT_A_BOUND = "accurate in practice for smooth spectra and evenly spread inputs; not a bound"
_NO_CHANGE = 1e-18  # a share that rounding does not see
_FAR = 1e12
_NOTHING = 1e-300  # below this, in units of the largest eigenvalue, nothing is left to learn


def may_fail(problem: Problem) -> bool:
    """Tell whether there are sizes at which the theory is known to be wrong: of misspecified models, and of classes at inputs."""
    return problem.teacher is not None or (isinstance(problem.observation, Classes) and problem.kernel is not None)


def risky_sizes(problem: Problem, n: FloatArray) -> BoolArray:
    """Tell at which n the theory is known to be wrong."""
    if not may_fail(problem):
        return np.zeros(len(n), dtype=bool)
    if problem.teacher is not None:
        return is_risky(problem, lambda scaled: _lc_h(scaled, n, problem.spectrum.count))
    return is_uneven(problem, lower_continuous(problem, n))


def say_doubt(problem: Problem, sizes: FloatArray, axis: str) -> str:
    """Return the sentence about sizes at which the theory is known to be wrong."""
    return say_uneven(sizes, axis) if problem.teacher is None else say_risky(sizes, axis)


def lc_caution(problem: Problem, n: FloatArray) -> str | None:
    """Return a note if the theory is known to be wrong somewhere, or None."""
    risky = risky_sizes(problem, n)
    return say_doubt(problem, n[risky], "n") if risky.any() else None


def _lc_h(scaled: Scaled, n: FloatArray, count: float) -> FloatArray:
    h = np.zeros(len(n))
    reachable = (n > 0) & (n < count if scaled.noise == 0 else True)
    h[reachable] = np.exp(solve(scaled.lc_excess, scaled, n[reachable]))
    h[(n > 0) & ~reachable] = np.inf
    return h


def lc_examples(problem: Problem, error: float) -> float:
    r"""Return the n at which LC has this error: solve :math:`g(h) = \epsilon`, then :math:`n = h/r(\epsilon)`."""
    scaled = Scaled(problem)
    goal = error / scaled.unit
    high = bisect(lambda log_h: scaled.g(np.exp(log_h)) <= goal, np.array([-690.0]), np.array([690.0]), 64)[1]
    return float(
        np.exp(high[0]) / scaled.unit / problem.observation.information(np.array(error), problem.spectrum.trace)
    )


@formula(
    "lc",
    "Lower Continuous",
    Kind.APPROXIMATION,
    promise=_NOT_A_BOUND,
    source="Sollich & Halees 2002, eq. (16); Sollich 1999, eq. (11)",
    any_labels=True,
    misspecified=True,
    caution=lc_caution,
    explicit=lc_examples,
    default=True,
)
def lower_continuous(problem: Problem, n: FloatArray) -> FloatArray:
    r"""Return the solution of :math:`\epsilon = g(n/(\sigma^2+\epsilon))`, SH02 (16).

    Tends to OV for large noise at fixed :math:`n/\sigma^2`. Without noise it reaches 0 once `n` is the number of
    eigenvalues. Solved in the form :math:`\epsilon = g(h)`, :math:`n = h(\sigma^2+g(h))`; labels of another kind have
    :math:`n = h/r(g(h))`, where `r` is the information of one label.
    """
    if problem.teacher is not None:
        return lower_continuous_taught(problem, lambda scaled: _lc_h(scaled, n, problem.spectrum.count), n)
    scaled = Scaled(problem)
    if problem.observation.gaussian_noise is None:
        return scaled.unit * scaled.g(invert(lambda h: h * scaled.label_variance(scaled.g(h)), n, 1e290))
    return scaled.unit * scaled.g(_lc_h(scaled, n, problem.spectrum.count))


@formula(
    "lc1",
    "LC corrected for integer n",
    Kind.APPROXIMATION,
    promise="a correction of LC, never above it and close to it unless the noise is low; not a bound",
    source="Sollich & Halees 2002, eq. (28)",
    negative="the expansion breaks down at n = {:g}, where the correction exceeds LC itself",
)
def lower_continuous_corrected(problem: Problem, n: FloatArray) -> FloatArray:
    r"""Return LC plus :math:`(\sigma^2+\epsilon_0)\, n (a_2^2 - a_3)/(1 - n a_2)^2`, SH02 (28).

    With :math:`G = \lambda/(1+h\lambda)`, :math:`s = \sigma^2+\epsilon_0` and `n = hs`, both differences are sums of
    positive terms: :math:`1 - na_2 = (\sigma^2 + \sum G/(1+h\lambda))/s` and
    :math:`a_3 - a_2^2 = (\sigma^2\sum G^3 + \sum G \sum G(G-\mu)^2)/s^4`, :math:`\mu = \sum G^2/\sum G`.
    """
    scaled = Scaled(problem)
    h = _lc_h(scaled, n, problem.spectrum.count)

    def correct(h: FloatArray, n: FloatArray) -> FloatArray:
        q = 1 / (1 + np.multiply.outer(h, scaled.values))
        error = q @ scaled.masses
        unit = np.where(error > 0, error, 1.0)  # measure everything in units of LC, so that nothing underflows
        G = scaled.values * q / unit[:, None]
        noise = scaled.noise / unit
        gap = noise + (G * q) @ scaled.multiplicities
        mean = (G * G) @ scaled.multiplicities
        mean_q = (G * q) @ scaled.multiplicities
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            # G = (1 - q)/(h error): if q is small, its deviations keep the digits that those of G lose
            by_q = (mean_q[:, None] - q) / (h * error)[:, None]
            deviation = np.where(mean_q[:, None] < 0.5, by_q, G - mean[:, None])
            variance = (G * deviation**2) @ scaled.multiplicities
            difference = noise * (G**3 @ scaled.multiplicities) + variance
            relative = np.where((error > 0) & (n > 0), n * difference / ((noise + 1) * gap * gap), 0.0)
        return np.asarray(error * (1 - relative))

    return scaled.unit * scaled.by_rows(correct, h, n)


@formula(
    "uc",
    "Upper Continuous",
    Kind.APPROXIMATION,
    promise="never below LC; not a bound",
    source="Sollich & Halees 2002, eq. (12); Sollich 1999, eq. (10)",
    misspecified=True,
    caution=lc_caution,
    any_labels=True,
)
def upper_continuous(problem: Problem, n: FloatArray) -> FloatArray:
    r"""Return :math:`g(n'/\sigma^2)` with :math:`n' + T(n'/\sigma^2) = n`, SH02 (12).

    Solved in :math:`h = n'/\sigma^2`, so that the limit of no noise, :math:`T(h) = n`, needs no special case. Labels of
    another kind have :math:`dn = dh/r(g(h))`.
    """
    if problem.teacher is not None:
        return upper_continuous_taught(problem, lambda scaled: _uc_h(scaled, n))
    scaled = Scaled(problem)
    if problem.observation.gaussian_noise is None:
        return scaled.unit * scaled.g(integrated_h(scaled, n))
    return scaled.unit * scaled.g(_uc_h(scaled, n))


def discrete_examples(problem: Problem, error: float) -> float:
    """Return after how many steps of the recursion S99 (9) the error is reached; infinite if that is beyond 1e12.

    The windows of steps are crossed once, and the one in which the error is reached is bisected.
    """
    scaled = Scaled(problem)
    low, G = 0.0, scaled.values
    while True:
        high = ONE_BY_ONE if low < ONE_BY_ONE < end_of_window(low) else max(low + 1.0, end_of_window(low))
        later = _advance(scaled, G, low, high)
        if scaled.unit * (scaled.multiplicities @ later) <= error:
            break
        if high > _FAR:
            return math.inf
        low, G = high, later
    start = low
    while high - low > 1:
        middle = math.floor((low + high) / 2)
        reached = scaled.unit * (scaled.multiplicities @ _advance(scaled, G, start, middle)) <= error
        low, high = (low, middle) if reached else (middle, high)
    return float(high)


@formula(
    "d",
    "Discrete",
    Kind.APPROXIMATION,
    promise="the version of UC for integer n, and close to it; not a bound",
    source="Sollich 1999, eq. (9)",
    needs="integer n",
    integers=True,
    misspecified=True,
    caution=lc_caution,
    any_labels=True,
    explicit=discrete_examples,
)
def discrete(problem: Problem, n: FloatArray) -> FloatArray:
    r"""Return tr G after `n` steps :math:`G \to G - G^2/(\sigma^2+\mathrm{tr}\,G)` from :math:`G = \Lambda`, S99 (9).

    The first 20,000 steps are taken one by one. After that a step changes :math:`\ln G` little, and many are taken at once
    (`strides`).
    """
    if problem.teacher is not None:
        return discrete_taught(problem, n)
    scaled = Scaled(problem)
    order, place = np.unique(n, return_inverse=True)
    traces = np.empty(len(order))
    G, done = scaled.values, 0.0
    for position, target in enumerate(order.tolist()):
        G, done = _advance(scaled, G, done, target), target
        traces[position] = scaled.multiplicities @ G
    return np.asarray(scaled.unit * traces[place])


def _uc_h(scaled: Scaled, n: FloatArray) -> FloatArray:
    h = np.zeros(len(n))
    h[n > 0] = np.exp(solve(scaled.uc_excess, scaled, n[n > 0]))
    return h


def _advance(scaled: Scaled, G: FloatArray, done: float, target: float) -> FloatArray:
    """Return G after ``target`` steps, of which some are done."""
    moving = _count_moving(scaled, G, target - done)
    if moving == 0:
        return G
    G, rest = G.copy(), float(scaled.multiplicities[moving:] @ G[moving:])
    G[:moving] = _move(G[:moving], scaled.multiplicities[:moving], Rest(scaled, rest), done, target)
    return G


def _count_moving(scaled: Scaled, G: FloatArray, steps: float) -> int:
    """Return after how many eigenvalues all others change by less than rounding, in any of so many steps and in all.

    A step changes G by the share G / (noise + tr G), and those that stay are part of the trace: it never gets smaller.
    """
    largest = np.maximum.accumulate(G[::-1])[::-1]
    noise = 0.0 if math.isnan(scaled.noise) else scaled.noise
    least = noise + np.cumsum((scaled.multiplicities * G)[::-1])[::-1]
    return int(np.argmax(np.append(largest * steps <= _NO_CHANGE * least, True)))


@dataclass(frozen=True)
class Rest:
    """What is added to the trace of those G that move to get one over the information of a label."""

    scaled: Scaled
    still: float  # the trace of those that do not move

    def at(self, moving: float) -> float:
        """Return the noise plus the trace of those that do not move; noise that is not Gaussian depends on the whole trace."""
        if not math.isnan(self.scaled.noise):
            return self.scaled.noise + self.still
        return float(self.scaled.label_variance(np.array(self.still + moving))) - moving


def _move(G: FloatArray, multiplicities: FloatArray, rest: Rest, done: float, target: float) -> FloatArray:
    stop = min(target, ONE_BY_ONE)
    work = np.empty_like(G)
    while done < stop:
        moving = float(multiplicities @ G)
        total = rest.at(moving) + moving
        if total <= _NOTHING:
            return np.zeros_like(G)
        np.multiply(G, -1 / total, out=work)
        work += 1.0
        if (largest := G[top := int(np.argmax(G))]) > total / 2:  # then 1 - G/total would cancel
            G[top] = 0.0
            others = rest.at(moving) + multiplicities @ G + (multiplicities[top] - 1) * largest
            G[top], work[top] = largest, others / total
        G *= work  # a product of factors, and not G - G^2/total: G stays positive and keeps its relative accuracy
        done += 1
    while done < target:
        steps = min(target - done, end_of_window(done) - done)
        go = partial(_strides, G, multiplicities, rest)
        G = leap(go, steps) if steps > 2 * STRIDES[-1] else go(1.0, int(steps))
        done += steps
    return G


def _strides(G: FloatArray, multiplicities: FloatArray, rest: Rest, stride: float, count: int) -> FloatArray:
    # in logarithms, so that a stride of many steps cannot overshoot zero
    logs = np.log(G, where=G > 0, out=np.full_like(G, -np.inf))
    for _ in range(count):
        now = np.exp(logs)
        moving = float(multiplicities @ now)
        total = rest.at(moving) + moving
        if total <= _NOTHING:
            break
        logs += stride * np.log1p(-now / total)
    return np.exp(logs)
