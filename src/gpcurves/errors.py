"""What can go wrong, as sentences: what, the constraint, what was given, and the usual remedy."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

Name = TypeVar("Name", bound=str)
_LONG = 1_000  # characters of each end of a message


class GPCurvesError(Exception):
    """Base class of all errors that this package raises; long quotations in messages are shortened.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> try:
    ...     gpc.RBF(lengthscale="long")
    ... except gpc.GPCurvesError as error:
    ...     print(error)
    lengthscale must be a number, got 'long'
    """

    def __init__(self, message: str = "") -> None:
        super().__init__(message if len(message) <= 2 * _LONG else f"{message[:_LONG]} … {message[-_LONG:]}")


class InputError(GPCurvesError, ValueError):
    """An argument is invalid; the message says what is allowed.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> try:
    ...     gpc.RBF(lengthscale=-0.1)
    ... except gpc.InputError as error:
    ...     print(error)
    lengthscale must be greater than 0, got -0.1
    """


class TooLargeError(InputError):
    """Something was asked for that memory does not hold."""


class NotApplicableError(InputError):
    """The problem does not meet the conditions of the method.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> plane = gpc.Problem(gpc.RBF(0.1), gpc.Torus(dim=2), noise=0.05)
    >>> try:
    ...     gpc.learning_curve(plane, "wv", n=[10])
    ... except gpc.NotApplicableError as error:
    ...     print(error)
    method 'wv' does not apply: inputs must be one-dimensional, got dimension 2
    """


class GoalUnreachableError(GPCurvesError):
    """No number of examples reaches the error asked for, according to this method.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> wrong = gpc.Problem(gpc.Linear(), gpc.Sphere(dim=3), 0.1, teacher=gpc.Teacher(gpc.RBF(0.5), 0.1))
    >>> try:
    ...     gpc.required_n(wrong, error=0.01, method="lc")
    ... except gpc.GoalUnreachableError as error:
    ...     print(error)
    method 'lc' does not reach the error 0.01 within 1e+12 examples: there it is 0.7186
    """


class NumericalError(GPCurvesError, ArithmeticError):
    """A computation did not converge, or lost its accuracy.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> issubclass(gpc.NumericalError, gpc.GPCurvesError)
    True
    """


def check_name(what: str, given: object, known: Iterable[Name]) -> Name:
    """Return a name that is known; of another one say which is the nearest."""
    names = {str(name): name for name in sorted(known)}
    if isinstance(given, str) and given in names:
        return names[given]
    import difflib  # here, since few commands fail

    near = difflib.get_close_matches(str(given).lower(), names, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise InputError(f"unknown {what} {str(given)!r}: {hint}known are {', '.join(names)}")
