"""Where further inputs would come from: the user's pool of unlabelled rows, or a copula fitted to the rows there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from gpcurves.numerics.validation import FloatArray

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
    """Gaussian copula with the empirical marginals; discrete columns stay discrete, and a category is always one of its own.

    Parameters
    ----------
    X
        Inputs, one per row.
    categories
        For each category, the places of the columns that tell whether it is the first, the second, …
    y
        The target: a category takes part in the copula as a number, its place in the order of the average targets.
    """

    def __init__(self, X: FloatArray, categories: Sequence[Sequence[int]] = (), y: FloatArray | None = None) -> None:
        together = {place for places in categories for place in places}
        self.plain = [place for place in range(X.shape[1]) if place not in together]
        self.coded = [_Coded.of(X, list(places), y) for places in categories]
        self.width = X.shape[1]
        columns = np.column_stack([X[:, self.plain], *(coded.codes for coded in self.coded)])
        n, dim = columns.shape
        self.sorted = np.sort(columns, axis=0)
        different = np.array([len(np.unique(column)) for column in columns.T])
        self.discrete = (different <= 10) | (different < _FEW_VALUES * n)
        self.discrete[len(self.plain) :] = True
        scores = np.column_stack([_normal_scores(column) for column in columns.T])
        with np.errstate(invalid="ignore"):
            correlation = np.nan_to_num(np.atleast_2d(np.corrcoef(scores, rowvar=False)))  # 0 with a constant column
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
        X = np.empty((count, self.width))
        X[:, self.plain] = np.column_stack(columns)[:, : len(self.plain)]
        for coded, codes in zip(self.coded, columns[len(self.plain) :], strict=True):
            X[:, coded.places] = coded.patterns[codes.astype(int)]
        return X


@dataclass(frozen=True)
class _Coded:
    """Columns that belong to one category, as a single column of whole numbers and back."""

    places: list[int]
    patterns: FloatArray
    codes: FloatArray

    @classmethod
    def of(cls, X: FloatArray, places: list[int], y: FloatArray | None) -> _Coded:
        patterns, code = np.unique(X[:, places], axis=0, return_inverse=True)
        code = code.reshape(-1)
        counts = np.bincount(code)
        target = np.arange(len(patterns)) if y is None else np.bincount(code, weights=y) / counts
        order = np.argsort(target)
        return cls(places, patterns[order], np.argsort(order)[code].astype(np.float64))


def _normal_scores(column: FloatArray) -> FloatArray:
    """Return the normal quantiles of the ranks; ties share theirs."""
    _, place, counts = np.unique(column, return_inverse=True, return_counts=True)
    rank = np.cumsum(counts) - (counts - 1) / 2
    return np.asarray(ndtri(rank[place] / (len(column) + 1)))
