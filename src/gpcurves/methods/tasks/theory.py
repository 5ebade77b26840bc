r"""LC for several tasks, whose functions have the covariance :math:`D_{tu}C(x,x')`.

With :math:`n_t` labels of task `t` and the eigenvalues :math:`\lambda_i` of `C`,

.. math:: G_i = \left[(\lambda_iD)^{-1} + \mathrm{diag}(h)\right]^{-1},\quad h_t = \frac{n_t}{\sigma_t^2+\epsilon_t},\quad
   \epsilon_t = \sum_i(G_i)_{tt}.

For one task this is LC; tasks without correlation have curves of their own; tasks that are perfectly correlated and equally noisy
learn as one task from all labels. The errors are explicit in `h`, and so are the numbers of labels,
:math:`n_t = h_t(\sigma_t^2+\epsilon_t)`.

The map from errors to errors increases in each, and scaling its arguments by `a > 1` scales its values by less than `a`. So there is
one solution, and repeating the map reaches it from everywhere. In logarithms Newton's method reaches it sooner; a step that does
not lower the residual is replaced by one of the map.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from gpcurves.errors import InputError, NumericalError
from gpcurves.methods.base import METHODS, Kind, Method, MethodOptions, Result, register
from gpcurves.methods.formulas.parametric import Scaled
from gpcurves.montecarlo import Run
from gpcurves.numerics.validation import FloatArray, as_numbers
from gpcurves.observations.tasks import TaskLabels
from gpcurves.problem import Problem

_STEPS = 200
_CELLS = 4_000_000  # 32 MB for an array of cases by eigenvalues by tasks by tasks
_TOLERANCE = 1e-14  # of logarithms of errors
_LONGEST = 40.0  # so far a step may change the logarithm of an error: without noise it may have no limit
_NOTHING = -64.0  # the logarithm of an error over the prior variance, below which rounding errors of the root take over
_WORSE, _NEARLY = 10.0, 1e-8
_SINGULAR = 1e-12  # without noise the derivative of the map may be 1: a step is then as long as it may be


class JointCurves:
    """The errors of all tasks of a problem, as functions of the numbers of labels."""

    def __init__(self, problem: Problem) -> None:
        assert isinstance(problem.observation, TaskLabels)
        self.tasks, self.scaled = problem.observation, Scaled(problem)
        self.noises = self.tasks.noises / self.scaled.unit
        values, vectors = np.linalg.eigh(self.tasks.between)
        kept = values > 1e-14 * values[-1]
        self.root = vectors[:, kept] * np.sqrt(values[kept])

    @cached_property
    def prior(self) -> FloatArray:
        """The prior variance of each task, in units of the largest eigenvalue."""
        return np.asarray((self.root**2).sum(axis=1) * float(self.scaled.masses.sum()))

    def errors(self, counts: FloatArray) -> FloatArray:
        """Return the error of every task (columns) for numbers of labels of every task, a row per case."""
        return np.asarray(self.scaled.unit * np.exp(self._solve(counts)))

    def at_precision(self, h: FloatArray) -> tuple[FloatArray, FloatArray]:
        r"""Return the errors at precisions `h`, and :math:`\sum_i(G_i)_{tu}^2`, minus their derivatives by `h`, a row per case."""
        rows = max(1, _CELLS // (len(self.scaled.values) * self.root.size * len(self.root)))
        parts = [self._at_precision(h[i : i + rows]) for i in range(0, len(h), rows)]
        return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])

    def _at_precision(self, h: FloatArray) -> tuple[FloatArray, FloatArray]:
        values, masses = self.scaled.values, self.scaled.masses
        # A root of G/lambda for every case (first axis) and eigenvalue (last): tasks are learnt one after another, each by an
        # update of rank one, which keeps the digits of the root if precisions differ by many orders of magnitude.
        root = np.repeat(np.broadcast_to(self.root[:, :, None], (len(h), *self.root.shape, 1)), len(values), axis=-1)
        for t in range(len(self.root)):
            own = root[:, t].copy()
            length = (own * own).sum(axis=1)
            gain = 1 / np.sqrt(1 + np.multiply.outer(h[:, t], values) * length)
            along = (root * own[:, None]).sum(axis=2) * ((1 - gain) / np.where(length > 0, length, 1.0))[:, None]
            root -= along[:, :, None] * own[:, None]
            root[:, t] = gain[:, None] * own
        G = (root[:, :, None] * root[:, None]).sum(axis=3)
        errors = np.diagonal(G, axis1=1, axis2=2).swapaxes(1, 2) @ masses
        return errors, (G * G) @ (masses * values)

    def _solve(self, counts: FloatArray) -> FloatArray:
        """Return the logarithms of the errors."""
        top = np.log(self.prior)
        floor = top + _NOTHING
        logs = np.tile(top, (len(counts), 1))
        active = np.asarray((counts > 0).any(axis=1))
        residual = np.full(len(counts), np.inf)
        plain = logs.copy()  # where one step of the map leads
        size = residual
        for steps in range(_STEPS):
            # without noise, and with as many labels as there are eigenvalues to rounding, the root is a double one
            if not active.any() or (steps > _STEPS // 2 and size.max() < _NEARLY):
                return np.where(logs <= floor, -np.inf, logs)
            now = logs[active]
            after, step = self._newton(now, counts[active])
            open_ = now > floor
            size = np.where(open_, abs(after - now), 0.0).max(axis=1)
            # A Newton step that made things much worse is taken back: the map itself never does. A little worse is allowed: without
            # noise the error of one task may fall to nothing in a few long steps, which those of others follow one step later.
            worse = size > _WORSE * residual[active]
            new = np.where(worse[:, None], plain[active], now + step)
            plain[active] = np.where(worse[:, None], plain[active], after)
            residual[active] = np.where(worse, np.inf, size)
            logs[active] = np.clip(new, floor, top)
            small = np.minimum(abs(step), abs(after - now)) <= _TOLERANCE * np.maximum(1, abs(now))
            active[active] = worse | (open_ & ~small).any(axis=1)
        raise NumericalError(f"the errors of several tasks were not found in {_STEPS} steps")

    def _newton(self, logs: FloatArray, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the logarithms of the errors after one step of the map, and Newton's step for their difference to vanish."""
        error = np.exp(logs)
        total = self.noises + error
        h = counts / total
        after, slopes = self.at_precision(h)
        after = np.log(np.maximum(after, 1e-300))
        jacobian = slopes * (h * error / total)[:, None, :] / np.exp(after)[:, :, None]
        matrix = (1 + _SINGULAR) * np.eye(logs.shape[1]) - jacobian
        step = np.linalg.solve(matrix, (after - logs)[:, :, None])[:, :, 0]
        return after, np.clip(np.nan_to_num(step, nan=0.0, posinf=_LONGEST, neginf=-_LONGEST), -_LONGEST, _LONGEST)


