"""Forecasts on graphs: against truth, saved and loaded, in words about labels, and what they refuse; large graphs."""

from __future__ import annotations

import json
import math
import re
from functools import cache
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import gpcurves as gpc
from forecast_oracle import naive_power_laws
from gpcurves.cli import run
from gpcurves.errors import InputError
from gpcurves.forecasting import ForecastEffort, Questions
from gpcurves.forecasting.crossvalidation import CrossValidation
from gpcurves.forecasting.effort import Computation
from gpcurves.forecasting.error_curve import ErrorCurve
from gpcurves.forecasting.intervals import PosteriorCurves
from gpcurves.forecasting.networks.assembly import NETWORKS, fit_labels, read_labels
from gpcurves.forecasting.networks.evidence import Setting
from gpcurves.forecasting.networks.large import choose_large
from gpcurves.forecasting.networks.observed import Observed
from gpcurves.forecasting.units import Unit, name_groups
from gpcurves.montecarlo.progress import Progress
from gpcurves.numerics.validation import FloatArray

pytestmark = pytest.mark.usefixtures("few_refits")  # no number here depends on more of them

GRID = gpc.as_graph(nx.convert_node_labels_to_integers(nx.grid_2d_graph(14, 14)))
KERNEL = gpc.MaternGraphKernel(8.0, 2.0)


def draw(graph: gpc.Graph, noise: float, seed: int, kernel: Any = KERNEL) -> FloatArray:
    """Return noisy values at all vertices, in units of their own."""
    rng = np.random.default_rng(seed)
    C = kernel.on(graph).matrix()
    f = np.linalg.cholesky(C + 1e-10 * np.eye(len(C))) @ rng.standard_normal(len(C))
    return 50 + 10 * (f + math.sqrt(noise) * rng.standard_normal(len(C)))


def choose(count: int, seed: int) -> np.ndarray:
    return np.random.default_rng([seed, 1]).permutation(GRID.vertices)[:count]


@cache
def real(seed: int = 0) -> gpc.Forecast:
    pick = choose(30, seed)
    return gpc.forecast(GRID, pd.Series(draw(GRID, 0.05, seed)[pick], index=pick, name="head"), rng=1)


@pytest.mark.slow
@pytest.mark.usefixtures("all_refits")
def test_curves_are_near_the_truth_for_functions_from_the_prior() -> None:
    """The logarithm of expected over true RMSE, before what real networks have taught, averaged over functions."""
    off: dict[int, list[float]] = {60: [], 120: []}
    for seed in range(6):
        y, pick = draw(GRID, 0.05, seed, gpc.MaternGraphKernel(8.0, 1.0 + seed % 2)), choose(30, seed)
        computation = Computation(0, np.random.default_rng(0), ForecastEffort(), Progress(False, "%"))
        curves = fit_labels(GRID, Observed.gather(pick, y[pick]), computation).curves
        for n, found in off.items():
            errors = []
            for again in range(3):
                order = np.random.default_rng([seed, again]).permutation(GRID.vertices)
                predicted = gpc.GraphRegressor(GRID).fit(order[:n], y[order[:n]]).predict(order[n:])
                errors.append(float(np.mean((predicted - y[order[n:]]) ** 2)))
            expected = curves.moments(np.array([float(n)]))[0][0] + 2 * math.log(curves.scale)
            found.append(0.5 * (float(expected) - math.log(float(np.mean(errors)))))
    for found in off.values():  # smooth functions are taken for rougher ones at first
        assert abs(np.mean(found)) < 0.03 + 3 * np.std(found) / math.sqrt(len(found))


@pytest.mark.slow
def test_a_forecast_speaks_of_labels() -> None:
    result = real()
    verdict = result.verdict(4.0)
    said = " ".join(verdict.sentences)
    assert "labels" in said
    assert "rows" not in said
    assert result.target == "head"
    assert result.vertices == 196
    assert "30 labels at 196 vertices" in repr(result)
    assert result.to_frame()["n"].tolist() == [30, 60, 120, 156]
    with pytest.raises(InputError, match="n must be at most 196, one label for each vertex, got 500"):
        result.at([500])
    page = result._repr_html_()
    assert "labels" in page
    assert " rows" not in page
    needed = result.required_n(4.0)
    if needed.estimate is not None:
        assert needed.estimate <= 196
    hopeless = result.required_n(1e-6)
    assert hopeless.estimate is None
    assert "vertices" in hopeless.reason
    assert "even if all 196" in hopeless.reason


