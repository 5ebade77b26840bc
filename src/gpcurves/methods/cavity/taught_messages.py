r"""One round of the differentiated messages of a misspecified model, compiled: many small matrices at once, as in `messages`.

A message has three blocks in one row, as `taught` explains: of the student (packed), its derivative (packed), and between student
and teacher (in full). The teacher's own messages do not depend on data: `relay_prior` sends them, and leaves at every slot what
`relay_taught` needs to know, minus :math:`V_0` (packed, without the last variable) and the last row of the teacher's matrix. The
elimination is that of a plain message, and the derivative takes products with its result alone:

.. math:: \dot V = -V(\dot P_{xx} - P_{xz}V_0P_{xz}^T)V,\qquad V_{xz} = -V(P_{xz}V_0).
"""

from __future__ import annotations

import numpy as np

from gpcurves.graphs.graph import IntArray
from gpcurves.methods.cavity.compiled import Pair
from gpcurves.methods.cavity.messages import LANES as BATCH
from gpcurves.methods.cavity.messages import PITCH, Kernel, _add_incoming, _invert, _store, eliminate
from gpcurves.methods.cavity.tiles import LANES, multiply
from gpcurves.numerics.compiling import compiled
from gpcurves.numerics.validation import FloatArray

Ends = tuple[IntArray, IntArray]
"""Where the slots of every vertex begin, and the slot at the other end of each."""
Chain = tuple[Kernel, FloatArray, FloatArray]
"""A kernel, the weight of every slot, and the degree of every vertex."""
Data = tuple[FloatArray, FloatArray, FloatArray]
"""Of every vertex: its gain, the derivative of its noise term, and the factor between student and teacher."""


@compiled
def relay_prior(
    begin: int, end: int, slots: Ends, teacher: Chain, buffers: Pair, known: FloatArray, compare: bool
) -> FloatArray:
    """Send the teacher's messages out of the vertices ``begin`` to ``end``, and return how much they changed (if ``compare``)."""
    indptr, reverse = slots
    kernel, weights, degrees = teacher
    local, size, leading, _, _ = kernel
    old, _ = buffers
    packed = local.shape[0]
    batch, inverse = np.zeros((packed, PITCH)), np.empty((packed, PITCH))
    column, solved = np.empty((2 * size + 4, PITCH)), np.empty((2 * size + 8, PITCH))
    weight, target = np.zeros(BATCH), np.zeros(BATCH, dtype=np.int64)
    slot = np.zeros(BATCH, dtype=np.int64)
    none = np.zeros(BATCH)  # the last variable is pinned to 0 to lowest order, as at a vertex without examples
    total, partial = np.empty(packed), np.empty(packed)
    change = np.zeros(3)
    last = packed - size
    lanes = 0
    for vertex in range(begin, end):
        _add_incoming(old, indptr[vertex], indptr[vertex + 1], total, partial)
        for edge in range(indptr[vertex], indptr[vertex + 1]):
            for e in range(packed):
                batch[e, lanes] = degrees[vertex] * local[e] - (total[e] - old[edge, e])
            for e in range(last, packed):
                known[edge, e] = batch[e, lanes]
            slot[lanes], weight[lanes], target[lanes] = edge, weights[edge], reverse[edge]
            lanes += 1
            if lanes == BATCH or edge == indptr[end] - 1:
                eliminate(batch, size, size, leading, lanes, column, solved, True)
                for t in range(lanes):
                    for e in range(last):
                        known[slot[t], e] = batch[e, t]
                _invert(batch, inverse, size, size, lanes, none)
                _store(inverse, lanes, packed, (target, weight), kernel, compare, 0.0, buffers, change)
                lanes = 0
    return change


