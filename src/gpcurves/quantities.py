"""What a learning curve shows: the mean squared error unless another quantity is asked for.

A file that adds a quantity calls `define`, and lets methods give it: a formula through the decorator
`gpcurves.methods.base.gives`, a method that is a class by naming it in ``quantities`` and returning it from ``measure``. One that
is a function of the mean squared error needs none of these: every method has it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gpcurves.errors import check_name
from gpcurves.numerics.validation import FloatArray
from gpcurves.problem import Problem

Function = Callable[[Problem, FloatArray], FloatArray]


@dataclass(frozen=True)
class Quantity:
    """One number per size of the training set.

    ``title`` labels an axis, ``short`` heads a table, and ``meaning`` is for help texts. ``falls`` says whether it is positive and
    falls with more examples, so that a goal can be set for it; otherwise it may have any sign, and its axis is linear.
    ``condition`` returns why it does not exist for a problem, or None if it does. ``of_error`` and ``slope`` are the function of the
    mean squared error that it is, which rises with it, and its derivative; None if it is no such function.
    """

    name: str
    title: str
    short: str
    meaning: str
    falls: bool = True
    condition: Callable[[Problem], str | None] = lambda problem: None
    of_error: Function | None = None
    slope: Function | None = None

    @property
    def one(self) -> str:
        """A single number of this quantity, in words: "an error"."""
        letters = "AEFHILMNORSX" if self.short.isupper() else "aeiou"  # those that sound like a vowel when spelt
        return f"{'an' if self.short[0] in letters else 'a'} {self.short}"


class Quantities(dict[str, Quantity]):
    """Quantities by name; an unknown name is an error with a suggestion.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> gpc.QUANTITIES["noisy-rmse"].meaning
    'root of the mean squared error against new noisy targets, as in gpcurves plan'
    """

    def __getitem__(self, name: str | Quantity) -> Quantity:
        if isinstance(name, Quantity):
            return name
        return super().__getitem__(check_name("quantity", name, self))


QUANTITIES = Quantities()


def define(quantity: Quantity) -> Quantity:
    """Enter a quantity, so that ``quantity=`` and ``--quantity`` know it."""
    assert quantity.name not in QUANTITIES, f"two quantities are called {quantity.name!r}"
    QUANTITIES[quantity.name] = quantity
    return quantity


def _needs_gaussian(problem: Problem) -> str | None:
    if problem.observation.gaussian_noise is None and not problem.observation.uneven:
        return f"it needs Gaussian noise, but labels are {problem.observation!r}"
    return None


def _needs_noise(problem: Problem) -> str | None:
    if problem.observation.gaussian_noise is None:
        return f"it needs Gaussian noise, but labels are {problem.observation!r}"
    return None if problem.noise > 0 else "it needs noise greater than 0, got 0"


MSE = define(Quantity("mse", "average squared error", "error", "mean squared error against the noise-free function"))
NOISY = define(
    Quantity(
        "noisy-mse",
        "average squared error against noisy targets",
        "error against noisy targets",
        "mean squared error against new noisy targets: the error against the function plus the noise variance",
        condition=_needs_gaussian,
        of_error=lambda problem, error: error + problem.target_noise,
        slope=lambda problem, error: np.ones_like(error),
    )
)
NOISY_RMSE = define(
    Quantity(
        "noisy-rmse",
        "RMSE against noisy targets",
        "RMSE",
        "root of the mean squared error against new noisy targets, as in gpcurves plan",
        condition=_needs_gaussian,
        of_error=lambda problem, error: np.sqrt(error + problem.target_noise),
        slope=lambda problem, error: 0.5 / np.sqrt(error + problem.target_noise),
    )
)
TRAINING = define(
    Quantity(
        "training",
        "average squared training error",
        "training error",
        "mean squared error against the noisy training targets",
        falls=False,
        condition=_needs_noise,
    )
)
NLPD = define(
    Quantity(
        "nlpd",
        "negative log predictive density",
        "NLPD",
        "negative log predictive density of a new noisy target",
        falls=False,
        condition=_needs_noise,
    )
)
INFORMATION = define(
    Quantity(
        "information",
        "information gain (nats)",
        "information",
        "information that n labels carry about the function, in nats",
        falls=False,
        condition=_needs_noise,
    )
)
EVIDENCE = define(
    Quantity(
        "evidence",
        "negative log evidence",
        "−ln evidence",
        "negative log marginal likelihood of all n targets",
        falls=False,
        condition=_needs_noise,
    )
)
