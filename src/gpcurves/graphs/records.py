"""Text files of records: the fields of each line, or of each row of quoted CSV, with the line that it begins in."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from gpcurves.errors import InputError
from gpcurves.numerics.files import read_bytes
from gpcurves.numerics.validation import parse_float

_COMMENTS = ("#", "%", "//")
_SEPARATORS = ("\t", ";", ",")
_QUOTED = re.compile(r'"[^"]*"')
_FIELD = re.compile(r'"((?:[^"]|"")*)"(?!\S)|(\S+)')  # of a line whose fields are separated by blanks
_DECIMAL_OR_NOT = re.compile(r"[^\s,;]+[^\S\t]+[^\s,;]+[^\S\t]+[+-]?\d+,\d+")  # as in: a b 0,5
_MISSING = frozenset(["", "na", "n/a", "n.a.", "nan", "-nan", "<na>", "null", "none", "?", "-", "--", "#n/a"])


@dataclass(frozen=True)
class Records:
    """The rows of a file, the number of the line in which each begins, and what separates fields (None for blanks)."""

    path: Path
    rows: list[list[str]]
    lines: Sequence[int]
    separator: str | None

    @cached_property
    def decimal_commas(self) -> bool:
        """Whether numbers have decimal commas: some do, none has a point, and commas do not separate fields."""
        if self.separator == ",":
            return False
        cells = [cell for row in self.rows for cell in row if "," in cell or "." in cell]
        marked = any("," in cell and is_number(cell.replace(",", ".", 1)) for cell in cells)
        return marked and not any("." in cell and is_number(cell) for cell in cells)

    def number(self, field: str) -> float:
        """Return the number in a field; raise ValueError if there is none."""
        return parse_float(field.replace(",", ".", 1) if "," in field and self.decimal_commas else field)

    def is_number(self, field: str) -> bool:
        """Tell whether a field is a number, finite or not."""
        try:
            self.number(field)
        except ValueError:
            return False
        return True

    def quote(self, row: int) -> str:
        """Return a row as it may be shown in a sentence."""
        return repr(shorten((self.separator or " ").join(self.rows[row])))

    def where(self, row: int) -> str:
        """Say which line a row is."""
        return f"{self.path}, line {self.lines[row]}"


def read_records(path: Path, parsed: float) -> Records:
    """Return the records of a text file; reading it takes ``parsed`` times its size."""
    return split_records(path, decode(path, read_bytes(path, parsed)))


def decode(path: Path, content: bytes) -> str:
    """Return the text that a file holds."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"cannot read {path}: it is not a text file") from error
    if "\0" in text:
        raise InputError(f"cannot read {path}: it is not a text file")
    return text


def split_records(path: Path, text: str) -> Records:
    """Return the records of a text; comments and blank lines are skipped.

    Fields are separated by tabs, semicolons, commas or blanks, whichever is found first in the first line with more than one
    field. A field between quotation marks may hold separators, line breaks and, doubled, quotation marks.
    """
    content = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    separator = _find_separator(path, content)
    if '"' in text:
        numbered = list(_split_quoted(path, content, separator))
        rows, numbers = [fields for _, fields in numbered], [line for line, _ in numbered]
    else:
        kept = [line.strip() for line in content]
        numbers = [number for number, line in enumerate(kept, start=1) if line and not line.startswith(_COMMENTS)]
        if separator == "\t":
            kept = content  # tabs at the ends of a line are empty fields
        kept = [kept[number - 1] for number in numbers]
        if " #" in text or "\t#" in text:
            kept = [_cut_comment(path, number, line, separator) for number, line in zip(numbers, kept, strict=True)]
        if separator is None:
            return Records(path, [line.split() for line in kept], numbers, None)
        rows = [[field.strip() for field in line.split(separator)] for line in kept]
    if separator == "\t" and all(len(row) > 1 and not row[-1] for row in rows):
        rows = [row[:-1] for row in rows]  # a tab ends every line
    return Records(path, rows, numbers, separator)


