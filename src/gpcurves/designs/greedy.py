r"""Inputs chosen one by one: each next one lowers the average posterior variance the most.

With posterior covariances `c` of the function, an observation at `x` with noise :math:`\sigma^2` lowers the variance summed
over reference inputs by :math:`\sum_r c(x,r)^2/(c(x,x)+\sigma^2)` (greedy integrated variance). Each choice is a rank-one
update of the covariances.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gpcurves.numerics.validation import FloatArray

_ROUNDING = 1e-14
"""A candidate whose variance is below this share of the largest one is known: its covariances are rounding errors."""


def choose_greedily(
    own: FloatArray, across: FloatArray, noise: float, count: int, *, once: bool = False
) -> npt.NDArray[np.intp]:
    """Return the positions of ``count`` candidates in the order of their choice; one may be chosen again, unless ``once``.

    ``own`` are covariances between the candidates, given all that is known before the first choice, and ``across`` those of the
    candidates (rows) with reference inputs (columns), over which the variance is averaged.
    """
    own, across = own.copy(), across.copy()
    least = max(_ROUNDING * float(own.diagonal().max()), np.finfo(float).tiny)
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
