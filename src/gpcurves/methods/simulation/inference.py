r"""Gaussian beliefs about a function given labels of any kind: expectation propagation, Laplace's method, Gibbs sampling.

The first two replace each likelihood by a Gaussian factor with the precision :math:`\tau_i` and the linear term :math:`\nu_i`. With
:math:`S = \mathrm{diag}\,\tau` and :math:`B = 1+S^{1/2}KS^{1/2} = LL^T`, the mean is :math:`k^Ta`, :math:`a = \nu-S^{1/2}B^{-1}S^{1/2}K\nu`, and
the variance :math:`k_{**}-|L^{-1}S^{1/2}k|^2` (Rasmussen & Williams 2006, algorithms 3.1, 3.2, 3.5 and 3.6). Only :math:`B` is factorised,
whose eigenvalues are at least 1.

Covariances of smooth functions have a low rank, :math:`K = FF^T` with few columns. Then :math:`M = 1+F^TSF = RR^T` is factorised instead: the mean
is :math:`\phi^TM^{-1}F^T\nu` and the variance :math:`|R^{-1}\phi|^2` for a point with the features :math:`\phi`.

Several labels may be about one place, such as a vertex of a graph. Each has a factor of its own, and those of one place multiply, so that
matrices have the size of the places.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy

from gpcurves.errors import NumericalError
from gpcurves.graphs.graph import IntArray
from gpcurves.numerics.cholesky import factorise, factorise_pivoted, invert_lower, solve_factorised, solve_lower
from gpcurves.numerics.validation import FloatArray
from gpcurves.observations import Observation

MOST = 200  # iterations
_FAINT = 1e-7  # a factor that is weaker than this, relative to the prior, is told from none by a direct formula
_NEGLECTED = 1e-12  # variance that features may leave out, relative to the prior
_LOW_RANK = 0.5  # features are used if there are fewer of them than half of the examples
_BURN, _KEEP, _THIN = 60, 400, 10  # sweeps of Gibbs sampling


@dataclass(frozen=True, eq=False)
class Belief:
    """A Gaussian approximation to the posterior, given by a factor for each label."""

    precision: FloatArray
    linear: FloatArray
    weights: FloatArray  # means are covariances with the examples times these
    L: FloatArray  # lower factor of B
    K: FloatArray
    log_evidence: float = np.nan
    converged: bool = True

    @classmethod
    def of(cls, K: FloatArray, precision: FloatArray, linear: FloatArray) -> Belief:
        """Return the belief with these factors."""
        root = np.sqrt(precision)
        B = root[:, None] * K * root
        B.ravel()[:: len(B) + 1] += 1.0
        L = factorise(B.T, overwrite=True) if len(K) else B
        solved = solve_factorised(L, root * (K @ linear)) if len(K) else linear
        return cls(precision, linear, linear - root * solved, L, K)

    def predict(self, cross: FloatArray, prior: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return means and variances at points, given their covariances with the examples (rows) and their prior variances."""
        W = solve_lower(self.L, np.sqrt(self.precision)[:, None] * cross)
        return cross.T @ self.weights, prior - np.einsum("ij,ij->j", W, W)

    def respond(self, change: FloatArray) -> FloatArray:
        """Return by how much the means at the examples change if the linear terms do by so much, in columns."""
        root, moved = np.sqrt(self.precision)[:, None], self.K @ change
        return np.asarray(moved - self.K @ (root * solve_factorised(self.L, root * moved)))

    def at_examples(self) -> tuple[FloatArray, FloatArray]:
        """Return the mean and variance at each example."""
        K = self.K
        inverse = np.tril(invert_lower(self.L))
        kept = np.einsum("ij,ij->j", inverse, inverse)  # the diagonal of the inverse of B
        faint = self.precision * K.diagonal() < _FAINT
        own = np.divide(1 - kept, self.precision, out=np.zeros(len(K)), where=~faint)
        if faint.any():
            own[faint] = self.predict(K[:, faint], K.diagonal()[faint])[1]
        return K @ self.weights, own


