"""Predictions: against scikit-learn, against learning without a row, and mixed with the best weights."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor, kernels

import gpcurves as gpc
from gpcurves.forecasting import regression
from gpcurves.forecasting.assembly import fit_members
from gpcurves.forecasting.crossvalidation import cross_validate
from gpcurves.forecasting.evidence import JITTER
from gpcurves.forecasting.posterior import Member, find_members
from gpcurves.forecasting.prediction import NewRows, Predictor
from gpcurves.forecasting.regression import NO_GUESS, Guess, Mixture, Regression, mix, stack
from gpcurves.forecasting.warping import NoWarp, Power, Tails, Warp, Warped
from gpcurves.inputs import Sample
from gpcurves.numerics.validation import FloatArray
from gpcurves.problem import Problem
from gpcurves.tables.preparing import prepare
from gpcurves.tables.rows import Rows, standardise, standardise_arrays


def rows(count: int = 25, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((count, 2))
    y = np.exp(np.sin(2 * X[:, 0]) + 0.2 * rng.standard_normal(count))
    return X, y / y.std()


@cache
def members() -> list[Member]:
    X, y = rows()
    return find_members(X, (0, 1), y)


PROBLEM = Problem(gpc.RBF((0.8, 2.0), 1.5) + gpc.kernels.Linear(0.2, 2.0), Sample(rows()[0]), 0.1)
WARPS: list[tuple[type[Warp], tuple[float, ...]]] = [(NoWarp, ()), (Power, (0.3,)), (Tails, (0.7, 0.2))]


@pytest.mark.parametrize(("warp", "w"), WARPS)
@pytest.mark.parametrize("weighted", [False, True])
def test_leaving_a_row_out_is_learning_without_it(warp: type[Warp], w: tuple[float, ...], weighted: bool) -> None:
    X, y = rows()
    warped = Warped.of(warp(y), np.array(w), y)
    weights = np.where(np.arange(25) < 20, 1.0, 2.0) if weighted else np.ones(25)
    left_out = Regression(PROBLEM, X, y, warped, weights).leave_one_out()
    for i in range(20):  # a new row counts as one of weight 1
        others = np.arange(25) != i
        again = Regression(PROBLEM, X[others], y[others], warped, weights[others])
        assert left_out[i] == pytest.approx(again.predict(X[i : i + 1])[0], rel=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_means_and_variances_are_those_of_dense_matrices(weighted: bool) -> None:
    X, y = rows()
    new = rows(7, seed=1)[0]
    weights = np.linspace(0.5, 2, 25) if weighted else None
    warped = Warped.of(NoWarp(y), np.empty(0), y)
    found = Regression(PROBLEM, X, y, warped, weights)
    K = PROBLEM.kernel(X) + 0.1 * np.diag(np.ones(25) if weights is None else weights)
    k = PROBLEM.kernel(X, new)
    np.testing.assert_allclose(found.mean(new), k.T @ np.linalg.solve(K, (y - y.mean()) / y.std()))
    expected = PROBLEM.kernel.diag(new) - np.diag(k.T @ np.linalg.solve(K, k)) + 0.1
    np.testing.assert_allclose(found.variance(new), expected)
    np.testing.assert_allclose(found.predict(new), y.mean() + y.std() * found.mean(new))


def test_members_predict_with_their_modes() -> None:
    X, y = rows()
    new = rows(7, seed=1)[0]
    for member in members():
        found = Regression.of(member)
        again = Regression(member.problem(member.mode, Sample(X)), X, y, member.density.warped(member.mode))
        np.testing.assert_allclose(found.predict(new), again.predict(new), rtol=1e-12)
        more = Regression.of(member, (*rows(40, seed=2), None))
        assert len(more.X) == 40
        assert more.warped.mean == found.warped.mean  # the target is standardised as it was when the mode was found


# Weights


def test_equal_predictions_have_equal_weights() -> None:
    y = rows()[1]
    np.testing.assert_allclose(stack(np.tile(0.5 * y, (4, 1)), y), 0.25, atol=1e-6)


def test_weights_are_the_best_of_a_simplex() -> None:
    rng = np.random.default_rng(0)
    y = rng.standard_normal(60)
    predictions = y + rng.standard_normal((3, 60)) * np.array([[0.9], [1.0], [1.3]])
    best = min(np.mean((row - y) ** 2) for row in predictions)

    def loss(weights: FloatArray) -> float:
        errors = np.sum((weights @ predictions - y) ** 2) / best
        information = float(sum(weight * math.log(3 * weight) for weight in weights if weight > 0))
        return 0.5 * float(errors) + regression._PULL * information

    found = stack(predictions, y)
    assert found.sum() == pytest.approx(1)
    assert (found > 0).all()
    others = rng.dirichlet(np.ones(3), 3_000)
    assert loss(found) <= min(loss(weights) for weights in others) + 1e-6
    shifts = 0.01 * np.array([[1, -1, 0], [-1, 1, 0], [0, 1, -1], [1, 0, -1]])
    assert all(loss(found) < loss(found + shift) for shift in shifts)


def test_a_member_that_is_much_better_has_all_the_weight() -> None:
    rng = np.random.default_rng(0)
    y = rng.standard_normal(100)
    close, far = y + 0.1 * rng.standard_normal(100), y + 3 * rng.standard_normal(100)
    assert stack(np.array([far, close, far]), y)[1] > 0.97


def test_weights_do_not_depend_on_units() -> None:
    rng = np.random.default_rng(0)
    y = rng.standard_normal(60)
    predictions = y + rng.standard_normal((3, 60)) * np.array([[0.9], [1.0], [1.3]])
    np.testing.assert_allclose(stack(1000 * predictions + 7, 1000 * y + 7), stack(predictions, y), atol=1e-5)


def test_a_mixture_is_the_weighted_mean_of_its_members_and_of_the_rows() -> None:
    X, y = rows()
    new = rows(7, seed=1)[0]
    mixture = mix(members(), X, y)
    regressions = [Regression.of(member, (X, y, None)) for member in members()]
    others = [np.mean(np.delete(y, i)) for i in range(len(y))]
    *weights, share = stack(np.array([*(each.leave_one_out() for each in regressions), others]), y)
    np.testing.assert_allclose(mixture.weights, np.array(weights) / sum(weights))
    assert mixture.guess.share == pytest.approx(share)
    expected = sum(weight * each.predict(new) for weight, each in zip(weights, regressions, strict=True))
    np.testing.assert_allclose(mixture.predict(new), expected + share * y.mean())
    low, middle, high = (mixture.quantile(new, side) for side in (-1.6, 0.0, 1.6))
    assert ((low < middle) & (middle < high)).all()
    ends = [each.warped.in_units(each.mean(new) - 1.6 * np.sqrt(each.variance(new))) for each in regressions]
    quantile = np.quantile(y, 0.5 * math.erfc(1.6 / math.sqrt(2)))
    np.testing.assert_allclose(low, np.array(weights) @ ends + share * quantile)


def test_a_target_that_inputs_do_not_explain_is_mostly_guessed() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((200, 4)), rng.standard_t(2, 200)
    data = standardise_arrays(X[:50], y[:50], None, rng, 1_000)
    found = mix(fit_members(data, 1_000), data.X, data.level)
    plain = replace(found, guess=NO_GUESS)
    assert found.guess.share > 0.15
    inputs, truth = data.columns.standardise(X[50:]), y[50:] / data.scale
    assert np.mean((found.predict(inputs) - truth) ** 2) < np.mean((plain.predict(inputs) - truth) ** 2)


def test_a_target_that_inputs_explain_is_not_guessed() -> None:
    X = np.random.default_rng(0).uniform(-1, 1, (60, 2))
    data = standardise_arrays(X, np.sin(2 * X[:, 0]) + X[:, 1], None, np.random.default_rng(0), 1_000)
    assert mix(fit_members(data, 1_000), data.X, data.level).guess.share < 1e-6


def test_quantiles_of_a_plain_member_are_those_of_a_normal_distribution() -> None:
    X, y = rows()
    new = rows(7, seed=1)[0]
    found = Regression(PROBLEM, X, y, Warped.of(NoWarp(y), np.empty(0), y))
    alone = Mixture((found,), np.ones(1), np.empty(0))
    expected = found.predict(new) + 1.3 * y.std() * np.sqrt(found.variance(new))
    np.testing.assert_allclose(alone.quantile(new, 1.3), expected)


# The predictor


class FunctionsOfOneInput(kernels.StationaryKernelMixin, kernels.Kernel):  # type: ignore[misc]
    """The first eight terms of squared exponentials, one of each input, written as a kernel of scikit-learn."""

    def __init__(self, variance: float) -> None:
        self.variance = variance

    def __call__(self, X: FloatArray, Y: FloatArray | None = None, eval_gradient: bool = False) -> FloatArray:
        Y = X if Y is None else Y
        total = np.zeros((len(X), len(Y)))
        for x, y in zip(X.T, Y.T, strict=True):
            series = sum(np.multiply.outer(x, y) ** k / math.factorial(k) for k in range(8))
            total += series * np.exp(-np.add.outer(x**2, y**2) / 2)
        return np.asarray(self.variance / X.shape[1] * total)

    def diag(self, X: FloatArray) -> FloatArray:
        return self(X).diagonal()


def oracle(member: Member) -> GaussianProcessRegressor:
    """Return the regressor of scikit-learn with the hyperparameters of a member."""
    variance, linear, additive, *scales, noise = np.exp(member.mode[: member.density.split])
    blocks = list(member.density.evidence.blocks)
    lengthscales, count = np.array(scales)[blocks], len(scales)
    rbf = member.density.evidence.family is gpc.RBF
    shape = kernels.RBF(lengthscales) if rbf else kernels.Matern(lengthscales, nu=2.5)
    kernel = kernels.ConstantKernel(variance) * shape + kernels.WhiteKernel(noise)
    kernel += kernels.ConstantKernel(linear / count) * kernels.DotProduct(math.sqrt(count), "fixed")
    kernel += FunctionsOfOneInput(additive)
    return GaussianProcessRegressor(kernel, alpha=JITTER * variance, optimizer=None)


@pytest.mark.parametrize("place", [0, 1])
def test_predictions_are_those_of_scikit_learn_with_the_same_hyperparameters(place: int) -> None:
    X, y = rows()
    X, y = X * [1.0, 40.0] + [3.0, 500.0], 100 - 7 * y
    new = rows(9, seed=1)[0] * [1.0, 40.0] + [3.0, 500.0]
    data = standardise_arrays(X, y, None, np.random.default_rng(0), 1_000)
    member = fit_members(data, 1_000)[place]
    found = Predictor(data, Mixture((Regression.of(member),), np.ones(1), np.empty(0))).predict(new)
    theirs = oracle(member).fit((X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std())
    mean, std = theirs.predict((new - X.mean(axis=0)) / X.std(axis=0), return_std=True)
    np.testing.assert_allclose(found["prediction"], y.mean() + y.std() * mean, rtol=1e-7)
    for column, side in (("low", -1), ("high", 1)):
        expected = y.mean() + y.std() * (mean + side * 1.6448536269514722 * std)
        np.testing.assert_allclose(found[column], expected, rtol=1e-7)


def people() -> pd.DataFrame:
    """Return a table with a bit of everything."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.standard_normal(60), "town": [f"town {i % 7}" for i in range(60)]})
    table["day"] = pd.date_range("2024-01-01", periods=60, freq="5D")
    table["sex"] = ["male", "female"] * 30
    table["pay"] = np.exp(1 + 0.5 * table["x"] + 0.2 * np.array([i % 7 for i in range(60)]))
    table["pay"] *= np.exp(0.05 * rng.standard_normal(60))
    return table


