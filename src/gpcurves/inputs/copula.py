"""Inputs like the rows of a table: the rows themselves, or a copula fitted to them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from gpcurves.errors import InputError
from gpcurves.inputs.base import Inputs
from gpcurves.inputs.finite import Sample
from gpcurves.numerics.cholesky import factorise
from gpcurves.numerics.quadrature import sobol_rule
from gpcurves.numerics.validation import FloatArray, frozen, points

_FEW_VALUES = 0.2
"""A column is discrete if it has fewer different values than this share of the rows, or at most ten."""
_JITTER = 1e-9
"""Added to the correlations, so that their factor exists if columns repeat each other."""


class Pool(Sample):
    """Rows from which further ones are taken: every row once before any is repeated."""

    name = ""

    def draw(self, count: int, rng: np.random.Generator) -> FloatArray:
        rounds = max(1, -(-count // len(self.points)))
        order = np.concatenate([rng.permutation(len(self.points)) for _ in range(rounds)])
        return np.asarray(self.points[order[:count]])


@dataclass(frozen=True, eq=False, repr=False)
class Copula(Inputs):
    """Gaussian copula with the marginals of a table. Discrete columns stay discrete, and a category keeps its patterns.

    Parameters
    ----------
    points
        The rows of the table.
    categories
        For each category that is spread over several columns, the positions of these columns: draws only combine values
        in them that some row combines.
    targets
        One number per row. A category takes part in the copula as a number, its rank by the average of the targets.
    """

    name = ""
    points: FloatArray
    categories: tuple[tuple[int, ...], ...] = ()
    targets: FloatArray | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", points("points", self.points))
        object.__setattr__(self, "categories", tuple(tuple(int(i) for i in each) for each in self.categories))
        if self.targets is not None:
            targets = frozen(np.array(self.targets, dtype=np.float64))
            if targets.shape != (len(self.points),):
                raise InputError(f"targets must be one per point ({len(self.points)}), got shape {targets.shape}")
            object.__setattr__(self, "targets", targets)

    @property
    def dim(self) -> int:
        """Number of components of an input."""
        return int(self.points.shape[1])

    def draw(self, count: int, rng: np.random.Generator) -> FloatArray:
        return self._transform(rng.standard_normal((count, self._columns.shape[1])))

    def nodes(self, count: int) -> tuple[FloatArray, FloatArray]:
        uniform, weights = sobol_rule(self._columns.shape[1], count)
        return self._transform(ndtri(uniform)), weights

    def _transform(self, normal: FloatArray) -> FloatArray:
        """Return the inputs that belong to independent standard normal numbers."""
        probabilities = ndtr(normal @ self._root.T)
        rows, plain = len(self.points), len(self._plain)
        quantiles = np.arange(1, rows + 1) / (rows + 1)
        columns = [
            values[np.minimum((p * rows).astype(int), rows - 1)] if discrete else np.interp(p, quantiles, values)
            for p, values, discrete in zip(
                probabilities.T, np.sort(self._columns, axis=0).T, self._is_discrete, strict=True
            )
        ]
        X = np.empty((len(normal), self.dim))
        X[:, self._plain] = np.column_stack(columns)[:, :plain]
        for category, codes in zip(self._coded, columns[plain:], strict=True):
            X[:, category.positions] = category.patterns[codes.astype(int)]
        return X

    @cached_property
    def _plain(self) -> list[int]:
        """Columns that belong to no category."""
        together = {position for positions in self.categories for position in positions}
        return [position for position in range(self.dim) if position not in together]

    @cached_property
    def _coded(self) -> list[_Category]:
        return [_Category.from_columns(self.points, list(positions), self.targets) for positions in self.categories]

    @cached_property
    def _columns(self) -> FloatArray:
        """The columns of the copula: plain ones, and one for each category."""
        return np.column_stack([self.points[:, self._plain], *(category.codes for category in self._coded)])

    @cached_property
    def _is_discrete(self) -> list[bool]:
        different = [len(np.unique(column)) for column in self._columns.T]
        few = [number <= 10 or number < _FEW_VALUES * len(self.points) for number in different]
        return few[: len(self._plain)] + [True] * len(self.categories)

    @cached_property
    def _root(self) -> FloatArray:
        """The Cholesky factor of the correlations, which are shrunk the more, the fewer rows there are."""
        rows, columns = self._columns.shape
        scores = np.column_stack([_normal_scores(column) for column in self._columns.T])
        with np.errstate(invalid="ignore"):
            correlation = np.nan_to_num(np.atleast_2d(np.corrcoef(scores, rowvar=False)))  # 0 with a constant column
        shrink = min(1.0, columns / rows)
        return factorise((1 - shrink) * correlation + (shrink + _JITTER) * np.eye(columns))

    def to_dict(self) -> dict[str, Any]:
        plain = {"type": "Copula", "points": self.points.tolist(), "categories": [list(c) for c in self.categories]}
        return plain if self.targets is None else plain | {"targets": self.targets.tolist()}

    def __repr__(self) -> str:
        return f"Copula({len(self.points)} points, dim={self.dim})"


@dataclass(frozen=True)
class _Category:
    """Columns that belong to one category, as a single column of integers and back."""

    positions: list[int]
    patterns: FloatArray
    codes: FloatArray

    @classmethod
    def from_columns(cls, X: FloatArray, positions: list[int], targets: FloatArray | None) -> _Category:
        patterns, code = np.unique(X[:, positions], axis=0, return_inverse=True)
        code = code.reshape(-1)
        average = (
            np.arange(len(patterns)) if targets is None else np.bincount(code, weights=targets) / np.bincount(code)
        )
        order = np.argsort(average)
        return cls(positions, patterns[order], np.argsort(order)[code].astype(np.float64))


def _normal_scores(column: FloatArray) -> FloatArray:
    """Return the normal quantiles of the ranks; ties share theirs."""
    _, position, counts = np.unique(column, return_inverse=True, return_counts=True)
    rank = np.cumsum(counts) - (counts - 1) / 2
    return np.asarray(ndtri(rank[position] / (len(column) + 1)))
