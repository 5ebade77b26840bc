"""Simulations of compound labels: what those of several tasks and of linear observations share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from gpcurves.designs import Random
from gpcurves.graphs.graph import IntArray
from gpcurves.inputs import Vertices
from gpcurves.methods.base import Condition, Kind, MethodOptions, Result, needs_kernel
from gpcurves.methods.sampled import QUANTILES, Sampled, remarks
from gpcurves.methods.simulation.dataset import ClosedForm, Prior, Test, TestPoints, errors, exact_test
from gpcurves.methods.simulation.method import at_least
from gpcurves.montecarlo import Estimate, Run, Shape, Stop
from gpcurves.numerics.cholesky import Factor
from gpcurves.numerics.memory import check_memory
from gpcurves.numerics.parameters import parameter
from gpcurves.numerics.validation import FloatArray, positive
from gpcurves.problem import Problem

_ALGORITHM = 1  # changes whenever the numbers of a data set would, so that old stores are not mixed with new results
_DATASETS, _TEST_POINTS, _FIRST, _MOST = 100, 1_000, 32, 100_000
_MATRICES = 6  # of labels by labels that a data set needs


@dataclass(frozen=True)
class CompoundOptions(MethodOptions):
    """What a simulation of compound labels draws."""

    datasets: int | None = parameter(None, help=f"Data sets to draw  [{_DATASETS}]", check=at_least(2))
    precision: float | None = parameter(
        None, help="Draw data sets until the standard error is this fraction of the error", check=positive
    )
    test_points: int = parameter(
        _TEST_POINTS, help="Test inputs per data set, if the average over them has no closed form", check=at_least(1)
    )


@dataclass(frozen=True)
class LabelSet:
    """One data set: its covariances, what to compare with, and how many labels among the first n tell anything new."""

    prior: Prior
    rows: FloatArray  # what ``prior`` takes as inputs
    tests: Mapping[str, tuple[Test, float]]  # test averages by field, each with the prior variance
    known: IntArray


@dataclass(frozen=True)
class CompoundDataSets:
    """Data sets of compound labels; ``sizes`` are numbers of labels."""

    problem: Problem
    sizes: tuple[int, ...]
    seed: int
    test_points: int

    task: ClassVar[str]

    def at(self, sizes: FloatArray) -> Self:
        """Return the same data sets with other numbers of labels."""
        labels = np.rint(sizes * self.problem.examples_per_size)
        return replace(self, sizes=tuple(int(size) for size in labels.tolist()))

    @property
    def key(self) -> Mapping[str, Any]:
        return {
            "task": self.task,
            "algorithm": _ALGORITHM,
            "problem": self.problem.to_dict(),
            "n": self.sizes,
            "rng": self.seed,
            "test_points": self.test_points,
        }

    @property
    def names(self) -> tuple[str, ...]:
        """The fields that hold errors; the first is the one of the curve."""
        return ("error",)

    @property
    def fields(self) -> Mapping[str, Shape]:
        return dict.fromkeys(self.names, (len(self.sizes),))

    @abstractmethod
    def collect(self, rng: np.random.Generator, test: Test) -> LabelSet:
        """Draw one data set, to be compared with over these test inputs."""

    def test(self, rng: np.random.Generator) -> Test:
        """Return the test average: exact if that is possible, and over random inputs otherwise."""
        if isinstance(self.problem.inputs, Vertices):
            return TestPoints(*self.problem.inputs.nodes(self.problem.examples_per_size))
        return exact_test(self.problem) or self.random_test(rng)

    def random_test(self, rng: np.random.Generator) -> TestPoints:
        """Return random test inputs."""
        points = self.problem.inputs.draw(self.test_points, rng)
        return TestPoints(points, np.full(len(points), 1.0 / len(points)))

    def draw(self, task: int) -> Mapping[str, FloatArray | float]:
        seeds = np.random.SeedSequence(self.seed, spawn_key=(task,)).spawn(2)
        test = self.test(np.random.default_rng(seeds[1]))
        found = self._errors(self.collect(np.random.default_rng(seeds[0]), test))
        if isinstance(test, ClosedForm) and any(np.isnan(each).any() for each in found.values()):
            # the closed form loses digits if noise is low: test points do not
            points = self.random_test(np.random.default_rng(seeds[1]))
            again = self._errors(self.collect(np.random.default_rng(seeds[0]), points))
            found = {name: np.where(np.isnan(value), again[name], value) for name, value in found.items()}
        return found

    def _errors(self, drawn: LabelSet) -> dict[str, FloatArray]:
        factor = Factor.from_matrix(drawn.prior.observe(drawn.rows))
        about = drawn.prior, None, factor, drawn.rows
        curves = {name: errors(*about, test, variance)[drawn.known] for name, (test, variance) in drawn.tests.items()}
        return {name: curve[list(self.sizes)] for name, curve in curves.items()}

    def memory(self) -> float:
        """Return the bytes that one data set needs at most."""
        n = float(max(self.sizes))
        return 8.0 * n * (_MATRICES * n + 3 * self.test_points)


def at_random(problem: Problem) -> str | None:
    """Return why inputs are not drawn at random from a known distribution, or None if they are."""
    if problem.ensemble is not None:
        return "it needs a given graph, but this is an ensemble: sample a graph from it"
    return (
        None
        if problem.design == Random()
        else f"inputs must be drawn at random, but here they are chosen by {problem.design!r}"
    )


class CompoundSimulation(Sampled):
    """The average over simulated data sets of compound labels; exact for every data set given its inputs."""

    kind = Kind.ESTIMATE
    promise = "the truth, up to its standard error"
    axes = ("n", "nu")
    integers = True
    any_labels = True
    conditions: tuple[Condition, ...] = (needs_kernel, at_random)
    Options = CompoundOptions

    def unit(self, problem: Problem) -> str:
        return "data sets"

    def check_sizes(self, experiment: CompoundDataSets, run: Run) -> None:
        what = f"a simulation of {max(experiment.sizes):,} labels with {run.workers} worker(s)"
        check_memory(experiment.memory() * run.processes, what, "ask for fewer labels or fewer workers")

    def stop(self, problem: Problem, options: CompoundOptions) -> Stop:
        if options.precision is None:
            count = options.datasets or _DATASETS
            return Stop(count, count)
        most = options.datasets or _MOST
        return Stop(min(_FIRST, most), most, options.precision)

    def details(self, experiment: Any, estimate: Estimate) -> dict[str, FloatArray]:
        """Return what else is known at each size."""
        return {}

    def summarise(self, experiment: CompoundDataSets, estimate: Estimate) -> Result:
        error, stderr = estimate.mean("error"), estimate.stderr("error")
        details = {key: estimate.quantile("error", level) for key, level in QUANTILES.items()}
        details |= self.details(experiment, estimate)
        problem = experiment.problem
        sizes = np.array(experiment.sizes) / problem.examples_per_size
        notes = [*estimate.notes("data sets"), *remarks(sizes, error, stderr, problem.axis)]
        return Result(error, stderr, details=details, diagnostics={"drawn": estimate.count}, notes=tuple(notes))
