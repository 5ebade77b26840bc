"""Forecasts of the error rate after more labels, with curves through cross-validated error rates beside them.

    python -m benchmarks.network.class_forecasts [--file FILE] [--most 1000] [TASK ...]    collect, and keep in FILE
    python -m benchmarks.network.class_forecasts --score              score ``class_forecasts.json``, and print constants

The truth is the error rate of the package's own predictor with 2, 4 and 8 times the labels, at vertices without a label,
averaged over draws of labels other than those the forecast saw. Each network is scored with constants fitted to the other ones,
and with the power laws that were best on them. Errors are squared inside, as mean squared errors of numbers are.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.forecast.rivals import extrapolate
from benchmarks.network import labelled
from benchmarks.network.classes import as_graph, draw, judge, ours, predict
from benchmarks.network.fitting import Points, choose, fit, law_ahead, leave_out
from gpcurves.errors import GPCurvesError
from gpcurves.forecasting.effort import Computation, ForecastEffort
from gpcurves.forecasting.intervals import PosteriorCurves
from gpcurves.forecasting.networks.class_assembly import RATES, fit_classes
from gpcurves.forecasting.networks.class_labels import ClassLabels
from gpcurves.montecarlo.progress import Progress

FILE = Path(__file__).with_name("class_forecasts.json")
PILOTS = (20, 40, 80, 160)
FACTORS = np.array([2, 4, 8])
MOST = 0.75  # share of the classes that may be labels: the others test
TRUTH_DRAWS = 4
PILOT = 1_000  # seeds of pilot labels, other than those for the truth
DRAWS = 3  # pilots of each size
RIVALS = ("last value", "pow2", "pow3")
WIDER = {
    "error rate": 1.25,
    "log loss": 1.2,
}  # widths fitted to so few networks are too small on others, by these factors
SMALLEST = 0.002  # error rate: a smaller one cannot be told from it at a few hundred vertices


def truth(task: labelled.Task, name: str, n: int) -> tuple[float, float]:
    """Return the error rate and the log loss of the package's predictor with n labels, averaged over draws."""
    found = []
    for number in range(TRUTH_DRAWS if n <= 200 else TRUTH_DRAWS // 2):
        labels, rest = draw(task, name, n, number)
        found.append(judge(*predict(task, ours, labels, rest))[:2])
    rate, loss = np.mean(found, axis=0).tolist()
    return rate, loss


def look_ahead(curves: PosteriorCurves, sizes: np.ndarray) -> dict[str, Any]:
    """Return what a forecast is made of, in logarithms of squares."""
    middle, spread, above = curves.moments(sizes)
    seen = curves.observed
    return {
        "now": float(curves.moments(seen.n[-1:])[0][0]),
        "ahead": middle.tolist(),
        "spread": spread.tolist(),
        "above": above.tolist(),
        "gap": curves.gap,
        "scatter": float(seen.log_stderr[-1]),
        "cv_n": seen.n.tolist(),
        "cv_mse": seen.mse.tolist(),
        **{rival: extrapolate(rival, seen.n, seen.mse, sizes).tolist() for rival in RIVALS},
    }


def collect(name: str) -> list[dict[str, Any]]:
    """Return for each forecast what it is made of, what rivals say, and the truth."""
    task = labelled.load(name)
    truths: dict[int, tuple[float, float]] = {}
    rows = []
    for count, number in product(PILOTS, range(DRAWS)):
        factors = FACTORS[FACTORS * count <= MOST * len(task.known)]
        labels, _ = draw(task, name, count, PILOT + number)
        if not len(factors) or len(np.unique(task.classes[labels])) < 2:
            continue
        computation = Computation(0, np.random.default_rng(0), ForecastEffort(), Progress(False, "%"))
        found = fit_classes(as_graph(task.graph), ClassLabels.gather(labels, task.classes[labels]), computation)
        wanted = factors * count
        for n in wanted.tolist():
            if n not in truths:
                truths[n] = truth(task, name, n)
        both = {}
        for k, (key, curves) in enumerate((("rate", found.rates), ("loss", found.losses))):
            both[key] = {"true": [truths[n][k] for n in wanted.tolist()], **look_ahead(curves, wanted.astype(float))}
        rows.append({"task": name, "rows": count, "draw": number, "factors": factors.tolist(), **both})
    return rows


def read(file: Path, key: str, endless: bool) -> Points:
    """Read what was collected of the error rate, or of the log loss; power laws fall to an offset, or without end."""
    found = [(row, row[key], i) for row in json.loads(file.read_text()) for i in range(len(row["factors"]))]

    def column(pick: object) -> np.ndarray:
        return np.array([pick(row, part, i) for row, part, i in found])  # type: ignore[operator]

    return Points(
        task=column(lambda row, part, i: row["task"]),
        table=column(lambda row, part, i: labelled.system(row["task"])),
        kind=column(lambda row, part, i: labelled.kind(row["task"])),
        factor=column(lambda row, part, i: float(row["factors"][i])),
        truth=column(lambda row, part, i: 2 * np.log(max(part["true"][i], SMALLEST))),
        now=column(lambda row, part, i: part["now"]),
        ahead=column(lambda row, part, i: part["ahead"][i]),
        gap=column(lambda row, part, i: part["gap"]),
        spread=column(lambda row, part, i: part["spread"][i]),
        above=column(lambda row, part, i: part["above"][i]),
        scatter=column(lambda row, part, i: part["scatter"]),
        laws=column(lambda row, part, i: law_ahead(part, float(row["factors"][i] * row["rows"]), endless)),
        share=RATES.laws[0],
        rivals={name: column(lambda row, part, i, name=name: part[name][i]) for name in RIVALS},
    )


def score(candidates: Sequence[Points], what: str) -> None:
    """Print the median and mean absolute error of forecasts, how often intervals hold, and the constants."""
    estimate, low, high = leave_out(candidates)
    points = choose(candidates, np.full(len(estimate), True))
    low, high = estimate - WIDER[what] * (estimate - low), estimate + WIDER[what] * (high - estimate)
    print(
        f"\nForecast of the {what}: {len(points.task)} forecasts on {len(set(points.table))} networks, absolute errors"
    )
    print(f"{'':12s} " + "  ".join(f"{f'{k}x median':>11s} {'mean':>6s}" for k in FACTORS) + "   coverage of 90 %")
    inside = (low <= points.truth) & (points.truth <= high)
    for method, said in {"gpcurves": estimate, **points.rivals}.items():
        parts = []
        off = np.abs(np.minimum(np.exp(said / 2), 1.0 if what == "error rate" else np.inf) - np.exp(points.truth / 2))
        for k in FACTORS:
            each = off[points.factor == k]
            parts.append(f"{np.median(each):11.3f} {each.mean():6.3f}")
        print(f"{method:12s} {'  '.join(parts)}   {f'{inside.mean():8.1%}' if method == 'gpcurves' else '       -'}")
    held = {place: inside[points.kind == place].mean() for place in dict.fromkeys(points.kind.tolist())}
    print("coverage by kind: " + ", ".join(f"{place} {share:.0%}" for place, share in held.items()))
    print("power laws:", "without end" if points is candidates[1] else "with an offset")
    constants, *widths = fit(points, np.full(len(points.task), True))
    for name, values in zip(
        ("level, model", "down", "up"),
        (np.array(points.calibrated(constants)), *(WIDER[what] * each for each in widths)),
        strict=True,
    ):
        print(name, "=", tuple(float(f"{value:.3g}") for value in values))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", nargs="*")
    parser.add_argument("--file", type=Path, default=FILE)
    parser.add_argument("--most", type=int, default=1_000, help="vertices of the largest network")
    parser.add_argument("--score", action="store_true", help="only score what is there")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = json.loads(asked.file.read_text()) if asked.file.exists() else []
    done = {row["task"] for row in rows}
    wanted = [name for name in asked.task or labelled.names() if name not in done] if not asked.score else []
    for name in wanted:
        began = time.process_time()
        if labelled.load(name).graph.shape[0] > asked.most:
            continue
        try:
            with threadpool_limits(1):
                rows += collect(name)
        except GPCurvesError as failure:
            print(f"{name}: {failure}", flush=True)
        asked.file.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")
        print(f"{name}: {time.process_time() - began:.0f} s", flush=True)
    for key, what in (("rate", "error rate"), ("loss", "log loss")):
        score([read(asked.file, key, endless) for endless in (False, True)], what)


if __name__ == "__main__":
    main()
