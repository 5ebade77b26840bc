"""Where further inputs would come from: the user's pool of unlabelled rows, or a copula fitted to the rows there are."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, ndtri

from gpcurves.validation import FloatArray

_FEW_VALUES = 0.2
"""A column is discrete where it has fewer different values than this share of the rows, or at most ten."""


class Population:
    """A distribution of inputs that can be drawn from."""

    def draw(self, count: int, rng: np.random.Generator) -> FloatArray:
        """Return ``count`` inputs, one per row."""
        raise NotImplementedError


class Pool(Population):
    """Rows of a table: all different ones before any is repeated."""

    def __init__(self, X: FloatArray) -> None:
        self.X = X

    def draw(self, count: int, rng: np.random.Generator) -> FloatArray:
        rounds = -(-count // len(self.X))
        order = np.concatenate([rng.permutation(len(self.X)) for _ in range(rounds)])
        return np.asarray(self.X[order[:count]])


class Copula(Population):
    """Gaussian copula with the empirical marginals; discrete columns stay discrete."""

    def __init__(self, X: FloatArray) -> None:
        n, dim = X.shape
        self.sorted = np.sort(X, axis=0)
        different = np.array([len(np.unique(column)) for column in X.T])
        self.discrete = (different <= 10) | (different < _FEW_VALUES * n)
        scores = np.column_stack([_normal_scores(column) for column in X.T])
        correlation = np.atleast_2d(np.corrcoef(scores, rowvar=False))
        shrink = min(1.0, dim / n)
        self.root = np.linalg.cholesky((1 - shrink) * correlation + (shrink + 1e-9) * np.eye(dim))

    def draw(self, count: int, rng: np.random.Generator) -> FloatArray:
        n, dim = self.sorted.shape
        chance = ndtr(rng.standard_normal((count, dim)) @ self.root.T)
        places = np.arange(1, n + 1) / (n + 1)
        columns = [
            values[np.minimum((u * n).astype(int), n - 1)] if discrete else np.interp(u, places, values)
            for u, values, discrete in zip(chance.T, self.sorted.T, self.discrete, strict=True)
        ]
        return np.column_stack(columns)


def _normal_scores(column: FloatArray) -> FloatArray:
    """Return the normal quantiles of the ranks; ties share theirs."""
    _, place, counts = np.unique(column, return_inverse=True, return_counts=True)
    rank = np.cumsum(counts) - (counts - 1) / 2
    return np.asarray(ndtri(rank[place] / (len(column) + 1)))
