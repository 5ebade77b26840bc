"""How well so few rows can say how large an error is at all: the variance of the target itself, which needs no model.

    python -m benchmarks.forecast.variance

prints for each kind of table |ln(variance of the pilot rows / variance of rows that nothing else sees)|, median / 90th percentile over tasks
and random samples of rows. A forecast of squared errors in the units of the target can hardly be closer than this.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from benchmarks.forecast import tasks
from benchmarks.forecast.collect import SIZES

DRAWS = 12


def miss(name: str, count: int) -> list[float]:
    """Return the logarithms of the true variance about the mean of some rows over that of these rows."""
    task = tasks.load(name)
    y = pd.to_numeric(task.table[task.target], errors="coerce").to_numpy(dtype=np.float64)
    test, pool = y[: task.held], y[task.held :]
    found = []
    for draw in range(DRAWS if len(pool) >= count else 0):
        pilot = np.random.default_rng([draw, count]).permutation(pool)[:count]
        if np.ptp(pilot) > 0:
            found.append(float(np.log(np.mean((test - pilot.mean()) ** 2) / pilot.var())))
    return found


def main() -> None:
    names = [*tasks.names(), *tasks.further()]
    for kind in sorted(set(map(tasks.kind, names))):
        some = [name for name in names if tasks.kind(name) == kind]
        parts = []
        for count in SIZES:
            off = np.abs(np.concatenate([miss(name, count) for name in some]))
            parts.append(f"{count} rows: {np.median(off):.2f} / {np.quantile(off, 0.9):.2f}")
        print(f"{kind:10s} ({len(some)} tasks)  {'   '.join(parts)}", flush=True)


if __name__ == "__main__":
    main()
