"""From a file to a table: text with a delimiter, Parquet or Excel, told apart by what the file holds, not by its name."""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from gpcurves.errors import InputError
from gpcurves.tables.cells import MISSING, is_number
from gpcurves.tables.contents import check_claims, expanded_size, read_contents

_DELIMITERS = {"\t": "tabs", ";": "semicolons", ",": "commas", "|": "bars", " ": "blanks"}
_HEAD = 1 << 20  # bytes, and
_SNIFFED = 100  # rows of them, from which delimiter and decimal mark are found
_CONTROL = re.compile("[\x00-\x08\x0e-\x19\x1c-\x1f]")
_LAST_ROW = 1 << 20  # of a sheet, and
_ROWS_AT_ONCE = 64  # of a Parquet file
_LONGEST_CELL = 1 << 17  # bytes; texts with a delimiter have the same limit, that of Python's reader
_FEW_SPANNED = 10_000_000  # cells up to the last one of their row that need not hold anything
_Numbered = tuple[int, list[str]]  # the number of a line, and its cells
_NA_VALUES = sorted({"NaN", *MISSING, *map(str.upper, MISSING), *map(str.title, MISSING)})
_OPTIONS: dict[str, Any] = {"header": 0, "index_col": False, "skipinitialspace": True, "low_memory": False}
_OPTIONS |= {"na_values": _NA_VALUES, "keep_default_na": False}


def read_table(path: str | Path) -> pd.DataFrame:
    """Read a table with a header: CSV or TSV (also gzipped), Parquet, or the first sheet of an Excel workbook.

    Cells that are not plain numbers stay text, for `prepare` to interpret. ``attrs["decimal"]`` is the file's decimal
    mark, ``attrs["steps"]`` what there is to say about the reading.
    """
    path = Path(path)
    data = read_contents(path)
    if data.startswith(b"PAR1"):
        table, steps, decimal = _read_parquet(path, data), ["Read as a Parquet file."], "."
    elif data.startswith(b"PK\x03\x04"):
        table, steps, decimal = _read_excel(path, data), ["Read the first sheet of the workbook."], "."
    elif data.startswith(b"\xd0\xcf\x11\xe0"):
        raise InputError(f"cannot read {path}: it is in an old Excel format, save it as .xlsx or .csv")
    else:
        table, steps, decimal = _read_text(path, data)
    if table.empty:
        raise InputError(f"{path} has a header but no rows")
    table.attrs = {"decimal": decimal, "steps": steps}
    return table


def _read_parquet(path: Path, data: bytes) -> pd.DataFrame:
    try:
        from pyarrow import Table
        from pyarrow.parquet import ParquetFile

        file = ParquetFile(io.BytesIO(data))
        claims = file.metadata
        groups = [claims.row_group(i) for i in range(claims.num_row_groups)]
        rows = max(claims.num_rows, sum(group.num_rows for group in groups))
        check_claims(path, sum(group.total_byte_size for group in groups), rows * claims.num_columns)
        batches, held = [], 0
        for batch in file.iter_batches(_ROWS_AT_ONCE):  # a text that is stored once may fill a million cells
            held += batch.nbytes
            if batch.nbytes > _LONGEST_CELL * max(1, batch.num_rows * batch.num_columns):
                long = f"{batch.nbytes / batch.num_rows / batch.num_columns:,.0f} bytes"
                raise InputError(f"cannot read {path}: its cells hold {long} on average, this is not a table of values")
            check_claims(path, held, 0)
            batches.append(batch)
        table: pd.DataFrame = Table.from_batches(batches, file.schema_arrow).to_pandas()
    except ImportError as error:
        raise InputError(f"reading {path} needs the package pyarrow: pip install pyarrow") from error
    except InputError:
        raise
    except Exception as error:  # whatever a damaged file raises
        raise InputError(f"cannot read {path}: the Parquet file is damaged") from error
    if not isinstance(table.index, pd.RangeIndex):
        table = table.reset_index(allow_duplicates=True)
    table.columns = pd.Index(_check_names(path, [str(name) for name in table.columns]))
    return table


