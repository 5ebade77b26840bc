"""Errors on graphs: one data set by dense and exact algebra, then averages with their statistics."""

from __future__ import annotations

import itertools
import math
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import stats
from scipy.linalg import sqrtm
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import DotProduct

from gpcurves import (
    RBF,
    DiffusionKernel,
    ErdosRenyi,
    Graph,
    GraphProblem,
    InputError,
    LearningCurve,
    PredictionVectors,
    Problem,
    RandomRegular,
    RandomWalkKernel,
    RegularisedLaplacianKernel,
    Teacher,
    Torus,
    VarianceDistribution,
    learning_curve,
    prediction_vectors,
    vertex_variances,
)
from gpcurves.graphs import GraphKernel, Normalisation
from gpcurves.graphs.graph import IntArray
from gpcurves.methods.simulation import vertices
from gpcurves.methods.simulation.single import one_data_set
from gpcurves.methods.simulation.vertices import (
    curve_variances,
    examples,
    mismatched_errors,
    posterior_variances,
    training_counts,
)
from gpcurves.numerics.validation import FloatArray

LOCAL = RandomWalkKernel(10, 2.0, "local")
GLOBAL = RandomWalkKernel(10, 2.0, "global")
FOREST = Graph.from_edges([(0, 1), (1, 2), (2, 3), (1, 4), (4, 5), (5, 6), (7, 8)], 11)
"""A tree, a pair and two isolated vertices: bipartite, so that walks with a = 2 have a singular covariance."""
RANDOM = ErdosRenyi(3).sample(40, 3)
REGULAR_KERNELS: list[GraphKernel] = [
    RandomWalkKernel(3, 2.3, "local"),
    RandomWalkKernel(5, 3.0, "global"),
    RandomWalkKernel(2, 2.5, "none"),
    DiffusionKernel(1.4, "local"),
    RegularisedLaplacianKernel(2.0, "global"),
]
"""Kernels whose matrices can be inverted."""


def counts_of(values: list[int]) -> IntArray:
    return np.array(values, dtype=np.int64)


def drawn_counts(graph: Graph, nu: float, seed: int) -> IntArray:
    return training_counts(examples([nu], graph.vertices), graph.vertices, np.random.default_rng(seed))[0]


def by_inverse(C: FloatArray, counts: IntArray, noise: float) -> FloatArray:
    """Return the diagonal of (C⁻¹ + diag(γ/σ²))⁻¹, Urry & Sollich (12)."""
    return np.linalg.inv(np.linalg.inv(C) + np.diag(counts / noise)).diagonal()


def by_many_digits(C: FloatArray, counts: IntArray, noise: float) -> FloatArray:
    """Return posterior variances from the examples one by one, in 60 digits."""
    with mpmath.workdps(60):
        at = [i for i, count in enumerate(counts.tolist()) for _ in range(count)]
        K = mpmath.matrix([[mpmath.mpf(C[i, j]) for j in at] for i in at])
        for k in range(len(at)):
            K[k, k] += mpmath.mpf(noise)
        k_all = mpmath.matrix([[mpmath.mpf(C[i, j]) for j in range(len(C))] for i in at])
        solved = mpmath.inverse(K) * k_all
        return np.array(
            [float(C[j, j] - mpmath.fsum(k_all[k, j] * solved[k, j] for k in range(len(at)))) for j in range(len(C))]
        )


# --- posterior variances ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", [1e6, 1.0, 0.01])
@pytest.mark.parametrize("kernel", REGULAR_KERNELS, ids=repr)
def test_posterior_variances_are_the_inverse_of_a_sum_of_precisions(kernel: GraphKernel, noise: float) -> None:
    for graph in (RANDOM, FOREST):
        C = kernel.on(graph).matrix()
        for nu in (0.1, 1.0, 30.0):
            counts = drawn_counts(graph, nu, 1)
            found = posterior_variances(C, counts, noise)
            np.testing.assert_allclose(found, by_inverse(C, counts, noise), rtol=1e-9)
            assert (found <= C.diagonal() * (1 + 1e-15)).all()


@pytest.mark.parametrize("noise", [1e6, 0.1, 1e-4, 1e-8, 1e-12, 1e-15])
@pytest.mark.parametrize(
    "kernel", [RandomWalkKernel(3, 2.3, "local"), RegularisedLaplacianKernel(2.0, "global")], ids=repr
)
def test_relative_accuracy_survives_low_noise(kernel: GraphKernel, noise: float) -> None:
    C = kernel.on(FOREST).matrix()
    counts = counts_of([2, 0, 1, 0, 1, 3, 0, 1, 1, 2, 0])
    np.testing.assert_allclose(posterior_variances(C, counts, noise), by_many_digits(C, counts, noise), rtol=1e-13)


@pytest.mark.parametrize("noise", [1e-4, 1e-8, 1e-12])
@pytest.mark.parametrize("normalise", ["local", "global"])
def test_a_singular_covariance_costs_as_many_digits_as_the_noise_is_small(
    normalise: Normalisation, noise: float
) -> None:
    C = RandomWalkKernel(10, 2.0, normalise).on(FOREST).matrix()
    counts = counts_of([2, 0, 1, 0, 1, 3, 0, 1, 1, 2, 0])
    found, exact = posterior_variances(C, counts, noise), by_many_digits(C, counts, noise)
    np.testing.assert_allclose(found[counts > 0], exact[counts > 0], rtol=20 * np.finfo(float).eps / noise)
    np.testing.assert_allclose(found, exact, rtol=0, atol=1e-13)


@pytest.mark.parametrize("noise", [0.1, 1e-8, 1e-12])
def test_a_pair_of_vertices_is_one_at_a_equal_to_two(noise: float) -> None:
    C = LOCAL.on(Graph.from_edges([(0, 1)])).matrix()
    np.testing.assert_allclose(C, 1.0, rtol=1e-15)
    for counts in ([1, 0], [0, 3], [2, 5], [3, 1]):
        expected = noise / (noise + sum(counts))
        found = posterior_variances(C, counts_of(counts), noise)
        np.testing.assert_allclose(found, expected, rtol=20 * np.finfo(float).eps / noise)


