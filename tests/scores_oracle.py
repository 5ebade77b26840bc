"""Training error, predictive density and evidence, retyped from the one scalar kappa."""

from __future__ import annotations

import numpy as np

from gpcurves.numerics.validation import FloatArray


def naive_test_error(n: float, kappa: float, values: FloatArray, power: FloatArray, true_noise: float) -> float:
    """Return the squared error against noisy targets; ``power`` is that of the true function in each eigenfunction."""
    share = values / (values + kappa)
    return float(n / (n - (share**2).sum()) * (((1 - share) ** 2 * power).sum() + true_noise))


def naive_scores(
    n: float, kappa: float, values: FloatArray, power: FloatArray, noise: float, true_noise: float
) -> dict[str, float]:
    """Return the quantities by name."""
    test, share = naive_test_error(n, kappa, values, power, true_noise), values / (values + kappa)
    evidence = (
        (power / (values + kappa)).sum()
        + true_noise / kappa
        + np.log(1 + values / kappa).sum()
        + n * np.log(n * kappa)
        - share.sum()
        + n * np.log(2 * np.pi)
    ) / 2
    return {
        "training": (noise / (n * kappa)) ** 2 * test,
        "nlpd": float(np.log(2 * np.pi * n * kappa) / 2 + test / (2 * n * kappa)),
        "evidence": float(evidence),
    }
