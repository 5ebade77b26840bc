"""How long local theory takes: many places, and a graph by dense algebra and by messages."""

import time

import gpcurves as gpc
from benchmarks.goals import Report


def _seconds(problem: gpc.Problem, **options: object) -> float:
    start = time.perf_counter()
    gpc.learning_curve(problem, "local", **options)  # type: ignore[arg-type]
    return time.perf_counter() - start


def run(report: Report) -> None:
    """Print the times of one size each."""
    clumped = gpc.Problem(gpc.Matern52(0.3), gpc.Gaussian(2), 0.01)
    report.add("local theory, 20,000 places, n = 1,000: seconds", _seconds(clumped, n=[1_000], nodes=20_000), below=60)
    kernel = gpc.RandomWalkKernel(p=10, a=2.0)
    dense = gpc.GraphProblem(gpc.ErdosRenyi(3).sample(2_000, 0), kernel, 0.1)
    report.add("local theory, graph of 2,000 vertices, nu = 1: seconds", _seconds(dense, nu=[1.0]), below=60)
    large = gpc.GraphProblem(gpc.ErdosRenyi(3).sample(50_000, 0), kernel, 0.1)
    report.add(
        "local theory, graph of 50,000 vertices by messages, nu = 1: seconds", _seconds(large, nu=[1.0]), below=300
    )
