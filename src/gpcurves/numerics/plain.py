"""Pieces of problems as plain data: one registry, one way to save and build again, one representation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import Field, fields
from inspect import isabstract
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from gpcurves.errors import InputError, check_name
from gpcurves.numerics.frozen import ReadOnly
from gpcurves.numerics.parameters import check_parameters
from gpcurves.numerics.schema import shown


class Piece(ReadOnly):
    """A frozen dataclass of which a problem is made: a kernel, inputs, an observation, ...

    The root of each family is defined with ``class Root(Piece, family="...")``. Every class below it enters itself into the
    family when it is defined, so that saved problems and the command line find it: a new piece is one new class.

    Law: ``Root.from_dict(piece.to_dict()) == piece``.
    """

    family: ClassVar[str]
    known: ClassVar[dict[str, type[Any]]]
    name: ClassVar[str] = ""
    """Name on the command line; the class name in lower case unless given, empty for pieces that it does not offer."""

    def __init_subclass__(cls, family: str | None = None) -> None:
        super().__init_subclass__()
        if family is not None:
            cls.family, cls.known = family, {}
            return
        if "name" not in cls.__dict__:
            cls.name = cls.__name__.lower()
        if not cls.__name__.startswith("_"):
            cls.known[cls.__name__] = cls

    def __post_init__(self) -> None:
        check_parameters(self)

    @classmethod
    def named(cls, name: str) -> type[Self]:
        """Return the class of this family that has a name on the command line."""
        offered = cls.offered()
        return offered[check_name(cls.family, name.lower(), offered)]

    @classmethod
    def offered(cls) -> dict[str, type[Self]]:
        """Return the classes of this family that the command line offers, by their names there."""
        return {kind.name: kind for kind in cls.known.values() if kind.name and not isabstract(kind)}

    def to_dict(self) -> dict[str, Any]:
        """Return this piece as plain data; `from_dict` of its family builds it again."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}  # type: ignore[arg-type]
        return {
            "type": type(self).__name__,
            **{key: as_plain(value) for key, value in values.items() if value is not None},
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Build a piece of this family from what `to_dict` returned."""
        kind = data.get("type") if isinstance(data, dict) else data
        if not isinstance(kind, str) or kind not in cls.known or not isinstance(data, dict):
            raise InputError(f"unknown {cls.family} {shown(kind)} in saved data")
        try:
            built: Self = cls.known[kind].from_parameters({key: data[key] for key in data if key != "type"})
        except InputError as error:
            raise InputError(f"{cls.family} {kind}: {error}") from error
        except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError) as error:
            raise InputError(f"{cls.family} {kind}: its parameters are not those that were saved") from error
        return built

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any]) -> Self:
        """Build a piece of this class from its parameters as plain data."""
        return cls(**{key: as_tuples(value) for key, value in parameters.items()})

    def __repr__(self) -> str:
        """Show the first parameter, and others if they are not the default."""
        every = fields(self)  # type: ignore[arg-type]
        return show_parameters(
            self, [each for each in every if each is every[0] or getattr(self, each.name) != each.default]
        )


def as_plain(value: Any) -> Any:
    """Return a value as JSON can hold it: arrays and tuples as lists, pieces as dictionaries, paths as texts."""
    if isinstance(value, Piece):
        return value.to_dict()
    if isinstance(value, tuple | list):
        return [as_plain(item) for item in value]
    if isinstance(value, Path):
        return str(value)
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def as_tuples(value: Any) -> Any:
    """Return lists, as JSON holds them, as tuples."""
    return tuple(map(as_tuples, value)) if isinstance(value, list) else value


def full_repr(thing: Any) -> str:
    """Return ``Class(first=…, other=…)`` with all parameters."""
    return show_parameters(thing, fields(thing))


def show_parameters(thing: Any, chosen: Iterable[Field[Any]]) -> str:
    """Return ``Class(name=…)`` with these parameters."""
    shown = ", ".join(f"{each.name}={_number(getattr(thing, each.name))}" for each in chosen)
    return f"{type(thing).__name__}({shown})"


def _number(value: Any) -> str:
    if isinstance(value, tuple):
        return "(" + ", ".join(map(_number, value)) + ("," if len(value) == 1 else "") + ")"
    return f"{value:.6g}" if isinstance(value, float) else repr(value)
