"""The streams of the command line: data to stdout and messages to stderr, whatever state either is in."""

from __future__ import annotations

import io
import os
import sys

import click


def open_streams() -> None:
    """Give the process the streams that whoever started it had closed, and let stdout print every letter.

    Otherwise the next file that is opened, perhaps a store, would become a standard stream, and messages would go there.
    """
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            # writing to what is opened for reading fails: a closed stdout loses results, which must not end as a success
            closed = os.open(os.devnull, os.O_WRONLY if name == "stderr" else os.O_RDONLY)
            setattr(sys, name, os.fdopen(closed, "r" if name == "stdin" else "w"))
    if isinstance(sys.stdout, io.TextIOWrapper):  # letters that the encoding of a terminal lacks are spelt out
        sys.stdout.reconfigure(errors="backslashreplace")


def abandon_stdout() -> None:
    """Point stdout at nothing after writing to it has failed, so that nothing more is tried when the process ends."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError:  # stdout is not a file
        sys.stdout = None


def tell(line: str, *, bold: bool = False) -> None:
    """Print one line for people on stderr; control characters, which file and column names may hold, are spelt out."""
    clean = "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in line)
    click.echo(click.style(clean, bold=True) if bold and sys.stderr.isatty() else clean, err=True)


def echo_data(text: str) -> None:
    """Print data on stdout, and say so if some of it cannot be printed as it is."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError as error:
        tell(f"note: stdout ({encoding}) has no {text[error.start]!r}, which is spelt out; --out FILE writes UTF-8")
    click.echo(text, nl=False)
