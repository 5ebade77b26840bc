"""The questions of one plan, beside how large the error will be, and their answers in words and as plain data."""

from __future__ import annotations

import math
import numbers
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from gpcurves.errors import InputError
from gpcurves.forecasting.measures import RMSE, ErrorMeasure, ForecastGoal
from gpcurves.forecasting.verdict import rounded
from gpcurves.numerics.validation import nonnegative, positive

if TYPE_CHECKING:
    from gpcurves.forecasting.result import Forecast


@dataclass(frozen=True)
class Questions:
    """What a planner wants to know; whatever is None is not asked.

    ``relative`` asks for errors in per cent of the mean absolute target, ``next`` for so many rows to measure next, ``cost_per_row``
    and ``value_of_error`` (of one unit of RMSE) for where to stop, ``gain`` for what so many further rows gain, ``stop_below``
    whether that is less than this, and ``certify`` how many test rows measure the RMSE to within ± this. ``known_noise`` is the
    standard deviation of the measurements, if it is known: it tells a limit of the model from one of the noise.
    """

    relative: bool = False
    next: int | None = None
    cost_per_row: float | None = None
    value_of_error: float | None = None
    gain: int | None = None
    stop_below: float | None = None
    certify: float | None = None
    known_noise: float | None = None

    def __post_init__(self) -> None:
        if (self.cost_per_row is None) != (self.value_of_error is None):
            raise InputError("give both the cost per row and the value of error: the stopping point depends on both")
        if self.known_noise is not None:
            nonnegative("the known noise", self.known_noise)
        if self.stop_below is not None and self.gain is None:
            raise InputError("a limit on the gain needs the number of further rows: give gain as well")

    def ask_next(self, k: int) -> Questions:
        """Return the same questions, and which k rows to measure next."""
        return replace(self, next=k)

    def measure(self, forecast: Forecast, goal: ForecastGoal | None) -> ErrorMeasure:
        """Return in which measure errors are told: that of the goal, or in relative terms if asked for."""
        if not self.relative:
            return ErrorMeasure.of(forecast.quantity) if goal is None else goal.measure
        if forecast.quantity.is_of_classes or (goal is not None and goal.measure != RMSE):
            raise InputError(
                "relative errors need a goal that is an RMSE: leave out relative, or give the goal as an RMSE"
            )
        return forecast.spread.measure("relative")

    def answer(self, forecast: Forecast) -> Answers:
        """Return the answers."""
        sentences: list[str] = []
        data: dict[str, Any] = {}
        if self.gain is not None:
            gain = forecast.gain(self.gain)
            sentences.append(forecast.unit.say(gain.tell(forecast.quantity)))
            data["gain"] = asdict(gain)
            if self.stop_below is not None:
                limit = positive("the limit", self.stop_below)
                sentences[-1] = f"{sentences[-1]} {gain.judge(limit, forecast.quantity)}"
                data["gain"] |= {"stop_below": limit, "stop": gain.estimate < limit}
        if self.cost_per_row is not None and self.value_of_error is not None:
            point = forecast.stop_at(self.cost_per_row, self.value_of_error)
            sentences.append(forecast.unit.say(point.sentence))
            costs = {"cost_per_row": self.cost_per_row, "value_of_error": self.value_of_error}
            data["stop_at"] = asdict(point) | costs
        if self.certify is not None:
            count = forecast.test_rows(self.certify)
            quantity = forecast.quantity
            now = quantity.write(float(forecast.at([forecast.rows])[quantity.key].iloc[0]))
            measured = f"To measure {quantity.noun} of about {now} to within ± {ErrorMeasure.of(quantity).write_goal(self.certify)}"
            sentences.append(f"{measured}{_ask_for_tests(forecast, count)} (90 % confidence).")
            data["test_rows"] = {"precision": self.certify, "rows": count}
        table, numbers = (None, None) if self.next is None else forecast.choose(self.next)
        if table is not None:
            if forecast.unit.are_labels:
                sentences.append(_introduce_vertices(len(table)))
            else:
                sentences.append(_introduce(len(table), from_pool=numbers is not None))
            rows = [{"row": number} for number in numbers] if numbers else [{} for _ in range(len(table))]
            cells = [[_as_plain(cell) for cell in row] for row in table.itertuples(index=False)]
            inputs = [dict(zip(map(str, table.columns), row, strict=True)) for row in cells]
            data["next_rows"] = [place | {"inputs": each} for place, each in zip(rows, inputs, strict=True)]
            if numbers is not None:
                table = table.reset_index(drop=True)
                table.insert(0, "row", numbers, allow_duplicates=True)
        return Answers(tuple(sentences), data, table)


@dataclass(frozen=True)
class Answers:
    """Answers in sentences, as plain data, and the table of rows to measure next, if that was asked for."""

    sentences: tuple[str, ...]
    data: dict[str, Any]
    next_rows: pd.DataFrame | None = None

    @property
    def written(self) -> pd.DataFrame | None:
        """The rows to measure next as texts; at vertices with three digits of the narrowest interval."""
        table = self.next_rows
        if table is None:
            return None
        write = "{:.6g}".format
        if {"vertex", "low", "high"} <= set(table.columns):
            width = float((table["high"] - table["low"]).min())
            if 1e-6 < width < 1e6:
                write = f"{{:.{max(0, 2 - math.floor(math.log10(width)))}f}}".format
        cells = [
            [write(cell) if isinstance(cell, float) else str(cell) for cell in row] for row in table.to_numpy(object)
        ]
        return pd.DataFrame(cells, columns=table.columns)


def _as_plain(cell: Any) -> str | float | None:
    """Return a cell of the user's as JSON can hold it: a number, true or false, null, or else a text."""
    if pd.api.types.is_scalar(cell) and pd.isna(cell):
        return None
    if isinstance(cell, bool | np.bool_):
        return bool(cell)
    if isinstance(cell, numbers.Integral):
        return int(cell)
    if isinstance(cell, numbers.Real) and math.isfinite(cell):
        return float(cell)
    return str(cell)


def _ask_for_tests(forecast: Forecast, count: int) -> str:
    """Return the end of a sentence about how many independent measurements test a model."""
    if forecast.vertices is not None and count > (free := forecast.vertices - forecast.rows):
        return f" takes {rounded(count)} test labels, but only {free:,} vertices have no label yet"
    unit = forecast.unit
    what = f"{unit.plural} that are not used for training"
    if unit.group is not None:  # rows of one group are not independent
        what = f"rows, each of another {unit.group} that is not used for training"
    return f", test on about {rounded(count)} {what}"


def _introduce(count: int, *, from_pool: bool) -> str:
    what = "Measure this row next" if count == 1 else f"Measure these {count:,} rows next, the most informative first"
    if from_pool:
        return f"{what} (rows of the pool, counted from 1)."
    return f"{what}. These are suggestions, drawn like your own inputs; nearby settings work as well."


def _introduce_vertices(count: int) -> str:
    return (
        "Label this vertex next." if count == 1 else f"Label these {count:,} vertices next, the most informative first."
    )
