"""What people use to fill in values on a network: five predictors, from values at some vertices to all.

Each takes symmetric weights, numbers of labelled vertices and their values. Those that have error bars give 90 % intervals
for a new measurement. Eigenpairs of a Laplacian are kept in the folder BENCH_CACHE, or in that for temporary files.
"""

from __future__ import annotations

import logging
import os
import tempfile
import warnings
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import minimize_scalar
from scipy.sparse import csc_array, csr_array, diags_array
from scipy.sparse.csgraph import connected_components, dijkstra
from scipy.sparse.linalg import eigsh, splu
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

NORMAL = 1.6449  # of a normal distribution, 90 % are within as many standard deviations
ALL_PAIRS = 3_600  # vertices up to which all eigenpairs are found
SOME_PAIRS = 500
FEATURES = 12  # eigenvectors that are inputs of the plain GP
SMOOTHNESS = (0.5, 1.5, 2.5, np.inf)
LENGTHS = np.geomspace(0.1, 300.0, 13)  # in hops
NOISES = np.geomspace(1e-6, 1e2, 33)  # over the variance of the process


@dataclass(frozen=True)
class Prediction:
    """Means at all vertices, and the ends of intervals if there are any."""

    mean: np.ndarray
    low: np.ndarray | None = None
    high: np.ndarray | None = None


Predictor = Callable[[csr_array, np.ndarray, np.ndarray], Prediction]


def laplacian(graph: csr_array) -> csr_array:
    """Return the matrix of degrees minus that of weights."""
    return csr_array(diags_array(np.asarray(graph.sum(axis=1)).ravel()) - graph)


def label_mean(graph: csr_array, vertices: np.ndarray, values: np.ndarray) -> Prediction:
    """Predict the mean of the labels."""
    mean = np.full(graph.shape[0], values.mean())
    wide = NORMAL * values.std(ddof=1) * np.sqrt(1 + 1 / len(values))
    return Prediction(mean, mean - wide, mean + wide)


def neighbour_average(graph: csr_array, vertices: np.ndarray, values: np.ndarray) -> Prediction:
    """Predict the weighted mean of labelled neighbours, else the label that is nearest in hops, else the mean."""
    count = graph.shape[0]
    marked, sums = np.zeros((2, count))
    marked[vertices] = 1.0
    sums[vertices] = values
    weight = graph @ marked
    hops, _, nearest = dijkstra(graph, unweighted=True, indices=vertices, min_only=True, return_predecessors=True)
    reached = np.isfinite(hops)
    mean = np.full(count, values.mean())
    mean[reached] = sums[nearest[reached]]
    beside = weight > 0
    mean[beside] = (graph @ sums)[beside] / weight[beside]
    mean[vertices] = values
    return Prediction(mean)


def harmonic(graph: csr_array, vertices: np.ndarray, values: np.ndarray) -> Prediction:
    """Predict values that are the weighted mean of all neighbours (Zhu, Ghahramani and Lafferty 2003)."""
    count = graph.shape[0]
    mean = np.full(count, values.mean())
    mean[vertices] = values
    part = connected_components(graph, directed=False)[1]
    unknown = np.isin(part, part[vertices])
    unknown[vertices] = False
    if unknown.any():
        rows = csc_array(laplacian(graph)[unknown])
        mean[unknown] = splu(csc_array(rows[:, unknown])).solve(-rows[:, vertices] @ values)
    return Prediction(mean)


