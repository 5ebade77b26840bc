"""Labels on a graph: evidence, predictions and label propagation against formulas retyped, and against scikit-learn."""

from __future__ import annotations

import math
from typing import Any

import networkx as nx
import numpy as np
import pytest
from scipy.integrate import dblquad
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import Kernel
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

import gpcurves as gpc
from gpcurves.errors import InputError
from gpcurves.forecasting.networks.candidates import choose_kernels, make_candidates, measure_diameter
from gpcurves.forecasting.networks.curves import Route, simulate
from gpcurves.forecasting.networks.evidence import JITTER, Setting, log_evidence, solve
from gpcurves.forecasting.networks.observed import Observed
from gpcurves.forecasting.networks.posterior import default_settings, find_posterior
from gpcurves.forecasting.networks.simple import LabelPropagation, find_share
from gpcurves.numerics.validation import FloatArray

GRID = gpc.as_graph(nx.convert_node_labels_to_integers(nx.grid_2d_graph(6, 7)))
KERNEL = gpc.MaternGraphKernel(4.0, 2.0)


def draw(graph: gpc.Graph, kernel: Any, noise: float, seed: int) -> tuple[FloatArray, FloatArray]:
    """Return a function from the prior at all vertices, and noisy labels."""
    rng = np.random.default_rng(seed)
    C = kernel.on(graph).matrix()
    f = np.linalg.cholesky(C + 1e-10 * np.eye(len(C))) @ rng.standard_normal(len(C))
    return f, f + math.sqrt(noise) * rng.standard_normal(len(C))


def labels(count: int, seed: int = 0) -> Observed:
    y = 5 + 3 * draw(GRID, KERNEL, 0.1, seed)[1]
    pick = np.random.default_rng(seed).permutation(GRID.vertices)[:count]
    return Observed.collect(GRID, pick, y[pick])


@pytest.mark.slow
def test_evidence_is_the_integral_over_mean_and_variance() -> None:
    """Differences between settings, against numerical integrals of the normal density."""
    observed = labels(4)
    C = KERNEL.on(GRID).matrix()[np.ix_(observed.vertices, observed.vertices)]
    settings = [Setting(0.05), Setting(2.0)]
    found = log_evidence(C, observed, settings)

    def integral(noise: float) -> float:
        A = C + (noise + JITTER) * np.eye(4)
        inverse, det = np.linalg.inv(A), np.linalg.det(A)

        def density(mean: float, log_v: float) -> float:
            away, v = observed.means - mean, math.exp(log_v)
            return math.exp(-0.5 * away @ inverse @ away / v) / math.sqrt(det * v**4)

        return float(dblquad(density, -8, 9, -400, 400, epsabs=1e-12)[0])

    assert found[0] - found[1] == pytest.approx(math.log(integral(0.05) / integral(2.0)), abs=2e-4)


