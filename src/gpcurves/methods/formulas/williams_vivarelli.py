r"""The bound of Williams and Vivarelli: one dimension, stationary kernel, learning from the nearest example alone.

With :math:`Q(a) = C(0)^2 - C(a)^2` and `a` the distance from a test input to the nearest of `n` examples,
:math:`\epsilon \le \frac{C(0)\sigma^2 + \langle Q(a)\rangle}{C(0)+\sigma^2}`, which is SH02 (21) without its
cancellation. The law of `a` is that of SH02 (22) on the interval, :math:`2n(1-2a)^{n-1}` on the circle, and for any
density :math:`n\langle[P(x-a)+P(x+a)][1-Q(x+a)+Q(x-a)]^{n-1}\rangle_x`. Never below about the noise.
"""

from __future__ import annotations

import numpy as np

from gpcurves.inputs import Inputs
from gpcurves.kernels import is_stationary
from gpcurves.methods.base import Kind, formula, needs_kernel
from gpcurves.numerics.validation import FloatArray
from gpcurves.problem import Problem


def _one_dimensional(problem: Problem) -> str | None:
    if problem.inputs.dim != 1:
        return f"inputs must be one-dimensional, got dimension {problem.inputs.dim}"
    if not is_stationary(problem.kernel):
        return "the kernel must be stationary"
    if type(problem.inputs).mean_over_nearest is Inputs.mean_over_nearest:
        return f"the distance to the nearest example has no known law for {type(problem.inputs).__name__} inputs"
    return None


@formula(
    "wv",
    "Williams-Vivarelli",
    Kind.UPPER_BOUND,
    promise="holds for the average error; stays near the noise variance for large n",
    source="Sollich & Halees 2002, eqs. (21) to (23)",
    needs="one-dimensional inputs, a stationary kernel, integer n",
    conditions=(needs_kernel, _one_dimensional),
    integers=True,
    spectral=False,
)
def williams_vivarelli(problem: Problem, n: FloatArray) -> FloatArray:
    """Return the bound at each n; the prior variance at n = 0."""
    inputs = problem.inputs

    def unexplained(a: FloatArray) -> FloatArray:
        """Return Q(a), the variance that an example at distance a fails to explain, times C(0)."""
        value, loss, origin = inputs.line_covariance(problem.kernel, a, problem.spectrum)
        return loss * (origin + value)

    origin = inputs.line_covariance(problem.kernel, np.zeros(1), problem.spectrum)[2]
    some = n > 0
    result = np.full(len(n), origin)
    if some.any():
        left = inputs.mean_over_nearest(n[some], unexplained)
        assert left is not None  # a condition of the method
        result[some] = (origin * problem.noise + left) / (origin + problem.noise)
    return result