@cache
def predictor() -> Predictor:
    data: Rows = standardise(prepare(people(), "pay"))
    return Predictor(data, mix(fit_members(data, 1_000), data.X, data.level))


def test_a_table_is_predicted_in_its_own_units() -> None:
    found = predictor().predict(people())
    assert list(found.columns) == ["prediction", "low", "high"]
    assert (found["low"] < found["prediction"]).all()
    assert (found["prediction"] < found["high"]).all()
    assert np.corrcoef(found["prediction"], people()["pay"])[0, 1] > 0.98
    inside = (found["low"] < people()["pay"]) & (people()["pay"] < found["high"])
    assert inside.mean() > 0.85
    moved = people().sample(frac=1, random_state=0)[["sex", "pay", "day", "town", "x"]]  # in another order
    np.testing.assert_allclose(predictor().predict(moved)["prediction"], found["prediction"][moved.index])


def test_rows_with_holes_and_new_categories_are_predicted() -> None:
    table = people().head(4).drop(columns="pay")
    table.loc[0, "x"], table.loc[1, "town"], table.loc[2, "sex"], table.loc[3, "day"] = np.nan, "new", None, pd.NaT
    found = predictor().predict(table)
    assert np.isfinite(found.to_numpy()).all()
    one, other = (predictor().predict(table.assign(town=name)) for name in ("Rome", "Oslo"))
    pd.testing.assert_frame_equal(one, other)  # nothing is known of either
    known, new = (NewRows.read(table.assign(town=name), predictor().rows).inputs for name in ("town 0", "Rome"))
    for each in predictor().mixture.regressions:
        assert (each.variance(new) > each.variance(known)).all()


