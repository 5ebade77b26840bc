"""Which vertices to label next: each lowers the average variance the most, if the likeliest explanation is true."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from gpcurves.designs.greedy import choose_greedily
from gpcurves.forecasting.networks.curves import Route, simulate
from gpcurves.forecasting.networks.posterior import NetworkPosterior
from gpcurves.forecasting.networks.regressor import GraphRegressor
from gpcurves.graphs.graph import IntArray
from gpcurves.numerics.validation import FloatArray, integer

CANDIDATES, _REFERENCE = 1_000, 500
_CHOSEN = 200  # vertices that are chosen one by one to measure what choosing saves
_STREAM = 77  # random numbers of the choice are not those of the forecast


@dataclass(frozen=True, eq=False)
class VertexChooser:
    """Chooses among unlabelled vertices; at most 1,000 of them, drawn at random, are compared."""

    model: GraphRegressor
    seed: int
    _chosen: dict[int, pd.DataFrame] = field(default_factory=dict, repr=False)

    def choose(self, k: int) -> tuple[pd.DataFrame, None]:
        """Return a table of k vertices to label next, the most informative first, with what is expected there."""
        graph, posterior = self.model.graph_, self.model.posterior_
        labelled = posterior.observed.vertices
        count = integer("the number of next labels", k, 1, min(CANDIDATES, graph.vertices - len(labelled)))
        if count not in self._chosen:
            rng = np.random.default_rng([self.seed, _STREAM])
            others = np.setdiff1d(np.arange(graph.vertices), labelled)
            vertices = choose_vertices(posterior, rng.permutation(others), count)
            mean, _, low, high = self.model.predict_at(vertices)
            names = [graph.label(i) for i in vertices.tolist()]
            self._chosen[count] = pd.DataFrame({"vertex": names, "prediction": mean, "low": low, "high": high})
        return self._chosen[count].copy(), None


def choose_vertices(posterior: NetworkPosterior, others: IntArray, count: int) -> IntArray:
    """Return vertices to label next, out of unlabelled ones in a random order, of which the first are compared."""
    member, labelled = posterior.members[0], posterior.observed.vertices
    candidates, reference = others[:CANDIDATES], others[-_REFERENCE:]
    points = np.concatenate((candidates, reference))
    across = member.candidate.between(points, labelled)
    known = across @ member.solution.inverse
    C = member.candidate.between(candidates, points) - known[: len(candidates)] @ across.T
    if (ones := member.solution.ones) is not None:
        unknown = 1 - across @ ones
        C += np.outer(unknown[: len(candidates)], unknown) / ones.sum()
    own, over = np.split(C, [len(candidates)], axis=1)
    return np.asarray(candidates[choose_greedily(own, over, member.solution.noise, count, once=True)])


def measure_savings(posterior: NetworkPosterior, route: Route) -> FloatArray:
    """Return which share of the error remains if further vertices are chosen, not drawn, after 0, 1, … of them."""
    known = len(route.labelled)
    count = min(_CHOSEN, len(route.further))
    if count == 0:
        return np.ones(1)
    chosen = choose_vertices(posterior, route.further, count)
    best, random = (
        simulate(posterior.members[0], each, 1.0).error[known : known + count + 1]
        for each in (route.with_further(chosen), route)
    )
    return np.asarray(np.minimum(1.0, best / random))
