"""Local theory: its equation retyped, its limits, and published numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import networkx
import numpy as np
import pytest
from scipy import stats

import gpcurves as gpc
from gpcurves.inputs import Copula
from gpcurves.methods.local.places import MessagePlaces
from gpcurves.methods.local.theory import theory_of
from gpcurves.numerics.validation import FloatArray

WALK = gpc.RandomWalkKernel(p=6, a=2.0, normalise="global")
WIDE = gpc.UnevenNoise(lambda X: 0.01 + X[:, 0] ** 2 / 2, title="wide")


def damped(C: FloatArray, weights: FloatArray, noise: FloatArray | float, size: float) -> FloatArray:
    """Retype the equation: ε ← √(ε ε'), ε' = [C − C(C + diag(1/(w η)))⁻¹C]_jj, η = n/(σ² + ε), from the prior on."""
    error = C.diagonal().copy()
    for _ in range(2_000):
        inverse = np.linalg.inv(C + np.diag((noise + error) / (size * weights)))
        new = (C - C @ inverse @ C).diagonal()
        if abs(new / error - 1).max() < 1e-12:
            return new
        error = np.sqrt(error * new)
    raise AssertionError("the retyped iteration did not converge")


@pytest.mark.parametrize("size", [0.5, 6.0, 40.0])
def test_the_equation_on_given_points(size: float) -> None:
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(25, 2)), rng.dirichlet(np.ones(25))
    noise = gpc.UnevenNoise(lambda X: 0.05 + X[:, 1] ** 2, title="second")
    problem = gpc.Problem(gpc.Matern52(0.8) + gpc.Linear(), gpc.Discrete(X, weights), noise)
    found = gpc.local_errors(problem, size)
    expected = damped(problem.kernel(X), weights, 0.05 + X[:, 1] ** 2, size)
    np.testing.assert_allclose(found.error, expected, rtol=1e-9)
    np.testing.assert_allclose(found.mean, weights @ expected, rtol=1e-9)
    np.testing.assert_allclose(gpc.learning_curve(problem, "local", [size]).error, [found.mean], rtol=1e-9)


def test_the_equation_on_vertices_with_noise_and_weights_of_their_own() -> None:
    graph = gpc.ErdosRenyi(3).sample(40, 2)
    rng = np.random.default_rng(1)
    weights, test, noise = rng.dirichlet(np.ones(40)), rng.dirichlet(np.ones(40)), rng.uniform(0.05, 0.5, 40)
    problem = gpc.GraphProblem(graph, WALK, noise, weights=weights, test_weights=test)
    expected = damped(WALK.on(graph).matrix(), 40 * weights, noise, 1.3)
    found = gpc.local_errors(problem, nu=1.3)
    np.testing.assert_allclose(found.error, expected, rtol=1e-8)
    np.testing.assert_allclose(gpc.learning_curve(problem, "local", nu=[1.3]).error, [test @ expected], rtol=1e-8)


def test_vertices_that_are_never_labelled() -> None:
    graph = gpc.ErdosRenyi(3).sample(40, 2)
    weights = np.where(np.arange(40) < 15, 1 / 15, 0.0)
    almost = (weights + 1e-13) / (weights + 1e-13).sum()
    curves = [
        gpc.learning_curve(gpc.GraphProblem(graph, WALK, 0.1, weights=each), "local", nu=[0.0, 1e-4, 0.5, 3.0]).error
        for each in (weights, almost)
    ]
    np.testing.assert_allclose(curves[0], curves[1], rtol=1e-9)


@pytest.mark.parametrize(
    "problem",
    [
        gpc.Problem(gpc.RBF(0.1), gpc.Torus(1), 0.05),
        gpc.Problem(gpc.RBF(0.1), gpc.Torus(1), 1e-4),
        gpc.Problem(gpc.RBF(0.2), gpc.Torus(2), 0.01),
        gpc.Problem(gpc.RBF(0.1), gpc.Torus(1), gpc.Probit()),
        gpc.Problem(gpc.RBF(0.1), gpc.Torus(1), gpc.UnevenNoise(lambda X: np.full(len(X), 0.05), title="flat")),
    ],
    ids=lambda problem: problem.describe(),
)
def test_equals_lc_on_the_torus(problem: gpc.Problem) -> None:
    even = gpc.Problem(problem.kernel, problem.inputs, 0.05) if problem.observation.uneven else problem
    n = [0, 1, 5, 50, 500]
    local, lc = gpc.learning_curve(problem, "local", n), gpc.learning_curve(even, "lc", n)
    np.testing.assert_allclose(local.error, lc.error, rtol=1e-8)


def test_equals_the_eigenvalue_approximation_on_a_ring() -> None:
    ring = gpc.GraphProblem(networkx.cycle_graph(60), gpc.RandomWalkKernel(p=8, a=2), 0.1)
    nu = [0.0, 0.1, 1.0, 5.0]
    local, eigenvalue = (gpc.learning_curve(ring, name, nu=nu).error for name in ("local", "eigenvalue"))
    np.testing.assert_allclose(local, eigenvalue, rtol=1e-8)


@pytest.mark.parametrize("inputs", [gpc.Gaussian(1), gpc.Box(2), gpc.Univariate(stats.beta(2, 5))], ids=repr)
def test_first_order_in_n_is_exact(inputs: Any) -> None:
    problem = gpc.Problem(gpc.Matern52(0.3) + gpc.Linear(), inputs, WIDE)
    X, weights = inputs.nodes(600 if inputs.dim == 1 else 1_200)
    C = problem.kernel(X)
    one = weights @ C**2 @ (weights / (problem.noise_at(X) + C.diagonal()))  # what one example lowers the average by
    small = 1e-4
    before, after = gpc.learning_curve(problem, "local", [0, small]).error
    np.testing.assert_allclose((before - after) / small, one, rtol=1e-3)


def test_first_order_on_a_graph_with_global_normalisation() -> None:
    problem = gpc.GraphProblem(gpc.ErdosRenyi(3).sample(300, 1), WALK, 0.1)
    C = WALK.on(problem.graph).matrix()
    exact = (C**2 / (0.1 + C.diagonal())).sum() / 300
    slopes = {}
    for name in ("local", "eigenvalue"):
        before, after = gpc.learning_curve(problem, gpc.METHODS[name], nu=[0, 1e-5]).error
        slopes[name] = (before - after) / 1e-5
    np.testing.assert_allclose(slopes["local"], exact, rtol=1e-3)
    assert slopes["eigenvalue"] > 1.05 * exact


@pytest.mark.parametrize(
    ("lengthscale", "noise", "n", "truth", "local"),
    [
        (0.2, 0.001, 20, 0.0200, 0.0122),
        (0.2, 0.001, 80, 0.0033, 0.0021),
        (0.05, 0.001, 80, 0.0313, 0.0200),
        (0.1, 0.05, 80, 0.0255, 0.0213),
        (0.1, WIDE, 80, 0.0310, 0.0283),
    ],
)
def test_gaussian_inputs(lengthscale: float, noise: Any, n: int, truth: float, local: float) -> None:
    problem = gpc.Problem(gpc.RBF(lengthscale), gpc.Gaussian(1), noise)
    np.testing.assert_allclose(gpc.learning_curve(problem, "local", [n]).error, [local], atol=6e-5)
    simulated = gpc.learning_curve(problem, "simulation", [n], datasets=100, rng=0)
    assert simulated.stderr is not None
    assert abs(simulated.error[0] - truth) < 4 * simulated.stderr[0]


def test_test_inputs_of_their_own_are_averaged_over() -> None:
    shifted = gpc.Problem(gpc.RBF(0.1), gpc.Gaussian(1), 0.05, test=gpc.Box(1))
    found = gpc.local_errors(shifted, 30, at=gpc.Box(1).nodes(60)[0])
    np.testing.assert_allclose(found.error[-60:] @ gpc.Box(1).nodes(60)[1], found.mean, rtol=1e-6)
    same = gpc.Problem(gpc.RBF(0.1), gpc.Gaussian(1), 0.05, test=gpc.Gaussian(1))
    plain = gpc.Problem(gpc.RBF(0.1), gpc.Gaussian(1), 0.05)
    curves = [gpc.learning_curve(each, "local", [0, 5, 100]).error for each in (same, plain)]
    np.testing.assert_allclose(curves[0], curves[1], rtol=1e-8)


def test_noise_by_rows_is_noise_at_these_rows() -> None:
    X = np.array([0.0, 0.1, 0.1, 0.9])
    by_row = gpc.Problem(gpc.RBF(0.3), gpc.Sample(X), gpc.UnevenNoise(values=[0.1, 0.2, 0.4, 0.5]))
    np.testing.assert_allclose(by_row.noise_at(np.array([[0.9], [0.1], [0.0]])), [0.5, 0.3, 0.1])
    expected = damped(by_row.kernel(X[:, None]), np.full(4, 0.25), np.array([0.1, 0.3, 0.3, 0.5]), 7.0)
    np.testing.assert_allclose(gpc.local_errors(by_row, 7).error, expected, rtol=1e-8)


def test_more_nodes_and_features_change_no_more_than_is_said() -> None:
    for problem in (
        gpc.Problem(gpc.OU(0.3), gpc.Box(1), 0.01),
        gpc.Problem(gpc.RBF(0.2), gpc.Gaussian(2), 0.05),
        gpc.Problem(gpc.RBF(1.0), Copula(np.random.default_rng(0).normal(size=(40, 2))), 0.05),
    ):
        few = gpc.learning_curve(problem, "local", [5, 30], nodes=150, rank=75)
        many = gpc.learning_curve(problem, "local", [5, 30], nodes=500, rank=200)
        assert few.spectrum_error is not None
        assert (abs(many.error - few.error) < 2 * few.spectrum_error + 1e-9).all()


def test_messages_agree_with_dense_algebra_on_a_tree() -> None:
    tree = gpc.as_graph(networkx.random_labeled_tree(60, seed=4))
    weights = np.where(np.arange(60) % 3, 1 / 40, 0.0)
    problem = gpc.GraphProblem(tree, WALK, np.linspace(0.05, 0.4, 60), weights=weights)
    dense = theory_of(problem, 0, 0)
    kappa = np.array(WALK.on(tree).normaliser) * np.ones(60)
    messages = replace(dense, places=MessagePlaces(WALK, tree, dense.places.trained, kappa), found=[])
    for nu in (0.0, 0.3, 2.0):
        np.testing.assert_allclose(messages.errors(nu)[0], dense.errors(nu)[0], rtol=1e-5)


def test_large_graphs_go_by_messages() -> None:
    graph = gpc.RandomRegular(3).sample(6_000, 0)
    problem = gpc.GraphProblem(graph, gpc.RandomWalkKernel(p=4, a=2), 0.1)
    curve = gpc.learning_curve(problem, "local", nu=[0.5])
    assert any("belief propagation" in note for note in curve.notes)
    tree_like = gpc.learning_curve(gpc.GraphProblem(gpc.RandomRegular(3), problem.kernel, 0.1), "mckay", nu=[0.5])
    np.testing.assert_allclose(curve.error, tree_like.error, rtol=0.02)


def test_a_goal_of_an_uneven_problem_is_answered_by_local_theory() -> None:
    problem = gpc.Problem(gpc.RBF(0.2), gpc.Gaussian(1), WIDE)
    n = gpc.required_n(problem, 0.05)
    error = gpc.learning_curve(problem, "local", [n - 1, n]).error
    assert error[1] <= 0.05 < error[0]


def test_all_methods_take_local_theory_where_it_says_something_new() -> None:
    clumped = gpc.learning_curves(gpc.Problem(gpc.RBF(0.2), gpc.Gaussian(1), 0.05), [10])
    assert {"local", "lc"} <= set(clumped)
    even = gpc.learning_curves(gpc.Problem(gpc.RBF(0.2), gpc.Torus(1), 0.05), [10])
    assert "local" not in even  # it equals lc
    assert "local" not in even.skipped
    uneven = gpc.learning_curves(gpc.Problem(gpc.RBF(0.2), gpc.Gaussian(1), WIDE), [10], datasets=10, rng=0)
    assert set(uneven) == {"simulation", "local"}
    assert "noise must be the same everywhere" in uneven.skipped["lc"]
