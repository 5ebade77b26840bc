"""Labels and attributes of vertices from files: any columns, missing values, standard errors, and what is refused."""

from __future__ import annotations

import csv
import gzip
import io
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpcurves import Graph, InputError
from gpcurves.graphs import Labels, read_attributes, read_labels

PATH = Graph.from_edges([(0, 1), (1, 2), (2, 3)], labels=("ann", "bob", "New York, NY", "4"))
NUMBERED = Graph.from_edges([(0, 1), (1, 2), (2, 3)])


def written(folder: Path, content: str | bytes, name: str = "known.csv") -> Path:
    file = folder / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file


def pairs(labels: Labels) -> list[tuple[int, float]]:
    return list(zip(labels.vertices.tolist(), labels.values.tolist(), strict=True))


KNOWN = {
    "plain": "ann,1\nbob,2.5\n4,-1\n",
    "blanks": "ann 1\nbob  2.5\n4 -1  # the last\n",
    "header": "vertex,value\nann,1\nbob,2.5\n4,-1\n",
    "other names": "member;opinion\nann;1\nbob;2.5\n4;-1\n",
    "the order is ambiguous": "opinion,member\n1,ann\n2.5,bob\n-1,4\n",
    "decimal commas": "vertex;value;remark\nann;1,0;x\nbob;2,5;y\n4;-1;z\n",
    "comment": "# known\n\nvertex,value\nann,1\n\nbob,2.5\n4,-1\n",
    "byte order mark": "\ufeffvertex,value\r\nann,1\r\nbob,2.5\r\n4,-1\r\n",
    "more columns": "region,name,angle\nnorth,ann,1\nsouth,bob,2.5\n,4,-1\n",
    "more numbers": "count,value,node\n3,1,ann\n5,2.5,bob\n2,-1,4\n",
    "quoted": '"vertex","value","remark"\n"ann","1","a, b"\n"bob","2.5","c\nd"\n"4","-1",""\n',
}


@pytest.mark.parametrize("form", KNOWN)
def test_labels_are_read_however_they_are_written(form: str, tmp_path: Path) -> None:
    for content in (KNOWN[form].encode(), gzip.compress(KNOWN[form].encode())):
        labels = read_labels(written(tmp_path, content), PATH)
        assert pairs(labels) == [(0, 1), (1, 2.5), (3, -1)]
        assert labels.errors is None
        assert len(labels) == 3


TABLE = 'bus,v,sigma,load,"kind"\nann,1,0.1,3,x\n"New York, NY",,0.2,5,y\nbob,NA,,1,z\nbob,2,0.3,4,"x, y"\nbob,3,0,4,\n'


def test_columns_are_chosen_by_name(tmp_path: Path) -> None:
    file = written(tmp_path, TABLE)
    labels = read_labels(file, PATH, "v", "sigma")
    assert pairs(labels) == [(0, 1), (1, 2), (1, 3)]  # two labels of one vertex
    assert labels.errors is not None
    assert labels.errors.tolist() == [0.1, 0.3, 0]
    assert labels.target == "v"
    assert labels.notes == (
        f"{file}: ignored the columns 'load', 'kind'",
        f"{file}: 2 vertices have no value, and are treated as unlabelled",
    )
    assert pairs(read_labels(file, PATH, "load", vertex="bus")) == [(0, 3), (2, 5), (1, 1), (1, 4), (1, 4)]
    copied = pickle.loads(pickle.dumps(labels))
    for array in (labels.vertices, labels.values, copied.values):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7


@pytest.mark.parametrize("missing", ["", "NA", "NaN", "nan", "null", "N/A", "None", "?"])
def test_missing_values_are_unknown(missing: str, tmp_path: Path) -> None:
    file = written(tmp_path, f"ann,1\nbob,{missing}\n")
    labels = read_labels(file, PATH)
    assert pairs(labels) == [(0, 1)]
    assert labels.notes == (f"{file}: 1 vertex has no value, and are treated as unlabelled",)


def test_numbers_of_vertices_are_names_too(tmp_path: Path) -> None:
    assert pairs(read_labels(written(tmp_path, "node,count\n0,1\n3,2\n"), NUMBERED)) == [(0, 1), (3, 2)]
    assert pairs(read_labels(written(tmp_path, "0,1\n3,2\n"), NUMBERED)) == [(0, 1), (3, 2)]
    assert pairs(read_labels(written(tmp_path, "value,node\n1,0\n2,3\n"), NUMBERED)) == [(0, 1), (3, 2)]


