"""Sparse simulation at the size of real data: against a large matrix product, and in seconds and gigabytes."""

from __future__ import annotations

import resource
import time

import numpy as np
from threadpoolctl import threadpool_limits

import gpcurves as gpc
from benchmarks.goals import Report
from gpcurves.methods.sparse.dataset import sparse_error

_N, _M = 100_000, 500


def run(report: Report) -> None:
    """Measure one data set of FITC."""
    problem = gpc.Problem(gpc.RBF(0.05), gpc.Torus(2), 0.1)
    rng = np.random.default_rng(0)
    X, test = problem.inputs.draw(_N, rng), (problem.inputs.draw(1_000, rng), np.full(1_000, 1e-3))
    with threadpool_limits(1):
        matrix = rng.random((2_000, 2_000))
        begin = time.process_time()
        matrix @ matrix
        peak = 2 * 2_000**3 / (time.process_time() - begin)
        begin = time.process_time()
        found = sparse_error(problem, X, X[:_M], test, "fitc", 1)
        taken = time.process_time() - begin
    assert 0 < found.error < found.claimed
    # two Gram matrices, the products with 1,000 features of the true function, and one triangular solve, for each example
    count = _N * _M * (2 * _M + 2 * _M + 2 * 1_000 + _M)
    report.add(
        "sparse simulation, n = 1e5, m = 500: flop rate / that of a large dgemm", count / taken / peak, above=0.25
    )
    report.add("sparse simulation, n = 1e5, m = 500: seconds of one core", taken, below=60)
    gigabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    report.add("sparse simulation, n = 1e5, m = 500: gigabytes of all that ran before", gigabytes, below=4)
