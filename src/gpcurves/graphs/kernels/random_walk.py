"""The random walk kernel: Urry & Sollich 2013, eq. (2)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from gpcurves.errors import InputError
from gpcurves.graphs.kernels.base import LONGEST_WALK, GraphKernel, Normalisation, normalise_parameter
from gpcurves.graphs.series import Rows, Step, add, row_products
from gpcurves.numerics.parameters import parameter
from gpcurves.numerics.validation import FloatArray, real, whole


def _check_inverse_probability(name: str, value: object) -> float:
    number = real(name, value)
    if number < 2:
        raise InputError(f"{name} must be at least 2 for a positive semidefinite kernel, got {number:g}")
    return number


@dataclass(frozen=True, repr=False)
class RandomWalkKernel(GraphKernel):
    r"""Lazy random walk of `p` steps, each taken with probability 1/a: :math:`((1-1/a)I + T/a)^p`.

    Parameters
    ----------
    p
        Number of steps, a whole number at least 0.
    a
        Inverse probability to move, at least 2.
    normalise
        "global" (average prior variance 1), "local" (every prior variance 1) or "none".
    """

    name: ClassVar[str] = "random-walk"
    p: int = parameter(10, help="Steps of the random walk", check=partial(whole, minimum=0, maximum=LONGEST_WALK))
    a: float = parameter(
        2.0, help="The walk moves with probability 1/a in each step, a at least 2", check=_check_inverse_probability
    )
    normalise: Normalisation = normalise_parameter()

    @property
    def reach(self) -> int:
        return (self.p + 1) // 2

    def eigenvalue(self, t: FloatArray) -> FloatArray:
        return np.asarray(np.maximum(1 - (1 - t) / self.a, 0.0) ** self.p)

    def _walk(self, rows: Rows, step: Step, steps: int) -> Rows:
        for _ in range(steps):
            rows = add((1 - 1 / self.a) * rows, step(rows) / self.a)
        return rows

    def apply(self, rows: Rows, step: Step) -> Rows:
        return self._walk(rows, step, self.p)

    def diagonal(self, rows: Rows, step: Step) -> FloatArray:
        half = self._walk(rows, step, self.p // 2)
        return row_products(half, half if self.p % 2 == 0 else self._walk(half, step, 1))
