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

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from gpcurves.errors import InputError, NumericalError
from gpcurves.graphs.graph import IntArray
from gpcurves.graphs.vertex_model import VertexModel
from gpcurves.graphs.vertex_types import VertexTypes, split
from gpcurves.methods.cavity.compiled import Links
from gpcurves.methods.cavity.rounds import close, iterate, last_pivots, next_series, returning_walks, send
from gpcurves.methods.cavity.scores import LabelNoise
from gpcurves.numerics.validation import FloatArray

_CALM_SWEEPS, _CALM = 3, 0.02
"""The average has settled if it moves by less than this share of the precision asked for, so many times in a row."""
_MOST_SWEEPS = 400
LEAST_RELAXATION = 4
_NEGLIGIBLE = 1e-17
Classes = dict[tuple[int, int], IntArray]
"""Slots by the types of the vertices that they lead from and to."""


def poisson_weights(nu: float) -> tuple[FloatArray, FloatArray]:
    """Return the counts that matter and their probabilities, which add up to 1."""
    reach = 12 * math.sqrt(nu) + 25  # far beyond what is negligible, for small and for large nu
    counts = np.arange(max(0, math.floor(nu - reach)), math.ceil(nu + reach) + 1, dtype=np.float64)
    logs = counts * math.log(nu) - nu - np.array([math.lgamma(k + 1) for k in counts]) if nu > 0 else -1e9 * counts
    weights = np.exp(logs)
    keep = weights > _NEGLIGIBLE
    return counts[keep], weights[keep] / weights[keep].sum()


def mean_posterior(variance: FloatArray, noise: float, nu: float) -> FloatArray:
    r"""Return the mean of :math:`1/(\gamma/\sigma^2 + 1/v)` over :math:`\gamma\sim` Poisson(:math:`\nu`), for every cavity variance v."""
    total = np.zeros_like(variance)
    for count, weight in zip(*poisson_weights(nu), strict=True):
        total += weight * noise / (noise + count * variance)
    return variance * total


def draw_stratified(values: FloatArray, weights: FloatArray, size: int, rng: np.random.Generator) -> FloatArray:
    """Draw values in random order; each occurs as often as its weight says, up to one time.

    One random number shifts a regular grid of quantiles: a thousand draws then have almost exactly the right distribution,
    and averages over them much less noise than with independent draws.
    """
    cumulative = np.cumsum(weights)
    quantiles = (np.arange(size) + rng.random()) / size * cumulative[-1]
    drawn: FloatArray = values[np.minimum(np.searchsorted(cumulative, quantiles, side="right"), len(values) - 1)]
    rng.shuffle(drawn)
    return drawn


def check_degrees(given: object) -> VertexTypes:
    """Return types of vertices; the probabilities of the degrees 0, 1, … of all vertices stand for one type."""
    if isinstance(given, VertexTypes):
        types = given
    else:
        weights = np.array(given, dtype=np.float64)
        if weights.ndim != 1 or not np.isfinite(weights).all() or (weights < 0).any():
            raise InputError("degree probabilities must be a sequence of finite numbers, none of them negative")
        if abs(weights.sum() - 1) > 1e-3:
            raise InputError(f"degree probabilities must add up to 1, got {weights.sum():g}")
        types = VertexTypes.single(np.asarray(weights / weights.sum()))
    if not any(each[1:].any() for each in types.degrees):
        raise InputError("the ensemble has no edges: every vertex has degree 0")
    return types


