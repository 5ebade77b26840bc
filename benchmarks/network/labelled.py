"""Networks with a class at each vertex: communities, regions, voltages, cell types, and block models with known blocks.

    python -m benchmarks.network.labelled

makes all tasks and prints one line for each. Networks are those of `sources`, and some more in PyPI packages. None is reserved
for judging.

Rules, fixed before anything was scored. A class that fewer than five vertices have is not known there, since no
method can learn it. Block models are a kind of their own: two to five blocks, balanced or not, clear or blurred, and with
degrees that vary.
"""

from __future__ import annotations

import json
import os
import pickle
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from benchmarks.network import sources
from benchmarks.network.sources import hashed

LEAST = 5
VERSION = 1  # to be raised whenever a task changes, so that what is kept is made anew
CUTS = (
    10.0,
    30.0,
    60.0,
    120.0,
    200.0,
    300.0,
)  # kilovolts between levels: nominal voltages are too many different numbers


@dataclass(frozen=True)
class Task:
    """A network, and the number of a class for each vertex, -1 if it is not known."""

    graph: csr_array
    classes: np.ndarray

    @property
    def known(self) -> np.ndarray:
        """Vertices whose class is known."""
        return np.flatnonzero(self.classes >= 0)


def names() -> list[str]:
    """Return the names of all tasks: a kind, a network and what the classes are."""
    return list(TASKS)


def kind(name: str) -> str:
    """Return which kind of network a task is on."""
    return name.split("/")[0]


def system(name: str) -> str:
    """Return what a network is part of, for keeping tasks on it together."""
    place = name.rpartition("/")[0]
    return next((one for one in ("rte", "pegase", "drosophila") if one in place), place)


def for_choices(name: str) -> bool:
    """Tell whether a task belongs to the half on which choices are made; tasks on one network stay together."""
    return system(name) in _half()


@cache
def _half() -> frozenset[str]:
    kinds: dict[str, set[str]] = {}
    for name in names():
        kinds.setdefault(kind(name), set()).add(system(name))
    ordered = [sorted(group, key=lambda one: hashed(f"half of {one}")) for group in kinds.values()]
    return frozenset(one for group in ordered for one in group[::2])


def load(name: str) -> Task:
    """Return a task; it is kept in the folder BENCH_CACHE, or in that for temporary files."""
    folder = Path(os.environ.get("BENCH_CACHE") or Path(tempfile.gettempdir()) / "gpcurves-networks")
    kept = folder / f"classes-{name.replace('/', '-')}-{VERSION}.pickle"
    if not kept.exists():
        task = make(name)
        folder.mkdir(parents=True, exist_ok=True)
        part = kept.with_suffix(f".{os.getpid()}")
        part.write_bytes(pickle.dumps((task.graph, task.classes)))
        part.replace(kept)
    return Task(*pickle.loads(kept.read_bytes()))


def make(name: str) -> Task:
    """Return a task from the packages."""
    place, _, what = name.rpartition("/")
    graph, found = TASKS[name](place, what)
    return Task(graph, number_classes(found))


def number_classes(found: Any) -> np.ndarray:
    """Return numbers of classes in the order of their names; -1 for what is missing or rare."""
    column = pd.Series(np.asarray(found, dtype=object))
    counts = column.value_counts()
    kept = sorted((one for one in counts.index if counts[one] >= LEAST), key=str)
    return column.map({one: i for i, one in enumerate(kept)}).fillna(-1).to_numpy(dtype=np.int64)


Made = tuple[csr_array, Any]


def _of_table(column: str) -> Callable[[str, str], Made]:
    """Return a reader of a network of `sources` with a column of its table as classes."""

    def read(place: str, what: str) -> Made:
        found = sources.read(place)
        return found.graph, found.table[column]

    return read


def _voltage(place: str, what: str) -> Made:
    found = sources.read(place)
    return found.graph, np.digitize(10.0 ** found.table["nominal"], CUTS)


