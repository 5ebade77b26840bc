r"""Members of the model of classes, at their most probable hyperparameters, and the mixture of them that predicts.

Two members have a squared exponential or Matérn-5/2 covariance with a linear part, as for numbers and with the same priors, so that
inputs which do nothing are switched off. The third is linear alone. Each tells every class from all others. With the mean
:math:`m_c` and the variance :math:`v_c` of the function of class c, the log odds averaged over it are about
:math:`z_c = m_c/\sqrt{1+\pi v_c/8}` (Rasmussen & Williams, section 3.9), and the classes have the probabilities

.. math:: p_c = e^{Tz_c}\Big/\sum_k e^{Tz_k},

with :math:`z = (-z_1/2, z_1/2)` for two classes. Probabilities are averaged over members with weights which, like the temperature T of
each, are best for the log loss of rows left out one by one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize, minimize_scalar
from scipy.special import softmax

from gpcurves.errors import NumericalError
from gpcurves.forecasting.classes.laplace import ClassPosterior, LaplaceEvidence
from gpcurves.forecasting.evidence import JITTER
from gpcurves.forecasting.parts import LinearPart
from gpcurves.forecasting.posterior import FAMILIES, HyperPrior
from gpcurves.inputs import Inputs
from gpcurves.numerics.validation import FloatArray
from gpcurves.problem import Problem

_VARIANCE, _LINEAR, _LENGTHSCALE = (-7.0, 8.0), (-10.0, 6.0), (-4.0, 9.0)
_NO_VARIANCE = -7.0  # ln s² of the linear member
_ITERATIONS, _SCOUTING, _FOLLOWING = 25, 5, 10
_WARM, _POLISHING = 300, 3  # more rows than this are fitted starting from a fit to so many
_PULL = 2.0  # how strongly weights of members are drawn to equal ones, in units of the information that they lose
_COOL = 2.0  # how strongly the logarithm of the temperature is drawn to its usual value, in rows
_USUAL = {True: 1.0, False: 0.8}  # temperature of two classes, and of several
_FLOOR = 1e-4  # no class is ever certain


class ClassPrior(HyperPrior):
    """The prior of `posterior` without noise."""

    def __init__(self, blocks: int) -> None:
        super().__init__(blocks, (LinearPart(blocks),))
        self.location, self.below, self.above = (each[:-1] for each in (self.location, self.below, self.above))


@dataclass(frozen=True, eq=False)
class ClassMember:
    """One member at its most probable hyperparameters; ``free`` are those that are fitted."""

    evidence: LaplaceEvidence
    mode: FloatArray
    free: npt.NDArray[np.bool_]

    def refit(self, rows: npt.NDArray[np.int64], iterations: int) -> ClassMember:
        """Return the member for a part of the rows, after a few steps from the present hyperparameters."""
        part = self.evidence.of_rows(rows)
        return ClassMember(
            part, climb(part, self.mode, self.free, iterations)[1] if iterations else self.mode, self.free
        )

    def problem(self, inputs: Inputs, noise: float) -> Problem:
        """Return the problem of regression in which a label has this noise."""
        theta, count = self.mode, self.evidence.count
        scales = np.exp(theta[2:])[list(self.evidence.blocks)]
        kernel = self.evidence.family(tuple(scales.tolist()), math.exp(theta[0]))
        return Problem(kernel + LinearPart(count).kernel(math.exp(theta[1])), inputs, noise + JITTER)


def climb(
    evidence: LaplaceEvidence, start: FloatArray, free: npt.NDArray[np.bool_], iterations: int
) -> tuple[float, FloatArray]:
    """Return the log posterior density at a mode near the start, and the mode."""
    prior = ClassPrior(evidence.count)
    bounds = np.array([_VARIANCE, _LINEAR, *[_LENGTHSCALE] * evidence.count])
    start = np.clip(start, *bounds.T)

    def loss(part: FloatArray) -> tuple[float, FloatArray]:
        theta = start.copy()
        theta[free] = part
        try:
            value, gradient = evidence(theta)
        except NumericalError:
            return 1e12, np.zeros(len(part))
        added, slope = prior(theta)
        return -value - added, -(gradient + slope)[free]

    options = {"maxiter": iterations, "maxfun": 2 * iterations + 5, "ftol": 1e-5, "gtol": 2e-2}
    top = minimize(loss, start[free], jac=True, method="L-BFGS-B", bounds=bounds[free], options=options)
    mode = start.copy()
    mode[free] = top.x
    return -float(top.fun), mode


def find_members(X: FloatArray, blocks: tuple[int, ...], labels: FloatArray) -> list[ClassMember]:
    """Return all members at their most probable hyperparameters; ``labels`` has a column for each class."""
    columns = labels if labels.shape[1] > 2 else labels[:, 1:]
    shares = (columns.sum(axis=0) + 0.5) / (len(columns) + 1.0)
    means = np.log(shares / (1 - shares))
    members: list[ClassMember] = []
    for family in FAMILIES:
        evidence = LaplaceEvidence(family, X, blocks, columns, means)
        free = np.full(evidence.count + 2, True)
        thin = len(X) > _WARM
        part = evidence.of_rows(np.random.default_rng(0).permutation(len(X))[:_WARM]) if thin else evidence
        if members:
            mode = climb(part, members[-1].mode, free, _FOLLOWING)[1]
        else:
            starts = [climb(part, start, free, _SCOUTING) for start in _suggest_starts(part)]
            mode = climb(part, max(starts, key=lambda pair: pair[0])[1], free, _ITERATIONS)[1]
        members.append(ClassMember(evidence, climb(evidence, mode, free, _POLISHING)[1] if thin else mode, free))
    flat = members[0].mode.copy()
    flat[0], flat[1], flat[2:] = _NO_VARIANCE, 0.0, _LENGTHSCALE[1]
    evidence = LaplaceEvidence(FAMILIES[0], X, blocks, columns, means)
    free = np.arange(len(flat)) == 1
    members.append(ClassMember(evidence, climb(evidence, flat, free, _SCOUTING)[1], free))
    return members


def _suggest_starts(evidence: LaplaceEvidence) -> list[FloatArray]:
    """Return hyperparameters to start from: equal lengthscales, and longer ones along which classes differ little."""
    blocks, count = np.array(evidence.blocks), evidence.count
    explained = [_explained_share(evidence.X[:, blocks == block], evidence.labels) for block in range(count)]
    longer = np.clip(0.5 * np.log(max(explained) / np.array(explained)), 0.0, 2.5)
    equal = np.full(count, 0.5 * math.log(count))
    return [
        np.concatenate(([math.log(variance), math.log(0.5)], shape + shift))
        for shape, variance, shift in ((equal, 3.0, 0.8), (longer, 5.0, 0.5))
    ]


def _explained_share(columns: FloatArray, labels: FloatArray) -> float:
    """Return the largest share of the variance of a label that an input explains; at least 0.01."""
    terms = np.vander(columns[:, 0], 4) if columns.shape[1] == 1 else np.column_stack((columns, np.ones(len(labels))))
    residual = labels - terms @ np.linalg.lstsq(terms, labels, rcond=None)[0]
    return max(1e-2, float(np.max(1 - residual.var(axis=0) / np.maximum(labels.var(axis=0), 1e-9))))


def average_log_odds(mean: FloatArray, variance: FloatArray) -> FloatArray:
    """Return the log odds averaged over normal functions, one column for each class."""
    z = mean / np.sqrt(1 + math.pi * variance / 8)
    return z if z.shape[-1] > 1 else np.concatenate((-z / 2, z / 2), axis=-1)


def find_probabilities(z: FloatArray, temperature: float) -> FloatArray:
    """Return the probabilities of classes."""
    p = softmax(temperature * z, axis=-1)
    return np.asarray((p + _FLOOR) / (1 + _FLOOR * p.shape[-1]))


def find_temperature(z: FloatArray, labels: FloatArray) -> float:
    """Return the temperature that is best for the log loss of rows left out, drawn to the usual one."""
    usual = math.log(_USUAL[z.shape[-1] == 2])

    def loss(log: float) -> float:
        return -float(np.sum(labels * np.log(find_probabilities(z, math.exp(log))))) + _COOL * (log - usual) ** 2

    return math.exp(float(minimize_scalar(loss, bounds=(-2.0, 1.5), method="bounded").x))


@dataclass(frozen=True, eq=False)
class ClassRegression:
    """A member that has learnt from its rows: the posterior of each class."""

    member: ClassMember
    posteriors: tuple[ClassPosterior, ...]

    @classmethod
    def of(cls, member: ClassMember) -> ClassRegression:
        """Learn with the most probable hyperparameters."""
        return cls(member, tuple(member.evidence.posteriors(member.mode)))

    def leave_one_out(self) -> tuple[FloatArray, FloatArray]:
        """Return means and variances of the functions at each row from all others, a column for each class."""
        means, variances = zip(*(each.leave_one_out() for each in self.posteriors), strict=True)
        return np.column_stack(means), np.column_stack(variances)

    def latent(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return means and variances of the functions at new inputs, a column for each class."""
        evidence, mode = self.member.evidence, self.member.mode
        across, own = evidence.covariance(mode, X), evidence.variance(mode, X)
        means, variances = zip(*(each.predict(across, own) for each in self.posteriors), strict=True)
        return np.column_stack(means), np.column_stack(variances)


