"""Where a model will be wrong: the error at every place, by local theory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gpcurves.errors import InputError
from gpcurves.graphs import Graph
from gpcurves.methods.base import METHODS
from gpcurves.methods.local.method import LocalOptions
from gpcurves.methods.local.theory import theory_of
from gpcurves.numerics.display import Shown
from gpcurves.numerics.frozen import ReadOnly, frozen_array
from gpcurves.numerics.validation import FloatArray, nonnegative, points
from gpcurves.problem import Problem, as_problem

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class ErrorMap(Shown, ReadOnly):
    """The error at every input after n examples, averaged over data sets.

    Attributes
    ----------
    at
        The places, one per row; of a graph the numbers of vertices.
    error, prior
        The mean squared error at each place, and that before anything is learnt.
    weights, training
        The weight of each place in the average error, and its share of the labels; both sum to 1.
    problem, size
        What was asked; the size is n, or on a graph the number of examples per vertex.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> clumped = gpc.Problem(gpc.RBF(0.2), gpc.Gaussian(dim=1), noise=0.01)
    >>> errors = gpc.local_errors(clumped, 80, at=[0.0, 0.6])
    >>> bool(errors.error[-2] < errors.error[-1])
    True
    """

    at: FloatArray
    error: FloatArray
    prior: FloatArray
    weights: FloatArray
    training: FloatArray
    problem: Problem
    size: float

    def __post_init__(self) -> None:
        for name in ("at", "error", "prior", "weights", "training"):
            object.__setattr__(self, name, frozen_array(getattr(self, name)))

    @property
    def mean(self) -> float:
        """The average over test inputs, which is the learning curve."""
        return float(self.weights @ self.error)

    @property
    def graph(self) -> Graph | None:
        """The graph whose vertices are the places, or None if they are vectors."""
        graph = self.problem.graph if self.problem.axis == "nu" else None
        return graph if isinstance(graph, Graph) else None

    def worst(self, count: int = 10) -> pd.DataFrame:
        """Return the places with the largest errors among those that count."""
        frame = self.to_frame()
        return frame[frame["weight"] > 0].nlargest(count, "error")

    def to_frame(self) -> pd.DataFrame:
        """Return a DataFrame with a row for each place: where it is, its error, and how much it counts and is labelled."""
        import pandas as pd

        graph = self.graph
        columns: dict[str, Any] = {f"x{k}": column for k, column in enumerate(self.at.T)}
        if graph is not None:
            columns = {"vertex": [graph.label(int(vertex)) for vertex in self.at[:, 0]]}
        about = {"error": self.error, "prior": self.prior, "weight": self.weights, "training": self.training}
        return pd.DataFrame({**columns, **about})

    def describe(self) -> str:
        """Return in one sentence how much the error differs from place to place."""
        order = np.argsort(self.error, kind="stable")
        share = np.cumsum(self.weights[order]) - self.weights[order] / 2
        low, high = np.interp([0.05, 0.95], share, self.error[order]).tolist()
        what = f"{self.problem.axis} = {self.size:g}"
        return f"At {what} the average error is {self.mean:.3g}; for 90 % of test inputs it is between {low:.3g} and {high:.3g}."

    def __repr__(self) -> str:
        return f"ErrorMap({len(self.at):,} places, {self.problem.axis} = {self.size:g}, mean {self.mean:.4g}; {self.problem.describe()})"


def local_errors(
    problem: Problem, n: float | None = None, *, nu: float | None = None, at: object = None, **options: Any
) -> ErrorMap:
    """Return the error at every place after n examples, by local theory: where the model will be wrong.

    Parameters
    ----------
    problem
        On vectors or on a given graph; inputs may be clumped, and noise, labelling and test inputs uneven.
    n
        Number of examples, on a graph of labels.
    nu
        Examples per vertex of a graph, instead of n.
    at
        Further places, one per row, with weight 0 in the average.
    **options
        Those of the method ``local``: ``nodes`` and ``rank``.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> clumped = gpc.Problem(gpc.RBF(0.2), gpc.Gaussian(dim=1), noise=0.001)
    >>> found = gpc.local_errors(clumped, 80, at=[0.0, 0.6])
    >>> found.error[-2:].round(4)  # in the middle, and where inputs are rare
    array([0.0001, 0.0015])
    """
    asked = as_problem(problem)
    if (n is None) == (nu is None) or (n is None and asked.axis == "n"):
        raise InputError("pass n, the number of examples, or on a graph either n or nu, the examples per vertex")
    size = nonnegative("n", n) / asked.examples_per_size if nu is None else nonnegative("nu", nu)
    checked = METHODS["local"].check(asked, np.array([size]), options)
    assert isinstance(checked, LocalOptions)
    also = None if at is None else points("at", at)
    if also is not None and (asked.axis == "nu" or also.shape[1] != asked.inputs.dim):
        raise InputError("at must be rows of inputs as the problem has them; on a graph all vertices are there anyway")
    theory = theory_of(asked, 0 if asked.axis == "nu" else checked.count(asked), checked.rank, also)
    error, _ = theory.errors(size)
    training = theory.weights / theory.weights.sum()
    return ErrorMap(theory.X, error, theory.prior, theory.test, training, asked, size)
