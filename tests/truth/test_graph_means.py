"""Posterior means on graphs by conjugate gradients and sparse factorisations, against dense algebra."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest

from gpcurves import InputError, NumericalError
from gpcurves.graphs import (
    DiffusionKernel,
    ErdosRenyi,
    Graph,
    GraphKernel,
    MaternGraphKernel,
    Normalisation,
    PolynomialWalkKernel,
    RandomWalkKernel,
    RegularisedLaplacianKernel,
    as_graph,
    solving,
)
from gpcurves.graphs.solving import conjugate_gradients, solve_mean
from gpcurves.numerics.validation import FloatArray

GRAPHS = {
    "random": ErdosRenyi(3.0).sample(200, 1),
    "grid": as_graph(nx.convert_node_labels_to_integers(nx.grid_2d_graph(12, 15))),
    "weighted": Graph.from_edges([(i, j) for i in range(40) for j in (i + 1, i + 3)], 44, np.geomspace(1e-2, 1e2, 80)),
}
KERNELS: list[GraphKernel] = [
    RandomWalkKernel(10),
    DiffusionKernel(3.0),
    PolynomialWalkKernel((1.0, 0.5, 0.25, 0.2)),
    RegularisedLaplacianKernel(8.0),
    MaternGraphKernel(2.0, 2),
    MaternGraphKernel(8.0, 3),
    MaternGraphKernel(3.0, 1.5),
]


def draw(graph: Graph, columns: int | None = None) -> tuple[Any, FloatArray, FloatArray]:
    rng = np.random.default_rng(5)
    o = rng.permutation(graph.vertices)[: graph.vertices // 3]
    shape = (len(o),) if columns is None else (len(o), columns)
    return o, 10 ** rng.uniform(-3, 0.5, len(o)), 3 + 10 * rng.normal(size=shape)


def dense(kernel: GraphKernel, graph: Graph, o: Any, noise: FloatArray, y: FloatArray) -> FloatArray:
    C = kernel.on(graph).matrix()
    return np.asarray(C[:, o] @ np.linalg.solve(C[np.ix_(o, o)] + np.diag(noise), y))


@pytest.mark.parametrize("how", ["local", "global", "none"])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("graph", GRAPHS)
def test_means_are_those_of_dense_algebra(graph: str, kernel: GraphKernel, how: Normalisation) -> None:
    chosen, known = kernel.normalised(how), GRAPHS[graph]
    o, noise, y = draw(known)
    found = solve_mean(chosen.on(known), o, noise, y, tolerance=1e-11)
    np.testing.assert_allclose(found.mean, dense(chosen, known, o, noise, y), atol=1e-6)
    assert found.residual <= 1e-11
    assert found.mean.shape == (known.vertices,)


@pytest.mark.slow
@pytest.mark.parametrize("precision", [False, True], ids=["products", "precision"])
@pytest.mark.parametrize("factorised", [False, True], ids=["iterated", "factorised"])
@pytest.mark.parametrize("kernel", [RegularisedLaplacianKernel(8.0), MaternGraphKernel(2.0, 2)], ids=repr)
def test_every_form_gives_the_same_means(
    kernel: GraphKernel, factorised: bool, precision: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(solving, "_prefers_precision", lambda *_: precision)
    monkeypatch.setattr(solving, "_factorises", lambda *_: factorised)
    graph = GRAPHS["grid"]
    o, noise, y = draw(graph, 3)
    found = solve_mean(kernel.on(graph), o, noise, y, tolerance=1e-11)
    np.testing.assert_allclose(found.mean, dense(kernel, graph, o, noise, y), atol=1e-6)
    direct = precision and factorised and kernel.resolvent is not None and kernel.resolvent.exponent == 1
    assert (found.iterations == 0) == direct


@pytest.mark.parametrize("off", [1e-7, 1e-3, 0.7])
def test_rough_products_do_not_change_the_solution(off: float) -> None:
    """Neither a little, nor if they are so wrong that the whole ones must take over."""
    rng = np.random.default_rng(0)
    root = rng.normal(size=(30, 30))
    A = root @ root.T + np.eye(30)
    wrong = A + off * np.diag(rng.uniform(0, 1, 30)) * np.linalg.norm(A, 2)
    right = rng.normal(size=(30, 2))
    used: list[int] = []

    def quick(x: FloatArray) -> FloatArray:
        used.append(1)
        return np.asarray(wrong @ x)

    found, _, residual = conjugate_gradients(lambda x: A @ x, right, 1e-12, 500, quick=quick)
    assert used
    assert residual <= 1e-12
    np.testing.assert_allclose(found, np.linalg.solve(A, right), rtol=1e-8)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_rough_products_are_as_near_as_they_say(kernel: GraphKernel) -> None:
    covariance = kernel.normalised("local").on(GRAPHS["weighted"])
    C = covariance.matrix()
    x = np.eye(len(C))
    for share in (1e-2, 1e-6):
        found = covariance.roughly(share)
        assert found is not None
        error = np.linalg.norm(found[0](x) - C, 2)
        largest = float(np.abs(kernel.expansion).sum() / covariance.normaliser.min())
        assert error <= share * largest * 1.001
        assert found[1] <= len(kernel.expansion) - 1


def test_columns_are_solved_as_if_each_were_alone() -> None:
    graph, kernel = GRAPHS["random"], RandomWalkKernel(10)
    o, noise, y = draw(graph, 3)
    y[:, 1] = 0.0
    together = solve_mean(kernel.on(graph), o, noise, y, tolerance=1e-12)
    assert (together.mean[:, 1] == 0).all()
    for k in (0, 2):
        alone = solve_mean(kernel.on(graph), o, noise, y[:, k], tolerance=1e-12)
        np.testing.assert_allclose(together.mean[:, k], alone.mean, atol=1e-8)


def test_the_smaller_the_noise_the_closer_the_mean_is_to_the_labels() -> None:
    graph = GRAPHS["grid"]
    o, _, y = draw(graph)
    for kernel in (MaternGraphKernel(4.0, 1), MaternGraphKernel(1.0, 2)):
        off = [abs(solve_mean(kernel.on(graph), o, s, y).mean[o] - y).max() for s in (1.0, 1e-2, 1e-4)]
        assert off[0] > 10 * off[1] > 100 * off[2]


def test_a_normaliser_may_be_given() -> None:
    graph, kernel = GRAPHS["grid"], RandomWalkKernel(6, normalise="local")
    o, noise, y = draw(graph)
    own = kernel.on(graph)
    given = own.normalised_by(own.raw_diagonal)
    np.testing.assert_allclose(solve_mean(given, o, noise, y).mean, solve_mean(own, o, noise, y).mean, rtol=1e-12)
    doubled = own.normalised_by(2 * own.raw_diagonal)
    np.testing.assert_allclose(doubled @ np.ones(180), (own @ np.ones(180)) / 2, rtol=1e-12)


def test_no_labels_leave_the_prior_mean() -> None:
    assert (solve_mean(RandomWalkKernel().on(GRAPHS["grid"]), [], 0.1, []).mean == 0).all()


def test_what_does_not_converge_is_an_error() -> None:
    graph = GRAPHS["random"]
    o, noise, y = draw(graph)
    with pytest.raises(NumericalError, match=r"left a relative residual of .* after 3 iterations"):
        solve_mean(RandomWalkKernel(10).on(graph), o, noise, y, max_iterations=3)
    with pytest.raises(NumericalError, match="relative residual"):  # not positive definite
        conjugate_gradients(lambda x: -x, np.ones((3, 1)), 1e-8, 50)
    with pytest.raises(NumericalError, match="relative residual of nan"):
        conjugate_gradients(lambda x: x * np.nan, np.ones((3, 1)), 1e-8, 50)


@pytest.mark.parametrize(
    ("observed", "noise", "targets", "sentence"),
    [
        ([180], 0.1, [1.0], "observed must be vertex numbers between 0 and 179"),
        ([0.5], 0.1, [1.0], "observed must be vertex numbers"),
        ([3, 3], 0.1, [1.0, 2.0], "observed must be different vertices"),
        ([3, 4], 0.1, [1.0], r"targets must be one row per observed vertex \(2\)"),
        ([3, 4], [0.1, 0.0], [1.0, 2.0], "noise must be finite and greater than 0"),
        ([3, 4], [0.1, 0.2, 0.3], [1.0, 2.0], "noise must be one number, or one per observed vertex"),
        ([3, 4], 0.1, [1.0, np.nan], "targets must be finite"),
    ],
)
def test_bad_labels_are_refused(observed: Any, noise: Any, targets: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        solve_mean(RandomWalkKernel().on(GRAPHS["grid"]), observed, noise, targets)


@pytest.mark.slow
@pytest.mark.parametrize(
    "kernel", [RandomWalkKernel(10, normalise="none"), MaternGraphKernel(20.0, 1, "none")], ids=repr
)
def test_means_on_a_large_graph_satisfy_their_equations(kernel: GraphKernel) -> None:
    graph = as_graph(nx.convert_node_labels_to_integers(nx.grid_2d_graph(200, 200)))
    rng = np.random.default_rng(0)
    o = rng.permutation(40_000)[:4_000]
    y = rng.normal(size=4_000)
    covariance = kernel.on(graph).normalised_by(0.01)
    found = solve_mean(covariance, o, 0.1, y, tolerance=1e-9)
    weights = np.zeros(40_000)
    weights[o] = (y - found.mean[o]) / 0.1  # the mean is C times these
    np.testing.assert_allclose(covariance @ weights, found.mean, atol=1e-5)
