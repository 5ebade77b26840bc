"""The experiments on graphs: draw a graph, draw data sets on it, and return errors averaged over vertices or at each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from gpcurves.graphs import Ensemble, Graph, GraphKernel
from gpcurves.graphs.graph import IntArray
from gpcurves.graphs.groups import members
from gpcurves.inputs import Vertices
from gpcurves.methods.formulas.approximations import lower_continuous
from gpcurves.methods.simulation.vertices import curve_variances, mismatched_errors
from gpcurves.montecarlo import Shape, stream
from gpcurves.numerics.validation import FloatArray
from gpcurves.problem import Problem

_MANY_EXAMPLES = 5_000_000
_ALGORITHM = 1
"""Changes whenever the numbers of a task would, so that old stores are not mixed with new results."""


@dataclass(frozen=True)
class _OnGraphs:
    """What all experiments on graphs share: a task is one graph of an ensemble, or one data set on a given graph.

    Attributes
    ----------
    problem, nu, seed
        What to compute, at how many examples per vertex, and what determines the random numbers.
    vertices, datasets
        Size of the graphs, and data sets per task.
    """

    problem: Problem
    nu: tuple[float, ...]
    seed: int
    vertices: int
    datasets: int

    task: ClassVar[str]

    @property
    def key(self) -> Mapping[str, Any]:
        """Everything that determines a task."""
        problem, graph = self.problem, self.problem.graph
        plain: dict[str, Any] = {"task": self.task, "algorithm": _ALGORITHM, "nu": list(self.nu), "rng": self.seed}
        plain |= {"graph": graph.to_dict() if isinstance(graph, Ensemble) else graph.digest}
        plain |= {"kernel": problem.kernel.to_dict(), "noise": problem.noise}
        plain |= {"vertices": self.vertices, "datasets": self.datasets}
        if problem.teacher is not None:
            plain["teacher"] = [problem.true_kernel.to_dict(), problem.teacher.noise]
        return plain

    def draw_graph(self, task: int) -> tuple[Graph, np.random.Generator]:
        """Return the graph of a task and the random numbers that are left for its data."""
        rng = stream(self.seed, task)
        graph = self.problem.graph
        return (graph.sample(self.vertices, rng), rng) if isinstance(graph, Ensemble) else (graph, rng)

    def covariances(self, graph: Graph) -> tuple[FloatArray, FloatArray | None]:
        """Return the student's covariance matrix, and the teacher's if it differs."""
        matrix = _kept_matrix if isinstance(self.problem.graph, Graph) else _matrix
        teacher = self.problem.teacher
        return matrix(self.problem.kernel, graph), None if teacher is None else matrix(self.problem.true_kernel, graph)

    def local_errors(self, task: int) -> tuple[Graph, list[list[FloatArray]]]:
        """Return the graph of a task and, for each data set, the error of every vertex at each nu."""
        graph, rng = self.draw_graph(task)
        C, true = self.covariances(graph)
        return graph, [self._data_set(C, true, own) for own in rng.spawn(self.datasets)]

    def _data_set(self, C: FloatArray, true: FloatArray | None, rng: np.random.Generator) -> list[FloatArray]:
        sizes = examples(self.nu, len(C), rng.random())
        order = np.argsort(sizes, kind="stable")
        ascending = self.errors(C, true, training_counts(sizes[order], len(C), rng))
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        return [ascending[k] for k in rank.tolist()]

    def errors(self, C: FloatArray, true: FloatArray | None, growing: Sequence[IntArray]) -> list[FloatArray]:
        """Return the error of every vertex for nested training counts."""
        if true is None:
            return curve_variances(C, growing, self.problem.noise)
        assert self.problem.teacher is not None
        levels = self.problem.noise, self.problem.teacher.noise
        return [mismatched_errors(C, true, counts, *levels) for counts in growing]


@dataclass(frozen=True)
class VertexDataSets(_OnGraphs):
    """The curve of one graph (averaged over its data sets), or of one data set on a given graph."""

    among: tuple[str, ...] = ()

    task = "graph simulation"

    @property
    def key(self) -> Mapping[str, Any]:
        return {**super().key, "among": list(self.among)}

    @property
    def fields(self) -> Mapping[str, Shape]:
        """Mean and variance over vertices, and the sum over each group, at each nu; and the share of each group."""
        along = {name: (len(self.nu),) for name in ("error", "variance", *(f"sum {name}" for name in self.among))}
        return {**along, **{f"share {name}": () for name in self.among}}

    def draw(self, task: int) -> Mapping[str, FloatArray | float]:
        """Draw and return the averages over vertices."""
        graph, datasets = self.local_errors(task)
        masks = [members(graph, name) for name in self.among]
        rows = np.array(
            [[[e.mean(), e.var(), *(e[m].sum() / len(e) for m in masks)] for e in data] for data in datasets]
        )
        columns = rows.mean(axis=0).T
        names = ["error", "variance", *(f"sum {name}" for name in self.among)]
        shares = {f"share {name}": float(mask.mean()) for name, mask in zip(self.among, masks, strict=True)}
        return {**dict(zip(names, columns, strict=True)), **shares}


@dataclass(frozen=True)
class LocalErrors(_OnGraphs):
    """The errors of all vertices at one nu, with the number of neighbours of each."""

    task = "graph local errors"

    @property
    def fields(self) -> Mapping[str, Shape]:
        """Errors of all data sets, and the degrees."""
        return {"errors": (self.datasets, self.vertices), "degrees": (self.vertices,)}

    def draw(self, task: int) -> Mapping[str, FloatArray | float]:
        """Draw and return the errors at the vertices."""
        graph, datasets = self.local_errors(task)
        return {"errors": np.array([data[0] for data in datasets]), "degrees": graph.neighbours.astype(np.float64)}


@dataclass(frozen=True)
class GraphEigenvalues(_OnGraphs):
    """The eigenvalue approximation on one graph of an ensemble."""

    task = "graph eigenvalues"

    @property
    def fields(self) -> Mapping[str, Shape]:
        """One value per nu."""
        return {"error": (len(self.nu),)}

    def draw(self, task: int) -> Mapping[str, FloatArray | float]:
        """Draw a graph and return its curve."""
        graph, _ = self.draw_graph(task)
        on_graph = Problem(self.problem.kernel, Vertices(graph), observation=self.problem.observation)
        return {"error": lower_continuous(on_graph, np.array(self.nu) * graph.vertices)}


def _matrix(kernel: GraphKernel, graph: Graph) -> FloatArray:
    return kernel.on(graph).matrix()


_kept_matrix = lru_cache(maxsize=2)(_matrix)
"""The covariance on a given graph, which all data sets share."""


def release_matrices() -> None:
    """Give back the memory of covariance matrices that were kept."""
    _kept_matrix.cache_clear()


def examples(nu: Sequence[float], vertices: int, fraction: float = 0.5) -> IntArray:
    """Return integer numbers of examples for nu per vertex: the nearest, or on average exact if ``fraction`` is random."""
    exact = np.array(nu) * vertices
    integer = abs(exact - np.rint(exact)) < 1e-9 * exact
    return np.where(integer, np.rint(exact), np.floor(exact + fraction)).astype(np.int64)


def training_counts(sizes: IntArray, vertices: int, rng: np.random.Generator) -> list[IntArray]:
    """Draw how often each vertex occurs in nested data sets of ascending sizes, uniformly."""
    counts = []
    total = np.zeros(vertices, dtype=np.int64)
    for more in np.diff(sizes, prepend=0).tolist():
        if more > _MANY_EXAMPLES:
            total = total + rng.multinomial(more, np.full(vertices, 1.0 / vertices))
        else:  # one by one, so that the first examples are the same whatever other sizes are asked for
            total = total + np.bincount(rng.integers(vertices, size=more), minlength=vertices)
        counts.append(total)
    return counts
