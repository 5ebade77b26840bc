r"""Spectra of Matérn kernels on isotropic Gaussian inputs, by blocks of an oscillator basis and Weyl's law.

Lengths are in units of the standard deviation of the inputs. The operator is :math:`p^{1/2}Cp^{1/2}`, and a Matérn kernel is a
mixture of :math:`e^{-\tau|x-x'|^2}`. In the eigenfunctions of an oscillator of frequency :math:`\omega`, spherical harmonics of degree
`l` do not mix, and the generating function of the radial elements of one Gaussian is, with :math:`\kappa = l + d/2`,

.. math:: (\omega/2P)^{d/2} r^l\,[(1-as)(1-at) - r^2st]^{-\kappa},\quad r = \tau\omega/P,\; a = (\tfrac1{16}+\tfrac\tau2-\tfrac{\omega^2}4)/P,

:math:`P = (\frac14+\frac\omega2)(\frac14+\frac\omega2+2\tau)`. So the element between `m` and `n` is
:math:`\sum_j T_{mj}T_{nj}S_{m+n-2j,\,l+2j}`, :math:`T_{mj} = \sqrt{m!(\kappa)_m/j!(\kappa)_j}/(m-j)!`, and
:math:`S_{iJ} = \langle(\omega/2P)^{d/2}a^ir^J\rangle` over the mixture serves all blocks. No term cancels another in the sense that errors
are small beside the roots of the diagonal. A Cholesky factor and one-sided Jacobi rotations keep this accuracy for small eigenvalues.

Far down the eigenvalues follow Weyl's law: those above :math:`\lambda` are as many as cells of phase space in which
:math:`p(x)\hat C(q) > \lambda`. The level is :math:`t = \ln(p(0)\hat C(0)/\lambda)/\eta`, :math:`\eta = \nu + d/2`, and on it
:math:`x^2 = 2\eta v`, :math:`q^2 = (2\nu/l^2)(e^{t-v}-1)` for `v` from 0 to `t`. Near one level the list fades out and the law fades
in. Its relative error falls as :math:`1/q^2`, as :math:`e^{-t}`; its amplitude makes the trace right.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import scipy

from gpcurves.numerics.quadrature import gauss_legendre
from gpcurves.numerics.roots import invert
from gpcurves.numerics.validation import FloatArray
from gpcurves.spectra.nystrom import ROUNDING, Decay
from gpcurves.spectra.spectrum import Spectrum

LARGEST_SMOOTHNESS, MOST_DIMENSIONS = 10.0, 10  # within which the mixture is resolved and the list has enough shells
_STEP = 0.25  # of the trapezoidal rule over ln z: its error is exp(-π²/step), the integrand being analytic up to π/2
_FADE = 14.0  # widths of the fading between the list and the law, in the action of the last level that the list has
_JITTER = 1e-14  # added to the diagonal in relative terms: factors exist for the longest lengthscales, too
_DEPTH = 75.0  # how far the law is listed below the list, in ln λ
_WELL_KNOWN = 1e-6  # share of the trace from which on the law's amplitude follows from what the list leaves
_INNER = np.polynomial.legendre.leggauss(48)


@dataclass(frozen=True)
class Radial:
    """A Matérn kernel (an RBF if ``smoothness`` is infinite) with one lengthscale, in units of the inputs' standard deviation."""

    smoothness: float
    lengthscale: float
    variance: float

    def mixture(self, dim: int, highest: float) -> tuple[FloatArray, FloatArray]:
        r"""Return rates :math:`\tau = \nu/2l^2z` and weights: `z` has a gamma distribution. Frequencies matter up to ``highest``."""
        nu, scale = self.smoothness, self.lengthscale
        if math.isinf(nu):
            return np.array([0.5 / scale**2]), np.array([self.variance])
        # elements fall as τ^(-d/2) beyond the square of the frequencies, so that z^(ν + d/2) is lost to rounding below this
        low = math.log(1e-17) / (nu + dim / 2) - 2 * math.log(max(highest * scale, 1.0)) - 1
        y = _STEP * np.arange(math.floor(low / _STEP), math.ceil(math.log(45 + 3 * nu) / _STEP) + 1.0)
        weight = _STEP * self.variance * np.exp(nu * y - np.exp(y) - math.lgamma(nu))
        return nu / (2 * scale**2) * np.exp(-y), weight

    def log_transform(self, squared: FloatArray, dim: int) -> FloatArray:
        r"""Return the logarithm of :math:`p(0)\hat C(q)` at squared angular frequencies."""
        nu, scale = self.smoothness, self.lengthscale
        front = math.log(self.variance) + dim * math.log(scale)
        if math.isinf(nu):
            return np.asarray(front - 0.5 * scale**2 * squared)
        front += 0.5 * dim * math.log(1 / nu) + math.lgamma(nu + dim / 2) - math.lgamma(nu)
        return np.asarray(front - (nu + dim / 2) * np.log1p(scale**2 * squared / (2 * nu)))


