r"""Belief propagation for a misspecified model: the messages of the student's kernel, differentiated along the teacher's.

The error of the student is the derivative at `t` = 0 of the posterior variance of the kernel :math:`C + tC_0` with the noise
:math:`\sigma^2 + t\sigma_0^2`. A vertex has the variables `x` of the student's kernel and `z` of the teacher's, and the function is
:math:`f = \kappa^{-1/2}\hat f + \sqrt t\,\kappa_0^{-1/2}\hat f_0`. The last variable `u` of `x` is conjugate to the function, so that the last one
of `z` is :math:`\sqrt t\rho u` with :math:`\rho = \sqrt{\kappa d/\kappa_0d_0}`. Kernels, normalisers, degrees and edges may all differ.

To first order in `t` the matrix of a vertex has a block of `x` with its derivative, a block between `x` and `z` of order
:math:`\sqrt t`, and a block of `z` of order 1, which is the teacher's prior and does not depend on data. With
:math:`V = P_{xx}^{-1}` and :math:`V_0 = P_{zz}^{-1}` (without the last of `z`),

.. math:: V_{xz} = -VP_{xz}V_0,\qquad \dot V = VP_{xz}V_0P_{xz}^TV - V\dot P_{xx}V.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpcurves.graphs.graph import IntArray
from gpcurves.graphs.vertex_model import VertexModel
from gpcurves.methods.cavity.compiled import Links, thread_count
from gpcurves.methods.cavity.messages import Kernel
from gpcurves.methods.cavity.rounds import kernel_of
from gpcurves.methods.cavity.taught_messages import Four, relay_taught
from gpcurves.numerics.validation import FloatArray

_BLOCK = 20_000  # vertices of which all matrices are held at once


@dataclass(frozen=True, eq=False)
class Chain:
    """One kernel on one graph: its variables, the weight of every slot, degrees and normalisers; isolated vertices have degree 1."""

    model: VertexModel
    weights: FloatArray
    degrees: FloatArray
    kappa: FloatArray

    @classmethod
    def of(cls, model: VertexModel, weights: FloatArray, degrees: FloatArray, kappa: FloatArray) -> Chain:
        """Return a chain; without neighbours the matrix of degree 1 alone gives the variance of an isolated vertex."""
        return cls(model, np.ascontiguousarray(weights), np.where(degrees > 0, degrees, 1.0), kappa)

    @property
    def arrays(self) -> tuple[Kernel, FloatArray, FloatArray]:
        """What compiled code takes."""
        return kernel_of(self.model), self.weights, self.degrees


@dataclass(frozen=True, eq=False)
class TaughtGraph:
    """A student and a teacher on the slots of a graph; with different graphs, on the slots of both.

    Messages are four arrays: of the student, its derivative, between both, and of the teacher.
    """

    links: Links
    student: Chain
    teacher: Chain
    noise: float
    true_noise: float

    @property
    def ratio(self) -> FloatArray:
        r""":math:`\rho` of every vertex."""
        x, z = self.student, self.teacher
        return np.sqrt(x.kappa * x.degrees / (z.kappa * z.degrees))

    def start(self) -> Four:
        """Return messages that say nothing."""
        x, z, slots = self.student.model, self.teacher.model, self.links.slots
        widths = (x.packed, x.packed, x.size * z.size, z.packed)
        first, second, third, fourth = (np.zeros((slots, width)) for width in widths)
        return first, second, third, fourth

    def send(self, old: Four, new: Four, counts: FloatArray, threads: int) -> None:
        """Send all messages once."""
        scale = self.student.degrees * self.student.kappa
        noises = np.where(counts > 0, scale * self.true_noise / np.maximum(counts, 1e-300), 0.0)
        data = counts / (scale * self.noise), noises, self.ratio
        slots = self.links.indptr, self.links.reverse
        self.links.run(threads, relay_taught, slots, self.student.arrays, self.teacher.arrays, data, old, new)

    def observe(self, messages: Four) -> tuple[FloatArray, FloatArray]:
        """Return the student's variance of every vertex given the examples at all others, and its derivative."""
        vertices = self.links.vertices
        cavity, slope = np.empty(vertices), np.empty(vertices)
        for begin in range(0, vertices, _BLOCK):
            at = np.arange(begin, min(begin + _BLOCK, vertices))
            cavity[at], slope[at] = self._marginals(messages, at)
        return cavity, slope

    def _marginals(self, messages: Four, at: IntArray) -> tuple[FloatArray, FloatArray]:
        x, z = self.student, self.teacher
        p, q = x.model.size, z.model.size
        indptr = self.links.indptr
        spans = slice(indptr[at[0]], indptr[at[-1] + 1])
        vertex = np.repeat(np.arange(len(at)), np.diff(indptr[at[0] : at[-1] + 2]))
        sums = []
        for part in messages:
            total = np.zeros((len(at), part.shape[1]))
            np.add.at(total, vertex, part[spans])
            sums.append(total)
        P = x.degrees[at, None, None] * _unpack(x.model.local[None], p) - _unpack(sums[0], p)
        M = z.degrees[at, None, None] * _unpack(z.model.local[None], q) - _unpack(sums[3], q)
        change, mixed, rho = -_unpack(sums[1], p), sums[2].reshape(-1, p, q), self.ratio[at][:, None]
        # the last of z is rho u, so that its row and column are added to those of u
        across = -mixed[:, :, :-1]
        across[:, -1] += rho * M[:, -1, :-1]
        change[:, -1] -= rho * mixed[:, :, -1]
        change[:, :, -1] -= rho * mixed[:, :, -1]
        change[:, -1, -1] += rho[:, 0] ** 2 * M[:, -1, -1]
        column = np.linalg.solve(P, np.eye(p)[:, -1:])[:, :, 0]
        seen = np.einsum("ijk,ij->ik", across, column)
        known = np.linalg.solve(M[:, :-1, :-1], seen[:, :, None])[:, :, 0]
        derivative = np.einsum("ij,ij->i", seen, known) - np.einsum("ij,ijk,ik->i", column, change, column)
        scale, pivot = x.degrees[at] * x.kappa[at], column[:, -1]
        return -1 / (pivot * scale), derivative / (pivot * pivot * scale)


