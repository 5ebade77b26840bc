r"""The diffusion kernel: Urry & Sollich 2013, eq. (1).

**Messages.** The kernel is the square of a Chebyshev expansion of :math:`\exp(-\frac14s^2L)`, one form in the sense of
`vertex_model`. With :math:`z=s^2/4` the expansion is :math:`e^{-z}[I_0(z)+2\sum_qI_q(z)T_q(x)]`. What is left out is at most
:math:`2e^{-z}\sum_{q>m}I_q(z)`, and the square is wrong by at most twice that.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
from scipy.special import gammaln

from gpcurves.errors import InputError, NotApplicableError
from gpcurves.graphs.kernels.base import GraphKernel, Normalisation, check_scale, normalise_parameter
from gpcurves.graphs.series import Rows, Step, power_series, row_products
from gpcurves.graphs.vertex_model import MOST_VARIABLES, VertexModel, chebyshev_chain, pack
from gpcurves.numerics.parameters import parameter
from gpcurves.numerics.validation import FloatArray, positive

_MOST_POWERS = 100


@dataclass(frozen=True, repr=False)
class DiffusionKernel(GraphKernel):
    r"""Diffusion: :math:`\exp(-\frac12 s^2 L)` with :math:`L = I - T`; the limit of random walks with `p/a = s²/2`.

    Parameters
    ----------
    scale
        The lengthscale `s`, greater than 0.
    normalise
        "local" (every prior variance is 1), "global" (their average is 1) or "none".
    """

    name: ClassVar[str] = "diffusion"
    # exp(-s²/2), the value of an isolated vertex, must stay a normal number
    scale: float = parameter(1.0, help="Lengthscale, in edges", check=partial(check_scale, largest=35.0))
    normalise: Normalisation = normalise_parameter()

    @property
    def reach(self) -> int:
        return len(self._weights(self.scale**2 / 4)) - 1

    @property
    def rounding(self) -> float:
        return 0.0  # no term is negative

    def eigenvalue(self, t: FloatArray) -> FloatArray:
        return np.asarray(np.exp(-0.5 * self.scale**2 * (1 - t)))

    @staticmethod
    def _weights(time: float) -> FloatArray:
        """Return the Poisson probabilities of the number of steps in a time, up to rounding."""
        # Nine standard deviations above the mean, and some more for small times, leave out less than 1e-16.
        q = np.arange(np.ceil(time + 9 * np.sqrt(time) + 18))
        return np.asarray(np.exp(q * np.log(time) - time - gammaln(q + 1)))

    def apply(self, rows: Rows, step: Step) -> Rows:
        return power_series(self._weights(self.scale**2 / 2), rows, step)

    def diagonal(self, rows: Rows, step: Step) -> FloatArray:
        half = power_series(self._weights(self.scale**2 / 4), rows, step)
        return row_products(half, half)

    def vertex_model(self, tolerance: float = 1e-10) -> VertexModel:
        """Return the messages of a kernel that differs by at most ``tolerance`` on the spectrum of `T`."""
        from scipy.special import ive

        z = self.scale**2 / 4
        allowed = positive("tolerance", tolerance)
        if allowed < 1e-14:
            raise InputError(f"tolerance must be at least 1e-14, got {allowed:g}")
        terms = ive(np.arange(MOST_VARIABLES), z) * 2
        terms[0] /= 2
        tails = 2 * np.append(np.cumsum(terms[::-1])[::-1][1:], 0.0)
        if tails[_MOST_POWERS] > allowed:
            raise NotApplicableError(f"messages for the scale {self.scale:g} need more than {_MOST_POWERS} powers of T")
        m = max(1, int(np.argmax(tails <= allowed)))
        local, coupling = chebyshev_chain(m, [(terms[: m + 1], 0)])
        orders = np.arange(MOST_VARIABLES)
        log_factorials = np.array([math.lgamma(q + 1) for q in orders])
        # Powers of T in a time s²/2, for prior variances: Poisson weights, none of which cancels another.
        walk = np.exp(-2 * z + orders * math.log(2 * z) - log_factorials)
        keep = max(2, int(np.flatnonzero(walk > 1e-18).max()) + 1)
        return VertexModel(len(local), 0, pack(local), coupling, math.exp(-2 * z), walk[:keep], float(tails[m]))
