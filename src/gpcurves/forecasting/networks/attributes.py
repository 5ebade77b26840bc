r"""Attributes of vertices as a further covariance: vertices with similar attributes have similar values, wherever they are.

With d attributes, standardised to :math:`z`, and the lengthscale :math:`\ell`,

.. math:: K_{ij} = \tfrac12\exp\Bigl(-\frac{|z_i-z_j|^2}{2d\ell^2}\Bigr) + \frac{z_i\cdot z_j}{2d},

a smooth function plus a linear one, whose variance is 1 on average over vertices. An explanation of labels has the covariance
:math:`(1-s)C + sK` with C that of the graph.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from gpcurves.errors import InputError
from gpcurves.forecasting.networks.observed import vertex_numbers
from gpcurves.graphs.details import as_values
from gpcurves.graphs.graph import Graph, IntArray
from gpcurves.graphs.records import list_names
from gpcurves.numerics.validation import FloatArray

SHARES, LENGTHSCALES = (0.2, 0.6, 0.95), (0.5, 1.5)
MOST_CATEGORIES = 30
_LARGEST, _FLAT = 1e150, 1e-12  # what double precision can square, and a deviation that is nothing but rounding
Values = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Attributes:
    """Standardised attributes: a row per vertex, and for each attribute one column, or one per category."""

    names: tuple[str, ...]
    columns: FloatArray
    notes: tuple[str, ...] = ()

    @classmethod
    def read(cls, graph: Graph, given: Any) -> Attributes:
        """Return attributes in one of the forms that `GraphRegressor` takes, in the order of the vertices of a graph."""
        own = isinstance(given, str)
        table = _take_own(graph, given) if own else _take_table(graph, given)
        names, columns, notes = [], [], []
        for name, values in table.items():
            reason = _refuse_missing(graph, name, values) or _refuse_texts(name, values)
            if reason is not None and not own:
                raise InputError(f"{reason}: correct it, or remove the attribute")
            constant = len(set(values.tolist())) < 2
            column = None if reason or constant else _standardise(name, values)
            if column is None:
                why = reason or f"the attribute {name!r} is the same at all vertices"
                notes.append(f"{why}: it is not used")
                continue
            names.append(name)
            columns.append(column)
        if not columns:
            raise InputError(f"no attribute of vertices can be used: {'; '.join(notes) or 'there is none'}")
        return cls(tuple(names), np.concatenate(columns, axis=1), tuple(notes))

    def take(self, vertices: IntArray) -> Attributes:
        """Return them for vertices in another order."""
        return Attributes(self.names, self.columns[vertices], self.notes)

    def kernel(self, lengthscale: float) -> AttributeKernel:
        """Return the covariance with a lengthscale, in standard deviations of the attributes."""
        return AttributeKernel(self.columns / np.sqrt(len(self.names)), lengthscale)


@dataclass(frozen=True, eq=False)
class AttributeKernel:
    """The covariance K; ``points`` are attributes divided by the root of their number."""

    points: FloatArray
    lengthscale: float
    _squares: FloatArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_squares", np.square(self.points).sum(axis=1))

    def between(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return covariances."""
        products = self.points[rows] @ self.points[columns].T
        apart = np.maximum(self._squares[rows][:, None] + self._squares[columns] - 2 * products, 0.0)
        return np.asarray(0.5 * np.exp(-0.5 * apart / self.lengthscale**2) + 0.5 * products)

    def variances(self, vertices: IntArray) -> FloatArray:
        """Return prior variances."""
        return np.asarray(0.5 + 0.5 * self._squares[vertices])


@dataclass(frozen=True, eq=False)
class Part:
    """A kernel of attributes, and its share of the covariance."""

    kernel: AttributeKernel
    share: float

    def mix(self, graph: FloatArray, attributes: FloatArray) -> FloatArray:
        """Return the sum of both covariances, or variances."""
        return (1 - self.share) * graph + self.share * attributes


