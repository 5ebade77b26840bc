"""People's files become a design matrix; everything done to them is said, and what cannot be read is refused in one sentence."""

from __future__ import annotations

import ast
import contextlib
import datetime
import gzip
import io
import sys
import time
import zipfile
from collections import Counter
from collections.abc import Callable
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gpcurves import tables
from gpcurves.errors import InputError
from gpcurves.tables.cells import interpret, is_number, parse_number
from gpcurves.tables.columns import has_few_values
from gpcurves.tables.files import read_table
from gpcurves.tables.preparing import prepare
from gpcurves.tables.rows import Prepared, standardise

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(content: str | bytes, name: str = "data.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def numbers(count: int = 30, seed: int = 0) -> pd.DataFrame:
    """Return a table that needs no treatment."""
    draws = np.random.default_rng(seed).normal(size=(count, 3))
    return pd.DataFrame(draws, columns=["a", "b", "y"])


def said(prepared: Prepared, *parts: str) -> bool:
    """Tell whether one sentence has all the parts."""
    return any(all(part in step for part in parts) for step in prepared.steps)


def test_tables_know_no_gaussian_process() -> None:
    folder = Path(tables.__file__).parent
    imports = {
        node.module
        for path in folder.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("gpcurves")
    }
    assert {name.split(".")[1] for name in imports if name} == {"errors", "numerics", "tables"}


# Files


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", " "])
@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".txt", ".dat", ""])
def test_the_delimiter_is_found(write: Write, delimiter: str, suffix: str) -> None:
    rows = [["x", "colour", "y"], ["1.5", "red", "2"], ["-3", "blue", "4e1"]]
    table = read_table(write("\n".join(delimiter.join(row) for row in rows), f"data{suffix}"))
    assert table.to_dict("list") == {"x": [1.5, -3.0], "colour": ["red", "blue"], "y": [2.0, 40.0]}


@pytest.mark.parametrize(
    "text",
    [
        '\ufeffx,"long, name",y\n1,2,3\n4,5,6\n',
        'x, "long, name" ,y\r\n1, 2 ,3\r\n\r\n4,5,6',
        '\n\nx,"long, name",y\r1,2,3\r4,5,6\r',
        'x;"long, name";y\n1;2;3\n4;5;6\n',
        'x "long, name" y\n 1   2 3 \n4 5  6\n',
        'x\t"long, name"\ty\n1\t2\t3\n4\t5\t6\n',
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_quotes_blanks_line_ends_and_marks_of_encodings(write: Write, text: str, encoding: str) -> None:
    table = read_table(write(text.lstrip("\ufeff").encode(encoding) if encoding == "utf-16" else text))
    assert table.to_dict("list") == {"x": [1, 4], "long, name": [2, 5], "y": [3, 6]}


def test_cells_may_hold_delimiters_quotes_and_line_ends(write: Write) -> None:
    table = read_table(write('name,y\n"Doe, ""J""\nJr",1\nRoe,2\n'))
    assert table["name"].tolist() == ['Doe, "J"\nJr', "Roe"]


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252"])
def test_text_that_is_not_utf8_is_latin1(write: Write, encoding: str) -> None:
    text = "größe,y\n1,café\n" if encoding == "latin-1" else "größe,y\n1,café €\n"
    table = read_table(write(text.encode(encoding)))
    assert list(table) == ["größe", "y"]
    assert any("Latin-1" in step for step in table.attrs["steps"])


def test_bytes_that_no_other_encoding_knows_are_latin1(write: Write) -> None:
    assert read_table(write(b"a,b\n1,x\x81\xe9\n"))["b"].tolist() == ["x\x81é"]


def test_gzip_whatever_its_name(write: Write) -> None:
    for name in ("data.csv.gz", "data.csv"):
        assert read_table(write(gzip.compress(b"x,y\n1,2\n"), name)).to_dict("list") == {"x": [1], "y": [2]}


@pytest.mark.parametrize("delimiter", [";", "\t", " "])
def test_decimal_commas(write: Write, delimiter: str) -> None:
    rows = [["x", "z", "y"], ["1,5", "7", "2,25"], ["-0,5", "8", "1e3"]]
    table = read_table(write("\n".join(delimiter.join(row) for row in rows)))
    assert table.to_dict("list") == {"x": [1.5, -0.5], "z": [7, 8], "y": [2.25, 1000.0]}
    assert "decimal commas" in table.attrs["steps"][0]


def test_decimal_points_between_semicolons(write: Write) -> None:
    table = read_table(write("x;y\n1.5;1.234\n2.5;5.678\n"))
    assert table["y"].tolist() == [1.234, 5.678]
    assert read_table(write("x;y\n1.234;7.123\n2.345;5.678\n"))["y"].tolist() == [7.123, 5.678]


def test_a_comma_that_could_be_either_is_decimal_between_semicolons_only(write: Write) -> None:
    assert read_table(write("x;y\n1,234;7\n2,345;5\n"))["x"].tolist() == [1.234, 2.345]
    assert read_table(write("x\ty\n1,234\t7\n2,345\t5\n"))["x"].tolist() == ["1,234", "2,345"]


def test_blanks_delimit_only_where_nothing_else_does(write: Write) -> None:
    table = read_table(write("date time,max temperature\n2020-01-01 10:00,5\n2020-01-02 11:00,6\n"))
    assert list(table) == ["date time", "max temperature"]
    assert list(read_table(write("max temperature\n5\n6\n"))) == ["max temperature"]


def test_thousands_points_between_semicolons(write: Write) -> None:
    lines = [f"{i}.234,5;{i},25;1.{i:03d}" for i in range(10, 40)]
    prepared = prepare(read_table(write("x;y;z\n" + "\n".join(lines))), "y")
    np.testing.assert_allclose(prepared.X[:, 0], 1000 * np.arange(10, 40) + 234.5)
    np.testing.assert_allclose(prepared.X[:, 1], 1000 + np.arange(10, 40))
    np.testing.assert_allclose(prepared.y, np.arange(10, 40) + 0.25)
    assert said(prepared, "'x'", "thousands separators in 30 cells")


def test_a_column_of_row_numbers_without_a_name(write: Write) -> None:
    buffer = io.StringIO()
    numbers().to_csv(buffer)
    prepared = prepare(read_table(write(buffer.getvalue())), "y")
    assert prepared.dropped == {"column 1": "an identifier, it counts the rows"}


def test_row_names_as_r_writes_them(write: Write) -> None:
    text = "a y\n" + "\n".join(f'"car {i}" {i * i} {i}' for i in range(20))
    prepared = prepare(read_table(write(text)), "y")
    assert prepared.names == ("a",)
    assert set(prepared.dropped) == {"row names"}
    assert said(prepared, "row names")


def test_numbers_after_an_empty_corner_are_names(write: Write) -> None:
    assert list(read_table(write(",1940,1950\nfood,1,2\nhealth,3,4\n"))) == ["column 1", "1940", "1950"]


def test_names_that_count_columns_are_names(write: Write) -> None:
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 3)))
    assert prepare(read_table(write(table.to_csv(index=False))), "2").names == ("0", "1")
    assert prepare(table, "2").names == ("0", "1")


