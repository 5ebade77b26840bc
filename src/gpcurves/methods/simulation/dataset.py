r"""Data sets on vectors: the experiment that draws them, and the error of one for all n, by nested Cholesky factors.

With :math:`K = LL^T` for the inputs in the order in which they were drawn, the leading block of `L` is the factor for
the first `n` of them. So one factorisation gives the error for every `n`, as a cumulative sum
(Sollich & Halees 2002, eq. (3), for all n):

* :math:`\epsilon(D_n) = \mathrm{tr}\Lambda - \sum_{i\le n}(L^{-1}BL^{-T})_{ii}` if `B` has a closed form (`Inputs.overlap`);
* :math:`\epsilon(D_n) = \langle C(x_*,x_*)\rangle - \sum_{i\le n}\langle W_i^2\rangle`, :math:`W = L^{-1}C(X,X_*)`, over
  test points otherwise.

For a teacher with covariance :math:`C_0` and noise :math:`\sigma_0^2` and a student that believes in `C`,
:math:`\epsilon = \langle C_0\rangle - 2\,\mathrm{tr}K^{-1}B_0 + \mathrm{tr}K^{-1}K_0K^{-1}B`, exact given the inputs, with
:math:`B_0 = \langle C(X,x)C_0(x,X)\rangle` and :math:`K_0 = C_0(X,X)+\sigma_0^2`; traces over leading blocks are
cumulative sums too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol, Self

import numpy as np

from gpcurves.graphs.graph import IntArray
from gpcurves.inputs import Box, Inputs
from gpcurves.inputs.base import Overlap
from gpcurves.kernels import Kernel
from gpcurves.montecarlo import Shape, stream
from gpcurves.numerics.cholesky import DIGITS, Factor
from gpcurves.numerics.validation import FloatArray
from gpcurves.problem import Problem
from gpcurves.teacher import Teacher

_ALL = 10**9  # nodes: all inputs if they are finitely many
_ALGORITHM = 1  # changes whenever the numbers of a data set would, so that old stores are not mixed with new results


@dataclass(frozen=True)
class Prior:
    """A covariance function on inputs, with noise, which may differ from input to input."""

    kernel: Kernel
    inputs: Inputs
    noise: float  # the smallest, if it depends on the input
    noise_at: Callable[[FloatArray], FloatArray] | None = field(default=None, kw_only=True)  # None if it does not

    @classmethod
    def of(cls, problem: Problem) -> Prior:
        """Return what the student believes."""
        uneven = problem.observation.uneven
        return cls(problem.kernel, problem.inputs, problem.least_noise, noise_at=problem.noise_at if uneven else None)

    def between(self, X: FloatArray, Y: FloatArray | None = None) -> FloatArray:
        """Return the covariances between the rows of X and those of Y (of X itself if not given)."""
        return self.inputs.kernel_matrix(self.kernel, X, Y)

    def variances(self, X: FloatArray) -> FloatArray:
        """Return the prior variance at the rows of X."""
        return self.inputs.variances(self.kernel, X)

    def observe(self, X: FloatArray) -> FloatArray:
        """Return the covariances of noisy observations, ready for LAPACK."""
        K = np.ascontiguousarray(self.between(X))
        K.ravel()[:: len(K) + 1] += self.noise if self.noise_at is None else self.noise_at(X)
        return K.T  # symmetric, and in LAPACK's order without a copy


@dataclass(frozen=True)
class TruePrior(Prior):
    """The process of the true functions: a kernel, or one function."""

    teacher: Teacher

    def between(self, X: FloatArray, Y: FloatArray | None = None) -> FloatArray:
        return self.teacher.between(self.inputs, X, Y)

    def variances(self, X: FloatArray) -> FloatArray:
        return self.teacher.variances(self.inputs, X)


@dataclass(frozen=True)
class ClosedForm:
    """Average over test inputs in closed form: of the student's kernel with itself, and with the teacher's."""

    same: Overlap
    cross: Overlap


@dataclass(frozen=True)
class TestPoints:
    """Average over test inputs as a weighted sum over points."""

    points: FloatArray
    weights: FloatArray


Test = ClosedForm | TestPoints


@dataclass(frozen=True)
class DataSets:
    """Data sets of a problem on vectors."""

    problem: Problem
    sizes: tuple[int, ...]
    seed: int
    test_points: int  # test inputs per data set, if the average over them has no closed form
    also: tuple[str, ...]  # further averages: "training" and "empirical"
    prior_variance: float  # the average prior variance of the true function, computed once for all workers
    fixed_test: Test | None  # the test average that all data sets share, or None if test points are drawn for each

    def at(self, sizes: FloatArray) -> DataSets:
        """Return the same data sets with other numbers of examples."""
        return replace(self, sizes=tuple(int(size) for size in sizes.tolist()))

    @property
    def key(self) -> Mapping[str, Any]:
        return {
            "task": "simulation",
            "algorithm": _ALGORITHM,
            "problem": self.problem.to_dict(),
            "n": self.sizes,
            "rng": self.seed,
            "test_points": self.test_points,
            "also": self.also,
        }

    @property
    def fields(self) -> Mapping[str, Shape]:
        """The errors, and from which n on test points replaced a closed form."""
        return dict.fromkeys(("error", *self.also), (len(self.sizes),)) | {"replaced": ()}

    def draw(self, task: int) -> Mapping[str, FloatArray | float]:
        return draw_by_size(self, task)

    def draw_nested(self, task: int) -> Mapping[str, FloatArray | float]:
        """Draw one data set, of which the first n examples are the data set of size n."""
        problem = self.problem
        rng = stream(self.seed, task)
        X = problem.design.draw(problem, max(self.sizes), rng)
        test = self.fixed_test or self._draw_test(rng)
        student = Prior.of(problem)
        taught = problem.teacher
        teacher = None if taught is None else TruePrior(problem.true_kernel, problem.inputs, taught.noise, taught)
        known = np.arange(len(X) + 1)  # how many examples teach something, among the first n
        noise_free = problem.observation.gaussian_noise == 0 and teacher is None
        if noise_free:
            X, known = without_repeats(X)
        factor = Factor.from_matrix(student.observe(X))
        curve = errors(student, teacher, factor, X, test, self.prior_variance)[known]
        if noise_free and self._all_inputs is not None:
            curve[known == self._all_inputs] = 0.0  # every possible input has been seen without noise
        chosen = list(self.sizes)
        replaced = math.inf
        if isinstance(test, ClosedForm) and (lost := np.isnan(curve[chosen])).any():
            # the closed form loses its digits first, at low noise: test points keep them for longer
            sampled = errors(student, teacher, factor, X, self._draw_test(rng), self.prior_variance)[known]
            curve = np.where(np.isnan(curve), sampled, curve)
            replaced = min(self.sizes[k] for k in np.flatnonzero(lost))
        results: dict[str, FloatArray | float] = {"error": curve[chosen], "replaced": replaced}
        if self.also:
            also = dict(zip(("training", "empirical"), training_errors(student.noise, factor, len(X)), strict=True))
            results |= {name: also[name][known][chosen] for name in self.also}
        return results

    @cached_property
    def _all_inputs(self) -> int | None:
        """How many different inputs there are, if they are finitely many and all of them are test points."""
        test = self.fixed_test
        if not (isinstance(test, TestPoints) and self.problem.inputs.enumerable and self.problem.test is None):
            return None
        return len(np.unique(test.points[test.weights > 0], axis=0))

    def _draw_test(self, rng: np.random.Generator) -> TestPoints:
        points = self.problem.test_inputs.draw(self.test_points, rng)
        return TestPoints(points, np.full(len(points), 1.0 / len(points)))

    def memory(self) -> float:
        """Return the bytes that one data set needs at most, in matrices of n by n and of n by test points."""
        n = float(max(self.sizes))
        mismatched = self.problem.teacher is not None
        if isinstance(self.fixed_test, ClosedForm):
            matrices = (10 if mismatched else 6) if isinstance(self.problem.inputs, Box) else (7 if mismatched else 3)
            return 8.0 * n * n * max(matrices, 4 if self.also else 0)
        points = self.test_points if self.fixed_test is None else len(self.fixed_test.points)
        return 8.0 * n * (n * (3 if mismatched else 4 if self.also else 1) + points * (5 if mismatched else 3))


class ByNumbers(Protocol):
    """Data sets on vectors, of several numbers of examples."""

    @property
    def problem(self) -> Problem: ...

    @property
    def sizes(self) -> tuple[int, ...]: ...

    def at(self, sizes: FloatArray) -> Self:
        """Return the same data sets with other numbers of examples."""

    def draw_nested(self, task: int) -> Mapping[str, FloatArray | float]:
        """Draw one data set, of which the first n examples are the data set of size n."""


def draw_by_size(experiment: ByNumbers, task: int) -> Mapping[str, FloatArray | float]:
    """Draw one data set for all sizes if the design is nested, and otherwise one for each size.

    Fields along sizes are joined; of single numbers, which are sizes, the smallest counts.
    """
    if experiment.problem.design.nested:
        return experiment.draw_nested(task)
    parts = [experiment.at(np.array([float(n)])).draw_nested(task) for n in experiment.sizes]
    joined: dict[str, FloatArray | float] = {}
    for name, first in parts[0].items():
        values = [np.asarray(part[name]) for part in parts]
        joined[name] = np.concatenate(values) if np.ndim(first) else float(min(values))
    return joined


def exact_test(problem: Problem) -> Test | None:
    """Return a test average without sampling noise, or None if there is none."""
    inputs, kernel, true_kernel = problem.test_inputs, problem.kernel, problem.true_kernel
    if true_kernel is None:
        return TestPoints(*inputs.nodes(_ALL)) if inputs.enumerable else None
    closed, cross = inputs.overlap(kernel, kernel), inputs.overlap(kernel, true_kernel)
    alike = type(inputs).kernel_matrix is type(problem.inputs).kernel_matrix  # or both periodic
    if closed is not None and cross is not None and alike:
        return ClosedForm(closed, cross)
    nodes = inputs.exact_nodes((kernel, true_kernel))
    return None if nodes is None else TestPoints(*nodes)


def without_repeats(X: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return the different rows of X in order, and how many there are among the first 0, 1, …, len(X) rows.

    Without noise an input seen before teaches nothing more, and would make the covariances singular.
    """
    first = np.sort(np.unique(X, axis=0, return_index=True)[1])
    return X[first], np.concatenate(([0], np.cumsum(np.isin(np.arange(len(X)), first))))


