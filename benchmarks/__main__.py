"""Print every benchmark beside its goal: ``python -m benchmarks``. The exit code is 1 if a goal is missed."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from tempfile import TemporaryDirectory

import numpy as np
from scipy.linalg import cholesky
from scipy.optimize import brentq
from threadpoolctl import threadpool_limits

import gpcurves as gpc
from benchmarks import cavity, forecasting, labels, local, networks, sparse
from benchmarks.goals import Report, judge
from gpcurves.numerics.validation import FloatArray


def seconds(run: Callable[[], object], repeat: int = 5) -> float:
    """Return the shortest of several runs."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def lc_by_brentq(values: FloatArray, noise: float, sizes: FloatArray) -> list[float]:
    """Solve LC as one would without this package: one log-space root per n over the same NumPy sum."""
    trace = values.sum()

    def error(log_error: float, n: float) -> float:
        epsilon = np.exp(log_error)
        return float(log_error - np.log((values / (1 + n / (noise + epsilon) * values)).sum()))

    return [np.exp(brentq(error, np.log(trace) - 40, np.log(trace) + 1, args=(n,), xtol=1e-12)) for n in sizes]


def eigenvalue_theory(report: Report) -> None:
    values = np.arange(1, 1_000_001.0) ** -2.0
    sizes = np.geomspace(1, 1e5, 50)

    def ours(count: int) -> gpc.LearningCurve:
        return gpc.learning_curve(gpc.Spectrum(values), "lc", np.geomspace(1, 1e5, count), noise=0.05)

    assert np.allclose(ours(50).error, lc_by_brentq(values, 0.05, sizes), rtol=1e-9, atol=0)
    fifty = seconds(lambda: ours(50))
    report.add(
        "LC, 1e6 eigenvalues, 50 n: brentq per n / gpcurves",
        seconds(lambda: lc_by_brentq(values, 0.05, sizes), 1) / fifty,
        above=20,
    )
    report.add("LC, 1e6 eigenvalues: 1000 n / 50 n", seconds(lambda: ours(1000)) / fifty, below=1.5)


def misspecified_theory(report: Report) -> None:
    index = np.arange(1, 1_000_001.0)
    values, coefficients, sizes = index**-2.0, index**-0.8, np.geomspace(1, 1e5, 50)

    def wrong() -> gpc.LearningCurve:
        teacher = gpc.Teacher(coefficients=coefficients, noise=0.05)
        return gpc.learning_curve(gpc.SpectrumProblem(gpc.Spectrum(values), 0.05, teacher), "lc", sizes)

    matched = seconds(lambda: gpc.learning_curve(gpc.Spectrum(values), "lc", sizes, noise=0.05))
    report.add("LC of a misspecified model, 1e6 eigenvalues, 50 n / LC", seconds(wrong) / matched, below=2)


def discrete_approximation(report: Report) -> None:
    values = np.arange(1, 10_001.0) ** -2.0
    spectrum = gpc.Spectrum(values)

    def plain() -> float:
        G = values.copy()
        for _ in range(10_000):
            G = G - G * G / (0.05 + G.sum())
        return float(G.sum())

    ours = gpc.learning_curve(spectrum, "d", 10_000, noise=0.05).error[-1]
    assert abs(ours / plain() - 1) < 1e-10
    report.add(
        "D, 1e4 eigenvalues, n = 0..10000: plain NumPy / gpcurves",
        seconds(plain, 1) / seconds(lambda: gpc.learning_curve(gpc.Spectrum(values), "d", 10_000, noise=0.05), 2),
        above=1,
    )


def spectra(report: Report) -> None:
    def lattice() -> FloatArray:
        q = np.arange(-60, 61)
        k = (q[:, None, None] ** 2 + q[None, :, None] ** 2 + q[None, None, :] ** 2).ravel()
        return np.sort((1 + (2 * np.pi * 0.1) ** 2 * k) ** -2.0)

    listing = seconds(lattice, 1)
    ours = seconds(lambda: gpc.Problem(gpc.OU(0.1), gpc.Torus(3), 0.1).spectrum.trace, 2)
    report.add(
        "OU spectrum, torus d = 3: listing |q| <= 60 (tail lost) / gpcurves (tail integrated)", listing / ours, above=1
    )


def simulation(report: Report) -> None:
    problem = gpc.Problem(gpc.RBF(0.05), gpc.Torus(1), 0.05)

    def ours(n: int, datasets: int) -> float:
        """Return seconds per data set for the whole curve 0..n."""
        sizes = range(n + 1)
        return seconds(lambda: gpc.learning_curve(problem, "simulation", sizes, datasets=datasets, rng=0), 3) / datasets

    with threadpool_limits(1):
        mine = ours(500, 20)
        refit, grown = refitting(), seconds(lambda: one_row_at_a_time(500), 1)
        report.add(
            "simulation, n = 0..500: scikit-learn anew at every n, 1000 test points / gpcurves", refit / mine, above=200
        )
        report.add("simulation, n = 0..500: adding one row at a time to the inverse / gpcurves", grown / mine, above=10)
        matrix = np.random.default_rng(0).random((3000, 3000))
        peak = 2 * 3000**3 / seconds(lambda: matrix @ matrix, 3)
        # Cholesky n^3/3 and L^-1 B L^-T n^3; the kernel matrices are not counted but take their time
        report.add(
            "simulation, n = 2000: flop rate / that of a large dgemm", 4 / 3 * 2000**3 / ours(2000, 3) / peak, above=0.5
        )