@pytest.mark.parametrize(
    ("content", "options", "sentence"),
    [
        ("vertex,value\n", {}, "known.csv holds no labels"),
        ("# nothing\n", {}, "known.csv holds no labels"),
        ("vertex,value\nann,\nbob,NA\n", {}, "known.csv holds no labels: all values are missing"),
        ("ann,1\n\nzoe,2\n", {}, "known.csv, line 3: the graph has no vertex 'zoe'"),
        ("vertex,value\nann,1\nbob,3\nzoe,2\n", {}, "known.csv, line 4: the graph has no vertex 'zoe'"),
        ("kind,who,y\nx,ann,1\nx,bob,3\nx,zoe,2\n", {}, "known.csv, line 4: the graph has no vertex 'zoe'"),
        ("ann,1\nzoe,\n", {}, "known.csv, line 2: the graph has no vertex 'zoe'"),
        ("ann,much\n", {}, "known.csv, line 1: a value must be a number, got 'much'"),
        ("vertex,value\nann,inf\n", {}, "known.csv, line 2: a value must be finite, got inf"),
        ("ann,1\nbob\n", {}, "known.csv, line 2: a vertex and a value are expected, got 'bob'"),
        ("ann,1,2\n", {}, "known.csv, line 1: a vertex and a value are expected, got 'ann,1,2'"),
        ("a,b,c\nann,1,2\nbob,2\n", {"target": "c"}, "line 3: 3 fields expected, as in the header, got 'bob,2'"),
        (TABLE, {}, r"say which column holds the values with --target \(in Python: target=…\); its columns are 'bus', 'v'"),
        (TABLE, {"target": "w"}, "has no column 'w': its columns are 'bus', 'v', 'sigma', 'load', 'kind'"),
        (TABLE, {"target": "v", "noise": "v"}, "must differ from each other"),
        (TABLE, {"target": "v", "noise": "kind"}, "line 2: a standard error must be a number, got 'x'"),
        ("a,y,s\nann,1,-1\n", {"target": "y", "noise": "s"}, "line 2: a standard error must be at least 0, got -1"),
        ("a,y,s\nann,1,\n", {"target": "y", "noise": "s"}, "line 2: a standard error must be a number, got ''"),
        ("p,q,y\nann,bob,1\nbob,ann,2\n", {}, r"say which column names the vertices with --vertex-column"),
        ("p,p,y\nann,bob,1\n", {"target": "y"}, "more than one column named 'p'"),
    ],
)  # fmt: skip
def test_bad_labels_are_one_sentence(content: str, options: dict[str, Any], sentence: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=sentence):
        read_labels(written(tmp_path, content), PATH, **options)


@settings(max_examples=50, deadline=None)
@given(
    data=st.lists(st.tuples(st.integers(0, 3), st.none() | st.floats(-1e9, 1e9)), min_size=1, max_size=8),
    delimiter=st.sampled_from(",;\t"),
    order=st.permutations(range(3)),
)
def test_labels_come_back_from_csv(
    data: list[tuple[int, float | None]], delimiter: str, order: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    records = [["who", "y", "remark"], *([PATH.label(i), "" if y is None else repr(y), "a, b"] for i, y in data)]
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter).writerows([[row[k] for k in order] for row in records])
    file = written(tmp_path_factory.getbasetemp(), text.getvalue(), "labels.csv")
    expected = [(i, y) for i, y in data if y is not None]
    if expected:
        assert pairs(read_labels(file, PATH, "y", vertex="who")) == expected
    else:
        with pytest.raises(InputError, match="holds no labels"):
            read_labels(file, PATH, "y", vertex="who")


def test_attributes_are_a_table_by_vertex_number(tmp_path: Path) -> None:
    table = read_attributes(written(tmp_path, 'who,load,"kind, type",year\nbob,1.5,x,1999\nann,NA,,2000\n'), PATH)
    assert table.index.tolist() == [1, 0]
    assert list(table) == ["load", "kind, type", "year"]
    np.testing.assert_array_equal(table["load"], [1.5, np.nan])
    assert table["kind, type"][1] == "x"
    assert table["kind, type"].isna().tolist() == [False, True]
    assert table["year"].tolist() == [1999, 2000]
    for content, sentence in (
        ("who,load\nann,1\nann,2\n", "line 3: the vertex 'ann' was given in line 2 already"),
        ("who,load\nann,1\nzoe,2\n", "line 3: the graph has no vertex 'zoe'"),
        ("who,load\nann\n", "line 2: a vertex and a value are expected"),
        ("who,load\n", "has a header but no rows"),
    ):
        with pytest.raises(InputError, match=sentence):
            read_attributes(written(tmp_path, content), PATH)
