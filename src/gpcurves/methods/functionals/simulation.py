r"""Simulated data sets of linear observations, and what one data set of one's own says.

With evaluations `F` at points, whose covariance is `C`, and labels :math:`y = HF+\mathrm{noise}`, everything is as for function values with
:math:`K = HCH^T+R` in place of the covariances of noisy values. The first `n` labels have the leading block of `K` whatever the
noise is, so that one Cholesky factor gives every `n`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpcurves.methods.base import register
from gpcurves.methods.compound import CompoundDataSets, CompoundOptions, CompoundSimulation, LabelSet
from gpcurves.methods.functionals.evaluations import covariance
from gpcurves.methods.functionals.theory import exists
from gpcurves.methods.simulation.dataset import ClosedForm, Prior, Test
from gpcurves.montecarlo import Run
from gpcurves.numerics.validation import FloatArray
from gpcurves.observations.functionals import Functional, LabelRows
from gpcurves.problem import Problem


@dataclass(frozen=True)
class FunctionalPrior(Prior):
    """Labels by their numbers, in a column, as if these were inputs; test inputs are function values."""

    labels: LabelRows

    def between(self, X: FloatArray, Y: FloatArray | None = None) -> FloatArray:
        assert Y is not None
        cross = covariance(self.kernel, self.inputs, self.labels.points, self.labels.components, Y, None)
        return np.asarray(self.labels.weights[X[:, 0].astype(np.int64)] @ cross)

    def observe(self, X: FloatArray) -> FloatArray:
        rows, by = self.labels.weights, self.labels.components
        C = covariance(self.kernel, self.inputs, self.labels.points, by, self.labels.points, by)
        K = np.asarray(rows @ (rows @ C).T)
        K = (K + K.T) / 2
        return np.asfortranarray(K + self.noise * noise_matrix(self.labels))


def noise_matrix(labels: LabelRows) -> FloatArray:
    """Return the covariance of the noise of labels, in units of the noise variance."""
    if labels.mixing is None:
        return np.eye(labels.weights.shape[0])
    return np.asarray((labels.mixing @ labels.mixing.T).toarray())


@dataclass(frozen=True)
class FunctionalDataSets(CompoundDataSets):
    """Data sets of linear observations."""

    task = "simulation of functionals"

    def collect(self, rng: np.random.Generator, test: Test) -> LabelSet:
        problem = self.problem
        observation = problem.observation
        assert isinstance(observation, Functional)
        count = max(1, *self.sizes)
        rows = observation.rows(problem.inputs, count, rng)
        if isinstance(test, ClosedForm):
            test = self.random_test(rng) if rows.components is not None else _mixed(test, rows)
        prior = FunctionalPrior(problem.kernel, problem.inputs, observation.variance, rows)
        numbers = np.arange(float(count))[:, None]
        return LabelSet(prior, numbers, {"error": (test, problem.true_variance)}, np.arange(count + 1))


def _mixed(test: ClosedForm, rows: LabelRows) -> ClosedForm:
    """Return the test average of labels, from that of evaluations, which is computed once."""
    B = rows.weights @ (rows.weights @ test.same(rows.points)).T
    B = (B + B.T) / 2

    def same(X: FloatArray) -> FloatArray:
        chosen = X[:, 0].astype(np.int64)
        return np.asarray(B[np.ix_(chosen, chosen)])

    return ClosedForm(same, same)


@register
class FunctionalSimulation(CompoundSimulation):
    """The truth for linear observations: the error of every data set is exact given its inputs, or its trajectory."""

    name = "functionals-simulation"
    title = "average over simulated data sets of linear observations"
    source = "Sollich & Halees 2002, eqs. (3) and (4); Engel, Mannor & Meir 2005"
    needs = "labels that are linear functionals, a kernel and inputs, integer n"
    compound = Functional
    conditions = (*CompoundSimulation.conditions, exists)

    def answers(self, problem: Problem) -> bool:
        observation = problem.observation
        return isinstance(observation, Functional) and not observation.independent

    def experiment(self, problem: Problem, options: CompoundOptions, run: Run) -> FunctionalDataSets:
        return FunctionalDataSets(problem, (), run.seed(), options.test_points)
