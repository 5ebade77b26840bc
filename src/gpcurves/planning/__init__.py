"""From a person's data to the error that more of it would leave, and to how much of it a goal needs."""

from gpcurves.planning.make import forecast
from gpcurves.planning.result import Forecast, RequiredN
from gpcurves.planning.verdict import Verdict

__all__ = ["Forecast", "RequiredN", "Verdict", "forecast"]
