"""Effects that rows of a group share: their covariance, what is left out with them, and forecasts for new groups."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import multivariate_normal

import gpcurves as gpc
from gpcurves.errors import InputError
from gpcurves.forecasting import ForecastEffort
from gpcurves.forecasting.error_curve import simulate_curve
from gpcurves.forecasting.groups import GroupEffect, Shared, indicate, measure_crowding
from gpcurves.forecasting.parts import FeaturePart
from gpcurves.forecasting.posterior import find_members
from gpcurves.forecasting.regression import Regression, mix
from gpcurves.forecasting.sources import hint_at_groups
from gpcurves.forecasting.warping import NoWarp, Warped
from gpcurves.inputs import Sample
from gpcurves.tables.preparing import prepare
from gpcurves.tables.rows import draw_whole, standardise

NOISE, EFFECT = 0.05, 0.4
GROUPS = np.array([3, 3, 3, 7, 7, 1, 1, 1, 1, 5])


def inputs(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((count, 2))


def visits(patients: int, each: int = 4, seed: int = 0, deviation: float = 1.0) -> pd.DataFrame:
    """Return patients whose score depends on their age and on time, and who differ beyond that."""
    rng = np.random.default_rng(seed)
    age, effect = rng.uniform(20, 80, patients), deviation * rng.standard_normal(patients)
    number, time = np.repeat(np.arange(patients), each), rng.uniform(0, 3, patients * each)
    score = 0.03 * age[number] + 0.5 * time + effect[number] + 0.3 * rng.standard_normal(len(number))
    return pd.DataFrame({"patient": [f"P{i}" for i in number], "age": age[number], "time": time, "score": score})


def test_rows_of_a_group_share_a_variance() -> None:
    covariance = Shared(EFFECT, GROUPS).covariance
    for i in range(len(GROUPS)):
        for j in range(len(GROUPS)):
            assert covariance[i, j] == (EFFECT if GROUPS[i] == GROUPS[j] else 0.0)
    features = indicate(GROUPS)
    np.testing.assert_allclose(EFFECT * features.T @ features, covariance)


@pytest.mark.parametrize("effect", [0.0, EFFECT])
def test_predictions_for_a_group_left_out_are_those_without_it(effect: float) -> None:
    X = inputs(len(GROUPS))
    y = np.sin(2 * X[:, 0]) + X[:, 1]
    problem, warped = gpc.Problem(gpc.RBF(0.7), Sample(X), NOISE), Warped.of(NoWarp(y), np.empty(0), y)
    whole = Regression(problem, X, y, warped, None, Shared(effect, GROUPS))
    left_out = whole.leave_one_out()
    for group in np.unique(GROUPS):
        here = group == GROUPS
        part = Regression(problem, X[~here], y[~here], warped, None, Shared(effect, GROUPS[~here]))
        np.testing.assert_allclose(left_out[here], part.predict(X[here]), rtol=1e-9)
        K = problem.kernel(X[~here]) + NOISE * np.eye((~here).sum())
        K += effect * np.equal.outer(GROUPS[~here], GROUPS[~here])
        k = problem.kernel(X[here], X[~here])
        np.testing.assert_allclose(part.mean(X[here]), k @ np.linalg.solve(K, warped.standardise(y[~here])), rtol=1e-9)
        spread = problem.kernel.diag(X[here]) - np.einsum("ij,ji->i", k, np.linalg.solve(K, k.T)) + NOISE + effect
        np.testing.assert_allclose(part.variance(X[here]), spread, rtol=1e-9)


def test_the_evidence_is_that_of_targets_with_the_effect() -> None:
    table = visits(12)
    X = table[["age", "time"]].to_numpy()
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    groups = np.unique(table["patient"], return_inverse=True)[1].astype(np.int64)
    y = (table["score"] / table["score"].std()).to_numpy()
    member = find_members(X, (0, 1), y, groups=groups)[0]
    density, theta = member.density, member.mode
    assert isinstance(density.prior.parts[-1], GroupEffect)
    assert sum(isinstance(part, FeaturePart) for part in density.prior.parts) == len(density.prior.parts) - 1
    problem, shared = member.problem(theta, Sample(X)), member.share(theta, groups)
    assert shared is not None
    assert len(problem.kernel.terms) == len(density.prior.parts)
    K = problem.kernel(X) + problem.noise * np.eye(len(y)) + shared.covariance
    z = density.warped(theta).standardise(y)
    found = density.evidence(theta[: density.split], z)[0]
    assert found == pytest.approx(multivariate_normal(np.zeros(len(y)), K).logpdf(z), rel=1e-8)
    part = np.flatnonzero(groups < 5)  # of whole groups, as in cross-validation
    again = density.of_rows(part)
    K = K[np.ix_(part, part)]
    z = again.warped(theta).standardise(y[part])
    assert again.evidence(theta[: density.split], z)[0] == pytest.approx(
        multivariate_normal(np.zeros(len(part)), K).logpdf(z), rel=1e-8
    )


def test_crowding_is_the_size_of_a_group_with_equal_inputs_and_one_without_groups() -> None:
    kernel, groups = gpc.RBF(0.7), np.repeat(np.arange(40), 5)
    X = inputs(40)
    assert measure_crowding(kernel, X[groups], groups) == pytest.approx(5.0)
    assert measure_crowding(kernel, inputs(200), np.arange(200)) == 1.0
    assert measure_crowding(kernel, inputs(200), groups) == pytest.approx(
        1.0, abs=0.2
    )  # rows of a group are alike by chance
    uneven = np.repeat(np.arange(20), [1, 7] * 10)  # a row has (1 + 49) / 8 in its group on average
    assert measure_crowding(kernel, inputs(20)[uneven], uneven) == pytest.approx(50 / 8)


def test_rows_of_a_group_with_equal_inputs_teach_like_one_with_less_noise() -> None:
    each, X = 4, inputs(30)
    rows = np.repeat(np.arange(30), each)
    y = np.sin(2 * X[rows, 0])
    warped = Warped.of(NoWarp(y), np.empty(0), y)
    kernel, new = gpc.RBF(0.7), inputs(10, seed=1)
    grouped = Regression(gpc.Problem(kernel, Sample(X), NOISE), X[rows], y, warped, None, Shared(EFFECT, rows))
    single = Regression(gpc.Problem(kernel, Sample(X), NOISE + each * EFFECT), X[rows], y, warped)
    np.testing.assert_allclose(grouped.mean(new), single.mean(new), rtol=1e-9)


def test_new_targets_have_a_noise_of_their_own_in_a_curve() -> None:
    problem = gpc.Problem(gpc.RBF(0.7), gpc.Gaussian(2, variance=1.0), noise=0.5)
    X, test = inputs(60), inputs(50, seed=1)
    plain, other = simulate_curve(problem, X, test), simulate_curve(problem, X, test, noise=0.2)
    n = np.array([0.0, 10.0, 60.0, 500.0])
    np.testing.assert_allclose(plain(n) - 0.5, other(n) - 0.2, rtol=1e-9)


def test_groups_are_left_out_together_and_so_is_their_mean() -> None:
    table = visits(15)
    X = table[["age", "time"]].to_numpy()
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    groups = np.unique(table["patient"], return_inverse=True)[1].astype(np.int64)
    y = (table["score"] / table["score"].std()).to_numpy()
    members = find_members(X, (0, 1), y, groups=groups)
    found = mix(members, X, y, groups=groups)
    best = found.weights * (1 - found.guess.share) @ [each.leave_one_out() for each in found.regressions]
    means = np.array([y[groups != group].mean() for group in groups])
    np.testing.assert_allclose(found.left_out, best + found.guess.share * means, rtol=1e-9)


@pytest.mark.parametrize("deviation", [pytest.param(0.0, marks=pytest.mark.slow), 1.5])
def test_forecasts_for_new_patients_hold(deviation: float) -> None:
    """The error for new patients includes how these differ, however many rows each of them has."""
    ratios = []
    for seed in range(2):
        everything = visits(600, seed=seed, deviation=deviation)
        patients = everything.groupby("patient", sort=False).ngroup()
        pilot, new = everything[patients < 40], everything[patients >= 300]
        forecast = gpc.forecast(pilot, "score", groups="patient", draws=2)
        error = float(np.sqrt(np.mean((forecast.predict(new)["prediction"] - new["score"]) ** 2)))
        now = forecast.at([40]).iloc[0]
        ratios.append(np.log(now["rmse"] / error))
        assert 0.95 * now["low"] < error < now["high"]  # one in ten intervals may miss, by a little
    assert abs(np.mean(ratios)) < 2 * 0.11 / np.sqrt(2) + 0.05  # the spread of 40 effects is known to 11 %


def test_rows_that_come_in_groups_are_pointed_out() -> None:
    table = visits(12)
    (said,) = hint_at_groups(table, prepare(table, "score"))
    assert "12 patients with 4 rows each" in said
    assert "'patient'" in said
    assert said in gpc.forecast(table, "score", draws=1).steps
    assert said not in gpc.forecast(table, "score", groups="patient", draws=1).steps
    for other in (table.rename(columns={"patient": "colour"}), table.assign(patient=range(48))):
        assert hint_at_groups(other, prepare(other, "score")) == ()
    labelled = table.assign(score=table["score"].where(table["time"] > 1))
    (said,) = hint_at_groups(labelled, prepare(labelled, "score"))
    assert f"{labelled['score'].notna().sum() / 12:.3g} rows each" in said
    with pytest.raises(InputError, match="at least 5"):
        prepare(visits(4), "score", groups="patient")


def test_equal_rows_of_different_groups_are_no_copies() -> None:
    table = visits(40)
    twice = pd.concat([table.assign(patient=table["patient"] + suffix) for suffix in "ab"])
    assert len(prepare(twice, "score", groups="patient").y) == 320
    again = prepare(pd.concat([table, table]), "score", groups="patient")
    assert len(again.y) == 160
    assert any("Dropped 160 rows equal" in step for step in again.steps)


def test_other_names_of_groups_are_no_inputs() -> None:
    table = visits(12)
    names = table["patient"].str.replace("P", "patient number ")
    sites = np.where(table["patient"].isin(["P0", "P1", "P2", "P3", "P4", "P5"]), "Leeds", "York")
    found = prepare(table.assign(name=names, site=sites), "score", groups="patient")
    assert found.dropped == {"name": "another name of the group"}
    assert prepare(table.drop(columns="patient").assign(name=names), "score").dropped == {}
    asked = prepare(table.assign(name=names), "score", groups="patient", features=["age", "time", "name"])
    assert "name" in asked.sources


def test_a_function_without_noise_has_no_effect_of_groups() -> None:
    table = visits(40, seed=1)
    table["score"] = np.sin(table["age"] / 10) + table["time"] * table["age"] / 50
    now = gpc.forecast(table, "score", groups="patient", draws=4).at([40]).iloc[0]
    assert now["rmse"] < 5e-4  # a floor of a thousandth would be that of a variance that cannot vanish


def test_the_names_of_groups_do_not_matter_for_crowding() -> None:
    X, sizes = inputs(120), [1] * 100 + [20] * 20
    groups = np.repeat(np.arange(120), sizes)
    found = measure_crowding(gpc.RBF(0.7), X[groups], groups)
    assert found == pytest.approx((100 + 20 * 400) / 500)  # inputs are equal within groups
    assert measure_crowding(gpc.RBF(0.7), X[groups], 119 - groups) == pytest.approx(found)
    assert measure_crowding(gpc.RBF(0.7), X[groups], np.zeros(500, dtype=np.int64)) == 500


def test_rows_are_drawn_in_whole_groups() -> None:
    groups = np.repeat(np.arange(50), 6)
    drawn = draw_whole(groups, 100, np.random.default_rng(0))
    assert len(drawn) == 96
    assert (np.bincount(groups[drawn], minlength=50) % 6 == 0).all()
    assert len(draw_whole(np.repeat(np.arange(4), 50), 60, np.random.default_rng(0))) == 60  # no room for whole ones
    table = visits(60, each=5)
    rows = standardise(prepare(table, "score", groups="patient", most_rows=100))
    assert rows.rate == 5.0
    assert rows.units == 20
    assert rows.usable == 60
    forecast = gpc.forecast(table, "score", groups="patient", draws=1, effort=ForecastEffort(fitted_rows=100))
    assert forecast.cross_validation.n.tolist() == [5.0, 10.0, 18.0]  # of 20 whole groups
    assert forecast.rows == 60


def test_coarse_rows_may_repeat_within_groups() -> None:
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(60), 5)
    table = pd.DataFrame({"patient": patient, "sex": rng.choice(["f", "m"], 300), "grade": rng.integers(1, 4, 300)})
    table["score"] = np.clip(table["grade"] + rng.integers(-1, 3, 60)[patient], 1, 7) + 0.5
    found = prepare(table, "score", groups="patient")
    assert len(found.y) == 300
    assert any("Kept" in step and "repeats are expected" in step for step in found.steps)


@pytest.mark.parametrize(
    "columns",
    [
        {"children": [0, 1, 2, 3, 4, 5] * 8},
        {"field": [0.1, 0.2, 0.4, 0.5, 0.6, 0.7] * 8},
        {"trial": list(range(6)) * 8},
    ],
)
def test_quantities_are_not_taken_for_groups(columns: dict[str, list[float]]) -> None:
    table = visits(12).drop(columns="patient").assign(**columns)
    assert hint_at_groups(table, prepare(table, "score")) == ()
