"""Files for the fuzzer: sound ones of every kind that is read, damaged ones, and some that are made to do harm."""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
import sqlite3
import zipfile
from collections.abc import Callable, Mapping
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import Any

import networkx
import openpyxl
import pandas as pd
import pyarrow
import pyarrow.parquet

SCRIPT = "<script>alert(1)</script>"
ODD_NUMBERS = (
    *("0", "-0.0", "-1", "1", "2", "0.5", "1.5", "1e3", "nan", "inf", "-inf", "1e308", "-1e308", "1e309", "1e-320"),
    *("9" * 400, "9" * 5000, "0." + "1" * 5000, "0_5", "1_000", "٣", "１２", "1e", "0x10", "1e9", "999999999999", "½"),
    *("1e5000", "+3", " 7 ", "1,5", "1,2,3", "1e300", "1e-300", "2147483648", "9223372036854775808", "TRUE", "--"),
)
EXTREMES = (
    "0",
    "1e308",
    "1e300",
    "1e-300",
    "1e-320",
    "1e-12",
    "1e9",
    "1e15",
    "1",
    "2",
    "1e5",
    "0.999999",
    "-1",
    "9" * 400,
)
"""Numbers at the ends of what a double holds, and at the ends of what options take."""
ODD_TEXTS = (
    *("", " ", "ä", "Ω", "日本", "a\nb", "x\r\ny", "\x07", "\x1b[31m", "\u202eabc", "\ufeff", "e\u0301", "\udcff", "'"),
    *('"', "=1+1", SCRIPT, "a" * 5000, "%s%n", "{}", "{0}", "../..", "-q", "--", ":", ",", ":,:", "None", "NaN", "\\"),
    *("(" + " " * 120 + "x", "1" * 300 + "x", "a,b", "x" * 300 + ".csv", "\t", "$", "\u2028", "😀", "#", "%", "y\x0bz"),
)
File = tuple[str, bytes]
"""The suffix of a file, and what it holds."""
Rng = random.Random


def odd(rng: Rng) -> str:
    """Return a text that few expect."""
    return rng.choice(rng.choice((ODD_NUMBERS, ODD_TEXTS)))


def encoded(text: str, encoding: str = "utf-8") -> bytes:
    return text.encode(encoding, errors="surrogateescape" if encoding == "utf-8" else "replace")


# Tables


def table(rng: Rng, names: tuple[str, ...] = ("x", "z", "y")) -> list[list[str]]:
    """Return a header and rows of cells."""
    rows = rng.choice((3, 10, 12, 12, 16, 24))
    columns = {name: [f"{rng.gauss(0, 1):.4g}" for _ in range(rows)] for name in names}
    if "y" in columns:
        columns["y"] = [f"{float(x) + rng.gauss(0, 0.3):.4g}" for x in columns["x"]]
    if rng.random() < 0.4:
        columns["kind"] = [rng.choice(("red", "green", "blue")) for _ in range(rows)]
    if rng.random() < 0.3:
        columns["day"] = [f"2024-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}" for _ in range(rows)]
    if rng.random() < 0.3:
        columns["gap"] = [rng.choice(("", "NA", "1", "2.5", "3")) for _ in range(rows)]
    return [list(columns), *map(list, zip(*columns.values(), strict=True))]


def spoil_records(rng: Rng, records: list[list[str]]) -> None:
    """Damage a table as people and programs do."""
    for _ in range(rng.randint(1, 3)):
        row = rng.choice(records)
        column = rng.randrange(max(1, len(row)))
        what = rng.randrange(9)
        if what == 0 and row:
            row[column] = odd(rng)
        elif what == 1:
            records.append(list(row))
        elif what == 2:
            row.reverse()
        elif what == 3:
            del row[column:]
        elif what == 4 and row:
            row[column] = "9" * rng.choice((200, 5000, 200_000))
        elif what == 5 and records[0]:
            records[0][rng.randrange(len(records[0]))] = rng.choice((odd(rng), "x", "y", ""))
        elif what == 6:
            value = odd(rng)
            for each in records[1:]:
                each[column : column + 1] = [value]
        elif what == 7:
            del records[rng.randint(1, 3) :]
        else:
            for each in records[1:]:
                each[column : column + 1] = [rng.choice((*each[column : column + 1], odd(rng)))]


