"""Forecasts of known shape, made without rows: for pages and sentences, which are about numbers that are there already."""

from __future__ import annotations

from typing import Any

import numpy as np

import gpcurves as gpc
from gpcurves.forecasting.crossvalidation import CrossValidation, PowerLawFit
from gpcurves.forecasting.intervals import Band, goal_grid


def made(
    rows: int = 60,
    *,
    floor: float = 0.2,
    fall: float = 5.0,
    width: tuple[float, float] = (0.8, 1.3),
    **settings: Any,
) -> gpc.Forecast:
    """Return a forecast whose squared error falls as floor² + fall / n; the ends of its interval are these multiples."""
    n = np.unique(np.concatenate((np.arange(rows + 1.0), goal_grid(rows), rows * 2.0 ** np.arange(5), [1e15])))
    estimate = np.sqrt(floor**2 + fall / (n + 1))
    low, high = width
    band = Band(n, estimate, low * estimate, high * estimate, high**0.51 * estimate, np.full(len(n), 0.01))
    sizes = rows * np.array([0.25, 0.5, 0.8])
    mse = 1.05 * (floor**2 + fall / sizes)
    facts: dict[str, Any] = {"target": "price", "rows": rows, "fitted_rows": rows, "columns": 2, "floor": 0.95 * floor}
    facts |= {"outlying": 0.0, "relevance": None, "deterministic": False, "steps": (), "notes": (), "seed": 0}
    facts |= {"deviation": 1.0, "mean_absolute": 2.0, "power_law": PowerLawFit(floor**2, fall, 1.0)}
    seen = CrossValidation(sizes, mse, 0.1 * mse)
    return gpc.Forecast(band=band, remaining=np.linspace(1, 0.7, 40), cross_validation=seen, **(facts | settings))
