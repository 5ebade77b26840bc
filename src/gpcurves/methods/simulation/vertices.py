r"""Errors at the vertices of a graph for given training counts, by dense algebra.

With :math:`\gamma_i` examples at vertex `i`, the average of its targets is one observation with the noise variance
:math:`\sigma^2/\gamma_i`, so that matrices have the size of the observed vertices, never that of the data set.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

import numpy as np

from gpcurves.errors import NumericalError
from gpcurves.graphs.graph import IntArray
from gpcurves.numerics.cholesky import factorise, factorise_pivoted, invert_lower, solve_factorised, solve_lower
from gpcurves.numerics.validation import FloatArray

_SAFE_NOISE = 1e-6
_RESOLVED = 1e-14
"""Variance, relative to the prior one, below which rounding decides whether an observation says anything new."""
_ROUNDING = 1e-6
"""Rounding errors of a variance are below this share of the largest one, because factors have pivots of at least 1e-14 of it
(which costs half of the digits) or noise of at least 1e-6 of it. What is more negative is a mistake and not rounding."""


def curve_variances(
    C: FloatArray, counts: Sequence[IntArray], noise: float, *, safe_noise: float = _SAFE_NOISE
) -> list[FloatArray]:
    """Return the posterior variance of every vertex for nested training counts, by whichever way is cheaper.

    Each from the prior costs a Cholesky factor of the observed vertices; one from the other costs products with the
    whole posterior covariance, for those vertices only that were observed again. The latter needs noise of at least
    ``safe_noise`` times the prior variance, or it loses too many digits.
    """
    V = len(C)
    added = np.diff(np.array(counts), axis=0, prepend=0)
    m = (added > 0).sum(axis=1).astype(float)
    o = np.array([(count > 0).sum() for count in counts], dtype=float)
    updating = (m**3 / 3 + m**2 * V + 2 * m * V * V).sum()
    afresh = (2 * o**3 / 3 + o**2 * (V - o)).sum()
    if afresh <= updating or noise < safe_noise * C.diagonal().max():
        return [posterior_variances(C, count, noise) for count in counts]
    P = C.copy()
    result = []
    for more in added:
        seen = np.flatnonzero(more)
        if len(seen):
            L, _ = _factor(P, seen, noise / more[seen])
            W = solve_lower(L, P[seen])
            P -= W.T @ W
        result.append(_clip_rounding(P.diagonal(), float(C.diagonal().max())))
    return result


def posterior_variances(C: FloatArray, counts: IntArray, noise: float) -> FloatArray:
    r"""Return the diagonal of :math:`C - C_o(C_{oo} + \mathrm{diag}(\sigma^2/\gamma))^{-1}C_o^T`.

    At an observed vertex this is :math:`s - s^2(A^{-1})_{ii}` with :math:`s = \sigma^2/\gamma_i`, which keeps its relative
    accuracy at low noise, where the difference of two large numbers would not.
    """
    o = np.flatnonzero(counts)
    result = C.diagonal().copy()
    if len(o) == 0:
        return result
    spread, largest = noise / counts[o], float(result.max())
    L, order = _factor(C, o, spread)
    if len(L) < len(o) or noise == 0:  # some observations say nothing new
        W = solve_lower(L, C[order])
        result -= np.einsum("ij,ij->j", W, W)
        # no more is left at an observed vertex than the noise of its own targets, exactly zero without noise
        result[o] = np.minimum(result[o], spread)
        return _clip_rounding(result, largest)
    noisy = spread > result[o]
    direct = np.concatenate((np.flatnonzero(counts == 0), o[noisy]))
    if len(direct):
        W = solve_lower(L, C[np.ix_(o, direct)])
        result[direct] -= np.einsum("ij,ij->j", W, W)
    if not noisy.all():
        inverse = invert_lower(L)
        clear = np.flatnonzero(~noisy)
        precision = np.einsum("ij,ij->j", inverse[:, clear], inverse[:, clear])
        result[o[clear]] = spread[clear] * (1 - spread[clear] * precision)
    return _clip_rounding(result, largest)


def mismatched_errors(C: FloatArray, true: FloatArray, counts: IntArray, noise: float, true_noise: float) -> FloatArray:
    r"""Return the squared error of the student's prediction at every vertex, averaged exactly over teachers.

    With :math:`B = C_{\cdot o}(C_{oo}+\mathrm{diag}(\sigma^2/\gamma))^{-1}` it is :math:`C^*_{jj} - 2(BC^*_{o\cdot})_{jj} +
    (B(C^*_{oo}+\mathrm{diag}(\sigma_*^2/\gamma))B^T)_{jj}`.
    """
    o = np.flatnonzero(counts)
    if len(o) == 0:
        return true.diagonal().copy()
    L, order = _factor(C, o, noise / counts[o])
    if len(order) == len(o):
        B = solve_factorised(L, C[order])
    else:  # targets that the student thinks impossible: least squares, which is what little noise tends to
        W = solve_lower(L, C[order])
        root = np.sqrt(counts[o])
        Q, R = np.linalg.qr(root[:, None] * W[:, o].T)
        B, order = root[:, None] * (Q @ solve_lower(R.T, W)), o
    M = true[np.ix_(order, order)] + np.diag(true_noise / counts[order])
    power = np.einsum("ij,ij->j", B, M @ B)
    error = true.diagonal() - 2 * np.einsum("ij,ij->j", B, true[order]) + power
    return _clip_rounding(error, float((true.diagonal() + power).max()))


def _factor(C: FloatArray, o: IntArray, spread: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return the Cholesky factor of the observed block with its noise, and the vertices in its order.

    If the matrix is singular, which bipartite graphs without noise cause, only vertices that add something are kept.
    """
    A = C[np.ix_(o, o)]
    A[np.diag_indices_from(A)] += spread
    if spread.min() > 0:
        with contextlib.suppress(NumericalError):
            return factorise(A), o
    L, pivots = factorise_pivoted(A, _RESOLVED * float(A.diagonal().max()))
    rank = L.shape[1]
    return L[:rank], o[pivots[:rank]]


def _clip_rounding(variances: FloatArray, scale: float) -> FloatArray:
    """Set what rounding left below zero to zero; raise if it is more than rounding errors of numbers of this size."""
    if variances.min(initial=0.0) < -_ROUNDING * scale:
        raise NumericalError(f"a variance came out as {variances.min():g}: the covariances are too close to singular")
    return np.maximum(variances, 0.0)
