"""What forecasts compute, retyped naively."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gpcurves.forecasting.crossvalidation import CrossValidation

OFFSETS = (0.0, 0.05, 0.2, 0.4, 0.6, 0.8, 0.9, 0.97, 1.0)


def naive_power_laws(observed: CrossValidation, n: float, offsets: Sequence[float] = OFFSETS) -> float:
    """Average ln(a + b n^-c) over laws, one by one, each moved to the level at which it fits best; a is a share of the last error."""
    total = weight = 0.0
    for c in (0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0):
        for share in offsets:
            last = observed.n[-1]
            laws = [math.log(share + (1 - share) * (last / at) ** c) for at in (*observed.n, n)]
            away = [math.log(mse) - law for mse, law in zip(observed.mse, laws[:-1], strict=True)]
            level = sum(away) / len(away)
            fits = math.exp(-sum((each - level) ** 2 for each in away) / (2 * 0.4**2))
            total, weight = total + fits * (level + laws[-1]), weight + fits
    return total / weight
