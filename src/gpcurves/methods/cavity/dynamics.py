r"""Population dynamics, step by step: messages on large random graphs, sent again and again with new examples.

In every sweep all messages are sent once, with new numbers of examples :math:`\gamma\sim` Poisson(:math:`\nu`). Seen from a vertex the graph is
a tree, so that a message that took s steps has met numbers that are independent of those nearer by: each sweep is a new
sample. The wiring is drawn anew every few sweeps, or in every sweep if no normaliser belongs to it.

**Local normalisation.** Within one wiring the normaliser :math:`\kappa_i` of every vertex comes from the same neighbourhood that its messages
come from, as it must. UM13 (29) draws the message from above at random instead; this is what happens if the wiring is drawn
anew in every sweep (``paper``).

Descriptions and states are frozen, and every step returns a new state. Only the random streams change: the order in which
steps draw from them is part of the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gpcurves.errors import InputError, NumericalError
from gpcurves.graphs.vertex_model import VertexModel
from gpcurves.methods.cavity.compiled import Links
from gpcurves.methods.cavity.rounds import close, iterate, last_pivots, next_series, returning_walks, send
from gpcurves.methods.cavity.wiring import DegreeSampler, Wiring, draw_stratified, mean_posterior, poisson_weights
from gpcurves.numerics.validation import FloatArray

_CALM_SWEEPS, _CALM = 3, 0.02
"""The average has settled if it moves by less than this share of the precision asked for, so many times in a row."""
_MOST_SWEEPS = 400
LEAST_RELAXATION = 4


@dataclass(frozen=True, eq=False)
class State:
    """Messages on a wiring, from which the next run may start, with the normaliser of every vertex.

    ``series`` are the V of UM13 (30) as power series; they are empty unless its equation (29) is used.
    """

    wiring: Wiring
    messages: FloatArray
    normaliser: FloatArray
    series: FloatArray


@dataclass(frozen=True, eq=False)
class Settled:
    """A state whose average no longer moves: how many sweeps that took, and how many of them matter."""

    state: State
    converged: bool
    sweeps: int
    relaxation: int


@dataclass(frozen=True, eq=False)
class Dynamics:
    """A run of populations: what stays the same, and its steps from one state to the next."""

    degrees: DegreeSampler
    model: VertexModel
    noise: float
    nu: float
    constant: float | None  # what all vertices are normalised by; None for local normalisation
    paper: bool  # whether local normalisation is that of UM13 (29)
    vertices: int  # in each population
    rngs: Sequence[np.random.Generator]  # one random stream for each population
    threads: int

    @property
    def quenched(self) -> bool:
        """Whether normalisers belong to a wiring, which must then last for a while."""
        return self.constant is None and not self.paper

    def draw_counts(self) -> FloatArray:
        """Draw the number of examples at every vertex."""
        counts, weights = poisson_weights(self.nu)
        return np.concatenate([draw_stratified(counts, weights, self.vertices, rng) for rng in self.rngs])

    def average(self, cavity: FloatArray) -> FloatArray:
        """Return the posterior variance of each vertex, averaged over its own examples."""
        return mean_posterior(cavity, self.noise, self.nu)

    def rewire(self, former: State | None) -> State:
        """Draw new degrees and edges, and hand the messages of a former state out at random, or none."""
        wiring = Wiring.draw(self.degrees, self.vertices, self.rngs)
        if former is None:
            return self._normalise(wiring, np.zeros((wiring.slots, self.model.packed)))
        if former.messages.shape[1] != self.model.packed:
            raise InputError("start must be a result with the same kernel")
        return self._normalise(wiring, wiring.carry(former.messages, former.wiring, self.rngs))

    def redirect(self, state: State) -> State:
        """Send each message to a random slot of the same vertices, as if all edges were drawn anew."""
        return replace(state, wiring=replace(state.wiring, reverse=state.wiring.shuffle(self.rngs)))

    def sweep(self, state: State, counts: FloatArray) -> State:
        """Send every message once."""
        if self.model.size == 0:
            return state
        if self.paper:
            state = self._send_series(state)
        gains = counts / (state.wiring.degrees * state.normaliser * self.noise)
        new = np.empty_like(state.messages)
        send(state.wiring, self.model, (gains, gains), state.messages, new, self.threads)
        return replace(state, messages=new)

    def observe(self, state: State) -> tuple[State, FloatArray]:
        """Return the variance of every vertex given the examples at all others."""
        if self.model.size == 0:
            return state, np.asarray(self.model.isolated / state.normaliser)
        if self.paper:  # normaliser and messages must arrive together
            state = self._shuffle(state)
        raw = _raw_variances(state.wiring, self.model, state.messages, self.threads)
        return state, np.asarray(raw / state.normaliser)

    def settle(self, state: State, precision: float, least: int) -> Settled:
        """Sweep with the same examples until the average no longer moves, at least so many times."""
        counts = self.draw_counts()
        if self.paper:  # no wiring lasts, so that nothing settles but the distribution
            for _ in range(least + 16):
                state = self.sweep(state, self.draw_counts())
            return Settled(state, True, least + 16, LEAST_RELAXATION)
        last, calm = np.inf, 0
        for done in range(1, _MOST_SWEEPS + 1):
            state = self.sweep(state, counts)
            state, cavity = self.observe(state)
            now = float(self.average(cavity).mean())
            calm = calm + 1 if abs(now - last) <= _CALM * precision * now else 0
            last = now
            if calm >= _CALM_SWEEPS and done >= least:
                return Settled(state, True, done, max(LEAST_RELAXATION, done - _CALM_SWEEPS))
        return Settled(state, False, _MOST_SWEEPS, _MOST_SWEEPS)

    def _normalise(self, wiring: Wiring, messages: FloatArray) -> State:
        """Return the state with the normaliser of every vertex of a new wiring."""
        model, none = self.model, np.zeros((0, 0))
        if self.constant is not None:
            return State(wiring, messages, np.full(wiring.vertices, self.constant), none)
        if model.size == 0:
            return State(wiring, messages, np.full(wiring.vertices, model.isolated), none)
        if not self.paper:
            return State(wiring, messages, raw_diagonal(wiring, model, self.threads), none)
        assert model.walk is not None
        depth = max(len(model.walk[::2]) - 1, 1)
        state = State(wiring, messages, np.ones(wiring.vertices), np.zeros((wiring.slots, depth)))
        for _ in range(depth):  # each step makes one more coefficient right
            state = self._send_series(state)
        return state

    def _shuffle(self, state: State) -> State:
        """Hand all pairs (V_loc, V) out at random, and take normalisers from the V that arrive: UM13 (30)."""
        assert self.model.walk is not None
        order = state.wiring.shuffle(self.rngs)
        series = state.series[order]
        normaliser = close(state.wiring, self.model.walk, series, self.threads)
        return State(state.wiring, state.messages[order], normaliser, series)

    def _send_series(self, state: State) -> State:
        """Hand all pairs out at random, and send the V of every pair, as power series."""
        state = self._shuffle(state)
        return replace(state, series=next_series(state.wiring, state.series, state.series.shape[1], self.threads))


def raw_diagonal(links: Links, model: VertexModel, threads: int) -> FloatArray:
    r"""Return :math:`\hat C_{ii}` of every vertex, none of them isolated."""
    if model.walk is not None:
        return returning_walks(links, model.walk, threads)
    none = np.zeros(links.vertices)
    end = iterate(links, model, (none, none), np.zeros((links.slots, model.packed)), threads)
    if not end.converged:
        raise NumericalError(f"prior variances did not converge in {len(end.history)} rounds of messages")
    return _raw_variances(links, model, end.messages, threads)


def _raw_variances(links: Links, model: VertexModel, messages: FloatArray, threads: int) -> FloatArray:
    pivots, _ = last_pivots(links, model, messages, threads)
    return -pivots / links.degrees
