"""The classifier that a forecast of classes is about, to predict the classes of new rows with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from gpcurves.forecasting.classes.members import ClassMixture, find_members, mix
from gpcurves.forecasting.prediction import NewRows
from gpcurves.tables.rows import Rows


@dataclass(frozen=True, eq=False)
class ClassPredictor:
    """What was learnt from rows: a mixture of classifiers, and how their inputs were prepared."""

    rows: Rows
    mixture: ClassMixture

    @classmethod
    def learn(cls, rows: Rows) -> ClassPredictor:
        """Learn from rows."""
        with threadpool_limits(1):
            labels = rows.labels
            return cls(rows, mix(find_members(rows.X, rows.columns.blocks, labels), labels))

    def predict(self, X: Any) -> pd.DataFrame:
        """Return a table with the column prediction, the likeliest class of each row, and the probability of each class.

        X is an array or a table like the one that was learnt from, or the name of a file. Missing inputs are filled in as
        they would be in the rows that it has learnt from. A category that none of these has is taken as another one.
        """
        new = NewRows.read(X, self.rows)
        values = np.full((len(new.inputs), len(self.rows.classes)), np.nan)
        for part in new.parts():
            with threadpool_limits(1):
                values[part] = self.mixture.predict(new.inputs[part])
        names = np.array([*self.rows.classes, None], dtype=object)
        likeliest = np.where(np.isnan(values[:, 0]), len(names) - 1, np.argmax(np.nan_to_num(values), axis=1))
        table = pd.DataFrame(values, columns=list(map(name_probability, self.rows.classes)), index=new.index)
        table.insert(0, "prediction", names[likeliest])
        return table


def name_probability(name: str) -> str:
    """Return the name of the column with the probability of a class."""
    return f"p({name})"
