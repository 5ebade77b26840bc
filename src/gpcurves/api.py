"""The verbs: compute a learning curve, several of them, or the number of examples that a goal needs."""

from __future__ import annotations

import inspect
import numbers
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from gpcurves.curve import CurveSet, LearningCurve
from gpcurves.errors import GoalUnreachableError, InputError, NotApplicableError, NumericalError, unknown_name
from gpcurves.graphs import Graph
from gpcurves.methods.cavity.curves import cavity_curve, cavity_variances
from gpcurves.methods.formulas import METHODS, Kind, Method
from gpcurves.methods.formulas.approximations import lc_examples
from gpcurves.methods.formulas.large_graphs import vertex_spectrum
from gpcurves.methods.simulation.graphs import eigenvalue_curve, simulate_graph
from gpcurves.methods.simulation.graphs import vertex_variances as simulated_variances
from gpcurves.methods.simulation.simulate import simulate
from gpcurves.methods.variances import VarianceDistribution
from gpcurves.numerics.validation import FloatArray, positive, sizes
from gpcurves.problem import AnyProblem, GraphProblem, Problem, SpectrumProblem, VectorProblem
from gpcurves.spectra import Spectrum

__all__ = ["METHODS", "learning_curve", "learning_curves", "required_n", "vertex_variances"]

MOST_EXAMPLES = 1e12
"""Where the search for a required n gives up."""
_DECADES = ((0.0, 1e3), (1e3, 1e6), (1e6, 1e9), (1e9, MOST_EXAMPLES))
_RUNNERS: dict[tuple[str, str], Callable[..., LearningCurve]] = {
    ("simulation", "n"): simulate,
    ("simulation", "nu"): simulate_graph,
    ("eigenvalue", "nu"): eigenvalue_curve,
    ("cavity", "nu"): cavity_curve,
}
"""Methods with options of their own, for vectors and for graphs."""
Askable = Problem | SpectrumProblem | GraphProblem | Spectrum


def learning_curve(
    problem: Askable,
    method: str,
    n: object = None,
    *,
    nu: object = None,
    noise: float | None = None,
    **options: Any,
) -> LearningCurve:
    """Return the average error after n examples, or after nu examples per vertex of a graph.

    Parameters
    ----------
    problem
        A `Problem` or a `GraphProblem`; or a bare `Spectrum`, which needs ``noise`` besides.
    method
        Name of a method; ``gpcurves.METHODS`` lists them.
    n
        Training-set sizes; an integer means 0..n. Not for graphs.
    nu
        Examples per vertex of a graph: numbers, at least 0.
    noise
        Noise variance, for a bare spectrum only.
    **options
        Options of the method; see `gpcurves.methods.simulation.simulate` and `gpcurves.methods.simulation.graphs`.
    """
    asked, chosen = _as_problem(problem, noise), METHODS[method]
    at = _sizes(asked, n, nu)
    runner = _RUNNERS.get((method, asked.axis))
    if runner is not None:
        _check_applies(chosen, asked, at)
        _check_options([chosen], asked, options)
        return runner(asked, at, **options)
    if options and chosen.objection(asked) is None:
        raise InputError(f"method {method!r} takes no option {next(iter(options))!r}: its numbers are determined")
    return _evaluate(asked, chosen, at)


def learning_curves(
    problem: Askable,
    n: object = None,
    methods: str | Iterable[str] = "all",
    *,
    nu: object = None,
    noise: float | None = None,
    **options: Any,
) -> CurveSet:
    """Return the curves of several methods.

    "all" takes the theory that applies and records why the rest does not; with options that only a simulation has, such
    as ``datasets``, it takes the simulation too. Each method gets those options that it has.
    """
    asked = _as_problem(problem, noise)
    at = _sizes(asked, n, nu)
    everything = isinstance(methods, str) and methods == "all"
    if everything:
        names = [m.name for m in METHODS.values() if asked.axis in m.axes and _wanted(m, asked, options)]
    else:
        names = [methods] if isinstance(methods, str) else list(methods)
    if not names:
        raise InputError("methods must not be empty")
    chosen = [METHODS[name] for name in names]
    skipped = {}
    if not everything:
        for m in chosen:
            _check_applies(m, asked, at)
    _check_options(chosen, asked, options)
    if everything:
        skipped = {m.name: why for m in chosen if m.kind is not Kind.ESTIMATE and (why := m.objection(asked, at))}
        if len(skipped) == len(chosen):
            raise NotApplicableError(f"no theory applies: {next(iter(skipped.values()))}; simulate it instead")
    curves = {}
    for m in chosen:
        if m.name in skipped:
            continue
        runner = _RUNNERS.get((m.name, asked.axis))
        if runner is None:
            curves[m.name] = _evaluate(asked, m, at)
        else:
            curves[m.name] = runner(asked, at, **_own(runner, options))
    return CurveSet(asked, curves, skipped)


