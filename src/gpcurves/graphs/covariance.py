r"""A kernel on a graph: prior variances, rows and products by sparse products, and dense algebra on small graphs.

Normalisation (Urry & Sollich 2013, section 3.2): :math:`C_{ij} = \hat C_{ij}/\sqrt{\kappa_i\kappa_j}` with
:math:`\kappa_i = \langle\hat C_{jj}\rangle_j` ("global"), :math:`\hat C_{ii}` ("local") or 1 ("none").
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gpcurves.errors import InputError
from gpcurves.graphs.graph import Graph, IntArray
from gpcurves.numerics.memory import check_memory
from gpcurves.numerics.validation import FloatArray, frozen

if TYPE_CHECKING:
    from gpcurves.graphs.kernels import GraphKernel

Rows = Any  # rows of vectors over the vertices: a dense array or a SciPy sparse matrix
Step = Callable[[Rows], Rows]  # multiplies rows by `T`
_ENTRIES = 4_000_000  # numbers that a block of rows may hold
_DENSE = 0.08  # share of non-zero entries from which on a block of rows is cheaper as a dense array
_PROBES = 64  # vertices at which the number of vertices within reach is measured


class Resolvent(NamedTuple):
    r"""What a kernel :math:`(I + \alpha L)^{-\nu}` with an integer :math:`\nu` is: its inverse couples only neighbours."""

    factor: float
    exponent: int


@dataclass(frozen=True, eq=False)
class GraphCovariance:
    """The covariance matrix of a kernel on a graph, without forming it unless asked."""

    kernel: GraphKernel
    graph: Graph

    @cached_property
    def raw_diagonal(self) -> FloatArray:
        """The kernel's diagonal before normalisation, from sparse products in blocks of rows."""
        V = self.graph.vertices
        result = np.empty(V)
        result[self.graph.isolated] = self.kernel.eigenvalue(np.zeros(1))[0]
        # The diagonal needs walks of half the length, which meet few vertices of a large graph: rows start sparse, unless
        # the walk from a typical vertex covers much of the graph.
        todo, dense = np.flatnonzero(~self.graph.isolated), self._row_size > _DENSE * V
        size = max(1, int(_ENTRIES / self._row_size))
        for start in range(0, len(todo), size):
            block = todo[start : start + size]
            result[block] = self.kernel.diagonal(self._units(block, dense=dense), self._step)
        return frozen(result)

    @cached_property
    def normaliser(self) -> FloatArray:
        r""":math:`\kappa_i`; the kernel is divided by :math:`\sqrt{\kappa_i\kappa_j}`."""
        if self.kernel.normalise == "none":
            return frozen(np.ones(self.graph.vertices))
        local = self.kernel.normalise == "local"
        kappa = self.raw_diagonal if local else np.full(self.graph.vertices, self.raw_diagonal.mean())
        if kappa.min() <= self.kernel.rounding:  # a quotient of rounding errors would look like a covariance
            raise InputError(
                f"{self.kernel!r} gives vertex {self.graph.label(int(np.argmin(kappa)))} a prior variance of 0, by which "
                f"{self.kernel.normalise} normalisation would divide: add a constant to the polynomial"
            )
        return frozen(kappa)

    @cached_property
    def variances(self) -> FloatArray:
        """The prior variance of each vertex."""
        if self.kernel.normalise == "local":
            return frozen(np.ones(self.graph.vertices))
        return frozen(self.raw_diagonal / self.normaliser)

    def __matmul__(self, vectors: FloatArray) -> FloatArray:
        """Return the product with a vector, or with the columns of an array, by sparse products."""
        given = np.asarray(vectors, dtype=np.float64)
        if given.ndim not in (1, 2) or given.shape[0] != self.graph.vertices:
            raise InputError(f"vectors must have {self.graph.vertices} rows, one per vertex, got {given.shape}")
        root = 1 / np.sqrt(self.normaliser)
        rows = np.atleast_2d(given.T) * root
        product = np.asarray(self.kernel.apply(rows, self._step)) * root
        return product[0] if given.ndim == 1 else product.T

    def rows(self, vertices: object) -> FloatArray:
        """Return rows of the covariance matrix, as an array of shape (rows, vertices)."""
        numbers = np.atleast_1d(np.asarray(vertices))
        V, integers = self.graph.vertices, numbers.ndim == 1 and numbers.dtype.kind in "iu"
        if not integers or ((numbers < 0) | (numbers >= V)).any():
            raise InputError(f"vertices must be numbers between 0 and {V - 1}")
        what = f"{len(numbers)} rows of a covariance over {V} vertices"
        check_memory(24.0 * len(numbers) * V, what, "ask for fewer rows")
        root = 1 / np.sqrt(self.normaliser)
        result = np.empty((len(numbers), V))
        size = max(1, _ENTRIES // V)
        for start in range(0, len(numbers), size):
            block = numbers[start : start + size]
            raw = self.kernel.apply(self._units(block, dense=True), self._step)
            result[start : start + size] = np.asarray(raw) * root * root[block, None]
        return result

    def matrix(self) -> FloatArray:
        """Return the whole covariance matrix as a dense array; refused if memory does not hold it."""
        check_dense(self.graph, 3)
        C = self.rows(np.arange(self.graph.vertices))
        # Rows are computed one by one, and differ from columns by rounding errors. The diagonal is known more accurately.
        C += C.T
        C /= 2
        np.fill_diagonal(C, self.variances)
        return C

    def eigenvalues(self) -> FloatArray:
        """Return all eigenvalues of the covariance matrix, in ascending order, by dense algebra."""
        from scipy.linalg import eigvalsh

        check_dense(self.graph, 3)
        if self.kernel.normalise == "local":
            values = eigvalsh(self.matrix(), overwrite_a=True, check_finite=False)
        else:  # small eigenvalues keep their relative accuracy through the function of t
            t = eigvalsh(self.graph.T.toarray(), overwrite_a=True, check_finite=False)
            values = np.sort(self.kernel.eigenvalue(np.clip(t, -1, 1)) / self.normaliser[0])
        return np.asarray(np.maximum(values, 0.0))

    def _step(self, rows: Rows) -> Rows:
        T = self.graph.T
        if isinstance(rows, np.ndarray):
            return (T @ rows.T).T  # rows are kept as columns in memory, as sparse products need them
        stepped = rows @ T
        filled = stepped.nnz > _DENSE * stepped.shape[0] * stepped.shape[1]
        return stepped.toarray() if filled else stepped

    def _units(self, vertices: IntArray, *, dense: bool) -> Rows:
        from scipy.sparse import csr_array

        count, V = len(vertices), self.graph.vertices
        ones = csr_array((np.ones(count), vertices, np.arange(count + 1)), shape=(count, V), dtype=np.float64)
        return ones.toarray() if dense else ones

    @property
    def diagonal_work(self) -> float:
        """About how many numbers the half walks behind the diagonal hold, over all vertices and steps."""
        return self._row_size * int((~self.graph.isolated).sum()) * self.kernel.reach

    @cached_property
    def _row_size(self) -> float:
        """Estimate how many vertices a walk from one vertex reaches in as many steps as the diagonal takes.

        Vertices that the sample misses may reach more; ``_step`` makes their rows dense on the way.
        """
        todo = np.flatnonzero(~self.graph.isolated)
        if len(todo) == 0:
            return 1.0
        probes = todo[np.linspace(0, len(todo) - 1, min(_PROBES, len(todo))).astype(np.int64)]
        V = self.graph.vertices
        reached: Any = self._units(probes, dense=False)
        for _ in range(self.kernel.reach):
            before = reached.nnz
            reached = reached @ self.graph.adjacency + reached
            reached.data[:] = 1.0
            if reached.nnz > _DENSE * len(probes) * V:
                return float(V)
            if reached.nnz == before:
                break
        return max(1.0, float(reached.nnz) / len(probes))


def check_dense(graph: Graph, matrices: int) -> None:
    """Refuse dense algebra on a graph that memory does not hold, and say what to use instead."""
    V = graph.vertices
    check_memory(
        8.0 * matrices * V * V,
        f"dense algebra on {V} vertices",
        "the method cavity and sparse products (rows, diagonal, matrix times vector) work at any size",
    )


def row_products(left: Rows, right: Rows) -> FloatArray:
    """Return the scalar product of each row with its counterpart."""
    if isinstance(left, np.ndarray) and isinstance(right, np.ndarray):
        return np.asarray(np.einsum("ij,ij->i", left, right))
    return np.asarray((left * right).sum(axis=1)).ravel()


def chebyshev_series(coefficients: FloatArray, rows: Rows, step: Step) -> Rows:
    r"""Return rows times :math:`\sum_q c_q T_q(T)`, by the recursion :math:`T_{q+1} = 2TT_q - T_{q-1}`."""
    total = coefficients[0] * rows
    before, now = rows, step(rows)
    for coefficient in coefficients[1:].tolist():
        total = total + coefficient * now
        before, now = now, 2 * step(now) - before
    return total


def chebyshev_diagonal(coefficients: FloatArray, rows: Rows, step: Step) -> FloatArray:
    r"""Return the scalar product of each row with itself times :math:`\sum_q c_q T_q(T)`, from half as many steps.

    The products are :math:`T_{2q} = 2T_q^2 - 1` and :math:`T_{2q+1} = 2T_qT_{q+1} - T_1`.
    """
    before, now = rows, step(rows)
    even, odd = row_products(rows, rows), row_products(rows, now)
    padded = [*coefficients.tolist(), 0.0, 0.0]
    total = padded[0] * even + padded[1] * odd
    for q in range(1, (len(coefficients) + 1) // 2):
        total += padded[2 * q] * (2 * row_products(now, now) - even)
        if 2 * q + 1 < len(coefficients):
            before, now = now, 2 * step(now) - before
            total += padded[2 * q + 1] * (2 * row_products(before, now) - odd)
    return np.asarray(total)
