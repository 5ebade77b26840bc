"""What the rows at hand show directly: cross-validated errors at and below their number, and a power law through them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gpcurves.forecasting.evidence import Evidence, correlation, fitted, squared_distances, unpack
from gpcurves.forecasting.posterior import LogPosterior
from gpcurves.numerics.validation import FloatArray

SHARES = (0.125, 0.25, 0.5, 0.9)
"""Training sets as shares of the rows; the last is ten-fold cross-validation."""
Split = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]
_SMALLEST = 4
_WORK = 4_000
"""Refits times rows, about."""
_REPEATS = 4
_ITERATIONS = 20


@dataclass(frozen=True)
class CrossValidation:
    """Mean squared errors on rows held out, after training on fewer rows than there are.

    Attributes
    ----------
    n
        Sizes of the training sets.
    mse
        Mean squared errors; logarithms are averaged over the covariance functions.
    stderr
        Standard errors of the logarithms, from the scatter of the squared residuals.
    """

    n: FloatArray
    mse: FloatArray
    stderr: FloatArray


def cross_validate(densities: list[LogPosterior], modes: list[FloatArray], rng: np.random.Generator) -> CrossValidation:
    """Refit on parts of the rows, starting at the modes for all of them, and test on the others."""
    count = len(densities[0].evidence.y)
    sizes, errors, blurs = [], [], []
    for share in SHARES:
        size = round(share * count)
        if size < _SMALLEST:
            continue
        splits = _folds(count, rng) if share == SHARES[-1] else _halves(count, size, rng)
        residuals = [_residuals(*pair, splits) for pair in zip(densities, modes, strict=True)]
        means = [float(np.mean(r**2)) for r in residuals]
        sizes.append(size)
        errors.append(float(np.exp(np.mean(np.log(means)))))
        scatter = [np.std(r**2) / (m * np.sqrt(min(count, len(r)))) for r, m in zip(residuals, means, strict=True)]
        blurs.append(float(np.mean(scatter)))
    return CrossValidation(np.array(sizes, float), np.array(errors), np.array(blurs))


def _folds(count: int, rng: np.random.Generator) -> list[Split]:
    """Return the parts of ten-fold cross-validation, which is repeated where there are few rows."""
    orders = [rng.permutation(count) for _ in range(min(_REPEATS, max(1, _WORK // (10 * count))))]
    parts = [part for order in orders for part in np.array_split(order, min(10, count))]
    return [(np.setdiff1d(np.arange(count), part), part) for part in parts]


def _halves(count: int, size: int, rng: np.random.Generator) -> list[Split]:
    orders = [rng.permutation(count) for _ in range(min(6, max(2, _WORK // count)))]
    return [(order[:size], order[size:]) for order in orders]


def _residuals(density: LogPosterior, mode: FloatArray, splits: list[Split]) -> FloatArray:
    X, y, family = density.evidence.X, density.evidence.y, density.family
    residuals = []
    for place, (train, test) in enumerate(splits):
        theta = mode
        if place < max(3, _WORK // len(y)):  # of many rows a tenth does not change the mode
            part = LogPosterior(Evidence(family, X[train], y[train]), density.prior, density.fixed_noise)
            theta = part.mode([mode], _ITERATIONS)
        variance, lengthscales, _ = unpack(theta)
        _, alpha = fitted(family, X[train], y[train], theta)
        cross = correlation(family, squared_distances(X[test] / lengthscales, X[train] / lengthscales))
        residuals.append(y[test] - variance * (cross @ alpha))
    return np.concatenate(residuals)


@dataclass(frozen=True)
class PowerLaw:
    """Mean squared error a + b n^-c fitted to the cross-validated ones: what is usually done, for comparison."""

    floor: float
    factor: float
    exponent: float

    def __call__(self, n: FloatArray) -> FloatArray:
        """Return the mean squared error at n."""
        return np.asarray(self.floor + self.factor * n**-self.exponent)

    @classmethod
    def fit(cls, observed: CrossValidation) -> PowerLaw:
        """Fit by least squares in the logarithm, with none of the three below zero."""
        from scipy.optimize import least_squares

        n, log_mse = observed.n / observed.n[-1], np.log(observed.mse)

        def mismatch(p: FloatArray) -> FloatArray:
            return np.asarray(np.log(np.exp(p[0]) + np.exp(p[1]) * n ** -np.exp(p[2])) - log_mse)

        last = log_mse[-1]
        runs = [
            least_squares(
                mismatch,
                [last + np.log(share), last + np.log1p(-share), np.log(c)],
                bounds=([last - 15, last - 9, -4], [last + 1, last + 3, 1.2]),
            )
            for share in (0.1, 0.6)
            for c in (0.4, 1.0)
        ]
        a, b, c = np.exp(min(runs, key=lambda run: float(run.cost)).x)
        return cls(float(a), float(b * observed.n[-1] ** c), float(c))
