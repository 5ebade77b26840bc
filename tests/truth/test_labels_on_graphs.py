"""Labels of any kind on graphs, and labels that are of another kind than the model assumes: theory, simulation and naive algebra."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpcurves as gpc
from gpcurves.methods.simulation.inference import (
    Covariances,
    LabelledPlaces,
    expectation_propagation,
    gibbs,
    laplace,
)
from gpcurves.methods.simulation.labelled_vertices import Together

KERNEL = gpc.RandomWalkKernel(p=10, a=2, normalise="local")
GRAPH = gpc.ErdosRenyi(3).sample(150, np.random.default_rng(0))
CIRCLE = gpc.Torus(dim=1)


def repeated() -> tuple[Any, Any, Any, Any]:
    rng = np.random.default_rng(1)
    C = KERNEL.on(GRAPH).matrix()[:12, :12]
    vertex = rng.integers(8, size=30)
    y = gpc.Probit(0.3).draw(rng.standard_normal(12)[vertex], C[:, :1], rng)
    return C, vertex, y, C[np.ix_(vertex, vertex)]


def test_several_labels_at_a_vertex_are_as_many_examples() -> None:
    C, vertex, y, K = repeated()
    places, everywhere, prior = LabelledPlaces(C, vertex), np.arange(12), C.diagonal()
    naive = expectation_propagation(Covariances(K), y, gpc.Probit(0.3), tolerance=1e-9)
    ours = expectation_propagation(places, y, gpc.Probit(0.3), tolerance=1e-9)
    np.testing.assert_allclose(ours.predict(everywhere, prior), naive.predict(C[vertex], prior), atol=1e-7)
    first = expectation_propagation(LabelledPlaces(C, vertex[:11]), y[:11], gpc.Probit(0.3))
    grown = expectation_propagation(places, y, gpc.Probit(0.3), first, tolerance=1e-9)
    np.testing.assert_allclose(grown.predict(everywhere, prior), ours.predict(everywhere, prior), atol=1e-7)
    together: Any = Together(gpc.Logit(), y, places)
    mode = laplace(places.K, np.zeros(len(places.labelled)), together)
    same = laplace(K, y, gpc.Logit())
    np.testing.assert_allclose(
        mode.predict(C[places.labelled], prior), same.predict(C[vertex], prior), rtol=1e-6, atol=1e-8
    )


def test_gibbs_sampling_with_several_labels_at_a_vertex() -> None:
    C, vertex, y, K = repeated()
    places, prior = LabelledPlaces(C, vertex), C.diagonal()
    mean, variance = gibbs(
        places.K, C[places.labelled], prior, y, gpc.StudentT(1e7, 0.5), np.random.default_rng(0), places.position
    )
    inverse = np.linalg.inv(K + 0.25 * np.eye(30))  # so many degrees of freedom are Gaussian noise
    np.testing.assert_allclose(mean, C[:, vertex] @ inverse @ y, atol=2e-3)
    np.testing.assert_allclose(variance, (C - C[:, vertex] @ inverse @ C[vertex]).diagonal(), atol=2e-3)


@pytest.mark.parametrize("inference", ["ep", pytest.param("laplace", marks=pytest.mark.slow)])
def test_classes_on_a_graph_agree_with_eigenvalue_theory(inference: str) -> None:
    problem = gpc.GraphProblem(GRAPH, KERNEL, gpc.Probit())
    nu = [0.0, 0.3, 1.0, 3.0]
    truth = gpc.learning_curve(
        problem, "simulation", nu=nu, datasets=30, rng=0, quantity="error-rate", inference=inference, among="ends"
    )
    theory = gpc.learning_curve(problem, "eigenvalue", nu=nu, quantity="error-rate")
    assert truth.error[0] == 0.5
    assert theory.error[0] == pytest.approx(0.5, abs=1e-7)  # the root of a rounding error of the prior variance
    np.testing.assert_allclose(truth.error, theory.error, rtol=0.06)
    variance = gpc.learning_curve(problem, "eigenvalue", nu=nu).error
    np.testing.assert_allclose(truth.details["claimed"], variance, rtol=0.08)
    assert (truth.details["error ends"][1:] > truth.error[1:]).all()  # vertices with one neighbour are harder
    again = gpc.learning_curve(truth.problem, truth.method, nu=truth.nu, rng=truth.rng, **truth.options)
    np.testing.assert_array_equal(again.error, truth.error)


def test_labels_on_an_ensemble_of_graphs(tmp_path: Path) -> None:
    problem = gpc.GraphProblem(gpc.RandomRegular(3), KERNEL, gpc.Logit())
    options: dict[str, Any] = {"rng": 0, "vertices": 80, "graphs": 3, "quantity": "log-loss"}
    theory = gpc.learning_curve(problem, "eigenvalue", nu=[0.0, 1.0, 4.0], **options)
    options |= {"datasets": 6, "store": tmp_path / "kept.db"}
    truth = gpc.learning_curve(problem, "simulation", nu=[0.0, 1.0, 4.0], **options)
    np.testing.assert_allclose(truth.error, theory.error, rtol=0.05)
    truth.save(tmp_path / "curve.json")
    assert gpc.load(tmp_path / "curve.json").problem == problem
    kept = gpc.learning_curve(problem, "simulation", nu=[0.0, 1.0, 4.0], **options)
    np.testing.assert_array_equal(kept.error, truth.error)


def test_heavy_tails_and_a_misspecified_model_on_a_graph() -> None:
    noise = gpc.LaplaceNoise(0.3)
    right = gpc.GraphProblem(GRAPH, KERNEL, noise)
    truth = gpc.learning_curve(right, "simulation", nu=[1.0], datasets=8, rng=0, inference="ep")
    theory = gpc.learning_curve(right, "eigenvalue", nu=[1.0])
    np.testing.assert_allclose(truth.details["claimed"], theory.error, rtol=0.3)
    wrong = gpc.GraphProblem(GRAPH, KERNEL, noise, gpc.Teacher(KERNEL, gpc.StudentT(1.5, 0.3)))
    worse = gpc.learning_curve(wrong, "simulation", nu=[1.0], datasets=8, rng=0, inference="ep")
    assert worse.error[0] > 1.5 * truth.error[0]
    fixed = gpc.GraphProblem(GRAPH, KERNEL, gpc.Probit(), gpc.Teacher(function=lambda i: 3.0 - 0 * i, noise=0.01))
    one = gpc.learning_curve(fixed, "simulation", nu=[5.0], datasets=3, rng=0, quantity="error-rate")
    assert one.error[0] == pytest.approx(0.0, abs=1e-3)  # of a function that has one sign


def test_too_many_labels_are_refused() -> None:
    with pytest.raises(gpc.InputError, match="one by one"):
        gpc.learning_curve(gpc.GraphProblem(GRAPH, KERNEL, gpc.Probit()), "simulation", nu=[1e5])


def test_believing_in_gaussian_noise_when_it_is_not() -> None:
    tails = gpc.StudentT(3, 0.3)
    teacher = gpc.Teacher(gpc.RBF(0.1), observation=tails)
    believer = gpc.Problem(gpc.RBF(0.1), CIRCLE, tails.variance, teacher)
    same = gpc.Problem(gpc.RBF(0.1), CIRCLE, tails.variance)
    n = [5, 20, 60]
    for method in ("lc", "uc", "d"):  # linear predictions depend on the variance of the noise alone
        ours, plain = (gpc.learning_curve(each, method, n).error for each in (believer, same))
        np.testing.assert_allclose(ours, plain, rtol=1e-9)
    truth = gpc.learning_curve(believer, "simulation", n, datasets=40, rng=0).error
    # drawn labels and predictions retyped
    rng, errors = np.random.default_rng(0), []
    for _ in range(300):
        X = rng.random((70, 1))
        C = CIRCLE.kernel_matrix(gpc.RBF(0.1), X, X)
        f = np.linalg.cholesky(C + 1e-9 * np.eye(70)) @ rng.standard_normal(70)
        y = f[:20] + 0.3 * rng.standard_t(3, 20)
        found = C[20:, :20] @ np.linalg.solve(C[:20, :20] + tails.variance * np.eye(20), y)
        errors.append(float(((f[20:] - found) ** 2).mean()))
    assert abs(np.mean(errors) - truth[1]) < 4 * np.std(errors) / np.sqrt(300)
    assert teacher != gpc.Teacher(gpc.RBF(0.1), tails.variance)
    assert gpc.Problem.from_dict(json.loads(json.dumps(believer.to_dict()))) == believer
    assert "StudentT" in believer.describe()


@pytest.mark.parametrize(
    ("noise", "true", "words"),
    [
        (0.1, gpc.StudentT(2, 0.3), "no finite variance"),
        (0.1, gpc.Probit(), "both must be classes or neither"),
        (gpc.Probit(), gpc.StudentT(3, 0.3), "both must be classes or neither"),
    ],
)
def test_teachers_whose_labels_do_not_fit_are_refused(noise: Any, true: Any, words: str) -> None:
    with pytest.raises(gpc.InputError, match=words):
        gpc.Problem(gpc.RBF(0.1), CIRCLE, noise, gpc.Teacher(gpc.RBF(0.1), true))
    with pytest.raises(gpc.InputError, match="not both"):
        gpc.Teacher(gpc.RBF(0.1), 0.1, observation=gpc.Probit())


def test_theory_says_where_labels_are_uneven() -> None:
    n, noisy, quiet = [5, 20, 60, 150], gpc.Probit(1.0), gpc.Probit(0.01)
    assert not gpc.learning_curve(gpc.Problem(gpc.RBF(0.1), CIRCLE, noisy), "lc", n).notes
    for curve in gpc.learning_curves(gpc.Problem(gpc.RBF(0.1), CIRCLE, quiet), n, quantity="error-rate").values():
        assert "fail at low noise, here at n = 20 to 150" in curve.notes[-1]
    truth = gpc.learning_curve(gpc.Problem(gpc.RBF(0.1), CIRCLE, quiet), "simulation", n, datasets=6, rng=0)
    ratio = gpc.learning_curve(truth.problem, "lc", n).error / truth.details["claimed"]
    assert ratio[0] > 0.9  # no note there
    assert (ratio[2:] < 0.6).all()
    independent = gpc.Spectrum(np.array([1 / 200]), np.array([200.0]))  # features without neighbourhoods
    assert not gpc.learning_curve(independent, "lc", n, noise=quiet).notes
    for graph in (GRAPH, gpc.RandomRegular(3)):
        options: dict[str, Any] = {} if graph is GRAPH else {"graphs": 2, "vertices": 60, "rng": 0}
        on_graph = gpc.learning_curve(
            gpc.GraphProblem(graph, KERNEL, quiet), "eigenvalue", nu=[0.0, 0.1, 5.0], **options
        )
        assert "at nu = 5:" in on_graph.notes[-1]
    z, w = np.linspace(-9, 9, 4001), np.sqrt(0.4)
    p = [gpc.Probit(0.3).probability(w * z * sign, np.full(4001, 0.6)) for sign in (1, -1)]
    each = p[0][1] ** 2 / (p[0][0] * p[1][0])
    gauss = np.exp(-z * z / 2) * (z[1] - z[0]) / np.sqrt(2 * np.pi)
    np.testing.assert_allclose(gauss @ each, gpc.Probit(0.3).information(np.array([0.6]), 1.0)[0], rtol=1e-6)
    uneven = gauss @ each**2 / (gauss @ each) ** 2 - 1
    np.testing.assert_allclose(gpc.Probit(0.3).unevenness(np.array([0.6]), 1.0)[0], uneven, rtol=1e-6)
