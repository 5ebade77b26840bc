"""How uneven the prior is under global normalisation, in words and numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from gpcurves.graphs.graph import Graph, IntArray, as_graph
from gpcurves.graphs.kernels import GraphKernel, RandomWalkKernel
from gpcurves.numerics.display import Shown
from gpcurves.numerics.validation import FloatArray

if TYPE_CHECKING:
    import pandas as pd

_LEVELS = {"smallest": 0.0, "1 %": 0.01, "5 %": 0.05, "25 %": 0.25, "median": 0.5, "75 %": 0.75, "95 %": 0.95,
           "99 %": 0.99, "largest": 1.0}  # fmt: skip
_EVEN, _UNEVEN = 1.5, 10.0  # largest over smallest prior variance: even up to here, very uneven from here on


@dataclass(frozen=True, eq=False)
class Diagnosis(Shown):
    """Prior variances of the vertices when a kernel is normalised globally, as graph GP libraries do.

    Attributes
    ----------
    graph, kernel
        What was examined; the kernel is taken with global normalisation.
    variances
        The prior variance of each vertex; their average is 1.
    """

    graph: Graph
    kernel: GraphKernel
    variances: FloatArray

    @property
    def ratio(self) -> float:
        """The largest prior variance over the smallest."""
        low, high = float(self.variances.min()), float(self.variances.max())
        return high / low if low > 0 else math.inf

    @cached_property
    def quantiles(self) -> dict[str, float]:
        """Quantiles of the prior variances, by name."""
        return {name: float(np.quantile(self.variances, level)) for name, level in _LEVELS.items()}

    def share_outside(self, factor: float = 2.0) -> float:
        """Return the share of vertices whose prior variance differs from the average by more than a factor."""
        return float(((self.variances > factor) | (self.variances < 1 / factor)).mean())

    def worst(self, count: int = 3) -> IntArray:
        """Return the vertices with the largest prior variances and those with the smallest, ``count`` of each."""
        order = np.argsort(-self.variances, kind="stable")
        lowest = order[max(count, len(order) - count) :][::-1]
        return np.concatenate((order[:count], lowest))

    def to_frame(self) -> pd.DataFrame:
        """Return a DataFrame with a row per vertex: vertex, degree, component (its size), variance."""
        import pandas as pd

        graph = self.graph
        return pd.DataFrame(
            {
                "vertex": [graph.label(vertex) for vertex in range(graph.vertices)],
                "degree": graph.neighbours if not graph.weighted else graph.degrees,
                "component": graph.component_sizes[graph.components],
                "variance": self.variances,
            }
        )

    def verdict(self) -> str:
        """Say in plain words how uneven the prior is, and what to do about it."""
        if self.ratio <= _EVEN:
            return (
                f"Prior variances differ by a factor of at most {self.ratio:.2f}: global and local normalisation are "
                f"nearly the same here. The graph has {self.graph.describe()}."
            )
        start = "Warning: with" if self.ratio >= _UNEVEN else "With"
        low, high = self.variances.min(), self.variances.max()
        words = (
            f"{start} global normalisation the prior variance differs {self.ratio:.3g}-fold over vertices, from {low:.3g} "
            f"to {high:.3g}, and {100 * self.share_outside():.0f} % of the vertices are off by more than a factor of 2. "
            "The model then believes that the function is large at some vertices and small at others, for no reason but "
            "the shape of the graph."
        )
        if self.ratio >= _UNEVEN:
            words += " Use local normalisation, which gives every vertex the same prior variance."
        isolated = self.graph.isolated
        if count := int(isolated.sum()):
            verb = "vertex has" if count == 1 else "vertices have"
            words += f" {count} isolated {verb} a prior variance of {self.variances[isolated][0]:.3g}."
        return f"{words} The graph has {self.graph.describe()}."

    def report(self, count: int = 3) -> str:
        """Return the whole report as text: quantiles, the worst vertices and the verdict."""
        lines = [f"Prior variances of {self.kernel!r} on a graph of {self.graph.describe()}, average 1:"]
        lines += [f"  {name:<9} {value:.4g}" for name, value in self.quantiles.items()]
        lines += ["Vertices furthest from the average:", "  vertex      degree  component  prior variance"]
        frame = self.to_frame().iloc[self.worst(count)]
        for vertex, degree, component, variance in frame.itertuples(index=False):
            lines.append(f"  {vertex:<10}  {degree:<6g}  {component:<9}  {variance:.4g}")
        return "\n".join([*lines, "", self.verdict()])

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data."""
        worst = self.to_frame().iloc[self.worst(10)].astype({"degree": float})
        return {
            "kernel": self.kernel.to_dict(),
            "vertices": self.graph.vertices,
            "edges": self.graph.edges,
            "weighted": self.graph.weighted,
            "ratio": self.ratio if math.isfinite(self.ratio) else None,
            "quantiles": self.quantiles,
            "share_off_by_factor_2": self.share_outside(),
            "worst": worst.to_dict("records"),
            "verdict": self.verdict(),
        }

    def __repr__(self) -> str:
        return f"Diagnosis(ratio {self.ratio:.3g}, {self.graph!r}, {self.kernel!r})"


def diagnose(graph: object, kernel: GraphKernel | None = None) -> Diagnosis:
    """Return how much prior variances differ over the vertices of a graph when the kernel is normalised globally.

    Parameters
    ----------
    graph
        A graph in any form that `GraphProblem` takes.
    kernel
        The kernel; a random walk of 10 steps with a = 2 if None. Its own normalisation is not used.
    """
    globally = (RandomWalkKernel() if kernel is None else kernel).normalised("global")
    network = as_graph(graph)
    return Diagnosis(network, globally, globally.on(network).variances)
