r"""Cholesky factors :math:`K = LL^T`: how far they exist in double precision, and triangular solves with them.

Every factor of the package is made here. They differ only in what happens if the matrix is singular to rounding: `factorise`
raises, `factorise_pivoted` leaves out rows that add nothing, and a `Factor` ends where rounding errors take over.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
import numpy.typing as npt
import scipy

from gpcurves.errors import NumericalError
from gpcurves.numerics.validation import FloatArray

DIGITS = 1e3
"""A number is resolved if it exceeds the rounding errors by this factor."""


@dataclass(frozen=True)
class Factor:
    """A factor of a matrix in its given order, whose leading blocks are the factors of the leading blocks of the matrix."""

    L: FloatArray  # lower triangular; what is above the diagonal has no meaning
    size: int  # how many rows the factor holds for

    @classmethod
    def from_matrix(cls, K: FloatArray, margin: float = DIGITS) -> Factor:
        """Factorise in place, up to the first pivot that does not exceed the rounding errors by this factor."""
        if not len(K):
            return cls(K, 0)
        largest = float(K.diagonal().max())
        L, info = scipy.linalg.lapack.dpotrf(K, lower=1, clean=0, overwrite_a=1)
        size = len(K) if info == 0 else info - 1
        # A pivot is what is left of a variance after subtracting one square per earlier row, so that its rounding error grows
        # with the row. LAPACK itself stops only at negative pivots: up to there it would divide by rounding errors.
        pivots = L.diagonal()[:size] ** 2
        drowned = np.flatnonzero(pivots < margin * np.finfo(float).eps * np.arange(1, size + 1) * largest)
        if len(drowned):
            size = int(drowned[0])
        return cls(L[:size, :size], size)

    def whiten(self, B: FloatArray) -> FloatArray:
        r"""Return the lower triangle of :math:`L^{-1}BL^{-T}` for a symmetric `B`."""
        block = np.asfortranarray(B[: self.size, : self.size])
        if self.size == 0:
            return block
        result, info = scipy.linalg.lapack.dsygst(block, self.L, itype=1, lower=1, overwrite_a=1)
        assert info == 0
        return cast(FloatArray, result)

    def solve(self, C: FloatArray) -> FloatArray:
        r"""Return :math:`L^{-1}C` for the first ``size`` rows of `C`."""
        return solve_lower(self.L, C[: self.size])

    def inverse_traces(self) -> FloatArray:
        r"""Return :math:`\mathrm{tr}K_n^{-1}` of the leading blocks for every n from 1 to ``size``."""
        inverse = np.tril(invert_lower(self.L))
        return np.cumsum(np.einsum("ij,ij->i", inverse, inverse))


def factorise(K: FloatArray, *, overwrite: bool = False) -> FloatArray:
    """Return the lower triangular factor; raise `NumericalError` if double precision has none."""
    L, info = scipy.linalg.lapack.dpotrf(K, lower=1, clean=1, overwrite_a=overwrite)
    if info:
        raise NumericalError("the covariances are singular in double precision")
    return cast(FloatArray, L)


def factorise_pivoted(K: FloatArray, tolerance: float) -> tuple[FloatArray, npt.NDArray[np.int64]]:
    """Return the factor of the rows that add more than ``tolerance`` to those before, the largest first.

    The columns of the factor belong to these rows, in the order that is returned besides; its rows to all rows, in this order
    first. A matrix of low rank has a tall factor.
    """
    L, order, rank, info = scipy.linalg.lapack.dpstrf(K, tol=tolerance, lower=1)
    if info < 0 or rank == 0:
        raise NumericalError("the covariances have no Cholesky factor")
    return np.tril(L)[:, :rank], order - 1


def solve_lower(L: FloatArray, right: FloatArray) -> FloatArray:
    r"""Return :math:`L^{-1}R`."""
    block = np.asfortranarray(right)
    return cast(FloatArray, scipy.linalg.blas.dtrsm(1.0, L, block, lower=1)) if len(L) else block


def solve_factorised(L: FloatArray, right: FloatArray) -> FloatArray:
    r"""Return :math:`K^{-1}R` with :math:`K = LL^T`."""
    solution, info = scipy.linalg.lapack.dpotrs(L, right, lower=1)
    assert info == 0
    return cast(FloatArray, solution)


def invert_lower(L: FloatArray) -> FloatArray:
    r"""Return :math:`L^{-1}`, of which only the lower triangle has a meaning."""
    if not len(L):
        return np.empty((0, 0))
    inverse, info = scipy.linalg.lapack.dtrtri(L, lower=1)
    assert info == 0
    return cast(FloatArray, inverse)
