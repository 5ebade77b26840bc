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


def resolve(function: Callable[[FloatArray], FloatArray], most: int) -> FloatArray | None:
    """Return the Chebyshev coefficients of a function on [-1, 1] up to rounding, or None if ``most`` do not suffice."""
    count = 16
    while count <= most:
        coefficients = chebyshev_coefficients(function, count)
        size = np.abs(coefficients)
        # Coefficients of smooth functions fall until they are rounding errors: the second half must be nothing else.
        if size[count // 2 :].max() <= 1e-15 * size.sum():
            return coefficients[: int(np.flatnonzero(size >= 5e-16 * size.sum())[-1]) + 1]
        count *= 2
    return None


def chebyshev_diagonal(coefficients: FloatArray, rows: Rows, step: Step) -> FloatArray:
    r"""Return the scalar product of each row with itself times :math:`\sum_q c_q T_q(T)`, from half as many steps.

    The products are :math:`T_{2q} = 2T_q^2 - 1` and :math:`T_{2q+1} = 2T_qT_{q+1} - T_1`.
    """
    before, now = rows, step(rows)
    even, odd = row_products(rows, rows), row_products(rows, now)
    padded = [*coefficients.tolist(), 0.0, 0.0]
    total = padded[0] * even + padded[1] * odd
    for q in range(1, (len(coefficients) + 1) // 2):
        total += padded[2 * q] * (2 * row_products(now, now) - even)
        if 2 * q + 1 < len(coefficients):
            before, now = now, add(2 * step(now), -1.0 * before)
            total += padded[2 * q + 1] * (2 * row_products(before, now) - odd)
    return np.asarray(total)
