r"""What choosing inputs could save: the learning curve when each input is the best next one.

The best next input lowers the posterior variance averaged over reference inputs the most,
:math:`\sum_r c(x,r)^2/(c(x,x)+\sigma^2)` with posterior covariances c (greedy integrated variance); each choice is a
rank-one update of them.
"""

from __future__ import annotations

import numpy as np

from gpcurves.planning.curves import ErrorCurve, Model
from gpcurves.validation import FloatArray


def greedy(model: Model, candidates: FloatArray, reference: FloatArray, test: FloatArray, count: int) -> ErrorCurve:
    """Return the learning curve for ``count`` inputs chosen one by one, averaged over test inputs not used to choose."""
    own = model.covariance(candidates, candidates)
    across = model.covariance(candidates, np.concatenate((reference, test)))
    prior = float(model.variances(test).mean())
    error = np.full(count + 1, prior)
    for i in range(count):
        spread = own.diagonal() + model.noise
        gain = np.einsum("ij,ij->i", across[:, : len(reference)], across[:, : len(reference)]) / spread
        best = int(np.argmax(gain))
        column, row = own[:, best] / spread[best], across[best].copy()
        error[i + 1] = error[i] - float(np.mean(row[len(reference) :] ** 2)) / spread[best]
        across -= np.multiply.outer(column, row)
        own -= np.multiply.outer(column, own[best].copy())
    return ErrorCurve(np.maximum(error, 1e-10 * prior), model.noise)