def task_errors(problem: Problem, counts: object) -> FloatArray:
    """Return the errors of all tasks after some numbers of labels of each, by theory.

    Parameters
    ----------
    problem
        With labels of several tasks: `Tasks` or `Fidelities`; their shares of the labels are ignored.
    counts
        Numbers of labels, one per task, in a row; or several such rows.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> problem = gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=1), gpc.Fidelities(0.9, noise=0.01, cheap_noise=0.1))
    >>> gpc.task_errors(problem, [[0, 20], [100, 20]]).round(3)  # cheap and expensive
    array([[0.199, 0.011],
           [0.01 , 0.009]])
    """
    if not isinstance(problem, Problem) or not isinstance(problem.observation, TaskLabels):
        raise InputError("a problem with labels of several tasks is needed, such as Problem(..., Fidelities(0.9))")
    METHODS["tasks"].refuse(METHODS["tasks"].objection(problem))
    rows = as_numbers(counts, "counts must be numbers of labels, one per task")
    tasks = len(problem.observation.titles)
    if rows.ndim not in (1, 2) or rows.shape[-1] != tasks or rows.size == 0:
        raise InputError(f"counts must be one number of labels per task ({tasks}), got shape {rows.shape}")
    if not np.isfinite(rows).all() or (rows < 0).any():
        raise InputError("counts must be finite and at least 0")
    return JointCurves(problem).errors(np.atleast_2d(rows)).reshape(rows.shape)


def _one_graph(problem: Problem) -> str | None:
    return "it needs a given graph, but this is an ensemble" if problem.ensemble is not None else None


@register
class TaskTheory(Method[tuple[Problem, JointCurves]]):
    """LC for several tasks. ``details`` holds the error of every task, and the numbers of labels of each."""

    name = "tasks"
    title = "Lower Continuous for several tasks"
    kind = Kind.APPROXIMATION
    promise = "as accurate as LC for each task; not a bound"
    source = "ours; one task: Sollich & Halees 2002, eq. (16)"
    needs = "labels of several tasks"
    axes = ("n", "nu")
    any_labels = True
    compound = TaskLabels
    conditions = (_one_graph,)

    def answers(self, problem: Problem) -> bool:
        return True

    def prepare(self, problem: Problem, options: MethodOptions, run: Run) -> tuple[Problem, JointCurves]:
        return problem, JointCurves(problem)

    def evaluate(self, state: tuple[Problem, JointCurves], sizes: FloatArray) -> Result:
        problem, curves = state
        counts = np.multiply.outer(sizes * problem.examples_per_size, curves.tasks.parts)
        errors = curves.errors(counts)
        return Result(errors[:, curves.tasks.goal], details=task_details(curves.tasks, counts, errors))


def task_details(tasks: TaskLabels, counts: FloatArray, errors: FloatArray) -> dict[str, FloatArray]:
    """Return numbers of labels and errors by task, as details of a curve."""
    named = {f"n {name}": counts[:, t] for t, name in enumerate(tasks.titles)}
    return named | {f"error {name}": errors[:, t] for t, name in enumerate(tasks.titles)}
