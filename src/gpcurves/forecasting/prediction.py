"""The model that a forecast is about, to predict the target of new rows with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from gpcurves.errors import InputError
from gpcurves.forecasting.regression import Mixture
from gpcurves.numerics.validation import FloatArray
from gpcurves.tables.columns import name_columns
from gpcurves.tables.frames import as_frame, is_table
from gpcurves.tables.rows import Rows, check_matrix

_NINETY = 1.6448536269514722  # quantile of a standard normal variable: 90 % are within this distance


@dataclass(frozen=True)
class Predictor:
    """What was learnt from rows: a mixture of Gaussian processes, and how their inputs were prepared."""

    rows: Rows
    mixture: Mixture

    def predict(self, X: Any) -> pd.DataFrame:
        """Return a table with the columns prediction, low, high: the mean at each row, and the 90 % interval of its target.

        Missing inputs are filled in as they would be in the rows that it has learnt from. A category that none of these has is
        taken as another one.
        """
        standard = self._standardise(X)
        known = np.isfinite(standard).all(axis=1)
        values = np.full((3, len(standard)), np.nan)
        if known.any():
            with threadpool_limits(1):
                inputs = standard[known]
                mean = self.mixture.predict(inputs)
                ends = (self.mixture.quantile(inputs, side) for side in (-_NINETY, _NINETY))
                values[:, known] = self.rows.scale * np.array([mean, *ends])
        return pd.DataFrame(dict(zip(("prediction", "low", "high"), values, strict=True)))

    def _standardise(self, X: Any) -> FloatArray:
        design, columns = self.rows.design, self.rows.columns
        if design is None:
            inputs = check_matrix("X", X)
            if inputs.shape[1] != len(columns.sources):
                raise InputError(f"X must have {len(columns.sources)} columns, got {inputs.shape[1]}")
            return columns.standardise(inputs)
        if not is_table(X):
            raise InputError("give a table: the model was learnt from one, whose columns have names")
        table = name_columns(as_frame(X), "table")
        return columns.standardise(design.encode(design.read(table, "table"), fill=True))
