"""The method ``simulation``: draw data sets, average, and say how sure the average is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from gpcurves.curve import LearningCurve
from gpcurves.errors import InputError, NotApplicableError, unknown_name
from gpcurves.inputs import Box, Discrete, Gaussian, Inputs, Sample
from gpcurves.kernels import Kernel
from gpcurves.kernels.dotproduct import DotProduct
from gpcurves.methods.base import METHODS, Kind, register
from gpcurves.methods.simulation.dataset import (
    ClosedForm,
    Factor,
    Prior,
    Test,
    TestPoints,
    errors,
    training_errors,
    without_repeats,
)
from gpcurves.methods.simulation.overlap import overlap
from gpcurves.montecarlo import Interrupted, Settings, run, seed_of, stream
from gpcurves.montecarlo.seeds import Rng
from gpcurves.numerics.memory import check_memory
from gpcurves.numerics.validation import FloatArray, positive, whole
from gpcurves.problem import AnyProblem, Problem, SpectrumProblem

SIMULATION = "simulation"
QUANTILES = {"q05": 0.05, "q25": 0.25, "q50": 0.5, "q75": 0.75, "q95": 0.95}
_FIRST_ROUND = 32
_MOST_DATASETS = 100_000
_DATASETS = 200
_TEST_POINTS = 1_000
_MOST_WEIGHTED_POINTS = 4_000
_ALGORITHM = 1
"""Changes whenever the numbers of a data set would, so that old stores are not mixed with new results."""


@dataclass(frozen=True)
class DataSets:
    """The work of the engine: the curve of the data set with a given number, as one row."""

    problem: Mapping[str, Any]
    sizes: tuple[int, ...]
    seed: int
    test_points: int
    also: tuple[str, ...]
    _problem: Problem = field(repr=False)
    _prior_variance: float

    @property
    def description(self) -> Mapping[str, Any]:
        """Everything that determines a row."""
        return {
            "task": SIMULATION,
            "algorithm": _ALGORITHM,
            "problem": self.problem,
            "n": list(self.sizes),
            "rng": self.seed,
            "test_points": self.test_points,
            "also": list(self.also),
        }

    @property
    def width(self) -> int:
        """Length of a row: one value per n and quantity, and from which n on test points replaced a closed form."""
        return len(self.sizes) * (1 + len(self.also)) + 1

    @cached_property
    def _fixed_test(self) -> Test | None:
        """The test average that is the same for every data set, or None where test points are drawn for each."""
        return exact_test(self._problem)

    @property
    def exact(self) -> bool:
        """Whether the average over test inputs is exact."""
        return self._fixed_test is not None

    def __call__(self, task: int) -> FloatArray:
        """Draw a data set and return its errors at the sizes asked for."""
        problem = self._problem
        rng = stream(self.seed, task)
        X = problem.inputs.draw(max(self.sizes), rng)
        test = self._fixed_test or self._drawn_test(rng)
        student = Prior(problem.kernel, problem.inputs, problem.noise)
        teacher = None
        if problem.teacher is not None:
            teacher = Prior(problem.true_kernel, problem.inputs, problem.teacher.noise)
        known = np.arange(len(X) + 1)  # how many examples teach something, among the first n
        if problem.noise == 0 and teacher is None:
            X, known = without_repeats(X)
        factor = Factor.of(student.observed(X))
        curve = errors(student, teacher, factor, X, test, self._prior_variance)[known]
        if problem.noise == 0 and teacher is None and self._all_inputs is not None:
            curve[known == self._all_inputs] = 0.0  # every possible input has been seen without noise
        replaced = math.inf
        if isinstance(test, ClosedForm) and (lost := np.isnan(curve[list(self.sizes)])).any():
            # the closed form loses its digits first, at low noise: test points keep them for longer
            sampled = errors(student, teacher, factor, X, self._drawn_test(rng), self._prior_variance)[known]
            curve = np.where(np.isnan(curve), sampled, curve)
            replaced = min(self.sizes[place] for place in np.flatnonzero(lost))
        rows = [curve]
        if self.also:
            training, empirical = training_errors(problem.noise, factor, len(X))
            rows += [{"training": training, "empirical": empirical}[name][known] for name in self.also]
        return np.append(np.concatenate([row[list(self.sizes)] for row in rows]), replaced)

    @cached_property
    def _all_inputs(self) -> int | None:
        """How many different inputs there are, where they are finitely many and all of them are test points."""
        test, inputs = self._fixed_test, self._problem.inputs
        if not (isinstance(test, TestPoints) and isinstance(inputs, Discrete | Sample)):
            return None
        return len(np.unique(test.points[test.weights > 0], axis=0))

    def _drawn_test(self, rng: np.random.Generator) -> TestPoints:
        points = self._problem.inputs.draw(self.test_points, rng)
        return TestPoints(points, np.full(len(points), 1.0 / len(points)))


def exact_test(problem: Problem) -> Test | None:
    """Return a test average without sampling noise, where there is one."""
    true_kernel = problem.true_kernel
    closed = overlap(problem.kernel, problem.kernel, problem.inputs)
    cross = overlap(problem.kernel, true_kernel, problem.inputs)
    if closed is not None and cross is not None:
        return ClosedForm(closed, cross)
    nodes = _exact_nodes(problem.inputs, (problem.kernel, true_kernel))
    return None if nodes is None else TestPoints(*nodes)


def _exact_nodes(inputs: Inputs, kernels: Sequence[Kernel]) -> tuple[FloatArray, FloatArray] | None:
    """Return points that average exactly: all of a finite set, or a rule that is exact for polynomial kernels."""
    if isinstance(inputs, Discrete | Sample) and len(inputs.points) <= _MOST_WEIGHTED_POINTS:
        return inputs.nodes(len(inputs.points))
    if isinstance(inputs, Box | Gaussian) and inputs.dim <= 3 and all(isinstance(k, DotProduct) for k in kernels):
        each = max(k.power() for k in kernels if isinstance(k, DotProduct)) + 1
        if each**inputs.dim <= _MOST_WEIGHTED_POINTS:
            return inputs.nodes(each**inputs.dim)
    return None


def _given_in_full(problem: AnyProblem) -> str | None:
    bare = isinstance(problem, SpectrumProblem)
    return "it needs the kernel and the inputs, and a bare spectrum has neither" if bare else None


@register(
    SIMULATION,
    "average over simulated data sets",
    Kind.ESTIMATE,
    promise="the truth, up to its standard error",
    source="Sollich & Halees 2002, eqs. (3) and (4)",
    needs="a kernel and inputs, whole n; or a graph or an ensemble of graphs",
    conditions=(_given_in_full,),
    continuous=False,
    matched=False,
    axes=("n", "nu"),
)
def _average(problem: AnyProblem, n: FloatArray) -> FloatArray:
    return simulate(problem, n, rng=0).error


def simulate(
    problem: AnyProblem,
    n: FloatArray,
    *,
    datasets: int | None = None,
    precision: float | None = None,
    rng: Rng = None,
    test_points: int = _TEST_POINTS,
    also: Sequence[str] = (),
    workers: int | str = 1,
    store: Any = None,
    progress: bool | None = None,
) -> LearningCurve:
    """Return the average error over data sets, with its standard error and quantiles over data sets.

    Parameters
    ----------
    problem
        What to simulate; a bare spectrum cannot be.
    n
        Whole numbers of examples.
    datasets
        How many data sets to draw, 200 unless given; with ``precision`` the most that may be drawn.
    precision
        Draw until the standard error is this fraction of the error at every n.
    rng
        Seed: the same seed gives the same numbers, whoever computes them.
    test_points
        Test inputs per data set, where the average over them has no closed form.
    also
        Further averages to put into ``details``: "training" (error against the noisy training targets) and
        "empirical" (posterior variance averaged over the training inputs).
    workers, store, progress
        How to run, see `gpcurves.montecarlo.Settings`; they change no number.
    """
    goal = None if precision is None else positive("precision", precision)
    work, count = _checked(problem, n, datasets, precision, rng, test_points, also)
    _check_memory(work, workers)
    gauge = partial(precision_reached, len(work.sizes))
    options: dict[str, Any] = {"test_points": None if work.exact else test_points}
    if precision is not None:
        options["precision"] = precision
    if datasets is not None or precision is None:
        options["datasets"] = datasets or _DATASETS
    if also:
        options["also"] = list(also)
    settings = Settings(workers, store, progress)
    most = (datasets or _MOST_DATASETS) if precision is not None else count
    try:
        rows = run(work, count, settings, gauge, goal, most)
    except Interrupted as stop:
        if len(stop.results) < 2:
            raise
        curve = _curve(work, stop.results, options, (f"interrupted after {len(stop.results)} data sets",))
        raise SimulationInterrupted(curve) from None
    notes: tuple[str, ...] = ()
    if goal is not None and (reached := gauge(rows)) > goal:
        notes = (f"a precision of {reached:.2g} was reached with {len(rows)} data sets, not {goal:g}",)
    return _curve(work, rows, options, notes)


class SimulationInterrupted(KeyboardInterrupt):
    """Ctrl-C during a simulation; carries the curve of the data sets that were finished."""

    def __init__(self, curve: LearningCurve) -> None:
        super().__init__("interrupted")
        self.curve = curve


def _checked(
    problem: AnyProblem,
    n: FloatArray,
    datasets: int | None,
    precision: float | None,
    rng: Rng,
    test_points: int,
    also: Sequence[str],
) -> tuple[DataSets, int]:
    reason = METHODS[SIMULATION].objection(problem, n)
    if reason is not None:
        raise NotApplicableError(f"method {SIMULATION!r} does not apply: {reason}")
    assert isinstance(problem, Problem)  # a condition of the method
    for name in also:
        if name not in ("training", "empirical"):
            raise unknown_name("quantity", name, ("training", "empirical"))
    if also and problem.teacher is not None:
        raise InputError("training and empirical errors are only defined where student and teacher agree")
    count = _DATASETS if precision is None else _FIRST_ROUND
    if datasets is not None:
        count = min(count, whole("datasets", datasets, 2)) if precision is not None else whole("datasets", datasets, 2)
    work = DataSets(
        problem.to_dict(),
        tuple(int(size) for size in n.tolist()),
        seed_of(rng),
        whole("test_points", test_points, 1),
        tuple(also),
        Problem(problem.kernel, problem.inputs, problem.noise, problem.teacher),  # without its cached spectrum
        problem.true_variance,
    )
    return work, count


def precision_reached(sizes: int, rows: FloatArray) -> float:
    """Return the largest standard error relative to its error, over all n where the error is known."""
    errors = rows[:, :sizes]
    mean, spread = errors.mean(axis=0), errors.std(axis=0, ddof=1) / math.sqrt(len(errors))
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.nanmax(np.where(mean > 0, spread / mean, 0.0), initial=0.0))


def _check_memory(work: DataSets, workers: int | str) -> None:
    """Refuse what this machine cannot hold; a cluster must know for itself."""
    needed = memory(work) * (int(workers) if str(workers).isdecimal() and str(workers).isascii() else 1)
    check_memory(
        needed,
        f"a simulation of n = {max(work.sizes)} with {workers} worker(s)",
        "ask for a smaller n or fewer workers",
    )


def memory(work: DataSets) -> float:
    """Return the bytes that one data set needs at most, in matrices of n by n and of n by test points."""
    n = float(max(work.sizes))
    mismatched = work._problem.teacher is not None
    if isinstance(work._fixed_test, ClosedForm):
        matrices = (10 if mismatched else 6) if isinstance(work._problem.inputs, Box) else (7 if mismatched else 3)
        return 8.0 * n * n * max(matrices, 4 if work.also else 0)
    points = work.test_points if work._fixed_test is None else len(work._fixed_test.points)
    return 8.0 * n * (n * (3 if mismatched else 4 if work.also else 1) + points * (5 if mismatched else 3))


def _curve(work: DataSets, rows: FloatArray, options: Mapping[str, Any], notes: tuple[str, ...]) -> LearningCurve:
    n = np.array(work.sizes, dtype=np.float64)
    blocks = dict(zip((SIMULATION, *work.also), np.split(rows[:, :-1], 1 + len(work.also), axis=1), strict=True))
    if np.isfinite(replaced := rows[:, -1].min()):
        notes = (
            *notes,
            f"from n = {replaced:g} on the average over test inputs is over {work.test_points} random ones in some data "
            "sets: its closed form loses too many digits there",
        )
    means, spread = {}, {}
    for name, block in blocks.items():
        beside = block - block[0]  # what is the same for all data sets has no spread, and a mean without rounding
        means[name] = block[0] + beside.mean(axis=0)
        spread[name] = beside.std(axis=0, ddof=1) / math.sqrt(len(block))
    details = {key: np.quantile(blocks[SIMULATION], level, axis=0) for key, level in QUANTILES.items()}
    for name in work.also:
        details |= {name: means[name], f"{name}_stderr": spread[name]}
    return LearningCurve(
        SIMULATION,
        n,
        means[SIMULATION],
        work._problem,
        stderr=spread[SIMULATION],
        options={**options, "drawn": len(rows)},
        rng=work.seed,
        notes=(*notes, *remarks(n, means[SIMULATION], spread[SIMULATION])),
        details=details,
    )


def remarks(n: FloatArray, mean: FloatArray, spread: FloatArray, axis: str = "n") -> list[str]:
    """Say where values are missing, and where the error rises with more examples."""
    said = []
    if np.isnan(mean).any():
        first = n[np.isnan(mean)].min()
        said.append(
            f"from {axis} = {first:g} on double precision cannot resolve the error of every data set: no value is given there"
        )
    order = np.argsort(n)
    known = order[~np.isnan(mean[order])]
    lowest = np.minimum.accumulate(mean[known] + 2 * spread[known])
    rise = mean[known] - 2 * spread[known] - lowest  # beyond what four standard errors explain
    if len(rise) and rise.max() > 1e-12 * mean[known].max():
        worst = known[np.argmax(rise)]
        said.append(f"the curve is not monotonic: the error rises with more examples near {axis} = {n[worst]:g}")
    return said
