r"""Training error and predictive density of labels at vertices, from what the cavity method knows about each of them.

Given the labels at all other vertices, a student has the variance :math:`v_c` and the squared error :math:`e_c` (the same if the model is
well specified). With :math:`\gamma` labels at the vertex its prediction keeps the share :math:`w = \sigma^2/(\sigma^2+\gamma v_c)` of the
former one and takes the rest from the average label, so that the squared training error of each of these labels is
:math:`w^2(e_c + \sigma_0^2/\gamma) + \sigma_0^2(1-1/\gamma)`. A new label there has the negative log predictive density
:math:`\frac12\ln 2\pi s + (\epsilon+\sigma_0^2)/2s` with :math:`s = v+\sigma^2`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from gpcurves.graphs.graph import IntArray
from gpcurves.methods.cavity.compiled import Pair
from gpcurves.methods.simulation.vertices import GraphExperiment
from gpcurves.montecarlo import Shape
from gpcurves.numerics.validation import FloatArray


@dataclass(frozen=True)
class LabelNoise:
    """What a student believes about the noise of labels, and the noise that they have."""

    noise: float
    true_noise: float

    def training(self, variance: FloatArray, error: FloatArray, counts: FloatArray | IntArray | float) -> FloatArray:
        """Return the training error of each of so many labels (at least 1), from cavity variances and errors."""
        kept = self.noise / (self.noise + counts * variance)
        return np.asarray(kept**2 * (error + self.true_noise / counts) + self.true_noise * (1 - 1 / counts))

    def nlpd(self, variance: FloatArray, error: FloatArray) -> FloatArray:
        """Return the negative log predictive density of a new label, from posterior variances and errors."""
        s = variance + self.noise
        return np.asarray((np.log(2 * np.pi * s) + (error + self.true_noise) / s) / 2)


@dataclass(frozen=True)
class CavityExperiment(GraphExperiment):
    """An experiment of the cavity method: mean squared errors, and one of the scores of labels if it is asked for.

    Precision is that of the error in any case, because a score may be 0.
    """

    quantity: str | None = field(default=None, kw_only=True)  # one of the scores

    averages = ("error", "error_stderr", "variance", "converged", "rounds")

    @property
    def fields(self) -> Mapping[str, Shape]:
        scores = () if self.quantity is None else ("score", "score_stderr")
        return {**super().fields, **dict.fromkeys(scores, (len(self.nu),))}

    def score(self, after: Pair, cavity: Pair, counts: IntArray) -> list[float]:
        """Return the score of one data set on a given graph and a standard error of 0; nothing if none is asked for.

        ``after`` are posterior variances and errors of all vertices, and ``cavity`` the same given the labels at all others.
        """
        if self.quantity is None:
            return []
        labels = LabelNoise(self.problem.noise, self.problem.true_noise)
        if self.quantity == "nlpd":
            return [float(np.average(labels.nlpd(*after), weights=self.test_weights)), 0.0]
        # Before any example, it is the error that the first one will have.
        weights = counts if counts.any() else self.weights
        return [float(np.average(labels.training(*cavity, np.maximum(counts, 1)), weights=weights)), 0.0]
