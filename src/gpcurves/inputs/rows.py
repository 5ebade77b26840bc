"""Inputs given by points, such as the rows of a table: these alone, a sample of something unknown, a pool, a copula fitted to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import numpy.typing as npt
import scipy

from gpcurves.errors import InputError
from gpcurves.inputs.base import MOST_WEIGHTED_POINTS, Inputs, Nodes
from gpcurves.kernels import Kernel, is_stationary
from gpcurves.numerics.cholesky import factorise
from gpcurves.numerics.frozen import frozen_array
from gpcurves.numerics.parameters import parameter
from gpcurves.numerics.quadrature import sobol_rule
from gpcurves.numerics.validation import FloatArray
from gpcurves.numerics.validation import points as checked_points
from gpcurves.numerics.validation import probabilities as checked_probabilities
from gpcurves.spectra import Spectrum
from gpcurves.spectra.nystrom import NODES, Decay, Truth, matrix_spectrum, numerical_spectrum

_FEW_VALUES = 0.2  # a column is discrete if it has fewer different values than this share of the rows, or at most ten


@dataclass(frozen=True, eq=False, repr=False, init=False)
class _Finite(Inputs):
    points: FloatArray = parameter(help="File with one input per line")

    enumerable = True

    def __init__(self, points: npt.ArrayLike) -> None:
        object.__setattr__(self, "points", checked_points("points", points))

    @property
    def dim(self) -> int:
        return int(self.points.shape[1])

    def exact_nodes(self, kernels: Sequence[Kernel]) -> Nodes | None:
        return self.nodes(len(self.points)) if len(self.points) <= MOST_WEIGHTED_POINTS else None

    def mean_over_nearest(self, n: FloatArray, function: Callable[[FloatArray], FloatArray]) -> FloatArray:
        x, weights = self.nodes(len(self.points))
        distance = abs(x - x[:, 0])
        order = np.argsort(distance, axis=1, kind="stable")
        sorted_distance = np.take_along_axis(distance, order, axis=1)
        missing = np.maximum(1.0 - np.cumsum(weights[order], axis=1), 0.0)[:, :-1]
        step = np.diff(function(sorted_distance.ravel()).reshape(distance.shape), axis=1)
        return np.array([weights @ (missing**m * step).sum(axis=1) for m in n.tolist()])

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.points)} points, dim={self.dim})"


class Sample(_Finite):
    """Points drawn from an unknown distribution, which they represent; its small eigenvalues are extrapolated.

    Parameters
    ----------
    points
        The points, one per row.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 1))
    >>> problem = gpc.Problem(gpc.RBF(0.5), gpc.Sample(X), noise=0.05)
    >>> gpc.learning_curve(problem, "lc", n=[0, 10, 100]).error.round(3)
    array([1.   , 0.095, 0.006])
    """

    def draw(self, count: int, rng: np.random.Generator) -> FloatArray:
        return self.points[rng.integers(len(self.points), size=count)]

    def nodes(self, count: int) -> Nodes:
        every = max(1, -(-len(self.points) // count))
        thinned = self.points[::every]
        return thinned, np.full(len(thinned), 1.0 / len(thinned))

    def numerical_spectrum(self, kernel: Kernel, truth: Truth | None = None) -> Spectrum:
        count = min(NODES, len(self.points))
        # the noise of sampling is in every eigenvalue, the largest too
        decay = Decay(kernel.smoothness, self.dim)
        return numerical_spectrum(kernel, self.nodes, count, decay, sampled=True, truth=truth)

    def prior_variance(self, kernel: Kernel) -> float:
        if is_stationary(kernel):
            return super().prior_variance(kernel)
        X, weights = self.nodes(len(self.points))
        return float(weights @ kernel.diag(X))


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Discrete(_Finite):
    """Exactly these points, with these probabilities (equal ones if not given).

    Parameters
    ----------
    points
        The points, one per row.
    probabilities
        The probability of each point; they sum to 1.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> problem = gpc.Problem(gpc.RBF(0.1), gpc.Discrete([[0.0], [0.5], [1.0]]), noise=0.05)
    >>> gpc.learning_curve(problem, "lc", n=[0, 10, 100]).error.round(3)
    array([1.   , 0.021, 0.002])
    """

    name = ""
    probabilities: FloatArray = parameter(help="Probability of each point")

    def __init__(self, points: npt.ArrayLike, probabilities: npt.ArrayLike | None = None) -> None:
        super().__init__(points)
        object.__setattr__(self, "probabilities", checked_probabilities(probabilities, len(self.points)))

    def draw(self, count: int, rng: np.random.Generator) -> FloatArray:
        return self.points[rng.choice(len(self.points), size=count, p=self.probabilities)]

    def nodes(self, count: int) -> Nodes:
        return self.points, self.probabilities

    def spectrum(self, kernel: Kernel) -> Spectrum:
        return matrix_spectrum(kernel(self.points), self.probabilities)

    def taught_spectrum(self, kernel: Kernel, truth: Truth) -> Spectrum:
        return matrix_spectrum(kernel(self.points), self.probabilities, partial(truth.power, self.points))

    def largest_variance(self, kernel: Kernel) -> float | None:
        return float(kernel.diag(self.points).max())


class Pool(Sample):
    """Rows from which further ones are taken: every row once before any is repeated."""

    name = ""

    def draw(self, count: int, rng: np.random.Generator) -> FloatArray:
        rounds = max(1, -(-count // len(self.points)))
        order = np.concatenate([rng.permutation(len(self.points)) for _ in range(rounds)])
        return np.asarray(self.points[order[:count]])


@dataclass(frozen=True, eq=False, repr=False)
class Copula(Inputs):
    """Gaussian copula with the marginals of a table, whose rows are the points; discrete columns stay discrete.

    A category may be spread over several columns, and so may a date: draws combine their values as some row does. They take
    part in the copula as a number: indicators by their rank in the average of the targets, others by their first column.
    """

    name = ""
    points: FloatArray
    categories: tuple[tuple[int, ...], ...] = ()  # the positions of the columns of each category, or date
    targets: FloatArray | None = None  # one number per row

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", checked_points("points", self.points))
        object.__setattr__(self, "categories", tuple(tuple(map(int, positions)) for positions in self.categories))
        if self.targets is not None:
            targets = frozen_array(self.targets)
            object.__setattr__(self, "targets", targets)
            if targets.shape != (len(self.points),):
                raise InputError(f"targets must be one per point ({len(self.points)}), got shape {targets.shape}")

    @property
    def dim(self) -> int:
        return int(self.points.shape[1])

    def draw(self, count: int, rng: np.random.Generator) -> FloatArray:
        return self._transform(rng.standard_normal((count, len(self._root))))

    def nodes(self, count: int) -> tuple[FloatArray, FloatArray]:
        uniform, weights = sobol_rule(len(self._root), count)
        return self._transform(scipy.special.ndtri(uniform)), weights

    def _transform(self, normal: FloatArray) -> FloatArray:
        """Return the inputs that belong to independent standard normal numbers."""
        n = len(self.points)
        columns: list[FloatArray] = []
        for u, values in zip(scipy.special.ndtr(normal @ self._root.T).T, self._columns.T, strict=True):
            different, ordered = len(np.unique(values)), np.sort(values)
            if different <= 10 or different < _FEW_VALUES * n or len(columns) >= len(self._plain):
                columns.append(ordered[np.minimum((u * n).astype(int), n - 1)])
            else:
                columns.append(np.interp(u, np.arange(1, n + 1) / (n + 1), ordered))
        X = np.empty((len(normal), self.dim))
        X[:, self._plain] = np.column_stack(columns)[:, : len(self._plain)]
        coded = columns[len(self._plain) :]
        for positions, (patterns, _), codes in zip(self.categories, self._coded, coded, strict=True):
            X[:, positions] = patterns[codes.astype(int)]
        return X

    @cached_property
    def _plain(self) -> list[int]:
        """Columns that belong to no category."""
        return [position for position in range(self.dim) if not any(position in each for each in self.categories)]

    @cached_property
    def _coded(self) -> list[tuple[FloatArray, FloatArray]]:
        """For each category, the combinations of values in its columns, and which of them each row has."""
        coded = []
        for positions in self.categories:
            patterns, code = np.unique(self.points[:, positions], axis=0, return_inverse=True)
            code = code.reshape(-1)
            order = np.arange(len(patterns))
            if self.targets is not None and len(np.unique(patterns[:, 0])) <= 2:  # indicators
                order = np.argsort(np.bincount(code, weights=self.targets) / np.bincount(code))
            coded.append((patterns[order], np.argsort(order)[code].astype(np.float64)))
        return coded

    @cached_property
    def _columns(self) -> FloatArray:
        """The columns of the copula: plain ones, and one for each category."""
        return np.column_stack([self.points[:, self._plain], *(codes for _, codes in self._coded)])

    @cached_property
    def _root(self) -> FloatArray:
        """The Cholesky factor of the correlations, which are shrunk the more, the fewer rows there are."""
        from scipy.stats import rankdata

        n, columns = self._columns.shape
        ranks = np.ascontiguousarray(rankdata(self._columns, axis=0))  # ties share their rank
        scores = scipy.special.ndtri(ranks / (n + 1))
        with np.errstate(invalid="ignore"):
            correlation = np.nan_to_num(np.atleast_2d(np.corrcoef(scores, rowvar=False)))  # 0 with a constant column
        shrink = min(1.0, columns / n)
        return factorise((1 - shrink) * correlation + (shrink + 1e-9) * np.eye(columns))

    def __repr__(self) -> str:
        return f"Copula({len(self.points)} points, dim={self.dim})"
