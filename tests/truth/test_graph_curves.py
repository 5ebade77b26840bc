"""Curves on graphs as a user meets them: what may be asked, what comes back, what is kept, and who computes it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpcurves as gpc
from gpcurves import (
    RBF,
    CurveSet,
    DegreeDistribution,
    DiffusionKernel,
    ErdosRenyi,
    Graph,
    GraphProblem,
    InputError,
    LearningCurve,
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
    learning_curves,
    load,
    required_n,
    vertex_variances,
)
from gpcurves.api import sizes_of
from gpcurves.designs import Random
from gpcurves.methods.base import CurveInterrupted
from gpcurves.methods.eigenvalue import GraphEigenvalues
from gpcurves.methods.simulation.vertices import VertexDataSets
from gpcurves.montecarlo import Interrupted
from gpcurves.numerics.validation import FloatArray

Results = Mapping[str, FloatArray | float]

LOCAL = RandomWalkKernel(10, 2.0, "local")
GLOBAL = RandomWalkKernel(10, 2.0, "global")
NAMED = Graph.from_edges([(0, 1), (1, 2), (3, 4)], 6, [0.5, 2.0, 1.0], ["a", "b", "ü", "d e", "5", ""])
RING = Graph.from_edges([(k, (k + 1) % 12) for k in range(12)])
GIVEN = GraphProblem(RING, LOCAL, 0.1)
DRAWN = GraphProblem(ErdosRenyi(3), LOCAL, 0.1)
TAUGHT = GraphProblem(RING, LOCAL, 0.1, Teacher(RandomWalkKernel(4, 3.0, "global"), 0.2))
VECTORS = Problem(RBF(0.1), Torus(1), 0.1)
FEW: dict[str, Any] = {"vertices": 20, "graphs": 4, "datasets": 2, "rng": 5}


class _Chosen(Random):
    """Inputs that are chosen."""


def simulated(problem: Problem, nu: Any = (0.5, 1.0), **options: Any) -> LearningCurve:
    return learning_curve(problem, "simulation", nu=nu, **options)


def same(one: LearningCurve, other: LearningCurve) -> bool:
    return one.to_json() == other.to_json()


# --- what may be asked -----------------------------------------------------------------------------------------------

REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "n and nu on a graph": (lambda: learning_curve(GIVEN, "eigenvalue", [1], nu=[1.0]), "pass either n .* nu"),
    "neither n nor nu": (lambda: learning_curve(GIVEN, "eigenvalue"), "pass either n .* nu"),
    "nu on vectors": (
        lambda: learning_curve(VECTORS, "lc", nu=[1.0]),
        r"nu \(examples per vertex\) is for graphs only",
    ),
    "n and nu on vectors": (lambda: learning_curve(VECTORS, "lc", [1], nu=[1.0]), "pass either n .* nu"),
    "negative nu": (lambda: simulated(GIVEN, [0.5, -1.0]), "nu must be finite and at least 0, got -1"),
    "nan": (lambda: simulated(GIVEN, [float("nan")]), "nu must be finite"),
    "no nu": (lambda: simulated(GIVEN, []), "nu must not be empty"),
    "words": (lambda: simulated(GIVEN, ["many"]), "nu must be"),
    "nested": (lambda: simulated(GIVEN, [[0.5, 1.0]]), "nu must be"),
    "noise": (lambda: learning_curve(GIVEN, "eigenvalue", nu=[1.0], noise=0.1), "noise is part of the problem"),
    "vertices of a given graph": (lambda: simulated(GIVEN, vertices=50), "vertices applies to an ensemble of graphs"),
    "graphs of a given graph": (lambda: simulated(GIVEN, graphs=5), "graphs applies to an ensemble .* graph is given"),
    "vertices for theory": (
        lambda: learning_curve(GIVEN, "eigenvalue", nu=[1.0], vertices=50),
        "vertices applies to an ensemble of graphs",
    ),
    "vertices of variances": (lambda: vertex_variances(GIVEN, 1.0, vertices=5), "vertices applies to an ensemble"),
    "precision of variances": (
        lambda: vertex_variances(DRAWN, 1.0, precision=0.1),
        "method 'simulation' takes no option 'precision'",
    ),
    "groups of variances": (lambda: vertex_variances(GIVEN, 1.0, among=["giant"]), "takes no option 'among'"),
    "variances of vectors": (lambda: vertex_variances(VECTORS, 1.0), "the problem must be on a graph"),
    "one data set": (lambda: simulated(GIVEN, datasets=1), "datasets must be an integer, at least 2, got 1"),
    "no data set": (lambda: simulated(GIVEN, datasets=0), "datasets must be an integer, at least 1, got 0"),
    "no data set on a graph": (lambda: simulated(DRAWN, datasets=0), "datasets must be an integer, at least 1"),
    "half a data set": (lambda: simulated(GIVEN, datasets=2.5), "datasets must be an integer"),
    "no data set of variances": (lambda: vertex_variances(GIVEN, 1.0, datasets=0), "datasets must be an integer"),
    "one graph": (lambda: simulated(DRAWN, graphs=1), "graphs must be an integer, at least 2, got 1"),
    "no graph": (lambda: simulated(DRAWN, graphs=0), "graphs must be an integer, at least 2, got 0"),
    "no vertices": (lambda: simulated(DRAWN, vertices=0), "vertices must be an integer, at least 1, got 0"),
    "no precision": (lambda: simulated(GIVEN, precision=0), "precision must be greater than 0, got 0"),
    "odd regular graphs": (
        lambda: simulated(GraphProblem(RandomRegular(3), LOCAL, 0.1), vertices=15, graphs=2, rng=1),
        "no graph has 15 vertices of degree 3",
    ),
    "an unknown group": (lambda: simulated(GIVEN, among=["isolatd"]), "did you mean 'isolated'"),
    "a group without its number": (lambda: simulated(GIVEN, among=["degree=K"]), "needs an integer at least 0"),
    "a group with half a number": (lambda: simulated(GIVEN, among=["degree=1.5"]), "a group degree=K needs an integer"),
    "a group that is a number": (lambda: simulated(GIVEN, among=[3]), "group"),
    "groups that are a number": (lambda: simulated(GIVEN, among=3), "group"),
    "an unknown option": (lambda: simulated(GIVEN, dataset=3), "method 'simulation' takes no option 'dataset'"),
    "an option of vectors": (
        lambda: simulated(GIVEN, test_points=3),
        "test_points applies to inputs that are vectors",
    ),
    "data sets for theory": (
        lambda: learning_curve(DRAWN, "eigenvalue", nu=[1.0], datasets=3),
        "method 'eigenvalue' takes no option 'datasets'",
    ),
    "an option for a formula": (
        lambda: learning_curve(GraphProblem(RandomRegular(3), LOCAL, 0.1), "mckay", nu=[1.0], vertices=3),
        "method 'mckay' takes no option 'vertices': it belongs to simulation, eigenvalue",
    ),
    "an option for none": (
        lambda: learning_curves(DRAWN, nu=[1.0], methods=["eigenvalue", "simulation"], test_points=3),
        "test_points applies to inputs that are vectors",
    ),
    "an option of none": (
        lambda: learning_curves(DRAWN, nu=[1.0], methods=["eigenvalue", "simulation"], population=3),
        "none of the methods eigenvalue, simulation takes option 'population': it belongs to cavity",
    ),
    "an option at its default value": (
        lambda: learning_curve(GIVEN, "simulation", nu=[1.0], test_points=1000),
        "test_points applies to inputs that are vectors",
    ),
    "a seed for what is not drawn": (
        lambda: learning_curve(GIVEN, "eigenvalue", nu=[1.0], rng=3),
        "rng is not used: nothing is drawn at random by eigenvalue",
    ),
    "workers for what is not drawn": (lambda: required_n(VECTORS, 0.1, workers=5), "workers is not used"),
    "a store for what is not drawn": (lambda: required_n(VECTORS, 0.1, store="no.db"), "store is not used"),
    "a number of examples on an ensemble": (
        lambda: required_n(DRAWN, 0.1),
        r"a goal is given in examples per vertex: .*reaches\(error\)",
    ),
    "a grid on a graph": (
        lambda: GraphProblem(RING, LOCAL, 0.1, design="grid"),
        "the design 'grid' needs inputs with quantiles, but a graph has no coordinates",
    ),
    "an unknown method": (lambda: learning_curve(GIVEN, "eigenvalues", nu=[1.0]), "did you mean 'eigenvalue'"),  # type: ignore[arg-type]
    "a kernel of vectors": (lambda: GraphProblem(RING, RBF(0.1), 0.1), "on a graph the kernel must be one such as"),  # type: ignore[arg-type]
    "a teacher of vectors": (
        lambda: GraphProblem(RING, LOCAL, 0.1, Teacher(RBF(0.1), 0.1)),
        "of the teacher: on a graph the kernel must be one such as",
    ),
    "a teacher of graphs": (
        lambda: Problem(RBF(0.1), Torus(1), 0.1, Teacher(LOCAL, 0.1)),
        "of the teacher: a kernel between vertices of a graph needs a graph",
    ),
    "negative noise": (lambda: GraphProblem(RING, LOCAL, -0.1), "noise must be at least 0, got -0.1"),
    "no graph at all": (lambda: GraphProblem(3, LOCAL, 0.1), "a graph must be a Graph, a NetworkX"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_makes_no_sense_is_refused_in_words(name: str) -> None:
    ask, message = REFUSED[name]
    with pytest.raises(InputError, match=message):
        ask()


def test_one_nu_is_a_curve_of_one_value() -> None:
    for nu in (2, 2.0, [2], np.array([2.0]), (2,)):
        assert learning_curve(GIVEN, "eigenvalue", nu=nu).nu.tolist() == [2.0]


def test_graphs_of_other_libraries_may_be_given() -> None:
    import networkx

    ring = networkx.cycle_graph(12)
    expected = learning_curve(GIVEN, "eigenvalue", nu=[0.5, 1.0]).error
    for graph in (ring, networkx.to_scipy_sparse_array(ring), networkx.to_numpy_array(ring)):
        found = learning_curve(GraphProblem(graph, LOCAL, 0.1), "eigenvalue", nu=[0.5, 1.0])
        np.testing.assert_allclose(found.error, expected, rtol=1e-13)


def test_a_string_is_one_group() -> None:
    one, other = (simulated(GIVEN, datasets=3, rng=1, among=among) for among in ("giant", ["giant"]))
    assert same(one, other)


# --- several methods -------------------------------------------------------------------------------------------------


def test_all_is_the_theory_that_applies() -> None:
    curves = learning_curves(GIVEN, nu=[0.5, 1.0], precision=0.2, rng=1)
    assert set(curves) == {"simulation", "eigenvalue", "local"}
    assert set(curves.skipped) == {"mckay", "master", "cavity"}
    assert curves.skipped["mckay"].startswith("it is the limit of large random regular graphs")
    assert curves.skipped["cavity"].startswith("on 12 vertices simulation is fast and exact")


@pytest.mark.slow
def test_all_on_an_ensemble_takes_the_graphs_for_the_theory() -> None:
    curves = learning_curves(DRAWN, nu=[0.5], vertices=20, graphs=3, rng=1, precision=0.1, population=64)
    assert set(curves) == {"eigenvalue", "cavity"}
    assert curves["eigenvalue"].options == {"vertices": 20, "graphs": 3}


@pytest.mark.slow
def test_all_with_options_of_a_simulation_takes_it_too() -> None:
    problem = GraphProblem(RandomRegular(3), RandomWalkKernel(4, normalise="global"), 0.1)
    curves = learning_curves(problem, nu=[0.5, 1.0], population=64, **FEW)
    assert set(curves) == {"simulation", "eigenvalue", "mckay", "cavity"}
    assert set(curves.skipped) == {"master", "local"}
    alone = learning_curve(problem, "eigenvalue", nu=[0.5, 1.0], vertices=20, graphs=4, rng=5)
    assert same(curves["eigenvalue"], alone)
    assert same(curves["simulation"], simulated(problem, **FEW))


def test_where_no_theory_applies_it_simulates_or_says_so() -> None:
    chosen = learning_curves(replace(GIVEN, design=_Chosen()), nu=[1.0], datasets=3)
    assert {"mw", "plaskota", "simulation"} <= set(chosen)
    assert "here they are chosen by" in chosen.skipped["eigenvalue"]
    curves = learning_curves(TAUGHT, nu=[1.0], datasets=3, rng=1)
    assert {"eigenvalue", "simulation"} <= set(curves)
    assert {"mckay", "master"} <= set(curves.skipped)


def test_methods_by_name_must_apply() -> None:
    with pytest.raises(NotApplicableError, match="method 'lc' does not apply: it is not for graphs"):
        learning_curves(GIVEN, nu=[1.0], methods=["eigenvalue", "lc"])
    with pytest.raises(InputError, match="methods must not be empty"):
        learning_curves(GIVEN, nu=[1.0], methods=[])


# --- what comes back -------------------------------------------------------------------------------------------------

KEPT: dict[str, Problem] = {
    "given, with names and weights": GraphProblem(NAMED, GLOBAL, 0.1),
    "given, without edges": GraphProblem(Graph.from_edges([], 3), LOCAL, 0.0),
    "erdos-renyi": DRAWN,
    "regular": GraphProblem(RandomRegular(4), DiffusionKernel(1.5, "local"), 1e-8),
    "power law": GraphProblem(PowerLaw(2.5, 2.0), RegularisedLaplacianKernel(2.0, "global"), 0.1),
    "degrees": GraphProblem(
        DegreeDistribution((0.1, 0.2, 0.3, 0.4)), PolynomialWalkKernel((0.5, 0.2, 0.3), "global"), 0.1
    ),
    "taught": TAUGHT,
    "taught, drawn": GraphProblem(ErdosRenyi(2), LOCAL, 0.1, Teacher(GLOBAL, 0.0)),
}


@pytest.mark.parametrize("name", KEPT)
def test_a_curve_survives_a_file(name: str, tmp_path: Path) -> None:
    problem = KEPT[name]
    options = {"datasets": 3, "rng": 5} if isinstance(problem.graph, Graph) else FEW
    among = ["giant", "component=999"]
    curve = simulated(problem, (0.0, 0.33, 2.0), among=among, **options)
    path = tmp_path / "curve.json"
    text = curve.to_json(path)
    found = load(path)
    assert isinstance(found, LearningCurve)
    assert found.problem == problem
    assert found.to_json() == text
    assert found.nu.tolist() == [0.0, 0.33, 2.0]
    assert found.options == curve.options
    assert found.options["among"] == among
    assert found.notes == curve.notes
    assert "no vertex belongs to the group 'component=999'" in found.notes
    assert dict(found.details).keys() == dict(curve.details).keys()
    for key, values in curve.details.items():
        np.testing.assert_array_equal(found.details[key], values)
    np.testing.assert_array_equal(found.stderr, curve.stderr)
    # and it can be computed again from itself
    assert same(simulated(found.problem, found.nu, rng=found.rng, **found.options), curve)


@pytest.mark.parametrize("name", KEPT)
def test_a_set_of_curves_survives_a_file(name: str, tmp_path: Path) -> None:
    problem = KEPT[name]
    options = {"datasets": 3, "rng": 5} if isinstance(problem.graph, Graph) else FEW
    quick = isinstance(problem.graph, Graph)
    methods: Any = "all" if quick else ["eigenvalue", "simulation"]
    curves = learning_curves(problem, nu=[0.5, 1.0], methods=methods, **options)
    path = tmp_path / "curves.json"
    curves.to_json(path)
    found = load(path)
    assert isinstance(found, CurveSet)
    assert found.problem == problem
    assert found.skipped == curves.skipped
    assert list(found) == list(curves)
    assert all(same(found[method], curves[method]) for method in curves)
    assert "nu" in json.loads(path.read_text())["curves"][0]


def test_any_degree_distribution_survives_being_written_down() -> None:
    for seed in range(30):
        chance = np.random.default_rng(seed).random(7)
        problem = GraphProblem(DegreeDistribution(tuple((chance / chance.sum()).tolist())), LOCAL, 0.1)
        assert Problem.from_dict(json.loads(json.dumps(problem.to_dict()))) == problem, seed


def test_names_and_weights_of_a_graph_come_back(tmp_path: Path) -> None:
    learning_curve(KEPT["given, with names and weights"], "eigenvalue", nu=[1.0]).to_json(tmp_path / "curve.json")
    curve = load(tmp_path / "curve.json")
    assert isinstance(curve, LearningCurve)
    graph = curve.problem.graph
    assert isinstance(graph, Graph)
    assert graph.labels == ("a", "b", "ü", "d e", "5", "")
    np.testing.assert_array_equal(graph.adjacency.toarray(), NAMED.adjacency.toarray())


def test_tables_have_a_column_nu() -> None:
    curves = learning_curves(DRAWN, nu=[0.5, 1.0], methods=["eigenvalue", "simulation"], **FEW)
    frame = curves.to_frame()
    assert list(frame.columns) == ["method", "nu", "error", "stderr"]
    assert frame["method"].tolist() == [method for method in curves for _ in range(2)]
    assert frame["nu"].tolist() == [0.5, 1.0] * len(curves)
    assert list(curves["simulation"].to_frame().columns) == ["nu", "error", "stderr"]
    assert learning_curve(GIVEN, "eigenvalue", nu=[1.0]).to_frame()["stderr"].isna().all()


def test_on_a_given_graph_n_is_the_number_of_labels() -> None:
    curve = learning_curve(GIVEN, "eigenvalue", nu=[0.5, 1.0])
    vertices = GIVEN.examples_per_size
    assert curve.axis == "nu"
    assert curve.nu is curve.sizes
    assert curve.n.tolist() == [0.5 * vertices, vertices]
    assert not curve.n.flags.writeable
    labels = learning_curve(GIVEN, "eigenvalue", 3)
    assert labels.n.tolist() == [0, 1, 2, 3]
    assert labels.nu.tolist() == [k / vertices for k in range(4)]
    with pytest.raises(AttributeError, match="not on a graph: it has no nu"):
        _ = learning_curve(VECTORS, "lc", [1]).nu


def test_the_graphs_of_an_ensemble_have_no_size_so_that_n_is_per_vertex() -> None:
    curve = simulated(DRAWN, **FEW)
    assert curve.n.tolist() == curve.nu.tolist() == [0.5, 1.0]
    assert same(learning_curve(DRAWN, "simulation", curve.n, rng=curve.rng, **curve.options), curve)


@pytest.mark.parametrize("vertices", [2, 7, 9, 34, 49, 77, 1000, 12_345])
def test_any_examples_per_vertex_come_back_from_the_number_of_labels(vertices: int) -> None:
    graph = GraphProblem(Graph.from_edges([(0, 1)], vertices), RandomWalkKernel(1), 0.1)
    few = np.arange(1, 2_000) / 1_000
    many = np.random.default_rng(vertices).lognormal(0, 3, 2_000)
    for nu, digits in ((few, 0), (many, 1)):
        asked = LearningCurve("lc", nu, np.ones(len(nu)), graph)
        back = LearningCurve("lc", sizes_of(graph, asked.n, None), asked.error, graph)
        np.testing.assert_array_max_ulp(back.nu, asked.nu, maxulp=digits)
        np.testing.assert_array_equal(back.n, asked.n)  # on which errors depend


@pytest.mark.slow
def test_curves_say_what_they_are() -> None:
    curves = learning_curves(DRAWN, nu=[0.5, 1.0], precision=0.2, population=64, **FEW)
    assert repr(curves["simulation"]).startswith("LearningCurve('simulation', nu = 0.5…1 (2 values), error = 0.")
    assert "ErdosRenyi(mean=3), noise 0.1)" in repr(curves["simulation"])
    assert "at nu = 0.5" in repr(curves)
    assert "mckay       does not apply: it is the limit" in repr(curves)
    assert "teacher RandomWalkKernel(p=4, a=3" in repr(simulated(TAUGHT, datasets=2, rng=1))
    assert "<table" in curves._repr_html_()
    assert "<table" in curves["simulation"]._repr_html_()


def test_a_curve_cannot_be_changed() -> None:
    curve = simulated(GIVEN, datasets=3, rng=1, among=["giant"])
    for array in (curve.nu, curve.error, curve.stderr, *curve.details.values()):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0  # type: ignore[index]


# --- who computes it -------------------------------------------------------------------------------------------------


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The tasks that are computed in this process, as they are."""
    tasks: list[int] = []
    for kind in (VertexDataSets, GraphEigenvalues):

        def counting(self: Any, task: int, original: Callable[[Any, int], Results] = kind.draw) -> Results:
            tasks.append(task)
            return original(self, task)

        monkeypatch.setattr(kind, "draw", counting)
    return tasks