def _floor_of_model(now: float) -> float:
    return now + 0.386 * (math.log(0.4) - now) + 0.569 * (math.log(0.1) - now)


def test_the_estimate_has_a_share_of_power_laws_up_to_the_last_vertex() -> None:
    """Level, slope and share retyped, for two curves of unequal probability on two routes, and the error of the routes."""
    n = np.arange(101.0)
    curves = tuple(ErrorCurve(a / (1 + n / 9), 0.1) for a in (1.0, 2.0, 1.3, 1.9))
    weights = np.array([0.4, 0.1, 0.4, 0.1])
    observed = CrossValidation(np.array([10.0, 20.0, 36.0]), np.array([0.8, 0.5, 0.4]), np.array([0.1, 0.1, 0.1]))
    found = PosteriorCurves(curves, weights, ((2, 2),), observed, 40, 40, 3.0, most=80.0, calibration=NETWORKS)
    band = found.make_band()

    def mean(size: float, chosen: list[int]) -> float:
        logs = [math.log(curves[i](np.array([size]))[0]) for i in chosen]
        return float(np.average(logs, weights=weights[chosen]))

    def log_rmse(size: float, chosen: list[int]) -> float:
        now, within = mean(36.0, chosen), min(size, 80.0)
        model = now + 0.386 * (math.log(0.4) - now) + 0.569 * (mean(within, chosen) - now)
        law = naive_power_laws(observed, within)
        return float(0.5 * (0.65 * model + 0.35 * law))  # the same as with the constants of NETWORKS

    everything = [0, 1, 2, 3]
    floor = found._in_units(
        np.array([0.65 * _floor_of_model(mean(36.0, everything)) + 0.35 * naive_power_laws(observed, 80.0)])
    )
    assert found.noise_rmse == pytest.approx(float(floor[0]), rel=1e-9)
    for size in (60.0, 80.0, 200.0):
        assert math.log(band.at(np.array([size]))[0][0] / 3) == pytest.approx(log_rmse(size, everything), rel=1e-9)
        changes = [log_rmse(size, part) - log_rmse(size, everything) for part in ([0, 1], [2, 3])]
        expected = math.sqrt(0.5 * sum(change**2 for change in changes))
        assert found.stderr(np.array([size]))[0] == pytest.approx(expected, rel=1e-9)


def test_words_are_exchanged_as_a_whole() -> None:
    unit = Unit(10)
    assert unit.say("Rows grow; a row, 3 rows, narrow rowing") == "Labels grow; a label, 3 labels, narrow rowing"
    assert unit.say_number("7") == "7 of 10 possible"
    assert Unit().say("3 rows") == "3 rows"
    assert Unit().say_number("7") == "7"


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ("patient", "Patients grow; a patient, 3 patients"),
        ("Patient_ID", "Patients grow; a patient, 3 patients"),
        ("patientId", "Patients grow; a patient, 3 patients"),
        ("batches", "Batches grow; a batch, 3 batches"),
        ("Person no", "People grow; a person, 3 people"),
        ("Klinik", "Groups grow; a group, 3 groups"),
        ("id", "Groups grow; a group, 3 groups"),
    ],
)
def test_groups_are_called_by_their_own_name_if_it_is_a_known_word(column: str, words: str) -> None:
    assert Unit(group=name_groups(column)).say("Rows grow; a row, 3 rows") == words


@pytest.mark.slow
def test_the_next_vertices_are_unlabelled_and_lower_the_error_more_than_others() -> None:
    result = real()
    table = result.next_rows(12)
    chosen = table["vertex"].astype(int).to_numpy()
    known = choose(30, 0)
    assert len(np.unique(chosen)) == 12
    assert not np.isin(chosen, known).any()
    pd.testing.assert_frame_equal(result.next_rows(5), table.head(5))
    assert (result.designed([60])["rmse"] <= result.at([60])["rmse"] + 1e-12).all()
    answers = Questions(next=3).answer(result)
    assert "Label these 3 vertices next" in answers.sentences[0]
    with pytest.raises(InputError, match="the number of next labels"):
        result.next_rows(1000)


@pytest.mark.slow
def test_it_is_saved_and_loaded(tmp_path: Path) -> None:
    result = real()
    path = tmp_path / "plan.json"
    result.to_json(path)
    again = gpc.load(path)
    assert isinstance(again, gpc.Forecast)
    assert again.vertices == 196
    pd.testing.assert_frame_equal(again.at([30, 90]), result.at([30, 90]))
    assert again.verdict().sentences == result.verdict().sentences
    with pytest.raises(InputError, match="loaded from a file has no model"):
        again.predict(None)


