"""The forecast in words, never more certain than its intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

import numpy as np

from gpcurves.forecasting.calibration import LASTING_WIDTH
from gpcurves.forecasting.intervals import HORIZON, Band, goal_grid
from gpcurves.forecasting.measures import RMSE, ErrorMeasure
from gpcurves.forecasting.units import ROWS, Unit
from gpcurves.numerics.display import Listed
from gpcurves.tables.columns import enumerate_names

Label = Literal[
    "more data helps",
    "noise-limited",
    "model-limited",
    "goal reached already",
    "goal cannot be reached",
    "too few rows to say",
    "too few labels to say",
    "too few groups to say",
]
_FAR = 16  # more data helps if this many times the rows lower the error noticeably
_NOTICEABLE = 0.1
_TOO_WIDE = 4.0  # factor that the interval at four times the rows may span if it allows for no gain
_REPEATABLE = (
    0.5  # rows with nearly equal inputs that differ by less than this share of the error show that it is not noise
)
WIDE_GAP = 0.6  # excess of cross-validation over the model's own expectation, in ln MSE, beyond which forecasts are less certain
_OFF_IN_TAILS = "forecasts were off by a factor of 1.5 in the median, and by more than 3.7 in one case out of ten"
HEAVY_TAILS = 1.2  # of the target (`traits.measure_tail`), from which on few rows say little about the error of others
_OFF = (
    "they were off by a factor of 1.6 in the median, instead of 1.2"  # both on the final tasks of benchmarks/forecast
)
_UNSTEADY = 0.1  # share of its interval by which random draws may move a number without a word about it
FAR_OUT = 10.0  # standard deviations from the rest at which extreme rows dominate the error, if they are not explained
_ENOUGH_OUTLIERS = 10
_CLOSE, _TOO_CLOSE = 8, 100
"""More rows than this multiple are not needed to say what more rows do, only whether a goal close to it is reached; beyond
the second, no number is worth giving."""


AMPLE = 6
"""With so many times the estimate, four of five goals were reached on the tables on which it was chosen, of those reached at all."""


@dataclass(frozen=True)
class RequiredN(Listed):
    """How many rows a goal needs; None if there is no such number.

    ``estimate`` is the best guess; if there is none, ``reason`` says why. ``low`` and ``high`` are the ends of the 90 % interval:
    fewer than ``low`` are unlikely to be enough, and ``high`` very likely are. With ``assured`` rows the goal is reached with a
    probability of 80 %, if it can be reached at all. ``monte_carlo_error`` is the standard error of the estimate due to random
    draws: more draws make it smaller, but not the interval.
    """

    estimate: int | None
    low: int | None
    high: int | None
    assured: int | None
    monte_carlo_error: float | None
    reason: str = ""

    def _properties(self) -> list[tuple[str, object]]:
        words = ["none" if each is None else f"{each:,}" for each in (self.estimate, self.low, self.high, self.assured)]
        names = ("best estimate", "90 % interval, low", "90 % interval, high", "for an 80 % chance")
        reason = [("reason", self.reason)] if self.reason else []
        return [*zip(names, words, strict=True), *reason]


@dataclass(frozen=True, repr=False)
class Verdict(Listed):
    """What to make of a forecast: one of six answers, and the reasons with their uncertainty."""

    label: Label
    sentences: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.label}: {' '.join(self.sentences)}"

    def __repr__(self) -> str:
        return f"<Verdict: {self}>"

    def _properties(self) -> list[tuple[str, object]]:
        return [(self.label if k == 0 else "", sentence) for k, sentence in enumerate(self.sentences)]

    def about(self, unit: Unit) -> Verdict:
        """Return the same answer in words about what is counted."""
        if unit == ROWS:
            return self
        label: Label = self.label
        if label == "too few rows to say":
            label = "too few labels to say" if unit.are_labels else "too few groups to say"
        return Verdict(label, tuple(map(unit.say, self.sentences)))

    def add(self, *sentences: str) -> Verdict:
        """Return the same answer with further sentences; empty ones are left out."""
        return replace(self, sentences=(*self.sentences, *filter(None, sentences)))


class _Moment(NamedTuple):
    """What is expected at one number of rows."""

    estimate: float
    low: float
    high: float
    assured: float

    def words(self, measure: ErrorMeasure) -> str:
        interval = measure.write_interval(self.low, self.high)
        return f"about {measure.write(self.estimate)} (90 % interval {interval}){measure.after}"


@dataclass(frozen=True)
class Facts:
    """What is known about a table beside the band of its forecast.

    ``repeatability`` is how much rows with nearly equal inputs differ (see `repeats`), ``known_noise`` the standard deviation of
    the noise if the user knows it, ``gap`` the logarithm of the
    cross-validated squared error over the expected one, and ``left_out`` says why columns are not used.
    """

    rows: int
    fitted_rows: int
    floor: float
    outlying: float = 0.0
    deterministic: bool = False
    repeatability: float | None = None
    gap: float = 0.0
    left_out: Mapping[str, str] = field(default_factory=dict)
    known_noise: float | None = None
    unit: Unit = ROWS


class Prospects:
    """What verdicts rest on: the band now, at four times the rows, far ahead and at the horizon, and the noise floor."""

    def __init__(self, band: Band, facts: Facts, measure: ErrorMeasure = RMSE) -> None:
        self.band, self.facts, self.measure = band, facts, measure
        self.rows, self.fitted_rows = facts.rows, facts.fitted_rows
        self.floor, self.outlying, self.deterministic = facts.floor, facts.outlying, facts.deterministic
        rows, self.unit = facts.rows, facts.unit
        n = np.maximum(rows, np.minimum(rows * np.array([1.0, 4.0, _FAR, HORIZON]), facts.unit.sight))
        self.now, self.later, self.far, self.end = (_Moment(*column) for column in np.array(band.at(n)).T.tolist())
        self.gain = 1 - self.far.estimate / self.now.estimate
        self.width = math.log(self.later.high / self.later.low) / math.log(_TOO_WIDE)
        wide = self.width > 1 and self.later.high - self.later.low > measure.quantity.narrow
        self.is_open = wide and self.far.high > (1 - _NOTICEABLE) * self.now.estimate
        self.begin = f"With your current {rows:,} rows, {measure.subject} is {self.now.words(measure)}."
        self.soon = (
            f"With {n[1]:,.0f} rows, it may be anything from {measure.write_interval(self.later.low, self.later.high)}."
        )
        self.ahead = f"With {n[2]:,.0f} rows, it should be {self.far.words(replace(measure, after=''))}."

    @property
    def blame(self) -> str:
        """What the error is due to, if the noise is known to be much smaller than all that more rows would leave."""
        limit = _REPEATABLE * self.far.estimate
        known, seen = self.facts.known_noise, self.facts.repeatability
        if known is not None and known < limit:
            why = f"your measurement noise is only {self.measure_difference(known)}"
        elif seen is not None and seen < limit:
            why = f"measurements at nearly equal inputs differ by only about {self.measure_difference(seen)}"
        else:
            return ""
        more = "More rows like these are unlikely to help; other inputs, or another kind of model, might."
        return f"It is not noise that limits the prediction: {why}. {more}"

    def measure_difference(self, error: float) -> str:
        """Write a difference between rows, in the target's own units if the measure has no differences."""
        return RMSE.write(error) if self.measure.rises else self.measure.write(error)

    @property
    def floor_interval(self) -> tuple[float, float]:
        """The 90 % interval of the noise floor: relatively as uncertain as the forecast far ahead, which is never below it."""
        return self.floor * self.end.low / self.end.estimate, self.floor * self.end.high / self.end.estimate

    def describe_floor(self, digits: int = 3) -> str:
        """Write the lowest error that unlimited data would reach, with its interval."""
        interval = self.measure.write_interval(*self.floor_interval, digits)
        return f"{self.measure.quantity.floor} is about {self.measure.write(self.floor, digits)} (90 % interval {interval})"

    @property
    def has_outliers(self) -> bool:
        """Whether a few outliers dominate the error, too few to say what such rows do."""
        return self.outlying > FAR_OUT and count_extreme(self.fitted_rows) < _ENOUGH_OUTLIERS

    @property
    def is_flat(self) -> bool:
        """Whether more rows lower the error so little that the number which reaches a goal may be far off."""
        return self.gain < _NOTICEABLE

    @property
    def enough_rows(self) -> int:
        """How many rows narrow an interval that is open so far that it is not."""
        return _widen(self.rows, min(max(1.5, self.width**2), _CLOSE))

    def require(self, goal: float) -> RequiredN:
        """Return how many rows an error needs, or why no number of them is enough."""
        grid = goal_grid(self.rows)
        estimate, low, high, assured = self.band.find(goal, grid)
        if estimate is not None and estimate > self.rows and not self.is_flat:
            assured = plan_ahead(estimate, assured, self.unit.sight)
        reason = "" if estimate is not None else self.unit.say(self._explain_failure(goal, low))
        return RequiredN(estimate, low, high, assured, self.band.monte_carlo_error(goal, grid), reason)

    def _explain_failure(self, goal: float, low: int | None) -> str:
        horizon = f"with up to {min(HORIZON * self.rows, self.unit.limit):,.0f} rows"
        if self.unit.most is not None and HORIZON * self.rows >= self.unit.most:
            horizon = f"even if all {self.unit.most:,} vertices have one"
        write, worse = self.measure.write, "less" if self.measure.rises else "more"
        if low is None:
            noise = self.floor >= goal and not self.deterministic
            floor = f"the {self.describe_floor(4)}, and " if noise else ""
            return (
                f"{self.measure.phrase(goal)} cannot be reached: {floor}even the optimistic end of the interval stays at "
                f"{write(self.end.low, 4)} or {worse} {horizon}"
            )
        hope = f"it takes {rounded(low)} rows" if low > self.rows else "it is reached already"
        return (
            f"{self.measure.phrase(goal)} is not expected {horizon}: the estimate stays at "
            f"{write(self.end.estimate, 4)} or {worse}; at the optimistic end of the interval {hope}"
        )