def test_a_delimiter_at_the_end_of_every_line(write: Write) -> None:
    lines = [f"{a:.4f},{b:.4f},{y:.4f}," for a, b, y in numbers().to_numpy()]
    prepared = prepare(read_table(write("a,b,y,\n" + "\n".join(lines))), "y")
    assert prepared.dropped == {"column 4": "empty"}


def test_many_columns_on_long_lines(write: Write) -> None:
    names = ",".join(f"a_rather_long_name_{i}" for i in range(8000))
    assert read_table(write(names + "\n" + ",".join("1" for _ in range(8000)))).shape == (1, 8000)


REFUSED = {
    "empty": ("", "data.csv is empty$"),
    "blank": (" \n\n \t\n", "data.csv is empty$"),
    "header only": ("a,b,y\n", "has a header but no rows$"),
    "numbers first": ("0.5,2,3\n4,5,6\n", r"no header: its first row holds data \(0.5, 2, 3\), not column names$"),
    "counting numbers first": ("1,2,3\n4,5,6\n", "has no header"),
    "data first": ("5.1,3.5,setosa\n4.9,3.0,setosa\n", "has no header"),
    "a row of numbers": ("1.5,2.5\n", "has no header"),
    "numbers first, some equal": ("0,0,5.5,0\n0,1,2,3\n", "has no header"),
    "duplicate names": ("a,b,a\n1,2,3\n", "more than one column named 'a': names must differ$"),
    "short line": ("a,b,y\n1,2,3\n4,5\n6,7,8\n", "data.csv, line 3: 3 cells expected, as in the header, got 2$"),
    "long line": ("a,b,y\n1,2,3\n\n4,5,6,7\n", "data.csv, line 4: 3 cells expected, as in the header, got 4$"),
    "late short line": ("a,y\n" + "1,2\n" * 300 + "5\n" + "1,2\n", "line 302: 2 cells expected"),
    "late long line": ("a,y\n" + "1,2\n" * 300 + "5,6,7\n", "line 302: 2 cells expected, as in the header, got 3$"),
    "after a cell of two lines": ('a,y\n"1\n2",3\n4,5,6\n', "line 4: 2 cells expected"),
    "open quote": ("a,y\n1,2\n" + "1,2\n" * 200 + '"3,4\n' + "1,2\n" * 5, "quotation mark opened near line 203"),
    "null bytes": (b"a,b\n1,\x00\n", "binary file"),
    "png": (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "binary file"),
    "noise": (np.random.default_rng(0).bytes(3000), "binary file"),
    "old excel": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100), "save it as .xlsx or .csv$"),
    "damaged gzip": (gzip.compress(b"a,b\n1,2\n")[:-6], "the gzip archive is damaged$"),
    "long cell": ('a,b\n"' + "x" * 200_000 + '",1\n', "field larger than field limit"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_files_that_are_refused(write: Write, case: str) -> None:
    content, message = REFUSED[case]
    with pytest.raises(InputError, match=message) as caught:
        read_table(write(content))
    assert "\n" not in str(caught.value)


def test_no_file_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot read .*absent.csv: No such file"):
        read_table(tmp_path / "absent.csv")
    with pytest.raises(InputError, match="it is a folder"):
        read_table(str(tmp_path))


@given(content=st.binary(max_size=200))
@settings(max_examples=80)
def test_any_bytes_are_a_table_or_refused(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "bytes.csv"
    path.write_bytes(content)
    with contextlib.suppress(InputError):
        assert len(read_table(path)) > 0


@given(content=st.text("ab1,.;\t \"\n'%€-é|", min_size=1, max_size=80))
@settings(max_examples=120)
def test_any_text_is_a_table_or_refused(tmp_path_factory: pytest.TempPathFactory, content: str) -> None:
    path = tmp_path_factory.getbasetemp() / "text.csv"
    path.write_text(content, encoding="utf-8", newline="")
    with contextlib.suppress(InputError):
        table = read_table(path)
        assert not table.empty
        prepare(table, str(table.columns[-1]))


# Parquet and Excel


def mixed() -> pd.DataFrame:
    table = numbers()
    table["colour"] = ["red", "blue", "green"] * 10
    table["day"] = pd.date_range("2024-02-01", periods=30, freq="2D")
    table["fine"] = [True, False] * 15
    table.loc[4, "b"] = np.nan
    return table


@pytest.mark.parametrize("suffix", [".parquet", ".xlsx", ".bin"])
def test_parquet_and_excel_hold_what_a_frame_holds(tmp_path: Path, suffix: str) -> None:
    pytest.importorskip("openpyxl" if suffix == ".xlsx" else "pyarrow")
    path = tmp_path / f"data{suffix}"
    if suffix == ".xlsx":
        mixed().to_excel(path, index=False)
    else:
        mixed().to_parquet(path)
    expected, got = prepare(mixed(), "y"), prepare(read_table(path), "y")
    np.testing.assert_allclose(got.X, expected.X)
    np.testing.assert_allclose(got.y, expected.y)
    colours = tuple(f"colour={colour}" for colour in ("blue", "green", "red", "other"))
    week = tuple(f"day weekday={day}" for day in ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"))
    assert got.names == expected.names == ("a", "b", *colours, "day", *week, "fine")
    assert got.steps[-5:] == expected.steps[-5:]


def test_an_index_in_parquet_is_a_column(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    mixed().set_index("day").to_parquet(tmp_path / "data.parquet")
    assert "day" in prepare(read_table(tmp_path / "data.parquet"), "y").names


def test_a_parquet_file_without_columns_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    pd.DataFrame(index=pd.RangeIndex(5)).to_parquet(tmp_path / "data.parquet")
    with pytest.raises(InputError, match="has no columns"):
        read_table(tmp_path / "data.parquet")


def test_the_table_of_a_sheet_may_start_anywhere(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    rows: list[list[object]] = [["a", None, "y"], [1, "None", 2.5], [2, "low", "n/a"]]
    for place, row in enumerate(rows):
        for column, cell in enumerate(row):
            book.active.cell(row=place + 3, column=column + 2, value=cell)
    book.create_sheet("second")["A1"] = "unread"
    book.save(tmp_path / "data.xlsx")
    table = read_table(tmp_path / "data.xlsx")
    assert table.to_dict("list") == {"a": [1, 2], "column 2": ["None", "low"], "y": [2.5, "n/a"]}


def test_workbooks_that_are_refused(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    path = tmp_path / "data.xlsx"
    book = openpyxl.Workbook()
    for rows, message in ([], "is empty"), ([["a", "y"]], "no rows"), ([[1.5, 2], [3, 4]], "no header"):
        for row in rows:
            book.active.append(row)
        book.save(path)
        with pytest.raises(InputError, match=message):
            read_table(path)
        book = openpyxl.Workbook()
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(InputError, match="not a sound Excel workbook"):
        read_table(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data.csv", "a,b\n1,2\n")
    with pytest.raises(InputError, match="not a sound Excel workbook"):
        read_table(path)


def test_a_damaged_parquet_file(write: Write) -> None:
    pytest.importorskip("pyarrow")
    with pytest.raises(InputError, match="the Parquet file is damaged"):
        read_table(write(b"PAR1 nothing sound PAR1"))


@pytest.mark.parametrize(("content", "module"), [(b"PAR1", "pyarrow.parquet"), (b"PK\x03\x04", "openpyxl")])
def test_packages_that_are_not_installed(
    write: Write, monkeypatch: pytest.MonkeyPatch, content: bytes, module: str
) -> None:
    package = module.partition(".")[0]
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InputError, match=f"needs the package {package}: pip install {package}$"):
        read_table(write(content))


# Cells


@pytest.mark.parametrize(
    ("text", "mark", "value"),
    [
        ("1,234.5", ".", 1234.5),
        ("1 234", ".", 1234),
        ("1\u202f234\u202f567,8", ",", 1234567.8),
        ("1.234,5", ",", 1234.5),
        ("1'234.5", ".", 1234.5),
        ("12.5%", ".", 12.5),
        ("12,5 %", ",", 12.5),
        ("$1,234.50", ".", 1234.5),
        ("-$5", ".", -5),
        ("$-5", ".", -5),
        ("1.234,50 €", ",", 1234.5),
        ("CHF 10", ".", 10),
        ("10 USD", ".", 10),
        ("(1,234)", ".", -1234),
        ("−3", ".", -3),
        ("+.5", ".", 0.5),
        ("5.", ".", 5),
        ("1e-3", ".", 0.001),
        ("1,5E3", ",", 1500),
    ],
)
def test_numbers_as_people_write_them(text: str, mark: str, value: float) -> None:
    assert parse_number(text, mark) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    "text", ["", "-", "e5", "%", "$", "1,23", "12,34,567", "0,123", "1234,567", "1,234 567", "--5", "(5", "1.2.3", "x1"]
)
def test_what_is_not_a_number(text: str) -> None:
    assert np.isnan(parse_number(text, "."))


@given(
    value=st.floats(-1e12, 1e12, allow_subnormal=False).map(lambda value: round(value, 3)),
    marks=st.sampled_from([(".", ","), (",", "."), (".", " "), (",", "\u00a0"), (".", "'"), (".", ""), (",", "")]),
    dress=st.sampled_from(["{}", "${}", "{} €", "{}%", "EUR {}", " {} "]),
)
def test_numbers_survive_their_dress(value: float, marks: tuple[str, str], dress: str) -> None:
    decimal, group = marks
    text = f"{value:,.3f}".translate({ord(","): group, ord("."): decimal})
    assert parse_number(dress.format(text), decimal) == value


FORMATS = ["%Y-%m-%d", "%Y/%m/%d", "%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y", "%d-%m-%Y", "%d %b %Y", "%B %d, %Y", "%d/%m/%y"]
TIMES = ["", " %H:%M", " %H:%M:%S", " %I:%M %p"]


@given(
    days=st.lists(st.dates(datetime.date(1930, 1, 1), datetime.date(2060, 12, 31)), min_size=5, max_size=20),
    minutes=st.integers(0, 24 * 60 - 1),
    form=st.sampled_from([date + time for date in FORMATS for time in TIMES] + ["%Y-%m-%dT%H:%M:%SZ"]),
)
def test_dates_survive_their_format(days: list[datetime.date], minutes: int, form: str) -> None:
    assume("y" not in form or all(1930 <= day.year < 2030 for day in days))
    days.append(datetime.date(2013, 12, 25))  # tells days from months
    days.sort()
    assume("/%" not in form or sum(day.day > 12 for day in days) > 0.1 * len(days))
    times = [datetime.datetime.combine(day, datetime.time(minutes // 60, minutes % 60)) for day in days]
    column = pd.Series([time.strftime(form) for time in times])
    found = interpret(column, ".")
    assert found.kind == "date"
    np.testing.assert_allclose(found.read(column), [(time - times[0]).days for time in times], atol=1e-9)


@pytest.mark.parametrize("words", [["18-25", "26-35", "36-50"], ["1.2.3", "1.2.4"], ["10:3", "11:4"], ["a1", "b2"]])
def test_what_is_not_a_date(words: list[str]) -> None:
    assert interpret(pd.Series(words * 5), ".").kind == "text"


def test_dates_that_could_be_read_either_way() -> None:
    table = numbers()
    table["day"] = [f"{1 + i % 12:02d}/{1 + i // 12:02d}/2021" for i in range(30)]
    months_first = prepare(table, "y")
    assert said(months_first, "'day'", "days since 2021-01-01", "the month first, though the order is ambiguous")
    assert months_first.X[1, 2] == 31
    table.attrs["decimal"] = ","
    days_first = prepare(table, "y")
    assert said(days_first, "the day first")
    assert days_first.X[1, 2] == 1


# Columns


def with_column(cells: Any, count: int = 30, **options: Any) -> Prepared:
    return prepare(numbers(count).assign(c=cells), "y", **options)


def test_plain_numbers_are_taken_as_they_are() -> None:
    table = numbers()
    prepared = prepare(table, "y")
    np.testing.assert_array_equal(prepared.X, table[["a", "b"]])
    np.testing.assert_array_equal(prepared.y, table["y"])
    assert prepared.names == prepared.sources == ("a", "b")
    assert prepared.steps == ("Used 30 rows and 2 design columns from 2 inputs: 'a', 'b'.",)
    assert prepared.pool is None
    assert prepared.dropped == {}
    assert (prepared.target, prepared.usable_rows) == ("y", 30)
    assert not any(array.flags.writeable for array in (prepared.X, prepared.y))


def test_dressed_numbers_are_counted() -> None:
    prepared = with_column(["1,200.5", "$ 3", "4 %", "?", "n.d.", "oops", *[str(i) for i in range(24)]])
    assert said(prepared, "Read 'c' as numbers, with thousands separators in 1 cell, with currency signs in 1 cell")
    assert said(prepared, "percent signs in 1 cell (12% is read as 12)")
    assert said(prepared, "with 1 cell taken as missing that could not be read, such as 'oops'")
    assert said(prepared, "Filled in 3 missing cells with the median", "('c': 3)")
    np.testing.assert_array_equal(prepared.X[:7, 2], [1200.5, 3, 4, 11, 11, 11, 0])


def test_a_column_may_have_its_own_decimal_mark() -> None:
    prepared = with_column([f"{i},5" for i in range(30)])
    assert said(prepared, "'c'", "decimal commas in 30 cells")
    np.testing.assert_array_equal(prepared.X[:, 2], np.arange(30) + 0.5)


def test_many_different_words_make_a_column_text() -> None:
    cells = [str(i) for i in range(100, 370)]
    strays = [f"{i}a" for i in range(30)]
    assert interpret(pd.Series(cells + strays), ".").kind == "text"
    assert interpret(pd.Series(cells + ["<0.1", "over"] * 15), ".").kind == "number"
    assert interpret(pd.Series(cells + strays[:5]), ".").kind == "number"


def test_the_target_is_read_like_any_number() -> None:
    table = numbers()
    table["y"] = [f"{value:.3f}%" for value in table["y"]]
    table.loc[7, "y"] = "-"
    prepared = prepare(table, "y")
    assert said(prepared, "Read 'y' as numbers, with percent signs in 29 cells")
    assert said(prepared, "Dropped 1 row without a value of the target 'y'.")
    assert len(prepared.y) == 29
    assert prepared.y[0] == pytest.approx(numbers()["y"][0], abs=1e-3)


@pytest.mark.parametrize("pair", [("yes", "no"), ("TRUE", "false"), ("Y", "n"), (True, False)])
def test_yes_and_no_are_one_and_zero(pair: tuple[object, object]) -> None:
    prepared = with_column(pd.Series([*pair, pair[0]] * 10, dtype=bool if pair[0] is True else object))
    np.testing.assert_array_equal(prepared.X[:3, 2], [1, 0, 1])
    assert prepared.names[2] == "c"
    assert said(prepared, "Read 'c' as 1 for")


def test_texts_become_categories() -> None:
    colours = ["red", " green ", "blue"] * 10
    prepared = with_column(colours)
    assert prepared.names == ("a", "b", "c=blue", "c=green", "c=red", "c=other")
    assert prepared.sources == ("a", "b", "c", "c", "c", "c")
    assert prepared.blocks == (0, 1, 2, 2, 2, 2)  # one lengthscale for all colours
    np.testing.assert_array_equal(prepared.X[:3, 2:], [[0, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 0]])
    assert said(prepared, "One-hot encoded", "'c' (3 categories)")


def test_a_category_may_be_called_other() -> None:
    prepared = with_column(["red", "other"] * 15)
    assert prepared.names[2:] == ("c=red", "c=other")
    np.testing.assert_array_equal(prepared.X[:2, 2:], [[1, 0], [0, 1]])
    assert said(prepared, "'c' (2 categories)")


def test_rare_categories_are_told_apart() -> None:
    prepared = with_column(["red"] * 14 + ["blue"] * 12 + ["teal", "teal", "pink", "grey"])
    assert prepared.names[2:] == ("c=blue", "c=grey", "c=pink", "c=red", "c=teal", "c=other")
    np.testing.assert_array_equal(prepared.X[:, 2:].sum(axis=0), [12, 1, 1, 14, 2, 0])
    assert said(prepared, "'c' (5 categories)")


def test_the_hundred_most_frequent_categories_are_told_apart() -> None:
    cells = [f"level {i % 120:03d}" for i in range(300)]  # those from 60 on twice, the others three times
    prepared = with_column(cells, 300)
    assert len(prepared.names[2:]) == 101
    assert {f"c=level {i:03d}" for i in range(60)} < set(prepared.names)
    assert prepared.names[-1] == "c=other"
    np.testing.assert_array_equal(prepared.X[:, 2:].sum(axis=1), 1)
    assert prepared.X[:, -1].sum() == 40
    assert said(prepared, "'c' (120 categories, 20 rare ones of them together as 'other')")


def test_numbers_declared_as_categories_are_categories() -> None:
    prepared = with_column(pd.Series([10.0, 20.0, 35.5] * 10).astype("category"))
    assert prepared.names[2:] == ("c=10", "c=20", "c=35.5", "c=other")


def test_a_word_that_is_no_number_may_be_a_category() -> None:
    assert with_column(["none", "red", "blue"] * 10).names[2:] == ("c=blue", "c=none", "c=red", "c=other")
    assert said(with_column(["None", 1.5, 2.5, 3.5, 7] * 6, missing="drop"), "Dropped 6 rows with a missing input")


@pytest.mark.parametrize(
    ("words", "places"),
    [
        (["none", "Mild", "SEVERE"], [0, 1, 3]),
        (["high", "low", "medium"], [3, 1, 2]),
        (["low", "moderate", "very high"], [1, 2, 4]),
        (["Poor", "good", "excellent"], [1, 3, 5]),
        (["XL", "s", "M"], [5, 2, 3]),
        (["Dec", "jan", "Apr"], [11, 0, 3]),
    ],
)
def test_words_of_a_known_scale_are_their_places_on_it(words: list[str], places: list[int]) -> None:
    prepared = with_column(words * 10)
    assert prepared.names[2:] == ("c",)
    np.testing.assert_array_equal(prepared.X[:3, 2], places)
    assert said(prepared, "Read 'c' as a scale: ")


def test_two_words_of_a_scale_or_a_foreign_one_among_them_are_categories() -> None:
    assert with_column(["low", "high"] * 15).names[2:] == ("c=high", "c=low", "c=other")
    assert len(with_column(["low", "high", "blue"] * 10).names[2:]) == 4


def test_ordered_categories_of_pandas_are_their_places() -> None:
    kind = pd.CategoricalDtype(["cold", "Mild", "hot"], ordered=True)
    prepared = with_column(pd.Series(["hot", "cold", "Mild"] * 10).astype(kind))
    np.testing.assert_array_equal(prepared.X[:3, 2], [2, 0, 1])
    assert said(prepared, "Read 'c' as a scale: cold, Mild, hot.")


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ([5] * 30, "the same in every row"),
        (["x"] * 30, "the same in every row"),
        (["yes", None] * 15, "the same in every row that has a value"),
        ([None] * 30, "empty"),
        ([np.nan] * 20 + list(range(10)), "67% missing"),
        ([f"A{i:03d}" for i in range(30)], "an identifier, 30 different texts in 30 rows"),
        (["low"] * 10 + [f"{i}.5" for i in range(20)], "numbers mixed with 10 texts, such as 'low'"),
        ([f"it was a fine day, the {i}th" for i in range(30)], "free text, 30 different texts in 30 rows"),
        ([f"town {max(i, 3)}" for i in range(30)], "an identifier, 27 different texts in 30 rows"),
        (list(range(30)), "an identifier, it counts the rows"),
        (list(range(1, 31)), "an identifier, it counts the rows"),
        ([str(i) for i in range(1, 31)], "an identifier, it counts the rows"),
    ],
)
def test_columns_that_are_left_out(cells: list[object], reason: str) -> None:
    prepared = with_column(cells)
    assert prepared.dropped == {"c": reason}
    assert prepared.names == ("a", "b")
    assert said(prepared, f"Left out 1 column: 'c' ({reason}).")


@pytest.mark.parametrize(
    "name", ["id", "ID", "sample_id", "Patient ID", "customerId", "index", "#", "row names", "No."]
)
def test_whole_numbers_of_an_identifying_name(name: str) -> None:
    cells = np.random.default_rng(1).permutation(30) + 1000
    assert prepare(numbers().assign(**{name: cells}), "y").dropped == {
        name: "an identifier, a different integer in every row"
    }
    assert prepare(numbers().assign(**{name: cells / 7}), "y").dropped == {}
    assert prepare(numbers().assign(**{name: cells // 2}), "y").dropped == {}
    assert prepare(numbers().assign(humid=cells), "y").dropped == {}


def test_texts_that_occur_twice_on_average_are_categories() -> None:
    assert len(with_column([f"town {i // 2}" for i in range(30)]).names[2:]) == 16


def test_identifiers_that_are_asked_for_are_kept() -> None:
    table = numbers().assign(c=range(30))
    assert prepare(table, "y", features=["c", "a"]).names == ("c", "a")


def test_counting_is_seen_through_rows_that_are_dropped_or_drawn() -> None:
    table = numbers(50_000).assign(c=range(1, 50_001))
    table.loc[::3, "y"] = np.nan
    assert prepare(table, "y").dropped == {"c": "an identifier, it counts the rows"}


def test_years_and_daily_dates_are_no_identifiers() -> None:
    assert with_column(range(1990, 2020)).dropped == {}
    assert with_column(pd.date_range("2020-01-01", periods=30)).dropped == {}


def test_discrete_columns_have_few_values_several_times() -> None:
    assert has_few_values(np.array([1, 2, 4] * 10))
    assert has_few_values(np.array([0.1, 0.5, 2.5] * 10))
    assert not has_few_values(np.array(list(range(15)) * 2))
    assert not has_few_values(np.array(list(range(25)) * 4))


def test_dates_are_days_since_the_first() -> None:
    prepared = with_column(["2024-02-28T12:00:00Z"] * 2 + ["2024-03-01 18:00"] * 28)
    assert prepared.names[2:] == ("c",)
    np.testing.assert_allclose(prepared.X[[0, -1], 2], [0, 2.25])
    assert said(prepared, "Read 'c' as dates, in days since 2024-02-28.")
    assert not said(prepared, "Encoded dates")


def test_dates_are_taken_apart() -> None:
    prepared = with_column(pd.date_range("2023-01-01", periods=30, freq="13D6h"))
    assert said(prepared, "Encoded dates: 'c' (trend, season, weekday, hour).")
    assert prepared.blocks == (0, 1, 2, 3, 3, *[4] * 7, 5, 5)
    assert set(prepared.sources[2:]) == {"c"}


def test_dates_that_are_a_year_apart_have_no_season() -> None:
    last_days = pd.date_range("1990-12-31", periods=30, freq="YE")
    first_days = pd.date_range("1990-01-01", periods=30, freq="YS")
    for days in (first_days, last_days):
        prepared = with_column(days)
        assert not any("season" in name for name in prepared.names)
        assert np.isfinite(standardise(prepared).X).all()


def test_years_of_two_digits() -> None:
    assert said(with_column([f"{i}/28/63" for i in range(1, 11)] * 3), "days since 1963-01-28")
    assert said(with_column([f"{i}/28/29" for i in range(1, 11)] * 3), "days since 2029-01-28")


@pytest.mark.parametrize(
    ("third", "days"),
    [("7:30", 7.5 / 24), ("07:30:36", 7.51 / 24), ("07:30:00.5", 7.5 / 24 + 0.5 / 86_400), ("2 days 12:00:00", 2.5)],
)
def test_times_of_the_day_and_durations_are_numbers(third: str, days: float) -> None:
    prepared = with_column([f"{k}:{(7 * k) % 60:02}" if k != 2 else third for k in range(30)])
    assert said(prepared, "times or durations, in days")
    assert prepared.X[2, 2] == pytest.approx(days)
    assert prepared.X[3, 2] == pytest.approx((3 + 21 / 60) / 24)


def test_scores_are_no_times() -> None:
    assert not said(
        with_column([f"{k % 4}:{k % 3}" for k in range(30)]), "times or durations"
    )  # one digit after the colon


def test_other_types_of_columns() -> None:
    assert with_column(pd.to_timedelta(np.arange(30) ** 2, unit="h")).X[2, 2] == pytest.approx(4 / 24)
    nullable = with_column(pd.Series([*range(5, 34), None], dtype="Int64"))
    assert said(nullable, "Dropped 1 row with a missing input")  # few enough
    with pytest.raises(InputError, match="the column 'c' holds more than one value in a cell"):
        with_column([[i] for i in range(30)])


# Rows


@pytest.mark.parametrize(
    "word", ["", "NA", "NaN", "nan", "null", "NULL", "?", "-", "N/A", "#DIV/0!", " ? ", "inf", "."]
)
def test_missing_values(write: Write, word: str) -> None:
    lines = [f"{a},{b},{y}" for a, b, y in numbers().to_numpy()]
    lines[3] = f"{word},1,2"
    prepared = prepare(read_table(write("a,b,y\n" + "\n".join(lines))), "y")
    assert said(prepared, "Dropped 1 row with a missing input ('a': 1).")
    np.testing.assert_allclose(prepared.X, numbers().drop(index=3)[["a", "b"]], rtol=1e-14)


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("1_000", 1000.0),
        ("-1_234_567.5", -1234567.5),
        ("١٢٣", 123.0),
        ("١٢٫٥", 12.5),
        ("١٬٢٣٤٫٥", 1234.5),
        ("−１２．５".replace("．", "."), -12.5),
        ("१२.५ %", 12.5),
        ("0_5", None),
        ("1_0", None),
        ("1__000", None),
        ("_1", None),
        ("1_000,5", None),
        ("1٢", None),  # two scripts
        ("١２", None),
        ("1²", None),
        ("①", None),
    ],
)
def test_underscores_and_digits_of_other_scripts_are_numbers_where_unambiguous(
    write: Write, word: str, meant: float | None
) -> None:
    assert is_number(word, ".") == (meant is not None)
    if meant is not None:
        assert parse_number(word, ".") == meant
    lines = [f"{a},{b},{y}" for a, b, y in numbers().to_numpy()]
    lines[3] = f'"{word}",1,2'
    prepared = prepare(read_table(write("a,b,y\n" + "\n".join(lines))), "y")
    assert len(prepared.y) == 30 - (meant is None)
    if meant is None:
        assert said(prepared, "1 cell taken as missing that could not be read", repr(word))
    else:
        assert prepared.X[3, 0] == meant
        assert said(prepared, "Read 'a' as numbers", "digits of another script" if "_" not in word else "thousands")


@pytest.mark.parametrize(("holes", "dropped"), [(1, True), (2, True), (3, False), (19, False)])
def test_rows_with_missing_cells_are_dropped_if_they_are_one_in_twenty(holes: int, dropped: bool) -> None:
    table = numbers(40)
    table.loc[: holes - 1, "a"] = np.nan
    prepared = prepare(table, "y")
    assert len(prepared.y) == 40 - holes * dropped
    assert said(prepared, "Dropped" if dropped else "Filled in")
    for missing in ("drop", "impute"):
        assert len(prepare(table, "y", missing=missing).y) == 40 - holes * (missing == "drop")


def test_infinite_values_are_missing() -> None:
    table = numbers()
    table.loc[2, "a"], table.loc[5, "y"] = np.inf, -np.inf
    prepared = prepare(table, "y")
    assert len(prepared.y) == 28
    assert said(prepared, "Dropped 1 row without a value of the target 'y'.")


def test_missing_values_can_be_filled_in() -> None:
    table = numbers().assign(c=["red", "blue", "green"] * 10, d=[1, 2] * 15)
    table.loc[[1, 2], "a"] = np.nan
    table.loc[[3, 4, 5], "c"] = None
    table.loc[6, "d"] = np.nan
    prepared = prepare(table, "y", missing="impute")
    assert len(prepared.y) == 30
    assert prepared.names == ("a", "b", "c=blue", "c=green", "c=missing", "c=red", "c=other", "d")
    assert (prepared.X[[1, 2], 0] == np.sort(table["a"].dropna())[13]).all()
    np.testing.assert_array_equal(prepared.X[:, 4], np.isin(np.arange(30), [3, 4, 5]))
    assert prepared.X[6, -1] == 2
    assert said(prepared, "Filled in 6 missing cells with the median", "('a': 2, 'c': 3, 'd': 1)")


def test_a_column_that_is_left_out_costs_no_rows() -> None:
    prepared = with_column([7, None, 7] * 10)
    assert len(prepared.y) == 30


def test_a_column_can_become_constant_with_the_rows_that_are_dropped() -> None:
    table = numbers().assign(c=[1] * 2 + [0] * 28)
    table.loc[[0, 1], "a"] = np.nan
    assert prepare(table, "y", missing="drop").dropped == {"c": "the same in every row"}


def test_copies_of_rows_are_dropped() -> None:
    table = pd.concat([numbers(), numbers().head(4)], ignore_index=True).assign(id=range(34))
    prepared = prepare(table, "y")
    assert said(prepared, "Dropped 4 rows equal to another one in the target and every input.")
    np.testing.assert_array_equal(prepared.X, numbers()[["a", "b"]])
    other_target = pd.concat([numbers(), numbers().head(4).assign(y=0.5)])
    assert len(prepare(other_target, "y").y) == 34


def test_repeats_by_chance_are_kept() -> None:
    generator = np.random.default_rng(0)
    table = pd.DataFrame({"a": generator.integers(0, 40, 300), "y": generator.integers(0, 40, 300)})
    copies = int(table.duplicated().sum())
    assert copies > 10
    prepared = prepare(table, "y")
    assert said(prepared, f"Kept {copies} rows that equal another one")
    assert len(prepared.y) == 300


def test_copies_are_seen_beside_repeated_measurements() -> None:
    again = numbers().tail(10).assign(y=np.arange(10) / 7)
    table = pd.concat([numbers(), again, numbers().head(15)])
    assert said(prepare(table, "y"), "Dropped 15 rows equal to another one")


def test_repeats_among_few_values_are_kept() -> None:
    table = pd.DataFrame({"a": [0, 1] * 30, "b": ["x", "y", "z"] * 20, "y": [1, 2, 3, 4, 5] * 12})
    prepared = prepare(table, "y")
    assert len(prepared.y) == 60
    assert said(prepared, "Kept 30 rows that equal another one")


def test_a_million_rows(write: Write) -> None:
    draws = np.random.default_rng(0).normal(size=(50_000, 2))
    block = "\n".join(f"{a:.6f},{y:.6f}" for a, y in draws.tolist()) + "\n"
    table = read_table(write("a,y\n" + block * 20))
    prepared = prepare(table, "y", rng=3)
    assert prepared.X.shape == (1000, 1)
    assert prepared.usable_rows == pytest.approx(1_000_000, rel=0.4)  # of which some are copies
    assert said(prepared, "Examined 20,000 rows, drawn at random from 1,000,000.")
    assert said(prepared, "Drew 1,000 rows at random from")
    again, other = prepare(table, "y", rng=3), prepare(table, "y", rng=4)
    np.testing.assert_array_equal(prepared.X, again.X)
    assert not np.array_equal(prepared.X, other.X)


def test_rows_are_drawn_evenly_and_stay_in_order() -> None:
    table = numbers(5000).assign(a=np.arange(5000) / 7)
    prepared = prepare(table, "y", most_rows=400)
    assert (np.diff(prepared.X[:, 0]) > 0).all()
    # the mean of 400 draws from 5,000 uniform ones, within four standard errors
    assert abs(prepared.X[:, 0].mean() * 7 / 4999 - 0.5) < 4 / np.sqrt(12 * 400)


# The choice of columns, and the pool


def test_features_and_drop() -> None:
    table = mixed()
    assert prepare(table, "y", features=["b", "a"]).names == ("b", "a")
    assert prepare(table, "y", features="a").names == ("a",)
    dropped = prepare(table, "y", drop=["colour", "day", "fine"])
    assert dropped.names == ("a", "b")
    assert dropped.dropped == dict.fromkeys(["colour", "day", "fine"], "left out as asked")


def test_the_pool_has_the_design_of_the_table() -> None:
    table = mixed()
    pool = pd.DataFrame(
        {
            "extra": 1,
            "fine": ["TRUE", "0", "no"],
            "day": ["2024-02-03", "2024-01-31", "2024-02-01 12:00"],
            "colour": ["green", "red", "blue"],
            "b": ["1,000.5", "2", "3"],
            "a": [1, 2, 3],
        }
    )
    prepared = prepare(table, "y", pool=pool)
    assert prepared.pool is not None
    saturday, wednesday = np.eye(7)[[5, 2]]
    expected = [[1, 1000.5, 0, 1, 0, 0, 2, *saturday, 1], [2, 2, 0, 0, 1, 0, -1, *wednesday, 0]]
    np.testing.assert_array_equal(prepared.pool, expected)
    assert said(prepared, "Read the pool of 3 rows, dropped 1 row with a missing input.")
    imputed = prepare(table, "y", pool=pool, missing="impute").pool
    assert imputed is not None
    assert imputed.shape == (3, 15)


def test_the_table_is_its_own_pool() -> None:
    for missing in ("drop", "impute"):
        prepared = prepare(mixed(), "y", pool=mixed(), missing=missing)
        assert prepared.pool is not None
        np.testing.assert_array_equal(prepared.pool, prepared.X)


@pytest.mark.parametrize("colours", [["red", "blue"], ["red", "blue", "grey"]])
def test_categories_that_only_the_pool_has(colours: list[str]) -> None:
    table = numbers().assign(c=(colours * 15)[:30])
    prepared = prepare(table, "y", pool=numbers(4).assign(c=["red", "teal", "pink", "blue"]))
    assert prepared.pool is not None
    np.testing.assert_array_equal(prepared.pool[:, prepared.names.index("c=other")], [0, 1, 1, 0])
    np.testing.assert_array_equal(prepared.pool[:, 2:].sum(axis=1), 1)
    assert said(prepared, "no labelled row has ('c=pink', 'c=teal') and treated them as 'other'")


def test_a_large_pool_is_drawn_from() -> None:
    prepared = prepare(numbers(), "y", pool=numbers(30_000).assign(a=range(30_000)))
    assert prepared.pool is not None
    assert prepared.pool.shape == (20_000, 2)
    assert (np.diff(prepared.pool[:, 0]) > 0).all()
    assert said(prepared, "Read the pool of 30,000 rows, drew 20,000 rows of it at random.")


# What is refused


BAD_TABLES: dict[str, tuple[Callable[[], object], str]] = {
    "text target": (
        lambda: prepare(mixed(), "colour"),
        "'colour' holds text, such as 'red': numbers are needed; if these are classes, ask for --task classes$",
    ),
    "partly text": (
        lambda: prepare(numbers().assign(y=["1", "high", "2"] * 10), "y"),
        "holds text, such as 'high'",
    ),
    "date target": (lambda: prepare(mixed(), "day"), "holds dates, such as '2024-02-01"),
    "flag target": (lambda: prepare(mixed(), "fine"), "holds true or false, such as 'True'"),
    "no target": (lambda: prepare(mixed(), "Colr"), "no column 'Colr': did you mean 'colour'[?] it has 'a', 'b', 'y'"),
    "no target at all": (lambda: prepare(numbers(), "temperature"), "no column 'temperature': it has 'a', 'b', 'y'$"),
    "numbers for names": (lambda: prepare(pd.DataFrame(np.eye(12)), "y"), "a header may be missing"),
    "all missing": (lambda: prepare(numbers().assign(y=np.nan), "y"), "the target 'y' has no values$"),
    "all missing, as text": (lambda: prepare(numbers().assign(y="?"), "y"), "the target 'y' has no values$"),
    "constant": (lambda: prepare(numbers().assign(y=2.5), "y"), "'y' is 2.5 in every row: there is nothing to learn$"),
    "one row": (lambda: prepare(numbers(1), "y"), "at least 10 usable rows are needed, got 1 of 1 row$"),
    "no rows": (lambda: prepare(numbers(0), "y"), "the table has no rows$"),
    "nine rows": (lambda: prepare(numbers(9), "y"), "got 9 of 9 rows$"),
    "few targets": (
        lambda: prepare(numbers().assign(y=[1, 2, 3] + [np.nan] * 27), "y"),
        "got 3 of 30 rows: left out were 27 rows without a value of the target 'y'$",
    ),
    "few complete rows": (
        lambda: prepare(numbers(16).assign(a=[np.nan] * 7 + list(range(2, 11))), "y", missing="drop"),
        r"got 9 of 16 rows: left out were 7 rows with a missing input \('a': 7\); --missing impute fills",
    ),
    "only copies": (lambda: prepare(pd.concat([numbers(5)] * 4), "y"), "left out were 15 rows equal to another one"),
    "unknown feature": (lambda: prepare(mixed(), "y", features=["a", "color"]), "did you mean 'colour'"),
    "unknown drop": (lambda: prepare(mixed(), "y", drop=["Day"]), "no column 'Day': did you mean 'day'"),
    "target as input": (lambda: prepare(mixed(), "y", features=["a", "y"]), "'y' cannot be an input as well$"),
    "target dropped": (lambda: prepare(mixed(), "y", drop=["y"]), "'y' cannot be dropped$"),
    "nothing left": (lambda: prepare(numbers(), "y", drop=["a", "b"]), "no input is left beside the target 'y'"),
    "no features": (lambda: prepare(numbers(), "y", features=[]), "no input is left"),
    "nothing usable": (
        lambda: prepare(numbers()[["y"]].assign(id=range(30)), "y"),
        r"no column can be used as an input: 'id' \(.*counts the rows\); identifiers are kept if --features names them$",
    ),
    "wide numbers": (
        lambda: prepare(pd.DataFrame(np.random.default_rng(0).normal(size=(20, 40))), "0"),
        "^39 inputs, but only 20 rows; choose fewer inputs with --features$",
    ),
    "duplicate names": (
        lambda: prepare(numbers().set_axis(["a", "a", "y"], axis=1), "y"),
        "the table has more than one column named 'a'",
    ),
    "pool without a column": (
        lambda: prepare(mixed(), "y", pool=mixed().rename(columns={"colour": "Colour"})),
        "the pool has no column 'colour': did you mean 'Colour'",
    ),
    "pool that does not fit": (
        lambda: prepare(mixed(), "y", pool=mixed().assign(a="x")),
        "no row of the pool can be used: read the pool of 30 rows, dropped 30 rows with a missing input$",
    ),
    "pool without rows": (lambda: prepare(mixed(), "y", pool=mixed().head(0)), "the pool has no rows$"),
    "unknown treatment": (
        lambda: prepare(mixed(), "y", missing="guess"),  # type: ignore[arg-type]
        "missing must be 'auto', 'drop' or 'impute', got 'guess'$",
    ),
    "too small a limit": (lambda: prepare(mixed(), "y", most_rows=5), "most_rows must be an integer, at least 10"),
}


def test_many_categories_need_no_more_rows_than_few() -> None:
    table = numbers(24)
    for name, count in {"town": 8, "street": 6, "shop": 4, "size": 3}.items():
        table[name] = [f"{name} {(i * 7 + i // count) % count}" for i in range(24)]
    prepared = prepare(table, "y")
    assert prepared.X.shape == (24, 2 + 9 + 7 + 5 + 4)
    assert max(prepared.blocks) + 1 == 6  # lengthscales


@pytest.mark.parametrize("case", BAD_TABLES)
def test_tables_that_are_refused(case: str) -> None:
    attempt, message = BAD_TABLES[case]
    with pytest.raises(InputError, match=message) as caught:
        attempt()
    assert "\n" not in str(caught.value)


# Laws

finite = st.floats(-1e9, 1e9, allow_subnormal=False)


@given(
    rows=st.lists(
        st.tuples(finite, finite, finite),
        min_size=10,
        max_size=30,
        unique_by=tuple(itemgetter(place) for place in range(3)),
    ),
    dialect=st.sampled_from([(",", "."), (";", "."), (";", ","), ("\t", "."), ("\t", ","), (" ", "."), (" ", ",")]),
    compressed=st.booleans(),
)
def test_numbers_survive_the_file(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[float, float, float]],
    dialect: tuple[str, str],
    compressed: bool,
) -> None:
    delimiter, decimal = dialect
    table = pd.DataFrame(rows, columns=["first", "second", "y"])
    text = table.to_csv(sep=delimiter, decimal=decimal, index=False).encode()
    path = tmp_path_factory.getbasetemp() / "numbers.csv"
    path.write_bytes(gzip.compress(text) if compressed else text)
    prepared = prepare(read_table(path), "y", features=["first", "second"])
    np.testing.assert_allclose(prepared.X, table[["first", "second"]], rtol=1e-12)
    np.testing.assert_allclose(prepared.y, table["y"], rtol=1e-12)


cells = st.one_of(
    st.none(),
    st.integers(-5, 5),
    st.floats(),
    st.booleans(),
    st.text("abc1,.-%$ ", max_size=6),
    st.sampled_from(["red", "blue", "1,234.5", "2020-01-02", "03/04/2021", "yes", "no", "NA", "?", "other", "missing"]),
)


alike = (
    st.integers(-5, 5),
    st.one_of(st.floats(-1e9, 1e9), st.just(float("inf"))),
    st.booleans(),
    st.sampled_from(["red", "blue", "other", "missing"]),
    st.dates().map(str),
    st.sampled_from(["1,234.5", "2.5", "-7", "<0.1"]),
)
column = st.one_of(*(st.lists(st.one_of(st.none(), cell), min_size=12, max_size=12) for cell in (*alike, cells)))


def test_any_table_is_prepared_or_refused() -> None:
    outcomes: Counter[str] = Counter()

    @given(
        columns=st.lists(column, min_size=1, max_size=4),
        missing=st.sampled_from(["auto", "drop", "impute"]),
        pooled=st.one_of(st.none(), st.lists(cells, min_size=12, max_size=12)),
    )
    @settings(max_examples=80)
    def check(columns: list[list[Any]], missing: Any, pooled: list[Any] | None) -> None:
        table = pd.DataFrame({f"c{k}": values for k, values in enumerate(columns)} | {"y": np.arange(12) ** 2})
        pool = table[::-1] if pooled is None else pd.DataFrame(dict.fromkeys(table, pooled))
        try:
            prepared = prepare(table, "y", missing=missing, pool=pool)
        except InputError:
            outcomes["refused"] += 1
            return
        outcomes["prepared"] += 1
        width = len(prepared.names)
        assert prepared.X.shape == (len(prepared.y), width)
        assert len(prepared.sources) == width
        assert prepared.pool is not None
        assert prepared.pool.shape[1] == width
        assert np.isfinite(prepared.X).all()
        assert np.isfinite(prepared.pool).all()
        varies = np.bincount(prepared.blocks, weights=np.ptp(prepared.X, axis=0))
        assert (varies > 0).all()
        assert set(prepared.sources) | set(prepared.dropped) == set(table) - {"y"}
        assert all(step.endswith(".") for step in prepared.steps)

    check()
    assert min(outcomes["prepared"], outcomes["refused"]) > 10, outcomes


def test_texts_that_are_nearly_numbers_take_no_longer_than_others() -> None:
    start = time.process_time()
    for text in (
        "(" + " " * 5000 + "x",
        "-" + " " * 5000 + "$" + " " * 5000,
        "1" * 5000 + "x",
        "1" + ",000" * 2000 + "x",
    ):
        assert not any(is_number(text, mark) for mark in ".,")
    assert time.process_time() - start < 1
