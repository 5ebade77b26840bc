"""``gpcurves figures``: every figure of the papers, and what the papers say about them."""

from __future__ import annotations

import shutil
import sys
import textwrap
import time
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import Any

import click

from gpcurves import papers
from gpcurves.cli.options import Command, Given
from gpcurves.cli.streams import tell
from gpcurves.errors import InputError, check_name
from gpcurves.montecarlo.store import Store
from gpcurves.montecarlo.workers import check_workers
from gpcurves.papers import FIGURES, Claim
from gpcurves.papers.folder import make_folder, read_finished, save, save_gallery


@click.command(cls=Command)
@click.argument("names", nargs=-1)
@click.option("--out", type=click.Path(path_type=Path), help="Folder for the files.  [.]")
@click.option("--quick", is_flag=True, help="Fewer data sets: noisier pictures in a fraction of the time.")
@click.option("--again", is_flag=True, help="With 'all': also redraw finished figures.")
@click.option(
    "--workers", default="1", show_default=True, help="Local processes, or tcp://HOST:PORT of a Dask scheduler."
)
@click.option("--quiet", "-q", is_flag=True, help="Suppress progress and messages.")
def figures(given: Given) -> int | None:
    """Draw figures of the papers and check what their text says about them.

    Without NAMES the figures are listed. Each figure NAME becomes NAME.png, NAME.svg, NAME.csv with the numbers, and
    NAME.claims.csv. 'all' draws all of them, and also writes claims.csv and the page index.html. It keeps finished figures,
    so that an interrupted run resumes. Claims go to stdout. The exit code is 1 if one does not hold.

    \b
    Examples:
      gpcurves figures
      gpcurves figures sollich2002-4
      gpcurves figures sollich1999-1a sollich1999-1b --quick --out pictures
      gpcurves figures all --out pictures --workers 2
    """
    names, again, quick, quiet = (given[name] for name in ("names", "again", "quick", "quiet"))
    if not names:
        for name in ("out", "quick", "again", "workers"):
            if given.has(name):
                raise InputError(f"--{name} needs figures to draw: name some, or 'all'")
        for paper, entries in groupby(FIGURES.values(), key=lambda entry: entry.paper):
            listed = [f"  {entry.name:<16}{entry.title}" for entry in entries]
            click.echo("\n".join([click.style(paper, bold=True), *listed]))
        return None
    everything = "all" in names
    if again and not everything:
        raise InputError("--again belongs to 'all': a figure that is named is always drawn")
    for name in names:
        check_name("figure", name, ["all", *FIGURES])
    check_workers(given["workers"])
    folder = make_folder(given["out"] or Path())
    store = folder / "figures.sqlite" if everything else None
    chosen = list(FIGURES) if everything else list(dict.fromkeys(names))
    running: dict[str, Any] = {
        "workers": given["workers"],
        "store": store,
        "progress": not quiet and sys.stderr.isatty(),
    }
    by_figure: dict[str, tuple[Claim, ...]] = {}

    def say(words: str) -> None:
        if not quiet:
            tell(f"[{len(by_figure) + 1}/{len(chosen)}] {words}")

    try:
        for name in chosen:
            claims = read_finished(name, folder, quick=quick) if everything and not again else None
            if claims is None:
                say(f"{name}: {FIGURES[name].title}")
                start = time.monotonic()
                drawn = papers.draw(name, quick=quick, **running)
                save(name, drawn, folder, quick=quick)
                claims = drawn.claims
                say(f"wrote {folder / name}.png in {time.monotonic() - start:.1f} s")
            else:
                say(f"{name}: finished already")
            click.echo(_describe(name, claims))
            by_figure[name] = claims
    except KeyboardInterrupt:
        kept = f"; finished figures are kept in {folder}: run the same command again to resume" if everything else ""
        tell(f"gpcurves: interrupted{kept}")
        return 130
    if store is not None:
        save_gallery(by_figure, folder)
        if store.exists():  # every figure is finished; opening it makes sure that it is not somebody else's file
            Store(store).close()
            store.unlink()
    return _summarise(by_figure, folder, everything)


def _describe(name: str, claims: Iterable[Claim]) -> str:
    """Return the claims of a figure as text."""
    width = min(110, max(60, shutil.get_terminal_size((100, 24)).columns))
    lines = [name]
    for claim in claims:
        first = "  holds  " if claim.holds else "  FAILS  "
        lines += textwrap.wrap(claim.text, width, initial_indent=first, subsequent_indent=" " * 9)
        lines.append(f"{'':9}expected {claim.expected}; found {claim.found}")
        lines += textwrap.wrap(claim.note, width, initial_indent=" " * 9, subsequent_indent=" " * 9)
    return "\n".join(lines) + "\n"


def _summarise(by_figure: dict[str, tuple[Claim, ...]], folder: Path, everything: bool) -> int:
    holds = [claim.holds for claims in by_figure.values() for claim in claims]
    failed = [name for name, claims in by_figure.items() if not all(claim.holds for claim in claims)]
    about = f"{sum(holds)} of {len(holds)} claims about {len(by_figure)} figures hold"
    click.echo(f"{about}; the files are in {folder.resolve()}")
    if everything:
        click.echo(f"open {folder / 'index.html'} to see them all")
    if failed:
        tell(f"gpcurves: claims fail about {', '.join(failed)}")
    return 1 if failed else 0
