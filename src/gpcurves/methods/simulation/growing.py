r"""Gaussian beliefs about a function while labels come in one after the other, by expectation propagation or Laplace's method.

As in `gpcurves.methods.simulation.inference`, each label has a Gaussian factor with the precision :math:`\tau_i` and the linear term
:math:`\nu_i`. A new label changes a few factors by much and all others by little. So no matrix is factorised anew: the posterior
covariance :math:`P` is kept, and a change :math:`D` of the precisions of some labels `S` makes it
:math:`P-P_{\cdot S}(1+DP_{SS})^{-1}DP_{S\cdot}`. Small changes wait until they add up. Until then their effect on means is found by
iteration, and that on variances is :math:`-\sum_jP_{ij}^2D_j`, to first order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
import numpy.typing as npt
import scipy

from gpcurves.methods.simulation.inference import MOST, match
from gpcurves.numerics.compiling import compiled
from gpcurves.numerics.validation import FloatArray
from gpcurves.observations import Observation

_STRONG = 0.01  # a change of a precision, relative to that of the belief, from which on it does not wait
_RATE = 0.1  # by which changes are expected to fall from one round to the next, at best
_WAITING = 0.03  # by how much the changes that wait may alter a belief; its square is what the first order leaves out
Renew = Callable[
    [FloatArray, FloatArray, FloatArray, FloatArray, FloatArray, Observation], tuple[FloatArray, FloatArray]
]
"""Takes labels, means, variances, precisions and linear terms; returns better precisions and linear terms."""


def match_again(
    labels: FloatArray,
    mean: FloatArray,
    variance: FloatArray,
    precision: FloatArray,
    linear: FloatArray,
    observation: Observation,
) -> tuple[FloatArray, FloatArray]:
    """Return the factors of expectation propagation, from beliefs without the own factor of each label."""
    without = 1 / (1 / variance - precision)
    return match(labels, without * (mean / variance - linear), without, observation)


def expand(
    labels: FloatArray,
    mean: FloatArray,
    variance: FloatArray,
    precision: FloatArray,
    linear: FloatArray,
    observation: Observation,
) -> tuple[FloatArray, FloatArray]:
    """Return the factors of Laplace's method: the likelihood to second order about the mean, which tends to the mode."""
    _, slope, curvature = observation.slopes(labels, mean)
    return curvature, curvature * mean + slope


RENEW: dict[str, Renew] = {"ep": match_again, "laplace": expand}


class Growing:
    """A belief about examples and further points, of which the first ``n`` examples have a label."""

    def __init__(self, K: FloatArray, cross: FloatArray, prior: FloatArray) -> None:
        self.P = np.concatenate((K, cross), axis=1)  # a row per example, a column per example and point
        self.mean = np.zeros(self.P.shape[1])
        self.variance = np.concatenate((K.diagonal(), prior))
        self.n, self.size = 0, len(K)
        # factors as P, mean and variance have them, and as they should be
        self.precision, self.linear, self.wanted, self.wanted_linear = (np.zeros(len(K)) for _ in range(4))
        self.shift = np.zeros(len(K))  # what waits does to means, as a change of linear terms
        self.rate = 0.5  # by which changes fell from one round to the next

    def at(self, where: slice) -> tuple[FloatArray, FloatArray]:
        """Return means and variances at some of the examples and points, with what waits."""
        n, block = self.n, self.P[: self.n, where]
        waits = self.wanted[:n] - self.precision[:n]
        return self.mean[where] + self.shift[:n] @ block, self.variance[where] - waits @ block**2

    def add(self, labels: FloatArray, observation: Observation) -> None:
        """Take further labels, each with the factor that it would have as the only new one."""
        new = slice(self.n, self.n + len(labels))
        self.wanted[new], self.wanted_linear[new] = match(labels, *self.at(new), observation)
        self._include(np.arange(new.start, new.stop))
        self.n = new.stop

    def settle(self, labels: FloatArray, observation: Observation, renew: Renew, tolerance: float) -> bool:
        """Renew all factors until they agree with the belief; tell whether that was reached.

        All are renewed at once; if that makes changes grow, half of each change is made from then on.
        """
        n, share, last = self.n, 1.0, np.inf
        if n == 0:
            return True
        precision, linear = self.wanted[:n], self.wanted_linear[:n]  # changed in place
        mean, own = self._wait()
        for _ in range(MOST):
            new, new_linear = renew(labels, mean, own, precision, linear, observation)
            new = new - precision
            new_linear = new_linear - linear
            # what counts is what all changes together do to means and variances, and what all later ones will add
            change = _find_change(self.P, new, new_linear, mean, own)
            if last < np.inf:
                self.rate = min(max(change / last, _RATE), 0.999)
            share = 0.5 if change > last else share
            last = change
            precision += share * new
            linear += share * new_linear
            mean, own = self._wait()
            if change * self.rate / (1 - self.rate) < tolerance:
                return True
        return False

    def _wait(self) -> tuple[FloatArray, FloatArray]:
        """Include strong changes, until the others may wait; return means and variances at the labelled examples."""
        n, limit = self.n, _STRONG
        mean, own = np.empty(n), np.empty(n)
        factors = self.precision, self.linear, self.wanted, self.wanted_linear
        while _alter(self.P, self.mean, self.variance, factors, self.shift, mean, own) > _WAITING:
            waits = abs(self.wanted[:n] - self.precision[:n])
            self._include(np.flatnonzero(waits * self.variance[:n] > limit))
            limit /= 10
        return mean, own

    def _include(self, which: npt.NDArray[np.intp]) -> None:
        """Change the covariance, means and variances as the factors of these labels want it."""
        if not len(which):
            return
        more = self.wanted[which] - self.precision[which]
        moved = self.wanted_linear[which] - self.linear[which] - more * self.mean[which]
        rows = self.P[which]
        # P of C order is its transpose in the order of BLAS, which subtracts a product in place
        if len(which) == 1:
            left = 1 + more * rows[0, which]
            moved /= left
            scaled = rows * (more / left)
            scipy.linalg.blas.dger(-1.0, scaled[0], rows[0, : self.size], a=self.P.T, overwrite_a=1)
        else:
            scaled = more[:, None] * rows
            system = scaled[:, which]
            system.flat[:: len(which) + 1] += 1.0
            solved = scipy.linalg.lapack.dgesv(system, np.column_stack((scaled, moved)))[2]
            scaled, moved = solved[:, :-1], solved[:, -1]
            scipy.linalg.blas.dgemm(-1.0, scaled, rows[:, : self.size], 1.0, self.P.T, trans_a=1, overwrite_c=1)
        self.mean += moved @ rows
        self.variance -= np.einsum("ij,ij->j", rows, scaled)
        self.precision[which], self.linear[which] = self.wanted[which], self.wanted_linear[which]


