r"""One round of the differentiated messages of a misspecified model, compiled: many small matrices at once, as in `messages`.

A message has four blocks, as `taught` explains: of the student (packed), its derivative (packed), between student and teacher
(in full), and of the teacher (packed). With the elimination of `messages` for the student's and the teacher's matrix,

.. math:: \dot V = -V(\dot P_{xx} - P_{xz}V_0P_{xz}^T)V,\qquad V_{xz} = -V(P_{xz}V_0).
"""

from __future__ import annotations

import numpy as np

from gpcurves.graphs.graph import IntArray
from gpcurves.methods.cavity.messages import PITCH, Kernel, _add_incoming, _invert, eliminate
from gpcurves.numerics.compiling import compiled
from gpcurves.numerics.validation import FloatArray

Chain = tuple[Kernel, FloatArray, FloatArray]
"""A kernel, the weight of every slot, and the degree of every vertex."""
Four = tuple[FloatArray, FloatArray, FloatArray, FloatArray]
Data = tuple[FloatArray, FloatArray, FloatArray]
"""Of every vertex: its gain, the derivative of its noise term, and the factor between student and teacher."""
Room = tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]
_LANES = 64


@compiled
def relay_taught(
    begin: int,
    end: int,
    slots: tuple[IntArray, IntArray],
    student: Chain,
    teacher: Chain,
    data: Data,
    old: Four,
    new: Four,
) -> FloatArray:
    """Send all messages out of the vertices ``begin`` to ``end``."""
    indptr, reverse = slots
    gains, noises, ratios = data
    (local, p, leading, _, _), weights, degrees = student
    (local0, q, leading0, _, _), weights0, degrees0 = teacher
    packed, packed0 = local.shape[0], local0.shape[0]
    batch, inverse, change = np.zeros((packed, PITCH)), np.empty((packed, PITCH)), np.empty((p, p, _LANES))
    prior, last = np.zeros((packed0, PITCH)), np.empty((q, _LANES))
    across, mixed = np.empty((p, q, _LANES)), np.empty((p, q, _LANES))
    rows = max(p, q)
    column, solved = np.empty((2 * rows + 4, PITCH)), np.empty((2 * rows + 8, PITCH))
    full, square, turned = np.empty((p, p, _LANES)), np.empty((q, q, _LANES)), np.empty((q, p, _LANES))
    room = square, turned, np.empty((p, q, _LANES)), np.empty((p, p, _LANES)), mixed
    gain, rho = np.zeros(PITCH), np.zeros(_LANES)
    weight, weight0 = np.zeros(_LANES), np.zeros(_LANES)
    target = np.zeros(_LANES, dtype=np.int64)
    total, total_d = np.empty(packed), np.empty(packed)
    total_xz, total_zz = np.empty(p * q), np.empty(packed0)
    partial = np.empty(max(packed, packed0, p * q))
    lanes = 0
    for vertex in range(begin, end):
        first, after = indptr[vertex], indptr[vertex + 1]
        _add_incoming(old[0], first, after, total, partial)
        _add_incoming(old[1], first, after, total_d, partial)
        _add_incoming(old[2], first, after, total_xz, partial)
        _add_incoming(old[3], first, after, total_zz, partial)
        for edge in range(first, after):
            t = lanes
            for e in range(packed):
                batch[e, t] = degrees[vertex] * local[e] - (total[e] - old[0][edge, e])
            for e in range(packed0):
                prior[e, t] = degrees0[vertex] * local0[e] - (total_zz[e] - old[3][edge, e])
            for i in range(p):
                for j in range(i + 1):
                    value = old[1][edge, i * (i + 1) // 2 + j] - total_d[i * (i + 1) // 2 + j]
                    change[i, j, t] = value
                    change[j, i, t] = value
                for j in range(q):
                    across[i, j, t] = old[2][edge, i * q + j] - total_xz[i * q + j]
            for j in range(q):
                last[j, t] = prior[q * (q - 1) // 2 + j, t]
            gain[t], rho[t], target[t] = gains[vertex], ratios[vertex], reverse[edge]
            weight[t], weight0[t] = weights[edge], weights0[edge]
            change[p - 1, p - 1, t] -= noises[vertex]
            lanes += 1
            if lanes == _LANES or edge == indptr[end] - 1:
                eliminate(batch, p, p, leading, lanes, column, solved, True)
                _invert(batch, inverse, p, p, lanes, gain)
                eliminate(prior, q, q, leading0, lanes, column, solved, True)
                for i in range(p):
                    for j in range(i + 1):
                        for t in range(lanes):
                            value = inverse[i * (i + 1) // 2 + j, t]
                            full[i, j, t] = value
                            full[j, i, t] = value
                _fold(change, across, last, rho, p, q, lanes)
                _differentiate(full, change, across, prior, room, (p, q, lanes))
                for i in range(p):
                    for t in range(lanes):
                        mixed[i, q - 1, t] = rho[t] * full[i, p - 1, t]
                _store_taught(full, change, mixed, prior, student[0], teacher[0], (target, weight, weight0), lanes, new)
                lanes = 0
    return np.zeros(0)


@compiled
def _fold(
    change: FloatArray, across: FloatArray, last: FloatArray, rho: FloatArray, p: int, q: int, lanes: int
) -> None:
    """Add the row and column of the teacher's last variable, which is rho times the student's, to those of the latter."""
    u = p - 1
    for i in range(p):
        for t in range(lanes):
            change[i, u, t] += rho[t] * across[i, q - 1, t]
    for i in range(p):
        for t in range(lanes):
            change[u, i, t] += rho[t] * across[i, q - 1, t]
    for t in range(lanes):
        change[u, u, t] += rho[t] * rho[t] * last[q - 1, t]
    for j in range(q - 1):
        for t in range(lanes):
            across[u, j, t] += rho[t] * last[j, t]


@compiled
def _differentiate(
    V: FloatArray, change: FloatArray, across: FloatArray, prior: FloatArray, room: Room, sizes: tuple[int, int, int]
) -> None:
    """Put the derivative of the inverse in the place of ``change`` (lower triangle), and its block with the teacher into the room.

    ``prior`` holds minus the inverse of the teacher's matrix, after a sweep.
    """
    p, q, lanes = sizes
    square, turned, carried, work, mixed = room
    for i in range(q - 1):
        for j in range(i + 1):
            for t in range(lanes):
                square[i, j, t] = -prior[i * (i + 1) // 2 + j, t]
                square[j, i, t] = square[i, j, t]
        for j in range(p):
            for t in range(lanes):
                turned[i, j, t] = -across[j, i, t]
    carried[:] = 0.0
    mixed[:] = 0.0
    work[:] = 0.0
    _multiply(carried, across, square, (p, q - 1, q - 1), False, lanes)
    _multiply(change, carried, turned, (p, q - 1, p), True, lanes)
    for i in range(p):
        for j in range(i + 1):
            for t in range(lanes):
                change[i, j, t] = -change[i, j, t]
                change[j, i, t] = change[i, j, t]
    for i in range(p):
        for j in range(q - 1):
            for t in range(lanes):
                carried[i, j, t] = -carried[i, j, t]
    _multiply(mixed, V, carried, (p, p, q - 1), False, lanes)
    _multiply(work, V, change, (p, p, p), False, lanes)
    change[:] = 0.0
    _multiply(change, work, V, (p, p, p), True, lanes)


@compiled
def _multiply(
    out: FloatArray, left: FloatArray, right: FloatArray, shape: tuple[int, int, int], triangle: bool, lanes: int
) -> None:
    """Add the products of matrices, of which ``triangle`` asks for the lower one alone; four terms at a time share loads."""
    rows, inner, columns = shape
    fours = inner - inner % 4
    for i in range(rows):
        for j in range(i + 1 if triangle else columns):
            for k in range(0, fours, 4):
                for t in range(lanes):
                    out[i, j, t] += (
                        left[i, k, t] * right[k, j, t]
                        + left[i, k + 1, t] * right[k + 1, j, t]
                        + left[i, k + 2, t] * right[k + 2, j, t]
                        + left[i, k + 3, t] * right[k + 3, j, t]
                    )
            for k in range(fours, inner):
                for t in range(lanes):
                    out[i, j, t] += left[i, k, t] * right[k, j, t]


@compiled
def _store_taught(  # noqa: PLR0913  (compiled code has no objects that would hold them together)
    V: FloatArray,
    derivative: FloatArray,
    mixed: FloatArray,
    prior: FloatArray,
    kernel: Kernel,
    kernel0: Kernel,
    edges: tuple[IntArray, FloatArray, FloatArray],
    lanes: int,
    new: Four,
) -> None:
    """Write the lanes out as messages."""
    target, weight, weight0 = edges
    _, p, _, source, factors = kernel
    _, q, _, source0, factors0 = kernel0
    packed, packed0 = p * (p + 1) // 2, q * (q + 1) // 2
    for t in range(lanes):
        edge, A, A0 = target[t], weight[t], weight0[t]
        for i in range(p):
            a = source[packed + i] - packed
            for j in range(i + 1):
                b = source[packed + j] - packed
                e = i * (i + 1) // 2 + j
                factor = A * A * factors[e]
                new[0][edge, e] = factor * V[a, b, t]
                new[1][edge, e] = factor * derivative[max(a, b), min(a, b), t]
            for j in range(q):
                b = source0[packed0 + j] - packed0
                new[2][edge, i * q + j] = A * A0 * factors[packed + i] * factors0[packed0 + j] * mixed[a, b, t]
        for i in range(q):
            a = source0[packed0 + i] - packed0
            for j in range(i + 1):
                b = source0[packed0 + j] - packed0
                e = i * (i + 1) // 2 + j
                if a == q - 1 or b == q - 1:  # the last variable is pinned to 0 to lowest order
                    new[3][edge, e] = 0.0
                else:
                    high, low = max(a, b), min(a, b)
                    new[3][edge, e] = -A0 * A0 * factors0[e] * prior[high * (high + 1) // 2 + low, t]
