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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize
from threadpoolctl import threadpool_limits

from benchmarks.forecast.calibrate import SMOOTH, fit_widths
from benchmarks.forecast.rivals import extrapolate
from benchmarks.network import labelled
from benchmarks.network.classes import as_graph, draw, judge, ours, predict
from gpcurves.errors import GPCurvesError
from gpcurves.forecasting.crossvalidation import CrossValidation
from gpcurves.forecasting.effort import Computation, ForecastEffort
from gpcurves.forecasting.intervals import PosteriorCurves, combine, follow_power_laws, ingredients
from gpcurves.forecasting.networks.class_assembly import RATES, fit_classes
from gpcurves.forecasting.networks.class_labels import ClassLabels
from gpcurves.montecarlo.progress import Progress

FILE = Path(__file__).with_name("class_forecasts.json")
PILOTS = (20, 40, 80, 160)
FACTORS = np.array([2, 4, 8])
MOST = 0.75  # share of the classes that may be labels: the others test
TRUTH_DRAWS = 2
PILOT = 1_000  # seeds of pilot labels, other than those for the truth
RIVALS = ("last value", "pow2", "pow3")
WIDER = {
    "error rate": 1.4,
    "log loss": 1.25,
}  # widths fitted to so few networks are too small on others, by these factors
LAWS = RATES.power[0]  # the share of power laws, which is taken as it is
GUESS, PULL = (0.5, 1.0), 3.0  # what level and slope are drawn to, and how strongly
SMALLEST = 0.002  # error rate: a smaller one cannot be told from it at a few hundred vertices


@dataclass(frozen=True)
class Points:
    """Forecasts at a multiple of the labels: arrays of the same length, in logarithms of squares."""

    task: np.ndarray
    table: np.ndarray
    kind: np.ndarray
    factor: np.ndarray
    truth: np.ndarray
    now: np.ndarray  # what the model expects at the size of cross-validation
    ahead: np.ndarray  # and at the multiple
    gap: np.ndarray
    spread: np.ndarray
    above: np.ndarray
    scatter: np.ndarray
    laws: np.ndarray  # what power laws say
    rivals: dict[str, np.ndarray]

    @property
    def weights(self) -> np.ndarray:
        """Every task counts alike; all together as many as there are."""
        count = {task: np.sum(self.task == task) for task in set(self.task)}
        return np.array([1 / count[task] for task in self.task])

    def estimate(self, constants: np.ndarray) -> np.ndarray:
        """Return what is expected with a level and a slope, as in `Calibration`."""
        model = combine(self.ahead, self.now, self.gap, float(constants[0]), float(constants[1]))
        return np.asarray((1 - LAWS) * model + LAWS * self.laws)

    def squares(self) -> np.ndarray:
        """Return the squared ingredients of the width, one column per forecast."""
        drop = self.now - self.ahead
        return ingredients(self.factor, self.spread, self.scatter, self.gap, drop, self.above, 0.0 * drop) ** 2


def fit_estimate(points: Points, kept: np.ndarray) -> np.ndarray:
    """Return the level and the slope that make the mean absolute error least."""
    weights, guess = points.weights * kept, np.array(GUESS)

    def loss(constants: np.ndarray) -> float:
        error = points.estimate(constants) - points.truth
        return float(weights @ np.sqrt(error**2 + SMOOTH**2) + PULL * ((constants - guess) ** 2).sum())

    return np.asarray(minimize(loss, guess, method="Nelder-Mead", options={"maxiter": 900, "xatol": 1e-3}).x)


def fit(points: Points, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the constants of the estimate, and of the widths below and above it, from some of the forecasts."""
    constants = fit_estimate(points, kept)
    errors = points.estimate(constants) - points.truth
    slope = float(constants[1]) * (1 - LAWS)
    return constants, *fit_widths(points.squares()[:, kept], errors[kept], points.weights[kept], slope)


def truth(task: labelled.Task, name: str, n: int) -> tuple[float, float]:
    """Return the error rate and the log loss of the package's predictor with n labels, averaged over draws."""
    found = []
    for number in range(TRUTH_DRAWS if n <= 200 else 1):
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
    for count in PILOTS:
        factors = FACTORS[FACTORS * count <= MOST * len(task.known)]
        labels, _ = draw(task, name, count, PILOT)
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
        rows.append({"task": name, "rows": count, "factors": factors.tolist(), **both})
    return rows


def read(file: Path, key: str, endless: bool) -> Points:
    """Read what was collected of the error rate, or of the log loss; power laws fall to an offset, or without end."""
    found = [(row, row[key], i) for row in json.loads(file.read_text()) for i in range(len(row["factors"]))]

    def law_ahead(part: dict[str, Any], n: float) -> float:
        mse = np.array(part["cv_mse"])
        return float(follow_power_laws(CrossValidation(np.array(part["cv_n"]), mse, mse), np.array([n]), endless)[0])

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
        laws=column(lambda row, part, i: law_ahead(part, float(row["factors"][i] * row["rows"]))),
        rivals={name: column(lambda row, part, i, name=name: part[name][i]) for name in RIVALS},
    )


def choose(candidates: Sequence[Points], kept: np.ndarray) -> Points:
    """Return the forecasts with the power laws whose mean absolute error is the least on those kept."""

    def mean_error(points: Points) -> float:
        estimate = points.estimate(fit_estimate(points, kept))
        return float((points.weights * kept) @ np.abs(np.exp(estimate / 2) - np.exp(points.truth / 2)))

    return min(candidates, key=mean_error)


def leave_out(candidates: Sequence[Points]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return estimate and ends of intervals, with power laws and constants found on other networks."""
    table = candidates[0].table
    estimate, low, high = np.zeros((3, len(table)))
    for name in dict.fromkeys(table.tolist()):
        out = table == name
        points = choose(candidates, ~out)
        constants, down, up = fit(points, ~out)
        squares = points.squares()[:, out]
        estimate[out] = points.estimate(constants)[out]
        low[out] = estimate[out] - np.sqrt(down**2 @ squares)
        high[out] = estimate[out] + np.sqrt(up**2 @ squares)
    return estimate, low, high


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
        ("level, slope", "down", "up"),
        (constants, *(WIDER[what] * each for each in widths)),
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