def _read_excel(path: Path, data: bytes) -> pd.DataFrame:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about styles and validations, which are not read
            sheet = _read_sheet(path, data)
    except ImportError as error:
        raise InputError(f"reading {path} needs the package openpyxl: pip install openpyxl") from error
    except InputError:
        raise
    except Exception as error:  # whatever a damaged workbook, or another kind of archive, raises
        raise InputError(f"cannot read {path}: it is an archive, but not a sound Excel workbook") from error
    if sheet.empty:
        raise InputError(f"{path} is empty")
    header, *rows = [["" if pd.isna(cell) else str(cell) for cell in row] for row in sheet[:_SNIFFED].to_numpy()]
    _check_header(path, header, rows)
    table = sheet.iloc[1:].reset_index(drop=True).infer_objects()
    table.columns = pd.Index(_check_names(path, header))
    return table


def _read_sheet(path: Path, data: bytes) -> pd.DataFrame:
    """Return the cells of the first sheet, without empty rows and columns.

    Only cells that there are count: one far away is a column of its own, not a million rows of emptiness.
    """
    from openpyxl import load_workbook

    size = expanded_size(data)
    sheet = load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False).worksheets[0]
    sheet.reset_dimensions()  # which need not be true
    rows: list[dict[int, object]] = []
    columns: set[int] = set()
    spanned = 0
    for number, row in enumerate(sheet.rows):
        spanned += len(row)
        if number > _LAST_ROW or spanned > max(_FEW_SPANNED, size):
            raise InputError(
                f"cannot read {path}: few of its {spanned:,} cells hold a value, remove those far from the table"
            )
        held = {i: _cell_value(cell) for i, cell in enumerate(row) if cell.value not in (None, "")} if row else {}
        if cells := {i: value for i, value in held.items() if value is not None}:
            rows.append(cells)
            columns |= cells.keys()
    check_claims(path, size, len(rows) * len(columns))
    order = sorted(columns)
    return pd.DataFrame([[row.get(i, np.nan) for i in order] for row in rows], dtype=object)


def _cell_value(cell: Any) -> object:
    """Return what a cell holds: a number as an integer if it is one, nothing for an error such as #DIV/0!."""
    if cell.data_type == "e":
        return None
    return int(cell.value) if cell.data_type == "n" and cell.value == int(cell.value) else cell.value


def _read_text(path: Path, data: bytes) -> tuple[pd.DataFrame, list[str], str]:
    encoding = _find_encoding(data)
    head = data[:_HEAD].decode(encoding, errors="ignore")
    if _CONTROL.search(head):
        raise InputError(f"cannot read {path}: it is a binary file, neither text nor Parquet nor Excel")
    if len(data) > _HEAD:
        head = head[: head.rfind("\n") + 1] or head
    delimiter = _find_delimiter(head)
    try:
        lines = _read_first_rows(head, delimiter)
        if not lines:
            raise InputError(f"{path} is empty")
        (_, header), *numbered = lines
        rows = [cells for _, cells in numbered]
        row_names = _has_row_names(header, rows)
        _check_header(path, header, rows)
        names = _check_names(path, ["row names", *header] if row_names else header)
        _check_widths(path, numbered, len(names))
        decimal = "." if delimiter == "," else _find_decimal((cell for cells in rows for cell in cells), delimiter)
        how = {"sep": r"\s+" if delimiter == " " else delimiter, "decimal": decimal, "encoding": encoding}
        everything = _iterate_rows(io.TextIOWrapper(io.BytesIO(data), encoding), delimiter)
        table = _parse_rows(path, data, names, islice(everything, 1, None), how)
    except csv.Error as error:
        raise InputError(f"cannot read {path}: {error}") from error
    marked = ", with decimal commas" if decimal == "," else ""
    steps = [f"Read as text with columns separated by {_DELIMITERS[delimiter]}{marked}."]
    if encoding in ("cp1252", "latin-1"):
        steps.append("The text is not UTF-8; it was read as Western European (Latin-1).")
    if row_names:
        steps.append("The header has one name fewer than the rows have cells: the first cells were taken as row names.")
    return table, steps, decimal


