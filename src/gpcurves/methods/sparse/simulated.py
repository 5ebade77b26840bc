"""The truth about GPs with inducing points by simulation: exact for each data set, and averaged over data sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from gpcurves.methods import sampled
from gpcurves.methods.base import Kind as MethodKind
from gpcurves.methods.base import MethodOptions, Result, register
from gpcurves.methods.sparse.dataset import MOST_PAIRS, Kind, full_error, sparse_error
from gpcurves.methods.sparse.inducing import CountOptions, InducingOptions, place
from gpcurves.methods.sparse.predicted import InducingMethod, summarise_pairs
from gpcurves.montecarlo import Estimate, Run, Shape, Stop, average, stream
from gpcurves.numerics.memory import check_memory
from gpcurves.numerics.parameters import parameter
from gpcurves.numerics.validation import FloatArray, integer
from gpcurves.problem import Problem

_ALGORITHM = 1  # changes whenever the numbers of a data set would, so that old stores are not mixed with new results
_DATASETS, _TEST_POINTS, _BLOCK = 20, 1_000, 50
_MOST_CANDIDATES = 4_000  # training inputs from which inducing ones are chosen


def _from(minimum: int) -> Any:
    return lambda name, value: integer(name, value, minimum)


def _datasets() -> Any:
    return parameter(_DATASETS, help="Data sets to draw", check=_from(2))


def _block() -> Any:
    return parameter(_BLOCK, help="Examples in a block, taken in the order in which they are drawn", check=_from(1))


@dataclass(frozen=True)
class SparseOptions(InducingOptions):
    """Inducing points, and how much a simulation draws."""

    datasets: int = _datasets()
    test_points: int = parameter(
        _TEST_POINTS, help="Test inputs per data set, if the average over them has no closed form", check=_from(1)
    )


@dataclass(frozen=True)
class BlockOptions(SparseOptions):
    """The same for an approximation in blocks."""

    block: int = _block()


@dataclass(frozen=True)
class CommitteeOptions(CountOptions):
    """A committee, whose inducing inputs are the test inputs."""

    datasets: int = _datasets()
    block: int = _block()


@dataclass(frozen=True)
class SparseDataSets:
    """A task is one data set: the exact errors of an approximation at every pair of n and m."""

    problem: Problem
    options: Any
    seed: int
    approximation: Kind
    committee: bool  # whether inducing inputs are the test inputs
    n: tuple[float, ...] = ()
    m: tuple[int, ...] = ()

    def at(self, sizes: FloatArray) -> SparseDataSets:
        """Return the same data sets at other numbers of examples."""
        n, m = self.options.pairs(sizes)
        return replace(self, n=tuple(n.tolist()), m=tuple(m.tolist()))

    @property
    def key(self) -> Mapping[str, Any]:
        about = {name: value for name, value in self.options.to_dict().items() if name not in ("m", "datasets")}
        return {
            "task": "inducing simulation",
            "algorithm": _ALGORITHM,
            "problem": self.problem.to_dict(),
            "approximation": self.approximation,
            "committee": self.committee,
            "n": self.n,
            "m": self.m,
            "rng": self.seed,
            **about,
        }

    @property
    def fields(self) -> Mapping[str, Shape]:
        return dict.fromkeys(("error", "claimed", "trace", "unresolved"), (len(self.n),))

    def draw(self, task: int) -> Mapping[str, FloatArray | float]:
        problem = self.problem
        rng = stream(self.seed, task)
        X = problem.design.draw(problem, int(max(self.n)), rng)
        test = self._draw_test(rng)
        seed = int(rng.integers(2**32))
        block = getattr(self.options, "block", 1)
        rows = np.full((len(self.n), 4), np.nan)
        for k, (size, m) in enumerate(zip(self.n, self.m, strict=True)):
            n = int(size)
            if m == 0:  # nothing is learnt; the student's belief is its prior, of which SoR has none
                believed = problem.inputs.prior_variance(problem.kernel)
                rows[k] = problem.true_variance, 0.0 if self.approximation == "sor" else believed, 0.0, 0.0
            elif m <= n:
                if self.committee:
                    inducing = problem.inputs.draw(m, np.random.default_rng([seed, m]))
                    test = inducing, np.full(m, 1.0 / m)
                else:
                    # a part of the data in random order: designs choose inputs in an order of their own
                    some = np.random.default_rng(seed).permutation(n)[: _MOST_CANDIDATES + m]
                    inducing = place(problem, self.options, m, X[some], seed).inputs
                if self.approximation == "full":
                    rows[k] = full_error(problem, X[:n], test), np.nan, 0.0, 0.0
                    continue
                found = sparse_error(problem, X[:n], inducing, test, self.approximation, block)
                rows[k] = found.error, found.claimed, found.trace, found.unresolved
        return dict(zip(self.fields, rows.T, strict=True))

    def _draw_test(self, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        problem = self.problem
        if (nodes := problem.inputs.exact_nodes((problem.kernel, problem.true_kernel))) is not None:
            return nodes
        points = problem.inputs.draw(getattr(self.options, "test_points", 1), rng)
        return points, np.full(len(points), 1.0 / len(points))

    def memory(self) -> float:
        """Return the bytes that one data set needs at most."""
        n, m = max(self.n), max(self.m)
        return 8.0 * (3 * min(n, MOST_PAIRS) ** 2 + 5 * 2_000 * (m + 1_000) + n * self.problem.inputs.dim + 6 * m * m)


def _one_by_one(problem: Problem) -> str | None:
    if problem.design.nested:
        return None
    return f"inputs must be chosen one after the other, but {problem.design!r} chooses all of them at once"


class SparseSimulation(InducingMethod):
    """An average over data sets of the exact error of an approximation."""

    kind = MethodKind.ESTIMATE
    conditions = (*InducingMethod.conditions, _one_by_one)
    promise = "the true average error of this approximation, up to its standard error"
    Options: ClassVar[type[MethodOptions]] = SparseOptions
    approximation: ClassVar[Kind]
    committee = False

    def experiment(self, problem: Problem, options: Any, run: Run) -> SparseDataSets:
        return SparseDataSets(problem, options, run.seed(), self.approximation, self.committee)

    def full_error(self, problem: Problem, n: float, options: Any, run: Run) -> float:
        """Return the average over the same data sets, and the same test inputs but for a committee."""
        one = SparseOptions(m=1, datasets=options.datasets, test_points=getattr(options, "test_points", _TEST_POINTS))
        experiment = SparseDataSets(problem, one, run.seed(), "full", False).at(np.array([n]))
        self.check_sizes(experiment, run)
        return float(average(experiment, run, self.stop(problem, one), self.unit(problem)).mean("error")[0])

    def check_sizes(self, experiment: SparseDataSets, run: Run) -> None:
        what = f"a simulation of n = {max(experiment.n):g} with {run.workers} worker(s)"
        check_memory(experiment.memory() * run.processes, what, "ask for a smaller n or m, or fewer workers")

    def stop(self, problem: Problem, options: Any) -> Stop:
        return Stop(options.datasets, options.datasets)

    def summarise(self, experiment: SparseDataSets, estimate: Estimate) -> Result:
        n, m = np.array(experiment.n), np.array(experiment.m)
        result = summarise_pairs(n, m, estimate, "claimed", estimate.mean("trace"), experiment.problem)
        details = dict(result.details)
        details |= {key: estimate.quantile("error", level) for key, level in sampled.QUANTILES.items()}
        notes = [*result.notes, *estimate.notes(self.unit(experiment.problem))]
        left_out = estimate.mean("unresolved")
        if (much := left_out > 0.01 * result.error).any():
            notes.append(
                f"at n = {n[much].min():g} the true function is known up to a variance of {left_out[much].max():.2g} only, which "
                "counts as independent from input to input"
            )
        return replace(result, details=details, notes=tuple(notes))


@register
class SubsetOfRegressorsSimulated(SparseSimulation):
    """The simulated truth of ``sor``."""

    name = "sor-simulation"
    title = "Subset of regressors, simulated"
    source = "Smola & Bartlett 2001"
    approximation = "sor"


@register
class VariationalFreeEnergySimulated(SparseSimulation):
    """The simulated truth of ``vfe``."""

    name = "vfe-simulation"
    title = "Variational free energy, simulated"
    source = "Titsias 2009"
    approximation = "vfe"


@register
class IndependentConditionalsSimulated(SparseSimulation):
    """The simulated truth of ``fitc``."""

    name = "fitc-simulation"
    title = "Fully independent training conditional, simulated"
    source = "Snelson & Ghahramani 2006"
    approximation = "fitc"


@register
class PartiallyIndependentConditionals(SparseSimulation):
    """PITC: what inducing inputs do not explain is noise that is correlated within blocks of examples.

    It has no theory here: that would average over random blocks of inputs, which costs as much as the simulation does.
    """

    name = "pitc"
    promise = f"{SparseSimulation.promise}; a theory would cost as much as simulation"
    title = "Partially independent training conditional, simulated"
    source = "Quinonero-Candela & Rasmussen 2005"
    approximation = "pitc"
    Options = BlockOptions


@register
class BayesianCommittee(SparseSimulation):
    """The Bayesian committee machine: PITC whose inducing inputs are the m test inputs that are predicted together.

    It is simulated only, for the reason that PITC is.
    """

    name = "bcm"
    promise = PartiallyIndependentConditionals.promise
    title = "Bayesian committee machine, simulated"
    source = "Tresp 2000; Quinonero-Candela & Rasmussen 2005"
    approximation = "pitc"
    committee = True
    Options = CommitteeOptions
