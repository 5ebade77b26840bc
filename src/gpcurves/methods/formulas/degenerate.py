r"""The degenerate scenario: no correlation between different inputs, solved exactly (Sollich & Halees 2002, section 5).

Its spectrum may be any; here it is that of the problem. The input probabilities may be any, too (``probabilities``). Without them
the prior variance is uniform, :math:`c = \mathrm{tr}\Lambda` and so :math:`p_\alpha = \lambda_\alpha/c`. It shows how far learning
curves with one and the same spectrum can differ.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpcurves.errors import InputError
from gpcurves.methods.base import METHODS, Formula, Kind, MethodOptions, Result, Scope
from gpcurves.montecarlo import Run
from gpcurves.numerics.parameters import parameter
from gpcurves.numerics.validation import FloatArray, Sizes, sizes
from gpcurves.numerics.validation import probabilities as checked_probabilities
from gpcurves.problem import Problem

_STEP = 0.22  # the integrand is analytic for |Im ln t| < pi/2, so that the error is about e^(-pi^2/0.22) = 3e-20
_ALL_NOISE = 1e100  # times the prior variance: even 1e15 examples teach nothing


def degenerate(problem: Problem, n: FloatArray) -> FloatArray:
    r"""Return :math:`\sum_\alpha\lambda_\alpha\langle\sigma^2/(\sigma^2+n_\alpha c)\rangle`, binomial :math:`n_\alpha`.

    As the integral of SH02 (30) with :math:`r = e^{-t\sigma^2/c}`,
    :math:`\frac{\sigma^2}{c}\int_0^\infty dt\, e^{-t\sigma^2/c}\sum\lambda(1 - p(1-e^{-t}))^n`. In :math:`\ln t` the
    integrand is analytic in a strip and dies out on both sides, so the trapezoidal rule converges exponentially.
    """
    spectrum, noise = problem.spectrum, problem.noise
    trace = spectrum.trace
    measure = spectrum.measure
    probability = np.minimum(np.exp(measure.log_values) / trace, 1.0)
    seen = probability * (1 + float(n.max(initial=0.0))) > 1e-18  # the others are inputs that no data set contains
    probability, masses, never_seen = probability[seen], measure.masses[seen], float(measure.masses[~seen].sum())
    ratio = noise / trace
    if ratio < np.finfo(float).tiny:  # no noise, or none that double precision can tell from it
        with np.errstate(divide="ignore"):
            log_missed = np.log1p(-probability)
        return np.array([never_seen + _power(log_missed, count) @ masses for count in n.tolist()])
    if ratio > _ALL_NOISE:
        return np.full(len(n), trace)
    slowest = min(1 / ratio, 1 / (1 + float(n.max(initial=0.0))))
    # below, t is so small that nothing is seen yet (e^-40 of it is left out); above, e^(-ratio t) is below e^(-e^4)
    log_t = np.arange(math.log(slowest) - 40.0, math.log(1 / ratio) + 4.0, _STEP)
    t = np.exp(log_t)
    weight = _STEP * ratio * t * np.exp(-ratio * t)
    with np.errstate(divide="ignore"):
        log_base = np.log1p(np.multiply.outer(-np.expm1(-t), -probability))
    return np.array([never_seen + weight @ (_power(log_base, count) @ masses) for count in n.tolist()])


@dataclass(frozen=True)
class DegenerateOptions(MethodOptions):
    """How likely the inputs are."""

    probabilities: tuple[float, ...] | None = parameter(
        None,
        help="Probability of the input of each eigenvalue, that of the largest first  [those with uniform prior variance]",
        check=lambda name, value: tuple(checked_probabilities(value, np.size(value)).tolist()),
    )

    def objection(self, problem: Problem, given: Collection[str]) -> str | None:
        if self.probabilities is not None and "probabilities" in given and problem.axis == "n":
            count = problem.spectrum.count
            if len(self.probabilities) != count:
                return f"probabilities must be one for each of {count:g} eigenvalues, got {len(self.probabilities)}"
        return super().objection(problem, given)


class Degenerate(Formula):
    """The scenario with uniform prior variance, or with given probabilities of the inputs."""

    Options = DegenerateOptions

    def prepare(self, problem: Problem, options: MethodOptions, run: Run) -> Any:
        assert isinstance(options, DegenerateOptions)
        return (*super().prepare(problem, options, run), options.probabilities)

    def measure(self, state: Any, sizes: FloatArray, quantity: str) -> Result:
        problem, coarser, chance = state
        if chance is None:
            return super().measure((problem, coarser), sizes, quantity)
        return Result(degenerate_error(problem, sizes, np.array(chance)))


METHODS.add(
    Degenerate(
        degenerate,
        spectral=True,
        name="degenerate",
        title="same spectrum, uncorrelated inputs",
        kind=Kind.EXACT,
        scope=Scope.OTHER_PROBLEM,
        promise="the exact curve of another problem, with the same spectrum but no correlation between different inputs",
        source="Sollich & Halees 2002, eqs. (29) and (30)",
        needs="integer n",
        integers=True,
    )
)


def degenerate_error(problem: Problem, n: FloatArray, probabilities: FloatArray) -> FloatArray:
    r"""Return :math:`\sum_\alpha\lambda_\alpha\langle\sigma^2/(\sigma^2+n_\alpha c_\alpha)\rangle` with :math:`c_\alpha = \lambda_\alpha/p_\alpha`.

    The integral is that of `degenerate`, now with a ratio of noise and prior variance for each input; one that never occurs keeps
    its variance. With equal prior variances it is the same curve.
    """
    spectrum, noise = problem.spectrum, problem.noise
    values = np.repeat(spectrum.values, np.rint(spectrum.multiplicities).astype(int))
    seen = probabilities > 0
    chance, value = probabilities[seen], values[seen]
    never = float(values[~seen].sum())
    if noise == 0:
        with np.errstate(divide="ignore"):
            missed = np.log1p(-chance)
        return np.array([never + _power(missed, count) @ value for count in n.tolist()])
    ratio = noise * chance / value
    most = 1 + float(n.max(initial=0.0))
    # t = u / ratio: e^-u ends the integral above, and below nothing is seen yet
    u = np.exp(np.arange(-40.0 - math.log(most) + min(0.0, math.log(ratio.min())), 4.0, _STEP))
    weight = _STEP * u * np.exp(-u)
    total = np.full(len(n), never)
    for each, level, share in zip(value.tolist(), ratio.tolist(), chance.tolist(), strict=True):
        with np.errstate(divide="ignore"):
            base = np.log1p(share * np.expm1(-u / level))
        total += each * np.array([weight @ _power(base, count) for count in n.tolist()])
    return total


def degenerate_best(problem: Problem, n: Sizes) -> FloatArray:
    r"""Return the lowest error that any single data set of n examples has in the degenerate scenario.

    That is the minimum of :math:`\sum_\alpha\lambda_\alpha\sigma^2/(\sigma^2+n_\alpha\mathrm{tr}\Lambda)` over
    integers :math:`n_\alpha` that sum to n, SH02 (32). The gain of another example at an input falls with every example
    there, so the n largest gains make the best data set. Without noise it is the bound of Micchelli and Wahba.

    Parameters
    ----------
    problem
        A problem, of which only the spectrum and the noise matter.
    n
        Integer numbers of examples; an integer means 0..n.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> problem = gpc.SpectrumProblem(gpc.Spectrum([0.5, 0.3, 0.2]), noise=0.1)
    >>> gpc.degenerate_best(problem, [0, 3, 30]).round(3)
    array([1.   , 0.091, 0.01 ])
    """
    at = sizes("n", n)
    if (at % 1 != 0).any():
        raise InputError(f"n must be integers, got {at[at % 1 != 0][0]:g}")
    spectrum, most = problem.spectrum, int(at.max())
    values = -np.diff(spectrum.beyond(np.arange(most + 1.0)))
    k = np.arange(1, most + 1)  # how many examples an input has
    left = np.concatenate(([1.0], problem.noise / (problem.noise + k * spectrum.trace)))
    # the k-th example at the i-th input gains less than all those before it at inputs before: i k of them with itself
    gains = np.concatenate([values[i] * -np.diff(left[: most // (i + 1) + 1]) for i in range(most)] or [[]])
    gained = np.concatenate(([0.0], np.cumsum(np.sort(gains)[::-1][:most])))
    return np.asarray(spectrum.trace - gained[at.astype(int)])


def _power(log_base: FloatArray, exponent: float) -> FloatArray:
    return np.exp(exponent * log_base) if exponent > 0 else np.ones_like(log_base)