def write_text(records: list[list[str]], delimiter: str, rng: Rng) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator=rng.choice(("\n", "\r\n")), escapechar="\\")
    decimal = delimiter == ";" and rng.random() < 0.7
    writer.writerows([[cell.replace(".", ",") if decimal else cell for cell in row] for row in records])
    return encoded(text.getvalue(), rng.choices(("utf-8", "utf-8-sig", "utf-16", "cp1252"), (8, 1, 1, 1))[0])


def _cell(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return encoded(text).decode(errors="replace")


def write_excel(records: list[list[str]]) -> bytes:
    book = openpyxl.Workbook()
    for row in records:
        cells = [_cell(cell) for cell in row]
        book.active.append([
            openpyxl.cell.cell.ILLEGAL_CHARACTERS_RE.sub("?", cell[:30_000]) if isinstance(cell, str) else cell
            for cell in cells
        ])  # fmt: skip
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


def write_parquet(records: list[list[str]]) -> bytes:
    names = [encoded(name).decode(errors="replace") for name in records[0]]
    rows = [[*row, *[""] * len(names)][: len(names)] for row in records[1:]]
    # Arrow's texts are UTF-8: bytes that are none cannot be in such a file
    frame = pd.DataFrame([[cell.encode("utf-8", "replace").decode() for cell in row] for row in rows])
    frame = frame.reindex(columns=range(len(names)), fill_value="").map(
        lambda text: encoded(text).decode(errors="replace")
    )
    for column in frame:
        numbers = pd.to_numeric(frame[column], errors="coerce")
        frame[column] = numbers.astype(float) if numbers.notna().mean() > 0.5 else frame[column]
    arrays = [pyarrow.Array.from_pandas(frame[column]) for column in frame]
    content = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_arrays(arrays, names=names), content)
    return content.getvalue()


def table_file(rng: Rng, records: list[list[str]]) -> File:
    kind = rng.choices((".csv", ".tsv", ".txt", ".xlsx", ".parquet"), (5, 2, 2, 2, 1))[0]
    if kind == ".xlsx":
        return kind, write_excel(records)
    if kind == ".parquet":
        return kind, write_parquet(records)
    delimiter = {".csv": rng.choice(",,,;"), ".tsv": "\t", ".txt": rng.choice("|;, ")}[kind]
    return compress(rng, (kind, write_text(records, delimiter, rng)))


def compress(rng: Rng, file: File) -> File:
    return (file[0] + ".gz", gzip.compress(file[1], 1)) if rng.random() < 0.12 else file


# Graphs


