"""Options of the command line, made from the parameters that pieces of problems and methods declare.

A kernel, an input distribution, an observation or a method that is registered has its options here without being named
here. They are made when a command is called, so that the list of commands needs nothing heavy.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from gpcurves.cli import parse
from gpcurves.errors import InputError

if TYPE_CHECKING:
    from gpcurves.numerics.parameters import Parameter

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
    """A command whose options are made when it is called, and listed in sections; its function takes a `Given`."""

    def __init__(self, *args: Any, options: Callable[[], list[click.Parameter]], **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.make_options = options

    def make_context(self, *args: Any, **settings: Any) -> click.Context:
        """Make the options before the command line is read."""
        self.params = self.make_options()
        return super().make_context(*args, **settings)

    def invoke(self, ctx: click.Context) -> Any:
        """Call the function of the command with what was given."""
        assert self.callback is not None
        return self.callback(Given(ctx))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the options under the headings of their sections."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for each in self.get_params(ctx):
            if (record := each.get_help_record(ctx)) is not None:
                sections.setdefault(getattr(each, "section", "Output"), []).append(record)
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


def parameter_options(
    group: str,
    members: Mapping[str, Collection[Parameter]],
    taken: set[str],
    *,
    section: str,
    prefix: str = "",
    aliases: Mapping[str, str] | None = None,
) -> list[Option]:
    """Return one option for each parameter of the members of a group, whoever of them takes it.

    Parameters
    ----------
    group, section
        As for `Option`.
    members
        The parameters of each member.
    taken
        Names that are in use; the new ones are added. A parameter whose name is in use gets the group before its name.
    prefix
        What stands before every name.
    aliases
        Further names of some options, which come first.
    """
    owners: dict[str, dict[str, Parameter]] = {}
    for name, parameters in members.items():
        for each in parameters:
            if each.flag and parse.metavar(each.kind) is not None:
                owners.setdefault(each.flag, {})[name] = each
    options = []
    for flag, by in owners.items():
        name = f"--{prefix}{flag}"
        name = f"--{group}-{flag}" if name in taken else name
        names = [f"--{aliases[flag]}", name] if aliases is not None and flag in aliases else [name]
        taken.update(names)
        text = f"True value of --{flag}." if prefix else _explain(by, members)
        kinds = [each.kind for each in by.values()]
        settings: dict[str, Any] = {"metavar": parse.metavar(kinds[0])}
        if all(kind is bool for kind in kinds):
            on = any(each.default is True for each in by.values())
            names[-1] += f"/--no-{names[-1][2:]}" if on else ""
            settings = {"is_flag": True, "default": None}
        dest = f"{group}__{flag}".replace("-", "_")
        options.append(Option(*names, dest, section=section, group=group, owners=by, help=text, **settings))
    return options


def _explain(owners: Owners, everyone: Collection[str]) -> str:
    """Return the help of an option: what it is, who takes it, and the default."""
    meanings: dict[str, list[str]] = {}
    defaults: dict[str, list[str]] = {}
    for name, each in owners.items():
        meaning, _, words = each.help.partition("  [")  # a default in words stands between brackets
        meanings.setdefault(meaning, []).append(name)
        if shown := words.rstrip("]") or _default(each.default):
            defaults.setdefault(shown, []).append(name)
    text = ". ".join(meaning + _whose(names, everyone) for meaning, names in meanings.items()) + "."
    if len(defaults) == 1 and len(next(iter(defaults.values()))) == len(owners):
        return f"{text}  [{next(iter(defaults))}]"
    listed = ", ".join(f"{shown} for {' and '.join(names)}" for shown, names in defaults.items())
    return f"{text}  [{listed}]" if listed else text


def _whose(names: list[str], everyone: Collection[str]) -> str:
    """Say which members take an option, in as few words as possible."""
    others = [name for name in everyone if name not in names]
    if not others:
        return ""
    return f" (all but {', '.join(others)})" if len(others) < len(names) else f" ({', '.join(names)})"


def _default(default: Any) -> str:
    if isinstance(default, bool) or not isinstance(default, int | float | str):
        return ""
    return default if isinstance(default, str) else f"{default:g}"


def read_options(given: Given, group: str, name: str) -> dict[str, Any]:
    """Return the options of a group that were given and that one of its members takes, as its parameters."""
    taken = [(option.flag, text, option.owners[name]) for option, text in given.of(group) if name in option.owners]
    return {own.name: parse.value(flag, text, own.kind) for flag, text, own in taken}


@dataclass(frozen=True)
class Family:
    """Pieces among which one option chooses, and whose parameters further options set.

    Attributes
    ----------
    root
        The class of all of them.
    option
        The option that chooses, without dashes; it names the group of the others.
    default
        Which is taken unless one is chosen; None if one must be.
    section
        Heading in the help.
    without
        Parameters that are not offered.
    """

    root: Any
    option: str
    default: str | None
    section: str
    without: tuple[str, ...] = ()

    @property
    def members(self) -> dict[str, tuple[Parameter, ...]]:
        """The parameters of each piece, by its name."""
        from gpcurves.numerics.parameters import parameters_of

        return {
            name: tuple(each for each in parameters_of(kind) if each.name not in self.without)
            for name, kind in self.root.offered().items()
        }

    def options(self, taken: set[str]) -> list[Option]:
        """Return the option that chooses, and those that set parameters."""
        listed = ", ".join(self.members)
        text = f"{self.root.family.capitalize()}: {listed}." + (f"  [{self.default}]" if self.default else "")
        choose = [Option(f"--{self.option}", section=self.section, metavar="NAME", help=text)]
        taken.add(f"--{self.option}")
        if len(self.members) == 1:  # there is nothing to choose
            choose = []
        return choose + parameter_options(self.option, self.members, taken, section=self.section)

    def teacher_options(self, taken: set[str], section: str) -> list[Option]:
        """Return the same options for the process that the data come from."""
        name = f"teacher-{self.option}"
        taken.add(f"--{name}")
        choose = Option(f"--{name}", section=section, metavar="NAME", help=f"True {self.root.family}.")
        return [choose, *parameter_options(name, self.members, taken, section=section, prefix="teacher-")]

    def name(self, given: Given) -> str:
        """Return the name of the piece that was chosen."""
        chosen = given.context.params.get(self.option) or self.default
        if chosen is None:
            raise InputError(f"--{self.option} is needed: one of {', '.join(self.members)}")
        return str(self.root.named(chosen).name)

    def arguments(self, given: Given, name: str, group: str | None = None) -> dict[str, Any]:
        """Return the parameters of a piece that are on the command line; refuse those that it does not take."""
        group = group or self.option
        for option, _ in given.of(group):
            if name not in option.owners:
                flags = {each.owners[name].name: each.flag for each in given.options(group) if name in each.owners}
                ordered = [flags[each.name] for each in self.members[name] if each.name in flags]
                listed = f"it takes {', '.join(ordered)}" if ordered else "it has no parameters"
                raise InputError(f"the {self.root.family} {name!r} takes no {option.flag}: {listed}")
        return read_options(given, group, name)

    def build(self, given: Given, name: str, arguments: Mapping[str, Any]) -> Any:
        """Return the piece of a name with these parameters; say which are missing."""
        flags = {each.owners[name].name: each.flag for each in given.options(self.option) if name in each.owners}
        for each in self.members[name]:
            if each.required and each.name not in arguments:
                flag = flags.get(each.name, each.name)
                raise InputError(f"{flag} is needed: {each.help[:1].lower()}{each.help[1:]}")
        return self.root.named(name)(**arguments)


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
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="SQLite file that keeps what is finished: the same command goes on from there.",
        ),
    ]


def output_options(kind: type) -> list[Option]:
    """Return the options that say where results of a type go."""
    from gpcurves.render.formats import list_suffixes

    return [
        Option("--out", type=click.Path(path_type=Path), metavar="FILE", help=f"Write a {list_suffixes(kind)} file."),
        Option("--json", "as_json", is_flag=True, help="Write JSON instead of text to stdout."),
        Option("--quiet", "-q", is_flag=True, help="Suppress progress and messages."),
    ]


def names_of(options: Sequence[click.Parameter]) -> set[str]:
    """Return the names that options use, and those of the help."""
    return {name for each in options for name in each.opts} | {"--help", "-h"}
