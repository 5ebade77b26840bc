"""A Gaussian process regressor on the vertices of a graph, by belief propagation, in the style of scikit-learn."""

from __future__ import annotations

from typing import Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin

from gpcurves.errors import InputError
from gpcurves.graphs import Graph, GraphKernel, RandomWalkKernel, as_graph
from gpcurves.methods.cavity.beliefs import Beliefs, belief_propagation
from gpcurves.numerics.validation import FloatArray, as_numbers
from gpcurves.problem import GraphProblem


class GraphRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Predict a real value at every vertex of a graph from its values at some, at a cost linear in the edges.

    Exact on graphs without cycles; elsewhere an approximation that is good if cycles are long. The prior mean is the
    average of the targets if ``centre`` is true, else zero.

    Parameters
    ----------
    graph
        A graph in any form that `GraphProblem` takes.
    kernel
        A covariance between vertices; a random walk of 10 steps with local normalisation if None.
    noise
        Noise variance of one target, in units of the prior variance 1.
    tolerance, max_rounds, damping
        When messages rest, how often to send them at most, and the share of the former message to keep.
    centre
        Whether to subtract the average of the targets first.

    Attributes
    ----------
    beliefs_
        Variances, means and convergence, from `belief_propagation`.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> chain = gpc.Graph.from_edges([(0, 1), (1, 2), (2, 3)])
    >>> model = gpc.GraphRegressor(chain, noise=0.01).fit([0, 3], [1.0, -1.0])
    >>> model.predict([1, 2]).round(2)
    array([ 0.5, -0.5])
    """

    def __init__(
        self,
        graph: object = None,
        kernel: GraphKernel | None = None,
        noise: float = 0.1,
        *,
        tolerance: float = 1e-8,
        max_rounds: int = 1000,
        damping: float = 0.0,
        centre: bool = False,
    ) -> None:
        self.graph = graph
        self.kernel = kernel
        self.noise = noise
        self.tolerance = tolerance
        self.max_rounds = max_rounds
        self.damping = damping
        self.centre = centre

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> Self:
        """Learn from values at vertices, which are given by number or by name and may repeat."""
        graph = as_graph(self.graph)
        vertices = vertex_numbers(graph, X)
        targets = as_numbers(y, "targets must be numbers")
        if targets.shape != vertices.shape or len(targets) == 0:
            raise InputError(
                f"there must be one target per vertex, at least one, got {targets.size} for {len(vertices)}"
            )
        if not np.isfinite(targets).all():
            raise InputError("targets must be finite, got NaN or infinity")
        self.mean_ = float(targets.mean()) if self.centre else 0.0
        counts = np.bincount(vertices, minlength=graph.vertices)
        sums = np.bincount(vertices, targets - self.mean_, minlength=graph.vertices)
        kernel = RandomWalkKernel(normalise="local") if self.kernel is None else self.kernel
        self.problem_ = GraphProblem(graph, kernel, self.noise)
        self.beliefs_: Beliefs = belief_propagation(
            self.problem_,
            counts,
            sums / np.maximum(counts, 1),
            tolerance=self.tolerance,
            max_rounds=self.max_rounds,
            damping=self.damping,
        )
        return self

    def predict(
        self, X: npt.ArrayLike | None = None, return_std: bool = False
    ) -> FloatArray | tuple[FloatArray, FloatArray]:
        """Return the posterior mean at vertices, or at all of them, and with ``return_std`` its standard deviation."""
        if not hasattr(self, "beliefs_"):
            raise InputError("the model has not learnt anything yet: call fit first")
        graph = self.problem_.graph
        assert isinstance(graph, Graph)
        at = np.arange(graph.vertices) if X is None else vertex_numbers(graph, X)
        assert self.beliefs_.mean is not None  # there were targets
        mean = self.beliefs_.mean[at] + self.mean_
        return (mean, np.sqrt(self.beliefs_.variance[at])) if return_std else mean

    def __repr__(self) -> str:
        shown = self.graph if isinstance(self.graph, Graph) else type(self.graph).__name__
        return f"GraphRegressor({shown!r}, {self.kernel!r}, noise={self.noise:g})"


def vertex_numbers(graph: Graph, vertices: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Return vertices as numbers: names are looked up, integers are taken as they are if there are no names."""
    if np.ma.is_masked(vertices):
        raise InputError("vertices must be a list of numbers or names, and some are masked: leave them out")
    given = np.asarray(vertices)
    if given.ndim == 2 and given.shape[1] == 1:
        given = given[:, 0]
    if given.ndim != 1:
        raise InputError("vertices must be a list of numbers or names")
    if graph.labels is None and given.dtype.kind in "iuf" and np.array_equal(given, np.floor(given)):
        if len(given) and not 0 <= given.min() <= given.max() < graph.vertices:
            raise InputError(f"vertices must be between 0 and {graph.vertices - 1}, got {given.min()} to {given.max()}")
        return given.astype(np.int64)
    return np.array([graph.number(name) for name in given.tolist()], dtype=np.int64)
