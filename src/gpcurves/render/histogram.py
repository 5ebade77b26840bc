"""Histograms of prior and posterior variances over the vertices of a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gpcurves.numerics.validation import FloatArray
from gpcurves.render.picture import Display, new_axes

if TYPE_CHECKING:
    from gpcurves.graphs.diagnosis import Diagnosis
    from gpcurves.methods.variances import VarianceDistribution

_BAR, _MEAN, _LOW, _HIGH = "#4a7ba6", "#222222", "#a0522d", "#a0522d"
HistogramDisplay = Display


def plot_variances(distribution: VarianceDistribution, ax: Any = None, *, bins: int = 100) -> Display:
    """Draw the distribution of local variances at one nu, with their mean."""
    axes = new_axes(ax)
    what = "prior variance" if distribution.nu == 0 else "posterior variance"
    if distribution.problem.teacher is not None:
        what = "squared error"
    edges = _edges(distribution.values, bins)
    bars = _bars(axes, distribution.values, edges, distribution.weights)
    axes.axvline(distribution.mean, color=_MEAN, linewidth=1.2, linestyle="--", label=f"mean {distribution.mean:.3g}")
    axes.set_xlabel(f"{what} of a vertex at ν = {distribution.nu:g}" if distribution.nu else f"{what} of a vertex")
    axes.set_title(distribution.problem.describe(), fontsize=10, wrap=True)
    axes.legend(frameon=False)
    return Display(axes, axes.figure, {"histogram": bars})


def plot_diagnosis(diagnosis: Diagnosis, ax: Any = None, *, bins: int = 100) -> Display:
    """Draw the prior variances under global normalisation, with what local normalisation would make of them."""
    axes = new_axes(ax)
    bars = _bars(axes, diagnosis.variances, _edges(diagnosis.variances, bins), None)
    axes.axvline(1.0, color=_MEAN, linewidth=1.2, linestyle="--", label="average, and local normalisation")
    for name, colour in (("smallest", _LOW), ("largest", _HIGH)):
        value = diagnosis.quantiles[name]
        axes.axvline(value, color=colour, linewidth=1.2, linestyle=":", label=f"{name} {value:.3g}")
    axes.set_xlabel("prior variance of a vertex, global normalisation")
    axes.set_title(f"{diagnosis.kernel!r} on {diagnosis.graph!r}", fontsize=10)
    axes.legend(frameon=False)
    return Display(axes, axes.figure, {"histogram": bars})


def _edges(values: FloatArray, bins: int) -> FloatArray:
    """Return the edges of bins over all values; a single value gets a bin around it."""
    low, high = float(values.min()), float(values.max())
    if high - low <= 1e-9 * max(abs(high), 1e-300):
        return np.array([0.9 * low, 1.1 * high]) if high > 0 else np.array([-0.5, 0.5])
    return np.linspace(min(low, 0.0) if low < 0.1 * high else low, high, bins + 1)


def _bars(axes: Any, values: FloatArray, edges: FloatArray, weights: FloatArray | None) -> Any:
    given = np.full(len(values), 1 / len(values)) if weights is None else weights / weights.sum()
    _, _, bars = axes.hist(values, edges, weights=given, color=_BAR)
    axes.set_yscale("log")
    axes.set_ylabel("share of the vertices")
    axes.grid(True, which="major", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    return bars
