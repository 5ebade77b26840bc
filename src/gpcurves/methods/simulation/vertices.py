r"""Errors at the vertices of a graph for given training counts, by dense algebra.

With :math:`\gamma_i` examples at vertex `i`, the average of its targets is one observation with the noise variance
:math:`\sigma^2/\gamma_i`, so that matrices have the size of the observed vertices, never that of the data set.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import lapack

from gpcurves.errors import NumericalError
from gpcurves.graphs.graph import IntArray
from gpcurves.numerics.validation import FloatArray

_SAFE_NOISE = 1e-6
_RESOLVED = 1e-14
"""Variance, relative to the prior one, below which rounding decides whether an observation says anything new."""


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
            W = _solved(L, P[seen])
            P -= W.T @ W
        result.append(np.maximum(P.diagonal(), 0.0))
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
    spread = noise / counts[o]
    L, order = _factor(C, o, spread)
    if len(L) < len(o) or noise == 0:  # some observations say nothing new
        W = _solved(L, C[order])
        result -= np.einsum("ij,ij->j", W, W)
        result[o] = np.clip(result[o], 0.0, spread)
        return np.asarray(np.maximum(result, 0.0))
    noisy = spread > result[o]
    direct = np.concatenate((np.flatnonzero(counts == 0), o[noisy]))
    if len(direct):
        W = _solved(L, C[np.ix_(o, direct)])
        result[direct] -= np.einsum("ij,ij->j", W, W)
    if not noisy.all():
        inverse, _ = lapack.dtrtri(L, lower=1)
        clear = np.flatnonzero(~noisy)
        precision = np.einsum("ij,ij->j", inverse[:, clear], inverse[:, clear])
        result[o[clear]] = spread[clear] * (1 - spread[clear] * precision)
    return np.asarray(np.maximum(result, 0.0))


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
        B, _ = lapack.dpotrs(L, C[order], lower=1)
    else:  # targets that the student thinks impossible: least squares, which is what little noise tends to
        W = _solved(L, C[order])
        root = np.sqrt(counts[o])
        Q, R = np.linalg.qr(root[:, None] * W[:, o].T)
        B, order = root[:, None] * (Q @ _solved(R.T, W)), o
    M = true[np.ix_(order, order)] + np.diag(true_noise / counts[order])
    error = true.diagonal() - 2 * np.einsum("ij,ij->j", B, true[order]) + np.einsum("ij,ij->j", B, M @ B)
    return np.asarray(np.maximum(error, 0.0))


def _factor(C: FloatArray, o: IntArray, spread: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return the Cholesky factor of the observed block with its noise, and the vertices in its order.

    Where the matrix is singular, which bipartite graphs without noise cause, only vertices that add something are kept.
    """
    A = C[np.ix_(o, o)]
    A[np.diag_indices_from(A)] += spread
    if spread.min() > 0:
        L, info = lapack.dpotrf(A, lower=1, clean=1)
        if info == 0:
            return L, o
    L, pivots, rank, info = lapack.dpstrf(A, tol=_RESOLVED * float(A.diagonal().max()), lower=1)
    if info < 0 or rank == 0:
        raise NumericalError("the covariance of the observed vertices has no Cholesky factor")
    return np.tril(L[:rank, :rank]), o[pivots[:rank] - 1]


def _solved(L: FloatArray, right: FloatArray) -> FloatArray:
    W, info = lapack.dtrtrs(L, right, lower=1)
    assert info == 0
    return np.asarray(W)
