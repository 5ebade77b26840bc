r"""Many steps of a recursion at once, for the approximation D.

A step changes little after many steps. With a step :math:`y \to y + \Delta(y)`, a stride :math:`y \to y + k\Delta(y)` is exact at
`k = 1` and smooth in `k`, so that a window of steps is crossed with several strides and extrapolated to `k = 1` (Neville's scheme).
"""

from __future__ import annotations

import math
from collections.abc import Callable

from gpcurves.numerics.validation import FloatArray

ONE_BY_ONE = 20_000  # from there on a step changes ln G by about 1/n, little enough to extrapolate
# strides per window; ratios near 1.5 keep the errors of Neville's scheme apart
STRIDES = (32, 48, 64, 96, 128, 192, 256)
_WINDOW = 1.5  # a window ends at 1.5 times the steps done, over which G changes by a bounded factor, whatever n is


def end_of_window(done: float) -> float:
    """Return up to which step the window reaches that begins after so many steps."""
    return done + math.floor((_WINDOW - 1) * done)


def leap(go: Callable[[float, int], FloatArray], steps: float) -> FloatArray:
    """Return what so many steps lead to; ``go`` takes a stride and how many of them to take."""
    strides = [steps / count for count in STRIDES]
    table = [go(stride, count) for stride, count in zip(strides, STRIDES, strict=True)]
    for level in range(1, len(table)):
        for i in range(len(table) - level):
            near, far = strides[i + level], strides[i]
            table[i] = table[i + 1] + (table[i + 1] - table[i]) * (near - 1) / (far - near)
    return table[0]
