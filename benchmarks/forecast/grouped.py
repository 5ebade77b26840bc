"""Forecasts for new groups of rows, such as patients: tasks, true learning curves, forecasts beside rivals, and their score.

    python -m benchmarks.forecast.grouped choose
    python -m benchmarks.forecast.grouped truth [--part PART | --tasks TASK ...]
    python -m benchmarks.forecast.grouped collect FILE [--part PART | --tasks TASK ...]
    python -m benchmarks.forecast.grouped score FILE

Numbers of rows are numbers of groups here: for training, for pilots and for forecasts. Errors are those of rows of groups that
nothing else sees, each row alike. Truth and forecasts go on where they were stopped; tasks that are named to `truth` are computed
anew. Tables are those of the other tasks with a column of groups, in the order of a hash; PART is "development" or "left out".
"""

from __future__ import annotations

import argparse
import json
import re
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits
from tqdm import tqdm

import gpcurves as gpc
from benchmarks.forecast import choose, final_sources, sources, tasks
from benchmarks.forecast.collect import PILOT, read_lines
from benchmarks.forecast.rivals import FORMS, extrapolate
from benchmarks.forecast.score import interval_score, pair
from benchmarks.forecast.sources import hashed
from benchmarks.forecast.truth import _is_like_training
from gpcurves.errors import GPCurvesError
from gpcurves.forecasting.assembly import fit_members
from gpcurves.forecasting.effort import ForecastEffort
from gpcurves.forecasting.prediction import Predictor
from gpcurves.forecasting.regression import mix
from gpcurves.forecasting.units import name_groups
from gpcurves.tables.preparing import prepare
from gpcurves.tables.rows import standardise

FILE = Path(__file__).with_name("grouped.json")
TRUTH = Path(__file__).with_name("grouped_truth.json")
PARTS = ("development", "left out")
MOST_TABLES, MOST_OF_A_PACKAGE = 60, 3
FEWEST_ROWS, FEWEST_GROUPS, MOST_SHARE = 200, 30, 0.2
FEWEST_EACH, MOST_EACH = 3, 60
"""Rows of a group, on average."""
MOST_HELD = 300
SETS = {10: 4, 20: 4, 40: 3, 80: 2, 160: 1}
PILOTS = (10, 20, 40)
FACTORS = (1, 2, 4, 8)
GROUPS = re.compile(
    r"(author|bird|block|brood|cat|chick|clinic|cluster|colony|couple|county|cow|dam|district|dog|doctor|driver|dyad|"
    r"employee|family|firm|fish|flock|genotype|herd|horse|judge|lake|litter|mother|mouse|nation|nest|neighbou?rhood|pair|"
    r"pig|player|practice|precinct|prov(ince)?|psu|rat|reef|region|river|sheep|sire|species|state|stream|team|town|tree|"
    r"twin|village|volunteer|ward|woman|worker)(s|[\W_]*(id|no|nr|num|number|code|name))?\d*",
    re.IGNORECASE,
)
"""Names of columns of groups besides the words of the package, and besides identifiers."""
NO_GROUPS = re.compile(
    r"(.*[_. ])?(no|nr|num|number|index|idx|obs|observation|row|rowid|rownames|rank|round|serial|point|resp)\d*",
    re.IGNORECASE,
)
"""Identifiers that number rows or are measurements as often as they stand for groups."""
LEFT_OUT = re.compile(
    r".*/(brms/epilepsy|rrcov/OsloTransect|MASS/Sitka(89)?|nlme/Spruce|sandwich/PetersenCL)(\.\w+)?(/.*)?"
)
"""Copies of other tables with other columns (of epilepsy, Oslo and sitka89), and numbers that somebody made up."""


def learn(table: pd.DataFrame, target: str, groups: str) -> Predictor:
    """Return the predictor that `forecast` would have of these rows in groups."""
    effort = ForecastEffort()
    rows = standardise(prepare(table, target, groups=groups, most_rows=effort.most_rows))
    members = fit_members(rows, effort.fitted_rows)
    return Predictor(rows, mix(members, rows.X, rows.level, rows.errors, rows.groups))


