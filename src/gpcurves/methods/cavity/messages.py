r"""One round of messages, and the marginals that follow from them, by elimination in many small matrices at once.

Vertex i has variables :math:`x_i` (`graphs.vertex_model`) and the matrix :math:`d_i` times ``local``, and an edge couples :math:`x_i` with
:math:`x_j` by :math:`-A_{ij}K`. Integrating out the subtree behind neighbour k leaves :math:`A_{ik}^2 K V_k K` to be subtracted from vertex i:

.. math:: P_i = d_i\,\mathrm{local} - \sum_k A_{ik}^2 KV_kK - \frac{d_i\kappa_i\sigma^2}{\gamma_i}e_{last}e_{last}^T,\qquad V_i = P_i^{-1}.

The slot of vertex i for its neighbour k holds the packed lower triangle of :math:`A_{ik}^2KV_kK`. With targets, a further row
holds :math:`-A_{ik}KV_kb_k`, the message about means. A vertex without examples needs no special care: the noise enters as
:math:`q = 1/(\pi - d\kappa\sigma^2/\gamma) = s/(s\pi-1)` with the gain :math:`s = \gamma/(d\kappa\sigma^2)`, which is 0 at :math:`\gamma=0`.

**Elimination.** A batch is an array of shape (packed lower triangle, lanes). One lane is one matrix. The lane is the innermost index, so that
every inner loop runs over contiguous memory. Element (i, j), i ≥ j, of a lane is row :math:`i(i+1)/2+j`.

The pivots are an optional single one in front and then pairs; the last variable is never a pivot. A pair is a multiplier
and the variable that it defines: its block has a determinant of at most :math:`-d^2` (d the degree), so that no pivot is
small, whatever the data are. Single pivots throughout would divide by :math:`1-1/a` again and again and lose all digits at
p = 60.
"""

from __future__ import annotations

import numpy as np

from gpcurves.graphs.graph import IntArray
from gpcurves.methods.cavity.compiled import Pair, Slots
from gpcurves.numerics.compiling import compiled
from gpcurves.numerics.validation import FloatArray

Kernel = tuple[FloatArray, int, int, IntArray, FloatArray]
"""The local matrix, its size, whether its first pivot is single; which element of V, times what, becomes one of KVK."""
LANES = 64
PITCH = LANES + 8
"""Distance of two rows of a batch in memory: not a power of two, whose multiples would share the same cache lines."""
_BLOCK = 8  # lanes that are written together: as many numbers as a cache line holds
_STRIDE = 128
"""Messages are added in runs of this many, so that the rounding of sums does not grow with the degree of a hub."""


