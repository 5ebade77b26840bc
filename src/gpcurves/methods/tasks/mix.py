"""The cheapest mix of labels of several tasks that reaches an error on one of them.

In theory errors and numbers of labels are explicit in the precisions that the labels of each task have together. For given
proportions of these one root gives the cost of reaching the goal; the proportions are then improved two tasks at a time, over a
grid that is refined around its best point, and at the end numbers of labels are rounded to integers.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gpcurves.errors import GoalUnreachableError, InputError
from gpcurves.methods.base import METHODS
from gpcurves.methods.tasks.theory import JointCurves
from gpcurves.numerics.display import Shown
from gpcurves.numerics.roots import bisect
from gpcurves.numerics.validation import FloatArray, as_numbers, positive
from gpcurves.observations.tasks import TaskLabels
from gpcurves.problem import Problem

MOST = 1e12  # labels beyond which a goal counts as out of reach
_GRID, _FINER, _ROUNDS = (
    33,
    9,
    6,
)  # how many shares are tried first and then, and how often; each time they are four times closer
_SWEEPS, _ENOUGH = (
    20,
    1e-4,
)  # over all pairs of tasks, and by what share one must lower the cost to be followed by another
_NEWTON, _FAR = 100, 90.0  # steps of Newton's method, and the logarithm of the largest precision
_MOST_ROUNDED = 6  # tasks up to which numbers of labels are rounded in all ways


@dataclass(frozen=True, eq=False)
class Mix(Shown):
    """Numbers of labels of each task that reach an error on the target at the least cost, by theory.

    Attributes
    ----------
    counts, names, costs
        Numbers of labels, names and costs per label of the tasks.
    cost, error
        The total cost of the labels, and the resulting error on the target.
    goal
        The error that was asked for.
    alone
        How many labels of the target alone would reach it; infinite if none do.
    target
        The name of the task whose error this is.
    problem
        What was asked.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> problem = gpc.Problem(gpc.Matern52(0.3), gpc.Torus(dim=2), gpc.Fidelities(0.95, noise=0.01, cheap_noise=0.05))
    >>> mix = gpc.cheapest_mix(problem, error=0.02, costs=[1, 20])
    >>> mix.names, mix.error <= mix.goal
    (('cheap', 'expensive'), True)
    """

    counts: tuple[int, ...]
    names: tuple[str, ...]
    costs: tuple[float, ...]
    cost: float
    error: float
    goal: float
    alone: float
    target: str
    problem: Problem

    @property
    def alone_cost(self) -> float:
        """The cost of labels of the target alone."""
        return self.alone * self.costs[self.names.index(self.target)]

    @property
    def rate(self) -> float | None:
        """How many labels of other tasks replace one of the target, on average over those that are saved; None if none are."""
        used = self.counts[self.names.index(self.target)]
        others = sum(self.counts) - used
        return others / (self.alone - used) if others and used < self.alone < math.inf else None

    def to_frame(self) -> Any:
        """Return a DataFrame with the columns task, labels, cost."""
        import pandas as pd

        paid = [count * cost for count, cost in zip(self.counts, self.costs, strict=True)]
        return pd.DataFrame({"task": self.names, "labels": self.counts, "cost": paid})

    def to_dict(self) -> dict[str, Any]:
        """Return the mix as plain data; what is infinite is None."""
        numbers = {name: value if math.isfinite(value) else None for name, value in (("alone", self.alone),)}
        return {
            "counts": dict(zip(self.names, self.counts, strict=True)),
            "costs": dict(zip(self.names, self.costs, strict=True)),
            "cost": self.cost,
            "error": self.error,
            "goal": self.goal,
            "target": self.target,
            **numbers,
            "rate": self.rate,
            "sentence": str(self),
            "problem": self.problem.to_dict(),
        }

    def __str__(self) -> str:
        pairs = [f"{count:,} {name}" for count, name in zip(self.counts, self.names, strict=True) if count]
        mixed = f"{', '.join(pairs[:-1])} and {pairs[-1]}" if len(pairs) > 1 else pairs[0] if pairs else "no"
        where = self.target if self.target.startswith("task ") else f"the {self.target} task"
        said = f"You need {mixed} labels for an error of {self.goal:g} on {where}; they cost {self.cost:,.6g}."
        if not math.isfinite(self.alone):
            return f"{said} Labels of {self.target} alone do not reach it."
        if not any(self.counts):
            return (
                f"You need no labels: the error on {where} is {self.error:g} before any, and the goal is {self.goal:g}."
            )
        if sum(self.counts) == self.counts[self.names.index(self.target)]:
            return f"{said} Labels of other tasks would not save anything."
        other = next(name for name in self.names if name != self.target) if len(self.names) == 2 else "other"
        rate = "" if self.rate is None else f" About {self.rate:.2g} {other} labels replace one {self.target} label."
        return f"{said} {self.alone:,.0f} {self.target} labels alone would cost {self.alone_cost:,.6g}.{rate}"

    __repr__ = __str__


def cheapest_mix(problem: Problem, error: float, costs: object) -> Mix:
    """Return the cheapest numbers of labels of several tasks that bring the error on the target down to a goal, by theory.

    Parameters
    ----------
    problem
        With labels of several tasks: `Tasks` or `Fidelities`; their shares of the labels are ignored.
    error
        The mean squared error to reach on the target, against the noise-free function.
    costs
        The cost of a label of each task, in any unit; at least one must be greater than 0.

    Raises
    ------
    GoalUnreachableError
        If no mix reaches the error.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> problem = gpc.Problem(gpc.Matern52(0.3), gpc.Torus(dim=2), gpc.Fidelities(0.95, noise=0.01, cheap_noise=0.05))
    >>> mix = gpc.cheapest_mix(problem, error=0.02, costs=[1, 20])
    >>> mix.cost < mix.alone_cost
    True
    """
    if not isinstance(problem, Problem) or not isinstance(problem.observation, TaskLabels):
        raise InputError("a problem with labels of several tasks is needed, such as Problem(..., Fidelities(0.9))")
    METHODS["tasks"].refuse(METHODS["tasks"].objection(problem))
    tasks, goal = problem.observation, positive("error", error)
    prices = _check_costs(costs, len(tasks.titles))
    search = MixSearch(JointCurves(problem), goal, prices)
    counts = np.zeros(len(prices)) if search.reached(np.zeros((1, len(prices))))[0] else search.round(search.optimum())
    found = float(search.curves.errors(counts[None])[0, tasks.goal])
    only = search.needed(np.zeros((1, len(prices))), tasks.goal)[0]
    return Mix(
        tuple(int(count) for count in counts.tolist()),
        tasks.titles,
        tuple(prices.tolist()),
        float(counts @ prices),
        found,
        goal,
        max(0.0, float(np.ceil(only * (1 - 1e-9)))),
        tasks.titles[tasks.goal],
        problem,
    )


def _check_costs(costs: object, count: int) -> FloatArray:
    prices = as_numbers(costs, "costs must be numbers, one per task")
    if prices.shape != (count,):
        raise InputError(f"costs must be one number per task ({count}), got {prices.size}")
    if not np.isfinite(prices).all() or (prices < 0).any():
        bad = prices[~np.isfinite(prices) | (prices < 0)][0]
        raise InputError(f"costs must be finite and at least 0, got {bad:g}")
    if not (prices > 0).any():
        raise InputError("costs must not all be 0: labels that cost nothing have no cheapest mix")
    return prices


@dataclass(frozen=True, eq=False)
class MixSearch:
    """Numbers of labels that reach a goal, and what they cost."""

    curves: JointCurves
    goal: float
    costs: FloatArray

    def reached(self, counts: FloatArray) -> Any:
        """Tell for each row of numbers of labels whether the goal is reached."""
        return self.curves.errors(counts)[:, self.curves.tasks.goal] <= self.goal

    def needed(self, others: FloatArray, task: int) -> FloatArray:
        """Return how many labels of one task reach the goal beside numbers of labels of the others, a row per case."""
        start = others.copy()
        start[:, task] = 0.0

        def is_enough(log_size: FloatArray) -> Any:
            counts = start.copy()
            counts[:, task] = np.exp(log_size)
            return self.reached(counts)

        low, high = np.full(len(start), math.log(1e-3)), np.full(len(start), math.log(MOST))
        never = ~is_enough(high)
        size = np.where(self.reached(start), 0.0, np.exp(bisect(is_enough, low, high, 44)[1]))
        return np.where(never, np.inf, size)

    def along(self, fixed: FloatArray, direction: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the numbers of labels that reach the goal at precisions in some directions, and their cost, a row per case.

        Precisions of other tasks are ``fixed``. What does not reach the goal costs infinitely much.
        """
        target, wanted = self.curves.tasks.goal, math.log(self.goal / self.curves.scaled.unit)
        most = fixed + math.exp(_FAR) * direction
        reachable = np.log(np.maximum(self.curves.at_precision(most)[0][:, target], 1e-300)) < wanted
        low, high = np.full(len(direction), -_FAR), np.full(len(direction), _FAR)
        log_scale = np.zeros(len(direction))
        active = reachable.copy()
        for _ in range(_NEWTON):
            if not active.any():
                break
            now, part = log_scale[active], np.exp(log_scale[active])[:, None] * direction[active]
            error, slopes = self.curves.at_precision(fixed[active] + part)
            left = np.log(np.maximum(error[:, target], 1e-300)) - wanted
            low[active], high[active] = np.where(left > 0, now, low[active]), np.where(left > 0, high[active], now)
            slope = (slopes[:, target] * part).sum(axis=1) / np.maximum(error[:, target], 1e-300)
            with np.errstate(divide="ignore", invalid="ignore"):
                new = now + left / slope
            inside = (new > low[active]) & (new < high[active])
            log_scale[active] = np.where(inside, new, (low[active] + high[active]) / 2)
            active[active] = abs(log_scale[active] - now) > 1e-10 * np.maximum(1, abs(now))
        h = fixed + np.exp(log_scale)[:, None] * direction
        counts = h * (self.curves.noises + self.curves.at_precision(h)[0])
        out = ~reachable | (counts > MOST).any(axis=1)
        return counts, np.where(out, np.inf, counts @ self.costs)

    @cached_property
    def weights(self) -> FloatArray:
        """Precisions of each task that cost about the same, so that the middle between them is of interest whatever the prices."""
        prices = np.maximum(self.costs, 1e-9 * self.costs.max())
        return np.asarray(1 / (prices * (self.curves.noises + self.goal / self.curves.scaled.unit)))

    def exchange(self, counts: FloatArray, one: int, other: int, shares: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return numbers of labels that reach the goal, and their cost, if one task has these shares of the precision of two.

        The precisions of all other tasks are those at ``counts``.
        """
        error = self.curves.errors(counts[None])[0] / self.curves.scaled.unit
        number = np.arange(len(counts))
        fixed = np.where(np.isin(number, (one, other)), 0.0, counts / np.maximum(self.curves.noises + error, 1e-300))
        parts = np.where(number == one, shares[:, None], np.where(number == other, 1 - shares[:, None], 0.0))
        return self.along(np.tile(fixed, (len(shares), 1)), self.weights * parts)

    def optimum(self) -> FloatArray:
        """Return the cheapest numbers of labels, not yet integers."""
        count = len(self.costs)
        starts = np.concatenate((np.eye(count), np.ones((1, count)))) * self.weights
        counts, paid = self.along(np.zeros_like(starts), starts)
        if np.isinf(paid).all():
            least = float(self.curves.errors(np.full((1, count), MOST))[0, self.curves.tasks.goal])
            raise GoalUnreachableError(
                f"no mix of labels reaches the error {self.goal:g}: with {MOST:g} of each task it is {least:.4g}"
            )
        best, cost = np.asarray(counts[int(np.argmin(paid))]), float(paid.min())
        for _ in range(_SWEEPS if count > 2 else 1):
            before = cost
            for one, other in itertools.combinations(range(count), 2):
                best, cost = self._improve(best, cost, one, other)
            if cost >= before * (1 - _ENOUGH):
                break
        return best

    def _improve(self, counts: FloatArray, cost: float, one: int, other: int) -> tuple[FloatArray, float]:
        """Return the cheapest numbers if the precisions of a pair of tasks may be exchanged, those of others being fixed."""
        best, low, high, grid = counts, 0.0, 1.0, _GRID
        for _ in range(_ROUNDS):
            shares = np.linspace(low, high, grid)
            rows, paid = self.exchange(counts, one, other, shares)
            place = int(np.argmin(paid))
            if np.isinf(paid[place]):
                break
            if paid[place] < cost:
                best, cost = rows[place], float(paid[place])
            width = (high - low) / (grid - 1)
            low, high = max(0.0, float(shares[place]) - width), min(1.0, float(shares[place]) + width)
            grid = _FINER
        return best, cost

    def round(self, counts: FloatArray) -> FloatArray:
        """Return integer numbers of labels: all but one rounded up or down in all ways, that one as many as are needed."""
        if len(counts) > _MOST_ROUNDED:
            return np.asarray(np.ceil(counts - 1e-9))
        ways = np.array(list(itertools.product(*zip(np.floor(counts), np.ceil(counts), strict=True))))
        found = [np.ceil(counts)[None]]
        for task in range(len(counts)):
            rows = np.unique(np.where(np.arange(len(counts)) == task, 0.0, ways), axis=0)
            rows[:, task] = np.ceil(self.needed(rows, task) * (1 - 1e-9))
            found.append(rows[np.isfinite(rows).all(axis=1)])
        every = np.concatenate(found)
        # of several that cost the same, the one with the fewest labels: those that cost nothing are not worth any number
        return np.asarray(every[np.lexsort((every.sum(axis=1), every @ self.costs))[0]])
