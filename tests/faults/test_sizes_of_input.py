"""Sizes are checked before memory is taken: small files that claim much, archives, pipes, long lines, billions of tasks."""

from __future__ import annotations

import contextlib
import gzip
import io
import itertools
import json
import os
import re
import subprocess
import sys
import threading
import time
import warnings
import zipfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gpcurves as gpc
from commands import failed
from gpcurves import Graph, InputError, read_graph
from gpcurves.cli import parse
from gpcurves.graphs.columns import is_distance
from gpcurves.graphs.edge_lists import _DATA, _NO_DATA
from gpcurves.graphs.groups import check_group
from gpcurves.graphs.labels import read_attributes, read_labels
from gpcurves.graphs.records import split_records
from gpcurves.montecarlo import Run, Stop, average, workers
from gpcurves.montecarlo.average import Missing
from gpcurves.numerics import files, memory
from gpcurves.numerics.files import read_bytes
from gpcurves.numerics.validation import parse_float
from gpcurves.tables.cells import interpret
from gpcurves.tables.columns import _ID_NAME
from gpcurves.tables.files import _CONTROL, read_table

SMALL = 1e9  # bytes of memory that most tests pretend to have
REFUSED = r"needs about [\d.e+]+ GB of memory, this machine has 1 GB: \w+"

PAIR = Graph.from_edges([(0, 1)], labels="ab")

READERS: dict[str, Callable[[Path], object]] = {
    "table": read_table,
    "graph": read_graph,
    "labels": partial(read_labels, graph=PAIR),
    "attributes": partial(read_attributes, graph=PAIR),
    "numbers": partial(parse.read_table, what="points"),
    "result": gpc.load,
}


@pytest.fixture
def little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "memory_limit", lambda: SMALL)


def written(folder: Path, content: str | bytes, name: str = "data.txt") -> Path:
    file = folder / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file


# ---- how much memory there is ----


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_the_limit_of_a_process_is_the_memory_that_it_has() -> None:
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (3 * 10**9, -1));"
        "from gpcurves.numerics.memory import memory_limit; print(memory_limit())"
    )
    assert float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout) <= 3e9


@pytest.mark.parametrize(
    ("line", "file"),
    [("0::/a/b", "a/memory.max"), ("4:cpu,memory:/lost", "memory/memory.limit_in_bytes"), ("4:cpu:/a", None)],
)
def test_the_limits_of_control_groups_count(
    line: str, file: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, f"{line}\n", "cgroup")
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "memory").mkdir()
    written(tmp_path / "a" / "b", "max\n", "memory.max")
    for name in ("a/memory.max", "memory/memory.limit_in_bytes"):
        written(tmp_path, "12345\n", name)
    monkeypatch.setattr(memory, "_OWN_GROUPS", tmp_path / "cgroup")
    monkeypatch.setattr(memory, "_GROUPS", tmp_path)
    assert (memory.memory_limit() == 12345) == (file is not None)


# ---- the one reader of files ----