def _zone(place: str, what: str) -> Made:
    """Return the transformer that feeds each bus of a low-voltage grid."""
    import pandapower

    found = sources.read(place)
    buses = [int(name.split()[1]) for name in found.names]
    zones = getattr(pandapower.networks, place.split("/")[1])().bus.loc[buses, "zone"]
    return found.graph, zones.where(zones.notna(), None)


def _map(shapes: str, column: str) -> Callable[[str, str], Made]:
    def read(place: str, what: str) -> Made:
        return sources.read(place).graph, sources._shapefile(shapes)[column]

    return read


def _county_region(place: str, what: str) -> Made:
    """Return the part of the country that each county is in."""
    found = sources.read(place)
    states = sources._shapefile("us_income/us48.shp")
    region = dict(zip(states["STATE_NAME"], states["SUB_REGION"], strict=True))
    return found.graph, [region.get(name.rpartition(", ")[2]) for name in found.names]


def _winner(place: str, what: str) -> Made:
    found = sources.read(place)
    return found.graph, found.table.columns[found.table.to_numpy().argmax(axis=1)]


def _airport_size(place: str, what: str) -> Made:
    found = sources.read(place)
    table = pd.read_csv(sources._folder("bokeh_sampledata") / "_data" / "airports.csv").drop_duplicates("IATA")
    return found.graph, table.set_index("IATA")["Type"].reindex(found.names)


def _fold(place: str, what: str) -> Made:
    """Return whether a place of the cortex is in a groove or on a ridge."""
    found = sources.read(place)
    depth = found.table["depth"]
    known: list[str | None] = [None if np.isnan(one) else "groove" if one > 0 else "ridge" for one in depth.tolist()]
    return found.graph, known


def _hemisphere(place: str, what: str) -> Made:
    found = sources.read(place)
    return found.graph, np.arange(found.graph.shape[0]) < found.graph.shape[0] // 2


def _cortex_type(place: str, what: str) -> Made:
    """Return which of four types of cortex most of an area is."""
    folder = sources._folder("brainspace") / "datasets" / "parcellations"
    areas, types = (np.loadtxt(folder / f"{one}_conte69.csv").astype(int) for one in ("schaefer_400", "mesulam"))
    most = pd.Series(types)[areas > 0].groupby(areas[areas > 0]).agg(lambda each: each.mode().iloc[0])
    return sources.read(place).graph, most.to_numpy()


def _karate(place: str, what: str) -> Made:
    import networkx

    club = networkx.karate_club_graph()
    weights = csr_array(networkx.to_scipy_sparse_array(club, weight=None, dtype=float))
    return weights, [club.nodes[k]["club"] for k in club]


def _miserables(place: str, what: str) -> Made:
    found = json.loads((sources._folder("bokeh_sampledata") / "_data" / "les_mis.json").read_text())
    pairs = np.array([(one["source"], one["target"]) for one in found["links"]])
    scenes = np.array([one["value"] for one in found["links"]], dtype=float)
    return sources.link(pairs, len(found["nodes"]), scenes), [one["group"] for one in found["nodes"]]


def _fly(place: str, what: str) -> Made:
    """Return neurons of a larva with their types; the weight of a link is the number of synapses in both directions."""
    folder, side = sources._folder("graspologic") / "datasets" / "drosophila", place.rpartition("-")[2]
    wires = np.loadtxt(folder / f"{side}_adjacency.csv")
    one, two = wires.nonzero()
    types = (folder / f"{side}_cell_labels.csv").read_text().split()
    return sources.link(np.column_stack((one, two)), len(wires), wires[one, two]), types


