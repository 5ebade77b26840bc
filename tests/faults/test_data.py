"""Data are what they seem: masks, imaginary parts, dates and texts are never lost in silence; tables come from any library."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

import gpcurves as gpc
from gpcurves.cli import run
from gpcurves.forecasting import assembly as forecasting
from gpcurves.numerics.validation import FloatArray, as_numbers, sizes
from gpcurves.tables.frames import as_frame
from gpcurves.tables.preparing import prepare

HUGE = 10**5000


@cache
def rows() -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (30, 2))
    return X, np.sin(3 * X[:, 0]) + 0.1 * rng.standard_normal(30)


def table() -> pd.DataFrame:
    X, y = rows()
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y})


def masked(values: Any, at: int = 3) -> Any:
    return np.ma.array(values, mask=np.arange(np.size(values)).reshape(np.shape(values)) == at)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Return a forecast that ends when the rows are read, and gives them."""
    monkeypatch.setattr(forecasting, "fit_members", lambda *_: [])
    monkeypatch.setattr(forecasting, "forecast_rows", lambda rows, *_: rows)
    return gpc.forecast


# Arrays


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ([1, 2.5, True], [1, 2.5, 1]),
        (np.array([1, None, Decimal("0.5"), Fraction(1, 4)], dtype=object), [1, np.nan, 0.5, 0.25]),
        (masked([1, 2, 3, 4]), [1, 2, 3, np.nan]),
        ([np.ma.masked, 2.0], [np.nan, 2]),
        ([[1, np.ma.masked], [3, 4]], [[1, np.nan], [3, 4]]),
        ([masked([1.0, 2.0], 1), masked([3.0, 4.0], 0)], [[1, np.nan], [np.nan, 4]]),
        (pd.Series([1, None], dtype="Int64"), [1, np.nan]),
        (pl.Series([1, None]), [1, np.nan]),
        (pa.chunked_array([[1], [None]]), [1, np.nan]),
        ([10**400, -HUGE], [np.inf, -np.inf]),
        ([-0.0, 5e-324], [-0.0, 5e-324]),
    ],
)
def test_numbers_are_read_as_they_are_and_missing_ones_as_nan(given: Any, meant: Any) -> None:
    np.testing.assert_array_equal(as_numbers(given, "no numbers"), meant)


NO_NUMBERS = {
    "complex": np.array([1 + 0j, 2]),
    "complex objects": np.array([np.complex128(1), 2], dtype=object),
    "complex column": pd.DataFrame({"a": [1.0, 2.0], "b": [1j, 2.0]}),
    "texts": np.array(["1", "2"]),
    "text among objects": np.array([1, "2"], dtype=object),
    "bytes": [b"1", b"2"],
    "dates": np.array(["2020-01-01", "2020-01-02"], dtype="M8[ns]"),
    "durations": np.array([1, 2], dtype="m8[D]"),
    "duration among objects": np.array([np.timedelta64(1, "ns"), 2], dtype=object),
    "dates of pandas": pd.Series(pd.date_range("2020", periods=2)),
    "rows of unlike lengths": [[1], [2, 3]],
    "a mapping": {1: 2},
    "named fields": np.zeros(2, dtype=[("a", float)]),
}


@pytest.mark.parametrize("case", NO_NUMBERS)
def test_what_is_no_number_is_refused(case: str) -> None:
    with pytest.raises(gpc.InputError, match=r"^no numbers$"):
        as_numbers(NO_NUMBERS[case], "no numbers")


