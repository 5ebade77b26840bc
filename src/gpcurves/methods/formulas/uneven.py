r"""Where theory for classes is known to fail: if labels at some places say far more about the function than at others.

If noise is low, only labels near a change of sign say something new. Theory averages the information of a label over all predictions,
as if every label were about all of the function. At inputs labels are about their neighbourhood: where the class is certain, the size of the
function stays unknown, so that posterior variances are larger than theory expects, and the classes are right, so that error rates are
smaller. Independent features of high dimension, which a bare spectrum stands for, have no neighbourhoods.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gpcurves.numerics.validation import FloatArray
from gpcurves.observations.classes import Classes
from gpcurves.problem import Problem

_UNEVEN = 0.1
"""The relative variance of the information of a label from which on theory fails. In 24 scenarios on the circle and the torus with 4 sizes
each, posterior variances were right within 8 % below it, and error rates within 10 % but for few examples; above it, posterior variances were
too low by up to 95 %, and error rates too high by up to 70 %, or threefold with a single dominant mode."""


def is_uneven(problem: Problem, error: FloatArray) -> npt.NDArray[np.bool_]:
    """Tell at which errors by LC the information of a label depends too much on where it is."""
    assert isinstance(problem.observation, Classes)
    variance = problem.spectrum.trace
    some = error < variance  # before anything is learnt, every label says the same
    result = np.zeros(len(error), dtype=bool)
    result[some] = problem.observation.unevenness(error[some], variance) > _UNEVEN
    return result


def say_uneven(sizes: FloatArray, axis: str) -> str:
    """Return the sentence about sizes at which labels are uneven."""
    ends = f"{sizes.min():g}" if len(sizes) == 1 else f"{sizes.min():g} to {sizes.max():g}"
    return (
        f"theory for classes is known to fail at low noise, here at {axis} = {ends}: posterior variances are too low and error rates "
        "often too high; compare the method simulation"
    )
