"""The methods ``simulation`` and ``eigenvalue`` on graphs: draw graphs and data sets, average, and say how sure that is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

from gpcurves.curve import LearningCurve
from gpcurves.errors import InputError, NotApplicableError
from gpcurves.graphs import Ensemble, Graph, GraphKernel
from gpcurves.graphs.graph import IntArray
from gpcurves.graphs.groups import check_groups, members
from gpcurves.methods.base import METHODS
from gpcurves.methods.formulas.large_graphs import graph_curve
from gpcurves.methods.simulation.simulate import (
    QUANTILES,
    SIMULATION,
    SimulationInterrupted,
    precision_reached,
    remarks,
)
from gpcurves.methods.simulation.vertices import curve_variances, mismatched_errors
from gpcurves.methods.variances import VarianceDistribution
from gpcurves.montecarlo import Interrupted, Settings, run, seed_of, stream
from gpcurves.montecarlo.seeds import Rng
from gpcurves.numerics.memory import check_memory
from gpcurves.numerics.validation import FloatArray, nonnegative, positive, whole
from gpcurves.problem import GraphProblem

_VERTICES, _GRAPHS, _DATASETS, _OWN_DATASETS = 500, 20, 10, 100
_FIRST_ROUND, _MOST = 10, 100_000
_MANY_EXAMPLES, _MOST_PER_VERTEX = 5_000_000, 1e9
_ALGORITHM = 1
"""Changes whenever the numbers of a task would, so that old stores are not mixed with new results."""


@dataclass(frozen=True)
class _Tasks:
    """What all work on graphs shares: a task is one graph of an ensemble, or one data set on a given graph."""

    problem: GraphProblem
    nu: tuple[float, ...]
    seed: int
    vertices: int
    datasets: int

    name = ""

    @property
    def description(self) -> Mapping[str, Any]:
        """Everything that determines a row."""
        problem = self.problem
        graph = problem.graph.to_dict() if isinstance(problem.graph, Ensemble) else problem.graph.digest
        plain: dict[str, Any] = {"task": self.name, "algorithm": _ALGORITHM, "nu": list(self.nu), "rng": self.seed}
        plain |= {"graph": graph, "kernel": problem.kernel.to_dict(), "noise": problem.noise}
        plain |= {"vertices": self.vertices, "datasets": self.datasets}
        if problem.teacher is not None:
            plain["teacher"] = [problem.teacher.kernel.to_dict(), problem.teacher.noise]
        return plain

    def drawn(self, task: int) -> tuple[Graph, np.random.Generator]:
        """Return the graph of a task and the random numbers that are left for its data."""
        rng = stream(self.seed, task)
        if isinstance(self.problem.graph, Ensemble):
            return self.problem.graph.sample(self.vertices, rng), rng
        return self.problem.graph, rng

    def covariances(self, graph: Graph) -> tuple[FloatArray, FloatArray | None]:
        """Return the student's covariance matrix, and the teacher's where it differs."""
        matrix = _kept_matrix if isinstance(self.problem.graph, Graph) else _matrix
        teacher = self.problem.teacher
        return matrix(self.problem.kernel, graph), None if teacher is None else matrix(self.problem.true_kernel, graph)

    def local_errors(self, task: int) -> tuple[Graph, list[list[FloatArray]]]:
        """Return the graph of a task and, for each data set, the error of every vertex at each nu."""
        graph, rng = self.drawn(task)
        C, true = self.covariances(graph)
        return graph, [self._data_set(C, true, own) for own in rng.spawn(self.datasets)]

    def _data_set(self, C: FloatArray, true: FloatArray | None, rng: np.random.Generator) -> list[FloatArray]:
        sizes = examples(self.nu, len(C), rng.random())
        order = np.argsort(sizes, kind="stable")
        found = self.errors(C, true, training_counts(sizes[order], len(C), rng))
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        return [found[k] for k in place.tolist()]

    def errors(self, C: FloatArray, true: FloatArray | None, growing: Sequence[IntArray]) -> list[FloatArray]:
        """Return the error of every vertex for nested training counts."""
        if true is None:
            return curve_variances(C, growing, self.problem.noise)
        assert self.problem.teacher is not None
        levels = self.problem.noise, self.problem.teacher.noise
        return [mismatched_errors(C, true, counts, *levels) for counts in growing]


@dataclass(frozen=True)
class GraphDataSets(_Tasks):
    """The curve of one graph (averaged over its data sets), or of one data set on a given graph, as one row."""

    among: tuple[str, ...] = ()

    name = "graph simulation"

    @property
    def description(self) -> Mapping[str, Any]:
        return {**super().description, "among": list(self.among)}

    @property
    def width(self) -> int:
        """Mean, variance over vertices and sum over each group at each nu; and the share of each group."""
        return len(self.nu) * (2 + len(self.among)) + len(self.among)

    def __call__(self, task: int) -> FloatArray:
        """Draw and return the averages over vertices."""
        graph, datasets = self.local_errors(task)
        masks = [members(graph, name) for name in self.among]
        rows = np.array(
            [[[e.mean(), e.var(), *(e[m].sum() / len(e) for m in masks)] for e in data] for data in datasets]
        )
        shares = [float(mask.mean()) for mask in masks]
        return np.concatenate((rows.mean(axis=0).T.ravel(), shares))


@dataclass(frozen=True)
class LocalErrors(_Tasks):
    """The errors of all vertices at one nu, with the number of neighbours of each."""

    name = "graph local errors"

    @property
    def width(self) -> int:
        """Errors of all data sets, and the degrees."""
        return (self.datasets + 1) * self.vertices

    def __call__(self, task: int) -> FloatArray:
        """Draw and return the errors at the vertices."""
        graph, datasets = self.local_errors(task)
        return np.concatenate((*(data[0] for data in datasets), graph.neighbours.astype(np.float64)))


@dataclass(frozen=True)
class Eigenvalues(_Tasks):
    """The eigenvalue approximation on one graph of an ensemble."""

    name = "graph eigenvalues"

    @property
    def width(self) -> int:
        """One value per nu."""
        return len(self.nu)

    def __call__(self, task: int) -> FloatArray:
        """Draw a graph and return its curve."""
        return graph_curve(self.problem, self.drawn(task)[0], np.array(self.nu))


def _matrix(kernel: GraphKernel, graph: Graph) -> FloatArray:
    return kernel.on(graph).matrix()


_kept_matrix = lru_cache(maxsize=2)(_matrix)
"""The covariance on a given graph, which all data sets share."""


def examples(nu: Sequence[float], vertices: int, chance: float = 0.5) -> IntArray:
    """Return whole numbers of examples for nu per vertex: the nearest, or on average exact if ``chance`` is random."""
    wanted = np.array(nu) * vertices
    whole_ones = abs(wanted - np.rint(wanted)) < 1e-9 * wanted
    return np.where(whole_ones, np.rint(wanted), np.floor(wanted + chance)).astype(np.int64)


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


def simulate_graph(
    problem: GraphProblem,
    nu: FloatArray,
    *,
    vertices: int | None = None,
    graphs: int | None = None,
    datasets: int | None = None,
    precision: float | None = None,
    among: Sequence[str] = (),
    rng: Rng = None,
    workers: int | str = 1,
    store: Any = None,
    progress: bool | None = None,
) -> LearningCurve:
    """Return the average error over graphs and data sets, with its standard error.

    The average over teachers is exact. ``details`` holds "variance", the variance of the local errors over vertices
    within a data set, and for each group of vertices in ``among`` the error averaged over them and their share.

    Parameters
    ----------
    problem
        What to simulate, on a given graph or on graphs drawn from an ensemble.
    nu
        Examples per vertex; where they are no whole number on a graph, data sets have one more or less, by chance.
    vertices, graphs
        Size (500 unless given) and number (20) of the graphs of an ensemble; not for a given graph.
    datasets
        Data sets per graph of an ensemble (10), or on the given graph (100).
    precision
        Draw graphs, or data sets on a given graph, until the standard error is this fraction of the error at every nu;
        ``graphs`` (or ``datasets``) is then the most that may be drawn.
    among
        Groups of vertices to average over besides: "isolated", "ends" (one neighbour), "dangling" (chains with an end, and
        what they hang on), "giant" (the largest component), "small" (all others), "degree=K", "component=K".
    rng
        Seed: the same seed gives the same numbers, whoever computes them.
    workers, store, progress
        How to run, see `gpcurves.montecarlo.Settings`; they change no number.
    """
    _check(problem, SIMULATION, nu)
    goal = None if precision is None else positive("precision", precision)
    groups = check_groups(among)
    size, tasks, per_task = _amounts(problem, vertices, graphs, datasets, goal is not None)
    work = GraphDataSets(problem, tuple(nu.tolist()), seed_of(rng), size, per_task, groups)
    _check_matrices(problem, size, workers)
    options = _options(problem, size, per_task, {"precision": precision, "among": list(groups) or None})
    gauge = partial(precision_reached, len(nu))
    count = min(tasks, _FIRST_ROUND) if goal is not None else tasks
    unit = "graphs" if isinstance(problem.graph, Ensemble) else "data sets"
    try:
        rows = run(work, count, Settings(workers, store, progress), gauge, goal, tasks, unit)
    except Interrupted as stop:
        if len(stop.results) < 2:
            raise
        curve = _curve(work, stop.results, options, (f"interrupted after {len(stop.results)} {unit}",))
        raise SimulationInterrupted(curve) from None
    finally:
        _kept_matrix.cache_clear()
    notes: tuple[str, ...] = ()
    if goal is not None and (reached := gauge(rows)) > goal:
        notes = (f"a precision of {reached:.2g} was reached with {len(rows)} {unit}, not {goal:g}",)
    return _curve(work, rows, options, notes)


def eigenvalue_curve(
    problem: GraphProblem,
    nu: FloatArray,
    *,
    vertices: int | None = None,
    graphs: int | None = None,
    rng: Rng = None,
    workers: int | str = 1,
    store: Any = None,
    progress: bool | None = None,
) -> LearningCurve:
    """Return the eigenvalue approximation on a given graph, or its average over graphs drawn from an ensemble.

    The graphs are those that the simulation with the same seed and size draws.

    Parameters
    ----------
    problem, nu
        What to compute, and at how many examples per vertex.
    vertices, graphs
        Size (500 unless given) and number (20) of the graphs of an ensemble; not for a given graph.
    rng
        Seed of the graphs.
    workers, store, progress
        How to run, see `gpcurves.montecarlo.Settings`; they change no number.
    """
    _check(problem, "eigenvalue", nu)
    if isinstance(problem.graph, Graph):
        _amounts(problem, vertices, graphs, None, False)
        return LearningCurve("eigenvalue", nu, graph_curve(problem, problem.graph, nu), problem)
    size, tasks, _ = _amounts(problem, vertices, graphs, None, False)
    work = Eigenvalues(problem, tuple(nu.tolist()), seed_of(rng), size, 1)
    _check_matrices(problem, size, workers)
    rows = run(work, tasks, Settings(workers, store, progress), unit="graphs")
    mean, spread = _moments(rows)
    return LearningCurve(
        "eigenvalue", nu, mean, problem, stderr=spread, options={"vertices": size, "graphs": tasks}, rng=work.seed
    )


def vertex_variances(
    problem: GraphProblem,
    nu: float,
    *,
    vertices: int | None = None,
    graphs: int | None = None,
    datasets: int | None = None,
    rng: Rng = None,
    workers: int | str = 1,
    store: Any = None,
    progress: bool | None = None,
) -> VarianceDistribution:
    """Return the errors at all vertices after nu examples per vertex: their distribution, by vertex and by degree.

    Without a teacher that differs these are the posterior variances; at nu = 0 the prior ones. The options are those of
    `simulate_graph`.
    """
    at = nonnegative("nu", nu)
    _check(problem, SIMULATION, np.array([at]))
    size, tasks, per_task = _amounts(problem, vertices, graphs, datasets, False)
    work = LocalErrors(problem, (at,), seed_of(rng), size, per_task)
    _check_matrices(problem, size, workers)
    check_memory(8.0 * tasks * work.width * 3, "the errors of all vertices", "ask for fewer graphs or data sets")
    unit = "graphs" if isinstance(problem.graph, Ensemble) else "data sets"
    try:
        rows = run(work, tasks, Settings(workers, store, progress), unit=unit)
    finally:
        _kept_matrix.cache_clear()
    values = rows[:, : per_task * size].reshape(-1, size)
    degrees = np.repeat(rows[:, per_task * size :], per_task, axis=0)
    own = isinstance(problem.graph, Graph)
    vertex = np.tile(np.arange(size), len(values)) if own else None
    return VarianceDistribution(values.ravel(), degrees.ravel(), problem, at, vertex=vertex)


@dataclass(frozen=True, eq=False)
class VertexErrors:
    """One data set on one graph: how many examples each vertex has, and its error."""

    graph: Graph
    counts: IntArray
    error: FloatArray


def one_data_set(problem: GraphProblem, nu: float, *, vertices: int | None = None, rng: Rng = None) -> VertexErrors:
    """Draw one data set, on the given graph or on one of the ensemble, and return the error of every vertex."""
    at = nonnegative("nu", nu)
    _check(problem, SIMULATION, np.array([at]))
    size, _, _ = _amounts(problem, vertices, None, None, False)
    _check_matrices(problem, size, 1)
    work = LocalErrors(problem, (at,), seed_of(rng), size, 1)
    graph, generator = work.drawn(0)
    own = generator.spawn(1)[0]
    counts = training_counts(examples((at,), size, own.random()), size, own)[0]
    C, true = work.covariances(graph)
    _kept_matrix.cache_clear()
    return VertexErrors(graph, counts, work.errors(C, true, [counts])[0])


def _check(problem: object, method: str, nu: FloatArray) -> None:
    if not isinstance(problem, GraphProblem):
        raise InputError(f"a problem on a graph is needed, a GraphProblem, got {type(problem).__name__}")
    reason = METHODS[method].objection(problem, nu)
    if reason is not None:
        raise NotApplicableError(f"method {method!r} does not apply: {reason}")
    if nu.max(initial=0.0) > _MOST_PER_VERTEX:
        raise InputError(f"nu must be at most {_MOST_PER_VERTEX:g} where data sets are drawn, got {nu.max():g}")


def _amounts(
    problem: GraphProblem, vertices: int | None, graphs: int | None, datasets: int | None, searching: bool
) -> tuple[int, int, int]:
    """Return the number of vertices, of tasks, and of data sets in each."""
    most = _MOST if searching else None
    if isinstance(problem.graph, Graph):
        for name, value in (("vertices", vertices), ("graphs", graphs)):
            if value is not None:
                raise InputError(f"{name} belongs to an ensemble of graphs, and here the graph is given")
        own = (most or _OWN_DATASETS) if datasets is None else datasets
        return problem.graph.vertices, whole("datasets", own, 2), 1
    size = whole("vertices", _VERTICES if vertices is None else vertices, 1)
    count = whole("graphs", (most or _GRAPHS) if graphs is None else graphs, 2)
    return size, count, whole("datasets", _DATASETS if datasets is None else datasets, 1)


def _check_matrices(problem: GraphProblem, vertices: int, workers: int | str) -> None:
    processes = int(workers) if str(workers).isdecimal() and str(workers).isascii() else 1
    matrices = 7 if problem.teacher is not None else 4
    check_memory(
        8.0 * matrices * vertices**2 * processes,
        f"dense algebra on {vertices} vertices with {workers} worker(s)",
        "use the method cavity, which works at any size, a smaller graph or fewer workers",
    )


def _options(problem: GraphProblem, size: int, datasets: int, others: Mapping[str, Any]) -> dict[str, Any]:
    drawn = {"vertices": size, "datasets": datasets} if isinstance(problem.graph, Ensemble) else {}
    return {**drawn, **{name: value for name, value in others.items() if value is not None}}


def _moments(rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return means and their standard errors; what is the same in all rows has no spread."""
    beside = rows - rows[0]
    return rows[0] + beside.mean(axis=0), beside.std(axis=0, ddof=1) / math.sqrt(len(rows))