def errors(
    student: Prior,
    teacher: Prior | None,
    factor: Factor,
    X: FloatArray,
    test: Test,
    prior_variance: float,
    margin: float = DIGITS,
) -> FloatArray:
    """Return the error after 0, 1, …, len(X) examples; NaN if it does not exceed the rounding errors by a factor."""
    if teacher is None:
        gains = _gains(student, factor, X, test)
    else:
        gains = _mismatched_gains(student, teacher, factor, X, test)
    start = prior_variance
    if isinstance(test, TestPoints):  # at the very points at which the rest is averaged
        start = float(test.weights @ (teacher or student).variances(test.points))
    curve = np.full(len(X) + 1, np.nan)
    curve[0] = prior_variance
    size = factor.size
    curve[1 : size + 1] = start - np.cumsum(gains)
    noise_floor = margin * np.finfo(float).eps * np.arange(len(X) + 1) * prior_variance
    if isinstance(test, ClosedForm):
        noise_floor[1 : size + 1] += margin * _blur(student.noise, factor, X, test, curve[1 : size + 1])
    curve[curve < noise_floor] = np.nan
    return curve


def _blur(noise: float, factor: Factor, X: FloatArray, test: ClosedForm, curve: FloatArray) -> FloatArray:
    r"""Return what rounding errors of `B` may add to the errors: up to their size times :math:`\mathrm{tr}K_n^{-1} \le n/\sigma^2`.

    Unlike those of `K`, they are not damped by the noise, and they matter if it is small.
    """
    rounding = np.finfo(float).eps * max((float(test.same(x[None])[0, 0]) for x in X[: factor.size : 16]), default=0.0)
    with np.errstate(divide="ignore"):
        most = rounding * np.arange(1, factor.size + 1) / np.float64(noise)
    return most if (curve > 2 * DIGITS * most).all() else rounding * factor.inverse_traces()


