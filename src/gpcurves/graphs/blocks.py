r"""Graphs with communities: the stochastic block model, and preferential attachment, whose degrees are those of the old and the young.

A block model has blocks with shares :math:`s_\sigma` of the vertices. A vertex of block :math:`\sigma` has on average
:math:`c_{\sigma\tau}` neighbours in block :math:`\tau`, with a Poisson distribution. Edges have two ends, so that
:math:`s_\sigma c_{\sigma\tau} = s_\tau c_{\tau\sigma}`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Self

import numpy as np
import scipy

from gpcurves.errors import InputError, NotApplicableError
from gpcurves.graphs.ensembles import Ensemble, check_probabilities, check_size, draw_distinct, number_to_pair
from gpcurves.graphs.graph import Graph
from gpcurves.graphs.vertex_types import VertexTypes, split
from gpcurves.numerics.parameters import parameter
from gpcurves.numerics.validation import FloatArray, as_numbers, integer, parse_float

BLOCK = "block"
"""The attribute of vertices that holds the number of their block, from 1 on."""
_BALANCE = 1e-6  # share by which the edges between two blocks, counted from both sides, may differ
_MOST_BLOCKS = 50


def _check_neighbours(name: str, value: object) -> tuple[tuple[float, ...], ...]:
    table = as_numbers(value, f"{name} must be a table of numbers, a row per block")
    if table.ndim != 2 or table.shape[0] != table.shape[1] or not np.isfinite(table).all() or (table < 0).any():
        raise InputError(f"{name} must be a square table of finite numbers, at least 0, with a row per block")
    return tuple(map(tuple, table.tolist()))


@dataclass(frozen=True, repr=False)
class StochasticBlockModel(Ensemble):
    """Blocks of vertices that are joined more often, or less often, within than between: graphs with communities.

    Parameters
    ----------
    shares
        Share of the vertices in each block; they sum to 1.
    neighbours
        A row per block: how many neighbours a vertex of this block has on average in each block. Edges are counted from both
        sides: ``shares[i] * neighbours[i][j]`` must equal ``shares[j] * neighbours[j][i]``.
    labelling
        Share of the labels in each block; by default labels are spread evenly over all vertices.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> blocks = gpc.StochasticBlockModel((0.5, 0.5), ((2.5, 0.5), (0.5, 2.5)), labelling=(1, 0))
    >>> blocks.sample(1000, rng=0).attributes["block"][[0, -1]]
    array([1., 2.])
    """

    name: ClassVar[str] = "block"
    form: ClassVar[str] = "block:SHARES/ROW1/ROW2/...[/LABELLING]"
    shares: tuple[float, ...] = parameter(help="Shares of the vertices in each block", check=check_probabilities)
    neighbours: tuple[tuple[float, ...], ...] = parameter(
        help="Average numbers of neighbours in each block, a row per block", check=_check_neighbours
    )
    labelling: tuple[float, ...] | None = parameter(
        None, help="Shares of the labels in each block  [even]", check=check_probabilities
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        count = len(self.shares)
        if count > _MOST_BLOCKS:
            raise InputError(f"a block model has at most {_MOST_BLOCKS} blocks, got {count}")
        if min(self.shares) == 0:
            raise InputError(
                f"every block must have a share of the vertices, and that of block {1 + self.shares.index(0)} is 0"
            )
        if len(self.neighbours) != count:
            raise InputError(
                f"neighbours must have a row and a column for each of {count} blocks, got {len(self.neighbours)}"
            )
        if self.labelling is not None and len(self.labelling) != count:
            raise InputError(f"labelling must have a share for each of {count} blocks, got {len(self.labelling)}")
        edges = np.array(self.shares)[:, None] * self.neighbours
        off = abs(edges - edges.T)
        if (off > _BALANCE * np.maximum(edges, edges.T)).any():
            i, j = np.unravel_index(int(off.argmax()), off.shape)
            raise InputError(
                f"edges between blocks {i + 1} and {j + 1} differ by side: shares[i] * neighbours[i][j] must equal "
                f"shares[j] * neighbours[j][i], got {edges[i, j]:g} and {edges[j, i]:g}"
            )

    @classmethod
    def read(cls, text: str) -> Self:
        rows = [[_read_number(cell) for cell in row.split(",")] for row in text.split("/")]
        count = len(rows[0])
        if len(rows) not in (count + 1, count + 2):
            raise InputError(f"--ensemble block must be {cls.form} with a row for each of {count} shares, got {text!r}")
        labelling = tuple(rows[count + 1]) if len(rows) == count + 2 else None
        table = tuple(map(tuple, rows[1 : count + 1]))
        if any(len(row) != count for row in table):
            raise InputError(f"--ensemble block must have {count} numbers in each row, one per share, got {text!r}")
        return cls(tuple(rows[0]), table, labelling)

    @property
    def degrees_by_block(self) -> FloatArray:
        """Average number of neighbours in each block."""
        return np.asarray(np.sum(self.neighbours, axis=1))

    @property
    def mean_degree(self) -> float:
        return float(np.dot(self.shares, self.degrees_by_block))

    def degree_probabilities(self, largest: int) -> FloatArray:
        d = np.arange(integer("largest", largest, 0) + 1.0)
        return np.asarray(
            sum(s * _poisson(d, c) for s, c in zip(self.shares, self.degrees_by_block.tolist(), strict=True))
        )

    def vertex_types(self) -> VertexTypes:
        d = np.arange(float(len(self.degree_distribution())) + 20)
        degrees = [_poisson(d, mean) for mean in self.degrees_by_block.tolist()]
        totals = self.degrees_by_block[:, None]
        even = np.full(np.shape(self.neighbours), 1 / len(self.shares))
        mixing = np.divide(self.neighbours, totals, out=even, where=totals > 0)  # rows without edges do not matter
        shares = np.array(self.shares)
        rates = np.ones(len(shares)) if self.labelling is None else np.array(self.labelling) / shares
        return VertexTypes(shares, tuple(each / each.sum() for each in degrees), mixing, rates)

    def sample(self, vertices: int, rng: np.random.Generator | int | None = None) -> Graph:
        count, generator = check_size(vertices, self.mean_degree, rng)
        sizes = split(np.array(self.shares), count)
        ends = np.concatenate(([0], np.cumsum(sizes)))
        edges = []
        for i, own in enumerate(sizes):
            for j, other in enumerate(sizes[: i + 1]):
                # one fewer within a block: a vertex is not its own neighbour
                within = float(i == j)
                pairs = own * (own - 1) // 2 if i == j else own * other
                most = count * self.shares[j] - within
                if self.neighbours[i][j] > most:
                    raise InputError(
                        f"in a graph of {count} vertices block {j + 1} has {other}, too few for {self.neighbours[i][j]:g} "
                        f"neighbours of a vertex of block {i + 1}: take more vertices"
                    )
                number = int(generator.binomial(pairs, self.neighbours[i][j] / most)) if pairs else 0
                drawn = draw_distinct(pairs, number, generator)
                pair = (
                    number_to_pair(drawn)
                    if i == j
                    else np.stack((drawn // max(other, 1), drawn % max(other, 1)), axis=1)
                )
                edges.append(pair + ends[[i, j]])
        block = np.repeat(np.arange(1.0, len(sizes) + 1), sizes)
        return Graph.from_edges(np.concatenate(edges), count).with_details(attributes={BLOCK: block})

    def label_weights(self, graph: Graph) -> FloatArray | None:
        if self.labelling is None:
            return None
        assert graph.attributes is not None
        block = graph.attributes[BLOCK].astype(np.int64) - 1
        sizes = np.bincount(block, minlength=len(self.shares))
        for number, (size, share) in enumerate(zip(sizes.tolist(), self.labelling, strict=True)):
            if size == 0 and share > 0:
                raise InputError(
                    f"a graph of {graph.vertices} vertices has none in block {number + 1}, which is labelled"
                )
        return np.asarray((np.array(self.labelling) / np.maximum(sizes, 1))[block])


def _read_number(cell: str) -> float:
    try:
        return parse_float(cell)
    except ValueError:
        raise InputError(f"--ensemble block must have numbers between commas and slashes, got {cell!r}") from None


def _poisson(d: FloatArray, mean: float) -> FloatArray:
    if mean == 0:
        return np.asarray(d == 0, dtype=np.float64)
    return np.asarray(np.exp(d * np.log(mean) - mean - scipy.special.gammaln(d + 1)))


@dataclass(frozen=True, repr=False)
class PreferentialAttachment(Ensemble):
    r"""Vertices are added one by one, and join existing vertices with probability proportional to their degree (Barabási & Albert 1999).

    For large graphs :math:`p(d) = 2m(m+1)/(d(d+1)(d+2))`, :math:`d\ge m`. Degrees of neighbours are correlated, which the
    cavity method for ensembles ignores.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> graph = gpc.PreferentialAttachment(2).sample(100, rng=0)
    >>> graph.vertices
    100
    """

    name: ClassVar[str] = "ba"
    links: int = parameter(2, help="Edges that every new vertex brings", check=partial(integer, minimum=1))

    @property
    def mean_degree(self) -> float:
        return 2.0 * self.links

    def degree_probabilities(self, largest: int) -> FloatArray:
        d, m = np.arange(integer("largest", largest, 0) + 1.0), self.links
        with np.errstate(divide="ignore"):
            return np.where(d >= m, 2 * m * (m + 1) / (d * (d + 1) * (d + 2)), 0.0)

    def vertex_types(self) -> VertexTypes:
        raise NotApplicableError(
            "degrees of neighbours depend on each other in preferential attachment, which the cavity method for ensembles "
            f"leaves out: use a graph drawn from it, such as PreferentialAttachment({self.links}).sample(20000, rng=0), or "
            "simulation"
        )

    def sample(self, vertices: int, rng: np.random.Generator | int | None = None) -> Graph:
        from networkx import barabasi_albert_graph

        count, generator = check_size(vertices, self.mean_degree, rng)
        if count <= self.links:
            raise InputError(
                f"a graph whose vertices bring {self.links} edges needs more vertices than that, got {count}"
            )
        seed = int(generator.integers(2**32))
        return Graph.from_edges(np.array(barabasi_albert_graph(count, self.links, seed=seed).edges), count)
