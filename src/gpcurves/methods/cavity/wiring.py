"""What populations draw: numbers of examples, and random graphs with given degrees as index arrays, side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpcurves.errors import InputError
from gpcurves.graphs.graph import IntArray
from gpcurves.methods.cavity.compiled import Links
from gpcurves.numerics.validation import FloatArray

_NEGLIGIBLE = 1e-17


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


@dataclass(frozen=True, eq=False)
class DegreeSampler:
    """The degrees of an ensemble, all that population dynamics knows about it: their probabilities, and how to draw them."""

    probabilities: FloatArray

    @classmethod
    def from_probabilities(cls, probabilities: object) -> DegreeSampler:
        """Check the probabilities and make them add up to 1."""
        weights = np.array(probabilities, dtype=np.float64)
        if weights.ndim != 1 or not np.isfinite(weights).all() or (weights < 0).any():
            raise InputError("degree probabilities must be a sequence of finite numbers, none of them negative")
        if abs(weights.sum() - 1) > 1e-3:
            raise InputError(f"degree probabilities must add up to 1, got {weights.sum():g}")
        if not weights[1:].any():
            raise InputError("the ensemble has no edges: every vertex has degree 0")
        return cls(weights / weights.sum())

    @property
    def isolated(self) -> float:
        """Probability that a vertex has no neighbour."""
        return float(self.probabilities[0])

    def draw(self, count: int, rng: np.random.Generator) -> FloatArray:
        """Draw degrees above 0, in random order."""
        return draw_stratified(np.arange(1.0, len(self.probabilities)), self.probabilities[1:], count, rng)


@dataclass(frozen=True, eq=False)
class Wiring(Links):
    """Independent random graphs with the same number of vertices, each with its own part of the slots (``bounds``).

    Slots are paired at random within each graph: double edges and edges from a vertex to itself occur, with a probability
    that vanishes for large graphs.
    """

    bounds: IntArray

    @classmethod
    def draw(cls, degrees: DegreeSampler, vertices: int, rngs: Sequence[np.random.Generator]) -> Wiring:
        """Draw one graph for each random stream."""
        counts = np.concatenate([degrees.draw(vertices, rng) for rng in rngs])
        indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        bounds = indptr[::vertices].copy()
        reverse = np.arange(indptr[-1])
        for rng, first, last in zip(rngs, bounds[:-1], bounds[1:], strict=True):
            order = first + rng.permutation(last - first)
            half = len(order) // 2  # an odd one out is its own other end
            reverse[order[:half]], reverse[order[half : 2 * half]] = order[half : 2 * half], order[:half]
        return cls(indptr, reverse, np.ones(len(reverse)), counts, bounds)

    def carry(self, messages: FloatArray, former: Wiring, rngs: Sequence[np.random.Generator]) -> FloatArray:
        """Hand the messages of a former wiring out to the slots of this one, at random within each graph."""
        order = np.empty(len(self.reverse), dtype=np.int64)
        for rng, first, last, begin, end in zip(
            rngs, self.bounds[:-1], self.bounds[1:], former.bounds[:-1], former.bounds[1:], strict=True
        ):
            # Every message is used equally often, up to one time: independent draws would lose a third of them.
            whole, rest = divmod(last - first, end - begin)
            parts = [rng.permutation(end - begin) for _ in range(whole)] + [rng.permutation(end - begin)[:rest]]
            order[first:last] = begin + np.concatenate(parts)
        return messages[order]

    def shuffle(self, rngs: Sequence[np.random.Generator]) -> IntArray:
        """Return a random order of the slots of each graph."""
        spans = zip(rngs, self.bounds[:-1], self.bounds[1:], strict=True)
        return np.concatenate([first + rng.permutation(last - first) for rng, first, last in spans])
