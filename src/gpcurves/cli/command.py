"""What a command is made of: options in sections, made when the command is called, and what was given to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

if TYPE_CHECKING:
    from gpcurves.numerics.parameters import Parameter

FILE = click.Path(path_type=Path)
Owners = Mapping[str, "Parameter"]
"""The pieces or methods that take an option, by name, each with its own parameter."""


class Option(click.Option):
    """An option, the section of the help that lists it, and what takes it.

    Attributes
    ----------
    section
        Heading in the help.
    group
        What the option sets parameters of, such as "kernel"; empty for options of the command itself.
    owners
        Who of the group takes it.
    """

    def __init__(
        self, *names: str, section: str = "Output", group: str = "", owners: Owners | None = None, **settings: Any
    ) -> None:
        super().__init__(names, **settings)
        self.section, self.group, self.owners = section, group, owners or {}

    @property
    def flag(self) -> str:
        """The option as it is written on the command line."""
        return self.opts[0]


class Command(click.Command):
    """A command whose function takes a `Given`; options may be made when it is called, and are listed in sections."""

    def __init__(self, *args: Any, options: Callable[[], list[click.Parameter]] | None = None, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.make_options = options

    def make_context(self, *args: Any, **settings: Any) -> click.Context:
        """Make the options before the command line is read."""
        if self.make_options is not None:
            self.params = self.make_options()
        return super().make_context(*args, **settings)

    def invoke(self, ctx: click.Context) -> Any:
        """Call the function of the command with what was given."""
        assert self.callback is not None
        return self.callback(Given(ctx))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the options under the headings of their sections."""
        sections: dict[str, list[tuple[str, str]]] = {}
        usual = "Options" if self.make_options is None else "Output"
        for each in self.get_params(ctx):
            if isinstance(each, click.Option) and (record := each.get_help_record(ctx)) is not None:
                sections.setdefault(getattr(each, "section", usual), []).append(record)
        for heading, records in sections.items():
            with formatter.section(heading):
                formatter.write_dl(records)


@dataclass(frozen=True)
class Given:
    """What a command was called with."""

    context: click.Context
    used: set[str] = field(default_factory=set)
    """Options of a group that are used up, and no longer belong to it."""

    def __getitem__(self, name: str) -> Any:
        return self.context.params[name]

    def has(self, name: str) -> bool:
        """Tell whether an option is on the command line; a default does not count."""
        return self.context.get_parameter_source(name) is ParameterSource.COMMANDLINE

    def take(self, name: str) -> Any:
        """Return the text of an option of a group that is used by the command itself; None if it is not given."""
        self.used.add(name)
        return self.context.params.get(name)

    def options(self, group: str) -> list[Option]:
        """Return the options that set parameters of a group, given or not."""
        return [each for each in self.context.command.params if isinstance(each, Option) and each.group == group]

    def of(self, group: str) -> list[tuple[Option, Any]]:
        """Return the options of a group that are on the command line, each with its text."""
        names = [(each, str(each.name)) for each in self.options(group)]
        return [(each, self[name]) for each, name in names if self.has(name) and name not in self.used]


def run_options() -> list[Option]:
    """Return the options that say how random methods run."""
    section = "Running"
    return [
        Option("--rng", type=int, default=0, section=section, metavar="SEED", help="Seed of random numbers.  [0]"),
        Option(
            "--workers",
            section=section,
            metavar="N|ADDRESS",
            help="Local processes, or tcp://HOST:PORT of a Dask scheduler.  [1]",
        ),
        Option(
            "--store",
            section=section,
            type=FILE,
            metavar="FILE",
            help="SQLite file that keeps what is finished: the same command goes on from there.",
        ),
    ]


def output_options(kind: type) -> list[Option]:
    """Return the options that say where results of a type go."""
    from gpcurves.render.formats import list_suffixes, suffixes

    options = [
        Option("--out", type=FILE, metavar="FILE", help=f"Write a {list_suffixes(kind)} file."),
        Option("--quiet", "-q", is_flag=True, help="Suppress progress and messages."),
    ]
    if ".json" in suffixes(kind):
        options.insert(1, Option("--json", "as_json", is_flag=True, help="Write JSON instead of text to stdout."))
    return options


def names_of(options: Sequence[click.Parameter]) -> set[str]:
    """Return the names that generated options must not use: those of other options, and of what chooses pieces."""
    chosen = {f"--{name}" for name in ("kernel", "inputs", "likelihood", "teacher-kernel", "teacher-noise", "help")}
    return {name for each in options for name in each.opts} | chosen
