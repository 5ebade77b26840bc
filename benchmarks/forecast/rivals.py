"""What people do instead of a model: curves with two to four parameters through cross-validated errors.

Forms are those of the learning-curve database LCDB (Mohr et al. 2022), written for mean squared errors, which fall. Each is
fitted by least squares in the logarithm from many starts; parameters are kept where the curve is positive and does not rise.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import least_squares
from scipy.special import expit

Curve = Callable[[np.ndarray, np.ndarray], np.ndarray]
STARTS = 10


def _pow2(n: np.ndarray, p: np.ndarray) -> np.ndarray:
    return np.asarray(np.exp(p[0]) * n ** -np.exp(p[1]))


def _pow3(n: np.ndarray, p: np.ndarray) -> np.ndarray:
    return np.asarray(_pow2(n, p) + np.exp(p[2]))


def _pow4(n: np.ndarray, p: np.ndarray) -> np.ndarray:
    return np.asarray(_pow2(n + np.exp(p[3]), p) + np.exp(p[2]))


def _exp4(n: np.ndarray, p: np.ndarray) -> np.ndarray:
    return np.asarray(np.exp(p[0] - np.exp(p[1]) * n ** np.exp(p[3])) + np.exp(p[2]))


def _ilog2(n: np.ndarray, p: np.ndarray) -> np.ndarray:
    return np.asarray(np.exp(p[0]) + np.exp(p[1]) / np.log(100 * n + 1))


def _mmf4(n: np.ndarray, p: np.ndarray) -> np.ndarray:
    share = expit(p[1] - np.exp(p[3]) * np.log(n))  # b / (b + n^d), which does not overflow
    return np.asarray(np.exp(p[0]) * share + np.exp(p[2]) * (1 - share))


def _wbl4(n: np.ndarray, p: np.ndarray) -> np.ndarray:
    return np.asarray(np.exp(p[2]) + np.exp(p[0] - np.exp(p[1]) * n ** np.exp(p[3])))


def _last1(n: np.ndarray, p: np.ndarray) -> np.ndarray:
    return np.full(len(n), np.exp(p[0]))


FORMS: dict[str, tuple[Curve, int]] = {
    "last value": (_last1, 1),
    "pow2": (_pow2, 2),
    "pow3": (_pow3, 3),
    "pow4": (_pow4, 4),
    "mmf4": (_mmf4, 4),
    "wbl4": (_wbl4, 4),
    "exp4": (_exp4, 4),
    "ilog2": (_ilog2, 2),
}


def extrapolate(name: str, n: np.ndarray, mse: np.ndarray, wanted: np.ndarray, starts: int = STARTS) -> np.ndarray:
    """Return the logarithm of the mean squared error at the wanted n, by a curve through the errors at n."""
    curve, size = FORMS[name]
    if name == "last value":
        return np.full(len(wanted), np.log(mse[-1]))
    unit = n[-1]
    logs = np.log(mse) - np.log(mse[-1])

    def mismatch(p: np.ndarray) -> np.ndarray:
        return np.asarray(np.log(np.maximum(curve(n / unit, p), 1e-30)) - logs)

    rng = np.random.default_rng(0)
    best = None
    for start in rng.normal(0.0, 1.0, (starts, size)) - 0.5:
        found = least_squares(mismatch, start, bounds=(-12, 6), max_nfev=60)
        best = found if best is None or found.cost < best.cost else best
    assert best is not None
    return np.asarray(np.log(np.maximum(curve(wanted / unit, best.x), 1e-30)) + np.log(mse[-1]))
