"""The one place where scores meet the package: its predictor, and its forecast."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array

import gpcurves as gpc
from benchmarks.network.baselines import NORMAL, Prediction

# Labelled vertices, their values and numbers of labels, to the RMSE at unlabelled vertices and the ends of its interval
Forecaster = Callable[[csr_array, np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]


def ours(graph: csr_array, vertices: np.ndarray, values: np.ndarray) -> Prediction:
    """Predict by the package as it is used without settings; intervals are for a new measurement."""
    model = gpc.GraphRegressor(graph, centre=True).fit(vertices, values)
    mean, spread = model.predict(return_std=True)
    wide = NORMAL * np.sqrt(spread**2 + model.noise)
    return Prediction(mean, mean - wide, mean + wide)


FORECAST: Forecaster | None = None  # the package has none on graphs yet: rivals are scored alone
