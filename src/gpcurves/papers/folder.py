"""A folder of finished figures: the files of each, which of them are there, and the page that shows them all."""

from __future__ import annotations

import csv
import html
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path

from gpcurves._version import __version__
from gpcurves.errors import InputError
from gpcurves.numerics.display import Display
from gpcurves.numerics.files import write_complete
from gpcurves.papers.gallery import FIGURES, Claim, Drawn, Entry
from gpcurves.render.formats import render
from gpcurves.render.page import document

SUFFIXES = (".png", ".svg", ".csv", ".claims.csv")  # pictures, the numbers behind them, and last of all the claims


def make_folder(folder: Path) -> Path:
    """Return the folder, which is made if there is none."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise InputError(f"cannot write to {folder}: it is a file, not a folder") from error
    except OSError as error:
        raise InputError(f"cannot make the folder {folder}: {error.strerror}") from error
    return folder


def save(name: str, drawn: Drawn, folder: Path, *, quick: bool) -> None:
    """Write the pictures, the numbers and the claims of a figure."""
    import pandas as pd

    claims = pd.DataFrame([{"figure": name, **asdict(claim)} for claim in drawn.claims])
    claims = claims.assign(effort="quick" if quick else "full", version=__version__)
    display = Display(None, drawn.figure, {})
    for suffix, result in zip(SUFFIXES, (display, display, drawn.table, claims), strict=True):
        write_complete(folder / f"{name}{suffix}", render(result, suffix.removeprefix(".claims")))


def read_finished(name: str, folder: Path, *, quick: bool) -> tuple[Claim, ...] | None:
    """Return the claims of a figure that is in the folder already, by this version and with at least this effort."""
    if not all((folder / f"{name}{suffix}").is_file() for suffix in SUFFIXES):
        return None
    try:
        with (folder / f"{name}.claims.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        if any(row["version"] != __version__ or row["effort"] not in ("full", *["quick"] * quick) for row in rows):
            return None
        return tuple(
            Claim(row["text"], row["expected"], row["found"], row["holds"] == "True", row["note"]) for row in rows
        )
    except (OSError, KeyError, ValueError):
        return None


def save_gallery(claims: Mapping[str, Iterable[Claim]], folder: Path) -> None:
    """Write ``claims.csv`` with the claims of all these figures, and the page ``index.html`` that shows them."""
    tables = [(folder / f"{name}.claims.csv").read_text(encoding="utf-8") for name in claims]
    head, rows = tables[0].partition("\n")[0], [table.partition("\n")[2] for table in tables]
    parts = ["<h1>Every figure of the papers</h1>"]
    parts.append("<p>Each figure is drawn by the code below it, and what the papers say about it is checked.</p>")
    parts += [section(FIGURES[name], each) for name, each in claims.items()]
    write_complete(folder / "claims.csv", "".join([head + "\n", *rows]).encode())
    write_complete(folder / "index.html", document("Every figure of the papers", parts).encode())


def section(entry: Entry, claims: Iterable[Claim]) -> str:
    """Return the part of the page that shows one figure."""
    rows = [
        f"<tr><td>{'yes' if claim.holds else '<b>no</b>'}</td><td>{html.escape(claim.text)}"
        f"{f'<br><i>{html.escape(claim.note)}</i>' if claim.note else ''}</td>"
        f"<td>{html.escape(claim.expected)}</td><td>{html.escape(claim.found)}</td></tr>"
        for claim in claims
    ]
    name = html.escape(entry.name)
    files = ", ".join(f"<a href='{name}{suffix}'>{suffix[1:]}</a>" for suffix in SUFFIXES)
    return "\n".join(
        [
            f"<h2 id='{name}'>{name}: {html.escape(entry.title)}</h2>",
            f"<p class='problem'>{html.escape(entry.paper)}, Figure {html.escape(entry.number)}. {files}</p>",
            f"<img src='{name}.png' alt='{html.escape(entry.title, quote=True)}' style='max-width: 100%'>",
            f"<p>{html.escape(entry.caption)}</p>",
            "<div class='wide'><table><tr><th>holds</th><th>claim</th><th>expected</th><th>found</th></tr>",
            *rows,
            "</table></div>",
            f"<details><summary>code</summary><pre>{html.escape(entry.code)}</pre></details>",
        ]
    )
