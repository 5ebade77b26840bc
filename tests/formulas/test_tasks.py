"""Several tasks: theory retyped, its limits, the simulation against dense algebra, and the cheapest mix."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import gpcurves as gpc
from gpcurves.methods.tasks.simulation import TaskDataSets
from gpcurves.observations import Observation
from laws import obeys_observation_laws

KERNEL, CIRCLE = gpc.RBF(0.1), gpc.Torus(dim=1)
POINTS = gpc.Discrete(np.array([0.0, 0.2, 0.35, 0.9]), np.array([0.1, 0.4, 0.3, 0.2]))
THREE = gpc.Tasks(
    [[1.0, 0.8, 0.3], [0.8, 2.0, -0.5], [0.3, -0.5, 0.7]], [0.1, 0.0, 0.4], [2, 1, 1], ("a", "b", "c"), "b"
)


def on_circle(observation: Any) -> gpc.Problem:
    return gpc.Problem(KERNEL, CIRCLE, observation)


def test_the_equation_retyped() -> None:
    problem = gpc.Problem(gpc.OU(0.3), POINTS, THREE)
    counts = np.array([3.0, 1.5, 4.0])
    errors = gpc.task_errors(problem, counts)
    h = counts / (THREE.noises + errors)
    total = np.zeros(3)
    for value in problem.spectrum.values:
        total += np.linalg.inv(np.linalg.inv(value * THREE.between) + np.diag(h)).diagonal()
    np.testing.assert_allclose(total, errors, rtol=1e-11)


@pytest.mark.parametrize("noise", [0.0, 1e-6, 0.05, 10.0])
def test_one_task_is_lc(noise: float) -> None:
    n = [0, 1, 7.5, 20, 500]
    kernel = gpc.OU(0.3)
    tasks = gpc.learning_curve(gpc.Problem(kernel, CIRCLE, gpc.Tasks([[1.0]], noise)), "tasks", n=n)
    np.testing.assert_allclose(
        tasks.error, gpc.learning_curve(gpc.Problem(kernel, CIRCLE, noise), "lc", n=n).error, rtol=1e-12
    )


def test_tasks_without_correlation_have_curves_of_their_own() -> None:
    errors = gpc.task_errors(on_circle(gpc.Tasks(np.diag([1.0, 3.0]), [0.05, 0.3])), [[10, 40], [0, 40]])
    first = gpc.learning_curve(on_circle(0.05), "lc", n=[10, 0])
    second = gpc.learning_curve(gpc.Problem(gpc.RBF(0.1, 3.0), CIRCLE, 0.3), "lc", n=[40, 40])
    np.testing.assert_allclose(errors.T, [first.error, second.error], rtol=1e-12)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_perfectly_correlated_tasks_pool_their_labels(sign: float) -> None:
    pooled = gpc.learning_curve(on_circle(0.05), "lc", n=[50])
    errors = gpc.task_errors(on_circle(gpc.Tasks([[1, sign], [sign, 1]], 0.05)), [20, 30])
    np.testing.assert_allclose(errors, pooled.error[0], rtol=1e-12)


def test_a_task_without_noise_that_is_learnt_leaves_the_others() -> None:
    errors = gpc.task_errors(on_circle(gpc.Fidelities(0.9, noise=0.1)), [1e6, 0])
    assert errors[0] < 1e-27
    np.testing.assert_allclose(errors[1], 0.19, rtol=1e-6)


@pytest.mark.parametrize("counts", [(1.0, 1.8e10), (0.0, 1.00807827), (1 + 1e-12, 8.9e9), (1.0, 1.0)])
def test_as_many_labels_as_eigenvalues_without_noise(counts: tuple[float, float]) -> None:
    """All but one of the eigenvalues are tiny, so that one label more or less decides."""
    problem = gpc.Problem(gpc.RBF(3.0), CIRCLE, gpc.Fidelities(0.9))
    errors = gpc.task_errors(problem, counts) / problem.spectrum.trace
    assert errors[1] < 1e-6
    assert errors[0] <= 0.19 + 1e-9


def test_labels_are_apportioned_at_every_size() -> None:
    observation = gpc.Tasks(np.eye(3), 0.1, shares=[5, 3, 2])
    order = observation.order(1000)
    counts = np.cumsum(order[:, None] == np.arange(3), axis=0)
    wanted = np.arange(1, 1001)[:, None] * np.array([0.5, 0.3, 0.2])
    assert abs(counts - wanted).max() < 1
    np.testing.assert_array_equal(counts[99], [50, 30, 20])
    np.testing.assert_array_equal(gpc.Fidelities(0.5, cheap_share=0.8).order(5), [0, 0, 1, 0, 0])
    assert set(gpc.Fidelities(0.5, cheap_share=0.0).order(5).tolist()) == {1}


@pytest.mark.parametrize("inputs", [CIRCLE, POINTS])
def test_a_data_set_by_dense_algebra(inputs: Any) -> None:
    problem = gpc.Problem(KERNEL, inputs, THREE)
    experiment = TaskDataSets(problem, (0, 3, 8), 5, 50)
    drawn = experiment.collect(np.random.default_rng(1), experiment.test(np.random.default_rng(2)))
    X, task = drawn.rows[:, :-1], drawn.rows[:, -1].astype(int)
    C, D = inputs.kernel_matrix(KERNEL, X), THREE.between
    K = C * D[np.ix_(task, task)] + np.diag(THREE.noises[task])
    nodes, weights = inputs.nodes(400)
    cross = inputs.kernel_matrix(KERNEL, X, nodes)

    def error(t: int, n: int) -> float:
        k = D[task[:n], t][:, None] * cross[:n]
        prior = D[t, t] * inputs.variances(KERNEL, nodes)
        return float(weights @ (prior - np.einsum("ij,ij->j", k, np.linalg.solve(K[:n, :n], k))))

    found = experiment._errors(drawn)
    sizes = drawn.known[[0, 3, 8]].tolist()
    for t, name in enumerate("abc"):
        np.testing.assert_allclose(found[f"error {name}"], [error(t, n) for n in sizes], rtol=1e-6)
    np.testing.assert_array_equal(found["error"], found["error b"])


def test_the_simulation_is_near_theory_and_in_its_limit_is_the_one_of_a_single_task() -> None:
    problem = on_circle(gpc.Fidelities(0.9, noise=0.1, cheap_noise=0.5, cheap_share=0.75))
    truth = gpc.learning_curve(problem, "tasks-simulation", n=[0, 40, 80], datasets=20, rng=0)
    theory = gpc.learning_curve(problem, "tasks", n=[0, 40, 80])
    assert (abs(theory.error / truth.error - 1) < 0.2).all()
    np.testing.assert_array_equal(truth.details["n cheap"], [0, 30, 60])
    again = gpc.learning_curve(truth.problem, truth.method, truth.n, rng=truth.rng, **truth.options)
    np.testing.assert_array_equal(again.error, truth.error)
    single = gpc.learning_curve(on_circle(gpc.Tasks([[1.0]], 0.1)), "tasks-simulation", n=[1, 40], datasets=40, rng=0)
    known = gpc.learning_curve(on_circle(0.1), "simulation", n=[1, 40], datasets=40, rng=0)
    np.testing.assert_allclose(single.error[0], known.error[0], rtol=1e-12)  # one example is the same everywhere
    assert single.stderr is not None
    assert known.stderr is not None
    assert abs(single.error[1] - known.error[1]) < 4 * np.hypot(single.stderr, known.stderr)[1]


def test_other_methods_refuse_tasks_by_name_and_goals_are_answered() -> None:
    problem = on_circle(gpc.Fidelities(0.9, noise=0.1))
    for name in ("lc", "simulation", "plaskota"):
        with pytest.raises(gpc.NotApplicableError, match=f"{name}.*single function values, but labels are Fidelities"):
            gpc.learning_curve(problem, name, n=[1])
    with pytest.raises(gpc.NotApplicableError, match="labels of several tasks"):
        gpc.learning_curve(on_circle(0.1), "tasks", n=[1])
    assert "tasks" not in gpc.learning_curves(on_circle(0.1), n=[1]).skipped
    needed = gpc.required_n(problem, 0.1)
    at = gpc.learning_curve(problem, "tasks", n=[needed - 1, needed]).error
    assert at[1] <= 0.1 < at[0]


def test_problems_are_saved_and_built_again() -> None:
    for observation in (THREE, gpc.Fidelities(0.9, noise=0.1, cheap_share=0.25)):
        obeys_observation_laws(observation)
        assert Observation.from_dict(json.loads(json.dumps(observation.to_dict()))) == observation
        problem = on_circle(observation)
        assert gpc.Problem.from_dict(json.loads(json.dumps(problem.to_dict()))) == problem
    assert gpc.Fidelities(0.9) != gpc.Fidelities(0.8)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"covariance": [[1, 2], [2, 1]]}, "covariance must be positive semidefinite, but its lowest eigenvalue is -1"),
        ({"covariance": [[1, 0.2], [0.3, 1]]}, "covariance must be symmetric, but two of its entries differ by 0.1"),
        ({"covariance": [[1, 0.2]]}, "covariance must be a square matrix"),
        ({"covariance": [[1, np.nan], [np.nan, 1]]}, "covariance must be finite"),
        ({"covariance": [[0, 0], [0, 1]]}, "variances greater than 0 on its diagonal, got 0"),
        ({"noise": [0.1]}, r"noise must be one number per task \(2\), got 1"),
        ({"noise": [0.1, -1]}, "noise must be at least 0, got -1"),
        ({"shares": [1, 2, 3]}, r"shares must be one number per task \(2\), got 3"),
        ({"shares": [0, 0]}, "shares must not all be 0"),
        ({"names": ["a", "a"]}, "names must be different texts"),
        ({"target": "c"}, "unknown target task 'c'"),
    ],
)
def test_bad_tasks(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(gpc.InputError, match=sentence):
        gpc.Tasks(**{"covariance": [[1, 0.5], [0.5, 1]], "noise": 0.1, **given})


MIXED = on_circle(gpc.Fidelities(0.95, noise=0.05, cheap_noise=0.2))


def test_the_cheapest_mix_is_the_cheapest_of_all() -> None:
    mix = gpc.cheapest_mix(MIXED, error=0.05, costs=[1, 8])
    cheap, expensive = np.meshgrid(np.arange(100.0), np.arange(35.0), indexing="ij")
    counts = np.column_stack((cheap.ravel(), expensive.ravel()))
    reached = gpc.task_errors(MIXED, counts)[:, 1] <= 0.05
    assert mix.cost == (counts @ [1, 8])[reached].min()
    assert mix.error <= 0.05
    assert mix.alone == counts[reached & (counts[:, 0] == 0), 1].min()
    assert mix.cost < mix.alone_cost


@pytest.mark.slow
def test_the_cheapest_mix_of_three_tasks_is_near_the_cheapest_of_all() -> None:
    problem = on_circle(gpc.Tasks([[1, 0.9, 0.8], [0.9, 1, 0.95], [0.8, 0.95, 1]], [0.2, 0.1, 0.05]))
    mix = gpc.cheapest_mix(problem, error=0.1, costs=[1, 3, 10])
    counts = np.stack(np.meshgrid(np.arange(0.0, 60, 6), np.arange(0.0, 40, 4), np.arange(0.0, 20, 2)), -1).reshape(
        -1, 3
    )
    best = (counts @ [1, 3, 10])[gpc.task_errors(problem, counts)[:, 2] <= 0.1].min()
    assert mix.cost <= best


def test_what_a_mix_says(tmp_path: Any) -> None:
    mix = gpc.cheapest_mix(MIXED, error=0.05, costs=[1, 8])
    assert f"You need {mix.counts[0]} cheap and {mix.counts[1]} expensive labels" in str(mix)
    assert f"{mix.alone:.0f} expensive labels alone would cost {mix.alone_cost:g}" in str(mix)
    nothing = gpc.cheapest_mix(on_circle(gpc.Fidelities(0.0, noise=0.05)), 0.05, [1, 8])
    assert nothing.counts[0] == 0
    assert "would not save anything" in str(nothing)
    assert "no labels" in str(gpc.cheapest_mix(MIXED, 2.0, [1, 8]))
    for suffix in (".json", ".png", ".csv"):
        mix.save(tmp_path / f"mix{suffix}")
        assert (tmp_path / f"mix{suffix}").stat().st_size > 40


@pytest.mark.parametrize(
    ("costs", "sentence"),
    [
        ([-1, 2], "at least 0, got -1"),
        ([1], r"one number per task \(2\), got 1"),
        ([0, 0], "not all be 0"),
        ("a", "numbers"),
    ],
)
def test_bad_costs(costs: Any, sentence: str) -> None:
    with pytest.raises(gpc.InputError, match=sentence):
        gpc.cheapest_mix(MIXED, 0.05, costs)


def test_labels_that_cost_nothing_are_counted_all_the_same() -> None:
    free = gpc.cheapest_mix(MIXED, 0.05, [0, 1])
    fewer = gpc.task_errors(MIXED, [[free.counts[0] - 1, free.counts[1]], [1e9, free.counts[1] - 1]])[:, 1]
    assert (fewer > 0.05).all()


def test_a_goal_that_no_mix_reaches() -> None:
    with pytest.raises(gpc.GoalUnreachableError, match="no mix of labels reaches the error 1e-30"):
        gpc.cheapest_mix(on_circle(gpc.Fidelities(0.9, noise=0.1, cheap_noise=0.1)), 1e-30, [1, 2])
    with pytest.raises(gpc.InputError, match="labels of several tasks"):
        gpc.cheapest_mix(on_circle(0.1), 0.05, [1, 2])
