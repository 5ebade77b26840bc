r"""Training error, predictive density, evidence and information, from the same solution of LC as the error.

With :math:`s = \sigma^2+\epsilon`, the variance that the model predicts for a new noisy target, and :math:`h = n/s`:

* training error :math:`(\sigma^2/s)^2 E`,
* negative log predictive density :math:`\frac12\ln 2\pi s + E/2s`,
* negative log evidence :math:`\frac12(T(h) + n\ln 2\pi s - hg(h) + Q)`,
* information about the function :math:`\frac12(T(h) + n\ln(s/\sigma^2) - hg(h))`,

where :math:`E = \epsilon_0+\sigma_0^2` is the mean squared error against noisy targets and
:math:`Q = h(\sigma_0^2 + \sum M/(1+h\lambda))` the average of :math:`y^TK^{-1}y`. Of a well-specified model :math:`E = s` and
:math:`Q = n`. The derivative of the evidence with respect to `n` is the predictive density.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from gpcurves.methods.base import METHODS, Formula, gives
from gpcurves.methods.formulas.misspecified import Taught
from gpcurves.methods.formulas.parametric import Scaled
from gpcurves.numerics.validation import FloatArray
from gpcurves.problem import Problem


def predicted_variance(name: str, problem: Problem, n: FloatArray, error: FloatArray) -> FloatArray:
    """Return the variance that the student predicts for a new noisy target, by a formula with this name."""
    method = METHODS[name]
    assert isinstance(method, Formula)
    return problem.noise + (error if problem.teacher is None else method.function(problem.believed, n))


@gives("training", "lc")
def training_error(problem: Problem, n: FloatArray, error: FloatArray) -> FloatArray:
    r"""Return :math:`(\sigma^2/s)^2 E`; before any example, what the first one will have."""
    s = predicted_variance("lc", problem, n, error)
    return (problem.noise / s) ** 2 * (error + problem.true_noise)


def predictive_density(name: str, problem: Problem, n: FloatArray, error: FloatArray) -> FloatArray:
    r"""Return :math:`\frac12\ln 2\pi s + E/2s`."""
    s = predicted_variance(name, problem, n, error)
    return (np.log(2 * np.pi * s) + (error + problem.true_noise) / s) / 2


for _name in ("lc", "uc", "d"):
    gives("nlpd", _name)(partial(predictive_density, _name))


@gives("information", "lc")
def information(problem: Problem, n: FloatArray, error: FloatArray) -> FloatArray:
    r"""Return :math:`\frac12(T(h) + n\ln(s/\sigma^2) - hg(h))`, the average of :math:`\frac12\ln\det(1+K/\sigma^2)`."""
    s = predicted_variance("lc", problem, n, error)
    h = n / s
    return (Scaled(problem).T(h) + n * np.log(s / problem.noise) - h * (s - problem.noise)) / 2


@gives("evidence", "lc")
def log_evidence(problem: Problem, n: FloatArray, error: FloatArray) -> FloatArray:
    r"""Return :math:`\frac12(T(h) + n\ln 2\pi s - hg(h) + Q)`."""
    s = predicted_variance("lc", problem, n, error)
    h = n / s
    quadratic = n
    if problem.teacher is not None:
        taught = Taught(problem)
        quadratic = h * (problem.true_noise + taught.unit * taught.unlearnt(h * taught.unit, 1))
    return (Scaled(problem).T(h) + n * np.log(2 * np.pi * s) - h * (s - problem.noise) + quadratic) / 2
