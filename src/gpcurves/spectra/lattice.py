r"""Spectra that are a function of a sum over independent integers: the torus, and Gaussian inputs.

On the torus :math:`\lambda_q = S(z)`, :math:`z = \sum_i (l_i q_i)^2` over integer vectors `q`; with Gaussian inputs
:math:`\lambda_q = S(z)`, :math:`z = \sum_i b_i q_i` over non-negative ones. Vectors are never listed. Components with
the same scale share one list of *shells*: values of `z` with the number of vectors that have it. Several lists are
merged one after the other, keeping for smooth sums only Chebyshev nodes (`merge`), and for sums in order only the
largest eigenvalues (`pairwise`). So memory is bounded in any dimension.

The function `S` of a stationary kernel is its Fourier transform (`fourier`). On the box it gives the asymptotic form of
the spectrum (Widom): far down, the eigenvalue number `i` is the transform at the radius of the ellipsoid that holds `i`
integer vectors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy

from gpcurves.errors import InputError
from gpcurves.kernels import Kernel, Stationary, as_rbf
from gpcurves.numerics.quadrature import gauss_legendre
from gpcurves.numerics.roots import invert
from gpcurves.numerics.validation import FloatArray
from gpcurves.spectra.measure import chebyshev_nodes, moments_to_weights
from gpcurves.spectra.spectrum import UNDERFLOW, Spectrum
from gpcurves.spectra.tail import Boundary, Tail, panels

ArrayFunction = Callable[[FloatArray], FloatArray]

MOST_LISTED = 2_000_000
"""How many distinct eigenvalues may be listed one by one."""
_LISTED_OF_MANY = 1_500_000
_LONGEST_LINE = 1_000_000
_SHARPNESS = 6.5
"""Half the radius of the lattice in widths of its soft boundary: at both ends erfc(6.5) is below 1e-19, which is nothing."""


@dataclass(frozen=True)
class Shells:
    """Values of `z` in ascending order and how many vectors have each."""

    z: FloatArray
    number: FloatArray


ORIGIN = Shells(np.zeros(1), np.ones(1))


@dataclass(frozen=True)
class Profile:
    """Logarithm of the eigenvalue as a decreasing function of `z`."""

    log_value: ArrayFunction

    def drop(self, z: FloatArray) -> FloatArray:
        """Return by how much the logarithm has fallen since z = 0."""
        return np.asarray(self.log_value(np.zeros(1))[0] - self.log_value(z))

    @property
    def underflow(self) -> float:
        """The `z` beyond which eigenvalues are lost to double precision; at most 1e30."""
        return float(invert(self.drop, np.array([UNDERFLOW]), 1e30)[0])


@dataclass(frozen=True)
class Fourier:
    r"""Transform as a function of :math:`z = \sum_i (l_i q_i)^2`, and `z` as a function of the index."""

    profile: Profile
    scales: FloatArray

    def z_of(self, index: FloatArray) -> FloatArray:
        """Return the `z` of the ellipsoid that holds ``index`` integer vectors."""
        dim = len(self.scales)
        log_factor = math.lgamma(dim / 2 + 1) + float(np.log(self.scales).sum())
        log_volume = 0.5 * dim * math.log(math.pi) - log_factor
        return np.asarray(np.exp((np.log(index) - log_volume) * (2 / dim)))

    def log_eigenvalue(self, index: FloatArray) -> FloatArray:
        """Return the logarithm of the transform at this index."""
        return self.profile.log_value(self.z_of(index))


def fourier(kernel: Kernel, dim: int) -> Fourier | None:
    """Return the transform of a kernel, or of a sum of kernels stretched alike, if it has a closed form."""
    terms = [as_rbf(part) or part for part in kernel.terms]
    stationary = [part for part in terms if isinstance(part, Stationary)]
    if len(stationary) < len(terms) or any(part.log_transform(np.zeros(1), dim) is None for part in stationary):
        return None
    scales = np.array([part.lengthscales(dim) for part in stationary])
    direction: FloatArray = scales[0]
    ratio = scales[:, :1] / direction[0]
    if not np.allclose(scales, ratio * direction, rtol=1e-12, atol=0):
        return None  # kernels stretched in different directions: no single z
    return Fourier(Profile(partial(_log_sum, stationary, scales, ratio[:, 0])), direction)


def _log_sum(terms: Sequence[Stationary], scales: FloatArray, ratio: FloatArray, z: FloatArray) -> FloatArray:
    """Return the logarithm of the sum of transforms, of which each is stretched by its own ratio."""
    logs = []
    for term, scale, factor in zip(terms, scales, ratio.tolist(), strict=True):
        shape = term.log_transform(factor * factor * z, len(scale))
        assert shape is not None  # `fourier` has checked it
        logs.append(math.log(term.variance) + float(np.log(scale).sum()) + shape)
    return logs[0] if len(logs) == 1 else np.asarray(scipy.special.logsumexp(logs, axis=0))


def squares(scale: float, limit: float) -> Shells:
    """List (scale q)^2 over all integers q; if they are too many, the far ones as nodes of the midpoint rule."""
    level, width = _count_up(math.sqrt(limit) / scale, _LONGEST_LINE, 1)
    number = 2 * width
    number[0] = 1.0
    return Shells((scale * level) ** 2, number)


def _count_up(last: float, most: int, more: int) -> tuple[FloatArray, FloatArray]:
    """List 0, 1, … up to ``last`` with weights of 1; the far ones beyond ``most`` as nodes with their weights."""
    level = np.arange(min(math.floor(last), most) + 1.0)
    width = np.ones(len(level))
    if last > len(level):
        # From a million on, neighbours differ by 1e-6: a sum is then the integral between half-integers, to 1e-13.
        edges = max(2, math.ceil(8 * math.log(last / len(level))) + more)
        far, step = gauss_legendre(np.geomspace(len(level) - 0.5, last, edges))
        level, width = np.concatenate((level, far)), np.concatenate((width, step))
    return level, width


def sums_of_squares(dim: int, scale: float, limit: float) -> Shells:
    """Count the integer vectors with each squared length up to ``limit``, adding one dimension at a time."""
    if dim == 1:
        return squares(scale, limit)
    largest = math.floor(limit / scale**2)
    roots = np.arange(1, math.isqrt(largest) + 1)
    number = np.zeros(largest + 1)
    number[0] = 1.0
    number[roots**2] = 2.0  # a root and its negative
    for _ in range(dim - 1):
        longer = number.copy()
        for square in (roots**2).tolist():
            longer[square:] += 2.0 * number[: largest + 1 - square]
        number = longer
    occurring = np.flatnonzero(number)
    return Shells(scale**2 * occurring.astype(np.float64), number[occurring])


def simplex(dim: int, rate: float, limit: float) -> Shells:
    """List rate times the sum of ``dim`` non-negative integers, with their number (d + s - 1)! / (s! (d - 1)!)."""
    level, width = _count_up(limit / rate, MOST_LISTED, 2)
    log_number = scipy.special.gammaln(level + dim) - scipy.special.gammaln(level + 1) - scipy.special.gammaln(dim)
    # below e^30 the number fits a double exactly, and the rounding error of the logarithm is removed
    exact = np.rint(np.exp(log_number)) if dim > 1 else np.ones(len(level))
    return Shells(rate * level, width * np.where(log_number < 30, exact, np.exp(log_number)))


def pairwise(groups: list[Shells], limit: float, most: int) -> Shells | None:
    """List the shells of the sum of all groups up to ``limit``, or return None if they are more than ``most``."""
    z, number = ORIGIN.z, ORIGIN.number
    for group in groups:
        # how many shells of the group fit to each sum so far; counted before anything is allocated
        sizes = np.searchsorted(group.z, limit - z, side="right")
        if int(sizes.sum()) > most:
            return None
        row = np.repeat(np.arange(len(z)), sizes)
        column = np.arange(len(row)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        z, number = z[row] + group.z[column], number[row] * group.number[column]
    order = np.argsort(z, kind="stable")
    return Shells(z[order], number[order])


def merge(groups: list[Shells], limit: float, coordinate: ArrayFunction, degree: int) -> Shells:
    """Return nodes that stand for the sum of all groups up to ``limit`` in smooth sums.

    Bins have unit width in ``coordinate``, an increasing function of `z`, and ``degree`` Chebyshev nodes each.
    """
    bins = max(1, math.ceil(float(coordinate(np.array([limit]))[0])))
    edges = invert(coordinate, np.arange(1.0, bins), 2 * limit)
    middles = np.arange(bins)[:, None] + 0.5
    nodes = invert(coordinate, (middles - chebyshev_nodes(degree) / 2).ravel(), 2 * limit)

    def combine(few: Shells, many: Shells) -> Shells:
        # Loops over the shorter list only. The moments of a bin determine the weights of its nodes, so that the pairs
        # themselves, which may be billions, are never stored.
        moments = np.zeros((degree, bins))
        table = np.empty((degree, len(many.z)))
        for z, number in zip(few.z.tolist(), few.number.tolist(), strict=True):
            stop = int(np.searchsorted(many.z, limit - z, side="right"))
            if stop == 0:
                continue
            total = z + many.z[:stop]
            bounds = np.concatenate(([0], np.searchsorted(total, edges), [stop]))
            occupied = np.flatnonzero(np.diff(bounds))
            # position within the bin, between -1 and 1, where the Chebyshev recursion is stable
            position = 2 * (coordinate(total) - np.repeat(occupied, np.diff(bounds)[occupied])) - 1
            t = table[:, :stop]
            t[0] = number * many.number[:stop]
            np.multiply(t[0], position, out=t[1])
            position *= 2
            for k in range(2, degree):
                np.multiply(position, t[k - 1], out=t[k])
                t[k] -= t[k - 2]
            moments[:, occupied] += np.add.reduceat(t, bounds[occupied], axis=1)
        return Shells(nodes, moments_to_weights(moments)[::-1].T.ravel())

    result = ORIGIN
    for group in groups:
        stop = int(np.searchsorted(group.z, limit, side="right"))
        near = Shells(group.z[:stop], group.number[:stop])
        # a list longer than the nodes is itself replaced by nodes first, so that no product exceeds nodes times nodes
        short = combine(ORIGIN, near) if len(near.z) > len(nodes) else near
        few, many = sorted((short, result), key=lambda shells: len(shells.z))
        result = combine(few, many)
    return result


def lattice_spectrum(
    groups: list[Shells],
    profile: Profile,
    limit: float,
    z_of: ArrayFunction,
    fades: bool,
    origin: str,
    power: ArrayFunction | None = None,
) -> Spectrum:
    """Join the groups, listed up to ``limit``, into a spectrum.

    ``z_of`` gives `z` at a real index in the continuum. With ``fades`` the lattice goes on beyond the limit, and the
    continuum replaces it there; without, what lies beyond is below double precision. ``power`` is that of the true function in
    each eigenfunction, as a function of `z`.
    """
    shells = pairwise(groups, limit, MOST_LISTED)
    merged = None
    if shells is None:
        scale = math.sqrt(limit) / (2 * _SHARPNESS)

        def coordinate(z: FloatArray) -> FloatArray:
            # Bins must resolve the eigenvalue (its logarithm) and, if the lattice fades, the boundary, which varies over
            # one width in the square root of z. Analytic at z = 0 too: no square root of z itself.
            return 2 * profile.drop(z) + np.sqrt(1 + z / scale**2) - 1 if fades else profile.drop(z) / 2

        merged = merge(groups, limit, coordinate, 16 if fades else 20)
        # sums in order need a true list: as much of it as fits, growing until it does not
        near = min(float(group.z[1]) for group in groups)
        while (more := pairwise(groups, near, _LISTED_OF_MANY)) is not None:
            shells, near = more, 1.2 * near
        assert shells is not None  # the first shells of each group are few
    logs = profile.log_value(shells.z)
    keep = logs > -744.0  # e^-745 is zero in double precision
    shells, values = Shells(shells.z[keep], shells.number[keep]), np.exp(logs[keep])
    if len(values) == 0:
        raise InputError("the variance of the kernel is too small: its eigenvalues are zero in double precision")
    tail = None
    if merged is not None or fades:
        tail = _tail(shells, merged, profile, limit, z_of, fades, power)
    channels = {} if power is None else {"power": power(shells.z)}
    return Spectrum(values, shells.number, tail, channels, origin=origin)


def _tail(
    shells: Shells,
    merged: Shells | None,
    profile: Profile,
    limit: float,
    z_of: ArrayFunction,
    fades: bool,
    power: ArrayFunction | None,
) -> Tail:
    r"""Continue a list of shells, for sums in order from its end on, for smooth sums with a soft boundary.

    A sharp boundary would leave the error of Gauss's circle problem. Instead the lattice fades out and the continuum
    fades in as :math:`\chi = \frac12\mathrm{erfc}((\sqrt z - R)/w)`, :math:`R = \sqrt{z_{max}}/2`, :math:`w = R/6.5`.
    The continuum's integrand is then smooth on the scale `w` of several lattice spacings, so that by Poisson's formula
    its sum and its integral differ by about :math:`e^{-\pi^2 w^2/l^2}`, beyond double precision.
    """
    middle = math.sqrt(limit) / 2
    width = middle / _SHARPNESS

    def log_eigenvalue(index: FloatArray) -> FloatArray:
        return profile.log_value(z_of(index))

    def lattice_share(z: FloatArray) -> FloatArray:
        return _erfc((np.sqrt(z) - middle) / width) / 2 if fades else np.ones(len(z))

    at, number = np.empty(0), np.empty(0)  # the z of nodes, and their weights
    boundary, list_share = Boundary.SOFT, lattice_share(shells.z)
    if merged is not None:
        at, number = merged.z, merged.number * lattice_share(merged.z)
        boundary, list_share = Boundary.REPLACED, np.zeros(len(shells.z))
    if fades:

        def resolution(index: FloatArray) -> FloatArray:
            root = np.sqrt(z_of(index))
            return np.where(root < 2.2 * middle, 1.5 * np.gradient(root, np.log(index)) / width, 0.0)

        # at 0.06 R the continuum's share is erfc(6.1)/2, below 1e-17: it begins there, away from the singularity at 0
        first = float(invert(z_of, np.array([(0.06 * middle) ** 2]), 1e300)[0])
        index, weight = gauss_legendre(panels(log_eigenvalue, first, resolution))
        far = z_of(index)
        at = np.concatenate((at, far))
        number = np.concatenate((number, weight * (1 - lattice_share(far))))
    # sums in order: a shift of the continuum's index joins it to the last listed eigenvalue; beyond a full lattice it
    # soon dies out, because there the volume itself is right to second order in the fluctuations of the count
    start = float(shells.number.sum())
    shift = float(invert(z_of, shells.z[-1:], 1e300)[0]) + float(shells.number[-1]) / 2 - start
    after_list = partial(_log_after_list, profile, z_of, shift, start, boundary.join_power)
    taught = None if power is None else power(at)
    return Tail(after_list, panels(after_list, start), profile.log_value(at), number, boundary, list_share, taught)


def _erfc(x: FloatArray) -> FloatArray:
    """Return the complementary error function, without SciPy's, whose import takes longer than calls for a long list."""
    return np.fromiter(map(math.erfc, x.data), np.float64, len(x))


def _log_after_list(
    profile: Profile, z_of: ArrayFunction, shift: float, start: float, power: float, index: FloatArray
) -> FloatArray:
    return profile.log_value(z_of(index + shift * (start / index) ** power))