@dataclass(frozen=True)
class Levels:
    """Phase space of a Matérn kernel, by the level `t`."""

    kernel: Radial
    dim: int

    @property
    def eta(self) -> float:
        """How fast the logarithm of the eigenvalue falls with the level."""
        return self.kernel.smoothness + self.dim / 2

    @property
    def top(self) -> float:
        """Logarithm of the eigenvalue of the level 0."""
        return float(self.kernel.log_transform(np.zeros(1), self.dim)[0])

    @property
    def stiffness(self) -> float:
        """The factor of the squared frequency."""
        return 2 * self.kernel.smoothness / self.kernel.lengthscale**2

    def action(self, level: FloatArray) -> FloatArray:
        """Return half the product of the largest x and the largest q of a level: about the number of its shell."""
        level = np.maximum(level, 0.0)
        return np.sqrt(self.stiffness * np.expm1(level) * 2 * self.eta * level) / 2

    def level(self, action: float) -> float:
        """Return the level with this action."""
        return float(invert(self.action, np.array([action]), 600.0)[0])

    def frequency(self, level: float) -> float:
        """Return the frequency of an oscillator whose shells resemble those of the level.

        Orbits in one dimension run through both axes, and those in many are nearly circular: their ratios of q to x differ.
        """
        axes = math.sqrt(self.stiffness * math.expm1(level) / (2 * self.eta * level))
        v = float(invert(lambda v: v + np.expm1(v - level), np.zeros(1), 1.0)[0])  # of the circle, the largest product
        circle = math.sqrt(self.stiffness * math.expm1(level - v) / (2 * self.eta * v))
        share = (self.dim - 1) / (self.dim + 1)
        return float(axes ** (1 - share) * circle**share)

    def density(self, level: FloatArray, other: Radial | None = None) -> tuple[FloatArray, FloatArray]:
        """Return the number of eigenvalues per unit of the level, and the power of the functions of another kernel in them."""
        half = self.dim / 2
        # beyond 150/d the factor e^(-vd/2) is below 1e-32; the angle makes both ends of the integral smooth
        last = np.minimum(level, 150 / self.dim)[:, None]
        angle, weight = (_INNER[0] + 1) * math.pi / 4, _INNER[1] * math.pi / 4
        sine, cosine = np.sin(angle), np.cos(angle)
        v, gap = last * sine**2, (level[:, None] - last) + last * cosine**2
        each = 2 * last**half * sine ** (self.dim - 1) * cosine * weight
        each = each * np.exp(half * gap) * (-np.expm1(-gap)) ** (half - 1)
        # the two solid angles are (2π^(d/2)/Γ(d/2))², and (2π)^d is the volume of a cell
        log_front = half * math.log(self.stiffness * 2 * self.eta) - 2 * math.lgamma(half) - self.dim * math.log(2)
        number = math.exp(log_front) * each.sum(axis=1)
        if other is None:
            return number, number * np.exp(self.top - self.eta * level)
        power = each * np.exp(other.log_transform(self.stiffness * np.expm1(gap), self.dim) - self.eta * v)
        return number, math.exp(log_front) * power.sum(axis=1)


