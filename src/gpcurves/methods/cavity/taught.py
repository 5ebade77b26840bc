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
from gpcurves.numerics.validation import FloatArray

_BLOCK = 20_000  # slots of which all matrices are held at once


@dataclass(frozen=True, eq=False)
class Chain:
    """One kernel on one graph: its variables, the weight of every slot, degrees and normalisers; isolated vertices have degree 1."""

    local: FloatArray
    coupling: FloatArray
    weights: FloatArray
    degrees: FloatArray
    kappa: FloatArray

    @classmethod
    def of(cls, model: VertexModel, weights: FloatArray, degrees: FloatArray, kappa: FloatArray) -> Chain:
        local = np.zeros((model.size, model.size))
        local[np.tril_indices(model.size)] = model.local
        local = local + np.tril(local, -1).T
        # without neighbours the matrix of degree 1 alone gives the variance of an isolated vertex
        return cls(local, model.coupling, weights, np.where(degrees > 0, degrees, 1.0), kappa)


@dataclass(frozen=True, eq=False)
class Blocks:
    """Messages, or sums of them, in blocks: of the student, their derivative, mixed, and of the teacher."""

    xx: FloatArray
    derivative: FloatArray
    xz: FloatArray
    zz: FloatArray

    @classmethod
    def zero(cls, count: int, student: Chain, teacher: Chain) -> Blocks:
        p, q = len(student.local), len(teacher.local)
        return cls(np.zeros((count, p, p)), np.zeros((count, p, p)), np.zeros((count, p, q)), np.zeros((count, q, q)))

    @property
    def parts(self) -> tuple[FloatArray, ...]:
        return self.xx, self.derivative, self.xz, self.zz

    def sums(self, vertex: IntArray, vertices: int) -> Blocks:
        """Add the messages of the slots of each vertex."""
        totals = []
        for part in self.parts:
            total = np.zeros((vertices, *part.shape[1:]))
            np.add.at(total, vertex, part)
            totals.append(total)
        return Blocks(*totals)


