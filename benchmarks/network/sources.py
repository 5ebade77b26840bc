"""Networks inside PyPI packages, each with a table of what is known of its vertices.

Some networks are reserved for judging: they must never be opened here, in whichever package they are.
"""

from __future__ import annotations

import gzip
import json
import sqlite3
import tempfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.sparse import coo_array, csr_array
from scipy.spatial import cKDTree

RESERVED = frozenset({"case118", "case1354pegase", "case1888rte", "ky4", "georgia", "baltim", "sids", "sids1", "sids2"})
GRIDS = [
    "case57",
    "case89pegase",
    "case145",
    "case_illinois200",
    "case300",
    "case2848rte",
    "case2869pegase",
    "case3120sp",
    "case6470rte",
    "case6495rte",
    "case6515rte",
    "case9241pegase",
    "GBnetwork",
    "iceland",
    "mv_oberrhein",
    "lv_schutterwald",
]

STRONGEST = 10  # links that each area of the brain keeps: correlations are never zero
STIFFEST = 100.0  # largest admittance, in units of the median: couplers have next to no impedance


@dataclass(frozen=True)
class Network:
    """A symmetric matrix of weights, one name for each vertex, and a table with one row for each vertex."""

    graph: csr_array
    names: list[str]
    table: pd.DataFrame


def hashed(text: str) -> int:
    """Return a fixed number for a text, by which things are chosen."""
    return zlib.crc32(text.encode())


def list_networks() -> list[str]:
    """Return the names of all networks."""
    return [*(f"grid/{name}" for name in GRIDS), *(f"water/{name}" for name in ("Net3", "Net6", "ky10")), *READERS]


def read(name: str) -> Network:
    """Return a network with all that its package tells of the vertices."""
    family, _, item = name.partition("/")
    if item.lower() in RESERVED:
        raise ValueError(f"{item} is reserved for judging")
    if family == "grid":
        return _grid(item)
    return _water(item) if family == "water" else READERS[name]()


def link(pairs: np.ndarray, count: int, weights: np.ndarray | None = None) -> csr_array:
    """Return symmetric weights of pairs of vertices: one for each pair without weights, else sums; loops are dropped."""
    one, two = np.asarray(pairs, dtype=np.int64).reshape(-1, 2).T
    strength = np.ones(len(one)) if weights is None else np.asarray(weights, dtype=float)
    apart = one != two
    low, high, strength = np.minimum(one, two)[apart], np.maximum(one, two)[apart], strength[apart]
    upper = coo_array((strength, (low, high)), shape=(count, count)).tocsr()
    if weights is None:
        upper.data[:] = 1.0
    return csr_array(upper + upper.T)


def _grid(name: str) -> Network:
    """Return buses with voltages of a solved power flow; every third grid has admittances as weights, others ones."""
    import pandapower
    from pandapower.topology import create_nxgraph

    net = getattr(pandapower.networks, name)()
    pandapower.runpp(net)
    graph = create_nxgraph(net, calc_branch_impedances=True, branch_impedance_unit="pu")
    buses = sorted(set(net.bus.index[net.bus.in_service]) & set(graph.nodes))
    number = {bus: i for i, bus in enumerate(buses)}
    edges = [(number[a], number[b], z) for a, b, z in graph.edges(data="z_pu") if a in number and b in number]
    pairs = np.array([edge[:2] for edge in edges])
    weights = None
    if name in sorted(GRIDS, key=lambda one: hashed(f"weights of {one}"))[::3]:
        stiff = 1 / np.maximum(np.array([edge[2] for edge in edges], dtype=float), 1e-12)
        stiff /= np.median(stiff)
        weights = np.clip(stiff, 1 / STIFFEST, STIFFEST)
    result = net.res_bus.loc[buses]
    loads = net.load[net.load.in_service].groupby("bus")["p_mw"].sum().reindex(buses)
    table = pd.DataFrame(
        {
            "angle": result["va_degree"].to_numpy(),
            "magnitude": result["vm_pu"].to_numpy(),
            "load": np.log10(loads.where(loads > 0).to_numpy()),
            "nominal": np.log10(net.bus.loc[buses, "vn_kv"].astype(float)).to_numpy(),
        }
    )
    return Network(link(pairs, len(buses), weights), [f"bus {bus}" for bus in buses], table)


