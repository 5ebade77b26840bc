"""The vertices of a graph as inputs, drawn uniformly: of a given graph, or of graphs drawn from an ensemble."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

import numpy as np

from gpcurves.errors import NotApplicableError
from gpcurves.graphs import Ensemble, Graph, GraphKernel, as_graph, graph_from_dict
from gpcurves.graphs.graph import check_dense
from gpcurves.inputs.base import Inputs, Nodes
from gpcurves.numerics.validation import FloatArray
from gpcurves.spectra import Spectrum
from gpcurves.spectra.nystrom import Truth

_EVEN = 1e-9  # differences between vertices that rounding errors explain


class _OnGraph(Inputs):
    """An input is the number of a vertex."""

    axis = "nu"
    dim = 1

    def objection(self, kernel: Any) -> str | None:
        if isinstance(kernel, GraphKernel):
            return None
        return f"on a graph the kernel must be one such as RandomWalkKernel(p=10), got {kernel!r}"


@dataclass(frozen=True, repr=False)
class Vertices(_OnGraph):
    """The vertices of a graph, each equally likely."""

    name = ""
    enumerable = True
    graph: Graph

    def __post_init__(self) -> None:
        object.__setattr__(self, "graph", as_graph(self.graph))

    def draw(self, count: int, rng: np.random.Generator) -> FloatArray:
        return rng.integers(self.graph.vertices, size=(count, 1)).astype(np.float64)

    def nodes(self, count: int) -> Nodes:
        vertices = self.graph.vertices
        return np.arange(float(vertices))[:, None], np.full(vertices, 1.0 / vertices)

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
        values = kernel.on(self.graph).eigenvalues() / self.graph.vertices
        values[values < 1e-15 * values.max()] = 0.0  # rounding errors
        return Spectrum(values)

    def taught_spectrum(self, kernel: Any, truth: Truth) -> Spectrum:
        """Return the eigenvalues with the power of true functions: on the same eigenvectors if both kernels have these."""
        V, true = self.graph.vertices, truth.kernel
        check_dense(self.graph, 5)
        if isinstance(true, GraphKernel) and "local" not in (kernel.normalise, true.normalise):
            t = np.clip(self.graph.eigen[0], -1, 1)
            values, power = (each.eigenvalue(t) / each.on(self.graph).normaliser[0] / V for each in (kernel, true))
            power = np.maximum(power, 0.0)
        else:
            values, vectors = np.linalg.eigh(kernel.on(self.graph).matrix() / V)
            power = truth.power(np.arange(float(V))[:, None], vectors / np.sqrt(V))
        values = np.where(values < 1e-15 * values.max(), 0.0, values)
        return Spectrum(values, channels={"power": power})

    def prior_variance(self, kernel: Any) -> float:
        return float(kernel.on(self.graph).variances.mean())

    def largest_variance(self, kernel: Any) -> float | None:
        return float(kernel.on(self.graph).variances.max())

    def homogeneous(self, kernel: Any) -> bool:
        return _is_homogeneous(self.graph, kernel)

    def to_dict(self) -> dict[str, Any]:
        return {"type": "Vertices", "graph": self.graph.to_dict()}

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any]) -> Self:
        return cls(graph_from_dict(parameters["graph"]))

    def __repr__(self) -> str:
        return repr(self.graph)


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
