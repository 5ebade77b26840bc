"""From a person's data to the error that more of it would leave, and to how much of it a goal needs."""

from gpcurves.forecasting.assembly import forecast
from gpcurves.forecasting.effort import ForecastEffort
from gpcurves.forecasting.questions import Questions
from gpcurves.forecasting.result import Forecast
from gpcurves.forecasting.verdict import RequiredN, Verdict

__all__ = ["Forecast", "ForecastEffort", "Questions", "RequiredN", "Verdict", "forecast"]