@pytest.mark.parametrize("noise", [1e3, 0.1, 1e-8, 1e-12])
@pytest.mark.parametrize("normalise", ["local", "global", "none"])
def test_isolated_vertices_learn_alone(normalise: Normalisation, noise: float) -> None:
    C = RandomWalkKernel(10, 2.0, normalise).on(FOREST).matrix()
    counts = counts_of([1, 1, 1, 1, 1, 1, 1, 1, 1, 7, 0])
    found = posterior_variances(C, counts, noise)
    assert found[9] == pytest.approx(1 / (1 / C[9, 9] + 7 / noise), rel=1e-13)
    assert found[10] == C[10, 10]
    assert C[9, 9] == pytest.approx({"local": 1.0, "none": 2.0**-10}.get(normalise, C[10, 10]), rel=1e-14)


@pytest.mark.parametrize("kernel", [LOCAL, GLOBAL, RandomWalkKernel(3, 2.3, "global")], ids=repr)
def test_without_noise_what_was_seen_is_known(kernel: GraphKernel) -> None:
    for graph in (FOREST, RANDOM):
        C = kernel.on(graph).matrix()
        counts = drawn_counts(graph, 0.7, 4)
        found = posterior_variances(C, counts, 0.0)
        assert (found[counts > 0] == 0).all()
        assert (found >= 0).all()
        np.testing.assert_array_equal(posterior_variances(C, 1 + counts, 0.0), 0.0)  # all vertices, many twice
        np.testing.assert_allclose(found, posterior_variances(C, 3 * counts, 0.0), atol=1e-13)  # repeats say nothing


def test_without_noise_a_vertex_tells_about_its_double() -> None:
    C = LOCAL.on(FOREST).matrix()
    found = posterior_variances(C, counts_of([0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]), 0.0)
    np.testing.assert_allclose(found[[7, 8]], 0.0, atol=1e-15)
    np.testing.assert_allclose(np.delete(found, [7, 8]), 1.0, rtol=1e-14)


def test_no_examples_leave_the_prior() -> None:
    C = GLOBAL.on(FOREST).matrix()
    for noise in (0.0, 0.1):
        found = posterior_variances(C, counts_of([0] * 11), noise)
        np.testing.assert_array_equal(found, C.diagonal())
        found[0] = 7.0
        assert C[0, 0] != 7.0


def test_many_times_more_examples_than_vertices_are_counts() -> None:
    C = RandomWalkKernel(3, 2.3, "global").on(FOREST).matrix()
    counts = drawn_counts(FOREST, 1e12, 3)
    found = posterior_variances(C, counts, 0.3)
    np.testing.assert_allclose(found, 0.3 / counts, rtol=1e-9)  # the prior no longer matters
    np.testing.assert_allclose(found, by_many_digits(C, counts_of([1] * 11), 0.3 / 1e12) * 1e12 / counts, rtol=1e-5)