@dataclass(frozen=True, eq=False)
class Wiring(Links):
    """Independent random graphs with the same number of vertices, each with its own part of the slots (``bounds``).

    Slots are paired at random within each graph: double edges and edges from a vertex to itself occur, with a probability
    that vanishes for large graphs. The vertices of a graph are in the order of their types, ``sizes`` of each. Only slots that
    lead from one type to another and back are paired, which ``classes`` lists for every graph.
    """

    bounds: IntArray
    sizes: tuple[int, ...]
    classes: tuple[Classes, ...]

    @classmethod
    def draw(cls, types: VertexTypes, vertices: int, rngs: Sequence[np.random.Generator]) -> Wiring:
        """Draw one graph without isolated vertices for each random stream, from the probabilities of the degrees."""
        sizes = types.split(vertices)
        drawn = [
            draw_stratified(np.arange(1.0, len(degrees)), degrees[1:], size, rng)
            for rng in rngs
            for degrees, size in zip(types.degrees, sizes, strict=True)
            if size
        ]
        counts = np.concatenate(drawn)
        indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        bounds = indptr[::vertices].copy()
        starts = np.concatenate(([0], np.cumsum(sizes)))
        reverse = np.arange(indptr[-1])
        classes = []
        for number, rng in enumerate(rngs):
            own = _classify(types.mixing, indptr[number * vertices + starts], rng)
            classes.append(own)
            for one, other in own:
                if one > other:
                    continue
                order = own[one, other][rng.permutation(len(own[one, other]))]
                back = (
                    order[len(order) // 2 :] if one == other else own[other, one][rng.permutation(len(own[other, one]))]
                )
                half = len(order) // 2 if one == other else min(len(order), len(back))
                # one out of an odd number, or few that have no counterpart, are their own other ends
                reverse[order[:half]], reverse[back[:half]] = back[:half], order[:half]
        return cls(indptr, reverse, np.ones(len(reverse)), counts, bounds, tuple(sizes), tuple(classes))

    def carry(self, messages: FloatArray, former: Wiring, rngs: Sequence[np.random.Generator]) -> FloatArray:
        """Hand the messages of a former wiring out to the slots of this one, at random within each graph and class."""
        order = np.empty(len(self.reverse), dtype=np.int64)
        for number, (rng, own, before) in enumerate(zip(rngs, self.classes, former.classes, strict=True)):
            for name, slots in own.items():
                source = before[name]
                if len(source) == 0:  # a class so small that it was empty before
                    source = np.arange(former.bounds[number], former.bounds[number + 1])
                # Every message is used equally often, up to one time: independent draws would lose a third of them.
                whole, rest = divmod(len(slots), len(source))
                parts = [rng.permutation(len(source)) for _ in range(whole)] + [rng.permutation(len(source))[:rest]]
                order[slots] = source[np.concatenate(parts)]
        return messages[order]

    def shuffle(self, rngs: Sequence[np.random.Generator]) -> IntArray:
        """Return a random order of the slots of each graph, within each class."""
        order = np.empty(len(self.reverse), dtype=np.int64)
        for rng, own in zip(rngs, self.classes, strict=True):
            for slots in own.values():
                order[slots] = slots[rng.permutation(len(slots))]
        return order

    def redirect(self, rngs: Sequence[np.random.Generator]) -> IntArray:
        """Return for every slot a random one of the class that leads back, each once: where a message goes as if edges were new."""
        order = np.empty(len(self.reverse), dtype=np.int64)
        for rng, own in zip(rngs, self.classes, strict=True):
            for (one, other), slots in own.items():
                if one == other:
                    order[slots] = slots[rng.permutation(len(slots))]
                elif one < other:
                    there, back = (each[rng.permutation(len(each))] for each in (slots, own[other, one]))
                    half = min(len(there), len(back))
                    order[there[:half]], order[back[:half]] = back[:half], there[rng.permutation(half)]
                    for left in (there[half:], back[half:]):  # few that have no counterpart keep their messages
                        order[left] = left
        return order


def _classify(mixing: FloatArray, ends: IntArray, rng: np.random.Generator) -> Classes:
    """Return the slots of one graph by the types that they lead from and to; those of each type are in the ranges of ``ends``."""
    classes = {}
    for one, (first, last) in enumerate(itertools.pairwise(ends.tolist())):
        slots = np.arange(first, last)
        if len(mixing) > 1:
            slots = first + rng.permutation(last - first)
        cuts = np.concatenate(([0], np.cumsum(split(mixing[one], last - first))))
        for other in range(len(mixing)):
            classes[one, other] = slots[cuts[other] : cuts[other + 1]]
    return classes


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
class Dynamics:
    """A run of populations: what stays the same, and its steps from one state to the next."""

    types: VertexTypes
    model: VertexModel
    noise: float
    nu: float
    constant: float | None  # what all vertices are normalised by; None for local normalisation
    paper: bool  # whether local normalisation is that of UM13 (29)
    vertices: int  # in each population
    rngs: Sequence[np.random.Generator]  # one random stream for each population
    threads: int

    @property
    def width(self) -> int:
        """Numbers in a message."""
        return self.model.packed

    @property
    def quenched(self) -> bool:
        """Whether normalisers belong to the wiring, so that it lasts for several sweeps."""
        return self.constant is None and not self.paper

    @property
    def bare(self) -> FloatArray:
        """What `observe` would return for an isolated vertex."""
        return np.array([1.0 if self.constant is None else self.model.isolated / self.constant])

    def mean_error(self, cavity: FloatArray, rate: float) -> FloatArray:
        """Return the error of vertices that are labelled at this rate, each averaged over its own number of examples."""
        return mean_posterior(cavity, self.noise, self.nu * rate)

    def error(self, cavity: FloatArray, counts: FloatArray) -> FloatArray:
        """Return the error of every vertex with its own number of examples."""
        return np.asarray(1 / (counts / self.noise + 1 / cavity))

    def moments(self, cavity: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the variances of vertices given the examples at all others, and their squared errors."""
        return cavity, cavity

    @property
    def labels(self) -> LabelNoise:
        """The noise of labels, as the student believes and in truth."""
        return LabelNoise(self.noise, self.noise)

    def mean_score(self, quantity: str, cavity: FloatArray, rate: float) -> FloatArray:
        """Return a score at vertices that are labelled at this rate, each averaged over its own number of examples.

        An example sees Poisson many others at its vertex, and vertices count as often as they are labelled.
        """
        before, error = self.moments(cavity)
        total = np.zeros_like(before)
        for count, weight in zip(*poisson_weights(self.nu * rate), strict=True):
            if quantity == "training":
                total += weight * rate * self.labels.training(before, error, count + 1)
            else:
                after = 1 / (count / self.noise + 1 / before)
                total += weight * self.labels.nlpd(after, self.error(cavity, count))
        return total

    def draw_counts(self) -> FloatArray:
        """Draw the number of examples at every vertex."""
        known = [poisson_weights(self.nu * rate) for rate in self.types.rates.tolist()]
        sizes = self.types.split(self.vertices)
        drawn = [draw_stratified(*own, size, rng) for rng in self.rngs for own, size in zip(known, sizes, strict=True)]
        return np.concatenate(drawn)

    def mean_errors(self, cavity: FloatArray, quantity: str | None = None) -> FloatArray:
        """Return the error (or a score) of every vertex, averaged over its own examples, from what `observe` returned."""
        measure = self.mean_error if quantity is None else partial(self.mean_score, quantity)
        parts = zip(self.by_type(cavity), self.types.rates.tolist(), strict=True)
        errors = [measure(part, rate) for part, rate in parts]
        return np.concatenate(errors, axis=1).ravel()

    def by_type(self, values: FloatArray) -> list[FloatArray]:
        """Return values of all vertices as arrays of populations and vertices, one for each type."""
        cuts = np.cumsum(self.types.split(self.vertices))[:-1]
        return np.split(values.reshape(len(self.rngs), self.vertices, *values.shape[1:]), cuts, axis=1)

    def rewire(self, former: State | None) -> State:
        """Draw new degrees and edges, and hand the messages of a former state out at random, or none."""
        wiring = Wiring.draw(self.types, self.vertices, self.rngs)
        if former is None:
            return self._normalise(wiring, np.zeros((wiring.slots, self.width)))
        if former.messages.shape[1] != self.width:
            raise InputError("start must be a result with the same kernel")
        return self._normalise(wiring, wiring.carry(former.messages, former.wiring, self.rngs))

    def sweep(self, state: State, counts: FloatArray) -> State:
        """Send every message once."""
        if self.model.size == 0:
            return state
        if self.paper:
            state = self._send_series(state)
        gains = counts / (state.wiring.degrees * state.normaliser * self.noise)
        new = np.empty_like(state.messages)
        send(state.wiring, self.model, (gains, gains), (state.messages, new), self.threads)
        return replace(state, messages=new)

    def observe(self, state: State) -> tuple[State, FloatArray]:
        """Return the variance of every vertex given the examples at all others."""
        if self.model.size == 0:
            return state, np.asarray(self.model.isolated / state.normaliser)
        if self.paper:  # normaliser and messages must arrive together
            state = self._shuffle(state)
        pivots, _ = last_pivots(state.wiring, self.model, state.messages, self.threads)
        return state, np.asarray(-pivots / state.wiring.degrees / state.normaliser)

    def settle(self, state: State, precision: float, least: int) -> tuple[State, bool, int, int]:
        """Sweep with the same examples until the average no longer moves, at least so many times.

        Returns the state, whether it settled, how many sweeps that took, and how many of them matter.
        """
        counts = self.draw_counts()
        if self.paper:  # no wiring lasts, so that nothing settles but the distribution
            for _ in range(least + 16):
                state = self.sweep(state, self.draw_counts())
            return state, True, least + 16, LEAST_RELAXATION
        last, calm = np.inf, 0
        for done in range(1, _MOST_SWEEPS + 1):
            state = self.sweep(state, counts)
            state, cavity = self.observe(state)
            now = float(self.mean_errors(cavity).mean())
            calm = calm + 1 if abs(now - last) <= _CALM * precision * now else 0
            last = now
            if calm >= _CALM_SWEEPS and done >= least:
                return state, True, done, max(LEAST_RELAXATION, done - _CALM_SWEEPS)
        return state, False, _MOST_SWEEPS, _MOST_SWEEPS

    def _normalise(self, wiring: Wiring, messages: FloatArray) -> State:
        """Return the state with the normaliser of every vertex of a new wiring."""
        model, none = self.model, np.zeros((0, 0))
        if self.constant is not None or model.size == 0:
            same = model.isolated if self.constant is None else self.constant
            return State(wiring, messages, np.full(wiring.vertices, same), none)
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
    first = np.zeros((links.slots, model.packed))
    messages, converged, history, _ = iterate(links, model, (none, none), first, threads)
    if not converged:
        raise NumericalError(f"prior variances did not converge in {len(history)} iterations of belief propagation")
    return -last_pivots(links, model, messages, threads)[0] / links.degrees