@dataclass(frozen=True, eq=False)
class ClassMixture:
    """Members with their temperatures and weights."""

    regressions: tuple[ClassRegression, ...]
    temperatures: tuple[float, ...]
    weights: FloatArray
    left_out: FloatArray  # probabilities for each row from all others

    def predict(self, X: FloatArray) -> FloatArray:
        """Return the probabilities of classes at new inputs, a row each."""
        each = [
            find_probabilities(average_log_odds(*regression.latent(X)), temperature)
            for regression, temperature in zip(self.regressions, self.temperatures, strict=True)
        ]
        return np.asarray(np.tensordot(self.weights, np.array(each), 1))


def mix(members: Sequence[ClassMember], labels: FloatArray) -> ClassMixture:
    """Learn with all members, and give them the temperatures and weights that are best on rows left out."""
    regressions = tuple(map(ClassRegression.of, members))
    odds = [average_log_odds(*each.leave_one_out()) for each in regressions]
    temperatures = tuple(find_temperature(z, labels) for z in odds)
    left_out = np.array([find_probabilities(z, T) for z, T in zip(odds, temperatures, strict=True)])
    weights = stack(np.einsum("kij,ij->ki", left_out, labels))
    return ClassMixture(regressions, temperatures, weights, np.tensordot(weights, left_out, 1))


def stack(right: FloatArray) -> FloatArray:
    """Return weights of members with the least log loss, given their probabilities of the right class, one row each."""
    count = len(right)

    def loss(logs: FloatArray) -> tuple[float, FloatArray]:
        weights = np.exp(logs - logs.max())
        weights /= weights.sum()
        mixed = weights @ right
        information = np.log(np.maximum(weights * count, 1e-12))
        gradient = -(right / mixed).sum(axis=1) + _PULL * (information + 1)
        return -float(np.log(mixed).sum()) + _PULL * float(weights @ information), weights * (
            gradient - weights @ gradient
        )

    logs = minimize(loss, np.zeros(count), jac=True, method="L-BFGS-B").x
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum())
