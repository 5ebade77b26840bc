"""Belief propagation on one graph: convergence, warm starts, threads, cycles and bad input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.stats import poisson

from gpcurves.errors import InputError
from gpcurves.graphs import Graph
from gpcurves.graphs.vertex_model import VertexModel
from gpcurves.methods.cavity.beliefs import links_of, prior_variances, propagate
from gpcurves.methods.cavity.compiled import Links
from gpcurves.methods.cavity.dynamics import mean_posterior, poisson_weights
from graphs_oracle import (
    Function,
    dense_kernel,
    dense_posterior,
    diffusion,
    links,
    random_forest,
    random_walk,
    regular_graph,
)

WALK = random_walk(10, 2)


def test_settles_in_a_few_rounds_on_a_long_chain() -> None:
    """Messages forget: a chain of 1500 vertices does not need 1500 rounds."""
    A = np.diag(np.ones(1499), 1)
    graph = links(A + A.T)
    counts = np.random.default_rng(0).poisson(1.0, 1500)
    got = propagate(graph, WALK, counts, 0.1, 0.2)
    assert got.converged
    assert got.rounds < 80
    assert got.history[-1] <= got.tolerance < got.history[0]
    assert len(got.history) == got.rounds


@pytest.mark.slow
def test_warm_start_and_threads() -> None:
    graph = links(regular_graph(1500))
    rng = np.random.default_rng(1)
    counts = rng.poisson(1.0, 1500)
    cold = propagate(graph, WALK, counts, 0.1, 0.08, threads=1)
    assert np.array_equal(cold.variance, propagate(graph, WALK, counts, 0.1, 0.08, threads=2).variance)
    again = propagate(graph, WALK, counts, 0.1, 0.08, start=cold)
    assert again.rounds == 1
    counts[5] += 1
    warm = propagate(graph, WALK, counts, 0.1, 0.08, start=cold)
    other = propagate(graph, WALK, counts, 0.1, 0.08)
    np.testing.assert_allclose(warm.variance, other.variance, rtol=1e-9)
    assert warm.rounds < other.rounds
    labelled = propagate(graph, WALK, counts, 0.1, 0.08, np.ones(1500), start=warm)
    assert labelled.mean is not None
    np.testing.assert_allclose(labelled.variance, other.variance, rtol=1e-9)
    larger = propagate(graph, WALK, counts, 0.1, 0.08, 7 * np.ones(1500), start=labelled)
    assert larger.mean is not None
    np.testing.assert_allclose(larger.mean, 7 * labelled.mean, rtol=1e-8)


def test_damping_does_not_move_the_fixed_point() -> None:
    graph = links(regular_graph(200))
    counts = np.random.default_rng(2).poisson(0.5, 200)
    plain = propagate(graph, WALK, counts, 0.1, 0.08)
    damped = propagate(graph, WALK, counts, 0.1, 0.08, damping=0.4, tolerance=1e-12)
    np.testing.assert_allclose(damped.variance, plain.variance, rtol=1e-8)
    assert damped.rounds > plain.rounds
    assert (plain.damping, damped.damping) == (0.0, 0.4)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_overflow_is_not_convergence() -> None:
    weights = np.full(2, 1e200)
    got = propagate(Links(np.arange(3), np.array([1, 0]), weights, weights), WALK, [1, 0], 0.1)
    assert not got.converged
    assert got.history[-1] == np.inf


@pytest.mark.parametrize("name", ["grid", "complete", "triangles"])
def test_settles_on_graphs_full_of_short_cycles(name: str) -> None:
    """The messages are those of a tree, whatever the graph; only what they mean is then approximate."""
    if name == "grid":
        chain = np.diag(np.ones(11), 1) + np.diag(np.ones(11), -1)
        A = np.kron(chain, np.eye(12)) + np.kron(np.eye(12), chain)
    else:
        A = np.ones((20, 20)) - np.eye(20) if name == "complete" else np.kron(np.eye(5), np.ones((3, 3)) - np.eye(3))
    counts = np.random.default_rng(0).poisson(0.7, len(A)).astype(float)
    for model in (WALK, random_walk(5, 2.3), diffusion(2.0)):
        got = propagate(links(A), model, counts, 0.1, 0.2)
        assert got.converged
        assert got.damping == 0
        assert (got.variance > 0).all()


def test_says_when_it_does_not_settle() -> None:
    graph = links(regular_graph(100))
    got = propagate(graph, WALK, np.ones(100), 1e-3, 0.08, max_rounds=3)
    assert not got.converged
    assert got.rounds == 3
    assert got.history[-1] > got.tolerance


@pytest.mark.parametrize(
    ("model", "function"),
    [
        (WALK, lambda x: (0.5 + x / 2) ** 10),
        (random_walk(7, 2.3), lambda x: (1 - 1 / 2.3 + x / 2.3) ** 7),
        (diffusion(2.0), lambda x: np.exp(-2 * (1 - x))),
    ],
    ids=["even walk", "odd walk", "diffusion"],
)
def test_close_to_the_truth_where_cycles_are_long(model: VertexModel, function: Function) -> None:
    A = regular_graph(600)
    graph = links(A)
    counts = np.random.default_rng(3).poisson(1.0, 600).astype(float)
    values, U = np.linalg.eigh(A / 3)
    C = (U * function(values)) @ U.T
    kappa = np.diag(C).mean()
    exact, _ = dense_posterior(C / kappa, counts, 0.1)
    got = propagate(graph, model, counts, 0.1, kappa)
    assert got.converged
    assert abs(got.variance.mean() / exact.mean() - 1) < 0.005
    assert np.corrcoef(got.variance, exact)[0, 1] > 0.998
    assert abs(prior_variances(graph, model).mean() / kappa - 1) < 0.015


def test_prior_variances_are_the_marginals_without_data() -> None:
    """Also on cycles: both are values on the tree of walks that do not turn back."""
    graph = links(regular_graph(60))
    got = propagate(graph, WALK, np.zeros(60), 1.0)
    np.testing.assert_allclose(got.variance, prior_variances(graph, WALK), rtol=1e-10)


def test_cavity_variances_leave_out_the_examples_at_home() -> None:
    rng = np.random.default_rng(4)
    A = random_forest(15, rng)
    C = dense_kernel(A, lambda x: (0.5 + x / 2) ** 10) / 0.1
    counts = rng.poisson(1.0, 15).astype(float) + 1
    targets = rng.normal(size=15)
    got = propagate(links(A), WALK, counts, 0.1, 0.1, targets)
    without = counts.copy()
    without[3] = 0
    variance, mean = dense_posterior(C, without, 0.1, targets)
    assert got.cavity_mean is not None
    np.testing.assert_allclose([got.cavity_variance[3], got.cavity_mean[3]], [variance[3], mean[3]], rtol=1e-9)


def test_poisson_average_is_the_sum() -> None:
    v, k = np.array([0.01, 1.0, 7.0]), np.arange(2000)
    for nu in (0.0, 0.3, 5.0, 400.0):
        plain = [float(poisson.pmf(k, nu) @ (1 / (k / 0.1 + 1 / x))) for x in v]
        np.testing.assert_allclose(mean_posterior(v, 0.1, nu), plain, rtol=1e-12)
        assert poisson_weights(nu)[1].sum() == pytest.approx(1, abs=1e-14)


def test_order_of_the_edges_does_not_matter() -> None:
    neighbours = ([1, 2, 0, 0, 3, 2], [2, 1, 0, 3, 0, 2])
    graphs = (Graph(csr_array((np.ones(6), indices, [0, 2, 3, 5, 6]))) for indices in neighbours)
    one, two = (propagate(links_of(graph), WALK, [1, 0, 0, 2], 0.1, 0.1).variance for graph in graphs)
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"noise": 0.0}, "noise must be greater than 0"),
        ({"counts": [1, -1]}, "counts must be finite and at least 0, got -1"),
        ({"counts": [1, 2, 3]}, "counts must be one number, or one for each of the 2 vertices"),
        ({"targets": [np.nan, 1.0]}, "targets must be finite wherever there are examples"),
        ({"targets": [1.0, 2.0, 3.0]}, "targets must be one for each"),
        ({"damping": 1.0}, "damping must be at least 0 and below 1"),
        ({"max_rounds": 0}, "max_rounds"),
        ({"threads": 0}, "threads"),
    ],
)
def test_bad_options(options: dict[str, Any], words: str) -> None:
    graph = links(np.array([[0.0, 1.0], [1.0, 0.0]]))
    plain: dict[str, Any] = {"counts": [1, 0], "noise": 0.1}
    with pytest.raises(InputError, match=words):
        propagate(graph, WALK, **(plain | options))


def test_a_start_from_elsewhere_is_refused() -> None:
    small = propagate(links(regular_graph(10)), WALK, np.ones(10), 0.1, 0.1)
    with pytest.raises(InputError, match="same graph"):
        propagate(links(regular_graph(20)), WALK, np.ones(20), 0.1, 0.1, start=small)
