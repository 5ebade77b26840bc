r"""Error rates and log loss of classes, from the same solution as the posterior variance.

With :math:`\rho` the prior variance and :math:`\omega` the prediction, of variance :math:`q = \rho-\epsilon`, the function is
:math:`\omega+\sqrt\epsilon z`. The sign of the prediction is wrong with the probability :math:`\arccos\sqrt{q/\rho}/\pi`; averages over
labels are those of `gpcurves.observations.classes`, for `Probit` :math:`\arccos\sqrt{q/(\rho+\sigma^2)}/\pi`.
"""

from __future__ import annotations

import numpy as np

from gpcurves.methods.base import gives
from gpcurves.numerics.validation import FloatArray
from gpcurves.observations.classes import Classes
from gpcurves.problem import Problem
from gpcurves.quantities import Quantity, define


def _classes(problem: Problem) -> str | None:
    if isinstance(problem.observation, Classes):
        return None
    return f"labels must be classes, such as Probit(), but here they are {problem.observation!r}"


RATE = define(Quantity("error-rate", "error rate on labels", "error rate", "share of wrong labels", True, _classes))
SIGNS = define(
    Quantity(
        "sign-error-rate",
        "error rate on signs",
        "sign error rate",
        "share of inputs at which the more likely class is not the predicted one",
        True,
        _classes,
    )
)
LOSS = define(Quantity("log-loss", "log loss", "log loss", "negative log probability of the label", True, _classes))


@gives("error-rate", "lc", "uc", "d")
def error_rate(problem: Problem, n: FloatArray, error: FloatArray) -> FloatArray:
    """Return the share of labels that differ from the predicted class."""
    assert isinstance(problem.observation, Classes)
    return problem.observation.error_rate(error, problem.spectrum.trace)


@gives("sign-error-rate", "lc", "uc", "d")
def sign_error_rate(problem: Problem, n: FloatArray, error: FloatArray) -> FloatArray:
    r"""Return :math:`\arccos\sqrt{(\rho-\epsilon)/\rho}/\pi`, as an arctangent to keep its digits."""
    explained = np.maximum(problem.spectrum.trace - error, 0.0)
    return np.asarray(np.arctan2(np.sqrt(error), np.sqrt(explained)) / np.pi)


@gives("log-loss", "lc", "uc", "d")
def log_loss(problem: Problem, n: FloatArray, error: FloatArray) -> FloatArray:
    """Return the average of minus the logarithm of the probability that was given to the label."""
    assert isinstance(problem.observation, Classes)
    return problem.observation.log_loss(error, problem.spectrum.trace)
