r"""Elimination in many small symmetric quasi-definite matrices at once, with a fixed pattern of pivots.

A batch is an array of shape (packed lower triangle, lanes). One lane is one matrix. The lane is the innermost index, so that
every inner loop runs over contiguous memory. Element (i, j), i ≥ j, of a lane is row :math:`i(i+1)/2+j`.

The pivots are an optional single one in front and then pairs; the last variable is never a pivot. A pair is a multiplier
and the variable that it defines: its block has a determinant of at most :math:`-d^2` (d the degree), so that no pivot is
small, whatever the data are. Single pivots throughout would divide by :math:`1-1/a` again and again and lose all digits at
p = 60.
"""

from __future__ import annotations

from gpcurves.methods.cavity.compiled import compiled
from gpcurves.numerics.validation import FloatArray

LANES = 64
PITCH = LANES + 8
"""Distance of two rows of a batch in memory: not a power of two, whose multiples would share the same cache lines."""


@compiled
def sweep(
    batch: FloatArray, rows: int, size: int, leading: int, lanes: int, column: FloatArray, solved: FloatArray
) -> None:
    r"""Sweep all variables of P but the last.

    Afterwards the lower triangle holds :math:`-V_0` (:math:`V_0` the inverse without the last variable), the last row
    :math:`c = V_0\,P_{\cdot,last}`, and its corner the last pivot :math:`\pi = P_{last,last} - P_{last,\cdot}c`. A row below, the
    linear term b, becomes :math:`V_0b` and, in its last element, :math:`b_{last}-c\cdot b`.
    """
    # A sweep replaces pivots by their inverse and goes on with all rows, also those above. It gives the whole inverse in
    # place, for three times the work of forward elimination.
    k = 0
    if leading:
        _single(batch, rows, 0, lanes, column, solved)
        k = 1
    while k < size - 1:
        _pair(batch, rows, k, 0, lanes, column, solved)
        k += 2


@compiled
def eliminate(
    batch: FloatArray, rows: int, size: int, leading: int, lanes: int, column: FloatArray, solved: FloatArray
) -> None:
    """Eliminate forwards only: a third of the work, which gives only the last pivot and the last linear term."""
    k = 0
    if leading:
        _single(batch, rows, 1, lanes, column, solved)
        k = 1
    while k < size - 1:
        _pair(batch, rows, k, k + 2, lanes, column, solved)
        k += 2


@compiled
def _pair(batch: FloatArray, rows: int, k: int, first: int, lanes: int, column: FloatArray, solved: FloatArray) -> None:  # noqa: C901  (two loops over lanes and rows, unrolled for the compiler)
    """Eliminate the pivot block (k, k+1) from the rows from ``first`` on; with ``first`` = 0 also sweep its own rows."""
    # The inverse of the block (x, y; y, z). In a quasi-definite matrix x and z have opposite signs, so that the
    # determinant is at most -y², which is not small.
    upper = k * (k + 1) // 2 + k
    lower = (k + 1) * (k + 2) // 2 + k
    for t in range(lanes):
        x, y, z = batch[upper, t], batch[lower, t], batch[lower + 1, t]
        inverse = 1.0 / (x * z - y * y)
        solved[0, t] = z * inverse
        solved[1, t] = -y * inverse
        solved[2, t] = x * inverse
    # Keep the two columns of the block (`column`) and the same times its inverse (`solved`), since they are overwritten.
    # Only the lower triangle is stored: above the block its columns are found as rows.
    for i in range(first, rows):
        if i == k or i == k + 1:
            continue
        one = k * (k + 1) // 2 + i if i < k else i * (i + 1) // 2 + k
        two = (k + 1) * (k + 2) // 2 + i if i < k else one + 1
        for t in range(lanes):
            x, y = batch[one, t], batch[two, t]
            column[2 * i, t] = x
            column[2 * i + 1, t] = y
            solved[2 * i + 3, t] = x * solved[0, t] + y * solved[1, t]
            solved[2 * i + 4, t] = x * solved[1, t] + y * solved[2, t]
    # The Schur complement of the block, in the lower triangle.
    for i in range(first, rows):
        if i == k or i == k + 1:
            continue
        row = i * (i + 1) // 2
        j = first
        while j <= i:
            if j == k:
                j += 2
            elif j + 1 <= i and j + 1 != k:  # two columns at a time share their loads
                for t in range(lanes):
                    x, y = solved[2 * i + 3, t], solved[2 * i + 4, t]
                    batch[row + j, t] -= x * column[2 * j, t] + y * column[2 * j + 1, t]
                    batch[row + j + 1, t] -= x * column[2 * j + 2, t] + y * column[2 * j + 3, t]
                j += 2
            else:
                for t in range(lanes):
                    batch[row + j, t] -= (
                        solved[2 * i + 3, t] * column[2 * j, t] + solved[2 * i + 4, t] * column[2 * j + 1, t]
                    )
                j += 1
    if first == 0:
        # A full sweep also leaves the block's columns times its inverse, and minus its inverse, in their stead.
        for i in range(rows):
            if i == k or i == k + 1:
                continue
            one = k * (k + 1) // 2 + i if i < k else i * (i + 1) // 2 + k
            two = (k + 1) * (k + 2) // 2 + i if i < k else one + 1
            for t in range(lanes):
                batch[one, t] = solved[2 * i + 3, t]
                batch[two, t] = solved[2 * i + 4, t]
        for t in range(lanes):
            batch[upper, t] = -solved[0, t]
            batch[lower, t] = -solved[1, t]
            batch[lower + 1, t] = -solved[2, t]


@compiled
def _single(batch: FloatArray, rows: int, first: int, lanes: int, column: FloatArray, solved: FloatArray) -> None:
    """Eliminate the pivot 0 from the rows below; with ``first`` = 0 also sweep its own row."""
    for t in range(lanes):
        solved[0, t] = 1.0 / batch[0, t]
    for i in range(1, rows):
        row = i * (i + 1) // 2
        for t in range(lanes):
            column[i, t] = batch[row, t]
            solved[i, t] = batch[row, t] * solved[0, t]
        for j in range(1, i + 1):
            for t in range(lanes):
                batch[row + j, t] -= solved[i, t] * column[j, t]
        if first == 0:
            for t in range(lanes):
                batch[row, t] = solved[i, t]
    if first == 0:
        for t in range(lanes):
            batch[0, t] = -solved[0, t]