def vertex_variances(
    problem: GraphProblem, nu: float, method: str = "simulation", **options: Any
) -> VarianceDistribution:
    """Return the errors at all vertices of a graph after nu examples per vertex: their distribution, by vertex and by degree.

    Parameters
    ----------
    problem
        On a given graph or an ensemble of graphs.
    nu
        Examples per vertex; at 0 the prior variances.
    method
        "simulation" or "cavity".
    **options
        Those of the method; see `gpcurves.methods.simulation.graphs.vertex_variances` and `gpcurves.methods.cavity.curves.cavity_variances`.
    """
    ways: dict[str, Callable[..., VarianceDistribution]] = {
        "simulation": simulated_variances,
        "cavity": cavity_variances,
    }
    if method not in ways:
        raise unknown_name("method for variances of vertices", method, ways)
    known = set(inspect.signature(ways[method]).parameters)
    for name in options:
        if name not in known:
            raise InputError(f"method {method!r} takes no option {name!r}")
    return ways[method](problem, nu, **options)


def _wanted(method: Method, problem: AnyProblem, options: Mapping[str, Any]) -> bool:
    """Tell whether "all" includes a method: theory always, an estimate where an option asks for it alone."""
    if method.kind is not Kind.ESTIMATE:
        return True
    theory = [
        r for (name, axis), r in _RUNNERS.items() if axis == problem.axis and METHODS[name].kind is not method.kind
    ]
    own = _own(_RUNNERS[method.name, problem.axis], options)
    return any(all(name not in _own(r, options) for r in theory) for name in own if options[name] is not None)


