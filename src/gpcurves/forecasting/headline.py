"""The answer in one sentence: how many rows a goal needs, as the command line ends with it and a report begins with it.

Which sentence it is follows from a few numbers and from the goal alone, so that a page can choose it again when the goal is moved:
`render/report/headline.js` makes the same choice from the same words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gpcurves.forecasting.units import Unit
from gpcurves.forecasting.verdict import Prospects, RequiredN, Verdict, judge, round_up, rounded

Case = Literal[
    "outliers",
    "reached",
    "reached, 80 % sure",
    "never",
    "doubtful",
    "doubtful, perhaps reached",
    "open",
    "open, guess",
    "likely",
    "likely, never sure",
    "number",
    "number, if at all",
    "number, never sure",
    "perhaps",
]
_MORE = "{count} rows, {more} more than you have"
WORDS: dict[Case, str] = {
    "outliers": "Too few rows to say: outliers dominate the error, check them first",
    "reached": "Your {have} rows are enough for {goal}",
    "reached, 80 % sure": "Your {have} rows are enough for {goal}, with a probability of 80 % or more",
    "never": "No number of rows reaches {goal}",
    "doubtful": "Perhaps no number of rows reaches {goal}; at best, about {least} are enough",
    "doubtful, perhaps reached": "Too few rows to say: {goal} may be reached already, or may be out of reach",
    "open": "Too few rows to say: collect about {collect} more ({total} in total) and plan again",
    "open, guess": "Too uncertain to say: {count} rows is the best guess",
    "likely": "Your {have} rows are probably enough for {goal}; plan for {assured} to be 80 % sure",
    "likely, never sure": "Your {have} rows are probably enough for {goal}, but no number of rows makes that 80 % sure",
    "number": f"About {_MORE}; plan for {{assured}} to be 80 % sure",
    "number, if at all": f"About {_MORE}; plan for {{assured}} to be 80 % sure, if the goal can be reached at all",
    "number, never sure": f"About {_MORE}, but no number of rows makes that 80 % sure",
    "perhaps": f"Perhaps {_MORE}, but no number of rows makes that 80 % sure",
}
"""The sentence of each case; numbers stand in the places in braces."""


@dataclass(frozen=True)
class Outlook:
    """What the sentence depends on beside the goal.

    ``high`` and ``assured`` are the errors below which the present one is with a probability of 95 % and of 80 %.
    ``outliers`` dominate the error; the forecast is ``open`` if its interval allows for any gain or none, and ``flat`` if more
    rows change the error little. ``total`` rows would narrow it enough; None if the forecast uses only a part of the rows already, or
    there are not so many vertices.
    """

    have: int
    high: float
    assured: float
    outliers: bool
    open: bool
    flat: bool
    total: int | None
    limit: int | None
    group: str | None = None

    @classmethod
    def of(cls, prospects: Prospects) -> Outlook:
        """Read it off the prospects of a forecast."""
        total = None if prospects.fitted_rows < prospects.rows else prospects.enough_rows
        if total is not None and total > prospects.unit.limit:  # a graph has only so many vertices
            total = None
        flags = (prospects.has_outliers, prospects.is_open, prospects.is_flat)
        now = prospects.now
        return cls(prospects.rows, now.high, now.assured, *flags, total, prospects.unit.most, prospects.unit.group)

    def choose(self, goal: float, needed: RequiredN) -> Case:
        """Return which sentence answers how many rows an error needs; the order is that of verdicts."""
        if self.outliers and self.high > goal:
            return "outliers"
        if self.high <= goal:
            return "reached"
        if needed.low is None:
            return "never"
        if self.assured <= goal:
            return "reached, 80 % sure"
        if needed.estimate is None:
            return "doubtful" if needed.low > self.have else "doubtful, perhaps reached"
        if self.open:
            return "open, guess" if self.total is None else "open"
        if needed.estimate <= self.have:
            return "likely, never sure" if needed.assured is None else "likely"
        if needed.assured is None:
            return "perhaps" if self.flat else "number, never sure"
        return "number, if at all" if needed.high is None else "number"

    def answer(self, goal: float, needed: RequiredN, phrase: str) -> str:
        """Return the sentence for a goal, which ``phrase`` names: "an RMSE of 0.3"."""
        unit = Unit(self.limit, self.group)
        count = int(min(round_up(needed.estimate or 0), unit.limit))
        total = self.total or 0
        return unit.say(WORDS[self.choose(goal, needed)]).format(
            have=f"{self.have:,}",
            goal=phrase,
            least=f"{int(min(round_up(needed.low or 0), unit.limit)):,}",
            count=unit.say_number(f"{count:,}"),
            more=f"{count - self.have:,}",
            assured=f"{int(min(round_up(needed.assured or 0), unit.limit)):,}",
            collect=rounded(total - self.have),
            total=f"{total:,}",
        )


def ask(target: str, prospects: Prospects, goal: float | None) -> str:
    """Return the question that `say_in_one_sentence` answers."""
    wanted = "" if goal is None else f" with {prospects.measure.phrase(goal)}"
    return f"{prospects.unit.say('How many rows')} do you need to predict {target}{wanted}?"


def say_in_one_sentence(prospects: Prospects, goal: float | None) -> str:
    """Return how many rows an error needs, or what more rows would do if there is no goal."""
    if goal is None:
        return _summarise(prospects, judge(prospects, None))
    return Outlook.of(prospects).answer(goal, prospects.require(goal), prospects.measure.phrase(goal))


def _summarise(prospects: Prospects, verdict: Verdict) -> str:
    """Return what more rows would do in one sentence, if there is no goal."""
    measure, n = prospects.measure, int(max(prospects.rows, min(4 * prospects.rows, prospects.unit.sight)))
    change = (
        f"{measure.subject} is about {measure.write(prospects.now.estimate)} now and about "
        f"{measure.write(prospects.later.estimate)}{measure.after} with {n:,} rows"
    )
    said = "Too few rows to say: the model has not yet found a pattern"
    if prospects.has_outliers:
        said = WORDS["outliers"]
    elif prospects.is_open:
        outlook = Outlook.of(prospects)
        said = "Too uncertain to say what more rows would do"
        if outlook.total is not None:
            said = WORDS["open"].format(collect=rounded(outlook.total - outlook.have), total=f"{outlook.total:,}")
    elif verdict.label == "more data helps":
        said = f"More rows help: {change}"
    elif verdict.label in ("noise-limited", "model-limited"):
        said = f"More rows are unlikely to help much: {change}"
    return prospects.unit.say(said)
