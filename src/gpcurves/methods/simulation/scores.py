r"""Training error, predictive density, evidence and information of simulated data sets on vectors, averaged exactly over labels.

With :math:`K = LL^T` the student's covariances of labels and :math:`A = L^{-1}K_0L^{-T}` the true ones, seen by the student, the
negative log evidence of the first `n` labels is :math:`\frac12\sum_{i\le n}(\ln 2\pi L_{ii}^2 + A_{ii})`. The term of the next example
is its predictive density, so that one data set gives both for every `n`; the information about the function is
:math:`\frac12\ln\det(1+K/\sigma^2) = \sum_{i\le n}\ln(L_{ii}/\sigma)`, with `K` without noise there. The training error is
:math:`\frac{\sigma^4}{n}\mathrm{tr}K^{-1}K_0K^{-1} = \frac{\sigma^4}{n}\sum_{ij\le n}(L^{-1}L^{-T})_{ij}A_{ij}`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gpcurves.methods.simulation.dataset import Prior, TruePrior, draw_by_size
from gpcurves.montecarlo import Shape, stream
from gpcurves.numerics.cholesky import Factor, invert_lower
from gpcurves.numerics.validation import FloatArray
from gpcurves.problem import Problem

SCORES = ("training", "nlpd", "evidence", "information")


@dataclass(frozen=True)
class Scores:
    """One of the scores of data sets of a problem on vectors."""

    problem: Problem
    sizes: tuple[int, ...]
    seed: int
    quantity: str

    def at(self, sizes: FloatArray) -> Scores:
        """Return the same data sets with other numbers of examples."""
        return replace(self, sizes=tuple(int(size) for size in sizes.tolist()))

    @property
    def key(self) -> Mapping[str, Any]:
        about = {"problem": self.problem.to_dict(), "n": self.sizes, "rng": self.seed}
        return {"task": "simulated score", "algorithm": 1, "quantity": self.quantity, **about}

    @property
    def fields(self) -> Mapping[str, Shape]:
        return {"error": (len(self.sizes),)}

    def draw(self, task: int) -> Mapping[str, FloatArray | float]:
        return draw_by_size(self, task)

    def draw_nested(self, task: int) -> Mapping[str, FloatArray | float]:
        """Draw one data set, of which the first n examples are the data set of size n."""
        problem = self.problem
        more = 1 if self.quantity == "nlpd" else 0  # one more is the test input
        X = problem.design.draw(problem, max(self.sizes) + more, stream(self.seed, task))
        student = Prior(problem.kernel, problem.inputs, problem.noise)
        factor = Factor.from_matrix(student.observe(X))
        A = np.eye(factor.size)
        if (taught := problem.teacher) is not None:
            lower = factor.whiten(TruePrior(problem.true_kernel, problem.inputs, taught.noise, taught).observe(X))
            A = np.tril(lower)
        curve = np.full(len(X) + 1, np.nan)
        if self.quantity == "training":
            inverse = np.tril(invert_lower(factor.L))
            E = np.tril(inverse @ inverse.T) * A
            traces = np.cumsum(2 * E.sum(axis=1) - E.diagonal())
            curve[1 : factor.size + 1] = problem.noise**2 * traces / np.arange(1, factor.size + 1)
        elif self.quantity == "information":
            terms = np.log(factor.L.diagonal()) - np.log(problem.noise) / 2
            curve[: factor.size + 1] = np.concatenate(([0.0], np.cumsum(terms)))
        else:
            terms = (np.log(2 * np.pi * factor.L.diagonal() ** 2) + A.diagonal()) / 2
            if self.quantity == "nlpd":
                curve[: factor.size] = terms
            else:
                curve[: factor.size + 1] = np.concatenate(([0.0], np.cumsum(terms)))
        return {"error": curve[list(self.sizes)]}

    def memory(self) -> float:
        """Return the bytes that one data set needs at most."""
        return 48.0 * (max(self.sizes) + 1.0) ** 2