def plan_ahead(estimate: int, assured: int | None, most: float) -> int | None:
    """Return how many rows are enough with a probability of 80 %, if a goal can be reached: at most `AMPLE` times the estimate."""
    ample = AMPLE * estimate
    if ample > most:
        return assured
    return ample if assured is None else min(assured, ample)


def judge(prospects: Prospects, goal: float | None) -> Verdict:
    """Choose the answer and say why."""
    if prospects.has_outliers and (goal is None or prospects.now.high > goal):
        verdict = _judge_outliers(prospects)
    else:
        verdict = _judge_alone(prospects) if goal is None else _judge_goal(prospects, goal)
    if (warning := warn(prospects.facts.gap, prospects.unit)) is not None:
        verdict = verdict.add(warning)
    return verdict.about(prospects.unit)


def warn(gap: float, unit: Unit = ROWS) -> str | None:
    """Return a warning if cross-validation exceeds what the model itself expects by so much that forecasts are less certain."""
    if gap <= WIDE_GAP:
        return None
    causes, measured = "outliers, groups of related rows and missing inputs", f": {_OFF}"
    if unit.are_labels:
        causes, measured = "outliers and for missing or wrong edges", ""
    elif unit.group is not None:
        causes = "outliers and missing inputs"
    return (
        f"Caution: the cross-validated RMSE is {math.exp(gap / 2):.2g} times what the model itself expects. Forecasts are "
        f"then less certain than usual{measured}. Check for {causes}."
    )