def test_predictions_are_those_of_the_regressor() -> None:
    result, pick = real(), choose(30, 0)
    model = gpc.GraphRegressor(GRID).fit(pick, draw(GRID, 0.05, 0)[pick])
    table = result.predict(None)
    assert list(table.columns) == ["vertex", "prediction", "std", "low", "high"]
    np.testing.assert_allclose(table["prediction"], model.predict(), rtol=1e-9)
    np.testing.assert_allclose(result.predict([3, 9])["low"], model.predict_interval([3, 9])[0], rtol=1e-9)


def test_labels_are_mappings_and_what_is_missing_is_unknown() -> None:
    found = read_labels(GRID, {0: 1.0, 5: None, 9: float("nan"), 7: 3})
    assert found.vertices.tolist() == [0, 7]
    names = gpc.Graph.from_edges([(0, 1), (1, 2)], labels="abc")
    assert read_labels(names, pd.Series([1.0, 2.0, 4.0], index=["c", "a", "c"])).means.tolist() == [2.0, 2.5]
    with pytest.raises(InputError, match="labels must be a mapping or a Series"):
        read_labels(GRID, [1.0, 2.0])
    with pytest.raises(
        InputError, match="too few labels to say: a forecast needs labels at 20 vertices or more, got 3"
    ):
        gpc.forecast(GRID, {0: 1.0, 1: 2.0, 2: 4.0})
    with pytest.raises(InputError, match="groups, pool: for tables only"):
        gpc.forecast(GRID, {0: 1.0}, groups="x", pool=[[1.0]])
    with pytest.raises(InputError, match="draws, deterministic: for tables only"):
        gpc.forecast(GRID, {0: 1.0}, draws=3, deterministic=True)
    known = read_labels(GRID, {0: 1.0, 5: None, 7: 3.0}, {7: 0.5, 0: 0.1, 5: 1.0}).known
    assert known is not None
    np.testing.assert_allclose(known, [0.01, 0.25])


def test_more_test_labels_than_vertices_are_not_asked_for() -> None:
    said = Questions(certify=0.01).answer(real()).sentences[0]
    assert "only 166 vertices have no label yet" in said
    assert "test on about" in Questions(certify=2.0).answer(real()).sentences[0]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    pairs = np.argwhere(np.triu(GRID.adjacency.toarray()))
    Path("grid.csv").write_text("from,to\n" + "".join(f"v{i},v{j}\n" for i, j in pairs.tolist()))
    y, pick = draw(GRID, 0.05, 0), choose(30, 0)
    Path("known.csv").write_text("vertex,head\n" + "".join(f"v{i},{y[i]:.4f}\n" for i in pick.tolist()))
    return tmp_path


@pytest.mark.slow
def test_a_plan_from_files(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["plan", "--edges", "grid.csv", "--labels", "known.csv", "--goal-rmse", "4"]
    assert run([*words, "--next", "4", "--report", "plan.html", "--predictions", "all.csv"]) == 0
    captured = capsys.readouterr()
    assert captured.out.splitlines()[0] == "n,rmse,low,high"
    assert "30 labels at 30 vertices" in captured.err
    assert "Label these 4 vertices next" in captured.err
    assert "Leave-one-out RMSE" in captured.err
    now = float(captured.out.splitlines()[1].split(",")[1])
    assert f"At unlabelled vertices expect an RMSE of about {now:.3g}, from" in captured.err
    table = pd.read_csv("all.csv")
    assert table.columns.tolist() == ["vertex", "prediction", "std", "low", "high"]
    assert len(table) == 196
    page = Path("plan.html").read_text()
    assert "Predictions on the network" in page
    assert page.count("<img alt='") == 2
    assert "dark vertices are uncertain" in page
    chosen = re.search(r"Orange rings mark the vertices to label next, the most informative first: ([^<]*)\.</p>", page)
    assert chosen is not None
    listed = [line.split()[0] for line in captured.err.splitlines() if re.fullmatch(r" +v\d+ +.*", line)]
    assert chosen[1].split(", ") == listed[-4:]
    assert Path("plan.png").exists()
    assert run([*words, "--json", "-q"]) == 0
    answers = json.loads(capsys.readouterr().out)
    assert answers["target"] == "head"
    assert answers["vertices"] == 196
    assert {"required_n", "forecast", "noise_rmse", "verdict"} <= set(answers)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--edges", "grid.csv"], "--labels is needed"),
        (["--labels", "known.csv"], "give DATA (a table), or --edges with --labels (a graph)"),
        (["known.csv", "--edges", "grid.csv", "--labels", "known.csv"], "give DATA (a table), or --edges"),
        (["known.csv"], "--target is needed"),
        (["grid.csv", "--labels", "known.csv"], "give the graph by --edges, as in --edges grid.csv"),
        (["known.csv", "--target", "head", "--repair"], "--repair is for graphs, but this is a table"),
        (["--edges", "grid.csv", "--labels", "known.csv", "--drop", "x"], "--drop is for tables, but this is a graph"),
        (["--edges", "grid.csv", "--labels", "known.csv", "--draws", "3"], "--draws applies to tables only"),
        (["--edges", "grid.csv", "--labels", "known.csv", "--n", "1000"], "n must be at most 196"),
    ],
)
def test_what_belongs_to_the_other_kind_of_data_is_refused(
    words: list[str], sentence: str, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["plan", *words]) == 2
    assert sentence in capsys.readouterr().err