def _take_own(graph: Graph, given: str) -> dict[str, Values]:
    if given != "auto":
        raise InputError(f"attributes must be a table by vertex, or 'auto' for those of the graph, got {given!r}")
    if not graph.attributes:
        raise InputError("the graph has no attributes of vertices: give a table of them")
    return dict(graph.attributes)


def _take_table(graph: Graph, given: Any) -> dict[str, Values]:
    """Return the columns of a table, of a mapping of columns, or of an array with one row per vertex."""
    if isinstance(given, pd.Series):
        given = given.to_frame("attribute" if given.name is None else given.name)
    if isinstance(given, Mapping):
        given = pd.DataFrame(dict(given))
    if not isinstance(given, pd.DataFrame):
        array = np.asarray(given)
        if array.ndim != 2 or len(array) != graph.vertices:
            raise InputError(
                f"attributes must be a table by vertex, or an array of {graph.vertices:,} rows, got the shape {array.shape}"
            )
        given = pd.DataFrame(array, columns=[f"attribute {k + 1}" for k in range(array.shape[1])])
        given.index = pd.Index([graph.label(k) for k in range(graph.vertices)])
    if not given.columns.is_unique:
        raise InputError("attributes must have different names, but some are the same")
    numbers = vertex_numbers(graph, given.index.to_numpy())
    twice = np.flatnonzero(np.bincount(numbers, minlength=graph.vertices) > 1)
    if len(twice):
        raise InputError(f"the vertex {graph.label(int(twice[0]))!r} has attributes twice: give them once")
    without = np.setdiff1d(np.arange(graph.vertices), numbers)
    if len(without):
        raise InputError(f"{_say_vertices(graph, without, 'no attributes')}: give them for every vertex")
    order = np.argsort(numbers)
    columns = {str(name): _as_values(str(name), given.iloc[:, k]) for k, name in enumerate(given.columns)}
    return {name: values[order] for name, values in columns.items()}


def _as_values(name: str, column: pd.Series) -> Values:
    if pd.api.types.is_bool_dtype(column):
        column = column.astype(float)
    values = as_values(None if missing else cell for cell, missing in zip(column, column.isna(), strict=True))
    if values is None:
        raise InputError(f"the attribute {name!r} must be numbers or texts, but some values are neither")
    return values


def _refuse_missing(graph: Graph, name: str, values: Values) -> str | None:
    """Say which vertices do not have an attribute, if there are any."""
    missing = np.flatnonzero(pd.isna(values))
    return _say_vertices(graph, missing, f"no {name!r}") if len(missing) else None


def _refuse_texts(name: str, values: Values) -> str | None:
    """Say that texts are too many to be categories, if they are."""
    different = len(set(values.tolist()))
    if values.dtype != object or different <= MOST_CATEGORIES:
        return None
    return (
        f"the attribute {name!r} has {different:,} different texts, too many for categories (at most {MOST_CATEGORIES})"
    )


def _say_vertices(graph: Graph, which: IntArray, lack: str) -> str:
    names = [graph.label(k) for k in which.tolist()]
    return f"{len(names):,} {'vertex has' if len(names) == 1 else 'vertices have'} {lack} ({list_names(names)})"


def _standardise(name: str, values: Values) -> FloatArray | None:
    """Return columns with mean 0 whose variances add up to 1: one of numbers, or one for each category; None if all are equal."""
    if values.dtype == object:
        columns = (values[:, None] == np.array(sorted(set(values.tolist())), dtype=object)).astype(np.float64)
    else:
        columns = np.asarray(values, dtype=np.float64)[:, None]
    if np.abs(columns).max() > _LARGEST:
        raise InputError(f"the attribute {name!r} must be between {-_LARGEST:g} and {_LARGEST:g}")
    away = columns - columns.mean(axis=0)
    size = np.sqrt(np.square(away).mean(axis=0).sum())
    return None if size <= _FLAT * np.abs(columns).max() else np.asarray(away / size)


def list_attributes(names: Sequence[str]) -> str:
    """Name attributes in a sentence."""
    return f"{'attribute' if len(names) == 1 else 'attributes'} {list_names(names)}"
