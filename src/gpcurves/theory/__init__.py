"""Learning curves by formula: approximations, bounds, and scenarios that can be solved exactly; on graphs too."""

from gpcurves.theory import approximations, bounds, degenerate, graph_eigenvalue, williams_vivarelli
from gpcurves.theory.registry import METHODS, Kind, Method

__all__ = [
    "METHODS",
    "Kind",
    "Method",
    "approximations",
    "bounds",
    "degenerate",
    "graph_eigenvalue",
    "williams_vivarelli",
]
