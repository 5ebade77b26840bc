r"""Random graph ensembles: degree distributions for theory, and simple graphs that have them.

Urry & Sollich 2013, section 3.2: random regular graphs, Erdős-Rényi graphs (Poisson degrees), and generalised random
graphs whose degrees are Poisson with Pareto distributed means, :math:`p(d) = \alpha\lambda_m^\alpha\Gamma(d-\alpha,
\lambda_m)/d!`. Graphs with given degrees are drawn by the configuration model.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Self

import numpy as np
import scipy

from gpcurves.errors import InputError
from gpcurves.graphs.graph import Graph, IntArray, check_fits
from gpcurves.graphs.vertex_types import VertexTypes
from gpcurves.numerics.parameters import parameter
from gpcurves.numerics.plain import Piece, full_repr
from gpcurves.numerics.randomness import generator_of
from gpcurves.numerics.validation import FloatArray, as_numbers, integer, nonnegative, positive

_ROUNDS = 200
_ATTEMPTS = 20
_FEW_ENDS = 400  # ends of edges up to which a graph is shuffled, unless every graph was drawn equally often
_MOST_VERTICES = 50_000_000
_MOST_NEIGHBOURS = 20_000
_TAIL = 1e-6  # share of all vertices, and of all edges, that a degree distribution may leave out


class Ensemble(Piece, ABC, family="ensemble"):
    """A distribution over graphs of any size, known by its degrees.

    An ensemble must define ``degree_probabilities``; the rest follows, or may be defined if there is a better way. The
    command line builds an ensemble from its name and numbers, in the order of the fields.

    If numbers alone do not say it, ``form`` shows how it is written there, and ``read`` builds it from the text after its name.

    Laws: ``degree_probabilities`` is non-negative and sums to 1 up to the tail cut off; sampled graphs are simple, and
    their degrees have this distribution as the number of vertices grows.
    """

    form: ClassVar[str] = ""

    @classmethod
    def read(cls, text: str) -> Self:
        """Return the ensemble that a text after its name stands for, if it has a form of its own."""
        raise InputError(f"--ensemble {cls.name} takes no text, got {text!r}")

    @abstractmethod
    def degree_probabilities(self, largest: int) -> FloatArray:
        """Return the probabilities of the degrees 0, 1, …, ``largest``."""

    def vertex_types(self) -> VertexTypes:
        """Return the types of vertices that messages of large graphs come from; one type unless there are blocks."""
        probabilities = self.degree_distribution()
        return VertexTypes.single(probabilities / probabilities.sum())

    def label_weights(self, graph: Graph) -> FloatArray | None:
        """Return how likely an example is at each vertex of a graph that was drawn; None if all are equally likely."""
        return None

    @property
    def mean_degree(self) -> float:
        """Average number of neighbours."""
        probabilities = self.degree_probabilities(_MOST_NEIGHBOURS)
        return float(probabilities @ np.arange(len(probabilities)))

    def degree_distribution(self) -> FloatArray:
        """Return the probabilities of the degrees 0, 1, …; the rest holds a negligible share of all vertices and edges."""
        if self.mean_degree == 0:
            raise InputError("the ensemble has no edges: every vertex is isolated")
        size = 64
        while True:
            probabilities = self.degree_probabilities(size)
            ends = np.cumsum(probabilities * np.arange(size + 1)) / self.mean_degree
            enough = np.flatnonzero((ends >= 1 - _TAIL) & (np.cumsum(probabilities) >= 1 - _TAIL))
            if len(enough):
                return probabilities[: int(enough[0]) + 1]
            if size >= _MOST_NEIGHBOURS:
                return probabilities
            size *= 4

    def sample_degrees(self, vertices: int, rng: np.random.Generator) -> IntArray:
        """Draw independent degrees."""
        probabilities = self.degree_distribution()
        return rng.choice(len(probabilities), size=vertices, p=probabilities / probabilities.sum())

    def sample(self, vertices: int, rng: np.random.Generator | int | None = None) -> Graph:
        """Draw a simple graph."""
        count, generator = check_size(vertices, self.mean_degree, rng)
        for _ in range(_ATTEMPTS):
            degrees = np.minimum(self.sample_degrees(count, generator), count - 1)
            for _ in range(1_000):  # no graph has degrees with an odd sum: draw one of them again
                if degrees.sum() % 2 == 0:
                    break
                degrees[generator.integers(count)] = min(int(self.sample_degrees(1, generator)[0]), count - 1)
            if is_graphical(degrees):
                return graph_with_degrees(degrees, generator)
        raise InputError(f"no graph of {count} vertices has the degrees that {self!r} draws: take more vertices")

    __repr__ = full_repr


def _check_exponent(name: str, value: object) -> float:
    number = positive(name, value)
    if number <= 1:
        raise InputError(f"{name} must be greater than 1 for a finite mean degree, got {number:g}")
    return number


def check_probabilities(name: str, value: object) -> tuple[float, ...]:
    """Return numbers that are at least 0 and sum to 1."""
    probabilities = as_numbers(value, f"{name} must be a list of numbers")
    sensible = np.isfinite(probabilities) & (probabilities >= 0)
    if probabilities.ndim != 1 or probabilities.size == 0 or not sensible.all():
        raise InputError(f"{name} must be a list of finite numbers, at least 0")
    total = probabilities.sum()
    if abs(total - 1) > 1e-6:
        raise InputError(f"{name} must sum to 1, got {total:g}")
    # what was normalised once stays as it is
    return tuple((probabilities / total if abs(total - 1) > 1e-12 else probabilities).tolist())


@dataclass(frozen=True, repr=False)
class RandomRegular(Ensemble):
    """Every vertex has the same number of neighbours.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> graph = gpc.RandomRegular(3).sample(100, rng=0)
    >>> set(graph.degrees.tolist())
    {3.0}
    """

    name: ClassVar[str] = "regular"
    degree: int = parameter(3, help="Number of neighbours of every vertex", check=partial(integer, minimum=0))

    @property
    def mean_degree(self) -> float:
        return float(self.degree)

    def degree_probabilities(self, largest: int) -> FloatArray:
        return np.asarray(np.arange(integer("largest", largest, 0) + 1) == self.degree, dtype=np.float64)

    def sample_degrees(self, vertices: int, rng: np.random.Generator) -> IntArray:
        return np.full(vertices, self.degree, dtype=np.int64)

    def sample(self, vertices: int, rng: np.random.Generator | int | None = None) -> Graph:
        count, generator = check_size(vertices, self.mean_degree, rng)
        if count * self.degree % 2:
            raise InputError(f"no graph has {count} vertices of degree {self.degree}: their product must be even")
        if self.degree >= count:
            raise InputError(f"no graph has {count} vertices of degree {self.degree}: it must be less than {count}")
        return graph_with_degrees(self.sample_degrees(count, generator), generator)


@dataclass(frozen=True, repr=False)
class ErdosRenyi(Ensemble):
    """Every pair of vertices is joined independently, with the same small probability: Poisson degrees.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> graph = gpc.ErdosRenyi(3).sample(100, rng=0)
    >>> graph.vertices
    100
    """

    name: ClassVar[str] = "er"
    mean: float = parameter(3.0, help="Average number of neighbours", check=nonnegative, label="mean degree")

    @property
    def mean_degree(self) -> float:
        return self.mean

    def degree_probabilities(self, largest: int) -> FloatArray:
        d = np.arange(integer("largest", largest, 0) + 1.0)
        if self.mean == 0:
            return np.asarray(d == 0, dtype=np.float64)
        return np.asarray(np.exp(d * np.log(self.mean) - self.mean - scipy.special.gammaln(d + 1)))

    def sample_degrees(self, vertices: int, rng: np.random.Generator) -> IntArray:
        return rng.poisson(self.mean, vertices)

    def sample(self, vertices: int, rng: np.random.Generator | int | None = None) -> Graph:
        count, generator = check_size(vertices, self.mean_degree, rng)
        if self.mean > count - 1:
            raise InputError(f"a graph of {count} vertices has a mean degree of at most {count - 1}, got {self.mean:g}")
        pairs = count * (count - 1) // 2
        edges = int(generator.binomial(pairs, self.mean / (count - 1))) if count > 1 else 0
        return Graph.from_edges(number_to_pair(draw_distinct(pairs, edges, generator)), count)


@dataclass(frozen=True, repr=False)
class PowerLaw(Ensemble):
    """Poisson degrees with Pareto distributed means: exponent alpha and lower cut-off of the means.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> graph = gpc.PowerLaw(2.5, cutoff=2).sample(100, rng=0)
    >>> graph.vertices
    100
    """

    name: ClassVar[str] = "powerlaw"
    alpha: float = parameter(2.5, help="Exponent of the distribution of means, greater than 1", check=_check_exponent)
    cutoff: float = parameter(2.0, help="Smallest mean", check=positive)

    @property
    def mean_degree(self) -> float:
        return self.alpha * self.cutoff / (self.alpha - 1)

    def degree_probabilities(self, largest: int) -> FloatArray:
        r"""Return :math:`p(d) = \alpha\lambda_m^\alpha\Gamma(d-\alpha,\lambda_m)/d!` for d = 0, …, ``largest``.

        For :math:`d \le \alpha + 1` from :math:`\alpha\lambda_m^d/d!\int_0^\infty e^{-(\alpha-d)y - \lambda_m e^y}dy`, the
        integral over Poisson means :math:`\lambda_m e^y`, which falls at least as fast as an exponential of its own length.
        """
        alpha, cutoff = self.alpha, self.cutoff
        d = np.arange(integer("largest", largest, 0) + 1.0)
        result = np.empty(len(d))
        many = d > alpha + 1
        front = math.log(alpha) + alpha * math.log(cutoff)
        # ln Γ(d - α)/d! without cancellation
        ratio = scipy.special.betaln(d[many] - alpha, alpha + 1) - scipy.special.gammaln(alpha + 1)
        result[many] = np.exp(front + ratio) * scipy.special.gammaincc(d[many] - alpha, cutoff)
        for few in np.flatnonzero(~many).tolist():
            end = math.log1p(45 / cutoff)  # there the last factor is e^-45
            if few < alpha:
                end = min(end, 45 / (alpha - few))
            settings = {"epsabs": 0, "epsrel": 1e-12, "limit": 200}
            rest, _ = scipy.integrate.quad(_falling, 0, end, args=(few - alpha, cutoff), **settings)
            result[few] = math.exp(math.log(alpha * rest) + few * math.log(cutoff) - math.lgamma(few + 1) - cutoff)
        return result

    def sample_degrees(self, vertices: int, rng: np.random.Generator) -> IntArray:
        means = self.cutoff * (1 - rng.random(vertices)) ** (-1 / self.alpha)
        return rng.poisson(np.minimum(means, 1e15))


@dataclass(frozen=True, repr=False)
class DegreeDistribution(Ensemble):
    """Any degree distribution, given by the probabilities of the degrees 0, 1, 2 and so on.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> graph = gpc.DegreeDistribution((0.0, 0.5, 0.5)).sample(100, rng=0)
    >>> graph.vertices
    100
    """

    name: ClassVar[str] = "degrees"
    pmf: tuple[float, ...] = parameter(
        help="Probabilities of the degrees 0, 1, 2, ...", check=check_probabilities, label="degree probabilities"
    )

    @property
    def mean_degree(self) -> float:
        return float(np.dot(self.pmf, np.arange(len(self.pmf))))

    def degree_probabilities(self, largest: int) -> FloatArray:
        first = self.pmf[: integer("largest", largest, 0) + 1]
        return np.pad(first, (0, largest + 1 - len(first)))

    def sample_degrees(self, vertices: int, rng: np.random.Generator) -> IntArray:
        return rng.choice(len(self.pmf), size=vertices, p=self.pmf)


def number_to_pair(numbers: IntArray) -> IntArray:
    """Return the pairs (i, j), i < j, with the numbers k = j (j - 1) / 2 + i."""
    j = np.floor((1 + np.sqrt(1 + 8.0 * numbers)) / 2).astype(np.int64)
    j -= j * (j - 1) // 2 > numbers
    j += (j + 1) * j // 2 <= numbers
    return np.stack((numbers - j * (j - 1) // 2, j), axis=1)


def draw_distinct(below: int, count: int, rng: np.random.Generator) -> IntArray:
    """Draw ``count`` distinct numbers uniformly."""
    if count > below // 2:
        return rng.permutation(below)[:count]
    numbers = np.empty(0, dtype=np.int64)
    while len(numbers) < count:  # a few too many at a time
        drawn = rng.integers(below, size=count - len(numbers) + 16)
        numbers = np.unique(np.concatenate((numbers, drawn)))
    return rng.permutation(numbers)[:count] if len(numbers) > count else numbers


def _falling(y: float, rate: float, cutoff: float) -> float:
    return math.exp(rate * y - cutoff * math.expm1(y))


def check_size(
    vertices: object, mean_degree: float, rng: np.random.Generator | int | None
) -> tuple[int, np.random.Generator]:
    """Return the number of vertices of a graph to draw, and a source of random numbers."""
    count = integer("vertices", vertices, 1, _MOST_VERTICES)
    check_fits(count, count * min(mean_degree, count) / 2)
    return count, generator_of(rng)


def graph_with_degrees(degrees: object, rng: np.random.Generator | int | None = None) -> Graph:
    """Draw a simple graph with these degrees, or raise if no graph has them.

    A random pairing that happens to be simple is every such graph equally often. If that takes too many attempts, swaps
    remove loops and double edges, all of a round at once; a swap of two edges keeps every degree. This favours some
    graphs, by an amount that falls as one over the number of vertices, so that small graphs are shuffled after it.
    """
    complaint = "degrees must be a list of integers, one per vertex"
    given = as_numbers(degrees, complaint)
    if given.ndim != 1 or given.size == 0 or not np.isfinite(given).all() or (given != np.floor(given)).any():
        raise InputError(complaint)
    counts = given.astype(np.int64)
    if (counts < 0).any():
        raise InputError(f"degrees must be at least 0, got {counts.min()}")
    if counts.sum() % 2:
        raise InputError(f"no graph has these degrees: their sum must be even, got {counts.sum()}")
    if not is_graphical(counts):
        raise InputError(
            "no simple graph has these degrees: the largest degrees exceed the number of possible neighbours"
        )
    vertices, generator = check_size(len(counts), counts.mean(), rng)
    stubs = np.repeat(np.arange(vertices), counts)
    for _ in range(_count_attempts(counts)):
        pairing = generator.permutation(stubs).reshape(-1, 2)
        if len(_find_bad(pairing, vertices)) == 0:
            return Graph.from_edges(pairing, vertices)
    edges, few = None, len(stubs) <= _FEW_ENDS
    for _ in range(1 if few else _ATTEMPTS):
        edges = _untangle(generator.permutation(stubs).reshape(-1, 2), vertices, generator)
        if edges is not None:
            break
    if edges is None or few:
        edges = _shuffle(_build_greedily(counts) if edges is None else edges, generator)
    return Graph.from_edges(edges, vertices)


def _count_attempts(degrees: IntArray) -> int:
    """Return how many random pairings are worth trying: they are simple with probability exp(-c - c²), if sparse."""
    ends = float(degrees.sum())
    c = float((degrees * (degrees - 1)).sum()) / max(2 * ends, 1.0)
    return 0 if ends > 10 * _FEW_ENDS or c + c * c > 4.6 else min(int(7 * math.exp(c + c * c)) + 1, 100)


def is_graphical(degrees: IntArray) -> bool:
    """Tell whether some simple graph has these degrees, by the theorem of Erdős and Gallai."""
    if degrees.sum() % 2 or (degrees < 0).any():
        return False
    ordered = np.sort(degrees)[::-1]
    k = np.arange(1, len(ordered) + 1)
    large = np.searchsorted(-ordered, -k, side="right")  # how many degrees are at least k
    ends = np.maximum(large, k)
    sums = np.concatenate(([0], np.cumsum(ordered)))
    allowed = k * (k - 1) + k * (ends - k) + sums[-1] - sums[ends]
    return bool((sums[1:] <= allowed).all())


def _untangle(edges: IntArray, vertices: int, rng: np.random.Generator) -> IntArray | None:
    """Swap ends of bad edges with ends of random ones until no edge is a loop or a repeat; None if that fails."""
    fewest, stuck = len(edges) + 1, 0
    while stuck < _ROUNDS:
        bad = _find_bad(edges, vertices)
        if len(bad) == 0:
            return edges
        fewest, stuck = min(fewest, len(bad)), stuck + 1 if len(bad) >= fewest else 0
        # Swaps of one round must not share edges: each partner is used once, and is not a bad edge itself.
        partner = rng.integers(len(edges), size=len(bad))
        once = np.unique(partner, return_index=True)[1]
        bad, partner = bad[once], partner[once]
        free = ~np.isin(partner, bad)
        bad, partner = bad[free], partner[free]
        # one end of each bad edge changes places with one end of its partner, whichever end that is
        flip = rng.random(len(partner)) < 0.5
        edges[partner[flip]] = edges[partner[flip], ::-1]
        edges[bad, 1], edges[partner, 1] = edges[partner, 1].copy(), edges[bad, 1].copy()
    return None


def _find_bad(edges: IntArray, vertices: int) -> IntArray:
    """Return the edges that are loops or repeat another edge."""
    one, other = edges.T
    key = np.minimum(one, other) * vertices + np.maximum(one, other)
    order = np.argsort(key, kind="stable")
    bad = one == other
    bad[order[1:]] |= np.diff(key[order]) == 0
    return np.flatnonzero(bad)


def _build_greedily(degrees: IntArray) -> IntArray:
    """Return one simple graph with these degrees (Havel and Hakimi), for crowded graphs that pairing does not find."""
    left = degrees.copy()
    pairs = []
    for _ in range(len(degrees)):
        vertex = int(np.argmax(left))
        need = int(left[vertex])
        if need == 0:
            break
        left[vertex] = 0
        others = np.argsort(-left, kind="stable")[:need]
        left[others] -= 1
        pairs.append(np.stack((np.full(need, vertex), others), axis=1))
    return np.concatenate(pairs) if pairs else np.empty((0, 2), dtype=np.int64)


def _shuffle(edges: IntArray, rng: np.random.Generator) -> IntArray:
    """Make a given graph random: many swaps of two edges, each kept if the graph stays simple."""
    present = {tuple(sorted(edge)) for edge in edges.tolist()}
    picks = rng.integers(max(len(edges), 1), size=(20 * len(edges), 2))
    for (first, second), flip in zip(picks.tolist(), (rng.random(len(picks)) < 0.5).tolist(), strict=True):
        (i, j), (k, m) = edges[first].tolist(), edges[second].tolist()
        if flip:
            k, m = m, k
        new = tuple(sorted((i, m))), tuple(sorted((k, j)))
        if first == second or i == m or k == j or new[0] == new[1] or new[0] in present or new[1] in present:
            continue
        present -= {tuple(sorted((i, j))), tuple(sorted((k, m)))}
        present |= set(new)
        edges[first], edges[second] = (i, m), (k, j)
    return edges
