"""The forecast in words, never more certain than its intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from gpcurves.forecasting.calibration import ASSURANCE, DOWN, FURTHEST

if TYPE_CHECKING:
    from gpcurves.forecasting.result import Forecast, RequiredN

Label = Literal[
    "more data helps", "noise-limited", "goal reached already", "goal cannot be reached", "too few rows to say"
]
_FAR = 16
"""More data helps where this many times the rows lower the error noticeably."""
_NOTICEABLE = 0.1
_TOO_WIDE = 4.0
"""Nothing can be said where the interval at four times the rows spans more than this factor and allows for no gain."""
FAR_OUT = 10.0
"""A few rows that are so many standard deviations of the others away, and are not foreseen, rule the error."""
_ENOUGH_OF_THEM = 10
_CLOSE, _TOO_CLOSE = 8, 100
"""More rows than this multiple are not needed to say what more rows do, only whether a goal close to it is reached; beyond
the second, no number is worth giving."""


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
    outlook = _Outlook.of(forecast)
    few = furthest(forecast.fitted_rows)
    surely_reached = goal is not None and outlook.high[0] <= goal
    if forecast.outlying > FAR_OUT and few < _ENOUGH_OF_THEM and not surely_reached:
        return outlook.dominated(few, forecast.outlying)
    return outlook.without_goal() if goal is None else outlook.about(goal, forecast.required_n(goal))


def furthest(rows: int) -> int:
    """Return how many rows are the hundredth part of them, at least one."""
    return max(1, round(rows / 100))


@dataclass(frozen=True)
class _Outlook:
    """The estimate and its interval now, at four times the rows, far away, and as far as goals are looked for."""

    rows: int
    fitted_rows: int
    estimate: list[float]
    low: list[float]
    high: list[float]
    surely: list[float]
    floor: float
    deterministic: bool

    @classmethod
    def of(cls, forecast: Forecast) -> _Outlook:
        n = np.append(np.array([1.0, 4.0, _FAR]) * forecast.rows, forecast.horizon)
        estimate, low, high = (values.tolist() for values in forecast.interval(n))
        surely = forecast.interval(n, ASSURANCE)[2].tolist()
        floor, sure = forecast.noise_rmse, forecast.deterministic
        return cls(forecast.rows, forecast.fitted_rows, estimate, low, high, surely, floor, sure)

    @property
    def now(self) -> str:
        span = _span(self.low[0], self.high[0])
        return f"With the {self.rows:,} rows there are, the RMSE is about {self.estimate[0]:.3g} ({span})."

    @property
    def future(self) -> str:
        span = _span(self.low[2], self.high[2])
        return f"With {_FAR * self.rows:,} it should be about {self.estimate[2]:.3g} ({span})."

    @property
    def width(self) -> float:
        """The width of the interval at four times the rows, in units of what is too wide."""
        return math.log(self.high[1] / self.low[1]) / math.log(_TOO_WIDE)

    @property
    def too_wide(self) -> bool:
        return self.width > 1 and self.high[2] > (1 - _NOTICEABLE) * self.estimate[0]

    def too_few(self, *words: str, shrink: float, close: bool = False) -> Verdict:
        """Say how many rows would make it sayable: intervals narrow with the root of their number."""
        factor = max(1.5, shrink**2)
        if self.fitted_rows < self.rows:
            enough = f"The forecast rests on {self.fitted_rows:,} of the rows, drawn at random: more rows would not narrow it."
        elif close and factor > _TOO_CLOSE:
            enough = "The goal is too close to what is expected for any realistic number of rows to say."
        else:
            reason = ", so close is the goal to what is expected" if close and factor > _CLOSE else ""
            factor = factor if close else min(factor, _CLOSE)
            enough = f"About {rounded(math.ceil(self.rows * factor))} rows should make it possible to say{reason}."
        return Verdict("too few rows to say", (self.now, *words, enough))

    def about(self, goal: float, needed: RequiredN) -> Verdict:
        """Say whether a goal can be reached."""
        if self.high[0] <= goal:
            return Verdict("goal reached already", (self.now, f"The goal of {goal:.4g} is above this whole interval."))
        if needed.low is None:
            return Verdict("goal cannot be reached", (self.now, _capital(needed.reason) + "."))
        if self.surely[0] <= goal:
            words = f"The goal of {goal:.4g} is inside this interval, but it is reached with 80 % assurance."
            return Verdict("goal reached already", (self.now, words))
        if needed.estimate is None:
            # the part of the width that comes from the reach stays however many rows there are
            stays = (0.5 * DOWN[0] * math.log(FURTHEST)) ** 2
            width, distance = (math.log(self.estimate[3] / end) ** 2 - stays for end in (self.low[3], goal))
            shrink = math.sqrt(max(width, 0.0) / max(distance, 1e-9))
            return self.too_few(self.future, _capital(needed.reason) + ".", shrink=shrink, close=True)
        if self.too_wide:
            words = self._probably(goal, needed) if self.estimate[0] <= goal else _needs(goal, needed)
            return self.too_few(self._may_be_anything(), words, shrink=self.width)
        reached = self.estimate[0] <= goal
        if needed.assured is None and self.gain < _NOTICEABLE:
            words = (
                f"That is about the goal of {goal:.4g}, but nothing says safely on which side of it."
                if reached
                else f"{_needs(goal, needed)} More rows hardly change the error, so that this may well be wrong."
            )
            end = 0 if reached else 2
            distance = max(1e-9, math.log(goal / self.estimate[end]))
            return self.too_few(words, shrink=math.log(self.surely[end] / self.estimate[end]) / distance, close=True)
        return Verdict("more data helps", (self.now, self._probably(goal, needed) if reached else _needs(goal, needed)))

    def _probably(self, goal: float, needed: RequiredN) -> str:
        sentence = f"The goal of {goal:.4g} is probably reached already, but"
        if needed.assured is not None:
            return f"{sentence} not with 80 % assurance: for that plan at least {rounded(needed.assured)} rows."
        return f"{sentence} no number of rows makes that 80 % sure. {self.future}"

    def dominated(self, few: int, outlying: float) -> Verdict:
        """Say that a few rows rule the error."""
        them, whose, right = f"The {few} rows furthest out are", "them", "If they are right"
        slip = "look whether they are slips, and plan again without them"
        if few == 1:
            them, whose, right = "One row is", "it", "If it is right"
            slip = "look whether it is a slip, and plan again without it"
        away = (
            f"{outlying:.0f} standard deviations of all others away" if outlying < 1e4 else "far away from all others"
        )
        words = (
            f"{them} {away}, and the error is mostly due to {whose}: {slip}.",
            f"{right}, about {rounded(math.ceil(self.fitted_rows * _ENOUGH_OF_THEM / few))} rows would show "
            f"{_ENOUGH_OF_THEM} of the kind, enough to say what they do to the error.",
        )
        return Verdict("too few rows to say", (self.now, *words))

    @property
    def gain(self) -> float:
        """By which share the error falls far away."""
        return 1 - self.estimate[2] / self.estimate[0]

    def without_goal(self) -> Verdict:
        """Say what more rows would do."""
        if self.too_wide:
            return self.too_few(self._may_be_anything(), shrink=self.width)
        gain = self.gain
        floor = f"Noise leaves about {self.floor:.3g} however many rows there are."
        if gain < _NOTICEABLE and self.floor < _NOTICEABLE * self.estimate[2]:
            words = "That is hardly less, and yet little of it is noise: these rows do not show what there is to learn."
            return Verdict("too few rows to say", (self.now, self.future, words))
        if gain < _NOTICEABLE:
            if self.floor < (1 - _NOTICEABLE) * self.estimate[2]:
                floor = f"Noise alone would leave about {self.floor:.3g}, but to come near it takes far more rows."
            hope = 1 - self.low[2] / self.estimate[0]
            doubt = "More rows will hardly help."
            if hope >= _NOTICEABLE:
                doubt = (
                    f"More rows will hardly help; at the optimistic end of the interval they remove {_percent(hope)}."
                )
            return Verdict("noise-limited", (self.now, self.future, floor, doubt))
        doubt = f"That is {_percent(gain)} less."
        if self.high[2] > (1 - _NOTICEABLE) * self.estimate[0]:
            doubt = (
                f"That is {_percent(gain)} less, but at the pessimistic end of the interval there is little or no gain."
            )
        return Verdict("more data helps", (self.now, self.future, doubt, *([] if self.deterministic else [floor])))

    def _may_be_anything(self) -> str:
        return f"At {4 * self.rows:,} rows it may be anything between {self.low[1]:.3g} and {self.high[1]:.3g}."


def _needs(goal: float, needed: RequiredN) -> str:
    low, high = rounded(needed.low or 0), needed.high
    span = f"{low} to {rounded(high)}" if high else f"at least {low}, with no upper limit"
    rows = f"{rounded(needed.estimate or 0)} {'row' if needed.estimate == 1 else 'rows'}"
    sentence = f"An RMSE of {goal:.4g} should take about {rows} (90 % interval: {span})."
    if needed.assured is None:
        return f"{sentence} No number of rows gives 80 % assurance."
    return f"{sentence} For 80 % assurance plan at least {rounded(needed.assured)}."


def _span(low: float, high: float) -> str:
    return f"90 % interval {low:.3g} to {high:.3g}"


def rounded(n: int) -> str:
    """Write a number of rows with two digits: more would pretend to know them."""
    digits = max(0, len(str(n)) - 2)
    return f"{math.ceil(n / 10**digits) * 10**digits:,}"


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share < 0.995 else "more than 99 %"
