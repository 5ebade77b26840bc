"""The method ``cavity`` from outside: ensembles, given graphs, distributions over vertices, and the regressor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pytest
from scipy import sparse
from scipy.stats import poisson

import gpcurves as gpc
from gpcurves.errors import InputError, NotApplicableError
from gpcurves.graphs import Ensemble, GraphKernel, Normalisation
from gpcurves.methods.base import CurveInterrupted
from gpcurves.methods.cavity.beliefs import belief_propagation, is_forest
from gpcurves.methods.cavity.experiments import GivenGraph, Replicas
from gpcurves.methods.simulation.vertices import examples, posterior_variances, training_counts
from gpcurves.montecarlo import stream
from gpcurves.numerics.validation import FloatArray
from graphs_oracle import by_eigenvalue, dense_posterior, random_forest

ER3, REGULAR3, POWER = gpc.ErdosRenyi(3), gpc.RandomRegular(3), gpc.PowerLaw(2.5, 2)
KERNELS: dict[str, GraphKernel] = {
    "walk": gpc.RandomWalkKernel(10, 2),
    "odd walk": gpc.RandomWalkKernel(5, 2.3),
    "identity": gpc.RandomWalkKernel(0, 2),
    "diffusion": gpc.DiffusionKernel(1.5),
    "laplacian": gpc.RegularisedLaplacianKernel(1.3),
    "polynomial": gpc.PolynomialWalkKernel((0.5, 0.2, 0.2, 0.1)),
}
GROUPS = ["isolated", "ends", "degree=2", "degree=60"]


def walk(graph: Any, p: int = 10, normalise: Normalisation = "local", noise: float = 0.1) -> gpc.Problem:
    return gpc.GraphProblem(graph, gpc.RandomWalkKernel(p, 2, normalise), noise)


def spread(*curves: gpc.LearningCurve) -> FloatArray:
    """Return the standard error of a difference between curves."""
    return np.asarray(np.sqrt(sum(np.square(_stderr(curve)) for curve in curves)))


def _stderr(curve: gpc.LearningCurve) -> FloatArray:
    assert curve.stderr is not None
    return curve.stderr


def forest(vertices: int = 60, seed: int = 1, weighted: bool = True) -> gpc.Graph:
    """Return trees and isolated vertices."""
    A = random_forest(vertices, np.random.default_rng(seed), cut=0.3, weighted=weighted)
    graph = gpc.Graph(sparse.csr_array(A))
    assert graph.isolated.any()
    assert is_forest(graph)
    return graph


@pytest.fixture(scope="module")
def curve() -> gpc.LearningCurve:
    """The paper's ensemble with local normalisation and shorter walks, shared by several tests."""
    return gpc.learning_curve(walk(ER3, 4), "cavity", nu=[5, 0.1, 1], rng=0, among=GROUPS, precision=0.02)


@pytest.fixture(scope="module")
def prior() -> gpc.VarianceDistribution:
    return gpc.vertex_variances(walk(ER3, 10, "global"), 0, "cavity", rng=0)


@pytest.fixture(scope="module")
def own() -> gpc.LearningCurve:
    return gpc.learning_curve(walk(ER3.sample(20_000, 7), 4), "cavity", nu=[0.5, 2], rng=0, precision=0.02)


# ensembles