def _gains(student: Prior, factor: Factor, X: FloatArray, test: Test) -> FloatArray:
    """Return by how much each example lowers the error."""
    if isinstance(test, ClosedForm):
        return factor.whiten(test.same(X)).diagonal().copy()
    W = factor.solve(student.between(X, test.points))
    return np.asarray((W * W) @ test.weights)


def _mismatched_gains(student: Prior, teacher: Prior, factor: Factor, X: FloatArray, test: Test) -> FloatArray:
    A = factor.whiten(teacher.observe(X))
    if isinstance(test, ClosedForm):
        B = test.cross(X)
        mixed = factor.whiten((B + B.T) / 2).diagonal()
        E = np.tril(A) * np.tril(factor.whiten(test.same(X)))
        return np.asarray(2 * mixed - (2 * E.sum(axis=1) - E.diagonal()))
    W = factor.solve(student.between(X, test.points))
    V = factor.solve(teacher.between(X, test.points))
    lower = np.tril(A, -1)
    return np.asarray((2 * W * V - A.diagonal()[:, None] * W * W - 2 * W * (lower @ W)) @ test.weights)


def training_errors(noise: float, factor: Factor, size: int) -> tuple[FloatArray, FloatArray]:
    r"""Return the training error and the empirical error after 0, 1, …, ``size`` examples.

    Against the noisy targets, :math:`\epsilon_t = \sigma^4\,\mathrm{tr}K^{-1}/n`; the posterior variance averaged over
    the training inputs is :math:`\epsilon_{emp} = \sigma^2 - \epsilon_t` (SH02, section 5). Against the clean targets
    the training error is :math:`\epsilon_{emp}` itself. Neither is defined without examples.
    """
    training = np.full(size + 1, np.nan)
    n = np.arange(1, factor.size + 1)
    training[1 : factor.size + 1] = noise**2 * factor.inverse_traces() / n
    return training, noise - training
