"""Learning curves by formula: approximations, bounds, and scenarios that can be solved exactly; on graphs too."""

from gpcurves.methods.formulas import (  # noqa: F401
    approximations,
    bounds,
    decay,
    degenerate,
    grid,
    labels,
    large_graphs,
    markov,
    scores,
    williams_vivarelli,
)
