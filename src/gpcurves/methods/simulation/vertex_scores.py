r"""Training error, predictive density, evidence and information of data sets on graphs, averaged exactly over labels.

With :math:`\gamma_i` labels at the observed vertices, :math:`A = C_{oo}+\mathrm{diag}(\sigma^2/\gamma)` is what the student takes for the
covariance of their averages, and :math:`A_0` the true one. Prediction leaves the residuals :math:`\frac{\sigma^2}{\gamma}A^{-1}\bar y` of
the averages. Around these, labels vary as their noise does, so that the training error at a vertex is
:math:`(\sigma^2/\gamma_i)^2(A^{-1}A_0A^{-1})_{ii} + \sigma_0^2(1-1/\gamma_i)`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from gpcurves.graphs import Graph
from gpcurves.graphs.graph import IntArray
from gpcurves.methods.simulation.vertices import OnGraphs, draw_counts
from gpcurves.numerics.cholesky import factorise, solve_factorised
from gpcurves.numerics.validation import FloatArray


@dataclass(frozen=True)
class VertexScores(OnGraphs):
    """One of the scores of data sets on graphs."""

    quantity: str = field(kw_only=True)

    task = "graph score"
    settings = (*OnGraphs.settings, "quantity")

    def draw(self, task: int) -> Mapping[str, FloatArray | float]:
        graph, rng = self.draw_graph(task)
        C, true = self.covariances(graph)
        found = np.empty((self.datasets, len(self.nu)))
        for k, own in enumerate(rng.spawn(self.datasets)):
            chosen, weights = self.choose_vertices(graph, own), self.label_weights(graph)
            order, growing = draw_counts(self.nu, graph.vertices, own, weights, chosen)
            for place, counts in zip(order.tolist(), growing, strict=True):
                found[k, place] = self.score(graph, C, C if true is None else true, counts)
        return {"error": found.mean(axis=0)}

    def score(self, graph: Graph, C: FloatArray, true: FloatArray, counts: IntArray) -> float:
        """Return the score of one data set."""
        noise, true_noise = self.problem.noise, self.problem.true_noise
        if self.quantity == "nlpd":
            variance, error = (self.errors(C, each, [counts])[0] for each in (None, None if true is C else true))
            s = variance + noise
            return float(np.average(np.log(2 * np.pi * s) + (error + true_noise) / s, weights=self.test_weights)) / 2
        o = np.flatnonzero(counts)
        if len(o) == 0 and self.quantity != "training":
            return 0.0
        if len(o) == 0:  # the error that the first label will have
            kept = noise / (noise + C.diagonal())
            return float(np.average(kept**2 * (true.diagonal() + true_noise), weights=self.label_weights(graph)))
        examples = counts[o]
        A = C[np.ix_(o, o)] + np.diag(noise / examples)
        L = factorise(A)
        determinant = 2 * np.log(L.diagonal()).sum()
        if self.quantity == "information":
            return float(determinant - np.log(noise / examples).sum()) / 2
        M = solve_factorised(
            L, true[np.ix_(o, o)] + np.diag(true_noise / examples)
        )  # inverse of A times the true covariance
        if self.quantity == "evidence":
            within = ((examples - 1) * (np.log(noise) + true_noise / noise) + np.log(examples)).sum()
            return float(determinant + np.trace(M) + within + examples.sum() * np.log(2 * np.pi)) / 2
        residuals = (noise / examples) ** 2 * solve_factorised(L, M.T).diagonal()
        return float(np.average(residuals + true_noise * (1 - 1 / examples), weights=examples))
