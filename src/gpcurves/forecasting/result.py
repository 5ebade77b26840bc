"""What a forecast is: the error to expect at any number of rows with its interval, and answers to questions about it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol, Self, get_args

import numpy as np
import pandas as pd

from gpcurves._version import __version__
from gpcurves.curve import SCHEMA, dump
from gpcurves.errors import InputError, check_name
from gpcurves.forecasting.crossvalidation import CrossValidation, PowerLawFit
from gpcurves.forecasting.intervals import HORIZON, Band, never_rise
from gpcurves.forecasting.measures import ErrorMeasure, ForecastGoal, MeasureName, Spread
from gpcurves.forecasting.planning import Gain, StoppingPoint, count_test_rows, find_gain, find_stopping_point
from gpcurves.forecasting.questions import Questions
from gpcurves.forecasting.units import Unit
from gpcurves.forecasting.verdict import Facts, Prospects, RequiredN, Verdict, judge
from gpcurves.numerics.display import Shown, html_table
from gpcurves.numerics.validation import FloatArray, sizes

Goal = float | ForecastGoal | None
NOTHING = Questions()
_NO_MODEL = "a forecast that was loaded from a file has no model and cannot {}: make the forecast again from your rows"
_OWN_MODEL = "the model is your own regressor: predict with it, or forecast from X and y"
_KEYS = ("name", "lengthscale_sd", "lengthscale", "share")
_PLAIN = (
    "target",
    "rows",
    "fitted_rows",
    "columns",
    "noise_rmse",
    "deterministic",
    "deviation",
    "mean_absolute",
    "repeatability",
    "known_noise",
    "gap",
    "vertices",
)


@dataclass(frozen=True, repr=False)
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

    def __repr__(self) -> str:
        order = np.argsort(-self.share, kind="stable").tolist()
        return f"<Relevance: {', '.join(f'{self.names[k]} {self.share[k]:.0%}' for k in order)}>"

    def _repr_html_(self) -> str:
        order = np.argsort(-self.share, kind="stable").tolist()
        rows = [(self.names[k], f"{self.share[k]:.0%}", f"{self.lengthscales[k]:.3g}") for k in order]
        return html_table(rows, ("input", "share of the explainable variance", "lengthscale in standard deviations"))

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


class RowPredictor(Protocol):
    """Predicts new rows, or vertices."""

    def predict(self, X: Any) -> pd.DataFrame: ...


class RowChooser(Protocol):
    """Chooses the next rows, or vertices."""

    def choose(self, k: int) -> tuple[pd.DataFrame, list[int] | None]: ...


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
    deviation, mean_absolute
        Standard deviation and mean absolute value of the target.
    repeatability
        How much rows with nearly equal inputs differ at most (standard deviation, 95 % limit); None if there are too few.
    known_noise
        The root mean squared standard error of the targets, if these were given.
    gap
        The logarithm of the cross-validated squared error over the one that the model itself expects.
    left_out
        Columns that are not used, each with the reason.
    predictor, chooser
        The model, to predict new rows and to choose the next ones; None in a forecast that was loaded from a file.
    vertices
        The number of vertices of the graph whose labels were forecast, all that n can be; None for the rows of a table.

    Examples
    --------
    >>> import gpcurves as gpc
    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(-1, 1, (30, 1))
    >>> forecast = gpc.forecast(X, np.sin(3 * X[:, 0]), draws=1, rng=0)
    >>> list(forecast.at([30, 60]).columns)
    ['n', 'rmse', 'low', 'high']
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
    deviation: float
    mean_absolute: float
    repeatability: float | None = None
    known_noise: float | None = None
    gap: float = 0.0
    left_out: Mapping[str, str] = field(default_factory=dict)
    predictor: RowPredictor | None = None
    chooser: RowChooser | None = None
    vertices: int | None = None

    @property
    def unit(self) -> Unit:
        """What n counts."""
        return Unit(self.vertices)

    def at(self, n: object, measure: MeasureName = "rmse") -> pd.DataFrame:
        """Return a table with the columns n, rmse, low, high: the estimate and its 90 % interval at each n.

        As everywhere in gpcurves, a single integer stands for 0, 1, …, n: write ``[n]`` for this one alone. Another measure
        ("mae", "r2", "percent" of the target's standard deviation, "relative": per cent of the mean absolute target) adds columns:
        mae, mae_low and mae_high, for instance.
        """
        wanted = self._sizes(n)
        rmse, low, high, _ = self.band.at(wanted)
        table = pd.DataFrame({"n": wanted.astype(np.int64), "rmse": rmse, "low": low, "high": high})
        check_name("measure", measure, get_args(MeasureName))
        if measure != "rmse":
            told = self.spread.measure(measure)
            ends = (high, low) if told.rises else (low, high)
            for name, values in zip(("", "_low", "_high"), (rmse, *ends), strict=True):
                table[f"{measure}{name}"] = told.from_rmse(values)
        return table

    def _sizes(self, n: object) -> FloatArray:
        wanted = sizes("n", n)
        if self.vertices is not None and wanted.max(initial=0) > self.vertices:
            raise InputError(f"n must be at most {self.vertices:,}, one label for each vertex, got {wanted.max():,.0f}")
        return wanted

    @property
    def spread(self) -> Spread:
        """What measures other than the RMSE refer to."""
        return Spread(self.deviation, self.mean_absolute, self.cross_validation.ratio)

    def goal(
        self,
        rmse: float | None = None,
        *,
        mae: float | None = None,
        r2: float | None = None,
        percent: float | None = None,
    ) -> ForecastGoal:
        """Return a goal in one of these measures: RMSE, MAE, R², or RMSE in per cent of the target's standard deviation."""
        return self.spread.goal(rmse=rmse, mae=mae, r2=r2, percent=percent)

    def required_n(
        self,
        rmse: float | None = None,
        *,
        mae: float | None = None,
        r2: float | None = None,
        percent: float | None = None,
    ) -> RequiredN:
        """Return how many rows a goal in one of the measures needs, or why no number of them is enough."""
        return self._require(self.goal(rmse, mae=mae, r2=r2, percent=percent))

    def _require(self, goal: ForecastGoal, asked: Questions = NOTHING) -> RequiredN:
        return self._prospects(asked.measure(self, goal)).require(goal.rmse)

    def verdict(self, goal: Goal = None, asked: Questions = NOTHING) -> Verdict:
        """Say in words what more rows would do, and whether a goal, an RMSE or what `goal` returns, can be reached."""
        aim = self.as_goal(goal)
        prospects = self._prospects(
            asked.measure(self, aim), self.known_noise if asked.known_noise is None else asked.known_noise
        )
        return judge(prospects, None if aim is None else aim.rmse)

    def as_goal(self, goal: Goal) -> ForecastGoal | None:
        """Return a goal, of which a number is an RMSE."""
        return goal if goal is None or isinstance(goal, ForecastGoal) else self.spread.goal(rmse=goal)

    def _prospects(self, measure: ErrorMeasure, known_noise: float | None = None) -> Prospects:
        facts = Facts(
            self.rows,
            self.fitted_rows,
            self.noise_rmse,
            self.outlying,
            self.deterministic,
            self.repeatability,
            self.gap,
            self.left_out,
            known_noise,
            self.unit,
        )
        return Prospects(self.band, facts, measure)

    def predict(self, X: Any = None) -> pd.DataFrame:
        """Return a table with the columns prediction, low, high for new rows: the mean, and the 90 % interval of the target.

        X is an array or a table like the one that was learnt from, or the name of a file. On a graph it is a list of vertices,
        all if None.
        """
        if self.predictor is None:
            own = self.relevance is None and self.vertices is None
            raise InputError(_OWN_MODEL if own else _NO_MODEL.format("predict"))
        return self.predictor.predict(X)

    def next_rows(self, k: int) -> pd.DataFrame:
        """Return the k inputs to measure next, the most informative first.

        They are rows of the pool, with its columns and index, if a pool was given; else suggestions in the columns and units
        of the table, drawn like its rows. Each is chosen to lower the variance of the likeliest model the most, given those
        before it.
        """
        return self.choose(k)[0]

    def choose(self, k: int) -> tuple[pd.DataFrame, list[int] | None]:
        """Return `next_rows`, and their numbers, counted from 1, if they are rows of a pool."""
        if self.chooser is None:
            raise InputError(_NO_MODEL.format("choose rows"))
        return self.chooser.choose(k)

    def gain(self, k: int) -> Gain:
        """Return by how much the next k rows should lower the RMSE, with a 90 % interval."""
        return find_gain(self.band, self.rows, k)

    def stop_at(self, cost_per_row: float, value_of_error: float) -> StoppingPoint:
        """Return where to stop if a row costs so much, and one unit of RMSE is worth so much in the same currency."""
        return find_stopping_point(self.band, self.rows, cost_per_row, value_of_error)

    def test_rows(self, precision: float, n: int | None = None) -> int:
        """Return how many test rows measure the RMSE of a model from n rows (those at hand) to ± this, with 90 % confidence."""
        rmse = float(self.at([self.rows if n is None else n])["rmse"].iloc[0])
        return count_test_rows(rmse, self.cross_validation.kurtosis, precision)

    def designed(self, n: object) -> pd.DataFrame:
        """Return the same table as `at` if the inputs of all further rows are chosen one by one, not drawn at random.

        The choice is greedy and assumes known lengthscales; in practice expect a smaller gain.
        """
        wanted = self._sizes(n)
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

    def answers(self, n: object = None, goal: Goal = None, asked: Questions = NOTHING) -> dict[str, Any]:
        """Return the forecast at these n, the answers about a goal and to further questions as plain data, ready for JSON."""
        aim = self.as_goal(goal)
        table = self.to_frame(n, asked.measure(self, aim).name)
        sizes, seen = table["n"].to_numpy(dtype=np.float64), self.cross_validation
        needed = None if aim is None else self._require(aim, asked)
        verdict, further = self.verdict(aim, asked), asked.answer(self)
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
            "goal_rmse": None if aim is None else aim.rmse,
            "goal": None if aim is None else {"measure": aim.measure.name, "value": aim.value},
            **required,
            "forecast": table.to_dict("records"),
            "split": self.split(sizes).to_dict("records"),
            "verdict": verdict.label,
            "sentences": [*verdict.sentences, *further.sentences],
            **further.data,
            "left_out": dict(self.left_out),
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

    def to_dict(self, n: object = None, goal: Goal = None, asked: Questions = NOTHING) -> dict[str, Any]:
        """Return the answers, and under "record" all else that is needed to build the forecast again with `from_dict`."""
        parts = (asdict(self.band), asdict(self.cross_validation))
        band, observed = ({name: np.asarray(value).tolist() for name, value in each.items()} for each in parts)
        record = {
            "band": band,
            "remaining": self.remaining.tolist(),
            "outlying": str(self.outlying),  # it may be infinite, which JSON has no number for
            "cross_validation": observed,
            "power_law": asdict(self.power_law),
        }
        return self.answers(n, goal, asked) | {"record": record}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Build a forecast from what `to_dict` returned."""
        record = data["record"]
        seen: dict[str, Any] = {
            name: np.array(value) if isinstance(value, list) else value
            for name, value in record["cross_validation"].items()
        }
        return cls(
            **{key: data[key] for key in _PLAIN if key in data},  # older files know of no vertices
            band=Band(**record["band"]),
            remaining=np.array(record["remaining"]),
            outlying=float(record["outlying"]),
            cross_validation=CrossValidation(**seen),
            power_law=PowerLawFit(**record["power_law"]),
            relevance=Relevance.from_records(data["inputs"]) if data["inputs"] else None,
            steps=tuple(data["steps"]),
            notes=tuple(data["notes"]),
            left_out=data["left_out"],
            seed=data["rng"],
        )

    def to_json(
        self, path: str | Path | None = None, *, n: object = None, goal: Goal = None, asked: Questions = NOTHING
    ) -> str:
        """Return `to_dict` as text, and write it to ``path`` if given; `gpcurves.load` reads it again."""
        return dump(self.to_dict(n, goal, asked), path)

    def to_frame(self, n: object = None, measure: MeasureName = "rmse") -> pd.DataFrame:
        """Return the forecast at 1, 2, 4, 8 and 16 times the rows at hand, or at these n, as `at` does."""
        usual = sorted({self.rows, *(int(min(k * self.rows, self.unit.sight)) for k in (2, 4, 8, 16))})
        return self.at(usual if n is None else n, measure)

    @property
    def horizon(self) -> int:
        """The largest number of rows at which goals are looked for."""
        return int(min(HORIZON * self.rows, self.unit.limit))

    @property
    def lengthscales(self) -> dict[str, float]:
        """The lengthscale of each input, in standard deviations of the input."""
        if self.relevance is None:
            return {}
        return dict(zip(self.relevance.names, self.relevance.lengthscales.tolist(), strict=True))

    def __repr__(self) -> str:
        source = f"{self.rows} rows and {self.columns} inputs"
        if self.vertices is not None:
            source = f"{self.rows} labels at {self.vertices} vertices"
        return f"<Forecast of {self.target!r} from {source}: {self.verdict()}>"


def _list_errors(n: FloatArray, mse: FloatArray) -> list[dict[str, float]]:
    return [{"n": int(size), "rmse": math.sqrt(error)} for size, error in zip(n, mse, strict=True)]
