r"""How the error at unlabelled vertices falls with further labels, if one explanation of the present ones is true.

The labels at hand come first, where they are; further ones at vertices drawn at random, none twice. With :math:`A = LL^T` the
covariance of all labels in that order, and W and z the solutions of :math:`LW = C_{\text{labels},\text{test}}` and :math:`Lz = 1`, the
variance at a test vertex after n labels is

.. math:: v\Bigl[C_{jj} - \sum_{k\le n}W_{kj}^2 + \frac{(1-\sum_{k\le n}z_kW_{kj})^2}{\sum_{k\le n}z_k^2}\Bigr],

for every n from one factorisation; the last term is the price of an unknown mean.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from gpcurves.forecasting.error_curve import ErrorCurve
from gpcurves.forecasting.networks.evidence import JITTER
from gpcurves.forecasting.networks.observed import Observed
from gpcurves.forecasting.networks.posterior import Explanation
from gpcurves.graphs.graph import IntArray
from gpcurves.numerics.validation import FloatArray

MOST_LABELS, MOST_TESTS = 1_600, 300
_SHARE_OF_TESTS = 0.15


@dataclass(frozen=True, eq=False)
class Route:
    """The order in which vertices are labelled: those that are, and further ones; and where the error is measured."""

    labelled: IntArray
    counts: FloatArray  # labels that each of these has
    further: IntArray
    tests: IntArray

    @classmethod
    def draw(cls, observed: Observed, vertices: int, rng: np.random.Generator) -> Self:
        """Draw tests and further vertices from those without a label."""
        order = rng.permutation(len(observed.vertices))
        others = rng.permutation(np.setdiff1d(np.arange(vertices), observed.vertices))
        tests = max(1, min(MOST_TESTS, round(_SHARE_OF_TESTS * len(others))))
        most = max(MOST_LABELS, 2 * len(order)) - len(order)
        return cls(observed.vertices[order], observed.counts[order], others[tests:][:most], others[:tests])

    def with_further(self, vertices: IntArray) -> Route:
        """Return the same route with other further vertices."""
        return replace(self, further=vertices)

    @property
    def order(self) -> IntArray:
        """All vertices that get labels."""
        return np.concatenate((self.labelled, self.further))

    @property
    def noise_shares(self) -> FloatArray:
        """The variance of the mean label of each, over that of one label."""
        return np.concatenate((1 / self.counts, np.ones(len(self.further))))


def simulate(member: Explanation, route: Route, scale: float) -> ErrorCurve:
    """Return the curve of a member, in squared multiples of ``scale``."""
    solution, candidate = member.solution, member.candidate
    order = route.order
    C = candidate.between(np.concatenate((order, route.tests)), order)
    A, across = C[: len(order)], C[len(order) :]
    A[np.diag_indices(len(A))] += solution.noise * route.noise_shares + JITTER
    L = cholesky(A, lower=True, check_finite=False)
    right = np.column_stack((across.T, np.ones(len(A))))
    solved = solve_triangular(L, right, lower=True, check_finite=False)
    W, z = solved[:, :-1], solved[:, -1]
    prior = candidate.variances(route.tests)
    left = prior.mean() - np.cumsum((W**2).mean(axis=1))
    if solution.ones is not None:
        left = left + ((1 - np.cumsum(W * z[:, None], axis=0)) ** 2).mean(axis=1) / np.cumsum(z**2)
    start = prior.mean() + (solution.ones is not None)  # without labels the mean is as uncertain as the function
    error = np.append(start, np.minimum.accumulate(np.maximum(left, JITTER)))
    unit = solution.variance / scale**2
    return ErrorCurve(np.minimum(error, start) * unit, max(solution.noise, JITTER) * unit)
