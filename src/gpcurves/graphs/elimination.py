r"""Sparse factorisations of :math:`I + \alpha L`: solutions, and the diagonal of powers of the inverse.

Vertices are eliminated in an order of least degree. Which entries this fills depends on the graph alone (`elimination`).
Planar graphs, grids and most networks of pipes and cables fill little. Random graphs fill nearly everything from some vertex on:
the vertices that are left then are the *core*, which dense algebra inverts many times faster than sparse loops.

**Diagonals of powers.** The matrix :math:`A - yI` with a formal variable `y` has the inverse :math:`\sum_k y^kA^{-k-1}`. Its
factors :math:`LDL^T` and the entries of its inverse are computed as power series in `y`, so that one pass gives the diagonal of
:math:`A^{-1}` to :math:`A^{-\nu}`. Only those entries of the inverse are computed that the factor fills (Takahashi, Fagan & Chin
1973), at the cost of the factorisation itself. Off the diagonal `A` has no positive entries, so that no terms of these series
cancel beyond the first.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from gpcurves.graphs.graph import Graph, IntArray, Sparse
from gpcurves.numerics.validation import FloatArray

_ORDERED = (
    30_000  # vertices up to which an order is always looked for; random graphs take a second, and far longer beyond
)
_WIDEST = 2_000
"""Average distance over which a banded order couples vertices; if it is more, no order of a larger graph is looked for."""
_FILLED = 0.5  # share of the entries of a column that must be filled for it to belong to the core
_LARGEST_CORE = 6_000  # vertices; dense matrices of this size are held
_DENSE = 0.2  # time per entry or multiplication in the core, over that elsewhere (measured)
_OPTIONS: dict[str, Any] = {
    "permc_spec": "MMD_AT_PLUS_A",
    "diag_pivot_thresh": 0.0,  # the matrix is positive definite: pivots stay on the diagonal
    "options": {"SymmetricMode": True},
}


@dataclass(frozen=True, eq=False)
class Elimination:
    """An order in which vertices are eliminated, and what it fills."""

    order: IntArray  # the vertices, first eliminated first
    parent: (
        IntArray  # the first vertex below the diagonal of each column of the factor, by position; -1 if there is none
    )
    counts: IntArray  # entries below the diagonal of each column of the factor

    @property
    def fill(self) -> int:
        """Entries below the diagonal of the factor."""
        return int(self.counts.sum())

    @cached_property
    def core(self) -> int:
        """How many of the last vertices are coupled to most of those behind them."""
        behind = np.arange(len(self.counts))[::-1]
        sparse = np.flatnonzero(self.counts < _FILLED * behind)
        return min(len(self.counts) - 1 - int(sparse.max(initial=-1)), _LARGEST_CORE)

    @property
    def work(self) -> float:
        """Multiplications of a factorisation; those in the core count by the time they take."""
        return self._weigh(self.counts.astype(np.float64) ** 2)

    @property
    def solving(self) -> float:
        """Entries of the factor that a solution reads; those in the core count by the time they take."""
        return self._weigh(self.counts.astype(np.float64))

    def _weigh(self, numbers: FloatArray) -> float:
        first = len(numbers) - self.core
        return float(numbers[:first].sum() + _DENSE * numbers[first:].sum())


def shifted(graph: Graph, factor: float) -> Sparse:
    r"""Return :math:`I + \alpha L` as a sparse matrix."""
    from scipy.sparse import eye_array

    return ((1 + factor) * eye_array(graph.vertices) - factor * graph.T).tocsc()


@lru_cache(maxsize=4)
def elimination(graph: Graph) -> Elimination | None:
    """Return an order of elimination, or None if the graph is so large and entangled that none is worth looking for."""
    if graph.vertices > _ORDERED and _width(graph) > _WIDEST:
        return None
    from scipy.sparse.linalg import spilu

    # An incomplete factorisation that drops everything costs no more than the order of its columns.
    incomplete = spilu(shifted(graph, 1.0), drop_tol=1.0, fill_factor=1.0, **_OPTIONS)
    order = np.argsort(incomplete.perm_c).astype(np.int64)
    ordered = graph.T[order][:, order]
    parent, counts = _analyse(ordered.indptr.astype(np.int64), ordered.indices.astype(np.int64))
    return Elimination(order, parent, counts)


def _width(graph: Graph) -> float:
    """Return over how many positions edges reach back in a banded order, on average over vertices."""
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    place = np.empty(graph.vertices, dtype=np.int64)
    place[reverse_cuthill_mckee(graph.adjacency, symmetric_mode=True)] = np.arange(graph.vertices)
    ends = np.append(place[graph.adjacency.indices], 0)  # isolated vertices at the end need one more
    first = np.minimum.reduceat(ends, np.minimum(graph.adjacency.indptr[:-1], len(ends) - 1))
    return float(np.maximum(place - np.where(graph.isolated, place, first), 0).mean())


def factorise(graph: Graph, factor: float, gains: FloatArray | None = None) -> Any:
    r"""Return SciPy's factorisation of :math:`I + \alpha L`, plus a diagonal if given, whose ``solve`` takes columns."""
    from scipy.sparse import diags_array
    from scipy.sparse.linalg import splu

    matrix = shifted(graph, factor)
    return splu(matrix if gains is None else (matrix + diags_array(gains)).tocsc(), **_OPTIONS)


def inverse_diagonal(graph: Graph, factor: float, exponent: int, ordered: Elimination) -> FloatArray:
    r"""Return the diagonal of :math:`(I + \alpha L)^{-\nu}`."""
    from gpcurves.graphs.selected import factorise_series, invert_series

    T = graph.T[ordered.order][:, ordered.order]
    first = graph.vertices - ordered.core
    starts = np.append(0, np.cumsum(ordered.counts[:first])).astype(np.int64)
    pattern = T.indptr.astype(np.int64), T.indices.astype(np.int64), -factor * T.data
    rows, L, pivots, core = factorise_series(*pattern, 1 + factor, exponent, starts, ordered.parent)
    inverse = _invert_core(core)
    result = np.empty(graph.vertices)
    result[ordered.order[:first]] = invert_series(starts, rows, L, pivots, inverse)
    result[ordered.order[first:]] = np.diagonal(inverse[:, :, -1])
    return result


def _invert_core(core: FloatArray) -> FloatArray:
    r"""Return the inverse of a dense matrix of power series, of which the lower triangle is given.

    :math:`\sum_qS_qy^q` has the inverse with :math:`Z_0 = S_0^{-1}` and :math:`Z_q = -Z_0\sum_{j\ge1}S_jZ_{q-j}`.
    """
    from scipy.linalg import cho_solve, cholesky

    if core.size == 0:
        return core
    S = [part + np.tril(part, -1).T for part in np.moveaxis(core, -1, 0)]
    Z = [cho_solve((cholesky(S[0], lower=True, check_finite=False), True), np.eye(len(core)), check_finite=False)]
    for q in range(1, len(S)):
        Z.append(-Z[0] @ sum(S[j] @ Z[q - j] for j in range(1, q + 1)))
    return np.ascontiguousarray(np.moveaxis(np.array(Z), 0, -1))


def _analyse(indptr: IntArray, indices: IntArray) -> tuple[IntArray, IntArray]:
    from gpcurves.graphs.selected import analyse

    return analyse(indptr, indices)
