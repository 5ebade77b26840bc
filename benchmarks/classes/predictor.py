"""The classifier of forecasts beside those of scikit-learn, on the same encoded columns.

    python -m benchmarks.classes.predictor [--rows 200] [--tasks 40]

prints for each task, and in the median, the log loss on rows that nothing else sees over that of `GaussianProcessClassifier` (one lengthscale
for each column), logistic regression, a random forest and gradient boosting (none of them tuned), and the expected calibration error: the
mean distance between probability and share of right predictions over ten bins of the largest probability.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from benchmarks.classes import tasks, truth
from benchmarks.forecast.sources import hashed
from gpcurves.errors import GPCurvesError
from gpcurves.forecasting.prediction import NewRows
from gpcurves.tables.cells import as_texts

MOST_TESTED = 600
BINS = 10


def calibration_error(p: np.ndarray, right: np.ndarray) -> float:
    """Return the expected calibration error."""
    top, hit = p.max(axis=1), p.argmax(axis=1) == right
    place = np.minimum((BINS * top).astype(int), BINS - 1)
    return float(sum(abs(top[place == k].sum() - hit[place == k].sum()) for k in range(BINS)) / len(top))


def compare(name: str, count: int) -> tuple[dict[str, float], float]:
    """Return the log loss of each classifier, and the calibration error of ours."""
    task = tasks.load(name)
    test, pool = task.table.iloc[: min(task.held, MOST_TESTED)], task.table.iloc[task.held :]
    pick = np.random.default_rng([7, count]).permutation(len(pool))[:count]
    learnt = truth.learn(pool.iloc[np.sort(pick)], task.target)
    rows = learnt.rows
    place = {word: k for k, word in enumerate(rows.classes)}
    inputs = NewRows.read(test, rows).inputs
    right = np.array([place.get(word, -1) for word in as_texts(test[task.target])])
    used = np.isfinite(inputs).all(axis=1) & (right >= 0)
    inputs, right = inputs[used], right[used]
    rivals = {
        "GaussianProcessClassifier": GaussianProcessClassifier(
            ConstantKernel(1.0) * RBF(np.full(rows.X.shape[1], 2.0)), random_state=0
        ),
        "logistic regression": LogisticRegression(max_iter=500),
        "random forest": RandomForestClassifier(200, random_state=0),
        "gradient boosting": HistGradientBoostingClassifier(random_state=0),
    }
    ours = learnt.mixture.predict(inputs)
    found = {"ours": _loss(ours, right)}
    for called, model in rivals.items():
        model.fit(rows.X, rows.labels.argmax(axis=1))
        found[called] = _loss(model.predict_proba(inputs), right)
    return found, calibration_error(ours, right)


def _loss(p: np.ndarray, right: np.ndarray) -> float:
    """Return the log loss, with no probability below that which truths are computed with."""
    return float(-np.log(np.maximum(p[np.arange(len(right)), right], truth.LEAST)).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--tasks", type=int, default=40)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    table, errors = [], []
    for name in sorted(tasks.names(), key=lambda name: hashed(f"predictor {name}"))[: asked.tasks]:
        try:
            with threadpool_limits(1):
                found, error = compare(name, asked.rows)
        except GPCurvesError as problem:
            print(f"{name}: {problem}", flush=True)
            continue
        table.append(found)
        errors.append(error)
        print(name, {called: round(loss, 3) for called, loss in found.items()}, f"calibration {error:.3f}", flush=True)
    ours = np.array([found["ours"] for found in table])
    best = np.min([[found[key] for key in list(found)[2:]] for found in table], axis=1)
    print(f"{len(table)} tasks; calibration error: median {np.median(errors):.3f}, mean {np.mean(errors):.3f}")
    for called in list(table[0])[1:]:
        ratio = ours / np.array([found[called] for found in table])
        print(f"log loss over that of {called}: median {np.median(ratio):.3f}, lower on {np.mean(ratio < 1):.0%}")
    print(f"over the best of the last three: median {np.median(ours / best):.3f}")


if __name__ == "__main__":
    main()
