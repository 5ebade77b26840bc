r"""Simulated data sets of several tasks: the errors of all of them for every n, from one factor.

An example is an input with the number of its task as one more column. The covariance of two of them is :math:`D_{tu}C(x,x')`, and
test inputs of task `t` are compared with as any others, so that the nested factors of one task need nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpcurves.graphs.graph import IntArray
from gpcurves.methods.base import register
from gpcurves.methods.compound import CompoundDataSets, CompoundOptions, CompoundSimulation, LabelSet
from gpcurves.methods.simulation.dataset import ClosedForm, Prior, Test, TestPoints, without_repeats
from gpcurves.methods.tasks.theory import task_details
from gpcurves.montecarlo import Estimate, Run
from gpcurves.numerics.validation import FloatArray
from gpcurves.observations.tasks import TaskLabels
from gpcurves.problem import Problem


@dataclass(frozen=True)
class TaskPrior(Prior):
    """Functions of several tasks; the last column of an input is the number of its task."""

    tasks: TaskLabels

    def between(self, X: FloatArray, Y: FloatArray | None = None) -> FloatArray:
        own, others = _number(X), _number(X if Y is None else Y)
        one = self.inputs.kernel_matrix(self.kernel, X[:, :-1], None if Y is None else Y[:, :-1])
        return np.asarray(one * self.tasks.between[np.ix_(own, others)])

    def variances(self, X: FloatArray) -> FloatArray:
        return self.inputs.variances(self.kernel, X[:, :-1]) * self.tasks.between.diagonal()[_number(X)]

    def observe(self, X: FloatArray) -> FloatArray:
        K = np.ascontiguousarray(self.between(X))
        K.ravel()[:: len(K) + 1] += self.tasks.noises[_number(X)]
        return K.T


def _number(X: FloatArray) -> IntArray:
    return X[:, -1].astype(np.int64)


@dataclass(frozen=True)
class TaskDataSets(CompoundDataSets):
    """Data sets whose labels are divided among tasks."""

    task = "simulation of tasks"

    @property
    def tasks(self) -> TaskLabels:
        assert isinstance(self.problem.observation, TaskLabels)
        return self.problem.observation

    @property
    def names(self) -> tuple[str, ...]:
        return ("error", *(f"error {name}" for name in self.tasks.titles))

    def collect(self, rng: np.random.Generator, test: Test) -> LabelSet:
        problem, tasks = self.problem, self.tasks
        order = tasks.order(max(self.sizes))
        X = np.column_stack((problem.design.draw(problem, len(order), rng), order))
        prior = TaskPrior(problem.kernel, problem.inputs, float(tasks.noises.min()), tasks)
        # without noise an input seen before teaches nothing more; with noise every label does
        noisy = np.where(tasks.noises[order] > 0, np.arange(len(order)) + 1, 0)
        first, known = without_repeats(np.column_stack((X, noisy)))
        variance = problem.true_variance * tasks.between.diagonal()
        tests = {name: (self._of_task(test, t), float(variance[t])) for t, name in enumerate(self.names[1:])}
        return LabelSet(prior, first[:, :-1], {"error": tests[self.names[1 + tasks.goal]], **tests}, known)

    def _of_task(self, test: Test, t: int) -> Test:
        """Return test inputs of one task."""
        column = self.tasks.between[:, t]
        if isinstance(test, TestPoints):
            return TestPoints(np.column_stack((test.points, np.full(len(test.points), float(t)))), test.weights)

        def same(X: FloatArray) -> FloatArray:
            own = column[_number(X)]
            return np.asarray(test.same(X[:, :-1]) * np.multiply.outer(own, own))

        return ClosedForm(same, same)


@register
class TaskSimulation(CompoundSimulation):
    """The truth for several tasks. ``details`` holds the error of every task, and the numbers of labels of each."""

    name = "tasks-simulation"
    title = "average over simulated data sets of several tasks"
    source = "Sollich & Halees 2002, eqs. (3) and (4), for the covariance of tasks and inputs"
    needs = "labels of several tasks, a kernel and inputs, integer n"
    compound = TaskLabels

    def experiment(self, problem: Problem, options: CompoundOptions, run: Run) -> TaskDataSets:
        return TaskDataSets(problem, (), run.seed(), options.test_points)

    def details(self, experiment: TaskDataSets, estimate: Estimate) -> dict[str, FloatArray]:
        order = experiment.tasks.order(max(experiment.sizes))
        counted = np.cumsum(np.arange(len(experiment.tasks.titles)) == order[:, None], axis=0, dtype=np.float64)
        counts = np.concatenate((np.zeros((1, counted.shape[1])), counted))[list(experiment.sizes)]
        means = np.column_stack([estimate.mean(name) for name in experiment.names[1:]])
        spread = {f"stderr {name[6:]}": estimate.stderr(name) for name in experiment.names[1:]}
        return task_details(experiment.tasks, counts, means) | spread
