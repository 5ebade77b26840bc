"""Functions of the normalised adjacency matrix `T` times vectors, by sparse products alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpcurves.numerics.validation import FloatArray

Rows = Any
"""Rows of vectors over the vertices: a dense array or a SciPy sparse matrix."""
Step = Callable[[Rows], Rows]
"""Multiplies rows by `T`."""


def row_products(left: Rows, right: Rows) -> FloatArray:
    """Return the scalar product of each row with its counterpart."""
    if isinstance(left, np.ndarray) and isinstance(right, np.ndarray):
        return np.asarray(np.einsum("ij,ij->i", left, right))
    product = left.multiply(right) if not isinstance(left, np.ndarray) else right.multiply(left)
    return np.asarray(product.sum(axis=1)).ravel()


def add(left: Rows, right: Rows) -> Rows:
    """Add rows, of which either may be sparse."""
    if isinstance(left, np.ndarray) == isinstance(right, np.ndarray):
        return left + right
    return np.asarray(left + right)


def power_series(coefficients: FloatArray, rows: Rows, step: Step) -> Rows:
    r"""Return rows times :math:`\sum_q c_q T^q`."""
    total = coefficients[0] * rows
    for coefficient in coefficients[1:].tolist():
        rows = step(rows)
        total = add(total, coefficient * rows)
    return total


def chebyshev_series(coefficients: FloatArray, rows: Rows, step: Step) -> Rows:
    r"""Return rows times :math:`\sum_q c_q T_q(T)`, by the recursion :math:`T_{q+1} = 2TT_q - T_{q-1}`."""
    total = coefficients[0] * rows
    before, now = rows, step(rows)
    for coefficient in coefficients[1:].tolist():
        total = add(total, coefficient * now)
        before, now = now, add(2 * step(now), -1.0 * before)
    return total


def chebyshev_coefficients(function: Callable[[FloatArray], FloatArray], count: int) -> FloatArray:
    """Return the first coefficients of a function on [-1, 1] in Chebyshev polynomials, from twice as many values."""
    from scipy.fft import dct

    theta = np.pi * (np.arange(2 * count) + 0.5) / (2 * count)
    coefficients = dct(function(np.cos(theta)), type=2) / (2 * count)
    coefficients[0] /= 2
    return np.asarray(coefficients[:count])