@compiled
def _alter(
    P: FloatArray,
    base: FloatArray,
    variance: FloatArray,
    factors: tuple[FloatArray, FloatArray, FloatArray, FloatArray],
    shift: FloatArray,
    mean: FloatArray,
    own: FloatArray,
) -> float:
    """Write means and variances with what waits; return the largest share of a variance that is altered.

    The mean m solves m = base + P shift, shift = linear terms that wait - precisions that wait * m. Because what waits alters
    little, two iterations from the last solution are enough.
    """
    n = len(mean)
    precision, linear, wanted, wanted_linear = factors
    altered = np.zeros(n)
    mean[:], own[:] = base[:n], variance[:n]
    for i in range(n):
        waits, by = wanted[i] - precision[i], shift[i]
        for j in range(n):
            part = waits * P[i, j] * P[i, j]
            mean[j] += by * P[i, j]
            own[j] -= part
            altered[j] += abs(part)
    for _ in range(2):
        for i in range(n):
            shift[i] = wanted_linear[i] - linear[i] - (wanted[i] - precision[i]) * mean[i]
        mean[:] = base[:n]
        for i in range(n):
            by = shift[i]
            for j in range(n):
                mean[j] += by * P[i, j]
    return float(np.max(altered / variance[:n]))


@compiled
def _find_change(P: FloatArray, more: FloatArray, linear: FloatArray, mean: FloatArray, own: FloatArray) -> float:
    """Return by how much changes of factors move means, and at most by their uncertainty, in standard deviations."""
    n = len(mean)
    first, second = np.zeros(n), np.zeros(n)
    for i in range(n):
        by, size = linear[i] - more[i] * mean[i], abs(more[i]) * np.sqrt(own[i])
        for j in range(n):
            first[j] += by * P[i, j]
            second[j] += size * P[i, j]
    return float(np.max(np.maximum(np.abs(first), np.abs(second)) / np.sqrt(own)))


def grow(
    K: FloatArray,
    cross: FloatArray,
    prior: FloatArray,
    labels: FloatArray,
    observation: Observation,
    sizes: Iterable[int],
    inference: str,
    tolerance: float,
) -> Iterator[tuple[FloatArray, FloatArray, bool]]:
    """Yield means and variances at points for ascending numbers of labels, and whether inference converged.

    ``cross`` are the covariances of the examples (rows) with the points, and ``prior`` the prior variances of these. The tolerance is
    that of means, in standard deviations; variances are accurate to about 1e-3, because of what waits.
    """
    belief = Growing(K, cross, prior)
    for n in sizes:
        belief.add(labels[belief.n : n], observation)
        converged = belief.settle(labels[:n], observation, RENEW[inference], tolerance)
        yield *belief.at(slice(belief.size, None)), converged
