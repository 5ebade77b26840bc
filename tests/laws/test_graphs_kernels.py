"""Kernels between vertices: dense formulae retyped, laws on every graph, large graphs by sparse products, diagnosis."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import linalg
from scipy.sparse.csgraph import laplacian

import gpcurves.graphs.covariance as covariance_module
import gpcurves.numerics.memory
from gpcurves import InputError, diagnose
from gpcurves.graphs import (
    DiffusionKernel,
    ErdosRenyi,
    Graph,
    GraphKernel,
    MaternGraphKernel,
    PolynomialWalkKernel,
    PowerLaw,
    RandomRegular,
    RandomWalkKernel,
    RegularisedLaplacianKernel,
    as_graph,
)
from gpcurves.graphs.covariance import GraphCovariance
from gpcurves.graphs.elimination import elimination, inverse_diagonal
from gpcurves.graphs.groups import members
from gpcurves.graphs.kernels import NORMALISATIONS, Normalisation
from gpcurves.graphs.kernels.attributes import VertexAttributeKernel
from gpcurves.graphs.kernels.sums import GraphKernelSum
from gpcurves.graphs.tree import tree_normaliser
from gpcurves.numerics.parameters import parameters_of
from gpcurves.numerics.validation import FloatArray
from graphs_oracle import by_eigenvalue
from pictures import assert_drawn

_rng = np.random.default_rng(6)


def weighted(vertices: int, edges: int, spread: float) -> Graph:
    pairs = list(ErdosRenyi(2 * edges / vertices).sample(vertices, 9).edge_list()[0])
    return Graph.from_edges(pairs, vertices, 10 ** (spread * _rng.normal(size=len(pairs))))


GRAPHS: dict[str, Graph] = {
    "one vertex": Graph([[0]]),
    "no edges": Graph.from_edges([], 4),
    "a pair and an isolated vertex": Graph.from_edges([(0, 1)], 3),
    "path": as_graph(nx.path_graph(9)),
    "forest": as_graph(nx.disjoint_union(nx.balanced_tree(2, 3), nx.star_graph(6))),
    "even cycle": as_graph(nx.cycle_graph(8)),
    "bipartite": as_graph(nx.complete_bipartite_graph(3, 5)),
    "complete": as_graph(nx.complete_graph(6)),
    "regular": as_graph(nx.petersen_graph()),
    "random": ErdosRenyi(2.0).sample(60, 1),
    "weighted": weighted(25, 40, 0.3),
    "very unlike weights": weighted(25, 40, 3.0),
}
KERNELS: dict[str, GraphKernel] = {
    "walk, no steps": RandomWalkKernel(0, 2.0),
    "walk, one step": RandomWalkKernel(1, 2.0),
    "walk, even": RandomWalkKernel(10, 2.0),
    "walk, odd": RandomWalkKernel(7, 2.3),
    "diffusion, short": DiffusionKernel(0.3),
    "diffusion, long": DiffusionKernel(4.0),
    "regularised, short": RegularisedLaplacianKernel(0.4),
    "regularised, long": RegularisedLaplacianKernel(6.0),
    "Matérn, rough": MaternGraphKernel(1.3, 0.5),
    "Matérn, integer": MaternGraphKernel(3.0, 2),
    "Matérn, long": MaternGraphKernel(6.0, 3),
    "Matérn, half-integer": MaternGraphKernel(2.0, 2.5),
    "constant": PolynomialWalkKernel((2.0,)),
    "Laplacian": PolynomialWalkKernel((1.0, -1.0)),
    "even polynomial": PolynomialWalkKernel((0.1, 0, 9, 0, -24, 0, 16)),  # 0.1 + (4t³ - 3t)²
    "odd polynomial": PolynomialWalkKernel((1.0, 0.5, 0.25, 0.2)),
}


def naive(kernel: GraphKernel, graph: Graph) -> FloatArray:
    """Return the covariance matrix by dense algebra, as section 2 of the paper defines it."""
    A = graph.adjacency.toarray()
    V, degrees = len(A), A.sum(axis=1)
    T = np.zeros((V, V))
    for i in range(V):
        for j in range(V):
            if A[i, j]:
                T[i, j] = A[i, j] / math.sqrt(degrees[i]) / math.sqrt(degrees[j])
    one = np.eye(V)
    if isinstance(kernel, RandomWalkKernel):
        C = np.linalg.matrix_power((1 - 1 / kernel.a) * one + T / kernel.a, kernel.p)
    elif isinstance(kernel, DiffusionKernel):
        C = linalg.expm(-0.5 * kernel.scale**2 * (one - T))
    elif isinstance(kernel, RegularisedLaplacianKernel):
        C = np.linalg.inv(one + kernel.scale**2 * (one - T))
    elif isinstance(kernel, MaternGraphKernel):
        precision = one + kernel.scale**2 / kernel.smoothness * (one - T)
        C = linalg.fractional_matrix_power(precision, -kernel.smoothness).real
    else:
        assert isinstance(kernel, PolynomialWalkKernel)
        C = sum((c * np.linalg.matrix_power(T, s) for s, c in enumerate(kernel.coefficients)), np.zeros((V, V)))
    if kernel.normalise == "global":
        return np.asarray(C / (np.trace(C) / V))
    if kernel.normalise == "local":
        return np.array([[C[i, j] / math.sqrt(C[i, i] * C[j, j]) for j in range(V)] for i in range(V)])
    return np.asarray(C)


@dataclass(frozen=True)
class _Power(GraphKernel):
    """(shift + t)^power: what somebody may write who needs no more than this."""

    power: float
    shift: float = 0.0

    def eigenvalue(self, t: FloatArray) -> FloatArray:
        return np.asarray((self.shift + t) ** self.power)


# ---- every kernel on every graph ----


@pytest.mark.parametrize("how", NORMALISATIONS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_matrix_rows_products_and_eigenvalues_are_the_dense_formula(kernel: str, how: Normalisation) -> None:
    for known in GRAPHS.values():
        check_against_dense_formula(known, kernel, how)


def check_against_dense_formula(known: Graph, kernel: str, how: Normalisation) -> None:
    covariance = KERNELS[kernel].normalised(how).on(known)
    expected = naive(covariance.kernel, known)
    close = {"rtol": 1e-10, "atol": 1e-12 * abs(expected).max()}
    C = covariance.matrix()
    np.testing.assert_allclose(C, expected, **close)
    assert np.array_equal(C, C.T)
    np.testing.assert_allclose(covariance.variances, np.diagonal(expected), **close)
    if how == "local":
        assert (np.diagonal(C) == 1).all()
    if how == "global":
        assert covariance.variances.mean() == pytest.approx(1, rel=1e-14)
    some = np.arange(known.vertices)[::-2]
    np.testing.assert_allclose(covariance.rows(some), expected[some], **close)
    vectors = np.random.default_rng(2).normal(size=(known.vertices, 3))
    np.testing.assert_allclose(covariance @ vectors, expected @ vectors, rtol=1e-9, atol=1e-11 * abs(expected).max())
    assert np.array_equal(covariance @ vectors[:, 0], (covariance @ vectors)[:, 0])
    values = np.linalg.eigvalsh(expected)
    assert values[0] > -1e-12 * values[-1]
    np.testing.assert_allclose(covariance.eigenvalues(), np.maximum(values, 0), rtol=1e-9, atol=1e-11 * values[-1])


@pytest.mark.parametrize("way", ["eigenvectors", "elimination"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_every_way_leads_to_the_same_covariance(kernel: str, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for known in GRAPHS.values():
        check_way(known, kernel, way, monkeypatch)


def check_way(known: Graph, kernel: str, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = KERNELS[kernel].normalised("local")
    monkeypatch.setattr(covariance_module, "_QUICK", -1.0)
    monkeypatch.setattr(covariance_module, "_EIGEN", 0.0 if way == "eigenvectors" else 1e99)
    monkeypatch.setattr(covariance_module, "_SOLVE", 1e99 if way == "eigenvectors" else -1e99)
    covariance = chosen.on(known)
    if way == "elimination" and chosen.resolvent is None:
        assert covariance.factors is None
        return
    if known.edges > 0 and chosen.reach > 0:
        assert covariance._cheapest[0] == way
        assert (covariance.factors is not None) == (way == "elimination")
    expected = naive(chosen, known)
    np.testing.assert_allclose(covariance.matrix(), expected, rtol=1e-10, atol=1e-10)
    vector = np.random.default_rng(3).normal(size=known.vertices)
    np.testing.assert_allclose(covariance @ vector, expected @ vector, rtol=1e-9, atol=1e-10)
    raw = chosen.normalised("none").on(known)
    np.testing.assert_allclose(raw.variances, naive(raw.kernel, known).diagonal(), rtol=1e-10, atol=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kernel", "way"),
    [
        (MaternGraphKernel(64.0, 1), "elimination"),
        (MaternGraphKernel(64.0, 2), "elimination"),
        (MaternGraphKernel(40.0, 1.5), "eigenvectors"),
        (RandomWalkKernel(400, 2.0), "eigenvectors"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("grid", [False, True], ids=["random", "grid"])
def test_long_scales_do_not_need_long_series(kernel: GraphKernel, way: str, grid: bool) -> None:
    graph = (
        as_graph(nx.convert_node_labels_to_integers(nx.grid_2d_graph(30, 25)))
        if grid
        else ErdosRenyi(3.0).sample(750, 4)
    )
    covariance = kernel.on(graph)
    assert covariance._cheapest[0] == way
    some = np.arange(0, graph.vertices, 60)
    by_products = chosen_products(covariance, some)
    np.testing.assert_allclose(by_products[np.arange(len(some)), some], 1, rtol=1e-8)  # prior variances are right
    np.testing.assert_allclose(covariance.rows(some), by_products, atol=1e-10)
    np.testing.assert_allclose(covariance.matrix()[some], by_products, atol=1e-10)


def chosen_products(covariance: GraphCovariance, some: Any) -> FloatArray:
    """Return rows by products with T alone, which are exact at vertices of any prior variance."""
    T = covariance.graph.T
    rows = np.asarray(covariance.kernel.apply(np.eye(len(covariance.graph))[some], lambda rows: (T @ rows.T).T))
    root = np.sqrt(covariance.normaliser)
    return np.asarray(rows / root / root[some, None])


def test_every_kernel_is_tested() -> None:
    ours = {kind for kind in GraphKernel.known.values() if kind.__module__.startswith("gpcurves.")}
    apart = {
        GraphKernelSum,
        VertexAttributeKernel,
    }  # neither has a normaliser of its own; their laws are with sums of kernels
    assert {type(kernel) for kernel in KERNELS.values()} == ours - apart


def test_kernels_by_their_names_on_the_command_line() -> None:
    names = {"random-walk": ["p", "a"], "diffusion": ["scale"], "regularised-laplacian": ["scale"]}
    names["matern"] = ["scale", "smoothness"]
    for name, flags in {**names, "polynomial": ["coefficients"]}.items():
        described = parameters_of(GraphKernel.named(name))
        assert [parameter.flag for parameter in described] == [*flags, "normalise", "variance"]
        assert all(parameter.help for parameter in described)


@pytest.mark.parametrize("name", KERNELS)
def test_saved_and_loaded_kernel_is_the_same(name: str) -> None:
    kernel = KERNELS[name].normalised("local")
    again = GraphKernel.from_dict(json.loads(json.dumps(kernel.to_dict())))
    assert again == kernel
    assert hash(again) == hash(kernel)
    assert repr(again) == repr(kernel)


WEIGHTS = st.lists(st.floats(1e-3, 1e3), min_size=10, max_size=10)
THERE = st.lists(st.booleans(), min_size=10, max_size=10)


def from_upper_half(w: list[float], there: list[bool]) -> Graph:
    A = np.zeros((5, 5))
    A[np.triu_indices(5, 1)] = np.where(there, w, 0.0)
    return Graph(A + A.T)


@given(WEIGHTS, THERE, st.sampled_from(sorted(KERNELS)), st.sampled_from(NORMALISATIONS))
def test_any_small_graph_agrees_with_dense_algebra(
    w: list[float], there: list[bool], name: str, how: Normalisation
) -> None:
    graph = from_upper_half(w, there)
    covariance = KERNELS[name].normalised(how).on(graph)
    expected = naive(covariance.kernel, graph)
    np.testing.assert_allclose(covariance.matrix(), expected, rtol=1e-9, atol=1e-11 * abs(expected).max())
    assert covariance.eigenvalues().min() >= 0


@pytest.mark.parametrize("kernel", KERNELS)
def test_eigenvalues_are_all_that_a_kernel_must_define(kernel: str) -> None:
    for name, graph in GRAPHS.items():
        known = KERNELS[kernel].normalised("none").on(graph)
        found = by_eigenvalue(known.kernel).on(graph)
        allowed = 1e-13 * float(known.kernel.eigenvalue(np.linspace(-1, 1, 99)).max())
        np.testing.assert_allclose(found.raw_diagonal, known.raw_diagonal, rtol=0, atol=allowed, err_msg=name)
        np.testing.assert_allclose(found.matrix(), known.matrix(), rtol=0, atol=allowed, err_msg=name)


def test_eigenvalues_that_are_no_covariance_or_not_smooth_are_refused() -> None:
    graph = GRAPHS["path"]
    with pytest.raises(InputError, match=r"eigenvalues must be at least 0 between -1 and 1, those of .* fall to -1"):
        _Power(1.0).on(graph).matrix()
    with pytest.raises(InputError, match=r"not smooth enough between -1 and 1 .* define apply"):
        _Power(0.5, shift=1.0).on(graph).matrix()
    np.testing.assert_allclose(
        _Power(2.0).on(graph).matrix(), PolynomialWalkKernel((0, 0, 1)).on(graph).matrix(), atol=1e-14
    )
    assert _Power(2.0).normalised("none").on(graph).variances[0] == pytest.approx(0.5)  # without a field normalise


def test_products_take_vectors_columns_and_nothing_else() -> None:
    covariance = RandomWalkKernel(normalise="global").on(GRAPHS["path"])
    assert (covariance @ np.ones(9)).shape == (9,)
    assert (covariance @ np.ones((9, 1))).shape == (9, 1)
    assert (covariance @ np.ones((9, 0))).shape == (9, 0)
    for bad in (np.ones(8), np.ones((1, 9)), np.ones((9, 1, 1))):
        with pytest.raises(InputError, match="vectors must have 9 rows, one per vertex"):
            covariance @ bad
    for vertices in ([9], [-1], [0.5], ["a"], [[0]]):
        with pytest.raises(InputError, match="vertices must be numbers between 0 and 8"):
            covariance.rows(vertices)
    assert covariance.rows(3).shape == (1, 9)
    assert covariance.rows(np.array([], dtype=int)).shape == (0, 9)


# ---- limits, isolated vertices, small entries ----


@pytest.mark.parametrize("graph", ["random", "weighted", "bipartite"])
def test_long_lazy_walks_become_diffusion(graph: str) -> None:
    limit = DiffusionKernel(math.sqrt(2 * 2.5), "none").on(GRAPHS[graph]).matrix()
    errors = [
        abs(RandomWalkKernel(p, p / 2.5, "none").on(GRAPHS[graph]).matrix() - limit).max() for p in (100, 200, 400)
    ]
    assert errors[2] < 0.005
    for longer, shorter in zip(errors[1:], errors, strict=False):
        assert shorter / longer == pytest.approx(2, abs=0.1)  # the difference falls as 1/p


@pytest.mark.parametrize("graph", ["random", "weighted", "bipartite"])
def test_smooth_matern_kernels_become_diffusion(graph: str) -> None:
    limit = DiffusionKernel(math.sqrt(2) * 1.5, "none").on(GRAPHS[graph]).matrix()
    errors = [abs(MaternGraphKernel(1.5, nu, "none").on(GRAPHS[graph]).matrix() - limit).max() for nu in (12, 24, 48)]
    assert errors[2] < 0.02
    for smoother, rougher in zip(errors[1:], errors, strict=False):
        assert rougher / smoother == pytest.approx(2, abs=0.2)  # the difference falls as one over the smoothness


@pytest.mark.slow
@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("scale", [0.2, 5.0, 64.0])
def test_the_matern_kernel_of_smoothness_one_is_the_regularised_laplacian(graph: str, scale: float) -> None:
    matern, laplacian = MaternGraphKernel(scale, 1), RegularisedLaplacianKernel(scale)
    t = np.linspace(-1, 1, 9)
    assert np.array_equal(matern.eigenvalue(t), laplacian.eigenvalue(t))
    assert np.array_equal(matern.on(GRAPHS[graph]).matrix(), laplacian.on(GRAPHS[graph]).matrix())
    ours, theirs = matern.vertex_model(), laplacian.vertex_model()
    assert np.array_equal(ours.local, theirs.local)
    assert np.array_equal(ours.coupling, theirs.coupling)


@pytest.mark.parametrize(("p", "a"), [(10, 2.0), (9, 2.5), (200, 2.0), (1000, 2.0)])
def test_an_isolated_vertex_has_the_probability_never_to_move(p: int, a: float) -> None:
    graph = GRAPHS["a pair and an isolated vertex"]
    covariance = RandomWalkKernel(p, a, "none").on(graph)
    exact = (1 - Fraction(a) ** -1) ** p
    assert covariance.variances[2] == pytest.approx(float(exact), rel=1e-12)
    assert covariance.rows(2)[0, 2] == pytest.approx(float(exact), rel=1e-12)
    assert (covariance @ np.array([0, 0, 1.0]))[2] == pytest.approx(float(exact), rel=1e-12)
    pair = (1 + (1 - 2 / Fraction(a)) ** p) / 2  # the eigenvalues of T are 1 and -1
    assert covariance.variances[0] == pytest.approx(float(pair), rel=1e-12)


def test_library_laplacians_are_wrong_at_isolated_vertices() -> None:
    graph = GRAPHS["a pair and an isolated vertex"]
    ours = RandomWalkKernel(10, 2.0, "none").on(graph).matrix()
    theirs = [
        nx.normalized_laplacian_matrix(graph.to_networkx()).toarray(),
        laplacian(graph.adjacency.toarray(), normed=True),
    ]
    for L in theirs:
        C = np.linalg.matrix_power(np.eye(3) - L / 2, 10)
        np.testing.assert_allclose(C[:2, :2], ours[:2, :2], rtol=1e-13)
        assert C[2, 2] == 1.0  # as if it had all the neighbours in the world
        assert ours[2, 2] == 2.0**-10


def exact_returns(pairs: list[tuple[int, int]], weights: list[int], vertices: int, p: int) -> list[float]:
    """Return the diagonal of the walk with a = 2: that of ((1 + D⁻¹A)/2)^p, whose entries are rational."""
    A = [[Fraction(0)] * vertices for _ in range(vertices)]
    for (i, j), w in zip(pairs, weights, strict=True):
        A[i][j] = A[j][i] = Fraction(w)
    hop = [[entry / sum(row) if entry else entry for entry in row] for row in A]
    result = []
    for start in range(vertices):
        row = [Fraction(int(start == j)) for j in range(vertices)]
        for _ in range(p):
            moved = [
                sum((row[k] * hop[k][j] for k in range(vertices) if hop[k][j]), Fraction(0)) for j in range(vertices)
            ]
            row = [((x + y) / 2) for x, y in zip(row, moved, strict=True)]
            row = [x.limit_denominator(10**60) if x.denominator > 10**90 else x for x in row]
        result.append(float(row[start]))
    return result


@pytest.mark.parametrize("p", [200, 201])
def test_tiny_prior_variances_keep_their_relative_accuracy(p: int) -> None:
    # vertex 3 hangs on an edge that is 10¹² times weaker than the others
    pairs, weights = [(0, 1), (1, 2), (0, 2), (2, 3), (4, 5), (5, 6)], [10**12, 3 * 10**12, 10**12, 1, 1, 10**9]
    graph = Graph.from_edges(pairs, 8, weights)
    exact = exact_returns(pairs, weights, 8, p)
    assert min(exact[:7]) < 1e-9
    np.testing.assert_allclose(RandomWalkKernel(p, 2.0, "none").on(graph).variances, exact, rtol=1e-12)
    C = RandomWalkKernel(p, 2.0, "local").on(graph).matrix()
    assert (np.diagonal(C) == 1).all()
    assert abs(C).max() <= 1 + 1e-12
    assert np.linalg.eigvalsh(C)[0] > -1e-12


def test_variances_that_are_zero_are_refused_where_they_are_divided_by() -> None:
    graph = GRAPHS["a pair and an isolated vertex"]
    square = PolynomialWalkKernel((0, 0, 1.0), "local")  # T² is 0 at an isolated vertex
    with pytest.raises(InputError, match="prior variance"):
        square.on(graph).matrix()
    with pytest.raises(InputError, match="prior variance"):
        PolynomialWalkKernel((1.0, 0, -1.0), "local").on(graph).rows(0)  # and 1 - T² on a pair
    with pytest.raises(InputError, match="prior variance"):
        PolynomialWalkKernel((0, 0, 1.0), "global").on(GRAPHS["no edges"]).matrix()
    covariance = square.normalised("global").on(graph)
    np.testing.assert_allclose(covariance.matrix(), np.diag([1.5, 1.5, 0]), atol=1e-15)


# ---- what a kernel may be ----

BAD: dict[str, tuple[Callable[[], object], str]] = {
    "a": (lambda: RandomWalkKernel(10, 1.9), "a must be at least 2 for a positive semidefinite kernel, got 1.9"),
    "a, NaN": (lambda: RandomWalkKernel(10, math.nan), "a must be finite"),
    "p, negative": (lambda: RandomWalkKernel(-1), "p must be an integer, at least 0, got -1"),
    "p, fraction": (lambda: RandomWalkKernel(2.5), "p must be an integer, at least 0, got 2.5"),  # type: ignore[arg-type]
    "p, text": (lambda: RandomWalkKernel("10"), "p must be a number, got '10'"),  # type: ignore[arg-type]
    "p, boolean": (lambda: RandomWalkKernel(True), "p must be a number, got True"),
    "p, huge": (lambda: RandomWalkKernel(10**9), "p must be at most 1000, got 1e"),
    "scale, NaN": (lambda: DiffusionKernel(math.nan), "scale must be finite, got nan"),
    "scale, zero": (lambda: DiffusionKernel(0), "scale must be greater than 0, got 0"),
    "scale, negative": (lambda: RegularisedLaplacianKernel(-1), "scale must be greater than 0, got -1"),
    "scale, huge": (lambda: DiffusionKernel(36), "scale must be between 1e-06 and 35, got 36"),
    "scale, infinite": (lambda: RegularisedLaplacianKernel(math.inf), "scale must be finite"),
    "scale, huge for a rough kernel": (lambda: MaternGraphKernel(60, 0.25), "between 1e-06 and 50, got 60"),
    "smoothness": (lambda: MaternGraphKernel(1, 0), "smoothness must be between 0.1 and 50, got 0"),
    "smoothness, NaN": (lambda: MaternGraphKernel(1, math.nan), "smoothness must be finite"),
    "normalisation": (
        lambda: RandomWalkKernel(normalise="Local"),  # type: ignore[arg-type]
        "unknown normalisation 'Local': did you mean 'local'",
    ),
    "normalisation, near": (lambda: DiffusionKernel(1, "globl"), "did you mean 'global'"),  # type: ignore[arg-type]
    "normalisation, far": (
        lambda: DiffusionKernel(1, "zzz"),  # type: ignore[arg-type]
        "unknown normalisation 'zzz': known are global, local, none",
    ),
    "normalisation, nothing": (lambda: RandomWalkKernel(normalise=None), "did you mean 'none'"),  # type: ignore[arg-type]
    "polynomial, T": (lambda: PolynomialWalkKernel((0, 1.0)), "at least 0 between -1 and 1 .* it falls to -1"),
    "polynomial, narrow dip": (lambda: PolynomialWalkKernel((0.0899, -0.6, 1.0)), "it falls to -0.0001"),
    "polynomial, empty": (lambda: PolynomialWalkKernel(()), "finite numbers, not empty"),
    "polynomial, zero": (lambda: PolynomialWalkKernel((0.0, 0.0)), "coefficients must not all be 0"),
    "polynomial, NaN": (lambda: PolynomialWalkKernel((1.0, math.nan)), "finite numbers"),
    "polynomial, text": (lambda: PolynomialWalkKernel("abc"), "must be a list of numbers"),  # type: ignore[arg-type]
    "polynomial, long": (lambda: PolynomialWalkKernel((1.0,) * 1002), "degree of the polynomial must be at most 1000"),
    "unknown": (lambda: GraphKernel.from_dict({"type": "Difusion"}), "unknown graph kernel 'Difusion' in saved data"),
    "unknown name": (lambda: GraphKernel.named("difusion"), "did you mean 'diffusion'"),
    "normalised anew": (lambda: RandomWalkKernel().normalised("globl"), "did you mean 'global'"),  # type: ignore[arg-type]
    "no graph": (lambda: RandomWalkKernel().on("a graph"), "square array"),
}


@pytest.mark.parametrize("what", BAD)
def test_what_is_no_kernel_is_refused_in_a_sentence(what: str) -> None:
    build, sentence = BAD[what]
    with pytest.raises(InputError, match=sentence):
        build()


def test_edges_of_what_is_allowed() -> None:
    assert RandomWalkKernel(1000, 2).reach == 500
    assert PolynomialWalkKernel((0.09, -0.6, 1.0)).coefficients == (0.09, -0.6, 1.0)  # (t - 0.3)² touches zero
    assert PolynomialWalkKernel((1, 0.0, 0)).coefficients == (1.0,)
    assert PolynomialWalkKernel(np.array([1, 0.5])) == PolynomialWalkKernel([1, 0.5])  # type: ignore[arg-type]
    for kernel in (DiffusionKernel(1e-6), DiffusionKernel(35.0), RegularisedLaplacianKernel(100.0)):
        local = kernel.normalised("local").on(GRAPHS["forest"])
        expected = naive(local.kernel, GRAPHS["forest"])
        np.testing.assert_allclose(local.matrix(), expected, rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("kernel", [MaternGraphKernel(30.0, 3.5), MaternGraphKernel(30.0, 4)], ids=repr)
def test_products_are_exact_at_isolated_vertices_however_small_their_variance(kernel: GraphKernel) -> None:
    graph = GRAPHS["random"]
    lonely = int(np.flatnonzero(graph.isolated)[0])
    one = np.eye(graph.vertices)[lonely]
    assert kernel.on(graph).raw_diagonal[lonely] < 1e-8
    np.testing.assert_allclose(kernel.on(graph) @ one, one, rtol=1e-13)
    np.testing.assert_allclose(kernel.on(graph).rows(lonely)[0], one, rtol=1e-13)


# ---- large graphs ----


def on_a_star(kernel: GraphKernel, leaves: int) -> tuple[float, float]:
    """Return the variances of the centre and of a leaf: T has the eigenvalues 1, -1 and, on differences of leaves, 0."""
    at = kernel.eigenvalue(np.array([1.0, -1.0, 0.0]))
    return float(at[0] + at[1]) / 2, float(at[2] * (1 - 1 / leaves) + (at[0] + at[1]) / (2 * leaves))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kernel", "leaves"),
    [
        (RandomWalkKernel(4, 2.0, "none"), 5000),
        (RandomWalkKernel(3, 2.5, "none"), 2000),
        (DiffusionKernel(1.0, "none"), 1000),
        (RegularisedLaplacianKernel(1.0, "none"), 1000),
        (MaternGraphKernel(1.0, 3, "none"), 1000),
        (KERNELS["even polynomial"], 1000),
    ],
)
def test_a_hub_with_thousands_of_neighbours_is_no_obstacle(kernel: GraphKernel, leaves: int) -> None:
    graph = as_graph(nx.star_graph(leaves))
    centre, leaf = on_a_star(kernel, leaves)
    raw = kernel.on(graph).raw_diagonal
    assert raw[0] == pytest.approx(centre, rel=1e-12)
    np.testing.assert_allclose(raw[1:], leaf, rtol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
def test_hubs_that_no_sample_of_vertices_sees_are_no_obstacle(kernel: str) -> None:
    # the number of vertices within reach is estimated at 64 of them, which are joined in pairs here; all others are a star
    seen = np.linspace(0, 599, 64).astype(np.int64)
    star = np.setdiff1d(np.arange(600), seen)
    spokes = np.stack((np.full(len(star) - 1, star[0]), star[1:]), axis=1)
    graph = Graph.from_edges(np.concatenate((spokes, seen.reshape(-1, 2))))
    chosen = KERNELS[kernel].normalised("none")
    centre, leaf = on_a_star(chosen, len(star) - 1)
    raw = chosen.on(graph).raw_diagonal
    assert raw[star[0]] == pytest.approx(centre, rel=1e-12)
    np.testing.assert_allclose(raw[star[1:]], leaf, rtol=1e-12)
    np.testing.assert_allclose(raw[seen], chosen.eigenvalue(np.array([1.0, -1.0])).mean(), rtol=1e-12)


def assert_rows_agree(kernel: GraphKernel, graph: Graph, vertices: Any) -> None:
    covariance = kernel.on(graph)
    chosen = vertices.astype(np.int64)
    rows = covariance.rows(chosen)
    np.testing.assert_allclose(covariance.variances[chosen], rows[np.arange(len(chosen)), chosen], rtol=1e-12)
    one = np.zeros(len(graph))
    one[chosen[0]] = 1.0
    np.testing.assert_allclose(covariance @ one, rows[0], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    "kernel",
    [
        RandomWalkKernel(6, 2.0, "global"),
        RandomWalkKernel(5, 3.0, "global"),
        PolynomialWalkKernel((1.0, 0.5, 0.25, 0.2), "global"),
    ],
    ids=repr,
)
def test_the_diagonal_of_a_large_graph_agrees_with_its_rows(kernel: GraphKernel) -> None:
    graph = ErdosRenyi(3.0).sample(20_000, 3)
    special = [np.argmax(graph.neighbours), np.argmin(graph.neighbours), np.flatnonzero(graph.neighbours == 1)[0]]
    assert_rows_agree(kernel, graph, np.concatenate((special, np.linspace(0, 19_999, 9))))


def test_the_diagonal_of_a_graph_with_hubs_agrees_with_its_rows() -> None:
    graph = PowerLaw(2.5, 2.0).sample(3_000, 2)
    assert graph.neighbours.max() > 100
    vertices = np.concatenate((np.argsort(-graph.neighbours)[:5], np.arange(0, 3000, 500)))
    for kernel in (RandomWalkKernel(5, 2.0, "global"), RandomWalkKernel(8, 2.0, "none")):
        assert_rows_agree(kernel, graph, vertices)


def test_what_memory_does_not_hold_is_refused_with_what_to_use_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpcurves.numerics.memory, "memory_limit", lambda: 4e9)
    covariance = RandomWalkKernel(2, normalise="global").on(RandomRegular(3).sample(50_000, 1))
    needed = "dense algebra on 50000 vertices needs about 60 GB of memory, this machine has 4 GB: the method cavity and"
    for refused in (covariance.matrix, covariance.eigenvalues):
        with pytest.raises(InputError, match=needed):
            refused()
    with pytest.raises(InputError, match=r"10000 rows .* needs about 12 GB of memory, .*: ask for fewer rows"):
        covariance.rows(np.arange(10_000))
    assert covariance.rows([0]).shape == (1, 50_000)
    assert covariance.variances.mean() == pytest.approx(1)
    monkeypatch.setattr(gpcurves.numerics.memory, "memory_limit", lambda: None)  # a system that does not tell
    RandomWalkKernel(2, normalise="global").on(GRAPHS["path"]).matrix()


@pytest.mark.slow
def test_prior_variances_of_a_large_grid_by_elimination() -> None:
    graph = as_graph(nx.convert_node_labels_to_integers(nx.grid_2d_graph(110, 100)))
    for kernel in (RegularisedLaplacianKernel(64.0, "none"), MaternGraphKernel(64.0, 2, "none")):
        covariance = kernel.on(graph)
        assert covariance._cheapest[0] == "elimination"
        assert covariance.diagonal_work < 1e8
        some = np.array([0, 99, 5050, 10_999])
        rows = chosen_products(covariance, some)
        np.testing.assert_allclose(covariance.variances[some], rows[np.arange(4), some], rtol=1e-11)
        np.testing.assert_allclose(covariance.rows(some), rows, rtol=1e-9, atol=1e-14)


def test_no_order_is_looked_for_in_large_entangled_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpcurves.graphs.elimination._ORDERED", 1_000)
    monkeypatch.setattr("gpcurves.graphs.elimination._WIDEST", 100)
    assert elimination(ErdosRenyi(3.0).sample(2_000, 11)) is None
    ladder = Graph.from_edges([(i, i + 1) for i in range(1_500)] + [(i, i + 2) for i in range(1_499)], 1_510)
    found = elimination(ladder)  # with isolated vertices at the end
    assert found is not None
    assert found.fill == ladder.edges
    expected = np.linalg.inv(np.eye(1_510) + 9 * (np.eye(1_510) - ladder.T.toarray()))
    np.testing.assert_allclose(inverse_diagonal(ladder, 9.0, 1, found), expected.diagonal(), rtol=1e-12)
    np.testing.assert_allclose(inverse_diagonal(ladder, 9.0, 3, found), (expected @ expected @ expected).diagonal())


# ---- published numbers, a = 2 and p = 10 ----


@pytest.mark.slow
def test_large_random_graphs_have_the_scale_of_the_paper() -> None:
    graph = ErdosRenyi(3.0).sample(50_000, 1)
    covariance = RandomWalkKernel(10, 2.0, "global").on(graph)
    kappa = covariance.normaliser[0]
    assert kappa == pytest.approx(0.0730, abs=0.0005)
    pairs = members(graph, "component=2")
    assert pairs.sum() > 50
    np.testing.assert_allclose(covariance.variances[pairs], 1 / (2 * kappa), rtol=1e-12)
    assert covariance.variances[pairs][0] == pytest.approx(6.85, abs=0.05)
    assert covariance.variances.max() <= 1 / (2 * kappa) * (1 + 1e-12)
    np.testing.assert_allclose(covariance.variances[graph.isolated], 2.0**-10 / kappa, rtol=1e-12)


def test_large_regular_graphs_have_the_scale_of_the_tree() -> None:
    kernel = RandomWalkKernel(10, 2.0)
    assert tree_normaliser(kernel, 3) == pytest.approx(0.0818, abs=5e-5)
    raw = kernel.on(RandomRegular(3).sample(20_000, 1)).raw_diagonal
    assert raw.mean() == pytest.approx(tree_normaliser(kernel, 3), rel=2e-3)  # a few short cycles
    assert raw.min() == pytest.approx(tree_normaliser(kernel, 3), rel=1e-12)  # most vertices see none
    assert np.median(raw) == pytest.approx(tree_normaliser(kernel, 3), rel=1e-12)


@given(WEIGHTS, THERE, st.integers(1, 30))
def test_no_walk_returns_more_often_than_half_the_time(w: list[float], there: list[bool], p: int) -> None:
    raw = RandomWalkKernel(p, 2.0).on(from_upper_half(w, there)).raw_diagonal
    assert raw.max() <= 0.5 * (1 + 1e-14)


# ---- diagnosis ----


def test_the_prior_on_a_regular_graph_is_even() -> None:
    report = diagnose(nx.petersen_graph())
    assert report.ratio == pytest.approx(1, rel=1e-12)
    assert report.verdict().startswith("Prior variances differ by a factor of at most 1.00")
    assert "Warning" not in report.report()
    assert report.share_outside() == 0


def test_the_prior_on_an_erdos_renyi_graph_gets_a_warning() -> None:
    graph = ErdosRenyi(3.0).sample(500, 1)
    report = diagnose(graph, RandomWalkKernel(10, 2.0, "local"))
    C = naive(RandomWalkKernel(10, 2.0, "global"), graph)
    np.testing.assert_allclose(report.variances, np.diagonal(C), rtol=1e-11)
    assert report.ratio == pytest.approx(np.diagonal(C).max() / np.diagonal(C).min(), rel=1e-10)
    assert report.ratio > 10
    assert report.kernel.normalise == "global"
    outside = [v > 2 or v < 0.5 for v in np.diagonal(C).tolist()]
    assert report.share_outside() == pytest.approx(sum(outside) / 500, abs=1e-12)
    text = report.report()
    assert text.endswith(report.verdict())
    assert "Warning: with global normalisation the prior variance differs" in text
    assert "Use local normalisation" in text
    assert f"{int(graph.isolated.sum())} isolated vertices have a prior variance of" in text
    assert f"{100 * sum(outside) / 500:.0f} % of the vertices are off" in text
    assert report.quantiles["smallest"] == report.variances.min()
    assert report.quantiles["largest"] == report.variances.max()
    assert report.quantiles["median"] == np.median(report.variances)
    assert list(report.quantiles.values()) == sorted(report.quantiles.values())


def test_an_uneven_prior_that_is_not_tenfold_gets_no_warning() -> None:
    verdict = diagnose(nx.star_graph(5), RandomWalkKernel(4)).verdict()
    assert verdict.startswith("With global normalisation")
    assert "Use local" not in verdict


def test_the_vertices_furthest_from_the_average_are_named() -> None:
    graph = Graph.from_edges([(0, 1), (1, 2), (2, 3), (4, 5)], 7, labels="abcdefg")
    report = diagnose(graph)
    frame = report.to_frame()
    assert list(frame.columns) == ["vertex", "degree", "component", "variance"]
    assert frame["vertex"].tolist() == list("abcdefg")
    assert frame["degree"].tolist() == [1, 2, 2, 1, 1, 1, 0]
    assert frame["component"].tolist() == [4, 4, 4, 4, 2, 2, 1]
    assert np.array_equal(frame["variance"], report.variances)
    assert set(report.worst(1).tolist()) == {4, 6}
    assert set(report.worst(2).tolist()) - {0, 3} == {4, 5, 6}
    assert sorted(report.worst(100).tolist()) == list(range(7))
    assert "  e           1       2" in report.report(1)
    assert diagnose(Graph([[0]])).worst().tolist() == [0]
    assert "isolated vertex has" in diagnose(graph).verdict()


@pytest.mark.slow
def test_diagnosis_is_plain_data_and_a_picture() -> None:
    report = diagnose(ErdosRenyi(3.0).sample(200, 1))
    again = json.loads(json.dumps(report.to_dict()))
    assert again["ratio"] == report.ratio
    assert again["vertices"] == 200
    assert again["verdict"] == report.verdict()
    assert len(again["worst"]) == 20
    assert again["worst"][0]["variance"] == report.variances.max()
    display = report.plot()
    heights = [bar.get_height() for bar in display.lines_["histogram"]]
    assert sum(heights) == 200
    assert "prior variance" in display.ax_.get_xlabel()
    assert_drawn(display.to_bytes("png"))
    assert report.plot(display.ax_).ax_ is display.ax_
    diagnose(nx.petersen_graph()).plot().to_bytes("svg")
    assert repr(report).startswith("Diagnosis(ratio ")


def test_a_prior_variance_of_zero_is_diagnosed_too() -> None:
    report = diagnose(GRAPHS["a pair and an isolated vertex"], PolynomialWalkKernel((0, 0, 1.0)))
    assert report.ratio == math.inf
    assert "1 isolated vertex has a prior variance of 0" in report.verdict()
