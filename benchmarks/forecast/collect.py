"""Forecasts of the tasks, before they are combined: one row for each task, number of rows and draw.

    python -m benchmarks.forecast.collect FILE [--third | --further | --unseen | --fresh | --final] [--deterministic] [--draws 1]

Writes what the rows say (the curve of the model and its spread, cross-validation, rivals) with the true curve beside it, one
line of JSON for each. A run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from benchmarks.forecast import tasks, truth
from benchmarks.forecast.rivals import FORMS, extrapolate
from gpcurves.errors import GPCurvesError
from gpcurves.forecasting.assembly import assemble, fit_members, fit_rows, simulate_posterior
from gpcurves.forecasting.effort import Computation, ForecastEffort
from gpcurves.forecasting.error_curve import simulate_curve
from gpcurves.forecasting.regression import mix
from gpcurves.forecasting.result import Forecast
from gpcurves.forecasting.traits import measure_traits
from gpcurves.montecarlo.progress import Progress
from gpcurves.tables.preparing import prepare
from gpcurves.tables.rows import standardise

SIZES = (50, 100, 200)
FACTORS = (2, 4, 8, 16)
MULTIPLES = 2.0 ** np.arange(0, 10.5, 0.5)  # of the rows at hand, at which estimate and ends of the band are kept
PILOT = 1_000  # the seeds of pilot rows, other than those of the rows on which truth is trained


def run(name: str, count: int, draw: int, true: dict[str, float], deterministic: bool = False) -> dict[str, Any]:
    """Return what is known about one forecast."""
    warnings.simplefilter("ignore")
    task = tasks.load(name)
    pool = task.table.iloc[task.held :]
    pick = np.random.default_rng([PILOT + draw, count]).permutation(len(pool))[:count]
    result: dict[str, Any] = {"task": name, "kind": tasks.kind(name), "rows": count, "draw": draw, "true": true}
    began = time.process_time()
    computation = Computation(0, np.random.default_rng(0), ForecastEffort(), Progress(False, "%"))
    try:
        with threadpool_limits(1):
            rows = standardise(prepare(pool.iloc[np.sort(pick)], task.target, most_rows=5_000))
            members = fit_members(rows, 1_000, deterministic)
            mixture = mix(members, rows.X, rows.level)
            fit = fit_rows(rows, members, mixture, computation, deterministic)
            curves = simulate_posterior(fit, computation)
            found = assemble(fit, curves, computation)
            result["seconds"] = time.process_time() - began
            best = int(np.argmax(mixture.weights))
            inputs = fit.draws.problems[0].inputs
            rng = np.random.default_rng(0)
            plug_in = simulate_curve(
                members[best].problem(members[best].mode, inputs),
                inputs.draw(min(16 * len(rows.y), 800), rng),
                inputs.draw(250, rng),
                members[best].density.warped(members[best].mode),
            )
    except GPCurvesError as error:
        return result | {"failed": str(error)}
    units = 2 * np.log(rows.scale)
    usable = len(rows.y)
    n = usable * np.array([0.125, 0.25, 0.5, 0.9, 1, *FACTORS])
    middle, spread, above = curves.moments(n)
    observed = found.cross_validation
    ahead = n[-len(FACTORS) :]
    rmse, low, high, assured = found.band.at(ahead)
    residual, traits = mixture.left_out - rows.level, measure_traits(rows, deterministic)
    return result | {
        "usable": usable,
        "variance": units,
        "middle": (middle + units).tolist(),
        "spread": spread.tolist(),
        "above": above.tolist(),
        "cv_n": observed.n.tolist(),
        "cv": np.log(observed.mse).tolist(),
        "cv_stderr": observed.log_stderr.tolist(),
        "loo": float(np.log(np.mean((mixture.left_out - rows.level) ** 2)) + units),
        "kurtosis": float(np.mean(residual**4) / np.mean(residual**2) ** 2),
        "residuals": [float(f"{each:.3g}") for each in residual],
        "targets": [float(f"{each:.3g}") for each in rows.level],
        "heavy": traits.heavy,
        "smooth": traits.smooth,
        "computed": traits.computed,
        "weights": mixture.weights.tolist(),
        "blocks": max(rows.columns.blocks) + 1,
        "width": rows.X.shape[1],
        "band": [(2 * np.log(each)).tolist() for each in (rmse, low, high, assured)],
        "curve": [(2 * np.log(each)).tolist() for each in found.band.at(usable * MULTIPLES)[:3]],
        "floor": 2 * float(np.log(found.noise_rmse)),
        "required": {k: _require(found, np.sqrt(true[str(k * count)])) for k in FACTORS if str(k * count) in true},
        "simulation of the best fit": (np.log(plug_in(ahead)) + units).tolist(),
        **{form: extrapolate(form, observed.n, observed.mse, ahead).tolist() for form in FORMS},
    }


def read_lines(file: Path) -> list[dict[str, Any]]:
    """Return the forecasts in a file, one on each line."""
    return [json.loads(line) for line in file.read_text().splitlines()]


def _require(found: Forecast, goal: float) -> list[int | None]:
    """Return estimate, ends and assured number of rows for an error that is truly reached at a known number."""
    needed = found.required_n(float(goal))
    return [needed.estimate, needed.low, needed.high, needed.assured]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--third", action="store_true", help="only the tasks to iterate on")
    parser.add_argument("--further", action="store_true", help="only the further tasks")
    parser.add_argument("--unseen", action="store_true", help="only the unseen tasks")
    parser.add_argument("--fresh", action="store_true", help="only the fresh tasks")
    parser.add_argument("--final", action="store_true", help="only the final tasks, which are scored once")
    parser.add_argument("--deterministic", action="store_true", help="only functions without noise, known to be such")
    parser.add_argument("--draws", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args()
    true = json.loads(truth.FILE.read_text())
    done = {(row["task"], row["rows"], row["draw"]) for row in read_lines(asked.file)} if asked.file.exists() else set()
    chosen = {"final": tasks.final, "fresh": tasks.fresh, "unseen": tasks.unseen, "further": tasks.further}
    names = next((listed() for option, listed in chosen.items() if getattr(asked, option)), tasks.names())
    cases = [
        (name, count, draw, curve, asked.deterministic)
        for name in sorted(names, key=lambda name: not tasks.third(name))
        if tasks.third(name) or not asked.third
        if tasks.kind(name) == "simulators" or not asked.deterministic
        for curve in [true.get(name, {})]
        for count in SIZES
        if str(2 * count) in curve
        for draw in range(asked.draws)
        if (name, count, draw) not in done
    ]
    found = Parallel(asked.workers, return_as="generator_unordered")(delayed(run)(*case) for case in cases)
    asked.file.parent.mkdir(parents=True, exist_ok=True)
    with asked.file.open("a") as file:
        for row in tqdm(found, total=len(cases), unit=" forecasts"):
            file.write(json.dumps(row) + "\n")
            file.flush()


if __name__ == "__main__":
    main()