@dataclass(frozen=True, eq=False)
class FeatureBelief:
    """A Gaussian approximation to the posterior, in terms of few features."""

    precision: FloatArray
    linear: FloatArray
    weights: FloatArray  # means are features times these
    R: FloatArray  # lower factor of M
    space: Features
    converged: bool = True

    def predict(self, features: FloatArray, prior: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return means and variances at points, given their features (rows) and their prior variances."""
        W = solve_lower(self.R, features)
        explained = np.einsum("ij,ij->j", features, features)
        return features.T @ self.weights, prior - explained + np.einsum("ij,ij->j", W, W)

    def respond(self, change: FloatArray) -> FloatArray:
        """Return by how much the means at the examples change if the linear terms do by so much, in columns."""
        features = self.space.features
        return np.asarray(features @ solve_factorised(self.R, features.T @ change))

    def at_examples(self) -> tuple[FloatArray, FloatArray]:
        """Return the mean and variance at each example."""
        W = solve_lower(self.R, self.space.features.T)
        return self.space.features @ self.weights, np.einsum("ij,ij->j", W, W)


@dataclass(frozen=True, eq=False)
class PlacedBelief:
    """A Gaussian approximation to the posterior, given by a factor for each label."""

    precision: FloatArray
    linear: FloatArray
    inner: Belief  # about the labelled vertices, with the products of their factors
    places: Places
    converged: bool = True

    def predict(self, vertices: IntArray, prior: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return means and variances at vertices, given their prior variances."""
        return self.inner.predict(self.places.C[np.ix_(self.places.labelled, vertices)], prior)

    def respond(self, change: FloatArray) -> FloatArray:
        """Return by how much the means at the labels change if the linear terms do by so much, in columns."""
        sums = np.column_stack([self.places.gather(column) for column in change.T])
        return self.inner.respond(sums)[self.places.position]

    def at_examples(self) -> tuple[FloatArray, FloatArray]:
        """Return the mean and variance at the vertex of each label."""
        mean, variance = self.inner.at_examples()
        return mean[self.places.position], variance[self.places.position]


@dataclass(frozen=True, eq=False)
class Covariances:
    """Examples by the covariances between them."""

    K: FloatArray

    def __len__(self) -> int:
        return len(self.K)

    def first(self, n: int) -> Covariances:
        """Return the first n examples."""
        return Covariances(self.K[:n, :n])

    def after(self, n: int) -> tuple[FloatArray, FloatArray]:
        """Return what a belief about the first n examples needs to predict the others."""
        return self.K[:n, n:], self.K.diagonal()[n:]

    def believe(self, precision: FloatArray, linear: FloatArray) -> Belief:
        """Return the belief with these factors."""
        return Belief.of(self.K, precision, linear)


@dataclass(frozen=True, eq=False)
class Features:
    """Examples by their features, whose products are the covariances."""

    features: FloatArray  # a row per example
    prior: FloatArray

    def __len__(self) -> int:
        return len(self.features)

    def first(self, n: int) -> Features:
        """Return the first n examples."""
        return Features(self.features[:n], self.prior[:n])

    def after(self, n: int) -> tuple[FloatArray, FloatArray]:
        """Return what a belief about the first n examples needs to predict the others."""
        return self.features[n:].T, self.prior[n:]

    def believe(self, precision: FloatArray, linear: FloatArray) -> FeatureBelief:
        """Return the belief with these factors."""
        M = (self.features.T * precision) @ self.features
        M.ravel()[:: len(M) + 1] += 1.0
        R = factorise(M.T, overwrite=True)
        return FeatureBelief(precision, linear, solve_factorised(R, self.features.T @ linear), R, self)


@dataclass(frozen=True, eq=False)
class Places:
    """Labels at vertices, given by the covariances of all vertices and the vertex of each label."""

    C: FloatArray
    vertex: IntArray

    @cached_property
    def _unique(self) -> tuple[IntArray, IntArray]:
        labelled, position = np.unique(self.vertex, return_inverse=True)
        return labelled, position

    @property
    def labelled(self) -> IntArray:
        """The vertices that have labels."""
        return self._unique[0]

    @property
    def position(self) -> IntArray:
        """The place of the vertex of each label among these."""
        return self._unique[1]

    @property
    def K(self) -> FloatArray:  # noqa: N802  (the papers' letter)
        """The covariances of the labelled vertices."""
        return self.C[np.ix_(self.labelled, self.labelled)]

    def __len__(self) -> int:
        return len(self.vertex)

    def gather(self, values: FloatArray) -> FloatArray:
        """Return the sum over the labels at each labelled vertex."""
        return np.asarray(np.bincount(self.position, values, len(self.labelled)), dtype=np.float64)

    def after(self, n: int) -> tuple[IntArray, FloatArray]:
        """Return what a belief about the first n labels needs to predict the others."""
        rest = self.vertex[n:]
        return rest, self.C.diagonal()[rest]

    def believe(self, precision: FloatArray, linear: FloatArray) -> PlacedBelief:
        """Return the belief with these factors."""
        inner = Belief.of(self.K, self.gather(precision), self.gather(linear))
        return PlacedBelief(precision, linear, inner, self)


def find_space(K: FloatArray, cross: FloatArray) -> tuple[Covariances | Features, FloatArray]:
    """Return examples in the cheaper of both forms, and points of which the covariances are given in the same form."""
    if len(K) > 1:
        factor, order = factorise_pivoted(K, _NEGLECTED * float(K.diagonal().max()))
        rank = factor.shape[1]
        if rank <= _LOW_RANK * len(K):
            rows = np.empty_like(factor)
            rows[order] = factor
            features = solve_lower(np.asfortranarray(factor[:rank]), cross[order[:rank]])
            return Features(rows, K.diagonal().copy()), features
    return Covariances(K), cross


def expectation_propagation(
    space: Covariances | Features | Places,
    labels: FloatArray,
    observation: Observation,
    start: Any = None,
    tolerance: float = 1e-4,
) -> Any:
    """Match the mean and variance of each factor times the belief without it to those with the likelihood in its place.

    The belief is of the kind that the space makes; ``start`` is that from the first of these labels. All factors are updated at once; if that makes changes grow, half of
    each change is made from then on. The tolerance is about what further changes would add, in units of standard deviations.

    Means are accurate, and variances too if labels differ. If many labels say the same about one place, variances come out too small:
    of 100 equal labels of a constant function, 0.105 for 0.239.
    """
    n, k = len(labels), 0 if start is None else len(start.precision)
    precision, linear = np.zeros(n), np.zeros(n)
    if start is not None and k:
        precision[:k], linear[:k] = start.precision, start.linear
        mean, variance = start.predict(*space.after(k))
    else:
        mean, variance = np.zeros(n), space.after(0)[1]
    precision[k:], linear[k:] = match(labels[k:], mean, variance, observation)
    share, last = 1.0, np.inf
    for _ in range(MOST):
        belief = space.believe(precision, linear)
        if n == 0:
            return belief
        mean, own = belief.at_examples()
        without = 1 / (1 / own - precision)  # the variance without the own factor of a label
        new, new_linear = match(labels, without * (mean / own - linear), without, observation)
        # Many small changes add up if many labels are about one place: what counts is what all of them do to means and variances.
        root = np.sqrt(own)
        moves = new_linear - linear - (new - precision) * mean, abs(new - precision) * root
        change = float(np.max(abs(belief.respond(np.column_stack(moves))) / root[:, None]))
        # Changes fall geometrically, and sometimes slowly: what all later ones would add is what counts.
        rate = min(change / last, 0.999) if last < np.inf else 0.5
        if change * rate / (1 - rate) < tolerance:
            return space.believe(new, new_linear)
        share = 0.5 if change > last else share
        last = change
        precision = precision + share * (new - precision)
        linear = linear + share * (new_linear - linear)
    return replace(belief, converged=False)


def match(
    labels: FloatArray, mean: FloatArray, variance: FloatArray, observation: Observation
) -> tuple[FloatArray, FloatArray]:
    """Return the factor that does to a belief what the likelihood does to its mean and variance."""
    _, slope, curvature = observation.tilt(labels, mean, variance)
    left = np.maximum(1 - variance * curvature, 1e-10)  # the share of the variance that is left
    curvature = np.maximum(curvature, 0.0)  # rounding; of log-concave likelihoods it is never negative
    return curvature / left, (slope + curvature * mean) / left


def laplace(
    K: FloatArray,
    labels: FloatArray,
    observation: Observation,
    start: Belief | None = None,
    tolerance: float = 1e-8,
) -> Belief:
    r"""Expand the posterior about its mode, which Newton's method finds: each step is a regression with the noise 1/W per label.

    The gradient of the log posterior is :math:`\nabla\ln p(y|f)-K^{-1}f`.
    """
    f = np.zeros(len(labels))
    if start is not None and len(start.precision):
        f = K[:, : len(start.weights)] @ start.weights
    weights, height = np.zeros(len(labels)), -np.inf
    for _ in range(MOST):
        log_p, slope, curvature = observation.slopes(labels, f)
        belief = Belief.of(K, curvature, curvature * f + slope)
        new = K @ belief.weights
        step = new - f
        if len(f) == 0 or float(np.max(abs(step))) < tolerance:
            evidence = log_p.sum() - 0.5 * slope @ f - np.log(belief.L.diagonal()).sum()
            return replace(belief, log_evidence=float(evidence))
        share = 1.0
        while share > 1e-6:  # shorter steps if the posterior would fall
            trial_weights = weights + share * (belief.weights - weights) if height > -np.inf else belief.weights
            trial = K @ trial_weights
            risen = float(observation.slopes(labels, trial)[0].sum() - 0.5 * trial_weights @ trial)
            if risen >= height - 1e-12 * abs(height):
                break
            share /= 2
        f, weights, height = trial, trial_weights, risen
    raise NumericalError(f"Newton's method for the mode of {len(labels)} labels did not converge in {MOST} steps")


def gibbs(
    K: FloatArray,
    cross: FloatArray,
    prior: FloatArray,
    labels: FloatArray,
    observation: Observation,
    rng: np.random.Generator,
    place: IntArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Return posterior means and variances at points for noise that is a mixture of Gaussians, averaged over samples of its variances.

    Given the variance of the noise of each label, the posterior is Gaussian, and its mean is averaged; given the function, the
    variances are drawn one by one. ``place`` is the row of `K` that each label belongs to, if some share one; together such labels
    are one of less noise.
    """
    n, place = len(K), np.arange(len(labels)) if place is None else place
    if n == 0:
        return np.zeros(len(prior)), prior
    values, axes = scipy.linalg.eigh(K)
    root = axes * np.sqrt(np.maximum(values, 0.0))
    noise = observation.mix(labels, rng)
    means, variances = [], []
    for sweep in range(_BURN + _KEEP):
        weight = np.bincount(place, 1 / noise, n)
        together = np.bincount(place, labels / noise, n) / weight
        L = factorise(K + np.diag(1 / weight))
        function = root @ rng.standard_normal(n)  # of the prior, and then corrected by what it misses of the labels
        missed = together - function - rng.standard_normal(n) / np.sqrt(weight)
        solved = solve_factorised(L, np.column_stack((missed, together)))
        if sweep >= _BURN:
            means.append(cross.T @ solved[:, 1])
            if sweep % _THIN == 0:
                W = solve_lower(L, cross)
                variances.append(prior - np.einsum("ij,ij->j", W, W))
        noise = observation.mix(labels - (function + K @ solved[:, 0])[place], rng)
    drawn = np.array(means)
    return drawn.mean(axis=0), np.mean(variances, axis=0) + drawn.var(axis=0)
