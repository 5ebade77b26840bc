"""Options of the command line: in sections, made when a command is called from what pieces and methods declare.

A kernel, an input distribution, an observation or a method that is registered has its options here without being named here.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from gpcurves.cli import parse
from gpcurves.cli.streams import tell
from gpcurves.errors import InputError
from gpcurves.numerics.files import is_same_file
from gpcurves.numerics.parameters import Parameter, parameters_of
from gpcurves.render.formats import list_suffixes, suffixes


class File(click.Path):
    """A file of the user's: one that is read, or one that is written, with files of further suffixes ``beside`` it.

    A ``word`` may be given instead, which stands for no file.
    """

    def __init__(self, *, written: bool = False, beside: tuple[str, ...] = (), word: str | None = None) -> None:
        super().__init__(path_type=Path)
        self.written, self.beside, self.word = written, beside, word

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return value if value == self.word else super().convert(value, param, ctx)

    def paths(self, path: Path | str) -> list[Path]:
        """Return all files that a name stands for."""
        if isinstance(path, str):
            return []
        return [path, *(path.with_suffix(suffix) for suffix in self.beside if path.suffix)]


class Integer(click.ParamType):  # type: ignore[type-arg]  # generic in recent versions only
    """An integer in ASCII digits: Python itself reads ``0_5`` as 5, and the digits of every script."""

    name = "integer"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        digits = str(value).strip().removeprefix("-")
        if not (digits.isascii() and digits.isdecimal() and len(digits) <= _MOST_DIGITS):
            self.fail(f"it must be an integer, got {value!r}", param, ctx)
        return int(value)


READ, WRITTEN = File(), File(written=True)
INTEGER = Integer()
_ARGUMENTS = "arguments of gpcurves"  # what was typed after the name of the command
_MOST_DIGITS = 300  # so that integers can be converted to floating point, and do not take long to read
Owners = Mapping[str, Parameter]
"""The pieces or methods that take an option, by name, each with its own parameter."""
Part = click.Parameter | Callable[[set[str]], Sequence[click.Parameter]]
"""An option, or a function that makes options whose names differ from those that are taken, and takes theirs."""
_CHOICES = {
    "--kernel",
    "--inputs",
    "--design",
    "--likelihood",
    "--teacher-kernel",
    "--teacher-noise",
    "--test-inputs",
    "--help",
}
_TEACHER = "Misspecified model: the true process, if it differs from the model (omitted options are as for the model)"


class Option(click.Option):
    """An option: the section of the help that lists it, and who of which group, such as "kernel", takes it as a parameter.

    The group of an option of the command itself is empty.
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

    def __init__(self, *args: Any, parts: Callable[[], Sequence[Part]] | None = None, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.parts, self.fixed = parts, self.params

    def make_context(self, *args: Any, **settings: Any) -> click.Context:
        """Make the options before the command line is read."""
        if self.parts is not None:
            parts = self.parts()  # generated options do not take the names of others, or of what chooses pieces
            taken = {name for part in parts if isinstance(part, click.Parameter) for name in part.opts} | _CHOICES
            made = [[part] if isinstance(part, click.Parameter) else part(taken) for part in parts]
            self.params = [*self.fixed, *(option for options in made for option in options)]
        return super().make_context(*args, **settings)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuse an option that is given twice, of which the first would be ignored."""
        ctx.meta[_ARGUMENTS] = tuple(args)
        _, _, order = self.make_parser(ctx).parse_args(list(args))
        for each in order:
            if isinstance(each, click.Option) and not each.multiple and order.count(each) > 1:
                raise InputError(f"{' or '.join([*each.opts, *each.secondary_opts])} is given twice: give it once")
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Call the function of the command with what was given, unless that would destroy a file."""
        from gpcurves.numerics.announcing import listening

        assert self.callback is not None
        _keep_files_apart(ctx)
        with nullcontext() if ctx.params.get("quiet") else listening(tell):  # what takes long is announced
            return self.callback(Given(ctx))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the options under the headings of their sections."""
        sections: dict[str, list[tuple[str, str]]] = {}
        usual = "Output" if self.parts is not None and not self.fixed else "Options"
        for each in self.get_params(ctx):
            if isinstance(each, click.Option) and (record := each.get_help_record(ctx)) is not None:
                sections.setdefault(getattr(each, "section", usual), []).append(record)
        for heading, records in sections.items():
            with formatter.section(heading):
                formatter.write_dl(records)


def _keep_files_apart(ctx: click.Context) -> None:
    """Refuse to write a file that is read as well, or written twice, whatever names it goes by."""
    files: list[tuple[str, Path, bool]] = []
    for each in ctx.command.params:
        given = ctx.params.get(str(each.name))
        if isinstance(each.type, File) and given is not None:
            name = each.opts[0] if isinstance(each, click.Option) else each.human_readable_name
            files += [(name, path, each.type.written) for path in each.type.paths(given)]
        elif each.metavar == "FILE" and isinstance(given, str):  # a parameter of a piece that may be read from a file
            files.append((each.opts[0], Path(given), False))
    for (name, path, written), (other, source, rewritten) in combinations(files, 2):
        if (written or rewritten) and is_same_file(path, source):
            output, use = (path, other) if written else (source, name)
            raise InputError(f"cannot write {output}: it is the file of {use} as well")


@dataclass(frozen=True)
class Given:
    """What a command was called with."""

    context: click.Context
    used: set[str] = field(default_factory=set)
    """Options of a group that are used up, and no longer belong to it."""

    def __getitem__(self, name: str) -> Any:
        return self.context.params[name]

    @property
    def command_line(self) -> str:
        """The command as it can be typed again."""
        return f"{self.context.command_path} {shlex.join(self.context.meta[_ARGUMENTS])}"

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
    workers = "Local processes, or tcp://HOST:PORT of a Dask scheduler.  [1]"
    store = "SQLite file that keeps finished work: run the same command again to resume."
    return [
        Option("--rng", type=INTEGER, default=0, section=section, metavar="SEED", help="Seed of random numbers.  [0]"),
        Option("--workers", section=section, metavar="N|ADDRESS", help=workers),
        Option("--store", section=section, type=WRITTEN, metavar="FILE", help=store),
    ]


def output_options(kind: type | None = None) -> list[Option]:
    """Return the options that say where results of a type go; without one, of a type that all formats show."""
    options = [
        Option("--out", type=WRITTEN, metavar="FILE", help=f"Write a {list_suffixes(kind)} file."),
        Option("--quiet", "-q", is_flag=True, help="Suppress progress and messages."),
    ]
    if ".json" in suffixes(kind):
        options.insert(1, Option("--json", "as_json", is_flag=True, help="Write JSON instead of text to stdout."))
    return options


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

    A parameter whose name is ``taken`` gets the group before its name; the new names are added to those taken. ``prefix``
    stands before every name, and ``aliases`` are further names of some options, which come first.
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
    listed = "; ".join(f"{shown} for {', '.join(names)}" for shown, names in defaults.items())
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

    ``root`` is the class of all of them. The ``option`` that chooses, without dashes, names the group of the others;
    without a ``default`` one must be chosen. Parameters ``without`` are not offered.
    """

    root: Any
    option: str
    default: str | None
    section: str
    without: tuple[str, ...] = ()

    @property
    def members(self) -> dict[str, tuple[Parameter, ...]]:
        """The parameters of each piece, by its name."""
        return {
            name: tuple(each for each in parameters_of(kind) if each.name not in self.without)
            for name, kind in self.root.offered().items()
        }

    def options(self, taken: set[str]) -> list[Option]:
        """Return the option that chooses, and those that set parameters."""
        listed = ", ".join(self.members)
        text = f"{self.root.family.capitalize()}: {listed}." + (f"  [{self.default}]" if self.default else "")
        choose = Option(f"--{self.option}", section=self.section, metavar="NAME", help=text)
        made = parameter_options(self.option, self.members, taken, section=self.section)
        return made if len(self.members) == 1 else [choose, *made]  # of one there is nothing to choose

    def teacher_options(self, taken: set[str]) -> list[Option]:
        """Return the same options for the process that the data come from, and one for its noise."""
        name = f"teacher-{self.option}"
        choose = Option(f"--{name}", section=_TEACHER, metavar="NAME", help=f"True {self.root.family}.")
        made = parameter_options(name, self.members, taken, section=_TEACHER, prefix="teacher-")
        noise = Option("--teacher-noise", section=_TEACHER, metavar="NUMBER", help="True noise variance.")
        return [choose, *made, noise]

    def name(self, given: Given) -> str:
        """Return the name of the piece that was chosen."""
        chosen = given.context.params.get(self.option) or self.default
        if chosen is None:
            raise InputError(f"--{self.option} is needed: one of {', '.join(self.members)}")
        return str(self.root.named(chosen).name)

    def arguments(self, given: Given, name: str, group: str) -> dict[str, Any]:
        """Return the parameters of a piece that are on the command line; refuse those that it does not take."""
        for option, _ in given.of(group):
            if name not in option.owners:
                flags = _flags(given, group, name)
                ordered = [flags[each.name] for each in self.members[name] if each.name in flags]
                listed = f"it takes {', '.join(ordered)}" if ordered else "it has no parameters"
                raise InputError(f"the {self.root.family} {name!r} takes no {option.flag}: {listed}")
        return read_options(given, group, name)

    def build(self, given: Given, **usual: Any) -> Any:
        """Return the piece that was given; ``usual`` are values of parameters that are left out, if it takes them."""
        return self._build(given, self.name(given), self.option, usual)

    def build_teacher(self, given: Given) -> Any:
        """Return the piece that the data come from; what is left out is as for the model."""
        student = self.name(given)
        name = str(self.root.named(given[f"teacher_{self.option}"] or student).name)
        return self._build(given, name, f"teacher-{self.option}", self.arguments(given, student, self.option))

    def _build(self, given: Given, name: str, group: str, usual: Mapping[str, Any]) -> Any:
        takes = self.members[name]
        arguments = {each.name: usual[each.name] for each in takes if each.name in usual}
        arguments |= self.arguments(given, name, group)
        for each in takes:
            if each.required and each.name not in arguments:
                flag = _flags(given, self.option, name).get(each.name, each.name)
                raise InputError(f"{flag} is needed: {each.help[:1].lower()}{each.help[1:]}")
        return self.root.named(name)(**arguments)


def _flags(given: Given, group: str, name: str) -> dict[str, str]:
    """Return how the parameters of a member of a group are written on the command line."""
    return {each.owners[name].name: each.flag for each in given.options(group) if name in each.owners}
