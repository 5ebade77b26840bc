"""The regular tree: the paper's recursion, integral and limits retyped, its misprints shown, and sampled regular graphs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import networkx as nx
import numpy as np
import pytest
from scipy.integrate import quad

from gpcurves import InputError
from gpcurves.graphs import DiffusionKernel, Graph, RandomRegular, RandomWalkKernel
from gpcurves.graphs.tree import (
    cycle_threshold,
    first_example,
    mean_correlation,
    scaling_form,
    shell_profile,
    tree_kernel,
    tree_limit,
    tree_normaliser,
    tree_spectrum,
)

CASES = [(3, 10, 2.0), (3, 1, 2.0), (2, 7, 2.5), (4, 25, 3.0), (10, 40, 2.1), (3, 120, 2.0)]


def by_recursion(d: int, p: int, a: float) -> list[float]:
    """Return Ĉ by eq. (4) without normalisation."""
    C = [1.0] + [0.0] * (p + 2)
    for _ in range(p):
        new = [(1 - 1 / a) * C[0] + C[1] / a]
        new += [C[i - 1] / (a * d) + (1 - 1 / a) * C[i] + (d - 1) / (a * d) * C[i + 1] for i in range(1, len(C) - 1)]
        C = [*new, 0.0]
    return C[: p + 1]


def volume(d: int, distance: int) -> int:
    return 1 if distance == 0 else d * (d - 1) ** (distance - 1)


# ---- the kernel by distance ----


@pytest.mark.parametrize(("d", "p", "a"), CASES)
def test_tree_kernel_is_recursion_4(d: int, p: int, a: float) -> None:
    expected = np.array(by_recursion(d, p, a))
    np.testing.assert_allclose(tree_kernel(d, p, a, normalise=False), expected, rtol=1e-12)
    np.testing.assert_allclose(tree_kernel(d, p, a), expected / expected[0], rtol=1e-12)


def test_a_walk_without_steps_stays() -> None:
    assert tree_kernel(3, 0).tolist() == [1.0]


@pytest.mark.parametrize(("d", "p", "a"), CASES[:5])
def test_tree_kernel_is_integral_31(d: int, p: int, a: float) -> None:
    def integrand(x: float, distance: int) -> float:
        walk = (1 - (1 - 2 * math.cos(x) * math.sqrt(d - 1) / d) / a) ** p
        below = d**2 - 4 * (d - 1) * math.cos(x) ** 2
        if distance == 0:
            return 2 * (d - 1) * d / math.pi * walk * math.sin(x) ** 2 / below
        waves = (d - 1) * math.sin((distance + 1) * x) - math.sin((distance - 1) * x)
        return 2 / (math.pi * math.pow(d - 1, distance / 2 - 1)) * walk * math.sin(x) * waves / below

    C = tree_kernel(d, p, a, normalise=False)
    for distance in range(min(p, 6) + 1):
        value, _ = quad(integrand, 0, math.pi, args=(distance,), epsabs=1e-13, epsrel=1e-11, limit=200)
        assert C[distance] == pytest.approx(value, rel=1e-9, abs=1e-12)


def test_tree_kernel_is_the_kernel_of_a_real_tree() -> None:
    graph = nx.balanced_tree(2, 7)  # degree 3 away from the root and the leaves
    graph.add_edges_from([(0, "other"), *((("other", i), ("other", (i - 1) // 2)) for i in range(1, 255))])
    graph = nx.relabel_nodes(graph, {("other", 0): "other"})
    assert graph.degree(0) == 3
    C = RandomWalkKernel(6, 2.5, "none").on(graph)
    row = C.rows(list(graph).index(0))[0]
    away = nx.single_source_shortest_path_length(graph, 0)
    expected = tree_kernel(3, 6, 2.5, normalise=False)
    for node, value in zip(graph, row, strict=True):
        assert value == pytest.approx(expected[away[node]] if away[node] <= 6 else 0.0, rel=1e-12, abs=1e-18)


@pytest.mark.parametrize("d", [2, 3, 5])
def test_long_walks_reach_limit_5(d: int) -> None:
    distance = np.arange(6)
    errors = [abs(tree_kernel(d, p)[:6] - tree_limit(d, distance)).max() for p in (1000, 4000)]
    expected = [(1 + i * (d - 2) / d) / (d - 1) ** (i / 2) for i in range(6)]
    np.testing.assert_allclose(tree_limit(d, distance), expected, rtol=1e-14)
    assert errors[1] < 0.01
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.05)  # it falls as 1/p


@pytest.mark.parametrize("d", [3, 4])
def test_shells_follow_equation_6_with_the_corrected_factor_only(d: int) -> None:
    p, a = 12, 2.5

    def shells(first: float) -> list[float]:
        hop = math.sqrt(d - 1) / (a * d)
        R = [1.0] + [0.0] * (p + 2)
        for _ in range(p):
            new = [(1 - 1 / a) * R[0] + R[1] / (a * math.sqrt(d)), first * R[0] + (1 - 1 / a) * R[1] + hop * R[2]]
            new += [hop * R[i - 1] + (1 - 1 / a) * R[i] + hop * R[i + 1] for i in range(2, len(R) - 1)]
            R = [*new, 0.0]
        return [x / R[0] for x in R[: p + 1]]

    C = tree_kernel(d, p, a)
    expected = [C[i] * math.sqrt(volume(d, i)) for i in range(p + 1)]
    np.testing.assert_allclose(shells(1 / (a * math.sqrt(d))), expected, rtol=1e-12)
    printed = shells(math.sqrt(d - 1) / (a * d))
    assert abs(np.array(printed) / expected - 1).max() > 0.05


def test_very_long_walks_neither_overflow_nor_warn() -> None:
    for p in (3000, 10_000):
        C = tree_kernel(3, p)
        assert np.isfinite(C).all()
        assert C[0] == 1
        assert (np.diff(C) <= 0).all()
    assert np.isfinite(shell_profile(100, 3000, 7.0)).all()
    assert tree_kernel(3, 10_000, normalise=False)[0] == pytest.approx(0.0, abs=1e-100)


# ---- the scaling form ----


@pytest.mark.parametrize(("d", "p", "a"), CASES)
def test_shell_profile_is_its_definition(d: int, p: int, a: float) -> None:
    growth = 1 - 1 / a + 2 * math.sqrt(d - 1) / (a * d)
    expected = [p * c * math.sqrt(volume(d, i)) * growth**-p for i, c in enumerate(by_recursion(d, p, a))]
    np.testing.assert_allclose(shell_profile(d, p, a), expected, rtol=1e-11)


@pytest.mark.parametrize(("d", "a"), [(3, 2.0), (3, 4.0), (5, 2.5)])
def test_the_profile_approaches_the_scaling_form(d: int, a: float) -> None:
    def error(p: int, shift: bool) -> float:
        profile = shell_profile(d, p, a)
        return float(abs(profile - scaling_form(d, p, a, shift=shift)).max() / profile.max())

    bare = [error(p, False) for p in (100, 400, 1600)]
    shifted = [error(p, True) for p in (100, 400, 1600)]
    assert bare[0] > 1.3 * bare[1] > 1.3 * 1.6 * bare[2]
    assert shifted[0] > 2 * shifted[1] > 4 * shifted[2]  # faster than the bare form
    assert shifted[2] < 0.06
    assert all(better < worse for better, worse in zip(shifted, bare, strict=True))


def test_the_scaling_form_retyped() -> None:
    d, p, a = 4, 50, 2.5
    growth = 1 - 1 / a + 2 * math.sqrt(d - 1) / (a * d)
    for distance, value in enumerate(scaling_form(d, p, a, shift=False)):
        scaled = distance / math.sqrt(p)
        b = math.sqrt(d - 1) / (a * d * growth)
        front = math.sqrt(d * (d - 1)) / (2 * math.sqrt(math.pi) * (d - 2) * b**1.5)
        cutoff = math.exp(-(scaled**2) * a * growth * d / (4 * math.sqrt(d - 1)))
        assert value == pytest.approx(front * scaled * cutoff, rel=1e-12)


@pytest.mark.parametrize(("d", "a"), [(3, 2.0), (3, 4.0), (5, 2.5)])
def test_the_exponent_printed_in_appendix_a2_fits_worse(d: int, a: float) -> None:
    p = 1600
    scaled = (np.arange(p + 1) + d / (d - 2)) / math.sqrt(p)
    profile = shell_profile(d, p, a)
    growth = 1 - 1 / a + 2 * math.sqrt(d - 1) / (a * d)

    def misfit(exponent: float) -> float:
        shape = scaled * np.exp(-exponent * scaled**2)
        best = (shape @ profile) / (shape @ shape)  # whatever its height
        return float(np.linalg.norm(profile - best * shape) / np.linalg.norm(profile))

    printed, corrected = d / (2 * math.sqrt(d - 1)), a * growth * d / (4 * math.sqrt(d - 1))
    assert misfit(corrected) < 0.02
    assert misfit(printed) > 2.5 * misfit(corrected)
    if a != 2:  # where the two are all but the same
        assert misfit(printed) > 0.08


# ---- the first example and the threshold ----


def test_first_example_is_the_sum_over_shells() -> None:
    C = tree_kernel(3, 30, 2.5)
    expected = sum(volume(3, i) * C[i] ** 2 for i in range(31)) / 1.1
    assert first_example(3, 30, 2.5, 0.1) == pytest.approx(expected, rel=1e-12)
    twice, once = (tree_kernel(3, p, 2.5, normalise=False)[0] for p in (60, 30))
    assert first_example(3, 30, 2.5, 0.1) == pytest.approx(twice / once**2 / 1.1, rel=1e-12)  # walks there and back


def test_first_example_grows_as_p_to_three_halves() -> None:
    gains = [first_example(3, p, 2.0, 0.1) for p in (50, 200, 800, 3200, 6400)]
    short = [math.log(after / before, 4) - 1.5 for before, after in itertools.pairwise(gains[:4])]
    assert short[0] < 2 * short[1] < 6 * short[2] < 0  # how far from it the exponent still is
    assert math.log(gains[4] / gains[3], 2) == pytest.approx(1.5, abs=0.02)


def test_first_example_is_the_fall_of_the_error_on_a_large_regular_graph() -> None:
    graph = RandomRegular(3).sample(4000, 2)
    rows = RandomWalkKernel(6, 2.0, "local").on(graph).rows(np.arange(0, 4000, 40))
    assert (rows**2).sum(axis=1).mean() / 1.1 == pytest.approx(first_example(3, 6, 2.0, 0.1), rel=0.01)


def test_cycle_threshold_is_equation_7() -> None:
    assert cycle_threshold(3, 500) == pytest.approx(math.log(500) / math.log(2), rel=1e-14)
    assert cycle_threshold(5, 10**6) == pytest.approx(math.log(10**6) / math.log(4), rel=1e-14)


def test_neighbours_on_regular_graphs_leave_the_tree_at_the_threshold_and_end_fully_correlated() -> None:
    graph = RandomRegular(3).sample(300, 4)
    threshold = cycle_threshold(3, 300)
    for p in (1, 2, 4, 6):
        on_graph = mean_correlation(graph, RandomWalkKernel(p, 2.0, "global"))
        assert on_graph == pytest.approx(tree_kernel(3, p)[1], rel=0.02)
        assert p / 2 < threshold
    for p in (30, 200):
        assert p / 2 > threshold
        assert mean_correlation(graph, RandomWalkKernel(p, 2.0, "global")) > tree_kernel(3, p)[1] + 0.01
    assert mean_correlation(graph, RandomWalkKernel(1000, 2.0, "global")) == pytest.approx(1, abs=1e-6)
    assert tree_kernel(3, 1000)[1] == pytest.approx(2 * math.sqrt(2) / 3, abs=0.004)


@pytest.mark.parametrize("distance", [0, 1, 2, 3])
def test_mean_correlation_is_the_average_over_pairs(distance: int) -> None:
    graph = Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0), (3, 4), (4, 5)], 8, [1, 2, 3, 1, 0.5, 1])
    C = RandomWalkKernel(5, 2.5, "global").on(graph).matrix()
    lengths = dict(nx.all_pairs_shortest_path_length(graph.to_networkx()))
    pairs = [(i, j) for i in lengths for j, length in lengths[i].items() if length == distance]
    expected = np.mean([C[i, j] / math.sqrt(C[i, i] * C[j, j]) for i, j in pairs])
    for how in ("local", "global", "none"):
        assert mean_correlation(graph, RandomWalkKernel(5, 2.5, how), distance) == pytest.approx(expected, rel=1e-12)


def test_mean_correlation_over_some_pairs_is_near_that_over_all() -> None:
    graph = RandomRegular(3).sample(5000, 4)
    kernel = RandomWalkKernel(6, 2.0, "global")
    assert mean_correlation(graph, kernel, 2, pairs=2000) == pytest.approx(tree_kernel(3, 6)[2], rel=0.02)


# ---- the spectrum ----


def returns(d: int, most: int) -> list[float]:
    """Return the probabilities that a walk which always moves is back after 0, 1, … steps."""
    at = [1.0] + [0.0] * (most + 1)
    result = [1.0]
    for _ in range(most):
        new = [at[1] * (1 / d if d > 1 else 1.0)]
        new += [at[i - 1] * (1.0 if i == 1 else (d - 1) / d) + at[i + 1] / d for i in range(1, most + 1)]
        at = [*new, 0.0]
        result.append(at[0])
    return result


@pytest.mark.parametrize("d", [1, 2, 3, 4, 10, 1000])
def test_moments_of_the_spectrum_are_return_probabilities(d: int) -> None:
    t, weight = tree_spectrum(d)
    assert (weight >= 0).all()
    assert weight.sum() == pytest.approx(1, rel=1e-12)
    assert abs(t).max() <= 1
    expected = [1.0, 0.0] * 10 if d == 1 else returns(d, 19)
    np.testing.assert_allclose([weight @ t**k for k in range(20)], expected, rtol=1e-11, atol=1e-14)


def test_isolated_vertices_have_one_eigenvalue() -> None:
    t, weight = tree_spectrum(0)
    assert (t.tolist(), weight.tolist()) == ([0.0], [1.0])
    assert tree_normaliser(RandomWalkKernel(10), 0) == 2.0**-10
    assert tree_normaliser(RandomWalkKernel(10), 1) == 0.5


def test_the_spectrum_is_mckays() -> None:
    d = 3
    edge = 2 * math.sqrt(d - 1) / d

    def density(eigenvalue: float) -> float:
        below = 2 * math.pi / d * eigenvalue * (2 - eigenvalue)
        return math.sqrt(max(4 * (d - 1) / d**2 - (eigenvalue - 1) ** 2, 0)) / below

    t, weight = tree_spectrum(d)
    for low, high in ((-1.0, 0.3), (-0.5, 0.0), (0.6, 1.0)):
        share, _ = quad(density, max(1 - high, 1 - edge), min(1 - low, 1 + edge), limit=200)
        assert weight[(t > low) & (t < high)].sum() == pytest.approx(share, abs=1e-3)


@pytest.mark.parametrize(("p", "a"), [(1, 2.0), (10, 2.0), (11, 3.0), (1000, 2.0)])
@pytest.mark.parametrize("d", [2, 3, 7])
def test_tree_normaliser_is_the_return_probability(d: int, p: int, a: float) -> None:
    assert tree_normaliser(RandomWalkKernel(p, a), d) == pytest.approx(
        tree_kernel(d, p, a, normalise=False)[0], rel=1e-10
    )


# ---- what is refused ----

BAD: dict[str, tuple[Callable[[], object], str]] = {
    "degree": (lambda: tree_kernel(1, 5), "degree must be an integer, at least 2, got 1"),
    "p": (lambda: tree_kernel(3, -1), "p must be an integer, at least 0, got -1"),
    "p, fraction": (lambda: shell_profile(3, 2.5), "p must be an integer"),  # type: ignore[arg-type]
    "a": (lambda: tree_kernel(3, 5, 1.5), "a must be at least 2 for a positive semidefinite kernel, got 1.5"),
    "a, negative": (lambda: tree_kernel(3, 5, -4.0), "a must be at least 2"),
    "a, zero": (lambda: tree_kernel(3, 5, 0.0), "a must be at least 2"),
    "a, NaN": (lambda: tree_kernel(3, 5, math.nan), "a must be finite"),
    "a of the form": (lambda: scaling_form(3, 10, 1.0), "a must be at least 2"),
    "distance": (lambda: tree_limit(3, -1), "distances must be finite and at least 0"),
    "distance, NaN": (lambda: tree_limit(3, [0, math.nan]), "distances must be finite and at least 0"),
    "line": (lambda: cycle_threshold(2, 100), "degree must be an integer, at least 3, got 2"),
    "tiny graph": (lambda: cycle_threshold(3, 3), "vertices must be an integer, at least 4, got 3"),
    "noise": (lambda: first_example(3, 10, 2.0, -1.0), "noise must be at least 0, got -1"),
    "noise, NaN": (lambda: first_example(3, 10, 2.0, math.nan), "noise must be finite"),
    "spectrum": (lambda: tree_spectrum(-1), "degree must be an integer, at least 0, got -1"),
    "too far": (
        lambda: mean_correlation([[0, 1], [1, 0]], DiffusionKernel(1.0), 2),
        "no two vertices at the distance 2",
    ),
    "no graph": (lambda: mean_correlation(3, DiffusionKernel(1.0)), "a graph must be a Graph"),
}


@pytest.mark.parametrize("what", BAD)
def test_what_no_tree_has_is_refused_in_a_sentence(what: str) -> None:
    build, sentence = BAD[what]
    with pytest.raises(InputError, match=sentence):
        build()


def test_distances_may_be_numbers_or_arrays() -> None:
    assert float(tree_limit(3, 1)) == pytest.approx(2 * math.sqrt(2) / 3)
    assert tree_limit(3, [[0, 1], [2, 3]]).shape == (2, 2)
