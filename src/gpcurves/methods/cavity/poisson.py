"""Averages over the number of examples at a vertex, which is Poisson distributed, and draws with little noise."""

from __future__ import annotations

import math

import numpy as np

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