def choose_tables() -> dict[str, dict[str, Any]]:
    """Return tasks on the first tables that qualify."""
    left_out = (sources.LEFT_OUT, sources.FRESH_LEFT_OUT, final_sources.LEFT_OUT)
    old = {*sources.list_tables(), *sources.list_unseen_tables()}
    listed = {source for source in old if not any(one.fullmatch(source) for one in left_out)}
    listed |= {*sources.list_fresh_tables(), *sources.list_final_tables()}
    listed = {source for source in listed if not LEFT_OUT.fullmatch(source)}
    known: list[tuple[str, pd.DataFrame, choose.Marks]] = []
    count: Counter[str] = Counter()
    found: dict[str, dict[str, Any]] = {}
    for source in tqdm(sorted(listed, key=hashed), unit=" tables"):
        package, _, name = choose.name_fresh(source)
        if name in found or count[package] >= MOST_OF_A_PACKAGE:
            continue
        table = sources.read(source)
        if not (len(table) >= FEWEST_ROWS and 2 <= table.shape[1] <= choose.MOST_COLUMNS):
            continue
        entry = next(find_entries(source, name, table), None)
        if entry is None:
            continue
        marks = choose.find_marks(table)
        if choose.is_known(source, table, marks, known):
            continue
        known.append((source, table, marks))
        count[package] += 1
        found[name] = entry
        if len(found) == MOST_TABLES:
            break
    return found