def _water(name: str) -> Network:
    """Return junctions, tanks and reservoirs, with heads and pressures of the first hour."""
    import wntr

    model = wntr.network.WaterNetworkModel(str(_folder("wntr") / "library" / "networks" / f"{name}.inp"))
    model.options.time.duration = 0
    with tempfile.TemporaryDirectory() as folder:
        found = wntr.sim.EpanetSimulator(model).run_sim(file_prefix=str(Path(folder) / "run")).node
    names = list(model.node_name_list)
    number = {one: i for i, one in enumerate(names)}
    pairs = np.array([(number[pipe.start_node_name], number[pipe.end_node_name]) for _, pipe in model.links()])
    demands = pd.Series({key: node.base_demand for key, node in model.junctions()}, dtype=float).reindex(names)
    heights = pd.Series({key: node.elevation for key, node in model.nodes() if hasattr(node, "elevation")}, dtype=float)
    table = pd.DataFrame(
        {
            "elevation": heights.reindex(names).to_numpy(),
            "head": found["head"].iloc[0][names].to_numpy(dtype=float),
            "pressure": found["pressure"].iloc[0][model.junction_name_list].reindex(names).to_numpy(dtype=float),
            "demand": np.log10(demands.where(demands > 0).to_numpy()),
        }
    )
    return Network(link(pairs, len(names)), names, table)


def _heating() -> Network:
    """Return a district heating network with pressures and temperatures that another program found."""
    file = _folder("pandapipes") / "networks" / "network_files" / "sw_heat.json"
    net = json.loads(file.read_text())["_object"]
    nodes, pipes = (_split(net[key]["_object"]) for key in ("junction", "pipe"))
    number = pd.Series(np.arange(len(nodes)), index=nodes.index)
    ends = pipes[["from_junction", "to_junction"]].to_numpy()
    pairs = number.loc[ends.ravel()].to_numpy().reshape(-1, 2)
    columns = {"height": "height_m", "pressure": "p_stanet", "temperature": "K_stanet"}
    table = pd.DataFrame({key: pd.to_numeric(nodes[old], errors="coerce").to_numpy() for key, old in columns.items()})
    return Network(link(pairs, len(nodes)), nodes["name"].astype(str).tolist(), table)


def _split(text: str) -> pd.DataFrame:
    parts = json.loads(text)
    return pd.DataFrame(parts["data"], columns=parts["columns"], index=parts["index"])


def _areas(shapes: object, names: list[str], table: pd.DataFrame) -> Network:
    """Return a map as a network: areas that touch are linked."""
    from shapely import STRtree

    pairs = STRtree(list(shapes)).query(list(shapes), predicate="intersects").T  # type: ignore[call-overload]
    return Network(link(pairs, len(names)), names, table.reset_index(drop=True))


def _shapefile(path: str) -> pd.DataFrame:
    import geopandas

    frame: pd.DataFrame = geopandas.read_file(_folder("libpysal") / "examples" / path)
    return frame


def _columbus() -> Network:
    frame = _shapefile("columbus/columbus.shp")
    return _areas(frame["geometry"], frame["POLYID"].astype(str).tolist(), frame[["CRIME", "HOVAL", "INC"]])


def _stl() -> Network:
    frame = _shapefile("stl/stl_hom.shp")
    columns = ["HR7984", "HR8893", "PE87", "RDAC90"]
    return _areas(frame["geometry"], (frame["NAME"] + ", " + frame["STATE_NAME"]).tolist(), frame[columns])


def _states() -> Network:
    frame = _shapefile("us_income/us48.shp")
    incomes = pd.read_csv(_folder("libpysal") / "examples" / "us_income" / "usjoin.csv", encoding="latin-1")
    known = incomes.set_index("Name")[["1929", "1969", "2009"]].reindex(frame["STATE_NAME"])
    return _areas(frame["geometry"], frame["STATE_NAME"].tolist(), known.rename(columns=lambda year: f"income_{year}"))


