r"""Functions of the Laplacian :math:`L = I - T`.

Diffusion (Urry & Sollich 2013, eq. (1)) and the regularised Laplacian (Smola & Kondor 2003).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy

from gpcurves.errors import InputError, NotApplicableError
from gpcurves.graphs.covariance import Rows, Step, chebyshev_series, row_products
from gpcurves.graphs.kernels.base import GraphKernel, Normalisation, chebyshev_coefficients, normalise_parameter
from gpcurves.graphs.kernels.walks import power_series
from gpcurves.graphs.vertex_model import MOST_VARIABLES, VertexModel, chebyshev_chain, pack
from gpcurves.numerics.parameters import parameter
from gpcurves.numerics.validation import FloatArray, positive

_MOST_POWERS = 100  # powers of T in the messages of the diffusion kernel


@dataclass(frozen=True, repr=False)
class _LaplacianKernel(GraphKernel):
    """A function of the Laplacian that is a series of `T`, and so is its square root, from which the diagonal follows."""

    scale: float = parameter(1.0, help="Lengthscale, in edges", check=positive)
    normalise: Normalisation = normalise_parameter()

    largest: ClassVar[float]
    series: ClassVar[Any]
    rounding = 0.0  # a sum of squares

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1e-6 <= self.scale <= self.largest:  # double precision must resolve its square
            raise InputError(f"scale must be between 1e-06 and {self.largest:g}, got {self.scale:g}")

    @abstractmethod
    def coefficients(self, power: float) -> FloatArray:
        """Return the coefficients of a power of the kernel in its series, up to rounding."""

    @property
    def reach(self) -> int:
        return len(self.coefficients(0.5)) - 1

    def apply(self, rows: Rows, step: Step) -> Rows:
        return self.series(self.coefficients(1.0), rows, step)

    def diagonal(self, rows: Rows, step: Step) -> FloatArray:
        half = self.series(self.coefficients(0.5), rows, step)
        return row_products(half, half)


class DiffusionKernel(_LaplacianKernel):
    r"""Diffusion: :math:`\exp(-\frac12 s^2 L)` with :math:`L = I - T`; the limit of random walks with `p/a = s²/2`.

    Parameters
    ----------
    scale
        The lengthscale `s`, greater than 0.
    normalise
        "local" (every prior variance is 1), "global" (their average is 1) or "none".
    """

    name = "diffusion"
    largest = 35.0  # exp(-s²/2), the value of an isolated vertex, must stay a normal number
    series = staticmethod(power_series)

    def eigenvalue(self, t: FloatArray) -> FloatArray:
        return np.asarray(np.exp(-0.5 * self.scale**2 * (1 - t)))

    def coefficients(self, power: float) -> FloatArray:
        """Return the Poisson probabilities of the number of steps in a time, none of which is negative."""
        time = power * self.scale**2 / 2
        # Nine standard deviations above the mean, and some more for small times, leave out less than 1e-16.
        q = np.arange(np.ceil(time + 9 * np.sqrt(time) + 18))
        return np.asarray(np.exp(q * np.log(time) - time - scipy.special.gammaln(q + 1)))

    def vertex_model(self, tolerance: float = 1e-10) -> VertexModel:
        r"""Return the messages of a kernel that differs by at most ``tolerance`` on the spectrum of `T`.

        The kernel is the square of a Chebyshev expansion of :math:`\exp(-\frac14s^2L)`, one form in the sense of `vertex_model`.
        With :math:`z=s^2/4` the expansion is :math:`e^{-z}[I_0(z)+2\sum_qI_q(z)T_q(x)]`. What is left out is at most
        :math:`2e^{-z}\sum_{q>m}I_q(z)`, and the square is wrong by at most twice that.
        """
        from scipy.special import ive

        z = self.scale**2 / 4
        allowed = positive("tolerance", tolerance)
        if allowed < 1e-14:
            raise InputError(f"tolerance must be at least 1e-14, got {allowed:g}")
        orders = np.arange(MOST_VARIABLES)
        terms = ive(orders, z) * 2
        terms[0] /= 2
        tails = 2 * np.append(np.cumsum(terms[::-1])[::-1][1:], 0.0)
        if tails[_MOST_POWERS] > allowed:
            raise NotApplicableError(f"messages for the scale {self.scale:g} need more than {_MOST_POWERS} powers of T")
        m = max(1, int(np.argmax(tails <= allowed)))
        local, coupling = chebyshev_chain(m, [(terms[: m + 1], 0)])
        log_factorials = np.array([math.lgamma(q + 1) for q in orders])
        # Powers of T in a time s²/2, for prior variances: Poisson weights, none of which cancels another.
        walk = np.exp(-2 * z + orders * math.log(2 * z) - log_factorials)
        keep = max(2, int(np.flatnonzero(walk > 1e-18).max()) + 1)
        return VertexModel(len(local), 0, pack(local), coupling, math.exp(-2 * z), walk[:keep], float(tails[m]))


class RegularisedLaplacianKernel(_LaplacianKernel):
    r"""Regularised Laplacian: :math:`(I + s^2 L)^{-1}` with :math:`L = I - T`.

    Parameters
    ----------
    scale
        The lengthscale `s`, greater than 0.
    normalise
        "local" (every prior variance is 1), "global" (their average is 1) or "none".
    """

    name = "regularised-laplacian"
    largest = 100.0
    series = staticmethod(chebyshev_series)

    def eigenvalue(self, t: FloatArray) -> FloatArray:
        return np.asarray(1 / (1 + self.scale**2 * (1 - t)))

    def coefficients(self, power: float) -> FloatArray:
        edge = 1 + 1 / self.scale**2  # the function is singular at this t, which sets how fast coefficients fall
        count = int(np.ceil(40 / np.log(edge + np.sqrt(edge * edge - 1)))) + 2
        return chebyshev_coefficients(lambda t: (1 + self.scale**2 * (1 - t)) ** -power, count)

    def vertex_model(self) -> VertexModel:
        r"""Return the messages: the precision :math:`I+s^2L` itself couples only neighbours.

        The variables are the value of the function and one multiplier that carries the noise, so that one number per message
        counts.
        """
        square = self.scale**2
        local = np.array([[1 + square, -1.0], [-1.0, 0.0]])
        coupling = np.array([[square, 0.0], [0.0, 0.0]])
        return VertexModel(2, 1, pack(local), coupling, 1 / (1 + square))
