"""The experiments of the cavity method: populations for an ensemble, belief propagation for data sets on a given graph.

`loop_errors` measures how much cycles change the latter, against dense algebra on pieces of the graph.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpcurves.graphs import Graph
from gpcurves.graphs.graph import IntArray
from gpcurves.graphs.groups import members
from gpcurves.methods.cavity.beliefs import Beliefs, links_of, propagate
from gpcurves.methods.cavity.population import PopulationResult, population_curve, population_size
from gpcurves.methods.cavity.scores import CavityExperiment
from gpcurves.methods.cavity.taught_dynamics import EnsembleTeacher
from gpcurves.methods.cavity.taught_experiments import TaughtData
from gpcurves.methods.simulation.vertices import draw_counts, per_vertex, posterior_variances
from gpcurves.montecarlo import stream
from gpcurves.numerics.validation import FloatArray
from gpcurves.problem import Problem

_SHARE = 1.3  # precision of each of the first two replicas, in units of that of their average
_BALL, _WHOLE = 600, 1_500
"""Vertices of the pieces of a graph on which cycles are tested; graphs up to the last size are tested whole."""
_FEWEST, _MOST, _NEGLIGIBLE = 4, 40, 0.003
"""Data sets on which cycles are tested, and the error that need not be known better than it is small."""


@dataclass(frozen=True)
class Replicas(CavityExperiment):
    """The curve of an ensemble from independent populations."""

    threads: int | None  # of one task; None for all cores
    precision: float
    local: str
    max_sweeps: int
    population: int | None

    task = "cavity, ensemble"
    settings = ("among", "precision", "local", "max_sweeps", "population", "quantity")

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
        scale = problem.kernel.variance
        results = population_curve(
            problem.ensemble.vertex_types(),
            problem.kernel.vertex_model(),
            problem.noise / scale,  # in units of the kernel's variance, and so are the results
            self.nu,
            normalise=problem.kernel.normalise,
            local=self.local,
            precision=_SHARE * self.precision,
            vertices=self.vertices,
            max_sweeps=self.max_sweeps,
            rng=stream(self.seed, task),
            threads=self.threads,
            truth=_truth(problem),
            quantity=self.quantity,
        )
        rows = []
        for each in results:
            variance = each.weight @ (each.variance - each.weight @ each.variance) ** 2
            sums = [_group_sum(each, name) for name in self.among]
            averages = scale * each.error, scale * each.stderr, scale**2 * variance, each.converged, each.sweeps
            rows.append([*averages, *(scale * each for each in sums), *self._scores(each)])
        return self.as_fields(np.array(rows), [float(_weigh(results[0], name).sum()) for name in self.among])

    def _scores(self, found: PopulationResult) -> list[float]:
        """Return the score and its standard error in the units of the problem, if one is asked for."""
        if found.score is None:
            return []
        scale = self.problem.kernel.variance
        if self.quantity == "nlpd":  # a density is per unit of labels
            return [found.score[0] + float(np.log(scale)) / 2, found.score[1]]
        return [scale * each for each in found.score]


def _truth(problem: Problem) -> EnsembleTeacher | None:
    """Return the teacher of a problem in units of the variance of the student's kernel, if it has one."""
    if (teacher := problem.teacher) is None:
        return None
    kernel, scale = teacher.kernel, problem.kernel.variance
    return EnsembleTeacher(kernel.vertex_model(), teacher.noise / scale, kernel.normalise, kernel.variance / scale)


def _group_sum(result: PopulationResult, group: str) -> float:
    """Return the error of a group times its share; of a block it is known from all sweeps, of others from the last one."""
    weights = _weigh(result, group)
    if group.startswith("block="):
        return float(weights.sum() * result.type_errors[int(group.removeprefix("block=")) - 1])
    return float(weights @ result.variance)


def _weigh(result: PopulationResult, group: str) -> FloatArray:
    """Return the weights of the vertices of a group, which is a block or one by degree, and 0 for all others."""
    if group.startswith("block="):
        return np.where(result.kind == int(group.removeprefix("block=")) - 1, result.weight, 0.0)
    degree = {"isolated": 0, "ends": 1}.get(group)
    if degree is None:
        degree = int(float(group.partition("=")[2]))
    return np.where(result.degree == degree, result.weight, 0.0)


