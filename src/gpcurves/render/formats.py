"""The one table of output formats: a suffix, and the function that turns a result into the content of a file.

A new format is one function::

    @output_format(".md")
    def markdown(view: View) -> bytes:
        return view.to_frame().to_markdown().encode()

It then works wherever results are saved: ``CurveSet.save("curves.md")`` and ``--out curves.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpcurves.errors import InputError, check_name
from gpcurves.numerics.files import check_writable, write_complete
from gpcurves.render.views import View, view_class, view_of

Write = Callable[[View], bytes]


@dataclass(frozen=True)
class OutputFormat:
    """A way to write results: the function, and which of table, data, picture and page it needs a result to have."""

    write: Write
    needs: str


FORMATS: dict[str, OutputFormat] = {}  # all formats by suffix


def output_format(suffix: str, needs: str = "table") -> Callable[[Write], Write]:
    """Enter a function into the table of formats.

    The function takes the view of a result, which has ``to_frame()``, ``to_json()``, ``scene()``, ``page()`` and the
    ``result`` itself, and returns the content of a file.
    """

    def enter(write: Write) -> Write:
        FORMATS[suffix] = OutputFormat(write, needs)
        return write

    return enter


output_format(".csv")(lambda view: view.to_csv().encode())
output_format(".json", needs="data")(lambda view: view.to_json().encode())
output_format(".png", needs="picture")(lambda view: view.draw().to_bytes("png"))
output_format(".svg", needs="picture")(lambda view: view.draw().to_bytes("svg"))
output_format(".html", needs="page")(lambda view: view.page().encode())


def suffixes(kind: type | None = None) -> tuple[str, ...]:
    """Return the suffixes of all formats, or of those that a kind of result has."""
    offered = None if kind is None else view_class(kind).offers
    return tuple(suffix for suffix, form in FORMATS.items() if offered is None or form.needs in offered)


def list_suffixes(kind: type | None = None) -> str:
    """Return the suffixes for a sentence: ".csv, .json or .png"."""
    *most, last = suffixes(kind)
    return f"{', '.join(most)} or {last}" if most else last


def check_output(path: Path, kind: type | None = None) -> None:
    """Refuse an output that cannot be written before anything is computed; ``kind`` is the type of the result."""
    known, suffix = suffixes(kind), path.suffix.lower()
    if not suffix:
        raise InputError(f"the output needs a suffix that says what to write ({', '.join(known)}), got {path}")
    check_name("output format", suffix, known)
    check_writable(path)


def render(result: Any, suffix: str, **options: Any) -> bytes:
    """Return a result in the format with this suffix."""
    return FORMATS[suffix].write(view_of(result, **options))


def save(result: Any, path: str | Path, **options: Any) -> None:
    """Write a result in the format that the suffix names, completely or not at all."""
    target = Path(path)
    check_output(target, type(result))
    write_complete(target, render(result, target.suffix.lower(), **options))
