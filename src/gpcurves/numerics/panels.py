r"""The factor and the inverse of a covariance matrix at the speed of matrix products, in the memory of its upper triangle.

The triangle is kept as panels: a few rows each, from the diagonal to the right, stored by columns. Any columns of a panel lie side
by side in memory, so BLAS reads and writes them without copies. LAPACK's own inverse of a triangle reaches half this speed,
and needs the whole square. Below the diagonal of the square at the beginning of each panel there are finite numbers without
meaning.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from scipy.linalg import blas, lapack

from gpcurves.numerics.validation import FloatArray

_WIDTH = 100  # rows of a panel, of which products are fast; more would be wasted below the diagonal
_PANELS = 10  # of larger matrices, whose products gain from wider panels while little is wasted


class Panels:
    """The upper triangle of a symmetric matrix in panels, replaced in turn by its factor and by its inverse."""

    def __init__(self, size: int) -> None:
        self.size = size
        count = min(_PANELS, max(1, round(size / _WIDTH)))
        self.width = -(-size // count)  # of the widest
        edges = [size * k // count for k in range(count + 1)]
        self.spans = list(pairwise(edges))
        self.rows: list[FloatArray] = [np.zeros((stop - start, size - start), order="F") for start, stop in self.spans]
        self._work = np.empty(size * self.width)

    def __iter__(self) -> Iterator[tuple[int, int, FloatArray]]:
        """Iterate over panels: their first row, the one after their last, and the numbers from the first column on."""
        return ((start, stop, rows) for (start, stop), rows in zip(self.spans, self.rows, strict=True))

    def borrow(self, rows: int, columns: int) -> FloatArray:
        """Return memory of the shape of at most a panel, until the next call."""
        return self._work[: rows * columns].reshape((rows, columns), order="F")

    def factorise(self) -> float:
        r"""Replace the matrix by `U` with :math:`K = U^TU`, and return :math:`\ln\det K`; infinity if there is no factor."""
        logdet = 0.0
        panels = list(self)
        for k, (start, stop, R) in enumerate(panels):
            width = stop - start
            square, rest = R[:, :width], R[:, width:]
            for first, _, above in panels[:k]:
                A, B = above[:, start - first : stop - first], above[:, stop - first :]
                blas.dsyrk(-1.0, A, beta=1.0, c=square, trans=1, overwrite_c=1)
                if stop < self.size:
                    blas.dgemm(-1.0, A, B, beta=1.0, c=rest, trans_a=1, overwrite_c=1)
            info = lapack.dpotrf(square, lower=0, clean=0, overwrite_a=1)[1]
            if info:
                return math.inf
            logdet += 2.0 * float(np.log(square.diagonal()).sum())
            if stop < self.size:
                blas.dtrsm(1.0, square, rest, trans_a=1, overwrite_b=1)
        return logdet

    def whiten(self, y: FloatArray) -> FloatArray:
        r"""Return :math:`U^{-T}y`."""
        x = y.copy()
        for start, stop, R in self:
            width = stop - start
            blas.dtrsv(R[:, :width], x[start:stop], trans=1, overwrite_x=1)
            if stop < self.size:
                blas.dgemv(-1.0, R[:, width:], x[start:stop], beta=1.0, y=x[stop:], trans=1, overwrite_y=1)
        return x

    def solve_upper(self, y: FloatArray) -> FloatArray:
        r"""Return :math:`U^{-1}y`."""
        x = y.copy()
        for start, stop, R in reversed(list(self)):
            width = stop - start
            if stop < self.size:
                blas.dgemv(-1.0, R[:, width:], x[stop:], beta=1.0, y=x[start:stop], overwrite_y=1)
            blas.dtrsv(R[:, :width], x[start:stop], overwrite_x=1)
        return x

    def invert(self) -> None:
        r"""Replace `U` by :math:`K^{-1} = U^{-1}U^{-T}`."""
        self._invert_factor()
        self._square_factor()

    def _invert_factor(self) -> None:
        r"""Replace `U` by :math:`W = U^{-1}`, from the last panel up: :math:`W_{kj} = -W_{kk}\sum_{k<i\le j}U_{ki}W_{ij}`."""
        panels = list(self)
        for k in reversed(range(len(panels))):
            start, stop, R = panels[k]
            square, rest = R[:, : stop - start], R[:, stop - start :]
            lapack.dtrtri(square, lower=0, overwrite_c=1)
            if stop == self.size:
                continue
            U = self.borrow(*rest.shape)
            U[...] = rest
            for first, last, W in panels[k + 1 :]:  # i = j: triangles can multiply in place
                blas.dtrmm(1.0, W[:, : last - first], R[:, first - start : last - start], side=1, overwrite_b=1)
            for first, last, W in panels[k + 1 : -1]:
                left, sums = U[:, first - stop : last - stop], R[:, last - start :]
                blas.dgemm(1.0, left, W[:, last - first :], beta=1.0, c=sums, overwrite_c=1)
            blas.dtrmm(-1.0, square, rest, overwrite_b=1)

    def _square_factor(self) -> None:
        r"""Replace `W` by the upper triangle of :math:`WW^T`, from the first panel down: nothing reads it after."""
        panels = list(self)
        for k, (start, stop, R) in enumerate(panels):
            width = stop - start
            lapack.dlauum(R[:, :width], lower=0, overwrite_c=1)
            if stop < self.size:
                blas.dsyrk(1.0, R[:, width:], beta=1.0, c=R[:, :width], overwrite_c=1)
            for first, last, W in panels[k + 1 :]:
                block = R[:, first - start : last - start]
                blas.dtrmm(1.0, W[:, : last - first], block, side=1, trans_a=1, overwrite_b=1)
                if last < self.size:
                    tail = W[:, last - first :]
                    blas.dgemm(1.0, R[:, last - start :], tail, trans_b=1, beta=1.0, c=block, overwrite_c=1)
