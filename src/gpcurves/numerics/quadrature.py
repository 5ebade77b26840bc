"""Rules that integrate: composite Gauss-Legendre, tensor products, Sobol sequences, distances to a nearest example."""

from __future__ import annotations

from functools import reduce

import numpy as np

from gpcurves.numerics.validation import FloatArray

GAUSS_NODES, GAUSS_WEIGHTS = (np.asarray(a) for a in np.polynomial.legendre.leggauss(16))
"""The 16-point rule on [-1, 1]."""


def gauss_legendre(edges: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return nodes and weights of the composite 16-point rule on these panels."""
    half = np.diff(edges)[:, None] / 2
    middle = (edges[1:] + edges[:-1])[:, None] / 2
    return (middle + half * GAUSS_NODES).ravel(), (half * GAUSS_WEIGHTS).ravel()


def tensor_rule(dim: int, one: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the tensor product of a one-dimensional rule."""
    mesh = np.meshgrid(*([one] * dim), indexing="ij")
    weights: FloatArray = reduce(np.multiply.outer, [weight] * dim)
    return np.stack([axis.ravel() for axis in mesh], axis=1), weights.ravel()


def sobol_rule(dim: int, count: int) -> tuple[FloatArray, FloatArray]:
    """Return at least ``count`` points of a scrambled Sobol sequence in the unit box, with equal weights."""
    from scipy.stats import qmc

    points: FloatArray = qmc.Sobol(dim, scramble=True, rng=0).random_base2(int(np.ceil(np.log2(count))))
    return points, np.full(len(points), 1.0 / len(points))


def distance_edges(largest: float, n: FloatArray) -> FloatArray:
    """Return panels that resolve every scale of distance down to far below the spacing of n examples."""
    smallest = 1e-13 * largest / (1 + float(n.max()))
    edges = np.geomspace(smallest, largest, int(np.ceil(np.log(largest / smallest) / np.log(1.6))) + 1)
    return np.concatenate(([0.0], edges[:-1], [largest]))


def distance_rule(largest: float, n: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return nodes and weights on these panels."""
    return gauss_legendre(distance_edges(largest, n))
