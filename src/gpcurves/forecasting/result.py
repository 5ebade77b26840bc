"""What a forecast is: the error to expect at any number of rows with its interval, and answers to questions about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self, get_args

import numpy as np
import pandas as pd

from gpcurves._version import __version__
from gpcurves.curve import SCHEMA, dump
from gpcurves.errors import InputError, check_name
from gpcurves.forecasting.class_errors import ClassErrors
from gpcurves.forecasting.crossvalidation import ClassValidation, CrossValidation, PowerLawFit
from gpcurves.forecasting.headline import say_in_one_sentence
from gpcurves.forecasting.intervals import HORIZON, Band, never_rise
from gpcurves.forecasting.measures import (
    CLASS_MEASURES,
    ERROR_RATE,
    LOG_LOSS,
    ROOT_MEAN_SQUARE,
    ErrorMeasure,
    ForecastGoal,
    ForecastQuantity,
    MeasureName,
    Spread,
    class_goal,
)
from gpcurves.forecasting.models import RowChooser, RowPredictor
from gpcurves.forecasting.planning import (
    Gain,
    StoppingPoint,
    count_test_labels,
    count_test_rows,
    find_gain,
    find_stopping_point,
)
from gpcurves.forecasting.questions import Questions
from gpcurves.forecasting.relevance import Relevance
from gpcurves.forecasting.units import Unit
from gpcurves.forecasting.verdict import Facts, Prospects, RequiredN, Verdict, judge
from gpcurves.numerics.display import Shown
from gpcurves.numerics.validation import FloatArray, sizes

Goal = float | ForecastGoal | None
NOTHING = Questions()
_NO_MODEL = "a forecast that was loaded from a file has no model and cannot {}: make the forecast again from your rows"
_OWN_MODEL = "the model is your own regressor: predict with it, or forecast from X and y"
_PLAIN = (
    "target", "rows", "fitted_rows", "columns", "deterministic", "deviation", "mean_absolute", "repeatability", "known_noise",
    "gap", "vertices", "group",
)  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Forecast(Shown):
    """The error at any number of rows: of numbers the RMSE against noisy held-out targets, of classes the error rate.

    Attributes
    ----------
    target
        What is predicted.
    rows, fitted_rows, columns
        Numbers of usable labelled rows, of rows that the model was fitted to, and of inputs.
    band
        The error with its interval.
    floor
        The lowest error that unlimited data would reach: of numbers the noise floor (irreducible error, also ``noise_rmse``),
        of classes the error rate of the best rule.
    remaining
        Share of the reducible error that remains after 0, 1, … further inputs, if they are chosen.
    outlying
        Distance of the most extreme 1 % of the rows from the rest, in standard deviations; 0 if the model explains them.
    cross_validation, power_law
        Mean squared errors on held-out rows after training on fewer, with their standard errors, in squared units of the
        target, or error rates; the curve ``a + b / n**c`` through them, for comparison.
    relevance
        Each input's share of the explainable variance; None for a regressor of your own.
    deterministic
        Whether the target was treated as a noise-free function of the inputs.
    steps, notes
        What was done to the data, and warnings about these numbers, in sentences.
    seed
        The random seed.
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
        The number of vertices of the graph, the largest possible n; None for a table.
    group
        If n counts groups of related rows, the word for one: "patient", or "group"; else None.
    classes
        Of classes: the log loss with its interval, and the error of each class; None for numbers.

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
    floor: float
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
    group: str | None = None
    classes: ClassErrors | None = None

    @property
    def quantity(self) -> ForecastQuantity:
        """Which error is forecast, with its name, units and keys."""
        return ROOT_MEAN_SQUARE if self.classes is None else ERROR_RATE

    @property
    def noise_rmse(self) -> float:
        """The noise floor of a forecast of numbers."""
        return self.floor

    @property
    def unit(self) -> Unit:
        """What n counts."""
        return Unit(self.vertices, self.group)

    def at(self, n: object, measure: MeasureName | None = None) -> pd.DataFrame:
        """Return a table with the columns n, rmse (of classes error_rate), low, high: the estimate and its 90 % interval at each n.

        As everywhere in gpcurves, an integer n means 0, 1, …, n: write ``[n]`` for this size alone. Another measure ("mae",
        "r2", "percent" of the target's standard deviation, "relative": per cent of the mean absolute target) adds columns:
        mae, mae_low and mae_high, for instance. Of classes there is "log_loss".
        """
        wanted = self._sizes(n)
        error, low, high, _ = self.band.at(wanted)
        table = pd.DataFrame({"n": wanted.astype(np.int64), self.quantity.key: error, "low": low, "high": high})
        names = [key for key in get_args(MeasureName) if (key in CLASS_MEASURES) == self.quantity.is_of_classes]
        measure = self.quantity.key if measure is None else check_name("measure", measure, names)
        if measure != self.quantity.key:
            told = CLASS_MEASURES[measure] if self.quantity.is_of_classes else self.spread.measure(measure)
            error, low, high, _ = self._band_of(told).at(wanted)
            ends = (high, low) if told.rises else (low, high)
            for name, values in zip(("", "_low", "_high"), (error, *ends), strict=True):
                table[f"{measure}{name}"] = told.from_error(values)
        return table

    def _band_of(self, measure: ErrorMeasure) -> Band:
        """Return the band that a measure is read from: the log loss has one of its own."""
        return self.band if self.classes is None or measure.quantity != LOG_LOSS else self.classes.loss

    def power_law_at(self, n: FloatArray) -> FloatArray:
        """Return the error that the power law expects."""
        return np.asarray(self.power_law(np.maximum(n, 1.0)) ** (1 / self.quantity.degree))

    def _sizes(self, n: object) -> FloatArray:
        wanted = sizes("n", n)
        if self.vertices is not None and wanted.max(initial=0) > self.vertices:
            raise InputError(f"n must be at most {self.vertices:,}, one label for each vertex, got {wanted.max():,.0f}")
        return wanted

    @property
    def spread(self) -> Spread:
        """What measures other than the RMSE refer to."""
        if self.quantity.is_of_classes:
            raise InputError("MAE, R² and the like are for numbers, and the target has classes")
        return Spread(self.deviation, self.mean_absolute, self.cross_validation.ratio)

    def goal(
        self,
        rmse: float | None = None,
        *,
        mae: float | None = None,
        r2: float | None = None,
        percent: float | None = None,
        error_rate: float | None = None,
        log_loss: float | None = None,
    ) -> ForecastGoal:
        """Return a goal in one of these measures: RMSE, MAE, R², or RMSE in per cent of the target's standard deviation.

        Of classes it is the error rate, as a share of the rows, or the log loss.
        """
        if self.quantity.is_of_classes:
            return class_goal(rmse=rmse, mae=mae, r2=r2, percent=percent, error_rate=error_rate, log_loss=log_loss)
        if error_rate is not None or log_loss is not None:
            raise InputError("the target holds numbers: set the goal as rmse, mae, r2 or percent, not as for classes")
        return self.spread.goal(rmse=rmse, mae=mae, r2=r2, percent=percent)

    def required_n(
        self,
        rmse: float | None = None,
        *,
        mae: float | None = None,
        r2: float | None = None,
        percent: float | None = None,
        error_rate: float | None = None,
        log_loss: float | None = None,
    ) -> RequiredN:
        """Return how many rows a goal in one of the measures needs, or why no number of them is enough."""
        wanted = self.goal(rmse, mae=mae, r2=r2, percent=percent, error_rate=error_rate, log_loss=log_loss)
        return self.require(wanted)

    def require(self, goal: ForecastGoal, asked: Questions = NOTHING) -> RequiredN:
        """Return how many rows a goal needs that `goal` returned."""
        return self.prospects(goal, asked).require(goal.error)

    def verdict(self, goal: Goal = None, asked: Questions = NOTHING) -> Verdict:
        """Say in words what more rows would do, and whether a goal (an RMSE or error rate, or what `goal` returns) can be reached."""
        aim = self.as_goal(goal)
        return judge(self.prospects(aim, asked), None if aim is None else aim.error)

    def headline(self, goal: Goal = None, asked: Questions = NOTHING) -> str:
        """Say in one sentence how many rows a goal needs, or what more rows would do if there is none."""
        aim = self.as_goal(goal)
        return say_in_one_sentence(self.prospects(aim, asked), None if aim is None else aim.error)

    def as_goal(self, goal: Goal) -> ForecastGoal | None:
        """Return a goal, of which a number is an RMSE, or of classes an error rate."""
        if goal is None or isinstance(goal, ForecastGoal):
            return goal
        return self.goal(error_rate=goal) if self.quantity.is_of_classes else self.goal(goal)

    def prospects(self, aim: ForecastGoal | None = None, asked: Questions = NOTHING) -> Prospects:
        """Return what verdicts rest on, in the measure of a goal."""
        measure = asked.measure(self, aim)
        floor = self.floor if self.classes is None or measure.quantity != LOG_LOSS else self.classes.floor_loss
        known = self.known_noise if asked.known_noise is None else asked.known_noise
        told = (floor, self.outlying, self.deterministic, self.repeatability, self.gap, self.left_out, known, self.unit)
        facts = Facts(self.rows, self.fitted_rows, *told)
        return Prospects(self._band_of(measure), facts, measure)

    def predict(self, X: Any = None) -> pd.DataFrame:
        """Return a table with the columns prediction, low, high for new rows: the mean, and the 90 % interval of the target.

        Of classes the columns are prediction and one for each class, its probability.

        X is an array or a table like the training data, or the name of a file. On a graph it is a list of vertices; None
        means all.
        """
        if self.predictor is None:
            own = self.relevance is None and self.vertices is None
            raise InputError(_OWN_MODEL if own else _NO_MODEL.format("predict"))
        return self.predictor.predict(X)

    def next_rows(self, k: int) -> pd.DataFrame:
        """Return the k inputs to measure next, the most informative first.

        They are rows of the pool, with its columns and index, if a pool was given; else suggestions in the columns and units
        of the table, drawn like its rows. Each lowers the average variance of the most likely model most, given those
        before it.
        """
        return self.choose(k)[0]

    def choose(self, k: int) -> tuple[pd.DataFrame, list[int] | None]:
        """Return `next_rows`, and their numbers, counted from 1, if they are rows of a pool."""
        if self.chooser is None:
            raise InputError(_NO_MODEL.format("choose rows"))
        return self.chooser.choose(k)

    def gain(self, k: int) -> Gain:
        """Return by how much the next k rows should lower the error, with a 90 % interval."""
        return find_gain(self.band, self.rows, k)

    def stop_at(self, cost_per_row: float, value_of_error: float) -> StoppingPoint:
        """Return when to stop, given the cost of a row and the value of one unit of error in the same currency."""
        return find_stopping_point(self.band, self.rows, cost_per_row, value_of_error)

    def test_rows(self, precision: float, n: int | None = None) -> int:
        """Return how many test rows are needed to measure the error of a model from n rows (default: yours) to ± this, with 90 % confidence."""
        error = float(self.at([self.rows if n is None else n])[self.quantity.key].iloc[0])
        if self.quantity.is_of_classes:
            return count_test_labels(error, precision)
        return count_test_rows(error, self.cross_validation.kurtosis, precision)

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
        degree = self.quantity.degree
        for name, values in zip((self.quantity.key, "low", "high"), self.band.at(asked), strict=False):
            reducible = np.maximum(values**degree - self.floor**degree, 0.0)
            left = (values**degree - reducible + share * reducible) ** (1 / degree)
            table[name] = never_rise(left[order], marks)[back]
        return table

    def split(self, n: object) -> pd.DataFrame:
        """Return a table with the columns n, noise, reducible: the irreducible and the reducible part of the error, squared for numbers."""
        table = self.at(n)
        total = table[self.quantity.key].to_numpy() ** self.quantity.degree
        noise = np.minimum(self.floor**self.quantity.degree, total)
        return pd.DataFrame({"n": table["n"], "noise": noise, "reducible": total - noise})

    def answers(self, n: object = None, goal: Goal = None, asked: Questions = NOTHING) -> dict[str, Any]:
        """Return the forecast at these n, the answers about a goal and to further questions as plain data, ready for JSON."""
        aim = self.as_goal(goal)
        table = self.to_frame(n, asked.measure(self, aim).name)
        sizes, seen = table["n"].to_numpy(dtype=np.float64), self.cross_validation
        needed = None if aim is None else self.require(aim, asked)
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
            "counted": self.unit.plural,
            "task": "classes" if self.quantity.is_of_classes else "numbers",
            "quantity": self.quantity.key,
            self.quantity.floor_key: self.floor,
            f"{self.quantity.floor_key}_interval": list(self.prospects().floor_interval),
            **({} if self.classes is None else self.classes.answers()),
            f"goal_{self.quantity.key if aim is None else aim.measure.quantity.key}": None
            if aim is None
            else aim.error,
            "goal": None if aim is None else {"measure": aim.measure.name, "value": aim.value},
            **required,
            "forecast": table.to_dict("records"),
            "split": self.split(sizes).to_dict("records"),
            "headline": self.headline(aim, asked),
            "verdict": verdict.label,
            "sentences": [*verdict.sentences, *further.sentences],
            **further.data,
            "left_out": dict(self.left_out),
            "cross_validation": [
                each | {"stderr": stderr}
                for each, stderr in zip(self._list_errors(seen.n, seen.error), seen.error_stderr.tolist(), strict=True)
            ],
            "power_law": self._list_errors(sizes, self.power_law_at(sizes)),
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
            **({} if self.classes is None else {"classes": self.classes.to_record()}),
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
        classes = record.get("classes")
        return cls(
            **{key: data[key] for key in _PLAIN if key in data},  # older files know of no vertices
            floor=data[(ROOT_MEAN_SQUARE if classes is None else ERROR_RATE).floor_key],
            classes=None if classes is None else ClassErrors.from_record(classes),
            band=Band(**record["band"]),
            remaining=np.array(record["remaining"]),
            outlying=float(record["outlying"]),
            cross_validation=CrossValidation(**seen) if classes is None else ClassValidation(**seen),
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

    def to_frame(self, n: object = None, measure: MeasureName | None = None) -> pd.DataFrame:
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
        known = self.relevance
        return {} if known is None else dict(zip(known.names, known.lengthscales.tolist(), strict=True))

    def _list_errors(self, n: FloatArray, error: FloatArray) -> list[dict[str, float]]:
        pairs = zip(n.tolist(), error.tolist(), strict=True)
        return [{"n": int(size), self.quantity.key: value} for size, value in pairs]

    def __repr__(self) -> str:
        counted = f"{self.unit.plural} and {self.columns} inputs"
        among = counted if self.vertices is None else f"labels at {self.vertices} vertices"
        return f"<Forecast of {self.target!r} from {self.rows} {among}: {self.verdict()}>"
