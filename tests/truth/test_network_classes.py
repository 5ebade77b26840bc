"""Classes at the vertices of a graph: against scikit-learn, and large graphs against dense algebra."""

from __future__ import annotations

from typing import Any

import networkx
import numpy as np
import pytest
from scipy import special
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import Kernel as SklearnKernel

import gpcurves as gpc
from gpcurves.forecasting.networks import classifier
from laws import TREE

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
    assert ours.log_evidence_ == pytest.approx(theirs.log_marginal_likelihood_value_, abs=1e-4)
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
        ([1, 2, 3], "two classes, got 3: 1, 2, 3"),
        ([1, 1, 1], "two classes, got 1"),
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