def warn_of_tails(heavy: float, positive: bool) -> str | None:
    """Return a warning if the tails of the target are so heavy that few rows cannot show the error of others."""
    if heavy < HEAVY_TAILS:
        return None
    advice = " If relative errors matter to you, plan with the logarithm of the target." if positive else ""
    return (
        "Caution: the target has heavy tails, and your rows may not show how large its rare values are. On such targets "
        f"{_OFF_IN_TAILS}.{advice}"
    )


def count_extreme(rows: int) -> int:
    """Return how many rows are the most extreme 1 % of them, at least one."""
    return max(1, round(rows / 100))


def _judge_outliers(prospects: Prospects) -> Verdict:
    """Say that a few rows dominate the error."""
    rows = min(prospects.fitted_rows, prospects.rows)  # groups have several rows each, and their number is asked for
    count = count_extreme(prospects.fitted_rows)
    away = f"{prospects.outlying:.0f} SD from the rest" if prospects.outlying < 1e4 else "far from the rest"
    who, they, them, mistakes = f"{count} outliers ({away}) dominate", "they are", "them", "data-entry mistakes"
    if count == 1:
        who, they, them, mistakes = f"One outlier ({away}) dominates", "it is", "it", "a data-entry mistake"
    check = f"{who} the error. Check {them} for {mistakes}; if {they} wrong, remove {them} and run the plan again."
    enough = f"{rounded(math.ceil(rows * _ENOUGH_OUTLIERS / count))} rows (roughly {_ENOUGH_OUTLIERS} such cases)"
    needed = f"If {they} genuine, you need about {enough} to estimate their effect."
    return Verdict("too few rows to say", (prospects.begin, check, needed))


