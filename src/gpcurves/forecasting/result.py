"""What a forecast is: the error to expect at any number of rows with its interval, and answers to questions about it."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from gpcurves._version import __version__
from gpcurves.curve import SCHEMA
from gpcurves.forecasting.calibration import ASSURANCE, LEVEL, half_widths
from gpcurves.forecasting.crossvalidation import CrossValidation, PowerLawFit
from gpcurves.forecasting.error_curve import ErrorCurve
from gpcurves.forecasting.relevance import Relevance
from gpcurves.numerics.display import Shown
from gpcurves.numerics.validation import FloatArray, positive, sizes

if TYPE_CHECKING:
    import pandas as pd

    from gpcurves.forecasting.verdict import Verdict

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


@dataclass(frozen=True, eq=False, repr=False)
class Forecast(Shown):
    """The root mean squared error against noisy held-out targets, in the target's own units, at any number of rows.

    Attributes
    ----------
    target
        What is predicted.
    rows
        How many usable rows with a target there are.
    fitted_rows
        How many of them the model was fitted to.
    columns
        How many inputs are used.
    noise_rmse
        What remains when everything that data can teach is learnt.
    cross_validation
        Errors on held-out rows after training on fewer, in the target's own units.
    power_law
        The curve a + b n^-c through them, for comparison.
    relevance
        What each input contributes; None where the user's own model was taken as it is.
    steps
        What was done to the data, in sentences.
    notes
        What a reader should know about these numbers, in sentences.
    seed
        Determines all random numbers.
    deterministic
        Whether the target was taken as a function of the inputs without noise.
    outlying
        How many standard deviations of the others the hundredth part of the rows is away that is furthest out; 0 where models
        foresee it.
    """

    target: str
    rows: int
    fitted_rows: int
    columns: int
    noise_rmse: float
    cross_validation: CrossValidation
    power_law: PowerLawFit
    relevance: Relevance | None
    steps: tuple[str, ...]
    notes: tuple[str, ...]
    seed: int
    curves: tuple[ErrorCurve, ...]
    weights: FloatArray
    level: float
    scale: float
    saving: FloatArray
    deterministic: bool = False
    outlying: float = 0.0

    def at(self, n: object) -> pd.DataFrame:
        """Return a table with the columns n, rmse, low, high: the estimate and its 90 % interval at each n.

        As everywhere in gpcurves, a single whole number stands for 0, 1, …, n: write ``[n]`` for this one alone.
        """
        import pandas as pd

        wanted = sizes("n", n)
        rmse, low, high = self.interval(wanted)
        return pd.DataFrame({"n": wanted.astype(np.int64), "rmse": rmse, "low": low, "high": high})

    def interval(self, n: FloatArray, share: float = 1.0) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the estimate and both ends of the interval, narrowed to a share of its width, at each n."""
        asked, today = np.concatenate((n, self._ahead)), len(n)
        factor = asked / self.fitted_rows
        middle, spread, above = self._moments(asked)
        gap, scatter = abs(self.level) / LEVEL, float(self.cross_validation.stderr[-1])
        down, up = half_widths(factor, spread, scatter, gap, middle[today] - middle, above)
        down, up = (np.where(factor < 1, side[today], side) for side in (down, up))  # fewer rows were tried out
        ends = (
            _falling(n, end[:today], self._ahead, end[today:]) for end in (middle - share * down, middle + share * up)
        )
        rmse, low, high = (self.scale * np.exp(0.5 * (log + self.level)) for log in (middle[:today], *ends))
        return rmse, low, high

    def _moments(self, n: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return mean and standard deviation over the posterior of the log mean squared error, and how far it is above the noise."""
        logs = np.log([curve(n) for curve in self.curves])
        middle = self.weights @ logs
        noise = self.weights @ np.log([curve.noise_at(n) for curve in self.curves])
        return middle, np.sqrt(self.weights @ (logs - middle) ** 2), middle - noise

    @cached_property
    def _grid(self) -> FloatArray:
        """Numbers of rows at which goals are looked for, from 1 to the horizon."""
        return np.unique(np.geomspace(1, self.horizon, _GRID).round())

    @cached_property
    def _ahead(self) -> FloatArray:
        """Numbers of rows from those there are to the horizon."""
        return np.append(self.fitted_rows, self._grid[self._grid > self.fitted_rows])

    @cached_property
    def _on_grid(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Estimate, low, high and assured error on the grid."""
        estimate, low, high = self.interval(self._grid)
        return estimate, low, high, self.interval(self._grid, ASSURANCE)[2]

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
        from gpcurves.forecasting.verdict import rounded

        if low is None:
            noise = (
                f"noise leaves about {self.noise_rmse:.4g}, and "
                if self.noise_rmse >= goal and not self.deterministic
                else ""
            )
            return (
                f"an RMSE of {goal:.4g} cannot be reached: {noise}even the low end of the interval stays at "
                f"{self._on_grid[1][-1]:.4g} or more up to {self.horizon:,} rows"
            )
        hope = f"it takes {rounded(low)} rows" if low > self.rows else "it is reached already"
        return (
            f"an RMSE of {goal:.4g} is not expected at any number of rows up to {self.horizon:,}: the estimate stays at "
            f"{self._on_grid[0][-1]:.4g} or more; at the optimistic end of the interval {hope}"
        )

    def designed(self, n: object) -> pd.DataFrame:
        """Return the same table as `at` where the rows beyond those there are have inputs chosen one by one, not at random.

        The choice is greedy and knows the lengthscales; where they must be learnt along the way it saves less.
        """
        import pandas as pd

        wanted = sizes("n", n)
        ahead = self.rows + np.arange(len(self.saving), dtype=np.float64)
        asked = np.concatenate((wanted, ahead))
        kept = np.where(asked > self.rows, np.interp(asked, ahead, self.saving), 1.0)
        noise = self.noise_rmse**2
        table = pd.DataFrame({"n": wanted.astype(np.int64)})
        for name, values in zip(("rmse", "low", "high"), self.interval(asked), strict=True):
            removable = np.maximum(values**2 - noise, 0.0)
            left = np.sqrt(values**2 - removable + kept * removable)
            table[name] = _falling(wanted, left[: len(wanted)], ahead, left[len(wanted) :])
        return table

    def split(self, n: object) -> pd.DataFrame:
        """Return a table with the columns n, noise, removable: which part of the squared error noise leaves, and data can remove."""
        import pandas as pd

        table = self.at(n)
        total = table["rmse"].to_numpy() ** 2
        noise = np.minimum(self.noise_rmse**2, total)
        return pd.DataFrame({"n": table["n"], "noise": noise, "removable": total - noise})

    def verdict(self, goal: float | None = None) -> Verdict:
        """Say in words what more rows would do, and whether a goal can be reached."""
        from gpcurves.forecasting.verdict import judge

        return judge(self, None if goal is None else positive("the goal", goal))

    def to_dict(self, n: object = None, goal: float | None = None) -> dict[str, Any]:
        """Return the forecast at these n and the answers about a goal as plain data, ready for JSON."""
        wanted = self.multiples if n is None else sizes("n", n)
        goal = None if goal is None else positive("the goal", goal)
        verdict = self.verdict(goal)
        needed = None if goal is None else self.required_n(goal)
        answer: dict[str, Any] = {"schema": SCHEMA, "package": "gpcurves", "version": __version__, "rng": self.seed}
        answer |= {"target": self.target, "rows": self.rows, "fitted_rows": self.fitted_rows, "columns": self.columns}
        answer["goal_rmse"] = goal
        if needed is None or needed.estimate is None:
            answer |= {"required_n": None, "reason": "no goal was given" if needed is None else needed.reason}
            answer["required_n_at_best"] = None if needed is None else needed.low
        else:
            answer["required_n"] = {"estimate": needed.estimate, "low": needed.low, "high": needed.high}
            answer["required_n"]["assured_80"] = needed.assured
        answer |= {"forecast": self.at(wanted).to_dict("records"), "noise_rmse": self.noise_rmse}
        answer |= {"split": self.split(wanted).to_dict("records"), "deterministic": self.deterministic}
        answer |= {"verdict": verdict.label, "sentences": list(verdict.sentences)}
        seen = self.cross_validation
        answer["cross_validation"] = _records(seen.n, seen.mse)
        answer["power_law"] = _records(wanted, self.power_law(np.maximum(wanted, 1.0)))
        answer |= {"chosen_inputs": self.designed(wanted).to_dict("records"), "inputs": self._inputs()}
        return answer | {"steps": list(self.steps), "notes": list(self.notes)}

    def to_json(self, n: object = None, goal: float | None = None) -> str:
        """Return the same as text."""
        return json.dumps(self.to_dict(n, goal), indent=1, allow_nan=False) + "\n"

    def to_frame(self, n: object = None) -> pd.DataFrame:
        """Return the forecast at 1, 2, 4, 8 and 16 times the rows there are, or at these n."""
        return self.at(self.multiples if n is None else n)

    @property
    def horizon(self) -> int:
        """The largest number of rows at which goals are looked for."""
        return HORIZON * self.rows

    @property
    def multiples(self) -> FloatArray:
        """1, 2, 4, 8 and 16 times the rows there are."""
        return self.rows * np.array([1.0, 2.0, 4.0, 8.0, 16.0])

    @property
    def lengthscales(self) -> dict[str, float]:
        """The lengthscale of each input, in standard deviations of the input."""
        if self.relevance is None:
            return {}
        return dict(zip(self.relevance.names, self.relevance.lengthscales.tolist(), strict=True))

    def _inputs(self) -> list[dict[str, Any]]:
        found = self.relevance
        if found is None:
            return []
        columns = (found.names, found.lengthscales.tolist(), found.units.tolist(), found.share.tolist())
        return [
            {"name": name, "lengthscale_sd": scale, "lengthscale": None if math.isnan(own) else own, "share": share}
            for name, scale, own, share in zip(*columns, strict=True)
        ]

    def __repr__(self) -> str:
        verdict = self.verdict()
        return f"<Forecast of {self.target!r} from {self.rows} rows and {self.columns} inputs: {verdict}>"


def _falling(n: FloatArray, values: FloatArray, ahead: FloatArray, there: FloatArray) -> FloatArray:
    """Return values at n, lowered to the least of the values that are ``there`` at numbers of rows ``ahead`` up to n."""
    before = np.searchsorted(ahead, n, side="right") - 1
    return np.where(before < 0, values, np.minimum(values, np.minimum.accumulate(there)[before]))


def _records(n: FloatArray, mse: FloatArray) -> list[dict[str, float]]:
    return [{"n": int(size), "rmse": math.sqrt(error)} for size, error in zip(n, mse, strict=True)]