def find_entries(source: str, name: str, table: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the tasks that a table gives, the first target beside the column most surely of groups first."""
    columns = [(place, column) for column in map(str, table) for place in [place_groups(column)] if place is not None]
    for _, groups in sorted(columns, key=lambda each: (each[0], hashed(f"groups {each[1]}"))):
        if not has_groups(table[groups].dropna()):
            continue
        for target in choose.find_targets(table, name, FEWEST_ROWS):
            unfit = (choose.IDENTIFIER, choose.COUNTER, choose.NO_TARGET, choose.NO_FRESH_TARGET)
            if target == groups or any(one.fullmatch(target) for one in unfit):
                continue
            inputs = [column for column in choose.find_inputs(table, target) if column != groups]
            if inputs and has_groups(table[groups][table[target].notna()].dropna()):
                part = PARTS[hashed(f"part of {source}") % 2]
                yield {"source": source, "target": target, "columns": inputs, "groups": groups, "part": part}


def place_groups(column: str) -> int | None:
    """Return 0 if a column is called as the package calls groups, 1 for other words, 2 for identifiers, else nothing."""
    if name_groups(column) != name_groups(""):
        return 0
    if GROUPS.fullmatch(column):
        return 1
    return 2 if choose.IDENTIFIER.fullmatch(column) and not NO_GROUPS.fullmatch(column) else None


def has_groups(column: pd.Series[Any]) -> bool:
    """Tell whether the cells of a column are names or whole numbers that stand for enough groups, none of them too large.

    Numbers in a column with a plural for its name count things.
    """
    if pd.api.types.is_numeric_dtype(column):
        plural = re.search(r"[^s]s$", str(column.name), re.IGNORECASE)
        if plural or not np.all(column == np.round(column.astype(float))):
            return False
    count = column.astype(str).value_counts()
    enough = len(column) >= FEWEST_ROWS and len(count) >= FEWEST_GROUPS
    return enough and FEWEST_EACH <= count.mean() <= MOST_EACH and count.max() <= MOST_SHARE * len(column)


def make_table(name: str, entry: dict[str, Any]) -> pd.DataFrame:
    """Return the columns of a task for rows with target and group: all of each group, of as many random groups as there is room for."""
    needed = [entry["groups"], entry["target"]]
    table = sources.read(entry["source"])[[*entry["columns"], *needed]].dropna(subset=needed)
    count = table[entry["groups"]].astype(str).value_counts().sort_index()
    count = count.sample(frac=1, random_state=hashed(name))
    kept = count.index[count.cumsum() <= tasks.MOST_ROWS]
    rows: pd.DataFrame = table[table[entry["groups"]].astype(str).isin(kept)].reset_index(drop=True)
    return rows


@dataclass(frozen=True)
class Grouped:
    """A table whose rows belong to groups: those for testing, and those for training."""

    test: pd.DataFrame
    pool: pd.DataFrame
    target: str
    groups: str

    @classmethod
    def load(cls, name: str) -> Grouped:
        entry = read_entries()[name]
        table = tasks.keep(name, entry, make_table, "gpcurves-grouped").table
        labels = table[entry["groups"]].astype(str)
        order = np.random.default_rng(hashed(f"test {name}")).permutation(np.unique(labels))
        held = labels.isin(order[: min(MOST_HELD, len(order) // 3)])
        return cls(table[held], table[~held], entry["target"], entry["groups"])

    def __len__(self) -> int:
        """Return the number of groups to train on."""
        return int(self.pool[self.groups].astype(str).nunique())

    def draw(self, count: int, seed: int) -> pd.DataFrame:
        """Return the rows of so many random groups."""
        labels = self.pool[self.groups].astype(str)
        pick = np.random.default_rng([seed, count]).permutation(np.unique(labels))[:count]
        return self.pool[labels.isin(pick)].reset_index(drop=True)


def read_entries(part: str | None = None) -> dict[str, dict[str, Any]]:
    """Return the tasks, or those of one part."""
    found: dict[str, dict[str, Any]] = json.loads(FILE.read_text())
    return {name: entry for name, entry in found.items() if part in (None, entry["part"])}


def read_truth() -> dict[str, dict[str, float]]:
    """Return the true learning curves as far as they are known."""
    found: dict[str, dict[str, float]] = json.loads(TRUTH.read_text()) if TRUTH.exists() else {}
    return found


def write(file: Path, found: dict[str, Any]) -> None:
    file.write_text("{\n" + ",\n".join(f'"{k}": {json.dumps(v)}' for k, v in found.items()) + "\n}\n")


def curve(name: str, known: dict[str, float]) -> tuple[str, dict[str, float], float]:
    """Return the mean squared error after each number of groups that is not known, and the time that it took."""
    warnings.simplefilter("ignore")
    began, task, result = time.perf_counter(), Grouped.load(name), dict(known)
    target = pd.to_numeric(task.test[task.target], errors="coerce").to_numpy(dtype=np.float64)
    for count in [count for count in SETS if count <= len(task) and str(count) not in known]:
        logs = []
        for draw in range(SETS[count]):
            try:
                with threadpool_limits(1):
                    learnt = learn(task.draw(count, draw), task.target, task.groups)
                    errors = target - learnt.predict(task.test)["prediction"].to_numpy()
            except GPCurvesError as error:
                print(f"{name}, {count} groups: {error}", flush=True)
                continue
            logs.append(np.log(np.nanmean(errors[_is_like_training(learnt, task.test)] ** 2)))
        if logs:
            result[str(count)] = float(f"{np.exp(np.mean(logs)):.5g}")
    return name, result, time.perf_counter() - began


def run(name: str, count: int, true: dict[str, float]) -> dict[str, Any]:
    """Return the forecast from one pilot, and what rivals make of its cross-validation, in logarithms of mean squared errors."""
    warnings.simplefilter("ignore")
    task = Grouped.load(name)
    result: dict[str, Any] = {"task": name, "part": read_entries()[name]["part"], "groups": count, "true": true}
    began = time.process_time()
    try:
        pilot = task.draw(count, PILOT)
        with threadpool_limits(1):
            found = gpc.forecast(pilot, task.target, groups=task.groups, task="numbers", rng=0, progress=False)
    except GPCurvesError as error:
        return result | {"failed": str(error)}
    ahead, observed = found.rows * np.array(FACTORS, dtype=float), found.cross_validation
    table = found.at([int(n) for n in ahead])
    return result | {
        "seconds": time.process_time() - began,
        "rows": len(pilot),
        "usable": found.rows,
        "forecast": (2 * np.log(table[["rmse", "low", "high"]].to_numpy().T)).tolist(),
        "floor": 2 * float(np.log(found.noise_rmse)),
        "deviation": 2 * float(np.log(found.deviation)),
        "cv_n": observed.n.tolist(),
        "cv": np.log(observed.mse).tolist(),
        **{form: extrapolate(form, observed.n, observed.mse, ahead).tolist() for form in FORMS},
    }


def rival_ends(said: np.ndarray, error: np.ndarray, task: np.ndarray, factor: np.ndarray) -> np.ndarray:
    """Return intervals around a rival: quantiles of its errors on other tasks, at the same multiple."""
    others = [error[(task != task[i]) & (factor == factor[i])] for i in range(len(said))]
    return np.array([said - [np.quantile(each, share) for each in others] for share in (0.95, 0.05)])


def score(file: Path) -> None:
    """Print errors and intervals of forecasts and rivals: of all tasks, and of each part."""
    lines = read_lines(file)
    rows = [row for row in lines if "failed" not in row]
    print(f"{len(lines)} forecasts, {len(lines) - len(rows)} failed")
    points = [
        (row, k, row["true"][str(factor * row["groups"])])
        for row in rows
        for k, factor in enumerate(FACTORS)
        if str(factor * row["groups"]) in row["true"]
    ]
    truth = np.log([true for _, _, true in points])
    task, part = (np.array([row[key] for row, _, _ in points]) for key in ("task", "part"))
    factor = np.array([FACTORS[k] for _, k, _ in points])
    forecast, *band = np.array([[curve[k] for curve in row["forecast"]] for row, k, _ in points]).T
    said = {"forecast": forecast} | {form: np.array([row[form][k] for row, k, _ in points]) for form in FORMS}
    ends = {form: rival_ends(said[form], said[form] - truth, task, factor) for form in FORMS} | {"forecast": band}
    heads = "".join(f"{f'{k}x med/p90':>13s}" for k in FACTORS)
    print(f"{'':12s}{heads}{'all med/p90':>13s}   bias   interval score, coverage of 90 % at each multiple and of all")
    for name in ("all", *PARTS):
        here = np.full(len(part), True) if name == "all" else part == name
        if not here.any():
            continue
        print(f"-- {name}: {len(set(task[here]))} tasks, {here.sum()} forecasts at a multiple of the groups")
        for each, estimate in said.items():
            error, (low, high) = estimate - truth, ends[each]
            inside, cost = (low <= truth) & (truth <= high), interval_score(low, high, truth)
            chosen = [here & (factor == k) for k in FACTORS] + [here]
            off = "".join(f"{describe(error[some]):>13s}" for some in chosen)
            hits = " ".join(f"{inside[some].mean():.2f}" if some.any() else "-" for some in chosen)
            less = "" if each == "forecast" else f"   forecast less this: {pair(forecast - truth, error, task, here)}"
            print(f"{each:12s}{off}  {error[here].mean():+.3f}  {cost[here].mean():6.2f}  {hits}{less}")


def describe(error: np.ndarray) -> str:
    """Return median and 90th percentile of absolute errors."""
    size = np.abs(error)
    return f"{np.median(size):.2f} /{np.quantile(size, 0.9):5.2f}" if len(size) else "-"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for command in ("choose", "truth", "collect", "score"):
        options = commands.add_parser(command)
        if command in ("collect", "score"):
            options.add_argument("file", type=Path)
        if command in ("truth", "collect"):
            options.add_argument("--tasks", nargs="+", default=[], metavar="TASK", help="only these")
            options.add_argument("--part", choices=PARTS)
            options.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args()
    if asked.command == "choose":
        write(FILE, choose_tables())
    elif asked.command == "score":
        score(asked.file)
    elif asked.command == "truth":
        compute_truth(asked)
    else:
        collect(asked)


def compute_truth(asked: argparse.Namespace) -> None:
    known = read_truth()
    old = {name: found for name, found in known.items() if name not in asked.tasks}
    names = [
        name
        for name in asked.tasks or read_entries(asked.part)
        if any(n <= len(Grouped.load(name)) and str(n) not in old.get(name, ()) for n in SETS)
    ]
    parallel = Parallel(asked.workers, return_as="generator_unordered")
    for name, found, seconds in parallel(delayed(curve)(name, old.get(name, {})) for name in names):
        known[name] = found
        write(TRUTH, known)
        print(f"{name}: {found}  {seconds:.0f} s", flush=True)


def collect(asked: argparse.Namespace) -> None:
    known = read_truth()
    done = {(row["task"], row["groups"]) for row in read_lines(asked.file)} if asked.file.exists() else set()
    cases = [
        (name, count, known[name])
        for name in asked.tasks or read_entries(asked.part)
        for count in PILOTS
        if str(count) in known.get(name, {}) and (name, count) not in done
    ]
    found = Parallel(asked.workers, return_as="generator_unordered")(delayed(run)(*case) for case in cases)
    asked.file.parent.mkdir(parents=True, exist_ok=True)
    with asked.file.open("a") as file:
        for row in tqdm(found, total=len(cases), unit=" forecasts"):
            file.write(json.dumps(row) + "\n")
            file.flush()


if __name__ == "__main__":
    main()