def eigenvector_gp(graph: csr_array, vertices: np.ndarray, values: np.ndarray) -> Prediction:
    """Predict by a GP with a squared exponential in the first eigenvectors of the Laplacian, by maximum likelihood."""
    _, vectors = eigenpairs(graph)
    inputs = vectors[:, 1 : FEATURES + 1] * np.sqrt(len(vectors))
    kernel = ConstantKernel(1.0, (1e-3, 1e3)) * RBF(1.0, (1e-2, 1e3)) + WhiteKernel(0.1, (1e-6, 1e2))
    model = GaussianProcessRegressor(kernel, normalize_y=True, n_restarts_optimizer=2, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of parameters at the end of their range
        model.fit(inputs[vertices], values)
    mean, spread = model.predict(inputs, return_std=True)
    return Prediction(mean, mean - NORMAL * spread, mean + NORMAL * spread)


def geometric_matern(graph: csr_array, vertices: np.ndarray, values: np.ndarray) -> Prediction:
    """Predict by GeometricKernels' graph Matérn kernel, all parameters and a constant mean by maximum likelihood."""
    space, vectors = _geometric_space(graph)
    labelled = vectors[vertices]

    def fit(nu: float, length: float) -> tuple[float, float, float, float, np.ndarray]:
        spectrum = space(nu, length)
        values_, rotation = eigh((labelled * spectrum) @ labelled.T)
        roots = np.maximum(values_, 0.0)[:, None] + NOISES
        turned, ones = rotation.T @ values, rotation.sum(axis=0)
        level = (ones[:, None] * turned[:, None] / roots).sum(axis=0) / (ones[:, None] ** 2 / roots).sum(axis=0)
        scale = ((turned[:, None] - ones[:, None] * level) ** 2 / roots).mean(axis=0)
        cost = len(values) * np.log(scale) + np.log(roots).sum(axis=0)
        best = int(np.argmin(cost))
        return float(cost[best]), level[best], scale[best], NOISES[best], spectrum

    lengths = LENGTHS / np.sqrt(graph.data.mean())  # an edge of the mean weight counts as one hop
    _, nu, length = min((fit(nu, length)[0], nu, length) for nu in SMOOTHNESS for length in lengths)
    step = np.log(LENGTHS[1] / LENGTHS[0])
    ends = np.log(length) - step, np.log(length) + step
    found = minimize_scalar(lambda x: fit(nu, np.exp(x))[0], bounds=ends, method="bounded", options={"maxiter": 8})
    _, level, scale, noise, spectrum = min(fit(nu, length), fit(nu, float(np.exp(found.x))), key=lambda one: one[0])
    cross = (vectors * spectrum) @ labelled.T
    weights = np.linalg.solve(cross[vertices] + noise * np.eye(len(values)), cross.T).T
    mean = level + weights @ (values - level)
    own = (vectors**2) @ spectrum - (weights * cross).sum(axis=1)
    spread = NORMAL * np.sqrt(scale * (np.maximum(own, 0.0) + noise))
    return Prediction(mean, mean - spread, mean + spread)


def _geometric_space(graph: csr_array) -> tuple[Callable[[float, float], np.ndarray], np.ndarray]:
    """Return the package's spectrum by smoothness and length, and the eigenvectors it goes with.

    The kernel matrix is that of the package; only eigenpairs come from here, so that they are found once.
    """
    logging.getLogger("geometric_kernels").setLevel(logging.ERROR)
    from geometric_kernels.kernels import MaternGeometricKernel
    from geometric_kernels.spaces import Graph

    numbers, vectors = eigenpairs(graph)
    space = Graph(graph)
    scaled = vectors * np.sqrt(len(vectors))
    space.cache[len(numbers)] = scaled, np.maximum(numbers, np.finfo(float).eps)[:, None]
    kernel = MaternGeometricKernel(space, num=len(numbers))

    def spectrum(nu: float, length: float) -> np.ndarray:
        return np.asarray(kernel.eigenvalues({"nu": np.array([nu]), "lengthscale": np.array([length])})).ravel()

    return spectrum, scaled


def eigenpairs(graph: csr_array) -> tuple[np.ndarray, np.ndarray]:
    """Return all eigenpairs of the Laplacian up to 3,600 vertices, the smoothest 500 beyond."""
    key = zlib.crc32(graph.indices.tobytes() + graph.data.tobytes())
    folder = Path(os.environ.get("BENCH_CACHE") or Path(tempfile.gettempdir()) / "gpcurves-networks")
    kept = folder / f"eigenpairs-{graph.shape[0]}-{key:08x}.npz"
    return _kept_pairs(kept) if kept.exists() else _make_pairs(graph, kept)


@lru_cache(maxsize=2)
def _kept_pairs(kept: Path) -> tuple[np.ndarray, np.ndarray]:
    with np.load(kept) as content:
        return content["numbers"], content["vectors"]


def _make_pairs(graph: csr_array, kept: Path) -> tuple[np.ndarray, np.ndarray]:
    matrix = laplacian(graph)
    if graph.shape[0] <= ALL_PAIRS:
        numbers, vectors = eigh(matrix.toarray())
    else:
        start = np.random.default_rng(0).standard_normal(graph.shape[0])
        numbers, vectors = eigsh(csc_array(matrix), SOME_PAIRS, sigma=-1e-4, v0=start)
        order = np.argsort(numbers)
        numbers, vectors = numbers[order], vectors[:, order]
    kept.parent.mkdir(parents=True, exist_ok=True)
    part = kept.with_name(f"{os.getpid()}-{kept.name}")
    np.savez(part, numbers=numbers, vectors=vectors)
    part.replace(kept)
    return numbers, vectors


BASELINES: dict[str, Predictor] = {
    "mean": label_mean,
    "neighbours": neighbour_average,
    "harmonic": harmonic,
    "eigenvector GP": eigenvector_gp,
    "graph Matern": geometric_matern,
}
