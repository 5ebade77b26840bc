"""Warps of the target: inverse, slope, moments and errors in the target's units, each against its definition."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gpcurves.forecasting.error_curve import ErrorCurve
from gpcurves.forecasting.warping import NoWarp, Power, Tails, Warp, Warped, choose_warp
from gpcurves.numerics.validation import FloatArray


def positive() -> FloatArray:
    return np.exp(np.random.default_rng(0).standard_normal(200))


def signed() -> FloatArray:
    return np.asarray(np.random.default_rng(1).standard_t(3, 200)) + 0.5


CASES = [
    (NoWarp(signed()), signed(), ()),
    *((Power(positive()), positive(), (power,)) for power in (0.0, 1e-5, 0.3, 1.0, 1.6)),
    (Power(np.maximum(positive() - 0.5, 0.0)), np.maximum(positive() - 0.5, 0.0), (0.3,)),
    *((Tails(signed()), signed(), w) for w in ((0.8, 0.0), (0.3, -0.7), (1.3, 1.5))),
]


@pytest.mark.parametrize(("warp", "y", "w"), CASES)
def test_unbending_undoes_bending(warp: Warp, y: FloatArray, w: tuple[float, ...]) -> None:
    bent = warp.bend(np.sort(y), np.array(w))
    np.testing.assert_allclose(warp.unbend(bent, np.array(w)), np.sort(y), rtol=1e-8, atol=1e-8)
    assert (np.diff(bent)[np.diff(np.sort(y)) > 0] > 0).all()


@pytest.mark.parametrize(("warp", "y", "w"), CASES)
def test_slopes_are_those_of_differences(warp: Warp, y: FloatArray, w: tuple[float, ...]) -> None:
    parameters, y = np.array(w), y[y > 0.01]
    step = 1e-5 * y
    difference = (warp.bend(y + step, parameters) - warp.bend(y - step, parameters)) / (2 * step)
    np.testing.assert_allclose(warp.log_slope(y, parameters), np.log(difference), atol=1e-6)


@pytest.mark.parametrize("power", [1e-3, 0.5, 1.0, 1.5])
def test_powers_are_those_of_box_and_cox(power: float) -> None:
    y = positive()
    median = sorted(y)[99] / 2 + sorted(y)[100] / 2
    expected = [((value / median) ** power - 1) / power for value in y]
    np.testing.assert_allclose(Power(y).bend(y, np.array([power])), expected, rtol=1e-10, atol=1e-10)
    logarithm = Power(y).bend(y, np.zeros(1))
    np.testing.assert_allclose(logarithm, np.log(y / median))
    np.testing.assert_allclose(Power(y).bend(y, np.array([1e-7])), logarithm, atol=1e-5)  # the limit


def test_zeros_are_shifted_by_a_twentieth_of_the_median_of_the_others() -> None:
    y = np.array([0.0, 0.0, 1.0, 2.0, 8.0])
    np.testing.assert_allclose(Power(y).bend(y, np.zeros(1)), np.log(y / 2 + 0.05))


@pytest.mark.parametrize("w", [(1.0, 0.0), (0.4, 0.3)])
def test_tails_are_the_function_of_jones_and_pewsey(w: tuple[float, float]) -> None:
    y = signed()
    warp = Tails(y)
    u = (y - np.median(y)) / ((np.quantile(y, 0.75) - np.quantile(y, 0.25)) / 1.35)
    np.testing.assert_allclose(warp.bend(y, np.array(w)), [math.sinh(w[0] * math.asinh(v) - w[1]) for v in u])
    if w == (1.0, 0.0):
        np.testing.assert_allclose(warp.bend(y, np.array(w)), u)


def test_the_prior_of_the_parameters_is_normal() -> None:
    warp = Tails(signed())
    assert NoWarp(signed()).log_prior(np.empty(0)) == 0
    assert warp.log_prior(np.array([1.0, 0.0])) == 0
    assert warp.log_prior(np.array([0.6, 1.0])) == pytest.approx(-0.5 * (1 + 4))


def test_powers_are_for_targets_that_are_never_negative() -> None:
    assert isinstance(choose_warp(positive()), Power)
    assert isinstance(choose_warp(np.append(positive(), 0.0)), Power)
    assert isinstance(choose_warp(np.append(positive(), -1e-9)), Tails)
    assert isinstance(choose_warp(np.repeat([0.0, 1.0], [6, 4])), Tails)  # mostly zero


@pytest.mark.parametrize(("warp", "y", "w"), CASES)
def test_standardised_targets_have_zero_mean_and_unit_variance(warp: Warp, y: FloatArray, w: tuple[float, ...]) -> None:
    warped = Warped.of(warp, np.array(w), y)
    z = warped.standardise(y)
    np.testing.assert_allclose([z.mean(), z.std()], [0, 1], atol=1e-9)
    np.testing.assert_allclose(warped.in_units(z), y, rtol=1e-8, atol=1e-8)
    slope = warp.log_slope(y, np.array(w)) - math.log(warp.bend(y, np.array(w)).std())
    assert warped.log_slope(y) == pytest.approx(slope.sum())
    assert warped.is_plain == isinstance(warp, NoWarp)


def test_a_target_that_is_the_same_in_all_rows_of_a_part_stays_finite() -> None:
    y = np.append(np.full(9, 0.1), 5.0)
    for warp in (NoWarp(y), Power(y), Tails(y)):
        warped = Warped.of(warp, np.array(warp.start), y[:9])
        np.testing.assert_allclose(warped.standardise(y[:9]), 0, atol=1e-15)
        np.testing.assert_allclose(warped.in_units(np.zeros(2)), 0.1)


@pytest.mark.parametrize(("warp", "y", "w"), [case for case in CASES if case[2] != (1.6,)])  # which ends at zero
def test_means_in_units_are_those_of_many_draws(warp: Warp, y: FloatArray, w: tuple[float, ...]) -> None:
    warped = Warped.of(warp, np.array(w), y)
    mean, variance = np.array([-0.5, 0.3, 1.0]), np.array([0.2, 0.05, 0.1])
    draws = mean + np.sqrt(variance) * np.random.default_rng(2).standard_normal((200_000, 3))
    values = warped.in_units(draws)
    stderr = values.std(axis=0) / math.sqrt(len(values))
    assert (abs(warped.mean_in_units(mean, variance) - values.mean(axis=0)) < 4 * stderr + 1e-3).all()


def test_the_mean_of_a_lognormal_target() -> None:
    y = positive()
    warped = Warped.of(Power(y), np.zeros(1), y)
    mean, variance = np.array([0.2]), np.array([0.1])
    middle, spread = warped.mean + warped.deviation * mean, warped.deviation**2 * variance
    expected = np.median(y) * np.exp(middle + spread / 2)
    np.testing.assert_allclose(warped.mean_in_units(mean, variance), expected, rtol=1e-6)


def test_predictions_stay_near_the_range_of_the_target() -> None:
    for y, warp in ((positive(), Power(positive())), (signed(), Tails(signed()))):
        warped = Warped.of(warp, np.array([0.3] * len(warp.start)), y)
        far = warped.in_units(np.array([-50.0, 50.0]))
        assert far[0] == pytest.approx(0 if isinstance(warp, Power) else y.min() - np.ptp(y), abs=1e-9)
        assert far[1] == pytest.approx(y.max() + np.ptp(y))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("warp", "y", "w"),
    [
        (Power(positive()), positive(), (0.2,)),
        (Power(positive()), positive(), (0.6,)),
        (Tails(signed()), signed(), (0.7, 0.2)),
    ],
)
def test_errors_in_units_are_those_of_many_draws(warp: Warp, y: FloatArray, w: tuple[float, ...]) -> None:
    # the standardised target is a prediction plus an independent error: how far is its best prediction in units?
    warped = Warped.of(warp, np.array(w), y)
    rng = np.random.default_rng(3)
    for error in (0.05, 0.3, 0.8):
        predicted = math.sqrt(1 - error) * rng.standard_normal(400_000)
        target = warped.in_units(predicted + math.sqrt(error) * rng.standard_normal(400_000))
        squares = (target - warped.mean_in_units(predicted, np.full(400_000, error))) ** 2
        share, stderr = squares.mean() / target.var(), squares.std() / math.sqrt(400_000) / target.var()
        assert abs(warped.error_in_units(np.array([error]))[0] - share) < 4 * stderr + 0.003


def test_errors_of_a_lognormal_target_have_a_closed_form() -> None:
    # 1 - (exp(r s^2) - 1) / (exp(s^2) - 1), the correlation of exponentials of normal variables
    y = np.exp(0.4 * np.random.default_rng(0).standard_normal(500))
    warped = Warped.of(Power(y), np.zeros(1), y)
    error = np.array([0.0, 1e-9, 0.01, 0.3, 1.0])
    square = warped.deviation**2
    expected = 1 - np.expm1((1 - error) * square) / math.expm1(square)
    np.testing.assert_allclose(warped.error_in_units(error), expected, rtol=1e-3, atol=1e-12)


def test_errors_of_a_straight_warp_are_as_they_are() -> None:
    y, error = signed() + 50, np.linspace(0, 1, 7)
    for warp, w in ((NoWarp(y), ()), (Power(y), (1.0,)), (Tails(y), (1.0, 0.0))):
        warped = Warped.of(warp, np.array(w), y)
        np.testing.assert_allclose(warped.error_in_units(error), error, atol=1e-9)
        np.testing.assert_allclose(warped.mean_in_units(error, error), y.mean() + y.std() * error, rtol=1e-12)


def test_errors_in_units_grow_from_nothing_to_all() -> None:
    for warp, y, w in CASES:
        error = Warped.of(warp, np.array(w), y).error_in_units(np.linspace(0, 1, 50))
        assert error[0] == 0
        assert error[-1] == pytest.approx(1)
        assert (np.diff(error) > 0).all()


def test_a_warped_curve_is_in_units_of_the_target() -> None:
    y = positive()
    warped = Warped.of(Power(y), np.array([0.3]), y)
    plain = ErrorCurve(1 / (1 + np.arange(101.0) / 9), 0.1)
    curve = ErrorCurve(plain.error, 0.1, warped=warped)
    n = np.array([0.0, 7.0, 100.0, 3_000.0])
    np.testing.assert_allclose(curve(n), warped.error_in_units(plain(n)))
    np.testing.assert_allclose(curve.noise_at(n), warped.error_in_units(np.full(4, 0.1)))
