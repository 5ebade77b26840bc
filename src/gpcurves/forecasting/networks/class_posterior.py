r"""The posterior of covariances and variances given classes at vertices, by Laplace's method.

With more than two classes there is a function for each class against all others, and probabilities of classes are in proportion to the odds
:math:`p/(1-p)` of each. All functions of an explanation have the same covariance; the prior mean of each is the log odds of the share of its
class. Covariances are weighed by the probability that they give to labels left out: with the precision :math:`\tau_i` and the linear term
:math:`\nu_i` of vertex i, mean :math:`\mu_i` and variance :math:`v_i` without its own labels are

.. math:: v_i = \frac1{1/s_i-\tau_i}, \qquad \mu_i = v_i\Bigl(\frac{m_i}{s_i}-\nu_i\Bigr)

from mean and variance :math:`m_i, s_i` with them. The average over explanations is too cautious on many networks, on others too
bold: its probabilities are raised to a power, and divided by their sum, with which labels left out are the most probable.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from gpcurves.forecasting.networks.candidates import Candidate
from gpcurves.forecasting.networks.class_labels import ClassLabels, normalise
from gpcurves.forecasting.networks.class_laplace import find_modes
from gpcurves.graphs.graph import IntArray
from gpcurves.methods.simulation.inference import Belief
from gpcurves.numerics.validation import FloatArray
from gpcurves.observations.classes import Classes

VARIANCES = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)  # of functions, in units of the slope of the logistic function
_NOISES = (0.1, 0.5, 2.0)  # of regressions that choose among kernels
_SCREENED = 8  # kernels that are left after these
_KEPT = 0.97  # probability that members hold together
_LEAST = 1e-4  # probability of a label: a single one must not decide
_POWERS = np.geomspace(0.4, 8.0, 41)
_Places = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class LazyBeliefs:
    """Beliefs about functions, from the factors of labels; covariances are factorised when they are asked for."""

    K: FloatArray
    factors: tuple[tuple[FloatArray, FloatArray], ...]

    @cached_property
    def each(self) -> tuple[Belief, ...]:
        return tuple(Belief.of(self.K, precision, linear) for precision, linear in self.factors)


@dataclass(frozen=True, eq=False)
class ClassExplanation:
    """A covariance with a variance, and the classes explained by both: a belief for each function."""

    candidate: Candidate
    variance: float
    observation: Classes
    offsets: FloatArray
    lazy: LazyBeliefs
    left_out: FloatArray  # the probability of each class (columns) at labelled vertices, without the labels there
    weight: float = 1.0

    @property
    def beliefs(self) -> tuple[Belief, ...]:
        """The belief about each function."""
        return self.lazy.each

    def infer(self, across: FloatArray, prior: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return means and variances of all functions (rows) at points, from correlations of labelled vertices with them."""
        cross, own = self.variance * across, self.variance * prior
        parts = [belief.predict(cross, own) for belief in self.beliefs]
        means = np.array([part[0] for part in parts]) + self.offsets[:, None]
        return means, np.maximum([part[1] for part in parts], 0.0)

    def predict(self, across: FloatArray, prior: FloatArray) -> FloatArray:
        """Return the probability of each class (columns) at points."""
        return find_probabilities(self.observation, *self.infer(across, prior))


@dataclass(frozen=True, eq=False)
class NetworkClassPosterior:
    """The most likely explanations of classes; ``ranked`` are all covariances with variances that were weighed, the likeliest first."""

    labels: ClassLabels
    members: tuple[ClassExplanation, ...]
    ranked: tuple[tuple[Candidate, float], ...] = ()
    sharpness: float = 1.0

    def predict(self, vertices: IntArray) -> FloatArray:
        """Return the probability of each class (columns) at vertices."""
        parts = np.zeros((len(vertices), len(self.labels.classes)))
        kernels = [id(member.candidate.raw) for member in self.members]
        for member in sorted(
            self.members, key=lambda each: kernels.index(id(each.candidate.raw))
        ):  # they share covariances
            across = member.candidate.between(vertices, self.labels.vertices).T
            parts += member.weight * member.predict(across, member.candidate.variances(vertices))
        return sharpen(parts, self.sharpness)

    def predict_places(self, train: _Places, test: _Places) -> FloatArray:
        """Return the same at some of the labelled vertices that candidates know, if the labels are those at others of them."""
        parts = np.zeros((len(test), len(self.labels.classes)))
        for member in self.members:
            block = member.candidate.block
            parts += member.weight * member.predict(block[np.ix_(train, test)], np.diag(block)[test])
        return sharpen(parts, self.sharpness)

    def leave_out(self) -> FloatArray:
        """Return the probability of each class (columns) at labelled vertices, without the labels there."""
        return sharpen(_average_left_out(self.members), self.sharpness)

    def sharpened(self) -> NetworkClassPosterior:
        """Return it with the sharpness with which labels left out are the most probable."""
        return replace(self, sharpness=find_sharpness(_average_left_out(self.members), self.labels.counts))