def _judge_alone(prospects: Prospects) -> Verdict:
    """Say what more rows would do."""
    now, far, gain, floor = prospects.now, prospects.far, prospects.gain, prospects.floor
    if prospects.is_open:
        return _ask_for_rows(prospects, prospects.soon, shrink=prospects.width)
    begin = (prospects.begin, prospects.ahead)
    noise = f"The {prospects.describe_floor()}."
    if gain >= _NOTICEABLE:
        less = f"That is {_percent(gain)} less{' error' if prospects.measure.rises else ''}."
        if far.high > (1 - _NOTICEABLE) * now.estimate:
            less = f"{less[:-1]}, but at the pessimistic end of the interval there is little or no gain."
        return Verdict("more data helps", (*begin, less) if prospects.deterministic else (*begin, less, noise))
    if prospects.blame:
        return Verdict("model-limited", (*begin, prospects.blame))
    if floor < _NOTICEABLE * far.estimate:
        little = "The error barely improves although little of it looks like noise"
        return Verdict("too few rows to say", (*begin, f"{little}: the model has not yet found a pattern."))
    if floor < (1 - _NOTICEABLE) * far.estimate:
        noise = f"{noise[:-1]}, but the error falls towards it very slowly."
    doubt, hope = "More rows are unlikely to help.", 1 - far.low / now.estimate
    if hope >= _NOTICEABLE:
        doubt = f"{doubt[:-1]}; at the optimistic end of the interval they reduce the error by {_percent(hope)}."
    return Verdict("noise-limited", (*begin, noise, doubt))


def _judge_goal(prospects: Prospects, goal: float) -> Verdict:
    """Say whether a goal can be reached. The answers are in the order from easy to hard goals."""
    now, needed, begin, shown = (
        prospects.now,
        prospects.require(goal),
        prospects.begin,
        prospects.measure.write_goal(goal),
    )
    side = "below" if prospects.measure.rises else "above"
    reason = f"{needed.reason[:1].upper()}{needed.reason[1:]}."
    if now.high <= goal:
        return Verdict("goal reached already", (begin, f"The goal of {shown} is {side} this whole interval."))
    hints = (prospects.blame, _name_columns(prospects.facts.left_out))
    if needed.low is None:
        return Verdict("goal cannot be reached", (begin, reason)).add(*hints)
    if now.assured <= goal:
        words = f"The goal of {shown} is inside this interval, but it is reached with a probability of 80 % or more."
        return Verdict("goal reached already", (begin, words))
    if needed.estimate is None:
        # the part of the width that comes from the reach stays however many rows there are
        end = prospects.end
        width, distance = (math.log(end.estimate / error) ** 2 - LASTING_WIDTH**2 for error in (end.low, goal))
        shrink = math.sqrt(max(width, 0.0) / max(distance, 1e-9))
        return _ask_for_rows(prospects, prospects.ahead, reason, shrink=shrink, is_close=True).add(*hints)
    reached = now.estimate <= goal
    answer = _describe_need(prospects, goal, needed)
    if prospects.is_open:
        return _ask_for_rows(prospects, prospects.soon, answer, shrink=prospects.width)
    if needed.assured is None and prospects.is_flat:
        moment = now if reached else prospects.far
        shrink = math.log(moment.assured / moment.estimate) / max(1e-9, math.log(goal / moment.estimate))
        words = f"{answer} More rows change the error so little that this number may be far off."
        if reached:
            close = f"That is close to the goal of {shown}"
            words = f"{close}; these data cannot tell whether you are above or below it."
        return _ask_for_rows(prospects, words, shrink=shrink, is_close=True)
    return Verdict("more data helps", (begin, answer))


