"""The forecast in words, never more certain than its intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from gpcurves.planning.result import Forecast

Label = Literal[
    "more data helps", "noise-limited", "goal reached already", "goal cannot be reached", "too few rows to say"
]
_FAR = 16
"""More data helps where this many times the rows lower the error noticeably."""
_NOTICEABLE = 0.1
_TOO_WIDE = 4.0
"""Nothing can be said where the interval at four times the rows spans more than this factor and allows for no gain."""


@dataclass(frozen=True)
class Verdict:
    """What to make of a forecast.

    Attributes
    ----------
    label
        One of the five answers.
    sentences
        What it rests on, with its uncertainty.
    """

    label: Label
    sentences: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.label}: {' '.join(self.sentences)}"


def judge(forecast: Forecast, goal: float | None) -> Verdict:
    """Choose the answer and say why."""
    rows = forecast.rows
    estimate, low, high = (values.tolist() for values in forecast.interval(np.array([1.0, 4.0, _FAR]) * rows))
    now = f"With the {rows} rows there are, the RMSE is about {estimate[0]:.3g} ({_span(low[0], high[0])})."
    if goal is not None and high[0] <= goal:
        return Verdict("goal reached already", (now, f"The goal of {goal:.4g} is above this whole interval."))
    needed = None if goal is None else forecast.required_n(goal)
    if goal is not None and needed is not None and needed.low is None:
        return Verdict("goal cannot be reached", (now, _capital(needed.reason) + "."))
    if high[1] / low[1] > _TOO_WIDE and high[2] > (1 - _NOTICEABLE) * estimate[0]:
        width = math.log(high[1] / low[1]) / math.log(_TOO_WIDE)
        enough = math.ceil(rows * min(8.0, max(1.5, width**2)))
        far = f"At {4 * rows} rows it may be anything between {low[1]:.3g} and {high[1]:.3g}."
        return Verdict(
            "too few rows to say", (now, far, f"About {_rounded(enough)} rows should make it possible to say.")
        )
    future = f"With {_FAR * rows} it should be about {estimate[2]:.3g} ({_span(low[2], high[2])})."
    if goal is not None and needed is not None:
        if estimate[0] <= goal:
            doubt = f"The goal of {goal:.4g} is probably reached, but it lies inside the interval."
            return Verdict("goal reached already", (now, doubt))
        if needed.estimate is None:
            return Verdict("goal cannot be reached", (now, future, _capital(needed.reason) + "."))
        return Verdict("more data helps", (now, _needs(goal, needed.estimate, needed.low, needed.high, needed.assured)))
    gain = 1 - estimate[2] / estimate[0]
    floor = f"Noise leaves about {forecast.noise_rmse:.3g} however many rows there are."
    if gain < _NOTICEABLE:
        hope = 1 - low[2] / estimate[0]
        if hope < _NOTICEABLE:
            doubt = "More rows will not help noticeably."
        else:
            doubt = f"More rows will hardly help, though at the optimistic end of the interval they remove {hope:.0%}."
        return Verdict("noise-limited", (now, future, floor, doubt))
    doubt = f"That is {gain:.0%} less."
    if high[2] > (1 - _NOTICEABLE) * estimate[0]:
        doubt = f"That is {gain:.0%} less, but at the pessimistic end of the interval there is little or no gain."
    return Verdict("more data helps", (now, future, doubt, floor))


def _needs(goal: float, estimate: int, low: int | None, high: int | None, assured: int | None) -> str:
    span = (
        f"{_rounded(low or 0)} to {_rounded(high)}" if high else f"at least {_rounded(low or 0)}, with no upper limit"
    )
    sentence = f"An RMSE of {goal:.4g} should take about {_rounded(estimate)} rows (90 % interval: {span})."
    if assured is None:
        return f"{sentence} No number of rows gives 80 % assurance."
    return f"{sentence} For 80 % assurance plan at least {_rounded(assured)}."


def _span(low: float, high: float) -> str:
    return f"90 % interval {low:.3g} to {high:.3g}"


def _rounded(n: int) -> str:
    """Write a number of rows with two digits: more would pretend to know them."""
    digits = max(0, len(str(n)) - 2)
    return str(math.ceil(n / 10**digits) * 10**digits)


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
