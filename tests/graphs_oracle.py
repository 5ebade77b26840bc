"""Dense algebra on small graphs, and the complex messages of UM13 as they are printed: slow, plain, and right."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gpcurves.graphs import (
    DiffusionKernel,
    Graph,
    GraphKernel,
    Normalisation,
    PolynomialWalkKernel,
    RandomWalkKernel,
    RegularisedLaplacianKernel,
)
from gpcurves.graphs.kernels import normalise_parameter
from gpcurves.graphs.vertex_model import VertexModel
from gpcurves.methods.cavity.beliefs import links_of
from gpcurves.methods.cavity.compiled import Links
from gpcurves.numerics.validation import FloatArray

Function = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, repr=False)
class _ByEigenvalue(GraphKernel):
    """A kernel of which only the eigenvalues are known; the underscore keeps it out of the registry."""

    other: GraphKernel
    normalise: Normalisation = normalise_parameter()

    def eigenvalue(self, t: FloatArray) -> FloatArray:
        return self.other.eigenvalue(t)


def by_eigenvalue(kernel: GraphKernel) -> GraphKernel:
    """Return a kernel with the same eigenvalues, of which nothing else is known."""
    return _ByEigenvalue(kernel, kernel.normalise)


def random_walk(p: int, a: float) -> VertexModel:
    return RandomWalkKernel(p, a).vertex_model()


def diffusion(scale: float, tolerance: float = 1e-10) -> VertexModel:
    return DiffusionKernel(scale).vertex_model(tolerance)


def regularised_laplacian(scale: float) -> VertexModel:
    return RegularisedLaplacianKernel(scale).vertex_model()


def polynomial(*coefficients: float) -> VertexModel:
    return PolynomialWalkKernel(coefficients).vertex_model()


def random_forest(vertices: int, rng: np.random.Generator, cut: float = 0.0, weighted: bool = False) -> FloatArray:
    """Return the adjacency matrix of a random tree, some of whose edges are cut."""
    A = np.zeros((vertices, vertices))
    for i in range(1, vertices):
        j = int(rng.integers(max(0, i - 6), i))
        if rng.random() >= cut:
            A[i, j] = A[j, i] = rng.uniform(0.1, 5.0) if weighted else 1.0
    order = rng.permutation(vertices)
    return A[np.ix_(order, order)]


def regular_graph(vertices: int, degree: int = 3) -> FloatArray:
    """Return a random regular graph without double edges: pair the ends of edges until there are none."""
    rng = np.random.default_rng(vertices)
    ends = np.repeat(np.arange(vertices), degree)
    while True:
        low, high = np.sort(rng.permutation(ends).reshape(2, -1), axis=0)
        if (low < high).all() and len(np.unique(low * vertices + high)) == len(low):
            A = np.zeros((vertices, vertices))
            A[low, high] = A[high, low] = 1.0
            return A


def links(A: FloatArray) -> Links:
    return links_of(Graph(A))


def transition(A: FloatArray) -> FloatArray:
    d = A.sum(axis=0)
    s = np.divide(1.0, np.sqrt(d), out=np.zeros_like(d), where=d > 0)
    return np.asarray(A * np.outer(s, s))


def dense_kernel(A: FloatArray, function: Function) -> FloatArray:
    values, U = np.linalg.eigh(transition(A))
    return np.asarray((U * function(values)) @ U.T)


def dense_posterior(
    C: FloatArray, counts: FloatArray, noise: float, targets: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return posterior variance and mean of every vertex."""
    seen = counts > 0
    y = np.zeros(int(seen.sum())) if targets is None else targets[seen]
    K = C[np.ix_(seen, seen)] + np.diag(noise / counts[seen])
    variance = np.diag(C) - np.einsum("ij,ji->i", C[:, seen], np.linalg.solve(K, C[seen]))
    return variance, C[:, seen] @ np.linalg.solve(K, y)


def complex_messages(A: FloatArray, walk: FloatArray, counts: FloatArray, noise: float, kappa: float) -> FloatArray:
    """Return posterior variances on a tree by UM13 (22) to (26), erratum of (19) included."""
    p = len(walk) - 1
    d = A.sum(axis=0)
    X = np.zeros((2 * p + 1, 2 * p + 1), dtype=complex)
    O = np.zeros_like(X)  # noqa: E741
    O[0, 0] = walk[0]
    for q in range(1, p + 1):
        O[0, q] = O[q, 0] = walk[q] / 2
        O[q, p + q] = O[p + q, q] = -1j
        X[q - 1, p + q] = X[p + q, q - 1] = 1j
    V = {(j, i): np.zeros_like(X) for j, i in zip(*np.nonzero(A), strict=True)}

    def inverse_without_data(i: int, skipped: int | None) -> np.ndarray:
        M = d[i] * O
        for k in np.flatnonzero(A[i]):
            if k != skipped:
                M = M - X @ V[k, i] @ X
        return np.linalg.inv(M)

    for _ in range(len(A)):
        new = {}
        for j, i in V:
            M = inverse_without_data(j, i)
            new[j, i] = M - np.outer(M[:, 0], M[0]) / (counts[j] / (noise * d[j] * kappa) + M[0, 0])  # after (23)
        V = new
    return np.array(
        [1 / (counts[i] / noise + d[i] * kappa * inverse_without_data(i, None)[0, 0].real) for i in range(len(A))]
    )
