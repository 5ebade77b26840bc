"""``gpcurves methods``: the list of methods as a table."""

from __future__ import annotations

import json
import shutil
import textwrap

import click

from gpcurves.cli.options import Command, Given


@click.command(cls=Command)
@click.option("--json", "as_json", is_flag=True, help="Write the list as JSON.")
@click.option("--quiet", "-q", is_flag=True, help="Names only.")
def methods(given: Given) -> None:
    """List the methods: what each computes, its guarantee, its requirements, its options and its source.

    \b
    Example:
      gpcurves methods
    """
    from gpcurves.methods import METHODS
    from gpcurves.numerics.parameters import parameters_of

    options = {name: [each for each in parameters_of(m.Options) if each.flag] for name, m in METHODS.items()}
    if given["as_json"]:
        keys = ("name", "title", "promise", "source", "needs", "axes", "integers", "misspecified", "random")
        rows = [
            {key: getattr(method, key) for key in keys}
            | {"kind": method.kind.value, "scope": method.scope.value, "quantities": list(method.quantities)}
            | {"options": {each.name: each.help for each in options[name]}}
            for name, method in METHODS.items()
        ]
        click.echo(json.dumps(rows, indent=1))
        return
    width = min(110, max(60, shutil.get_terminal_size((100, 24)).columns))
    for name, method in METHODS.items():
        if given["quiet"]:
            click.echo(name)
            continue
        click.echo(click.style(f"{name:<10} ", bold=True) + f"{method.title}: {method.relation}")
        details = [method.promise, f"needs {method.needs}" if method.needs else "", method.source]
        details += [f"quantities: {', '.join(method.quantities)}"] if len(method.quantities) > 1 else []
        details += [f"options: {', '.join('--' + each.flag for each in options[name])}"] if options[name] else []
        for detail in filter(None, details):
            click.echo(textwrap.fill(detail, width, initial_indent=" " * 11, subsequent_indent=" " * 13))