def test_predictors_refuse_what_they_have_not_learnt() -> None:
    with pytest.raises(gpc.InputError, match="the table of new rows has no column 'town'"):
        predictor().predict(people().drop(columns="town"))
    with pytest.raises(gpc.InputError, match="give a table: the model was fitted to one"):
        predictor().predict(np.zeros((3, 4)))
    X, y = rows()
    data = standardise_arrays(X, y, None, np.random.default_rng(0), 1_000)
    plain = Predictor(data, mix(fit_members(data, 1_000), data.X, data.level))
    with pytest.raises(gpc.InputError, match="X must have 2 columns, got 3"):
        plain.predict(np.zeros((3, 3)))


# Cross-validation


def test_groups_stay_together_in_cross_validation(monkeypatch: pytest.MonkeyPatch) -> None:
    groups = np.repeat(np.arange(10), [1, 2, 3, 4, 1, 2, 3, 4, 2, 3])
    seen = []

    def predict(member: Member, train: FloatArray, test: FloatArray, refit: bool) -> FloatArray:
        seen.append((train, test))
        return np.zeros(len(test))

    monkeypatch.setattr("gpcurves.forecasting.crossvalidation._refit_and_predict", predict)
    found = cross_validate(members(), np.full(4, 0.25), np.random.default_rng(0), groups)
    assert found.n.tolist() == [5, 9]  # of groups; an eighth and a quarter of them are too few
    for train, test in seen:
        assert set(groups[train.astype(int)]).isdisjoint(groups[test.astype(int)])
        assert len(train) + len(test) == 25


