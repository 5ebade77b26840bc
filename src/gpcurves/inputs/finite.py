"""Inputs on finitely many points: as they are, or as a sample of something unknown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gpcurves.inputs.base import Inputs, Nodes
from gpcurves.inputs.uniform import MOST_WEIGHTED_POINTS
from gpcurves.kernels import Kernel, is_stationary
from gpcurves.numerics.parameters import parameter
from gpcurves.numerics.validation import FloatArray
from gpcurves.numerics.validation import points as checked_points
from gpcurves.numerics.validation import probabilities as checked_probabilities
from gpcurves.spectra import Spectrum
from gpcurves.spectra.nystrom import NODES, Decay, matrix_spectrum, numerical_spectrum


@dataclass(frozen=True, eq=False, repr=False, init=False)
class _Finite(Inputs):
    points: FloatArray = parameter(help="File with one input per row")

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
    """Points drawn from an unknown distribution, which they stand for; its small eigenvalues are extrapolated."""

    def draw(self, count: int, rng: np.random.Generator) -> FloatArray:
        return self.points[rng.integers(len(self.points), size=count)]

    def nodes(self, count: int) -> Nodes:
        every = max(1, -(-len(self.points) // count))
        thinned = self.points[::every]
        return thinned, np.full(len(thinned), 1.0 / len(thinned))

    def numerical_spectrum(self, kernel: Kernel) -> Spectrum:
        count = min(NODES, len(self.points))
        # the noise of sampling is in every eigenvalue, the largest too
        return numerical_spectrum(kernel, self.nodes, count, Decay(kernel.smoothness, self.dim), sampled=True)

    def prior_variance(self, kernel: Kernel) -> float:
        if is_stationary(kernel):
            return super().prior_variance(kernel)
        X, weights = self.nodes(len(self.points))
        return float(weights @ kernel.diag(X))


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Discrete(_Finite):
    """Exactly these points, with these probabilities (equal ones if not given)."""

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

    def largest_variance(self, kernel: Kernel) -> float | None:
        return float(kernel.diag(self.points).max())
