"""Benchmarks of forecasts: the evidence against that of other libraries, and seconds per forecast: ``python -m benchmarks.forecasting``."""

import sys
import time

import numpy as np

import benchmarks.evidence
import gpcurves as gpc
from benchmarks.goals import Report, judge


def rows(count: int, dim: int = 8) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((count, dim))
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(count)


def run(report: Report) -> None:
    """Report ratios of the evidence, and the seconds of processor time of whole forecasts."""
    benchmarks.evidence.run(report)
    gpc.forecast(*rows(20), draws=2)  # loads what is loaded once
    for count, goal in ((200, 3), (1000, 15)):
        began = time.process_time()
        gpc.forecast(*rows(count))
        report.add(f"forecast, {count} rows, 8 inputs: seconds", time.process_time() - began, below=goal)


if __name__ == "__main__":
    sys.exit(judge(run))