def refusals() -> dict[str, tuple[Callable[[], object], str]]:
    X, y = rows()
    path = nx.path_graph(4)
    nx.set_edge_attributes(path, 2 + 0j, "weight")
    texts, huge = nx.path_graph(4), nx.path_graph(4)
    nx.set_edge_attributes(texts, "2", "weight")
    nx.set_edge_attributes(huge, HUGE, "weight")
    model, ring = gpc.LearningCurveForecast, gpc.GraphRegressor(nx.cycle_graph(5))
    return {
        "masked X": (lambda: gpc.forecast(masked(X), y), "X must be finite, got missing or infinite values in 1 rows"),
        "masked y": (lambda: gpc.forecast(X, masked(y)), "y must be finite, got missing"),
        "masked pool": (lambda: gpc.forecast(X, y, pool=masked(X)), "pool must be finite, got missing"),
        "complex X": (lambda: gpc.forecast(X + 0j, y), "X must contain real numbers only"),
        "complex y": (lambda: gpc.forecast(X, y + 0j), "the target must be real numbers"),
        "complex pool": (lambda: gpc.forecast(X, y, pool=X + 1j), "pool must contain real numbers only"),
        "dates as y": (lambda: gpc.forecast(X, np.arange(30).astype("M8[D]")), "the target must be real numbers"),
        "complex column": (lambda: gpc.forecast(table().assign(a=X[:, 0] + 0j), "y"), "column 'a' holds complex"),
        "complex target": (lambda: gpc.forecast(table()[["a"]], y + 0j), "column 'y' holds complex numbers"),
        "complex column of a pool": (
            lambda: gpc.forecast(table(), "y", pool=table().assign(a=np.array([1j, *y[1:]], dtype=object))),
            "column 'a' holds complex numbers: give real numbers",
        ),
        "no target": (lambda: gpc.forecast(X, []), "y must not be empty"),
        "no target of a table": (lambda: gpc.forecast(table(), []), "the same number of rows, got 30 and 0"),
        "two targets": (lambda: gpc.forecast(table(), X), "y must be one column, got shape"),
        "ragged target": (lambda: gpc.forecast(table(), [[1], [2, 3]]), "must be arrays or tables, got a list of unlike"),
        "no rows": (lambda: gpc.forecast(table()[:0], "y"), "the table has no rows$"),
        "no columns": (lambda: gpc.forecast(pd.DataFrame(index=range(30)), y), "the table has no columns$"),
        "nothing": (lambda: gpc.forecast(pd.DataFrame(), "y"), "the table has no rows$"),
        "the same name twice": (lambda: gpc.forecast(table().set_axis(["a", "a", "y"], axis=1), "y"), "named 'a'"),
        "a far pool": (lambda: gpc.forecast(X, y, pool=1e300 * X), r"pool is 2e\+300 standard deviations of 'x0' away"),
        "a far pool of a table": (lambda: gpc.forecast(table(), "y", pool=1e300 * table()), "check for data-entry mistakes"),
        "a far cell": (lambda: gpc.forecast(table().assign(a=[1e300, *y[1:]]), "y"), "'a' varies too much for double"),
        "denormal": (lambda: gpc.forecast(5e-324 * np.arange(60).reshape(30, 2), y), "varies too little for double"),
        "negative zero": (lambda: gpc.forecast(np.where(X > 0, 0.0, -0.0), y), "the inputs must vary"),
        "a narrow pool": (lambda: gpc.forecast(table(), "y", pool=X[:, :1]), r"must have the 2 columns of X, got the"),
        "a name without a table": (lambda: gpc.forecast(X, 1), "column names need a table, and X is not a table"),
        "masked, estimator": (lambda: model().fit(masked(X), y), "contains NaN"),
        "masked target, estimator": (lambda: model().fit(X, masked(y)), "contains NaN"),
        "texts, estimator": (lambda: model().fit(X.astype(str).tolist(), y), "must be real numbers, got texts"),
        "dates, estimator": (lambda: model().fit(X, np.arange(30).astype("M8[D]")), "must be real numbers, got texts"),
        "complex, estimator": (lambda: model().fit(X + 0j, y), "Complex data not supported"),
        "masked spectrum": (lambda: gpc.Spectrum(masked([1.0, 2.0, 3.0, 4.0])), "values must be finite"),
        "complex spectrum": (lambda: gpc.Spectrum(np.array([1 + 0j])), "values must be numbers"),
        "masked points": (lambda: gpc.Sample(masked(X)), "points must be finite"),
        "complex points": (lambda: gpc.Sample(X + 0j), "points must be an array of numbers"),
        "masked probabilities": (lambda: gpc.Discrete(X, masked(np.full(30, 1 / 30))), "probabilities must be finite"),
        "masked lengthscales": (lambda: gpc.RBF(masked([1.0, 1.0, 1.0, 1.0])), "must be a number, got None"),
        "bytes as lengthscale": (lambda: gpc.RBF(b"1"), "lengthscale must be a number, got b'1'"),  # type: ignore[arg-type]
        "huge lengthscale": (lambda: gpc.RBF(HUGE), "lengthscale must be finite"),
        "a list with a huge number": (lambda: gpc.RBF([[HUGE]]), "a list with an integer of thousands"),  # type: ignore[arg-type]
        "masked adjacency": (lambda: gpc.as_graph(masked(np.ones((4, 4)) - np.eye(4))), "weights must be finite"),
        "complex adjacency": (lambda: gpc.as_graph(scipy.sparse.eye_array(3, dtype=complex)), "of real numbers"),
        "masked weights": (lambda: gpc.Graph.from_edges([(0, 1)], weights=masked([1.0], 0)), "weights must be finite"),
        "masked edges": (lambda: gpc.Graph.from_edges(masked([(0, 1), (1, 2)])), "some are masked: leave them out"),
        "complex weights": (lambda: gpc.as_graph(path), "weights must be numbers, but some edge has a"),
        "texts as weights": (lambda: gpc.as_graph(texts), "weights must be numbers, but some edge has a"),
        "huge weights": (lambda: gpc.as_graph(huge), "weights must be finite"),
        "masked labels": (lambda: ring.fit([0, 1, 2, 3], masked([1.0, 2.0, 3.0, 4.0])), "labels must be finite"),
        "complex labels": (lambda: ring.fit([0, 1], [1j, 0]), "labels must be numbers"),
        "masked vertices": (lambda: ring.fit(masked([0, 1, 2, 3]), [1.0, 2.0, 3.0, 4.0]), "some are masked: leave them"),
        "huge sizes": (lambda: sizes("n", [HUGE]), "n must be finite and at least 0, got inf"),
        "sizes of several rows": (lambda: sizes("n", [[1, 2]] * 99), r"got \[\[1, 2\].*…$"),
    }  # fmt: skip