def block_elements(rates: FloatArray, weights: FloatArray, frequency: float, dim: int, shells: int) -> list[FloatArray]:
    """Return the matrix of a mixture of Gaussians between oscillator functions of each degree, up to this number of shells."""
    base = 0.25 + frequency / 2
    P = base * (base + 2 * rates)
    a, r = (0.0625 + rates / 2 - frequency**2 / 4) / P, rates * frequency / P
    index = np.arange(shells + 1.0)
    front = weights * (frequency / (2 * P)) ** (dim / 2)
    S = (front[:, None] * a[:, None] ** index).T @ r[:, None] ** index
    found = []
    for degree in range(shells + 1 if dim > 1 else 2):  # in one dimension functions are even or odd
        size = (shells - degree) // 2 + 1
        m = np.arange(size)
        kappa = degree + dim / 2
        growth = np.sqrt((m + 1) * (m + kappa))
        K = np.zeros((size, size))
        for j in range(size):
            column = np.cumprod(np.concatenate(([1.0], growth[j:-1] / (m[j:-1] - j + 1))))
            K[j:, j:] += np.outer(column, column) * S[np.add.outer(m[j:], m[j:]) - 2 * j, degree + 2 * j]
        found.append(K)
    return found


def _diagonalise(K: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return eigenvalues and eigenvectors, small ones to the accuracy that elements have beside the diagonal."""
    L = np.linalg.cholesky(K + _JITTER * np.diag(np.diagonal(K)))
    roots, vectors, _, work, _, info = scipy.linalg.lapack.dgejsv(L, joba=0, jobu=0, jobv=3)
    assert info == 0, f"Jacobi rotations did not converge ({info})"
    return (roots * (work[0] / work[1])) ** 2, vectors


def harmonics(dim: int, degree: int) -> float:
    """Return the number of spherical harmonics of a degree."""
    if degree == 0 or dim == 1:
        return 1.0
    return math.comb(degree + dim - 1, dim - 1) - (math.comb(degree + dim - 3, dim - 1) if degree > 1 else 0)


def usual_action(dim: int) -> float:
    """Return the action up to which eigenvalues are listed, which takes a tenth of a second."""
    return 24 + dim / 2 + 36 / dim


def oscillator_spectrum(
    kernel: Radial, dim: int, teacher: Radial | None = None, action: float | None = None
) -> Spectrum:
    """Return the spectrum of a Matérn kernel on standard normal inputs, with the power of a teacher's functions if there is one.

    Eigenvalues are listed up to an ``action``. Without one, a spectrum up to four fifths of the usual action goes with it, from
    which the error is estimated.
    """
    if action is None:
        fine, coarse = (oscillator_spectrum(kernel, dim, teacher, part * usual_action(dim)) for part in (1.0, 0.8))
        return replace(fine, coarse=coarse)
    levels = Levels(kernel, dim)
    last, width = levels.level(action), action / _FADE
    middle = (
        action - 4.2 * width
    )  # erfc(4.2)/2 is 1e-9: nothing is left of the list at its end, and of the law where it begins

    def list_share(level: FloatArray) -> FloatArray:
        return np.asarray(scipy.special.erfc((levels.action(level) - middle) / width) / 2)

    values, number, power = _list_blocks(levels, last, action, teacher)
    fading = list_share((levels.top - np.log(values)) / levels.eta)
    end = last + _DEPTH / levels.eta
    begin = levels.level(middle - 4.2 * width)
    edges = np.concatenate((np.linspace(begin, last, 9), np.linspace(last, end, math.ceil(_DEPTH / 4) + 1)[1:]))
    level, step = gauss_legendre(edges)
    law, rising = np.exp(levels.top - levels.eta * level), 1 - list_share(level)
    count, beyond = levels.density(level)[0] * step, float(levels.density(np.array([end]))[1][0]) / kernel.smoothness
    error = np.exp(last - level)  # of the law, but for its amplitude
    right = 1 + error * _amplitude(kernel.variance, number * values, fading, law * count, rising, error, beyond)
    channels = {}
    if teacher is not None:
        taught = levels.density(level, teacher)[1] * step
        lost = (
            0.0 if math.isinf(nu := teacher.smoothness) else float(levels.density(np.array([end]), teacher)[1][0]) / nu
        )
        true = 1 + error * _amplitude(teacher.variance, number * power, fading, taught, rising, error, lost)
        channels["power"] = np.concatenate((power, taught / count * true / right))
    listed = np.concatenate((number * fading, count * rising * right))
    # what lies this far out matters for the trace alone
    tail = Decay(kernel.smoothness, dim).tail(float(law[-1]), float(listed.sum()), beyond)
    origin = f"numerical, {len(values)} eigenvalues of an oscillator basis and Weyl's law"
    resolution = ROUNDING * kernel.variance
    return Spectrum(np.concatenate((values, law)), listed, tail, channels, None, origin, resolution)


def _list_blocks(
    levels: Levels, last: float, action: float, teacher: Radial | None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the eigenvalues above a level, their multiplicities and the power of the teacher's functions in each."""
    dim, frequency = levels.dim, levels.frequency(last)
    highest = math.sqrt(levels.stiffness * math.expm1(last))
    shells = int(1.15 * action) + 6  # beyond the action, for the exponential tails of eigenfunctions
    blocks = block_elements(*levels.kernel.mixture(dim, highest), frequency, dim, shells)
    true = blocks if teacher is None else block_elements(*teacher.mixture(dim, highest), frequency, dim, shells)
    found = []
    for degree, (K, M) in enumerate(zip(blocks, true, strict=True)):
        values, vectors = _diagonalise(K)
        kept = levels.action((levels.top - np.log(values)) / levels.eta) < action
        values, vectors = values[kept], vectors[:, kept]
        power = np.maximum(np.einsum("mi,mi->i", vectors, M @ vectors), 0.0)  # rounding, if there is next to none
        found.append((values, np.full(len(values), harmonics(dim, degree)), power))
    values, number, power = (np.concatenate(column) for column in zip(*found, strict=True))
    return values, number, power


def _amplitude(
    total: float,
    listed: FloatArray,
    fading: FloatArray,
    law: FloatArray,
    rising: FloatArray,
    error: FloatArray,
    beyond: float,
) -> float:
    """Return the amplitude of the law's relative error, from masses of the list and of the law with their shares."""
    rest = float(law @ rising) + beyond
    if rest > _WELL_KNOWN * total:
        found = (total - float(listed @ fading) - rest) / float((law * error) @ rising)
    else:  # less is lost among rounding errors of the trace: both are compared while one fades into the other
        window, same = fading * (1 - fading), rising * (1 - rising)
        found = (float(listed @ window) - float(law @ same)) / max(float((law * error) @ same), 1e-300)
    return min(max(found, -0.9), 10.0)


def level_powers(kernel: Radial, dim: int, teacher: Radial, levels: int) -> FloatArray:
    r"""Return the power of a teacher's functions in all eigenfunctions of each level of an RBF kernel together, as far as they can be learnt.

    For one Gaussian of the teacher's mixture they have the generating function
    :math:`c\,[(1+ft)(1+gt)]^{-d/2}`, by Mehler's formula: with the frequency :math:`\omega` of the eigenfunctions and
    :math:`w = \frac12+4\tau`, :math:`f = (\frac12-\omega)/(\frac12+\omega)`, :math:`g = (\omega-w)/(\omega+w)` and
    :math:`c^{2/d} = 2\omega/(\frac12+\omega)(\omega+w)`.
    """
    ratio = kernel.lengthscale**2
    decay = math.log1p(ratio / 2 + math.sqrt(ratio * ratio / 4 + ratio))
    frequency = -math.expm1(-2 * decay) / (2 * math.exp(-decay) * ratio)
    levels = min(levels, math.ceil(_DEPTH / decay))  # further eigenvalues are as good as zero
    rates, weights = teacher.mixture(dim, math.sqrt(2 * frequency * levels))
    wide = 0.5 + 4 * rates
    first, second = (0.5 - frequency) / (0.5 + frequency), (frequency - wide) / (frequency + wide)
    now = weights * (2 * frequency / ((0.5 + frequency) * (frequency + wide))) ** (dim / 2)
    earlier = np.zeros(len(rates))
    powers = np.empty(levels)
    for s in range(levels):
        powers[s] = now.sum()
        later = -((s + dim / 2) * (first + second) * now + (s - 1 + dim) * first * second * earlier) / (s + 1)
        now, earlier = later, now
    return np.maximum(powers, 0.0)  # rounding leaves noise if nothing is left
