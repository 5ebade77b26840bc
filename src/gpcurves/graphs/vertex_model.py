r"""What belief propagation needs to know about a kernel: variables at a vertex, and how an edge couples them.

With :math:`T = D^{-1/2}AD^{-1/2}`, a kernel is written as the result of eliminating variables that only neighbours couple.
The local matrix of a vertex is proportional to its degree. An edge couples every variable with at most one of its
neighbour's, so that messages are the inverse of a matrix with its rows permuted and scaled. The last variable is conjugate
to the function :math:`f`: noise at the vertex enters there, and only there.

**Polynomials** :math:`c(T)` that are not negative on [-1, 1]: :math:`c = (1+x)A^2 + (1-x)B^2` (`sum_of_squares`). The variables are
:math:`h^q = T_q(T)h^0`, with multipliers :math:`w^q` for the recursion of Chebyshev polynomials. The values of :math:`A` and
:math:`B` are two more variables; edges couple each with itself, which makes the factors :math:`1\pm x`. The last
variable is :math:`h^0`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import scipy

from gpcurves.errors import InputError, NotApplicableError, NumericalError
from gpcurves.graphs.graph import IntArray
from gpcurves.numerics.validation import FloatArray

MOST_VARIABLES = 400  # variables of a vertex; a message has half the square of this many numbers, and costs its cube
_MOST_STEPS = 200
_LIFT = 1e-13  # share of the largest value that is added, since Newton's method is slow at polynomials that touch zero
_ACCURACY = 1e-9  # share of the largest value by which the sum of squares may differ from the polynomial


@dataclass(frozen=True, eq=False)
class VertexModel:
    """The variables of a vertex, for one kernel before normalisation."""

    size: int  # number of variables; 0 if the kernel is a multiple of the identity
    leading: int  # whether the first variable is a pivot of its own (1) or the first of a pair (0)
    local: FloatArray  # packed lower triangle of the local matrix, to be multiplied by the degree
    coupling: FloatArray  # the matrix K, at most one element per row: an edge of weight A contributes -A K
    isolated: float  # prior variance of a vertex without neighbours
    walk: FloatArray | None = None  # coefficients of the powers of T, if known: prior variances cost less by them
    kernel_error: float = 0.0  # bound on how far the kernel used is from the one asked for, on the spectrum of T
    tables: tuple[IntArray, FloatArray] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tables", _tabulate(self.coupling))
        for array in (self.local, self.coupling, *self.tables):
            array.setflags(write=False)

    @property
    def packed(self) -> int:
        """Numbers in the matrix part of a message."""
        return self.size * (self.size + 1) // 2


def polynomial_model(
    chebyshev: FloatArray, isolated: float, walk: FloatArray | None = None, neglected: float = 0.0
) -> VertexModel:
    """Return the model of a polynomial in T that is not negative on [-1, 1], given in Chebyshev polynomials.

    ``isolated`` is its value at 0, the prior variance of an isolated vertex; ``walk`` its coefficients in powers of T, None
    for long polynomials, whose powers cancel and lose all digits; ``neglected`` how far it is from the kernel that it
    stands for.
    """
    if len(chebyshev) == 1:
        return VertexModel(0, 0, np.zeros(0), np.zeros((0, 0)), isolated, chebyshev, neglected)
    if len(chebyshev) + 4 > MOST_VARIABLES:
        raise NotApplicableError(
            f"messages exist for polynomials of degree {MOST_VARIABLES - 5} at most, got {len(chebyshev) - 1}"
        )
    plus, minus, error = sum_of_squares(tuple(chebyshev.tolist()))
    local, coupling = chebyshev_chain(len(plus) - 1, [(plus, 1), (minus, -1)])
    return VertexModel(len(local), 0, pack(local), coupling, isolated, walk, error + neglected)


def chebyshev_chain(m: int, forms: list[tuple[FloatArray, int]]) -> tuple[FloatArray, FloatArray]:
    r"""Return local matrix and coupling of :math:`\sum (1 + sx)F(x)^2` over pairs of a form F and a sign s.

    Forms are in Chebyshev polynomials up to degree m. Order of the variables: a pair (value of the form, its multiplier)
    for every form, then :math:`(h^m, w^m), \ldots, (h^1, w^1), h^0`.
    """
    front = 2 * len(forms)
    size = front + 2 * m + 1
    h = [front + 2 * (m - q) for q in range(m + 1)]
    local, coupling = np.zeros((size, size)), np.zeros((size, size))
    for number, (form, sign) in enumerate(forms):
        value = 2 * number
        local[value, value] = -1.0
        coupling[value, value] = sign
        local[value + 1, value] = local[value, value + 1] = 1.0
        local[value + 1, h] = local[h, value + 1] = -form
    for q in range(1, m + 1):  # h^q = 2 T h^(q-1) - h^(q-2), and h^1 = T h^0
        w = h[q] + 1
        local[w, h[q]] = local[h[q], w] = 1.0
        coupling[w, h[q - 1]] = coupling[h[q - 1], w] = 1.0 if q == 1 else 2.0
        if q > 1:
            local[w, h[q - 2]] = local[h[q - 2], w] = 1.0
    return local, coupling


def pack(matrix: FloatArray) -> FloatArray:
    """Return the lower triangle of a symmetric matrix, row by row."""
    return np.ascontiguousarray(matrix[np.tril_indices(len(matrix))])


def _tabulate(coupling: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return which element of V, and of a vector after it, becomes each element of KVK, and with which factor.

    K has one element per row, so that KVK permutes and scales: tables are much cheaper than two products of matrices.
    """
    size = len(coupling)
    partner = np.arange(size)  # a variable that no edge touches gets the factor 0
    rows, others = np.nonzero(coupling)
    partner[rows] = others
    values = coupling.sum(axis=1)
    i, j = np.tril_indices(size)
    high, low = np.maximum(partner[i], partner[j]), np.minimum(partner[i], partner[j])
    source = np.concatenate([high * (high + 1) // 2 + low, size * (size + 1) // 2 + partner])
    return source.astype(np.int64), np.concatenate([values[i] * values[j], values])


@lru_cache(maxsize=8)
def sum_of_squares(coefficients: tuple[float, ...]) -> tuple[FloatArray, FloatArray, float]:
    r"""Return A and B of :math:`(1+x)A^2 + (1-x)B^2` in Chebyshev polynomials, and how far the sum is from the polynomial given.

    The polynomial must not be negative on [-1, 1] (Markov and Lukács). With :math:`x=\cos\theta`, one of degree p is a cosine
    polynomial :math:`\sum_{|s|\le p} r_se^{is\theta}`. If it is not negative there is :math:`G(z)=\sum_kg_kz^k` with
    :math:`|G(e^{i\theta})|^2` equal to it (Fejér and Riesz). For odd :math:`N\ge p` the real and imaginary part of
    :math:`e^{-iN\theta/2}G` are :math:`\cos(\theta/2)` and :math:`\sin(\theta/2)` times polynomials in x of degree
    :math:`(N-1)/2`: these are A and B up to :math:`\sqrt2`. Newton's method on :math:`\sum_jg_jg_{j+s}=r_s` (Wilson 1969) gives G;
    it converges from above for every such polynomial. Results are remembered, since a run asks for them again and again.
    """
    chebyshev = np.array(coefficients)
    degree = len(chebyshev) - 1
    # A dip between two points that is missed here has no square root, and fails the check of the sum below.
    x, value = np.cos(np.linspace(0, np.pi, 64 * len(chebyshev) + 1)), np.polynomial.chebyshev.chebval
    values = value(x, chebyshev)
    lowest, largest = float(values.min()), float(np.abs(values).max())
    if lowest < -_ACCURACY * largest:
        raise InputError(
            f"the kernel must not be negative on [-1, 1], the spectrum of T, but it is {lowest:g} at {x[values.argmin()]:.4g}; "
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
    x = np.cos(np.linspace(0, np.pi, 16 * len(chebyshev) + 1))
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
    for _ in range(_MOST_STEPS):
        jacobian = scipy.linalg.toeplitz(np.append(g[0], np.zeros(count - 1)), g) + scipy.linalg.hankel(g)
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