@pytest.mark.slow
def test_workers_change_no_bit() -> None:
    for problem, options in ((TAUGHT, {"datasets": 9, "rng": 5}), (DRAWN, FEW)):
        alone = simulated(problem, (0.3, 1.0, 3.0), among=["giant"], **options)
        assert same(alone, simulated(problem, (0.3, 1.0, 3.0), among=["giant"], workers=2, **options))
    theory = {"vertices": 20, "graphs": 4, "rng": 5}
    alone = learning_curve(DRAWN, "eigenvalue", nu=[0.3], **theory)
    assert same(alone, learning_curve(DRAWN, "eigenvalue", nu=[0.3], workers=2, **theory))
    one, two = (vertex_variances(DRAWN, 0.5, workers=count, **FEW) for count in (1, 2))
    np.testing.assert_array_equal(one.values, two.values)


@pytest.mark.parametrize(("problem", "many"), [(GIVEN, "datasets"), (DRAWN, "graphs")], ids=["given", "drawn"])
def test_a_store_goes_on_where_it_stopped(problem: Problem, many: str, tmp_path: Path, counted: list[int]) -> None:
    fixed = {"rng": 5} | ({"vertices": 20, "datasets": 2} if many == "graphs" else {})
    without = simulated(problem, **{**fixed, many: 10})
    counted.clear()
    store = tmp_path / "results.db"
    few = simulated(problem, store=store, **{**fixed, many: 6})
    more = simulated(problem, store=store, **{**fixed, many: 10})
    again = simulated(problem, store=store, workers=2, **{**fixed, many: 6})
    assert counted == list(range(10))
    assert same(more, without)
    assert same(again, few)


