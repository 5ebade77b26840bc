"""The model that a forecast is about, to predict the target of new rows with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from threadpoolctl import threadpool_limits

from gpcurves.errors import InputError
from gpcurves.forecasting.regression import Mixture
from gpcurves.numerics.validation import FloatArray
from gpcurves.tables.columns import name_columns
from gpcurves.tables.files import read_table
from gpcurves.tables.frames import as_frame, is_table
from gpcurves.tables.rows import Rows, check_matrix

_PART = 2_000  # rows that are predicted at a time, since memory grows with them
_NINETY = 1.6448536269514722  # quantile of a standard normal variable: 90 % are within this distance


@dataclass(frozen=True)
class NewRows:
    """New rows, prepared like those that were learnt from."""

    inputs: FloatArray  # standardised, with NaN in rows that cannot be predicted
    index: pd.Index[Any] | None

    @classmethod
    def read(cls, X: Any, rows: Rows) -> NewRows:
        """Read an array or a table like the one that was learnt from, or a file."""
        if X is None:
            raise InputError("give rows to predict: an array or a table like the training data")
        if isinstance(X, str | Path):
            X = read_table(X)
        return cls(_standardise(X, rows), X.index if isinstance(X, pd.DataFrame) else None)

    def parts(self) -> Iterator[npt.NDArray[np.intp]]:
        """Yield the positions of rows that can be predicted, so many at a time that memory is no problem."""
        known = np.flatnonzero(np.isfinite(self.inputs).all(axis=1))
        for begin in range(0, len(known), _PART):
            yield known[begin : begin + _PART]


@dataclass(frozen=True)
class Predictor:
    """What was learnt from rows: a mixture of Gaussian processes, and how their inputs were prepared."""

    rows: Rows
    mixture: Mixture

    def predict(self, X: Any) -> pd.DataFrame:
        """Return a table with the columns prediction, low, high: the mean at each row, and the 90 % interval of its target.

        X is an array or a table like the one that was learnt from, or the name of a file. Missing inputs are filled in as
        they would be in the rows that it has learnt from. A category that none of these has is taken as another one.
        """
        new = NewRows.read(X, self.rows)
        values = np.full((3, len(new.inputs)), np.nan)
        for part in new.parts():
            with threadpool_limits(1):
                mean = self.mixture.predict(new.inputs[part])
                ends = (self.mixture.quantile(new.inputs[part], side) for side in (-_NINETY, _NINETY))
                values[:, part] = self.rows.scale * np.array([mean, *ends])
        return pd.DataFrame(dict(zip(("prediction", "low", "high"), values, strict=True)), index=new.index)

    def left_out(self) -> tuple[FloatArray, FloatArray]:
        """Return the target of the rows that were learnt from, and the prediction for each from all others."""
        return self.rows.scale * self.rows.level, self.rows.scale * self.mixture.left_out


def _standardise(X: Any, rows: Rows) -> FloatArray:
    design, columns = rows.design, rows.columns
    if design is None:
        inputs, kept = check_matrix("X", X), np.array(rows.kept)
        if inputs.shape[1] != len(kept):
            raise InputError(f"X must have {len(kept)} columns, got {inputs.shape[1]}")
        return columns.standardise(inputs[:, kept])
    if not is_table(X):
        raise InputError("give a table: the model was fitted to one, and finds columns by name")
    table = name_columns(as_frame(X), "table of new rows")
    return columns.standardise(design.encode(design.read(table, "table of new rows"), fill=True))