def test_posterior_variances_are_those_of_scikit_learn() -> None:
    C = RandomWalkKernel(4, 2.5, "local").on(RANDOM).matrix()
    features = np.real(sqrtm(C))  # their scalar products are the covariance
    rng = np.random.default_rng(6)
    at = rng.integers(40, size=60)
    y = rng.standard_normal(60)
    fitted = GaussianProcessRegressor(DotProduct(0.0, "fixed"), alpha=0.05, optimizer=None).fit(features[at], y)
    mean, deviation = fitted.predict(features, return_std=True)
    counts = np.bincount(at, minlength=40)
    assert counts.max() > 3
    np.testing.assert_allclose(posterior_variances(C, counts, 0.05), deviation**2, rtol=1e-9)
    found = prediction_vectors(GraphProblem(RANDOM, RandomWalkKernel(4, 2.5, "local"), 0.05), at)
    z = np.linalg.solve(np.real(sqrtm(C[np.ix_(at, at)] + 0.05 * np.eye(60))), y)
    np.testing.assert_allclose(found.vectors @ z, mean, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("noise", [10.0, 0.1, 1e-4])
@pytest.mark.parametrize("kernel", [LOCAL, GLOBAL, RandomWalkKernel(4, 3.0, "global")], ids=repr)
def test_updating_gives_what_starting_afresh_does(
    kernel: GraphKernel, noise: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    C = kernel.on(RANDOM).matrix()
    before = C.copy()
    growing = training_counts(np.array([0, 0, *range(60, 90, 2), 91, 91]), 40, np.random.default_rng(2))
    afresh = [posterior_variances(C, counts, noise) for counts in growing]
    np.testing.assert_array_equal(curve_variances(C, growing, noise, safe_noise=math.inf), afresh)
    monkeypatch.setattr(vertices, "posterior_variances", lambda *_: pytest.fail("it started afresh"))
    np.testing.assert_allclose(curve_variances(C, growing, noise), afresh, rtol=1e-10)
    np.testing.assert_array_equal(C, before)


@pytest.mark.parametrize("noise", [0.1, 1e-5])
def test_many_updates_lose_nothing(noise: float, monkeypatch: pytest.MonkeyPatch) -> None:
    C = LOCAL.on(RANDOM).matrix()
    growing = training_counts(np.arange(0, 300, 2), 40, np.random.default_rng(5))
    afresh = [posterior_variances(C, counts, noise) for counts in growing]
    monkeypatch.setattr(vertices, "posterior_variances", lambda *_: pytest.fail("it started afresh"))
    np.testing.assert_allclose(curve_variances(C, growing, noise), afresh, rtol=1e-8)


def test_low_noise_is_never_updated() -> None:
    C = LOCAL.on(RANDOM).matrix()
    growing = training_counts(np.arange(0, 60, 2), 40, np.random.default_rng(5))
    fresh = [posterior_variances(C, counts, 1e-9) for counts in growing]
    np.testing.assert_array_equal(curve_variances(C, growing, 1e-9), fresh)
    with_none = curve_variances(C, growing, 0.0)
    np.testing.assert_array_equal(with_none, [posterior_variances(C, counts, 0.0) for counts in growing])


# --- mismatch --------------------------------------------------------------------------------------------------------

TAUGHT: dict[str, tuple[GraphKernel, GraphKernel, float, float]] = {
    "normalised otherwise": (LOCAL, GLOBAL, 0.1, 0.1),
    "shorter walk, wrong noise": (RandomWalkKernel(4, 2.5, "global"), RandomWalkKernel(10, 2.0, "local"), 0.01, 0.5),
    "a teacher without noise": (DiffusionKernel(1.5, "local"), RandomWalkKernel(3, 3.0, "global"), 0.3, 0.0),
    "low noise": (GLOBAL, LOCAL, 1e-4, 1e-4),
}


@pytest.mark.parametrize("name", TAUGHT)
def test_mismatch_is_its_formula_example_by_example(name: str) -> None:
    student, teacher, noise, true_noise = TAUGHT[name]
    C, true = student.on(RANDOM).matrix(), teacher.on(RANDOM).matrix()
    at = np.random.default_rng(3).integers(40, size=50)
    K, K0 = (M[np.ix_(at, at)] + level * np.eye(50) for M, level in ((C, noise), (true, true_noise)))
    B = C[:, at] @ np.linalg.inv(K)
    expected = (true - 2 * B @ true[at] + B @ K0 @ B.T).diagonal()
    found = mismatched_errors(C, true, np.bincount(at, minlength=40), noise, true_noise)
    np.testing.assert_allclose(found, expected, rtol=1e-7)


@pytest.mark.parametrize("name", TAUGHT)
def test_mismatch_is_a_derivative_of_the_posterior_variance(name: str) -> None:
    # of the prior C + t C* with noise σ² + t σ*², at t = 0, by a complex step
    student, teacher, noise, true_noise = TAUGHT[name]
    C, true = student.on(RANDOM).matrix(), teacher.on(RANDOM).matrix()
    counts = drawn_counts(RANDOM, 0.8, 5)
    o, step = np.flatnonzero(counts), 1e-30j
    prior = C + step * true
    A = prior[np.ix_(o, o)] + np.diag((noise + step * true_noise) / counts[o])
    variance = prior.diagonal() - np.einsum("ij,ij->j", prior[o], np.linalg.solve(A, prior[o]))
    found = mismatched_errors(C, true, counts, noise, true_noise)
    np.testing.assert_allclose(found, variance.imag / step.imag, rtol=1e-7)


@pytest.mark.parametrize("name", TAUGHT)
def test_mismatch_is_what_a_student_gets_wrong(name: str) -> None:
    # teachers and noise drawn: within 5 standard errors at every vertex
    student, teacher, noise, true_noise = TAUGHT[name]
    C, true = student.on(FOREST).matrix(), teacher.on(FOREST).matrix()
    rng = np.random.default_rng(8)
    at = rng.integers(11, size=9)
    many = 40_000
    drawn = rng.standard_normal((many, 11)) @ np.real(sqrtm(true)).T
    y = drawn[:, at] + math.sqrt(true_noise) * rng.standard_normal((many, 9))
    predicted = y @ np.linalg.solve(C[np.ix_(at, at)] + noise * np.eye(9), C[at])
    wrong = (predicted - drawn) ** 2
    found = mismatched_errors(C, true, np.bincount(at, minlength=11), noise, true_noise)
    stderr = wrong.std(axis=0, ddof=1) / math.sqrt(many)
    assert (abs(wrong.mean(axis=0) - found) < 5 * stderr + 1e-12).all()
    assert (stderr < 0.02 * found + 1e-12).all()


@pytest.mark.parametrize("noise", [100.0, 0.1, 1e-4])
@pytest.mark.parametrize("kernel", [LOCAL, GLOBAL, *REGULAR_KERNELS], ids=repr)
def test_a_teacher_who_is_what_the_student_believes_changes_nothing(kernel: GraphKernel, noise: float) -> None:
    C = kernel.on(RANDOM).matrix()
    for nu in (0.2, 1.0, 20.0):
        counts = drawn_counts(RANDOM, nu, 7)
        found = mismatched_errors(C, C.copy(), counts, noise, noise)
        np.testing.assert_allclose(found, posterior_variances(C, counts, noise), rtol=1e-7, atol=1e-13)


def test_without_examples_the_error_is_the_variance_of_the_teacher() -> None:
    true = GLOBAL.on(FOREST).matrix()
    found = mismatched_errors(LOCAL.on(FOREST).matrix(), true, counts_of([0] * 11), 0.1, 0.2)
    np.testing.assert_array_equal(found, true.diagonal())


@pytest.mark.parametrize("edges", [[(0, 1)], [(0, 1), (1, 2), (2, 3)]], ids=["pair", "path"])
def test_without_noise_a_wrong_student_does_what_it_does_at_little_noise(edges: list[tuple[int, int]]) -> None:
    # at a = 2 this student believes that vertices depend on each other exactly, and the teacher knows better
    graph = Graph.from_edges(edges)
    C, true = RandomWalkKernel(2, 2.0, "local").on(graph).matrix(), RandomWalkKernel(1, 3.0, "local").on(graph).matrix()
    counts = counts_of([1, 2, 1, 3][: graph.vertices])
    little = mismatched_errors(C, true, counts, 1e-9, 0.3)
    assert (little > 0.05).any()
    np.testing.assert_allclose(mismatched_errors(C, true, counts, 0.0, 0.3), little, rtol=1e-5)


# --- training counts -------------------------------------------------------------------------------------------------


def test_training_sets_are_nested_and_of_the_sizes_asked_for() -> None:
    sizes = np.array([0, 0, 3, 3, 50, 1_000, 10**9, 10**15])
    growing = training_counts(sizes, 13, np.random.default_rng(1))
    assert [int(counts.sum()) for counts in growing] == sizes.tolist()
    assert all((more >= less).all() for less, more in itertools.pairwise(growing))
    assert all(counts.shape == (13,) for counts in growing)
    np.testing.assert_array_equal(growing[2], growing[3])


def test_other_sizes_do_not_change_the_first_examples() -> None:
    for less in (1, 7, 30):
        one = training_counts(np.array([less, 100]), 13, np.random.default_rng(1))
        other = training_counts(
            np.array([3, less, less, 100, 999] if less > 3 else [less, 4, 9, 100]), 13, np.random.default_rng(1)
        )
        np.testing.assert_array_equal(one[0], other[1 if less > 3 else 0])
        np.testing.assert_array_equal(one[1], other[3])


def test_examples_fall_on_all_vertices_alike() -> None:
    rng = np.random.default_rng(2)
    growing = np.array([training_counts(np.array([4, 16]), 8, rng) for _ in range(4_000)])
    many = np.array([training_counts(np.array([10**9]), 8, rng)[0] for _ in range(500)])
    assert stats.chisquare(many.sum(axis=0)).pvalue > 1e-4
    assert abs(many.var(axis=0, ddof=1).mean() / (10**9 / 8 * (1 - 1 / 8)) - 1) < 4 * math.sqrt(2 / (500 * 8))
    first, both = growing[:, 0], growing[:, 1]
    for counts in (first, both - first):
        assert stats.chisquare(counts.sum(axis=0)).pvalue > 1e-4
    # a vertex has a binomial number of them: variance N (1/V)(1 - 1/V)
    spread = both.var(axis=0, ddof=1)
    assert abs(spread.mean() / (16 / 8 * (1 - 1 / 8)) - 1) < 4 * math.sqrt(2 / (4_000 * 8))
    pairs = np.cov(both.T)[np.triu_indices(8, 1)]
    assert abs(pairs.mean() + 16 / 64) < 4 * 16 / 64 / math.sqrt(4_000)


def test_numbers_of_examples_are_rounded_to_the_nearest() -> None:
    np.testing.assert_array_equal(examples([0.0, 0.04, 0.06, 1.0, 2.34, 1e9], 10), [0, 0, 1, 10, 23, 10**10])


# --- averages --------------------------------------------------------------------------------------------------------


def stderr_of(curve: LearningCurve) -> FloatArray:
    assert curve.stderr is not None
    return curve.stderr


def assert_within(curve: LearningCurve, expected: object, sigmas: float = 4.0) -> None:
    apart = abs(curve.error - np.asarray(expected))
    assert (apart <= sigmas * stderr_of(curve) + 1e-13).all(), (curve.error, expected, stderr_of(curve))


@pytest.mark.parametrize(
    ("kernel", "noise"),
    [(GLOBAL, 0.2), pytest.param(RandomWalkKernel(3, 2.5, "none"), 0.0, marks=pytest.mark.slow)],
    ids=repr,
)
def test_three_vertices_against_enumeration_of_all_data_sets(kernel: GraphKernel, noise: float) -> None:
    graph = Graph.from_edges([(0, 1)], 3)
    C = kernel.on(graph).matrix()
    average = np.zeros((4, 3))
    for n in range(4):
        for data in itertools.product(range(3), repeat=n):
            average[n] += posterior_variances(C, np.bincount(counts_of(list(data)), minlength=3), noise) / 3**n
    problem = GraphProblem(graph, kernel, noise)
    nu = [0.0, 1 / 3, 2 / 3, 1.0]
    curve = learning_curve(problem, "simulation", nu=nu, datasets=500, rng=3, among=["isolated", "ends"])
    assert_within(curve, average.mean(axis=1))
    assert (stderr_of(curve) < 0.1 * curve.error).all()
    for name, group in (("isolated", [2]), ("ends", [0, 1])):
        apart = abs(curve.details[f"error {name}"] - average[:, group].mean(axis=1))
        assert (apart <= 4 * curve.details[f"stderr {name}"] + 1e-13).all()
        np.testing.assert_allclose(curve.details[f"share {name}"], len(group) / 3)
    local = vertex_variances(problem, 1.0, datasets=500, rng=4)
    values = local.values.reshape(500, 3)
    assert (abs(local.by_vertex - average[3]) <= 4 * values.std(axis=0, ddof=1) / math.sqrt(500) + 1e-13).all()


def test_a_graph_without_edges_is_a_binomial_average() -> None:
    # N examples on V vertices: a vertex has Binomial(N, 1/V) of them
    for noise in (0.5, 1e-3):
        curve = learning_curve(
            GraphProblem(Graph.from_edges([], 20), LOCAL, noise), "simulation", nu=[0.5, 2.0, 4.0], datasets=250, rng=1
        )
        expected = []
        for n in (10, 40, 80):
            k = np.arange(n + 1)
            expected.append(float(stats.binom.pmf(k, n, 1 / 20) @ (1 / (1 + k / noise))))
        assert_within(curve, expected)
        assert (stderr_of(curve) < 0.15 * curve.error).all()


def published(noise: float, kernel: GraphKernel, nu: list[float], **options: Any) -> LearningCurve:
    return learning_curve(GraphProblem(ErdosRenyi(3), kernel, noise), "simulation", nu=nu, **options)


@pytest.mark.slow
def test_published_numbers_on_erdos_renyi_graphs() -> None:
    # about 0.661, 0.087, 0.0117, which is good to about half of a last digit and more
    curve = published(0.1, LOCAL, [0.1, 1.0, 5.0], vertices=500, graphs=20, datasets=2, rng=11)
    stderr = stderr_of(curve)
    assert (abs(curve.error - [0.661, 0.087, 0.0117]) < 4 * stderr + [0.002, 0.002, 0.0002]).all()
    assert (stderr < [0.004, 0.002, 0.0002]).all()


NU_OF_VARIANCE = [0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0, 3.0]


def test_local_errors_differ_most_at_intermediate_nu_under_local_normalisation() -> None:
    curve = published(0.1, LOCAL, NU_OF_VARIANCE, vertices=300, graphs=12, datasets=2, rng=1)
    variance, stderr = curve.details["variance"], curve.details["variance_stderr"]
    assert variance[0] == pytest.approx(0.0, abs=1e-28)
    peak = int(np.argmax(variance))
    assert 0.1 <= NU_OF_VARIANCE[peak] <= 0.3
    for other in (1, 2, 7, 8, 9):
        assert variance[peak] - variance[other] > 4 * math.hypot(stderr[peak], stderr[other])


def test_local_errors_differ_most_at_nu_zero_under_global_normalisation() -> None:
    # on one graph, whose prior variances are known
    graph = ErdosRenyi(3).sample(500, 2)
    curve = learning_curve(GraphProblem(graph, GLOBAL, 0.1), "simulation", nu=NU_OF_VARIANCE, datasets=24, rng=1)
    variance, stderr = curve.details["variance"], curve.details["variance_stderr"]
    assert variance[0] == pytest.approx(GLOBAL.on(graph).variances.var(), rel=1e-10)
    assert stderr[0] < 1e-15
    assert (variance[1:] < variance[0] + 4 * stderr[1:]).all()
    assert (variance[5:] < variance[0] - 4 * stderr[5:]).all()


def test_isolated_vertices_make_a_shoulder_under_local_normalisation_only() -> None:
    part = {}
    for kernel in (LOCAL, GLOBAL):
        curve = published(0.01, kernel, [2.0], vertices=250, graphs=12, datasets=3, rng=2, among=["isolated"])
        part[kernel.normalise] = (curve.details["share isolated"] * curve.details["error isolated"] / curve.error)[0]
        k = np.arange(501)
        if kernel.normalise == "local":
            exact = float(stats.binom.pmf(k, 500, 1 / 250) @ (1 / (1 + k / 0.01)))
            assert abs(curve.details["error isolated"][0] - exact) < 4 * curve.details["stderr isolated"][0]
            assert curve.details["stderr isolated"][0] < 0.2 * exact
    assert part["local"] > 0.4
    assert part["global"] < 0.08


@pytest.mark.slow
@pytest.mark.parametrize(("student", "teacher"), [(LOCAL, GLOBAL), (GLOBAL, LOCAL)], ids=["local", "global"])
def test_mismatched_curves_rise_to_a_maximum_at_low_noise(student: GraphKernel, teacher: GraphKernel) -> None:
    nu = [0.0, 0.1, 0.25, 0.4, 0.6, 0.8, 1.5]
    problem = GraphProblem(ErdosRenyi(3), student, 1e-4, Teacher(teacher, 1e-4))
    curve = learning_curve(problem, "simulation", nu=nu, vertices=250, graphs=36, datasets=3, rng=1)
    error, stderr = curve.error, stderr_of(curve)
    assert error[0] == pytest.approx(1.0, rel=1e-12)
    assert error[2] < error[1] - 4 * math.hypot(*stderr[1:3])
    peak = 3 + int(np.argmax(error[3:]))
    assert 0.4 <= nu[peak] <= 0.8
    assert error[peak] - error[2] > 2 * math.hypot(stderr[peak], stderr[2])  # about 4 are expected
    assert error[peak] - error[-1] > 4 * math.hypot(stderr[peak], stderr[-1])
    (note,) = curve.notes
    assert note.startswith("the curve is not monotonic: the error rises with more examples near nu = 0.")
    assert 0.4 <= float(note.rsplit(" ", 1)[1]) <= 0.8


def test_matched_curves_fall() -> None:
    curve = published(1e-4, LOCAL, [0.1, 0.25, 0.5, 1.0, 3.0], vertices=100, graphs=6, datasets=2, rng=7)
    assert (np.diff(curve.error) < 0).all()
    assert curve.notes == ()


def test_disjoint_groups_add_up_to_the_whole() -> None:
    degrees = [f"degree={k}" for k in range(16)]
    curve = published(
        0.1, GLOBAL, [0.3, 1.0], vertices=60, graphs=5, datasets=2, rng=3, among=["giant", "small", *degrees]
    )
    for groups in (["giant", "small"], degrees):
        total = sum(np.nan_to_num(curve.details[f"share {g}"] * curve.details[f"error {g}"]) for g in groups)
        np.testing.assert_allclose(total, curve.error, rtol=1e-12)
        np.testing.assert_allclose(sum(curve.details[f"share {g}"] for g in groups), 1.0, rtol=1e-12)
    assert "no vertex belongs to the group 'degree=15'" in curve.notes
    assert np.isnan(curve.details["error degree=15"]).all()


def test_the_order_of_nu_does_not_matter() -> None:
    problem = GraphProblem(RANDOM, LOCAL, 0.1)
    up = learning_curve(problem, "simulation", nu=[0.0, 0.5, 2.0], datasets=5, rng=3)
    down = learning_curve(problem, "simulation", nu=[2.0, 0.0, 0.5], datasets=5, rng=3)
    np.testing.assert_allclose(down.error, up.error[[2, 0, 1]], rtol=1e-13)
    assert down.nu.tolist() == [2.0, 0.0, 0.5]


def test_all_data_sets_are_on_the_graph_that_is_given() -> None:
    curve = learning_curve(GraphProblem(RANDOM, GLOBAL, 0.1), "simulation", nu=[0.0, 1.0], datasets=7, rng=3)
    assert stderr_of(curve)[0] < 1e-15  # the prior is the same for all
    assert (curve.options, curve.diagnostics) == ({"datasets": 7}, {"drawn": 7})
    ensemble = published(0.1, RandomWalkKernel(10, 2.0, "none"), [0.0], vertices=40, graphs=5, datasets=3, rng=3)
    assert stderr_of(ensemble)[0] > 0
    assert ensemble.options == {"vertices": 40, "datasets": 3, "graphs": 5}
    assert ensemble.diagnostics == {"drawn": 5}


@pytest.mark.slow
def test_fractions_of_an_example_are_exact_on_average() -> None:
    assert examples([0.26], 10, 0.39)[0] == 2
    assert examples([0.26], 10, 0.41)[0] == 3
    np.testing.assert_array_equal(examples([0.1, 0.7, 1.1, 2.3], 10, 0.999999), [1, 7, 11, 23])
    empty = Graph.from_edges([], vertices=2)  # two vertices: the error is known for every number of examples
    problem = GraphProblem(empty, RandomWalkKernel(1, normalise="global"), 0.5)  # globally normalised: prior variance 1
    curve = learning_curve(problem, "simulation", nu=[0.5, 0.65, 1.0], datasets=1000, rng=1)
    assert curve.stderr is not None
    one, two = (1 + 1 / 3) / 2, 0.5 * 1 / 3 + 0.5 * (1 + 1 / 5) / 2
    assert abs(curve.error - [one, 0.7 * one + 0.3 * two, two])[1] < 5 * curve.stderr[1]
    np.testing.assert_allclose(curve.error[0], one, rtol=1e-12)


def test_a_million_examples_per_vertex_are_no_more_work() -> None:
    problem = GraphProblem(RANDOM, RandomWalkKernel(3, 2.3, "global"), 0.1)
    curve = learning_curve(problem, "simulation", nu=[1e6, 1e9], datasets=3, rng=3)
    np.testing.assert_allclose(curve.error, [1e-7, 1e-10], rtol=1e-4)  # noise / nu
    with pytest.raises(InputError, match=r"nu must be at most 1e\+09"):
        learning_curve(problem, "simulation", nu=[1e15], datasets=3, rng=3)


# --- standard errors -------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_standard_errors_are_honest() -> None:
    # 50 runs: the spread of their means, known to 10 %, is what each of them says; graphs differ more than data sets
    runs = [
        published(0.1, GLOBAL, [0.2, 1.0], vertices=16, graphs=6, datasets=4, rng=seed, among=["degree=2"])
        for seed in range(50)
    ]
    means, stderrs = {}, {}
    means["all"] = np.array([run.error for run in runs])
    stderrs["all"] = np.array([stderr_of(run) for run in runs])
    means["variance"] = np.array([run.details["variance"] for run in runs])
    stderrs["variance"] = np.array([run.details["variance_stderr"] for run in runs])
    means["group"] = np.array([run.details["error degree=2"] for run in runs])
    stderrs["group"] = np.array([run.details["stderr degree=2"] for run in runs])
    for name, mean in means.items():
        ratio = mean.std(axis=0, ddof=1) / np.sqrt((stderrs[name] ** 2).mean(axis=0))
        assert (abs(np.log(ratio)) < 0.4).all(), (name, ratio)


@pytest.mark.slow
def test_standard_errors_on_a_given_graph_are_honest() -> None:
    problem = GraphProblem(FOREST, LOCAL, 0.1)
    runs = [
        learning_curve(problem, "simulation", nu=[0.5, 2.0], datasets=12, rng=seed, among=["ends"])
        for seed in range(50)
    ]
    for means, stderrs in (
        ([run.error for run in runs], [stderr_of(run) for run in runs]),
        ([run.details["error ends"] for run in runs], [run.details["stderr ends"] for run in runs]),
    ):
        ratio = np.std(means, axis=0, ddof=1) / np.sqrt((np.array(stderrs) ** 2).mean(axis=0))
        assert (abs(np.log(ratio)) < 0.4).all()


def test_quantiles_are_over_data_sets_or_graphs() -> None:
    given, drawn = GraphProblem(RANDOM, LOCAL, 0.1), GraphProblem(ErdosRenyi(3), LOCAL, 0.1)
    for problem, options in (
        (given, {"datasets": 9}),
        (drawn, {"vertices": 30, "graphs": 9, "datasets": 2}),
    ):
        curve = learning_curve(problem, "simulation", nu=[0.5], rng=5, **options)
        means = vertex_variances(problem, 0.5, rng=5, **options).values.reshape(9, -1).mean(axis=1)  # type: ignore[arg-type]
        assert len(np.unique(means)) == 9
        for name, level in (("q05", 0.05), ("q25", 0.25), ("q50", 0.5), ("q75", 0.75), ("q95", 0.95)):
            assert curve.details[name][0] == pytest.approx(np.quantile(means, level), rel=1e-11)


# --- the distribution over vertices ----------------------------------------------------------------------------------


def test_local_variances_are_the_curve_taken_apart() -> None:
    # the same seed draws the same data sets
    for problem in (
        GraphProblem(ErdosRenyi(3), LOCAL, 0.1),
        GraphProblem(ErdosRenyi(3), LOCAL, 0.1, Teacher(GLOBAL, 0.2)),
    ):
        options = {"vertices": 50, "graphs": 4, "datasets": 3, "rng": 6}
        found = vertex_variances(problem, 0.8, **options)  # type: ignore[arg-type]
        curve = learning_curve(problem, "simulation", nu=[0.8], among=["degree=2"], **options)
        assert len(found.values) == 50 * 4 * 3
        assert found.mean == pytest.approx(curve.error[0], rel=1e-12)
        assert found.of_degree(2).mean == pytest.approx(curve.details["error degree=2"][0], rel=1e-12)
        within = found.values.reshape(12, 50).var(axis=1).mean()
        assert within == pytest.approx(curve.details["variance"][0], rel=1e-11)
        assert found.variance == pytest.approx(found.values.var(), rel=1e-12)


def test_at_nu_zero_local_variances_are_the_prior_ones() -> None:
    found = vertex_variances(GraphProblem(RANDOM, GLOBAL, 0.1), 0.0, datasets=2, rng=1)
    np.testing.assert_array_equal(found.by_vertex, GLOBAL.on(RANDOM).variances)
    np.testing.assert_array_equal(found.degrees[:40], RANDOM.neighbours)
    assert found.mean == pytest.approx(1.0, rel=1e-13)
    assert vertex_variances(GraphProblem(RANDOM, LOCAL, 0.1), 0.0, datasets=2, rng=1).variance == 0


@pytest.mark.parametrize("teacher", [None, Teacher(GLOBAL, 0.4)], ids=["matched", "taught"])
@pytest.mark.parametrize("graph", [RANDOM, ErdosRenyi(3)], ids=["given", "drawn"])
def test_one_data_set_is_the_first_of_many(graph: Graph | ErdosRenyi, teacher: Teacher | None) -> None:
    problem = GraphProblem(graph, LOCAL, 0.1, teacher)
    options: dict[str, Any] = {"rng": 4} | ({} if graph is RANDOM else {"vertices": 40})
    drawn, counts, error = one_data_set(problem, 0.7, **options)
    assert int(counts.sum()) == 28
    C, true = (kernel.on(drawn).matrix() for kernel in (LOCAL, GLOBAL))
    matched = posterior_variances(C, counts, 0.1)
    expected = matched if teacher is None else mismatched_errors(C, true, counts, 0.1, 0.4)
    np.testing.assert_allclose(error, expected, rtol=1e-12)
    many = vertex_variances(problem, 0.7, datasets=2, **options | ({} if graph is RANDOM else {"graphs": 2}))
    np.testing.assert_allclose(error, many.values[:40], rtol=1e-12)
    np.testing.assert_array_equal(drawn.neighbours, many.degrees[:40])


def test_two_vertices_that_look_alike_learn_alike() -> None:
    star = Graph.from_edges([(0, k) for k in range(1, 6)])
    found = vertex_variances(GraphProblem(star, LOCAL, 0.1), 1.0, datasets=300, rng=2)
    values = found.values.reshape(300, 6)
    np.testing.assert_allclose(found.by_vertex, values.mean(axis=0), rtol=1e-13)
    stderr = values.std(axis=0, ddof=1) / math.sqrt(300)
    assert (abs(found.by_vertex[1:] - found.by_vertex[1:].mean()) < 4 * stderr[1:]).all()
    assert found.by_vertex[0] < found.by_vertex[1:].mean() - 4 * stderr.max()


def test_a_distribution_has_quantiles_and_a_histogram() -> None:
    found = vertex_variances(GraphProblem(RANDOM, GLOBAL, 0.1), 0.5, datasets=30, rng=2)
    for bins in (10, np.linspace(0, 10, 33)):
        density, edges = found.histogram(bins)
        assert (density * np.diff(edges)).sum() == pytest.approx(1.0, rel=1e-12)
    for share in (0.05, 0.5, 0.95):
        assert (found.values < found.quantile(share)).mean() == pytest.approx(share, abs=0.01)
    assert (np.diff(found.quantile(np.linspace(0, 1, 11))) >= 0).all()
    assert found.quantile(0.0) == found.values.min()
    assert found.quantile(1.0) == found.values.max()
    assert found.quantile(0.5) == pytest.approx(np.median(found.values))
    assert list(found.to_frame().columns) == ["vertex", "variance", "degree"]
    assert "nu = 0.5, 1200 values" in repr(found)


def test_weights_count() -> None:
    problem = GraphProblem(FOREST, LOCAL, 0.1)
    values, degrees = np.array([3.0, 1.0, 2.0, 5.0]), np.array([1.0, 1.0, 2.0, 2.0])
    found = VarianceDistribution(values, degrees, problem, 1.0, weights=np.array([0.1, 0.2, 0.3, 0.4]))
    repeated = np.repeat(values, [1, 2, 3, 4])
    assert found.mean == pytest.approx(repeated.mean())
    assert found.variance == pytest.approx(repeated.var())
    # in order 1, 2, 3, 5 with their middles at 0.1, 0.35, 0.55, 0.8
    np.testing.assert_allclose(found.quantile(np.array([0.1, 0.35, 0.45, 0.8, 1.0])), [1.0, 2.0, 2.5, 5.0, 5.0])
    assert found.of_degree(2).mean == pytest.approx((2 * 3 + 5 * 4) / 7)
    weights = found.of_degree(2).weights
    assert weights is not None
    np.testing.assert_allclose(weights, [3 / 7, 4 / 7])
    density, edges = found.histogram(3)
    assert (density * np.diff(edges)).sum() == pytest.approx(1.0)
    assert density[0] * (edges[1] - edges[0]) == pytest.approx(0.5)  # 1 and 2 lie in the first of three
    assert list(found.to_frame().columns) == ["variance", "degree", "weight"]
    with pytest.raises(ValueError, match="read-only"):
        found.values[0] = 1.0


def test_a_distribution_says_what_it_does_not_have() -> None:
    found = vertex_variances(GraphProblem(RANDOM, GLOBAL, 0.1), 0.5, datasets=2, rng=2)
    with pytest.raises(InputError, match="no vertex here has the degree 39"):
        found.of_degree(39)
    chosen = found.of_degree(2).by_vertex
    np.testing.assert_array_equal(np.isnan(chosen), RANDOM.neighbours != 2)
    drawn = vertex_variances(GraphProblem(ErdosRenyi(3), GLOBAL, 0.1), 0.5, vertices=20, graphs=2, datasets=1, rng=2)
    with pytest.raises(InputError, match="only a given graph has vertices to tell apart"):
        _ = drawn.by_vertex
    with pytest.raises(InputError, match="nu must be at least 0, got -1"):
        vertex_variances(GraphProblem(RANDOM, GLOBAL, 0.1), -1.0)


# --- prediction vectors ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TAUGHT)
def test_prediction_vectors_are_their_definition(name: str) -> None:
    student, teacher, noise, true_noise = TAUGHT[name]
    at = np.random.default_rng(4).integers(40, size=30)
    problem = GraphProblem(RANDOM, student, noise, Teacher(teacher, true_noise))
    found = prediction_vectors(problem, at)
    C, true = student.on(RANDOM).matrix(), teacher.on(RANDOM).matrix()
    K = C[np.ix_(at, at)] + noise * np.eye(30)
    K0 = true[np.ix_(at, at)] + true_noise * np.eye(30)
    M, S = found.vectors, found.covariance
    np.testing.assert_allclose(M @ M.T, C[:, at] @ np.linalg.solve(K, C[at]), rtol=1e-8, atol=1e-9)
    root = np.real(sqrtm(K))
    np.testing.assert_allclose(M @ root, C[:, at], rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(root @ S @ root, K0, rtol=1e-8, atol=1e-9)
    np.testing.assert_array_equal(found.weights, S.diagonal())
    assert found.weights.sum() == pytest.approx(np.trace(np.linalg.solve(K, K0)), rel=1e-9)
    # the error of the student: true variance, minus twice the overlap, plus the power of the prediction
    overlap = np.einsum("ij,ji->i", M, np.linalg.solve(root, true[at]))
    error = true.diagonal() - 2 * overlap + np.einsum("ij,jk,ik->i", M, S, M)
    expected = mismatched_errors(C, true, np.bincount(at, minlength=40), noise, true_noise)
    np.testing.assert_allclose(error, expected, rtol=1e-6, atol=1e-9)


def test_pseudo_outputs_have_the_covariance_that_is_told() -> None:
    # teachers drawn: every entry within 5 standard errors
    student, teacher, noise, true_noise = TAUGHT["shorter walk, wrong noise"]
    rng = np.random.default_rng(5)
    at = rng.integers(11, size=8)
    found = prediction_vectors(GraphProblem(FOREST, student, noise, Teacher(teacher, true_noise)), at)
    many = 40_000
    f = rng.standard_normal((many, 11)) @ np.real(sqrtm(teacher.on(FOREST).matrix())).T
    y = f[:, at] + math.sqrt(true_noise) * rng.standard_normal((many, 8))
    K = student.on(FOREST).matrix()[np.ix_(at, at)] + noise * np.eye(8)
    z = np.linalg.solve(np.real(sqrtm(K)), y.T)
    products = z[:, None] * z[None, :]
    stderr = products.std(axis=2, ddof=1) / math.sqrt(many)
    assert (abs(products.mean(axis=2) - found.covariance) < 5 * stderr).all()


def test_a_matched_teacher_weighs_all_examples_alike() -> None:
    at = [3, 3, 0, 17, 5]
    for problem in (GraphProblem(RANDOM, LOCAL, 1e-4), GraphProblem(RANDOM, LOCAL, 1e-4, Teacher(LOCAL, 1e-4))):
        found = prediction_vectors(problem, at)
        np.testing.assert_allclose(found.weights, 1.0, rtol=1e-8)
        np.testing.assert_allclose(found.covariance, np.eye(5), atol=1e-8)
        assert found.examples.tolist() == at
        assert found.problem is problem


def test_prediction_vectors_know_where_they_live() -> None:
    found = prediction_vectors(GraphProblem(FOREST, LOCAL, 0.1), [9, 7])
    assert found.centre(0) == 9
    assert found.localisation(0) == pytest.approx(1.0)
    assert found.centre(1) in (7, 8)
    assert found.localisation(1) == pytest.approx(2.0)
    many = PredictionVectors(
        np.array([1.0, 5.0, 5.0, 9.0]), found.vectors, found.examples, found.covariance, found.problem
    )
    assert many.largest().tolist() == [3]
    assert many.largest(3).tolist() == [3, 1, 2]
    assert many.largest(99).tolist() == [3, 1, 2, 0]


def dangling(graph: Graph) -> IntArray:
    """Return the vertices of chains that end in a vertex with one neighbour, with those they hang on."""
    found = set()
    for end in np.flatnonzero(graph.neighbours == 1).tolist():
        before, at = -1, end
        while True:
            found.add(at)
            ahead = [j for j in np.flatnonzero(graph.adjacency[[at]].toarray()[0]).tolist() if j != before]
            if graph.neighbours[at] > 2 or not ahead:
                break
            before, at = at, ahead[0]
    return np.array(sorted(found))


@pytest.mark.parametrize(("student", "teacher"), [(LOCAL, GLOBAL), (GLOBAL, LOCAL)], ids=["local", "global"])
def test_dangling_ends_make_a_mismatched_student_fail(student: GraphKernel, teacher: GraphKernel) -> None:
    # Urry & Sollich 2013, figures 11 and 12; isolated vertices weigh much, too, but predict nothing else
    graph = ErdosRenyi(3).sample(250, 5)
    at = np.random.default_rng(5).integers(250, size=150)
    found = prediction_vectors(GraphProblem(graph, student, 1e-4, Teacher(teacher, 1e-4)), at)
    ends = dangling(graph)
    assert len(ends) < 0.35 * 250
    joined = [int(k) for k in found.largest(40) if not graph.isolated[at[k]]][:5]
    assert np.isin([found.centre(k) for k in joined], ends).sum() >= 4
    assert found.centre(joined[0]) in ends
    assert found.weights[joined[0]] > 50 * np.median(found.weights)
    assert all(found.localisation(k) < 12 for k in joined)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ([], "at least one"),
        ([0, 40], "between 0 and 39"),
        ([-1], "between 0 and 39"),
        ([0.0, 1.0], "vertex numbers"),
        ([[0, 1]], "vertex numbers"),
        ([True, False], "vertex numbers"),
        (["a"], "vertex numbers"),
        (None, "vertex numbers"),
        (np.zeros(5001, dtype=np.int64), "at most 5000 examples, got 5001"),
    ],
    ids=repr,
)
def test_prediction_vectors_refuse_what_are_no_examples(wrong: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        prediction_vectors(GraphProblem(RANDOM, LOCAL, 0.1), wrong)


def test_prediction_vectors_refuse_problems_without_a_graph_or_noise() -> None:
    with pytest.raises(InputError, match="a problem on a given graph: draw one with"):
        prediction_vectors(GraphProblem(RandomRegular(3), LOCAL, 0.1), [0])
    with pytest.raises(InputError, match="a problem on a given graph"):
        prediction_vectors(Problem(RBF(0.1), Torus(1), 0.1), [0])
    with pytest.raises(InputError, match="need noise greater than 0"):
        prediction_vectors(GraphProblem(RANDOM, LOCAL, 0.0), [0])


def test_prediction_vectors_survive_noise_below_rounding() -> None:
    # at a = 2 the covariance of a tree is singular: only the noise, 1e-20, makes it regular
    at = [0, 0, 1, 2, 3, 4, 5, 6]
    found = prediction_vectors(GraphProblem(FOREST, LOCAL, 1e-20), at)
    without = posterior_variances(LOCAL.on(FOREST).matrix(), np.bincount(at, minlength=11), 0.0)
    np.testing.assert_allclose(1 - (found.vectors**2).sum(axis=1), without, atol=1e-9)
