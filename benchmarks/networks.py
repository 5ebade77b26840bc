"""Benchmarks of labels on graphs: fit and plan against what a user would do instead, means on a million vertices, and memory.

``python -m benchmarks.networks``
"""

import resource
import subprocess
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


def measure_memory(sides: tuple[int, ...] = (316, 548, 1_000)) -> tuple[float, float]:
    """Return by how many bytes the peak memory of a fit grows with a vertex, and what it is for ten million vertices."""
    peaks = []
    for side in sides:
        found = subprocess.run(
            [sys.executable, "-c", f"from benchmarks import networks; networks.fit_huge({side})"],
            capture_output=True, check=True, text=True,
        )  # fmt: skip
        peaks.append(float(found.stdout.split()[-1]))
    slope, start = np.polyfit(np.square(sides), peaks, 1)
    return float(slope), float(start + slope * 1e7)


def fit_huge(side: int) -> None:
    """Fit a lattice with means by conjugate gradients and variances by belief propagation, and print the peak memory in bytes."""
    graph = lattice(side)
    vertices, values = labelled(graph, 2_000)
    gpc.GraphRegressor(graph, gpc.MaternGraphKernel(5.0, 1.0, "none"), 0.1).fit(vertices, values).predict_interval()
    print(1_024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


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
    entangled = gpc.ErdosRenyi(3.0).sample(10_000, 0)
    known = dict(zip(vertices.tolist(), values.tolist(), strict=True))
    began = time.process_time()
    gpc.forecast(entangled, known)
    spent = time.process_time() - began
    report.add("labels, random graph of 10,000 vertices, 600 labels: fit and plan, processor seconds", spent, below=60)
    huge = lattice(1_000)
    vertices, values = labelled(huge, 100_000)
    smooth = {"Matérn 1": gpc.MaternGraphKernel(5.0, 1.0, "none"), "Matérn 2": gpc.MaternGraphKernel(5.0, 2.0, "none")}
    for name, kernel in {**smooth, "diffusion": gpc.DiffusionKernel(5.0, "none")}.items():
        covariance = kernel.on(huge)
        probe = np.random.default_rng(0).choice([-1.0, 1.0], len(huge))
        typical = covariance.normalised_by(float(probe @ (covariance @ probe)) / len(huge))  # prior variances near 1
        began = time.process_time()
        solve_mean(typical, vertices, 0.1, values)
        spent = time.process_time() - began
        report.add(f"labels, 1e6 vertices, 1e5 labels: means with {name}, processor seconds", spent, below=20)
    slope, at = measure_memory()
    report.add("labels, bytes for each further vertex of a square lattice", slope, below=1_500)
    report.add("labels, 1e7 vertices by this slope, gigabytes", at / 1e9, below=16)


if __name__ == "__main__":
    sys.exit(judge(run))
