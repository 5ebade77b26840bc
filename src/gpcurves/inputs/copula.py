"""Inputs like the rows of a table: the rows themselves, or a copula fitted to them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtr, ndtri

from gpcurves.errors import InputError
from gpcurves.inputs.base import Inputs
from gpcurves.inputs.finite import Sample
from gpcurves.numerics.cholesky import factorise
from gpcurves.numerics.quadrature import sobol_rule
from gpcurves.numerics.validation import FloatArray, frozen
from gpcurves.numerics.validation import points as checked_points

_FEW_VALUES = 0.2
"""A column is discrete if it has fewer different values than this share of the rows, or at most ten."""


class Pool(Sample):
    """Rows from which further ones are taken: every row once before any is repeated."""

    name = ""

    def draw(self, count: int, rng: np.random.Generator) -> FloatArray:
        rounds = max(1, -(-count // len(self.points)))
        order = np.concatenate([rng.permutation(len(self.points)) for _ in range(rounds)])
        return np.asarray(self.points[order[:count]])


@dataclass(frozen=True, eq=False, repr=False)
class Copula(Inputs):
    """Gaussian copula with the marginals of a table; discrete columns stay discrete.

    Parameters
    ----------
    points
        The rows of the table.
    categories
        For each category that is spread over several columns, their positions: draws combine values as some row does.
    targets
        One number per row. A category takes part in the copula as a number, its rank by the average of the targets.
    """

    name = ""
    points: FloatArray
    categories: tuple[tuple[int, ...], ...] = ()
    targets: FloatArray | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", checked_points("points", self.points))
        object.__setattr__(self, "categories", tuple(tuple(map(int, positions)) for positions in self.categories))
        if self.targets is not None:
            object.__setattr__(self, "targets", frozen(np.array(self.targets, dtype=np.float64)))
            if np.shape(self.targets) != (len(self.points),):
                raise InputError(
                    f"targets must be one per point ({len(self.points)}), got shape {np.shape(self.targets)}"
                )

    @property
    def dim(self) -> int:
        return int(self.points.shape[1])

    def draw(self, count: int, rng: np.random.Generator) -> FloatArray:
        return self._transform(rng.standard_normal((count, len(self._root))))

    def nodes(self, count: int) -> tuple[FloatArray, FloatArray]:
        uniform, weights = sobol_rule(len(self._root), count)
        return self._transform(ndtri(uniform)), weights

    def _transform(self, normal: FloatArray) -> FloatArray:
        """Return the inputs that belong to independent standard normal numbers."""
        n = len(self.points)
        columns: list[FloatArray] = []
        for u, values in zip(ndtr(normal @ self._root.T).T, self._columns.T, strict=True):
            different, ordered = len(np.unique(values)), np.sort(values)
            if different <= 10 or different < _FEW_VALUES * n or len(columns) >= len(self._plain):
                columns.append(ordered[np.minimum((u * n).astype(int), n - 1)])
            else:
                columns.append(np.interp(u, np.arange(1, n + 1) / (n + 1), ordered))
        X = np.empty((len(normal), self.dim))
        X[:, self._plain] = np.column_stack(columns)[:, : len(self._plain)]
        for positions, (patterns, _), codes in zip(
            self.categories, self._coded, columns[len(self._plain) :], strict=True
        ):
            X[:, positions] = patterns[codes.astype(int)]
        return X

    @cached_property
    def _plain(self) -> list[int]:
        """Columns that belong to no category."""
        return [position for position in range(self.dim) if not any(position in each for each in self.categories)]

    @cached_property
    def _coded(self) -> list[tuple[FloatArray, FloatArray]]:
        """For each category, the combinations of values in its columns, and which of them each row has."""
        coded = []
        for positions in self.categories:
            patterns, code = np.unique(self.points[:, positions], axis=0, return_inverse=True)
            code = code.reshape(-1)
            order = np.arange(len(patterns))
            if self.targets is not None:
                order = np.argsort(np.bincount(code, weights=self.targets) / np.bincount(code))
            coded.append((patterns[order], np.argsort(order)[code].astype(np.float64)))
        return coded

    @cached_property
    def _columns(self) -> FloatArray:
        """The columns of the copula: plain ones, and one for each category."""
        return np.column_stack([self.points[:, self._plain], *(codes for _, codes in self._coded)])

    @cached_property
    def _root(self) -> FloatArray:
        """The Cholesky factor of the correlations, which are shrunk the more, the fewer rows there are."""
        n, columns = self._columns.shape
        scores = np.column_stack([_normal_scores(column) for column in self._columns.T])
        with np.errstate(invalid="ignore"):
            correlation = np.nan_to_num(np.atleast_2d(np.corrcoef(scores, rowvar=False)))  # 0 with a constant column
        shrink = min(1.0, columns / n)
        return factorise((1 - shrink) * correlation + (shrink + 1e-9) * np.eye(columns))

    def __repr__(self) -> str:
        return f"Copula({len(self.points)} points, dim={self.dim})"


def _normal_scores(column: FloatArray) -> FloatArray:
    """Return the normal quantiles of the ranks; ties share theirs."""
    _, position, counts = np.unique(column, return_inverse=True, return_counts=True)
    rank = np.cumsum(counts) - (counts - 1) / 2
    return np.asarray(ndtri(rank[position] / (len(column) + 1)))
