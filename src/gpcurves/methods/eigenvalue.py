r"""The method ``eigenvalue``: LC with the eigenvalues of the covariance between vertices.

Urry & Sollich 2013, eq. (14): :math:`\epsilon = g(N/(\epsilon+\sigma^2))` with the eigenvalues of `C/V`; then
:math:`N = \nu V`.
"""

from __future__ import annotations

import numpy as np

from gpcurves.graphs import Graph
from gpcurves.methods.base import Kind, Result, register
from gpcurves.methods.formulas.approximations import lower_continuous
from gpcurves.methods.sampled import Sampled, Setup
from gpcurves.methods.simulation.method import GraphSizes, Simulation, check_graph_size
from gpcurves.methods.simulation.vertex_datasets import GraphEigenvalues
from gpcurves.montecarlo import Estimate, Stop
from gpcurves.numerics.validation import FloatArray
from gpcurves.problem import Problem


def eigenvalue(problem: Problem, nu: FloatArray) -> FloatArray:
    """Return LC with the eigenvalues of the covariance matrix of a given graph."""
    assert isinstance(problem.graph, Graph)  # an ensemble is averaged over
    return lower_continuous(problem, nu * problem.graph.vertices)


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
    Options = GraphSizes

    def draws(self, problem: Problem) -> bool:
        """Tell whether graphs are drawn."""
        return problem.ensemble is not None

    def experiment(self, setup: Setup, sizes: FloatArray) -> GraphEigenvalues:
        """Return the graphs to draw."""
        size = setup.options.size(setup.problem)
        check_graph_size(setup.problem, np.zeros(1), size, setup.run)
        return GraphEigenvalues(setup.problem, tuple(sizes.tolist()), setup.run.seed(), size, 1)

    def stop(self, setup: Setup) -> Stop:
        """Return how many graphs to draw: as many as a simulation."""
        graphs = Simulation.Options(graphs=setup.options.graphs)
        return Simulation().stop(Setup(setup.problem, graphs, setup.run))

    def evaluate(self, state: Setup, sizes: FloatArray) -> Result:
        """Evaluate on the given graph, or average over graphs."""
        if isinstance(state.problem.graph, Graph):
            return Result(eigenvalue(state.problem, sizes))
        return super().evaluate(state, sizes)

    def summarise(self, experiment: GraphEigenvalues, estimate: Estimate) -> Result:
        """Return the average over graphs."""
        drawn = {"drawn": estimate.count}
        notes = tuple(estimate.notes("graphs"))
        return Result(estimate.mean("error"), estimate.stderr("error"), diagnostics=drawn, notes=notes)
