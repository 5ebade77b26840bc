"""Real networks with a real value at each vertex, as users have them: grids, pipes, maps, roads, routes and brains.

    python -m benchmarks.network.tasks

makes all tasks, checks the list against the rules, and prints one line for each. Networks ship inside PyPI packages
(``make benchmark-network`` installs them).

Rules, fixed before anything was scored. Networks: all of pandapower's test cases from 57 buses on, its two real grids with
open switches, all of wntr's library from 90 nodes on, all maps in libpysal with a table that belongs to them, and some
networks with values at vertices that other packages ship; none that is reserved for judging. Targets: every column of
`sources` that is known at 40 vertices or more and has 20 different values or more (limits set in view of these counts), as
it is; amounts (loads, demands, a workforce) as logarithms. Nominal voltages are attributes, not targets. Structure is the
target where nothing better is known, and on one road network beside it. Snapshots of one system stay together when a third
is taken.
"""

from __future__ import annotations

import os
import pickle
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from benchmarks.network import sources
from benchmarks.network.sources import hashed

LEAST_KNOWN, LEAST_DIFFERENT = 40, 20
VERSION = 1  # to be raised whenever a source changes, so that what is kept is made anew
_GRID = "angle magnitude load"
CATALOGUE = {
    "grid/case57": _GRID,
    "grid/case89pegase": "angle magnitude",
    "grid/case145": _GRID,
    "grid/case_illinois200": _GRID,
    "grid/case300": _GRID,
    "grid/case2848rte": _GRID,
    "grid/case2869pegase": _GRID,
    "grid/case3120sp": _GRID,
    "grid/case6470rte": _GRID,
    "grid/case6495rte": _GRID,
    "grid/case6515rte": _GRID,
    "grid/case9241pegase": _GRID,
    "grid/GBnetwork": _GRID,
    "grid/iceland": _GRID,
    "grid/mv_oberrhein": "angle magnitude",
    "grid/lv_schutterwald": "angle magnitude",
    "water/Net3": "elevation head pressure demand",
    "water/Net6": "elevation head pressure demand",
    "water/ky10": "elevation head pressure demand",
    "heat/sw_heat": "height",
    "map/columbus": "CRIME HOVAL INC",
    "map/stl": "HR7984 HR8893 PE87 RDAC90",
    "map/states": "income_1929 income_1969 income_2009",
    "map/tokyo": "mortality OCC_TEC OWNH POP65 UNEMP",
    "map/counties": "unemployment workforce",
    "map/montreal": "Coderre Bergeron Joly",
    "map/burkitt": "day",
    "routes/airports": "altitude latitude longitude",
    "brain/left": "thickness depth curvature area",
    "brain/right": "thickness depth curvature area",
    "brain/areas": "thickness curvature t1wt2w",
    "roads/minnesota": "latitude longitude closeness",
    "people/miserables": "closeness scenes",
}
# Columns that may help; on other networks all but the target
ATTRIBUTES = {"grid": ["nominal"], "water": ["elevation"]}


@dataclass(frozen=True)
class Task:
    """A network, a value for each vertex (nan where it is not known), names, and what else is known of vertices."""

    graph: csr_array
    values: np.ndarray
    names: list[str]
    attributes: pd.DataFrame | None


def names() -> list[str]:
    """Return the names of all tasks: a family, a network and a target."""
    return [f"{place}/{target}" for place, targets in CATALOGUE.items() for target in targets.split()]


def network(name: str) -> str:
    """Return the network that a task is on."""
    return name.rpartition("/")[0]


def system(name: str) -> str:
    """Return what a network is part or a snapshot of, for keeping those together."""
    place = network(name)
    return next((one for one in ("rte", "pegase") if place.endswith(one)), place.replace("right", "left"))


def third(name: str) -> bool:
    """Tell whether a task belongs to the fixed third on which to iterate; tasks on one network stay together."""
    return system(name) in _third_of_systems()


def load(name: str) -> Task:
    """Return a task; it is kept in the folder BENCH_CACHE, or in that for temporary files."""
    folder = Path(os.environ.get("BENCH_CACHE") or Path(tempfile.gettempdir()) / "gpcurves-networks")
    kept = folder / f"{name.replace('/', '-')}-{VERSION}.pickle"
    if not kept.exists():
        task = make(name)
        folder.mkdir(parents=True, exist_ok=True)
        part = kept.with_suffix(f".{os.getpid()}")
        part.write_bytes(pickle.dumps((task.graph, task.values, task.names, task.attributes)))
        part.replace(kept)
    return Task(*pickle.loads(kept.read_bytes()))


def make(name: str) -> Task:
    """Return a task from the packages."""
    place, _, target = name.rpartition("/")
    found = _read(place)
    table = found.table
    others = ATTRIBUTES.get(place.split("/")[0], list(table.columns))
    columns = [column for column in others if column != target]
    return Task(found.graph, table[target].to_numpy(dtype=float), found.names, table[columns] if columns else None)


def follows_rules(place: str) -> bool:
    """Tell whether the targets listed for a network are those of the rules."""
    table = _read(place).table.drop(columns="nominal", errors="ignore")
    wanted = [one for one in table if table[one].count() >= LEAST_KNOWN and table[one].nunique() >= LEAST_DIFFERENT]
    return wanted == CATALOGUE[place].split()


@cache
def _read(place: str) -> sources.Network:
    return sources.read(place)


@cache
def _third_of_systems() -> frozenset[str]:
    """Return every third system of each family, in the order of a hash."""
    families: dict[str, set[str]] = {}
    for name in names():
        families.setdefault(name.split("/")[0], set()).add(system(name))
    order = {key: sorted(group, key=lambda one: hashed(f"third of {one}")) for key, group in families.items()}
    small = sorted(one for key, group in order.items() if len(group) < 3 for one in group)
    small.sort(key=lambda one: hashed(f"third of {one}"))
    groups = [group for group in order.values() if len(group) >= 3] + [small]
    return frozenset(one for group in groups for one in group[::3])


def main() -> None:
    print(f"{'task':36s}     V      E  known  third")
    for name in names():
        task = load(name)
        known = np.isfinite(task.values).sum()
        print(f"{name:36s} {len(task.values):5d} {task.graph.nnz // 2:6d} {known:6d}  {'third' if third(name) else ''}")
    print(f"{len(names())} tasks on {len(CATALOGUE)} networks, {sum(map(third, names()))} to iterate on")
    wrong = [place for place in sources.list_networks() if place not in CATALOGUE or not follows_rules(place)]
    if wrong:
        raise SystemExit(f"the list of targets does not follow the rules on {', '.join(wrong)}")


if __name__ == "__main__":
    main()
