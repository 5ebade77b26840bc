r"""The exact error of a regular grid on the torus.

On a grid of `N` points, waves whose difference is a multiple of the number of points per dimension agree. With the sums
:math:`S_q = \sum_m\lambda_{q+km}` and :math:`Q_q = \sum_m\lambda_{q+km}^2` over those that agree with `q`,
:math:`\epsilon = \mathrm{tr}\Lambda - \sum_q NQ_q/(NS_q+\sigma^2)`, which is
:math:`\sum_q(\sigma^2S_q + N(S_q^2-Q_q))/(NS_q+\sigma^2)`, a sum of positive terms.
"""

from __future__ import annotations

import numpy as np

from gpcurves.designs import Grid
from gpcurves.designs.grid import side_of
from gpcurves.errors import NumericalError
from gpcurves.methods.base import Kind, Scope, formula, needs_kernel
from gpcurves.numerics.validation import FloatArray
from gpcurves.problem import Problem

_MOST = 2**22  # points of a grid


def _has_waves(problem: Problem) -> str | None:
    if problem.inputs.fold_waves(problem.kernel, 1) is not None:
        return None
    return "it needs a torus, and an RBF or a Matérn kernel on it"


def _incomplete(problem: Problem, n: FloatArray) -> str | None:
    dim = problem.inputs.dim
    used = side_of(n, dim) ** dim
    wrong = np.flatnonzero(used != n)
    if len(wrong) == 0:
        return None
    return f"a grid in {dim} dimensions has k^{dim} points: of n = {n[wrong[0]]:g} examples it uses {used[wrong[0]]:g}"


def _is_grid(problem: Problem, quantity: str | None = None) -> bool:
    return problem.design == Grid()


def _is_other_problem(problem: Problem) -> bool:
    return not _is_grid(problem)


@formula(
    "grid",
    "regular grid",
    Kind.EXACT,
    scope=Scope.OTHER_PROBLEM,
    promise="exact for inputs on a regular grid",
    source="gpcurves, docs/theory/designs.md",
    needs="a torus with an RBF or Matérn kernel, integer n",
    conditions=(needs_kernel, _has_waves),
    integers=True,
    caution=_incomplete,
    aside=_is_other_problem,
    every_design=_is_grid,
)
def regular_grid(problem: Problem, n: FloatArray) -> FloatArray:
    r"""Return :math:`\sum_q(\sigma^2S_q + N(S_q^2-Q_q))/(NS_q+\sigma^2)` for the largest grid of at most `n` points."""
    noise, dim = problem.noise, problem.inputs.dim
    if n.max(initial=0.0) > _MOST:
        raise NumericalError(f"n must be at most {_MOST:,} on a grid, got {n.max():g}")
    error = np.full(len(n), problem.spectrum.trace)
    for k, side in enumerate(side_of(n, dim).astype(int).tolist()):
        if side == 0:
            continue
        folded = problem.inputs.fold_waves(problem.kernel, side)
        assert folded is not None  # a condition of the method
        sums, mixed = folded
        known = sums > 0  # beyond double precision there is nothing to learn
        points = float(side**dim)
        error[k] = float(((noise * sums + points * mixed)[known] / (points * sums + noise)[known]).sum())
    return error
