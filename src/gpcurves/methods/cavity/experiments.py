"""The experiments of the cavity method: populations for an ensemble, belief propagation for data sets on a given graph.

`loop_errors` measures how much cycles change the latter, against dense algebra on pieces of the graph.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gpcurves.graphs import Graph
from gpcurves.graphs.graph import IntArray
from gpcurves.graphs.groups import members
from gpcurves.methods.cavity.beliefs import Beliefs, links_of, propagate
from gpcurves.methods.cavity.population import PopulationResult, population_curve, population_size
from gpcurves.methods.simulation.vertices import GraphExperiment, draw_counts, posterior_variances
from gpcurves.montecarlo import stream
from gpcurves.numerics.validation import FloatArray
from gpcurves.problem import Problem

_SHARE = 1.3  # precision of each of the first two replicas, in units of that of their average
_BALLS, _BALL, _WHOLE = 3, 600, 1_500
"""Pieces of a graph, and vertices in each, on which cycles are tested; graphs up to the last size are tested whole."""


_AVERAGES = ("error", "error_stderr", "variance", "converged", "rounds")


@dataclass(frozen=True)
class Replicas(GraphExperiment):
    """The curve of an ensemble from independent populations."""

    threads: int | None  # of one task; None for all cores
    precision: float
    local: str
    max_sweeps: int
    population: int | None

    task = "cavity, ensemble"
    settings = ("among", "precision", "local", "max_sweeps", "population")
    averages = _AVERAGES

    @property
    def vertices(self) -> int:
        """How many vertices each population has."""
        return population_size(_SHARE * self.precision) if self.population is None else self.population

    @property
    def note(self) -> str | None:
        """A sentence if the normalisation is not exact."""
        paper = self.problem.kernel.normalise == "local" and self.local == "paper"
        return "local normalisation by equation (29) of the paper, which is approximate" if paper else None

    def draw(self, task: int) -> Mapping[str, FloatArray | float]:
        """Run populations for all nu, each starting where the one before stopped."""
        problem = self.problem
        assert problem.ensemble is not None
        results = population_curve(
            problem.ensemble.degree_distribution(),
            problem.kernel.vertex_model(),
            problem.noise,
            self.nu,
            normalise=problem.kernel.normalise,
            local=self.local,
            precision=_SHARE * self.precision,
            vertices=self.vertices,
            max_sweeps=self.max_sweeps,
            rng=stream(self.seed, task),
            threads=self.threads,
        )
        rows = []
        for each in results:
            variance = each.weight @ (each.variance - each.weight @ each.variance) ** 2
            sums = [_weigh(each, name) @ each.variance for name in self.among]
            rows.append([each.error, each.stderr, variance, each.converged, each.sweeps, *sums])
        return self.as_fields(np.array(rows), [float(_weigh(results[0], name).sum()) for name in self.among])


def _weigh(result: PopulationResult, group: str) -> FloatArray:
    """Return the weights of the vertices of a group, which is one by degree, and 0 for all others."""
    degree = {"isolated": 0, "ends": 1}.get(group)
    if degree is None:
        degree = int(float(group.partition("=")[2]))
    return np.where(result.degree == degree, result.weight, 0.0)


@dataclass(frozen=True)
class GivenGraph(GraphExperiment):
    """Belief propagation for one data set on a given graph, at all nu."""

    threads: int | None  # of one task; None for all cores
    tolerance: float
    max_rounds: int
    damping: float
    kappa: FloatArray = field(repr=False)  # what the kernel is divided by at each vertex
    note: str | None  # a sentence if that is not exact

    task = "cavity, graph"
    settings = ("among", "tolerance", "max_rounds", "damping")
    averages = _AVERAGES

    def draw(self, task: int) -> Mapping[str, FloatArray | float]:
        """Draw a growing data set and follow the messages along nu."""
        graph = self.problem.graph
        assert isinstance(graph, Graph)
        rng = stream(self.seed, task).spawn(1)[0]  # the data sets of the simulation with the same seed
        masks = [members(graph, name) for name in self.among]
        rows = np.empty((len(self.nu), len(self.averages) + len(masks)))
        beliefs: Beliefs | None = None
        for k, counts in zip(*draw_counts(self.nu, graph.vertices, rng), strict=True):
            beliefs = propagate(
                links_of(graph),
                self.problem.kernel.vertex_model(),
                counts,
                self.problem.noise,
                self.kappa,
                tolerance=self.tolerance,
                max_rounds=self.max_rounds,
                damping=self.damping,
                start=beliefs if beliefs is None or beliefs.converged else None,
                threads=self.threads,
            )
            local = beliefs.variance
            sums = [local[mask].sum() / len(local) for mask in masks]
            rows[k] = [local.mean(), 0.0, local.var(), beliefs.converged, beliefs.rounds, *sums]
        return self.as_fields(rows, [float(mask.mean()) for mask in masks])


def loop_errors(problem: Problem, nu: Sequence[float], seed: int, kappa: FloatArray) -> tuple[FloatArray, int]:
    """Return how much cycles change the average variance, relative to dense algebra, and on how many vertices that is.

    Small graphs are compared whole. Of large ones, balls around random vertices are cut out, and both ways are used on
    each ball with the same normalisers; only the inner half of its vertices counts.
    """
    graph = problem.graph
    assert isinstance(graph, Graph)
    rng = stream(seed, 2**31)
    kernel: Any = problem.kernel
    plain = replace(kernel, normalise="none")
    entire = graph.vertices <= _WHOLE
    linked = np.flatnonzero(~graph.isolated)
    centres = linked[:1] if entire else rng.choice(linked, _BALLS)
    sums = np.zeros((2, len(nu)))
    seen = 0
    for centre in centres.tolist():
        chosen = np.arange(graph.vertices) if entire else _ball(graph, centre)
        inner = len(chosen) if entire else (len(chosen) + 1) // 2
        part = Graph(graph.adjacency[chosen][:, chosen])
        normaliser = kappa[chosen]
        C = plain.on(part).matrix() / np.sqrt(normaliser[:, None] * normaliser)
        beliefs = None
        for k, counts in zip(*draw_counts(nu, part.vertices, rng), strict=True):
            beliefs = propagate(
                links_of(part), plain.vertex_model(), counts, problem.noise, normaliser, tolerance=1e-6, start=beliefs
            )
            sums[0, k] += beliefs.variance[:inner].sum()
            sums[1, k] += posterior_variances(C, counts, problem.noise)[:inner].sum()
        seen += inner
    return np.asarray(sums[0] / sums[1] - 1), seen


def _ball(graph: Graph, centre: int) -> IntArray:
    """Return the vertices nearest to one, in order of their distance."""
    from scipy.sparse.csgraph import breadth_first_order

    order = breadth_first_order(graph.adjacency, centre, directed=False, return_predecessors=False)
    return np.asarray(order[:_BALL], dtype=np.int64)
