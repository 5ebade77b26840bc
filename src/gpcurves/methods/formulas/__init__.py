"""Learning curves by formula: approximations, bounds, and scenarios that can be solved exactly; on graphs too."""

from gpcurves.methods.formulas import approximations, bounds, degenerate, large_graphs, scores, williams_vivarelli  # noqa: F401
