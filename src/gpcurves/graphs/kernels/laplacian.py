r"""Functions of the Laplacian :math:`L = I - T`.

Diffusion (Urry & Sollich 2013, eq. (1)), the regularised Laplacian (Smola & Kondor 2003), and Matérn kernels (Borovitskiy et
al. 2021), which lie between the two.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy

from gpcurves.errors import InputError, NotApplicableError
from gpcurves.graphs.covariance import Resolvent, Rows, Step, chebyshev_series, row_products
from gpcurves.graphs.kernels.base import (
    GraphKernel,
    Normalisation,
    chebyshev_coefficients,
    normalise_parameter,
    variance_parameter,
)
from gpcurves.graphs.kernels.walks import power_series
from gpcurves.graphs.vertex_model import MOST_VARIABLES, VertexModel, chebyshev_chain, pack
from gpcurves.numerics.parameters import parameter
from gpcurves.numerics.validation import FloatArray, frozen, positive, real

_MOST_POWERS = 100  # powers of T in the messages of the diffusion kernel
_LARGEST = 100.0  # scale of the regularised Laplacian; products take about 28 times as many steps
_SMOOTHNESS = 0.1, 50.0  # beyond, Matérn kernels are nearly white noise, or nearly diffusion


def scale_parameter() -> Any:
    """Return the field ``scale`` of a function of the Laplacian."""
    return parameter(1.0, help="Lengthscale, in edges", check=positive)


class _LaplacianKernel(GraphKernel):
    """A function of the Laplacian that is a series of `T`, and so is its square root, from which the diagonal follows."""

    scale: float
    largest: float
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


@dataclass(frozen=True, repr=False)
class DiffusionKernel(_LaplacianKernel):
    r"""Diffusion: :math:`\exp(-\frac12 s^2 L)` with :math:`L = I - T`; the limit of random walks with `p/a = s²/2`.

    Parameters
    ----------
    scale
        The lengthscale `s`, greater than 0.
    normalise
        "local" (every prior variance is 1), "global" (their average is 1) or "none".
    variance
        A factor after normalisation: the prior variance, or its average.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> chain = gpc.Graph.from_edges([(i, i + 1) for i in range(8)])
    >>> problem = gpc.GraphProblem(chain, gpc.DiffusionKernel(scale=1.0), noise=0.1)
    >>> gpc.learning_curve(problem, "eigenvalue", nu=[0, 1, 10]).error.round(3)
    array([1.   , 0.255, 0.011])
    """

    name: ClassVar[str] = "diffusion"
    scale: float = scale_parameter()
    normalise: Normalisation = normalise_parameter()
    variance: float = variance_parameter()

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


class _ResolventPower(_LaplacianKernel):
    r"""A power of a resolvent, :math:`(I + \alpha L)^{-\nu}`; its inverse is sparse if :math:`\nu` is an integer."""

    series = staticmethod(chebyshev_series)

    @property
    @abstractmethod
    def power(self) -> tuple[float, float]:
        r"""The factor :math:`\alpha` of the Laplacian, and the exponent :math:`\nu`."""

    @property
    def resolvent(self) -> Resolvent | None:
        factor, exponent = self.power
        return Resolvent(factor, int(exponent)) if exponent == int(exponent) else None

    def eigenvalue(self, t: FloatArray) -> FloatArray:
        factor, exponent = self.power
        return np.asarray(1 / (1 + factor * (1 - t)) ** exponent)

    def coefficients(self, power: float) -> FloatArray:
        factor, exponent = self.power
        edge = 1 + 1 / factor  # the function is singular at this t, which sets how fast coefficients fall
        count = int(np.ceil(40 / np.log(edge + np.sqrt(edge * edge - 1)))) + 2
        return chebyshev_coefficients(lambda t: (1 + factor * (1 - t)) ** -(power * exponent), count)

    @cached_property
    def expansion(self) -> FloatArray:
        return frozen(self.coefficients(1.0))

    def vertex_model(self) -> VertexModel:
        r"""Return the messages. For integer :math:`\nu` they have :math:`\nu` variables, and are exact on trees.

        With :math:`A = I + \alpha L`, which couples only neighbours, let :math:`x^0` have the precision :math:`A` if
        :math:`\nu=2m+1`, or be white if :math:`\nu=2m`. Then :math:`f = x^m` with :math:`Ax^q = x^{q-1}`, imposed by
        multipliers :math:`u^q`; a white :math:`x^0` is eliminated by hand, which leaves :math:`-\frac12(u^1)^2`. The order
        of the variables is :math:`x^0` (odd), the pairs :math:`(u^q, x^q)`, and one multiplier that carries the noise.
        Other powers have no such form, and get the messages of a Chebyshev polynomial.
        """
        if self.resolvent is None:
            try:
                return super().vertex_model()
            except NotApplicableError as error:
                raise NotApplicableError(f"{error}; an integer smoothness needs far fewer") from error
        factor, exponent = self.resolvent
        odd, pairs = exponent % 2, exponent // 2
        local, coupling = np.zeros((exponent + 1, exponent + 1)), np.zeros((exponent + 1, exponent + 1))
        if odd:
            local[0, 0], coupling[0, 0] = 1 + factor, factor
        else:
            local[0, 0] = -1.0
        for q in range(pairs):
            u, x = odd + 2 * q, odd + 2 * q + 1
            local[u, x] = local[x, u] = 1 + factor
            coupling[u, x] = coupling[x, u] = factor
            if u > 0:  # the x before it
                local[u, u - 1] = local[u - 1, u] = -1.0
        local[exponent, exponent - 1] = local[exponent - 1, exponent] = -1.0
        return VertexModel(exponent + 1, odd, pack(local), coupling, (1 + factor) ** -float(exponent))


@dataclass(frozen=True, repr=False)
class RegularisedLaplacianKernel(_ResolventPower):
    r"""Regularised Laplacian: :math:`(I + s^2 L)^{-1}` with :math:`L = I - T`.

    Parameters
    ----------
    scale
        The lengthscale `s`, greater than 0.
    normalise
        "local" (every prior variance is 1), "global" (their average is 1) or "none".
    variance
        A factor after normalisation: the prior variance, or its average.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> chain = gpc.Graph.from_edges([(i, i + 1) for i in range(8)])
    >>> problem = gpc.GraphProblem(chain, gpc.RegularisedLaplacianKernel(scale=2.0), noise=0.1)
    >>> gpc.learning_curve(problem, "eigenvalue", nu=[0, 1, 10]).error.round(3)
    array([1.   , 0.209, 0.011])
    """

    name: ClassVar[str] = "regularised-laplacian"
    scale: float = scale_parameter()
    normalise: Normalisation = normalise_parameter()
    variance: float = variance_parameter()

    largest = _LARGEST

    @property
    def power(self) -> tuple[float, float]:
        return self.scale**2, 1.0


def _check_smoothness(name: str, value: object) -> float:
    smoothness = real(name, value)
    if not _SMOOTHNESS[0] <= smoothness <= _SMOOTHNESS[1]:
        raise InputError(f"{name} must be between {_SMOOTHNESS[0]:g} and {_SMOOTHNESS[1]:g}, got {smoothness:g}")
    return smoothness


@dataclass(frozen=True, repr=False)
class MaternGraphKernel(_ResolventPower):
    r"""Matérn kernel on a graph: :math:`(I + \frac{s^2}{\nu} L)^{-\nu}` with :math:`L = I - T` (Borovitskiy et al. 2021).

    For :math:`\nu=1` it is the regularised Laplacian with the same `s`. For :math:`\nu\to\infty` it tends to
    :math:`e^{-s^2L}`, which is diffusion with the lengthscale :math:`\sqrt2 s`.

    Parameters
    ----------
    scale
        The lengthscale `s`, greater than 0.
    smoothness
        The exponent :math:`\nu`. If it is an integer, the messages of the cavity method are exact on trees, and products,
        rows and prior variances follow from a sparse factorisation wherever that is cheap.
    normalise
        "local" (every prior variance is 1), "global" (their average is 1) or "none".
    variance
        A factor after normalisation: the prior variance, or its average.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> chain = gpc.Graph.from_edges([(i, i + 1) for i in range(8)])
    >>> problem = gpc.GraphProblem(chain, gpc.MaternGraphKernel(scale=2.0), noise=0.1)
    >>> gpc.learning_curve(problem, "eigenvalue", nu=[0, 1, 10]).error.round(3)
    array([1.   , 0.162, 0.011])
    """

    name: ClassVar[str] = "matern"
    scale: float = scale_parameter()
    smoothness: float = parameter(2.0, help="Smoothness (the nu of Matérn)", check=_check_smoothness)
    normalise: Normalisation = normalise_parameter()
    variance: float = variance_parameter()

    @property
    def largest(self) -> float:  # type: ignore[override]
        """The largest scale: products take about 28 times its ratio to the root of the smoothness."""
        return _LARGEST * math.sqrt(self.smoothness)

    @property
    def power(self) -> tuple[float, float]:
        return self.scale**2 / self.smoothness, self.smoothness
