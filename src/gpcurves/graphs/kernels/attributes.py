"""Vertices that are alike because of their attributes, wherever they are: a kernel between vectors on the attributes of a graph."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, NoReturn, Self

import numpy as np

from gpcurves.errors import InputError, NotApplicableError
from gpcurves.graphs.covariance import GraphCovariance
from gpcurves.graphs.graph import Graph, as_graph
from gpcurves.graphs.kernels.base import GraphKernel, Normalisation
from gpcurves.graphs.kernels.sums import MatrixCovariance
from gpcurves.kernels import Kernel, as_kernel
from gpcurves.numerics.memory import check_memory
from gpcurves.numerics.parameters import parameter
from gpcurves.numerics.validation import FloatArray, frozen

_BLOCK = 1_000  # rows of a product at a time


class AttributeCovariance(MatrixCovariance):
    """The covariance of a kernel between attributes, on one graph."""

    kernel: VertexAttributeKernel

    @cached_property
    def points(self) -> FloatArray:
        """The attributes as points, a row per vertex."""
        return standardised(self.graph, self.kernel.columns)

    @cached_property
    def variances(self) -> FloatArray:
        return frozen(self.kernel.kernel.diag(self.points))

    def rows(self, vertices: object) -> FloatArray:
        numbers = np.atleast_1d(np.asarray(vertices))
        what = f"{len(numbers)} rows of a covariance over {self.graph.vertices} vertices"
        check_memory(24.0 * len(numbers) * self.graph.vertices, what, "ask for fewer rows")
        return np.asarray(self.kernel.kernel(self.points[numbers], self.points))

    def __matmul__(self, vectors: FloatArray) -> FloatArray:
        numbers = np.arange(self.graph.vertices)
        return np.concatenate([self.rows(numbers[at : at + _BLOCK]) @ vectors for at in range(0, len(numbers), _BLOCK)])


def standardised(graph: Graph, columns: tuple[str, ...] | None) -> FloatArray:
    """Return attributes of vertices with mean 0 and variance 1, a column for each number and for each category but the constant ones."""
    known = graph.attributes or {}
    names = tuple(known) if columns is None else columns
    missing = [name for name in names if name not in known]
    if missing or not names:
        has = ", ".join(map(repr, known)) or "none"
        raise InputError(f"the graph has no attribute {missing[0]!r} of vertices: it has {has}" if missing else
                         "the graph has no attributes of vertices: give it some, or leave the kernel of attributes out")  # fmt: skip
    parts = []
    for name in names:
        values = known[name]
        if any(each is None or each != each for each in values.tolist()):
            raise InputError(f"some vertices have no attribute {name!r}: give it to every vertex")
        texts = values.dtype == object
        part = values[:, None] == np.unique(values.astype(str)) if texts else values[:, None]
        parts.append(np.asarray(part, dtype=np.float64))
    table = np.concatenate(parts, axis=1)
    away = table - table.mean(axis=0)
    spread = away.std(axis=0)
    if not (spread > 0).any():
        raise InputError(f"the attributes {', '.join(map(repr, names))} are the same at all vertices")
    return frozen(away[:, spread > 0] / spread[spread > 0])


def _check_columns(name: str, value: object) -> tuple[str, ...]:
    listed = (value,) if isinstance(value, str) else value
    if not isinstance(listed, tuple | list) or not all(isinstance(each, str) for each in listed):
        raise InputError(f"{name} must be names of attributes, got {value!r}")
    return tuple(listed)


@dataclass(frozen=True, repr=False)
class VertexAttributeKernel(GraphKernel):
    """A covariance of attributes: vertices with similar attributes have similar values, whether they are joined or not.

    Numbers are standardised, and each category is a column of 0 and 1, so that lengthscales are in standard deviations. Add it
    to a kernel of the graph: ``RandomWalkKernel(p=10) + 0.5 * VertexAttributeKernel(RBF(1.0))``. It works on given graphs
    only, whose attributes are not part of a saved curve, and with simulation and eigenvalue theory only, not with the
    cavity method.

    Parameters
    ----------
    kernel
        A kernel between vectors, such as ``RBF(1.0)``.
    columns
        Names of attributes of the graph's vertices; all of them if None.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> import networkx
    >>> club = networkx.path_graph(6)
    >>> networkx.set_node_attributes(club, {i: i % 2 for i in range(6)}, "age")
    >>> kernel = gpc.VertexAttributeKernel(gpc.RBF(1.0), columns=("age",))
    >>> problem = gpc.GraphProblem(club, kernel, noise=0.1)
    >>> gpc.learning_curve(problem, "simulation", nu=[0.0], datasets=2, rng=0).error.round(3)
    array([1.])
    """

    name: ClassVar[str] = ""
    spectral = False
    kernel: Kernel = parameter(help="Kernel between vectors of attributes", check=lambda name, value: as_kernel(value))
    columns: tuple[str, ...] | None = parameter(None, help="Attributes to use  [all]", check=_check_columns)

    normalise: ClassVar[Literal["none"]] = "none"  # type: ignore[misc]

    def scaled(self, factor: float) -> VertexAttributeKernel:
        return VertexAttributeKernel(self.kernel.scaled(factor), self.columns)

    def normalised(self, how: Normalisation) -> Self:
        if how == "none":
            return self
        raise NotApplicableError("a kernel of attributes is not normalised: its own variance is the prior variance")

    def raw(self) -> Self:
        return self

    def _refuse(self) -> NoReturn:
        raise NotApplicableError(f"there are no messages for {self!r}: attributes couple vertices that no edge joins")

    def eigenvalue(self, t: FloatArray) -> FloatArray:
        self._refuse()

    def vertex_model(self) -> NoReturn:
        self._refuse()

    def on(self, graph: object) -> GraphCovariance:
        return AttributeCovariance(self, as_graph(graph))

    def details_of(self, graph: Graph) -> str:
        return hashlib.sha256(np.ascontiguousarray(standardised(graph, self.columns)).tobytes()).hexdigest()

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any]) -> Self:
        columns = parameters.get("columns")
        return cls(Kernel.from_dict(parameters["kernel"]), None if columns is None else tuple(columns))