@pytest.mark.parametrize("setting", [Setting(0.1), Setting(0.1, 4.0), Setting(0.1, None, 5.0), Setting(0.3, 9.0, 4.0)])
def test_repeated_labels_count_like_separate_ones(setting: Setting) -> None:
    """The mean label of a vertex with several, against the dense matrix of all of them; differences of two noises."""
    vertices = np.array([0, 0, 0, 7, 9, 9, 20, 33])
    y = np.random.default_rng(1).normal(5, 2, len(vertices))
    observed = Observed.collect(GRID, vertices, y)
    C = KERNEL.on(GRID).matrix()
    other = Setting(3 * setting.noise, setting.variance, setting.mean)

    def naive(each: Setting) -> float:
        A = C[np.ix_(vertices, vertices)] + each.noise * np.eye(len(y))
        inverse, ones = np.linalg.inv(A), np.ones(len(y))
        result, free = -0.5 * np.linalg.slogdet(A)[1], len(y)
        mean = each.mean
        if mean is None:
            total = ones @ inverse @ ones
            mean, free, result = float(ones @ inverse @ y / total), free - 1, result - 0.5 * math.log(total)
        squares = (y - mean) @ inverse @ (y - mean)
        if each.variance is None:
            return float(result - 0.5 * free * math.log(squares))
        return float(result - 0.5 * (free * math.log(each.variance) + squares / each.variance))

    block = C[np.ix_(observed.vertices, observed.vertices)]
    found = log_evidence(block, observed, [setting, other])
    assert found[0] - found[1] == pytest.approx(naive(setting) - naive(other), abs=1e-5)
    A = C[np.ix_(vertices, vertices)] + setting.noise * np.eye(len(y))
    inverse, ones = np.linalg.inv(A), np.ones(len(y))
    mean = setting.mean if setting.mean is not None else ones @ inverse @ y / (ones @ inverse @ ones)
    across = C[:, vertices]
    solution = solve(block, observed, setting)
    expected = across @ inverse @ (y - mean) + mean
    got, variance = solution.predict(C[:, observed.vertices], np.diag(C))
    np.testing.assert_allclose(got, expected, rtol=1e-6)
    unknown = 0.0 if setting.mean is not None else (1 - across @ inverse @ ones) ** 2 / (ones @ inverse @ ones)
    naive_variance = np.diag(C) - np.einsum("ij,jk,ik->i", across, inverse, across) + unknown
    np.testing.assert_allclose(variance, solution.variance * naive_variance, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("setting", [Setting(0.2, 4.0), Setting(0.2, 4.0, 5.0)])
def test_leaving_out_is_what_it_says(setting: Setting) -> None:
    observed = labels(12)
    C = KERNEL.on(GRID).matrix()[np.ix_(observed.vertices, observed.vertices)]
    mean, variance = solve(C, observed, setting).leave_out(observed.means)
    for i in range(12):
        others = np.delete(np.arange(12), i)
        alone = solve(C[np.ix_(others, others)], observed.take(others), setting)
        expected, spread = alone.predict(C[[i]][:, others], C[[i], [i]])
        assert mean[i] == pytest.approx(expected[0], rel=1e-8)
        assert variance[i] == pytest.approx(spread[0] + 4.0 * (0.2 + JITTER), rel=1e-8)


def test_known_errors_are_the_noise_of_their_labels() -> None:
    vertices, y, errors = np.array([3, 3, 10, 30]), np.array([1.0, 2.0, 0.5, -1.0]), np.array([0.1, 0.2, 2.0, 0.5])
    observed = Observed.collect(GRID, vertices, y, errors)
    weights = errors[:2] ** -2
    assert observed.means[0] == pytest.approx(float(weights @ y[:2] / weights.sum()))
    assert observed.known is not None
    assert observed.known[0] == pytest.approx(1 / weights.sum())
    C = KERNEL.on(GRID).matrix()
    setting = Setting(0.0, 2.0, 0.0)
    found = solve(C[np.ix_(observed.vertices, observed.vertices)], observed, setting)
    A = 2 * C[np.ix_(vertices, vertices)] + np.diag(errors**2)
    np.testing.assert_allclose(
        found.predict(C[:, observed.vertices], np.diag(C))[0],
        2 * C[:, vertices] @ np.linalg.solve(A, y),
        rtol=1e-6,
    )
    model = gpc.GraphRegressor(GRID).fit(vertices, y, errors)
    assert np.isfinite(model.predict()).all()


def test_labels_are_propagated_by_averages_of_neighbours() -> None:
    observed = labels(9)
    found = LabelPropagation.fit(GRID, observed.vertices, observed.means)
    assert found is not None
    A = GRID.adjacency.toarray()
    averages = A @ found.values / A.sum(axis=1)
    unlabelled = np.setdiff1d(np.arange(GRID.vertices), observed.vertices)
    np.testing.assert_allclose(found.values[unlabelled], averages[unlabelled], rtol=1e-10)
    np.testing.assert_array_equal(found.values[observed.vertices], observed.means)
    for i, left_out in enumerate(found.leave_out()):
        others = np.delete(np.arange(9), i)
        again = LabelPropagation.fit(GRID, observed.vertices[others], observed.means[others])
        assert again is not None
        assert left_out == pytest.approx(again.values[observed.vertices[i]], rel=1e-9)
        np.testing.assert_allclose(found.predict(others, np.array([i])), left_out, rtol=1e-6)
        np.testing.assert_allclose(found.leave_out_of(others, np.array([i])), again.leave_out(), rtol=1e-6)


def test_a_part_without_labels_gets_their_mean() -> None:
    graph = gpc.Graph.from_edges([(0, 1), (1, 2), (2, 3), (4, 5)])
    found = LabelPropagation.fit(graph, np.array([0, 2, 3]), np.array([1.0, 2.0, 6.0]))
    assert found is not None
    np.testing.assert_allclose(found.values[4:], 3.0)
    model = gpc.GraphRegressor(graph).fit([0, 2, 3], [1.0, 2.0, 6.0])
    assert any("2 vertices are in components of the graph without labels" in note for note in model.notes_)
    low, high = model.predict_interval()
    assert (high - low)[4] > (high - low)[1]


def test_the_share_of_the_process_follows_labels_left_out() -> None:
    rng = np.random.default_rng(0)
    y = rng.normal(size=200)
    near, far = y + 0.1 * rng.normal(size=200), y + rng.normal(size=200)
    assert find_share(y, near, far) > 0.95
    assert find_share(y, far, near) < 0.1
    assert find_share(y, near, near) == find_share(-y, near, near)  # nothing to choose: the usual one


def test_candidates_are_normalised_as_they_say() -> None:
    observed = labels(6)
    seen = set()
    for candidate in make_candidates(GRID, observed.vertices, choose_kernels(GRID)):
        raw = candidate.raw.kernel.normalised("none").on(GRID).matrix()
        root = np.sqrt(np.diag(raw)) if candidate.local else np.full(GRID.vertices, math.sqrt(candidate.average))
        expected = raw / np.outer(root, root)
        np.testing.assert_allclose(candidate.block, expected[np.ix_(observed.vertices, observed.vertices)], atol=1e-9)
        np.testing.assert_allclose(
            candidate.between(np.arange(5), observed.vertices), expected[:5, observed.vertices], atol=1e-9
        )
        np.testing.assert_allclose(candidate.variances(np.arange(5)), np.diag(expected)[:5], atol=1e-9)
        seen.add((type(candidate.kernel).__name__, candidate.local))
    assert len(seen) == 4
    assert measure_diameter(GRID) == 11


@pytest.mark.parametrize("noise", [1e-4, 0.5])
def test_the_noise_is_found_again(noise: float) -> None:
    """For smooth functions; rough ones look like noise, since a graph has no distances below an edge."""
    graph = gpc.as_graph(nx.convert_node_labels_to_integers(nx.grid_2d_graph(12, 12)))
    found = []
    for seed in range(3):
        y = draw(graph, gpc.DiffusionKernel(4.0), noise, seed)[1]
        pick = np.random.default_rng(seed).permutation(144)[:90]
        observed = Observed.collect(graph, pick, y[pick])
        candidates = list(make_candidates(graph, observed.vertices, choose_kernels(graph)))
        found.append(find_posterior(candidates, observed, default_settings(observed)).noise_variance)
    assert np.median(found) < 0.01 if noise < 0.1 else 0.1 < np.median(found) < 1.0


@pytest.mark.slow
def test_intervals_hold_for_functions_from_the_prior() -> None:
    graph = gpc.as_graph(nx.convert_node_labels_to_integers(nx.grid_2d_graph(12, 12)))
    inside = []
    for seed in range(12):
        y = 100 + 20 * draw(graph, gpc.MaternGraphKernel(6.0, 2.0), 0.05, seed)[1]
        pick = np.random.default_rng(seed).permutation(144)
        low, high = gpc.GraphRegressor(graph).fit(pick[:50], y[pick[:50]]).predict_interval(pick[50:])
        inside.append(float(np.mean((low <= y[pick[50:]]) & (y[pick[50:]] <= high))))
    assert abs(np.mean(inside) - 0.9) < 3 * np.std(inside) / math.sqrt(12) + 0.01


@pytest.mark.parametrize("unknown", [True, False])
def test_curves_are_variances_after_so_many_labels(unknown: bool) -> None:
    """Every n from one factorisation, against a factorisation for some n."""
    observed = labels(10)
    candidate = next(iter(make_candidates(GRID, observed.vertices, [(KERNEL, 1.0)])))
    setting = Setting(0.1, None, None if unknown else 5.0)
    posterior = find_posterior([candidate], observed, [setting])
    route = Route.draw(observed, GRID.vertices, np.random.default_rng(0))
    assert len(np.unique(np.concatenate((route.order, route.tests)))) == GRID.vertices
    curve = simulate(posterior.members[0], route, 2.0)
    variance = posterior.members[0].solution.variance
    for n in (1, 10, 20):
        here = Observed.collect(GRID, route.order[:n], np.arange(float(n)))
        block = candidate.between(here.vertices, here.vertices)
        alone = solve(block, here, Setting(0.1, variance, setting.mean))
        expected = alone.predict(candidate.between(route.tests, here.vertices), candidate.variances(route.tests))[1]
        assert curve.error[n] == pytest.approx(min(float(expected.mean()) / 4, float(curve.error[0])), rel=1e-6)


class _Table(Kernel):  # type: ignore[misc]
    """A covariance matrix as a kernel of scikit-learn."""

    def __init__(self, C: FloatArray) -> None:
        self.C = C

    def __call__(self, X: FloatArray, Y: FloatArray | None = None, eval_gradient: bool = False) -> FloatArray:
        one = X[:, 0].astype(int)
        return np.asarray(self.C[np.ix_(one, one if Y is None else Y[:, 0].astype(int))])

    def diag(self, X: FloatArray) -> FloatArray:
        return np.asarray(self.C.diagonal()[X[:, 0].astype(int)])

    def is_stationary(self) -> bool:
        return False


def test_the_regressor_is_that_of_scikit_learn_if_all_is_given() -> None:
    """With vertices that repeat, and with several that were never seen."""
    rng = np.random.default_rng(3)
    X = rng.integers(GRID.vertices, size=(25, 1))
    assert len(np.unique(X)) < 25
    y = rng.normal(2.0, 1.0, 25)
    ours = gpc.GraphRegressor(GRID, KERNEL, 0.3, mean=0.0, variance=1.0).fit(X, y)
    theirs = GaussianProcessRegressor(_Table(KERNEL.on(GRID).matrix()), alpha=0.3, optimizer=None).fit(X, y)
    mean, std = theirs.predict(np.arange(GRID.vertices)[:, None], return_std=True)
    ours_mean, ours_std = ours.predict(return_std=True)
    np.testing.assert_allclose(ours_mean, mean, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(ours_std, std, rtol=1e-5)
    np.testing.assert_allclose(ours.predict(X), ours_mean[X[:, 0]], rtol=1e-12)
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y), rel=1e-5)


