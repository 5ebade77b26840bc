r"""What choosing inputs could save: the error when each further input is the best next one.

The best next input lowers the posterior variance averaged over reference inputs the most,
:math:`\sum_r c(x,r)^2/(c(x,x)+\sigma^2)` with posterior covariances c (greedy integrated variance); each choice is a
rank-one update of them.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from gpcurves.forecasting.curves import Model
from gpcurves.forecasting.evidence import JITTER
from gpcurves.numerics.validation import FloatArray


def greedy(
    model: Model, known: FloatArray, candidates: FloatArray, reference: FloatArray, test: FloatArray, count: int
) -> FloatArray:
    """Return the error with 0, 1, …, ``count`` chosen inputs besides the known ones.

    Inputs are chosen by the variance at reference inputs; the error is the average over test inputs, not used to choose.
    """
    points = np.concatenate((candidates, reference, test))
    own = model.covariance(candidates, candidates)
    across = model.covariance(candidates, points[len(candidates) :])
    at_test = float(model.variances(test).mean())
    K = model.covariance(known, known) + model.noise * np.eye(len(known))
    W = solve_triangular(np.linalg.cholesky(K), model.covariance(known, points), lower=True)
    chosen, others, tested = np.split(W, [len(candidates), len(candidates) + len(reference)], axis=1)
    own -= chosen.T @ chosen
    across -= chosen.T @ np.hstack((others, tested))
    error = np.empty(count + 1)
    error[0] = at_test - float(np.mean((tested**2).sum(axis=0)))
    for i in range(count):
        spread = own.diagonal() + model.noise
        gain = np.einsum("ij,ij->i", across[:, : len(reference)], across[:, : len(reference)]) / spread
        best = int(np.argmax(gain))
        column, row = own[:, best] / spread[best], across[best].copy()
        error[i + 1] = error[i] - float(np.mean(row[len(reference) :] ** 2)) / spread[best]
        across -= np.multiply.outer(column, row)
        own -= np.multiply.outer(column, own[best].copy())
    return np.maximum(error, JITTER * at_test)
