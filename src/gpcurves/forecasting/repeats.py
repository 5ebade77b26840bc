r"""How much rows with nearly equal inputs differ: an upper limit to the noise that depends on no model.

Of two rows with the same inputs the targets differ by noise alone: :math:`\sigma^2 = \langle (y-y')^2\rangle/2`. If the inputs
differ a little, so may the function, and the value is too large. A 95 % limit for m such pairs is
:math:`m\hat\sigma^2/\chi^2_{0.05}(m)`.
"""

from __future__ import annotations

import math

import numpy as np

from gpcurves.numerics.validation import FloatArray

_NEAR = 0.1  # two rows are near each other at this share of the root mean squared distance between any two
_FEWEST_PAIRS = 10


def measure_repeatability(X: FloatArray, y: FloatArray) -> float | None:
    """Return a 95 % upper limit to the standard deviation of the noise, from pairs of near rows; None if they are too few."""
    from scipy.spatial import cKDTree
    from scipy.stats import chi2

    near = _NEAR * math.sqrt(2 * float(X.var(axis=0).sum()))
    distance, neighbour = cKDTree(X).query(X, k=2)
    # a row that has several copies may be listed as a neighbour of itself
    other = np.where(neighbour[:, 1] == np.arange(len(X)), neighbour[:, 0], neighbour[:, 1])
    taken, squares = np.zeros(len(X), dtype=bool), []
    for i in np.argsort(distance[:, 1], kind="stable"):
        if distance[i, 1] <= near and not (taken[i] or taken[other[i]]):  # each row in one pair: pairs are independent
            taken[[i, other[i]]] = True
            squares.append(0.5 * float(y[i] - y[other[i]]) ** 2)
    if len(squares) < _FEWEST_PAIRS:
        return None
    return math.sqrt(sum(squares) / float(chi2.ppf(0.05, len(squares))))
