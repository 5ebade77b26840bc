r"""What each input contributes, read off the lengthscales.

If input i were not known, a function from the prior would vary by :math:`s^2(1-\langle\rho(x_i,x_i')\rangle)` where all other
inputs stay as they are, with the average over pairs of rows. The share of an input is this in proportion to the sum over inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpcurves.forecasting.evidence import correlation, squared_distances
from gpcurves.forecasting.posterior import Posterior
from gpcurves.numerics.validation import FloatArray
from gpcurves.tables.rows import Columns

_PAIRS = 300
"""Rows of which all pairs are compared."""


@dataclass(frozen=True)
class Relevance:
    """What each of the user's columns contributes.

    Attributes
    ----------
    names
        The user's columns.
    lengthscales
        Geometric means over the posterior, in standard deviations of the input: functions hardly change over much less
        than this. For a category, the shortest of its columns.
    units
        The same in the input's own units; NaN for a category, or where there are only two values.
    share
        How much of what can be learnt varies along an input, in proportion; they sum to 1.
    """

    names: tuple[str, ...]
    lengthscales: FloatArray
    units: FloatArray
    share: FloatArray


def relevance_of(X: FloatArray, columns: Columns, posteriors: Sequence[Posterior], weights: FloatArray) -> Relevance:
    """Average what the draws say."""
    groups = columns.groups
    rows = X[:_PAIRS]
    logs = weights @ np.concatenate([p.draws for p in posteriors])[:, 1:-1]
    effects = np.array(
        [
            [
                1
                - float(correlation(p.family, squared_distances(rows[:, places] / np.exp(theta[1:-1][places]))).mean())
                for places in groups.values()
            ]
            for p in posteriors
            for theta in p.draws
        ]
    )
    share = weights @ (effects / effects.sum(axis=1, keepdims=True))
    shortest = [places[int(np.argmin(logs[places]))] for places in groups.values()]
    lengthscales = np.exp(logs[shortest])
    is_number = [len(places) == 1 and len(np.unique(X[:, places[0]])) > 2 for places in groups.values()]
    units = np.where(is_number, lengthscales * columns.spreads[shortest], np.nan)
    return Relevance(tuple(groups), lengthscales, units, share)
