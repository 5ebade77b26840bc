"""The one place where scores meet the package: its predictor, and its forecast."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

import gpcurves as gpc
from benchmarks.network.baselines import Prediction
from gpcurves.forecasting.effort import Computation, ForecastEffort
from gpcurves.forecasting.networks.assembly import fit_labels
from gpcurves.forecasting.networks.observed import Observed
from gpcurves.montecarlo.progress import Progress

_GRAPHS: dict[int, tuple[csr_array, gpc.Graph]] = {}  # the last graph, whose eigenvectors are kept


def _as_graph(adjacency: csr_array) -> gpc.Graph:
    if id(adjacency) not in _GRAPHS:
        _GRAPHS.clear()
        _GRAPHS[id(adjacency)] = adjacency, gpc.as_graph(adjacency)
    return _GRAPHS[id(adjacency)][1]


def ours(graph: csr_array, vertices: np.ndarray, values: np.ndarray) -> Prediction:
    """Predict by the package as it is used without settings; intervals are for a new measurement."""
    known = _as_graph(graph)
    model = gpc.GraphRegressor(known).fit(vertices, values)
    mean, _, low, high = model.predict_at(model.everywhere_)
    return Prediction(mean, low, high)


def look_ahead(graph: csr_array, vertices: np.ndarray, values: np.ndarray, sizes: np.ndarray) -> dict[str, Any]:
    """Return what a forecast is made of at numbers of labels: logarithms of mean squared errors, and what makes them uncertain."""
    known = _as_graph(graph)
    computation = Computation(0, np.random.default_rng(0), ForecastEffort(), Progress(False, "%"))
    fit = fit_labels(known, Observed.gather(vertices, values), computation)
    curves, units = fit.curves, 2 * np.log(fit.curves.scale)
    middle, spread, above = curves.moments(sizes)
    seen = fit.observed
    return {
        "now": float(curves.moments(curves.observed.n[-1:])[0][0] + units),
        "ahead": (middle + units).tolist(),
        "spread": spread.tolist(),
        "above": above.tolist(),
        "gap": curves.gap,
        "scatter": float(seen.log_stderr[-1]),
        "cv_n": seen.n.tolist(),
        "cv_mse": seen.mse.tolist(),
    }
