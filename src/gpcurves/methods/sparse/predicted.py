"""The methods ``sor``, ``vfe`` and ``fitc``: theory for GPs with inducing points, averaged over a few draws of these."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np

from gpcurves.graphs.graph import IntArray
from gpcurves.methods.base import METHODS, Condition, Kind, Result, Scope, needs_kernel, needs_noise, register
from gpcurves.methods.sampled import Sampled
from gpcurves.methods.sparse.inducing import InducingOptions, place
from gpcurves.methods.sparse.theory import RESOLVED, Nodes, Student, full_error
from gpcurves.montecarlo import Estimate, Run, Shape, Stop, average, stream
from gpcurves.numerics.parameters import parameter
from gpcurves.numerics.validation import FloatArray, integer
from gpcurves.problem import Problem

_ALGORITHM = 1  # changes whenever the numbers of a draw would, so that old stores are not mixed with new results
_POOL = 1_000  # inputs from which inducing ones are chosen, and at least four times as many as those
_DRAWS, _FEW_DRAWS = 10, 3
_SOURCE = "ours, from Malzahn & Opper 2001 and Sollich 2001; "


@dataclass(frozen=True)
class TheoryOptions(InducingOptions):
    """Inducing points, and how often they are drawn."""

    draws: int = parameter(
        _DRAWS,
        help="Number of random sets of inducing inputs to average over",
        check=lambda name, value: integer(name, value, 2),
    )


@dataclass(frozen=True)
class InducingDraws:
    """A task is one draw of inducing inputs: the theory for these, at every pair of n and m."""

    problem: Problem
    options: TheoryOptions
    seed: int
    approximation: Literal["sor", "fitc", "full"]  # of FITC the noise at an input contains what is not explained
    n: tuple[float, ...] = ()
    m: tuple[int, ...] = ()

    def at(self, sizes: FloatArray) -> InducingDraws:
        """Return the same draws at other numbers of examples."""
        n, m = self.options.pairs(sizes)
        return replace(self, n=tuple(n.tolist()), m=tuple(m.tolist()))

    @property
    def key(self) -> Mapping[str, Any]:
        about = {name: value for name, value in self.options.to_dict().items() if name not in ("m", "draws")}
        return {
            "task": "inducing theory",
            "algorithm": _ALGORITHM,
            "problem": self.problem.to_dict(),
            "approximation": self.approximation,
            "n": self.n,
            "m": self.m,
            "rng": self.seed,
            **about,
        }

    @property
    def fields(self) -> Mapping[str, Shape]:
        return dict.fromkeys(("error", "believed", "residual", "unexplained"), (len(self.n),))

    @cached_property
    def nodes(self) -> Nodes:
        """The places that stand for all inputs, which all draws share."""
        # the full GP varies between examples, not only between inducing points
        finest = max(self.n, default=0) if self.approximation == "full" else max(self.m, default=0)
        return Nodes.of(self.problem, int(finest))

    def __getstate__(self) -> dict[str, Any]:
        """Return all but the nodes, whose covariances are large and need not travel to workers."""
        return {name: value for name, value in self.__dict__.items() if name != "nodes"}

    def draw(self, task: int) -> Mapping[str, FloatArray | float]:
        problem = self.problem
        rng = stream(self.seed, task)
        most = max(self.m, default=0)
        pool = problem.inputs.draw(max(_POOL, 4 * most), rng)
        seed = int(rng.integers(2**32))
        noise = problem.noise if problem.teacher is None else problem.teacher.noise
        rows = np.full((len(self.n), 4), np.nan)
        # a random subset is the same whatever n is; other placements choose among the training inputs that there are
        chooses = self.options.points is None and self.options.placement != "random"
        among = [int(min(n, len(pool))) if chooses else len(pool) for n in self.n]
        for m, size in sorted(set(zip(self.m, among, strict=True))):
            at = [k for k, n in enumerate(self.n) if (self.m[k], among[k]) == (m, size) and m <= n]
            if m == 0:
                rows[at] = [problem.true_variance, 0.0, problem.inputs.prior_variance(problem.kernel), 0.0]
            elif at:
                inducing = place(problem, self.options, m, pool[:size], seed)
                if self.approximation == "full" and problem.teacher is None:
                    for k in at:
                        rows[k, :2] = full_error(problem, self.nodes, inducing, self.n[k])
                    continue
                make = Student.full if self.approximation == "full" else Student.of
                student = make(problem, self.nodes, inducing)
                noises = problem.noise + (1.0 if self.approximation == "fitc" else 0.0) * student.residual
                for k in at:
                    others = self.n[k] - (m if inducing.trained else 0)  # examples with anything left to explain
                    rows[k, :2] = student.errors(self.n[k], noises, noise)
                    rows[k, 2:] = student.mean_residual, others * student.mean_residual
        return dict(zip(self.fields, rows.T, strict=True))


def summarise_pairs(
    n: FloatArray, m: IntArray, estimate: Estimate, claimed: str, trace: FloatArray, problem: Problem
) -> Result:
    """Return the averages at all pairs of n and m, with what the approximation claims and how far it is from the full GP."""
    details = {"m": m.astype(np.float64), "claimed": estimate.mean(claimed), "claimed_stderr": estimate.stderr(claimed)}
    if problem.teacher is None:  # averaged over functions that the model expects
        details |= {"kl_low": trace / (2 * problem.noise), "kl_high": trace / problem.noise}
    notes = []
    if (above := m > n).any():
        notes.append(
            f"no value is given if m exceeds n, as {m[above].max()} inducing points do at n = {n[above].min():g}"
        )
    return Result(
        estimate.mean("error"),
        estimate.stderr("error"),
        sizes=n,
        details=details,
        diagnostics={"drawn": estimate.count},
        notes=tuple(notes),
    )


class InducingMethod(Sampled):
    """What all methods with inducing points share."""

    scope = Scope.SPARSE
    second = "m"
    needs = "a kernel and inputs, noise greater than 0, integer n, and m inducing points"
    conditions: tuple[Condition, ...] = (needs_kernel, needs_noise)
    integers = True
    misspecified = True
    truth: ClassVar[str | None] = None  # the name of its simulation, if it is theory

    def check_request(self, options: Any, sizes: FloatArray) -> None:
        options.check_sizes(sizes)

    @abstractmethod
    def full_error(self, problem: Problem, n: float, options: Any, run: Run) -> float:
        """Return the average error of the full GP, found in the same way as that of the approximation with the m of options."""


class InducingTheory(InducingMethod):
    """The theory for a kind of approximation; the error is averaged over draws of the inducing inputs."""

    kind = Kind.APPROXIMATION
    promise = "accurate in practice for the average error of this approximation; not a bound"
    Options = TheoryOptions
    approximation: ClassVar[Literal["sor", "fitc"]] = "sor"
    claims_residual: ClassVar[bool]

    def experiment(self, problem: Problem, options: TheoryOptions, run: Run) -> InducingDraws:
        return InducingDraws(problem, options, run.seed(), self.approximation)

    def stop(self, problem: Problem, options: TheoryOptions) -> Stop:
        count = 1 if options.points is not None else options.draws  # given inputs are not drawn
        return Stop(count, count)

    def full_error(self, problem: Problem, n: float, options: TheoryOptions, run: Run) -> float:
        experiment = InducingDraws(problem, options, run.seed(), "full").at(np.array([n]))
        count = min(_FEW_DRAWS, self.stop(problem, options).first)  # the full GP depends little on these
        found = float(average(experiment, run, Stop(count, count), self.unit(problem)).mean("error")[0])
        if problem.teacher is not None:
            return found
        # Nodes are too few for rough kernels and many examples, and LC expects too much of uneven inputs: both are too low.
        return max(found, float(METHODS["lc"](problem, [n])[0]))

    def unit(self, problem: Problem) -> str:
        return "draws of inducing inputs"

    def summarise(self, experiment: InducingDraws, estimate: Estimate) -> Result:
        if self.claims_residual:
            values = {**estimate.values, "believed": estimate.values["believed"] + estimate.values["residual"]}
            estimate = replace(estimate, values=values)
        n, m = np.array(experiment.n), np.array(experiment.m)
        trace = estimate.mean("unexplained")
        result = summarise_pairs(n, m, estimate, "believed", trace, experiment.problem)
        if "nodes" in experiment.__dict__ and (off := experiment.nodes.resolved) > RESOLVED:
            note = f"the kernel varies too fast for the nodes of this theory (error {100 * off:.2g} %): compare a simulation"
            result = replace(result, notes=(*result.notes, note))
        return result


@register
class SubsetOfRegressors(InducingTheory):
    """The subset of regressors; the projected process (DTC) predicts the same and claims what ``vfe`` does."""

    name = "sor"
    truth = "sor-simulation"
    title = "Subset of regressors"
    source = _SOURCE + "Smola & Bartlett 2001"
    claims_residual = False


@register
class VariationalFreeEnergy(InducingTheory):
    """The variational approximation, with the mean of the subset of regressors and the variance of the projected process."""

    name = "vfe"
    truth = "vfe-simulation"
    title = "Variational free energy"
    source = _SOURCE + "Titsias 2009"
    claims_residual = True


@register
class IndependentConditionals(InducingTheory):
    """FITC, also known as SPGP: what inducing inputs do not explain is noise at each input."""

    name = "fitc"
    truth = "fitc-simulation"
    title = "Fully independent training conditional"
    source = _SOURCE + "Snelson & Ghahramani 2006"
    approximation = "fitc"
    claims_residual = True