def test_errors_of_guessing_zero_have_the_standard_error_of_the_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "gpcurves.forecasting.crossvalidation._refit_and_predict",
        lambda member, train, test, refit: np.zeros(len(test)),
    )
    y = rows()[1]
    found = cross_validate(members(), np.full(4, 0.25), np.random.default_rng(0))
    squares = [value**2 for value in y]
    mean = sum(squares) / 25
    assert found.mse[-1] == pytest.approx(mean)  # ten folds hold every row out once
    stderr = math.sqrt(sum((square - mean) ** 2 for square in squares)) / 25
    assert found.stderr[-1] == pytest.approx(stderr)  # however often the folds are drawn


def test_cross_validation_moves_predictions_towards_the_mean_of_the_rows_trained_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = []

    def predict(member: Member, train: FloatArray, test: FloatArray, refit: bool) -> FloatArray:
        seen.append((train.astype(int), test.astype(int)))
        return np.ones(len(test))

    monkeypatch.setattr("gpcurves.forecasting.crossvalidation._refit_and_predict", predict)
    y = rows()[1]
    found = cross_validate(members()[:1], np.ones(1), np.random.default_rng(0), guess=Guess(0.3, y))
    folds = [(train, test) for train, test in seen if len(train) > 20]
    squares = [(y[i] - 0.7 - 0.3 * np.mean(y[train])) ** 2 for train, test in folds for i in test]
    assert found.mse[-1] == pytest.approx(np.mean(squares))
