r"""What one vertex contributes: a few variables, a local matrix per unit of degree, and how an edge couples them.

With $T = D^{-1/2}AD^{-1/2}$, every kernel here is written as the result of eliminating variables that only neighbours couple.

**Random walk**, $((1-1/a)I + T/a)^p = S^p$: $p$ steps are two walks of $p/2$. For even $p=2m$, $w^0$ is white noise, $w^q = Sw^{q-1}$,
imposed by multipliers $u^q$, and $f = \kappa^{-1/2}w^m$. For odd $p=2m+1$, $w^0$ has covariance $S$, imposed by $u^0$. The variable $w^m$ touches
only $u^m$ and is eliminated by hand, which leaves $p$ variables, in the order $(w^0,u^1,w^1,\dots,u^m)$ or $(u^0,w^0,u^1,\dots,u^m)$.

**Polynomials** $c(T)$ that are not negative on $[-1,1]$: $c = (1+x)A^2 + (1-x)B^2$. The variables are $h^q$, the Chebyshev polynomials of
$T$ applied to $h^0$, with multipliers $w^q$ for their recursion. The values of $A$ and $B$ are two more variables; edges couple each with itself.
The last variable $h^0$ is conjugate to $f$, as $u^m$ is for the random walk, and from there on all is the same.

**Diffusion**, $\exp(-\frac12s^2L) = G(T)^2$: the same with one local form $G^2$.

**Regularised Laplacian**, $(I+s^2L)^{-1}$: the precision itself couples only neighbours; one number per message counts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from gpcurves.errors import InputError
from gpcurves.methods.cavity.compiled import IntArray
from gpcurves.methods.cavity.squares import sum_of_squares
from gpcurves.numerics.validation import FloatArray, positive, real, whole

_LARGEST_SIZE = 400
_LARGEST_DEGREE = 100


@dataclass(frozen=True, eq=False)
class VertexModel:
    """The variables of a vertex, for one kernel before normalisation.

    Attributes
    ----------
    name
        The kernel, as one would write it.
    size
        Number of variables; 0 where the kernel is a multiple of the identity.
    leading
        Whether the first variable is a pivot of its own (1) or the first of a pair (0).
    local
        Packed lower triangle of the local matrix, to be multiplied by the degree.
    coupling
        The matrix K, at most one element per row: an edge of weight A contributes -A K.
    walk
        Coefficients of the powers of T, for prior variances; None where there are infinitely many.
    isolated
        Prior variance of a vertex without neighbours.
    kernel_error
        Largest difference between the kernel asked for and the one used, on the spectrum of T.
    """

    name: str
    size: int
    leading: int
    local: FloatArray
    coupling: FloatArray
    walk: FloatArray | None
    isolated: float
    kernel_error: float = 0.0
    tables: tuple[IntArray, FloatArray] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tables", _tables(self.coupling))
        for array in (self.local, self.coupling, *self.tables):
            array.setflags(write=False)

    @property
    def packed(self) -> int:
        """Numbers in the matrix part of a message."""
        return self.size * (self.size + 1) // 2


def random_walk(p: int, a: float) -> VertexModel:
    r"""Return the model of $((1-1/a)I+T/a)^p$, UM13 (2), for whole $p\ge0$ and $a\ge2$."""
    steps = whole("p", p, 0, _LARGEST_SIZE)
    laziness = real("a", a)
    if laziness < 2:
        raise InputError(f"a must be at least 2, got {laziness:g}: below 2 the kernel is not positive on every graph")
    stay = 1 - 1 / laziness
    walk = np.array([math.comb(steps, q) * stay ** (steps - q) / laziness**q for q in range(steps + 1)])
    local = np.zeros((steps, steps))
    coupling = np.zeros((steps, steps))
    odd = steps % 2
    if steps:
        local[0, 0] = -stay if odd else 1.0
    for q in range(1, steps // 2 + 1):
        u, w = 2 * q - 1 + odd, 2 * q - 2 + odd  # u^q, and w^(q-1) just before it
        local[u, w] = local[w, u] = -stay
        coupling[u, w] = coupling[w, u] = 1 / laziness
        if 2 * q < steps - odd:
            local[u + 1, u] = local[u, u + 1] = 1.0  # u^q defines w^q
    if odd:
        coupling[0, 0] = 1 / laziness
        if steps > 1:
            local[0, 1] = local[1, 0] = 1.0
    name = f"random walk, p = {steps}, a = {laziness:g}"
    return VertexModel(name, steps, 1 - odd, pack(local), coupling, walk, float(walk[0]))


def polynomial(coefficients: FloatArray) -> VertexModel:
    r"""Return the model of $\sum_s c_sT^s$, which must not be negative anywhere on the spectrum of T, [-1, 1]."""
    walk = np.trim_zeros(np.array(coefficients, dtype=np.float64), "b")
    if walk.ndim != 1 or len(walk) == 0 or not np.isfinite(walk).all():
        raise InputError("coefficients must be a sequence of finite numbers, not all of them 0")
    chebyshev = np.asarray(np.polynomial.chebyshev.poly2cheb(walk), dtype=np.float64)
    if len(walk) == 1:
        if walk[0] < 0:
            raise InputError(f"the kernel must not be negative: its only coefficient is {walk[0]:g}")
        return VertexModel(f"constant {walk[0]:g}", 0, 0, np.zeros(0), np.zeros((0, 0)), walk, float(walk[0]))
    plus, minus, error = sum_of_squares(chebyshev)
    local, coupling = _chebyshev_chain(len(plus) - 1, [(plus, 1), (minus, -1)])
    name = f"polynomial of degree {len(walk) - 1}"
    return VertexModel(name, len(local), 0, pack(local), coupling, walk, float(walk[0]), error)


def diffusion(scale: float, tolerance: float = 1e-10) -> VertexModel:
    r"""Return the model of $\exp(-\frac12s^2L)$, as the square of a Chebyshev expansion of $\exp(-\frac14s^2L)$.

    With $z=s^2/4$ the expansion is $e^{-z}[I_0(z)+2\sum_qI_q(z)T_q(x)]$; what is left out is at most
    $2e^{-z}\sum_{q>m}I_q(z)$, and the square is wrong by at most twice that (``kernel_error``), for the first $m$ where this is
    below ``tolerance``.
    """
    from scipy.special import ive

    z = positive("scale", scale) ** 2 / 4
    allowed = positive("tolerance", tolerance)
    if allowed < 1e-14:
        raise InputError(f"tolerance must be at least 1e-14, got {allowed:g}")
    terms = ive(np.arange(_LARGEST_SIZE), z) * 2
    terms[0] /= 2
    tails = 2 * np.append(np.cumsum(terms[::-1])[::-1][1:], 0.0)
    if tails[_LARGEST_DEGREE] > allowed:
        raise InputError(
            f"scale is too large for a tolerance of {allowed:g}: it needs more than {_LARGEST_DEGREE} powers"
        )
    m = max(1, int(np.argmax(tails <= allowed)))
    local, coupling = _chebyshev_chain(m, [(terms[: m + 1], 0)])
    walk = np.exp(-2 * z + np.arange(_LARGEST_SIZE) * math.log(2 * z) - _log_factorials(_LARGEST_SIZE))
    keep = max(2, int(np.flatnonzero(walk > 1e-18).max()) + 1)
    name = f"diffusion, scale {scale:g}"
    return VertexModel(name, len(local), 0, pack(local), coupling, walk[:keep], math.exp(-2 * z), float(tails[m]))


def regularised_laplacian(scale: float) -> VertexModel:
    r"""Return the model of $(I+s^2L)^{-1}$: the value $g$ itself, and one multiplier that carries the noise."""
    square = positive("scale", scale) ** 2
    local = np.array([[1 + square, -1.0], [-1.0, 0.0]])
    coupling = np.array([[square, 0.0], [0.0, 0.0]])
    return VertexModel(f"regularised Laplacian, scale {scale:g}", 2, 1, pack(local), coupling, None, 1 / (1 + square))


def pack(matrix: FloatArray) -> FloatArray:
    """Return the lower triangle of a symmetric matrix, row by row."""
    return np.ascontiguousarray(matrix[np.tril_indices(len(matrix))])


def _chebyshev_chain(m: int, forms: list[tuple[FloatArray, int]]) -> tuple[FloatArray, FloatArray]:
    """Return local and coupling matrix of the sum of (1 + sign x) F(x)^2 over forms F, in Chebyshev polynomials up to degree m.

    Order of the variables: a pair (value of the form, its multiplier) for every form, (h^m, w^m), ..., (h^1, w^1), h^0.
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


def _tables(coupling: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return which element of V, and of a vector after it, goes where in KVK and with which factor: K has one element per row."""
    size = len(coupling)
    partner = np.arange(size)  # a variable that no edge touches gets the factor 0
    rows, others = np.nonzero(coupling)
    partner[rows] = others
    values = coupling.sum(axis=1)
    i, j = np.tril_indices(size)
    high, low = np.maximum(partner[i], partner[j]), np.minimum(partner[i], partner[j])
    source = np.concatenate([high * (high + 1) // 2 + low, size * (size + 1) // 2 + partner])
    return source.astype(np.int64), np.concatenate([values[i] * values[j], values])


def _log_factorials(count: int) -> FloatArray:
    return np.array([math.lgamma(q + 1) for q in range(count)])
