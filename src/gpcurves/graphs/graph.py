r"""A graph as Gaussian processes see it: symmetric affinities, degrees, and the normalised adjacency matrix.

Urry & Sollich 2013, section 2: :math:`T = D^{-1/2} A D^{-1/2}` with the degrees :math:`d_i = \sum_j A_{ij}`, and
:math:`L = I - T`. An isolated vertex has :math:`T_{ii} = 0`, so that :math:`L_{ii} = 1`: the limit in which its degree
goes to zero. (Library routines set :math:`L_{ii} = 0` there, which makes its prior variance too large.)
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from gpcurves.errors import InputError
from gpcurves.graphs.details import collect_details
from gpcurves.numerics import schema
from gpcurves.numerics.frozen import FrozenMapping, ReadOnly, frozen_array
from gpcurves.numerics.memory import check_memory
from gpcurves.numerics.validation import FloatArray, as_numbers, frozen, integer

IntArray = npt.NDArray[np.int64]
Sparse = Any  # a SciPy sparse matrix in CSR form
_MOST_VERTICES = 1_000_000_000
_WEIGHTS = 1e-100, 1e100  # weights whose sums and quotients stay in range
REPAIR = "ask for repair (as_graph(..., repair=True), or --repair)"


@dataclass(frozen=True, eq=False, repr=False)
class Graph(ReadOnly):
    """An undirected graph without self-loops; edges may have positive weights, which are affinities.

    Parameters
    ----------
    adjacency
        Symmetric SciPy sparse matrix or array of affinities; zero means no edge.
    labels
        Names of the vertices; their numbers 0, 1, … if None.
    repair
        Make directed edges undirected (with the mean weight of both directions) and drop self-loops, instead of raising an
        error.

    Attributes
    ----------
    positions
        Two coordinates of each vertex, if the file or the NetworkX graph has them.
    attributes
        Further numbers (NaN if missing) or texts (None if missing) of the vertices by name, if there are any.
    notes
        Messages from reading a file. Neither these nor positions and attributes matter for the equality of graphs.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> gpc.Graph.from_edges([(0, 1), (1, 2)], vertices=4).degrees
    array([1., 2., 1., 0.])
    """

    adjacency: Sparse
    labels: tuple[str, ...] | None = None
    positions: FloatArray | None = None
    attributes: Mapping[str, npt.NDArray[Any]] | None = None
    notes: tuple[str, ...] = ()

    def __init__(self, adjacency: Any, labels: Iterable[Hashable] | None = None, *, repair: bool = False) -> None:
        matrix = _check_adjacency(adjacency, repair)
        object.__setattr__(self, "adjacency", matrix)
        named = None if labels is None else tuple(str(label) for label in labels)
        if named is not None and len(named) != matrix.shape[0]:
            raise InputError(f"labels must be one per vertex ({matrix.shape[0]}), got {len(named)}")
        if named is not None and len(set(named)) < len(named):
            raise InputError("labels must differ from each other, but some are the same")
        object.__setattr__(self, "labels", named)

    @classmethod
    def from_edges(
        cls,
        edges: object,
        vertices: int | None = None,
        weights: object = None,
        labels: Iterable[Hashable] | None = None,
        *,
        repair: bool = False,
    ) -> Graph:
        """Build a graph from pairs of vertex numbers; each edge is given once, or once in each direction."""
        pairs = np.asarray(edges)
        if np.ma.is_masked(edges):
            raise InputError("edges must be pairs of vertex numbers, but some are masked: leave them out")
        if pairs.size == 0:
            pairs = np.empty((0, 2), dtype=np.int64)
        if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
            raise InputError("edges must be pairs of vertex numbers, an array of integers with two columns")
        if len(pairs) and pairs.min() < 0:
            raise InputError(f"vertex numbers must be at least 0, got {pairs.min()}")
        last = int(pairs.max()) if len(pairs) else 0
        if last >= _MOST_VERTICES:
            raise InputError(f"vertex numbers must be less than {_MOST_VERTICES:g}, got {last}: give names as labels")
        count = last + 1 if vertices is None else integer("vertices", vertices, last + 1, _MOST_VERTICES)
        check_fits(count, len(pairs))
        given = np.ones(len(pairs)) if weights is None else as_numbers(weights, "weights must be numbers")
        if given.shape != (len(pairs),):
            raise InputError(f"weights must be one per edge ({len(pairs)}), got {given.size}")
        _check_weights(given)
        return cls(_join_ends(pairs.astype(np.int64), given, count, repair), labels, repair=repair)

    def with_details(
        self,
        positions: FloatArray | None = None,
        attributes: Mapping[str, npt.NDArray[Any]] | None = None,
        notes: Iterable[str] = (),
    ) -> Graph:
        """Return the same graph with positions and attributes of its vertices, and notes after those that it has."""
        other = copy.copy(self)
        kept = None if attributes is None else FrozenMapping({name: frozen(each) for name, each in attributes.items()})
        object.__setattr__(other, "positions", None if positions is None else frozen_array(positions))
        object.__setattr__(other, "attributes", kept)
        object.__setattr__(other, "notes", (*self.notes, *notes))
        return other

    @property
    def vertices(self) -> int:
        """Number of vertices."""
        return int(self.adjacency.shape[0])

    def __len__(self) -> int:
        return self.vertices

    @property
    def edges(self) -> int:
        """Number of edges."""
        return int(self.adjacency.nnz // 2)

    @cached_property
    def weighted(self) -> bool:
        """Whether any affinity differs from 1."""
        return bool((self.adjacency.data != 1).any())

    @cached_property
    def degrees(self) -> FloatArray:
        """Sum of the affinities of each vertex; the number of its neighbours if edges have no weights."""
        return frozen(np.asarray(self.adjacency.sum(axis=1)).ravel())

    @cached_property
    def neighbours(self) -> IntArray:
        """Number of neighbours of each vertex."""
        return np.asarray(np.diff(self.adjacency.indptr), dtype=np.int64)

    @property
    def isolated(self) -> npt.NDArray[np.bool_]:
        """Which vertices have no neighbours."""
        return np.asarray(self.neighbours == 0)

    @cached_property
    def components(self) -> IntArray:
        """Number of the connected component of each vertex; 0 is the largest."""
        from scipy.sparse.csgraph import connected_components

        label = connected_components(self.adjacency, directed=False)[1]
        order = np.argsort(-np.bincount(label), kind="stable")
        return np.asarray(np.argsort(order)[label])

    @cached_property
    def component_sizes(self) -> IntArray:
        """Number of vertices of each connected component, the largest first."""
        return np.bincount(self.components)

    @cached_property
    def T(self) -> Sparse:  # noqa: N802  (the papers' name)
        r"""The normalised adjacency matrix :math:`D^{-1/2}AD^{-1/2}`, zero at isolated vertices."""
        with np.errstate(divide="ignore"):
            root = np.where(self.degrees > 0, 1 / np.sqrt(self.degrees), 0.0)
        scaled = self.adjacency.copy()
        scaled.data *= np.repeat(root, self.neighbours) * root[scaled.indices]
        return scaled

    @cached_property
    def eigen(self) -> tuple[FloatArray, FloatArray]:
        """Eigenvalues of `T` between -1 and 1, in ascending order, and eigenvectors as columns; all kernels share them.

        By dense algebra, in time that grows as the cube of the number of vertices (about 2 s for 2,000); an error if memory
        does not suffice.
        """
        from scipy.linalg import eigh

        check_dense(self, 4)
        t, U = eigh(self.T.toarray(), overwrite_a=True, check_finite=False, driver="evd")
        return frozen(np.clip(t, -1.0, 1.0)), frozen(U)

    @cached_property
    def by_name(self) -> tuple[Graph, IntArray]:
        """The same graph with its vertices in the order of their names, and the number that each of them has there."""
        from gpcurves.graphs.ordering import sort_by_name

        return sort_by_name(self)

    def __getstate__(self) -> dict[str, Any]:
        """Return all but the eigenvectors, which are large and need not travel to workers, and the sorted graph."""
        return {name: value for name, value in self.__dict__.items() if name not in ("eigen", "by_name")}

    def label(self, vertex: int) -> str:
        """Return the name of a vertex."""
        return str(vertex) if self.labels is None else self.labels[vertex]

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {self.label(vertex): vertex for vertex in range(self.vertices)}

    def has(self, label: Hashable) -> bool:
        """Tell whether there is a vertex with this name."""
        return str(label) in self._numbers

    def number(self, label: Hashable) -> int:
        """Return the number of the vertex with this name."""
        try:
            return self._numbers[str(label)]
        except KeyError:
            raise InputError(f"the graph has no vertex {str(label)!r}") from None

    def edge_list(self) -> tuple[IntArray, FloatArray]:
        """Return each edge once, as pairs of vertex numbers with the smaller first, and the weights."""
        rows, columns = self.adjacency.nonzero()
        once = rows < columns
        return np.stack((rows[once], columns[once]), axis=1).astype(np.int64), self.adjacency.data[once]

    def to_networkx(self) -> Any:
        """Return a NetworkX graph with the names as nodes and the weights as the edge attribute ``weight``."""
        import networkx

        graph = networkx.Graph()
        names = range(self.vertices) if self.labels is None else self.labels
        graph.add_nodes_from(names)
        pairs, weights = self.edge_list()
        for (i, j), weight in zip(pairs.tolist(), weights.tolist(), strict=True):
            graph.add_edge(names[i], names[j], **({"weight": weight} if self.weighted else {}))
        return graph

    def to_dict(self) -> dict[str, Any]:
        """Return the graph as plain data; `graph_from_dict` builds it again."""
        pairs, weights = self.edge_list()
        plain: dict[str, Any] = {"vertices": self.vertices, "edges": pairs.tolist()}
        if self.weighted:
            plain["weights"] = weights.tolist()
        if self.labels is not None:
            plain["labels"] = list(self.labels)
        return plain

    @cached_property
    def digest(self) -> str:
        """A short text that differs between graphs with different edges or weights."""
        content = hashlib.sha256(str(self.vertices).encode())
        for array in self.edge_list():
            content.update(np.ascontiguousarray(array).tobytes())
        return content.hexdigest()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        return self is other or (self.digest == other.digest and self.labels == other.labels)

    def __hash__(self) -> int:
        return hash(self.digest)

    def describe(self) -> str:
        """Say how large the graph is, and whether its edges have weights."""
        vertices = "1 vertex" if self.vertices == 1 else f"{self.vertices:,} vertices"
        edges = "1 edge" if self.edges == 1 else f"{self.edges:,} edges"
        if not self.weighted:
            return f"{vertices}, {edges} without weights"
        low, high = self.adjacency.data.min(), self.adjacency.data.max()
        return f"{vertices}, {edges} with weights {f'of {low:g}' if low == high else f'from {low:.4g} to {high:.4g}'}"

    def __repr__(self) -> str:
        return f"Graph({self.describe()})"


def check_dense(graph: Graph, matrices: int) -> None:
    """Refuse dense algebra on a graph that memory does not hold, and say what to use instead."""
    V = graph.vertices
    check_memory(
        8.0 * matrices * V * V,
        f"dense algebra on {V} vertices",
        "the method cavity and sparse products (rows, diagonal, matrix times vector) work at any size",
    )


def as_graph(thing: object, *, repair: bool = False, weighted: bool = True) -> Graph:
    """Return a graph from any supported object: a `Graph`, NetworkX, igraph, a SciPy sparse matrix or a square array.

    Parameters
    ----------
    thing
        The graph. Of NetworkX and igraph, the edge attribute ``weight`` is the affinity, if there is one.
    repair
        Make directed edges undirected, drop self-loops and add up repeated edges, instead of raising an error.
    weighted
        Whether to use the weights of edges; without them every edge counts 1.

    Examples
    --------
    >>> import networkx, gpcurves as gpc
    >>> gpc.as_graph(networkx.karate_club_graph()).vertices
    34
    """
    graph = _convert(thing, repair)
    if weighted or not graph.weighted:
        return graph
    plain = Graph(graph.adjacency.astype(bool).astype(np.float64), graph.labels)
    return plain.with_details(graph.positions, graph.attributes, graph.notes)


def _convert(thing: object, repair: bool) -> Graph:
    if isinstance(thing, Graph):
        return thing
    homes = {kind.__module__.partition(".")[0] for kind in type(thing).__mro__}
    if "networkx" in homes:
        return _from_networkx(thing, repair)
    if "igraph" in homes:
        graph: Any = thing
        weight = "weight" if "weight" in graph.es.attributes() else None
        names = graph.vs["name"] if "name" in graph.vs.attributes() else None
        return Graph(graph.get_adjacency_sparse(weight), names, repair=repair)
    if homes & {"scipy", "numpy"} or isinstance(thing, Sequence):
        return Graph(thing, repair=repair)
    raise InputError(
        "a graph must be a Graph, a NetworkX or igraph graph, a SciPy sparse matrix or a square array, "
        f"got {type(thing).__name__}"
    )


_SCHEMA: schema.Schema = {
    "vertices": schema.integer(1, _MOST_VERTICES),
    "edges": [[schema.integer(0, _MOST_VERTICES)]],
    "weights?": [schema.number(0)],
    "labels?": [schema.text],
}
_BYTES = 64  # for each vertex, while a graph is built


def graph_from_dict(data: dict[str, Any]) -> Graph:
    """Build a graph from what its ``to_dict`` returned."""
    schema.conform("graph", data, _SCHEMA)
    check_memory(_BYTES * data["vertices"], f"a graph of {data['vertices']:,} vertices", "give a smaller graph")
    return Graph.from_edges(data["edges"], data["vertices"], data.get("weights"), data.get("labels"))


def check_fits(vertices: int, edges: float = 0, per_vertex: float = 60.0) -> None:
    """Refuse a graph before it is built if memory does not hold it; the bytes per vertex and per edge are measured."""
    check_memory(
        per_vertex * vertices + 250.0 * edges,
        f"a graph of {vertices:,} vertices" + (f" and {edges:,.0f} edges" if edges else ""),
        "take a smaller graph",
    )


def _from_networkx(graph: Any, repair: bool) -> Graph:
    import networkx

    nodes = list(graph)
    if not nodes:
        raise InputError("the graph is empty: it has no vertices")
    if graph.is_directed() and not repair:
        raise InputError(
            f"the graph is directed, and learning curves need an undirected one: {REPAIR} to symmetrise it"
        )
    if graph.is_multigraph() and not repair and graph.number_of_edges() > networkx.Graph(graph).number_of_edges():
        raise InputError(f"the graph has several edges between the same vertices: {REPAIR} to add up their weights")
    # NetworkX would drop imaginary parts and read texts as numbers
    weights = [weight for *_, weight in graph.edges(data="weight", default=1)]
    _check_weights(as_numbers(weights, "weights must be numbers, but some edge has a 'weight' that is not a number"))
    matrix = networkx.to_scipy_sparse_array(graph, nodes, weight="weight", dtype=float, format="csr")
    built = Graph(matrix, None if nodes == list(range(len(nodes))) else nodes, repair=repair)
    details = collect_details([graph.nodes[node] for node in nodes])
    return built.with_details(*details) if any(each is not None for each in details[:2]) or details[2] else built


def _join_ends(pairs: IntArray, weights: FloatArray, vertices: int, repair: bool) -> Sparse:
    """Return the symmetric matrix of undirected edges; an edge listed once in each direction counts once.

    For repair it is the directed matrix, with the weights of repeats added up, which is then made symmetric.
    """
    from scipy.sparse import coo_array, tril

    shape, ends = (vertices, vertices), (pairs[:, 0], pairs[:, 1])
    matrix = coo_array((weights, ends), shape=shape).tocsr()
    if repair:
        return matrix
    times = coo_array((np.ones(len(pairs)), ends), shape=shape).tocsr()
    wrong = (times > 1) + tril(times * times.T * (matrix != matrix.T)).astype(bool)
    if wrong.nnz:
        i, j = (int(ends[0]) for ends in wrong.nonzero())
        raise InputError(
            f"the edge between vertices {i} and {j} is given more than once: {REPAIR} to add up the weights of repeats"
        )
    return matrix.maximum(matrix.T)


def _check_adjacency(adjacency: Any, repair: bool) -> Sparse:
    from scipy.sparse import csr_array, issparse

    complaint = "an adjacency matrix must be a square array of real numbers"
    if issparse(adjacency) and adjacency.dtype.kind not in "biuf":  # SciPy would drop imaginary parts
        raise InputError(complaint)
    given: Any = adjacency if issparse(adjacency) else as_numbers(adjacency, complaint)
    if len(given.shape) != 2 or given.shape[0] != given.shape[1]:
        raise InputError(f"an adjacency matrix must be square, got the shape {given.shape}")
    check_fits(given.shape[0], given.nnz if issparse(given) else 0)
    matrix = csr_array(given, dtype=np.float64, copy=True)
    if matrix.shape[0] == 0:
        raise InputError("the graph is empty: it has no vertices")
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    _check_weights(matrix.data)
    loops = matrix.diagonal() != 0
    if loops.any():
        if not repair:
            raise InputError(f"vertex {int(np.argmax(loops))} has a self-loop, which has no meaning here: {REPAIR}")
        matrix.setdiag(0)
        matrix.eliminate_zeros()
    reverse = matrix.T.tocsr()
    if matrix.nnz and (abs(matrix - reverse) - 1e-9 * (matrix + reverse)).max() > 0:  # each edge beside itself
        if not repair:
            raise InputError(f"the adjacency matrix is not symmetric, so that the graph is directed: {REPAIR}")
        seen = matrix.astype(bool).astype(np.float64)
        present = (seen + seen.T).tocsr()  # 1 if one direction is given, 2 if both are
        matrix = (matrix + reverse).tocsr()
        matrix.sort_indices()
        present.sort_indices()
        matrix.data /= present.data
    elif matrix.nnz:
        matrix = ((matrix + reverse) / 2).tocsr()  # symmetric to the last bit
    matrix.sort_indices()
    return matrix


def _check_weights(weights: FloatArray) -> None:
    """Refuse affinities that are not positive; zero is no edge."""
    if not np.isfinite(weights).all():
        raise InputError("weights must be finite, got NaN or infinity")
    if (weights < 0).any():
        raise InputError(f"weights must be positive, since they are affinities, got {weights.min():g}")
    low, high = weights.min(initial=1.0, where=weights > 0), weights.max(initial=1.0)
    if low < _WEIGHTS[0] or high > _WEIGHTS[1]:
        extreme = low if low < _WEIGHTS[0] else high
        raise InputError(f"weights must be between {_WEIGHTS[0]:g} and {_WEIGHTS[1]:g}, got {extreme:g}: rescale them")
