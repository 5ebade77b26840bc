"""Types of vertices of large random graphs: all that population dynamics knows about an ensemble.

Most ensembles have one type. The blocks of a block model are types: vertices of one type have the same distribution of
degrees, the same neighbours on average, and are labelled equally often.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gpcurves.numerics.validation import FloatArray


@dataclass(frozen=True, eq=False)
class VertexTypes:
    """Shares of the types, and what distinguishes them.

    Law: the edges from one type to another are as many as those back, ``shares[k] * mean degree[k] * mixing[k, l]``.
    """

    shares: FloatArray  # of all vertices
    degrees: tuple[FloatArray, ...]  # of each type the probabilities of the degrees 0, 1, …, which add up to 1
    mixing: FloatArray  # of the edges of each type (rows) the shares that lead to each type (columns)
    rates: FloatArray  # labels per vertex of each type, relative to the average over all vertices

    @classmethod
    def single(cls, degrees: FloatArray) -> VertexTypes:
        """Return one type with these probabilities of degrees, all that most ensembles are."""
        one = np.ones(1)
        return cls(one, (degrees,), np.ones((1, 1)), one)

    def __len__(self) -> int:
        return len(self.shares)

    @cached_property
    def isolated(self) -> FloatArray:
        """Of all vertices the shares that have each type and no neighbours."""
        return self.shares * [float(each[0]) for each in self.degrees]

    @cached_property
    def linked(self) -> FloatArray:
        """Of all vertices the shares that have each type and neighbours."""
        return np.asarray(self.shares - self.isolated)

    def split(self, vertices: int) -> list[int]:
        """Return how many of so many vertices with neighbours have each type."""
        return split(self.linked, vertices)


def split(shares: FloatArray, count: int) -> list[int]:
    """Divide a number into integers that are as near to the shares as can be."""
    exact = count * shares / shares.sum()
    sizes = np.floor(exact).astype(np.int64)
    sizes[np.argsort(sizes - exact, kind="stable")[: count - int(sizes.sum())]] += 1
    return [int(size) for size in sizes]
