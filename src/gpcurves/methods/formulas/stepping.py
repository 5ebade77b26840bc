r"""The recursion of the Discrete approximation, :math:`G \to G - G^2/(\sigma^2+\mathrm{tr}\,G)`, for any number of steps.

The first 20,000 steps are taken one by one. After that a step changes little, and many are taken at once: with
:math:`y = \ln G` and one step :math:`y \to y + \Delta(y)`, a stride :math:`y \to y + k\Delta(y)` is exact at `k = 1` and
smooth in `k`, so a window of steps is crossed with several strides and extrapolated to `k = 1` (Neville's scheme).
"""

from __future__ import annotations

import numpy as np

from gpcurves.methods.formulas.parametric import Scaled
from gpcurves.numerics.validation import FloatArray

_ONE_BY_ONE = 20_000  # from there on a step changes ln G by about 1/n, little enough to extrapolate
_STRIDES = (
    32,
    48,
    64,
    96,
    128,
    192,
    256,
)  # strides per window; ratios near 1.5 keep the errors of Neville's scheme apart
_WINDOW = 1.5  # a window ends at 1.5 times the steps done, over which G changes by a bounded factor, whatever n is
_NOTHING = 1e-300
"""Below this, in units of the largest eigenvalue, nothing is left to learn."""


def iterate(scaled: Scaled, n: FloatArray) -> FloatArray:
    """Return the trace of G, in units of the largest eigenvalue, after each integer number of steps."""
    order = np.unique(n)
    traces = np.empty(len(order))
    G = scaled.values.copy()
    done = 0.0
    for position, target in enumerate(order.tolist()):
        G = _advance(scaled, G, done, target)
        done = target
        traces[position] = scaled.multiplicities @ G
    return traces[np.searchsorted(order, n)]


def _advance(scaled: Scaled, G: FloatArray, done: float, target: float) -> FloatArray:
    stop = min(target, _ONE_BY_ONE)
    work = np.empty_like(G)
    while done < stop:
        total = scaled.noise + scaled.multiplicities @ G
        if total <= _NOTHING:
            return np.zeros_like(G)
        np.multiply(G, -1 / total, out=work)
        work += 1.0
        if (largest := G[top := int(np.argmax(G))]) > total / 2:  # then 1 - G/total would cancel
            G[top] = 0.0
            others = scaled.noise + scaled.multiplicities @ G + (scaled.multiplicities[top] - 1) * largest
            G[top], work[top] = largest, others / total
        G *= work  # a product of factors, and not G - G^2/total: G stays positive and keeps its relative accuracy
        done += 1
    while done < target:
        steps = min(target - done, np.floor((_WINDOW - 1) * done))
        G = _leap(scaled, G, steps) if steps > 2 * _STRIDES[-1] else _strides(scaled, G, 1.0, int(steps))
        done += steps
    return G


def _strides(scaled: Scaled, G: FloatArray, stride: float, count: int) -> FloatArray:
    # in logarithms, so that a stride of many steps cannot overshoot zero
    logs = np.log(G, where=G > 0, out=np.full_like(G, -np.inf))
    for _ in range(count):
        now = np.exp(logs)
        total = scaled.noise + scaled.multiplicities @ now
        if total <= _NOTHING:
            break
        logs += stride * np.log1p(-now / total)
    return np.exp(logs)


def _leap(scaled: Scaled, G: FloatArray, steps: float) -> FloatArray:
    strides = [steps / count for count in _STRIDES]
    table = [_strides(scaled, G, stride, count) for stride, count in zip(strides, _STRIDES, strict=True)]
    for level in range(1, len(table)):
        for i in range(len(table) - level):
            near, far = strides[i + level], strides[i]
            table[i] = table[i + 1] + (table[i + 1] - table[i]) * (near - 1) / (far - near)
    return table[0]