def _tokyo() -> Network:
    frame = _shapefile("tokyo/tokyomet262.shp")
    known = pd.read_csv(_folder("libpysal") / "examples" / "tokyo" / "Tokyomortality.csv").set_index("IDnum0")
    known = known.reindex(frame["AreaID"].astype(int))
    known["mortality"] = known["db2564"] / known["eb2564"]
    columns = ["mortality", "OCC_TEC", "OWNH", "POP65", "UNEMP"]
    return _areas(frame["geometry"], frame["AREANAME"].astype(str).tolist(), known[columns])


def _counties() -> Network:
    """Return counties of the United States without the states of reserved maps, and the unemployed of 2009."""
    from shapely import from_wkb

    folder = _folder("bokeh_sampledata") / "_data"
    with sqlite3.connect(folder / "geographic_boundaries.db") as base:
        rows = base.execute(
            "select id, metadata, geometry from us_counties where state not in ('GA', 'NC', 'AK', 'HI', 'PR') order by id"
        ).fetchall()
    table = pd.read_csv(folder / "unemployment09.csv.gz", header=None, dtype=str, encoding="latin-1")
    numbers = table[[5, 8]].apply(
        lambda column: pd.to_numeric(column.str.replace(",", "").str.strip(), errors="coerce")
    )
    numbers.index = pd.Index(table[1] + table[2])
    numbers = numbers[~numbers.index.duplicated()].reindex([row[0] for row in rows])
    known = pd.DataFrame({"unemployment": numbers[8], "workforce": np.log10(numbers[5])})
    return _areas([from_wkb(row[2]) for row in rows], [json.loads(row[1])["detailed_name"] for row in rows], known)


def _montreal() -> Network:
    from shapely.geometry import shape

    folder = _folder("plotly") / "package_data" / "datasets"
    with gzip.open(folder / "election.geojson.gz", "rt") as stream:
        districts = json.load(stream)["features"]
    votes = pd.read_csv(folder / "election.csv.gz").set_index("district_id")
    votes = votes.reindex([int(one["id"]) for one in districts])
    columns = ["Coderre", "Bergeron", "Joly"]
    shares = votes[columns].div(votes["total"], axis=0)
    return _areas([shape(one["geometry"]) for one in districts], votes["district"].tolist(), shares)


def _burkitt() -> Network:
    """Return cases of a disease, each linked to the five nearest."""
    frame = _shapefile("burkitt/burkitt.shp")
    places = frame[["X", "Y"]].to_numpy(dtype=float) + np.random.default_rng(0).normal(0, 1e-6, (len(frame), 2))
    near = cKDTree(places).query(places, k=6)[1]
    pairs = np.column_stack([np.repeat(np.arange(len(frame)), 5), near[:, 1:].ravel()])
    table = frame[["AGE", "T"]].rename(columns={"AGE": "age", "T": "day"}).astype(float)
    return Network(link(pairs, len(frame)), frame["ID"].astype(str).tolist(), table)


def _airports() -> Network:
    """Return airports linked by routes; the weight of a link is the number of flights offered, in both directions."""
    folder = _folder("bokeh_sampledata") / "_data"
    places = pd.read_csv(folder / "airports.csv").drop_duplicates("IATA").set_index("IATA")
    routes = pd.read_csv(folder / "routes.csv.gz")
    routes = routes[routes["Source"].isin(places.index) & routes["Destination"].isin(places.index)]
    used = places.loc[sorted(set(routes["Source"]) | set(routes["Destination"]))]
    number = pd.Series(np.arange(len(used)), index=used.index)
    pairs = np.column_stack([number.loc[routes["Source"]], number.loc[routes["Destination"]]])
    table = used[["Altitude", "Latitude", "Longitude"]].rename(columns=str.lower).astype(float).reset_index(drop=True)
    return Network(link(pairs, len(used), np.ones(len(pairs))), used.index.tolist(), table)


