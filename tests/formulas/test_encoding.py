"""What columns of a table become: categories that are equally far from each other, parts of dates, bent inputs."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpcurves import RBF
from gpcurves.inputs import Copula
from gpcurves.numerics.validation import FloatArray
from gpcurves.tables.bends import Bend, find_bend, skewness
from gpcurves.tables.encoding import Categories, Dates
from gpcurves.tables.preparing import Missing, prepare
from gpcurves.tables.rows import Columns, Rows, standardise


def coloured(shares: dict[str, int]) -> Rows:
    """Return rows with a column of colours, each so many times, and one of numbers."""
    rng = np.random.default_rng(0)
    colours = [colour for colour, count in shares.items() for _ in range(count)]
    return standardise(prepare(pd.DataFrame({"c": colours, "x": rng.normal(size=30), "y": rng.normal(size=30)}), "y"))


def encode(rows: Rows, colours: list[str]) -> FloatArray:
    """Return the standardised columns of some colours."""
    assert rows.design is not None
    table = pd.DataFrame({"c": colours, "x": 0.0})
    X = rows.columns.standardise(rows.design.encode(rows.design.read(table, "table"), fill=True))
    return X[:, np.array(rows.columns.blocks) == 0]


@pytest.mark.parametrize("shares", [{"red": 29, "blue": 1}, {"red": 20, "blue": 5, "grey": 3, "teal": 2}])
def test_any_two_categories_are_equally_far_and_one_never_seen_is_as_far_from_all(shares: dict[str, int]) -> None:
    X = encode(coloured(shares), [*shares, "pink"])
    distances = np.linalg.norm(X[:, None] - X[None], axis=2)
    apart = distances[~np.eye(len(X), dtype=bool)]
    np.testing.assert_allclose(apart, apart[0], rtol=1e-12)
    assert apart[0] > 0
    other, third = encode(coloured(shares), ["pink", "brown"])
    np.testing.assert_array_equal(other, third)  # nothing tells them apart


def test_two_categories_are_as_far_as_the_values_of_one_indicator() -> None:
    rows = coloured({"red": 20, "blue": 10})
    red, blue = encode(rows, ["red", "blue"])
    indicator = np.repeat([0.0, 1.0], [20, 10])
    standard = (indicator - indicator.mean()) / indicator.std()
    assert np.linalg.norm(red - blue) == pytest.approx(standard[-1] - standard[0])
    assert float(red @ blue) == pytest.approx(standard[-1] * standard[0])  # in the linear part


def test_the_columns_of_a_block_have_unit_variance_together() -> None:
    rows = coloured({"red": 20, "blue": 5, "grey": 3, "teal": 2})
    variances = np.bincount(rows.columns.blocks, weights=rows.X.var(axis=0))
    np.testing.assert_allclose(variances, 1.0)
    np.testing.assert_allclose(rows.X.mean(axis=0), 0.0, atol=1e-12)


@pytest.mark.parametrize(("missing", "level"), [("drop", "c=other"), ("impute", "c=missing")])
def test_missing_categories_are_one_of_their_own_if_cells_are_filled_in(missing: Missing, level: str) -> None:
    table = pd.DataFrame({"c": ["red", "blue", None] * 10, "y": np.arange(30.0) ** 2})
    design = prepare(table, "y", missing=missing).design
    assert design is not None
    X = design.encode(design.read(table.tail(1), "table"), fill=True)
    assert dict(zip(design.names, X[0], strict=True))[level] == X.sum() == 1


def test_categories_are_new_if_no_row_has_them() -> None:
    table = pd.DataFrame({"c": ["red", "blue", "grey"] * 10, "y": np.arange(30.0) ** 2})
    design = prepare(table, "y").design
    assert design is not None
    new = pd.DataFrame({"c": ["pink", "red", None, "ash", "pink"]})
    assert design.find_new(design.read(new, "table")) == ["c=ash", "c=pink"]


# Dates


def made_dates(stamps: list[str]) -> tuple[Dates, dict[str, FloatArray]]:
    times = pd.DatetimeIndex(stamps).tz_localize("UTC")
    days = np.asarray((times - times[0]) / pd.Timedelta(days=1), dtype=np.float64)
    dates = Dates.of("t", days, times[0])
    return dates, dict(zip(dates.names, dates.encode(days).T, strict=True))


def test_parts_of_known_dates() -> None:
    dates, columns = made_dates(["2024-01-01 00:00", "2024-03-01 06:00", "2024-12-31 12:00", "2025-02-01 18:00"])
    assert dates.parts == ("season", "weekday", "hour")
    np.testing.assert_allclose(columns["t"], [0, 60.25, 365.5, 397.75])
    for place, day in enumerate([1, 61, 366, 32]):  # 2024 is a leap year
        assert columns["t season=sin"][place] == pytest.approx(math.sin(2 * math.pi * day / 365.2425))
        assert columns["t season=cos"][place] == pytest.approx(math.cos(2 * math.pi * day / 365.2425))
    for place, weekday in enumerate(["Mon", "Fri", "Tue", "Sat"]):
        for name in ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"):
            assert columns[f"t weekday={name}"][place] == (name == weekday)
    np.testing.assert_allclose(columns["t hour=sin"], [0, 1, 0, -1], atol=1e-12)
    np.testing.assert_allclose(columns["t hour=cos"], [1, 0, -1, 0], atol=1e-12)


@pytest.mark.parametrize(
    ("stamps", "parts"),
    [
        (pd.date_range("2024-01-01", periods=10), ()),  # days of two weeks
        (pd.date_range("2024-01-01", periods=20), ("weekday",)),
        (pd.date_range("2024-01-01", periods=20, freq="7D"), ()),  # Mondays
        (pd.date_range("2024-01-01", periods=60, freq="7D"), ("season",)),
        (pd.date_range("2024-01-01", periods=60, freq="10D"), ("season", "weekday")),
        (pd.date_range("2024-01-01", periods=20, freq="YS"), ("weekday",)),
        (pd.date_range("2024-01-01", periods=20, freq="h"), ("hour",)),
        (pd.date_range("2024-01-01", periods=20, freq="12h"), ()),  # two times of day
    ],
)
def test_dates_have_the_parts_that_they_tell_apart(stamps: pd.DatetimeIndex, parts: tuple[str, ...]) -> None:
    days = np.asarray((stamps - stamps[0]) / pd.Timedelta(days=1), dtype=np.float64)
    dates = Dates.of("t", days, stamps[0].tz_localize("UTC"))
    assert dates.parts == parts
    X = dates.encode(days)
    assert X.shape == (len(stamps), len(dates.names)) == (len(stamps), len(dates.blocks))
    assert (np.bincount(dates.blocks, weights=X.var(axis=0)) > 0).all()


def test_the_last_day_of_a_year_is_near_the_first_of_the_next() -> None:
    _, columns = made_dates(["2023-01-01", "2023-07-01", "2023-12-31", "2024-01-01"])
    season = np.column_stack((columns["t season=sin"], columns["t season=cos"]))
    assert np.linalg.norm(season[2] - season[3]) < 0.03
    assert np.linalg.norm(season[1] - season[3]) > 1.9


def test_further_dates_are_dates_that_there_are_and_keep_their_correlation() -> None:
    rng = np.random.default_rng(0)
    days = np.sort(rng.choice(700, 200, replace=False)).astype(float)
    dates = Dates.of("t", days, pd.Timestamp("2022-01-01", tz="UTC"))
    encoded = dates.encode(days)
    x = days / 100 + rng.standard_normal(200)
    positions = tuple(range(encoded.shape[1]))
    drawn = Copula(np.column_stack((encoded, x)), (positions,), rng.standard_normal(200)).draw(2_000, rng)
    assert {tuple(row) for row in drawn[:, :-1]} <= {tuple(row) for row in encoded}
    correlation = np.corrcoef(days, x)[0, 1]
    assert np.corrcoef(drawn[:, 0], drawn[:, -1])[0, 1] == pytest.approx(correlation, abs=0.05)


# Bent inputs


@given(
    x=st.lists(st.floats(-1e6, 1e6, allow_subnormal=False), min_size=2, max_size=20, unique=True),
    centre=st.floats(-10, 10),
    scale=st.floats(0.01, 100),
)
def test_bends_are_monotone_and_can_be_undone(x: list[float], centre: float, scale: float) -> None:
    ordered = np.sort(x)
    bent = Bend(centre, scale)(ordered)
    assert (np.diff(bent) >= 0).all()
    np.testing.assert_allclose(centre + scale * np.sinh(bent), ordered, rtol=1e-9, atol=1e-9)


def test_a_bend_is_a_straight_line_near_its_centre_and_a_logarithm_far_away() -> None:
    bend = Bend(2.0, 5.0)
    near, far = np.array([1.99, 2.0, 2.02]), np.array([1e6, 1e7])
    np.testing.assert_allclose(bend(near), (near - 2) / 5, rtol=1e-4, atol=1e-12)
    assert np.diff(bend(far))[0] == pytest.approx(math.log(10), rel=1e-4)


def test_skewed_inputs_are_bent_and_others_are_not() -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal(300)
    money = np.exp(1.5 * x)
    bend = find_bend(money)
    assert bend is not None
    assert abs(skewness(bend(money))) < 0.7 * skewness(money)
    assert np.corrcoef(bend(money), x)[0, 1] > np.corrcoef(money, x)[0, 1]
    mirrored = find_bend(-money)
    assert mirrored is not None
    np.testing.assert_allclose(mirrored(-money), -bend(money), atol=1e-9)
    assert find_bend(x) is None
    assert find_bend(np.repeat([0.0, 1.0], [290, 10])) is None  # few values
    assert find_bend(np.concatenate((np.zeros(291), np.arange(9.0) + 1))) is None  # nearly always the same


def test_skewness_is_the_standardised_third_moment() -> None:
    assert skewness(np.array([0.0, 0.0, 0.0, 4.0])) == pytest.approx(2 / math.sqrt(3))
    assert skewness(np.array([-3.0, 1.0, 5.0])) == pytest.approx(0)
    assert skewness(np.ones(4)) == 0


def test_units_of_a_bent_input_do_not_matter() -> None:
    rng = np.random.default_rng(0)
    X = np.exp(1.5 * rng.standard_normal((200, 1)))
    one, other = (Columns.of(unit * X + shift, ("x",), (0,)) for unit, shift in ((1.0, 0.0), (1000.0, -77.0)))
    assert one.bends[0] is not None
    np.testing.assert_allclose(one.standardise(X), other.standardise(1000 * X - 77), atol=1e-9)
    standard = one.standardise(X)
    np.testing.assert_allclose([standard.mean(), standard.std()], [0, 1], atol=1e-12)


def test_indicators_are_never_bent() -> None:
    rows = coloured({"red": 27, "blue": 2, "grey": 1})
    assert rows.columns.bends == (None,) * len(rows.columns.bends)


def test_a_design_is_pickled_with_its_encodings() -> None:
    dates, _ = made_dates(["2024-01-01 00:00", "2024-03-01 06:00", "2024-12-31 12:00", "2025-02-01 18:00"])
    assert pickle.loads(pickle.dumps(dates)) == dates
    rows = coloured({"red": 20, "blue": 10})
    copy = pickle.loads(pickle.dumps(rows))
    np.testing.assert_array_equal(encode(copy, ["red", "pink"]), encode(rows, ["red", "pink"]))


def test_the_covariance_of_categories_is_exchangeable() -> None:
    texts = np.array(["a", "b", "c", "d", "e"] * 4, dtype=object)
    X = Categories.of("c", texts).encode(np.array(["a", "b", "c", "d", "e", "new"], dtype=object))
    K = RBF(0.7)(X)
    away = K[~np.eye(6, dtype=bool)]
    np.testing.assert_allclose(away, math.exp(-1 / 0.7**2))  # squared distances of indicators are two
