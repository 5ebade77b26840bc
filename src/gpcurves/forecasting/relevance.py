r"""What each input contributes, read off the lengthscales.

If input i were not known, a function from the prior would vary by :math:`s^2(1-\langle\rho(x_i,x_i')\rangle)` while all other
inputs stay as they are, with the average over pairs of rows. The share of an input is this in proportion to the sum over inputs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from gpcurves.kernels.stationary import Stationary
from gpcurves.numerics.validation import FloatArray
from gpcurves.problem import Problem
from gpcurves.tables.rows import Columns

_PAIRS = 300
"""Rows of which all pairs are compared."""
_KEYS = ("name", "lengthscale_sd", "lengthscale", "share")


@dataclass(frozen=True)
class Relevance:
    """What each of the user's columns contributes: its share of the explainable variance, and its lengthscale.

    Lengthscales are geometric means over the posterior, in standard deviations of the input: functions hardly change over
    much less. For a category it is the shortest of its columns. ``units`` are the same in the input's own units, NaN for a
    category, or if there are only two values.
    """

    names: tuple[str, ...]
    lengthscales: FloatArray
    units: FloatArray
    share: FloatArray

    def to_records(self) -> list[dict[str, Any]]:
        """Return one dictionary per column, ready for JSON."""
        units = [None if math.isnan(own) else own for own in self.units.tolist()]
        columns = (self.names, self.lengthscales.tolist(), units, self.share.tolist())
        return [dict(zip(_KEYS, row, strict=True)) for row in zip(*columns, strict=True)]

    @classmethod
    def from_records(cls, records: list[dict[str, Any]]) -> Self:
        """Build it from what `to_records` returned."""
        names, *columns = ([record[key] for record in records] for key in _KEYS)
        return cls(tuple(names), *(np.array(column, dtype=np.float64) for column in columns))


def measure_relevance(X: FloatArray, columns: Columns, problems: Sequence[Problem], weights: FloatArray) -> Relevance:
    """Average over problems with their probabilities."""
    groups = columns.groups
    kernels = [kernel for problem in problems if isinstance(kernel := problem.kernel, Stationary)]
    logs = weights @ np.log([kernel.lengthscale for kernel in kernels])
    effects = np.array([[_effect(kernel, X[:_PAIRS], at) for at in groups.values()] for kernel in kernels])
    share = weights @ (effects / effects.sum(axis=1, keepdims=True))
    shortest = [positions[int(np.argmin(logs[positions]))] for positions in groups.values()]
    lengthscales = np.exp(logs[shortest])
    is_number = [len(at) == 1 and len(np.unique(X[:, at[0]])) > 2 for at in groups.values()]
    units = np.where(is_number, lengthscales * columns.deviations[shortest], np.nan)
    return Relevance(tuple(groups), lengthscales, units, share)


def _effect(kernel: Stationary, X: FloatArray, positions: list[int]) -> float:
    """Return which share of the variance is along some columns, the others being equal."""
    lengthscales = kernel.lengthscales(X.shape[1])[positions]
    return 1 - float(type(kernel)(tuple(lengthscales.tolist()))(X[:, positions]).mean())
