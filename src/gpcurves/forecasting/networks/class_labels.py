"""Classes at vertices of a graph, gathered by vertex: how many labels of each class there are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from gpcurves.errors import InputError
from gpcurves.forecasting.networks.observed import vertex_numbers
from gpcurves.graphs import Labels
from gpcurves.graphs.graph import Graph, IntArray
from gpcurves.numerics.validation import FloatArray
from gpcurves.observations.base import Tilted
from gpcurves.observations.classes import Classes
from gpcurves.tables.classes import recognise_codes

_SHOWN = 5


@dataclass(frozen=True, eq=False)
class ClassLabels:
    """Labels by vertex.

    Attributes
    ----------
    vertices
        The numbers of the labelled vertices in ascending order.
    counts
        How many labels there are of each class (columns) at each of these vertices (rows).
    classes
        The classes, in order.
    """

    vertices: IntArray
    counts: FloatArray
    classes: npt.NDArray[Any]

    @classmethod
    def collect(cls, graph: Graph, vertices: npt.ArrayLike, y: npt.ArrayLike) -> Self:
        """Gather classes at vertices that are given by number or by name and may repeat."""
        return cls.gather(vertex_numbers(graph, vertices), y)

    @classmethod
    def gather(cls, numbers: IntArray, y: npt.ArrayLike) -> Self:
        """Gather classes at vertices that are given by number."""
        labels = _check_classes(y)
        if labels.shape != numbers.shape:
            raise InputError(f"there must be one label per vertex, got {labels.size} for {len(numbers)}")
        classes, found = _number(labels)
        if len(classes) < 2:
            raise InputError(
                f"all labels are of one class, {str(classes[0])!r}: there is nothing to learn; label vertices of another class"
            )
        if len(classes) == len(labels) > 2:
            listed = ", ".join(map(str, classes[:_SHOWN].tolist())) + ", …" * (len(classes) > _SHOWN)
            raise InputError(
                f"all {len(labels)} labels are different ({listed}): classes need several vertices each; are they numbers, or names?"
            )
        vertices, place = np.unique(numbers, return_inverse=True)
        counts = np.zeros((len(vertices), len(classes)))
        np.add.at(counts, (place, found), 1.0)
        return cls(vertices, counts, classes)

    @property
    def labels(self) -> int:
        """How many labels there are, with repetitions."""
        return int(self.counts.sum())

    @cached_property
    def shares(self) -> FloatArray:
        """The probability of each class before anything is known of a vertex: its share of the labels, never 0.

        Half a label is added to each class.
        """
        return shares_of(self.counts.sum(axis=0))

    @property
    def proportions(self) -> FloatArray:
        """The shares of the classes in the labels of each vertex."""
        return np.asarray(self.counts / self.counts.sum(axis=1, keepdims=True))

    @property
    def functions(self) -> int:
        """How many functions are inferred: one for two classes, else one for each class against all others."""
        return 1 if len(self.classes) == 2 else len(self.classes)

    def against_rest(self, function: int, observation: Classes, offset: float) -> Counted:
        """Return labels of one class against all others; of two classes, of the second."""
        plus = self.counts[:, function + (self.functions == 1)]
        return Counted(self.counts.sum(axis=1) - plus, plus, observation, offset)

    def take(self, places: npt.NDArray[np.intp]) -> ClassLabels:
        """Return the labels at some of the vertices, by their places; all classes stay."""
        return ClassLabels(self.vertices[places], self.counts[places], self.classes)

    def renumber(self, numbers: IntArray) -> ClassLabels:
        """Return the same labels if vertices have other numbers, each that of its present number in an array."""
        moved = numbers[self.vertices]
        order = np.argsort(moved)
        return replace(self.take(order), vertices=moved[order])

    @property
    def rare(self) -> str | None:
        """What to say about classes with a single label."""
        single = self.classes[self.counts.sum(axis=0) == 1].tolist()
        if not single:
            return None
        listed = ", ".join(repr(str(one)) for one in single[:_SHOWN]) + ", …" * (len(single) > _SHOWN)
        word, each = ("classes have", "each") if len(single) > 1 else ("class has", "it")
        return (
            f"{len(single)} {word} a single label ({listed}): how often {each} is predicted wrongly cannot be measured"
        )


@dataclass(frozen=True, eq=False)
class Counted:
    """How many labels of a class, and how many of all others, there are at each place.

    The function is inferred without its ``offset``.
    """

    minus: FloatArray
    plus: FloatArray
    observation: Classes
    offset: float = 0.0

    def slopes(self, labels: FloatArray, values: FloatArray) -> Tilted:
        """Return the log likelihood of all labels at each vertex, its derivative and minus its second derivative."""
        there = values + self.offset
        above = self.observation.slopes(np.ones_like(there), there)
        below = self.observation.slopes(-np.ones_like(there), there)
        sums = (self.plus * a + self.minus * b for a, b in zip(above, below, strict=True))
        return tuple(sums)  # type: ignore[return-value]


def recognise(labels: Labels) -> Labels:
    """Take numbers that are codes of classes as classes, and say so; say what few integers were taken as."""
    if not labels.are_numbers:
        return labels
    codes, said = recognise_codes(labels.target or "label", labels.values)
    values = np.full(len(labels), np.nan) if codes else labels.values
    return replace(labels, values=values, notes=(*labels.notes, said.rstrip(".")) if said else labels.notes)


def shares_of(counts: FloatArray) -> FloatArray:
    """Return probabilities of classes from counts along the last axis, with half a label added to each."""
    return np.asarray((counts + 0.5) / (counts + 0.5).sum(axis=-1, keepdims=True))


def normalise(positive: FloatArray) -> FloatArray:
    """Return probabilities of all classes (columns), in proportion to the odds of each against all others (rows).

    Of two classes, the probability of the second is given.
    """
    if len(positive) == 1:
        return np.column_stack((1 - positive[0], positive[0]))
    odds = positive / (1 - positive)
    return np.asarray((odds / odds.sum(axis=0)).T)


def _number(labels: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], IntArray]:
    """Return classes in order, texts that are all numbers in the order of these, and the place of each label among them."""
    classes, found = np.unique(labels, return_inverse=True)
    try:
        order = np.argsort(classes.astype(np.float64), kind="stable")
    except (TypeError, ValueError):
        return classes, found
    return classes[order], np.argsort(order)[found]


def _check_classes(y: npt.ArrayLike) -> npt.NDArray[Any]:
    labels = np.asarray(y)
    if labels.ndim != 1 or len(labels) == 0:
        raise InputError(f"labels must be a list with a class per vertex, got shape {labels.shape}")
    missing = labels.dtype.kind == "f" and not np.isfinite(labels).all()
    if missing or (labels.dtype.kind == "O" and any(each is None or each != each for each in labels.tolist())):
        raise InputError("labels must be classes, but some are missing: leave out vertices whose class is not known")
    if labels.dtype.kind == "O" and len({type(each) for each in labels.tolist()}) > 1:
        return labels.astype(str)
    return labels
