r"""Polynomials that are not negative on [-1, 1] as :math:`(1+x)A^2 + (1-x)B^2` (Markov and Lukács).

With :math:`x=\cos\theta` a polynomial of degree p is a cosine polynomial :math:`\sum_{|s|\le p} r_se^{is\theta}`. If it is not negative there
is :math:`G(z)=\sum_kg_kz^k` with :math:`|G(e^{i\theta})|^2` equal to it (Fejér and Riesz). For odd :math:`N\ge p` the real and imaginary
part of :math:`e^{-iN\theta/2}G` are :math:`\cos(\theta/2)` and :math:`\sin(\theta/2)` times polynomials in x of degree :math:`(N-1)/2`:
these are A and B up to :math:`\sqrt2`. Newton's method on :math:`\sum_jg_jg_{j+s}=r_s` (Wilson 1969) gives G; it converges from
above for every such polynomial.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from gpcurves.errors import InputError, NumericalError
from gpcurves.numerics.validation import FloatArray

_MOST_STEPS = 200
_LIFT = 1e-13
"""Share of the largest value that is added, since Newton's method is slow at polynomials that touch zero."""
_ACCURACY = 1e-9
"""Share of the largest value by which the sum of squares may differ from the polynomial."""


@lru_cache(maxsize=8)
def sum_of_squares(coefficients: tuple[float, ...]) -> tuple[FloatArray, FloatArray, float]:
    """Return A and B in Chebyshev polynomials, and how far the sum is from the polynomial given.

    Results are remembered, since a run asks for the same messages again and again.
    """
    chebyshev = np.array(coefficients)
    degree = len(chebyshev) - 1
    lowest, largest, position = _find_extremes(chebyshev)
    if lowest < -_ACCURACY * largest:
        raise InputError(
            f"the kernel must not be negative on [-1, 1], the spectrum of T, but it is {lowest:g} at {position:.4g}; "
            "add a multiple of the identity"
        )
    r: FloatArray = chebyshev / 2
    # Rounding may make the minimum slightly negative; then no factor exists, unless the polynomial is lifted by as much.
    r[0] = chebyshev[0] + _LIFT * largest + max(0.0, -lowest)
    factor = _factorise(r)
    half = degree // 2
    # The real part of e^{-iNθ/2} G is a sum of cos((k - N/2) θ); each is cos(θ/2) times a row of `cosines`.
    cosines, sines = _half_angles(half, -1.0), _half_angles(half, 1.0)
    plus, minus = np.zeros(half + 1), np.zeros(half + 1)
    for k, g in enumerate(factor):
        order = k - half - 1 if k > half else half - k  # |k - N/2| - 1/2 with N = 2 half + 1
        plus += g / np.sqrt(2) * cosines[order]
        minus += (1 if k > half else -1) * g / np.sqrt(2) * sines[order]
    x, value = np.cos(np.linspace(0, np.pi, 16 * len(chebyshev) + 1)), np.polynomial.chebyshev.chebval
    squares = (1 + x) * value(x, plus) ** 2 + (1 - x) * value(x, minus) ** 2
    error = float(np.abs(squares - value(x, chebyshev)).max())
    if not error <= _ACCURACY * largest:  # so written that NaN fails
        raise NumericalError(
            f"the kernel of degree {degree} could not be written as a sum of squares (error {error:.1e}); "
            "try a lower degree, or add a small multiple of the identity"
        )
    return plus, minus, error


def _factorise(r: FloatArray) -> FloatArray:
    """Return g with sum_j g_j g_{j+s} = r_s, by Newton's method from above."""
    count = len(r)
    g: FloatArray = np.zeros(count)
    # Every iterate lies above the polynomial and keeps its zeros outside the unit circle: the Jacobian is regular there.
    g[0] = np.sqrt(r[0] + 2 * np.abs(r[1:]).sum())
    best: FloatArray = g
    least = np.inf
    index = np.arange(count)
    for _ in range(_MOST_STEPS):
        jacobian = np.zeros((count, count))
        for s in range(count):
            jacobian[s, index[s:]] += g[: count - s]
            jacobian[s, index[: count - s]] += g[s:]
        own = np.asarray(np.correlate(g, g, "full")[count - 1 :], dtype=np.float64)
        residual = float(np.abs(own - r).max())
        if residual < least:
            best, least = g, residual
        elif least < 1e-14 * r[0]:  # rounding makes it rise again: the best step was the one before
            break
        try:
            # J g = 2 own, so that the Newton step g - J^-1 (own - r) is J^-1 (own + r), without a difference of vectors.
            g = np.asarray(np.linalg.solve(jacobian, own + r), dtype=np.float64)
        except np.linalg.LinAlgError:
            break
    return best


def _half_angles(degree: int, sign: float) -> FloatArray:
    """Return cos((j+1/2)θ)/cos(θ/2) (sign -1) or sin((j+1/2)θ)/sin(θ/2) (sign +1), j = 0.., in Chebyshev polynomials."""
    table = np.zeros((degree + 1, degree + 1))
    table[0, 0] = 1.0
    for j in range(1, degree + 1):
        table[j] = sign * table[j - 1]  # both are sums of 2 T_j, with alternating or equal signs
        table[j, j] = 2.0
    return table


def _find_extremes(chebyshev: FloatArray) -> tuple[float, float, float]:
    """Return minimum, largest modulus and position of the minimum on [-1, 1]."""
    # A dip between two points that is missed here has no square root, and fails the check of the sum.
    theta = np.linspace(0, np.pi, 64 * len(chebyshev) + 1)
    values = np.polynomial.chebyshev.chebval(np.cos(theta), chebyshev)
    lowest = int(values.argmin())
    return float(values[lowest]), float(np.abs(values).max()), float(np.cos(theta[lowest]))
