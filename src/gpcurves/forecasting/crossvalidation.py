"""What the rows at hand show directly: cross-validated errors at and below their number, and a power law through them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
from scipy.optimize import least_squares

from gpcurves.errors import InputError
from gpcurves.forecasting.posterior import Member
from gpcurves.forecasting.regression import NO_GUESS, Guess, Regression
from gpcurves.forecasting.warping import NoWarp, Warped
from gpcurves.numerics.display import html_table
from gpcurves.numerics.validation import FloatArray
from gpcurves.problem import Problem

_SHARES = (0.125, 0.25, 0.5, 0.9)  # training sets as shares of the rows; the last is ten-fold cross-validation
_Rows = npt.NDArray[np.int64]
Split = tuple[_Rows, _Rows]
_SMALLEST = 4
_WORK, _REFITS = 1_000, 2  # refits times rows, about, and how many refits at least
_REPEATS, _ITERATIONS, _SPLITS = 4, 8, 20
_MOST_MEMBERS = 2  # those with the most weight are refitted: the mixture of all is hardly better
_FEWEST_RESIDUALS = 20  # rows whose residuals show the shape of their distribution
_NORMAL_MEDIAN = 0.45493642  # of the square of a standard normal variable
Groups = npt.NDArray[np.int64] | None


@dataclass(frozen=True)
class CrossValidation:
    """Mean squared errors on rows held out, after training on n rows, fewer than there are.

    ``stderr`` are the standard errors of ``mse``, from the scatter of the squared residuals; both have the units of the
    target, squared. ``ratio`` is the mean absolute residual over the root mean squared one, after training on most rows, and
    ``kurtosis`` the mean fourth power over the squared mean square; they are those of normal residuals if there are few.
    ``tails`` is how heavy their tails are (`measure_tails`), 0 if nothing is known about them.
    """

    n: FloatArray
    mse: FloatArray
    stderr: FloatArray
    ratio: float = math.sqrt(2 / math.pi)
    kurtosis: float = 3.0
    tails: float = 0.0

    def _repr_html_(self) -> str:
        """Return a table in the units of the target: the standard error of a root is that of the square over twice the root."""
        roots = np.sqrt(self.mse)
        errors = np.divide(self.stderr, 2 * roots, out=np.zeros_like(roots), where=roots > 0)
        rows = [[f"{each:.4g}" for each in row] for row in zip(self.n, roots, errors, strict=True)]
        return html_table(rows, ("n", "RMSE", "standard error"))

    @property
    def error(self) -> FloatArray:
        """Root mean squared errors."""
        return np.sqrt(self.mse)

    @property
    def additive(self) -> FloatArray:
        """What is a sum of a reducible and an irreducible part: ``mse``."""
        return self.mse

    @property
    def log_stderr(self) -> FloatArray:
        """Standard errors of the logarithms of ``mse``, which have no units."""
        return self.stderr / self.mse

    @property
    def bars(self) -> tuple[FloatArray, FloatArray]:
        """How far one standard error reaches below and above ``error``."""
        factor = np.exp(self.log_stderr / 2)  # by which the root is off, up or down
        return self.error * (1 - 1 / factor), self.error * (factor - 1)

    @property
    def error_stderr(self) -> FloatArray:
        """Standard errors of ``error``: the logarithm of a root is half as uncertain."""
        return self.error * self.log_stderr / 2

    def extended(self, n: int, squares: FloatArray) -> CrossValidation:
        """Return this with a further point: the squared residuals after training on n rows."""
        mse = float(squares.mean())
        added = (float(n), mse, float(squares.std() / np.sqrt(len(squares))))
        n_all, mse_all, stderr = (
            np.append(old, new) for old, new in zip((self.n, self.mse, self.stderr), added, strict=True)
        )
        return replace(self, n=n_all, mse=mse_all, stderr=stderr)

    def in_units(self, scale: float) -> CrossValidation:
        """Return the errors of a target whose unit is so many of the present ones."""
        return replace(self, mse=self.mse * scale**2, stderr=self.stderr * scale**2)


def _nothing() -> FloatArray:
    return np.empty(0)


@dataclass(frozen=True)
class ClassValidation(CrossValidation):
    """The same for classes: ``mse`` is the squared error of probabilities, summed over classes (the Brier score).

    ``rate`` is the share of rows held out whose class was predicted wrongly. It is shrunk towards what the predicted
    probabilities themselves expect, so that it is never 0; ``mistakes`` is what was counted. ``loss`` is the log loss, minus the
    mean logarithm of the probability of the right class. Each has a standard error.
    """

    rate: FloatArray = field(default_factory=_nothing)
    rate_stderr: FloatArray = field(default_factory=_nothing)
    loss: FloatArray = field(default_factory=_nothing)
    loss_stderr: FloatArray = field(default_factory=_nothing)
    mistakes: FloatArray = field(default_factory=_nothing)

    def _repr_html_(self) -> str:
        columns = (self.n, self.rate, self.rate_stderr, self.loss)
        rows = [[f"{each:.4g}" for each in row] for row in zip(*columns, strict=True)]
        return html_table(rows, ("n", "error rate", "standard error", "log loss"))

    @property
    def error(self) -> FloatArray:
        """Error rates."""
        return self.rate

    @property
    def additive(self) -> FloatArray:
        """What is a sum of a reducible and an irreducible part: the error rate."""
        return self.rate

    @property
    def bars(self) -> tuple[FloatArray, FloatArray]:
        """How far one standard error reaches below and above the error rate, inside the range from 0 to 1."""
        return np.minimum(self.rate_stderr, 0.9 * self.rate), np.minimum(self.rate_stderr, 1 - self.rate)

    @property
    def error_stderr(self) -> FloatArray:
        """Standard errors of the error rates."""
        return self.rate_stderr


def cross_validate(
    members: list[Member], weights: FloatArray, rng: np.random.Generator, groups: Groups = None, guess: Guess = NO_GUESS
) -> CrossValidation:
    """Refit the members with most weight on parts of the rows, starting at their modes, and test their mixture on the others.

    Rows with the same number in ``groups`` stay together. Predictions move towards the mean of the part by the share of the ``guess``.
    """
    y = members[0].density.y
    kept = [(members[i], weights[i]) for i in np.argsort(-weights)[:_MOST_MEMBERS]]
    units = np.arange(len(y)) if groups is None else np.unique(groups, return_inverse=True)[1]
    count = int(units.max()) + 1
    sizes, errors, scatter = [], [], []
    for share in _SHARES:
        if round(share * count) < _SMALLEST:
            continue
        squares, place = [], []
        for number, (train, test) in enumerate(_draw_splits(count, share, rng)):
            rows, others = (np.flatnonzero(np.isin(units, each)) for each in (train, test))
            refit = number < _REFITS or number < _WORK // len(rows)  # of many rows a tenth does not change the mode
            predicted = sum(weight * _refit_and_predict(member, rows, others, refit) for member, weight in kept)
            mixed = guess.mix(predicted / sum(weight for _, weight in kept), float(y[rows].mean()))
            squares.append((y[others] - mixed) ** 2)
            place.append(units[others])
        sizes.append(round(share * count))
        errors.append(float(np.mean(np.concatenate(squares))))
        # rows of a group, and repeats of a row, count once
        sums = np.bincount(np.concatenate(place), np.concatenate(squares) - errors[-1])
        scatter.append(float(np.sqrt((sums**2).sum()) / len(np.concatenate(place))))
    if not sizes:
        raise InputError(f"cross-validation of {count} groups is not possible: they are too large for {len(y):,} rows")
    shape = measure_shape(np.concatenate(squares), len(y))
    return CrossValidation(np.array(sizes, float), np.array(errors), np.array(scatter), *shape)


def hold_out(problem: Problem, X: FloatArray, y: FloatArray, rng: np.random.Generator) -> CrossValidation:
    """Return errors on rows held out, with the hyperparameters as they are."""
    count = len(y)
    sizes = sorted({max(1, round(share * count)) for share in _SHARES})
    errors, scatter = [], []
    for size in sizes:
        orders = [rng.permutation(count) for _ in range(_SPLITS)]
        residuals = np.concatenate([_predict(problem, X, y, (order[:size], order[size:])) for order in orders])
        errors.append(float(np.mean(residuals**2)))
        scatter.append(float(np.std(residuals**2) / np.sqrt(count)))
    shape = measure_shape(residuals**2, count)
    found = CrossValidation(np.array(sizes, float), np.array(errors), np.array(scatter), *shape)
    return replace(found, tails=measure_tails(residuals))


def measure_shape(squares: FloatArray, rows: int) -> tuple[float, ...]:
    """Return ratio and kurtosis of residuals, given their squares; nothing if there are too few rows."""
    mean = float(squares.mean())
    if rows < _FEWEST_RESIDUALS or not mean > 0:
        return ()
    return float(np.sqrt(squares).mean()) / math.sqrt(mean), float(np.mean((squares / mean) ** 2))


def measure_tails(residuals: FloatArray) -> float:
    """Return the logarithm of the mean over the median squared residual, less that of normal ones: 0 for normal tails.

    More than half of the residuals may be next to nothing: the result is at most 20.
    """
    squares = residuals**2
    mean, middle = float(squares.mean()), float(np.median(squares)) / _NORMAL_MEDIAN
    return math.log(mean / max(middle, math.exp(-20.0) * mean)) if mean > 0 else 0.0


def _draw_splits(count: int, share: float, rng: np.random.Generator) -> list[Split]:
    """Return training sets that are a share of the rows, each with the rows that are left; of the largest, ten folds."""
    if share < _SHARES[-1]:
        orders = [rng.permutation(count) for _ in range(min(6, max(2, _WORK // count)))]
        return [(order[: round(share * count)], order[round(share * count) :]) for order in orders]
    orders = [rng.permutation(count) for _ in range(min(_REPEATS, max(1, _WORK // (10 * count))))]
    parts = [part for order in orders for part in np.array_split(order, min(10, count))]
    return [(np.setdiff1d(np.arange(count), part), part) for part in parts]


def _refit_and_predict(member: Member, rows: _Rows, others: _Rows, refit: bool) -> FloatArray:
    """Return the predictions of a member for some rows after training on others."""
    density = member.density.of_rows(rows)
    part = Member(density, density.find_mode([member.mode], _ITERATIONS) if refit else member.mode)
    return Regression.of(part).predict(member.density.evidence.X[others])


def _predict(problem: Problem, X: FloatArray, y: FloatArray, split: Split) -> FloatArray:
    """Return the residuals of some rows after training on others, with a model that is taken as it is."""
    train, test = split
    plain = Warped(NoWarp(y), np.empty(0), 0.0, 1.0)
    return np.asarray(y[test] - Regression(problem, X[train], y[train], plain).mean(X[test]))


@dataclass(frozen=True)
class PowerLawFit:
    """Mean squared error, or error rate, a + b n^-c fitted to the cross-validated ones: what is usually done, for comparison."""

    floor: float
    factor: float
    exponent: float

    def __call__(self, n: FloatArray) -> FloatArray:
        """Return the mean squared error, or error rate, at n."""
        return np.asarray(self.floor + self.factor * n**-self.exponent)

    @classmethod
    def fit(cls, observed: CrossValidation) -> PowerLawFit:
        """Fit by least squares in the logarithm, with none of the three below zero."""
        n, log_mse = observed.n / observed.n[-1], np.log(observed.additive)

        def mismatch(p: FloatArray) -> FloatArray:
            return np.asarray(np.log(np.exp(p[0]) + np.exp(p[1]) * n ** -np.exp(p[2])) - log_mse)

        last = log_mse[-1]
        starts = [(last + np.log(a), last + np.log1p(-a), np.log(c)) for a in (0.1, 0.6) for c in (0.4, 1.0)]
        bounds = ([last - 15, last - 9, -4], [last + 1, last + 3, 1.2])
        runs = [least_squares(mismatch, start, bounds=bounds) for start in starts]
        a, b, c = np.exp(min(runs, key=lambda run: float(run.cost)).x)
        return cls(float(a), float(b * observed.n[-1] ** c), float(c))
