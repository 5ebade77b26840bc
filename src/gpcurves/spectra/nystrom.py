r"""Spectra by diagonalising a matrix: exact for discrete inputs, by quadrature (Nyström) for all others.

For discrete inputs the eigenvalues are those of :math:`P^{1/2} C P^{1/2}` (Sollich & Halees 2002, App. B). For others
the same matrix on quadrature nodes approximates the leading eigenvalues; its small ones are worthless. Those that
half of the nodes confirm are kept, and a smooth tail conserves the trace. On the box it has the shape of the
kernel's Fourier transform; elsewhere it is a power law with the exponent :math:`1 + 2\nu/d` that the kernel's
smoothness prescribes, or for analytic kernels :math:`\lambda \propto e^{-b\, i^{1/d}}`. The same with a quarter
of the nodes and at most half as many eigenvalues gives the error estimate.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from gpcurves.errors import InputError
from gpcurves.numerics.quadrature import gauss_legendre
from gpcurves.numerics.roots import bisect, invert
from gpcurves.numerics.validation import FloatArray, as_numbers
from gpcurves.numerics.validation import probabilities as checked_probabilities
from gpcurves.spectra.lattice import Fourier
from gpcurves.spectra.spectrum import Spectrum
from gpcurves.spectra.tail import Tail

Power = Callable[[FloatArray], FloatArray]
"""Takes vectors as columns along the nodes, with the roots of the weights in them; returns the true power along each."""
Rule = Callable[[int], tuple[FloatArray, FloatArray]]
"""Takes a number of nodes, returns about so many points and their weights."""
NODES = 1_600
"""The eigenvalues of a matrix of this size take about a second."""
_AGREEMENT = 0.1
"""An eigenvalue is trusted if half of the nodes give it to 10 %, because all nodes then give it better than that. The first
that fails marks where quadrature ceases to resolve the eigenfunctions."""
ROUNDING = 1e-13
"""Eigenvalues below this share of the largest are rounding errors of the eigensolver, about 1e-16 times the matrix norm."""


@dataclass(frozen=True)
class Truth:
    """The process that true functions come from, if it is not that of the kernel; or one true function.

    ``covariance`` returns the matrix between the rows of its argument, ``values`` those of one function there, and ``variance`` is
    the average square of a true function. The ``kernel`` is there for those who know its eigenfunctions.
    """

    covariance: Callable[[FloatArray], FloatArray]
    values: Callable[[FloatArray], FloatArray] | None
    variance: float
    kernel: object = None
    smoothness: float | None = None

    def power(self, X: FloatArray, vectors: FloatArray) -> FloatArray:
        r"""Return :math:`u^TC_0u` for each column `u` of ``vectors``, which are along the rows of X."""
        if self.values is not None:
            return np.asarray((self.values(X) @ vectors) ** 2)
        return np.asarray(np.maximum(np.einsum("ij,ij->j", vectors, self.covariance(X) @ vectors), 0.0))

    def shares(self, start: float, dim: int, edges: FloatArray) -> FloatArray:
        """Return how the power beyond ``start`` eigenfunctions falls with the index, at Gauss-Legendre nodes between ``edges``.

        It is a power law of the smoothness, which sums to 1 up to infinity. Nothing is known about one function or about other
        kernels, so that none is in the tail: it counts as if it could not be learnt.
        """
        index, _ = gauss_legendre(edges)
        if self.smoothness is None or math.isinf(self.smoothness):
            return np.zeros(len(index))
        excess = 2 * self.smoothness / dim
        return np.asarray(excess / start * (index / start) ** -(1 + excess))


def numerical_spectrum(
    covariance: Callable[[FloatArray], FloatArray],
    nodes: Rule,
    count: int,
    decay: Decay,
    *,
    sampled: bool = False,
    truth: Truth | None = None,
) -> Spectrum:
    """Return the spectrum of a covariance function from the eigenvalues of its matrix on ``count`` nodes.

    ``covariance`` returns the matrix between the rows of its argument, and ``decay`` says how fast the eigenvalues fall beyond
    those that the nodes resolve. If the nodes are ``sampled`` at random, every eigenvalue has an error of sampling. With the
    ``truth`` about other functions, the spectrum has their power in each eigenfunction.
    """
    fine, half, quarter = (node_spectrum(covariance, nodes, max(1, count // part), truth) for part in (1, 2, 4))
    trusted = _count_trusted(fine.values, half.values)
    confirmed = _count_trusted(half.values, quarter.values)
    if sampled:  # halves of a sample do not agree: one eigenvalue for every twenty points is what it determines
        trusted, confirmed = max(trusted, count // 20), max(confirmed, count // 40)
    if trusted < fine.size:  # the tail is a guess: let the comparison make it earlier
        confirmed = max(1, min(confirmed, trusted // 2))
    return _with_tail(fine, trusted, decay, _with_tail(quarter, confirmed, decay, None, truth), truth)


def matrix_spectrum(
    matrix: npt.ArrayLike, probabilities: npt.ArrayLike | None = None, power: Power | None = None
) -> Spectrum:
    """Return the spectrum of a covariance matrix on discrete inputs; see `Spectrum.from_kernel_matrix`."""
    C = as_numbers(matrix, "a kernel matrix must be an array of numbers")
    if C.ndim != 2 or C.shape[0] != C.shape[1] or C.size == 0:
        raise InputError(f"a kernel matrix must be square, got shape {C.shape}")
    if not np.isfinite(C).all():
        raise InputError("a kernel matrix must be finite, got NaN or infinity")
    if not np.allclose(C, C.T, rtol=1e-8, atol=1e-10 * abs(C).max()):
        raise InputError("a kernel matrix must be symmetric")
    return _diagonalise(C, checked_probabilities(probabilities, len(C)), f"{len(C)} discrete inputs", power)


def node_spectrum(
    covariance: Callable[[FloatArray], FloatArray], nodes: Rule, count: int, truth: Truth | None = None
) -> Spectrum:
    """Return the eigenvalues on about ``count`` nodes, as they are."""
    X, weight = nodes(count)
    power = None if truth is None else partial(truth.power, X)
    return _diagonalise(covariance(X), weight, f"numerical, {len(X)} nodes", power)


def _diagonalise(C: FloatArray, weight: FloatArray, origin: str, power: Power | None = None) -> Spectrum:
    import scipy.linalg
    from threadpoolctl import threadpool_limits

    root = np.sqrt(weight)
    variances = np.diagonal(C).copy()
    uniform = np.ptp(variances) <= 1e-12 * abs(variances).max()
    scaled = root[:, None] * C * root
    how = {"driver": "evd", "overwrite_a": True, "check_finite": False}
    with threadpool_limits(1):  # several threads gain little here, and lose much on a busy machine
        plain = uniform and power is None
        values, vectors = (scipy.linalg.eigvalsh(scaled, **how), None) if plain else scipy.linalg.eigh(scaled, **how)
    largest = max(float(values[-1]), 0.0)
    # rounding leaves eigenvalues of down to -1e-16 or so; single-precision data, which people have, down to -1e-8
    if values[0] < -1e-8 * max(largest, abs(float(values[0]))) or largest == 0:
        raise InputError(
            f"a kernel matrix must be positive semi-definite, got the eigenvalue {values[0]:g} "
            f"(the largest is {values[-1]:g})"
        )
    keep = values > ROUNDING * largest  # the rest is rounding error
    # <C(x,x) phi_i(x)^2> with phi = vector / sqrt(weight)
    channels = {} if vectors is None or uniform else {"variance": (variances @ vectors**2)[keep]}
    if power is not None and vectors is not None:
        channels["power"] = power(root[:, None] * vectors[:, keep])
    return Spectrum(values[keep], channels=channels, origin=origin)


def _count_trusted(fine: FloatArray, coarse: FloatArray) -> int:
    """Count the leading eigenvalues that half of the nodes confirm."""
    shared = min(len(fine), len(coarse))
    agree = abs(fine[:shared] - coarse[:shared]) <= _AGREEMENT * fine[:shared]
    return shared if agree.all() else max(1, int(np.argmin(agree)))


@dataclass(frozen=True)
class Decay:
    """How fast the eigenvalues fall far out."""

    smoothness: float | None
    dim: int
    transform: Fourier | None = None

    def tail(self, last: float, start: float, mass: float) -> Tail:
        """Return the tail after ``start`` eigenvalues with this mass that joins the eigenvalue ``last``.

        For a power law of known exponent only the mass is matched: rounding off the last eigenvalues matters less.
        """
        if (transform := self.transform) is not None:
            # join the last eigenvalue by shifting the index, then scale to conserve the trace
            target = np.array([-math.log(last)])
            index = float(invert(lambda index: -transform.log_eigenvalue(index), target, 1e30)[0])
            shift = max(index, 0.01) - start  # the index of the transform must stay positive, whose logarithm is taken
            shape = Tail.sharp(partial(_log_shifted, transform, shift, 0.0), start)
            factor = math.log(mass / float(shape.integral(np.array([start]), 1.0)[0]))
            return Tail.sharp(partial(_log_shifted, transform, shift, factor), start)
        if self.smoothness is not None and math.isinf(self.smoothness):
            rate = self._find_rate(mass / (last * start))
            return Tail.sharp(partial(_log_exponential, last, start, rate, self.dim), start)
        excess = last * start / mass if self.smoothness is None else 2 * self.smoothness / self.dim
        first = mass * excess / start  # the integral of first * (index/start)^-(1+excess) is the mass
        return Tail.sharp(partial(_log_power_law, first, start, excess), start)

    def _find_rate(self, ratio: float) -> float:
        # with t = (i/start)^(1/d): mass / (last start) = d int_1^inf t^(d-1) e^(-b(t-1)) dt, decreasing in b
        order = np.arange(self.dim)
        falling = np.cumprod(np.concatenate(([1.0], self.dim - 1.0 - order[:-1])))

        def too_fast(log_b: FloatArray) -> npt.NDArray[np.bool_]:
            integral = self.dim * (falling / np.exp(log_b) ** (order + 1.0)).sum()
            return np.array([integral <= ratio])

        return float(np.exp(bisect(too_fast, np.log([1e-6]), np.log([1e6]), 64)[1][0]))


def _log_power_law(first: float, start: float, excess: float, index: FloatArray) -> FloatArray:
    return np.asarray(math.log(first) - (1 + excess) * np.log(index / start))


def _log_shifted(transform: Fourier, shift: float, factor: float, index: FloatArray) -> FloatArray:
    return factor + transform.log_eigenvalue(index + shift)


def _log_exponential(last: float, start: float, rate: float, dim: int, index: FloatArray) -> FloatArray:
    return np.asarray(math.log(last) - rate * np.expm1(np.log(index / start) / dim))


def _with_tail(
    spectrum: Spectrum, trusted: int, decay: Decay, coarse: Spectrum | None, truth: Truth | None
) -> Spectrum:
    """Keep the first ``trusted`` eigenvalues and put the rest of the trace into a smooth tail."""
    trusted = min(trusted, spectrum.size)
    rest = float(spectrum.values[trusted:].sum())
    tail = None
    # less than that is the sum of rounding errors, and a tail made of it would have an arbitrary slope
    if rest > 1e-12 * float(spectrum.values.sum()):
        tail = decay.tail(float(spectrum.values[trusted - 1]), float(trusted), rest)
        if truth is not None:
            left = max(truth.variance - float(spectrum.channels["power"][:trusted].sum()), 0.0)
            tail = replace(tail, power=left * truth.shares(float(trusted), decay.dim, tail.edges))
    return Spectrum(
        spectrum.values[:trusted],
        spectrum.multiplicities[:trusted],
        tail,
        {name: weights[:trusted] for name, weights in spectrum.channels.items()},
        coarse,
        f"{spectrum.origin}, {trusted} eigenvalues trusted",
        10 * ROUNDING * float(spectrum.values.sum()),
    )
