r"""Several functions that vary together: tasks, or simulators of several fidelities.

Task `t` has the function :math:`f_t`, and :math:`\langle f_t(x)f_u(x')\rangle = D_{tu}C(x,x')` with a covariance `D` between tasks
and the kernel `C` of the problem. A label is the value of one of these functions plus Gaussian noise.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gpcurves.errors import InputError, check_name
from gpcurves.graphs.graph import IntArray
from gpcurves.numerics.frozen import frozen_array
from gpcurves.numerics.parameters import parameter
from gpcurves.numerics.validation import FloatArray, as_numbers, nonnegative, positive, real
from gpcurves.observations.base import Observation

_ROUNDING = 1e-10  # eigenvalues and differences below this share of the largest variance are rounding errors
MOST_TASKS = 50


class TaskLabels(Observation):
    """Labels of several tasks, of which one is the target: its error is what a curve shows.

    ``n`` counts the labels of all tasks, which get fixed ``shares`` of them.
    """

    name = ""
    compound = True
    meaning = "several tasks, such as Fidelities(0.9)"

    @property
    @abstractmethod
    def between(self) -> FloatArray:
        """The covariances between tasks."""

    @property
    @abstractmethod
    def noises(self) -> FloatArray:
        """The noise variance of a label of each task."""

    @property
    @abstractmethod
    def parts(self) -> FloatArray:
        """The shares of the labels, which sum to 1."""

    @property
    @abstractmethod
    def titles(self) -> tuple[str, ...]:
        """The names of the tasks."""

    @property
    @abstractmethod
    def goal(self) -> int:
        """The position of the target among the tasks."""

    def order(self, count: int) -> IntArray:
        """Return the task of each of ``count`` labels, so that the first n of any number have these shares as nearly as possible.

        Label j of task t comes at the time (j - 1/2)/share, which is the apportionment of Sainte-Laguë at every n.
        """
        most = np.minimum(np.ceil(self.parts * count) + 1, count).astype(np.int64) * (self.parts > 0)
        task = np.repeat(np.arange(len(most)), most)
        position = np.arange(len(task)) - np.repeat(np.cumsum(most) - most, most)
        time = (position + 0.5) / self.parts[task]
        return np.asarray(task[np.argsort(time, kind="stable")][:count])

    def information(self, error: FloatArray, variance: FloatArray | float) -> FloatArray:
        """Return what a label of the target tells about it."""
        return np.asarray(1 / (self.noises[self.goal] + error))

    def draw(self, values: FloatArray, inputs: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Draw labels of the target."""
        labels: FloatArray = values + np.sqrt(self.noises[self.goal]) * rng.standard_normal(values.shape)
        return labels

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TaskLabels) and self.to_dict() == other.to_dict()


def _check_covariance(name: str, value: object) -> FloatArray:
    matrix = as_numbers(value, f"{name} must be a square matrix of numbers")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.size == 0:
        raise InputError(f"{name} must be a square matrix, a row and a column per task, got shape {matrix.shape}")
    if len(matrix) > MOST_TASKS:
        raise InputError(f"{name} must have at most {MOST_TASKS} tasks, got {len(matrix)}")
    if not np.isfinite(matrix).all():
        raise InputError(f"{name} must be finite, got NaN or infinity")
    if (least := float(matrix.diagonal().min())) <= 0:
        raise InputError(f"{name} must have variances greater than 0 on its diagonal, got {least:g}")
    largest = float(matrix.diagonal().max())
    if (gap := float(abs(matrix - matrix.T).max())) > _ROUNDING * largest:
        raise InputError(f"{name} must be symmetric, but two of its entries differ by {gap:.3g}")
    even = (matrix + matrix.T) / 2
    if (lowest := float(np.linalg.eigvalsh(even)[0])) < -_ROUNDING * largest:
        raise InputError(f"{name} must be positive semidefinite, but its lowest eigenvalue is {lowest:.3g}")
    return frozen_array(even)


def _check_names(name: str, value: Any) -> tuple[str, ...]:
    names = tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else (value,)
    if not all(isinstance(each, str) and each for each in names) or len(set(names)) < len(names):
        raise InputError(f"{name} must be different texts, got {names!r}")
    return names


