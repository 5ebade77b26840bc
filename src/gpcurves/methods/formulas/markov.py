r"""The Ornstein-Uhlenbeck process in one dimension without noise: exact, because only the two neighbours of an input count.

Between examples at a distance `g` the posterior variance sums to :math:`w(g) = g\coth(g/l) - l`, and beyond the last example of an
interval to :math:`e(g) = g - \frac l2(1-e^{-2g/l})`. Of `n` uniform examples on the circle each of the `n` gaps has the density
:math:`(n-1)(1-g)^{n-2}`; on the interval each of `n+1`, of which two are at its ends, has :math:`n(1-g)^{n-1}`. So

.. math:: \epsilon_\mathrm{circle} = n\langle w(g)\rangle,\qquad \epsilon_\mathrm{interval} = (n-1)\langle w(g)\rangle + 2\langle e(g)\rangle.
"""

from __future__ import annotations

import math

import numpy as np

from gpcurves.inputs import Box, Torus
from gpcurves.methods.base import Kind, formula, needs_kernel
from gpcurves.numerics.quadrature import distance_rule
from gpcurves.numerics.validation import FloatArray
from gpcurves.problem import Problem

_SERIES = 0.2  # below this, the series are exact to rounding


def _rough_line(problem: Problem) -> str | None:
    if not isinstance(problem.inputs, Torus | Box) or problem.inputs.dim != 1:
        return "inputs must be uniform on the circle or the interval: Torus(1) or Box(1)"
    if getattr(problem.kernel, "smoothness", None) != 0.5 or not hasattr(problem.kernel, "lengthscale"):
        return "the kernel must be the Ornstein-Uhlenbeck kernel, OU"
    return None if problem.noise == 0 else f"there must be no noise, got {problem.noise:g}"


@formula(
    "ou-exact",
    "Ornstein-Uhlenbeck, exact",
    Kind.EXACT,
    promise="the exact average error, since the process between two examples depends on these two only",
    source="gpcurves, docs/theory/exact.md",
    needs="the kernel OU on Torus(1) or Box(1), no noise, integer n",
    conditions=(needs_kernel, _rough_line),
    integers=True,
    special=True,
    spectral=False,
)
def ornstein_uhlenbeck(problem: Problem, n: FloatArray) -> FloatArray:
    r"""Return the average over gaps; :math:`2/(3ln)` for many examples, where LC gives :math:`1/(2ln)`."""
    kernel = problem.kernel
    scale = float(kernel.lengthscales(1)[0])
    circle = isinstance(problem.inputs, Torus)
    result = np.full(len(n), 1 / math.tanh(1 / (2 * scale)) if circle else 1.0)
    result[(n == 1) & circle] = float(_between(np.ones(1), scale)[0])  # one gap, all around the circle
    if (several := n >= (2 if circle else 1)).any():
        gap, width = distance_rule(1.0, n[several])
        inner, outer, rest = width * _between(gap, scale), width * _beyond(gap, scale), np.log1p(-gap)
        for at in np.flatnonzero(several).tolist():
            others = n[at] - (1 if circle else 0)  # gaps but one, whose density is their number times a power
            density = others * np.exp((others - 1) * rest)
            sides = 0.0 if circle else 2 * float(density @ outer)
            result[at] = (n[at] if circle else n[at] - 1) * float(density @ inner) + sides
    return np.asarray(kernel.variance * result)


def _between(gap: FloatArray, scale: float) -> FloatArray:
    r"""Return :math:`g\coth(g/l) - l` without cancellation at small gaps."""
    x = gap / scale
    small = np.minimum(x, _SERIES) ** 2
    series = small / 3 * (1 - small / 15 * (1 - small * 2 / 21 * (1 - small / 10 * (1 - small * 10 / 99))))
    with np.errstate(invalid="ignore", divide="ignore"):
        direct = x / np.tanh(x) - 1
    return np.asarray(scale * np.where(x < _SERIES, series, direct))


def _beyond(gap: FloatArray, scale: float) -> FloatArray:
    r"""Return :math:`g - \frac l2(1-e^{-2g/l})` without cancellation at small gaps."""
    x = 2 * gap / scale
    small = np.minimum(x, _SERIES)
    series = np.ones_like(small)
    for order in range(12, 2, -1):  # of (x - 1 + e^-x) 2/x^2, from its last term on
        series = 1 - small / order * series
    series = small * small / 2 * series
    return np.asarray(scale / 2 * np.where(x < _SERIES, series, x + np.expm1(-x)))
