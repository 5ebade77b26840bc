"""The vertices of a graph as inputs: of a given graph, perhaps some more often than others, or of graphs drawn from an ensemble."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

import numpy as np

from gpcurves.errors import InputError, NotApplicableError
from gpcurves.graphs import Ensemble, Graph, GraphKernel, as_graph, graph_from_dict
from gpcurves.graphs.graph import check_dense
from gpcurves.inputs.base import Inputs, Nodes
from gpcurves.numerics.frozen import frozen_array
from gpcurves.numerics.validation import FloatArray, as_numbers
from gpcurves.spectra import Spectrum
from gpcurves.spectra.nystrom import Truth, matrix_spectrum

_SUM = 1e-9  # how far the sum of weights may be from 1

_EVEN = 1e-9  # differences between vertices that rounding errors explain


def _share_eigenvectors(kernel: Any, true: Any) -> bool:
    """Tell whether two kernels have the eigenvectors of `T`."""
    both = isinstance(true, GraphKernel) and true.spectral and kernel.spectral
    return both and "local" not in (kernel.normalise, true.normalise)


class _OnGraph(Inputs):
    """An input is the number of a vertex."""

    axis = "nu"
    dim = 1

    def objection(self, kernel: Any) -> str | None:
        if isinstance(kernel, GraphKernel):
            return None
        return f"on a graph the kernel must be one such as RandomWalkKernel(p=10), got {kernel!r}"


def per_vertex(name: str, graph: Graph, given: object, missing: float | None = None) -> FloatArray:
    """Return one finite number for each vertex, at least 0, from a sequence or from a mapping by the names of vertices.

    Vertices that a mapping leaves out get the number ``missing``; if that is None, none may be left out.
    """
    V = graph.vertices
    if isinstance(given, Mapping):
        numbers = np.full(V, np.nan if missing is None else missing)
        for label, value in given.items():
            numbers[graph.number(label)] = as_numbers(value, f"{name} must be numbers", shape=())
        if np.isnan(numbers).any() and missing is None and not any(value != value for value in given.values()):
            raise InputError(
                f"{name} must be given for every vertex: {graph.label(int(np.isnan(numbers).argmax()))!r} has none"
            )
    else:
        numbers = as_numbers(given, f"{name} must be numbers, one for each of the {V} vertices")
    if numbers.shape != (V,):
        raise InputError(f"{name} must be one for each of the {V} vertices, got shape {numbers.shape}")
    if not np.isfinite(numbers).all():
        raise InputError(f"{name} must be finite, got NaN or infinity")
    if (numbers < 0).any():
        raise InputError(f"{name} must be at least 0, got {numbers.min():g}")
    return numbers


@dataclass(frozen=True, eq=False, repr=False)
class Vertices(_OnGraph):
    """The vertices of a graph, each equally likely unless there are ``weights``: probabilities that sum to 1.

    Weights are a sequence, or a mapping by the names of vertices, of which those that are left out never occur.
    """

    name = ""
    enumerable = True
    graph: Graph
    weights: FloatArray | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "graph", as_graph(self.graph))
        if self.weights is None:
            return
        weights = per_vertex("weights of vertices", self.graph, self.weights, missing=0.0)
        if abs(weights.sum() - 1) > _SUM:
            raise InputError(f"weights of vertices must sum to 1, got {weights.sum():g}: divide them by their sum")
        object.__setattr__(self, "weights", frozen_array(weights / weights.sum()))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Vertices) or self.graph != other.graph:
            return False
        if self.weights is None or other.weights is None:
            return self.weights is other.weights
        return np.array_equal(self.weights, other.weights)

    def __hash__(self) -> int:
        return hash(self.graph)

    def draw(self, count: int, rng: np.random.Generator) -> FloatArray:
        if self.weights is not None:
            return rng.choice(self.graph.vertices, size=(count, 1), p=self.weights).astype(np.float64)
        return rng.integers(self.graph.vertices, size=(count, 1)).astype(np.float64)

    @property
    def shares(self) -> FloatArray:
        """The probability of each vertex."""
        V = self.graph.vertices
        return np.full(V, 1.0 / V) if self.weights is None else self.weights

    def nodes(self, count: int) -> Nodes:
        return np.arange(float(self.graph.vertices))[:, None], self.shares

    def kernel_matrix(self, kernel: Any, X: FloatArray, Y: FloatArray | None = None) -> FloatArray:
        return self.covariances(kernel)(X, X if Y is None else Y)

    def covariances(self, kernel: Any) -> Callable[[FloatArray, FloatArray], FloatArray]:
        covariance = kernel.on(self.graph)

        def between(X: FloatArray, Y: FloatArray) -> FloatArray:
            rows, columns = (np.asarray(each[:, 0], dtype=np.int64) for each in (X, Y))
            return np.asarray(covariance.rows(rows)[:, columns])

        return between

    def variances(self, kernel: Any, X: FloatArray) -> FloatArray:
        return np.asarray(kernel.on(self.graph).variances[X[:, 0].astype(np.int64)])

    def spectrum(self, kernel: Any) -> Spectrum:
        r"""Return the eigenvalues of `C/V`, Urry & Sollich 2013, eq. (14)."""
        if self.weights is not None:
            return matrix_spectrum(kernel.on(self.graph).matrix(), self.weights)
        values = kernel.on(self.graph).eigenvalues() / self.graph.vertices
        values[values < 1e-15 * values.max()] = 0.0  # rounding errors
        return Spectrum(values)

    def taught_spectrum(self, kernel: Any, truth: Truth) -> Spectrum:
        """Return the eigenvalues with the power of true functions: on the same eigenvectors if both kernels have these."""
        V = self.graph.vertices
        true: Any = truth.kernel
        check_dense(self.graph, 5)
        if _share_eigenvectors(kernel, true):
            t = np.clip(self.graph.eigen[0], -1, 1)
            values, power = (each.eigenvalue(t) / each.on(self.graph).normaliser[0] / V for each in (kernel, true))
            power = np.maximum(power, 0.0)
        else:
            values, vectors = np.linalg.eigh(kernel.on(self.graph).matrix() / V)
            power = truth.power(np.arange(float(V))[:, None], vectors / np.sqrt(V))
        values = np.where(values < 1e-15 * values.max(), 0.0, values)
        return Spectrum(values, channels={"power": power})

    def prior_variance(self, kernel: Any) -> float:
        variances = kernel.on(self.graph).variances
        return float(variances.mean() if self.weights is None else self.weights @ variances)

    def largest_variance(self, kernel: Any) -> float | None:
        return float(kernel.on(self.graph).variances.max())

    def homogeneous(self, kernel: Any) -> bool:
        return _is_homogeneous(self.graph, kernel)

    def to_dict(self) -> dict[str, Any]:
        plain = {"type": "Vertices", "graph": self.graph.to_dict()}
        return plain if self.weights is None else {**plain, "weights": self.weights.tolist()}

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any]) -> Self:
        return cls(graph_from_dict(parameters["graph"]), parameters.get("weights"))

    def __repr__(self) -> str:
        return repr(self.graph) if self.weights is None else f"{self.graph!r}, labelled unevenly"


@lru_cache(maxsize=8)
def _is_homogeneous(graph: Graph, kernel: GraphKernel) -> bool:
    """Tell whether every function of the covariance matrix has a constant diagonal.

    A walk-regular graph has: one whose vertices all have equally many closed walks of each length, such as a graph with a
    symmetry that takes any vertex to any other.
    """
    covariance = kernel.on(graph)
    if np.ptp(covariance.variances) > _EVEN * covariance.variances.max():
        return False
    check_dense(graph, 5)
    values, vectors = np.linalg.eigh(covariance.matrix())
    groups = np.flatnonzero(np.diff(values, prepend=-np.inf) > _EVEN * values[-1])  # of equal eigenvalues
    shares = np.add.reduceat(vectors**2, groups, axis=1)
    return bool(np.ptp(shares, axis=0).max() < _EVEN * graph.vertices)


@dataclass(frozen=True, repr=False)
class RandomVertices(_OnGraph):
    """The vertices of a graph that is drawn from an ensemble; their number is left open until a graph is drawn."""

    name = ""
    ensemble: Ensemble

    def _refuse(self, *args: Any, **kwargs: Any) -> Any:
        raise NotApplicableError("an ensemble of graphs has no vertices of its own: sample a graph from it")

    draw = nodes = spectrum = prior_variance = _refuse

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any]) -> Self:
        return cls(Ensemble.from_dict(parameters["ensemble"]))

    def __repr__(self) -> str:
        return repr(self.ensemble)