def per_task(name: str, value: object, count: int) -> tuple[float, ...]:
    """Return one finite number per task, each at least 0; a single number stands for all of them."""
    numbers = as_numbers(value, f"{name} must be a number or one number per task, got {value!r}")
    if numbers.ndim == 0:
        numbers = np.full(count, float(numbers))
    if numbers.shape != (count,):
        raise InputError(f"{name} must be one number per task ({count}), got {numbers.size}")
    return tuple(nonnegative(name, each) for each in numbers.tolist())


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Tasks(TaskLabels):
    """Labels of several tasks with a covariance between them.

    Parameters
    ----------
    covariance
        The covariance between tasks, which multiplies the kernel: symmetric and positive semidefinite.
    noise
        The noise variance of a label: one for all tasks, or one per task.
    shares
        How labels are divided among tasks, in proportion to these numbers; equal shares by default.
    names
        Names of the tasks; by default "task 1", "task 2", ….
    target
        The name of the task whose error is shown; by default the last one.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> tasks = gpc.Tasks([[1.0, 0.8], [0.8, 1.0]], noise=0.05, names=["left", "right"])
    >>> problem = gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=1), tasks)
    >>> gpc.task_errors(problem, [[0, 0], [50, 50]]).round(3)
    array([[1.   , 1.   ],
           [0.012, 0.012]])
    """

    name = "tasks"
    covariance: FloatArray = parameter(
        help="File with the covariance between tasks, one row per task", flag="task-covariance", check=_check_covariance
    )
    noise: tuple[float, ...] = parameter(
        help="Noise variance of a label, one for all tasks or one per task",
        check=lambda name, value: value,
        flag="noise",
    )
    shares: tuple[float, ...] | None = parameter(
        None, help="Relative numbers of labels of the tasks  [equal]", check=lambda name, value: value
    )
    names: tuple[str, ...] | None = parameter(
        None, help="Names of the tasks  [task 1, task 2, ...]", check=_check_names, flag="task-names"
    )
    target: str | None = parameter(None, help="Task whose error is shown  [the last]", flag="target-task")

    def __init__(
        self,
        covariance: npt.ArrayLike,
        noise: float | Sequence[float],
        shares: Sequence[float] | None = None,
        names: Sequence[str] | None = None,
        target: str | None = None,
    ) -> None:
        set_ = object.__setattr__
        given = {"covariance": covariance, "noise": noise, "shares": shares, "names": names, "target": target}
        for name, value in given.items():
            set_(self, name, value)
        super().__post_init__()
        count = len(self.covariance)
        set_(self, "noise", per_task("noise", self.noise, count))
        if self.shares is not None:
            set_(self, "shares", per_task("shares", self.shares, count))
            if sum(self.shares) <= 0:
                raise InputError("shares must not all be 0")
        if self.names is not None and len(self.names) != count:
            raise InputError(f"names must be one per task ({count}), got {len(self.names)}")
        if self.target is not None:
            check_name("target task", self.target, self.titles)

    @property
    def between(self) -> FloatArray:
        return self.covariance

    @property
    def noises(self) -> FloatArray:
        return np.array(self.noise)

    @property
    def parts(self) -> FloatArray:
        shares = np.ones(len(self.covariance)) if self.shares is None else np.array(self.shares)
        return np.asarray(shares / shares.sum())

    @property
    def titles(self) -> tuple[str, ...]:
        return (
            tuple(f"task {number + 1}" for number in range(len(self.covariance))) if self.names is None else self.names
        )

    @property
    def goal(self) -> int:
        return len(self.covariance) - 1 if self.target is None else self.titles.index(self.target)

    def __repr__(self) -> str:
        return f"Tasks({', '.join(self.titles)}; target {self.titles[self.goal]})"


def _check_correlation(name: str, value: object) -> float:
    if abs(number := real(name, value)) > 1:
        raise InputError(f"{name} must be between -1 and 1, got {number:g}")
    return number


def _check_share(name: str, value: object) -> float:
    if (number := nonnegative(name, value)) > 1:
        raise InputError(f"{name} must be at most 1, got {number:g}")
    return number


@dataclass(frozen=True, eq=False, repr=False)
class Fidelities(TaskLabels):
    """Two tasks: a cheap simulator or measurement, and the expensive one that you care about.

    Parameters
    ----------
    correlation
        Between the cheap function and the expensive one, at the same input.
    noise, cheap_noise
        The noise variance of an expensive label and of a cheap one; 0 for simulators without noise.
    cheap_variance
        The prior variance of the cheap function, in units of that of the expensive one.
    cheap_share
        The share of the labels that are cheap.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> problem = gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=1), gpc.Fidelities(0.9, noise=0.01, cheap_noise=0.1))
    >>> gpc.task_errors(problem, [[100, 0], [100, 20]]).round(3)  # 100 cheap labels; and 20 expensive ones
    array([[0.011, 0.199],
           [0.01 , 0.009]])
    """

    name = "fidelities"
    correlation: float = parameter(
        help="Correlation between the cheap and the expensive function", check=_check_correlation
    )
    noise: float = parameter(0.0, help="Noise variance of an expensive label", check=nonnegative, flag="noise")
    cheap_noise: float = parameter(0.0, help="Noise variance of a cheap label", check=nonnegative)
    cheap_variance: float = parameter(
        1.0, help="Prior variance of the cheap function, in units of the expensive one", check=positive
    )
    cheap_share: float = parameter(0.5, help="Share of the labels that are cheap", check=_check_share)

    titles = ("cheap", "expensive")
    goal = 1

    @property
    def between(self) -> FloatArray:
        both = self.correlation * float(np.sqrt(self.cheap_variance))
        return np.array([[self.cheap_variance, both], [both, 1.0]])

    @property
    def noises(self) -> FloatArray:
        return np.array([self.cheap_noise, self.noise])

    @property
    def parts(self) -> FloatArray:
        return np.array([self.cheap_share, 1 - self.cheap_share])
