"""Designs: what they choose, how much that saves, and the bounds that no choice of inputs gets below."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable
from typing import Any

import networkx
import numpy as np
import pytest
from scipy.special import ndtr

import gpcurves as gpc
from gpcurves.designs import Design
from gpcurves.graphs.graph import IntArray
from gpcurves.numerics.validation import FloatArray

WALK = gpc.RandomWalkKernel(p=6, a=2, normalise="local")
RING = networkx.cycle_graph(9)
CLUB = networkx.karate_club_graph()


def error_on(C: FloatArray, chosen: IntArray, noise: float) -> float:
    """Return the average posterior variance over all vertices, with dense matrices."""
    K = C[np.ix_(chosen, chosen)] + noise * np.eye(len(chosen))
    return float((C.diagonal() - np.einsum("ij,ij->j", C[chosen], np.linalg.solve(K, C[chosen]))).mean())


@pytest.mark.parametrize("name", Design.offered())
def test_every_design_keeps_the_laws(name: str) -> None:
    problem = gpc.Problem(gpc.RBF(0.3), gpc.Gaussian(2), 0.1, design=name)
    design = problem.design
    assert Design.from_dict(json.loads(json.dumps(design.to_dict()))) == design
    assert gpc.Problem.from_dict(json.loads(json.dumps(problem.to_dict()))) == problem
    drawn = design.draw(problem, 16, np.random.default_rng(1))
    assert drawn.shape == (16, 2)
    assert np.isfinite(drawn).all()
    assert design.draw(problem, 0, np.random.default_rng(1)).shape == (0, 2)
    fewer = design.draw(problem, 9, np.random.default_rng(1))
    if design.nested and name != "random":  # random numbers in two dimensions are drawn in rows
        np.testing.assert_array_equal(fewer, drawn[:9])
    again = design.draw(problem, 16, np.random.default_rng(2))
    assert np.array_equal(drawn, again) == design.deterministic


@pytest.mark.parametrize("name", ["grid", "lhs", "sobol"])
def test_points_of_the_cube_become_inputs_by_quantiles(name: str) -> None:
    problem = gpc.Problem(gpc.RBF(0.3), gpc.Gaussian(2, variance=4.0), 0.1, design=name)
    uniform = ndtr(problem.design.draw(problem, 16, np.random.default_rng(0)) / 2)
    cells = 4 if name == "grid" else 16  # of each component; a Sobol sequence of 2^4 points has one in each of 16
    for component in uniform.T:
        assert np.bincount((component * cells).astype(int), minlength=cells).tolist() == [16 // cells] * cells


@pytest.mark.slow
def test_numbers_of_choosing_on_a_circle() -> None:
    # RBF, l = 0.05, noise 0.05, n = 20: random .188, greedy .053, equispaced .044, no choice below .038
    problem = gpc.Problem(gpc.RBF(0.05), gpc.Torus(1), 0.05)
    names = ["random", "greedy", "greedy-variance", "grid", "sobol"]
    curves = gpc.compare_designs(problem, [20], names, datasets=100, rng=0)
    error = {label: float(curve.error[0]) for label, curve in curves.items()}
    assert error["random"] == pytest.approx(0.188, rel=0.05)
    assert error["greedy"] == pytest.approx(0.053, rel=0.05)
    assert round(error["grid"], 3) == 0.044
    assert round(error["plaskota"], 3) == 0.038
    assert error["grid"] < error["greedy"] < error["sobol"] < error["random"]


def test_greedy_choices_are_those_of_a_search_over_all_vertices() -> None:
    problem = gpc.GraphProblem(CLUB, WALK, 0.1, design="greedy")
    C = WALK.on(gpc.as_graph(CLUB)).matrix()
    chosen: list[int] = []
    for _ in range(40):  # more than a block, and more than there are vertices
        left = [error_on(C, np.array([*chosen, vertex]), 0.1) for vertex in range(34)]
        chosen.append(int(np.argmin(left)))
    table = gpc.chosen_inputs(problem, 40)
    expected = [error_on(C, np.array(chosen[: k + 1]), 0.1) for k in range(40)]
    np.testing.assert_allclose(table["error"], expected, rtol=1e-9)
    assert len(set(chosen)) < 40


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_greedy_variance_takes_the_vertex_that_is_known_least(noise: float) -> None:
    graph = gpc.as_graph(CLUB)
    C = gpc.RandomWalkKernel(p=6, a=2, normalise="none").on(graph).matrix()
    problem = gpc.GraphProblem(graph, gpc.RandomWalkKernel(p=6, a=2, normalise="none"), noise, design="greedy-variance")
    P = C.copy()
    for name in gpc.chosen_inputs(problem, 12)["vertex"]:
        vertex = graph.number(name)
        assert P[vertex, vertex] == pytest.approx(P.diagonal().max(), rel=1e-8)
        P -= np.outer(P[vertex], P[vertex]) / (P[vertex, vertex] + noise)


@pytest.mark.parametrize("name", ["greedy", "greedy-variance"])
def test_a_design_goes_on_from_what_is_known(name: str) -> None:
    problem = gpc.GraphProblem(CLUB, WALK, 0.1, design=name)
    everything = gpc.chosen_inputs(problem, 10)
    later = gpc.chosen_inputs(problem, 6, known=everything["vertex"][:4])
    assert later["vertex"].tolist() == everything["vertex"][4:].tolist()
    np.testing.assert_allclose(later["error"], everything["error"][4:], rtol=1e-10)
    once = gpc.GraphProblem(CLUB, WALK, 0.1, design=gpc.Greedy(repeat=False))
    assert set(gpc.chosen_inputs(once, 30, known=[0, 1, 2, 3])["vertex"]) == set(map(str, range(4, 34)))


def test_a_design_that_is_no_sequence_is_drawn_for_each_size() -> None:
    problem = gpc.Problem(gpc.RBF(0.2), gpc.Box(1), 0.05, design="lhs")
    together = gpc.learning_curve(problem, "simulation", [0, 3, 8], datasets=5, rng=3)
    for k, n in enumerate((0, 3, 8)):
        alone = gpc.learning_curve(problem, "simulation", [n], datasets=5, rng=3)
        assert together.error[k] == alone.error[0]
    grid = gpc.Problem(gpc.RBF(0.2), gpc.Box(1), 0.05, design="grid")
    X = np.array([0.125, 0.375, 0.625, 0.875])
    at, weight = np.polynomial.legendre.leggauss(40)
    variance = gpc.posterior_variance(grid, X, (at + 1) / 2)
    assert gpc.learning_curve(grid, "simulation", [4], rng=0).error[0] == pytest.approx(variance @ weight / 2, rel=1e-9)


def test_chosen_vertices_are_simulated_as_listed() -> None:
    problem = gpc.GraphProblem(CLUB, WALK, 0.1, design="greedy")
    table = gpc.chosen_inputs(problem, 20)
    curve = gpc.learning_curve(problem, "simulation", n=[1, 7, 20], rng=0)
    np.testing.assert_allclose(curve.error, table["error"].to_numpy()[[0, 6, 19]], rtol=1e-9)
    assert curve.stderr is not None
    assert not curve.stderr.any()
    random = gpc.GraphProblem(gpc.ErdosRenyi(3), WALK, 0.1)
    greedy = gpc.GraphProblem(gpc.ErdosRenyi(3), WALK, 0.1, design="greedy")
    few: dict[str, Any] = {"nu": [0.3], "graphs": 3, "vertices": 60, "rng": 0}
    assert gpc.learning_curve(greedy, "simulation", **few).error < gpc.learning_curve(random, "simulation", **few).error


GRIDS: dict[str, tuple[gpc.RBF | gpc.OU | gpc.Matern32, int, int]] = {
    "rbf": (gpc.RBF(0.1), 1, 7),
    "rbf, d = 2": (gpc.RBF((0.15, 0.3), 2.0), 2, 3),
    "ou": (gpc.OU(0.4), 1, 6),
    "matern32, d = 2": (gpc.Matern32(0.3), 2, 4),
}


@pytest.mark.parametrize("noise", [0.0, 0.01, 1.0])
@pytest.mark.parametrize("case", GRIDS)
def test_the_curve_of_a_grid_is_the_error_of_its_data_set(case: str, noise: float) -> None:
    kernel, dim, side = GRIDS[case]
    problem = gpc.Problem(kernel, gpc.Torus(dim), noise, design="grid")
    n = [0, 1, side**dim]
    exact = gpc.learning_curve(problem, "grid", n).error
    np.testing.assert_allclose(exact, gpc.learning_curve(problem, "simulation", n, rng=0).error, rtol=1e-9)


def test_a_grid_retyped() -> None:
    noise, size, scale = 0.5, 10, 0.1
    q = np.arange(-400, 401)
    waves = math.sqrt(2 * math.pi) * scale * np.exp(-2 * (math.pi * scale * q) ** 2)
    error = waves.sum()
    for r in range(size):
        folded = waves[q % size == r]
        error -= size * (folded**2).sum() / (size * folded.sum() + noise)
    problem = gpc.Problem(gpc.RBF(scale), gpc.Torus(1), noise)
    curves = gpc.learning_curves(problem, [size], ["grid", "ov", "plaskota"])
    assert curves["grid"].error[0] == pytest.approx(error, rel=1e-12)
    assert [round(float(curve.error[0]), 5) for curve in curves.values()] == [0.25902, 0.25900, 0.25560]
    far = gpc.learning_curve(gpc.Problem(gpc.RBF(0.3), gpc.Torus(1), 0.0), "grid", [12]).error[0]
    assert 0 < far < 1e-25  # far below what a difference of two numbers of order 1 resolves


def test_a_grid_that_is_not_full_says_so() -> None:
    problem = gpc.Problem(gpc.RBF(0.2), gpc.Torus(2), 0.1)
    curve = gpc.learning_curve(problem, "grid", [9, 10, 16])
    assert curve.error[0] == curve.error[1] > curve.error[2]
    assert curve.notes == ("a grid in 2 dimensions has k^2 points: of n = 10 examples it uses 9",)
    assert gpc.required_n(problem, float(curve.error[2]), "grid") == 16


def circle_covariances(X: FloatArray, scale: float) -> FloatArray:
    """Return the covariances of an RBF on the circle between the inputs of each of many data sets."""
    apart = X[:, :, None] - X[:, None, :]
    return np.asarray(sum(np.exp(-((apart - r) ** 2) / (2 * scale**2)) for r in range(-4, 5)))


@pytest.mark.parametrize(("noise", "scale"), [(0.5, 0.1), (0.01, 0.2), (2.0, 0.05)])
def test_no_design_on_a_torus_beats_ov_or_gains_more_information(noise: float, scale: float) -> None:
    rng, n = np.random.default_rng(0), 5
    uniform, near = rng.random((5_000, n)), 0.05 * rng.random((1_000, n))
    even = np.arange(n) / n + rng.random((4_000, n)) * np.geomspace(1e-4, 0.3, 4_000)[:, None]
    X = np.concatenate((uniform, near, even))  # 10,000 designs, some of them nearly regular
    K, trace = circle_covariances(X, scale), circle_covariances(np.zeros((1, 1)), scale).item()
    B = math.sqrt(math.pi) * scale * circle_covariances(X, math.sqrt(2) * scale)  # averages over a test input
    error = trace - np.trace(np.linalg.solve(K + noise * np.eye(n), B), axis1=1, axis2=2)
    gain = np.linalg.slogdet(np.eye(n) + K / noise)[1] / 2
    problem = gpc.Problem(gpc.RBF(scale), gpc.Torus(1), noise, design="greedy")
    bound = gpc.learning_curve(problem, "ov", [n]).error[0]
    most = gpc.learning_curve(problem, "info", [n], quantity="information").error[0]
    assert len(error) == 10_000
    assert error.min() >= bound * (1 - 1e-12)
    assert gain.max() <= most * (1 + 1e-12)
    if noise == 2.0:  # where the bounds are close
        assert error.min() < 1.2 * bound
        assert gain.max() > 0.8 * most


@pytest.mark.parametrize("graph", [RING, networkx.petersen_graph(), networkx.grid_2d_graph(3, 4, periodic=True)])
def test_no_design_on_a_homogeneous_graph_beats_ov(graph: networkx.Graph) -> None:
    problem = gpc.GraphProblem(graph, WALK, 0.2, design="greedy")
    V, C = len(graph), WALK.on(gpc.as_graph(graph)).matrix()
    rng = np.random.default_rng(1)
    counts = rng.multinomial(6, rng.dirichlet(np.full(V, 0.5), size=3_400))
    root = np.sqrt(counts / 0.2)
    inner = np.eye(V) + root[:, :, None] * C * root[:, None, :]
    error = (
        np.trace(C) - np.trace(np.linalg.solve(inner, root[:, :, None] * (C @ C) * root[:, None, :]), axis1=1, axis2=2)
    ) / V
    curves = gpc.learning_curves(problem, [6], rng=0)
    assert error.min() >= curves["ov"].error[0] * (1 - 1e-12)
    gain = np.linalg.slogdet(inner)[1] / 2
    assert gain.max() <= gpc.learning_curve(problem, "info", [6], quantity="information").error[0] * (1 + 1e-12)


def test_graphs_whose_vertices_differ_are_not_homogeneous() -> None:
    for graph in (CLUB, networkx.path_graph(6), networkx.random_regular_graph(3, 20, seed=1)):
        problem = gpc.GraphProblem(graph, WALK, 0.1, design="greedy")
        with pytest.raises(gpc.NotApplicableError, match="inputs must be drawn at random"):
            gpc.learning_curve(problem, "ov", n=[3])


@pytest.mark.parametrize("normalise", ["local", "global"])
def test_plaskota_holds_for_all_choices_of_vertices(normalise: str) -> None:
    graph = networkx.star_graph(5)
    kernel = gpc.RandomWalkKernel(p=3, a=2, normalise=normalise)  # type: ignore[arg-type]
    problem = gpc.GraphProblem(graph, kernel, 0.1, design="greedy")
    C = kernel.on(gpc.as_graph(graph)).matrix()
    for n in (1, 2, 3):
        best = min(error_on(C, np.array(each), 0.1) for each in itertools.combinations_with_replacement(range(6), n))
        bound = gpc.learning_curve(problem, "plaskota", n=[n]).error[0]
        assert 0.2 * best < bound <= best * (1 + 1e-12)


def test_information_is_the_log_determinant() -> None:
    problem = gpc.Problem(gpc.RBF(0.2), gpc.Torus(1), 0.3, design="grid")
    K = circle_covariances(np.arange(6)[None] / 6, 0.2)[0]
    expected = np.linalg.slogdet(np.eye(6) + K / 0.3)[1] / 2
    curve = gpc.learning_curve(problem, "simulation", [0, 6], quantity="information", datasets=2, rng=0)
    np.testing.assert_allclose(curve.error, [0, expected], rtol=1e-10)
    random = gpc.Problem(gpc.RBF(0.05), gpc.Torus(1), 0.3)
    curves = gpc.learning_curves(random, [0, 5, 20], ["lc", "info", "simulation"], quantity="information", rng=0)
    np.testing.assert_allclose(curves["lc"].error, curves["simulation"].error, rtol=0.05)
    assert (curves["simulation"].error <= curves["info"].error).all()
    on_graph = gpc.GraphProblem(RING, WALK, 0.3, design="greedy")
    C = WALK.on(gpc.as_graph(RING)).matrix()
    chosen = gpc.chosen_inputs(on_graph, 12)["vertex"].astype(int).to_numpy()
    expected = np.linalg.slogdet(np.eye(12) + C[np.ix_(chosen, chosen)] / 0.3)[1] / 2
    found = gpc.learning_curve(on_graph, "simulation", n=[12], quantity="information", rng=0)
    assert found.error[0] == pytest.approx(expected, rel=1e-10)


def test_what_choosing_saves() -> None:
    problem = gpc.Problem(gpc.RBF(0.05), gpc.Torus(1), 0.05)
    curves = gpc.compare_designs(problem, [5, 10, 20], ["random", "greedy"], datasets=40, rng=0)
    assert list(curves) == ["random", "greedy", "plaskota", "ov"]
    saving = curves.saving()
    assert saving.design == "greedy"
    assert saving.error == pytest.approx(float(curves["greedy"].error[-1]), rel=0.01)
    assert saving.needed["greedy"] == 20
    assert 35 <= saving.needed["random"] <= 48  # beyond the sizes asked for
    needed = gpc.required_n(problem, saving.error, "simulation", datasets=40, rng=0)
    assert saving.needed["random"] == pytest.approx(needed, abs=2)
    assert saving.needed["plaskota"] == gpc.required_n(problem, saving.error, "plaskota")
    assert saving.share is not None
    assert saving.share == pytest.approx(1 - 20 / saving.needed["random"])
    assert str(saving) == (
        f"20 inputs chosen by greedy give an error of {saving.error:g}; random ones need about {saving.needed['random']:.0f}: "
        f"choosing saves {100 * saving.share:.0f} %. No choice reaches it with fewer than 17 (plaskota)."
    )
    assert curves.saving(1e-8).sentence == "No design reaches an error of 1e-08 with 20 inputs."
    assert float(curves.continued()["random"].n.max()) > 40


def test_goals_are_answered_for_chosen_inputs() -> None:
    kernel, circle = gpc.RBF(0.05), gpc.Torus(1)
    found = [gpc.required_n(gpc.Problem(kernel, circle, 0.05, design=each), 0.1) for each in ("grid", "greedy")]
    assert found == [14, 15]
    designs = gpc.sweep(
        gpc.Problem(kernel, circle, 0.05), [14], "simulation", design=["lhs", "grid"], datasets=3, rng=0
    )
    assert list(designs) == ["simulation, design LatinHypercube()", "simulation, design Grid()"]
    assert designs["simulation, design Grid()"].error[0] < 0.1 < designs["simulation, design LatinHypercube()"].error[0]


BAD: dict[str, tuple[Callable[[], object], str]] = {
    "unknown name": (
        lambda: gpc.Problem(gpc.RBF(0.1), gpc.Torus(1), 0.1, design="sobl"),
        "unknown design 'sobl': did you mean 'sobol'",
    ),
    "no quantiles": (
        lambda: gpc.Problem(gpc.RBF(0.1), gpc.Sample(np.ones((3, 2))), 0.1, design="lhs"),
        "the design 'lhs' needs inputs with quantiles, but Sample",
    ),
    "a graph": (
        lambda: gpc.GraphProblem(CLUB, WALK, 0.1, design="grid"),
        "the design 'grid' needs inputs with quantiles, but a graph has no coordinates",
    ),
    "classes": (
        lambda: gpc.Problem(gpc.RBF(0.1), gpc.Torus(1), gpc.Probit(), design="greedy"),
        "the design 'greedy' needs Gaussian noise, but labels are Probit",
    ),
    "too many for the candidates": (
        lambda: gpc.learning_curve(
            gpc.Problem(gpc.RBF(0.1), gpc.Torus(1), 0.1, design=gpc.Greedy(candidates=8)), "simulation", [9]
        ),
        "the design 'greedy' chooses each of 8 candidates once, but 9 are asked for",
    ),
    "too many for the vertices": (
        lambda: gpc.chosen_inputs(gpc.GraphProblem(CLUB, WALK, 0.0, design="greedy-variance"), 35),
        "chooses each of 34 vertices once, but 35 are asked for: without noise a repeated label adds no information",
    ),
    "no square": (
        lambda: gpc.learning_curve(gpc.Problem(gpc.RBF(0.1), gpc.Torus(2), 0.1, design="grid"), "simulation", [10]),
        "a grid in 2 dimensions has k\\^2 points: n must be 9 or 16, got 10",
    ),
    "candidates": (lambda: gpc.Greedy(candidates=0), "candidates must be an integer, at least 1, got 0"),
    "an ensemble": (
        lambda: gpc.chosen_inputs(gpc.GraphProblem(gpc.ErdosRenyi(3), WALK, 0.1, design="greedy"), 3),
        "an ensemble of graphs has no vertices to choose",
    ),
    "known": (
        lambda: gpc.chosen_inputs(gpc.Problem(gpc.RBF(0.1), gpc.Torus(1), 0.1), 3, known=[0.5]),
        "known inputs have no effect on Random",
    ),
    "nothing to compare": (
        lambda: gpc.compare_designs(gpc.Problem(gpc.RBF(0.1), gpc.Torus(1), 0.1), [3], ["random"], datasets=2).saving(),
        "a comparison needs random inputs and another design",
    ),
    "twice": (
        lambda: gpc.compare_designs(gpc.Problem(gpc.RBF(0.1), gpc.Torus(1), 0.1), [3], ["sobol", "sobol"]),
        "two designs are equal",
    ),
    "theory of random inputs": (
        lambda: gpc.compare_designs(gpc.Problem(gpc.RBF(0.1), gpc.Torus(1), 0.1), [3], ["sobol"], methods=["lc"]),
        "method 'lc' does not apply: inputs must be drawn at random",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_chosen_is_refused_in_a_sentence(case: str) -> None:
    attempt, message = BAD[case]
    with pytest.raises(gpc.InputError, match=message):
        attempt()
