"""The diffusion kernel: Urry & Sollich 2013, eq. (1)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
from scipy.special import gammaln

from gpcurves.graphs.kernels.base import GraphKernel, Normalisation, check_scale, normalise_parameter
from gpcurves.graphs.series import Rows, Step, power_series, row_products
from gpcurves.numerics.parameters import parameter
from gpcurves.numerics.validation import FloatArray


@dataclass(frozen=True, repr=False)
class DiffusionKernel(GraphKernel):
    r"""Diffusion: :math:`\exp(-\frac12 s^2 L)` with :math:`L = I - T`; the limit of random walks with `p/a = s²/2`.

    Parameters
    ----------
    scale
        The lengthscale `s`, greater than 0.
    normalise
        "global" (average prior variance 1), "local" (every prior variance 1) or "none".
    """

    name: ClassVar[str] = "diffusion"
    # exp(-s²/2), the value of an isolated vertex, must stay a normal number
    scale: float = parameter(1.0, help="Lengthscale, in edges", check=partial(check_scale, largest=35.0))
    normalise: Normalisation = normalise_parameter()

    @property
    def reach(self) -> int:
        return len(self._weights(self.scale**2 / 4)) - 1

    def eigenvalue(self, t: FloatArray) -> FloatArray:
        return np.asarray(np.exp(-0.5 * self.scale**2 * (1 - t)))

    @staticmethod
    def _weights(time: float) -> FloatArray:
        """Return the Poisson probabilities of the number of steps in a time, up to rounding."""
        q = np.arange(np.ceil(time + 9 * np.sqrt(time) + 18))
        return np.asarray(np.exp(q * np.log(time) - time - gammaln(q + 1)))

    def apply(self, rows: Rows, step: Step) -> Rows:
        return power_series(self._weights(self.scale**2 / 2), rows, step)

    def diagonal(self, rows: Rows, step: Step) -> FloatArray:
        half = power_series(self._weights(self.scale**2 / 4), rows, step)
        return row_products(half, half)
