"""Inducing inputs: how many, where they are placed, and the options that say so."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from gpcurves.errors import InputError
from gpcurves.graphs.graph import IntArray
from gpcurves.methods.base import MethodOptions
from gpcurves.numerics.cholesky import DIGITS, factorise_pivoted, solve_lower
from gpcurves.numerics.parameters import parameter
from gpcurves.numerics.validation import FloatArray, integer, points
from gpcurves.problem import Problem

Placement = Literal["random", "greedy", "grid", "k-means"]
USUAL = 20  # inducing points if nothing is said, and n allows for so many
_ROUNDING = DIGITS * np.finfo(float).eps
"""Share of the largest prior variance below which what an inducing input adds is rounding."""


def _counts(name: str, value: Any) -> int | tuple[int, ...]:
    if not isinstance(value, list | tuple | range | np.ndarray) or np.ndim(value) == 0:
        return integer(name, value, 1)
    listed = tuple(integer(name, each, 1) for each in (value.tolist() if isinstance(value, np.ndarray) else value))
    if not listed:
        raise InputError(f"{name} must not be empty")
    if len(set(listed)) < len(listed):
        twice = next(each for each in listed if listed.count(each) > 1)
        raise InputError(f"{name} must be different numbers of inducing points, got {twice} twice")
    return listed


def _different(name: str, value: Any) -> tuple[tuple[float, ...], ...]:
    rows = tuple(map(tuple, points(name, value).tolist()))
    for at, row in enumerate(rows):
        if (first := rows.index(row)) < at:
            raise InputError(f"{name} must be different inputs, but row {at} repeats row {first}: give each once")
    return rows


@dataclass(frozen=True)
class CountOptions(MethodOptions):
    """How many inducing points there are."""

    m: int | tuple[int, ...] | None = parameter(
        None,
        help="Numbers of inducing points: a list, start:stop:step or start:stop:log:count  [20, at most n]",
        check=_counts,
        flag="inducing",
    )

    def pairs(self, sizes: FloatArray) -> tuple[FloatArray, IntArray]:
        """Return n and m of every point of a curve: each n with each m if m is a list."""
        if self.m is None:
            return sizes, np.minimum(sizes, USUAL).astype(np.int64)
        if isinstance(self.m, int):
            return sizes, np.full(len(sizes), self.m)
        n = np.array(list(dict.fromkeys(sizes.tolist())))
        return np.repeat(n, len(self.m)), np.tile(self.m, len(n))

    def check_sizes(self, sizes: FloatArray) -> None:
        """Refuse more inducing points than there are examples at the largest n."""
        n, m = float(sizes.max()), int(self.pairs(sizes)[1].max())
        if m > n:
            raise InputError(f"there must be at most n inducing points, got m = {m} for at most n = {n:g} examples")


@dataclass(frozen=True)
class InducingOptions(CountOptions):
    """How many inducing points there are, and where."""

    placement: Placement = parameter(
        "random",
        help="Inducing inputs: a random subset of the training inputs, a greedy one (each where the variance given the others "
        "is largest), a regular grid over them, or the centres of k-means",
    )
    points: FloatArray | None = parameter(
        None,
        help="Your own inducing inputs, one per row, instead of their number and placement",
        check=_different,
        flag="inducing-points",
    )

    def objection(self, problem: Problem, given: Collection[str]) -> str | None:
        if self.points is not None and "points" in given:
            for other in ("m", "placement"):
                if other in given:
                    return f"give points or {other}, not both: points are all inducing inputs"
            if len(self.points[0]) != problem.inputs.dim:
                return f"points must have {problem.inputs.dim} dimensions as the inputs, got {len(self.points[0])}"
        return super().objection(problem, given)

    def pairs(self, sizes: FloatArray) -> tuple[FloatArray, IntArray]:
        if self.points is not None:
            return sizes, np.full(len(sizes), len(self.points))
        return super().pairs(sizes)


@dataclass(frozen=True)
class Inducing:
    """Inducing inputs, and whether they are training inputs as well."""

    inputs: FloatArray
    trained: bool


def place(problem: Problem, options: InducingOptions, m: int, pool: FloatArray, seed: int) -> Inducing:
    """Return m inducing inputs for a data set, of which the pool is a part: its first inputs are a random subset of it."""
    if options.points is not None:
        return Inducing(np.array(options.points), False)
    if options.placement == "random":
        return Inducing(pool[:m], True)
    if options.placement == "greedy":
        return Inducing(pool[choose_uncertain(problem, pool, m)], True)
    if options.placement == "grid":
        return Inducing(_grid(pool, m), False)
    return Inducing(_centres(pool, m, seed), False)


def choose_uncertain(problem: Problem, pool: FloatArray, m: int) -> IntArray:
    """Return the positions of m candidates, each of which has the largest variance given those before it.

    These are the pivots of a Cholesky factor of the covariances between all candidates, of which only m rows are computed.
    """
    variance = problem.inputs.variances(problem.kernel, pool).copy()
    least = _ROUNDING * float(variance.max())
    rows = np.empty((m, len(pool)))
    chosen: list[int] = []
    for i in range(m):
        best = int(np.argmax(variance))
        if variance[best] <= least:  # all others are known up to rounding, so that any of them will do
            left = np.setdiff1d(np.arange(len(pool)), chosen)
            return np.concatenate((chosen, left[: m - i])).astype(np.int64)
        row = problem.inputs.kernel_matrix(problem.kernel, pool[best : best + 1], pool)[0]
        rows[i] = (row - rows[:i, best] @ rows[:i]) / np.sqrt(variance[best])
        variance -= rows[i] ** 2
        variance[best] = -1.0
        chosen.append(best)
    return np.array(chosen, dtype=np.int64)


def _grid(pool: FloatArray, m: int) -> FloatArray:
    """Return the centres of equal cells of the smallest box around the pool."""
    dim = pool.shape[1]
    side = round(m ** (1 / dim))
    if side**dim != m:
        power = {2: "a square", 3: "a cube"}.get(dim, f"an integer to the power of {dim}")
        raise InputError(f"a grid in {dim} dimensions needs m to be {power}, such as {side**dim}, got {m}")
    low, high = pool.min(axis=0), pool.max(axis=0)
    cells = np.stack(np.meshgrid(*[(np.arange(side) + 0.5) / side] * dim, indexing="ij"), axis=-1).reshape(m, dim)
    return np.asarray(low + cells * (high - low))


def _centres(pool: FloatArray, m: int, seed: int) -> FloatArray:
    different = np.unique(pool, axis=0)
    if len(different) <= m:
        return different
    from sklearn.cluster import KMeans

    return np.asarray(KMeans(m, n_init=1, random_state=seed % 2**32).fit(pool).cluster_centers_)


@dataclass(frozen=True)
class SparseFeatures:
    r"""The degenerate prior :math:`Q(x,x') = \varphi(x)\cdot\varphi(x')` with :math:`\varphi(x) = L^{-1}C(U,x)`, :math:`C_{UU} = LL^T`.

    Inducing inputs that add nothing to others beyond rounding are left out, which repeated and very close ones are.
    """

    problem: Problem
    kernel: Any
    inputs: FloatArray
    L: FloatArray

    @classmethod
    def of(cls, problem: Problem, inducing: FloatArray, kernel: Any = None) -> SparseFeatures:
        """Return the features of inducing inputs, of the student's kernel unless another one is given."""
        chosen = problem.kernel if kernel is None else kernel
        K = problem.inputs.kernel_matrix(chosen, inducing)
        L, order = factorise_pivoted(K, _ROUNDING * float(K.diagonal().max()))
        rank = L.shape[1]
        return cls(problem, chosen, inducing[order[:rank]], np.asfortranarray(L[:rank]))

    @property
    def count(self) -> int:
        return len(self.inputs)

    def at(self, X: FloatArray) -> FloatArray:
        """Return the features at the rows of X, one row per feature."""
        return solve_lower(self.L, self.problem.inputs.kernel_matrix(self.kernel, self.inputs, X))
