"""What a forecast keeps of its model: something that predicts, and something that chooses."""

from __future__ import annotations

from typing import Any, Protocol

import pandas as pd


class RowPredictor(Protocol):
    """Predicts new rows, or vertices."""

    def predict(self, X: Any) -> pd.DataFrame: ...


class RowChooser(Protocol):
    """Chooses the next rows, or vertices."""

    def choose(self, k: int) -> tuple[pd.DataFrame, list[int] | None]: ...
