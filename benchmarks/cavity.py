"""Benchmarks of the cavity method: ``python -m benchmarks.cavity``."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
from scipy import sparse

import gpcurves as gpc
from benchmarks.goals import Report, judge
from gpcurves.graphs import Normalisation
from gpcurves.methods.cavity.beliefs import links_of, propagate
from gpcurves.methods.cavity.compiled import Links
from gpcurves.methods.cavity.rounds import send
from gpcurves.methods.cavity.taught import Chain, TaughtGraph

NOISE, KAPPA = 0.1, 0.08


def cpu_seconds(run: Callable[[], object], repeat: int = 5) -> float:
    """Return the least processor time of several runs, which other people's work on the machine does not change much."""
    times = []
    for _ in range(repeat):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return min(times)


def random_graph(vertices: int, edges: int, seed: int = 0) -> Links:
    rng = np.random.default_rng(seed)
    ends = np.sort(rng.integers(0, vertices, (edges + edges // 50 + 50, 2)), axis=1)
    ends = np.unique(ends[ends[:, 0] != ends[:, 1]], axis=0)
    ends = ends[rng.permutation(len(ends))[:edges]]
    both = np.concatenate([ends, ends[:, ::-1]])
    matrix = sparse.coo_array((np.ones(len(both)), tuple(both.T)), shape=(vertices, vertices)).tocsr()
    return links_of(gpc.Graph(matrix))


def our_update(p: int, graph: Links) -> float:
    """Return seconds per message on one core."""
    model = gpc.RandomWalkKernel(p).vertex_model()
    gains = np.random.default_rng(0).poisson(1.0, graph.vertices) / (np.maximum(graph.degrees, 1) * KAPPA * NOISE)
    old, new = np.zeros((2, graph.slots, model.packed))
    for _ in range(3):
        send(graph, model, (gains, gains), (old, new), threads=1)
        old, new = new, old
    return cpu_seconds(lambda: send(graph, model, (gains, gains), (old, new), threads=1)) / graph.slots


def taught_update(p: int, graph: Links) -> float:
    """Return seconds per differentiated message of a misspecified model on one core."""
    model, kappa = gpc.RandomWalkKernel(p).vertex_model(), np.full(graph.vertices, KAPPA)
    chain = Chain.of(model, graph.weights, graph.degrees, kappa)
    taught = TaughtGraph(graph, chain, chain, NOISE, NOISE)
    counts = np.random.default_rng(0).poisson(1.0, graph.vertices).astype(float)
    old, new = taught.start(), taught.start()
    _, known = taught.prior
    for _ in range(3):
        taught.send((old, new), known, counts, threads=1)
        old, new = new, old
    return cpu_seconds(lambda: taught.send((old, new), known, counts, threads=1)) / graph.slots


def complex_parts(p: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the matrices O (without noise, for degree 1) and X of UM13 (23)."""
    walk = gpc.RandomWalkKernel(p).vertex_model().walk
    assert walk is not None
    matrix, swap = np.zeros((2, 2 * p + 1, 2 * p + 1), dtype=complex)
    matrix[0, 0] = walk[0]
    for q in range(1, p + 1):
        matrix[0, q] = matrix[q, 0] = walk[q] / 2
        matrix[q, p + q] = matrix[p + q, q] = -1j
        swap[q - 1, p + q] = swap[p + q, q - 1] = 1j
    return matrix, swap


def complex_numpy_update(p: int, batch: int = 2000) -> float:
    """Return seconds per message for UM13 (22) with two incoming messages, as a batch in NumPy on one core."""
    matrix, swap = complex_parts(p)
    order = np.concatenate([np.arange(p + 1, 2 * p + 1), [p], np.arange(p)])  # X V X is a permutation, up to zeros
    rng = np.random.default_rng(0)
    gains = rng.poisson(1.0, batch) / (3 * KAPPA * NOISE)
    messages = np.zeros((batch, 2 * p + 1, 2 * p + 1), dtype=complex)
    sign = -np.ones((2 * p + 1, 2 * p + 1))
    sign[p] = sign[:, p] = 0.0
    members = rng.integers(0, batch, (batch, 2))

    def update() -> np.ndarray:
        total = messages[members[:, 0]] + messages[members[:, 1]]
        inverse = np.linalg.inv(3 * matrix - sign * total[:, order][:, :, order])
        column = inverse[:, :, 0]
        return inverse - column[:, :, None] * column[:, None] / (gains + inverse[:, 0, 0])[:, None, None]

    probe = rng.normal(size=swap.shape)
    assert np.allclose(swap @ probe @ swap, sign * probe[order][:, order])
    messages = update()
    return cpu_seconds(update, 3) / batch


@numba.njit  # type: ignore[untyped-decorator]
def _complex_loop(matrix: Any, gains: Any, members: Any, messages: Any, new: Any) -> None:
    size = matrix.shape[0]
    p = size // 2
    work = np.empty((size, size), dtype=np.complex128)
    for k in range(len(gains)):
        work[:] = 3 * matrix
        for i in range(p):
            for j in range(p):
                for n in members[k]:
                    work[i, j] += messages[n, p + 1 + i, p + 1 + j]
                    work[i, p + 1 + j] += messages[n, p + 1 + i, j]
                    work[p + 1 + i, j] += messages[n, i, p + 1 + j]
                    work[p + 1 + i, p + 1 + j] += messages[n, i, j]
        inverse = np.linalg.inv(work)
        scale = 1 / (gains[k] + inverse[0, 0])
        for i in range(size):
            for j in range(size):
                new[k, i, j] = inverse[i, j] - inverse[i, 0] * inverse[0, j] * scale


def complex_compiled_update(p: int, batch: int = 2000) -> float:
    """Return seconds per message for the same equation compiled with Numba and LAPACK."""
    matrix, _ = complex_parts(p)
    rng = np.random.default_rng(0)
    gains = rng.poisson(1.0, batch) / (3 * KAPPA * NOISE)
    members = rng.integers(0, batch, (batch, 2))
    old, new = np.zeros((2, batch, 2 * p + 1, 2 * p + 1), dtype=complex)
    _complex_loop(matrix, gains, members, old, new)
    return cpu_seconds(lambda: _complex_loop(matrix, gains, members, new, old), 3) / batch


def update_ratios(p: int = 10) -> dict[str, float]:
    """Return how many times one update is faster than that of the paper."""
    mine = our_update(p, random_graph(2000, 3000))
    return {"NumPy": complex_numpy_update(p) / mine, "Numba": complex_compiled_update(p) / mine}


def growth_with_p(small: int = 20, large: int = 40) -> float:
    """Return the power of p with which the time of an update grows."""
    graph = random_graph(1000, 1500)
    return float(np.log(our_update(large, graph) / our_update(small, graph)) / np.log(large / small))


def instance(vertices: int) -> tuple[float, float]:
    """Return seconds (on all cores) and gigabytes of one run on a graph with mean degree 3, in a process of its own."""
    code = f"from benchmarks.cavity import _instance; _instance({vertices})"
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    return float(out[0]), float(out[1])


def _instance(vertices: int) -> None:
    walk = gpc.RandomWalkKernel(10).vertex_model()
    propagate(random_graph(50, 75), walk, np.ones(50), NOISE, KAPPA)  # compiles
    graph = random_graph(vertices, 3 * vertices // 2)
    counts = np.random.default_rng(1).poisson(1.0, vertices)
    start = time.perf_counter()
    result = propagate(graph, walk, counts, NOISE, KAPPA)
    elapsed = time.perf_counter() - start
    assert result.converged
    status = Path("/proc/self/status").read_text().split("VmHWM:")[1]
    print(elapsed, int(status.split()[0]) / 2**20)


def learning_curve_seconds(normalise: Normalisation) -> float:
    """Return wall-clock seconds for 20 values of nu, mean degree 3, p = 10, noise 0.1, at the default precision."""
    problem = gpc.GraphProblem(gpc.ErdosRenyi(3), gpc.RandomWalkKernel(10, 2, normalise), 0.1)
    start = time.perf_counter()
    gpc.learning_curve(problem, "cavity", nu=np.geomspace(0.1, 10, 20), rng=0)
    return time.perf_counter() - start


def run(report: Report) -> None:
    """Report all ratios, times and memory."""
    ratios = update_ratios()
    report.add("message, p = 10: complex update in NumPy / gpcurves", ratios["NumPy"], above=30)
    report.add("message, p = 10: complex update in Numba / gpcurves", ratios["Numba"], above=10)
    graph = random_graph(20_000, 30_000)
    # five products of matrices beside the elimination of a plain message, and four times as many numbers
    times = np.array([(taught_update(10, graph), our_update(10, graph)) for _ in range(4)]).min(axis=0)
    report.add("message of a misspecified model, p = 10 / plain message", times[0] / times[1], below=3)
    report.add("power of p with which the time of a message grows", growth_with_p(), below=3.5)
    for normalise in ("global", "local"):
        report.add(f"cavity, 20 values of nu, {normalise}: seconds", learning_curve_seconds(normalise), below=60)
    for vertices in (10_000, 100_000, 1_000_000):
        elapsed, memory = instance(vertices)
        report.add(f"cavity, {vertices} vertices: seconds per million", 1e6 * elapsed / vertices, below=200)
        report.add(f"cavity, {vertices} vertices: gigabytes", memory, below=4)


if __name__ == "__main__":
    sys.exit(judge(run))
