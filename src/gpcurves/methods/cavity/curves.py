"""The method ``cavity``: belief propagation on a given graph, population dynamics for an ensemble, as learning curves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from gpcurves.curve import LearningCurve
from gpcurves.errors import GPCurvesError, InputError, NotApplicableError, unknown_name
from gpcurves.graphs import Ensemble, Graph, GraphKernel
from gpcurves.graphs.groups import check_groups, members
from gpcurves.graphs.vertex_model import VertexModel
from gpcurves.methods.base import METHODS, Kind, noisy, register
from gpcurves.methods.cavity.instance import Adjacency, Beliefs, prior_variances, propagate
from gpcurves.methods.cavity.population import (
    POPULATIONS,
    PopulationResult,
    population_curve,
    population_error,
    population_size,
)
from gpcurves.methods.simulation.graphs import examples, training_counts
from gpcurves.methods.simulation.simulate import SimulationInterrupted
from gpcurves.methods.simulation.vertices import posterior_variances
from gpcurves.methods.variances import VarianceDistribution
from gpcurves.montecarlo import Interrupted, Settings, run, seed_of, stream
from gpcurves.montecarlo.seeds import Rng
from gpcurves.numerics.validation import FloatArray, nonnegative, positive, whole
from gpcurves.problem import AnyProblem, GraphProblem

CAVITY = "cavity"
_PRECISION = 0.005
_REPLICAS, _MOST_REPLICAS, _MOST_DATASETS = 2, 64, 400
_SHARE = 1.3
"""Precision of each of the first two replicas, in units of that of their average."""
_MOST_PER_VERTEX = 1e6
_DIAGONAL_WORK = 3e9
"""Entries of half walks up to which true prior variances are computed on graphs with cycles."""
_BALLS, _BALL, _WHOLE = 3, 600, 1_500
"""Pieces of a graph, and vertices in each, on which cycles are tested; graphs up to the last size are tested whole."""
_ALGORITHM = 1
"""Changes whenever the numbers of a task would, so that old stores are not mixed with new results."""


@lru_cache(maxsize=8)
def model_of(kernel: GraphKernel) -> VertexModel:
    """Return the messages of a kernel, which may take a while to find."""
    return kernel.vertex_model()


def is_forest(graph: Graph) -> bool:
    """Tell whether a graph has no cycles, so that belief propagation is exact."""
    return graph.edges == graph.vertices - len(graph.component_sizes)


def normalisers(kernel: GraphKernel, graph: Graph) -> tuple[FloatArray, str | None]:
    """Return what the kernel is divided by at each vertex, and a sentence where that is not exact.

    On forests from power series along edges; on graphs with cycles the true ones from sparse products where that is
    affordable, and otherwise those of the tree that a walk sees.
    """
    if kernel.normalise == "none":
        return np.ones(graph.vertices), None
    said = None
    covariance = kernel.on(graph)
    if not is_forest(graph) and covariance.diagonal_work <= _DIAGONAL_WORK:
        return np.array(covariance.normaliser), None
    raw = prior_variances(_adjacency(graph), model_of(kernel))
    if not is_forest(graph):
        said = "prior variances are those without cycles: the true ones would take too long on this graph"
    return raw if kernel.normalise == "local" else np.full(graph.vertices, raw.mean()), said


@lru_cache(maxsize=2)
def _adjacency(graph: Graph) -> Adjacency:
    matrix = graph.adjacency
    return Adjacency.from_csr(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data)


def belief_propagation(
    problem: GraphProblem,
    counts: npt.ArrayLike,
    targets: npt.ArrayLike | None = None,
    *,
    tolerance: float = 1e-10,
    max_rounds: int = 1000,
    damping: float = 0.0,
    start: Beliefs | None = None,
    threads: int | None = None,
) -> Beliefs:
    """Return posterior variances, and means for given targets, of all vertices of a given graph.

    Exact on graphs without cycles; elsewhere an approximation that is good where cycles are long.

    Parameters
    ----------
    problem
        On a given graph, with noise.
    counts
        Number of examples at each vertex.
    targets
        Average target at each vertex; ignored where there are no examples.
    tolerance, max_rounds, damping, start, threads
        See `gpcurves.methods.cavity.instance.propagate`.
    """
    if not isinstance(problem, GraphProblem) or not isinstance(problem.graph, Graph):
        raise InputError("belief propagation needs a problem on a given graph, a GraphProblem")
    _check(problem)
    kappa, _ = normalisers(problem.kernel, problem.graph)
    return propagate(
        _adjacency(problem.graph),
        model_of(problem.kernel),
        counts,
        problem.noise,
        kappa,
        targets,
        tolerance=tolerance,
        max_rounds=max_rounds,
        damping=damping,
        start=start,
        threads=threads,
    )


def _joined(problem: AnyProblem) -> str | None:
    """Object to ensembles whose vertices are all isolated."""
    if isinstance(problem, GraphProblem) and isinstance(problem.graph, Ensemble) and problem.graph.mean_degree == 0:
        return "the ensemble has no edges: every vertex is isolated"
    return None


def _has_messages(problem: AnyProblem) -> str | None:
    """Object to kernels whose messages would be too long, or do not exist."""
    try:
        if isinstance(problem, GraphProblem):
            model_of(problem.kernel)
    except GPCurvesError as error:
        return str(error)
    return None


@register(
    CAVITY,
    "cavity method (belief propagation)",
    Kind.APPROXIMATION,
    promise="exact on trees and in the limit of large random graphs; approximate on graphs with short cycles",
    source="Urry & Sollich 2013, section 4; local normalisation exact",
    needs="noise > 0, a graph or an ensemble of graphs",
    conditions=(noisy, _joined, _has_messages),
    axes=("nu",),
)
def cavity(problem: GraphProblem, nu: FloatArray) -> FloatArray:
    """Return the error of `cavity_curve` with seed 0."""
    return cavity_curve(problem, nu, rng=0).error


@dataclass(frozen=True)
class _Work:
    """What tasks on ensembles and on given graphs share."""

    problem: GraphProblem
    nu: tuple[float, ...]
    seed: int
    among: tuple[str, ...]
    threads: int | None

    def described(self, **more: Any) -> dict[str, Any]:
        problem = self.problem
        graph = problem.graph.to_dict() if isinstance(problem.graph, Ensemble) else problem.graph.digest
        plain: dict[str, Any] = {"algorithm": _ALGORITHM, "nu": list(self.nu), "rng": self.seed, "graph": graph}
        plain |= {"kernel": problem.kernel.to_dict(), "noise": problem.noise, "among": list(self.among)}
        return plain | more

    @property
    def width(self) -> int:
        """Mean, its standard error, variance over vertices, converged, rounds, and each group, at each nu."""
        return len(self.nu) * (5 + len(self.among)) + len(self.among)


@dataclass(frozen=True)
class Replicas(_Work):
    """The curve of an ensemble from independent populations, as one row."""

    precision: float
    local: str
    max_sweeps: int
    population: int | None

    @property
    def description(self) -> Mapping[str, Any]:
        """Everything that determines a row."""
        plain = self.described(
            task="cavity, ensemble", precision=self.precision, local=self.local, max_sweeps=self.max_sweeps
        )
        return plain if self.population is None else {**plain, "population": self.population}

    def __call__(self, task: int) -> FloatArray:
        """Run populations for all nu, each starting where the one before stopped."""
        problem = self.problem
        assert isinstance(problem.graph, Ensemble)
        results = population_curve(
            problem.graph.degree_distribution(),
            model_of(problem.kernel),
            problem.noise,
            self.nu,
            normalise=problem.kernel.normalise,
            local=self.local,
            precision=_SHARE * self.precision,
            vertices=self.population,
            max_sweeps=self.max_sweeps,
            rng=stream(self.seed, task),
            threads=self.threads,
        )
        rows = [[r.error, r.stderr, _spread(r), float(r.converged), float(r.sweeps)] for r in results]
        groups = [[_of_group(r, name) for r in results] for name in self.among]
        shares = [_of_group(results[0], name, share=True) for name in self.among]
        return np.concatenate([np.array(rows).T.ravel(), *groups, shares])


def _spread(result: PopulationResult) -> float:
    mean = float(result.weight @ result.variance)
    return float(result.weight @ (result.variance - mean) ** 2)


def _of_group(result: PopulationResult, name: str, *, share: bool = False) -> float:
    """Return the part of the error that vertices of a degree have, or their share."""
    degree = {"isolated": 0, "ends": 1}.get(name)
    if degree is None:
        degree = int(float(name.partition("=")[2]))
    weights = result.weight * (result.degree == degree)
    return float(weights.sum() if share else weights @ result.variance)


@dataclass(frozen=True)
class OwnGraph(_Work):
    """Belief propagation for one drawn data set on a given graph, at all nu, as one row."""

    tolerance: float
    max_rounds: int
    damping: float
    kappa: FloatArray = field(repr=False)

    @property
    def description(self) -> Mapping[str, Any]:
        """Everything that determines a row."""
        how = {"tolerance": self.tolerance, "max_rounds": self.max_rounds, "damping": self.damping}
        return self.described(task="cavity, graph", **how)

    def __call__(self, task: int) -> FloatArray:
        """Draw a growing data set and follow the messages along nu."""
        graph = self.problem.graph
        assert isinstance(graph, Graph)
        rng = stream(self.seed, task).spawn(1)[0]  # the data sets of the simulation with the same seed
        sizes = examples(self.nu, graph.vertices, rng.random())
        order = np.argsort(sizes, kind="stable")
        masks = [members(graph, name) for name in self.among]
        rows = np.empty((5 + len(masks), len(order)))
        found: Beliefs | None = None
        for place, counts in zip(order.tolist(), training_counts(sizes[order], graph.vertices, rng), strict=True):
            found = propagate(
                _adjacency(graph),
                model_of(self.problem.kernel),
                counts,
                self.problem.noise,
                self.kappa,
                tolerance=self.tolerance,
                max_rounds=self.max_rounds,
                damping=self.damping,
                start=found if found is None or found.converged else None,
                threads=self.threads,
            )
            local = found.variance
            rows[:, place] = [
                local.mean(),
                0.0,
                local.var(),
                float(found.converged),
                float(found.rounds),
                *(local[mask].sum() / len(local) for mask in masks),
            ]
        return np.concatenate([rows.ravel(), [float(mask.mean()) for mask in masks]])


def cavity_curve(
    problem: GraphProblem,
    nu: FloatArray,
    *,
    precision: float | None = None,
    local: str = "exact",
    among: Sequence[str] = (),
    tolerance: float = 1e-8,
    max_rounds: int = 1000,
    max_sweeps: int = 2000,
    population: int | None = None,
    damping: float = 0.0,
    rng: Rng = None,
    workers: int | str = 1,
    store: Any = None,
    progress: bool | None = None,
) -> LearningCurve:
    """Return the error by the cavity method.

    For an ensemble it is that of infinitely large graphs, from independent replicas of population dynamics. On a given
    graph data sets are drawn and messages are sent until they rest. ``details`` holds, along nu, "variance" (of the local
    posterior variances over vertices), "converged" (share of runs that came to rest), "rounds" (or sweeps), and on graphs
    with cycles "loop_error", an estimate of the relative error that they cause.

    Parameters
    ----------
    problem, nu
        What to compute, and at how many examples per vertex.
    precision
        Go on until the standard error is this fraction of the error at every nu, 0.005 unless given; on a given graph
        with at most 400 data sets.
    local
        With local normalisation on an ensemble: "exact", or "paper" for the approximate equation (29) of the paper.
    among
        Groups of vertices to average over besides, as in a simulation; of an ensemble those that are given by a degree.
    tolerance, max_rounds, damping
        On a given graph: when messages rest, how often to send them at most, and the share of the former message to keep.
    max_sweeps
        On an ensemble: sweeps per replica and nu at most.
    population
        On an ensemble: vertices in each of the eight populations, chosen from ``precision`` unless given. Small ones are
        faster; their bias falls as one over this number.
    rng
        Seed: the same seed gives the same numbers, whoever computes them.
    workers, store, progress
        How to run, see `gpcurves.montecarlo.Settings`; they change no number. One worker uses all cores by threads.
    """
    _check(problem)
    _check_size(nu.max(initial=0.0))
    goal = positive("precision", _PRECISION if precision is None else precision)
    groups = check_groups(among)
    threads = None if str(workers).strip() == "1" else 1
    shared = (problem, tuple(nu.tolist()), seed_of(rng), groups, threads)
    settings = Settings(workers, store, progress)
    notes: list[str] = []
    options: dict[str, Any] = {"precision": goal}
    work: Replicas | OwnGraph
    if isinstance(problem.graph, Ensemble):
        _check_degrees(groups)
        if local not in ("exact", "paper"):
            raise unknown_name("local normalisation", local, ("exact", "paper"))
        size = population_size(_SHARE * goal) if population is None else whole("population", population, 2)
        chosen = None if population is None else size
        work = Replicas(*shared, goal, local, whole("max_sweeps", max_sweeps, 1), chosen)
        count, most, unit = _REPLICAS, _MOST_REPLICAS, "replicas"
        options |= {"populations": POPULATIONS, "vertices": size}
        if problem.kernel.normalise == "local":
            options["local"] = local
            if local == "paper":
                notes.append("local normalisation by equation (29) of the paper, which is approximate")
    else:
        _check_own(local)
        kappa, said = normalisers(problem.kernel, problem.graph)
        notes += [said] if said else []
        work = OwnGraph(*shared, tolerance, max_rounds, damping, kappa)
        count, most, unit = int(np.clip(2e5 / problem.graph.vertices, 2, 8)), _MOST_DATASETS, "data sets"
    model = model_of(problem.kernel)
    if model.kernel_error > 0:
        notes.append(f"the kernel is represented up to {model.kernel_error:.1g}")
    try:
        rows = run(work, count, settings, lambda found: _precision(len(nu), found), goal, most, unit)
    except Interrupted as stop:
        if len(stop.results) < 2:
            raise
        curve = _curve(work, stop.results, options, [*notes, f"interrupted after {len(stop.results)} {unit}"], unit)
        raise SimulationInterrupted(curve) from None
    if (reached := _precision(len(nu), rows)) > goal:
        notes.append(f"a precision of {reached:.2g} was reached with {len(rows)} {unit}, not {goal:g}")
    return _curve(work, rows, options, notes, unit)


def cavity_variances(
    problem: GraphProblem,
    nu: float,
    *,
    precision: float | None = None,
    local: str = "exact",
    datasets: int = 1,
    rng: Rng = None,
    threads: int | None = None,
) -> VarianceDistribution:
    """Return the local posterior variances by the cavity method: their distribution, by vertex and by degree.

    Parameters
    ----------
    problem, nu
        What to compute; nu = 0 gives the prior variances.
    precision, local
        For an ensemble, see `cavity_curve`.
    datasets
        How many data sets to draw on a given graph.
    rng
        Seed.
    threads
        How many threads share the work; the result does not depend on it.
    """
    at = nonnegative("nu", nu)
    _check(problem)
    _check_size(at)
    if isinstance(problem.graph, Ensemble):
        goal = positive("precision", _PRECISION if precision is None else precision)
        found = population_error(
            problem.graph.degree_distribution(),
            model_of(problem.kernel),
            problem.noise,
            at,
            normalise=problem.kernel.normalise,
            local=local,
            precision=goal,
            rng=rng,
            threads=threads,
        )
        return VarianceDistribution(found.variance, found.degree, problem, at, weights=found.weight)
    _check_own(local)
    graph, seed = problem.graph, seed_of(rng)
    values = []
    for task in range(whole("datasets", datasets, 1)):
        own = stream(seed, task).spawn(1)[0]
        counts = training_counts(examples((at,), graph.vertices, own.random()), graph.vertices, own)[0]
        values.append(belief_propagation(problem, counts, threads=threads).variance)
    return VarianceDistribution(
        np.concatenate(values),
        np.tile(graph.neighbours, len(values)).astype(np.float64),
        problem,
        at,
        vertex=np.tile(np.arange(graph.vertices), len(values)),
    )


def loop_errors(problem: GraphProblem, nu: Sequence[float], seed: int, kappa: FloatArray) -> tuple[FloatArray, int]:
    """Return how much cycles change the average variance, relative to dense algebra, and on how many vertices that is.

    Small graphs are compared whole. Of large ones, balls around random vertices are cut out, and both ways are used on
    each ball with the same normalisers; only the inner half of its vertices counts.
    """
    graph = problem.graph
    assert isinstance(graph, Graph)
    rng = stream(seed, 2**31)
    plain = problem.kernel.normalised("none")
    wholly = graph.vertices <= _WHOLE
    linked = np.flatnonzero(~graph.isolated)
    centres = linked[:1] if wholly else rng.choice(linked, _BALLS)
    sums = np.zeros((2, len(nu)))
    seen = 0
    for centre in centres.tolist():
        chosen = np.arange(graph.vertices) if wholly else _ball(graph, centre)
        inner = slice(None) if wholly else slice(0, (len(chosen) + 1) // 2)
        part = Graph(graph.adjacency[chosen][:, chosen])
        normaliser = kappa[chosen]
        C = plain.on(part).matrix() / np.sqrt(normaliser[:, None] * normaliser)
        growing = np.argsort(nu, kind="stable")
        counts = training_counts(
            examples(np.array(nu)[growing].tolist(), part.vertices, rng.random()), part.vertices, rng
        )
        found = None
        for place, count in zip(growing.tolist(), counts, strict=True):
            found = propagate(
                _adjacency(part), model_of(plain), count, problem.noise, normaliser, tolerance=1e-6, start=found
            )
            sums[0, place] += found.variance[inner].sum()
            sums[1, place] += posterior_variances(C, count, problem.noise)[inner].sum()
        seen += len(np.arange(part.vertices)[inner])
    return np.asarray(sums[0] / sums[1] - 1), seen


def _ball(graph: Graph, centre: int) -> npt.NDArray[np.int64]:
    """Return the vertices nearest to one, in order of their distance."""
    from scipy.sparse.csgraph import breadth_first_order

    order = breadth_first_order(graph.adjacency, centre, directed=False, return_predecessors=False)
    return np.asarray(order[:_BALL], dtype=np.int64)


def _check(problem: GraphProblem) -> None:
    reason = METHODS[CAVITY].objection(problem)
    if reason is not None:
        raise NotApplicableError(f"method {CAVITY!r} does not apply: {reason}")


def _check_size(nu: float) -> None:
    if nu > _MOST_PER_VERTEX:
        raise InputError(f"nu must be at most {_MOST_PER_VERTEX:g} for the cavity method, got {nu:g}")


def _check_own(local: str) -> None:
    if local != "exact":
        raise InputError("local='paper' belongs to an ensemble: on a given graph normalisation is exact")


def _check_degrees(groups: Sequence[str]) -> None:
    for name in groups:
        if name not in ("isolated", "ends") and not name.startswith("degree="):
            raise InputError(f"of an ensemble only groups by degree are known (isolated, ends, degree=K), got {name!r}")


def _precision(count: int, rows: FloatArray) -> float:
    mean, stderr = _averaged(rows[:, :count], rows[:, count : 2 * count])
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.nanmax(np.where(mean > 0, stderr / mean, 0.0), initial=0.0))


def _averaged(errors: FloatArray, own: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the mean over rows and its standard error: the larger of what rows say of themselves and of each other."""
    beside = errors - errors[0]
    mean = errors[0] + beside.mean(axis=0)
    between = beside.std(axis=0, ddof=1) / math.sqrt(len(errors)) if len(errors) > 1 else np.zeros(errors.shape[1])
    return mean, np.maximum(between, np.sqrt((own**2).sum(axis=0)) / len(errors))