@compiled
def relay_taught(
    begin: int,
    end: int,
    slots: Ends,
    chains: tuple[Chain, Chain],
    data: Data,
    known: FloatArray,
    how: tuple[bool, float],
    buffers: Pair,
) -> FloatArray:
    """Send all messages out of the vertices ``begin`` to ``end`` and return how much they changed (if ``how`` says so).

    ``how`` is whether to compare with the former messages, and the share of them to keep. Returned are the largest change of each
    block, and the largest number in it.
    """
    indptr, reverse = slots
    (local, p, leading, _, _), _, degrees = chains[0]
    q = chains[1][0][1]
    packed = local.shape[0]
    old, _ = buffers
    width = old.shape[1]
    batch, inverse = np.zeros((packed, PITCH)), np.zeros((packed, PITCH))
    column, solved = np.empty((2 * p + 4, PITCH)), np.empty((2 * p + 8, PITCH))
    P, Q, R = p + p % 2, q - 1 + (q - 1) % 2, q + q % 2  # even, filled up with zeros
    given = np.zeros(P * P * LANES), np.zeros(P * Q * LANES), np.zeros(Q * Q * LANES)
    result = np.zeros((2 * P * P + P * R) * LANES)
    room = result, np.zeros(P * Q * LANES), np.zeros(P * P * LANES)
    table = _tabulate(chains[0][0], chains[1][0])
    weights = chains[0][1], chains[1][1]
    others, priors = np.zeros((BATCH, width - packed)), np.zeros((BATCH, known.shape[1]))
    gain, about = np.zeros(BATCH), np.zeros((2, BATCH))
    slot, target = np.zeros(BATCH, dtype=np.int64), np.zeros(BATCH, dtype=np.int64)
    total, partial = np.empty(width), np.empty(width)
    changes = np.zeros(6)
    lanes = 0
    for vertex in range(begin, end):
        _add_incoming(old, indptr[vertex], indptr[vertex + 1], total, partial)
        for edge in range(indptr[vertex], indptr[vertex + 1]):
            for e in range(packed):
                batch[e, lanes] = degrees[vertex] * local[e] - (total[e] - old[edge, e])
            for e in range(packed, width):
                others[lanes, e - packed] = old[edge, e] - total[e]
            for e in range(known.shape[1]):
                priors[lanes, e] = known[edge, e]
            gain[lanes], slot[lanes], target[lanes] = data[0][vertex], edge, reverse[edge]
            about[0, lanes], about[1, lanes] = data[1][vertex], data[2][vertex]
            lanes += 1
            if lanes == BATCH or edge == indptr[end] - 1:
                eliminate(batch, p, p, leading, lanes, column, solved, True)
                _invert(batch, inverse, p, p, lanes, gain)
                for first in range(0, lanes, LANES):
                    last = first + LANES
                    spots = slot[first:last], target[first:last]
                    _differ(others[first:last], priors[first:last], about[:, first:last], given, (p, q))
                    _differentiate(inverse[:, first:last], about[1, first:last], given, room, (p, q))
                    count = min(LANES, lanes - first)
                    _store_taught(result, spots, count, weights, table, 2 * packed, buffers[1])
                    if how[0]:
                        for t in range(count):
                            _compare(buffers, target[first + t], how[1], packed, changes)
                lanes = 0
    return changes


@compiled
def _differ(
    others: FloatArray,
    known: FloatArray,
    about: FloatArray,
    into: tuple[FloatArray, FloatArray, FloatArray],
    sizes: tuple[int, int],
) -> None:
    r"""Write :math:`\dot P_{xx}` (its lower triangle), :math:`P_{xz}` and minus :math:`V_0` of eight lanes.

    ``others`` holds minus the sum of all messages but one. The last variable of the teacher is rho times the student's, so that
    its row and column are added to those of the latter.
    """
    p, q = sizes
    change, across, prior = into
    P, Q = p + p % 2, q - 1 + (q - 1) % 2
    last = q * (q - 1) // 2
    u = p - 1
    e = 0
    for i in range(p):
        for j in range(i + 1):
            one = (i * P + j) * LANES
            _spread(others, e, change, one, one)
            e += 1
    for i in range(p):
        for j in range(q - 1):
            one = (i * Q + j) * LANES
            _spread(others, e, across, one, one)
            e += 1
        twice = 2.0 if i == u else 1.0  # a row and a column are added, of which the lower triangle is kept
        for t in range(LANES):
            change[(u * P + i) * LANES + t] += twice * about[1, t] * others[t, e]
        e += 1
    for t in range(LANES):
        rho = about[1, t]
        change[(u * P + u) * LANES + t] += rho * rho * known[t, last + q - 1] - about[0, t]
        for j in range(q - 1):
            across[(u * Q + j) * LANES + t] += rho * known[t, last + j]
    e = 0
    for i in range(q - 1):
        for j in range(i + 1):
            one, two = (i * Q + j) * LANES, (j * Q + i) * LANES
            _spread(known, e, prior, one, two)
            e += 1