def _unpack(packed: FloatArray, size: int) -> FloatArray:
    """Return symmetric matrices from the lower triangles in the rows of an array."""
    full = np.zeros((len(packed), size, size))
    i, j = np.tril_indices(size)
    full[:, i, j] = packed
    full[:, j, i] = packed
    return full


@dataclass(frozen=True, eq=False)
class TaughtBeliefs:
    """The student's variance of every vertex, its squared error, the same given the examples at all others, and convergence."""

    variance: FloatArray
    error: FloatArray
    cavity_variance: FloatArray
    cavity_error: FloatArray
    converged: bool
    rounds: int
    messages: Four


def propagate_taught(
    graph: TaughtGraph,
    counts: FloatArray,
    *,
    tolerance: float = 1e-10,
    max_rounds: int = 1000,
    damping: float = 0.0,
    start: Four | None = None,
    threads: int | None = None,
) -> TaughtBeliefs:
    """Send messages along all edges until they no longer change, relative to the largest of their kind."""
    old, new = graph.start() if start is None else start, graph.start()
    workers = thread_count(threads)
    rounds, converged = 0, graph.links.slots == 0
    while not converged and rounds < max_rounds:
        graph.send(old, new, counts, workers)
        largest = 0.0
        for now, before in zip(new, old, strict=True):
            if damping:
                now += damping * (before - now)
            largest = max(largest, _change(now, before))
        if rounds == 0 and start is not None:
            old = graph.start()  # the messages that were given stay as they are
        old, new = new, old
        rounds += 1
        if not np.isfinite(largest):
            break
        converged = largest <= tolerance
    cavity, slope = graph.observe(old)
    variance = 1 / (counts / graph.noise + 1 / cavity)
    error = variance**2 * (counts * graph.true_noise / graph.noise**2 + slope / cavity**2)
    return TaughtBeliefs(variance, error, cavity, slope, converged, rounds, old)


def _change(now: FloatArray, before: FloatArray) -> float:
    """Return the largest change of a message, relative to the largest of all."""
    size = float(np.abs(now).max(initial=0.0))
    moved = float(np.abs(now - before).max(initial=0.0))
    return moved / size if size > 0 else moved