def _curve(
    work: Replicas | OwnGraph, rows: FloatArray, options: Mapping[str, Any], notes: list[str], unit: str
) -> LearningCurve:
    count, problem = len(work.nu), work.problem
    blocks = rows[:, : count * (5 + len(work.among))].reshape(len(rows), -1, count)
    mean, stderr = _averaged(blocks[:, 0], blocks[:, 1])
    details = {
        "variance": blocks[:, 2].mean(axis=0),
        "converged": blocks[:, 3].mean(axis=0),
        "rounds": blocks[:, 4].mean(axis=0),
    }
    for k, name in enumerate(work.among):
        share = float(rows[:, count * (5 + len(work.among)) + k].mean())
        details[f"share {name}"] = np.full(count, share)
        with np.errstate(invalid="ignore", divide="ignore"):
            details[f"error {name}"] = blocks[:, 5 + k].mean(axis=0) / share
        if share == 0:
            notes = [*notes, f"no vertex belongs to the group {name!r}"]
    if isinstance(work, OwnGraph):
        assert isinstance(problem.graph, Graph)
        if not is_forest(problem.graph):
            off, seen = loop_errors(problem, work.nu, work.seed, work.kappa)
            details["loop_error"] = off
            worst = int(np.argmax(abs(off)))
            notes = [
                *notes,
                f"the graph has cycles, so that this is an approximation: compared with dense algebra on {seen} vertices "
                f"the average is off by up to {100 * abs(off[worst]):.2g} % (at nu = {work.nu[worst]:g})",
            ]
    stuck = details["converged"] < 1
    if stuck.any():
        remedy = (
            "allow more rounds (max_rounds), damping such as 0.5, or a larger tolerance"
            if isinstance(work, OwnGraph)
            else "allow more sweeps (max_sweeps) or a larger precision"
        )
        notes = [*notes, f"messages did not come to rest at nu = {np.array(work.nu)[stuck][0]:g}: {remedy}"]
    return LearningCurve(
        CAVITY,
        np.array(work.nu),
        mean,
        problem,
        stderr=stderr,
        options={**options, unit.replace(" ", ""): len(rows), "drawn": len(rows)},
        rng=work.seed,
        notes=tuple(notes),
        details=details,
    )
