"""Labels at vertices of a graph, gathered by vertex: several of one vertex become their mean, which is known better."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt

from gpcurves.errors import InputError
from gpcurves.graphs.graph import Graph, IntArray
from gpcurves.numerics.validation import FloatArray, as_numbers

FEWEST_LABELS = 3
_LARGEST = 1e150  # double precision must hold squares


@dataclass(frozen=True, eq=False)
class Observed:
    """Labels by vertex.

    Attributes
    ----------
    vertices, counts, means
        The numbers of the labelled vertices in ascending order, how many labels each has, and their mean.
    squares
        The sum of the squared deviations of labels from the mean of their vertex.
    known
        The variance of the noise of each mean, if the labels came with standard errors.
    """

    vertices: IntArray
    counts: FloatArray
    means: FloatArray
    squares: float
    known: FloatArray | None = None

    @classmethod
    def collect(
        cls, graph: Graph, vertices: npt.ArrayLike, values: npt.ArrayLike, errors: npt.ArrayLike | None = None
    ) -> Self:
        """Gather labels, given as vertices by number or by name, their values, and perhaps the standard error of each."""
        return cls.gather(vertex_numbers(graph, vertices), values, errors)

    @classmethod
    def gather(cls, numbers: IntArray, values: npt.ArrayLike, errors: npt.ArrayLike | None = None) -> Self:
        """Gather labels at vertices that are given by number; the result does not depend on their order, to the last bit."""
        targets = as_numbers(values, "labels must be numbers")
        if targets.shape != numbers.shape or len(targets) == 0:
            raise InputError(f"there must be one label per vertex, at least one, got {targets.size} for {len(numbers)}")
        if not np.isfinite(targets).all():
            raise InputError("labels must be finite, got NaN or infinity: leave out vertices whose label is not known")
        if np.abs(targets).max() > _LARGEST:
            raise InputError(
                f"labels must be between {-_LARGEST:g} and {_LARGEST:g}, got {np.abs(targets).max():g} in size"
            )
        weights = np.ones(len(targets))
        if errors is not None:
            given = as_numbers(errors, "standard errors must be numbers")
            if given.shape != targets.shape or not np.isfinite(given).all() or (given <= 0).any():
                raise InputError("there must be one standard error per label, finite and greater than 0")
            weights = given**-2.0
        order = np.lexsort((weights, targets, numbers))
        numbers, targets, weights = numbers[order], targets[order], weights[order]
        distinct, place, counts = np.unique(numbers, return_inverse=True, return_counts=True)
        total = np.bincount(place, weights)
        means = np.bincount(place, weights * targets) / total
        squares = math.fsum((targets - means[place]) ** 2)
        return cls(distinct, counts.astype(np.float64), means, squares, None if errors is None else 1 / total)

    def renumber(self, numbers: IntArray) -> Observed:
        """Return the same labels if vertices have other numbers, each that of its present number in an array."""
        moved = numbers[self.vertices]
        order = np.argsort(moved)
        return replace(self.take(order), vertices=moved[order], squares=self.squares)

    @property
    def labels(self) -> int:
        """How many labels there are, with repetitions."""
        return int(self.counts.sum())

    def take(self, places: npt.NDArray[np.intp]) -> Observed:
        """Return the labels of some of the vertices, by their places; what is known about repetitions stays."""
        share = float((self.counts[places] - 1).sum() / max(1.0, (self.counts - 1).sum()))
        known = None if self.known is None else self.known[places]
        return replace(
            self,
            vertices=self.vertices[places],
            counts=self.counts[places],
            means=self.means[places],
            squares=self.squares * share,
            known=known,
        )

    @cached_property
    def deviation(self) -> float:
        """The standard deviation of the labels over vertices."""
        return float(self.means.std())


def vertex_numbers(graph: Graph, vertices: npt.ArrayLike) -> IntArray:
    """Return vertices as numbers: names are looked up, integers are taken as they are if there are no names."""
    if np.ma.is_masked(vertices):
        raise InputError("vertices must be a list of numbers or names, but some are masked: leave them out")
    given = np.asarray(vertices)
    if given.ndim == 2 and given.shape[1] == 1:
        given = given[:, 0]
    if given.ndim != 1:
        raise InputError("vertices must be a list of numbers or names")
    if graph.labels is None and given.dtype.kind in "iuf" and np.array_equal(given, np.floor(given)):
        if len(given) and not 0 <= given.min() <= given.max() < graph.vertices:
            raise InputError(f"vertices must be between 0 and {graph.vertices - 1}, got {given.min()} to {given.max()}")
        return given.astype(np.int64)
    return np.array([graph.number(name) for name in given.tolist()], dtype=np.int64)