@pytest.mark.parametrize(
    "noise", [pytest.param(1.0, marks=pytest.mark.slow), 0.1, pytest.param(1e-4, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize(
    ("ensemble", "p"),
    [pytest.param(REGULAR3, 4, marks=pytest.mark.slow), (ER3, 5), pytest.param(POWER, 4, marks=pytest.mark.slow)],
    ids=["regular", "er", "power law"],
)
def test_agrees_with_simulated_graphs(ensemble: Ensemble, p: int, noise: float) -> None:
    normalise: Normalisation = "global" if noise == 0.1 or ensemble is POWER else "local"
    problem = walk(ensemble, p, normalise, noise)
    theory = gpc.learning_curve(problem, "cavity", nu=[0.7], rng=0, precision=0.02)
    truth = gpc.learning_curve(problem, "simulation", nu=[0.7], vertices=500, graphs=16, datasets=1, rng=3)
    assert (abs(theory.error - truth.error) < 4 * spread(theory, truth) + 0.02 * truth.error).all()
    assert (theory.diagnostics["converged"] == 1).all()


@pytest.mark.slow
def test_finite_graphs_approach_the_limit() -> None:
    """On small graphs walks meet cycles: with long walks V = 60 is visibly off, V = 200 less, V = 1000 not at all."""
    problem = walk(ER3, 6, "global", 1.0)
    limit = gpc.learning_curve(problem, "cavity", nu=[2], rng=0, precision=0.005)
    off, doubt = [], []
    for vertices, graphs, datasets in ((60, 300, 4), (200, 60, 4), (1000, 10, 1)):
        found = gpc.learning_curve(
            problem, "simulation", nu=[2], vertices=vertices, graphs=graphs, datasets=datasets, rng=2
        )
        off.append(float((found.error / limit.error - 1)[0]))
        doubt.append(float((spread(found, limit) / limit.error)[0]))
    assert abs(off[0]) > 5 * doubt[0]
    assert abs(off[0]) > abs(off[1]) + 2 * doubt[1]
    assert abs(off[2]) < 4 * doubt[2] + 0.002


@pytest.mark.slow
def test_learning_curve_of_the_paper() -> None:
    curve = gpc.learning_curve(walk(ER3), "cavity", nu=[5, 0.1, 1], rng=0, among=GROUPS)
    expected, doubt = np.array([0.01181, 0.6702, 0.0866]), np.array([0.00005, 0.0008, 0.0004])
    # these are averages over 96 simulated graphs of 2,000 vertices, with their standard errors
    assert (abs(curve.error - expected) < 4 * np.hypot(_stderr(curve), doubt)).all()
    assert (_stderr(curve) <= 0.005 * curve.error).all()
    assert (curve.diagnostics["converged"] == 1).all()
    assert (curve.diagnostics["rounds"] > 0).all()
    assert curve.options == {"among": GROUPS}
    assert curve.diagnostics["drawn"] >= 2
    assert curve.notes == ("no vertex belongs to the group 'degree=60'",)


@pytest.mark.slow
def test_the_equation_of_the_paper_is_off_by_many_standard_errors() -> None:
    problem = walk(ER3, 4, "local", 1.0)
    exact = gpc.learning_curve(problem, "cavity", nu=[3], rng=0)
    paper = gpc.learning_curve(problem, "cavity", nu=[3], rng=0, local="paper")
    assert abs(exact.error[0] - 0.1870) < 3e-4
    assert abs(paper.error[0] - 0.1839) < 3e-4
    assert exact.error[0] - paper.error[0] > 20 * spread(exact, paper)[0]
    assert "approximate" in paper.notes[0]
    assert (exact.options, paper.options) == ({}, {"local": "paper"})


@pytest.mark.slow
@pytest.mark.parametrize("normalise", ["global", "none"])
def test_before_learning_the_error_is_the_prior_variance(normalise: Normalisation) -> None:
    found = gpc.learning_curve(walk(ER3, 10, normalise), "cavity", nu=[0], rng=0, precision=0.01)
    expected = 1 if normalise == "global" else 0.0730
    assert abs(found.error[0] - expected) < 5 * _stderr(found)[0] + 1e-4


@pytest.mark.slow
def test_the_limit_is_that_of_one_large_graph(own: gpc.LearningCurve) -> None:
    limit = gpc.learning_curve(walk(ER3, 4), "cavity", nu=[0.5, 2], rng=0)
    between_graphs = 0.003 * limit.error  # standard deviation over graphs of 20,000 vertices, of which this is one
    assert (abs(own.error - limit.error) < 4 * np.hypot(spread(own, limit), between_graphs)).all()
    np.testing.assert_allclose(own.details["variance"], limit.details["variance"], rtol=0.06)


@pytest.mark.slow
def test_heavy_tails_settle() -> None:
    problem = walk(gpc.PowerLaw(1.5, 1), 4)
    found = gpc.learning_curve(problem, "cavity", nu=[1], rng=0, precision=0.02)
    assert found.diagnostics["converged"] == 1
    truth = gpc.learning_curve(problem, "simulation", nu=[1], vertices=600, graphs=20, datasets=1, rng=0)
    assert (abs(found.error - truth.error) < 4 * spread(found, truth)).all()
    assert (spread(found, truth) < 0.03 * truth.error).all()


@pytest.mark.slow
def test_small_populations_are_near_large_ones() -> None:
    kernel = gpc.RandomWalkKernel(p=4, a=2, normalise="local")
    problem = gpc.GraphProblem(ER3, kernel, noise=1.0)
    small = gpc.learning_curve(problem, "cavity", nu=[3], rng=0, precision=0.02, population=64)
    assert small.options == {"precision": 0.02, "population": 64}
    assert small.diagnostics["population"] == 64
    assert small.stderr is not None
    assert abs(small.error[0] - 0.1870) < 4 * small.stderr[0] + 0.002
    again = gpc.learning_curve(problem, "cavity", nu=[3], rng=0, precision=0.02)
    assert again.diagnostics["population"] == 1024
    given = gpc.learning_curve(problem, "cavity", nu=[3], rng=0, precision=0.02, population=1024)
    np.testing.assert_array_equal(given.error, again.error)
    assert again.error[0] != small.error[0]


def test_sweeps_that_are_too_few_are_reported() -> None:
    few: dict[str, Any] = {"max_sweeps": 1, "replicas": 4, "population": 1024}
    found = gpc.learning_curve(walk(ER3, 1), "cavity", nu=[1], rng=0, precision=1e-4, **few)
    assert found.diagnostics["drawn"] == 4
    assert found.diagnostics["converged"][0] < 1
    assert any("allow more sweeps (max_sweeps) or a larger precision" in note for note in found.notes)
    assert any("a precision of" in note and "not 0.0001" in note for note in found.notes)


# given graphs


@pytest.mark.parametrize("normalise", ["global", "local", "none"])
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_a_forest_is_exact(kernel: Any, normalise: Normalisation) -> None:
    """The same seed draws the same data sets, so that both ways have the same average and standard error."""
    problem = gpc.GraphProblem(forest(), replace(kernel, normalise=normalise), 0.02)
    nu = [3.0, 0.0, 0.35, 1.0]
    groups = ["isolated", "ends", "giant", "degree=3", "component=2"]
    found = gpc.learning_curve(problem, "cavity", nu=nu, rng=4, precision=0.2, among=groups, tolerance=1e-11)
    count = found.diagnostics["drawn"]
    truth = gpc.learning_curve(problem, "simulation", nu=nu, rng=4, datasets=count, among=groups)
    np.testing.assert_allclose(found.error, truth.error, rtol=1e-8)
    np.testing.assert_allclose(_stderr(found), _stderr(truth), rtol=1e-6, atol=1e-12)
    for name in ("variance", *(f"{what} {group}" for what in ("error", "share") for group in groups)):
        np.testing.assert_allclose(found.details[name], truth.details[name], rtol=1e-7, atol=1e-12)
    assert "loop_error" not in found.diagnostics
    assert not any("cycles" in note for note in found.notes)


def test_a_graph_without_edges_is_exact() -> None:
    problem = walk(gpc.Graph.from_edges([], vertices=30))
    found = gpc.learning_curve(problem, "cavity", nu=[0, 1], rng=0, precision=0.5)
    truth = gpc.learning_curve(problem, "simulation", nu=[0, 1], rng=0, datasets=found.diagnostics["drawn"])
    np.testing.assert_allclose(found.error, truth.error, rtol=1e-12)
    assert (found.diagnostics["rounds"] == 0).all()


def test_low_noise_is_exact_on_a_tree() -> None:
    graph = gpc.Graph(sparse.csr_array(random_forest(40, np.random.default_rng(3))))
    problem = walk(graph, 10, "local", 1e-4)
    found = gpc.learning_curve(problem, "cavity", nu=[0.5, 2], rng=0, precision=0.5, tolerance=1e-12)
    truth = gpc.learning_curve(problem, "simulation", nu=[0.5, 2], rng=0, datasets=found.diagnostics["drawn"])
    np.testing.assert_allclose(found.error, truth.error, rtol=1e-8)


@pytest.mark.slow
def test_cycles_are_admitted_and_measured() -> None:
    """On a small graph the reported error is that against dense algebra for all vertices, on data sets of its own."""
    graph = REGULAR3.sample(60, 1)
    problem = walk(graph, 10, "local", 0.1)
    found = gpc.learning_curve(problem, "cavity", nu=[0.3, 2], rng=0, precision=0.02)
    C, rng = problem.kernel.on(graph).matrix(), stream(0, 2**31)
    both = np.zeros((found.diagnostics["loop_datasets"], 2, 2))
    for own in both:
        for k, counts in enumerate(training_counts(examples([0.3, 2], 60, rng.random()), 60, rng)):
            own[:, k] = belief_propagation(problem, counts).variance.mean(), posterior_variances(C, counts, 0.1).mean()
    messages, exact = both.mean(axis=0)
    off = messages / exact - 1
    assert min(map(abs, off)) > 0.01
    np.testing.assert_allclose(found.diagnostics["loop_error"], off, rtol=1e-4)
    spread = (both[:, 0] - (1 + off) * both[:, 1]).std(axis=0, ddof=1) / np.sqrt(len(both)) / exact
    np.testing.assert_allclose(found.diagnostics["loop_error_stderr"], spread, rtol=1e-3)
    assert (2 * spread <= np.maximum(abs(off) / 3, 0.003)).all() or len(both) == 40
    (note,) = (note for note in found.notes if "cycles" in note)
    assert f"approximation: compared with dense algebra on {60 * len(both):,} vertices of {len(both)} data sets" in note
    assert f"off by up to {100 * max(map(abs, off)):.2g} %" in note


@pytest.mark.slow
def test_the_loop_error_is_that_of_the_truth_within_a_third_and_drawn_as_a_band() -> None:
    problem = walk(gpc.as_graph(networkx.grid_2d_graph(14, 14)), 10, "local", 0.1)
    nu = [0.3, 0.8]
    found = gpc.learning_curve(problem, "cavity", nu=nu, rng=0, precision=0.01)
    truth = gpc.learning_curve(problem, "simulation", nu=nu, rng=0, datasets=300)
    true = found.error / truth.error - 1
    assert true.min() > 0.1
    np.testing.assert_allclose(found.diagnostics["loop_error"], true, rtol=1 / 3)
    assert (found.diagnostics["low"] < truth.error).all()
    assert (found.diagnostics["high"] >= found.error + _stderr(found)).all()
    display = found.plot()
    (band,) = display.ax_.collections
    heights = band.get_paths()[0].vertices[:, 1]
    assert heights.min() == pytest.approx(found.diagnostics["low"].min(), rel=1e-6)


@pytest.mark.slow
def test_cycles_hardly_matter_on_a_large_sparse_graph(own: gpc.LearningCurve) -> None:
    assert (abs(own.diagnostics["loop_error"]) < 0.002).all()
    assert "dense algebra on 1,200 vertices of 4 data sets" in own.notes[-1]
    assert (own.diagnostics["converged"] == 1).all()
    assert (own.diagnostics["rounds"] < 60).all()


def test_rounds_that_are_too_few_are_reported() -> None:
    problem = walk(REGULAR3.sample(40, 1), 10, "local", 1e-4)
    found = gpc.learning_curve(problem, "cavity", nu=[0, 1], rng=0, precision=0.5, max_rounds=2)
    assert (found.diagnostics["rounds"] <= 2).all()
    assert found.diagnostics["converged"][1] == 0
    assert any("max_rounds" in note and "damping such as 0.5" in note for note in found.notes)


def test_messages_start_where_the_last_ones_stopped() -> None:
    problem = walk(REGULAR3.sample(300, 1), 10, "local", 0.1)
    alone = gpc.learning_curve(problem, "cavity", nu=[2.0], rng=0, precision=0.5)
    after = gpc.learning_curve(problem, "cavity", nu=[1.99, 2.0], rng=0, precision=0.5)
    assert after.diagnostics["rounds"][1] < alone.diagnostics["rounds"][0]
    counts = np.ones(300)
    cold = belief_propagation(problem, counts)
    assert belief_propagation(problem, counts, start=cold).rounds == 1


def test_damping_and_order_do_not_move_the_answer() -> None:
    problem = walk(REGULAR3.sample(100, 1), 6)
    options: dict[str, Any] = {"rng": 0, "precision": 0.5}
    plain = gpc.learning_curve(problem, "cavity", nu=[0.5, 2], **options)
    damped = gpc.learning_curve(problem, "cavity", nu=[2, 0.5], damping=0.3, **options)
    np.testing.assert_allclose(damped.error[::-1], plain.error, rtol=1e-6)
    assert (damped.diagnostics["rounds"][::-1] > plain.diagnostics["rounds"]).all()


@pytest.mark.slow
def test_precision_is_honoured() -> None:
    problem = walk(forest(), 4)
    rough = gpc.learning_curve(problem, "cavity", nu=[1], rng=0, precision=0.2)
    fine = gpc.learning_curve(problem, "cavity", nu=[1], rng=0, precision=0.02)
    assert rough.diagnostics["drawn"] < fine.diagnostics["drawn"] <= 400
    assert (_stderr(fine) <= 0.02 * fine.error).all()
    assert fine.notes == ()
    never = gpc.learning_curve(problem, "cavity", nu=[1], rng=0, precision=1e-4)
    assert never.diagnostics["drawn"] == 400
    assert "not 0.0001" in never.notes[-1]
    few = gpc.learning_curve(problem, "cavity", nu=[1], rng=0, precision=1e-4, replicas=3)
    assert few.diagnostics["drawn"] == 3
    assert few.notes[-1].endswith("was reached with 3 data sets, not 0.0001")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["ensemble", "graph"])
def test_store_and_workers_change_no_number(kind: str, tmp_path: Path) -> None:
    problem = walk(ER3 if kind == "ensemble" else REGULAR3.sample(50, 0), 3)
    options: dict[str, Any] = {"rng": 5, "precision": 0.05, "progress": False}
    first = gpc.learning_curve(problem, "cavity", nu=[1, 0.2], store=tmp_path / "a.sqlite", **options)
    again = gpc.learning_curve(problem, "cavity", nu=[1, 0.2], store=tmp_path / "a.sqlite", **options)
    two = gpc.learning_curve(problem, "cavity", nu=[1, 0.2], workers=2, **options)
    for other in (again, two):
        np.testing.assert_array_equal(other.error, first.error)
        np.testing.assert_array_equal(_stderr(other), _stderr(first))
        assert other.to_json() == first.to_json()


@pytest.mark.slow
@pytest.mark.parametrize("kind", [Replicas, GivenGraph])
def test_an_interrupted_run_carries_what_there_is(
    kind: type[Replicas] | type[GivenGraph], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = walk(ER3 if kind is Replicas else forest(), 2)
    options: dict[str, Any] = {"nu": [1, 0.2], "rng": 5, "precision": 1e-4, "among": ["ends"]}
    options |= {"population": 32, "max_sweeps": 20} if kind is Replicas else {}
    original: Any = kind.draw

    def until(self: Any, task: int) -> Mapping[str, FloatArray | float]:
        if task == 4:
            raise KeyboardInterrupt
        drawn: Mapping[str, FloatArray | float] = original(self, task)
        return drawn

    with monkeypatch.context() as context:
        context.setattr(kind, "draw", until)
        with pytest.raises(CurveInterrupted) as stopped:
            gpc.learning_curve(problem, "cavity", replicas=9, store=tmp_path / "a.sqlite", **options)
    cut = stopped.value.curve
    count = cut.diagnostics["drawn"]
    assert 2 <= count <= 4
    assert f"interrupted after {count} {'replicas' if kind is Replicas else 'data sets'}" in cut.notes
    complete = gpc.learning_curve(problem, "cavity", replicas=count, **options)
    np.testing.assert_array_equal(cut.error, complete.error)
    np.testing.assert_array_equal(_stderr(cut), _stderr(complete))
    resumed = gpc.learning_curve(problem, "cavity", replicas=9, store=tmp_path / "a.sqlite", **options)
    assert resumed.to_json() == gpc.learning_curve(problem, "cavity", replicas=9, **options).to_json()


@pytest.mark.slow
def test_a_curve_returns_from_json(curve: gpc.LearningCurve, tmp_path: Path) -> None:
    loopy = gpc.learning_curve(walk(REGULAR3.sample(30, 0), 3), "cavity", nu=[0.5, 1], rng=0, precision=0.5)
    for number, saved in enumerate((curve, loopy)):
        path = tmp_path / f"{number}.json"
        saved.to_json(path)
        loaded = gpc.load(path)
        assert isinstance(loaded, gpc.LearningCurve)
        assert (loaded.method, loaded.rng, loaded.notes) == ("cavity", saved.rng, saved.notes)
        assert dict(loaded.options) == dict(saved.options)
        np.testing.assert_array_equal(loaded.error, saved.error)
        for kept, before in ((loaded.details, saved.details), (loaded.diagnostics, saved.diagnostics)):
            assert set(kept) == set(before)
            for name, values in before.items():
                np.testing.assert_array_equal(kept[name], values)
                assert type(kept[name]) is type(values)


# distributions over vertices


def test_prior_variances_have_the_spikes_of_small_components(prior: gpc.VarianceDistribution) -> None:
    """UM13 Figure 2: isolated vertices at 2^-p/kappa and pairs at 1/(2 kappa), above which nothing lies."""
    assert prior.weights is not None
    alone = prior.of_degree(0).values
    kappa = 0.5**10 / alone[0]
    assert np.ptp(alone) < 1e-15
    assert kappa == pytest.approx(0.0730, abs=2e-4)
    assert prior.weights[prior.degrees == 0].sum() == pytest.approx(np.exp(-3), rel=1e-6)
    highest = 0.5 / kappa
    assert highest == pytest.approx(6.85, abs=0.02)
    assert prior.values.max() <= highest * (1 + 1e-9)
    pairs = float(prior.weights[abs(prior.values - highest) < 1e-6].sum())
    share = 3 * np.exp(-6)
    assert abs(pairs - share) < 4 * np.sqrt(2 * share / len(prior.values))  # vertices come two by two
    assert prior.mean == pytest.approx(1, abs=5 * np.sqrt(prior.variance / len(prior.values)))


@pytest.mark.slow
def test_posterior_variances_are_those_of_simulated_graphs() -> None:
    """UM13 Figure 6, with local normalisation."""
    problem = walk(ER3)
    theory = gpc.vertex_variances(problem, 1.172, "cavity", rng=0)
    simulated = gpc.vertex_variances(problem, 1.172, vertices=800, graphs=10, datasets=1, rng=1)
    graphs = simulated.values.reshape(10, 800)
    shares = np.array([0.05, 0.25, 0.5, 0.75, 0.9])
    below = np.array([(values[:, None] <= theory.quantile(shares)).mean(axis=0) for values in graphs])
    for expected, truth in (
        (shares, below),
        (theory.mean, graphs.mean(axis=1)),
        (theory.variance, graphs.var(axis=1)),
    ):
        doubt = np.sqrt(2 / 10) * truth.std(axis=0, ddof=1)  # theory has as many vertices, and so as large an error
        assert (abs(truth.mean(axis=0) - expected) < 4 * doubt).all()
    density, bounds = theory.histogram(50)
    assert (density * np.diff(bounds)).sum() == pytest.approx(1)


@pytest.mark.slow
def test_variances_restricted_to_a_degree(curve: gpc.LearningCurve) -> None:
    found = gpc.vertex_variances(walk(ER3, 4), 1, "cavity", rng=1)
    two = found.of_degree(2)
    assert (two.degrees == 2).all()
    assert two.weights is not None
    assert two.weights.sum() == pytest.approx(1)
    doubt = np.sqrt(two.variance / len(two.values))
    assert abs(two.mean - curve.details["error degree=2"][2]) < 6 * doubt
    k = np.arange(100)
    isolated = [(poisson.pmf(k, nu) / (1 + 10 * k)).sum() for nu in (5, 0.1, 1)]
    np.testing.assert_allclose(curve.details["error isolated"], isolated, rtol=1e-9)
    np.testing.assert_allclose(curve.details["share isolated"], np.exp(-3), rtol=1e-5)
    np.testing.assert_allclose(curve.details["share ends"], 3 * np.exp(-3), rtol=1e-3)
    np.testing.assert_allclose(curve.details["share degree=2"], 4.5 * np.exp(-3), rtol=1e-3)
    assert (curve.details["error ends"] > curve.details["error degree=2"]).all()
    assert np.isnan(curve.details["error degree=60"]).all()
    with pytest.raises(InputError, match="no vertex here has the degree 60"):
        found.of_degree(60)
    with pytest.raises(InputError, match="only a given graph"):
        _ = found.by_vertex


@pytest.mark.slow
def test_groups_of_an_ensemble_are_as_simulated() -> None:
    groups = ["ends", "degree=2", "degree=5"]
    found = gpc.learning_curve(walk(ER3, 3), "cavity", nu=[1], rng=0, precision=0.01, among=groups)
    truth = gpc.learning_curve(walk(ER3, 3), "simulation", nu=[1], vertices=400, graphs=60, rng=0, among=groups)
    for group in groups:
        theory, error, stderr = (
            found.details[f"error {group}"],
            *(truth.details[f"{k} {group}"] for k in ("error", "stderr")),
        )
        assert abs(theory - error) < 4 * np.hypot(stderr, 0.01 * theory), group
        assert stderr < 0.03 * error
    alike = gpc.learning_curve(walk(REGULAR3, 3), "cavity", nu=[1], rng=0, precision=0.02, among=["degree=3"])
    assert alike.details["share degree=3"] == pytest.approx(1)


@pytest.mark.parametrize("group", ["giant", "small", "component=2"])
def test_groups_that_an_ensemble_cannot_know_are_refused(group: str) -> None:
    with pytest.raises(InputError, match=f"only groups by degree are known .*'{group}'"):
        gpc.learning_curve(walk(ER3, 2), "cavity", nu=[1], among=[group])


def test_variances_of_a_given_forest_are_exact() -> None:
    problem = walk(forest(), 7, "local", 0.05)
    found = gpc.vertex_variances(problem, 0.8, "cavity", datasets=3, rng=9)
    truth = gpc.vertex_variances(problem, 0.8, datasets=3, rng=9)
    np.testing.assert_allclose(found.values, truth.values, rtol=1e-8)
    np.testing.assert_array_equal(found.degrees, truth.degrees)
    np.testing.assert_allclose(found.by_vertex, truth.by_vertex, rtol=1e-8)
    assert found.weights is None
    prior = gpc.vertex_variances(problem, 0, "cavity")
    np.testing.assert_allclose(prior.values, 1, rtol=1e-10)


# what is refused


@pytest.mark.parametrize(
    ("problem", "options", "words"),
    [
        (walk(ER3, noise=0.0), {}, "noise"),
        (walk(forest(), noise=0.0), {}, "noise"),
        (walk(ER3, 401), {}, "method 'cavity' does not apply: messages exist for walks of at most 400 steps, got 401"),
        (walk(gpc.ErdosRenyi(0)), {}, "no edges"),
        (walk(gpc.RandomRegular(0)), {}, "no edges"),
        (walk(gpc.DegreeDistribution((1.0,))), {}, "no edges"),
        (walk(forest()), {"local": "paper"}, "applies to an ensemble"),
        (walk(ER3), {"local": "papers"}, "did you mean 'paper'"),
        (walk(ER3), {"datasets": 5}, "takes no option 'datasets'"),
        (walk(ER3), {"replicas": 1}, "replicas must be an integer, at least 2"),
        (walk(ER3), {"tolerance": 1e-6}, "tolerance applies to a given graph"),
        (walk(ER3), {"max_rounds": 5}, "max_rounds applies to a given graph"),
        (walk(ER3), {"damping": 0.0}, "damping applies to a given graph"),
        (walk(ER3, 10, "global"), {"local": "exact"}, "local belongs to local normalisation, but .* is global"),
        (walk(forest()), {"population": 64}, "population applies to an ensemble of graphs"),
        (walk(forest()), {"max_sweeps": 2000}, "max_sweeps applies to an ensemble of graphs"),
        (walk(ER3), {"nu": [1e7]}, "nu must be at most 1e\\+06"),
        (walk(ER3), {"nu": [np.inf]}, "nu must be finite"),
        (walk(forest()), {"nu": [1e300]}, "nu must be at most"),
        (walk(ER3), {"precision": 0}, "precision must be greater than 0"),
        (walk(ER3), {"precision": np.nan}, "precision must be finite"),
        (walk(ER3), {"max_sweeps": 0}, "max_sweeps must be an integer, at least 1"),
        (walk(ER3), {"population": 1}, "population must be an integer, at least 2"),
        (walk(ER3), {"among": ["leaves"]}, "unknown group of vertices 'leaves'"),
        (walk(forest()), {"max_rounds": 0}, "max_rounds must be an integer, at least 1"),
        (walk(forest()), {"tolerance": 0}, "tolerance must be greater than 0"),
        (walk(forest()), {"damping": 1}, "damping must be at least 0 and below 1"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(problem: gpc.Problem, options: dict[str, Any], words: str) -> None:
    plain: dict[str, Any] = {"nu": [1.0], "rng": 0} | options
    with pytest.raises((InputError, NotApplicableError), match=words):
        gpc.learning_curve(problem, "cavity", **plain)


@pytest.mark.parametrize(
    ("problem", "options", "words"),
    [
        (walk(ER3, noise=0.0), {}, "noise"),
        (walk(gpc.ErdosRenyi(0)), {}, "no edges"),
        (walk(ER3), {"nu": -1}, "nu must be at least 0"),
        (walk(REGULAR3, 1), {"nu": 1.1e6}, "nu must be at most"),
        (walk(ER3), {"method": "cavty"}, "did you mean 'cavity'"),
        (walk(ER3), {"graphs": 3}, "takes no option 'graphs'"),
        (walk(forest()), {"local": "paper"}, "applies to an ensemble"),
        (walk(forest()), {"datasets": 0}, "datasets must be an integer, at least 1"),
        (walk(ER3), {"datasets": 2}, "datasets applies to a given graph"),
        (walk(ER3), {"population": 64}, "takes no option 'population'"),
        (walk(ER3), {"workers": 2}, "workers and store apply to simulation only"),
    ],
)  # fmt: skip
def test_distributions_that_do_not_fit_are_refused(problem: gpc.Problem, options: dict[str, Any], words: str) -> None:
    plain: dict[str, Any] = {"nu": 1.0, "method": "cavity", "rng": 0} | options
    with pytest.raises((InputError, NotApplicableError), match=words):
        gpc.vertex_variances(problem, **plain)


def test_an_ensemble_without_edges_is_left_out_of_all_theory() -> None:
    found = gpc.learning_curves(walk(gpc.ErdosRenyi(0), 2), nu=[1], vertices=50, graphs=2)
    assert "no edges" in found.skipped["cavity"]
    assert "eigenvalue" in found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kernel", "graph"),
    [(gpc.RandomWalkKernel(6, 2.2), ER3), (gpc.RegularisedLaplacianKernel(1.3), REGULAR3.sample(60, 0))],
    ids=["ensemble", "graph"],
)
def test_a_kernel_of_which_only_eigenvalues_are_known(kernel: GraphKernel, graph: Any) -> None:
    """Seeds and populations are the same, so that only the error of the expansion is between them."""
    options: dict[str, Any] = {"precision": 0.2, "rng": 1} | ({"population": 64} if graph is ER3 else {})
    known, found = (
        gpc.learning_curve(gpc.GraphProblem(graph, one.normalised("local"), 0.1), "cavity", nu=[0.3, 2], **options)
        for one in (kernel, by_eigenvalue(kernel))
    )
    np.testing.assert_allclose(found.error, known.error, rtol=1e-6)
    assert any("the kernel is represented up to" in note for note in found.notes)


# belief propagation with targets


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_means_and_variances_are_exact_on_forests(kernel: Any) -> None:
    graph = forest()
    problem = gpc.GraphProblem(graph, replace(kernel, normalise="local"), 0.1)
    rng = np.random.default_rng(2)
    counts = rng.poisson(0.6, graph.vertices).astype(float)
    targets = np.where(counts > 0, rng.normal(size=graph.vertices), np.nan)  # ignored where nothing was seen
    found = belief_propagation(problem, counts, targets)
    variance, mean = dense_posterior(problem.kernel.on(graph).matrix(), counts, 0.1, targets)
    assert found.mean is not None
    assert found.converged
    np.testing.assert_allclose(found.variance, variance, rtol=1e-8)
    np.testing.assert_allclose(found.mean, mean, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize(
    ("counts", "targets", "words"),
    [
        (np.ones(3), None, "counts must be one number, or one for each of the 60 vertices"),
        (np.full(60, -1.0), None, "counts must be finite and at least 0, got -1"),
        (np.full(60, np.nan), None, "counts must be finite"),
        (np.ones(60), np.ones(3), "targets must be one for each of the 60 vertices"),
        (np.ones(60), np.full(60, np.nan), "targets must be finite wherever there are examples"),
        (np.ones(60), ["a"] * 60, "targets must be one for each"),
    ],
)
def test_bad_counts_and_targets_are_refused(counts: Any, targets: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        belief_propagation(walk(forest()), counts, targets)


def test_belief_propagation_needs_a_given_graph_and_noise() -> None:
    with pytest.raises(InputError, match="needs a problem on a given graph"):
        belief_propagation(walk(ER3), [1])
    with pytest.raises(NotApplicableError, match="noise"):
        belief_propagation(walk(forest(), noise=0.0), np.ones(60))


# the regressor


def test_damped_messages_come_to_rest_at_the_same_place() -> None:
    graph = ER3.sample(60, 3)
    counts = np.random.default_rng(0).poisson(1.0, 60)
    plain = gpc.belief_propagation(walk(graph, 4), counts)
    damped = gpc.belief_propagation(walk(graph, 4), counts, damping=0.5)
    assert plain.converged
    assert damped.converged
    assert damped.rounds > plain.rounds
    np.testing.assert_allclose(damped.variance, plain.variance, rtol=1e-7)


def test_what_memory_does_not_hold_is_left_out_of_all_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpcurves.numerics.memory.memory_limit", lambda: 4e9)
    problem = gpc.GraphProblem(gpc.ErdosRenyi(3), gpc.RandomWalkKernel(2), 0.1)
    asked: dict[str, Any] = {"nu": [1.0], "rng": 0, "vertices": 50_000}
    found = gpc.learning_curves(problem, methods="all", precision=0.1, **asked)
    assert list(found) == ["cavity"]
    assert found.skipped["eigenvalue"].startswith("dense algebra on 50000 vertices with 1 worker(s) needs about 80 GB")
    with pytest.raises(gpc.InputError, match="dense algebra on 50000 vertices"):
        gpc.learning_curves(problem, methods=["eigenvalue", "cavity"], precision=0.1, **asked)
    silent = gpc.GraphProblem(gpc.RandomRegular(3).sample(50_000, 0), gpc.RandomWalkKernel(2), 0.0)
    with pytest.raises(gpc.InputError, match="dense algebra on 50000 vertices"):  # nothing else applies
        gpc.learning_curves(silent, methods="all", nu=[1.0], rng=0)


def test_the_axis_of_a_given_graph_counts_labels_too() -> None:
    graph = REGULAR3.sample(40, 1)
    curve = gpc.learning_curve(walk(graph, 4), "eigenvalue", nu=[0.1, 1.0, 10.0])
    ticks = [each.get_text() for each in curve.plot().ax_.get_xticklabels()]
    assert "1\n40" in ticks
    assert "below it the number of labels" in curve.plot().ax_.get_xlabel()
    on_ensemble = gpc.learning_curve(gpc.GraphProblem(REGULAR3, gpc.RandomWalkKernel(4), 0.1), "mckay", nu=[0.1, 1, 10])
    assert "labels" not in on_ensemble.plot().ax_.get_xlabel()
    other = gpc.learning_curve(walk(REGULAR3.sample(50, 1), 4), "eigenvalue", nu=[0.1, 1.0, 10.0])
    assert "labels" not in gpc.CurveSet({"40": curve, "50": other}).plot().ax_.get_xlabel()
