r"""A spectrum squeezed into a thousand nodes or so, for sums over all its eigenvalues.

Every sum that theory needs has the form :math:`\sum_i m_i \lambda_i f(h \lambda_i)` with an `f` that is analytic
in :math:`\ln\lambda` up to :math:`\mathrm{Im}\ln\lambda = \pm\pi` (where :math:`1 + h\lambda` vanishes), whatever
`h` is. So the eigenvalues inside a bin of width 2 in :math:`\ln\lambda` may be replaced by 20 Chebyshev nodes that
interpolate `f`: the error falls as :math:`\rho^{-20}`, :math:`\rho = \pi + \sqrt{\pi^2+1} = 6.4`, to 1e-16. A million
eigenvalues become a few hundred nodes, once, and after that any number of sums is cheap. Bins with few eigenvalues
are kept as they are. The weights are exact in the sense of the test that retypes the sums naively, at every `h`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpcurves.numerics.validation import FloatArray

DEGREE = 20
WIDTH = 2.0
"""Nodes per bin, and the width of a bin in the logarithm of the eigenvalue: see above for why these make 1e-16."""
_FINE = 32.0
_FINE_DEGREE = 6
_BLOCK = 32768


@dataclass(frozen=True)
class Measure:
    """Nodes and weights that stand for a spectrum in smooth sums, in descending order of the eigenvalue."""

    log_values: FloatArray
    multiplicities: FloatArray  # weights as numbers of eigenvalues; may be negative, only sums have a meaning
    masses: FloatArray  # weight times eigenvalue, kept because it stays finite even if the weight does not
    pivots: FloatArray  # logarithm of the eigenvalue that decides on which side of a threshold the whole bin lies
    counts: FloatArray  # counts[j] is the exact number of eigenvalues in the bins that end before node j
    powers: FloatArray | None = None  # weights for sums over the power of the true function; None if it is not known


def chebyshev_nodes(degree: int) -> FloatArray:
    """Return the zeros of the Chebyshev polynomial of this degree, descending."""
    return np.asarray(np.cos(np.pi * (np.arange(degree) + 0.5) / degree))


def moments_to_weights(moments: FloatArray) -> FloatArray:
    r"""Turn :math:`M_k = \sum_i m_i T_k(x_i)` into weights at the Chebyshev nodes.

    Interpolation there is :math:`f(x) \approx \sum_k c_k T_k(x)`,
    :math:`c_k = \frac{2-\delta_{k0}}{K}\sum_j f(x_j) T_k(x_j)`, so the weight of node `j` is
    :math:`\sum_k \frac{2-\delta_{k0}}{K} T_k(x_j) M_k`.
    """
    degree = len(moments)
    order = np.arange(degree)
    table = np.cos(np.outer(np.pi * (order + 0.5) / degree, order)) * (2.0 / degree)
    table[:, 0] /= 2
    return np.asarray(table @ moments)


def chebyshev_moments(position: FloatArray, weight: FloatArray, degree: int = DEGREE) -> FloatArray:
    """Return the sums of weight times T_k(position), k < degree; ``weight`` may have a column per kind of weight."""
    table = np.empty((degree, len(position)))
    table[0] = 1.0
    table[1] = position
    twice = 2.0 * position
    for k in range(2, degree):
        np.multiply(twice, table[k - 1], out=table[k])
        table[k] -= table[k - 2]
    return np.asarray(table @ weight)


def thin(logs: FloatArray, *weights: FloatArray) -> tuple[FloatArray, ...]:
    """Replace crowds of eigenvalues by six nodes for every 1/32 in the logarithm, in one pass over blocks.

    The first stage of `compress`: interpolation there has an error of 2e-16 and needs only six power sums, so that it
    runs at the speed of memory. Stretches with few eigenvalues stay as they are. There may be several kinds of ``weights``.
    """
    parts: list[tuple[FloatArray, ...]] = []
    unit = chebyshev_nodes(_FINE_DEGREE)
    # weights of the nodes from power sums: solve the (6 x 6) Vandermonde system once
    solve = np.linalg.inv(np.vander(unit, increasing=True).T)
    for begin in range(0, len(logs), _BLOCK):
        block, *kinds = (each[begin : begin + _BLOCK] for each in (logs, *weights))
        cell = np.floor(block * _FINE)
        starts = np.flatnonzero(cell[1:] != cell[:-1])
        starts += 1
        starts = np.concatenate(([0], starts))
        # replacing pays only if cells hold on average twice as many eigenvalues as nodes
        if len(starts) * 2 * _FINE_DEGREE > len(block):
            parts.append((block, *kinds))
            continue
        # power sums instead of Chebyshev moments: with six terms on [-1, 1] they are well conditioned, and faster
        x = block * (2 * _FINE)
        x -= 2 * cell + 1
        made = []
        for power in kinds:
            sums = np.empty((_FINE_DEGREE, len(starts)))
            np.add.reduceat(power, starts, out=sums[0])
            for k in range(1, _FINE_DEGREE):
                power = power * x
                np.add.reduceat(power, starts, out=sums[k])
            made.append((solve @ sums).T.ravel())
        centre = (cell[starts] + 0.5) / _FINE
        parts.append(((centre[:, None] + unit / (2 * _FINE)).ravel(), *made))
    return tuple(np.concatenate(column) for column in zip(*parts, strict=True))


def compress(
    log_values: FloatArray, multiplicities: FloatArray, width: float = WIDTH, powers: FloatArray | None = None
) -> Measure:
    """Squeeze eigenvalues in descending order, given by their logarithms, into a `Measure`.

    ``powers`` are further weights of the eigenvalues. Their sums with a smooth function of the eigenvalue stay the same, however
    they vary from one eigenvalue to the next.
    """
    top = log_values[0]
    edges = np.append(np.arange(0.0, max(top - log_values[-1], width), width), np.inf)
    cuts = np.searchsorted(-log_values, edges - top)
    cuts[0] = 0  # rounding must not push the largest eigenvalue out of the first bin
    both = (multiplicities,) if powers is None else (multiplicities, powers)
    parts: list[tuple[FloatArray, ...]] = []  # nodes, their weights of each kind, pivots and counts
    total = 0.0
    half = width / 2
    offsets = half * chebyshev_nodes(DEGREE)
    for index in np.flatnonzero(np.diff(cuts)).tolist():
        logs = log_values[cuts[index] : cuts[index + 1]]
        number = multiplicities[cuts[index] : cuts[index + 1]]
        if len(logs) <= DEGREE:  # as many nodes would save nothing
            own = [each[cuts[index] : cuts[index + 1]] for each in both]
            parts.append((logs, np.array(own), logs, total + np.cumsum(number) - number))
        else:
            centre = top - (index + 0.5) * width
            own = [each[cuts[index] : cuts[index + 1]] for each in both]
            fine, *kinds = thin(logs - centre, *own) if len(logs) > 8 * DEGREE else (logs - centre, *own)
            # All nodes of a bin fall on the same side of a threshold as its centre does, and have the same count before them:
            # weights may be negative, so that a partial sum over a bin would mean nothing.
            weights = moments_to_weights(chebyshev_moments(fine / half, np.array(kinds).T))
            parts.append((centre + offsets, weights.T, np.full(DEGREE, centre), np.full(DEGREE, total)))
        total += float(number.sum())
    nodes, found, pivots, counts = (np.concatenate(column, axis=-1) for column in zip(*parts, strict=True))
    weights = np.ascontiguousarray(found[0])
    further = None if powers is None else np.ascontiguousarray(found[1])
    return Measure(nodes, weights, weights * np.exp(nodes), pivots, np.append(counts, total), further)
