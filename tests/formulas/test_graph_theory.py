"""Eigenvalue theory on graphs: equations retyped, the limits of large graphs and long walks, and where it fails."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import mpmath
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq

from gpcurves import (
    METHODS,
    RBF,
    DiffusionKernel,
    ErdosRenyi,
    Graph,
    GraphProblem,
    NotApplicableError,
    PolynomialWalkKernel,
    PowerLaw,
    Problem,
    RandomRegular,
    RandomWalkKernel,
    RegularisedLaplacianKernel,
    Teacher,
    Torus,
    learning_curve,
)
from gpcurves.graphs import Ensemble, GraphKernel, Normalisation
from gpcurves.graphs.tree import tree_normaliser
from gpcurves.methods import MethodName
from gpcurves.montecarlo import stream
from gpcurves.numerics.validation import FloatArray

NU = [0.0, 0.01, 0.1, 0.5, 1.0, 3.0, 20.0]
LOCAL = RandomWalkKernel(10, 2.0, "local")
GLOBAL = RandomWalkKernel(10, 2.0, "global")


def theory(graph: object, kernel: GraphKernel, noise: float, method: str = "eigenvalue", nu: object = NU) -> FloatArray:
    return learning_curve(GraphProblem(graph, kernel, noise), method, nu=nu).error  # type: ignore[arg-type]


def self_consistent(g: Callable[[float], float], n: float, noise: float) -> float:
    """Return the root of ε = g(N/(ε + σ²)), Urry & Sollich (14)."""
    if n == 0:
        return g(0.0)
    return float(brentq(lambda e: e - g(n / (e + noise)), 0.0, g(0.0), xtol=1e-300, rtol=1e-14))


def from_eigenvalues(values: FloatArray, vertices: int, noise: float) -> list[float]:
    """Return the curve at NU for eigenvalues of C/V."""
    return [self_consistent(lambda h: float((values / (1 + h * values)).sum()), nu * vertices, noise) for nu in NU]


def normalised_adjacency(graph: Graph) -> FloatArray:
    """Return T by loops; zero at isolated vertices."""
    A = graph.adjacency.toarray()
    d = A.sum(axis=1)
    T = np.zeros(A.shape)
    for i, j in zip(*np.nonzero(A), strict=True):
        T[i, j] = A[i, j] / math.sqrt(d[i] * d[j])
    return T


def walk_covariance(graph: Graph, p: int, a: float, normalise: Normalisation) -> FloatArray:
    step = (1 - 1 / a) * np.eye(graph.vertices) + normalised_adjacency(graph) / a
    C = np.linalg.matrix_power(step, p)
    if normalise == "none":
        return C
    kappa = C.diagonal() if normalise == "local" else np.full(len(C), C.diagonal().mean())
    return np.asarray(C / np.sqrt(np.outer(kappa, kappa)))


MIXED = Graph.from_edges(
    [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (5, 6), (7, 8), (8, 9)], 12, [1, 2, 0.5, 1, 3, 1, 1, 1]
)
"""Weighted, with a loop, trees, a pair and two isolated vertices."""


# --- a given graph ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", [0.1, 1e-4, 1e-8, 100.0])
@pytest.mark.parametrize("normalise", ["global", "local", "none"])
@pytest.mark.parametrize(("p", "a"), [(10, 2.0), (3, 2.3), (0, 2.0)])
def test_on_a_graph_it_is_the_self_consistency_equation(
    p: int, a: float, normalise: Normalisation, noise: float
) -> None:
    for graph in (MIXED, ErdosRenyi(3).sample(40, 2)):
        values = np.linalg.eigvalsh(walk_covariance(graph, p, a, normalise)) / graph.vertices
        values = np.maximum(values, 0.0)
        expected = from_eigenvalues(values, graph.vertices, noise)
        # at a = 2 some eigenvalues are zero, which is known to 1e-16
        np.testing.assert_allclose(theory(graph, RandomWalkKernel(p, a, normalise), noise), expected, 1e-8, 2e-15)


@pytest.mark.parametrize("normalise", ["global", "local", "none"])
def test_other_kernels_are_functions_of_the_laplacian(normalise: Normalisation) -> None:
    T = normalised_adjacency(MIXED)
    t, axes = np.linalg.eigh(T)
    kernels: list[tuple[GraphKernel, FloatArray]] = [
        (DiffusionKernel(1.3, normalise), np.exp(-(1.3**2) / 2 * (1 - t))),
        (RegularisedLaplacianKernel(1.7, normalise), 1 / (1 + 1.7**2 * (1 - t))),
        (PolynomialWalkKernel((0.5, 0.2, 0.3), normalise), 0.5 + 0.2 * t + 0.3 * t**2),
    ]
    for kernel, values in kernels:
        C = (axes * values) @ axes.T
        kappa = {"global": np.full(12, C.diagonal().mean()), "local": C.diagonal(), "none": np.ones(12)}[normalise]
        spectrum = np.linalg.eigvalsh(C / np.sqrt(np.outer(kappa, kappa))) / 12
        np.testing.assert_allclose(theory(MIXED, kernel, 0.05), from_eigenvalues(spectrum, 12, 0.05), rtol=1e-9)


def test_without_noise_as_many_examples_as_eigenvalues_learn_everything() -> None:
    # a path of four vertices at a = 2: T = -1 is an eigenvalue, so that the kernel has three others
    path = Graph.from_edges([(0, 1), (1, 2), (2, 3)])
    t = np.array([1.0, 0.5, -0.5])
    values = ((1 + t) / 2) ** 10
    values /= values.sum()
    found = theory(path, GLOBAL, 0.0, nu=[0.0, 0.25, 0.7, 0.74, 0.75, 1.0, 10.0])
    for error, n in zip(found[1:4], (1.0, 2.8, 2.96), strict=True):  # N = h ε, and ε = g(h)
        h = brentq(lambda h, n=n: (h * values / (1 + h * values)).sum() - n, 1e-6, 1e9, rtol=1e-14)
        assert error == pytest.approx((values / (1 + h * values)).sum(), rel=1e-9)
    assert found[0] == pytest.approx(1.0, rel=1e-14)
    np.testing.assert_allclose(found[4:], 0.0, atol=1e-14)


@pytest.mark.parametrize("normalise", ["global", "local"])
def test_isolated_vertices_alone_share_one_eigenvalue(normalise: Normalisation) -> None:
    found = theory(Graph.from_edges([], 7), RandomWalkKernel(10, 2.5, normalise), 0.2)
    expected = [self_consistent(lambda h: 1 / (1 + h), nu, 0.2) for nu in NU]  # seven times 1/7, N = 7 nu
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_a_given_graph_has_no_statistical_error() -> None:
    curve = learning_curve(GraphProblem(MIXED, LOCAL, 0.1), "eigenvalue", nu=NU)
    assert curve.stderr is None
    assert curve.rng is None


# --- ensembles -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ensemble", [ErdosRenyi(3), RandomRegular(3), PowerLaw()], ids=repr)
def test_on_an_ensemble_it_is_the_mean_over_graphs(ensemble: Ensemble) -> None:
    problem = GraphProblem(ensemble, LOCAL, 0.1)
    found = learning_curve(problem, "eigenvalue", nu=NU, vertices=60, graphs=5, rng=8)
    each = np.array([theory(ensemble.sample(60, stream(8, task)), LOCAL, 0.1) for task in range(5)])
    np.testing.assert_allclose(found.error, each.mean(axis=0), rtol=1e-12)
    assert found.stderr is not None
    np.testing.assert_allclose(found.stderr, each.std(axis=0, ddof=1) / math.sqrt(5), rtol=1e-8, atol=1e-14)
    assert found.options == {"vertices": 60, "graphs": 5}
    assert found.rng == 8


def test_theory_and_simulation_draw_the_same_graphs() -> None:
    # the prior variance before normalisation tells graphs apart, and at nu = 0 both methods return it
    problem = GraphProblem(ErdosRenyi(3), RandomWalkKernel(10, 2.0, "none"), 0.1)
    options = {"vertices": 50, "graphs": 6, "rng": 4}
    one = learning_curve(problem, "eigenvalue", nu=[0.0], **options)
    other = learning_curve(problem, "simulation", nu=[0.0], datasets=2, **options)
    assert one.stderr is not None
    assert other.stderr is not None
    assert one.stderr[0] > 1e-4 * one.error[0]
    np.testing.assert_allclose([one.error, one.stderr], [other.error, other.stderr], rtol=1e-11)


# --- large regular graphs --------------------------------------------------------------------------------------------


def tree_average(d: int, function: Callable[[float], float]) -> float:
    """Integrate over the spectrum of the Laplacian of the tree as the paper prints it, between λ₋ and λ₊."""
    low, high = 1 - 2 * math.sqrt(d - 1) / d, 1 + 2 * math.sqrt(d - 1) / d
    power = -0.5 if d == 2 else 0.5  # √((λ-λ₋)(λ₊-λ)) is also a factor of the denominator there
    density = (lambda x: 1.0) if d == 2 else (lambda x: d / (2 * x * (2 - x)))
    return float(
        quad(
            lambda x: density(x) * function(x) / math.pi,
            low,
            high,
            weight="alg",
            wvar=(power, power),
            epsabs=0,
            epsrel=1e-12,
            limit=500,
        )[0]
    )


@pytest.mark.parametrize("degree", [2, 3, 10])
@pytest.mark.parametrize(("p", "a", "noise"), [(10, 2.0, 0.1), (10, 2.0, 1e-4), (3, 3.5, 0.1), (60, 2.0, 0.01)])
def test_mckay_is_its_integral(degree: int, p: int, a: float, noise: float) -> None:
    kappa = tree_average(degree, lambda x: (1 - x / a) ** p)
    assert tree_normaliser(RandomWalkKernel(p, a), degree) == pytest.approx(kappa, rel=1e-10)
    nu = [0.0, 0.05, 1.0, 6.0]

    def g(h: float) -> float:  # (16), h in units of V
        return tree_average(degree, lambda x: (1 - x / a) ** p / (kappa + h * (1 - x / a) ** p))

    expected = [self_consistent(g, each, noise) for each in nu]
    for normalise in ("global", "local"):
        found = theory(RandomRegular(degree), RandomWalkKernel(p, a, normalise), noise, "mckay", nu)
        np.testing.assert_allclose(found, expected, rtol=1e-8)


def test_the_density_of_the_tree_is_normalised_and_kappa_is_known() -> None:
    for degree in (2, 3, 10):
        assert tree_average(degree, lambda x: 1.0) == pytest.approx(1.0, rel=1e-10)
    assert tree_average(3, lambda x: (1 - x / 2) ** 10) == pytest.approx(0.0818, abs=5e-5)


def test_mckay_without_normalisation_starts_at_kappa() -> None:
    found = theory(RandomRegular(3), RandomWalkKernel(10, 2.0, "none"), 0.1, "mckay", [0.0])
    assert found[0] == pytest.approx(tree_average(3, lambda x: (1 - x / 2) ** 10), rel=1e-10)


@pytest.mark.parametrize("a", [2.0, 3.0])
def test_pairs_are_the_regular_graph_of_degree_one(a: float) -> None:
    kernel = RandomWalkKernel(10, a, "global")
    small = (1 - 2 / a) ** 10
    values = np.array([1.0, small]) / (1 + small)
    found = theory(RandomRegular(1), kernel, 0.1, "mckay")
    np.testing.assert_allclose(found, from_eigenvalues(np.repeat(values / 10, 10), 20, 0.1), rtol=1e-12)
    sampled = learning_curve(
        GraphProblem(RandomRegular(1), kernel, 0.1), "eigenvalue", nu=NU, vertices=40, graphs=2, rng=1
    )
    np.testing.assert_allclose(found, sampled.error, rtol=1e-11)


def test_a_ring_longer_than_the_walk_looks_like_the_tree_of_degree_two() -> None:
    ring = Graph.from_edges([(k, (k + 1) % 90) for k in range(90)])
    np.testing.assert_allclose(theory(ring, LOCAL, 0.1), theory(RandomRegular(2), LOCAL, 0.1, "mckay"), rtol=1e-9)


@pytest.mark.parametrize(("degree", "p", "vertices", "close"), [(3, 10, 1000, 0.006), (10, 3, 1000, 0.003)])
def test_large_sampled_graphs_approach_mckay(degree: int, p: int, vertices: int, close: float) -> None:
    kernel, nu = RandomWalkKernel(p, normalise="global"), [0.1, 0.5, 1.0, 10.0]
    limit = theory(RandomRegular(degree), kernel, 0.1, "mckay", nu)
    small, large = (
        abs(theory(RandomRegular(degree).sample(size, 7), kernel, 0.1, nu=nu) / limit - 1).max()
        for size in (80, vertices)
    )
    assert large < close
    assert large < small / 3


# --- long walks ------------------------------------------------------------------------------------------------------


def width(degree: int, p: int, a: float) -> float:
    """Return c of (17)."""
    edge = 1 - 2 / degree * math.sqrt(degree - 1)
    r = math.pow(degree - 1, 0.25) * math.pow(degree, 2.5) / (math.pi * (degree - 2) ** 2)
    return r * math.sqrt(math.pi) / 2 * math.pow((a - edge) / p, 1.5)


def relative_f(z: float) -> float:
    """Return F(z)/F(0) = -Li_{3/2}(-z)/z."""
    return 1.0 if z == 0 else float(mpmath.re(-mpmath.polylog(1.5, -z) / z))


def test_the_polylogarithm_is_the_integral() -> None:
    for z in (0.3, 8.0, 500.0):
        integral = quad(lambda y, z=z: math.sqrt(y) / (math.exp(y) + z), 0, 60, epsrel=1e-11, limit=300)[0]
        assert relative_f(z) == pytest.approx(integral / (math.sqrt(math.pi) / 2), rel=1e-9)


@pytest.mark.parametrize(("degree", "p", "a", "noise"), [(3, 30, 2.0, 0.1), (3, 500, 2.0, 1e-4), (6, 40, 3.0, 2.0)])
def test_the_master_curve_solves_its_equation(degree: int, p: int, a: float, noise: float) -> None:
    c = width(degree, p, a)
    nu = np.array([0.0, 0.01, 0.3, 1.0, 10.0]) * c
    found = theory(RandomRegular(degree), RandomWalkKernel(p, a, "global"), noise, "master", nu)
    expected = [self_consistent(relative_f, each / c, noise) for each in nu.tolist()]
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_curves_collapse_onto_the_master_curve_for_long_walks() -> None:
    scaled = np.array([1.0, 5.0, 20.0])  # nu p^{3/2}
    deviations = []
    for p in (30, 200, 1000):
        nu, kernel = scaled / p**1.5, RandomWalkKernel(p, normalise="global")
        master = theory(RandomRegular(3), kernel, 0.1, "master", nu)
        deviations.append(abs(theory(RandomRegular(3), kernel, 0.1, "mckay", nu) / master - 1))
        np.testing.assert_allclose(
            master,
            theory(RandomRegular(3), RandomWalkKernel(77, normalise="global"), 0.1, "master", scaled / 77**1.5),
            1e-12,
        )
    assert (deviations[1] < deviations[0] / 3).all()
    assert (deviations[2] < deviations[1] / 3).all()
    assert (deviations[2] < [0.003, 0.015, 0.06]).all()
    assert (np.diff(deviations[2]) > 0).all()  # slowest in the tail


# --- against simulated truth -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [LOCAL, GLOBAL], ids=repr)
def test_it_is_right_at_large_noise(kernel: GraphKernel) -> None:
    problem = GraphProblem(ErdosRenyi(3).sample(150, 3), kernel, 30.0)
    nu = [0.1, 1.0, 5.0, 30.0]
    truth = learning_curve(problem, "simulation", nu=nu, datasets=60, rng=5)
    assert truth.stderr is not None
    apart = abs(theory(problem.graph, kernel, 30.0, nu=nu) - truth.error)
    assert (apart < 4 * truth.stderr + 3e-4 * truth.error).all()
    assert (truth.stderr < 0.005 * truth.error).all()


@pytest.fixture(scope="module")
def low_noise() -> tuple[FloatArray, FloatArray, FloatArray]:
    """Simulation, its standard error and theory at nu = 0.01, 1, 100."""
    graph = RandomRegular(3).sample(200, 3)
    truth = learning_curve(GraphProblem(graph, LOCAL, 1e-4), "simulation", nu=[0.01, 1.0, 100.0], datasets=60, rng=5)
    assert truth.stderr is not None
    return truth.error, truth.stderr, theory(graph, LOCAL, 1e-4, nu=[0.01, 1.0, 100.0])


def test_few_and_many_examples_are_easy_for_it(low_noise: tuple[FloatArray, FloatArray, FloatArray]) -> None:
    truth, stderr, found = low_noise
    for place in (0, 2):
        assert abs(found[place] - truth[place]) < 4 * stderr[place] + 0.003 * truth[place]
        assert stderr[place] < 0.01 * truth[place]


def test_about_one_example_per_vertex_is_too_much_for_it_at_low_noise(
    low_noise: tuple[FloatArray, FloatArray, FloatArray],
) -> None:
    truth, stderr, found = low_noise
    assert stderr[1] < 0.1 * truth[1]
    assert found[1] < truth[1] / 4


# --- what it does not apply to ---------------------------------------------------------------------------------------

OBJECTIONS: dict[str, tuple[str, Problem, str]] = {
    "mckay on other graphs": (
        "mckay",
        GraphProblem(ErdosRenyi(3), LOCAL, 0.1),
        "it is the limit of large random regular graphs, and this is another graph or ensemble",
    ),
    "mckay on a given regular graph": (
        "mckay",
        GraphProblem(RandomRegular(3).sample(10, 1), LOCAL, 0.1),
        "it is the limit of large random regular graphs",
    ),
    "master of a ring": (
        "master",
        GraphProblem(RandomRegular(2), RandomWalkKernel(99, normalise="global"), 0.1),
        "it needs a degree of at least 3",
    ),
    "master of diffusion": (
        "master",
        GraphProblem(RandomRegular(3), DiffusionKernel(normalise="global"), 0.1),
        "it is the limit of long walks: it needs a random walk kernel with p of at least 30",
    ),
    "master of a short walk": (
        "master",
        GraphProblem(RandomRegular(3), RandomWalkKernel(29, normalise="global"), 0.1),
        "it is the limit of long walks: it needs a random walk kernel with p of at least 30",
    ),
    "master, not normalised": (
        "master",
        GraphProblem(RandomRegular(3), RandomWalkKernel(30, 2.0, "none"), 0.1),
        "it needs a normalised kernel",
    ),
    "lc": ("lc", GraphProblem(MIXED, LOCAL, 0.1), "it is not for graphs"),
    "degenerate": ("degenerate", GraphProblem(MIXED, LOCAL, 0.1), "it is not for graphs"),
}


@pytest.mark.parametrize("name", OBJECTIONS)
def test_a_method_says_why_it_does_not_apply(name: str) -> None:
    method, problem, reason = OBJECTIONS[name]
    assert (METHODS[method].objection(problem) or "").startswith(reason)
    with pytest.raises(NotApplicableError, match=f"method '{method}' does not apply: {reason}"):
        learning_curve(problem, METHODS[method], nu=[1.0])


@pytest.mark.parametrize("method", ["mckay", "master"])
def test_theory_on_graphs_refuses_vectors_and_teachers(method: MethodName) -> None:
    vectors = Problem(RBF(0.1), Torus(1), 0.1)
    with pytest.raises(NotApplicableError, match="it is for graphs only"):
        learning_curve(vectors, method, [1])
    taught = replace(GraphProblem(RandomRegular(3), LOCAL, 0.1), teacher=Teacher(GLOBAL, 0.1))
    with pytest.raises(NotApplicableError, match=r"must be well specified, but here the teacher differs from it"):
        learning_curve(taught, method, nu=[1.0])


def test_mckay_of_a_regular_graph_without_edges_says_that_it_needs_edges() -> None:
    with pytest.raises(NotApplicableError, match=r"degree of at least 1"):
        learning_curve(GraphProblem(RandomRegular(0), LOCAL, 0.1), "mckay", nu=[1.0])