def graphs(report: Report) -> None:
    graph = gpc.ErdosRenyi(3).sample(100_000, 0)
    kernel = gpc.RandomWalkKernel(10, normalise="global")

    def column_by_column() -> FloatArray:
        """Return 400 entries of the diagonal as one would without halving the walk."""
        unit = np.zeros((graph.vertices, 400))
        unit[np.arange(400), np.arange(400)] = 1.0
        for _ in range(10):
            unit = unit / 2 + graph.T @ unit / 2
        return unit[np.arange(400), np.arange(400)]

    assert np.allclose(kernel.on(graph).raw_diagonal[:400], column_by_column(), rtol=1e-12)
    plain = seconds(column_by_column, 1) * graph.vertices / 400
    report.add(
        "kernel diagonal, 1e5 vertices, p = 10: sparse products with unit vectors / gpcurves",
        plain / seconds(lambda: kernel.on(graph).raw_diagonal, 2),
        above=10,
    )
    small = gpc.ErdosRenyi(3).sample(500, 0)
    problem = gpc.GraphProblem(small, gpc.RandomWalkKernel(10, normalise="local"), 0.1)
    nu = np.geomspace(0.1, 10, 20)
    matrix = problem.kernel.on(small).matrix() + 0.1 * np.eye(500)
    with threadpool_limits(1):
        factor = seconds(lambda: cholesky(matrix, lower=True, check_finite=False), 20)
        curve = seconds(lambda: gpc.learning_curve(problem, "simulation", nu=nu, datasets=20, rng=0), 3) / 20
    report.add("simulated curve of 20 nu, V = 500 / one dense Cholesky factor per nu", curve / (20 * factor), below=10)


def refitting() -> float:
    """Return the seconds that fitting and predicting anew at n = 1..500 take, from every 25th of them."""
    from sklearn.gaussian_process import GaussianProcessRegressor, kernels

    rng = np.random.default_rng(0)
    X, y, test = rng.random((500, 1)), rng.standard_normal(500), rng.random((1000, 1))
    total = 0.0
    for n in range(13, 501, 25):
        model = GaussianProcessRegressor(kernels.RBF(0.05), alpha=0.05, optimizer=None)
        begin = time.perf_counter()
        model.fit(X[:n], y[:n]).predict(test, return_std=True)
        total += 25 * (time.perf_counter() - begin)
    return total


def one_row_at_a_time(largest: int) -> FloatArray:
    """Grow the inverse of K by one row and column for each example and average over 1000 test inputs."""
    rng = np.random.default_rng(0)
    x, test = rng.random(largest), rng.random(1000)

    def kernel(a: FloatArray, b: FloatArray) -> FloatArray:
        return np.asarray(np.exp(-0.5 * (np.subtract.outer(a, b) / 0.05) ** 2))

    cross = kernel(x, test)
    inverse = np.array([[1 / 1.05]])
    errors = []
    for n in range(1, largest):
        column = kernel(x[:n], x[n : n + 1])[:, 0]
        solved = inverse @ column
        pivot = 1.05 - column @ solved
        grown = np.empty((n + 1, n + 1))
        grown[:n, :n] = inverse + np.outer(solved, solved) / pivot
        grown[n, :n] = grown[:n, n] = -solved / pivot
        grown[n, n] = 1 / pivot
        inverse = grown
        errors.append(1 - np.mean(np.einsum("ij,ij->j", cross[: n + 1], inverse @ cross[: n + 1])))
    return np.array(errors)


def start(report: Report) -> None:
    curve = "curve --lengthscale 0.01 --noise 0.05 --n 0,1,50,300 --kernel"
    with TemporaryDirectory() as folder:  # bytecode is kept, as after an installation, whatever the environment says
        environment = os.environ | {"PYTHONPYCACHEPREFIX": folder, "PYTHONDONTWRITEBYTECODE": ""}

        def command(*words: str) -> float:
            """Return the seconds of the processor that a command takes, which other processes disturb less than the clock."""
            times = []
            for _ in range(7):
                before = os.times()
                subprocess.run([sys.executable, *words], check=True, capture_output=True, env=environment)
                after = os.times()
                times.append(
                    after.children_user - before.children_user + after.children_system - before.children_system
                )
            return min(times)

        numpy, scipy = command("-c", "import numpy"), command("-c", "import scipy")
        report.add("gpcurves --help / import numpy", command("-m", "gpcurves", "--help") / numpy, below=2.5)
        report.add("gpcurves methods / import scipy", command("-m", "gpcurves", "methods") / scipy, below=3)
        for kernel in ("rbf", "ou", "matern52"):
            taken = command("-m", "gpcurves", *curve.split(), kernel)
            report.add(f"gpcurves curve, all theory of {kernel} / import scipy", taken / scipy, below=3)


if __name__ == "__main__":
    own = (eigenvalue_theory, misspecified_theory, discrete_approximation, spectra, simulation, graphs)
    sys.exit(judge(sparse.run, *own, labels.run, local.run, cavity.run, networks.run, forecasting.run, start))
