r"""The method ``eigenvalue``: LC with the eigenvalues of the covariance between vertices.

Urry & Sollich 2013, eq. (14): :math:`\epsilon = g(N/(\epsilon+\sigma^2))` with the eigenvalues of `C/V`; then
:math:`N = \nu V`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from gpcurves.graphs import Graph
from gpcurves.inputs import Vertices
from gpcurves.methods.base import METHODS, Formula, Kind, Result, register
from gpcurves.methods.formulas.approximations import lc_examples, may_fail, risky_sizes, say_doubt
from gpcurves.methods.sampled import Sampled
from gpcurves.methods.simulation.method import GRAPHS, GraphSizes, check_graph_size, spare_dense_algebra
from gpcurves.methods.simulation.vertices import OnGraphs
from gpcurves.montecarlo import Estimate, Run, Shape, Stop
from gpcurves.numerics.validation import FloatArray
from gpcurves.problem import Problem
from gpcurves.quantities import MSE

_LC = cast(Formula, METHODS["lc"])


@dataclass(frozen=True)
class GraphEigenvalues(OnGraphs):
    """The eigenvalue approximation on one graph of an ensemble, and whether it is known to be too low."""

    quantity: str | None = None  # the mean squared error if None

    task = "graph eigenvalues"
    settings = (*OnGraphs.settings, "quantity")

    @property
    def fields(self) -> Mapping[str, Shape]:
        names = ("error", "risky") if may_fail(self.problem) else ("error",)
        return dict.fromkeys(names, (len(self.nu),))

    def draw(self, task: int) -> Mapping[str, FloatArray | float]:
        graph, _ = self.draw_graph(task)
        about = self.problem
        on_graph = Problem(about.kernel, Vertices(graph), observation=about.observation, teacher=about.teacher)
        n = np.array(self.nu) * graph.vertices
        drawn = {"error": _LC.compute(on_graph, n, self.quantity or MSE.name)}
        return drawn if not may_fail(about) else drawn | {"risky": risky_sizes(on_graph, n).astype(np.float64)}


def _labelled_evenly(problem: Problem) -> str | None:
    """Return why labels are not spread as the theory assumes, or None."""
    ensemble = problem.ensemble
    if ensemble is not None and getattr(ensemble, "labelling", None) is not None:
        return "it assumes labels that are spread evenly over vertices, but here blocks are labelled unequally"
    return None


@register
class Eigenvalue(Sampled):
    """The eigenvalue approximation on a given graph, or its average over graphs drawn from an ensemble.

    The graphs are those that the simulation with the same seed and size draws.
    """

    name = "eigenvalue"
    title = "eigenvalue approximation on graphs"
    kind = Kind.APPROXIMATION
    promise = "accurate for many examples per vertex, and for few if prior variances are even; not a bound"
    source = "Urry & Sollich 2013, eq. (14)"
    needs = "a graph, or an ensemble from which graphs are drawn"
    conditions = (_labelled_evenly,)
    axes = ("nu",)
    optimistic = True
    misspecified = True
    any_labels = True
    explicit = staticmethod(lc_examples)
    Options = GraphSizes

    @property
    def quantities(self) -> Collection[str]:  # type: ignore[override]  # what LC gives
        return _LC.quantities

    def draws(self, problem: Problem) -> bool:
        return problem.ensemble is not None

    def spare(self, problem: Problem) -> str | None:
        return spare_dense_algebra(problem)

    def experiment(self, problem: Problem, options: GraphSizes, run: Run) -> GraphEigenvalues:
        return GraphEigenvalues(problem, (), run.seed(), (), options.size(problem), 1)

    def check_sizes(self, experiment: GraphEigenvalues, run: Run) -> None:
        check_graph_size(experiment.problem, 0.0, experiment.vertices, run)  # no examples are drawn

    def stop(self, problem: Problem, options: GraphSizes) -> Stop:
        count = options.graphs or GRAPHS
        return Stop(count, count)

    def prepare(self, problem: Problem, options: GraphSizes, run: Run) -> Any:
        return problem if isinstance(problem.graph, Graph) else super().prepare(problem, options, run)

    def measure(self, state: Any, sizes: FloatArray, quantity: str) -> Result:
        if isinstance(state, Problem):
            n = sizes * state.examples_per_size
            risky = risky_sizes(state, n)
            return Result(_LC.compute(state, n, quantity), notes=_say(state, sizes[risky]))
        experiment, *rest = state
        named = None if quantity == MSE.name else quantity
        return self.evaluate((replace(experiment, quantity=named), *rest), sizes)

    def summarise(self, experiment: GraphEigenvalues, estimate: Estimate) -> Result:
        error, stderr, notes = estimate.mean("error"), estimate.stderr("error"), tuple(estimate.notes("graphs"))
        if "risky" in experiment.fields:
            notes += _say(experiment.problem, np.array(experiment.nu)[estimate.mean("risky") > 0.5])
        return Result(error, stderr, diagnostics={"drawn": estimate.count}, notes=notes)


def _say(problem: Problem, sizes: FloatArray) -> tuple[str, ...]:
    return (say_doubt(problem, sizes, "nu"),) if len(sizes) else ()
