"""Parameters declared once: default, check and help in the field of a dataclass.

Pieces of problems and options of methods are frozen dataclasses whose fields are made by `parameter`. From these fields
follow the checks at the public boundary, the flags of the command line, and the lists of options in docstrings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import MISSING, dataclass, field, fields
from functools import cache, partial
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from gpcurves.errors import InputError, check_name
from gpcurves.numerics.validation import integer, real

Check = Callable[[str, Any], Any]
"""Takes the name of a parameter and a value; returns the value as the code needs it, or raises an `InputError`."""


@dataclass(frozen=True)
class Parameter:
    """What is known about one parameter; see `parameter`."""

    name: str
    flag: str  # its name on the command line
    kind: Any  # its type
    default: Any  # ``dataclasses.MISSING`` if a value is required
    help: str
    axis: str | None = None

    @property
    def required(self) -> bool:
        """Whether a value must be given."""
        return self.default is MISSING


def parameter(
    default: Any = MISSING,  # a value is required without one
    *,
    help: str,  # noqa: A002  (the word of every command-line library)
    check: Check | None = None,  # by the type unless given; None passes unchecked if it is the default
    label: str | None = None,  # what error messages call the parameter, if not by its name
    flag: str | None = None,
    axis: str | None = None,
    on: str | None = None,
) -> Any:
    """Return a dataclass field with what the package needs to know about a parameter.

    ``help`` is one sentence without a full stop. ``flag`` is the name on the command line without the dashes, if not the name
    with dashes for underscores; an empty one hides the parameter there. ``axis`` is "n" if it belongs to problems on vectors,
    "nu" if to graphs; and ``on`` is "ensemble" if it belongs to graphs that are drawn, "graph" if to given ones.
    """
    about = {"help": help, "check": check, "label": label, "flag": flag, "axis": axis, "on": on}
    return field(default=default, metadata=about)


def parameters_of(kind: type[Any]) -> tuple[Parameter, ...]:
    """Return the parameters of a dataclass, in order."""
    key: Any = kind
    return _find_parameters(key)


@cache
def _find_parameters(kind: type[Any]) -> tuple[Parameter, ...]:
    hints = get_type_hints(kind)
    return tuple(
        Parameter(
            each.name,
            each.name.replace("_", "-") if each.metadata.get("flag") is None else each.metadata["flag"],
            hints[each.name],
            each.default,
            each.metadata.get("help", ""),
            each.metadata.get("axis"),
        )
        for each in fields(kind)
        if each.init
    )


def check_parameters(instance: Any) -> None:
    """Validate every parameter of a frozen dataclass, and replace it by its checked value."""
    for each in fields(instance):
        value = getattr(instance, each.name)
        if "check" in each.metadata and not (value is None and each.default is None):
            check = each.metadata["check"] or partial(_as_type, get_type_hints(type(instance))[each.name])
            object.__setattr__(instance, each.name, check(each.metadata["label"] or each.name, value))


def _as_type(kind: Any, name: str, value: Any) -> Any:
    """Return a value as a type, of several types as the first that fits; what is not a simple type passes unchecked."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        for each in inner:
            with suppress(InputError):
                return _as_type(each, name, value)
        return _as_type(inner[0], name, value)  # says what is wrong
    if origin is Literal:
        return check_name(f"value of {name}", value, inner)
    if origin is tuple and inner[-1] is Ellipsis:
        items = value.tolist() if isinstance(value, np.ndarray) else [value] if isinstance(value, str) else value
        if not isinstance(items, Iterable):
            raise InputError(f"{name} must be a sequence, got {value!r}")
        return tuple(_as_type(inner[0], name, item) for item in items)
    if kind in (int, float):
        return integer(name, value) if kind is int else real(name, value)
    if kind is Path and isinstance(value, str):
        return Path(value)
    if kind in (bool, str, Path, NoneType) and not isinstance(value, kind):
        raise InputError(f"{name} must be a {kind.__name__.lower()}, got {value!r}")
    return value
