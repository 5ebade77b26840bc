"""``gpcurves figures``: every figure of the papers, and what the papers say about them."""

from __future__ import annotations

import shutil
import sys
import textwrap
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpcurves.errors import InputError, unknown_name

if TYPE_CHECKING:
    from gpcurves.papers import Claim

_STORE = "figures.sqlite"


@click.command()
@click.argument("names", nargs=-1)
@click.option("--out", type=click.Path(path_type=Path), default=Path(), help="Folder for the files.  [.]")
@click.option("--quick", is_flag=True, help="Fewer data sets: noisier pictures in a fraction of the time.")
@click.option("--again", is_flag=True, help="With 'all': also draw what is finished already.")
@click.option(
    "--workers", default="1", show_default=True, help="Local processes, or tcp://HOST:PORT of a Dask scheduler."
)
@click.option("--quiet", "-q", is_flag=True, help="Suppress progress and messages.")
def figures(names: tuple[str, ...], out: Path, quick: bool, again: bool, workers: str, quiet: bool) -> int | None:
    """Draw figures of the papers and check what their text says about them.

    Without NAMES the figures are listed. Each figure NAME becomes NAME.png, NAME.svg, NAME.csv with the numbers, and
    NAME.claims.csv. 'all' draws all of them, and writes claims.csv and the page index.html besides; what is finished is
    left as it is, so that a run that was stopped goes on. Claims go to stdout. The exit code is 1 if one does not hold.

    \b
    Examples:
      gpcurves figures
      gpcurves figures sollich2002-4
      gpcurves figures sollich1999-1a sollich1999-1b --quick --out pictures
      gpcurves figures all --out pictures --workers 2
    """
    from gpcurves.papers import FIGURES
    from gpcurves.papers.folder import make_folder, save_gallery

    if not names:
        _list()
        return None
    everything = "all" in names
    if again and not everything:
        raise InputError("--again belongs to 'all': a figure that is named is always drawn")
    for name in () if everything else names:
        if name not in FIGURES:
            raise unknown_name("figure", name, ["all", *FIGURES])
    folder = make_folder(out)
    chosen = list(FIGURES) if everything else list(dict.fromkeys(names))
    store = folder / _STORE if everything else None
    found: dict[str, tuple[Claim, ...]] = {}
    try:
        for name in chosen:
            place = f"[{len(found) + 1}/{len(chosen)}] "
            found[name] = _one(name, folder, quick, workers, store, quiet, place, skip=everything and not again)
    except KeyboardInterrupt:
        kept = f"; what is finished is kept in {folder}: run the same command again to go on" if everything else ""
        click.echo(f"gpcurves: interrupted{kept}", err=True)
        return 130
    if everything:
        save_gallery(found, folder)
        _forget(folder / _STORE)
    return _summary(found, folder, everything)


def _list() -> None:
    from gpcurves.papers import FIGURES

    paper = ""
    for entry in FIGURES.values():
        if entry.paper != paper:
            paper = entry.paper
            click.echo(click.style(paper, bold=True))
        click.echo(f"  {entry.name:<16}{entry.title}")


def _one(
    name: str, folder: Path, quick: bool, workers: str, store: Path | None, quiet: bool, place: str, *, skip: bool
) -> tuple[Claim, ...]:
    """Draw one figure, or find it finished; print its claims."""
    from gpcurves.papers import FIGURES, draw
    from gpcurves.papers.folder import read_finished, save

    claims = read_finished(name, folder, quick=quick) if skip else None
    if claims is None:
        if not quiet:
            click.echo(f"{place}{name}: {FIGURES[name].title}", err=True)
        start = time.monotonic()
        shown = not quiet and sys.stderr.isatty()
        drawn = draw(name, quick=quick, workers=workers, store=store, progress=shown)
        save(name, drawn, folder, quick=quick)
        claims = drawn.claims
        if not quiet:
            click.echo(f"{place}wrote {folder / name}.png in {time.monotonic() - start:.1f} s", err=True)
    elif not quiet:
        click.echo(f"{place}{name}: finished already", err=True)
    click.echo(_table(name, claims))
    return claims


def _forget(store: Path) -> None:
    """Remove the store when every figure is finished, unless it is somebody else's file."""
    from gpcurves.montecarlo.store import Store

    if store.exists():
        Store(store).close()
        store.unlink()


def _table(name: str, claims: Iterable[Claim]) -> str:
    """Return the claims of a figure as text."""
    width = min(110, max(60, shutil.get_terminal_size((100, 24)).columns))
    lines = [name]
    for claim in claims:
        lines += textwrap.wrap(
            claim.text, width, initial_indent="  holds  " if claim.holds else "  FAILS  ", subsequent_indent=" " * 9
        )
        lines.append(f"{'':9}expected {claim.expected}; found {claim.found}")
        lines += textwrap.wrap(claim.note, width, initial_indent=" " * 9, subsequent_indent=" " * 9)
    return "\n".join(lines) + "\n"


def _summary(found: dict[str, tuple[Claim, ...]], folder: Path, everything: bool) -> int:
    claims = [claim for each in found.values() for claim in each]
    failed = [name for name, each in found.items() if not all(claim.holds for claim in each)]
    holding = sum(claim.holds for claim in claims)
    click.echo(
        f"{holding} of {len(claims)} claims about {len(found)} figures hold; the files are in {folder.resolve()}"
    )
    if everything:
        click.echo(f"open {folder / 'index.html'} to see them all")
    if failed:
        click.echo(f"gpcurves: claims fail about {', '.join(failed)}", err=True)
    return 1 if failed else 0
