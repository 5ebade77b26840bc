"""A learning curve in a few sentences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gpcurves.api import learning_curves
from gpcurves.curve import LearningCurve
from gpcurves.errors import GoalUnreachableError
from gpcurves.goals import required_n
from gpcurves.problem import Problem
from gpcurves.render.style import region


def summary(problem: Problem, now: int, goals: Sequence[float], truth: LearningCurve | None = None) -> str:
    """Say the error after ``now`` examples, what each goal needs, and which regime learning is in.

    ``truth`` is a simulated curve that includes ``now``, to set beside the theory.
    """
    curves = learning_curves(problem, [now])
    error = float(curves["lc"].error[0])
    allowed = region(curves)
    assert allowed is not None  # all methods include bounds
    lines = [
        f"Problem: {problem.describe()}",
        "",
        f"After {now} examples the error is about {error:.3g} (LC approximation);",
        f"the bounds prove that it lies between {allowed[1][0]:.3g} and {allowed[2][0]:.3g}.",
    ]
    if truth is not None and truth.stderr is not None:
        at = int(np.flatnonzero(truth.n == now)[0])
        error = float(truth.error[at])
        lines.append(f"Simulated, it is {error:.4g} ± {truth.stderr[at]:.1g} ({truth.options['drawn']} data sets).")
    lines += [goal_sentence(problem, goal, truth) for goal in goals]
    lines.append(regime(error, problem.noise))
    return "\n".join(lines)


def goal_sentence(problem: Problem, goal: float, truth: LearningCurve | None = None) -> str:
    """Say how many examples an error needs: as simulated or about, and at least."""
    try:
        about = f"about {required_n(problem, goal, 'lc')} examples (LC)"
    except GoalUnreachableError:
        about = "more than 1e12 examples (LC)"
    least = max(required_n(problem, goal, name) for name in ("plaskota", "ov"))
    sentence = f"An error of {goal:g} needs {about}"
    if truth is not None:
        reached = np.flatnonzero(truth.error <= goal)
        last = truth.n.max()
        sentence += f", {truth.n[reached[0]]:g} as simulated" if len(reached) else f", more than {last:g} as simulated"
    return f"{sentence}, and certainly no fewer than {least}."


def regime(error: float, noise: float) -> str:
    """Say whether learning is about covering the inputs or about averaging out noise."""
    if noise == 0:
        return "Regime: there is no noise, so that every example teaches something new wherever it falls."
    if error > 2 * noise:
        return f"Regime: initial. The error is above the noise ({noise:g}): examples still have to cover the inputs."
    if error < noise / 2:
        return f"Regime: asymptotic. The error is below the noise ({noise:g}): more examples mainly average it out."
    return f"Regime: crossover. The error is about the noise ({noise:g}): inputs are covered, averaging begins."