def _own(runner: Callable[..., LearningCurve], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that a runner has."""
    known = inspect.signature(runner).parameters
    return {name: value for name, value in options.items() if name in known}


def _check_applies(method: Method, problem: AnyProblem, sizes: FloatArray) -> None:
    reason = method.objection(problem, sizes)
    if reason is not None:
        raise NotApplicableError(f"method {method.name!r} does not apply: {reason}")


def option_names(axis: str, methods: Iterable[str]) -> set[str]:
    """Return the options that any of these methods takes, for vectors (axis "n") or graphs (axis "nu")."""
    runners = [_RUNNERS[name, axis] for name in methods if (name, axis) in _RUNNERS]
    parameters = [p for runner in runners for p in inspect.signature(runner).parameters.values()]
    return {p.name for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY}


def _check_options(chosen: list[Method], problem: AnyProblem, options: Mapping[str, Any]) -> None:
    known = option_names(problem.axis, [m.name for m in chosen])
    for name in options:
        if name not in known:
            which = "none of these methods takes" if len(chosen) > 1 else f"method {chosen[0].name!r} takes no"
            raise InputError(f"{which}{' the' if len(chosen) > 1 else ''} option {name!r}")


def required_n(
    problem: Askable,
    error: float,
    method: str | None = None,
    *,
    noise: float | None = None,
) -> int:
    """Return the smallest number of examples at which the method's error is at most ``error``.

    The method is "lc" unless given, and "eigenvalue" on a given graph. Raises `GoalUnreachableError` where the error
    stays above the goal up to 1e12 examples.
    """
    asked = _as_problem(problem, noise)
    goal = positive("error", error)
    name = method or ("eigenvalue" if isinstance(asked, GraphProblem) else "lc")
    chosen = METHODS[name]
    if chosen.kind is Kind.ESTIMATE:
        raise InputError("a required n is searched for in theory: simulate the curve and read it off instead")
    if isinstance(asked, GraphProblem):
        if not isinstance(asked.graph, Graph) or name != "eigenvalue":
            raise InputError(
                "a required n needs a given graph and the method 'eigenvalue': read nu off a curve instead"
            )
        _check_applies(chosen, asked, np.zeros(1))
        asked, chosen = vertex_spectrum(asked, asked.graph), METHODS["lc"]
    reached = _first_reached(asked, chosen, goal)
    if reached is None:
        floor = float(chosen(asked, np.array([MOST_EXAMPLES]))[0])
        raise GoalUnreachableError(
            f"method {name!r} does not reach the error {goal:g} within {MOST_EXAMPLES:g} examples: there it is {floor:.4g}"
        )
    return reached


def _first_reached(problem: VectorProblem, method: Method, goal: float) -> int | None:
    """Search for the first whole n at or below the goal, taking the error to fall with n."""
    if method.name == "lc" and goal < problem.spectrum.trace:  # explicit, up to rounding
        about = np.floor(lc_examples(problem, goal) * (1 - 1e-12))
        near = np.maximum(about + np.arange(-1.0, 3.0), 0.0)
        reached = method(problem, near) <= goal
        return int(near[np.argmax(reached)]) if near[-1] <= MOST_EXAMPLES and reached.any() else None
    for low, high in _DECADES:
        grid = np.unique(np.floor(np.geomspace(max(low, 1.0), high, 40)))
        grid = np.concatenate(([0.0], grid)) if low == 0 else grid
        while (reached := method(problem, grid) <= goal).any():
            first = int(np.argmax(reached))
            if first == 0 or grid[first] - grid[first - 1] <= 1:
                return int(grid[first])
            grid = np.unique(np.floor(np.linspace(grid[first - 1], grid[first], 64)))
    return None


def _evaluate(problem: AnyProblem, method: Method, n: FloatArray) -> LearningCurve:
    error = method(problem, n)
    if not np.isfinite(error).all():
        raise NumericalError(
            f"method {method.name!r} gave a value that is not finite at {problem.axis} = {n[~np.isfinite(error)][0]:g}"
        )
    if isinstance(problem, GraphProblem):
        return LearningCurve(method.name, n, error, problem)
    notes: list[str] = []
    uncertainty = None
    if (coarser := problem.coarser()) is not None:
        with np.errstate(divide="ignore", invalid="ignore"):
            relative = np.where(error > 0, abs(method(coarser, n) / error - 1), 0.0)
        order = np.argsort(n)  # the difference may cross zero by chance: it never gets smaller with n
        relative[order] = np.maximum.accumulate(relative[order])
        uncertainty = relative * error
        worst = float(relative.max())
        if worst > 1e-4:
            notes.append(
                f"the spectrum is {problem.spectrum.origin}: the curve is uncertain by up to {100 * worst:.2g} %"
            )
    if (lost := (error < problem.spectrum.resolution) & (n > 0)).any() and problem.noise < problem.spectrum.resolution:
        notes.append(f"errors from n = {n[lost].min():g} on are below what the numerical spectrum resolves")
    if (error < 0).any():
        notes.append(f"the expansion breaks down at n = {n[error < 0][0]:g}, where the correction exceeds LC itself")
    return LearningCurve(method.name, n, error, problem, spectrum_error=uncertainty, notes=tuple(notes))


def _sizes(problem: AnyProblem, n: object, nu: object) -> FloatArray:
    """Return the sizes asked for, along the axis that the problem has."""
    if problem.axis == "nu":
        if n is not None or nu is None:
            raise InputError("on a graph the examples per vertex are asked for: pass nu=, not n")
        return sizes("nu", [nu] if isinstance(nu, numbers.Real) else nu)
    if nu is not None or n is None:
        raise InputError("pass n, the numbers of examples; nu, examples per vertex, belongs to graphs")
    return sizes("n", n)


def _as_problem(problem: object, noise: float | None) -> AnyProblem:
    if isinstance(problem, Spectrum):
        if noise is None:
            raise InputError("a bare spectrum needs the noise variance: pass noise=")
        return SpectrumProblem(problem, noise)
    if not isinstance(problem, AnyProblem):
        raise InputError(f"a problem must be a Problem, a GraphProblem or a Spectrum, got {type(problem).__name__}")
    if noise is not None:
        raise InputError("noise is part of the problem: it is passed only with a bare spectrum")
    return problem
