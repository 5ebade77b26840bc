r"""The error of a misspecified model: data come from a teacher, another process than the model (the student) assumes.

For every data set, the error of the student's prediction is the derivative of the posterior variance of the student's kernel
plus `t` times the teacher's, and of its noise plus `t` times the teacher's, at `t` = 0. So every approximation for a
well-specified model gives one for a misspecified model. To first order only the teacher's power
:math:`M_i = \langle\langle\phi_iC_0\phi_i\rangle\rangle` in each eigenfunction of the student counts, so that the two kernels need
not share eigenfunctions. What the student lacks counts in full, as power with :math:`\lambda = 0`.

With :math:`G = \lambda/(1+h\lambda)`, :math:`q = 1/(1+h\lambda)` and the student's solution :math:`\epsilon = g(h)`:

* LC: :math:`\epsilon_0 = [\sum Mq^2 + \sigma_0^2 a]/(1-a)`, :math:`a = \frac{h}{\sigma^2+\epsilon}\sum G^2`,
* UC: :math:`\epsilon_0 = \sum Mq^2 + \frac{h(\sigma_0^2 + \sum Mq)}{\sigma^2+\epsilon}\sum G^2`,
* D: :math:`\dot G \to \dot G - 2G\dot G/s + G^2(\sigma_0^2+\mathrm{tr}\dot G)/s^2`, :math:`s = \sigma^2+\mathrm{tr}G`, from
  :math:`\dot G = M`.

The derivative of LC is the formula of Bordelon, Canatar and Pehlevan for kernel regression. If both agree, all are what they
were.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import numpy.typing as npt

from gpcurves.methods.formulas.parametric import Scaled
from gpcurves.methods.formulas.strides import ONE_BY_ONE, STRIDES, end_of_window, leap
from gpcurves.numerics.validation import FloatArray
from gpcurves.problem import Problem

_NOTHING = 1e-300  # below this, in units of the largest eigenvalue, nothing is left to learn
_ADAPTING, _SURPRISING = 0.3, 10.0
"""How far predictions follow single labels, and by which factor the error exceeds what the student expects, from which on theory
is too low by a third or more. In all cases of the tests in which it is not, one of the two is smaller."""
BoolArray = npt.NDArray[np.bool_]


class Taught(Scaled):
    """The spectrum of a misspecified problem in units of the largest eigenvalue, with the power of the true function."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        powers = problem.spectrum.measure.powers
        assert powers is not None
        self.powers, self.outside = powers / self.unit, problem.outside / self.unit
        self.true_noise = problem.true_noise / self.unit

    def unlearnt(self, h: FloatArray, power: int) -> FloatArray:
        r"""Return :math:`\sum M/(1+h\lambda)^k`, with what lies outside all eigenfunctions."""
        return self.outside + self.by_rows(
            lambda part: (1 / (1 + np.multiply.outer(part, self.values))) ** power @ self.powers, h
        )

    def amplification(self, h: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        r"""Return :math:`h\sum G^2`, :math:`\sum Gq` and :math:`\sum G`, each for every `h`."""

        def sums(part: FloatArray) -> FloatArray:
            x = np.multiply.outer(part, self.values)
            q = 1 / (1 + x)
            x *= q
            # hG^2 = (hλq)Gq: no power of h stands alone, which would overflow
            return np.stack([(x * q) @ self.masses, (q * q) @ self.masses, q @ self.masses], axis=1)

        squares, narrow, error = self.by_rows(sums, h).T
        return squares, narrow, error


def lower_continuous_taught(problem: Problem, h: Callable[[Scaled], FloatArray], n: FloatArray) -> FloatArray:
    """Return LC of a misspecified model; ``h`` finds the student's parameter at each n."""
    taught = Taught(problem)
    at = h(taught)
    squares, narrow, error = taught.amplification(at)
    expected = taught.noise + error
    # without noise and from as many examples as eigenvalues on, h is infinite: the student is least squares
    full = np.isinf(at)
    count = problem.spectrum.count
    a = np.where(full, np.minimum(count / np.maximum(n, 1.0), 1.0), squares / np.where(full, 1.0, expected))
    rest = np.where(full, 1 - a, (taught.noise + narrow) / np.where(full, 1.0, expected))
    missed = np.where(full, taught.outside, taught.unlearnt(np.where(full, 0.0, at), 2))
    with np.errstate(invalid="ignore", divide="ignore"):
        wrong = missed + taught.true_noise * a
        return np.asarray(taught.unit * np.where(wrong == 0, 0.0, wrong / rest))


def upper_continuous_taught(problem: Problem, h: Callable[[Scaled], FloatArray]) -> FloatArray:
    """Return UC of a misspecified model; ``h`` finds the student's parameter at each n."""
    taught = Taught(problem)
    at = h(taught)
    squares, _, error = taught.amplification(at)
    wrong = taught.true_noise + taught.unlearnt(at, 1)
    return np.asarray(taught.unit * (taught.unlearnt(at, 2) + squares * wrong / (taught.noise + error)))


def discrete_taught(problem: Problem, n: FloatArray) -> FloatArray:
    """Return D of a misspecified model: step by step, and after many steps in strides like D itself."""
    taught = Taught(problem)
    pair = np.stack([taught.values, taught.powers])  # G, and its derivative times the multiplicity
    order, place = np.unique(n, return_inverse=True)
    results, done = np.empty(len(order)), 0.0
    for position, target in enumerate(order.tolist()):
        stop = min(target, ONE_BY_ONE)
        if done < stop:
            pair, done = _stride_taught(taught, pair, 1.0, int(stop - done)), stop
        while done < target:
            steps = min(target - done, end_of_window(done) - done)
            go = partial(_stride_taught, taught, pair)
            pair = leap(go, steps) if steps > 2 * STRIDES[-1] else go(1.0, int(steps))
            done += steps
        results[position] = taught.outside + float(pair[1].sum())
    return np.asarray(taught.unit * results[place])


def _stride_taught(taught: Taught, pair: FloatArray, stride: float, count: int) -> FloatArray:
    r"""Take strides :math:`G \to GF`, :math:`F = (1-G/s)^k`, and differentiate: :math:`\dot G \to \dot GF + G\dot F`."""
    G, power = pair.copy()
    for _ in range(count):
        total = taught.noise + float(taught.multiplicities @ G)
        if total <= _NOTHING:
            break
        wrong = taught.true_noise + taught.outside + float(power.sum())
        share = G / total
        rest = 1 - share
        factor, steeper = rest, np.ones_like(rest)
        if stride != 1:  # then shares are small
            factor = np.exp(stride * np.log1p(-share))
            steeper = stride * factor / rest
        power = factor * power + steeper * share * (taught.multiplicities * share * wrong - power)
        G = factor * G
    return np.stack([G, power])


def is_risky(problem: Problem, h: Callable[[Scaled], FloatArray]) -> BoolArray:
    r"""Tell at which parameters `h` the theory is known to be too low.

    It is if noise is low and the student takes for a signal what it cannot express: its error is many times what it expects, and
    it adapts to single labels. Then a few examples that lie close together make the error of some data sets very large, and the
    average with them, which has a higher maximum than theory gives.
    """
    taught = Taught(problem)
    at = h(taught)
    squares, _, error = taught.amplification(at)
    believed = taught.noise + error
    with np.errstate(invalid="ignore", divide="ignore"):
        a = squares / believed
        found = (taught.true_noise + taught.unlearnt(at, 2)) / (1 - a)
        return np.asarray((a > _ADAPTING) & (found > _SURPRISING * believed))


def say_risky(sizes: FloatArray, axis: str) -> str:
    """Return the sentence about sizes at which the theory is known to be too low."""
    ends = f"{sizes.min():g}" if len(sizes) == 1 else f"{sizes.min():g} to {sizes.max():g}"
    return (
        f"theory is known to be too low for a misspecified model at low noise, here at {axis} = {ends}: "
        "compare the method simulation"
    )