@compiled
def _spread(rows: FloatArray, e: int, out: FloatArray, one: int, two: int) -> None:
    """Write number ``e`` of eight rows side by side into two places; all are read first, so that they are written at once."""
    a, b, c, d = rows[0, e], rows[1, e], rows[2, e], rows[3, e]
    f, g, h, i = rows[4, e], rows[5, e], rows[6, e], rows[7, e]
    for k in (one, two):
        out[k], out[k + 1], out[k + 2], out[k + 3] = a, b, c, d
        out[k + 4], out[k + 5], out[k + 6], out[k + 7] = f, g, h, i


@compiled
def _differentiate(
    inverse: FloatArray,
    ratio: FloatArray,
    given: tuple[FloatArray, FloatArray, FloatArray],
    room: tuple[FloatArray, FloatArray, FloatArray],
    sizes: tuple[int, int],
) -> None:
    r"""Write V, minus :math:`\dot V` (its lower triangle) and :math:`V_{xz}`, one after the other, of eight lanes."""
    p, q = sizes
    change, across, prior = given
    result, carried, work = room
    P, Q, R = p + p % 2, q - 1 + (q - 1) % 2, q + q % 2
    square = P * P * LANES
    V, derivative, mixed = result[:square], result[square : 2 * square], result[2 * square :]
    for i in range(p):
        for j in range(i + 1):
            one, two = (i * P + j) * LANES, (j * P + i) * LANES
            for t in range(LANES):
                V[one + t] = inverse[i * (i + 1) // 2 + j, t]
                V[two + t] = inverse[i * (i + 1) // 2 + j, t]
    multiply(carried, across, prior, (P, q - 1, Q), (Q, Q, Q, 1), False)  # -P_xz V_0
    multiply(mixed, V, carried, (P, p, Q), (R, P, Q, 1), False)
    multiply(work, carried, across, (P, q - 1, P), (P, Q, 1, Q), True)
    for i in range(p):
        for j in range(i + 1):
            one, two = (i * P + j) * LANES, (j * P + i) * LANES
            for t in range(LANES):
                value = work[one + t] + change[one + t]
                work[one + t] = value
                work[two + t] = value
    multiply(change, V, work, (P, p, P), (P, P, P, 1), False)
    multiply(derivative, change, V, (P, p, P), (P, P, P, 1), True)
    for i in range(p):  # the teacher's last variable is rho times the student's
        for t in range(LANES):
            mixed[(i * R + q - 1) * LANES + t] = ratio[t] * V[(i * P + p - 1) * LANES + t]


@compiled
def _tabulate(kernel: Kernel, kernel0: Kernel) -> tuple[IntArray, FloatArray]:
    """Return where in the result each number of a message is found, and by what it is multiplied."""
    _, p, _, source, factors = kernel
    _, q, _, source0, factors0 = kernel0
    packed, packed0 = p * (p + 1) // 2, q * (q + 1) // 2
    P, R = p + p % 2, q + q % 2
    places, scales = np.empty(2 * packed + p * q, dtype=np.int64), np.empty(2 * packed + p * q)
    e = 0
    for i in range(p):
        a = source[packed + i] - packed
        for j in range(i + 1):
            b = source[packed + j] - packed
            place = max(a, b) * P + min(a, b)
            places[e], places[packed + e] = LANES * place, LANES * (P * P + place)
            scales[e], scales[packed + e] = factors[e], -factors[e]
            e += 1
    e = 2 * packed
    for i in range(p):
        a = source[packed + i] - packed
        for j in range(q):
            b = source0[packed0 + j] - packed0
            places[e], scales[e] = LANES * (2 * P * P + a * R + b), factors[packed + i] * factors0[packed0 + j]
            e += 1
    return places, scales


@compiled
def _store_taught(
    result: FloatArray,
    spots: Ends,
    count: int,
    weights: Pair,
    table: tuple[IntArray, FloatArray],
    matrices: int,
    new: FloatArray,
) -> None:
    """Write lanes out as messages, of which the first ``matrices`` numbers belong to the student alone."""
    slot, target = spots
    places, scales = table
    first, second = weights
    fours = count - count % 4  # four rows at a time share what the table says
    for part in range(2):
        begin, end = (matrices, len(places)) if part else (0, matrices)
        other = second if part else first
        for t in range(0, fours, 4):
            a, b, c, d = target[t], target[t + 1], target[t + 2], target[t + 3]
            wa, wb = first[slot[t]] * other[slot[t]], first[slot[t + 1]] * other[slot[t + 1]]
            wc, wd = first[slot[t + 2]] * other[slot[t + 2]], first[slot[t + 3]] * other[slot[t + 3]]
            for e in range(begin, end):
                place, scale = places[e] + t, scales[e]
                new[a, e] = wa * scale * result[place]
                new[b, e] = wb * scale * result[place + 1]
                new[c, e] = wc * scale * result[place + 2]
                new[d, e] = wd * scale * result[place + 3]
        for t in range(fours, count):
            edge, w = target[t], first[slot[t]] * other[slot[t]]
            for e in range(begin, end):
                new[edge, e] = w * scales[e] * result[places[e] + t]


@compiled
def _compare(buffers: Pair, edge: int, damping: float, packed: int, changes: FloatArray) -> None:
    """Mix a message with the former one, and record the largest change of each block and the largest number in it."""
    old, new = buffers
    ends = (0, packed, 2 * packed, new.shape[1])
    total = 0.0
    for k in range(3):
        moved, largest = changes[k], changes[3 + k]
        for e in range(ends[k], ends[k + 1]):
            value = new[edge, e] + damping * (old[edge, e] - new[edge, e])
            new[edge, e] = value
            moved, largest = max(moved, abs(value - old[edge, e])), max(largest, abs(value))
            total += value
        changes[k], changes[3 + k] = moved, largest
    if not np.isfinite(total):  # comparisons would pass over NaN
        changes[0] = np.inf


@compiled
def taught_marginals(
    begin: int,
    end: int,
    slots: Ends,
    chains: tuple[Chain, Chain],
    ratios: FloatArray,
    buffers: Pair,
    results: Pair,
) -> FloatArray:
    r"""Write the last pivot of every vertex over all its neighbours, without data there, and its derivative.

    With :math:`y = (-c, 1)`, where `c` is what elimination leaves in the last row, the derivative of the pivot is
    :math:`y^T(\dot P_{xx} - P_{xz}V_0P_{xz}^T)y`. ``buffers`` are the messages and those of the teacher.
    """
    indptr, _ = slots
    (local, p, leading, _, _), _, degrees = chains[0]
    (local0, q, leading0, _, _), _, degrees0 = chains[1]
    messages, priors = buffers
    pivots, slopes = results
    packed, packed0 = local.shape[0], local0.shape[0]
    last, last0 = packed - p, packed0 - q
    rows = max(p, q)
    batch, prior = np.zeros((packed, PITCH)), np.zeros((packed0, PITCH))
    column, solved = np.empty((2 * rows + 4, PITCH)), np.empty((2 * rows + 8, PITCH))
    totals, own = np.empty((BATCH, messages.shape[1])), np.empty(packed0)
    partial = np.empty(max(messages.shape[1], packed0))
    y = np.ones(p)
    for first in range(begin, end, BATCH):
        lanes = min(BATCH, end - first)
        for t in range(lanes):
            vertex = first + t
            _add_incoming(messages, indptr[vertex], indptr[vertex + 1], totals[t], partial)
            _add_incoming(priors, indptr[vertex], indptr[vertex + 1], own, partial)
            for e in range(packed):
                batch[e, t] = degrees[vertex] * local[e] - totals[t, e]
            for e in range(packed0):
                prior[e, t] = degrees0[vertex] * local0[e] - own[e]
        eliminate(batch, p, p, leading, lanes, column, solved, True)
        for t in range(lanes):
            rho = ratios[first + t]
            for i in range(p - 1):
                y[i] = -batch[last + i, t]
            slope = rho * rho * prior[packed0 - 1, t]
            e = packed
            for i in range(p):
                for j in range(i + 1):
                    slope -= (1.0 if i == j else 2.0) * totals[t, e] * y[i] * y[j]
                    e += 1
            # The row of P_zx y takes the place of the last one: its pivot is then minus the quadratic form with V_0.
            for j in range(q - 1):
                prior[last0 + j, t] *= rho
            for i in range(p):
                for j in range(q - 1):
                    prior[last0 + j, t] -= totals[t, e] * y[i]
                    e += 1
                slope -= 2 * rho * totals[t, e] * y[i]
                e += 1
            prior[packed0 - 1, t] = 0.0
            pivots[first + t], slopes[first + t] = batch[packed - 1, t], slope
        eliminate(prior, q, q, leading0, lanes, column, solved, False)
        for t in range(lanes):
            slopes[first + t] += prior[packed0 - 1, t]
    return np.zeros(0)
