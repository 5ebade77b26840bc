"""Simple graphs with given degrees, drawn at random (the configuration model)."""

from __future__ import annotations

import math

import numpy as np

from gpcurves.errors import InputError, NumericalError
from gpcurves.graphs.graph import Graph, IntArray
from gpcurves.numerics.validation import integer

_ROUNDS = 200
_ATTEMPTS = 20
_FEW_ENDS = 400
"""Ends of edges up to which a graph is shuffled, if it was not drawn with exactly the probability of any other."""
_MOST_VERTICES = 50_000_000


def check_size(vertices: object, rng: np.random.Generator | int | None) -> tuple[int, np.random.Generator]:
    """Return the number of vertices of a graph to draw, and a source of random numbers."""
    return integer("vertices", vertices, 1, _MOST_VERTICES), np.random.default_rng(rng)


def graph_with_degrees(degrees: object, rng: np.random.Generator | int | None = None) -> Graph:
    """Draw a simple graph with these degrees, or raise if no graph has them.

    A random pairing that happens to be simple is every such graph equally often. If that takes too many attempts, swaps
    remove loops and double edges, all of a round at once; a swap of two edges keeps every degree. This favours some
    graphs, by an amount that falls as one over the number of vertices, so that small graphs are shuffled after it.
    """
    try:
        given = np.asarray(degrees, dtype=np.float64)
    except (TypeError, ValueError):
        given = np.empty(0)
    if given.ndim != 1 or given.size == 0 or not np.isfinite(given).all() or (given != np.floor(given)).any():
        raise InputError("degrees must be a list of integers, one per vertex")
    counts = given.astype(np.int64)
    if (counts < 0).any():
        raise InputError(f"degrees must be at least 0, got {counts.min()}")
    if counts.sum() % 2:
        raise InputError(f"no graph has these degrees: their sum must be even, got {counts.sum()}")
    if not is_graphical(counts):
        raise InputError("no simple graph has these degrees: the largest need more neighbours than there are")
    vertices, generator = check_size(len(counts), rng)
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
        keep = np.ones(len(edges), dtype=bool)
        keep[bad] = False
        bad, partner = bad[keep[partner]], partner[keep[partner]]
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
    if (left != 0).any():
        raise NumericalError("no simple graph with these degrees was found")
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
