"""Linear observations: theory retyped, data sets against dense algebra, derivatives against differences, returns, Plaskota."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import networkx
import numpy as np
import pytest

import gpcurves as gpc
from gpcurves.inputs import Inputs
from gpcurves.kernels.derivatives import derivative_covariance
from gpcurves.methods.functionals.simulation import FunctionalDataSets, FunctionalPrior, noise_matrix
from gpcurves.methods.functionals.theory import Modes
from gpcurves.methods.simulation import dataset
from gpcurves.numerics.validation import FloatArray
from gpcurves.observations import Observation
from gpcurves.observations.functionals import Functional
from gpcurves.observations.temporal import MarkovChain
from laws import obeys_observation_laws

POINTS = gpc.Discrete(np.array([0.0, 0.2, 0.35, 0.7, 0.9]), np.array([0.1, 0.3, 0.2, 0.25, 0.15]))
CHANCE = np.random.default_rng(0).dirichlet(np.ones(5), 5)
EVEN = np.tile(POINTS.probabilities, (5, 1))  # each state is drawn as the inputs are, whatever the one before
RING = networkx.cycle_graph(12)
WALK = gpc.RandomWalkKernel(6)
DISCRETE: dict[str, Functional] = {
    "averages": gpc.Averages(0.1, 3),
    "differences": gpc.Differences(0.2),
    "rewards": gpc.TemporalDifferences(0.8, 0.1, "deterministic", transitions=CHANCE),
    "rewards, episodes": gpc.TemporalDifferences(0.8, 0.1, "deterministic", 4, CHANCE),
    "returns": gpc.TemporalDifferences(0.8, 0.1, "stochastic", 4, CHANCE),
}


def on_points(observation: Observation) -> gpc.Problem:
    return gpc.Problem(gpc.OU(0.4), POINTS, observation)


@pytest.mark.parametrize("name", DISCRETE)
def test_the_equation_retyped(name: str) -> None:
    problem = on_points(DISCRETE[name])
    n = 7.0
    error = gpc.learning_curve(problem, "functionals", n=[n]).error[0]
    C = problem.kernel(POINTS.points)
    M = DISCRETE[name].moments(POINTS).second
    h = 1.0
    for _ in range(3000):
        G = np.linalg.inv(np.linalg.inv(C) + h * M)
        h = n / (DISCRETE[name].variance + np.trace(G @ M))
    np.testing.assert_allclose(POINTS.probabilities @ G.diagonal(), error, rtol=1e-9)


@pytest.mark.parametrize("name", DISCRETE)
def test_the_second_moment_is_that_of_the_rows(name: str) -> None:
    observation = DISCRETE[name]
    if name == "returns":  # whose noise is mixed as the values are
        np.testing.assert_allclose(
            observation.moments(POINTS).second, np.diag(MarkovChain.of(CHANCE, POINTS).stationary)
        )
        return
    rows = observation.rows(POINTS, 40_000, np.random.default_rng(1))
    at = np.searchsorted(POINTS.points[:, 0], rows.points[:, 0])
    H = np.zeros((5, rows.weights.shape[0]))
    np.add.at(H.T, (rows.weights.tocoo().row, at[rows.weights.tocoo().col]), rows.weights.tocoo().data)
    np.testing.assert_allclose(H @ H.T / H.shape[1], observation.moments(POINTS).second, atol=0.02)


def test_function_values_are_lc() -> None:
    n = [0, 1, 5, 40]
    lc = gpc.learning_curve(on_points(gpc.GaussianNoise(0.1)), "lc", n=n).error
    for observation in (gpc.Averages(0.1, 1), gpc.TemporalDifferences(0.0, 0.1, "deterministic", None, EVEN)):
        np.testing.assert_allclose(gpc.learning_curve(on_points(observation), "functionals", n=n).error, lc, rtol=1e-11)
    for dim in (1, 5):
        torus = gpc.Problem(gpc.OU(0.3), gpc.Torus(dim), gpc.Averages(0.1, 1))
        known = gpc.learning_curve(gpc.Problem(gpc.OU(0.3), gpc.Torus(dim), 0.1), "lc", n=n).error
        np.testing.assert_allclose(gpc.learning_curve(torus, "functionals", n=n).error, known, rtol=1e-12)


@pytest.mark.parametrize("observation", [gpc.Averages(0.1, 3), gpc.Differences(0.1)], ids=repr)
def test_the_spectrum_of_the_torus_says_the_same_as_nodes(observation: Functional) -> None:
    problem, n = gpc.Problem(gpc.RBF(0.1), gpc.Torus(1), observation), np.array([0.0, 1.0, 10.0, 100.0])
    np.testing.assert_allclose(
        gpc.learning_curve(problem, "functionals", n=n).error, Modes.of(problem).errors(n), rtol=1e-9
    )


def test_too_few_nodes_are_said() -> None:
    short = gpc.Problem(gpc.RBF(0.02), gpc.Box(3), gpc.Averages(0.1, 2))
    assert "too short for the nodes" in gpc.learning_curve(short, "functionals", n=[1]).notes[-1]
    long = gpc.Problem(gpc.RBF(0.3), gpc.Box(1), gpc.Averages(0.1, 2))
    assert gpc.learning_curve(long, "functionals", n=[1]).notes == ()


def test_differences_never_learn_the_constant() -> None:
    problem = gpc.Problem(gpc.RBF(0.1), gpc.Torus(1), gpc.Differences(0.1))
    curve = gpc.learning_curve(problem, "functionals", n=[1e9])
    np.testing.assert_allclose(curve.error[0], problem.spectrum.values[0], rtol=1e-6)  # the constant has this variance
    assert "carry no information about a part of the function with variance 0.251" in curve.notes[0]


def naive_errors(problem: gpc.Problem, drawn: Any, sizes: tuple[int, ...]) -> list[float]:
    """Return the errors of a data set by inverting the covariances of its first n labels."""
    prior = drawn.prior
    assert isinstance(prior, FunctionalPrior)
    inputs, rows = problem.inputs, prior.labels
    H = rows.weights.toarray()
    C = inputs.kernel_matrix(problem.kernel, rows.points)
    R = np.eye(len(H)) if rows.mixing is None else rows.mixing.toarray() @ rows.mixing.toarray().T
    K = H @ C @ H.T + prior.noise * R
    nodes, weights = inputs.nodes(500)
    k = H @ inputs.kernel_matrix(problem.kernel, rows.points, nodes)
    before = inputs.variances(problem.kernel, nodes)
    return [float(weights @ (before - np.einsum("ij,ij->j", k[:n], np.linalg.solve(K[:n, :n], k[:n])))) for n in sizes]


@pytest.mark.parametrize(
    "problem",
    [
        *(on_points(each) for each in DISCRETE.values()),
        gpc.Problem(gpc.RBF(0.2), gpc.Torus(1), gpc.Averages(0.1, 3)),
        gpc.Problem(gpc.RBF(0.2), gpc.Box(1), gpc.Differences(0.1)),
        gpc.GraphProblem(RING, WALK, gpc.TemporalDifferences(0.8, 0.1)),
    ],
    ids=lambda problem: problem.describe()[:60],
)
def test_a_data_set_by_dense_algebra(problem: gpc.Problem) -> None:
    experiment = FunctionalDataSets(problem, (0, 3, 10), 5, 50)
    drawn = experiment.collect(np.random.default_rng(1), experiment.test(np.random.default_rng(2)))
    found = experiment._errors(drawn)["error"]
    np.testing.assert_allclose(found, [problem.true_variance, *naive_errors(problem, drawn, (3, 10))], rtol=1e-8)


KERNELS: list[Any] = [gpc.RBF((0.3, 0.5), 1.7), gpc.Matern52(0.4), gpc.RBF(0.3) + 2 * gpc.Matern52((0.6, 0.4))]


@pytest.mark.parametrize("inputs", [gpc.Box(2), gpc.Torus(2)])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_derivatives_against_finite_differences(kernel: Any, inputs: Inputs) -> None:
    rng = np.random.default_rng(3)
    X, Y = rng.random((4, 2)), rng.random((5, 2))
    step = 1e-4
    periodic = isinstance(inputs, gpc.Torus)

    def between(first: FloatArray, second: FloatArray) -> FloatArray:
        return inputs.kernel_matrix(kernel, first, second)

    def difference(of: Callable[[FloatArray], FloatArray], at: FloatArray, j: int) -> FloatArray:
        shift = step * np.eye(2)[j]
        return (of(at + shift) - of(at - shift)) / (2 * step)

    for j in range(2):
        own = np.full(4, j)
        exact = derivative_covariance(kernel, X, own, Y, None, periodic)
        np.testing.assert_allclose(difference(lambda Z: between(Z, Y), X, j), exact, atol=1e-5)
        for k in range(2):
            exact = derivative_covariance(kernel, X, own, Y, np.full(5, k), periodic)
            twice = difference(lambda Z: difference(lambda W: between(Z, W), Y, k), X, j)  # noqa: B023
            np.testing.assert_allclose(twice, exact, atol=1e-3 * abs(exact).max())


def test_a_data_set_of_derivatives_is_one_of_small_differences() -> None:
    problem = gpc.Problem(gpc.RBF(0.3), gpc.Box(2), gpc.Derivatives(0.3))
    experiment = FunctionalDataSets(problem, (6,), 5, 50)
    test = dataset.TestPoints(np.random.default_rng(2).random((50, 2)), np.full(50, 0.02))
    drawn = experiment.collect(np.random.default_rng(1), test)
    assert isinstance(drawn.prior, FunctionalPrior)
    rows, step = drawn.prior.labels, 1e-5
    assert rows.components is not None
    np.testing.assert_array_equal(rows.components, [0, 1, 0, 1, 0, 1])  # whole gradients
    np.testing.assert_array_equal(rows.points[0], rows.points[1])
    shift = step * np.eye(2)[rows.components]
    points = np.concatenate((rows.points + shift, rows.points - shift))
    weights = np.hstack((np.eye(6), -np.eye(6))) / (2 * step)
    posterior = gpc.linear_posterior(problem, weights, points, np.zeros(6), test.points)
    np.testing.assert_allclose(experiment._errors(drawn)["error"], posterior.variance.mean(), rtol=1e-4)
    same = gpc.linear_posterior(problem, np.eye(6), rows.points, np.zeros(6), test.points, components=rows.components)
    np.testing.assert_allclose(experiment._errors(drawn)["error"], same.variance.mean(), rtol=1e-9)


def test_derivatives_on_the_circle_have_the_spectrum_of_waves() -> None:
    problem = gpc.Problem(gpc.Matern52(0.2), gpc.Torus(1), gpc.Derivatives(0.3))
    modes = Modes.of(problem)
    values = problem.spectrum.values[1:9]  # each wave twice, the constant is never seen
    expected = np.sort(values * (2 * np.pi * np.arange(1, 9)) ** 2)[::-1]
    np.testing.assert_allclose(modes.seen[:16:2], expected, rtol=1e-6)
    np.testing.assert_allclose(modes.unseen, problem.spectrum.values[0], rtol=1e-6)


def test_whole_episodes_say_the_same_as_their_returns() -> None:
    problem = gpc.GraphProblem(RING, WALK, gpc.TemporalDifferences(0.9, 0.3, "stochastic"))
    rng = np.random.default_rng(4)
    states, ends = rng.integers(12, size=15), [5, 9, 14]
    assert isinstance(problem.observation, gpc.TemporalDifferences)
    H = problem.observation.weights(15, ends)
    assert H.shape == (15, 15)
    rewards = rng.normal(size=15)
    values = gpc.linear_posterior(problem, H, states, rewards, np.arange(12))
    returns = np.zeros(15)
    for i in reversed(range(15)):
        returns[i] = rewards[i] + (0.0 if i in ends else 0.9 * returns[i + 1])
    C = WALK.on(gpc.as_graph(RING)).matrix()
    K = C[np.ix_(states, states)] + 0.3 * np.eye(15)
    np.testing.assert_allclose(values.mean, C[:, states] @ np.linalg.solve(K, returns), rtol=1e-9)
    exact = C - C[:, states] @ np.linalg.solve(K, C[states])
    np.testing.assert_allclose(values.covariance, exact, atol=1e-12)
    np.testing.assert_allclose(values.variance, exact.diagonal(), atol=1e-12)


def test_rewards_without_an_end_have_no_last_row() -> None:
    observation = gpc.TemporalDifferences(0.5, 0.1)
    np.testing.assert_array_equal(observation.weights(3).toarray(), [[1, -0.5, 0], [0, 1, -0.5]])
    np.testing.assert_array_equal(observation.weights(3, [0]).toarray(), [[1, 0, 0], [0, 1, -0.5]])
    np.testing.assert_array_equal(observation.weights(2, [1]).toarray(), [[1, -0.5], [0, 1]])
    rows = gpc.TemporalDifferences(0.5, 0.1, "stochastic", 3, CHANCE).rows(POINTS, 7, np.random.default_rng(0))
    assert rows.weights.shape[0] == 7
    assert noise_matrix(rows)[2, 3] == 0  # another episode
    np.testing.assert_allclose(noise_matrix(rows)[:2, :2], [[1.25, -0.5], [-0.5, 1.25]])


def test_a_walk_has_the_transitions_of_its_chain() -> None:
    chain = MarkovChain.of(CHANCE, POINTS)
    np.testing.assert_allclose(chain.stationary @ CHANCE, chain.stationary, atol=1e-12)
    states = chain.walk(40_000, np.random.default_rng(5))
    pairs = np.zeros((5, 5))
    np.add.at(pairs, (states[:-1], states[1:]), 1)
    np.testing.assert_allclose(pairs / pairs.sum(axis=1, keepdims=True), CHANCE, atol=0.02)
    np.testing.assert_allclose(np.bincount(states) / 40_000, chain.stationary, atol=0.01)
    star = gpc.GraphProblem(networkx.star_graph(3), WALK, 0.1).inputs
    np.testing.assert_allclose(MarkovChain.of(None, star).stationary, [0.5, 1 / 6, 1 / 6, 1 / 6])


@pytest.mark.parametrize("n", [1, 3, 12])
def test_plaskota_is_attained_by_observing_eigenfunctions(n: int) -> None:
    problem, noise = on_points(gpc.GaussianNoise(0.1)), 0.1
    p = POINTS.probabilities
    values, vectors = np.linalg.eigh(np.sqrt(p[:, None] * p) * problem.kernel(POINTS.points))
    values, functions = values[::-1], (vectors / np.sqrt(p)[:, None])[:, ::-1]
    budget, roots = n * values.sum(), np.sqrt(values)
    k = max(k for k in range(1, min(n, 5) + 1) if roots[k - 1] * (budget + k * noise) / roots[:k].sum() > noise)
    eta = roots[:k] * (budget + k * noise) / roots[:k].sum() - noise
    weights = (np.sqrt(eta / values[:k]) * functions[:, :k] * p[:, None]).T
    posterior = gpc.linear_posterior(problem, weights, POINTS.points, np.zeros(k), POINTS.points)
    bound = gpc.learning_curve(problem, "plaskota", n=[n]).error[0]
    np.testing.assert_allclose(p @ posterior.variance, bound, rtol=1e-12)


def test_no_labels_are_asked_for() -> None:
    problem = gpc.GraphProblem(RING, WALK, gpc.TemporalDifferences(0.8, 0.1, episode=6))
    curve = gpc.learning_curve(problem, "functionals-simulation", n=[0], datasets=2, rng=0)
    np.testing.assert_allclose(curve.error, 1, rtol=1e-12)


def test_the_simulation_is_near_theory_if_labels_are_independent() -> None:
    for observation in (gpc.Averages(0.1, 3), gpc.Differences(0.1), gpc.Derivatives(0.1)):
        problem = gpc.Problem(gpc.RBF(0.15), gpc.Torus(1), observation)
        theory = gpc.learning_curve(problem, "functionals", n=[0, 40])
        truth = gpc.learning_curve(problem, "functionals-simulation", n=[0, 40], datasets=10, rng=0)
        np.testing.assert_allclose(truth.error, theory.error, rtol=0.05)


def test_the_trajectory_for_a_goal_is_simulated() -> None:
    problem = gpc.GraphProblem(RING, WALK, gpc.TemporalDifferences(0.8, 0.1, episode=6))
    needed = gpc.required_n(problem, 0.2, datasets=5)
    curve = gpc.learning_curve(problem, "functionals-simulation", n=[needed // 2, 2 * needed], datasets=5, rng=0)
    assert curve.error[1] < 0.2 < curve.error[0]
    assert "neglects" in gpc.learning_curve(problem, "functionals", n=[1]).notes[-1]
    assert gpc.required_n(on_points(gpc.Averages(0.1, 2)), 0.2) > 1


@pytest.mark.parametrize("observation", [*DISCRETE.values(), gpc.Derivatives(0.1)], ids=repr)
def test_observations_are_saved_and_others_refuse_them(observation: Observation) -> None:
    again = Observation.from_dict(json.loads(json.dumps(observation.to_dict())))
    assert again == observation
    assert again != gpc.Averages(0.7, 9)
    obeys_observation_laws(observation)
    problem = on_points(observation)
    assert gpc.Problem.from_dict(json.loads(json.dumps(problem.to_dict()))) == problem
    for name in ("lc", "simulation", "tasks"):
        with pytest.raises(gpc.NotApplicableError, match=f"'{name}' does not apply: it is for labels of"):
            gpc.learning_curve(problem, name, n=[1])


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: gpc.TemporalDifferences(1.0, 0.1), "discount must be at least 0 and below 1, got 1"),
        (lambda: gpc.TemporalDifferences(-0.5, 0.1), "discount must be at least 0, got -0.5"),
        (lambda: gpc.TemporalDifferences(0.5, -1), "noise must be at least 0, got -1"),
        (lambda: gpc.TemporalDifferences(0.5, 0.1, episode=0), "episode must be an integer, at least 1, got 0"),
        (
            lambda: gpc.TemporalDifferences(0.5, 0.1, transitions=[[1.0, 0.0], [0.5, 0.4]]),
            "transitions must have rows that sum to 1, but row 2 sums to 0.9",
        ),
        (lambda: gpc.TemporalDifferences(0.5, 0.1, transitions=[[2, -1], [0, 1]]), "finite and at least 0"),
        (lambda: gpc.TemporalDifferences(0.5, 0.1, transitions=[1, 0]), "transitions must be a square matrix"),
        (lambda: gpc.Averages(0.1, 0), "count must be an integer, at least 1, got 0"),
        (lambda: gpc.Differences(float("nan")), "noise must be finite"),
        (
            lambda: gpc.learning_curve(on_points(gpc.TemporalDifferences(0.5, 0.1)), "functionals", n=[1]),
            "discrete inputs need transitions",
        ),
        (
            lambda: gpc.learning_curve(
                on_points(gpc.TemporalDifferences(0.5, 0.1, transitions=np.eye(2))), "functionals", n=[1]
            ),
            "transitions are between 2 states, but there are 5 inputs",
        ),
        (
            lambda: gpc.learning_curve(
                gpc.Problem(gpc.RBF(), gpc.Torus(1), gpc.TemporalDifferences(0.5, 0.1)), "functionals", n=[1]
            ),
            "temporal differences need a graph or discrete inputs",
        ),
        (
            lambda: gpc.learning_curve(
                gpc.GraphProblem(RING, WALK, gpc.TemporalDifferences(0.5, 0.1, transitions=np.eye(2))),
                "functionals",
                n=[1],
            ),
            "a graph has its own random walk",
        ),
        (
            lambda: gpc.learning_curve(on_points(gpc.Derivatives(0.1)), "functionals", n=[1]),
            "derivatives are implemented for RBF and Matern52 kernels",
        ),
        (
            lambda: gpc.learning_curve(gpc.GraphProblem(RING, WALK, gpc.Derivatives(0.1)), "functionals", n=[1]),
            "derivatives need inputs that are vectors",
        ),
    ],
)
def test_bad_observations(make: Callable[[], object], sentence: str) -> None:
    with pytest.raises(gpc.InputError, match=sentence):
        make()


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"weights": np.ones((2, 4))}, r"a column per point \(3\), got shape \(2, 4\)"),
        ({"labels": [1.0]}, r"labels must be one per row of weights \(2\), got shape \(1,\)"),
        ({"labels": [1.0, np.inf]}, "labels must be finite"),
        ({"noise": -1}, "variances of at least 0"),
        ({"noise": np.eye(3)}, "a matrix of 2 by 2"),
        ({"components": [0, 1, 5]}, "components must be one integer per point"),
        ({"components": [0, 0, 0]}, "derivatives are implemented for RBF"),
        ({"at": [[0.1, 0.2]]}, "at must have 1 dimensions"),
    ],
)
def test_bad_data(given: dict[str, Any], sentence: str) -> None:
    usual = {"weights": np.ones((2, 3)), "points": [0.1, 0.2, 0.3], "labels": [1.0, 2.0], "at": [0.5]}
    with pytest.raises(gpc.InputError, match=sentence):
        gpc.linear_posterior(on_points(gpc.Averages(0.1)), **{**usual, **given})
