"""Plain data from a file, compared with what it must look like before anything is built from it."""

from __future__ import annotations

import hashlib
import json
import math
import reprlib
from collections.abc import Mapping
from typing import Any

from gpcurves.errors import InputError
from gpcurves.numerics.parameters import Check

Schema = Check | list[Any] | dict[str, Any]
"""What a value must be: a check; ``[schema]`` for a list of such values; or schemas by key, of which those that end in "?" may be
absent, and "*" stands for all other keys."""

LARGEST = 1e150  # numbers whose squares double precision still holds
_DEEPEST = 40  # levels of lists and objects; a problem of ours has about ten
_MOST_DIGITS = 300
_LONGEST = 60  # letters of a value that a sentence shows


def checksum(data: Mapping[str, Any]) -> str:
    """Return a checksum of plain data that depends neither on the order of keys nor on blanks."""
    content = {key: value for key, value in data.items() if key != "checksum"}
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def check_plain(value: Any, place: str = "", depth: int = 0) -> None:
    """Refuse values that JSON can spell and nothing can use: not finite, endless digits, half of a character, nested too deeply."""
    if isinstance(value, dict | list):
        if depth > _DEEPEST:
            raise InputError("it is nested too deeply")
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(inner, float) and math.isfinite(inner):  # nearly all of a large file
                continue
            check_plain(key, "the name of a value", depth)
            check_plain(
                inner, f"{place}[{key}]" if isinstance(value, list) else f"{place}.{key}".lstrip("."), depth + 1
            )
    elif isinstance(value, str):
        if not value.isascii() and any("\ud800" <= letter <= "\udfff" for letter in value):
            raise InputError(f"{place} must be text, got {shown(value)}")
    elif isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"{place} must be finite, got {value}")
    elif isinstance(value, int) and abs(value) > 10**_MOST_DIGITS:
        raise InputError(f"{place} must have at most {_MOST_DIGITS} digits")


def conform(name: str, value: Any, schema: Schema) -> None:
    """Refuse a value that differs from its schema, and say where."""
    if isinstance(schema, list):
        expect(name, value, list)
        for k, item in enumerate(value):
            conform(f"{name}[{k}]", item, schema[0])
    elif isinstance(schema, dict):
        expect(name, value, dict)
        prefix = f"{name}." if name else ""
        for key, inner in value.items():
            allowed = schema.get(key, schema.get(f"{key}?", schema.get("*")))
            if allowed is None:
                raise InputError(f"{prefix}{shown(key)[1:-1]} is not known")
            conform(f"{prefix}{shown(key)[1:-1]}", inner, allowed)
        for key in schema:
            if not key.endswith(("?", "*")) and key not in value:
                raise InputError(f"{prefix}{key} is missing")
    else:
        schema(name, value)


def expect(name: str, value: Any, kind: type) -> None:
    """Refuse a value of another type; JSON has few of them."""
    if type(value) is not kind:
        words = {list: "a list", dict: "an object", str: "text", bool: "true or false"}
        raise InputError(f"{name or 'it'} must be {words[kind]}, got {shown(value)}")


def shown(value: object) -> str:
    """Return a value from a file for a sentence: short, on one line."""
    words = reprlib.repr(value)
    return words if len(words) <= _LONGEST else f"{words[: _LONGEST - 1]}…"


def anything(name: str, value: Any) -> None:
    """Accept what nothing is built from."""


def text(name: str, value: Any) -> None:
    """Refuse what is not text."""
    expect(name, value, str)


def truth(name: str, value: Any) -> None:
    """Refuse what is neither true nor false."""
    expect(name, value, bool)


def number(low: float = -LARGEST, high: float = LARGEST, *, kinds: tuple[type, ...] = (int, float)) -> Check:
    """Return a check for a number between two others; ``kinds=(int,)`` for integers."""

    def check(name: str, value: Any) -> None:
        if type(value) not in kinds or not low <= value <= high:
            what = "a number" if float in kinds else "an integer"
            raise InputError(f"{name} must be {what} between {low:g} and {high:g}, got {shown(value)}")

    return check


def integer(low: float, high: float) -> Check:
    """Return a check for an integer."""
    return number(low, high, kinds=(int,))


def optional(check: Check) -> Check:
    """Return a check that also accepts null."""
    return lambda name, value: None if value is None else check(name, value)


def series(low: float = -LARGEST, high: float = LARGEST, *, gaps: bool = False, rising: bool = False) -> Check:
    """Return a check for a list of numbers that is not empty; with ``gaps`` some may be null."""

    def check(name: str, value: Any) -> None:
        expect(name, value, list)
        if not value:
            raise InputError(f"{name} must not be empty")
        each = number(low, high)
        for k, item in enumerate(value):
            # the check itself, which makes a sentence, is for what looks wrong
            if not (type(item) is float and low <= item <= high) and not (gaps and item is None):
                each(f"{name}[{k}]", item)
            if rising and k and not value[k - 1] < item:
                raise InputError(f"{name} must rise, got {shown(value[k - 1])} before {shown(item)}")

    return check
