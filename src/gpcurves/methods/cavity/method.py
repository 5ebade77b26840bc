"""The method ``cavity``: belief propagation on a given graph, population dynamics for an ensemble, as learning curves.

What compiles messages (Numba) is imported when the method is used, so that other methods do not wait for it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from gpcurves.errors import GPCurvesError, InputError
from gpcurves.graphs import Ensemble, Graph
from gpcurves.graphs.groups import check_groups, expand_groups
from gpcurves.graphs.vertex_model import VertexModel
from gpcurves.methods.base import Kind, MethodOptions, Result, needs_noise, register
from gpcurves.methods.sampled import Sampled, average_over_groups, refuse_groups
from gpcurves.methods.simulation.method import at_least, is_large
from gpcurves.methods.variances import VarianceDistribution
from gpcurves.montecarlo import Estimate, Run, Stop, stream
from gpcurves.numerics.memory import check_memory
from gpcurves.numerics.parameters import parameter
from gpcurves.numerics.validation import FloatArray, positive, real
from gpcurves.problem import Problem
from gpcurves.quantities import MSE

_PRECISION = 0.005
_FIRST_REPLICAS, _MOST_REPLICAS, _MOST_DATASETS = 2, 64, 400
_MOST_PER_VERTEX = 1e6
_COPIES = 5  # of all messages that a sweep holds, measured


@dataclass(frozen=True)
class Precision(MethodOptions):
    """How precise the average is, and how an ensemble is normalised."""

    precision: float = parameter(
        _PRECISION, help="Continue until the standard error is this fraction of the error", check=positive
    )
    local: Literal["exact", "paper"] = parameter(
        "exact",
        help=(
            "Local normalisation on an ensemble: exact, or paper (the approximate equation (29) of Urry & Sollich 2013)"
        ),
        on="ensemble",
    )

    def objection(self, problem: Problem, given: Collection[str]) -> str | None:
        if "local" in given and problem.ensemble is not None and problem.kernel.normalise != "local":
            return f"local belongs to local normalisation, but the kernel's normalisation is {problem.kernel.normalise}"
        if "local" in given and self.local == "paper" and problem.ensemble is not None and problem.teacher is not None:
            return "local='paper' is for a well-specified model, but here the teacher differs from it"
        return super().objection(problem, given)


@dataclass(frozen=True)
class CavityVarianceOptions(Precision):
    """How variances of vertices are sampled."""

    datasets: int = parameter(1, help="On a given graph: data sets to draw", check=at_least(1), on="graph")


@dataclass(frozen=True)
class CavityOptions(Precision):
    """How precise the average is, and how messages are sent."""

    among: tuple[str, ...] = parameter(
        (),
        help="Also average over these groups of vertices; on an ensemble, groups defined by degree, and blocks",
        check=lambda name, value: check_groups(value),
    )
    max_sweeps: int = parameter(
        2000, help="On an ensemble: maximum number of sweeps per replica and nu", check=at_least(1), on="ensemble"
    )
    population: int | None = parameter(
        None,
        help=(
            "On an ensemble: vertices in each of the eight populations; the bias is proportional to 1/population  "
            "[chosen from the precision]"
        ),
        check=at_least(2),
        on="ensemble",
    )
    replicas: int | None = parameter(
        None,
        help="Maximum number of replicas of an ensemble [64] or data sets on a given graph [400]",
        check=at_least(2),
    )
    tolerance: float = parameter(
        1e-8, help="On a given graph: convergence tolerance of belief propagation", check=real, on="graph"
    )
    max_rounds: int = parameter(
        1000, help="On a given graph: maximum number of iterations of belief propagation", check=at_least(1), on="graph"
    )
    damping: float = parameter(
        0.0, help="On a given graph: damping (weight of the previous message)", check=real, on="graph"
    )

    def objection(self, problem: Problem, given: Collection[str]) -> str | None:
        if problem.ensemble is not None and "among" in given:
            for name in self.among:
                if name not in ("isolated", "ends") and not name.startswith(("degree=", "block")):
                    known = "groups by degree are known (isolated, ends, degree=K), and the blocks of a block model"
                    return f"of an ensemble only {known}, got {name!r}"
        return super().objection(problem, given)


def _has_edges(problem: Problem) -> str | None:
    """Return why an ensemble cannot be used, or None."""
    if problem.ensemble is not None and problem.ensemble.mean_degree == 0:
        return "the ensemble has no edges: every vertex is isolated"
    return None


def has_messages(problem: Problem) -> str | None:
    """Return why a kernel has no messages, or None."""
    if problem.teacher is not None and problem.true_kernel is None:
        return "the true function must come from a kernel between vertices, but here it is one function"
    kernels = [problem.kernel] if problem.teacher is None else [problem.kernel, problem.true_kernel]
    try:
        if problem.ensemble is not None and problem.ensemble.mean_degree > 0:
            problem.ensemble.vertex_types()
        sizes = [kernel.vertex_model().size for kernel in kernels]
    except GPCurvesError as error:
        return str(error)
    if problem.teacher is not None and 0 in sizes:
        return "of a misspecified model both kernels must couple neighbours, but one is a multiple of the identity"
    return None


def _even_if_taught(problem: Problem) -> str | None:
    """Return why a misspecified model is too uneven, or None."""
    return None if problem.teacher is None or problem.uneven is None else f"for a misspecified model {problem.uneven}"


@register
class Cavity(Sampled):
    """The cavity method (belief propagation).

    For an ensemble the result is that of infinitely large graphs, from independent replicas of population dynamics. On a
    given graph data sets are drawn and messages are sent until they converge. ``details`` holds "variance", that of the local
    posterior variances over vertices; ``diagnostics`` holds "converged" (share of runs that did), "rounds" (or sweeps), of
    ensembles "population" (vertices in each), and on graphs with cycles "loop_error", an estimate of the relative error that
    they cause, averaged over "loop_datasets" data sets, with its "loop_error_stderr". ``diagnostics`` then also holds "low" and "high":
    the band that the error lies in if its loop error is taken into account.
    """

    name = "cavity"
    title = "cavity method (belief propagation)"
    kind = Kind.APPROXIMATION
    promise = "exact on trees and in the limit of large random graphs; approximate on graphs with short cycles"
    source = "Urry & Sollich 2013, section 4; local normalisation exact"
    needs = "noise > 0, a graph or an ensemble of graphs"
    conditions = (needs_noise, _has_edges, has_messages, _even_if_taught)
    axes = ("nu",)
    misspecified = True
    uneven = True
    quantities = (MSE.name, "training", "nlpd")
    Options = CavityOptions
    VarianceOptions = CavityVarianceOptions

    def answers(self, problem: Problem) -> bool:
        return is_large(problem)

    def spare(self, problem: Problem) -> str | None:
        if problem.ensemble is not None or is_large(problem):
            return None
        vertices = f"{problem.examples_per_size:,} vertices"
        return f"on {vertices} simulation is fast and exact; to run the cavity method anyway, name it in methods"

    def quantity_objection(self, problem: Problem, quantity: str) -> str | None:
        if problem.observation.uneven and quantity in self.quantities and quantity != MSE.name:
            return (
                f"of the quantity {quantity}: noise must be the same everywhere, but here it is {problem.observation!r}"
            )
        return super().quantity_objection(problem, quantity)

    def measure(self, state: Any, sizes: FloatArray, quantity: str) -> Result:
        experiment, *rest = state
        if quantity != MSE.name:
            refuse_groups(experiment.among, quantity)
            experiment = replace(experiment, quantity=quantity)
        return self.evaluate((experiment, *rest), sizes)

    def experiment(self, problem: Problem, options: CavityOptions, run: Run) -> Any:
        from gpcurves.methods.cavity.beliefs import normalisers
        from gpcurves.methods.cavity.experiments import GivenGraph, Replicas
        from gpcurves.methods.cavity.population import POPULATIONS
        from gpcurves.methods.cavity.taught_experiments import TaughtData, priors_of

        threads = None if str(run.workers).strip() == "1" else 1
        shared = (problem, (), run.seed(), expand_groups(problem.graph, options.among), threads)
        how = options.tolerance, options.max_rounds, options.damping
        if problem.teacher is not None and isinstance(problem.graph, Graph):
            what = f"messages of a misspecified model on {problem.graph.vertices:,} vertices"
            needed = _COPIES * 8.0 * 2 * problem.graph.edges * _width(problem) * run.processes
            check_memory(needed, what, "ask for fewer workers or simulate")
            return TaughtData(*shared, *how, *priors_of(problem, problem.graph))
        if isinstance(problem.graph, Graph):
            divided = normalisers(problem.kernel, problem.graph)
            return GivenGraph(*shared, *how, *divided)
        if options.population is not None:
            messages = POPULATIONS * options.population * (1 + problem.graph.mean_degree)
            needed = _COPIES * 8.0 * messages * _width(problem) * run.processes
            what = f"a population of {options.population:,} vertices with {run.workers} worker(s)"
            check_memory(needed, what, "ask for a smaller population or fewer workers")
        return Replicas(*shared, options.precision, options.local, options.max_sweeps, options.population)

    def check_sizes(self, experiment: Any, run: Run) -> None:
        _check_size(max(experiment.nu))

    def stop(self, problem: Problem, options: CavityOptions) -> Stop:
        if isinstance(problem.graph, Graph):
            most = options.replicas or _MOST_DATASETS
            return Stop(min(int(np.clip(2e5 / problem.graph.vertices, 2, 8)), most), most, options.precision)
        return Stop(_FIRST_REPLICAS, options.replicas or _MOST_REPLICAS, options.precision)

    def unit(self, problem: Problem) -> str:
        return "replicas" if problem.ensemble is not None else "data sets"

    def summarise(self, experiment: Any, estimate: Estimate) -> Result:
        problem, nu = experiment.problem, experiment.nu
        given = isinstance(problem.graph, Graph)
        groups, empty = average_over_groups(estimate, experiment.among)
        details = {"variance": estimate.values["variance"].mean(axis=0)}
        details |= {name: values for name, values in groups.items() if not name.startswith("stderr")}
        diagnostics: dict[str, Any] = {name: estimate.values[name].mean(axis=0) for name in ("converged", "rounds")}
        notes = [] if experiment.note is None else [experiment.note]
        if (kernel_error := problem.kernel.vertex_model().kernel_error) > 0:
            notes.append(f"the kernel is represented up to {kernel_error:.1g}")
        notes += [*estimate.notes(self.unit(problem)), *empty]
        diagnostics |= self._cycles(experiment, notes)
        stuck = diagnostics["converged"] < 1
        if stuck.any():
            ways = "rounds (max_rounds), damping such as 0.5, or a larger tolerance"
            remedy = ways if given else "sweeps (max_sweeps) or a larger precision"
            notes.append(f"messages did not converge at nu = {np.array(nu)[stuck][0]:g}: allow more {remedy}")
        diagnostics |= {"drawn": estimate.count} | ({} if given else {"population": experiment.vertices})
        field = "error" if experiment.quantity is None else "score"
        error, stderr = estimate.mean(field), estimate.stderr(field)
        if experiment.quantity is None:  # what cycles change is known of the error alone
            diagnostics |= _band(error, stderr, diagnostics)
        return Result(error, stderr, details=details, diagnostics=diagnostics, notes=tuple(notes))

    def _cycles(self, experiment: Any, notes: list[str]) -> dict[str, Any]:
        """Measure how much cycles of a given graph matter, and add a sentence about it to the notes."""
        from gpcurves.methods.cavity.beliefs import is_forest
        from gpcurves.methods.cavity.experiments import loop_errors

        if not isinstance(experiment.problem.graph, Graph) or is_forest(experiment.linked):
            return {}
        found = loop_errors(experiment)
        worst = int(np.argmax(abs(found.off)))
        what = "" if experiment.quantity is None else "squared error "
        notes.append(
            f"the graph has cycles, so that this is an approximation: compared with dense algebra on {found.vertices:,} "
            f"vertices of {found.drawn} data sets the average {what}is off by up to {100 * abs(found.off[worst]):.2g} % "
            f"± {200 * found.stderr[worst]:.1g} % (at nu = {experiment.nu[worst]:g}), which the standard error does not include"
        )
        return {"loop_error": found.off, "loop_error_stderr": found.stderr, "loop_datasets": found.drawn}

    def variances(self, problem: Problem, nu: float, options: CavityVarianceOptions, run: Run) -> VarianceDistribution:
        """Return the local posterior variances: their distribution, by vertex and by degree."""
        from gpcurves.methods.cavity.beliefs import belief_propagation
        from gpcurves.methods.cavity.population import population_error
        from gpcurves.methods.simulation.vertices import draw_counts, weights_of

        _check_size(nu)
        if problem.teacher is not None:
            raise InputError("errors at single vertices of a misspecified model are available by simulation only")
        if run.store is not None or str(run.workers).strip() != "1":
            raise InputError(
                "workers and store apply to simulation only: the cavity method samples variances in a single run"
            )
        graph = problem.graph
        if isinstance(graph, Ensemble):
            result = population_error(
                graph.vertex_types(),
                problem.kernel.vertex_model(),
                problem.noise / problem.kernel.variance,
                nu,
                normalise=problem.kernel.normalise,
                local=options.local,
                precision=options.precision,
                rng=run.rng,
            )
            values = problem.kernel.variance * result.variance
            return VarianceDistribution(values, result.degree, problem, nu, weights=result.weight)
        needed = 32.0 * options.datasets * graph.vertices
        check_memory(needed, f"the variances of {options.datasets:,} data sets", "ask for fewer data sets")
        seed, counted = run.seed(), weights_of(problem.test_inputs)
        values = []
        for task in range(options.datasets):
            _, counts = draw_counts((nu,), graph.vertices, stream(seed, task).spawn(1)[0], weights_of(problem.inputs))
            values.append(belief_propagation(problem, counts[0]).variance)
        return VarianceDistribution(
            np.concatenate(values),
            np.tile(graph.neighbours, len(values)).astype(np.float64),
            problem,
            nu,
            None if counted is None else np.tile(counted / len(values), len(values)),
            np.tile(np.arange(graph.vertices), len(values)),
        )


def _width(problem: Problem) -> int:
    """Return how many numbers a message has, with its derivative if there is a teacher."""
    own: VertexModel = problem.kernel.vertex_model()
    if problem.teacher is None:
        return own.packed
    true: VertexModel = problem.true_kernel.vertex_model()
    return 2 * own.packed + own.size * true.size + true.packed


def _band(error: FloatArray, stderr: FloatArray, diagnostics: Mapping[str, Any]) -> dict[str, FloatArray]:
    """Return what the error may be without its loop error: from the curve to what it would be without, and how sure that is."""
    if "loop_error" not in diagnostics:
        return {}
    off, unsure = diagnostics["loop_error"], 2 * diagnostics["loop_error_stderr"]
    ends = [error / np.maximum(1 + off + sign * unsure, 0.1) for sign in (-1, 0, 1)]
    return {
        "low": np.minimum(error, np.min(ends, axis=0)) - stderr,
        "high": np.maximum(error, np.max(ends, axis=0)) + stderr,
    }


def _check_size(nu: float) -> None:
    if nu > _MOST_PER_VERTEX:
        raise InputError(f"nu must be at most {_MOST_PER_VERTEX:g} for the cavity method, got {nu:g}")
