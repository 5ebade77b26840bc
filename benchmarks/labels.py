"""Benchmarks of labels without Gaussian noise: ``python -m benchmarks.labels``."""

import sys
import time

import numpy as np
from threadpoolctl import threadpool_limits

import gpcurves as gpc
from benchmarks.goals import Report, judge


def refit_classifier(largest: int, points: int) -> float:
    """Return the seconds that fitting and predicting anew at n = 1..largest take, from every tenth of them."""
    from sklearn.gaussian_process import GaussianProcessClassifier, kernels

    rng = np.random.default_rng(0)
    X, test = rng.random((largest, 1)), rng.random((points, 1))
    y = np.where(np.sin(12 * X[:, 0]) + rng.standard_normal(largest) > 0, 1, -1)
    y[:2] = 1, -1  # it needs both classes
    total = 0.0
    for n in range(5, largest + 1, 10):
        model = GaussianProcessClassifier(kernels.RBF(0.1), optimizer=None)
        begin = time.perf_counter()
        model.fit(X[:n], y[:n]).predict_proba(test)
        total += 10 * (time.perf_counter() - begin)
    return total


def run(report: Report) -> None:
    """Compare simulated curves of classes with scikit-learn's classifier."""
    with threadpool_limits(1):
        refit_classifier(20, 200)
        for kernel in (gpc.RBF(0.1), gpc.OU(0.1)):  # smooth functions have few features, rough ones have not
            problem = gpc.Problem(kernel, gpc.Torus(1), gpc.Probit())
            gpc.learning_curve(problem, "simulation", range(20), datasets=2, rng=0)
            ratios = []
            for _ in range(3):  # both in turn, so that other work on the machine slows both
                begin = time.perf_counter()
                gpc.learning_curve(problem, "simulation", range(201), datasets=5, rng=0)
                mine = (time.perf_counter() - begin) / 5
                ratios.append(refit_classifier(200, 200) / mine)
            what = f"classes by EP, {kernel.name}, n = 0..200: scikit-learn's classifier anew at every n / gpcurves"
            report.add(what, max(ratios), above=10)


if __name__ == "__main__":
    sys.exit(judge(run))
