"""Options of the command line, made from the parameters that pieces of problems and methods declare.

A kernel, an input distribution, an observation or a method that is registered has its options here without being named here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpcurves.cli import parse
from gpcurves.cli.command import Given, Option, Owners
from gpcurves.errors import InputError

if TYPE_CHECKING:
    from gpcurves.numerics.parameters import Parameter


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
        choose = Option(f"--{self.option}", section=self.section, metavar="NAME", help=text)
        made = parameter_options(self.option, self.members, taken, section=self.section)
        return made if len(self.members) == 1 else [choose, *made]  # of one there is nothing to choose

    def teacher_options(self, taken: set[str], section: str) -> list[Option]:
        """Return the same options for the process that the data come from."""
        name = f"teacher-{self.option}"
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
