r"""Training error, predictive density and evidence, from the same solution of LC as the error.

With :math:`s = \sigma^2+\epsilon`, the variance that the model predicts for a new noisy target, and :math:`h = n/s`:

* training error :math:`(\sigma^2/s)^2 E`,
* negative log predictive density :math:`\frac12\ln 2\pi s + E/2s`,
* negative log evidence :math:`\frac12(T(h) + n\ln 2\pi s - hg(h) + Q)`,

where :math:`E` is the mean squared error against noisy targets and :math:`Q` the average of :math:`y^TK^{-1}y`; of a
well-specified model :math:`E = s` and :math:`Q = n`. The derivative of the evidence with respect to `n` is the predictive
density.
"""

from __future__ import annotations

import numpy as np

from gpcurves.methods.base import gives
from gpcurves.methods.formulas.parametric import Scaled
from gpcurves.numerics.validation import FloatArray
from gpcurves.problem import Problem


@gives("training", "lc")
def training_error(problem: Problem, n: FloatArray, error: FloatArray) -> FloatArray:
    r"""Return :math:`\sigma^4/s`; before any example, what the first one will have."""
    return problem.noise**2 / (problem.noise + error)


@gives("nlpd", "lc", "uc", "d")
def predictive_density(problem: Problem, n: FloatArray, error: FloatArray) -> FloatArray:
    r"""Return :math:`\frac12\ln 2\pi s + \frac12`."""
    return (np.log(2 * np.pi * (problem.noise + error)) + 1) / 2


@gives("evidence", "lc")
def log_evidence(problem: Problem, n: FloatArray, error: FloatArray) -> FloatArray:
    r"""Return :math:`\frac12(T(h) + n\ln 2\pi s - hg(h) + n)`."""
    predicted = problem.noise + error
    h = n / predicted
    return (Scaled(problem).T(h) + n * np.log(2 * np.pi * predicted) - h * error + n) / 2
