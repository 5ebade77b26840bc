r"""The random walk kernel: Urry & Sollich 2013, eq. (2).

**Messages.** With :math:`S = (1-1/a)I + T/a`, p steps are two walks of p/2. For even :math:`p=2m`, :math:`w^0` is white noise,
:math:`w^q = Sw^{q-1}`, imposed by multipliers :math:`u^q`, and :math:`f = \kappa^{-1/2}w^m`. For odd :math:`p=2m+1`, :math:`w^0` has covariance
:math:`S`, imposed by :math:`u^0`. The variable :math:`w^m` touches only :math:`u^m` and is eliminated by hand, which leaves p variables,
in the order :math:`(w^0,u^1,w^1,\dots,u^m)` or :math:`(u^0,w^0,u^1,\dots,u^m)`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from gpcurves.errors import InputError, NotApplicableError
from gpcurves.graphs.kernels.base import LONGEST_WALK, GraphKernel, Normalisation, normalise_parameter
from gpcurves.graphs.series import Rows, Step, add, row_products
from gpcurves.graphs.vertex_model import MOST_VARIABLES, VertexModel, pack
from gpcurves.numerics.parameters import parameter
from gpcurves.numerics.validation import FloatArray, integer, real


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
        Number of steps, an integer at least 0.
    a
        Inverse probability to move, at least 2.
    normalise
        "local" (every prior variance is 1), "global" (their average is 1) or "none".
    """

    name: ClassVar[str] = "random-walk"
    p: int = parameter(10, help="Steps of the random walk", check=partial(integer, minimum=0, maximum=LONGEST_WALK))
    a: float = parameter(
        2.0, help="The walk moves with probability 1/a in each step, a at least 2", check=_check_inverse_probability
    )
    normalise: Normalisation = normalise_parameter()

    @property
    def reach(self) -> int:
        return (self.p + 1) // 2

    @property
    def rounding(self) -> float:
        return 0.0  # no term is negative

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

    def vertex_model(self) -> VertexModel:
        p, stay = self.p, 1 - 1 / self.a
        if p > MOST_VARIABLES:
            raise NotApplicableError(f"messages exist for walks of at most {MOST_VARIABLES} steps, got {p}")
        # Each multiplier u^q is a row of w^q - (1 - 1/a) w^(q-1) - T w^(q-1)/a = 0: the first two terms are local, the last is
        # the coupling by edges.
        local, coupling = np.zeros((p, p)), np.zeros((p, p))
        odd = p % 2
        if p:
            local[0, 0] = -stay if odd else 1.0
        for q in range(1, p // 2 + 1):
            u, w = 2 * q - 1 + odd, 2 * q - 2 + odd  # u^q, and w^(q-1) just before it
            local[u, w] = local[w, u] = -stay
            coupling[u, w] = coupling[w, u] = 1 / self.a
            if 2 * q < p - odd:
                local[u + 1, u] = local[u, u + 1] = 1.0  # u^q defines w^q
        if odd:
            coupling[0, 0] = 1 / self.a
            if p > 1:
                local[0, 1] = local[1, 0] = 1.0
        walk = np.array([math.comb(p, q) * stay ** (p - q) / self.a**q for q in range(p + 1)])
        return VertexModel(p, 1 - odd, pack(local), coupling, float(walk[0]), walk)
