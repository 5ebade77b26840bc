"""What a forecast is: the error to expect at any number of rows with its interval, and answers to questions about it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from gpcurves._version import __version__
from gpcurves.curve import SCHEMA
from gpcurves.planning.calibration import ASSURANCE, LEVEL, half_widths
from gpcurves.planning.crossvalidation import CrossValidation, PowerLaw
from gpcurves.planning.curves import ErrorCurve
from gpcurves.validation import FloatArray, positive, sizes

if TYPE_CHECKING:
    import pandas as pd

    from gpcurves.planning.verdict import Verdict

HORIZON = 1_000
"""Required numbers of rows are looked for up to this multiple of the rows there are."""
_GRID = 400


@dataclass(frozen=True)
class RequiredN:
    """How many rows a goal needs.

    Attributes
    ----------
    estimate
        The best guess; None where no number of rows is likely to be enough.
    low, high
        90 % interval: fewer than ``low`` will hardly do, ``high`` very likely will. None where there is no such number.
    assured
        With this many the goal is reached with 80 % assurance; None where that cannot be said of any number.
    reason
        Why there is no estimate; empty where there is one.
    """

    estimate: int | None
    low: int | None
    high: int | None
    assured: int | None
    reason: str = ""


@dataclass(frozen=True)
class Relevance:
    """What each input contributes: its lengthscale in standard deviations of the input, and how much it matters.

    Attributes
    ----------
    names
        Names of the inputs.
    lengthscales
        Geometric means over the posterior; functions hardly change over much less than this.
    share
        Inverse squares of the lengthscales, scaled to sum to 1: which inputs the function varies along.
    """

    names: tuple[str, ...]
    lengthscales: FloatArray
    share: FloatArray


@dataclass(frozen=True, eq=False)
class Forecast:
    """The root mean squared error against noisy held-out targets, in the target's own units, at any number of rows.

    Attributes
    ----------
    rows
        How many rows with a target there are.
    fitted_rows
        How many of them the model was fitted to.
    columns
        How many inputs vary.
    noise_rmse
        What remains when everything that data can teach is learnt.
    cross_validation
        Errors on held-out rows after training on fewer, in the target's own units.
    power_law
        The curve a + b n^-c through them, for comparison.
    relevance
        Lengthscales of the inputs; None where the user's own model was taken as it is.
    notes
        What a reader should know about these numbers, in sentences.
    seed
        Determines all random numbers.
    """

    rows: int
    fitted_rows: int
    columns: int
    noise_rmse: float
    cross_validation: CrossValidation
    power_law: PowerLaw
    relevance: Relevance | None
    notes: tuple[str, ...]
    seed: int
    curves: tuple[ErrorCurve, ...] = field(repr=False)
    weights: FloatArray = field(repr=False)
    level: float = field(repr=False)
    scale: float = field(repr=False)
    saving: FloatArray = field(repr=False)

    def at(self, n: object) -> pd.DataFrame:
        """Return a table with the columns n, rmse, low, high: the estimate and its 90 % interval at each n."""
        import pandas as pd

        wanted = sizes("n", n)
        rmse, low, high = self.interval(wanted)
        return pd.DataFrame({"n": wanted.astype(np.int64), "rmse": rmse, "low": low, "high": high})

    def interval(self, n: FloatArray, share: float = 1.0) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the estimate and both ends of the interval, narrowed to a share of its width, at each n."""
        middle, spread = self._moments(np.append(n, self.fitted_rows))
        drop, today = middle[-1] - middle, float(middle[-1])
        gap, scatter = abs(self.level) / LEVEL, float(self.cross_validation.stderr[-1])
        factor = np.append(n, self.fitted_rows) / self.fitted_rows
        down, up = half_widths(spread, drop, factor, self.fitted_rows, gap, scatter, today)
        low, high = middle - share * down, middle + share * up
        # more rows never make an error worse
        high = np.where(factor > 1, np.minimum(high, high[-1]), high)
        rmse, low, high = (self.scale * np.exp(0.5 * (log[:-1] + self.level)) for log in (middle, low, high))
        return rmse, low, high

    def _moments(self, n: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and standard deviation over the posterior of the logarithm of the mean squared error."""
        logs = np.log([curve(n) for curve in self.curves])
        middle = self.weights @ logs
        return middle, np.sqrt(self.weights @ (logs - middle) ** 2)

    @cached_property
    def _grid(self) -> FloatArray:
        """Numbers of rows at which goals are looked for, from 1 to the horizon."""
        return np.unique(np.geomspace(1, HORIZON * self.rows, _GRID).round())

    @cached_property
    def _on_grid(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Estimate, low, high and assured error on the grid; more rows never make an error worse."""
        estimate, low, high = self.interval(self._grid)
        assured = self.interval(self._grid, ASSURANCE)[2]
        return estimate, low, np.minimum.accumulate(high), np.minimum.accumulate(assured)

    def required_n(self, rmse: float) -> RequiredN:
        """Return how many rows an error needs, or why no number of them is enough."""
        goal = positive("the goal", rmse)
        estimate, low, high, assured = (self._first(curve, goal) for curve in self._on_grid)
        return RequiredN(estimate, low, high, assured, "" if estimate is not None else self._reason(goal, low))

    def _first(self, curve: FloatArray, goal: float) -> int | None:
        """Return the smallest n at which a falling curve is at the goal."""
        reached = curve <= goal
        if not reached.any():
            return None
        i = int(np.argmax(reached))
        if i == 0:
            return int(self._grid[0])
        before, after = (float(size) for size in self._grid[i - 1 : i + 1])
        share = math.log(curve[i - 1] / goal) / math.log(curve[i - 1] / curve[i])
        return math.ceil(before * math.pow(after / before, share) - 1e-9)

    def _reason(self, goal: float, low: int | None) -> str:
        most = float(self._grid[-1])
        if low is None:
            return (
                f"an RMSE of {goal:.4g} cannot be reached: noise leaves about {self.noise_rmse:.4g}, and even the low end "
                f"of the interval stays at {self._on_grid[1][-1]:.4g} or more up to {most:.3g} rows"
            )
        return (
            f"an RMSE of {goal:.4g} is not expected at any number of rows up to {most:.3g}: the estimate stays at "
            f"{self._on_grid[0][-1]:.4g} or more; at the optimistic end of the interval it takes {low} rows"
        )

    def designed(self, n: object) -> pd.DataFrame:
        """Return the same table as `at` for inputs chosen one by one instead of at random.

        The choice is greedy and knows the lengthscales; where they must be learnt along the way it saves less.
        """
        table = self.at(n)
        place = np.minimum(table["n"].to_numpy(), len(self.saving) - 1)
        noise = self.noise_rmse**2
        for name in ("rmse", "low", "high"):
            mse = table[name].to_numpy() ** 2
            removable = np.maximum(mse - noise, 0.0)
            table[name] = np.sqrt(mse - removable + self.saving[place] * removable)
        return table

    def verdict(self, goal: float | None = None) -> Verdict:
        """Say in words what more rows would do, and whether a goal can be reached."""
        from gpcurves.planning.verdict import judge

        return judge(self, None if goal is None else positive("the goal", goal))

    def to_dict(self, n: object, goal: float | None = None) -> dict[str, Any]:
        """Return the forecast at these n and the answers about a goal as plain data, ready for JSON."""
        verdict = self.verdict(goal)
        needed = None if goal is None else self.required_n(goal)
        answer: dict[str, Any] = {"schema": SCHEMA, "package": "gpcurves", "version": __version__, "rng": self.seed}
        answer |= {"rows": self.rows, "fitted_rows": self.fitted_rows, "columns": self.columns, "goal_rmse": goal}
        if needed is None or needed.estimate is None:
            answer |= {"required_n": None, "reason": "no goal was given" if needed is None else needed.reason}
        else:
            answer["required_n"] = {"estimate": needed.estimate, "low": needed.low, "high": needed.high}
            answer["required_n"]["assured_80"] = needed.assured
        answer |= {"forecast": self.at(n).to_dict("records"), "noise_rmse": self.noise_rmse}
        answer |= {"verdict": verdict.label, "sentences": list(verdict.sentences)}
        seen = self.cross_validation
        answer["cross_validation"] = [
            {"n": int(size), "rmse": math.sqrt(mse)} for size, mse in zip(seen.n, seen.mse, strict=True)
        ]
        answer["power_law"] = [
            {"n": int(size), "rmse": math.sqrt(mse)}
            for size, mse in zip(sizes("n", n), self.power_law(np.maximum(sizes("n", n), 1.0)), strict=True)
        ]
        answer |= {"designed": self.designed(n).to_dict("records"), "lengthscales": self.lengthscales}
        return answer | {"notes": list(self.notes)}

    @property
    def lengthscales(self) -> dict[str, float]:
        """The lengthscale of each input, in standard deviations of the input."""
        if self.relevance is None:
            return {}
        return dict(zip(self.relevance.names, self.relevance.lengthscales.tolist(), strict=True))