def test_the_regressor_knows_names_and_units() -> None:
    edges = [(0, 1), (1, 2), (2, 3), (3, 4)]
    plain, named = gpc.Graph.from_edges(edges), gpc.Graph.from_edges(edges, labels="abcde")
    first = gpc.GraphRegressor(plain).fit([0, 2, 4], [1.0, 2.0, 4.0])
    second = gpc.GraphRegressor(named).fit(["a", "c", "e"], [10.0, 20.0, 40.0])
    np.testing.assert_allclose(10 * first.predict(), second.predict(["a", "b", "c", "d", "e"]), rtol=1e-9)
    np.testing.assert_allclose(10 * first.predict([3.0]), second.predict(np.array(["d"])), rtol=1e-9)
    np.testing.assert_allclose(10 * np.array(first.predict_interval()), np.array(second.predict_interval()), rtol=1e-6)


def test_the_regressor_is_cloned_and_cross_validated_like_an_estimator() -> None:
    model = gpc.GraphRegressor(GRID, noise=0.2)
    assert not hasattr(clone(model), "posterior_")
    assert set(model.get_params()) == {"graph", "kernel", "noise", "mean", "variance", "attributes"}
    assert model.set_params(noise=0.5, kernel=KERNEL) is model
    assert "noise=0.5" in repr(model)
    y = draw(GRID, KERNEL, 0.01, 0)[1]
    folds = KFold(3, shuffle=True, random_state=0)  # parts of a grid in order would be far from each other
    search = GridSearchCV(gpc.GraphRegressor(GRID, KERNEL), {"noise": [0.01, 100.0]}, cv=folds).fit(np.arange(42), y)
    assert search.best_params_ == {"noise": 0.01}
    assert cross_val_score(gpc.GraphRegressor(GRID), np.arange(42), y, cv=folds).mean() > 0.05


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        ([0, 9], [1.0, 2.0], "vertices must be between 0 and 2, got 0 to 9"),
        ([-1], [1.0], "vertices must be between 0 and 2"),
        ([0.5], [1.0], "0.5"),
        ([np.inf], [1.0], "inf"),
        (["x"], [1.0], "x"),
        ([0, 1], [1.0], "one label per vertex, at least one, got 1 for 2"),
        ([], [], "at least one"),
        ([0], [np.nan], "labels must be finite"),
        ([0], ["much"], "labels must be numbers"),
        ([[0, 1]], [1.0], "vertices must be a list of numbers or names"),
        ([0, 1], [1.0, 2.0], "labels at 3 vertices or more are needed to fit a model, got 2"),
        ([0, 1, 2], [1.0, 1.0, 1.0], "all labels are equal"),
    ],
)
def test_the_regressor_refuses_what_it_cannot_learn(X: Any, y: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        gpc.GraphRegressor(gpc.Graph.from_edges([(0, 1), (1, 2)])).fit(X, y)


def test_the_regressor_says_what_is_missing() -> None:
    with pytest.raises(InputError, match="call fit first"):
        gpc.GraphRegressor(GRID).predict()
    with pytest.raises(InputError, match="graph"):
        gpc.GraphRegressor().fit([0], [1.0])
    model = gpc.GraphRegressor(GRID).fit([0, 5, 9], [1.0, 2.0, 4.0])
    with pytest.raises(InputError, match="between 0 and 41"):
        model.predict([99])
    with pytest.raises(InputError, match="one standard error per label"):
        model.fit([0, 5, 9], [1.0, 2.0, 4.0], [1.0, 0.0, 1.0])


def test_it_says_when_something_simpler_is_better() -> None:
    """Labels of pure noise: their mean is better than the process and than label propagation."""
    notes = []
    for seed in range(8):
        y = np.random.default_rng(seed).normal(size=GRID.vertices)
        model = gpc.GraphRegressor(GRID).fit(np.arange(0, 42, 2), y[::2])
        better = min(model.left_out_.mean, model.left_out_.propagation or math.inf) < 0.98 * model.left_out_.process
        assert better == any("has a lower leave-one-out error" in note for note in model.notes_)
        notes.append(better)
    assert any(notes)