@pytest.mark.parametrize("case", refusals())
def test_data_that_would_change_in_silence_are_refused(case: str) -> None:
    call, message = refusals()[case]
    with pytest.raises(ValueError, match=message):
        call()


def test_a_regressor_refuses_a_far_pool() -> None:
    from sklearn.gaussian_process import GaussianProcessRegressor

    X, y = rows()
    regressor = GaussianProcessRegressor(optimizer=None, alpha=0.01).fit(X, y)
    with pytest.raises(gpc.InputError, match="standard deviations of 'x1' away"):
        gpc.forecast(regressor, pool=X * [1, 1e300])


def test_masked_cells_beside_a_table_are_missing_cells(reads: Callable[..., Any]) -> None:
    X, y = rows()
    assert reads(table()[["a", "b"]], masked(y)).steps[0] == "Dropped 1 row without a value of the target 'y'."
    assert "dropped 1 row with a missing input" in reads(table(), "y", pool=masked(X)).steps[-1]


@pytest.mark.parametrize("cell", [np.inf, 10**310, HUGE, -HUGE], ids=["inf", "310", "5000", "-5000"])
def test_infinite_cells_and_those_beyond_double_precision_are_missing(cell: Any, reads: Callable[..., Any]) -> None:
    cells = pd.Series([cell, *rows()[1][1:]], dtype=object)
    assert reads(table().assign(a=cells), "y").steps[0] == "Dropped 1 row with a missing input ('a': 1)."


# Names


def test_names_may_be_integers(reads: Callable[..., Any]) -> None:
    X, y = rows()
    numbered = pd.DataFrame(np.column_stack((y, X, X[:, 0] ** 2)))
    found = reads(numbered, y=0, features=[1, 2])
    assert (found.target, found.columns.sources) == ("0", ("1", "2"))
    np.testing.assert_array_equal(found.X, reads(numbered, "0", features=["1", "2"]).X)
    assert reads(numbered, 3, drop=[2]).columns.sources == ("0", "1")
    assert reads(numbered, 3, drop=2).columns.sources == ("0", "1")
    assert reads(numbered[[0, 1, 2]], np.int64(0), pool=X).pool.shape == (30, 2)
    assert reads(numbered.set_axis([0.5, 1.0, 2.0, 3.0], axis=1), 1).target == "1.0"
    with pytest.raises(gpc.InputError, match=r"the table has no column '7': .*it has '0', '1', '2', '3'"):
        reads(numbered, 7)
    with pytest.raises(gpc.InputError, match="more than one column named '1': names must differ"):
        reads(numbered.set_axis(["y", 1, "1", "b"], axis=1), "y")