def _name_columns(left_out: Mapping[str, str]) -> str:
    """Name columns that are not used, since they may hold what is missing."""
    if not left_out:
        return ""
    alike: dict[str, list[str]] = {}
    for name, reason in left_out.items():
        alike.setdefault(reason, []).append(name)
    listed = "; ".join(f"{enumerate_names(names)} ({reason})" for reason, names in alike.items())
    return f"Not used as inputs: {listed}. They may hold the missing information."


def _ask_for_rows(prospects: Prospects, *words: str, shrink: float, is_close: bool = False) -> Verdict:
    """Say how many rows would give an answer: intervals narrow with the root of their number.

    ``shrink`` is the factor by which the interval must narrow; ``is_close`` that this is so because of a goal.
    """
    rows, factor = prospects.rows, max(1.5, shrink**2)
    if prospects.fitted_rows < rows:
        enough = f"The forecast uses {prospects.fitted_rows:,} of your rows, drawn at random: more would not narrow it."
    elif is_close and factor > _TOO_CLOSE:
        enough = "No realistic number of rows would tell whether the goal can be reached."
    elif (total := _widen(rows, factor if is_close else min(factor, _CLOSE))) > prospects.unit.limit:
        enough = f"All {prospects.unit.limit:,.0f} vertices together are too few to say more."
    else:
        enough = f"Collect about {rounded(total - rows)} more rows ({total:,} in total) and run the plan again"
        enough += (
            ": it takes so many because the goal is close to the expected error."
            if is_close and factor > _CLOSE
            else "."
        )
    return Verdict("too few rows to say", (prospects.begin, *words, enough))


def _describe_need(prospects: Prospects, goal: float, needed: RequiredN) -> str:
    """Say how many rows a goal needs that is reached somewhere, perhaps already."""
    if prospects.now.estimate <= goal:
        begin = f"You have probably reached the goal of {prospects.measure.write_goal(goal)} already, but"
        if needed.assured is None:
            return f"{begin} you cannot be 80 % sure of it with any number of rows. {prospects.ahead}"
        return f"{begin} this is not 80 % sure. To be 80 % sure, plan for {rounded(needed.assured)} rows."
    total, low = int(min(round_up(needed.estimate or 0), prospects.unit.limit)), needed.low or 0
    few = f"{rounded(low)} could be enough" if low > prospects.rows else "your current rows could be enough"
    many = f"{rounded(needed.high)} may be needed" if needed.high else "the goal may be out of reach"
    sentence = (
        f"You will probably need about {prospects.unit.say_number(f'{total:,}')} rows ({total - prospects.rows:,} more) to reach {prospects.measure.phrase(goal)}. "
        f"This is {'uncertain' if needed.high else 'very uncertain'}: {few}, and {many}."
    )
    moved = needed.monte_carlo_error or 0.0
    if needed.high and moved > _UNSTEADY * (needed.high - low):
        sentence = f"{sentence} Another seed changes the number by about {rounded(math.ceil(moved))}: use more draws."
    if needed.assured is None:
        return f"{sentence} You cannot be 80 % sure of reaching the goal with any number of rows."
    assured = f"{int(min(round_up(needed.assured), prospects.unit.limit)):,}"
    if needed.high is None:
        return f"{sentence} If the goal can be reached, {assured} rows are enough with a probability of 80 %."
    return f"{sentence} To have an 80 % chance of reaching it, plan for {assured}."


def _widen(rows: int, factor: float) -> int:
    return round_up(math.ceil(rows * factor))


def round_up(n: int) -> int:
    """Return a number of rows rounded up to two digits."""
    step = int(10 ** max(0, len(str(n)) - 2))
    return math.ceil(n / step) * step


def rounded(n: int) -> str:
    """Write a number of rows with two digits, rounded up: more would pretend to know them."""
    return f"{round_up(n):,}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share < 0.995 else "more than 99 %"
