r"""The fixed point of local theory: errors :math:`\epsilon_j` that are those of labels with the information that they imply.

.. math:: \epsilon_j = \big[(C^{-1}+\mathrm{diag}\,(n w_j r_j))^{-1}\big]_{jj},\qquad r_j = \frac1{\sigma_j^2+\epsilon_j}

(Malzahn & Opper 2003, for Gaussian noise). Larger errors mean less information and so larger errors again, but by a smaller factor: in
logarithms the map is a contraction, and its fixed point is the only one. The plain iteration converges from every start, slowly if
errors are far above the noise. Anderson's acceleration combines the last few steps so that their changes cancel.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gpcurves.numerics.validation import FloatArray

_WINDOW = 6  # steps that are combined
_MOST = 500  # iterations
_PATIENCE, _ROUNDING = (
    8,
    1e-9,
)  # steps without progress after which rounding has been reached, and changes that it explains


@dataclass(frozen=True, eq=False)
class FixedPoint:
    """Errors at all places that carry labels, and how they were found."""

    error: FloatArray
    rounds: int
    change: float  # the largest relative change in the last round
    converged: bool


def find_fixed_point(update: Callable[[FloatArray], FloatArray], start: FloatArray, tolerance: float) -> FixedPoint:
    """Iterate until no error changes by more than the tolerance, relative to itself.

    ``update`` returns the errors that labels leave which carry the information that errors imply.
    """
    log = np.log(start)
    images: list[FloatArray] = []
    steps: list[FloatArray] = []
    changes: list[float] = []
    while len(changes) < _MOST:
        image = np.log(np.maximum(update(np.exp(log)), np.finfo(float).tiny))
        step = image - log
        changes.append(float(abs(step).max(initial=0.0)))
        recent = min(changes[-_PATIENCE:])
        stalled = len(changes) > _PATIENCE and recent >= min(changes[:-_PATIENCE]) and recent < _ROUNDING
        if changes[-1] <= tolerance or stalled:
            return FixedPoint(np.exp(image), len(changes), changes[-1], True)
        if len(changes) > 1 and changes[-1] > changes[-2]:
            images, steps = [], []  # what was combined led astray: a plain step is safe
        images, steps = [*images, image][-_WINDOW:], [*steps, step][-_WINDOW:]
        log = image
        if len(steps) > 1:
            apart = np.diff(np.array(steps), axis=0).T
            share = np.linalg.lstsq(apart, step, rcond=None)[0]
            log = image - np.diff(np.array(images), axis=0).T @ share
    return FixedPoint(np.exp(image), len(changes), changes[-1], False)
