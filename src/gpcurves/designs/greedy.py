r"""Inputs chosen one by one: each next one lowers the average posterior variance the most.

With posterior covariances `c` of the function, an observation at `x` with noise :math:`\sigma^2` lowers the variance summed
over reference inputs by :math:`\sum_r c(x,r)^2/(c(x,x)+\sigma^2)` (greedy integrated variance). Each choice is a rank-one
update of the covariances.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpcurves.designs.candidates import ROUNDING, CandidateDesign, Candidates, Positions, check_matrix
from gpcurves.numerics.validation import FloatArray

_BLOCK = 32  # choices after which the covariances themselves are updated
_FALLEN = 1e-6  # share of the largest gain below which differences of gains have too few digits: the covariances are updated then


@dataclass(frozen=True, repr=False)
class Greedy(CandidateDesign):
    """Each next input lowers the average posterior variance the most (greedy integrated variance).

    Examples
    --------
    >>> import gpcurves as gpc
    >>> problem = gpc.Problem(gpc.RBF(0.1), gpc.Box(dim=1), noise=0.05, design=gpc.Greedy(candidates=64))
    >>> gpc.chosen_inputs(problem, 4, rng=0).shape
    (4, 2)
    """

    name = "greedy"

    def choose(self, problem: Any, among: Candidates, count: int) -> Positions:
        from threadpoolctl import threadpool_limits

        check_matrix(len(among.points), len(among.points), "candidates")
        with threadpool_limits(1):  # so that ties are broken alike with any number of threads
            C = problem.inputs.kernel_matrix(problem.kernel, among.points)
            return choose_among(C, among, problem.noise, count, once=self.once(problem))


def choose_among(C: FloatArray, among: Candidates, noise: float, count: int, *, once: bool = False) -> Positions:
    r"""Return the positions of ``count`` candidates in the order of their choice; all candidates are reference inputs, too.

    ``C`` are their prior covariances. With
    :math:`v = c(\cdot,x)/\sqrt{c(x,x)+\sigma^2}`, a choice `x` changes the covariances to :math:`c - vv^T` and the sums
    :math:`s_i = \sum_r w_rc(i,r)^2` to :math:`s_i - 2v_i\sum_rw_rc(i,r)v_r + v_i^2\sum_rw_rv_r^2`, so that a step is one product
    of the covariances with a vector. The vectors `v` are subtracted from the covariances in blocks.
    """
    C, known, weights, left = np.array(C), among.known, among.weights, among.free.copy()
    block = np.empty((len(C), _BLOCK), order="F")
    least = max(ROUNDING * float(C.diagonal().max()), np.finfo(float).tiny)
    chosen = np.empty(known + count, dtype=np.intp)
    filled, start = 0, np.inf
    variance, sums = C.diagonal().copy(), (C * C) @ weights
    for i in range(known + count):
        if filled == _BLOCK or float(sums.max()) < _FALLEN * start:
            C -= block[:, :filled] @ block[:, :filled].T
            variance, sums = np.maximum(C.diagonal(), 0.0), np.einsum("ij,ij,j->i", C, C, weights)
            filled, start = 0, max(float(sums.max()), np.finfo(float).tiny)
        gain = np.where(variance + noise > least, np.maximum(sums, 0.0) / np.maximum(variance + noise, least), 0.0)
        best = chosen[i] = i if i < known else int(np.argmax(np.where(left, gain, -1.0)))
        left[best] &= not once
        before = block[:, :filled]
        v = C[best] - before @ before[best]
        v /= np.sqrt(max(float(v[best]) + noise, least))
        weighted = weights * v
        product = C @ weighted - before @ (before.T @ weighted)
        sums += v * (v * float(v @ weighted) - 2 * product)
        variance = np.maximum(variance - v * v, 0.0)
        block[:, filled] = v
        filled += 1
    return chosen[known:]


def choose_greedily(own: FloatArray, across: FloatArray, noise: float, count: int, *, once: bool = False) -> Positions:
    """Return the positions of ``count`` candidates in the order of their choice; one may be chosen again, unless ``once``.

    ``own`` are covariances between the candidates, given all that is known before the first choice, and ``across`` those of the
    candidates (rows) with reference inputs (columns), over which the variance is averaged.
    """
    own, across = own.copy(), across.copy()
    least = max(ROUNDING * float(own.diagonal().max()), np.finfo(float).tiny)
    chosen = np.empty(count, dtype=np.intp)
    left = np.ones(len(own), dtype=bool)
    for i in range(count):
        variance = own.diagonal() + noise
        gain = np.einsum("ij,ij->i", across, across) / np.maximum(variance, least)
        best = chosen[i] = int(np.argmax(np.where(left, np.where(variance > least, gain, 0.0), -1.0)))
        left[best] = not once
        column = own[:, best] / max(variance[best], least)
        across -= np.multiply.outer(column, across[best].copy())
        own -= np.multiply.outer(column, own[best].copy())
    return chosen
