"""The method ``simulation``: draw data sets, average, and say how sure the average is."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from gpcurves.designs import Random
from gpcurves.errors import InputError, check_name
from gpcurves.graphs import Graph
from gpcurves.graphs.groups import check_groups, expand_groups
from gpcurves.methods.base import Kind, MethodOptions, Result, needs_kernel, register
from gpcurves.methods.sampled import QUANTILES, Sampled, average_over_groups, refuse_groups, remarks
from gpcurves.methods.simulation.dataset import DataSets, exact_test
from gpcurves.methods.simulation.labelled_vertices import LabelledVertices
from gpcurves.methods.simulation.labels import TEST_POINTS, LabelledDataSets
from gpcurves.methods.simulation.scores import SCORES, Scores
from gpcurves.methods.simulation.vertex_scores import VertexScores
from gpcurves.methods.simulation.vertices import LocalErrors, OnGraphs, VertexDataSets
from gpcurves.methods.variances import VarianceDistribution
from gpcurves.montecarlo import Estimate, Run, Stop, average
from gpcurves.numerics.memory import check_memory
from gpcurves.numerics.parameters import parameter
from gpcurves.numerics.validation import FloatArray, integer, positive
from gpcurves.problem import Problem
from gpcurves.quantities import MSE

GRAPHS, _DATASETS, _VERTICES, _PER_GRAPH, _ON_GRAPH = 20, 200, 500, 10, 100
_FIRST, _FIRST_GRAPHS, _MOST = 32, 10, 100_000  # how much is drawn before the precision is looked at, and at most
_MOST_PER_VERTEX = 1e9
_SMALL_GRAPH = 1_500  # vertices up to which a given graph is simulated
_TEST_POINTS = 1_000
_LABELS = 1_000_000  # on a graph, if they have no Gaussian noise
Experiment = DataSets | VertexDataSets | VertexScores | LabelledDataSets | LabelledVertices | Scores
_ALSO = ("training", "empirical")


def _also(name: str, value: object) -> tuple[str, ...]:
    listed = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, Iterable) else (value,)
    return tuple(check_name("quantity", each, _ALSO) for each in listed)


def at_least(minimum: int) -> Any:
    """Return a check for integers from a minimum on."""
    return lambda name, value: integer(name, value, minimum)


@dataclass(frozen=True)
class GraphSizes(MethodOptions):
    """How many graphs of an ensemble are drawn, and how large they are."""

    vertices: int | None = parameter(
        None,
        help="Number of vertices of each random graph of an ensemble  [500]",
        check=at_least(1),
        axis="nu",
        on="ensemble",
    )
    graphs: int | None = parameter(
        None, help="Number of random graphs to draw from an ensemble  [20]", check=at_least(2), axis="nu", on="ensemble"
    )

    def size(self, problem: Problem) -> int:
        """Return the number of vertices of each graph."""
        return problem.graph.vertices if isinstance(problem.graph, Graph) else self.vertices or _VERTICES


@dataclass(frozen=True)
class DataSetSizes(GraphSizes):
    """How many graphs and data sets are drawn."""

    datasets: int | None = parameter(
        None,
        help="Data sets to draw  [200 on vectors, 100 on a given graph, 10 per graph of an ensemble]",
        check=at_least(1),
    )

    def objection(self, problem: Problem, given: Collection[str]) -> str | None:
        # a single data set says nothing about how much data sets differ
        if "datasets" in given and self.datasets == 1 and problem.ensemble is None:
            return "datasets must be an integer, at least 2, got 1"
        return super().objection(problem, given)


@dataclass(frozen=True)
class SimulationOptions(DataSetSizes):
    """What a simulation draws.

    Without ``precision`` a fixed number of data sets (or graphs) is drawn. With it, they are drawn until the standard error is
    this fraction of the error at every size, and ``datasets`` (on an ensemble ``graphs``) is the most that may be drawn.
    """

    precision: float | None = parameter(
        None, help="Draw data sets until the standard error is this fraction of the error", check=positive
    )
    test_points: int | None = parameter(
        None,
        help=(
            f"Test inputs per data set, if the average over them has no closed form  [{_TEST_POINTS}, and "
            f"{TEST_POINTS} if labels are not Gaussian]"
        ),
        check=at_least(1),
        axis="n",
    )
    inference: Literal["ep", "laplace", "gibbs"] | None = parameter(
        None,
        help="How to infer the function if labels are not Gaussian: expectation propagation, Laplace's method or Gibbs "
        "sampling  [ep for classes, gibbs for heavy tails]",
    )
    also: tuple[str, ...] = parameter(
        (),
        help=(
            "Further averages to compute: training (error against the noisy training targets), empirical (posterior "
            "variance at the training inputs)"
        ),
        check=_also,
        axis="n",
    )
    among: tuple[str, ...] = parameter(
        (),
        help=(
            "Also average over these groups of vertices: isolated, ends, dangling, giant, small, degree=K, "
            "component=K; all communities of a graph: louvain, spectral:K, attribute:NAME; all blocks of a block model: "
            "blocks"
        ),
        check=lambda name, value: check_groups(value),
        axis="nu",
    )

    def objection(self, problem: Problem, given: Collection[str]) -> str | None:
        reason = super().objection(problem, given)
        if reason is None and "also" in given and self.also and problem.teacher is not None:
            return "training and empirical errors are defined for a well-specified model only"
        if reason is None and "also" in given and self.also and problem.observation.gaussian_noise is None:
            return f"training and empirical errors need Gaussian noise, but labels are {problem.observation!r}"
        if reason is None and "inference" in given and self.inference is not None:
            return self._inference_objection(problem)
        return reason

    def _inference_objection(self, problem: Problem) -> str | None:
        observation = problem.observation
        if observation.gaussian_noise is not None or observation.uneven:
            return "inference is exact with Gaussian noise: leave it out"
        if self.inference not in observation.inferences:
            known = " or ".join(map(repr, observation.inferences))
            return f"inference from {observation!r} is by {known}, got {self.inference!r}"
        return None


def _known_function(problem: Problem) -> str | None:
    """Return why the true function cannot be evaluated, or None."""
    if problem.teacher is not None and problem.teacher.coefficients is not None:
        return "the true function is given by coefficients, so its values at inputs are not known"
    return None


def _can_infer(problem: Problem) -> str | None:
    """Return why a function cannot be inferred from labels, or None."""
    observation = problem.observation
    if observation.gaussian_noise is not None or observation.uneven:
        return None
    return None if observation.inferences else f"there is no way to infer a function from labels {observation!r}"


@register
class Simulation(Sampled):
    """The average over simulated data sets, with its standard error and quantiles over data sets.

    The average over functions (teachers) and over noise is exact for every data set, and so is the average over test inputs if
    it has a closed form. Of labels without Gaussian noise, functions and labels are drawn, and ``inference`` says how the function
    is inferred; ``details`` holds the posterior variance that the model claims, and all quantities. On graphs with Gaussian noise
    ``details`` holds "variance", the variance of the local errors over vertices within a data set, and for each group of vertices in ``among`` the error averaged over them and their share.
    """

    name = "simulation"
    title = "average over simulated data sets"
    kind = Kind.ESTIMATE
    promise = "the truth, up to its standard error"
    source = "Sollich & Halees 2002, eqs. (3) and (4); Urry & Sollich 2013, eqs. (9) to (12)"
    needs = "a kernel and inputs, integer n; or a graph or an ensemble of graphs"
    conditions = (needs_kernel, _known_function, _can_infer)
    axes = ("n", "nu")
    integers = True
    any_labels = True
    misspecified = True
    uneven = True
    quantities = (MSE.name, *SCORES, "error-rate", "sign-error-rate", "log-loss")
    Options = SimulationOptions
    VarianceOptions = DataSetSizes

    def answers(self, problem: Problem) -> bool:
        return problem.axis == "nu" and not is_large(problem)

    def spare(self, problem: Problem) -> str | None:
        return spare_dense_algebra(problem) or super().spare(problem)

    def objection(self, problem: Problem, sizes: FloatArray | None = None) -> str | None:
        reason = super().objection(problem, sizes)
        if reason is None and sizes is not None and problem.ensemble is None:
            return problem.design.count_objection(problem, sizes * problem.examples_per_size)
        return reason

    def quantity_objection(self, problem: Problem, quantity: str) -> str | None:
        if quantity == "nlpd" and problem.design != Random():
            return f"nlpd is defined for random inputs only, but here they are chosen by {problem.design!r}"
        handled = problem.axis == "nu" and not problem.observation.uneven
        if quantity in SCORES and not handled and (reason := problem.uneven) is not None:
            return f"of the quantity {quantity}: {reason}"
        if problem.observation.gaussian_noise is None and quantity in SCORES:
            return f"{quantity} needs Gaussian noise, but labels are {problem.observation!r}"
        return super().quantity_objection(problem, quantity)

    def measure(self, state: Any, sizes: FloatArray, quantity: str) -> Result:
        experiment, enough, run = state
        if isinstance(experiment, LabelledDataSets | LabelledVertices):
            experiment = replace(experiment, quantity=quantity)
        elif isinstance(experiment, VertexDataSets) and quantity != MSE.name:
            refuse_groups(experiment.among, quantity)
            about = experiment.problem, (), run.seed(), (), experiment.vertices, experiment.datasets
            experiment = VertexScores(*about, quantity=quantity)
        elif quantity != MSE.name:
            experiment = Scores(experiment.problem, (), run.seed(), quantity)
        return self.evaluate((experiment, enough, run), sizes)

    def experiment(self, problem: Problem, options: SimulationOptions, run: Run) -> Experiment:
        labelled = problem.observation.gaussian_noise is None and not problem.observation.uneven
        how = options.inference or (problem.observation.inferences[0] if labelled else "")
        if problem.axis == "nu":
            about = (
                problem,
                (),
                run.seed(),
                expand_groups(problem.graph, options.among),
                options.size(problem),
                _datasets_per_task(problem, options),
            )
            return LabelledVertices(*about, inference=how) if labelled else VertexDataSets(*about)
        if labelled:
            return LabelledDataSets(problem, (), run.seed(), options.test_points or TEST_POINTS, how)
        tested = (options.test_points or _TEST_POINTS, options.also, problem.true_variance, exact_test(problem))
        return DataSets(problem, (), run.seed(), *tested)

    def check_sizes(self, experiment: Experiment, run: Run) -> None:
        if isinstance(experiment, OnGraphs):
            check_graph_size(experiment.problem, max(experiment.nu), experiment.vertices, run)
            if (
                isinstance(experiment, LabelledVertices)
                and (most := max(experiment.nu) * experiment.vertices) > _LABELS
            ):
                raise InputError(
                    f"labels are drawn one by one, at most {_LABELS:,}: got {most:g}, so ask for a smaller nu"
                )
            return
        what = f"a simulation of n = {max(experiment.sizes)} with {run.workers} worker(s)"
        check_memory(experiment.memory() * run.processes, what, "ask for a smaller n or fewer workers")

    def stop(self, problem: Problem, options: SimulationOptions) -> Stop:
        count, most = _count_tasks(problem, options)
        if _is_determined(problem):
            return Stop(2, 2)
        if options.precision is None:
            return Stop(count, count)
        first = _FIRST if problem.axis == "n" else _FIRST_GRAPHS
        return Stop(min(first, most), most, options.precision)

    def summarise(self, experiment: Experiment, estimate: Estimate) -> Result:
        problem = experiment.problem
        error, stderr = estimate.mean("error"), estimate.stderr("error")
        details = {key: estimate.quantile("error", level) for key, level in QUANTILES.items()}
        notes = estimate.notes(self.unit(problem))
        if isinstance(experiment, Scores | VertexScores):
            about = {"drawn": estimate.count}
            return Result(error, stderr, details=details, diagnostics=about, notes=tuple(notes))
        sizes = np.array(experiment.nu if isinstance(experiment, OnGraphs) else experiment.sizes, dtype=np.float64)
        if isinstance(experiment, OnGraphs):
            more, said = average_over_groups(estimate, experiment.among)
            details, notes = details | more, [*notes, *said]
        for name in _averages(experiment):
            details |= {name: estimate.mean(name), f"{name}_stderr": estimate.stderr(name)}
        if isinstance(experiment, LabelledDataSets | LabelledVertices):
            if (failed := float(estimate.values["failed"].mean())) > 0:
                notes.append(f"inference did not converge for {100 * failed:.2g} % of the data sets and sizes")
        elif isinstance(experiment, DataSets):
            if np.isfinite(first := estimate.values["replaced"].min()):
                notes.append(
                    f"from n = {first:g} on the average over test inputs is over {experiment.test_points} random ones in "
                    "some data sets: its closed form loses too many digits there"
                )
            elif experiment.test_points != _TEST_POINTS and experiment.fixed_test is not None:
                notes.append("test_points was not used: the average over test inputs is exact")
        notes += remarks(sizes, error, stderr, problem.axis)
        return Result(error, stderr, details=details, diagnostics={"drawn": estimate.count}, notes=tuple(notes))

    def variances(self, problem: Problem, nu: float, options: DataSetSizes, run: Run) -> VarianceDistribution:
        """Return the errors at all vertices after nu examples per vertex: their distribution, by vertex and by degree.

        Without a teacher these are the posterior variances; at nu = 0 the prior ones.
        """
        size, per_task = options.size(problem), _datasets_per_task(problem, options)
        experiment = LocalErrors(problem, (nu,), run.seed(), (), size, per_task)
        check_graph_size(problem, nu, size, run)
        count, _ = _count_tasks(problem, options)
        needed = 8.0 * count * (per_task + 1) * size * 3
        check_memory(needed, "the errors of all vertices", "ask for fewer graphs or data sets")
        estimate = average(experiment, run, Stop(count, count), self.unit(problem))
        values = estimate.values["errors"].reshape(-1, size)
        degrees = np.repeat(estimate.values["degrees"], per_task, axis=0)
        own = isinstance(problem.graph, Graph)
        vertex = np.tile(np.arange(size), len(values)) if own else None
        counted = experiment.test_weights
        weights = None if counted is None else np.tile(counted / len(values), len(values))
        return VarianceDistribution(values.ravel(), degrees.ravel(), problem, nu, weights, vertex)


def _averages(experiment: DataSets | VertexDataSets | LabelledDataSets | LabelledVertices) -> tuple[str, ...]:
    """Return what goes into the details of a curve besides the error."""
    if isinstance(experiment, VertexDataSets):
        return ("variance",)
    return experiment.also if isinstance(experiment, DataSets) else (*experiment.quantities, "claimed")


def _count_tasks(problem: Problem, options: DataSetSizes) -> tuple[int, int]:
    """Return how many graphs of an ensemble, or else data sets, to draw without a precision, and with one at most."""
    if problem.ensemble is not None:
        return options.graphs or GRAPHS, options.graphs or _MOST
    default = _DATASETS if problem.axis == "n" else _ON_GRAPH
    return options.datasets or default, options.datasets or _MOST


def _is_determined(problem: Problem) -> bool:
    """Tell whether all data sets of a size are the same, and averages over test inputs exact.

    Two of them say all there is to say: they differ if the closed form of the average loses its digits after all.
    """
    if not problem.design.deterministic or problem.ensemble is not None:
        return False
    return problem.axis == "nu" or (problem.observation.gaussian_noise is not None and exact_test(problem) is not None)


def _datasets_per_task(problem: Problem, options: DataSetSizes) -> int:
    if problem.ensemble is None or problem.design.deterministic:  # one design says all about a graph
        return 1
    return options.datasets or _PER_GRAPH


def is_large(problem: Problem) -> bool:
    """Tell whether graphs are so large that the cavity method, if it applies, answers sooner than a simulation.

    Dense algebra on a small given graph is quick, and exact.
    """
    small = isinstance(problem.graph, Graph) and problem.graph.vertices <= _SMALL_GRAPH
    return not small and problem.observation.gaussian_noise not in (0, None) and problem.teacher is None


def spare_dense_algebra(problem: Problem) -> str | None:
    """Say why dense algebra on a large given graph is not among "all" methods, or return None."""
    if problem.axis == "n" or problem.ensemble is not None or not is_large(problem):
        return None
    return (
        f"dense algebra on {problem.examples_per_size:,} vertices is slow; to run simulation anyway, name it in methods"
    )


def check_graph_size(problem: Problem, nu: float, vertices: int, run: Run) -> None:
    """Refuse what cannot be drawn, or what memory does not hold."""
    if nu > _MOST_PER_VERTEX:
        raise InputError(f"nu must be at most {_MOST_PER_VERTEX:g} if data sets are drawn, got {nu:g}")
    matrices = 7 if problem.teacher is not None else 4
    check_memory(
        8.0 * matrices * vertices**2 * run.processes,
        f"dense algebra on {vertices} vertices with {run.workers} worker(s)",
        "use the method cavity, which works at any size, a smaller graph or fewer workers",
    )