def _average_left_out(members: Sequence[ClassExplanation]) -> FloatArray:
    return np.asarray(sum(member.weight * member.left_out for member in members))


def screen(candidates: Sequence[Candidate], labels: ClassLabels, keep: int = _SCREENED) -> list[Candidate]:
    """Return the covariances with which regressions of indicators of the classes predict labels left out best."""
    away = labels.proportions - labels.shares
    best = []
    for candidate in candidates:
        errors = []
        for noise in _NOISES:
            inverse = np.linalg.inv(candidate.block + noise * np.eye(len(away)))
            errors.append(float(np.square((inverse @ away) / np.diag(inverse)[:, None]).sum()))
        best.append(min(errors))
    return [candidates[k] for k in np.argsort(best, kind="stable")[:keep].tolist()]


def explain(
    candidates: Sequence[Candidate],
    variances: Sequence[float],
    labels: ClassLabels,
    observation: Classes,
    blocks: Sequence[FloatArray],
    *,
    centred: bool = False,
) -> Iterator[ClassExplanation]:
    """Infer all functions from labels, for each covariance with its variance and the correlations between labelled vertices.

    ``centred`` functions have mean 0.
    """
    odds = labels.shares if labels.functions > 1 else labels.shares[1:]
    offsets = np.zeros(labels.functions) if centred else np.log(odds / (1 - odds))
    K = np.array([variance * block for variance, block in zip(variances, blocks, strict=True)])
    modes = find_modes(K, labels, observation, offsets)
    for i, (candidate, variance) in enumerate(zip(candidates, variances, strict=True)):
        left = find_probabilities(observation, modes.left_mean[i], modes.left_variance[i])
        factors = zip(modes.precision[i], modes.linear[i], strict=True)
        # factorised where it is needed: most are weighed only
        beliefs = LazyBeliefs(K[i], tuple(factors))
        yield ClassExplanation(candidate, variance, observation, offsets, beliefs, left)


def weigh(
    pairs: Sequence[tuple[Candidate, float]],
    labels: ClassLabels,
    observation: Classes,
    places: _Places | None = None,
    most: int = 24,
) -> NetworkClassPosterior:
    """Weigh covariances with variances by labels left out; with ``places``, from the labels there alone."""
    some = labels if places is None else labels.take(places)
    blocks = [candidate.block if places is None else candidate.block[np.ix_(places, places)] for candidate, _ in pairs]
    candidates, variances = zip(*pairs, strict=True)
    found = list(explain(candidates, variances, some, observation, blocks))
    logs = np.array([member.candidate.log_prior + log_score(member.left_out, some.counts) for member in found])
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    order = np.argsort(-weights, kind="stable")
    kept = order[: min(most, int(np.searchsorted(np.cumsum(weights[order]), _KEPT)) + 1)]
    total = weights[kept].sum()
    members = tuple(replace(found[k], weight=float(weights[k] / total)) for k in kept.tolist())
    return NetworkClassPosterior(some, members, tuple(pairs[k] for k in order.tolist())).sharpened()


def extend(posterior: NetworkClassPosterior, labels: ClassLabels) -> NetworkClassPosterior:
    """Return the same explanations of more labels than those that they were found with."""
    vertices, members = labels.vertices, []
    for member in posterior.members:
        block = member.candidate.between(vertices, vertices)
        candidate = replace(member.candidate, block=block)
        (new,) = explain([candidate], [member.variance], labels, member.observation, [block])
        members.append(replace(new, weight=member.weight))
    return NetworkClassPosterior(labels, tuple(members), posterior.ranked).sharpened()


def find_probabilities(observation: Classes, means: FloatArray, variances: FloatArray) -> FloatArray:
    """Return the probability of each class (columns) from beliefs about functions (rows)."""
    return normalise(np.clip(observation.probability(means, variances)[0], 1e-9, 1 - 1e-9))


def sharpen(probabilities: FloatArray, power: float) -> FloatArray:
    """Return probabilities raised to a power, and divided by their sum."""
    raised = np.maximum(probabilities, 1e-12) ** power
    return np.asarray(raised / raised.sum(axis=-1, keepdims=True))


def find_sharpness(probabilities: FloatArray, counts: FloatArray) -> float:
    """Return the power with which labels are the most probable; its logarithm has a normal prior about 0."""
    scores = [log_score(sharpen(probabilities, power), counts) - 0.5 * np.log(power) ** 2 for power in _POWERS]
    return float(_POWERS[int(np.argmax(scores))])


def log_score(probabilities: FloatArray, counts: FloatArray) -> float:
    """Return the sum of the logarithms of the probabilities of labels, of which there are so many of each class."""
    return float((counts * np.log(np.maximum(probabilities, _LEAST))).sum())
