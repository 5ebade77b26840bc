r"""Inputs chosen one by one, each where the posterior variance is largest (greedy variance, a pivoted Cholesky factor with noise).

Only rows of the covariances at chosen inputs are needed, so that the candidates may be very many.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpcurves.designs.candidates import ROUNDING, CandidateDesign, Candidates, Positions, check_matrix


@dataclass(frozen=True, repr=False)
class GreedyVariance(CandidateDesign):
    """Each next input has the largest posterior variance.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> problem = gpc.Problem(gpc.RBF(0.1), gpc.Box(dim=1), noise=0.05, design=gpc.GreedyVariance(candidates=64))
    >>> gpc.chosen_inputs(problem, 4, rng=0).shape
    (4, 2)
    """

    name = "greedy-variance"

    def choose(self, problem: Any, among: Candidates, count: int) -> Positions:
        from threadpoolctl import threadpool_limits

        noise, between = problem.noise, problem.inputs.covariances(problem.kernel)
        points, known, left = among.points, among.known, among.free.copy()
        check_matrix(len(points), known + count, "candidates")
        factor = np.empty((len(points), known + count), order="F")
        variance = problem.inputs.variances(problem.kernel, points).astype(np.float64)
        least = max(ROUNDING * float(variance.max()), np.finfo(float).tiny)
        chosen = np.empty(known + count, dtype=np.intp)
        with threadpool_limits(1):  # so that ties are broken alike with any number of threads
            for i in range(known + count):
                best = chosen[i] = i if i < known else int(np.argmax(np.where(left, variance, -1.0)))
                left[best] &= not self.once(problem)
                v = between(points[best : best + 1], points)[0] - factor[:, :i] @ factor[best, :i]
                v /= np.sqrt(max(float(v[best]) + noise, least))
                variance = np.maximum(variance - v * v, 0.0)
                factor[:, i] = v
        return chosen[known:]