@dataclass(frozen=True)
class GivenGraph(CavityExperiment):
    """Belief propagation for one data set on a given graph, at all nu."""

    threads: int | None  # of one task; None for all cores
    tolerance: float
    max_rounds: int
    damping: float
    kappa: FloatArray = field(repr=False)  # what the kernel is divided by at each vertex
    note: str | None  # a sentence if that is not exact

    task = "cavity, graph"
    settings = ("among", "tolerance", "max_rounds", "damping", "quantity")

    @property
    def linked(self) -> Graph:
        """The graph along whose edges messages are sent."""
        graph = self.problem.graph
        assert isinstance(graph, Graph)
        return graph

    def cut(self, chosen: IntArray) -> _Piece:
        """Return a part of the graph, on which messages are compared with dense algebra."""
        return _Piece.cut(self.problem.kernel.raw(), self.linked, chosen, self.kappa, self.noise, self.weights)

    def draw(self, task: int) -> Mapping[str, FloatArray | float]:
        """Draw a growing data set and follow the messages along nu."""
        graph = self.linked
        rng = stream(self.seed, task).spawn(1)[0]  # the data sets of the simulation with the same seed
        masks = [members(graph, name) for name in self.among]
        rows = np.empty((len(self.nu), len(self.fields) - len(masks)))
        beliefs: Beliefs | None = None
        for k, counts in zip(*draw_counts(self.nu, graph.vertices, rng, self.weights), strict=True):
            beliefs = propagate(
                links_of(graph),
                self.problem.kernel.vertex_model(),
                counts,
                self.noise,
                self.kappa,
                tolerance=self.tolerance,
                max_rounds=self.max_rounds,
                damping=self.damping,
                start=beliefs if beliefs is None or beliefs.converged else None,
                threads=self.threads,
            )
            mean, variance, *sums = self.summary(beliefs.variance, masks)
            scores = self.score((beliefs.variance,) * 2, (beliefs.cavity_variance,) * 2, counts)
            rows[k] = [mean, 0.0, variance, beliefs.converged, beliefs.rounds, *sums, *scores]
        return self.as_fields(rows, map(self.share, masks))


@dataclass(frozen=True, eq=False)
class LoopErrors:
    """How much cycles change the average variance at each nu, relative to dense algebra, and how sure that is."""

    off: FloatArray
    stderr: FloatArray
    vertices: int  # on which both ways were compared, each counted once for every data set
    drawn: int  # data sets


def loop_errors(experiment: GivenGraph | TaughtData) -> LoopErrors:
    """Compare belief propagation with dense algebra on as many data sets as it takes to know their difference within a third.

    Small graphs are compared whole. Of large ones, balls around random vertices are cut out, a new one for every data set, and
    both ways are used on each ball with the same normalisers; only the inner half of its vertices counts.
    """
    graph, cut = experiment.linked, experiment.cut
    rng = stream(experiment.seed, 2**31)
    entire = graph.vertices <= _WHOLE
    linked = np.flatnonzero(~graph.isolated)
    everything = np.arange(graph.vertices)
    whole = cut(everything) if entire else None
    sums: list[FloatArray] = []
    seen = 0
    while True:
        chosen = everything if entire else _ball(graph, int(rng.choice(linked)))
        piece = whole or cut(chosen)
        inner = len(chosen) if entire else (len(chosen) + 1) // 2
        sums.append(piece.compare(experiment.nu, inner, rng))
        seen += inner
        both = np.array(sums)  # data sets, both ways, nu
        messages, exact = both.sum(axis=0)
        left = both[:, 0] - messages / exact * both[:, 1]  # a ratio of averages, to first order
        count = len(sums)
        if count < _FEWEST:
            continue
        stderr = np.sqrt(count / (count - 1) * (left**2).sum(axis=0)) / exact
        found = LoopErrors(messages / exact - 1, stderr, seen, count)
        if count == _MOST or (2 * stderr <= np.maximum(abs(found.off) / 3, _NEGLIGIBLE)).all():
            return found


@dataclass(frozen=True, eq=False)
class _Piece:
    """A part of a graph, or all of it, with the covariance matrix of a kernel on it."""

    kernel: Any  # without normalisation
    graph: Graph
    normaliser: FloatArray
    C: FloatArray = field(repr=False)
    noise: float | FloatArray
    weights: FloatArray | None  # how often vertices are labelled, relative to each other
    denser: float  # how much more often than vertices of the whole graph

    @classmethod
    def cut(
        cls,
        kernel: Any,
        graph: Graph,
        chosen: IntArray,
        kappa: FloatArray,
        noise: float | FloatArray,
        weights: FloatArray | None,
    ) -> _Piece:
        part, normaliser = Graph(graph.adjacency[chosen][:, chosen]), kappa[chosen]
        C = kernel.on(part).matrix() / np.sqrt(normaliser[:, None] * normaliser)
        total = 1.0 if weights is None else float(weights[chosen].sum())
        denser = 1.0 if weights is None else total * graph.vertices / len(chosen)
        own = None if weights is None or total == 0 else weights[chosen] / total
        return cls(kernel, part, normaliser, C, per_vertex(noise, chosen), own, denser)

    def compare(self, nu: Sequence[float], inner: int, rng: np.random.Generator) -> FloatArray:
        """Return the sum of the first variances by messages and by dense algebra, at each nu, for a new data set."""
        sums, noise = np.zeros((2, len(nu))), self.noise
        nu = [self.denser * each for each in nu] if self.weights is not None or self.denser == 0 else nu
        links, model = links_of(self.graph), self.kernel.vertex_model()
        beliefs = None
        for k, counts in zip(*draw_counts(nu, self.graph.vertices, rng, self.weights), strict=True):
            beliefs = propagate(links, model, counts, noise, self.normaliser, tolerance=1e-6, start=beliefs)
            sums[0, k] = beliefs.variance[:inner].sum()
            sums[1, k] = posterior_variances(self.C, counts, noise)[:inner].sum()
        return sums


def _ball(graph: Graph, centre: int) -> IntArray:
    """Return the vertices nearest to one, in order of their distance."""
    from scipy.sparse.csgraph import breadth_first_order

    order = breadth_first_order(graph.adjacency, centre, directed=False, return_predecessors=False)
    return np.asarray(order[:_BALL], dtype=np.int64)