def test_large_graphs_agree_with_dense_algebra_on_a_tree() -> None:
    """Conjugate gradients and belief propagation are exact there: means, variances, labels left out, mean and variance."""
    tree = gpc.as_graph(nx.random_labeled_tree(120, seed=3))
    rng = np.random.default_rng(0)
    vertices = np.concatenate((rng.permutation(120)[:25], [4, 4]))
    observed = Observed.gather(vertices.astype(np.int64), rng.normal(5, 2, 27))
    for setting in (Setting(0.2), Setting(0.2, 4.0, 5.0)):
        kernel = gpc.MaternGraphKernel(3.0, 1.0)
        found = choose_large(tree, [kernel], observed, [setting])
        model = gpc.GraphRegressor(tree, kernel, 0.2)
        if setting.mean is not None:
            model.set_params(mean=setting.mean, variance=setting.variance)
        model.fit_observed(tree, observed)
        solution = model.posterior_.members[0].solution
        assert found.mean == pytest.approx(solution.mean, rel=1e-6)
        np.testing.assert_allclose(found.means, model.predict(), rtol=1e-6)
        if setting.mean is not None:  # belief propagation does not know that the mean is estimated
            assert found.variance == setting.variance
            np.testing.assert_allclose(np.sqrt(found.variances), model.predict(return_std=True)[1], rtol=1e-6)
        places = found.trial.places
        assert sorted(places.tolist()) == list(range(len(observed.vertices)))  # few labels: each is left out once
        fold = np.sort(places[: round(0.1 * len(places))])  # those left out together first
        model.fit_observed(tree, observed.take(np.setdiff1d(np.arange(len(observed.vertices)), fold)))
        left_out = dict(zip(places.tolist(), found.trial.predicted.tolist(), strict=True))
        np.testing.assert_allclose(
            [left_out[place] for place in fold.tolist()], model.predict(observed.vertices[fold]), rtol=1e-3
        )


@pytest.mark.slow
def test_the_regressor_takes_the_large_way_if_it_must(monkeypatch: pytest.MonkeyPatch) -> None:
    import gpcurves.forecasting.networks.regressor as regressor

    y, pick = draw(GRID, 0.05, 0), choose(60, 0)
    others = np.setdiff1d(np.arange(196), pick)
    usual = gpc.GraphRegressor(GRID).fit(pick, y[pick])
    monkeypatch.setattr(regressor, "LARGEST", 1.0)
    large = gpc.GraphRegressor(GRID).fit(pick, y[pick])
    assert any("conjugate gradients" in note or "sparse factorisation" in note for note in large.notes_)
    rmse = [float(np.sqrt(np.mean((model.predict(others) - y[others]) ** 2))) for model in (usual, large)]
    assert rmse[1] < 1.25 * rmse[0]
    assert large.left_out_.process == pytest.approx(
        rmse[1], rel=0.35
    )  # from 60 labels; loops have made it half of this
    low, high = large.predict_interval(others)
    assert 0.8 < np.mean((low <= y[others]) & (y[others] <= high)) < 0.98
    with pytest.raises(InputError, match="standard errors of labels cannot be used"):
        large.fit(pick, y[pick], np.ones(60))
