r"""Data sets on graphs: the experiments that draw them, and errors at all vertices by dense algebra.

With :math:`\gamma_i` examples at vertex `i`, the average of its targets is one observation with the noise variance
:math:`\sigma^2/\gamma_i`, so that matrices have the size of the observed vertices, never that of the data set.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from gpcurves.designs import Random
from gpcurves.errors import NumericalError
from gpcurves.graphs import Ensemble, Graph
from gpcurves.graphs.graph import IntArray
from gpcurves.graphs.groups import members
from gpcurves.inputs import Inputs, Vertices
from gpcurves.montecarlo import Shape, stream
from gpcurves.numerics.cholesky import factorise, factorise_pivoted, invert_lower, solve_factorised, solve_lower
from gpcurves.numerics.validation import FloatArray
from gpcurves.problem import Problem

_ALGORITHM = 1  # changes whenever the numbers of a task would, so that old stores are not mixed with new results
_MANY_EXAMPLES = 5_000_000
_SAFE_NOISE = 1e-6
_RESOLVED = 1e-14
"""Variance, relative to the prior one, below which rounding decides whether an observation says anything new."""
_ROUNDING = 1e-6
"""Rounding errors of a variance are below this share of the largest one, because factors have pivots of at least 1e-14 of it
(which costs half of the digits) or noise of at least 1e-6 of it. What is more negative is a mistake and not rounding."""


@dataclass(frozen=True)
class GraphExperiment:
    """What all experiments on graphs share."""

    problem: Problem
    nu: tuple[float, ...]  # examples per vertex
    seed: int
    among: tuple[str, ...]  # groups of vertices to average over besides

    task: ClassVar[str]
    settings: ClassVar[tuple[str, ...]]  # further fields that determine the results
    averages: ClassVar[tuple[str, ...]] = ("error",)  # over all vertices, each with a value at every nu

    def at(self, sizes: FloatArray) -> Self:
        """Return the same experiment with other numbers of examples per vertex."""
        return replace(self, nu=tuple(sizes.tolist()))

    @property
    def key(self) -> Mapping[str, Any]:
        problem, graph = self.problem, self.problem.graph
        plain: dict[str, Any] = {"task": self.task, "algorithm": _ALGORITHM, "nu": self.nu, "rng": self.seed}
        plain["graph"] = graph.to_dict() if isinstance(graph, Ensemble) else graph.digest
        gaussian, plain["kernel"] = problem.observation.gaussian_noise, problem.kernel.to_dict()
        labels = "noise" if problem.observation.uneven else "observation"
        plain |= {"noise": gaussian} if gaussian is not None else {labels: problem.observation.to_dict()}
        uneven = {"weights": self.weights, "test": self.test_weights}
        plain |= {name: value.tolist() for name, value in uneven.items() if value is not None}
        if problem.teacher is not None:
            labelled = problem.teacher.observation.gaussian_noise is None
            own = problem.teacher.graph is not None or problem.true_kernel is None or labelled
            plain["teacher"] = [
                problem.teacher.to_dict() if own else problem.true_kernel.to_dict(),
                None if labelled else problem.teacher.noise,
            ]
        if problem.design != Random():
            plain["design"] = problem.design.to_dict()
        if isinstance(graph, Graph) and (known := problem.kernel.details_of(graph)):
            plain["details"] = known
        told = [name for name in self.among if name.startswith("attribute:")]
        if told and isinstance(graph, Graph):  # attributes are no part of a graph's own digest
            plain["members"] = [np.packbits(members(graph, name)).tobytes().hex() for name in told]
        given = {name: getattr(self, name) for name in self.settings}
        return plain | {name: value for name, value in given.items() if value is not None}

    def label_weights(self, graph: Graph) -> FloatArray | None:
        """Return how likely an example is at each vertex of the graph of a task; None if all are equally likely."""
        ensemble = self.problem.ensemble
        return self.weights if ensemble is None else ensemble.label_weights(graph)

    @property
    def weights(self) -> FloatArray | None:
        """How often each vertex of a given graph is labelled; None if all are labelled alike."""
        return weights_of(self.problem.inputs)

    @property
    def test_weights(self) -> FloatArray | None:
        """How much each vertex of a given graph counts in averages; None if all count the same."""
        return weights_of(self.problem.test_inputs)

    @cached_property
    def noise(self) -> float | FloatArray:
        """The noise variance, or that of each vertex."""
        graph = self.problem.graph
        if not self.problem.observation.uneven or not isinstance(graph, Graph):
            return self.problem.noise
        return self.problem.noise_at(np.arange(float(graph.vertices))[:, None])

    def summary(self, local: FloatArray, masks: Sequence[npt.NDArray[np.bool_]]) -> list[float]:
        """Return the average of local errors, their variance over vertices, and their sum over each group, divided by all."""
        weights = self.test_weights
        if weights is None:
            return [local.mean(), local.var(), *(local[mask].sum() / len(local) for mask in masks)]
        mean = float(weights @ local)
        counted = weights * local
        return [mean, float(weights @ (local - mean) ** 2), *(counted[mask].sum() for mask in masks)]

    def share(self, mask: npt.NDArray[np.bool_]) -> float:
        """Return how much a group of vertices counts."""
        return float(mask.mean() if self.test_weights is None else self.test_weights[mask].sum())

    @property
    def fields(self) -> Mapping[str, Shape]:
        """The averages, and the sum over each group divided by all vertices, at each nu; and the share of each group."""
        along = (*self.averages, *(f"sum {name}" for name in self.among))
        return dict.fromkeys(along, (len(self.nu),)) | {f"share {name}": () for name in self.among}

    def as_fields(self, rows: FloatArray, shares: Iterable[float]) -> Mapping[str, FloatArray | float]:
        """Return the averages and sums (columns) at each nu (rows), and the shares of groups, by name."""
        return dict(zip(self.fields, (*rows.T, *shares), strict=True))


@dataclass(frozen=True)
class OnGraphs(GraphExperiment):
    """A task is one graph of an ensemble with several data sets, or one data set on a given graph."""

    vertices: int
    datasets: int
    kept: list[Any] = field(default_factory=list, repr=False, compare=False)  # covariances that all data sets share
    orders: list[Any] = field(default_factory=list, repr=False, compare=False)  # and the order of chosen vertices

    settings: ClassVar[tuple[str, ...]] = ("vertices", "datasets")

    def __getstate__(self) -> dict[str, Any]:
        """Return all but the matrices that were kept: they are large, and need not travel to workers."""
        return {**self.__dict__, "kept": [], "orders": []}

    def draw_graph(self, task: int) -> tuple[Graph, np.random.Generator]:
        """Return the graph of a task and the random numbers that are left for its data."""
        rng = stream(self.seed, task)
        graph = self.problem.graph
        return (graph.sample(self.vertices, rng), rng) if isinstance(graph, Ensemble) else (graph, rng)

    def covariances(self, graph: Graph) -> tuple[FloatArray, FloatArray | None]:
        """Return the student's covariance matrix, and the teacher's if it differs."""
        given = graph is self.problem.graph
        if given and self.kept:
            return self.kept[0]  # type: ignore[no-any-return]
        true = None if self.problem.teacher is None else self.problem.teacher.matrix(graph)
        made = self.problem.kernel.on(graph).matrix(), true
        if given:
            self.kept.append(made)
        return made

    def local_errors(self, task: int) -> tuple[Graph, list[list[FloatArray]]]:
        """Return the graph of a task and, for each data set, the error of every vertex at each nu."""
        graph, rng = self.draw_graph(task)
        covariances = self.covariances(graph)
        datasets = []
        for own in rng.spawn(self.datasets):
            chosen = self.choose_vertices(graph, own)
            order, counts = draw_counts(self.nu, graph.vertices, own, self.label_weights(graph), chosen)
            ascending = self.errors(*covariances, counts)
            datasets.append([ascending[k] for k in np.argsort(order).tolist()])
        return graph, datasets

    def choose_vertices(self, graph: Graph, rng: np.random.Generator) -> IntArray | None:
        """Return the vertices of the examples in the order in which the design chooses them; None if they are drawn at random."""
        problem = self.problem
        if problem.design == Random():
            return None
        most = int(examples((max(self.nu),), graph.vertices)[0])
        if self.orders and len(self.orders[0]) >= most:
            return self.orders[0]  # type: ignore[no-any-return]
        on_graph = Problem(problem.kernel, Vertices(graph), observation=problem.observation, design=problem.design)
        chosen = problem.design.draw(on_graph, most, rng)[:, 0].astype(np.int64)
        if graph is problem.graph and problem.design.deterministic:
            self.orders[:] = [chosen]
        return chosen

    def errors(self, C: FloatArray, true: FloatArray | None, growing: Sequence[IntArray]) -> list[FloatArray]:
        """Return the error of every vertex for nested training counts."""
        if true is None:
            return curve_variances(C, growing, self.noise)
        assert self.problem.teacher is not None
        return [mismatched_errors(C, true, counts, self.noise, self.problem.teacher.noise) for counts in growing]


@dataclass(frozen=True)
class VertexDataSets(OnGraphs):
    """The curve of one graph (averaged over its data sets), or of one data set on a given graph."""

    task = "graph simulation"
    settings = ("vertices", "datasets", "among")
    averages = ("error", "variance")

    def draw(self, task: int) -> Mapping[str, FloatArray | float]:
        graph, datasets = self.local_errors(task)
        masks = [members(graph, name) for name in self.among]
        rows = np.array([[self.summary(errors, masks) for errors in data] for data in datasets])
        return self.as_fields(rows.mean(axis=0), map(self.share, masks))


@dataclass(frozen=True)
class LocalErrors(OnGraphs):
    """The errors of all vertices at one nu, with the number of neighbours of each."""

    task = "graph local errors"

    @property
    def fields(self) -> Mapping[str, Shape]:
        return {"errors": (self.datasets, self.vertices), "degrees": (self.vertices,)}

    def draw(self, task: int) -> Mapping[str, FloatArray | float]:
        graph, datasets = self.local_errors(task)
        return {"errors": np.array([data[0] for data in datasets]), "degrees": graph.neighbours.astype(np.float64)}


def examples(nu: Sequence[float], vertices: int, fraction: float = 0.5) -> IntArray:
    """Return integer numbers of examples for nu per vertex: the nearest, or on average exact if ``fraction`` is random."""
    exact = np.array(nu) * vertices
    integer = abs(exact - np.rint(exact)) < 1e-9 * exact
    return np.where(integer, np.rint(exact), np.floor(exact + fraction)).astype(np.int64)


def weights_of(inputs: Inputs) -> FloatArray | None:
    """Return the probabilities of the vertices of a given graph, or None if all are the same."""
    return inputs.weights if isinstance(inputs, Vertices) else None


def draw_counts(
    nu: Sequence[float],
    vertices: int,
    rng: np.random.Generator,
    weights: FloatArray | None = None,
    chosen: IntArray | None = None,
) -> tuple[IntArray, list[IntArray]]:
    """Draw nested data sets: return the order in which nu ascend, and how often each vertex occurs, in this order.

    ``weights`` are the probabilities of the vertices; all are the same if None. The first of ``chosen`` vertices are taken instead
    if these are given; their numbers are rounded.
    """
    sizes = examples(nu, vertices, rng.random() if chosen is None else 0.5)
    order = np.argsort(sizes, kind="stable")
    if chosen is not None:
        return order, [np.bincount(chosen[:size], minlength=vertices) for size in sizes[order].tolist()]
    return order, training_counts(sizes[order], vertices, rng, weights)


def training_counts(
    sizes: IntArray, vertices: int, rng: np.random.Generator, weights: FloatArray | None = None
) -> list[IntArray]:
    """Draw how often each vertex occurs in nested data sets of ascending sizes: uniformly, or by weights that sum to 1."""
    counts = []
    total = np.zeros(vertices, dtype=np.int64)
    for more in np.diff(sizes, prepend=0).tolist():
        if more > _MANY_EXAMPLES:
            total = total + rng.multinomial(more, np.full(vertices, 1.0 / vertices) if weights is None else weights)
        elif weights is not None:
            total = total + np.bincount(rng.choice(vertices, size=more, p=weights), minlength=vertices)
        else:  # one by one, so that the first examples are the same whatever other sizes are asked for
            total = total + np.bincount(rng.integers(vertices, size=more), minlength=vertices)
        counts.append(total)
    return counts


def curve_variances(
    C: FloatArray, counts: Sequence[IntArray], noise: float | FloatArray, *, safe_noise: float = _SAFE_NOISE
) -> list[FloatArray]:
    """Return the posterior variance of every vertex for nested training counts, by whichever way is cheaper.

    Each from the prior costs a Cholesky factor of the observed vertices; one from the other costs products with the
    whole posterior covariance, for those vertices only that were observed again. The latter needs noise of at least
    ``safe_noise`` times the prior variance, or it loses too many digits.
    """
    V = len(C)
    added = np.diff(np.array(counts), axis=0, prepend=0)
    m = (added > 0).sum(axis=1).astype(float)
    o = np.array([(count > 0).sum() for count in counts], dtype=float)
    updating = (m**3 / 3 + m**2 * V + 2 * m * V * V).sum()
    afresh = (2 * o**3 / 3 + o**2 * (V - o)).sum()
    if afresh <= updating or np.min(noise) < safe_noise * C.diagonal().max():
        return [posterior_variances(C, count, noise) for count in counts]
    P = C.copy()
    result = []
    for more in added:
        seen = np.flatnonzero(more)
        if len(seen):
            L, _ = _factor(P, seen, per_vertex(noise, seen) / more[seen])
            W = solve_lower(L, P[seen])
            P -= W.T @ W
        result.append(_clip_rounding(P.diagonal(), float(C.diagonal().max())))
    return result


def per_vertex(noise: float | FloatArray, vertices: IntArray) -> float | FloatArray:
    """Return the noise variance at some vertices: one number if it is the same everywhere."""
    return noise[vertices] if isinstance(noise, np.ndarray) else noise


def posterior_variances(C: FloatArray, counts: IntArray, noise: float | FloatArray) -> FloatArray:
    r"""Return the diagonal of :math:`C - C_o(C_{oo} + \mathrm{diag}(\sigma^2/\gamma))^{-1}C_o^T`.

    At an observed vertex this is :math:`s - s^2(A^{-1})_{ii}` with :math:`s = \sigma^2/\gamma_i`, which keeps its relative
    accuracy at low noise, unlike the difference of two large numbers.
    """
    o = np.flatnonzero(counts)
    result = C.diagonal().copy()
    if len(o) == 0:
        return result
    noises, largest = per_vertex(noise, o) / counts[o], float(result.max())
    L, order = _factor(C, o, noises)
    if len(L) < len(o) or noises.min() == 0:  # some observations say nothing new
        W = solve_lower(L, C[order])
        result -= np.einsum("ij,ij->j", W, W)
        # no more is left at an observed vertex than the noise of its own targets, exactly zero without noise
        result[o] = np.minimum(result[o], noises)
        return _clip_rounding(result, largest)
    noisy = noises > result[o]
    direct = np.concatenate((np.flatnonzero(counts == 0), o[noisy]))
    if len(direct):
        W = solve_lower(L, C[np.ix_(o, direct)])
        result[direct] -= np.einsum("ij,ij->j", W, W)
    if not noisy.all():
        inverse = invert_lower(L)
        clear = np.flatnonzero(~noisy)
        precision = np.einsum("ij,ij->j", inverse[:, clear], inverse[:, clear])
        result[o[clear]] = noises[clear] * (1 - noises[clear] * precision)
    return _clip_rounding(result, largest)


def mismatched_errors(
    C: FloatArray, true: FloatArray, counts: IntArray, noise: float | FloatArray, true_noise: float
) -> FloatArray:
    r"""Return the squared error of the student's prediction at every vertex, averaged exactly over teachers.

    With :math:`B = C_{\cdot o}(C_{oo}+\mathrm{diag}(\sigma^2/\gamma))^{-1}` it is :math:`C^*_{jj} - 2(BC^*_{o\cdot})_{jj} +
    (B(C^*_{oo}+\mathrm{diag}(\sigma_*^2/\gamma))B^T)_{jj}`.
    """
    o = np.flatnonzero(counts)
    if len(o) == 0:
        return true.diagonal().copy()
    L, order = _factor(C, o, per_vertex(noise, o) / counts[o])
    if len(order) == len(o):
        B = solve_factorised(L, C[order])
    else:  # targets that the student thinks impossible: least squares, which is what little noise tends to
        W = solve_lower(L, C[order])
        root = np.sqrt(counts[o])
        Q, R = np.linalg.qr(root[:, None] * W[:, o].T)
        B, order = root[:, None] * (Q @ solve_lower(R.T, W)), o
    M = true[np.ix_(order, order)] + np.diag(true_noise / counts[order])
    power = np.einsum("ij,ij->j", B, M @ B)
    error = true.diagonal() - 2 * np.einsum("ij,ij->j", B, true[order]) + power
    return _clip_rounding(error, float((true.diagonal() + power).max()))


def _factor(C: FloatArray, o: IntArray, noises: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return the Cholesky factor of the observed block with its noise, and the vertices in its order.

    If the matrix is singular, which bipartite graphs without noise cause, only vertices that add something are kept.
    """
    A = C[np.ix_(o, o)]
    A[np.diag_indices_from(A)] += noises
    if noises.min() > 0:
        with contextlib.suppress(NumericalError):
            return factorise(A), o
    L, pivots = factorise_pivoted(A, _RESOLVED * float(A.diagonal().max()))
    rank = L.shape[1]
    return L[:rank], o[pivots[:rank]]


def _clip_rounding(variances: FloatArray, scale: float) -> FloatArray:
    """Set what rounding left below zero to zero; raise if it is more than rounding errors of numbers of this size."""
    if variances.min(initial=0.0) < -_ROUNDING * scale:
        raise NumericalError(f"a variance came out as {variances.min():g}: the covariances are too close to singular")
    return np.maximum(variances, 0.0)
