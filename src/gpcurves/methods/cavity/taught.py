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
from functools import cached_property

import numpy as np

from gpcurves.errors import NumericalError
from gpcurves.graphs.vertex_model import VertexModel
from gpcurves.methods.cavity.compiled import Links, Pair, thread_count
from gpcurves.methods.cavity.messages import Kernel
from gpcurves.methods.cavity.rounds import kernel_of
from gpcurves.methods.cavity.taught_messages import Ends, relay_prior, relay_taught, taught_marginals
from gpcurves.numerics.validation import FloatArray

_PRIOR_TOLERANCE, _MOST_PRIOR_ROUNDS = 1e-12, 10_000


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

    A message is one row: of the student, its derivative, and between both. Messages of the teacher are apart, because data do not
    change them.
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

    @property
    def ends(self) -> Ends:
        """Where slots begin, and their other ends, as compiled code takes them."""
        return self.links.indptr, self.links.reverse

    def start(self) -> FloatArray:
        """Return messages that say nothing."""
        x, z = self.student.model, self.teacher.model
        return np.zeros((self.links.slots, 2 * x.packed + x.size * z.size))

    def send_prior(self, old: FloatArray, threads: int, compare: bool = False) -> tuple[FloatArray, FloatArray, float]:
        """Send the messages of the teacher once; return them, what each slot must know of them, and how much they changed."""
        new, known = np.empty_like(old), np.empty_like(old)
        changes = self.links.run(threads, relay_prior, self.ends, self.teacher.arrays, (old, new), known, compare)
        return new, known, float(np.max(changes, initial=0.0))

    @cached_property
    def prior(self) -> Pair:
        """The messages of the teacher after convergence, and what each slot must know of them."""
        messages, threads = np.zeros((self.links.slots, self.teacher.model.packed)), thread_count(None)
        for _ in range(_MOST_PRIOR_ROUNDS):
            messages, known, change = self.send_prior(messages, threads, True)
            if change <= _PRIOR_TOLERANCE:
                return messages, known
        raise NumericalError(f"the messages of the teacher did not converge in {_MOST_PRIOR_ROUNDS:,} rounds")

    def send(
        self,
        buffers: Pair,
        known: FloatArray,
        counts: FloatArray,
        threads: int,
        compare: bool = False,
        damping: float = 0.0,
    ) -> float:
        """Send all messages once, and return the largest change in a block, relative to the largest number there."""
        scale = self.student.degrees * self.student.kappa
        noises = np.where(counts > 0, scale * self.true_noise / np.maximum(counts, 1e-300), 0.0)
        data = counts / (scale * self.noise), noises, self.ratio
        chains = self.student.arrays, self.teacher.arrays
        found = self.links.run(threads, relay_taught, self.ends, chains, data, known, (compare, damping), buffers)
        moved, largest = np.max(found, axis=0).reshape(2, 3)
        return float(np.max(np.divide(moved, largest, out=moved, where=largest > 0)))

    def observe(self, messages: FloatArray, prior: FloatArray, threads: int) -> Pair:
        """Return the student's variance of every vertex given the examples at all others, and its derivative."""
        last = np.empty(self.links.vertices), np.empty(self.links.vertices)
        chains = self.student.arrays, self.teacher.arrays
        self.links.run(threads, taught_marginals, self.ends, chains, self.ratio, (messages, prior), last)
        scale = self.student.degrees * self.student.kappa
        return -last[0] / scale, -last[1] / scale


@dataclass(frozen=True, eq=False)
class TaughtBeliefs:
    """The student's variance of every vertex, its squared error, the same given the examples at all others, and convergence."""

    variance: FloatArray
    error: FloatArray
    cavity_variance: FloatArray
    cavity_error: FloatArray
    converged: bool
    rounds: int
    messages: FloatArray


def propagate_taught(
    graph: TaughtGraph,
    counts: FloatArray,
    *,
    tolerance: float = 1e-10,
    max_rounds: int = 1000,
    damping: float = 0.0,
    start: FloatArray | None = None,
    threads: int | None = None,
) -> TaughtBeliefs:
    """Send messages along all edges until they no longer change, relative to the largest of their kind."""
    workers = thread_count(threads)
    prior, known = graph.prior
    old, new = graph.start() if start is None else start.copy(), graph.start()
    rounds, converged = 0, graph.links.slots == 0
    while not converged and rounds < max_rounds:
        change = graph.send((old, new), known, counts, workers, True, damping)
        old, new = new, old
        rounds += 1
        if not np.isfinite(change):
            break
        converged = change <= tolerance
    cavity, slope = graph.observe(old, prior, workers)
    variance = 1 / (counts / graph.noise + 1 / cavity)
    error = variance**2 * (counts * graph.true_noise / graph.noise**2 + slope / cavity**2)
    return TaughtBeliefs(variance, error, cavity, slope, converged, rounds, old)
