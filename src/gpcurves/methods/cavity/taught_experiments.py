"""The experiment of the cavity method for a misspecified model on a given graph: one data set, and what cycles change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gpcurves.graphs import Graph, GraphKernel
from gpcurves.graphs.graph import IntArray
from gpcurves.graphs.groups import members
from gpcurves.methods.cavity.beliefs import links_of, normalisers
from gpcurves.methods.cavity.scores import CavityExperiment
from gpcurves.methods.cavity.taught import Chain, TaughtBeliefs, TaughtGraph, propagate_taught
from gpcurves.methods.simulation.vertices import draw_counts, mismatched_errors
from gpcurves.montecarlo import stream
from gpcurves.numerics.validation import FloatArray
from gpcurves.problem import Problem


@dataclass(frozen=True, eq=False)
class GraphPrior:
    """A kernel on a graph, with what it is divided by at each vertex."""

    kernel: GraphKernel
    graph: Graph
    kappa: FloatArray

    def cut(self, chosen: IntArray) -> GraphPrior:
        """Return the same on a part of the graph."""
        return GraphPrior(self.kernel, Graph(self.graph.adjacency[chosen][:, chosen]), self.kappa[chosen])

    def matrix(self) -> FloatArray:
        """Return all covariances."""
        raw: FloatArray = self.kernel.raw().on(self.graph).matrix()
        return raw / np.sqrt(self.kappa[:, None] * self.kappa)


Priors = tuple[GraphPrior, GraphPrior]


def priors_of(problem: Problem, graph: Graph) -> tuple[Priors, str | None]:
    """Return what student and teacher assume on a graph, and a sentence if their normalisers are not exact."""
    teacher = problem.teacher
    assert teacher is not None
    true = teacher.graph or graph
    (own, note), (other, note0) = normalisers(problem.kernel, graph), normalisers(teacher.kernel, true)
    return (GraphPrior(problem.kernel, graph, own), GraphPrior(teacher.kernel, true, other)), note or note0


def union(priors: Priors) -> Graph:
    """Return the graph with the edges of both."""
    student, teacher = priors
    same = teacher.graph is student.graph
    return student.graph if same else Graph(student.graph.adjacency + teacher.graph.adjacency)


def join(priors: Priors, noise: float, true_noise: float) -> TaughtGraph:
    """Return student and teacher on the edges of both graphs."""
    student, teacher = priors
    links = links_of(union(priors))
    vertex = np.repeat(np.arange(links.vertices), np.diff(links.indptr))
    other = vertex[links.reverse]

    def chain(prior: GraphPrior) -> Chain:
        same = teacher.graph is student.graph
        weights = links.weights if same else np.asarray(prior.graph.adjacency[vertex, other]).ravel()
        return Chain.of(prior.kernel.vertex_model(), weights, prior.graph.degrees, prior.kappa)

    return TaughtGraph(links, chain(student), chain(teacher), noise, true_noise)


def taught_graph(problem: Problem, graph: Graph) -> TaughtGraph:
    """Return the student and the teacher of a problem on a graph."""
    return join(priors_of(problem, graph)[0], problem.noise, problem.true_noise)


@dataclass(frozen=True, eq=False)
class TaughtPiece:
    """A part of a graph, or all of it, with the covariance matrices of student and teacher."""

    taught: TaughtGraph
    C: FloatArray = field(repr=False)
    true: FloatArray = field(repr=False)

    def compare(self, nu: Sequence[float], inner: int, rng: np.random.Generator) -> FloatArray:
        """Return the sum of the first errors by messages and by dense algebra, at each nu, for a new data set."""
        noises = self.taught.noise, self.taught.true_noise
        sums, start = np.zeros((2, len(nu))), None
        for k, counts in zip(*draw_counts(nu, len(self.C), rng), strict=True):
            beliefs = propagate_taught(self.taught, counts.astype(np.float64), tolerance=1e-6, start=start)
            start = beliefs.messages if beliefs.converged else None
            sums[0, k] = beliefs.error[:inner].sum()
            sums[1, k] = mismatched_errors(self.C, self.true, counts, *noises)[:inner].sum()
        return sums


@dataclass(frozen=True)
class TaughtData(CavityExperiment):
    """Belief propagation of a misspecified model for one data set, at all nu."""

    threads: int | None  # of one task; None for all cores
    tolerance: float
    max_rounds: int
    damping: float
    priors: Priors = field(repr=False)
    note: str | None  # a sentence if their normalisers are not exact
    kept: list[Any] = field(default_factory=list, repr=False, compare=False)  # the given graph with its normalisers

    task = "cavity, misspecified"
    settings = ("among", "tolerance", "max_rounds", "damping", "quantity")

    def __getstate__(self) -> dict[str, Any]:
        """Return all but what was kept: it is large, and need not travel to workers."""
        return {**self.__dict__, "kept": []}

    @property
    def taught(self) -> TaughtGraph:
        """The graph with its normalisers."""
        if not self.kept:
            self.kept.append(join(self.priors, self.problem.noise, self.problem.true_noise))
        kept: TaughtGraph = self.kept[0]
        return kept

    @property
    def linked(self) -> Graph:
        """The graph along whose edges messages are sent."""
        return union(self.priors)

    def cut(self, chosen: IntArray) -> TaughtPiece:
        """Return a part of the graph, on which messages are compared with dense algebra."""
        student, teacher = self.priors
        part = student.cut(chosen)
        true = teacher.cut(chosen)
        if teacher.graph is student.graph:
            true = replace(true, graph=part.graph)
        taught = join((part, true), self.problem.noise, self.problem.true_noise)
        return TaughtPiece(taught, part.matrix(), true.matrix())

    def draw(self, task: int) -> Mapping[str, FloatArray | float]:
        """Draw a growing data set and follow the messages along nu."""
        graph = self.problem.graph
        assert isinstance(graph, Graph)
        rng = stream(self.seed, task).spawn(1)[0]  # the data sets of the simulation with the same seed
        masks = [members(graph, name) for name in self.among]
        rows = np.empty((len(self.nu), len(self.fields) - len(masks)))
        beliefs: TaughtBeliefs | None = None
        for k, counts in zip(*draw_counts(self.nu, graph.vertices, rng), strict=True):
            beliefs = propagate_taught(
                self.taught,
                counts.astype(np.float64),
                tolerance=self.tolerance,
                max_rounds=self.max_rounds,
                damping=self.damping,
                start=beliefs.messages if beliefs is not None and beliefs.converged else None,
                threads=self.threads,
            )
            local = beliefs.error
            sums = [local[mask].sum() / len(local) for mask in masks]
            cavity = beliefs.cavity_variance, beliefs.cavity_error
            scores = self.score((beliefs.variance, local), cavity, counts)
            rows[k] = [local.mean(), 0.0, local.var(), beliefs.converged, beliefs.rounds, *sums, *scores]
        return self.as_fields(rows, [float(mask.mean()) for mask in masks])
