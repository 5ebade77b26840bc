"""Benchmarks of forecasts: the evidence against that of other libraries, and seconds per forecast: ``python -m benchmarks.forecasting``."""

import sys
import time

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel
from threadpoolctl import threadpool_limits

import benchmarks.evidence
import gpcurves as gpc
from benchmarks.cavity import cpu_seconds
from benchmarks.goals import Report, judge
from gpcurves.forecasting.evidence import Evidence


def rows(count: int, dim: int = 8) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((count, dim))
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(count)


def evidence() -> float:
    """Return how much faster the evidence and its gradient are than scikit-learn's, with 200 rows and 8 inputs."""
    X, y = rows(200)
    y = (y - y.mean()) / y.std()
    theta = np.log([1.5, *np.linspace(1, 4, 8), 0.1])
    kernel = ConstantKernel(1.5) * Matern(np.linspace(1, 4, 8), nu=2.5) + WhiteKernel(0.1)
    theirs = GaussianProcessRegressor(kernel, alpha=0.0, optimizer=None).fit(X, y)
    ours = Evidence(gpc.Matern52, X, tuple(range(8)))
    value, gradient = theirs.log_marginal_likelihood(theirs.kernel_.theta, eval_gradient=True)
    assert np.allclose(ours(theta, y)[0], value, rtol=1e-8)
    assert np.allclose(ours(theta, y)[1], gradient, rtol=1e-6)
    with threadpool_limits(1):
        plain = cpu_seconds(lambda: theirs.log_marginal_likelihood(theirs.kernel_.theta, eval_gradient=True), 20)
        return plain / cpu_seconds(lambda: ours(theta, y), 50)


def run(report: Report) -> None:
    """Report the ratio and the seconds of whole forecasts."""
    report.add("evidence and gradient, 200 rows, 8 inputs: scikit-learn / gpcurves", evidence(), above=5)
    benchmarks.evidence.run(report)
    for count, goal in ((200, 10), (1000, 60)):
        began = time.perf_counter()
        gpc.forecast(*rows(count))
        report.add(f"forecast, {count} rows, 8 inputs: seconds", time.perf_counter() - began, below=goal)


if __name__ == "__main__":
    sys.exit(judge(run))
