"""The experiments of the cavity method for a misspecified model: data sets on a given graph, or on large graphs of an ensemble."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpcurves.graphs import Ensemble, Graph, GraphKernel
from gpcurves.graphs.groups import members
from gpcurves.methods.cavity.beliefs import links_of, normalisers, prior_variances
from gpcurves.methods.cavity.dynamics import poisson_weights
from gpcurves.methods.cavity.taught import Chain, TaughtBeliefs, TaughtGraph, propagate_taught
from gpcurves.methods.simulation.vertices import GraphExperiment, draw_counts
from gpcurves.montecarlo import stream
from gpcurves.numerics.validation import FloatArray
from gpcurves.problem import Problem

VERTICES = 1_000
"""Vertices of each graph of an ensemble: cycles that are so long change less than the standard error that is usual."""


def taught_graph(problem: Problem, graph: Graph) -> TaughtGraph:
    """Return the student and the teacher of a problem on a graph, with the true normalisers of a given one.

    On a graph of an ensemble normalisers are those without cycles, as on infinitely large graphs.
    """
    teacher = problem.teacher
    assert teacher is not None
    true = teacher.graph or graph
    union = graph.adjacency + true.adjacency if true is not graph else graph.adjacency
    links = links_of(graph if true is graph else Graph(union))
    vertex = np.repeat(np.arange(graph.vertices), np.diff(links.indptr))
    other = vertex[links.reverse]

    def chain(kernel: GraphKernel, own: Graph) -> Chain:
        weights = links.weights if true is graph else np.asarray(own.adjacency[vertex, other]).ravel()
        model = kernel.vertex_model()
        if problem.ensemble is None:
            kappa = normalisers(kernel, own)[0]
        else:
            raw = prior_variances(links_of(own), model)
            kappa = {"none": np.ones_like(raw), "global": np.full_like(raw, raw.mean()), "local": raw}[kernel.normalise]
            kappa = kappa / kernel.variance
        return Chain.of(model, weights, own.degrees, kappa)

    chains = chain(problem.kernel, graph), chain(teacher.kernel, true)
    return TaughtGraph(links, *chains, problem.noise, teacher.noise)


@dataclass(frozen=True)
class TaughtData(GraphExperiment):
    """Belief propagation of a misspecified model for one data set, at all nu."""

    tolerance: float
    max_rounds: int
    damping: float
    vertices: int  # of a graph of an ensemble
    threads: int | None  # of one task; None for all cores
    note: str | None
    kept: list[Any] = field(default_factory=list, repr=False, compare=False)  # the given graph with its normalisers

    task = "cavity, misspecified"
    settings = ("among", "tolerance", "max_rounds", "damping", "vertices")
    averages = ("error", "error_stderr", "variance", "converged", "rounds")

    def __getstate__(self) -> dict[str, Any]:
        """Return all but what was kept: it is large, and need not travel to workers."""
        return {**self.__dict__, "kept": []}

    def _graph(self, rng: np.random.Generator) -> tuple[Graph, TaughtGraph]:
        graph = self.problem.graph
        if isinstance(graph, Ensemble):
            drawn = graph.sample(self.vertices, rng)
            return drawn, taught_graph(self.problem, drawn)
        if not self.kept:
            self.kept.append(taught_graph(self.problem, graph))
        return graph, self.kept[0]

    def draw(self, task: int) -> Mapping[str, FloatArray | float]:
        """Draw a growing data set and follow the messages along nu."""
        rng = stream(self.seed, task)
        graph, taught = self._graph(rng)
        own = rng.spawn(1)[0]  # on a given graph the data sets of the simulation with the same seed
        masks = [members(graph, name) for name in self.among]
        rows = np.empty((len(self.nu), len(self.averages) + len(masks)))
        beliefs: TaughtBeliefs | None = None
        weights = self.label_weights(graph)
        rates = np.ones(graph.vertices) if weights is None else graph.vertices * weights
        for k, counts in zip(*draw_counts(self.nu, graph.vertices, own, weights), strict=True):
            beliefs = propagate_taught(
                taught,
                counts.astype(np.float64),
                tolerance=self.tolerance,
                max_rounds=self.max_rounds,
                damping=self.damping,
                start=beliefs.messages if beliefs is not None and beliefs.converged else None,
                threads=self.threads,
            )
            local = beliefs.error if self.problem.ensemble is None else _mean_error(taught, beliefs, self.nu[k] * rates)
            sums = [local[mask].sum() / len(local) for mask in masks]
            rows[k] = [local.mean(), 0.0, beliefs.error.var(), beliefs.converged, beliefs.rounds, *sums]
        return self.as_fields(rows, [float(mask.mean()) for mask in masks])


def _mean_error(taught: TaughtGraph, beliefs: TaughtBeliefs, nu: FloatArray) -> FloatArray:
    """Return the error of every vertex, averaged over its own number of examples."""
    total = np.zeros_like(beliefs.error)
    for rate in np.unique(nu).tolist():
        own = nu == rate
        variances, errors = beliefs.cavity_variance[own], beliefs.cavity_error[own]
        for count, weight in zip(*poisson_weights(rate), strict=True):
            variance = 1 / (count / taught.noise + 1 / variances)
            slope = count * taught.true_noise / taught.noise**2 + errors / variances**2
            total[own] += weight * variance**2 * slope
    return total
