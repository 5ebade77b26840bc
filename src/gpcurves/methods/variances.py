"""How the error differs from vertex to vertex: the distribution of prior or posterior variances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gpcurves.errors import InputError
from gpcurves.graphs import Graph
from gpcurves.graphs.graph import IntArray
from gpcurves.numerics.display import Shown
from gpcurves.numerics.frozen import ReadOnly, frozen_array
from gpcurves.numerics.validation import FloatArray
from gpcurves.problem import Problem

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class VarianceDistribution(Shown, ReadOnly):
    """Local variances over vertices, graphs and data sets.

    Attributes
    ----------
    values, degrees
        Variance at a vertex (with a teacher that differs, its squared error), and the number of its neighbours.
    problem, nu
        What was asked; nu = 0 gives the prior variances.
    weights
        The weight of each value, summing to 1; equal weights if None.
    vertex
        The vertex of each value, if the graph is given.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> chain = gpc.Graph.from_edges([(i, i + 1) for i in range(8)])
    >>> problem = gpc.GraphProblem(chain, gpc.RandomWalkKernel(p=6), noise=0.1)
    >>> found = gpc.vertex_variances(problem, 1.0, "simulation", datasets=20, rng=0)
    >>> found.problem.noise
    0.1
    """

    values: FloatArray
    degrees: FloatArray
    problem: Problem
    nu: float
    weights: FloatArray | None = None
    vertex: IntArray | None = None

    def __post_init__(self) -> None:
        for name in ("values", "degrees", "weights"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, frozen_array(value))

    @property
    def mean(self) -> float:
        """The average, which is the learning curve at nu."""
        return float(np.average(self.values, weights=self.weights))

    @property
    def variance(self) -> float:
        """How much the values differ."""
        return float(np.average((self.values - self.mean) ** 2, weights=self.weights))

    def quantile(self, share: float | FloatArray) -> FloatArray:
        """Return the value below which this share of the vertices lies."""
        order = np.argsort(self.values)
        weights = np.full(len(order), 1 / len(order)) if self.weights is None else self.weights[order]
        middle = np.cumsum(weights) - weights / 2
        return np.asarray(np.interp(share, middle / weights.sum(), self.values[order]))

    def histogram(self, bins: int | FloatArray = 100) -> tuple[FloatArray, FloatArray]:
        """Return the density in each bin and the edges of the bins."""
        density, edges = np.histogram(self.values, bins, weights=self.weights, density=True)
        return density, edges

    def of_degree(self, degree: int) -> VarianceDistribution:
        """Return the distribution over vertices with this number of neighbours."""
        chosen = self.degrees == degree
        if not chosen.any():
            raise InputError(f"no vertex here has the degree {degree}")
        weights = None if self.weights is None else self.weights[chosen] / self.weights[chosen].sum()
        vertex = None if self.vertex is None else self.vertex[chosen]
        return VarianceDistribution(self.values[chosen], self.degrees[chosen], self.problem, self.nu, weights, vertex)

    @property
    def by_vertex(self) -> FloatArray:
        """The average at each vertex of a given graph."""
        if self.vertex is None or not isinstance(self.problem.graph, Graph):
            raise InputError("only a given graph has vertices to tell apart: these are of an ensemble")
        V = self.problem.graph.vertices
        sums = np.bincount(self.vertex, weights=self.values, minlength=V)
        with np.errstate(invalid="ignore"):
            return np.asarray(sums / np.bincount(self.vertex, minlength=V))

    def to_frame(self) -> pd.DataFrame:
        """Return a DataFrame with a row per value."""
        import pandas as pd

        columns: dict[str, Any] = {"variance": self.values, "degree": self.degrees}
        if self.weights is not None:
            columns["weight"] = self.weights
        if self.vertex is not None:
            columns = {"vertex": self.vertex, **columns}
        return pd.DataFrame(columns)

    def __repr__(self) -> str:
        low, high = self.quantile(np.array([0.05, 0.95])).tolist()
        return (
            f"VarianceDistribution(nu = {self.nu:g}, {len(self.values)} values, mean {self.mean:.4g}, "
            f"90 % between {low:.3g} and {high:.3g}; {self.problem.describe()})"
        )
