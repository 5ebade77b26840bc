"""The verbs: compute a learning curve, several of them, or the number of examples that a goal needs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from gpcurves.curve import CurveSet, LearningCurve
from gpcurves.errors import GoalUnreachableError, InputError, NotApplicableError, NumericalError
from gpcurves.problem import AnyProblem, Problem, SpectrumProblem
from gpcurves.simulation.simulate import simulate
from gpcurves.spectra import Spectrum
from gpcurves.theory import METHODS, Kind, Method
from gpcurves.theory.approximations import lc_examples
from gpcurves.validation import FloatArray, positive, sizes

__all__ = ["METHODS", "learning_curve", "learning_curves", "required_n"]

MOST_EXAMPLES = 1e12
"""Where the search for a required n gives up."""
_DECADES = ((0.0, 1e3), (1e3, 1e6), (1e6, 1e9), (1e9, MOST_EXAMPLES))


def learning_curve(
    problem: Problem | SpectrumProblem | Spectrum, method: str, n: object, *, noise: float | None = None, **options: Any
) -> LearningCurve:
    """Return the average error after n examples.

    Parameters
    ----------
    problem
        A `Problem`; or a bare `Spectrum`, which needs ``noise`` besides.
    method
        Name of a method; ``gpcurves.METHODS`` lists them.
    n
        Training-set sizes; an integer means 0..n.
    noise
        Noise variance, for a bare spectrum only.
    **options
        Options of the method; only "simulation" has any, see `gpcurves.simulation.simulate`.
    """
    asked, chosen, at = _as_problem(problem, noise), METHODS[method], sizes("n", n)
    if chosen.kind is Kind.ESTIMATE:
        return simulate(asked, at, **options)
    if options:
        raise InputError(f"method {method!r} takes no option {next(iter(options))!r}: its numbers are determined")
    return _evaluate(asked, chosen, at)


def learning_curves(
    problem: Problem | SpectrumProblem | Spectrum,
    n: object,
    methods: str | Iterable[str] = "all",
    *,
    noise: float | None = None,
    **options: Any,
) -> CurveSet:
    """Return the curves of several methods.

    "all" takes the theory that applies and records why the rest does not; with options of a simulation, such as
    ``datasets``, it takes the simulation too.
    """
    asked = _as_problem(problem, noise)
    at = sizes("n", n)
    everything = isinstance(methods, str) and methods == "all"
    if everything:
        names = [m.name for m in METHODS.values() if m.kind is not Kind.ESTIMATE or options]
    else:
        names = [methods] if isinstance(methods, str) else list(methods)
    if not names:
        raise InputError("methods must not be empty")
    chosen = [METHODS[name] for name in names]
    if options and all(m.kind is not Kind.ESTIMATE for m in chosen):
        raise InputError(f"none of these methods takes the option {next(iter(options))!r}")
    skipped = {}
    if everything:
        skipped = {m.name: why for m in chosen if m.kind is not Kind.ESTIMATE and (why := m.objection(asked, at))}
        if len(skipped) == len(chosen):
            raise NotApplicableError(f"no theory applies: {next(iter(skipped.values()))}; simulate it instead")
    curves = {}
    for m in chosen:
        if m.kind is Kind.ESTIMATE:
            curves[m.name] = simulate(asked, at, **options)
        elif m.name not in skipped:
            curves[m.name] = _evaluate(asked, m, at)
    return CurveSet(asked, curves, skipped)


def required_n(
    problem: Problem | SpectrumProblem | Spectrum,
    error: float,
    method: str = "lc",
    *,
    noise: float | None = None,
) -> int:
    """Return the smallest number of examples at which the method's error is at most ``error``.

    Raises `GoalUnreachableError` where the error stays above the goal up to 1e12 examples.
    """
    asked = _as_problem(problem, noise)
    goal = positive("error", error)
    chosen = METHODS[method]
    if chosen.kind is Kind.ESTIMATE:
        raise InputError("a required n is searched for in theory: simulate the curve and read it off instead")
    reached = _first_reached(asked, chosen, goal)
    if reached is None:
        floor = float(chosen(asked, np.array([MOST_EXAMPLES]))[0])
        raise GoalUnreachableError(
            f"method {method!r} does not reach the error {goal:g} within {MOST_EXAMPLES:g} examples: there it is {floor:.4g}"
        )
    return reached


def _first_reached(problem: AnyProblem, method: Method, goal: float) -> int | None:
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
            f"method {method.name!r} gave a value that is not finite at n = {n[~np.isfinite(error)][0]:g}"
        )
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


def _as_problem(problem: object, noise: float | None) -> AnyProblem:
    if isinstance(problem, Spectrum):
        if noise is None:
            raise InputError("a bare spectrum needs the noise variance: pass noise=")
        return SpectrumProblem(problem, noise)
    if not isinstance(problem, Problem | SpectrumProblem):
        raise InputError(f"a problem must be a Problem or a Spectrum, got {type(problem).__name__}")
    if noise is not None:
        raise InputError("noise is part of the problem: it is passed only with a bare spectrum")
    return problem
