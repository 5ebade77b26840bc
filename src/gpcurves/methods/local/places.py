r"""Posterior variances at places of which each carries labels with some precision: what one round of local theory needs.

With precisions :math:`D = \mathrm{diag}(n w_j r_j)` the variances are the diagonal of :math:`(C^{-1}+D)^{-1}`, in one of three ways:

* **Features.** :math:`C = \Phi^T\Phi+\mathrm{diag}\,\delta` with few rows in :math:`\Phi`, by Cholesky with pivots: what it leaves out
  (:math:`\delta`) counts as if it were independent from place to place. With :math:`a = 1/(1+D\delta)` and :math:`M = 1+\Phi Da\Phi^T = LL^T` the variances
  are :math:`\delta a + a^2|L^{-1}\Phi|^2`, sums of squares that keep all digits however small they are.
* **Dense algebra** on the vertices of a graph: with :math:`A = 1+D^{1/2}CD^{1/2}` they are :math:`(1-A^{-1}_{jj})/D_j`.
* **Messages** on large graphs: belief propagation with a precision for every vertex.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from gpcurves.errors import NumericalError
from gpcurves.graphs import Graph, GraphKernel
from gpcurves.graphs.graph import IntArray
from gpcurves.numerics.cholesky import factorise, invert_lower, solve_lower
from gpcurves.numerics.validation import FloatArray

_NEGLECTED = 1e-13  # variance that features may leave out, relative to the prior
_FAINT = 1e-4  # information of all labels at a place, relative to the prior, below which variances are differences
_MESSAGES = 1e-8  # change of messages that counts as none


class Places(ABC):
    """Places with their prior variances; those that carry labels come first in ``trained``."""

    prior: FloatArray  # at all places
    trained: IntArray  # the places that carry labels
    tolerance: float = 1e-12  # how precisely errors can agree with themselves

    @abstractmethod
    def variances(self, precision: FloatArray) -> FloatArray:
        """Return the posterior variance at the trained places, which have these precisions."""

    @abstractmethod
    def everywhere(self, precision: FloatArray) -> FloatArray:
        """Return the posterior variance at all places, of which the trained ones have these precisions."""


@dataclass(frozen=True, eq=False)
class FeaturePlaces(Places):
    """Places with features, one column for each, and the variance that these leave out."""

    prior: FloatArray
    trained: IntArray
    features: FloatArray  # rows of few features, in LAPACK's order
    left: FloatArray

    @classmethod
    def of(
        cls, covariances: Callable[[int], FloatArray], prior: FloatArray, weights: FloatArray, rank: int
    ) -> FeaturePlaces:
        """Find features of places that are labelled with these weights, at most ``rank`` of them.

        ``covariances`` returns those of all places with one of them, so that no matrix between all places is needed.
        Pivots are taken where the most variance is left, weighted: where labels never are, nothing is learnt either.
        """
        count = len(prior)
        rows = np.empty((min(rank, int((weights > 0).sum())), count))
        left = prior.copy()
        score = np.minimum(weights * (weights > 0).sum(), 1.0)
        size = 0
        while size < len(rows):
            pivot = int(np.argmax(score * left))
            if score[pivot] * left[pivot] <= _NEGLECTED * prior.max():
                break
            rows[size] = (covariances(pivot) - rows[:size].T @ rows[:size, pivot]) / np.sqrt(left[pivot])
            left = np.maximum(left - rows[size] ** 2, 0.0)
            left[pivot] = 0.0
            size += 1
        return cls(prior, np.flatnonzero(weights > 0), np.asfortranarray(rows[:size]), left)

    @cached_property
    def _own(self) -> tuple[FloatArray, FloatArray]:
        """Features and rest of the trained places."""
        if len(self.trained) == len(self.prior):
            return self.features, self.left
        return np.asfortranarray(self.features[:, self.trained]), self.left[self.trained]

    def _factor(self, precision: FloatArray) -> tuple[FloatArray, FloatArray]:
        features, left = self._own
        damped = 1 / (1 + precision * left)
        scaled = features * np.sqrt(precision * damped)
        M = scaled @ scaled.T
        M.ravel()[:: len(M) + 1] += 1.0
        return factorise(M.T, overwrite=True), damped

    def variances(self, precision: FloatArray) -> FloatArray:
        features, left = self._own
        L, damped = self._factor(precision)
        solved = solve_lower(L, features)
        return np.asarray(left * damped + damped**2 * np.einsum("ij,ij->j", solved, solved))

    def everywhere(self, precision: FloatArray) -> FloatArray:
        L, damped = self._factor(precision)
        every = np.ones(len(self.prior))
        every[self.trained] = damped
        solved = solve_lower(L, self.features)
        return np.asarray(self.left * every + every**2 * np.einsum("ij,ij->j", solved, solved))


@dataclass(frozen=True, eq=False)
class DensePlaces(Places):
    """The vertices of a graph with all covariances between them."""

    C: FloatArray
    trained: IntArray

    tolerance = 1e-10  # differences from 1 cost some digits

    @property
    def prior(self) -> FloatArray:  # type: ignore[override]
        return self.C.diagonal()

    def _factor(self, precision: FloatArray) -> tuple[FloatArray, FloatArray]:
        root = np.sqrt(precision)
        A = root[:, None] * self.C[np.ix_(self.trained, self.trained)] * root
        A.ravel()[:: len(A) + 1] += 1.0
        return factorise(A.T, overwrite=True), root

    def _differences(self, L: FloatArray, root: FloatArray, at: IntArray) -> FloatArray:
        solved = solve_lower(L, root[:, None] * self.C[np.ix_(self.trained, at)])
        return np.asarray(self.prior[at] - np.einsum("ij,ij->j", solved, solved))

    def variances(self, precision: FloatArray) -> FloatArray:
        L, root = self._factor(precision)
        if float((precision * self.prior[self.trained]).max()) < _FAINT:
            return self._differences(L, root, self.trained)
        inverse = np.tril(invert_lower(L))
        with np.errstate(divide="ignore", invalid="ignore"):
            found = (1 - np.einsum("ij,ij->j", inverse, inverse)) / precision
        faint = np.flatnonzero(precision * self.prior[self.trained] < _FAINT)
        if len(faint):
            found[faint] = self._differences(L, root, self.trained[faint])
        if not (found > 0).all():
            raise NumericalError("errors of local theory are below what double precision resolves: add noise")
        return np.asarray(found)

    def everywhere(self, precision: FloatArray) -> FloatArray:
        found = np.empty(len(self.C))
        found[self.trained] = self.variances(precision)
        rest = np.setdiff1d(np.arange(len(self.C)), self.trained)
        if len(rest):
            found[rest] = self._differences(*self._factor(precision), rest)
        return found


@dataclass(frozen=True, eq=False)
class MessagePlaces(Places):
    """The vertices of a large graph, with variances by belief propagation: exact on trees, approximate with cycles."""

    kernel: GraphKernel
    graph: Graph
    trained: IntArray
    kappa: FloatArray  # what the kernel is divided by at each vertex
    last: list[Any] = field(default_factory=list, repr=False)  # beliefs from which the next run starts

    tolerance = 1e-6  # that of messages, with a margin

    @cached_property
    def prior(self) -> FloatArray:  # type: ignore[override]
        return self.everywhere(np.zeros(len(self.trained)))

    def variances(self, precision: FloatArray) -> FloatArray:
        return self.everywhere(precision)[self.trained]

    def everywhere(self, precision: FloatArray) -> FloatArray:
        from gpcurves.methods.cavity.beliefs import links_of, propagate

        counts = np.zeros(self.graph.vertices)
        counts[self.trained] = precision
        start = self.last[0] if self.last and self.last[0].converged else None
        model = self.kernel.vertex_model()
        beliefs = propagate(links_of(self.graph), model, counts, 1.0, self.kappa, tolerance=_MESSAGES, start=start)
        self.last[:] = [beliefs]
        return beliefs.variance
