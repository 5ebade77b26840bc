"""Representations: the class and its parameters, all of them or what differs from the defaults."""

from __future__ import annotations

from dataclasses import fields
from typing import Any


def short_repr(thing: Any) -> str:
    """Return ``Class(first=…, other=…)``: the first parameter always, others where they are not the default."""
    shown = []
    for place, f in enumerate(fields(thing)):
        value = getattr(thing, f.name)
        if place == 0 or value != f.default:
            shown.append(f"{f.name}={_number(value)}")
    return f"{type(thing).__name__}({', '.join(shown)})"


def full_repr(thing: Any) -> str:
    """Return ``Class(first=…, other=…)`` with all parameters."""
    shown = [f"{f.name}={_number(getattr(thing, f.name))}" for f in fields(thing)]
    return f"{type(thing).__name__}({', '.join(shown)})"


def _number(value: Any) -> str:
    if isinstance(value, tuple):
        return "(" + ", ".join(map(_number, value)) + ("," if len(value) == 1 else "") + ")"
    return f"{value:.6g}" if isinstance(value, float) else repr(value)