def test_names_may_be_tuples(reads: Callable[..., Any]) -> None:
    levels = pd.MultiIndex.from_tuples([("in", "a"), ("in", "b"), ("out", "y")])
    nested = table().set_axis(levels, axis=1)
    assert reads(nested, ("out", "y")).columns.sources == ("('in', 'a')", "('in', 'b')")
    assert reads(nested, ("out", "y"), features=("in", "a")).columns.sources == ("('in', 'a')",)
    assert reads(nested[["in"]], nested["out", "y"]).X.shape == (30, 2)
    assert reads(table()[["a"]], table()["y"].rename(0)).target == "0"
    assert reads(table()[["a"]], tuple(rows()[1])).target == "y"


# Tables of other libraries


class Stream:
    """A table that only exports Arrow data."""

    def __init__(self, table: Any) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


def many_kinds() -> dict[str, list[Any]]:
    start, y = datetime.date(2020, 1, 1), rows()[1].tolist()
    return {
        "count": [None, *range(5, 34)],
        "colour": ["red", "blue", None] * 10,
        "day": [start + datetime.timedelta(k * k) for k in range(30)],
        "time": [datetime.datetime(2020, 1, 1, k % 24, k) for k in range(30)],
        "flag": [True, None, False] * 10,
        "decimal": [Decimal(f"{value:.3f}") for value in y],
        "duration": [datetime.timedelta(hours=k % 7) for k in range(30)],
        "null": [None] * 30,
        "y": y,
    }


@pytest.mark.parametrize("kind", ["polars", "arrow", "batch", "stream"])
def test_tables_of_other_libraries_are_read_as_those_of_pandas(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = many_kinds()
    arrow = pa.table(cells)
    given = {"polars": pl.DataFrame(cells), "arrow": arrow, "batch": arrow.to_batches()[0], "stream": Stream(arrow)}[
        kind
    ]
    with monkeypatch.context() as patch:
        if kind == "polars":
            patch.setitem(sys.modules, "pyarrow", None)  # it comes without
        frame = as_frame(given)
    found, expected = (prepare(each, "y", missing="impute") for each in (frame, pd.DataFrame(cells)))
    assert found.steps == expected.steps
    np.testing.assert_allclose(found.X, expected.X, rtol=1e-12)
    assert found.names == expected.names
    assert found.dropped == {"null": "empty"}


def test_categories_of_other_libraries_stay_categories() -> None:
    y = rows()[1]
    words = ["1", "2", "3"] * 10
    polars = pl.DataFrame({"c": pl.Series(words, dtype=pl.Categorical), "e": pl.Series(words, dtype=pl.Enum("123"))})
    arrow = pa.table({"c": pa.array(words).dictionary_encode()})
    for frame in (as_frame(polars), as_frame(arrow)):
        assert prepare(frame.assign(y=y), "y").names[:3] == ("c=1", "c=2", "c=3")


def test_forecasts_from_other_libraries_are_those_from_pandas(reads: Callable[..., Any]) -> None:
    polars, arrow = pl.DataFrame(table().to_dict("list")), pa.table(table().to_dict("list"))
    expected = reads(table(), "y", pool=table())
    for other in (polars, arrow, arrow.to_batches()[0], Stream(arrow)):
        found = reads(other, "y", pool=other)
        np.testing.assert_array_equal(found.X, expected.X)
        np.testing.assert_array_equal(found.pool, expected.pool)
        assert found.steps == expected.steps
    for X, y in [
        (polars[["a", "b"]], polars["y"]),
        (polars[["a", "b"]], polars[["y"]]),
        (arrow.select(["a", "b"]), arrow["y"]),
        (arrow.select(["a", "b"]), arrow.select(["y"])),
        (table()[["a", "b"]], polars["y"]),
    ]:
        found = reads(X, y)
        assert found.target == "y"
        np.testing.assert_array_equal(found.X, expected.X)
        np.testing.assert_array_equal(found.y, expected.y)
    for column, y in ((polars["a"], polars["y"]), (arrow["a"], arrow["y"])):
        np.testing.assert_array_equal(reads(column, y).X[:, 0], expected.X[:, 0])
    model = gpc.LearningCurveForecast().fit(polars[["a", "b"]], polars["y"])
    assert list(model.feature_names_in_) == ["a", "b"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (pl.LazyFrame({"a": [1], "y": [2]}), "a LazyFrame holds no rows yet: collect"),
        (pl.DataFrame({"a": [[1]] * 30, "y": range(30)}), "column 'a' holds more than one value in a cell: give one"),
        (pa.table({"a": [[1]] * 30, "y": range(30)}), "column 'a' holds more than one value in a cell"),
        (pa.table({"a": [{"b": 1}] * 30, "y": range(30)}), "column 'a' holds more than one value in a cell"),
        (pa.table([[1], [2], [3]], names=["a", "a", "y"]), "more than one column named 'a'"),
        (Stream(pa.chunked_array([[1, 2]])), "cannot turn a Stream into a pandas table: "),
        (pl.DataFrame(), "the table has no rows"),
    ],
)
def test_tables_of_other_libraries_that_are_refused(given: Any, message: str) -> None:
    with pytest.raises(gpc.InputError, match=message):
        gpc.forecast(given, "y")


