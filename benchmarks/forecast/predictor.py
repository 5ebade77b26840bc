"""The predictor of forecasts beside models of scikit-learn, on the same encoded columns.

    python -m benchmarks.forecast.predictor [--rows 200] [--tasks 70] [--gaussian]

prints for each task, in the order of a hash, and in the median, the root mean squared error on rows that nothing else sees over that of
`GaussianProcessRegressor` (an RBF kernel with one lengthscale for each column, noise, five restarts), gradient boosting, a random forest
and a linear model, none of them tuned. With ``--gaussian`` only the first is compared, which takes minutes for 1,000 rows.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.linear_model import RidgeCV
from threadpoolctl import threadpool_limits

from benchmarks.forecast import tasks, truth
from benchmarks.forecast.sources import hashed
from gpcurves.errors import GPCurvesError
from gpcurves.forecasting.prediction import NewRows

MOST_TESTED = 1_000
RESTARTS = 5


def gaussian(width: int) -> GaussianProcessRegressor:
    """Return the Gaussian process of scikit-learn that a user would try: maximum likelihood from several starts."""
    kernel = ConstantKernel(1.0, (1e-3, 1e4)) * RBF(np.full(width, 2.0), (1e-2, 1e4)) + WhiteKernel(0.1, (1e-8, 1e2))
    return GaussianProcessRegressor(kernel, normalize_y=True, n_restarts_optimizer=RESTARTS, random_state=0)


def compare(name: str, count: int, only_gaussian: bool) -> dict[str, float]:
    """Return the root mean squared error of each model."""
    task = tasks.load(name)
    test, pool = task.table.iloc[: min(task.held, MOST_TESTED)], task.table.iloc[task.held :]
    pick = np.random.default_rng([7, count]).permutation(len(pool))[:count]
    learnt = truth.learn(pool.iloc[np.sort(pick)], task.target)
    rows = learnt.rows
    inputs = NewRows.read(test, rows).inputs
    known = pd.to_numeric(test[task.target], errors="coerce").to_numpy(dtype=np.float64)
    used = np.isfinite(inputs).all(axis=1) & np.isfinite(known)
    inputs, known = inputs[used], (known[used] - rows.mean) / rows.scale
    rivals: dict[str, Any] = {"Gaussian process": gaussian(rows.X.shape[1])}
    if not only_gaussian:
        rivals |= {
            "gradient boosting": HistGradientBoostingRegressor(random_state=0),
            "random forest": RandomForestRegressor(200, random_state=0),
            "linear model": RidgeCV(np.geomspace(1e-3, 1e3, 13)),
        }
    ours = learnt.mixture.predict(inputs) - rows.mean / rows.scale
    found = {"ours": float(np.sqrt(np.mean((known - ours) ** 2)))}
    for called, model in rivals.items():
        found[called] = float(np.sqrt(np.mean((known - model.fit(rows.X, rows.y).predict(inputs)) ** 2)))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--tasks", type=int, default=70)
    parser.add_argument("--gaussian", action="store_true", help="compare with the Gaussian process alone")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    table = []
    ordered = sorted(tasks.names(), key=lambda name: hashed(f"predictor {name}"))
    for name in [name for name in ordered if tasks.rows(name) >= asked.rows][: asked.tasks]:
        try:
            with threadpool_limits(1):
                found = compare(name, asked.rows, asked.gaussian)
        except GPCurvesError as problem:
            print(f"{name}: {problem}", flush=True)
            continue
        table.append(found)
        print(name, {called: float(f"{error:.3g}") for called, error in found.items()}, flush=True)
    ours = np.array([found["ours"] for found in table])
    print(f"{len(table)} tasks, {asked.rows} rows")
    for called in list(table[0])[1:]:
        ratio = ours / np.array([found[called] for found in table])
        low, middle, high = np.quantile(ratio, (0.1, 0.5, 0.9))
        print(
            f"RMSE over that of the {called}: median {middle:.3f} ({low:.2f} to {high:.2f}), lower on {np.mean(ratio < 1):.0%}, "
            f"more than 10 % higher on {np.sum(ratio > 1.1)}, at most {ratio.max():.2f}"
        )


if __name__ == "__main__":
    main()