@pytest.mark.parametrize("reader", READERS)
def test_a_file_that_memory_would_not_hold_is_refused_unread(
    reader: str, little_memory: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "large.txt"
    with file.open("wb") as sparse:
        sparse.truncate(400_000_000)
    monkeypatch.setattr(files, "_read_all", lambda *_: pytest.fail("the file was read"))
    with pytest.raises(InputError, match=rf"large.txt \(400,000,000 bytes\) {REFUSED}"):
        READERS[reader](file)


@cache
def bomb() -> bytes:
    return gzip.compress(b"1,2\n" * 25_000_000)


@pytest.mark.parametrize("reader", READERS)
def test_an_archive_that_would_not_fit_is_refused_before_it_is_decompressed(
    reader: str, little_memory: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gzip.GzipFile", lambda **_: pytest.fail("the archive was decompressed"))
    with pytest.raises(InputError, match=rf"\(at least 100,000,000 bytes\) {REFUSED}"):
        READERS[reader](written(tmp_path, bomb(), "bomb.csv.gz"))


def test_an_archive_that_hides_its_size_is_read_up_to_the_bound(little_memory: None, tmp_path: Path) -> None:
    two = written(tmp_path, bomb() + gzip.compress(b"3,4\n"))  # the last member says that it is short
    with pytest.raises(InputError, match=rf"\(at least \d\d,\d\d\d,\d\d\d bytes\) {REFUSED}"):
        read_bytes(two, 20)


def test_the_end_of_a_damaged_archive_is_not_taken_for_a_size(little_memory: None, tmp_path: Path) -> None:
    cut = gzip.compress(np.random.default_rng(0).bytes(1000))[:-8] + b"\xff\xff\xff\xff"
    with pytest.raises(InputError, match="the gzip archive is damaged"):
        read_bytes(written(tmp_path, cut), 20)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such files on Windows")
def test_devices_and_pipes_neither_hang_nor_fill_memory(
    little_memory: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_PATIENCE", 0.1)
    with pytest.raises(InputError, match="cannot read /dev/zero: it is a device"):
        read_bytes(Path("/dev/zero"), 20)
    with pytest.raises(InputError, match="/dev/null is empty"):
        read_bytes(Path("/dev/null"), 20)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(InputError, match="pipe is empty"):
        read_bytes(pipe, 20)
    monkeypatch.setattr(files, "_PATIENCE", 5.0)
    threading.Thread(target=pipe.write_bytes, args=(b"a,b\n1,2\n",)).start()
    assert read_table(pipe).to_dict("list") == {"a": [1], "b": [2]}
    endless = subprocess.Popen(
        [sys.executable, "-c", f"f = open({str(pipe)!r}, 'wb')\nwhile True: f.write(bytes(1 << 20))"]
    )
    try:
        with pytest.raises(InputError, match=rf"\(at least [\d,]+ bytes\) {REFUSED}"):
            read_bytes(pipe, 20)
    finally:
        endless.kill()
        endless.wait()


# ---- what a small file claims ----


def workbook(*rows: str) -> bytes:
    openpyxl = pytest.importorskip("openpyxl")
    content = io.BytesIO()
    openpyxl.Workbook().save(content)
    with zipfile.ZipFile(content) as old, zipfile.ZipFile(made := io.BytesIO(), "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            sheet = old.read(name)
            if name.endswith("sheet1.xml"):
                sheet = re.sub(
                    rb"<sheetData ?(/>|></sheetData>)", f"<sheetData>{''.join(rows)}</sheetData>".encode(), sheet
                )
                assert rows[0].encode() in sheet
            new.writestr(name, sheet)
    return made.getvalue()


def row(number: int, **cells: float) -> str:
    return f'<row r="{number}">' + "".join(f'<c r="{c}{number}"><v>{v}</v></c>' for c, v in cells.items()) + "</row>"


HEADER = '<row r="1"><c r="A1" t="inlineStr"><is><t>a</t></is></c><c r="B1" t="inlineStr"><is><t>b</t></is></c></row>'


@pytest.mark.slow
def test_a_far_cell_of_a_workbook_is_a_column_and_not_a_million_rows(tmp_path: Path) -> None:
    started = time.process_time()
    table = read_table(written(tmp_path, workbook(HEADER, row(2, A=1, B=2.5), row(1_048_576, XFD=7))))
    assert table.columns.tolist() == ["a", "b", "column 3"]
    assert table.fillna(-1).to_numpy().tolist() == [[1, 2.5, -1], [-1, -1, 7]]
    assert time.process_time() - started < 10


def parquet(count: int) -> bytes:
    pytest.importorskip("pyarrow")
    content = io.BytesIO()
    pd.DataFrame({"x": np.zeros(count, dtype=np.int8), "y": np.zeros(count, dtype=np.int8)}).to_parquet(content)
    return content.getvalue()


MTX = "%%MatrixMarket matrix coordinate pattern symmetric\n"
CLAIMS: dict[str, tuple[str, Callable[[], str | bytes], Callable[[Path], object], str]] = {
    "far rows": (
        "a.xlsx",
        lambda: workbook(HEADER, row(10**12, A=1)),
        read_table,
        "few of its .* cells hold a value, remove",
    ),
    "far columns": (
        "a.xlsx",
        lambda: workbook(HEADER, *(row(i, XFD=1) for i in range(2, 1000))),
        read_table,
        "few of its .* cells hold a value, remove",
    ),
    "diagonal": (
        "a.xlsx",
        lambda: workbook(HEADER, *(row(i, **{letters(i): 1}) for i in range(2, 3_100))),
        read_table,
        rf"cells\) {REFUSED}",
    ),
    "zip bomb": (
        "a.xlsx",
        lambda: workbook(" " * 46_000_000),
        read_table,
        rf"bytes when decompressed, 0 cells\) {REFUSED}",
    ),
    "parquet": ("a.parquet", lambda: parquet(5_000_000), read_table, rf"10,000,000 cells\) {REFUSED}"),
    "entries": (
        "a.mtx",
        lambda: f"{MTX}9 9 1000000000\n1 2\n",
        read_graph,
        "announces 1,000,000,000 entries, .* 7\\d bytes",
    ),
    "array": (
        "a.mtx",
        lambda: "%%MatrixMarket matrix array real general\n99999 99999\n1\n",
        read_graph,
        "9,999,800,001 ent",
    ),
    "rows": ("a.mtx", lambda: f"{MTX}999999999 999999999 1\n1 2\n", read_graph, rf"999,999,999 vertices.* {REFUSED}"),
    "digits": ("a.mtx", lambda: f"{MTX}{'9' * 5000} 9 1\n1 2\n", read_graph, "cannot read"),
    "isolated": (
        "a.txt",
        lambda: "1 2\n",
        partial(read_graph, vertices=900_000_000),
        rf"900,000,000 vertices .* {REFUSED}",
    ),
    "saved": (
        "a.json",
        lambda: saved_graph(999_999_999),
        gpc.load,
        rf"999,999,999 vertices.* {REFUSED}",
    ),
    "saved digits": ("a.json", lambda: saved_graph(10**4000), gpc.load, "vertices must be|holds no result"),
}


def letters(number: int) -> str:
    from openpyxl.utils import get_column_letter

    return str(get_column_letter(number))


def saved_graph(vertices: int) -> str:
    problem = gpc.GraphProblem(Graph.from_edges([(0, 1)]), gpc.RandomWalkKernel(2), noise=0.1)
    text = str(gpc.learning_curve(problem, "simulation", nu=[0.0], datasets=2, rng=0).to_json())
    assert text.count('"vertices": 2') == 1
    claiming = json.loads(text.replace('"vertices": 2', f'"vertices": {vertices}'))
    return json.dumps({key: value for key, value in claiming.items() if key != "checksum"})


@pytest.mark.parametrize("name", CLAIMS)
def test_what_a_small_file_claims_is_checked_before_it_is_believed(
    name: str, little_memory: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gpcurves.tables.files._FEW_SPANNED", 5_000_000)
    file, content, reader, sentence = CLAIMS[name]
    path = written(tmp_path, content(), file)
    with pytest.raises(InputError, match=sentence):
        reader(path)


ER = gpc.GraphProblem(gpc.ErdosRenyi(3), gpc.RandomWalkKernel(2), noise=0.1)
LINE = gpc.Problem(gpc.RBF(0.1), gpc.Torus(1), noise=0.1)
ORDERS: dict[str, Callable[[], object]] = {
    "vertices": lambda: Graph.from_edges([(0, 1)], vertices=999_999_999),
    "vertex numbers": lambda: Graph.from_edges([(0, 999_999_998)]),
    "ensemble": lambda: gpc.ErdosRenyi(3).sample(40_000_000),
    "degrees": lambda: gpc.RandomRegular(100_000).sample(1_000_000),
    "population": lambda: gpc.learning_curve(ER, "cavity", nu=[1.0], population=10**9),
    "graphs": lambda: gpc.learning_curve(ER, "simulation", nu=[1.0], graphs=10**9),
    "large graphs": lambda: gpc.learning_curve(ER, "simulation", nu=[1.0], vertices=10**9),
    "data sets": lambda: gpc.learning_curve(LINE, "simulation", [1], datasets=10**9),
    "workers": lambda: list(workers.execute(np.atleast_1d, range(10**9), 10**9)),
}


@pytest.mark.parametrize("name", ORDERS)
def test_what_is_ordered_is_checked_before_it_is_begun(name: str, little_memory: None) -> None:
    with pytest.raises(InputError, match=REFUSED):
        ORDERS[name]()


BOMBS = """
import resource, sys
import numpy, pandas, openpyxl, scipy.io, scipy.sparse
from gpcurves import InputError, load, read_graph
from gpcurves.tables.files import read_table
resource.setrlimit(resource.RLIMIT_AS, (8 * 10**9, 8 * 10**9))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for reader, path in zip((read_table, read_graph, load), sys.argv[1:], strict=True):
    try:
        reader(path)
        print("believed")
    except InputError:
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells how much memory a process has held")
def test_bombs_cost_no_memory(tmp_path: Path) -> None:
    paths = [str(written(tmp_path, CLAIMS[name][1](), CLAIMS[name][0])) for name in ("far rows", "rows", "saved")]
    done = subprocess.run([sys.executable, "-c", BOMBS, *paths], capture_output=True, text=True, check=True)
    assert [int(line) < 100_000 for line in done.stdout.split()] == [True, True, True]  # kB


# ---- tasks are counted, never listed ----


def test_a_billion_tasks_begin_at_once_and_go_on_where_they_stopped() -> None:
    before = frozenset(range(10)) | {12, 2_000_000_000}
    missing = Missing(10**9, before)
    assert len(missing) == 10**9 - 11
    assert list(itertools.islice(missing, 4)) == [10, 11, 13, 14]
    assert 10 in missing
    assert not any(task in missing for task in (0, 12, 10**9, -1))
    begun = workers.execute(lambda task: np.array([task]), missing, 1)
    sizes = [len(batch) for batch in itertools.islice(begun, 12)]
    assert sizes == [1, 1, 2, 2, 4, 4, 8, 8, 16, 16, 16, 16]


def test_batches_are_what_they_were_when_they_were_listed() -> None:
    for count, several in itertools.product((1, 7, 100, 1000), (1, 2, 5)):
        tasks, start = list(range(count)), 0
        batches: list[list[int]] = []
        while start < count:
            size = min(16, 2 ** (len(batches) // (2 * several)), -(-(count - start) // several))
            batches.append(tasks[start : start + size])
            start += size
        assert list(workers._batches(tasks, count, several)) == batches


class Counted:
    """An experiment that is interrupted after some tasks."""

    key = {"name": "counted"}  # noqa: RUF012
    fields = {"error": ()}  # noqa: RUF012

    def draw(self, task: int) -> dict[str, float]:
        if task == 40:
            raise KeyboardInterrupt
        return {"error": float(task)}


def test_many_tasks_are_interrupted_with_what_was_finished(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "memory_limit", lambda: None)  # a system that does not tell takes what is ordered
    with pytest.raises(gpc.montecarlo.Interrupted) as stopped:
        average(Counted(), Run(rng=0, progress=False), Stop(10**9, 10**9))
    assert stopped.value.estimate.count >= 20


# ---- time is linear in the length of people's texts ----

TIMED: dict[str, Callable[[str], object]] = {
    "cells": lambda text: interpret(pd.Series([text, text], dtype=object), "."),
    "names of identifiers": _ID_NAME.fullmatch,
    "control characters": _CONTROL.search,
    "edges": lambda text: accept_or_refuse(lambda: split_records(Path("x"), text)),
    "quoted edges": lambda text: accept_or_refuse(lambda: split_records(Path("x"), f'"a",{text}\n"b" {text}')),
    "blanks and quotes": lambda text: split_records(Path("x"), f'"a" b\n{text}'),
    "names of distances": is_distance,
    "attributes of edges": lambda text: _NO_DATA.sub("", _DATA.sub(r"\1", f"{text}}}")),
    "numbers": lambda text: refuse(parse_float, f"{text}x"),
    "groups": lambda text: refuse(check_group, f"degree={text}x"),
}
PIECES = ["1", " ", "a", "-", "1,", "1.", "e-", "(", "\t#", " #", ",", "a_", "aI", "id ", "12/", "%", "1 ", "\u00a0"]
PIECES += [" {}", " {'weight': 1", '"', '""', '"a ', '"""a ', "aB", '" "']


def accept_or_refuse(function: Callable[[], object]) -> None:
    with contextlib.suppress(InputError):
        function()


def refuse(function: Callable[[str], object], text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        function(text)


@pytest.mark.parametrize("name", TIMED)
def test_no_text_takes_more_than_linear_time(name: str) -> None:
    for piece, end in itertools.product(PIECES, ("", "x", ")")):
        text = (piece * 50_000)[:50_000] + end
        started = time.process_time()
        TIMED[name](text)
        assert time.process_time() - started < 2.0, (piece, end)  # quadratic time would be a minute


LONG = {
    "one long field": "1" * 3_000_000 + " 2\n",
    "many fields": "1 " * 50_000,
    "one long line": "a" * 3_000_000,
    "many columns": ",".join(f"c{i}" for i in range(5_000)) + "\n" + ("1," * 4_999 + "1\n") * 5,
    "quotation marks": '"' * 1_000_000,
    "quoted line ends": "a,b\n" + '"x\n' * 100_000 + '",2\n',
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("what", LONG)
def test_long_lines_are_read_or_refused_in_a_short_sentence(reader: str, what: str, tmp_path: Path) -> None:
    started = time.process_time()
    said = ""
    try:
        READERS[reader](written(tmp_path, LONG[what]))
    except InputError as error:
        said = str(error)
    assert len(said) < 2_100
    assert time.process_time() - started < 10


# ---- numbers in people's files ----


@pytest.mark.parametrize("text", ["1_000", "١٢", "1２", "0_5", "_1", "", "x", "0x10", "1e", "−1"])
def test_only_plain_digits_are_numbers(text: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_float(text)
    with pytest.raises(InputError, match="must be a number"):
        parse.number("--noise", text)
    if text:
        for content, reader in (("a b 1\nb c {}\n", read_graph), ("a 1\nb {}\n", READERS["labels"])):
            with pytest.raises(InputError, match=r"line 2: .* must be a number, got"):
                reader(written(tmp_path, content.format(text)))
        with pytest.raises(InputError, match="line 2: points must be numbers"):
            parse.read_table(written(tmp_path, f"1\n{text}\n"), "points")
        table = read_table(written(tmp_path, f"x,y\n{text},1\n2,3\n"))
        assert not pd.api.types.is_numeric_dtype(table["x"].dtype)


@pytest.mark.parametrize("text", ["1", "-1.5", ".5", "1e-3", " 2 ", "+3"])
def test_plain_numbers_are_read(text: str) -> None:
    assert parse_float(text) == float(text)


def test_integers_of_thousands_of_digits_are_names_in_order(tmp_path: Path) -> None:
    long = "1" + "0" * 4400
    graph = read_graph(written(tmp_path, f"{long} 2\n2 -{long}\n{long}1 10\n"))
    assert graph.labels == (f"-{long}", "2", "10", long, f"{long}1")
    labels = read_labels(written(tmp_path, f"{long} 1\n2 3\n"), graph)
    assert (labels.vertices.tolist(), labels.values.tolist()) == ([3, 1], [1.0, 3.0])
    with pytest.raises(InputError, match="a value must be finite"):
        read_labels(written(tmp_path, f"a {long}\n"), PAIR)
    with pytest.raises(InputError, match="vertices must be finite"):
        Graph.from_edges([(0, 1)], vertices=10**4400)


# ---- anything is read or refused ----

PORTS = (
    '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="undirected"><node id="a"><port name="p"/>'
    '</node><node id="b"/><edge source="a" target="b" sourceport="p"/></graph></graphml>'
)


def test_ports_of_graphml_are_passed_over_in_silence(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_graph(written(tmp_path, PORTS, "a.graphml")).edges == 1


def small() -> Any:
    graph = nx.Graph()
    graph.add_node("a", x=1.0, y=2.0, kind="x", level=3)
    graph.add_node("b", x=0.0, y=1.5, kind="y")
    graph.add_edge("a", "b", weight=2.0)
    return graph


def saved_as(write: Callable[[Any, Any], None]) -> bytes:
    content = io.BytesIO()
    write(small(), content)
    return content.getvalue()


VALID: dict[str, tuple[str, Callable[[Path], object], Callable[[], bytes]]] = {
    "csv": ("a.csv", read_table, lambda: b'x,y\n1,"a b"\n2.5,c\n'),
    "workbook": ("a.xlsx", read_table, lambda: workbook(HEADER, row(2, A=1, B=2))),
    "parquet": ("a.parquet", read_table, lambda: parquet(3)),
    "gzip": ("a.csv.gz", read_table, lambda: gzip.compress(b"x,y\n1,2\n3,4\n", mtime=0)),
    "edges": ("a.txt", read_graph, lambda: b"a b 1\nb c 2.5\n"),
    "graphml": ("a.graphml", read_graph, PORTS.encode),
    "gml": (
        "a.gml",
        read_graph,
        lambda: b'graph [ node [ id 0 label "a" ] node [ id 1 label "b" ] edge [ source 0 target 1 ] ]',
    ),
    "mtx": ("a.mtx", read_graph, lambda: f"{MTX}3 3 2\n2 1\n3 2\n".encode()),
    "gexf": ("a.gexf", read_graph, lambda: saved_as(nx.write_gexf)),
    "pajek": ("a.net", read_graph, lambda: b'*Vertices 3\n1 "a" 0.1 0.2\n2 b\n*Edges\n1 2 1.5\n*Arcslist\n2 3 1\n'),
    "adjacency list": ("a.adjlist", read_graph, lambda: b"a b c\nb c\nd\n"),
    "node-link": ("a.json", read_graph, lambda: json.dumps(nx.node_link_data(small(), edges="links")).encode()),
    "quoted edges": ("a.csv", read_graph, lambda: b'source,target,weight,"kind"\n"a, b",c,1,x\nc,"d ""e""",2,\nf,,,\n'),
    "labels": ("a.txt", READERS["labels"], lambda: b"vertex,value\na,1\nb,-2.5\n"),
    "quoted labels": ("a.csv", READERS["labels"], lambda: b'"kind",vertex,value\n"x, y",a,1\nz,b,NA\n'),
    "attributes": ("a.csv", READERS["attributes"], lambda: b'"kind",vertex,value\n"x, y",a,1\nz,b,NA\n'),
    "numbers": ("a.txt", partial(parse.read_table, what="points"), lambda: b"0.1 0.2\n0.3 0.4\n"),
    "result": ("a.json", gpc.load, lambda: saved_graph(2).encode()),
}
cached = cache(lambda kind: VALID[kind][2]())


@pytest.mark.parametrize("kind", VALID)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_damaged_files_are_read_or_refused(kind: str, data: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    name, reader, _ = VALID[kind]
    content = bytearray(cached(kind))
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(content)))
        content[start : start + data.draw(st.integers(0, 9))] = data.draw(st.binary(max_size=9))
    if data.draw(st.integers(0, 4)) == 0:
        content = bytearray(data.draw(st.binary()))
    path = written(tmp_path_factory.getbasetemp(), bytes(content), name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with contextlib.suppress(InputError):
            reader(path)


def test_a_text_stored_once_that_fills_many_cells_is_refused(tmp_path: Path) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "bomb.parquet"
    text = arrow.DictionaryArray.from_arrays(np.zeros(20_000, dtype=np.int32), ["x" * 1_000_000])
    parquet.write_table(arrow.table({"text": text, "y": np.arange(20_000.0)}), path, store_schema=False)
    assert path.stat().st_size < 1_000_000
    with pytest.raises(InputError, match=r"its cells hold .* bytes on average"):
        read_table(path)


def test_a_workbook_that_expands_as_no_table_does_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b"<c/>" * 20_000_000)
        archive.writestr("half of it", np.random.default_rng(0).bytes(1_500_000))
    with pytest.raises(InputError, match=r"it expands 5.-fold to 81,500,000 bytes"):
        read_table(path)


def test_an_archive_that_expands_as_no_text_does_is_refused_early(tmp_path: Path) -> None:
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(b"x,y\n" + b"1,2\n" * (1 << 25)))
    with pytest.raises(InputError, match="it expands more than 200-fold, to at least 83,886,080 bytes; decompress it"):
        read_table(path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "words", "reason"),
    [
        ("bomb.xlsx", ["plan", "bomb.xlsx", "--target", "y"], "it expands"),
        ("bomb.csv.gz", ["plan", "bomb.csv.gz", "--target", "y"], "it expands"),
        ("bomb.csv.gz", ["plan", "table.csv", "--target", "y", "--pool", "bomb.csv.gz"], "it expands"),
        ("bomb.mtx", ["predict", "bomb.mtx", "--labels", "table.csv"], "999,999,999 vertices"),
    ],
)
def test_bombs_are_refused_before_heavy_packages_are_imported(
    name: str, words: list[str], reason: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    (tmp_path / "table.csv").write_text("x,y\n1,2\n")
    if name.endswith(".xlsx"):
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("xl/worksheets/sheet1.xml", b"<c/>" * 20_000_000)
    elif name.endswith(".gz"):
        path.write_bytes(gzip.compress(b"x,y\n" + b"1,2\n" * (1 << 25)))
    else:
        path.write_text(f"{MTX}999999999 999999999 1\n1 2\n")
    code = f"import sys; from gpcurves.cli import run; run({words}); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert reason in done.stderr
    assert not {"pandas", "sklearn", "openpyxl"} & set(done.stdout.split())


def test_workers_are_checked_before_a_folder_is_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "pictures"
    assert "workers must be" in failed(["figures", "sollich2002-4", "--workers", "{}", "--out", str(folder)], capsys)
    assert not folder.exists()


def test_an_order_beyond_double_precision_is_refused() -> None:
    with pytest.raises(InputError, match="alpha must be at most 200"):
        gpc.RationalQuadratic(0.1, alpha=1e300)


@pytest.mark.slow
def test_a_walk_that_hardly_leaves_has_no_weights_that_overflow() -> None:
    lazy, still = gpc.RandomWalkKernel(10, a=1e300), gpc.RandomWalkKernel(10, a=1e15)
    graph = gpc.Graph.from_edges([(0, 1), (1, 2)])
    errors = [
        gpc.learning_curve(gpc.GraphProblem(graph, k, 0.1), "cavity", nu=[1.0], rng=0).error for k in (lazy, still)
    ]
    assert errors[0] == pytest.approx(errors[1])
