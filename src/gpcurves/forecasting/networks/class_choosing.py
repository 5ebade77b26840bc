r"""Which vertices to label next if labels are classes: each tells the most about classes that are not decided yet.

A label at vertex i is worth a measurement of :math:`\sqrt{\tau_i}f_i` with noise of variance 1, where :math:`\tau_i = p_i(1-p_i)` is the information
that it carries with the predicted probability :math:`p_i`: nothing where the class is certain. Other vertices count in the same units.
Covariances are those of the likeliest explanation, summed over functions.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from gpcurves.designs.greedy import choose_greedily
from gpcurves.forecasting.networks.choosing import CANDIDATES
from gpcurves.forecasting.networks.class_curves import simulate_classes
from gpcurves.forecasting.networks.classifier import GraphClassifier
from gpcurves.forecasting.networks.curves import Route
from gpcurves.graphs.graph import IntArray
from gpcurves.numerics.cholesky import solve_lower
from gpcurves.numerics.validation import FloatArray, integer

_REFERENCE = 500
_CHOSEN = 100  # vertices that are chosen one by one to measure what choosing saves
_STREAM = 77  # random numbers of the choice are not those of the forecast


@dataclass(frozen=True, eq=False)
class ClassChooser:
    """Chooses among unlabelled vertices; at most 1,000 of them, drawn at random, are compared."""

    model: GraphClassifier
    seed: int
    _chosen: dict[int, pd.DataFrame] = field(default_factory=dict, repr=False)

    def choose(self, k: int) -> tuple[pd.DataFrame, None]:
        """Return a table of k vertices to label next, the most informative first, with the likeliest class there."""
        graph, posterior = self.model.graph_, self.model.posterior_
        labelled = posterior.labels.vertices
        count = integer("the number of next labels", k, 1, min(CANDIDATES, graph.vertices - len(labelled)))
        if count not in self._chosen:
            rng = np.random.default_rng([self.seed, _STREAM])
            others = np.setdiff1d(np.arange(graph.vertices), labelled)
            vertices = choose_vertices(self.model, rng.permutation(others), count)
            found = self.model.probabilities_[vertices]
            columns = {
                "vertex": [graph.label(i) for i in vertices.tolist()],
                "prediction": [str(one) for one in self.model.classes_[found.argmax(axis=1)]],
                "probability": found.max(axis=1),
            }
            self._chosen[count] = pd.DataFrame(columns)
        return self._chosen[count].copy(), None


def choose_vertices(model: GraphClassifier, others: IntArray, count: int) -> IntArray:
    """Return vertices to label next, out of unlabelled ones in a random order, of which the first are compared."""
    posterior = model.posterior_
    member, labelled = posterior.members[0], posterior.labels.vertices
    candidates, reference = others[:CANDIDATES], others[-_REFERENCE:]
    points = np.concatenate((candidates, reference))
    across = member.variance * member.candidate.between(labelled, points)
    prior = member.variance * member.candidate.between(candidates, points)
    found = model.probabilities_[points]
    roots = np.sqrt(found * (1 - found)).T[
        -len(member.beliefs) :
    ]  # of two classes there is one function, of the second
    total = np.zeros((len(candidates), len(points)))
    for belief, root in zip(member.beliefs, roots, strict=True):
        W = solve_lower(belief.L, np.sqrt(belief.precision)[:, None] * across)
        total += root[: len(candidates), None] * (prior - W[:, : len(candidates)].T @ W) * root
    own, over = np.split(total, [len(candidates)], axis=1)
    return np.asarray(candidates[choose_greedily(own, over, 1.0, count, once=True)])


def measure_savings(model: GraphClassifier, route: Route) -> FloatArray:
    """Return which share of the reducible error remains if further vertices are chosen, not drawn, after 0, 1, … of them."""
    posterior = model.posterior_
    known = len(route.labelled)
    count = min(_CHOSEN, len(route.further))
    if count == 0:
        return np.ones(1)
    chosen = choose_vertices(model, route.further, count)
    at = np.searchsorted(posterior.labels.vertices, route.labelled)
    n, left = known + np.arange(count + 1.0), []
    for each in (route.with_further(chosen), route.with_further(route.further[:count])):
        curve = simulate_classes(posterior.members[0], posterior.sharpness, each, at)[0]
        left.append(np.maximum(np.sqrt(curve(n)) - curve.floor, 1e-9))
    return np.asarray(np.minimum.accumulate(np.minimum(1.0, left[0] / left[1])))
