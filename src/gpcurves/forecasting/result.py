"""What a forecast is: the error to expect at any number of rows with its interval, and answers to questions about it."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd

from gpcurves._version import __version__
from gpcurves.curve import SCHEMA, dump
from gpcurves.forecasting.crossvalidation import CrossValidation, PowerLawFit
from gpcurves.forecasting.intervals import HORIZON, Band, never_rise
from gpcurves.forecasting.verdict import Prospects, RequiredN, Verdict, judge
from gpcurves.numerics.display import Shown
from gpcurves.numerics.validation import FloatArray, positive, sizes

_KEYS = ("name", "lengthscale_sd", "lengthscale", "share")
_PLAIN = ("target", "rows", "fitted_rows", "columns", "noise_rmse", "deterministic")


@dataclass(frozen=True)
class Relevance:
    """What each of the user's columns contributes: its share of the explainable variance, and its lengthscale.

    Lengthscales are geometric means over the posterior, in standard deviations of the input: functions hardly change over
    much less. For a category it is the shortest of its columns. ``units`` are the same in the input's own units, NaN for a
    category, or if there are only two values.
    """

    names: tuple[str, ...]
    lengthscales: FloatArray
    units: FloatArray
    share: FloatArray

    def to_records(self) -> list[dict[str, Any]]:
        """Return one dictionary per column, ready for JSON."""
        units = [None if math.isnan(own) else own for own in self.units.tolist()]
        columns = (self.names, self.lengthscales.tolist(), units, self.share.tolist())
        return [dict(zip(_KEYS, row, strict=True)) for row in zip(*columns, strict=True)]

    @classmethod
    def from_records(cls, records: list[dict[str, Any]]) -> Self:
        """Build it from what `to_records` returned."""
        names, *columns = ([record[key] for record in records] for key in _KEYS)
        return cls(tuple(names), *(np.array(column, dtype=np.float64) for column in columns))


@dataclass(frozen=True, eq=False, repr=False)
class Forecast(Shown):
    """The root mean squared error against noisy held-out targets, in the target's own units, at any number of rows.

    Attributes
    ----------
    target
        What is predicted.
    rows, fitted_rows, columns
        How many usable labelled rows there are, how many of them the model was fitted to, and how many inputs are used.
    band
        The error with its interval.
    noise_rmse
        The noise floor (irreducible error): the lowest RMSE that unlimited data would reach.
    remaining
        Which share of the reducible error remains if further inputs are chosen, after 0, 1, … of them.
    outlying
        Distance of the most extreme 1 % of the rows from the rest, in standard deviations; 0 if the model explains them.
    cross_validation, power_law
        Mean squared errors on held-out rows after training on fewer, with their standard errors, in squared units of the
        target; the curve a + b n^-c through them, for comparison.
    relevance
        What each input contributes; None if the user's own model was taken as it is.
    deterministic
        Whether the target was taken as a function of the inputs without noise.
    steps, notes
        What was done to the data, and what a reader should know about these numbers, in sentences.
    seed
        Determines all random numbers.
    """

    target: str
    rows: int
    fitted_rows: int
    columns: int
    band: Band
    noise_rmse: float
    remaining: FloatArray
    outlying: float
    cross_validation: CrossValidation
    power_law: PowerLawFit
    relevance: Relevance | None
    deterministic: bool
    steps: tuple[str, ...]
    notes: tuple[str, ...]
    seed: int

    def at(self, n: object) -> pd.DataFrame:
        """Return a table with the columns n, rmse, low, high: the estimate and its 90 % interval at each n.

        As everywhere in gpcurves, a single integer stands for 0, 1, …, n: write ``[n]`` for this one alone.
        """
        wanted = sizes("n", n)
        rmse, low, high, _ = self.band.at(wanted)
        return pd.DataFrame({"n": wanted.astype(np.int64), "rmse": rmse, "low": low, "high": high})

    def required_n(self, rmse: float) -> RequiredN:
        """Return how many rows an error needs, or why no number of them is enough."""
        return self._prospects.require(positive("the goal", rmse))

    def verdict(self, goal: float | None = None) -> Verdict:
        """Say in words what more rows would do, and whether a goal can be reached."""
        return judge(self._prospects, None if goal is None else positive("the goal", goal))

    @cached_property
    def _prospects(self) -> Prospects:
        return Prospects(self.band, self.rows, self.fitted_rows, self.noise_rmse, self.outlying, self.deterministic)

    def designed(self, n: object) -> pd.DataFrame:
        """Return the same table as `at` if the inputs of all further rows are chosen one by one, not drawn at random.

        The choice is greedy and assumes known lengthscales; in practice expect a smaller gain.
        """
        wanted = sizes("n", n)
        ahead = self.rows + np.arange(len(self.remaining), dtype=np.float64)
        asked = np.concatenate((wanted, ahead))
        order = np.argsort(asked, kind="stable")
        marks, back = order >= len(wanted), np.argsort(order)[: len(wanted)]
        share = np.where(asked > self.rows, np.interp(asked, ahead, self.remaining), 1.0)
        table = pd.DataFrame({"n": wanted.astype(np.int64)})
        for name, values in zip(("rmse", "low", "high"), self.band.at(asked), strict=False):
            reducible = np.maximum(values**2 - self.noise_rmse**2, 0.0)
            left = np.sqrt(values**2 - reducible + share * reducible)
            table[name] = never_rise(left[order], marks)[back]
        return table

    def split(self, n: object) -> pd.DataFrame:
        """Return a table with the columns n, noise, removable: the irreducible and the reducible part of the squared error."""
        table = self.at(n)
        total = table["rmse"].to_numpy() ** 2
        noise = np.minimum(self.noise_rmse**2, total)
        return pd.DataFrame({"n": table["n"], "noise": noise, "removable": total - noise})

    def answers(self, n: object = None, goal: float | None = None) -> dict[str, Any]:
        """Return the forecast at these n and the answers about a goal as plain data, ready for JSON."""
        table = self.to_frame(n)
        sizes, seen = table["n"].to_numpy(dtype=np.float64), self.cross_validation
        needed = None if goal is None else self.required_n(goal)
        verdict = self.verdict(goal)
        required: dict[str, Any]
        if needed is None or needed.estimate is None:
            required = {"required_n": None, "reason": "no goal was given" if needed is None else needed.reason}
            required["required_n_at_best"] = None if needed is None else needed.low
        else:
            numbers: dict[str, float | None] = {"estimate": needed.estimate, "low": needed.low, "high": needed.high}
            numbers |= {"assured_80": needed.assured, "monte_carlo_error": needed.monte_carlo_error}
            required = {"required_n": numbers}
        return {
            "schema": SCHEMA,
            "package": "gpcurves",
            "version": __version__,
            "rng": self.seed,
            **{key: getattr(self, key) for key in _PLAIN},
            "goal_rmse": None if goal is None else float(goal),
            **required,
            "forecast": table.to_dict("records"),
            "split": self.split(sizes).to_dict("records"),
            "verdict": verdict.label,
            "sentences": list(verdict.sentences),
            "cross_validation": [
                each | {"stderr": each["rmse"] * relative / 2}  # that of the logarithm of a root is half as large
                for each, relative in zip(_list_errors(seen.n, seen.mse), seen.log_stderr.tolist(), strict=True)
            ],
            "power_law": _list_errors(sizes, self.power_law(np.maximum(sizes, 1.0))),
            "chosen_inputs": self.designed(sizes).to_dict("records"),
            "inputs": [] if self.relevance is None else self.relevance.to_records(),
            "steps": list(self.steps),
            "notes": list(self.notes),
        }

    def to_dict(self, n: object = None, goal: float | None = None) -> dict[str, Any]:
        """Return the answers, and under "record" all else that is needed to build the forecast again with `from_dict`."""
        arrays = (asdict(self.band), asdict(self.cross_validation))
        band, observed = ({name: array.tolist() for name, array in each.items()} for each in arrays)
        record = {
            "band": band,
            "remaining": self.remaining.tolist(),
            "outlying": str(self.outlying),  # it may be infinite, which JSON has no number for
            "cross_validation": observed,
            "power_law": asdict(self.power_law),
        }
        return self.answers(n, goal) | {"record": record}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Build a forecast from what `to_dict` returned."""
        record = data["record"]
        return cls(
            **{key: data[key] for key in _PLAIN},
            band=Band(**record["band"]),
            remaining=np.array(record["remaining"]),
            outlying=float(record["outlying"]),
            cross_validation=CrossValidation(*map(np.array, record["cross_validation"].values())),
            power_law=PowerLawFit(**record["power_law"]),
            relevance=Relevance.from_records(data["inputs"]) if data["inputs"] else None,
            steps=tuple(data["steps"]),
            notes=tuple(data["notes"]),
            seed=data["rng"],
        )

    def to_json(self, path: str | Path | None = None, *, n: object = None, goal: float | None = None) -> str:
        """Return `to_dict` as text, and write it to ``path`` if given; `gpcurves.load` reads it again."""
        return dump(self.to_dict(n, goal), path)

    def to_frame(self, n: object = None) -> pd.DataFrame:
        """Return the forecast at 1, 2, 4, 8 and 16 times the rows at hand, or at these n."""
        return self.at([k * self.rows for k in (1, 2, 4, 8, 16)] if n is None else n)

    @property
    def horizon(self) -> int:
        """The largest number of rows at which goals are looked for."""
        return HORIZON * self.rows

    @property
    def lengthscales(self) -> dict[str, float]:
        """The lengthscale of each input, in standard deviations of the input."""
        if self.relevance is None:
            return {}
        return dict(zip(self.relevance.names, self.relevance.lengthscales.tolist(), strict=True))

    def __repr__(self) -> str:
        return f"<Forecast of {self.target!r} from {self.rows} rows and {self.columns} inputs: {self.verdict()}>"


def _list_errors(n: FloatArray, mse: FloatArray) -> list[dict[str, float]]:
    return [{"n": int(size), "rmse": math.sqrt(error)} for size, error in zip(n, mse, strict=True)]
