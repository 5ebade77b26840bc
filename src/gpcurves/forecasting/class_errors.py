"""What a forecast of classes knows beside its error rate: the log loss, and how often each class is predicted wrongly."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
import pandas as pd

from gpcurves.forecasting.intervals import Band
from gpcurves.numerics.validation import FloatArray


@dataclass(frozen=True, eq=False)
class ClassErrors:
    """Classes in the order of ``names``: the rows of each, and what share of them is predicted wrongly with today's rows.

    ``low`` and ``high`` are the ends of the 90 % interval of ``error``. ``loss`` is the band of the log loss, and ``floor_loss`` the
    log loss of the best rule.
    """

    names: tuple[str, ...]
    rows: FloatArray
    error: FloatArray
    low: FloatArray
    high: FloatArray
    loss: Band
    floor_loss: float

    def to_frame(self) -> pd.DataFrame:
        """Return a table with the columns class, rows, error_rate, low, high."""
        columns = (self.rows.astype(np.int64), self.error, self.low, self.high)
        return pd.DataFrame(
            {"class": list(self.names), **dict(zip(("rows", "error_rate", "low", "high"), columns, strict=True))}
        )

    def answers(self) -> dict[str, Any]:
        """Return what people ask as plain data, ready for JSON."""
        return {"floor_log_loss": self.floor_loss, "classes": self.to_frame().to_dict("records")}

    def to_record(self) -> dict[str, Any]:
        """Return all that is needed to build it again."""
        band = {name: np.asarray(values).tolist() for name, values in asdict(self.loss).items()}
        numbers = {name: getattr(self, name).tolist() for name in ("rows", "error", "low", "high")}
        return {"names": list(self.names), **numbers, "loss": band, "floor_loss": self.floor_loss}

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Self:
        """Build it from what `to_record` returned."""
        numbers = {name: np.array(record[name], dtype=np.float64) for name in ("rows", "error", "low", "high")}
        return cls(
            tuple(record["names"]), **numbers, loss=Band(**record["loss"]), floor_loss=float(record["floor_loss"])
        )