@dataclass(frozen=True, eq=False)
class TaughtGraph:
    """A student and a teacher on the slots of a graph; with different graphs, on the slots of both."""

    vertex: IntArray  # the vertex that a slot belongs to
    reverse: IntArray  # the slot at the other end
    student: Chain
    teacher: Chain
    noise: float
    true_noise: float

    @property
    def vertices(self) -> int:
        return len(self.student.degrees)

    @property
    def ratio(self) -> FloatArray:
        r""":math:`\rho` of every vertex."""
        x, z = self.student, self.teacher
        return np.sqrt(x.kappa * x.degrees / (z.kappa * z.degrees))

    def start(self) -> Blocks:
        """Return messages that say nothing."""
        return Blocks.zero(len(self.vertex), self.student, self.teacher)

    def send(self, old: Blocks, counts: FloatArray) -> Blocks:
        """Send all messages once."""
        total = old.sums(self.vertex, self.vertices)
        new = self.start()
        for begin in range(0, len(self.vertex), _BLOCK):
            slots = slice(begin, begin + _BLOCK)
            at, to = self.vertex[slots], self.reverse[slots]
            rest = Blocks(*(whole[at] - part[slots] for whole, part in zip(total.parts, old.parts, strict=True)))
            V, derivative, mixed, prior = self._invert(rest, at, counts[at])
            K, K0 = self.student.coupling, self.teacher.coupling
            A, A0 = (chain.weights[slots][:, None, None] for chain in (self.student, self.teacher))
            new.xx[to], new.derivative[to] = A * A * (K @ V @ K), A * A * (K @ derivative @ K)
            new.xz[to], new.zz[to] = A * A0 * (K @ mixed @ K0), A0 * A0 * (K0 @ prior @ K0)
        return new

    def observe(self, messages: Blocks) -> tuple[FloatArray, FloatArray]:
        """Return the student's variance of every vertex given the examples at all others, and its derivative."""
        total = messages.sums(self.vertex, self.vertices)
        V, derivative, _, _ = self._invert(total, np.arange(self.vertices), None)
        scale = self.student.degrees * self.student.kappa
        pivot = V[:, -1, -1]
        return -1 / (pivot * scale), derivative[:, -1, -1] / (pivot * pivot * scale)

    def _invert(
        self, incoming: Blocks, at: IntArray, counts: FloatArray | None
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return the inverse of the matrix of vertices, its derivative, and its blocks with the teacher's variables.

        Without ``counts`` data at the vertex itself are left out.
        """
        x, z = self.student, self.teacher
        P = x.degrees[at, None, None] * x.local - incoming.xx
        M = z.degrees[at, None, None] * z.local - incoming.zz
        rho = self.ratio[at][:, None]
        V = np.asarray(np.linalg.inv(P), dtype=np.float64)
        # the last of z is rho u, so that its row and column are added to those of u
        across = -incoming.xz[:, :, :-1]
        across[:, -1] += rho * M[:, -1, :-1]
        change = -incoming.derivative
        change[:, -1] -= rho * incoming.xz[:, :, -1]
        change[:, :, -1] -= rho * incoming.xz[:, :, -1]
        change[:, -1, -1] += rho[:, 0] ** 2 * M[:, -1, -1]
        if counts is not None:
            scale = x.degrees[at] * x.kappa[at]
            gain = counts / (scale * self.noise)
            column = V[:, :, -1]
            # the noise adds -1/gain to the corner: infinite without examples, which pins u to 0
            V = V - column[:, :, None] * column[:, None, :] / (column[:, -1] - gain)[:, None, None]
            seen = np.maximum(counts, 1.0)
            change[:, -1, -1] -= np.where(counts > 0, scale * self.true_noise / seen, 0.0)
        prior = np.zeros_like(M)
        prior[:, :-1, :-1] = np.linalg.inv(M[:, :-1, :-1])
        carried = V @ across
        mixed = np.empty_like(incoming.xz)
        mixed[:, :, :-1] = -carried @ prior[:, :-1, :-1]
        mixed[:, :, -1] = rho * V[:, :, -1]
        derivative = -mixed[:, :, :-1] @ np.swapaxes(carried, 1, 2) - V @ change @ V
        return V, derivative, mixed, prior


@dataclass(frozen=True, eq=False)
class TaughtBeliefs:
    """The student's variance of every vertex, its squared error, the same given the examples at all others, and convergence."""

    variance: FloatArray
    error: FloatArray
    cavity_variance: FloatArray
    cavity_error: FloatArray
    converged: bool
    rounds: int
    messages: Blocks


def propagate_taught(
    graph: TaughtGraph,
    counts: FloatArray,
    *,
    tolerance: float = 1e-10,
    max_rounds: int = 1000,
    damping: float = 0.0,
    start: Blocks | None = None,
) -> TaughtBeliefs:
    """Send messages along all edges until they no longer change, relative to the largest of their kind."""
    old = graph.start() if start is None else start
    rounds, converged = 0, len(graph.vertex) == 0
    while not converged and rounds < max_rounds:
        new = graph.send(old, counts)
        if damping:
            mixed = zip(new.parts, old.parts, strict=True)
            new = Blocks(*(each + damping * (before - each) for each, before in mixed))
        rounds += 1
        changes = [
            float(abs(each - before).max(initial=0.0)) / (float(abs(each).max(initial=0.0)) or 1.0)
            for each, before in zip(new.parts, old.parts, strict=True)
        ]
        old = new
        if not np.isfinite(changes).all():
            break
        converged = max(changes) <= tolerance
    cavity, slope = graph.observe(old)
    variance = 1 / (counts / graph.noise + 1 / cavity)
    error = variance**2 * (counts * graph.true_noise / graph.noise**2 + slope / cavity**2)
    return TaughtBeliefs(variance, error, cavity, slope, converged, rounds, old)