def graph(rng: Rng) -> networkx.Graph:
    """Return a small connected graph, with weights or without, whose vertices are numbers or names."""
    count = rng.choice((2, 4, 8, 12, 20, 40))
    names = rng.choice((list(range(count)), list(range(1, count + 1)), [f"v{i}é" for i in range(count)]))
    found = networkx.Graph()
    weighted = rng.random() < 0.3
    pairs = [(i, rng.randrange(i)) for i in range(1, count)]
    pairs += [(rng.randrange(count), rng.randrange(count)) for _ in range(count // 2)]
    for i, j in pairs:
        if i != j:
            found.add_edge(names[i], names[j], **({"weight": round(rng.uniform(0.1, 3), 2)} if weighted else {}))
    return found


def graph_file(rng: Rng, found: networkx.Graph, damage: bool = False) -> File:
    kinds = (".csv", ".tsv", ".txt", ".graphml", ".gml", ".mtx", ".gexf", ".net", ".adjlist", ".json")
    kind = rng.choices(kinds, (4, 1, 2, 2, 1, 2, 1, 1, 1, 1))[0]
    content = io.BytesIO()
    if kind in (".graphml", ".gml", ".gexf", ".json") and rng.random() < 0.5:
        for name in found:
            found.nodes[name].update(x=rng.random(), y=rng.random(), level=rng.randint(0, 3), kind=rng.choice("ab"))
    if kind == ".graphml":
        networkx.write_graphml_xml(found, content)
    elif kind == ".gml":
        networkx.write_gml(found, content, stringizer=str)
    elif kind == ".gexf":
        networkx.write_gexf(found, content)
    elif kind == ".net":
        networkx.write_pajek(found, content)
    elif kind == ".adjlist":
        networkx.write_adjlist(found, content)
    elif kind == ".json":
        document = networkx.node_link_data(found, edges=rng.choice(("links", "edges")))
        content.write(json.dumps(document).encode())
        if damage:
            content = io.BytesIO(spoil_json(rng, content.getvalue()))
    elif kind == ".mtx":
        number = {name: i + 1 for i, name in enumerate(found)}
        form = rng.choice(("real symmetric", "pattern symmetric", "real general", "integer symmetric"))
        lines = [f"{number[i]} {number[j]}" for i, j in found.edges]
        lines = [line if "pattern" in form else f"{line} 1" for line in lines]
        size = f"{len(number)} {len(number)} {len(lines)}"
        content.write("\n".join([f"%%MatrixMarket matrix coordinate {form}", size, *lines, ""]).encode())
    else:
        records = [[str(i), str(j), *map(str, data.values())] for i, j, data in found.edges(data=True)]
        if rng.random() < 0.3:
            records.insert(0, ["source", "target", rng.choice(("weight", "length"))][: len(records[0])])
        if rng.random() < 0.2:
            records = [[*row, rng.choice(("", "x, y", "3"))] for row in records]
        if rng.random() < 0.2:
            records.append([rng.choice(("alone", "7", "New York")), *[""] * rng.choice((0, len(records[0]) - 1))])
        if damage:
            spoil_records(rng, records)
        content.write(write_text(records, {".csv": ",", ".tsv": "\t", ".txt": rng.choice(" ;")}[kind], rng))
    return compress(rng, (kind, content.getvalue()))


def labels_file(rng: Rng, names: list[str], damage: bool) -> File:
    chosen = rng.sample(names, rng.randint(1, len(names)))
    records = [[name, f"{rng.gauss(0, 1):.3g}"] for name in chosen]
    if rng.random() < 0.3:
        records.insert(0, ["vertex", "value"])
        if rng.random() < 0.5:
            records = [[rng.choice(("a", "b, c", "1")), *row, rng.choice(("2", ""))] for row in records]
            records[0][:: len(records[0]) - 1] = ["kind", "load"]
    if rng.random() < 0.2:
        records[-1][-1] = rng.choice(("", "NA", "nan"))
    if damage:
        spoil_records(rng, records)
    return ".csv", write_text(records, rng.choice(",;\t"), rng)


def numbers_file(rng: Rng, columns: int, damage: bool, *, positive: bool = False) -> File:
    rows = rng.choice((1, 5, 20))
    values = [[rng.gauss(0, 1) for _ in range(columns)] for _ in range(rows)]
    records = [[f"{abs(value) + 1e-3 if positive else value:.4g}" for value in row] for row in values]
    if positive:
        records = [[row[0], *[str(rng.randint(1, 4))] * (columns - 1)] for row in records]
    if damage:
        spoil_records(rng, records)
    return ".txt", write_text(records, rng.choice(", "), rng)


# Damage to any file


def spoil_bytes(rng: Rng, content: bytes) -> bytes:
    """Flip, cut, repeat or replace some bytes."""
    data = bytearray(content)
    for _ in range(rng.choice((1, 1, 3, 20))):
        at = rng.randrange(len(data)) if data else 0
        end = at + rng.choice((1, 4, 100))
        what = rng.randrange(7)
        if what <= 1 and data:
            data[at] ^= 1 << rng.randrange(8)
        elif what == 2 and rng.random() < 0.3:
            del data[at:]
        elif what == 3:
            data[at:at] = data[at:end]
        elif what == 4:
            data[at:end] = rng.randbytes(rng.choice((1, 4)))
        elif what == 5:
            lines = bytes(data).split(b"\n")
            rng.shuffle(lines)
            data = bytearray(b"\n".join(lines))
        else:
            data[at:end] = encoded(odd(rng))
    return bytes(data)


def spoil_json(rng: Rng, text: bytes) -> bytes:
    """Put something unexpected at some places of a JSON document."""
    document = json.loads(text)
    if rng.random() < 0.8:
        document.pop("checksum", None)  # which would give the damage away before the rest is looked at
    for _ in range(rng.choice((1, 1, 2, 4))):
        node = document
        while True:
            keys = list(node) if isinstance(node, dict) else list(range(len(node)))
            if not keys:
                break
            key = rng.choice(keys)
            if isinstance(node[key], dict | list) and rng.random() < 0.85:
                node = node[key]
                continue
            values: list[Any] = [
                None,
                True,
                -1,
                0,
                1e308,
                999_999_999,
                10**400,
                float("nan"),
                float("inf"),
                [],
                {},
                [[]],
                "",
                odd(rng),
            ]
            values += [SCRIPT, {"name": SCRIPT}, [1, 2, 3], "é" * 10_000, node, 0.5, "rbf", "simulation", 1e-320]
            value = rng.choice(values)
            what = rng.randrange(4)
            if what == 0:
                del node[key]
            elif what == 1 and isinstance(node, dict):
                node[rng.choice((SCRIPT, "unknown", odd(rng)))] = node.pop(key)
            elif what == 2 and isinstance(node, list):
                node += node[: rng.choice((1, 100))]
            else:
                node[key] = json.loads(json.dumps(value))
            break
    return json.dumps(document).encode(errors="surrogatepass")


# Files that are made to do harm


@lru_cache
def _bomb() -> bytes:
    """Return 3 GB of lines of numbers, compressed: many members of one archive."""
    return gzip.compress(b"x,y\n" + b"1,2\n" * (1 << 24), 6) * 46


@lru_cache
def _far_cell(row: int, column: int) -> bytes:
    book = openpyxl.Workbook()
    for i in range(1, 12):
        for j, name in enumerate("xzy", start=1):
            book.active.cell(i, j, name if i == 1 else i * j % 7)
    book.active.cell(row, column, 1)
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


@lru_cache
def _sheet_bomb() -> bytes:
    """Return a workbook with a sheet of hundreds of megabytes of cells."""
    content = io.BytesIO()
    cells = "".join(f'<c r="{chr(65 + i % 26)}1"><v>1</v></c>' for i in range(26))
    with (
        zipfile.ZipFile(io.BytesIO(_far_cell(12, 3))) as old,
        zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as new,
    ):
        for name in old.namelist():
            if not name.endswith("sheet1.xml"):
                new.writestr(name, old.read(name))
                continue
            with new.open(name, "w", force_zip64=True) as sheet:
                text = old.read(name)
                at = text.index(b"</sheetData>")
                sheet.write(text[:at])
                block = f"<row>{cells}</row>".encode() * 10_000
                for _ in range(40):
                    sheet.write(block)
                sheet.write(text[at:])
    return content.getvalue()


@lru_cache
def _parquet_bomb() -> bytes:
    """Return a column that repeats one long text, kept once: 20 GB when it is read."""
    text = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * 20_000, pyarrow.int32()), ["a" * 1_000_000])
    numbers = pyarrow.array([float(i % 17) for i in range(20_000)])
    content = io.BytesIO()
    columns = pyarrow.Table.from_arrays([text, numbers, numbers], names=["x", "z", "y"])
    pyarrow.parquet.write_table(columns, content, store_schema=False)
    return content.getvalue()


