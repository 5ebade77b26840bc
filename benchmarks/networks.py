"""Benchmarks of labels on graphs: fit and plan against what a user would do instead, and means on a million vertices.

``python -m benchmarks.networks``
"""

import sys
import time

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel

import gpcurves as gpc
from benchmarks.goals import Report, judge
from gpcurves.graphs.solving import solve_mean


def lattice(side: int) -> gpc.Graph:
    """Return a square lattice."""
    i = np.arange(side * side).reshape(side, side)
    across, down = (np.stack((i[:, :-1].ravel(), i[:, 1:].ravel()), 1), np.stack((i[:-1].ravel(), i[1:].ravel()), 1))
    return gpc.Graph.from_edges(np.concatenate((across, down)))


def labelled(graph: gpc.Graph, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return vertices of a lattice in a random order, so many of them, and noisy values of a smooth function there."""
    side, rng = int(np.sqrt(graph.vertices)), np.random.default_rng(0)
    pick = rng.permutation(graph.vertices)[:count]
    x, y = pick % side / side, pick // side / side
    return pick, 10 + 5 * np.sin(6 * x) * np.cos(4 * y) + 0.5 * rng.standard_normal(count)


def by_eigenvectors(graph: gpc.Graph, vertices: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Predict as one would without this package: scikit-learn on the first eigenvectors of the Laplacian."""
    U = np.linalg.eigh(graph.T.toarray())[1]
    features = U[:, -16:] * np.sqrt(graph.vertices)
    model = GaussianProcessRegressor(RBF(np.ones(16)) + WhiteKernel(0.1), normalize_y=True)
    return np.asarray(model.fit(features[vertices], values).predict(features))


def run(report: Report) -> None:
    small = lattice(40)
    vertices, values = labelled(small, 150)
    began = time.perf_counter()
    gpc.GraphRegressor(small).fit(vertices, values).predict()
    ours = time.perf_counter() - began
    began = time.perf_counter()
    by_eigenvectors(small, vertices, values)
    theirs = time.perf_counter() - began
    report.add("labels, 1,600 vertices, 150 labels: eigenvectors in scikit-learn / gpcurves", theirs / ours, above=1)
    graph = lattice(100)
    vertices, values = labelled(graph, 600)
    began = time.perf_counter()
    gpc.forecast(graph, dict(zip(vertices.tolist(), values.tolist(), strict=True)))
    report.add("labels, 10,000 vertices, 600 labels: fit and plan, seconds", time.perf_counter() - began, below=60)
    huge = lattice(1_000)
    vertices, values = labelled(huge, 100_000)
    covariance = gpc.MaternGraphKernel(5.0, 1.0, "none").on(huge)
    began = time.perf_counter()
    solve_mean(covariance, vertices, 0.1, values)
    report.add("labels, 1e6 vertices, 1e5 labels: posterior means, seconds", time.perf_counter() - began, below=20)


if __name__ == "__main__":
    sys.exit(judge(run))
