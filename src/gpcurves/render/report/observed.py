"""Predicted against observed: each row predicted from all others, beside what was measured."""

from __future__ import annotations

import numpy as np

from gpcurves.forecasting.measures import significant
from gpcurves.forecasting.prediction import Predictor
from gpcurves.forecasting.result import Forecast
from gpcurves.numerics.validation import FloatArray
from gpcurves.render.page import as_html
from gpcurves.render.report.terms import term
from gpcurves.render.scene import Axis
from gpcurves.render.svg import Plot, line

_LONGEST_NAME, _MOST = 30, 1_500


def draw_observed(forecast: Forecast) -> str:
    """Return the drawing with its caption; nothing if the forecast has kept no predictions of its own rows."""
    predictor = forecast.predictor
    if forecast.quantity.is_of_classes or not isinstance(predictor, Predictor):
        return ""
    observed, predicted = predictor.left_out()
    error = float(np.sqrt(np.mean((observed - predicted) ** 2)))
    explained = 1 - error**2 / float(observed.var())
    target = " ".join(forecast.target.split())
    target = target if len(target) <= _LONGEST_NAME else f"{target[: _LONGEST_NAME - 1]}…"
    tests = "The forecast rests on harder tests, with fewer rows."
    if forecast.group is not None:
        tests = f"The forecast rests on harder tests, with whole {forecast.unit.plural} left out."
    caption = (
        f"Each of {len(observed):,} rows, predicted from all others ({term('left-out')}): an RMSE of {significant(error)}, "
        f"R² {explained:.2f}. Points on the line are predicted exactly. {tests}"
    )
    return (
        f"<figure><h2>Predicted against observed</h2>{_draw(observed[:_MOST], predicted[:_MOST], target)}"
        f"<figcaption>{caption}</figcaption></figure>"
    )


def _draw(observed: FloatArray, predicted: FloatArray, target: str) -> str:
    low, high = (float(end) for end in (min(observed.min(), predicted.min()), max(observed.max(), predicted.max())))
    room = 0.04 * (high - low)
    x, y = (Axis(f"{what} {target}", low - room, high + room) for what in ("observed", "predicted"))
    plot = Plot.fitted(358, 330, x, y, top=10)
    ends = plot.px(low), plot.py(low), plot.px(high), plot.py(high)
    marks = [
        line(*ends, "stroke: var(--quiet); stroke-width: 1.2"),
        plot.dots(observed, predicted, 5 if len(observed) < 300 else 3, "stroke: var(--blue); opacity: 0.6"),
    ]
    what = f"predicted against observed {target}, each row predicted from all others"
    return plot.drawing([plot.axes(), plot.clipped(marks, "observed")], as_html(what), "observed")
