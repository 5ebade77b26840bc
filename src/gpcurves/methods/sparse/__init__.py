"""Gaussian processes with few inducing points: theory and simulation, along two axes, n examples and m inducing points.

`inducing` places the points, `theory` is the average error for given ones, `dataset` the error of one data set; `predicted` and
`simulated` are the methods that average.
"""

from gpcurves.methods.sparse import predicted, simulated  # noqa: F401