def _curve(work: GraphDataSets, rows: FloatArray, options: Mapping[str, Any], notes: tuple[str, ...]) -> LearningCurve:
    count, groups = len(work.nu), len(work.among)
    nu = np.array(work.nu)
    blocks = rows[:, : count * (2 + groups)].reshape(len(rows), 2 + groups, count)
    mean, spread = _moments(blocks[:, 0])
    details = {key: np.quantile(blocks[:, 0], level, axis=0) for key, level in QUANTILES.items()}
    details["variance"], details["variance_stderr"] = _moments(blocks[:, 1])
    for k, name in enumerate(work.among):
        sums, shares = blocks[:, 2 + k], rows[:, count * (2 + groups) + k]
        share = float(shares.mean())
        details[f"share {name}"] = np.full(count, share)
        with np.errstate(invalid="ignore", divide="ignore"):
            error = sums.mean(axis=0) / share
            residual = sums - shares[:, None] * error  # a ratio of averages, to first order
            stderr = residual.std(axis=0, ddof=1) / math.sqrt(len(rows)) / share
        details[f"error {name}"], details[f"stderr {name}"] = error, stderr
        if share == 0:
            notes = (*notes, f"no vertex belongs to the group {name!r}")
    drawn = "graphs" if isinstance(work.problem.graph, Ensemble) else "datasets"
    return LearningCurve(
        SIMULATION,
        nu,
        mean,
        work.problem,
        stderr=spread,
        options={**options, drawn: len(rows), "drawn": len(rows)},
        rng=work.seed,
        notes=(*notes, *remarks(nu, mean, spread, "nu")),
        details=details,
    )