def _cortex(side: str) -> Callable[[], Network]:
    def make() -> Network:
        """Return the mesh of a cortex; its middle wall, where thickness is zero, has no values."""
        import nibabel

        folder = _folder("nilearn") / "datasets" / "data" / "fsaverage5"

        def open_part(what: str) -> list[np.ndarray]:
            return [np.asarray(each.data) for each in nibabel.load(folder / f"{what}_{side}.gii.gz").darrays]

        places, faces = open_part("pial")
        pairs = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
        columns = {"thickness": "thick", "depth": "sulc", "curvature": "curv", "area": "area"}
        table = pd.DataFrame({key: open_part(what)[0].astype(float) for key, what in columns.items()})
        table[table["thickness"] == 0] = np.nan
        return Network(link(pairs, len(places)), [f"{side} {i}" for i in range(len(places))], table)

    return make


def _brain() -> Network:
    """Return 400 areas of the brain, linked where activities are most correlated, with averages over each area."""
    folder = _folder("brainspace") / "datasets"
    group = folder / "matrices" / "main_group"
    strength = np.loadtxt(group / "schaefer_400_mean_connectivity_matrix.csv", delimiter=",")
    strength = (strength + strength.T) / 2
    np.fill_diagonal(strength, 0.0)
    best = np.argsort(strength, axis=1)[:, -STRONGEST:]
    pairs = np.column_stack([np.repeat(np.arange(len(strength)), STRONGEST), best.ravel()])
    pairs = np.unique(np.sort(pairs, axis=1), axis=0)
    areas = np.loadtxt(folder / "parcellations" / "schaefer_400_conte69.csv").astype(int)
    columns = {key: np.loadtxt(group / f"conte69_32k_{key}.csv") for key in ("thickness", "curvature", "t1wt2w")}
    table = pd.DataFrame(columns)[areas > 0].groupby(areas[areas > 0]).mean()
    assert table.index.tolist() == list(range(1, len(strength) + 1))
    graph = link(pairs, len(strength), np.maximum(strength[tuple(pairs.T)], 1e-6))
    return Network(graph, [f"area {i}" for i in table.index], table.reset_index(drop=True))


def _minnesota() -> Network:
    """Return roads of Minnesota with places, and how near each crossing is to all others by the roads."""
    from scipy.io import loadmat

    content = loadmat(_folder("pygsp") / "data" / "pointclouds" / "minnesota.mat")
    pairs = np.column_stack(content["A"].nonzero())
    graph = link(pairs, len(content["xy"]))
    longitude, latitude = content["xy"].T.astype(float)
    table = pd.DataFrame({"latitude": latitude, "longitude": longitude, "closeness": _closeness(graph)})
    return Network(graph, [f"crossing {i}" for i in range(len(table))], table)


def _miserables() -> Network:
    """Return persons of a novel, linked by the number of scenes they share; values are of structure only."""
    import networkx

    people = networkx.les_miserables_graph()
    graph = csr_array(networkx.to_scipy_sparse_array(people, weight="weight", dtype=float))
    table = pd.DataFrame({"closeness": _closeness(graph), "scenes": np.log10(graph.sum(axis=1))})
    return Network(graph, list(people), table)


def _closeness(graph: csr_array) -> np.ndarray:
    """Return one over the mean number of steps to vertices that can be reached, in the logarithm."""
    from scipy.sparse.csgraph import shortest_path

    steps = shortest_path(graph, unweighted=True)
    steps[~np.isfinite(steps)] = np.nan
    with np.errstate(invalid="ignore"):
        return np.asarray(-np.log(np.nanmean(np.where(steps > 0, steps, np.nan), axis=1)))


def _folder(package: str) -> Path:
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise SystemExit(f"the tasks need the package {package}: see benchmarks/network/requirements.txt")
    return Path(spec.origin).parent


READERS: dict[str, Callable[[], Network]] = {
    "heat/sw_heat": _heating,
    "map/columbus": _columbus,
    "map/stl": _stl,
    "map/states": _states,
    "map/tokyo": _tokyo,
    "map/counties": _counties,
    "map/montreal": _montreal,
    "map/burkitt": _burkitt,
    "routes/airports": _airports,
    "brain/left": _cortex("left"),
    "brain/right": _cortex("right"),
    "brain/areas": _brain,
    "roads/minnesota": _minnesota,
    "people/miserables": _miserables,
}
