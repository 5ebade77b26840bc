"""The method ``local``: learning curves by local theory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpcurves.graphs import Graph
from gpcurves.methods.base import Kind, Method, MethodOptions, Result, needs_kernel, register
from gpcurves.methods.cavity.method import has_messages
from gpcurves.methods.local.theory import MOST_DENSE, Theory, theory_of
from gpcurves.methods.simulation.method import at_least, spare_dense_algebra
from gpcurves.montecarlo import Run
from gpcurves.numerics.parameters import parameter
from gpcurves.numerics.validation import FloatArray
from gpcurves.problem import Problem

_LINE, _NODES, _ROWS, _RANK = 600, 1_200, 4_000, 300  # in one dimension, in several, of a table, and features
_SAID = 0.005  # relative uncertainty of an average over nodes that is worth a sentence
_QUANTILES = {"place_q05": 0.05, "place_q50": 0.5, "place_q95": 0.95}


@dataclass(frozen=True)
class LocalOptions(MethodOptions):
    """How finely inputs are resolved."""

    nodes: int | None = parameter(
        None,
        help=f"Places at which the error of local theory is computed  [{_LINE} in one dimension, {_NODES} in several, and up to "
        f"{_ROWS} rows of a sample]",
        check=at_least(2),
        axis="n",
    )
    rank: int = parameter(
        _RANK, help="Maximum number of features that represent the kernel between places", check=at_least(1), axis="n"
    )

    def count(self, problem: Problem) -> int:
        """Return the number of nodes."""
        return self.nodes or (_ROWS if problem.inputs.enumerable else _LINE if problem.inputs.dim == 1 else _NODES)


def _noisy(problem: Problem) -> str | None:
    """Return why labels have too little noise, or None."""
    return "the noise must be greater than 0, got 0" if problem.observation.gaussian_noise == 0 else None


def _given_graph(problem: Problem) -> str | None:
    """Return why there are no vertices to tell apart, or no messages between so many, or None."""
    if problem.axis == "n":
        return None
    if not isinstance(problem.graph, Graph):
        return "it needs a given graph, but this is an ensemble"
    return has_messages(problem) if problem.graph.vertices > MOST_DENSE else None


@register
class Local(Method[tuple[Theory, Theory | None]]):
    """Local theory: one error for every place, from which the information of labels there follows.

    ``details`` holds "place_q05", "place_q50" and "place_q95": the error that 5, 50 and 95 % of the test inputs stay below, each
    averaged over data sets. ``diagnostics`` holds "converged" and "rounds" for every size. `local_errors` returns the error at every
    place.
    """

    name = "local"
    title = "local theory: the error at every place"
    kind = Kind.APPROXIMATION
    promise = "exact to first order in n, too low at low noise; not a bound"
    source = "Malzahn & Opper 2003; Urry & Sollich 2013, footnote 4"
    needs = "noise > 0, a kernel and inputs, or a given graph; noise, labelling and test inputs may be uneven"
    conditions = (needs_kernel, _noisy, _given_graph)
    axes = ("n", "nu")
    any_labels = True
    uneven = True
    costly = True
    Options = LocalOptions

    def answers(self, problem: Problem) -> bool:
        return problem.axis == "n"  # for problems that methods before it refuse

    def spare(self, problem: Problem) -> str | None:
        if problem.axis == "n":
            # all places are alike then, so that it equals lc, which needs no words
            return "" if problem.inputs.homogeneous(problem.kernel) and problem.uneven is None else None
        vertices = problem.examples_per_size
        return spare_dense_algebra(problem) if vertices <= MOST_DENSE else None

    def prepare(self, problem: Problem, options: LocalOptions, run: Run) -> tuple[Theory, Theory | None]:
        count = 0 if problem.axis == "nu" else options.count(problem)
        theory = theory_of(problem, count, options.rank)
        coarser = None if theory.whole or count < 4 else theory_of(problem, count // 2, max(1, options.rank // 2))
        return theory, coarser

    def evaluate(self, state: tuple[Theory, Theory | None], sizes: FloatArray) -> Result:
        theory, coarser = state
        error, spread, about = _curve(theory, sizes)
        notes = []
        uncertainty = None
        if coarser is not None:
            uncertainty = abs(_curve(coarser, sizes)[0] - error)
            relative = uncertainty / error
            if (worst := int(np.argmax(relative))) is not None and relative[worst] > _SAID:
                notes.append(
                    f"the average over {len(theory.X):,} places is uncertain by up to {100 * relative[worst]:.2g} % (at n = "
                    f"{sizes[worst]:g}): more nodes resolve it better"
                )
        if not about["converged"].all():
            stuck = sizes[about["converged"] < 1][0]
            notes.append(f"the fixed point was not reached at {theory.problem.axis} = {stuck:g}")
        if theory.problem.axis == "nu" and not theory.whole:
            notes.append("the variances are by belief propagation, which is approximate on graphs with cycles")
        details = dict(zip(_QUANTILES, spread.T, strict=True))
        return Result(error, spectrum_error=uncertainty, details=details, diagnostics=about, notes=tuple(notes))


def _curve(theory: Theory, sizes: FloatArray) -> tuple[FloatArray, FloatArray, dict[str, Any]]:
    """Return averages and quantiles over places at each size, and how the fixed points were found."""
    error, spread = np.empty(len(sizes)), np.empty((len(sizes), len(_QUANTILES)))
    about: dict[str, Any] = {name: np.ones(len(sizes)) for name in ("converged", "rounds")}
    theory.found.clear()  # so that numbers do not depend on what was asked before
    for k in np.argsort(sizes, kind="stable").tolist():
        local, point = theory.errors(float(sizes[k]))
        error[k] = theory.test @ local
        spread[k] = _quantiles(local, theory.test)
        about["converged"][k] = point is None or point.converged
        about["rounds"][k] = 0 if point is None else point.rounds
    return error, spread, about


def _quantiles(values: FloatArray, weights: FloatArray) -> FloatArray:
    order = np.argsort(values, kind="stable")
    middle = np.cumsum(weights[order]) - weights[order] / 2
    return np.interp(list(_QUANTILES.values()), middle, values[order])