@compiled
def relay(
    begin: int, end: int, slots: Slots, data: Pair, kernel: Kernel, compare: bool, damping: float, buffers: Pair
) -> FloatArray:
    """Send all messages out of the vertices ``begin`` to ``end`` and return how much they changed (if ``compare``).

    The message out of a vertex along slot ``e`` is computed from ``old`` without what came in through ``e`` and goes into the
    slot ``reverse[e]`` of ``new``. ``data`` are gains and linear terms, ``buffers`` the messages ``old`` and ``new``. Returned are
    the largest change of a matrix relative to its largest element, that of a mean message, and the largest mean message.
    """
    indptr, reverse, weights, degrees = slots
    gains, linear = data
    local, size, leading, _, _ = kernel
    old, _ = buffers
    packed = local.shape[0]
    width = old.shape[1]
    rows = size + 1 if width > packed else size  # the linear term is one more row
    batch = np.zeros((rows * (rows + 1) // 2, PITCH))
    column = np.empty((2 * rows + 4, PITCH))
    solved = np.empty((2 * rows + 8, PITCH))
    inverse = np.empty((rows * (rows + 1) // 2, PITCH))
    gain = np.zeros(LANES)
    weight = np.zeros(LANES)
    target = np.zeros(LANES, dtype=np.int64)
    total = np.empty(width)
    partial = np.empty(width)
    change = np.zeros(3)
    lanes = 0
    for vertex in range(begin, end):
        _add_incoming(old, indptr[vertex], indptr[vertex + 1], total, partial)
        for edge in range(indptr[vertex], indptr[vertex + 1]):
            # All messages but one as their sum minus one: linear in the degree, and harmless, since sum and message are of
            # the order of the local matrix.
            for e in range(packed):
                batch[e, lanes] = degrees[vertex] * local[e] - (total[e] - old[edge, e])
            for e in range(packed, width):
                batch[e, lanes] = old[edge, e] - total[e]
            if width > packed:
                batch[width - 1, lanes] += linear[vertex]
            gain[lanes] = gains[vertex]
            weight[lanes] = weights[edge]
            target[lanes] = reverse[edge]
            lanes += 1
            # Slots of several vertices share a batch, so that vertices with few neighbours fill the lanes too.
            if lanes == LANES or edge == indptr[end] - 1:
                eliminate(batch, rows, size, leading, lanes, column, solved, True)
                _invert(batch, inverse, rows, size, lanes, gain)
                _store(inverse, lanes, packed, (target, weight), kernel, compare, damping, buffers, change)
                lanes = 0
    return change


@compiled
def marginals(begin: int, end: int, slots: Slots, kernel: Kernel, messages: FloatArray, last: Pair) -> FloatArray:
    r"""Write the last pivot :math:`\pi_i` and the last linear term of :math:`P_i`, with all neighbours but without data at i."""
    indptr, _, _, degrees = slots
    local, size, leading, _, _ = kernel
    pivots, linears = last
    packed = local.shape[0]
    width = messages.shape[1]
    rows = size + 1 if width > packed else size
    batch = np.zeros((rows * (rows + 1) // 2, PITCH))
    column = np.empty((2 * rows + 4, PITCH))
    solved = np.empty((2 * rows + 8, PITCH))
    total = np.empty(width)
    partial = np.empty(width)
    for first in range(begin, end, LANES):
        lanes = min(LANES, end - first)
        for lane in range(lanes):
            vertex = first + lane
            degree = degrees[vertex] if degrees[vertex] > 0.0 else 1.0  # results of isolated vertices are not used
            _add_incoming(messages, indptr[vertex], indptr[vertex + 1], total, partial)
            for e in range(packed):
                batch[e, lane] = degree * local[e] - total[e]
            for e in range(packed, width):
                batch[e, lane] = -total[e]
        eliminate(batch, rows, size, leading, lanes, column, solved, False)
        for lane in range(lanes):
            pivots[first + lane] = batch[packed - 1, lane]
            if width > packed:
                linears[first + lane] = batch[width - 1, lane]
    return np.zeros(0)


@compiled
def _add_incoming(messages: FloatArray, first: int, last: int, total: FloatArray, partial: FloatArray) -> None:
    """Add the messages of the slots from ``first`` to ``last`` into ``total``."""
    width = total.shape[0]
    for e in range(width):
        total[e] = 0.0
    if last - first <= _STRIDE:
        for edge in range(first, last):
            for e in range(width):
                total[e] += messages[edge, e]
        return
    for run in range(first, last, _STRIDE):
        for e in range(width):
            partial[e] = 0.0
        for edge in range(run, min(run + _STRIDE, last)):
            for e in range(width):
                partial[e] += messages[edge, e]
        for e in range(width):
            total[e] += partial[e]


@compiled
def _invert(batch: FloatArray, inverse: FloatArray, rows: int, size: int, lanes: int, gain: FloatArray) -> None:
    """Finish the inverse after a sweep: bring in the last variable with its noise term, and solve for the means."""
    last = size * (size - 1) // 2
    corner = last + size - 1
    for t in range(lanes):
        inverse[corner, t] = gain[t] / (gain[t] * batch[corner, t] - 1.0)  # q
    # The inverse of a matrix with one more variable: V0 + q c c', - q c, q. The batch holds -V0 and c after the sweep.
    for i in range(size - 1):
        row = i * (i + 1) // 2
        for j in range(i + 1):
            for t in range(lanes):
                inverse[row + j, t] = inverse[corner, t] * batch[last + i, t] * batch[last + j, t] - batch[row + j, t]
    for i in range(size - 1):
        for t in range(lanes):
            inverse[last + i, t] = -batch[last + i, t] * inverse[corner, t]
    if rows > size:
        mean = size * (size + 1) // 2
        for t in range(lanes):
            x = batch[mean + size - 1, t] * inverse[corner, t]
            inverse[mean + size - 1, t] = x
            for i in range(size - 1):
                inverse[mean + i, t] = batch[mean + i, t] - batch[last + i, t] * x


@compiled
def _store(  # noqa: PLR0913  (compiled code has no objects that would hold them together)
    batch: FloatArray,
    lanes: int,
    packed: int,
    edges: tuple[IntArray, FloatArray],
    kernel: Kernel,
    compare: bool,
    damping: float,
    buffers: Pair,
    change: FloatArray,
) -> None:
    """Write the lanes out as messages, mixed with the former ones, and record how much they changed."""
    target, weight = edges
    _, _, _, source, factors = kernel
    old, new = buffers
    width = new.shape[1]
    for first in range(0, lanes, _BLOCK):
        last = min(first + _BLOCK, lanes)
        for e in range(width):
            for t in range(first, last):
                weighted = weight[t] * weight[t] if e < packed else -weight[t]
                new[target[t], e] = weighted * factors[e] * batch[source[e], t]
        if not compare:
            continue
        for t in range(first, last):
            edge = target[t]
            difference = 0.0
            largest = 0.0
            total = 0.0
            for e in range(packed):
                value = new[edge, e] + damping * (old[edge, e] - new[edge, e])
                new[edge, e] = value
                difference = max(difference, abs(value - old[edge, e]))
                largest = max(largest, abs(value))
                total += value
            if difference > change[0] * largest:  # without a division by a message that is 0
                change[0] = difference / largest
            for e in range(packed, width):
                value = new[edge, e] + damping * (old[edge, e] - new[edge, e])
                new[edge, e] = value
                change[1] = max(change[1], abs(value - old[edge, e]))
                change[2] = max(change[2], abs(value))
                total += value
            if not np.isfinite(total):  # comparisons would pass over NaN
                change[0] = np.inf


@compiled
def eliminate(
    batch: FloatArray,
    rows: int,
    size: int,
    leading: int,
    lanes: int,
    column: FloatArray,
    solved: FloatArray,
    sweep: bool,
) -> None:
    r"""Eliminate all variables of P but the last: forwards, which gives only the last pivot and the last linear term, or in a sweep.

    After a sweep the lower triangle holds :math:`-V_0` (:math:`V_0` the inverse without the last variable), the last row
    :math:`c = V_0\,P_{\cdot,last}`, and its corner the last pivot :math:`\pi = P_{last,last} - P_{last,\cdot}c`. A row below, the
    linear term b, becomes :math:`V_0b` and, in its last element, :math:`b_{last}-c\cdot b`.
    """
    # A sweep replaces pivots by their inverse and goes on with all rows, also those above. It gives the whole inverse in
    # place, for three times the work of forward elimination.
    k = 0
    if leading:
        _single(batch, rows, 0 if sweep else 1, lanes, column, solved)
        k = 1
    while k < size - 1:
        _pair(batch, rows, k, 0 if sweep else k + 2, lanes, column, solved)
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
