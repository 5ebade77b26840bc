"""Goals: how many examples an error needs, by one method or by all curves of a set, and the one sentence that answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from gpcurves.api import default_method, quantity_of, read_run, request_curves
from gpcurves.curve import CurveSet, LearningCurve
from gpcurves.errors import GoalUnreachableError, InputError, NumericalError
from gpcurves.graphs import Graph
from gpcurves.inputs import Vertices
from gpcurves.methods import METHODS, Kind, Method, MethodName, Scope
from gpcurves.methods.base import Request
from gpcurves.numerics.validation import FloatArray, positive
from gpcurves.observations import Observation
from gpcurves.problem import Problem, as_problem
from gpcurves.quantities import MSE, QUANTITIES
from gpcurves.spectra import Spectrum

Errors = Callable[[FloatArray], FloatArray]  # returns the error at each size
MOST_EXAMPLES = 1e12  # where the search for a required n gives up
_DECADES = ((0.0, 1e3), (1e3, 1e6), (1e6, 1e9), (1e9, MOST_EXAMPLES))
_MOST_SIMULATED, _MOST_PER_VERTEX = 5_000.0, 1_000.0  # how far random methods are searched on vectors, on graphs
_FEW_SIMULATED = 500.0  # how far a simulated curve is continued at least: beyond, the time grows as the third power


@dataclass(frozen=True)
class Goal:
    """What a goal, an error to reach, needs by each curve of a set."""

    error: float
    axis: str  # what sizes are: "n" examples, or "nu" examples per vertex of a graph
    needed: Mapping[str, float]  # the size at which a curve reaches the goal, by its label
    missing: Mapping[str, str]  # why a curve does not reach it, by its label
    sentence: str  # the answer
    seen: Mapping[str, Sequence[LearningCurve]] = field(default_factory=dict)  # what the search computed, by label


def required_n(
    problem: Problem | Spectrum,
    error: float,
    method: MethodName | Method[Any] | None = None,
    *,
    noise: float | Observation | None = None,
    quantity: Any = MSE.name,
    noisy: Any = False,
    **options: Any,
) -> int:
    """Return the smallest number of examples at which the method's error is at most ``error``.

    Parameters
    ----------
    problem
        A problem on vectors or on a given graph, or a bare spectrum with ``noise``.
    error
        The mean squared error to reach, against the noise-free function, or what ``quantity`` names.
    method
        By default "lc"; on a given graph "simulation" if the graph is small and "cavity" if it is large, because eigenvalue
        theory is too optimistic at low noise; if inputs are chosen, "simulation", or "grid" for a regular grid on the
        torus. On a graph the answer is in labels; an ensemble has no number of labels.
    noise
        Noise variance, for a bare spectrum only.
    quantity : str
        What ``error`` is: "mse", or another quantity that falls with more examples, such as an error rate.
    noisy : bool
        Measure the error against noisy targets instead of the noise-free function: short for the quantity "noisy-mse".
    **options
        Options of a random method, and its seed ``rng``.

    Raises
    ------
    GoalUnreachableError
        If the error stays above the goal for every size that is searched.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> problem = gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=1), noise=0.05)
    >>> gpc.required_n(problem, error=0.01, method="lc")
    63
    """
    asked = as_problem(problem, noise)
    chosen = METHODS[default_method(asked) if method is None else method]
    if asked.ensemble is not None:
        raise InputError(
            "graphs of an ensemble have no fixed size, so a goal is given in examples per vertex: "
            "learning_curve(...).reaches(error) finds them on a curve, and --goal on the command line solves for them"
        )
    given = {name: value for name, value in options.items() if value is not None}
    what = quantity_of(quantity, noisy)
    if not what.falls:
        raise InputError(f"a goal needs a quantity that always falls with more examples, which {what.name} does not")
    run = read_run({"rng": 0} | given)
    (request,), _ = request_curves(asked, np.zeros(1), [chosen], given, run, quantity=what.name)
    return math.ceil(required_size(request, positive("error", error)) * asked.examples_per_size - 1e-9)


def required_size(
    request: Request, goal: float, most: float | None = None, seen: list[LearningCurve] | None = None
) -> float:
    """Return the smallest size, along the axis of the problem, at which the method's error is at most the goal.

    ``most`` is how far a random method is searched, and what it computes on the way is added to ``seen``.
    """
    problem = request.problem

    def errors(sizes: FloatArray) -> FloatArray:
        curve = request.curve(sizes)
        if len(curve.sizes) != len(sizes):
            raise GoalUnreachableError(
                f"method {request.method.name!r} has several numbers of inducing points: ask for one m"
            )
        if request.draws and seen is not None:
            seen.append(curve)
        return curve.error

    if request.draws or problem.ensemble is not None:
        most = most or (_MOST_SIMULATED if problem.axis == "n" else _MOST_PER_VERTEX)
        return _search(problem, request.method, goal, errors, most)
    first = _first_reached(request, goal, lambda n: errors(n / problem.examples_per_size))
    if first is None:
        most = MOST_EXAMPLES / problem.examples_per_size
        raise _unreachable(request.method, goal, most, float(errors(np.array([most]))[0]), problem.axis)
    return first / problem.examples_per_size


def _first_reached(request: Request, goal: float, errors: Errors) -> int | None:
    """Search for the first integer n at or below the goal, taking the error to fall with n."""
    problem, explicit = request.problem, request.method.explicit
    plain = request.quantity == MSE.name and problem.teacher is None  # what the explicit solution is about
    if plain and explicit is not None and goal < problem.spectrum.trace:  # up to rounding
        about = np.floor(explicit(problem, goal) * (1 - 1e-12))
        near = np.maximum(about + np.arange(-1.0, 3.0), 0.0)
        reached = near[-1] <= MOST_EXAMPLES and errors(near) <= goal
        return int(near[np.argmax(reached)]) if np.any(reached) else None
    first_grid, finer = (8, 6) if request.method.costly else (40, 64)
    for low, high in _DECADES:
        grid = np.unique(np.floor(np.geomspace(max(low, 1.0), high, first_grid)))
        grid = np.concatenate(([0.0], grid)) if low == 0 else grid
        while (reached := errors(grid) <= goal).any():
            first = int(np.argmax(reached))
            if first == 0 or grid[first] - grid[first - 1] <= 1:
                return int(grid[first])
            grid = np.unique(np.floor(np.linspace(grid[first - 1], grid[first], finer)))
    return None


def _search(problem: Problem, method: Method[Any], goal: float, errors: Errors, most: float) -> float:
    """Bracket the goal on a growing grid and refine it; random methods use the same data sets on every grid."""
    smallest = 1 / problem.examples_per_size if problem.ensemble is None else 1e-3
    low, high = 0.0, max(smallest, min(100.0 if problem.axis == "n" else 1.0, most))
    grid = _sizes_between(0.0, high, 8, problem)
    while True:
        values = errors(grid)
        reached = np.nan_to_num(values, nan=np.inf) <= goal
        if reached.any():
            break
        if high >= most:
            raise _unreachable(method, goal, high, float(values[-1]), problem.axis)
        low, high = high, min(4 * high, most)
        grid = _sizes_between(low, high, 6, problem)
    for _ in range(2):
        first = int(np.argmax(reached))
        if first == 0:
            return float(grid[0])
        finer = _sizes_between(grid[first - 1], grid[first], 6, problem)
        if len(finer) <= 2:
            break
        grid, values = finer, errors(finer)
        reached = np.nan_to_num(values, nan=np.inf) <= goal
        if not reached.any():  # a random error that rises a little at the end of the bracket
            return float(grid[-1])
    curve = LearningCurve(cast(MethodName, method.name), grid, np.nan_to_num(values, nan=np.inf), problem)
    size = curve.reaches(goal)
    return float(grid[-1] if size is None else size)


def _sizes_between(low: float, high: float, count: int, problem: Problem) -> FloatArray:
    """Return sizes from low to high; on vectors and on a given graph they are integer numbers of examples."""
    per_unit = problem.examples_per_size
    start = max(low, high / 64) if low == 0 else low
    grid = np.geomspace(start, high, count)
    if isinstance(problem.inputs, Vertices) or problem.axis == "n":
        grid = np.rint(grid * per_unit) / per_unit
    return np.unique(np.concatenate(([low], grid)))


def _unreachable(method: Method[Any], goal: float, most: float, floor: float, axis: str) -> GoalUnreachableError:
    what = "examples" if axis == "n" else "examples per vertex"
    return GoalUnreachableError(
        f"method {method.name!r} does not reach the error {goal:g} within {most:g} {what}: there it is {floor:.4g}"
    )


def answer_goal(curves: CurveSet, requests: Sequence[Request], error: float) -> Goal:
    """Return how many examples an error needs by each curve of a set, computed as requested, and the sentence that answers."""
    needed: dict[str, float] = {}
    missing: dict[str, str] = {}
    seen: dict[str, list[LearningCurve]] = {label: [] for label in curves}
    for (label, curve), request in zip(curves.items(), requests, strict=True):
        far = max(_FEW_SIMULATED, float(curve.sizes.max())) if curve.axis == "n" else None
        try:
            size = required_size(request, error, far, seen[label])
        except (GoalUnreachableError, NumericalError) as reason:
            if isinstance(reason, NumericalError) and not request.spares(reason):
                raise
            missing[label] = str(reason)
            continue
        per_unit = request.problem.examples_per_size
        # the number of examples is an integer; examples per vertex of an ensemble are any number
        needed[label] = size if request.problem.ensemble is not None else math.ceil(size * per_unit - 1e-9) / per_unit
    what = QUANTITIES[requests[0].quantity].one
    return Goal(error, curves.axis, needed, missing, _sentence(curves, error, needed, what), seen)


def _sentence(curves: CurveSet, error: float, needed: Mapping[str, float], what: str) -> str:
    """Say what approximations expect, what is certain, and what the simulated truth needs."""
    unit = unit_of(curves)
    by_kind: dict[Kind, list[float]] = {}
    for label, size in needed.items():
        method = METHODS[curves[label].method]
        if method.scope in (Scope.AVERAGE, Scope.EVERY_DATASET):
            by_kind.setdefault(Kind(method.kind), []).append(size * curves[label].problem.examples_per_size)
    parts = []
    for kind, source in ((Kind.ESTIMATE, "simulation"), (Kind.EXACT, "exact"), (Kind.APPROXIMATION, "approximations")):
        if kind in by_kind:
            low, high = _round(min(by_kind[kind])), _round(max(by_kind[kind]))
            parts.append(f"{source}: {low if low == high else f'{low} to {high}'} {unit}")
    # no curve below a lower bound, none above an upper bound: the tightest of each count
    least, enough = by_kind.get(Kind.LOWER_BOUND), by_kind.get(Kind.UPPER_BOUND)
    if least and enough:
        parts.append(f"rigorous: between {_exact(max(least), curves.axis)} and {_exact(min(enough), curves.axis)}")
    elif least:
        parts.append(f"rigorous: at least {_exact(max(least), curves.axis)}")
    elif enough:
        parts.append(f"rigorous: at most {_exact(min(enough), curves.axis)}")
    if not parts and needed:
        others = ", ".join(f"{label} {_round(size)}" for label, size in needed.items())
        return f"No curve of this problem reaches {what} of {error:g}; for a modified problem, {others} {unit}."
    if not parts:
        return f"No curve reaches {what} of {error:g}."
    warning = ""
    if all(METHODS[curves[label].method].optimistic for label in needed):
        better = default_method(curves[next(iter(needed))].problem).name
        warning = f" Eigenvalue theory underestimates this number if noise is low: compare the method {better}."
    return f"For {what} of {error:g}, {'; '.join(parts)}.{warning}"


def unit_of(curves: CurveSet) -> str:
    """Return what goals are counted in, in words."""
    if curves.axis == "n":
        return "examples"
    graph, *others = {id(curve.problem.graph): curve.problem.graph for curve in curves.values()}.values()
    if isinstance(graph, Graph) and not others:
        return f"labels (of {graph.vertices:,} vertices)"
    return "examples per vertex"


def _round(size: float) -> str:
    """Write a size with two digits, or all of a small integer: more would claim to know them."""
    if size >= 100:
        digits = math.floor(math.log10(size)) - 1
        return f"{round(size, -digits):,.0f}"
    return f"{size:,.0f}" if size >= 10 else f"{size:.2g}"


def _exact(size: float, axis: str) -> str:
    return f"{math.ceil(size - 1e-9):,}" if axis == "n" else f"{size:.4g}"
