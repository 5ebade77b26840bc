r"""A kernel on a graph: prior variances, rows and products without the whole matrix, and dense algebra on small graphs.

There are three ways, of which the one with the least work is taken: products with `T`, one for each step of the kernel's series;
the eigenvectors of `T`, which all kernels on a graph share (`Graph.eigen`); and for powers of a resolvent a sparse factorisation
(`graphs.elimination`). What takes less than half a second is always done by products, which are the most accurate.

Normalisation (Urry & Sollich 2013, section 3.2): :math:`C_{ij} = \hat C_{ij}/\sqrt{\kappa_i\kappa_j}` with
:math:`\kappa_i = \langle\hat C_{jj}\rangle_j` ("global"), :math:`\hat C_{ii}` ("local") or 1 ("none").
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gpcurves.errors import InputError
from gpcurves.graphs.elimination import Elimination, elimination, factorise, inverse_diagonal
from gpcurves.graphs.graph import Graph, IntArray, check_dense
from gpcurves.numerics.memory import check_memory
from gpcurves.numerics.validation import FloatArray, frozen

if TYPE_CHECKING:
    from gpcurves.graphs.kernels import GraphKernel

Rows = Any  # rows of vectors over the vertices: a dense array or a SciPy sparse matrix
Step = Callable[[Rows], Rows]  # multiplies rows by `T`
_ENTRIES = 4_000_000  # numbers that a block of rows may hold
_DENSE = 0.08  # share of non-zero entries from which on a block of rows is cheaper as a dense array
_PROBES = 64  # vertices at which the number of vertices within reach is measured
_QUICK = 3e7  # numbers that products with T may write, at 16 ns each, before other ways are looked for
_EIGEN = 1 / 40  # work for eigenvectors relative to the cube of the vertices, in such numbers
_MOST_DENSE = 6_000  # vertices up to which eigenvectors are considered
_MOST_FILL = 1e8  # entries of a factor that are considered
_FACTOR, _SOLVE = (
    0.15,
    0.5,
)  # the same for multiplications of a sparse factorisation, and entries of a factor in a solution
_PRODUCTS = 50  # how many products a factorisation is expected to serve
_TINY = 1e-6
"""Share of the largest prior variance below which those from eigenvectors lose digits: they are computed by products instead."""


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
        """The kernel's diagonal before normalisation, by whichever way takes the least work."""
        way, _ = self._cheapest
        linked = np.flatnonzero(~self.graph.isolated)
        result = np.full(self.graph.vertices, self.kernel.eigenvalue(np.zeros(1))[0])
        if way == "elimination":
            assert self.kernel.resolvent is not None
            assert self._elimination is not None
            result[linked] = inverse_diagonal(self.graph, *self.kernel.resolvent, self._elimination)[linked]
        elif way == "eigenvectors":
            t, U = self.graph.eigen
            result[linked] = np.square(U[linked]) @ self.kernel.eigenvalue(t)
            lost = linked[result[linked] < _TINY * result.max()]
            result[lost] = self._diagonal_at(lost)
        else:
            result[linked] = self._diagonal_at(linked)
        return frozen(result)

    def diagonal_at(self, vertices: IntArray) -> FloatArray:
        """Return some entries of the kernel's diagonal before normalisation, without computing the others."""
        result = np.full(len(vertices), self.kernel.eigenvalue(np.zeros(1))[0])
        linked = ~self.graph.isolated[vertices]
        result[linked] = self._diagonal_at(vertices[linked])
        return result

    def _diagonal_at(self, vertices: IntArray) -> FloatArray:
        """Return entries of the diagonal from sparse products in blocks of rows."""
        # The diagonal needs walks of half the length, which meet few vertices of a large graph: rows start sparse, unless
        # the walk from a typical vertex covers much of the graph.
        result, dense = np.empty(len(vertices)), self._row_size > _DENSE * self.graph.vertices
        size = max(1, int(_ENTRIES / self._row_size))
        for start in range(0, len(vertices), size):
            block = vertices[start : start + size]
            result[start : start + size] = self.kernel.diagonal(self._units(block, dense=dense), self._step)
        return result

    @cached_property
    def _cheapest(self) -> tuple[str, float]:
        """The way to the diagonal that takes the least work, and about how many numbers it writes."""
        V = self.graph.vertices
        work = {"products": self._row_size * int((~self.graph.isolated).sum()) * self.kernel.reach}
        if work["products"] > _QUICK:
            if V <= _MOST_DENSE:
                work["eigenvectors"] = _EIGEN * float(V) ** 3
            if self.kernel.resolvent is not None and self._elimination is not None:
                exponent = self.kernel.resolvent.exponent
                if self._elimination.fill * exponent <= _MOST_FILL:
                    work["elimination"] = self._elimination.work * exponent
        return min(work.items(), key=lambda each: each[1])

    @cached_property
    def _elimination(self) -> Elimination | None:
        return elimination(self.graph)

    @property
    def diagonal_work(self) -> float:
        """About how many numbers are written to get the diagonal, at 16 ns each."""
        return self._cheapest[1]

    @property
    def factors(self) -> Any | None:
        r"""A sparse factorisation of :math:`I + \alpha L` for powers of a resolvent, or None if products take less work."""
        return self._factors if self._prefers_factors(_PRODUCTS) else None

    @cached_property
    def _factors(self) -> Any:
        assert self.kernel.resolvent is not None
        return factorise(self.graph, self.kernel.resolvent.factor)

    def _prefers_factors(self, count: int) -> bool:
        """Tell whether so many products take less work by a factorisation; the work of a former one is not counted again."""
        if self.kernel.resolvent is None:
            return False
        work = self.graph.vertices * float(self.kernel.reach)
        if count * work < _QUICK or self._elimination is None or self._elimination.fill > _MOST_FILL:
            return False
        solving = _SOLVE * self._elimination.solving * self.kernel.resolvent.exponent
        factorising = 0.0 if "_factors" in self.__dict__ else _FACTOR * self._elimination.work
        return solving + factorising / count <= work

    def _multiply(self, rows: FloatArray, count: int = _PRODUCTS) -> FloatArray:
        """Return rows times the kernel before normalisation; ``count`` rows or more are expected in all."""
        if rows.size == 0 or not self._prefers_factors(max(count, _PRODUCTS)):
            product = np.asarray(self.kernel.apply(rows, self._step))
            if (alone := self.graph.isolated).any():  # a long series loses digits that their small variances need
                product[:, alone] = self.kernel.eigenvalue(np.zeros(1))[0] * rows[:, alone]
            return product
        assert self.kernel.resolvent is not None
        columns = rows.T
        for _ in range(self.kernel.resolvent.exponent):
            columns = self._factors.solve(columns)
        return np.asarray(columns.T)

    @cached_property
    def normaliser(self) -> FloatArray:
        r""":math:`\kappa_i`; the kernel is divided by :math:`\sqrt{\kappa_i\kappa_j}`. It includes one over the kernel's variance."""
        if self.kernel.normalise == "none":
            return frozen(np.full(self.graph.vertices, 1 / self.kernel.variance))
        local = self.kernel.normalise == "local"
        kappa = self.raw_diagonal if local else np.full(self.graph.vertices, self.raw_diagonal.mean())
        if kappa.min() <= self.kernel.rounding:  # a quotient of rounding errors would look like a covariance
            raise InputError(
                f"{self.kernel!r} gives vertex {self.graph.label(int(np.argmin(kappa)))} a prior variance of 0, by which "
                f"{self.kernel.normalise} normalisation would divide: add a constant to the polynomial"
            )
        return frozen(kappa / self.kernel.variance)

    def normalised_by(self, kappa: npt.ArrayLike) -> GraphCovariance:
        """Return the same kernel divided by given numbers, where the true normaliser would take too long."""
        other = GraphCovariance(self.kernel, self.graph)
        other.__dict__["normaliser"] = frozen(
            np.array(np.broadcast_to(kappa, (self.graph.vertices,)), dtype=np.float64)
        )
        return other

    @cached_property
    def variances(self) -> FloatArray:
        """The prior variance of each vertex."""
        if self.kernel.normalise == "local":
            return frozen(np.full(self.graph.vertices, self.kernel.variance))
        return frozen(self.raw_diagonal / self.normaliser)

    def __matmul__(self, vectors: FloatArray) -> FloatArray:
        """Return the product with a vector, or with the columns of an array, by sparse products."""
        given = np.asarray(vectors, dtype=np.float64)
        if given.ndim not in (1, 2) or given.shape[0] != self.graph.vertices:
            raise InputError(f"vectors must have {self.graph.vertices} rows, one per vertex, got {given.shape}")
        root = 1 / np.sqrt(self.normaliser)
        rows = np.atleast_2d(given.T) * root
        product = self._multiply(rows) * root
        return product[0] if given.ndim == 1 else product.T

    def roughly(self, share: float) -> tuple[Callable[[FloatArray], FloatArray], int] | None:
        """Return a product with columns up to a share of the largest eigenvalue, and its steps; None if a factorisation is quicker."""
        if self._prefers_factors(_PRODUCTS):
            return None
        size = np.abs(self.kernel.expansion)
        # No Chebyshev polynomial exceeds 1, so that the coefficients left out bound the error.
        left_out = np.append(np.cumsum(size[::-1])[::-1][1:], 0.0)
        kept = self.kernel.expansion[: int(np.argmax(left_out <= share * size.sum())) + 1]
        root = 1 / np.sqrt(self.normaliser)[:, None]
        T = self.graph.T
        return lambda columns: root * chebyshev_series(kept, root * columns, lambda x: T @ x), len(kept) - 1

    def rows(self, vertices: object) -> FloatArray:
        """Return rows of the covariance matrix, as an array of shape (rows, vertices)."""
        numbers = np.atleast_1d(np.asarray(vertices))
        V, integers = self.graph.vertices, numbers.ndim == 1 and numbers.dtype.kind in "iu"
        if not integers or ((numbers < 0) | (numbers >= V)).any():
            raise InputError(f"vertices must be numbers between 0 and {V - 1}")
        what = f"{len(numbers)} rows of a covariance over {V} vertices"
        check_memory(24.0 * len(numbers) * V, what, "ask for fewer rows")
        root = 1 / np.sqrt(self.normaliser)
        if self._use_eigenvectors(len(numbers)):
            return np.asarray(self._rows_by_eigenvectors(numbers) * root * root[numbers, None])
        result = np.empty((len(numbers), V))
        size = max(1, _ENTRIES // V)
        for start in range(0, len(numbers), size):
            block = numbers[start : start + size]
            raw = self._multiply(self._units(block, dense=True), len(numbers))
            result[start : start + size] = raw * root * root[block, None]
        return result

    def _use_eigenvectors(self, count: int) -> bool:
        """Tell whether so many rows take less work by eigenvectors than by products."""
        V = self.graph.vertices
        work = count * V * 2.0 * self.kernel.reach
        if V > _MOST_DENSE or work <= max(_QUICK, _EIGEN * float(V) ** 3) or self.factors is not None:
            return False
        return len(self._tiny) <= V // 4

    @cached_property
    def _tiny(self) -> IntArray:
        """Vertices with prior variances so small that eigenvectors do not give them, nor covariances with them."""
        return np.flatnonzero(self.raw_diagonal < _TINY * self.raw_diagonal.max())

    def _rows_by_eigenvectors(self, numbers: IntArray) -> FloatArray:
        t, U = self.graph.eigen
        rows = np.asarray((U[numbers] * self.kernel.eigenvalue(t)) @ U.T)
        exact = self._multiply(self._units(self._tiny, dense=True))
        rows[:, self._tiny] = exact[:, numbers].T
        place = {vertex: k for k, vertex in enumerate(self._tiny.tolist())}
        for row, vertex in enumerate(numbers.tolist()):
            if vertex in place:
                rows[row] = exact[place[vertex]]
        return rows

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
