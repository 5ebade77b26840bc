"""What can go wrong, as sentences: what, the constraint, what was given, and the usual remedy."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class GPCurvesError(Exception):
    """Root of every error that this package raises on purpose."""


class InputError(GPCurvesError, ValueError):
    """An argument is outside what it may be."""


class NotApplicableError(InputError):
    """A method was asked for whose conditions the problem does not meet."""


class GoalUnreachableError(GPCurvesError):
    """No number of examples reaches the error asked for, according to this method."""


class NumericalError(GPCurvesError, ArithmeticError):
    """A computation did not reach the accuracy that it promises."""


def unknown_name(what: str, given: str, known: Iterable[str]) -> InputError:
    """Build the error for a name that is not known, naming the nearest one that is."""
    names = sorted(known)
    near = difflib.get_close_matches(given.lower(), names, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return InputError(f"unknown {what} {given!r}: {hint}known are {', '.join(names)}")
