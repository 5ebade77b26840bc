"""Exact averages over the number of examples at a vertex, which is Poisson distributed."""

from __future__ import annotations

import math

import numpy as np

from gpcurves.numerics.validation import FloatArray

_NEGLIGIBLE = 1e-17


def poisson_weights(nu: float) -> tuple[FloatArray, FloatArray]:
    """Return the counts that matter and their probabilities, which add up to 1."""
    reach = 12 * math.sqrt(nu) + 25
    counts = np.arange(max(0, math.floor(nu - reach)), math.ceil(nu + reach) + 1, dtype=np.float64)
    logs = counts * math.log(nu) - nu - np.array([math.lgamma(k + 1) for k in counts]) if nu > 0 else -1e9 * counts
    chances = np.exp(logs)
    keep = chances > _NEGLIGIBLE
    return counts[keep], chances[keep] / chances[keep].sum()


def mean_posterior(variance: FloatArray, noise: float, nu: float) -> FloatArray:
    r"""Return $\langle 1/(\gamma/\sigma^2 + 1/v)\rangle$ over $\gamma\sim$ Poisson($\nu$), for every cavity variance $v$."""
    total = np.zeros_like(variance)
    for count, chance in zip(*poisson_weights(nu), strict=True):
        total += chance * noise / (noise + count * variance)
    return variance * total


def stratified_counts(size: int, nu: float, rng: np.random.Generator) -> FloatArray:
    """Draw counts in random order; each count occurs as often as it should, up to one vertex."""
    counts, chances = poisson_weights(nu)
    cumulative = np.cumsum(chances)
    places = (np.arange(size) + rng.random()) / size * cumulative[-1]
    drawn: FloatArray = counts[np.minimum(np.searchsorted(cumulative, places, side="right"), len(counts) - 1)]
    rng.shuffle(drawn)
    return drawn
