r"""Compiled loops of sparse elimination in power series: which entries a factor fills, :math:`LDL^T`, the selected inverse.

Rows of the matrix are those of a symmetric sparse matrix whose diagonal is given apart. A number is a power series in `y` with
as many coefficients as the last axis of the arrays has. Columns of the factor hold their entries in ascending order. The last
vertices, for which there are no ``starts``, are the core: what eliminating all others makes of their matrix stays as it is.
"""

from __future__ import annotations

import numpy as np

from gpcurves.graphs.graph import IntArray
from gpcurves.numerics.compiling import compiled
from gpcurves.numerics.validation import FloatArray


@compiled
def analyse(indptr: IntArray, indices: IntArray) -> tuple[IntArray, IntArray]:
    """Return the elimination tree and the number of entries below the diagonal of each column of the factor (Liu 1990)."""
    n = len(indptr) - 1
    parent = np.full(n, -1, dtype=np.int64)
    counts = np.zeros(n, dtype=np.int64)
    seen = np.full(n, -1, dtype=np.int64)
    for row in range(n):
        seen[row] = row
        for entry in range(indptr[row], indptr[row + 1]):
            column = indices[entry]
            # Row `row` of the factor has an entry in every column on the way up the tree.
            while column < row and seen[column] != row:
                if parent[column] == -1:
                    parent[column] = row
                counts[column] += 1
                seen[column] = row
                column = parent[column]
    return parent, counts


@compiled
def _add_product(total: FloatArray, x: FloatArray, y: FloatArray, sign: float) -> None:
    for q in range(len(total)):
        value = 0.0
        for j in range(q + 1):
            value += x[j] * y[q - j]
        total[q] += sign * value


@compiled
def _divide(x: FloatArray, y: FloatArray, quotient: FloatArray) -> None:
    for q in range(len(x)):
        value = x[q]
        for j in range(q):
            value -= quotient[j] * y[q - j]
        quotient[q] = value / y[0]


@compiled
def factorise_series(
    indptr: IntArray,
    indices: IntArray,
    values: FloatArray,
    diagonal: float,
    order: int,
    starts: IntArray,
    parent: IntArray,
) -> tuple[IntArray, FloatArray, FloatArray, FloatArray]:
    r"""Return rows and values of `L`, column by column, and the diagonal of `D`, of :math:`LDL^T = A - yI`, up to the power ``order`` - 1.

    Last comes the lower triangle of the matrix of the core.

    Row by row (Davis 2005, algorithm 849): a row of the factor solves a triangular system whose pattern is read off the
    elimination tree.
    """
    n, first = len(indptr) - 1, len(starts) - 1
    rows = np.empty(starts[first], dtype=np.int64)
    L = np.empty((starts[first], order))
    pivots = np.zeros((n, order))
    core = np.zeros((n - first, n - first, order))
    ends = starts[:first].copy()
    work = np.zeros((n, order))
    seen = np.full(n, -1, dtype=np.int64)
    pattern = np.empty(n, dtype=np.int64)
    path = np.empty(n, dtype=np.int64)
    for row in range(n):
        seen[row] = row
        top = n
        pivots[row, 0] = diagonal
        if order > 1:
            pivots[row, 1] = -1.0
        for entry in range(indptr[row], indptr[row + 1]):
            column = indices[entry]
            if column >= row:
                continue
            work[column, 0] += values[entry]
            length = 0
            while column < first and seen[column] != row:
                path[length] = column
                length += 1
                seen[column] = row
                column = parent[column]
            while length > 0:  # columns must come before those that they change, which are above them in the tree
                length -= 1
                top -= 1
                pattern[top] = path[length]
        for place in range(top, n):
            column = pattern[place]
            own = work[column]
            for entry in range(starts[column], ends[column]):
                _add_product(work[rows[entry]], L[entry], own, -1.0)
            new = ends[column]
            rows[new] = row
            _divide(own, pivots[column], L[new])
            _add_product(pivots[row], L[new], own, -1.0)
            ends[column] += 1
            own[:] = 0.0
        if row >= first:
            core[row - first, : row - first] = work[first:row]
            core[row - first, row - first] = pivots[row]
            work[first:row] = 0.0
    return rows, L, pivots[:first], core


@compiled
def invert_series(starts: IntArray, rows: IntArray, L: FloatArray, pivots: FloatArray, core: FloatArray) -> FloatArray:
    r"""Return the last coefficients of the diagonal of :math:`(LDL^T)^{-1}` before the core, from the entries that the factor fills.

    :math:`Z = D^{-1}L^{-1} + (I-L^T)Z` gives a column from those behind it: :math:`Z_{ij} = -\sum_kZ_{ik}L_{kj}` and
    :math:`Z_{jj} = 1/D_j - \sum_kL_{kj}Z_{kj}`, with all entries among those that are filled. ``core`` is Z among the last vertices.
    """
    first_core, order = pivots.shape
    n = first_core + len(core)
    Z = np.zeros_like(L)
    own = np.zeros((first_core, order))
    where = np.full(n, -1, dtype=np.int64)  # the entry of the present column in each row
    one = np.zeros(order)
    one[0] = 1.0
    for column in range(first_core - 1, -1, -1):
        first, last = starts[column], starts[column + 1]
        for entry in range(first, last):
            where[rows[entry]] = entry
        for entry in range(first, last):
            k = rows[entry]
            if k >= first_core:  # rows ascend: all further ones are in the core, too
                for other in range(entry, last):
                    between = core[k - first_core, rows[other] - first_core]
                    _add_product(Z[entry], between, L[other], -1.0)
                    if other > entry:
                        _add_product(Z[other], between, L[entry], -1.0)
                continue
            _add_product(Z[entry], own[k], L[entry], -1.0)
            for other in range(starts[k], starts[k + 1]):
                hit = where[rows[other]]
                if hit >= 0:
                    _add_product(Z[hit], Z[other], L[entry], -1.0)
                    _add_product(Z[entry], Z[other], L[hit], -1.0)
        _divide(one, pivots[column], own[column])
        for entry in range(first, last):
            _add_product(own[column], L[entry], Z[entry], -1.0)
            where[rows[entry]] = -1
    return own[:, order - 1].copy()
