"""Classes at the vertices of a graph: against scikit-learn, and large graphs against dense algebra."""

from __future__ import annotations

from typing import Any

import networkx
import numpy as np
import pandas as pd
import pytest
from scipy import special, stats
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import Kernel as SklearnKernel

import gpcurves as gpc
from commands import command
from gpcurves.forecasting.networks import class_curves, classifier
from gpcurves.forecasting.networks.class_curves import carry, simulate_classes
from gpcurves.forecasting.networks.class_labels import ClassLabels, normalise
from gpcurves.forecasting.networks.class_laplace import find_modes
from gpcurves.forecasting.networks.class_mixture import PropagatedClasses, find_weights, weigh_parts
from gpcurves.forecasting.networks.class_posterior import find_sharpness, sharpen
from gpcurves.forecasting.networks.class_validation import HeldOutLabels
from gpcurves.forecasting.networks.curves import Route
from gpcurves.forecasting.networks.simple import LabelPropagation
from gpcurves.tables.classes import recognise_codes
from laws import TREE

pytestmark = pytest.mark.usefixtures("few_refits")  # no number here depends on more of them

KERNEL = gpc.RandomWalkKernel(p=6, a=2, normalise="local")


class FromMatrix(SklearnKernel):  # type: ignore[misc]
    """A kernel between vertices, by their numbers."""

    def __init__(self, C: Any = None) -> None:
        self.C = C

    def __call__(self, X: Any, Y: Any = None, eval_gradient: bool = False) -> Any:
        rows, columns = X[:, 0].astype(int), (X if Y is None else Y)[:, 0].astype(int)
        return self.C[np.ix_(rows, columns)]

    def diag(self, X: Any) -> Any:
        return self.C.diagonal()[X[:, 0].astype(int)]

    def is_stationary(self) -> bool:
        return False


def labelled(graph: Any, count: int, seed: int = 0) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    C = 4 * KERNEL.on(gpc.as_graph(graph)).matrix()
    f = np.linalg.cholesky(C + 1e-10 * np.eye(len(C))) @ rng.standard_normal(len(C))
    at = rng.permutation(len(C))[:count]
    return C, at, np.where(rng.random(count) < special.expit(f[at]), 1, -1)


def test_probabilities_are_those_of_scikit_learn() -> None:
    graph = networkx.karate_club_graph()
    C, at, y = labelled(graph, 14)
    ours = gpc.GraphClassifier(graph, KERNEL, variance=4.0).fit(at, y)
    theirs = GaussianProcessClassifier(FromMatrix(C), optimizer=None, max_iter_predict=1000).fit(at[:, None], y)
    every = np.arange(34)
    np.testing.assert_allclose(ours.predict_proba(), theirs.predict_proba(every[:, None]), atol=2e-3)
    np.testing.assert_array_equal(ours.predict(), theirs.predict(every[:, None]))


def test_several_labels_of_a_vertex_count_separately() -> None:
    C, at, _ = labelled(TREE, 3)
    vertices, y = [at[0], at[0], at[0], at[1], at[2]], [1, 1, -1, -1, 1]
    model = gpc.GraphClassifier(TREE, KERNEL, variance=4.0).fit(vertices, y)
    f = model.means_[vertices]
    gradient = np.array(y) * special.expit(-np.array(y) * f)
    np.testing.assert_allclose(C[:, vertices] @ gradient, model.means_, atol=1e-6)


