"""Local theory of a problem: its places, how often each is labelled and how much it counts, and the errors at any size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from gpcurves.graphs import Graph
from gpcurves.graphs.graph import check_dense
from gpcurves.inputs import Sample
from gpcurves.methods.local.fixed_point import FixedPoint, find_fixed_point
from gpcurves.methods.local.places import DensePlaces, FeaturePlaces, MessagePlaces, Places
from gpcurves.numerics.memory import check_memory
from gpcurves.numerics.validation import FloatArray
from gpcurves.problem import Problem

MOST_DENSE = 5_000  # vertices up to which covariances between all of them are used
_SAME_PLACE = 1e-8  # places that are nearer than this are the same point of a grid
_UNIFORM = 1e-12  # prior variances that differ by less are the same


@dataclass(frozen=True, eq=False)
class Theory:
    """The places of a problem: one per row of ``X`` (of a graph the numbers of vertices)."""

    problem: Problem
    X: FloatArray
    weights: FloatArray  # how often each place is labelled: examples per unit of size
    test: FloatArray  # how much each place counts in the average, summing to 1
    places: Places
    whole: bool  # whether these places are all that there are, rather than nodes of a quadrature
    found: list[tuple[float, FixedPoint]] = field(default_factory=list, repr=False)

    @cached_property
    def prior(self) -> FloatArray:
        """Prior variances at all places."""
        return np.asarray(self.places.prior)

    @cached_property
    def _variance(self) -> FloatArray | float:
        """Prior variances of the trained places: one number if they are the same."""
        own = self.prior[self.places.trained]
        return float(own.max()) if np.ptp(own) <= _UNIFORM * own.max() else own

    def precision(self, size: float, error: FloatArray) -> FloatArray:
        """Return the precision that all labels at each trained place have together, if errors are these."""
        trained, problem = self.places.trained, self.problem
        told = problem.observation.information_at(problem.inputs, self.X[trained], error, self._variance)
        return np.asarray(size * self.weights[trained] * told)

    def solve(self, size: float) -> FixedPoint:
        """Return the errors at the trained places; the search starts from those at the nearest smaller size."""
        places = self.places
        smaller = [(other, point) for other, point in self.found if other <= size]
        start = smaller[-1][1].error if smaller else self.prior[places.trained]
        point = find_fixed_point(lambda e: places.variances(self.precision(size, e)), start, places.tolerance)
        self.found.append((size, point))
        return point

    def errors(self, size: float) -> tuple[FloatArray, FixedPoint | None]:
        """Return the error at every place after ``size`` examples (of a graph: per vertex), and how it was found."""
        if size == 0:
            return self.prior, None
        point = self.solve(size)
        if len(self.places.trained) == len(self.X):
            return point.error, point
        return self.places.everywhere(self.precision(size, point.error)), point


def theory_of(problem: Problem, nodes: int, rank: int, also: FloatArray | None = None) -> Theory:
    """Return the places of a problem; ``also`` are further ones, at which nothing is labelled and which do not count."""
    if isinstance(problem.graph if problem.axis == "nu" else None, Graph):
        return _on_graph(problem)
    X, weights = problem.inputs.nodes(nodes)
    test = weights
    parts, labelled, counted = [X], [weights], [test]
    if problem.test is not None:
        Y, counts = problem.test.nodes(nodes)
        parts, labelled, counted = [X, Y], [weights, np.zeros(len(Y))], [np.zeros(len(X)), counts]
    if also is not None:
        parts, nothing = [*parts, also], np.zeros(len(also))
        labelled, counted = [*labelled, nothing], [*counted, nothing]
    places, weights, test = np.concatenate(parts), np.concatenate(labelled), np.concatenate(counted)
    check_memory(
        40.0 * len(places) * min(rank, len(X)),
        f"local theory at {len(places):,} places with {min(rank, len(X)):,} features",
        "ask for fewer nodes or a lower rank",
    )
    prior = problem.inputs.variances(problem.kernel, places)
    features = FeaturePlaces.of(_covariances(problem, places), prior, weights, rank)
    every = [each for each in (problem.inputs, problem.test) if each is not None]
    whole = all(each.enumerable and (not isinstance(each, Sample) or len(each.points) <= nodes) for each in every)
    return Theory(problem, places, weights, test, features, whole)


def _covariances(problem: Problem, places: FloatArray) -> Callable[[int], FloatArray]:
    """Return a function that gives the covariances of all places with one of them.

    On a grid of homogeneous inputs the places look alike from each of them, and sums over periodic images, which take long, are
    needed for one alone.
    """
    inputs, kernel = problem.inputs, problem.kernel

    def directly(place: int) -> FloatArray:
        return inputs.kernel_matrix(kernel, places, places[place : place + 1])[:, 0]

    if not inputs.periodic:
        return directly
    order, first = np.lexsort(places.T), directly(0)

    def shifted(place: int) -> FloatArray:
        apart = np.round((places - places[place]) % 1.0, 9) % 1.0
        same = np.lexsort(apart.T)
        if abs(apart[same] - places[order]).max() > _SAME_PLACE:
            return directly(place)
        column = np.empty_like(first)
        column[same] = first[order]
        return column

    return shifted


def _on_graph(problem: Problem) -> Theory:
    from gpcurves.inputs import Vertices

    inputs, test, kernel = problem.inputs, problem.test_inputs, problem.kernel
    assert isinstance(inputs, Vertices)
    assert isinstance(test, Vertices)
    graph = inputs.graph
    V = graph.vertices
    trained = np.flatnonzero(inputs.shares > 0)
    if V <= MOST_DENSE:
        check_dense(graph, 4)
        places: Places = DensePlaces(kernel.on(graph).matrix(), trained)
    else:
        from gpcurves.methods.cavity.beliefs import normalisers

        places = MessagePlaces(kernel, graph, trained, normalisers(kernel, graph)[0])
    X = np.arange(float(V))[:, None]
    return Theory(problem, X, V * inputs.shares, test.shares, places, V <= MOST_DENSE)
