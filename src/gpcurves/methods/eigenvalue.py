r"""The method ``eigenvalue``: LC with the eigenvalues of the covariance between vertices.

Urry & Sollich 2013, eq. (14): :math:`\epsilon = g(N/(\epsilon+\sigma^2))` with the eigenvalues of `C/V`; then
:math:`N = \nu V`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpcurves.graphs import Graph
from gpcurves.inputs import Vertices
from gpcurves.methods.base import Kind, Result, register
from gpcurves.methods.formulas.approximations import lc_examples, lower_continuous
from gpcurves.methods.sampled import Sampled
from gpcurves.methods.simulation.method import GRAPHS, GraphSizes, check_graph_size, spare_dense_algebra
from gpcurves.methods.simulation.vertices import OnGraphs
from gpcurves.montecarlo import Estimate, Run, Stop
from gpcurves.numerics.validation import FloatArray
from gpcurves.problem import Problem


@dataclass(frozen=True)
class GraphEigenvalues(OnGraphs):
    """The eigenvalue approximation on one graph of an ensemble."""

    task = "graph eigenvalues"

    def draw(self, task: int) -> Mapping[str, FloatArray | float]:
        graph, _ = self.draw_graph(task)
        on_graph = Problem(self.problem.kernel, Vertices(graph), observation=self.problem.observation)
        return {"error": lower_continuous(on_graph, np.array(self.nu) * graph.vertices)}


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
    needs = "a graph, or an ensemble of which graphs are drawn"
    axes = ("nu",)
    optimistic = True
    explicit = staticmethod(lc_examples)
    Options = GraphSizes

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

    def evaluate(self, state: Any, sizes: FloatArray) -> Result:
        if isinstance(state, Problem):
            return Result(lower_continuous(state, sizes * state.examples_per_size))
        return super().evaluate(state, sizes)

    def summarise(self, experiment: GraphEigenvalues, estimate: Estimate) -> Result:
        error, stderr, notes = estimate.mean("error"), estimate.stderr("error"), tuple(estimate.notes("graphs"))
        return Result(error, stderr, diagnostics={"drawn": estimate.count}, notes=notes)
