r"""The sphere: uniform inputs of length 1 in `d` dimensions.

A kernel that is invariant under rotations is a function `f` of the angle :math:`\theta` between two inputs. Its eigenfunctions are the
spherical harmonics, and all those of degree `k` share the eigenvalue (Funk and Hecke)

.. math:: \lambda_k = \frac{\int_0^\pi f(\theta) P_k(\cos\theta)\sin^{d-2}\theta\,d\theta}{\int_0^\pi\sin^{d-2}\theta\,d\theta},\quad
    N_k = \frac{2k+d-2}{k}\binom{k+d-3}{k-1},

with the Gegenbauer polynomial :math:`P_k(1) = 1` and the multiplicity :math:`N_k` (:math:`N_0 = 1`). For an RBF it is
:math:`\Gamma(d/2)(2l^2)^{d/2-1}e^{-1/l^2}I_{k+d/2-1}(1/l^2)`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import scipy

from gpcurves.errors import InputError
from gpcurves.inputs.base import Inputs, Nodes
from gpcurves.kernels import Kernel, as_rbf
from gpcurves.numerics.parameters import parameter
from gpcurves.numerics.quadrature import gauss_legendre, sobol_rule
from gpcurves.numerics.validation import FloatArray, integer
from gpcurves.spectra import CLOSED_FORM, Spectrum
from gpcurves.spectra.nystrom import NODES, Decay, Truth, numerical_spectrum

_DEGREES = 1_000  # up to which eigenvalues are computed; of rough kernels a tail is beyond
_CLOSED_DEGREES = 20_000
_NEGLIGIBLE = 1e-17  # share of the prior variance below which degrees of a closed form are left out
_PANEL = 4.0  # how far the phase of the highest polynomial turns in a panel of the quadrature
_ROUNDING = 1e4 * np.finfo(float).eps  # beside the root of its multiplicity, an eigenvalue below this share is rounding
_TAIL = 1e-12  # less than this share of the variance beyond the list is the sum of rounding errors


@dataclass(frozen=True, repr=False)
class Sphere(Inputs):
    """Uniform on the unit sphere in ``dim`` dimensions; inputs are vectors of length 1 with ``dim`` components.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> problem = gpc.Problem(gpc.RBF(1.0), gpc.Sphere(dim=3), noise=0.05)
    >>> gpc.learning_curve(problem, "lc", n=[0, 10, 100]).error.round(3)
    array([1.   , 0.158, 0.012])
    """

    dim: int = parameter(
        3, help="Dimension of the inputs", check=partial(integer, minimum=2, maximum=100), label="dimension"
    )

    def draw(self, count: int, rng: np.random.Generator) -> FloatArray:
        return _normalised(rng.standard_normal((count, self.dim)))

    def nodes(self, count: int) -> Nodes:
        if self.dim == 2:
            angle = 2 * np.pi * np.arange(count) / count
            return np.stack((np.cos(angle), np.sin(angle)), axis=1), np.full(count, 1.0 / count)
        if self.dim == 3:  # Gauss-Legendre along the axis, and equal angles around it
            side = max(1, round(math.sqrt(count / 2)))
            z, weight = scipy.special.roots_legendre(side)
            angle = 2 * np.pi * np.arange(2 * side) / (2 * side)
            radius = np.sqrt(1 - z * z)[:, None]
            points = np.stack(np.broadcast_arrays(radius * np.cos(angle), radius * np.sin(angle), z[:, None]), axis=-1)
            return points.reshape(-1, 3), np.repeat(weight / 2, 2 * side) / (2 * side)
        uniform, _ = sobol_rule(self.dim, max(1, count // 2))
        points = _normalised(scipy.special.ndtri(np.clip(uniform, 1e-12, 1 - 1e-12)))
        both = np.concatenate((points, -points))  # with its opposite, so that odd functions average to zero
        return both, np.full(len(both), 1.0 / len(both))

    def spectrum(self, kernel: Kernel) -> Spectrum:
        if not kernel.isotropic:
            return self.numerical_spectrum(kernel)
        whole, tail_starts = self._listed(kernel)
        if not tail_starts:
            return whole
        coarse, _ = self._listed(kernel, tail_starts // 2)
        return replace(whole, coarse=coarse)

    def numerical_spectrum(self, kernel: Kernel, truth: Truth | None = None) -> Spectrum:
        decay = Decay(kernel.smoothness, self.dim - 1)  # a surface has one dimension less
        return numerical_spectrum(kernel, self.nodes, NODES, decay, truth=truth)

    def taught_spectrum(self, kernel: Kernel, truth: Truth) -> Spectrum:
        """Return the eigenvalues with the power in each degree, which is the teacher's eigenvalue if it is a kernel of the angle."""
        true = truth.kernel
        if not (isinstance(true, Kernel) and true.isotropic and kernel.isotropic):
            return self.numerical_spectrum(kernel, truth)
        return self._listed(kernel, truth=truth)[0]

    def prior_variance(self, kernel: Kernel) -> float:
        return self.largest_variance(kernel) or super().prior_variance(kernel)

    def largest_variance(self, kernel: Kernel) -> float | None:
        return float(kernel.diag(np.eye(1, self.dim))[0]) if kernel.isotropic else None

    def multiplicities(self, count: int) -> FloatArray:
        """Return the number of spherical harmonics of each degree below ``count``."""
        k = np.arange(1.0, count)
        logs = scipy.special.gammaln(k + self.dim - 2) - scipy.special.gammaln(k) - math.lgamma(self.dim - 1)
        many = (2 * k + self.dim - 2) / k * np.exp(logs)
        return np.concatenate(([1.0], np.where(many < 1e15, np.rint(many), many)))[:count]

    def _listed(self, kernel: Kernel, degrees: int | None = None, truth: Truth | None = None) -> tuple[Spectrum, int]:
        """Return the spectrum up to some degree with its tail, and the number of degrees if it has a tail, else 0."""
        values, exact = self._eigenvalues(kernel)
        number = self.multiplicities(len(values))
        variance = self.prior_variance(kernel)
        noise = 0.0 * number if exact else _ROUNDING * variance / np.sqrt(number)
        if (values < -100 * noise).any():
            raise InputError(f"the kernel {kernel!r} is not positive semi-definite on the sphere")
        drowned = values <= noise
        # degrees that a kernel lacks stand between others; where two in a row are lost, all that follow are
        lost = np.flatnonzero(drowned[:-1] & drowned[1:])
        kept = min(int(lost[0]) if len(lost) else len(values), degrees or len(values))
        values, number = np.where(drowned, 0.0, values)[:kept], number[:kept]
        rest = variance - float(values @ number)
        tail = None
        if rest > _TAIL * variance and not exact:
            last = float(values[np.flatnonzero(values)[-1]])
            tail = Decay(kernel.smoothness, self.dim - 1).tail(last, float(number.sum()), rest)
        channels = {}
        if truth is not None:
            assert isinstance(truth.kernel, Kernel)
            power = np.maximum(self._eigenvalues(truth.kernel)[0], 0.0)[:kept]
            channels["power"] = np.concatenate((power, np.zeros(kept - len(power))))
            left = max(truth.variance - float(channels["power"] @ number), 0.0)
            if tail is not None:
                tail = replace(tail, power=left * truth.shares(float(number.sum()), self.dim - 1, tail.edges))
        origin = CLOSED_FORM if exact else f"quadrature over the angle, {kept} degrees"
        return Spectrum(values, number, tail, channels, origin=origin), kept if tail is not None else 0

    def _eigenvalues(self, kernel: Kernel) -> tuple[FloatArray, bool]:
        """Return the eigenvalue of each degree, and whether they are a closed form, to full relative accuracy."""
        if (rbf := as_rbf(kernel)) is not None:
            x = float(rbf.lengthscales(1)[0]) ** -2.0
            order = np.arange(_CLOSED_DEGREES) + self.dim / 2 - 1
            scale = math.lgamma(self.dim / 2) + (self.dim / 2 - 1) * math.log(2 / x)
            with np.errstate(divide="ignore"):
                values = rbf.variance * np.exp(scale + np.log(scipy.special.ive(order, x)))
                masses = values * self.multiplicities(len(values))
            return values[: max(1, int(np.flatnonzero(masses > _NEGLIGIBLE * rbf.variance)[-1]) + 1)], True
        angle, weight = _angles(_DEGREES)
        arc = np.zeros((len(angle), self.dim))
        arc[:, 0], arc[:, 1] = np.cos(angle), np.sin(angle)
        measure = weight * np.sin(angle) ** (self.dim - 2)
        weighted = kernel(np.eye(1, self.dim), arc)[0] * measure / measure.sum()
        return _project(weighted, arc[:, 0], self.dim, _DEGREES), False


def _angles(degrees: int) -> Nodes:
    """Return nodes in the angle for polynomials below some degree, also for kernels that are not smooth at zero distance."""
    width = _PANEL / degrees
    count = math.ceil(math.pi / width)
    near = np.geomspace(1e-13, math.pi / count, 70)
    return gauss_legendre(np.concatenate(([0.0], near, np.arange(2, count + 1) * (math.pi / count))))


def _project(weighted: FloatArray, t: FloatArray, dim: int, degrees: int) -> FloatArray:
    """Return the sums of weighted values times the Gegenbauer polynomials of each degree, by their recurrence."""
    before, now = np.ones_like(t), t
    values = np.empty(degrees)
    values[:2] = weighted.sum(), weighted @ t
    for k in range(1, degrees - 1):
        before, now = now, ((2 * k + dim - 2) * t * now - k * before) / (k + dim - 2)
        values[k + 1] = weighted @ now
    return values


def _normalised(vectors: FloatArray) -> FloatArray:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
