r"""The regularised Laplacian: Smola & Kondor 2003.

**Messages.** The precision :math:`I+s^2L` itself couples only neighbours. The variables are the value of the function and one
multiplier that carries the noise, so that one number per message counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from gpcurves.graphs.kernels.base import GraphKernel, Normalisation, check_scale, normalise_parameter
from gpcurves.graphs.series import Rows, Step, chebyshev_coefficients, chebyshev_series, row_products
from gpcurves.graphs.vertex_model import VertexModel, pack
from gpcurves.numerics.parameters import parameter
from gpcurves.numerics.validation import FloatArray


@dataclass(frozen=True, repr=False)
class RegularisedLaplacianKernel(GraphKernel):
    r"""Regularised Laplacian: :math:`(I + s^2 L)^{-1}` with :math:`L = I - T`.

    Parameters
    ----------
    scale
        The lengthscale `s`, greater than 0.
    normalise
        "local" (every prior variance is 1), "global" (their average is 1) or "none".
    """

    name: ClassVar[str] = "regularised-laplacian"
    scale: float = parameter(1.0, help="Lengthscale, in edges", check=partial(check_scale, largest=100.0))
    normalise: Normalisation = normalise_parameter()

    @property
    def reach(self) -> int:
        return len(self._series(-0.5)) - 1

    @property
    def rounding(self) -> float:
        return 0.0  # a sum of squares

    def eigenvalue(self, t: FloatArray) -> FloatArray:
        return np.asarray(1 / (1 + self.scale**2 * (1 - t)))

    def _series(self, power: float) -> FloatArray:
        """Return the Chebyshev coefficients of a power of `1 + s²(1 - t)`, up to rounding."""
        edge = 1 + 1 / self.scale**2  # the function is singular at this t, which sets how fast coefficients fall
        count = int(np.ceil(40 / np.log(edge + np.sqrt(edge * edge - 1)))) + 2
        return chebyshev_coefficients(lambda t: (1 + self.scale**2 * (1 - t)) ** power, count)

    def apply(self, rows: Rows, step: Step) -> Rows:
        return chebyshev_series(self._series(-1.0), rows, step)

    def diagonal(self, rows: Rows, step: Step) -> FloatArray:
        half = chebyshev_series(self._series(-0.5), rows, step)
        return row_products(half, half)

    def vertex_model(self) -> VertexModel:
        square = self.scale**2
        local = np.array([[1 + square, -1.0], [-1.0, 0.0]])
        coupling = np.array([[square, 0.0], [0.0, 0.0]])
        return VertexModel(2, 1, pack(local), coupling, 1 / (1 + square))