def _matrix(header: str, body: str = "1 2 1") -> File:
    return ".mtx", f"%%MatrixMarket matrix {header}\n{body}\n".encode()


def _graphml(body: str, head: str = "") -> File:
    return (
        ".graphml",
        f'<?xml version="1.0"?>{head}<graphml><graph edgedefault="undirected">{body}</graph></graphml>'.encode(),
    )


_ENTITIES = '<!DOCTYPE l [<!ENTITY a "ha">' + "".join(
    f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefghi", "bcdefghij", strict=True)
)

HOSTILE: dict[str, list[Callable[[], File]]] = {
    "table": [
        lambda: (".csv.gz", _bomb()),
        lambda: (".xlsx", _far_cell(1_048_576, 16_384)),
        lambda: (".xlsx", _far_cell(1_000_000, 3)),
        lambda: (".xlsx", _far_cell(5, 16_000)),
        lambda: (".xlsx", _sheet_bomb()),
        lambda: (".parquet", _parquet_bomb()),
        lambda: (".csv", b"x,y\n" + b"(" + b" " * 120 + b"x,1\n" * 40),
        lambda: (".csv", ("x,y\n" + "1" * 100_000 + "x,1\n" + "1,2\n" * 20).encode()),
        lambda: (".csv", (",".join(f"c{i}" for i in range(20_000)) + ",y\n" + "1," * 20_000 + "1\n").encode()),
        lambda: (".csv", b'x,y\n"' + b"a\n" * 100_000),
        lambda: (".csv", b"x,y\n" + b"1,1\n" * 12),
        lambda: (".csv", b"x,y\n1,2\n"),
        lambda: (".csv", b""),
        lambda: (".csv", b"\xef\xbb\xbf\n\n"),
        lambda: (".csv", b"\0" * 1000),
        lambda: (".xlsx", b"PK\x03\x04" + b"\0" * 100),
        lambda: (".xls", b"\xd0\xcf\x11\xe0" + b"\0" * 100),
        lambda: (".parquet", b"PAR1" + b"\xff" * 100 + b"PAR1"),
        lambda: (".csv", ("x,y\n" + "".join(f"{i},1e{i * 25}\n" for i in range(13))).encode()),
        lambda: (".csv", ("x,y\n" + "".join(f"1e300,{i % 5}\n" for i in range(13))).encode()),
        lambda: (".csv", ("x,y\n" + "".join(f"{i},{i % 5}e-320\n" for i in range(13))).encode()),
    ],
    "graph": [
        lambda: (".csv.gz", _bomb()),
        lambda: (".mtx.gz", _bomb()),
        lambda: _matrix("coordinate real symmetric", "1000000000 1000000000 1\n1 2 1"),
        lambda: _matrix("coordinate real symmetric", "3 3 1000000000\n1 2 1"),
        lambda: _matrix("coordinate pattern general", "9999999999999999999 9999999999999999999 1\n1 2"),
        lambda: _matrix("array real general", "100000 100000\n1"),
        lambda: _matrix("array complex hermitian", "2 2\n0 0\n1 1\n0 0"),
        lambda: _matrix("coordinate real symmetric", "-3 3 1\n1 2 1"),
        lambda: _matrix("coordinate real symmetric", "3 3 1\n1 2 nan"),
        lambda: _matrix("coordinate real symmetric", "0 0 0\n"),
        lambda: _graphml('<node id="a"/><node id="b"/><edge source="a" target="b"><port/></edge>'),
        lambda: _graphml('<node id="a"><port name="p"/></node><node id="b"/><edge source="a" target="b"/>'),
        lambda: _graphml('<node id="&j;"/>', _ENTITIES + "]>"),
        lambda: _graphml('<node id="a"/>' * 2 + "<graph>" * 10_000),
        lambda: (".gexf", _graphml("", _ENTITIES + "]>")[1]),
        lambda: (".gexf", b"<gexf><graph>" + b"<nodes><node>" * 20_000),
        lambda: (".net", b"*Vertices 999999999\n*Edges\n1 2\n"),
        lambda: (".net", b"*Vertices 3\n" + b"*Edges\n1 2\n" * 20_000),
        lambda: (".net", ("*Vertices " + "9" * 5000).encode()),
        lambda: (".net", b'*Vertices 2\n1 "' + b'"' * 100_000 + b"\n*Matrix\n0 1\n"),
        lambda: (".adjlist", b"a" * 200_000 + b" b" * 100_000),
        lambda: (".json", b'{"nodes": ' + b"[" * 100_000),
        lambda: (".json", b'{"nodes": [{"id": ' + b"9" * 5000 + b'}], "links": []}'),
        lambda: (".json", json.dumps({"nodes": [{"id": i, f"a{i}": i} for i in range(3000)], "links": []}).encode()),
        lambda: (".csv", b'"' + b"a\n" * 100_000),
        lambda: (".csv", b'"a",b\n' + b'"' * 100_001 + b",c\n"),
        lambda: (".csv", b"a,b,length\n1,2,1e-320\n2,3,1e308\n"),
        lambda: (".gml", b"graph [ " + b"node [ id 1 " * 5000 + b"]" * 5001),
        lambda: (".gml", b"graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 weight -1 ] ]"),
        lambda: (".gml", ("graph [ node [ id " + "9" * 5000 + " ] ]").encode()),
        lambda: (".csv", ("9" * 4400 + ",1\n2,3\n").encode()),
        lambda: (".csv", b"1,2\n" * 3),
        lambda: (".csv", b"1,1\n"),
        lambda: (".csv", ("a," + SCRIPT + "\n").encode()),
        lambda: (".csv", b"1,2,1e308\n2,3,1e308\n1,3,1e-320\n"),
        lambda: (".csv", "α,β\nβ,γ\n".encode()),
    ],
    "labels": [
        lambda: (".csv", b"1,1e308\n2,-1e308\n"),
        lambda: (".csv", b""),
        lambda: (".csv", b"1,1\n" * 5),
        lambda: (".csv", b"\xff\xfe\x00"),
        lambda: (".csv.gz", _bomb()),
        lambda: (".csv", b'vertex,value,"note\n1,2,"x'),
        lambda: (".csv", (",".join(f"c{i}" for i in range(20_000)) + "\n" + "1," * 19_999 + "1\n").encode()),
        lambda: (".csv", b"vertex,value\n1,\n2,NA\n"),
    ],
    "points": [
        lambda: (".txt", b"1 1e308\n-1e308 2\n"),
        lambda: (".txt", b"1 1\n" * 9),
        lambda: (".txt", b"nan\n"),
        lambda: (".txt", b"1e-320\n0\n"),
    ],
    "spectrum": [
        lambda: (".txt", b"1 1e300\n"),
        lambda: (".txt", b"1e308\n1e308\n"),
        lambda: (".txt", b"1e-320 1e300\n"),
        lambda: (".txt", b"0\n0\n"),
        lambda: (".txt", b"1 nan\n"),
        lambda: (".txt", b"-1\n"),
        lambda: (".txt", b"1 0.5\n"),
    ],
    "store": [
        lambda: (".sqlite", b""),
        lambda: (".sqlite", b"SQLite format 3\0" + b"\0" * 200),
        lambda: (".sqlite", b"not a store"),
    ],
    "saved": [
        lambda: (".json", b"[" * 200_000),
        lambda: (".json", b'{"schema":' * 100_000),
        lambda: (".json", b'{"schema": 3, "curve": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
        lambda: (".json", b'{"schema": ' + b"9" * 5000 + b"}"),
        lambda: (".json", b"null"),
        lambda: (".json", b'"' + b"a" * 1000),
        lambda: (".json", b"\xff\xfe{}"),
    ],
}  # fmt: skip


def spoil_store(rng: Rng, content: bytes, path: Path) -> bytes:
    """Damage what a store holds: bytes of the file, or numbers in its records."""
    if rng.random() < 0.6:
        return spoil_bytes(rng, content)
    path.write_bytes(content)
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT rowid, data FROM results").fetchall()
        for rowid, data in rng.sample(rows, min(len(rows), rng.choice((1, 2)))):
            number = rng.choice((b"\xff" * 8, b"\x7f" * 8, b"\0" * 8, rng.randbytes(8)))
            at = 8 * rng.randrange(max(1, len(data) // 8))
            value: Any = rng.choice((data[:at] + number + data[at + 8 :], data[:-1], data + b"\0" * 8, b"", "text", 7))
            connection.execute("UPDATE results SET data = ? WHERE rowid = ?", (value, rowid))
        connection.execute("PRAGMA journal_mode=DELETE")
        connection.commit()
    return path.read_bytes()


def make(kind: str, rng: Rng, templates: Mapping[str, list[bytes]], related: Any = None) -> File:
    """Return a file of a kind: mostly sound, often damaged, sometimes hostile.

    ``related`` are the names of the vertices for labels, and the names of the columns for tables.
    """
    state = rng.choices(("sound", "spoilt", "cells", "hostile"), (60, 12, 20, 8))[0]
    if state == "hostile":
        return rng.choice(HOSTILE[kind])()
    damage = state == "cells"
    if kind == "table":
        records = table(rng, related or ("x", "z", "y"))
        if damage:
            spoil_records(rng, records)
        file = table_file(rng, records)
    elif kind == "graph":
        file = graph_file(rng, related or graph(rng), damage)
    elif kind == "labels":
        file = labels_file(rng, related or ["0", "1"], damage)
    elif kind in ("points", "spectrum"):
        columns = rng.choice((1, 1, 2, 3 if kind == "points" else 2))
        file = numbers_file(rng, columns, damage, positive=kind == "spectrum")
    else:
        content = rng.choice(templates[kind])
        file = (
            ".json" if kind == "saved" else ".sqlite",
            spoil_json(rng, content) if damage and kind == "saved" else content,
        )
    return (file[0], spoil_bytes(rng, file[1])) if state == "spoilt" else file