@pytest.mark.parametrize("likelihood", [None, gpc.Probit(0.5)])
def test_large_graphs_agree_with_dense_algebra(likelihood: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    _, at, y = labelled(TREE, 7)
    dense = gpc.GraphClassifier(TREE, KERNEL, variance=4.0, likelihood=likelihood).fit(at, y)
    monkeypatch.setattr(classifier, "LARGEST", 0)
    large = gpc.GraphClassifier(TREE, KERNEL, variance=4.0, likelihood=likelihood).fit(at, y)
    np.testing.assert_allclose(large.predict_proba(), dense.predict_proba(), atol=1e-5)
    assert "belief propagation" in large.notes_[0]


def test_kernel_and_variance_are_chosen_and_beat_guessing() -> None:
    graph = networkx.grid_2d_graph(12, 12)
    names = list(graph)
    truth = np.array(["left" if column < 6 else "right" for _, column in names])
    at = np.random.default_rng(0).permutation(144)[:30]
    model = gpc.GraphClassifier(networkx.convert_node_labels_to_integers(graph)).fit(at, truth[at])
    rest = np.setdiff1d(np.arange(144), at)
    assert model.score(rest, truth[rest]) > 0.85
    assert model.variance_ > 1
    assert list(model.classes_) == ["left", "right"]
    copy = clone(model)
    assert copy.get_params()["variance"] == "fit"
    np.testing.assert_allclose(model.predict_proba().sum(axis=1), 1.0)


@pytest.mark.parametrize(
    ("y", "words"),
    [
        ([1, 2, 3], r"all 3 labels are different \(1, 2, 3\): classes need several vertices each"),
        ([1, 1, 1], "all labels are of one class, '1': there is nothing to learn"),
        ([1.0, np.nan, 2.0], "some are missing"),
        (["a", None, "b"], "some are missing"),
        ([1, -1], "one label per vertex, got 2 for 3"),
    ],
)
def test_labels_that_are_not_classes_are_refused(y: Any, words: str) -> None:
    with pytest.raises(gpc.InputError, match=words):
        gpc.GraphClassifier(TREE, KERNEL).fit([0, 1, 2], y)


def test_other_mistakes_are_refused() -> None:
    with pytest.raises(gpc.InputError, match="call fit first"):
        gpc.GraphClassifier(TREE).predict()
    with pytest.raises(gpc.InputError, match="likelihood must be one of classes"):
        gpc.GraphClassifier(TREE, KERNEL, likelihood=gpc.StudentT(3)).fit([0, 1], [1, -1])  # type: ignore[arg-type]
    with pytest.raises(gpc.InputError, match="variance must be greater than 0"):
        gpc.GraphClassifier(TREE, KERNEL, variance=0).fit([0, 1], [1, -1])


COLOURS = np.array(["blue", "green", "red"])


def coloured(count: int = 24) -> tuple[gpc.Graph, Any, Any]:
    """Return a square grid in three vertical stripes, and some of its vertices."""
    graph = gpc.as_graph(networkx.convert_node_labels_to_integers(networkx.grid_2d_graph(9, 9)))
    at = np.sort(np.random.default_rng(1).permutation(81)[:count])
    return graph, at, COLOURS[(np.arange(81) % 9) // 3]


def test_modes_and_beliefs_without_a_label_are_those_of_dense_algebra() -> None:
    graph, at, truth = coloured()
    labels = ClassLabels.gather(np.append(at, at[:2]), np.append(truth[at], ["red", "red"]))
    C = KERNEL.on(graph).matrix()[np.ix_(labels.vertices, labels.vertices)]
    offsets = np.array([-0.3, 0.1, 0.4])
    found = find_modes(np.array([2 * C, 9 * C]), labels, gpc.Logit(), offsets)
    for i, K in enumerate((2 * C, 9 * C)):
        for c in range(3):
            inverse = np.linalg.inv(K + 1e-12 * np.eye(len(K)))
            tau, nu = found.precision[i, c], found.linear[i, c]
            S = np.linalg.inv(inverse + np.diag(tau))
            f = S @ nu
            total, own = labels.counts.sum(axis=1), labels.counts[:, c]
            gradient = own - total * special.expit(f + offsets[c])
            np.testing.assert_allclose(inverse @ f, gradient, atol=1e-4)
            p = special.expit(f + offsets[c])
            np.testing.assert_allclose(tau, total * p * (1 - p), rtol=1e-3)
            variance = 1 / (1 / S.diagonal() - tau)
            np.testing.assert_allclose(found.left_variance[i, c], variance, rtol=1e-4)
            mean = variance * (f / S.diagonal() - nu) + offsets[c]
            np.testing.assert_allclose(found.left_mean[i, c], mean, atol=1e-3)


def test_probabilities_of_several_classes_are_in_proportion_to_odds() -> None:
    p = np.array([[0.5, 0.2], [0.25, 0.2], [0.8, 0.9]])
    odds = p / (1 - p)
    np.testing.assert_allclose(normalise(p), (odds / odds.sum(axis=0)).T)
    np.testing.assert_allclose(normalise(p[:1]), [[0.5, 0.5], [0.8, 0.2]])
    np.testing.assert_allclose(sharpen(np.array([[0.2, 0.8]]), 2.0), [[0.04 / 0.68, 0.64 / 0.68]])


def test_weights_of_averages_make_labels_left_out_most_probable() -> None:
    rng = np.random.default_rng(0)
    parts, counts, usual = (
        rng.dirichlet(np.ones(4), (3, 30)),
        np.eye(4)[rng.integers(0, 4, 30)],
        np.array([3.0, 1.5, 0.5]),
    )
    weights = find_weights(parts, counts, usual)

    def height(w: Any) -> float:
        return float((counts * np.log(np.einsum("k,kic->ic", w, parts))).sum() + usual @ np.log(w))

    for away in rng.normal(0, 0.01, (20, 3)):
        other = np.abs(weights + away)
        assert height(other / other.sum()) <= height(weights) + 1e-6
    alone = weigh_parts(parts[0], None, counts)
    assert alone[1] == 0
    assert alone.sum() == pytest.approx(1)


def test_sharpness_follows_labels_left_out() -> None:
    cautious = np.tile([0.6, 0.4], (50, 1))
    assert find_sharpness(cautious, np.tile([1.0, 0.0], (50, 1))) > 3  # always right
    assert find_sharpness(cautious, np.tile([0.5, 0.5], (50, 1))) < 0.6  # right half of the time


def test_three_classes_are_learnt_and_probabilities_add_up_to_one() -> None:
    graph, at, truth = coloured()
    model = gpc.GraphClassifier(graph).fit(at, truth[at])
    found = model.predict_proba()
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    rest = np.setdiff1d(np.arange(81), at)
    assert np.mean(model.predict(rest) == truth[rest]) > 0.8
    left = model.left_out_
    assert left is not None
    assert left.process[0] < left.majority[0]
    assert "label propagation" in model.findings[1]
    again = gpc.GraphClassifier(graph).fit(at[::-1], truth[at][::-1])
    np.testing.assert_array_equal(again.predict_proba(), found)


def test_labels_of_several_columns_are_propagated_one_by_one() -> None:
    graph, at, truth = coloured()
    labels = ClassLabels.gather(at, truth[at])
    whole = PropagatedClasses.fit(graph, labels)
    assert whole is not None
    for c in range(3):
        one = LabelPropagation.fit(graph, at, labels.proportions[:, c])
        assert one is not None
        np.testing.assert_allclose(whole.values[:, c], one.values, atol=1e-12)
        np.testing.assert_allclose(whole.leave_out()[:, c], np.clip(one.leave_out(), 0, 1), atol=1e-9)


def test_variances_of_curves_are_those_of_measurements_with_the_information_of_labels() -> None:
    graph, at, truth = coloured()
    posterior = gpc.GraphClassifier(graph).fit(at, truth[at]).posterior_
    member, rest = posterior.members[0], np.setdiff1d(np.arange(81), at)
    order = np.random.default_rng(2).permutation(len(at))
    route = Route(at[order], np.ones(len(at)), rest[:30], rest[30:])
    C = member.candidate.between(np.concatenate((route.order, route.tests)), route.order)
    prior = member.candidate.variances(np.concatenate((route.further, route.tests)))
    sizes = np.array([len(at), len(at) + 30])
    means, variances = class_curves._follow(member, 1, C, prior, order, sizes, len(at))
    v, belief = member.variance, member.beliefs[1]
    mean, left = member.infer(member.candidate.between(at, rest), member.candidate.variances(rest))
    np.testing.assert_allclose(means[0], mean[1, 30:], atol=1e-8)
    np.testing.assert_allclose(variances[0], left[1, 30:], atol=1e-8)
    z = np.random.default_rng(0).standard_normal(200_000)
    p = special.expit(mean[1, 0] + np.sqrt(left[1, 0]) * z)
    carried = carry(gpc.Logit(), mean[1, :30], left[1, :30])
    assert carried[0] == pytest.approx(np.mean(p * (1 - p)), rel=0.05)
    every = np.concatenate((at, rest[:30]))
    A = v * member.candidate.between(every, every) + np.diag(1 / np.append(belief.precision, carried))
    across = v * member.candidate.between(every, rest[30:])
    dense = v * member.candidate.variances(rest[30:]) - np.einsum("ij,ij->j", across, np.linalg.solve(A, across))
    np.testing.assert_allclose(variances[1], dense, atol=1e-6)
    rates, losses = simulate_classes(member, 1.0, route, order)
    assert (np.diff(rates.rate) <= 0).all()
    assert rates.floor <= rates.rate[-1] < losses.rate[0]
    np.testing.assert_allclose(rates(np.array([float(len(at))])), rates.rate[rates.n == len(at)] ** 2)


def test_errors_of_classes_count_a_vertex_once() -> None:
    counts = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    found = HeldOutLabels(np.array([0, 0, 1, 2]), np.array([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3], [0.6, 0.4]]), counts)
    missed, low, high = found.by_class()
    np.testing.assert_allclose(missed, [0.25, 1.0])
    np.testing.assert_allclose(low, stats.beta.ppf(0.05, [1.0, 1.5], [2.0, 0.5]))
    np.testing.assert_allclose(high, [stats.beta.ppf(0.95, 1.0, 2.0), 1.0])  # the interval holds what was seen
    np.testing.assert_array_equal(found.wrong, [0, 1, 0, 1])
    np.testing.assert_allclose(found.losses, -np.log([0.9, 0.2, 0.7, 0.4]))
    np.testing.assert_allclose(found.squares, [0.02, 1.28, 0.18, 0.72])


@pytest.fixture(scope="module")
def forecast() -> Any:
    graph, at, truth = coloured(40)
    return gpc.forecast(graph, pd.Series(truth[at], index=at, name="colour"), rng=0)


def test_a_forecast_of_classes_on_a_graph_answers_in_error_rates(forecast: Any, tmp_path: Any) -> None:
    table = forecast.at([40, 60])
    assert list(table.columns) == ["n", "error_rate", "low", "high"]
    assert (table["low"] <= table["error_rate"]).all()
    assert (table["error_rate"] <= table["high"]).all()
    assert table["error_rate"][1] <= table["error_rate"][0] < 0.5
    assert 0 < forecast.floor <= table["error_rate"][1] + 1e-9
    assert forecast.classes.names == ("blue", "green", "red")
    assert "error rate" in str(forecast.verdict(0.05))
    assert "labels" in str(forecast.verdict())
    everywhere = forecast.predict()
    assert list(everywhere.columns) == ["vertex", "prediction", "p(blue)", "p(green)", "p(red)"]
    np.testing.assert_allclose(everywhere.iloc[:, 2:].sum(axis=1), 1.0)
    chosen = forecast.next_rows(4)
    assert len(set(chosen["vertex"])) == 4
    forecast.to_json(tmp_path / "f.json")
    again = gpc.load(tmp_path / "f.json")
    pd.testing.assert_frame_equal(again.at([40, 60], "log_loss"), forecast.at([40, 60], "log_loss"))
    assert again.verdict() == forecast.verdict()


def test_vertices_to_label_next_are_those_between_classes(forecast: Any) -> None:
    doubts = 1 - forecast.predictor.model.probabilities_.max(axis=1)
    chosen = [int(name) for name in forecast.next_rows(6)["vertex"]]
    rest = np.setdiff1d(np.arange(81), forecast.predictor.model.labels_.vertices)
    assert doubts[chosen].mean() > doubts[rest].mean()


@pytest.mark.parametrize(
    ("values", "classes", "words"),
    [
        ([0, 1, 1], True, "Took 'x', which is 0 and 1, as classes"),
        ([5, 9, 9], True, "Took 'x', which is 5 and 9, as classes"),
        ([1, 2, 3, 3], True, "Took 'x', which is 1 to 3, as classes"),
        ([2, 4, 8, 8], False, "Took 'x', which has 3 different integers, as numbers: --task classes"),
        ([0.5, 1, 2], False, ""),
        ([1, 2], False, ""),  # codes repeat
        (range(20), False, ""),
    ],
)
def test_codes_of_classes_are_recognised_and_it_is_said(values: Any, classes: bool, words: str) -> None:
    found, said = recognise_codes("x", np.array(values, dtype=float))
    assert found is classes
    assert words in said
    assert bool(said) is bool(words)


def test_forecasts_of_classes_refuse_what_they_cannot_use() -> None:
    graph, at, truth = coloured()
    known = pd.Series(truth[at], index=at)
    with pytest.raises(gpc.InputError, match="too few labels to say: a forecast needs labels at 20 vertices"):
        gpc.forecast(graph, known.iloc[:19])
    with pytest.raises(gpc.InputError, match="noise: for numbers only"):
        gpc.forecast(graph, known, noise=pd.Series(1.0, index=at))
    with pytest.raises(gpc.InputError, match="labels are different"):
        gpc.forecast(graph, pd.Series([f"name {k}" for k in range(24)], index=at))
    single = known.where(known.index != at[0], "white")
    model = gpc.GraphClassifier(graph).fit(at, single)
    assert any("1 class has a single label ('white')" in note for note in model.notes_)


def test_classes_that_are_numbers_are_in_the_order_of_numbers() -> None:
    found = ClassLabels.gather(np.arange(4), ["10", "9", "9", "2"])
    assert found.classes.tolist() == ["2", "9", "10"]
    np.testing.assert_array_equal(found.counts.argmax(axis=1), [2, 1, 1, 0])


def test_predict_writes_probabilities_of_classes(tmp_path: Any) -> None:
    edges, labels = tmp_path / "edges.csv", tmp_path / "labels.csv"
    edges.write_text("source,target\n" + "\n".join(f"v{k},v{k + 1}" for k in range(11)), "utf-8")
    labels.write_text("vertex,side\nv0,left\nv1,left\nv3,left\nv8,right\nv10,right\n", "utf-8")
    _, out, err = command("predict", str(edges), "--labels", str(labels))
    lines = out.splitlines()
    assert lines[0] == "vertex,prediction,p(left),p(right)"
    assert lines[1].startswith("v0,left,0.")
    assert lines[12].startswith("v11,right,0.")
    assert "leave-one-out error rate" in err
    labels.write_text("v0,0\nv1,0\nv3,0\nv8,1\nv10,1\n", "utf-8")
    assert "Took 'label', which is 0 and 1, as classes" in command("predict", str(edges), "--labels", str(labels))[2]
    numbers = command("predict", str(edges), "--labels", str(labels), "--task", "numbers")[1]
    assert numbers.startswith("vertex,prediction,std,low,high")
    labels.write_text("v0,left\nv1,7\nv3,left\n", "utf-8")
    refused = command("predict", str(edges), "--labels", str(labels))[2]
    assert "a value must be a number, got 'left'; if the labels are classes, say --task classes" in refused
    assert (
        "--task must be numbers or classes" in command("predict", str(edges), "--labels", str(labels), "--task", "x")[2]
    )
    labels.write_text("v0,left\nv1,left\nv3,right\n", "utf-8")
    assert "--noise is for numbers" in command("predict", str(edges), "--labels", str(labels), "--noise", "0.1")[2]