def _find_separator(path: Path, content: Iterable[str]) -> str | None:
    for line in content:
        plain = _QUOTED.sub('""', line.strip())  # what stands between quotation marks separates nothing
        if not plain or plain.startswith(_COMMENTS):
            continue
        said = _before_comment(plain)
        if _DECIMAL_OR_NOT.fullmatch(said):
            raise InputError(
                f"{path}: in {shorten(said)!r} the comma may be a separator or a decimal mark: write decimal "
                "points, or separate fields by semicolons"
            )
        for mark in _SEPARATORS:
            if mark in said:
                return mark
        # A separator after # may be part of a comment, or separate a name with # from another: later lines tell.
        if len(said.split(maxsplit=1)) > 1 and not any(mark in plain for mark in _SEPARATORS):
            return None
    return None


def _before_comment(line: str) -> str:
    return re.split(r"\s#", line, maxsplit=1)[0].rstrip()


def _cut_comment(path: Path, number: int, line: str, separator: str | None) -> str:
    """Return a line without a comment at its end; among names that may have blanks, nobody can tell one from a name."""
    if separator is None:
        return _before_comment(line)
    if " #" in line or "\t#" in line:
        raise InputError(
            f"{path}, line {number}: a blank and # may begin a comment or belong to a name: remove the comment, "
            "or put the name between quotation marks"
        )
    return line


def _split_quoted(path: Path, content: Sequence[str], separator: str | None) -> Iterator[tuple[int, list[str]]]:
    """Yield the line and the fields of each record of a text with quotation marks."""
    if separator is None:
        for number, line in enumerate(map(str.strip, content), start=1):
            if line and not line.startswith(_COMMENTS):
                fields = [quoted.replace('""', '"') or plain for quoted, plain in _FIELD.findall(line)]
                end = next((k for k, field in enumerate(fields) if k and field.startswith("#")), len(fields))
                yield number, fields[:end]
        return
    at, within, start = 0, False, 1

    def lines() -> Iterator[str]:
        nonlocal at, within, start
        for at, line in enumerate(content, start=1):
            if not within:
                start = at
                if not line.strip() or line.lstrip().startswith(_COMMENTS):
                    continue
                if '"' not in line:
                    line = _cut_comment(path, at, line, separator)
            within = True  # until the reader has a whole record
            yield line + "\n"

    try:
        for fields in csv.reader(lines(), delimiter=separator, skipinitialspace=True, strict=True):
            yield start, [field.strip() for field in fields]
            within = False
    except csv.Error as error:
        reason = str(error).replace("unexpected end of data", "a quotation mark is never closed")
        raise InputError(f"{path}, line {start}: cannot read the record that begins here: {reason}") from error


def is_number(field: str) -> bool:
    """Tell whether a field is a number, finite or not."""
    try:
        parse_float(field)
    except ValueError:
        return False
    return True


def is_missing(field: str) -> bool:
    """Tell whether a field stands for no value."""
    return field.lower() in _MISSING


def shorten(text: str, most: int = 60) -> str:
    """Return a text as it may be shown in a sentence."""
    return text if len(text) <= most else text[: most - 1] + "…"


def check_header(path: Path, names: Sequence[str]) -> None:
    """Refuse columns of the same name."""
    seen: set[str] = set()
    for name in names:
        if name and name in seen:
            raise InputError(f"{path} has more than one column named {name!r}: names must differ")
        seen.add(name)


def find_column(path: Path, names: Sequence[str], wanted: str) -> int:
    """Return the position of a column; capitals count only if names differ by them alone."""
    for fold in (str, str.casefold):
        places = [k for k, name in enumerate(names) if fold(name) == fold(wanted)]
        if len(places) == 1:
            return places[0]
    raise InputError(f"{path} has no column {wanted!r}: its columns are {list_names(names)}")


def list_names(names: Sequence[str]) -> str:
    """List names in a sentence, the first few of many."""
    listed = [repr(shorten(name, 40)) for name in names[:8]]
    return ", ".join([*listed, f"and {len(names) - 8:,} more"] if len(names) > 8 else listed)
