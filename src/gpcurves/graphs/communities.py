"""Communities of a given graph, by well-kept libraries: Louvain (NetworkX), spectral clustering (scikit-learn), or an attribute.

A partition gives every vertex the name of its community. Communities are numbered from the largest on, 1, 2, …
"""

from __future__ import annotations

import warnings
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from gpcurves.errors import InputError
from gpcurves.graphs.graph import Graph, IntArray
from gpcurves.numerics.validation import integer, parse_float

Names = npt.NDArray[np.str_]
_MOST = 12  # communities that are told apart; smaller ones are put together
OTHERS = "others"
_SEED = 0  # of both algorithms, so that a curve can be computed again


def check_partition(name: str) -> str | None:
    """Return the name of a partition as it is written, or None if it is not the name of one."""
    kind, colon, rest = name.partition(":")
    if name in ("louvain", "blocks"):
        return name
    if kind == "spectral" and colon:
        try:
            return f"spectral:{integer('spectral', parse_float(rest), 2)}"
        except ValueError:
            raise InputError(f"a grouping spectral:K needs an integer at least 2, got {name!r}") from None
    if kind == "attribute" and rest:
        return name
    return None


def partition(graph: Graph, name: str) -> Names:
    """Return the name of the community of every vertex."""
    kind, _, rest = name.partition(":")
    if kind == "attribute":
        return by_attribute(graph, rest)
    numbers = _louvain(graph) if kind == "louvain" else _spectral(graph, int(rest))
    return np.array([str(number + 1) if number < _MOST else OTHERS for number in numbers.tolist()])


def by_attribute(graph: Graph, attribute: str) -> Names:
    """Return the value of an attribute at every vertex as a text; rare ones are put together."""
    if attribute not in (graph.attributes or {}):
        known = ", ".join(map(repr, graph.attributes or {})) or "none"
        raise InputError(f"the graph has no attribute {attribute!r} of vertices: it has {known}")
    assert graph.attributes is not None
    cells = [
        "none" if each is None or each != each else _as_text(each) for each in graph.attributes[attribute].tolist()
    ]
    texts = np.array(cells)
    values, counts = np.unique(texts, return_counts=True)
    if len(values) > _MOST:
        rare = values[np.argsort(-counts, kind="stable")[_MOST - 1 :]]
        texts = np.where(np.isin(texts, rare), OTHERS, texts)
    return texts


def _as_text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def communities_of(graph: Graph, name: str) -> list[str]:
    """Return the names of the communities of a partition, numbered ones in order and the rest last."""
    names = np.unique(partition(graph, name)).tolist()
    return sorted(names, key=lambda each: (each == OTHERS, len(each) if each.isdecimal() else 0, each))


@lru_cache(maxsize=4)
def _louvain(graph: Graph) -> IntArray:
    from networkx import from_scipy_sparse_array
    from networkx.algorithms.community import louvain_communities

    found = louvain_communities(from_scipy_sparse_array(graph.adjacency), seed=_SEED)
    numbers = np.empty(graph.vertices, dtype=np.int64)
    # of equal size, the one with the vertex that comes first
    for number, members in enumerate(sorted(found, key=lambda each: (-len(each), min(each)))):
        numbers[list(members)] = number
    return numbers


@lru_cache(maxsize=4)
def _spectral(graph: Graph, count: int) -> IntArray:
    from scipy.sparse import csr_matrix
    from sklearn.cluster import SpectralClustering

    if count >= graph.vertices:
        raise InputError(f"spectral:{count} needs more than {count} vertices, got {graph.vertices}")
    matrix = graph.adjacency
    plain = csr_matrix((matrix.data, matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)), matrix.shape)
    model = SpectralClustering(count, affinity="precomputed", assign_labels="cluster_qr", random_state=_SEED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a graph in several pieces, whose pieces are then communities
        label = model.fit_predict(plain)
    order = np.argsort(-np.bincount(label, minlength=count), kind="stable")
    return np.asarray(np.argsort(order)[label], dtype=np.int64)