# Graphs: two files of one network may differ in weights alone


def test_a_graph_says_whether_its_edges_have_weights() -> None:
    club = nx.karate_club_graph()
    plain = gpc.as_graph(club, weighted=False)
    assert repr(gpc.as_graph(club)) == "Graph(34 vertices, 78 edges with weights from 1 to 7)"
    assert repr(plain) == "Graph(34 vertices, 78 edges without weights)"
    assert gpc.as_graph(plain, weighted=False) is plain
    assert gpc.Graph.from_edges([(0, 1)], 1 + 1, [2.0]).describe() == "2 vertices, 1 edge with weights of 2"
    assert gpc.Graph([[0.0]]).describe() == "1 vertex, 0 edges without weights"
    for graph, ratio, said in ((club, 15.3, "with weights from 1 to 7."), (plain, 11.5, "without weights.")):
        found = gpc.diagnose(graph)
        assert found.ratio == pytest.approx(ratio, abs=0.05)
        assert found.verdict().endswith(f"The graph has 34 vertices, 78 edges {said}")
        assert said.rstrip(".") in found.report().splitlines()[0]
        assert found.to_dict()["weighted"] == (graph is club)
    assert gpc.diagnose(nx.cycle_graph(9)).verdict().endswith("The graph has 9 vertices, 9 edges without weights.")


def test_names_stay_if_weights_are_ignored() -> None:
    named = gpc.Graph.from_edges([(0, 1), (1, 2)], weights=[2.0, 3.0], labels="abc")
    assert gpc.as_graph(named, weighted=False) == gpc.Graph.from_edges([(0, 1), (1, 2)], labels="abc")


@pytest.mark.parametrize(
    ("words", "option", "said"),
    [
        (["graph", "--noise", "0.1", "--nu", "1", "--methods", "eigenvalue"], "--edges", ""),
        (["draw", "--noise", "0.1", "--out", "drawn.svg"], "", ""),
        (["predict", "--labels", "labels.csv"], "", "3 labels on "),
    ],
)
def test_commands_say_whether_edges_have_weights(
    words: list[str],
    option: str,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("edges.csv").write_text("a,b,0.5\nb,c,2\n")
    Path("labels.csv").write_text("a,1\nb,2\nc,4\n")
    words = [*words, *filter(None, [option]), "edges.csv"]
    outputs = []
    for more, weights in (([], "with weights from 0.5 to 2"), (["--ignore-weights"], "without weights")):
        assert run([*words, *more]) == 0
        out, err = capsys.readouterr()
        assert f"{said}3 vertices, 2 edges {weights}" in err
        outputs.append(Path("drawn.svg").read_text() if "draw" in words else out)
    assert outputs[0] != outputs[1]


def test_weights_of_an_ensemble_cannot_be_ignored(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["graph", "--ensemble", "er:3", "--noise", "0.1", "--ignore-weights"]) == 2
    assert "--ignore-weights applies to your own graph" in capsys.readouterr().err
