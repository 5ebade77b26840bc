"""A prior variance for kernels of graphs, sums of them, and kernels of attributes: against dense algebra and by rescaling."""

from __future__ import annotations

from collections.abc import Callable

import networkx as nx
import numpy as np
import pytest

import gpcurves as gpc
from commands import command, failed, rows
from gpcurves.graphs import GraphKernel
from gpcurves.numerics.validation import FloatArray

CLUB = gpc.as_graph(nx.karate_club_graph())
AGES = CLUB.with_details(attributes={"age": np.arange(34.0), "team": np.array(["a", "b"] * 17, dtype=object)})
WALK, LONG = gpc.RandomWalkKernel(p=4), gpc.RandomWalkKernel(p=12, a=3)
RAW = gpc.RandomWalkKernel(4, normalise="none"), gpc.DiffusionKernel(2.0, "none")


@pytest.mark.parametrize(
    "kernel",
    [
        gpc.RandomWalkKernel(5),
        gpc.DiffusionKernel(1.5),
        gpc.MaternGraphKernel(1.0, 2.0),
        gpc.PolynomialWalkKernel((1, 0.5)),
    ],
    ids=repr,
)
@pytest.mark.parametrize("normalise", ["local", "global", "none"])
def test_a_variance_multiplies_everything(kernel: GraphKernel, normalise: str) -> None:
    plain = kernel.normalised(normalise)  # type: ignore[arg-type]
    one, three = plain.on(CLUB), (3.0 * plain).on(CLUB)
    np.testing.assert_allclose(three.matrix(), 3 * one.matrix(), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(three.variances, 3 * one.variances, rtol=1e-12)
    np.testing.assert_allclose(three.eigenvalues(), 3 * one.eigenvalues(), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(three @ np.ones(34), 3 * (one @ np.ones(34)), rtol=1e-12)
    assert (2 * plain).variance == 2
    assert "variance" not in plain.to_dict()
    assert GraphKernel.from_dict((2 * plain).to_dict()) == 2 * plain


@pytest.mark.slow
@pytest.mark.parametrize(
    ("graph", "method", "options"),
    [
        (CLUB, "simulation", {"datasets": 3, "rng": 0}),
        (CLUB, "eigenvalue", {}),
        (CLUB, "cavity", {"precision": 0.5, "rng": 0}),
        (gpc.ErdosRenyi(2), "cavity", {"precision": 0.2, "rng": 0, "among": ["ends"]}),
        (gpc.RandomRegular(3), "mckay", {}),
        (gpc.RandomRegular(3), "master", {}),
    ],
)
@pytest.mark.parametrize("normalise", ["local", "global"])
def test_units_do_not_matter(graph: object, method: str, options: dict[str, object], normalise: str) -> None:
    """A function four times as large in variance, with noise four times as large, has errors four times as large."""
    kernel = gpc.RandomWalkKernel(30 if method == "master" else 4, 2.0, normalise)  # type: ignore[arg-type]
    one = gpc.learning_curve(gpc.GraphProblem(graph, kernel, 0.1), method, nu=[0.5, 2.0], **options)  # type: ignore[arg-type]
    four = gpc.learning_curve(gpc.GraphProblem(graph, 4 * kernel, 0.4), method, nu=[0.5, 2.0], **options)  # type: ignore[arg-type]
    np.testing.assert_allclose(four.error, 4 * one.error, rtol=1e-6)
    for name in one.details:
        power = {"variance": 2, "share": 0}.get(name.partition(" ")[0], 1)
        if name.partition("_")[0] == "variance":
            power = 2
        np.testing.assert_allclose(four.details[name], 4.0**power * one.details[name], rtol=1e-5)


@pytest.mark.slow
def test_units_do_not_matter_for_a_misspecified_model() -> None:
    for graph in (CLUB, gpc.ErdosRenyi(2)):
        found = []
        for unit in (1.0, 4.0):
            teacher = gpc.Teacher(unit * gpc.RandomWalkKernel(2), 0.2 * unit)
            problem = gpc.GraphProblem(graph, unit * gpc.RandomWalkKernel(4), 0.1 * unit, teacher)
            found.append(gpc.learning_curve(problem, "cavity", nu=[0.5], precision=0.5, rng=0).error[0] / unit)
        assert found[1] == pytest.approx(found[0], rel=1e-6)


def test_a_sum_is_the_sum_of_matrices() -> None:
    kernel = 0.7 * WALK + 0.3 * LONG
    C = 0.7 * WALK.on(CLUB).matrix() + 0.3 * LONG.on(CLUB).matrix()
    found = kernel.on(CLUB)
    np.testing.assert_allclose(found.matrix(), C, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(found.eigenvalues(), np.linalg.eigvalsh(C), rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(found @ np.eye(34), C, rtol=1e-10, atol=1e-14)
    assert kernel.variance == pytest.approx(1.0)
    assert kernel.normalise == "local"
    assert (kernel + WALK).terms == (0.7 * WALK, 0.3 * LONG, WALK)  # type: ignore[attr-defined]
    assert GraphKernel.from_dict(kernel.to_dict()) == kernel


def naive_error(C: FloatArray, counts: FloatArray, noise: float) -> float:
    seen = counts > 0
    A = C[np.ix_(seen, seen)] + np.diag(noise / counts[seen])
    return float((np.diagonal(C) - np.einsum("ij,ij->j", C[seen], np.linalg.solve(A, C[seen]))).mean())


def test_a_sum_with_attributes_is_simulated() -> None:
    kernel = WALK + 0.5 * gpc.VertexAttributeKernel(gpc.RBF(1.0), columns=("age",))
    z = (np.arange(34.0) - 16.5) / np.arange(34.0).std()
    C = WALK.on(AGES).matrix() + 0.5 * np.exp(-0.5 * np.subtract.outer(z, z) ** 2)
    problem = gpc.GraphProblem(AGES, kernel, 0.1)
    np.testing.assert_allclose(problem.kernel.on(AGES).matrix(), C, rtol=1e-12)
    curve = gpc.learning_curve(problem, "simulation", nu=[0.0, 1.0], datasets=20, rng=0)
    assert curve.error[0] == pytest.approx(1.5)
    rng = np.random.default_rng(1)
    drawn = [
        naive_error(C, np.bincount(rng.integers(34, size=34), minlength=34).astype(float), 0.1) for _ in range(200)
    ]
    assert curve.stderr is not None
    assert abs(curve.error[1] - np.mean(drawn)) < 4 * np.hypot(curve.stderr[1], np.std(drawn) / 200**0.5)
    theory = gpc.learning_curve(problem, "eigenvalue", nu=[1.0]).error[0]
    spectrum = gpc.Spectrum(np.linalg.eigvalsh(C).clip(0) / 34)
    assert theory == pytest.approx(gpc.learning_curve(spectrum, "lc", n=[34], noise=0.1).error[0], rel=1e-9)
    both = gpc.VertexAttributeKernel(gpc.RBF(1.0)).on(AGES)
    assert both.points.shape == (34, 3)  # type: ignore[attr-defined]


def test_a_sum_without_normalisation_has_messages() -> None:
    """Belief propagation is exact on a tree, so that the simulation with the same data sets agrees at every size."""
    tree = nx.random_labeled_tree(30, seed=2)
    problem = gpc.GraphProblem(tree, 2 * RAW[0] + RAW[1], 0.1)
    found = gpc.learning_curve(problem, "cavity", nu=[0.3, 1.0], replicas=3, precision=1e-9, rng=0)
    truth = gpc.learning_curve(problem, "simulation", nu=[0.3, 1.0], datasets=3, rng=0)
    np.testing.assert_allclose(found.error, truth.error, rtol=1e-6)
    C = 2 * RAW[0].on(tree).matrix() + RAW[1].on(tree).matrix()
    np.testing.assert_allclose(problem.kernel.on(tree).matrix(), C, rtol=1e-10, atol=1e-14)


def test_a_teacher_may_be_a_sum() -> None:
    """One that is the same kernel twice is that kernel."""
    problems = [gpc.GraphProblem(CLUB, LONG, 0.1, gpc.Teacher(true, 0.1)) for true in (WALK, 0.4 * WALK + 0.6 * WALK)]
    one, other = (gpc.learning_curve(problem, "eigenvalue", nu=[0.0, 1.0]) for problem in problems)
    np.testing.assert_allclose(one.error, other.error, rtol=1e-9)
    one, other = (gpc.learning_curve(problem, "simulation", nu=[1.0], datasets=3, rng=0) for problem in problems)
    np.testing.assert_allclose(one.error, other.error, rtol=1e-9)


def test_the_command_line_has_a_prior_variance(capsys: pytest.CaptureFixture[str]) -> None:
    words = "graph --ensemble er:2 --noise 0.4 --variance 4 --nu 0 --methods simulation --graphs 2 --vertices 20 --datasets 1"
    code, out, _ = command(*words.split())
    assert code == 0
    assert float(rows(out)[0]["error"]) == pytest.approx(4.0)
    words = words.replace("--variance 4", "--variance 0")
    assert "variance must be greater than 0" in failed(words.split(), capsys)


REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "cavity of a sum": (
        lambda: gpc.learning_curve(gpc.GraphProblem(CLUB, WALK + LONG, 0.1), "cavity", nu=[1]),
        "messages exist for sums of kernels of the graph alone without normalisation",
    ),
    "cavity of attributes": (
        lambda: gpc.learning_curve(
            gpc.GraphProblem(AGES, gpc.VertexAttributeKernel(gpc.RBF(1.0)), 0.1), "cavity", nu=[1]
        ),
        "attributes couple vertices that no edge joins",
    ),
    "no attributes": (
        lambda: gpc.VertexAttributeKernel(gpc.RBF(1.0), ("age",)).on(CLUB).matrix(),
        "has no attribute 'age'",
    ),
    "attributes of an ensemble": (
        lambda: gpc.learning_curve(
            gpc.GraphProblem(gpc.ErdosRenyi(2), gpc.VertexAttributeKernel(gpc.RBF(1.0)), 0.1), "simulation", nu=[1]
        ),
        "has no attributes of vertices",
    ),
    "a factor of 0": (lambda: 0 * WALK, "factor of a kernel"),
    "a term": (lambda: gpc.GraphKernelSum((WALK, 3)), "a sum of kernels between vertices has terms such as"),  # type: ignore[arg-type]
    "one term": (lambda: gpc.GraphKernelSum((WALK,)), "at least two kernels"),
    "normalisation": (lambda: (WALK + LONG).normalised("global"), "normalised one by one"),
    "diagnosis": (lambda: gpc.diagnose(CLUB, WALK + LONG), "one kernel of the graph alone"),
    "fit": (
        lambda: gpc.GraphRegressor(CLUB, 2 * WALK).fit([0, 1, 2], [0.0, 1.0, 2.0]),
        "the prior variance is given as variance=",
    ),
    "large graphs": (
        lambda: gpc.learning_curve(gpc.GraphProblem(gpc.RandomRegular(3), WALK + LONG, 0.1), "mckay", nu=[1]),
        "a function of T",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_is_refused_in_a_sentence(name: str) -> None:
    call, message = REFUSED[name]
    with pytest.raises(gpc.GPCurvesError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)
