r"""The infinite regular tree: what a vertex of a large random regular graph sees nearby.

Urry & Sollich 2013, sections 2.1 and 3.4.1 and appendix A: the random walk kernel by distance, its limit for long walks,
the length from which on cycles of a finite graph matter, how long walks approach the limit, and the spectrum (McKay).
"""

from __future__ import annotations

import math

import numpy as np

from gpcurves.errors import InputError
from gpcurves.graphs.graph import as_graph
from gpcurves.graphs.kernels import GraphKernel, RandomWalkKernel, check_inverse_probability
from gpcurves.numerics.randomness import generator_of
from gpcurves.numerics.validation import FloatArray, integer, nonnegative

_MOST_STEPS = 1_000_000
_SPECTRUM_NODES = 4_000


def tree_kernel(degree: int, p: int, a: float = 2.0, *, normalise: bool = True) -> FloatArray:
    r"""Return the random walk kernel on the regular tree by distance, :math:`C_{l,p}` for l = 0, …, p.

    Recursion (4), in the form :math:`R_l = C_l\sqrt{v_l}` with the number :math:`v_l` of vertices at a distance, eq. (6)
    with the factor :math:`1/(a\sqrt d)` between the first two shells in both directions. Unless ``normalise`` scales it to
    1, the value at distance 0 is the return probability of the walk.
    """
    R, log_scale = _shells(degree, p, a)
    d = integer("degree", degree, 2)
    distance = np.arange(len(R), dtype=np.float64)
    log_volume = np.where(distance > 0, math.log(d) + (distance - 1) * math.log(d - 1), 0.0)
    with np.errstate(under="ignore"):
        C = R * np.exp(-log_volume / 2)
        return np.asarray(C / C[0] if normalise else C * math.exp(log_scale))


def shell_profile(degree: int, p: int, a: float = 2.0) -> FloatArray:
    r"""Return :math:`p\,\hat R_{l,p}\gamma^{-p}`, :math:`\gamma = 1 - 1/a + 2\sqrt{d-1}/(ad)`: what approaches a scaling form.

    The profile that Figure 10 of the paper shows against :math:`l/\sqrt p`.
    """
    R, log_scale = _shells(degree, p, a)
    return np.asarray(p * R * math.exp(log_scale - p * math.log(_growth(degree, a))))


def scaling_form(degree: int, p: int, a: float = 2.0, *, shift: bool = True) -> FloatArray:
    r"""Return what `shell_profile` tends to for large `p`, :math:`\frac{\sqrt{d(d-1)}}{2\sqrt\pi(d-2)b^{3/2}}\,l'e^{-l'^2/(4b)}`.

    :math:`l' = l/\sqrt p` and :math:`b = \sqrt{d-1}/(ad\gamma)`, from eq. (31) for small angles. With ``shift``, `l` is
    replaced by `l + d/(d-2)`, which is closer from about `p = 30` on.
    """
    d = integer("degree", degree, 3)
    b = math.sqrt(d - 1) / (check_inverse_probability("a", a) * d * _growth(d, a))
    scaled = (np.arange(integer("p", p, 1) + 1) + (d / (d - 2) if shift else 0.0)) / math.sqrt(p)
    front = math.sqrt(d * (d - 1)) / (2 * math.sqrt(math.pi) * (d - 2) * b**1.5)
    return np.asarray(front * scaled * np.exp(-(scaled**2) / (4 * b)))


def tree_limit(degree: int, distance: object) -> FloatArray:
    r"""Return the kernel of infinitely long walks, :math:`[1 + l(d-2)/d](d-1)^{-l/2}`, eq. (5)."""
    d = integer("degree", degree, 2)
    at = np.asarray(distance, dtype=np.float64)
    if (at < 0).any() or not np.isfinite(at).all():
        raise InputError("distances must be finite and at least 0")
    return np.asarray((1 + at * (d - 2) / d) * np.exp(-at / 2 * math.log(d - 1)))


def cycle_threshold(degree: int, vertices: float) -> float:
    r"""Return the `p/a` from which on cycles of a random regular graph matter, :math:`\ln V/\ln(d-1)`, eq. (7)."""
    d = integer("degree", degree, 3)
    return math.log(integer("vertices", vertices, d + 1)) / math.log(d - 1)


