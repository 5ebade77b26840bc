r"""What people would do without a Gaussian process, for classes: the most frequent class, and label propagation; and averages.

Probabilities of classes are an average :math:`\sum_kw_kp_k` of those of the Gaussian process, of label propagation (the harmonic function
through the indicators of the classes), and of the shares of the classes among the labels. The weights maximise the probability of labels
left out, with a Dirichlet prior about the usual weights, by the steps

.. math:: w_k \propto a_k + \sum_i\frac{w_kp_{ki}}{\sum_lw_lp_{li}}.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from gpcurves.forecasting.networks.class_labels import ClassLabels, shares_of
from gpcurves.forecasting.networks.simple import LabelPropagation
from gpcurves.graphs.graph import Graph
from gpcurves.numerics.validation import FloatArray

USUAL = (3.0, 1.5, 0.5)  # labels that the prior of the weights counts for
_STEPS = 200
_CLEARLY = 0.98  # below this share of an error, another one is worth a word
_LEAST = 1e-4
_Places = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class PropagatedClasses:
    """Shares of classes at all vertices by label propagation."""

    inner: LabelPropagation

    @classmethod
    def fit(cls, graph: Graph, labels: ClassLabels) -> Self | None:
        """Propagate classes; None if the graph is too large for the factorisation."""
        inner = LabelPropagation.fit(graph, labels.vertices, labels.proportions)
        return None if inner is None else cls(inner)

    @property
    def values(self) -> FloatArray:
        """The shares at all vertices."""
        return _as_shares(self.inner.values)

    def predict(self, train: _Places, test: _Places) -> FloatArray:
        """Return the shares at some labelled places, propagated from others."""
        return _as_shares(self.inner.predict(train, test))

    def leave_out(self, train: _Places | None = None, test: _Places | None = None) -> FloatArray:
        """Return the shares at each labelled place from all others; if ``test`` places have no labels, from those of ``train``."""
        found = self.inner.leave_out() if train is None or test is None else self.inner.leave_out_of(train, test)
        return _as_shares(found)


def _as_shares(values: FloatArray) -> FloatArray:
    """Return numbers of which each row adds up to 1, without those that rounding has made negative."""
    kept = np.clip(values, 0.0, 1.0)
    return np.asarray(kept / np.maximum(kept.sum(axis=1, keepdims=True), 1e-12))


def leave_out_of_shares(counts: FloatArray) -> FloatArray:
    """Return the shares of the classes in the labels of all other vertices, for each labelled one."""
    return shares_of(counts.sum(axis=0) - counts)


def find_weights(parts: FloatArray, counts: FloatArray, usual: FloatArray) -> FloatArray:
    """Return the weights of several predictions of labels left out, from which labels there are."""
    chance = np.maximum(parts, 1e-12)
    weights = usual / usual.sum()
    for _ in range(_STEPS):
        shares = weights[:, None, None] * chance
        shares /= shares.sum(axis=0)
        new = usual + (shares * counts).sum(axis=(1, 2))
        new /= new.sum()
        if np.abs(new - weights).max() < 1e-6:
            break
        weights = new
    return np.asarray(new)


def mix(process: FloatArray, propagated: FloatArray | None, shares: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the average of predictions."""
    total = weights[0] * process + weights[2] * shares
    return np.asarray(total if propagated is None else total + weights[1] * propagated)


def weigh_parts(process: FloatArray, propagated: FloatArray | None, counts: FloatArray) -> FloatArray:
    """Return the weights of the Gaussian process, label propagation (0 if it is None) and the shares of the classes."""
    simple = leave_out_of_shares(counts)
    usual = np.array(USUAL)
    if propagated is None:
        first, last = find_weights(np.stack((process, simple)), counts, usual[[0, 2]])
        return np.array([first, 0.0, last])
    return find_weights(np.stack((process, propagated, simple)), counts, usual)


@dataclass(frozen=True)
class ClassesLeftOut:
    """Error rates and log losses at labelled vertices, each predicted from the labels of the others.

    ``majority`` always predicts the most frequent class; its log loss is that of the shares of the classes.
    """

    process: tuple[float, float]
    majority: tuple[float, float]
    propagation: tuple[float, float] | None

    @property
    def warning(self) -> str | None:
        """What to say if something simpler predicts better."""
        simple = {"label propagation": self.propagation, "the most frequent class": self.majority}
        better = {
            name: both[0] for name, both in simple.items() if both is not None and both[0] < _CLEARLY * self.process[0]
        }
        if not better:
            return None
        name, rate = min(better.items(), key=lambda each: each[1])
        return (
            f"{name} predicts labels that were left out better than the fitted model (error rate {100 * rate:.3g} % against "
            f"{100 * self.process[0]:.3g} %): do the edges join vertices of the same class?"
        )


def score(probabilities: FloatArray, counts: FloatArray) -> tuple[float, float]:
    """Return the share of labels that are not of the likeliest class, and minus the mean log probability of labels."""
    likeliest = probabilities.argmax(axis=1)
    right = counts[np.arange(len(counts)), likeliest].sum() / counts.sum()
    loss = -(counts * np.log(np.maximum(probabilities, _LEAST))).sum() / counts.sum()
    return float(1 - right), float(loss)