def _parse_rows(path: Path, data: bytes, names: list[str], rows: Iterable[_Numbered], how: Any) -> pd.DataFrame:
    """Read the rows with pandas; only if that fails, or a line may be short, look for the line that is wrong."""
    try:
        table: pd.DataFrame = pd.read_csv(io.BytesIO(data), names=names, **_OPTIONS, **how)
    except pd.errors.ParserError as error:
        if match := re.search(r"EOF inside string starting at row (\d+)", str(error)):
            line = int(match[1]) + 1
            raise InputError(f"{path}: a quotation mark opened near line {line} is never closed") from error
        _check_widths(path, rows, len(names))
        raise InputError(f"cannot read {path}: {str(error).strip()}") from error
    if table.iloc[:, -1].isna().any():
        _check_widths(path, rows, len(names))
    return table


def _find_encoding(data: bytes) -> str:
    """Return the first encoding that reads all of the file; Latin-1 reads everything."""
    candidates = ["utf-16"] if data.startswith((b"\xff\xfe", b"\xfe\xff")) else ["utf-8-sig", "cp1252"]
    for encoding in candidates:
        try:
            data.decode(encoding)
        except UnicodeDecodeError:
            continue
        return encoding
    return "latin-1"


def _iterate_rows(lines: Iterable[str], delimiter: str) -> Iterator[_Numbered]:
    """Yield the number of its first line and the cells of each row that is not blank."""
    if delimiter == " ":
        lines = (" ".join(line.split()) + "\n" for line in lines)
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
    start = 1
    for cells in reader:
        if len(cells) > 1 or (cells and cells[0].strip()):
            yield start, cells
        start = reader.line_num + 1


def _read_first_rows(head: str, delimiter: str) -> list[_Numbered]:
    return list(islice(_iterate_rows(io.StringIO(head, newline=None), delimiter), _SNIFFED))


def _find_delimiter(head: str) -> str:
    """Return the delimiter that splits most lines into as many cells as the header has; blanks if no other does."""

    def merit(delimiter: str) -> tuple[bool, bool, bool, float, int]:
        try:
            header, *rows = [cells for _, cells in _read_first_rows(head, delimiter)] or [[]]
        except csv.Error:  # a cell beyond all bounds
            return False, False, False, 0.0, 0
        width = len(header) + _has_row_names(header, rows)
        share = sum(len(cells) == width for cells in rows) / len(rows) if rows else 1.0
        return width > 1 and share > 0.5, delimiter != " ", width > 1, share, width

    return max(_DELIMITERS, key=merit)


def _has_row_names(header: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Tell whether every row has one cell more than the header, as R writes them."""
    return len(header) > 1 and bool(rows) and all(len(cells) == len(header) + 1 for cells in rows)


def _find_decimal(cells: Iterable[str], delimiter: str) -> str:
    """Return the decimal mark by which more cells are numbers; if that is open, a comma between semicolons."""
    comma = point = undecided = 0
    for cell in cells:
        with_comma, with_point = is_number(cell, ","), is_number(cell, ".")
        comma += with_comma and not with_point
        point += with_point and not with_comma
        undecided += with_comma and with_point and "," in cell
    return "," if comma > point or (comma == point and undecided and delimiter == ";") else "."


def _check_names(path: Path, header: Sequence[str]) -> list[str]:
    names = [name.strip() or f"column {number}" for number, name in enumerate(header, start=1)]
    if not names:
        raise InputError(f"{path} has no columns")
    name, times = Counter(names).most_common(1)[0]
    if times > 1:
        raise InputError(f"{path} has more than one column named {name!r}: names must differ")
    return names


def _check_header(path: Path, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Refuse a first row of data: numbers, or texts that occur again below. Names 0, 1, 2, ... are fine."""
    names = [name.strip() for name in header]
    numbers = [is_number(name, ".") or is_number(name, ",") for name in names]
    if not any(numbers) or names == list(map(str, range(len(names)))):
        return
    below = [{row[i].strip() for row in rows if len(row) == len(names)} for i in range(len(names))]
    if all(number or name in cells for name, number, cells in zip(names, numbers, below, strict=True)):
        raise InputError(f"{path} has no header: its first row holds data ({', '.join(names[:4])}), not column names")


def _check_widths(path: Path, records: Iterable[_Numbered], width: int) -> None:
    for line, cells in records:
        if len(cells) != width:
            raise InputError(f"{path}, line {line}: {width} cells expected, as in the header, got {len(cells)}")