def test_theory_on_an_ensemble_is_kept_too(tmp_path: Path, counted: list[int]) -> None:
    options: dict[str, Any] = {"vertices": 20, "rng": 5, "store": tmp_path / "results.db"}
    learning_curve(DRAWN, "eigenvalue", nu=[0.5], graphs=3, **options)
    found = learning_curve(DRAWN, "eigenvalue", nu=[0.5], graphs=5, **options)
    assert counted == list(range(5))
    assert same(found, learning_curve(DRAWN, "eigenvalue", nu=[0.5], vertices=20, graphs=5, rng=5))


def test_a_store_tells_problems_apart(tmp_path: Path, counted: list[int]) -> None:
    other_ring = Graph.from_edges(
        [(k, (k + 1) % 6 + 6 * (k // 6)) for k in range(6)] + [(k, 6 + (k + 1) % 6) for k in range(6, 12)]
    )
    assert other_ring.vertices == RING.vertices
    assert other_ring.edges == RING.edges
    weighted = Graph.from_edges([(k, (k + 1) % 12) for k in range(12)], 12, [2.0] + 11 * [1.0])
    problems = [
        GIVEN,
        GraphProblem(other_ring, LOCAL, 0.1),
        GraphProblem(weighted, LOCAL, 0.1),
        GraphProblem(RING, GLOBAL, 0.1),
        GraphProblem(RING, LOCAL, 0.11),
        GraphProblem(RING, DiffusionKernel(normalise="global"), 0.1),
        TAUGHT,
        GraphProblem(RING, LOCAL, 0.1, Teacher(RandomWalkKernel(4, 3.0, "global"), 0.3)),
        GraphProblem(RING, LOCAL, 0.1, Teacher(RandomWalkKernel(5, 3.0, "global"), 0.2)),
    ]
    store = tmp_path / "results.db"
    variants: list[tuple[Problem, dict[str, Any]]] = [(problem, {}) for problem in problems]
    variants += [(GIVEN, {"rng": 6}), (GIVEN, {"nu": (1.0, 0.5)}), (GIVEN, {"among": ["giant"]})]
    variants += [(DRAWN, FEW | {"graphs": 3, **extra}) for extra in ({}, {"vertices": 21}, {"datasets": 3})]
    variants += [(GraphProblem(ErdosRenyi(2.5), LOCAL, 0.1), FEW | {"graphs": 3})]
    for problem, extra in variants:
        counted.clear()
        options = {"datasets": 3, "rng": 5} | extra
        kept = simulated(problem, store=store, **options)
        assert counted == [0, 1, 2], (problem, extra)
        assert same(kept, simulated(problem, **options))
    counted.clear()
    for problem, extra in variants:
        simulated(problem, store=store, **{"datasets": 3, "rng": 5} | extra)
    assert counted == []


def test_names_of_vertices_do_not_matter_to_a_store(tmp_path: Path, counted: list[int]) -> None:
    named = GraphProblem(Graph(RING.adjacency, [f"v{k}" for k in range(12)]), LOCAL, 0.1)
    for problem in (GIVEN, named):
        simulated(problem, datasets=3, rng=5, store=tmp_path / "results.db")
    assert counted == [0, 1, 2]


@pytest.mark.slow
@pytest.mark.parametrize(("problem", "many"), [(GIVEN, "datasets"), (DRAWN, "graphs")], ids=["given", "drawn"])
def test_a_precision_is_reached_and_then_it_stops(problem: Problem, many: str) -> None:
    size = {"vertices": 20, "datasets": 2} if many == "graphs" else {}
    curve = simulated(problem, precision=0.05, rng=5, **size)
    assert curve.stderr is not None
    assert (curve.stderr <= 0.05 * curve.error).all()
    assert 10 <= curve.diagnostics["drawn"] < 500
    fixed = {name: value for name, value in curve.options.items() if name != "precision"}
    alone = simulated(problem, rng=5, **{**fixed, many: curve.diagnostics["drawn"]})
    np.testing.assert_array_equal(alone.error, curve.error)
    assert same(curve, simulated(problem, precision=0.05, rng=5, workers=2, **size))
    limited = simulated(problem, precision=1e-4, rng=5, **{**size, many: 12})
    assert limited.diagnostics["drawn"] == limited.options[many] == 12
    assert limited.notes[0].startswith("a precision of 0.")
    assert limited.notes[0].endswith(
        f"was reached with 12 {'data sets' if many == 'datasets' else 'graphs'}, not 0.0001"
    )


@pytest.mark.parametrize(("problem", "many"), [(GIVEN, "datasets"), (DRAWN, "graphs")], ids=["given", "drawn"])
def test_an_interrupted_run_carries_what_there_is(
    problem: Problem, many: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = VertexDataSets.draw

    def until(self: VertexDataSets, task: int) -> Results:
        if task == 13:
            raise KeyboardInterrupt
        return original(self, task)

    fixed = {"rng": 5} | ({"vertices": 20, "datasets": 2} if many == "graphs" else {})
    store = tmp_path / "results.db"
    with monkeypatch.context() as context:
        context.setattr(VertexDataSets, "draw", until)
        with pytest.raises(CurveInterrupted) as stopped:
            simulated(problem, store=store, among=["giant"], **{**fixed, many: 30})
    curve = stopped.value.curve
    count = curve.diagnostics["drawn"]
    assert 2 <= count <= 13
    assert curve.notes[0] == f"interrupted after {count} {'data sets' if many == 'datasets' else 'graphs'}"
    complete = simulated(problem, among=["giant"], **{**fixed, many: count})
    np.testing.assert_array_equal(curve.error, complete.error)
    np.testing.assert_array_equal(curve.stderr, complete.stderr)
    assert {**curve.options, many: count} == complete.options
    assert curve.diagnostics == complete.diagnostics
    resumed = simulated(problem, store=store, among=["giant"], **{**fixed, many: 30})
    assert curve.options == resumed.options
    assert same(resumed, simulated(problem, among=["giant"], **{**fixed, many: 30}))


def test_an_interrupted_run_without_results_is_just_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> Results:
        raise KeyboardInterrupt

    monkeypatch.setattr(VertexDataSets, "draw", stop)
    with pytest.raises(Interrupted) as stopped:
        simulated(GIVEN, datasets=5, rng=1)
    assert stopped.value.estimate.count == 0


TOO_LARGE: dict[str, Callable[[], object]] = {
    "simulation": lambda: simulated(DRAWN, vertices=20_000, graphs=2),
    "simulation, several workers": lambda: simulated(DRAWN, vertices=8_000, graphs=2, workers=4),
    "simulation, given": lambda: simulated(GraphProblem(Graph.from_edges([(0, 1)], 20_000), LOCAL, 0.1), datasets=2),
    "eigenvalue": lambda: learning_curve(DRAWN, "eigenvalue", nu=[1.0], vertices=20_000, graphs=2),
    "eigenvalue, given": lambda: learning_curve(
        GraphProblem(Graph.from_edges([(0, 1)], 20_000), LOCAL, 0.1), "eigenvalue", nu=[1.0]
    ),
    "variances": lambda: vertex_variances(DRAWN, 1.0, vertices=20_000, graphs=2),
    "variances, many": lambda: vertex_variances(DRAWN, 1.0, vertices=2_000, graphs=10_000),
    "prediction vectors": lambda: gpc.prediction_vectors(
        GraphProblem(Graph.from_edges([(0, 1)], 20_000), LOCAL, 0.1), [0]
    ),
}


@pytest.mark.parametrize("name", TOO_LARGE)
def test_what_memory_does_not_hold_is_refused_with_numbers(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpcurves.numerics.memory.memory_limit", lambda: 4e9)
    with pytest.raises(InputError, match=r"needs about [\d.]+ GB of memory, this machine has 4 GB: \w+"):
        TOO_LARGE[name]()


def test_where_the_system_does_not_tell_its_memory_nothing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpcurves.numerics.memory.memory_limit", lambda: None)
    assert simulated(GIVEN, datasets=2, rng=1).error[0] > 0