def first_example(degree: int, p: int, a: float, noise: float) -> float:
    r"""Return V times the fall of the error due to the first example on a large regular graph, eq. (15).

    :math:`V(\epsilon(0)-\epsilon(1)) = \sum_l v_l C_{l,p}^2/(1+\sigma^2)`, which grows as :math:`p^{3/2}`.
    """
    R, _ = _shells(degree, p, a)
    return float((R @ R) / R[0] ** 2 / (1 + nonnegative("noise", noise)))


def mean_correlation(
    graph: object, kernel: GraphKernel, distance: int = 1, pairs: int = 100_000, rng: int = 0
) -> float:
    r"""Return the average of :math:`C_{ij}/\sqrt{C_{ii}C_{jj}}` over pairs of vertices at a distance in a graph.

    The finite-graph counterpart :math:`K_{l,p}` of `tree_kernel`. If there are more than ``pairs`` pairs, vertices are
    taken at random until that many are covered.
    """
    from scipy.sparse.csgraph import dijkstra

    network = as_graph(graph)
    apart = integer("distance", distance, 0)
    if apart == 0:
        return 1.0
    covariance = kernel.on(network)
    order = generator_of(rng).permutation(network.vertices)
    root = np.sqrt(covariance.variances)
    total, count = 0.0, 0
    size = max(1, 2_000_000 // network.vertices)
    for start in range(0, network.vertices, size):
        block = order[start : start + size]
        near = dijkstra(network.adjacency, directed=False, indices=block, unweighted=True, limit=apart) == apart
        correlation = covariance.rows(block) / (root[block, None] * root)
        total += float(correlation[near].sum())
        count += int(near.sum())
        if count >= pairs:
            break
    if count == 0:
        raise InputError(f"the graph has no two vertices at the distance {apart}")
    return total / count


def tree_spectrum(degree: int) -> tuple[FloatArray, FloatArray]:
    r"""Return quadrature nodes and weights of the spectrum of `T` on the regular tree (McKay 1981).

    With :math:`t = (2\sqrt{d-1}/d)\cos x` the density is proportional to :math:`\sin^2 x/(d^2 - 4(d-1)\cos^2 x)` on
    (0, π), a smooth periodic function, for which equidistant nodes converge exponentially.
    """
    d = integer("degree", degree, 0)
    if d == 0:
        return np.zeros(1), np.ones(1)
    if d == 1:  # pairs of vertices
        return np.array([-1.0, 1.0]), np.full(2, 0.5)
    x = np.pi * (np.arange(_SPECTRUM_NODES) + 0.5) / _SPECTRUM_NODES
    weight = 2 * (d - 1) * d * np.sin(x) ** 2 / (d * d - 4 * (d - 1) * np.cos(x) ** 2)
    return 2 * math.sqrt(d - 1) / d * np.cos(x), weight / _SPECTRUM_NODES


def tree_normaliser(kernel: RandomWalkKernel, degree: int) -> float:
    """Return the prior variance before normalisation on the regular tree, the large-graph limit of kappa."""
    t, weight = tree_spectrum(degree)
    return float(weight @ kernel.eigenvalue(t))


def _growth(degree: int, a: float) -> float:
    d = integer("degree", degree, 2)
    return 1 - 1 / a + 2 * math.sqrt(d - 1) / (a * d)


def _shells(degree: int, p: int, a: float) -> tuple[FloatArray, float]:
    """Return R_l for l = 0…p up to a factor, and the logarithm of that factor."""
    d, steps = integer("degree", degree, 2), integer("p", p, 0, _MOST_STEPS)
    move = 1 / check_inverse_probability("a", a)
    R = np.zeros(steps + 2)
    R[0] = 1.0
    hop = np.full(steps + 1, move * math.sqrt(d - 1) / d)  # between the shells l and l + 1
    hop[0] = move / math.sqrt(d)
    log_scale = 0.0
    for step in range(steps):
        top = step + 2
        moved = (1 - move) * R[:top]
        moved[:-1] += hop[: top - 1] * R[1:top]
        moved[1:] += hop[: top - 1] * R[: top - 1]
        R[:top] = moved
        if step % 50 == 49:  # the total decays: keep it in range
            largest = float(R.max())
            R /= largest
            log_scale += math.log(largest)
    return R[: steps + 1], log_scale
