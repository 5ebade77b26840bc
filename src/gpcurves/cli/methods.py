"""``gpcurves methods``: the list of methods as a table."""

from __future__ import annotations

import shutil
import textwrap

import click


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Write the list as JSON.")
def methods(as_json: bool) -> None:
    """List the methods: what each is, what it promises, what it needs and where it comes from.

    \b
    Example:
      gpcurves methods
    """
    import json

    from gpcurves.api import METHODS

    if as_json:
        keys = ("name", "title", "of", "promise", "source", "needs", "continuous")
        rows = [{key: getattr(m, key) for key in keys} | {"kind": m.kind.value} for m in METHODS.values()]
        click.echo(json.dumps(rows, indent=1))
        return
    width = min(110, max(60, shutil.get_terminal_size((100, 24)).columns))
    for method in METHODS.values():
        click.echo(click.style(f"{method.name:<11}", bold=True) + f"{method.title}: {method.kind.value} of {method.of}")
        details = [method.promise, f"needs {method.needs}" if method.needs else "", method.source]
        for detail in filter(None, details):
            click.echo(textwrap.fill(detail, width, initial_indent=" " * 11, subsequent_indent=" " * 13))
