"""How many inducing points bring the error of an approximation close to that of the full Gaussian process."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gpcurves.api import read_run, request_curves
from gpcurves.curve import LearningCurve
from gpcurves.errors import GoalUnreachableError, InputError
from gpcurves.methods import METHODS, Kind, Method, MethodName
from gpcurves.methods.base import Request
from gpcurves.numerics.validation import integer, positive
from gpcurves.problem import Problem, as_problem

_MOST_INDUCING = 2_000  # inducing points up to which an answer is looked for: beyond, the time grows as the third power
_START, _FEW_DRAWS = 16, 2  # inducing points at which the search begins, and draws of them by which it is led
_TEST_POINTS = 400  # of each of these data sets, the same for the approximation and the full GP
_CLOSE = 0.05  # share of the allowed excess below which no difference is made
_MOST_CONFIRMED, _EXAMPLES_CONFIRMED = (
    4_000,
    6_000,
)  # examples of a data set, and of all, by which the answer is confirmed


@dataclass(frozen=True)
class InducingGoal:
    """How many inducing points keep the error of an approximation close to that of the full GP.

    Attributes
    ----------
    m
        The smallest number of inducing points; also ``int(goal)``.
    n, excess, method
        The number of examples, the allowed excess over the full GP's error, and the approximation.
    error, full_error
        The average error with m inducing points and that of the full GP.
    claimed
        The predictive variance that the approximation itself reports, on average.
    kl_low, kl_high
        Between these lies the KL divergence of the variational posterior from the exact one, averaged over data sets; NaN for
        a misspecified model.
    datasets
        How many simulated data sets the errors are averages of; 0 if they are theory, which they are for large n.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> goal = gpc.required_inducing(gpc.Problem(gpc.RBF(0.2), gpc.Torus(1), 0.1), n=100)
    >>> goal.error <= 1.1 * goal.full_error
    True
    """

    m: int
    n: int
    excess: float
    method: str
    error: float
    full_error: float
    claimed: float
    kl_low: float
    kl_high: float
    datasets: int = 0

    def __index__(self) -> int:
        return self.m

    def __str__(self) -> str:
        kl = f" The KL divergence is between {self.kl_low:.2g} and {self.kl_high:.2g}." if self.kl_low >= 0 else ""
        source = f" (average of {self.datasets} simulated data sets)" if self.datasets else ""
        return (
            f"You need about {self.m:,} inducing point{'s' * (self.m > 1)} for n = {self.n:,} examples: {self.method} then has an error of "
            f"{self.error:.3g}, at most {100 * self.excess:g} % above the full GP's {self.full_error:.3g}{source}.{kl}"
        )


def required_inducing(
    problem: Problem, n: int, excess: float = 0.1, method: MethodName | Method[Any] = "sor", **options: Any
) -> InducingGoal:
    """Return the smallest number of inducing points whose error is within a fraction of the full GP's, up to a few per cent.

    Theory gives an approximate number. Up to n = 4,000 it is then confirmed on a few simulated data sets.

    Parameters
    ----------
    problem
        A problem on vectors with noise.
    n
        Number of examples.
    excess
        How far above the full GP's error is allowed, as a fraction of it: 0.1 is ten per cent.
    method
        The approximation: "sor" (also right for "vfe", which predicts the same), "fitc", or one that is simulated.
    **options
        Options of the method, such as ``placement``, and its seed ``rng``.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> goal = gpc.required_inducing(gpc.Problem(gpc.RBF(0.1), gpc.Torus(1), 0.1), n=500)
    >>> 8 < goal.m < 40
    True
    """
    asked = as_problem(problem)
    chosen: Any = METHODS[method]
    if chosen.second != "m":
        sparse = ", ".join(each.name for each in METHODS.values() if each.second == "m")
        raise InputError(f"method {chosen.name!r} has no inducing points: use one of {sparse}")
    for name in ("m", "points"):
        if options.get(name) is not None:
            raise InputError(f"{name} is what is computed: leave it out")
    at, allowed = integer("n", n, 1), positive("excess", excess)
    given = {"rng": 0} | {name: value for name, value in options.items() if value is not None}
    (request,), _ = request_curves(asked, np.array([float(at)]), [chosen], given, read_run(given))
    return answer_excess(request, at, allowed)


def answer_excess(request: Request, n: int, excess: float) -> InducingGoal:
    """Search by a few draws of the inducing inputs, and from there by more of them, or by the truth if that is affordable.

    A theory is a few per cent off, which at an excess of ten per cent changes m by a fifth if the kernel is rough. Data sets of a
    few thousand examples are simulated exactly, and the approximation and the full GP are compared on the same ones.
    """
    method: Any = request.method
    if getattr(request.options, "points", None) is not None:
        raise InputError("the number of inducing inputs is what is computed: leave out points")
    power = request.problem.inputs.dim if getattr(request.options, "placement", "") == "grid" else 1
    most = int(min(n, _MOST_INDUCING) ** (1 / power) + 1e-9)
    final = request
    if method.truth is not None and n <= _MOST_CONFIRMED:
        datasets = int(min(max(_EXAMPLES_CONFIRMED // n, 3), 20))
        own = {name: value for name, value in request.options.to_dict().items() if name not in ("m", "draws")}
        truth: Any = METHODS[method.truth]
        final = replace(
            request, method=truth, options=truth.Options(datasets=datasets, test_points=_TEST_POINTS, **own)
        )
    exact = _Excess(final, n, excess, power)
    repeated: Any = {name: _FEW_DRAWS for name in ("draws", "datasets") if name in method.option_names()}
    rough = _Excess(replace(request, options=replace(request.options, **repeated)), n, excess, power)
    if final is not request:
        rough.full = exact.find_full(1)
    about = _least(rough, min(_START, most), most, 2.0, 0.1)
    side = _least(exact, about or most, most, 1.15, 0.02)
    found, full = exact.found[side or most], exact.find_full(1)
    # with all examples as inducing points it is the full GP
    if side is None and most**power < n:
        raise GoalUnreachableError(
            f"method {method.name!r} does not come within {100 * excess:g} % of the full GP's error {full:.4g} with up to "
            f"{most**power:,} inducing points: there it is {found.error[0]:.4g}"
        )
    details = {
        name: float(found.details[name][0]) for name in ("claimed", "kl_low", "kl_high") if name in found.details
    }
    simulated = int(found.diagnostics["drawn"]) if final.method.kind is Kind.ESTIMATE else 0
    return InducingGoal(
        (side or most) ** power, n, excess, method.name, float(found.error[0]), full,
        **{"kl_low": math.nan, "kl_high": math.nan, **details}, datasets=simulated,
    )  # fmt: skip


class _Excess:
    """How far an approximation with some inducing points is above the full GP, beside what is allowed."""

    def __init__(self, request: Request, n: int, allowed: float, power: int) -> None:
        self.request, self.n, self.allowed, self.power = request, float(n), allowed, power
        self.full: float | None = None
        self.found: dict[int, LearningCurve] = {}

    def __call__(self, side: int) -> float:
        """Return the logarithm of the excess by the allowed one: at most 0 if there are enough points, side to some power."""
        options = self._options(side)
        curve = self.found[side] = replace(self.request, options=options).curve(np.array([self.n]))
        excess = float(curve.error[0]) / self.find_full(side) - 1
        return math.log(max(excess / self.allowed, _CLOSE))

    def find_full(self, side: int) -> float:
        """Return the error of the full GP, in theory with the inducing inputs that were first asked for: it hardly depends on them."""
        if self.full is None:
            method: Any = self.request.method
            run = self.request.run
            self.full = float(method.full_error(self.request.problem, self.n, self._options(side), run))
        return self.full

    def _options(self, side: int) -> Any:
        return replace(self.request.options, m=side**self.power)  # type: ignore[call-arg]


def _least(value: Callable[[int], float], start: int, most: int, growth: float, slack: float) -> int | None:
    """Return the smallest number up to ``most`` with a value of at most 0, up to a relative slack; None if there is none.

    Values fall, about as a power of the number does. They are bracketed from ``start`` on, and then interpolated; if one end
    stays, its value is halved, so that the next point is nearer to it (the Illinois rule).
    """
    low, high, side = 0, most + 1, start
    above, below, last = 0.0, 0.0, 0
    while True:
        found = value(side)
        if found <= 0:
            high, below, above = side, found, above / 2 if last < 0 else above
        else:
            low, above, below = side, found, below / 2 if last > 0 else below
        last = -1 if found <= 0 else 1
        if high > most and low == most:
            return None
        if high <= most and (high - low <= max(1, slack * high) or -2 * slack < found <= 0):
            return high
        if high > most:
            side = min(most, max(low + 1, math.ceil(growth * low)))
        elif low == 0:
            side = max(1, int(high / growth))
        else:  # a little below zero is where the search may end
            part = (above + slack) / (above - below + slack)
            side = min(max(round(low * (high / low) ** min(part, 1.0)), low + 1), high - 1)