def _mouse(place: str, what: str) -> Made:
    """Return areas of a mouse's brain, linked to the ten with which each has the most fibres."""
    folder = sources._folder("graspologic") / "datasets" / "mice"
    blocks = pd.read_csv(folder / "blocks.csv")
    edges = np.loadtxt(sorted((folder / "edgelists").iterdir())[0])
    count = int(blocks["j"].max())
    strength = sources.link(edges[:, :2].astype(int), count, edges[:, 2]).toarray()
    best = np.argsort(strength, axis=1)[:, -sources.STRONGEST :]
    pairs = np.column_stack([np.repeat(np.arange(count), sources.STRONGEST), best.ravel()])
    pairs = np.unique(np.sort(pairs, axis=1), axis=0)
    weights = np.maximum(strength[tuple(pairs.T)], 1.0)
    of_block = blocks["hemisphere" if what == "hemisphere" else "block"].to_numpy()
    found = np.repeat(of_block, (blocks["j"] - blocks["i"]).to_numpy())
    return sources.link(pairs, count, weights), found


def _blocks(sizes: tuple[int, ...], inside: float, outside: float, uneven: bool = False) -> Callable[[str, str], Made]:
    """Return a reader of a random graph with so many links inside and outside the own block on average."""

    def read(place: str, what: str) -> Made:
        rng = np.random.default_rng(hashed(place))
        block = np.repeat(np.arange(len(sizes)), sizes)
        degree = rng.pareto(1.5, len(block)) + 0.5 if uneven else np.ones(len(block))
        for b in range(len(sizes)):
            degree[block == b] /= degree[block == b].mean()
        own = np.array(sizes)[block]
        same = block[:, None] == block
        rate = np.where(same, inside / own, outside / (len(block) - np.minimum(own, own[:, None])))
        chance = 1 - np.exp(-rate * degree[:, None] * degree)
        linked = np.triu(rng.random(chance.shape) < chance, 1)
        return sources.link(np.column_stack(linked.nonzero()), len(block)), block

    return read


_GRIDS = [
    "case57",
    "case89pegase",
    "case145",
    "case_illinois200",
    "case300",
    "case2848rte",
    "case2869pegase",
    "case3120sp",
    "GBnetwork",
    "iceland",
]
TASKS: dict[str, Callable[[str, str], Made]] = {
    **{f"grid/{one}/voltage": _voltage for one in _GRIDS},
    "grid/lv_schutterwald/zone": _zone,
    "map/columbus/east": _map("columbus/columbus.shp", "EW"),
    "map/columbus/core": _map("columbus/columbus.shp", "CP"),
    "map/stl/state": _map("stl/stl_hom.shp", "STATE_NAME"),
    "map/states/region": _map("us_income/us48.shp", "SUB_REGION"),
    "map/counties/region": _county_region,
    "map/montreal/winner": _winner,
    "routes/airports/size": _airport_size,
    "brain/left/fold": _fold,
    "brain/areas/hemisphere": _hemisphere,
    "brain/areas/type": _cortex_type,
    "brain/mouse/block": _mouse,
    "brain/mouse/hemisphere": _mouse,
    "brain/drosophila-left/type": _fly,
    "brain/drosophila-right/type": _fly,
    "people/karate/club": _karate,
    "people/miserables/group": _miserables,
    "blocks/two/block": _blocks((150, 150), 6, 2),
    "blocks/three/block": _blocks((200, 100, 50), 6, 1.5),
    "blocks/four/block": _blocks((250,) * 4, 7, 4),
    "blocks/five/block": _blocks((400, 250, 150, 100, 50), 8, 3),
    "blocks/uneven/block": _blocks((300, 300, 200), 6, 2, uneven=True),
    "blocks/rare/block": _blocks((450, 50), 5, 1),
}


def main() -> None:
    print(f"{'task':30s}     V      E  known  classes  largest  joins equals")
    for name in names():
        task = load(name)
        y = task.classes
        one, two = task.graph.nonzero()
        both = (y[one] >= 0) & (y[two] >= 0)
        alike, counts = np.mean(y[one][both] == y[two][both]), np.bincount(y[task.known])
        numbers = f"{len(y):5d} {task.graph.nnz // 2:6d} {len(task.known):6d}  {len(counts):7d}"
        told = "for choices" if for_choices(name) else ""
        print(f"{name:30s} {numbers}  {counts.max() / counts.sum():7.0%}  {alike:12.0%}  {told}")


if __name__ == "__main__":
    main()
