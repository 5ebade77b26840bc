"""How uneven the prior is under global normalisation, and the shape of the graph, in words and numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from gpcurves.errors import NotApplicableError
from gpcurves.graphs.graph import Graph, IntArray, as_graph
from gpcurves.graphs.kernels import GraphKernel, RandomWalkKernel
from gpcurves.graphs.shape import GraphShape, graph_shape
from gpcurves.numerics.display import Shown
from gpcurves.numerics.validation import FloatArray

if TYPE_CHECKING:
    import pandas as pd

_LEVELS = {"smallest": 0.0, "1 %": 0.01, "5 %": 0.05, "25 %": 0.25, "median": 0.5, "75 %": 0.75, "95 %": 0.95,
           "99 %": 0.99, "largest": 1.0}  # fmt: skip
_WORK, _FEWEST = 5e7, 100  # numbers that may be written for prior variances, at 16 ns each, and vertices sampled beyond
_EVEN, _UNEVEN = 1.5, 10.0  # largest over smallest prior variance: even up to here, very uneven from here on


@dataclass(frozen=True, eq=False)
class Diagnosis(Shown):
    """Prior variances of the vertices when a kernel is normalised globally, as graph GP libraries do, and the shape of the graph.

    Attributes
    ----------
    graph, kernel
        The graph, and the kernel with global normalisation.
    variances
        The prior variance of each vertex; their average is 1.
    sample
        The vertices that these are of, if the graph is so large that it was sampled; None for all.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> import networkx
    >>> diagnosis = gpc.diagnose(networkx.karate_club_graph())
    >>> diagnosis.variances.shape
    (34,)
    """

    graph: Graph
    kernel: GraphKernel
    variances: FloatArray
    sample: IntArray | None = None
    measure: Callable[[], Any] | None = field(
        default=None, repr=False
    )  # measures whether the cavity method may be trusted

    @property
    def vertices(self) -> IntArray:
        """The vertices that were examined."""
        return np.arange(self.graph.vertices) if self.sample is None else self.sample

    @cached_property
    def shape(self) -> GraphShape:
        """Clustering coefficient, effective diameter and tail of the degrees."""
        return graph_shape(self.graph)

    @cached_property
    def trust(self) -> Any:
        """The error of the cavity method due to cycles, and whether it may be trusted; None if that was not measured."""
        return None if self.measure is None else self.measure()

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

        graph, chosen = self.graph, self.vertices
        return pd.DataFrame(
            {
                "vertex": [graph.label(vertex) for vertex in chosen.tolist()],
                "degree": (graph.neighbours if not graph.weighted else graph.degrees)[chosen],
                "component": graph.component_sizes[graph.components][chosen],
                "variance": self.variances,
            }
        )

    def verdict(self) -> str:
        """Return how uneven the prior is, and what to do about it, in words."""
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
            "The prior then makes the function large at some vertices and small at others, only because of the "
            "shape of the graph."
        )
        if self.ratio >= _UNEVEN:
            words += " Use local normalisation, which gives every vertex the same prior variance."
        isolated = self.graph.isolated
        at = self.variances[isolated[self.vertices]]
        if (count := int(isolated.sum())) and len(at):
            verb = "vertex has" if count == 1 else "vertices have"
            words += f" {count} isolated {verb} a prior variance of {at[0]:.3g}."
        return f"{words} The graph has {self.graph.describe()}."

    def report(self, count: int = 3) -> str:
        """Return the whole report as text: quantiles, the worst vertices and the verdict."""
        sampled = "" if self.sample is None else f" (a sample of {len(self.sample):,} vertices)"
        lines = [f"Prior variances of {self.kernel!r} on a graph of {self.graph.describe()}, average 1{sampled}:"]
        lines += [f"  {name:<9} {value:.4g}" for name, value in self.quantiles.items()]
        lines += ["Vertices furthest from the average:", "  vertex      degree  component  prior variance"]
        frame = self.to_frame().iloc[self.worst(count)]
        for vertex, degree, component, variance in frame.itertuples(index=False):
            lines.append(f"  {vertex:<10}  {degree:<6g}  {component:<9}  {variance:.4g}")
        return "\n".join([*lines, "", *self.sentences(), "", self.verdict()])

    def sentences(self) -> list[str]:
        """Say what shape the graph has, and whether the cavity method may be trusted on it, if that is measured."""
        return [*self.shape.sentences(), *([] if self.trust is None else [str(self.trust)])]

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
            "examined": len(self.variances),
            "shape": self.shape.to_dict(),
            **({} if self.trust is None else {"cavity": self.trust.to_dict()}),
        }

    def __repr__(self) -> str:
        return f"Diagnosis(ratio {self.ratio:.3g}, {self.graph!r}, {self.kernel!r}): {self.verdict()}"


def diagnose(graph: object, kernel: GraphKernel | None = None) -> Diagnosis:
    """Return how much prior variances differ over the vertices of a graph when the kernel is normalised globally.

    Parameters
    ----------
    graph
        A graph in any form that `GraphProblem` takes. Of a large one, a sample of the vertices is examined.
    kernel
        The kernel; a random walk of 10 steps with a = 2 if None. Its own normalisation is not used.
    """
    examined = RandomWalkKernel() if kernel is None else kernel
    if not examined.spectral:
        raise NotApplicableError(
            f"prior variances are diagnosed for one kernel of the graph alone, not for {examined!r}"
        )
    globally = examined.raw().normalised("global")
    network = as_graph(graph)
    covariance = globally.on(network)
    if covariance.diagonal_work <= _WORK:
        return Diagnosis(network, globally, covariance.variances)
    # As many vertices as the same work allows; the average over them stands for that over all.
    share = _WORK / covariance.diagonal_work
    count = int(np.clip(share * network.vertices, _FEWEST, network.vertices))
    sample = np.sort(np.random.default_rng(0).choice(network.vertices, count, replace=False))
    raw = covariance.diagonal_at(sample)
    return Diagnosis(network, globally, raw / raw.mean(), sample)
